// Reads models of which some layers have linear attention.
#include <doctest/doctest.h>

#include "formats/settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("linear attention of Megatron-LM: a number, or a list where 1 says that a layer has it") {
    const std::string sizes =
        "--num-layers 8 --hidden-size 512 --ffn-hidden-size 1024 --num-attention-heads 8 --kv-channels 32 --group-query-attention "
        "--num-query-groups 2 --qk-layernorm --swiglu --normalization RMSNorm --disable-bias-linear --position-embedding-type rope "
        "--untie-embeddings-and-output-weights --vocab-size 32000 --attention-output-gate --experimental-attention-variant gated_delta_net "
        "--linear-num-key-heads 4 --linear-num-value-heads 8 --linear-key-head-dim 64 --linear-value-head-dim 96 ";
    const auto model = [&](const std::string& more) {
        return first_of_script("torchrun --nproc_per_node 8 pretrain_gpt.py " + sizes + more +
                               " --seq-length 2048 --micro-batch-size 1\n")["job"]["model"];
    };
    const Json three = model("--linear-attention-freq 3");
    CHECK(three["model_type"] == "qwen3_5_text");
    CHECK(three["full_attention_interval"] == 3);
    CHECK(three["head_dim"] == 32);
    CHECK(three["linear_num_value_heads"] == 8);
    CHECK(three["linear_value_head_dim"] == 96);
    CHECK(three["linear_conv_kernel_dim"] == 4);  // not said: the class's
    CHECK_FALSE(three.contains("attn_output_gate"));
    const Json listed = model("--linear-attention-freq '([1]*2+[0]*6)'");
    CHECK(listed["layer_types"][1] == "linear_attention");
    CHECK(listed["layer_types"][2] == "full_attention");
    CHECK(model("--linear-attention-freq 4 --num-experts 16 --moe-router-topk 2 --moe-ffn-hidden-size 256")["model_type"] ==
          "qwen3_5_moe_text");
}
