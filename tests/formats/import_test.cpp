// Launch scripts of Megatron-LM as jobs: scripts of our own in the idioms that people use, every value worked by hand; and that what is
// written for a plan is read as that plan.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>

#include "api.h"
#include "contract.h"
#include "formats/formats.h"
#include "model/catalog.h"
#include "plan/framework.h"
#include "random_cases.h"
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::json;
using tests::said;
using tests::some;

namespace {

Json imported(const std::string& text, const Json& set = Json::object()) {
    const Json request = {{"text", text}, {"set", set}};
    Json answer = json(api::import_plan(request.dump()));
    CHECK(tests::answer_defect(answer, "import_plan") == "");
    CHECK(tests::request_defect(request, "import_plan") == "");
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer;
}
Json first(const std::string& text, const Json& set = Json::object()) { return imported(text, set)["jobs"][0]; }

constexpr const char* kSlurm = R"(#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gres=gpu:h100:8
NNODES=$SLURM_NNODES
GPUS_PER_NODE=${GPUS_PER_NODE:-8}
TP=2; PP=${PP:-"4"}
MBS=1
GBS=$((MBS * NNODES * GPUS_PER_NODE / (TP*PP) * 8))
SIZE=${1:-70b}
if [[ ${SIZE} == "7b" ]]; then
  LAYERS=32
elif [[ $SIZE == "70b" ]]; then
  LAYERS=80
fi
LAUNCH=(
    --nproc_per_node $GPUS_PER_NODE   # eight
    --nnodes "$NNODES"
    --master_addr $MASTER_ADDR
)
MODEL=(
  --num-layers $LAYERS --hidden-size 4096 --ffn-hidden-size 28672
  --num-attention-heads 64 --group-query-attention --num-query-groups 8
  --seq-length 8192 --max-position-embeddings 8192 --vocab-size 128256
  --swiglu --normalization RMSNorm --disable-bias-linear
  --untie-embeddings-and-output-weights --position-embedding-type rope
  --hidden-dropout 0 --attention-dropout 0.0
)
OPTIONS=" \
  --micro-batch-size $MBS \
  --global-batch-size $GBS \
  --bf16 --lr 3e-4"
OPTIONS+=" --use-distributed-optimizer"
if [ "$FP8" = "1" ]; then
  OPTIONS="$OPTIONS --fp8-format hybrid"
fi
srun torchrun "${LAUNCH[@]}" pretrain_gpt.py "${MODEL[@]}" $OPTIONS \
  --tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP} --sequence-parallel \
  --num-layers-per-virtual-pipeline-stage 5 --hidden-size 8192 --no-such-argument 2>&1 | tee log.txt
)";

}  // namespace

TEST_CASE("a Slurm script with lists, defaults, arithmetic and branches") {
    const Json job = first(kSlurm);
    CHECK(some(job, {"model", "gpus", "gpus_per_node", "tensor_parallel", "pipeline_parallel", "context_parallel", "virtual_stages"}) ==
          "model=\"llama-3-70b\" gpus=32 gpus_per_node=8 tensor_parallel=2 pipeline_parallel=4 context_parallel=1 virtual_stages=4");
    // 4 nodes of 8 over 2 x 4: 4 copies, 8 micro-batches each
    CHECK(some(job, {"sequence_length", "micro_batch", "global_batch", "zero", "recompute", "sequence_parallel", "hidden_dropout"}) ==
          "sequence_length=8192 micro_batch=1 global_batch=32 zero=\"optimizer\" recompute=\"none\" sequence_parallel=true "
          "hidden_dropout=false");
    CHECK(some(job, {"precision"}) == "precision=?");  // it hangs on FP8
    CHECK(fate(job, "--fp8-format") == "open 34");
    CHECK(fate(job, "--num-layers") == "used 21");
    CHECK(fate(job, "--hidden-size") == "contradicted 21");
    CHECK(fate(job, "--master_addr") == "no_number 18");
    CHECK(fate(job, "--no-such-argument") == "unknown 38");
    const Json questions = imported(kSlurm)["questions"];
    CHECK(questions.dump() == R"([{"choices":["1"],"name":"FP8"}])");
    CHECK(some(first(kSlurm, {{"FP8", "1"}}), {"precision"}) == "precision=\"fp8\"");
    CHECK(some(first(kSlurm, {{"FP8", "0"}}), {"precision"}) == "precision=\"bf16\"");
    CHECK(some(first(kSlurm, {{"FP8", "0"}, {"SLURM_NNODES", "8"}}), {"gpus", "global_batch"}) == "gpus=64 global_batch=64");
}

TEST_CASE("settings before the command, experts, a layout") {
    const Json job = first(
        "NNODES=128 TP=2 PP=8 EP=64 GBS=8192 GPUS_PER_NODE=8 bash run.sh --recompute-granularity selective --recompute-modules mla_up_proj "
        "mlp \\\n"
        " --pipeline-model-parallel-layout \"Et|(tt|)*30mL\" --fp8-recipe blockwise --fp8-format e4m3 --fp8-param-gather \\\n"
        " --use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16 --seq-length 4096 --micro-batch-size 1 --num-layers "
        "61 \\\n"
        " --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 --multi-latent-attention --q-lora-rank 1536 --kv-lora-rank "
        "512 \\\n"
        " --num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 \\\n"
        " --moe-layer-freq '([0]*3+[1]*58)' --mtp-num-layers 1 --swiglu --normalization RMSNorm --disable-bias-linear --bf16 \\\n"
        " --moe-router-num-groups 8 --moe-router-group-topk 4 --position-embedding-type rope \\\n"
        " --untie-embeddings-and-output-weights --vocab-size 129280\n");
    CHECK(some(job,
               {"model", "gpus", "tensor_parallel", "pipeline_parallel", "expert_parallel", "expert_tensor_parallel", "virtual_stages"}) ==
          "model=\"deepseek-v3\" gpus=1024 tensor_parallel=2 pipeline_parallel=8 expert_parallel=64 expert_tensor_parallel=2 "
          "virtual_stages=4");
    CHECK(some(job, {"global_batch", "precision", "moments", "recompute", "recompute_modules", "zero"}) ==
          "global_batch=8192 precision=\"fp8_weights\" moments=\"16-bit\" recompute=\"selective\" recompute_modules=\"mla_up_proj,mlp\" "
          "zero=\"none\"");
    CHECK(job["refused"].empty());
}

TEST_CASE("how tokens are sent to experts, and what is launched from graphs") {
    const std::string arguments =
        "python pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --micro-batch-size 1 "
        "--vocab-size 99 --num-experts 8 --moe-router-topk 2 --moe-router-num-groups 4 --moe-router-group-topk 2 ";
    const auto sent = [&](const std::string& said) { return some(first(arguments + said), {"expert_dispatch", "expert_overlap"}); };
    CHECK(sent("") == "expert_dispatch=\"all_to_all\" expert_overlap=false");
    CHECK(sent("--moe-token-dispatcher-type allgather") == "expert_dispatch=\"all_to_all\" expert_overlap=false");
    CHECK(sent("--moe-token-dispatcher-type alltoall") == "expert_dispatch=\"all_to_all\" expert_overlap=false");
    CHECK(sent("--moe-token-dispatcher-type flex --moe-enable-deepep --overlap-moe-expert-parallel-comm") ==
          "expert_dispatch=\"deepep\" expert_overlap=true");
    const auto gathers = [&](const std::string& said) {
        return first(arguments + said)["notes"].dump().find("moe_token_dispatcher_type: allgather") != std::string::npos;
    };
    CHECK(gathers("--expert-model-parallel-size 4 --moe-token-dispatcher-type allgather"));
    CHECK(gathers("--expert-model-parallel-size 4"));
    CHECK_FALSE(gathers("--moe-token-dispatcher-type allgather"));
    CHECK_FALSE(gathers("--expert-model-parallel-size 4 --moe-token-dispatcher-type alltoall"));
    const auto graphs = [&](const std::string& said) { return first(arguments + said)["job"]["cuda_graphs"].get<std::string>(); };
    CHECK(graphs("") == "none");
    CHECK(graphs("--cuda-graph-impl none") == "none");
    CHECK(graphs("--enable-cuda-graph") == "layers");
    CHECK(graphs("--external-cuda-graph") == "layers");
    CHECK(graphs("--enable-cuda-graph --cuda-graph-scope full_iteration") == "step");
    CHECK(graphs("--cuda-graph-impl full_iteration") == "step");
    CHECK(graphs("--cuda-graph-impl transformer_engine --cuda-graph-scope attn moe_router moe_preprocess") == "layers");
    CHECK(graphs("--cuda-graph-impl transformer_engine --cuda-graph-modules moe_router moe_preprocess") == "none");
    const std::string offload = " --optimizer-cpu-offload --use-precision-aware-optimizer --optimizer-offload-fraction 0.5";
    const auto moved = [&](const std::string& said) {
        return some(first(arguments + said), {"optimizer_offload", "optimizer_offload_overlap"});
    };
    CHECK(moved(offload) == "optimizer_offload=0.5 optimizer_offload_overlap=?");
    CHECK(moved(offload + " --overlap-cpu-optimizer-d2h-h2d") == "optimizer_offload=0.5 optimizer_offload_overlap=\"overlapped\"");
    CHECK(first(arguments)["job"]["model"]["n_group"] == 4);
    CHECK(first(arguments)["job"]["model"]["topk_group"] == 2);
}

TEST_CASE("other launchers: how many GPUs") {
    const std::string arguments =
        " --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --micro-batch-size 1 --vocab-size 99";
    const auto gpus = [&](const std::string& before) { return some(first(before + arguments), {"gpus", "gpus_per_node"}); };
    CHECK(gpus("torchrun --nproc-per-node=4 pretrain_gpt.py") == "gpus=4 gpus_per_node=?");
    CHECK(gpus("mpirun -np 64 python pretrain_gpt.py") == "gpus=64 gpus_per_node=?");
    CHECK(gpus("#PBS -l select=16:ngpus=8\npython pretrain_gpt.py") == "gpus=128 gpus_per_node=8");
    CHECK(gpus("#$ -l rt_AF=32\npython pretrain_gpt.py") == "gpus=256 gpus_per_node=8");
    CHECK(gpus("#SBATCH -N 2\n#SBATCH --ntasks-per-node=8\nsrun python pretrain_gpt.py") == "gpus=16 gpus_per_node=8");
    CHECK(gpus("WORLD_SIZE=48\npython pretrain_gpt.py") == "gpus=48 gpus_per_node=?");
    CHECK(gpus("deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py") == "gpus=16 gpus_per_node=8");
    const Json unsaid = first("python pretrain_gpt.py --tensor-model-parallel-size 8" + arguments);
    CHECK(unsaid["asked"].dump() == "[\"gpus\"]");  // never from the product of the degrees
    CHECK(some(first("python pretrain_gpt.py" + arguments, {{"gpus", "24"}}), {"gpus"}) == "gpus=24");
}

TEST_CASE("what Megatron-LM would refuse") {
    const auto refused = [](const std::string& more) {
        std::string all;
        const Json job = first(
            "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 126 --hidden-size 64 "
            "--num-attention-heads 4 --seq-length 64 "
            "--micro-batch-size 1 --vocab-size 99 " +
            more);
        for (const Json& text : job["refused"]) all += text["id"].get<std::string>() + " ";
        return all;
    };
    CHECK(refused("").empty());
    CHECK(refused("--pipeline-model-parallel-size 8") == "import_plan.refused.layers ");
    CHECK(refused("--tensor-model-parallel-size 4 --pipeline-model-parallel-size 3") == "import_plan.refused.world ");
    CHECK(refused("--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 9 --num-virtual-stages-per-pipeline-rank 7") ==
          "import_plan.refused.two_virtual ");
    CHECK(refused("--optimizer-cpu-offload") == "import_plan.refused.offload ");
    CHECK(refused("--overlap-param-gather") == "import_plan.refused.gather ");
    CHECK(refused("--recompute-granularity selective --recompute-method uniform") == "import_plan.refused.selective_method ");
    CHECK(refused("--global-batch-size 24") == "import_plan.refused.batch ");
}

TEST_CASE("older names, and what stays unsaid") {
    const Json job = first(
        "python pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --max-position-embeddings "
        "1024 "
        "--micro-batch-size 4 --fp16 --checkpoint-activations --model-parallel-size 2 --tokenizer-type GPT2BPETokenizer");
    CHECK(some(job, {"tensor_parallel", "recompute", "precision", "gradients_in_fp32"}) ==
          "tensor_parallel=2 recompute=\"full\" precision=\"fp16\" gradients_in_fp32=false");
    CHECK(job["job"]["model"]["vocab_size"] == 50'257);
    CHECK(job["job"]["model"]["intermediate_size"] == 4'096);
    CHECK(job["asked"].dump() == "[\"gpus\"]");
}

TEST_CASE("no script, and no text") {
    CHECK(tests::brief(json(api::import_plan(R"({"text": "hello"})"))["problems"]) == "text format null -> null");
    CHECK(tests::brief(json(api::import_plan(R"({"set": 3})"))["problems"]) == "text type null -> null\nset type null -> null");
    CHECK(tests::brief(json(api::import_plan("[]"))["problems"]) == "text type null -> null");
}

TEST_CASE("what is written for a plan is read as that plan, whatever the release and the launcher" * doctest::test_suite("quality")) {
    tests::Random random(7);
    int compared = 0;
    for (int i = 0; i < 10'000; ++i) {
        Job job;
        job.model = tests::random_model(random);
        job.gpu = of_catalog(catalog().gpus[0]);
        job.plan = tests::random_legal_plan(random, job.model);
        tests::drop_idle_modules(job.model, job.plan);
        job.plan.gpus /= std::exchange(job.plan.tensor_columns, 1);  // which it cannot have
        if (i % 8 == 3) job.plan.optimizer = Optimizer::muon;
        if (i % 4 == 1) job.exported.format = ConfigFormat::megatron_slurm;
        if (i % 4 > 1) job.exported.release = static_cast<int>(random.from(0, static_cast<std::int64_t>(kReleaseChoices.size()) - 1));
        const Export made = megatron_script(job);
        const Json read = first(made.text, {{"MASTER_ADDR", "a"}, {"NODE_RANK", "0"}, {"DATA_ARGS", ""}, {"TRAINING_ARGS", ""}});
        Json fields = Json::object();
        visit_fields(job.plan, FieldWriter(fields));
        if (!framework_of(job.model, job.plan, *job.gpu).transformer_engine && fields["transformer_engine"] == "auto")
            fields["transformer_engine"] = "off";
        const std::set<std::string> left_out = tests::left_out_fields(made);
        for (const auto& entry : read["job"].items()) {
            const std::string& field = entry.key();
            const Json& value = entry.value();
            if (field == "model" || left_out.contains(field)) continue;
            const bool alone = job.plan.data_parallel() * job.plan.context_parallel == 1;  // one copy shares nothing out
            if (field == "zero" && alone && fields[field] == "none") continue;
            ++compared;
            CHECK_MESSAGE(fields[field] == value, field, " ", fields[field].dump(), " ", value.dump());
        }
        for (const Json& key : read["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
        CHECK_MESSAGE(read["refused"].empty(), read["refused"].dump(), made.text);
    }
    CHECK(compared > 1'000);
}
