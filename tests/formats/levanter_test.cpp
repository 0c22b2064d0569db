// Levanter's files: trainer.py (TrainerConfig), main/train_lm.py and models/ of its releases up to 2025.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {
const std::string kLevanter =
    "model.type = \"llama\"\nmodel.hidden_dim = 4096\nmodel.intermediate_dim = 14336\nmodel.num_layers = 32\nmodel.num_heads = 32\n"
    "model.num_kv_heads = 8\nmodel.seq_len = 4096\ndata.tokenizer = \"meta-llama/Meta-Llama-3.1-8B\"\n"
    "trainer.mp = \"p=f32,c=bfloat16\"\ntrainer.train_batch_size = 256\ntrainer.num_train_steps = 1000\n";
}

TEST_CASE("Levanter: a batch over all devices, which are FSDP") {
    const Json job = read_settings_of(kLevanter + "trainer.per_device_parallelism = 2\n", {{"gpus", "64"}})["jobs"][0];
    CHECK(job["title"] == "Levanter");
    CHECK(some(job, {"gpus", "sequence_length", "micro_batch", "global_batch", "precision", "zero", "recompute"}) ==
          R"(gpus=64 sequence_length=4096 micro_batch=2 global_batch=256 precision="bf16" zero="weights" recompute="full")");
    CHECK(job["job"]["model"]["vocab_size"] == 128'256);
    CHECK(job["job"]["model"]["intermediate_size"] == 14'336);
    CHECK(job["job"]["token_budget"] == 1'000 * 256 * 4'096);
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    // All at once, over the devices that an axis of the model leaves.
    const auto set = [](const std::string& more) { return read_settings_of(kLevanter + more, {{"gpus", "64"}})["jobs"][0]; };
    CHECK(some(set("trainer.per_device_parallelism = -1\ntrainer.model_axis_size = 4\n"), {"micro_batch", "tensor_parallel"}) ==
          "micro_batch=16 tensor_parallel=4");
    CHECK(some(set("trainer.replica_dcn_axis_size = 2\ntrainer.fsdp_axis = \"embed\"\n"), {"shard_replicas", "zero"}) ==
          R"(shard_replicas=2 zero="weights")");
    CHECK(some(set("trainer.fsdp_axis = null\n"), {"zero"}) == R"(zero="none")");
    CHECK(some(set("model.gradient_checkpointing = false\n"), {"recompute"}) == R"(recompute="none")");
    CHECK(set("model.gradient_checkpointing = \"nested\"\n")["notes"].dump().find("nested") != std::string::npos);
    CHECK(set("optimizer.type = \"sophia-h\"\n")["notes"].dump().find("sophia") != std::string::npos);
    CHECK(some(set("optimizer.type = \"muon\"\n"), {"optimizer"}) == R"(optimizer="muon")");
    CHECK(first_of(kLevanter)["asked"].dump() == R"(["gpus","micro_batch"])");
}

TEST_CASE("Levanter: models by types that are known, or by their place; policies of numbers") {
    const std::string rest = "trainer.train_batch_size = 64\ntrainer.per_device_parallelism = 4\n";
    const Json small = first_of(
        "model.type = \"gpt2\"\nmodel.seq_len = 1024\nmodel.hidden_dim = 512\nmodel.num_heads = 8\ndata.vocab_size = 1000\n" + rest);
    CHECK(small["job"]["model"]["intermediate_size"] == 2'048);
    CHECK(ids(small["notes"]) == "import_plan.note.fp32_named");
    CHECK(some(small, {"precision"}) == "precision=?");
    const Json other = first_of("model.type = \"backpack-gpt2\"\nmodel.seq_len = 1024\n" + rest);
    CHECK(other["asked"].dump().find("model") != std::string::npos);
    CHECK(fate(other, "model.type") == "unknown 1");
    const Json named =
        first_of("initialize_from_hf = \"meta-llama/Llama-2-7b-hf\"\nmodel.type = \"llama\"\ntrain_seq_len = 2048\nlora.r = 16\n" + rest);
    CHECK(some(named, {"model", "sequence_length", "trained", "lora_rank"}) ==
          R"(model="llama-2-7b" sequence_length=2048 trained="lora" lora_rank=16)");
}
