// What calls in a text in Python give to the arguments of its own functions.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/entries.h"
#include "formats/python/tokens.h"

namespace fourfold {

// Of a function and an argument, all values as JSON; kNotSaid where a call gives one that this text does not tell.
using PythonCalls = std::map<std::string, std::map<std::string, std::set<std::string>>>;
constexpr const char* kNotSaid = "?";

// By place, "configure(4, gpus)", and by the name of a variable, "configure(nodes=count)".
void add_positions(const std::vector<PythonToken>& tokens, const std::set<std::string>& functions, PythonCalls& calls);

// What all calls of a function that tell it give to an argument, the same.
std::map<std::string, Json> given_to(const PythonCalls& calls, const std::string& function);
// Calls may give an argument another value than its default.
std::optional<Json> given_by_calls(const PythonCalls& calls, const std::string& function, const NamesSet& set, const std::string& parameter,
                                   const Json& usual);

// parser.add_argument("-N", "--num_nodes", type=int, default=1): args.num_nodes is 1 unless the command says otherwise.
struct PythonArgument {
    std::string key, usual;  // as JSON; kNotSaid: none
    std::size_t end;         // of the closing bracket
    bool none = false;       // default=None
    std::string variable{};  // default=MODEL
};
// Of the call whose bracket opens at `at`.
PythonArgument python_argument(const std::vector<PythonToken>& tokens, std::size_t at);

// Whether an argument of that name says which model is trained.
inline bool names_model(std::string_view key) { return key.find("model") != std::string_view::npos; }
// Whether a function of that name is a recipe that a module called after its model holds: "llama3_8b.pretrain_config".
inline bool is_recipe(std::string_view called) {
    return called == "pretrain_recipe" || called == "finetune_recipe" || called == "pretrain_config";
}

}  // namespace fourfold
