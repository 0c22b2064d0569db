// Jobs of Kubernetes: PyTorchJob and MPIJob of Kubeflow's training operator (pkg/apis/kubeflow.org/v1), TrainJob of its Trainer
// (trainer.kubeflow.org/v1alpha1), JobSet (jobset.x-k8s.io/v1alpha2), Job (batch/v1), Volcano's (batch.volcano.sh/v1alpha1), a Pod.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "formats/shell_files.h"
#include "formats/wrapped.h"

namespace fourfold {

namespace {

constexpr std::int64_t kMostPods = 65'536;
constexpr std::size_t kMostContainers = 20;

struct Container {
    std::string path;
    std::int64_t line = 0;
    std::vector<std::string> command{}, arguments{};
    std::map<std::string, std::string> names{}, values{};  // of its environment, by their places
    std::int64_t gpus = 0, pods = 1, processes = 0;
};

std::int64_t whole_in(const Json& value) {
    const auto number = number_in(value);
    return number && *number > 0 && *number <= kMostPods ? static_cast<std::int64_t>(*number) : 0;
}

// "spec.template.spec.containers.0" of such a key, or "spec.trainer"; "": it is of none.
std::string container_of(std::string_view key) {
    constexpr std::string_view kList = "containers.", kTrainer = "spec.trainer.";
    if (key.starts_with(kTrainer)) return std::string(kTrainer.substr(0, kTrainer.size() - 1));
    for (std::size_t at = key.find(kList); at != std::string_view::npos; at = key.find(kList, at + 1)) {
        if (at > 0 && key[at - 1] != '.') continue;
        const std::size_t begin = at + kList.size(), end = std::min(key.find_first_not_of("0123456789", begin), key.size());
        if (end > begin && end < key.size() && key[end] == '.') return std::string(key.substr(0, end));
    }
    return "";
}

void add_words(const Json& value, std::vector<std::string>& words) {
    for (const Json& one : value.is_array() ? value : Json::array({value}))
        if (!one.is_null()) words.push_back(one.is_string() ? one.get<std::string>() : dumped(one));
}

void add(const Entry& entry, Container& into) {
    const std::string_view rest = std::string_view(entry.key).substr(into.path.size() + 1);
    if (rest == "command" || rest == "args") {
        add_words(entry.value, rest == "command" ? into.command : into.arguments);
        if (into.line == 0 || rest == "args") into.line = entry.line;
    } else if (rest.starts_with("env.")) {
        const std::string place(rest.substr(0, rest.rfind('.')));
        std::vector<std::string> text;
        add_words(entry.value, text);
        if (text.size() == 1 && rest == place + ".name") into.names[place] = text[0];
        if (text.size() == 1 && rest == place + ".value") into.values[place] = text[0];
    } else if (rest.starts_with("resources") && rest.ends_with(".com/gpu")) {
        into.gpus = std::max(into.gpus, whole_in(entry.value));
    } else if (rest == "numNodes") {
        into.pods = std::max<std::int64_t>(whole_in(entry.value), 1);
    } else if (rest == "numProcPerNode") {
        into.processes = whole_in(entry.value);
    }
}

// Of what stands above a container, each says how many there are of what stands below.
bool says_pods(const Entry& entry, std::string_view path) {
    for (const std::string_view name : {"replicas", "parallelism"}) {
        const std::string_view key = entry.key;
        const std::string_view above = key.ends_with(name) ? key.substr(0, key.size() - name.size()) : std::string_view(" ");
        if (path.starts_with(above) && (above.empty() || above.ends_with('.'))) return true;
    }
    return false;
}

std::vector<Container> containers_in(const std::vector<Entry>& entries) {
    std::vector<Container> all;
    for (const Entry& entry : entries) {
        const std::string path = container_of(entry.key);
        if (path.empty()) continue;
        auto found = std::find_if(all.begin(), all.end(), [&](const Container& one) { return one.path == path; });
        if (found == all.end() && all.size() == kMostContainers) continue;
        if (found == all.end()) all.push_back({path}), found = all.end() - 1;
        add(entry, *found);
    }
    for (Container& one : all)
        for (const Entry& entry : entries) {
            if (says_pods(entry, one.path) && number_in(entry.value))
                one.pods = std::min(one.pods * std::max<std::int64_t>(whole_in(entry.value), 0), kMostPods);
            if (entry.key == "spec.nprocPerNode" || entry.key == "spec.elasticPolicy.nProcPerNode") one.processes = whole_in(entry.value);
        }
    return all;
}

// Roles of Kubeflow whose containers are not said are like the others.
std::int64_t bare_pods(const std::vector<Entry>& entries, const std::vector<Container>& all) {
    std::int64_t pods = 0;
    for (const Entry& entry : entries)
        if (matches("*eplicaSpecs.*.replicas", entry.key) &&
            std::none_of(all.begin(), all.end(), [&](const Container& one) { return says_pods(entry, one.path); }))
            pods = std::min(pods + whole_in(entry.value), kMostPods);
    return pods;
}

struct Pods {
    std::int64_t gpus = 0, count = 0, each = 0;  // each: 0 where pods differ
};
Pods pods_in(const std::vector<Entry>& entries, const std::vector<Container>& all) {
    Pods pods;
    bool same = true;
    for (const Container& one : all) {
        if (one.gpus == 0) continue;
        same = same && (pods.each == 0 || pods.each == one.gpus);
        pods.each = one.gpus;
        pods.count += one.pods, pods.gpus += one.pods * one.gpus;
    }
    const std::int64_t bare = same ? bare_pods(entries, all) : 0;
    pods.count += bare, pods.gpus += bare * pods.each;
    if (!same) pods.each = 0;
    return pods;
}

// "$(NAME)" is Kubernetes' own: the value of a name in its environment.
std::string with_named(std::string_view text) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t end = text.substr(i, 2) == "$(" ? text.find(')', i) : std::string_view::npos;
        const std::string_view name = end == std::string_view::npos ? std::string_view() : text.substr(i + 2, end - i - 2);
        const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
            return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
        });
        if (plain) all += joined({"${", name, "}"});
        if (plain)
            i = end;
        else
            all += text[i];
    }
    return all;
}

bool is_a_shell(std::string_view word) { return word == "sh" || word == "bash" || word.ends_with("/sh") || word.ends_with("/bash"); }

// What it starts, as a script: what stands behind "bash -c", or its words.
std::string started_by(const Container& one) {
    std::vector<std::string> words = one.command;
    words.insert(words.end(), one.arguments.begin(), one.arguments.end());
    std::size_t at = !words.empty() && is_a_shell(words[0]) ? 1 : 0;
    while (at > 0 && at + 1 < words.size() && words[at].starts_with('-') && !words[at].ends_with('c')) ++at;
    if (at > 0 && at + 1 < words.size() && words[at].starts_with('-')) return with_named(words[at + 1]);
    if (words.size() == 1) return with_named(words[0]);
    std::string text;
    for (const std::string& word : words) {
        text += text.empty() ? "\"" : " \"";
        for (const char c : with_named(word)) {
            if (c == '"' || c == '\\' || c == '`') text += '\\';
            text += c;
        }
        text += '"';
    }
    return text;
}

// On its first line, so that the others keep their numbers. Operators tell torchrun how many pods there are.
std::string environment_of(const Container& one, const Pods& pods) {
    std::string text;
    const auto set = [&](const std::string& name, const std::string& value) {
        const bool plain =
            !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
        if (plain && value.find_first_of("'\n") == std::string::npos) text += joined({"export ", name, "='", value, "'; "});
    };
    const bool kubeflow = one.path.find("pytorchReplicaSpecs") != std::string::npos || one.path == "spec.trainer";
    if (kubeflow && pods.count > 0) {
        const std::int64_t processes = one.processes > 0 ? one.processes : pods.each;
        set("PET_NNODES", std::to_string(pods.count));
        if (processes > 0) set("PET_NPROC_PER_NODE", std::to_string(processes));
        if (one.processes == 0) set("WORLD_SIZE", std::to_string(pods.count));
    }
    for (const auto& [place, name] : one.names)
        if (const auto value = one.values.find(place); value != one.values.end()) set(name, value->second);
    return text;
}

void add_jobs(ReadJobs read, std::optional<ReadJobs>& all) {
    if (!all) {
        all = std::move(read);
        return;
    }
    if (read.format != all->format) return;
    for (ReadJob& job : read.jobs)  // workers start what their master does
        if (std::none_of(all->jobs.begin(), all->jobs.end(), [&](const ReadJob& one) { return one.in.job == job.in.job; }))
            all->jobs.push_back(std::move(job));
}

// Of each pod's GPUs, where its command did not say how many it starts on.
void settle(const Pods& pods, Import& in) {
    if (pods.gpus == 0) return;
    if (!in.job.contains("gpus")) in.job["gpus"] = pods.gpus;
    if (pods.each > 0 && pods.count > 1) in.job.emplace("gpus_per_node", pods.each);
    std::erase(in.asked, "gpus");
}

}  // namespace

std::optional<ReadJobs> read_cluster_job(const std::vector<Entry>& entries, const NamesSet& set) {
    const std::vector<Container> containers = containers_in(entries);
    const Pods pods = pods_in(entries, containers);
    NamesSet names = set;
    if (pods.gpus > 0) names.emplace("gpus", std::to_string(pods.gpus));
    std::optional<ReadJobs> all;
    for (const Container& one : containers) {
        const std::string script = started_by(one);
        if (!holds_command(script) && script.find("train") == std::string::npos) continue;
        if (auto read = read_script(environment_of(one, pods) + script, names, std::max<std::int64_t>(one.line, 1)))
            add_jobs(std::move(*read), all);
    }
    if (all && all->jobs.size() == 1) settle(pods, all->jobs[0].in);
    return all;
}

}  // namespace fourfold
