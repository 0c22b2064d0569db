// LoRA in time: what frozen weights save, what adapters and unpacking add.
#include <doctest/doctest.h>

#include "api.h"
#include "model/catalog.h"
#include "near.h"
#include "plan/adapters.h"
#include "support.h"
#include "time/step_time.h"
#include "time/update.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

Json answer(const std::string& more) {
    Json request = json(R"({"model": "llama-3.1-8b", "gpu": "h100-sxm-80gb", "gpus": 16, "gpus_per_node": 8, "sequence_length": 4096,
        "global_batch": 64, "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 1, "micro_batch": 1, "recompute": "full",
        "zero": "optimizer", "schedule": "1f1b", "layout": "equal"})");
    request.update(json(more));
    Json told = Json::parse(api::estimate(request.dump()), nullptr, false);
    REQUIRE(told["ok"] == true);
    return told;
}
double seconds(const Json& told, std::string_view item) {
    for (const Json& one : told["time"]["items"])
        if (one["id"] == item) return one["seconds"];
    return 0;
}

}  // namespace

TEST_CASE("LoRA: of three multiplications with a matrix two are left, and adapters alone are exchanged and updated") {
    const Json full = answer("{}"), lora = answer(R"({"trained": "lora", "lora_targets": "query"})");
    const double share = seconds(lora, "multiplications") / seconds(full, "multiplications");
    CHECK(share > 0.6);
    CHECK(share < 0.7);
    CHECK(seconds(lora, "data_traffic") < 0.2 * seconds(full, "data_traffic"));
    CHECK(seconds(lora, "optimizer") < 0.01 * seconds(full, "optimizer"));
    CHECK(seconds(lora, "attention") == seconds(full, "attention"));
    CHECK(lora["time"]["step_seconds"].get<double>() < full["time"]["step_seconds"].get<double>());
}

TEST_CASE("LoRA: more adapters, a higher rank and packed weights take longer") {
    const auto step = [](const std::string& more) { return answer(more)["time"]["step_seconds"].get<double>(); };
    const double one = step(R"({"trained": "lora", "lora_targets": "query"})"), all = step(R"({"trained": "lora"})");
    CHECK(one < all);
    CHECK(all < step(R"({"trained": "lora", "lora_rank": 512})"));
    CHECK(all < step(R"({"trained": "lora", "frozen_weights": "nf4"})"));
    CHECK(step("{}") == step(R"({"lora_rank": 64, "lora_targets": "query", "frozen_weights": "nf4"})"));
}

TEST_CASE("by hand: parameters of all adapters, and bytes of an update") {
    const Model& model = catalog().model("llama-3.1-8b")->model;
    Plan plan;
    plan.trained = TrainedPart::lora, plan.lora_rank = 8, plan.framework = FrameworkKind::pytorch;
    plan.lora_targets = lora_query | lora_value;  // 32 layers, 8 * (4096 + 4096) and 8 * (4096 + 1024)
    CHECK(adapter_count(model, plan) == 32 * 8 * (8'192 + 5'120));
    plan.framework = FrameworkKind::megatron_2025;  // one for queries, keys and values: 8 * (4096 + 6144)
    CHECK(adapter_count(model, plan) == 32 * 8 * 10'240);
    plan = Plan();
    CHECK(update_bytes(plan) == 34);
    plan.optimizer = Optimizer::sgd;  // gradient twice 8, master weight 8, one average 8, weight 2
    CHECK(update_bytes(plan) == 26);
    plan.master_weights = Habit::off, plan.optimizer = Optimizer::adam, plan.moments = Moments::bits16;  // 8 + 2 + 2 * 2 * 2 + 2
    CHECK(update_bytes(plan) == 20);
    // Muon: five steps of 4 m m n + 2 m m m; queries and projection 4096 x 4096, keys and values 1024 x 4096, three of 4096 x 14336
    const double m = 4'096, k = 1'024, f = 14'336;
    CHECK(muon_flop(model, false) ==
          near(5 * (2 * 6 * m * m * m + 2 * (4 * k * k * m + 2 * k * k * k) + 3 * (4 * m * m * f + 2 * m * m * m))));
}

TEST_CASE("LoRA: frozen weights count four operations a value instead of six") {
    const Model& model = catalog().model("llama-3.1-8b")->model;
    Plan plan;
    plan.tensor_parallel = plan.context_parallel = plan.pipeline_parallel = plan.micro_batch = 1;
    const double full = model_flop(model, plan, FlopConvention::causal);
    plan.trained = TrainedPart::lora;
    const double lora = model_flop(model, plan, FlopConvention::causal);
    // scores: 32 layers of 2 * 4096 channels, s / 2 tokens of 8192, six each in both
    const double scores = 6.0 * 1'024 * 8'192 * 32 * (8'192 / 2.0) * 8'192;
    CHECK(lora - scores == near((full - scores) * 4 / 6, 1e-9));
}
