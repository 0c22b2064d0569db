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
