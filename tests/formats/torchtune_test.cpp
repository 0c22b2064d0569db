// torchtune's recipes and LitGPT's configurations: shortened to what counts, values read by hand.
#include "settings.h"
#include "support.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::first_of_script;
using tests::ids;
using tests::some;

// pytorch/torchtune, recipes/configs/llama3_1/8B_lora_single_device.yaml (2943c61e7 and before)
static const std::string kLora = R"(model._component_ = "torchtune.models.llama3_1.lora_llama3_1_8b"
model.lora_attn_modules = ["q_proj", "v_proj", "output_proj"]
model.apply_lora_to_mlp = false
model.apply_lora_to_output = false
model.lora_rank = 16
model.lora_alpha = 32
model.lora_dropout = 0.0
tokenizer._component_ = "torchtune.models.llama3.llama3_tokenizer"
tokenizer.max_seq_len = null
dataset._component_ = "torchtune.datasets.instruct_dataset"
batch_size = 2
optimizer._component_ = "torch.optim.AdamW"
optimizer.fused = true
optimizer.lr = "1e-4"
loss._component_ = "torchtune.modules.loss.CEWithChunkedOutputLoss"
epochs = 5
gradient_accumulation_steps = 16
compile = false
device = "cuda"
dtype = "bf16"
enable_activation_checkpointing = true
enable_activation_offloading = false
profiler.enabled = false
)";

TEST_CASE("torchtune: LoRA, QLoRA") {
    const Json lora = first_of(kLora, {{"gpus", "1"}, {"sequence_length", "2048"}});
    CHECK(
        some(lora, {"model", "framework", "gpus", "micro_batch", "global_batch", "sequence_length", "zero", "recompute", "loss",
                    "fused_norms", "activation_fusion"}) ==
        R"(model="llama-3.1-8b" framework="pytorch" gpus=1 micro_batch=2 global_batch=32 sequence_length=2048 zero="none" recompute="full" loss="plain" fused_norms=false activation_fusion="off")");
    CHECK(
        some(lora, {"trained", "lora_rank", "lora_targets", "lora_dropout", "frozen_weights", "precision", "moments", "master_weights",
                    "gradients_in_fp32"}) ==
        R"(trained="lora" lora_rank=16 lora_targets="query,value,output" lora_dropout=? frozen_weights=? precision="bf16" moments="16-bit" master_weights="off" gradients_in_fp32=false)");
    CHECK(lora["asked"].empty());
    CHECK(lora["refused"].empty());
    CHECK(lora["notes"].empty());
    for (const Json& key : lora["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    // What no line says is asked for: the length of sequences, which the data have, and the GPUs, which the command says.
    CHECK(first_of(kLora)["asked"].dump() == R"(["gpus","sequence_length"])");
    CHECK(some(first_of(kLora + "compile = true\n", {{"gpus", "8"}}), {"loss", "fused_norms", "zero", "global_batch"}) ==
          R"(loss="te_fused" fused_norms=true zero="weights" global_batch=256)");
    // recipes/configs/llama3_1/405B_qlora.yaml: the base in four bits, the feed-forward part adapted too
    const Json four = first_of(kLora +
                                   "model._component_ = \"torchtune.models.llama3_1.qlora_llama3_1_405b\"\nmodel.apply_lora_to_mlp = "
                                   "true\nfsdp.cpu_offload = false\nbatch_size = 1\ngradient_accumulation_steps = 8\n",
                               {{"gpus", "8"}});
    CHECK(
        some(four, {"model", "frozen_weights", "lora_targets", "zero", "optimizer_offload", "global_batch"}) ==
        R"(model="llama-3.1-405b" frozen_weights="nf4" lora_targets="query,value,output,gate,up,down" zero="weights" optimizer_offload=? global_batch=64)");
    CHECK(ids(first_of(kLora + "model.use_dora = true\n")["refused"]) == "import_plan.refused.mode");
    // recipes/configs/llama3_1/8B_qat_lora.yaml, llama3_1/kd_single_device.yaml, llama3_1/8B_lora_dpo.yaml: not counted
    CHECK(ids(first_of(kLora +
                       "quantizer._component_ = \"torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer\"\n")["refused"]) ==
          "import_plan.refused.mode");
    CHECK(ids(first_of(kLora + "teacher_model._component_ = \"torchtune.models.llama3_1.llama3_1_8b\"\n")["refused"]) ==
          "import_plan.refused.mode");
    CHECK(ids(first_of(kLora + "loss._component_ = \"torchtune.rlhf.loss.DPOLoss\"\n")["refused"]) == "import_plan.refused.mode");
}

TEST_CASE("torchtune: all weights, FSDP and tensor parallelism") {
    // recipes/configs/llama3_1/70B_full.yaml (0031bfb08)
    const std::string full = R"(tokenizer.max_seq_len = null
model._component_ = "torchtune.models.llama3_1.llama3_1_70b"
checkpointer.model_type = "LLAMA3"
batch_size = 2
optimizer._component_ = "torch.optim.AdamW"
optimizer.lr = "2e-5"
optimizer.fused = true
loss._component_ = "torchtune.modules.loss.CEWithChunkedOutputLoss"
gradient_accumulation_steps = 1
enable_activation_checkpointing = true
custom_sharded_layers = ["tok_embeddings", "output"]
fsdp_cpu_offload = true
compile = false
dtype = "bf16"
)";
    CHECK(
        some(first_of(full, {{"gpus", "8"}}),
             {"model", "gpus", "micro_batch", "global_batch", "zero", "optimizer_offload", "weights_offload", "trained", "moments"}) ==
        R"(model="llama-3.1-70b" gpus=8 micro_batch=2 global_batch=16 zero="weights" optimizer_offload=1.0 weights_offload=true trained=? moments="16-bit")");
    CHECK(some(first_of(full + "fsdp_reshard_after_forward = false\n", {{"gpus", "8"}}), {"zero"}) == R"(zero="gradients")");
    // recipes/configs/llama3_1/8B_full_single_device.yaml (02d703550): each weight is updated once its gradient is there
    const std::string one = full +
                            "model._component_ = \"torchtune.models.llama3_1.llama3_1_8b\"\nfsdp_cpu_offload = null\noptimizer._component_ "
                            "= \"bitsandbytes.optim.PagedAdamW8bit\"\noptimizer_in_bwd = true\nclip_grad_norm = null\n";
    CHECK(some(first_of(one, {{"gpus", "1"}}), {"model", "moments", "optimizer_in_backward", "zero", "optimizer_offload"}) ==
          R"(model="llama-3.1-8b" moments="8-bit" optimizer_in_backward=true zero="none" optimizer_offload=?)");
    CHECK(ids(first_of(one + "gradient_accumulation_steps = 4\n")["refused"]) == "import_plan.refused.both");
    CHECK(ids(first_of(one + "clip_grad_norm = 1.0\n")["refused"]) == "import_plan.refused.both");
    CHECK(some(first_of(one + "optimizer._component_ = \"bitsandbytes.optim.PagedAdamW\"\n"), {"moments"}) == R"(moments="fp32")");
    // recipes/configs/llama4/scout_17B_16E_full.yaml (1a15a23cf): tensor parallelism with the plan that it needs
    const std::string scout = full +
                              "model._component_ = \"torchtune.models.llama4.llama4_scout_17b_16e\"\ntensor_parallel_dim = 2\n"
                              "tensor_parallel_plan._component_ = \"torchtune.models.llama4.decoder_only_tp_plan\"\nbatch_size = 1\n";
    const Json split = first_of(scout, {{"gpus", "8"}});
    CHECK(some(split, {"model", "tensor_parallel", "sequence_parallel", "global_batch"}) ==
          R"(model="llama-4-scout" tensor_parallel=2 sequence_parallel=true global_batch=4)");
    CHECK(split["refused"].empty());
    CHECK(ids(first_of(full + "tensor_parallel_dim = 2\n")["refused"]) == "import_plan.refused.needs");
    CHECK(
        some(first_of(full + "tensor_parallel_dim = 8\ntensor_parallel_plan._component_ = \"torchtune.models.llama3.base_llama_tp_plan\"\n"
                             "data_parallel_shard_dim = 2\ndata_parallel_replicate_dim = 2\n"),
             {"gpus", "shard_replicas"}) == "gpus=32 shard_replicas=2");
    CHECK(some(first_of(full + "data_parallel_shard_dim = 4\n"), {"gpus"}) == "gpus=4");
    CHECK(ids(first_of(full + "enable_activation_checkpointing = false\nenable_activation_offloading = true\n")["refused"]) ==
          "import_plan.refused.needs");
    // Sizes of one's own: recipes/configs/llama3_1/kd_single_device.yaml (0c4e4f951) has a student's
    const Json small = first_of(full +
                                "model._component_ = \"torchtune.models.llama3_1.llama3_1\"\nmodel.vocab_size = 128256\nmodel.num_layers = "
                                "16\nmodel.num_heads = 32\nmodel.num_kv_heads = 8\nmodel.embed_dim = 2048\nmodel.max_seq_len = "
                                "131072\nmodel.intermediate_dim = 8192\n");
    const Json& sizes = small["job"]["model"];
    CHECK(sizes["num_hidden_layers"] == 16);
    CHECK(sizes["hidden_size"] == 2048);
    CHECK(sizes["num_key_value_heads"] == 8);
    CHECK(sizes["intermediate_size"] == 8192);
    CHECK(sizes["tie_word_embeddings"] == false);
    // Names of its functions
    const auto named = [&](const std::string& path) {
        const Json model = first_of(full + "model._component_ = \"torchtune.models." + path + "\"\n")["job"].value("model", Json("?"));
        return model.is_string() ? model.get<std::string>() : model["_name_or_path"].get<std::string>();
    };
    CHECK(named("qwen2_5.qwen2_5_7b_instruct") == "qwen2.5-7b");
    CHECK(named("qwen2_5.lora_qwen2_5_1_5b_base") == "Qwen/Qwen2.5-1.5B");
    CHECK(named("llama3_2.lora_llama3_2_1b") == "llama-3.2-1b");
    CHECK(named("gemma2.gemma2_9b") == "gemma-2-9b");
    CHECK(named("code_llama2.code_llama2_7b") == "codellama/CodeLlama-7b-hf");
    CHECK(named("phi3.lora_phi3_mini") == "microsoft/Phi-3-mini-4k-instruct");
    CHECK(named("phi4.phi4_14b") == "phi-4");
    CHECK(named("mistral.mistral_7b") == "mistral-7b");
    CHECK(named("llama3_2_vision.llama3_2_vision_11b") == "?");
}

TEST_CASE("torchtune: its command") {
    // recipes/configs/llama3_1/70B_full.yaml, in its comments
    const Json run = first_of_script(
        "tune run --nproc_per_node 8 full_finetune_distributed --config llama3_1/70B_full checkpointer.checkpoint_dir=/x batch_size=4\n");
    CHECK(some(run, {"gpus", "micro_batch", "framework", "zero"}) == R"(gpus=8 micro_batch=4 framework=? zero=?)");
    CHECK(ids(run["notes"]) == "import_plan.note.file");
    CHECK(some(first_of_script("tune run lora_finetune_single_device --config llama3_1/8B_lora_single_device epochs=1\n"), {"gpus"}) ==
          "gpus=1");
    const Json idle = tests::json(api::import_plan(R"({"text": "tune run eleuther_eval --config eval.yaml\n", "set": {}})"));
    CHECK(idle["problems"][0]["message"]["id"] == "problem.import_idle");
}

// Lightning-AI/litgpt, config_hub/finetune/llama-3-8b/qlora.yaml (0077627db)
static const std::string kLit = R"(checkpoint_dir = "checkpoints/meta-llama/Meta-Llama-3-8B"
out_dir = "out/finetune/qlora-llama3-8b"
precision = "bf16-true"
quantize = "bnb.nf4"
devices = 1
num_nodes = 1
lora_r = 32
lora_alpha = 16
lora_dropout = 0.05
lora_query = true
lora_key = false
lora_value = true
lora_projection = false
lora_mlp = false
lora_head = false
data.class_path = "litgpt.data.Alpaca2k"
data.init_args.seed = 42
train.save_interval = 200
train.log_interval = 1
train.global_batch_size = 8
train.micro_batch_size = 2
train.lr_warmup_steps = 10
train.epochs = 2
train.max_tokens = null
train.max_seq_length = 512
train.tie_embeddings = null
eval.interval = 100
logger_name = "csv"
optimizer.class_path = "torch.optim.AdamW"
optimizer.init_args.lr = 0.0002
)";

TEST_CASE("LitGPT: LoRA, QLoRA, all weights") {
    const Json four = first_of(kLit);
    CHECK(
        some(four, {"model", "framework", "gpus", "micro_batch", "global_batch", "sequence_length", "zero", "recompute", "trained",
                    "lora_rank", "lora_targets", "lora_dropout", "frozen_weights", "moments", "master_weights"}) ==
        R"(model="llama-3-8b" framework="litgpt" gpus=1 micro_batch=2 global_batch=8 sequence_length=512 zero="none" recompute="none" trained="lora" lora_rank=32 lora_targets="query,value" lora_dropout=true frozen_weights="nf4_single" moments="16-bit" master_weights="off")");
    CHECK(four["asked"].empty());
    CHECK(four["refused"].empty());
    CHECK(four["notes"].empty());
    for (const Json& key : four["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    // finetune/lora.py: no bits on several devices, and none with mixed types
    CHECK(ids(first_of(kLit + "devices = 4\n")["refused"]) == "import_plan.refused.both");
    CHECK(ids(first_of(kLit + "precision = \"bf16-mixed\"\n")["refused"]) == "import_plan.refused.both");
    CHECK(some(first_of(kLit + "quantize = \"bnb.nf4-dq\"\nlora_mlp = true\n"), {"frozen_weights", "lora_targets"}) ==
          R"(frozen_weights="nf4" lora_targets="query,value,gate,up,down")");
    // config_hub/finetune/llama-2-7b/full.yaml (08bf15dd7)
    const Json full = first_of(R"(checkpoint_dir = "checkpoints/meta-llama/Llama-2-7b-hf"
precision = "bf16-true"
devices = 4
resume = false
train.save_interval = 200
train.global_batch_size = 64
train.micro_batch_size = 4
train.lr_warmup_steps = 25
train.max_seq_length = 512
train.learning_rate = 0.0002
eval.max_new_tokens = 100
)");
    CHECK(
        some(full, {"model", "gpus", "micro_batch", "global_batch", "zero", "recompute", "trained", "loss", "moments"}) ==
        R"(model="llama-2-7b" gpus=4 micro_batch=4 global_batch=64 zero="weights" recompute="full" trained=? loss="plain" moments="16-bit")");
    // config_hub/finetune/gemma-2b/galore.yaml (ee5f10fc6)
    CHECK(ids(first_of(kLit + "optim.optimizer = \"galore_adamw_8bit\"\n")["refused"]) == "import_plan.refused.mode");
}

TEST_CASE("LitGPT: from scratch, and its commands") {
    // config_hub/pretrain/tinystories.yaml (1f7c4592e)
    const std::string stories = R"(model_name = "stories15M"
model_config.name = "stories15M"
model_config.block_size = 256
model_config.padded_vocab_size = 32000
model_config.n_layer = 6
model_config.n_head = 6
model_config.n_query_groups = 6
model_config.n_embd = 288
model_config.head_size = 48
model_config.parallel_residual = false
model_config.bias = false
model_config.norm_class_name = "RMSNorm"
model_config.mlp_class_name = "LLaMAMLP"
model_config.intermediate_size = 768
precision = "bf16-mixed"
initial_checkpoint_dir = null
train.save_interval = 1000
train.global_batch_size = 512
train.micro_batch_size = 128
train.max_tokens = 9700000000
train.max_seq_length = 256
train.tie_embeddings = true
devices = "auto"
tokenizer_dir = "checkpoints/meta-llama/Llama-2-7b-hf"
)";
    const Json auto_devices = first_of(stories);
    CHECK(auto_devices["asked"].dump() == R"(["gpus"])");
    const Json eight = first_of(stories + "devices = 4\nnum_nodes = 2\n");
    CHECK(some(eight, {"gpus", "micro_batch", "global_batch", "sequence_length", "zero", "shard_replicas", "recompute", "moments"}) ==
          R"(gpus=8 micro_batch=128 global_batch=512 sequence_length=256 zero="weights" shard_replicas=2 recompute="none" moments=?)");
    CHECK(ids(eight["refused"]) == "import_plan.refused.batch");  // 64 sequences a device, in micro-batches of 128
    const Json& sizes = eight["job"]["model"];
    CHECK(sizes["hidden_size"] == 288);
    CHECK(sizes["intermediate_size"] == 768);
    CHECK(sizes["vocab_size"] == 32000);
    CHECK(sizes["tie_word_embeddings"] == true);
    // docs of LitGPT, tutorials/finetune_lora.md: "litgpt finetune_lora stabilityai/stablelm-base-alpha-3b --data Alpaca"
    const Json run = first_of_script(
        "litgpt finetune_lora meta-llama/Llama-3.2-1B --data Alpaca2k --train.max_seq_length 512 --train.micro_batch_size 1 "
        "--train.global_batch_size 16 --devices 2 --precision bf16-true\n");
    CHECK(some(run, {"gpus", "micro_batch", "global_batch", "sequence_length", "trained", "zero", "recompute"}) ==
          R"(gpus=2 micro_batch=1 global_batch=16 sequence_length=512 trained="lora" zero="weights" recompute="full")");
    CHECK(run["job"]["model"]["tie_word_embeddings"] == false);  // a head of its own
    const Json file = first_of_script("litgpt finetune --config configs/tiny-llama-lora.yaml --quantize bnb.nf4\n");
    CHECK(some(file, {"gpus", "frozen_weights", "micro_batch"}) == R"(gpus=? frozen_weights="nf4_single" micro_batch=?)");
    CHECK(ids(file["notes"]) == "import_plan.note.file");
    CHECK(some(first_of_script("litgpt finetune lora --checkpoint_dir checkpoints/TinyLlama/TinyLlama-1.1B-Chat-v1.0 --data JSON "
                               "--train.micro_batch_size 1 --train.global_batch_size 1 --train.epochs 1\n"),
               {"model", "gpus", "micro_batch", "global_batch", "lora_rank"}) ==
          R"(model="tinyllama-1.1b" gpus=1 micro_batch=1 global_batch=1 lora_rank=8)");
}
