// Megatron-LM's arguments in YAML: keys that are arguments ("--num-layers: 32", its CI and Megatron-MoE-ModelZoo), the files of --yaml-cfg
// (megatron/training/yaml_arguments.py at d98e8a64dd), and Primus fd1eeabba.
#include <algorithm>

#include "base/text.h"
#include "formats/megatron/read.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "formats/shell/launch.h"
#include "plan/plan.h"

namespace fourfold {

namespace {

constexpr int kLikeEnough = 3;

// Where an argument's own name begins: "MODEL_ARGS.--num-layers"; npos: it is none.
std::size_t argument_at(std::string_view key) {
    if (key.starts_with("--")) return 0;
    const std::size_t at = key.find(".--");
    return at == std::string_view::npos ? at : at + 1;
}

std::string last_name(std::string_view key) {
    std::string name(key.substr(key.rfind('.') + 1));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

bool is_environment(std::string_view key) {
    const std::string lower = lower_case(key);
    return lower.starts_with("env_vars.") || lower.find(".env_vars.") != std::string::npos || lower.starts_with("env.");
}

// GPUs, and the degrees that Megatron-MoE-ModelZoo names so, from variables beside the arguments.
void read_environment(Import& in) {
    read_names(in, [&](std::string_view name) -> std::string {
        for (Entry& entry : in.entries) {
            if (entry.fate == Fate::used || !entry.open.empty() || entry.key.find("--") != std::string::npos) continue;
            if (std::string_view(entry.key).substr(entry.key.rfind('.') + 1) != name) continue;
            if (!entry.value.is_string() && !entry.value.is_number_integer()) continue;
            entry.fate = Fate::used;
            entry.fields.emplace_back("gpus");
            return entry.value.is_string() ? entry.value.get<std::string>() : dumped(entry.value);
        }
        return "";
    });
}

// "activation_func: swiglu" and the like of --yaml-cfg, as the arguments of the same meaning.
void rename_yaml_cfg(Import& in) {
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        Entry& entry = in.entries[i];
        const bool off = entry.value == Json(false) || entry.value == Json("false");
        if (entry.key == "activation_func" && entry.value == Json("swiglu"))
            in.become(entry, "swiglu", true);
        else if (entry.key == "gated_linear_unit")
            in.become(entry, "swiglu", entry.value);
        else if (entry.key == "add_bias_linear")
            in.become(entry, "disable_bias_linear", off);
        else if (entry.key == "num_moe_experts")
            in.become(entry, "num_experts", entry.value);
        else if (entry.key == "num_query_groups" && !entry.value.is_null() && !in.has("group_query_attention"))
            in.derive(entry, "group_query_attention", true);
        else if (entry.key == "recompute_granularity" && entry.value == Json(""))
            entry.value = nullptr;
    }
}

// A value that is switched off says no more than that the argument is not there.
void drop_switched_off(std::vector<Entry>& entries) {
    for (Entry& entry : entries)
        if (entry.value == Json("None") || entry.value == Json("null") || entry.value == Json("~")) entry.value = nullptr;
}

}  // namespace

std::vector<std::pair<std::string, std::vector<Entry>>> parts_of(std::vector<Entry> entries) {
    std::vector<std::pair<std::string, std::vector<Entry>>> parts;
    std::vector<Entry> beside;
    std::map<std::string, std::size_t> by_parent;
    constexpr std::size_t kMost = 50;
    for (Entry& entry : entries) {
        const std::size_t at = argument_at(entry.key);
        if (at == std::string::npos) {
            beside.push_back(std::move(entry));
            continue;
        }
        const std::string parent = at == 0 ? "" : entry.key.substr(0, at - 1);
        const auto known = by_parent.find(parent);
        if (known == by_parent.end() && parts.size() == kMost) continue;
        if (known == by_parent.end()) {
            by_parent[parent] = parts.size();
            parts.push_back({parent, {}});
        }
        parts[by_parent[parent]].second.push_back(std::move(entry));
    }
    if (parts.empty()) return {{"", std::move(beside)}};
    // What stands beside them is read with each: of a long file fewer are.
    constexpr std::size_t kMostRead = 100'000;
    parts.resize(std::clamp<std::size_t>(kMostRead / (beside.size() + 1), 1, parts.size()));
    for (auto& [parent, part] : parts) part.insert(part.begin(), beside.begin(), beside.end());
    return parts;
}

int megatron_yaml_likeness(const std::vector<Entry>& entries) {
    std::vector<Entry> named = entries;
    for (Entry& entry : named) {
        const std::size_t at = argument_at(entry.key);
        entry.key = last_name(at == std::string::npos ? entry.key : entry.key.substr(at + 2));
    }
    const int likeness = megatron_likeness(named);  // Transformers' names, and Picotron's, are none of its own
    return likeness >= kLikeEnough && count_like(named, {"num_hidden_layers", "tp_size"}) == 0 ? likeness : 0;
}

void read_megatron_yaml(Import& in) {
    read_environment(in);
    bool arguments = false;
    for (Entry& entry : in.entries) {
        const std::size_t at = argument_at(entry.key);
        arguments = arguments || at != std::string::npos;
        if (at != std::string::npos)
            entry.key = last_name(entry.key.substr(at + 2));
        else if (is_environment(entry.key) && entry.fate == Fate::unknown)
            entry.fate = Fate::no_number;
    }
    if (!arguments) {
        for (Entry& entry : in.entries)
            if (entry.fate == Fate::unknown) entry.key = last_name(entry.key);
        rename_yaml_cfg(in);
    }
    drop_switched_off(in.entries);
    answer_vocabulary(in, in.answers);
    if (!in.job.contains("gpus")) in.set("gpus", in.whole("world_size", "gpus"));  // of a run that took place
    in.ask("gpus");
    read_megatron(in, {.own_checks = true});
    if (in.on("use_lora", "trained"))
        read_adapters(in, {"lora_rank", "lora_target_modules", "lora_dropout", "", lora_query | lora_key | lora_value | lora_output});
    if (!in.has("num_layers") && in.has("hf_model_name_or_path")) take_named_model(in, "hf_model_name_or_path");
    if (!in.has("num_layers")) ask_model(in);
    in.mark_all({"test_type", "TEST_*", "METRICS*", "metrics*", "BEFORE_*", "AFTER_*"}, Fate::no_number);
}

// ---- Primus: the names with underscores stand below one module; what is not said comes from its presets.
int primus_likeness(const std::vector<Entry>& entries) { return count_like(entries, {"modules.*.overrides.*", "modules.*.framework"}); }

// torchtitan and MaxText below Primus: their settings stand below the module, and its model is a file of presets.
static bool has_framework(const Import& in, const char* name) {
    return std::any_of(in.entries.begin(), in.entries.end(),
                       [&](const Entry& entry) { return entry.key.ends_with(".framework") && entry.value == Json(name); });
}
static void read_below_primus(Import& in, const char* model_key, void (*read)(Import&)) {
    for (Entry& entry : in.entries) {
        for (const std::string_view section : {".overrides.", ".params."})
            if (const std::size_t at = entry.key.find(section); at != std::string::npos) entry.key = entry.key.substr(at + section.size());
        if (entry.key.starts_with("modules.") && entry.key.ends_with(".model"))
            entry.key = model_key;
        else if (matches("modules.*.model.name", entry.key) || matches("modules.*.model.flavor", entry.key))
            entry.key = entry.key.substr(entry.key.find("model."));
    }
    const Entry* const preset = in.last(model_key);  // "llama3.1_70B-fp8.yaml"
    const bool in_8_bits =
        preset != nullptr && preset->value.is_string() && lower_case(preset->value.get<std::string>()).find("fp8") != std::string::npos;
    if (in_8_bits && read == read_torchtitan && !in.has("model.converters")) in.derive(Entry(*preset), "model.converters", "float8");
    if (!in.has(model_key)) in.entries.push_back({model_key, "", "preset"});  // what is not said comes from one
    const bool changed = count_like(in.entries, {"model_overrides.*"}) > 0;
    if (changed) std::erase_if(in.entries, [&](const Entry& entry) { return entry.key == model_key && entry.shown.empty(); });
    for (Entry& entry : in.entries)
        if (changed && (entry.key == "model.flavor" || entry.key == model_key)) entry.key = "changed." + entry.key;
    if (changed) in.entries.push_back({model_key, "", "changed"});
    read(in);
    std::erase_if(in.notes, [](const Text& note) { return note.id() == "import_plan.note.recipe"; });
    in.notes.emplace_back("import_plan.note.recipe");
    in.mark("hf_path", Fate::no_number);
}

// LoRA of its trainers, as a section or with names of their own; what is not said comes from a preset.
static void read_primus_adapters(Import& in) {
    const auto way = in.text("peft", "trained");  // of Megatron-Bridge, whose recipe says the rest
    if (way && *way != "lora" && *way != "none") refuse_mode(in, *way);
    if (in.on("use_lora", "trained") || way == "lora") {
        read_adapters(in, {"lora_rank", "lora_target_modules", "lora_dropout", "", lora_all});
        if (!in.has("lora_rank")) in.job.erase("lora_rank");
        if (!in.has("lora_target_modules")) in.job.erase("lora_targets");
        in.mark_all({"lora_*"}, Fate::no_number);
    }
    if (in.last("lora.enabled") == nullptr) return;
    if (in.on("lora.enabled", "trained")) {
        read_adapters(in, {"lora.dim", "lora.target_modules", "lora.dropout", "", lora_all});
        if (!in.has("lora.dim")) in.job.erase("lora_rank");
        if (!in.has("lora.target_modules")) in.job.erase("lora_targets");
    }
    in.mark_all({"lora.*"}, Fate::no_number);
}

// What every release of its presets leaves so: no recomputation, the sequence whole, 16 bits (primus/configs,
// modules/megatron/trainer_base.yaml and pre_trainer.yaml, models/megatron/language_model.yaml).
static void fill_primus(Import& in) {
    if (!in.has("recompute_layer_ids") && !in.hangs("recompute")) in.job.emplace("recompute", "none");
    if (!in.hangs("context_parallel")) in.job.emplace("context_parallel", 1);
    if (!in.hangs("precision")) in.job.emplace("precision", "bf16");
}

// Groups of experts, as far as the text and the model's name say them.
static void check_primus_experts(Import& in) {
    constexpr std::int64_t kMost = 1'048'576;
    const CatalogModel* known = model_of(in);
    const std::int64_t experts =
        in.whole({"num_experts", "num_moe_experts"}, "").value_or(known == nullptr ? 0 : known->model.experts.count);
    const std::int64_t parallel = in.job.value("expert_parallel", std::int64_t{1}), gpus = in.job.value("gpus", std::int64_t{0}),
                       stages = in.job.value("pipeline_parallel", std::int64_t{1});
    if (parallel <= 1 || parallel > kMost || stages < 1 || stages > kMost || in.hangs("expert_parallel")) return;
    if (experts > 1 && experts % parallel != 0)
        in.refused.push_back(Text("import_plan.refused.experts").with("experts", experts).with("parallel", parallel));
    if (gpus > 0 && gpus % (parallel * stages) != 0 && !in.hangs("pipeline_parallel") && !in.hangs("gpus"))
        in.refused.push_back(Text("import_plan.refused.expert_world").with("gpus", gpus).with("product", parallel * stages));
}

void read_primus(Import& in) {
    in.mark_all({"work_group", "user_name", "exp_name", "workspace", "modules.*.framework", "modules.*.config", "platform*"},
                Fate::no_number);
    if (has_framework(in, "torchtitan")) return read_below_primus(in, "config", read_torchtitan);
    if (has_framework(in, "maxtext")) return read_below_primus(in, "model_name", read_maxtext);
    for (Entry& entry : in.entries) {
        const std::size_t at = entry.key.find(".overrides.");
        if (entry.key.starts_with("modules.") && at != std::string::npos && entry.key.compare(at + 11, 5, "lora.") == 0)
            entry.key = entry.key.substr(at + 11);
        else if (entry.key.starts_with("modules.") && at != std::string::npos)
            entry.key = last_name(entry.key.substr(at + 11));
        else if (entry.key.starts_with("modules.") && entry.key.ends_with(".model"))
            entry.key = "primus.model";
    }
    drop_switched_off(in.entries);
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        Entry& entry = in.entries[i];
        if (entry.key == "fp8")
            in.become(entry, "fp8_format", entry.value);
        else if (entry.key == "fp4")
            in.become(entry, "fp4_format", entry.value);
        else if (entry.key == "precision_config" && (entry.value == Json("bf16_mixed") || entry.value == Json("fp16_mixed")))
            in.become(entry, entry.value == Json("bf16_mixed") ? "bf16" : "fp16", true);
        else if (entry.key == "recompute_layer_ids" && !entry.value.is_null())
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", entry.shown));
    }
    read_environment(in);
    in.ask("gpus");
    if (in.has("primus.model") && take_named_model(in, "primus.model")) resize_named_model(in);
    MegatronDefaults defaults{.silent = true, .dropout = 0, .needs_precision = false};
    read_megatron(in, defaults);
    fill_primus(in);
    ask_model(in);
    check_primus_experts(in);
    read_primus_adapters(in);
    if (in.on("enable_primus_turbo", "expert_dispatch") && in.on("use_turbo_deepep", "expert_dispatch"))
        in.job["expert_dispatch"] = "deepep";  // its dispatcher takes the flex one's place
    if (in.whole("turbo_sync_free_moe_stage", "").value_or(0) > 0)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "turbo_sync_free_moe_stage"));
    in.mark_all({"stderr_*", "file_sink*", "finetune_lr", "pretrained_checkpoint", "primus_turbo*", "enable_primus_turbo", "use_turbo*",
                 "moe_use_fused_router*", "disable_*", "pp_warmup", "turbo*", "hf_*", "dump_*", "iterations_*"},
                Fate::no_number);
}

}  // namespace fourfold
