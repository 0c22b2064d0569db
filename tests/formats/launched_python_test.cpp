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
