#include "formats/python/settings.h"

#include <algorithm>

#include "base/table.h"
#include "formats/python/arguments.h"
#include "formats/python/models.h"
#include "formats/readers.h"
#include "formats/shell/shell.h"

namespace fourfold {

namespace {

// How many GPUs it runs on, no such file says.
ReadJobs read_as(std::string_view program, ReadJob job, const NamesSet& set) {
    job.line = job.in.entries[0].line;
    job.in.answers = set;
    if (const auto gpus = set.find("gpus"); gpus != set.end())
        if (const auto number = number_in(gpus->second); number && *number >= 1 && *number < 1e6)
            job.in.job["gpus"] = static_cast<std::int64_t>(*number);
    reader_called(program)->read(job.in);
    ReadJobs read{std::string(program), true, {}, {}};
    add_job(read, std::move(job));
    return read;
}

constexpr std::string_view kPrograms[] = {"internevo", "xtuner", "nanogpt"};

}  // namespace

std::vector<Entry> python_settings(std::string_view text, const std::vector<Entry>& all, const NamesSet& set) {
    constexpr std::size_t kMostNames = 2'000;
    const PythonTokens tokens = with_usual_environment(python_tokens(text), set);
    const PythonArguments reader(tokens, all, set, false);
    std::vector<Entry> entries;
    for (std::size_t i = 0, found = 0; i + 2 < tokens.size() && found < kMostNames; ++i) {
        const bool begins = (i == 0 || tokens[i - 1].kind == PythonToken::line_end) && tokens[i].column == 0;
        if (!begins || tokens[i].kind != PythonToken::name || !has_sign_at(tokens, i + 1, "=")) continue;
        const std::string& name = tokens[i].value;
        if (name == "config_keys") break;  // of nanoGPT: its settings end, and its program begins
        ++found;
        std::size_t inside = i + 2;
        if (calls_at(tokens, inside, "dict")) {
            reader.arguments(inside + 1, entries, name + ".");
        } else if (has_sign_at(tokens, inside, "{")) {
            reader.dictionary(inside, name + ".", entries);
        } else {
            const auto said =
                std::find_if(all.begin(), all.end(), [&](const Entry& one) { return one.key == name && one.line == tokens[i].line; });
            if (said != all.end()) entries.push_back(*said);
        }
    }
    return entries;
}

static std::vector<Entry> all_entries(std::string_view text, const NamesSet& set) {
    std::vector<Entry> all;
    for (const PythonScope& scope : read_python(text, set)) all.insert(all.end(), scope.entries.begin(), scope.entries.end());
    return all;
}

std::vector<Entry> python_settings(std::string_view text, const NamesSet& set) {
    return python_settings(text, all_entries(text, set), set);
}

std::optional<ReadJobs> read_python_settings(std::string_view text, const NamesSet& set) {
    std::string plain(text);
    std::erase_if(plain, [](char c) { return c == kOpen || c == kClose; });
    return read_python_settings(plain, all_entries(plain, set), set);
}

std::optional<ReadJobs> read_python_settings(std::string_view text, const std::vector<Entry>& all, const NamesSet& set) {
    if (count_like(all, {"micro_bsz", "accumulative_counts", "eval_interval", "eval_iters", "max_iters", "init_from", "warmup_iters"}) == 0)
        return std::nullopt;  // most programs are none of them
    ReadJob job;
    job.in.entries = python_settings(text, all, set);
    for (const std::string_view program : kPrograms)
        if (reader_called(program)->likeness(job.in.entries) > 0) return read_as(program, std::move(job), set);
    return std::nullopt;
}

std::optional<ReadJobs> read_python_colossal(std::string_view text, const std::vector<Entry>& all, const NamesSet& set) {
    constexpr PythonObject kPlugins[] = {{"HybridParallelPlugin", "3d"},    {"MoeHybridParallelPlugin", "moe"},
                                         {"GeminiPlugin", "gemini"},        {"LowLevelZeroPlugin", "low_level_zero"},
                                         {"TorchFSDPPlugin", "torch_fsdp"}, {"TorchDDPPlugin", "torch_ddp"}};
    if (text.find("colossalai") == std::string_view::npos) return std::nullopt;
    const PythonTokens tokens = with_usual_environment(python_tokens(text), set);
    const PythonArguments reader(tokens, all, set, false);
    ReadJob job;
    std::vector<Entry>& entries = job.in.entries;
    int plugins = 0;
    for (std::size_t i = 0; i < tokens.size() && plugins < 2; ++i) {
        if (const PythonObject* const plugin = object_at(tokens, i, kPlugins)) {
            ++plugins;
            entries.push_back({"plugin", tokens[i].value, plugin->path, tokens[i].line});
            reader.arguments(i + 1, entries);
        } else if (calls_at(tokens, i, "prepare_dataloader")) {
            std::vector<Entry> told;
            reader.arguments(i + 1, told);
            for (Entry& one : told)
                if (one.key == "batch_size") entries.push_back(std::move(one));
        }
    }
    if (plugins != 1) return std::nullopt;
    const PythonModel model = python_model(tokens, reader, all, set);
    if (model.name) {
        entries.push_back(*model.name);
        entries.back().key = "model";
    }
    entries.push_back({"colossalai", "", true});
    entries.push_back({"in_program", "", true, 0, {}, Fate::no_number});
    return read_as("colossal-ai", std::move(job), set);
}

bool assigns_alone(std::string_view text) {
    constexpr int kFewest = 3;
    int found = 0;
    for (Lines lines(text); found < kFewest && lines.next();) {
        const std::string_view name = lines.line.substr(0, lines.line.find(" = "));
        found += name.size() < lines.line.size() && !name.empty() && starts_name(name[0]) && std::all_of(name.begin(), name.end(), in_name)
                     ? 1
                     : 0;
    }
    return found == kFewest;
}

}  // namespace fourfold
