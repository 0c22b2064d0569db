// Selective recomputation, module by module: what is computed again costs its forward pass, and what is computed again is not kept.
#include <doctest/doctest.h>

#include <cmath>

#include "memory/memory.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "plan/stage.h"
#include "random_cases.h"
#include "time/step_time.h"

using namespace fourfold;

namespace {

constexpr std::uint32_t kAllModules = 127;

Plan plan_with(std::uint32_t modules) {
    Plan p;
    p.gpus = p.gpus_per_node = 8;
    p.sequence_length = 8'192;
    p.global_batch = 64;
    p.tensor_parallel = p.context_parallel = p.pipeline_parallel = p.micro_batch = 1;
    p.recompute = Recompute::selective;
    p.recompute_modules = modules;
    return p;
}

// With layers of the framework's own, whose norms stand apart.
Plan without_engine(std::uint32_t modules) {
    Plan p = plan_with(modules);
    p.transformer_engine = Habit::off;
    return p;
}

LayerTimes times_of(const Model& model, const Plan& plan, double link_factor = 1) {
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    const Framework framework = framework_of(model, plan, gpu);
    Machine machine = machine_of(gpu, nullptr, plan);
    machine.link *= link_factor;
    return layer_times(model, plan, framework, machine, timing_of(machine, nullptr, plan, framework.attention));
}
double again(const Model& model, const Plan& plan, double link_factor = 1) { return times_of(model, plan, link_factor).dense.recomputed; }
const Model& model(const char* id) { return catalog().model(id)->model; }

double step_of(const Model& model, const Plan& plan, const Gpu& gpu) {
    const Framework framework = framework_of(model, plan, gpu);
    const Machine machine = machine_of(gpu, nullptr, plan);
    const Timing timing = timing_of(machine, nullptr, plan, framework.attention);
    return step_time<double>(model, plan, framework, machine, timing, layer_times(model, plan, framework, machine, timing)).seconds;
}

}  // namespace

TEST_CASE("recomputed modules: norms and feed-forward part of a Llama 3.1 70B by hand") {
    const Model& llama = model("llama-3.1-70b");  // h 8,192, f 28,672
    // two norms read and write h values of 2 bytes: 2·8,192·4·8,192 = 536,870,912 bytes, times 0.929 over 0.85·3.35e12 byte/s
    CHECK(again(llama, without_engine(layernorm)) == doctest::Approx(1.7516e-4).epsilon(1e-4));
    // Transformer Engine has joined them to the matrices behind them: nothing is there to recompute
    CHECK(again(llama, plan_with(layernorm)) == 0);
    // activation: 2·8,192·3·28,672 = 1,409,286,144 bytes: 4.5978e-4 s. Three matrices: 2·8,192·3·8,192·28,672 = 1.15448e13 FLOP at
    // 0.737·989.4e12 FLOP/s: 1.5832e-2 s, and a few per cent for filling tiles (138 steps of 8,192) and for the last wave
    const double matrices = again(llama, without_engine(mlp)) - 4.5978e-4;
    CHECK(matrices >= 1.5832e-2 * (1 + 138.0 / 28'672));
    CHECK(matrices <= 1.5832e-2 * 1.05);
    CHECK(again(llama, without_engine(layernorm | mlp)) ==
          doctest::Approx(again(llama, without_engine(layernorm)) + again(llama, without_engine(mlp))));
    CHECK(again(llama, plan_with(mlp)) == doctest::Approx(again(llama, without_engine(mlp)) + 1.7516e-4 / 2));  // takes its norm along
    // nothing of these is in a dense layer without latent attention
    CHECK(again(llama, plan_with(moe_act | moe | shared_experts | mla_up_proj)) == 0);
    CHECK(again(llama, plan_with(0)) == 0);
}

TEST_CASE("recomputed modules: the feed-forward part exchanges its input and output again") {
    Plan plan = plan_with(mlp);
    plan.tensor_parallel = 8;
    const Model& llama = model("llama-3.1-70b");
    // two exchanges of 2·8,192·8,192 = 134,217,728 bytes: 7/8 of them over 0.737·450e9 byte/s is 3.5411e-4 s each; with links of twice the
    // rate, half
    CHECK(again(llama, plan) - again(llama, plan, 2) == doctest::Approx(3.5411e-4).epsilon(1e-4));
    plan = without_engine(layernorm);
    plan.tensor_parallel = 8;  // on every GPU a part of the sequence
    CHECK(again(llama, plan) == doctest::Approx(1.7516e-4 / 8).epsilon(1e-4));
    plan.recompute_modules = layernorm | core_attn;
    CHECK(again(llama, plan) - again(llama, plan, 2) == 0);
}

TEST_CASE("recomputed modules: core attention on a ring sends keys and values round again") {
    Plan plan = plan_with(core_attn);
    plan.context_parallel = 4;
    const LayerTime t = times_of(model("llama-3.1-8b"), plan).dense;
    CHECK(t.context_forward > 0);
    CHECK(t.recomputed == doctest::Approx(t.attention_forward + t.context_forward));
}

TEST_CASE("recomputed modules: experts and latent attention") {
    Plan plan = plan_with(moe_act);
    plan.sequence_length = 4'096;
    plan.expert_parallel = 8;
    const Model& qwen = model("qwen3-30b-a3b");  // 8 of 128 experts of width 768
    // 2·4,096·3·8·768 = 150,994,944 bytes, times 0.929 over 0.85·3.35e12
    CHECK(times_of(qwen, plan).expert.recomputed == doctest::Approx(4.9262e-5).epsilon(1e-4));
    plan.recompute_modules = moe;
    const LayerTime whole = times_of(qwen, plan).expert;
    CHECK(whole.expert_forward > 0);
    CHECK(whole.recomputed > whole.expert_forward + 4.9262e-5);
    CHECK(whole.recomputed < whole.forward);
    plan.recompute_modules = moe | moe_act | shared_experts;  // parts of the whole are not counted twice
    CHECK(times_of(qwen, plan).expert.recomputed == whole.recomputed);

    const Model& deepseek = model("deepseek-v3");
    plan.recompute_modules = mla_up_proj;
    // 2·4,096·(1,536·128·192 + 512·128·256) = 4.46676e11 FLOP at 0.737·989.4e12 FLOP/s: 6.1257e-4 s, short inner dimensions cost up to a
    // quarter more; rotary positions and copies: 2·4,096·(2·256·192 + 2·384·192) = 2.01327e9 bytes: 6.5683e-4 s
    const double up = times_of(deepseek, plan).expert.recomputed - 6.5683e-4;
    CHECK(up >= 6.1257e-4);
    CHECK(up <= 6.1257e-4 * 1.25);
    plan.recompute_modules =
        shared_experts;  // one of width 2,048: 2·4,096·3·7,168·2,048 = 3.60777e11 FLOP: 4.9477e-4 s; and 50 million bytes
    const double shared = times_of(deepseek, plan).expert.recomputed;
    CHECK(shared >= 4.9477e-4);
    CHECK(shared <= 4.9477e-4 * 1.15);
}

TEST_CASE("recomputed modules: what is computed again is not kept") {
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    const auto kept = [&](const Model& m, const Plan& plan, Item which) {
        const StageMemory<double> memory = detailed<double>(m, plan, framework_of(m, plan, gpu), Stages(m, plan).fullest(0));
        double bytes = 0;
        for (std::size_t i = 0; i < memory.items.size(); ++i)
            if (memory.items.item(i) == which) bytes += memory.items.bytes(i);
        return bytes;
    };
    // one stage of 32 layers, one micro-batch: 8,192 tokens of 4,096 values, a feed-forward part 14,336 wide
    const Model& llama = model("llama-3.1-8b");
    const double norm = 32 * 2.0 * 8'192 * 4'096;  // one of two, 2 bytes a value
    CHECK(kept(llama, plan_with(0), Item::norm_outputs) == 2 * norm);
    CHECK(kept(llama, plan_with(layernorm), Item::norm_outputs) == 2 * norm);
    CHECK(kept(llama, plan_with(mlp), Item::norm_outputs) == norm);
    CHECK(kept(llama, without_engine(layernorm), Item::norm_outputs) == 0);
    CHECK(kept(llama, plan_with(0), Item::feed_forward_activations) == 32 * 6.0 * 8'192 * 14'336);
    CHECK(kept(llama, plan_with(mlp), Item::feed_forward_activations) == 0);
    // latent attention and experts have norms apart: DeepSeek-V2-Lite, one dense layer and 26 with experts
    const Model& lite = model("deepseek-v2-lite");
    struct Row {
        std::uint32_t modules;
        int dense, experts;
    };
    for (const Row& row : {Row{0, 0, 0}, Row{layernorm, 1, 2}, Row{mlp, 1, 0}, Row{layernorm | mlp, 2, 2}}) {
        CAPTURE(row.modules);
        const Plan plan = plan_with(row.modules);
        CHECK(norms_recomputed(lite, plan, framework_of(lite, plan, gpu), false) == row.dense);
        CHECK(norms_recomputed(lite, plan, framework_of(lite, plan, gpu), true) == row.experts);
        CHECK(kept(lite, plan, Item::norm_outputs) == ((2 - row.dense) + 26 * (2 - row.experts)) * 2.0 * 8'192 * 2'048);
    }
}

TEST_CASE("recomputed modules: more of them are never faster and never need more memory; all together cost at most what full does") {
    tests::Random random(47);
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    for (int i = 0; i < 1'200; ++i) {
        const Model& m =
            catalog().models[static_cast<std::size_t>(random.from(0, static_cast<std::int64_t>(catalog().models.size()) - 1))].model;
        Plan plan = tests::random_legal_plan(random, m);
        if (!is_legal(m, plan)) continue;
        plan.recompute = Recompute::selective;
        plan.activation_offload = 0;  // else less is transferred, and recomputing may be faster
        CAPTURE(m.id);
        const auto peak = [&] { return fullest_stage(m, plan, framework_of(m, plan, gpu)).bytes; };
        plan.recompute_modules = static_cast<std::uint32_t>(random.from(0, kAllModules));
        const std::uint32_t before = plan.recompute_modules;
        CAPTURE(before);
        const double seconds = step_of(m, plan, gpu), bytes = peak();
        plan.recompute_modules |= 1U << static_cast<std::uint32_t>(random.from(0, 6));
        Json written = Json::object();
        visit_fields(plan, FieldWriter(written));
        CAPTURE(written.dump());
        CHECK(step_of(m, plan, gpu) >= seconds * (1 - 1e-12));
        CHECK(peak() <= bytes * (1 + 1e-12));
        plan.recompute_modules = kAllModules;
        const double all = step_of(m, plan, gpu);
        plan.recompute = Recompute::full;
        if (row_of(plan.schedule_kind()).overlaps) continue;  // which hides the tokens' way to the experts, also when it is gone again
        CHECK(all <= step_of(m, plan, gpu) * (1 + 1e-12));
    }
}
