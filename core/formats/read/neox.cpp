// gpt-neox: sizes and degrees under names of its own, data parallelism by DeepSpeed. Keys may be written with "-".
#include <algorithm>

#include "base/text.h"
#include "formats/megatron/read.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

namespace fourfold {

namespace {

struct Renamed {
    const char *from, *to;
};
constexpr Renamed kNames[] = {
    {"pipe_parallel_size", "pipeline_model_parallel_size"},
    {"model_parallel_size", "tensor_model_parallel_size"},
    {"num_kv_heads", "num_query_groups"},
    {"intermediate_size", "ffn_hidden_size"},
    {"no_weight_tying", "untie_embeddings_and_output_weights"},
    {"train_micro_batch_size_per_gpu", "micro_batch_size"},
    {"train_batch_size", "global_batch_size"},
    {"moe_num_experts", "num_experts"},
    {"moe_top_k", "moe_router_topk"},
    {"moe_expert_parallel_size", "expert_model_parallel_size"},
    {"moe_expert_interval", "moe_layer_freq"},
    {"expert_interval", "moe_layer_freq"},  // of forks
};

std::string text_of(const Json& value) { return value.is_string() ? lower_case(value.get<std::string>()) : dumped(value); }

// Of the three matrices of a gated feed-forward part "intermediate_size" holds a third each, padded to a multiple of 256
// (megatron/model/transformer.py, ParallelLinear of llama).
constexpr std::int64_t kStep = 256;
std::int64_t padded(std::int64_t width, std::int64_t step = kStep) { return (width + step - 1) / step * step; }
std::int64_t gated_width(std::int64_t given) { return padded(given / 3); }

// "regular", "llama" and a fork's "gated"; "?": another word. "": none is said.
std::string_view shape_of(const Import& in) {
    const Entry* kind = in.last("mlp_type");
    if (kind == nullptr || !kind->open.empty()) return "";
    const std::string said = text_of(kind->value);
    return said.find("llama") != std::string::npos ? "llama" : said == "gated" ? "gated" : said == "regular" ? "regular" : "?";
}

// Its older way to say gated: "mlp_type": "llama", whose width is two thirds of four times the hidden size unless it is said
// (LLaMAParallelMLP); "geglu" takes two of the four (ParallelMLP). A fork says "gated" for the first, with biases where they are asked for
// (Stability-AI/StableLM, configs: 5120 with multiples of 256 is the 13824 of StableLM 2 12B).
void translate_gates(Import& in) {
    const Entry *kind = in.last("mlp_type"), *activation = in.last("activation"), *hidden = in.last("hidden_size");
    const bool llama = shape_of(in) == "llama", gated = llama || shape_of(in) == "gated";
    const bool geglu = activation != nullptr && text_of(activation->value).find("geglu") != std::string::npos;
    if (!gated && !geglu) return;
    const Entry from = gated ? *kind : *activation;
    if (!in.has("ffn_hidden_size") && hidden != nullptr && hidden->value.is_number_integer()) {
        const std::int64_t width = std::clamp<std::int64_t>(hidden->value.get<std::int64_t>(), 0, 1'000'000);
        const std::int64_t step = std::clamp<std::int64_t>(in.whole("mlp_multiple_of", "model").value_or(kStep), 1, 65'536);
        in.derive(Entry(*hidden), "ffn_hidden_size", gated ? padded(width * 8 / 3, step) : width * 2);
    }
    if (llama) in.derive(from, "disable_bias_linear", true);
    in.derive(from, "swiglu", true);
}

// Every layer has experts and each token takes one, where nothing else is said (neox_args.py, transformer.py).
void fill_experts(Import& in) {
    const Entry* experts = in.last("num_experts");
    if (experts == nullptr || !experts->value.is_number() || experts->value.get<double>() <= 1) return;
    const Entry from = *experts;
    if (!in.has("moe_router_topk")) in.derive(from, "moe_router_topk", 1);
    if (!in.has("moe_layer_freq")) in.derive(from, "moe_layer_freq", 1);
}

void translate(Import& in) {
    const Entry* activation = in.last("activation");
    const bool gated = activation != nullptr && text_of(activation->value).find("swiglu") != std::string::npos;
    const Entry* half = in.last("fp16.type");
    const bool brain = half != nullptr && text_of(half->value).find("bf") != std::string::npos;
    for (std::size_t i = 0, count = in.entries.size(); i < count; ++i) {
        Entry& entry = in.entries[i];
        const std::string key = entry.key, value = text_of(entry.value);
        for (const auto& [from, to] : kNames)
            if (key == from) entry.key = to;
        if (!entry.open.empty()) continue;
        if (key == "pipe_parallel_size" && entry.value == Json(0))
            in.become(entry, entry.key, 1);
        else if (key == "activation" && gated)
            in.become(entry, "swiglu", true);
        else if (key == "activation" && value.find("geglu") == std::string::npos)
            entry.fate = Fate::no_number;  // without a gate they are all one shape
        else if (key == "norm")
            in.become(entry, "normalization", value.find("rms") != std::string::npos ? "RMSNorm" : "LayerNorm");
        else if (key == "pos_emb")
            in.become(entry, "position_embedding_type", value == "learned" ? "learned_absolute" : value);
        else if (key == "intermediate_size" && gated && entry.value.is_number_integer())
            in.become(entry, "ffn_hidden_size", gated_width(std::clamp<std::int64_t>(entry.value.get<std::int64_t>(), 0, 100'000'000)));
        else if (key == "num_kv_heads" && !entry.value.is_null())
            in.derive(Entry(entry), "group_query_attention", true);
        else if (key == "use_bias_in_mlp" && value == "false")
            in.become(entry, "disable_bias_linear", true);
        else if (key == "use_bias_in_attn_linear" && value == "false")
            in.become(entry, "disable_attention_bias", true);
        else if ((key == "bf16.enabled" && value == "true") || (key == "precision" && (value == "bfloat16" || value == "bf16")) ||
                 (key == "fp16.type" && value.starts_with("b")))
            in.become(entry, "bf16", true);
        else if ((key == "fp16.enabled" && value == "true" && !brain) || (key == "precision" && value.starts_with("fp16")))
            in.become(entry, "fp16", true);
        else if (key == "gradient_accumulation_steps")
            entry.key = "accumulation";
    }
    const Entry* hidden = in.last("hidden_size");
    if (gated && !in.has("ffn_hidden_size") && hidden != nullptr && hidden->value.is_number_integer())
        in.derive(*hidden, "ffn_hidden_size", gated_width(std::clamp<std::int64_t>(hidden->value.get<std::int64_t>(), 0, 1'000'000) * 4));
    translate_gates(in);
    fill_experts(in);
}

// [[["flash"], 24]], or ["flash"]; where nothing is said, its plain attention (arguments.py).
void read_attention_kinds(Import& in) {
    bool flash = false, said = false;
    for (Entry& entry : in.entries) {
        if (!entry.key.starts_with("attention_config")) continue;
        if (!entry.open.empty()) return;
        entry.fate = Fate::used;
        entry.fields = {"attention"};
        flash = flash || dumped(entry.value).find("flash") != std::string::npos;
        said = said || dumped(entry.value).find("global") != std::string::npos;
    }
    flash = in.on("te_mha", "attention") || flash;  // Transformer Engine's, which stores no scores
    in.job["attention"] = flash ? "flash" : "plain";
    const bool fused = in.on("scaled_upper_triang_masked_softmax_fusion", "softmax_fusion");
    if (!flash && !fused && !in.hangs("softmax_fusion")) in.job["softmax_fusion"] = "off";
    if (flash && said) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "attention_config"));
}

// What would be left out in silence.
void note_uncounted(Import& in, std::initializer_list<const char*> switches) {
    for (const char* key : switches)
        if (in.on(key, "")) in.notes.push_back(Text("import_plan.note.not_counted").with("key", key));
}

// DeepSpeed's pipeline takes any number of layers.
void take_any_layers(Import& in) {
    if (in.job.value("pipeline_parallel", std::int64_t{1}) > 1)
        std::erase_if(in.refused, [](const Text& one) { return one.id() == "import_plan.refused.layers"; });
}

}  // namespace

int neox_likeness(const std::vector<Entry>& entries) {
    const bool training =
        count_like(entries, {"zero_optimization.*"}) > 0 && count_like(entries, {"checkpoint?num?layers", "lr?decay?iters"}) == 2;
    return count_like(entries, {"pipe?parallel?size"}) + (training ? 3 : 0) +
           (count_like(entries, {"train_micro_batch_size_per_gpu"}) > 0 ? count_like(entries, {"num?layers", "hidden?size"}) : 0);
}

// Of the batch, its part and its steps two say the third (megatron/neox_arguments/arguments.py, calculate_batch_parameters).
static void take_micro_batch(Import& in, std::int64_t steps) {
    const std::int64_t batch = in.job.value("global_batch", std::int64_t{0}), copies = in.copies();
    if (in.has("micro_batch_size") || steps < 1 || steps > 1'048'576 || copies < 1 || copies > 1'048'576) return;
    if (batch < 1 || batch % (copies * steps) != 0) return;
    in.job["micro_batch"] = batch / (copies * steps);
    std::erase(in.asked, "micro_batch");
}

void read_neox(Import& in) {
    for (Entry& entry : in.entries) std::replace(entry.key.begin(), entry.key.end(), '-', '_');
    translate(in);
    in.mark_all({"zero_optimization.*",
                 "optimizer*",
                 "attention_config*",
                 "scaled_upper*",
                 "fp16.*",
                 "bf16.*",
                 "rotary*",
                 "gpt_j*",
                 "output_layer*",
                 "steps_per_print",
                 "keep_last*",
                 "wall_clock*",
                 "partition*",
                 "synchronize*",
                 "launcher",
                 "deepspeed*",
                 "pipe_partition*",
                 "*_fusion",
                 "gradient_clipping",
                 "use_wandb",
                 "hostfile",
                 "no_ssh*",
                 "intermediate*",
                 "mlp_type",
                 "mlp_multiple_of",
                 "use_bias_in_norms",
                 "pipe_partition*",
                 "rms_norm*",
                 "train_data*"},
                Fate::no_number);
    if (shape_of(in) == "?") in.mark("mlp_type", Fate::unknown);
    answer_vocabulary(in, in.answers);
    const auto steps = in.whole("accumulation", "global_batch");
    in.set("gpus", in.whole("global_num_gpus", "gpus"));  // neox_args.py: of all nodes
    read_world(in, {"micro_batch_size", "accumulation", "global_batch_size"},
               {"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"});
    in.ask("gpus");
    read_megatron(in, {.dropout = 0, .needs_precision = false});
    const std::int64_t batch = in.job.value("global_batch", std::int64_t{0});
    if (steps && *steps > 1 && *steps <= 1'048'576 && batch > 0 && batch < 1'000'000'000 && !in.has("global_batch_size"))
        in.job["global_batch"] = batch * *steps;
    take_micro_batch(in, steps.value_or(0));
    for (const char* key : {"num_gpus", "include"}) in.mark(key, Fate::unknown);  // of one node, and the nodes stand elsewhere
    in.job["zero"] = "none";
    read_zero_block(in);
    if (!in.has("bf16") && !in.has("fp16")) in.job.erase("precision");  // another of its files may say it
    settle_deepspeed_types(in);
    read_attention_kinds(in);
    read_trainer_optimizer(in, "optimizer.type");
    if (in.on("use_bnb_optimizer", "moments")) in.job["moments"] = "8-bit";  // bitsandbytes' Adam8bit (megatron/training.py)
    if (in.has("te_fp8_format")) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "te_fp8_format"));
    if (in.job.value("tensor_parallel", std::int64_t{1}) > 1) note_uncounted(in, {"partition_activations"});
    in.job["framework"] = "megatron-deepspeed";
    in.job["virtual_stages"] = 1;  // DeepSpeed's pipeline has no interleaving
    take_any_layers(in);
    in.drop_open();
}

// One way to divide layers counts the embeddings as layers too.
static void read_partition(Import& in) {
    const bool pipeline = in.job.value("pipeline_parallel", std::int64_t{1}) > 1;
    if (const auto method = in.text("pp_partition_method", "count_embedding_as_layer");
        pipeline && method && method->find("transformer") != std::string::npos && method->find("embedding") != std::string::npos) {
        in.text("pp_partition_method", "count_loss_as_layer");
        in.job["count_embedding_as_layer"] = in.job["count_loss_as_layer"] = true;
    }
    take_any_layers(in);
}

constexpr std::string_view kQuietOfDeepSpeed[] = {"deepspeed",
                                                  "deepspeed_activation*",
                                                  "deepspeed_mpi",
                                                  "use_pin_memory",
                                                  "universal*",
                                                  "no_pipeline_parallel",
                                                  "zero_optimization.*",
                                                  "steps_per_print",
                                                  "gradient_*",
                                                  "use_flash_attn*",
                                                  "zero_*bucket*",
                                                  "comms_logger*",
                                                  "fp16.*",
                                                  "bf16.*",
                                                  "optimizer.*",
                                                  "scheduler.*",
                                                  "wall_clock*",
                                                  "prescale*",
                                                  "zero_allow*",
                                                  "data_types.*",
                                                  "memory_*",
                                                  "aio*",
                                                  "zero_contigious_gradients",
                                                  "zero_reduce_scatter",
                                                  "contigious_checkpointing",
                                                  "synchronize_each_layer",
                                                  "profile_backward",
                                                  "flops_profiler*",
                                                  "tensorboard.*"};

// ---- Megatron-DeepSpeed: Megatron-LM's arguments, and what is DeepSpeed's.
void add_deepspeed(Import& in, const std::vector<Entry>& document) {
    in.entries.insert(in.entries.end(), document.begin(), document.end());
    drop_auto(in);
    if (in.has("zero_stage") || in.has("zero_optimization.stage")) in.job["zero"] = "none";
    read_zero_block(in);
    read_zero_stage(in, "zero_stage");
    if (in.has("ds_sequence_parallel_size")) in.job["context_parallel_kind"] = "all_to_all";  // Ulysses
    if (in.on("no_pipeline_parallel", "pipeline_parallel")) in.job["pipeline_parallel"] = 1;
    if (in.on("cpu_optimizer", "optimizer_offload") && !in.job.contains("optimizer_offload")) in.job["optimizer_offload"] = 1.0;
    if (in.on("deepspeed_activation_checkpointing", "recompute") && in.on("checkpoint_activations", "recompute"))
        in.job["recompute"] = "full";
    const bool bf16 = in.on("bf16.enabled", "precision"), fp16 = in.on("fp16.enabled", "precision");
    if (!in.has("bf16") && !in.has("fp16") && (bf16 || fp16)) in.job["precision"] = bf16 ? "bf16" : "fp16";
    if (bf16 || fp16) std::erase_if(in.notes, [](const Text& note) { return note.id() == "import_plan.note.fp32"; });
    read_world(in, {"train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "train_batch_size"},
               {"tensor_model_parallel_size", "pipeline_model_parallel_size", "ds_sequence_parallel_size"});
    const auto micro = in.whole("train_micro_batch_size_per_gpu", "micro_batch"), batch = in.whole("train_batch_size", "global_batch");
    if (micro && *micro > 0 && !in.has("micro_batch_size")) in.job["micro_batch"] = *micro;
    const auto steps = in.whole("gradient_accumulation_steps", "global_batch");
    if (batch && *batch > 0 && !in.has("global_batch_size"))
        in.job["global_batch"] = *batch;
    else if (const std::int64_t copies = in.copies(), each = in.job.value("micro_batch", std::int64_t{0});
             steps && each > 0 && copies > 0 && !in.has("global_batch_size"))
        in.job["global_batch"] = std::min<std::int64_t>(each, 65'536) * std::clamp<std::int64_t>(*steps, 1, 65'536) * copies;
    in.job["framework"] = "megatron-deepspeed";
    read_partition(in);
    const bool elsewhere = in.has("deepspeed_config") && document.empty();
    if (elsewhere && !in.has("zero_stage")) {  // a file that is not here says it
        in.job.erase("zero");
        in.mark("deepspeed_config", Fate::unknown);
    } else {
        in.mark_all({"deepspeed_config"}, Fate::no_number);
    }
    settle_deepspeed_types(in);
    if (elsewhere) in.job.erase("gradients_in_fp32");
    for (const char* key : {"use_flash_attn_builder", "use_flash_attn_triton"})
        if (in.on(key, "attention")) in.job["attention"] = "flash";
    if (!in.job.contains("attention") && !in.hangs("attention")) in.job["attention"] = "plain";
    note_uncounted(in, {"memory_centric_tiled_linear", "partition_activations", "checkpoint_in_cpu"});
    in.mark_all(kQuietOfDeepSpeed, Fate::no_number);
    in.drop_open();
    std::erase_if(in.asked, [&](const std::string& field) { return in.job.contains(field); });
}

}  // namespace fourfold
