// Small tools for text that is no prose: paths, names, cells.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

namespace fourfold {

// Texts one after the other. One call instead of many: the module is downloaded.
std::string joined(std::initializer_list<std::string_view> parts);

// Of letters from A to Z.
std::string lower_case(std::string_view text);

// "runs[3]": one element of a list, as the fields of problems are written.
std::string indexed(std::string_view key, std::size_t index);

}  // namespace fourfold
