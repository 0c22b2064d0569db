// What public configurations say in ways of their own: each once, in a small text of our own, the values worked by hand.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// A model of Megatron-LM that is small and complete but for its batch and its vocabulary.
const std::string kSmallModel =
    "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 --bf16 ";
const std::string kSmallRun = kSmallModel + "--vocab-size 1000 --micro-batch-size 1 ";

}  // namespace

TEST_CASE("llm-foundry: LoRA below the model, activations on the host, changes that keep the sizes") {
    const std::string text =
        "max_seq_len = 4096\nmodel.name = \"hf_causal_lm\"\nmodel.pretrained_model_name_or_path = \"meta-llama/Llama-2-7b-hf\"\n"
        "global_train_batch_size = 64\ndevice_train_microbatch_size = 2\nprecision = \"amp_bf16\"\n"
        "fsdp_config.sharding_strategy = \"FULL_SHARD\"\n";
    const std::string lora = text +
                             "model.peft_config.peft_type = \"LORA\"\nmodel.peft_config.r = 16\n"
                             "model.peft_config.target_modules = [\"q_proj\", \"o_proj\"]\nmodel.peft_config.lora_dropout = 0.1\n";
    CHECK(some(first_of(lora), {"trained", "lora_rank", "lora_targets", "lora_dropout"}) ==
          R"(trained="lora" lora_rank=16 lora_targets="query,output" lora_dropout=true)");
    CHECK(ids(first_of(lora)["refused"]) == "");
    CHECK(ids(first_of(text + "model.peft_config.peft_type = \"PREFIX_TUNING\"\n")["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of(text + "model.peft_config.r = 8\n")["refused"]) == "import_plan.refused.mode");  // it takes none without a type
    const Json open = first_of(text + "model.peft_config.peft_type = \"${WAY}\"\n");
    CHECK(ids(open["refused"]) == "");
    CHECK(fate(open, "model.peft_config.peft_type") == "open 8");

    const Json offloaded = first_of(text + "fsdp_config.activation_checkpointing = false\nfsdp_config.activation_cpu_offload = true\n");
    CHECK(some(offloaded, {"recompute", "activation_offload"}) == R"(recompute="none" activation_offload=1.0)");
    CHECK(some(first_of(text + "fsdp_config.activation_checkpointing = true\n"), {"recompute"}) == R"(recompute="full")");

    const Json longer = first_of(text + "model.config_overrides.max_position_embeddings = 4096\n");
    CHECK(some(longer, {"model"}) == R"(model="llama-2-7b")");
    CHECK(fate(longer, "model.config_overrides.max_position_embeddings") == "no_number 8");
    const Json smaller = first_of(text + "model.config_overrides.num_hidden_layers = 4\n");
    CHECK(smaller["job"]["model"]["num_hidden_layers"] == 4);
    CHECK(fate(smaller, "model.config_overrides.num_hidden_layers") == "used 8");
    const Json narrower = first_of(text + "model.config_overrides.hidden_size = 2048\nmodel.config_overrides.other = 1\n");
    CHECK(narrower["job"]["model"]["head_dim"] == 64);
    CHECK(fate(narrower, "model.config_overrides.other") == "unknown 9");
    CHECK(some(first_of(text + "model.attn_implementation = \"flash_attention_2\"\n"), {"attention"}) == R"(attention="flash")");
}

TEST_CASE("MaxText: its kernels of attention, and the type that its base has") {
    const auto read = [](const std::string& said) {
        return first_of("model_name = \"llama2-7b\"\nper_device_batch_size = 2\nici_fsdp_parallelism = 8\n" + said);
    };
    CHECK(some(read(""), {"precision", "attention"}) == R"(precision="bf16" attention=?)");
    CHECK(some(read("dtype = \"float32\"\n"), {"precision"}) == "precision=?");
    CHECK(some(read("dtype = \"${TYPE}\"\n"), {"precision"}) == "precision=?");
    CHECK(some(read("attention = \"cudnn_flash_te\"\n"), {"attention"}) == R"(attention="cudnn")");
    CHECK(some(read("attention = \"flash\"\n"), {"attention"}) == R"(attention="flash")");
    CHECK(some(read("attention = \"dot_product\"\n"), {"attention"}) == R"(attention="plain")");
    CHECK(fate(read("attention = \"autoselected\"\n"), "attention") == "used 4");
    CHECK(fate(read("attention = \"paged\"\n"), "attention") == "unknown 4");
}

TEST_CASE("gpt-neox: batch, micro-batch and steps say how many GPUs there are; experts of every layer, or of every second one") {
    const std::string text =
        "pipe_parallel_size = 0\nmodel_parallel_size = 4\nnum_layers = 8\nhidden_size = 1024\nnum_attention_heads = 16\n"
        "seq_length = 2048\nvocab_size = 50304\ntrain_micro_batch_size_per_gpu = 2\ntrain_batch_size = 48\n";
    const std::string steps = "gradient_accumulation_steps = 3\n";
    CHECK(some(first_of(text), {"gpus"}) == "gpus=?");  // steps may be anything
    const Json job = first_of(text + steps);
    CHECK(some(job, {"gpus", "global_batch", "micro_batch"}) == "gpus=32 global_batch=48 micro_batch=2");  // 48 / 6 = 8 copies of 4
    CHECK(job["asked"].dump() == "[]");
    CHECK(some(first_of(text + steps + "context_parallel_size = 2\n"), {"gpus", "context_parallel"}) == "gpus=64 context_parallel=2");
    CHECK(some(first_of(text + "gradient_accumulation_steps = 5\n"), {"gpus"}) == "gpus=?");  // 48 does not divide by 10
    CHECK(some(first_of(text + "gradient_accumulation_steps = 0\n"), {"gpus"}) == "gpus=?");
    CHECK(some(first_of(text + steps + "train_batch_size = \"${BATCH}\"\n"), {"gpus"}) == "gpus=?");
    CHECK(first_of(text + steps)["job"].contains("model"));
    const Json experts = first_of(text + steps + "moe_num_experts = 8\nmoe_top_k = 2\nmoe_expert_parallel_size = 4\n");
    CHECK(experts["job"]["model"]["num_local_experts"] == 8);
    CHECK(experts["job"]["model"]["num_experts_per_tok"] == 2);
    CHECK(!experts["job"]["model"].contains("mlp_only_layers"));
    CHECK(some(experts, {"expert_parallel"}) == "expert_parallel=4");
    CHECK(fate(experts, "moe_num_experts") == "used 11");
    const Json second = first_of(text + steps + "moe_num_experts = 8\nexpert_interval = 2\n");
    CHECK(second["job"]["model"]["mlp_only_layers"].dump() == "[1,3,5,7]");
    CHECK(second["job"]["model"]["num_experts_per_tok"] == 1);
    CHECK(first_of(text + steps + "moe_num_experts = 1\n")["job"].contains("model"));
}

TEST_CASE("torchtitan: tensor parallelism divides the sequence too") {
    const std::string text = "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.local_batch_size = 1\ntraining.seq_len = 8192\n";
    const std::string four = text + "parallelism.tensor_parallel_degree = 4\n";
    CHECK(some(first_of(four), {"sequence_parallel"}) == "sequence_parallel=true");
    CHECK(some(first_of(text + "parallelism.tensor_parallel_degree = 1\n"), {"sequence_parallel"}) == "sequence_parallel=?");
    CHECK(some(first_of(four + "parallelism.enable_sequence_parallel = false\n"), {"sequence_parallel"}) == "sequence_parallel=false");
    CHECK(some(first_of(text + "parallelism.tensor_parallel_degree = \"${TP}\"\n"), {"sequence_parallel"}) == "sequence_parallel=?");
    CHECK(some(first_of(four + "job.config_file = \"./llama3_8b.toml\"\n"), {"sequence_parallel"}) == "sequence_parallel=?");
}

TEST_CASE("Megatron-LM: a batch under its first name, and a tokenizer of forks") {
    const auto job = [](const std::string& said) {
        return first_of_script("torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --vocab-size 1000 " +
                               kSmallModel + said);
    };
    CHECK(some(job("--batch-size 4\n"), {"micro_batch", "global_batch"}) == "micro_batch=4 global_batch=16");
    CHECK(ids(job("--batch-size 4\n")["refused"]) == "");
    CHECK(ids(job("--batch-size 4 --global-batch-size 16\n")["refused"]) == "import_plan.refused.both");
    CHECK(ids(job("--batch-size 4 --micro-batch-size 4\n")["refused"]) == "import_plan.refused.both");
    const Json open = job("--batch-size $SIZE\n");  // the batch is this times the copies
    CHECK(some(open, {"micro_batch", "global_batch"}) == "micro_batch=? global_batch=?");
    CHECK(open["keys"].back()["fields"].dump() == R"(["micro_batch","global_batch"])");
    const Json tokens = first_of_script("torchrun p.py --tokenizer-type Llama3Tokenizer --micro-batch-size 1 " + kSmallModel);
    CHECK(tokens["job"].dump().find(R"("vocab_size":128256)") != std::string::npos);
}

TEST_CASE("Primus: LoRA of its own trainer") {
    const std::string at = "modules.post_trainer.overrides.";
    const auto job = [&](const std::string& said) {
        return first_of(
            "modules.post_trainer.framework = \"megatron\"\nmodules.post_trainer.config = \"sft_trainer.yaml\"\n"
            "modules.post_trainer.model = \"llama3.1_70B.yaml\"\n" +
                at + "micro_batch_size = 1\n" + at + "seq_length = 4096\n" + said,
            {{"gpus", "8"}});
    };
    const std::string lora = at + "lora.enabled = true\n" + at + "lora.dim = 16\n" + at + "lora.alpha = 32\n" + at + "lora.dropout = 0.0\n";
    CHECK(some(job(lora + at + "lora.target_modules = [\"linear_qkv\", \"linear_proj\"]\n"), {"trained", "lora_rank", "lora_targets"}) ==
          R"(trained="lora" lora_rank=16 lora_targets="query,key,value,output")");
    const Json preset = job(at + "lora.enabled = true\n");  // which says the rest
    CHECK(some(preset, {"trained", "lora_rank", "lora_targets"}) == R"(trained="lora" lora_rank=? lora_targets=?)");
    const Json off = job(at + "lora.enabled = false\n" + at + "lora.dim = 16\n");
    CHECK(some(off, {"trained", "lora_rank"}) == "trained=? lora_rank=?");
    CHECK(fate(off, at + "lora.dim") == "no_number 7");
}

TEST_CASE("NeMo 1: what changes another file asks for the model that stands there") {
    const std::string run = "python megatron_gpt_sft.py trainer.devices=8 trainer.num_nodes=1 model.tensor_model_parallel_size=2 ";
    const Json job = first_of_script(run + "model.micro_batch_size=1 model.encoder_seq_length=2048\n");
    CHECK(job["asked"].dump() == R"(["model"])");
}

TEST_CASE("a launch: srun below \"time\", and a step that leaves some of its size to the job") {
    const std::string asked = "#SBATCH --nodes=8\n#SBATCH --gpus-per-node=4\n";
    const std::string program = "python pretrain_gpt.py " + kSmallRun;
    CHECK(some(first_of_script("time srun --nodes 2 --gpus-per-node 8 " + program), {"gpus"}) == "gpus=16");
    CHECK(some(first_of_script(asked + "srun --nodes 2 " + program), {"gpus", "gpus_per_node"}) == "gpus=8 gpus_per_node=4");
    CHECK(some(first_of_script(asked + "srun --gpus-per-node 2 " + program), {"gpus", "gpus_per_node"}) == "gpus=16 gpus_per_node=2");
    CHECK(some(first_of_script(asked + "srun " + program), {"gpus", "gpus_per_node"}) == "gpus=32 gpus_per_node=4");
    CHECK(some(first_of_script("#SBATCH --nodes=8\nsrun --gpus-per-node 4 " + program), {"gpus"}) == "gpus=32");
}

TEST_CASE("a script whose lists are not started: a flag keeps its value, wherever that was set") {
    const Json job = first_of_script(
        "TP=${TP:-4}\nMBS=${MBS:-2}\n"
        "SIZES=(\n" +
        kSmallModel + "\n--vocab-size 1000\n)\nPARALLEL=(\n--tensor-model-parallel-size \"$TP\"\n--micro-batch-size \"$MBS\"\n)\n" +
        "ALL=(torchrun --nproc_per_node 8 pretrain_gpt.py \"${SIZES[@]}\" \"${PARALLEL[@]}\")\n" +
        "if [ \"${DRY:-1}\" = 1 ]; then exit 0; else \"${ALL[@]}\"; fi\n");
    CHECK(some(job, {"tensor_parallel", "micro_batch", "sequence_length", "gpus"}) ==
          "tensor_parallel=4 micro_batch=2 sequence_length=512 gpus=8");
    int sizes = 0;  // which two lists have
    for (const Json& key : job["keys"]) sizes += key["key"] == "--num-layers" ? 1 : 0;
    CHECK(sizes == 1);
}

TEST_CASE("a script that another one writes: the size that its scheduler is asked for") {
    const Json job = first_of_script(
        "NODES=${1:-4}\nTP=2\nsbatch <<EOT\n#!/bin/bash\n#SBATCH --nodes=$NODES\n#SBATCH --gpus-per-node=8\n"
        "srun torchrun pretrain_gpt.py --tensor-model-parallel-size $TP " +
        kSmallRun + "\nEOT\n");
    CHECK(some(job, {"gpus", "gpus_per_node", "tensor_parallel"}) == "gpus=32 gpus_per_node=8 tensor_parallel=2");
}

TEST_CASE("accelerate launch: its arguments, and a file by its name") {
    const Json job = first_of_script(
        "accelerate launch --use_deepspeed --zero_stage 3 --offload_optimizer_device cpu --mixed_precision bf16 "
        "--num_machines 2 --num_processes 16 train.py --my_own 3\n");
    CHECK(some(job, {"gpus", "gpus_per_node", "zero", "optimizer_offload", "precision"}) ==
          R"(gpus=16 gpus_per_node=8 zero="weights" optimizer_offload=1.0 precision="bf16")");
    CHECK(fate(job, "--my_own") == "unknown 1");
    CHECK(some(first_of_script("accelerate launch --use_fsdp --fsdp_sharding_strategy SHARD_GRAD_OP --num_processes 8 train.py\n"),
               {"zero"}) == R"(zero="gradients")");
    CHECK(some(first_of_script("accelerate launch --multi_gpu --num_processes 8 train.py\n"), {"zero"}) == R"(zero="none")");
    const auto file = [](const std::string& name, const std::string& rest) {
        return first_of_script("accelerate launch --config_file accelerate/" + name + " --num_processes 8 train.py" + rest + "\n");
    };
    CHECK(some(file("deepspeed_zero3.yaml", ""), {"gpus", "zero"}) == R"(gpus=8 zero="weights")");
    const Json nameless = file("my.yaml", "");
    CHECK(some(nameless, {"gpus", "zero"}) == "gpus=8 zero=?");
    CHECK(fate(nameless, "--config_file") == "unknown 1");
    // A file that the script writes itself.
    const std::string written =
        "cat > a.yaml <<'EOF'\n# ours\ncompute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2  # new\n"
        "  fsdp_reshard_after_forward: false\n  fsdp_offload_params: null\nmixed_precision: 'bf16'\nnum_processes: 16\nnum_machines: 2\n"
        "tpu_env: []\nEOF\naccelerate launch --config_file a.yaml ";
    CHECK(some(first_of_script(written + "train.py\n"), {"gpus", "gpus_per_node", "zero", "precision"}) ==
          R"(gpus=16 gpus_per_node=8 zero="gradients" precision="bf16")");
    CHECK(some(first_of_script(written + "--mixed_precision fp16 train.py\n"), {"zero", "precision"}) ==
          R"(zero="gradients" precision="fp16")");
    // Beside the arguments of a trainer.
    const std::string trainer =
        " --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 1 --gradient_accumulation_steps 2";
    CHECK(some(file("zero2.yaml", trainer), {"model", "zero", "global_batch"}) == R"(model="llama-2-7b" zero="gradients" global_batch=16)");
    CHECK(some(file("my.yaml", trainer), {"zero"}) == "zero=?");
    CHECK(fate(file("my.yaml", trainer), "--config_file") == "unknown 1");
}

TEST_CASE("trainers: kernels of attention by their names") {
    const std::string axolotl = "base_model = \"meta-llama/Llama-2-7b-hf\"\nsequence_len = 4096\nmicro_batch_size = 1\nval_set_size = 0\n";
    const std::string factory = "model_name_or_path = \"meta-llama/Llama-2-7b-hf\"\nfinetuning_type = \"full\"\ncutoff_len = 4096\n";
    const auto kernel = [](const std::string& text) { return some(first_of(text), {"attention"}); };
    CHECK(kernel(axolotl) == "attention=?");
    CHECK(kernel(axolotl + "attn_implementation = \"sdpa\"\n") == R"(attention="auto")");
    CHECK(kernel(axolotl + "sdp_attention = true\n") == R"(attention="auto")");
    CHECK(kernel(axolotl + "flash_attention = true\n") == R"(attention="flash")");
    CHECK(kernel(axolotl + "eager_attention = true\n") == R"(attention="plain")");
    CHECK(kernel(axolotl + "flash_attention = true\nattn_implementation = \"eager\"\n") == R"(attention="flash")");
    CHECK(kernel(factory + "flash_attn = \"fa2\"\n") == R"(attention="flash")");
    CHECK(kernel(factory + "flash_attn = \"disabled\"\n") == R"(attention="plain")");
    CHECK(kernel(factory + "flash_attn = \"auto\"\n") == "attention=?");
    CHECK(some(first_of_script("torchrun --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf "
                               "--per_device_train_batch_size 1 --attn_implementation eager\n"),
               {"attention"}) == R"(attention="plain")");
}

TEST_CASE("ms-swift: what it takes where nothing is said") {
    const std::string run = "NPROC_PER_NODE=4 swift sft --model /models/Qwen3-8B --torch_dtype bfloat16 --max_length 2048 ";
    const Json lora = first_of_script(run + "--per_device_train_batch_size 2 --gradient_accumulation_steps 4\n");
    CHECK(some(lora, {"model", "gpus", "micro_batch", "global_batch", "sequence_length", "precision", "recompute"}) ==
          R"(model="qwen3-8b" gpus=4 micro_batch=2 global_batch=32 sequence_length=2048 precision="bf16" recompute="full")");
    CHECK(some(lora, {"trained", "lora_rank", "lora_targets", "lora_dropout"}) ==
          R"(trained="lora" lora_rank=8 lora_targets="query,key,value,output,gate,up,down" lora_dropout=true)");
    const Json full = first_of_script("NNODES=2 " + run +
                                      "--train_type full --attn_impl flash_attn --deepspeed zero3 --gradient_checkpointing false "
                                      "--per_device_train_batch_size 1 --gradient_accumulation_steps 1\n");
    CHECK(some(full, {"gpus", "trained", "zero", "recompute", "attention", "global_batch"}) ==
          R"(gpus=8 trained=? zero="weights" recompute="none" attention="flash" global_batch=8)");
    // Without steps the batch is at least 16.
    CHECK(some(first_of_script(run + "--train_type full --per_device_train_batch_size 1\n"), {"micro_batch", "global_batch"}) ==
          "micro_batch=1 global_batch=?");
    CHECK(ids(first_of_script(run + "--tuner_type adalora --per_device_train_batch_size 1\n")["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of_script("swift rlhf --rlhf_type dpo --train_type full --model x --per_device_train_batch_size 1\n")["refused"]) ==
          "import_plan.refused.mode");
    CHECK(some(first_of_script("python own.py --base_model_name_or_path meta-llama/Llama-2-7b-hf --deepspeed zero3.json --bf16 True\n"),
               {"model", "zero"}) == R"(model="llama-2-7b" zero="weights")");
    const Json megatron = first_of_script(
        "NPROC_PER_NODE=4 megatron rlhf --rlhf_type grpo --model x --tensor_model_parallel_size 2 --micro_batch_size 1 --global_batch_size "
        "8 --max_length 512\n");
    CHECK(ids(megatron["refused"]) == "import_plan.refused.mode");
    CHECK(some(megatron, {"gpus", "sequence_length", "zero"}) == "gpus=4 sequence_length=512 zero=?");
    CHECK(some(first_of_script("python run_mlm.py --model_type x --per_device_train_batch_size 2 --gradient_accumulation_steps 2 "
                               "--model_name_or_path x --sharded_ddp zero_dp_3\n"),
               {"micro_batch", "zero"}) == "micro_batch=2 zero=?");
    CHECK(some(first_of_script("NPROC_PER_NODE=2 llamafactory-cli train --model_name_or_path x --finetuning_type full --cutoff_len 512\n"),
               {"gpus"}) == "gpus=2");
}

TEST_CASE("a trainer's arguments behind accelerate, with the model under another name or none") {
    const std::string run = "accelerate launch --num_processes 8 --config_file zero3.yaml train.py --per_device_train_batch_size 2 --bf16 ";
    const Json job = first_of_script(run + "--model_name meta-llama/Llama-2-7b-hf --use_gradient_checkpointing\n");
    CHECK(some(job, {"model", "gpus", "micro_batch", "global_batch", "zero", "recompute", "precision"}) ==
          R"(model="llama-2-7b" gpus=8 micro_batch=2 global_batch=16 zero="weights" recompute="full" precision="bf16")");
    CHECK(first_of_script(run + "\n")["asked"].dump().find("model") != std::string::npos);
}

TEST_CASE("NeMo 1: 8 bits need a format") {
    const std::string text =
        "trainer.num_nodes = 1\ntrainer.devices = 8\ntrainer.precision = \"bf16\"\nmodel.num_layers = 4\nmodel.hidden_size = 512\n"
        "model.num_attention_heads = 8\nmodel.encoder_seq_length = 512\nmodel.max_position_embeddings = 512\nmodel.micro_batch_size = 1\n";
    CHECK(ids(first_of(text + "model.fp8 = true\n")["refused"]) == "import_plan.refused.needs");
    CHECK(ids(first_of(text + "model.fp8 = true\nmodel.fp8_hybrid = true\n")["refused"]) == "");
    CHECK(ids(first_of(text + "model.fp8 = false\n")["refused"]) == "");
}

TEST_CASE("Megatron-DeepSpeed: lists of arguments that another file starts") {
    const Json answer = read_script_of("O=\"" + kSmallRun + "\"\nO=\"$O --deepspeed --deepspeed_config ds.json\"\n");
    CHECK(answer["format"] == "megatron-deepspeed");
}

TEST_CASE("Megatron-SWIFT: Megatron-LM's arguments, a model by its name, LoRA") {
    const Json job = first_of_script(
        "NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B --train_type lora --lora_rank 16 "
        "--target_modules all-linear --tensor_model_parallel_size 2 --expert_model_parallel_size 4 "
        "--micro_batch_size 2 --global_batch_size 16 --max_length 2048 --recompute_granularity selective\n");
    CHECK(some(job, {"model", "gpus", "tensor_parallel", "expert_parallel", "micro_batch", "global_batch", "sequence_length"}) ==
          R"(model="qwen3-30b-a3b" gpus=8 tensor_parallel=2 expert_parallel=4 micro_batch=2 global_batch=16 sequence_length=2048)");
    CHECK(some(job, {"trained", "lora_rank", "recompute", "zero", "precision"}) ==
          R"(trained="lora" lora_rank=16 recompute="selective" zero="optimizer" precision="bf16")");
    CHECK(ids(job["refused"]) == "");
    const Json full = first_of_script(
        "NPROC_PER_NODE=8 megatron pt --load my-own-mcore --tensor_model_parallel_size 2 --micro_batch_size 2 "
        "--global_batch_size 16 --max_length 2048\n");
    CHECK(some(full, {"model", "trained"}) == "model=? trained=?");
    CHECK(full["asked"].dump() == R"(["model"])");
}

TEST_CASE("Megatron-LM: experts of a model whose sizes stand elsewhere") {
    const std::string lists = "A=(--tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --expert-model-parallel-size 8 --bf16)\n";
    CHECK(some(first_of_script(lists), {"pipeline_parallel", "expert_parallel"}) == "pipeline_parallel=4 expert_parallel=8");
    const Json job = first_of_script(
        "torchrun pretrain_gpt.py $MODEL --tensor-model-parallel-size 1 --expert-model-parallel-size 8 "
        "--micro-batch-size 1 --bf16\n");
    CHECK(some(job, {"expert_parallel"}) == "expert_parallel=8");
    CHECK(ids(job["refused"]) == "");
    CHECK(some(first_of_script("torchrun pretrain_gpt.py --expert-model-parallel-size 8 " + kSmallRun), {"expert_parallel"}) ==
          "expert_parallel=1");
}

TEST_CASE("programs that name a file for the rest") {
    CHECK(some(first_of_script("NGPU=4\ntorchrun --nproc_per_node=$NGPU -m torchtitan.train --job.config_file $1\n"), {"gpus", "model"}) ==
          "gpus=4 model=?");
    CHECK(some(first_of_script("torchrun --nproc_per_node=4 train.py my.yaml --deepspeed=ds_z3.json\n"), {"gpus", "zero"}) ==
          R"(gpus=4 zero="weights")");
    CHECK(some(first_of_script("accelerate launch --config_file my.yaml train.py --bf16\n"), {"precision"}) == R"(precision="bf16")");
    CHECK(some(first_of_script("torchrun --nproc_per_node=4 train.py --model_name_or_path x --per_device_train_batch_size 1 --tp 2\n"),
               {"tensor_parallel"}) == "tensor_parallel=2");
}

TEST_CASE("DeepSpeed: batch, micro-batch and steps say how many GPUs there are") {
    const std::string text = "zero_optimization.stage = 3\ntrain_batch_size = 128\ntrain_micro_batch_size_per_gpu = 4\n";
    const std::string steps = "gradient_accumulation_steps = 4\n";
    CHECK(some(first_of(text + steps), {"gpus", "micro_batch", "global_batch"}) == "gpus=8 micro_batch=4 global_batch=128");
    CHECK(some(first_of(text + steps + "tensor_parallel.autotp_size = 2\n"), {"gpus"}) == "gpus=16");
    CHECK(some(first_of(text), {"gpus"}) == "gpus=?");
    CHECK(some(first_of(text + "gradient_accumulation_steps = \"auto\"\n"), {"gpus"}) == "gpus=?");
    CHECK(ids(first_of(text + steps, {{"gpus", "16"}})["refused"]) == "import_plan.refused.batch");  // on another number it stops
}

TEST_CASE("MaxText: sizes of its own with experts and squeezed attention; axes without a field of ours leave none") {
    const std::string text =
        "per_device_batch_size = 2\nici_fsdp_parallelism = 8\nici_sequence_parallelism = 1\nbase_emb_dim = 512\n"
        "base_num_query_heads = 8\nbase_num_kv_heads = 8\nbase_mlp_dim = 2048\nbase_num_decoder_layers = 6\nvocab_size = 1000\n"
        "num_experts = 16\nnum_experts_per_tok = 4\n";
    const Json plain = first_of(text)["job"];
    CHECK(!plain.contains(""));
    CHECK(plain["model"]["num_local_experts"] == 16);
    CHECK(plain["model"]["num_experts_per_tok"] == 4);
    const Json latent = first_of(text +
                                 "attention_type = \"mla\"\nkv_lora_rank = 64\nq_lora_rank = 96\nqk_nope_head_dim = 32\n"
                                 "qk_rope_head_dim = 16\nv_head_dim = 32\nbase_moe_mlp_dim = 256\nshared_experts = 1\n"
                                 "first_num_dense_layers = 2\n")["job"]["model"];
    CHECK(latent["n_routed_experts"] == 16);
    CHECK(latent["moe_intermediate_size"] == 256);
    CHECK(latent["first_k_dense_replace"] == 2);
    CHECK(latent["kv_lora_rank"] == 64);
}

TEST_CASE("accelerate: a setting that its file does not have, or no type, stops it; a command has other ones") {
    const std::string file = "compute_environment = \"LOCAL_MACHINE\"\nnum_processes = 8\nmixed_precision = \"bf16\"\n";
    CHECK(ids(first_of(file + "distributed_type = \"MULTI_GPU\"\n")["refused"]) == "");
    const Json newer = first_of(file + "distributed_type = \"MULTI_GPU\"\ntp_degree = 4\n");  // it may be a later release's
    CHECK(ids(newer["refused"]) == "");
    CHECK(fate(newer, "tp_degree") == "unknown 5");
    CHECK(ids(first_of(file + "distributed_type = \"MULTI_GPU\"\nnum_machine = 4\n")["refused"]) == "import_plan.refused.no_key");
    CHECK(ids(first_of(file)["refused"]) == "import_plan.refused.needs");
    const Json started = first_of_script("accelerate launch --num_processes 8 --use_fsdp --fsdp_sharding_strategy FULL_SHARD own.py\n");
    CHECK(ids(started["refused"]) == "");
    CHECK(some(started, {"zero"}) == R"(zero="weights")");
    const Json sums = first_of(file + "distributed_type = \"FSDP\"\nfsdp_config.fsdp_mixed_precision_policy.reduce_dtype = \"bf16\"\n");
    CHECK(some(sums, {"gradients_in_fp32"}) == "gradients_in_fp32=false");
}

TEST_CASE("the Trainer: the type of the weights where no other is said; LoRA as LLaVA and TRL have it") {
    const std::string text = "model_name_or_path = \"Qwen/Qwen3-8B\"\nper_device_train_batch_size = 1\nmax_length = 1024\n";
    CHECK(some(first_of(text + "torch_dtype = \"bfloat16\"\n"), {"precision"}) == R"(precision="bf16")");
    CHECK(some(first_of(text + "torch_dtype = \"bfloat16\"\nfp16 = true\n"), {"precision"}) == R"(precision="fp16")");
    CHECK(some(first_of(text + "torch_dtype = \"auto\"\n"), {"precision"}) == "precision=?");
    CHECK(some(first_of(text + "lora_enable = true\n"), {"lora_rank", "lora_targets"}) ==
          R"(lora_rank=64 lora_targets="query,key,value,output,gate,up,down")");
    CHECK(some(first_of(text + "use_peft = true\n"), {"lora_rank", "lora_targets"}) == R"(lora_rank=16 lora_targets="query,value")");
    CHECK(some(first_of(text + "lora_r = 4\nlora_target_modules = \"wqkv w1 dense_4h_to_h\"\n"), {"lora_rank", "lora_targets"}) ==
          R"(lora_rank=4 lora_targets="query,key,value,gate,down")");
}

TEST_CASE("what fine-tuning programs do not start without; LLaMA-Factory's file with changes beside it") {
    CHECK(ids(first_of("base_model = \"Qwen/Qwen3-8B\"\nsequence_len = 512\nmicro_batch_size = 1\n")["refused"]) ==
          "import_plan.refused.needs");
    const Json nameless =
        read_settings_of("finetuning_type = \"full\"\ncutoff_len = 512\nper_device_train_batch_size = 1\nlora_rank = 8\n");
    CHECK(nameless["format"] == "llama-factory");
    CHECK(ids(nameless["jobs"][0]["refused"]) == "import_plan.refused.needs");
    CHECK(!nameless["jobs"][0]["job"].contains("trained"));
    const Json changed =
        first_of_script("CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train own.yaml flash_attn=fa2 disable_gradient_checkpointing=true\n");
    CHECK(some(changed, {"gpus", "recompute", "attention", "zero"}) == R"(gpus=2 recompute="none" attention="flash" zero=?)");
    CHECK(ids(changed["refused"]) == "");
    CHECK(ids(changed["notes"]) == "import_plan.note.file");
    const std::string swift = "swift sft --model Qwen/Qwen3-8B --per_device_train_batch_size 1 --max_length 512\n";
    CHECK(some(first_of_script("CUDA_VISIBLE_DEVICES=3 " + swift), {"gpus"}) == "gpus=1");
    CHECK(some(first_of_script("CUDA_VISIBLE_DEVICES=3,4 " + swift), {"gpus"}) == "gpus=?");
}
