// What a script sets for another one by the names of a convention.
#include <doctest/doctest.h>

#include <string>

#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("the environment before a script, through a container's shell, is a job") {
    const Json job = first_of_script(
        "#!/bin/bash\n#SBATCH --nodes=8\n#SBATCH --gres=gpu:8\n"
        "srun bash -c 'docker run --rm image /bin/bash -c \"TRAIN_ITERS=20 TP_SIZE=2 PP_SIZE=4 CP_SIZE=1 EP_SIZE=8 ETP_SIZE=1 MBS=1 "
        "GBS=512 SEQLEN=8192 PR=bf16 AC=full RECOMPUTE_NUM_LAYERS=5 bash examples/train.sh\"'\n");
    CHECK(some(job, {"tensor_parallel", "pipeline_parallel", "expert_parallel", "expert_tensor_parallel", "micro_batch", "global_batch",
                     "sequence_length", "precision", "recompute", "recompute_layers", "gpus"}) ==
          R"(tensor_parallel=2 pipeline_parallel=4 expert_parallel=8 expert_tensor_parallel=1 micro_batch=1 global_batch=512 )"
          R"(sequence_length=8192 precision="bf16" recompute="block" recompute_layers=5 gpus=64)");
    CHECK(job["job"]["token_budget"] == 20.0 * 512 * 8192);
}

TEST_CASE("names that are exported and no command: a name that is empty says nothing") {
    const std::string names = "export TP=2\nexport PP=2\nexport MBS=1\nexport GBS=64\nexport VPP=\"\"\n";
    const Json job = first_of_script(names + "export AC=sel\nexport RECOMPUTE_METHOD=block\nexport RECOMPUTE_NUM_LAYERS=3\n");
    CHECK(some(job, {"virtual_stages", "recompute", "recompute_layers"}) == R"(virtual_stages=? recompute="selective" recompute_layers=?)");
    CHECK(fate(job, "VPP") == "");
    CHECK(ids(job["refused"]) == "");
    CHECK(some(first_of_script(names + "export AC=full\nexport RECOMPUTE_METHOD=uniform\n"), {"recompute", "recompute_layers"}) ==
          R"(recompute="full" recompute_layers=1)");
}

TEST_CASE("mpirun's number of processes is that of the GPUs, also where it is not known") {
    const std::string rest =
        " --bind-to none --allow-run-as-root python pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length "
        "512 "
        "--max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 16 --vocab-size 1000 --bf16 --rms-norm\n";
    const Json answer = read_script_of("mpirun --np $COUNT" + rest);
    const Json& job = answer["jobs"][0];
    CHECK(answer["questions"][0]["name"] == "COUNT");
    CHECK(fate(job, "--np").starts_with("open"));
    CHECK(fate(job, "--bind-to").starts_with("no_number"));
    const Json known = first_of_script("mpirun --np 16" + rest);
    CHECK(known["job"]["gpus"] == 16);
    CHECK(!known["job"]["model"].contains("layer_norm"));  // which stands there where norms take the mean out
}

TEST_CASE("MaxText: a scale makes the sizes of base.yml larger") {
    const auto model_of = [](const std::string& scale) {
        const Json job = first_of_script(
            "python3 MaxText/train.py MaxText/configs/base.yml per_device_batch_size=1 remat_policy=full "
            "ici_tensor_parallelism=16 global_parameter_scale=" +
            scale + "\n")["job"];
        return job.value("model", Json::object());
    };
    const Json large = model_of("512");  // 2^9: eight times each
    CHECK(large["hidden_size"] == 16'384);
    CHECK(large["num_hidden_layers"] == 128);
    const Json mid = model_of("32");  // 2^5: width and heads take the rest
    CHECK(mid["hidden_size"] == 8'192);
    CHECK(mid["intermediate_size"] == 28'672);
    CHECK(mid["num_attention_heads"] == 64);
    CHECK(mid["num_hidden_layers"] == 32);
    CHECK(model_of("6").empty());
}
