#include "formats/shell/files.h"

#include <algorithm>
#include <utility>

namespace fourfold {

static bool is_shell(std::string_view word) { return word == "bash" || word == "sh" || word.ends_with("/bash") || word.ends_with("/sh"); }
static bool is_scheduler(std::string_view word) { return word == "sbatch" || word == "qsub" || word == "bsub"; }

// Starts what stands behind its options: "srun -n 16 ./run.sh".
static bool is_starter(std::string_view word) {
    constexpr std::string_view kStarters[] = {"srun", "mpirun",  "mpiexec", "aprun", "jsrun",       "ibrun",     "time",
                                              "env",  "timeout", "nohup",   "exec",  "singularity", "apptainer", "numactl"};
    return std::find(std::begin(kStarters), std::end(kStarters), word.substr(word.rfind('/') + 1)) != std::end(kStarters);
}

bool starts_nothing(std::string_view program) {
    constexpr std::string_view kPrograms[] = {"echo", "printf", "cd",    "mkdir",    "rm",    "cp",  "cat",  "sleep", "module", "ulimit",
                                              "pip",  "git",    "exit",  "return",   "shift", "set", "trap", "wait",  "unset",  "sed",
                                              "awk",  "tee",    "break", "continue", "which", "ls",  "date", "let",   "grep"};
    return std::find(std::begin(kPrograms), std::end(kPrograms), program) != std::end(kPrograms);
}

bool holds_command(std::string_view text) {
    constexpr std::string_view kSeparators = " \t\n;&|(\"";
    for (const std::string_view program : {"python", "python3", "torchrun", "deepspeed", "accelerate", "srun"})
        for (std::size_t at = text.find(program); at != std::string_view::npos; at = text.find(program, at + 1)) {
            const bool begins = at == 0 || kSeparators.find(text[at - 1]) != std::string_view::npos || text[at - 1] == '/';
            const std::size_t end = std::min(text.find_first_not_of(".0123456789", at + program.size()), text.size());  // "python3.10"
            if (begins && end < text.size() && text[end] == ' ' && text.find_first_not_of(' ', end) != std::string_view::npos) return true;
        }
    return false;
}

bool launches_training(std::string_view text) {
    const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
    const bool launches = has("torchrun ") || has("torch.distributed.") || has("deepspeed ") || has("accelerate launch");
    return (launches && has("--")) || ((has("sbatch") || has("qsub")) && has("<<"));
}

// What starts a program somewhere else has the command as one word: "ssh host '…'", "xpk workload create --command='…'", MaxText's
// "python multihost_runner.py --COMMAND='…'".
static std::optional<ShellInside> in_one_word(const ShellWords& words) {
    constexpr std::string_view kTrainers[] = {"python", "python3", "torchrun", "deepspeed", "accelerate", "srun"};
    const std::string_view program = std::string_view(words[0].text).substr(words[0].text.rfind('/') + 1);
    const bool workloads = std::any_of(words.begin(), words.end(), [](const ShellWord& word) { return word.text.ends_with("xpk.py"); });
    const bool trains = !workloads && std::find(std::begin(kTrainers), std::end(kTrainers), program) != std::end(kTrainers);
    for (std::size_t k = 1; k < words.size(); ++k) {
        const std::string& word = words[k].text;
        const std::size_t cut = word.starts_with("--") ? std::min(word.find('='), word.find(' ')) : std::string::npos;
        const std::string text = cut == std::string::npos ? word : word.substr(cut + 1);
        const bool flag = text.starts_with("-") || (trains && !word.starts_with("--COMMAND="));
        if (words[k].comes_from_one && !flag && holds_command(text))
            return ShellInside{{text, words[k].line}, {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(k)}};
    }
    return std::nullopt;
}

static std::string bare_name(const std::string& name) { return name.starts_with("./") ? name.substr(2) : name; }

const ShellText* ShellFiles::file(const std::string& name) const {
    const auto found = files_.find(bare_name(name));
    return found == files_.end() ? nullptr : &found->second;
}

ShellWords ShellFiles::texts() const {
    ShellWords all;
    for (const auto& [name, file] : files_) all.push_back({file.text, file.line});
    if (!printed_.text.empty()) all.push_back({printed_.text, printed_.line});
    return all;
}

std::vector<std::string> ShellFiles::names() const {
    std::vector<std::string> all;
    for (const auto& [name, file] : files_) all.push_back(name);
    return all.push_back(""), all;
}

// "s/^  lr: .*/  lr: 3/", "s/%NAME%/8/g": nothing where it is not so plain.
static std::optional<std::string> edited(std::string text, std::string_view command) {
    const char by = command.size() > 4 && command[0] == 's' ? command[1] : '\0';
    const std::size_t cut = command.find(by, 2), end = cut == command.npos ? cut : command.find(by, cut + 1);
    if (by == '\0' || end == command.npos || command.substr(end + 1).find_first_not_of('g') != command.npos) return std::nullopt;
    std::string_view from = command.substr(2, cut - 2), to = command.substr(cut + 1, end - cut - 1);
    const bool begins = from.starts_with('^'), rest = from.ends_with(".*");
    if (begins) from.remove_prefix(1);
    if (rest) from.remove_suffix(2);
    if (from.empty() || from.find_first_of("\\*[](){}?+^$|") != from.npos || to.find_first_of("\\&") != to.npos) return std::nullopt;
    for (std::size_t at = text.find(from); at != text.npos;) {
        const bool other = begins && at > 0 && text[at - 1] != '\n';
        if (!other) text.replace(at, rest ? std::min(text.find('\n', at), text.size()) - at : from.size(), to);
        at = text.find(from, at + (other ? 1 : to.size()));
    }
    return text;
}

// sed -i, which changes files where they are; sed alone prints what it is given.
void ShellFiles::edit(const ShellWords& words) {
    std::vector<std::string_view> commands;
    bool inside = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        ShellText* known = files_.contains(bare_name(word)) ? &files_[bare_name(word)] : nullptr;
        inside = inside || word.starts_with("-i") || word.starts_with("--in-place");
        if (known == nullptr && !word.starts_with("-")) commands.push_back(word);
        if (known == nullptr || !inside) continue;
        std::optional<std::string> text = known->text;
        for (const std::string_view command : commands)
            if (text) text = edited(std::move(*text), command);
        if (text)
            known->text = std::move(*text);
        else
            files_.erase(bare_name(word)), unseen_.insert(bare_name(word));
    }
}

bool ShellFiles::write(const ShellWords& words, const std::vector<std::string>& documents, ShellValues& values) {
    const bool edits = words[0].text == "sed", prints = words[0].text == "cat" || edits, writes = words[0].text == "tee",
               says = words[0].text == "echo";
    const auto leave = [&](const std::string& file) { files_.erase(bare_name(file)), unseen_.insert(bare_name(file)); };
    if (words[0].text == "cp" && words.size() == 3) {
        if (const ShellText* from = file(words[1].text))
            files_[bare_name(words[2].text)] = *from;
        else
            leave(words[2].text);
    }
    if (!prints && !writes && !says) {
        for (std::size_t i = 1; i + 1 < words.size(); ++i)
            if (words[i].text == ">") leave(words[i + 1].text);
        return false;
    }
    if (edits) edit(words);
    std::optional<std::string> text;
    std::string name;
    bool adds = false;
    std::int64_t line = 0;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        if (word == "-a" || word == ">>") adds = true;
        if ((word == ">" || word == ">>") && i + 1 < words.size())
            name = words[++i].text;
        else if (says && name.empty() && word != "-e" && word != "-n")
            text = (text ? *text + " " : "") + word, line = line > 0 ? line : words[i].line;
        else if (auto document = values.document(word, documents); document)
            text = std::move(document), line = words[i].line + 1;
        else if (writes && !word.starts_with("-"))
            name = word;
    }
    for (std::size_t i = 1; edits && text && i < words.size() && words[i].text != ">"; ++i)
        if (words[i].text[0] == 's') text = edited(std::move(*text), words[i].text);
    if (name == kErrors) return true;
    if (!text && prints && !adds && !name.empty()) leave(name);
    if (!text || (says && name.empty())) return false;
    if (adds && unseen_.contains(bare_name(name))) return true;  // what stands above it is not here
    if (!adds) unseen_.erase(bare_name(name));
    if (says) *text += '\n';
    constexpr std::size_t kLongestFile = 200'000, kMostFiles = 100;
    ShellText& file = name.empty()                                                ? printed_
                      : files_.size() < kMostFiles || this->file(name) != nullptr ? files_[bare_name(name)]
                                                                                  : printed_;
    if (!adds || file.text.empty()) file = {"", line};
    if (file.text.size() + text->size() <= kLongestFile) file.text += *text;
    return true;
}

static ShellWords behind(const ShellWords& words, std::size_t i) {
    return {words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end()};
}

std::optional<ShellInside> ShellFiles::inside(const ShellWords& words, bool piped, const std::vector<std::string>& documents,
                                              ShellValues& values) {
    const ShellText printed = std::exchange(printed_, {});
    if (const ShellText* known = file(words[0].text)) return ShellInside{*known, {}, behind(words, 0)};
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& name = words[i].text;
        if (const ShellText* known = i > 0 && is_starter(words[0].text) ? file(name) : nullptr; known && known->text.starts_with("#!"))
            return ShellInside{*known, {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i)}, behind(words, i)};
        const bool shell = is_shell(name), scheduler = is_scheduler(name);
        if (!shell && !scheduler && !(i == 0 && (name == "source" || name == "."))) continue;
        ShellInside found{{}, {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i)}};
        for (std::size_t k = i + 1; k < words.size(); ++k) {
            const std::string& word = words[k].text;
            const bool is_text = shell && k == i + 1 && word.size() < 5 && word.starts_with('-') && word.ends_with('c');
            const ShellText* known = file(word);
            if (scheduler)
                found.options = ShellCommand{
                    {words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(k)}, {}, words[i].line};
            if (is_text && k + 1 < words.size()) {
                found.script = {words[k + 1].text, words[k + 1].line};
                if (k + 2 < words.size() && words[k + 2].text.find_first_of("<>&|") == std::string::npos)  // "bash -c '… $1' _ 8"
                    found.given = behind(words, k + 2);
            } else if (auto document = values.document(word, documents); document)
                found.script = {*document, words[k].line + 1};
            else if (scheduler && word.starts_with("--wrap="))
                found.script = {word.substr(7), words[k].line};
            else if (known != nullptr)
                found.script = *known, found.given = behind(words, k);
            else if (scheduler || word.starts_with('-'))
                continue;
            else
                break;  // a script that is not here
            return found;
        }
        if (piped && i == 0 && !printed.text.empty())
            return ShellInside{printed, {}, {}, scheduler ? std::optional(ShellCommand{words, {}, words[0].line}) : std::nullopt};
    }
    return in_one_word(words);
}

}  // namespace fourfold
