// Based on
//   memory reserved over allocated: mean 1.05, most 1.09 in the runs of SimuMax on B200 (release v1.2)
//   NCCL: about 0.5 GiB of buffers per communicator, the value with which the A100 runs beside arXiv 2411.06465 are ordered best
//   CUDA context: about 0.5 GiB on A100 and H100 (what nvidia-smi shows of an empty process)
#include "memory/verdict.h"

#include <cmath>

#include "base/bytes.h"

namespace fourfold {

static constexpr double kAllocatorSlack = 0.05;      // of what is allocated: reserved besides, the mean of the B200 runs
static constexpr double kNcclBuffers = 0.5 * kGibi;  // bytes per communicator, with which the A100 runs are ordered best
static constexpr double kCudaContext = 0.5 * kGibi;  // bytes, measured

template <class N>
Items<N> outside(const Plan& p, double allocated_bytes) {
    const auto number = [](const char* symbol, const char* meaning, const char* unit, double value) {
        return quantity<N>({symbol, meaning, unit}, value);
    };
    const double communicators = (p.tensor_parallel > 1 ? 1 : 0) + (p.tensor_columns > 1 ? 1 : 0) + (p.context_parallel > 1 ? 1 : 0) +
                                 (p.data_parallel() > 1 ? 1 : 0) + (p.expert_parallel > 1 ? 1 : 0) +
                                 (p.pipeline_parallel > 1 ? 2 : 0);  // stages; first and last
    Items<N> items;
    items.add(Item::allocator_slack, kAllocatorSlack * number("A", "allocated", "bytes", allocated_bytes));
    if (communicators > 0) items.add(Item::nccl_buffers, kNcclBuffers * number("C", "communicators", "", communicators));
    items.add(Item::cuda_context, N(kCudaContext));
    return items;
}
template Items<double> outside<double>(const Plan&, double);
template Items<Traced> outside<Traced>(const Plan&, double);

// Of a framework without runs: the mean over all that have some. Which of them it is like nobody knows, so each counts alike, and those
// that share their runs once.
static double mean_of_measured(double whole_share) {
    double sum = 0;
    int curves = 0;
    for (std::size_t i = 0; i < kFrameworkKinds; ++i) {
        const Residual& one = row_of(static_cast<FrameworkKind>(i)).residual;
        bool counted = one.runs == 0;
        for (std::size_t before = 0; before < i; ++before)
            counted = counted || row_of(static_cast<FrameworkKind>(before)).residual.evidence == one.evidence;
        if (counted) continue;
        sum += probability_to_run(one, whole_share);
        ++curves;
    }
    return sum / curves;
}

double probability_to_run(Residual residual, double whole_share) {
    if (residual.middle == 0) return mean_of_measured(whole_share);
    // one run in 200 does what no band of some hundred runs can rule out
    constexpr double kSurprise = 0.005;
    return kSurprise + (1 - 2 * kSurprise) * 0.5 * std::erfc(std::log(whole_share / residual.middle) / (residual.spread * std::sqrt(2.0)));
}

Verdict judge(Method method, const Plan& plan, double allocated_bytes, double card_bytes) {
    const double share = allocated_bytes / card_bytes;
    if (method == Method::fujii2024)
        return {share <= kLineShare ? Fit::fits : share <= 1 ? Fit::at_risk : Fit::does_not_fit, -1, allocated_bytes};
    const double whole = allocated_bytes + outside<double>(plan, allocated_bytes).total();
    const double probability = probability_to_run(row_of(plan.framework).residual, whole / card_bytes);
    return {probability >= kFitsProbability                          ? Fit::fits
            : probability <= kNoFitProbability || whole > card_bytes ? Fit::does_not_fit
                                                                     : Fit::at_risk,
            probability, whole};
}

double most_whole_share(Residual residual, double probability) {
    double low = 0, high = 2;  // bisection: the probability falls with the share
    for (double middle = 1; middle != low && middle != high; middle = (low + high) / 2)
        (probability_to_run(residual, middle) >= probability ? low : high) = middle;
    return low;
}

double line_share(Method method, const Plan& plan) {
    return method == Method::fujii2024 ? kLineShare : most_whole_share(row_of(plan.framework).residual, kFitsProbability);
}

double allocated_of_whole(const Plan& plan, double whole_bytes) {
    constexpr double kSome = kGibi;  // what lies outside is a fixed part and a share of what is allocated
    const double fixed = outside<double>(plan, 0).total(), share = (outside<double>(plan, kSome).total() - fixed) / kSome;
    return (whole_bytes - fixed) / (1 + share);
}

double allocated_of_reserved(double reserved_bytes) { return reserved_bytes / (1 + kAllocatorSlack); }

Explanation explain(Method method, const Plan& plan, const Verdict& verdict) {
    constexpr int kPapersRuns = 454;  // Fujii, Watanabe, Yokota 2024
    if (method == Method::fujii2024)
        return {Text("verdict.paper_rule").with("line", kLineShare),
                Text("evidence.paper_rule").with("runs", kPapersRuns).with("line", kLineShare)};
    constexpr int kOf = 100;        // the sentence counts failures among so many runs
    constexpr double kSame = 1e-9;  // 100 * (1 - 0.99) is a little more than 1
    const double fail = kOf * (1 - verdict.probability);
    const int failing = static_cast<int>(std::ceil(fail - kSame));  // up: "at least" is to be true
    const Residual& evidence = row_of(plan.framework).residual;
    return {failing <= 1              ? Text("verdict.hardly_any_fails")
            : fail >= kOf - 1 - kSame ? Text("verdict.nearly_every_fails")
                                      : Text("verdict.some_fail").with("failing", failing).with("of", kOf),
            Text("evidence", evidence.evidence).with("runs", evidence.runs).with("share", evidence.middle)};
}

}  // namespace fourfold
