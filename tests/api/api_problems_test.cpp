// What nobody should send: every function answers with problems that say what is wrong, and never with anything but the documented JSON.
#include <doctest/doctest.h>

#include "api.h"
#include "contract.h"

using namespace fourfold;
using tests::answer_defect;
using tests::at;
using tests::brief;
using tests::json;

namespace {

// The problems of a request, the same for estimate() and search(), one line each.
std::string problems_of(const std::string& request) {
    const std::string estimated = api::estimate(request);
    const api::SearchAnswer searched = api::search(request);
    CHECK(answer_defect(estimated, "estimate") == "");
    CHECK(answer_defect(searched.summary, "search") == "");
    CHECK(searched.columns.row.size() ==
          (at(json(searched.summary), "legal").is_null() ? 0 : at(json(searched.summary), "legal").get<std::size_t>()));
    const std::string problems = brief(at(json(estimated), "problems"));
    CHECK(problems == brief(at(json(searched.summary), "problems")));
    return problems;
}

// Of estimate() alone: rules of plans concern a search differently.
std::string estimate_problems(const std::string& request) {
    const std::string text = api::estimate(request);
    CHECK(answer_defect(text, "estimate") == "");
    return brief(at(json(text), "problems"));
}

std::string import_problems(const std::string& text) {
    const std::string answer = api::import_config(text);
    CHECK(answer_defect(answer, "import_config") == "");
    return brief(at(json(answer), "problems"));
}

std::string first_message(const std::string& answer) {
    const Json problems = at(json(answer), "problems");
    return problems.empty() ? "" : tests::said(at(problems[0], "message"));
}

}  // namespace

TEST_CASE("texts that are not JSON") {
    for (const char* text : {"", " ", "x", "{", "{\"gpus\": 8", "{\"gpus\": }", "{'gpus': 8}", "{\"gpus\": 8,}", "{\"gpus\": NaN}",
                             "{\"gpus\": Infinity}", "{\"gpus\": 08}", "\xFF\xFE{}", "{\"\xC3\": 1}", "<html></html>"}) {
        CAPTURE(std::string(text));
        CHECK(problems_of(text) == "(all) syntax null -> null");
        CHECK(import_problems(text) == "(all) syntax null -> null");
    }
    CHECK(first_message(api::estimate("{\n\"gpus\": x}")) == R"(problem.no_json {"column":9,"line":2})");
}

TEST_CASE("JSON that is not a request, or not a config") {
    for (const char* text : {"[]", "null", "8", "\"{}\"", "true", "[{\"gpus\": 8}]"}) {
        CAPTURE(std::string(text));
        CHECK(problems_of(text).find("(all) type ") == 0);
        CHECK(import_problems(text).find("(all) type ") == 0);
    }
    CHECK(import_problems("{}") == "(all) type null -> null");
    CHECK(import_problems(R"({"foo": 1})") == "(all) type null -> null");
    CHECK(import_problems(R"({"gpus": 8, "tensor_parallel": 2})") == "(all) type null -> null");  // a job is not a config
}

TEST_CASE("numbers of every wrong kind, in every field that takes fractions; and sets") {
    for (const char* key : {"optimizer_offload", "expert_imbalance"}) {
        const auto with = [&](const std::string& value) { return problems_of(std::string("{\"") + key + "\": " + value + "}"); };
        CAPTURE(std::string(key));
        const bool fraction = std::string_view(key) == "optimizer_offload";
        const std::string least = fraction ? "0.0" : "1.0", most = fraction ? "1.0" : "64.0";
        CHECK(with("-1") == std::string(key) + " range -1 -> " + least);
        CHECK(with("-1e300") == std::string(key) + " range -1e+300 -> " + least);
        CHECK(with("1e300") == std::string(key) + " range 1e+300 -> " + most);
        CHECK(with("18446744073709551624") == std::string(key) + " range 1.8446744073709552e+19 -> " + most);
        CHECK(with("\"0.5\"") == std::string(key) + " type \"0.5\" -> null");
        CHECK(with("null") == std::string(key) + " type null -> null");
        CHECK(with("[0.5]") == std::string(key) + " type null -> null");
        CHECK(with("1") == "");
    }
    for (const char* key : {"token_budget", "price_per_gpu_hour", "watts_per_gpu"}) {
        const auto with = [&](const std::string& value) { return problems_of(std::string("{\"") + key + "\": " + value + "}"); };
        CHECK(with("-1") == std::string(key) + " range -1 -> 0.0");
        CHECK(with("1e300").find(std::string(key) + " range 1e+300 -> ") == 0);
        CHECK(with("\"a trillion\"") == std::string(key) + " type \"a trillion\" -> null");
        CHECK(with("0.5") == "");
    }
    const auto modules = [](const char* value) { return problems_of(std::string("{\"recompute_modules\": ") + value + "}"); };
    CHECK(modules("\"\"") == "");
    CHECK(modules("\"mlp,layernorm\"") == "");
    CHECK(modules("\"mlp,layernrm\"") == "recompute_modules range \"layernrm\" -> \"layernorm,mlp\"");
    CHECK(modules("\"mlp,\"") == "");
    CHECK(modules("\",\"") == "recompute_modules range \"\" -> null");
    CHECK(modules("[\"mlp\"]") == "recompute_modules type null -> null");
}

TEST_CASE("numbers of every wrong kind, in every whole-number field") {
    const Json catalog = json(api::catalog());
    for (const Json& field : catalog["fields"]) {
        if (field["type"] != "integer") continue;
        const std::string key = field["key"], max = field["max"].dump();
        const auto with = [&](const std::string& value) { return problems_of("{\"" + key + "\": " + value + "}"); };
        CAPTURE(key);
        const std::string min = field["min"].dump();
        if (min == "1") CHECK(with("0") == key + " range 0 -> 1");
        CHECK(with("-1") == key + " range -1 -> " + min);
        CHECK(with("-2147483649") == key + " range -2147483649 -> " + min);
        CHECK(with("1.5") == key + " range 1.5 -> 2");
        if (min == "1") CHECK(with("0.9999999999999999") == key + " range 0.9999999999999999 -> 1");
        CHECK(with("2147483648") == key + " range 2147483648 -> " + max);
        CHECK(with("4294967304") == key + " range 4294967304 -> " + max);                        // 2^32 + 8
        CHECK(with("18446744073709551624") == key + " range 1.8446744073709552e+19 -> " + max);  // 2^64 + 8
        CHECK(with("1e300") == key + " range 1e+300 -> " + max);
        CHECK(with("-1e300") == key + " range -1e+300 -> " + min);
        CHECK(with("\"NaN\"") == key + " type \"NaN\" -> null");
        CHECK(with("\"8\"") == key + " type \"8\" -> null");
        CHECK(with("null") == key + " type null -> null");
        CHECK(with("true") == key + " type true -> null");
        CHECK(with("[8]") == key + " type null -> null");
        CHECK(with("{\"a\": 8}") == key + " type null -> null");
        if (field["auto"] == false) CHECK(with("\"auto\"") == key + " type \"auto\" -> null");
    }
}

TEST_CASE("numbers beyond a double are too large, and never come out as null") {
    CHECK(problems_of(R"({"gpus": 1e999})") == "(all) range \"1e999\" -> null");
    CHECK(problems_of(R"({"gpus": -1e999})") == "(all) range \"-1e999\" -> null");
    CHECK(import_problems(R"({"model_type": "llama", "hidden_size": 1e999})") == "(all) range \"1e999\" -> null");
}

TEST_CASE("90,000 unknown ids, or 50,000 unknown keys, are answered briefly: the first 20 and how many there are") {
    Json ids = json("{}"), keys = json("{}");
    std::string list;
    for (int i = 0; i < 90'000; ++i) {
        list += "id" + std::to_string(i) + ",";
        if (i < 50'000) keys["key" + std::to_string(i)] = i;
    }
    for (const char* field : {"recompute_modules", "leave_out"}) {
        ids = {{field, list}};
        const std::string answer = api::estimate(ids.dump());
        CHECK(answer.size() < 20'000);
        const Json problems = json(answer)["problems"];
        REQUIRE(problems.size() == 21);
        CHECK(problems[20]["field"] == field);
        CHECK(problems[20]["value"] == 90'000);
    }
    const std::string answer = api::estimate(keys.dump());
    CHECK(answer.size() < 20'000);
    const Json problems = json(answer)["problems"];
    REQUIRE(problems.size() == 21);
    CHECK(tests::said(problems[20]["message"]) == R"(problem.more {"count":50000,"listed":20})");
}

TEST_CASE("unknown keys and ids, with what was meant") {
    CHECK(problems_of(R"({"gpu_s": 8})") == "gpu_s unknown 8 -> \"gpus\"");
    CHECK(problems_of(R"({"tensorparallel": 8})") == "tensorparallel unknown 8 -> \"tensor_parallel\"");
    CHECK(problems_of(R"({"gpu": "h100-sxm-80g"})") == "gpu range \"h100-sxm-80g\" -> \"h100-sxm-80gb\"");
    CHECK(problems_of(R"({"model": "llama3.1-8b"})") == "model range \"llama3.1-8b\" -> \"llama-3.1-8b\"");
    CHECK(problems_of(R"({"model": "a"})") == "model range \"a\" -> null");
    CHECK(problems_of(R"({"model": ""})") == "model range \"\" -> null");
    CHECK(problems_of(R"({"model": 5})") == "model type 5 -> null");
    CHECK(problems_of(R"({"model": []})") == "model type null -> null");
    CHECK(problems_of(R"({"model": null})") == "model type null -> null");
    CHECK(problems_of(R"({"model": {}})") == "model type null -> null");
    CHECK(problems_of(R"({"model": {"foo": 1}})") == "model type null -> null");
    CHECK(problems_of(R"({"gpu": 5})") == "gpu type 5 -> null");
    CHECK(problems_of(R"({"cluster": null})") == "cluster type null -> null");
    CHECK(problems_of(R"({"cluster": "dgx-h10"})") == "cluster range \"dgx-h10\" -> \"dgx-h100\"");
    CHECK(problems_of(R"({"cluster": "dgx-a100-40gb"})") == "cluster cluster_has_other_gpu \"dgx-a100-40gb\" -> \"\"");
    CHECK(problems_of(R"({"method": "fuji"})") == "method range \"fuji\" -> \"fujii2024\"");
    CHECK(problems_of(R"({"method": 1})") == "method type 1 -> null");
    CHECK(problems_of(R"({"attention": "ring"})") == "attention range \"ring\" -> null");
    CHECK(problems_of(R"({"hidden_dropout": 0.1})") == "hidden_dropout type 0.1 -> null");
}

TEST_CASE("a newer version is refused by name") {
    CHECK(problems_of(R"({"version": 3})") == "version version 3 -> 2");
    CHECK(problems_of(R"({"version": 0})") == "version range 0 -> 1");
    CHECK(problems_of(R"({"version": "1"})") == "version type \"1\" -> null");
    CHECK(problems_of(R"({"version": 1.5})") == "version range 1.5 -> 2");
    CHECK(problems_of(R"({"version": 1})") == "");
}

TEST_CASE("a model's problems are under its path, nested ones too, and all come back at once with the others") {
    CHECK(problems_of(R"({"model": {"model_type": "llama", "hidden_size": -1, "num_hidden_layers": "x", "num_attention_heads": 32,
                                    "num_experts": 8}, "gpus": 0, "nodes": 2})") ==
          "model.num_experts unsupported 8 -> null\n"
          "model.num_hidden_layers type \"x\" -> null\n"
          "model.hidden_size range -1 -> 1\n"
          "model.vocab_size missing null -> null\n"
          "model.intermediate_size missing null -> null\n"
          "gpus range 0 -> 1\n"
          "nodes unknown 2 -> null");
    CHECK(problems_of(R"({"model": {"text_config": {"model_type": "gpt2", "n_embd": 0, "n_layer": 1, "n_head": 1, "vocab_size": 1,
                                                    "n_positions": 1}}})") == "model.text_config.n_embd range 0 -> 1");
    CHECK(import_problems(R"({"text_config": {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1,
                                              "intermediate_size": 1}})") == "text_config.vocab_size missing null -> null");
}

TEST_CASE("of a key given twice the last counts") {
    CHECK(at(json(api::estimate(R"({"gpus": "x", "gpus": 16})")), "ok") == true);
    CHECK(estimate_problems(R"({"gpus": 16, "gpus": "x"})") == "gpus type \"x\" -> null");
}

TEST_CASE("texts that are too large are refused unread") {
    const std::string large(10'000'000, ' ');
    CHECK(problems_of(large + "{}") == "(all) too_large null -> null");
    CHECK(import_problems(large + "{}") == "(all) too_large null -> null");
    CHECK(import_problems(std::string(1'000'001, 'x')) == "(all) too_large null -> null");
    CHECK(import_problems(std::string(1'000'000, 'x')) == "(all) syntax null -> null");
}

TEST_CASE("deep nesting is answered, valid or not, wherever it stands") {
    const std::string open(100'000, '['), close(100'000, ']');
    CHECK(problems_of(open) == "(all) syntax null -> null");
    CHECK(import_problems(open) == "(all) syntax null -> null");
    CHECK(problems_of(open + close) == "(all) type null -> null");
    CHECK(import_problems(open + close) == "(all) type null -> null");
    CHECK(problems_of("{\"gpus\": " + open + close + "}") == "gpus type null -> null");
    CHECK(problems_of("{\"deep\": " + open + close + "}") == "deep unknown null -> null");
    CHECK(problems_of("{\"model\": " + open + close + "}") == "model type null -> null");
    CHECK(problems_of("{\"model\": {\"hidden_size\": " + open + close + "}}").find("model.hidden_size type null -> null") !=
          std::string::npos);
    CHECK(import_problems("{\"model_type\": \"llama\", \"num_experts\": " + open + close + "}").find("num_experts unsupported null") == 0);
}

TEST_CASE("a degree that does not divide the GPUs: other GPUs, or another degree") {
    CHECK(estimate_problems(R"({"gpus": 32, "pipeline_parallel": 3})") ==
          "gpus gpus_divide 32 -> 24\npipeline_parallel gpus_divide 3 -> 2");
    CHECK(estimate_problems(R"({"gpus": 32, "tensor_parallel": 2, "context_parallel": 1, "pipeline_parallel": 3, "micro_batch": 1})") ==
          "gpus gpus_divide 32 -> 24\npipeline_parallel gpus_divide 3 -> 2");
    // each of these halved would do
    CHECK(estimate_problems(R"({"gpus": 32, "tensor_parallel": 4, "context_parallel": 2, "pipeline_parallel": 8})") ==
          "gpus gpus_divide 32 -> 64\ntensor_parallel gpus_divide 4 -> 2\ncontext_parallel gpus_divide 2 -> 1\npipeline_parallel "
          "gpus_divide 8 -> 4");
    // its other problems say it already
    CHECK(estimate_problems(R"({"gpus": 32, "context_parallel": 3})") ==
          "gpus gpus_divide 32 -> 30\ncontext_parallel sequence_divides 3 -> 4");
}

TEST_CASE("plans that break rules: estimate() says which, search() counts them") {
    CHECK(estimate_problems(R"({"tensor_parallel": 2, "gpus": 7, "pipeline_parallel": 1, "context_parallel": 1, "micro_batch": 1})") ==
          "gpus gpus_divide 7 -> 8");
    CHECK(estimate_problems(R"({"tensor_parallel": 16, "gpus": 8})") == "gpus gpus_divide 8 -> 16\ntensor_parallel gpus_divide 16 -> 8");
    CHECK(estimate_problems(R"({"micro_batch": 3})").find("micro_batch batch_divides 3 -> ") == 0);
    CHECK(estimate_problems(R"({"context_parallel": 2, "attention": "plain"})") == "attention context_needs_flash \"plain\" -> \"flash\"");
    const api::SearchAnswer none = api::search(R"({"tensor_parallel": 3})");
    CHECK(at(json(none.summary), "ok") == true);
    CHECK(at(json(none.summary), "legal") == 0);
    CHECK(at(json(none.summary), "auto") == Json::array());
    CHECK(none.columns.row.empty());
}

TEST_CASE("no legal split at all: the nearest number of GPUs that has one, and it works") {
    for (const int gpus : {127, 67, 131, 1'000, 99'999, 1'048'573}) {
        CAPTURE(gpus);
        const Json answer = json(api::estimate(Json{{"gpus", gpus}}.dump()));
        if (at(answer, "ok") == true) continue;
        const Json problem = answer["problems"][0];
        CHECK(problem["rule"] == "no_split");
        CHECK(problem["field"] == "gpus");
        if (problem["nearest"].is_null()) continue;
        CHECK(at(json(api::estimate(Json{{"gpus", problem["nearest"]}}.dump())), "ok") == true);
        const int distance = std::abs(problem["nearest"].get<int>() - gpus);
        for (int other = gpus - distance + 1; other < gpus + distance; ++other)
            if (other != gpus && other <= 1'048'576) CHECK(at(json(api::estimate(Json{{"gpus", other}}.dump())), "ok") == false);
    }
    CHECK(estimate_problems(R"({"gpus": 127})") == "gpus no_split 127 -> 128");
}

// 100,000 GPUs as 8 stages are 12,500 copies.
TEST_CASE("no legal split and no number of GPUs near by: the nearest batch that has one, and nothing that is not so") {
    const std::string job = R"({"model": "llama-3.1-8b", "gpu": "h100-sxm-80gb", "gpus": 100000, "global_batch": )";
    const Json problems = json(api::estimate(job + "1024}"))["problems"];
    std::string fields;
    for (const Json& problem : problems) {
        fields += problem["field"].get<std::string>() + " ";
        CHECK(problem["rule"] == "no_split");  // no plan is that of one stage: that its batch divides is no rule for all
    }
    CHECK(fields == "gpus global_batch ");
    const Json nearest = problems.back()["nearest"];
    REQUIRE(nearest.is_number());
    CHECK(nearest <= 12'500);
    CHECK(at(json(api::estimate(job + nearest.dump() + "}")), "ok") == true);
}

TEST_CASE("no split with equal stages: another one is offered") {
    const std::string bloom = R"({"model": "bloom-176b", "gpu": "a100-sxm-80gb", "gpus": 384, "sequence_length": 2048, "global_batch": 2048,
        "framework": "megatron-2024", "tensor_parallel": 4, "pipeline_parallel": 12)";
    CHECK(estimate_problems(bloom + "}").find("layout no_split \"auto\" -> \"weights\"") != std::string::npos);
    CHECK(at(json(api::estimate(bloom + R"(, "layout": "weights"})")), "class") == "fits");
}

TEST_CASE("the paper's method is for dense models") {
    CHECK(problems_of(R"({"method": "fujii2024", "model": "llama-4-maverick"})") ==
          "method method_of_dense_models \"fujii2024\" -> \"detailed\"");
    CHECK(problems_of(R"({"method": "fujii2024", "model": "qwen3.5-27b"})") ==
          "method method_of_dense_models \"fujii2024\" -> \"detailed\"");
    CHECK(problems_of(R"({"method": "fujii2024", "model": "deepseek-v2-lite"})") ==
          "method method_of_dense_models \"fujii2024\" -> \"detailed\"");
}

TEST_CASE("when another field than the GPUs is what no split can keep, that field is named") {
    // 3 equal chunks never divide 32 layers, on any number of GPUs
    CHECK(estimate_problems(R"({"virtual_stages": 3, "layout": "equal"})") ==
          "pipeline_parallel layers_divide 1 -> null\n"
          "virtual_stages interleaving_needs_stages 3 -> 1");
}

TEST_CASE("search: GPU counts of every wrong kind") {
    const auto with = [](const std::string& counts) {
        const std::string text = api::search("{\"gpu_counts\": " + counts + "}").summary;
        CHECK(answer_defect(text, "search") == "");
        return brief(at(json(text), "problems"));
    };
    CHECK(with("[8]") == "");
    CHECK(with("[]") == "gpu_counts type null -> null");
    CHECK(with("8") == "gpu_counts type null -> null");
    CHECK(with("{}") == "gpu_counts type null -> null");
    CHECK(with("\"auto\"") == "gpu_counts type null -> null");
    CHECK(with("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]") == "gpu_counts type null -> null");
    CHECK(with("[8, 0, \"x\", 1.5, 1e300]") ==
          "gpu_counts[1] range 0 -> 1\n"
          "gpu_counts[2] type \"x\" -> null\n"
          "gpu_counts[3] range 1.5 -> 2\n"
          "gpu_counts[4] range 1e+300 -> 1048576");
    CHECK(estimate_problems(R"({"gpu_counts": [8]})").find("gpu_counts unknown") == 0);
}

TEST_CASE("the largest values of all fields together are finite") {
    const std::string model = R"("model": {"hidden_size": 262144, "num_hidden_layers": 2000, "num_attention_heads": 1024,
        "intermediate_size": 2097152, "vocab_size": 16777216, "head_dim": 1024, "max_position_embeddings": 1000000000})";
    CHECK(estimate_problems("{" + model + R"(, "sequence_length": 16777216, "global_batch": 16777216, "micro_batch": 65536,
        "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 1, "attention": "plain", "attention_dropout": true,
        "hidden_dropout": true, "gpus": 1})") == "");
    CHECK(estimate_problems("{" + model + R"(, "gpus": 1048576, "sequence_length": 16777216, "gpus_per_node": 256})") == "");
    CHECK(import_problems(model.substr(9)) == "");
}

TEST_CASE("fp8 on a card without it is refused, as frameworks refuse it") {
    for (const char* gpu : {"a100-sxm-40gb", "a100-sxm-80gb", "a100-pcie-40gb", "a100-pcie-80gb"})
        for (const char* precision : {"fp8", "fp8_weights"}) {
            CAPTURE(std::string(gpu));
            const std::string request = std::string(R"({"gpu": ")") + gpu + R"(", "precision": ")" + precision + "\"}";
            CHECK(problems_of(request) == std::string("precision precision_needs_card \"") + precision + "\" -> \"bf16\"");
        }
    CHECK(first_message(api::estimate(R"({"gpu": "a100-sxm-80gb", "precision": "fp8"})")) ==
          R"(problem.gpu_without_fp8 {"gpu":"A100 SXM 80 GB"})");
    for (const char* request : {R"({"gpu": "a100-sxm-80gb", "precision": "bf16"})", R"({"gpu": "h100-sxm-80gb", "precision": "fp8"})",
                                R"({"gpu": "h20-sxm-96gb", "precision": "fp8"})"})
        CHECK(problems_of(request) == "");
    const Json versus = json(api::versus(R"({"gpu": "a100-sxm-80gb", "other": {"precision": "fp8"}})"));
    CHECK(brief(at(versus, "problems")) == "other.precision precision_needs_card \"fp8\" -> \"bf16\"");
}
