// Arguments: scripts/performance/argument_parser.py of NVIDIA/NeMo (2025) and of NVIDIA-NeMo/Megatron-Bridge, whose short flags are the
// same where both have one. What they make of them: scripts/performance/helpers.py and scripts/performance/utils/overrides.py there.
#include "formats/read/recipe_command.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "formats/shell/launch.h"

namespace fourfold {

namespace {

struct ShortFlag {
    std::string_view flag;
    const char* key;
};
constexpr ShortFlag kShort[] = {
    {"-tp", "tensor_model_parallel_size"},
    {"-pp", "pipeline_model_parallel_size"},
    {"-cp", "context_parallel_size"},
    {"-vp", "virtual_pipeline_model_parallel_size"},
    {"-ep", "expert_model_parallel_size"},
    {"-et", "expert_tensor_parallel_size"},
    {"-mb", "micro_batch_size"},
    {"-gb", "global_batch_size"},
    {"-sl", "seq_length"},
    {"-ng", "num_gpus"},
    {"-gn", "gpus_per_node"},
    {"-c", "compute_dtype"},
    {"-fr", "fp8_recipe"},
    {"-m", "model_family_name"},
    {"-mr", "model_recipe_name"},
    {"-s", "model_size"},  // before -mr came
    {"-rl", "recompute_num_layers"},
    {"-rm", "recompute_modules"},
    {"-ol", "cpu_offloading_num_layers"},
    {"-cg", "cuda_graphs"},
    {"-fsdp", "use_megatron_fsdp"},
    {"-nlay", "num_layers"},
    {"-hs", "hidden_size"},
    {"-f", "finetuning"},
    {"-g", "gpu"},
    {"-vb", "enable_vboost"},
    {"-ms", "max_steps"},
};

bool is_short(const std::string& word) {
    return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

// What follows a flag, up to the next one.
Json values_behind(const ShellWords& words, std::size_t at, std::vector<std::string>& open) {
    Json values = Json::array();
    for (++at; at < words.size() && !is_short(words[at].text) && !words[at].text.starts_with("--"); ++at) {
        for (std::string& name : open_names(words[at].text)) open.push_back(std::move(name));
        values.push_back(words[at].text);
    }
    return values.empty() ? Json(true) : values.size() == 1 ? values[0] : values;
}

// Flags before the program, such as python's own -m, are none of its.
std::vector<Entry> short_flags(const ShellWords& words, std::size_t program) {
    std::vector<Entry> entries;
    for (std::size_t i = program; i < words.size(); ++i)
        for (const auto& [flag, key] : kShort) {
            if (words[i].text != flag) continue;
            Entry entry{key, words[i].text, nullptr, words[i].line};
            entry.value = values_behind(words, i, entry.open);
            entries.push_back(std::move(entry));
        }
    return entries;
}

const Entry* last_of(const std::vector<Entry>& entries, std::string_view key) {
    const auto found = std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& one) { return one.key == key; });
    return found == entries.rend() ? nullptr : &*found;
}

std::string value_of(const std::vector<Entry>& entries, std::string_view key) {
    const Entry* entry = last_of(entries, key);
    const auto* text = entry == nullptr ? nullptr : entry->value.get_ptr<const Json::string_t*>();
    return text == nullptr ? "" : *text;
}

// "fp8" has a recipe beside it, per-tensor delayed scaling unless it is said; without both it is bf16.
void name_precision(std::vector<Entry>& entries) {
    std::string recipe = value_of(entries, "fp8_recipe");
    if (recipe.empty()) recipe = "ds";
    for (Entry& entry : entries) {
        if (entry.key == "cuda_graphs") entry.key = "enable_cuda_graph";
        if (entry.key != "compute_dtype") continue;
        entry.key = "mixed_precision";
        if (entry.value == Json("fp8")) {
            entry.written = "fp8";
            entry.value = recipe == "mxfp8" ? "fp8_mx" : joined({"fp8_", recipe});
        }
    }
    if (last_of(entries, "mixed_precision") == nullptr) entries.push_back({"mixed_precision", "", "bf16"});
}

// "--hidden_size 7168 slurm --account x": the cluster's name is no value.
void drop_cluster(std::vector<Entry>& entries) {
    for (Entry& entry : entries) {
        if (!entry.value.is_array() || (entry.value.back() != Json("slurm") && entry.value.back() != Json("runai"))) continue;
        entry.value.erase(entry.value.size() - 1);
        if (entry.value.size() == 1) entry.value = Json(entry.value[0]);
    }
}

// The recipe by its name: "-mr llama3_70b"; before that came "-m llama3 -s 70b"; "scripts.performance.llm.finetune_llama3_70b".
void name_recipe(std::vector<Entry>& entries, std::string_view program) {
    const std::string family = value_of(entries, "model_family_name"), size = value_of(entries, "model_size");
    for (Entry& entry : entries)
        if (entry.key == "model_recipe_name" || (entry.key == "model_name" && size.empty())) entry.key = "recipe";
    if (last_of(entries, "recipe") == nullptr && !size.empty())
        entries.push_back({"recipe", "", joined({family.empty() ? value_of(entries, "model_name") : family, "_", size})});
    const std::size_t cut = program.find_last_of("./");
    const std::string_view name = program.substr(cut == std::string_view::npos ? 0 : cut + 1);
    const bool tunes = name.starts_with("finetune_");
    if (tunes || name.starts_with("pretrain_")) entries.push_back({"recipe", "", std::string(name.substr(name.find('_') + 1))});
    std::string part = value_of(entries, tunes ? "finetuning" : "task");
    if (tunes && part.empty()) part = "lora";  // its default
    if (part == "lora") entries.push_back({"peft", "", part});
    if (part == "sft") entries.push_back({"tunes", "", true});
}

// Megatron FSDP shards everything there.
void add_sharding(std::vector<Entry>& entries) {
    for (Entry& entry : entries)
        if (entry.key == "use_mcore_fsdp") entry.key = "use_megatron_fsdp";
    const std::string fsdp = lower_case(value_of(entries, "use_megatron_fsdp"));
    if (fsdp == "true" || fsdp == "1" || fsdp == "t" || fsdp == "yes" || fsdp == "y")
        entries.push_back({"data_parallel_sharding_strategy", "", "optim_grads_params"});
}

// --factory "llama3_70b(num_nodes=8, name='x')": a recipe and its arguments.
void read_factory(std::vector<Entry>& entries) {
    const Entry* factory = last_of(entries, "factory");
    const std::string text = value_of(entries, "factory");
    const std::size_t cut = text.find('(');
    if (factory == nullptr || cut == std::string::npos || !factory->open.empty()) return;
    const std::int64_t line = factory->line;
    for (Entry& entry : entries)
        if (entry.key == "factory") entry.written = text, entry.value = text.substr(0, cut);
    std::string_view rest = std::string_view(text).substr(cut + 1);
    rest = rest.substr(0, rest.rfind(')'));
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        const std::string_view one = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::size_t equals = one.find('='), begin = one.find_first_not_of(' ');
        if (equals == std::string_view::npos) continue;
        std::string value(one.substr(equals + 1));
        std::erase_if(value, [](char c) { return c == '\'' || c == '"' || c == ' '; });
        const std::string name(one.substr(begin, equals - begin));
        entries.push_back({name, name, value, line});
    }
}

std::optional<RecipeCommand> nemo_command(const ShellCommand& command) {
    const ShellWords& words = command.words;
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
        const bool tunes = words[i + 2].text == "finetune";
        const bool nemo = words[i].text == "nemo" || words[i].text.ends_with("/nemo");
        if (!nemo || words[i + 1].text != "llm" || (!tunes && words[i + 2].text != "pretrain")) continue;
        RecipeCommand found{"nemo-2", arguments_of(command)};
        for (std::size_t k = i + 3; k + 1 < words.size(); ++k)
            if (words[k].text == "-f")
                found.entries.push_back({"factory", "-f", words[k + 1].text, words[k].line, open_names(words[k + 1].text)});
        if (tunes) found.entries.push_back({"tunes_part", "", true});
        read_factory(found.entries);
        return found;
    }
    return std::nullopt;
}

}  // namespace

std::optional<RecipeCommand> recipe_command(const ShellCommand& command) {
    if (auto nemo = nemo_command(command)) return nemo;
    const ShellWords& words = command.words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        const bool module = i > 0 && words[i - 1].text == "-m" && word.starts_with("scripts.performance.");
        const bool nemo = module || word.find("scripts/performance/llm/") != std::string::npos;
        const bool bridge = word.ends_with("setup_experiment.py") || word.ends_with("run_script.py");
        const bool recipe = word.ends_with("run_recipe.py");
        if (!nemo && !bridge && !recipe) continue;
        RecipeCommand found{nemo ? "nemo-2" : "megatron-bridge", arguments_of(command), !recipe};
        for (Entry& entry : short_flags(words, i + 1)) found.entries.push_back(std::move(entry));
        if (recipe) return found;
        drop_cluster(found.entries);
        std::string program = word;
        if (program.ends_with(".py")) program.resize(program.size() - 3);
        name_recipe(found.entries, nemo ? std::string_view(program) : "");
        name_precision(found.entries);
        add_sharding(found.entries);
        found.entries.push_back({"performance", "", true});
        return found;
    }
    return std::nullopt;
}

}  // namespace fourfold
