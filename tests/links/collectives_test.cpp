// all_reduce_perf over all GPUs: the line through its times, and what every estimate takes from it. The logs are made up in the tool's
// form.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "api.h"
#include "contract.h"
#include "embedded_tests.h"
#include "links/collectives.h"

using namespace fourfold;
using doctest::Approx;
using tests::at;
using tests::brief;
using tests::json;
using tests::said;

namespace {

Json ask(const std::string& text) {
    Json request = Json::object();
    request["text"] = text;
    const std::string answer = api::read_links(request.dump());
    CHECK_MESSAGE(tests::answer_defect(answer, "read_links") == "", answer.substr(0, 600));
    return json(answer);
}

struct Log {
    int nodes, gpus_per_node;
    double seconds, byte_per_s;  // time = seconds + bytes / byte_per_s
    const char* test = "all_reduce_perf";
};
// As nccl-tests prints it, from 1 MiB to 1 GiB; `test` "" as versions that do not say which one ran.
std::string printed(const Log& log) {
    const int n = log.nodes * log.gpus_per_node;
    std::string text = "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1073741824 step: 2(factor)\n";
    if (*log.test != '\0') text = std::string("# Collective test starting: ") + log.test + "\n" + text;
    text += "# Using devices\n";
    for (int i = 0; i < n; ++i)
        text += "#  Rank " + std::to_string(i) + " Group  0 Pid 1 on node" + std::to_string(i / log.gpus_per_node) + " device  " +
                std::to_string(i % log.gpus_per_node) + " [0x07] NVIDIA H100\n";
    text += "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n";
    for (double bytes = 1 << 20; bytes <= 1 << 30; bytes *= 2) {
        const double seconds = log.seconds + bytes / log.byte_per_s, rate = bytes / seconds / 1e9;
        char line[160];
        std::snprintf(line, sizeof line, "%.0f %.0f float sum -1 %.3f %.3f %.3f 0 %.3f %.3f %.3f 0\n", bytes, bytes / 4, seconds * 1e6,
                      rate, rate * 2 * (n - 1) / n, seconds * 1e6, rate, rate * 2 * (n - 1) / n);
        text += line;
    }
    return text;
}

}  // namespace

TEST_CASE("by hand: the line through the times of messages") {
    // 100 µs + 1 ns a byte, but the last, which took more than twice as long
    const auto line = time_line({{2e6, 2'100e-6}, {4e6, 4'100e-6}, {8e6, 8'100e-6}, {16e6, 40'000e-6}});
    REQUIRE(line);
    CHECK(line->seconds == Approx(100e-6).epsilon(1e-9));
    CHECK(line->seconds_per_byte == Approx(1e-9).epsilon(1e-9));
    // three of 1 MiB and more: those below, which would tell 10 µs, do not count
    const auto large = time_line({{8, 10e-6}, {1'024, 10e-6}, {2e6, 2'100e-6}, {4e6, 4'100e-6}, {8e6, 8'100e-6}});
    REQUIRE(large);
    CHECK(large->seconds == Approx(100e-6).epsilon(1e-9));
    // one size: no latency. Times that fall with the size: none below 0. No size: none.
    CHECK(time_line({{1e9, 0.01}})->seconds_per_byte == Approx(1e-11));
    CHECK(time_line({{1e6, 3e-3}, {2e6, 3e-3}})->seconds == 0);
    CHECK(!time_line({}));
}

TEST_CASE("by hand: the rates of an all_reduce") {
    const TimeLine line{100e-6, 1 / 200e9};
    const AllReduce inside{1, 8, line}, two{2, 16, line}, four{4, 32, line};
    CHECK(inside.rate() == Approx(350e9));    // 2 * 7 / 8
    CHECK(two.bus_rate() == Approx(375e9));   // 2 * 15 / 16
    CHECK(two.rate() == Approx(200e9));       // each node sends what the other lacks: the bytes once
    CHECK(four.rate() == Approx(387.5e9));    // 2 * 31 / 32
    CHECK(two.latency() == Approx(12.5e-6));  // half of it, over log2(16)
    CHECK(four.latency() == Approx(10e-6));
    CHECK(settings_of({inside, two, four}).dump() ==
          R"({"measured_inter_gb_s":387.5,"measured_inter_latency_s":1e-05,"measured_intra_gb_s":350.0})");
    // of two alike the slower one
    CHECK(settings_of({four, {4, 32, {0, 1 / 100e9}}}).dump() == R"({"measured_inter_gb_s":193.8})");
}

TEST_CASE("read_links: all_reduce_perf over all GPUs") {
    const auto file = std::find_if(embedded::links.begin(), embedded::links.end(),
                                   [](const embedded::File& one) { return one.name == "nccl-all-reduce"; });
    REQUIRE(file != embedded::links.end());
    const Json two = ask(std::string(file->text));  // 50 µs + 12.5 ps a byte
    CHECK(two["set"].dump() == R"({"measured_inter_gb_s":80.0,"measured_inter_latency_s":1.25e-05})");
    const Json four = ask(printed({4, 8, 60e-6, 100e9}));
    const Json run = at(four, "collectives")[0];
    CHECK(run["latency_us"].get<double>() == Approx(60).epsilon(1e-4));  // the log has three decimals
    CHECK(run["gpus"] == 32);
    CHECK(run["nodes"] == 4);
    CHECK(run["bus_gbyte_per_s"] == 193.75);
    CHECK(run["gbyte_per_s"] == 193.75);
    CHECK(four["set"].dump() == R"({"measured_inter_gb_s":193.8,"measured_inter_latency_s":6e-06})");
    CHECK(!four.contains("links"));
    // both states of a cluster in one text; and an old version, which does not say its test
    const Json both = ask(printed({1, 8, 30e-6, 200e9}) + printed({4, 8, 60e-6, 100e9, ""}));
    CHECK(both["collectives"].size() == 2);
    CHECK(both["set"]["measured_intra_gb_s"] == 350);
    CHECK(both["set"]["measured_inter_gb_s"] == 193.8);
}

TEST_CASE("read_links: an all_reduce that does not tell what a node reaches") {
    const auto problem = [](const std::string& text) {
        const Json answer = ask(text);
        return said(at(at(answer, "problems")[0], "message"));
    };
    CHECK(problem(printed({4, 1, 60e-6, 100e9})) == R"(problem.nccl.one_gpu {"gpus":4,"hosts":4,"line":1})");
    CHECK(problem(printed({4, 8, 60e-6, 1e18})).starts_with("problem.nccl."));
    CHECK(problem(printed({2, 8, 60e-6, 100e9, "all_gather_perf"})) == R"(problem.nccl.other_test {"line":1})");
    std::string empty = printed({2, 8, 60e-6, 100e9});
    empty.resize(empty.find("1048576 262144"));
    CHECK(problem(empty) == R"(problem.nccl.no_times {"line":1})");
}

TEST_CASE("read_links: links of whole nodes give the rate between nodes; what one GPU sends gives none") {
    const Json matrix = ask("GB/s,a,b,c\na,,40,30\nb,40,,50\nc,30,50,\n");
    CHECK(matrix["set"].dump() == R"({"measured_inter_gb_s":40.0})");
    const Json pair = ask(printed({2, 1, 10e-6, 40e9, "sendrecv_perf"}));
    CHECK(pair["links"]["nodes"].size() == 2);
    CHECK(pair["set"].empty());
    // pairs and an all_reduce in one text serve both
    const Json all = ask(printed({2, 1, 10e-6, 40e9, "sendrecv_perf"}) + printed({2, 8, 60e-6, 200e9}));
    CHECK(all["links"]["nodes"].size() == 2);
    CHECK(all["set"]["measured_inter_gb_s"] == 200);
}
