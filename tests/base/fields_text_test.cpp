// From text to JSON and back: syntax errors with their place, sizes, and the three visitors of a plan's fields.
#include <doctest/doctest.h>

#include <set>

#include "plan/plan.h"
#include "support.h"

using namespace fourfold;
using tests::brief;
using tests::json;

namespace {

std::string syntax_message(std::string_view text) {
    Problems problems;
    const auto value = parse(text, 1'000, problems);
    CHECK(value.has_value() == problems.empty());
    CHECK(problems.size() <= 1);
    if (problems.empty()) return "";
    CHECK(brief(problems) == "(all) syntax null -> null");
    return tests::said(problems[0].message);
}

std::string place(int line, int column) { return "problem.no_json " + Json{{"line", line}, {"column", column}}.dump(); }

Json written(const Plan& plan) {
    Json object = Json::object();
    visit_fields(plan, FieldWriter(object));
    return object;
}

std::size_t plan_problem_count(const Json& request) {
    Problems problems;
    Plan plan;
    FieldReader reader(request, problems);
    visit_fields(plan, reader);
    reader.reject_unknown();
    return problems.size();
}

}  // namespace

TEST_CASE("any JSON value is read, with white space around it") {
    for (const char* text : {"{}", " {} ", "[]", "null", "1", "\"a\"", "\n{\"a\":\t1}\r\n", "\xEF\xBB\xBF{}"}) {
        CAPTURE(std::string(text));
        CHECK(syntax_message(text).empty());
    }
}

TEST_CASE("syntax errors name line and column") {
    CHECK(syntax_message("x") == place(1, 1));
    CHECK(syntax_message("{x}") == place(1, 2));
    CHECK(syntax_message("{\"a\": 1,}") == place(1, 9));
    CHECK(syntax_message("{\"a\": 1} x") == place(1, 10));
    CHECK(syntax_message("{\n  \"a\": 1,\n  b\n}") == place(3, 3));
    CHECK(syntax_message("{\r\n\"a\": ?}") == place(2, 6));
    CHECK(syntax_message("[1, 2") == place(1, 6));  // just behind the last character
    CHECK(syntax_message("{\"a\": 1\n") == place(2, 1));
    CHECK(syntax_message("{'a': 1}") == place(1, 2));
    CHECK(syntax_message("{\"a\": NaN}") == place(1, 7));
    CHECK(syntax_message("[1, 2 // two\n]") == place(1, 7));
}

TEST_CASE("a number that no double holds is named with its place") {
    const auto message = [](const char* text) {
        Problems problems;
        CHECK_FALSE(parse(text, 1'000, problems).has_value());
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].rule == "range");
        return tests::said(problems[0].message);
    };
    CHECK(message("{\"gpus\": 1e999}") == R"(problem.number_overflows {"column":10,"line":1,"number":"1e999"})");
    CHECK(message("[1,\n -2e400, x") == R"(problem.number_overflows {"column":2,"line":2,"number":"-2e400"})");
    CHECK(message("1e999") == R"(problem.number_overflows {"column":1,"line":1,"number":"1e999"})");
}

TEST_CASE("other texts that are not JSON") {
    CHECK(syntax_message("") == "problem.no_text");
    for (const char* text :
         {" ",      "{",       "[",        "\"",       "nul",    "01",          "+1",       ".5", "1.",   "1e",  "[1 2]", "{\"a\" 1}",
          "{1: 2}", "\"\\x\"", "\"\xFF\"", "\"\xC3\"", "\"\n\"", "\"\\ud800\"", "Infinity", "-",  "[1,]", "{}}", "]",     "<html>"}) {
        CAPTURE(std::string(text));
        CHECK(!syntax_message(text).empty());
    }
}

TEST_CASE("a zero byte is not the end of a text") {
    Problems problems;
    CHECK_FALSE(parse(std::string_view("{}\0 rubbish", 11), 100, problems).has_value());
    CHECK((problems.size() == 1 && tests::said(problems[0].message) == place(1, 3)));
}

TEST_CASE("nesting costs no stack") {
    constexpr std::size_t kDeep = 300'000;
    Problems problems;
    CHECK(!parse(std::string(kDeep, '['), 1'000'000, problems));
    CHECK(problems.size() == 1);
    problems.clear();
    CHECK(parse(std::string(kDeep, '[') + std::string(kDeep, ']'), 1'000'000, problems));
    std::string objects;
    for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
    CHECK(parse(objects + "1" + std::string(100'000, '}'), 1'000'000, problems));
    CHECK(problems.empty());
}

TEST_CASE("too large a text is refused unread") {
    Problems problems;
    CHECK(parse(std::string(1'000, ' ') + "{}", 1'002, problems));
    CHECK(!parse(std::string(1'001, ' ') + "{}", 1'002, problems));
    CHECK(brief(problems) == "(all) too_large null -> null");
    if (!problems.empty()) CHECK(tests::said(problems[0].message) == R"(problem.too_large {"most":1002,"size":1003})");
}

TEST_CASE("of a key given twice, the last counts") {
    Problems problems;
    const auto value = parse("{\"a\": 1, \"a\": 2}", 1'000, problems);
    CHECK(value == json("{\"a\": 2}"));
}

TEST_CASE("a plan is written with exactly the fields of the contract, and read back") {
    Plan plan;
    CHECK(written(plan) == json(R"({"gpus": 8, "gpus_per_node": "auto", "sequence_length": 8192, "document_length": 0, "global_batch": 1024,
        "tensor_parallel": "auto", "tensor_columns": 1, "context_parallel": "auto", "pipeline_parallel": "auto", "micro_batch": "auto", "virtual_stages": 1, "virtual_stage_group": "auto",
        "schedule": "1f1b", "layout": "equal", "first_stage_layers": 0, "last_stage_layers": 0, "count_embedding_as_layer": false,
        "count_loss_as_layer": false, "zero": "optimizer", "shard_replicas": 1, "recompute": "none", "recompute_modules": "core_attn",
        "recompute_layers": 1, "precision": "bf16", "gradients_in_fp32": true, "moments": "fp32", "optimizer_offload": 0.0,
        "optimizer": "adam", "master_weights": "auto", "trained": "full", "lora_rank": 16, "lora_dropout": false, "frozen_weights": "bf16",
        "frozen_in_fp32": false,
        "lora_targets": "query,key,value,output,gate,up,down",
        "optimizer_offload_target": "host", "optimizer_offload_overlap": "none", "offload_master_weights": "auto",
        "weights_offload": false, "optimizer_in_backward": false, "optimizer_foreach": false, "activation_offload": 0.0, "context_parallel_kind": "ring",
        "feed_forward_tiles": 1, "token_slices": 1, "nvme_gbyte_per_s": 6.0, "host_memory_gib": 0.0,
        "expert_parallel": 1, "expert_tensor_parallel": 1, "expert_imbalance": 1.0, "expert_dispatch": "auto", "expert_overlap": false, "cuda_graphs": "none", "framework": "megatron-2025", "attention": "auto",
        "loss": "auto", "transformer_engine": "auto", "gradient_fusion": "auto", "softmax_fusion": "auto", "activation_fusion": "auto",
        "grouped_gemm": "auto", "large_workspaces": "auto", "attention_mask": "auto", "deferred_embedding_gradient": "auto", "fully_shard": "auto", "sync_each_micro_batch": "auto", "gathered_inputs": "auto",
        "sequence_parallel": true, "site": "measured",
        "time_factor": 1.0, "site_network": 0.7, "site_pipeline": 0.5, "site_fixed": 0.1, "site_stall": 2.5e-5,
        "time_host": 1.0, "time_link": 1.0, "time_element": 1.0, "time_spanning": 0.0, "time_spread": 1.0,
        "measured_intra_gb_s": 0.0, "measured_inter_gb_s": 0.0, "measured_inter_latency_s": 0.0, "time_runs": 0,
        "memory_factor": 1.0, "memory_extra": 0.0, "memory_runs": 0,
        "tensor_overlap": false, "overlap_gradients": true, "overlap_parameters": true, "overlap_pipeline": false, "fused_norms": true, "hidden_dropout": false, "attention_dropout": false})"));
    const Json other = json(
        R"({"gpus": 96, "gpus_per_node": 4, "sequence_length": 4096, "document_length": 640, "global_batch": 48, "tensor_parallel": 2, "tensor_columns": 4,
        "context_parallel": 3, "pipeline_parallel": 5, "micro_batch": 7, "virtual_stages": 11, "virtual_stage_group": 6, "schedule": "zb-v", "layout": "front",
        "first_stage_layers": 13, "last_stage_layers": 17, "count_embedding_as_layer": true, "count_loss_as_layer": true, "zero": "weights",
        "shard_replicas": 2, "recompute": "selective", "recompute_modules": "layernorm,mla_up_proj", "recompute_layers": 3,
        "precision": "fp8", "gradients_in_fp32": false, "moments": "8-bit", "optimizer_offload": 0.25, "expert_parallel": 19,
        "optimizer_offload_target": "nvme", "optimizer_offload_overlap": "interleaved", "offload_master_weights": "off",
        "weights_offload": true, "optimizer_in_backward": true, "optimizer_foreach": true, "activation_offload": 0.75,
        "context_parallel_kind": "all_to_all", "feed_forward_tiles": 16, "token_slices": 32, "nvme_gbyte_per_s": 12.5, "host_memory_gib": 1024.0,
        "optimizer": "muon", "master_weights": "off", "trained": "lora", "lora_rank": 64, "lora_dropout": true, "frozen_weights": "nf4",
        "frozen_in_fp32": true,
        "lora_targets": "query,value",
        "expert_tensor_parallel": 23, "expert_imbalance": 1.5, "expert_dispatch": "deepep", "expert_overlap": true, "cuda_graphs": "step", "framework": "pytorch", "attention": "plain", "loss": "te_fused",
        "transformer_engine": "on", "gradient_fusion": "off", "softmax_fusion": "off", "activation_fusion": "off", "grouped_gemm": "off",
        "large_workspaces": "on", "attention_mask": "on", "deferred_embedding_gradient": "on", "fully_shard": "off", "sync_each_micro_batch": "on", "gathered_inputs": "on",
        "sequence_parallel": false, "site": "shared", "time_factor": 1.25, "site_network": 0.5,
        "site_pipeline": 0.25, "site_fixed": 2.0, "site_stall": 0.001, "time_host": 1.5,
        "time_link": 0.75, "time_element": 2.0, "time_spanning": 0.0005, "time_spread": 3.0,
        "measured_intra_gb_s": 300.5, "measured_inter_gb_s": 40.0, "measured_inter_latency_s": 2.5e-5, "time_runs": 12, "memory_factor": 1.125, "memory_extra": -1.5, "memory_runs": 9,
        "tensor_overlap": true, "overlap_gradients": false, "overlap_parameters": false,
        "overlap_pipeline": true, "fused_norms": false, "hidden_dropout": true, "attention_dropout": true})");
    Problems problems;
    FieldReader reader(other, problems);
    visit_fields(plan, reader);
    reader.reject_unknown();
    CHECK(problems.empty());
    CHECK(plan.gpus == 96);
    CHECK(plan.gpus_per_node == 4);
    CHECK(plan.sequence_length == 4096);
    CHECK(plan.global_batch == 48);
    CHECK(plan.tensor_parallel == 2);
    CHECK(plan.context_parallel == 3);
    CHECK(plan.pipeline_parallel == 5);
    CHECK(plan.micro_batch == 7);
    CHECK(plan.virtual_stages == 11);
    CHECK(plan.zero == Zero::weights);
    CHECK(plan.recompute_modules == (RecomputeModule::layernorm | RecomputeModule::mla_up_proj));
    CHECK(plan.optimizer_offload == 0.25);
    CHECK(!plan.gradients_in_fp32);
    CHECK(plan.attention == Attention::plain);
    CHECK(plan.hidden_dropout);
    CHECK(plan.attention_dropout);
    CHECK(written(plan) == other);
}

TEST_CASE("a wrong value leaves the default in place") {
    Plan plan;
    Problems problems;
    const Json object = json(R"({"gpus": -4, "attention": "x", "hidden_dropout": 1, "tensor_parallel": 1e9})");
    FieldReader reader(object, problems);
    visit_fields(plan, reader);
    CHECK(problems.size() == 4);
    CHECK(written(plan) == written(Plan{}));
}

TEST_CASE("the form describes each field once, with a default that can be read") {
    FieldDescriber describe;
    const Plan defaults;
    visit_fields(defaults, describe);
    std::set<std::string> keys, links;
    for (const Json& field : describe.fields) {
        CAPTURE(field);
        keys.insert(field["key"].get<std::string>());
        links.insert(field["link"].get<std::string>());
        Json request = Json::object();
        request[field["key"].get<std::string>()] = field["default"];
        CHECK(plan_problem_count(request) == 0);
        if (field["type"] != "integer") continue;
        for (const char* bound : {"min", "max"}) {
            request[field["key"].get<std::string>()] = field[bound];
            CHECK(plan_problem_count(request) == 0);
        }
        request[field["key"].get<std::string>()] = field["max"].get<std::int64_t>() + 1;
        CHECK(plan_problem_count(request) == 1);
        request[field["key"].get<std::string>()] = field["min"].get<std::int64_t>() - 1;
        CHECK(plan_problem_count(request) == 1);
        request[field["key"].get<std::string>()] = "auto";
        CHECK(plan_problem_count(request) == (field["auto"] == true ? 0 : 1));
    }
    std::set<std::string> in_json;
    const Json all = written(defaults);
    for (const auto& [key, value] : all.items()) in_json.insert(key);
    CHECK(keys == in_json);
    CHECK(keys.size() == describe.fields.size());
    CHECK(links.size() == describe.fields.size());
}
