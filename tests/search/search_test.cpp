// The search against looking at everything.
#include "search/search.h"

#include <doctest/doctest.h>

#include "base/tie.h"
#include "contract.h"
#include "model/catalog.h"
#include "random_cases.h"
#include "search/any_job.h"
#include "search/asked_job.h"
#include "search/groups.h"
#include "search/never_fits.h"

using namespace fourfold;
using tests::any_job;
using tests::AnyJob;
using tests::job_of;
using tests::json;
using tests::Random;

namespace {

bool same(const Plan& a, const Plan& b) {
    Json one = Json::object(), other = Json::object();
    visit_fields(a, FieldWriter(one));
    visit_fields(b, FieldWriter(other));
    return one == other;
}
std::string text(const Plan& plan) {
    Json json = Json::object();
    visit_fields(plan, FieldWriter(json));
    return json.dump();
}

}  // namespace

TEST_CASE("bounds change nothing: the search finds what looking at everything finds, in the same order") {
    Random random(401);
    int found_some = 0, moved = 0, recomputed = 0, played = 0, swapped = 0;
    std::int64_t timed = 0, timed_first = 0;  // step times: with all that are as good, and of the first alone
    const int jobs = tests::kSlowBuild ? 150 : 4'000;
    for (int i = 0; i < jobs; ++i) {
        const AnyJob job = any_job(random);
        for (const std::size_t plans : {std::size_t{1}, std::size_t{40}}) {
            const SearchResult fast = search(job.space(), {.plans = plans});
            const SearchResult slow = search(job.space(), {.plans = plans, .everything = true});
            CHECK(fast.plans.size() == slow.plans.size());
            CHECK(fast.equally_good == slow.equally_good);
            for (std::size_t k = 0; k < std::min(fast.plans.size(), slow.plans.size()); ++k) {
                const Estimated &a = fast.plans[k].estimate, &b = slow.plans[k].estimate;
                CHECK_MESSAGE(same(a.plan, b.plan), i << " " << text(a.plan) << "\n" << text(b.plan));
                CHECK(a.seconds == b.seconds);
                CHECK(a.bytes == b.bytes);
            }
            if (plans > 1 || fast.plans.empty()) continue;
            const Plan& best = fast.plans.front().estimate.plan;
            const SearchResult first = search(job.space(), {.plans = plans, .first = true});
            CHECK_MESSAGE(same(first.plans.front().estimate.plan, best), i << " " << text(best));
            CHECK(first.plans.front().estimate.seconds == fast.plans.front().estimate.seconds);
            timed += fast.looked_at, timed_first += first.looked_at;
            ++found_some, played += is_played(best), moved += best.layout != nullptr, recomputed += best.recompute != Recompute::none;
            swapped += best.activation_offload > 0;
        }
    }
    CHECK(found_some > jobs / 4);
    CHECK(recomputed > jobs / 40);
    CHECK(timed_first < timed);
    if (tests::kSlowBuild) return;  // the rare ones: too few jobs are drawn there to count them
    CHECK(moved > jobs / 40);
    CHECK(played > jobs / 80);
    CHECK(swapped > jobs / 200);
}

TEST_CASE("where activations are set to wait on the host, bounds change nothing, and to compute again is as fast as if it were set") {
    Random random(409);
    int again = 0;
    const int jobs = tests::kSlowBuild ? 30 : 300;
    for (int i = 0; i < jobs; ++i) {
        AnyJob job = any_job(random);
        job.method = Method::detailed;
        job.plan.activation_offload = random.one_of({0.5, 1.0}), job.plan.open &= ~open_activation_offload;
        job.plan.split = Split::equal, job.plan.open &= ~open_layout;  // uneven ones are balanced before anything is computed again
        const SearchResult fast = search(job.space(), {}), slow = search(job.space(), {.everything = true});
        CHECK(fast.plans.size() == slow.plans.size());
        for (std::size_t k = 0; k < std::min(fast.plans.size(), slow.plans.size()); ++k)
            CHECK(same(fast.plans[k].estimate.plan, slow.plans[k].estimate.plan));
        if ((job.plan.open & open_recompute) == 0 || (job.exploration.left_out & without_recompute) != 0) continue;
        AnyJob full = job;
        full.plan.recompute = Recompute::full, full.plan.recompute_layers = 1, full.plan.open &= ~open_recompute;
        const SearchResult set = search(full.space(), {});
        if (set.plans.empty()) continue;
        REQUIRE(!fast.plans.empty());
        CHECK(fast.plans.front().estimate.seconds <= set.plans.front().estimate.seconds * (1 + kTieWidth));
        again += fast.plans.front().estimate.plan.recompute != Recompute::none;
    }
    CHECK(again > jobs / 20);
}

TEST_CASE("token slices: what waits on the host is let in, and stands in no plan that cuts sequences") {
    Plan plan = open_plan();
    plan.gpus = 32, plan.gpus_per_node = 8, plan.sequence_length = 131'072, plan.global_batch = 16;
    for (const char* gpu : {"gb300-278gb", "a100-sxm-40gb"})  // fits; none does
        for (const std::int64_t slices : {kAuto, std::int64_t{8}}) {
            plan.token_slices = slices;
            Exploration all;
            all.left_out = 0;
            const SearchSpace space{catalog().model("llama-3.1-70b")->model, plan, *catalog().gpu(gpu), Method::detailed, nullptr, all};
            const auto best = choose(space);
            REQUIRE(best);
            CHECK(is_legal(space.model, best->estimate.plan));
            for (const Ranked& one : search(space, {.plans = 40}).plans) CHECK(is_legal(space.model, one.estimate.plan));
        }
}

TEST_CASE("where a framework hides no expert traffic, to ask for it keeps no plan from computing whole layers again") {
    Plan plan = open_plan();
    plan.gpus = 64, plan.gpus_per_node = 8, plan.sequence_length = 4'096, plan.global_batch = 768;
    plan.framework = FrameworkKind::hai_llm;
    plan.expert_overlap = true, plan.open &= ~open_expert_overlap;
    const SearchSpace open{catalog().model("mixtral-8x22b")->model, plan, *catalog().gpu("h100-sxm-80gb"), Method::detailed};
    Plan full = plan;
    full.recompute = Recompute::full, full.recompute_layers = 1, full.open &= ~open_recompute;
    const SearchSpace set{open.model, full, open.gpu, Method::detailed};
    const auto best = best_plan(open), best_set = best_plan(set);
    REQUIRE((best && best_set));
    CHECK(best->estimate.seconds <= best_set->estimate.seconds * (1 + kTieWidth));  // 29.8 s; parts of layers alone: 52.4 s
}

// Of all layers, those that the plan computes again as a whole.
static double layers_again(const Model& model, const Plan& plan) {
    if (plan.recompute == Recompute::full) return static_cast<double>(model.layers);
    if (plan.recompute != Recompute::block) return 0;
    const Stages stages(model, plan);
    std::int64_t sum = 0;
    for (std::int32_t stage = 0; stage < plan.pipeline_parallel; ++stage)
        for (std::int32_t chunk = 0; chunk < plan.virtual_stages; ++chunk)
            sum += std::min(plan.recompute_layers, stages.layers_of(stage, chunk));
    return static_cast<double>(sum);
}

TEST_CASE("law: no plan that fits computes fewer layers again than what is said of its pipeline") {
    Random random(402);
    int fitting = 0, bounded = 0;
    const int jobs = tests::kSlowBuild ? 100 : 1'500;
    for (int i = 0; i < jobs; ++i) {
        const AnyJob job = any_job(random);
        const SearchSpace space = job.space();
        const Candidates all = candidates(space);
        const Plan base = closed(space.plan);
        const Goal goal{.plans = 100, .everything = true};
        const Limit limit(goal);
        Scorer scorer(space, base);
        Savings savings(space, base, scorer, limit);
        const NeverFits never_fits(space, all, base, scorer, savings);
        for (const Ranked& one : search(space, goal).plans) {
            const double least = never_fits.layers_again(one.estimate.plan);
            CHECK_MESSAGE(layers_again(space.model, one.estimate.plan) >= least * (1 - 1e-9), i << " " << text(one.estimate.plan));
            ++fitting, bounded += least > 0;
        }
    }
    CHECK(fitting > 5 * jobs);
    CHECK(bounded > (tests::kSlowBuild ? 0 : jobs / 10));  // few of a hundred
}

TEST_CASE("with room on the host no job is slower, and no more jobs than before lack a plan") {
    Random random(405);
    int faster = 0, only_there = 0;
    const int jobs = tests::kSlowBuild ? 100 : 400;
    for (int i = 0; i < jobs; ++i) {
        AnyJob job = any_job(random);
        job.exploration.left_out |= without_activation_offload;
        const auto without = best_plan(job.space());
        job.exploration.left_out &= ~without_activation_offload;
        const auto with = best_plan(job.space());
        if (!without) {
            only_there += with.has_value();
            continue;
        }
        REQUIRE(with.has_value());
        CHECK(with->estimate.seconds <= without->estimate.seconds * (1 + kTieWidth));  // equally fast ones: the least exposed
        faster += with->estimate.seconds < without->estimate.seconds * 0.99;
        CHECK(without->estimate.plan.activation_offload == 0);
    }
    CHECK(faster + only_there > jobs / 100);
    MESSAGE(faster << " faster, " << only_there << " that do not fit otherwise");
}

TEST_CASE("which parts are computed again is chosen: as fast as the best of the sets, or equally good") {
    Random random(411);
    int asked = 0, other = 0;
    const int jobs = tests::kSlowBuild ? 300 : 4'000;
    for (int i = 0; i < jobs; ++i) {
        AnyJob job = any_job(random);
        job.plan.open |= open_recompute_modules;
        if (!may_choose_modules(job.space())) continue;
        const auto chosen = best_plan(job.space());
        std::optional<Chosen> best;
        for (const std::uint32_t modules : sets_of_modules(job.space())) {
            AnyJob set = job;
            set.plan.recompute_modules = modules, set.plan.open &= ~open_recompute_modules;
            auto one = best_plan(set.space());
            if (one && (!best || one->estimate.seconds < best->estimate.seconds)) best = std::move(one);
        }
        REQUIRE(chosen.has_value() == best.has_value());
        if (!chosen) continue;
        ++asked;
        CHECK(chosen->estimate.seconds <= best->estimate.seconds * (1 + kTieWidth));
        CHECK(best->estimate.seconds <= chosen->estimate.seconds * (1 + kTieWidth));
        other += chosen->estimate.plan.recompute == Recompute::selective && chosen->estimate.plan.recompute_modules != core_attn;
    }
    CHECK(asked > jobs / 40);
    CHECK(other > jobs / 400);
}

TEST_CASE("whether tokens travel beneath other work is chosen: as fast as the better of both, or equally good") {
    Random random(412);
    int asked = 0, beneath = 0;
    const int jobs = tests::kSlowBuild ? 300 : 4'000;
    for (int i = 0; i < jobs; ++i) {
        AnyJob job = any_job(random);
        job.plan.open |= open_expert_overlap;
        if (!may_choose_overlap(job.space())) continue;
        const auto chosen = best_plan(job.space());
        std::optional<Chosen> best;
        for (const bool overlap : {false, true}) {
            AnyJob set = job;
            set.plan.expert_overlap = overlap, set.plan.open &= ~open_expert_overlap;
            auto one = best_plan(set.space());
            if (one && (!best || one->estimate.seconds < best->estimate.seconds)) best = std::move(one);
        }
        REQUIRE(chosen.has_value() == best.has_value());
        if (!chosen) continue;
        ++asked;
        CHECK(chosen->estimate.seconds <= best->estimate.seconds * (1 + kTieWidth));
        CHECK(best->estimate.seconds <= chosen->estimate.seconds * (1 + kTieWidth));
        const Plan& plan = chosen->estimate.plan;
        CHECK((!plan.expert_overlap || may_overlap_experts(job.model, plan)));
        beneath += plan.expert_overlap;
    }
    CHECK(asked > jobs / 40);
    CHECK(beneath > jobs / 400);
}

TEST_CASE("token slices are ranked beside other plans: where they are let in no job is slower") {
    Random random(405);
    int jobs = 0, sliced = 0;
    for (int i = 0; i < (tests::kSlowBuild ? 40 : 400); ++i) {
        AnyJob job = any_job(random);
        job.plan.token_slices = 1;
        const auto without = best_plan(job.space());
        job.plan.token_slices = kAuto;
        const auto with = best_plan(job.space());
        REQUIRE((!without || with));
        if (!with) continue;
        ++jobs, sliced += with->estimate.plan.token_slices > 1;
        if (!without) continue;
        CHECK(without->estimate.plan.token_slices == 1);
        CHECK(with->estimate.seconds <= without->estimate.seconds * (1 + kTieWidth));
    }
    CHECK(jobs > (tests::kSlowBuild ? 10 : 100));
    if (!tests::kSlowBuild) CHECK(sliced > 4);  // too few jobs are drawn there to count them
    MESSAGE(sliced << " of " << jobs << " plans pass in slices");
    // GPT-3 175B in batches of four sequences, deeper in stages than it has sequences (TeraPipe's case)
    Json request{{"model", "gpt-3-175b"}, {"gpu", "a100-sxm-80gb"},  {"gpus", 256},
                 {"global_batch", 4},     {"pipeline_parallel", 32}, {"token_slices", "auto"}};
    const Job let_in = job_of(request);
    request.erase("token_slices");
    const Job left_out = job_of(request);
    const auto with = best_plan(let_in.space()), without = best_plan(left_out.space());
    REQUIRE((with.has_value() && without.has_value()));
    CHECK(with->estimate.plan.token_slices > 1);
    CHECK(with->estimate.seconds < without->estimate.seconds * 0.8);
}

TEST_CASE("the best plan is legal, fits, and no plan tried one by one is faster") {
    Random random(402);
    for (int i = 0; i < (tests::kSlowBuild ? 40 : 300); ++i) {
        AnyJob job = any_job(random);
        job.exploration.left_out = 511, job.plan.token_slices = 1;  // then a plan is its degrees, and all of them can be written down
        job.plan.virtual_stages = 1, job.plan.recompute = Recompute::none, job.plan.open = 0;
        job.plan.zero = Zero::optimizer, job.plan.split = Split::equal, job.plan.expert_tensor_parallel = 1;
        const auto best = best_plan(job.space());
        double fastest = INFINITY;
        Plan plan = job.plan;
        plan.open = 0;
        const auto each = [](std::int64_t set, std::int64_t most, auto&& visit) {
            for (std::int64_t v = set == kAuto ? 1 : set; v <= (set == kAuto ? most : set); ++v) visit(v);
        };
        each(job.plan.tensor_parallel, std::min(plan.gpus, plan.gpus_per_node), [&](std::int64_t t) {
            each(kAuto, plan.gpus, [&](std::int64_t c) {
                each(job.plan.pipeline_parallel, plan.gpus, [&](std::int64_t p) {
                    if (plan.gpus % (t * c * p) != 0) return;
                    each(kAuto, plan.global_batch, [&](std::int64_t b) {
                        each(kAuto, std::max<std::int64_t>(1, job.model.experts.count), [&](std::int64_t e) {
                            plan.tensor_parallel = t, plan.context_parallel = c, plan.pipeline_parallel = p, plan.micro_batch = b;
                            plan.expert_parallel = e;
                            plan.sequence_parallel = true;
                            if (!is_legal(job.model, plan)) return;
                            const Estimated one = estimated(job.space(), plan);
                            if (may_run(job.space(), one.verdict)) fastest = std::min(fastest, one.seconds);
                        });
                    });
                });
            });
        });
        CHECK(best.has_value() == (fastest < INFINITY));
        if (!best) continue;
        CHECK(is_legal(job.model, best->estimate.plan));
        CHECK(may_run(job.space(), best->estimate.verdict));
        CHECK(best->estimate.seconds <= fastest * (1 + kTieWidth));
        CHECK(best->estimate.seconds >= fastest);
    }
}

TEST_CASE("candidates: each is counted once, as legal or under the first rule that it breaks") {
    Random random(403);
    for (int i = 0; i < (tests::kSlowBuild ? 40 : 300); ++i) {
        const AnyJob job = any_job(random);
        const Candidates all = candidates(job.space());
        const SearchCounts counts = count_candidates(job.space(), all);
        std::int64_t rejected = 0;
        for (const std::int64_t n : counts.rejected) rejected += n;
        CHECK(rejected + counts.legal == counts.candidates);
        CHECK(has_legal_plan(job.space()) == (counts.legal > 0));
        const SearchResult found = search(job.space(), {.plans = 20});
        CHECK(found.fit + found.does_not_fit <= counts.legal);
        const SearchResult everything = search(job.space(), {.plans = 20, .everything = true});
        CHECK(everything.fit + everything.does_not_fit <= counts.legal);  // balanced layouts that are the equal one are not looked at
        if (!found.plans.empty()) CHECK(everything.fit > 0);
        CHECK(choose(job.space()).has_value() == (counts.legal > 0));
    }
}

TEST_CASE("what the space leaves out would change nothing: no ZeRO at all") {
    Random random(404);
    int checked = 0;
    while (checked < (tests::kSlowBuild ? 50 : 400)) {
        const AnyJob job = any_job(random);
        const auto best = best_plan(job.space());
        if (!best) continue;
        ++checked;
        Plan other = best->estimate.plan;
        other.zero = Zero::none;
        Estimated without = estimated(job.space(), other);
        const Estimated with = estimated(job.space(), best->estimate.plan);
        if (best->estimate.plan.zero == Zero::optimizer) {
            CHECK(without.seconds >= with.seconds * (1 - 1e-12));
            if (job.method == Method::detailed && other.data_parallel() * other.context_parallel > 1) CHECK(without.bytes >= with.bytes);
        }
    }
}

TEST_CASE("groups of equally fast plans: each within the width of its fastest, the least exposed first") {
    for (const char* request : {R"({"gpus": 64, "model": "llama-3.1-70b"})", R"({"gpus": 1024, "model": "llama-3.1-405b"})",
                                R"({"gpus": 64, "model": "mixtral-8x7b"})", R"({"gpus": 8})"}) {
        const Job job = job_of(json(request));
        const SearchResult found = search(job.space(), {.plans = 200});
        CHECK(found.plans.size() > 10);
        double fastest = INFINITY;
        for (std::size_t i = 0; i < found.plans.size(); ++i) {
            const Ranked& one = found.plans[i];
            const bool begins = i == 0 || one.tie != found.plans[i - 1].tie;
            if (begins) {
                CHECK(one.tie == (i == 0 ? 0 : found.plans[i - 1].tie + 1));
                fastest = INFINITY;
                for (std::size_t k = i; k < found.plans.size() && found.plans[k].tie == one.tie; ++k)
                    fastest = std::min(fastest, found.plans[k].estimate.seconds);
            } else {
                CHECK(one.estimate.plan.context_parallel >= found.plans[i - 1].estimate.plan.context_parallel);
            }
            CHECK(one.estimate.seconds <= fastest * (1 + kTieWidth));
        }
        CHECK(std::count_if(found.plans.begin(), found.plans.end(), [](const Ranked& one) { return one.tie == 0; }) == found.equally_good);
    }
}
