// Ways of writing that programs in the open have: calls that fill arguments, tests of an argument, programs with words of their own.
#include <doctest/doctest.h>

#include "settings.h"

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
    CHECK(fate(first_of_script("srun --jobid 7 " + sft("train_sft")), "--jobid").starts_with("no_number"));
    CHECK(fate(first_of_script(sft("train_sft --use_wandb k")), "--use_wandb").starts_with("no_number"));
    for (const char* program : {"train_dpo", "train_rm"})
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

TEST_CASE("Megatron-SWIFT: what it takes where nothing is said") {
    const auto swift = [](const std::string& more) {
        return first_of_script("NPROC_PER_NODE=4 megatron sft --model Qwen/Qwen2.5-7B --max_length 512 --tensor_model_parallel_size 2 " +
                               more + "\n");
    };
    const Json unsaid = swift("--num_train_epochs 1 --output_dir o --packing true");
    CHECK(some(unsaid, {"tensor_parallel", "pipeline_parallel", "micro_batch", "global_batch"}) ==
          "tensor_parallel=2 pipeline_parallel=1 micro_batch=1 global_batch=16");
    CHECK(some(unsaid, {"recompute", "zero", "attention", "precision", "overlap_gradients"}) ==
          R"(recompute="selective" zero="optimizer" attention="flash" precision="bf16" overlap_gradients=false)");
    CHECK(fate(unsaid, "--packing") == "no_number 1");
    CHECK(ids(unsaid["notes"]) == "");
    CHECK(some(swift("--torch_dtype float16 --recompute_granularity none --use_distributed_optimizer false"),
               {"precision", "recompute", "zero", "sequence_parallel"}) ==
          R"(precision="fp16" recompute="none" zero="none" sequence_parallel=false)");
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
    CHECK(some(job, {"model", "pipeline_parallel"}) == "model=\"llama-3-8b\" pipeline_parallel=4");
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

TEST_CASE("lists of arguments for a script elsewhere: what is exported beside them is for it too") {
    const Json job = first_of_script(
        "export EXTRA=\" \\\n  --seq-length 4096 \\\n  --sequence-parallel \\\n  --global-batch-size 8 \\\n  --micro-batch-size 1 \\\n  "
        "--recompute-granularity full "
        "--recompute-method uniform --recompute-num-layers 1\n\"\n"
        "export TP=8\nexport PP=4\nexport EP=2\nexport NNODES=8\nexport GPUS_PER_NODE=8\n"
        "export PROFILE=\"nsys profile --trace=cuda\"\nsh finetune.sh openai/gpt-oss-120b\n");
    CHECK(some(job, {"gpus", "tensor_parallel", "pipeline_parallel", "expert_parallel", "recompute_layers", "precision"}) ==
          "gpus=64 tensor_parallel=8 pipeline_parallel=4 expert_parallel=2 recompute_layers=1 precision=?");
    CHECK(job["title"] == "Megatron-LM");  // it names no program
}

TEST_CASE("accelerate's file, which the script writes under a name that is not known") {
    const Json job = first_of_script(
        "F=run_$(date +%Y).yaml\ncat << EOF > $F\ncompute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config:\n"
        "  fsdp_sharding_strategy: 2\nmixed_precision: bf16\nnum_processes: 32\nEOF\n"
        "accelerate launch --config_file=$F src/train_bash.py --model_name_or_path mistralai/Mixtral-8x7B-v0.1 --cutoff_len 4096 "
        "--stage sft --finetuning_type full --per_device_train_batch_size 1 --gradient_accumulation_steps 2 --bf16 --flash_attn\n");
    CHECK(some(job, {"gpus", "zero", "global_batch", "attention", "recompute"}) ==
          R"(gpus=32 zero="gradients" global_batch=64 attention="flash" recompute="full")");
    CHECK(ids(job["notes"]) == "");
}

TEST_CASE("files of settings inside of Python, and several of them in a script") {
    const std::string yaml =
        "model:\n  dtype: bfloat16\nparallelism:\n  dp: 4\n  tp: 1\n  pp: {stages}\ntokens:\n  micro_batch_size: 1\n"
        "  sequence_length: 512\n";
    const Json python = read_script_of("import os\nCONFIG = '''" + yaml + "'''\nwith open('a.yaml', 'w') as f:\n    f.write(CONFIG)\n");
    CHECK(python["format"] == "nanotron");
    CHECK(python["questions"][0]["name"] == "stages");
    CHECK(some(python["jobs"][0], {"sequence_length", "pipeline_parallel"}) == "sequence_length=512 pipeline_parallel=?");
    const std::string toml = "[training]\nlocal_batch_size = 2\nseq_len = 4096\n[model]\nname = \"llama3\"\nflavor = ";
    const Json both = read_script_of("cat <<E > a.toml\n" + toml + "\"8B\"\nE\ncat <<E > b.toml\n" + toml + "\"70B\"\nE\n");
    REQUIRE(both["jobs"].size() == 2);
    CHECK(both["jobs"][1]["job"]["model"] == "llama-3-70b");
}

TEST_CASE("a program that trains with FSDP under Megatron-LM's names") {
    const Json job = first_of_script(
        "mpirun -np 16 python examples/finetuning.py --seq-length 4096 --micro-batch-size 1 --global-batch-size 64 "
        "--base-model /models/Llama-2-70b-hf --bf16 --mixed-precision --low-cpu-fsdp --sharding-strategy FULL_SHARD "
        "--fsdp-activation-checkpointing\n");
    CHECK(some(job, {"model", "zero", "recompute", "gpus", "global_batch", "hidden_dropout"}) ==
          R"(model="llama-2-70b" zero="weights" recompute="full" gpus=16 global_batch=64 hidden_dropout=?)");
    CHECK(ids(job["notes"]) == "");
}

TEST_CASE("degrees of a pipeline under DeepSpeed's names; a number of nodes that mpirun sets; a loop over options") {
    const Json own = first_of_script(
        "torchrun --nproc_per_node 4 train.py --max_seq_len 2048 --pipe_parallel_size 4 --model_parallel_size 1 --deepspeed_config "
        "a.json\n");
    CHECK(some(own, {"pipeline_parallel", "tensor_parallel", "zero"}) == "pipeline_parallel=4 tensor_parallel=1 zero=?");
    const std::string run =
        " pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
        "--max-position-embeddings 512 --bf16 --vocab-size 1000 --micro-batch-size $MBS\n";
    const Json nodes = read_script_of("MBS=1\nN=\"${OMPI_COMM_WORLD_SIZE:-1}\"\ntorchrun --nproc_per_node 8 --nnodes $N" + run);
    CHECK(nodes["questions"][0]["name"] == "OMPI_COMM_WORLD_SIZE");
    const Json loop = read_script_of("while getopts \"m:\" opt; do\n  MBS=$OPTARG\ndone\ntorchrun --nproc_per_node 8" + run);
    REQUIRE(loop["questions"].size() == 1);
    CHECK(loop["questions"][0]["name"] == "MBS");
}

TEST_CASE("NeMo 2: a Trainer without a number of nodes has one") {
    const Json job = first_of_script(
        "from nemo.collections import llm\nfrom nemo import lightning as nl\nstrategy = nl.MegatronStrategy(\n"
        "    tensor_model_parallel_size=2, pipeline_model_parallel_size=1)\ntrainer = nl.Trainer(devices=8, strategy=strategy)\n"
        "data = llm.SquadDataModule(seq_length=2048, micro_batch_size=1, global_batch_size=8)\n");
    CHECK(some(job, {"gpus", "tensor_parallel", "sequence_length"}) == "gpus=8 tensor_parallel=2 sequence_length=2048");
}

TEST_CASE("experts that another file says, degrees of a part of the model, a batch that another file says") {
    const std::string run =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2880 --num-attention-heads 64 --seq-length 512 "
        "--max-position-embeddings 512 --bf16 --vocab-size 1000 --micro-batch-size 1 ";
    const Json job = first_of_script(run + "--moe-grouped-gemm --model-id gpt_oss\n");
    CHECK(some(job, {"model", "gpus"}) == "model=? gpus=8");
    CHECK(job["asked"].dump() == R"(["model"])");
    CHECK(some(first_of_script(run + "--llm-tp 2 --llm-pp 4\n"), {"tensor_parallel", "pipeline_parallel"}) ==
          "tensor_parallel=2 pipeline_parallel=4");
    const Json foundry = first_of_script("composer --world_size 2 train.py a.yaml device_train_microbatch_size=20 max_seq_len=512\n");
    CHECK(some(foundry, {"gpus", "micro_batch", "global_batch"}) == "gpus=2 micro_batch=20 global_batch=?");
    const Json neox = first_of_script("python ./deepy.py train.py -d configs 1-3B.yml b/dp16.yml\n");
    CHECK(neox["notes"][0]["args"]["file"] == "1-3B.yml, b/dp16.yml");
}

TEST_CASE("accelerate's file offloads, and is not the settings of the program; Megatron-LM's arguments for a module are no recipe") {
    const Json job = first_of_script(
        "F=run_$(date +%Y).yaml\ncat << EOF > $F\ncompute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n"
        "  offload_optimizer_device: cpu\n  offload_param_device: cpu\n  zero_stage: 3\nnum_processes: 8\nEOF\n"
        "accelerate launch --config_file $F src/train.py --model_name_or_path mistralai/Mistral-7B-v0.1 --cutoff_len 4096 --stage sft "
        "--finetuning_type full --per_device_train_batch_size 1 --bf16\n");
    CHECK(some(job, {"gpus", "zero", "optimizer_offload", "weights_offload", "recompute"}) ==
          R"(gpus=8 zero="weights" optimizer_offload=1.0 weights_offload=true recompute="full")");
    CHECK(ids(job["notes"]) == "");
    const Json module = read_script_of(
        "python -m own.train --actor-num-nodes 2 --actor-num-gpus-per-node 8 --num-gpus-per-node 8 --tensor-model-parallel-size 1 "
        "--pipeline-model-parallel-size 1 --expert-model-parallel-size 8 --optimizer-cpu-offload --use-precision-aware-optimizer --bf16 "
        "--global-batch-size 256 --advantage-estimator grpo\n");
    CHECK(module["format"] == "megatron-lm");
    CHECK(some(module["jobs"][0], {"gpus", "optimizer_offload"}) == "gpus=16 optimizer_offload=1.0");
}

TEST_CASE("Python: what is tried works, an argument without a default gives way, and one given twice stops it") {
    const auto program = [](const std::string& args) {
        return "import argparse\nfrom transformers import TrainingArguments, Trainer, AutoModelForCausalLM\n"
               "try:\n    from trl import SFTConfig\n    NEW = True\nexcept ImportError:\n    NEW = False\n"
               "NAME = \"Qwen/Qwen3-0.6B\"\n"
               "def train(args):\n    name = args.model or NAME\n    model = AutoModelForCausalLM.from_pretrained(name)\n"
               "    if NEW:\n        config = SFTConfig(per_device_train_batch_size=4, max_length=512, bf16=True" +
               args +
               ")\n    else:\n        config = TrainingArguments(per_device_train_batch_size=2, bf16=True, **more)\n"
               "    SFTTrainer(model=model, args=config).train()\n"
               "def main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument(\"--model\", default=None)\n"
               "    train(parser.parse_args())\n";
    };
    const Json read = read_script_of(program(""));
    REQUIRE(read["jobs"].size() == 1);
    CHECK(some(read["jobs"][0], {"micro_batch", "sequence_length"}) == "micro_batch=4 sequence_length=512");
    CHECK(read["jobs"][0]["job"]["model"]["num_hidden_layers"] == 28);
    CHECK(ids(read["jobs"][0]["refused"]) == "");
    CHECK(ids(first_of_script(program(", save_steps=1, key=lambda a, key=1: a"))["refused"]) == "");
    const Json twice = first_of_script(program(",\n            bf16=True"));
    CHECK(ids(twice["refused"]) == "import_plan.refused.python");
    CHECK(twice["refused"][0]["args"]["line"] == 14);
}

TEST_CASE("nanotron's configuration made in Python") {
    const Json job = first_of_script(
        "from nanotron.config import *\nmodel_config = LlamaConfig(hidden_size=2048, num_hidden_layers=16, num_attention_heads=32,\n"
        "    num_key_value_heads=8, intermediate_size=8192, vocab_size=128256, tie_word_embeddings=True)\nGPUS = 8\n"
        "parallelism = ParallelismArgs(dp=GPUS // 2, pp=1, tp=2, tp_mode=TensorParallelLinearMode.REDUCE_SCATTER)\n"
        "tokens = TokensArgs(sequence_length=4096, micro_batch_size=2, batch_accumulation_per_replica=4)\n"
        "optimizer = OptimizerArgs(zero_stage=1, accumulate_grad_in_fp32=True,\n"
        "    learning_rate_scheduler=LRSchedulerArgs(learning_rate=3e-4))\n"
        "config = Config(model=ModelArgs(init_method=RandomInit(std=0.02), model_config=model_config), parallelism=parallelism)\n");
    CHECK(some(job, {"gpus", "tensor_parallel", "sequence_parallel", "global_batch", "zero", "gradients_in_fp32"}) ==
          "gpus=8 tensor_parallel=2 sequence_parallel=true global_batch=32 zero=\"optimizer\" gradients_in_fp32=true");
    CHECK(job["job"]["model"]["num_key_value_heads"] == 8);
    CHECK(job["asked"].empty());
}

TEST_CASE("Megatron-Bridge: a recipe named after its size, with sums of lists for its layers") {
    const auto model = [](const std::string& list) {
        return first_of_script(
                   "from megatron.bridge.recipes.deepseek import deepseek_v3_pretrain_config_32nodes\n"
                   "def f():\n    cfg = deepseek_v3_pretrain_config_32nodes()\n    dense = 2\n"
                   "    cfg.model.num_layers = 20\n    cfg.model.moe_layer_freq = " +
                   list + "\n    cfg.train.global_batch_size = 8\n    cfg.model.seq_length = 512\n    return cfg\n")["job"]
            .value("model", Json::object());
    };
    CHECK(model("[0] + [1] * 19")["first_k_dense_replace"] == 1);
    CHECK(model("[0] * dense + [1] * (20 - dense)")["first_k_dense_replace"] == 2);
    CHECK(model("[0, 1] * 10").empty());  // no model of the family
}

TEST_CASE("NeMo 2 on PyTorch's FSDP, and a preset of Primus in eight bits") {
    const Json job = first_of_script(
        "import nemo_run as run\nimport nemo.lightning as nl\nfrom nemo.collections import llm\ndef main():\n"
        "    recipe = llm.llama3_8b.finetune_recipe(num_nodes=2, num_gpus_per_node=8, peft_scheme=None)\n"
        "    recipe.trainer.strategy = run.Config(nl.FSDP2Strategy, data_parallel_size=16, tensor_parallel_size=1)\n    return recipe\n");
    CHECK(some(job, {"gpus", "zero"}) == "gpus=16 zero=\"weights\"");
    const Json preset = first_of(
        "modules.pre_trainer.framework = \"torchtitan\"\nmodules.pre_trainer.model = \"deepseek_v3_16b-fp8.yaml\"\n"
        "modules.pre_trainer.overrides.training.local_batch_size = 8\n"
        "modules.pre_trainer.overrides.training.seq_len = 4096\n");
    CHECK(some(preset, {"model", "precision", "micro_batch"}) == "model=\"deepseek-v2-lite\" precision=\"fp8\" micro_batch=8");
}

TEST_CASE("a file of one's own with the Trainer's arguments as a section") {
    const Json job = first_of(
        "model.name = \"Qwen/Qwen2.5-7B\"\nmodel.load_in_4bit = true\nlora.r = 8\nlora.alpha = 32\n"
        "data.max_seq_length = 1024\ntraining_args.per_device_train_batch_size = 4\n"
        "training_args.gradient_accumulation_steps = 2\ntraining_args.bf16 = true\n"
        "training_args.gradient_checkpointing = true\n");
    CHECK(some(job, {"micro_batch", "sequence_length", "precision", "recompute", "trained", "lora_rank", "frozen_weights"}) ==
          "micro_batch=4 sequence_length=1024 precision=\"bf16\" recompute=\"full\" trained=\"lora\" lora_rank=8 frozen_weights=\"nf4\"");
    CHECK(job["job"].contains("model"));
    CHECK(some(job, {"zero"}) == "zero=\"none\"");
    const std::string section =
        "model.base_model_id = \"Qwen/Qwen2.5-7B\"\ntraining.per_device_train_batch_size = 4\ntraining.max_length = 512\n";
    CHECK(some(first_of(section + "deepspeed.config_path = \"configs/deepspeed/zero2.yaml\"\n"), {"zero"}) == "zero=\"gradients\"");
    CHECK(some(first_of(section + "accelerate.use_deepspeed = true\n"), {"zero"}) == "zero=?");  // a file elsewhere says it
}

TEST_CASE("the degree of experts where older forks of torchtitan have it, and a precision by the name of an argument") {
    const Json job = first_of(
        "model.name = \"moe\"\nmodel.flavor = \"debugmodel\"\ntraining.batch_size = 8\ntraining.seq_len = 2048\n"
        "training.tensor_parallel_degree = 1\ntraining.expert_parallel_degree = 2\n");
    CHECK(some(job, {"expert_parallel", "micro_batch"}) == "expert_parallel=2 micro_batch=8");
    const Json recipe = first_of_script(
        "from megatron.bridge.recipes.llama import llama32_1b_pretrain_config\ndef f(precision: str = \"bf16\"):\n"
        "    kind = get_precision_config(precision)\n    cfg = llama32_1b_pretrain_config()\n    cfg.mixed_precision = kind\n"
        "    cfg.model.seq_length = 8192\n    cfg.train.global_batch_size = 8\n    return cfg\n");
    CHECK(some(recipe, {"precision", "model"}) == "precision=\"bf16\" model=\"llama-3.2-1b\"");
}

TEST_CASE("Python: calls inside of calls that are never closed are left, in no time") {
    for (const char* piece : {"f(a=1, ", "p.add_argument(", "ParallelismArgs(dp=1,"}) {
        std::string text = "import torch\nfrom nanotron.config import ParallelismArgs\ndef f():\n    x = 1\n";
        while (text.size() < (tests::kSlowBuild ? 6'000 : 900'000)) text += piece;
        CHECK(json(api::import_plan(Json({{"text", text}}).dump())).contains("ok"));
    }
}
