// Laws that hold for every model and plan, tried on thousands of random ones.
#include <doctest/doctest.h>

#include <cmath>

#include "base/formula_reader.h"
#include "job/job.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "random_cases.h"

using namespace fourfold;
using tests::nearly;
using tests::Random;

namespace {

constexpr int kCases = 1'500;

struct Case {
    Model model;
    Plan plan;
};

// Calls `check(case)` for random legal plans.
template <class Check>
void for_each_case(std::uint64_t seed, Check&& check) {
    Random random(seed);
    for (int i = 0; i < kCases; ++i) {
        Case c{tests::random_model(random), {}};
        c.plan = tests::random_legal_plan(random, c.model);
        check(c, random);
    }
}

double bytes_of(const Case& c, Group group) {
    const Items<double> items = fujii2024<double>(c.model, c.plan);
    double sum = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (text(items.item(i)).group == group) sum += items.bytes(i);
    return sum;
}
double weights(const Case& c) { return bytes_of(c, Group::weights); }
double optimizer(const Case& c) { return bytes_of(c, Group::optimizer); }
double activations(const Case& c) { return bytes_of(c, Group::activations); }

bool at_most(double smaller, double larger) { return smaller <= larger * (1 + 1e-12); }  // but for the last digits

// The same training with one degree `factor` times as large, on as many more GPUs; legal or not, the formulas are the same.
Case scaled(Case c, std::int64_t Plan::*degree, std::int64_t factor) {
    c.plan.*degree *= factor;
    c.plan.gpus *= factor;
    return c;
}

}  // namespace

TEST_CASE("random legal plans are legal") {
    for_each_case(11, [](const Case& c, Random&) {
        CHECK(is_legal(c.model, c.plan));
        CHECK(broken_rules(c.model, c.plan).empty());
        CHECK(c.plan.data_parallel() * c.plan.model_parallel() == c.plan.gpus);
        CHECK(c.plan.micro_batches() * c.plan.micro_batch * c.plan.data_parallel() == c.plan.global_batch);
    });
}

TEST_CASE("traced and plain estimates are the same, bit for bit, and every printed formula has its value") {
    int i = 0;
    for_each_case(12, [&](const Case& c, Random&) {
        const Items<double> plain = fujii2024<double>(c.model, c.plan);
        const Items<Traced> traced = fujii2024<Traced>(c.model, c.plan);
        CHECK(plain.size() == traced.size());
        CHECK(plain.total() == traced.total());
        for (std::size_t k = 0; k < std::min(plain.size(), traced.size()); ++k) {
            CHECK(plain.item(k) == traced.item(k));
            CHECK(plain.bytes(k) == traced.bytes(k).value());
            if (i++ % 10 != 0) continue;  // printing takes a thousand times as long
            const Traced& b = traced.bytes(k);
            CHECK(tests::formula_defect(b.value(), b.symbols(), b.numbers(), b.where()) == "");
        }
    });
}

TEST_CASE("items sum to the total; each kind appears once; none is negative, infinite or not a number") {
    for_each_case(13, [](const Case& c, Random&) {
        const Items<double> items = fujii2024<double>(c.model, c.plan);
        double sum = 0;
        unsigned seen = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            CHECK(std::isfinite(items.bytes(i)));
            CHECK(items.bytes(i) > 0);
            CHECK((seen & (1U << static_cast<unsigned>(items.item(i)))) == 0);
            seen |= 1U << static_cast<unsigned>(items.item(i));
            sum += items.bytes(i);
        }
        CHECK(items.total() == sum);
        const double groups = weights(c) + bytes_of(c, Group::gradients) + optimizer(c) + activations(c);
        CHECK(nearly(groups, sum));
    });
}

TEST_CASE("more tensor, pipeline or data parallelism never needs more weights or optimizer state") {
    for_each_case(14, [](const Case& c, Random& random) {
        const std::int64_t factor = random.one_of<std::int64_t>({2, 3, 4});
        for (const auto degree : {&Plan::tensor_parallel, &Plan::pipeline_parallel}) {
            const Case more = scaled(c, degree, factor);
            CHECK(at_most(weights(more), weights(c)));
            CHECK(at_most(optimizer(more), optimizer(c)));
        }
        Case more = c;
        more.plan.gpus *= factor;
        more.plan.global_batch *= factor;
        CHECK(weights(more) == weights(c));
        if (c.plan.shards_optimizer())
            CHECK(nearly(optimizer(more) * static_cast<double>(factor), optimizer(c)));
        else
            CHECK(optimizer(more) == optimizer(c));
    });
}

TEST_CASE("the distributed optimizer and 16-bit gradients never cost memory") {
    for_each_case(15, [](const Case& c, Random&) {
        Case saving = c, whole = c;
        saving.plan.zero = Zero::optimizer;
        whole.plan.zero = Zero::none;
        CHECK(at_most(optimizer(saving), optimizer(whole)));
        saving.plan.gradients_in_fp32 = false;
        whole.plan.gradients_in_fp32 = true;
        CHECK(2 * bytes_of(saving, Group::gradients) == bytes_of(whole, Group::gradients));
    });
}

TEST_CASE("a larger micro-batch never needs less for activations, at the same global batch") {
    for_each_case(16, [](Case c, Random& random) {
        const std::int64_t factor = random.one_of<std::int64_t>({2, 3});
        c.plan.global_batch *= factor;  // so that the larger micro-batch divides it too
        Case larger = c;
        larger.plan.micro_batch *= factor;
        CHECK(at_most(activations(c), activations(larger)));
        CHECK(weights(larger) == weights(c));
    });
}

TEST_CASE("longer sequences and more chunks never need less; context parallelism never more") {
    for_each_case(17, [](const Case& c, Random&) {
        Case longer = c;
        longer.plan.sequence_length *= 2;
        CHECK(activations(longer) > activations(c));
        CHECK(at_most(activations(scaled(c, &Plan::context_parallel, 2)), activations(c)));
        if (c.plan.pipeline_parallel == 1 || c.plan.micro_batches() < c.plan.pipeline_parallel) return;
        Case one = c, two = c, four = c;
        one.plan.virtual_stages = 1;
        two.plan.virtual_stages = 2;
        four.plan.virtual_stages = 4;
        CHECK(activations(two) > activations(one));
        CHECK(at_most(activations(four), activations(two)));  // smaller chunks: less of the extra
    });
}

TEST_CASE("flash needs at most what recomputed attention needs, and that at most what plain attention needs") {
    for_each_case(18, [](Case c, Random&) {
        c.plan.attention = Attention::flash;
        const double flash = activations(c);
        c.plan.attention = Attention::plain;
        c.plan.recompute = Recompute::selective;
        c.plan.recompute_modules = RecomputeModule::core_attn;
        const double selective = activations(c);
        c.plan.recompute = Recompute::none;
        CHECK(flash <= selective);
        CHECK(selective < activations(c));
    });
}

TEST_CASE("the verdict only gets worse with the share") {
    const auto paper = [](double share) { return judge(Method::fujii2024, Plan(), share, 1).fit; };
    CHECK(paper(0) == Fit::fits);
    CHECK(paper(0.8) == Fit::fits);
    CHECK(paper(std::nextafter(0.8, 1)) == Fit::at_risk);
    CHECK(paper(1) == Fit::at_risk);
    CHECK(paper(std::nextafter(1.0, 2)) == Fit::does_not_fit);
    CHECK(paper(INFINITY) == Fit::does_not_fit);
    CHECK(paper(std::nan("")) == Fit::does_not_fit);
    Plan plan;
    plan.tensor_parallel = plan.context_parallel = plan.pipeline_parallel = 1;
    for (int i = 1; i <= 2'000; ++i) {
        const auto judged = [&](double share) { return judge(Method::detailed, plan, share * 80e9, 80e9); };
        CHECK(paper(i / 1e3) >= paper((i - 1) / 1e3));
        CHECK(judged(i / 1e3).fit >= judged((i - 1) / 1e3).fit);
        CHECK(judged(i / 1e3).probability <= judged((i - 1) / 1e3).probability);
    }
}

TEST_CASE("a request, read and written, is the same request") {
    for_each_case(19, [](const Case& c, Random& random) {
        Json request = Json::object();
        visit_fields(c.plan, FieldWriter(request));
        const Budget budget{random.coin() ? 1e12 : 0, 2.5, 700};
        visit_fields(budget, FieldWriter(request));
        const Exploration exploration{static_cast<std::uint32_t>(random.from(0, 63)), 0.5};
        visit_fields(exploration, FieldWriter(request));
        for (const char* key : {"tensor_parallel", "context_parallel", "pipeline_parallel", "micro_batch"})
            if (random.from(0, 3) == 0) request[key] = "auto";
        request["model"] = random.coin() ? canonical_config(c.model) : Json("llama-2-7b");
        request["gpu"] = "h100-sxm-94gb";
        request["cluster"] = random.coin() ? "tsubame4" : "";
        request["method"] = random.coin() ? "fujii2024" : "detailed";
        request["version"] = kVersion;
        Problems problems;
        const auto job = read_job(request.dump(), Request::estimate, problems);
        CHECK(tests::brief(problems) == "");
        if (job) CHECK(to_json(*job) == request);
    });
}
