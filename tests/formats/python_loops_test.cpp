// Loops in PyTorch around FSDP, and Lightning's trainer: short forms of our own of what public programs do.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {
Json on_8(const std::string& text) { return read_answer({{"text", text}, {"set", {{"gpus", "8"}}}}); }
}  // namespace

TEST_CASE("loops of one's own around FSDP: what stands there literally") {
    const std::string model =
        "import torch\nfrom torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy, MixedPrecision, CPUOffload\n"
        "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-2-7b-hf\")\n";
    const std::string rest =
        "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)\ntrain_loader = DataLoader(dataset, batch_size=2, sampler=sampler)\n";
    const Json answer = on_8(model +
                             "model = FSDP(model, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP, device_id=0,\n"
                             "    mixed_precision=MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))\n" +
                             rest);
    CHECK(answer["format"] == "transformers");
    const Json job = answer["jobs"][0];
    CHECK(
        some(job, {"model", "gpus", "zero", "fully_shard", "micro_batch", "precision", "global_batch", "weights_offload"}) ==
        R"(model="llama-2-7b" gpus=8 zero="gradients" fully_shard="off" micro_batch=2 precision="bf16" global_batch=? weights_offload=?)");
    CHECK(job["asked"].dump() == R"(["sequence_length","global_batch"])");
    CHECK(fate(job, "sharding_strategy") == "used 5");
    const auto read = [&](const std::string& wrap) { return on_8(model + wrap + rest)["jobs"][0]; };
    CHECK(some(read("model = FSDP(model, cpu_offload=CPUOffload(offload_params=True))\n"), {"zero", "weights_offload"}) ==
          R"(zero="weights" weights_offload=true)");
    CHECK(some(read("model = FSDP(model, sharding_strategy=ShardingStrategy.NO_SHARD, cpu_offload=CPUOffload(offload_params=False))\n"),
               {"zero", "weights_offload"}) == R"(zero="none" weights_offload=?)");
    CHECK(some(read("policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)\nfor layer in model.model.layers:\n"
                    "    fully_shard(layer, mp_policy=policy, reshard_after_forward=False)\nfully_shard(model, mp_policy=policy)\n"),
               {"zero", "fully_shard", "precision"}) ==
          R"(zero="gradients" fully_shard=? precision="bf16")");  // its second version is the Trainer's own
    // Weights that were loaded in 16 bits are updated so: nothing makes others of them.
    std::string loaded = model;
    loaded.replace(loaded.find("-hf\")"), 5, "-hf\", torch_dtype=torch.bfloat16)");
    CHECK(some(on_8(loaded + "fully_shard(model)\n" + rest)["jobs"][0], {"precision", "master_weights", "moments"}) ==
          R"(precision="bf16" master_weights="off" moments="16-bit")");
    CHECK(some(job, {"master_weights"}) == "master_weights=?");
    // What hangs on an argument is asked for.
    const Json open = read("model = FSDP(model, sharding_strategy=strategies[args.strategy])\n");
    CHECK(fate(open, "sharding_strategy") == "open 5");
    CHECK(some(open, {"zero"}) == "zero=?");
}

TEST_CASE("Lightning: its trainer, and the strategies that it knows") {
    const std::string model =
        "import lightning.pytorch as pl\nfrom lightning.pytorch.strategies import FSDPStrategy, DeepSpeedStrategy\n"
        "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-2-7b-hf\")\n"
        "train_loader = DataLoader(dataset, batch_size=4)\n";
    const auto read = [&](const std::string& trainer) { return first_of_script(model + trainer); };
    const Json job = read(
        "trainer = pl.Trainer(accelerator=\"gpu\", devices=8, num_nodes=2, precision=\"bf16-mixed\", max_epochs=3,\n"
        "    strategy=FSDPStrategy(sharding_strategy=\"FULL_SHARD\"), accumulate_grad_batches=4)\n");
    CHECK(some(job, {"gpus", "zero", "micro_batch", "global_batch", "precision"}) ==
          R"(gpus=16 zero="weights" micro_batch=4 global_batch=256 precision="bf16")");
    CHECK(job["asked"].dump() == R"(["sequence_length"])");
    CHECK(some(read("trainer = pl.Trainer(devices=4, strategy=\"ddp\", precision=\"16-mixed\")\n"), {"gpus", "zero", "precision"}) ==
          R"(gpus=4 zero="none" precision="fp16")");
    CHECK(some(read("trainer = pl.Trainer(devices=8, strategy=\"deepspeed_stage_3_offload\", precision=\"bf16-mixed\")\n"),
               {"zero", "optimizer_offload"}) == R"(zero="weights" optimizer_offload=1.0)");
    CHECK(some(read("trainer = pl.Trainer(devices=8, strategy=DeepSpeedStrategy(stage=2, offload_optimizer=True))\n"),
               {"zero", "optimizer_offload"}) == R"(zero="gradients" optimizer_offload=1.0)");
    CHECK(read("trainer = pl.Trainer(devices=\"auto\", strategy=\"fsdp\")\n")["asked"].dump().find("gpus") != std::string::npos);
}
