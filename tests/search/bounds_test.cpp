// What is said of a step's time before it is worked out.
#include "search/bounds.h"

#include <doctest/doctest.h>

#include "search/any_job.h"
#include "search/groups.h"
#include "search/scorer.h"
#include "time/timed_plan.h"

using namespace fourfold;
using tests::any_job;
using tests::AnyJob;
using tests::Random;

TEST_CASE("law: no plan is faster than its bound with what is sent and updated once per step") {
    Random random(431);
    int plans = 0, close = 0;
    for (int i = 0; i < (tests::kSlowBuild ? 60 : 1'500); ++i) {
        AnyJob job = any_job(random);
        job.plan.framework = random.one_of({FrameworkKind::megatron_2025, FrameworkKind::pytorch, FrameworkKind::nanotron,
                                            FrameworkKind::megatron_deepspeed, FrameworkKind::hai_llm, FrameworkKind::transformers});
        job.plan.optimizer_offload = random.one_of({0.0, 0.0, 0.0, 0.5});
        const SearchSpace space = job.space();
        Scorer scorer(space, closed(space.plan));
        for (const Ranked& one : search(space, {.plans = 30, .everything = true}).plans) {
            Plan plan = one.estimate.plan;
            const double real = one.estimate.seconds;
            plan.recompute = Recompute::none;
            const LayerTimes times = scorer.layers(plan);
            const Platform& on = scorer.platform();
            const StepBound bound(space.model, plan, on.machine, on.timing, times);
            const double least = bound.seconds(plan) + bound.once_per_step(plan, times);
            CHECK_MESSAGE(least <= real * (1 + 1e-9), i << " " << least << " " << real);
            ++plans, close += least > 0.95 * real;
        }
    }
    CHECK(plans > (tests::kSlowBuild ? 100 : 5'000));
    CHECK(close > plans / 4);
    MESSAGE(close << " of " << plans << " within 5 %");
}

TEST_CASE("once per step, by hand: eight copies of a small model in one node") {
    const Model& model = catalog().model("llama-3.2-1b")->model;
    Plan plan = closed(open_plan());
    plan.gpus = plan.gpus_per_node = 8, plan.global_batch = 64;
    const TimedPlan<double> timed(model, *catalog().gpu("h100-sxm-80gb"), nullptr, plan);
    const LayerTimes times = layer_times<double>(model, plan, timed.framework, timed.machine, timed.timing);
    const StepTime<double> step = timed.step();
    const auto of = [&](TimeItem item) { return step.items[static_cast<std::size_t>(item)]; };
    // the passes hide all that may be hidden, and there is one stage: the bound is what the step has
    CHECK(StepBound(model, plan, timed.machine, timed.timing, times).once_per_step(plan, times) ==
          doctest::Approx(of(TimeItem::data_traffic) + of(TimeItem::optimizer)));
}

TEST_CASE("law: where the backward pass is split in a straight pipeline, a stage holds a micro-batch more than the one behind it") {
    for (std::int32_t stages = 2; stages <= 16; ++stages)
        for (std::int32_t micro_batches = 1; micro_batches <= 4 * stages; ++micro_batches)
            for (std::int32_t stage = 0; stage < stages; ++stage) {
                std::int32_t most = 0;
                for (const InFlight& moment : fullest_moments(ScheduleKind::zero_bubble_h1, stages, 1, micro_batches, stage))
                    most = std::max(most, moment.until_backward.front());
                CHECK(most == std::min(micro_batches, stages - stage));
            }
}

TEST_CASE("law: a layer takes the same time whatever was asked before") {
    Random random(433);
    int plans = 0;
    for (int i = 0; i < (tests::kSlowBuild ? 60 : 600); ++i) {
        const AnyJob job = any_job(random);
        const SearchSpace space = job.space();
        Scorer scorer(space, closed(space.plan));
        const Platform& on = scorer.platform();
        for (const Ranked& one : search(space, {.plans = 30, .everything = true}).plans) {
            const Plan& plan = one.estimate.plan;
            const LayerTimes &known = scorer.layers(plan),
                             anew = layer_times<double>(space.model, plan, on.framework, on.machine, on.timing);
            CHECK(known.dense.forward == anew.dense.forward);
            CHECK(known.dense.backward == anew.dense.backward);
            CHECK(known.dense.recomputed == anew.dense.recomputed);
            CHECK(known.expert.forward == anew.expert.forward);
            CHECK(known.expert.backward == anew.expert.backward);
            CHECK(known.parameters_dense == anew.parameters_dense);
            CHECK(known.frozen_dense == anew.frozen_dense);
            CHECK(known.head == anew.head);
            ++plans;
        }
    }
    CHECK(plans > 500);
}
