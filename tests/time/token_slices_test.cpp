// What a step takes whose sequences pass in slices.
#include "time/token_slices.h"

#include <doctest/doctest.h>

#include <numeric>

#include "model/catalog.h"
#include "near.h"
#include "plan/framework.h"
#include "random_cases.h"
#include "time/op_times.h"
#include "time/step_time.h"

using namespace fourfold;

namespace {

struct Sliced {
    Sliced(const Model& model, const Plan& plan) {
        const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
        const Framework framework = framework_of(model, plan, gpu);
        const Machine machine = machine_of(gpu, catalog().cluster("dgx-h100"), plan);
        const Timing timing = timing_of(machine, nullptr, plan, framework.attention);
        layers = layer_times(model, plan, framework, machine, timing);
        step = step_time<Traced>(model, plan, framework, machine, timing, layer_times<Traced>(model, plan, framework, machine, timing));
        times = op_times(model, plan, machine, timing, layers, Stages(model, plan));
    }
    double item(TimeItem which) const { return step.items[static_cast<std::size_t>(which)].value(); }
    LayerTimes layers;
    StepTime<Traced> step;
    OpTimes times;
};

Plan long_sequence(std::int64_t slices) {
    Plan plan;
    plan.gpus = 64, plan.gpus_per_node = 8;
    plan.tensor_parallel = plan.pipeline_parallel = 8;
    plan.context_parallel = plan.micro_batch = plan.global_batch = 1;
    plan.sequence_length = 65'536;
    plan.token_slices = slices;
    return plan;
}

}  // namespace

TEST_CASE("token slices: sum t_i + (p - 1) max t_i, of all stages") {
    const Model& model = catalog().model("llama-3.1-70b")->model;
    double before = INFINITY;
    for (const std::int64_t slices : {1, 2, 4, 8, 16}) {
        const Sliced one(model, long_sequence(slices));
        const auto& stages = one.step.stage_seconds;
        const double most = *std::max_element(stages.begin(), stages.end()), all = std::accumulate(stages.begin(), stages.end(), 0.0);
        const auto& shares = one.times.slice_shares;
        const double longest = shares.empty() ? 1 : *std::max_element(shares.begin(), shares.end());
        CAPTURE(slices);
        if (slices > 1) CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == tests::near(static_cast<double>(slices)));
        CHECK(longest < 1.05);
        CHECK(one.item(TimeItem::bubble) == tests::near((all - most) * longest));
        CHECK(one.step.seconds < before);  // a batch of one on eight stages
        before = one.step.seconds;
    }
}

TEST_CASE("token slices: operations stay, what comes once per pass comes for every slice") {
    const Model& model = catalog().model("llama-3.1-70b")->model;
    const Sliced whole(model, long_sequence(1)), sliced(model, long_sequence(8));
    CHECK(sliced.item(TimeItem::accumulation) == tests::near(8 * whole.item(TimeItem::accumulation)));
    CHECK(sliced.item(TimeItem::multiplications) > whole.item(TimeItem::multiplications));
    CHECK(sliced.item(TimeItem::multiplications) < 1.05 * whole.item(TimeItem::multiplications));
    CHECK(sliced.item(TimeItem::host) > whole.item(TimeItem::host));
    // attention: 1 + j of as many operations; the tail j is 8 times as large of slices, whose longest block is (1 + 1/8)/2 of before
    CHECK(whole.item(TimeItem::attention) < sliced.item(TimeItem::attention));
    CHECK(sliced.item(TimeItem::attention) < 1.25 * whole.item(TimeItem::attention));
}
