// A program in Python beside the command that starts it, and files that a script writes for both.
#include <doctest/doctest.h>

#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

static const std::string kProgram =
    "from trl import SFTTrainer, SFTConfig\n"
    "args = SFTConfig(output_dir=\"o\", per_device_train_batch_size=1, gradient_accumulation_steps=4, max_length=4096, bf16=True)\n"
    "trainer = SFTTrainer(model=\"meta-llama/Llama-3.3-70B-Instruct\", args=args, train_dataset=ds)\ntrainer.train()\n";
static const std::string kSettings =
    "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: true\n"
    "  fsdp_activation_checkpointing: true\nmixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n";

TEST_CASE("Python below the command that starts it: its GPUs") {
    CHECK(some(first_of_script("torchrun --nproc_per_node=8 train.py\n\n" + kProgram), {"gpus", "global_batch"}) ==
          "gpus=8 global_batch=32");
    const Json job = first_of_script("accelerate launch --config_file fsdp.yaml \\\n  --num_processes 16 train.py\n" + kProgram);
    CHECK(some(job, {"gpus", "global_batch"}) == "gpus=16 global_batch=64");
    const Json example = first_of_script("\"\"\"\ntorchrun --nproc_per_node=8 train.py\n\"\"\"\n" + kProgram);
    CHECK(some(example, {"gpus"}) == "gpus=?");
    CHECK(job["refused"] == Json::array());
    CHECK(ids(job["notes"]).find("import_plan.note.file") != std::string::npos);  // how it shards stands there
}

TEST_CASE("Python and accelerate's settings, each in a file that a script writes") {
    const std::string files = "cat > fsdp.yaml <<EOF\n" + kSettings + "EOF\n";
    for (const std::string& text :
         {files + "cat > train.py <<'EOF'\n" + kProgram + "EOF\naccelerate launch --config_file fsdp.yaml train.py\n", files + kProgram}) {
        const Json job = first_of_script(text);
        CHECK(some(job, {"gpus", "zero", "recompute", "global_batch"}) == R"(gpus=16 zero="weights" recompute="full" global_batch=64)");
        CHECK(job["refused"] == Json::array());
    }
}

TEST_CASE("other launchers beside a program: srun, mpirun, DeepSpeed's, with what stands around them") {
    const auto gpus = [](const std::string& start) { return some(first_of_script(start + "\n\n" + kProgram), {"gpus", "global_batch"}); };
    CHECK(gpus("srun --nodes=2 --ntasks-per-node=4 python train.py") == "gpus=8 global_batch=32");
    CHECK(gpus("mpirun -np 16 -x NCCL_DEBUG=INFO python train.py") == "gpus=16 global_batch=64");
    CHECK(gpus("deepspeed --num_nodes 2 --num_gpus 8 train.py") == "gpus=16 global_batch=64");
    CHECK(gpus("NCCL_DEBUG=INFO OMP_NUM_THREADS=8 torchrun --nproc_per_node=4 train.py") == "gpus=4 global_batch=16");
    CHECK(gpus("#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\nmodule load cuda\nexport OMP_NUM_THREADS=8\nsrun python train.py") ==
          "gpus=32 global_batch=128");
    CHECK(gpus("NODES=2\ntorchrun --nnodes=$NODES --nproc_per_node=8 train.py") == "gpus=16 global_batch=64");
    CHECK(gpus("#SBATCH --nodes=2\n#SBATCH --gres=gpu:4") == "gpus=8 global_batch=32");  // of "sbatch train.py"
    CHECK(gpus("deepspeed = \"z3.json\"") == "gpus=? global_batch=?");                   // Python
}

TEST_CASE("what a command tells the program below it: by the names of the program, or all that there is") {
    const std::string parser =
        "import argparse\nfrom trl import SFTConfig, SFTTrainer\np = argparse.ArgumentParser()\n"
        "p.add_argument(\"--batch\", type=int, default=1)\np.add_argument(\"--max-length\", type=int, default=1024)\na = p.parse_args()\n"
        "args = SFTConfig(output_dir=\"o\", per_device_train_batch_size=a.batch, gradient_accumulation_steps=4, max_length=a.max_length)\n"
        "trainer = SFTTrainer(model=\"Qwen/Qwen2.5-7B\", args=args, train_dataset=ds)\ntrainer.train()\n";
    const Json told = first_of_script("torchrun --nproc_per_node=8 train.py --batch 4 --max-length 8192\n\n" + parser);
    CHECK(some(told, {"gpus", "micro_batch", "global_batch", "sequence_length"}) ==
          "gpus=8 micro_batch=4 global_batch=128 sequence_length=8192");
    const Json one = first_of_script("torchrun --nproc_per_node=8 train.py --batch 4\n\n" + parser);
    CHECK(some(one, {"micro_batch", "sequence_length"}) == "micro_batch=4 sequence_length=1024");  // its default
    const Json usual = first_of_script(
        "torchrun --nproc_per_node=8 train.py --batch 4\n\nimport argparse\nfrom trl import SFTConfig, SFTTrainer\n"
        "p = argparse.ArgumentParser()\np.add_argument(\"--batch\", type=int, default=1)\nargs, rest = p.parse_known_args()\n"
        "config = SFTConfig(per_device_train_batch_size=args.batch, max_length=512)\n"
        "trainer = SFTTrainer(model=\"Qwen/Qwen2.5-7B\", args=config)\n");
    CHECK(some(usual, {"micro_batch", "global_batch"}) == "micro_batch=4 global_batch=32");
    const std::string empty =
        "from transformers import HfArgumentParser, TrainingArguments, Trainer\n"
        "model_args, training_args = HfArgumentParser((ModelArguments, TrainingArguments)).parse_args_into_dataclasses()\n"
        "trainer = Trainer(model=load(model_args), args=training_args, train_dataset=ds)\ntrainer.train()\n";
    const Json all = first_of_script(
        "torchrun --nproc_per_node=8 train.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 4 \\\n"
        "  --gradient_accumulation_steps 2 --model_max_length 8192 --bf16 --deepspeed z2.json\n\n" +
        empty);
    CHECK(some(all, {"gpus", "model", "micro_batch", "global_batch", "sequence_length", "zero", "precision"}) ==
          R"(gpus=8 model="qwen2.5-7b" micro_batch=4 global_batch=64 sequence_length=8192 zero="gradients" precision="bf16")");
}
