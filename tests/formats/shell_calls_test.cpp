// What a script's own functions, files and options give to what it starts.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

const std::string kCalledModel =
    "pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 "
    "--vocab-size 1000 --micro-batch-size 1 ";
const std::string kCalledStart = "torchrun --nproc_per_node 8 " + kCalledModel + "--bf16 ";
const std::string kCalledSizes = "--tensor-model-parallel-size $T --global-batch-size $G\n";

// Of a script that sets T and G, or what it says instead.
std::string called_sizes(const std::string& script) {
    const Json read = read_script_of(script);
    std::string all = some(read["jobs"][0], {"tensor_parallel", "global_batch"});
    for (const Json& question : read["questions"]) all += " " + question["name"].get<std::string>() + "?";
    return all;
}
constexpr const char* kFourBy64 = "tensor_parallel=4 global_batch=64";

}  // namespace

TEST_CASE("values that a function prints, on the ways that are known") {
    const std::string function = "sizes() {\n  case $1 in\n    7b) echo 4 64 ;;\n    70b) echo 8 32 ;;\n  esac\n}\n";
    CHECK(called_sizes(function + "read T G <<< $(sizes 7b)\n" + kCalledStart + kCalledSizes) == kFourBy64);
    CHECK(called_sizes(function + "read -r T G < <(sizes 7b)\n" + kCalledStart + kCalledSizes) == kFourBy64);
    CHECK(called_sizes(function + "read T G <<< \"$(sizes $1)\"\n" + kCalledStart + kCalledSizes) ==
          "tensor_parallel=? global_batch=? G? T?");
    const std::string twice = "twice() {\n  local x=$1\n  echo \"of $x\" >&2\n  echo $((x * 2))\n}\nT=4\nG=$(twice 32)\n";
    CHECK(called_sizes(twice + kCalledStart + kCalledSizes) == kFourBy64);
}

TEST_CASE("what is set before a function or a script is of that one alone") {
    const std::string function = "run() { " + kCalledStart + "--tensor-model-parallel-size ${T:-1} --global-batch-size 64; }\n";
    CHECK(called_sizes(function + "T=4 run\n") == kFourBy64);
    const Json both = read_script_of(function + "T=4 run\nrun\n");
    REQUIRE(both["jobs"].size() == 2);
    CHECK(some(both["jobs"][1], {"tensor_parallel"}) == "tensor_parallel=1");
    const std::string file =
        "cat > run.sh <<'EOF'\n#!/bin/bash\n" + kCalledStart + "--tensor-model-parallel-size ${T:-1} --global-batch-size 64\nEOF\n";
    CHECK(called_sizes(file + "T=4 bash run.sh\n") == kFourBy64);
}

TEST_CASE("a script that is written here: what it is given, and how it is started") {
    const std::string file = "cat > run.sh <<'EOF'\n#!/bin/bash\npython " + kCalledModel +
                             "--bf16 --tensor-model-parallel-size $1 --global-batch-size $2\nEOF\nchmod +x run.sh\n";
    const Json job = first_of_script(file + "srun -N 2 -n 16 --gpus=16 ./run.sh 4 64 |& tee run.log\n");
    CHECK(some(job, {"gpus", "tensor_parallel", "global_batch"}) == "gpus=16 tensor_parallel=4 global_batch=64");
    CHECK(fate(job, "--gpus").starts_with("used"));
    CHECK(called_sizes(file + "bash run.sh 4 64\n") == kFourBy64);
    // Beside a configuration of DeepSpeed, which alone is no job.
    const std::string config = "cat > ds.json <<EOF\n{\"zero_optimization\": {\"stage\": 1}, \"train_micro_batch_size_per_gpu\": 1}\nEOF\n";
    CHECK(some(first_of_script(config + file + "srun -n 16 ./run.sh 4 64\n"), {"tensor_parallel", "sequence_length"}) ==
          "tensor_parallel=4 sequence_length=512");
}

TEST_CASE("options of a script have the values that are set before them") {
    const std::string options =
        "T=4\nG=64\nL=0\nwhile getopts \"t:g:l:\" opt; do\n  case $opt in\n    t) T=$OPTARG ;;\n    g) G=$OPTARG ;;\n"
        "    l) L=$OPTARG ;;\n  esac\ndone\n";
    CHECK(called_sizes(options + kCalledStart + kCalledSizes) == kFourBy64);
    CHECK(called_sizes(options + kCalledStart + "--tensor-model-parallel-size $L --global-batch-size $G\n") ==
          "tensor_parallel=? global_batch=64 L?");
    const std::string words =
        "while true; do\n  case \"$1\" in\n    --tp) T=$2; shift 2 ;;\n    --) shift; break ;;\n    *) break ;;\n  esac\ndone\n";
    CHECK(called_sizes("T=4\nG=64\n" + words + kCalledStart + kCalledSizes) == kFourBy64);
    CHECK(called_sizes("T=4\nG=64\nO=$(getopt -o t: --long tp: -- \"$@\")\neval set -- \"$O\"\n" + words + kCalledStart + kCalledSizes) ==
          kFourBy64);
    CHECK(called_sizes("set -- \"$@\" --tensor-model-parallel-size 4 --global-batch-size 64\n" + kCalledStart + "\"$@\"\n") == kFourBy64);
}

TEST_CASE("lists and numbers: lines of a document, whole numbers, another name, parts of a list, sums of Python") {
    CHECK(called_sizes("A=$(cat <<EOF\n--tensor-model-parallel-size 4\n--global-batch-size 64\nEOF\n)\n" + kCalledStart + "$A\n") ==
          kFourBy64);
    CHECK(called_sizes("mapfile -t A <<EOF\n--tensor-model-parallel-size=4\n--global-batch-size=64\nEOF\n" + kCalledStart +
                       "\"${A[@]}\"\n") == kFourBy64);
    CHECK(called_sizes("declare -i G=2*32\ndeclare -i T\nT=2*2\n" + kCalledStart + kCalledSizes) == kFourBy64);
    CHECK(
        called_sizes("A=()\nadd() { local -n to=$1; shift; to+=(\"$@\"); }\nadd A --tensor-model-parallel-size 4 --global-batch-size 64\n" +
                     kCalledStart + "\"${A[@]}\"\n") == kFourBy64);
    CHECK(called_sizes("T=4\nN=2\nG=$(python3 -c \"print(int(256 / $N / 2))\")\n" + kCalledStart + kCalledSizes) == kFourBy64);
    CHECK(called_sizes("S=llama-7b\nif [[ $S =~ 7b$ ]]; then T=4; else T=8; fi\nG=64\n" + kCalledStart + kCalledSizes) == kFourBy64);
    for (const char* count :
         {"$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\\n' | wc -l)", "$(awk -F, '{print NF}' <<< \"$CUDA_VISIBLE_DEVICES\")"}) {
        const Json job = first_of_script(std::string("export CUDA_VISIBLE_DEVICES=0,1,2,3\ntorchrun --nproc_per_node ") + count + " " +
                                         kCalledModel + "--bf16 --global-batch-size 64\n");
        CHECK(some(job, {"gpus"}) == "gpus=4");
    }
}

TEST_CASE("what a function answers, options that it is given, and more sums") {
    const std::string big = "is_big() { [[ $1 == 70b ]]; }\nG=64\n";
    CHECK(called_sizes(big + "if is_big 7b; then T=8; else T=4; fi\n" + kCalledStart + kCalledSizes) == kFourBy64);
    CHECK(called_sizes(big + "if is_big 70b; then T=4; else T=8; fi\n" + kCalledStart + kCalledSizes) == kFourBy64);
    CHECK(called_sizes("fails() { return 1; }\nT=8\nG=64\nfails || T=4\n" + kCalledStart + kCalledSizes) == kFourBy64);
    CHECK(called_sizes("run() {\n  local T=1 G=1\n  while [[ $# -gt 0 ]]; do\n    case $1 in\n      --tp) T=$2; shift 2 ;;\n"
                       "      --gbs) G=$2; shift 2 ;;\n      *) echo \"$1?\"; exit 1 ;;\n    esac\n  done\n  " +
                       kCalledStart + kCalledSizes + "}\nrun --tp 4 --gbs 64\n") == kFourBy64);
    CHECK(called_sizes("S=4:64\nT=$(echo $S | cut -d: -f1)\nG=$(echo \"$S\" | cut -d ':' -f 2)\n" + kCalledStart + kCalledSizes) ==
          kFourBy64);
    CHECK(called_sizes("T=$((2 ** 2))\nG=$((0x40))\n" + kCalledStart + kCalledSizes) == kFourBy64);
}

TEST_CASE("arguments whose names are open, or that xargs adds, are marked") {
    const Json job = first_of_script("torchrun --nproc_per_node 8 " + kCalledModel + "--lr $LR --${PRECISION} --global-batch-size 64\n");
    CHECK(fate(job, "--${PRECISION}").starts_with("unknown"));
    CHECK(fate(job, "--lr").starts_with("no_number"));
    CHECK(fate(first_of_script("echo --tensor-model-parallel-size 4 | xargs " + kCalledStart + "--global-batch-size 64\n"), "${xargs}")
              .starts_with("unknown"));
}

TEST_CASE("a batch that a fork says in steps; verl's gradients; OpenRLHF's and TRL's own stages") {
    const Json fork = first_of_script("torchrun --nproc_per_node 8 " + kCalledModel +
                                      "--bf16 --intermediate-size 1408 --gradient-accumulation-steps 4\n");
    CHECK(some(fork, {"global_batch"}) == "global_batch=32");
    CHECK(fork["job"]["model"]["intermediate_size"] == 1408);
    const std::string experts =
        "torchrun --nproc_per_node 8 " + kCalledModel + "--bf16 --swiglu --num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 256 ";
    const Json shared = first_of_script(experts + "--enable-shared-expert --num-shared-experts 2\n");
    CHECK(shared["job"]["model"]["shared_expert_intermediate_size"] == 512);
    const Json width = first_of_script(experts + "--enable-shared-expert --shared-moe-ffn-hidden-size 640\n");
    CHECK(width["job"]["model"]["shared_expert_intermediate_size"] == 640);
    const std::string llama =
        "--untie-embeddings-and-output-weights --normalization RMSNorm --disable-bias-linear --position-embedding-type rope ";
    const Json latent =
        first_of_script(experts + llama + "--kv-lora-rank 64 --qk-nope-head-dim 32 --qk-rope-head-dim 16 --v-head-dim 32\n");
    CHECK(latent["job"]["model"]["kv_lora_rank"] == 64);
    // A shape that no model here has is asked for.
    const Json other = first_of_script(experts + llama + "--kv-lora-rank 64 --qk-nope-head-dim 32 --hybrid-override-pattern MMMMMMMM\n");
    CHECK(other["asked"].dump() == R"(["model"])");
    const std::string verl =
        "python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer actor_rollout_ref.actor.strategy=megatron "
        "actor_rollout_ref.model.path=Qwen/Qwen2.5-7B actor_rollout_ref.actor.megatron.tensor_model_parallel_size=1 ";
    CHECK(some(first_of_script(verl + "\n"), {"gradients_in_fp32"}) == "gradients_in_fp32=true");
    CHECK(some(first_of_script(verl + "+actor_rollout_ref.actor.megatron.override_ddp_config.grad_reduce_in_fp32=False\n"),
               {"gradients_in_fp32"}) == "gradients_in_fp32=false");
    CHECK(some(first_of_script("deepspeed --num_gpus 8 --module openrlhf.cli.train_sft --max_len 2048 --train_batch_size 64 "
                               "--micro_train_batch_size 1 --pretrain Qwen/Qwen2.5-7B --bf16\n"),
               {"zero"}) == R"(zero="gradients")");
    const std::string trl = " --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 --max_length 2048 --bf16\n";
    CHECK(some(first_of_script("trl sft --accelerate_config zero3" + trl), {"zero"}) == R"(zero="weights")");
    const std::string slime =
        "python train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --hf-checkpoint /m/Qwen3-0.6B "
        "--micro-batch-size 1 --global-batch-size 64 --seq-length 2048 ";
    CHECK(some(first_of_script(slime + "\n"), {"zero", "recompute"}) == R"(zero="optimizer" recompute="none")");
    CHECK(some(first_of_script(slime + "--train-backend fsdp --gradient-checkpointing\n"), {"zero", "recompute", "precision"}) ==
          R"(zero="weights" recompute="full" precision="bf16")");
    CHECK(some(first_of_script("trl sft --accelerate_config fsdp1" + trl), {"zero"}) == R"(zero="weights")");
}
