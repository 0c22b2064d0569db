// How trainers share weights, gradients and the optimizer: the words of DeepSpeed's stages, of FSDP in the Trainer and of "accelerate
// launch".
#include <algorithm>

#include "base/text.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"

namespace fourfold {

static constexpr const char* kStages[] = {"none", "optimizer", "gradients", "weights"};  // of ZeRO

void read_zero_stage(Import& in, std::string_view key) {
    const auto stage = in.whole(key, "zero");
    if (stage && *stage >= 0 && *stage <= 3)
        in.job["zero"] = kStages[*stage];
    else if (stage)
        in.mark(key, Fate::unknown);
    if (const Entry* const said = in.last(key); said && said->fate == Fate::unknown) in.job.erase("zero");  // a list, say
}

// "ds_z3_offload", "zero_stage_2", "deepspeed_stage1", "zero3_bf16_cpuoffload_params", "zero3_no_offload"
void read_zero_path(Import& in, std::string_view key) {
    const auto path = in.text(key, "zero");
    if (!path) return;
    std::string name = lower_case(path->substr(path->rfind('/') + 1));
    std::erase_if(name, [](char c) { return c == '_' || c == '-'; });
    const auto says = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    int stage = -1;
    for (const std::string_view word : {"zero", "z", "stage"})  // "sft_stage2_zero3": a training's stage beside ZeRO's
        for (int i = 0; i < 4 && stage < 0; ++i)
            if (says(joined({word, std::string_view("0123").substr(static_cast<std::size_t>(i), 1)}))) stage = i;
    if (stage < 0 && (path->ends_with(".json") || path->ends_with(".yaml"))) note_file(in, key);
    if (stage < 0) return in.mark(key, Fate::unknown);
    in.job["zero"] = kStages[stage];
    note_file(in, key, Text("import_plan.note.file_name").with("zero", Text("choice.zero", kStages[stage])));
    if (says("nooffload") || says("withoutoffload") || (!says("offload") && !says("cpu"))) return;
    const bool weights = says("param") || says("model");
    if (!weights || says("all") || says("opt")) {
        in.text(key, "optimizer_offload");
        in.job["optimizer_offload"] = 1.0;
    }
    if (stage == 3 && (says("param") || !says("opt"))) {  // without another word, both (LLaMA-Factory's ds_z3_offload_config.json)
        in.text(key, "weights_offload");
        in.job["weights_offload"] = true;
    }
}

// The Trainer's own "full_shard auto_wrap", in a text or a list; empty where there is none.
static std::string fsdp_words(Import& in) {
    std::string words;
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        const std::string key = in.entries[i].key;
        if (key != "fsdp" && !key.starts_with("fsdp.")) continue;
        if (const auto text = in.text(key, "zero")) words += lower_case(*text) + " ";
    }
    return words;
}

void read_fsdp(Import& in, std::string_view prefix, std::string_view version_key) {
    const std::string strategy_key = joined({prefix, "sharding_strategy"}), again_key = joined({prefix, "reshard_after_forward"});
    const auto version = in.whole(version_key, "fully_shard");
    in.job["fully_shard"] = version == 2 ? "on" : "off";
    const auto strategy = in.text(strategy_key, "zero"), again = in.text(again_key, "zero");
    const std::string listed = fsdp_words(in);
    const std::string usual = listed.find("shard") != std::string::npos ? listed : "full_shard";
    const std::string what = lower_case(version == 2 && again ? *again : strategy.value_or(again.value_or(usual)));
    const bool hybrid = what.find("hybrid") != std::string::npos || what == "4" || what == "5";
    if (what == "false" || what.find("grad_op") != std::string::npos || what.find("zero2") != std::string::npos || what == "2" ||
        what == "5")
        in.job["zero"] = "gradients";
    else if (what.find("no_shard") != std::string::npos || what == "3")
        in.job["zero"] = "none";
    else
        in.job["zero"] = "weights";
    const std::string_view words[] = {"full_shard", "no_shard", "hybrid_shard", "grad_op", "zero2", "zero3"};
    const bool known = what == "true" || what == "false" || what.find_first_not_of("12345") == std::string::npos ||
                       std::any_of(std::begin(words), std::end(words), [&](auto word) { return what.find(word) != std::string::npos; });
    if (!known) in.mark(strategy ? strategy_key : std::string("fsdp"), Fate::unknown);
    if (hybrid) {
        const std::int64_t each = in.job.value("gpus_per_node", std::int64_t{0}), all = in.job.value("gpus", std::int64_t{0});
        const std::int64_t nodes = in.whole("num_machines", "shard_replicas").value_or(each > 0 ? all / each : 0);  // a copy on each
        if (nodes > 0) in.job["shard_replicas"] = nodes;
        if (nodes <= 0) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "HYBRID_SHARD"));
    }
    const std::string offload = joined({prefix, "offload_params"});
    if (in.on(offload, "optimizer_offload") || listed.find("offload") != std::string::npos) {
        in.job["optimizer_offload"] = 1.0;
        in.job["weights_offload"] = true;  // FSDP's CPU offload takes all (torch/distributed/fsdp/api.py, CPUOffload)
    }
    if (in.on(joined({prefix, "activation_checkpointing"}), "recompute")) in.job["recompute"] = "full";
}

bool read_launched_sharding(Import& in) {
    if (in.on("use_fsdp", "zero"))
        read_fsdp(in, "fsdp_", "fsdp_version");
    else if (in.on("use_deepspeed", "zero") && in.has("zero_stage"))
        read_zero_stage(in, "zero_stage");
    else if (in.on("use_deepspeed", "zero") && says_any(in, {"deepspeed_config_file"}))
        read_zero_path(in, "deepspeed_config_file");
    else if (in.on("use_deepspeed", "zero"))
        in.job["zero"] = "gradients";  // DeepSpeedPlugin's own stage, 2
    else if (says_any(in, {"config_file"}))
        read_zero_path(in, "config_file");
    else
        return false;
    if (const auto device = in.text("offload_optimizer_device", "optimizer_offload"); device && *device != "none") {
        in.job["optimizer_offload"] = 1.0;
        if (*device == "nvme") in.job["optimizer_offload_target"] = "nvme";
    }
    if (const auto device = in.text("offload_param_device", "weights_offload"); device && *device != "none")
        in.job["weights_offload"] = true;
    return true;
}

}  // namespace fourfold
