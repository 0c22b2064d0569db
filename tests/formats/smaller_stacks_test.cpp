// picotron, NeMo Automodel, lm-engine and SageMaker HyperPod: files of our own with their keys.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("picotron: GPUs are the product of the degrees, and all is kept in 16 bits") {
    const std::string text =
        "distributed.tp_size = 2\ndistributed.cp_size = 1\ndistributed.pp_size = 2\ndistributed.dp_size = 4\n"
        "distributed.pp_engine = \"afab\"\nmodel.name = \"meta-llama/Llama-2-7b-hf\"\nmodel.num_hidden_layers = 24\n"
        "training.seq_length = 2048\ntraining.micro_batch_size = 2\ntraining.gradient_accumulation_steps = 8\n"
        "training.total_train_steps = 100\nenvironment.FLASH_ATTEN = \"1\"\n";
    const Json job = first_of(text);
    CHECK(some(job, {"gpus", "tensor_parallel", "pipeline_parallel", "global_batch", "schedule", "moments", "master_weights", "zero",
                     "gradients_in_fp32", "attention"}) ==
          "gpus=16 tensor_parallel=2 pipeline_parallel=2 global_batch=64 schedule=\"gpipe\" moments=\"16-bit\" master_weights=\"off\" "
          "zero=\"none\" gradients_in_fp32=true attention=\"flash\"");
    CHECK(job["job"]["model"]["num_hidden_layers"] == 24);
    CHECK(job["job"]["token_budget"] == 100 * 64 * 2'048);
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
}

TEST_CASE("NeMo Automodel: FSDP2, a pipeline's own micro-batch, an adapter") {
    const std::string text =
        "step_scheduler.global_batch_size = 64\nstep_scheduler.local_batch_size = 8\n"
        "model._target_ = \"nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\"\n"
        "model.pretrained_model_name_or_path = \"meta-llama/Llama-3.1-8B\"\ndistributed.strategy = \"fsdp2\"\n"
        "distributed.dp_size = \"none\"\ndistributed.tp_size = 2\ndistributed.cp_size = 1\n"
        "packed_sequence.packed_sequence_size = 4096\noptimizer._target_ = \"torch.optim.AdamW\"\n";
    const Json job = first_of(text, {{"gpus", "16"}});
    CHECK(
        some(job, {"gpus", "tensor_parallel", "micro_batch", "global_batch", "sequence_length", "zero", "moments", "precision"}) ==
        R"(gpus=16 tensor_parallel=2 micro_batch=8 global_batch=64 sequence_length=4096 zero="weights" moments="16-bit" precision="bf16")");
    CHECK(job["title"] == "NeMo Automodel");
    CHECK(first_of(text)["asked"].dump() == R"(["gpus"])");
    const Json staged = first_of(text +
                                 "distributed.pp_size = 4\ndistributed.activation_checkpointing = true\nmodel.torch_dtype = \"float32\"\n"
                                 "distributed.pipeline.pp_schedule = \"interleaved1f1b\"\ndistributed.pipeline.pp_microbatch_size = 1\n"
                                 "distributed.pipeline.layers_per_stage = 4\n");
    CHECK(some(staged, {"pipeline_parallel", "virtual_stages", "micro_batch", "recompute", "moments"}) ==
          R"(pipeline_parallel=4 virtual_stages=2 micro_batch=1 recompute="full" moments=?)");
    const Json lora = first_of(text +
                               "peft._target_ = \"nemo_automodel.components._peft.lora.PeftConfig\"\npeft.dim = 16\n"
                               "peft.match_all_linear = true\n");
    CHECK(some(lora, {"trained", "lora_rank"}) == R"(trained="lora" lora_rank=16)");
}

TEST_CASE("NeMo Automodel: what stays gathered, and in which types it is kept") {
    const std::string text =
        "step_scheduler.global_batch_size = 128\nstep_scheduler.local_batch_size = 1\ndataset.seq_len = 4096\n"
        "model.pretrained_model_name_or_path = \"meta-llama/Llama-3.1-8B\"\ndistributed.strategy = \"fsdp2\"\n"
        "distributed.dp_size = 8\ndistributed.tp_size = 1\ndistributed.cp_size = 1\n";
    const auto read = [&](const std::string& more, std::initializer_list<const char*> fields) {
        return some(first_of(text + more), fields);
    };
    const std::string adam = "optimizer._target_ = \"transformer_engine.pytorch.optimizers.FusedAdam\"\n";
    CHECK(read(adam, {"moments", "master_weights", "gradients_in_fp32"}) ==
          R"(moments="fp32" master_weights="off" gradients_in_fp32=false)");
    CHECK(read(adam + "optimizer.master_weights = true\noptimizer.exp_avg_dtype = \"torch.bfloat16\"\n", {"moments", "master_weights"}) ==
          R"(moments="16-bit" master_weights="on")");
    CHECK(read("model.torch_dtype = \"float32\"\ndistributed.mp_policy.reduce_dtype = \"bfloat16\"\n", {"moments", "gradients_in_fp32"}) ==
          "moments=? gradients_in_fp32=false");
    CHECK(read("distributed.reshard_after_forward = false\n", {"zero"}) == R"(zero="gradients")");
    CHECK(read("distributed.pp_size = 2\n", {"zero", "micro_batch", "virtual_stages"}) ==
          R"(zero="gradients" micro_batch=1 virtual_stages=1)");
    CHECK(read("distributed.pp_size = 2\ndistributed.pipeline.pp_schedule = \"interleaved1f1b\"\n", {"virtual_stages"}) ==
          "virtual_stages=2");
    // 32 layers by 6 are 6 stages, and of 4 GPUs one chunk each or two
    const std::string loops =
        "distributed.pp_size = 4\ndistributed.pipeline.pp_schedule = \"interleaved1f1b\"\ndistributed.pipeline.layers_per_stage = 3\n"
        "distributed.pipeline.round_virtual_stages_to_pp_multiple = ";
    CHECK(read(loops + "\"down\"\n", {"virtual_stages"}) == "virtual_stages=2");
    CHECK(read(loops + "\"up\"\n", {"virtual_stages"}) == "virtual_stages=3");
    CHECK(read("distributed.activation_checkpointing = \"selective\"\n", {"recompute"}) == R"(recompute="operations")");
    CHECK(read("distributed.activation_checkpointing = \"full\"\n", {"recompute"}) == R"(recompute="full")");
    CHECK(read("distributed.strategy = \"megatron_fsdp\"\ndistributed.zero_dp_strategy = 1\n", {"zero"}) == R"(zero="optimizer")");
    CHECK(read("distributed.enable_async_tensor_parallel = true\ndistributed.tp_size = 2\n", {"tensor_overlap", "sequence_parallel"}) ==
          "tensor_overlap=true sequence_parallel=true");
    std::string experts = text;
    experts.replace(experts.find("meta-llama/Llama-3.1-8B"), 23, "Qwen/Qwen3-30B-A3B");
    const Json shared = first_of(experts + "distributed.ep_size = 8\nmodel.backend.dispatcher = \"deepep\"\n");
    CHECK(some(shared, {"zero", "expert_parallel", "expert_dispatch"}) == R"(zero="gradients" expert_parallel=8 expert_dispatch="deepep")");
    CHECK(some(first_of(experts + "distributed.ep_size = 8\ndistributed.moe.reshard_after_forward = true\n"), {"zero"}) ==
          R"(zero="weights")");
}

TEST_CASE("lm-engine: layers one by one that are alike, ZeRO-3 unless it is told") {
    std::string text =
        "model_args.model_class = \"AutoModelForCausalLM\"\nmodel_args.pretrained_config.vocab_size = 1000\n"
        "model_args.pretrained_config.max_position_embeddings = 512\nmodel_args.pretrained_config.hidden_size = 256\n"
        "model_args.pretrained_config.num_layers = 2\nmodel_args.pretrained_config.normalization_function = \"rmsnorm\"\n"
        "tuning_args.tuning_method = \"pretraining\"\ntraining_parameters.micro_batch_size = 4\n"
        "training_parameters.gradient_accumulation_steps = 2\ntraining_parameters.num_training_steps = 10\n"
        "datasets.0.class_args.sequence_length = 512\nmixed_precision_args.dtype = \"bf16\"\n";
    for (const char* i : {"0", "1"}) {
        const std::string mixer = std::string("model_args.pretrained_config.sequence_mixer_blocks.") + i + ".",
                          mlp = std::string("model_args.pretrained_config.mlp_blocks.") + i + ".";
        text += mixer + "sequence_mixer_type = \"softmax_attention\"\n" + mixer + "num_attention_heads = 4\n" + mixer +
                "num_key_value_heads = 2\n" + mixer + "add_bias = false\n" + mlp + "mlp_type = \"MLP\"\n" + mlp +
                "activation_function = \"swiglu\"\n" + mlp + "intermediate_size = 768\n" + mlp + "add_bias = false\n";
    }
    const Json job = first_of(text, {{"gpus", "8"}});
    CHECK(some(job, {"gpus", "micro_batch", "global_batch", "sequence_length", "zero", "recompute", "precision"}) ==
          R"(gpus=8 micro_batch=4 global_batch=64 sequence_length=512 zero="weights" recompute="none" precision="bf16")");
    CHECK(job["job"]["model"]["num_key_value_heads"] == 2);
    CHECK(job["job"]["model"]["learned_positions"] == true);
    CHECK(job["job"]["model"]["intermediate_size"] == 768);
    CHECK(some(first_of(text + "distributed_args.stage = 1\n"), {"zero"}) == R"(zero="optimizer")");
    // GPUs of a context's group are among the copies: 2 x 16 GPUs, of which 4 share a sequence.
    std::string long_text = text;
    long_text.erase(long_text.find("training_parameters.gradient"), 52);
    const Json spread =
        first_of(long_text +
                 "training_parameters.global_batch_size = 64\ndistributed_args.zero_topology.data_parallel_replication_world_size = 2\n"
                 "distributed_args.zero_topology.data_parallel_sharding_world_size = 16\ndistributed_args.context_parallel_world_size = 4\n"
                 "distributed_args.communication_dtype = \"fp32\"\n"
                 "model_args.pretrained_config.sequence_mixer_blocks.0.sliding_window = 128\n"
                 "model_args.pretrained_config.sequence_mixer_blocks.0.head_dim = 32\n"
                 "model_args.pretrained_config.sequence_mixer_blocks.1.head_dim = 32\n");
    CHECK(some(spread, {"gpus", "context_parallel", "global_batch", "micro_batch", "shard_replicas", "gradients_in_fp32"}) ==
          "gpus=32 context_parallel=4 global_batch=64 micro_batch=4 shard_replicas=2 gradients_in_fp32=true");
    CHECK(spread["job"]["model"]["head_dim"] == 32);
    CHECK(ids(spread["notes"]) == "import_plan.note.not_counted");
    CHECK(some(job, {"gradients_in_fp32"}) == "gradients_in_fp32=false");
    CHECK(some(first_of(text + "distributed_args.zero_topology.data_parallel_replication_world_size = 8\n"
                               "distributed_args.zero_topology.data_parallel_sharding_world_size = 1\n"),
               {"gpus", "zero", "shard_replicas"}) == R"(gpus=8 zero="none" shard_replicas=?)");
    // Layers of two kinds are no model that is counted here.
    const Json mixed = first_of(text + "model_args.pretrained_config.sequence_mixer_blocks.1.sequence_mixer_type = \"mamba2\"\n");
    CHECK(mixed["asked"].dump().find("model") != std::string::npos);
}

TEST_CASE("SageMaker HyperPod: its own names of FSDP, and OpenRLHF's below sections") {
    const Json job = first_of(
        "trainer.devices = 8\ntrainer.num_nodes = 4\ntrainer.precision = \"bf16\"\nmodel.train_batch_size = 2\n"
        "model.tensor_model_parallel_degree = 2\nmodel.context_parallel_degree = 1\nmodel.expert_model_parallel_degree = 1\n"
        "model.max_context_width = 4096\nmodel.sharding_strategy = \"hybrid_shard\"\nmodel.shard_degree = 4\n"
        "model.activation_checkpointing = true\nmodel.num_hidden_layers = 32\nmodel.hidden_size = 4096\nmodel.num_heads = 32\n"
        "model.intermediate_size = 11008\nmodel.vocab_size = 32000\nmodel.num_key_value_heads = null\n");
    CHECK(some(job, {"gpus", "gpus_per_node", "tensor_parallel", "micro_batch", "global_batch", "sequence_length", "zero", "shard_replicas",
                     "recompute"}) ==
          "gpus=32 gpus_per_node=8 tensor_parallel=2 micro_batch=2 global_batch=32 sequence_length=4096 zero=\"weights\" "
          "shard_replicas=4 recompute=\"full\"");
    const Json tuned = first_of(
        "trainer.devices = 8\ntrainer.num_nodes = 2\ntraining_config.model_config.model_name_or_path = \"meta-llama/Llama-3.1-8B\"\n"
        "training_config.model_config.peft_config.r = 16\ntraining_config.model_config.peft_config.target_modules = \"all-linear\"\n"
        "training_config.training_args.trainer_type = \"sft\"\ntraining_config.training_args.micro_train_batch_size = 1\n"
        "training_config.training_args.train_batch_size = 32\ntraining_config.training_args.max_len = 4096\n"
        "training_config.training_args.gradient_checkpointing = true\n"
        "training_config.training_args.strategy.fsdp_config.sharding_strategy = \"FULL_SHARD\"\n"
        "scale_config.1.training_config.training_args.train_batch_size = 128\n");
    CHECK(some(tuned, {"gpus", "micro_batch", "global_batch", "sequence_length", "zero", "lora_rank", "recompute"}) ==
          R"(gpus=16 micro_batch=1 global_batch=32 sequence_length=4096 zero="weights" lora_rank=16 recompute="full")");
    CHECK(tuned["refused"].empty());
}

TEST_CASE("lm-engine: what its blocks do not say") {
    std::string text =
        "model_args.pretrained_config.vocab_size = 1000\nmodel_args.pretrained_config.max_position_embeddings = 512\n"
        "model_args.pretrained_config.hidden_size = 768\nmodel_args.pretrained_config.num_layers = 1\n"
        "tuning_args.tuning_method = \"pretraining\"\ntraining_parameters.micro_batch_size = 4\nmixed_precision_args.dtype = \"bf16\"\n"
        "datasets.0.class_args.sequence_length = 512\n"
        "model_args.pretrained_config.sequence_mixer_blocks.0.sequence_mixer_type = \"softmax_attention\"\n"
        "model_args.pretrained_config.mlp_blocks.0.mlp_type = \"MLP\"\n";
    const Json model = first_of(text, {{"gpus", "8"}})["job"]["model"];
    CHECK(model["num_attention_heads"] == 12);
    CHECK(model["num_key_value_heads"] == 1);
    CHECK(model["intermediate_size"] == 3'072);
    CHECK(model["gated_mlp"] == false);
    CHECK(!model.contains("attention_bias"));
}
