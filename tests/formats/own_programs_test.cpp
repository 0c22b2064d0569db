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
