// What most tests need: JSON from a literal, and problems as one short line each.
#pragma once
#include <string>
#include <string_view>

#include "base/fields.h"

namespace fourfold::tests {

// Sanitizers and WebAssembly take many times as long: what runs over thousands of jobs looks at some of them there.
// Where the core was built, not the test.
extern const bool kSlowBuild;
// FOURFOLD_EVERY_JOB=1: a law is asked of all that it is for, not of a share of it.
bool every_job();

// Not inline: the library's parser and printer are compiled once.
Json json(std::string_view text);

// The member at `key`, or null; never an error.
Json at(const Json& object, const std::string& key);

// "gpus range 0 -> 1", one line per problem, as "field rule value -> nearest".
std::string brief(const Json& problems);
std::string brief(const Problems& problems);

// "problem.no_text_value {"key":"model"}": what a text says, and with what; "" for none.
std::string said(const Text& text);
std::string said(const Json& text);

}  // namespace fourfold::tests
