// nanotron 2411b022a, src/nanotron/config: what the arguments of each object are called in its YAML.
#include "formats/python/nanotron.h"

#include <algorithm>

#include "formats/python/arguments.h"
#include "formats/readers.h"

namespace fourfold {

namespace {

constexpr PythonObject kSections[] = {
    {"ParallelismArgs", "parallelism."},
    {"TokensArgs", "tokens."},
    {"OptimizerArgs", "optimizer."},
    {"AdamWOptimizerArgs", "optimizer.optimizer_factory."},
    {"SGDOptimizerArgs", "optimizer.optimizer_factory."},
    {"LRSchedulerArgs", "optimizer.learning_rate_scheduler."},
    {"ModelArgs", "model."},
    {"RandomInit", "model.init_method."},
    {"LlamaConfig", "model.model_config."},
    {"Qwen2Config", "model.model_config."},
    {"Starcoder2Config", "model.model_config."},
    {"LlaMoEConfig", "model.model_config."},
    {"MoEConfig", "model.model_config.moe_config."},
    {"GeneralArgs", "general."},
    {"CheckpointsArgs", "checkpoints."},
    {"LoggingArgs", "logging."},
    {"TokenizerArgs", "tokenizer."},
};
// What its models say of themselves where the text does not (config/models_config.py).
constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
    {"LlamaConfig", "is_llama_config"}, {"Qwen2Config", "is_qwen2_config"}, {"Starcoder2Config", "is_starcoder2_config"}};
// Arguments that are objects themselves.
constexpr std::string_view kObjects[] = {"optimizer.optimizer_factory", "optimizer.learning_rate_scheduler", "model.model_config",
                                         "model.init_method", "model.model_config.moe_config"};

// TensorParallelLinearMode.REDUCE_SCATTER is "REDUCE_SCATTER".
void name_member(Entry& entry) {
    if (entry.open.size() != 1 || entry.open[0].find('.') == std::string::npos) return;
    const std::string member = last_part(entry.open[0]);
    const bool constant = std::all_of(member.begin(), member.end(), [](char c) { return c == '_' || (c >= 'A' && c <= 'Z'); });
    if (!constant || member.empty()) return;
    entry.value = member;
    entry.open.clear();
}

void add_section(const PythonTokens& tokens, std::size_t at, const PythonArguments& reader, const PythonObject& row,
                 std::vector<Entry>& entries) {
    const std::size_t before = entries.size();
    reader.arguments(at + 1, entries, std::string(row.path));
    for (std::size_t i = before; i < entries.size(); ++i) name_member(entries[i]);
    for (const auto& [kind, key] : kKinds)
        if (row.name == kind)
            entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(before),
                           {std::string(row.path) + std::string(key), "", true, tokens[at].line});
}

}  // namespace

std::optional<ReadJobs> read_python_nanotron(std::string_view text, const std::vector<Entry>& all, const NamesSet& set) {
    if (text.find("nanotron") == std::string_view::npos || text.find("ParallelismArgs(") == std::string_view::npos) return std::nullopt;
    const PythonTokens tokens = with_usual_environment(python_tokens(text), set);
    const PythonArguments reader(tokens, all, set, false);
    ReadJob job;
    std::vector<Entry>& entries = job.in.entries;
    constexpr std::size_t kMostSections = 100;
    for (std::size_t i = 0, found = 0; i < tokens.size() && found < kMostSections; ++i) {
        const PythonObject* const row = object_at(tokens, i, kSections);
        if (row != nullptr) add_section(tokens, i, reader, *row, entries), ++found;
    }
    std::erase_if(entries,
                  [](const Entry& one) { return std::find(std::begin(kObjects), std::end(kObjects), one.key) != std::end(kObjects); });
    if (nanotron_likeness(entries) < 1) return std::nullopt;
    job.line = entries[0].line;
    job.in.answers = set;
    read_nanotron(job.in);
    ReadJobs read{"nanotron", true, {}, {}};
    add_job(read, std::move(job));
    return read;
}

}  // namespace fourfold
