// Conditions of a text in Python: what is known of them, and what hangs on them.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/python/tokens.h"

namespace fourfold {

// Whether there is a GPU, and one that computes in bf16: "is_bfloat16_supported()" or "not torch.cuda.is_bf16_supported()" at `at`, which
// goes behind it. Every GPU of the catalogue does.
std::optional<bool> python_capable(const std::vector<PythonToken>& tokens, std::size_t& at);
// The same by number, "torch.cuda.get_device_capability()[0] >= 8", as the word "True": Ampere is the oldest of the catalogue.
std::vector<PythonToken> with_known_cards(std::vector<PythonToken> tokens);

using PythonNames = std::function<std::optional<Json>(const std::string&)>;

// "not x", "x is None", "tp > 1", "kind == 'cs'" and bool(…) of these: nothing where a name in it is not known, or it says more. `at`
// goes behind it.
std::optional<bool> python_truth(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known);

// Before the name of an argument whose default is None: what stands behind its "or" holds, unless the command says one.
inline constexpr const char* kUnlessSaid = "\x01or ";  // no name has the first letter

// "8 if big else 4", "tp > 1", "nodes * 8 // tp" of whole numbers, "args.model or MODEL": nothing where a name in it is not known, or it
// says more. `at` goes behind it.
std::optional<Json> python_computed(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known);

// The branches around a line: what stands further to the right than "if" hangs on it.
class PythonBranches {
 public:
    // The line begins here; what stood further to the right ends.
    void leave(std::size_t column);
    // "if", "elif" and "else"; `truth` is that of their own condition.
    void enter(const std::string& word, std::size_t column, const std::string& condition, std::optional<bool> truth);
    // Names of conditions that are not decided; nothing where one of them is known not to hold.
    std::optional<std::vector<std::string>> undecided(const NamesSet& answers) const;

 private:
    struct Branch {
        std::size_t column = 0;
        std::string condition{};
        bool inverted = false;
        std::optional<bool> holds{};
        std::optional<bool> taken{};  // this one, or one before it in the same chain
    };
    std::vector<Branch> branches_;
    Branch last_{};
};

}  // namespace fourfold
