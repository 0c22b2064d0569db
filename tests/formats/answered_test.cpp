// What the shell puts in a command's place: commands inside of it that ask first, lists whose words are changed, names set for another
// shell.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

const std::string kAnswered =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
    "--max-position-embeddings 512 --vocab-size 1000 --micro-batch-size 2 ";
std::string answered(const std::string& before, const std::string& more) {
    return some(first_of_script(before + kAnswered + more + "\n"), {"tensor_parallel", "pipeline_parallel", "precision", "zero"});
}

}  // namespace

TEST_CASE("a command inside of another one that asks first: what it prints where the answer is known") {
    // NVIDIA's scripts of sparse attention: $( [ "${USE_DSA}" = "1" ] && echo "…" )
    CHECK(answered("A=1\n", "--bf16 $([ \"$A\" = 1 ] && echo \"\\\n --tensor-model-parallel-size 4 --use-distributed-optimizer\")") ==
          R"(tensor_parallel=4 pipeline_parallel=1 precision="bf16" zero="optimizer")");
    CHECK(answered("A=0\n", "--bf16 $([[ $A -eq 1 ]] && echo --tensor-model-parallel-size 4 || echo --tensor-model-parallel-size 2)") ==
          R"(tensor_parallel=2 pipeline_parallel=1 precision="bf16" zero="none")");
    CHECK(answered("A=0\n", "--bf16 $(test $A = 1 && echo --tensor-model-parallel-size 4)") ==
          R"(tensor_parallel=1 pipeline_parallel=1 precision="bf16" zero="none")");
    // A flag is no option of echo.
    CHECK(answered("A=1\n", "--bf16 $(if [ $A = 1 ]; then echo \"--use-distributed-optimizer\"; fi)") ==
          R"(tensor_parallel=1 pipeline_parallel=1 precision="bf16" zero="optimizer")");
    CHECK(answered("A=$(echo -n --use-distributed-optimizer)\n", "--bf16 $A") ==
          R"(tensor_parallel=1 pipeline_parallel=1 precision="bf16" zero="optimizer")");
    // What is not known stays open, and several commands are no answer.
    CHECK(ids(read_script_of(kAnswered + "$([ \"$A\" = 1 ] && echo --bf16)\n")["jobs"][0]["notes"]) != "");
    CHECK(answered("A=1\n", "--bf16 $([ $A = 1 ] && cd /x && echo --use-distributed-optimizer)") ==
          R"(tensor_parallel=1 pipeline_parallel=1 precision="bf16" zero="none")");
    CHECK(answered("S=\"8 4 2\"\n", "--bf16 --tensor-model-parallel-size $(echo $S | awk '{print $2}')") ==
          R"(tensor_parallel=4 pipeline_parallel=1 precision="bf16" zero="none")");
}

TEST_CASE("each word of a list is changed by itself; a pattern stands at the front, at the end or anywhere") {
    CHECK(answered("F=(bf16 use-distributed-optimizer)\n", "--tensor-model-parallel-size 2 \"${F[@]/#/--}\"") ==
          R"(tensor_parallel=2 pipeline_parallel=1 precision="bf16" zero="optimizer")");
    CHECK(answered("F=(--bf16.x --tensor-model-parallel-size=2.x)\n", "\"${F[@]%.x}\"") ==
          R"(tensor_parallel=2 pipeline_parallel=1 precision="bf16" zero="none")");
    CHECK(answered("M=7b-tp4\nP=tp2\n", "--bf16 --tensor-model-parallel-size ${M/*tp/} --pipeline-model-parallel-size ${P/#tp/}") ==
          R"(tensor_parallel=4 pipeline_parallel=2 precision="bf16" zero="none")");
    CHECK(answered("M=4-tp\nP=2,2,2\n", "--bf16 --tensor-model-parallel-size ${M/%-tp/} --pipeline-model-parallel-size ${P//,2/}") ==
          R"(tensor_parallel=4 pipeline_parallel=2 precision="bf16" zero="none")");
}

TEST_CASE("names and words that another shell is given") {
    const std::string inner = " bash -c '" + kAnswered + "--bf16 --tensor-model-parallel-size $TP'\n";
    for (const char* start :
         {"env TP=4", "docker run --gpus all -e TP=4 image", "apptainer exec --env TP=4 a.sif", "srun --export=ALL,TP=4"})
        CHECK(some(first_of_script(start + inner), {"tensor_parallel"}) == "tensor_parallel=4");
    CHECK(some(first_of_script("bash -c '" + kAnswered + "--bf16 --tensor-model-parallel-size $1' _ 4\n"), {"tensor_parallel"}) ==
          "tensor_parallel=4");
    CHECK(some(first_of_script("run() { " + kAnswered + "--tensor-model-parallel-size $1 \"${@:2}\"; }\nrun 4 --bf16\n"),
               {"tensor_parallel", "precision"}) == R"(tensor_parallel=4 precision="bf16")");
}

TEST_CASE("layers of a single part that predict further tokens are not counted, and it is said") {
    const Json job = first_of_script(
        "torchrun --nproc_per_node 8 pretrain_mamba.py --hybrid-layer-pattern M-M* --hidden-size 512 --num-attention-heads 8 "
        "--normalization RMSNorm --disable-bias-linear --position-embedding-type none --vocab-size 32000 --seq-length 2048 "
        "--max-position-embeddings 2048 --micro-batch-size 1 --bf16 --mtp-num-layers 2\n");
    CHECK(ids(job["notes"]) == "import_plan.note.not_counted");
}

TEST_CASE("Unsloth's own program: its names and what it does unsaid") {
    // unslothai/unsloth, unsloth-cli.py
    const Json job =
        first_of_script("CUDA_VISIBLE_DEVICES=0 python unsloth-cli.py --model_name unsloth/llama-3-8b --r 64 --load_in_4bit\n");
    CHECK(some(job, {"lora_rank", "lora_targets", "micro_batch", "global_batch", "sequence_length", "moments", "recompute", "precision"}) ==
          R"(lora_rank=64 lora_targets="query,key,value,output,gate,up,down" micro_batch=2 global_batch=8 sequence_length=2048 )"
          R"(moments="8-bit" recompute="full" precision="bf16")");
    CHECK(fate(job, "--r") == "used 1");
}

TEST_CASE("torchrun starts Megatron-SWIFT's program as its own command does") {
    const std::string arguments = " --model Qwen/Qwen2.5-7B --tensor_model_parallel_size 2 --micro_batch_size 1 --max_length 4096\n";
    const Json own = first_of_script("NPROC_PER_NODE=8 megatron sft" + arguments),
               started = first_of_script("torchrun --nproc_per_node 8 swift/cli/_megatron/sft.py" + arguments);
    CHECK(own["job"]["model"] == "qwen2.5-7b");
    CHECK(started["job"] == own["job"]);
}

TEST_CASE("a copy of the shards on every node, where a launcher says how many there are") {
    CHECK(some(first_of_script("torchrun --nproc_per_node 8 --nnodes 4 run_clm.py --model_name_or_path Qwen/Qwen2.5-7B "
                               "--per_device_train_batch_size 1 --block_size 2048 --bf16 --fsdp \"hybrid_shard auto_wrap\"\n"),
               {"gpus", "zero", "shard_replicas"}) == R"(gpus=32 zero="weights" shard_replicas=4)");
}

TEST_CASE("GPT-NeoX: Transformer Engine's attention stores no scores") {
    const std::string model =
        "pipe_parallel_size = 1\nmodel_parallel_size = 1\nnum_layers = 4\nhidden_size = 512\nnum_attention_heads = 8\nseq_length = 512\n"
        "max_position_embeddings = 512\ntrain_micro_batch_size_per_gpu = 1\n";
    CHECK(some(first_of(model + "te_mha = true\n"), {"attention"}) == R"(attention="flash")");
    CHECK(some(first_of(model + "te_mha = false\n"), {"attention"}) == R"(attention="plain")");
    CHECK(some(first_of(model + "use_bnb_optimizer = true\n"), {"moments"}) == R"(moments="8-bit")");
}

TEST_CASE("one of a list that another program fills is not empty for sure") {
    const Json job = first_of_script(
        "#!/bin/bash\nmapfile -t SIZES < <(python sizes.py)\nEXPERTS=${SIZES[6]}\nA=()\n"
        "if [[ -n \"$EXPERTS\" ]]; then A+=(--num-experts \"$EXPERTS\"); fi\n" +
        kAnswered + "--bf16 \"${A[@]}\"\n");
    CHECK(fate(job, "--num-experts") == "open 5");
}

TEST_CASE("Python in a here-document makes no program in Python of a script without its first line") {
    const std::string script = "A=( --bf16 --tensor-model-parallel-size 2 )\npython - a.json <<'PY'\nimport json\nfrom a import b\nPY\n" +
                               kAnswered + "\"${A[@]}\"\n";
    CHECK(some(first_of_script(script), {"tensor_parallel"}) == "tensor_parallel=2");
}

TEST_CASE("slime with few arguments of Megatron-LM's, its model's in a file that is not here") {
    const Json job = first_of_script(
        "source $SLIME/scripts/models/$TYPE.sh\nray job submit -- python3 $SLIME/train.py \"${MODEL_ARGS[@]}\" "
        "--hf-checkpoint $DIR --tensor-model-parallel-size 2 --sequence-parallel --optimizer-cpu-offload "
        "--use-precision-aware-optimizer --actor-num-gpus-per-node 8 --colocate\n");
    CHECK(some(job, {"tensor_parallel", "zero", "optimizer_offload"}) == R"(tensor_parallel=2 zero="optimizer" optimizer_offload=1.0)");
}

TEST_CASE("MaxText: latent attention whose queries have no rank of their own") {
    // AI-Hypercomputer/maxtext, configs/models/deepseek2-16b.yml
    const Json job = first_of(
        "base_emb_dim = 2048\nbase_num_query_heads = 16\nbase_num_kv_heads = 16\nbase_mlp_dim = 10944\nbase_moe_mlp_dim = 1408\n"
        "base_num_decoder_layers = 27\nfirst_num_dense_layers = 1\nvocab_size = 102400\nnum_experts = 64\nnum_experts_per_tok = 6\n"
        "shared_experts = 2\ndecoder_block = \"deepseek\"\nattention_type = \"mla\"\nq_lora_rank = 0\nkv_lora_rank = 512\n"
        "qk_nope_head_dim = 128\nqk_rope_head_dim = 64\nv_head_dim = 128\nper_device_batch_size = 1\n");
    CHECK(job["refused"].empty());
    CHECK(job["job"].contains("model"));
}
