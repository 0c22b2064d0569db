// What is said beside a recipe: LLaMA-Factory on Megatron Core, the launcher of TRL, a class out of a dictionary, Bridge's providers.
#include <doctest/doctest.h>

#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("LLaMA-Factory on Megatron Core: its degrees tell, and Megatron's arguments count") {
    const std::string text =
        "model_name_or_path = \"Qwen/Qwen3-30B-A3B\"\nstage = \"sft\"\nfinetuning_type = \"full\"\ncutoff_len = 4096\n"
        "per_device_train_batch_size = 2\ngradient_accumulation_steps = 8\nbf16 = true\ntensor_model_parallel_size = 2\n"
        "sequence_parallel = true\npipeline_model_parallel_size = 4\nexpert_model_parallel_size = 2\nuse_distributed_optimizer = true\n"
        "overlap_grad_reduce = true\noverlap_param_gather = true\nmoe_grouped_gemm = true\n";
    const Json job = first_of(text + "recompute_granularity = \"full\"\n", {{"gpus", "16"}});
    CHECK(some(job,
               {"framework", "tensor_parallel", "pipeline_parallel", "expert_parallel", "expert_tensor_parallel", "sequence_parallel"}) ==
          "framework=? tensor_parallel=2 pipeline_parallel=4 expert_parallel=2 expert_tensor_parallel=1 sequence_parallel=true");
    CHECK(
        some(job, {"micro_batch", "global_batch", "zero", "recompute", "overlap_gradients", "overlap_parameters", "gradients_in_fp32"}) ==
        R"(micro_batch=2 global_batch=32 zero="optimizer" recompute="full" overlap_gradients=true overlap_parameters=true gradients_in_fp32=true)");
    CHECK(some(first_of(text), {"recompute", "gpus"}) == R"(recompute="none" gpus=?)");
    CHECK(first_of(text)["asked"] == Json{"gpus"});
}

TEST_CASE("TRL's arguments in a file leave the shards to the launcher, and it is said") {
    const std::string text =
        "model_name_or_path = \"meta-llama/Llama-3.1-8B\"\nbf16 = true\ngradient_accumulation_steps = 4\n"
        "per_device_train_batch_size = 1\nmax_seq_length = 8192\ngradient_checkpointing = true\n";
    CHECK(ids(first_of(text)["notes"]) == "import_plan.note.file");
    CHECK(ids(first_of(text + "fsdp = \"full_shard auto_wrap\"\n")["notes"]) == "");
}

TEST_CASE("a configuration's class out of a dictionary") {
    const Json job = first_of_script(
        "from trl import DPOConfig, DPOTrainer, KTOConfig\nkinds = {'dpo': DPOConfig, 'kto': KTOConfig}\n"
        "args = kinds[kind](output_dir='o', per_device_train_batch_size=2, gradient_accumulation_steps=4, max_length=2048, bf16=True)\n"
        "table = rows[kind](name=3)\ntrainer = trainers[kind](model, args=args)\ntrainer.train()\n");
    CHECK(some(job, {"micro_batch", "sequence_length", "precision"}) == R"(micro_batch=2 sequence_length=2048 precision="bf16")");
    CHECK(job["refused"].size() == 1);
}

TEST_CASE("Megatron-Bridge: a provider's class says the model") {
    const Json job = first_of_script(
        "from megatron.bridge.models.llama import Llama31ModelProvider70B\n"
        "from megatron.bridge.training.config import ConfigContainer, TrainingConfig\n\n"
        "def model_config(tensor_parallelism: int = 4, pipeline_parallelism: int = 2):\n"
        "    return Llama31ModelProvider70B(\n        tensor_model_parallel_size=tensor_parallelism,\n"
        "        pipeline_model_parallel_size=pipeline_parallelism,\n    )\n\n"
        "def pretrain_config(tensor_parallelism: int = 4, global_batch_size: int = 128, micro_batch_size: int = 1):\n"
        "    model_cfg = model_config(tensor_parallelism=tensor_parallelism)\n"
        "    cfg = ConfigContainer(\n        model=model_cfg,\n"
        "        train=TrainingConfig(global_batch_size=global_batch_size, micro_batch_size=micro_batch_size),\n"
        "        dataset=GPTDatasetConfig(sequence_length=8192),\n        mixed_precision=\"bf16_mixed\",\n    )\n    return cfg\n");
    CHECK(some(job, {"model", "tensor_parallel", "pipeline_parallel", "global_batch"}) ==
          R"(model="llama-3.1-70b" tensor_parallel=4 pipeline_parallel=2 global_batch=128)");
}

TEST_CASE("LLaMA-Factory: a notebook writes its settings from a dictionary; the one for chat trains nothing") {
    const std::string said =
        "stage='sft', do_train=True, model_name_or_path='meta-llama/Meta-Llama-3-8B-Instruct', finetuning_type='lora', lora_target='all', "
        "output_dir='o', per_device_train_batch_size=2, gradient_accumulation_steps=4, learning_rate=5e-5, fp16=True";
    const auto of = [](const std::string& text) {
        const Json jobs = read_script_of(text)["jobs"];
        REQUIRE(jobs.size() == 1);
        CHECK(fate(jobs[0], "finetuning_type").starts_with("used"));
        return some(jobs[0], {"micro_batch", "lora_rank", "precision"});
    };
    const std::string chat =
        "chat = {'model_name_or_path': 'meta-llama/Meta-Llama-3-8B-Instruct', 'adapter_name_or_path': 'o', 'finetuning_type': 'lora'}\n";
    CHECK(of("import json\nargs = dict(" + said + ")\njson.dump(args, open('t.json', 'w'))\n" + chat) ==
          R"(micro_batch=2 lora_rank=8 precision="fp16")");
    CHECK(of("import json\nargs = {'model_name_or_path': 'Qwen/Qwen2.5-7B', 'finetuning_type': 'lora', 'lora_target': 'all', 'output_dir': "
             "'o', 'per_device_train_batch_size': 2, 'bf16': True}\n" +
             chat) == R"(micro_batch=2 lora_rank=8 precision="bf16")");
}

TEST_CASE("TRL: a variable that is given nothing but None trains no part") {
    const std::string trainer = "t = SFTTrainer(model='Qwen/Qwen2.5-7B', args=SFTConfig(max_length=512), peft_config=peft_config)\n";
    const auto asks = [&](const std::string& before) {
        const Json read = read_script_of("from trl import SFTTrainer, SFTConfig\npeft_config = None\n" + before + trainer);
        return read["questions"].dump().find("ways()") != std::string::npos;
    };
    CHECK(!asks(""));
    CHECK(asks("if big:\n    peft_config = ways()\n"));
}

TEST_CASE("torchtitan in Python: no object of checkpointing is none; a constant in capitals is no setting") {
    const std::string text =
        "from torchtitan.trainer import Trainer\n\ndef run() -> Trainer.Config:\n    ROOT_DIR = '/data'\n    return Trainer.Config(\n"
        "        model_spec=model_registry('8B'),\n        training=TrainingConfig(local_batch_size=2, seq_len=4096, steps=100),\n"
        "        parallelism=ParallelismConfig(tensor_parallel_degree=2),\n        activation_checkpoint=None,\n    )\n";
    const Json job = first_of_script(text);
    CHECK(some(job, {"recompute", "micro_batch"}) == R"(recompute="none" micro_batch=2)");
    CHECK(fate(job, "ROOT_DIR") == "");
}
