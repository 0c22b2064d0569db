#include "answer/heat_map.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>

#include "answer/parts.h"
#include "base/sorted.h"
#include "search/ranking.h"

namespace fourfold {

namespace {

using Degrees = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;  // TP, CP, PP, micro-batch
Degrees degrees_of(const Plan& p) { return {p.tensor_parallel, p.context_parallel, p.pipeline_parallel, p.micro_batch}; }

struct Entry {
    Degrees degrees;
    std::size_t count;  // which number of GPUs
    Estimated estimate;
};

// What is left of a number of GPUs without its doublings: copies of the model that divide the batch cannot take it where it does not.
std::int64_t odd_factor(std::int64_t n) { return n >> std::countr_zero(static_cast<std::uint64_t>(n)); }

// gpus/4 … gpus*8 in doublings; and where their number divides badly, the next lower one that does not: whole nodes, whose odd factor
// divides the batch.
std::vector<std::int64_t> usual_gpu_counts(const Plan& plan) {
    constexpr std::int64_t kMost = 1'048'576;  // as the field has it
    const std::int64_t gpus = plan.gpus;
    std::vector<std::int64_t> counts;
    for (const std::int64_t divisor : {4, 2})
        if (gpus % divisor == 0) counts.push_back(gpus / divisor);
    const auto divides = [&](std::int64_t n) { return plan.global_batch % odd_factor(n) == 0; };
    std::int64_t fewer = gpus;
    const std::int64_t node = plan.gpus_per_node;
    while (2 * fewer > gpus && !(divides(fewer) && (fewer == gpus || fewer < node || fewer % node == 0))) --fewer;
    if (fewer < gpus && 2 * fewer > gpus) counts.push_back(fewer);
    for (const std::int64_t factor : {1, 2, 4, 8})
        if (gpus <= kMost / factor) counts.push_back(gpus * factor);
    return counts;
}

class Mapper {
 public:
    explicit Mapper(const Job& job) : job_(job), best_(job.gpu_counts.size()) {}

    HeatMap run() {
        for (std::size_t i = 0; i < job_.gpu_counts.size(); ++i) add_column(i);
        entries_ = sorted(std::move(entries_), [](const Entry& a, const Entry& b) {
            return a.degrees != b.degrees ? a.degrees < b.degrees : a.count < b.count;
        });
        fill_columns();
        return {summary(), std::move(columns_)};
    }

 private:
    SearchSpace space(const Plan& plan) const { return {job_.model, plan, *job_.gpu, job_.method, job_.cluster, job_.exploration}; }

    // Of many values those that are powers of two have rows of their own, and the one that is best; a single one always has.
    static std::vector<std::int64_t> rows_of(const std::vector<std::int64_t>& values, std::int64_t best) {
        std::vector<std::int64_t> rows;
        for (const std::int64_t v : values)
            if ((v & (v - 1)) == 0 || v == best || values.size() == 1) rows.push_back(v);
        return rows;
    }
    void add_column(std::size_t which) {
        Plan plan = job_.plan;
        plan.gpus = job_.gpu_counts[which];
        const SearchSpace whole = space(plan);
        const Candidates all = candidates(whole);
        const SearchCounts counts = count_candidates(whole, all);
        counts_.candidates += counts.candidates;
        for (std::size_t i = 0; i < counts.rejected.size(); ++i) counts_.rejected[i] += counts.rejected[i];
        best_[which] = choose(whole);
        if (!best_[which]) return;
        const Degrees first = degrees_of(best_[which]->estimate.plan);
        const Plan& best = best_[which]->estimate.plan;
        const std::vector<std::int64_t> contexts = rows_of(all.context, best.context_parallel),
                                        micro_batches = rows_of(all.micro_batch, best.micro_batch);
        for (const std::int64_t t : all.tensor)
            for (const std::int64_t c : contexts)
                for (const std::int64_t p : all.pipeline) {
                    plan.tensor_parallel = t, plan.context_parallel = c, plan.pipeline_parallel = p;
                    if (plan.gpus % plan.model_parallel() != 0) continue;
                    for (const std::int64_t b : micro_batches) {
                        plan.micro_batch = b;
                        if (plan.global_batch % (b * plan.data_parallel()) != 0) continue;
                        const auto here = degrees_of(plan) == first ? best_[which] : choose(space(plan));
                        if (!here) continue;
                        ++by_fit_[static_cast<std::size_t>(here->estimate.verdict.fit)];
                        entries_.push_back({degrees_of(plan), which, here->estimate});
                    }
                }
    }
    void fill_columns() {
        api::SearchColumns& c = columns_;
        std::int32_t row = -1;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const Entry& entry = entries_[i];
            const Plan& plan = entry.estimate.plan;
            if (i == 0 || entry.degrees != entries_[i - 1].degrees) ++row;
            const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
            const auto tokens = static_cast<double>(plan.global_batch * plan.sequence_length);
            c.row.push_back(row);
            c.gpus.push_back(narrow(plan.gpus));
            c.tensor_parallel.push_back(narrow(plan.tensor_parallel));
            c.context_parallel.push_back(narrow(plan.context_parallel));
            c.pipeline_parallel.push_back(narrow(plan.pipeline_parallel));
            c.micro_batch.push_back(narrow(plan.micro_batch));
            c.data_parallel.push_back(narrow(plan.data_parallel()));
            c.expert_parallel.push_back(narrow(plan.expert_parallel));
            c.total_bytes.push_back(entry.estimate.bytes);
            c.whole_bytes.push_back(entry.estimate.verdict.whole_bytes);
            c.share.push_back(entry.estimate.share);
            c.step_seconds.push_back(entry.estimate.seconds);
            c.tokens_per_s.push_back(tokens / entry.estimate.seconds);
            c.tokens_per_s_per_gpu.push_back(tokens / entry.estimate.seconds / static_cast<double>(plan.gpus));
            c.fit_class.push_back(static_cast<std::uint8_t>(entry.estimate.verdict.fit));
        }
    }
    // The entry that "auto" means at a number of GPUs.
    std::size_t entry_of(std::size_t which) const {
        const Degrees wanted = degrees_of(best_[which]->estimate.plan);
        return static_cast<std::size_t>(
            std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) { return one.count == which && one.degrees == wanted; }) -
            entries_.begin());
    }
    // Why the job's GPUs are not faster than fewer of them, and which batch would help; null where it is not the batch.
    Json not_faster(std::int64_t fewer) const {
        const std::int64_t batch = job_.plan.global_batch, factor = odd_factor(job_.plan.gpus);
        if (fewer == 0 || batch % factor == 0) return nullptr;
        return Text("searched.not_faster")
            .with("gpus", job_.plan.gpus)
            .with("fewer", fewer)
            .with("batch", batch)
            .with("factor", factor)
            .with("next", std::max<std::int64_t>(1, (batch + factor / 2) / factor) * factor)
            .json();
    }
    Json summary() const {
        Json sizes = Json::array(), chosen = Json::array();
        double base = 0;              // tokens per second and GPU
        double fastest = 0, own = 0;  // of a step on fewer GPUs, and on the job's
        std::int64_t fewer = 0;
        // What a person would try next who wants it faster: the first number at least twice the job's on which it is. Where no plan
        // fits on the job's, twice the first number on which one does.
        std::int64_t base_gpus = 0, faster = 0;
        double base_seconds = 0;
        for (std::size_t i = 0; i < job_.gpu_counts.size(); ++i) {
            const std::int64_t gpus = job_.gpu_counts[i];
            Json size = Object().add("gpus", gpus).add("entry", nullptr).add("efficiency", nullptr).add("run", nullptr);
            const std::size_t at = best_[i] ? entry_of(i) : entries_.size();
            if (at < entries_.size()) chosen.push_back(Object().add("gpus", gpus).add("row", std::int64_t{columns_.row[at]}));
            if (at < entries_.size() && best_[i]->fits()) {
                const double speed = columns_.tokens_per_s_per_gpu[at];
                if (base == 0) base = speed;
                const double seconds = columns_.step_seconds[at];
                if (base_gpus == 0 && gpus >= job_.plan.gpus) base_gpus = gpus, base_seconds = seconds;
                if (faster == 0 && base_gpus > 0 && gpus >= 2 * base_gpus && seconds < base_seconds) faster = gpus;
                if (gpus == job_.plan.gpus) own = seconds;
                if (gpus < job_.plan.gpus && (fewer == 0 || seconds < fastest)) fastest = seconds, fewer = gpus;
                size["entry"] = at;
                size["efficiency"] = speed / base;
                size["run"] = describe_run(job_, entries_[at].estimate.plan, entries_[at].estimate.seconds, {1, 1, ""});
            }
            sizes.push_back(std::move(size));
        }
        return Object()
            .add("ok", true)
            .add("job", to_json(job_))
            .add("gpu_counts", job_.gpu_counts)
            .add("card_bytes", job_.gpu->memory_bytes)
            .add("line_share", kLineShare)
            .add("candidates", counts_.candidates)
            .add("legal", static_cast<std::int64_t>(entries_.size()))
            .add("fits", by_fit_[0])
            .add("at_risk", by_fit_[1])
            .add("does_not_fit", by_fit_[2])
            .add("rejected", rejections(counts_.rejected))
            .add("auto", std::move(chosen))
            .add("sizes", std::move(sizes))
            .add("faster", faster > 0 ? Json(faster) : Json(nullptr))
            .add("not_faster", not_faster(own > 0 && own >= fastest ? fewer : 0));
    }

    const Job& job_;
    std::vector<std::optional<Chosen>> best_;  // per number of GPUs
    std::vector<Entry> entries_;
    SearchCounts counts_;
    std::array<std::int64_t, 3> by_fit_{};
    api::SearchColumns columns_;
};

}  // namespace

HeatMap heat_map(Job& job) {
    if (job.gpu_counts.empty()) job.gpu_counts = usual_gpu_counts(job.plan);
    return Mapper(job).run();
}

}  // namespace fourfold
