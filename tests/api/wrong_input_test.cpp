// What people get wrong, in a field, in a link and in a paste: each is told which field, what is wrong with it, and what to do.
#include <doctest/doctest.h>

#include "api.h"
#include "contract.h"

using namespace fourfold;
using tests::at;
using tests::json;

namespace {

enum Where { field, link, paste };

struct Row {
    Where where;
    const char* given;
    const char* told;  // of each problem: field, rule -> nearest value or candidates; what to do
};

std::string told(const Json& problem) {
    const Json candidates = at(problem, "candidates");
    const Json what = at(problem, "suggestion");
    return at(problem, "field").get<std::string>() + " " + at(problem, "rule").get<std::string>() + " -> " +
           (candidates.is_null() ? at(problem, "nearest") : candidates).dump() + (what.is_null() ? "" : "; " + tests::said(what));
}

std::string told(const Row& row) {
    const std::string answer = row.where == paste ? api::import_config(row.given) : api::estimate(row.given);
    CHECK(tests::answer_defect(answer, row.where == paste ? "import_config" : "estimate") == "");
    std::string all;
    for (const Json& problem : at(json(answer), "problems")) {
        CHECK(tests::said(at(problem, "message")) != "");
        all += (all.empty() ? "" : "\n") + told(problem);
    }
    return all;
}

const Row kRows[] = {
    {field, R"({"sequence_length": "8kk"})", R"(sequence_length type -> null; suggestion.such_as {"example":8192.0})"},
    {field, R"({"sequence_length": ""})", R"(sequence_length type -> null; suggestion.such_as {"example":8192.0})"},
    {field, R"({"sequence_length": 0})", R"(sequence_length range -> 1)"},
    {field, R"({"sequence_length": -8192})", R"(sequence_length range -> 1)"},
    {field, R"({"sequence_length": 8192.5})", R"(sequence_length range -> 8193)"},
    {field, R"({"sequence_length": 99999999999})", R"(sequence_length range -> 16777216)"},
    {field, R"({"sequence_length": true})", R"(sequence_length type -> null; suggestion.number)"},
    {field, R"({"sequence_length": null})", R"(sequence_length type -> null; suggestion.number)"},
    {field, R"({"gpus": "a lot"})", R"(gpus type -> null; suggestion.such_as {"example":8.0})"},
    {field, R"({"gpus": 0})", R"(gpus range -> 1)"},
    {field, R"({"gpus": 1.5})", R"(gpus range -> 2)"},
    {field, R"({"gpus": "32 nodes of 8"})", R"(gpus type -> null; suggestion.such_as {"example":8.0})"},
    {field, R"({"gpus": 1e30})", R"(gpus range -> 1048576)"},
    {field, R"({"gpus": [8]})", R"(gpus type -> null; suggestion.number)"},
    {field, R"({"global_batch": 390.625})", R"(global_batch range -> 391)"},
    {field, R"({"global_batch": "4M apples"})", R"(global_batch type -> null; suggestion.such_as {"example":1024.0})"},
    {field, R"({"global_batch": 0})", R"(global_batch range -> 1)"},
    {field, R"({"tensor_parallel": "two"})", R"(tensor_parallel type -> null; suggestion.such_as {"example":8.0})"},
    {field, R"({"tensor_parallel": 3})", R"(tensor_parallel heads_divide -> 4
tensor_parallel kv_heads_divide -> 4
tensor_parallel ffn_divides -> 4
gpus gpus_divide -> 6)"},
    {field, R"({"tensor_parallel": 4096})", R"(tensor_parallel range -> 1024)"},
    {field, R"({"pipeline_parallel": 7})", R"(gpus gpus_divide -> 7
pipeline_parallel gpus_divide -> 8)"},
    {field, R"({"micro_batch": "automatic"})", R"(micro_batch type -> null; suggestion.such_as {"example":8.0})"},
    {field, R"({"token_budget": "15 T T"})", R"(token_budget type -> null; suggestion.such_as {"example":15000000000000.0})"},
    {field, R"({"token_budget": -1})", R"(token_budget range -> 0.0)"},
    {field, R"({"token_budget": 1e20})", R"(token_budget range -> 1e+16)"},
    {field, R"({"price_per_gpu_hour": "cheap"})", R"(price_per_gpu_hour type -> null; suggestion.such_as {"example":2.5})"},
    {field, R"({"price_per_gpu_hour": -2.5})", R"(price_per_gpu_hour range -> 0.0)"},
    {field, R"({"watts_per_gpu": "700 volts"})", R"(watts_per_gpu type -> null; suggestion.such_as {"example":700.0})"},
    {field, R"({"optimizer_offload": "half"})", R"(optimizer_offload type -> null; suggestion.such_as {"example":0.0})"},
    {field, R"({"optimizer_offload": 1.5})", R"(optimizer_offload range -> 1.0)"},
    {field, R"({"precision": "fp7"})", R"(precision range -> "fp8"; suggestion.did_you_mean {"near":"fp8"})"},
    {field, R"({"precision": "FP8"})", R"(precision range -> "fp8"; suggestion.did_you_mean {"near":"fp8"})"},
    {field, R"({"recompute": "yes"})", R"(recompute range -> null)"},
    {field, R"({"recompute_modules": "mlp,layernrm"})",
     R"(recompute_modules range -> "layernorm,mlp"; suggestion.did_you_mean {"near":"layernorm"})"},
    {field, R"({"recompute_modules": "mpl,layernrm"})", R"(recompute_modules range -> "layernorm"
recompute_modules range -> "layernorm"; suggestion.did_you_mean {"near":"layernorm"})"},
    {field, R"({"recompute_modules": "everything"})", R"(recompute_modules range -> null)"},
    {field, R"({"zero": 3})", R"(zero type -> null)"},
    {field, R"({"framework": "deepsped"})", R"(framework range -> null)"},
    {field, R"({"sequence_parallel": "on"})", R"(sequence_parallel type -> null)"},
    {field, R"({"layout": "4,4"})", R"(layout layout -> "auto"; suggestion.layout_notation)"},
    {link, R"({"model": "llama-70b"})",
     R"(model range -> ["llama-2-70b","llama-3-70b","llama-3.1-70b","llama-3.3-70b"]; suggestion.one_of)"},
    {link, R"({"model": "Llama-3.1-70B"})", R"(model range -> "llama-3.1-70b"; suggestion.did_you_mean {"near":"llama-3.1-70b"})"},
    {link, R"({"model": "meta-llama/Llama-3.1-70B"})",
     R"(model range -> "llama-3.1-70b"; suggestion.did_you_mean {"near":"llama-3.1-70b"})"},
    {link, R"({"model": "llama-9-1t"})", R"(model range -> null; suggestion.from_the_list)"},
    {link, R"({"model": "lama-3.1-8b"})", R"(model range -> "llama-3.1-8b"; suggestion.did_you_mean {"near":"llama-3.1-8b"})"},
    {link, R"({"model": "gpt-5"})", R"(model range -> null; suggestion.from_the_list)"},
    {link, R"({"model": ""})", R"(model range -> null; suggestion.from_the_list)"},
    {link, R"({"model": 8})", R"(model type -> null)"},
    {link, R"({"gpu": "H100"})", R"(gpu range -> ["h100-pcie-80gb","h100-nvl-94gb","h100-sxm-80gb","h100-sxm-94gb"]; suggestion.one_of)"},
    {link, R"({"gpu": "a100"})", R"(gpu range -> ["a100-pcie-40gb","a100-sxm-40gb","a100-pcie-80gb","a100-sxm-80gb"]; suggestion.one_of)"},
    {link, R"({"gpu": "h100-80gb"})", R"(gpu range -> ["h100-pcie-80gb","h100-sxm-80gb"]; suggestion.one_of)"},
    {link, R"({"gpu": "h100-sxm-80g"})", R"(gpu range -> "h100-sxm-80gb"; suggestion.did_you_mean {"near":"h100-sxm-80gb"})"},
    {link, R"({"gpu": "TPU v5p"})", R"(gpu range -> null; suggestion.from_the_list)"},
    {link, R"({"gpu": "RTX 4090"})", R"(gpu range -> "rtx-4090-24gb"; suggestion.did_you_mean {"near":"rtx-4090-24gb"})"},
    {field, R"({"gpu": {"name": "Mine", "memory_gib": -80}})", R"(gpu.memory_gib range -> 1.0)"},
    {field, R"({"gpu": {"name": "Mine", "memory_gib": 1e300}})", R"(gpu.memory_gib range -> 10000.0)"},
    {field, R"({"gpu": {"name": "Mine", "memory_gib": 1e999}})", R"( range -> null; suggestion.smaller_number)"},
    {field, R"({"gpu": {"name": "Mine", "memory_gib": NaN}})", R"( syntax -> null; suggestion.whole_file)"},
    {field, R"({"gpu": {"name": "Mine", "hbm_gbyte_per_s": 0}})", R"(gpu.hbm_gbyte_per_s range -> 1.0)"},
    {field, R"({"gpu": {"name": "Mine", "streaming_multiprocessors": 1.5}})", R"(gpu.streaming_multiprocessors range -> 2)"},
    {field, R"({"gpu": {"base": "H200", "bf16_dense_tflop_per_s": "fast", "usd_per_gpu_hour": null, "memory": 80}})",
     R"(gpu.base range -> "h200-sxm-141gb"; suggestion.did_you_mean {"near":"h200-sxm-141gb"}
gpu.name missing -> null
gpu.bf16_dense_tflop_per_s type -> null; suggestion.such_as {"example":989.4}
gpu.usd_per_gpu_hour type -> null; suggestion.number
gpu.memory unknown -> "memory_gib"; suggestion.did_you_mean {"near":"memory_gib"})"},
    {field, R"({"gpu": {"name": "  "}})", R"(gpu.name range -> null)"},
    {field, R"({"gpu": {"name": "two\nlines"}})", R"(gpu.name range -> null)"},
    {field, R"({"gpu": {"name": 8}})", R"(gpu.name type -> null)"},
    {link, R"({"gpu": 8})", R"(gpu type -> null)"},
    {link, R"({"cluster": "tsubame"})", R"(cluster range -> "tsubame4"; suggestion.did_you_mean {"near":"tsubame4"})"},
    {link, R"({"cluster": "aws-p4d"})", R"(cluster cluster_has_other_gpu -> ""; suggestion.gpu_of_cluster)"},
    {link, R"({"method": "guess"})", R"(method range -> null; suggestion.from_the_list)"},
    {link, R"({"tensor_paralel": 8})",
     R"(tensor_paralel unknown -> "tensor_parallel"; suggestion.did_you_mean {"near":"tensor_parallel"})"},
    {link, R"({"version": 3})", R"(version version -> 2; suggestion.reload)"},
    {link, R"({"tp": 8})", R"(tp unknown -> null; suggestion.leave_out)"},
    {paste, R"()", R"( syntax -> null; suggestion.whole_file)"},
    {paste, R"(not a config)", R"( syntax -> null; suggestion.whole_file)"},
    {paste, R"({"hidden_size": 4096)", R"( syntax -> null; suggestion.whole_file)"},
    {paste, R"({})", R"( type -> null; suggestion.paste_config)"},
    {paste, R"([1, 2])", R"( type -> null; suggestion.paste_config)"},
    {paste, R"({"model_type": "llama"})", R"(num_hidden_layers missing -> null; suggestion.add_key
hidden_size missing -> null; suggestion.add_key
num_attention_heads missing -> null; suggestion.add_key
vocab_size missing -> null; suggestion.add_key
intermediate_size missing -> null; suggestion.add_key)"},
    {paste,
     R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": "many"})",
     R"(vocab_size type -> null; suggestion.digits)"},
    {paste,
     R"({"model_type": "llama", "hidden_size": 4097, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000})",
     R"(num_attention_heads range -> null; suggestion.correct_one_or_head_dim)"},
    {paste,
     R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 5, "vocab_size": 32000})",
     R"(num_key_value_heads range -> 4)"},
    {paste,
     R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 9})",
     R"(num_experts_per_tok range -> 8)"},
    {paste,
     R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 0, "num_attention_heads": 32, "vocab_size": 32000})",
     R"(num_hidden_layers range -> 1)"},
    {paste,
     R"({"model_type": "mamba2", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000, "state_size": 128})",
     "model_type unsupported -> null; suggestion.covered_model\nstate_size unsupported -> null; suggestion.covered_model"},
};

}  // namespace

TEST_CASE("each of them is told what is wrong, and what to do") {
    CHECK(std::size(kRows) >= 60);
    for (const Row& row : kRows) {
        CAPTURE(row.given);
        CHECK(told(row) == row.told);
    }
}
