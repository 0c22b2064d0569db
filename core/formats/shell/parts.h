// The parts of a shell script: words as they are written, and what they are put together to.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "formats/shell/shell.h"

namespace fourfold {

// A word as it is written, with its quotes; or the words of NAME=( … ).
struct RawWord {
    std::string text;
    std::int64_t line = 0;
    bool is_list = false;         // `text` is then "NAME=" or "NAME+="
    std::vector<RawWord> list{};  // initialised here: most words have none
};

struct ShellToken {
    enum Kind { word, sign, end_of_line, test, sum };  // test: inside of [[ ]]; sum: inside of (( ))
    Kind kind;
    RawWord raw;  // a sign has its text
};

// Set where a job of PBS says how many processes a node has: its file of nodes names each so often. No name of a shell.
inline constexpr const char* kNodesOnce = "#mpiprocs";

// Where "echo … >&2" writes to.
inline constexpr const char* kErrors = "/dev/stderr";

// Begins the word that stands for a here-document, which its number follows; and ends the one of a document whose names stay names:
// <<'EOF'.
inline constexpr char kDocument = '\x03', kAsItIs = 'q';

struct ShellTokens {
    std::vector<ShellToken> list;
    std::vector<ShellCommand> directives;
    std::vector<std::string> documents;
};
// `documents`: how many were read before.
ShellTokens tokens_of(std::string_view text, std::int64_t first_line = 1, std::size_t documents = 0);

// "NAME=" or "NAME+=" at the start of a word: the length of the name, 0 where there is none.
std::size_t assigned_name(std::string_view word);

// --{a,b}=1 and {1..4}: the words that it stands for, as it is written; one that sets a name, or is very long, stands for itself.
// `left`: how many such words the text may still make; some more come out where the last of them stands for many.
std::vector<std::string> in_braces(std::string_view word, std::size_t& left);
// $'a\tb', which begins at `at`, in quotes of the plain kind; `at` goes behind it.
std::string ansi_quoted(std::string_view text, std::size_t& at);

// (( a = 4 )), (( a += 4 )), (( a++ )): the name that is set, and the sum that it is set to.
std::optional<std::pair<std::string, std::string>> assigned_sum(const std::string& text);

// A command, or several of them under a condition.
struct ShellNode;
using ShellNodes = std::vector<ShellNode>;
struct ShellClause {
    ShellNodes condition;           // of if and while
    std::vector<RawWord> patterns;  // of case; the three sums of a loop that counts
    ShellNodes body;
    enum End { stops, falls, tests };  // of case: ";;", ";&" goes on into the next one, ";;&" compares with the next ones too
    End end = stops;
};
struct ShellNode {
    enum Kind { simple, test, sum, condition, choice, loop, function, group };
    enum Link { first, and_then, or_else, piped };  // to the one before
    Kind kind = simple;
    Link link = first;
    bool until = false;  // of a loop
    std::int64_t line = 0;
    std::vector<RawWord> words;  // simple; what a choice looks at; the values of a loop
    std::string name;            // of a function, of a loop's variable; "(" of a group that is a shell of its own
    std::vector<ShellClause> clauses;
};

// `complete` becomes false where it is nested too deep.
ShellNodes nodes_of(const std::vector<ShellToken>& tokens, bool& complete);

// The end of the name that begins at `at`.
std::size_t name_end(std::string_view text, std::size_t at);

// ---- values
struct ShellVariable {
    ShellWords words;
    bool is_list = false;
    friend bool operator==(const ShellVariable& a, const ShellVariable& b);
};
bool operator==(const ShellVariable& a, const ShellVariable& b);
using ShellVariables = std::map<std::string, ShellVariable>;
// A variable after one of two ways, of which the text does not say which: what both have stays; each flag that one of them has alone is
// open, with the value that it has on its way.
ShellVariable merged(const ShellVariable& a, const ShellVariable& b, const std::string& reason);
// All variables after one of several ways: what differs is open.
ShellVariables merged_ways(const std::vector<ShellVariables>& ways, const std::string& reason);
// Names that a scheduler sets, from what it is told: SLURM_NNODES.
void learn(const ShellCommand& directive, ShellVariables& variables);
std::string joined_words(const ShellWords& words);
// What [ … ] or test asks, without its first word.
std::string quoted_words(const ShellWords& words, bool brackets);
// The same of a job around it are none of an inner job's.
void leave_job(ShellVariables& variables);
// What the scheduler is told for a command's job, and the names in it that say how many GPUs there are.
void tell_job(const std::vector<ShellCommand>& directives, const ShellVariables& variables, ShellCommand& command);

// Names by which scripts say of how many nodes and GPUs a job is, and which of them it sees.
inline constexpr const char* kNodeNames[] = {
    "NNODES", "NNODE", "NUM_NODES", "N_NODES", "NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "NODE_COUNT", "WORKER_NUM"};
inline constexpr const char* kPerNodeNames[] = {"GPUS_PER_NODE",   "NUM_GPUS_PER_NODE", "NPROC_PER_NODE",
                                                "N_GPUS_PER_NODE", "GPU_PER_NODE",      "NGPUS_PER_NODE",
                                                "NGPU_PER_NODE",   "NUM_GPU_PER_NODE",  "NPUS_PER_NODE"};
inline constexpr const char* kAllNames[] = {"WORLD_SIZE", "NUM_GPUS", "N_GPUS", "NGPUS", "TOTAL_GPUS"};
inline constexpr const char *kOneNodesName = "NGPU", *kVisible = "CUDA_VISIBLE_DEVICES";
bool says_size(std::string_view name);
// As they are in the command's own shell.
void tell_size(const ShellVariables& variables, ShellCommand& command);

enum class Truth { no, yes, unknown };
inline Truth operator!(Truth t) { return t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes; }

// Replaces names by their values.
class ShellValues {
 public:
    ShellValues(ShellVariables& variables, std::map<std::string, std::vector<std::string>>& choices)
        : variables_(variables), choices_(choices) {}
    // As the words of a command; as one word where values are not split.
    ShellWords words(const RawWord& raw, bool splits = true);
    // As one text, as on the right of NAME=.
    std::string text(std::string_view raw);
    // Of an arithmetic expression; open where a name in it is.
    std::string sum(std::string_view expression);
    // Of [ a = b ], without its brackets.
    Truth test(std::string_view expression);
    std::string join(const std::string& name);
    void compared(const std::string& open, const std::string& with);
    bool is_set(const std::string& name) const { return variables_.contains(name); }
    void set(const std::string& name, ShellVariable value) { variables_[name] = std::move(value); }
    // The here-document that a word stands for: names in it have their values, and quotes stay.
    std::optional<std::string> document(const std::string& word, const std::vector<std::string>& documents);
    // "read -r -d '' NAME <<EOF" sets the name, "IFS=, read -ra NAMES <<< TEXT" a list.
    void read(const ShellWords& words, const std::vector<std::string>& documents, const std::string& separators);
    // "mapfile -t NAME <<EOF": a list of its lines.
    void read_lines(const ShellWords& words, const std::vector<std::string>& documents);
    // "printf -v NAME '[%s]' 0,1,1" sets the name.
    void print(const ShellWords& words);
    bool overflowed = false;  // a value grew beyond every measure
    // What a function of the script prints; nothing where it is none, or that is not known.
    std::function<std::optional<std::string>(const ShellWords&)> printed_by{};

 private:
    struct Found {
        ShellWords words;
        bool separate = false;  // "${list[@]}": each word stays one
    };
    struct Picked {
        bool absent = false;  // a name that a list of names has not
        bool keyed = false;   // ${args[TP]:-1}: a name, of a list that is not known to have names
    };
    void pick(const std::string& name, const std::string& index, Found& found, Picked& picked);
    Found dollar(std::string_view raw, std::size_t& at);
    Found braces(std::string_view inside);
    Found value_of(std::string_view name);
    Found indirect(const std::string& name, std::string_view inside);
    Found slice(const Found& found, std::string_view operation, std::string_view inside);
    std::string substitution(std::string_view inside);
    std::optional<ShellNodes> way_taken(const ShellNodes& nodes);
    static bool is_question(const ShellNode& node);
    std::optional<ShellNodes> answered_way(const ShellNodes& nodes);
    Truth test(const ShellNode& node);
    std::string counted_nodes(std::string_view inside);
    std::string list_joined(const ShellNodes& nodes);
    std::string cut_out(const ShellNodes& nodes, const std::string& said);
    std::string counted_parts(const ShellNodes& nodes, const std::string& said);
    std::string changed(std::string value, std::string_view operation);
    static std::string trimmed(const std::string& value, std::string_view operation);
    std::string filled(std::string word);
    ShellVariables& variables_;
    std::map<std::string, std::vector<std::string>>& choices_;
    int depth_ = 0;
};

// Whether it is nothing but what a command would print.
bool is_printed(std::string_view text);
// The place behind the closing one of what opens at `at`: (, {, ", ' or `.
std::size_t behind_closing(std::string_view text, std::size_t at);

}  // namespace fourfold
