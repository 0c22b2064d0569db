// The pipeline of a step as it is played: against the closed forms that the step time uses, and as an answer.
#include "answer/timeline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

#include "api.h"
#include "contract.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "random_cases.h"
#include "time/step_time.h"

using namespace fourfold;
using tests::json;

namespace {

// A random run of the time model, with what a timeline is made of.
struct Case {
    Model model;
    Plan plan;
    Machine machine;
    Timing timing{};
    LayerTimes layers;
    StepTime<Traced> step;

    Case(const Model& m, const Plan& p, const char* gpu_id, const Cluster* cluster, bool bare_ends = false) : model(m), plan(p) {
        const Gpu& gpu = *catalog().gpu(gpu_id);
        const Framework framework = framework_of(model, plan, gpu);
        machine = machine_of(gpu, cluster, plan);
        timing = timing_of(machine, cluster, plan, framework.attention);
        layers = layer_times(model, plan, framework, machine, timing);
        LayerTimesOf<Traced> traced = layer_times<Traced>(model, plan, framework, machine, timing);
        if (bare_ends) {
            layers.head = layers.embedding = 0;
            traced.head = traced.embedding = 0.0;
        }
        step = step_time<Traced>(model, plan, framework, machine, timing, traced);
    }
    double item(TimeItem i) const { return step.items[static_cast<std::size_t>(i)].value(); }
    double slowest() const { return *std::max_element(step.stage_seconds.begin(), step.stage_seconds.end()); }
    // Of step_time: what the micro-batches take together, without transfers.
    double makespan() const { return item(TimeItem::bubble) + static_cast<double>(plan.units()) * slowest(); }
    OpTimes times() const { return op_times(model, plan, machine, timing, layers, Stages(model, plan)); }
    double played(bool with_transfers) const {
        OpTimes t = times();
        if (!with_transfers) t.without_sends();
        const auto p = play(make_schedule(plan.schedule_kind(), static_cast<std::int32_t>(plan.pipeline_parallel),
                                          static_cast<std::int32_t>(plan.pieces_per_stage()),
                                          static_cast<std::int32_t>(plan.micro_batches() * plan.token_slices), 0,
                                          static_cast<std::int32_t>(plan.token_slices)),
                            t);
        return p ? p->makespan : NAN;
    }
};

template <class Visit>
void each_case(std::uint64_t seed, int count, bool bare_ends, Visit&& visit) {
    tests::Random random(seed);
    const Cluster* cluster = catalog().cluster("dgx-h100");
    for (int i = 0; i < count; ++i) {
        const Model model = tests::random_model(random);
        const Plan plan = tests::random_legal_plan(random, model);
        const Case one(model, plan, "h100-sxm-80gb", random.coin() ? cluster : nullptr, bare_ends);
        CAPTURE(plan.pipeline_parallel);
        CAPTURE(plan.virtual_stages);
        CAPTURE(plan.micro_batches());
        CAPTURE(std::string(row_of(plan.schedule_kind()).id));
        visit(one);
    }
}

OpTimes even_times(std::int32_t stages, std::int32_t chunks, double forward, double backward, double weight, double transfer) {
    const auto pieces = static_cast<std::size_t>(stages * chunks);
    return {
        std::vector<double>(pieces, forward), std::vector<double>(pieces, backward), std::vector<double>(pieces, weight), transfer, {}, {}};
}

Json timeline(const std::string& request) {
    const std::string text = api::timeline(request);
    CHECK(tests::answer_defect(text, "timeline") == "");
    return json(text);
}

constexpr const char* kFourStages =
    R"({"model": "llama-3.1-70b", "gpus": 64, "tensor_parallel": 8, "pipeline_parallel": 4, "context_parallel": 1, "micro_batch": 1)";

}  // namespace

TEST_CASE("timeline: the passes of a stage take what the step time counts for it") {
    int several = 0;
    const auto check = [&](const Case& one) {
        const OpTimes times = one.times();
        const auto chunks = static_cast<std::size_t>(one.plan.pieces_per_stage());
        CHECK(times.transfer >= 0);
        CHECK(one.step.stage_seconds.size() == static_cast<std::size_t>(one.plan.pipeline_parallel));
        for (std::size_t stage = 0; stage < one.step.stage_seconds.size(); ++stage) {
            double sum = 0;
            for (std::size_t piece = stage * chunks; piece < (stage + 1) * chunks; ++piece) {
                for (const double seconds : {times.forward[piece], times.backward[piece], times.weight[piece]}) {
                    CHECK(std::isfinite(seconds));
                    CHECK(seconds >= 0);
                    sum += seconds;
                }
            }
            CHECK(sum == doctest::Approx(one.step.stage_seconds[stage]).epsilon(1e-12));
        }
        several += one.plan.pipeline_parallel > 1 ? 1 : 0;
    };
    each_case(5, tests::kSlowBuild ? 200 : 1'000, false, check);
    CHECK(several > (tests::kSlowBuild ? 100 : 300));
    // experts, block recomputation, uneven ends
    Plan plan;
    plan.gpus = 256;
    plan.gpus_per_node = 8;
    plan.tensor_parallel = 2;
    plan.context_parallel = 1;
    plan.pipeline_parallel = 8;
    plan.micro_batch = 1;
    plan.expert_parallel = 8;
    plan.recompute = Recompute::block;
    plan.recompute_layers = 3;
    for (const char* id : {"deepseek-v3", "mixtral-8x7b", "llama-3.1-70b"}) {
        const Model& model = catalog().model(id)->model;
        if (model.experts.count == 0) plan.expert_parallel = 1;
        for (const ScheduleKind schedule : {ScheduleKind::one_f_one_b, ScheduleKind::zero_bubble_h1}) {
            plan.schedule = schedule;
            plan.first_stage_layers = model.layers % 8 == 0 ? 0 : model.layers - 7 * (model.layers / 8);
            CAPTURE(std::string(id));
            CHECK(is_legal(model, plan));
            if (is_legal(model, plan)) check(Case(model, plan, "h100-sxm-80gb", nullptr));
        }
    }
}

TEST_CASE("timeline: alike stages without transfers take exactly the closed form of the step time") {
    int compared = 0;
    each_case(6, tests::kSlowBuild ? 300 : 1'500, true, [&](const Case& one) {
        if (one.plan.pipeline_parallel == 1 || one.times().weight[0] > 0) return;
        if (one.plan.token_slices > 1 && one.plan.schedule != ScheduleKind::gpipe) return;  // 1F1B pairs slices that differ
        CHECK(one.played(false) == doctest::Approx(one.makespan()).epsilon(1e-9));
        ++compared;
    });
    CHECK(compared > (tests::kSlowBuild ? 100 : 300));
}

TEST_CASE("timeline: alike stages, over many p, V, m: (m V + p - 1) (F + B), drawn whole or cut" * doctest::test_suite("quality")) {
    int compared = 0, cut = 0;
    for (const ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::interleaved})
        for (const std::int32_t p : {1, 2, 3, 4, 7, 16, 31, 64, 128})
            for (const std::int32_t v : {1, 2, 5})
                for (const std::int64_t m : {1, 2, 8, 21, 64, 130, 1'024, 1'000'000}) {
                    const std::int64_t batches = kind == ScheduleKind::interleaved ? m * p : m;
                    if (!schedule_exists(kind, p, v, batches)) continue;
                    const auto line = play_timeline(kind, p, v, batches, even_times(p, v, 1, 2, 0, 0));
                    CAPTURE(std::string(row_of(kind).id));
                    CAPTURE(p);
                    CAPTURE(v);
                    CAPTURE(batches);
                    CHECK(line.has_value() == (kind != ScheduleKind::interleaved || 2 * p * p * v <= kMostDrawn));
                    if (!line) continue;
                    ++compared;
                    cut += line->schedule.micro_batches < batches ? 1 : 0;
                    CHECK(line->makespan == static_cast<double>((batches * v + p - 1) * 3));
                    CHECK(line->bubble_share() == doctest::Approx((p - 1.0) / static_cast<double>(batches * v + p - 1)));
                    CHECK(line->equally_slow == p);
                    CHECK(line->slowest == 0);
                }
    CHECK(compared > 300);
    CHECK(cut > 100);
}

TEST_CASE("timeline: what is drawn is a step of its own, in order, and waits where nothing is drawn") {
    each_case(8, 400, false, [](const Case& one) {
        const Plan& p = one.plan;
        const ScheduleKind kind = p.pipeline_parallel == 1 ? ScheduleKind::one_f_one_b : p.schedule_kind();
        const auto stages = static_cast<std::int32_t>(p.pipeline_parallel), chunks = static_cast<std::int32_t>(p.pieces_per_stage());
        const auto line = play_timeline(kind, stages, chunks, p.micro_batches() * p.token_slices, one.times());
        CHECK(line.has_value());
        if (!line) return;
        std::size_t operations = 0;
        for (std::size_t stage = 0; stage < line->busy.size(); ++stage) {
            const auto& [start, end] = std::tie(line->played.start[stage], line->played.end[stage]);
            double gaps = start.front();
            for (std::size_t i = 0; i + 1 < start.size(); ++i) {
                CHECK(start[i + 1] >= end[i]);
                gaps += start[i + 1] - end[i];
            }
            gaps += line->played.makespan - end.back();
            CHECK(gaps + line->played.busy[stage] == doctest::Approx(line->played.makespan).epsilon(1e-9));
            CHECK(line->makespan >= line->busy[stage] * (1 - 1e-12));
            CHECK(line->busy[stage] <= line->busy[static_cast<std::size_t>(line->slowest)] * 1.002);
            operations += start.size();
        }
        CHECK(operations <= static_cast<std::size_t>(kMostDrawn));
        CHECK(line->bubble_share() >= 0);
        CHECK(line->bubble_share() < 1);
    });
}

TEST_CASE("timeline: a long step is continued as it would be played" * doctest::test_suite("quality")) {
    tests::Random random(9);
    double furthest = 0;
    for (int i = 0; i < 60; ++i) {
        const auto kind = static_cast<ScheduleKind>(i % kScheduleKinds);
        const auto p = static_cast<std::int32_t>(random.from(2, 12) / row_of(kind).stages_by * row_of(kind).stages_by);
        const std::int32_t v = kind == ScheduleKind::interleaved ? 3 : row_of(kind).chunks * row_of(kind).copies;
        OpTimes times = even_times(p, v, 0, 0, 0, 0.3 * static_cast<double>(random.from(0, 2)));
        for (auto* list : {&times.forward, &times.backward, &times.weight})
            for (double& seconds : *list) seconds = 1 + 0.001 * static_cast<double>(random.from(0, 300));
        std::int64_t m = 400'000 / (p * v * 2) / p * p;  // too long to be played whole
        const auto line = play_timeline(kind, p, v, m, times);
        const auto whole = play(make_schedule(kind, p, v, static_cast<std::int32_t>(m)), times);
        CHECK((line && whole));
        if (!line || !whole) continue;
        furthest = std::max(furthest, std::abs(line->makespan / whole->makespan - 1));
    }
    MESSAGE("furthest off: " << 100 * furthest << " %");
    CHECK(furthest < 1e-4);
}

TEST_CASE("timeline: how many micro-batches are drawn") {
    using enum ScheduleKind;
    CHECK(micro_batches_drawn(one_f_one_b, 4, 1, 128) == 16);
    CHECK(micro_batches_drawn(one_f_one_b, 4, 1, 5) == 5);
    CHECK(micro_batches_drawn(interleaved, 6, 2, 600) == 24);
    CHECK(micro_batches_drawn(interleaved, 3, 2, 600) == 18);
    CHECK(micro_batches_drawn(one_f_one_b, 64, 1, 1'000) == 156);  // 20,000 operations
    CHECK(micro_batches_drawn(interleaved, 64, 2, 1'024) == 64);   // the fewest that interleave
    CHECK(micro_batches_drawn(interleaved, 64, 4, 1'024) == 0);
    CHECK(micro_batches_drawn(zero_bubble_v, 40, 2, 1'000) == 83);
    CHECK(micro_batches_drawn(zero_bubble_v, 64, 2, 1'000) == 0);
    CHECK(micro_batches_drawn(dualpipe, 56, 2, 1'000) == 118);  // an even number
    CHECK(micro_batches_drawn(dualpipe, 58, 2, 1'000) == 0);
    CHECK(micro_batches_drawn(dualpipe_v, 4, 2, 9) == 9);
    CHECK(micro_batches_drawn(one_f_one_b, 129, 1, 1'000) == 0);
}

TEST_CASE("timeline of the API: the shape, the cut and the numbers of the whole step") {
    const Json answer = timeline(std::string(kFourStages) + "}");
    CHECK(answer["job"]["pipeline_parallel"] == 4);
    const Json& line = answer["timeline"];
    CHECK(line["cut"] == true);
    CHECK(line["micro_batches"] == 16);
    CHECK(line["all_micro_batches"] == 512);
    CHECK(tests::said(answer["basis"]) == "timeline.basis");
    CHECK(tests::said(answer["note"]) == R"(timeline.cut_repeats {"all":512,"drawn":16})");
    CHECK(line["stages"].size() == 4);
    CHECK(line["slowest_stage"] == 3);  // logits and loss
    CHECK(line["equally_slow"] == 1);
    CHECK(line["drawn_seconds"].get<double>() < line["makespan_seconds"].get<double>() / 25);
    double idle = 0;
    for (const Json& stage : line["stages"]) {
        CHECK(stage["busy_seconds"].get<double>() + stage["idle_seconds"].get<double>() ==
              doctest::Approx(line["makespan_seconds"].get<double>()).epsilon(1e-12));
        CHECK(stage["start"].size() == 32);
        for (const char* key : {"end", "kind", "micro_batch", "chunk"}) CHECK(stage[key].size() == 32);
        idle += stage["idle_share"].get<double>() / 4;
    }
    CHECK(line["bubble_share"].get<double>() == doctest::Approx(idle).epsilon(1e-12));

    const Json whole = timeline(std::string(kFourStages) + R"(, "global_batch": 32, "stage": 2})");
    CHECK(whole["note"].is_null());
    CHECK(whole["timeline"]["cut"] == false);
    CHECK(whole["timeline"]["drawn_seconds"] == whole["timeline"]["makespan_seconds"]);

    const Json alone = timeline(R"({"gpus": 8, "pipeline_parallel": 1})");
    CHECK(alone["timeline"]["stages"].size() == 1);
    CHECK(alone["timeline"]["bubble_share"].get<double>() < 1e-12);

    const Json split = timeline(std::string(kFourStages) + R"(, "schedule": "zb-v", "virtual_stages": 2})");
    CHECK(split["timeline"]["chunks"] == 2);
    CHECK(split["timeline"]["bubble_share"].get<double>() < line["bubble_share"].get<double>() + 0.01);
}

TEST_CASE("timeline of the API: a calibration's factor stretches it as it does the step") {
    const Json plain = timeline(std::string(kFourStages) + "}")["timeline"];
    for (const double factor : {0.2, 2.0, 5.0}) {
        const Json scaled = timeline(std::string(kFourStages) + ", \"time_factor\": " + std::to_string(factor) + "}")["timeline"];
        const auto stretched = [&](const Json& a, const Json& b) { return b.get<double>() == doctest::Approx(factor * a.get<double>()); };
        for (const char* key : {"makespan_seconds", "drawn_seconds"}) CHECK(stretched(plain[key], scaled[key]));
        for (std::size_t stage = 0; stage < 4; ++stage) {
            for (const char* key : {"busy_seconds", "idle_seconds"})
                CHECK(stretched(plain["stages"][stage][key], scaled["stages"][stage][key]));
            CHECK(stretched(plain["stages"][stage]["end"].back(), scaled["stages"][stage]["end"].back()));
        }
        CHECK(scaled["bubble_share"].get<double>() == doctest::Approx(plain["bubble_share"].get<double>()));
    }
}

TEST_CASE("timeline of the API: too long to draw, and mistakes") {
    const Json long_one = timeline(
        R"({"model": {"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 200, "num_attention_heads": 8,
            "intermediate_size": 4096, "vocab_size": 32000}, "gpus": 200, "pipeline_parallel": 200, "tensor_parallel": 1,
            "context_parallel": 1, "micro_batch": 1, "global_batch": 400})");
    CHECK(long_one["ok"] == true);
    CHECK(long_one["timeline"].is_null());
    CHECK(tests::said(long_one["note"]) == R"(timeline.too_long {"chunks":1,"stages":200})");
    CHECK(tests::brief(timeline("{\"gpus\": 0}")["problems"]) == "gpus range 0 -> 1");
    CHECK(timeline(R"({"gpus": 8, "tensor_parallel": 3})")["ok"] == false);
    CHECK(timeline("{")["ok"] == false);
}

TEST_CASE("timeline of the API: the documented shape for every legal request") {
    tests::Random random(10);
    for (int i = 0; i < 200; ++i) {
        const Model model = tests::random_model(random);
        Json request = Json::object();
        const Plan plan = tests::random_legal_plan(random, model);
        visit_fields(plan, FieldWriter(request));
        request["model"] = canonical_config(model);
        const Json answer = timeline(request.dump());
        CHECK(answer["ok"] == true);
        CHECK(answer["timeline"].is_object());
        CHECK(answer["note"].is_null() == (answer["timeline"]["cut"] == false));
    }
}
