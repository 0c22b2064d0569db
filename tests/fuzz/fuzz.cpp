// Whatever comes in, a function of the core answers with the JSON that the contract (core/contract) promises, and what it answers to is a
// request that the contract allows. One executable; the environment says which target:
//   cmake --preset asan && cmake --build --preset asan
//   mkdir -p build/corpus/estimate
//   FOURFOLD_FUZZ_TARGET=estimate build/asan/tests/fourfold_fuzz -max_total_time=180 -max_len=4096 build/corpus/estimate
//       tests/fuzz/corpus/estimate
// ctest --preset asan --label-regex fuzz runs each target for three seconds.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "api.h"
#include "contract.h"

namespace {

using namespace fourfold::api;
using fourfold::Json;
using fourfold::tests::answer_defect;
using fourfold::tests::request_defect;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// ---- requests as text
template <std::string (*function)(std::string_view)>
std::string answer_to(std::string_view text) {
    return function(text);
}
std::string search_summary(std::string_view text) { return search(text).summary; }

// Ten billion moves may be asked for; the search ends when it asks for the third time.
bool twice(void* asked, const std::string&) { return ++*static_cast<int*>(asked) < 3; }
std::string place_briefly(std::string_view text, LinkColumns columns) {
    int asked = 0;
    return place(text, &twice, &asked, std::move(columns));
}
std::string place_text(std::string_view text) { return place_briefly(text, {}); }

// The bytes as they come are the measurement; tests/links holds seeds.
std::string read_measurement(std::string_view text) {
    std::string read;
    for (const char* unit : {"auto", "gbyte_per_s"}) {
        read = read_links(dump({{"text", text}, {"unit", unit}}));
        if (read.find("\"ok\":true") != std::string::npos) break;
    }
    return read;
}

// The bytes as they come are a table of runs.
std::string calibrate_table(std::string_view text) {
    return calibrate(dump({{"gpus", 64}, {"context_parallel", 1}, {"global_batch", 512}, {"runs_text", text}}));
}

// ---- requests made of bytes, so that what needs many things to be right is reached
class Bytes {
 public:
    explicit Bytes(std::string_view data) : data_(data) {}
    bool empty() const { return data_.empty(); }
    std::size_t below(std::size_t count) {
        if (data_.empty()) return 0;
        const auto byte = static_cast<unsigned char>(data_.front());
        data_.remove_prefix(1);
        return byte % count;
    }
    double number() {  // any eight bytes: also infinity, NaN and what is neither normal nor 0
        double value = 0;
        const std::size_t taken = std::min(data_.size(), sizeof value);
        std::memcpy(&value, data_.data(), taken);
        data_.remove_prefix(taken);
        return value;
    }
    std::string_view rest() const { return data_; }

 private:
    std::string_view data_;
};

// Matrices beside the text: two counts of numbers, the numbers, and behind them the request.
std::string place_columns(std::string_view data) {
    Bytes bytes(data);
    LinkColumns columns;
    columns.gbyte_per_s.resize(bytes.below(50));
    columns.latency_us.resize(bytes.below(50));
    for (auto* column : {&columns.gbyte_per_s, &columns.latency_us})
        for (double& number : *column) number = bytes.number();
    return place_briefly(bytes.rest(), std::move(columns));
}

// Ten plans and more with times around the estimate, where the constants of a site are fitted; each two bytes move one of the times and
// the memory measured with it.
std::string calibration_fit(std::string_view data) {
    constexpr int kPlans[][4] = {{64, 1, 8, 1},  {64, 2, 4, 1},  {64, 2, 2, 2},  {64, 4, 1, 1},  {64, 8, 1, 4},
                                 {64, 1, 4, 2},  {128, 1, 4, 1}, {128, 4, 2, 1}, {128, 2, 1, 1}, {256, 1, 1, 1},
                                 {256, 4, 4, 1}, {32, 1, 2, 1},  {16, 2, 1, 2},  {16, 1, 16, 1}};
    constexpr double kSeconds[] = {10.28, 8.87, 7.5,  8.43, 9.8,   8.49,  4.42,
                                   4.69,  3.58, 1.68, 2.87, 13.29, 26.07, 52.15};  // about what is estimated for these plans
    constexpr const char* kClusters[] = {"", "dgx-h100"};
    Bytes bytes(data);
    Json request = {{"gpu", "h100-sxm-80gb"}, {"gpus", 64}, {"global_batch", 512}, {"context_parallel", 1}, {"runs", Json::array()}};
    request["cluster"] = kClusters[bytes.below(std::size(kClusters))];
    const std::size_t count = 1 + bytes.below(std::size(kPlans));
    for (std::size_t i = 0; i < count; ++i) {
        const auto& [gpus, tensor, pipeline, micro_batch] = kPlans[i];
        request["runs"].push_back({{"gpus", gpus},
                                   {"tensor_parallel", tensor},
                                   {"pipeline_parallel", pipeline},
                                   {"micro_batch", micro_batch},
                                   {"step_seconds", kSeconds[i] * (0.7 + 0.02 * static_cast<double>(bytes.below(128)))},
                                   {"allocated_gib", 16 + bytes.below(64)}});
    }
    return calibrate(dump(request));
}

// A request made of what catalog() offers: its models, GPUs and fields, with values that the fields allow. Such a request may break the
// rules of a plan, but it must be readable. Four pairs of values are refused while it is
// read: fp8 on a card without it, a layout of another model, a measured rate far above the links' own, and the paper's method for a model
// that it does not count.
bool is_refused_pair(const Json& problem) {
    return problem["rule"] == "precision_needs_card" || problem["rule"] == "layout" || problem["rule"] == "measured_rate" ||
           problem["rule"] == "method_of_dense_models";
}
Json value_of(const Json& field, Bytes& bytes) {
    const std::string type = field["type"];
    if (type == "boolean") return bytes.below(2) == 1;
    if (type == "choice") return field["choices"][bytes.below(field["choices"].size())]["id"];
    if (type == "set") {
        std::string ids;
        for (const Json& choice : field["choices"])
            if (bytes.below(2) == 1) ids += (ids.empty() ? "" : ",") + choice["id"].get<std::string>();
        return ids;
    }
    if (type == "text") return std::array{"", "auto", "E|t*2|L", "Et*16|(t*16|)*6t*14L", "Ettt|(tt|)*29mL"}[bytes.below(5)];  // a layout
    if (type == "integer" && field["auto"] == true && bytes.below(4) == 0) return "auto";
    const double min = field["min"], max = field["max"];
    const auto part = static_cast<double>(bytes.below(256)) / 255;
    if (type == "number") return min + (max - min) * part * part;
    const auto least = field["min"].get<std::int64_t>(), most = field["max"].get<std::int64_t>();
    return bytes.below(8) == 0 ? most : std::min<std::int64_t>(most, least + (std::int64_t{1} << bytes.below(12)) - 1);
}
std::string catalog_fields(std::string_view data) {
    static const Json known = fourfold::tests::json(catalog());
    Bytes bytes(data);
    Json request = {{"model", known["models"][bytes.below(known["models"].size())]["id"]},
                    {"gpu", known["gpus"][bytes.below(known["gpus"].size())]["id"]},
                    {"method", known["methods"][bytes.below(known["methods"].size())]["id"]}};
    if (bytes.below(4) == 0) {
        Json own = {{"name", "Mine"}, {"base", request["gpu"]}};
        for (const Json& field : known["gpu_fields"])
            if (bytes.below(3) == 0) own[field["key"].get<std::string>()] = value_of(field, bytes);
        request["gpu"] = std::move(own);
    }
    while (!bytes.empty()) {
        const Json& field = known["fields"][bytes.below(known["fields"].size())];
        request[field["key"].get<std::string>()] = value_of(field, bytes);
    }
    const std::string answer = estimate(dump(request));
    const Json read = fourfold::tests::json(answer);
    if (read["ok"] == false && read["job"].is_null() && !std::all_of(read["problems"].begin(), read["problems"].end(), is_refused_pair))
        return "what the catalog offers was not readable: " + dump(request) + answer;
    return answer;
}

// A plan that is complete, in one of the formats.
std::string export_formats(std::string_view data) {
    static const Json formats = fourfold::tests::json(catalog())["config_formats"];
    const Json read = fourfold::tests::json(catalog_fields(data));
    Json job = read["ok"] == true ? read["job"] : Json::object();
    job["format"] = formats[data.size() % formats.size()]["id"];
    return export_plan(dump(job));
}

std::string import_script(std::string_view data) { return import_plan(dump(Json{{"text", std::string(data)}})); }

// The bytes as they come are settings: a line each, "key = value"; a value that is JSON counts as that.
std::string import_settings(std::string_view data) {
    Json entries = Json::array();
    for (int line = 1; !data.empty() && line < 300; ++line) {
        const std::size_t end = std::min(data.find('\n'), data.size());
        const std::string_view text = data.substr(0, end);
        data.remove_prefix(std::min(end + 1, data.size()));
        const std::size_t cut = text.find(" = ");
        if (cut == std::string_view::npos) continue;
        const std::string value(text.substr(cut + 3));
        Json read = Json::parse(value, nullptr, false);
        entries.push_back({{"key", std::string(text.substr(0, cut))}, {"value", read.is_discarded() ? Json(value) : read}, {"line", line}});
    }
    return import_plan(dump(Json{{"entries", entries}}));
}

// The bytes as they come are a log, beside a plan that was counted.
std::string read_log(std::string_view data) {
    static const Json counted = {{"card_bytes", 8e10},
                                 {"total_bytes", 7e10},
                                 {"reserved_bytes", 7.2e10},
                                 {"whole_bytes", 7.5e10},
                                 {"step_seconds", 2},
                                 {"low_seconds", 1.8},
                                 {"high_seconds", 2.2},
                                 {"gpus", 64},
                                 {"sequence_length", 4096},
                                 {"global_batch", 512},
                                 {"stage", 3},
                                 {"items", {{{"id", "head"}, {"bytes", 2e10}}, {{"id", "weights"}, {"bytes", 3e10}}}},
                                 {"change", {{"label", {{"id", "change.fused_loss"}}}, {"saved_bytes", 1e10}}}};
    return read_run(dump(Json{{"text", std::string(data)}, {"counted", counted}}));
}

struct Target {
    const char* name;
    std::string (*answer)(std::string_view data);
    const char* function;         // of api.h
    bool takes_requests = false;  // the bytes as they come are its request
};
constexpr Target kTargets[] = {
    {"estimate", answer_to<estimate>, "estimate", true},
    {"import_config", answer_to<import_config>, "import_config", true},
    {"search", search_summary, "search", true},
    {"rank", answer_to<rank>, "rank", true},
    {"alternatives", answer_to<alternatives>, "alternatives", true},
    {"versus", answer_to<versus>, "versus", true},
    {"timeline", answer_to<timeline>, "timeline", true},
    {"export_plan", answer_to<export_plan>, "export_plan", true},
    {"export_formats", export_formats, "export_plan"},
    {"import_plan", answer_to<import_plan>, "import_plan", true},
    {"import_script", import_script, "import_plan"},
    {"import_settings", import_settings, "import_plan"},
    {"find_models", answer_to<find_models>, "find_models", true},
    {"read_run", answer_to<read_run>, "read_run", true},
    {"read_log", read_log, "read_run"},
    {"limits", answer_to<limits>, "limits", true},
    {"phases", answer_to<phases>, "phases", true},
    {"pools", answer_to<pools>, "pools", true},
    {"calibrate", answer_to<calibrate>, "calibrate", true},
    {"calibrate_table", calibrate_table, "calibrate"},
    {"calibration_fit", calibration_fit, "calibrate"},
    {"read_links", answer_to<read_links>, "read_links", true},
    {"read_measurement", read_measurement, "read_links"},
    {"place", place_text, "place", true},
    {"place_columns", place_columns, "place"},
    {"catalog_fields", catalog_fields, "estimate"},
};

const Target& chosen() {
    static const Target& target = [&]() -> const Target& {
        const char* name = std::getenv("FOURFOLD_FUZZ_TARGET");
        for (const Target& one : kTargets)
            if (name != nullptr && std::strcmp(name, one.name) == 0) return one;
        std::fprintf(stderr, "FOURFOLD_FUZZ_TARGET must be one of:");
        for (const Target& one : kTargets) std::fprintf(stderr, " %s", one.name);
        std::fprintf(stderr, "\n");
        std::exit(2);
    }();
    return target;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string answer = chosen().answer(text);
    const Json read = fourfold::tests::json(answer);
    std::string defect = answer_defect(read, chosen().function);
    if (defect.empty() && chosen().takes_requests && read["ok"] == true)
        defect = request_defect(fourfold::tests::json(text), chosen().function);
    if (!defect.empty()) {
        std::fprintf(stderr, "%s\n%.4000s\n", defect.c_str(), answer.c_str());
        std::abort();
    }
    return 0;
}
