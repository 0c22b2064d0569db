// Based on
//   Hugging Face transformers, models/bamba/configuration_bamba.py and models/granitemoehybrid/configuration_granitemoehybrid.py: keys and
//     class defaults of Mamba-2 (their "auto" for the width of a head is expand * hidden size / heads)
//   moonshotai/Kimi-Linear-48B-A3B-Instruct, configuration_kimi.py and modeling_kimi.py: linear_attn_config, whose layers count from 1
#include "model/mixers.h"

#include <algorithm>

#include "model/layer_kinds.h"

namespace fourfold {

namespace {

constexpr Range kSizes{1, 1'024}, kChunks{1, 65'536}, kExpands{1, 64};

constexpr LinearKey kMambaKeys[] = {{"mamba_n_heads", &LinearAttention::value_heads, 128, kSizes},
                                    {"mamba_n_groups", &LinearAttention::key_heads, 1, kSizes},
                                    {"mamba_d_state", &LinearAttention::key_dim, 256, kSizes},
                                    {"mamba_d_conv", &LinearAttention::taps, 4, kSizes}};
constexpr LinearKey kKimiKeys[] = {{"linear_num_value_heads", &LinearAttention::value_heads, 0, kSizes},
                                   {"linear_value_head_dim", &LinearAttention::value_dim, 0, kSizes},
                                   {"linear_conv_kernel_dim", &LinearAttention::taps, 0, kSizes}};
constexpr std::string_view kHeadWidth[] = {"mamba_d_head"}, kExpand[] = {"mamba_expand"}, kChunkSize[] = {"mamba_chunk_size"},
                           kAttentionLayers[] = {"attn_layer_indices"};
constexpr std::string_view kConvolutionBias = "mamba_conv_bias";
constexpr const char* kKimi = "linear_attn_config";

// A list of layers, the first of which has this number; empty where it is none. As we write it, it is a text, "5,15", which a link holds.
std::vector<std::uint8_t> marked(const Json& given, std::int64_t first, std::int64_t layers) {
    const std::string text = given.is_string() ? given.get<std::string>() : given.dump();
    const Json list = given.is_array() ? given : Json::parse('[' + text + ']', nullptr, false);
    std::vector<std::uint8_t> found(static_cast<std::size_t>(layers));
    if (!list.is_array()) return {};
    for (const Json& one : list) {
        const std::int64_t layer = one.is_number_integer() ? one.get<std::int64_t>() - first : -1;
        if (layer < 0 || layer >= layers) return {};
        found[static_cast<std::size_t>(layer)] = 1;
    }
    return found;
}

// The layers with attention.
void read_full_layers(ConfigReader& read, Model& model) {
    model.linear.layers.assign(static_cast<std::size_t>(model.layers), 1);
    std::string_view name;
    const Json* full = read.find(kAttentionLayers, name);
    if (full == nullptr) return;
    const auto list = marked(*full, 0, model.layers);
    if (list.empty() && model.layers > 0)
        read.problem(name, "type", shown(*full), Text("problem.layer_list").with("key", read.path(name)), {}, nullptr);
    for (std::size_t i = 0; i < list.size(); ++i) model.linear.layers[i] = list[i] == 0;
}

void read_mamba(ConfigReader& read, Model& model) {
    std::string_view name;
    const Json* types = read.find(kTypes, name);
    if (types == nullptr) read_full_layers(read, model);
    if (types == nullptr && std::count(model.linear.layers.begin(), model.linear.layers.end(), 1) == 0) return;
    const std::string kinds = types == nullptr ? "mamba" : types->dump();
    if (kinds.find("mamba") == std::string::npos && kinds.find("linear") == std::string::npos) return;  // Granite 4.0 without them
    LinearAttention& linear = model.linear;
    linear.kind = Mixer::mamba;
    for (const LinearKey& one : kMambaKeys)
        linear.*one.value = read.optional(Names(&one.key, 1), one.range, one.usual, class_default(model));
    linear.chunk = static_cast<std::int32_t>(read.optional(kChunkSize, kChunks, 256, class_default(model)));
    linear.bias = read.flag(kConvolutionBias, true);
    const Json* width = read.find(kHeadWidth, name);
    const std::int64_t inner = read.optional(kExpand, kExpands, 2) * model.hidden, heads = std::max<std::int64_t>(linear.value_heads, 1);
    if (width != nullptr && !width->is_string())
        linear.value_dim = read.integer(*width, name, kSizes).value_or(0);
    else if (inner % heads == 0)
        linear.value_dim = inner / heads;
    else
        read.missing(kHeadWidth[0]);
    if (linear.key_heads > 0 && heads % linear.key_heads != 0)
        read.problem(kMambaKeys[0].key, "range", heads, Text("problem.linear_heads").with("values", heads).with("keys", linear.key_heads),
                     {}, std::max<std::int64_t>(heads / linear.key_heads, 1) * linear.key_heads);
}

// Whether all is there. Gates of full rank (Kimi K3) are others.
bool read_kimi(const Json& given, Model& model) {
    const auto number = [&](const char* key) {
        const auto found = given.find(key);
        const bool whole = found != given.end() && found->is_number_integer();
        const std::int64_t value = whole ? found->get<std::int64_t>() : 0;
        return value <= kSizes.max ? std::max<std::int64_t>(value, 0) : 0;
    };
    if (!given.is_object() || given.value("use_full_rank_gate", Json()) == true) return false;
    LinearAttention& linear = model.linear;
    linear.kind = Mixer::kimi;
    linear.key_heads = linear.value_heads = number("num_heads");
    linear.key_dim = linear.value_dim = number("head_dim");
    linear.taps = number("short_conv_kernel_size");
    linear.layers = marked(given.value("kda_layers", Json()), 1, model.layers);
    return linear.values() * linear.taps > 0 && !linear.layers.empty();
}

// The same as we write it.
void read_flat_kimi(ConfigReader& read, Model& model) {
    LinearAttention& linear = model.linear;
    if (!read.has(Names(&kKimiKeys[0].key, 1))) return;
    linear.kind = Mixer::kimi;
    for (const LinearKey& one : kKimiKeys) linear.*one.value = read.required(Names(&one.key, 1), one.range);
    linear.key_heads = linear.value_heads, linear.key_dim = linear.value_dim;
    read_full_layers(read, model);
}

}  // namespace

void read_mixer(ConfigReader& read, const Family& family, const Json& config, Model& model) {
    if (family.has(state_space)) return read_mamba(read, model);
    const auto given = config.find(kKimi);
    if (given == config.end()) return read_flat_kimi(read, model);
    read.used(kKimi);
    if (given->is_null() || read_kimi(*given, model)) return;
    read.problem(kKimi, "unsupported", nullptr, Text("problem.unsupported.linear_attention").with("key", kKimi), "suggestion.covered_model",
                 nullptr);
}

void write_mixer(const Model& model, Object& config) {
    const LinearAttention& linear = model.linear;
    if (linear.is_mamba()) {
        for (const LinearKey& one : kMambaKeys) config.add(one.key.data(), linear.*one.value);
        config.add(kHeadWidth[0].data(), linear.value_dim).add(kChunkSize[0].data(), std::int64_t{linear.chunk});
        if (!linear.bias) config.add(kConvolutionBias.data(), false);
    }
    if (linear.is_kimi())
        for (const LinearKey& one : kKimiKeys) config.add(one.key.data(), linear.*one.value);
    std::string full;
    for (std::int64_t i = 0; i < model.layers; ++i)
        if (!linear.any() || linear.layers[static_cast<std::size_t>(i)] == 0) full += (full.empty() ? "" : ",") + std::to_string(i);
    if (!full.empty()) config.add(kAttentionLayers[0].data(), full);
}

}  // namespace fourfold
