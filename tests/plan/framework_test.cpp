// What a framework does, as requests say it: nothing of it can be set by a test alone.
#include "plan/framework.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "api.h"
#include "contract.h"
#include "job/job.h"
#include "model/catalog.h"
#include "support.h"

using namespace fourfold;
using tests::brief;
using tests::json;

namespace {

struct Key {
    const char* key;
    bool Framework::*habit;
};
constexpr Key kKeys[] = {
    {"transformer_engine", &Framework::transformer_engine},
    {"gradient_fusion", &Framework::gradient_fusion},
    {"softmax_fusion", &Framework::softmax_fusion},
    {"activation_fusion", &Framework::activation_fusion},
    {"grouped_gemm", &Framework::grouped_gemm},
    {"large_workspaces", &Framework::large_workspaces},
    {"attention_mask", &Framework::attention_mask},
    {"deferred_embedding_gradient", &Framework::deferred_embedding_gradient},
    {"fully_shard", &Framework::fully_shard},
    {"sync_each_micro_batch", &Framework::sync_each_micro_batch},
    {"gathered_inputs", &Framework::gathered_inputs},
};
constexpr const char* kGpus[] = {"a100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb"};

Framework framework_of_request(const Json& request) {
    Problems problems;
    const auto job = read_parsed_job(request, Request::estimate, problems);
    CHECK(brief(problems) == "");
    REQUIRE(job.has_value());
    return framework_of(job->model, job->plan, *job->gpu);
}

// Does not compile when Framework gets a field: the tests here are to reach that one from a request too.
[[maybe_unused]] void names_every_field(const Framework& framework) {
    [[maybe_unused]] const auto& [attention, loss, transformer_engine, engine_routes, gradient_fusion, gradients_twice,
                                  caches_dummy_gradients, softmax_fusion, activation_fusion, plain_norms, attention_mask,
                                  deferred_embedding_gradient, fully_shard, sync_each_micro_batch, gathered_inputs, grouped_gemm,
                                  engine_groups, sends_once, stores_fp8, large_workspaces, engine_workspace] = framework;
}

// Every framework on every generation of cards.
template <class Check>
void over_frameworks(Check check) {
    for (const FrameworkRow& row : kFrameworkRows)
        for (const char* gpu : kGpus) {
            CAPTURE(row.id);
            CAPTURE(std::string(gpu));
            check(Json{{"framework", row.id}, {"gpu", gpu}});
        }
}

Json estimate(const Json& request) {
    const std::string text = api::estimate(request.dump());
    CHECK(tests::answer_defect(text, "estimate") == "");
    return json(text);
}

}  // namespace

TEST_CASE("a request turns every habit on and off, and nothing else with it but what hangs on it") {
    over_frameworks([](const Json& request) {
        const Framework usual = framework_of_request(request);
        for (const auto& [key, habit] : kKeys)
            for (const bool on : {false, true}) {
                const std::string name = key;  // clang 14 captures no structured bindings
                CAPTURE(name);
                Json asked = request;
                asked[key] = on ? "on" : "off";
                const Framework got = framework_of_request(asked);
                CHECK(got.*habit == on);
                Framework expected = usual;
                expected.*habit = on;
                if (expected.*habit != usual.*habit) {  // without Transformer Engine there is no cuDNN attention and no dummy gradient
                    expected.attention = got.attention;
                    expected.plain_norms = got.plain_norms;  // Liger's kernels come together
                    expected.caches_dummy_gradients &= expected.transformer_engine && expected.gradient_fusion;
                }
                CHECK(got == expected);
                asked[key] = "auto";
                CHECK(framework_of_request(asked) == usual);
            }
    });
}

TEST_CASE("\"auto\" is the attention that transformers has for a model") {
    const auto attention = [](const char* model, const char* framework) {
        return framework_of_request({{"model", model}, {"framework", framework}, {"gpu", "h100-sxm-80gb"}}).attention;
    };
    CHECK(attention("llama-3.1-8b", "transformers") == AttentionKernel::cudnn);
    CHECK(attention("falcon-40b", "transformers") == AttentionKernel::cudnn);
    for (const char* model : {"gpt-oss-20b", "bloom-176b", "falcon-7b"}) {
        CAPTURE(std::string(model));
        CHECK(attention(model, "transformers") == AttentionKernel::unfused);
        CHECK(attention(model, "pytorch") == AttentionKernel::flash);
        CHECK(attention(model, "megatron-2025") == AttentionKernel::cudnn);
    }
}

TEST_CASE("every kernel, cache and workspace of a framework is that of some request") {
    std::set<AttentionKernel> attention;
    std::set<LossKernel> loss;
    std::set<bool> dummies, routers;
    std::set<double> workspaces;
    over_frameworks([&](Json request) {
        for (const char* kernel : {"auto", "flash", "cudnn", "plain"})
            for (const char* engine : {"on", "off"}) {
                request["attention"] = kernel, request["transformer_engine"] = engine;
                const Framework f = framework_of_request(request);
                attention.insert(f.attention);
                dummies.insert(f.caches_dummy_gradients);
                routers.insert(f.engine_routes);
                workspaces.insert(f.engine_workspace);
            }
        for (const Choice& kernel : kLossChoices) {
            request["loss"] = kernel.id;
            loss.insert(framework_of_request(request).loss);
        }
    });
    CHECK(attention.size() == 4);
    CHECK(loss.size() == 7);
    CHECK(dummies.size() == 2);
    CHECK(routers.size() == 2);
    CHECK(workspaces.size() == 2);
}

TEST_CASE("what a framework does by itself can be said too: the answer is the same") {
    over_frameworks([](Json request) {
        for (const auto& [key, value] :
             {std::pair("model", Json("mixtral-8x7b")), std::pair("gpus", Json(64)), std::pair("tensor_parallel", Json(4)),
              std::pair("pipeline_parallel", Json(2)), std::pair("micro_batch", Json(1)), std::pair("expert_parallel", Json(8))})
            request[key] = value;
        Json all = request;
        const Framework usual = framework_of_request(request);
        for (const auto& [key, habit] : kKeys) all[key] = usual.*habit ? "on" : "off";
        Json by_itself = estimate(request), said = estimate(all);
        REQUIRE(by_itself["ok"] == true);
        for (const auto& [key, habit] : kKeys) by_itself["job"][key] = all[key];
        CHECK(said == by_itself);
    });
}
