// What more of something cannot do, of jobs in which it did.
#include <doctest/doctest.h>

#include "api.h"
#include "near.h"

using namespace fourfold;
using tests::json;

namespace {

double step(Json job, const char* key, const Json& value) {
    job[key] = value;
    const Json answer = json(api::estimate(job.dump()));
    REQUIRE(answer["ok"] == true);
    return answer["step_seconds"];
}

}  // namespace

TEST_CASE("laws: gradients that are sent during the backward pass do not take longer than those sent after it") {
    const Json job = json(R"({"model": "gpt-oss-20b", "gpu": "a100-pcie-80gb", "gpus": 256, "sequence_length": 1024, "global_batch": 512,
        "framework": "litgpt", "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 1, "expert_parallel": 1, "micro_batch": 1,
        "zero": "optimizer", "recompute": "full"})");
    CHECK(step(job, "overlap_gradients", true) <= step(job, "overlap_gradients", false));
}
