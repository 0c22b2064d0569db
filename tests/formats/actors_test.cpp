// Programs that train an actor, and adapters of programs around Megatron Core.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("OpenRLHF: the actor of PPO and GRPO is what trains") {
    const std::string start =
        "python3 -m openrlhf.cli.train_ppo_ray --ref_num_nodes 1 --ref_num_gpus_per_node 8 --actor_num_nodes 2 --actor_num_gpus_per_node 8 "
        "--vllm_num_engines 8 --pretrain Qwen/Qwen2.5-7B --micro_train_batch_size 2 --train_batch_size 128 --rollout_batch_size 64 "
        "--n_samples_per_prompt 8 --prompt_max_len 1024 --generate_max_len 3072 --zero_stage 3 --gradient_checkpointing ";
    const Json job = first_of_script(start + "--param_dtype bf16\n");
    CHECK(ids(job["refused"]) == "");
    CHECK(ids(job["notes"]) == "import_plan.note.actor");
    CHECK(some(job, {"gpus", "sequence_length", "micro_batch", "global_batch", "precision", "zero"}) ==
          R"(gpus=16 sequence_length=4096 micro_batch=2 global_batch=128 precision="bf16" zero="weights")");
    CHECK(fate(job, "--vllm_num_engines") == "no_number 1");
    CHECK(some(first_of_script(start + "--use_dynamic_batch --train_max_tokens_per_gpu 16384\n"), {"micro_batch"}) == "micro_batch=4");
    CHECK(ids(first_of_script(start + "--use_dynamic_batch --train_max_tokens_per_gpu 16000\n")["notes"]).find("not_counted") !=
          std::string::npos);
}

TEST_CASE("verl with Megatron: adapters of Megatron-Bridge, and recomputation as its first releases said it") {
    const std::string start =
        "python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer.yaml actor_rollout_ref.model.path=Qwen/Qwen2.5-7B "
        "actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 data.max_prompt_length=512 "
        "data.max_response_length=512 trainer.n_gpus_per_node=8 trainer.nnodes=1 ";
    const Json part = first_of_script(start + "actor_rollout_ref.model.lora.rank=16 actor_rollout_ref.model.lora.alpha=32\n");
    CHECK(ids(part["refused"]) == "");
    CHECK(some(part, {"trained", "lora_rank", "lora_targets"}) ==
          R"(trained="lora" lora_rank=16 lora_targets="query,key,value,output,gate,up,down")");
    CHECK(some(first_of_script(start + "actor_rollout_ref.model.lora.rank=8 actor_rollout_ref.model.lora.target_modules='[linear_qkv]'\n"),
               {"lora_targets"}) == R"(lora_targets="query,key,value")");
    CHECK(ids(first_of_script(start + "actor_rollout_ref.model.lora.rank=8 actor_rollout_ref.model.lora.type=dora\n")["refused"]) ==
          "import_plan.refused.mode");
    const std::string again = "actor_rollout_ref.model.gradient_checkpointing_kwargs.activations_checkpoint_";
    const std::string way = again + "granularity=full " + again + "method=uniform " + again + "num_layers=1 ";
    CHECK(some(first_of_script(start + way + "actor_rollout_ref.model.enable_gradient_checkpointing=True\n"), {"recompute"}) ==
          R"(recompute="full")");
    CHECK(some(first_of_script(start + way + "actor_rollout_ref.model.enable_gradient_checkpointing=False\n"), {"recompute"}) ==
          R"(recompute="none")");
}

TEST_CASE("Primus after Megatron-Bridge's recipes: adapters and types by their names") {
    const std::string text =
        "workspace = \"out\"\nmodules.post_trainer.framework = \"megatron_bridge\"\nmodules.post_trainer.config = \"sft_trainer.yaml\"\n"
        "modules.post_trainer.model = \"qwen3_8b.yaml\"\nmodules.post_trainer.overrides.seq_length = 512\n"
        "modules.post_trainer.overrides.micro_batch_size = 1\nmodules.post_trainer.overrides.precision_config = \"bf16_mixed\"\n";
    const Json part = first_of(text + "modules.post_trainer.overrides.peft = \"lora\"\n");
    CHECK(some(part, {"trained", "lora_rank", "precision"}) == R"(trained="lora" lora_rank=? precision="bf16")");
    CHECK(some(first_of(text + "modules.post_trainer.overrides.peft = \"none\"\n"), {"trained"}) == "trained=?");
}
