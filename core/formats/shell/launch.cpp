// torchrun, torch.distributed.launch, srun, sbatch, PBS, Age (rt_AF: 8 GPUs a node; node_f: TSUBAME's, with 4), mpirun, deepspeed.
#include "formats/shell/launch.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "base/text.h"
#include "formats/megatron/read.h"
#include "formats/shell/parts.h"
#include "formats/shell/script_commands.h"

namespace fourfold {

namespace {

bool is_flag(std::string_view word) {
    return word.size() > 2 && word.starts_with("--") && std::isalpha(static_cast<unsigned char>(word[2])) != 0;
}

// "--${PRECISION}"
bool is_open_flag(std::string_view word) { return word.size() > 2 && word.starts_with("--") && word[2] == kOpen; }

// A quoted text with several arguments in it counts as these.
ShellWords separate(const ShellWords& words) {
    ShellWords all;
    for (const ShellWord& word : words) {
        if (!(is_flag(word.text) && word.text.find(' ') != std::string::npos) && word.text.find(" --") == std::string::npos) {
            all.push_back(word);
            continue;
        }
        std::string part;
        int marks = 0;
        for (const char c : word.text + " ") {
            marks += c == kOpen ? 1 : c == kClose ? -1 : 0;
            if (marks > 0 || std::isspace(static_cast<unsigned char>(c)) == 0)
                part += c;
            else if (!part.empty())
                all.push_back({std::exchange(part, {}), word.line});
        }
    }
    return all;
}

void add_open(Entry& entry, std::string_view text) {
    for (std::string& name : open_names(text))
        if (std::find(entry.open.begin(), entry.open.end(), name) == entry.open.end()) entry.open.push_back(std::move(name));
}

std::string bare(std::string_view text) {  // without marks and what stands in them
    std::string plain;
    int depth = 0;
    for (const char c : text) {
        if (c == kOpen) ++depth;
        if (depth == 0) plain += c;
        if (c == kClose) --depth;
    }
    return plain;
}

bool is_program(std::string_view word) {
    constexpr std::string_view kPrograms[] = {"python", "python3", "torchrun", "numactl", "bash", "sh", "deepspeed"};
    return word.ends_with(".py") || std::find(std::begin(kPrograms), std::end(kPrograms), word) != std::end(kPrograms);
}

// The number in "4", "h100:8", "gpu:a100:8" or "1:4" (of which the last is the most).
std::optional<std::int64_t> last_number(std::string_view text) {
    const std::size_t cut = text.rfind(':');
    if (cut != std::string_view::npos) text.remove_prefix(cut + 1);
    text = text.substr(0, text.find('('));
    if (text.empty() || text.size() > 7 || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return std::stoll(std::string(text));
}

struct Size {
    std::optional<std::int64_t> nodes, per_node, all;
    bool known() const { return all || (nodes && per_node); }
};

// "--nodes=4", "--nodes 4", "-N 4", "-N4"
std::string option(const ShellWords& words, std::initializer_list<std::string_view> names) {
    for (std::size_t i = 0; i < words.size(); ++i)
        for (const std::string_view name : names) {
            const std::string& word = words[i].text;
            if (word == name && i + 1 < words.size()) return words[i + 1].text;
            if (name.starts_with("--") && word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=')
                return word.substr(name.size() + 1);
            if (!name.starts_with("--") && word.size() > 2 && word.starts_with(name) &&
                std::isdigit(static_cast<unsigned char>(word[2])) != 0)
                return word.substr(2);
        }
    return "";
}

void fill(std::optional<std::int64_t>& into, std::string_view text) {
    if (!into) into = last_number(text);
}

// Of "0,1,2,3", how many; 0 where it is no list of numbers.
std::int64_t devices_in(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789,") != std::string_view::npos ||
        !std::isdigit(static_cast<unsigned char>(text[0])))
        return 0;
    return 1 + std::count(text.begin(), text.end(), ',');
}

Size of_scheduler(const ShellWords& words) {
    Size size;
    fill(size.nodes, option(words, {"--nodes", "-N"}));
    fill(size.per_node, option(words, {"--gpus-per-node"}));
    fill(size.per_node, option(words, {"--gres"}));
    fill(size.all, option(words, {"--gpus", "-G"}));
    if (!size.per_node && !size.all)  // "--ntasks-per-node=1 --gpus-per-task=4"
        if (const auto tasks = last_number(option(words, {"--ntasks-per-node"})), each = last_number(option(words, {"--gpus-per-task"}));
            tasks && each)
            size.per_node = *tasks * *each;
    if (!size.per_node && !size.all) {  // a task for each GPU; a single one starts them all
        fill(size.per_node, option(words, {"--ntasks-per-node"}));
        if (size.per_node == 1) size.per_node.reset();
    }
    if (!size.known() && !size.per_node) fill(size.all, option(words, {"--ntasks", "-n"}));
    // NQSV, which has PBS's mark: "-b 2" nodes, "--gpunum-lhost=8" of each.
    if (const std::string each = option(words, {"--gpunum-lhost"}); !each.empty()) {
        fill(size.per_node, each);
        fill(size.nodes, option(words, {"-b"}));
        if (!size.nodes) size.nodes = 1;
    }
    std::optional<std::int64_t> processes;
    for (const ShellWord& word : words) {
        // Fujitsu: "-L node=4", "--mpi proc=32", a process for each GPU; one on every node starts torchrun there
        if (word.text.starts_with("node=")) fill(size.nodes, word.text.substr(5));
        if (word.text.starts_with("proc=")) fill(processes, word.text.substr(5));
        // PBS: "select=16:ngpus=8:…"; Age: "rt_AF=32", "rt_F=4" (nodes of 8 and of 4 GPUs)
        std::size_t at = word.text.find("select=");
        if (at != std::string::npos) fill(size.nodes, word.text.substr(at + 7, word.text.find(':', at) - at - 7));
        at = word.text.find("ngpus=");
        if (at != std::string::npos) fill(size.per_node, word.text.substr(at + 6, word.text.find_first_of(":,", at) - at - 6));
        for (const auto& [name, gpus] : {std::pair{"rt_AF=", 8}, std::pair{"rt_HF=", 8}, std::pair{"rt_F=", 4}, std::pair{"node_f=", 4},
                                         std::pair{"node_h=", 2}, std::pair{"node_q=", 1}}) {
            at = word.text.find(name);
            if (at == std::string::npos || (at > 0 && word.text[at - 1] == 'A')) continue;
            fill(size.nodes, word.text.substr(word.text.find('=', at) + 1));
            size.per_node = gpus;
        }
    }
    if (processes && processes != size.nodes && !size.known()) size.all = processes;
    return size;
}

// deepspeed --include localhost:0,1,2,3; of several nodes: worker-1:0,1@worker-2:0,1
Size of_included(std::string_view included, Size size) {
    std::int64_t nodes = 0, all = 0, each = 0;
    bool same = true;
    while (!included.empty()) {
        const std::string_view node = included.substr(0, included.find('@'));
        included.remove_prefix(std::min(node.size() + 1, included.size()));
        const std::int64_t devices = node.find(':') == std::string_view::npos ? 0 : devices_in(node.substr(node.find(':') + 1));
        if (devices == 0) return size;
        same = same && (nodes == 0 || devices == each);
        ++nodes, all += devices, each = devices;
    }
    if (nodes == 0) return size;
    if (!same) return {.nodes = {}, .per_node = {}, .all = all};
    size.per_node = each;
    if (!size.nodes || nodes > 1) size.nodes = nodes;
    return size;
}

// Ai2's mason.py starts what stands behind "--" on nodes of its own, and tells accelerate how many processes they hold.
Size of_mason(const ShellWords& words) {
    const auto mason = std::find_if(words.begin(), words.end(), [](const ShellWord& word) { return word.text.ends_with("mason.py"); });
    const auto end = std::find_if(mason, words.end(), [](const ShellWord& word) { return word.text == "--"; });
    const ShellWords own(mason, end);
    Size size;
    fill(size.per_node, option(own, {"--gpus"}));
    fill(size.nodes, option(own, {"--num_nodes"}));
    if (size.per_node && !size.nodes) size.nodes = 1;
    return size;
}

// Relax: --resource '{"actor": [1, 8], "rollout": [1, 4]}', of which the actor trains.
std::optional<std::int64_t> actor_gpus(std::string_view resource) {
    constexpr std::string_view kActor = "\"actor\":[1,";
    std::string text(resource);
    std::erase(text, ' ');
    const std::size_t at = text.find(kActor);
    if (at == std::string::npos) return std::nullopt;
    const std::size_t begin = at + kActor.size();
    return last_number(std::string_view(text).substr(begin, text.find(']', begin) - begin));
}

// A name that is set for the command, or in the script.
std::string value_for(const ShellScript& script, const ShellCommand& command, std::string_view name) {
    for (const auto& [key, value] : command.settings)
        if (key == name) return value;
    const auto found = script.variables.find(std::string(name));
    return found == script.variables.end() || found->second.empty() ? std::string() : found->second[0].text;
}

Size of_launcher(const ShellScript& script, const ShellCommand& command, const ShellWords& words) {
    if (const Size mason = of_mason(words); mason.known()) return mason;
    Size size;
    fill(size.nodes, option(words, {"--nnodes", "--num_nodes", "--num_node", "--num-nodes", "--num_machines", "--actor-num-nodes"}));
    fill(size.per_node,
         option(words, {"--nproc_per_node", "--nproc-per-node", "--num_gpus", "--gpus_per_node", "--actor-num-gpus-per-node"}));
    fill(size.all, option(words, {"--num_processes", "--world_size"}));
    // torchrun takes what it is not told from PET_… (torch/distributed/argparse_util.py); operators of Kubernetes set these.
    if (option(words, {"--nnodes"}).empty()) fill(size.nodes, value_for(script, command, "PET_NNODES"));
    if (size.nodes) fill(size.per_node, value_for(script, command, "PET_NPROC_PER_NODE"));
    if (!size.all) size.all = actor_gpus(option(words, {"--resource"}));
    if (const std::string included = option(words, {"--include", "-i"}); !size.per_node) size = of_included(included, size);
    if (!words.empty() && words[0].text == "msrun") {  // of MindSpore
        fill(size.all, option(words, {"--worker_num"}));
        fill(size.per_node, option(words, {"--local_worker_num"}));
        if (size.all && size.per_node.value_or(0) > 0) size.nodes = *size.all / *size.per_node;
    }
    if (!words.empty() && words[0].text == "composer") fill(size.per_node, option(words, {"--nproc", "-n"}));
    const bool cray = !words.empty() && words[0].text == "aprun";
    const bool mpi =
        !words.empty() && (cray || words[0].text == "mpirun" || words[0].text == "mpiexec" || words[0].text.ends_with("/mpirun"));
    if (mpi) fill(size.all, option(words, {"-np", "-n", "--np"}));
    if (size.per_node && !size.nodes && option(words, {"--nnodes", "--hostfile"}).empty()) size.nodes = 1;  // torchrun's own default
    // A process for each GPU; one on every node starts torchrun there.
    const auto each = last_number(cray ? option(words, {"-N"}) : option(words, {"-npernode", "--npernode", "-ppn", "--ppn"}));
    if (mpi && each.value_or(0) > 1) fill(size.per_node, std::to_string(*each));
    return size;
}

Size of_names(const std::function<std::string(std::string_view)>& value) {
    Size size;
    for (const char* name : kNodeNames) fill(size.nodes, value(name));
    for (const char* name : kPerNodeNames) fill(size.per_node, value(name));
    for (const char* name : kAllNames) fill(size.all, value(name));
    if (!size.per_node && !size.all) {  // torchtitan's run_train.sh: of its one node
        fill(size.per_node, value(kOneNodesName));
        if (size.per_node && !size.nodes) size.nodes = 1;
    }
    return size;
}

void put(Import& in, const Size& size) {
    // On one node a part of its GPUs may be used.
    if (size.per_node && size.nodes.value_or(1) > 1 && !in.job.contains("gpus_per_node")) in.job["gpus_per_node"] = *size.per_node;
    if (in.job.contains("gpus") || !size.known()) return;
    const std::int64_t gpus = size.nodes && size.per_node ? *size.nodes * *size.per_node : *size.all;
    if (gpus > 0 && gpus < 100'000'000) in.job["gpus"] = gpus;
}

}  // namespace

// A name of unknown value that cannot be the argument's own: what it stands for, if anything, are further arguments.
static bool stands_alone(const Entry& entry, const Json& values, std::string_view word) {
    const bool lists = matches("*data*", entry.key) || matches("*modules", entry.key) || matches("rampup*", entry.key);
    return is_one_name(word) && (is_megatron_switch(entry.key) || (!values.empty() && !lists));
}

std::vector<Entry> arguments_of(const ShellCommand& command) {
    std::vector<Entry> entries;
    const ShellWords words = separate(command.words);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (is_open_flag(words[i].text))
            entries.push_back({"", without_marks(words[i].text), "", words[i].line, open_names(words[i].text)});
        if (!is_flag(words[i].text)) continue;
        Entry entry;
        entry.line = words[i].line;
        add_open(entry, words[i].text);
        std::string name = bare(words[i].text);
        Json values = Json::array();
        std::vector<Entry> alone;
        if (const std::size_t cut = words[i].text.find('='); cut != std::string::npos && name.find('=') != std::string::npos) {
            values.push_back(words[i].text.substr(cut + 1));
            name.resize(name.find('='));
        }
        entry.shown = name;
        entry.key = name.substr(2, name.find_last_not_of(':') - 1);  // "--num-layers: 32" has the form of a line in YAML
        std::replace(entry.key.begin(), entry.key.end(), '-', '_');
        for (; i + 1 < words.size() && !is_flag(words[i + 1].text) && !is_open_flag(words[i + 1].text); ++i) {
            const std::string& value = words[i + 1].text;
            if (value.size() > 1 && value[0] == '-' && std::isalpha(static_cast<unsigned char>(value[1])) != 0) break;
            if (!values.empty() && is_program(value)) break;  // "torchrun --nnodes 4 ${DIR}/pretrain_gpt.py": what a launcher was told ends
            if (stands_alone(entry, values, value)) {
                alone.push_back({"", without_marks(value), "", words[i + 1].line, open_names(value)});
                continue;
            }
            add_open(entry, value);
            values.push_back(value);
        }
        entry.value = values.empty() ? Json(true) : values.size() == 1 ? values[0] : values;
        entries.push_back(std::move(entry));
        for (Entry& one : alone) entries.push_back(std::move(one));
    }
    return entries;
}

void read_names(Import& in, const std::function<std::string(std::string_view)>& value) { put(in, of_names(value)); }

// NPROC_PER_NODE before LLaMA-Factory's or ms-swift's program is of one node, unless NNODES says more.
static void read_one_node(const ShellScript& script, const ShellCommand& command, Import& in) {
    Size size;
    fill(size.per_node, value_for(script, command, "NPROC_PER_NODE"));
    if (!size.per_node || in.job.contains("gpus")) return;
    if (value_for(script, command, "NNODES").empty())
        size.nodes = 1, put(in, size);
    else if (!in.job.contains("gpus_per_node"))
        in.job["gpus_per_node"] = *size.per_node;  // of how many nodes is open
}

// What a program does with GPUs that it sees where nothing else is said. LLaMA-Factory, DeepSpeed (launcher/runner.py) and accelerate
// without a file start a process for each; with a single one there is no other way; how many of several a program takes for itself is its
// own choice.
static void read_visible(const ShellScript& script, const ShellCommand& command, const ShellWords& words, bool factory, Import& in) {
    const auto set = std::find_if(command.settings.begin(), command.settings.end(), [&](const auto& one) { return one.first == kVisible; });
    const auto known = script.variables.find(kVisible);
    const std::int64_t devices = set != command.settings.end()                               ? devices_in(set->second)
                                 : known != script.variables.end() && !known->second.empty() ? devices_in(known->second[0].text)
                                                                                             : 0;
    const auto starts = [&](std::string_view program) {
        return std::any_of(words.begin(), words.end(), [&](const ShellWord& word) { return word.text == program; });
    };
    const bool composer = starts("composer");  // it takes what torchrun sets for its processes as its own
    if (const auto all = script.variables.find("WORLD_SIZE"); composer && all != script.variables.end() && !all->second.empty())
        put(in, {.nodes = {}, .per_node = {}, .all = last_number(all->second[0].text)});
    if (in.job.contains("gpus")) return;
    const bool spread =
        starts("srun") || starts("torchrun") || starts("mpirun") || starts("mpiexec") || starts("aprun") ||
        std::any_of(words.begin(), words.end(), [](const ShellWord& word) { return word.text.starts_with("torch.distributed"); });
    const bool each = factory || composer || starts("deepspeed") || (starts("accelerate") && !in.has("config_file"));
    if (devices > 0 && !spread && (each || devices == 1)) in.job["gpus"] = devices;
}

// Slurm gives one node to a job that names none; there these programs start a process for each GPU.
static Size of_one_node(const ShellScript& script, const ShellWords& words, const ShellWords& asked) {
    const std::string each = option(words, {"--nproc_per_node", "--nproc-per-node"});
    const bool all = each == "gpu" || each == "auto" || std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
                         return word.text == "deepspeed" || word.text == "accelerate";
                     });
    const bool slurm = !script.directives.empty() && script.directives[0].words[0].text == "SBATCH";
    const Size job = of_scheduler(asked);
    const bool told = job.nodes || !option(asked, {"--ntasks", "-n"}).empty() ||
                      !option(words, {"--nnodes", "--num_nodes", "--num_machines", "--hostfile", "-H", "--config_file"}).empty();
    return slurm && all && !told && job.per_node ? Size{1, job.per_node, {}} : Size{};
}

void read_launch(const ShellScript& script, const ShellCommand& command, Import& in) {
    const ShellWords words = separate(command.words);
    // torchrun's one node on each of srun's several: which of the two is meant is not said.
    const Size launcher = of_launcher(script, command, words);
    const bool unclear = !words.empty() && words[0].text == "srun" && launcher.nodes == 1 && launcher.per_node &&
                         option(words, {"--nnodes"}).empty() && last_number(option(words, {"--nodes", "-N"})).value_or(1) > 1;
    if (!unclear) put(in, launcher);
    const std::size_t program = static_cast<std::size_t>(
        std::find_if(words.begin(), words.end(),
                     [](const ShellWord& word) { return word.text.ends_with(".py") || word.text == "python" || word.text == "torchrun"; }) -
        words.begin());
    ShellWords asked = command.asked;
    if (asked.empty())
        for (const ShellCommand& directive : script.directives)
            asked.insert(asked.end(), directive.words.begin() + 1, directive.words.end());
    const Size job = of_scheduler(asked);
    const std::size_t at = !words.empty() && words[0].text == "time" ? 1 : 0;
    const bool slurm = at < words.size() && (words[at].text == "srun" || words[at].text == "sbatch" || words[at].text == "salloc");
    if (slurm) {  // what is set for the program itself; a step's own numbers, and what they leave to the job
        for (const auto& [name, value] : command.settings)
            if (name == "WORLD_SIZE") put(in, {.nodes = {}, .per_node = {}, .all = last_number(value)});
        Size step = of_scheduler({words.begin(), words.begin() + static_cast<std::ptrdiff_t>(program)});
        if (!step.known() && step.per_node && !step.nodes) step.nodes = job.nodes;
        if (!step.known() && step.nodes && !step.per_node) step.per_node = job.per_node;
        if (!unclear) put(in, step);
    }
    if (!unclear) put(in, job);
    read_names(in, [&](std::string_view name) {
        for (const auto& [key, value] : command.settings)
            if (key == name) return value;
        return std::string();
    });
    read_names(in, [&](std::string_view name) {
        const auto found = script.variables.find(std::string(name));
        return found == script.variables.end() || found->second.empty() ? std::string() : found->second[0].text;
    });
    if (!in.job.contains("gpus") && !slurm) put(in, of_one_node(script, words, asked));
    // Of how many nodes is not said; what one of them holds is.
    const std::int64_t gpus = in.job.value("gpus", std::int64_t{0}), each = launcher.per_node.value_or(0);
    const bool several = gpus == 0 || (each > 0 && gpus > each && gpus % each == 0);
    if (each > 0 && !launcher.nodes && (!job.nodes || *job.nodes * each == gpus) && several && !in.job.contains("gpus_per_node"))
        in.job["gpus_per_node"] = each;
    const bool factory =
        std::any_of(words.begin(), words.end(), [](const ShellWord& word) { return word.text.ends_with("llamafactory-cli"); });
    if (factory || in.has("swift") || in.has("xtuner") || !started_with(command, "megatron", {"sft", "pt", "rlhf"}).empty())
        read_one_node(script, command, in);
    if (!in.job.contains("gpus")) read_visible(script, command, words, factory, in);
    if (of_mason(words).known()) in.text("gpus", "gpus");
    if (!words.empty() && words[0].text == "msrun")
        for (const char* key : {"worker_num", "local_worker_num"}) in.text(key, "gpus");
    if (slurm) in.text("gpus", "gpus");
    for (const char* key : {"nnodes", "nproc_per_node", "num_nodes", "num_gpus", "num_processes", "num_machines", "include",
                            "actor_num_nodes", "actor_num_gpus_per_node", "resource", "np"})
        if (in.has(key)) in.text(key, "gpus");
}

}  // namespace fourfold
