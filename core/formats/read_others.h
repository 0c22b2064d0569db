// Files of programs that are known by name, and not read.
#pragma once
#include <string_view>
#include <vector>

#include "formats/entries.h"

namespace fourfold {

// The program's name; "" where it is none of them.
std::string_view other_program(const std::vector<Entry>& entries);
std::string_view other_program(std::string_view text);

}  // namespace fourfold
