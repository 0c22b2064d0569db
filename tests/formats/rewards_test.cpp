// Programs that train by rewards: verl's actor is read, OpenRLHF's fine-tuning in its older and its newer words.
#include <doctest/doctest.h>

#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("verl: the actor's update under FSDP, by its overrides") {
    const std::string text =
        "N=8\npython3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=128 data.max_prompt_length=1024 "
        "data.max_response_length=3072 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct "
        "actor_rollout_ref.model.enable_gradient_checkpointing=True actor_rollout_ref.actor.ppo_mini_batch_size=64 "
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 "
        "actor_rollout_ref.actor.fsdp_config.param_offload=True +actor_rollout_ref.actor.fsdp_config.grad_offload=True "
        "actor_rollout_ref.rollout.n=$N actor_rollout_ref.rollout.tensor_model_parallel_size=4 trainer.n_gpus_per_node=8 "
        "trainer.nnodes=2\n";
    const Json answer = read_script_of(text);
    CHECK(answer["format"] == "verl");
    const Json job = answer["jobs"][0];
    CHECK(some(job, {"model", "gpus", "gpus_per_node", "sequence_length", "micro_batch", "global_batch"}) ==
          R"(model="qwen2.5-7b" gpus=16 gpus_per_node=8 sequence_length=4096 micro_batch=4 global_batch=512)");
    CHECK(some(job, {"context_parallel", "context_parallel_kind", "tensor_parallel", "zero", "recompute", "precision"}) ==
          R"(context_parallel=2 context_parallel_kind="all_to_all" tensor_parallel=1 zero="weights" recompute="full" precision="bf16")");
    // While the actor learns, what was offloaded between its updates is on the GPU.
    CHECK(some(job, {"weights_offload", "optimizer_offload"}) == "weights_offload=? optimizer_offload=?");
    CHECK(some(job, {"sync_each_micro_batch"}) == R"(sync_each_micro_batch="on")");
    CHECK(ids(job["notes"]) == "import_plan.note.actor");
    CHECK(job["refused"].empty());
}

TEST_CASE("verl: micro-batches of so many tokens are no number of sequences; LoRA, FSDP2 and groups") {
    const Json job = first_of(
        "actor_rollout_ref.model.path = \"meta-llama/Llama-3.1-8B\"\nactor_rollout_ref.model.lora_rank = 32\n"
        "actor_rollout_ref.model.target_modules = \"all-linear\"\nactor_rollout_ref.actor.strategy = \"fsdp2\"\n"
        "actor_rollout_ref.actor.fsdp_config.offload_policy = true\nactor_rollout_ref.actor.fsdp_config.fsdp_size = 8\n"
        "actor_rollout_ref.actor.fsdp_config.reshard_after_forward = false\nactor_rollout_ref.actor.use_dynamic_bsz = true\n"
        "actor_rollout_ref.actor.ppo_mini_batch_size = 32\nactor_rollout_ref.actor.ppo_micro_batch_size_per_gpu = 1\n"
        "data.max_prompt_length = 512\ndata.max_response_length = 512\ntrainer.n_gpus_per_node = 8\ntrainer.nnodes = 2\n");
    CHECK(some(job, {"trained", "lora_rank", "zero", "shard_replicas", "weights_offload", "optimizer_offload"}) ==
          R"(trained="lora" lora_rank=32 zero="gradients" shard_replicas=2 weights_offload=true optimizer_offload=1.0)");
    CHECK(some(job, {"micro_batch", "global_batch"}) == "micro_batch=? global_batch=32");
    CHECK(job["asked"] == Json{"micro_batch"});
    CHECK(ids(job["notes"]) == "import_plan.note.not_counted import_plan.note.actor");
    const Json whole = first_of(
        "actor_rollout_ref.model.path = \"own/model\"\nactor_rollout_ref.actor.ulysses_sequence_parallel_size = 2\n"
        "actor_rollout_ref.actor.use_dynamic_bsz = true\nactor_rollout_ref.actor.ppo_max_token_len_per_gpu = 2048\n"
        "actor_rollout_ref.actor.ppo_mini_batch_size = 32\ndata.max_prompt_length = 512\ndata.max_response_length = 512\n"
        "trainer.n_gpus_per_node = 8\n");
    CHECK(some(whole, {"micro_batch", "gpus"}) == "micro_batch=4 gpus=8");
    CHECK(ids(whole["notes"]) == "import_plan.note.actor");
    CHECK(fate(whole, "actor_rollout_ref.model.path").starts_with("unknown"));
}

TEST_CASE("verl: Megatron Core's degrees are the actor's") {
    const std::string text =
        "ACTOR=(\n  actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4\n"
        "  actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2\n"
        "  actor_rollout_ref.actor.megatron.expert_model_parallel_size=8\n"
        "  actor_rollout_ref.actor.megatron.expert_tensor_parallel_size=1\n"
        "  +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full\n"
        "  +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform\n"
        "  +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers=1\n"
        "  actor_rollout_ref.actor.megatron.param_offload=True\n)\n"
        "ray job submit --no-wait -- python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer "
        "actor_rollout_ref.model.path=Qwen/Qwen3-30B-A3B data.max_prompt_length=2048 data.max_response_length=6144 "
        "actor_rollout_ref.actor.ppo_mini_batch_size=128 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 "
        "actor_rollout_ref.rollout.n=4 trainer.nnodes=4 trainer.n_gpus_per_node=8 \"${ACTOR[@]}\"\n";
    const Json job = first_of_script(text);
    CHECK(some(job, {"gpus", "tensor_parallel", "pipeline_parallel", "expert_parallel", "expert_tensor_parallel", "sequence_parallel"}) ==
          "gpus=32 tensor_parallel=4 pipeline_parallel=2 expert_parallel=8 expert_tensor_parallel=1 sequence_parallel=true");
    CHECK(some(job, {"sequence_length", "micro_batch", "global_batch", "recompute", "recompute_layers", "zero"}) ==
          R"(sequence_length=8192 micro_batch=1 global_batch=512 recompute="full" recompute_layers=1 zero="optimizer")");
    CHECK(some(job, {"model"}) == R"(model="qwen3-30b-a3b")");
    CHECK(job["partial"] == false);
}

TEST_CASE("verl: fine-tuning, without any note") {
    const Json job = first_of_script(
        "torchrun --standalone --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer data.train_files=a data.prompt_key=question "
        "data.max_length=2048 data.train_batch_size=64 data.micro_batch_size_per_gpu=4 model.partial_pretrain=Qwen/Qwen2.5-7B "
        "model.enable_gradient_checkpointing=False optim.lr=1e-5 trainer.total_epochs=3 trainer.default_local_dir=out\n");
    CHECK(some(job, {"model", "gpus", "sequence_length", "micro_batch", "global_batch", "recompute", "zero"}) ==
          R"(model="qwen2.5-7b" gpus=8 sequence_length=2048 micro_batch=4 global_batch=64 recompute="none" zero="weights")");
    CHECK(job["notes"].empty());
}

TEST_CASE("verl: fine-tuning by other engines than its own FSDP") {
    const std::string start =
        "torchrun --standalone --nnodes=1 --nproc_per_node=8 -m verl.trainer.sft_trainer data.train_batch_size=64 data.max_length=2048 "
        "data.micro_batch_size_per_gpu=2 data.messages_key=messages model=hf_model model.path=Qwen/Qwen3-30B-A3B "
        "trainer.default_local_dir=o ";
    const Json own = first_of_script(start +
                                     "engine=automodel optim=automodel engine.ep_size=8 engine.backend_config.dispatcher=deepep "
                                     "engine.activation_checkpointing=True optim.lr=1e-5\n");
    CHECK(some(own, {"gpus", "expert_parallel", "zero", "recompute", "expert_dispatch", "moments", "global_batch"}) ==
          R"(gpus=8 expert_parallel=8 zero="gradients" recompute="full" expert_dispatch="deepep" moments=? global_batch=64)");
    const Json kept = first_of_script(start +
                                      "engine=automodel optim=automodel engine.tp_size=2 engine.model_dtype=bf16 optim.optimizer=FusedAdam "
                                      "optim.optimizer_impl=transformer_engine.pytorch.optimizers.fused_adam optim.master_weights=true\n");
    CHECK(some(kept, {"tensor_parallel", "zero", "recompute", "moments", "master_weights"}) ==
          R"(tensor_parallel=2 zero="weights" recompute="none" moments="fp32" master_weights="on")");
    const Json titan = first_of_script(start + "engine=torchtitan engine.tensor_parallel_size=2 engine.expert_parallel_size=4\n");
    CHECK(some(titan, {"tensor_parallel", "expert_parallel", "recompute"}) ==
          R"(tensor_parallel=2 expert_parallel=4 recompute="operations")");
    const Json omni = first_of_script(start + "engine=veomni engine.ulysses_parallel_size=4 engine.expert_parallel_size=8\n");
    CHECK(some(omni, {"context_parallel", "expert_parallel", "recompute"}) == R"(context_parallel=4 expert_parallel=8 recompute="full")");
    for (const Json& job : {own, kept})
        for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
}

TEST_CASE("TRL: so many answers to a prompt are GRPO, whatever the program is called") {
    const Json job = first_of_script(
        "accelerate launch main.py train --model_name_or_path Qwen/Qwen3-8B --max_prompt_length 2048 --max_completion_length 4096 "
        "--per_device_train_batch_size 1 --num_generations 4 --gradient_accumulation_steps 2\n");
    REQUIRE(job["refused"].size() == 1);
    CHECK(job["refused"][0]["args"]["mode"] == "grpo");
}

TEST_CASE("OpenRLHF: arguments in sections") {
    const Json job = first_of_script(
        "deepspeed --num_gpus 8 --module openrlhf.cli.train_sft --model.model_name_or_path Qwen/Qwen2.5-7B --data.max_len 16384 "
        "--train.batch_size 64 --train.micro_batch_size 1 --ds.zero_stage 2 --ds.adam_offload --ds.attn_implementation flash_attention_2 "
        "--model.gradient_checkpointing_enable --ds.lora.rank 16 --ds.packing_samples --adam.lr 5e-5 --logger.wandb.project x\n");
    CHECK(some(job, {"model", "gpus", "sequence_length", "micro_batch", "global_batch", "zero"}) ==
          R"(model="qwen2.5-7b" gpus=8 sequence_length=16384 micro_batch=1 global_batch=64 zero="gradients")");
    CHECK(some(job, {"optimizer_offload", "attention", "recompute", "precision", "lora_rank"}) ==
          R"(optimizer_offload=1.0 attention="flash" recompute="full" precision="bf16" lora_rank=16)");
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
}

TEST_CASE("OpenRLHF: a program with preferences is named, whatever starts it") {
    const std::string rest =
        " --pretrain a/b --actor_num_nodes 2 --actor_num_gpus_per_node 8 --micro_train_batch_size 2 --train_batch_size 64 --zero_stage 3 "
        "--bf16\n";
    const Json job = first_of_script("python3 -m openrlhf.cli.train_dpo" + rest);
    REQUIRE(job["refused"].size() == 1);
    CHECK(job["refused"][0]["args"]["mode"] == "dpo");
    CHECK(some(first_of_script("ray job submit -- python3 -m openrlhf.cli.train_ppo_ray" + rest), {"gpus"}) == "gpus=16");
}
