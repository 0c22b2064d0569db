// Files of programs that are known by name, and not read.
#pragma once
#include <string_view>
#include <vector>

#include "formats/entries.h"

namespace fourfold {

// The program's name; "" where it is none of them.
std::string_view other_program(const std::vector<Entry>& entries);
std::string_view other_program(std::string_view text);

// What a text starts that trains nothing; "" where it may be anything.
std::string_view idle_program(std::string_view text);
// "online_dpo.py": the word in a program's name for a training with more than one model, or by rewards; "": none.
std::string_view other_training(std::string_view file);
// "generate.py", "eval_mmlu.py", "convert.py": by the words of its name, a program that trains nothing.
bool names_no_training(std::string_view file);

}  // namespace fourfold
