// What a shell script would start, as far as its text tells: assignments in the order in which they stand, defaults included. Nothing is
// run and nothing is guessed: what the text leaves open stays marked.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fourfold {

// A name whose value the text does not say stands between these two.
inline constexpr char kOpen = '\x01', kClose = '\x02';
std::string open_mark(std::string_view name);
// The place behind a mark that begins at `at`.
std::size_t behind_mark(std::string_view text, std::size_t at);
bool is_open(std::string_view text);
// The whole word is one open name.
bool is_one_name(std::string_view word);
// The names that are open in it, each once, in order.
std::vector<std::string> open_names(std::string_view text);
// Without the marks: "${NAME}".
std::string without_marks(std::string_view text);

// The name of what is to be written in a value's place: "<NUM_NODES>", "YOUR_NODES"; "" where it is a value.
std::string placeholder_in(std::string_view value);

struct ShellWord {
    std::string text;
    std::int64_t line = 0;
    bool comes_from_one = false;  // it was quoted; other words may have been split
};
using ShellWords = std::vector<ShellWord>;

struct ShellCommand {
    ShellWords words;                                           // the program first
    std::vector<std::pair<std::string, std::string>> settings;  // A=1 before it
    std::int64_t line = 0;
    ShellWords asked{};      // of the scheduler, where the script hands over several jobs: those of its own job
    std::int64_t ended = 0;  // the line of an "exit" that the script meets before, whatever is set outside of it; 0: none
};

struct ShellScript {
    std::vector<ShellCommand> commands;                       // that it would start, in order
    std::vector<ShellCommand> directives;                     // of schedulers: "#SBATCH --nodes 4" has the words SBATCH, --nodes, 4
    std::map<std::string, ShellWords> variables;              // at its end
    std::vector<std::string> documents;                       // here-documents, <<EOF
    std::vector<std::string> file_names;                      // of each of `files`; "": it is handed on
    ShellWords files;                                         // texts that it writes, with the values of names in them
    std::map<std::string, std::vector<std::string>> choices;  // an open name, and what the text compares it with
    bool complete = true;                                     // false: it is nested too deep, or would grow without end
};

// `set`: values of names that are set before it starts.
ShellScript read_shell(std::string_view text, const std::map<std::string, std::string>& set = {}, std::int64_t first_line = 1);

}  // namespace fourfold
