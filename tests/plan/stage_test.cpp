#include "plan/stage.h"

#include <doctest/doctest.h>

using namespace fourfold;

namespace {

Model model_of(std::int64_t layers) {
    Model m;
    m.layers = layers;
    return m;
}

Plan plan_of(std::int64_t stages, std::int64_t chunks, std::int64_t micro_batches) {
    Plan p;
    p.tensor_parallel = p.context_parallel = p.micro_batch = 1;
    p.pipeline_parallel = stages;
    p.virtual_stages = chunks;
    p.gpus = stages;
    p.global_batch = micro_batches;
    return p;
}

}  // namespace

TEST_CASE("layers per chunk: even, uneven ends, embedding and loss as layers") {
    const auto text = [](const Model& m, const Plan& p) {
        const auto l = layers_per_chunk(m, p);
        return l ? std::to_string(l->first) + " " + std::to_string(l->middle) + " " + std::to_string(l->last) : std::string("none");
    };
    Plan p = plan_of(4, 2, 8);
    CHECK(text(model_of(32), p) == "4 4 4");
    CHECK(text(model_of(30), p) == "none");
    p.first_stage_layers = 6;
    CHECK(text(model_of(30), p) == "3 4 4");
    CHECK(text(model_of(31), p) == "none");
    p.last_stage_layers = 4;
    CHECK(text(model_of(18), p) == "3 2 2");
    p.first_stage_layers = 6;  // two chunks cannot share five layers
    CHECK(text(model_of(17), p) == "none");
    p = plan_of(2, 1, 8);
    p.first_stage_layers = 3;
    p.last_stage_layers = 5;
    CHECK(text(model_of(8), p) == "3 0 5");
    CHECK(text(model_of(9), p) == "none");
    p = plan_of(1, 1, 8);
    p.first_stage_layers = 8;
    CHECK(text(model_of(8), p) == "8 8 8");  // which is the last one, too
    p.first_stage_layers = 0, p.last_stage_layers = 8;
    CHECK(text(model_of(8), p) == "8 8 8");
    CHECK(text(model_of(9), p) == "none");
    for (const Split split : {Split::equal, Split::front, Split::weights}) {  // the ends count before a split
        p.split = split;
        CHECK(holds_layers(model_of(8), p));
        CHECK(!holds_layers(model_of(9), p));
    }
    const Model whole = model_of(8);
    CHECK(Stages(whole, p).layers_of(0, 0) == 8);
    p = plan_of(16, 1, 32);  // Llama 3 405B: 126 layers, embedding and loss, over 16 stages (arXiv 2407.21783, section 3.3.2)
    CHECK(text(model_of(126), p) == "none");
    p.count_embedding_as_layer = p.count_loss_as_layer = true;
    CHECK(text(model_of(126), p) == "8 8 8");
    const Model m = model_of(126);
    const Stages stages(m, p);
    CHECK(stages.layers_of(0, 0) == 7);
    CHECK(stages.layers_of(1, 0) == 8);
    CHECK(stages.layers_of(15, 0) == 7);
}

TEST_CASE("1F1B: the first stage keeps as many micro-batches as there are stages, the last keeps one") {
    const Model m = model_of(32);
    const Plan p = plan_of(4, 1, 16);
    const Stages stages(m, p);
    for (std::int32_t i = 0; i < 4; ++i) {
        const Stage stage = stages.moments(i)[0];
        CHECK(stage.layers() == 8);
        CHECK(stage.dense.alive == 8 * (4 - i));
        CHECK(stage.has_embedding == (i == 0));
        CHECK(stage.has_head == (i == 3));
    }
}

TEST_CASE("GPipe keeps every micro-batch; a pipeline of one stage never more than one") {
    const Model m = model_of(32);
    Plan p = plan_of(4, 1, 16);
    p.schedule = ScheduleKind::gpipe;
    CHECK(Stages(m, p).moments(3)[0].dense.alive == 8 * 16);
    p = plan_of(1, 1, 16);
    p.schedule = ScheduleKind::gpipe;
    CHECK(Stages(m, p).moments(0)[0].dense.alive == 32);
}

TEST_CASE("the V schedule puts embedding and head on one GPU") {
    const Model m = model_of(32);
    Plan p = plan_of(4, 2, 16);
    p.schedule = ScheduleKind::zero_bubble_v;
    const Stages stages(m, p);
    CHECK(stages.moments(0)[0].has_embedding);
    CHECK(stages.moments(0)[0].has_head);
    CHECK_FALSE(stages.moments(3)[0].has_head);
    CHECK(stages.position(3, 0) == 3);
    CHECK(stages.position(3, 1) == 4);
    CHECK(stages.position(0, 1) == 7);
}

TEST_CASE("DualPipe: every stage holds its own piece and that of its mirror image, split alike; DualPipeV one copy of the model") {
    const Model m = model_of(32);
    Plan p = plan_of(4, 1, 16);
    p.schedule = ScheduleKind::dualpipe;
    p.first_stage_layers = 5;
    const Stages stages(m, p);
    CHECK(stages.pieces() == 4);
    double layers = 0;
    for (std::int32_t i = 0; i < 4; ++i) {
        CHECK(stages.position(i, 0) == i);
        CHECK(stages.position(i, 1) == 3 - i);
        CHECK(stages.layers_of(i, 1) == stages.layers_of(3 - i, 0));
        const Stage rest = stages.at_rest(i);
        layers += rest.layers();
        CHECK(rest.has_embedding == (i == 0 || i == 3));
        CHECK(rest.has_head == (i == 0 || i == 3));
    }
    CHECK(stages.layers_of(3, 1) == 5);
    CHECK(layers == 2 * 32);
    p = plan_of(4, 2, 16);
    p.schedule = ScheduleKind::dualpipe_v;
    layers = 0;
    for (std::int32_t i = 0; i < 4; ++i) layers += Stages(m, p).at_rest(i).layers();
    CHECK(layers == 32);
    CHECK(Stages(m, p).position(0, 1) == 7);
}

TEST_CASE("recomputation: units, blocks, and what is alive at once") {
    const Model m = model_of(32);
    Plan p = plan_of(4, 1, 16);
    p.recompute = Recompute::full;
    p.recompute_layers = 3;
    Stage stage = Stages(m, p).moments(1)[0];
    CHECK(stage.dense.alive == 0);
    CHECK(stage.checkpoints == 3 * 3);  // 8 layers in units of 3, 3 and 2; three micro-batches
    CHECK(stage.unit == 3);
    p.recompute = Recompute::block;
    stage = Stages(m, p).moments(1)[0];
    CHECK(stage.dense.alive == 5 * 3);
    CHECK(stage.checkpoints == 3 * 3);
    CHECK(stage.unit == 0);
    p.recompute_layers = 9;
    stage = Stages(m, p).moments(1)[0];
    CHECK(stage.dense.alive == 0);
    CHECK(stage.checkpoints == 8 * 3);
    CHECK(stage.unit == 1);
}

TEST_CASE("layers with experts are counted where they lie") {
    Model m = model_of(8);
    m.experts.count = 4;
    m.expert_layers = {0, 0, 0, 1, 1, 1, 1, 1};
    const Plan p = plan_of(2, 2, 4);
    const Stages stages(m, p);
    const Stage first = stages.moments(0)[0], second = stages.moments(1)[0];  // layers 0, 1, 4, 5 and 2, 3, 6, 7
    CHECK(first.dense.held == 2);
    CHECK(first.experts.held == 2);
    CHECK(second.dense.held == 1);
    CHECK(second.experts.held == 3);
    CHECK(second.last_is_expert);
}
