// Reading user input: every kind of wrong value, said once, with what to do.
#include <doctest/doctest.h>

#include "plan/plan.h"
#include "support.h"

using namespace fourfold;
using tests::brief;
using tests::json;

namespace {

// What read_integer answers for one value in 1 … 1,024, as one line.
std::string integer(const char* text) {
    Problems problems;
    const auto number = read_integer(json(text), "x", "field.number", {1, 1'024}, problems);
    CHECK(number.has_value() == problems.empty());
    return number ? std::to_string(*number) : brief(problems);
}

Problem integer_problem(const char* text) {
    Problems problems;
    read_integer(json(text), "x", "field.number", {1, 1'024}, problems);
    return problems.empty() ? Problem{} : problems.front();
}

std::string message(const char* text) { return tests::said(integer_problem(text).message); }
std::string said(const char* id, const std::string& value) {
    return std::string(id) + R"( {"max":1024,"min":1,"name":{"id":"field.number"},"value":)" + value + "}";
}

// Reads a plan as a request does.
Problems plan_problems(const char* text) {
    Problems problems;
    Plan plan;
    const Json object = json(text);
    FieldReader reader(object, problems);
    visit_fields(plan, reader);
    reader.reject_unknown();
    return problems;
}

}  // namespace

TEST_CASE("whole numbers are read, also when written as 8.0 or 8e0") {
    CHECK(integer("1") == "1");
    CHECK(integer("1024") == "1024");
    CHECK(integer("8.0") == "8");
    CHECK(integer("8e0") == "8");
    CHECK(integer("0.8e1") == "8");
}

TEST_CASE("whole numbers out of range name the nearest that is in range") {
    CHECK(integer("0") == "x range 0 -> 1");
    CHECK(integer("-1") == "x range -1 -> 1");
    CHECK(integer("-0.0") == "x range -0.0 -> 1");
    CHECK(integer("0.5") == "x range 0.5 -> 1");
    CHECK(integer("1025") == "x range 1025 -> 1024");
    CHECK(integer("1024.5") == "x range 1024.5 -> 1024");
    CHECK(integer("1e300") == "x range 1e+300 -> 1024");
    CHECK(integer("-1e300") == "x range -1e+300 -> 1");
    CHECK(integer("2147483648") == "x range 2147483648 -> 1024");                        // 2^31
    CHECK(integer("-2147483649") == "x range -2147483649 -> 1");                         // -2^31 - 1
    CHECK(integer("9007199254740993") == "x range 9007199254740993 -> 1024");            // 2^53 + 1
    CHECK(integer("9223372036854775808") == "x range 9223372036854775808 -> 1024");      // 2^63
    CHECK(integer("-9223372036854775808") == "x range -9223372036854775808 -> 1");       // -2^63
    CHECK(integer("18446744073709551615") == "x range 18446744073709551615 -> 1024");    // 2^64 - 1
    CHECK(integer("18446744073709551616") == "x range 1.8446744073709552e+19 -> 1024");  // 2^64
    CHECK(integer("4294967297") == "x range 4294967297 -> 1024");                        // 2^32 + 1 must not wrap to 1
    CHECK(message("0") == said("problem.whole_too_small", "0"));
    CHECK(message("1025") == said("problem.whole_too_large", "1025"));
}

TEST_CASE("fractions are not rounded silently") {
    CHECK(integer("1.5") == "x range 1.5 -> 2");
    CHECK(integer("2.25") == "x range 2.25 -> 2");
    CHECK(integer("1023.9") == "x range 1023.9 -> 1024");
    CHECK(integer("1.0000000000000002") == "x range 1.0000000000000002 -> 1");
    CHECK(message("1.5") == said("problem.not_whole", "1.5"));
}

TEST_CASE("what is not a number is not read as one") {
    CHECK(integer("\"8\"") == "x type \"8\" -> null");
    CHECK(integer("\"NaN\"") == "x type \"NaN\" -> null");
    CHECK(integer("\"\"") == "x type \"\" -> null");
    CHECK(integer("null") == "x type null -> null");
    CHECK(integer("true") == "x type true -> null");
    CHECK(integer("[8]") == "x type null -> null");
    CHECK(integer("{\"a\": 8}") == "x type null -> null");
    CHECK(message("\"8\"") == said("problem.whole_is_text", "\"8\""));
    CHECK(integer_problem("\"8\"").suggestion == "suggestion.digits");
    CHECK(message("null") == said("problem.whole_no_number", "null"));
    CHECK(message("true") == said("problem.whole_no_number", "true"));
    CHECK(message("[8]") == said("problem.whole_no_number", "null"));
    CHECK(message("{}") == said("problem.whole_no_number", "null"));
}

TEST_CASE("true and false are read, their look-alikes are not") {
    for (const char* text : {"1", "0", "\"true\"", "null", "[]", "{}", "1.0"}) {
        CAPTURE(std::string(text));
        Problems problems;
        CHECK(!read_boolean(json(text), "flag", "field.flag", problems).has_value());
        CHECK(problems.size() == 1);
        if (problems.size() == 1) {
            CHECK(problems[0].rule == "type");
            CHECK(tests::said(problems[0].message) == R"(problem.no_boolean {"name":{"id":"field.flag"}})");
        }
    }
    Problems none;
    CHECK(read_boolean(Json(true), "flag", "field.flag", none) == true);
    CHECK(read_boolean(Json(false), "flag", "field.flag", none) == false);
    CHECK(none.empty());
}

TEST_CASE("every field of a plan refuses a wrong type by its own name") {
    CHECK(brief(plan_problems(R"({"gpus": "8"})")) == "gpus type \"8\" -> null");
    CHECK(brief(plan_problems(R"({"gpus": "auto"})")) == "gpus type \"auto\" -> null");  // only what the core can choose is "auto"
    CHECK(brief(plan_problems(R"({"tensor_parallel": "Auto"})")) == "tensor_parallel type \"Auto\" -> null");
    CHECK(brief(plan_problems(R"({"tensor_parallel": 0})")) == "tensor_parallel range 0 -> 1");
    CHECK(brief(plan_problems(R"({"gradients_in_fp32": 1})")) == "gradients_in_fp32 type 1 -> null");
    CHECK(brief(plan_problems(R"({"attention": true})")) == "attention type true -> null");
    CHECK(brief(plan_problems(R"({"attention": "flsh"})")) == "attention range \"flsh\" -> \"flash\"");
    CHECK(brief(plan_problems(R"({"attention": "FLASH"})")) == "attention range \"FLASH\" -> \"flash\"");
    CHECK(brief(plan_problems(R"({"attention": ""})")) == "attention range \"\" -> null");
    for (const char* key : {"tensor_parallel", "context_parallel", "pipeline_parallel", "micro_batch", "gpus_per_node"}) {
        CAPTURE(std::string(key));
        CHECK(plan_problems((std::string("{\"") + key + "\": \"auto\"}").c_str()).empty());
    }
}

TEST_CASE("choices list what can be chosen") {
    const Problems problems = plan_problems(R"({"attention": "flsh"})");
    CHECK(problems.size() == 1);
    if (problems.empty()) return;
    CHECK(tests::said(problems[0].message) ==
          R"(problem.unknown_choice {"choices":["auto","flash","cudnn","plain"],"name":{"id":"field.attention"}})");
    CHECK(tests::said(problems[0].suggestion) == R"(suggestion.did_you_mean {"near":"flash"})");
    for (const char* value : {"true", "null", "1", "[]"}) {  // no text: the same choices are named
        const Problems other = plan_problems((std::string(R"({"attention_mask": )") + value + "}").c_str());
        REQUIRE(other.size() == 1);
        CHECK((other[0].field == "attention_mask" && other[0].rule == "type"));
        CHECK(tests::said(other[0].message) ==
              R"(problem.unknown_choice {"choices":["auto","on","off"],"name":{"id":"field.attention_mask"}})");
        CHECK(tests::said(other[0].suggestion).empty());
    }
}

TEST_CASE("unknown keys are refused, with the key that was meant") {
    CHECK(brief(plan_problems(R"({"tensor_paralel": 2})")) == "tensor_paralel unknown 2 -> \"tensor_parallel\"");
    CHECK(brief(plan_problems(R"({"Gpus": 8})")) == "Gpus unknown 8 -> \"gpus\"");
    CHECK(brief(plan_problems(R"({"zzzzzzzz": [1, 2]})")) == "zzzzzzzz unknown null -> null");
    CHECK(brief(plan_problems(R"({"": 1})")) == "(all) unknown 1 -> null");
    const Problems meant = plan_problems(R"({"tensor_paralel": 2})");
    if (!meant.empty()) CHECK(tests::said(meant[0].suggestion) == R"(suggestion.did_you_mean {"near":"tensor_parallel"})");
    const Problems strange = plan_problems(R"({"zzzzzzzz": 2})");
    if (!strange.empty()) CHECK(strange[0].suggestion == "suggestion.leave_out");
}

TEST_CASE("all problems come back at once") {
    CHECK(brief(plan_problems(R"({"gpus": 0, "sequence_length": 1.5, "global_batch": "x", "attention": 1,
                                  "hidden_dropout": 2, "virtual_stages": 129, "zer": 1})")) ==
          "gpus range 0 -> 1\n"
          "sequence_length range 1.5 -> 2\n"
          "global_batch type \"x\" -> null\n"
          "virtual_stages range 129 -> 128\n"
          "attention type 1 -> null\n"
          "hidden_dropout type 2 -> null\n"
          "zer unknown 1 -> \"zero\"");
}

TEST_CASE("the path of a field inside of a list, an object, or nothing") {
    CHECK(under("units[2]", "name") == "units[2].name");
    CHECK(under("units", "[2]") == "units[2]");
    CHECK(under("units", "") == "units");
    CHECK(under("", "name") == "name");
}

TEST_CASE("hundreds of unknown keys are answered with the first twenty and their number") {
    Json object = Json::object();
    for (int i = 0; i < 500; ++i) object["unknown-" + std::to_string(i)] = i;
    const Problems problems = plan_problems(object.dump().c_str());
    REQUIRE(problems.size() == 21);
    CHECK((problems[19].rule == "unknown" && problems[20].rule == "range" && problems[20].value == 500));
}

TEST_CASE("long keys and values are shortened between characters") {
    std::string word;
    for (int i = 0; i < 60; ++i) word += "é";  // two bytes each: 80 bytes are 40 of them
    std::string forty;
    for (int i = 0; i < 40; ++i) forty += "é";
    const Problems problems = plan_problems(("{\"x" + word + "\": \"" + word + "\"}").c_str());
    CHECK(problems.size() == 1);
    if (problems.empty()) return;
    CHECK(problems[0].value == Json(forty + "…"));
    CHECK(problems[0].field == "x" + forty.substr(2) + "…");
    CHECK(to_json(problems).dump().size() > 0);  // valid UTF-8 throughout, or dump() would stop the program
}

TEST_CASE("shown() passes scalars and nothing nested") {
    CHECK(shown(json("3")) == Json(3));
    CHECK(shown(json("-3")) == Json(-3));
    CHECK(shown(json("0.5")) == Json(0.5));
    CHECK(shown(json("\"a\"")) == Json("a"));
    CHECK(shown(json("false")) == Json(false));
    CHECK(shown(json("[1]")) == Json());
    CHECK(shown(json("{\"a\":1}")) == Json());
    CHECK(shown(json("null")) == Json());
}

TEST_CASE("grouped() puts a comma between thousands") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(7) == "7");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1'000) == "1,000");
    CHECK(grouped(100'000) == "100,000");
    CHECK(grouped(1'234'567) == "1,234,567");
    CHECK(grouped(-1) == "-1");
    CHECK(grouped(-999) == "-999");
    CHECK(grouped(-1'000) == "-1,000");
    CHECK(grouped(-123'456) == "-123,456");
    CHECK(grouped(INT64_MAX) == "9,223,372,036,854,775,807");
    CHECK(grouped(INT64_MIN) == "-9,223,372,036,854,775,808");
}

TEST_CASE("closest() finds the word that was meant, or none") {
    constexpr std::string_view words[] = {"gpus", "gpus_per_node", "tensor_parallel", "context_parallel"};
    CHECK(closest("gpus", words) == "gpus");
    CHECK(closest("gpu", words) == "gpus");
    CHECK(closest("tensorparallel", words) == "tensor_parallel");
    CHECK(closest("gpus-per-node", words) == "gpus_per_node");
    CHECK(closest("pipeline", words).empty());
    CHECK(closest("", words).empty());
    CHECK(closest("gpus", {}).empty());
    constexpr std::string_view models[] = {"llama-2-7b", "llama-3.1-8b"};
    CHECK(closest("llama-9-1t", models).empty());  // a third of it, and all that says which model it is
    CHECK(closest("llama-3.1-9b", models) == "llama-3.1-8b");
    CHECK(closest("lama-2-7b", models) == "llama-2-7b");
    CHECK(closest(std::string(65, 'g'), words).empty());
    CHECK(closest(std::string(1'000'000, 'g'), words).empty());
}
