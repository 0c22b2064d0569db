// Recipes of NeMo and Megatron-Bridge that are started by a command, presets, and what a recipe that is not there leaves open.
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::ids;
using tests::read_script_of;
using tests::some;

static Json nemo_job(const std::string& text) { return tests::first_of_script(text); }

TEST_CASE("a command that stands in a here-document which a variable reads") {
    const char* text =
        "#SBATCH -N 16 --ntasks-per-node 8\nTP=4\nread -r -d '' cmd <<EOF\necho \"start\" \\\n&& python megatron_gpt_pretraining.py \\\n"
        " trainer.num_nodes=${SLURM_JOB_NUM_NODES} trainer.devices=8 model.tensor_model_parallel_size=${TP} \\\n"
        " model.encoder_seq_length=2048 model.micro_batch_size=1\nEOF\nsrun bash -c \"${cmd}\"\n";
    CHECK(some(nemo_job(text), {"gpus", "tensor_parallel", "sequence_length", "micro_batch"}) ==
          "gpus=128 tensor_parallel=4 sequence_length=2048 micro_batch=1");
}
