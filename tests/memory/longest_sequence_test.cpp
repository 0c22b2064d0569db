// The longest sequences that fit, as published for tiled losses and feed-forward parts, checkpoints on the host and Ulysses: asked as a
// reader asks, by the reverse question. All rows were seen while first_backward's attention part and the gradients of an offloaded
// optimizer got their terms; nothing is fitted to them.
//   S. Bekman et al.: Arctic Long Sequence Training, arXiv 2506.13996 (abstract), and snowflakedb/ArcticTraining b28638e6,
//   projects/sequence-parallelism, run-*.yml: max_length as shipped, with its comment. 80 GB H100, 8 to a node, 1.9 TB of host memory each.
//   tests/evidence/longest-sequence.jsonl has these rows and those with weights on the host, with a threshold for all.
#include <doctest/doctest.h>

#include <cmath>

#include "api.h"
#include "support.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

struct Row {
    const char* file;
    const char* model;
    int gpus, sequence_parallel;
    bool checkpoints_on_host, tiled;
    double hidden, published;  // tokens
};
constexpr Row kRows[] = {
    {"abstract", "llama-3.1-8b", 8, 8, true, true, 4'096, 3.7e6},
    {"h100-sp8-llama-8b", "llama-3.1-8b", 8, 8, true, true, 4'096, 3.8e6},
    {"h100-sp16-llama-8b", "llama-3.1-8b", 16, 16, true, true, 4'096, 8e6},
    {"h100-sp32-llama-8b", "llama-3.1-8b", 32, 32, true, true, 4'096, 15.5e6},
    {"abstract, baseline", "llama-3.1-8b", 8, 1, false, false, 4'096, 32e3},
    {"h100-sp32-llama-8b-baseline", "llama-3.1-8b", 32, 1, false, false, 4'096, 36e3},
    {"h100-sp8-llama-70b", "llama-3.1-70b", 8, 8, false, true, 8'192, 200e3},
    {"h100-sp64-llama-70b", "llama-3.1-70b", 64, 64, true, true, 8'192, 10e6},
    {"h100-sp8-qwen3-32b", "qwen3-32b", 8, 8, true, true, 5'120, 1.55e6},
    {"h100-sp32-qwen3-32b", "qwen3-32b", 32, 32, true, true, 5'120, 7e6},
    {"h100-sp64-qwen3-32b", "qwen3-32b", 64, 64, true, true, 5'120, 15e6},
};

// As many tiles as TiledMLP makes: tokens of a GPU over the hidden size.
Json request(const Row& row) {
    constexpr double kHostGib = 1.9e12 / (1024.0 * 1024 * 1024);
    const double tokens = row.published / row.sequence_parallel;
    return {{"model", row.model},
            {"gpu", "h100-sxm-80gb"},
            {"gpus", row.gpus},
            {"gpus_per_node", 8},
            {"tensor_parallel", 1},
            {"pipeline_parallel", 1},
            {"context_parallel", row.sequence_parallel},
            {"context_parallel_kind", "all_to_all"},
            {"micro_batch", 1},
            {"global_batch", row.gpus / row.sequence_parallel},
            {"framework", "pytorch"},
            {"zero", "weights"},
            {"recompute", "full"},
            {"recompute_layers", 1},
            {"optimizer_offload", 1},
            {"activation_offload", row.checkpoints_on_host ? 1 : 0},
            {"feed_forward_tiles", row.tiled ? static_cast<int>(std::ceil(tokens / row.hidden)) : 1},
            {"loss", row.tiled ? "tiled" : "auto"},
            {"host_memory_gib", kHostGib},
            {"virtual_stages", 1},
            {"schedule", "1f1b"},
            {"layout", "equal"},
            {"moments", "fp32"},
            {"sequence_parallel", false},
            {"expert_parallel", 1},
            {"expert_tensor_parallel", 1},
            {"risk", 0.5}};  // people shipped what just ran
}

}  // namespace

TEST_CASE("longest sequences: published against the reverse question") {
    constexpr double kAsked = 0.15;
    int within = 0, rows = 0;
    for (const Row& row : kRows) {
        const Json answer = json(api::limits(request(row).dump()));
        REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
        REQUIRE(answer["largest_sequence"].is_object());
        const double times = answer["largest_sequence"]["value"].get<double>() / row.published;
        MESSAGE(std::string(row.file) << ": " << times << " of " << row.published << " tokens");
        CHECK(std::abs(times - 1) < 0.35);
        within += std::abs(times - 1) <= kAsked, ++rows;
    }
    MESSAGE(within << " of " << rows << " within " << kAsked);
    CHECK(within >= 0.8 * rows);
}

TEST_CASE("longest sequences: a million tokens of an 8B model on one node") {
    Json job = request(kRows[0]);
    job["sequence_length"] = 1'048'576;
    job["feed_forward_tiles"] = 32;
    const Json with = json(api::estimate(job.dump()));
    CHECK(with["class"] == "fits");
    CHECK(with["host"]["class"] == "fits");
    job["activation_offload"] = 0, job["feed_forward_tiles"] = 1, job["loss"] = "auto", job["context_parallel"] = 1,
    job["global_batch"] = 8;
    CHECK(json(api::estimate(job.dump()))["class"] == "does_not_fit");
}
