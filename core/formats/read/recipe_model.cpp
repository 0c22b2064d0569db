// The model of a recipe of Megatron-Bridge or NeMo 2: a name, with other sizes beside it.
#include "formats/read/recipe_model.h"

#include <algorithm>

#include "formats/named_model.h"

namespace fourfold {

namespace {

// "recipe.model = run.Config(llm.LlamaModel, own_config())" behind the recipe's name: which model that is nobody knows.
bool is_replaced(const Import& in) {
    bool replaced = false;
    for (const Entry& entry : in.entries) {
        if (entry.key == "recipe_model" || entry.key == "hf_path" || entry.key == "whole_model") replaced = false;
        if (!matches("*.model", entry.shown) || entry.open.empty()) continue;
        const std::string& value = entry.open[0];
        replaced = replaced || (value.starts_with("run.Config(") && value.find("Model") != std::string::npos);
    }
    return replaced;
}

// Megatron-Bridge, training/setup.py: a model that has a vocabulary keeps it, whatever its tokenizer's is.
void leave_tokenizer(Import& in) {
    for (Entry& entry : in.entries) {
        const bool constant = entry.open.size() == 1 && entry.open[0].find("NULL_TOKENIZER_VOCAB") != std::string::npos;
        const bool beside = in.job.contains("model") && entry.shown.ends_with("tokenizer.vocab_size");
        if (entry.key != "vocab_size" || in.has("use_tokenizer_vocab_size") || (!constant && !beside)) continue;
        entry.key = "tokenizer.vocab_size";
        entry.fate = Fate::no_number;
    }
}

// "llm.mamba2_130m": a "model_name" beside it is its tokenizer's. "llm.hf_auto_model_for_causal_lm" is given the model by that name.
bool names_its_model(const Import& in) {
    const Entry* recipe = in.last("recipe_model");
    return recipe != nullptr && recipe->value.is_string() && !recipe->value.get<std::string>().starts_with("hf_auto");
}

// By its name, or as it was answered; sizes alone belong to a recipe that is not there, whose other sizes nobody knows.
void read_model_name(Import& in, bool bridge) {
    for (const char* key : {"hf_path", "recipe_model", "recipe", "factory", "model_name", "NAME"})
        if (const Entry* entry = in.last(key); !in.job.contains("model") && entry != nullptr && entry->open.empty()) {
            if (key == std::string_view("model_name") && names_its_model(in)) break;
            const bool variable = entry->fate == Fate::no_number && !entry->shown.starts_with('-');  // "recipe = configure()"
            if (!take_named_model(in, key) && variable) in.mark(key, Fate::no_number);
        }
    if (bridge) leave_tokenizer(in);
    if (!says_sizes(in) || in.has("whole_model")) return;
    if (!in.job.contains("model")) ask_model(in);
    if (model_of(in) != nullptr) return resize_named_model(in);
    for (const char* key : {"num_layers", "hidden_size", "ffn_hidden_size", "num_attention_heads", "num_query_groups", "vocab_size"})
        in.whole(key, "model");
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

bool read_recipe_model(Import& in, bool bridge) {
    if (is_replaced(in)) return false;
    read_model_name(in, bridge);
    const bool whole = in.on("whole_model", "model") && !in.job.contains("model");
    if (whole) read_whole_model(in);
    return whole;
}

}  // namespace fourfold
