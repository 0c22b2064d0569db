#include "formats/trainers.h"

#include <algorithm>

#include "base/text.h"
#include "formats/named_model.h"

namespace fourfold {

static constexpr std::int64_t kMost = 1'048'576;

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
    const std::int64_t copies = std::min(in.copies(), kMost);
    const bool once = in.last(keys.steps) == nullptr;
    const std::int64_t times = once ? 1 : steps.value_or(0);
    if (micro && *micro > 0 && *micro <= 65'536) in.job["micro_batch"] = *micro;
    if (batch && *batch > 0) in.job["global_batch"] = *batch;
    const std::int64_t each = in.job.value("micro_batch", std::int64_t{0});
    if (each <= 0 || times <= 0 || times > kMost) {
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

void read_zero_stage(Import& in, std::string_view key) {
    constexpr const char* kStages[] = {"none", "optimizer", "gradients", "weights"};
    const auto stage = in.whole(key, "zero");
    if (!stage) return;
    if (*stage >= 0 && *stage <= 3)
        in.job["zero"] = kStages[*stage];
    else
        in.mark(key, Fate::unknown);
}

void read_zero_path(Import& in, std::string_view key) {
    const auto path = in.text(key, "zero");
    if (!path) return;
    const std::string name = lower_case(path->substr(path->rfind('/') + 1));
    constexpr std::pair<std::string_view, const char*> kNames[] = {
        {"z0", "none"},         {"zero0", "none"},       {"z1", "optimizer"}, {"zero1", "optimizer"}, {"z2", "gradients"},
        {"zero2", "gradients"}, {"zero_2", "gradients"}, {"z3", "weights"},   {"zero3", "weights"},   {"zero_3", "weights"}};
    const auto found =
        std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& one) { return name.find(one.first) != std::string::npos; });
    if (found == std::end(kNames)) return in.mark(key, Fate::unknown);
    in.job["zero"] = found->second;
    if (name.find("offload") == std::string::npos && name.find("cpu") == std::string::npos) return;
    in.text(key, "optimizer_offload");
    in.job["optimizer_offload"] = 1.0;
    in.notes.push_back(Text("import_plan.note.not_counted").with("key", "offload_param"));
}

void read_fsdp(Import& in, std::string_view prefix, std::string_view version_key) {
    const std::string strategy_key = joined({prefix, "sharding_strategy"}), again_key = joined({prefix, "reshard_after_forward"});
    const auto version = in.whole(version_key, "zero");
    const auto strategy = in.text(strategy_key, "zero"), again = in.text(again_key, "zero");
    const std::string what = lower_case(version == 2 && again ? *again : strategy.value_or(again.value_or("full_shard")));
    const bool hybrid = what.find("hybrid") != std::string::npos || what == "4" || what == "5";
    if (what == "false" || what.find("grad_op") != std::string::npos || what.find("zero2") != std::string::npos || what == "2" ||
        what == "5")
        in.job["zero"] = "gradients";
    else if (what.find("no_shard") != std::string::npos || what == "3")
        in.job["zero"] = "none";
    else
        in.job["zero"] = "weights";
    if (hybrid) {
        const auto nodes = in.whole("num_machines", "shard_replicas");
        if (nodes && *nodes > 0)
            in.job["shard_replicas"] = *nodes;
        else
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", "HYBRID_SHARD"));
    }
    const std::string offload = joined({prefix, "offload_params"});
    if (in.on(offload, "optimizer_offload")) {
        in.job["optimizer_offload"] = 1.0;
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", offload));
    }
    if (in.on(joined({prefix, "activation_checkpointing"}), "recompute")) in.job["recompute"] = "full";
}

void fill_pytorch(Import& in) {
    for (const char* field : {"tensor_parallel", "context_parallel", "pipeline_parallel"})
        if (!in.job.contains(field) && !in.hangs(field)) in.job[field] = 1;
    in.job["framework"] = "pytorch";
}

void ask_rest(Import& in) {
    in.drop_open();
    for (const char* field : {"gpus", "sequence_length", "micro_batch"}) in.ask(field);
    if (in.job.contains("gpus") && in.job.contains("micro_batch")) in.ask("global_batch");
    ask_model(in);
    in.settle();
}

}  // namespace fourfold
