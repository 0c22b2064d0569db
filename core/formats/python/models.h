// What a program in Python says of the model that it trains: how it loads it, what it freezes, which part learns.
#pragma once
#include <optional>
#include <vector>

#include "formats/python/arguments.h"

namespace fourfold {

struct PythonModel {
    std::vector<Entry> entries{};        // under the names that the arguments of a command have
    std::optional<Entry> name{};         // of the model
    std::optional<Entry> length{};       // of a sequence, where the trainer says none
    std::optional<Entry> part{};         // the call that trains a part alone
    std::vector<std::string> refused{};  // ways to train a part that are not counted
    std::vector<std::string> notes{};    // what is not counted besides
    std::string needs_part{};            // its name where it loads 4 or 8 bits, and trains nothing beside them
};

PythonModel python_model(const PythonTokens& tokens, const PythonArguments& reader, const std::vector<Entry>& all, const NamesSet& set);

}  // namespace fourfold
