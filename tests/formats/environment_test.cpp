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

TEST_CASE("Age tells a job the kind of its nodes; DeepSpeed sends tokens to their experts") {
    const Json job = first_of_script(
        "#!/bin/bash\n#$ -l rt_AF=2\nif [[ \"$SGE_RESOURCE_TYPE\" == \"rt_F\" ]]; then\n  N=4\nelif [[ \"$SGE_RESOURCE_TYPE\" == \"rt_AF\" "
        "]]; "
        "then\n  N=8\nfi\nALL=$((NHOSTS * N))\nmpirun -np $ALL --npernode $N python pretrain_gpt.py --num-layers 8 --hidden-size 512 "
        "--num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 16 --vocab-size "
        "1000 "
        "--bf16 --num-experts $ALL --moe-expert-parallel-size $ALL --deepspeed --deepspeed_config ds.json --zero-stage 1\n");
    CHECK(some(job, {"gpus", "expert_parallel", "expert_dispatch"}) == R"(gpus=16 expert_parallel=16 expert_dispatch="all_to_all")");
    CHECK(ids(job["notes"]).find("not_counted") == std::string::npos);
}

TEST_CASE("Megatron-SWIFT: a process for each GPU of a node, wherever that is set") {
    const std::string command =
        "megatron pt --model Qwen/Qwen3-8B --micro_batch_size 1 --global_batch_size 16 --max_length 4096 --tensor_model_parallel_size 2\n";
    CHECK(some(first_of_script("export NPROC_PER_NODE=8\nrun() {\n  " + command + "}\nrun\n"), {"gpus"}) == "gpus=8");
    const Json open = first_of_script("NPROC_PER_NODE=8 NNODES=$COUNT " + command);
    CHECK(some(open, {"gpus", "gpus_per_node"}) == "gpus=? gpus_per_node=8");
}

TEST_CASE("MaxText: a file that says a model's sizes stands beside base.yml; one for GPUs says more") {
    const auto of = [](const std::string& file) {
        const Json job = first_of_script("python3 -m MaxText.train MaxText/configs/models/" + file +
                                         " model_name=llama3.1-405b per_device_batch_size=1.0 max_target_length=8192 "
                                         "dcn_fsdp_parallelism=128 ici_fsdp_parallelism=8\n");
        return some(job, {"model", "tensor_parallel", "recompute"}) + " " + ids(job["notes"]);
    };
    CHECK(of("llama3.1_405b.yml") == R"(model="llama-3.1-405b" tensor_parallel=1 recompute="full" )");
    CHECK(of("gpu/llama3.1_405b.yml") == R"(model="llama-3.1-405b" tensor_parallel=? recompute=? import_plan.note.file)");
}

TEST_CASE("a word that stands for further arguments, and a model without layers: what is not said is not taken for the usual") {
    const std::string names = "export TP=2\nexport PP=4\nexport EP=8\nexport MBS=1\nexport GBS=64\nexport SEQ_LEN=4096\n";
    const std::string start = "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py ";
    const Json listed = first_of_script(names + "MORE=$(yq '.args' model.yaml)\n" + start + "--use-distributed-optimizer $MORE\n");
    CHECK(some(listed, {"tensor_parallel", "pipeline_parallel", "expert_parallel", "micro_batch", "global_batch", "sequence_length", "gpus",
                        "recompute", "precision"}) ==
          "tensor_parallel=2 pipeline_parallel=4 expert_parallel=8 micro_batch=1 global_batch=64 sequence_length=4096 gpus=16 recompute=? "
          "precision=?");
    CHECK(listed["partial"] == true);
    const Json sourced = first_of_script("source model.sh\n" + start + "\"${MODEL_ARGS[@]}\" --tensor-model-parallel-size 2 --bf16\n");
    CHECK(some(sourced, {"tensor_parallel", "pipeline_parallel", "hidden_dropout"}) ==
          "tensor_parallel=2 pipeline_parallel=? hidden_dropout=?");
    CHECK(sourced["partial"] == true);
    // The model is there: the word stands for little.
    const Json whole =
        first_of_script(start +
                        "$EXTRA --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
                        "--max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 16 --vocab-size 1000 --bf16\n");
    CHECK(whole["partial"] == false);
    CHECK(some(whole, {"pipeline_parallel"}) == "pipeline_parallel=1");
}

TEST_CASE("a function that starts one job on each node is one job") {
    const auto jobs_of = [](const std::string& behind) {
        return read_script_of(
            "start() {\n  ssh $1 \"torchrun --nnodes=2 --nproc_per_node=8 --node_rank=$2 pretrain_gpt.py --num-layers 8 "
            "--hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 "
            "--micro-batch-size 1 --global-batch-size $3 --vocab-size 1000 --bf16\" &\n}\nstart a 0 16\n" +
            behind)["jobs"];
    };
    CHECK(jobs_of("start b 1 16\n").size() == 1);
    CHECK(jobs_of("start b 1 16\n")[0]["job"]["gpus"] == 16);
    CHECK(jobs_of("start b 1 32\n").size() == 2);
}

TEST_CASE("torchtitan in Python: a configuration of which one degree is changed is a job of its own") {
    const Json jobs = read_script_of(
        "from torchtitan.trainer import Trainer\nfrom torchtitan.models.llama3.config_registry import llama3_debugmodel\n\n\n"
        "def two_ways() -> Trainer.Config:\n    config = llama3_debugmodel()\n    config.parallelism.tensor_parallel_degree = 2\n"
        "    config.parallelism.pipeline_parallel_degree = 2\n    return config\n\n\n"
        "def one_way() -> Trainer.Config:\n    config = llama3_debugmodel()\n    config.parallelism.pipeline_parallel_degree = 4\n"
        "    return config\n")["jobs"];
    REQUIRE(jobs.size() == 2);
    CHECK(some(jobs[1], {"pipeline_parallel", "tensor_parallel"}) == "pipeline_parallel=4 tensor_parallel=?");
}

TEST_CASE("Pai-Megatron-Patch: what is told to its scripts by the words' places") {
    const auto job_of = [](const std::string& degrees, const std::string& behind) {
        return first_of_script(
            "export MP_PP0_LAYERS=6\nexport MP_AC_LAYERS=2\nbash -c \"\nsh run_mcore_some.sh \\\ndsw \\\n7B \\\n2 64 1e-5 1e-6 4096 4096 "
            "bf16 \\\n" +
            degrees + " " + behind + " 1000 data data ckpt 100 10 out\n\"\n");
    };
    const Json plain = job_of("4 2 1", "true true true false sel false");
    CHECK(some(plain, {"tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel", "micro_batch", "global_batch",
                       "sequence_length", "precision", "zero", "sequence_parallel", "recompute", "optimizer_offload"}) ==
          R"(tensor_parallel=4 pipeline_parallel=2 context_parallel=1 expert_parallel=? micro_batch=2 global_batch=64 )"
          R"(sequence_length=4096 precision="bf16" zero="optimizer" sequence_parallel=true recompute="selective" optimizer_offload=?)");
    CHECK(plain["partial"] == true);
    CHECK(plain["asked"].dump().find("model") != std::string::npos);
    const Json one = job_of("1 4 1 2", "false false false false full static");
    CHECK(some(one, {"pipeline_parallel", "first_stage_layers", "expert_parallel", "recompute", "recompute_layers", "zero"}) ==
          R"(pipeline_parallel=4 first_stage_layers=6 expert_parallel=2 recompute="full" recompute_layers=2 zero="optimizer")");
    CHECK(fate(one, "OPTIMIZER_OFFLOAD").starts_with("unknown"));
    const Json two = job_of("2 1 1 1 8", "true true true false none 0.5");
    CHECK(some(two, {"expert_tensor_parallel", "expert_parallel", "optimizer_offload"}) ==
          "expert_tensor_parallel=1 expert_parallel=8 optimizer_offload=0.5");
    // Another program's words.
    const std::string others = "bash run_mcore_some.sh a b c d e f g h i j k l m n o p q\n";
    const Json other = json(api::import_plan(Json{{"text", others}}.dump()));
    CHECK(other["ok"] == false);
}

TEST_CASE("torchtitan: what follows from the number of stages hangs on it where it is open") {
    const Json job = first_of_script(
        "cat <<EOF > train.toml\n[model]\nname = \"llama3\"\nflavor = \"debugmodel\"\n[training]\nlocal_batch_size = 1\nseq_len = 512\n"
        "[parallelism]\npipeline_parallel_degree = $STAGES\n[activation_checkpoint]\nmode = 'selective'\nselective_ac_option = '2'\nEOF\n");
    CHECK(some(job, {"zero", "recompute", "recompute_layers", "tensor_parallel"}) ==
          "zero=? recompute=? recompute_layers=? tensor_parallel=1");
}

TEST_CASE("options of a container and of a profiler are no arguments of the program's") {
    const std::string rest =
        " pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 "
        "--micro-batch-size 1 --global-batch-size 16 --vocab-size 1000 --bf16 --own-way 1\n";
    const Json profiled = first_of_script("nsys profile --capture-range=cudaProfilerApi --trace=cuda torchrun --nproc_per_node=8" + rest);
    CHECK(fate(profiled, "--capture-range").starts_with("no_number"));
    CHECK(fate(profiled, "--own-way").starts_with("unknown"));
    CHECK(profiled["job"]["gpus"] == 8);
    const Json held =
        first_of_script("docker run --rm --shm-size 16g \\\n image python3 -m torch.distributed.run --nproc_per_node=8" + rest);
    CHECK(fate(held, "--own-way").starts_with("unknown"));
    const Json named =
        first_of_script("$CONTAINER run --rm --shm-size 16g image python3 -m torch.distributed.run --nproc_per_node=8" + rest);
    CHECK(fate(named, "--own-way").starts_with("unknown"));
    CHECK(!fate(named, "--shm-size").starts_with("unknown"));
    for (const char* option : {"--rm", "--shm-size"}) CHECK((fate(held, option) == "" || fate(held, option).starts_with("no_number")));
}
