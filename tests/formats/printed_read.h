// What a run printed, read, and what came of it in a form that is short to check.
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "api.h"
#include "base/bytes.h"
#include "contract.h"
#include "support.h"

namespace fourfold::tests::printed {

inline Json asked(const Json& request) {
    Json answer = json(api::read_run(request.dump(-1, ' ', false, Json::error_handler_t::replace)));
    CHECK(answer_defect(answer, "read_run") == "");
    return answer;
}
inline Json read(const std::string& text, const Json& counted = nullptr) {
    const Json request = {{"text", text}, {"counted", counted}};
    Json answer = asked(request);
    CHECK(request_defect(request, "read_run") == "");
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer;
}

// "tried 20.00 MiB 1 -;", a number each: quantity, as written, line, rank.
inline std::string numbers(const Json& answer) {
    std::string all;
    for (const Json& one : answer["numbers"])
        all += one["quantity"].get<std::string>() + " " + one["written"].get<std::string>() + " " + std::to_string(one["line"].get<int>()) +
               " " + (one["rank"].is_null() ? "-" : std::to_string(one["rank"].get<int>())) + "; ";
    return all;
}
inline double value(const Json& answer, const std::string& quantity) {
    for (const Json& one : answer["numbers"])
        if (one["quantity"] == quantity) return one["value"].get<double>();
    return -1;
}
inline double median(const Json& answer, const std::string& quantity) {
    for (const Json& one : answer["series"])
        if (one["quantity"] == quantity) return one["median"].get<double>();
    return -1;
}
inline std::string first_id(const Json& list, std::size_t at = 0) { return at < list.size() ? list[at]["id"].get<std::string>() : ""; }
inline bool says(const Json& list, const std::string& id) {
    for (const Json& one : list)
        if (one["id"] == id) return true;
    return false;
}

}  // namespace fourfold::tests::printed
