#pragma once
#include <cstddef>
#include <string_view>

namespace fourfold {

// Letters to change, add or leave out until one is the other (V. Levenshtein, 1966). Takes as long as the product of both lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace fourfold
