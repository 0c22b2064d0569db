// A sequence cut into slices of tokens that pass through the pipeline one after the other: behind a causal mask a slice needs the earlier
// ones alone, and in the backward pass the later ones. Based on
//   Z. Li et al.: TeraPipe, ICML 2021, arXiv 2102.07988: M slices of t_1 ... t_M seconds take sum t_i + (p-1) max t_i on p stages
//   A. Sun et al.: Seq1F1B, arXiv 2406.03488: the same in the order of 1F1B; slices of as many operations each
// The sum hardly depends on where a sequence is cut into M slices, so that TeraPipe's dynamic programme looks for the cut with the smallest
// longest slice: slices that work as long as each other.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace fourfold {

// Tokens that a slice has at least (TeraPipe: kernels lose below some hundred), and of which it is a multiple (rows of a matrix in fp8;
// assumed to do for tensor parallel groups, too).
inline constexpr std::int64_t kShortestSlice = 128, kSliceGrid = 16;

// Work of the first tokens of a sequence, over all of it: part `attention` of it grows as the pairs of tokens do (operations.h), the rest
// as the tokens do.
struct SliceWork {
    const Model& model;
    double tokens = 0, attention = 0;
    double until(double first) const;
    double tokens_until(double work) const;  // the other way round
};

// Where each slice ends, in tokens: on the grid, next to where all would work as long as each other. There is room for `count` slices.
std::vector<std::int64_t> cut_evenly(const SliceWork& work, std::int64_t count);

// The slices of a plan, which has more than one: cut so that all do as many operations.
class TokenSlices {
 public:
    TokenSlices() = default;  // none
    TokenSlices(const Model& model, const Plan& plan);

    bool empty() const { return ends_.empty(); }
    std::span<const std::int64_t> ends() const { return ends_; }
    std::int64_t longest() const { return longest_; }  // tokens
    // Seconds of each slice over their average, where such a part of a whole sequence's time is attention's.
    std::vector<double> shares(const Model& model, double attention) const;
    // Tokens alive after so many forward and backward passes of slices, in the longest slice's. Those of a micro-batch go back from its
    // last one on.
    double held(std::int64_t forwards, std::int64_t backwards) const;
    // The most that a stage holds at once in 1F1B's order, of so many micro-batches; `ahead` forward passes come before the first one that
    // is followed by a backward pass.
    double most_held(std::int64_t ahead, std::int64_t micro_batches) const;

 private:
    std::int64_t tokens() const { return ends_.back(); }
    bool packed_ = false;
    std::vector<std::int64_t> ends_;
    std::int64_t longest_ = 0;
};

}  // namespace fourfold
