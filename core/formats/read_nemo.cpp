// Megatron-Bridge 067f987df (overrides, recipes, its own arguments) and NeMo 2 at 8cfedd720: a recipe that is not part of the text sets
// what is not said, so only what is said is taken. Names below their sections are Megatron Core's.
#include <algorithm>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read_jobs.h"
#include "formats/read_megatron.h"
#include "formats/readers.h"
#include "formats/trainers.h"
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
    {"num_attention_heads", "num_attention_heads"},
    {"enable_vboost", "vboost"},
    {"hf_model_id", "hf_path"},
    {"hf_model_name", "hf_path"},
    {"peft_scheme", "peft"},
    {"precision_config", "mixed_precision"},
    {"precision", "mixed_precision"},
    {"plugins", "mixed_precision"},
    {"fp8_param", "fp8_param_gather"},
};

// Words of a section whose settings are no sizes.
constexpr std::string_view kQuiet[] = {"checkpoint.", "logger.",     "tokenizer.", "scheduler.",          "rng.", "dist.", "log.",
                                       "resume.",     "validation.", "profiling.", "rerun_state_machine."};

std::string bare_name(std::string_view key) {
    const std::size_t cut = key.rfind('.');
    std::string name(cut == std::string_view::npos ? key : key.substr(cut + 1));
    std::replace(name.begin(), name.end(), '-', '_');
    for (const auto& [from, to] : kNames)
        if (name == from) return to;
    return name;
}

// "torch.bfloat16", "bf16_mixed", "bf16-mixed"
void read_types(Import& in) {
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        Entry& entry = in.entries[i];
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
        else if (entry.key == "mixed_precision" && entry.open.empty()) {
            const bool fp8 = value.find("fp8") != std::string::npos, fp4 = value.find("fp4") != std::string::npos;
            const bool fp16 = value.starts_with("fp16") || value.starts_with("16"),
                       bf16 = value.find("bf16") != std::string::npos || fp8 || fp4;
            if (!fp16 && !bf16) continue;
            in.become(entry, fp16 ? "fp16" : "bf16", true);
            const Entry origin = entry;
            if (fp8) in.derive(origin, "fp8_format", "hybrid");
            if (fp4) in.derive(origin, "fp4_format", "e2m1");
        }
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
    if (nodes && each && *nodes > 0 && *each > 0 && *nodes < 1'000'000 && *each < 1'000) {
        in.job["gpus"] = *nodes * *each;
        if (*nodes > 1) in.job["gpus_per_node"] = *each;
    } else if (all && *all > 0) {
        in.job["gpus"] = *all;
        if (each && *each > 0 && *all > *each) in.job["gpus_per_node"] = *each;
    }
    in.ask("gpus");
}

// Sizes beside a named model make it another one: that is asked for.
void read_model_name(Import& in) {
    for (const char* key : {"hf_path", "recipe_model", "recipe", "factory", "model_name", "NAME"})
        if (const Entry* entry = in.last(key); !in.job.contains("model") && entry != nullptr && entry->open.empty())
            take_named_model(in, key);
    const Entry* layers = in.last("num_layers");
    const Entry* hidden = in.last("hidden_size");
    if (!in.job.contains("model") || (layers == nullptr && hidden == nullptr)) return;
    const CatalogModel* named = catalog().model(in.job["model"].get<std::string>());
    const auto count = in.whole("num_layers", "model"), width = in.whole("hidden_size", "model");
    if (named == nullptr || ((!count || *count == named->model.layers) && (!width || *width == named->model.hidden))) return;
    if (width || !count || *count < 1 || *count > 2'000) {
        in.job.erase("model");
        return;
    }
    Json config = canonical_config(named->model);
    config["num_hidden_layers"] = *count;
    in.job["model"] = std::move(config);
}

// Megatron-Bridge, peft/lora.py: LoRA of rank 32 on every matrix, where nothing else is said.
void read_part(Import& in) {
    constexpr std::int64_t kRank = 32;
    std::string way;
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
    read_adapters(in, {"dim", "target_modules", "dropout", "", lora_all, kRank});
}

void read_recipe(Import& in) {
    for (Entry& entry : in.entries) {
        const bool quiet = std::any_of(std::begin(kQuiet), std::end(kQuiet),
                                       [&](std::string_view one) { return entry.key.find(one) != std::string::npos; });
        if (quiet)
            entry.fate = Fate::no_number;
        else
            entry.key = bare_name(entry.key);
    }
    std::erase_if(in.entries, [](const Entry& entry) { return entry.key.empty(); });
    in.mark_all({"name",
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
                 "path"},
                Fate::no_number);
    read_types(in);
    read_switches(in);
    read_gpus(in);
    read_model_name(in);
    read_megatron(in, {.silent = true, .offload_fraction = 0, .dropout = 0, .sharding = "no_shard", .needs_precision = false});
    read_part(in);
    ask_model(in);
}

}  // namespace

int bridge_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"model.*_parallel*", "model.seq_length*", "model.recompute*", "model.num_layers*", "train.*batch_size",
                                "ddp.*", "comm_overlap*", "cfg.*", "config.model.*", "hf_path"});
}
void read_bridge(Import& in) { read_recipe(in); }

int nemo2_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"*trainer.strategy.*", "tensor_parallelism", "*.tensor_parallelism", "recipe_model", "num_gpus_per_node",
                                "recipe.*", "pretrain.*", "*data.micro_batch_size", "*data.global_batch_size", "*model.config.*"});
}
void read_nemo2(Import& in) { read_recipe(in); }

}  // namespace fourfold
