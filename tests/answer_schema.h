// The shapes that api.h promises, and a walk that says where an answer differs from them.
// A shape is "integer", "number" (finite), "text", "boolean", "scalar" (number, text, true, false or null), "token", "words" ({"id",
// "args"}); with "?" behind it also null; [shape] = a list of them; {"key": shape, …} = an object with exactly these keys, those that end
// in "?" may be absent;
// {"null or": shape}.
#pragma once
#include <cmath>
#include <string>

#include "support.h"

namespace fourfold::tests {

// "" or a path and what is wrong there.
std::string differs(const Json& value, const Json& shape, const std::string& path);

const Json& shape(const char* name);

// What is wrong with an answer whose success has the shape `on_success`; "" when nothing is.
std::string answer_defect(std::string_view text, const char* on_success);

}  // namespace fourfold::tests
