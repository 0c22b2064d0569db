// Idioms that launch scripts and recipes use beside the plain ones: each once, short, with what the program would take.
#include <doctest/doctest.h>

#include <string>

#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

Json script(const std::string& text, const Json& set = Json::object()) { return read_answer({{"text", text}, {"set", set}}); }
Json job_of(const std::string& text, const Json& set = Json::object()) { return script(text, set)["jobs"][0]; }

// A model of Megatron-LM that is small and complete.
const std::string kSizes =
    "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 "
    "--micro-batch-size 1 --global-batch-size 16 --vocab-size 1000 --bf16 ";

}  // namespace

TEST_CASE("a script: without ZeRO weights are gathered under the passes later only where gradients are sent under them") {
    const auto overlaps = [](const std::string& flags) {
        return some(job_of("torchrun --nproc_per_node 8 pretrain_gpt.py " + kSizes + flags), {"overlap_gradients", "overlap_parameters"});
    };
    CHECK(overlaps("") == "overlap_gradients=false overlap_parameters=false");
    CHECK(overlaps("--overlap-grad-reduce") == "overlap_gradients=true overlap_parameters=?");
    CHECK(overlaps("--overlap-grad-reduce --use-distributed-optimizer") == "overlap_gradients=true overlap_parameters=false");
}

TEST_CASE("a script: what a command prints stays one open name, also where the text is read again") {
    const std::string text =
        "GPUS_PER_NODE=`python3 -c \"import torch; print(torch.cuda.device_count())\"`\n"
        "ARGS=\"--nproc_per_node $GPUS_PER_NODE --nnodes 2\"\n"
        "run_cmd=\"torchrun $ARGS pretrain_gpt.py --tensor-model-parallel-size 2 " +
        kSizes + "|& tee log\"\neval $run_cmd\n";
    const Json answer = script(text);
    CHECK(answer["jobs"].size() == 1);
    CHECK(some(answer["jobs"][0], {"tensor_parallel", "gpus", "global_batch"}) == "tensor_parallel=2 gpus=? global_batch=16");
    CHECK(answer["questions"].dump() == R"([{"choices":[],"name":"GPUS_PER_NODE"}])");
    CHECK(some(job_of(text, {{"GPUS_PER_NODE", "8"}}), {"gpus", "gpus_per_node"}) == "gpus=16 gpus_per_node=8");
    // It printed something or nothing: both ways are left open.
    CHECK(some(job_of("N=$(nvidia-smi -L | wc -l)\nT=1\nif [ -z \"$N\" ]; then T=4; fi\n"
                      "torchrun p.py --tensor-model-parallel-size $T " +
                      kSizes),
               {"tensor_parallel"}) == "tensor_parallel=?");
}

TEST_CASE("a script: a switch takes no value, so an unknown name behind it is none") {
    const Json job = job_of("torchrun --nproc_per_node 8 p.py --use-distributed-optimizer $MORE " + kSizes + "--lr 1e-4 $LOAD");
    CHECK(some(job, {"zero", "gpus", "micro_batch"}) == R"(zero="optimizer" gpus=8 micro_batch=1)");
    CHECK(fate(job, "${MORE}") == "unknown 1");
    CHECK(fate(job, "${LOAD}") == "unknown 1");
    CHECK(ids(job["refused"]) == "");
    const Json open = job_of("torchrun --nproc_per_node 8 p.py --tensor-model-parallel-size $TP " + kSizes);
    CHECK(fate(open, "--tensor-model-parallel-size") == "open 1");
    // An unknown switch does not make the other one illegal.
    CHECK(ids(job_of("if nothing_known; then O=--use-distributed-optimizer; fi\n"
                     "torchrun --nproc_per_node 8 p.py $O --overlap-grad-reduce --overlap-param-gather " +
                     kSizes)["refused"]) == "");
}

TEST_CASE("a script: sums with a choice, and places to be filled in") {
    CHECK(some(job_of("TP=2\nSPLIT=$(( ($TP > 1) ? 4 : 1 ))\ntorchrun p.py --pipeline-model-parallel-size $SPLIT " + kSizes),
               {"pipeline_parallel"}) == "pipeline_parallel=4");
    const Json job = job_of("DATA=<your data, any path>\ntorchrun --nproc_per_node 8 p.py --data-path $DATA --save <a folder> --fp16 " +
                            kSizes.substr(0, kSizes.size() - 7));
    CHECK(some(job, {"precision", "gpus"}) == R"(precision="fp16" gpus=8)");
    CHECK(some(job_of("torchrun p.py " + kSizes + " <in 2>out --tensor-model-parallel-size 2"), {"tensor_parallel"}) ==
          "tensor_parallel=2");
}

TEST_CASE("a script: the GPUs of a node are what is asked for, not the one task that starts them") {
    const std::string run = "srun torchrun --nproc_per_node $N p.py " + kSizes;
    CHECK(some(job_of("#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:8\nsrun python p.py " + kSizes),
               {"gpus", "gpus_per_node"}) == "gpus=32 gpus_per_node=8");
    CHECK(some(job_of("#SBATCH --nodes=4 --ntasks-per-node=8\nsrun python p.py " + kSizes), {"gpus"}) == "gpus=32");
    CHECK(some(job_of("#SBATCH --nodes=4 --ntasks-per-node=1\nsrun python p.py " + kSizes), {"gpus"}) == "gpus=?");
}

TEST_CASE("a script that calls another one: names of the usual convention are its settings") {
    const Json job = job_of(
        "#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
        "srun bash -c 'TP=2 PP=4 EP=2 MICRO_BATCH_SIZE=1 GLOBAL_BATCH_SIZE=32 SEQ_LEN=4096 bash train.sh'");
    CHECK(some(job, {"tensor_parallel", "pipeline_parallel", "expert_parallel", "global_batch", "gpus", "sequence_length"}) ==
          "tensor_parallel=2 pipeline_parallel=4 expert_parallel=2 global_batch=32 gpus=16 sequence_length=4096");
    CHECK(some(job, {"zero", "precision"}) == "zero=? precision=?");  // the other script says it
    CHECK(some(job_of("PP=4\nTP=$((16/PP))\nMBS=1\n. ./config.sh\n"), {"tensor_parallel", "pipeline_parallel", "micro_batch"}) ==
          "tensor_parallel=4 pipeline_parallel=4 micro_batch=1");
    CHECK(json(api::import_plan(Json{{"text", "TP=2\nPP=4\n. ./config.sh\n"}}.dump()))["ok"] == false);
}

TEST_CASE("Megatron-DeepSpeed: its own names, and what another file says") {
    const std::string run = "deepspeed --num_gpus 8 p.py --deepspeed " + kSizes;
    CHECK(job_of(run + "--num-key-value-heads 2")["job"]["model"]["num_key_value_heads"] == 2);
    const Json job = job_of(run + "--deepspeed_config other.json --num-experts 16 --moe-expert-parallel-size 4");
    CHECK(some(job, {"expert_parallel", "zero"}) == "expert_parallel=4 zero=?");
    CHECK(fate(job, "--deepspeed_config") == "unknown 1");
    CHECK(job["job"]["model"]["num_experts_per_tok"] == 1);  // its own default, and every second layer has experts
    CHECK(job["job"]["model"]["mlp_only_layers"].dump() == "[0,2,4,6]");
    CHECK(some(job_of(run + "--zero-stage 1 --deepspeed_config x.json"), {"zero"}) == R"(zero="optimizer")");
    const Json split = job_of(
        "deepspeed --num_gpus 12 p.py --deepspeed --zero-stage 0 --pipeline-model-parallel-size 3 "
        "--pp-partition-method 'type:transformer|embedding' " +
        kSizes);
    CHECK(ids(split["refused"]) == "");
    CHECK(some(split, {"count_embedding_as_layer", "count_loss_as_layer"}) == "count_embedding_as_layer=true count_loss_as_layer=true");
}

TEST_CASE("forks of Megatron-LM: their own names, and comments among the arguments") {
    const Json job = job_of(
        "NPUS_PER_NODE=8\nARGS=\"\n    `# sizes` \\\n    --num-layers 4 --hidden-size 256 \\\n    `# more` \\\n    --num-attention-heads 4 "
        "--qk-layernorm "
        "--multi-head-latent-attention --kv-lora-rank 64 --qk-nope-head-dim 32 --qk-rope-head-dim 16 --v-head-dim 32 --num-experts 8 "
        "--moe-intermediate-size 96 --n-shared-experts 2 --first-k-dense-replace 1 --moe-layer-freq 1 --seq-length 64 "
        "--micro-batch-size 1 --vocab-size 500 --padded-vocab-size 512 --swiglu --bf16\"\n"
        "python -m torch.distributed.launch --nproc_per_node $NPUS_PER_NODE --nnodes 1 pretrain_gpt.py $ARGS\n");
    const Json model = job["job"]["model"];
    CHECK(model["kv_lora_rank"] == 64);
    CHECK(model["qk_nope_head_dim"] == 32);
    CHECK(model["qk_rope_head_dim"] == 16);
    CHECK(model["moe_intermediate_size"] == 96);
    CHECK(model["n_shared_experts"] == 2);
    CHECK(model["first_k_dense_replace"] == 1);
    CHECK(model["vocab_size"] == 512);
    CHECK(some(job, {"gpus"}) == "gpus=8");
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
}

TEST_CASE("a vocabulary is a known model's where it may be that one padded") {
    const std::string run =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
        "--group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm --position-embedding-type rope "
        "--untie-embeddings-and-output-weights --disable-bias-linear --seq-length 8192 --max-position-embeddings 8192 "
        "--micro-batch-size 1 --bf16 ";
    const auto model = [&](const std::string& more) { return job_of(run + more + "\n")["job"]["model"]; };
    CHECK(model("--padded-vocab-size 128256") == "llama-3-8b");
    CHECK(model("--tensor-model-parallel-size 8 --padded-vocab-size 129024") == "llama-3-8b");
    CHECK(model("--padded-vocab-size 129024")["vocab_size"] == 129'024);
    CHECK(model("--tensor-model-parallel-size 8 --padded-vocab-size 129280")["vocab_size"] == 129'280);
}

TEST_CASE("Age and TSUBAME: what the scheduler tells about its nodes") {
    const std::string run = "NUM_GPUS=$(($NHOSTS * 4))\nmpirun -np $NUM_GPUS python p.py --defer-embedding-wgrad-compute " + kSizes;
    CHECK(some(job_of("#$ -l node_f=4\n" + run), {"gpus", "deferred_embedding_gradient"}) == R"(gpus=16 deferred_embedding_gradient="on")");
    CHECK(some(job_of("#$ -l rt_F=8\n" + run), {"gpus"}) == "gpus=32");
    CHECK(some(job_of(run), {"gpus"}) == "gpus=?");
}

TEST_CASE("a script: lists by name, shifts, quotes inside of quotes") {
    const Json job = job_of(
        "declare -A WIDTH=( [small]=256 [\"large\"]=512 )\nSIZE=large\n"
        "torchrun --nproc_per_node 8 p.py " +
        kSizes + "--hidden-size ${WIDTH[$SIZE]} --seq-length $((1<<9))");
    CHECK(job["job"]["model"]["hidden_size"] == 512);
    CHECK(some(job, {"sequence_length"}) == "sequence_length=512");
    CHECK(some(job_of("torchrun --nproc_per_node 8 pretrain.py model.tensor_model_parallel_size=4 train.micro_batch_size=1 "
                      "'model.recompute_granularity=\"full\"'"),
               {"recompute", "tensor_parallel"}) == R"(recompute="full" tensor_parallel=4)");
    // Either of two, which is not known: no word about a third.
    CHECK(ids(job_of("if [ $P = a ]; then T=--bf16; else T=--fp16; fi\ntorchrun --nproc_per_node 8 p.py $T " +
                     kSizes.substr(0, kSizes.size() - 7))["notes"]) == "");
}

TEST_CASE("a script: what grows with every turn of a loop is open where the turns are, what is set in it is not") {
    const std::string run = "torchrun --nproc_per_node 8 p.py " + kSizes;
    const auto turns = [&](const std::string& most) {
        return job_of("L=0\nT=1\nfor ((i=1; i<" + most + "; i++)); do L=$((L+2)); T=4; done\n" + run +
                      "--num-layers $L --tensor-model-parallel-size $T");
    };
    CHECK(some(turns("M"), {"model"}) == "model=?");
    CHECK(turns("M")["keys"].dump().find(R"("names":["L"])") != std::string::npos);
    CHECK(some(turns("8"), {"tensor_parallel"}) == "tensor_parallel=4");
    CHECK(turns("8")["job"]["model"]["num_hidden_layers"] == 14);
    const auto context = [&](const std::string& most) {
        return some(job_of("N=1\nwhile [ $N -lt " + most + " ]; do N=$((N*2)); done\n" + run + "--context-parallel-size $N"),
                    {"context_parallel"});
    };
    CHECK(context("8") == "context_parallel=8");
    CHECK(context("$M") == "context_parallel=?");
    CHECK(some(job_of("T=2\nfor A in \"$@\"; do T=8; done\n" + run + "--tensor-model-parallel-size $T"), {"tensor_parallel"}) ==
          "tensor_parallel=2");
    CHECK(script("for T in 1 2; do " + run + "--tensor-model-parallel-size $T; done\n")["jobs"].size() == 1);
}

TEST_CASE("a recipe: a long value of letters that are several bytes each is cut, and nothing breaks") {
    std::string name;
    for (int i = 0; i < 400; ++i) name += "\u6771";
    for (const char* before : {"", "a", "ab"}) {
        const Json answer = script(
            std::string("import nemo_run as run\nfrom nemo.collections import llm\n\ndef f(nodes: int = 2):\n") +
            "    recipe = llm.llama3_8b.pretrain_recipe(dir=\"/x\", name=\"" + before + name + "\", num_nodes=nodes)\n" +
            "    recipe.data.global_batch_size = 32\n    recipe.trainer.strategy.tensor_model_parallel_size = 2\n    return recipe\n");
        CHECK(answer["format"] == "nemo-2");
        CHECK(some(answer["jobs"][0], {"tensor_parallel", "global_batch"}) == "tensor_parallel=2 global_batch=32");
    }
}

TEST_CASE("an optimizer that is not Adam keeps something else") {
    const std::string run = "torchrun --nproc_per_node 8 p.py " + kSizes;
    CHECK(ids(job_of(run + "--optimizer adam")["notes"]) == "");
    CHECK(ids(job_of(run + "--optimizer soap")["notes"]) == "import_plan.note.not_counted");
    const auto muon = [&](const std::string& more) { return some(job_of(run + more), {"optimizer", "zero"}); };
    CHECK(muon("--optimizer muon") == R"(optimizer="muon" zero="none")");
    CHECK(muon("--optimizer muon --use-distributed-optimizer") == R"(optimizer="muon" zero="optimizer")");
    CHECK(muon("--optimizer dist_muon") == R"(optimizer="muon" zero="optimizer")");
    CHECK(ids(job_of(run + "--optimizer muon --use-megatron-fsdp")["refused"]) == "import_plan.refused.both");
}

TEST_CASE("the vocabulary: of the merges' tokenizer, or of the model that the tokenizer is named after") {
    const std::string bare = kSizes.substr(0, kSizes.find("--vocab-size")) + "--bf16 ";
    CHECK(job_of("torchrun --nproc_per_node 8 p.py --vocab-file v --merge-file m " + bare)["job"]["model"]["vocab_size"] == 50'257);
    CHECK(job_of("torchrun --nproc_per_node 8 p.py --tokenizer-type HuggingFaceTokenizer --tokenizer-model meta-llama/Llama-3.1-8B " +
                 bare)["job"]["model"]["vocab_size"] == 128'256);
    CHECK(
        job_of("torchrun --nproc_per_node 8 p.py --tokenizer-type HuggingFaceTokenizer --tokenizer-model /data/tokenizer " + bare)["asked"]
            .dump() == R"(["vocab_size"])");
    CHECK(job_of("torchrun --nproc_per_node 8 p.py --pad-vocab-size-to 2048 " + bare)["job"]["model"]["vocab_size"] == 2'048);
}

TEST_CASE("Megatron-LM refuses what its own checks refuse") {
    const auto refused = [&](const std::string& more) {
        return ids(job_of("torchrun --nproc_per_node 8 p.py " + kSizes + more)["refused"]);
    };
    CHECK(refused("") == "");
    CHECK(refused("--expert-model-parallel-size 2") == "import_plan.refused.no_experts");
    CHECK(refused("--expert-model-parallel-size 4 --num-experts 6") == "import_plan.refused.experts");
    CHECK(refused("--expert-model-parallel-size 2 --num-experts 4 --fp16") == "import_plan.refused.expert_fp16 import_plan.refused.both");
    CHECK(refused("--tensor-model-parallel-size 2 --num-experts 4") == "import_plan.refused.expert_sequence");
    CHECK(refused("--expert-model-parallel-size 4 --num-experts 4 --tensor-model-parallel-size 4 --sequence-parallel") ==
          "import_plan.refused.expert_world");
    CHECK(refused("--expert-model-parallel-size 4 --num-experts 4 --tensor-model-parallel-size 4 --sequence-parallel "
                  "--expert-tensor-parallel-size 1") == "");
    CHECK(refused("--tensor-model-parallel-size 8 --num-attention-heads 12 --hidden-size 768") == "import_plan.refused.heads");
    CHECK(refused("--seq-length 1024") == "import_plan.refused.positions");
    CHECK(refused("--num-layers lots") == "import_plan.refused.number");
    CHECK(refused("--num-layers --bf16") == "import_plan.refused.no_value");
    CHECK(refused("--num-layers lots --micro-batch-size few --fp16 --bf16") ==
          "import_plan.refused.number import_plan.refused.number import_plan.refused.both");
    CHECK(refused("--num-query-groups None") == "");
    CHECK(refused("--num-layers '24 '") == "");
    CHECK(refused("--num-layers %d --hidden-size {} --num-experts @EXPERTS@") == "");  // a program in Python, or sed, fills them in
    CHECK(refused("--tensor-model-parallel-size 4 --num-attention-heads 12 --hidden-size 768 --group-query-attention --num-query-groups "
                  "6") == "import_plan.refused.groups");
    CHECK(refused("--context-parallel-size 2 --seq-length 510") == "import_plan.refused.sequence");
    CHECK(refused("--fp16 --bf16") == "import_plan.refused.both");
    CHECK(refused("--tensor-model-parallel-size 2 --tp-comm-overlap") == "import_plan.refused.tensor_overlap");
    CHECK(refused("--use-distributed-optimizer --overlap-param-gather") == "import_plan.refused.gather_gradients");
}

TEST_CASE("a script: what is asked for because a word stands where a number is to be is answered like what is not there") {
    const std::string text = "torchrun --nproc_per_node 8 p.py " + kSizes + "--micro-batch-size one";
    CHECK(script(text)["jobs"][0]["asked"].dump() == R"(["micro_batch"])");
    const Json job = script(text, {{"micro_batch", "2"}})["jobs"][0];
    CHECK(job["asked"].empty());
    CHECK(job["job"]["micro_batch"] == 2);
    CHECK(ids(job["refused"]) == "import_plan.refused.number");  // it stops there all the same
    const Json whole = script("torchrun --nproc_per_node 8 p.py " + kSizes + "--micro-batch-size 4", {{"micro_batch", "2"}})["jobs"][0];
    CHECK(whole["job"]["micro_batch"] == 4);
}

TEST_CASE("Megatron-LM: words of a tokenizer without one, and of a SentencePiece file that is not Llama 2's") {
    const std::string sizes =
        "torchrun --nproc_per_node 8 p.py --num-layers 7 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
        "--max-position-embeddings 1024 --micro-batch-size 1 --global-batch-size 8 --bf16 ";
    CHECK(job_of(sizes + "--tokenizer-type NullTokenizer --vocab-size 32768")["job"]["model"]["vocab_size"] == 32'769);
    CHECK(
        job_of(sizes + "--tokenizer-type Llama2Tokenizer --tokenizer-model /x/Llama-2-7b/tokenizer.model")["job"]["model"]["vocab_size"] ==
        32'000);
    const Json other = job_of(sizes + "--tokenizer-type Llama2Tokenizer --tokenizer-model /x/llm-jp-tokenizer-100k.ver3.0b1.model");
    CHECK(other["asked"].dump() == R"(["vocab_size"])");
}

TEST_CASE("keys that are there and say nothing are not there") {
    const Json job = first_of(
        "base_model = \"meta-llama/Meta-Llama-3-8B\"\nsequence_len = 2048\nmicro_batch_size = 1\nfsdp = null\n"
        "fsdp_config = null\ndeepspeed = null\n");
    CHECK(some(job, {"zero"}) == R"(zero="none")");
    const Json second = first_of(
        "base_model = \"meta-llama/Meta-Llama-3-8B\"\nsequence_len = 2048\nmicro_batch_size = 1\n"
        "fsdp_config.fsdp_version = 2\nfsdp_config.fsdp_reshard_after_forward = true\n"
        "fsdp_config.fsdp_activation_checkpointing = true\n");
    CHECK(fate(job, "fsdp_config") == "no_number 5");
    CHECK(some(second, {"zero", "recompute"}) == R"(zero="weights" recompute="full")");
}

TEST_CASE("MaxText: FSDP takes what the other axes leave, and arguments may stand beside the file") {
    const Json job = job_of(
        "python3 MaxText/train.py MaxText/configs/base.yml model_name=llama2-7b per_device_batch_size=4 "
        "max_target_length=2048 remat_policy=full");
    CHECK(some(job, {"zero", "recompute", "sequence_length"}) == R"(zero="weights" recompute="full" sequence_length=2048)");
    CHECK(job["job"]["model"] == "llama-2-7b");
    CHECK(some(first_of("per_device_batch_size = 1\nmax_target_length = 128\nici_fsdp_parallelism = 1\nici_data_parallelism = 8\n"),
               {"zero"}) == R"(zero="none")");
}

TEST_CASE("torchtitan: a flavor that is the size of the model of that name") {
    const std::string rest = "training.seq_len = 4096\ntraining.local_batch_size = 1\n";
    CHECK(first_of("model.name = \"deepseek_v3\"\nmodel.flavor = \"671B\"\n" + rest)["job"]["model"] == "deepseek-v3");
    CHECK(first_of("model.name = \"deepseek_v3\"\nmodel.flavor = \"20B\"\n" + rest)["asked"].dump().find("model") != std::string::npos);
}

TEST_CASE("gpt-neox: what none of its files says is not made up") {
    CHECK(some(first_of("pipe-parallel-size = 1\nnum-layers = 4\nhidden-size = 64\n"), {"precision"}) == "precision=?");
}

TEST_CASE("a script: GPUs of several nodes by their numbers, and those of a launcher around the launcher") {
    const auto gpus = [](const std::string& start) { return some(job_of(start + " " + kSizes), {"gpus", "gpus_per_node"}); };
    CHECK(gpus("deepspeed --include worker-1:0,1@worker-2:6,7 pretrain_gpt.py") == "gpus=4 gpus_per_node=2");
    CHECK(gpus("deepspeed --include worker-1:0,1@worker-2:7 pretrain_gpt.py") == "gpus=3 gpus_per_node=?");
    CHECK(gpus("deepspeed --include worker-1@worker-2 pretrain_gpt.py") == "gpus=? gpus_per_node=?");
    const std::string relax = "ray job submit -- python3 -m relax.entrypoints.train --resource ";
    CHECK(gpus(relax + R"('{"sft": [1, 0], "actor": [1, 8]}')") == "gpus=8 gpus_per_node=?");
    CHECK(gpus(relax + R"('{"actor": [2, 8]}')") == "gpus=? gpus_per_node=?");
    const std::string mason = "python mason.py --cluster a/b --gpus 8 ";
    const std::string sft =
        "-- accelerate launch --num_processes 8 open_instruct/finetune.py --model_name_or_path Qwen/Qwen3-8B --max_seq_length 4096 "
        "--per_device_train_batch_size 1 --gradient_accumulation_steps 2\n";
    CHECK(some(job_of(mason + "--num_nodes 4 " + sft), {"gpus", "global_batch"}) == "gpus=32 global_batch=64");
    CHECK(some(job_of(mason + sft), {"gpus", "global_batch"}) == "gpus=8 global_batch=16");
}

TEST_CASE("a script: two ways with other programs keep the launcher's last number") {
    const std::string text =
        "if [ \"$1\" = convert ]; then\n  ARGS=\"deepspeed --num_nodes 2 --num_gpus 8 convert.py --save a\"\nelse\n"
        "  ARGS=\"deepspeed --num_nodes 2 --num_gpus 8 train.py --load a\"\nfi\neval \"$ARGS " +
        kSizes + "\"\n";
    CHECK(some(job_of(text), {"gpus", "micro_batch"}) == "gpus=16 micro_batch=1");
}

TEST_CASE("a script: a model below a folder that is not said") {
    const auto model = [](const std::string& path) {
        return some(job_of("torchrun --nproc_per_node 8 train.py --model_name_or_path " + path + " --per_device_train_batch_size 1\n"),
                    {"model"});
    };
    CHECK(model("$ROOT/Llama-2-70b-hf") == R"(model="llama-2-70b")");
    CHECK(model("$ROOT/ours") == "model=?");
    CHECK(model("$ROOT/Llama-2-70b-$KIND") == "model=?");
}

TEST_CASE("a script: sizes by the names of Argonne's helper, which writes the command") {
    const Json job = job_of(
        "#PBS -l select=8\nexport NLAYERS=4\nexport HIDDEN=512\nexport FFN_HIDDEN_SIZE=$((3*HIDDEN))\nexport HEADS=8\nexport "
        "NUM_KV_HEAD=4\n"
        "export SEQ=1024\nexport PP=4\nexport TP=1\nexport MICRO_BATCH=1\nexport ZERO_STAGE=1\n"
        "extra=\"--num-experts 4 --topk 2 --moe-expert-parallel-size 4\"\nsource ALCF/helpers.sh\nsetup $extra\neval \"${run_cmd[*]}\"\n",
        {{"vocab_size", "1000"}});
    CHECK(some(job, {"pipeline_parallel", "expert_parallel", "micro_batch", "sequence_length", "zero", "gpus"}) ==
          R"(pipeline_parallel=4 expert_parallel=4 micro_batch=1 sequence_length=1024 zero="optimizer" gpus=?)");
    REQUIRE(job["job"].contains("model"));
    CHECK(job["job"]["model"]["intermediate_size"] == 1536);
    CHECK(job["job"]["model"]["num_key_value_heads"] == 4);
}
