// LoRA and QLoRA in the settings of fine-tuning programs: PEFT's names of matrices and bitsandbytes' formats. Axolotl 067b021c8,
// LLaMA-Factory ff6d4d12e.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "formats/read_jobs.h"
#include "formats/trainers.h"
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

// Of a regular expression over names, "(mlp|self_attn).(up|down|q|k|v|o)_proj", the matrices whose names its words are. Another word,
// "*shared_experts.linear_fc1", may leave some of them out: that is noted.
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
    return targets;
}

// Adds the matrices that a text names, apart by commas or blanks; what it does not know is noted.
static void add_targets(Import& in, std::string_view text, std::uint32_t& targets) {
    if (text.find_first_of("(|*[\\") != std::string_view::npos) {
        targets |= targets_in(in, text);
        return;
    }
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(", ", at), text.size());
        std::string_view name = text.substr(at, end - at);
        at = end + 1;
        if (name.empty()) continue;
        const auto* found =
            std::find_if(std::begin(kMatrices), std::end(kMatrices), [&](const NamedMatrices& one) { return one.name == name; });
        if (found != std::end(kMatrices))
            targets |= found->targets;
        else
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", name.substr(0, 60)));
    }
}

void read_adapters(Import& in, const AdapterKeys& keys) {
    in.job["trained"] = "lora";
    if (const auto rank = in.whole(keys.rank, "lora_rank"); rank && *rank > 0 && *rank <= 65'536)
        in.job["lora_rank"] = *rank;
    else
        in.job["lora_rank"] = keys.usual_rank;
    std::uint32_t targets = 0;
    for (std::size_t i = 0; i < in.entries.size(); ++i) {  // a text, or a list
        const std::string key = in.entries[i].key;
        if (key != keys.targets && !key.starts_with(std::string(keys.targets) + ".")) continue;
        if (const auto text = in.text(key, "lora_targets")) add_targets(in, *text, targets);
    }
    if (!keys.all.empty() && in.on(keys.all, "lora_targets")) targets = lora_all;
    const bool is_said = in.has(keys.targets) && targets == 0;
    if (is_said && in.last(keys.targets)->fate != Fate::open) in.mark(keys.targets, Fate::unknown);
    if (targets == 0) targets = is_said ? std::uint32_t{lora_all} : keys.usual;
    for (const char* whole : {"lora_modules_to_save", "additional_target", "modules_to_save"})
        if (says_any(in, {whole, joined({whole, ".*"})})) in.notes.push_back(Text("import_plan.note.not_counted").with("key", whole));
    std::string names;
    for (std::size_t i = 0; i < kTargetChoices.size(); ++i)
        if ((targets >> i & 1U) != 0) names += joined({names.empty() ? "" : ",", kTargetChoices[i].id});
    in.job["lora_targets"] = names;
    if (const auto dropout = in.number(keys.dropout, "lora_dropout"); dropout && *dropout > 0) in.job["lora_dropout"] = true;
}

}  // namespace fourfold
