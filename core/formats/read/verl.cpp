// verl 0.7 and 0.9: trainer/config/ppo_trainer.yaml with actor/, engine/, model/ and rollout/ beside it, sft_trainer.yaml. Of a run with
// rewards it is the actor's update: its model, FSDP or Megatron Core, its batch. What "param_offload" and "optimizer_offload" take away is
// back on the GPU while the actor learns (workers/engine/fsdp and megatron, to()); "offload_policy" is FSDP2's own.
#include <algorithm>

#include "base/text.h"
#include "formats/megatron/read.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/stacks.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "plan/plan.h"

namespace fourfold {

namespace {

constexpr std::string_view kActor = "actor_rollout_ref.actor.", kSamples = "actor_rollout_ref.rollout.n";

// Its sections, and what they are called here.
constexpr std::pair<std::string_view, std::string_view> kSections[] = {
    {"actor_rollout_ref.actor.megatron.override_transformer_config.", ""},
    {"actor_rollout_ref.actor.megatron.override_ddp_config.", ""},
    {"actor_rollout_ref.actor.optim.override_optimizer_config.", ""},
    {"actor_rollout_ref.actor.megatron.", ""},
    {"actor_rollout_ref.actor.fsdp_config.", "fsdp."},
    {kActor, "actor."},
    {"actor_rollout_ref.model.", "model."},
    {"model.fsdp_config.", "fsdp."},  // of fine-tuning
    {"engine.override_transformer_config.", ""},
    {"engine.override_ddp_config.", ""},
    {"engine.", "engine."}};

bool uses_megatron(Import& in) {
    for (const char* key : {"actor_rollout_ref.actor.strategy", "engine.strategy", "engine", "model_engine"})
        if (const auto way = in.text(key, "framework")) return *way == "megatron";
    return in.text("config_name", "").value_or("").find("megatron") != std::string::npos ||
           count_like(in.entries, {"actor_rollout_ref.actor.megatron.*", "engine.*model_parallel_size"}) > 0;
}

void unwrap(Import& in, bool megatron) {
    for (Entry& entry : in.entries)
        for (const auto& [from, to] : kSections) {
            if (!entry.key.starts_with(from)) continue;
            entry.key = joined({to == "engine." ? megatron ? "" : "fsdp." : to, std::string_view(entry.key).substr(from.size())});
            break;
        }
}

// Micro-batches of at most so many tokens on a GPU: where whole sequences fill them, that is their number.
void read_packed(Import& in) {
    const auto tokens = in.whole({"actor.ppo_max_token_len_per_gpu", "data.max_token_len_per_gpu"}, "micro_batch");
    const std::int64_t ranks = in.job.value("context_parallel", in.whole("context_parallel_size", "").value_or(1));
    const std::int64_t length = in.job.value("sequence_length", std::int64_t{0});
    if (tokens && *tokens > 0 && *tokens < 1'000'000'000 && ranks > 0 && ranks < 100'000 && length > 0 && *tokens * ranks % length == 0)
        return in.entries.push_back({"micro_batch_size", "", *tokens * ranks / length});
    in.notes.push_back(Text("import_plan.note.not_counted").with("key", "use_dynamic_bsz"));
}

// A number of sequences is said of prompts, each with so many answers. `packs`: micro-batches are of so many tokens.
void read_verl_batch(Import& in, bool packs) {
    const bool tunes = !in.has("actor.ppo_mini_batch_size");
    const auto prompts = in.whole({"actor.ppo_mini_batch_size", tunes ? "data.train_batch_size" : ""}, "global_batch");
    const std::int64_t answers = tunes ? 1 : in.whole(kSamples, "global_batch").value_or(1);
    if (prompts && *prompts > 0 && *prompts < 1'000'000 && answers > 0 && answers < 10'000 && !in.hangs("global_batch"))
        in.entries.push_back({"global_batch_size", "", *prompts * answers});
    if (packs) return read_packed(in);
    const auto micro = in.whole({"actor.ppo_micro_batch_size_per_gpu", "data.micro_batch_size_per_gpu"}, "micro_batch");
    const std::int64_t copies = in.job.contains("tensor_parallel") ? in.copies() : 0;  // the older name is of all of them
    const auto all = in.whole({"actor.ppo_micro_batch_size", "data.micro_batch_size"}, "micro_batch");
    if (micro)
        in.entries.push_back({"micro_batch_size", "", *micro});
    else if (all && copies > 0 && *all % copies == 0)
        in.entries.push_back({"micro_batch_size", "", *all / copies});
}

void read_verl_fsdp(Import& in) {
    in.set("context_parallel",
           in.whole({"actor.ulysses_sequence_parallel_size", "fsdp.ulysses_sequence_parallel_size", "ulysses_sequence_parallel_size"},
                    "context_parallel"));
    fill_transformers(in);
    if (in.job.value("context_parallel", 1) > 1) in.job["context_parallel_kind"] = "all_to_all";
    const bool second = in.text("actor.strategy", "fully_shard").value_or(in.text("model.strategy", "fully_shard").value_or("")) == "fsdp2";
    in.job["fully_shard"] = second ? "on" : "off";
    const bool again = !in.has("fsdp.reshard_after_forward") || in.on("fsdp.reshard_after_forward", "zero");
    in.job["zero"] = again ? "weights" : "gradients";
    // Gradients are shared out after every micro-batch (workers/actor/dp_actor.py, update_policy), until a setting came that says
    // otherwise.
    if (!in.on("fsdp.use_no_sync_for_gradient_accumulation", "sync_each_micro_batch")) in.job["sync_each_micro_batch"] = "on";
    const auto size = in.whole("fsdp.fsdp_size", "shard_replicas");
    const std::int64_t gpus = in.job.value("gpus", std::int64_t{0});
    if (size && *size > 0 && gpus > *size && gpus % *size == 0) in.job["shard_replicas"] = gpus / *size;
    const bool offloads = second ? in.on("fsdp.offload_policy", "weights_offload") : in.on("fsdp.cpu_offload", "weights_offload");
    if (offloads) {
        in.job["optimizer_offload"] = 1.0;
        in.job["weights_offload"] = true;
    }
    in.job["precision"] = in.text("fsdp.dtype", "precision") == "float16" ? "fp16" : "bf16";
    const auto type = in.text("fsdp.model_dtype", "master_weights");
    if (type && (type->starts_with("bf") || type->starts_with("bfloat"))) {
        in.job["moments"] = "16-bit";
        in.job["master_weights"] = "off";
        in.job["gradients_in_fp32"] = false;
    }
    const bool keeps = in.has("model.enable_gradient_checkpointing") && !in.on("model.enable_gradient_checkpointing", "recompute");
    if (!in.hangs("recompute") && !in.job.contains("recompute")) in.job["recompute"] = keeps ? "none" : "full";
    if (in.on("model.enable_activation_offload", "activation_offload")) in.job["activation_offload"] = 1.0;
    if (in.on("model.use_liger", "activation_fusion")) in.job["activation_fusion"] = "on";
    if (in.on("model.use_fused_kernels", "loss")) in.job["loss"] = "tiled";
    in.job["attention"] = "flash";
    if (in.whole("model.lora_rank", "trained").value_or(0) > 0)
        read_adapters(in, {"model.lora_rank", "model.target_modules", "", "", lora_all, 8, true});
}

// Which program makes the step: "engine=automodel" of a command, or the strategy that its file names.
std::string engine_of(Import& in) {
    for (const char* key : {"engine", "model_engine", "actor_rollout_ref.actor.strategy", "engine.strategy"})
        if (const auto way = in.text(key, "framework")) return *way;
    return "";
}

// NeMo Automodel (AutomodelEngineConfig, workers/engine/automodel/utils.py): its own words, below "engine." and "optim.".
void read_verl_automodel(Import& in) {
    constexpr std::pair<std::string_view, std::string_view> kEngineWords[] = {
        {"fsdp.distributed_strategy", "distributed.strategy"},
        {"fsdp.model_dtype", "model.torch_dtype"},
        {"fsdp.mp_reduce_dtype", "distributed.mp_policy.reduce_dtype"},
        {"fsdp.enable_fp8", "fp8.enabled"},
        {"fsdp.backend_config.dispatcher", "model.backend.dispatcher"}};
    const std::string rule = in.text("optim.optimizer", "moments").value_or("AdamW"),
                      from = in.text("optim.optimizer_impl", "moments").value_or("torch.optim");
    for (Entry& entry : in.entries) {
        const auto* const named =
            std::find_if(std::begin(kEngineWords), std::end(kEngineWords), [&](const auto& row) { return row.first == entry.key; });
        if (named != std::end(kEngineWords))
            entry.key = named->second;
        else if (entry.key.starts_with("fsdp."))
            entry.key.replace(0, 4, "distributed");
        else if (entry.key.starts_with("optim."))
            entry.key.replace(0, 5, "optimizer");
    }
    in.entries.push_back({"optimizer._target_", "", joined({from, ".", rule})});
    if (in.last("model.torch_dtype") == nullptr) in.entries.push_back({"model.torch_dtype", "", "fp32"});
    read_automodel_degrees(in);
    fill_pytorch(in);
    read_automodel_types(in);
    read_automodel_shards(in);
    in.job["attention"] = "flash";
    in.mark_all({"distributed.*", "optimizer.*", "model.*"}, Fate::no_number);
}

// torchtitan and VeOmni make steps of FSDP2 too, by names of their own (engine/torchtitan.yaml, engine/veomni.yaml).
void read_verl_others(Import& in, std::string_view engine) {
    constexpr KeyRow kRows[] = {
        {"fsdp.tensor_parallel_size", "tensor_parallel"},   {"fsdp.pipeline_parallel_size", "pipeline_parallel"},
        {"fsdp.context_parallel_size", "context_parallel"}, {"fsdp.ulysses_parallel_size", "context_parallel"},
        {"fsdp.expert_parallel_size", "expert_parallel"},   {"fsdp.data_parallel_replicate_size", "shard_replicas"}};
    read_rows(in, kRows);
    if (engine != "torchtitan") return;
    const std::string again = in.text("fsdp.activation_checkpoint", "recompute").value_or("selective");
    in.job["recompute"] = again == "selective" ? "operations" : again;
}

void read_verl_megatron(Import& in) {
    const std::pair<const char*, Json> kUnsaid[] = {{"tensor_model_parallel_size", 1}, {"pipeline_model_parallel_size", 1},
                                                    {"context_parallel_size", 1},      {"expert_model_parallel_size", 1},
                                                    {"sequence_parallel", true},       {"use_distributed_optimizer", true},
                                                    {"attention_backend", "flash"},    {"bf16", true}};
    for (const auto& [key, value] : kUnsaid)
        if (in.last(key) == nullptr) in.entries.push_back({key, "", value});
    constexpr std::string_view kAgain = "model.gradient_checkpointing_kwargs.activations_checkpoint_";  // of its first releases
    for (Entry& entry : in.entries)
        if (entry.key.starts_with(kAgain) && in.on("model.enable_gradient_checkpointing", "recompute"))
            entry.key = joined({"recompute_", std::string_view(entry.key).substr(kAgain.size())});
    read_megatron(in, {.silent = true, .needs_precision = false});
    std::erase_if(in.notes,
                  [](const Text& note) { return note.id() == "import_plan.note.recipe" || note.id() == "import_plan.note.no_model"; });
    if (in.whole("model.lora.rank", "trained").value_or(0) > 0) {  // of Megatron-Bridge
        const std::string way = in.text("model.lora.type", "trained").value_or("lora");
        if (way != "lora" && way != "canonical_lora") refuse_mode(in, way);
        read_adapters(in, {"model.lora.rank", "model.lora.target_modules", "model.lora.dropout", "", lora_all});
    }
    for (const char* key : {"*alpha", "*position", "*_method", "*merge", "*path", "*dtype", "*fully_sharded*", "*a2a*"})
        in.mark_all({joined({"model.lora.", key})}, Fate::no_number);
    in.partial = false;  // its own defaults are known: utils/megatron_utils.py, get_model(), of the gradients
    const bool reduces = !in.has("grad_reduce_in_fp32") || in.on("grad_reduce_in_fp32", "gradients_in_fp32");
    if (!in.hangs("gradients_in_fp32")) in.job["gradients_in_fp32"] = reduces;
    if (!in.job.contains("recompute") && !in.hangs("recompute")) in.job["recompute"] = "none";
}

}  // namespace

int verl_likeness(const std::vector<Entry>& entries) {
    const int actor = count_like(entries, {"actor_rollout_ref.*"});
    if (actor > 2) return actor;
    const int tunes =
        count_like(entries, {"data.micro_batch_size_per_gpu", "model.partial_pretrain", "data.prompt_key", "data.messages_key",
                             "engine.ulysses_sequence_parallel_size", "data.max_token_len_per_gpu", "trainer.default_local_dir"});
    return tunes > 1 && count_like(entries, {"model.partial_pretrain", "model.path"}) > 0 ? tunes : 0;
}

static constexpr std::string_view kQuietOfVerl[] = {"actor.*",
                                                    "fsdp.*",
                                                    "model.use_*",
                                                    "model.trust*",
                                                    "model.lora_alpha",
                                                    "model.external*",
                                                    "model.override*",
                                                    "model.custom*",
                                                    "model.enable_*",
                                                    "model.tokenizer*",
                                                    "model.exclude*",
                                                    "use_remove_padding",
                                                    "data.*",
                                                    "trainer.*",
                                                    "algorithm.*",
                                                    "critic.*",
                                                    "reward*",
                                                    "custom_reward*",
                                                    "optim.*",
                                                    "actor_rollout_ref.*",
                                                    "param_offload",
                                                    "grad_offload",
                                                    "optimizer_offload",
                                                    "hydra*",
                                                    "ray*",
                                                    "config_name",
                                                    "config_path",
                                                    "global_profiler*",
                                                    "use_*mbridge",
                                                    "vanilla_mbridge",
                                                    "use_dist_checkpointing",
                                                    "dist_checkpointing*",
                                                    "override_*",
                                                    "seed",
                                                    "engine",
                                                    "model",
                                                    "optim",
                                                    "checkpoint.*",
                                                    "model.mtp.*",
                                                    "dtype",
                                                    "working_dir",
                                                    "runtime_env*",
                                                    "address",
                                                    "no_wait"};
void read_verl(Import& in) {
    const bool rewards = count_like(in.entries, {"actor_rollout_ref.*"}) > 0, megatron = uses_megatron(in);
    const std::string engine = engine_of(in);
    const bool packs = in.on("actor_rollout_ref.actor.use_dynamic_bsz", "micro_batch") || in.on("data.use_dynamic_bsz", "micro_batch");
    unwrap(in, megatron);
    take_named_model(in, in.has("model.path") ? "model.path" : "model.partial_pretrain");
    const auto prompt = in.whole("data.max_prompt_length", "sequence_length"),
               answer = in.whole("data.max_response_length", "sequence_length");
    if (prompt && answer && *prompt > 0 && *answer > 0 && *prompt < 100'000'000 && *answer < 100'000'000)
        in.job["sequence_length"] = *prompt + *answer;
    else if (!rewards)
        in.set("sequence_length", in.whole("data.max_length", "sequence_length"));
    const auto nodes = in.whole("trainer.nnodes", "gpus"), each = in.whole("trainer.n_gpus_per_node", "gpus");
    if ((rewards || !in.job.contains("gpus")) && each && *each > 0 && *each < 1'000 && !in.hangs("gpus")) {
        in.job["gpus"] = *each * std::clamp<std::int64_t>(nodes.value_or(1), 1, 100'000);
        if (nodes && *nodes > 1) in.job["gpus_per_node"] = *each;
    }
    if (in.job.contains("sequence_length")) in.entries.push_back({"seq_length", "", in.job["sequence_length"]});
    if (megatron) {
        read_verl_batch(in, packs);
        read_verl_megatron(in);
    } else {
        if (engine == "automodel") {
            read_verl_automodel(in);
        } else {
            read_verl_others(in, engine);
            read_verl_fsdp(in);
        }
        read_verl_batch(in, packs);
        read_copies_batch(in, {"micro_batch_size", "", "global_batch_size"});
    }
    if (!in.has("micro_batch_size")) in.job.erase("micro_batch");
    in.mark_all(kQuietOfVerl, Fate::no_number);
    if (rewards) in.notes.emplace_back("import_plan.note.actor");
    in.asked.clear();
    ask_rest(in);
}

}  // namespace fourfold
