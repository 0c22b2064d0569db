// Colossal-AI (booster/plugin of 0.3 to 0.5; examples/language/llama/benchmark.py, applications/Colossal-LLaMA/train.py,
// ColossalChat's train_sft.py): how a plugin shares out a training, as the programs' arguments or as those of the plugin itself.
#include <algorithm>

#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "plan/plan.h"

namespace fourfold {

int colossal_likeness(const std::vector<Entry>& entries) { return count_like(entries, {"colossalai"}); }

// The benchmark's own words for sizes of Llama.
static constexpr std::pair<std::string_view, std::string_view> kColossalSizes[] = {
    {"7b", "llama-2-7b"}, {"13b", "llama-2-13b"}, {"65b", "llama-65b"}, {"70b", "llama-2-70b"}};

static void read_colossal_model(Import& in) {
    const std::string size = in.text("config", "model").value_or("");
    for (const auto& [word, model] : kColossalSizes)
        if (word == size)
            if (const CatalogModel* const found = named_model(model)) return void(in.job["model"] = as_requested(*found));
    for (const char* key : {"pretrained", "config", "model_name_or_path", "model_path", "model"})
        if (in.has(key) && take_named_model(in, key)) return;
}

static void read_colossal_plugin(Import& in) {
    const std::string plugin = in.text("plugin", "zero").value_or("gemini");
    const auto starts = [&](std::string_view word) { return plugin.starts_with(word); };
    const bool host =
        plugin.ends_with("_cpu") || in.on("zero_cpu_offload", "optimizer_offload") || in.on("cpu_offload", "optimizer_offload");
    if (in.hangs("zero")) return;
    if (starts("3d") || starts("hybrid") || starts("moe")) {
        for (const char* key : {"zero", "zero_stage"})
            if (in.has(key)) read_zero_stage(in, key);
        if (!in.job.contains("zero") && !in.hangs("zero")) in.job["zero"] = "none";
    } else if (starts("zero") || starts("low_level_zero")) {
        const auto stage = in.whole("stage", "zero").value_or(starts("zero1") || (starts("low") && !in.has("stage")) ? 1 : 2);
        in.job["zero"] = stage == 1 ? "optimizer" : "gradients";
    } else if (starts("gemini") || starts("fsdp") || starts("torch_fsdp")) {
        in.job["zero"] = "weights";
    } else if (starts("ddp") || starts("torch_ddp")) {
        in.job["zero"] = "none";
    } else {
        in.mark("plugin", Fate::unknown);
    }
    if (host) in.job["optimizer_offload"] = 1.0;
    if (host && starts("fsdp")) in.job["weights_offload"] = true;
    if (const double part = in.number("offload_optim_frac", "optimizer_offload").value_or(0); part > 0 && part <= 1)
        in.job["optimizer_offload"] = part;
    // What moves between host and GPU as it runs, or is shared out in part
    if (plugin == "gemini_auto" || in.text("placement_policy", "") == "auto")
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "gemini_auto"));
    for (const auto& [key, usual] : {std::pair{"shard_param_frac", 1.0}, std::pair{"offload_param_frac", 0.0}})
        if (in.has(key) && in.number(key, "") != usual) in.notes.push_back(Text("import_plan.note.not_counted").with("key", key));
}

static void read_colossal_degrees(Import& in) {
    in.set("tensor_parallel", in.whole({"tp", "tp_size"}, "tensor_parallel"));
    in.set("pipeline_parallel", in.whole({"pp", "pp_size"}, "pipeline_parallel"));
    in.set("expert_parallel", in.whole({"ep", "ep_size"}, "expert_parallel"));
    const std::int64_t sequence = in.whole({"sp", "sp_size"}, "context_parallel").value_or(1);
    const std::string kind =
        in.text(in.has("sp_mode") ? "sp_mode" : "sequence_parallelism_mode", "context_parallel_kind").value_or("all_to_all");
    const bool among_tensor = kind == "split_gather" || kind == "ring";  // of the GPUs of tensor parallelism
    in.job["sequence_parallel"] = among_tensor && (sequence > 1 || in.on("enable_sequence_parallelism", "sequence_parallel"));
    if (!among_tensor && sequence > 1) {
        in.job["context_parallel"] = sequence;
        in.job["context_parallel_kind"] = kind == "ring_attn" ? "ring" : "all_to_all";
    }
    const auto chunks = in.whole({"n_chunks", "num_model_chunks"}, "virtual_stages");
    if (in.text("pp_style", "virtual_stages") == "interleaved" && chunks) in.job["virtual_stages"] = *chunks;
}

// A batch of a copy; a pipeline takes it in parts.
static void read_colossal_batch(Import& in) {
    const std::int64_t batch = in.whole({"batch_size", "micro_batch_size", "train_batch_size"}, "micro_batch").value_or(0),
                       copies = in.copies(),
                       steps = in.whole({"accumulation_steps", "grad_accum", "gradient_accumulation_steps"}, "global_batch").value_or(1);
    if (batch < 1 || batch > 65'536 || steps < 1 || steps > 65'536 || in.hangs("micro_batch")) return;
    std::int64_t micro = batch;
    if (in.job.value("pipeline_parallel", 1) > 1) {
        const auto parts = in.whole("num_microbatches", "micro_batch");
        micro = parts && *parts > 0 ? batch / *parts : in.whole({"mbs", "microbatch_size"}, "micro_batch").value_or(1);
        if (micro < 1 || batch % micro != 0)
            return in.refused.push_back(Text("import_plan.refused.batch").with("batch", batch).with("micro", micro).with("copies", 1));
    }
    in.job["micro_batch"] = micro;
    in.whole({"batch_size", "micro_batch_size", "train_batch_size"}, "global_batch");
    if (copies > 0 && !in.hangs("global_batch")) in.job["global_batch"] = batch * steps * copies;
}

static constexpr std::string_view kQuietOfColossal[] = {"colossalai",
                                                        "num_steps",
                                                        "ignore_steps",
                                                        "warmup*",
                                                        "memory_limit",
                                                        "profile",
                                                        "nsys",
                                                        "prefetch_num",
                                                        "no_cache",
                                                        "disable_async_reduce",
                                                        "overlap_allgather",
                                                        "dataset*",
                                                        "save*",
                                                        "num_epochs",
                                                        "max_epochs",
                                                        "lr",
                                                        "grad_clip",
                                                        "weight_decay",
                                                        "tensorboard*",
                                                        "log*",
                                                        "tokenizer*",
                                                        "padding_mode",
                                                        "host*",
                                                        "master_*",
                                                        "*_dir",
                                                        "enable_fused*",
                                                        "enable_jit*",
                                                        "enable_all*",
                                                        "initial_scale",
                                                        "max_norm",
                                                        "enable_metadata*",
                                                        "max_prefetch",
                                                        "enable_async*",
                                                        "verbose",
                                                        "config_file",
                                                        "enable_gradient_accumulation"};
void read_colossal(Import& in) {
    in.mark_all(kQuietOfColossal, Fate::no_number);
    read_colossal_model(in);
    in.set("sequence_length", in.whole({"max_length", "max_len", "seq_len"}, "sequence_length"));
    read_colossal_degrees(in);
    fill_pytorch(in);
    in.ask("gpus");
    read_colossal_batch(in);
    read_colossal_plugin(in);
    const std::string type =
        in.text(in.has("mixed_precision") ? "mixed_precision" : "precision", "precision").value_or(in.has("config") ? "bf16" : "fp16");
    if (type == "bf16" || type == "fp16")
        in.job["precision"] = type;
    else if (!in.hangs("precision"))
        in.notes.emplace_back("import_plan.note.fp32_named");
    in.job["gradients_in_fp32"] = false;
    const bool again =
        in.on("grad_checkpoint", "recompute") || in.on("use_grad_checkpoint", "recompute") || in.on("gradient_checkpointing", "recompute");
    if (!in.hangs("recompute") && !in.has("in_program")) in.job["recompute"] = again ? "full" : "none";
    if (in.on("xformers", "attention") || in.on("use_flash_attn", "attention") || in.on("enable_flash_attention", "attention"))
        in.job["attention"] = "flash";
    if (in.on("custom_ckpt", "")) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "--custom-ckpt"));
    if (in.whole("lora_rank", "lora_rank").value_or(0) > 0) read_adapters(in, {"lora_rank", "", "", "", lora_all});  // every Linear layer
    ask_rest(in);
}

}  // namespace fourfold
