// Activations that wait in host memory, heads that are swapped (Ulysses), feed-forward parts and loss in tiles: by hand, and laws.
#include <doctest/doctest.h>

#include "memory/kept.h"
#include "memory/small_cases.h"
#include "random_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// What a layer keeps: two norms 4*30*48 + 8*30 and their outputs 4*30*48, QKV 2*60*10*10/2, attention's output 2*60*6*10/2 and its sums
// 4*60*6/2, both gates and their product 2*60*80*3/2.
constexpr double kKept = 6'000 + 5'760 + 6'000 + 3'600 + 720 + 14'400;
constexpr double kCheckpoint = 2.0 * 30 * 48;

double activations(const StageMemory<double>& all) {
    double sum = 0;
    for (std::size_t i = 0; i < all.items.size(); ++i)
        if (text(all.items.item(i)).group == Group::activations || all.items.item(i) == Item::offload_buffers) sum += all.items.bytes(i);
    return sum;
}

}  // namespace

TEST_CASE("by hand: what a micro-batch keeps where units of two layers are computed again") {
    const KeptBytes kept{.dense = 5, .expert = 7, .checkpoint = 12};
    Stage s;
    s.dense.held = s.dense.recomputed = 3, s.experts.held = 2, s.experts.recomputed = 1;
    Plan p;
    p.recompute = Recompute::full, p.recompute_layers = 2;
    CHECK(kept.of_micro_batch(s, p) == 7 + 4 / 2 * 12);
    p.recompute = Recompute::block;  // there it says how many layers, each a unit of its own
    CHECK(kept.of_micro_batch(s, p) == 7 + 4 * 12);
}

TEST_CASE("by hand: activations on the host") {
    Case c = dense();  // stage 0: three layers, two micro-batches alive
    const double before = activations(c.memory());
    CHECK(before == 6 * kKept);
    c.plan.activation_offload = 0.5;
    CHECK(c(Item::qkv_activations) == 0.5 * 6 * 6'000);
    CHECK(c(Item::offload_buffers) == 2 * kKept);  // a layer at work, and one on its way
    CHECK(c.memory().host_bytes == 0.5 * 6 * kKept);
    CHECK(c.memory().pcie_bytes == 2 * 0.5 * 3 * kKept * 4);  // out and back, three layers, four micro-batches
    CHECK(activations(c.memory()) == before - 3 * kKept + 2 * kKept);
    c.plan.activation_offload = 0.25;
    CHECK(c(Item::offload_buffers) == 0.25 * 6 * kKept);  // no more than what leaves
    CHECK(activations(c.memory()) == before);
    c.plan.activation_offload = 1;
    CHECK(c(Item::qkv_activations) == -1);
    CHECK(activations(c.memory()) == 2 * kKept);
}

TEST_CASE("by hand: checkpoints on the host") {
    Case c = dense();
    c.plan.recompute = Recompute::full, c.plan.activation_offload = 1;
    CHECK(c(Item::checkpoints) == -1);
    CHECK(c(Item::offload_buffers) == 2 * kCheckpoint);
    CHECK(c.memory().host_bytes == 6 * kCheckpoint);
    c.plan.recompute = Recompute::block;  // the other two layers keep everything
    CHECK(c.memory().host_bytes == 2 * kCheckpoint + 4 * kKept);
}

TEST_CASE("by hand: beside an optimizer on the host") {
    Case c = dense();
    c.plan.optimizer_offload = 0.25;
    const double optimizer = c.memory().host_bytes;
    c.plan.activation_offload = 0.5;
    CHECK(c.memory().host_bytes == optimizer + 3 * kKept);
}

TEST_CASE("by hand: whole sequences of fewer heads") {
    Case c = dense();
    c.model.heads = 8;
    c.plan.tensor_parallel = 1, c.plan.context_parallel = 4;  // 60 / 4 = 15 tokens
    c.plan.sequence_length = 40;                              // 30 of them, so that a ring can share them
    CHECK(c(Item::qkv_activations) == 6 * 2 * 30.0 * (8 + 2 * 2) * 10);
    c.plan.context_parallel_kind = ContextKind::all_to_all;  // each of four GPUs needs a KV head
    CHECK(c(Item::qkv_activations) == 6 * 2 * 30.0 * (8 + 2 * 4) * 10);
    c.model.kv_heads = 4;
    CHECK(c(Item::qkv_activations) == 6 * 2 * 30.0 * (8 + 2 * 4) * 10);
}

TEST_CASE("by hand: feed-forward parts in tiles") {
    Case c = dense();
    const double whole = c(Item::first_backward);
    c.plan.feed_forward_tiles = 4;
    CHECK(c(Item::feed_forward_activations) == -1);  // each tile is computed again
    CHECK(c(Item::norm_outputs) == 6 * 4 * 30.0 * 48);
    CHECK(c(Item::first_backward) < whole + 14'400);
    CHECK(kept_bytes(c.model, c.plan, framework_of(c.model, as_requested(c.plan), *catalog().gpu(c.gpu))).dense == kKept - 14'400);
}

TEST_CASE("law: more on the host never asks for more of the GPU, and nothing on the host changes nothing") {
    Random random(61);
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    int less = 0;
    for (int i = 0; i < (kSlowBuild ? 100 : 2'000); ++i) {
        const Model model = random_model(random);
        Plan plan = random_legal_plan(random, model);
        const Framework framework = framework_of(model, plan, gpu);
        double before = INFINITY, on_host = -1, none = 0;
        for (const double part : {0.0, 0.125, 0.5, 0.75, 1.0}) {
            plan.activation_offload = part;
            const Stages stages(model, plan);
            const StageMemory<double> all = detailed<double>(model, plan, framework, fullest_moment(model, plan, framework, stages, 0));
            double sum = 0;
            for (std::size_t k = 0; k < all.items.size(); ++k) sum += all.items.bytes(k);
            CHECK(sum <= before * (1 + 1e-12));
            const double there = detailed<double>(model, plan, framework, fullest_on_host(model, plan, framework, stages, 0)).host_bytes;
            CHECK(there >= all.host_bytes);
            CHECK(there >= on_host * (1 - 1e-12));
            if (part == 0) none = sum;
            if (part == 1) less += sum < none;
            before = sum, on_host = there;
        }
    }
    CHECK(less > (kSlowBuild ? 20 : 400));
}
