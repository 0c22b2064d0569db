// Our JSON form of measured links: in and out, and every mistake in it.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "links/asking.h"
#include "links/read.h"

using namespace fourfold;
using namespace fourfold::tests::links;
using tests::at;
using tests::brief;
using tests::json;
using tests::said;

TEST_CASE("links: our JSON form goes in and comes out") {
    const Json form = json(R"({"nodes": ["a", "b", "c"], "gbyte_per_s": [[0.0, 12.5, 3.0], [11.5, 0.0, 2.25], [3.5, 2.0, 0.0]],
                               "latency_us": [[0.0, 5.0, 6.0], [5.5, 0.0, 7.0], [6.5, 7.5, 0.0]]})");
    Problems none;
    const auto links = links_from_json(form, "links", none);
    REQUIRE(links);
    CHECK(none.empty());
    CHECK(links->size() == 3);
    CHECK(links->rate(0, 1) == 12.5e9);
    CHECK(links->rate(1, 0) == 11.5e9);
    CHECK(links->rate(2, 2) == 0);
    CHECK(links->latency(2, 1) == doctest::Approx(7.5e-6));
    CHECK_FALSE(links->gpus);
    CHECK(links_to_json(*links) == form);

    Json gpus = json(R"({"gpus": ["a", "b"], "gbyte_per_s": [[200, 12.3456], [1e-3, null]], "latency_us": null})");
    const auto single = links_from_json(gpus, "links", none);
    REQUIRE(single);
    CHECK(single->gpus);
    CHECK(single->latency(0, 1) == 0);
    CHECK(single->rate(0, 0) == 200e9);  // inside a unit: kept where it was given
    CHECK(links_to_json(*single) == json(R"({"gpus": ["a", "b"], "gbyte_per_s": [[200.0, 12.3456], [0.001, 0.0]]})"));
}

TEST_CASE("links: at most 6 digits are written") {
    Links links{{"a", "b"}, false, {0, 1e9 / 3, 2e9 / 3, 0}, {}};
    CHECK(links_to_json(links).dump() == R"({"gbyte_per_s":[[0.0,0.333333],[0.666667,0.0]],"nodes":["a","b"]})");
}

TEST_CASE("links: every mistake in our JSON form, all at once, with row and column") {
    const auto wrong = [](const char* text) {
        Problems problems;
        CHECK_FALSE(links_from_json(json(text), "links", problems));
        return brief(problems);
    };
    CHECK(wrong("7") == "links type 7 -> null");
    CHECK(wrong("{}") == "links.nodes missing null -> null");
    CHECK(wrong(R"({"nodes": ["a", "b"], "gpus": ["a", "b"]})") == "links.nodes unknown null -> null");
    CHECK(wrong(R"({"nodes": "a"})") == "links.nodes type \"a\" -> null");
    CHECK(wrong(R"({"nodes": ["a"]})") == "links.nodes range 1 -> null");
    CHECK(wrong(R"({"nodes": ["a", "b"]})") == "links.gbyte_per_s missing null -> null");
    CHECK(wrong(R"({"nodes": ["a", "b"], "gbyte_per_s": 3})") == "links.gbyte_per_s type null -> null");
    CHECK(wrong(R"({"nodes": ["a", "b"], "gbyte_per_s": [[0, 1]]})") == "links.gbyte_per_s type null -> null");
    CHECK(wrong(R"({"nodes": ["a", "b"], "gbyte_per_s": [[0, 1], [1]]})") == "links.gbyte_per_s[1] type null -> null");
    CHECK(wrong(R"({"nodes": ["a", "", "a", 4], "speed": 1,
                    "gbyte_per_s": [[0, -1, 0, 1e9], [null, 0, "fast", 1], [1, 1, 0, 1], [1, 1, 1, 0]],
                    "latency_us": [[0, 1, 1, -1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1e9, 0]]})") ==
          "links.nodes[3] type 4 -> null\n"
          "links.nodes missing null -> null\n"
          "links.nodes unknown \"a\" -> null\n"
          "links.speed unknown 1 -> null\n"
          "links.gbyte_per_s[0][1] range -1.0 -> null\n"
          "links.gbyte_per_s[0][2] range 0.0 -> null\n"
          "links.gbyte_per_s[0][3] range 1000000000.0 -> null\n"
          "links.gbyte_per_s[1][0] missing null -> null\n"
          "links.gbyte_per_s[1][2] type \"fast\" -> null\n"
          "links.latency_us[0][3] range -1 -> null\n"
          "links.latency_us[3][2] range 1000000000.0 -> null");
    Problems problems;
    links_from_json(json(R"({"nodes": ["a", "b"], "gbyte_per_s": [[0, 0], [1, 0]]})"), "", problems);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].field == "gbyte_per_s[0][1]");
    CHECK(said(problems[0].message) == R"(problem.rate.zero {"column":2,"from":"a","row":1,"to":"b"})");

    Json many = {{"nodes", Json::array()}, {"gbyte_per_s", Json::array()}};
    for (int i = 0; i < 10; ++i) {
        many["nodes"].push_back("n" + std::to_string(i));
        many["gbyte_per_s"].push_back(Json(std::vector<int>(10, -1)));
    }
    Problems first;
    CHECK_FALSE(links_from_json(many, "links", first));
    REQUIRE(first.size() == 21);
    CHECK(said(first[20].message) == R"(problem.more {"count":90,"listed":20})");
    many["nodes"] = std::vector<std::string>(2049, "x");
    Problems large;
    CHECK_FALSE(links_from_json(many, "links", large));
    CHECK(brief(large) == "links.nodes range 2049 -> null");
}
TEST_CASE("links beside the text: the same as in it, and what is wrong is named as there") {
    const Json form = json(
        R"({"nodes": ["a", "b", "c"], "gbyte_per_s": [[null, 1, 2], [3, null, 4], [5, 6, null]], "latency_us": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]})");
    const Json names = json(R"({"nodes": ["a", "b", "c"]})");
    const double nan = std::nan("");
    Problems none;
    const auto text = links_from_json(form, "links", none);
    const auto beside = links_from_json(names, "links", none, {{nan, 1, 2, 3, nan, 4, 5, 6, nan}, {0, 1, 1, 1, 0, 1, 1, 1, 0}});
    REQUIRE((text && beside));
    CHECK(none.empty());
    CHECK(text->byte_per_s == beside->byte_per_s);
    CHECK(text->latency_s == beside->latency_s);

    const auto problems = [&](api::LinkColumns columns) {
        Problems found;
        CHECK_FALSE(links_from_json(names, "links", found, std::move(columns)));
        return tests::brief(to_json(found));
    };
    CHECK(problems({{1, 2, 3, 4}, {}}) == "links.gbyte_per_s type null -> null");
    CHECK(problems({{nan, nan, 2, 3, nan, -4, 5, INFINITY, nan}, {}}) ==
          "links.gbyte_per_s[0][1] missing null -> null\nlinks.gbyte_per_s[1][2] range -4.0 -> null\n"
          "links.gbyte_per_s[2][1] range null -> null");
}
