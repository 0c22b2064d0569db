// InternEvo (configs/*.py; internlm/core/context/parallel_context.py, initialize/launch.py; before, InternLM's train.py): a dictionary for
// each part of a training. Its tensor parallelism is Megatron-LM's, or divides the sequence alone ("isp").
#include <algorithm>

#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

namespace fourfold {

int internevo_likeness(const std::vector<Entry>& entries) {
    const int own = count_like(entries, {"parallel.zero1*", "parallel.tensor*", "parallel.pipeline*", "data.micro_num", "data.micro_bsz"});
    return own > 2 || count_like(entries, {"internevo"}) > 0 ? own + 1 : 0;
}

static constexpr std::int64_t kMostOfEvo = 1'048'576;

// "tensor=dict(size=8)", or "tensor=8" before.
static std::int64_t evo_size(Import& in, const char* part, const char* field, std::int64_t usual) {
    const std::string key = std::string("parallel.") + part;
    return std::clamp(in.whole({key + ".size", key}, field).value_or(usual), -kMostOfEvo, kMostOfEvo);
}

// "MLP_RATIO = 8 / 3", which is no whole number: the one quotient that its files compute.
static std::optional<double> evo_ratio(Import& in) {
    const Entry* said = in.last("model.mlp_ratio");
    if (said != nullptr && said->open.size() == 1 && in.last(said->open[0]) != nullptr) said = in.last(said->open[0]);
    const std::string sum = said != nullptr && said->open.size() == 1 ? said->open[0] : "";
    const std::size_t cut = sum.find('/');
    if (cut == sum.npos) return in.number("model.mlp_ratio", "model");
    const auto above = number_in(sum.substr(0, cut)), below = number_in(sum.substr(cut + 1));
    if (!above || !below || *below <= 0) return in.number("model.mlp_ratio", "model");
    const_cast<Entry*>(in.last("model.mlp_ratio"))->open.clear();
    in.text("model.mlp_ratio", "model");
    return *above / *below;
}

static void read_evo_model(Import& in) {
    const auto size = [&](const char* key) { return in.whole(std::string("model.") + key, "model").value_or(0); };
    const std::int64_t hidden = size("hidden_size"), heads = size("num_attention_heads"), experts = size("num_experts");
    const double ratio = evo_ratio(in).value_or(4);
    if (hidden < 1 || hidden > 1'000'000 || ratio <= 0 || ratio > 100) return;
    constexpr std::int64_t kStep = 256;  // multiple_of of its feed-forward parts
    const std::int64_t width = (static_cast<std::int64_t>(static_cast<double>(hidden) * ratio) + kStep - 1) / kStep * kStep;
    const std::string type = in.text("model_type", "model").value_or("INTERNLM");
    Json config = {{"model_type", experts > 1 ? "mixtral" : "llama"},
                   {"hidden_size", hidden},
                   {"num_hidden_layers", size("num_layers")},
                   {"num_attention_heads", heads},
                   {"num_key_value_heads", in.whole("model.num_kv_attention_heads", "model").value_or(heads)},
                   {"intermediate_size", width},
                   {"vocab_size", size("vocab_size")},
                   {"max_position_embeddings", in.job.value("sequence_length", 2'048)},
                   {"attention_bias", type == "INTERNLM" && !in.on("model.no_bias", "model")}};
    if (const auto head = in.whole("model.head_dim", "model"); head && *head > 0) config["head_dim"] = *head;
    if (type.starts_with("QWEN3")) config["use_qk_norm"] = true;
    if (const std::int64_t shared = size("num_shared_experts"); shared > 0)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "num_shared_experts"));
    if (in.on("model.use_sliding_window", "model"))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "use_sliding_window"));
    if (experts > 1) {
        config["num_local_experts"] = experts;
        config["num_experts_per_tok"] = in.whole({"moe.top_k", "model.top_k"}, "model").value_or(1);
    }
    if (in.hangs("model")) return;
    take_sizes(in, config);
}

static void read_evo_degrees(Import& in) {
    const std::int64_t tensor = std::max<std::int64_t>(evo_size(in, "tensor", "tensor_parallel", 1), 1);
    const std::string mode = in.text("parallel.tensor.mode", "sequence_parallel").value_or("mtp");
    const bool sequence = mode == "isp" || mode == "intern";
    if (sequence) {
        in.text("parallel.tensor.mode", "context_parallel_kind");
        in.job["context_parallel"] = tensor;
        in.job["tensor_parallel"] = 1;
        if (tensor > 1) in.job["context_parallel_kind"] = "all_to_all";
    } else {
        in.job["tensor_parallel"] = tensor;
        in.job["sequence_parallel"] = tensor > 1 && (mode == "msp" || mode == "fsp" || mode == "megatron" || mode == "flash-attn" ||
                                                     in.on("parallel.sequence_parallel", "sequence_parallel"));
    }
    in.job["pipeline_parallel"] = std::max<std::int64_t>(evo_size(in, "pipeline", "pipeline_parallel", 1), 1);
    if (const auto chunks = in.whole("model.num_chunks", "virtual_stages"); chunks && *chunks >= 1 && *chunks <= 128)
        in.job["virtual_stages"] = *chunks;
    const auto order = in.text("parallel.pipeline.mode", "");
    if (order && *order != "1F1B" && *order != "1f1b")
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", order->substr(0, 40)));
    if (const std::int64_t weight = evo_size(in, "weight", "", 1); weight > 1)  // within groups of their own
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "parallel.weight.size: " + std::to_string(weight)));
}

// The optimizer is shared out among all copies unless it is told: among so many, or among none.
static void read_evo_zero(Import& in) {
    const std::int64_t size = evo_size(in, "zero1", "zero", -1), copies = in.copies();
    in.job["zero"] = in.on("parallel.zero1.fsdp", "zero") ? "weights" : size == 1 ? "none" : "optimizer";
    if (size > 1 && copies > size && copies % size == 0) {
        in.whole({"parallel.zero1.size", "parallel.zero1"}, "shard_replicas");
        in.job["shard_replicas"] = copies / size;
    }
    in.job["gradients_in_fp32"] = false;  // of the weights' type until the optimizer takes them
    in.job["overlap_gradients"] =
        !in.has("hybrid_zero_optimizer.overlap_sync_grad") || in.on("hybrid_zero_optimizer.overlap_sync_grad", "overlap_gradients");
    in.job["overlap_parameters"] = in.on("hybrid_zero_optimizer.overlap_sync_param", "overlap_parameters");
}

static void read_evo_experts(Import& in) {
    const std::int64_t experts = in.whole("model.num_experts", "").value_or(0);
    if (experts < 2) return in.mark_all({"parallel.expert*", "moe.*"}, Fate::no_number);
    const std::int64_t size = evo_size(in, "expert", "expert_parallel", -1), copies = in.copies();
    if (size > 0)
        in.job["expert_parallel"] = size;
    else if (copies > 0)
        in.job["expert_parallel"] = std::min(copies, experts);
    else
        in.job.erase("expert_parallel");
}

// "checkpoint": all layers, or the first of a stage by their share.
static void read_evo_recompute(Import& in) {
    const Entry* const said = in.last("model.checkpoint");
    const bool on = in.on("model.checkpoint", "recompute");
    const double share =
        said == nullptr || said->value.is_boolean() ? (on ? 1 : 0) : in.number("model.checkpoint", "recompute").value_or(0);
    if (in.hangs("recompute")) return;
    in.job["recompute"] = share <= 0 ? "none" : share >= 1 ? "full" : "block";
    const std::int64_t chunks = in.job.value("pipeline_parallel", std::int64_t{1}) * in.job.value("virtual_stages", std::int64_t{1});
    const std::int64_t layers = in.whole("model.num_layers", "").value_or(0) / std::max<std::int64_t>(chunks, 1);
    if (share > 0 && share < 1)
        in.job["recompute_layers"] = std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(layers) * share), 1);
}

static constexpr std::string_view kQuietOfInternEvo[] = {"internevo",
                                                         "settings_file",
                                                         "launcher",
                                                         "config",
                                                         "port",
                                                         "profiling",
                                                         "seed",
                                                         "ckpt*",
                                                         "JOB_NAME",
                                                         "DO_ALERT",
                                                         "*FOLDER*",
                                                         "CHECKPOINT*",
                                                         "grad_scaler*",
                                                         "hybrid_zero_optimizer.r*",
                                                         "hybrid_zero_optimizer.c*",
                                                         "adam.*",
                                                         "lr_scheduler*",
                                                         "beta2_scheduler*",
                                                         "cudnn*",
                                                         "monitor*",
                                                         "loss.*",
                                                         "use_fp32_norm",
                                                         "data.valid*",
                                                         "data.*folder",
                                                         "data.total_steps",
                                                         "data.skip_batches",
                                                         "data.min_length",
                                                         "data.empty*",
                                                         "data.diag*",
                                                         "data.pack*",
                                                         "data.type",
                                                         "data.tokenizer*",
                                                         "data.num_worker",
                                                         "data.use_*",
                                                         "data.is_multimodal",
                                                         "model.embed*",
                                                         "model.parallel_output",
                                                         "model.apply*",
                                                         "model.norm_type",
                                                         "model.layer_norm*",
                                                         "model.rope*",
                                                         "model.max_position*",
                                                         "model.qk_interleaved",
                                                         "model.use_dynamic*",
                                                         "model.qkv_bias",
                                                         "model.o_bias",
                                                         "model.mlp_bias",
                                                         "model.moe*",
                                                         "parallel.*overlap*",
                                                         "parallel.*memory_pool",
                                                         "parallel.weight.*",
                                                         "parallel.sequence_2D*",
                                                         "parallel.expert_*",
                                                         "parallel.expert.no_tp",
                                                         "enable_tb",
                                                         "*_PATH",
                                                         "SEQ_LEN",
                                                         "HIDDEN_SIZE",
                                                         "HEAD_DIM",
                                                         "NUM_*",
                                                         "MLP_RATIO",
                                                         "VOCAB_SIZE",
                                                         "metric_dtype",
                                                         "generation*"};
void read_internevo(Import& in) {
    in.mark_all(kQuietOfInternEvo, Fate::no_number);
    in.set("sequence_length", in.whole("data.seq_len", "sequence_length"));
    read_evo_degrees(in);
    read_evo_model(in);
    fill_pytorch(in);
    in.ask("gpus");
    read_evo_experts(in);
    read_copies_batch(in, {"data.micro_bsz", "data.micro_num", ""});
    if (const std::string ramp = in.text("data.rampup_batch_size", "global_batch").value_or(""); !ramp.empty())
        in.notes.push_back(Text("import_plan.note.ramp").with("ramp", ramp.substr(0, 60)));
    read_evo_zero(in);
    read_evo_recompute(in);
    const std::string type = in.text("model.dtype", "precision").value_or("bfloat16");
    if (type == "float16" || type == "bfloat16")
        in.job["precision"] = type == "float16" ? "fp16" : "bf16";
    else if (!in.hangs("precision"))
        in.notes.emplace_back("import_plan.note.fp32_named");
    in.job["attention"] = in.has("model.use_flash_attn") && !in.on("model.use_flash_attn", "attention") ? "plain" : "flash";
    leave_to_file(in);
    ask_rest(in);
}

}  // namespace fourfold
