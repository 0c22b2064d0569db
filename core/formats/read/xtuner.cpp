// XTuner 0.1 (configs/, model/sft.py, tools/train.py; mmengine's AmpOptimWrapper): its settings under the names of the Trainer of
// Transformers, which reads the rest. DeepSpeed is an argument of its command.
#include <algorithm>

#include "base/text.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

namespace fourfold {

int xtuner_likeness(const std::vector<Entry>& entries) {
    const int own = count_like(entries, {"xtuner", "accumulative_counts", "optim_wrapper.accumulative_counts", "model.llm.type",
                                         "model.llm.pretrained_model_name_or_path"});
    return own > 1 || count_like(entries, {"xtuner"}) > 0 ? own : 0;
}

static constexpr WordRow kXtunerWords[] = {
    {"pretrained_model_name_or_path", "model_name_or_path"},
    {"batch_size", "per_device_train_batch_size"},
    {"accumulative_counts", "gradient_accumulation_steps"},
    {"sequence_parallel_size", "ulysses_sequence_parallel_size"},
    {"max_epochs", "num_train_epochs"},
    {"max_iters", "max_steps"},
    {"model.use_activation_checkpointing", "gradient_checkpointing"},
    {"model.llm.torch_dtype", "torch_dtype"},
    {"model.llm.attn_implementation", "attn_implementation"},
    {"model.llm.quantization_config.load_in_4bit", "load_in_4bit"},
    {"model.llm.quantization_config.load_in_8bit", "load_in_8bit"},
    {"model.llm.quantization_config.bnb_4bit_use_double_quant", "bnb_4bit_use_double_quant"},
    {"model.lora.r", "lora_r"},
    {"model.lora.lora_alpha", "lora_alpha"},
    {"model.lora.lora_dropout", "lora_dropout"},
    {"model.lora.target_modules", "target_modules"},
};
// Where a setting stands in an object alone, without a name at the margin.
static constexpr WordRow kXtunerInner[] = {
    {"model.llm.pretrained_model_name_or_path", "model_name_or_path"},
    {"train_dataloader.batch_size", "per_device_train_batch_size"},
    {"optim_wrapper.accumulative_counts", "gradient_accumulation_steps"},
    {"train_cfg.max_iters", "max_steps"},
    {"train_cfg.max_epochs", "num_train_epochs"},
};

// "type=SupervisedFinetune" names a class: the last part of what is open; "" where it is none.
static std::string class_of(Import& in, std::string_view key) {
    const Entry* const entry = in.last(key);
    if (entry == nullptr) return "";
    std::string name = entry->open.size() == 1 ? entry->open[0] : entry->value.is_string() ? entry->value.get<std::string>() : "";
    const_cast<Entry*>(entry)->open.clear();
    in.mark(key, Fate::no_number);
    return name.substr(name.rfind('.') + 1);
}

// The type of the computation: AmpOptimWrapper's own, without a word, is what autocast takes on a GPU.
static void read_xtuner_type(Import& in) {
    const std::string type = in.text("optim_wrapper.dtype", "precision").value_or("float16");
    if (in.hangs("precision")) return;
    in.entries.push_back({type == "bfloat16" ? "bf16" : "fp16", "", true});
}

static void read_xtuner_optimizer(Import& in) {
    const std::string outer = class_of(in, "optim_type"), inner = class_of(in, "optim_wrapper.optimizer.type");
    const std::string rule = lower_case(outer.empty() ? inner : outer);
    if (rule.starts_with("paged") || rule.ends_with("bit"))
        in.entries.push_back({"optim", "", rule.find("8bit") != std::string::npos ? "adamw_8bit" : "paged_adamw_32bit"});
    else if (!rule.empty() && rule.find("adam") == std::string::npos)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "optim_type: " + rule.substr(0, 40)));
}

static constexpr std::string_view kQuietOfXtuner[] = {"optim_wrapper.*",
                                                      "model.*type",
                                                      "model.*trust_remote_code",
                                                      "model.*use_varlen_attn",
                                                      "model.*pretrained*",
                                                      "model.lora.*",
                                                      "model.*bnb*",
                                                      "model.*int8*",
                                                      "*_path",
                                                      "*path",
                                                      "*_files",
                                                      "evaluation*",
                                                      "SYSTEM",
                                                      "prompt_template",
                                                      "betas",
                                                      "max_norm",
                                                      "warm*",
                                                      "pack_to_max_length",
                                                      "use_varlen_attn",
                                                      "visualizer",
                                                      "load_from",
                                                      "randomness",
                                                      "launcher",
                                                      "custom_hooks",
                                                      "param_scheduler",
                                                      "work_dir",
                                                      "xtuner",
                                                      "*_dataset",
                                                      "optim_type"};
void read_xtuner(Import& in) {
    const bool command = in.has("xtuner"),
               here = in.has("pretrained_model_name_or_path") || in.has("model.llm.pretrained_model_name_or_path");
    const std::string kind = class_of(in, "model.type");
    const bool lora = says_any(in, {"model.lora.*"});
    for (Entry& entry : in.entries) rename_entry(entry, kXtunerWords);
    for (Entry& entry : in.entries)
        for (const auto& [theirs, ours] : kXtunerInner)
            if (entry.key == theirs && (in.last(ours) == nullptr || in.last(ours) == &entry)) entry.key = ours;
    for (Entry& entry : in.entries) {
        const std::size_t dot = entry.key.find('.');
        const std::string_view root = std::string_view(entry.key).substr(0, dot);
        if (dot != std::string::npos && root != "model" && root != "strategy" && root != "deepspeed" &&
            entry.key != "optim_wrapper.dtype" && !entry.key.starts_with("optim_wrapper.optimizer"))
            entry.fate = Fate::no_number, entry.open.clear();
    }
    if (here) {
        read_xtuner_type(in);
        read_xtuner_optimizer(in);
        if (!in.has("gradient_checkpointing")) in.entries.push_back({"gradient_checkpointing", "", true});  // model/sft.py
        if (lora && !in.has("target_modules")) in.entries.push_back({"target_modules", "", "all-linear"});  // find_all_linear_names()
    }
    in.mark_all(kQuietOfXtuner, Fate::no_number);
    read_transformers(in);
    if (!kind.empty() && kind != "SupervisedFinetune") refuse_mode(in, kind);
    if (!here && command) {
        in.asked.clear();
        leave_to_file(in);
        ask_rest(in);
    }
    if (here && !command && in.job.value("zero", "") == "none" && in.job.value("gpus", 0) != 1)
        in.notes.push_back(Text("import_plan.note.file").with("file", "xtuner train --deepspeed"));
}

}  // namespace fourfold
