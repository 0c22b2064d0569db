#include "formats/read/trainers.h"

#include <algorithm>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/shell/shell.h"

namespace fourfold {

static constexpr std::int64_t kLargestCount = 1'048'576;

std::optional<std::int64_t> answered_words(const Import& in) {
    const auto answer = in.answers.find("vocab_size");
    if (answer == in.answers.end() || answer->second.empty() || answer->second.size() > 8) return std::nullopt;
    const bool number = answer->second.find_first_not_of("0123456789") == std::string::npos;
    return number ? std::optional(std::stoll(answer->second)) : std::nullopt;
}

bool says_any(const Import& in, std::initializer_list<std::string_view> patterns) {
    return std::any_of(in.entries.begin(), in.entries.end(), [&](const Entry& entry) {
        const bool empty = entry.value.is_null() || entry.value == Json("") || entry.value == Json(false) || entry.value == Json::array();
        return !empty && std::any_of(patterns.begin(), patterns.end(), [&](std::string_view one) { return matches(one, entry.key); });
    });
}

void drop_auto(Import& in) {
    for (Entry& entry : in.entries)
        if (entry.value == Json("auto")) {
            entry.written = "auto";
            entry.value = nullptr;
        }
}

void refuse_mode(Import& in, std::string_view mode) {
    in.refused.push_back(Text("import_plan.refused.mode").with("mode", mode.substr(0, 60)));
}

void refuse_adapters(Import& in, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        if (!in.on(key, "")) continue;
        const std::string value = in.text(key, "").value_or("");
        return refuse_mode(
            in, value.empty() || value == "true" || value.find_first_not_of("0123456789") == std::string::npos ? std::string(key) : value);
    }
}

void read_copies_batch(Import& in, const BatchKeys& keys) {
    const auto micro = in.whole(keys.micro, "micro_batch");
    const auto steps = in.whole(keys.steps, "global_batch"), batch = in.whole(keys.batch, "global_batch");
    const std::int64_t copies = std::min(in.copies(), kLargestCount);
    const bool once = in.last(keys.steps) == nullptr;
    const std::int64_t times = once ? 1 : steps.value_or(0);
    if (micro && *micro > 0 && *micro <= 65'536) in.job["micro_batch"] = *micro;
    if (batch && *batch > 0) in.job["global_batch"] = *batch;
    const std::int64_t each = in.job.value("micro_batch", std::int64_t{0});
    if (each <= 0 || times <= 0 || times > kLargestCount) {
        if (batch && *batch > 0 && times > 0 && copies > 0 && !in.hangs("micro_batch") && *batch % (copies * times) == 0)
            in.job["micro_batch"] = *batch / (copies * times);
        return;
    }
    if (!batch && copies > 0 && !in.hangs("global_batch")) {
        in.whole(keys.micro, "global_batch");
        in.job["global_batch"] = each * times * copies;
    } else if (batch && copies > 0 && (*batch % (each * copies) != 0 || (!once && *batch != each * times * copies))) {
        in.refused.push_back(
            Text("import_plan.refused.batch").with("batch", *batch).with("micro", each * (once ? 1 : times)).with("copies", copies));
    }
}

void read_world(Import& in, const BatchKeys& keys, std::initializer_list<std::string_view> degrees) {
    if (in.job.contains("gpus") || in.answers.contains("gpus")) return;
    const auto said = [&](std::string_view key) { return in.whole(key, "gpus").value_or(0); };
    const std::int64_t micro = said(keys.micro), steps = said(keys.steps), batch = said(keys.batch);
    if (batch <= 0 || micro <= 0 || steps <= 0 || micro > kLargestCount || steps > kLargestCount || batch % (micro * steps) != 0) return;
    std::int64_t gpus = batch / (micro * steps);
    for (const std::string_view degree : degrees) {
        const std::int64_t parallel = std::max<std::int64_t>(said(degree), 1);
        if (parallel > kLargestCount || gpus > kLargestCount) return;
        gpus *= parallel;
    }
    if (gpus <= kLargestCount && !in.hangs("gpus")) in.job["gpus"] = gpus;
}

void read_attention_kernel(Import& in, std::string_view kernel) {
    if (kernel.starts_with("flash")) in.job["attention"] = "flash";
    if (kernel == "sdpa") in.job["attention"] = "auto";
    if (kernel == "eager") in.job["attention"] = "plain";
}

// Whether that entry is of "accelerate launch" or of its file: a program behind it may have an argument of the same name.
static bool is_launched(const Import& in, const Entry& entry) {
    if (in.has("distributed_type") || in.has("compute_environment")) return true;
    const std::string_view only[] = {"num_processes", "num_machines", "main_process_*", "machine_rank", "multi_gpu", "use_deepspeed"};
    return std::any_of(in.entries.begin(), in.entries.end(), [&](const Entry& one) {
        const auto is_it = [&](std::string_view pattern) { return matches(pattern, one.key); };
        return &one > &entry && std::any_of(std::begin(only), std::end(only), is_it);
    });
}

void read_launched_type(Import& in) {
    auto type = in.text("mixed_precision", "precision");
    if (type) type = lower_case(*type);
    if (type == "bf16" || type == "fp16" || type == "fp8") in.job["precision"] = *type;
    constexpr std::string_view kWords[] = {"bf16", "fp16", "fp8", "no", "false", "true"};
    if (!type || !in.last("mixed_precision")->open.empty()) return;
    if (std::find(std::begin(kWords), std::end(kWords), lower_case(*type)) != std::end(kWords)) return;
    in.mark("mixed_precision", Fate::unknown);
    if (is_launched(in, *in.last("mixed_precision")))  // utils/dataclasses.py, PrecisionType
        in.refused.push_back(
            Text("import_plan.refused.no_key").with("program", "accelerate").with("key", "mixed_precision: " + type->substr(0, 80)));
}

void read_trainer_types(Import& in) {
    const bool automatic = in.text("bf16", "") == "auto";
    const bool bf16 = in.on("bf16", "precision") || in.on("bfloat16", "precision"), fp16 = in.on("fp16", "precision"),
               pure = in.on("pure_bf16", "precision"), fp8 = in.on("fp8", "precision");
    const bool says = in.has("bf16") || in.has("fp16");
    const bool old = fp16 && automatic;  // runs only on GPUs without bf16; elsewhere both are on
    if (bf16 || fp16 || pure || fp8)
        in.job["precision"] = fp8 ? "fp8" : (bf16 && !old) || pure ? "bf16" : "fp16";
    else if (says)
        in.notes.emplace_back("import_plan.note.fp32_named");
    if (!automatic && bf16 && fp16) refuse_both(in, "bf16", "fp16");
}

void read_trainer_optimizer(Import& in, std::string_view key) {
    const auto name = in.text(key, "moments");
    if (!name) return;
    // "paged_adamw_8bit": bitsandbytes', whose pages leave the GPU only where it is full. Its averages of 32 bits are so whatever the
    // weights are (bitsandbytes, optim/optimizer.py, init_state).
    std::string lower = lower_case(*name);
    if (lower.starts_with("paged_")) lower.erase(0, 6);
    const bool adam = lower.starts_with("adam") && !lower.starts_with("adamax") && !lower.starts_with("adamini");
    constexpr std::string_view kParts =
        "|adam|adamw|adam8bit|adamw8bit|torch|fused|xla|npu|hf|apex|anyprecision|bnb|ao|fp8|4bit|8bit|32bit|";
    for (std::size_t at = 0, end = 0; adam && at <= lower.size(); at = end + 1) {  // "adamw_torch_fused"
        end = std::min(lower.find('_', at), lower.size());
        if (kParts.find("|" + lower.substr(at, end - at) + "|") == std::string::npos) return in.mark(key, Fate::unknown);
    }
    // Of the weights of FSDP2, which are no plain tensors, PyTorch makes no lists (optim/optimizer.py, _default_to_fused_or_foreach).
    if (lower == "adamw_torch" && (in.job.value("fully_shard", "auto") == "off" || in.job.value("zero", "none") == "none"))
        in.text(key, "optimizer_foreach"), in.job["optimizer_foreach"] = true;
    if (lower.find("8bit") != std::string::npos)
        in.job["moments"] = "8-bit";
    else if (adam && lower.find("32bit") != std::string::npos)
        in.job["moments"] = "fp32";
    else if (lower == "muon" || lower == "sgd")
        in.job["optimizer"] = lower;
    if (!adam && !in.job.contains("optimizer")) in.notes.push_back(Text("import_plan.note.not_counted").with("key", *name));
}

// bitsandbytes keeps averages of 32 bits whatever the weights are; torchao's and PyTorch's are of the weights' type.
void read_optimizer_class(Import& in, std::string_view key) {
    const auto path = in.text(key, "moments");
    if (!path) return;
    const std::string name = lower_case(path->substr(path->rfind('.') + 1));
    const bool adam = name.find("adam") != std::string::npos;
    if (in.on("optimizer.foreach", "optimizer_foreach")) in.job["optimizer_foreach"] = true;
    if (adam && name.find("8bit") != std::string::npos)
        in.job["moments"] = "8-bit";
    else if (adam && path->starts_with("bitsandbytes.") && name.find("bit") == std::string::npos)
        in.job["moments"] = "fp32";
    else if (name == "sgd" || name == "muon")
        in.text(key, "optimizer"), in.job["optimizer"] = name;
    else if (name == "cpuoffloadoptimizer")
        in.job["optimizer_offload"] = 1.0;
    else if (name != "adam" && name != "adamw")
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", path->substr(0, 60)));
}

// TRL 0.21, in the spelling of its commands but for "_", and two that others name so.
static constexpr std::string_view kWays[] = {"dpo",       "orpo", "kto",    "cpo", "reward", "grpo", "ppo",   "ppov2", "rloo",
                                             "onlinedpo", "xpo",  "nashmd", "bco", "prm",    "gkd",  "simpo", "rlhf"};
const std::span<const std::string_view> kTrainedOtherwise = kWays;

bool trains_otherwise(std::string_view name) {
    std::string lower = lower_case(std::string(name));
    std::erase(lower, '_');
    return std::find(std::begin(kWays), std::end(kWays), lower) != std::end(kWays);
}

// How bitsandbytes stores what is frozen: 4 bits with scales of scales, unless it is said otherwise, or 8.
// A checkpoint that bitsandbytes has in 4 bits stays so without a word ("-bnb-4bit"); other ways to pack its weights are not counted.
static bool is_packed(Import& in) {
    for (const Entry& entry : in.entries) {
        if (std::find(entry.fields.begin(), entry.fields.end(), "model") == entry.fields.end() || !entry.value.is_string()) continue;
        const std::string name = lower_case(entry.value.get<std::string>());
        if (name.find("bnb-4bit") != std::string::npos) return true;
        for (const char* way : {"int4", "int8", "gptq", "awq", "4bit", "8bit"}) {
            if (name.find(way) == std::string::npos) continue;
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", way));
            return false;
        }
    }
    return false;
}

void read_frozen(Import& in, bool four, bool eight, std::string_view twice) {
    if (!four && !eight && !in.hangs("frozen_weights")) four = is_packed(in);
    if (!four && !eight) return;
    const bool once = four && in.has(twice) && !in.on(twice, "frozen_weights");
    in.job["frozen_weights"] = eight && !four ? "fp8" : once ? "nf4_single" : "nf4";
    // Experts that are one parameter stay in 16 bits with Transformers 5 (bitsandbytes 1849), unless Axolotl divides them up.
    const bool some = in.job.value("framework", "") == "transformers" && !in.has("unsloth") && model_with_experts(in) != nullptr;
    if (!in.on("quantize_moe_experts", "frozen_weights") && some)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", four ? "load_in_4bit: experts" : "load_in_8bit: experts"));
}

void note_file(Import& in, std::string_view key, Text note) {
    const auto said = in.text(key, "");
    const Entry* entry = in.last(key);
    if (entry == nullptr) return;
    const std::string file = without_marks(said                       ? *said
                                           : entry->value.is_string() ? entry->value.get<std::string>()
                                                                      : dumped(entry->value));
    in.notes.push_back(note.with("file", file.substr(0, 200)));
}

void leave_batch(Import& in) {
    if (count_like(in.entries, {"*global*batch*", "*accum*", "train_batch_size", "trainer.train_batch_size", "batch_size"}) == 0)
        in.job.erase("global_batch");
}

bool leave_to_file(Import& in) {
    if (!in.has("settings_file")) return false;
    note_file(in, "settings_file");
    in.keep_said({"gpus", "model", "framework"});
    leave_batch(in);
    return true;
}

void refuse_without(Import& in, std::string_view program, std::string_view key) {
    if (in.last(key) == nullptr) in.refused.push_back(Text("import_plan.refused.needs").with("one", program).with("other", key));
}

void refuse_both(Import& in, std::string_view one, std::string_view other) {
    in.refused.push_back(Text("import_plan.refused.both").with("one", one).with("other", other));
}

void fill_pytorch(Import& in) {
    for (const char* field : {"tensor_parallel", "context_parallel", "pipeline_parallel", "expert_parallel"})
        if (!in.job.contains(field) && !in.hangs(field)) in.job[field] = 1;
    in.job["framework"] = "pytorch";
}

void fill_transformers(Import& in) {
    fill_pytorch(in);
    in.job["framework"] = "transformers";
    // of Transformers 5: from_pretrained(..., experts_implementation="eager"), and Axolotl's
    if (const auto experts = in.text("experts_implementation", "grouped_gemm")) in.job["grouped_gemm"] = *experts == "eager" ? "off" : "on";
}

bool updates_loaded_weights(const Import& in) {
    return (in.job.value("zero", "") == "none" || in.has("own_loop")) && in.job.value("trained", "") != "lora" && !in.hangs("trained") &&
           !in.hangs("zero");
}

void train_in_16_bits(Import& in, std::string_view type) {
    if (!updates_loaded_weights(in) || in.job.value("precision", "") != type) return;
    if (!in.job.contains("moments")) in.job["moments"] = "16-bit";
    in.job["master_weights"] = "off";
    in.job["gradients_in_fp32"] = false;
}

void read_liger(Import& in) {
    if (in.job.value("framework", "") != "transformers") return;
    const bool all = in.on("use_liger_kernel", "activation_fusion") || in.on("enable_liger_kernel", "activation_fusion");
    const bool norms = in.on("liger_rms_norm", "activation_fusion"),
               gates = in.on("liger_glu_activation", "activation_fusion") || in.on("liger_swiglu", "activation_fusion");
    if (all || (norms && gates)) in.job["activation_fusion"] = "on";
    if (all || in.on("liger_fused_linear_cross_entropy", "loss") || in.on("cut_cross_entropy", "loss")) in.job["loss"] = "tiled";
}

// Transformers counts ZeRO-2 and 3 as FSDP of the second version, which sends gradients once per step. DeepSpeed is neither.
static void settle_sharding(Import& in) {
    const std::string zero = in.job.value("zero", ""), version = in.job.value("fully_shard", "");
    in.job.erase("fully_shard");
    if (in.job.value("framework", "") != "transformers" || (zero != "gradients" && zero != "weights")) return;
    if (version != "on") in.job["fully_shard"] = "off";
    const bool each = in.on("accelerator_config.gradient_accumulation_kwargs.sync_each_batch", "sync_each_micro_batch");
    if (each || version.empty()) in.job["sync_each_micro_batch"] = "on";
}

// Experts are split as the other parts of a layer, where a program has no key for it.
static void split_experts(Import& in) {
    if (model_with_experts(in) != nullptr && in.job.contains("tensor_parallel") && !in.job.contains("expert_tensor_parallel"))
        in.job["expert_tensor_parallel"] = in.job["tensor_parallel"];
}

void ask_rest(Import& in) {
    settle_sharding(in);
    split_experts(in);
    in.drop_open();
    for (const char* field : {"gpus", "sequence_length", "micro_batch"}) in.ask(field);
    if (in.job.contains("gpus") && in.job.contains("micro_batch")) in.ask("global_batch");
    ask_model(in);
    in.settle();
}

}  // namespace fourfold
