#include "placement/request.h"

#include <algorithm>

#include "base/bytes.h"

namespace fourfold {

static constexpr Choice kObjectives[] = {{"step_time"}, {"pipette"}};
const std::span<const Choice> kObjectiveChoices = kObjectives;

std::int64_t usual_moves(std::size_t units) { return units <= 256 ? 6'000'000 : 10'000'000; }

static void read_objective(const Json& request, PlacementRequest& r, Problems& problems) {
    const auto given = request.find("objective");
    if (r.bare) r.objective = Objective::pipette;
    if (given == request.end()) return;
    std::vector<std::string_view> ids;
    for (const Choice& one : kObjectives) {
        if (given->is_string() && *given == one.id) {
            r.objective = static_cast<Objective>(ids.size());
            if (r.bare && r.objective != Objective::pipette)
                problems.push_back(
                    {"objective", "range", shown(*given), "problem.objective_of_pipette", "suggestion.job_for_step_time", "pipette"});
            return;
        }
        ids.push_back(one.id);
    }
    const Text message = Text("problem.unknown_choice").with("name", Text("field", "objective")).with("choices", Json(ids));
    problems.push_back({"objective", given->is_string() ? "range" : "type", shown(*given), message, {}, "step_time"});
}

static void read_budget(const Json& request, PlacementRequest& r, Problems& problems) {
    constexpr std::int64_t kMostMoves = 10'000'000'000, kMostRestarts = 10'000, kLargestSeed = 4'294'967'295;
    const auto read = [&](const char* key, Range range, std::int64_t otherwise) {
        const auto given = request.find(key);
        return given == request.end() ? otherwise : read_integer(*given, key, Text("field", key), range, problems).value_or(otherwise);
    };
    r.budget.seed = static_cast<std::uint64_t>(read("seed", {0, kLargestSeed}, 1));
    r.budget.moves = read("moves", {request.contains("start") ? 0 : 1, kMostMoves}, usual_moves(r.links.size()));
    r.budget.restarts = read("restarts", {1, kMostRestarts}, r.links.size() <= 256 ? 4 : 1);
}

static void read_bare(const Json& given, PlacementRequest& r, Problems& problems) {
    if (!given.is_object()) {
        problems.push_back({"pipette", "type", shown(given), "problem.no_pipette", {}, nullptr});
        return;
    }
    Problems own;
    PipetteNumbers p;
    FieldReader reader(given, own);
    constexpr Range kCount{1, static_cast<std::int64_t>(kMostUnits)};
    double hand_over = 0, data = 0, inside = 0;
    reader.integer({"pipelines"}, p.pipelines, kCount);
    reader.integer({"stages"}, p.stages, kCount);
    reader.integer({"inter_dp"}, p.inter_dp, {1, 1'000'000});
    reader.integer({"inner_dp"}, p.inner_dp, {1, 1'000'000});
    reader.number({"pp_msg_gbyte|-|gbyte"}, hand_over, {0, 1e6});
    reader.number({"dp_msg_gbyte|-|gbyte"}, data, {0, 1e6});
    reader.number({"inside_gbyte_per_s|-|gbyte_per_s"}, inside, {0, 1e6});
    reader.reject_unknown();
    if (own.empty() && p.inner_dp > 1 && inside <= 0)
        own.push_back({"inside_gbyte_per_s", "missing", nullptr, "problem.no_inside_rate", "suggestion.give_inside_rate", nullptr});
    for (Problem& problem : own) problem.field = under("pipette", problem.field), problems.push_back(std::move(problem));
    p.hand_over_bytes = hand_over * kGbyte, p.data_bytes = data * kGbyte, p.inside_byte_per_s = inside * kGbyte;
    r.bare = p;
}

// [{"name", "speed", "memory_gib"}]: units that differ; those that are not named are as the profile says.
static void read_units(const Json& given, PlacementRequest& r, FirstProblems& problems) {
    if (!given.is_array() || given.size() > kMostUnits) {
        problems.keep({"units", "type", nullptr, "problem.no_units", {}, nullptr});
        return;
    }
    std::vector<bool> seen(r.links.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::string path = "units[" + std::to_string(i) + "]";
        if (!given[i].is_object()) {
            problems.keep({path, "type", shown(given[i]), "problem.no_unit", {}, nullptr});
            continue;
        }
        Problems own;
        FieldReader reader(given[i], own);
        const std::string* name = reader.text("name");
        double speed = 1, memory = 0;
        reader.number({"speed"}, speed, {0.01, 100});
        reader.number({"memory_gib|-|gib"}, memory, {1, 100'000});
        reader.reject_unknown();
        const auto& names = r.links.names;
        const auto at = name == nullptr ? names.end() : std::find(names.begin(), names.end(), *name);
        if (name == nullptr && !given[i].contains("name"))
            own.push_back({"name", "missing", nullptr, "problem.unit_without_name", "suggestion.name_in_measurement", nullptr});
        else if (name != nullptr && at == names.end())
            own.push_back(
                {"name", "range", shown(Json(*name)), Text("problem.no_such_unit").with("unit", shown(Json(*name))), {}, nullptr});
        const auto unit = static_cast<std::size_t>(at - names.begin());
        if (at != names.end() && seen[unit])
            own.push_back({"name", "contradictory", shown(Json(*name)), Text("problem.unit_twice").with("unit", shown(Json(*name))),
                           "suggestion.keep_one", nullptr});
        if (at != names.end()) seen[unit] = true;
        if (own.empty()) {
            if (speed != 1) r.speeds.resize(names.size(), 1), r.speeds[unit] = speed;
            if (memory > 0) r.memory_bytes.resize(names.size(), 0), r.memory_bytes[unit] = memory * kGibi;
        }
        for (Problem& problem : own) problem.field = under(path, problem.field), problems.keep(std::move(problem));
    }
}

static void check_size(const PlacementRequest& r, std::int64_t positions, const std::string& field, Problems& problems) {
    const auto measured = static_cast<std::int64_t>(r.links.size());
    if (positions <= measured) return;
    const Text message = Text("problem.not_measured").with("units", kind_of_units(r)).with("needed", positions).with("measured", measured);
    problems.push_back({field, "range", positions, message, "suggestion.measure_more", nullptr});
}

// A placement to begin with: the unit of every position, each unit once.
static void read_start(const Json& given, std::int64_t positions, PlacementRequest& r, Problems& problems) {
    const auto units = static_cast<std::int64_t>(r.links.size());
    Placement start;
    std::vector<bool> seen(r.links.size());
    const auto take = [&](std::int64_t unit) {
        if (unit < 0 || unit >= units || seen[static_cast<std::size_t>(unit)]) return false;
        seen[static_cast<std::size_t>(unit)] = true;
        start.push_back(static_cast<std::uint32_t>(unit));
        return true;
    };
    bool right = given.is_array() && given.size() == static_cast<std::size_t>(positions);
    for (std::size_t i = 0; right && i < given.size(); ++i) {
        const auto* unit = given[i].get_ptr<const std::int64_t*>();
        right = unit != nullptr && take(*unit);
    }
    if (!right) {
        problems.push_back({"start", "range", nullptr, Text("problem.no_start").with("positions", positions), {}, nullptr});
        return;
    }
    for (std::int64_t unit = 0; unit < units; ++unit) take(unit);
    r.budget.start = std::move(start);
}

static void read_candidates(const Json& given, PlacementRequest& r, Problems& problems) {
    constexpr std::size_t kMost = 20;
    if (!given.is_array() || given.empty() || given.size() > kMost) {
        problems.push_back({"candidates", "type", nullptr, Text("problem.no_candidates").with("most", kMost), {}, nullptr});
        return;
    }
    FirstProblems found("candidates");
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::string path = "candidates[" + std::to_string(i) + "]";
        Problems own;
        Job trial = r.asked;
        if (given[i].is_object()) {
            FieldReader reader(given[i], own);
            visit_fields(trial.plan, reader);
            reader.reject_unknown();
            if (trial.plan.gpus_per_node == kAuto) trial.plan.gpus_per_node = r.job.plan.gpus_per_node;
            if (own.empty() && resolve(trial, own)) check_size(r, rank_grid(trial.plan, r.links.gpus).positions(), "gpus", own);
        } else {
            own.push_back({"", "type", shown(given[i]), "problem.no_candidate", {}, nullptr});
        }
        for (Problem& problem : own) problem.field = under(path, problem.field), found.keep(std::move(problem));
        r.candidates.push_back(trial.plan);
    }
    found.move_to(problems);
}

std::optional<PlacementRequest> read_placement(Json& request, api::LinkColumns columns, Problems& problems) {
    const std::size_t before = problems.size();
    PlacementRequest r;
    if (!request.is_object()) {
        problems.push_back({"", "type", shown(request), "problem.no_placement", {}, nullptr});
        return std::nullopt;
    }
    if (const auto links = request.find("links"); links == request.end()) {
        problems.push_back({"links", "missing", nullptr, "problem.no_links", "suggestion.read_measurement", nullptr});
    } else {
        if (auto read = links_from_json(*links, "links", problems, std::move(columns))) r.links = std::move(*read);
        *links = nullptr;  // a million numbers
    }
    auto job = read_parsed_job(request, Request::place, problems);
    if (job) r.asked = r.job = std::move(*job);
    if (const auto bare = request.find("pipette"); bare != request.end()) read_bare(*bare, r, problems);
    read_objective(request, r, problems);
    read_budget(request, r, problems);
    if (r.links.size() == 0) return std::nullopt;
    if (const auto units = request.find("units"); units != request.end()) {
        FirstProblems found("units");
        read_units(*units, r, found);
        found.move_to(problems);
    }
    if (problems.size() != before) return std::nullopt;
    if (r.bare) {
        for (const char* key : {"candidates", "units"})
            if (request.contains(key))
                problems.push_back({key, "range", nullptr, Text("problem.meaningless_with_pipette").with("key", key),
                                    "suggestion.job_instead_of_pipette", nullptr});
        check_size(r, r.bare->pipelines * r.bare->stages, "pipette", problems);
    } else if (resolve(r.job, problems)) {
        check_size(r, rank_grid(r.job.plan, r.links.gpus).positions(), "gpus", problems);
        if (const auto list = request.find("candidates"); list != request.end()) read_candidates(*list, r, problems);
    }
    if (problems.size() != before) return std::nullopt;
    if (const auto start = request.find("start"); start != request.end()) {
        const Plan& plan = r.candidates.empty() ? r.job.plan : r.candidates.front();
        if (r.candidates.size() > 1)
            problems.push_back({"start", "range", nullptr, "problem.start_of_one_plan", "suggestion.one_candidate", nullptr});
        else
            read_start(*start, r.bare ? r.bare->pipelines * r.bare->stages : rank_grid(plan, r.links.gpus).positions(), r, problems);
    }
    if (problems.size() != before) return std::nullopt;
    return r;
}

}  // namespace fourfold
