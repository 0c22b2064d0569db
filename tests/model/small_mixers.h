// Linear layers of the cases that are worked by hand: four of six, two thirds of every stage's.
#pragma once
#include <utility>

#include "model/model.h"

namespace fourfold::tests {

// A state space has two groups of 8 and 4 heads of 5: its first matrix writes 2 * 20 + 2 * 16 + 4 = 76, its convolution reads
// 20 + 2 * 16 = 52. Kimi's delta attention has 4 heads with keys of 8 and values of 5: queries, keys and values of 2 * 32 + 20 = 84; with
// beta and two insides of 5 the matrix writes 98.
inline LinearAttention small_mixer(Mixer kind) {
    const bool mamba = kind == Mixer::mamba;
    // of 6 heads with 8 values each, 48 together: the first matrix writes 144
    if (kind == Mixer::convolution)
        return {.key_heads = 6,
                .value_heads = 6,
                .key_dim = 0,
                .value_dim = 8,
                .taps = 3,
                .layers = {1, 1, 0, 1, 1, 0},
                .count = 4,
                .kind = kind};
    LinearAttention linear{.key_heads = mamba ? 2 : 4,
                           .value_heads = 4,
                           .key_dim = 8,
                           .value_dim = 5,
                           .taps = 3,
                           .layers = {1, 1, 0, 1, 1, 0},
                           .count = 4,
                           .kind = kind,
                           .bias = mamba};
    if (mamba) linear.chunk = 10;
    return linear;
}

// With a state space beside attention in every layer, and no norm behind it.
template <class Case>
Case beside(Case c) {
    c.model.linear = small_mixer(Mixer::mamba);
    c.model.linear.layers.assign(6, 1), c.model.linear.count = 6;
    c.model.linear.beside = true, c.model.linear.norm = false;
    return c;
}

// With such a state space where the letter is M, and no part beside the one that the letter says.
template <class Case>
Case in_parts(Case c, const char* parts) {
    c.model.linear = small_mixer(Mixer::mamba);
    set_parts(c.model, parts);
    return c;
}

}  // namespace fourfold::tests
