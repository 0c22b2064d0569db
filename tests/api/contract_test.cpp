// The contract (core/contract) and the core agree: no answer has a key that the contract lacks, the contract has no key that no answer has,
// and every key of a request is one that the core takes. Tests of single functions check their answers the same way.
#include "contract.h"
#include "calibration/calibration.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "api.h"
#include "calibration/calibration.h"
#include "embedded_tests.h"
#include "golden/answer.h"

using namespace fourfold;
using tests::answer_defect;
using tests::at;
using tests::defect;
using tests::json;
using tests::request_defect;

namespace {

Json ask(const std::string& function, const Json& request) {
    return golden_answer(Json{{"function", function}, {"request", request}})["response"];
}

// An answer, and a request that is answered, keep the contract.
Json checked(const std::string& function, const Json& request) {
    Json answer = ask(function, request);
    CAPTURE(function);
    CAPTURE(request);
    CHECK(answer_defect(answer, function) == "");
    if (at(answer, "ok") == true) CHECK(request_defect(request, function) == "");
    return answer;
}

void check_goldens() {
    for (const embedded::File& file : embedded::golden) {
        const Json golden = json(file.text);
        const std::string function = golden["function"];
        if (function == "fields" || function == "gpu_fields" || function == "config_formats") continue;  // parts of catalog()
        checked(function, golden["request"]);
        if (function == "search") CHECK(defect(golden_answer(golden)["columns"], "SearchColumns") == "");
    }
}

// What is said in a few answers only, and not in the goldens.
struct Case {
    const char *function, *request;
};
constexpr Case kRare[] = {
    {"import_config", R"({"model_type": "qwen3_5_text", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100, "attn_output_gate": false})"},
    {"estimate", R"({"token_budget": 1e12, "price_per_gpu_hour": 2, "watts_per_gpu": 700, "stage": 1})"},
    {"estimate", R"({"model": "qwen3-30b-a3b", "gpus": 64})"},
    {"estimate", R"({"gpus": 7, "tensor_parallel": "auto", "global_batch": 3})"},
    {"limits", R"({"gpus": 2, "tensor_parallel": 2, "pipeline_parallel": 1, "sequence_parallel": false, "global_batch": 2})"},
    {"limits", R"({"gpus": 1, "pipeline_parallel": 1, "expert_parallel": 48})"},
    {"rank", R"({"model": "llama-3.1-405b", "gpus": 8})"},
    {"rank", R"({"only": {"tensor_parallel": 2, "pipeline_parallel": 1, "context_parallel": 1, "micro_batch": 1, "expert_parallel": 1,
                          "expert_tensor_parallel": 1, "virtual_stages": 1, "schedule": "1f1b", "recompute": "none", "zero": "optimizer",
                          "sequence_parallel": true, "memory_at_most_gib": 80}})"},
    {"versus", R"({"gpus": 8, "other": {"tensor_parallel": 3}})"},
    {"estimate", R"({"gpu": "H100"})"},
    {"import_config", R"({"model_type": "falcon", "hidden_size": 8192, "num_attention_heads": 128, "num_hidden_layers": 60,
                          "num_kv_heads": 8, "vocab_size": 65024, "new_decoder_architecture": true})"},
    {"versus", R"({"gpus": 8, "tensor_parallel": 3})"},
    {"calibrate", R"({"gpus": 8, "tensor_parallel": 3, "runs": [{"step_seconds": 1}]})"},
    {"calibrate",
     R"({"gpus": 64, "global_batch": 512, "tensor_parallel": 2, "pipeline_parallel": 1, "micro_batch": 1, "flop_convention": "causal", "runs": [
                      {"step_milliseconds": 8000, "allocated_gib": 40}, {"tokens_per_second": 524288, "allocated_mib": 40960},
                      {"tokens_per_second_per_gpu": 8192, "allocated_bytes": 42949672960}, {"tflops_per_gpu": 421, "reserved_gib": 42},
                      {"mfu": 0.43, "flop_convention": "full", "reserved_mib": 43008, "data_parallel": 32}, {"reserved_bytes": 45097156608}]})"},
    {"import_config", R"({"model_type": "qwen2_moe", "hidden_size": 2048, "num_attention_heads": 16, "num_hidden_layers": 24,
                          "intermediate_size": 5632, "vocab_size": 151936, "qkv_bias": false, "mlp_only_layers": [1],
                          "use_sliding_window": true, "sliding_window": 4096, "max_window_layers": 12})"},
    {"import_config", R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 4,
                          "intermediate_size": 11008, "vocab_size": 32000, "attention_bias": true, "mlp_bias": true,
                          "gated_mlp": false, "layer_norm": true, "qk_layernorm": true, "learned_positions": true,
                          "max_position_embeddings": 2048, "attention_chunk_size": 1024, "layer_types": ["chunked_attention", "chunked_attention", "full_attention",
                          "full_attention"]})"},
    {"read_links", R"({"text": "0 10 20\n10 0 30\n20 30 0", "unit": "gbyte_per_s", "format": "matrix", "units": "gpus"})"},
    {"read_links", R"({"text": "{\"nodes\": [\"a\", \"b\"], \"gbyte_per_s\": [[0, 10], [null, 0]], \"latency_us\": [[0, 1], [1, 0]]}"})"},
    {"read_links",
     R"({"text": "# Collective test starting: all_reduce_perf\n# Rank 0 Group 0 Pid 1 on a device 0 [0x07] H100\n# Rank 1 Group 0 Pid 2 on a device 1 [0x08] H100\n# size count type redop root time algbw busbw\n1000000000 250000000 float sum -1 10000 100 100"})"},
    {"phases", R"({"gpus": 8, "phases": [{"tokens": 1e9}], "restart_seconds": 60, "failure_hours_per_gpu": "auto",
                   "checkpoint_seconds": 3600, "keep_degrees": true})"},
    {"pools", R"({"gpus": 8, "more_pools": [{"gpu": "a100-sxm-80gb", "gpus": 8}]})"},
    {"place", R"({"gpus": 4, "gpus_per_node": 1, "tensor_parallel": 1, "pipeline_parallel": 2, "context_parallel": 1, "global_batch": 64,
                  "units": [{"name": "b", "speed": 0.5, "memory_gib": 80}], "seed": 2, "moves": 2000, "restarts": 1, "start": [3, 2, 1, 0],
                  "objective": "step_time", "candidates": [{"micro_batch": 1}],
                  "links": {"gpus": ["a", "b", "c", "d"], "gbyte_per_s": [[null, 9, 8, 7], [9, null, 6, 5], [8, 6, null, 4], [7, 5, 4, null]],
                            "latency_us": [[null, 1, 1, 1], [1, null, 1, 1], [1, 1, null, 1], [1, 1, 1, null]]}})"},
    {"place", R"({"gpus": 4, "gpus_per_node": 1, "tensor_parallel": 1, "pipeline_parallel": 4, "context_parallel": 1, "global_batch": 64,
                  "micro_batch": 1, "virtual_stages": 1, "layout": "equal", "schedule": "1f1b", "units": [{"name": "b", "speed": 0.5}],
                  "moves": 2000,
                  "links": {"nodes": ["a", "b", "c", "d"],
                            "gbyte_per_s": [[null, 9, 8, 7], [9, null, 6, 5], [8, 6, null, 4], [7, 5, 4, null]]}})"},
    {"place", R"({"pipette": {"pipelines": 2, "stages": 1, "inter_dp": 2, "inner_dp": 2, "pp_msg_gbyte": 0.1, "dp_msg_gbyte": 1,
                              "inside_gbyte_per_s": 100}, "moves": 1000,
                  "links": {"nodes": ["a", "b"], "gbyte_per_s": [[null, 9], [9, null]]}})"},
};

void check_rare() {
    for (const Case& one : kRare) checked(one.function, json(one.request));
    Json progress;
    const auto listen = [](void* heard, const std::string& text) {
        *static_cast<Json*>(heard) = json(text);
        return true;
    };
    api::place(R"({"pipette": {"stages": 2}, "links": {"nodes": ["a", "b"], "gbyte_per_s": [[0, 9], [9, 0]]}})", listen, &progress);
    CHECK(defect(progress, "PlaceProgress") == "");
}

// Every key that a request may have, at its default: each must be taken.
void check_requests() {
    const Json catalog = json(api::catalog());
    CHECK(answer_defect(catalog, "catalog") == "");
    Json plan = Json::object();
    for (const Json& field : catalog["fields"]) plan[field["key"].get<std::string>()] = field["default"];
    CHECK(defect(plan, "Settings") == "");
    Json job = plan;
    for (const char* key : {"token_budget", "price_per_gpu_hour", "watts_per_gpu", "grid_co2_per_kwh", "leave_out", "risk"})
        plan.erase(key);
    job.update(json(R"({"version": 2, "model": "llama-3.1-8b", "gpu": "h100-sxm-80gb", "cluster": "dgx-h100", "method": "detailed"})"));
    Json run = plan;
    for (const std::string_view key : kCalibrationKeys) run.erase(std::string(key));
    run.update(
        json(R"({"step_seconds": 99, "nodes": 1, "tensor_parallel": 1, "pipeline_parallel": 4, "context_parallel": 1, "micro_batch": 1})"));
    const auto with = [&](const char* function, const char* key, Json value) {
        Json request = job;
        if (*key != '\0') request[key] = std::move(value);
        const Json answer = checked(function, request);
        CHECK_MESSAGE(at(answer, "ok") == true, std::string(function), answer.dump());
    };
    with("estimate", "stage", "auto");
    with("estimate", "explain", false);
    with("alternatives", "", nullptr);
    with("timeline", "", nullptr);
    Json chosen = json(api::estimate(job.dump()))["job"];
    chosen["format"] = "megatron-lm-slurm";
    chosen["release"] = "0.12";
    chosen["hosts"] = Json::array({"node1"});
    chosen["whole"] = true;
    CHECK(at(checked("export_plan", chosen), "ok") == true);
    CHECK(
        at(checked("import_plan",
                   json(R"({"text": "run --num-layers 2 --seq-length 8 --micro-batch-size $B --global-batch-sise 8", "set": {"A": "1"}})")),
           "ok") == true);
    const char* settings = R"({"entries": [{"key": "num_layers", "value": 2, "line": 1}, {"key": "seq_length", "value": "${S}"},
        {"key": "micro_batch_size", "value": 1}]})";
    CHECK(at(checked("import_plan", json(settings)), "ok") == true);
    with("search", "gpu_counts", Json::array({8}));
    with("rank", "only", Json::object());
    with("versus", "other", plan);
    with("limits", "days", 10);
    with("calibrate", "runs", Json::array({run}));
    with("place", "links", json(R"({"nodes": ["a", "b"], "gbyte_per_s": [[0, 9], [9, 0]]})"));
}

}  // namespace

TEST_CASE("answers and requests keep the contract, and every key of it occurs" * doctest::test_suite("quality")) {
    check_goldens();
    check_rare();
    check_requests();
    std::string never;
    for (const std::string& key : tests::keys_not_met()) never += " " + key;
    CHECK(never == "");
}

TEST_CASE("the check finds what is missing, too much, of another type, out of range or of another length") {
    const Json good = ask("estimate", json(R"({"gpus": 16, "pipeline_parallel": 2})"));
    CHECK(answer_defect(good, "estimate") == "");
    const auto changed = [&](const char* path, const char* value) {
        Json answer = good;
        answer[Json::json_pointer(path)] = json(value);
        return answer_defect(answer, "estimate");
    };
    CHECK(changed("/more", "1") == "estimate.more: not in the contract: 1");
    CHECK(changed("/time/items/0/more", "1") == "estimate.time.items[0].more: not in the contract: 1");
    CHECK(changed("/share", "null") == "estimate.share: not of the right type: null");
    CHECK(changed("/share", "-0.5") == "estimate.share: out of range: -0.5");
    CHECK(changed("/stage", "1.0") == "estimate.stage: not of the right type: 1.0");
    CHECK(changed("/class", "\"perhaps\"") == "estimate.class: not one of the values: \"perhaps\"");
    CHECK(changed("/job/gpus", "\"auto\"") == "estimate.job.gpus: not of the right type: \"auto\"");
    CHECK(changed("/groups/0/items/0/formula/0", "{}").starts_with("estimate.groups[0].items[0].formula[0]: no symbol: "));
    CHECK(changed("/groups/0/items", "[]") == "estimate.groups[0].items: wrong length: []");
    CHECK(changed("/curve/after", "[]").starts_with("estimate.curve: lists of different lengths: "));
    CHECK(changed("/version", "1").starts_with("estimate: none of the alternatives: "));
    Json infinite = good, shorter = good;
    infinite["share"] = INFINITY;
    CHECK(answer_defect(infinite, "estimate") == "estimate.share: not of the right type: null");
    shorter["time"].erase("items");
    CHECK(answer_defect(shorter, "estimate").starts_with("estimate.time: no items: "));
    CHECK(request_defect(json(R"({"gpus": 8.0, "tensor_parallel": "auto"})"), "estimate") == "");  // as the core reads them
    CHECK(request_defect(json(R"({"gpu_counts": [8]})"), "estimate") == "estimate.gpu_counts: not in the contract: [8]");
    CHECK(answer_defect(std::string("{"), "estimate") != "");
}
