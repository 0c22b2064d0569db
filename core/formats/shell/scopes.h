// The variables of a shell while its script runs, and where they end: with a shell of its own, with a function.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/shell/parts.h"

namespace fourfold {

class ShellScopes {
 public:
    explicit ShellScopes(ShellScript& script) : script_(script) {}
    ShellVariables variables;

    // Whatever the script sets it to.
    void fix(const std::string& name, const std::string& value);
    void set(const std::string& name, ShellVariable value);
    void unset(const std::string& name);

    // ( … ), $( … ), bash -c '…', a part of a pipe: behind it everything is as before, and what it starts keeps its names.
    struct Shell {
        ShellVariables before;
        std::size_t first;    // of the commands in it
        std::size_t returns;  // that were met before in the function around it
    };
    Shell enter() const { return {variables, script_.commands.size(), calls_.empty() ? 0 : calls_.back().returned.size()}; }
    void leave(Shell shell);

    // A function: the words of its call ("$1", "$#", "$@") and what it calls its own end with it.
    struct Call {
        ShellVariables outside;
        std::map<std::string, std::optional<ShellVariable>> own;  // as they are outside of it
        std::size_t first;
        std::vector<ShellVariables> returned{};  // as they were at each "return" that was met
    };
    void call(const ShellWords& words);
    bool note_return();  // false: nothing is called
    // `ended`: by a "return" on every way; `reason`: what it hangs on.
    void back(bool ended, const std::string& reason);
    // "local NAME", "local NAME=value"; no value is taken from outside.
    void make_own(const std::string& word);
    void shift(const ShellWords& words);
    // "set -- a b": the words that the script, or the function, was given.
    void give(ShellWords words);

    void finish();

 private:
    bool is_fixed(const std::string& name) const;
    void tell(const ShellVariables& own, std::size_t first);
    ShellScript& script_;
    std::vector<std::string> fixed_;
    std::vector<Call> calls_;
    ShellVariables ended_;  // that nothing else has at the script's end
};

}  // namespace fourfold
