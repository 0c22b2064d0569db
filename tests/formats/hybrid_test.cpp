// Reads models whose layers have a single part each: Megatron-LM, core/ssm/mamba_hybrid_layer_allocation.py
#include <doctest/doctest.h>

#include "formats/settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

const std::string kHybridSizes =
    "torchrun --nproc_per_node 8 pretrain_mamba.py --hidden-size 512 --num-attention-heads 8 --group-query-attention --num-query-groups 2 "
    "--normalization RMSNorm --disable-bias-linear --position-embedding-type none --squared-relu --untie-embeddings-and-output-weights "
    "--vocab-size 32000 --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --bf16 ";
Json read_hybrid_script(const std::string& more) { return first_of_script(kHybridSizes + more + "\n"); }

}  // namespace

TEST_CASE("Megatron-LM: a letter for each layer, and what is not said of a state space") {
    const Json model =
        read_hybrid_script("--hybrid-override-pattern M-M*-M --num-layers 6 --is-hybrid-model --ffn-hidden-size 1536")["job"]["model"];
    CHECK(model["model_type"] == "nemotron_h");
    CHECK(model["hybrid_override_pattern"] == "M-M*-M");
    CHECK(model["num_hidden_layers"] == 6);
    CHECK(model["intermediate_size"] == 1'536);
    CHECK(model["head_dim"] == 64);
    CHECK(model["mamba_num_heads"] == 2 * 512 / 64);  // mamba_mixer.py: twice the hidden size
    CHECK(model["mamba_head_dim"] == 64);             // transformer_config.py
    CHECK(model["ssm_state_size"] == 128);
    CHECK(model["n_groups"] == 8);
    CHECK_FALSE(model.contains("gated_mlp"));
    const Json other = read_hybrid_script(
        "--hybrid-layer-pattern ME*E --mamba-num-heads 12 --mamba-head-dim 32 --mamba-state-dim 16 --mamba-num-groups 4 "
        "--num-experts 16 --moe-router-topk 2 --moe-ffn-hidden-size 256 --moe-shared-expert-intermediate-size 640");
    const Json experts = other["job"]["model"];
    CHECK(experts["num_hidden_layers"] == 4);  // newer releases have the letters alone
    CHECK(experts["mamba_num_heads"] == 12);
    CHECK(experts["mamba_head_dim"] == 32);
    CHECK(experts["ssm_state_size"] == 16);
    CHECK(experts["n_groups"] == 4);
    CHECK(experts["n_routed_experts"] == 16);
    CHECK(experts["shared_expert_intermediate_size"] == 640);
    CHECK(other["asked"].empty());
    CHECK_FALSE(experts.contains("moe_latent_size"));
    const Json latent = read_hybrid_script("--hybrid-layer-pattern ME*E --num-experts 16 --moe-ffn-hidden-size 256 --moe-latent-size 128");
    CHECK(latent["job"]["model"]["moe_latent_size"] == 128);
}

TEST_CASE("Megatron-LM: the layers that ratios stand for") {
    const auto parts = [](const char* said) { return read_hybrid_script(said)["job"]["model"]["hybrid_override_pattern"]; };
    // R. Waleffe et al., arXiv 2406.07887, section 3: 24 state spaces, 4 attentions, 28 feed-forward parts
    CHECK(parts("--num-layers 56 --hybrid-attention-ratio 0.08 --hybrid-mlp-ratio 0.5") ==
          "M-M-M--M-M*-M-M-M-M--M*-M-M-M-M-M*--M-M-M-M-M*-M--M-M-M-");
    // ten layers: two of attention between three sections of 8/3 others; three of these eight, 5/3 between them
    CHECK(parts("--num-layers 10 --hybrid-attention-ratio 0.2 --hybrid-mlp-ratio 0.3 --is-hybrid-model") == "MM-*M-*MM-");
    CHECK(parts("--num-layers 3 --is-hybrid-model") == "MMM");
}

TEST_CASE("Megatron-LM: what letters say beside layers is not counted, and the model asked for") {
    // layers for further tokens, borders of stages, a gated delta rule
    for (const char* parts : {"MM*-/MM", "M-|M*", "GM*-"}) {
        const Json answer = read_hybrid_script(std::string("--hybrid-layer-pattern '") + parts + "'");
        CHECK(answer["asked"].dump() == R"(["model"])");
        CHECK(answer["notes"].dump().find("import_plan.note.not_counted") != std::string::npos);
    }
}
