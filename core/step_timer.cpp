// What is done with the step time of a plan: many plans of one space timed one after the other, pipelines played that have no closed form,
// and the floating-point operations that a rate is counted in. Based on
//   K. Fujii et al., arXiv 2411.06465: the count of FLOP;  P. Qi et al., arXiv 2401.10241: zero bubble
#include "step_time.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "op_times.h"

namespace fourfold {

static double number(std::int64_t value) { return static_cast<double>(value); }

bool is_played(const Plan& p) {
    constexpr std::int64_t kMostPlayed = 48;  // stages; longer pipelines exist on paper alone, and take 1F1B's time at most
    const ScheduleKind kind = p.schedule_kind();
    return (kind == ScheduleKind::zero_bubble_h1 || kind == ScheduleKind::zero_bubble_v) && p.pipeline_parallel > 1 &&
           p.pipeline_parallel <= kMostPlayed;
}

// Played up to where it repeats itself; every further micro-batch takes the slowest stage's time.
double played_makespan(const Model& model, const Plan& p, const Machine& machine, const Timing& timing, const LayerTimes& layers,
                       const Stages& stages, const Pace& pace) {
    const double m = number(p.micro_batches());
    const auto few = static_cast<std::int32_t>(std::min(m, 4 * number(p.pipeline_parallel)));
    OpTimes times = op_times(model, p, machine, timing, layers, stages);
    times.transfer = 0;
    const auto played = play(
        make_schedule(p.schedule_kind(), static_cast<std::int32_t>(p.pipeline_parallel), static_cast<std::int32_t>(p.virtual_stages), few),
        times);
    return (played ? played->makespan : pace.sum) + (m - few) * pace.most;
}

double model_flop(const Model& m, const Plan& p, FlopConvention convention) {
    const double h = number(m.hidden), L = number(m.layers), s = number(p.sequence_length), q = number(m.heads * m.head_dim) / h;
    const double v = number(padded_vocabulary(m, p.tensor_parallel)), k = number(m.kv_heads) / number(m.heads);
    double expert_layers = 0;  // there a token passes through its experts alone
    for (const std::uint8_t expert : m.expert_layers) expert_layers += expert;
    const double visited = number(m.experts.per_token * m.experts.ffn + m.experts.shared_ffn);
    const double f = (number(m.ffn) * (L - expert_layers) + visited * expert_layers) / L;
    const double scores = convention == FlopConvention::causal ? s / h / 2 : s / h;
    return 12 * number(p.global_batch) * s * L * h * h * ((1 + k + scores) * q + f / h * (m.gated ? 1.5 : 1) + v / (2 * L * h));
}

constexpr std::size_t kPlaces = 128;  // of layer times; more than the (micro-batch, SP, recompute) of one TP and CP

StepTimer::StepTimer(const Model& model, const Gpu& gpu, const Cluster* cluster, const Plan& like)
    : model_(model),
      framework_(framework_of(like, gpu)),
      machine_(machine_of(gpu, cluster, like)),
      timing_(timing_of(machine_, cluster, like, framework_.attention)) {}

double StepTimer::seconds(const Plan& p) {
    if (known_.empty()) known_.resize(kPlaces);
    const Key key{p.tensor_parallel, p.context_parallel, p.micro_batch, p.expert_parallel, p.recompute, p.sequence_parallel};
    const auto log2 = [](std::int64_t value) { return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(value))); };
    const std::size_t place = log2(key.micro_batch) + 17 * (static_cast<std::size_t>(key.recompute) + (key.sequence_parallel ? 0 : 4)) +
                              5 * log2(key.expert_parallel) + 31 * log2(key.context_parallel);
    Known& known = known_[place % kPlaces];
    if (known.key != key) {
        known.key = key;
        known.times = layer_times(model_, p, framework_, machine_, timing_);
    }
    return step_time<double>(model_, p, framework_, machine_, timing_, known.times).seconds;
}

}  // namespace fourfold
