// What the search calls below every plan is below, by hand (time/small_machine.h).
#include "search/bounds.h"

#include <doctest/doctest.h>

#include "search/any_job.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

TEST_CASE("bounds: experts in 8 bits may be faster than their share in 16 says") {
    Case c = dense();
    c.model.experts.count = 4, c.model.experts.per_token = 2, c.model.experts.ffn = 80;
    c.hw.multiplies_in_8_bits = true, c.hw.peak = 2e12;
    c.k.eight_bits = 1.25;
    LayerTimes layers;
    layers.expert.forward = layers.expert.routed_forward = 1e-5;
    // three matrices for each of two copies of 60 tokens, of which this GPU has half
    const double flop = 2.0 * (60 / 2) * 2 * 48 * 80 * 3;
    CHECK(StepBound::without_experts(c.model, c.plan, c.hw, c.k, layers).expert.forward == near(flop / (0.5 * 1.25 * 2e12)));
}

TEST_CASE("bounds: beside a Grace nothing sorts tokens for divided experts, and the search finds what looking at everything finds") {
    tests::Random random(433);
    int divided = 0;
    const int jobs = tests::kSlowBuild ? 40 : 1'200;
    for (int i = 0; i < jobs; ++i) {
        tests::AnyJob job = tests::any_job(random);
        if (job.model.experts.count == 0) continue;
        const double memory = job.gpu.memory_bytes;
        job.gpu = *catalog().gpu("gb200-186gb"), job.gpu.memory_bytes = memory;
        job.model.experts.per_token = job.model.experts.count, job.model.experts.ffn = 64;  // little work for each copy of a token
        job.plan.framework = FrameworkKind::megatron_2025;
        job.plan.expert_dispatch = random.one_of({ExpertDispatch::automatic, ExpertDispatch::deepep});
        const SearchResult fast = search(job.space(), {.plans = 1}), slow = search(job.space(), {.plans = 1, .everything = true});
        REQUIRE(fast.plans.size() == slow.plans.size());
        for (std::size_t k = 0; k < fast.plans.size(); ++k) {
            CHECK_MESSAGE(fast.plans[k].estimate.seconds == slow.plans[k].estimate.seconds, i);
            divided += fast.plans[k].estimate.plan.expert_parallel > 1;
        }
    }
    CHECK(divided > jobs / 40);
}
