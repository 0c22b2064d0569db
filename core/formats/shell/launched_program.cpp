#include "formats/shell/launched_program.h"

#include <algorithm>

#include "base/text.h"
#include "formats/documents.h"
#include "formats/python/tokens.h"
#include "formats/shell/launch.h"
#include "formats/shell/own_programs.h"

namespace fourfold {

namespace {

// Python with the commands that start it, and with files that a script writes: each line where it stood.
struct Program {
    std::string python, shell;
    bool started = false;
};

bool begins_with_any(std::string_view line, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view one) { return line.starts_with(one); });
}

// "NCCL_DEBUG=INFO srun …": what stands behind such settings; the line itself where there are none, or nothing but them.
std::string_view behind_settings(std::string_view line) {
    for (std::string_view rest = line;;) {
        const std::size_t name = rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), end = rest.find(' ');
        if (name == 0 || name == rest.npos || rest[name] != '=') return rest;
        if (end == rest.npos || end < name) return line;
        rest.remove_prefix(std::min(rest.find_first_not_of(' ', end), rest.size()));
    }
}

// A launcher with what it is told: "deepspeed = True" is Python.
bool launches(std::string_view line) {
    const std::string_view rest = behind_settings(line);
    const std::size_t behind = std::min(rest.find_first_not_of(' ', std::min(rest.find(' '), rest.size())), rest.size());
    return begins_with_any(rest, {"torchrun ", "accelerate launch", "deepspeed ", "srun ", "mpirun ", "mpiexec ", "aprun ",
                                  "python -m torch.distributed", "python3 -m torch.distributed"}) &&
           behind < rest.size() && rest[behind] != '=';
}

// A scheduler's directive, and what a script does around a launcher.
bool is_directive(std::string_view line) { return begins_with_any(line, {"#SBATCH ", "#PBS ", "#PJM ", "#$ -l"}); }
bool is_shell_line(std::string_view line) {
    return begins_with_any(line, {"export ", "module load", "module purge", "source ", "conda activate", "cd ", "set -"});
}

Program program_in(std::string_view text) {
    Program found;
    std::string_view end_mark, file, settings;               // of accelerate
    bool to_python = true, goes_on = false, quoted = false;  // in a text of several lines, a command is an example
    bool directed = false;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::size_t mark = line.find("<<");
        const bool inside = !end_mark.empty(), closes = inside && line == end_mark, margin = !inside && !quoted;
        const bool opens = !inside && line.starts_with("cat ") && mark != line.npos && line.find('>') < mark;
        const bool directs = margin && is_directive(line), starts = margin && (goes_on || launches(line));
        if (opens) {
            end_mark = line.substr(std::min(line.find_first_not_of("-'\" ", mark + 2), line.size()));
            end_mark = end_mark.substr(0, end_mark.find_first_of("'\" >"));
            to_python = line.find(".py") != line.npos;
            const std::size_t name = line.find_first_not_of("> '\"", line.find('>'));
            file = line.substr(name, line.find_first_of("'\" ", name) - name);
        }
        if (inside && line.starts_with("num_processes:")) settings = file;
        if (closes) end_mark = {};
        for (const std::string_view quotes : {"\"\"\"", "'''"})
            for (std::size_t at = line.find(quotes); at != line.npos; at = line.find(quotes, at + 3)) quoted = !quoted;
        found.started = found.started || starts;
        directed = directed || directs;
        goes_on = starts && line.ends_with('\\');
        const bool shell = starts || directs || (margin && is_shell_line(line));
        const bool own = inside ? !closes && to_python : !opens && !shell;
        const bool setting =
            margin && !shell && behind_settings(line) == line && line.find(' ') == line.npos && line.find('=') != line.npos;
        found.python += joined({own ? line : "", "\n"});
        found.shell += joined({own && !inside && !setting ? "" : line, "\n"});
    }
    if (found.started || (settings.empty() && !directed)) return found;
    found.started = true;
    found.shell += settings.empty() ? "python train.py\n" : joined({"accelerate launch --config_file ", settings, " train.py\n"});
    return found;
}

// What the command tells the program, under the names that the program has for it: "--max_length 8192", "args.max_length".
void add_told(const ShellCommand& command, std::string_view python, NamesSet& set) {
    ShellCommand told = command;
    const auto file = std::find_if(told.words.begin(), told.words.end(), [](const ShellWord& word) { return word.text.ends_with(".py"); });
    if (file == told.words.end()) return;
    told.words.erase(told.words.begin(), file + 1);
    for (const Entry& entry : arguments_of(told)) {
        if (!entry.open.empty() || (!entry.value.is_string() && !entry.value.is_boolean())) continue;
        const std::string name = "." + entry.key, value = entry.value.is_string() ? entry.value.get<std::string>() : "True";
        set.emplace("args" + name, value);
        for (std::size_t at = python.find(name); at != python.npos; at = python.find(name, at + 1)) {
            std::size_t begin = at;
            while (begin > 0 && in_name(python[begin - 1])) --begin;
            const std::size_t end = at + name.size();
            if (begin < at && (end == python.size() || !in_name(python[end]))) {
                std::string& slot = set[std::string(python.substr(begin, end - begin))];
                if (slot.empty()) slot = value;
            }
        }
    }
}

}  // namespace

// The GPUs that its command starts, and the settings of accelerate's file.
std::optional<ReadJobs> read_launched_program(std::string_view text, NamesSet set) {
    const Program program = program_in(text);
    std::vector<Entry> launcher;
    std::string elsewhere;
    const NamesSet given = set;
    if (program.started) {
        const ShellScript script = read_shell(program.shell, set);
        for (const ShellCommand& command : script.commands) {
            Import in;
            in.entries = arguments_of(command);
            add_launcher_file(script, command, in);
            read_launch(script, command, in);
            const Entry* const file = in.last("config_file");
            if (file != nullptr && file->fate != Fate::no_number && file->value.is_string()) elsewhere = file->value.get<std::string>();
            for (const Entry& entry : in.entries)
                if (!entry.shown.starts_with('-') || is_of_launcher(entry.key)) launcher.push_back(entry);
            if (!in.hangs("gpus") && in.job.contains("gpus")) set.emplace("gpus", in.job["gpus"].dump());
            add_told(command, program.python, set);
        }
    }
    auto read = read_recipes(program.started ? program.python : text, set, launcher);
    if (!read && program.started) read = read_script(program.shell, given);  // the command says it all
    if (read && !elsewhere.empty())
        for (ReadJob& job : read->jobs) job.in.notes.push_back(Text("import_plan.note.file").with("file", elsewhere.substr(0, 200)));
    return read;
}

}  // namespace fourfold
