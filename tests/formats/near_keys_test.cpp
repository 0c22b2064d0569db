// A key that nobody understood, and the one that it most likely was.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

std::string nearest(const Json& job, const std::string& key) {
    for (const Json& one : job["keys"])
        if (one["key"] == key) return one.value("near", std::string());
    return "not there";
}

const std::string kSmallScript =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
    "--max-position-embeddings 512 --bf16 --vocab-size 1000 --micro-batch-size 1 ";

std::string of_flag(const std::string& flag) { return nearest(first_of_script(kSmallScript + flag + " 2\n"), flag); }

}  // namespace

TEST_CASE("a misspelled flag is told the flag that it was meant to be, in its own spelling") {
    CHECK(of_flag("--tensor-model-paralel-size") == "--tensor-model-parallel-size");
    CHECK(of_flag("--tensor-model-parallel-sizes") == "--tensor-model-parallel-size");
    CHECK(of_flag("--pipelien-model-parallel-size") == "--pipeline-model-parallel-size");
    CHECK(of_flag("--pipeline_model_paralel_size") == "--pipeline_model_parallel_size");
    CHECK(of_flag("--global-batchsize") == "--global-batch-size");
    CHECK(of_flag("--use-distribted-optimizer") == "--use-distributed-optimizer");
    CHECK(of_flag("--recompute-granualrity") == "--recompute-granularity");
}

TEST_CASE("no flag is offered for one that is merely alike") {
    for (const char* flag :
         {"--cp-size", "--fp6-format", "--num-cpus", "--exit-interval-2", "--micro-batch-sizes", "--my-own-thing", "--tensor-model"})
        CHECK(of_flag(flag) == "");
    const Json known = first_of_script(kSmallScript + "--tensor-model-parallel-size 2 --tensor-model-paralel-size 4\n");
    CHECK(nearest(known, "--tensor-model-paralel-size") == "");  // the other one is there
    CHECK(nearest(known, "--tensor-model-parallel-size") == "");
    CHECK(nearest(first_of_script(kSmallScript + "--sequence-parallel flase\n"), "--sequence-parallel") == "");  // its value is odd
}

TEST_CASE("settings of a file: the key behind its sections, and those of its own format alone") {
    const Json titan = first_of(
        "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.seq_len = 4096\ntraining.local_batch_sze = 2\n"
        "parallelism.tensor_paralel_degree = 2\nparalelism.context_parallel_degree = 2\ntraining.micro_batch_size = 2\n");
    CHECK(nearest(titan, "training.local_batch_sze") == "training.local_batch_size");
    CHECK(nearest(titan, "parallelism.tensor_paralel_degree") == "parallelism.tensor_parallel_degree");
    CHECK(nearest(titan, "paralelism.context_parallel_degree") == "parallelism.context_parallel_degree");
    CHECK(nearest(titan, "training.micro_batch_size") == "");  // of Megatron-LM, not of torchtitan

    const Json primus = first_of(
        "modules.pre_trainer.framework = \"megatron\"\nmodules.pre_trainer.model = \"llama3.1_8B.yaml\"\n"
        "modules.pre_trainer.overrides.micro_batch_size = 1\nmodules.pre_trainer.overrides.global_batch_sise = 16\n");
    CHECK(nearest(primus, "modules.pre_trainer.overrides.global_batch_sise") == "modules.pre_trainer.overrides.global_batch_size");
}
