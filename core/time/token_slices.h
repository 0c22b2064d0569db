// How long slices of a sequence take beside each other (plan/token_slices.h).
//   Z. Li et al.: TeraPipe, arXiv 2102.07988: t(l, c) of a slice of l tokens behind c others
#pragma once
#include <algorithm>

#include "plan/stage.h"
#include "time/layer_time.h"

namespace fourfold {

// The part of the time of a stage's layers that attention takes, which grows with the tokens before a slice.
template <class N>
double attention_part(const LayerTimesOf<N>& layers, const Stage& s) {
    const auto attention = [](const LayerTimeOf<N>& t) { return value_of(t.attention_forward) + value_of(t.attention_backward); };
    const auto all = [](const LayerTimeOf<N>& t) { return value_of(t.forward) + value_of(t.backward); };
    // where the CPU runs ahead and is the slower of the two, a stage takes as long as its launches
    const auto launches = [](const LayerTimeOf<N>& t) { return value_of(t.launch_forward) + value_of(t.launch_backward); };
    const double seconds = std::max(s.dense.held * all(layers.dense) + s.experts.held * all(layers.expert),
                                    s.dense.held * launches(layers.dense) + s.experts.held * launches(layers.expert));
    return seconds > 0 ? (s.dense.held * attention(layers.dense) + s.experts.held * attention(layers.expert)) / seconds : 0;
}

// The longest slice's time over their average.
inline double longest_slice_share(const Model& model, const Plan& plan, double attention) {
    const auto shares = TokenSlices(model, plan).shares(model, attention);
    return *std::max_element(shares.begin(), shares.end());
}

}  // namespace fourfold
