// What an answer says of models with state spaces or Kimi's delta attention: what it rests on, what they forbid, what a script cannot give.
#include <doctest/doctest.h>

#include <string>

#include "api.h"
#include "support.h"

using namespace fourfold;
using tests::json;
using tests::said;

namespace {

Json request(const char* mixer, const char* plan) {
    Json all = json(R"({"gpus": 8, "sequence_length": 4096, "global_batch": 64, "tensor_parallel": 1, "pipeline_parallel": 1,
                        "context_parallel": 1, "micro_batch": 1})");
    all.update(json(plan));
    all["model"] = json(R"({"hidden_size": 1024, "intermediate_size": 2048, "num_hidden_layers": 4, "num_attention_heads": 8,
                            "num_key_value_heads": 8, "vocab_size": 32000, "tie_word_embeddings": false})");
    all["model"].update(json(mixer));
    return all;
}
const char* const kMamba = R"({"model_type": "bamba", "mamba_n_heads": 32, "mamba_d_state": 64, "attn_layer_indices": "3"})";
const char* const kKimi = R"({"model_type": "kimi_linear", "q_lora_rank": null, "kv_lora_rank": 128, "qk_nope_head_dim": 64,
    "qk_rope_head_dim": 32, "v_head_dim": 64, "attn_layer_indices": "3", "linear_num_value_heads": 8, "linear_value_head_dim": 64,
    "linear_conv_kernel_dim": 4})";

std::string all_of(const Json& texts) {
    std::string all;
    for (const Json& one : texts) all += said(one.contains("text") ? one["text"] : one) + "\n";
    return all;
}

}  // namespace

TEST_CASE("mixers: an answer says what it rests on") {
    for (const auto& [mixer, note] : {std::pair{kMamba, "assumed.state_space"}, std::pair{kKimi, "assumed.delta_attention"}}) {
        const Json answer = json(api::estimate(request(mixer, "{}").dump()));
        REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
        CHECK(all_of(answer["assumed"]).find(note) != std::string::npos);
        CHECK(all_of(answer["assumed"]).find("assumed.linear_attention") == std::string::npos);
        CHECK(said(answer["time"]["basis"]).starts_with("band.mixers"));
    }
}

TEST_CASE("mixers: one group of a state space is not shared among tensor-parallel GPUs") {
    const Json answer = json(api::estimate(request(kMamba, R"({"tensor_parallel": 2})").dump()));
    REQUIRE(answer["problems"].size() == 1);
    CHECK(said(answer["problems"][0]["message"]) == R"(problem.heads_divide.groups {"groups":1,"tensor":2})");
    CHECK(json(api::estimate(request(kKimi, R"({"tensor_parallel": 2})").dump()))["ok"] == true);
}

TEST_CASE("mixers: a script of Megatron-LM says that it cannot give them") {
    for (const char* mixer : {kMamba, kKimi}) {
        const Json answer = json(api::export_plan(json(api::estimate(request(mixer, "{}").dump()))["job"].dump()));
        REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
        CHECK(all_of(answer["left_out"]).find("export.left_out.mixers") != std::string::npos);
        CHECK(answer["text"].get<std::string>().find("gated_delta_net") == std::string::npos);
    }
}
