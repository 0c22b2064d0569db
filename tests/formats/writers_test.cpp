// Configurations for the other frameworks: one of each worked by hand.
#include <string>

#include "formats/formats.h"
#include "settings.h"

using namespace fourfold;
using tests::json;
using tests::said;

namespace {

// Llama 3.1 70B on 64 GPUs: eight copies on eight GPUs each, 16 micro-batches in each pipeline.
Json usual() {
    return json(
        R"({"model": "llama-3.1-70b", "gpus": 64, "sequence_length": 8192, "global_batch": 128, "micro_batch": 1, "tensor_parallel": 4,
            "pipeline_parallel": 2, "context_parallel": 1, "virtual_stages": 1, "schedule": "1f1b", "layout": "equal", "zero": "weights",
            "recompute": "full", "recompute_layers": 1, "moments": "fp32", "sequence_parallel": true, "expert_parallel": 1,
            "expert_tensor_parallel": 1})");
}
Json exported(const char* format, const char* changes = "{}") {
    Json request = usual();
    request.update(json(changes));
    request = json(api::estimate(request.dump()))["job"];
    request["format"] = format;
    const Json answer = json(api::export_plan(request.dump()));
    CHECK(tests::answer_defect(answer, "export_plan") == "");
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer;
}
std::string text_of(const Json& answer) { return answer["text"].get<std::string>(); }
// "framework zero": fields that the file lacks; words of what is no field.
std::string lacks(const Json& answer) {
    std::string all;
    for (const Json& text : answer["left_out"]) {
        const bool field = text.contains("args") && text["args"].contains("field");
        all +=
            (all.empty() ? "" : " ") + (field ? text["args"]["field"]["id"].get<std::string>().substr(6) : text["id"].get<std::string>());
    }
    return all;
}

}  // namespace

TEST_CASE("torchtitan: the whole file") {
    const Json answer = exported("torchtitan");
    CHECK(text_of(answer) == R"([model]
name = "llama3"
flavor = "70B"

[training]
seq_len = 8192
local_batch_size = 16
global_batch_size = 128
mixed_precision_param = "bfloat16"
mixed_precision_reduce = "float32"

[parallelism]
pipeline_parallel_microbatch_size = 1
data_parallel_replicate_degree = 1
data_parallel_shard_degree = 8
fsdp_reshard_after_forward = "always"
tensor_parallel_degree = 4
context_parallel_degree = 1
pipeline_parallel_degree = 2
pipeline_parallel_schedule = "1F1B"
pipeline_parallel_layers_per_stage = 40
pipeline_parallel_first_stage_less_layers = 0
pipeline_parallel_last_stage_less_layers = 0

[activation_checkpoint]
mode = "full"
)");
    CHECK(lacks(answer) == "framework");
    CHECK(answer["yours"].empty());
    const Json more = exported("torchtitan", R"({"virtual_stages": 4, "virtual_stage_group": 8, "zero": "none", "precision": "fp8",
        "pipeline_parallel": 4, "tensor_overlap": true, "recompute": "selective"})");
    for (const char* line : {"pipeline_parallel_schedule = \"Interleaved1F1B\"\n", "pipeline_parallel_layers_per_stage = 5\n",
                             "data_parallel_replicate_degree = 1\n", "data_parallel_shard_degree = 4\n",
                             "mode = \"selective\"\nselective_ac_option = \"op\"\n", "converters = [\"quantize.linear.float8\"]\n",
                             "enable_async_tensor_parallel = true\n\n", "[compile]\nenable = true\n"})
        CHECK_MESSAGE(text_of(more).find(line) != std::string::npos, text_of(more));
    CHECK(lacks(more) == "zero recompute export.left_out.fp8_recipe framework overlap_pipeline virtual_stage_group");
}

TEST_CASE("a file never recomputes less than its plan") {
    struct Written {
        const char *format, *changes, *line, *lacks;
    };
    const Written all[] = {
        {"torchtitan", R"({"framework": "pytorch", "recompute": "operations"})", "mode = \"selective\"\nselective_ac_option = \"op\"\n",
         ""},
        // 80 layers, 40 on each of two stages
        {"torchtitan", R"({"framework": "pytorch", "recompute": "block", "recompute_layers": 20})", "selective_ac_option = \"2\"\n", ""},
        {"torchtitan", R"({"framework": "pytorch", "recompute": "block", "recompute_layers": 13})", "selective_ac_option = \"3\"\n", ""},
        {"torchtitan", R"({"framework": "pytorch", "recompute": "block", "recompute_layers": 21})", "mode = \"full\"\n",
         "recompute recompute_layers"},
        {"torchtitan", R"({"framework": "pytorch", "recompute": "selective", "recompute_modules": "mlp"})", "mode = \"full\"\n",
         "recompute recompute_modules"},
        {"torchtitan", R"({"framework": "pytorch", "recompute": "full", "recompute_layers": 2})", "mode = \"full\"\n", "recompute_layers"},
        {"nanotron", R"({"framework": "nanotron", "zero": "optimizer", "recompute": "block", "recompute_layers": 2})",
         "recompute_layer: true\n", "recompute recompute_layers"},
        {"nanotron", R"({"framework": "nanotron", "gathered_inputs": "on", "recompute": "full"})", "tp_recompute_allgather: false\n", ""},
        {"torchtitan", R"({"framework": "pytorch", "optimizer_foreach": true, "recompute": "full"})", "implementation = \"foreach\"\n", ""},
        {"accelerate", R"({"recompute": "selective", "pipeline_parallel": 1})", "fsdp_activation_checkpointing: true\n", "recompute"},
        {"bridge", R"({"framework": "pytorch", "recompute": "operations"})", "recompute_granularity=full", "recompute"},
    };
    for (const Written& one : all) {
        const Json answer = exported(one.format, one.changes);
        CHECK_MESSAGE(text_of(answer).find(one.line) != std::string::npos, text_of(answer));
        const std::string missing = lacks(answer);
        if (*one.lacks == 0)
            CHECK_MESSAGE(missing.find("recompute") == std::string::npos, missing);
        else
            CHECK_MESSAGE(missing.find(one.lacks) != std::string::npos, missing);
    }
}

TEST_CASE("nanotron: the whole file") {
    const Json answer = exported("nanotron", R"({"zero": "optimizer"})");
    CHECK(text_of(answer) == R"(parallelism:
  dp: 8
  tp: 4
  pp: 2
  context_parallel_size: 1
  pp_engine: "1f1b"
  tp_mode: REDUCE_SCATTER
  tp_linear_async_communication: false
  recompute_layer: true
tokens:
  sequence_length: 8192
  micro_batch_size: 1
  batch_accumulation_per_replica: 16
optimizer:
  zero_stage: 1
  accumulate_grad_in_fp32: true
model:
  dtype: bfloat16
  model_config:
    is_llama_config: true
    hidden_size: 8192
    intermediate_size: 28672
    max_position_embeddings: 131072
    num_attention_heads: 64
    num_hidden_layers: 80
    num_key_value_heads: 8
    tie_word_embeddings: false
    vocab_size: 128256
)");
    CHECK(lacks(answer) == "layout framework export.left_out.config");
    CHECK(lacks(exported("nanotron", R"({"model": "mixtral-8x7b", "virtual_stages": 2, "framework": "nanotron"})")) ==
          "virtual_stages layout zero export.left_out.model");
}

TEST_CASE("DeepSpeed: the whole file") {
    // 64 copies, of which each adds up 128 / 64 micro-batches
    const Json answer =
        exported("deepspeed", R"({"pipeline_parallel": 1, "tensor_parallel": 1, "sequence_parallel": false, "framework": "pytorch",
        "optimizer_offload": 0.5, "recompute": "none", "shard_replicas": 2})");
    CHECK(text_of(answer) == R"({
    "train_batch_size": 128,
    "train_micro_batch_size_per_gpu": 1,
    "gradient_accumulation_steps": 2,
    "zero_optimization": {
        "stage": 3,
        "overlap_comm": true,
        "offload_optimizer": {
            "device": "cpu",
            "ratio": 0.5
        }
    },
    "bf16": {
        "enabled": true
    },
    "data_types": {
        "grad_accum_dtype": "fp32"
    }
}
)");
    CHECK(lacks(answer) == "gpus sequence_length recompute shard_replicas export.left_out.model");
}

TEST_CASE("accelerate: FSDP, DeepSpeed for the optimizer's state alone, DDP") {
    const auto of = [](const char* changes) { return exported("accelerate", changes); };
    const Json fsdp = of(R"({"pipeline_parallel": 1, "tensor_parallel": 2, "sequence_parallel": false, "framework": "transformers",
                             "shard_replicas": 2})");
    CHECK(text_of(fsdp) == R"(compute_environment: LOCAL_MACHINE
num_processes: 64
num_machines: 8
main_process_port: 29500
distributed_type: FSDP
fsdp_config:
  fsdp_version: 2
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_reshard_after_forward: true
  fsdp_activation_checkpointing: true
mixed_precision: bf16
parallelism_config:
  parallelism_config_tp_size: 2
  parallelism_config_dp_replicate_size: 2
  parallelism_config_dp_shard_size: 16
)");
    // which sends gradients after each micro-batch, to fit
    CHECK(lacks(fsdp) == "sequence_length micro_batch global_batch gradients_in_fp32 sync_each_micro_batch export.left_out.model");
    CHECK(lacks(of(R"({"pipeline_parallel": 1, "tensor_parallel": 1, "framework": "transformers", "trained": "lora"})"))
              .find("export.left_out.adapters") != std::string::npos);
    CHECK(lacks(exported("megatron-lm", R"({"trained": "lora"})")).find("export.left_out.adapters") != std::string::npos);
    const Json deepspeed = of(R"({"pipeline_parallel": 1, "tensor_parallel": 1, "zero": "optimizer"})");
    CHECK(text_of(deepspeed).find("distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 1\n  gradient_accumulation_steps: 2\n") !=
          std::string::npos);
    CHECK(lacks(deepspeed).starts_with("recompute "));
    CHECK(text_of(of(R"({"pipeline_parallel": 1, "tensor_parallel": 1, "zero": "none"})"))
              .find("distributed_type: MULTI_GPU\nmixed_precision") != std::string::npos);
}

TEST_CASE("Megatron-Bridge: all overrides") {
    const Json answer = exported("bridge");
    CHECK(text_of(answer) == R"(model.tensor_model_parallel_size=4 \
model.pipeline_model_parallel_size=2 \
model.context_parallel_size=1 \
model.sequence_parallel=true \
model.pipeline_model_parallel_layout=null \
model.virtual_pipeline_model_parallel_size=null \
model.num_layers_in_first_pipeline_stage=null \
model.num_layers_in_last_pipeline_stage=null \
model.account_for_embedding_in_pipeline_split=false \
model.account_for_loss_in_pipeline_split=false \
train.micro_batch_size=1 \
train.global_batch_size=128 \
model.seq_length=8192 \
dataset.seq_length=8192 \
model.recompute_granularity=full \
model.recompute_method=uniform \
model.recompute_num_layers=1 \
ddp.use_distributed_optimizer=true \
optimizer.use_distributed_optimizer=true \
optimizer.optimizer=adam \
ddp.use_megatron_fsdp=true \
ddp.data_parallel_sharding_strategy=optim_grads_params \
checkpoint.ckpt_format=fsdp_dtensor \
ddp.overlap_grad_reduce=true \
ddp.overlap_param_gather=true \
comm_overlap=null \
model.tp_comm_overlap=false \
mixed_precision=bf16_mixed \
ddp.grad_reduce_in_fp32=true \
optimizer.use_precision_aware_optimizer=false \
optimizer.main_grads_dtype=torch.float32 \
optimizer.main_params_dtype=torch.float32 \
optimizer.exp_avg_dtype=torch.float32 \
optimizer.exp_avg_sq_dtype=torch.float32 \
optimizer.optimizer_cpu_offload=false \
model.hidden_dropout=0.0 \
model.attention_dropout=0.0 \
model.cuda_graph_impl=none \
peft=null
)");
    CHECK(lacks(answer) == "gpus export.left_out.model");
    const std::string other =
        text_of(exported("bridge", R"({"layout": "Et*39|t*41L", "recompute": "selective", "recompute_modules": "mlp,core_attn",
        "zero": "optimizer"})"));
    CHECK(other.find("model.pipeline_model_parallel_layout='\"Et*39|t*41L\"' \\\n") != std::string::npos);
    CHECK(other.find("model.recompute_modules='[core_attn,mlp]' \\\n") != std::string::npos);
}

TEST_CASE("recipes name fp8 with weights in fp8: other ones are listed") {
    const auto precision = [](const char* format, const char* value) {
        return exported(format, (std::string(R"({"zero": "optimizer", "precision": ")") + value + "\"}").c_str());
    };
    const Json weights = precision("bridge", "fp8_weights");
    CHECK(text_of(weights).find("mixed_precision=bf16_with_fp8_delayed_scaling_mixed ") != std::string::npos);
    CHECK(lacks(weights) == "gpus export.left_out.model export.left_out.fp8_recipe");
    CHECK(lacks(precision("bridge", "fp8")) == "gpus export.left_out.model precision export.left_out.fp8_recipe");
    CHECK(text_of(precision("nemo2", "fp8_weights"))
              .find("trainer.plugins=nemo.collections.llm.recipes.precision.mixed_precision.bf16_with_fp8_mixed ") != std::string::npos);
}

TEST_CASE("NeMo 2: the command") {
    const Json answer = exported("nemo2", R"({"zero": "optimizer", "virtual_stages": 4, "overlap_pipeline": true})");
    CHECK(text_of(answer).starts_with(R"(#!/bin/bash
NNODES=8
GPUS_PER_NODE=8
nemo llm pretrain --factory llama31_70b \
    trainer.num_nodes=$NNODES \
    trainer.devices=$GPUS_PER_NODE \
    trainer.strategy.tensor_model_parallel_size=4 \
    trainer.strategy.pipeline_model_parallel_size=2 \
    trainer.strategy.context_parallel_size=1 \
    trainer.strategy.sequence_parallel=True \
    trainer.strategy.pipeline_model_parallel_layout=None \
    trainer.strategy.virtual_pipeline_model_parallel_size=4 \
    model.config.overlap_p2p_comm=True \
    model.config.batch_p2p_comm=False \
)"));
    CHECK(lacks(answer).empty());
    const Json other =
        exported("nemo2", R"({"model": "falcon-7b", "gpus": 12, "tensor_parallel": 1, "sequence_length": 2048, "global_batch": 96})");
    CHECK(other["yours"] == json(R"(["FACTORY", "NNODES", "GPUS_PER_NODE"])"));
    CHECK(lacks(other) == "export.left_out.model");
    CHECK(text_of(other).find("trainer.strategy.fsdp=megatron \\\n    trainer.strategy.ddp.data_parallel_sharding_strategy=optim_grads") !=
          std::string::npos);
}
