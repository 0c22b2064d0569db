// DeepSpeed, llm-foundry, MaxText, gpt-neox, Megatron-DeepSpeed: files of our own, values worked by hand.
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::ids;
using tests::read_script_of;
using tests::read_settings_of;
using tests::some;

TEST_CASE("DeepSpeed: ZeRO-3 in host memory, and what the trainer says") {
    const std::string text = R"(zero_optimization.stage = 3
zero_optimization.offload_optimizer.device = "cpu"
zero_optimization.offload_param.device = "cpu"
zero_optimization.overlap_comm = true
zero_optimization.stage3_max_live_parameters = 1000000000.0
bf16.enabled = true
fp16.enabled = false
gradient_accumulation_steps = 4
train_micro_batch_size_per_gpu = 2
train_batch_size = "auto"
)";
    const Json answer = read_settings_of(text, {{"gpus", "16"}, {"sequence_length", "4096"}, {"model", "llama-3.1-8b"}});
    CHECK(answer["format"] == "deepspeed");
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"model", "gpus", "sequence_length", "micro_batch", "global_batch", "zero", "optimizer_offload", "weights_offload",
                     "precision", "framework"}) ==
          "model=\"llama-3.1-8b\" gpus=16 sequence_length=4096 micro_batch=2 global_batch=128 zero=\"weights\" optimizer_offload=1.0 "
          "weights_offload=true precision=\"bf16\" framework=\"pytorch\"");
    CHECK(ids(job["notes"]) == "");
    CHECK(job["asked"].empty());
    CHECK(first_of(text)["asked"].dump() == R"(["gpus","sequence_length","model"])");
    CHECK(fate(job, "zero_optimization.stage3_max_live_parameters") == "no_number 5");
    const Json drives = first_of(
        "train_micro_batch_size_per_gpu = 1\nzero_optimization.stage = 3\nzero_optimization.offload_optimizer.device = \"nvme\"\n"
        "zero_optimization.offload_optimizer.pipeline_read = true\nzero_optimization.offload_optimizer.pipeline_write = true\n");
    CHECK(some(drives, {"optimizer_offload", "optimizer_offload_target", "optimizer_offload_overlap"}) ==
          "optimizer_offload=1.0 optimizer_offload_target=\"nvme\" optimizer_offload_overlap=\"overlapped\"");
}

TEST_CASE("DeepSpeed: batches that contradict each other, values left to the trainer") {
    const std::string text =
        "train_batch_size = 100\ntrain_micro_batch_size_per_gpu = 4\ngradient_accumulation_steps = 2\nzero_optimization.stage = 1\n";
    CHECK(ids(first_of(text, {{"gpus", "8"}})["refused"]) == "import_plan.refused.batch");  // 4 x 2 x 8 = 64
    CHECK(
        first_of("train_batch_size = 64\ntrain_micro_batch_size_per_gpu = 4\ngradient_accumulation_steps = 2\n", {{"gpus", "8"}})["refused"]
            .empty());
    CHECK(some(first_of("train_batch_size = 64\ngradient_accumulation_steps = 2\n", {{"gpus", "8"}}), {"micro_batch"}) == "micro_batch=4");
    const Json job = first_of(
        "train_batch_size = \"auto\"\ntrain_micro_batch_size_per_gpu = \"auto\"\nzero_optimization.stage = 2\nbf16.enabled = \"auto\"\n",
        {{"gpus", "8"}});
    CHECK(some(job, {"zero", "micro_batch", "precision"}) == "zero=\"gradients\" micro_batch=? precision=?");
    CHECK(job["asked"].dump() == R"(["sequence_length","micro_batch","model"])");
    CHECK(fate(first_of("zero_optimization.stage = 7\n"), "zero_optimization.stage") == "unknown 1");
}

TEST_CASE("llm-foundry: MPT, and a model by its name") {
    const Json answer = read_settings_of(R"(variables.max_seq_len = 2048
max_seq_len = "${variables.max_seq_len}"
model.name = "mpt_causal_lm"
model.d_model = 4096
model.n_heads = 32
model.n_layers = 32
model.expansion_ratio = 4
model.max_seq_len = "${max_seq_len}"
model.vocab_size = 50368
model.no_bias = true
model.attn_config.alibi = true
device_train_microbatch_size = 8
global_train_batch_size = 512
precision = "amp_bf16"
fsdp_config.sharding_strategy = "FULL_SHARD"
fsdp_config.mixed_precision = "PURE"
fsdp_config.activation_checkpointing = true
)",
                                         {{"gpus", "64"}});
    CHECK(answer["format"] == "llm-foundry");
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"sequence_length", "micro_batch", "global_batch", "precision", "zero", "recompute", "gradients_in_fp32"}) ==
          "sequence_length=2048 micro_batch=8 global_batch=512 precision=\"bf16\" zero=\"weights\" recompute=\"full\" "
          "gradients_in_fp32=false");
    CHECK(job["job"]["model"]["intermediate_size"] == 16'384);
    CHECK(job["job"]["model"]["tie_word_embeddings"] == true);
    CHECK(!job["job"]["model"].contains("mlp_bias"));  // none, as in Llama
    const Json lora = first_of(
        "max_seq_len = 4096\nmodel.name = \"hf_causal_lm\"\nmodel.pretrained_model_name_or_path = \"meta-llama/Llama-2-7b-hf\"\n"
        "model.peft_config.r = 8\ndevice_train_microbatch_size = \"auto\"\nglobal_train_batch_size = 64\nprecision = \"amp_bf16\"\n");
    CHECK(some(lora, {"model", "micro_batch", "global_batch"}) == "model=\"llama-2-7b\" micro_batch=? global_batch=64");
    CHECK(ids(lora["refused"]) == "import_plan.refused.mode");
    CHECK(lora["asked"].dump() == R"(["gpus","micro_batch"])");
}

TEST_CASE("MaxText: axes, and batches by device") {
    const std::string text = R"(model_name = "llama3.1-70b"
per_device_batch_size = 2
max_target_length = 8192
ici_fsdp_parallelism = 8
ici_tensor_parallelism = 4
dcn_data_parallelism = 2
remat_policy = "full"
dtype = "bfloat16"
steps = 30
)";
    const Json answer = read_settings_of(text);
    CHECK(answer["format"] == "maxtext");
    const Json& job = answer["jobs"][0];
    // 8 x 4 x 2 = 64 GPUs with 2 sequences each; a group of 4 takes 8 at once
    CHECK(some(job,
               {"model", "gpus", "tensor_parallel", "zero", "sequence_length", "micro_batch", "global_batch", "recompute", "precision"}) ==
          "model=\"llama-3.1-70b\" gpus=64 tensor_parallel=4 zero=\"weights\" sequence_length=8192 micro_batch=8 global_batch=128 "
          "recompute=\"full\" precision=\"bf16\"");
    CHECK(first_of(text + "ici_fsdp_parallelism = -1\n")["asked"].dump() == R"(["gpus"])");
    const Json part = first_of(text + "per_device_batch_size = 0.25\nquantization = \"fp8\"\nremat_policy = \"minimal\"\n");
    CHECK(some(part, {"micro_batch", "global_batch", "precision", "recompute"}) ==
          "micro_batch=1 global_batch=16 precision=\"fp8\" recompute=?");
    CHECK(ids(part["notes"]) == "import_plan.note.not_counted");
    const Json sizes = first_of(R"(base_emb_dim = 4096
base_num_query_heads = 32
base_num_kv_heads = 8
base_mlp_dim = 14336
base_num_decoder_layers = 32
head_dim = 128
vocab_size = 128256
max_target_length = 2048
per_device_batch_size = 1
)");
    CHECK(sizes["job"]["model"]["intermediate_size"] == 14'336);
}

TEST_CASE("gpt-neox: widths of a gated model, degrees, batches") {
    const std::string text = R"(pipe-parallel-size = 8
model-parallel-size = 4
num-layers = 80
hidden-size = 8192
num-attention-heads = 64
num_kv_heads = 8
intermediate_size = 86016
activation = "swiglu"
norm = "rmsnorm"
pos-emb = "rotary"
no-weight-tying = true
use_bias_in_mlp = false
seq-length = 8192
max-position-embeddings = 8192
vocab_size = 128256
train_micro_batch_size_per_gpu = 1
gradient_accumulation_steps = 16
zero_optimization.stage = 1
precision = "bfloat16"
checkpoint-activations = true
checkpoint-num-layers = 1
attention-config = "[[[\"flash\"], 80]]"
)";
    const Json answer = read_settings_of(text, {{"gpus", "64"}});
    CHECK(answer["format"] == "gpt-neox");
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"model", "gpus", "tensor_parallel", "pipeline_parallel", "sequence_length", "micro_batch", "global_batch"}) ==
          "model=\"llama-3-70b\" gpus=64 tensor_parallel=4 pipeline_parallel=8 sequence_length=8192 micro_batch=1 global_batch=32");
    CHECK(some(job, {"framework", "zero", "precision", "recompute", "attention", "hidden_dropout"}) ==
          "framework=\"megatron-deepspeed\" zero=\"optimizer\" precision=\"bf16\" recompute=\"full\" attention=\"flash\" "
          "hidden_dropout=false");
    CHECK(fate(job, "intermediate_size") == "used 7");
    // 32768 / 3 = 10922, the next multiple of 256 is 11008
    const Json small = first_of(R"(pipe_parallel_size = 0
model_parallel_size = 1
num_layers = 32
hidden_size = 4096
num_attention_heads = 32
intermediate_size = 32768
activation = "swiglu"
norm = "rmsnorm"
pos_emb = "rotary"
no_weight_tying = true
use_bias_in_mlp = false
seq_length = 2048
vocab_size = 32000
train_micro_batch_size_per_gpu = 4
train_batch_size = 64
fp16.enabled = true
zero_optimization.stage = 3
)");
    CHECK(some(small, {"model", "pipeline_parallel", "global_batch", "precision", "zero"}) ==
          "model=\"llama-2-7b\" pipeline_parallel=1 global_batch=64 precision=\"fp16\" zero=\"weights\"");
}

TEST_CASE("Megatron-DeepSpeed: a script") {
    const Json answer = tests::read_answer(
        {{"text",
          "deepspeed --num_nodes 4 --num_gpus 8 pretrain_gpt.py --tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 \\\n"
          "  --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --micro-batch-size 2 --global-batch-size 64 "
          "--vocab-size 99 \\\n"
          "  --bf16 --deepspeed --deepspeed_config ds.json --zero-stage 1 --deepspeed-activation-checkpointing "
          "--checkpoint-activations\n"}});
    CHECK(answer["format"] == "megatron-deepspeed");
    CHECK(some(answer["jobs"][0],
               {"gpus", "tensor_parallel", "pipeline_parallel", "micro_batch", "global_batch", "zero", "recompute", "framework"}) ==
          "gpus=32 tensor_parallel=4 pipeline_parallel=2 micro_batch=2 global_batch=64 zero=\"optimizer\" recompute=\"full\" "
          "framework=\"megatron-deepspeed\"");
    const Json two = tests::read_answer(
        {{"text",
          "deepspeed --num_nodes 1 --num_gpus 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 "
          "--micro-batch-size 2 --vocab-size 99 --bf16 --zero-stage=3 --ds-sequence-parallel-size 4 --no-pipeline-parallel"}});
    CHECK(some(two["jobs"][0], {"zero", "context_parallel", "pipeline_parallel"}) ==
          "zero=\"weights\" context_parallel=4 pipeline_parallel=1");
}

TEST_CASE("DeepSpeed's configuration inside of a script") {
    const std::string script = R"(ZERO=2
MICRO=4
cat <<EOF > ds.json
{
  "train_micro_batch_size_per_gpu": $MICRO,
  "train_batch_size": 64,
  "zero_optimization": {"stage": ${ZERO}, "offload_optimizer": {"device": "cpu"}},
  "bf16": {"enabled": true}
}
EOF
)";
    const Json answer =
        tests::read_answer({{"text", script + "deepspeed --num_nodes 2 --num_gpus 8 train.py --deepspeed_config ds.json\n"}});
    CHECK(answer["format"] == "deepspeed");
    CHECK(some(answer["jobs"][0], {"gpus", "micro_batch", "global_batch", "zero", "optimizer_offload", "precision"}) ==
          "gpus=16 micro_batch=4 global_batch=64 zero=\"gradients\" optimizer_offload=1.0 precision=\"bf16\"");
    const Json megatron = tests::read_answer(
        {{"text", script + "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 "
                           "--vocab-size 99 --deepspeed --deepspeed_config ds.json\n"}});
    CHECK(megatron["format"] == "megatron-deepspeed");
    CHECK(some(megatron["jobs"][0], {"gpus", "micro_batch", "global_batch", "zero", "precision"}) ==
          "gpus=8 micro_batch=4 global_batch=64 zero=\"gradients\" precision=\"bf16\"");
    CHECK(megatron["jobs"][0]["asked"].empty());
    CHECK(megatron["jobs"][0]["notes"].empty());
}

TEST_CASE("MaxText: axes between slices, the mesh's own defaults, parts of a pipeline's batch") {
    const auto job = [](const std::string& rest) {
        return read_script_of("python3 MaxText/train.py MaxText/configs/base.yml model_name=llama2-7b max_target_length=4096 " + rest +
                              "\n")["jobs"][0];
    };
    CHECK(some(job("per_device_batch_size=4 dcn_data_parallelism=16 ici_fsdp_parallelism=8"),
               {"gpus", "shard_replicas", "zero", "global_batch", "recompute"}) ==
          R"(gpus=128 shard_replicas=16 zero="weights" global_batch=512 recompute="full")");
    CHECK(some(job("per_device_batch_size=1 dcn_pipeline_parallelism=8 dcn_data_parallelism=1 ici_fsdp_parallelism=8"),
               {"gpus", "pipeline_parallel"}) == "gpus=64 pipeline_parallel=8");
    const Json slices = job("per_device_batch_size=2 ici_fsdp_parallelism=8");  // how many slices nobody says
    CHECK(some(slices, {"gpus", "micro_batch"}) == "gpus=? micro_batch=2");
    CHECK(slices["asked"].dump() == R"(["gpus"])");
    CHECK(
        some(job("per_device_batch_size=2 dcn_data_parallelism=1 ici_fsdp_parallelism=2 ici_pipeline_parallelism=4 num_pipeline_repeats=8"),
             {"gpus", "micro_batch", "virtual_stages", "global_batch"}) == "gpus=8 micro_batch=2 virtual_stages=8 global_batch=16");
    CHECK(ids(job("per_device_batch_size=1 ici_fsdp_parallelism=8 base_num_decoder_layers=4")["refused"]) == "import_plan.refused.both");
    CHECK(some(job("per_device_batch_size=1 ici_fsdp_parallelism=8 override_model_config=True base_num_decoder_layers=4"), {"model"}) ==
          "model=?");
}

TEST_CASE("llm-foundry: a run of MosaicML's platform, a file elsewhere, one KV head, a model changed") {
    const std::string run =
        "compute.gpus = 16\nparameters.max_seq_len = 2048\nparameters.global_train_batch_size = 1024\n"
        "parameters.device_train_microbatch_size = 8\nparameters.precision = \"amp_bf16\"\n"
        "parameters.fsdp_config.sharding_strategy = \"FULL_SHARD\"\n";
    CHECK(some(first_of(run), {"gpus", "micro_batch", "global_batch", "zero", "precision", "sequence_length"}) ==
          R"(gpus=16 micro_batch=8 global_batch=1024 zero="weights" precision="bf16" sequence_length=2048)");
    CHECK(some(read_script_of("composer -n 8 train.py yamls/mpt-7b.yaml global_train_batch_size=256 max_seq_len=4096 "
                              "device_train_microbatch_size=4\n")["jobs"][0],
               {"gpus", "zero", "global_batch"}) == "gpus=8 zero=? global_batch=256");
    const std::string mpt =
        "max_seq_len = 2048\nglobal_train_batch_size = 64\nmodel.name = \"mpt_causal_lm\"\nmodel.d_model = 4096\nmodel.n_heads = 32\n"
        "model.n_layers = 32\nmodel.vocab_size = 50368\nmodel.max_seq_len = 2048\nmodel.attn_config.attn_type = \"multiquery_attention\"\n";
    CHECK(first_of(mpt)["job"]["model"]["num_key_value_heads"] == 1);
    const Json changed = first_of(
        "max_seq_len = 2048\nglobal_train_batch_size = 64\nmodel.name = \"hf_causal_lm\"\n"
        "model.pretrained_model_name_or_path = \"meta-llama/Llama-2-7b-hf\"\nmodel.config_overrides.num_hidden_layers = 4\n");
    CHECK(changed["job"]["model"]["num_hidden_layers"] == 4);
    CHECK(fate(changed, "model.config_overrides.num_hidden_layers") == "used 5");
}

TEST_CASE("MaxText: LoRA of its post-training, and the optimizer") {
    const auto lora = [](const std::string& said) {
        return some(
            tests::first_of_script("python3 -m maxtext.trainers.post_train.sft.train_sft model_name=qwen3-30b-a3b per_device_batch_size=1 "
                                   "max_target_length=64 ici_fsdp_parallelism=8 " +
                                   said),
            {"trained", "lora_rank", "optimizer"});
    };
    CHECK(lora("lora.enable_lora=true lora.lora_rank=8") == R"(trained="lora" lora_rank=8 optimizer=?)");
    CHECK(lora("lora.enable_lora=true") == R"(trained="lora" lora_rank=? optimizer=?)");
    CHECK(lora("lora.enable_lora=false lora.lora_rank=8 opt_type=adamw") == "trained=? lora_rank=? optimizer=?");
    CHECK(lora("opt_type=sgd") == R"(trained=? lora_rank=? optimizer="sgd")");
}
