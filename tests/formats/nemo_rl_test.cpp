// NeMo RL: the policy's training, on Megatron Core and on DTensor; torchforge's actors.
#include <doctest/doctest.h>

#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("NeMo RL: the policy on Megatron Core, over a file that says the rest") {
    const Json answer = read_settings_of(
        "defaults = \"../../grpo.yaml\"\ngrpo.num_prompts_per_step = 64\npolicy.model_name = \"Qwen/Qwen3-30B-A3B\"\n"
        "policy.train_global_batch_size = 1024\npolicy.train_micro_batch_size = 1\npolicy.max_total_sequence_length = 8192\n"
        "policy.dtensor_cfg.enabled = false\npolicy.dtensor_cfg.tensor_parallel_size = 9\npolicy.megatron_cfg.enabled = true\n"
        "policy.megatron_cfg.activation_checkpointing = true\npolicy.megatron_cfg.tensor_model_parallel_size = 4\n"
        "policy.megatron_cfg.pipeline_model_parallel_size = 2\npolicy.megatron_cfg.expert_model_parallel_size = 8\n"
        "policy.megatron_cfg.num_layers_in_first_pipeline_stage = 23\npolicy.megatron_cfg.context_parallel_size = 2\n"
        "policy.megatron_cfg.sequence_parallel = true\npolicy.megatron_cfg.optimizer.lr = 5e-07\n"
        "policy.megatron_cfg.optimizer.use_distributed_optimizer = true\n"
        "policy.megatron_cfg.distributed_data_parallel_config.grad_reduce_in_fp32 = false\n"
        "policy.generation.vllm_cfg.tensor_parallel_size = 16\ncluster.gpus_per_node = 8\ncluster.num_nodes = 8\n");
    CHECK(answer["format"] == "nemo-rl");
    const Json job = answer["jobs"][0];
    CHECK(some(job, {"model", "gpus", "gpus_per_node", "sequence_length", "micro_batch", "global_batch"}) ==
          R"(model="qwen3-30b-a3b" gpus=64 gpus_per_node=8 sequence_length=8192 micro_batch=1 global_batch=1024)");
    CHECK(some(job, {"tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel", "first_stage_layers"}) ==
          "tensor_parallel=4 pipeline_parallel=2 context_parallel=2 expert_parallel=8 first_stage_layers=23");
    CHECK(some(job, {"recompute", "zero", "sequence_parallel", "gradients_in_fp32"}) ==
          R"(recompute="full" zero="optimizer" sequence_parallel=true gradients_in_fp32=false)");
    CHECK(ids(job["notes"]).find("import_plan.note.file") != std::string::npos);
    CHECK(ids(job["notes"]).find("import_plan.note.actor") != std::string::npos);
    CHECK(job["partial"] == true);
}

TEST_CASE("NeMo RL: the policy on DTensor, with answers from GPUs of their own") {
    const std::string text =
        "sft.max_num_steps = 9\npolicy.model_name = \"meta-llama/Llama-3.1-8B\"\npolicy.train_global_batch_size = 64\n"
        "policy.train_micro_batch_size = 2\npolicy.max_total_sequence_length = 4096\npolicy.precision = \"bfloat16\"\n"
        "policy.dtensor_cfg.enabled = true\npolicy.dtensor_cfg.tensor_parallel_size = 2\npolicy.dtensor_cfg.context_parallel_size = 1\n"
        "policy.dtensor_cfg.sequence_parallel = true\npolicy.dtensor_cfg.activation_checkpointing = true\n"
        "policy.dtensor_cfg.cpu_offload = false\npolicy.megatron_cfg.enabled = false\npolicy.megatron_cfg.tensor_model_parallel_size = 7\n"
        "policy.generation.colocated.enabled = false\npolicy.generation.colocated.resources.num_nodes = 1\n"
        "cluster.gpus_per_node = 8\ncluster.num_nodes = 3\n";
    const Json job = first_of(text);
    CHECK(some(job, {"gpus", "tensor_parallel", "zero", "recompute", "sequence_parallel", "gradients_in_fp32", "precision"}) ==
          R"(gpus=16 tensor_parallel=2 zero="weights" recompute="full" sequence_parallel=true gradients_in_fp32=true precision="bf16")");
    CHECK(some(job, {"micro_batch", "global_batch", "trained"}) == "micro_batch=2 global_batch=64 trained=?");
    CHECK(job["asked"].empty());
    const Json lora = first_of(text +
                               "policy.dtensor_cfg.lora_cfg.enabled = true\npolicy.dtensor_cfg.lora_cfg.dim = 32\n"
                               "policy.dtensor_cfg.lora_cfg.target_modules = []\n"
                               "policy.dtensor_cfg.lora_cfg.match_all_linear = true\n");
    CHECK(some(lora, {"trained", "lora_rank", "lora_targets"}) ==
          R"(trained="lora" lora_rank=32 lora_targets="query,key,value,output,gate,up,down")");
    CHECK(first_of(text + "dpo.max_num_steps = 5\n")["refused"].size() == 1);
}

TEST_CASE("torchforge: the trainer's processes and hosts are its GPUs") {
    const Json job = first_of(
        "model_name = \"Qwen/Qwen3-32B\"\nactors.trainer.procs = 4\nactors.trainer.hosts = 16\nactors.trainer.with_gpus = true\n"
        "model.name = \"qwen3\"\nmodel.flavor = \"32B\"\ntraining.local_batch_size = 1\ntraining.seq_len = 2048\n"
        "parallelism.data_parallel_shard_degree = -1\nparallelism.tensor_parallel_degree = 2\nactivation_checkpoint.mode = \"full\"\n");
    CHECK(some(job, {"gpus", "gpus_per_node", "tensor_parallel", "global_batch"}) ==
          "gpus=64 gpus_per_node=4 tensor_parallel=2 global_batch=32");
    CHECK(job["asked"].empty());
}

TEST_CASE("a micro-batch that Composer finds itself, and a length that DPOTrainer is given") {
    const Json job = first_of(
        "model.name = \"hf_causal_lm\"\nmodel.pretrained_model_name_or_path = \"mosaicml/mpt-7b\"\nmax_seq_len = 2048\n"
        "compute.gpus = 8\nglobal_train_batch_size = 64\ndevice_train_microbatch_size = \"auto\"\nprecision = \"amp_bf16\"\n"
        "fsdp_config.sharding_strategy = \"FULL_SHARD\"\n");
    CHECK(some(job, {"micro_batch", "global_batch"}) == "micro_batch=8 global_batch=64");
    CHECK(ids(job["notes"]) == "import_plan.note.not_counted");
    const Json dpo = first_of_script(
        "from trl import DPOTrainer\nfrom transformers import TrainingArguments\nlongest = 1536\n"
        "args = TrainingArguments(output_dir='o', per_device_train_batch_size=1, gradient_accumulation_steps=2, bf16=True)\n"
        "trainer = DPOTrainer(model, args=args, max_length=longest, max_prompt_length=512, beta=0.1)\ntrainer.train()\n");
    CHECK(some(dpo, {"sequence_length", "micro_batch"}) == "sequence_length=1536 micro_batch=1");
}

TEST_CASE("NeMo RL: the newer name of the part on PyTorch, and a file that stands on nothing") {
    const Json job = first_of(
        "policy.model_name = \"meta-llama/Llama-3.1-8B\"\npolicy.train_global_batch_size = 64\npolicy.train_micro_batch_size = 1\n"
        "policy.max_total_sequence_length = 4096\npolicy.automodel_cfg.context_parallel_size = 2\n"
        "policy.automodel_cfg.expert_parallel_size = 1\ncluster.gpus_per_node = 8\ncluster.num_nodes = 1\n");
    CHECK(some(job, {"context_parallel", "zero", "gpus"}) == R"(context_parallel=2 zero="weights" gpus=8)");
    CHECK(job["partial"] == false);
}
