#include "ranking.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "search.h"

namespace fourfold {

namespace {

constexpr std::size_t kFastest = 200;

struct Ranked {
    Plan plan;
    Scores scores;
    std::int64_t order;
};
bool faster(const Ranked& a, const Ranked& b) {
    return a.scores.seconds != b.scores.seconds ? a.scores.seconds < b.scores.seconds : a.order < b.order;
}

// The fastest few, as a heap with the slowest on top.
class Fastest {
 public:
    void add(const Ranked& one) {
        if (list.size() == kFastest && !faster(one, list.front())) return;
        if (list.size() == kFastest) {
            std::pop_heap(list.begin(), list.end(), faster);
            list.pop_back();
        }
        list.push_back(one);
        std::push_heap(list.begin(), list.end(), faster);
    }
    std::vector<Ranked> list;
};

// Those that no other beats in both memory and time, fastest first.
class Front {
 public:
    void add(const Ranked& one) {
        const auto at = std::lower_bound(list.begin(), list.end(), one, faster);
        if (at != list.begin() && (at - 1)->scores.bytes <= one.scores.bytes) return;
        auto last = at;  // slower ones that do not need less
        while (last != list.end() && last->scores.bytes >= one.scores.bytes) ++last;
        list.insert(list.erase(at, last), one);
    }
    std::vector<Ranked> list;
};

// "block": the fewest layers of a chunk with which the plan may be ranked; every one of them when none will do.
template <class Passes>
void choose_recompute_layers(const Model& model, Plan& plan, Passes&& passes) {
    const auto layers = layers_per_chunk(model, plan);
    std::int64_t low = 1, high = layers ? std::max({layers->first, layers->middle, layers->last, std::int64_t{1}}) : 1;
    while (low < high) {
        plan.recompute_layers = (low + high) / 2;
        if (passes(plan))
            high = plan.recompute_layers;
        else
            low = plan.recompute_layers + 1;
    }
    plan.recompute_layers = low;
}

// ---- as JSON: one list per column
void append(Json& columns, const Ranked& one) {
    const Plan& p = one.plan;
    const Scores& s = one.scores;
    columns["tensor_parallel"].push_back(p.tensor_parallel);
    columns["context_parallel"].push_back(p.context_parallel);
    columns["pipeline_parallel"].push_back(p.pipeline_parallel);
    columns["data_parallel"].push_back(p.data_parallel());
    columns["micro_batch"].push_back(p.micro_batch);
    columns["expert_parallel"].push_back(p.expert_parallel);
    columns["virtual_stages"].push_back(p.virtual_stages);
    columns["schedule"].push_back(kScheduleChoices[static_cast<std::size_t>(p.schedule)].id);
    columns["recompute"].push_back(kRecomputeChoices[static_cast<std::size_t>(p.recompute)].id);
    columns["recompute_layers"].push_back(p.recompute_layers);
    columns["zero"].push_back(kZeroChoices[static_cast<std::size_t>(p.zero)].id);
    columns["sequence_parallel"].push_back(p.sequence_parallel);
    columns["count_embedding_as_layer"].push_back(p.count_embedding_as_layer);
    columns["count_loss_as_layer"].push_back(p.count_loss_as_layer);
    columns["order"].push_back(one.order);
    columns["total_bytes"].push_back(s.bytes);
    columns["share"].push_back(s.share);
    columns["class"].push_back(kFitIds[static_cast<std::size_t>(s.verdict.fit)]);
    columns["probability"].push_back(s.verdict.probability < 0 ? Json() : Json(s.verdict.probability));
    columns["step_seconds"].push_back(s.seconds);
    columns["tokens_per_s"].push_back(static_cast<double>(p.global_batch * p.sequence_length) / s.seconds);
}

// The fastest, and those of the front that are none of them.
Json columns(const Fastest& fastest, const Front& front) {
    Json plans = Json::object();
    for (const Ranked& one : fastest.list) append(plans, one);
    for (const Ranked& one : front.list)
        if (fastest.list.size() == kFastest && faster(fastest.list.front(), one)) append(plans, one);
    return plans;
}

Json rejections(const SearchCounts& counts) {  // most first
    using Rejected = std::pair<std::int64_t, std::string_view>;
    std::vector<Rejected> most_first;
    for (std::size_t i = 0; i < counts.rejected.size(); ++i)
        if (counts.rejected[i] > 0)
            insert_sorted(
                most_first, Rejected{counts.rejected[i], text(static_cast<Rule>(i)).id},
                [](const Rejected& a, const Rejected& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    Json list = Json::array();
    for (const auto& [count, rule] : most_first) list.push_back(Object().add("rule", rule).add("count", count));
    return list;
}

bool is_count(const Json& value) { return value.is_number_integer() && value >= 0 && value <= 1'000'000'000'000'000; }

constexpr const char* kCounts[] = {"candidates", "legal", "filtered", "ranked", "does_not_fit"};
constexpr std::size_t kMostChoices = 2'000;  // more stages than that no pipeline can have, and other fields have fewer values

// ---- merging
struct Place {
    double seconds = 0, bytes = 0, order = 0;
    std::size_t part = 0, row = 0;
};
// What a list or a single value of a column may hold, by the example of one.
bool is_like(const Json& value, const Json& example) {
    if (example.is_null()) return value.is_null() || value.is_number();
    if (example.is_number()) return example.is_number_integer() ? value.is_number_integer() : value.is_number();
    return value.type() == example.type();
}
Json example_row() {
    Ranked one{};
    for (std::int64_t* degree : {&one.plan.tensor_parallel, &one.plan.context_parallel, &one.plan.pipeline_parallel}) *degree = 1;
    one.scores.seconds = 1;
    one.scores.verdict.probability = -1;
    Json columns;
    append(columns, one);
    return columns;
}

// How often each rule stopped a candidate: known rules alone.
bool add_rejected(const Json& list, SearchCounts& counts) {
    for (const Json& one : list) {
        if (!one.is_object() || !one.contains("rule") || !one.contains("count") || !is_count(one["count"])) return false;
        std::size_t rule = 0;
        while (rule < counts.rejected.size() && one["rule"] != text(static_cast<Rule>(rule)).id) ++rule;
        if (rule == counts.rejected.size()) return false;
        counts.rejected[rule] += one["count"].get<std::int64_t>();
        if (!is_count(counts.rejected[rule])) return false;
    }
    return true;
}

// A part as rank_part wrote it: every column, all equally long, of the right type; {} where nothing is ranked.
bool is_part(const Json& part, const Json& example) {
    if (!part.is_object()) return false;
    for (const char* key : kCounts)
        if (!part.contains(key) || !is_count(part[key])) return false;
    if (!part.contains("choices") || !part["choices"].is_object() || !part.contains("excluding") || !part["excluding"].is_array() ||
        part["excluding"].size() > kFilterFields + 1)
        return false;
    for (const Json& list : part["choices"])
        if (!list.is_array() || list.size() > kMostChoices) return false;
    if (!part.contains("gpus") || !is_count(part["gpus"]) || !part.contains("plans") || !part["plans"].is_object() ||
        !part.contains("rejected") || !part["rejected"].is_array() || !part.contains("closest"))
        return false;
    const Json &plans = part["plans"], &closest = part["closest"];
    if ((!plans.empty() && plans.size() != example.size()) || (!closest.is_null() && closest.size() != example.size())) return false;
    for (const auto& [key, column] : example.items()) {
        if (!closest.is_null() && (!closest.is_object() || !closest.contains(key) || !is_like(closest[key], column[0]))) return false;
        if (plans.empty()) continue;
        if (!plans.contains(key) || !plans[key].is_array() || plans[key].size() != plans.begin()->size()) return false;
        for (const Json& value : plans[key])
            if (!is_like(value, column[0])) return false;
    }
    return true;
}

// The fastest and the front of all parts, each plan once, fastest first.
Json merge_plans(const Json& parts, Json& front) {
    std::vector<Place> places;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const Json& plans = parts[part]["plans"];
        if (!plans.contains("order")) continue;
        for (std::size_t row = 0; row < plans["order"].size(); ++row)
            places.push_back({plans["step_seconds"][row].get<double>(), plans["total_bytes"][row].get<double>(),
                              plans["order"][row].get<double>(), part, row});
    }
    const auto first = [](const Place& a, const Place& b) { return a.seconds != b.seconds ? a.seconds < b.seconds : a.order < b.order; };
    std::make_heap(places.begin(), places.end(), first);
    std::sort_heap(places.begin(), places.end(), first);
    Json merged = Json::object();
    front = Json::array();
    double least = INFINITY;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Place& place = places[i];
        const bool in_front = place.bytes < least;
        if (!in_front && i >= kFastest) continue;
        least = std::min(least, place.bytes);
        if (in_front) front.push_back(kept);
        ++kept;
        for (const auto& [key, column] : parts[place.part]["plans"].items()) merged[key].push_back(column[place.row]);
    }
    return merged;
}

// Every value once, ascending.
void unite(Json& list, const Json& others) {
    for (const Json& one : others) {
        const auto at = std::lower_bound(list.begin(), list.end(), one);
        if ((at == list.end() || *at != one) && list.size() < kMostChoices) list.insert(at, one);
    }
}

// What the parts say of the filters. While anything is ranked, none of them is to blame.
void merge_filters(const Json& parts, Json& whole) {
    Json excluding = Json::array(), choices = Json::object();
    for (const Json& part : parts) {
        unite(excluding, part["excluding"]);
        for (const auto& [key, list] : part["choices"].items()) {
            Json& all = choices[key];
            if (all.is_null()) all = Json::array();
            unite(all, list);
        }
    }
    whole["choices"] = std::move(choices);
    whole["excluding"] = whole["ranked"] == 0 ? std::move(excluding) : Json::array();
}

// What is found among the candidates of one part.
class PartRanking {
 public:
    PartRanking(const SearchSpace& space, const Exploration& wanted, const PlanFilter& filter, const Candidates& all)
        : space_(space), risk_(wanted.risk), filter_(filter), chooses_recompute_(all.recompute.size() > 1), scorer_(space, space.plan) {}

    void take(const Plan& candidate, std::int64_t order) {
        ++legal_;
        choices_.note(candidate);
        const std::uint32_t against = filter_.against(candidate);
        filtered_ += against != 0;
        // what a single filter leaves out is looked at until it is known that something would be ranked without it
        if (against != 0 && (ranked_ > 0 || (against & (against - 1)) != 0 || (excluding_ & against) != 0)) return;
        Ranked one{candidate, {}, order};
        if (chooses_recompute_) one.plan.recompute_layers = 1;
        if (chooses_recompute_ && candidate.recompute == Recompute::block)
            choose_recompute_layers(space_.model, one.plan, [this](Plan& trial) { return passes(scorer_.memory(trial)); });
        one.scores = scorer_.memory(one.plan);
        if (against != 0) {
            if (passes(one.scores)) excluding_ |= against;
        } else if (passes(one.scores)) {
            ++ranked_;
            one.scores.seconds = scorer_.seconds(one.plan);
            fastest_.add(one);
            front_.add(one);
        } else {
            leave_out(one);
        }
    }

    Json json(const SearchCounts& counts) {
        Json nearest;
        if (closest_) {
            closest_->scores.seconds = scorer_.seconds(closest_->plan);
            append(nearest, *closest_);
            for (auto& [key, column] : nearest.items()) column = Json(column[0]);
        }
        return Object()
            .add("gpus", space_.plan.gpus)
            .add("candidates", counts.candidates)
            .add("legal", legal_)
            .add("ranked", ranked_)
            .add("filtered", filtered_)
            .add("does_not_fit", legal_ - ranked_ - filtered_)
            .add("rejected", rejections(counts))
            .add("choices", choices_.to_json())
            .add("excluding", filter_keys(excluding_))
            .add("plans", columns(fastest_, front_))
            .add("closest", std::move(nearest));
    }

 private:
    bool runs(const Scores& s) const { return s.verdict.probability < 0 ? s.verdict.fit == Fit::fits : s.verdict.probability >= 1 - risk_; }
    bool passes(const Scores& s) const { return runs(s) && s.bytes <= filter_.most_bytes; }

    void leave_out(const Ranked& one) {
        if (runs(one.scores)) {  // the limit of memory alone is against it
            ++filtered_;
            excluding_ |= kMemoryFilter;
        }
        if (!closest_ || one.scores.bytes < closest_->scores.bytes) closest_ = one;
    }

    const SearchSpace& space_;
    const double risk_;
    const PlanFilter& filter_;
    const bool chooses_recompute_;
    Scorer scorer_;
    Fastest fastest_;
    Front front_;
    FilterChoices choices_;
    std::optional<Ranked> closest_;  // the lowest estimate of those that are not ranked
    std::int64_t legal_ = 0, ranked_ = 0, filtered_ = 0;
    std::uint32_t excluding_ = 0;  // filters but for which a plan would be ranked
};

}  // namespace

Json rank_part(const SearchSpace& given, const Exploration& wanted, const PlanFilter& filter, Share share) {
    Plan plan = given.plan;
    if ((wanted.dimensions & vary_expert_parallel) != 0 && given.model.experts.count > 0) plan.expert_parallel = 1;  // each one is tried
    const SearchSpace space{given.model, plan, given.gpu, given.method, given.cluster};
    const Candidates all = candidates(space, plan.gpus, Breadth::usual, wanted.dimensions);
    PartRanking part(space, wanted, filter, all);
    SearchCounts counts;
    for_each_legal(space, {plan.gpus}, all, share, counts,
                   [&part](const Plan& candidate, std::int64_t order) { part.take(candidate, order); });
    Problems none;
    return *merge_parts(Json::array({part.json(counts)}), none);
}

std::optional<Json> merge_parts(const Json& parts, Problems& problems) {
    constexpr std::size_t kMostParts = 1'000;
    SearchCounts counts;
    const Json example = example_row();
    bool good = parts.is_array() && !parts.empty() && parts.size() <= kMostParts;
    for (std::size_t i = 0; good && i < parts.size(); ++i)
        good = is_part(parts[i], example) && parts[i]["gpus"] == parts[0]["gpus"] && add_rejected(parts[i]["rejected"], counts);
    if (!good) {
        problems.push_back({"", "type", nullptr, "Only answers of \"rank\" can be put together.", "", nullptr});
        return std::nullopt;
    }
    Json whole = Json::object(), front;
    for (const char* key : kCounts) {
        std::int64_t sum = 0;
        for (const Json& part : parts) sum += part[key].get<std::int64_t>();
        whole[key] = sum;
    }
    Json closest;
    for (const Json& part : parts) {
        const Json& other = part["closest"];
        if (other.is_null()) continue;
        const auto by = [](const Json& one) { return std::make_pair(one["total_bytes"].get<double>(), one["order"].get<double>()); };
        if (closest.is_null() || by(other) < by(closest)) closest = other;
    }
    merge_filters(parts, whole);
    whole["gpus"] = parts[0]["gpus"];
    whole["plans"] = merge_plans(parts, front);
    whole["front"] = std::move(front);
    whole["rejected"] = rejections(counts);
    whole["closest"] = std::move(closest);
    return whole;
}

}  // namespace fourfold
