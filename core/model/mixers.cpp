// Based on
//   Hugging Face transformers, models/bamba/configuration_bamba.py and models/granitemoehybrid/configuration_granitemoehybrid.py: keys and
//     class defaults of Mamba-2 (their "auto" for the width of a head is expand * hidden size / heads)
//   models/nemotron_h/configuration_nemotron_h.py: a letter for each layer, and its own names of Mamba-2's keys
//   models/falcon_h1/configuration_falcon_h1.py: of Bamba's keys, with the width of all heads and a norm that is off by default
//   models/lfm2/configuration_lfm2.py, models/lfm2_moe/configuration_lfm2_moe.py: the keys of a convolution; modeling_lfm2.py, Lfm2MLP: the
//     width of the feed-forward part
//   moonshotai/Kimi-Linear-48B-A3B-Instruct, configuration_kimi.py and modeling_kimi.py: linear_attn_config, whose layers count from 1
#include "model/mixers.h"

#include <algorithm>

#include "model/layer_kinds.h"

namespace fourfold {

namespace {

constexpr std::int64_t kMostLayers = 2'000;
constexpr Range kSizes{1, 1'024}, kChunks{1, 65'536}, kExpands{1, 64}, kInners{1, 1'048'576};

// Bamba's, and Nemotron-H's.
constexpr LinearKey kMambaKeys[2][4] = {{{"mamba_n_heads", &LinearAttention::value_heads, 128, kSizes},
                                         {"mamba_n_groups", &LinearAttention::key_heads, 1, kSizes},
                                         {"mamba_d_state", &LinearAttention::key_dim, 256, kSizes},
                                         {"mamba_d_conv", &LinearAttention::taps, 4, kSizes}},
                                        {{"mamba_num_heads", &LinearAttention::value_heads, 128, kSizes},
                                         {"n_groups", &LinearAttention::key_heads, 8, kSizes},
                                         {"ssm_state_size", &LinearAttention::key_dim, 128, kSizes},
                                         {"conv_kernel", &LinearAttention::taps, 4, kSizes}}};
constexpr std::string_view kHeadWidth[] = {"mamba_d_head", "mamba_head_dim"}, kChunkSize[] = {"mamba_chunk_size", "chunk_size"},
                           kConvolutionBias[] = {"mamba_conv_bias", "use_conv_bias"};
constexpr LinearKey kKimiKeys[] = {{"linear_num_value_heads", &LinearAttention::value_heads, 0, kSizes},
                                   {"linear_value_head_dim", &LinearAttention::value_dim, 0, kSizes},
                                   {"linear_conv_kernel_dim", &LinearAttention::taps, 0, kSizes}};
constexpr std::string_view kExpand[] = {"mamba_expand"}, kInner[] = {"mamba_d_ssm"}, kTaps[] = {"conv_L_cache"},
                           kWidthMultiple[] = {"block_multiple_of"}, kAttentionLayers[] = {"attn_layer_indices", "full_attn_idxs"},
                           kParts[] = {"hybrid_override_pattern"}, kNumber[] = {"num_hidden_layers"},
                           kFurther[] = {"num_nextn_predict_layers"};
constexpr const char* kKimi = "linear_attn_config";
constexpr const char *kStateNorm = "mamba_rms_norm", *kAdjusts = "block_auto_adjust_ff_dim";

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

// Whether any layer has a state space.
bool read_mamba_layers(ConfigReader& read, Model& model) {
    if (model.one_part) return true;
    if (model.linear.beside) model.linear.layers.assign(static_cast<std::size_t>(model.layers), 1);
    if (model.linear.beside) return true;
    std::string_view name;
    const Json* types = read.find(kTypes, name);
    if (types == nullptr) read_full_layers(read, model);
    if (types == nullptr) return std::count(model.linear.layers.begin(), model.linear.layers.end(), 1) > 0;
    const std::string kinds = types->dump();
    return kinds.find("mamba") != std::string::npos || kinds.find("linear") != std::string::npos;  // Granite 4.0 without them
}

void read_mamba(ConfigReader& read, const Family& family, Model& model) {
    LinearAttention& linear = model.linear;
    linear.beside = family.has(side_by_side);
    if (!read_mamba_layers(read, model)) return;
    linear.norm = read.flag(kStateNorm, !linear.beside);
    linear.kind = Mixer::mamba;
    const std::size_t names = model.one_part ? 1 : 0;
    for (const LinearKey& one : kMambaKeys[names])
        linear.*one.value = read.optional(Names(&one.key, 1), one.range, one.usual, class_default(model));
    linear.chunk =
        static_cast<std::int32_t>(read.optional(Names(&kChunkSize[names], 1), kChunks, model.one_part ? 128 : 256, class_default(model)));
    linear.bias = read.flag(kConvolutionBias[names], true);
    if (model.expert_layers.count() > 0 && model.experts.count == 0 && model.one_part) read.missing("n_routed_experts");
    std::string_view name;
    const Json* width = read.find(Names(&kHeadWidth[names], 1), name);
    const std::int64_t inner = read.optional(kInner, kInners, read.optional(kExpand, kExpands, 2) * model.hidden),
                       heads = std::max<std::int64_t>(linear.value_heads, 1);
    if (width != nullptr && !width->is_string())
        linear.value_dim = read.integer(*width, name, kSizes).value_or(0);
    else if (model.one_part)
        linear.value_dim = read.optional(Names(&kHeadWidth[1], 1), kSizes, 64, class_default(model));
    else if (inner % heads == 0)
        linear.value_dim = inner / heads;
    else
        read.missing(kHeadWidth[0]);
    if (linear.key_heads > 0 && heads % linear.key_heads != 0)
        read.problem(kMambaKeys[names][0].key, "range", heads,
                     Text("problem.linear_heads").with("values", heads).with("keys", linear.key_heads), {},
                     std::max<std::int64_t>(heads / linear.key_heads, 1) * linear.key_heads);
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

// Of a feed-forward part two thirds, rounded up, in models without experts.
void adjust_width(ConfigReader& read, const Json& config, Model& model) {
    if (!read.flag(kAdjusts, true)) return;
    constexpr const char* kFactor = "block_ffn_dim_multiplier";
    const auto given = config.find(kFactor);
    if (given != config.end()) read.used(kFactor);
    const double factor = given != config.end() && given->is_number() ? std::clamp(given->get<double>(), 0.0, 100.0) : 1;
    const std::int64_t multiple = std::max<std::int64_t>(read.optional(kWidthMultiple, kChunks, 256), 1);
    const std::int64_t two_thirds = 2 * model.ffn / 3;
    const auto width = static_cast<std::int64_t>(factor * static_cast<double>(two_thirds));
    model.ffn = std::max<std::int64_t>((width + multiple - 1) / multiple, 1) * multiple;
}

void read_convolution(ConfigReader& read, const Family& family, const Json& config, Model& model) {
    LinearAttention& linear = model.linear;
    linear.kind = Mixer::convolution;
    linear.key_heads = linear.value_heads = model.heads;
    linear.value_dim = model.heads > 0 ? model.hidden / model.heads : 0;
    linear.taps = read.optional(kTaps, kSizes, 3);
    if (!read.has(kTypes)) read_full_layers(read, model);
    if (!read.has(kTypes) && !read.has(kAttentionLayers)) linear.layers.clear();  // attention in all
    if (read.flag("conv_bias", false))
        read.problem("conv_bias", "unsupported", true, Text("problem.unsupported.convolution").with("key", "conv_bias"),
                     "suggestion.covered_model", nullptr);
    model.tied = read.flag("tie_embedding", model.tied);
    if (family.experts == nullptr) adjust_width(read, config, model);
}

// The letters of a list of names; one that is none of them gives a letter that is none, too.
std::string letters_of(const Json& names) {
    std::string all;
    for (const Json& one : names) {
        const std::string name = one.dump();
        const auto says = [&](const char* part) { return name.find(part) != std::string::npos; };
        all += says("mamba") || says("linear") ? 'M' : says("attention") ? '*' : says("mlp") ? '-' : says("moe") ? 'E' : '?';
    }
    return all;
}

}  // namespace

void set_parts(Model& model, std::string_view letters) {
    std::vector<std::uint8_t> experts;
    model.linear.layers.clear();
    for (const char letter : letters) {
        model.linear.layers.push_back(static_cast<std::uint8_t>(kLetters.find(letter)));
        experts.push_back(letter == 'E');
    }
    model.one_part = true;
    model.layers = static_cast<std::int64_t>(letters.size());
    model.feed_forward_layers = std::count(letters.begin(), letters.end(), '-');
    model.linear.count = std::count(letters.begin(), letters.end(), 'M');
    model.expert_layers = letters.find('E') == std::string_view::npos ? ExpertLayers() : ExpertLayers(std::move(experts));
    model.norms_per_layer = 1;
}

std::string parts_of(const Model& model) {
    std::string letters;
    for (const std::uint8_t part : model.linear.layers) letters += kLetters[part];
    return letters;
}

void read_parts(ConfigReader& read, Model& model) {
    std::string_view name;
    const Json* given = read.find(kTypes, name);  // which counts, where both are given
    if (given == nullptr) given = read.find(kParts, name);
    if (given == nullptr) return read.missing(kParts[0]);
    const std::string parts = given->is_string() ? given->get<std::string>() : letters_of(*given);
    const auto layers = static_cast<std::int64_t>(parts.size());
    const bool letters_alone = parts.find_first_not_of(kLetters) == std::string::npos && parts.find('M') != std::string::npos;
    if (!letters_alone || read.optional(kNumber, {1, kMostLayers}, layers) != layers || layers > kMostLayers)
        return read.problem(name, "type", shown(*given), Text("problem.layer_parts").with("key", read.path(name)), {}, nullptr);
    set_parts(model, parts);
    if (read.optional(kFurther, {0, kMostLayers}, 0) > 0)  // each of several layers (Nemotron 3 Super)
        read.assume(kFurther[0], 0, "import.further_tokens");
}

void read_mixer(ConfigReader& read, const Family& family, const Json& config, Model& model) {
    if (family.has(state_space)) return read_mamba(read, family, model);
    if (family.has(convolution)) return read_convolution(read, family, config, model);
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
        const std::size_t names = model.one_part ? 1 : 0;
        for (const LinearKey& one : kMambaKeys[names]) config.add(one.key.data(), linear.*one.value);
        config.add(kHeadWidth[names].data(), linear.value_dim).add(kChunkSize[names].data(), std::int64_t{linear.chunk});
        if (!linear.bias) config.add(kConvolutionBias[names].data(), false);
        if (linear.norm == linear.beside) config.add(kStateNorm, linear.norm);
    }
    if (model.one_part) {
        config.add(kParts[0].data(), parts_of(model));
        return;
    }
    if (linear.is_kimi())
        for (const LinearKey& one : kKimiKeys) config.add(one.key.data(), linear.*one.value);
    if (linear.is_convolution()) config.add(kTaps[0].data(), linear.taps);
    if (model.type == "lfm2") config.add(kAdjusts, false);
    std::string full;
    for (std::int64_t i = 0; i < model.layers; ++i)
        if (!linear.any() || linear.layers[static_cast<std::size_t>(i)] == 0) full += (full.empty() ? "" : ",") + std::to_string(i);
    if (!full.empty() || linear.is_convolution()) config.add(kAttentionLayers[0].data(), full);
}

}  // namespace fourfold
