// Which layers stand on which chunk: the notation, what is wrong with it, what the search proposes, and what time and memory make of it.
#include "plan/layout.h"

#include <doctest/doctest.h>

#include "api.h"
#include "contract.h"
#include "job/job.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "plan/stage.h"
#include "random_cases.h"
#include "search/balance.h"

using namespace fourfold;
using tests::json;
using tests::Random;
using tests::said;

namespace {

std::vector<std::int64_t> layers_of(const Layout& layout) {
    std::vector<std::int64_t> list;
    for (std::size_t i = 0; i < layout.chunks(); ++i) list.push_back(layout.at(i));
    return list;
}
std::vector<std::int64_t> read(const char* text) {
    Problems problems;
    const auto layout = read_layout(text, problems);
    CHECK_MESSAGE(layout.has_value(), tests::brief(problems));
    return layout ? layers_of(*layout) : std::vector<std::int64_t>{};
}
std::string wrong(const char* text) {
    Problems problems;
    CHECK_FALSE(read_layout(text, problems).has_value());
    CHECK(problems.size() == 1);
    return problems.empty() ? "" : problems[0].field + ": " + tests::said(problems[0].message);
}

}  // namespace

TEST_CASE("layouts as Megatron writes them") {
    using List = std::vector<std::int64_t>;
    CHECK(read("EL") == List{0});
    CHECK(read("EtttL") == List{3});
    CHECK(read("Et|t,t|tL") == List{1, 2, 1});
    CHECK(read("Et*3|(tt|)*2t*4L") == List{3, 2, 2, 4});
    CHECK(read("E|(t*2|)*3 L") == List{0, 2, 2, 2, 0});
    CHECK(read("E((t|)*2tt|)*2tL") == List{1, 1, 2, 1, 1, 2, 1});
    const List deepseek = read("Et|(tt|)*30mL");  // NVIDIA's recipe for DeepSeek-V3: PP 8, VPP 4
    CHECK((deepseek.size() == 32 && deepseek.front() == 1 && deepseek[1] == 2 && deepseek.back() == 0));
    Problems none;
    CHECK(read_layout("Et|(tt|)*30mL", none)->multi_token == 1);
    CHECK(layout_text(*read_layout("Et|(tt|)*30mL", none)) == "Et|(tt|)*30mL");
    CHECK(layout_text(*read_layout("Ettttttt|(tttttttt|)*14tttttttL", none)) == "Et*7|(t*8|)*14t*7L");
}

TEST_CASE("layouts: written and read again they are the same") {
    Random random(31);
    for (int i = 0; i < 3'000; ++i) {
        std::vector<std::int32_t> layers;
        const auto chunks = static_cast<std::size_t>(random.from(1, 40));
        while (layers.size() < chunks)
            layers.insert(layers.end(), static_cast<std::size_t>(random.from(1, 6)), static_cast<std::int32_t>(random.from(1, 9)));
        layers.resize(chunks);
        if (random.coin()) layers.front() = 0;
        if (random.coin()) layers.back() = 0;
        const Layout layout(layers, static_cast<int>(random.from(0, 2)));
        Problems problems;
        const auto again = read_layout(layout_text(layout), problems);
        CHECK_MESSAGE((again && *again == layout), layout_text(layout));
    }
}

TEST_CASE("layouts: layers that predict further tokens on a chunk of their own, and chunks without layers") {
    Problems none;
    for (const char* text : {"Et*3|(tt|)*29m|L", "E|t*3|t*4m|L", "Ett||ttL", "E|(t|)*3ttm|||L"}) {
        const auto layout = read_layout(text, none);
        REQUIRE_MESSAGE(layout, text);
        CHECK_MESSAGE(*read_layout(layout_text(*layout), none) == *layout, layout_text(*layout));
    }
    CHECK(none.empty());
    const auto deepseek = read_layout("Et*3|(tt|)*29m|L", none);  // Megatron-LM's own example
    CHECK(deepseek->layers() == 61);
    CHECK(deepseek->chunks() == 32);
    CHECK(deepseek->multi_token_at == 1);
    CHECK(layout_text(*deepseek) == "Ettt|(tt|)*29m|L");
    CHECK(read_layout("Ett||ttL", none)->at(1) == 0);
    const Json answer = json(api::estimate(R"({"model": "deepseek-v3", "gpu": "h100-sxm-80gb", "gpus": 256, "tensor_parallel": 1,
        "context_parallel": 1, "pipeline_parallel": 8, "virtual_stages": 4, "expert_parallel": 32, "micro_batch": 1,
        "layout": "Et*3|(tt|)*29m|L"})"));
    CHECK(answer["ok"] == true);
    CHECK(answer["not_counted"].dump().find("not_counted.multi_token_chunk") != std::string::npos);
    const Json empty = json(api::estimate(R"({"model": "llama-3.1-8b", "gpus": 8, "tensor_parallel": 1, "context_parallel": 1,
        "pipeline_parallel": 4, "layout": "Et*16||t*16|L"})"));
    CHECK(empty["ok"] == true);
}

TEST_CASE("layouts that are wrong are told so, with the letter or the chunk that is to blame") {
    CHECK(wrong("") == "layout: problem.layout.no_embedding");
    CHECK(wrong("t|tL") == "layout: problem.layout.no_embedding");
    CHECK(wrong("Et|t") == "layout: problem.layout.no_loss");
    CHECK(wrong("EtL|tL") == "layout: problem.layout.early_loss");
    CHECK(wrong("EtE|tL") == "layout: problem.layout.two_embeddings");
    CHECK(wrong("Em|tL") == "layout: problem.layout.early_multi_token");
    CHECK(wrong("Etm|L") == "layout: problem.layout.early_multi_token");  // on the first chunk
    CHECK(wrong("Et|m|tL") == "layout: problem.layout.early_multi_token");
    CHECK(wrong("Et|tm|mL") == "layout: problem.layout.early_multi_token");
    CHECK(wrong("Ex|tL") == R"(layout: problem.layout.symbol {"symbol":"x"})");
    CHECK(wrong("E(t|*3L") == "layout: problem.layout.unclosed");
    CHECK(wrong("Et)|tL") == "layout: problem.layout.unopened");
    CHECK(wrong("Et*|tL") == "layout: problem.layout.no_count");
    CHECK(wrong("Et*99999999999|tL") == R"(layout: problem.layout.too_long {"most":20000})");
    CHECK(wrong("E((((((((((((((((((((((((t))))))))))))))))))))))))L") == "layout: problem.layout.unclosed");
    const auto problem = [](const char* layout, Json more = Json::object()) {
        Json request = {{"model", "llama-3.1-405b"}, {"gpus", 512}, {"layout", layout}};
        request.update(more);
        const Json answer = json(api::estimate(request.dump()));
        CHECK(answer["ok"] == false);
        return answer["problems"][0];
    };
    const Json lost = problem("Et*7|(t*8|)*14t*6L");
    CHECK((lost["field"] == "layout" && said(lost["message"]) == R"(problem.layout.layers {"given":125,"model":126})"));
    CHECK(lost["nearest"] == "Et*8|(t*8|)*13t*7|t*7L");
    CHECK(said(problem("Et*8|(t*8|)*14t*7L")["message"]) == R"(problem.layout.layers {"given":127,"model":126})");
    CHECK(said(problem("Et*7|(t*8|)*14t*7mL")["message"]) == R"(problem.layout.multi_token {"given":1,"model":0})");
    const Json chunks = problem("Et*7|(t*8|)*14t*7L", {{"pipeline_parallel", 8}, {"virtual_stages", 1}, {"tensor_parallel", 8}});
    CHECK((chunks["rule"] == "layers_divide" && chunks["nearest"] == 16));
}

TEST_CASE("any number of layers over any number of stages: what the search proposes") {
    const auto layout = [](Json request) { return json(api::estimate(request.dump()))["job"]["layout"].get<std::string>(); };
    const Json big = {{"tensor_parallel", 8}, {"context_parallel", 1}, {"virtual_stages", 1}, {"recompute", "full"}};
    Json request = big;
    request.update({{"model", "llama-3.1-405b"}, {"gpus", 1'024}, {"pipeline_parallel", 16}});
    CHECK(layout(request) == "Et*7|(t*8|)*14t*7L");  // as its authors split it (arXiv 2407.21783, section 3.3.2)
    request.update({{"model", "llama-3.1-70b"}, {"gpus", 96}, {"pipeline_parallel", 12}, {"global_batch", 96}});
    const std::string eighty = layout(request);  // 80 layers on 12 stages: none longer than 7, the loss counts as part of a layer
    Problems problems;
    const auto twelve = read_layout(eighty, problems);
    CHECK(twelve.has_value());
    if (!twelve) return;
    CHECK((twelve->chunks() == 12 && twelve->layers() == 80));
    for (std::size_t i = 0; i < 12; ++i) CHECK(twelve->at(i) <= 7);
    CHECK(twelve->at(11) <= 6);
    request.update({{"model", "deepseek-v3"},
                    {"gpus", 2'048},
                    {"pipeline_parallel", 16},
                    {"global_batch", 2'048},
                    {"tensor_parallel", 1},
                    {"sequence_length", 4'096}});
    const auto sixteen = read_layout(layout(request), problems);
    CHECK(sixteen.has_value());
    if (!sixteen) return;
    CHECK((sixteen->chunks() == 16 && sixteen->layers() == 61 && sixteen->multi_token == 1));
    CHECK(sixteen->at(0) >= sixteen->at(1));  // three of the first ones are dense
    CHECK(sixteen->at(15) < sixteen->at(1));  // loss and the further layer
}

TEST_CASE("rounded splits: the first chunks hold one layer more, as PyTorch stacks share them out") {
    Model model = catalog().model("qwen2.5-7b")->model;  // 28 layers
    Plan plan;
    plan.gpus = 16;
    plan.pipeline_parallel = 16, plan.tensor_parallel = plan.context_parallel = plan.micro_batch = 1;
    plan.split = Split::front;
    CHECK(is_legal(model, plan));
    const Stages stages(model, plan);
    for (std::int32_t i = 0; i < 16; ++i) CHECK(stages.layers_of(i, 0) == (i < 12 ? 2 : 1));
    CHECK(layers_of(front_layout(model, 16)) == std::vector<std::int64_t>{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1});
    plan.split = Split::equal;
    CHECK_FALSE(is_legal(model, plan));
}

TEST_CASE("a listed layout that says what a rule says changes nothing") {
    Random random(32);
    for (int i = 0; i < 400; ++i) {
        const Model model = tests::random_model(random);
        Plan plan = tests::random_legal_plan(random, model);
        plan.recompute_layers = 1;
        const Stages by_rule(model, plan);
        std::vector<std::int32_t> list(static_cast<std::size_t>(plan.chunks()));
        for (std::int32_t stage = 0; stage < plan.pipeline_parallel; ++stage)
            for (std::int32_t chunk = 0; chunk < plan.virtual_stages; ++chunk)
                list[static_cast<std::size_t>(by_rule.position(stage, chunk))] = static_cast<std::int32_t>(by_rule.layers_of(stage, chunk));
        Plan listed = plan;
        listed.layout = std::make_shared<const Layout>(list, model.multi_token_layers);
        CHECK(is_legal(model, listed));
        const SearchSpace space{model, plan, *catalog().gpu("h100-sxm-80gb"), Method::detailed};
        const Estimated a = estimated(space, plan), b = estimated(space, listed);
        CHECK(a.bytes == b.bytes);
        CHECK(a.seconds == b.seconds);
    }
}

TEST_CASE("balanced layouts hold every layer once, and no other split has a shorter longest stage") {
    Random random(33);
    for (int i = 0; i < 2'000; ++i) {
        Model model = tests::random_model(random);
        Plan plan;
        plan.pipeline_parallel = random.from(2, 6);
        model.layers = random.from(plan.pipeline_parallel, 14);
        LayerTimes times;
        times.dense.forward = 1, times.dense.backward = 2;
        times.embedding = static_cast<double>(random.from(0, 40)) / 10;
        times.head = static_cast<double>(random.from(0, 90)) / 10;
        const auto longest = [&](const std::vector<std::int64_t>& layers) {
            double most = 0;
            for (std::size_t s = 0; s < layers.size(); ++s)
                most = std::max(most, 3.0 * static_cast<double>(layers[s]) + (s == 0 ? times.embedding : 0) +
                                          (s + 1 == layers.size() ? times.head : 0));
            return most;
        };
        const LayoutPointer found = balanced_layout(model, plan, times);
        std::vector<std::int64_t> here =
            found ? layers_of(*found)
                  : std::vector<std::int64_t>(static_cast<std::size_t>(plan.pipeline_parallel), model.layers / plan.pipeline_parallel);
        if (!found && model.layers % plan.pipeline_parallel != 0) continue;  // no way: a stage between the ends would stay empty
        if (found) CHECK(found->layers() == model.layers);
        // every other split, by brute force
        double best = INFINITY;
        std::vector<std::int64_t> split(static_cast<std::size_t>(plan.pipeline_parallel));
        const auto fill = [&](auto&& self, std::size_t stage, std::int64_t left) -> void {
            if (stage + 1 == split.size()) {
                split[stage] = left;
                best = std::min(best, longest(split));
                return;
            }
            for (std::int64_t n = stage == 0 ? 0 : 1; n <= left; ++n) {
                split[stage] = n;
                self(self, stage + 1, left - n);
            }
        };
        fill(fill, 0, model.layers);
        CHECK(longest(here) == doctest::Approx(best));
    }
}

TEST_CASE("layers move where memory wants it so") {
    // 70B on 64 H100: with 10 layers on each of 8 stages the first one, which keeps most micro-batches, does not fit
    const Json request = {{"model", "llama-3.1-70b"}, {"gpus", 64},       {"tensor_parallel", 4}, {"pipeline_parallel", 8},
                          {"context_parallel", 1},    {"micro_batch", 1}, {"virtual_stages", 1},  {"recompute", "none"}};
    Json equal = request;
    equal["layout"] = "equal";
    CHECK(json(api::estimate(equal.dump()))["class"] != "fits");
    const Json moved = json(api::estimate(request.dump()));
    CHECK(moved["class"] == "fits");
    CHECK(moved["stages"][0]["layers"] < moved["stages"][6]["layers"]);
}
