// Does it fit? What a GPU holds beside what PyTorch's allocator handed out, and how likely a run with such an estimate is to run.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/words.h"
#include "memory/memory.h"
#include "plan/framework.h"

namespace fourfold {

inline constexpr double kLineShare = 0.8;  // of the card; fujii2024's rule, "below 80 % never out of memory"
inline constexpr double kFitsProbability = 0.95, kNoFitProbability = 0.02;  // chosen: the classes' borders, of runs that run;
// what needs more than the card has does not fit either

enum class Fit : std::uint8_t { fits, at_risk, does_not_fit };
inline constexpr std::string_view kFitIds[] = {"fits", "at_risk", "does_not_fit"};

// Between "allocated" and "the card": what the allocator reserves besides, NCCL's buffers, the CUDA context. Sources in verdict.cpp.
template <class N>
Items<N> outside(const Plan& plan, double allocated_bytes);
extern template Items<double> outside<double>(const Plan&, double);
extern template Items<Traced> outside<Traced>(const Plan&, double);

// Runs are a band, not a line: of the runs whose whole-GPU estimate is `share` of the card, this part did not run out of memory.
// A log-normal residual, its two numbers fitted to published runs that ran or failed, per framework (verdict.cpp; the fit is a test). Of a
// framework without such runs, the mean of the others' probabilities.
double probability_to_run(Residual residual, double whole_share);

struct Verdict {
    Fit fit;
    double probability;      // negative = this method has none
    double whole_bytes = 0;  // of the GPU, with what lies outside the allocator; by fujii2024 what is allocated
};
// Up to this share of the card the verdict is "fits": of the whole GPU, by fujii2024 of what is allocated.
double line_share(Method method, const Plan& plan);
Verdict judge(Method method, const Plan& plan, double allocated_bytes, double card_bytes);

// The share of the card that a whole GPU may reach where at least so many runs run.
double most_whole_share(Residual residual, double probability);
// Allocated bytes with which the whole GPU reaches `whole_bytes`.
double allocated_of_whole(const Plan& plan, double whole_bytes);

// What is allocated where the allocator keeps so many bytes.
double allocated_of_reserved(double reserved_bytes);

// What the verdict says, and the evidence behind it.
struct Explanation {
    Text verdict, basis;
};
Explanation explain(Method method, const Plan& plan, const Verdict& verdict);

}  // namespace fourfold
