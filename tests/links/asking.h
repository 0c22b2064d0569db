// How a test asks read_links, and what it looks for in the answer. The fixtures in tests/links are made up; their form is that of the tools
// (see the sources in core/links for where it is documented).
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "api.h"
#include "contract.h"
#include "embedded_tests.h"

namespace fourfold::tests::links {

inline std::string fixture(std::string_view name) {
    for (const embedded::File& file : embedded::links)
        if (file.name == name) return std::string(file.text);
    return "";
}

inline Json ask(const Json& request) {
    const std::string answer = api::read_links(request.dump(-1, ' ', false, Json::error_handler_t::replace));
    CHECK_MESSAGE(tests::answer_defect(answer, "read_links") == "", answer.substr(0, 600));
    return json(answer);
}
inline Json read(const std::string& text, const char* unit = "auto") { return ask({{"text", text}, {"unit", unit}}); }
inline Json read_fixture(const char* name, const char* unit = "auto") {
    const std::string text = fixture(name);
    CHECK_MESSAGE(!text.empty(), name);
    return read(text, unit);
}
inline std::string problems(const Json& answer) { return brief(answer["problems"]); }
// "field rule: message" of each problem, without "problem." before the id.
inline std::string messages(const Json& answer) {
    std::string lines;
    for (const Json& p : at(answer, "problems"))
        lines += (lines.empty() ? "" : "\n") + p["field"].get<std::string>() + " " + p["rule"].get<std::string>() + ": " +
                 said(p["message"]).substr(std::string_view("problem.").size());
    return lines;
}
// What is suggested for the first problem.
inline std::string advice(const Json& answer) { return said(at(at(answer, "problems")[0], "suggestion")); }
// Whether a text of this id is somewhere in the answer, with these arguments where some are given.
inline bool says(const Json& answer, const char* id, const char* args = "") {
    if (at(answer, "id") == id) return *args == '\0' || at(answer, "args") == json(args);
    for (const auto& item : answer.items())
        if (item.value().is_structured() && says(item.value(), id, args)) return true;
    return false;
}

}  // namespace fourfold::tests::links
