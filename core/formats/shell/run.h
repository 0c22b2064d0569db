// Goes through a script as the shell would: what it sets and starts, on every way that the text leaves open.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/shell/ends.h"
#include "formats/shell/files.h"
#include "formats/shell/scopes.h"

namespace fourfold {

class ShellRun {
 public:
    ShellRun(ShellScript& script, const std::map<std::string, std::string>& set)
        : script_(script), scopes_(script), values_(scopes_.variables, script.choices) {
        for (const auto& [name, value] : set) scopes_.fix(name, value);
        values_.printed_by = [this](const ShellWords& words) { return printed(words); };
    }

    void text(std::string_view text, std::int64_t line);
    void finish();

 private:
    void run(const ShellNodes& nodes);
    // A list of commands as a question.
    Truth answer(const ShellNodes& nodes);
    Truth run(const ShellNode& node);
    Truth asked(std::string_view expression);
    // The name that a question hangs on.
    std::string why(std::string_view expression);
    std::string assignment_or_sum(const std::string& text);
    void condition(const ShellNode& node, std::size_t i);
    void choice(const ShellNode& node);
    // One of its ways, and those that it goes on into; the place of the last one.
    std::size_t taken(const ShellNode& choice, std::size_t i);
    void loop(const ShellNode& node);
    // A loop in which nothing is started, as often as it is run; false where that is not known.
    bool follow(const ShellNodes& body, const std::function<Truth()>& goes_on, const std::function<void()>& step);
    void keep_defaults(const ShellVariables& before);
    // More than once: what is another value after a second time is open.
    void repeat(const ShellNodes& body);
    // Several ways to go on, of which the text does not say which: what differs afterwards is open.
    void maybe(const std::vector<std::function<void()>>& ways);
    // In a shell of its own.
    void alone(const std::function<void()>& way);
    // A part of a pipe that may set something.
    bool is_shell(const ShellNodes& nodes, std::size_t i) const;
    // Whether the word is NAME=value; then it is set.
    bool assign(const RawWord& raw);
    bool assign_element(const RawWord& raw);
    Truth command(const ShellNode& node);
    Truth start(ShellCommand& found, bool piped);
    // "return 1"; "set -- a b".
    void note_answer(const ShellCommand& found);
    void set_words(const ShellCommand& found);
    // A script inside of it, with what starts its shell before each of its commands.
    Truth inside(ShellInside inner);
    // A scheduler's job: what it is told, and what is set in it, is no other job's.
    Truth job(ShellInside inner);
    // What a word holds, read once more.
    void again(const std::string& text, std::int64_t line);
    // $( … ) and ` … ` start what stands in them: "bash -c `torchrun …`", "JOB=$(sbatch <<EOF …)".
    void start_inside(const RawWord& raw);
    void call(const std::vector<ShellClause>& body, const ShellWords& words);
    // $(sizes 7b): what a function prints, where no question is open in it.
    std::optional<std::string> printed(const ShellWords& words);
    // With A=1 before the command set for it alone.
    void with_settings(const ShellCommand& found, const std::function<void()>& way);

    static constexpr int kMostSteps = 100'000, kDeepestCalls = 12;
    ShellScript& script_;
    ShellScopes scopes_;
    ShellValues values_;
    ShellFiles files_;
    std::map<std::string, std::vector<ShellClause>> functions_;
    struct Printed {
        std::string text;
        bool sure = true;
    };
    Printed* printed_ = nullptr;               // what "echo" adds to
    std::set<std::string> sums_;               // declare -i
    std::map<std::string, std::string> refs_;  // declare -n
    std::vector<std::string> reasons_;
    ShellEnds ends_;
    std::string reason_;
    int steps_ = 0, calls_ = 0;
    Truth answered_ = Truth::yes;             // by a function
    bool exited_ = false, returned_ = false;  // on the way that is followed
};

}  // namespace fourfold
