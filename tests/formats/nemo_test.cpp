// Recipes of NeMo and Megatron-Bridge that are started by a command, presets, and what a recipe that is not there leaves open.
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::ids;
using tests::read_script_of;
using tests::some;

static Json nemo_job(const std::string& text) { return tests::first_of_script(text); }

TEST_CASE("NeMo 1: nothing in Hydra's words, fine-tuning, the launcher's command, what it refuses") {
    const std::string run = "python megatron_gpt_sft.py trainer.devices=8 trainer.num_nodes=1 model.tensor_model_parallel_size=2 ";
    CHECK(some(nemo_job(run + "model.activations_checkpoint_method=null model.micro_batch_size=1\n"), {"recompute"}) ==
          "recompute=\"none\"");
    CHECK(some(nemo_job(run + "model.data.train_ds.max_seq_length=4096 model.data.train_ds.micro_batch_size=1 "
                              "model.data.train_ds.global_batch_size=128 model.data.validation_ds.micro_batch_size=4 "
                              "model.optim.name=distributed_fused_adam\n"),
               {"sequence_length", "micro_batch", "global_batch"}) == "sequence_length=4096 micro_batch=1 global_batch=128");
    const Json launcher = read_script_of(
        "python3 main.py training=gpt3/175b stages=[training] training.model.tensor_model_parallel_size=8 "
        "training.model.pipeline_model_parallel_size=16\n");
    CHECK(launcher["format"] == "nemo-1");
    CHECK(some(launcher["jobs"][0], {"tensor_parallel", "pipeline_parallel"}) == "tensor_parallel=8 pipeline_parallel=16");
    const std::string base =
        "trainer.devices = 8\ntrainer.num_nodes = 8\ntrainer.precision = \"bf16\"\nmodel.micro_batch_size = 1\nmodel.num_layers = 32\n"
        "model.hidden_size = 4096\nmodel.num_attention_heads = 32\nmodel.encoder_seq_length = 4096\nmodel.pipeline_model_parallel_size = "
        "4\n";
    CHECK(ids(first_of(base + "model.virtual_pipeline_model_parallel_size = 2\nmodel.megatron_amp_O2 = false\n")["refused"]) ==
          "import_plan.refused.both");
    CHECK(ids(first_of(base + "model.virtual_pipeline_model_parallel_size = null\nmodel.megatron_amp_O2 = false\n")["refused"]) == "");
    CHECK(ids(first_of(base +
                       "model.expert_model_parallel_size = 2\nmodel.num_moe_experts = 8\nmodel.megatron_amp_O2 = false\n")["refused"]) ==
          "import_plan.refused.both");
    CHECK(ids(first_of(base + "model.optim.name = \"distributed_fused_adam\"\nmodel.optim.overlap_param_sync = true\n")["refused"]) ==
          "import_plan.refused.gather_gradients");
    const Json noted =
        first_of(base + "model.transformer_engine = false\nmodel.num_micro_batches_with_partial_activation_checkpoints = 2\n");
    CHECK(some(noted, {"transformer_engine"}) == "transformer_engine=\"off\"");
    CHECK(ids(noted["notes"]).find("import_plan.note.not_counted") != std::string::npos);
}

TEST_CASE("a command that stands in a here-document which a variable reads") {
    const char* text =
        "#SBATCH -N 16 --ntasks-per-node 8\nTP=4\nread -r -d '' cmd <<EOF\necho \"start\" \\\n&& python megatron_gpt_pretraining.py \\\n"
        " trainer.num_nodes=${SLURM_JOB_NUM_NODES} trainer.devices=8 model.tensor_model_parallel_size=${TP} \\\n"
        " model.encoder_seq_length=2048 model.micro_batch_size=1\nEOF\nsrun bash -c \"${cmd}\"\n";
    CHECK(some(nemo_job(text), {"gpus", "tensor_parallel", "sequence_length", "micro_batch"}) ==
          "gpus=128 tensor_parallel=4 sequence_length=2048 micro_batch=1");
}
