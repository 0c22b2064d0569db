// The formulas of a step's items, as printed: over random plans of random models and of those with experts.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/formula_reader.h"
#include "model/catalog.h"
#include "random_cases.h"
#include "support.h"
#include "time/small_machine.h"
#include "time/step_time.h"

using namespace fourfold;

namespace {

struct FormulaCase {
    Model model;
    Plan plan;
    Machine machine;
    Timing timing;
    Framework framework;
};

FormulaCase random_case(tests::Random& random, const Model& model) {
    FormulaCase c{model, tests::random_legal_plan(random, model), {}, {}, {}};
    c.plan.tensor_overlap = random.coin();
    c.plan.overlap_gradients = random.coin();
    c.plan.overlap_parameters = random.coin();
    c.plan.overlap_pipeline = random.coin();
    c.plan.site = random.one_of({SiteKind::measured, SiteKind::quiet, SiteKind::shared});
    c.plan.measured_intra = random.one_of({0.0, 300.0});
    c.plan.measured_inter = random.one_of({0.0, 50.0, 900.0});  // the second one: sends reach what the node has
    c.plan.measured_latency = random.one_of({0.0, 1e-5});
    const Gpu& gpu = *catalog().gpu(random.one_of<const char*>({"h100-sxm-80gb", "a100-sxm-40gb", "b200-sxm-180gb"}));
    const Cluster* cluster = catalog().cluster(random.one_of<const char*>({"dgx-h100", "abci-a", "tsubame4", ""}));
    c.framework = framework_of(c.model, c.plan, gpu);
    c.machine = machine_of(gpu, cluster, c.plan);
    c.timing = timing_of(c.machine, cluster, c.plan, c.framework.attention);
    return c;
}
template <class N>
StepTime<N> timed(const FormulaCase& c) {
    return step_time<N>(c.model, c.plan, c.framework, c.machine, c.timing,
                        layer_times<N>(c.model, c.plan, c.framework, c.machine, c.timing));
}

// Braces and \\left, \\right in pairs, no exponent upon an exponent.
std::string latex_defect(const std::string& text) {
    int braces = 0, brackets = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        braces += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
        if (text.compare(i, 5, "\\left") == 0) ++brackets;
        if (text.compare(i, 6, "\\right") == 0) --brackets;
        if (braces < 0 || brackets < 0) return text;
    }
    return braces == 0 && brackets == 0 && text.find("}^") == std::string::npos ? "" : text;
}

// What is wrong with the items of one plan; `seen` collects what meaning each letter had.
std::string defect(const FormulaCase& c, std::set<std::string>& items_seen) {
    const StepTime<double> plain = timed<double>(c);
    const StepTime<Traced> traced = timed<Traced>(c);
    if (plain.seconds != traced.seconds) return "the sums differ";
    for (std::size_t i = 0; i < plain.items.size(); ++i) {
        const std::string id(text(static_cast<TimeItem>(i)).id);
        const Traced& item = traced.items[i];
        if (item.value() != plain.items[i]) return id + ": " + std::to_string(item.value()) + " is not " + std::to_string(plain.items[i]);
        if (item.value() <= 0) continue;
        items_seen.insert(id);
        if (std::string found = tests::formula_defect(item.value(), item.symbols(), item.numbers(), item.where()); !found.empty())
            return id + ": " + found;
        if (std::string found = latex_defect(item.latex()) + latex_defect(item.latex_numbers()); !found.empty()) return id + ": " + found;
    }
    return "";
}

// What the formula of an item says of one of its symbols; null where it is not in it.
Json symbol_of(const tests::by_hand::Case& c, TimeItem which, const char* letter) {
    const StepTime<Traced> step = timed<Traced>({c.model, c.plan, c.hw, c.k, c.framework()});
    for (const Json& entry : step.items[static_cast<std::size_t>(which)].where())
        if (entry["symbol"] == letter) return entry;
    return {};
}

}  // namespace

TEST_CASE("time formulas: the traced value is the search's, bit for bit, and what is printed of it adds up") {
    tests::Random random(41);
    std::set<std::string> seen;
    for (int i = 0; i < (tests::kSlowBuild ? 100 : 500); ++i) {
        const FormulaCase c = random_case(random, tests::random_model(random));
        CHECK(defect(c, seen) == "");
    }
    for (int i = 0; i < (tests::kSlowBuild ? 20 : 100); ++i) {
        FormulaCase c = random_case(random, tests::random_model(random));
        c.plan.fully_shard = Habit::off, c.plan.sync_each_micro_batch = Habit::on, c.timing.host_partition = 3e-3;
        if (c.plan.tensor_columns == 1 && c.plan.zero == Zero::optimizer) c.plan.zero = Zero::weights;
        CHECK(defect(c, seen) == "");
    }
    for (const char* id : {"mixtral-8x7b", "mixtral-8x22b", "deepseek-v3", "deepseek-v2", "qwen3-235b-a22b", "llama-3.1-405b"}) {
        const auto entry =
            std::find_if(catalog().models.begin(), catalog().models.end(), [&](const auto& one) { return one.model.id == id; });
        if (entry == catalog().models.end()) continue;
        CAPTURE(std::string(id));
        for (int i = 0; i < (tests::kSlowBuild ? 20 : 100); ++i) CHECK(defect(random_case(random, entry->model), seen) == "");
    }
    CHECK(seen.size() == static_cast<std::size_t>(TimeItem::count));  // every item was there at least once
}

TEST_CASE("by hand: what the formulas of a pipeline say of its stages, micro-batches and copies") {
    tests::by_hand::Case c = tests::by_hand::dense();
    c.plan.gpus = 12, c.plan.pipeline_parallel = 3;  // two layers a stage; between the first and the last one stands 3 - 2 = 1
    CHECK(symbol_of(c, TimeItem::bubble, "p_i")["value"] == 1);
    CHECK(symbol_of(c, TimeItem::bubble, "Y_s").is_null());    // their sum is that of the stages, so that it needs no symbol of its own
    CHECK(symbol_of(c, TimeItem::bubble, "m")["value"] == 4);  // 24 / (3 * 2 copies)
    CHECK(symbol_of(c, TimeItem::bubble, "m")["meaning"] == "micro_batches");
    CHECK(symbol_of(c, TimeItem::data_traffic, "D")["value"] == 2);
    CHECK(symbol_of(c, TimeItem::data_traffic, "D")["meaning"] == "weight_copies");
    c.plan.gpus = 8, c.plan.pipeline_parallel = 2, c.plan.schedule = ScheduleKind::dualpipe;
    CHECK(symbol_of(c, TimeItem::accumulation, "m")["value"] == 2);  // of the four, two each way
    CHECK(symbol_of(c, TimeItem::accumulation, "m")["meaning"] == "micro_batches_each_way");
    CHECK(symbol_of(c, TimeItem::data_traffic, "D")["value"] == 4);  // two copies, each in both directions
    CHECK(symbol_of(c, TimeItem::data_traffic, "D")["meaning"] == "weight_copies_both_ways");
}
