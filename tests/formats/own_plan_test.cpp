// A script of Megatron-LM is answered for its own plan and its own model, and what is written for a plan is that model.
#include <doctest/doctest.h>

#include <string>

#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::first_of_script;
using tests::ids;
using tests::json;
using tests::said;
using tests::some;

namespace {

// Llama 3.1 8B on 64 GPUs.
const std::string kStart =
    "torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py --seq-length 8192 --max-position-embeddings 131072 --bf16 "
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --group-query-attention --num-query-groups 8 "
    "--swiglu --normalization RMSNorm --untie-embeddings-and-output-weights --vocab-size 128256 "
    "--micro-batch-size 1 --global-batch-size 256 --tensor-model-parallel-size 2 --sequence-parallel ";
const std::string kLlama = kStart + "--ffn-hidden-size 14336 --disable-bias-linear --position-embedding-type rope ";
const std::string kTwoStages = "--pipeline-model-parallel-size 2 ";

std::string split(const std::string& script) { return some(first_of_script(script), {"layout", "schedule"}); }

// Mixtral 8x7B, and its experts spread.
const std::string kMixtral = kStart +
                             "--ffn-hidden-size 14336 --disable-bias-linear --position-embedding-type rope --num-experts 8 "
                             "--moe-router-topk 2 --expert-model-parallel-size 8 --moe-token-dispatcher-type alltoall ";

}  // namespace

TEST_CASE("a script that says no layout has equal stages, worked one forward, one backward") {
    CHECK(split(kLlama + kTwoStages) == R"(layout="equal" schedule="1f1b")");
    CHECK(split(kLlama + kTwoStages + "--num-layers-per-virtual-pipeline-stage 4") == R"(layout="equal" schedule="1f1b")");
    CHECK(split(kLlama + kTwoStages + "--decoder-first-pipeline-num-layers 15") == R"(layout="equal" schedule="1f1b")");
    CHECK(split(kMixtral + kTwoStages) == R"(layout="equal" schedule="1f1b")");
    // one that says it, and where there is nothing to divide
    CHECK(split(kLlama + kTwoStages + "--pipeline-model-parallel-layout 'Et*15|t*17L'") == R"(layout="Et*15|t*17L" schedule=?)");
    CHECK(split(kLlama) == "layout=? schedule=?");
    // what is open, what does not divide (Megatron-LM stops), and what another program orders
    CHECK(split(kLlama + "--pipeline-model-parallel-size $STAGES") == "layout=? schedule=?");
    CHECK(split(kLlama + kTwoStages + "--pipeline-model-parallel-layout $LAYOUT") == "layout=? schedule=?");
    CHECK(split(kLlama + "--pipeline-model-parallel-size 3") == "layout=? schedule=?");
    CHECK(split(kLlama + kTwoStages + "--enable-zero-bubble") == "layout=? schedule=?");
}

TEST_CASE("a recipe that says its stages and chunks divides dense layers alike, and may list those with experts") {
    const auto recipe = [](const std::string& model, const std::string& chunks) {
        return some(first_of("hf_path = \"" + model + "\"\nmodel.seq_length = 4096\nmodel.pipeline_model_parallel_size = 4\n" +
                             (chunks.empty() ? "" : "model.virtual_pipeline_model_parallel_size = " + chunks + "\n")),
                    {"layout", "schedule"});
    };
    CHECK(recipe("meta-llama/Llama-3.1-8B", "2") == R"(layout="equal" schedule="1f1b")");
    CHECK(recipe("meta-llama/Llama-3.1-8B", "null") == R"(layout="equal" schedule="1f1b")");
    CHECK(recipe("meta-llama/Llama-3.1-8B", "") == "layout=? schedule=?");
    CHECK(recipe("mistralai/Mixtral-8x7B-v0.1", "2") == "layout=? schedule=?");
}

TEST_CASE("a model of the catalogue stands for a script whose numbers are all its own") {
    CHECK(first_of_script(kLlama)["job"]["model"] == "llama-3.1-8b");
    const auto model = [](const std::string& changes) { return first_of_script(kLlama + changes)["job"]["model"]; };
    CHECK(model("--kv-channels 128") == "llama-3.1-8b");
    CHECK(model("--kv-channels 256")["head_dim"] == 256);
    CHECK(model("--qk-layernorm")["qk_layernorm"] == true);
    CHECK(model("--add-qkv-bias")["model_type"] == "qwen2");
    const Json biased = first_of_script(kStart + "--ffn-hidden-size 14336 --position-embedding-type rope")["job"]["model"];
    CHECK(biased["attention_bias"] == true);
    CHECK(biased["mlp_bias"] == true);
    const Json learned = first_of_script(kStart + "--ffn-hidden-size 14336 --disable-bias-linear")["job"]["model"];
    CHECK(learned["learned_positions"] == true);
    CHECK(learned["max_position_embeddings"] == 131072);
    // DeepSeek-V3: where a token's experts may lie, and how wide dense layers are
    const std::string latent =
        "torchrun --nproc_per_node 8 --nnodes 32 pretrain_gpt.py --seq-length 4096 --max-position-embeddings 4096 --bf16 --num-layers 61 "
        "--hidden-size 7168 --num-attention-heads 128 --multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --num-experts 256 "
        "--moe-router-topk 8 --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 --moe-layer-freq '([0]*3+[1]*58)' "
        "--mtp-num-layers 1 --swiglu --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights "
        "--vocab-size 129280 --position-embedding-type rope --micro-batch-size 1 ";
    const std::string groups = "--moe-router-num-groups 8 --moe-router-group-topk 4 ", dense = "--ffn-hidden-size 18432 ";
    CHECK(first_of_script(latent + groups + dense)["job"]["model"] == "deepseek-v3");
    CHECK(first_of_script(latent + dense)["job"]["model"]["n_group"] == 1);
    CHECK(first_of_script(latent + groups + "--ffn-hidden-size 12288")["job"]["model"]["intermediate_size"] == 12288);
}

TEST_CASE("a vocabulary that is not said is that of the model with the same sizes, whatever else differs") {
    const std::string largest =  // Llama 3.1 405B
        "torchrun --nproc_per_node 8 --nnodes 64 pretrain_gpt.py --seq-length 8192 --max-position-embeddings 131072 --bf16 --num-layers "
        "126 "
        "--hidden-size 16384 --ffn-hidden-size 53248 --num-attention-heads 128 --group-query-attention --num-query-groups 8 --swiglu "
        "--normalization RMSNorm --untie-embeddings-and-output-weights --disable-bias-linear --position-embedding-type rope "
        "--micro-batch-size 1 --tensor-model-parallel-size 8 --sequence-parallel ";
    CHECK(first_of_script(largest)["job"]["model"] == "llama-3.1-405b");
    const Json job = first_of_script(largest + "--qk-layernorm");
    REQUIRE(job["job"]["model"].is_object());
    CHECK(job["job"]["model"]["vocab_size"] == 128256);
    CHECK(ids(job["notes"]) == "import_plan.note.vocabulary_of");
}

TEST_CASE("arguments with an effect: fusions, capacity, and what is not counted") {
    CHECK(some(first_of_script(kMixtral + "--no-bias-swiglu-fusion"), {"activation_fusion"}) == R"(activation_fusion="off")");
    CHECK(some(first_of_script(kMixtral), {"activation_fusion", "expert_imbalance"}) == "activation_fusion=? expert_imbalance=?");
    const std::string padded = kMixtral + "--moe-pad-expert-input-to-capacity --moe-expert-capacity-factor ";
    CHECK(some(first_of_script(padded + "4.0"), {"expert_imbalance"}) == "expert_imbalance=4.0");
    CHECK(some(first_of_script(padded + "1.0"), {"expert_imbalance"}) == "expert_imbalance=?");
    CHECK(some(first_of_script(kMixtral + "--moe-expert-capacity-factor 4.0"), {"expert_imbalance"}) == "expert_imbalance=?");
    const auto noted = [](const std::string& script) { return said(first_of_script(script)["notes"][0]); };
    CHECK(noted(kLlama + "--fp32-residual-connection") == R"(import_plan.note.not_counted {"key":"fp32_residual_connection"})");
    const std::string whole = "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1 ";
    CHECK(noted(kLlama + whole + "--distribute-saved-activations") ==
          R"(import_plan.note.not_counted {"key":"distribute_saved_activations"})");
}

TEST_CASE("what does not go with tokens that travel beneath other work") {
    const std::string overlap = kMixtral + "--overlap-moe-expert-parallel-comm ";
    const auto refused = [](const std::string& script) { return first_of_script(script)["refused"]; };
    CHECK(ids(refused(overlap)) == "");
    CHECK(said(refused(overlap + "--moe-shared-expert-overlap")[0]) ==
          R"(import_plan.refused.both {"one":"--overlap-moe-expert-parallel-comm","other":"--moe-shared-expert-overlap"})");
    CHECK(said(refused(overlap + "--recompute-granularity selective --recompute-modules moe layernorm")[0]) ==
          R"(import_plan.refused.both {"one":"--overlap-moe-expert-parallel-comm","other":"--recompute-modules moe"})");
    CHECK(ids(refused(overlap + "--recompute-granularity selective --recompute-modules layernorm")) == "");
    CHECK(ids(refused(overlap + "--mtp-num-layers 1")) == "");
    CHECK(ids(refused(overlap + "--mtp-num-layers 2")) == "import_plan.refused.both");
}
