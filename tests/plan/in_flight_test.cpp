// The formulas of what is alive: that the page shows how a count comes about, and that the formula gives what was counted.
#include "plan/in_flight.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "memory/small_cases.h"
#include "random_cases.h"

using namespace fourfold;
using tests::dense;

namespace {

std::string text(const Json& tokens) {
    std::string line;
    for (const Json& token : tokens)
        line += token.is_string()           ? token.get<std::string>()
                : token.is_object()         ? token["symbol"].get<std::string>()
                : token.is_number_integer() ? token.dump()
                                            : std::to_string(static_cast<int>(token.get<double>()));
    return line;
}

// "K = n_l·A; A = min(p − i, m)": the computed symbols.
std::string definitions(const Traced& number) {
    std::string all;
    for (const Json& entry : number.where())
        if (!entry["formula"].is_null())
            all += (all.empty() ? "" : "; ") + entry["symbol"].get<std::string>() + " = " + text(entry["formula"]);
    return all;
}

using Counted = Traced (Alive<Traced>::*)() const;
constexpr Counted kLayers = &Alive<Traced>::layers, kDense = &Alive<Traced>::dense_layers, kExperts = &Alive<Traced>::expert_layers,
                  kCheckpoints = &Alive<Traced>::checkpoints, kWaiting = &Alive<Traced>::waiting, kFirstChunk = &Alive<Traced>::first_chunk;

// At the fullest moment.
Traced traced(const tests::Case& c, Counted counted) {
    REQUIRE(is_legal(c.model, c.plan));
    const Stage moment =
        fullest_moment(c.model, c.plan, framework_of(c.model, c.plan, *catalog().gpu(c.gpu)), Stages(c.model, c.plan), c.stage);
    return (Alive<Traced>(c.model, c.plan, moment).*counted)();
}

// Twelve layers over two stages, twelve micro-batches.
tests::Case deep() {
    tests::Case c = dense();
    c.model.layers = 12;
    c.plan.global_batch = 72;
    return c;
}

}  // namespace

TEST_CASE("alive: layers times micro-batches in flight, by schedule") {
    tests::Case c = deep();
    CHECK(definitions(traced(c, kLayers)) == "K = n_l·A; A = min(p − i, m)");
    CHECK(traced(c, kLayers).value() == 6 * 2);
    CHECK(definitions(traced(c, kCheckpoints)) == "Q = n_r·A; A = min(p − i, m)");
    c.stage = 1;
    CHECK(traced(c, kLayers).value() == 6);
    c.stage = 0;
    c.plan.schedule = ScheduleKind::gpipe;
    CHECK(definitions(traced(c, kLayers)) == "K = n_l·A; A = m");
    CHECK(traced(c, kLayers).value() == 6 * 12);
    c.plan.schedule = ScheduleKind::one_f_one_b;
    c.plan.virtual_stages = 2;
    CHECK(definitions(traced(c, kLayers)) == "K = n_l·A; A = min(2·(p − i − 1) + (V − 1)·g_m + 1, m·V)");
    CHECK(traced(c, kLayers).value() == 3 * 5);  // 2 * 1 + 1 * 2 + 1 chunks of three layers
    c.plan.virtual_stages = 1;
    c.plan.schedule = ScheduleKind::zero_bubble_h1;
    CHECK(definitions(traced(c, kLayers)) == "K = n_l·A; A = min(p − i, m)");
    CHECK(definitions(traced(c, kWaiting)) == "W = n_h·A_w");  // counted along the operations
    c.plan.schedule = ScheduleKind::zero_bubble_v;
    c.plan.virtual_stages = 2;
    CHECK(definitions(traced(c, kLayers)) == "K = n_l·A");  // A too: no closed form
    CHECK(traced(c, kLayers).value() == 3 * 4);
    c.plan.virtual_stages = 1;
    c.plan.schedule = ScheduleKind::one_f_one_b;
    c.plan.recompute = Recompute::full;
    c.plan.recompute_layers = 4;
    CHECK(definitions(traced(c, kCheckpoints)) == "Q = ⌈n_r/r⌉·A; A = min(p − i, m)");
    CHECK(traced(c, kCheckpoints).value() == 2 * 2);
}

// ZB-H1 on 130 stages, of which only the two extreme moments are kept. The first stage does 130 forwards; then each backward pass is
// followed by its W, since 130 are held. The last one does a backward pass after each forward and puts off all W until 130 are held: at
// most 129 wait while one is alive, and 130 when the last of these is done.
TEST_CASE("alive by hand: pipelines of more than 128 stages") {
    const auto moments = [](std::int32_t stage) {
        std::string all;
        for (const InFlight& one : fullest_moments(ScheduleKind::zero_bubble_h1, 130, 1, 260, stage))
            all += std::to_string(one.until_backward[0]) + "+" + std::to_string(one.until_weight[0]) + " ";
        return all;
    };
    CHECK(moments(0) == "130+0 129+1 ");
    CHECK(moments(129) == "1+129 0+130 ");
}

TEST_CASE("alive: the chunk of the embedding is in the first stage alone") {
    tests::Case c = deep();
    CHECK(definitions(traced(c, kFirstChunk)) == "A = min(p − i, m)");
    CHECK(traced(c, kFirstChunk).value() == 2);
    c.stage = 1;
    CHECK(traced(c, kFirstChunk).value() == 0);
}

TEST_CASE("alive: chunks that differ are summed up") {
    tests::Case c = deep();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24};
    c.model.expert_layers = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
    c.plan.virtual_stages = 2;
    c.stage = 1;  // the last chunk alone has experts
    const Traced experts = traced(c, kExperts);
    CHECK(definitions(traced(c, kLayers)).starts_with("K = n_l·A"));
    CHECK(definitions(experts) == "K_e = 3·" + std::to_string(static_cast<int>(experts.value() / 3)));
    CHECK(traced(c, kDense).value() + experts.value() == traced(c, kLayers).value());
}

TEST_CASE("alive: at every fullest moment a formula gives what was counted") {
    tests::Random random(77);
    std::map<ScheduleKind, int> seen;
    for (int i = 0; i < (tests::kSlowBuild ? 100 : 1'000); ++i) {
        const Model model = tests::random_model(random);
        const Plan plan = tests::random_legal_plan(random, model);
        const Stages stages(model, plan);
        ++seen[plan.schedule_kind()];
        const auto stage = static_cast<std::int32_t>(random.from(0, plan.pipeline_parallel - 1));
        for (const Stage& moment : stages.moments(stage)) {
            const Alive<double> counted(model, plan, moment);
            const Alive<Traced> formulas(model, plan, moment);
            const auto agree = [](double count, const Traced& formula) {
                return formula.value() == count && (count == 0 || !formula.where()[0]["formula"].is_null());
            };
            CHECK(agree(counted.layers(), formulas.layers()));
            CHECK(agree(counted.dense_layers(), formulas.dense_layers()));
            CHECK(agree(counted.checkpoints(), formulas.checkpoints()));
            CHECK(agree(counted.expert_layers(), formulas.expert_layers()));
            CHECK(agree(counted.waiting(), formulas.waiting()));
            CHECK(agree(counted.waiting_dense_layers(), formulas.waiting_dense_layers()));
            CHECK(agree(counted.waiting_expert_layers(), formulas.waiting_expert_layers()));
            CHECK(formulas.first_chunk().value() == counted.first_chunk());
        }
    }
    CHECK(seen.size() == kScheduleKinds);
}
