#include "plan/token_slices.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "model/operations.h"

namespace fourfold {

double SliceWork::until(double first) const {
    return (1 - attention) * first / tokens + attention * attended_together(model, first) / attended_together(model, tokens);
}

// a x^2 / 2 + b x + c = work: with a window, other a, b and c behind its first tokens.
double SliceWork::tokens_until(double work) const {
    const double each = attention / attended_together(model, tokens), w = number(model.window.tokens), part = windowed_share(model);
    double a = each, b = (1 - attention) / tokens, c = 0;
    if (part > 0 && w < tokens && work > until(w)) {
        const double seen = model.window.chunks ? w / 2 : w;  // by each further token
        a *= 1 - part, b += each * part * seen, c = each * part * (w * w / 2 - seen * w);
    }
    const double left = work - c;
    return 2 * left / (b + std::sqrt(b * b + 2 * a * left));
}

std::vector<std::int64_t> cut_evenly(const SliceWork& work, std::int64_t count) {
    std::vector<std::int64_t> ends;
    const auto tokens = static_cast<std::int64_t>(work.tokens);
    for (std::int64_t i = 1, before = 0; i < count; ++i) {
        const double even = work.tokens_until(number(i) / number(count));
        const std::int64_t end = std::llround(even / number(kSliceGrid)), last = (tokens - (count - i) * kShortestSlice) / kSliceGrid;
        before = std::max(std::min(end, last) * kSliceGrid, before + kShortestSlice);
        ends.push_back(before);
    }
    ends.push_back(tokens);
    return ends;
}

// Operations of attention over those of its matrices, forward and backward: FlashAttention's backward pass multiplies five times where its
// forward pass does twice, a matrix twice for once. (What is computed again is left out: a cut that keeps its place.)
// Of documents shorter than the sequence every token's are as long on average, wherever it stands: 0, work grows as the tokens do.
static double attention_share(const Model& m, const Plan& p) {
    if (p.document() < p.sequence_length) return 0;
    const double h = number(m.hidden), s = number(p.sequence_length), matrices = m.gated ? 3 : 2, experts = layers_with_experts(m);
    const double feed_forward = matrices * (number(m.dense_layers()) * h * number(m.ffn) + experts * expert_weights(m));
    const double of_weights = p.freezes() ? 2 : 3, of_scores = 3.5;
    const double weights = of_weights * (number(m.plain_layers()) * attention_weights(m) + feed_forward);
    const double scores = of_scores * number(m.plain_layers()) * attended_together(m, s) / s * score_width(m);
    return scores / (weights + scores);
}

TokenSlices::TokenSlices(const Model& model, const Plan& plan)
    : packed_(plan.document() < plan.sequence_length),
      ends_(cut_evenly({model, number(plan.sequence_length), attention_share(model, plan)}, plan.token_slices)) {
    for (std::size_t i = 0; i < ends_.size(); ++i) longest_ = std::max(longest_, ends_[i] - (i == 0 ? 0 : ends_[i - 1]));
}

std::vector<double> TokenSlices::shares(const Model& model, double attention) const {
    const SliceWork work{model, number(tokens()), packed_ ? 0 : attention};
    std::vector<double> shares;
    double before = 0;
    for (const std::int64_t end : ends_) {
        const double until = work.until(number(end));
        shares.push_back((until - before) * number(static_cast<std::int64_t>(ends_.size())));
        before = until;
    }
    return shares;
}

double TokenSlices::held(std::int64_t forwards, std::int64_t backwards) const {
    const auto count = static_cast<std::int64_t>(ends_.size());
    const auto first = [&](std::int64_t slices) { return slices == 0 ? 0 : ends_[static_cast<std::size_t>(slices - 1)]; };
    const std::int64_t came = forwards / count * tokens() + first(forwards % count);
    const std::int64_t left =
        (backwards / count + (backwards % count > 0 ? 1 : 0)) * tokens() - (backwards % count > 0 ? first(count - backwards % count) : 0);
    return number(came - left) / number(longest_);
}

double TokenSlices::most_held(std::int64_t ahead, std::int64_t micro_batches) const {
    const auto count = static_cast<std::int64_t>(ends_.size());
    const std::int64_t all = micro_batches * count;
    double most = held(std::min(ahead, all), 0);
    // a round later as many tokens are alive again
    for (std::int64_t i = 0; i < count && ahead + i < all; ++i) most = std::max(most, held(ahead + i + 1, i));
    return most;
}

}  // namespace fourfold
