// What most tests need: JSON from a literal, and problems as one short line each.
#pragma once
#include <string>
#include <string_view>

#include "fields.h"

namespace fourfold::tests {

// Sanitizers and WebAssembly take many times as long: what runs over thousands of jobs looks at some of them there.
#if defined(__SANITIZE_ADDRESS__) || defined(__EMSCRIPTEN__)
inline constexpr bool kSlowBuild = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kSlowBuild = true;
#else
inline constexpr bool kSlowBuild = false;
#endif
#else
inline constexpr bool kSlowBuild = false;
#endif

inline Json json(std::string_view text) { return Json::parse(text.begin(), text.end(), nullptr, false); }

// The member at `key`, or null; never an error.
inline Json at(const Json& object, const std::string& key) {
    const auto found = object.find(key);
    return found == object.end() ? Json() : *found;
}

// "gpus range 0 -> 1", one line per problem, as "field rule value -> nearest".
inline std::string brief(const Json& problems) {
    std::string lines;
    for (const Json& p : problems) {
        const std::string field = at(p, "field").is_string() ? at(p, "field").get<std::string>() : "?";
        const std::string rule = at(p, "rule").is_string() ? at(p, "rule").get<std::string>() : "?";
        lines += (lines.empty() ? "" : "\n") + (field.empty() ? "(all)" : field) + " " + rule + " " + at(p, "value").dump() + " -> " +
                 at(p, "nearest").dump();
    }
    return lines;
}
inline std::string brief(const Problems& problems) { return brief(to_json(problems)); }

}  // namespace fourfold::tests
