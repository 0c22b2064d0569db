// What read_links makes of a matrix, and of texts of any kind.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <ctime>

#include "links/asking.h"
#include "links/read.h"

using namespace fourfold;
using namespace fourfold::tests::links;
using tests::at;
using tests::brief;
using tests::json;
using tests::said;

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
    for (int i = 0; i < (tests::kSlowBuild ? 20'000 : 100'000); ++i) {
        const std::string name = std::to_string(i * 7919 % 100'003);
        hosts += "# nThread 1\n#  Rank  0 Group  0 Pid 1 on h" + name +
                 " device 0 [0x1b] G\n#  Rank  1 Group  0 Pid 2 on k device 0 [0x1b] G\n8 2 float sum -1 5 1 1 0\n";
        ranks += "#  Rank  " + std::to_string(i) + " Group  0 Pid 1 on h" + name + " device 0 [0x1b] G\n";
        pairs += "# pair: a" + name + " b" + name + "\n# OSU MPI Bandwidth Test v7.4\n# Size Bandwidth (MB/s)\n1 5\n";
    }
    const std::size_t many = tests::kSlowBuild ? 2'000'000 : 20'000'000;
    const auto start = std::chrono::steady_clock::now();
    CHECK(says(ask({{"text", hosts}, {"format", "nccl_tests"}}), "problem.links.count"));
    CHECK(says(ask({{"text", ranks}, {"format", "nccl_tests"}}), "problem.nccl.not_pairwise"));
    CHECK(says(read(pairs), "problem.links.count"));
    CHECK(says(read(std::string(1'000'000, 'x') + ",b\n0,1\n1,0"), "problem.name.long", R"({"most":255,"number":1})"));
    CHECK(ask({{"text", std::string(many, ',')}})["ok"] == false);
    CHECK(ask({{"text", std::string(many, '\n')}})["ok"] == false);
    CHECK(ask({{"text", std::string(many, '[')}})["ok"] == false);
    CHECK(ask({{"text", std::string(many, '{')}})["ok"] == false);
    MESSAGE("far too much: ", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), " s");
}

TEST_CASE("read_links: 1,024 nodes are read in half a second and come back short") {
    std::string text = "# GB/s\n";
    for (int from = 0; from < 1024; ++from)
        for (int to = 0; to < 1024; ++to) text += std::to_string(20 + (from * 7 + to * 13) % 101 * 0.0317) + (to == 1023 ? "\n" : ",");
    const std::string request = Json{{"text", text}}.dump();
    const std::clock_t start = std::clock();  // of this process alone: others may be at work
    const std::string answer = api::read_links(request);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    MESSAGE("1,024 x 1,024 numbers, ", text.size(), " bytes of CSV: ", seconds, " s; the answer has ", answer.size(), " bytes");
    CHECK(answer.starts_with(R"({"asymmetry")"));
    CHECK(answer.size() < 9'000'000);
    if (!tests::kSlowBuild) CHECK(seconds < 5);  // a generous bound: what matters is that it is not quadratic
}
