// Further whole public files, of forks and of files in other files: what stood in them and was not read, each once, in a small text of
// our own.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

const std::string kSmall =
    "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 --vocab-size 1000 "
    "--micro-batch-size 2 ";

}  // namespace

TEST_CASE("a page in Markdown: the command between its fences, with its line") {
    const Json job = first_of_script("# A run\n\n- name: `it's`\n```bash\npython pretrain_gpt.py " + kSmall +
                                     "--bf16 --tensor-model-parallel-size 2\n```\n\nThat's it: `TP=4`.\n");
    CHECK(some(job, {"tensor_parallel", "micro_batch"}) == "tensor_parallel=2 micro_batch=2");
    CHECK(job["line"] == 5);
}

TEST_CASE("a page in Markdown: settings between its fences are a file, called after the remark above them") {
    const std::string page =
        "# A run\n\n```text\n$ accelerate launch sft.py --config configs/b.yaml\n```\n\n```yaml\n# configs/a.yaml\n"
        "model_name_or_path: Qwen/Qwen2.5-7B\nmax_length: 1024\nper_device_train_batch_size: 2\n```\n\n```yaml\n"
        "# configs/b.yaml\nmodel_name_or_path: Qwen/Qwen2.5-7B\nmax_length: 4096\nper_device_train_batch_size: 4\n```\n";
    CHECK(some(first_of_script(page), {"model", "sequence_length", "micro_batch"}) ==
          R"(model="qwen2.5-7b" sequence_length=4096 micro_batch=4)");
    const std::string block = "```yaml\nbase_model: Qwen/Qwen2.5-7B\nadapter: lora\nlora_r: 32\nmicro_batch_size: 4\n```\n";
    CHECK(some(first_of_script("A run.\n\n" + block), {"lora_rank", "micro_batch"}) == "lora_rank=32 micro_batch=4");
    // A part of the file, perhaps: what the file says is not known.
    const Json part = first_of_script(block + "\n```sh\naxolotl train runs/lora.yaml\n```\n");
    CHECK(some(part, {"lora_rank", "micro_batch"}) == "lora_rank=? micro_batch=?");
}

TEST_CASE("a script that writes several files: each command has the one that it names") {
    const std::string two =
        "cat > b.yml <<EOF\nbase_model: Qwen/Qwen2.5-7B\nsequence_len: 4096\nmicro_batch_size: 2\nEOF\n"
        "cat > a.yml <<EOF\nbase_model: Qwen/Qwen2.5-7B\nsequence_len: 1024\nmicro_batch_size: 8\nEOF\n";
    CHECK(some(first_of_script(two + "axolotl train b.yml\n"), {"sequence_length", "micro_batch"}) == "sequence_length=4096 micro_batch=2");
    CHECK(some(first_of_script(two + "axolotl train ./a.yml\n"), {"sequence_length", "micro_batch"}) ==
          "sequence_length=1024 micro_batch=8");
    CHECK(some(first_of_script(two + "axolotl train c.yml --num-epochs 1\n"), {"sequence_length"}) == "sequence_length=?");
    const Json job = first_of_script("axolotl train other.yml --base-model Qwen/Qwen2.5-7B --micro-batch-size 4\n");  // it says the rest
    CHECK(some(job, {"micro_batch", "zero", "recompute"}) == "micro_batch=4 zero=? recompute=?");
    CHECK(ids(job["notes"]) == "import_plan.note.file");
    const std::string stages =
        "cat > z3.json <<EOF\n{\"zero_optimization\": {\"stage\": 3}}\nEOF\n"
        "cat > z2.json <<EOF\n{\"zero_optimization\": {\"stage\": 2}}\nEOF\n"
        "deepspeed --num_gpus 8 train.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1 "
        "--max_seq_length 512 --deepspeed ";
    CHECK(some(first_of_script(stages + "z2.json\n"), {"zero"}) == R"(zero="gradients")");
    CHECK(some(first_of_script(stages + "z3.json\n"), {"zero"}) == R"(zero="weights")");
    const std::string launchers =
        "cat > fsdp.yaml <<EOF\ndistributed_type: FSDP\nnum_processes: 4\nEOF\n"
        "cat > ddp.yaml <<EOF\ndistributed_type: MULTI_GPU\nnum_processes: 8\nEOF\n"
        "accelerate launch --config_file ";
    const std::string program = " sft.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1 --max_seq_length 512\n";
    CHECK(some(first_of_script(launchers + "ddp.yaml" + program), {"gpus", "zero"}) == R"(gpus=8 zero="none")");
    CHECK(some(first_of_script(launchers + "fsdp.yaml" + program), {"gpus"}) == "gpus=4");
}

TEST_CASE("composer: a program of somebody's own, the GPUs that it sees, and the model of a file that is not here") {
    const std::string batch = " global_train_batch_size=32 device_train_microbatch_size=8\n";
    CHECK(some(first_of_script("export CUDA_VISIBLE_DEVICES=4,5,6,7\ncomposer train_sparse.py yamls/dense.yaml "
                               "model_name_or_path=/models/Llama-2-13b-hf" +
                               batch),
               {"model", "gpus", "global_batch", "micro_batch"}) == R"(model="llama-2-13b" gpus=4 global_batch=32 micro_batch=8)");
    CHECK(some(first_of_script("export WORLD_SIZE=16\ncomposer train/train.py train/yamls/pretrain/mpt-7b.yaml max_seq_len=2048" + batch),
               {"gpus", "sequence_length"}) == "gpus=16 sequence_length=2048");
}

TEST_CASE("Fujitsu's scheduler: a process for each GPU, and one on every node tells nothing") {
    const auto gpus = [](const std::string& asked) {
        return some(first_of_script(asked + "mpirun -np $N python pretrain_gpt.py " + kSmall), {"gpus"});
    };
    CHECK(gpus("#PJM -L node=4\n#PJM --mpi proc=32\n") == "gpus=32");
    CHECK(gpus("#PJM -L node=4\n#PJM --mpi proc=4\n") == "gpus=?");
}

TEST_CASE("a script elsewhere that srun starts: what is set before is for it, and nothing else is taken for said") {
    const Json job = first_of_script(
        "#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\nexport ARGS=\"--num-layers 8 --hidden-size 512 --num-attention-heads 8 "
        "--seq-length 512 --max-position-embeddings 512 --vocab-size 1000\"\nexport TP=4\nexport PP=2\nexport MICRO_BATCH_SIZE=1\n"
        "srun --ntasks-per-node=1 bash \"$HERE/base.sh\"\n");
    CHECK(some(job, {"tensor_parallel", "pipeline_parallel", "micro_batch", "gpus", "zero"}) ==
          "tensor_parallel=4 pipeline_parallel=2 micro_batch=1 gpus=16 zero=?");
}

TEST_CASE("Megatron-DeepSpeed: a part of the optimizer on the CPU, in a document whose text a condition prints") {
    const auto part = [](const std::string& before) {
        return some(
            first_of_script(before +
                            "cat <<EOT > ds.json\n{\"train_batch_size\": 4, \"train_micro_batch_size_per_gpu\": 2,\n"
                            "\"zero_optimization\": {\"stage\": 3, \"sub_group_size\": 8e8$(if [ \"$OFF\" = \"true\" ]; then echo ',\n"
                            "\"offload_optimizer\": {\"device\": \"cpu\", \"ratio\": 0.5}'; fi)}, \"fp16\": {\"enabled\": true}}\nEOT\n"
                            "deepspeed --num_nodes 1 --num_gpus 2 pretrain_gpt.py " +
                            kSmall + "--fp16 --deepspeed --deepspeed_config ds.json --zero-stage 3 --no-pipeline-parallel " +
                            (before == "OFF=true\n" ? "--cpu-optimizer\n" : "\n")),
            {"optimizer_offload", "zero"});
    };
    CHECK(part("OFF=true\n") == R"(optimizer_offload=0.5 zero="weights")");
    CHECK(part("OFF=false\n") == R"(optimizer_offload=? zero="weights")");
    CHECK(part("") == R"(optimizer_offload=? zero="weights")");
}

TEST_CASE("Megatron-DeepSpeed of 2020: stages and steps of a batch by their old names") {
    const Json job = first_of_script(
        "deepspeed --num_nodes 2 --num_gpus 4 pretrain_gpt2.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
        "--max-position-embeddings 512 --vocab-size 1000 --batch-size 2 --gas 3 --model-parallel-size 2 --pipe-parallel-size 2 --fp16 "
        "--deepspeed --deepspeed_config x.json --zero-stage 0 --checkpoint-activations --partition-activations --synchronize-each-layer\n");
    CHECK(some(job, {"tensor_parallel", "pipeline_parallel", "micro_batch", "global_batch", "gpus"}) ==
          "tensor_parallel=2 pipeline_parallel=2 micro_batch=2 global_batch=12 gpus=8");
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    CHECK(job["notes"].dump().find("partition_activations") != std::string::npos);
}

TEST_CASE("gpt-neox: all GPUs by their number, which tells the batch too") {
    const Json job = first_of(
        "pipe-parallel-size = 1\nmodel-parallel-size = 2\nnum-layers = 6\nhidden-size = 512\nnum-attention-heads = 8\n"
        "seq-length = 512\nmax-position-embeddings = 512\ntrain_micro_batch_size_per_gpu = 4\ngradient_accumulation_steps = 3\n"
        "global_num_gpus = 8\n");
    CHECK(some(job, {"gpus", "global_batch"}) == "gpus=8 global_batch=48");
}

TEST_CASE("nanotron: GPT-3 of forks, and experts by the names of LlaMoE and of Qwen2") {
    const auto model = [](const std::string& lines) {
        std::string all =
            "parallelism.dp = 2\nparallelism.tp = 1\nparallelism.pp = 1\ntokens.micro_batch_size = 1\n"
            "tokens.sequence_length = 512\n";
        for (const char* size : {"hidden_size = 512", "num_attention_heads = 8", "num_hidden_layers = 4", "vocab_size = 1000",
                                 "intermediate_size = 2048", "max_position_embeddings = 512"})
            all += std::string("model.model_config.") + size + "\n";
        const Json job = first_of(all + lines);
        return job["job"].contains("model") ? job["job"]["model"] : Json(nullptr);
    };
    const std::string prefix = "model.model_config.";
    const std::string gpt = prefix + "sinusoidal_position_embedding = true\n" + prefix + "activation_function = \"gelu\"\n" + prefix +
                            "layer_norm_epsilon = 1e-5\n";
    const Json plain = model(gpt);
    CHECK(plain["model_type"] == "starcoder2");
    CHECK(plain["num_key_value_heads"] == 8);
    const Json forked = model(gpt + prefix + "moe_num_experts = 4\n" + prefix + "num_experts_per_tok = 2\n" + prefix + "moe_glu = false\n");
    CHECK(forked["num_local_experts"] == 4);
    CHECK(forked["gated_mlp"] == false);
    CHECK(forked["layer_norm"] == true);
    const Json llamoe =
        model(prefix + "is_llamoe_config = true\n" + prefix + "moe_num_experts = 8\n" + prefix + "num_experts_per_tok = 1\n");
    CHECK(llamoe["model_type"] == "mixtral");
    CHECK(llamoe["num_experts_per_tok"] == 1);
    const std::string qwen =
        prefix + "is_qwen2_config = true\n" + prefix + "moe_config.num_experts = 16\n" + prefix + "moe_config.top_k = 4\n";
    CHECK(model(qwen)["num_local_experts"] == 16);
    CHECK(model(qwen)["num_experts_per_tok"] == 4);
    CHECK(model(qwen + prefix + "moe_config.layers = [-1]\n")["num_local_experts"] == 16);
    CHECK(model(qwen + prefix + "moe_config.layers = [1, 3]\n").is_null());
    CHECK(model(qwen + prefix + "moe_config.enable_shared_expert = true\n").is_null());
}

TEST_CASE("Python: a call gives values to arguments without a default; Megatron-Bridge's adapter by its scheme") {
    const std::string recipe =
        "from nemo.collections.llm.recipes.llama3_8b import pretrain_recipe\n"
        "def configure(kind: str, nodes: int, mbs: int, tp: int):\n"
        "    recipe = pretrain_recipe(performance_mode=True)\n    recipe.data.micro_batch_size = mbs\n"
        "    recipe.trainer.num_nodes = nodes\n    recipe.trainer.devices = 8\n"
        "    recipe.trainer.strategy.tensor_model_parallel_size = tp\n    return recipe\n"
        "if __name__ == \"__main__\":\n    args = own_args()\n    nodes = 2\n    mbs = 1\n";
    const auto read = [&](const std::string& calls) {
        return some(first_of_script(recipe + calls), {"gpus", "micro_batch", "tensor_parallel"});
    };
    CHECK(read("    recipe = configure(args.kind, nodes, mbs, args.tp)\n") == "gpus=16 micro_batch=1 tensor_parallel=?");
    CHECK(read("    a = configure(args.kind, nodes, mbs, 2)\n    b = configure(args.kind, nodes, mbs, 4)\n") ==
          "gpus=16 micro_batch=1 tensor_parallel=?");
    const std::string bridge =
        "from megatron.bridge.recipes.common import _peft_common\ncfg = _peft_common()\ncfg.peft = default_peft_config(\"lora\")\n"
        "cfg.model.tensor_model_parallel_size = 1\ncfg.train.global_batch_size = 8\ncfg.train.micro_batch_size = 1\n";
    CHECK(some(first_of_script(bridge), {"trained", "lora_rank"}) == R"(trained="lora" lora_rank=32)");
}

TEST_CASE("Python: several names in one line are set one by one, and the last value is not the last name's alone") {
    const std::string recipe =
        "from nemo.collections.llm.recipes.llama3_8b import pretrain_recipe\ndevices, tp = 4, 2\nsizes = dict(a=1, b=2)\n"
        "recipe = pretrain_recipe(num_nodes=1)\nrecipe.trainer.devices = devices\n"
        "recipe.trainer.strategy.tensor_model_parallel_size = tp\nfirst, recipe.data.micro_batch_size = max(1, 2), tp * 3\n";
    CHECK(some(first_of_script(recipe), {"gpus", "tensor_parallel", "micro_batch"}) == "gpus=4 tensor_parallel=2 micro_batch=6");
}

TEST_CASE("a script: the places of a list, numbers in a row, and the value of a name that another one holds") {
    const auto degrees = [](const std::string& before, const std::string& tp, const std::string& pp) {
        return some(first_of_script(before + "python pretrain_gpt.py " + kSmall + "--bf16 --tensor-model-parallel-size " + tp +
                                    " --pipeline-model-parallel-size " + pp + "\n" + (before.find("do ") < before.size() ? "done\n" : "")),
                    {"tensor_parallel", "pipeline_parallel"});
    };
    CHECK(degrees("tp=( 2 )\npp=( 4 )\nfor k in \"${!tp[@]}\"; do \n", "${tp[$k]}", "${pp[$k]}") ==
          "tensor_parallel=2 pipeline_parallel=4");
    CHECK(degrees("tp=( 2 4 )\nfor k in ${!tp[*]}; do \n", "${tp[$k]}", "1") == "tensor_parallel=? pipeline_parallel=1");
    CHECK(degrees("M=2\nfor k in $(seq 1 1 $M); do \n", "$k", "2") == "tensor_parallel=? pipeline_parallel=2");
    CHECK(degrees("M=4\nfor k in $(seq 4 2 $M); do \n", "$k", "$(seq 2 2)") == "tensor_parallel=4 pipeline_parallel=2");
    CHECK(degrees("TP_BIG=4\nNAME=TP_BIG\n", "${!NAME}", "1") == "tensor_parallel=4 pipeline_parallel=1");
    CHECK(degrees("NAME=$1\n", "${!NAME}", "1") == "tensor_parallel=? pipeline_parallel=1");
    CHECK(degrees("declare -A by=([a]=2)\nfor k in \"${!by[@]}\"; do \n", "${by[$k]}", "1") == "tensor_parallel=2 pipeline_parallel=1");
}

TEST_CASE("a script: a launcher that a substitution starts, and lists beside a program that trains nothing") {
    const Json job = first_of_script("srun bash -c `python -m torch.distributed.run --nproc_per_node 4 pretrain_gpt.py " + kSmall +
                                     "--bf16 --tensor-model-parallel-size 2 \\\n`\n");
    CHECK(some(job, {"tensor_parallel", "gpus", "micro_batch"}) == "tensor_parallel=2 gpus=4 micro_batch=2");
    const Json sent =
        first_of_script("JOB=$(sbatch --nodes=2 --gpus-per-node=8 --parsable <<EOF\n#!/bin/bash\nsrun python pretrain_gpt.py " + kSmall +
                        "--bf16\nEOF\n)\necho $JOB\n");
    CHECK(some(sent, {"gpus", "micro_batch"}) == "gpus=16 micro_batch=2");
    const std::string lists = "ARGS=(\n" + kSmall + "\n--tensor-model-parallel-size 2 )\n";
    CHECK(some(first_of_script("python tools/preprocess_data.py --input a.json --workers 4\n" + lists), {"tensor_parallel"}) ==
          "tensor_parallel=2");
    const Json idle = json(api::import_plan(
        Json({{"text", lists + "python tools/run_text_generation_server.py ${ARGS[@]}\n"}, {"set", Json::object()}}).dump()));
    CHECK(idle["ok"] == false);
}

TEST_CASE("sizes that do not go together: what stops the program is said") {
    const auto refused = [](const std::string& lines) { return ids(first_of(lines)["refused"]); };
    CHECK(refused("pipe-parallel-size = 1\nmodel-parallel-size = 1\nnum-layers = 6\nhidden-size = 513\nnum-attention-heads = 6\n"
                  "seq-length = 512\nmax-position-embeddings = 512\ntrain_micro_batch_size_per_gpu = 4\n") == "problem.hidden_divides");
    CHECK(refused("base_emb_dim = 510\nbase_num_query_heads = 8\nbase_num_kv_heads = 3\nbase_mlp_dim = 2048\n"
                  "base_num_decoder_layers = 4\nhead_dim = 64\nvocab_size = 1000\n") != "");
}

TEST_CASE("MaxText: a file of a model alone, of its configs/models") {
    const Json job = first_of(
        "base_emb_dim = 512\nbase_num_query_heads = 8\nbase_num_kv_heads = 4\nbase_mlp_dim = 1536\nbase_num_decoder_layers = 6\n"
        "head_dim = 64\nvocab_size = 1000\ndecoder_block = \"qwen3\"\nlogits_via_embedding = true\n");
    CHECK(job["job"]["model"]["num_hidden_layers"] == 6);
    CHECK(job["job"]["model"]["intermediate_size"] == 1536);
}

TEST_CASE("accelerate: FSDP's keys without its name are the arguments with it") {
    const std::string file = "distributed_type = \"FSDP\"\ncompute_environment = \"LOCAL_MACHINE\"\nnum_processes = 8\n";
    CHECK(some(first_of(file + "fsdp_config.sharding_strategy = 2\nfsdp_config.offload_params = true\n"), {"zero", "optimizer_offload"}) ==
          R"(zero="gradients" optimizer_offload=1.0)");
}

TEST_CASE("a model with windows and another depth: its family says anew which layers have them") {
    const std::string foundry =
        "model.name = \"hf_causal_lm\"\nmodel.pretrained_model_name_or_path = \"mistralai/Mistral-7B-v0.1\"\nmax_seq_len = 512\n"
        "global_train_batch_size = 8\ndevice_train_microbatch_size = 2\nmodel.config_overrides.num_hidden_layers = 4\n";
    for (const std::string window :
         {"", "model.config_overrides.sliding_window = \"512\"\n", "model.config_overrides.sliding_window = null\n"}) {
        const Json model = first_of(foundry + window)["job"]["model"];
        CHECK(model["num_hidden_layers"] == 4);
        CHECK(model.value("sliding_window", Json()) == (window.empty() ? Json(4'096) : window.ends_with("null\n") ? Json() : Json(512)));
    }
    const Json recipe = first_of_script(
        "from megatron.bridge.recipes.gpt_oss import gpt_oss_20b_pretrain_config\ncfg = gpt_oss_20b_pretrain_config()\n"
        "cfg.model.num_layers = 4\ncfg.train.micro_batch_size = 1\n");
    CHECK(recipe["job"]["model"]["num_hidden_layers"] == 4);
}

TEST_CASE("DeepSpeed: a stage from a variable, stage 0 in bf16, and a model by its id") {
    const auto trained = [](const std::string& stage, const std::string& type) {
        return first_of_script("STAGE=" + stage + "\ncat <<EOT > ds.json\n{\"zero_optimization\": {\"stage\": $STAGE},\n\"" + type +
                               "\": {\"enabled\": true}}\nEOT\ndeepspeed --num_gpus 2 main.py --model_id meta-llama/Meta-Llama-3-8B " +
                               "--per_device_train_batch_size 4 --" + type + " --deepspeed --deepspeed_config ds.json\n");
    };
    CHECK(some(trained("0", "fp16"), {"zero", "model"}) == R"(zero="none" model="llama-3-8b")");
    CHECK(some(trained("3", "fp16"), {"zero"}) == R"(zero="weights")");
    CHECK(some(trained("$1", "fp16"), {"zero"}) == "zero=?");
    const Json divided = first_of("zero_optimization.stage = 0\nbf16.enabled = true\ntrain_micro_batch_size_per_gpu = 2\n");
    CHECK(some(divided, {"zero"}) == R"(zero="optimizer")");
    CHECK(ids(divided["notes"]) == "import_plan.note.bf16_sharded");
}

TEST_CASE("a script: a list that read takes from a text, and how many there are where that is open") {
    const auto gpus = [](const std::string& before) {
        return some(first_of_script(before + "torchrun --nproc_per_node ${#parts[@]} pretrain_gpt.py " + kSmall + "--bf16\n"), {"gpus"});
    };
    CHECK(gpus("ids=\"${CUDA_VISIBLE_DEVICES:-0,1,4,6}\"\nIFS=',' read -ra parts <<< \"$ids\"\n") == "gpus=4");
    CHECK(gpus("read -r -a parts <<< \"a b  c\"\n") == "gpus=3");
    CHECK(gpus("IFS=, read -ra parts <<< \"$1\"\n") == "gpus=?");
    CHECK(gpus("parts=($(scontrol show hostnames))\n") == "gpus=?");
    CHECK(gpus("parts=(0 1)\n") == "gpus=2");
    CHECK(some(first_of_script("IFS=: read -r TP PP <<< 2:4\ntorchrun --nproc_per_node 8 pretrain_gpt.py " + kSmall +
                               "--bf16 --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP\n"),
               {"tensor_parallel", "pipeline_parallel"}) == "tensor_parallel=2 pipeline_parallel=4");
}

TEST_CASE("a Trainer's program: layers computed again, by the shorter names of forks") {
    for (const std::string name : {"grad_checkpoint True", "use_grad_ckpt", "enable_gradient_checkpointing", "activation_checkpointing"})
        CHECK(some(first_of_script("torchrun --nproc_per_node 2 train.py --model_name_or_path Qwen/Qwen2.5-7B "
                                   "--per_device_train_batch_size 1 --bf16 --" +
                                   name + "\n"),
                   {"recompute"}) == R"(recompute="full")");
}

TEST_CASE("a script: a function's own variables, a shell of its own, unset, let and the older sums") {
    const auto tensor = [](const std::string& before) {
        return some(first_of_script(before + "\npython pretrain_gpt.py " + kSmall + "--bf16 --tensor-model-parallel-size $TP\n"),
                    {"tensor_parallel"});
    };
    CHECK(tensor("TP=8\nsay() { local TP=2; }\nsay") == "tensor_parallel=8");
    CHECK(tensor("TP=8\nsay() { TP=2; }\nsay") == "tensor_parallel=2");
    CHECK(tensor("TP=2\n(TP=4; cd /tmp)") == "tensor_parallel=2");
    CHECK(tensor("TP=2\n{ TP=4; }") == "tensor_parallel=4");
    CHECK(tensor("TP=4\nunset TP\nTP=${TP:-8}") == "tensor_parallel=8");
    CHECK(tensor("let TP=2*2") == "tensor_parallel=4");
    CHECK(tensor("TP=$[2*2]") == "tensor_parallel=4");
    CHECK(tensor("A=(1 2 4)\nTP=${A[-1]}") == "tensor_parallel=4");
}

TEST_CASE("Python: a value that is multiplied where it stands, and one that a loop takes") {
    const auto tensor = [](const std::string& before) {
        return some(first_of_script("from nemo.collections.llm.recipes.llama3_8b import pretrain_recipe\n" + before +
                                    "\nrecipe = pretrain_recipe(num_nodes=1)\nrecipe.trainer.strategy.tensor_model_parallel_size = tp\n"),
                    {"tensor_parallel"});
    };
    CHECK(tensor("tp = 2\ntp *= 2") == "tensor_parallel=4");
    CHECK(tensor("tp = 16\ntp //= 4") == "tensor_parallel=4");
    CHECK(tensor("tp = 2\ntp *= 1 + 1") != "tensor_parallel=3");
    CHECK(tensor("tp = 8\ntp += 4 if big else 8") == "tensor_parallel=?");
    CHECK(tensor("tp = 8\ntp **= 2") == "tensor_parallel=?");
    CHECK(tensor("tp = 8\nfor tp in (1, 2):\n    pass") == "tensor_parallel=?");
    const std::string bridge = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\ncfg = llama3_8b_pretrain_config()\n";
    CHECK(some(first_of_script(bridge + "cfg.train.micro_batch_size = 2\ncfg.train.micro_batch_size *= 2\n"), {"micro_batch"}) ==
          "micro_batch=4");
}

TEST_CASE("a script: what ends with a shell of its own and with a function, though it was not set before") {
    const auto tensor = [](const std::string& before) {
        return some(first_of_script(before + "\npython pretrain_gpt.py " + kSmall + "--bf16 --tensor-model-parallel-size ${TP:-2}\n"),
                    {"tensor_parallel"});
    };
    for (const std::string before :
         {"( TP=8 )", "say() { local TP=8; }\nsay", "say() { declare -i TP=8; }\nsay", "bash -c 'TP=8; date'",
          "date | while read line; do TP=8; done", "say() { TP=8; }\nsay | tee log", "TP=8\n(unset TP)\nunset TP",
          "say() { local TP; TP=8; }\nsay", "( ( TP=4 ); TP=8 )", "out() { in; }\nin() { local TP=8; }\nout"})
        CHECK(tensor(before) == "tensor_parallel=2");
    for (const std::string before :
         {"say() { declare -g TP=8; }\nsay", "{ TP=8; }", "say() { export TP=8; }\nsay", "TP=8\n(unset TP)",
          "TP=8\nsay() { local TP; TP=4; }\nsay", "declare TP=8", "cat > env.sh <<EOF\nTP=8\nEOF\nsource env.sh"})
        CHECK(tensor(before) == "tensor_parallel=8");
    CHECK(tensor("say() { TP=8; return; TP=4; }\nsay") == "tensor_parallel=8");
    CHECK(tensor("TP=8\nsay() { if [ -z $TP ]; then TP=4; return; fi; [ $TP = 8 ] && return; TP=2; }\nsay") == "tensor_parallel=8");
    CHECK(tensor("say() { if [ $NODES = 2 ]; then TP=4; return 0; fi; TP=8; }\nsay") == "tensor_parallel=?");
    CHECK(tensor("say() { TP=8; in; }\nin() { return; }\nsay") == "tensor_parallel=8");
    CHECK(tensor("say() { ( return ); TP=8; }\nsay") == "tensor_parallel=8");
    CHECK(tensor("TP=8\nreturn") == "tensor_parallel=8");
    const std::string start = "python pretrain_gpt.py " + kSmall + "--bf16 --tensor-model-parallel-size ${TP:-2}";
    CHECK(some(first_of_script("( TP=4; " + start + " )\n"), {"tensor_parallel"}) == "tensor_parallel=4");
    CHECK(some(first_of_script("say() { local TP=4; " + start + "; }\nsay\n"), {"tensor_parallel"}) == "tensor_parallel=4");
    CHECK(some(first_of_script("TP=8\nsay() { local TP; " + start + "; }\nsay\n"), {"tensor_parallel"}) == "tensor_parallel=2");
    // How many GPUs there are is said where the command stands.
    CHECK(some(first_of_script("( export WORLD_SIZE=16; " + start + " )\n"), {"gpus"}) == "gpus=16");
    CHECK(some(first_of_script("WORLD_SIZE=8\n( export WORLD_SIZE=16; " + start + " )\n"), {"gpus"}) == "gpus=16");
    CHECK(some(first_of_script("( export WORLD_SIZE=16 )\n" + start + "\n"), {"gpus"}) == "gpus=?");
    CHECK(some(first_of_script("say() { local WORLD_SIZE=16; " + start + "; }\nsay\n"), {"gpus"}) == "gpus=16");
}

TEST_CASE("a script: how many GPUs aprun starts processes on, and a scheduler's short option with its number") {
    const auto gpus = [](const std::string& before, const std::string& how) {
        return some(first_of_script(before + how + "pretrain_gpt.py " + kSmall + "--bf16\n"), {"gpus", "gpus_per_node"});
    };
    CHECK(gpus("", "aprun -n 8 -N 4 --cc depth python ") == "gpus=8 gpus_per_node=4");
    CHECK(gpus("#PBS -l select=2\nNODES=$(cat $PBS_NODEFILE | uniq | wc -l)\n", "aprun -n $((NODES*4)) -N 4 python ") ==
          "gpus=8 gpus_per_node=4");
    CHECK(gpus("", "msrun --worker_num 16 --local_worker_num 8 ") == "gpus=16 gpus_per_node=8");
    CHECK(gpus("", "python3 train.py --actor-num-nodes 0 --actor-num-gpus-per-node 0 ") == "gpus=? gpus_per_node=?");
    CHECK(gpus("#SBATCH -N2\n#SBATCH --gres=gpu:8\n", "srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 ") ==
          "gpus=16 gpus_per_node=8");
}

TEST_CASE("a script: lists of arguments alone are for another one, which says the rest") {
    const Json job = first_of_script("TP=2\nCP=2\nARGS=\"" + kSmall + "--bf16\"\n");
    CHECK(some(job, {"tensor_parallel", "context_parallel", "pipeline_parallel", "zero", "precision"}) ==
          R"(tensor_parallel=2 context_parallel=2 pipeline_parallel=? zero=? precision="bf16")");
}

TEST_CASE("MaxText: arguments without a file; Megatron-Bridge: a recipe for a number of nodes") {
    CHECK(some(first_of_script("python3 -m maxtext.trainers.pre_train.train run_name=a max_target_length=512 per_device_batch_size=4 "
                               "model_name=llama3.1-8b dtype=bfloat16\n"),
               {"sequence_length", "micro_batch", "model"}) == R"(sequence_length=512 micro_batch=4 model="llama-3.1-8b")");
    const Json job = first_of_script(
        "from megatron.bridge.recipes.deepseek import deepseek_v3_pretrain_config_32nodes\n"
        "cfg = deepseek_v3_pretrain_config_32nodes()\ncfg.model.num_layers = 20\ncfg.train.micro_batch_size = 1\n");
    CHECK(job["job"]["model"].value("num_hidden_layers", 0) == 20);
    CHECK(job["job"]["model"].value("n_routed_experts", 0) == 256);
    for (const std::string layers : {"\"([0]*1+[1]*19)\"", "[0] + [1] * 19", "[0] * 1 + [1, 1] * 9 + [1]"}) {
        const Json dense = first_of_script(
            "from megatron.bridge.recipes.deepseek import deepseek_v3_pretrain_config\n"
            "cfg = deepseek_v3_pretrain_config()\ncfg.model.num_layers = 20\n"
            "cfg.train.micro_batch_size = 1\ncfg.model.moe_layer_freq = " +
            layers + "\n");
        CHECK(dense["job"]["model"].value("first_k_dense_replace", 0) == 1);
        CHECK(fate(dense, "cfg.model.moe_layer_freq") == "used 5");
    }
}
