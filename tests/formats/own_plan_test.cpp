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
