// Records and jobs around a configuration: config.yaml of Weights & Biases, jobs of Kubernetes.
#include <doctest/doctest.h>

#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

static const std::string kWandb = "wandb_version = 1\n_wandb.desc = null\n_wandb.value.cli_version = \"0.17.0\"\n";

TEST_CASE("Weights & Biases: the Trainer's arguments and the model's config.json in one record") {
    const std::string config =
        kWandb +
        "_name_or_path.value = \"models/mine\"\nmodel_type.value = \"llama\"\nhidden_size.value = 2048\nintermediate_size.value = 5632\n"
        "num_hidden_layers.value = 22\nnum_attention_heads.value = 32\nnum_key_value_heads.value = 4\nvocab_size.value = 32000\n"
        "max_position_embeddings.value = 4096\ntie_word_embeddings.value = false\nmax_length.desc = null\nmax_length.value = 20\n"
        "num_beams.value = 1\ntorch_dtype.value = \"bfloat16\"\narchitectures.value = [\"LlamaForCausalLM\"]\nfsdp.value = []\n"
        "per_device_train_batch_size.value = 2\ngradient_accumulation_steps.value = 8\ngradient_checkpointing.value = true\n"
        "bf16.value = true\nfp16.value = false\noptim.value = \"adamw_torch\"\nuse_cpu.value = false\n";
    const std::string stage = "deepspeed.value = \"configs/ds_z3.json\"\n";
    const Json job = first_of(config + stage, {{"gpus", "16"}});
    CHECK(some(job, {"gpus", "micro_batch", "global_batch", "recompute", "precision", "zero"}) ==
          R"(gpus=16 micro_batch=2 global_batch=256 recompute="full" precision="bf16" zero="weights")");
    CHECK(job["job"]["model"]["num_hidden_layers"] == 22);
    CHECK(job["job"]["model"]["vocab_size"] == 32000);
    CHECK(job["asked"] == Json{"sequence_length"});  // 20 is what the model would generate
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    const Json plain = first_of(config + "deepspeed.value = null\nfsdp_config.value.min_num_params = 0\n", {{"gpus", "16"}});
    CHECK(some(plain, {"zero"}) == "zero=?");  // "accelerate launch" may have a file
    CHECK(ids(plain["notes"]) == "import_plan.note.file");
    const Json inside = first_of(config + "deepspeed.value.zero_optimization.stage = 2\n");
    CHECK(some(inside, {"zero"}) == R"(zero="gradients")");
    const Json named =
        first_of(config + stage + "max_seq_length.value = 4096\n_name_or_path.value = \"TinyLlama/TinyLlama-1.1B-Chat-v1.0\"\n");
    CHECK(some(named, {"model", "sequence_length"}) == R"(model="tinyllama-1.1b" sequence_length=4096)");
    CHECK(named["asked"] == Json{"gpus"});
}

TEST_CASE("Weights & Biases: the type in a config.json is its checkpoint's, which may be loaded in another") {
    const std::string plain = kWandb +
                              "model_type.value = \"llama\"\nhidden_size.value = 64\nintermediate_size.value = 128\n"
                              "num_hidden_layers.value = 2\nnum_attention_heads.value = 4\nvocab_size.value = 1000\n"
                              "per_device_train_batch_size.value = 2\ngradient_accumulation_steps.value = 1\nbf16.value = true\n"
                              "max_seq_length.value = 64\ntorch_dtype.value = \"bfloat16\"\n";
    const Json answer = read_settings_of(plain, {{"gpus", "1"}});
    CHECK(some(answer["jobs"][0], {"precision", "master_weights"}) == R"(precision="bf16" master_weights=?)");
}

TEST_CASE("Weights & Biases: an adapter that the Trainer adds; weights in 4 bits") {
    const std::string config =
        kWandb +
        "model_type.value = \"llama\"\nhidden_size.value = 64\nintermediate_size.value = 128\nnum_hidden_layers.value = 2\n"
        "num_attention_heads.value = 4\nvocab_size.value = 1000\nper_device_train_batch_size.value = 2\n"
        "gradient_accumulation_steps.value = 1\nbf16.value = true\nmax_length.value = 64\ntorch_dtype.value = \"bfloat16\"\n";
    const Json job =
        first_of(config +
                 "peft_config.value.default.peft_type = \"LORA\"\npeft_config.value.default.r = 32\n"
                 "peft_config.value.default.lora_alpha = 16\npeft_config.value.default.lora_dropout = 0.05\n"
                 "peft_config.value.default.target_modules = [\"q_proj\", \"v_proj\"]\n"
                 "quantization_config.value.load_in_4bit = true\nquantization_config.value.bnb_4bit_use_double_quant = true\n");
    CHECK(some(job, {"trained", "lora_rank", "lora_targets", "lora_dropout", "frozen_weights"}) ==
          R"(trained="lora" lora_rank=32 lora_targets="query,value" lora_dropout=true frozen_weights="nf4")");
    const Json text = first_of(config + "peft_config.value.default = \"LoraConfig(r=8)\"\n");
    CHECK(ids(text["refused"]) == "import_plan.refused.mode");
    const Json other = first_of(config + "peft_config.value.default.peft_type = \"IA3\"\n");
    CHECK(ids(other["refused"]) == "import_plan.refused.mode");
}

TEST_CASE("Weights & Biases: Megatron-LM's arguments with the GPUs of the run, torchtitan's sections, nanotron's file") {
    const std::string sizes =
        "num_layers.value = 2\nhidden_size.value = 64\nffn_hidden_size.value = 256\nnum_attention_heads.value = 4\nseq_length.value = 64\n"
        "max_position_embeddings.value = 64\nadd_bias_linear.value = false\nswiglu.value = true\npadded_vocab_size.value = 1024\n"
        "micro_batch_size.value = 1\nglobal_batch_size.value = 64\nbf16.value = true\nuse_distributed_optimizer.value = true\n";
    const Json megatron = read_settings_of(kWandb + sizes +
                                           "world_size.value = 32\ntensor_model_parallel_size.value = 2\n"
                                           "pipeline_model_parallel_size.value = 2\nrecompute_granularity.value = null\n");
    CHECK(megatron["format"] == "megatron-lm");
    CHECK(some(megatron["jobs"][0], {"gpus", "tensor_parallel", "pipeline_parallel", "zero", "recompute"}) ==
          R"(gpus=32 tensor_parallel=2 pipeline_parallel=2 zero="optimizer" recompute="none")");
    CHECK(megatron["jobs"][0]["asked"] == Json::array());
    const Json titan = first_of(kWandb +
                                "model.value.name = \"llama3\"\nmodel.value.flavor = \"8B\"\ntraining.value.local_batch_size = 2\n"
                                "training.value.seq_len = 4096\nparallelism.value.tensor_parallel_degree = 4\n"
                                "activation_checkpoint.value.mode = \"full\"\n");
    CHECK(some(titan, {"model", "tensor_parallel", "micro_batch", "sequence_length", "recompute"}) ==
          R"(model="llama-3-8b" tensor_parallel=4 micro_batch=2 sequence_length=4096 recompute="full")");
    const Json nanotron = read_settings_of(
        kWandb +
        "nanotron_config.value.parallelism.dp = 8\nnanotron_config.value.parallelism.tp = 2\nnanotron_config.value.parallelism.pp = 1\n"
        "nanotron_config.value.tokens.micro_batch_size = 2\nnanotron_config.value.tokens.batch_accumulation_per_replica = 4\n"
        "nanotron_config.value.tokens.sequence_length = 4096\nnanotron_config.value.optimizer.zero_stage = 1\n");
    CHECK(nanotron["format"] == "nanotron");
    CHECK(some(nanotron["jobs"][0], {"gpus", "global_batch", "sequence_length", "zero"}) ==
          R"(gpus=16 global_batch=64 sequence_length=4096 zero="optimizer")");
}

// ---- Kubernetes
static const std::string kTrainer =
    "\"--model_name_or_path=Qwen/Qwen2.5-7B\", \"--per_device_train_batch_size=1\", \"--gradient_accumulation_steps=2\", \"--bf16\", "
    "\"--max_length=$(LENGTH)\", \"--deepspeed=z3.json\"]\n";

TEST_CASE("a PyTorchJob: its command as a list, names of its environment, the pods of both roles") {
    const auto role = [](const std::string& name, int replicas) {
        const std::string spec = "spec.pytorchReplicaSpecs." + name + ".", part = spec + "template.spec.containers.0.";
        return spec + "replicas = " + std::to_string(replicas) + "\n" + part + "command = [\"torchrun\", \"sft.py\", " + kTrainer + part +
               "env.0.name = \"LENGTH\"\n" + part + "env.0.value = \"4096\"\n" + part + "resources.limits.nvidia.com/gpu = 8\n";
    };
    const Json answer = read_settings_of("kind = \"PyTorchJob\"\n" + role("Master", 1) + role("Worker", 3));
    REQUIRE(answer["jobs"].size() == 1);  // both start the same
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"gpus", "gpus_per_node", "global_batch", "sequence_length", "zero", "model"}) ==
          R"(gpus=32 gpus_per_node=8 global_batch=64 sequence_length=4096 zero="weights" model="qwen2.5-7b")");
    CHECK(job["asked"] == Json::array());
}

TEST_CASE("a TrainJob: nodes and processes of its trainer") {
    const Json job = first_of(
        "kind = \"TrainJob\"\nspec.trainer.numNodes = 4\nspec.trainer.numProcPerNode = 4\n"
        "spec.trainer.command = [\"torchrun\", \"sft.py\"]\nspec.trainer.env.0.name = \"LENGTH\"\nspec.trainer.env.0.value = \"2048\"\n"
        "spec.trainer.args = [" +
        kTrainer + "spec.trainer.resourcesPerNode.limits.nvidia.com/gpu = \"8\"\n");
    CHECK(some(job, {"gpus", "global_batch", "sequence_length"}) == "gpus=16 global_batch=32 sequence_length=2048");
}

TEST_CASE("a JobSet and a Job: a script behind bash -c, with its environment; pods of all that stands above") {
    const std::string script =
        "\"set -ex\\nexport GPUS=8\\ntorchrun --nnodes=$NODES --nproc_per_node=$GPUS pretrain_gpt.py --num-layers 4 --hidden-size 64 "
        "--num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 --vocab-size 1000 --micro-batch-size 1 "
        "--global-batch-size 64 --bf16 --tensor-model-parallel-size ${TP}\\n\"";
    const std::string set = "spec.replicatedJobs.0.", part = set + "template.spec.template.spec.containers.0.";
    const Json job = first_of("kind = \"JobSet\"\n" + set + "replicas = 2\n" + set + "template.spec.parallelism = 8\n" + part +
                              "command = [\"/bin/bash\", \"-x\", \"-c\"]\n" + part + "args = [" + script + "]\n" + part +
                              "env.0.name = \"NODES\"\n" + part + "env.0.value = \"16\"\n" + part + "env.1.name = \"TP\"\n" + part +
                              "env.1.value = 4\n" + part + "resources.limits.nvidia.com/gpu = 8\n");
    CHECK(some(job, {"gpus", "tensor_parallel", "global_batch"}) == "gpus=128 tensor_parallel=4 global_batch=64");
    const Json plain = first_of(
        "kind = \"Job\"\nspec.parallelism = 2\nspec.template.spec.containers.0.command = [\"accelerate\", \"launch\", \"sft.py\", " +
        kTrainer + "spec.template.spec.containers.0.resources.requests.nvidia.com/gpu = 4\n");
    CHECK(some(plain, {"gpus", "global_batch"}) == "gpus=8 global_batch=16");
}

TEST_CASE("an MPIJob: its launcher holds no GPU; what says nothing of a training is none") {
    const std::string spec = "spec.mpiReplicaSpecs.", part = ".template.spec.containers.0.";
    const std::string workers = spec + "Worker.replicas = 4\n" + spec + "Worker" + part + "resources.limits.nvidia.com/gpu = 8\n" + spec +
                                "Launcher.replicas = 1\n";
    const Json job =
        first_of("kind = \"MPIJob\"\n" + workers + spec + "Launcher" + part + "command = [\"mpirun\", \"python\", \"sft.py\", " + kTrainer);
    CHECK(some(job, {"gpus", "gpus_per_node"}) == "gpus=32 gpus_per_node=8");
    CHECK(json(api::import_plan(Json{{"entries", settings("kind = \"MPIJob\"\n" + workers + spec + "Launcher" + part +
                                                          "command = [\"mpirun\", \"all_reduce_perf\"]\n")}}
                                    .dump()))["ok"] == false);
}

TEST_CASE("SkyPilot: nodes, GPUs and names that its task says") {
    const std::string task =
        "resources.cloud = \"kubernetes\"\nresources.accelerators = \"H100:8\"\nnum_nodes = 2\nenvs.MODEL = "
        "\"meta-llama/Llama-3.1-8B\"\nenvs.BS = 2\n";
    const std::string train =
        "train.py --model_name_or_path $MODEL --per_device_train_batch_size $BS --gradient_accumulation_steps 4 --max_seq_length 4096 "
        "--bf16 --deepspeed zero3.json\"\n";
    const Json job = first_of(task +
                              "run = \"NODES=$(echo \\\"$SKYPILOT_NODE_IPS\\\" | wc -l)\\ntorchrun --nnodes=$NODES "
                              "--nproc_per_node=$SKYPILOT_NUM_GPUS_PER_NODE " +
                              train);
    CHECK(some(job, {"model", "gpus", "gpus_per_node", "micro_batch", "global_batch"}) ==
          R"(model="llama-3.1-8b" gpus=16 gpus_per_node=8 micro_batch=2 global_batch=128)");
    const Json launched =
        first_of("resources.accelerators.A100 = 4\nenvs.MODEL = \"gpt2\"\nenvs.BS = 1\nrun = \"accelerate launch " + train);
    CHECK(launched["asked"].dump().find("gpus") == std::string::npos);
    CHECK(some(launched, {"gpus"}) == "gpus=4");
}
