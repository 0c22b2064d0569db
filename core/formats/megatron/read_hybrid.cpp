// Layers of a single part of Megatron-LM's own kind. Based on
//   Megatron-LM, core/ssm/mamba_hybrid_layer_allocation.py: the letters, and what a ratio stands for
//   core/transformer/transformer_config.py and core/ssm/mamba_mixer.py: what is not said of a state space
#include <algorithm>
#include <cmath>

#include "formats/megatron/arguments.h"
#include "formats/megatron/read.h"
#include "model/catalog.h"

namespace fourfold {

// As _allocate_auto() does it: attention between sections of state spaces of one length, then feed-forward parts between what is left.
static std::string spread(std::int64_t layers, double attention, double feed_forward) {
    const auto count = [&](double ratio) { return std::nearbyint(static_cast<double>(layers) * ratio); };
    std::string parts(static_cast<std::size_t>(layers), 'M');
    const auto place = [&](char part, double length) {
        double left = length;
        for (char& one : parts) {
            if (one != 'M') continue;
            if (left < 0.5)
                one = part, left += length;
            else
                left -= 1;
        }
    };
    const double full = count(attention), dense = count(feed_forward), others = static_cast<double>(layers) - full;
    place('*', others / (full + 1));
    if (dense > 0) place('-', (others - dense) / dense);
    return parts;
}

static std::optional<std::string> parts_of(Import& in) {
    constexpr std::int64_t kMost = 2'000;
    const auto layers = in.whole("num_layers", "model");
    const double attention = in.number("hybrid_attention_ratio", "model").value_or(0),
                 feed_forward = in.number("hybrid_mlp_ratio", "model").value_or(0);
    for (const char* key : {"hybrid_layer_pattern", "hybrid_override_pattern"})
        if (in.has(key)) return in.text(key, "model");
    const bool can = layers && *layers > 0 && *layers <= kMost && attention >= 0 && feed_forward >= 0 && attention + feed_forward <= 1;
    return can ? std::optional(spread(*layers, attention, feed_forward)) : std::nullopt;
}

bool read_hybrid(Import& in, Json& config) {
    in.on("is_hybrid_model", "model");
    const auto parts = parts_of(in);
    if (!parts || parts->find_first_not_of("M*-E") != std::string::npos) return false;  // borders of stages, layers for further tokens
    config["model_type"] = "nemotron_h";
    config["hybrid_override_pattern"] = *parts;
    if (parts->find('E') == std::string::npos) config.erase("num_local_experts");
    config.erase("mlp_only_layers");
    const std::int64_t width = in.whole("mamba_head_dim", "model").value_or(64),
                       expanded = 2 * config.value("hidden_size", std::int64_t{0});
    config["mamba_head_dim"] = width;
    config["mamba_num_heads"] = in.whole("mamba_num_heads", "model").value_or(expanded / std::max<std::int64_t>(width, 1));
    config["ssm_state_size"] = in.whole("mamba_state_dim", "model").value_or(128);
    config["n_groups"] = in.whole("mamba_num_groups", "model").value_or(8);
    if (const std::int64_t heads = config.value("num_attention_heads", std::int64_t{0}); heads > 0 && !config.contains("head_dim"))
        config["head_dim"] = config.value("hidden_size", std::int64_t{0}) / heads;
    if (in.whole("mtp_num_layers", "model").value_or(0) > 0)  // each of several layers
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "mtp_num_layers"));
    return true;
}

void read_window(Import& in, Json& config) {
    const auto has_sinks = [&](const CatalogModel& one) {
        return one.model.attention_sinks && one.model.layers == config.value("num_hidden_layers", std::int64_t{0}) &&
               one.model.hidden == config.value("hidden_size", std::int64_t{0});
    };
    if (in.text("softmax_type", "model") == "learnable" && std::none_of(catalog().models.begin(), catalog().models.end(), has_sinks))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "--softmax-type"));
    const Entry* const said = in.last("window_size");
    if (said == nullptr || !in.text("window_size", "model")) return;
    const std::string text = said->value.is_string() ? said->value.get<std::string>() : dumped(said->value);
    const std::size_t begin = text.find_first_of("-0123456789"), end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    if (begin == text.npos || text[begin] == '-') return;  // to all of them
    const std::int64_t layers = config.value("num_hidden_layers", std::int64_t{0});
    const auto every = in.whole("window_attn_skip_freq", "model");
    const Entry* const list = in.last("window_attn_skip_freq");
    const auto full = list == nullptr || every ? std::optional(Json::array()) : dense_layers(list->value, layers);
    if (end == begin || end - begin > 8 || layers <= 0 || layers > 2'000 || !full || (every && *every <= 0))
        return in.mark("window_size", Fate::unknown);
    if (list != nullptr) in.text("window_attn_skip_freq", "model");
    Json types = Json::array();
    for (std::int64_t i = 0; i < layers; ++i) {
        const bool all = every ? (i + 1) % *every == 0 : std::find(full->begin(), full->end(), Json(i)) != full->end();
        types.push_back(all ? "full_attention" : "sliding_attention");
    }
    config["sliding_window"] = std::stoll(text.substr(begin, end - begin)) + 1;
    config["layer_types"] = std::move(types);
}

// Where nothing is said of a window, the catalogue's model is meant.
bool have_same_windows(const Model& known, const Model& said) {
    return said.window.tokens == 0 || (known.window.tokens == said.window.tokens && known.window.layers == said.window.layers);
}

}  // namespace fourfold
