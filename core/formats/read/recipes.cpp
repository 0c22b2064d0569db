// Recipes in Python: a job for each function that says how to train.
#include <algorithm>
#include <cctype>
#include <map>

#include "formats/python/commands.h"
#include "formats/python/nanotron.h"
#include "formats/python/olmo.h"
#include "formats/python/python.h"
#include "formats/python/settings.h"
#include "formats/python/syntax.h"
#include "formats/python/trainers.h"
#include "formats/read/jobs.h"
#include "formats/shell/shell.h"

namespace fourfold {

namespace {

constexpr int kLikeEnough = 2;
constexpr std::size_t kMost = 50;

int telling(const std::vector<Entry>& entries) {
    return count_like(
        entries, {"*_model_parallel_size", "*tensor_parallelism", "*pipeline_parallelism", "*context_parallelism", "*context_parallel_size",
                  "*num_nodes", "*num_gpus_per_node", "recipe_call", "*global_batch_size", "*micro_batch_size", "*seq_length",
                  "*_parallel_degree", "training.seq_len", "training.local_batch_size", "training.max_context_length",
                  "cfg.mixed_precision", "activation_checkpoint.mode", "parallelism.data_parallel*", "model_converters.converters"});
}

// Whether a function sets something itself, or has a recipe changed by other functions, and does not merely start another one.
bool says_own(const std::vector<Entry>& entries) {
    return telling(entries) > 0 || (count_like(entries, {"recipe_call"}) > 0 && count_like(entries, {kCall}) > 0) ||
           count_like(entries, {"*.model.*", "*.strategy.*", "*.mixed_precision", "*.plugins"}) > 0;
}

// Torchtitan's say so; Megatron-Bridge's configuration is called "cfg" or holds a section "train"; NeMo 2 has a trainer.
const FormatReader* reader_for(std::string_view text, const std::vector<Entry>& entries) {
    if (has_sections(text)) return reader_called("torchtitan");
    const bool bridge = text.find("megatron.bridge") != std::string_view::npos || text.find("ConfigContainer") != std::string_view::npos ||
                        text.find("AutoBridge") != std::string_view::npos || text.find("WorkloadBaseConfig") != std::string_view::npos ||
                        count_like(entries, {"cfg.*", "config.model.*"}) > 0;
    return reader_called(bridge ? "megatron-bridge" : "nemo-2");
}

// A configuration that another function starts, of which one thing is changed, is torchtitan's as well as NeMo's.
bool is_recipe(const std::vector<Entry>& entries, bool sections) {
    const int start = sections ? std::min(count_like(entries, {"config"}), 1) : 0;
    return telling(entries) + start >= kLikeEnough;
}

void append(std::vector<Entry>& to, const std::vector<Entry>& from) { to.insert(to.end(), from.begin(), from.end()); }

using Scopes = std::vector<PythonScope>;

// Puts the entries of functions of the text where they are called, and those of a preset's base before its own. A text cannot make it
// grow without end.
class Calls {
 public:
    explicit Calls(const Scopes& scopes) {
        for (const PythonScope& scope : scopes)
            if (!scope.name.empty()) scopes_[scope.name] = &scope;
    }

    const PythonScope* called(const std::string& name) const {
        const auto found = scopes_.find(name);
        return found == scopes_.end() ? nullptr : found->second;
    }

    std::vector<Entry> entries(const PythonScope& scope, int depth = 0) {
        std::vector<Entry> all;
        if (const PythonScope* base = called(scope.base); may_add(base, scope, depth)) all = entries(*base, depth + 1);
        for (const Entry& entry : scope.entries) {
            if (entry.key != kCall) {
                all.push_back(entry);
                if (depth > 0) --left_;
                continue;
            }
            const PythonScope* inner = called(entry.value.get<std::string>());
            if (!may_add(inner, scope, depth)) continue;
            for (Entry& one : entries(*inner, depth + 1)) {
                one.open.insert(one.open.end(), entry.open.begin(), entry.open.end());
                all.push_back(std::move(one));
            }
        }
        return all;
    }

 private:
    // A function that asks for machines says nothing about the training.
    bool may_add(const PythonScope* inner, const PythonScope& scope, int depth) {
        constexpr int kDeepest = 4;
        return inner != nullptr && inner != &scope && depth < kDeepest && left_-- > 0 && inner->name.find("executor") == std::string::npos;
    }

    std::map<std::string, const PythonScope*> scopes_;
    int left_ = 100'000;
};

// In a program, what another of its jobs calls is a part of that one; in a library each is a recipe, but for those whose names begin with
// "_", or say that they make a model alone.
bool is_part(const Calls& calls, const std::vector<const PythonScope*>& jobs, const PythonScope& scope) {
    return std::any_of(jobs.begin(), jobs.end(), [&](const PythonScope* job) {
        return job != &scope && std::any_of(job->entries.begin(), job->entries.end(), [&](const Entry& entry) {
                   return entry.key == kCall && calls.called(entry.value.get<std::string>()) == &scope;
               });
    });
}

// "LLAMA3_70B_H100_BF16_BASE_CONFIG": the model stands before the GPU. What is not said is 1 (WorkloadBaseConfig,
// scripts/performance/utils/utils.py of Megatron-Bridge).
std::vector<Entry> preset_entries(const std::string& name) {
    std::vector<Entry> entries = {{"performance", "", true}};
    for (const char* key : {"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
                            "expert_model_parallel_size", "micro_batch_size"})
        entries.push_back({key, "", 1});
    std::size_t cut = std::string::npos;
    for (const char* gpu : {"_GB", "_B200", "_B300", "_H100", "_VR200", "_R100"}) cut = std::min(cut, name.find(gpu));
    if (cut != std::string::npos) entries.push_back({"recipe", "", name.substr(0, cut)});
    return entries;
}

// "gpt_oss_20b_pretrain_8gpu_vr200_nvfp4_config": GPUs that a recipe's name says, as those of Megatron-Bridge's perf_recipes do.
void add_named_gpus(const PythonScope& recipe, std::vector<Entry>& entries) {
    const std::size_t end = recipe.name.find("gpu_");
    std::size_t begin = end;
    if (end == std::string::npos || count_like(entries, {"*num_gpus*", "*num_nodes", "*gpus_per_node"}) > 0) return;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(recipe.name[begin - 1])) != 0) --begin;
    if (begin == end || begin == 0 || recipe.name[begin - 1] != '_' || end - begin > 6) return;
    entries.push_back({"num_gpus", recipe.name, std::stoll(recipe.name.substr(begin, end - begin)), recipe.line});
}

void add_job(ReadJobs& read, const FormatReader& reader, const NamesSet& set, ReadJob job, std::vector<Entry> entries) {
    job.in.entries = std::move(entries);
    std::erase_if(job.in.entries, [](const Entry& entry) { return entry.key == kCall; });
    job.in.answers = set;
    reader.read(job.in);
    // What is computed and was looked for by nobody is code, and no setting; nor is a constant, which counts where it is used.
    const auto constant = [](const std::string& name) {
        return name.size() > 1 && name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
    };
    std::erase_if(job.in.entries, [&](const Entry& entry) {
        const bool computed = reader.id != "torchtitan" && !entry.open.empty() && entry.shown.find('.') == std::string::npos;
        return entry.fate == Fate::unknown && (computed || constant(entry.shown));
    });
    add_job(read, std::move(job));
}

}  // namespace

// Settings of a trainer, or a command of another program.
static std::optional<ReadJobs> read_other_ways(std::string_view text, const std::vector<Entry>& all, const NamesSet& set,
                                               const std::vector<Entry>& launcher) {
    auto read = read_python_trainers(text, all, set, launcher);
    return read ? std::move(read) : read_python_commands(text, all, set);
}

static std::optional<ReadJobs> read_plain(const std::string& plain, const NamesSet& set, const std::vector<Entry>& launcher) {
    const Scopes scopes = read_python(plain, set);
    Calls calls(scopes);
    std::vector<Entry> outside, trainer, all;
    std::vector<const PythonScope*> recipes;
    const bool sections = has_sections(plain);
    for (const PythonScope& scope : scopes) {
        append(all, scope.entries);
        if (scope.name.empty()) append(outside, scope.entries);
        if (scope.name == "trainer" || scope.name == "model")
            append(trainer, scope.entries);
        else if (!scope.name.empty() && says_own(scope.entries) && is_recipe(calls.entries(scope), sections) && recipes.size() < kMost)
            recipes.push_back(&scope);
    }
    if (auto nanotron = read_python_nanotron(plain, all, set)) return nanotron;
    if (auto olmo = read_python_olmo(plain, all, set)) return olmo;
    if (auto settings = read_python_settings(plain, all, set)) return settings;
    if (auto colossal = read_python_colossal(plain, all, set)) return colossal;
    const bool trainer_says = count_like(all, {"per_device_train_batch_size"}) > 0;  // beside "max_seq_length"
    if (puts_arguments_together(plain)) return read_python_commands(plain, all, set);
    if (telling(all) < kLikeEnough || trainer_says)
        if (auto other = read_other_ways(plain, all, set, launcher); other || telling(all) < kLikeEnough) return other;
    const std::vector<const PythonScope*> jobs = recipes;
    const bool program = plain.find("__main__") != std::string::npos;
    std::erase_if(recipes, [&](const PythonScope* one) {
        return (program || one->name.starts_with('_') || one->name.ends_with("model_config")) && is_part(calls, jobs, *one);
    });
    if (recipes.empty()) recipes = jobs;
    ReadJobs read;
    const FormatReader* reader = reader_for(plain, all);
    read.format = reader->id;
    const auto has = [&](std::string_view word) { return plain.find(word) != std::string::npos; };
    if (read.format == "nemo-2" && !has("nemo") && !has("recipe") && !has("_parallel") && !has("llm.") && !has("strategy"))
        return std::nullopt;  // a program of somebody's own
    for (const PythonScope* recipe : recipes) {
        std::vector<Entry> entries = recipe->preset ? preset_entries(recipe->name) : outside;
        if (recipe->name.starts_with("pretrain")) append(entries, trainer);
        append(entries, calls.entries(*recipe));
        if (reader->id == "megatron-bridge") add_named_gpus(*recipe, entries);
        add_job(read, *reader, set, {recipe->name, recipe->line, {}}, std::move(entries));
    }
    if (recipes.empty()) add_job(read, *reader, set, {}, std::move(all));
    return read;
}

std::optional<ReadJobs> read_recipes(std::string_view text, const NamesSet& set, const std::vector<Entry>& launcher) {
    std::string plain(text);
    std::erase_if(plain, [](char c) { return c == kOpen || c == kClose; });
    auto read = read_plain(plain, set, launcher);
    if (const std::int64_t line = read ? python_stops_at(plain) : 0; line > 0)
        for (ReadJob& job : read->jobs) job.in.refused.push_back(Text("import_plan.refused.python").with("line", line));
    return read;
}

}  // namespace fourfold
