// The reverse questions: how few GPUs, how large a micro-batch, batch, sequence or model. (Not "limits.h": that is the C library's.)
// Each is answered with the first plan of the ranking there (search.h): what the job sets is kept, what it leaves open is searched again at
// every value tried.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "job/job.h"
#include "search/search.h"

namespace fourfold {

// The numbers of GPUs that are tried, ascending: every one below kOneByOne; whole nodes, one by one up to twice kStepsPerDoubling of them
// and in as many steps per doubling from there up to kMostGpus; and the number that the plan has.
inline constexpr std::int64_t kOneByOne = 64, kStepsPerDoubling = 32, kMostGpus = 131'072;
std::vector<std::int64_t> gpu_counts_to_try(const Plan& plan);
// Of nodes with more than eight GPUs parts are tried too, in such steps up to a few nodes: a rack of 72 is made of trays of four.
struct PartsOfNodes {
    std::int64_t step = 1, most = 0;
};
constexpr PartsOfNodes parts_of_nodes(std::int64_t node) {
    constexpr std::int64_t kUsualNode = 8, kTray = 4, kFew = 4;
    return node > kUsualNode ? PartsOfNodes{std::max(kTray, node / 64 * kTray), kFew * node} : PartsOfNodes{};
}

// The first of those numbers at which a plan fits, and, when the job has a token budget and a number of days, at which the fastest plan
// that fits finishes in time: by its central estimate, and by the upper end of its band. Fitting and finishing are not monotone in the
// number of GPUs, since numbers must divide, so that every one is tried that no lower bound rules out.
struct FewestGpus {
    std::optional<Estimated> fits, in_time, safe;
};
FewestGpus fewest_gpus(const Job& job);

// Lower bounds on the GPUs, without a plan: every parameter's states lie on some GPU, and every token meets every matrix at the card's peak
// rate. 0 = no bound known.
double least_gpus_to_fit(const Job& job);
double least_gpus_in_time(const Job& job);

enum class LimitedBy { memory, rules, range };  // what stands against the next larger value
struct Largest {
    std::int64_t value, step;  // `value` is a multiple of `step`, and the next one does not fit
    Estimated at;
    LimitedBy limited_by;
};
std::optional<Largest> largest_micro_batch(const SearchSpace& space);
std::optional<Largest> largest_batch(const SearchSpace& space);     // sequences
std::optional<Largest> largest_sequence(const SearchSpace& space);  // tokens; the batch keeps its number of sequences

// The answer to limits() (api.h).
Json limits_answer(const Job& job);

}  // namespace fourfold
