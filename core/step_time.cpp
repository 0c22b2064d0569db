// Based on
//   S. Yim et al.: Pipette, DATE 2024, arXiv 2405.18093: the critical path of a pipeline, with point-to-point transfers on it
//   D. Narayanan et al., arXiv 2104.04473: bubbles, interleaved or not;  P. Qi et al., arXiv 2401.10241: zero bubble
//   K. Fujii et al., arXiv 2411.06465: the count of FLOP
#include "step_time.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "schedule.h"

namespace fourfold {

static constexpr std::array<TimeText, static_cast<std::size_t>(TimeItem::count)> kTexts = {{
    {"multiplications", "compute", "Matrix multiplications", "The layers' weights times what flows through them, forward and backward."},
    {"attention", "compute", "Attention", "Every token against every earlier one."},
    {"element_wise", "compute", "Element-wise work", "Norms, activation functions, residuals: limited by memory, not by arithmetic."},
    {"recomputation", "compute", "Recomputation", "What was not kept is computed again."},
    {"accumulation", "compute", "Adding up gradients", "Every micro-batch adds to the gradients of all weights."},
    {"head", "compute", "Embedding, logits, loss", "Both ends of the model, on the stage that sets the pace."},
    {"tensor_traffic", "tensor", "Tensor-parallel traffic", "Exchanges inside every layer that no work hides."},
    {"context_traffic", "context", "Context-parallel traffic", "Keys and values on their way round, as far as nothing hides it."},
    {"expert_traffic", "other", "Expert traffic", "Tokens to their experts and back. Not yet checked against runs."},
    {"weight_traffic", "data", "Gathering weights", "FSDP gathers weights for every micro-batch. Not yet checked against runs."},
    {"host", "other", "Waiting for the CPU", "Small pieces of work finish faster than the CPU can launch the next."},
    {"bubble", "bubble", "Pipeline bubble", "Stages wait while the pipeline fills and drains."},
    {"pipeline_traffic", "pipeline", "Pipeline traffic", "Hand-overs between stages on the critical path."},
    {"data_traffic", "data", "Data-parallel traffic", "Gradients added up over all copies of the model, and new weights handed out."},
    {"optimizer", "compute", "Optimizer", "Adam's update of the weights."},
    {"stalls", "other", "Stalls", "Noise of machine and network: everybody waits for the slowest."},
    {"fixed", "other", "Fixed work per step", "Data, logging, bookkeeping."},
}};
const TimeText& text(TimeItem item) { return kTexts[static_cast<std::size_t>(item)]; }

static Band published_band(const Model& model, const Plan& plan, const Machine& machine) {
    if (model.experts.count > 0) return {0.7, 2, "No run of a model with experts was used: take this as an order of magnitude."};
    if (plan.framework == FrameworkKind::pytorch)
        return {0.95, 1.6, "Frameworks other than Megatron-LM took 1.1 to 1.6 times as long in 216 published runs."};
    if (machine.architecture == Architecture::blackwell)
        return {0.9, 1.45, "No Blackwell run was used to fit the model; 16 published ones took up to 1.4 times as long."};
    if (machine.architecture == Architecture::ampere) return {0.89, 1.25, "From 84 published Megatron-LM runs on A100."};
    return {0.91, 1.1, "From 93 published Megatron-LM runs on H100, at sites that were in the fit; others lie up to a tenth off."};
}
Band band_of(const Model& model, const Plan& plan, const Machine& machine) {
    Band band = published_band(model, plan, machine);
    if (plan.is_calibrated()) band.basis = "Calibrated with your own runs; the band is that of the published ones.";
    return band;
}

static double number(std::int64_t value) { return static_cast<double>(value); }

double transfer_seconds(const Model& m, const Plan& p, const Machine& hw, const Timing& k) {
    const double tokens = number(p.sequence_length) * number(p.micro_batch) / number(p.context_parallel);
    const double bytes = 2 * tokens * number(m.hidden) / number(p.tensor_parallel), gpus = number(p.gpus),
                 stage = gpus / number(p.pipeline_parallel);
    const double node = number(hw.gpus_per_node);
    if (gpus <= node) return k.link_latency + bytes / (0.6 * k.link * hw.pair_link());
    return k.network_latency + bytes * std::min(node, stage) / (k.pipeline * hw.node);
}

DataCollective data_collective_parts(const Plan& p, const Machine& hw, const Timing& k, double bytes) {
    const double D = number(p.data_parallel() * p.context_parallel), node = number(hw.gpus_per_node);
    if (D <= 1) return {};
    const double near = std::max(1.0, std::min(D, std::floor(node / number(p.tensor_parallel)))), nodes = D / near;
    const double groups = number(p.gpus) >= node ? std::max(1.0, node / near) : number(p.tensor_parallel);
    const double inside = near > 1 ? bytes * (near - 1) / near / (k.link * hw.ring_link(near)) : 0;
    const double across = nodes > 1 ? bytes * groups * (nodes - 1) / nodes : 0;
    return {inside, across, 8 * k.network_latency * std::log2(std::max(2.0, nodes))};
}

double stage_parameters(const Model& model, const Plan& p, const LayerTimes& layers, const Stage& s) {
    const double vocabulary = number(padded_vocabulary(model, p.tensor_parallel)) / number(p.tensor_parallel) * number(model.hidden);
    return s.dense.held * layers.parameters_dense + s.experts.held * layers.parameters_expert + (s.has_embedding ? vocabulary : 0) +
           (s.has_head && !(model.tied && s.has_embedding) ? vocabulary : 0);
}

namespace {

// Seconds for the ranks that hold the same parameters to reduce or gather `bytes` per GPU.
double data_collective(const Plan& p, const Machine& hw, const Timing& k, double bytes) {
    const DataCollective parts = data_collective_parts(p, hw, k, bytes);
    return std::max(parts.inside, parts.across / (k.network * hw.node)) + parts.fixed;
}

struct Pace {
    double sum = 0, most = 0;  // seconds of one micro-batch: all stages, the one that sets the pace
    Stage slowest{};
    double parameters = 0;  // of the heaviest stage
    double makespan = 0;    // of the layers' work, without transfers
    double transfers = 0;
};

bool is_played(const Plan& p) {
    constexpr std::int64_t kMostPlayed = 48;  // stages; longer pipelines exist on paper alone, and take 1F1B's time at most
    const ScheduleKind kind = p.schedule_kind();
    return (kind == ScheduleKind::zero_bubble_h1 || kind == ScheduleKind::zero_bubble_v) && p.pipeline_parallel > 1 &&
           p.pipeline_parallel <= kMostPlayed;
}
// Fills in how long the stages take together; `pace` knows their sum and the slowest. `seconds` per stage, for schedules that are played.
void run_pipeline(const Plan& p, const Stages& stages, const LayerTimes& layers, const std::vector<double>& seconds, double transfer,
                  Pace& pace) {
    const double m = number(p.micro_batches()), stage_count = number(p.pipeline_parallel), chunks = number(p.virtual_stages);
    if (stage_count == 1) {
        pace.makespan = m * pace.most;
        return;
    }
    const ScheduleKind kind = p.schedule_kind();
    switch (is_played(p) || kind == ScheduleKind::interleaved ? kind : ScheduleKind::one_f_one_b) {
        case ScheduleKind::gpipe:
        case ScheduleKind::one_f_one_b:
            pace.makespan = pace.sum + (m - 1) * pace.most;
            pace.transfers = transfer * (2 * (stage_count - 1) + (m - 1) * (stage_count == 2 ? 1 : 2));
            break;
        case ScheduleKind::interleaved:
            pace.makespan = m * pace.most + (pace.sum - pace.most) / chunks;
            pace.transfers = transfer * (2 * (stage_count - 1) + 2 * m * chunks * (p.overlap_pipeline ? kOverlappedTransfer : 1));
            break;
        case ScheduleKind::zero_bubble_h1:
        case ScheduleKind::zero_bubble_v: {
            // played up to where it repeats itself; every further micro-batch takes the slowest stage's time
            const auto few = static_cast<std::int32_t>(std::min(m, 4 * stage_count));
            const Schedule schedule =
                make_schedule(p.schedule_kind(), static_cast<std::int32_t>(stage_count), static_cast<std::int32_t>(chunks), few);
            OpTimes times;
            const double backward = layers.dense.backward - layers.dense.recomputed,
                         ratio = layers.dense.forward / (layers.dense.forward + layers.dense.backward);
            const double weight = backward > 0 ? 0.5 * (1 - ratio) * backward / layers.dense.backward : 0.25;
            for (std::int32_t i = 0; i < schedule.stages; ++i)
                for (std::int32_t c = 0; c < schedule.chunks; ++c) {
                    double stage_layers = 0;
                    for (std::int32_t all = 0; all < schedule.chunks; ++all) stage_layers += number(stages.layers_of(i, all));
                    const double part = stage_layers > 0 ? number(stages.layers_of(i, c)) / stage_layers : 1 / chunks;
                    const double here = part * seconds[static_cast<std::size_t>(i)];
                    times.forward.push_back(ratio * here);
                    times.backward.push_back((1 - ratio - weight) * here);
                    times.weight.push_back(weight * here);
                }
            const auto played = play(schedule, times);
            pace.makespan = (played ? played->makespan : pace.sum) + (m - few) * pace.most;
            pace.transfers = transfer * (2 * (stage_count - 1) + (m - 1) * 2);
            break;
        }
    }
}

}  // namespace

PipelineWeights pipeline_weights(const Plan& p) {
    const double m = number(p.micro_batches()), chunks = number(p.virtual_stages);
    if (is_played(p)) return {0, m, 1, m - 1, false};
    if (p.pipeline_parallel > 1 && p.schedule_kind() == ScheduleKind::interleaved)
        return {1 / chunks, m - 1 / chunks, 1, m * chunks * (p.overlap_pipeline ? kOverlappedTransfer : 1), true};
    return {1, m - 1, 1, (m - 1) * (p.pipeline_parallel == 2 ? 0.5 : 1), false};
}

namespace {

// A calibration's factor, on every term alike, so that they still sum to the step.
template <class N>
void multiply(StepTime<N>& result, double factor) {
    const N measured = quantity<N>({"k", "measured over estimated, from your own runs", ""}, factor);
    for (N& item : result.items)
        if (value_of(item) != 0) item = measured * item;
    for (double& stage : result.stage_seconds) stage *= factor;
    result.seconds *= factor;
    result.forward *= factor;
    result.backward *= factor;
}

}  // namespace

template <class N>
StepTime<N> step_time(const Model& model, const Plan& p, const Framework&, const Machine& hw, const Timing& k, const LayerTimes& layers,
                      const StageLayers& given) {
    const auto seconds = [](const char* letter, const char* meaning, double value) { return quantity<N>({letter, meaning, "s"}, value); };
    const auto plain = [](const char* letter, const char* meaning, double value) { return quantity<N>({letter, meaning, ""}, value); };
    StepTime<N> result;
    const Stages stages(model, p, given);
    const double memory = 0.85 * hw.memory, recomputed_share = p.recompute == Recompute::block ? -1 : 1;
    // ---- stages; those between the ends of an even pipeline are alike, and one of them stands for all
    const auto count = static_cast<std::int32_t>(p.pipeline_parallel);
    const auto accumulate = [&](const Stage& s) {
        return k.accumulation / memory * (s.dense.held * layers.parameters_dense + s.experts.held * layers.parameters_expert);
    };
    const auto seconds_of = [&](const Stage& s) {
        const auto kind = [&](const LayerCount& c, const LayerTime& t) {
            const double again = recomputed_share < 0 ? c.recomputed / std::max(1.0, c.held) : 1;  // block: only some layers
            return c.held * (t.forward + t.backward - (1 - again) * t.recomputed);
        };
        return kind(s.dense, layers.dense) + kind(s.experts, layers.expert) + accumulate(s) + k.micro_batch +
               (s.has_embedding ? layers.embedding : 0) + (s.has_head ? layers.head : 0);
    };
    Pace pace;
    const bool alike = stages.alike();
    for (std::int32_t i = 0; i < count; ++i) {
        const double times = alike && i == 1 && count > 2 ? count - 2 : 1;
        const Stage s = stages.at_rest(i);
        const double here = seconds_of(s);
        pace.sum += times * here;
        if (here > pace.most) pace.most = here, pace.slowest = s;
        pace.parameters = std::max(pace.parameters, stage_parameters(model, p, layers, s));
        if (times > 1) i = count - 2;
    }
    if (std::is_same_v<N, Traced> || is_played(p))
        for (std::int32_t i = 0; i < count; ++i) result.stage_seconds.push_back(seconds_of(stages.at_rest(i)));
    const double transfer = p.pipeline_parallel > 1 ? transfer_seconds(model, p, hw, k) : 0;
    run_pipeline(p, stages, layers, result.stage_seconds, transfer, pace);
    const Stage& slow = pace.slowest;
    // ---- the terms
    const N m = plain("m", "micro-batches per step", number(p.micro_batches()));
    const N n = plain("n", "layers of the stage that sets the pace", slow.dense.held),
            x = plain("n_e", "of them with experts", slow.experts.held);
    const auto both = [&](const char* letter, const char* letter_expert, const char* meaning, double dense, double expert) {
        if (slow.experts.held == 0) return m * n * seconds(letter, meaning, dense);
        if (slow.dense.held == 0) return m * x * seconds(letter_expert, meaning, expert);
        return m * (n * seconds(letter, meaning, dense) + x * seconds(letter_expert, meaning, expert));
    };
    const LayerTime &d = layers.dense, &e = layers.expert;
    const auto set = [&](TimeItem item, const N& value) { result.items[static_cast<std::size_t>(item)] = value; };
    set(TimeItem::multiplications, both("g", "g_e", "matrix multiplications of a layer, forward and backward",
                                        d.multiply_forward + d.multiply_backward, e.multiply_forward + e.multiply_backward));
    set(TimeItem::attention, both("a", "a_e", "attention of a layer, forward and backward", d.attention_forward + d.attention_backward,
                                  e.attention_forward + e.attention_backward));
    set(TimeItem::element_wise, both("w", "w_e", "norms, activation functions and residuals of a layer",
                                     d.element_forward + d.element_backward, e.element_forward + e.element_backward));
    set(TimeItem::tensor_traffic, both("t", "t_e", "tensor-parallel traffic of a layer that nothing hides",
                                       d.tensor_forward + d.tensor_backward, e.tensor_forward + e.tensor_backward));
    set(TimeItem::context_traffic, both("c", "c_e", "context-parallel traffic of a layer that nothing hides",
                                        d.context_forward + d.context_backward, e.context_forward + e.context_backward));
    set(TimeItem::expert_traffic, both("x", "x_e", "tokens on their way to experts and back, per layer",
                                       d.expert_forward + d.expert_backward, e.expert_forward + e.expert_backward));
    const auto recomputed = [&](const LayerCount& c, const LayerTime& t) {
        return recomputed_share < 0 ? c.recomputed / std::max(1.0, c.held) * t.recomputed : t.recomputed;
    };
    set(TimeItem::recomputation, both("r", "r_e", "what a layer computes again", recomputed(slow.dense, d), recomputed(slow.experts, e)));
    const auto host = [](const LayerTime& t) {
        return t.forward + t.backward -
               (t.multiply_forward + t.multiply_backward + t.attention_forward + t.attention_backward + t.element_forward +
                t.element_backward + t.tensor_forward + t.tensor_backward + t.context_forward + t.context_backward + t.expert_forward +
                t.expert_backward + t.recomputed);
    };
    set(TimeItem::host,
        both("h", "h_e", "waiting for the CPU, per layer", host(d), host(e)) + m * seconds("h_m", "per micro-batch", k.micro_batch));
    set(TimeItem::accumulation, m * seconds("u", "adding up the stage's gradients once", accumulate(slow)));
    set(TimeItem::head, m * seconds("l", "embedding, logits and loss of the stage, per micro-batch",
                                    (slow.has_embedding ? layers.embedding : 0) + (slow.has_head ? layers.head : 0)));
    set(TimeItem::bubble, seconds("b", "filling and draining the pipeline", pace.makespan - number(p.micro_batches()) * pace.most));
    set(TimeItem::pipeline_traffic, seconds("p", "transfers between stages on the critical path", pace.transfers));
    // ---- once per step
    const double parameters = pace.parameters;
    const double D = number(p.data_parallel() * p.context_parallel), gradient = p.gradients_in_fp32 ? 4 : 2;
    const double reduce = (p.shards_optimizer() ? 1 : 2) * data_collective(p, hw, k, gradient * parameters);
    const double gather = p.shards_optimizer() ? data_collective(p, hw, k, 2 * parameters) : 0;
    const double forward = slow.dense.held * d.forward + slow.experts.held * e.forward,
                 backward = slow.dense.held * d.backward + slow.experts.held * e.backward;
    const auto exposed = [&](double traffic, double work, bool overlaps) {
        const double hidden = overlaps ? std::min(traffic, work) : 0;
        return traffic - hidden + k.data_exposed * hidden;
    };
    const bool whole = p.zero == Zero::weights;
    set(TimeItem::data_traffic, seconds("z", "gradients reduced and weights gathered that nothing hides",
                                        exposed(reduce, backward, p.overlap_gradients) + (p.overlap_gradients ? reduce / 8 : 0) +
                                            exposed(gather, forward, p.overlap_parameters)));
    // FSDP gathers weights in every forward and backward pass and shares out gradients after each; not validated on runs
    set(TimeItem::weight_traffic,
        whole ? m * seconds("y", "weights gathered for a micro-batch that nothing hides",
                            exposed(gather, forward, p.overlap_parameters) + exposed(gather + reduce, backward, p.overlap_gradients))
              : N(0.0));
    // offloaded: gradients go to the host and weights come back, one after the other; the host's own update is not counted
    const double mine = parameters / (p.shards_optimizer() ? D : 1), stays = 1 - p.optimizer_offload;
    N update = seconds("o", "Adam's update and the copy of the weights", (34 * mine * stays + 12 * parameters) / (0.8 * hw.memory));
    if (p.optimizer_offload > 0)
        update = update +
                 seconds("q", "gradients to the host and weights back, over PCIe", p.optimizer_offload * mine * (gradient + 2) / hw.host);
    set(TimeItem::optimizer, update);
    constexpr double kLongest = 0.1;  // seconds: stalls longer than this are not seen
    const double noise = p.gpus > 1 ? kLongest * std::log(1 + k.stall * (number(p.gpus) / number(p.tensor_parallel) - 1) / kLongest) : 0;
    set(TimeItem::stalls, m * seconds("s", "noise of the machine and of other jobs, per micro-batch", noise));
    set(TimeItem::fixed, seconds("f", "data, logging, bookkeeping", k.fixed));
    double sum = 0;
    for (const N& item : result.items) sum += value_of(item);
    const double nodes = number(p.gpus) / number(hw.gpus_per_node);
    const double lag = nodes > 1 ? sum * k.straggler * std::log2(nodes) : 0;  // the slowest node sets the pace
    set(TimeItem::stalls, result.items[static_cast<std::size_t>(TimeItem::stalls)] + seconds("v", "waiting for the slowest node", lag));
    result.seconds = sum + lag;
    result.forward = forward;
    result.backward = backward;
    if (p.time_factor != 1) multiply(result, p.time_factor);
    return result;
}
template StepTime<double> step_time<double>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&, const LayerTimes&,
                                            const StageLayers&);
template StepTime<Traced> step_time<Traced>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&, const LayerTimes&,
                                            const StageLayers&);

const FlopText& text(FlopConvention convention) {
    static constexpr std::array<FlopText, static_cast<std::size_t>(FlopConvention::count)> kConventions = {{
        {"full", "attention counted whole (as in the first paper)",
         "Every token against every other one. Logits count, recomputation does not."},
        {"causal", "attention counted half (causal)",
         "Every token against the earlier ones alone, as a causal mask leaves it. Logits count, recomputation does not."},
    }};
    return kConventions[static_cast<std::size_t>(convention)];
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
