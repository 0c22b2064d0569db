#include "time/data_traffic.h"

namespace fourfold {

std::array<DataMessages, 3> data_messages(const Plan& p) {
    const bool shards = p.shards_optimizer(), hides = !shards || row_of(p.framework).hides_shards;
    const bool forward = p.overlap_parameters && hides, backward = p.overlap_gradients && hides, waits = adds_up_whole_gradients(p);
    const Sent each = Sent::every_micro_batch;
    if (p.zero == Zero::weights && waits)
        return {{{.gatherings = 1, .in_forward = true, .overlaps = forward, .when = each},
                 {.gatherings = 1, .overlaps = backward, .when = Sent::but_with_the_last},
                 {.reductions = 1, .gatherings = 1, .overlaps = backward}}};
    if (p.zero == Zero::weights)
        return {{{.gatherings = 1, .in_forward = true, .overlaps = forward, .when = each},
                 {.reductions = 1, .gatherings = 1, .overlaps = backward, .when = each}}};
    const bool often = p.shards_gradients() && !waits;
    return {{{.reductions = shards ? 1 : 2, .overlaps = backward, .has_last_bucket = backward, .when = often ? each : Sent::once},
             {.gatherings = shards ? 1 : 0, .in_forward = true, .overlaps = forward, .when = fully_shards(p) ? each : Sent::once}}};
}

}  // namespace fourfold
