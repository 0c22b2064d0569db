// What a script sets by convention for another one: names of a job's arguments in the environment.
#include <algorithm>

#include "formats/script_commands.h"

namespace fourfold {

namespace {

// Megatron-MoE-ModelZoo; Argonne's Megatron-DeepSpeed, ALCF/helpers.sh; AMD's examples of Megatron-LM (train_llama3.sh, train_qwen3.sh).
constexpr std::pair<std::string_view, const char*> kByConvention[] = {{"TP", "tensor_model_parallel_size"},
                                                                      {"TP_SIZE", "tensor_model_parallel_size"},
                                                                      {"PP", "pipeline_model_parallel_size"},
                                                                      {"PP_SIZE", "pipeline_model_parallel_size"},
                                                                      {"CP", "context_parallel_size"},
                                                                      {"CP_SIZE", "context_parallel_size"},
                                                                      {"EP", "expert_model_parallel_size"},
                                                                      {"EP_SIZE", "expert_model_parallel_size"},
                                                                      {"ETP", "expert_tensor_parallel_size"},
                                                                      {"ETP_SIZE", "expert_tensor_parallel_size"},
                                                                      {"VPP", "num_virtual_stages_per_pipeline_rank"},
                                                                      {"MBS", "micro_batch_size"},
                                                                      {"GBS", "global_batch_size"},
                                                                      {"SEQ_LEN", "seq_length"},
                                                                      {"MICRO_BATCH_SIZE", "micro_batch_size"},
                                                                      {"GLOBAL_BATCH_SIZE", "global_batch_size"},
                                                                      {"SEQ_LENGTH", "seq_length"},
                                                                      {"SEQLEN", "seq_length"},
                                                                      {"TRAIN_ITERS", "train_iters"},
                                                                      {"NUM_LAYERS", "num_layers"},
                                                                      {"HIDDEN_SIZE", "hidden_size"},
                                                                      {"MICRO_BATCH", "micro_batch_size"},
                                                                      {"GLOBAL_BATCH", "global_batch_size"},
                                                                      {"GRAD_ACC_STEPS", "gradient_accumulation_steps"},
                                                                      {"SEQ", "seq_length"},
                                                                      {"NLAYERS", "num_layers"},
                                                                      {"HIDDEN", "hidden_size"},
                                                                      {"HEADS", "num_attention_heads"},
                                                                      {"NUM_KV_HEAD", "num_key_value_heads"},
                                                                      {"FFN_HIDDEN_SIZE", "ffn_hidden_size"},
                                                                      {"ZERO_STAGE", "zero_stage"}};

}  // namespace

// AMD's "AC": full recomputation, of the method and the layers beside it, or what Megatron-LM selects.
static void add_recomputation(const ShellCommand& command, Import& in) {
    std::string way, method = "block", layers = "1";
    for (const auto& [name, value] : command.settings) {
        if (name == "AC") way = value;
        if (name == "RECOMPUTE_METHOD" && !value.empty()) method = value;
        if (name == "RECOMPUTE_NUM_LAYERS" && !value.empty()) layers = value;
    }
    if (in.has("recompute_granularity") || in.has("recompute_activations")) return;
    if (way == "sel") in.entries.push_back({"recompute_activations", "AC", true, command.line});
    if (way != "full") return;
    in.entries.push_back({"recompute_granularity", "AC", way, command.line});
    in.entries.push_back({"recompute_method", "RECOMPUTE_METHOD", method, command.line, open_names(method)});
    in.entries.push_back({"recompute_num_layers", "RECOMPUTE_NUM_LAYERS", layers, command.line, open_names(layers)});
}

void add_settings(const ShellCommand& command, Import& in) {
    for (const auto& [name, key] : kByConvention)
        for (const auto& [given, value] : command.settings)
            // A layout counts before the number of its chunks, which is for where there is none.
            if (given == name && !value.empty() && !in.has(key) && (given != "VPP" || !in.has("pipeline_model_parallel_layout"))) {
                Entry entry{key, given, value, command.line};
                entry.open = open_names(value);
                in.entries.push_back(std::move(entry));
            }
    if (sets_a_job(command)) add_recomputation(command, in);
}

bool sets_a_job(const ShellCommand& command) {
    const auto has = [&](std::initializer_list<std::string_view> names) {
        return std::any_of(command.settings.begin(), command.settings.end(), [&](const auto& one) {
            return !one.second.empty() && std::find(names.begin(), names.end(), one.first) != names.end();
        });
    };
    return has({"TP", "TP_SIZE"}) && has({"PP", "PP_SIZE"}) && has({"MBS", "MICRO_BATCH_SIZE", "MICRO_BATCH", "GBS", "GLOBAL_BATCH_SIZE"});
}

ShellCommand with_environment(const ShellScript& script, const ShellCommand& command) {
    ShellCommand all = command;
    if (started_script(command) == nullptr || !sets_a_job(command)) return all;
    for (const char* name : {"MBS", "SEQ_LEN", "MICRO_BATCH_SIZE", "SEQ_LENGTH", "MODEL", "PR"}) {
        const bool given = std::any_of(all.settings.begin(), all.settings.end(), [&](const auto& one) { return one.first == name; });
        const auto known = script.variables.find(name);
        if (!given && known != script.variables.end() && known->second.size() == 1) all.settings.emplace_back(name, known->second[0].text);
    }
    return all;
}

void add_environment(const ShellCommand& command, Import& in) {
    if (started_script(command) == nullptr || !sets_a_job(command)) return;
    for (const auto& [name, value] : command.settings) {
        if (name == "MODEL" && !in.has("model_name")) in.entries.push_back({"model_name", name, value, command.line, open_names(value)});
        if (name == "PR" && (value == "bf16" || value == "fp8" || value == "mxfp8"))
            in.entries.push_back(
                {value == "bf16" ? "bf16" : "fp8_format", name, value == "bf16" ? Json(true) : Json("e4m3"), command.line});
    }
}

}  // namespace fourfold
