// How long a training step takes, term by term.
#pragma once
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/formula.h"
#include "memory/memory.h"
#include "model/model.h"
#include "plan/plan.h"
#include "plan/stage.h"
#include "time/data_traffic.h"
#include "time/layer_time.h"
#include "time/platform.h"

namespace fourfold {

// What a step's time goes into. All terms together are the step time.
enum class TimeItem {
    multiplications,  // of the layers on the stage that sets the pace, all micro-batches
    attention,
    element_wise,
    recomputation,
    accumulation,  // adding up gradients
    head,          // embedding, logits, loss
    tensor_traffic,
    context_traffic,
    expert_traffic,
    weight_traffic,      // what ZeRO-2 and 3 send for every micro-batch
    activation_offload,  // transfers of activations that no pass hides
    host,                // waiting for the CPU to launch work
    bubble,              // the other stages' share of the pipeline's filling and draining
    pipeline_traffic,
    data_traffic,  // gradients and weights between copies of the model
    optimizer,
    host_optimizer,  // the part of it that is offloaded
    stalls,          // noise of the machine and of other jobs
    fixed,
    count
};

struct TimeText {
    std::string_view id, kind;  // kind: "compute", "tensor", "context", "pipeline", "data", "bubble", "other"
    Paper paper;
    std::string_view place;  // where in the paper
};
const TimeText& text(TimeItem item);

template <class N>
struct StepTime {
    std::array<N, static_cast<std::size_t>(TimeItem::count)> items{};
    double seconds = 0;
    double forward = 0, backward = 0;     // of one micro-batch on the stage that sets the pace
    std::vector<double> stage_seconds{};  // forward and backward of one micro-batch, per stage (Traced)
};

// Written once over the number type (formula.h); `layers` from layer_times<N>. A plan that takes more than `most` seconds may come back
// with less, but still more than `most`: what takes long to find out is left out then.
template <class N>
StepTime<N> step_time(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing,
                      const LayerTimesOf<N>& layers, double most = INFINITY);
extern template StepTime<double> step_time<double>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&,
                                                   const LayerTimes&, double);
extern template StepTime<Traced> step_time<Traced>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&,
                                                   const LayerTimesOf<Traced>&, double);

// Which stages decide: found in doubles, for both number types.
struct Pace {
    double sum = 0, most = 0;  // seconds of one micro-batch: all stages, the one that sets the pace
    double further = 0;        // of all further micro-batches in 1F1B
    Stage slowest{};
    double parameters = 0;      // of the heaviest stage
    std::int32_t heaviest = 0;  // which that is
    std::vector<double> stage_seconds{};
};
Pace pace_of(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const LayerTimes& layers,
             const Stages& stages, bool with_stage_seconds);

// Schedules that have no closed form are played.
bool is_played(const Plan& plan);
// All forwards, then all backward passes: each way takes what its longest passes take.
bool goes_one_way_first(const Plan& plan);
struct PlayedStep {
    double together = 0;   // seconds of all stages, without transfers
    double transfers = 0;  // what transfers add; 0 where every one does
    double hidden = 0;     // traffic of the stage that sets the pace, all micro-batches, that overlapped pairs hide
    double uneven = 0;     // what uneven_turns() adds to a closed form
};
PlayedStep played_step(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const LayerTimes& layers,
                       const Stages& stages, const Pace& pace);
// Where chunks take turns: seconds that the stages wait for each other since their chunks do not work equally long. `alike`: what the
// closed form says, with sends, which holds for alike ones; then this is 0, and it never takes less.
double uneven_turns(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const LayerTimes& layers,
                    const Stages& stages, double alike);

// Seconds to send a micro-batch's tensor from one stage to the next (Pipette), and between two GPUs of one node.
double transfer_seconds(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing);
double transfer_seconds_inside(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing);
// ---- the terms that a placement on measured links takes apart (placement/model.h); step_time adds up the same ones
DataCollective data_collective_parts(const Plan& plan, const Machine& machine, const Timing& timing, double bytes);
// Of a stage on one GPU.
HeldWeights<double> stage_weights(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing,
                                  const LayerTimes& layers, const Stage& stage);
// How a pipeline's seconds follow from its stages' (of a micro-batch) and from its transfers (there and back): so many times their sum and
// so many times the longest. Played schedules: besides what their work takes with alike stages.
struct PipelineWeights {
    double sum_work = 0, most_work = 0, sum_transfers = 0, most_transfers = 0;
    bool closed = false;  // the last stage sends to the first, too
};
PipelineWeights pipeline_weights(const Plan& plan);

// Step times of many plans that differ from one (`like`) in degrees, micro-batch, GPUs, recomputation, ZeRO and schedule alone; a layer's
// times are kept from one plan to the next.
class StepTimer {
 public:
    StepTimer(const Model& model, const Gpu& gpu, const Cluster* cluster, const Plan& like);
    double seconds(const Plan& plan, double most = INFINITY);  // step_time()
    // At least, with passes so long that they hide all traffic between copies of the weights.
    double seconds_but_data(const Plan& plan);
    const LayerTimes& layers(const Plan& plan);  // until the next question
    const Platform& platform() const { return on_; }

 private:
    // What a layer's times depend on.
    struct Key {
        std::int64_t tensor_parallel = 0, context_parallel = 0, micro_batch = 0, expert_parallel = 0, expert_tensor_parallel = 0,
                     token_slices = 1;
        Recompute recompute = Recompute::none;
        std::uint32_t recompute_modules = 0;
        bool sequence_parallel = false, offloads = false, hides_exchange = false;
        bool casts_weights = false, fully_shards = false, by_weight = false;  // what ZeRO changes in a layer
        bool operator==(const Key&) const = default;
    };
    struct Known {
        Key key;
        LayerTimes times;
    };
    const Model& model_;
    const Platform on_;
    std::vector<Known> known_;     // one place per remainder of the key; the newest stays
    const Known* last_ = nullptr;  // that was worked out
};

// `host_share`: how much of the step is the update of an optimizer on the host, 0 to 1.
Band band_of(const Model& model, const Plan& plan, const Machine& machine, double host_share);

// What is counted as the model's work: a rate in FLOP/s, and with it MFU, says nothing without its convention.
enum class FlopConvention {
    full,    // every token attends to every other (Fujii et al., Section 3; Narayanan et al. 2021)
    causal,  // every token attends to the earlier ones alone: half of the attention scores
    count
};
struct FlopText {
    std::string_view id;
};
const FlopText& text(FlopConvention convention);

// FLOP of a step, forward and backward: logits counted, recomputation not. The conventions differ in the attention scores alone.
double model_flop(const Model& model, const Plan& plan, FlopConvention convention);
// FLOP of a step that are computed a second time, with attention counted whole.
double recomputed_flop(const Model& model, const Plan& plan);

}  // namespace fourfold
