// What read_links makes of the logs that tools write.
#include <doctest/doctest.h>

#include "links/asking.h"

using namespace fourfold;
using namespace fourfold::tests::links;
using tests::at;
using tests::brief;
using tests::json;
using tests::said;

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
