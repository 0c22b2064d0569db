// Values that a text computes, and what hangs on a condition.
#include "settings.h"

namespace fourfold {

namespace {

using tests::fate;
using tests::first_of;
using tests::first_of_script;
using tests::ids;
using tests::read_script_of;
using tests::some;

const std::string kComputedRecipe =
    "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
    "from megatron.bridge.training.config import ConfigContainer\n";

}  // namespace

TEST_CASE("Python: comparisons, sums and choices between known values are computed") {
    const Json job = read_script_of(kComputedRecipe +
                                    "NODES = 4\n"
                                    "def my_config(kind: str = \"cs\") -> ConfigContainer:\n"
                                    "    cfg = llama3_8b_pretrain_config()\n"
                                    "    tp = 2 if NODES > 2 else 1\n"
                                    "    cfg.model.tensor_model_parallel_size = tp\n"
                                    "    cfg.model.pipeline_model_parallel_size = 1\n"
                                    "    cfg.model.sequence_parallel = bool(cfg.model.tensor_model_parallel_size > 1)\n"
                                    "    cfg.train.micro_batch_size = 2\n"
                                    "    cfg.train.global_batch_size = NODES * 8 // tp * (2 + 2)\n"
                                    "    if kind == \"cs\":\n"
                                    "        cfg.model.context_parallel_size = 2\n"
                                    "    else:\n"
                                    "        cfg.model.context_parallel_size = 4\n"
                                    "    return cfg\n")["jobs"][0];
    CHECK(some(job, {"tensor_parallel", "sequence_parallel", "global_batch", "context_parallel"}) ==
          "tensor_parallel=2 sequence_parallel=true global_batch=64 context_parallel=2");
}

TEST_CASE("Python: a variable that a branch of unknown condition sets is open behind it") {
    const std::string text = kComputedRecipe +
                             "def my_config() -> ConfigContainer:\n"
                             "    cfg = llama3_8b_pretrain_config()\n"
                             "    tp = 2\n"
                             "    if is_large():\n"
                             "        tp = 8\n"
                             "    cfg.model.tensor_model_parallel_size = tp\n"
                             "    cfg.model.pipeline_model_parallel_size = 2\n"
                             "    cfg.train.micro_batch_size = 1\n"
                             "    return cfg\n";
    const Json answer = read_script_of(text);
    CHECK(some(answer["jobs"][0], {"tensor_parallel", "pipeline_parallel"}) == "tensor_parallel=? pipeline_parallel=2");
    REQUIRE(answer["questions"].size() == 1);
    const std::string name = answer["questions"][0]["name"];
    const auto answered = [&](const char* value) {
        return some(tests::read_answer({{"text", text}, {"set", {{name, value}}}})["jobs"][0], {"tensor_parallel"});
    };
    CHECK(answered("True") == "tensor_parallel=8");
    CHECK(answered("False") == "tensor_parallel=2");
}

TEST_CASE("Shell: a name that (( )) counts up has another value, or none that is known") {
    const auto gpus = [](const std::string& change) {
        return some(first_of_script("GPUS=3\n" + change +
                                    "\ntorchrun --nproc_per_node $GPUS --nnodes 2 pretrain_gpt.py --num-layers 8 --hidden-size 64 "
                                    "--num-attention-heads 4 --micro-batch-size 1 --seq-length 128 --vocab-size 1000 --bf16\n"),
                    {"gpus"});
    };
    CHECK(gpus("((GPUS++))") == "gpus=8");
    CHECK(gpus("(( ++GPUS ))") == "gpus=8");
    CHECK(gpus("((GPUS += 5))") == "gpus=16");
    CHECK(gpus("((GPUS = GPUS == 3 ? 4 : 2))") == "gpus=8");
    CHECK(gpus("if ((GPUS == 4)); then GPUS=9; fi") == "gpus=6");
    CHECK(gpus("if [ \"$1\" -eq 0 ]; then ((GPUS++)); fi") == "gpus=?");
}

TEST_CASE("Shell: GPUs of a node are known where nodes are not") {
    const Json job = first_of_script(
        "torchrun --nproc_per_node 4 --nnodes $NODES pretrain_gpt.py --num-layers 8 --hidden-size 64 --num-attention-heads 4 "
        "--micro-batch-size 1 --seq-length 128 --vocab-size 1000 --bf16\n");
    CHECK(some(job, {"gpus", "gpus_per_node"}) == "gpus=? gpus_per_node=4");
}

TEST_CASE("Megatron-LM: arguments that end in a colon are read, and named as what the program refuses") {
    const Json job = first_of_script(
        "ARGS=(\n  --num-layers: 8 # layers\n  --hidden-size: 64\n  --num-attention-heads: 4\n  --swiglu: true\n"
        "  --micro-batch-size: 1\n  --seq-length: 128\n  --bf16: true\n  --vocab-size: 1000\n)\n"
        "torchrun --nproc_per_node 2 pretrain_gpt.py ${ARGS[@]}\n");
    CHECK(some(job, {"gpus", "micro_batch", "sequence_length", "precision"}) ==
          R"(gpus=2 micro_batch=1 sequence_length=128 precision="bf16")");
    CHECK(job["job"]["model"]["num_hidden_layers"] == 8);
    CHECK(ids(job["refused"]) == "import_plan.refused.no_key");
}

TEST_CASE("Megatron-LM: BigCode's fork has one key and value head by name") {
    const Json job = first_of_script(
        "torchrun --nproc_per_node 2 pretrain_gpt.py --num-layers 8 --hidden-size 64 --num-attention-heads 4 --attention-head-type "
        "multiquery --micro-batch-size 1 --seq-length 128 --vocab-size 1000 --fp16\n");
    CHECK(job["job"]["model"]["num_key_value_heads"] == 1);
}

TEST_CASE("A slip of the pen for a truth value is not understood") {
    const auto precision = [](const char* value) {
        return first_of(std::string("zero_optimization.stage = 2\ntrain_micro_batch_size_per_gpu = 1\nbf16.enabled = ") + value + "\n");
    };
    CHECK(fate(precision(R"("yess")"), "bf16.enabled") == "unknown 3");
    CHECK(fate(precision(R"("flase")"), "bf16.enabled") == "unknown 3");
    CHECK(some(precision(R"("yes")"), {"precision"}) == R"(precision="bf16")");
    CHECK(some(precision("true"), {"precision"}) == R"(precision="bf16")");
}

TEST_CASE("slime: its actors' GPUs, and what it sets for Megatron-LM") {
    const Json job = first_of_script(
        "export WORLD_SIZE=1\nray job submit -- python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 8 "
        "--tensor-model-parallel-size 4 --global-batch-size 64 --num-layers 8 --hidden-size 64 --num-attention-heads 4\n");
    CHECK(some(job, {"gpus", "gpus_per_node", "zero", "precision"}) == R"(gpus=16 gpus_per_node=8 zero="optimizer" precision="bf16")");
    CHECK(ids(job["notes"]).find("fp32") == std::string::npos);
}

TEST_CASE("MindSpeed-LLM: training by preferences is not counted") {
    const auto refused = [](const char* stage) {
        return ids(first_of_script(std::string("torchrun --nproc_per_node 2 posttrain_gpt.py --stage ") + stage +
                                   " --num-layers 8 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 1 --seq-length 128 "
                                   "--vocab-size 1000 --bf16\n")["refused"]);
    };
    CHECK(refused("dpo") == "import_plan.refused.mode");
    CHECK(refused("sft") == "");
}

TEST_CASE("llm-foundry, NeMo 1: a key that no reader knows is not said to change nothing") {
    const Json foundry = first_of(
        "max_seq_len = 128\nglobal_train_batch_size = 8\nmodel.name = \"mpt_causal_lm\"\nmodel.attn_config.sliding_window_size = 64\n"
        "model.attn_config.attn_pdrop = 0\nfsdp_config.cpu_offload = true\nfsdp_config.verbose = false\n");
    CHECK(fate(foundry, "model.attn_config.sliding_window_size") == "unknown 4");
    CHECK(fate(foundry, "model.attn_config.attn_pdrop") == "no_number 5");
    CHECK(fate(foundry, "fsdp_config.cpu_offload") == "unknown 6");
    CHECK(fate(foundry, "fsdp_config.verbose") == "no_number 7");
    const Json nemo = first_of(
        "trainer.devices = 8\ntrainer.num_nodes = 1\nmodel.micro_batch_size = 1\nmodel.encoder_seq_length = 128\n"
        "model.peft.peft_scheme = \"lora\"\nmodel.peft.lora_tuning.r = 8\nmodel.peft.lora_tuning.alpha = 8\n");
    CHECK(fate(nemo, "model.peft.lora_tuning.r") == "unknown 6");
    CHECK(fate(nemo, "model.peft.lora_tuning.alpha") == "no_number 7");
}

TEST_CASE("gpt-neox: DeepSpeed's pipeline takes any number of layers") {
    const Json job = first_of(
        "pipe_parallel_size = 4\nmodel_parallel_size = 1\nnum_layers = 6\nhidden_size = 64\nnum_attention_heads = 4\n"
        "seq_length = 128\ntrain_micro_batch_size_per_gpu = 1\n");
    CHECK(ids(job["refused"]) == "");
}

TEST_CASE("gpt-neox: batch and steps say the part of a copy; GPUs of a launcher are named") {
    const std::string text =
        "pipe_parallel_size = 1\nmodel_parallel_size = 2\nnum_layers = 12\nhidden_size = 768\nnum_attention_heads = 12\n"
        "seq_length = 2048\nmax_position_embeddings = 2048\nmake_vocab_size_divisible_by = 128\ntrain_batch_size = 64\n"
        "gradient_accumulation_steps = 4\nfp16.enabled = true\n";
    CHECK(some(first_of(text, {{"gpus", "8"}}), {"micro_batch", "global_batch"}) == "micro_batch=4 global_batch=64");
    CHECK(some(first_of(text, {{"gpus", "6"}}), {"micro_batch"}) == "micro_batch=?");
    CHECK(some(first_of(text), {"micro_batch"}) == "micro_batch=?");
    CHECK(fate(first_of(text + "num_gpus = 8\n"), "num_gpus") == "unknown 12");
}

TEST_CASE("MaxText: another base than base.yml says what is not said here") {
    const std::string text = "per_device_batch_size = 2\nmax_target_length = 512\ndcn_fsdp_parallelism = 2\n";
    const Json other = first_of("base_config = \"mine.yml\"\n" + text);
    CHECK(some(other, {"sequence_length", "recompute", "precision", "zero"}) == "sequence_length=512 recompute=? precision=? zero=?");
    CHECK(ids(other["notes"]) == "import_plan.note.file");
    CHECK(some(first_of("base_config = \"configs/base.yml\"\n" + text), {"recompute", "precision", "zero"}) ==
          R"(recompute="full" precision="bf16" zero="weights")");
    const Json command = first_of_script("python3 MaxText/train.py configs/mine.yml per_device_batch_size=2 max_target_length=512\n");
    CHECK(some(command, {"sequence_length", "recompute"}) == "sequence_length=512 recompute=?");
}

TEST_CASE("accelerate: DeepSpeed without a stage is its second one") {
    const std::string text = "compute_environment = \"LOCAL_MACHINE\"\ndistributed_type = \"DEEPSPEED\"\nnum_processes = 4\n";
    CHECK(some(first_of(text), {"zero"}) == R"(zero="gradients")");
    CHECK(some(first_of(text + "deepspeed_config.zero_stage = 3\n"), {"zero"}) == R"(zero="weights")");
    CHECK(some(first_of(text + "deepspeed_config.deepspeed_config_file = \"a.json\"\n"), {"zero"}) == "zero=?");
}

TEST_CASE("Megatron-Bridge: a recipe of the text may say its GPUs by its name") {
    const auto gpus = [](const char* name) {
        return some(read_script_of(kComputedRecipe + "def " + name +
                                   "() -> ConfigContainer:\n    cfg = llama3_8b_pretrain_config()\n"
                                   "    cfg.model.tensor_model_parallel_size = 1\n    cfg.train.micro_batch_size = 1\n"
                                   "    return cfg\n")["jobs"][0],
                    {"gpus"});
    };
    CHECK(gpus("llama3_8b_pretrain_64gpu_h100_bf16_config") == "gpus=64");
    CHECK(gpus("llama3_8b_gpu_config") == "gpus=?");
}

TEST_CASE("accelerate launch: its own arguments divide the weights of a Trainer's program") {
    const auto read = [](const std::string& said, const std::string& program = "train.py") {
        return read_script_of(
            "accelerate launch --num_processes 8 " + said + " " + program +
            " --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 2 --max_seq_length 2048\n")["jobs"][0];
    };
    CHECK(some(read(""), {"zero", "precision"}) == R"(zero="none" precision=?)");
    CHECK(some(read("--use_fsdp --mixed_precision bf16"), {"zero", "precision"}) == R"(zero="weights" precision="bf16")");
    CHECK(some(read("--use_fsdp --fsdp_sharding_strategy SHARD_GRAD_OP"), {"zero", "recompute"}) == R"(zero="gradients" recompute="none")");
    CHECK(some(read("--use_fsdp --fsdp_activation_checkpointing true"), {"recompute"}) == R"(recompute="full")");
    CHECK(some(read("--use_deepspeed"), {"zero"}) == R"(zero="gradients")");
    CHECK(some(read("--use_deepspeed --zero_stage 3"), {"zero"}) == R"(zero="weights")");
    const Json elsewhere = read("--use_deepspeed --deepspeed_config_file ds.json");
    CHECK(some(elsewhere, {"zero"}) == "zero=?");
    CHECK(ids(elsewhere["notes"]) == "import_plan.note.file");
    CHECK(some(read("--mixed_precision fp16", "train.py --bf16"), {"precision"}) == R"(precision="bf16")");
    CHECK(ids(read("--mixed_precision f16 --num_machines 1")["refused"]) == "import_plan.refused.no_key");
    CHECK(ids(read("--mixed_precision no --num_machines 1")["refused"]) == "");
    CHECK(ids(read("", "train.py --mixed_precision fp32")["refused"]) == "");  // the program's own argument
    CHECK(fate(read("", "train.py --bf16 Tru"), "--bf16") == "unknown 1");
    CHECK(fate(read("", "train.py --optim adamw_8bt"), "--optim") == "unknown 1");
    CHECK(some(read("", "train.py --optim adamw_torch_fused"), {"moments", "optimizer_foreach"}) == "moments=? optimizer_foreach=?");
    CHECK(some(read("--num_processes 1", "train.py --optim adamw_torch"), {"optimizer_foreach"}) == "optimizer_foreach=true");
    CHECK(some(read("", "train.py --optim adamw_torch --fsdp full_shard"), {"optimizer_foreach"}) == "optimizer_foreach=true");
    CHECK(some(read("--use_fsdp --fsdp_version 2", "train.py --optim adamw_torch"), {"optimizer_foreach"}) == "optimizer_foreach=?");
    CHECK(some(read("", "train.py --optim paged_adamw_8bit"), {"moments"}) == R"(moments="8-bit")");
    CHECK(fate(read("", "train.py --fsdp 'ful_shard auto_wrap'"), "--fsdp") == "unknown 1");
}

TEST_CASE("recipes and torchtitan: sizes beside a model that the catalogue lacks") {
    const Json recipe = read_script_of(
        "from nemo.collections import llm\n\n"
        "def configure():\n"
        "    recipe = llm.nemotron3_4b.pretrain_recipe(num_nodes=1, num_gpus_per_node=2)\n"
        "    recipe.model.config.num_layers = 6\n"
        "    recipe.trainer.strategy.tensor_model_parallel_size = 2\n"
        "    return recipe\n")["jobs"][0];
    CHECK(recipe["job"]["model"]["num_hidden_layers"] == 6);
    CHECK(recipe["job"]["model"]["hidden_size"] == 3'072);
    CHECK(some(recipe, {"gpus", "tensor_parallel"}) == "gpus=2 tensor_parallel=2");
    // 28 + 2 over 5 layers: 6 stages, 3 on each of 2
    const std::string text =
        "model.name = \"qwen3\"\nmodel.flavor = \"0.6B\"\ntraining.local_batch_size = 16\ntraining.seq_len = 4096\n"
        "parallelism.pipeline_parallel_degree = 2\nparallelism.pipeline_parallel_schedule = \"Interleaved1F1B\"\n"
        "parallelism.pipeline_parallel_layers_per_stage = 5\nparallelism.data_parallel_shard_degree = 4\n";
    CHECK(some(first_of(text), {"virtual_stages"}) == "virtual_stages=3");
}

}  // namespace fourfold
