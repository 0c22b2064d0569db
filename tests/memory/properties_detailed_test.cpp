// Laws of the detailed estimator that hold for every model and plan, tried on thousands of random ones.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "base/formula_reader.h"
#include "memory/curve.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "random_cases.h"
#include "search/search.h"

using namespace fourfold;
using tests::nearly;
using tests::Random;

namespace {

constexpr int kCases = 3'000;

struct Case {
    Model model;
    Plan plan;
    Gpu gpu;
    Framework framework() const { return framework_of(model, plan, gpu); }
};

// Every third model has experts in some layers, every sixth latent attention.
Model random_any_model(Random& random) {
    Model m = tests::random_model(random);
    if (random.from(0, 2) != 0) return m;
    m.experts.count = random.one_of<std::int64_t>({4, 8, 60, 64});
    m.experts.per_token = random.from(1, 4);
    m.experts.ffn = 64 * random.from(1, 30);
    m.experts.shared_ffn = random.coin() ? 0 : 768;
    m.experts.shared_gate = random.coin();
    m.expert_layers = tests::random_experts(random, m.layers, m.layers);
    if (random.coin()) m.multi_token_layers = 1;
    if (random.coin()) {
        m.latent = {random.coin() ? 0 : 512, 256, 128, 64, 128};
        m.kv_heads = m.heads;
        m.head_dim = 192;
    }
    return m;
}

Case random_case(Random& random) {
    Case c{random_any_model(random), {}, {}};
    c.plan = tests::random_legal_plan(random, c.model);
    c.gpu.architecture = random.one_of({Architecture::ampere, Architecture::hopper, Architecture::blackwell});
    c.gpu.memory_bytes = 80e9;
    return c;
}

template <class Check>
void for_each_case(std::uint64_t seed, int cases, Check&& check) {
    Random random(seed);
    for (int i = 0; i < cases; ++i) {
        const Case c = random_case(random);
        CHECK(is_legal(c.model, c.plan));
        Json plan = Json::object();
        visit_fields(c.plan, FieldWriter(plan));
        CAPTURE(plan.dump());
        CAPTURE(c.model.layers);
        CAPTURE(c.model.experts.count);
        check(c, random);
    }
}

StageMemory<double> stage_memory(const Case& c, std::int32_t stage) {
    const Framework framework = c.framework();
    const Stages stages(c.model, c.plan);
    return detailed<double>(c.model, c.plan, framework, fullest_moment(c.model, c.plan, framework, stages, stage));
}

double group_bytes(const Items<double>& items, Group group) {
    double sum = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (text(items.item(i)).group == group) sum += items.bytes(i);
    return sum;
}
double item_bytes(const Items<double>& items, Item item) {
    for (std::size_t i = 0; i < items.size(); ++i)
        if (items.item(i) == item) return items.bytes(i);
    return 0;
}

double heaviest_weights(const Case& c) {
    double most = 0;
    for (std::int32_t i = 0; i < c.plan.pipeline_parallel; ++i)
        most = std::max(most, group_bytes(stage_memory(c, i).items, Group::weights));
    return most;
}
double peak(const Case& c) { return fullest_stage(c.model, c.plan, c.framework()).bytes; }

bool at_most(double smaller, double larger) { return smaller <= larger * (1 + 1e-12); }

}  // namespace

TEST_CASE("detailed: items sum to the peak, each kind once, none negative, infinite or not a number") {
    for_each_case(101, kCases, [](const Case& c, Random& random) {
        const auto stage = static_cast<std::int32_t>(random.from(0, c.plan.pipeline_parallel - 1));
        const StageMemory<double> memory = stage_memory(c, stage);
        std::set<Item> seen;
        double sum = 0;
        bool leaves = false;  // activations do
        for (std::size_t i = 0; i < memory.items.size(); ++i) {
            leaves = leaves || memory.items.item(i) == Item::offload_buffers;
            CHECK(std::isfinite(memory.items.bytes(i)));
            CAPTURE(text(memory.items.item(i)).id);
            CHECK(memory.items.bytes(i) > 0);
            CHECK(seen.insert(memory.items.item(i)).second);
            CHECK(text(memory.items.item(i)).group != Group::outside);
            sum += memory.items.bytes(i);
        }
        CHECK(memory.peak_bytes == sum);
        CHECK(at_most(memory.static_bytes, memory.peak_bytes));
        CHECK(memory.static_bytes > 0);
        CHECK((memory.host_bytes > 0) == (c.plan.optimizer_offload > 0 || leaves));
        if (c.plan.activation_offload == 0) CHECK((memory.pcie_bytes > 0) == (c.plan.optimizer_offload > 0));
    });
}

TEST_CASE("detailed: traced and plain are the same, bit for bit, and every printed formula has its value") {
    int i = 0;
    for_each_case(102, 1'000, [&](const Case& usual, Random& random) {
        Case c = usual;
        if (i % 7 == 0) c.plan.framework = FrameworkKind::transformers;
        const Framework framework = c.framework();
        const Stages stages(c.model, c.plan);
        const auto which = static_cast<std::int32_t>(random.from(0, c.plan.pipeline_parallel - 1));
        const Stage stage = fullest_moment(c.model, c.plan, framework, stages, which);
        const StageMemory<double> plain = detailed<double>(c.model, c.plan, framework, stage);
        const StageMemory<Traced> traced = detailed<Traced>(c.model, c.plan, framework, stage);
        CHECK(plain.peak_bytes == traced.peak_bytes);
        CHECK(plain.static_bytes == traced.static_bytes);
        CHECK(plain.host_bytes == traced.host_bytes.value());
        CHECK(plain.nvme_bytes == traced.nvme_bytes.value());
        CHECK(plain.items.size() == traced.items.size());
        for (std::size_t k = 0; k < std::min(plain.items.size(), traced.items.size()); ++k) {
            CHECK(plain.items.item(k) == traced.items.item(k));
            CHECK(plain.items.bytes(k) == traced.items.bytes(k).value());
            if (i++ % 5 != 0) continue;  // printing takes a thousand times as long
            const Traced& b = traced.items.bytes(k);
            CHECK(tests::formula_defect(b.value(), b.symbols(), b.numbers(), b.where()) == "");
        }
    });
}

TEST_CASE("detailed: more TP, PP or ZeRO never raises the heaviest rank's weights") {
    for_each_case(103, kCases / 2, [](const Case& c, Random&) {
        const double weights = heaviest_weights(c);
        for (const auto degree : {&Plan::tensor_parallel, &Plan::pipeline_parallel}) {
            Case more = c;
            more.plan.*degree *= 2;
            more.plan.gpus *= 2;
            if (degree == &Plan::pipeline_parallel) more.plan.global_batch *= 2;
            // a tied embedding that further-token layers need again comes back with the second stage
            if (degree == &Plan::pipeline_parallel && c.model.tied && c.model.multi_token_layers > 0) continue;
            if (is_legal(more.model, more.plan)) CHECK(at_most(heaviest_weights(more), weights));
        }
        Case sharing = c;
        double before = INFINITY;
        for (const Zero zero : {Zero::none, Zero::optimizer, Zero::gradients, Zero::weights}) {
            sharing.plan.zero = zero;
            const StageMemory<double> memory = stage_memory(sharing, 0);
            const double states = group_bytes(memory.items, Group::weights) + group_bytes(memory.items, Group::gradients) +
                                  group_bytes(memory.items, Group::optimizer);
            // late gradients need room of their own where FSDP of the second version has no whole weights to free
            const bool late = fully_shards(sharing.plan) && !sharing.plan.adds_up();
            if (zero != Zero::weights || !late) CHECK(at_most(states, before));
            before = states;
        }
    });
}

TEST_CASE(
    "detailed: the stages' parameters sum to the model's, twice with two directions, plus a second vocabulary where a tied one is needed "
    "twice") {
    for_each_case(104, kCases / 3, [](const Case& original, Random&) {
        Case c = original;
        c.model.vocabulary = padded_vocabulary(c.model, 1);
        c.plan.zero = Zero::none;
        c.plan.precision = Precision::bf16;
        c.plan.gpus = c.plan.gpus / c.plan.tensor_grid();
        c.plan.tensor_parallel = c.plan.tensor_columns = c.plan.expert_parallel = c.plan.expert_tensor_parallel = 1;
        if (!is_legal(c.model, c.plan)) return;
        c.model.multi_token_layers = 0;  // parameter_count leaves out what predicts further tokens
        double sum = 0;
        int with_embedding = 0, with_head = 0, with_both = 0;
        const Stages stages(c.model, c.plan);
        for (std::int32_t i = 0; i < c.plan.pipeline_parallel; ++i) {
            const Stage stage = stages.moments(i)[0];
            with_embedding += stage.has_embedding ? 1 : 0;
            with_head += stage.has_head ? 1 : 0;
            with_both += stage.has_embedding && stage.has_head ? 1 : 0;
            sum += item_bytes(stage_memory(c, i).items, Item::weights) / 2;
        }
        CHECK(with_embedding == c.plan.weight_copies());
        CHECK(with_head == c.plan.weight_copies());
        const double vocabulary = static_cast<double>(c.model.vocabulary) * static_cast<double>(c.model.hidden);
        const auto copies = static_cast<double>(c.plan.weight_copies());
        CHECK(nearly(sum, copies * static_cast<double>(parameter_count(c.model)) + (c.model.tied && with_both == 0 ? vocabulary : 0)));
    });
}

TEST_CASE("detailed: micro-batches in flight are those of the closed forms, layers those of the rule") {
    for_each_case(105, kCases, [](const Case& c, Random&) {
        if (row_of(c.plan.schedule).splits_backward || c.plan.token_slices > 1) return;  // slices: tests/plan/token_slices_test.cpp
        if (c.plan.recompute == Recompute::full || c.plan.recompute == Recompute::block) return;
        const auto stages = static_cast<std::int32_t>(c.plan.pipeline_parallel), chunks = static_cast<std::int32_t>(c.plan.virtual_stages);
        const auto m = static_cast<std::int32_t>(c.plan.micro_batches());
        const double per_chunk = static_cast<double>(c.model.layers) / (stages * chunks);
        double layers = 0;
        for (std::int32_t i = 0; i < stages; ++i) {
            const Stage stage = Stages(c.model, c.plan).moments(i)[0];
            layers += stage.layers();
            double expected = 0;
            std::vector<std::int32_t> in_flight(static_cast<std::size_t>(chunks));
            row_of(c.plan.running_schedule()).in_flight({stages, chunks, m, 0}, i, in_flight);
            for (const std::int32_t alive : in_flight) expected += alive * per_chunk;
            CHECK(nearly(stage.dense.alive + stage.experts.alive, expected));
        }
        CHECK(layers == static_cast<double>(c.model.layers));
    });
}

// Where a stage holds a single layer of a single micro-batch nothing is left to save, and recomputing it as a whole can need a little more
// than recomputing its parts one after the other; and in schedules that split the backward pass inputs and gradients wait for W either way.
TEST_CASE("detailed: recomputing every layer needs at most what recomputing attention needs, and that at most what keeping all needs") {
    int compared = 0, of_operations = 0;
    for_each_case(106, kCases, [&](const Case& original, Random&) {
        Case c = original;
        if (row_of(c.plan.schedule).splits_backward) return;
        c.plan.recompute_layers = 1;
        const auto with = [&](Recompute recompute, std::uint32_t modules, std::int32_t stage) {
            c.plan.recompute = recompute;
            c.plan.recompute_modules = modules;
            return stage_memory(c, stage).peak_bytes;
        };
        for (std::int32_t i = 0; i < c.plan.pipeline_parallel; ++i) {
            const double none = with(Recompute::none, 0, i);
            const Stage stage = Stages(c.model, c.plan).moments(i)[0];
            CHECK(at_most(with(Recompute::selective, original.plan.recompute_modules, i), none));
            if (stage.dense.alive + stage.experts.alive < 2) continue;
            ++compared;
            const double full = with(Recompute::full, 0, i), attention = with(Recompute::selective, RecomputeModule::core_attn, i),
                         block = with(Recompute::block, 0, i);
            CHECK(at_most(full, attention));
            // what the second matrix of the feed-forward part returns is kept whole: more than attention's scores, beside many GPUs
            if (may_recompute_operations(c.model, c.plan) && c.model.experts.count == 0) {
                CHECK(at_most(full, with(Recompute::operations, 0, i)));
                ++of_operations;
            }
            CHECK(at_most(attention, none));
            CHECK(at_most(full, block));
            CHECK(at_most(block, none));
        }
    });
    CHECK(of_operations > 50);
    CHECK(compared > kCases);
}

TEST_CASE("detailed: what can only save, saves; what can only cost, costs" * doctest::test_suite("quality")) {
    for_each_case(107, kCases, [](const Case& c, Random&) {
        const double now = peak(c);
        const auto changed = [&](auto&& edit) {
            Case other = c;
            edit(other.plan);
            return peak(other);
        };
        // 16-bit gradients save, unless their fp32 copies between steps are not shared out
        if (c.plan.zero == Zero::optimizer && c.plan.data_parallel() * c.plan.context_parallel / c.plan.shard_replicas >= 2 &&
            c.model.experts.count == 0)
            CHECK(
                at_most(changed([](Plan& p) { p.gradients_in_fp32 = false; }), changed([](Plan& p) { p.gradients_in_fp32 = true; }) + 4e6));
        CHECK(at_most(changed([](Plan& p) { p.moments = Moments::bits8; }), changed([](Plan& p) { p.moments = Moments::bits16; })));
        CHECK(at_most(changed([](Plan& p) { p.moments = Moments::bits16; }), changed([](Plan& p) { p.moments = Moments::fp32; })));
        CHECK(at_most(changed([](Plan& p) { p.optimizer_offload = 1; }), changed([](Plan& p) { p.optimizer_offload = 0.5; })));
        CHECK(at_most(changed([](Plan& p) { p.optimizer_offload = 0.5; }), changed([](Plan& p) { p.optimizer_offload = 0; })));
        if (!c.plan.recomputes(layernorm))  // norms of single operations stand apart and can be recomputed, where joined ones cannot
            CHECK(at_most(changed([](Plan& p) { p.fused_norms = true; }), changed([](Plan& p) { p.fused_norms = false; })));
        CHECK(at_most(changed([](Plan& p) { p.expert_imbalance = 1; }), changed([](Plan& p) { p.expert_imbalance = 2; })));
        CHECK(at_most(now, changed([](Plan& p) { p.sequence_length *= 2; })));
        CHECK(at_most(now, changed([](Plan& p) { p.micro_batch *= 2, p.global_batch *= 2; })));
        if (c.plan.expert_parallel == 1)  // with more GPUs a rounded block may grow by 2 MiB
            CHECK(changed([](Plan& p) { p.gpus *= 2, p.global_batch *= 2; }) <= now + 8 * 1024 * 1024);
    });
}

TEST_CASE("detailed: looking at three stages finds the fullest of all where the stages are alike" * doctest::test_suite("quality")) {
    for_each_case(108, kCases, [](const Case& c, Random&) {
        double most = 0;
        for (std::int32_t i = 0; i < c.plan.pipeline_parallel; ++i) most = std::max(most, stage_memory(c, i).peak_bytes);
        const Fullest fullest = fullest_stage(c.model, c.plan, c.framework());
        CHECK(fullest.bytes == most);
        CHECK(stage_memory(c, fullest.stage).peak_bytes == most);
    });
}

TEST_CASE("detailed: a schedule that splits the backward pass is as full with many micro-batches as with three per stage") {
    Random random(109);
    for (int i = 0; i < 300; ++i) {
        const auto stages = static_cast<std::int32_t>(random.from(2, 12));
        const ScheduleKind kind =
            random.one_of({ScheduleKind::zero_bubble_h1, ScheduleKind::zero_bubble_v, ScheduleKind::dualpipe, ScheduleKind::dualpipe_v});
        if (stages % row_of(kind).stages_by != 0) continue;
        const std::int32_t chunks = row_of(kind).chunks * row_of(kind).copies;
        const auto stage = static_cast<std::int32_t>(random.from(0, stages - 1));
        const std::int32_t many = (3 * stages + 4 + static_cast<std::int32_t>(random.from(0, 40))) / 2 * 2;
        const Schedule schedule = make_schedule(kind, stages, chunks, many);
        const std::vector<InFlight> moments = fullest_moments(kind, stages, chunks, many, stage);
        count_in_flight(schedule, stage, [&](std::size_t, const InFlight& now) {
            const bool covered = std::any_of(moments.begin(), moments.end(), [&](const InFlight& moment) {
                for (std::size_t c = 0; c < static_cast<std::size_t>(chunks); ++c)
                    if (now.until_backward[c] > moment.until_backward[c] || now.until_weight[c] > moment.until_weight[c]) return false;
                return true;
            });
            CHECK(covered);
        });
    }
}

TEST_CASE("detailed: the memory curve of a stage, cut short or not, reaches exactly the most that the stage holds") {
    for_each_case(117, tests::kSlowBuild ? 300 : 3'000, [](const Case& drawn, Random& random) {
        Case c = drawn;
        c.plan.global_batch *= random.one_of<std::int64_t>({1, 1, 10, 200});  // beyond what is drawn
        const auto stage = static_cast<std::int32_t>(random.from(0, c.plan.pipeline_parallel - 1));
        const auto curve = memory_curve(c.model, c.plan, c.framework(), stage);
        REQUIRE(curve.has_value());
        CAPTURE(c.plan.micro_batches());
        CAPTURE(stage);
        const double most = *std::max_element(curve->bytes.begin(), curve->bytes.end()), expected = stage_memory(c, stage).peak_bytes;
        CHECK(at_most(most, expected));
        CHECK(at_most(expected, most));
        for (const Op& op : curve->ops) CHECK(op.micro_batch < c.plan.micro_batches() * c.plan.token_slices);
    });
}
