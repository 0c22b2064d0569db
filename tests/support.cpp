#include "support.h"

#include <cstdlib>

#if defined(__has_feature)
#define FOURFOLD_HAS(what) __has_feature(what)
#else
#define FOURFOLD_HAS(what) 0
#endif

namespace fourfold::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__EMSCRIPTEN__) || FOURFOLD_HAS(address_sanitizer)
const bool kSlowBuild = true;
#else
const bool kSlowBuild = false;
#endif

bool every_job() { return std::getenv("FOURFOLD_EVERY_JOB") != nullptr; }

Json json(std::string_view text) { return Json::parse(text.begin(), text.end(), nullptr, false); }

Json at(const Json& object, const std::string& key) {
    const auto found = object.find(key);
    return found == object.end() ? Json() : *found;
}

std::string brief(const Json& problems) {
    std::string lines;
    for (const Json& p : problems) {
        const std::string field = at(p, "field").is_string() ? at(p, "field").get<std::string>() : "?";
        const std::string rule = at(p, "rule").is_string() ? at(p, "rule").get<std::string>() : "?";
        lines += (lines.empty() ? "" : "\n") + (field.empty() ? "(all)" : field) + " " + rule + " " + at(p, "value").dump() + " -> " +
                 at(p, "nearest").dump();
    }
    return lines;
}
std::string said(const Json& text) {
    if (!text.is_object()) return text.is_null() ? "" : text.dump();
    const Json args = at(text, "args");
    return at(text, "id").get<std::string>() + (args.is_null() ? "" : " " + args.dump());
}
std::string said(const Text& text) { return said(text.json()); }
std::string brief(const Problems& problems) { return brief(to_json(problems)); }

}  // namespace fourfold::tests
