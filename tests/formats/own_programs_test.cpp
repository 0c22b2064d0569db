// Training programs of somebody's own: what the names of their arguments say, and nothing of what they leave unsaid.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("a program that accelerate launches names a known model: its sizes are read, its silence is not") {
    const Json job = first_of_script(
        "accelerate launch --config_file zero3.yaml tune.py --model_path /models/Qwen2.5-7B-Instruct --seq-length 4096 "
        "--micro_batch_size "
        "2 "
        "--gradient-accumulate-every 8 --wandb runs\n");
    CHECK(some(job, {"model", "sequence_length", "micro_batch", "zero", "recompute"}) ==
          R"(model="qwen2.5-7b" sequence_length=4096 micro_batch=2 zero="weights" recompute=?)");
    CHECK(job["asked"].dump() == R"(["gpus"])");
    CHECK(fate(job, "--wandb") == "unknown 1");
}

TEST_CASE("names of Axolotl's file as arguments are those of another program") {
    const Json job = first_of_script(
        "python finetune.py --base_model /data/llama-2-7b-hf --batch_size 256 --micro_batch_size 8 --cutoff_len 512 --lora_r 16\n");
    CHECK(some(job, {"model", "sequence_length", "micro_batch", "global_batch", "trained", "lora_rank"}) ==
          R"(model="llama-2-7b" sequence_length=512 micro_batch=8 global_batch=256 trained="lora" lora_rank=16)");
    CHECK(ids(job["refused"]) == "");
}

TEST_CASE("a batch that may be the whole or a part is asked") {
    const Json job = first_of_script("accelerate launch train.py --model meta-llama/Llama-2-7b-hf --batch-size 4 --seq_len 1024\n");
    CHECK(some(job, {"model", "sequence_length", "micro_batch"}) == R"(model="llama-2-7b" sequence_length=1024 micro_batch=?)");
    CHECK(fate(job, "--batch-size") == "unknown 1");
}

TEST_CASE("a model that the catalogue lacks, named: its config") {
    const auto model = [](const std::string& name) {
        return first_of_script("accelerate launch train.py --model " + name + " --seq_len 1024\n")["job"]["model"];
    };
    const Json yi = model("01-ai/Yi-34B-Chat");
    CHECK((yi["num_hidden_layers"] == 60 && yi["hidden_size"] == 7168 && yi["_name_or_path"] == "01-ai/Yi-34B"));
    CHECK(model("facebook/opt-1.3b")["max_position_embeddings"] == 2048);
    const Json cut = first_of("base_model = \"01-ai/Yi-6B\"\nsequence_len = 4096\nmicro_batch_size = 1\n")["job"];
    CHECK(cut["model"]["num_key_value_heads"] == 4);
    const Json answer = json(api::estimate(Json{{"model", yi}, {"gpus", 64}}.dump()));
    CHECK(answer["ok"] == true);
}

TEST_CASE("a program of somebody's own that a launcher starts: its sequence length is read where it trains") {
    const auto read = [](const std::string& rest) { return first_of_script("torchrun --nproc_per_node 8 " + rest + "\n"); };
    CHECK(some(read("train.py --model_name_or_path ./mine --max_length 2048 --bf16"), {"gpus", "sequence_length", "precision", "zero"}) ==
          R"(gpus=8 sequence_length=2048 precision="bf16" zero=?)");
    CHECK(some(read("main.py --block_size 1024 --lr 1e-4"), {"sequence_length"}) == "sequence_length=1024");
    const Json two = read("train.py --max_seq_length 1024 --max_length 512 --lr 1e-4");  // one may be that of answers
    CHECK(some(two, {"sequence_length"}) == "sequence_length=?");
    CHECK(fate(two, "--max_length") == "unknown 1");
    CHECK(two["asked"].dump() == R"(["sequence_length","micro_batch","model"])");
}

TEST_CASE("GPUs that Slurm's lines alone say") {
    const auto gpus = [](const std::string& lines, const std::string& launcher) {
        return some(first_of_script("#!/bin/bash\n" + lines + launcher +
                                    " train.py --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 2 "
                                    "--max_seq_length 2048\n"),
                    {"gpus"});
    };
    CHECK(gpus("#SBATCH --gres=gpu:a100:4\n", "deepspeed") == "gpus=4");
    CHECK(gpus("#SBATCH --gpus-per-node=4\n", "accelerate launch") == "gpus=4");
    CHECK(gpus("#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\n", "deepspeed") == "gpus=8");
    CHECK(gpus("#SBATCH --gres=gpu:4\n", "torchrun --nproc_per_node=$SLURM_GPUS_ON_NODE") == "gpus=4");
    CHECK(gpus("#SBATCH --gres=gpu:4\n", "torchrun") == "gpus=?");  // it starts one process
    CHECK(gpus("#SBATCH --gres=gpu:4\n#SBATCH --ntasks=8\n", "deepspeed") == "gpus=?");
    CHECK(gpus("#SBATCH --gres=gpu:4\n", "accelerate launch --config_file x.yaml") == "gpus=?");
}

TEST_CASE("what trains nothing is named") {
    const auto of = [](const std::string& text) {
        const Json answer = json(api::import_plan(Json{{"text", text}}.dump()));
        if (answer["ok"] == true) return std::string("read");
        const Json& message = answer["problems"][0]["message"];
        return message["id"].get<std::string>() + " " + message.value("args", Json::object()).value("program", "");
    };
    const std::string id = "problem.import_idle ";
    CHECK(of("vllm serve meta-llama/Llama-3.1-70B --tensor-parallel-size 4\n") == id + "vLLM");
    CHECK(of("from vllm import LLM\nllm = LLM(model=\"a\", tensor_parallel_size=4)\n") == id + "vLLM");
    CHECK(of("accelerate launch -m lm_eval --model hf --batch_size 8\n") == id + "lm-evaluation-harness");
    CHECK(of("torchrun --nproc_per_node 4 eval_all.py --model meta-llama/Llama-2-7b-hf --max_length 2048\n") == id + "eval_all.py");
    CHECK(of("deepspeed inference.py --model meta-llama/Llama-2-7b-hf --max_length 2048\n") == id + "inference.py");
    CHECK(of("deepspeed train_and_eval.py --model meta-llama/Llama-2-7b-hf --max_length 2048\n") == "read");
    CHECK(of("python prepare.py\npython eval.py\n") == "problem.import_format ");
    CHECK(of("vllm serve a\naccelerate launch train.py --model meta-llama/Llama-2-7b-hf --max_length 2048\n") == "read");
}

TEST_CASE("a program that writes its own arguments") {
    const Json job = first_of_script(
        "import sys\ndef run(fast):\n    sys.argv += [\"--num-layers\", \"24\", \"--hidden-size\", \"1024\"]\n"
        "    sys.argv.extend([\"--num-attention-heads=16\", \"--seq-length\", \"2048\", \"--micro-batch-size\", \"2\"])\n"
        "    if fast:\n        sys.argv.append(\"--bf16\")\n    sys.argv += [\"--vocab-size\", \"1000\"]\n    main(sys.argv[1])\n");
    CHECK(some(job, {"sequence_length", "micro_batch", "precision"}) == "sequence_length=2048 micro_batch=2 precision=?");
    CHECK(job["job"]["model"]["num_hidden_layers"] == 24);
    CHECK(job["job"]["model"]["vocab_size"] == 1'000);
    CHECK(fate(job, "--bf16").starts_with("open"));
}

TEST_CASE("what a template leaves out is asked") {
    const Json script = read_script_of(
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
        "--max-position-embeddings 512 --micro-batch-size {mbs} --global-batch-size {{ gbs }} --vocab-size -1 --bf16\n");
    CHECK(script["questions"].size() == 1);
    CHECK(script["questions"][0]["name"] == "mbs");
    CHECK(script["jobs"][0]["asked"].dump() == R"(["vocab_size"])");
    const Json settings = read_settings_of(
        "base_model = \"meta-llama/Llama-2-7b-hf\"\nsequence_len = \"{{ length }}\"\nmicro_batch_size = \"???\"\n"
        "gradient_accumulation_steps = 1\nlearning_rate = 0.1\n");
    CHECK(settings["questions"][0]["name"] == "length");
    CHECK(some(settings["jobs"][0], {"sequence_length", "micro_batch"}) == "sequence_length=? micro_batch=?");
    CHECK(settings["jobs"][0]["asked"].dump() == R"(["gpus","micro_batch"])");
}

TEST_CASE("nanotron: settings without a number stand elsewhere in its first releases") {
    const Json job = first_of(
        "parallelism.dp = 2\nparallelism.tp = 2\nparallelism.pp = 1\ntokens.micro_batch_size = 1\nmodel.seed = 1\n"
        "learning_rate_scheduler.lr_decay_steps = 10\ndata.dataset.fim_rate = 0.5\nmodel.tokenizer_name_or_path = \"a\"\n");
    for (const char* key :
         {"model.seed", "learning_rate_scheduler.lr_decay_steps", "data.dataset.fim_rate", "model.tokenizer_name_or_path"})
        CHECK_MESSAGE(fate(job, key).starts_with("no_number"), key);
}

TEST_CASE("nanotron: a vocabulary of -1 is asked, and the other sizes stay") {
    const std::string text =
        "parallelism.dp = 2\nparallelism.tp = 1\nparallelism.pp = 1\ntokens.micro_batch_size = 4\ntokens.sequence_length = 2048\n"
        "model.model_config.hidden_size = 1024\nmodel.model_config.intermediate_size = 4096\nmodel.model_config.num_attention_heads = 16\n"
        "model.model_config.num_hidden_layers = 24\nmodel.model_config.num_key_value_heads = 16\nmodel.model_config.vocab_size = -1\n";
    const Json asked = first_of(text);
    CHECK(asked["asked"].dump() == R"(["vocab_size"])");
    CHECK(fate(asked, "model.model_config.hidden_size") == "used 6");
    CHECK(first_of(text, {{"vocab_size", "5000"}})["job"]["model"]["vocab_size"] == 5'000);
}

TEST_CASE("a program of inference with Megatron-LM's arguments trains nothing; one that is told a learning rate does") {
    const std::string run =
        "torchrun --nproc_per_node 1 inference.py --num-layers 28 --hidden-size 4096 --num-attention-heads 32 --seq-length 8192 "
        "--max-position-embeddings 8192 --micro-batch-size 1 --vocab-size 1000 --fp16";
    const Json answer = json(api::import_plan(Json{{"text", run + "\n"}}.dump()));
    REQUIRE(answer["ok"] == false);
    CHECK(answer["problems"][0]["message"]["id"] == "problem.import_idle");
    CHECK(some(first_of_script(run + " --lr 1e-4\n"), {"sequence_length"}) == "sequence_length=8192");
}

TEST_CASE("a program of somebody's own: its GPUs by its own names, its batch by nobody's, its training of preferences refused") {
    const Json job = first_of_script(
        "python ./train_one_node.py --model-size 1b --devices 8 --num-nodes 2 --seq-length 8192 --micro-batch-size 2 --lr 1e-4\n");
    CHECK(some(job, {"gpus", "sequence_length", "micro_batch", "global_batch"}) ==
          "gpus=16 sequence_length=8192 micro_batch=2 global_batch=?");
    CHECK(job["asked"].dump() == R"(["global_batch","model"])");
    const Json preferred = first_of_script(
        "deepspeed --num_gpus 8 --module own.offline --max_length 2048 --learning_rate 1e-6 --preference_data a --zero-stage 3\n");
    CHECK(ids(preferred["refused"]) == "import_plan.refused.mode");
    CHECK(some(preferred, {"zero", "sequence_length"}) == R"(zero="weights" sequence_length=2048)");
}

TEST_CASE("a program whose name says that it trains on preferences or by rewards is refused") {
    const std::string run = " --num_processes 4 --mixed_precision bf16 ";
    CHECK(ids(first_of_script("accelerate launch" + run + "online_dpo.py --config a.yml\n")["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of_script("accelerate launch" + run + "upload.py --config a.yml\n")["refused"]) == "");
}

TEST_CASE("NeMo 1: an optimizer that is named, and shares nothing out") {
    const std::string run = "python megatron_gpt_pretraining.py --config-name gpt_5b.yaml trainer.devices=1 trainer.num_nodes=1 ";
    CHECK(some(first_of_script(run + "model.optim.name=fused_adam\n"), {"zero"}) == R"(zero="none")");
    CHECK(some(first_of_script(run + "model.optim.name=distributed_fused_adam\n"), {"zero"}) == R"(zero="optimizer")");
    CHECK(some(first_of_script(run + "model.micro_batch_size=1\n"), {"zero"}) == "zero=?");
}
