// Recipes in Python: a job for each function that says how to train.
#include <algorithm>

#include "formats/python.h"
#include "formats/read_jobs.h"
#include "formats/shell.h"

namespace fourfold {

namespace {

constexpr int kLikeEnough = 2;
constexpr std::size_t kMost = 50;

int telling(const std::vector<Entry>& entries) {
    return count_like(
        entries, {"*_model_parallel_size", "*tensor_parallelism", "*pipeline_parallelism", "*context_parallelism", "*context_parallel_size",
                  "*num_nodes", "*global_batch_size", "*micro_batch_size", "*seq_length", "*_parallel_degree"});
}

// Megatron-Bridge's configuration is called "cfg" or holds a section "train"; NeMo 2 has a trainer.
const FormatReader* reader_for(std::string_view text, const std::vector<Entry>& entries) {
    const bool bridge = text.find("megatron.bridge") != std::string_view::npos || text.find("ConfigContainer") != std::string_view::npos ||
                        text.find("AutoBridge") != std::string_view::npos || count_like(entries, {"cfg.*", "config.model.*"}) > 0;
    return reader_called(bridge ? "megatron-bridge" : "nemo-2");
}

void append(std::vector<Entry>& to, const std::vector<Entry>& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

std::optional<ReadJobs> read_recipes(std::string_view text, const NamesSet& set) {
    std::string plain(text);
    std::erase_if(plain, [](char c) { return c == kOpen || c == kClose; });
    const std::vector<PythonScope> scopes = read_python(plain, set);
    std::vector<Entry> outside, trainer, all;
    std::vector<const PythonScope*> recipes;
    for (const PythonScope& scope : scopes) {
        append(all, scope.entries);
        if (scope.name.empty()) append(outside, scope.entries);
        if (scope.name == "trainer" || scope.name == "model")
            append(trainer, scope.entries);
        else if (!scope.name.empty() && telling(scope.entries) >= kLikeEnough && recipes.size() < kMost)
            recipes.push_back(&scope);
    }
    if (telling(all) < kLikeEnough) return std::nullopt;
    ReadJobs read;
    const FormatReader* reader = reader_for(text, all);
    read.format = reader->id;
    const auto add = [&](const std::string& title, std::int64_t line, std::vector<Entry> entries) {
        ReadJob job{title, line, {}};
        job.in.entries = std::move(entries);
        job.in.answers = set;
        reader->read(job.in);
        // What is computed and was looked for by nobody is code, and no setting.
        std::erase_if(job.in.entries, [](const Entry& entry) {
            return entry.fate == Fate::unknown && !entry.open.empty() && entry.shown.find('.') == std::string::npos;
        });
        for (const Entry& entry : job.in.entries)
            if (entry.fate == Fate::open)
                for (const std::string& name : entry.open) read.choices[name];
        read.jobs.push_back(std::move(job));
    };
    for (const PythonScope* recipe : recipes) {
        std::vector<Entry> entries = outside;
        if (recipe->name.starts_with("pretrain")) append(entries, trainer);
        append(entries, recipe->entries);
        add(recipe->name, recipe->line, std::move(entries));
    }
    if (recipes.empty()) add("", 0, std::move(all));
    return read;
}

}  // namespace fourfold
