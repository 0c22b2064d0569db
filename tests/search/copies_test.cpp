// Copies of what ZeRO shares out (HSDP): Y. Zhao et al., PyTorch FSDP, arXiv 2304.11277, section 3.2.2.
#include <doctest/doctest.h>

#include "api.h"
#include "contract.h"
#include "plan/shares.h"
#include "search/any_job.h"
#include "search/asked_job.h"
#include "search/groups.h"
#include "time/timed_plan.h"

using namespace fourfold;
using tests::any_job;
using tests::AnyJob;
using tests::job_of;
using tests::json;
using tests::Random;

namespace {

// FSDP2 cuts a layer's 256 experts between them.
Json experts(std::int64_t gpus) {
    return {{"model", "deepseek-v3"}, {"gpu", "h200-sxm-141gb"}, {"gpus", gpus}, {"framework", "transformers"}};
}

}  // namespace

TEST_CASE("Transformers: what fits on as many GPUs as a layer has experts fits on twice as many, in two copies of the shards") {
    const auto few = choose(job_of(experts(256)).space()), many = choose(job_of(experts(512)).space());
    REQUIRE((few && many));
    CHECK((few->fits() && many->fits()));
    CHECK(few->estimate.plan.shard_replicas == 1);
    CHECK(many->estimate.plan.shard_replicas == 2);
    CHECK(many->estimate.bytes == doctest::Approx(few->estimate.bytes).epsilon(0.01));
    CHECK(many->estimate.seconds < few->estimate.seconds);
    Json set = experts(512);  // one copy, as it was asked for
    set["shard_replicas"] = 1;
    CHECK_FALSE(choose(job_of(set).space())->fits());
    Json sharded = experts(512);  // FSDP set as it is chosen: no other plan
    sharded["zero"] = "weights";
    const auto same = choose(job_of(sharded).space());
    CHECK(same->estimate.plan.shard_replicas == 2);
    CHECK(same->estimate.seconds == many->estimate.seconds);
}

TEST_CASE("where one copy of the shards does not fit, two are proposed") {
    Json set = experts(512);
    set["shard_replicas"] = 1, set["context_parallel"] = 2, set["micro_batch"] = 1, set["zero"] = "weights";
    const Json changes = json(api::alternatives(set.dump()))["changes"];
    CHECK(std::any_of(changes.begin(), changes.end(), [](const Json& one) { return one["set"] == Json{{"shard_replicas", 2}}; }));
}

TEST_CASE("copies of shards: bounds change nothing, with experts in one tensor and with copies let in") {
    Random random(441);
    int copied = 0, found = 0;
    const int jobs = tests::kSlowBuild ? 60 : 1'200;
    for (int i = 0; i < jobs; ++i) {
        AnyJob job = any_job(random);
        job.plan.framework = random.one_of({FrameworkKind::transformers, FrameworkKind::pytorch});
        job.exploration.left_out &= ~without_shard_copies;
        job.gpu.memory_bytes = 1024.0 * 1024 * 1024 * random.one_of<double>({1, 2, 3, 4, 8});
        for (const std::size_t plans : {std::size_t{1}, std::size_t{40}}) {
            const SearchResult fast = search(job.space(), {.plans = plans}),
                               slow = search(job.space(), {.plans = plans, .everything = true});
            REQUIRE(fast.plans.size() == slow.plans.size());
            for (std::size_t k = 0; k < fast.plans.size(); ++k) {
                const Estimated &a = fast.plans[k].estimate, &b = slow.plans[k].estimate;
                CHECK(a.plan.shard_replicas == b.plan.shard_replicas);
                CHECK(a.seconds == b.seconds);
                CHECK(a.bytes == b.bytes);
                CHECK(is_legal(job.model, a.plan));
                ++found, copied += a.plan.shard_replicas > 1;
            }
        }
    }
    CHECK(copied > (tests::kSlowBuild ? 0 : 50));
    MESSAGE(copied << " of " << found << " plans with copies");
}

TEST_CASE("law: groups of one GPU share nothing out, and send and update what copies without ZeRO do") {
    const Model& model = catalog().model("llama-3.1-8b")->model;
    for (const std::int64_t gpus : {2, 8, 16, 64}) {
        Plan none = closed(open_plan()), alone;
        none.gpus = gpus, none.gpus_per_node = 8, none.global_batch = 128, none.zero = Zero::none;
        alone = none;
        alone.zero = Zero::optimizer, alone.shard_replicas = gpus;
        CHECK(optimizer_sharers(alone, 1) == 1);
        const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
        const StepTime<double> plain = TimedPlan<double>(model, gpu, nullptr, none).step(),
                               copies = TimedPlan<double>(model, gpu, nullptr, alone).step();
        for (const TimeItem item : {TimeItem::data_traffic, TimeItem::optimizer}) {
            const auto at = static_cast<std::size_t>(item);
            CHECK(copies.items[at] == doctest::Approx(plain.items[at]).epsilon(1e-9));
        }
        CHECK(copies.seconds == doctest::Approx(plain.seconds).epsilon(1e-9));
    }
}

TEST_CASE("of equally fast plans the one without copies of its shards comes first") {
    Estimated plain, copied;
    plain.plan = copied.plan = closed(open_plan());
    plain.seconds = 1.001, copied.seconds = 1;
    copied.plan.shard_replicas = 2;
    CHECK(in_order({copied, plain}).front().estimate.plan.shard_replicas == 1);
}
