// The cells of a line of runs: what was measured may carry its unit.
#pragma once
#include <string_view>
#include <vector>

#include "calibration/columns.h"
#include "calibration/measures.h"

namespace fourfold {

// nullptr: the key says something else.
const Measure* measure_of(std::string_view key);

// In the unit of its column: "9200 ms" below "step_seconds" is 9.2. A name of a column is a unit too. What is no number, or has a
// unit that measures something else, stays a text, and is a problem later.
Json cell_value(std::string_view cell, std::string_view key, char separator);

// A line between blanks that has more cells than columns: "9.2 s" is one.
void join_units(const RunColumns& columns, std::vector<std::string_view>& cells);

}  // namespace fourfold
