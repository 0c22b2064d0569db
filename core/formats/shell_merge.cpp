#include "formats/shell_parts.h"

namespace fourfold {

std::string joined_words(const ShellWords& words) {
    std::string text;
    for (const ShellWord& word : words) text += (text.empty() ? "" : " ") + word.text;
    return text;
}

static ShellWords parts(const ShellVariable& variable) {
    if (variable.is_list || variable.words.empty()) return variable.words;
    ShellVariables one{{"x", variable}};
    std::map<std::string, std::vector<std::string>> none;
    return ShellValues(one, none).words({"$x", variable.words[0].line});
}

ShellVariable merged(const ShellVariable& a, const ShellVariable& b, const std::string& reason) {
    const ShellWords one = parts(a), other = parts(b);
    ShellVariable both{{}, a.is_list || b.is_list};
    std::size_t same = 0;
    while (same < one.size() && same < other.size() && one[same].text == other[same].text) both.words.push_back(one[same++]);
    const std::string mark = open_mark(reason);
    bool flags = false;
    for (const ShellWords* words : {&one, &other})
        for (std::size_t i = same; i < words->size(); ++i) {
            ShellWord word = (*words)[i];
            flags = flags || word.text.starts_with("--");
            if (word.text.starts_with("--") && !word.text.ends_with(mark)) word.text += mark;
            if (flags) both.words.push_back(std::move(word));
        }
    if (!flags) both.words.push_back({mark, b.words.empty() ? 0 : b.words[0].line});
    if (!both.is_list) both.words = {{joined_words(both.words), both.words[0].line}};
    return both;
}

void learn(const ShellCommand& directive, ShellVariables& variables) {
    const auto set = [&](std::initializer_list<const char*> names, const std::string& value) {
        for (const char* name : names) variables.try_emplace(name, ShellVariable{{{value, directive.line}}});
    };
    for (std::size_t i = 1; i < directive.words.size(); ++i) {
        std::string word = directive.words[i].text, value;
        if (const std::size_t cut = word.find('='); cut != std::string::npos) {
            value = word.substr(cut + 1);
            word.resize(cut);
        } else if (i + 1 < directive.words.size()) {
            value = directive.words[i + 1].text;
        }
        if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) continue;
        if (word == "--nodes" || word == "-N") set({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, value);
        if (word == "--ntasks-per-node") set({"SLURM_NTASKS_PER_NODE"}, value);
        if (word == "--ntasks" || word == "-n") set({"SLURM_NTASKS", "SLURM_NPROCS"}, value);
        if (word.starts_with("rt_") || word.starts_with("node_")) set({"NHOSTS"}, value);  // of Age, which tells how many nodes it gives
        if (word == "--gpus-per-node") set({"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}, value);
    }
}

}  // namespace fourfold
