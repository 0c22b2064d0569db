#include "time/data_traffic.h"

namespace fourfold {

// Transformers recomputes a layer around its unit of FSDP's first version: what that gathers is given up before the gradients come, and
// gathered anew (huggingface/transformers, issue 30404; pytorch/pytorch, issue 105635).
static bool gathers_again(const Plan& p) {
    const FrameworkRow& row = row_of(p.framework);
    return row.checkpoints_in_python && row.keeps_root && p.recompute == Recompute::full && p.zero == Zero::weights && !fully_shards(p) &&
           !habit_of(p, &Plan::sync_each_micro_batch, &Framework::sync_each_micro_batch);
}

std::array<DataMessages, 3> data_messages(const Plan& p) {
    const bool shards = p.shards_optimizer(), hides = !shards || row_of(p.framework).hides_shards;
    const bool forward = p.overlap_parameters && hides, backward = p.overlap_gradients && hides, waits = adds_up_whole_gradients(p);
    const Sent each = Sent::every_micro_batch;
    const int backward_gatherings = gathers_again(p) ? 2 : 1;
    if (p.zero == Zero::weights && waits)
        return {{{.gatherings = 1, .in_forward = true, .overlaps = forward, .when = each},
                 {.gatherings = backward_gatherings, .overlaps = backward, .when = Sent::but_with_the_last},
                 {.reductions = 1, .gatherings = backward_gatherings, .overlaps = backward}}};
    if (p.zero == Zero::weights)
        return {{{.gatherings = 1, .in_forward = true, .overlaps = forward, .when = each},
                 {.reductions = 1, .gatherings = backward_gatherings, .overlaps = backward, .when = each}}};
    const bool often = p.shards_gradients() && !waits;
    return {{{.reductions = shards ? 1 : 2, .overlaps = backward, .has_last_bucket = backward, .when = often ? each : Sent::once},
             {.gatherings = shards ? 1 : 0, .in_forward = true, .overlaps = forward, .when = fully_shards(p) ? each : Sent::once}}};
}

}  // namespace fourfold
