#include "formats/python/loops.h"

#include <algorithm>
#include <utility>

#include "formats/documents.h"

namespace fourfold {

// A class of types, one of which computes: MixedPrecision(param_dtype=torch.bfloat16), MixedPrecisionPolicy(...), autocast(dtype=...).
static void add_type(std::size_t at, const PythonArguments& reader, std::vector<Entry>& entries) {
    std::vector<Entry> told;
    reader.arguments(at + 1, told);
    for (Entry& one : told)
        if ((one.key == "param_dtype" || one.key == "dtype") && one.open.empty() && one.value.is_string()) {
            const std::string type = one.value.get<std::string>();
            one.key = "mixed_precision";
            one.written = std::exchange(one.value, type == "bfloat16" ? "bf16" : type == "float16" ? "fp16" : "no");
            entries.push_back(std::move(one));
        }
}

// FSDP(model, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP), fully_shard(layer, reshard_after_forward=False): what its words say, as
// accelerate calls them. Both of torch.distributed.fsdp, without a word, share out all.
bool add_own_fsdp(const PythonTokens& tokens, std::size_t at, const PythonArguments& reader, std::vector<Entry>& entries) {
    for (const std::string_view types : {"MixedPrecision", "MixedPrecisionPolicy", "autocast"})
        if (calls_at(tokens, at, types)) return add_type(at, reader, entries), false;
    const bool second = calls_at(tokens, at, "fully_shard");
    if (!second && !calls_at(tokens, at, "FSDP") && !calls_at(tokens, at, "FullyShardedDataParallel")) return false;
    std::vector<Entry> told;
    reader.arguments(at + 1, told);
    for (Entry& one : told) {
        const std::string open = one.open.size() == 1 ? one.open[0] : "";
        if (one.key == "sharding_strategy" && open.find("ShardingStrategy.") != std::string::npos)
            one.value = last_part(open), one.open.clear();
        const bool offload = one.key == "cpu_offload" || one.key == "offload_policy";
        if (offload)
            one.key = "offload_params", one.value = open.find("True") != std::string::npos || open.starts_with("CPUOffload"),
            one.open.clear();
        if (offload && open.find("False") != std::string::npos) one.value = false;
        if (one.key != "sharding_strategy" && one.key != "reshard_after_forward" && !offload) continue;
        one.key.insert(0, "fsdp_");
        entries.push_back(std::move(one));
    }
    entries.push_back({"use_fsdp", tokens[at].value, true, tokens[at].line});
    entries.push_back({"fsdp_version", "", second ? 2 : 1, tokens[at].line});
    return true;
}

// "bf16-mixed", "16-true", "32": of Lightning.
static void name_precision(Entry& entry) {
    const std::string type = entry.value.is_string() ? entry.value.get<std::string>() : dumped(entry.value);
    const bool whole = type.ends_with("-true");
    entry.key = whole ? "torch_dtype" : "mixed_precision";
    entry.written = std::exchange(entry.value, type.starts_with("bf16") ? whole ? "bfloat16" : "bf16"
                                               : type.starts_with("16") ? whole ? "float16" : "fp16"
                                               : whole                  ? "float32"
                                                                        : "no");
}

// What its Trainer is given.
static void name_of_trainer(Entry& one, std::vector<Entry>& entries) {
    constexpr std::string_view kStage = "deepspeed_stage_";
    const std::string word = one.value.is_string() && one.open.empty() ? one.value.get<std::string>() : "";
    const bool strategy = one.key == "strategy";
    const auto become = [&](const char* key, Json value) { one.key = key, one.written = std::exchange(one.value, std::move(value)); };
    if (one.key == "accumulate_grad_batches") one.key = "gradient_accumulation_steps";
    if (one.key == "precision" && one.open.empty()) name_precision(one);
    if (strategy && word.starts_with("fsdp")) become("use_fsdp", true);
    if (strategy && word.starts_with("ddp")) become("zero_stage", 0);
    if (!strategy || !word.starts_with(kStage)) return;
    entries.push_back({"use_deepspeed", "", true, one.line});
    if (word.ends_with("_offload")) entries.push_back({"offload_optimizer_device", "", "cpu", one.line});
    become("zero_stage", word.substr(kStage.size(), 1));
}

// Trainer(strategy="fsdp", devices=8, precision="bf16-mixed") of Lightning (pytorch/trainer/trainer.py, strategies/), FSDPStrategy(...) and
// DeepSpeedStrategy(...), in the words of accelerate.
bool add_lightning(const PythonTokens& tokens, std::size_t at, const PythonArguments& reader, std::vector<Entry>& entries) {
    const bool fsdp = calls_at(tokens, at, "FSDPStrategy"), deepspeed = calls_at(tokens, at, "DeepSpeedStrategy"),
               trainer = calls_at(tokens, at, "Trainer") || calls_at(tokens, at, "Fabric");
    if (!fsdp && !deepspeed && !trainer) return false;
    std::vector<Entry> told;
    reader.arguments(at + 1, told);
    const std::int64_t line = tokens[at].line;
    const bool runs = trainer && std::any_of(told.begin(), told.end(), [](const Entry& one) {
                          return one.key == "devices" || one.key == "num_nodes" || one.key == "strategy";
                      });
    if (trainer && !runs) return false;  // of Transformers
    if (fsdp) entries.push_back({"use_fsdp", tokens[at].value, true, line});
    if (deepspeed) {
        entries.push_back({"use_deepspeed", tokens[at].value, true, line});
        if (std::none_of(told.begin(), told.end(), [](const Entry& one) { return one.key == "stage"; }))
            entries.push_back({"zero_stage", "", 2, line});
    }
    for (Entry& one : told) {
        if (fsdp && one.key == "cpu_offload") one.key = "offload_params";
        if (fsdp) one.key.insert(0, "fsdp_");
        if (deepspeed && one.key == "stage") one.key = "zero_stage";
        if (deepspeed && (one.key == "offload_optimizer" || one.key == "offload_parameters")) {
            one.key = one.key == "offload_optimizer" ? "offload_optimizer_device" : "offload_param_device";
            one.written = std::exchange(one.value, one.value == Json(true) ? "cpu" : "none");
        }
        if (trainer) name_of_trainer(one, entries);
        constexpr std::string_view kKept[] = {"devices",   "num_nodes", "gradient_accumulation_steps", "mixed_precision", "torch_dtype",
                                              "max_steps", "zero_stage"};
        if (is_of_launcher(one.key) || std::find(std::begin(kKept), std::end(kKept), one.key) != std::end(kKept))
            entries.push_back(std::move(one));
    }
    return runs;
}

}  // namespace fourfold
