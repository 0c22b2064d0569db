// NeMo 1: the YAML of its language models (examples/nlp/language_modeling/conf at 8cfedd720) and of NeMo-Framework-Launcher 26e42fa91,
// which has the same below "training". Nearly every name is Megatron-LM's; sizes are complete.
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

bool is_on(const Json& value) { return value == Json(true) || (value.is_string() && lower_case(value.get<std::string>()) == "true"); }
std::string text_of(const Json& value) {
    return value.is_string() ? lower_case(value.get<std::string>()) : value.is_null() ? "null" : dumped(value);
}

// One row: a key below "model", and what it says as an argument of Megatron-LM; "" = the key's own last part.
struct Row {
    const char* from;
    const char* to;
    bool inverted = false;
};
constexpr Row kRenames[] = {
    {"data.seq_length", "data_seq_length"},
    {"data.train_ds.max_seq_length", "seq_length"},  // fine-tuning: examples/nlp/language_modeling/tuning
    {"data.train_ds.micro_batch_size", "micro_batch_size"},
    {"data.train_ds.global_batch_size", "global_batch_size"},
    {"encoder_seq_length", "seq_length"},
    {"bias", "disable_bias_linear", true},
    {"share_embeddings_and_output_weights", "untie_embeddings_and_output_weights", true},
    {"optim.overlap_grad_sync", "overlap_grad_reduce"},
    {"optim.overlap_param_sync", "overlap_param_gather"},
    {"ub_tp_comm_overlap", "tp_comm_overlap"},
    {"num_moe_experts", "num_experts"},
    {"fp8_params", "fp8_param_gather"},
    {"use_flash_attention", "use_flash_attn"},
    {"overlap_p2p_comm", "no_overlap_p2p_communication", true},
    {"tokenizer.vocab_size", "vocab_size"},
    {"override_vocab_size", "vocab_size"},
};

// Settings that have no effect on memory or time as they are counted here, or are read under another name.
constexpr std::string_view kNoNumber[] = {"run.*",
                                          "*container*",
                                          "stages",
                                          "config_name",
                                          "config_path",
                                          "env_vars.*",
                                          "data_dir",
                                          "base_results_dir",
                                          "launcher_scripts_path",
                                          "trainer.*",
                                          "exp_manager.*",
                                          "data.*",
                                          "data_seq_length",
                                          "optim.*",
                                          "tokenizer.*",
                                          "hydra*",
                                          "defaults*",
                                          "name",
                                          "restore_from*",
                                          "off.*",
                                          "selective_method",
                                          "native_amp*",
                                          "fsdp_*",
                                          "validation_param*",
                                          "grad*",
                                          "transformer_*",
                                          "*_fusion",
                                          "num_micro_batches_with*",
                                          "activations_checkpoint_layers*",
                                          "megatron_amp_O2",
                                          "do_layer*",
                                          "batch_p2p*",
                                          "nsys*",
                                          "openai_*",
                                          "onnx*",
                                          "pre_process",
                                          "post_process",
                                          "persist*",
                                          "fp32_residual*",
                                          "fp16_lm*",
                                          "headscale",
                                          "normalize_attention*",
                                          "scale_positional*",
                                          "attention_type",
                                          "use_emha",
                                          "seq_len_interp*",
                                          "resume_from*",
                                          "apex*",
                                          "sync_batch*",
                                          "mcore_gpt",
                                          "ffn_dropout",
                                          "fp8_*",
                                          "gc_*",
                                          "reduce_amax",
                                          "cpu_offloading*",
                                          "delay*",
                                          "target",
                                          "training.*",
                                          "masked_*",
                                          "get_attention*",
                                          "no_ramp",
                                          "precision",
                                          "use_scaled*",
                                          "ub_tp*",
                                          "layernorm*",
                                          "bucket*",
                                          "contiguous*",
                                          "hysteresis"};

void rename(Import& in) {
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        Entry& entry = in.entries[i];
        std::string_view path = entry.key;
        if (path.starts_with("training.")) path.remove_prefix(9);
        if (!path.starts_with("model.")) {
            entry.key = path;
            continue;
        }
        path.remove_prefix(6);
        const auto row = std::find_if(std::begin(kRenames), std::end(kRenames), [&](const Row& one) { return path == one.from; });
        if (row == std::end(kRenames)) {
            entry.key = path;
        } else if (row->inverted) {
            in.become(entry, row->to, !is_on(entry.value));
        } else {
            entry.key = row->to;
        }
    }
}

// Hydra's own word for nothing.
void drop_null(Import& in) {
    for (Entry& entry : in.entries)
        if (entry.value == Json("null") || entry.value == Json("None")) entry.value = nullptr;
}

// Values that have other words, or that say two arguments at once.
void translate(Import& in) {
    const Entry* fp8 = in.last("fp8");
    const bool in_8_bits = fp8 != nullptr && is_on(fp8->value);
    for (std::size_t i = 0, count = in.entries.size(); i < count; ++i) {
        Entry& entry = in.entries[i];
        if (!entry.open.empty()) continue;
        const std::string value = text_of(entry.value), key = entry.key;
        if (key == "activation" && (value.find("swiglu") != std::string::npos || value.find("geglu") != std::string::npos ||
                                    value.find("reglu") != std::string::npos))
            in.become(entry, "swiglu", true);
        else if (key == "activation")
            entry.fate = Fate::no_number;  // without a gate they are all one shape
        else if (key == "normalization")
            in.become(entry, key, value.starts_with("rms") ? "RMSNorm" : "LayerNorm");
        else if (key == "num_query_groups" && !entry.value.is_null())
            in.derive(Entry(entry), "group_query_attention", true);
        else if (key == "trainer.precision" && value.starts_with("32"))
            in.notes.emplace_back("import_plan.note.fp32_named"), entry.fate = Fate::no_number;
        else if (key == "trainer.precision")
            in.become(entry, value.starts_with("bf16") ? "bf16" : value.starts_with("16") ? "fp16" : "precision", true);
        else if ((key == "fp8_hybrid" || key == "fp8_e4m3" || key == "fp8_param_gather" || key == "fp8") && !in_8_bits)
            entry.fate = Fate::no_number, entry.key = "off." + key;
        else if (key == "fp8") {
            in.become(entry, "fp8_on", true);
            if (!in.has("num_layers") && !in.has("fp8_hybrid") && !in.has("fp8_e4m3")) in.derive(Entry(entry), "fp8_hybrid", true);
        } else if (key == "optim.name" && (value == "mcore_distributed_optim" || value == "distributed_fused_adam"))
            in.become(entry, "use_distributed_optimizer", true);
        else if (key == "optim.grad_sync_dtype" && value.starts_with("bf"))
            in.become(entry, "grad_reduce_in_bf16", true);
        else if (key == "activations_checkpoint_method" &&
                 text_of(in.last("activations_checkpoint_granularity") != nullptr ? in.last("activations_checkpoint_granularity")->value
                                                                                  : Json()) == "selective")
            in.become(entry, "selective_method", entry.value);
        else if (key == "transformer_engine" && !entry.value.is_null())
            in.become(entry, "transformer_impl", is_on(entry.value) ? "transformer_engine" : "local");
        else if (key == "tokenizer.type")
            in.derive(Entry(entry), "tokenizer_type", entry.value);
        else if (key == "rampup_batch_size" && value == "null")
            entry.fate = Fate::no_number, entry.key = "no_ramp";
    }
}

void read_gpus(Import& in) {
    const auto nodes = in.whole("trainer.num_nodes", "gpus"), each = in.whole("trainer.devices", "gpus");
    if (nodes && each && *nodes > 0 && *each > 0 && *nodes < 1'000'000 && *each < 1'000) {
        in.job["gpus"] = *nodes * *each;
        if (*nodes > 1) in.job["gpus_per_node"] = *each;
    }
    in.ask("gpus");
}

// What it refuses (megatron_gpt_model.py), and what changes the memory and is not counted: weights stay in 32 bits without O2, and some
// layers or micro-batches may be kept.
void check(Import& in) {
    const Entry* level = in.last("megatron_amp_O2");
    const bool first_level = level != nullptr && level->open.empty() && !level->value.is_null() && !is_on(level->value);
    const auto note = [&](const std::string& key) { in.notes.push_back(Text("import_plan.note.not_counted").with("key", key)); };
    if (first_level) {
        note("megatron_amp_O2: False");
        for (const auto& [key, field] : {std::pair{"virtual_pipeline_model_parallel_size", "virtual_stages"},
                                         std::pair{"expert_model_parallel_size", "expert_parallel"}})
            if (in.has(key) && !in.hangs(field) && in.whole(key, field).value_or(1) > 1) refuse_both(in, "megatron_amp_O2=False", key);
    }
    if (in.on("overlap_param_gather", "overlap_parameters") && !in.hangs("overlap_gradients") && !in.on("overlap_grad_reduce", "") &&
        in.has("num_layers"))
        in.refused.emplace_back("import_plan.refused.gather_gradients");
    const bool in_8_bits = in.last("fp8_on") != nullptr && !in.hangs("precision");
    if (in_8_bits && in.has("num_layers") && !in.on("fp8_hybrid", "precision") && !in.on("fp8_e4m3", "precision"))
        in.refused.push_back(Text("import_plan.refused.needs").with("one", "fp8").with("other", "fp8_hybrid"));
    for (const char* key : {"activations_checkpoint_layers_per_pipeline", "num_micro_batches_with_partial_activation_checkpoints"})
        if (in.has(key)) note(key);
}

void read_fsdp(Import& in) {
    if (!in.on("fsdp", "zero")) return;
    const std::string what = lower_case(in.text("fsdp_sharding_strategy", "zero").value_or("full"));
    in.job["zero"] = what.starts_with("grad") ? "gradients" : "weights";
    if (const auto type = in.text("fsdp_grad_reduce_dtype", "gradients_in_fp32");
        type && !type->starts_with("32") && !type->starts_with("fp32"))
        in.job["gradients_in_fp32"] = false;
    if (what.starts_with("hybrid")) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "fsdp_sharding_strategy: hybrid"));
}

// LoRA of NeMo 1 (LoraPEFTConfig): the rank and the matrices stand in the YAML, which may be another file.
void read_part(Import& in) {
    const auto way = in.text("peft.peft_scheme", "trained");
    if (!way || lower_case(*way) == "none" || lower_case(*way) == "null") return;
    if (lower_case(*way) != "lora") return refuse_mode(in, *way);
    constexpr std::int64_t kRank = 32;
    read_adapters(in, {"peft.lora_tuning.adapter_dim", "peft.lora_tuning.target_modules", "peft.lora_tuning.adapter_dropout", "",
                       lora_query | lora_key | lora_value, kRank});
    if (!in.has("peft.lora_tuning.adapter_dim")) in.job.erase("lora_rank");
    if (count_like(in.entries, {"peft.lora_tuning.target_modules*"}) == 0) in.job.erase("lora_targets");
    for (const char* key : {"alpha", "*_init_method", "variant", "layer_selection", "weight_tying", "position_embedding_strategy", "norm_*",
                            "adapter_type", "a2a_experimental"})
        in.mark_all({joined({"peft.lora_tuning.", key})}, Fate::no_number);
}

// "restore_from_path=../mistral-7b.nemo": what is trained on has its sizes in that file, and often its name on it.
void take_restored_model(Import& in) {
    const auto path = in.text("restore_from_path", "");
    if (!path || !path->ends_with(".nemo") || in.job.contains("model") || in.hangs("model") || says_sizes(in)) return;
    const std::string name = path->substr(0, path->size() - 5);
    if (named_model(name) == nullptr) return;
    in.become(const_cast<Entry&>(*in.last("restore_from_path")), "restore_from_path", name);
    if (take_named_model(in, "restore_from_path"))
        std::erase_if(in.notes, [](const Text& note) { return note.id() == "import_plan.note.no_model"; });
}

}  // namespace

int nemo1_likeness(const std::vector<Entry>& entries) {
    if (const int launcher = count_like(entries, {"training.model.*"}); launcher > 0) return launcher;
    const int below = count_like(entries, {"model.*model_parallel_size", "training.model.*model_parallel_size", "*model.encoder_seq_length",
                                           "model.peft.peft_scheme", "model.data.train_ds.*"});
    return below > 0 ? count_like(entries, {"trainer.*", "training.trainer.*", "*model.encoder_seq_length", "exp_manager.*",
                                            "*model.megatron_amp_O2", "*model.activations_checkpoint*", "model.optim.*"})
                     : 0;
}

void read_nemo1(Import& in) {
    drop_null(in);
    rename(in);
    translate(in);
    in.mark_all(kNoNumber, Fate::no_number);
    answer_vocabulary(in, in.answers);
    read_gpus(in);
    in.on("fp8_on", "precision");
    // Changes of another file: NeMo's own megatron_gpt_config has the defaults of Megatron-LM.
    const auto file = in.text("config_name", "");
    const bool other = file && file->find("megatron_gpt_config") == std::string::npos;
    const bool launched = in.has("training");  // "training=llama/llama3_70b", of the launcher: what is not said stands in that file
    const bool whole = in.has("num_layers") && !other && !launched;
    read_megatron(in, {.silent = !whole, .needs_precision = whole, .sizes = !other});
    if (other) note_file(in, "config_name");
    if (const auto name = in.text("optim.name", "zero"); name && !in.job.contains("zero"))
        in.job["zero"] = "none";  // it shares nothing out
    read_fsdp(in);
    check(in);
    read_part(in);
    if (launched && !in.has("num_layers") && !in.has("hidden_size") && take_named_model(in, "training"))
        std::erase_if(in.notes, [](const Text& note) { return note.id() == "import_plan.note.no_model"; });
    take_restored_model(in);
    if (!whole) ask_model(in);
}

}  // namespace fourfold
