// An optimizer outside of the GPU: the time of its update by hand, laws, and what was published.
#include <doctest/doctest.h>

#include <cmath>

#include "memory/host.h"
#include "random_cases.h"
#include "time/offload.h"
#include "time/offload_support.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests;
using doctest::Approx;

namespace {

// Seconds of the small machine for 1,000 parameters.
// Of a GPU that holds so many parameters, among them the experts of so many layers.
double host_seconds(const by_hand::Case& c, double parameters, double expert_layers) {
    Stage stage;
    stage.experts.held = expert_layers;
    const Cost<double> cost(c.hw, c.k);
    const double experts = stage_weights(c.model, c.plan, c.hw, c.k, LayerTimes(), stage).experts;
    return HostUpdate<double>(c.model, c.plan, c.hw, c.k)
        .seconds(DataTraffic<double>(c.plan, c.hw, cost).updated({.parameters = parameters, .experts = experts}));
}
double small_seconds(const by_hand::Case& c) { return host_seconds(c, 1'000, 0); }

bool warns_of(const Json& answer, const char* id) {
    for (const Json& one : answer["warnings"])
        if (one["rule"] == id) return true;
    return false;
}

}  // namespace

TEST_CASE("by hand: an update on the host") {
    by_hand::Case c = by_hand::dense();  // t 2, p 2, two copies: 500 parameters of 1,000
    c.plan.optimizer_offload = 0.5;      // 250 of them
    c.hw.host = 1e12, c.hw.memory = 1e13, c.hw.nvme = 1e11;
    // per parameter: 4 bytes out, 2 bytes in at 0.8e12 byte/s; 80 bytes at 50e9
    const double out = 5e-12, in = 2.5e-12, adam = 1.6e-9;
    CHECK(small_seconds(c) == near(250 * (out + adam + in)));
    c.plan.optimizer_offload_overlap = OffloadOverlap::overlapped;
    CHECK(small_seconds(c) == near(250 * adam));
    // a group on the GPU: 12 / 0.8e12 + 34 / 0.8e13 = 1.925e-11 against 1.6025e-9 on the host: k = 1 + 1, half of them here, half there;
    // these pass through the host's memory, 24 / 50e9
    c.plan.optimizer_offload_overlap = OffloadOverlap::interleaved;
    CHECK(small_seconds(c) == near(250 * (adam + in + 4.8e-10) / 2));
    // 60 times slower to the host: 12 / (0.8e12 / 60) + 4.25e-12 = 9.0425e-10 against 1.6e-9 + 1.5e-10 = 1.75e-9: k = 1 + 1
    c.hw.host = 1e12 / 60;
    CHECK(small_seconds(c) == near(250 * (1.75e-9 + 4.8e-10) / 2));
    // 300 times: 4.50425e-9 against 2.35e-9: k = 1 + 2, (2 * 2.35e-9 + 4.8e-10) / 3 is more than the host alone takes
    c.hw.host = 1e12 / 300;
    CHECK(small_seconds(c) == near(250 * adam));
    // the drives, of which the four GPUs of a node get a quarter each: 32 * 4 / 1e11 = 1.28e-9
    c.plan.optimizer_offload_target = OffloadTarget::nvme;
    CHECK(small_seconds(c) == near(250 * adam));  // not the slowest
    c.hw.nvme = 1e10;
    CHECK(small_seconds(c) == near(250 * 1.28e-8));
    c.hw.host = 1e12;
    c.plan.optimizer_offload_overlap = OffloadOverlap::none;
    CHECK(small_seconds(c) == near(250 * (out + adam + in + 1.28e-8)));
    c.plan.framework = FrameworkKind::megatron_deepspeed;  // Adam in one loop: 30 bytes
    CHECK(small_seconds(c) == near(250 * (out + 6e-10 + in + 1.28e-8)));
    c.plan.optimizer_offload_target = OffloadTarget::host;  // its gradients become 32 bits wide on the host
    CHECK(small_seconds(c) == near(250 * (6.9e-10 + 6e-10 + in)));
    c.plan.offload_master_weights = Habit::off;  // weights come back in 32 bits
    CHECK(small_seconds(c) == near(250 * (6.9e-10 + 6e-10 + 2 * in)));
    c.plan.offload_master_weights = Habit::automatic, c.plan.optimizer_offload_target = OffloadTarget::nvme;
    c.plan.zero = Zero::none;  // nothing is shared
    CHECK(small_seconds(c) == near(500 * (out + 6e-10 + in + 1.28e-8)));
}

TEST_CASE("by hand: experts are shared by fewer GPUs") {
    by_hand::Case c = by_hand::dense();  // 8 GPUs, t 2, p 2
    c.plan.optimizer_offload = 1;
    c.model.experts.count = 4, c.model.experts.ffn = 10, c.model.experts.per_token = 1, c.model.gated = true;
    c.plan.expert_parallel = 4;  // one expert of 3 * 48 * 10 = 1,440 parameters a layer, which no other GPU has; the rest two GPUs
    c.hw.host = 1e18;
    const double adam = 1.6e-9;
    CHECK(host_seconds(c, 5'000, 2) == near(((5'000 - 2'880) / 2.0 + 2'880) * adam, 1e-6));
    c.plan.gpus = 16;  // the rest 16 / (2 * 2) = 4 GPUs, an expert 16 / (4 * 2) = 2: (5,000 - 2,880) / 4 + 2,880 / 2 = 530 + 1,440
    CHECK(host_seconds(c, 5'000, 2) == near(1'970 * adam, 1e-6));
    CHECK(host_seconds(c, 5'000, 1) == near(1'610 * adam, 1e-6));  // 890 + 720
}

TEST_CASE("law: overlapped is no slower than plain, interleaved no slower than overlapped, drives no faster than memory") {
    Random random(29);
    for (int i = 0; i < (kSlowBuild ? 100 : 2'000); ++i) {
        by_hand::Case c = by_hand::dense();
        c.model = random_model(random);
        c.plan = random_legal_plan(random, c.model);
        c.plan.optimizer_offload = random.one_of<double>({0.25, 0.5, 1});
        c.hw.host = std::pow(10, static_cast<double>(random.from(8, 12)));
        c.hw.memory = std::pow(10, static_cast<double>(random.from(10, 13)));
        c.hw.nvme = std::pow(10, static_cast<double>(random.from(8, 12)));
        const auto of = [&](OffloadTarget target, OffloadOverlap overlap) {
            c.plan.optimizer_offload_target = target, c.plan.optimizer_offload_overlap = overlap;
            return small_seconds(c);
        };
        for (const OffloadTarget target : {OffloadTarget::host, OffloadTarget::nvme}) {
            CHECK(of(target, OffloadOverlap::overlapped) <= of(target, OffloadOverlap::none));
            CHECK(of(target, OffloadOverlap::interleaved) <= of(target, OffloadOverlap::overlapped));
        }
        for (const OffloadOverlap overlap : {OffloadOverlap::none, OffloadOverlap::overlapped, OffloadOverlap::interleaved})
            if (!row_of(c.plan.framework).casts_on_host || overlap != OffloadOverlap::none)  // what goes to drives is cast on the GPU
                CHECK(of(OffloadTarget::host, overlap) <= of(OffloadTarget::nvme, overlap));
    }
}

TEST_CASE("with nothing offloaded, none of the fields changes an answer") {
    const Json job = {{"model", "llama-3.1-8b"}, {"gpus", 16}};
    Json before = offload::answer_to(job);
    Json after = offload::answer_to(offload::changed(job, {{"optimizer_offload_overlap", "interleaved"},
                                                           {"optimizer_offload_target", "nvme"},
                                                           {"nvme_gbyte_per_s", 100},
                                                           {"host_memory_gib", 1}}));
    CHECK(before["host"].is_null());
    for (Json* answer : {&before, &after}) answer->erase("job");
    CHECK(before == after);
}

TEST_CASE("host memory: what a node holds, and the verdict") {
    // 8.03e9 parameters over 8 GPUs of one node, 16 bytes each
    const Json job = {{"model", "llama-3.1-8b"},     {"gpus", 8},        {"tensor_parallel", 1},   {"pipeline_parallel", 1},
                      {"context_parallel", 1},       {"micro_batch", 1}, {"optimizer_offload", 1}, {"zero", "optimizer"},
                      {"framework", "megatron-2025"}};
    const Json unknown = offload::answer_to(job)["host"];
    const double need = 8'030'261'248.0 * 16;
    CHECK(unknown["bytes_per_node"].get<double>() == Approx(need).epsilon(0.001));  // the vocabulary is padded
    CHECK(unknown["class"].is_null());
    CHECK(unknown["verdict"]["id"] == "host.not_known");
    const auto of = [&](double gib) { return offload::answer_to(offload::changed(job, {{"host_memory_gib", gib}})); };
    CHECK(of(512)["host"]["class"] == "fits");
    CHECK(of(200)["host"]["class"] == "at_risk");  // 120 GiB, but 1.8 times that are 215
    const Json little = of(100);
    CHECK(little["host"]["class"] == "does_not_fit");
    CHECK(little["class"] == "does_not_fit");  // a run that its host cannot hold does not start
    CHECK(of(512)["class"] == "fits");
    CHECK(warns_of(little, "host_memory"));
    CHECK_FALSE(warns_of(of(200), "host_memory"));
    // on drives: 1e9 parameters of each GPU pass through host memory
    const Json drives = offload::answer_to(offload::changed(job, {{"optimizer_offload_target", "nvme"}}))["host"];
    CHECK(drives["nvme_bytes_per_node"].get<double>() == Approx(need).epsilon(0.001));
    CHECK(drives["bytes_per_gpu"].get<double>() == Approx(16e9).epsilon(0.001));
}

TEST_CASE("the link to a host on the same board") {
    const Json job = {{"model", "llama-3.1-8b"}, {"gpus", 4}, {"tensor_parallel", 1}, {"pipeline_parallel", 1}, {"optimizer_offload", 1}};
    // 2 + 4 bytes of 2.0e9 parameters: at 0.8 * 450 GB/s 0.033 s, at 0.8 * 64 GB/s 0.235 s
    const double fast = offload::host_seconds_of(offload::answer_to(offload::changed(job, {{"gpu", "gh200-96gb"}}))),
                 slow = offload::host_seconds_of(offload::answer_to(offload::changed(job, {{"gpu", "h100-sxm-80gb"}})));
    CHECK(slow - fast == near(8.03e9 / 4 * 6 / 0.8 * (1 / 64e9 - 1 / 450e9), 0.01));
    const Json own = {{"name", "Mine"}, {"base", "gh200-96gb"}, {"pcie_gbyte_per_s", 64}};
    CHECK(offload::host_seconds_of(offload::answer_to(offload::changed(job, {{"gpu", own}}))) == near(slow, 1e-3));
}

TEST_CASE("the part of a step on the host has a band of its own") {
    // H100, bf16: 0.88 to 1.10; on the host 0.76 to 2.7. With a share s of the step on the host: 0.88 - 0.12 s and 1.10 + 1.60 s
    const auto ends = [](double offloaded) {
        const Json answer = offload::answer_to({{"model", "llama-3.1-8b"}, {"gpus", 8}, {"optimizer_offload", offloaded}});
        const double step = offload::step_seconds_of(answer), s = offload::host_seconds_of(answer) / step;
        CHECK(answer["time"]["low_seconds"].get<double>() / step == near(0.88 - 0.12 * s));
        CHECK(answer["time"]["high_seconds"].get<double>() / step == near(1.10 + 1.60 * s));
        return s;
    };
    CHECK(ends(0) == 0);
    const double little = ends(0.1), much = ends(1);
    CHECK(little > 0);
    CHECK(much > little);
}
