// Ways of writing that programs in the open have: calls that fill arguments, tests of an argument, programs with words of their own.
#include <doctest/doctest.h>

#include "formats/settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

std::string recipe_of(const std::string& calls) {
    return "import nemo_run as run\nfrom nemo.collections import llm\n"
           "def configure(nodes: int = 1, gpus: int = 8):\n"
           "    recipe = llm.llama3_8b.pretrain_recipe(num_nodes=nodes, num_gpus_per_node=gpus)\n"
           "    recipe.trainer.strategy.tensor_model_parallel_size = 2\n    return recipe\n" +
           calls;
}

std::string sft(const std::string& program) {
    return "deepspeed --include localhost:0,1,2,3 --module openrlhf.cli." + program +
           " --pretrain Qwen/Qwen2.5-7B-Instruct --train_batch_size 64 --micro_train_batch_size 2 --max_len 4096 --zero_stage 3 --bf16 "
           "--flash_attn --gradient_checkpointing --packing_samples --adam_offload --learning_rate 5e-7 --apply_chat_template\n";
}

}  // namespace

TEST_CASE("arguments of a function that calls give by place or by a variable; what they give unsaid is open") {
    const Json placed = first_of_script(recipe_of("def main():\n    n = 4\n    each = 4\n    r = configure(n, each)\n"));
    CHECK(some(placed, {"gpus", "gpus_per_node"}) == "gpus=16 gpus_per_node=4");
    CHECK(some(first_of_script(recipe_of("n = 2\nr = configure(nodes=n)\n")), {"gpus"}) == "gpus=16");
    CHECK(some(first_of_script(recipe_of("r = configure()\n")), {"gpus"}) == "gpus=8");
    const Json open = first_of_script(recipe_of("def main(args):\n    r = configure(args.nodes, gpus=args.gpus)\n"));
    CHECK(some(open, {"gpus"}) == "gpus=?");
    CHECK(fate(open, "num_nodes") == "open 4");
    // Variables that have two values are no value.
    CHECK(some(first_of_script(recipe_of("n = 2\nif big:\n    n = 4\nr = configure(n)\n")), {"gpus"}) == "gpus=?");
}

TEST_CASE("OpenRLHF's fine-tuning; what it trains beside a second model is not counted") {
    const Json job = first_of_script(sft("train_sft"));
    CHECK(some(job, {"model", "gpus", "micro_batch", "global_batch", "sequence_length", "zero", "precision"}) ==
          "model=\"qwen2.5-7b\" gpus=4 micro_batch=2 global_batch=64 sequence_length=4096 zero=\"weights\" precision=\"bf16\"");
    CHECK(some(job, {"recompute", "attention", "optimizer_offload"}) == "recompute=\"full\" attention=\"flash\" optimizer_offload=1.0");
    CHECK(job["refused"].empty());
    for (const char* program : {"train_dpo", "train_rm", "train_ppo_ray"})
        CHECK(ids(first_of_script(sft(program))["refused"]) == "import_plan.refused.mode");
}

TEST_CASE("an argument of the script that is compared with nothing has its default") {
    const std::string command =
        "deepspeed --num_gpus 4 main.py --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 2 --zero_stage "
        "$STAGE\n";
    CHECK(some(first_of_script("STAGE=$2\nif [ \"$STAGE\" == \"\" ]; then\n    STAGE=2\nfi\n" + command), {"zero"}) ==
          "zero=\"gradients\"");
    CHECK(some(first_of_script("STAGE=$2\nif [ \"$STAGE\" != \"\" ]; then\n    STAGE=2\nelse\n    STAGE=3\nfi\n" + command), {"zero"}) ==
          "zero=\"weights\"");
    CHECK(some(first_of_script("STAGE=1\nif [ \"$STAGE\" == \"\" ]; then\n    STAGE=2\nfi\n" + command), {"zero"}) == "zero=\"optimizer\"");
}

TEST_CASE("torchrun's one node on several of srun's is asked; layers of experts that older releases recompute") {
    const std::string flags =
        " pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024 --max-position-embeddings 1024 "
        "--micro-batch-size 4 --bf16 --num-experts 8 --moe-layer-recompute\n";
    CHECK(some(first_of_script("srun -N 8 -n 8 torchrun --nproc_per_node 8" + flags), {"gpus"}) == "gpus=?");
    CHECK(some(first_of_script("srun -N 1 torchrun --nproc_per_node 8" + flags), {"gpus"}) == "gpus=8");
    const Json job = first_of_script("srun -N 8 torchrun --nnodes 8 --nproc_per_node 8" + flags);
    CHECK(some(job, {"gpus", "recompute", "recompute_modules"}) == "gpus=64 recompute=\"selective\" recompute_modules=\"moe\"");
    const Json both =
        first_of_script("torchrun --nproc_per_node 8" + flags.substr(0, flags.size() - 1) + " --recompute-granularity selective\n");
    CHECK(some(both, {"recompute_modules"}) == "recompute_modules=\"core_attn,moe\"");
}

TEST_CASE("a file of DeepSpeed that is not here, and whose name does not tell the stage, is named") {
    const Json job = first_of_script(
        "deepspeed --num_gpus 8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 2 --deepspeed "
        "own.json\n");
    CHECK(job["notes"].dump().find("own.json") != std::string::npos);
    CHECK(some(job, {"zero"}) == "zero=?");
}

TEST_CASE("ms-swift 2's names: what is trained, its batch, bits and models") {
    const Json full = first_of_script(
        "NPROC_PER_NODE=4 swift sft --model_type qwen2-1_5b-instruct --sft_type full --batch_size 4 --gradient_accumulation_steps 8 "
        "--max_length 8192 --use_flash_attn true --deepspeed default-zero3\n");
    CHECK(full["job"]["model"]["hidden_size"] == 1536);
    CHECK(some(full, {"gpus", "micro_batch", "global_batch", "sequence_length", "zero", "trained"}) ==
          "gpus=4 micro_batch=4 global_batch=128 sequence_length=8192 zero=\"weights\" trained=?");
    const std::string lora =
        "torchrun --nproc_per_node=4 src/llm_sft.py --model_type qwen-7b-chat --sft_type lora --dtype bf16 --max_length 1024 --lora_rank "
        "16 "
        "--batch_size 1 --gradient_accumulation_steps 4 ";
    CHECK(some(first_of_script(lora + "\n"), {"gpus", "trained", "lora_rank", "lora_targets", "precision", "frozen_weights"}) ==
          "gpus=4 trained=\"lora\" lora_rank=16 lora_targets=\"query,key,value\" precision=\"bf16\" frozen_weights=?");
    CHECK(some(first_of_script(lora + "--quantization_bit 4 --lora_target_modules ALL --lora_dropout_p 0.\n"),
               {"lora_targets", "frozen_weights", "lora_dropout"}) ==
          "lora_targets=\"query,key,value,output,gate,up,down\" frozen_weights=\"nf4\" lora_dropout=?");
}

TEST_CASE("DeepSpeed's file that a script writes for its own program; names of DeepSpeed's as another program's") {
    const std::string program =
        "deepspeed --num_gpus 4 run_clm.py --deepspeed ds.json --model_name_or_path gpt2 --fp16 --per_device_train_batch_size 8\n";
    const auto written = [&](const char* stage) {
        return "cat << EOF > ds.json\n{\"zero_optimization\": {\"stage\": " + std::string(stage) +
               ", \"offload_optimizer\": {\"device\": \"cpu\"}}, \"train_micro_batch_size_per_gpu\": \"auto\"}\nEOF\n" + program;
    };
    const Json job = first_of_script(written("2"));
    CHECK(some(job, {"zero", "optimizer_offload", "micro_batch"}) == "zero=\"gradients\" optimizer_offload=1.0 micro_batch=8");
    CHECK(job["notes"].dump().find("ds.json") == std::string::npos);
    CHECK(some(first_of_script(written("[0, 1, 2]")), {"zero"}) == "zero=?");
    const Json own = first_of_script(
        "accelerate launch train.py --model_name Qwen/Qwen2.5-7B-Instruct --max_length 4096 --train_batch_size 1 --accumulation_steps 6 "
        "--use_lora --use_qlora\n");
    CHECK(some(own, {"model", "sequence_length", "trained", "frozen_weights", "global_batch"}) ==
          "model=\"qwen2.5-7b\" sequence_length=4096 trained=\"lora\" frozen_weights=\"nf4\" global_batch=?");
    CHECK(fate(own, "--train_batch_size").starts_with("unknown"));
    const Json targets = first_of_script(
        "accelerate launch train.py --lora_r 16 --target_modules q_proj k_proj --qlora True --per_device_train_batch_size 2 "
        "--gradient_accumulation_steps 16\n");
    CHECK(some(targets, {"lora_targets", "frozen_weights"}) == "lora_targets=\"query,key\" frozen_weights=\"nf4\"");
}

TEST_CASE("lists that a script fills as it runs, GPUs by tasks, forks of torchtitan in Python") {
    const Json job = first_of_script(
        "run() {\n    declare -A args\n    while [[ \"$#\" -gt 0 ]]; do\n        key=\"${1#--}\"; args[\"$key\"]=\"$2\"; shift\n        "
        "shift\n"
        "    done\n    PP=${args[PP]:-1}\n"
        "    python3 -m MaxText.train MaxText/configs/base.yml model_name=llama3-8b per_device_batch_size=1 "
        "dcn_pipeline_parallelism=$PP\n}\n"
        "run --PP 4\n");
    CHECK(some(job, {"model", "pipeline_parallel"}) == "model=\"llama-3-8b\" pipeline_parallel=?");
    const Json tasks = first_of_script(
        "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-task=4\n"
        "srun bash -c \"torchrun --nnodes=\\${SLURM_NNODES} --nproc-per-node=\\${SLURM_GPUS_PER_TASK} run_train.py --config-file "
        "x.yaml\"\n");
    CHECK(some(tasks, {"gpus", "gpus_per_node"}) == "gpus=8 gpus_per_node=4");
    const Json fork = first_of_script(
        "from own.config import JobConfig\n\ndef base() -> JobConfig:\n    config = JobConfig()\n    config.training.local_batch_size = 4\n"
        "    config.training.seq_len = 4096\n    config.parallelism.tensor_parallel_degree = 2\n"
        "    config.parallelism.data_parallel_shard_degree = 4\n    config.parallelism.pipeline_parallel_degree = 2\n"
        "    config.activation_checkpoint.mode = \"full\"\n    return config\n");
    CHECK(some(fork, {"tensor_parallel", "pipeline_parallel", "gpus", "sequence_length", "recompute"}) ==
          "tensor_parallel=2 pipeline_parallel=2 gpus=? sequence_length=4096 recompute=\"full\"");
}
