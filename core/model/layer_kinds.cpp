// Based on the configuration classes of Hugging Face transformers (models/*/configuration_*.py; configuration_utils.py:
// ALLOWED_LAYER_TYPES): layer_types decides where it is given; otherwise sliding_window_pattern, or, for Qwen, max_window_layers; for
// layers with linear attention, full_attention_interval (configuration_qwen3_next.py, configuration_qwen3_5.py). Mixers of other kinds:
// mixers.cpp.
#include "model/layer_kinds.h"

#include <algorithm>

#include "model/mixers.h"

namespace fourfold {

namespace {

constexpr std::string_view kWindow[] = {"sliding_window"};
constexpr std::string_view kChunk[] = {"attention_chunk_size"};
constexpr std::string_view kPattern[] = {"sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers",
                                         "no_rope_layer_interval"};
constexpr std::string_view kFullLayers[] = {"max_window_layers"};
constexpr std::string_view kInterval[] = {"full_attention_interval"};
constexpr Range kTokens{0, 1'000'000'000}, kLayerRange{0, 2'000}, kLinearRange{1, 1'024}, kTapsRange{1, 1'024};
constexpr std::int64_t kQwenFullLayers = 28;  // class default of max_window_layers

constexpr LinearKey kLinearKeys[] = {{"linear_num_key_heads", &LinearAttention::key_heads, 16, kLinearRange},
                                     {"linear_num_value_heads", &LinearAttention::value_heads, 32, kLinearRange},
                                     {"linear_key_head_dim", &LinearAttention::key_dim, 128, kLinearRange},
                                     {"linear_value_head_dim", &LinearAttention::value_dim, 128, kLinearRange},
                                     {"linear_conv_kernel_dim", &LinearAttention::taps, 4, kTapsRange}};
constexpr std::int64_t kFullEvery = 4;  // class default of full_attention_interval

void read_linear(ConfigReader& read, const Recognised& recognised, Model& model) {
    LinearAttention& linear = model.linear;
    for (const LinearKey& one : kLinearKeys)
        linear.*one.value = recognised.known ? read.optional(Names(&one.key, 1), one.range, one.usual, class_default(model))
                                             : read.required(Names(&one.key, 1), one.range);
    if (linear.key_heads > 0 && linear.value_heads % linear.key_heads != 0)
        read.problem(kLinearKeys[1].key, "range", linear.value_heads,
                     Text("problem.linear_heads").with("values", linear.value_heads).with("keys", linear.key_heads), {},
                     std::max<std::int64_t>(linear.value_heads / linear.key_heads, 1) * linear.key_heads);
}
void usual_linear_layers(ConfigReader& read, Model& model) {
    const std::int64_t every = std::max<std::int64_t>(read.optional(kInterval, kLayerRange, kFullEvery, class_default(model)), 1);
    for (std::int64_t i = 0; i < model.layers; ++i) model.linear.layers.push_back((i + 1) % every != 0 ? 1 : 0);
}

// From layer_types: 1 = with the window. Those with linear attention are noted in the model.
std::vector<std::uint8_t> read_types(ConfigReader& read, const Json& types, Model& model) {
    std::vector<std::uint8_t> list;
    if (!types.is_array() || static_cast<std::int64_t>(types.size()) < model.layers) {
        read.problem(kTypes[0], "type", shown(types), Text("problem.layer_types").with("key", read.path(kTypes[0])), {}, nullptr);
        return list;
    }
    for (std::int64_t i = 0; i < model.layers; ++i) {
        const Json& one = types[static_cast<std::size_t>(i)];
        const bool window = one == "sliding_attention" || one == "chunked_attention";
        const bool linear = model.linear.any() && (one == "linear_attention" || (model.linear.is_mamba() && one == "mamba") ||
                                                   (model.linear.is_convolution() && one == "conv"));
        if (model.linear.any()) model.linear.layers.push_back(linear ? 1 : 0);
        if (!window && !linear && one != "full_attention" && one != "attention") {
            read.problem(kTypes[0], "unsupported", shown(one),
                         Text("problem.unsupported.layer_type").with("layer", i).with("kind", shown(one)).with("key", kTypes[0]),
                         "suggestion.covered_model", nullptr);
            return {};
        }
        list.push_back(window ? 1 : 0);
    }
    return list;
}

// EXAONE's pattern is a text: "LLLG" is three layers with the window and one without.
std::int64_t read_letters(ConfigReader& read, const Json& pattern, std::string_view name) {
    const std::string text = pattern.get<std::string>();
    const bool ends = !text.empty() && text.find_first_not_of('L') + 1 == text.size() && text.back() == 'G';
    return read.integer(ends ? Json(text.size()) : pattern, name, kLayerRange).value_or(0);
}

// Without layer_types.
std::vector<std::uint8_t> usual_types(ConfigReader& read, const WindowDefaults* usual, const Model& model, ImportReport& report) {
    std::string_view name;
    const Json* pattern = read.find(kPattern, name);
    const std::int64_t every = pattern != nullptr && pattern->is_string()
                                   ? apart(read_letters)(read, *pattern, name)
                                   : read.optional(kPattern, kLayerRange, usual == nullptr ? 0 : usual->full_every,
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

void read_layer_kinds(ConfigReader& read, const Recognised& recognised, const Json& config, Model& model, ImportReport& report) {
    for (const std::string_view key : counted_as_full(config)) {
        read.used(key);
        const std::string_view why = key == "sparse_attention_config" ? "sparse_config" : key;
        report.assumed.push_back({std::string(key), shown(config[std::string(key)]), Text("import.counted_as_full", why)});
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
    const bool linear = recognised.family->has(linear_attention);
    if (linear) read_linear(read, recognised, model);
    if (recognised.family->has(kOwnMixers)) apart(read_mixer)(read, *recognised.family, config, model);
    std::string_view name;
    if (const Json* types = recognised.family->has(single_parts | side_by_side) ? nullptr : read.find(kTypes, name))
        window.layers = read_types(read, *types, model);
    else if (window.tokens > 0)
        window.layers = usual_types(read, usual, model, report);
    else if (linear)
        usual_linear_layers(read, model);
    model.linear.count = std::count(model.linear.layers.begin(), model.linear.layers.end(), 1);
    if (model.linear.count == 0) model.linear = {};
    if (has_any(window.layers) && window.tokens == 0 && allowed) read.missing(kWindow[0]);
    if (!has_any(window.layers) || window.tokens == 0) window = {};
}

void write_layer_kinds(const Model& model, const Family* family, Object& config) {
    const AttentionWindow& window = model.window;
    const WindowDefaults* usual = family == nullptr ? nullptr : family->window;
    if (family != nullptr && (family->has(state_space | convolution) || model.linear.is_kimi())) return apart(write_mixer)(model, config);
    for (const LinearKey& one : kLinearKeys)
        if (model.linear.any()) config.add(one.key.data(), model.linear.*one.value);
    if (window.tokens > 0) {
        config.add(window.chunks ? kChunk[0].data() : kWindow[0].data(), window.tokens);
        if (usual != nullptr && usual->needs_flag) config.add("use_sliding_window", true);
    } else if (usual != nullptr && !usual->needs_flag)
        config.add(kWindow[0].data(), Json());
    const bool linear_family = family != nullptr && family->has(linear_attention);
    if (window.tokens == 0) {
        const std::int64_t every = full_attention_every(model.linear);
        if (every > 0) config.add(kInterval[0].data(), every);
        if (every > 0 || !linear_family) return;
    }
    Json types = Json::array();
    for (std::size_t i = 0; i < static_cast<std::size_t>(model.layers); ++i) {
        const bool linear = model.linear.any() && model.linear.layers[i] != 0, windowed = window.tokens > 0 && window.layers[i] != 0;
        types.push_back(linear      ? "linear_attention"
                        : !windowed ? "full_attention"
                                    : (window.chunks ? "chunked_attention" : "sliding_attention"));
    }
    config.add(kTypes[0].data(), std::move(types));
}

std::int64_t full_attention_every(const LinearAttention& linear) {
    const auto& layers = linear.layers;
    const auto every = std::find(layers.begin(), layers.end(), 0) - layers.begin() + 1;
    for (std::size_t i = 0; i < layers.size(); ++i)
        if ((layers[i] == 0) != (static_cast<std::int64_t>(i + 1) % every == 0)) return 0;
    return layers.empty() ? 0 : every;
}

double windowed_share(const Model& model) {
    const auto& layers = model.window.layers;
    return layers.empty() ? 0 : static_cast<double>(std::count(layers.begin(), layers.end(), 1)) / static_cast<double>(layers.size());
}

}  // namespace fourfold
