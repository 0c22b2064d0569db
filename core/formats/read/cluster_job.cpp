// Jobs of Kubernetes: PyTorchJob and MPIJob of Kubeflow's training operator (pkg/apis/kubeflow.org/v1), TrainJob of its Trainer
// (trainer.kubeflow.org/v1alpha1), JobSet (jobset.x-k8s.io/v1alpha2), Job (batch/v1), Volcano's (batch.volcano.sh/v1alpha1), a Pod. A task
// of SkyPilot (docs/source/reference/yaml-spec.rst).
#include <algorithm>

#include "base/text.h"
#include "formats/python/tokens.h"
#include "formats/read/wrapped.h"
#include "formats/shell/files.h"

namespace fourfold {

namespace {

using Settings = std::vector<Entry>;
constexpr std::int64_t kMostPods = 65'536;
constexpr std::size_t kMostContainers = 20;

std::int64_t whole_in(const Json& value) {
    const auto number = number_in(value);
    return number && *number > 0 && *number <= kMostPods ? static_cast<std::int64_t>(*number) : 0;
}

// "spec.template.spec.containers.0" of such a key, or "spec.trainer"; "": it is of none.
std::string_view container_of(std::string_view key) {
    constexpr std::string_view kList = "containers.", kTrainer = "spec.trainer.";
    if (key.starts_with(kTrainer)) return key.substr(0, kTrainer.size() - 1);
    for (std::size_t at = key.find(kList); at != std::string_view::npos; at = key.find(kList, at + 1)) {
        const std::size_t begin = at + kList.size(), end = key.find_first_not_of("0123456789", begin);
        if ((at == 0 || key[at - 1] == '.') && end < key.size() && end > begin && key[end] == '.') return key.substr(0, end);
    }
    return "";
}

const Entry* setting(const Settings& entries, const std::string& key) {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
    return found == entries.end() ? nullptr : &*found;
}
std::int64_t number_at(const Settings& entries, const std::string& key) {
    const Entry* const entry = setting(entries, key);
    return entry == nullptr ? 0 : whole_in(entry->value);
}

// Of what stands above a container, each says how many there are of what stands below.
bool says_pods(std::string_view key, std::string_view path) {
    for (const std::string_view name : {"replicas", "parallelism"})
        if (key.ends_with(name)) {
            const std::string_view above = key.substr(0, key.size() - name.size());
            return path.starts_with(above) && (above.empty() || above.ends_with('.'));
        }
    return false;
}

struct Pods {
    std::int64_t gpus = 0, count = 0, each = 0, processes = 0;  // each: 0 where they differ
    bool unsaid = false;                                        // of some that train
};

// Roles of Kubeflow whose containers are not said are like the others.
Pods pods_in(const Settings& entries, const std::vector<std::string>& paths) {
    Pods all;
    bool same = true;
    for (const std::string& path : paths) {
        std::int64_t gpus = 0, count = path == "spec.trainer" ? std::max<std::int64_t>(number_at(entries, path + ".numNodes"), 1) : 1;
        for (const Entry& entry : entries) {
            if (entry.key.starts_with(path + ".resources") && entry.key.ends_with(".com/gpu")) gpus = std::max(gpus, whole_in(entry.value));
            if (says_pods(entry.key, path)) count = std::min(count * whole_in(entry.value), kMostPods);
        }
        if (gpus == 0 && path.find("pytorchReplicaSpecs") != std::string::npos) all.unsaid = true, all.count += count;  // it trains too
        if (gpus == 0) continue;
        same = same && (all.each == 0 || all.each == gpus);
        all.each = gpus;
        all.count += count, all.gpus += count * gpus;
    }
    for (const Entry& entry : entries)
        if (same && matches("*eplicaSpecs.*.replicas", entry.key) &&
            std::none_of(paths.begin(), paths.end(), [&](const std::string& path) { return says_pods(entry.key, path); })) {
            const std::int64_t count = whole_in(entry.value);
            all.count += count, all.gpus += count * all.each;
        }
    if (!same || all.unsaid) all.each = 0;
    if (all.unsaid) all.gpus = 0;
    for (const char* key : {"spec.trainer.numProcPerNode", "spec.nprocPerNode", "spec.elasticPolicy.nProcPerNode"})
        all.processes = std::max(all.processes, number_at(entries, key));
    return all;
}

// "$(NAME)" is Kubernetes' own: the value of a name in its environment.
std::string with_named(std::string text) {
    for (std::size_t at = text.find("$("); at != std::string::npos; at = text.find("$(", at + 1)) {
        const std::size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at + 2);
        if (end != std::string::npos && text[end] == ')' && end > at + 2) text[at + 1] = '{', text[end] = '}';
    }
    return text;
}

bool is_a_shell(std::string_view word) { return word == "sh" || word == "bash" || word.ends_with("/sh") || word.ends_with("/bash"); }

// What it starts, as a script: what stands behind "bash -c", or its words.
std::string started_by(const Settings& entries, const std::string& path, std::int64_t& line) {
    std::vector<std::string> words;
    for (const char* name : {".command", ".args"}) {
        const Entry* const entry = setting(entries, path + name);
        if (entry == nullptr) continue;
        line = entry->line;
        for (const Json& one : entry->value.is_array() ? entry->value : Json::array({entry->value}))
            words.push_back(with_named(one.is_string() ? one.get<std::string>() : dumped(one)));
    }
    std::size_t at = !words.empty() && is_a_shell(words[0]) ? 1 : 0;
    while (at > 0 && at + 1 < words.size() && words[at][0] == '-' && !words[at].ends_with('c')) ++at;
    if (at > 0 && at + 1 < words.size() && words[at][0] == '-') return words[at + 1];
    if (words.size() == 1) return words[0];
    std::string text;
    for (const std::string& word : words) {
        text += " \"";
        for (const char c : word) {
            if (c == '"' || c == '\\' || c == '`') text += '\\';
            text += c;
        }
        text += '"';
    }
    return text;
}

// On its first line, so that the others keep their numbers.
void set(std::string& text, std::string_view name, std::string_view value) {
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), in_name);
    if (plain && value.find_first_of("'\n") == std::string_view::npos) text += joined({"export ", name, "='", value, "'; "});
}
// Operators tell torchrun how many pods there are.
std::string environment_of(const Settings& entries, const std::string& path, const Pods& pods) {
    std::string text;
    if (pods.count > 0 && (path == "spec.trainer" || path.find("pytorchReplicaSpecs") != std::string::npos)) {
        const std::string count = dumped(pods.count);
        set(text, "PET_NNODES", count);
        const std::int64_t processes = pods.processes > 0 ? pods.processes : pods.each;
        if (processes > 0) set(text, "PET_NPROC_PER_NODE", dumped(processes));
        if (pods.processes == 0) set(text, "WORLD_SIZE", count);
    }
    int names = 200;  // at most
    for (const Entry& entry : entries) {
        if (names == 0 || !entry.key.starts_with(path + ".env.") || !entry.key.ends_with(".name") || !entry.value.is_string()) continue;
        --names;
        const Entry* const value = setting(entries, entry.key.substr(0, entry.key.size() - 4) + "value");
        if (value != nullptr)
            set(text, entry.value.get_ref<const std::string&>(),
                value->value.is_string() ? value->value.get<std::string>() : dumped(value->value));
    }
    return text;
}

// Workers start what their master does.
void add_jobs(ReadJobs read, std::optional<ReadJobs>& all) {
    if (!all)
        all = std::move(read);
    else if (read.format == all->format)
        for (ReadJob& job : read.jobs)
            if (std::none_of(all->jobs.begin(), all->jobs.end(), [&](const ReadJob& one) { return one.in.job == job.in.job; }))
                all->jobs.push_back(std::move(job));
}

// "H100:8", "H100", {H100: 8}; several to choose from must be as many.
std::int64_t accelerators_in(const Settings& entries) {
    constexpr std::string_view kKey = "resources.accelerators";
    std::int64_t each = 0;
    bool same = true;
    for (const Entry& entry : entries) {
        if (!entry.key.starts_with(kKey)) continue;
        const std::string of_key = entry.key.size() > kKey.size() + 1 ? entry.key.substr(kKey.size() + 1) : "";
        for (const Json& value : entry.value.is_array() ? entry.value : Json::array({entry.value})) {
            const std::string text = value.is_string() ? value.get<std::string>() : of_key;
            if (text.empty()) continue;
            const std::size_t cut = text.find(':');
            const std::int64_t count = value.is_number()          ? whole_in(value)
                                       : cut == std::string::npos ? 1
                                                                  : whole_in(Json(text.substr(cut + 1)));
            same = same && (each == 0 || each == count);
            each = count;
        }
    }
    return same ? each : 0;
}

// $(echo "$SKYPILOT_NODE_IPS" | wc -l): the number of nodes, before there was a name for it.
void count_nodes(std::string& text, std::string_view count) {
    for (const char* name : {"SKYPILOT_NODE_IPS", "SKY_NODE_IPS"})
        for (const auto& [open, close] : {std::pair("$(", ")"), std::pair("`", "`")})
            for (const auto& [before, behind] : {std::pair("\"$", "\""), std::pair("\"${", "}\""), std::pair("$", "")}) {
                const std::string asked = joined({open, "echo ", before, name, behind, " | wc -l", close});
                for (std::size_t at = text.find(asked); at != std::string::npos; at = text.find(asked, at))
                    text.replace(at, asked.size(), count);
            }
}

// What it runs on each node, with what SkyPilot sets there (skylet/constants.py).
std::optional<ReadJobs> read_sky_task(const Settings& entries, const NamesSet& names) {
    const Entry* const run = setting(entries, "run");
    const std::int64_t each = accelerators_in(entries);
    if (run == nullptr || !run->value.is_string() || each == 0) return std::nullopt;
    const std::int64_t nodes = std::max<std::int64_t>(number_at(entries, "num_nodes"), 1);
    std::string text, script = run->value.get<std::string>();
    set(text, "SKYPILOT_NUM_NODES", dumped(nodes));
    set(text, "SKYPILOT_NUM_GPUS_PER_NODE", dumped(each));
    set(text, "SKYPILOT_NODE_RANK", "0");
    for (const Entry& entry : entries)
        if (entry.key.starts_with("envs.") && !entry.value.is_null() && text.size() < 20'000)
            set(text, entry.key.substr(5), entry.value.is_string() ? entry.value.get<std::string>() : dumped(entry.value));
    count_nodes(script, dumped(nodes));
    auto read = read_script(text + script, names, run->line + 1);
    if (!read || read->jobs.size() != 1) return read;
    Import& in = read->jobs[0].in;
    if (!in.job.contains("gpus") && !in.hangs("gpus")) in.job["gpus"] = std::min(nodes * each, kMostPods);
    if (nodes > 1 && !in.job.contains("gpus_per_node")) in.job["gpus_per_node"] = each;
    std::erase(in.asked, "gpus");
    return read;
}

}  // namespace

std::optional<ReadJobs> read_cluster_job(const std::vector<Entry>& entries, const NamesSet& set) {
    if (auto task = read_sky_task(entries, set)) return task;
    std::vector<std::string> paths;
    for (const Entry& entry : entries) {
        const std::string_view path = container_of(entry.key);
        if (!path.empty() && paths.size() < kMostContainers && std::find(paths.begin(), paths.end(), path) == paths.end())
            paths.emplace_back(path);
    }
    const Pods pods = pods_in(entries, paths);
    NamesSet names = set;
    if (pods.gpus > 0) names.emplace("gpus", dumped(pods.gpus));
    std::optional<ReadJobs> all;
    std::string scripts;
    for (const std::string& path : paths) {
        std::int64_t line = 1;
        const std::string script = started_by(entries, path, line);
        if (!holds_command(script) && script.find("train") == std::string::npos) continue;
        scripts += script;
        if (auto read = read_script(environment_of(entries, path, pods) + script, names, std::max<std::int64_t>(line, 1)))
            add_jobs(std::move(*read), all);
    }
    // What a pod with GPUs asks for says nothing of one without a word, unless the command says it.
    const bool told = set.contains("gpus") || pods.processes > 0 || !pods.unsaid || scripts.find("nproc") != std::string::npos;
    if (all && !told)
        for (ReadJob& job : all->jobs) {
            for (const char* field : {"gpus", "gpus_per_node", "global_batch"}) job.in.job.erase(field);
            job.in.asked.emplace_back("gpus");
        }
    if (!all || all->jobs.size() != 1 || pods.gpus == 0) return all;
    Import& in = all->jobs[0].in;  // where its command did not say on how many it starts
    if (!in.job.contains("gpus")) in.job["gpus"] = pods.gpus;
    if (pods.each > 0 && pods.count > 1 && !in.job.contains("gpus_per_node")) in.job["gpus_per_node"] = pods.each;
    std::erase(in.asked, "gpus");
    return all;
}

}  // namespace fourfold
