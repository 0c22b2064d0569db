// What a script sets by convention for another one: names of a job's arguments in the environment.
#include <algorithm>

#include "formats/shell/script_commands.h"

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
                                                                      {"ZERO_STAGE", "zero_stage"},
                                                                      {"MP_VP", "num_layers_per_virtual_pipeline_stage"},
                                                                      {"MP_PP0_LAYERS", "decoder_first_pipeline_num_layers"}};

// The words behind a script of Pai-Megatron-Patch (examples/*/run_mcore_*.sh): where it runs, the model's size, batches, rates, lengths,
// the precision, then degrees, of which experts have none, one or two, and switches.
constexpr std::size_t kPrecision = 8, kDegrees = 9;
constexpr const char* kDegreeNames[][5] = {{"TP", "PP", "CP"}, {"TP", "PP", "CP", "EP"}, {"TP", "PP", "CP", "ETP", "EP"}};

bool is_whole(std::string_view word) { return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos; }
bool is_switch(std::string_view word) { return word == "true" || word == "false"; }

// The words behind the script; nothing where they are others.
ShellWords pai_words(const ShellCommand& command) {
    const ShellWord* script = started_script(command);
    if (script == nullptr || script->text.find("run_mcore_") == std::string::npos) return {};
    const auto own = std::find_if(command.words.begin(), command.words.end(), [&](const ShellWord& word) { return &word == script; });
    ShellWords words(own + 1, command.words.end());
    const auto is = [&](std::size_t at, std::initializer_list<std::string_view> all) {
        return std::find(all.begin(), all.end(), words[at].text) != all.end();
    };
    return words.size() > kDegrees + 6 && is(0, {"dsw", "dlc"}) && is(kPrecision, {"bf16", "fp16", "fp8"}) ? words : ShellWords{};
}

}  // namespace

bool starts_pai(const ShellCommand& command) { return !pai_words(command).empty(); }

// What stands for a name that the text does not say is open, as everywhere.
static void add_pai(const ShellCommand& command, Import& in) {
    const ShellWords words = pai_words(command);
    if (words.empty()) return;
    const auto add = [&](const char* key, const char* name, const ShellWord& word, const Json& value) {
        in.entries.push_back({key, name, value, word.line, open_names(word.text)});
    };
    const auto add_word = [&](const char* key, const char* name, std::size_t at) { add(key, name, words[at], words[at].text); };
    add_word("micro_batch_size", "BATCH_SIZE", 2);
    add_word("global_batch_size", "GLOBAL_BATCH_SIZE", 3);
    add_word("seq_length", "SEQ_LEN", 6);
    const std::string& precision = words[kPrecision].text;
    add(precision == "fp16" ? "fp16" : "bf16", "PR", words[kPrecision], true);
    if (precision == "fp8") add("fp8_format", "PR", words[kPrecision], "hybrid");
    std::size_t end = kDegrees;
    while (end < words.size() && (is_whole(words[end].text) || is_one_name(words[end].text))) ++end;
    const std::size_t degrees = end - kDegrees;
    if (degrees < 3 || degrees > 5 || end + 6 > words.size() || !is_switch(words[end].text)) return;
    for (std::size_t i = 0; i < degrees; ++i)
        for (const auto& [name, key] : kByConvention)
            if (name == kDegreeNames[degrees - 3][i]) add_word(key, kDegreeNames[degrees - 3][i], kDegrees + i);
    add("sequence_parallel", "SP", words[end], words[end].text == "true");
    // What is offloaded is shared out.
    add("use_distributed_optimizer", "DO", words[end + 1], words[end + 1].text == "true" || words[end + 5].text != "false");
    if (words[end + 2].text == "true") add("use_flash_attn", "FL", words[end + 2], true);
    if (const ShellWord& way = words[end + 4]; way.text == "full") {
        add("recompute_granularity", "AC", way, "full");
        add("recompute_method", "AC", way, "uniform");
        const auto layers = std::find_if(command.settings.begin(), command.settings.end(),
                                         [](const auto& one) { return one.first == "MP_AC_LAYERS" && !one.second.empty(); });
        const std::string number = layers == command.settings.end() ? "1" : layers->second;
        in.entries.push_back({"recompute_num_layers", "MP_AC_LAYERS", number, way.line, open_names(number)});
    } else if (way.text == "sel")
        add("recompute_activations", "AC", way, true);
    else if (way.text != "none" && way.text != "false")
        add("", "AC", way, way.text);
    const ShellWord& offload = words[end + 5];  // a part of the averages, or off
    if (offload.text.starts_with("0.") || offload.text == "1" || offload.text == "1.0") {
        add("optimizer_cpu_offload", "OPTIMIZER_OFFLOAD", offload, true);
        add("optimizer_offload_fraction", "OPTIMIZER_OFFLOAD", offload, offload.text);
    } else if (offload.text != "false")
        add("", "OPTIMIZER_OFFLOAD", offload, offload.text);
}

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
    add_pai(command, in);
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
    if (starts_pai(command))
        for (const char* name : {"MP_VP", "MP_PP0_LAYERS", "MP_AC_LAYERS"})
            if (const auto known = script.variables.find(name); known != script.variables.end() && known->second.size() == 1)
                all.settings.emplace_back(name, known->second[0].text);
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
