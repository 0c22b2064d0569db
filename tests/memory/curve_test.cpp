// A stage's memory from operation to operation of its schedule, worked by hand on the small model.
#include "memory/curve.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "memory/small_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

std::optional<Curve> curve_of(const Case& c) {
    const Plan read = as_requested(c.plan);
    return memory_curve(c.model, read, framework_of(c.model, read, *catalog().gpu(c.gpu)), c.stage);
}
void check_all(const std::vector<double>& numbers, const std::vector<double>& expected) {
    REQUIRE(numbers.size() == expected.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(numbers[i] == near(expected[i]));
}
void with_layout(Case& c, const char* notation) {
    Problems problems;
    set_notation(c.plan, notation, problems);
    REQUIRE(problems.empty());
}

// Three layers keep 36,480 bytes of a micro-batch each (activation_offload_test.cpp); a backward pass works with 22,560, the head with
// 4 * 30 * 48 + 6 * 7,680. At all times there are weights and states, 12 bytes where two copies share them, workspaces of 96 MiB, and two
// tensors of 2 * 30 * 48 on their way between stages.
constexpr double kOfStage = 3 * 36'480, kBackwardWorks = 22'560, kHeadWorks = 51'840;
constexpr double kAlways = 12 * kFirst + 96 * kMebi + 5'760;

}  // namespace

TEST_CASE("curve by hand: an update over lists of tensors belongs to neither pass") {
    Case c = dense();
    c.plan.sequence_length = 2;  // activations of 6 tokens, beside 4 bytes a weight that an update needs
    const std::optional<Curve> without = curve_of(c);
    c.plan.optimizer_foreach = true;
    CHECK(c(Item::update) > 0);
    const std::optional<Curve> with = curve_of(c);
    REQUIRE((with && without));
    check_all(with->bytes, without->bytes);
    check_all(with->after, without->after);
}

TEST_CASE("curve by hand: 1F1B of four micro-batches on two stages") {
    Case c = dense();
    // first stage: F0 F1 B0 F2 B1 F3 B2 B3; a backward pass takes two forward passes, and waits for the other stage's
    std::optional<Curve> curve = curve_of(c);
    REQUIRE(curve);
    CHECK(curve->micro_batches == 4);
    check_all(curve->start, {0, 1, 4, 6, 7, 9, 10, 13});
    check_all(curve->end, {1, 2, 6, 7, 9, 10, 12, 15});
    const auto held = [](double micro_batches, bool backward) {
        return kAlways + micro_batches * kOfStage + (backward ? kBackwardWorks : 0);
    };
    check_all(curve->bytes,
              {held(1, false), held(2, false), held(2, true), held(2, false), held(2, true), held(2, false), held(2, true), held(1, true)});
    check_all(curve->after, {held(1, false), held(2, false), held(1, false), held(2, false), held(1, false), held(2, false), held(1, false),
                             held(0, false)});
    c.plan.trained = TrainedPart::lora;  // no gradients of weights: a backward pass is as long as a forward pass
    curve = curve_of(c);
    REQUIRE(curve);
    check_all(curve->start, {0, 1, 3, 4, 5, 6, 7, 9});
    check_all(curve->end, {1, 2, 4, 5, 6, 7, 8, 10});
    c = dense();
    c.stage = 1;  // F0 B0 F1 B1 ...: with the head in either pass, and its input in a buffer of 2 * 60 * 48
    curve = curve_of(c);
    REQUIRE(curve);
    const double last = 12 * kLast + 96 * kMebi + 5'760 + 5'760;
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(curve->bytes[i] == near(last + kOfStage + kHeadWorks));
        CHECK(curve->after[i] == near(last + (i % 2 == 0 ? kOfStage : 0)));
    }
}

TEST_CASE("curve: chunks that take turns in groups larger than the stages reach the stage's most, drawn whole or cut") {
    for (const std::int64_t micro_batches : {5, 11, 20})  // groups of 3, 3 and 4: the fewest that leave no group smaller than two stages
        for (const std::int64_t group : {kAuto, std::int64_t{4}}) {
            Case c = dense();
            c.plan.framework = FrameworkKind::megatron_2025;
            c.plan.virtual_stages = 3;
            c.plan.global_batch = micro_batches * c.plan.micro_batch * c.plan.data_parallel();
            c.plan.virtual_stage_group = group;
            if (micro_batches == 5 && group == 4) continue;  // leaves a group of one
            for (c.stage = 0; c.stage < 2; ++c.stage) {
                const std::optional<Curve> curve = curve_of(c);
                REQUIRE(curve);
                CHECK(*std::max_element(curve->bytes.begin(), curve->bytes.end()) == near(c.memory().peak_bytes));
            }
        }
}

TEST_CASE("curve by hand: passes are as long as their layers, but never nothing") {
    Case c = dense();
    with_layout(c, "Ett|ttttL");  // two and four of an average of three
    std::optional<Curve> curve = curve_of(c);
    REQUIRE(curve);
    CHECK(curve->end[0] == near(2 / 3.0));
    CHECK(curve->start[2] == near(2 / 3.0 + 4 / 3.0 + 8 / 3.0));
    with_layout(c, "E|t*6L");  // a twentieth in the place of no layer
    curve = curve_of(c);
    REQUIRE(curve);
    CHECK(curve->end[0] == near(0.05));
    CHECK(curve->start[2] == near(0.05 + 2 + 4));
    CHECK(curve->end[2] == near(0.05 + 2 + 4 + 0.1));
    c = dense();
    c.plan.schedule = ScheduleKind::zero_bubble_h1;  // B and W are as long as F
    curve = curve_of(c);
    REQUIRE(curve);
    for (std::size_t i = 0; i < curve->ops.size(); ++i) CHECK(curve->end[i] - curve->start[i] == near(1));
}

TEST_CASE("curve by hand: how many micro-batches of a long step are shown") {
    Case c = dense();
    const auto shown = [&] { return curve_of(c).value_or(Curve{}).micro_batches; };
    c.plan.global_batch = 6 * 40;
    CHECK(shown() == 6);  // two for each of two stages, and two more
    c.plan.pipeline_parallel = 3, c.plan.gpus = 12;
    CHECK(shown() == 8);
    c.plan.pipeline_parallel = 2, c.plan.gpus = 8;
    c.plan.sequence_length = 512, c.plan.token_slices = 2;
    CHECK(shown() == 10);  // half as many whole ones, and two more, of two slices each
    c = dense();
    c.plan.pipeline_parallel = 1, c.plan.gpus = 4, c.plan.global_batch = 6 * 3;
    CHECK(shown() == 3);
    c.plan.global_batch = 6 * 40;
    CHECK(shown() == 4);
    c = dense();
    c.model.layers = 256, c.plan.pipeline_parallel = 256, c.plan.gpus = 512, c.plan.global_batch = 3;
    CHECK(shown() == 1);
    c.model.layers = 257, c.plan.pipeline_parallel = 257, c.plan.gpus = 514;
    CHECK_FALSE(curve_of(c).has_value());
}

TEST_CASE("curve by hand: GPipe of 1,000 micro-batches, of which those in the middle are not drawn") {
    Case c = dense();
    c.plan.schedule = ScheduleKind::gpipe, c.plan.global_batch = 6 * 1'000;
    const std::optional<Curve> curve = curve_of(c);
    REQUIRE(curve);
    CHECK(curve->micro_batches == 512);
    REQUIRE(curve->ops.size() == 1'024);
    const auto held = [](double micro_batches) { return kAlways + micro_batches * kOfStage; };
    // 488 are left out behind the first 256
    CHECK(curve->ops[255].micro_batch == 255);
    CHECK(curve->ops[256].micro_batch == 744);
    CHECK(curve->ops[511].micro_batch == 999);
    CHECK(curve->bytes[255] == near(held(256)));
    CHECK(curve->bytes[256] == near(held(745)));
    CHECK(curve->bytes[511] == near(held(1'000)));
    // backward passes in the same order
    CHECK(curve->ops[512].micro_batch == 0);
    CHECK(curve->bytes[512] == near(held(1'000) + kBackwardWorks));
    CHECK(curve->bytes[767] == near(held(745) + kBackwardWorks));
    CHECK(curve->ops[768].micro_batch == 744);
    CHECK(curve->bytes[768] == near(held(256) + kBackwardWorks));
    CHECK(curve->after[1'023] == near(held(0)));
}

TEST_CASE("curve by hand: of slices, whole micro-batches are left out") {
    Case c = dense();
    c.plan.schedule = ScheduleKind::gpipe, c.plan.sequence_length = 512, c.plan.token_slices = 2, c.plan.global_batch = 6 * 1'000;
    const std::optional<Curve> curve = curve_of(c);
    REQUIRE(curve);
    CHECK(curve->micro_batches == 516);  // 258 whole ones of 2,000 slices; 1,484 slices are left out behind the first 258
    CHECK(curve->ops[257].micro_batch == 257);
    CHECK(curve->ops[258].micro_batch == 258 + 1'484);
    CHECK(curve->ops[515].micro_batch == 1'999);
}

TEST_CASE("calibrated memory by hand: a factor and a constant, spread over all bytes; and never less than a tenth") {
    Plan plan;
    plan.memory_factor = 1.2, plan.memory_extra = 2;
    CHECK(memory_calibration(plan, 8 * kGibi) == near(1.45));
    plan.memory_extra = -2;
    CHECK(memory_calibration(plan, 8 * kGibi) == near(0.95));
    CHECK(memory_calibration(plan, kGibi) == 0.1);
    Case c = dense();
    const StageMemory<double> before = c.memory();
    c.plan.memory_factor = 1.5;
    const StageMemory<double> after = c.memory();
    CHECK(after.peak_bytes == near(1.5 * before.peak_bytes));
    CHECK(after.static_bytes == near(1.5 * before.static_bytes));
    CHECK(after.at_backward == near(1.5 * before.at_backward));
    CHECK(c(Item::weights) == near(1.5 * 2 * kFirst));
}
