// fujii2024 against the numbers that its authors' own tool prints.
#include "memory/memory.h"

#include <doctest/doctest.h>

#include "model/catalog.h"
#include "near.h"

using namespace fourfold;

namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

Model llama(const char* id) {
    const CatalogModel* known = catalog().model(id);
    CHECK(known != nullptr);
    return known == nullptr ? Model{} : known->model;
}

Plan plan_of(std::int64_t t, std::int64_t c, std::int64_t p, std::int64_t b, std::int64_t D) {
    Plan plan;
    plan.tensor_parallel = t;
    plan.context_parallel = c;
    plan.pipeline_parallel = p;
    plan.micro_batch = b;
    plan.gpus = t * c * p * D;
    plan.gpus_per_node = 8;
    return plan;
}

double bytes(const Items<double>& items, Item wanted) {
    for (std::size_t i = 0; i < items.size(); ++i)
        if (items.item(i) == wanted) return items.bytes(i);
    return 0;
}

double bytes(const Items<double>& items, Group wanted) {
    double sum = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (text(items.item(i)).group == wanted) sum += items.bytes(i);
    return sum;
}

double state(const Items<double>& items) {
    return bytes(items, Group::weights) + bytes(items, Group::gradients) + bytes(items, Group::optimizer);
}

}  // namespace

TEST_CASE("fujii2024 gives the digits of its authors' tool: Llama 3.1 8B, 8,192 tokens, flash attention, distributed optimizer") {
    struct Row {
        std::int64_t t, c, p, b, D;
        double state_gib, activations_gib;
    };
    // printed by the estimator published beside arXiv 2411.06465
    for (const Row& row : {Row{2, 1, 1, 1, 2, 44.87260437011719, 22.64453125}, Row{1, 2, 1, 1, 2, 67.30887222290039, 22.64453125},
                           Row{2, 1, 2, 1, 32, 11.919273376464844, 20.75}, Row{2, 2, 1, 2, 32, 23.137436628341675, 22.64453125}}) {
        const Items<double> items = fujii2024<double>(llama("llama-3.1-8b"), plan_of(row.t, row.c, row.p, row.b, row.D));
        CHECK(state(items) / kGib == row.state_gib);
        CHECK(bytes(items, Group::activations) / kGib == row.activations_gib);
    }
}

TEST_CASE("the formula's parameter count is the published one, for Llama models whose vocabulary needs no padding") {
    for (const char* id : {"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "llama-2-7b", "mistral-7b"}) {
        const Model model = llama(id);
        const Items<double> items = fujii2024<double>(model, plan_of(1, 1, 1, 1, 1));
        CHECK(bytes(items, Item::weights) / 2 == static_cast<double>(parameter_count(model)));
    }
}

// Six layers: queries and the projection 48 * 60, keys and values a third of that, three matrices of 48 * 80 or two, two norms; the last
// norm, embedding and head.
TEST_CASE("the formula's parameter count by hand, with and without a gate") {
    Model m;
    m.layers = 6, m.hidden = 48, m.ffn = 80, m.heads = 6, m.kv_heads = 2, m.head_dim = 10, m.vocabulary = 250;
    const auto parameters = [&] { return bytes(fujii2024<double>(m, plan_of(1, 1, 1, 1, 1)), Item::weights) / 2; };
    const double others = 6 * (2 * 2'880 + 2 * 960 + 96) + 48 + 2 * 48 * 256;
    CHECK(parameters() == tests::near(others + 6 * 3 * 3'840));
    m.gated = false;
    CHECK(parameters() == tests::near(others + 6 * 2 * 3'840));
}

TEST_CASE("state bytes per parameter: 18 whole, 16 with 16-bit gradients, 6 + 12/(D*c) shared out") {
    const Model model = llama("llama-3.1-8b");
    Plan plan = plan_of(1, 2, 1, 1, 4);
    const double parameters = bytes(fujii2024<double>(model, plan), Item::weights) / 2;
    CHECK(state(fujii2024<double>(model, plan)) == tests::near(parameters * (6 + 12.0 / 8)));
    plan.zero = Zero::none;
    CHECK(state(fujii2024<double>(model, plan)) == parameters * 18);
    plan.gradients_in_fp32 = false;
    CHECK(state(fujii2024<double>(model, plan)) == parameters * 16);
}

TEST_CASE("attention that keeps its scores: 4, with attention dropout 5, bytes per score") {
    const Model model = llama("llama-2-7b");
    Plan plan = plan_of(2, 1, 1, 1, 1);
    plan.sequence_length = 2048;
    CHECK(bytes(fujii2024<double>(model, plan), Item::attention_scores) == 0);
    plan.attention = Attention::plain;
    plan.recompute = Recompute::selective;
    CHECK(bytes(fujii2024<double>(model, plan), Item::attention_scores) == 0);
    plan.recompute = Recompute::none;
    CHECK(bytes(fujii2024<double>(model, plan), Item::attention_scores) == 32.0 / 2 * 4 * 32 * 2048 * 2048);
    plan.attention_dropout = true;
    CHECK(bytes(fujii2024<double>(model, plan), Item::attention_scores) == 32.0 / 2 * 5 * 32 * 2048 * 2048);
}

TEST_CASE("dropout masks: 2*x*b*h per layer, and one at the embedding that is not divided") {
    const Model model = llama("llama-2-7b");
    Plan plan = plan_of(2, 1, 2, 1, 1);
    plan.hidden_dropout = true;
    const Items<double> items = fujii2024<double>(model, plan);
    CHECK(bytes(items, Item::dropout_masks) == 32.0 / 2 * 2 * 8192 * 4096);
    CHECK(bytes(items, Item::embedding_dropout_mask) == 8192.0 * 4096 * 2);
}

TEST_CASE("schedules: interleaving holds 1 + (p-1)/(p*V) times as much; fewer micro-batches than stages hold m/p") {
    const Model model = llama("llama-3.1-8b");
    Plan plan = plan_of(1, 1, 4, 1, 1);
    const double plain = bytes(fujii2024<double>(model, plan), Group::activations);
    plan.virtual_stages = 2;
    CHECK(bytes(fujii2024<double>(model, plan), Group::activations) == plain * (1 + 3.0 / 8));
    plan.virtual_stages = 1;
    plan.global_batch = 2;
    CHECK(bytes(fujii2024<double>(model, plan), Group::activations) == plain * 0.5);
    plan.global_batch = 4;
    CHECK(bytes(fujii2024<double>(model, plan), Group::activations) == plain);
    plan.token_slices = 2;  // 4 + 2 - 1 = 5 halves of a micro-batch
    CHECK(bytes(fujii2024<double>(model, plan), Group::activations) == tests::near(plain * 2.5 / 4));
    plan.global_batch = 2;  // there are no more
    CHECK(bytes(fujii2024<double>(model, plan), Group::activations) == tests::near(plain * 2 / 4));
}

TEST_CASE("the vocabulary is padded to a multiple of 128 * TP") {
    const Model model = llama("llama-3.1-8b");
    CHECK(padded_vocabulary(model, 2) == 128256);
    CHECK(padded_vocabulary(model, 4) == 128512);
}

TEST_CASE("an untied model on one stage holds embedding and head, a tied one the embedding alone") {
    Model model = llama("llama-3.1-8b");
    const Plan one_stage = plan_of(2, 1, 1, 1, 1), two_stages = plan_of(2, 1, 2, 1, 1);
    const double untied = bytes(fujii2024<double>(model, one_stage), Item::weights);
    const double split = bytes(fujii2024<double>(model, two_stages), Item::weights);
    model.tied = true;
    CHECK(untied - bytes(fujii2024<double>(model, one_stage), Item::weights) == 2 * (4096.0 * 128256 / 2 + 4096));
    CHECK(split == bytes(fujii2024<double>(model, two_stages), Item::weights));
}
