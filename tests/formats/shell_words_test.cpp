// Words that stand for several ones, quotes of the shell's own, ways of a choice that go on: scripts of our own.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {
std::string megatron(const std::string& more) {
    return "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 "
           "--max-position-embeddings 2048 --vocab-size 32000 --bf16 " +
           more + "\n";
}
std::string degrees(const std::string& script) {
    return some(first_of_script(script), {"tensor_parallel", "pipeline_parallel", "micro_batch", "global_batch"});
}
}  // namespace

TEST_CASE("a script: words in braces stand for several, numbers for a row") {
    CHECK(degrees(megatron("--{tensor,pipeline}-model-parallel-size=2 --micro-batch-size 1 --global-batch-size 64")) ==
          "tensor_parallel=2 pipeline_parallel=2 micro_batch=1 global_batch=64");
    CHECK(degrees("ARGS=(--{micro,global}-batch-size=8 --tensor-model-parallel-size 4)\n" + megatron("\"${ARGS[@]}\"")) ==
          "tensor_parallel=4 pipeline_parallel=1 micro_batch=8 global_batch=8");
    CHECK(degrees("N=0\nfor i in {1..4}; do N=$((N + 1)); done\nS={1,2}\n" +
                  megatron("--tensor-model-parallel-size $N --micro-batch-size 1 --global-batch-size 16")) ==
          "tensor_parallel=4 pipeline_parallel=1 micro_batch=1 global_batch=16");
    // In quotes they are what they are, and so is one alone.
    const Json job = first_of_script(megatron("--micro-batch-size 1 --global-batch-size 8 --data-path '{a,b}' --save {x}"));
    CHECK(job["keys"].dump().find("{a,b}") != std::string::npos);
}

TEST_CASE("a script: braces that never close, or would make more words than anybody writes, hold nothing up") {
    std::string many, few;
    for (int i = 0; i < 20'000; ++i) many += "{a,b}";
    while (few.size() < 600'000) few += " " + many.substr(0, 900);
    for (const std::string& words : {std::string(600'000, '{'), many, few, "{1..1000}{1..1000}{1..1000}" + few})
        CHECK(
            degrees(megatron("--micro-batch-size 2 --global-batch-size 8 --data-path " + words)).ends_with("micro_batch=2 global_batch=8"));
    CHECK(degrees(megatron("--{a,{tensor-model,pipeline-model}-parallel-size=2} --micro-batch-size 1 --global-batch-size 8 --save {{")) ==
          "tensor_parallel=2 pipeline_parallel=2 micro_batch=1 global_batch=8");
}

TEST_CASE("a script: $'…' is a text with its signs") {
    CHECK(degrees("ARGS=$'--tensor-model-parallel-size 4\\n--pipeline-model-parallel-size 2 --micro-batch-size 1'\n" +
                  megatron("$ARGS --global-batch-size 8 --save $'it\\'s'")) ==
          "tensor_parallel=4 pipeline_parallel=2 micro_batch=1 global_batch=8");
}

TEST_CASE("a script: ways of a choice that go on, signs in brackets, and no way at all") {
    const std::string choice =
        "case $SIZE in\n  7b) TP=2 ;;&\n  13b) TP=4 ;;&\n  [0-9]*b) MBS=2 ;;\n  *) MBS=1 ;;\nesac\n"
        "case $SIZE in 7b) PP=2 ;& 13b) GBS=64 ;; esac\n";
    const std::string start = megatron(
        "--tensor-model-parallel-size ${TP:-1} --pipeline-model-parallel-size ${PP:-1} --micro-batch-size $MBS --global-batch-size "
        "${GBS:-32}");
    CHECK(degrees("SIZE=7b\n" + choice + start) == "tensor_parallel=2 pipeline_parallel=2 micro_batch=2 global_batch=64");
    CHECK(degrees("SIZE=13b\n" + choice + start) == "tensor_parallel=4 pipeline_parallel=1 micro_batch=2 global_batch=64");
    CHECK(degrees("SIZE=big\n" + choice + start) == "tensor_parallel=1 pipeline_parallel=1 micro_batch=1 global_batch=32");
    // Whether a way is taken that is the only one nobody knows.
    const Json open = first_of_script("MBS=1\nTP=1\ncase $SIZE in 7b) TP=8 ;; esac\n" + start);
    CHECK(!open["job"].contains("tensor_parallel"));
}

TEST_CASE("Megatron-LM: the language model's length beside an encoder's, what is frozen, a recipe in Python, a told world") {
    const Json vision = first_of_script(megatron("--decoder-seq-length 1024 --vision-model-type clip --micro-batch-size 1 --freeze-LM"));
    CHECK(some(vision, {"sequence_length"}) == "sequence_length=1024");
    CHECK(vision["notes"].dump().find("vision_model_type") != std::string::npos);
    CHECK(vision["refused"].dump().find("freeze-LM") != std::string::npos);
    const Json recipe = first_of_script(
        "torchrun --nproc_per_node 8 pretrain_hybrid.py --model-recipe recipes.small --seq-length 512 --micro-batch-size 1 "
        "--global-batch-size 32 --bf16\n");
    CHECK(some(recipe, {"gpus", "sequence_length", "tensor_parallel", "expert_parallel"}) ==
          "gpus=8 sequence_length=512 tensor_parallel=? expert_parallel=?");
    const Json told = first_of_script(
        "NNODES=1\nGPUS_PER_NODE=8\npython pretrain_gpt.py --world-size $OMPI_COMM_WORLD_SIZE --num-layers 8 "
        "--hidden-size 512 --num-attention-heads 8 --seq-length 512 --micro-batch-size 1\n");
    CHECK(!told["job"].contains("gpus"));
}

TEST_CASE("programs that train no model of language: images alone, and what generates with MaxText's names") {
    const Json images = first_of_script(
        "torchrun --nproc_per_node 8 pretrain_vision_classify.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 "
        "--seq-length 196 --micro-batch-size 4\n");
    CHECK(images["refused"].dump().find("encoder") != std::string::npos);
    const Json generates = json(api::import_plan(Json{
        {"text",
         "python3 -m benchmarks.lm_eval.maxtext_generator MaxText/configs/base.yml model_name=llama3-8b "
         "max_target_length=2048 ici_tensor_parallelism=4 per_device_batch_size=8\n"},
        {"set", Json::object()}}.dump()));
    CHECK(generates["ok"] == false);
}

TEST_CASE("a PyTorchJob whose workers ask for no GPU that is said: how many there are is asked") {
    const auto job_of = [](const std::string& start, const std::string& more) {
        const std::string master = "spec.pytorchReplicaSpecs.Master.", worker = "spec.pytorchReplicaSpecs.Worker.";
        const std::string pod = "template.spec.containers.0.";
        return first_of("kind = \"PyTorchJob\"\n" + master + "replicas = 1\n" + master + pod + "command = " + start + "\n" + master + pod +
                        "resources.limits.nvidia.com/gpu = 8\n" + worker + "replicas = 3\n" + worker + pod + "command = " + start + "\n" +
                        more);
    };
    const std::string words =
        "\"train.py\", \"--model_name_or_path\", \"meta-llama/Llama-2-7b-hf\", \"--per_device_train_batch_size\", \"2\", "
        "\"--max_seq_length\", \"2048\", \"--bf16\", \"true\", \"--learning_rate\", \"1e-5\"]";
    const std::string worker_gpus = "spec.pytorchReplicaSpecs.Worker.template.spec.containers.0.resources.limits.nvidia.com/gpu = 8\n";
    CHECK(some(job_of("[\"torchrun\", " + words, worker_gpus), {"gpus"}) == "gpus=32");
    const Json unsaid = job_of("[\"torchrun\", " + words, "");
    CHECK(some(unsaid, {"gpus"}) == "gpus=?");
    CHECK(unsaid["asked"].dump().find("gpus") != std::string::npos);
    CHECK(some(job_of("[\"torchrun\", \"--nproc_per_node=8\", " + words, ""), {"gpus"}) == "gpus=32");
}
