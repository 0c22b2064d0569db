// nanotron 2411b022a: the product of the degrees is the number of GPUs there, and the batch is what one step accumulates on every copy. The
// model is a config.json below model.model_config.
#include <algorithm>

#include "base/text.h"
#include "formats/keys.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "model/model.h"

namespace fourfold {

namespace {

constexpr std::string_view kModel = "model.model_config.";

// Fields are set only where they can be multiplied without running over.
std::int64_t degree(Import& in, const DegreeRow& row) {
    if (!in.has(row.key)) return row.usual;
    const auto value = in.whole(row.key, row.field);
    return value && *value > 0 && *value <= 1'048'576 ? *value : 0;
}

void read_split(Import& in) {
    std::int64_t gpus = 1, copies = 0;
    bool known = true;
    for (const DegreeRow& row : kNanotronDegrees) {
        const std::int64_t value = degree(in, row);
        known = known && value > 0;
        if (std::string_view(row.field) == "data_parallel")
            copies = value;
        else if (value > 0)
            in.job[row.field] = value;
        const bool multiplies = std::string_view(row.field) != "expert_parallel";
        if (known && multiplies) gpus = gpus <= 16'777'216 / value ? gpus * value : 0;
        known = known && gpus > 0;
    }
    if (known) in.job["gpus"] = gpus;
    for (const DegreeRow& row : kNanotronDegrees)
        in.whole(row.key, row.key == std::string_view("parallelism.expert_parallel_size") ? "expert_parallel" : "gpus");
    in.ask("gpus");
    in.set("sequence_length", in.whole("tokens.sequence_length", "sequence_length"));
    in.set("micro_batch", in.whole("tokens.micro_batch_size", "micro_batch"));
    const auto steps =
        in.whole("tokens.batch_accumulation_per_replica", "global_batch").value_or(in.has("tokens.batch_accumulation_per_replica") ? 0 : 1);
    const std::int64_t micro = in.job.value("micro_batch", std::int64_t{0});
    if (copies > 0 && steps > 0 && micro > 0 && steps <= 1'048'576 && micro <= 65'536) in.job["global_batch"] = copies * steps * micro;
    for (const char* key : {"parallelism.dp", "tokens.micro_batch_size"}) in.whole(key, "global_batch");
    in.whole("tokens.micro_batch_size", "micro_batch");
}

void read_rest(Import& in) {
    const auto mode = in.text("parallelism.tp_mode", "sequence_parallel");
    in.job["sequence_parallel"] = mode && mode->find("REDUCE_SCATTER") != std::string::npos;
    if (mode && mode->find("REDUCE_SCATTER") == std::string::npos && mode->find("ALL_REDUCE") == std::string::npos)
        in.mark("parallelism.tp_mode", Fate::unknown);
    in.job["tensor_overlap"] = in.on("parallelism.tp_linear_async_communication", "tensor_overlap");
    if (in.has("parallelism.tp_recompute_allgather") && !in.on("parallelism.tp_recompute_allgather", "gathered_inputs"))
        in.job["gathered_inputs"] = "on";
    in.job["recompute"] = in.on("parallelism.recompute_layer", "recompute") ? "full" : "none";
    // Before recompute_layer (2023): the attention's core, or whole layers (config.py, RecomputeGranularity).
    if (const auto part = in.text("parallelism.recompute_granularity", "recompute")) {
        const std::string lower = lower_case(*part);
        if (lower == "selective" || lower == "full")
            in.job["recompute"] = lower;
        else
            in.mark("parallelism.recompute_granularity", Fate::unknown);
    }
    const auto stage = in.whole("optimizer.zero_stage", "zero");
    if (stage && *stage >= 0 && *stage <= 1)
        in.job["zero"] = *stage == 1 ? "optimizer" : "none";
    else if (stage)
        in.mark("optimizer.zero_stage", Fate::unknown);
    if (in.has("optimizer.accumulate_grad_in_fp32"))
        in.job["gradients_in_fp32"] = in.on("optimizer.accumulate_grad_in_fp32", "gradients_in_fp32");
    const auto type = in.text("model.dtype", "precision");
    if (type) {
        const bool half = *type == "float16" || *type == "torch.float16", brain = *type == "bfloat16" || *type == "torch.bfloat16";
        if (half || brain) in.job["precision"] = half ? "fp16" : "bf16";
        if (*type == "float32" || *type == "torch.float32")
            in.notes.emplace_back("import_plan.note.fp32_named");
        else if (!half && !brain)
            in.mark("model.dtype", Fate::unknown);
    }
    in.text("parallelism.pp_engine", "schedule");
    in.job["virtual_stages"] = 1;  // it has no interleaving
    const bool staged = in.job.value("pipeline_parallel", std::int64_t{1}) > 1;
    const std::string engine = in.text("parallelism.pp_engine", "").value_or(staged ? "afab" : "1f1b");  // config.py, ParallelismArgs
    if (engine == "afab" && staged)                                                                      // all forward, then all backward
        in.job["schedule"] = "gpipe";
    else if (engine != "1f1b" && staged)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "pp_engine: " + engine.substr(0, 40)));
    in.job["framework"] = "nanotron";
}

// Experts in every layer: LlaMoE's names (examples/moe) and Qwen2's moe_config. False: a shared one, or some layers alone.
bool read_experts(Import& in, Json& config) {
    const auto said = [&](const char* key) {
        const Entry* entry = in.last(std::string(kModel) + "moe_config." + key);
        return entry != nullptr && entry->open.empty() ? entry->value : Json();
    };
    if (count_like(in.entries, {"model.model_config.moe_config.*"}) > 0) {
        const Json layers = said("layers"), shared = said("enable_shared_expert"), number = said("num_experts"), each = said("top_k");
        if ((!layers.is_null() && layers != Json::array({-1})) || (!shared.is_null() && shared != Json(false))) return false;
        config["num_local_experts"] = number.is_null() ? Json(8) : number;  // MoEConfig
        config["num_experts_per_tok"] = each.is_null() ? Json(2) : each;
        for (const char* key : {"moe_config.num_experts", "moe_config.top_k"}) in.text(std::string(kModel) + key, "model");
    } else if (config.contains("moe_num_experts")) {
        config["num_local_experts"] = config["moe_num_experts"];
        config.erase("moe_num_experts");
        in.text(std::string(kModel) + "moe_num_experts", "model");
    } else {
        return true;
    }
    if (config["model_type"] == "starcoder2") config["layer_norm"] = true;
    if (config["model_type"] == "starcoder2" || config.value("moe_glu", Json()) == Json(false)) config["gated_mlp"] = false;
    config["model_type"] = "mixtral";
    return true;
}

void read_config(Import& in) {
    Json config = Json::object();
    for (Entry& entry : in.entries) {
        if (!std::string_view(entry.key).starts_with(kModel)) continue;
        const std::string name = entry.key.substr(kModel.size());
        if (name.find('.') == std::string::npos && entry.open.empty()) config[name] = entry.value;
    }
    // Its Qwen2 has biases of queries, keys and values where it is said, and none otherwise; its StarCoder2 has a head of keys and values
    // unless it says several, and no head of its own (models/starcoder2.py). GPT-3 of forks is that one with as many heads of keys and
    // values as others.
    const auto is = [&](const char* key) { return config.contains(key) && config[key] == Json(true); };
    const bool gpt = config.contains("sinusoidal_position_embedding"), starcoder = gpt || is("is_starcoder2_config");
    config["model_type"] = starcoder ? "starcoder2" : is("is_qwen2_config") && is("attention_bias") ? "qwen2" : "llama";
    if (config["model_type"] == "qwen2" && config.erase("attention_bias") > 0) in.text(joined({kModel, "attention_bias"}), "model");
    if (starcoder) {
        const char* heads = gpt ? "num_attention_heads" : "num_kv_heads";
        config["num_key_value_heads"] = (gpt || is("grouped_query")) && config.contains(heads) ? config[heads] : Json(1);
        config["sliding_window"] = config.value("sliding_window_size", Json());
        if (config.value("intermediate_size", Json()).is_null()) config.erase("intermediate_size");
    }
    if (starcoder || !config.contains("tie_word_embeddings")) config["tie_word_embeddings"] = starcoder;
    const bool known = read_experts(in, config);
    const bool no_words = config.contains("vocab_size") && (config["vocab_size"].is_null() || config["vocab_size"] == Json(-1));
    if (no_words) config["vocab_size"] = answered_words(in).value_or(1'024);  // to read the other sizes by
    Problems problems;
    ImportReport report;
    const auto model = config.contains("hidden_size") && known ? read_model(config, "", problems, report) : std::nullopt;
    if (starcoder)
        for (const char* key : {"num_kv_heads", "grouped_query", "multi_query", "sliding_window_size"})
            in.text(std::string(kModel) + key, "model");
    for (const std::string& key : report.used)
        if (const std::string full = std::string(kModel) + key; in.has(full)) in.text(full, "model");
    if (!model) {  // a fork's: none of its sizes is taken
        for (Entry& entry : in.entries)
            if (entry.key.starts_with(kModel) && entry.fate != Fate::open) entry.fate = Fate::unknown;
        return;
    }
    in.mark_all({"model.model_config.*"}, Fate::no_number);
    if (no_words && !answered_words(in))
        in.asked.emplace_back("vocab_size");
    else
        in.job["model"] = canonical_config(*model);
}

}  // namespace

int nanotron_likeness(const std::vector<Entry>& entries) {
    const int degrees = count_like(entries, {"parallelism.dp", "parallelism.tp", "parallelism.pp"});
    return degrees + count_like(entries, {"tokens.micro_batch_size", "tokens.batch_accumulation_per_replica", "model.model_config.*"}) >= 3
               ? 1
               : 0;
}

void read_nanotron(Import& in) {
    in.mark_all({"lighteval*",
                 "checkpoints.*",
                 "data_stages*",
                 "general.*",
                 "logging.*",
                 "tokenizer.*",
                 "profiler*",
                 "s3_upload*",
                 "metrics_logging*",
                 "tokens.*",
                 "optimizer.*",
                 "model.init_method*",
                 "model.make_vocab*",
                 "model.ddp_bucket*",
                 "model.model_config*",
                 "parallelism.moe_layer_recompute",
                 "slurm*",
                 "experiment_logger*",
                 "learning_rate_scheduler*",  // this and what follows: where its first releases have them
                 "data.*",
                 "profile",
                 "model.seed",
                 "model.tokenizer*",
                 "kill_switch*"},
                Fate::no_number);
    read_split(in);
    read_rest(in);
    read_config(in);
    in.job["expert_tensor_parallel"] = 1;  // its experts are whole (nn/moe.py, GroupedMLP)
    in.drop_open();
    for (const char* field : {"sequence_length", "micro_batch"}) in.ask(field);
    if (in.job.contains("gpus") && in.job.contains("micro_batch")) in.ask("global_batch");
    ask_model(in);
    in.settle();
}

}  // namespace fourfold
