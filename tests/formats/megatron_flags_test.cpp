// Whatever the model and the plan: every argument of the script is one of Megatron-LM's, and stands once.
#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "formats/formats.h"
#include "model/catalog.h"
#include "random_cases.h"

using namespace fourfold;

namespace {

// The spellings of Megatron-LM d98e8a64dd (arguments.py, transformer_config.py, model_parallel_config.py) that a script may use.
constexpr std::string_view kKnown = R"(
--num-layers --hidden-size --ffn-hidden-size --num-attention-heads --group-query-attention --num-query-groups --kv-channels
--multi-latent-attention --q-lora-rank --kv-lora-rank --qk-head-dim --qk-pos-emb-head-dim --v-head-dim --vocab-size
--max-position-embeddings --untie-embeddings-and-output-weights --swiglu --normalization --disable-bias-linear --add-qkv-bias
--qk-layernorm --num-experts --moe-router-topk --moe-router-num-groups --moe-router-group-topk --moe-token-dispatcher-type --moe-enable-deepep
--overlap-moe-expert-parallel-comm --moe-ffn-hidden-size --moe-shared-expert-intermediate-size --moe-layer-freq
--moe-grouped-gemm --mtp-num-layers --seq-length --micro-batch-size --global-batch-size --tensor-model-parallel-size
--sequence-parallel --context-parallel-size --cp-comm-type --pipeline-model-parallel-size --num-virtual-stages-per-pipeline-rank
--microbatch-group-size-per-virtual-pipeline-stage --pipeline-model-parallel-layout --decoder-first-pipeline-num-layers
--decoder-last-pipeline-num-layers --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split
--expert-model-parallel-size --expert-tensor-parallel-size --use-distributed-optimizer --use-megatron-fsdp
--data-parallel-sharding-strategy --num-distributed-optimizer-instances --recompute-granularity --recompute-method
--recompute-num-layers --recompute-modules --bf16 --fp16 --fp8-format --fp8-param-gather --fp8-recipe --ckpt-format --grad-reduce-in-bf16
--accumulate-allreduce-grads-in-fp32 --use-precision-aware-optimizer --exp-avg-dtype --exp-avg-sq-dtype --optimizer-cpu-offload
--optimizer-offload-fraction --overlap-cpu-optimizer-d2h-h2d --attention-backend --cross-entropy-loss-fusion --cross-entropy-fusion-impl --tp-comm-overlap
--overlap-grad-reduce --overlap-param-gather --no-overlap-p2p-communication --cuda-graph-impl --cuda-graph-scope
--position-embedding-type --hidden-dropout --attention-dropout --no-check-for-nan-in-loss-and-grad --transformer-impl
--moe-router-pre-softmax --no-rope-fusion --attention-output-gate --experimental-attention-variant --linear-attention-freq
--moe-router-score-function --moe-router-enable-expert-bias --moe-shared-expert-gate --linear-num-key-heads --linear-num-value-heads --linear-key-head-dim --linear-value-head-dim --linear-conv-kernel-dim
--window-size --window-attn-skip-freq --softmax-type --moe-latent-size --is-hybrid-model --hybrid-override-pattern --spec
--mamba-state-dim --mamba-head-dim --mamba-num-groups --mamba-num-heads --squared-relu
)";
bool known(const std::string& flag) {
    std::istringstream words{std::string(kKnown)};
    for (std::string word; words >> word;)
        if (word == flag) return true;
    return false;
}

// Each argument is known and stands once; one of the three ways to say chunks and layers.
void check_arguments(const std::string& script) {
    std::set<std::string> met;
    std::istringstream lines(script.substr(0, script.find("torchrun")));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("    --")) continue;
        const std::string flag = line.substr(4, line.find(' ', 4) - 4);
        CHECK_MESSAGE(known(flag), flag);
        CHECK_MESSAGE(met.insert(flag).second, flag);
    }
    if (met.contains("--pipeline-model-parallel-layout"))
        for (const char* other : {"--num-virtual-stages-per-pipeline-rank", "--decoder-first-pipeline-num-layers",
                                  "--decoder-last-pipeline-num-layers", "--account-for-embedding-in-pipeline-split"})
            CHECK_FALSE(met.contains(other));
    CHECK(met.contains("--overlap-param-gather") <= met.contains("--overlap-grad-reduce"));
    CHECK(met.contains("--tp-comm-overlap") <= met.contains("--sequence-parallel"));
}

}  // namespace

TEST_CASE("law: of any model and plan, every argument is known and stands once") {
    tests::Random random(7);
    Job job;
    job.gpu = of_catalog(catalog().gpus.front());
    for (int i = 0; i < 500; ++i) {
        job.model = tests::random_model(random);
        job.plan = tests::random_legal_plan(random, job.model);
        check_arguments(megatron_script(job).text);
    }
    for (const CatalogModel& known : catalog().models) {
        job.model = known.model;
        job.plan = tests::random_legal_plan(random, job.model);
        check_arguments(megatron_script(job).text);
    }
}
