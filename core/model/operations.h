// Multiplications that a token takes part in, in the layers that a model has.
#pragma once
#include "model/model.h"

namespace fourfold {

// Of a layer's attention with its weights; as the next, the average over all plain layers, some of which may have linear attention or none.
double attention_weights(const Model& model);
// Channels of a layer's queries, keys and values together that a pair of tokens is multiplied over.
double score_width(const Model& model);
double layers_with_experts(const Model& model);
// Of a token in a feed-forward part of experts, over the matrices of each: what it multiplies with, the router left out.
double expert_weights(const Model& model);
// Tokens that the first `tokens` of a sequence attend to, all together and the average over the layers, behind a causal mask: half of a
// square; with a window of w tokens, w of every token but the first w, which see half as many.
double attended_together(const Model& model, double tokens);

}  // namespace fourfold
