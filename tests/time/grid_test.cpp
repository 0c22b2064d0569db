// Matrices split both ways (AxoNN's grid): what is sent along the columns, by hand.
#include <doctest/doctest.h>

#include "api.h"
#include "support.h"
#include "time/small_machine.h"
#include "time/timed_plan.h"

using namespace fourfold;
using namespace fourfold::tests;
using namespace fourfold::tests::by_hand;

TEST_CASE("grid, by hand: collectives of GPUs that lie apart") {
    const Machine hw = machine();  // nodes of 4
    const Timing k = timing();
    const Cost<double> on(hw, k);
    for (const double members : {1, 2, 4, 8}) CHECK(on.strided_collective(6'000, members, 1) == on.collective(6'000, members));
    CHECK(on.strided_collective(6'000, 2, 2) == on.collective(6'000, 2));  // all in one node
    // four, two in each of two nodes: two such groups share the network; then four nodes, and four groups
    CHECK(on.strided_collective(6'000, 4, 2) == near(2e-3 * 2 + 2 * 4'500 / 2e6));
    CHECK(on.strided_collective(6'000, 4, 4) == near(2e-3 * 2 + 4 * 4'500 / 2e6));
}

TEST_CASE("grid, by hand: a layer's traffic along both axes") {
    by_hand::Case c = by_hand::dense();
    c.plan.gpus = 16, c.plan.tensor_columns = 2;  // 2 x 2 in a node; 24 hidden values and M = 60 tokens
    const LayerTimes all = c.layers();
    CHECK(all.parameters_dense == 24 * 50 + 30 * 24 + 24 * 80 + 40 * 24);
    const auto all_reduce = [](double bytes) { return 2 * (1e-3 + bytes / 2 / 1e6); };
    // along tensor parallel two all-reduces of 2 * 60 * 24 bytes in each pass; along the columns those of 50 values of QKV and 80 of the
    // first feed-forward matrix a token, then the gradients of 30 and of 40; two norms have sums of 4 bytes a token
    const double rows = 2 * all_reduce(2 * 60 * 24), norms = 2 * all_reduce(4 * 60);
    CHECK(all.dense.tensor_forward == near(rows + all_reduce(2 * 60 * 50) + all_reduce(2 * 60 * 80) + norms));
    CHECK(all.dense.tensor_backward == near(rows + all_reduce(2 * 60 * 30) + all_reduce(2 * 60 * 40) + norms));
    by_hand::Case two = c;
    two.model.layer_norm = true;  // sums of values, too
    CHECK(two.layers().dense.tensor_forward == near(all.dense.tensor_forward - norms + 2 * all_reduce(8 * 60)));
    // Attention is computed on every column.
    by_hand::Case flat = by_hand::dense();
    CHECK(all.dense.attention_forward == flat.layers().dense.attention_forward);
    CHECK(all.dense.multiply_forward < flat.layers().dense.multiply_forward);
}

TEST_CASE("grid, by hand: gradients are added up between GPUs with the same part of the grid") {
    // nodes of 4 hold one grid of 2 x 2: the two copies are in two nodes, and four parts share the network of each
    by_hand::Case c = by_hand::dense();
    c.plan.gpus = 8, c.plan.pipeline_parallel = 1, c.plan.tensor_columns = 2;
    const DataCollective parts = data_collective_parts(c.plan, c.hw, c.k, 1'000);
    CHECK(parts.inside_bytes == 0);
    CHECK(parts.across == 1'000 * 4 * 0.5);
    // (1, 1, 4): FSDP sends three quarters of everything in the node, for every gathering and reduction
    c.plan.gpus = 4, c.plan.tensor_parallel = c.plan.tensor_columns = 1, c.plan.zero = Zero::weights;
    CHECK(data_collective_parts(c.plan, c.hw, c.k, 1'000).inside_bytes == 750);
}

TEST_CASE("grid: through a request: its formulas name its source, and other models are refused" * doctest::test_suite("quality")) {
    Json job{{"model", "llama-3.1-70b"}, {"gpu", "h100-sxm-80gb"}, {"gpus", 64},
             {"global_batch", 512},      {"tensor_parallel", 4},   {"tensor_columns", 2},
             {"pipeline_parallel", 4},   {"context_parallel", 1},  {"micro_batch", 1},
             {"zero", "optimizer"},      {"recompute", "full"}};
    const Json answer = json(api::estimate(job.dump()));
    REQUIRE(answer["ok"] == true);
    CHECK(answer["data_parallel"] == 2);
    CHECK(answer["assumed"].dump().find("assumed.grid") != std::string::npos);
    CHECK(answer["time"].dump().find("2305.13525") != std::string::npos);
    CHECK(answer["time"].dump().find("column_traffic_forward") != std::string::npos);
    Json flat = job;  // eight ways the one way: fewer bytes, and no attention twice
    flat["tensor_parallel"] = 8, flat["tensor_columns"] = 1;
    const Json known = json(api::estimate(flat.dump()));
    CHECK(known["time"]["step_seconds"].get<double>() < answer["time"]["step_seconds"].get<double>());
    CHECK(known["assumed"].dump().find("assumed.grid") == std::string::npos);
    job["model"] = "mixtral-8x7b";
    CHECK(json(api::estimate(job.dump())).dump().find("problem.grid_applies.model") != std::string::npos);
    // left to the search, it is kept
    for (const char* key : {"tensor_parallel", "pipeline_parallel", "context_parallel", "micro_batch", "zero", "recompute"}) job.erase(key);
    job["model"] = "llama-3.1-70b";
    const Json chosen = json(api::estimate(job.dump()));
    REQUIRE(chosen["ok"] == true);
    CHECK(chosen["job"]["tensor_columns"] == 2);
    // what the page asks beside it: the map of all plans, the ranking, limits, what to change
    const api::SearchAnswer map = api::search(job.dump());
    CHECK(!map.columns.gpus.empty());
    for (std::size_t i = 0; i < map.columns.gpus.size(); ++i) {
        const auto group = 2 * map.columns.tensor_parallel[i] * map.columns.context_parallel[i] * map.columns.pipeline_parallel[i];
        CHECK(map.columns.gpus[i] == group * map.columns.data_parallel[i]);
    }
    for (const auto ask : {api::rank, api::limits, api::alternatives, api::timeline}) CHECK(json(ask(job.dump()))["ok"] == true);
}
