// Measured links: our JSON form, and what read_links makes of the tools' outputs. The fixtures in tests/links are made up; their form is
// that of the tools (see the sources in core/links for where it is documented).
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "api.h"
#include "contract.h"
#include "embedded_tests.h"
#include "links/read.h"

using namespace fourfold;
using tests::at;
using tests::brief;
using tests::json;
using tests::said;

namespace {

std::string fixture(std::string_view name) {
    for (const embedded::File& file : embedded::links)
        if (file.name == name) return std::string(file.text);
    return "";
}

Json ask(const Json& request) {
    const std::string answer = api::read_links(request.dump(-1, ' ', false, Json::error_handler_t::replace));
    CHECK_MESSAGE(tests::answer_defect(answer, "read_links") == "", answer.substr(0, 600));
    return json(answer);
}
Json read(const std::string& text, const char* unit = "auto") { return ask({{"text", text}, {"unit", unit}}); }
Json read_fixture(const char* name, const char* unit = "auto") {
    const std::string text = fixture(name);
    CHECK_MESSAGE(!text.empty(), name);
    return read(text, unit);
}
std::string problems(const Json& answer) { return brief(answer["problems"]); }
// "field rule: message" of each problem, without "problem." before the id.
std::string messages(const Json& answer) {
    std::string lines;
    for (const Json& p : at(answer, "problems"))
        lines += (lines.empty() ? "" : "\n") + p["field"].get<std::string>() + " " + p["rule"].get<std::string>() + ": " +
                 said(p["message"]).substr(std::string_view("problem.").size());
    return lines;
}
// What is suggested for the first problem.
std::string advice(const Json& answer) { return said(at(at(answer, "problems")[0], "suggestion")); }
// Whether a text of this id is somewhere in the answer, with these arguments where some are given.
bool says(const Json& answer, const char* id, const char* args = "") {
    if (at(answer, "id") == id) return *args == '\0' || at(answer, "args") == json(args);
    for (const auto& item : answer.items())
        if (item.value().is_structured() && says(item.value(), id, args)) return true;
    return false;
}

}  // namespace

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

TEST_CASE("read_links: JSON, ours and Pipette's") {
    const Json own = read_fixture("own");
    CHECK(own["format"]["id"] == "json");
    CHECK(own["unit"] == "gbyte_per_s");
    CHECK(own["symmetric"] == false);
    CHECK(own["asymmetry"] == doctest::Approx((21.7 - 21.04) / 21.7).epsilon(1e-5));
    CHECK(own["missing"] == json(R"([["rack2-a", "rack1-b"]])"));
    CHECK(own["missing_count"] == 1);
    CHECK(own["links"]["gbyte_per_s"][2][1] == 20.5);
    CHECK(own["links"]["latency_us"][0][2] == 5.25);
    CHECK(own["slow"][0] == json(R"({"from": "rack1-b", "to": "rack2-a", "gbyte_per_s": 20.5, "share_of_median": 0.959289})"));
    CHECK(read(own["links"].dump())["links"] == own["links"]);

    const Json some = read(
        R"({"nodes": ["a", "b", "c"], "gbyte_per_s": [[0, 1, 1], [1, 0, 1], [1, 1, 0]], "latency_us": [[0, 5, null], [5, 0, 5], [null, 5, 0]]})");
    CHECK_FALSE(some["links"].contains("latency_us"));
    CHECK(says(some, "note.links.latencies", R"({"all":6,"known":4})"));

    const Json theirs = read_fixture("pipette");
    CHECK(theirs["format"]["id"] == "pipette");
    CHECK(theirs["symmetric"] == true);
    CHECK(theirs["links"]["nodes"] == json(R"(["n0", "n1", "n2", "n3"])"));
    CHECK(theirs["links"]["gbyte_per_s"][3][2] == 5.0225);
    CHECK(theirs["slow"][0]["from"] == "n2");
    CHECK(theirs["lowest"] == 5.0225);
    CHECK(theirs["highest"] == 20.9674);
    CHECK(problems(read(R"({"gpus": ["a", "b"], "bandwidth": [[0, 1], [null, -2], 3]})")) == "text.bandwidth type null -> null");
    CHECK(problems(read(R"({"gpus": ["a", "b"], "bandwidth": [[0, -1], [2, 0]]})")) == "text.bandwidth[0][1] range -1.0 -> null");
    CHECK(problems(read(R"({"bandwidth": [[0, 1], [2, 0]]})")) == "text.gpus missing null -> null");
    CHECK(problems(read(R"({"nodes": ["a", "b")")) == "text syntax null -> null");
    CHECK(problems(read(fixture("pipette"), "gbit_per_s")) == "unit unit \"gbit_per_s\" -> \"auto\"");
    CHECK(messages(read(R"({"nodes": ["a", "b", "c"], "gbyte_per_s": [[0, 1, null], [1, 0, null], [null, null, 0]]})")) ==
          R"(text missing: links.gaps_all {"first":["a - c","b - c"],"pairs":2})");
}

TEST_CASE("read_links: a matrix as text, in each of its dresses") {
    const Json named = read_fixture("named");
    CHECK(named["format"]["id"] == "matrix");
    CHECK(named["unit_source"] == "file");
    CHECK(named["links"]["nodes"] == json(R"(["gpu-01", "gpu-02", "gpu-03", "gpu-04"])"));
    CHECK(named["links"]["gbyte_per_s"][0] == json("[0.0, 11.82, 11.79, 5.9]"));
    CHECK(named["missing"] == json(R"([["gpu-04", "gpu-02"]])"));
    CHECK(named["links"]["gbyte_per_s"][3][1] == 5.88);
    CHECK(named["slow"][0]["from"] == "gpu-04");
    CHECK(named["slow"].size() == 3);

    const Json bare = read_fixture("bare");
    CHECK(bare["unit"] == "gbit_per_s");
    CHECK(bare["links"]["nodes"] == json(R"(["node0", "node1", "node2"])"));
    CHECK(bare["links"]["gbyte_per_s"][1] == json("[24.3875, 0.0, 12.3]"));
    CHECK(says(bare, "note.matrix.no_names"));

    const Json columns = read_fixture("columns");
    CHECK(columns["unit"] == "mbyte_per_s");
    CHECK(columns["links"]["nodes"] == json(R"(["alpha", "beta", "gamma"])"));
    CHECK(columns["links"]["gbyte_per_s"][2] == json("[2.299, 1.123, 0.0]"));

    const Json cells = read_fixture("cells");
    CHECK(cells["unit"] == "gbyte_per_s");
    CHECK(cells["links"]["gbyte_per_s"] == json("[[0.0, 12.5], [12.25, 0.0]]"));
    CHECK(cells["links"]["nodes"] == json(R"(["east", "west"])"));

    const Json index = read_fixture("index", "gbyte_per_s");
    CHECK(index["unit_source"] == "chosen");
    CHECK(index["links"]["nodes"] == json(R"(["0", "1", "2"])"));
    CHECK(index["links"]["gbyte_per_s"][2] == json("[23.8, 12.1, 0.0]"));

    // the same three numbers in other dresses
    const Json expected = json("[[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]]");
    for (const char* text :
         {"a,b,c\n0,1,2\n3,0,4\n5,6,0\n", "a 0 1 2\nb 3 0 4\nc 5 6 0", ";a;b;c\r\na;;1;2\r\nb;3;;4\r\nc;5;6;\r\n",
          "0 1 2\n0 - 1 2\n1 3 - 4\n2 5 6 -\n", "0,1,2,\n3,0,4,\n5,6,0,\n", "\xEF\xBB\xBF# x\n\n a , b , c \n-,1,2\n3,-,4\n5,6,-",
          "a\tb\tc\n\t1\t2\n3\t\t4\n5\t6\t\n", "x 1e0 2.0\n3 X 4\n+5 6e+0 x", "[[0, 1, 2],\n [3, null, 4], [5, 6, 0]]",
          "[[0. 1. 2.]\n [3. 0.\n 4.]\n [5. 6. 0.]]", "n\ta\tb\tc\na\t0\t1\t2\nb\t3\t0\t4\nc\t5\t6\t0"}) {
        const Json answer = read(text, "gbyte_per_s");
        CHECK_MESSAGE(at(at(answer, "links"), "gbyte_per_s") == expected, text, " ", messages(answer));
    }
    CHECK(ask({{"text", "0 1\n1 0"}, {"unit", "gbyte_per_s"}, {"units", "gpus"}})["links"].contains("gpus"));
}

TEST_CASE("read_links: units of a matrix") {
    const auto rate = [](const std::string& unit) {
        const Json answer = read("# " + unit + "\n0 8000\n8000 0\n");
        return answer["ok"] == true ? answer["links"]["gbyte_per_s"][0][1] : Json(messages(answer));
    };
    CHECK(rate("GB/s") == 8000.0);
    CHECK(rate("GBytes/sec") == 8000.0);
    CHECK(rate("Gbit/s") == 1000.0);
    CHECK(rate("in Gbps.") == 1000.0);
    CHECK(rate("[MB/s]") == 8.0);
    CHECK(rate("Mbits/sec") == 1.0);
    CHECK(rate("MiB/s") == 8.38861);
    CHECK(rate("mbyte_per_s") == 8.0);
    CHECK(rate("bytes/s") == 8e-6);
    for (const char* vague : {"gb/s", "GBs", "GB", "KGB/s", "Gbpsx", ""}) CHECK(rate(vague) == "unit unit: unit.none");
    CHECK(says(read_fixture("no-unit"), "suggestion.unit.candidate", R"({"rate":22890000000.0,"unit":{"id":"unit.mbyte_per_s"}})"));
    CHECK(advice(read("0 197\n198 0")).find(R"({"best":{"id":"unit.gbit_per_s"},"middle":197.5,)") != std::string::npos);
    CHECK(advice(read("0 0.25\n0.25 0")) == R"(suggestion.unit.unusual {"middle":0.25})");
    CHECK(rate("NIC 400 Gbit/s, table in GB/s") ==
          R"(unit unit: unit.several {"first":{"id":"unit.gbit_per_s"},"second":{"id":"unit.gbyte_per_s"}})");
    CHECK(read("# 400 Gbit/s NIC, GB/s\n0 9\n9 0", "gbyte_per_s")["ok"] == true);
    CHECK(says(read("# MB/s\n0 9\n9 0", "gbyte_per_s"), "note.unit.chosen",
               R"({"chosen":{"id":"unit.gbyte_per_s"},"said":{"id":"unit.mbyte_per_s"}})"));
    CHECK(
        messages(read("a,b\n0,5 GB/s\n5 Gbit/s,0")) ==
        R"(text unit: unit.mixed {"column":1,"first":{"id":"unit.gbyte_per_s"},"from":"b","row":2,"to":"a","unit":{"id":"unit.gbit_per_s"}})");
    CHECK(problems(read("a,b\n0,5 GB/s\n5 GB/s,0", "mbyte_per_s")) == "unit unit \"mbyte_per_s\" -> null");
}

TEST_CASE("read_links: what is wrong with a matrix, all at once") {
    const auto wrong = [](const char* text) { return messages(read(text, "gbyte_per_s")); };
    CHECK(wrong("a,b,c\n0,-1,0\nnan,0,inf\nfast,1e9,0\n") ==
          R"(text type: link.word {"column":1,"from":"c","row":3,"to":"a","word":"fast"})"
          "\n"
          R"(text range: rate.nan {"column":1,"from":"b","row":2,"to":"a"})"
          "\n"
          R"(text range: rate.infinite {"column":3,"from":"b","row":2,"to":"c"})"
          "\n"
          R"(text range: rate.negative {"column":2,"from":"a","row":1,"to":"b"})"
          "\n"
          R"(text range: rate.zero {"column":3,"from":"a","row":1,"to":"c"})"
          "\n"
          R"(text range: rate.impossible {"column":2,"from":"c","rate":1e+18,"row":3,"to":"b"})");
    CHECK(wrong("1 2 3\n4 5 6") == R"(text square: matrix.not_square {"columns":3,"rows":2})");
    CHECK(wrong("3 1 4\n1 5 9\n2 6 5\n3 5 8") == R"(text square: matrix.not_square {"columns":3,"rows":4})");
    CHECK(wrong("# GB/s\n0 abc\n6 0") == R"(text type: matrix.word {"line":2,"word":"abc"})");
    CHECK(wrong("0 abc 3\n4 0 5\n6 7 0") == R"(text type: matrix.word {"line":1,"word":"abc"})");
    CHECK(wrong("x,0,fast\ny,6,0") == R"(text type: matrix.word {"line":1,"word":"fast"})");
    CHECK(wrong("0 2 3\n4 0 6\n7 8") == R"(text square: matrix.row_length {"columns":3,"line":3,"values":2})");
    CHECK(wrong("a,b,a\n0,1,2\n1,0,2\n1,2,0") == R"(text unknown: name.twice {"first":1,"name":"a","number":3})");
    CHECK(problems(read("\"a\x01\",b\n0,1\n1,0", "gbyte_per_s")) == "text range null -> null");
    CHECK(wrong("a,,c\n0,1,2\n1,0,2\n1,2,0") == R"(text missing: name.empty {"number":2})");
    CHECK(wrong("n,a,b\nb,0,1\na,1,0") == R"(text unknown: matrix.other_name {"column":"a","number":1,"row":"b"})"
                                          "\n"
                                          R"(text unknown: matrix.other_name {"column":"b","number":2,"row":"a"})");
    CHECK(wrong("0 - 1\n- 0 2\n1 2 0") == R"(text missing: links.gaps_all {"first":["node0 - node1"],"pairs":1})");
    CHECK(wrong("") == "text missing: matrix.none");
    CHECK(wrong("hello") == "text missing: matrix.none");
    CHECK(wrong("Dear all,\nplease find the numbers\nattached as a file\n and have fun with them\n") == "text syntax: matrix.prose");
    // what is wrong in every unit is said beside the missing unit
    CHECK(messages(read("0 -1 5\n0 0 5\n5 5 0")) ==
          "unit unit: unit.none\n"
          R"(text range: rate.negative {"column":2,"from":"node0","row":1,"to":"node1"})"
          "\n"
          R"(text range: rate.zero {"column":1,"from":"node1","row":2,"to":"node0"})");
    std::string wide;
    for (int i = 0; i < 2049; ++i) wide += "1,";
    CHECK(says(read(wide + "1\n" + wide + "1\n", "gbyte_per_s"), "problem.matrix.too_many", R"({"most":2048})"));
    std::string tall;
    for (int i = 0; i < 3000; ++i) tall += "1 2 3\n";
    CHECK(says(read(tall, "gbyte_per_s"), "problem.matrix.too_many", R"({"most":2048})"));
    std::string open;
    for (int i = 0; i < 40; ++i) {
        for (int k = 0; k < 40; ++k) open += "- ";
        open += "\n";
    }
    CHECK(messages(read(open, "gbyte_per_s")).starts_with(R"(text missing: links.gaps {"first":["node0 - node1",)"));
    CHECK(messages(read(open, "gbyte_per_s")).ends_with(R"("node0 - node10"],"pairs":780})"));
}

TEST_CASE("read_links: nccl-tests, pair by pair") {
    const Json answer = read_fixture("nccl");
    CHECK(answer["format"]["id"] == "nccl_tests");
    CHECK(answer["unit"] == "gbyte_per_s");
    CHECK(answer["unit_source"] == "tool");
    CHECK(answer["links"]["nodes"] == json(R"(["dgx1", "dgx2", "dgx3"])"));
    CHECK(answer["links"]["gbyte_per_s"] == json("[[0.0, 44.99, 43.89], [44.99, 0.0, 11.29], [43.89, 11.29, 0.0]]"));
    CHECK(answer["links"]["latency_us"][0][1] == 14.0);
    CHECK(answer["missing_count"] == 0);
    CHECK(says(answer, "note.nccl.busbw"));
    const Json old = read_fixture("nccl-old");
    CHECK(old["links"]["nodes"] == json(R"(["v0", "v1", "v2"])"));
    CHECK(old["links"]["gbyte_per_s"][0][1] == 10.88);
    CHECK(std::abs(old["links"]["gbyte_per_s"][2][1].get<double>() - 0.061) < 1e-4);  // 0.06 is printed
    CHECK(says(old, "note.nccl.assumed"));
    const Json within = read_fixture("nccl-within");
    CHECK(within["links"]["gpus"] == json(R"(["solo:0", "solo:1", "solo:2"])"));
    CHECK(messages(read_fixture("nccl-ring")) == R"(text pairs: nccl.not_pairwise {"hosts":3,"line":1})");
    const std::string text = fixture("nccl");
    const std::size_t second = text.find("# nccl-tests", 200), third = text.find("# nccl-tests", second + 10);
    CHECK(messages(read(text.substr(0, third))) == R"(text missing: links.gaps_all {"first":["dgx2 - dgx3"],"pairs":1})");
    std::string tagged;  // as mpirun --tag-output writes it
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at) + 1;
        tagged += "[1,0]<stdout>:" + text.substr(at, end - at);
        at = end;
    }
    CHECK(read(tagged)["links"] == answer["links"]);
    const Json twice = read(text + text);
    CHECK(twice["links"] == answer["links"]);
    CHECK(says(twice, "note.links.repeated", R"({"links":6})"));
    std::string other = text;
    other.replace(other.find("starting: sendrecv_perf"), 23, "starting: all_gather_pe");
    CHECK(messages(read(other)) == R"(text pairs: nccl.other_test {"line":2})");
}

TEST_CASE("read_links: a header of nccl-tests without a column of times is none, and nothing beyond a line is read") {
    const std::string text = fixture("nccl");
    std::string odd = text;
    for (std::size_t at = 0; (at = odd.find("    time ", at)) != std::string::npos; at += 4) odd.replace(at, 8, "        ");
    CHECK(odd != text);
    ask({{"text", odd}});
    const std::string ranks = "# Using devices\n# Rank 0 x x on a device 0\n# Rank 1 x x on b device 0\n";
    for (const char* table : {"# busbw\n8 1\n", "# x x x busbw\n8 1 1 1\n"})
        CHECK(messages(read(ranks + table)).starts_with("text missing: links.gaps_all"));
}

TEST_CASE("read_links: OSU's logs, and how they say their pair") {
    const Json answer = read_fixture("osu");
    CHECK(answer["format"]["id"] == "osu");
    CHECK(answer["unit"] == "mbyte_per_s");
    CHECK(answer["unit_source"] == "file");
    CHECK(answer["links"]["nodes"] == json(R"(["cn01", "cn02", "cn03"])"));
    CHECK(answer["links"]["gbyte_per_s"][0] == json("[0.0, 12.3104, 12.1501]"));
    CHECK(answer["links"]["latency_us"][2][1] == 2.9);
    CHECK(answer["missing"] == json(R"([["cn02", "cn01"], ["cn03", "cn01"], ["cn03", "cn02"]])"));
    const Json marked = read_fixture("osu-marked");
    CHECK(marked["links"]["gbyte_per_s"][2] == json("[6.07505, 3.06038, 0.0]"));
    CHECK(marked["missing_count"] == 0);
    CHECK(marked["asymmetry"] == doctest::Approx(0.5).epsilon(1e-3));
    for (const char* name : {"osu-names", "osu-rsh"}) {
        const Json same = read_fixture(name);
        CHECK_MESSAGE(at(at(same, "links"), "gbyte_per_s") == answer["links"]["gbyte_per_s"], name, messages(same));
    }
    const Json slurm = read_fixture("osu-slurm");
    CHECK(slurm["links"]["nodes"] == json(R"(["cn01", "cn02", "cn03"])"));
    CHECK(slurm["links"]["gbyte_per_s"][0][1] == 12.4335);  // the mean of two runs
    CHECK(messages(read_fixture("osu-unmarked")).starts_with(R"(text pairs: osu.unmarked {"line":2,"logs":3})"));
    const std::string text = fixture("osu-marked");
    std::string both = text;
    both.replace(both.find("Bandwidth Test"), 14, "Bi-Directional Bandwidth Test");
    CHECK(says(read(both), "suggestion.osu.one_way"));
    std::string units = text;
    units.replace(units.rfind("(MB/s)"), 6, "(GB/s)");
    CHECK(says(read(units), "problem.osu.unit"));
    std::string hosts = fixture("osu");
    hosts.replace(hosts.find("cn01:1,cn02:1"), 13, "cn01:1,cn2,c3");
    CHECK(says(read(hosts), "problem.osu.hosts", R"({"hosts":3,"line":1})"));
    hosts.replace(hosts.find("cn01:1,cn2,c3"), 13, "a,b,c,d,e");
    CHECK(says(read(hosts), "problem.osu.many_hosts", R"({"hosts":4,"line":1})"));
    CHECK(says(read(text + "\n# pair: cn01 cn01\n" + text.substr(text.find("# OSU"))), "note.osu.inside", R"({"logs":2})"));
    CHECK(messages(read(text.substr(0, text.find("# pair: cn02")))) ==
          R"(text missing: links.gaps_all {"first":["cn02 - cn03"],"pairs":1})");
}

TEST_CASE("read_links: mpiGraph's tables") {
    const Json answer = read_fixture("mpigraph");
    CHECK(answer["format"]["id"] == "mpigraph");
    CHECK(answer["unit"] == "mibyte_per_s");
    CHECK(answer["links"]["nodes"] == json(R"(["quartz12", "quartz13", "quartz14", "quartz20"])"));
    CHECK(answer["links"]["gbyte_per_s"][0][3] == doctest::Approx(5300.5 * 1.048576e-3).epsilon(1e-5));   // the receiver's is lower
    CHECK(answer["links"]["gbyte_per_s"][0][1] == doctest::Approx(11120.5 * 1.048576e-3).epsilon(1e-5));  // the sender's is
    CHECK(answer["missing_count"] == 0);
    const std::string text = fixture("mpigraph");
    const Json send = read(text.substr(0, text.find("Recv max")));
    CHECK(send["links"]["gbyte_per_s"][0][3] == doctest::Approx(5400.125 * 1.048576e-3).epsilon(1e-5));
    CHECK(says(send, "note.mpigraph.one_table", R"({"table":"Send"})"));
    CHECK(says(read(text.substr(0, text.find("quartz20:3 from"))), "problem.mpigraph.cut", R"({"columns":4,"rows":3,"table":"Recv"})"));
    CHECK(says(read("START mpiGraph v1.5\n1 of 4 (25.0%)\n"), "problem.mpigraph.none"));
    std::string processes = text;
    for (std::size_t found = processes.find("quartz13:"); found != std::string::npos; found = processes.find("quartz13:"))
        processes.replace(found, 9, "quartz12:");
    CHECK(read(processes)["links"]["nodes"][1] == "quartz12:1");
}

TEST_CASE("read_links: requests") {
    CHECK(problems(ask(json("{}"))) == "text missing null -> null");
    CHECK(problems(ask(json("[]"))) == "(all) type null -> null");
    CHECK(problems(ask(json(R"({"text": 5, "unit": "furlong", "format": "xml", "colour": 1})"))) ==
          "text type 5 -> null\nunit range \"furlong\" -> null\nformat range \"xml\" -> null\ncolour unknown 1 -> null");
    CHECK(problems(ask({{"text", std::string(32'000'001, ' ')}})) == "text too_large null -> null");
    CHECK(problems(json(api::read_links(std::string(41'000'000, ' ')))) == "text too_large null -> null");
    CHECK(ask({{"text", "0 1\n1 0"}, {"format", "osu"}})["ok"] == false);
    CHECK(ask({{"text", fixture("named")}, {"format", "json"}})["ok"] == false);
}

TEST_CASE("read_links: cut and shuffled texts are answered, never crash or hang") {
    std::uint64_t state = 7;
    const auto below = [&](std::size_t count) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>(state >> 33U) % std::max<std::size_t>(count, 1);
    };
    for (const embedded::File& file : embedded::links) {
        for (int round = 0; round < 40; ++round) {
            std::string text(file.text);
            switch (round % 4) {
                case 0:
                    text.resize(below(text.size()));
                    break;
                case 1:
                    text = text.substr(below(text.size()));
                    break;
                case 2:
                    for (int i = 0; i < 6; ++i) std::swap(text[below(text.size())], text[below(text.size())]);
                    break;
                default:  // two lines change places
                    for (int i = 0; i < 3; ++i) {
                        const std::size_t from = text.find('\n', below(text.size())), to = text.find('\n', below(text.size()));
                        if (from != std::string::npos && to != std::string::npos)
                            text = text.substr(to) + text.substr(from, 60) + text.substr(0, to);
                    }
            }
            const Json answer = ask({{"text", text}, {"unit", round % 3 == 0 ? "gbyte_per_s" : "auto"}});
            if (answer["ok"] != true || !answer.contains("links")) continue;  // refused, or collectives alone
            Problems none;                                                    // what it read can be read again
            CHECK(links_from_json(answer["links"], "", none));
            CHECK(brief(none) == "");
        }
    }
}

TEST_CASE("read_links: far too much of something is refused quickly") {
    std::string hosts, ranks = "# nThread 1\n", pairs;
    for (int i = 0; i < 100'000; ++i) {
        const std::string name = std::to_string(i * 7919 % 100'003);
        hosts += "# nThread 1\n#  Rank  0 Group  0 Pid 1 on h" + name +
                 " device 0 [0x1b] G\n#  Rank  1 Group  0 Pid 2 on k device 0 [0x1b] G\n8 2 float sum -1 5 1 1 0\n";
        ranks += "#  Rank  " + std::to_string(i) + " Group  0 Pid 1 on h" + name + " device 0 [0x1b] G\n";
        pairs += "# pair: a" + name + " b" + name + "\n# OSU MPI Bandwidth Test v7.4\n# Size Bandwidth (MB/s)\n1 5\n";
    }
    const auto start = std::chrono::steady_clock::now();
    CHECK(says(ask({{"text", hosts}, {"format", "nccl_tests"}}), "problem.links.count"));
    CHECK(says(ask({{"text", ranks}, {"format", "nccl_tests"}}), "problem.nccl.not_pairwise"));
    CHECK(says(read(pairs), "problem.links.count"));
    CHECK(says(read(std::string(1'000'000, 'x') + ",b\n0,1\n1,0"), "problem.name.long", R"({"most":255,"number":1})"));
    CHECK(ask({{"text", std::string(20'000'000, ',')}})["ok"] == false);
    CHECK(ask({{"text", std::string(20'000'000, '\n')}})["ok"] == false);
    CHECK(ask({{"text", std::string(20'000'000, '[')}})["ok"] == false);
    CHECK(ask({{"text", std::string(20'000'000, '{')}})["ok"] == false);
    MESSAGE("far too much: ", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), " s");
}

TEST_CASE("read_links: 1,024 nodes are read in half a second and come back short") {
    std::string text = "# GB/s\n";
    for (int from = 0; from < 1024; ++from)
        for (int to = 0; to < 1024; ++to) text += std::to_string(20 + (from * 7 + to * 13) % 101 * 0.0317) + (to == 1023 ? "\n" : ",");
    const std::string request = Json{{"text", text}}.dump();
    const auto start = std::chrono::steady_clock::now();
    const std::string answer = api::read_links(request);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    MESSAGE("1,024 x 1,024 numbers, ", text.size(), " bytes of CSV: ", seconds, " s; the answer has ", answer.size(), " bytes");
    CHECK(answer.starts_with(R"({"asymmetry")"));
    CHECK(answer.size() < 9'000'000);
#ifdef NDEBUG
    CHECK(seconds < 5);  // a generous bound: what matters is that it is not quadratic
#endif
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
