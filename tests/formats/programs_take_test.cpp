// What the programs themselves take: each written file against what their sources assert, refuse or overwrite. Facts of Megatron-LM's
// megatron/training/arguments.py (validate_args) and core/, of Megatron-Bridge, NeMo-Run, torchtitan, DeepSpeed and accelerate.
#include <string>

#include "formats/formats.h"
#include "settings.h"

using namespace fourfold;
using tests::json;

namespace {

// Llama 3.1 8B on 16 GPUs; `changes` name the format and the release.
Json small_run() {
    return json(
        R"({"model": "llama-3.1-8b", "gpus": 16, "sequence_length": 8192, "global_batch": 64, "micro_batch": 1, "tensor_parallel": 2,
            "pipeline_parallel": 2, "context_parallel": 1, "virtual_stages": 1, "schedule": "1f1b", "layout": "equal", "zero": "optimizer",
            "recompute": "none", "recompute_layers": 1, "moments": "fp32", "sequence_parallel": true, "expert_parallel": 1,
            "expert_tensor_parallel": 1, "expert_overlap": false, "expert_dispatch": "all_to_all", "overlap_pipeline": true})");
}
Json file_of(const char* changes) {
    Json request = small_run(), own = Json::object();
    request.update(json(changes));
    for (const char* key : {"format", "release"}) {
        if (request.contains(key)) own[key] = request[key];
        request.erase(key);
    }
    request = json(api::estimate(request.dump()))["job"];
    request.update(own);
    const Json answer = json(api::export_plan(request.dump()));
    CHECK_MESSAGE(answer["ok"] == true, changes, answer["problems"].dump());
    return answer["ok"] == true ? answer : Json{{"text", ""}, {"left_out", Json::array()}};
}
bool has_words(const Json& answer, const std::string& words) { return answer["text"].get<std::string>().find(words) != std::string::npos; }
bool lists(const Json& answer, const std::string& field) {
    return answer["left_out"].dump().find("\"field." + field + "\"") != std::string::npos;
}

struct Taken {
    const char *changes, *has, *has_not, *lacks;  // "": nothing
};
void check_taken(const Taken& one) {
    const Json answer = file_of(one.changes);
    CHECK_MESSAGE(has_words(answer, one.has), one.changes, answer["text"].get<std::string>());
    if (*one.has_not != 0) CHECK_MESSAGE(!has_words(answer, one.has_not), one.changes, answer["text"].get<std::string>());
    if (*one.lacks != 0) CHECK_MESSAGE(lists(answer, one.lacks), one.changes, answer["left_out"].dump());
}

constexpr const char* kExperts = R"("model": "mixtral-8x7b", "expert_parallel": 4)";
std::string experts(const char* more) { return std::string("{") + kExperts + ", " + more + "}"; }

}  // namespace

TEST_CASE("Megatron-LM: latent attention, shared experts, ends and biases of experts as each release has them") {
    // "multi_latent_attention does not support apply_rope_fusion" up to 0.12 (transformer_config.py of 0.12.2, issue 1411), and the kernel
    // of later releases is an experiment that stays off (fused_mla_yarn_rope_apply.py, experimental_fn); arguments.py has it on by default
    for (const char* release : {"0.10", "0.12", "0.13", "0.19"})
        check_taken({(R"({"model": "deepseek-v2-lite", "sequence_length": 4096, "pipeline_parallel": 1, "release": ")" +
                      std::string(release) + R"("})")
                         .c_str(),
                     "--no-rope-fusion\n", "", ""});
    check_taken({"{}", "--swiglu", "--no-rope-fusion", ""});
    // "Invalid choices for recompute_modules": 0.12.2 and 0.14.0rc6 have no shared_experts
    const std::string shared = R"({"model": "deepseek-v2-lite", "sequence_length": 4096, "pipeline_parallel": 1, "recompute": "selective",
        "recompute_modules": "mlp,shared_experts")";
    check_taken({(shared + "}").c_str(), "--recompute-modules mlp shared_experts\n", "", ""});
    check_taken({(shared + R"(, "release": "0.14"})").c_str(), "--recompute-modules mlp\n", "", "recompute_modules"});
    check_taken(
        {(shared + R"(, "release": "0.11"})").c_str(), "--recompute-granularity selective", "--recompute-modules", "recompute_modules"});
    // of two stages none lies between the ends: 0.12.2 divides by their number, 0.14.0rc6 does not (transformer_config.py)
    const std::string ends = R"({"first_stage_layers": 15, "last_stage_layers": 17)";
    check_taken({(ends + "}").c_str(), "--decoder-first-pipeline-num-layers 15\n    --decoder-last-pipeline-num-layers 17", "", ""});
    check_taken(
        {(ends + R"(, "release": "0.12"})").c_str(), "--decoder-first-pipeline-num-layers 15", "--decoder-last", "last_stage_layers"});
    // "Bias is not supported for MoE": both too
    const std::string biased = R"({"model": "gpt-oss-20b", "pipeline_parallel": 1, "tensor_parallel": 1)";
    check_taken({(biased + "}").c_str(), "--num-experts 32", "bias-linear", ""});
    check_taken({(biased + R"(, "release": "0.14"})").c_str(), "--disable-bias-linear\n    --add-qkv-bias", "", ""});
}

TEST_CASE("Megatron-LM: an older release is not told what it does not know") {
    // argparse stops at an argument that it does not know. --cp-comm-type, --multi-latent-attention and its ranks: core_v0.10.0;
    // --moe-router-num-groups: 0.11 (node-limited routing); --moe-enable-deepep and its dispatcher: 0.12; the overlap of experts: 0.14.
    check_taken({R"({"release": "0.9", "context_parallel": 2, "context_parallel_kind": "all_to_all"})", "--context-parallel-size 2",
                 "--cp-comm-type", "context_parallel_kind"});
    check_taken({R"({"release": "0.9", "model": "deepseek-v2-lite", "sequence_length": 4096, "pipeline_parallel": 1})", "--num-experts 64",
                 "--kv-lora-rank", ""});
    check_taken(
        {R"({"release": "0.10", "model": "deepseek-v3", "pipeline_parallel": 1})", "--kv-lora-rank 512", "--moe-router-num-groups", ""});
    check_taken(
        {R"({"release": "0.10", "model": "deepseek-v3", "pipeline_parallel": 1})", "--kv-lora-rank 512", "--moe-router-group-topk", ""});
    const std::string kernels = experts(R"("expert_dispatch": "deepep", "release": "0.11")");
    check_taken({kernels.c_str(), "--moe-token-dispatcher-type alltoall\n", "--moe-enable-deepep", "expert_dispatch"});
    const std::string newer = experts(R"("expert_dispatch": "deepep", "release": "0.12")");
    check_taken({newer.c_str(), "--moe-token-dispatcher-type flex\n    --moe-enable-deepep\n", "alltoall", ""});
    const std::string overlap = experts(R"("expert_overlap": true, "virtual_stages": 4, "release": "0.13")");
    // CHANGELOG.md of 0.13.0: "Support bf16 dtype for optimizer states", and "MTP is not compatible with flexible pipeline layout"
    check_taken(
        {R"({"release": "0.12", "moments": "16-bit"})", "--exp-avg-dtype fp16\n    --exp-avg-sq-dtype fp16\n", "bf16\n    --exp", ""});
    check_taken({R"({"release": "0.13", "moments": "16-bit"})", "--exp-avg-dtype bf16\n    --exp-avg-sq-dtype bf16\n", "", ""});
    const std::string further = R"("model": "deepseek-v3", "layout": "Et*31|t*30mL")";
    check_taken(
        {("{" + further + R"(, "release": "0.13"})").c_str(), "--mtp-num-layers 1\n", "--pipeline-model-parallel-layout", "layout"});
    check_taken({("{" + further + R"(, "release": "0.14"})").c_str(), "--pipeline-model-parallel-layout 'Et*31|t*30mL'\n", "", ""});
    // --cuda-graph-scope: one of full, attn and full_iteration in 0.15, a list later (pull request 1920 of 2025-10-24, after its branch)
    check_taken({R"({"release": "0.15", "cuda_graphs": "layers"})", "--cuda-graph-impl transformer_engine\n", "--cuda-graph-scope", ""});
    check_taken({R"({"release": "0.16", "cuda_graphs": "layers"})", "--cuda-graph-scope attn mlp\n", "", ""});
    check_taken({experts(R"("release": "0.15", "cuda_graphs": "layers")").c_str(), "--cuda-graph-scope attn\n", "", ""});
    check_taken({overlap.c_str(), "--num-virtual-stages-per-pipeline-rank 4", "--overlap-moe-expert-parallel-comm", "expert_overlap"});
}

TEST_CASE("Megatron-LM: arguments that need each other") {
    const Taken all[] = {
        // "--use-custom-fsdp only supported with distributed optimizer" (0.12, 0.13); OptimizerConfig asks for it with FSDP, too
        {R"({"zero": "weights", "pipeline_parallel": 1, "release": "0.13"})", "--use-distributed-optimizer\n    --use-custom-fsdp\n", "",
         ""},
        {R"({"zero": "weights", "pipeline_parallel": 1})", "--use-distributed-optimizer\n    --use-megatron-fsdp\n", "", ""},
        // "--use-precision-aware-optimizer only supported with distributed optimizer" (optimizer_config.py, __post_init__)
        {R"({"zero": "none", "moments": "16-bit"})", "    --use-distributed-optimizer\n", "", "zero"},
        {R"({"zero": "none", "moments": "16-bit"})", "    --overlap-param-gather\n", "", "zero"},
        {R"({"zero": "none", "moments": "16-bit", "release": "0.10"})", "--seq-length", "--use-distributed-optimizer", "moments"},
        {R"({"zero": "none", "optimizer_offload": 0.5})", "    --use-distributed-optimizer\n", "", "zero"},
        // "--fp8-param-gather only supported with distributed optimizer, ..." (arguments.py)
        {R"({"zero": "none", "precision": "fp8_weights"})", "    --use-distributed-optimizer\n", "", "zero"},
        {R"({"zero": "none", "precision": "fp8"})", "--fp8-format hybrid", "--use-distributed-optimizer", ""},
        // "--no-check-for-nan-in-loss-and-grad should be set with full_iteration CUDA graph" (arguments.py)
        {R"({"cuda_graphs": "step"})", "    --no-check-for-nan-in-loss-and-grad\n    --cuda-graph-scope full_iteration\n", "", ""},
        // "recompute_granularity must not be full when CUDA Graphs are enabled" (arguments.py of 0.15); "full recompute is only supported
        // with full iteration CUDA graph" (transformer_config.py, later)
        {R"({"cuda_graphs": "layers", "recompute": "full"})", "--recompute-granularity full", "--cuda-graph", "cuda_graphs"},
        {R"({"cuda_graphs": "step", "recompute": "block", "release": "0.15"})", "--recompute-granularity full", "--cuda-graph",
         "cuda_graphs"},
        {R"({"cuda_graphs": "step", "recompute": "block", "release": "0.16"})", "--cuda-graph-scope full_iteration", "", ""},
        // "--attention-backend local is only supported with --spec local", whose module it then looks for (arguments.py)
        {R"({"attention": "plain", "transformer_engine": "off"})", "    --transformer-impl local\n", "--attention-backend", ""},
        {R"({"attention": "plain"})", "    --attention-backend unfused\n", "--transformer-impl", ""},
        // "Please use --moe-router-pre-softmax when topk is 1." (transformer_config.py)
        {R"({"model": "llama-4-scout", "sequence_length": 8192})", "    --moe-router-topk 1\n    --moe-router-pre-softmax\n", "", ""},
    };
    for (const Taken& one : all) check_taken(one);
    // "moe recompute is not supported with moe_router CUDA graph" (transformer_config.py)
    const std::string graphs = experts(R"("cuda_graphs": "layers", "recompute": "selective", "recompute_modules": "moe")");
    check_taken({graphs.c_str(), "--recompute-modules moe", "--cuda-graph", "cuda_graphs"});
    // moe_layer.py, forward: experts train with tensor parallelism where sequence parallelism is on
    const std::string whole = experts(R"("sequence_parallel": false)");
    check_taken({whole.c_str(), "    --sequence-parallel\n", "", "sequence_parallel"});
    for (const char* format : {"megatron-bridge", "nemo-2"}) {
        const std::string recipe = experts((std::string(R"("sequence_parallel": false, "format": ")") + format + "\"").c_str());
        check_taken({recipe.c_str(), format[0] == 'm' ? "model.sequence_parallel=true" : "trainer.strategy.sequence_parallel=True", "",
                     "sequence_parallel"});
    }
}

TEST_CASE("Megatron-Bridge: overrides that its recipes have, and that are not overwritten") {
    const Taken all[] = {
        // model_parallel_config.py: microbatch_group_size_per_vp_stage; Hydra refuses a key that is not there
        {R"({"format": "megatron-bridge", "virtual_stages": 4, "virtual_stage_group": 4})", "model.microbatch_group_size_per_vp_stage=4 ",
         "per_virtual_pipeline", ""},
        // _pretrain_common: comm_overlap=None, so nothing inside it can be overridden; elsewhere CommOverlapConfig.setup overwrites these
        {R"({"format": "megatron-bridge", "overlap_gradients": false})", "ddp.overlap_grad_reduce=false ", "comm_overlap.", ""},
        {R"({"format": "megatron-bridge"})", "comm_overlap=null ", "comm_overlap.", ""},
        // schedules.py: "Can not use both overlap_p2p_comm and batch_p2p_comm"; the second one is on by default
        {R"({"format": "megatron-bridge", "virtual_stages": 4})", "model.overlap_p2p_comm=true \\\nmodel.batch_p2p_comm=false ", "", ""},
        // _validate_and_sync_distributed_optimizer_settings: one that is on turns both on, and recipes have both
        {R"({"format": "megatron-bridge", "zero": "none"})",
         "ddp.use_distributed_optimizer=false \\\noptimizer.use_distributed_optimizer=false ", "", ""},
        {R"({"format": "megatron-bridge", "zero": "none", "moments": "16-bit"})",
         "ddp.use_distributed_optimizer=true \\\noptimizer.use_distributed_optimizer=true ", "", "zero"},
        // "Megatron FSDP only supports fsdp_dtensor checkpoint format", and recipes save checkpoints (ConfigContainer.validate)
        {R"({"format": "megatron-bridge", "zero": "weights"})", "checkpoint.ckpt_format=fsdp_dtensor ", "", ""},
        {R"({"format": "megatron-bridge"})", "ddp.use_megatron_fsdp=false ", "ckpt_format", ""},
        // "pipeline_model_parallel_layout cannot be set with other pipeline layout arguments", which recipes have (transformer_config.py)
        {R"({"format": "megatron-bridge", "layout": "Et*15|t*17L"})",
         "model.num_layers_in_first_pipeline_stage=null \\\nmodel.num_layers_in_last_pipeline_stage=null \\\n"
         "model.account_for_embedding_in_pipeline_split=false ",
         "", ""},
        // "main_grads_dtype can only be fp32 when not using precision-aware optimizer" (optimizer_config.py)
        {R"({"format": "megatron-bridge"})", "optimizer.main_grads_dtype=torch.float32 \\\noptimizer.main_params_dtype=torch.float32 ", "",
         ""},
        // Hydra takes parentheses in quotes alone
        {R"({"format": "megatron-bridge", "virtual_stages": 4, "layout": "Et*4|(t*4|)*6t*4L"})",
         "model.pipeline_model_parallel_layout='\"Et*4|(t*4|)*6t*4L\"' ", "", ""},
    };
    for (const Taken& one : all) check_taken(one);
    // "Only one backend is supported for flex token dispatcher" (transformer_config.py), where a recipe has another
    const std::string kernels = experts(R"("expert_dispatch": "deepep", "format": "megatron-bridge")");
    check_taken({kernels.c_str(), "model.moe_enable_deepep=true \\\nmodel.moe_flex_dispatcher_backend=deepep ", "", ""});
}

TEST_CASE("NeMo 2: arguments that NeMo-Run can read") {
    const Taken all[] = {
        // megatron_strategy.py: microbatch_group_size_per_vp_stage; what it does not know goes to PyTorch's DDP, which refuses it
        {R"({"format": "nemo-2", "virtual_stages": 4, "virtual_stage_group": 4})", "trainer.strategy.microbatch_group_size_per_vp_stage=4 ",
         "per_virtual_pipeline", ""},
        {R"({"format": "nemo-2", "virtual_stages": 4})", "model.config.overlap_p2p_comm=True \\\n    model.config.batch_p2p_comm=False ",
         "", ""},
        // MegatronStrategy.connect: "Fixing mis-match between ddp-config & mcore-optimizer config" takes the optimizer's
        {R"({"format": "nemo-2", "zero": "none"})",
         "trainer.strategy.ddp.use_distributed_optimizer=False \\\n    optim.config.use_distributed_optimizer=False ", "", ""},
        // cli_parser.py, parse_list: a list of Python
        {R"({"format": "nemo-2", "recompute": "selective", "recompute_modules": "core_attn,mlp"})",
         "model.config.recompute_modules=\"['core_attn','mlp']\" ", "", ""},
        // parse_factory: what has dots is imported; a word alone is no Precision
        {R"({"format": "nemo-2"})", "trainer.plugins=nemo.collections.llm.recipes.precision.mixed_precision.bf16_mixed ", "", ""},
        // parse_unknown: an enumeration is refused
        {R"({"format": "nemo-2", "attention": "flash"})", "nemo llm pretrain", "attention_backend", "attention"},
    };
    for (const Taken& one : all) check_taken(one);
}

TEST_CASE("torchtitan: copies alone, and the words that its types have") {
    // TOML is not read since "Config System Refactor: TOML to Python Dataclass Registry" (pull request 2386, 9810191bb)
    CHECK(file_of(R"({"format": "torchtitan"})")["needs"]["id"] == "export.needs.torchtitan");
    const Taken all[] = {
        // parallelize_llama: "DDP has not supported > 1D parallelism"
        {R"({"format": "torchtitan", "zero": "none"})",
         "data_parallel_replicate_degree = 1\ndata_parallel_shard_degree = 4\nfsdp_reshard_after_forward = \"never\"\n", "", "zero"},
        {R"({"format": "torchtitan", "zero": "none", "tensor_parallel": 1, "pipeline_parallel": 1})",
         "data_parallel_replicate_degree = 16\ndata_parallel_shard_degree = 1\n", "fsdp_reshard", ""},
        // job_config.py: mixed_precision_reduce: Literal["float32"]
        {R"({"format": "torchtitan", "gradients_in_fp32": false})", "mixed_precision_reduce = \"float32\"\n", "", "gradients_in_fp32"},
        // two copies of four parts of a sequence each, and eight that hold the same: no degree says it
        {R"({"format": "torchtitan", "pipeline_parallel": 1, "tensor_parallel": 2, "context_parallel": 4, "shard_replicas": 8})",
         "data_parallel_replicate_degree = 1\ndata_parallel_shard_degree = 2\n", "", "shard_replicas"},
    };
    for (const Taken& one : all) check_taken(one);
}

TEST_CASE("DeepSpeed: what its checks let pass") {
    const Taken all[] = {
        // DeepSpeedConfig._batch_assertion: the batch is micro_batch * steps * every GPU, those of a tensor-parallel group too
        {R"({"format": "deepspeed", "pipeline_parallel": 1})",
         "\"train_micro_batch_size_per_gpu\": 1,\n    \"gradient_accumulation_steps\": 8,", "train_batch_size", ""},
        {R"({"format": "deepspeed", "pipeline_parallel": 1, "tensor_parallel": 1})", "\"train_batch_size\": 64,", "", ""},
        // engine.py, _configure_tensor_parallel: "the compatibility between 'autotp' and 'zero_stage = 3' has not been validated"
        {R"({"format": "deepspeed", "pipeline_parallel": 1, "zero": "weights"})", "\"stage\": 2,", "\"stage\": 3", "zero"},
        // offload_config.py: "ratio", "Only valid with ZeRO Stage 3"
        {R"({"format": "deepspeed", "pipeline_parallel": 1, "optimizer_offload": 0.5})", "\"device\": \"cpu\"", "ratio",
         "optimizer_offload"},
        {R"({"format": "deepspeed", "zero": "none", "optimizer_offload": 0.5})", "\"stage\": 0,", "offload_optimizer", "optimizer_offload"},
        // engine.py: "unsupported mix of model dtype and gradient accumulation type"
        {R"({"format": "deepspeed", "zero": "none", "precision": "fp16", "gradients_in_fp32": true})", "\"grad_accum_dtype\": \"fp16\"", "",
         "gradients_in_fp32"},
        {R"({"format": "deepspeed", "zero": "none", "gradients_in_fp32": false})", "\"grad_accum_dtype\": \"fp32\"", "",
         "gradients_in_fp32"},
        {R"({"format": "deepspeed", "gradients_in_fp32": false})", "\"grad_accum_dtype\": \"bf16\"", "", ""},
    };
    for (const Taken& one : all) check_taken(one);
}

TEST_CASE("accelerate: degrees whose product is the number of processes") {
    // launch.py, prepare_multi_gpu_env: on several machines their first one's address is taken as it is, without one "None", and all are
    // the first; so is the port in older ones
    CHECK(has_words(file_of(R"({"format": "accelerate"})"), "num_machines: 2\nmain_process_port: 29500\n"));
    CHECK(file_of(R"({"format": "accelerate"})")["yours"] == json(R"(["machine_rank", "main_process_ip"])"));
    CHECK(file_of(R"({"format": "accelerate", "gpus": 8})")["yours"].empty());
    CHECK(file_of(R"({"format": "accelerate", "gpus": 12, "gpus_per_node": 8, "global_batch": 48})")["yours"] ==
          json(R"(["num_machines", "machine_rank", "main_process_ip"])"));
    const Taken all[] = {
        // it has no stages, so 16 copies of a micro-batch of 1 make a batch of 64 in four
        {R"({"format": "accelerate", "tensor_parallel": 1})", "  zero_stage: 1\n  gradient_accumulation_steps: 4\n", "",
         "pipeline_parallel"},
        {R"({"format": "accelerate", "tensor_parallel": 1, "global_batch": 8})", "  zero_stage: 1\n", "accumulation", "global_batch"},
        // parallelism_config.py, _validate_accelerator: total_size must be num_processes
        {R"({"format": "accelerate", "pipeline_parallel": 1, "zero": "weights", "framework": "transformers"})",
         "parallelism_config_tp_size: 2\n  parallelism_config_dp_shard_size: 8\n", "", ""},
        // __post_init__: tensor or context parallelism "cannot be used with pure data parallelism"
        {R"({"format": "accelerate", "pipeline_parallel": 1, "zero": "none"})", "distributed_type: FSDP\n", "MULTI_GPU", "zero"},
        {R"({"format": "accelerate", "pipeline_parallel": 1, "zero": "optimizer"})", "fsdp_reshard_after_forward: false\n", "DEEPSPEED",
         "zero"},
        {R"({"format": "accelerate", "gpus": 2, "pipeline_parallel": 1, "zero": "none"})",
         "distributed_type: MULTI_GPU\nmixed_precision: bf16\nparallelism_config:\n  parallelism_config_tp_size: 2\n", "dp_shard", ""},
        // "ParallelismConfig is only compatible DistributedType.FSDP (version 2) or ..."
        {R"({"format": "accelerate", "pipeline_parallel": 1, "zero": "weights", "fully_shard": "off"})", "fsdp_version: 2\n", "",
         "fully_shard"},
        {R"({"format": "accelerate", "pipeline_parallel": 1, "tensor_parallel": 1, "zero": "weights", "fully_shard": "off"})",
         "fsdp_version: 1\n", "parallelism_config", ""},
    };
    for (const Taken& one : all) check_taken(one);
}
