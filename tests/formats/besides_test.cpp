// What stands beside a command: DeepSpeed's file, accelerate's plugins, files that are changed and not here.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {
const std::string kLlamaArguments = "--model_name_or_path meta-llama/Llama-2-7b-hf --max_seq_length 512 ";
const std::string kDeepSpeedFile = R"({
  "train_batch_size": 64,
  "train_micro_batch_size_per_gpu": 4,
  "bf16": {"enabled": true},
  "zero_optimization": {"stage": 2}
}
)";
}  // namespace

TEST_CASE("DeepSpeed's file beside a command says batches and type where the command does not") {
    const Json job =
        first_of_script("deepspeed --num_gpus 8 train.py --deepspeed ds.json " + kLlamaArguments + "\n\n# ds.json\n" + kDeepSpeedFile);
    CHECK(some(job, {"micro_batch", "global_batch", "precision", "zero"}) ==
          R"(micro_batch=4 global_batch=64 precision="bf16" zero="gradients")");
    CHECK(fate(job, "train_micro_batch_size_per_gpu").starts_with("used"));
    const Json own = first_of_script("deepspeed --num_gpus 8 train.py --deepspeed ds.json --fp16 --per_device_train_batch_size 2 " +
                                     kLlamaArguments + "\n\n# ds.json\n" + kDeepSpeedFile);
    CHECK(some(own, {"micro_batch", "precision", "zero"}) == R"(micro_batch=2 precision="fp16" zero="gradients")");
    // A file of accelerate's names another, which the script writes too.
    const Json inner = first_of_script(
        "cat <<EOF > conf/ds.json\n{\"zero_optimization\": {\"stage\": 1}, \"bf16\": {\"enabled\": true}}\nEOF\ncat <<EOF > a.yaml\n"
        "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: conf/ds.json\n"
        "num_machines: 1\nnum_processes: 4\nEOF\naccelerate launch --config_file a.yaml train.py --per_device_train_batch_size 2 --bf16 " +
        kLlamaArguments + "\n");
    CHECK(some(inner, {"gpus", "zero"}) == R"(gpus=4 zero="optimizer")");
    CHECK(fate(inner, "num_machines") != "unknown 9");
}

TEST_CASE("DeepSpeed's file whose name is open: how the weights are stored is not known") {
    const std::string start =
        "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-7B-Instruct --tuner_type full --torch_dtype bfloat16 "
        "--per_device_train_batch_size 1 ";
    const Json open = first_of_script("RUN=/runs/$(date +%s)\n" + start + "--deepspeed $RUN/ds.json\n");
    CHECK(some(open, {"zero", "moments", "master_weights"}) == "zero=? moments=? master_weights=?");
    CHECK(some(first_of_script(start + "\n"), {"zero", "moments"}) == R"(zero="none" moments="16-bit")");
}

TEST_CASE("accelerate's plugins in a program in Python") {
    const auto python = [](const std::string& plugin) {
        return first_of_script(
            "from accelerate import Accelerator, FullyShardedDataParallelPlugin\nfrom transformers import AutoModelForCausalLM, "
            "TrainingArguments, Trainer\n" +
            plugin +
            "model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-2-7b-hf\")\n"
            "args = TrainingArguments(per_device_train_batch_size=2, bf16=True)\nTrainer(model=model, args=args).train()\n");
    };
    CHECK(some(python(""), {"zero"}) == R"(zero="none")");
    CHECK(some(python("plugin = FullyShardedDataParallelPlugin()\n"), {"zero"}) == R"(zero="weights")");
    const Json parts = python(
        "plugin = FullyShardedDataParallelPlugin(sharding_strategy=ShardingStrategy.SHARD_GRAD_OP, "
        "cpu_offload=CPUOffload(offload_params=True), activation_checkpointing=True)\naccelerator = Accelerator(fsdp_plugin=plugin)\n");
    CHECK(some(parts, {"zero", "weights_offload", "recompute"}) == R"(zero="gradients" weights_offload=true recompute="full")");
    CHECK(some(python("plugin = DeepSpeedPlugin(zero_stage=3, offload_optimizer_device=\"cpu\")\n"), {"zero", "optimizer_offload"}) ==
          R"(zero="weights" optimizer_offload=1.0)");
}

TEST_CASE("NeMo 1: 8 bits by a change of a file that is not here") {
    const std::string changes = "model.tensor_model_parallel_size=4 model.micro_batch_size=1 trainer.num_nodes=2 trainer.devices=8 ";
    const auto changed = [&](const std::string& more) {
        return some(first_of_script("python megatron_gpt_pretraining.py --config-name=our_model.yaml " + changes + more + "\n"),
                    {"precision"});
    };
    CHECK(changed("model.fp8=True") == R"(precision="fp8")");
    CHECK(changed("model.fp8=True model.fp8_e4m3=True") == R"(precision="fp8")");
    CHECK(changed("model.fp8=False trainer.precision=bf16") == R"(precision="bf16")");
}

TEST_CASE("torchtitan: further copies that torchft starts are not understood") {
    const std::string text =
        "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.local_batch_size = 1\ntraining.seq_len = 512\n"
        "parallelism.data_parallel_shard_degree = 4\nfault_tolerance.group_size = 2\nfault_tolerance.enable = ";
    CHECK(fate(first_of(text + "true\n"), "fault_tolerance.group_size") == "unknown 6");
    CHECK(fate(first_of(text + "false\n"), "fault_tolerance.group_size") == "no_number 6");
}

TEST_CASE("accelerate without mixed precision trains in 32 bits unless the program names a type") {
    const std::string launch =
        "accelerate launch --num_processes 8 --use_fsdp --mixed_precision no run_clm.py "
        "--per_device_train_batch_size 4 " +
        kLlamaArguments;
    const std::string note = "import_plan.note.fp32_named";
    CHECK(ids(first_of_script(launch)["notes"]) == note);
    CHECK(ids(first_of_script("python train.py --per_device_train_batch_size 4 --torch_dtype float32 " + kLlamaArguments)["notes"]) ==
          note);
    for (const char* type : {"--bf16", "--torch_dtype bfloat16", "--bf16 false --torch_dtype bfloat16"}) {
        const Json job = first_of_script(launch + type);
        CHECK(job["job"].value("precision", "") == "bf16");
        CHECK(ids(job["notes"]).empty());
    }
}

TEST_CASE("What a command says of a file that is not here keeps its notes") {
    const Json job = first_of_script("tune run --nproc_per_node 4 full_finetune_distributed --config llama3_1/8B_full dtype=fp32\n");
    CHECK(ids(job["notes"]) == "import_plan.note.fp32_named import_plan.note.file");
}

TEST_CASE("Changes below model.optim are those of NeMo 1") {
    const Json answer = read_script_of("bash ../dpo.sh ++model.optim.name=mcore_distributed_optim ++model.tensor_model_parallel_size=2\n");
    CHECK(answer["format"] == "nemo-1");
    CHECK(some(answer["jobs"][0], {"tensor_parallel", "zero"}) == R"(tensor_parallel=2 zero="optimizer")");
}

TEST_CASE("A function that changes torchtitan's configuration is torchtitan's without its import") {
    const Json answer = read_script_of(
        "def dense():\n    config = llama3_8b()\n    config.parallelism.tensor_parallel_degree = 2\n"
        "    config.parallelism.pipeline_parallel_degree = 4\n    config.training.local_batch_size = 2\n    return config\n");
    CHECK(answer["format"] == "torchtitan");
    CHECK(some(answer["jobs"][0], {"tensor_parallel", "pipeline_parallel", "micro_batch"}).find("tensor_parallel=2 pipeline_parallel=4") ==
          0);
}
