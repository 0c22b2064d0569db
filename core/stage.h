// What one pipeline stage holds: which layers, and how many of them are alive for how many micro-batches when the stage is fullest.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model.h"
#include "plan.h"

namespace fourfold {

// Layers per stage and chunk where they follow no rule of layers_per_chunk (plan.h); empty = by that rule.
using StageLayers = std::vector<std::vector<std::int32_t>>;
inline const StageLayers kByRule;

// Counts of one kind of layer.
struct LayerCount {
    double held = 0;        // in the stage
    double recomputed = 0;  // of these, those that keep only what a checkpoint keeps
    double alive = 0;       // times micro-batches, of those that keep everything
    double waiting = 0;     // times micro-batches whose weight gradient is still to come (schedules that split the backward pass)
};

struct Stage {
    bool has_embedding = false, has_head = false;
    LayerCount dense, experts;
    double checkpoints = 0;       // kept inputs of recomputed units, times micro-batches
    double unit = 0;              // layers of one recomputed unit, alive at once in the backward pass; 0 = none at the worst moment
    double first_chunk = 0;       // micro-batches alive in the chunk of the embedding
    bool last_is_expert = false;  // the layer whose backward pass comes first
    double layers() const { return dense.held + experts.held; }
};

// The stages of a plan, counted once per plan; `plan` is legal. Counting takes O(layers + chunks) per stage.
class Stages {
 public:
    Stages(const Model& model, const Plan& plan, const StageLayers& layers = kByRule);  // keeps references
    // Whether its schedule splits the backward pass: then it takes an estimator to say which moment is the fullest.
    bool splits_backward() const;
    // At its fullest moment; for schedules that do not split the backward pass.
    Stage fullest(std::int32_t stage) const;
    // The moments that may be the fullest one.
    std::vector<Stage> moments(std::int32_t stage, KnownMoments* known = nullptr) const;
    // With so many micro-batches per chunk that are alive until their backward pass, and after it until their weight gradient.
    Stage at(std::int32_t stage, std::span<const std::int32_t> alive, std::span<const std::int32_t> waiting) const;
    // What it holds, with one micro-batch in every chunk.
    Stage at_rest(std::int32_t stage) const;
    // Whether all stages but those at the ends hold the same.
    bool alike() const;
    std::int64_t layers_of(std::int32_t stage, std::int32_t chunk) const;
    // Where in the model a piece lies: 0 is the embedding's, pieces() - 1 the head's.
    std::int32_t position(std::int32_t stage, std::int32_t chunk) const;
    std::int32_t pieces() const { return pieces_; }

 private:
    void count_chunk(Stage& stage, std::int32_t position, std::int64_t here, double alive, double waiting) const;
    bool is_expert(std::int64_t layer) const {
        return !model_.expert_layers.empty() && model_.expert_layers[static_cast<std::size_t>(layer)] != 0;
    }
    const Model& model_;
    const Plan& plan_;
    const StageLayers& given_;
    std::int32_t stages_, chunks_, micro_batches_;  // chunks: pieces per stage, of all directions
    std::int32_t pieces_;                           // of the model
    Route route_;
    std::vector<std::int64_t> first_layer_;  // by position; only where layers differ (expert_layers)
    LayersPerChunk even_{};
};

}  // namespace fourfold
