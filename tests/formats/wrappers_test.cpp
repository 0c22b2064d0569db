// What stands around a configuration: programs in Python that hold it, trials of Determined, schedulers that say nodes in their own way.
#include <doctest/doctest.h>

#include "formats/settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("DeepSpeed's configuration as a dictionary of a program, with the model that it loads") {
    const Json job = first_of_script(
        "import deepspeed\n"
        "NAME = \"meta-llama/Llama-2-7b-hf\"\n"
        "micro = 4\n"
        "ds = {\n"
        "    \"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": micro, \"gradient_accumulation_steps\": 2,\n"
        "    \"bf16\": {\"enabled\": True},\n"
        "    \"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": {\"device\": \"cpu\"}},\n"
        "}\n"
        "model = AutoModelForCausalLM.from_pretrained(NAME)\n");
    CHECK(some(job, {"model", "gpus", "micro_batch", "global_batch", "zero", "precision", "optimizer_offload"}) ==
          "model=\"llama-2-7b\" gpus=8 micro_batch=4 global_batch=64 zero=\"weights\" precision=\"bf16\" optimizer_offload=1.0");
    CHECK(job["asked"] == Json{"sequence_length"});
}

TEST_CASE("the Trainer's arguments in Python; what is computed is open, and a part that is trained is said") {
    const std::string program =
        "from transformers import TrainingArguments\n"
        "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-7B-Instruct\")\n"
        "args = TrainingArguments(\n"
        "    per_device_train_batch_size=2,\n"
        "    gradient_accumulation_steps=16 // world(),\n"
        "    bf16=True, gradient_checkpointing=True, deepspeed=\"ds_z3.json\")\n";
    const Json job = first_of_script(program);
    CHECK(some(job, {"model", "micro_batch", "global_batch", "precision", "recompute", "zero", "trained"}) ==
          "model=\"qwen2.5-7b\" micro_batch=2 global_batch=? precision=\"bf16\" recompute=\"full\" zero=\"weights\" trained=?");
    CHECK(fate(job, "gradient_accumulation_steps") == "open 5");
    const Json part = first_of_script(program + "peft = LoraConfig(r=32, target_modules=[\"q_proj\", \"v_proj\"], lora_dropout=0.05)\n");
    CHECK(some(part, {"trained", "lora_rank", "lora_targets"}) == "trained=\"lora\" lora_rank=32 lora_targets=\"query,value\"");
    // A part that a dictionary alone trains is not counted.
    const Json mixed = first_of_script(
        "import deepspeed\nds = {\"train_batch_size\": 8, \"zero_optimization\": {\"stage\": 2}}\npeft = LoraConfig(r=8)\n");
    CHECK(ids(mixed["refused"]) == "import_plan.refused.mode");
}

TEST_CASE("a dictionary that never ends, or is nested too deep, ends") {
    std::string deep = "import deepspeed\nds = ";
    for (int i = 0; i < 2'000; ++i) deep += "{\"a\": ";
    CHECK(json(api::import_plan(Json{{"text", deep}}.dump()))["ok"] == false);
    CHECK(json(api::import_plan(
                   Json{{"text", "import deepspeed\nds = {\"train_batch_size\": 8, \"zero_optimization\": {\"stage\": "}}.dump()))
              .contains("ok"));
}

TEST_CASE("a trial of Determined that starts gpt-neox: overrides and slots; the rest stands in its files") {
    const Json job = first_of(
        "name = \"x\"\n"
        "hyperparameters.conf_file = [\"2-7B.yml\", \"cluster.yml\"]\n"
        "hyperparameters.overwrite_values.pipe_parallel_size = 2\n"
        "hyperparameters.overwrite_values.model_parallel_size = 2\n"
        "hyperparameters.overwrite_values.train_batch_size = 512\n"
        "hyperparameters.overwrite_values.train_micro_batch_size_per_gpu = 2\n"
        "resources.slots_per_trial = 16\n");
    CHECK(some(job, {"gpus", "tensor_parallel", "pipeline_parallel", "micro_batch", "global_batch", "zero", "recompute"}) ==
          "gpus=16 tensor_parallel=2 pipeline_parallel=2 micro_batch=2 global_batch=512 zero=? recompute=?");
    CHECK(ids(job["notes"]) == "import_plan.note.file");
}

namespace {
const char* const kRun =
    " pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --max-position-embeddings 64"
    " --micro-batch-size 1 --vocab-size 99 --bf16 --lr 1e-4 --train-iters 9\n";
std::string gpus_of(const std::string& head) { return some(first_of_script("#!/bin/bash\n" + head + kRun), {"gpus", "gpus_per_node"}); }
}  // namespace

TEST_CASE("nodes that a script counts in its scheduler's list") {
    CHECK(gpus_of("#PBS -l select=3:system=polaris\nN=$(cat $PBS_NODEFILE | uniq | wc -l)\nmpiexec -np $((N*4)) python3") ==
          "gpus=12 gpus_per_node=?");
    CHECK(gpus_of("#PBS -l select=3\nNNODES=`wc -l < $PBS_NODEFILE`\ntorchrun --nnodes $NNODES --nproc_per_node 4") ==
          "gpus=12 gpus_per_node=4");
    // With several processes a node the file has a line for each.
    CHECK(gpus_of("#PBS -l select=3:mpiprocs=4\nN=$(wc -l < $PBS_NODEFILE)\ntorchrun --nnodes $N --nproc_per_node 4") ==
          "gpus=? gpus_per_node=?");
    CHECK(gpus_of("#PBS -l select=3:mpiprocs=4\nN=$(sort -u $PBS_NODEFILE | wc -l)\ntorchrun --nnodes $N --nproc_per_node 4") ==
          "gpus=12 gpus_per_node=4");
    CHECK(gpus_of(
              "#SBATCH --nodes=5\nN=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | wc -l)\ntorchrun --nnodes $N --nproc_per_node 8") ==
          "gpus=40 gpus_per_node=8");
}

TEST_CASE("NQSV: nodes and GPUs of each") {
    CHECK(gpus_of("#PBS -b 4\n#PBS --gpunum-lhost=8\nmpirun python") == "gpus=32 gpus_per_node=8");
    CHECK(gpus_of("#PBS --gpunum-lhost=8\nmpirun python") == "gpus=8 gpus_per_node=?");
}

TEST_CASE("nanotron's StarCoder2, torchtitan's small models") {
    const Json job = first_of(
        "model.dtype = \"bfloat16\"\n"
        "model.model_config.is_starcoder2_config = true\n"
        "model.model_config.grouped_query = true\n"
        "model.model_config.num_kv_heads = 4\n"
        "model.model_config.hidden_size = 4608\n"
        "model.model_config.intermediate_size = 18432\n"
        "model.model_config.num_attention_heads = 36\n"
        "model.model_config.num_hidden_layers = 32\n"
        "model.model_config.max_position_embeddings = 4096\n"
        "model.model_config.vocab_size = 49152\n"
        "parallelism.dp = 4\nparallelism.tp = 2\nparallelism.pp = 1\n"
        "tokens.micro_batch_size = 2\ntokens.sequence_length = 4096\ntokens.batch_accumulation_per_replica = 8\n");
    const Json& model = job["job"]["model"];
    CHECK(model["model_type"] == "starcoder2");
    CHECK(model["num_key_value_heads"] == 4);
    CHECK(model["tie_word_embeddings"] == true);
    const Json small = first_of(
        "model.name = \"llama3\"\nmodel.flavor = \"debugmodel\"\ntraining.seq_len = 2048\ntraining.local_batch_size = 8\n"
        "parallelism.tensor_parallel_degree = 2\nactivation_checkpoint.mode = \"none\"\n");
    CHECK(small["job"]["model"]["hidden_size"] == 256);
}

TEST_CASE("programs of models with an encoder are recognised, and no plan is made") {
    for (const char* program : {"pretrain_t5.py", "pretrain_bert.py"}) {
        const Json job = first_of_script(std::string("torchrun --nproc_per_node 8 ") + program +
                                         " --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 512 "
                                         "--max-position-embeddings 512 --micro-batch-size 4 --fp16\n");
        CHECK(ids(job["refused"]) == "import_plan.refused.encoder");
        CHECK(job["asked"].empty());
    }
    const Json named = first_of("base_model = \"google/flan-t5-xl\"\nlearning_rate = 1e-5\nmicro_batch_size = 1\nsequence_len = 512\n");
    CHECK(ids(named["refused"]) == "import_plan.refused.encoder");
}

TEST_CASE("what is in force but not counted is said, and what another setting decides is not unknown") {
    const std::string foundry =
        "model.name = \"mpt_causal_lm\"\nmodel.d_model = 768\nmodel.n_heads = 12\nmodel.n_layers = 12\nmodel.expansion_ratio = 4\n"
        "model.max_seq_len = 2048\nmodel.vocab_size = 50368\nmax_seq_len = 2048\nglobal_train_batch_size = 256\n"
        "device_train_microbatch_size = 8\nprecision = \"amp_bf16\"\nfsdp_config.sharding_strategy = \"FULL_SHARD\"\n";
    const Json full = first_of(foundry + "fsdp_config.mixed_precision = \"FULL\"\n");
    CHECK(full["job"]["gradients_in_fp32"] == true);
    CHECK(full["notes"].dump().find("mixed_precision: FULL") != std::string::npos);
    const Json usual = first_of(foundry + "fsdp_config.mixed_precision = \"DEFAULT\"\n");
    CHECK(usual["notes"].dump().find("mixed_precision") == std::string::npos);

    const std::string flags =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 "
        "--max-position-embeddings 2048 --micro-batch-size 4 --bf16 ";
    const Json parts = first_of_script(flags + "--cuda-graph-impl transformer_engine --cuda-graph-scope moe_router moe_preprocess\n");
    CHECK(some(parts, {"cuda_graphs"}) == "cuda_graphs=\"none\"");
    CHECK(parts["notes"].dump().find("cuda_graph_scope") != std::string::npos);

    const Json neox = first_of(
        "num_layers = 12\nhidden_size = 768\nnum_attention_heads = 12\nseq_length = 2048\nmax_position_embeddings = 2048\n"
        "pos_emb = \"rotary\"\npipe_parallel_size = 1\nmodel_parallel_size = 1\ntrain_micro_batch_size_per_gpu = 4\n"
        "use_bias_in_mlp = false\nuse_bias_in_attn_linear = false\nzero_optimization.stage = 1\n");
    CHECK(fate(neox, "use_bias_in_attn_linear") == "used 11");
}

TEST_CASE("an adapter that is trained on is LoRA, and its own file is named") {
    const std::string settings =
        "model_name_or_path = \"meta-llama/Llama-3.2-3B-Instruct\"\nstage = \"sft\"\nfinetuning_type = \"lora\"\nlora_rank = 8\n"
        "lora_target = \"all\"\ncutoff_len = 1024\nper_device_train_batch_size = 8\ngradient_accumulation_steps = 4\nbf16 = true\n"
        "adapter_name_or_path = \"saves/first\"\n";
    const Json job = first_of(settings);
    CHECK(some(job, {"trained", "lora_rank", "model"}) == "trained=\"lora\" lora_rank=8 model=\"llama-3.2-3b\"");
    CHECK(job["refused"].empty());
    CHECK(job["notes"].dump().find("saves/first") != std::string::npos);
    // Merged into the weights, it is of no account.
    CHECK(first_of(settings + "create_new_adapter = true\n")["notes"].dump().find("saves/first") == std::string::npos);
}

TEST_CASE("one setting behind the file that says the rest, a recipe of a launcher, a fork's own model and state") {
    CHECK(some(first_of_script("python3 -m MaxText.train configs/own.yml quantization=fp8\n"), {"precision"}) == "precision=\"fp8\"");
    const Json launcher = first_of_script(
        "python3 main.py stages=[training] training=gpt3/20b training.trainer.num_nodes=2 training.model.micro_batch_size=2 "
        "training.model.global_batch_size=256 training.model.tensor_model_parallel_size=4\n");
    CHECK(launcher["job"]["model"]["hidden_size"] == 6'144);
    CHECK(launcher["notes"].dump().find("no_model") == std::string::npos);
    const Json fork = first_of(
        "model.name = \"deepseek_v3\"\nmodel.flavor = \"kimi_k2\"\ntraining.local_batch_size = 8\ntraining.seq_len = 4096\n"
        "parallelism.expert_parallel_degree = 128\noptimizer.state_dtype = \"bfloat16\"\n");
    CHECK(some(fork, {"model", "moments"}) == "model=\"kimi-k2\" moments=\"16-bit\"");
}

TEST_CASE("a dictionary of DeepSpeed alone; a command that xpk starts elsewhere, in quotes of two kinds") {
    const Json answer = read_script_of(
        "ds_config = {\n    \"train_micro_batch_size_per_gpu\": 4,\n    \"fp16\": {\"enabled\": True},\n"
        "    \"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"cpu\"}},\n}\n");
    CHECK(answer["format"] == "deepspeed");
    CHECK(some(answer["jobs"][0], {"micro_batch", "precision", "zero", "optimizer_offload"}) ==
          R"(micro_batch=4 precision="fp16" zero="gradients" optimizer_offload=1.0)");
    const Json job = first_of_script(
        "python ../xpk/xpk.py workload create --docker-image $IMAGE \\\n  --command 'export A=1:$B;'\"python3 MaxText/train.py "
        "MaxText/configs/base.yml model_name=llama2-7b per_device_batch_size=1 max_target_length=4096 ici_tensor_parallelism=8\" \\\n"
        "  --num-nodes 2\n");
    CHECK(some(job, {"model", "tensor_parallel", "sequence_length"}) == R"(model="llama-2-7b" tensor_parallel=8 sequence_length=4096)");
}

TEST_CASE("llama-recipes: FSDP recomputes unless it is told, and LoRA has rank 8") {
    const std::string start = "torchrun --nnodes 2 --nproc_per_node 8 finetuning.py --enable_fsdp --model_name meta-llama/Llama-3.1-8B ";
    const Json job = first_of_script(start + "--use_peft --peft_method lora --batch_size_training 2 --context_length 4096\n");
    CHECK(some(job, {"gpus", "micro_batch", "global_batch", "sequence_length", "zero", "recompute", "lora_rank", "lora_targets"}) ==
          R"(gpus=16 micro_batch=2 global_batch=32 sequence_length=4096 zero="weights" recompute="full" lora_rank=8 )"
          R"(lora_targets="query,value")");
    const Json plain =
        first_of_script(start + "--batch_size_training 1 --context_length 2048 --fsdp_config.fsdp_activation_checkpointing False\n");
    CHECK(some(plain, {"recompute", "trained", "precision"}) == R"(recompute="none" trained=? precision="bf16")");
    const Json other = first_of_script(start + "--use_peft --peft_method llama_adapter --batch_size_training 2\n");
    CHECK(ids(other["refused"]) == "import_plan.refused.mode");
}
