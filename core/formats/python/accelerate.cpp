#include "formats/python/accelerate.h"

#include <algorithm>

#include "base/text.h"
#include "formats/documents.h"
#include "formats/python/loops.h"

namespace fourfold {

static constexpr std::size_t kMostCalls = 10, kMostEntriesOfLoop = 40;

std::vector<Entry> told_accelerate(const PythonTokens& tokens, const PythonArguments& reader) {
    std::vector<Entry> all;
    for (std::size_t i = 0; i < tokens.size() && all.size() < kMostCalls; ++i) {
        const bool fsdp = calls_at(tokens, i, "FullyShardedDataParallelPlugin");
        if (!fsdp && !calls_at(tokens, i, "DeepSpeedPlugin")) continue;
        all.push_back({fsdp ? "use_fsdp" : "use_deepspeed", tokens[i].value, true, tokens[i].line});
        std::vector<Entry> told;
        reader.arguments(i + 1, told);
        for (Entry& one : told) {
            if (one.key == "cpu_offload") one.key = "offload_params";
            if (one.key == "hf_ds_config") one.key = "deepspeed_config_file";
            if (fsdp && !one.key.starts_with("fsdp_")) one.key.insert(0, "fsdp_");
            if (!is_of_launcher(one.key)) continue;
            if (one.open.size() == 1 && one.key == "fsdp_sharding_strategy")  // ShardingStrategy.FULL_SHARD
                one.value = last_part(one.open[0]), one.open.clear();
            if (one.open.size() == 1 && one.key == "fsdp_offload_params" && one.open[0].starts_with("CPUOffload("))
                one.value = one.open[0].find("True") != std::string::npos, one.open.clear();
            all.push_back(std::move(one));
        }
    }
    return all;
}

std::vector<Entry> accelerate_loop(const PythonTokens& tokens, const PythonArguments& reader) {
    constexpr std::string_view kOptimizers[] = {"Adam", "AdamW", "Adam8bit", "AdamW8bit", "PagedAdamW8bit", "Adafactor", "SGD", "Muon"};
    std::vector<Entry> entries, batches;
    bool found = false, own = false, split = false, again = false;
    for (std::size_t i = 0; i < tokens.size() && entries.size() < kMostEntriesOfLoop; ++i) {
        const auto calls = [&](std::string_view name) { return calls_at(tokens, i, name); };
        for (const std::string_view word : {"gradient_checkpointing", "activation_checkpointing", "checkpoint_wrapper"})
            again = again || tokens[i].value.find(word) != std::string::npos;
        if (const auto* const rule = std::find_if(std::begin(kOptimizers), std::end(kOptimizers), calls); rule != std::end(kOptimizers))
            entries.push_back({"optim", tokens[i].value, rule->substr(rule->starts_with("Paged") ? 5 : 0), tokens[i].line});
        own = add_own_fsdp(tokens, i, reader, entries) || add_lightning(tokens, i, reader, entries) || own;
        const bool accelerator = calls("Accelerator"), data = calls("DataLoader");
        if (!accelerator && !data && !calls("DeepSpeedPlugin") && !calls("GradientAccumulationPlugin")) continue;
        found = found || accelerator;
        const std::string name = lower_case(given_name(tokens, i));
        const auto is_named = [&](std::string_view word) { return name.find(word) != std::string::npos; };
        std::vector<Entry> told;
        reader.arguments(i + 1, told);
        for (Entry& one : told) {
            split = split || (one.key == "split_batches" && one.value != Json(false));
            if (one.key == "num_steps") one.key = "gradient_accumulation_steps";
            if (data ? one.key == "batch_size" && !is_named("val") && !is_named("eval") && !is_named("test")
                     : one.key == "mixed_precision" || one.key == "gradient_accumulation_steps")
                (data ? batches : entries).push_back(std::move(one));
        }
    }
    if ((!found && !own) || batches.empty()) return {};
    if (!found) entries.push_back({"own_loop", "", true, 0, {}, Fate::no_number});
    if (!again) entries.push_back({"gradient_checkpointing", "", false});
    for (Entry& one : batches) one.key = split ? "batch_size" : "per_gpu_train_batch_size";
    entries.insert(entries.begin(), batches.begin(), batches.end());
    return entries;
}

}  // namespace fourfold
