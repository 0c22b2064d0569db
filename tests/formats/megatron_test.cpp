// The script for Megatron-LM: whole texts of plans worked by hand, what is left out, and that no field of a plan is dropped unsaid.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "api.h"
#include "calibration/calibration.h"
#include "changed_fields.h"
#include "contract.h"
#include "formats/formats.h"
#include "formats/megatron/arguments.h"
#include "support.h"

using namespace fourfold;
using tests::json;
using tests::kChanged;
using tests::said;

namespace {

Json asked_for(Json request) {
    Json own = Json::object();
    for (const char* key : {"format", "release", "hosts"}) {
        if (!request.contains(key)) continue;
        own[key] = request[key];
        request.erase(key);
    }
    Json job = json(api::estimate(request.dump()))["job"];
    job.update(own);
    return job;
}
Json exported(const Json& given) {
    const Json request = asked_for(given);
    Json answer = json(api::export_plan(request.dump()));
    CHECK(tests::answer_defect(answer, "export_plan") == "");
    CHECK(tests::request_defect(request, "export_plan") == "");
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer;
}
Json exported(const char* request) { return exported(json(request)); }

std::string text_of(const Json& answer) { return answer["text"].get<std::string>(); }
bool has(const Json& answer, const std::string& line) { return text_of(answer).find("    " + line + "\n") != std::string::npos; }

// One line each: "export.left_out field.zero choice.zero.weights" comes with its arguments.
std::string left_out(const Json& answer) {
    std::string all;
    for (const Json& text : answer["left_out"]) all += said(text) + "\n";
    return all;
}

// Llama 3.1 8B on 16 GPUs, everything set as a plan usually has it.
Json usual() {
    return json(
        R"({"model": "llama-3.1-8b", "gpus": 16, "sequence_length": 8192, "global_batch": 64, "micro_batch": 1, "tensor_parallel": 2,
                    "pipeline_parallel": 2, "context_parallel": 1, "virtual_stages": 1, "schedule": "1f1b", "layout": "equal", "zero": "optimizer",
                    "recompute": "none", "recompute_layers": 1, "moments": "fp32", "sequence_parallel": true, "expert_parallel": 1,
                    "expert_tensor_parallel": 1})");
}
Json with(Json request, const char* changes) {
    request.update(json(changes));
    return request;
}

// What every script says of the model's config.
constexpr const char* kAlways = "export.left_out.config_flags\n";

}  // namespace

TEST_CASE("Llama 3.1 70B on 64 H100: the whole script") {
    const Json answer = exported(
        R"({"model": "llama-3.1-70b", "gpus": 64, "sequence_length": 8192, "global_batch": 1024, "micro_batch": 1, "tensor_parallel": 8,
            "pipeline_parallel": 4, "context_parallel": 1, "virtual_stages": 5, "schedule": "1f1b", "layout": "equal", "zero": "optimizer",
            "recompute": "selective", "recompute_layers": 1, "moments": "fp32", "sequence_parallel": true, "overlap_pipeline": true,
            "attention": "cudnn"})");
    CHECK(text_of(answer) == R"(#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
NNODES=8
GPUS_PER_NODE=8
NODE_RANK=${NODE_RANK:?}
MASTER_ADDR=${MASTER_ADDR:?}
MASTER_PORT=${MASTER_PORT:-6000}
DATA_ARGS=${DATA_ARGS:?}
TRAINING_ARGS=${TRAINING_ARGS:?}

MODEL_ARGS=(
    --num-layers 80
    --hidden-size 8192
    --ffn-hidden-size 28672
    --num-attention-heads 64
    --group-query-attention
    --num-query-groups 8
    --vocab-size 128256
    --max-position-embeddings 131072
    --position-embedding-type rope
    --untie-embeddings-and-output-weights
    --swiglu
    --normalization RMSNorm
    --disable-bias-linear
)

PLAN_ARGS=(
    --seq-length 8192
    --micro-batch-size 1
    --global-batch-size 1024
    --tensor-model-parallel-size 8
    --sequence-parallel
    --pipeline-model-parallel-size 4
    --num-virtual-stages-per-pipeline-rank 5
    --use-distributed-optimizer
    --recompute-granularity selective
    --bf16
    --attention-backend fused
    --overlap-grad-reduce
    --overlap-param-gather
    --hidden-dropout 0.0
    --attention-dropout 0.0
)

torchrun \
    --nproc_per_node "$GPUS_PER_NODE" \
    --nnodes "$NNODES" \
    --node_rank "$NODE_RANK" \
    --master_addr "$MASTER_ADDR" \
    --master_port "$MASTER_PORT" \
    pretrain_gpt.py \
    "${MODEL_ARGS[@]}" \
    "${PLAN_ARGS[@]}" \
    $DATA_ARGS \
    $TRAINING_ARGS
)");
    CHECK(answer["yours"] == json(R"(["NODE_RANK", "MASTER_ADDR", "DATA_ARGS", "TRAINING_ARGS"])"));
    CHECK(answer["needs"] ==
          json(R"({"id": "export.needs", "args": {"version": "0.11", "flag": "--num-virtual-stages-per-pipeline-rank"}})"));
    CHECK(left_out(answer) == kAlways);
}

TEST_CASE("Nemotron-4: the square of what is above 0, by a flag of its own") {
    const Json answer = exported(
        R"({"model": "nemotron-4-340b", "gpus": 768, "sequence_length": 4096, "global_batch": 768, "micro_batch": 1, "tensor_parallel": 8,
            "pipeline_parallel": 12, "context_parallel": 1, "virtual_stages": 8, "schedule": "1f1b", "layout": "equal", "zero": "optimizer",
            "recompute": "selective", "recompute_layers": 1, "moments": "fp32", "sequence_parallel": true, "overlap_pipeline": true,
            "attention": "cudnn"})");
    CHECK(text_of(answer).find("    --squared-relu\n") != std::string::npos);
    CHECK(text_of(answer).find("--swiglu") == std::string::npos);
}

TEST_CASE("DeepSeek-V3: experts, latent attention, layers listed chunk by chunk, fp8") {
    // ModelZoo's run, on GPUs by the full split: 61 layers and one more behind them on 8 stages of 4 chunks.
    const Json answer = exported(
        R"({"model": "deepseek-v3", "gpus": 1024, "sequence_length": 4096, "global_batch": 8192, "micro_batch": 1, "tensor_parallel": 2,
            "pipeline_parallel": 8, "context_parallel": 1, "virtual_stages": 4, "schedule": "1f1b", "layout": "Et|(tt|)*30mL",
            "expert_parallel": 64, "expert_tensor_parallel": 1, "zero": "optimizer", "recompute": "selective",
            "recompute_modules": "mlp,mla_up_proj", "recompute_layers": 1, "moments": "16-bit", "sequence_parallel": true,
            "precision": "fp8_weights", "gradients_in_fp32": false})");
    for (const char* line : {"--num-layers 61",
                             "--ffn-hidden-size 18432",
                             "--multi-latent-attention",
                             "--q-lora-rank 1536",
                             "--kv-lora-rank 512",
                             "--qk-head-dim 128",
                             "--qk-pos-emb-head-dim 64",
                             "--v-head-dim 128",
                             "--qk-layernorm",
                             "--num-experts 256",
                             "--moe-router-topk 8",
                             "--moe-router-num-groups 8",
                             "--moe-router-group-topk 4",
                             "--moe-router-score-function sigmoid",
                             "--moe-router-enable-expert-bias",
                             "--moe-ffn-hidden-size 2048",
                             "--moe-shared-expert-intermediate-size 2048",
                             "--moe-layer-freq '([0]*3+[1]*58)'",
                             "--mtp-num-layers 1",
                             "--pipeline-model-parallel-layout 'Et|(tt|)*30mL'",
                             "--expert-model-parallel-size 64",
                             "--expert-tensor-parallel-size 1",
                             "--moe-grouped-gemm",
                             "--recompute-modules mlp mla_up_proj",
                             "--fp8-format hybrid",
                             "--fp8-param-gather",
                             "--grad-reduce-in-bf16",
                             "--use-precision-aware-optimizer",
                             "--exp-avg-dtype bf16",
                             "--exp-avg-sq-dtype bf16"})
        CHECK_MESSAGE(has(answer, line), line);
    // the layout counts the chunks; latent attention has no groups
    for (const char* flag :
         {"--num-virtual-stages", "--group-query-attention", "--num-query-groups", "--kv-channels", "--no-overlap-p2p-communication"})
        CHECK_MESSAGE(text_of(answer).find(flag) == std::string::npos, flag);
    CHECK(answer["needs"]["args"]["version"] == "0.14");  // tokens travel beneath other work: Megatron-Core 0.14, model_parallel_config.py
    CHECK(left_out(answer).starts_with("export.left_out.config_flags\nexport.left_out.fp8_recipe\n"));
}

TEST_CASE("experts are split as the layer where Megatron-LM is told nothing") {
    const char* experts = R"({"model": "mixtral-8x7b", "gpus": 16, "expert_parallel": 4, "expert_tensor_parallel": 2})";
    const Json same = exported(with(usual(), experts));
    CHECK(has(same, "--expert-model-parallel-size 4"));
    CHECK(text_of(same).find("--expert-tensor-parallel-size") == std::string::npos);
    CHECK(text_of(same).find("--moe-layer-freq") == std::string::npos);  // every layer has experts
    CHECK(has(exported(with(usual(), R"({"model": "mixtral-8x7b", "expert_parallel": 4})")), "--expert-tensor-parallel-size 1"));
}

TEST_CASE("a rounded split is listed where it is not even") {
    CHECK(has(exported(with(usual(), R"({"pipeline_parallel": 3, "gpus": 12, "layout": "front"})")),
              "--pipeline-model-parallel-layout 'Et*11|t*11|t*10L'"));
    CHECK(text_of(exported(with(usual(), R"({"layout": "front"})"))).find("layout") == std::string::npos);
}

TEST_CASE("one node needs no address; GPUs that do not fill their nodes are the reader's to count") {
    const Json one = exported(with(usual(), R"({"gpus": 4})"));
    CHECK(text_of(one).find("NNODES=1\nGPUS_PER_NODE=4\nNODE_RANK=0\nMASTER_ADDR=localhost\n") != std::string::npos);
    CHECK(one["yours"] == json(R"(["DATA_ARGS", "TRAINING_ARGS"])"));
    const Json odd = exported(with(usual(), R"({"gpus": 12, "global_batch": 48})"));
    CHECK(odd["yours"] == json(R"(["NNODES", "GPUS_PER_NODE", "NODE_RANK", "MASTER_ADDR", "DATA_ARGS", "TRAINING_ARGS"])"));
}

TEST_CASE("fp8: where a norm or the experts' activation is computed again, the recipe that Megatron-LM takes by default is none") {
    const Json again = exported(with(usual(), R"({"precision": "fp8", "recompute": "selective", "recompute_modules": "layernorm"})"));
    CHECK(has(again, "--fp8-recipe tensorwise"));
    CHECK(left_out(again).find("fp8_recipe") == std::string::npos);
    const Json scores = exported(with(usual(), R"({"precision": "fp8", "recompute": "selective"})"));
    CHECK(text_of(scores).find("--fp8-recipe") == std::string::npos);
}

TEST_CASE("tokens that travel beneath other work want several connections, unless a group inside a layer needs one") {
    const char* experts = R"({"model": "mixtral-8x7b", "gpus": 16, "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 2,
                              "virtual_stages": 2, "expert_parallel": 4, "expert_overlap": true, "recompute": "none"})";
    CHECK(text_of(exported(with(usual(), experts))).find("CUDA_DEVICE_MAX_CONNECTIONS=32\n") != std::string::npos);
}

TEST_CASE("ZeRO-2 and 3 are Megatron-FSDP, which refuses a single connection") {
    const Json weights = exported(with(usual(), R"({"zero": "weights", "pipeline_parallel": 1})"));
    CHECK(has(weights, "--use-megatron-fsdp"));
    CHECK(has(weights, "--data-parallel-sharding-strategy optim_grads_params"));
    CHECK(has(weights, "--ckpt-format fsdp_dtensor"));
    CHECK(text_of(weights).find("CUDA_DEVICE_MAX_CONNECTIONS") == std::string::npos);
    CHECK(
        has(exported(with(usual(), R"({"zero": "gradients", "pipeline_parallel": 1})")), "--data-parallel-sharding-strategy optim_grads"));
}

TEST_CASE("what Megatron-LM cannot say is left out by name") {
    const auto leaves = [](const char* changes) { return left_out(exported(with(usual(), changes))); };
    const auto contains = [&](const char* changes, const char* text) {
        const std::string all = leaves(changes);
        CHECK_MESSAGE(all.find(text) != std::string::npos, all);
    };
    contains(R"({"framework": "pytorch"})", R"({"field":{"id":"field.framework"},"value":{"id":"choice.framework.pytorch"}})");
    contains(R"({"schedule": "dualpipe"})", R"({"field":{"id":"field.schedule"},"value":{"id":"choice.schedule.dualpipe"}})");
    contains(R"({"expert_imbalance": 1.5})", R"(export.left_out.number {"field":{"id":"field.expert_imbalance"},"value":1.5})");
    contains(R"({"loss": "gathered"})", R"({"field":{"id":"field.loss"},"value":{"id":"choice.loss.gathered"}})");
    contains(R"({"overlap_gradients": false})", R"("field.overlap_parameters"},"value":{"id":"export.on"}})");
    contains(R"({"virtual_stages": 2, "overlap_pipeline": false})", R"("field.overlap_pipeline"},"value":{"id":"export.off"}})");
    contains(R"({"sequence_parallel": false, "tensor_overlap": true})", R"("field.tensor_overlap"},"value":{"id":"export.on"}})");
    contains(R"({"zero": "none", "shard_replicas": 2})", R"(export.left_out.number {"field":{"id":"field.shard_replicas"},"value":2})");
    CHECK(leaves("{}") == kAlways);
}

TEST_CASE("a gate that is not SiLU is not written as one") {
    const Json gemma = exported(with(usual(), R"({"model": "gemma-2-9b"})"));
    CHECK(text_of(gemma).find("--swiglu") == std::string::npos);
    CHECK(left_out(gemma).find("export.left_out.gelu_gate\n") != std::string::npos);
    CHECK(has(exported(usual()), "--swiglu"));
}

TEST_CASE("an unknown format is a problem, and so is a job that is none") {
    const Json answer = json(api::export_plan(R"({"format": "megatronlm"})"));
    CHECK(tests::answer_defect(answer, "export_plan") == "");
    CHECK(tests::brief(answer["problems"]) == "format range \"megatronlm\" -> \"megatron\"");
    CHECK(answer["problems"][0]["message"]["args"]["choices"].dump() ==
          R"(["megatron","sbatch","bridge","nemo2","torchtitan","nanotron","deepspeed","accelerate"])");  // as --help has them
    CHECK(tests::brief(json(api::export_plan(R"({"gpus": 0})"))["problems"]) == "gpus range 0 -> 1");
}

TEST_CASE("as a batch script for Slurm, with the nodes in an order that was found") {
    const Json any = exported(with(usual(), R"({"format": "sbatch"})"));
    CHECK(any["format"] == "megatron-lm-slurm");
    CHECK(text_of(any).starts_with(R"(#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
export CUDA_DEVICE_MAX_CONNECTIONS=1
NNODES=2
GPUS_PER_NODE=8
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=${MASTER_PORT:-6000}
)"));
    CHECK(text_of(any).ends_with(R"(
srun --nodes="$NNODES" --ntasks="$NNODES" \
    bash -c 'exec torchrun --node_rank "$SLURM_PROCID" "$@"' node \
    --nproc_per_node "$GPUS_PER_NODE" \
    --nnodes "$NNODES" \
    --master_addr "$MASTER_ADDR" \
    --master_port "$MASTER_PORT" \
    pretrain_gpt.py \
    "${MODEL_ARGS[@]}" \
    "${PLAN_ARGS[@]}" \
    $DATA_ARGS \
    $TRAINING_ARGS
)"));
    CHECK(any["yours"] == json(R"(["DATA_ARGS", "TRAINING_ARGS"])"));
    const Json placed = exported(with(usual(), R"({"format": "sbatch", "hosts": ["node7", "node03"]})"));
    CHECK(text_of(placed).find("#SBATCH --nodelist=node7,node03\n") != std::string::npos);
    CHECK(text_of(placed).find(R"(HOSTS=(
    node7
    node03
)
MASTER_ADDR=${HOSTS[0]}
export SLURM_HOSTFILE=$PWD/hosts-$SLURM_JOB_ID.txt
printf '%s\n' "${HOSTS[@]}" > "$SLURM_HOSTFILE"
)") != std::string::npos);
    CHECK(text_of(placed).find("srun --nodes=\"$NNODES\" --ntasks=\"$NNODES\" --distribution=arbitrary \\\n") != std::string::npos);
}

TEST_CASE("hosts and releases that do not fit") {
    const auto refused = [](const char* changes) {
        const Json answer = json(api::export_plan(asked_for(with(usual(), changes)).dump()));
        CHECK(tests::answer_defect(answer, "export_plan") == "");
        return tests::brief(answer["problems"]);
    };
    CHECK(refused(R"({"format": "sbatch", "hosts": ["a"]})") == "hosts host_count 1 -> null");
    CHECK(refused(R"({"format": "sbatch", "hosts": ["a", "b; rm"]})") == "hosts host_name \"b; rm\" -> null");
    CHECK(refused(R"({"format": "sbatch", "hosts": "a"})") == "hosts type null -> null");
    CHECK(refused(R"({"hosts": ["a", "b"]})") == "hosts not_here null -> null");
    CHECK(refused(R"({"format": "torchtitan", "release": "0.12"})") == "release not_here null -> null");
    CHECK(refused(R"({"release": "0.8"})").starts_with("release range \"0.8\""));
    const Json open = json(api::export_plan(R"({"gpus": 16, "zero": "auto"})"));
    CHECK(tests::answer_defect(open, "export_plan") == "");
    CHECK(tests::brief(open["problems"]).find("zero open \"auto\" -> null") != std::string::npos);
}

TEST_CASE("an older release is told in its own words, and what it lacks is listed") {
    const Json chunks = with(usual(), R"({"virtual_stages": 4, "overlap_pipeline": true})");
    CHECK(has(exported(with(chunks, R"({"release": "0.11"})")), "--num-virtual-stages-per-pipeline-rank 4"));
    CHECK(has(exported(with(chunks, R"({"release": "0.10"})")), "--num-layers-per-virtual-pipeline-stage 4"));  // 32 / (2 * 4)
    const Json fsdp = with(usual(), R"({"zero": "weights", "pipeline_parallel": 1})");
    CHECK(has(exported(with(fsdp, R"({"release": "0.14"})")), "--use-megatron-fsdp"));
    CHECK(has(exported(with(fsdp, R"({"release": "0.13"})")), "--use-custom-fsdp"));
    CHECK(left_out(exported(with(fsdp, R"({"release": "0.11"})"))).find("export.left_out {\"field\":{\"id\":\"field.zero\"}") !=
          std::string::npos);
    const Json flash = with(usual(), R"({"attention": "flash"})");
    CHECK(has(exported(with(flash, R"({"release": "0.11"})")), "--attention-backend flash"));
    CHECK(has(exported(with(flash, R"({"release": "0.9"})")), "--use-flash-attn"));
    const Json fused = with(usual(), R"({"loss": "native_fused", "release": "0.11"})");
    CHECK(has(exported(fused), "--cross-entropy-loss-fusion"));
    CHECK(text_of(exported(fused)).find("fusion-impl") == std::string::npos);
    const Json moments = exported(with(usual(), R"({"moments": "16-bit", "release": "0.10"})"));
    CHECK(text_of(moments).find("--exp-avg-dtype") == std::string::npos);
    CHECK(left_out(moments).find(
              R"(export.left_out.newer {"field":{"id":"field.moments"},"flag":"--use-precision-aware-optimizer","version":"0.11"})") !=
          std::string::npos);
    const Json layout = exported(with(usual(), R"({"layout": "Et*15|t*17L", "release": "0.12"})"));
    CHECK(text_of(layout).find("--pipeline-model-parallel-layout") == std::string::npos);
    CHECK(left_out(layout).find("\"flag\":\"--pipeline-model-parallel-layout\",\"version\":\"0.13\"") != std::string::npos);
}

// ---- law
namespace {

// Keys of the plan that are of this estimate alone, or with which no plan is written (export_problems()).
std::set<std::string> ours_alone() {
    std::set<std::string> keys = {
        "tensor_columns",   "site",           "measured_intra_gb_s", "measured_inter_gb_s", "measured_inter_latency_s",
        "nvme_gbyte_per_s", "host_memory_gib"};
    for (const std::string_view key : kCalibrationKeys) keys.emplace(key);
    return keys;
}

}  // namespace

TEST_CASE("law: every field of a plan is written or listed, or of this estimate alone" * doctest::test_suite("quality")) {
    Json fields = Json::object();
    const Plan plan;
    visit_fields(plan, FieldWriter(fields));
    const std::set<std::string> ours = ours_alone();
    std::set<std::string> changed, rows;
    for (const tests::Changed& one : kChanged) {
        changed.insert(one.field);
        const Json before = with(usual(), one.where);
        Json after = before;
        after[one.field] = json(one.value);
        const Json first = exported(before), second = exported(after);
        CHECK_MESSAGE((text_of(first) != text_of(second) || left_out(first) != left_out(second)), one.field);
    }
    for (const MegatronRow& row : kMegatronPlanRows) CHECK_MESSAGE(rows.emplace(row.field).second, std::string(row.field));
    for (const auto& entry : fields.items()) {
        const std::string& key = entry.key();  // clang lets no lambda take a name out of a pair
        CHECK_MESSAGE(rows.contains(key) != ours.contains(key), key);
        CHECK_MESSAGE(changed.contains(key) == rows.contains(key), key);
    }
    for (const std::string& key : rows) CHECK_MESSAGE(fields.contains(key), key);
}

TEST_CASE("a calibration changes no argument") {
    const Json first = exported(usual()), second = exported(with(usual(), R"({"time_factor": 1.2, "memory_extra": 2, "site": "shared"})"));
    CHECK(first == second);
}
