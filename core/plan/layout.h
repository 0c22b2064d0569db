// Which layers stand on which chunk of the pipeline, from the embedding to the loss. A chunk is a piece of the model; a stage holds one, or
// several of them (virtual stages). Chunks are numbered by their position in the model: 0 holds the embedding, the last one the loss. The
// layers that predict further tokens (MTP) stand behind all others.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "model/model.h"

namespace fourfold {

enum class Split : std::uint8_t {
    equal,    // every chunk holds as many layers; the older fields move layers from the first and to the last stage (plan.h)
    front,    // the layers over the number of chunks, rounded; the first chunks hold the one layer more (PyTorch, torchtitan)
    weights,  // cut where the weights divide evenly, the head's counted with them: the last chunk holds fewer layers (nanotron)
};
extern const std::span<const Choice> kSplitChoices;

// Layers listed chunk by chunk.
struct Layout {
    explicit Layout(const std::vector<std::int32_t>& layers, int multi_token_layers = 0);
    std::size_t chunks() const { return before.size() - 1; }
    std::int64_t layers() const { return before.back(); }
    std::int64_t at(std::size_t chunk) const { return before[chunk + 1] - before[chunk]; }
    std::vector<std::int32_t> before;  // layers before each chunk; one entry more than chunks
    std::int32_t multi_token = 0;      // layers that predict further tokens
    std::int32_t multi_token_at = 0;   // so many chunks before the last one; they are counted on the last one (notes.cpp)
    bool operator==(const Layout&) const = default;
};
using LayoutPointer = std::shared_ptr<const Layout>;

// Megatron-LM's notation (--pipeline-model-parallel-layout, megatron/core/transformer/pipeline_parallel_layer_layout.py): chunks separated
// by "|", E the embedding, t a layer, m a layer that predicts further tokens, L the loss; "t*7" and "(tt|)*5" repeat. Commas and blanks
// are passed over. On failure a problem of the field "layout".
std::optional<Layout> read_layout(std::string_view text, Problems& problems);
// The same notation: "Et*7|(t*8|)*14t*7L".
std::string layout_text(const Layout& layout);

// What is wrong with a listed layout for this model: layers lost or repeated. The problem carries the nearest layout with as many chunks.
std::optional<Problem> layout_problem(const Layout& layout, const Model& model);

// The layers over so many chunks, rounded, the first ones holding one more.
Layout front_layout(const Model& model, std::int64_t chunks);
// The layers cut by weights: each chunk takes layers until its part of the weights is reached.
Layout weights_layout(const Model& model, std::int64_t chunks);

}  // namespace fourfold
