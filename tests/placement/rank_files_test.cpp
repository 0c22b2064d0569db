// The files for launchers, to the letter. Each text of the first case was run as it stands (hosts nodea to noded):
//   Slurm 22.05.8, four slurmd on one machine: srun put tasks 0 to 4 on nodec, nodec, nodea, nodea, noded, inside an allocation of these
//     three hosts and in one with a spare host beside them. srun(1), --distribution=arbitrary: "will allocate processes in-order as listed
//     in file designated by the environment variable SLURM_HOSTFILE". With SLURM_HOSTFILE set before it, salloc --ntasks=5 refused.
//     SLURM_NODEID and "scontrol show hostnames" go by name: nodea is the first.
//   Open MPI 4.1.4, with ssh replaced by a script that takes the host's name, and inside the same Slurm job: the rank file put ranks 0 to 4
//     on nodec, nodec, nodea, nodea, noded and bound each to one core, with --bind-to none as well; so did --hostfile slurm-hosts.txt
//     --map-by seq --bind-to none, unbound. --hostfile hostfile.txt --map-by slot did without Slurm; inside Slurm's job it began with
//     nodea.
//   torchrun of PyTorch 1.13 (options with underscores; those with dashes are from 2.0 on): two nodes of 2 and 1 processes gave ranks 0 and
//   1
//     to the first, 2 to the second, of 3 in all.
#include "placement/rank_files.h"

#include <doctest/doctest.h>

#include "api.h"
#include "contract.h"

using namespace fourfold;
using tests::json;

TEST_CASE("rank files: what each launcher reads, with a last host that is partly filled") {
    const std::string hosts[] = {"nodec", "nodea", "noded"};
    const auto files = rank_files(hosts, 2, 5);
    REQUIRE(files.size() == 4);
    CHECK(files[0].text == "nodec\nnodec\nnodea\nnodea\nnoded\n");
    CHECK(files[1].text == "rank 0=nodec slot=0\nrank 1=nodec slot=1\nrank 2=nodea slot=0\nrank 3=nodea slot=1\nrank 4=noded slot=0\n");
    CHECK(files[2].text == "nodec slots=2\nnodea slots=2\nnoded slots=1\n");
    CHECK(files[3].text ==
          "nodec NODE_RANK=0 MASTER_ADDR=nodec NNODES=3 NPROC_PER_NODE=2\n"
          "nodea NODE_RANK=1 MASTER_ADDR=nodec NNODES=3 NPROC_PER_NODE=2\n"
          "noded NODE_RANK=2 MASTER_ADDR=nodec NNODES=3 NPROC_PER_NODE=1\n");
}

TEST_CASE("rank files: one line each on how to use them") {
    const std::string hosts[] = {"b", "a"};
    const auto files = rank_files(hosts, 2, 3);
    CHECK(tests::said(files[0].how) == R"(launcher.slurm {"ranks":"3"})");
    for (const RankFile& file : files) CHECK(file.how.id() == Text("launcher", file.id).id());
}

TEST_CASE("rank files: names that launchers do not read as one host") {
    // Open MPI 4.1.4 read "node a" as the host "node", "node#a" as "node", "+n0" as the first host of the allocation.
    for (const char* name : {"node-17", "gpu_03.cluster.example", "10.0.0.7", "N1"}) CHECK(is_host_name(name));
    for (const char* name : {"", "node a", "node#a", "a=b", "+n0", "node:1", "user@a", "[::1]", "-n", "a,b", "a\nb", "nöd"})
        CHECK_FALSE(is_host_name(name));
}

TEST_CASE("rank files: none are written with a name that could add a line, a host or a command") {
    for (const char* name :
         {"n1\nevil", "n1 slots=64", "n1#", "$(reboot)", "`id`", "n1;id", "n1\"", "n1'", "n[1-9]", "n1,n2", "*", "\\n"}) {
        CAPTURE(std::string(name));
        const std::string hosts[] = {"n0", name};
        CHECK(rank_files(hosts, 8, 16).empty());
        Json request = json(R"({"model": "llama-3.1-8b", "gpus": 16, "gpus_per_node": 8, "tensor_parallel": 2, "context_parallel": 1,
                                "pipeline_parallel": 2, "micro_batch": 1, "global_batch": 16, "moves": 100})");
        request["links"] = {{"nodes", {"n0", name}}, {"gbyte_per_s", {{0, 10}, {10, 0}}}};
        const Json answer = json(api::place(request.dump()));
        if (std::string_view(name).find('\n') != std::string_view::npos) {
            CHECK(tests::brief(answer["problems"]) == "links.nodes range null -> null");
            continue;
        }
        CHECK(answer["files"].empty());
        CHECK(answer["warnings"][0]["field"] == "links.nodes[1]");
        CHECK(answer["warnings"][0]["value"] == name);
    }
}

TEST_CASE("place: 20 GPUs in nodes of 8 are three hosts, the last half filled; names that are no hosts' are told") {
    Json request = json(R"({"model": "llama-3.1-8b", "gpus": 20, "gpus_per_node": 8, "tensor_parallel": 2, "context_parallel": 1,
                            "pipeline_parallel": 2, "micro_batch": 1, "global_batch": 20, "moves": 1000})");
    request["links"] = json(R"({"nodes": ["n1", "n2", "n3"], "gbyte_per_s": [[0, 10, 9], [10, 0, 8], [9, 8, 0]]})");
    const Json answer = json(api::place(request.dump()));
    REQUIRE(answer["ok"] == true);
    const std::string torchrun = answer["files"][3]["text"], last = torchrun.substr(torchrun.rfind('\n', torchrun.size() - 2) + 1);
    CHECK(last.find("NODE_RANK=2") != std::string::npos);
    CHECK(last.find("NPROC_PER_NODE=4") != std::string::npos);
    CHECK(tests::said(answer["files"][0]["how"]) == R"(launcher.slurm {"ranks":"20"})");
    for (const Json& warning : answer["warnings"]) CHECK(warning["field"] != "links.nodes");

    request["links"]["nodes"][1] = "rack 1 node 2";
    const Json warned = json(api::place(request.dump()));
    REQUIRE(warned["ok"] == true);
    REQUIRE(warned["warnings"].size() == 1);
    CHECK(tests::brief(warned["warnings"]) == "links.nodes[1] range \"rack 1 node 2\" -> null");
}
