#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "formats/shell/parts.h"

namespace fourfold {

std::string joined_words(const ShellWords& words) {
    std::string text;
    for (const ShellWord& word : words) text += (text.empty() ? "" : " ") + word.text;
    return text;
}

std::string quoted_words(const ShellWords& words, bool brackets) {
    std::string expression;
    for (std::size_t i = 1; i < words.size() - (brackets && words.back().text == "]" ? 1 : 0); ++i) {
        const std::string& text = words[i].text;
        const bool plain = !text.empty() && text.find_first_of(" \t\n'\"\\$`&|;<>()#") == std::string::npos;
        expression += (plain ? text : "'" + text + "'") + " ";
    }
    return expression;
}

static ShellWords parts(const ShellVariable& variable) {
    if (variable.is_list || variable.words.empty()) return variable.words;
    ShellVariables one{{"x", variable}};
    std::map<std::string, std::vector<std::string>> none;
    return ShellValues(one, none).words({"$x", variable.words[0].line});
}

static bool is_argument(const ShellWord& word) { return word.text.starts_with("--"); }

// Two lists of words from some place on, each up to its end.
struct WordRange {
    const ShellWords& words;
    std::size_t begin, end;
    bool ends_at(std::size_t i) const { return i >= end || is_argument(words[i]) || words[i].text.ends_with(".py"); }
};
struct CommonRun {
    std::size_t one = 0, other = 0, length = 0;
};

// Words that both have from `i` and `j` on. An argument stays with its values, which are all words up to the next one unless it has a "=".
static std::size_t length_of_run(const WordRange& one, std::size_t i, const WordRange& other, std::size_t j) {
    std::size_t length = 0;
    while (i + length < one.end && j + length < other.end && one.words[i + length].text == other.words[j + length].text) ++length;
    if (one.ends_at(i + length) && other.ends_at(j + length)) return length;
    std::size_t last = length;
    while (last > 0 && !is_argument(one.words[i + last - 1])) --last;
    const bool whole = last == 0 ? i == one.begin && j == other.begin : one.words[i + last - 1].text.find('=') != std::string::npos;
    return whole ? length : last == 0 ? 0 : last - 1;
}

// The longest one, which begins with an argument or where one of the two begins.
static CommonRun common_run(const WordRange& one, const WordRange& other) {
    constexpr std::size_t kMostPlaces = 4;  // of one word
    std::map<std::string_view, std::vector<std::size_t>> places;
    for (std::size_t j = other.begin; j < other.end; ++j)
        if (auto& list = places[other.words[j].text]; list.size() < kMostPlaces) list.push_back(j);
    CommonRun longest;
    for (std::size_t i = one.begin; i < one.end;) {
        std::size_t seen = 1;
        const auto found = places.find(one.words[i].text);
        for (const std::size_t j : found == places.end() ? std::vector<std::size_t>{} : found->second) {
            if (!is_argument(one.words[i]) && i != one.begin && j != other.begin) continue;
            const std::size_t length = length_of_run(one, i, other, j);
            if (length > longest.length) longest = {i, j, length};
            seen = std::max(seen, length);
        }
        i += seen;
    }
    return longest;
}

// Arguments that stand in one of them alone are open.
static void add_marked(const WordRange& range, const std::string& mark, ShellWords& into) {
    std::size_t i = range.begin;
    while (i < range.end && !is_argument(range.words[i])) ++i;
    for (; i < range.end; ++i) {
        ShellWord word = range.words[i];
        if (is_argument(word) && !word.text.ends_with(mark)) word.text += mark;
        into.push_back(std::move(word));
    }
}

// What both have stays closed, wherever it stands: a program that is wrapped on one way alone keeps its arguments.
static void merge_words(const WordRange& one, const WordRange& other, const std::string& mark, int depth, ShellWords& into) {
    constexpr int kMostCuts = 20;
    const CommonRun run = depth < kMostCuts ? common_run(one, other) : CommonRun{};
    if (run.length == 0) {
        add_marked(one, mark, into);
        return add_marked(other, mark, into);
    }
    merge_words({one.words, one.begin, run.one}, {other.words, other.begin, run.other}, mark, depth + 1, into);
    for (std::size_t i = 0; i < run.length; ++i) into.push_back(one.words[run.one + i]);
    merge_words({one.words, run.one + run.length, one.end}, {other.words, run.other + run.length, other.end}, mark, depth + 1, into);
}

ShellVariable merged(const ShellVariable& a, const ShellVariable& b, const std::string& reason) {
    const ShellWords one = parts(a), other = parts(b);
    ShellVariable both{{}, a.is_list || b.is_list};
    const std::string mark = open_mark(reason);
    if (std::any_of(one.begin(), one.end(), is_argument) || std::any_of(other.begin(), other.end(), is_argument)) {
        merge_words({one, 0, one.size()}, {other, 0, other.size()}, mark, 0, both.words);
    } else {
        for (std::size_t i = 0; i < one.size() && i < other.size() && one[i].text == other[i].text; ++i) both.words.push_back(one[i]);
        both.words.push_back({mark, b.words.empty() ? 0 : b.words[0].line});
    }
    if (!both.is_list) both.words = {{joined_words(both.words), both.words[0].line}};
    return both;
}

ShellVariables merged_ways(const std::vector<ShellVariables>& ways, const std::string& reason) {
    ShellVariables all = ways[0];
    for (std::size_t i = 1; i < ways.size(); ++i)
        for (const auto& [name, value] : ways[i]) {
            const auto known = all.find(name);
            const std::string& open = reason.empty() ? name : reason;  // "while getopts": nothing is compared
            if (known == all.end())
                all[name] = merged({}, value, open);
            else if (!(known->second == value))
                known->second = merged(known->second, value, open);
        }
    for (auto& [name, value] : all)
        for (const ShellVariables& one : ways)
            if (one.find(name) == one.end() && !value.words.empty()) {
                value = merged({}, value, reason.empty() ? name : reason);
                break;
            }
    return all;
}

void learn(const ShellCommand& directive, ShellVariables& variables) {
    const auto set = [&](std::initializer_list<const char*> names, const std::string& value) {
        for (const char* name : names) variables.try_emplace(name, ShellVariable{{{value, directive.line}}});
    };
    // Inside of a job these are set, whatever they are.
    const bool slurm = directive.words[0].text == "SBATCH", pbs = directive.words[0].text == "PBS";
    for (const char* name : {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_PROCID", "SLURM_NODEID", "SLURM_JOB_NODELIST", "SLURM_NODELIST"})
        if (slurm) set({name}, open_mark(name));
    for (const char* name : {"PBS_JOBID", "PBS_NODEFILE"})
        if (pbs) set({name}, open_mark(name));
    for (std::size_t i = 1; i < directive.words.size(); ++i) {
        std::string word = directive.words[i].text, value;
        if (const std::size_t cut = word.find('='); cut != std::string::npos) {
            value = word.substr(cut + 1);
            word.resize(cut);
        } else if (word.size() > 2 && word[0] == '-' && word[1] != '-') {  // "-N4"
            value = word.substr(2);
            word.resize(2);
        } else if (i + 1 < directive.words.size()) {
            value = directive.words[i + 1].text;
        }
        if (pbs && word == "select" && value.find('+') == std::string::npos) {
            if (value.find("mpiprocs=") != std::string::npos) set({kNodesOnce}, "1");
            value.resize(std::min(value.find(':'), value.size()));
            word = "PBS_NUM_NODES";
        }
        if (word == "--gres" && value.starts_with("gpu:")) value.erase(0, value.rfind(':') + 1), word = "--gpus-per-node";
        if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) continue;
        if (word == "PBS_NUM_NODES") set({"PBS_NUM_NODES"}, value);
        if (word == "--nodes" || word == "-N") set({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, value);
        if (word == "--ntasks-per-node") set({"SLURM_NTASKS_PER_NODE"}, value);
        if (word == "--ntasks" || word == "-n") set({"SLURM_NTASKS", "SLURM_NPROCS"}, value);
        if (word.starts_with("rt_") || word.starts_with("node_"))  // of Age, which tells how many nodes of which kind it gives
            set({"NHOSTS"}, value), set({"SGE_RESOURCE_TYPE"}, word);
        if (word == "--gpus-per-node") set({"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}, value);
    }
}

void leave_job(ShellVariables& variables) {
    std::erase_if(variables, [](const auto& one) {
        return one.first.starts_with("SLURM_") || one.first.starts_with("PBS_") || one.first == "NHOSTS" ||
               one.first == "SGE_RESOURCE_TYPE";
    });
}

void tell_job(const std::vector<ShellCommand>& directives, const ShellVariables& variables, ShellCommand& command) {
    if (!command.asked.empty()) return;  // of a job inside of this one
    for (const ShellCommand& one : directives) command.asked.insert(command.asked.end(), one.words.begin() + 1, one.words.end());
    tell_size(variables, command);
}

bool says_size(std::string_view name) {
    const auto in = [&](const auto& names) { return std::find(std::begin(names), std::end(names), name) != std::end(names); };
    return in(kNodeNames) || in(kPerNodeNames) || in(kAllNames) || name == kOneNodesName || name == kVisible;
}

void tell_size(const ShellVariables& variables, ShellCommand& command) {
    for (const auto& [name, value] : variables) {
        const std::string& key = name;
        const bool said = std::any_of(command.settings.begin(), command.settings.end(), [&](const auto& one) { return one.first == key; });
        if (!said && says_size(name) && value.words.size() == 1) command.settings.emplace_back(name, value.words[0].text);
    }
}

}  // namespace fourfold
