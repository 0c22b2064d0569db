// How long a run is to be, as its own settings say it.
#include <doctest/doctest.h>

#include "formats/settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("steps, sequences or tokens of a run are its token budget") {
    const auto megatron = [](const std::string& length) {
        return first_of_script(
            "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 "
            "--max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 512 --bf16 --vocab-size 50304 " +
            length + "\n");
    };
    const Json steps = megatron("--train-iters 500000");
    CHECK(steps["job"]["token_budget"] == 500'000.0 * 512 * 2'048);
    CHECK(fate(steps, "--train-iters") == "used 1");
    CHECK(megatron("--train-samples 1000000")["job"]["token_budget"] == 1e6 * 2'048);
    CHECK(!megatron("--train-iters $ITERS")["job"].contains("token_budget"));
    CHECK(!megatron("--train-iters 0")["job"].contains("token_budget"));
    CHECK(!megatron("--lr-decay-iters 9")["job"].contains("token_budget"));
    // of Transformers' Trainer, where -1 is its "not set"; without a batch nothing is known
    const auto trainer = [](const char* more) {
        return first_of(std::string("model_name_or_path = \"Qwen/Qwen2.5-7B\"\nmax_seq_length = 1024\nlearning_rate = 1e-5\n") + more);
    };
    CHECK(trainer("per_device_train_batch_size = 2\ngradient_accumulation_steps = 4\nmax_steps = -1\n")["job"].value("token_budget", 0) ==
          0);
    CHECK(fate(trainer("per_device_train_batch_size = 2\nmax_steps = 100\n"), "max_steps") == "no_number 5");
    // a schedule's length is not the run's
    const std::string nemo =
        "trainer.devices = 8\ntrainer.num_nodes = 1\nmodel.micro_batch_size = 1\nmodel.global_batch_size = 32\nmodel.encoder_seq_length = "
        "4096\n"
        "model.num_layers = 32\nmodel.hidden_size = 4096\nmodel.ffn_hidden_size = 11008\nmodel.num_attention_heads = 32\n"
        "model.tensor_model_parallel_size = 2\nmodel.optim.sched.max_steps = 7\n";
    CHECK(!first_of(nemo)["job"].contains("token_budget"));
    CHECK(first_of(nemo + "trainer.max_steps = 100\n")["job"]["token_budget"] == 100.0 * 32 * 4'096);
}

TEST_CASE("epochs of a data set, and adapters without a length, have no token budget until the reader says one") {
    const auto axolotl = [](const std::string& more) {
        return first_of(
            "base_model = \"meta-llama/Llama-3.1-8B\"\nsequence_len = 4096\nmicro_batch_size = 2\n"
            "gradient_accumulation_steps = 4\nlearning_rate = 2e-4\n" +
            more);
    };
    for (const char* const unsaid : {"num_epochs = 4\n", "adapter = \"lora\"\nlora_r = 8\nlora_target_linear = true\n"})
        CHECK(axolotl(unsaid)["job"]["token_budget"] == 0);
    CHECK(!axolotl("num_epochs = 4\nmax_steps = 100\n")["job"].contains("token_budget"));  // until the GPUs say the batch
    CHECK(axolotl("")["job"]["token_budget"] == 0);                                        // its own is an epoch
    const auto trainer = [](const std::string& more) {
        return first_of_script(
            "deepspeed --num_gpus 8 train.py --deepspeed ds_z3.json --model_name_or_path meta-llama/Llama-2-7b-hf "
            "--per_device_train_batch_size 4 --gradient_accumulation_steps 4 --model_max_length 2048 --bf16 True " +
            more + "\n")["job"];
    };
    CHECK(trainer("")["token_budget"] == 0);  // TrainingArguments' own are three epochs
    CHECK(trainer("--max_steps 100")["token_budget"] == 100.0 * 128 * 2'048);
}

TEST_CASE("of several lengths of a run the first that it meets ends it") {
    const auto run = [](const std::string& length) {
        return first_of_script(
            "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 "
            "--max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 512 --fp16 --vocab-size 50304 --deepspeed "
            "--zero-stage 1 " +
            length + "\n");
    };
    const Json tokens = run("--train-samples 292968750 --train-tokens 300000000000");
    CHECK(tokens["job"]["token_budget"] == 3e11);
    CHECK(fate(tokens, "--train-tokens") == "used 1");
    CHECK(fate(tokens, "--train-samples") == "no_number 1");
    CHECK(run("--train-samples 1000000 --train-tokens 300000000000")["job"]["token_budget"] == 1e6 * 2'048);
}

TEST_CASE("a length that is open may be the shortest: none is taken") {
    const std::string start =
        "deepspeed pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 "
        "--max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 512 --fp16 --vocab-size 50304 --train-samples 1000000 ";
    CHECK(first_of_script(start + "--train-tokens 300000000\n")["job"]["token_budget"] == 3e8);
    CHECK(!first_of_script(start + "--train-tokens $1\n")["job"].contains("token_budget"));
}

TEST_CASE("llm-foundry and MaxText: their own words for a run's length") {
    const auto foundry = [](const char* length) {
        return first_of(std::string("max_seq_len = 2048\nmodel.name = \"mpt_causal_lm\"\nmodel.d_model = 768\nmodel.n_heads = 12\n"
                                    "model.n_layers = 12\nglobal_train_batch_size = 256\ndevice_train_microbatch_size = 8\n"
                                    "precision = \"amp_bf16\"\nmax_duration = ") +
                        length + "\n")["job"];
    };
    CHECK(foundry("\"4800ba\"")["token_budget"] == 4'800.0 * 256 * 2'048);
    CHECK(foundry("\"1_000_000sp\"")["token_budget"] == 1e6 * 2'048);
    CHECK(foundry("\"2e9tok\"")["token_budget"] == 2e9);
    for (const char* none : {"3", "\"0.5dur\"", "\"ba\""}) CHECK(!foundry(none).contains("token_budget"));
    CHECK(foundry("\"1ep\"")["token_budget"] == 0);

    const std::string maxtext =
        "model_name = \"llama3-8b\"\nper_device_batch_size = 4\nmax_target_length = 8192\nici_fsdp_parallelism = 8\ndcn_data_parallelism = "
        "1\nsteps = 50\n";
    const Json run = first_of(maxtext);
    CHECK(run["job"]["token_budget"] == 50.0 * 32 * 8'192);
    CHECK(fate(run, "steps") == "used 6");
}
