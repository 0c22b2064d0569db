// Based on
//   megatron/training/training.py of Megatron-LM, num_floating_point_operations (001b00c2, 2026): attention counted half, logits counted,
//     recomputation not; D. Narayanan et al., 2021 (arXiv 2104.04473): attention counted whole
//   J. Kaplan et al., 2020 (arXiv 2001.08361): 6 FLOP a token and parameter
//   V. Korthikanti et al., 2022 (arXiv 2205.05198), section 6.3: hardware FLOP also count what is computed again
#include "calibration/measures.h"

#include "time/step_time.h"

namespace fourfold {

static constexpr Choice kConventionList[] = {{"causal"}, {"full"}, {"parameters"}, {"hardware"}};
const std::span<const Choice> kFlopConventions = kConventionList;

double counted_flop(CountedFlop convention, const Model& model, const Plan& plan) {
    constexpr double kPerParameter = 6;  // multiply and add, forward and both gradients
    switch (convention) {
        case CountedFlop::parameters:
            return kPerParameter * static_cast<double>(active_parameters(model)) *
                   static_cast<double>(plan.global_batch * plan.sequence_length);
        case CountedFlop::hardware:
            return model_flop(model, plan, FlopConvention::full) + recomputed_flop(model, plan);
        case CountedFlop::full:
            return model_flop(model, plan, FlopConvention::full);
        default:
            return model_flop(model, plan, FlopConvention::causal);
    }
}

double step_seconds_of(const Measure& measure, double value, CountedFlop convention, const Job& job, const Plan& plan) {
    const double gpus = static_cast<double>(plan.gpus), tokens = static_cast<double>(plan.global_batch * plan.sequence_length);
    const double given = value * measure.unit;
    switch (measure.what) {
        case MeasuredIn::seconds:
            return given;
        case MeasuredIn::tokens:
            return tokens / given;
        case MeasuredIn::tokens_per_gpu:
            return tokens / (given * gpus);
        case MeasuredIn::flop_per_gpu:
            return counted_flop(convention, job.model, plan) / (given * gpus);
        case MeasuredIn::mfu: {
            constexpr double kPercent = 100;
            const double share = given > 1 ? given / kPercent : given;
            return counted_flop(convention, job.model, plan) / (share * machine_of(*job.gpu, job.cluster, plan).peak * gpus);
        }
        default:
            return 0;
    }
}

}  // namespace fourfold
