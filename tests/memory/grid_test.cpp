// Matrices split both ways (AxoNN's grid): what a GPU holds, by hand.
#include <doctest/doctest.h>

#include "memory/small_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// 16 GPUs: a grid of 2 x 2, 2 stages of 3 layers, 2 copies. A GPU has 24 of the 48 hidden values of every token.
Case in_a_grid() {
    Case c = dense();
    c.plan.gpus = 16, c.plan.gpus_per_node = 16, c.plan.tensor_columns = 2;
    return c;
}
Case undivided() {
    Case c = dense();
    c.plan.sequence_parallel = false;
    return c;
}

}  // namespace

TEST_CASE("grid, by hand: weights and their states are split both ways") {
    // QKV 24 * (6 + 4) * 10 / 2 = 1,200; projection 6 * 10 / 2 * 24 = 720; norms 2 * 24 = 48; three matrices 24 * 80 / 2 = 960 each: 4,848
    // a layer. Embedding 256 / 2 * 24 = 3,072.
    CHECK(in_a_grid()(Item::weights) == 2 * (3 * 4'848 + 3'072));
    CHECK(in_a_grid()(Item::gradients) == 4 * (3 * 4'848 + 3'072));
    CHECK(in_a_grid()(Item::weights) == undivided()(Item::weights) / 2);
    CHECK(in_a_grid()(Item::master_weights) == undivided()(Item::master_weights) / 2);
    CHECK(in_a_grid()(Item::moments) == undivided()(Item::moments) / 2);
}

TEST_CASE(
    "grid, by hand: the hidden state is split over the columns, attention and what is between two matrices over tensor parallel alone") {
    // 2 micro-batches of 3 layers are alive, 60 tokens each. Norms read and keep 4 * 60 * 24 bytes a layer, and 8 bytes of statistics a
    // token.
    CHECK(in_a_grid()(Item::norm_activations) == 6 * (4 * 60 * 24 + 8 * 60));
    CHECK(in_a_grid()(Item::norm_outputs) == 6 * (2 * 2 * 60 * 24));
    CHECK(in_a_grid()(Item::qkv_activations) == 6 * (2 * 60 * (6 + 2 * 2) * 10 / 2));
    for (const Item item : {Item::qkv_activations, Item::attention_output, Item::log_sum_exp, Item::feed_forward_activations})
        CHECK(in_a_grid()(item) == undivided()(item));
    CHECK(in_a_grid()(Item::pipeline_buffers) == undivided()(Item::pipeline_buffers) / 2);
}

TEST_CASE("grid: its third axis is what FSDP shares out, its corners are what they were") {
    // (1, 1, n): zero "weights" over n GPUs; (t, 1, 1): tensor parallel t. With z = 4 and a 2 x 2 grid a GPU keeps a sixteenth.
    Case c = in_a_grid();
    c.plan.pipeline_parallel = 1, c.plan.zero = Zero::weights, c.plan.gpus = 16;
    Case fsdp = c;
    fsdp.plan.tensor_parallel = fsdp.plan.tensor_columns = 1;
    fsdp.plan.global_batch = c.plan.global_batch = 48;
    fsdp.model.vocabulary = c.model.vocabulary = 256;
    // 13 norms of 48 parameters are split over the columns and FSDP, not over tensor parallel: an eighth of them.
    const double norms = 13 * 48;
    CHECK(c(Item::moments) - 8 * norms / 8 == near(fsdp(Item::moments) - 8 * norms / 16));
    CHECK(c(Item::weights) - 2 * norms / 8 == near(fsdp(Item::weights) - 2 * norms / 16));
    Case columns = c;  // four columns: norms, too
    columns.plan.tensor_parallel = 1, columns.plan.tensor_columns = 4;
    CHECK(columns(Item::weights) == near(fsdp(Item::weights)));
}

TEST_CASE("grid: for dense models whose weights all learn") {
    const auto broken = [](const Case& c) { return first_broken_rule(c.model, c.plan).message.id(); };
    Case c = in_a_grid();
    CHECK(is_legal(c.model, c.plan));
    c.plan.optimizer = Optimizer::muon;
    CHECK(broken(c) == "problem.grid_applies.muon");
    c = in_a_grid(), c.plan.trained = TrainedPart::lora;
    CHECK(broken(c) == "problem.grid_applies.lora");
    c = in_a_grid(), c.plan.tensor_columns = 5, c.plan.gpus = 40;
    CHECK(broken(c) == "problem.grid_applies.width");
    c = experts(), c.plan.tensor_columns = 2, c.plan.gpus = 16;
    CHECK(broken(c) == "problem.grid_applies.model");
}
