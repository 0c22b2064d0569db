// LoRA and QLoRA in the settings of fine-tuning programs: PEFT's names of matrices and bitsandbytes' formats. Axolotl 067b021c8,
// LLaMA-Factory ff6d4d12e.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "plan/plan.h"

namespace fourfold {

// PEFT's names of matrices, with those of models that join some, as bits of Plan::lora_targets.
struct NamedMatrices {
    std::string_view name;
    std::uint32_t targets;
};
static constexpr NamedMatrices kMatrices[] = {
    {"q_proj", lora_query},
    {"k_proj", lora_key},
    {"v_proj", lora_value},
    {"o_proj", lora_output},
    {"output_proj", lora_output},  // torchtune
    {"gate_proj", lora_gate},
    {"up_proj", lora_up},
    {"down_proj", lora_down},
    {"qkv_proj", lora_query | lora_key | lora_value},
    {"query_key_value", lora_query | lora_key | lora_value},
    {"gate_up_proj", lora_gate | lora_up},
    {"q_a_proj", lora_query},
    {"q_b_proj", lora_query},
    {"kv_a_proj_with_mqa", lora_key | lora_value},
    {"kv_b_proj", lora_key | lora_value},
    {"out_proj", lora_output},
    {"fc1", lora_up},
    {"fc2", lora_down},
    {"linear_q", lora_query},
    {"linear_q_proj", lora_query},  // of latent attention in Megatron Core
    {"linear_q_down_proj", lora_query},
    {"linear_q_up_proj", lora_query},
    {"linear_kv_down_proj", lora_key | lora_value},
    {"linear_kv_up_proj", lora_key | lora_value},
    {"linear_k", lora_key},
    {"linear_v", lora_value},
    {"linear_fc1_gate", lora_gate},
    {"linear_fc1_up", lora_up},
    {"linear_qkv", lora_query | lora_key | lora_value},
    {"linear_proj", lora_output},
    {"linear_fc1", lora_gate | lora_up},
    {"linear_fc2", lora_down},
    {"attention_qkv", lora_query | lora_key | lora_value},  // NeMo 1
    {"attention_dense", lora_output},
    {"mlp_fc1", lora_gate | lora_up},
    {"mlp_fc2", lora_down},
    {"dense", lora_output},  // GPT-NeoX, Falcon, ChatGLM
    {"dense_h_to_4h", lora_gate | lora_up},
    {"dense_4h_to_h", lora_down},
    {"Wqkv", lora_query | lora_key | lora_value},    // MPT
    {"c_attn", lora_query | lora_key | lora_value},  // GPT-2, Qwen
    {"wqkv", lora_query | lora_key | lora_value},    // InternLM 2
    {"wo", lora_output},
    {"w1", lora_gate},
    {"w2", lora_down},
    {"w3", lora_up},
    {"all", lora_all},
    {"all-linear", lora_all},
};

// Words of a pattern that leave no matrix out.
static constexpr std::string_view kEveryLayer[] = {"model",     "language_model", "decoder", "layers", "self_attention",
                                                   "self_attn", "attention",      "mlp",     "proj",   "_proj"};

// Of a regular expression over names, "(mlp|self_attn).(up|down|q|k|v|o)_proj", the matrices whose names its words are. Another word may
// leave some of them out: that is noted. "*shared_experts.linear_fc1" leaves out what most of a model is, the other experts: none is
// counted.
static std::uint32_t targets_in(Import& in, std::string_view pattern) {
    const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::uint32_t targets = 0;
    std::string word;
    for (std::size_t i = 0; i <= pattern.size(); ++i) {
        if (i < pattern.size() && is_name(pattern[i])) {
            word += pattern[i];
            continue;
        }
        std::uint32_t named = 0;
        for (const NamedMatrices& one : kMatrices)
            if (!word.empty() && (one.name == word || one.name == word + "_proj")) named |= one.targets;
        targets |= named;
        if (named == 0 && word.size() > 1 && std::find(std::begin(kEveryLayer), std::end(kEveryLayer), word) == std::end(kEveryLayer))
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", word.substr(0, 60)));
        word.clear();
    }
    return pattern.find("shared_expert") == std::string_view::npos || pattern.find('|') != std::string_view::npos ? targets : 0;
}

// Adds the matrices that a text names, apart by commas or blanks; what it does not know is noted.
static void add_targets(Import& in, std::string_view text, std::uint32_t& targets) {
    if (text.find_first_of("(|[\\") != std::string_view::npos) {
        targets |= targets_in(in, text);
        return;
    }
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(", ", at), text.size());
        std::string_view name = text.substr(at, end - at);
        at = end + 1;
        if (name.empty()) continue;
        if (name.find('*') != std::string_view::npos) {
            targets |= targets_in(in, name);
            continue;
        }
        const auto* found =
            std::find_if(std::begin(kMatrices), std::end(kMatrices), [&](const NamedMatrices& one) { return one.name == name; });
        if (found != std::end(kMatrices))
            targets |= found->targets;
        else
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", name.substr(0, 60)));
    }
}

const Model* model_with_experts(const Import& in) {
    const CatalogModel* const model = known_model(in);
    return model == nullptr || model->model.experts.count == 0 ? nullptr : &model->model;
}

static constexpr std::uint32_t kFeedForward = lora_gate | lora_up | lora_down;

// All experts of a layer are one parameter in Transformers 5.17, and no Linear layers. By the names that those had before, PEFT 0.20 finds
// it (utils/transformers_weight_conversion.py), but for gpt-oss and Llama 4, whose experts never were Linear layers. A program that lists
// these layers itself meets the names only in dense layers and shared experts. Unsloth finds them all (2026.7, models/_utils.py).
static void leave_experts(Import& in, const Model& model, bool listed, std::uint32_t& targets) {
    if (in.job.value("framework", "") != "transformers" || in.has("unsloth") || (targets & ~kFeedForward) == 0) return;
    const bool never = model.type == "gpt_oss" || model.type == "llama4_text";
    const bool linear = model.experts.shared_ffn > 0 || model.expert_layers.count() < model.layers;
    if (!never && (linear || !listed)) return;
    if (linear && (targets & kFeedForward) != 0) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "shared_expert"));
    targets &= ~kFeedForward;
}

// PEFT's names of parameters: "mlp.experts.down_proj"; "7.mlp.experts.down_proj" in one layer. Where some layers alone are named, they are
// not counted.
static void add_parameters(Import& in, const Model* model, std::uint32_t& targets) {
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        const std::string key = in.entries[i].key;
        const auto text = matches("*target_parameters", key) ? in.text(key, "lora_targets") : std::nullopt;
        if (!text || text->empty()) continue;
        std::set<std::string_view> layers;
        std::uint32_t named = 0;
        for (std::size_t at = 0, end = 0; at < text->size(); at = end + 1) {
            end = std::min(text->find_first_of(" ,.", at), text->size());
            const std::string_view part = std::string_view(*text).substr(at, end - at);
            if (!part.empty() && part.find_first_not_of("0123456789") == part.npos) layers.insert(part);
            for (const NamedMatrices& one : kMatrices)
                if (one.name == part) named |= one.targets & kFeedForward;
        }
        const bool some = !layers.empty() && (model == nullptr || std::cmp_less(layers.size(), model->expert_layers.count()));
        targets |= some ? 0 : named;
        if (!some && named != 0) continue;
        in.mark(key, Fate::unknown);
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", key.substr(0, 60)));
    }
}

void read_adapters(Import& in, const AdapterKeys& keys) {
    in.job["trained"] = "lora";
    if (const auto rank = in.whole(keys.rank, "lora_rank"); rank && *rank > 0 && *rank <= 65'536)
        in.job["lora_rank"] = *rank;
    else
        in.job["lora_rank"] = keys.usual_rank;
    std::uint32_t targets = 0;
    bool every = !in.has(keys.targets);                    // Linear layer, by a word for all of them
    for (std::size_t i = 0; i < in.entries.size(); ++i) {  // a text, or a list
        const std::string key = in.entries[i].key;
        if (key != keys.targets && !key.starts_with(std::string(keys.targets) + ".")) continue;
        const auto text = in.text(key, "lora_targets");
        if (text) add_targets(in, *text, targets);
        every = every || text == "all" || text == "all-linear";
    }
    if (!keys.all.empty() && in.on(keys.all, "lora_targets")) targets = lora_all, every = true;
    const bool is_said = in.has(keys.targets) && targets == 0;
    if (is_said && in.last(keys.targets)->fate != Fate::open) in.mark(keys.targets, Fate::unknown);
    if (targets == 0) targets = is_said ? std::uint32_t{lora_all} : keys.usual;
    const Model* const model = model_with_experts(in);
    if (model != nullptr) leave_experts(in, *model, every && keys.lists, targets);
    add_parameters(in, model, targets);
    for (const char* whole : {"lora_modules_to_save", "additional_target", "modules_to_save"})
        if (says_any(in, {whole, joined({whole, ".*"})})) in.notes.push_back(Text("import_plan.note.not_counted").with("key", whole));
    std::string names;
    for (std::size_t i = 0; i < kTargetChoices.size(); ++i)
        if ((targets >> i & 1U) != 0) names += joined({names.empty() ? "" : ",", kTargetChoices[i].id});
    in.job["lora_targets"] = names;
    if (const auto dropout = in.number(keys.dropout, "lora_dropout"); dropout && *dropout > 0) in.job["lora_dropout"] = true;
}

}  // namespace fourfold
