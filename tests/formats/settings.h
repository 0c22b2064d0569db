// Settings of a configuration, short to write: a line each, "model.num_layers = 32", values as in JSON.
#pragma once
#include <doctest/doctest.h>

#include <initializer_list>
#include <set>
#include <sstream>
#include <string>

#include "api.h"
#include "contract.h"
#include "formats/formats.h"
#include "plan/plan.h"

namespace fourfold::tests {

inline Json settings(const std::string& text) {
    Json entries = Json::array();
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        const std::size_t cut = line.find(" = ");
        if (cut == std::string::npos) continue;
        entries.push_back({{"key", line.substr(0, cut)}, {"value", json(line.substr(cut + 3))}, {"line", number}});
    }
    return entries;
}

inline Json read_answer(const Json& request) {
    Json answer = json(api::import_plan(request.dump()));
    CHECK(answer_defect(answer, "import_plan") == "");
    CHECK(request_defect(request, "import_plan") == "");
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    for (const Json& job : answer["jobs"]) CHECK(job["title"] != "");
    return answer;
}
inline Json read_settings_of(const std::string& text, const Json& set = Json::object()) {
    return read_answer({{"entries", settings(text)}, {"set", set}});
}
inline Json read_script_of(const std::string& text) { return read_answer({{"text", text}, {"set", Json::object()}}); }
inline Json first_of_script(const std::string& text) { return read_script_of(text)["jobs"][0]; }
inline Json first_of(const std::string& text, const Json& set = Json::object()) { return read_settings_of(text, set)["jobs"][0]; }

// "gpus=32 tensor_parallel=2", those fields alone.
inline std::string some(const Json& job, std::initializer_list<const char*> fields) {
    std::string all;
    for (const char* field : fields)
        all += std::string(all.empty() ? "" : " ") + field + "=" + (job["job"].contains(field) ? job["job"][field].dump() : "?");
    return all;
}
inline std::string fate(const Json& job, const std::string& key) {
    for (const Json& one : job["keys"])
        if (one["key"] == key) return one["fate"].get<std::string>() + " " + std::to_string(one["line"].get<int>());
    return "";
}
inline std::string ids(const Json& texts) {
    std::string all;
    for (const Json& text : texts) all += (all.empty() ? "" : " ") + text["id"].get<std::string>();
    return all;
}

// Without what has no effect on the model: modules to compute again that it lacks.
inline void drop_idle_modules(const Model& model, Plan& plan) {
    if (model.experts.count == 0) plan.recompute_modules &= ~std::uint32_t{moe_act};
    if (model.latent.kv_rank == 0) plan.recompute_modules &= ~std::uint32_t{mla_up_proj};
    if (plan.recompute == Recompute::selective && plan.recompute_modules == 0) plan.recompute = Recompute::none;
}

// Fields of the plan that a configuration lacks.
inline std::set<std::string> left_out_fields(const Export& made) {
    std::set<std::string> fields;
    for (const Text& text : made.left_out)
        if (text.args().contains("field")) fields.insert(text.args()["field"]["id"].get<std::string>().substr(6));
    return fields;
}

// A written file as the page takes it apart: a list of lists is a setting of each of them.
inline Json entries_of(const Export& made) {
    Json entries = Json::array();
    for (const auto& [key, value] : made.settings) {
        if (!value.is_array() || value.empty() || !value[0].is_array()) {
            entries.push_back({{"key", key}, {"value", value}});
            continue;
        }
        for (std::size_t i = 0; i < value.size(); ++i) entries.push_back({{"key", key + "." + std::to_string(i)}, {"value", value[i]}});
    }
    return entries;
}

}  // namespace fourfold::tests
