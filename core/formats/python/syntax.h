// What Python itself stops at before a text starts: a part of its syntax that hand-written files break.
#pragma once
#include <cstdint>
#include <string_view>

namespace fourfold {

// The first such line, counted from 1; 0: none was found. What it does not know it takes for valid.
std::int64_t python_stops_at(std::string_view text);

}  // namespace fourfold
