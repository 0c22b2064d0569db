// Based on the configuration classes of Hugging Face transformers (models/*/configuration_*.py; configuration_utils.py:
// ALLOWED_LAYER_TYPES): layer_types decides where it is given; otherwise sliding_window_pattern, or, for Qwen, max_window_layers.
#include "model/model_window.h"

#include <algorithm>

namespace fourfold {

namespace {

constexpr std::string_view kWindow[] = {"sliding_window"};
constexpr std::string_view kChunk[] = {"attention_chunk_size"};
constexpr std::string_view kTypes[] = {"layer_types"};
constexpr std::string_view kPattern[] = {"sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers",
                                         "no_rope_layer_interval"};
constexpr std::string_view kFullLayers[] = {"max_window_layers"};
constexpr Range kTokens{0, 1'000'000'000}, kLayerRange{0, 2'000};
constexpr std::int64_t kQwenFullLayers = 28;  // class default of max_window_layers

// From layer_types: 1 = with the window.
std::vector<std::uint8_t> read_types(ConfigReader& read, const Json& types, const Model& model) {
    std::vector<std::uint8_t> list;
    if (!types.is_array() || static_cast<std::int64_t>(types.size()) < model.layers) {
        read.problem(kTypes[0], "type", shown(types), Text("problem.layer_types").with("key", read.path(kTypes[0])), {}, nullptr);
        return list;
    }
    for (std::int64_t i = 0; i < model.layers; ++i) {
        const Json& one = types[static_cast<std::size_t>(i)];
        const bool window = one == "sliding_attention" || one == "chunked_attention";
        if (!window && one != "full_attention" && one != "attention") {
            read.problem(kTypes[0], "unsupported", shown(one),
                         Text("problem.unsupported.layer_type").with("layer", i).with("kind", shown(one)).with("key", kTypes[0]),
                         "suggestion.covered_model", nullptr);
            return {};
        }
        list.push_back(window ? 1 : 0);
    }
    return list;
}

// Without layer_types.
std::vector<std::uint8_t> usual_types(ConfigReader& read, const WindowDefaults* usual, const Model& model, ImportReport& report) {
    const std::int64_t every = read.optional(kPattern, kLayerRange, usual == nullptr ? 0 : usual->full_every,
                                             usual != nullptr && usual->full_every > 0 ? class_default(model) : Text());
    const bool qwen = usual != nullptr && usual->needs_flag;
    const std::int64_t full = read.optional(kFullLayers, kLayerRange, qwen ? kQwenFullLayers : 0, qwen ? class_default(model) : Text());
    if (usual == nullptr && every == 0 && full == 0)
        report.assumed.push_back({std::string(kTypes[0]), "sliding_attention", "import.window_everywhere"});
    std::vector<std::uint8_t> list;
    for (std::int64_t i = 0; i < model.layers; ++i) list.push_back(i >= full && (every == 0 || (i + 1) % every != 0) ? 1 : 0);
    return list;
}

bool has_any(const std::vector<std::uint8_t>& list) { return std::find(list.begin(), list.end(), 1) != list.end(); }

}  // namespace

void read_window(ConfigReader& read, const Recognised& recognised, const Json& config, Model& model, ImportReport& report) {
    for (const std::string_view key : counted_as_full(config)) {
        read.used(key);
        report.assumed.push_back({std::string(key), shown(config[std::string(key)]), Text("import.counted_as_full", key)});
    }
    const WindowDefaults* usual = recognised.known ? recognised.family->window : nullptr;
    const bool allowed = read.flag("use_sliding_window", usual == nullptr || !usual->needs_flag);
    AttentionWindow& window = model.window;
    window.tokens = read.optional_or_none(kChunk, kTokens, 0);
    window.chunks = window.tokens > 0;
    if (!window.chunks && allowed) {
        const std::int64_t tokens = usual == nullptr ? 0 : usual->tokens;
        window.tokens = read.optional_or_none(kWindow, kTokens, tokens, tokens > 0 ? class_default(model) : Text());
    }
    std::string_view name;
    if (const Json* types = read.find(kTypes, name))
        window.layers = read_types(read, *types, model);
    else if (window.tokens > 0)
        window.layers = usual_types(read, usual, model, report);
    if (has_any(window.layers) && window.tokens == 0 && allowed) read.missing(kWindow[0]);
    if (!has_any(window.layers) || window.tokens == 0) window = {};
}

void write_window(const Model& model, const Family* family, Object& config) {
    const AttentionWindow& window = model.window;
    const WindowDefaults* usual = family == nullptr ? nullptr : family->window;
    if (window.tokens == 0) {
        if (usual != nullptr && !usual->needs_flag) config.add(kWindow[0].data(), Json());
        return;
    }
    config.add(window.chunks ? kChunk[0].data() : kWindow[0].data(), window.tokens);
    if (usual != nullptr && usual->needs_flag) config.add("use_sliding_window", true);
    Json types = Json::array();
    for (const std::uint8_t one : window.layers)
        types.push_back(one == 0 ? "full_attention" : window.chunks ? "chunked_attention" : "sliding_attention");
    config.add(kTypes[0].data(), std::move(types));
}

double windowed_share(const Model& model) {
    const auto& layers = model.window.layers;
    return layers.empty() ? 0 : static_cast<double>(std::count(layers.begin(), layers.end(), 1)) / static_cast<double>(layers.size());
}

}  // namespace fourfold
