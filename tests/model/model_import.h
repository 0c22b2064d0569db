// What read_model says of a config, in a form that is short to check.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>

#include "model/model.h"
#include "support.h"

namespace fourfold::tests {

struct Import {
    std::optional<Model> model;
    Problems problems;
    ImportReport report;
    std::int64_t parameters() const { return model ? parameter_count(*model) : 0; }
    bool used(const char* key) const { return std::count(report.used.begin(), report.used.end(), key) == 1; }
    bool ignored(const char* key) const { return std::count(report.ignored.begin(), report.ignored.end(), key) == 1; }
    Json assumed(const char* key) const {
        for (const auto& a : report.assumed)
            if (a.key == key) return a.value;
        return nullptr;
    }
};

inline Import import(const Json& config) {
    Import result;
    result.model = read_model(config, "", result.problems, result.report);
    CHECK(result.model.has_value() == result.problems.empty());
    return result;
}
inline Import import(const char* config) { return import(json(config)); }

}  // namespace fourfold::tests
