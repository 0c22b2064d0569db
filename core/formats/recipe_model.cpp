// The model of a recipe of Megatron-Bridge or NeMo 2: a name, with other sizes beside it.
#include "formats/recipe_model.h"

#include <algorithm>
#include <optional>

#include "formats/named_model.h"
#include "model/catalog.h"
#include "model/model.h"

namespace fourfold {

namespace {

// Sizes of Megatron Core, and the keys of a config.json.
struct Size {
    const char *from, *to;
};
constexpr Size kSizes[] = {
    {"num_layers", "num_hidden_layers"},
    {"hidden_size", "hidden_size"},
    {"ffn_hidden_size", "intermediate_size"},
    {"num_attention_heads", "num_attention_heads"},
    {"num_query_groups", "num_key_value_heads"},
    {"kv_channels", "head_dim"},
    {"vocab_size", "vocab_size"},
    {"moe_ffn_hidden_size", "moe_intermediate_size"},
    {"moe_router_topk", "num_experts_per_tok"},
};

// The sizes that are said over those of a known model. A head is as wide as before where it was no part of the width.
std::optional<Json> with_sizes(Import& in, const Model& model) {
    Json config = canonical_config(model);
    const Json usual = config;
    for (const auto& [ours, theirs] : kSizes)
        if (const auto size = in.whole(ours, "model"); size && *size > 0) config[theirs] = *size;
    if (const Entry* shared = in.last("share_embeddings_and_output_weights"); shared != nullptr && !shared->value.is_null())
        config["tie_word_embeddings"] = in.on("share_embeddings_and_output_weights", "model");
    constexpr std::int64_t kPadding = 1'024;  // a vocabulary is padded
    const std::int64_t words = config["vocab_size"].get<std::int64_t>();
    if (words >= model.vocabulary && words <= model.vocabulary + kPadding) config["vocab_size"] = model.vocabulary;
    if (config == usual) return Json(model.id);
    const std::int64_t hidden = config["hidden_size"].get<std::int64_t>(), heads = config["num_attention_heads"].get<std::int64_t>();
    if (!in.has("kv_channels") && config.contains("head_dim") && model.head_dim * model.heads == model.hidden) {
        if (hidden % heads != 0) return std::nullopt;
        config["head_dim"] = hidden / heads;
    }
    Problems problems;
    ImportReport report;
    if (!read_model(config, "", problems, report)) return std::nullopt;
    return config;
}

// By its name, or as it was answered; sizes alone belong to a recipe that is not there, whose other sizes nobody knows.
void read_model_name(Import& in) {
    for (const char* key : {"hf_path", "recipe_model", "recipe", "factory", "model_name", "NAME"})
        if (const Entry* entry = in.last(key); !in.job.contains("model") && entry != nullptr && entry->open.empty()) {
            const bool variable = entry->fate == Fate::no_number && !entry->shown.starts_with('-');  // "recipe = configure()"
            if (!take_named_model(in, key) && variable) in.mark(key, Fate::no_number);
        }
    const bool sizes = std::any_of(std::begin(kSizes), std::end(kSizes), [&](const Size& one) { return in.has(one.from); }) ||
                       in.has("share_embeddings_and_output_weights");
    if (!sizes || in.has("whole_model")) return;
    if (!in.job.contains("model")) ask_model(in);
    const CatalogModel* named = in.job.contains("model") ? catalog().model(in.job["model"].get<std::string>()) : nullptr;
    if (named == nullptr) {
        for (const Size& one : kSizes) in.whole(one.from, "model");
        return;
    }
    const auto model = with_sizes(in, named->model);
    in.job.erase("model");
    if (model) in.job["model"] = *model;
}

// llm.GPTConfig has Megatron-LM's defaults, and other names for some switches.
void read_whole_model(Import& in) {
    struct Switch {
        const char *from, *to;
        bool on;
    };
    constexpr Switch kSwitches[] = {{"gated_linear_unit", "swiglu", true},
                                    {"add_bias_linear", "disable_bias_linear", false},
                                    {"share_embeddings_and_output_weights", "untie_embeddings_and_output_weights", false}};
    for (std::size_t i = 0, count = in.entries.size(); i < count; ++i) {
        Entry& entry = in.entries[i];
        for (const auto& [from, to, on] : kSwitches)
            if (entry.key == from && entry.open.empty()) in.become(entry, to, (entry.value == Json(true)) == on);
        if (entry.key == "num_query_groups" && !entry.value.is_null()) in.derive(Entry(entry), "group_query_attention", true);
    }
}

}  // namespace

bool read_recipe_model(Import& in) {
    read_model_name(in);
    const bool whole = in.has("whole_model") && !in.job.contains("model");
    if (whole) read_whole_model(in);
    return whole;
}

}  // namespace fourfold
