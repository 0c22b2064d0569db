// Megatron-Bridge 067f987df (overrides, recipes, its own arguments) and NeMo 2 at 8cfedd720: a recipe that is not part of the text sets
// what is not said, so only what is said is taken. Names below their sections are Megatron Core's.
#include <algorithm>

#include "base/text.h"
#include "formats/keys.h"
#include "formats/megatron/read.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/recipe_model.h"
#include "formats/read/recipe_precision.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "plan/plan.h"

namespace fourfold {

namespace {
// Other names of an argument; behind the last dot of a key.
struct Renamed {
    const char *from, *to;
};
constexpr Renamed kNames[] = {
    {"tensor_parallelism", "tensor_model_parallel_size"},
    {"pipeline_parallelism", "pipeline_model_parallel_size"},
    {"virtual_pipeline_parallelism", "virtual_pipeline_model_parallel_size"},
    {"context_parallelism", "context_parallel_size"},
    {"expert_parallelism", "expert_model_parallel_size"},
    {"expert_tensor_parallelism", "expert_tensor_parallel_size"},
    {"expert_model_parallelism", "expert_model_parallel_size"},
    {"sequence_parallelism", "sequence_parallel"},
    {"sequence_parallel_enabled", "sequence_parallel"},
    {"seq_len", "seq_length"},
    {"sequence_length", "seq_length"},
    {"tp_size", "tensor_model_parallel_size"},
    {"pp_size", "pipeline_model_parallel_size"},
    {"cp_size", "context_parallel_size"},
    {"vp_size", "virtual_pipeline_model_parallel_size"},
    {"ep_size", "expert_model_parallel_size"},
    {"etp_size", "expert_tensor_parallel_size"},
    {"mbs", "micro_batch_size"},
    {"gbs", "global_batch_size"},
    {"num_gpus_per_node", "devices"},
    {"gpus_per_node", "devices"},
    {"n_devices", "devices"},
    {"nodes", "num_nodes"},
    {"num_moe_experts", "num_experts"},
    {"enable_vboost", "vboost"},
    {"hf_model_id", "hf_path"},
    {"hf_model_name", "hf_path"},
    {"peft_scheme", "peft"},
    {"precision_config", "mixed_precision"},
    {"precision", "mixed_precision"},
    {"plugins", "mixed_precision"},
    {"fp8_param", "fp8_param_gather"},
    {"fp8_params", "fp8_param_gather"},
    {"tensor_parallel_size", "tensor_model_parallel_size"},  // of the performance scripts
    {"pipeline_parallel_size", "pipeline_model_parallel_size"},
    {"virtual_pipeline_parallel_size", "virtual_pipeline_model_parallel_size"},
    {"expert_parallel_size", "expert_model_parallel_size"},
    {"recompute_layers", "recompute_num_layers"},
    {"activation_offload_layers", "cpu_offloading_num_layers"},
    {"moe_a2a_overlap", "overlap_moe_expert_parallel_comm"},
};

// Sections whose settings are no sizes.
constexpr std::string_view kQuiet[] = {"checkpoint", "logger",     "tokenizer", "scheduler",           "rng",  "dist", "log",
                                       "resume",     "validation", "profiling", "rerun_state_machine", "blend"};
// What counts wherever it stands, beside Megatron-LM's names: "dist.use_megatron_fsdp", "tokenizer.vocab_size".
constexpr std::string_view kOurs[] = {"use_megatron_fsdp", "vocab_size", "virtual_pipeline_model_parallel_size",
                                      "expert_tensor_parallel_size"};

// Settings that have no effect on memory or time as they are counted here, or are objects whose settings are read.
constexpr std::string_view kNoNumber[] = {"name",
                                          "NAME",
                                          "performance_mode",
                                          "packed_sequence",
                                          "accumulate_grad*",
                                          "use_distributed_sampler",
                                          "average_in_collective",
                                          "gradient_as*",
                                          "target",
                                          "resume",
                                          "log",
                                          "dir",
                                          "max_steps",
                                          "*_interval",
                                          "warmup*",
                                          "max_lr",
                                          "*_every*",
                                          "callbacks",
                                          "comm_overlap",
                                          "batch_p2p*",
                                          "fn",
                                          "limit_*",
                                          "num_sanity*",
                                          "accelerator",
                                          "gc_*",
                                          "decay*",
                                          "use_mock",
                                          "paths*",
                                          "blend*",
                                          "load_*",
                                          "weights_*",
                                          "strategy",
                                          "trainer",
                                          "optim",
                                          "data",
                                          "model",
                                          "recipe",
                                          "cfg",
                                          "gradient_accumulation_fusion",
                                          "pipeline_dtype",
                                          "*_type",
                                          "ckpt*",
                                          "autocast*",
                                          "vboost",
                                          "path",
                                          "model_family_name",
                                          "model_size",
                                          "gpu",
                                          "task",
                                          "finetuning",
                                          "domain",
                                          "enable_checkpointing",
                                          "yes",
                                          "config_name",
                                          "time_limit",
                                          "hf_token",
                                          "nemo_home",
                                          "profiling_*",
                                          "profile_*",
                                          "enable_nsys",
                                          "custom_*",
                                          "container_*",
                                          "nv",
                                          "bind",
                                          "no_home",
                                          "pwd",
                                          "dryrun",
                                          "packager",
                                          "mock",
                                          "mode",
                                          "step_func",
                                          "additional_slurm*",
                                          "wandb*"};

std::string bare_name(std::string_view key) {
    const std::size_t cut = key.rfind('.');
    std::string name(cut == std::string_view::npos ? key : key.substr(cut + 1));
    std::replace(name.begin(), name.end(), '-', '_');
    for (const auto& [from, to] : kNames)
        if (name == from) return to;
    return name;
}

bool is_quiet(std::string_view key) {
    const std::string name = bare_name(key);
    const auto is_name = [&](const KeyRow& one) { return name == one.key; };
    if (std::find(std::begin(kOurs), std::end(kOurs), name) != std::end(kOurs) ||
        std::any_of(std::begin(kMegatronKeys), std::end(kMegatronKeys), is_name) ||
        std::any_of(std::begin(kMegatronSwitches), std::end(kMegatronSwitches), is_name))
        return false;
    for (std::size_t at = 0; at < key.size();) {
        const std::size_t end = key.find('.', at);
        if (end == std::string_view::npos) return false;
        const std::string_view section = key.substr(at, end - at);
        if (std::find(std::begin(kQuiet), std::end(kQuiet), section) != std::end(kQuiet)) return true;
        at = end + 1;
    }
    return false;
}

// "torch.bfloat16", "AttnBackend.flash"
void read_types(Import& in) {
    for (Entry& entry : in.entries) {
        const auto* text = entry.value.get_ptr<const Json::string_t*>();
        if (text == nullptr) continue;
        const std::string value = lower_case(*text);
        const bool is_type = entry.key.ends_with("_dtype");
        if (is_type && value.find("bfloat16") != std::string::npos)
            in.become(entry, entry.key, "bf16");
        else if (is_type && value.find("float32") != std::string::npos)
            in.become(entry, entry.key, "fp32");
        else if (is_type && (value.find("float8") != std::string::npos || value.find("uint8") != std::string::npos))
            in.become(entry, entry.key, "fp8");
        else if (entry.key == "attention_backend" && value.rfind('.') != std::string::npos)
            in.become(entry, entry.key, value.substr(value.rfind('.') + 1));
    }
}

void read_switches(Import& in) {
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        Entry& entry = in.entries[i];
        const auto* text = entry.value.get_ptr<const Json::string_t*>();
        if (entry.key == "optim" && text != nullptr && text->find("distributed_fused_adam") != std::string::npos) {
            in.become(entry, "use_distributed_optimizer", true);
            entry.open.clear();
        }
        if (!entry.open.empty()) continue;
        const bool off = entry.value == Json(false) || (entry.value.is_string() && lower_case(entry.value.get<std::string>()) == "false");
        if (entry.key == "grad_reduce_in_fp32") in.become(entry, off ? "grad_reduce_in_bf16" : "accumulate_allreduce_grads_in_fp32", true);
        if (entry.key == "overlap_p2p_comm" && off) in.become(entry, "no_overlap_p2p_communication", true);
        if (entry.value == Json("None") || entry.value == Json("null")) entry.value = nullptr;
    }
}

void read_gpus(Import& in) {
    const auto nodes = in.whole("num_nodes", "gpus"), each = in.whole("devices", "gpus");
    const auto all = in.whole("num_gpus", "gpus");
    // A Trainer of this text has one node unless it is told; a recipe's number is another file's.
    const bool own = each && in.last("num_nodes") == nullptr && !all && in.last("devices")->shown.ends_with("devices") &&
                     count_like(in.entries, {"recipe", "recipe_call"}) == 0;
    if (own && *each > 0 && *each < 1'000) {
        in.job["gpus"] = *each;
    } else if (nodes && each && *nodes > 0 && *each > 0 && *nodes < 1'000'000 && *each < 1'000) {
        in.job["gpus"] = *nodes * *each;
        if (*nodes > 1) in.job["gpus_per_node"] = *each;
    } else if (all && *all > 0) {
        in.job["gpus"] = *all;
        if (each && *each > 0 && *all > *each) in.job["gpus_per_node"] = *each;
    }
    in.ask("gpus");
}

// A recipe that the text calls by its name: "--recipe x", or a call in Python. "recipe = ..." is a variable.
bool is_recipe(const Entry& entry) {
    return entry.key == "recipe_call" || entry.key == "factory" ||
           (entry.key == "recipe" && (entry.shown.empty() || entry.shown[0] == '-'));
}

// Whether it is a fine-tuning by the names in it.
bool tunes(const Import& in) {
    if (in.has("tunes") || in.has("tunes_part") || in.job.value("trained", "") == "lora") return true;
    return std::any_of(in.entries.begin(), in.entries.end(), [](const Entry& entry) {
        if (entry.key == "peft") return !entry.value.is_null() && entry.value != Json("none") && entry.value != Json("None");
        if (!is_recipe(entry)) return false;
        const std::string name = entry.value.is_string() ? lower_case(entry.value.get<std::string>()) : "";
        return name.find("finetune") != std::string::npos || name.find("sft") != std::string::npos ||
               name.find("peft") != std::string::npos;
    });
}

// Megatron FSDP shards everything in Megatron-Bridge's pre-training (recipes/common.py), and nobody says what in its fine-tuning and in
// recipes of NeMo 2; PyTorch's shards everything.
void read_sharding(Import& in, bool bridge) {
    for (std::size_t i = 0; i < in.entries.size(); ++i) {  // run.Config(nl.FSDP2Strategy, ...), nl.FSDPStrategy()
        Entry made = in.entries[i];
        const auto* text = made.value.get_ptr<const Json::string_t*>();
        if (text == nullptr || made.key != "strategy" || text->find("nl.FSDP") == std::string::npos) continue;
        made.open.clear();
        in.derive(made, "use_torch_fsdp2", true);
        in.entries[i].key = "made.strategy";
    }
    for (Entry& entry : in.entries) {
        if (entry.key != "fsdp" || !entry.open.empty()) continue;
        if (entry.value == Json("megatron")) in.become(entry, "use_megatron_fsdp", true);
        if (entry.value == Json("pytorch")) in.become(entry, "use_torch_fsdp2", true);
    }
    if (in.has("data_parallel_sharding_strategy") || (bridge && !tunes(in))) return;
    for (Entry& entry : in.entries) {
        const bool off =
            entry.value.is_null() || entry.value == Json(false) || entry.value == Json("false") || entry.value == Json("False");
        if (entry.key != "use_megatron_fsdp" || off) continue;
        entry.key = "fsdp_alone";
        entry.fields = {"zero"};
        entry.fate = Fate::open;
    }
}

// The performance scripts and their presets (overrides.py, helpers.py; __post_init__ of WorkloadBaseConfig): layers mean blocks of them,
// modules mean the selective way, and sequence parallelism goes with tensor parallelism. Elsewhere modules alone say nothing.
void read_performance(Import& in) {
    const bool performance = in.has("performance");
    const auto argument = [&](const char* key) {
        const Entry* entry = performance && in.has(key) ? in.last(key) : nullptr;
        return entry != nullptr && entry->open.empty() && entry->shown.find('.') == std::string::npos ? entry : nullptr;
    };
    if (const Entry* tensor = argument("tensor_model_parallel_size"); tensor != nullptr && in.last("sequence_parallel") == nullptr)
        in.derive(*tensor, "sequence_parallel", in.whole("tensor_model_parallel_size", "tensor_parallel").value_or(1) > 1);
    if (in.last("recompute_granularity") != nullptr) return;
    if (const Entry* layers = argument("recompute_num_layers");
        layers != nullptr && in.whole("recompute_num_layers", "recompute_layers").value_or(0) > 0) {
        const Entry origin = *layers;
        in.derive(origin, "recompute_granularity", "full");
        in.derive(origin, "recompute_method", "block");
    } else if (const Entry* modules = argument("recompute_modules")) {
        in.derive(*modules, "recompute_granularity", "selective");
    } else if (in.has("recompute_modules")) {
        auto* alone = const_cast<Entry*>(in.last("recompute_modules"));
        alone->key = "modules_alone";
        alone->fields = {"recompute_modules"};
        alone->fate = Fate::open;
    }
}

// Whether an adapter has Megatron-Bridge's own sizes: an object LoRA(...) does, and not one of a recipe that is called and not part
// of the text.
bool has_own_sizes(const Import& in) {
    const bool object = std::any_of(in.entries.begin(), in.entries.end(), [](const Entry& entry) {
        return entry.key == "peft" && (entry.shown.ends_with("LoRA") || entry.shown.ends_with("_target_"));
    });
    return object || std::none_of(in.entries.begin(), in.entries.end(), is_recipe);
}

// Megatron-Bridge, peft/lora.py: LoRA of rank 32 on every matrix, where nothing else is said. A fine-tuning recipe of NeMo 2 and a
// "..._peft_config" train by LoRA unless they are told otherwise; those of Mamba know no part.
void read_part(Import& in) {
    constexpr std::int64_t kRank = 32;
    const bool mamba = std::any_of(in.entries.begin(), in.entries.end(), [](const Entry& entry) {
        return entry.key == "recipe_model" && entry.value.is_string() && entry.value.get<std::string>().starts_with("mamba");
    });
    const bool part = !mamba && in.has("tunes_part") && in.last("peft") == nullptr && in.on("tunes_part", "trained");  // open: a branch
    std::string way = part ? "lora" : "";
    for (Entry& entry : in.entries) {
        if (entry.key != "peft") continue;
        entry.fate = Fate::used;
        const auto* text = entry.value.get_ptr<const Json::string_t*>();
        if (text != nullptr && entry.open.empty() && !text->empty() && lower_case(*text) != "none" && lower_case(*text) != "false")
            way = lower_case(*text);
    }
    if (way.empty()) return;
    if (way != "lora" && way != "canonical_lora") return refuse_mode(in, way);
    for (Entry& entry : in.entries)
        if (entry.key == "peft" && entry.open.empty()) entry.fields = {"trained"};
    in.mark("alpha", Fate::no_number);
    const bool own = has_own_sizes(in);
    read_adapters(in, {"dim", "target_modules", "dropout", "", lora_all, kRank});
    if (in.hangs("lora_rank") || (!own && !in.has("dim"))) in.job.erase("lora_rank");
    if (!own && !in.has("target_modules")) in.job.erase("lora_targets");
}

// "recipe.trainer.num_nodes", "cfg.model.seq_length"; not "args.seq_length", which the command line says.
bool is_own_setting(std::string_view name) {
    const std::size_t first = name.find('.'), last = name.rfind('.');
    return first != last && name.find("args.") == std::string_view::npos && name.find_first_of("([ ") == std::string_view::npos;
}

// What an entry is called; an object that another function makes is no optimizer's name; an argument that is a recipe's own setting
// says nothing new.
void rename_all(Import& in) {
    std::optional<Entry> rank;
    const bool all = in.last("model.gated_linear_unit") != nullptr;  // run_config.yaml has all fields
    for (Entry& entry : in.entries) {
        if (is_quiet(entry.key)) {
            entry.fate = Fate::no_number;
            continue;
        }
        const bool adapter = entry.key.ends_with("peft._target_");
        if (all && entry.key == "model._target_") in.become(entry, "whole_model", true);
        if (entry.key.ends_with("peft.dim")) rank = entry;  // its object is one of LoRA, unless something else is said
        entry.key = bare_name(entry.key);
        const bool itself = entry.open.size() == 1 && is_own_setting(entry.open[0]) && bare_name(entry.open[0]) == entry.key;
        const auto* text = entry.value.get_ptr<const Json::string_t*>();
        if (adapter && text != nullptr) in.become(entry, "peft", lower_case(bare_name(*text)));
        if ((entry.key == "optimizer" && !entry.open.empty()) || itself) {
            entry.key = "made." + entry.key;
            entry.fate = Fate::no_number;
        }
    }
    if (rank && in.last("peft") == nullptr && !in.has("tunes_part")) in.derive(*rank, "peft", "lora");
    std::erase_if(in.entries, [](const Entry& entry) { return entry.key.empty(); });
    answer_vocabulary(in, in.answers);
}

void read_recipe(Import& in, bool bridge) {
    rename_all(in);
    in.mark_all(kNoNumber, Fate::no_number);
    read_types(in);
    read_switches(in);
    read_recipe_precision(in, bridge);
    read_sharding(in, bridge);
    read_performance(in);
    read_gpus(in);
    const bool whole = read_recipe_model(in, bridge);
    read_megatron(in, {.silent = true, .offload_fraction = 0, .dropout = 0, .needs_precision = false, .sizes = whole});
    if (const Entry* way = in.last("strategy");
        way != nullptr && way->value.is_string() && lower_case(way->value.get<std::string>()).starts_with("ddp"))
        in.job["zero"] = in.text("strategy", "zero") ? "none" : "";  // Lightning's own, which shares nothing out
    read_part(in);
    ask_model(in);
}

}  // namespace

int bridge_likeness(const std::vector<Entry>& entries) {
    if (count_like(entries, {"*system.*_parallel_size"}) > 0) return 0;  // FlagScale: Megatron-LM's arguments in sections
    return count_like(entries, {"model.*_parallel*", "model.seq_length*", "model.recompute*", "model.num_layers*", "train.*batch_size",
                                "ddp.*", "comm_overlap*", "cfg.*", "config.model.*", "hf_path"});
}
void read_bridge(Import& in) { read_recipe(in, true); }

int nemo2_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"*trainer.strategy.*", "tensor_parallelism", "*.tensor_parallelism", "recipe_model", "num_gpus_per_node",
                                "recipe.*", "pretrain.*", "*data.global_batch_size", "*model.config.*"});
}
void read_nemo2(Import& in) { read_recipe(in, false); }

}  // namespace fourfold
