// What the other programs would refuse is not written for them, and what they can say in words of their own is.
#include <string>

#include "formats/formats.h"
#include "settings.h"

using namespace fourfold;
using tests::json;

namespace {

// A job that is complete: Llama 3.1 8B on 16 GPUs, with `changes`, written in `format`.
Json written_job(const char* format, const char* changes, const char* release = "") {
    Json request = json(
        R"({"model": "llama-3.1-8b", "gpus": 16, "sequence_length": 8192, "global_batch": 64, "micro_batch": 1, "tensor_parallel": 2,
            "pipeline_parallel": 1, "context_parallel": 1, "virtual_stages": 1, "schedule": "1f1b", "layout": "equal", "zero": "optimizer",
            "recompute": "none", "recompute_layers": 1, "moments": "fp32", "sequence_parallel": true, "expert_parallel": 1,
            "expert_tensor_parallel": 1})");
    request.update(json(changes));
    Json whole = json(api::estimate(request.dump()));
    REQUIRE_MESSAGE(whole["ok"] == true, whole.dump());
    whole = whole["job"];
    whole["format"] = format;
    if (*release != 0) whole["release"] = release;
    const Json answer = json(api::export_plan(whole.dump()));
    CHECK(tests::answer_defect(answer, "export_plan") == "");
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer;
}
bool writes(const Json& answer, const char* part) { return answer["text"].get<std::string>().find(part) != std::string::npos; }
bool lists(const Json& answer, const char* part) { return answer["left_out"].dump().find(part) != std::string::npos; }

}  // namespace

TEST_CASE("LoRA: Megatron-Bridge's and NeMo 2's settings of adapters") {
    const char* all = R"({"trained": "lora", "lora_rank": 32, "lora_dropout": true})";
    const Json bridge = written_job("bridge", all), nemo = written_job("nemo2", all);
    for (const char* line :
         {"peft.target_modules='[linear_qkv,linear_proj,linear_fc1,linear_fc2]' \\\n", "peft.dim=32 \\\n", "peft.dropout=0.1\n"})
        CHECK_MESSAGE(writes(bridge, line), bridge["text"].get<std::string>());
    CHECK((lists(bridge, "export.left_out.lora_recipe") && !lists(bridge, "field.lora")));
    CHECK(writes(nemo, "nemo llm finetune --factory llama31_8b \\\n"));
    CHECK(writes(nemo, "peft.target_modules=\"['linear_qkv','linear_proj','linear_fc1','linear_fc2']\" \\\n"));
    CHECK(nemo["left_out"].empty());
    // a recipe may have adapters, and another optimizer
    for (const char* line : {"peft=null", "optimizer.optimizer=adam"}) CHECK(writes(written_job("bridge", "{}"), line));
    CHECK(writes(written_job("nemo2", "{}"), "nemo llm pretrain "));
    // one matrix there, and no four bits
    const Json some = written_job("bridge", R"({"trained": "lora", "lora_targets": "query,value", "frozen_weights": "nf4"})");
    CHECK(writes(some, "peft.target_modules='[linear_qkv]' \\\n"));
    CHECK((lists(some, "field.lora_targets\"},\"value\":\"query,value\"") && lists(some, "field.frozen_weights")));
    const Json latent = written_job("bridge", R"({"model": "deepseek-v3", "gpus": 64, "expert_parallel": 16, "trained": "lora",
        "lora_targets": "query,key,value"})");
    CHECK(writes(latent, "peft.target_modules='[linear_q_down_proj,linear_q_up_proj,linear_kv_down_proj,linear_kv_up_proj]' \\\n"));
    CHECK(!lists(latent, "field.lora_targets"));
    for (const char* other : {"torchtitan", "nanotron", "deepspeed"}) CHECK(lists(written_job(other, all), "export.left_out.adapters"));
}

TEST_CASE("overrides of an adapter are one of LoRA") {
    const Json read =
        tests::first_of_script("python run_recipe.py --recipe llama32_1b_peft_config peft.dim=8 'peft.target_modules=[linear_qkv]'");
    CHECK(tests::some(read, {"trained", "lora_rank", "lora_targets"}) == "trained=\"lora\" lora_rank=8 lora_targets=\"query,key,value\"");
    const Json latent =
        tests::first_of("model.seq_length = 4096\npeft.dim = 8\npeft.target_modules = \"[linear_q_proj,linear_kv_up_proj]\"\n");
    CHECK(tests::some(latent, {"lora_targets"}) == "lora_targets=\"query,key,value\"");
}

TEST_CASE("Muon: Megatron-Bridge says it; small averages and the host are Adam's alone") {
    const char* muon = R"({"optimizer": "muon"})";
    const Json bridge = written_job("bridge", muon);
    for (const char* line :
         {"optimizer.optimizer=dist_muon \\\n", "ddp.use_distributed_optimizer=false \\\n", "ddp.overlap_param_gather=true \\\n"})
        CHECK_MESSAGE(writes(bridge, line), bridge["text"].get<std::string>());
    CHECK(!lists(bridge, "field.optimizer\""));
    CHECK(writes(written_job("bridge", R"({"optimizer": "muon", "zero": "none"})"), "optimizer.optimizer=muon \\\n"));
    CHECK(lists(written_job("nemo2", muon), "choice.optimizer.muon"));
    const char* more = R"({"optimizer": "muon", "moments": "16-bit", "optimizer_offload": 1})";
    for (const char* format : {"bridge", "megatron"}) {
        const Json answer = written_job(format, more);
        CHECK((lists(answer, "field.moments") && lists(answer, "field.optimizer_offload")));
        for (const char* none :
             {"--use-precision-aware-optimizer", "--optimizer-cpu-offload", "use_precision_aware_optimizer=true", "bfloat16"})
            CHECK_FALSE(writes(answer, none));
    }
}

TEST_CASE("more tensor-parallel GPUs than KV heads: refused but by new releases of Megatron Core") {
    const char* plan = R"({"tensor_parallel": 16})";  // 8 KV heads
    for (const char* format : {"torchtitan", "nanotron", "deepspeed", "accelerate", "nemo2"})
        CHECK_MESSAGE(lists(written_job(format, plan), "export.left_out.kv_heads"), format);
    CHECK(lists(written_job("megatron", plan, "0.15"), "export.left_out.kv_heads"));
    CHECK_FALSE(lists(written_job("megatron", plan, "0.16"), "export.left_out.kv_heads"));
    CHECK_FALSE(lists(written_job("bridge", plan), "export.left_out.kv_heads"));
    CHECK_FALSE(lists(written_job("torchtitan", R"({"tensor_parallel": 8})"), "export.left_out.kv_heads"));
}

TEST_CASE("Megatron-LM: experts and fp16, biases, gates and recordings") {
    const auto experts = [](const char* changes, const char* release = "") {
        Json job = json(R"({"model": "mixtral-8x7b", "expert_parallel": 4})");
        job.update(json(changes));
        return written_job("megatron", job.dump().c_str(), release);
    };
    const Json half = experts(R"({"precision": "fp16"})");
    CHECK((writes(half, "--bf16\n") && !writes(half, "--fp16") && lists(half, "choice.precision.fp16")));
    const Json alone = experts(R"({"precision": "fp16", "expert_parallel": 1, "grouped_gemm": "off"})");
    CHECK((writes(alone, "--fp16\n") && !lists(alone, "field.precision")));
    const Json step = experts(R"({"cuda_graphs": "step"})");
    CHECK((!writes(step, "cuda-graph") && lists(step, "choice.cuda_graphs.step")));
    CHECK(writes(experts(R"({"cuda_graphs": "layers"})"), "--cuda-graph-scope attn moe_router moe_preprocess\n"));
    const char* split = R"({"model": "gpt-oss-20b", "expert_tensor_parallel": 2, "expert_parallel": 2})";
    CHECK((writes(experts(split), "--disable-bias-linear\n") && lists(experts(split), "export.left_out.biases")));
    const char* gated = R"({"model": "qwen3.5-35b-a3b"})";
    CHECK(writes(experts(gated), "--moe-shared-expert-gate\n"));
    CHECK(lists(experts(gated, "0.15"), "\"--moe-shared-expert-gate\""));
    CHECK(lists(experts(R"({"model": "deepseek-v3", "gpus": 64, "expert_parallel": 16})", "0.10"), "--moe-router-enable-expert-bias"));
}

TEST_CASE("modules that the model has not are not computed again") {
    const char* modules = R"({"recompute": "selective", "recompute_modules": "core_attn,moe_act,mla_up_proj"})";
    CHECK_FALSE(writes(written_job("megatron", modules), "--recompute-modules"));  // what it takes by itself is left
    CHECK(writes(written_job("bridge", modules), "model.recompute_modules='[core_attn]' \\\n"));
    Json loop = json(modules);
    loop.update(json(R"({"model": "mixtral-8x7b", "grouped_gemm": "off"})"));
    CHECK((!writes(written_job("megatron", loop.dump().c_str()), "moe_act") &&
           lists(written_job("megatron", loop.dump().c_str()), "field.recompute_modules")));
    // by delayed scaling of fp8, which is what the recipes have by themselves
    const char* norms =
        R"({"recompute": "selective", "recompute_modules": "layernorm", "precision": "fp8_weights", "optimizer_offload": 1})";
    const Json scaled = written_job("megatron", norms);
    CHECK((writes(scaled, "--fp8-recipe tensorwise\n") && !writes(scaled, "--fp8-param-gather") && lists(scaled, "field.precision")));
    CHECK(writes(written_job("bridge", norms), "mixed_precision=bf16_with_fp8_current_scaling_mixed \\\n"));
}

TEST_CASE("before Megatron-LM had FSDP, the optimizer's state at least is shared out") {
    const Json older = written_job("megatron", R"({"zero": "weights"})", "0.11");
    CHECK(writes(older, "CUDA_DEVICE_MAX_CONNECTIONS=1\n"));  // which FSDP alone excludes, and a split layer needs
    CHECK(writes(written_job("megatron", R"({"zero": "weights", "optimizer": "muon"})"), "CUDA_DEVICE_MAX_CONNECTIONS=1\n"));
    CHECK((writes(older, "--use-distributed-optimizer\n") && writes(older, "--overlap-param-gather\n") && lists(older, "field.zero")));
}

TEST_CASE("pipelines: names of schedules; a program without stages has more copies") {
    const auto engine = [](const char* changes) { return written_job("nanotron", changes); };
    CHECK(writes(engine(R"({"pipeline_parallel": 8, "global_batch": 8, "schedule": "gpipe"})"), "pp_engine: afab\n"));
    const Json few = engine(R"({"pipeline_parallel": 8, "global_batch": 4})");  // its 1F1B wants seven micro-batches
    CHECK((writes(few, "pp_engine: afab\n") && lists(few, "choice.schedule.1f1b")));
    CHECK(writes(engine(R"({"pipeline_parallel": 8, "global_batch": 7})"), "pp_engine: \"1f1b\"\n"));
    CHECK(tests::first_of(
              "parallelism.dp = 2\nparallelism.tp = 2\nparallelism.pp = 4\nparallelism.pp_engine = \"afab\"\n")["job"]["schedule"] ==
          "gpipe");
    const char* const titan[][2] = {{R"({"pipeline_parallel": 2, "schedule": "gpipe"})", "\"GPipe\""},
                                    {R"({"pipeline_parallel": 2, "schedule": "zb-v", "virtual_stages": 2})", "\"ZBVZeroBubble\""},
                                    {R"({"pipeline_parallel": 2, "schedule": "dualpipev", "virtual_stages": 2})", "\"DualPipeV\""}};
    for (const auto& [changes, name] : titan) {
        const Json answer = written_job("torchtitan", changes);
        CHECK((writes(answer, name) && !lists(answer, "field.schedule") && !lists(answer, "field.virtual_stages")));
    }
    // 16 copies, not 8 with two stages each
    CHECK(writes(written_job("deepspeed", R"({"pipeline_parallel": 2, "tensor_parallel": 1})"), "\"gradient_accumulation_steps\": 4,"));
    const Json odd = written_job("deepspeed", R"({"pipeline_parallel": 2, "tensor_parallel": 1, "global_batch": 8})");
    CHECK((!writes(odd, "gradient_accumulation_steps") && lists(odd, "field.global_batch")));
    CHECK(writes(written_job("deepspeed", R"({"context_parallel": 2, "tensor_parallel": 1})"), "\"data_parallel_size\": 8\n"));
}

TEST_CASE("what a program does by itself is listed where the plan has it otherwise") {
    const char* whole = R"({"tensor_parallel": 1, "zero": "none"})";
    CHECK(lists(written_job("deepspeed", whole), "choice.zero.none"));  // in bf16 its optimizer divides its state
    CHECK_FALSE(lists(written_job("deepspeed", R"({"tensor_parallel": 1, "zero": "none", "precision": "fp16"})"), "choice.zero.none"));
    for (const char* format : {"deepspeed", "accelerate"})  // the training program's own
        CHECK(lists(written_job(format, whole), "choice.recompute.none"));
    CHECK_FALSE(lists(written_job("accelerate", R"({"tensor_parallel": 1, "zero": "weights"})"), "choice.recompute.none"));
    for (const char* format : {"deepspeed", "accelerate"}) {
        const char* experts = R"({"model": "mixtral-8x7b", "expert_tensor_parallel": 1})";
        CHECK(lists(written_job(format, experts), "field.expert_tensor_parallel"));
    }
    CHECK(lists(written_job("nanotron", R"({"pipeline_parallel": 2})"), "field.layout"));  // it divides the layers by what they cost
    CHECK_FALSE(lists(written_job("nanotron", R"({"pipeline_parallel": 2, "layout": "weights"})"), "field.layout"));
    // one copy of the rest, two of the experts, whose state is divided
    const char* two = R"({"model": "mixtral-8x7b", "gpus": 4, "tensor_parallel": 4, "expert_parallel": 2, "zero": "none",
        "moments": "16-bit"})";
    for (const char* format : {"megatron", "bridge"}) CHECK(lists(written_job(format, two), "choice.zero.none"));
}

TEST_CASE("torchtitan's and recipes' layers are read as they are divided") {
    const std::string titan =
        "model.name = \"llama3\"\nmodel.flavor = \"8B\"\nparallelism.pipeline_parallel_degree = 2\n"
        "parallelism.pipeline_parallel_schedule = \"1F1B\"\nparallelism.pipeline_parallel_last_stage_less_layers = 0\n";
    const auto layers = [&](const char* each, const char* first) {
        return tests::some(tests::first_of(titan + "parallelism.pipeline_parallel_layers_per_stage = " + each + "\n" +
                                           "parallelism.pipeline_parallel_first_stage_less_layers = " + first + "\n"),
                           {"layout", "virtual_stages", "count_embedding_as_layer"});
    };
    CHECK(layers("16", "0") == "layout=\"equal\" virtual_stages=1 count_embedding_as_layer=false");
    CHECK(layers("16", "1") == "layout=? virtual_stages=1 count_embedding_as_layer=?");  // 33 do not divide
    // Megatron-Bridge: a recipe's list is taken away
    const std::string bridge =
        "model.pipeline_model_parallel_size = 2\nmodel.seq_length = 4096\nmodel.pipeline_model_parallel_layout = null\n";
    CHECK(tests::some(tests::first_of(bridge), {"layout"}) == "layout=\"equal\"");
    CHECK(tests::some(tests::first_of("model.pipeline_model_parallel_size = 2\nmodel.seq_length = 4096\n"), {"layout"}) == "layout=?");
}

TEST_CASE("torchtitan: groups of experts are made of what shares a copy out") {
    const char* whole = R"({"model": "qwen3-30b-a3b", "tensor_parallel": 1, "expert_parallel": 8, "zero": "none"})";
    for (const char* line : {"data_parallel_replicate_degree = 1\n", "data_parallel_shard_degree = 16\n"})
        CHECK(writes(written_job("torchtitan", whole), line));
    // whole copies beside a split layer
    const Json copied = written_job("torchtitan", R"({"gpus": 4, "tensor_parallel": 2, "zero": "gradients", "shard_replicas": 2})");
    CHECK((writes(copied, "data_parallel_replicate_degree = 1\n") && lists(copied, "field.shard_replicas")));
    const Json hybrid = written_job("torchtitan", R"({"model": "qwen3-30b-a3b", "tensor_parallel": 1, "expert_parallel": 8,
        "zero": "weights", "shard_replicas": 4})");
    CHECK((writes(hybrid, "data_parallel_shard_degree = 16\n") && lists(hybrid, "field.shard_replicas")));
    CHECK(writes(written_job("torchtitan", R"({"model": "qwen3-30b-a3b", "tensor_parallel": 1, "expert_parallel": 8,
        "zero": "weights", "shard_replicas": 2})"),
                 "data_parallel_replicate_degree = 2\n"));
}

TEST_CASE("nanotron splits sequences of its Qwen2 alone, which may have biases") {
    const char* split = R"({"context_parallel": 2, "framework": "nanotron"})";
    for (const char* line : {"is_qwen2_config: true\n", "_attn_implementation: llama3_ring_attention\n"})
        CHECK_MESSAGE(writes(written_job("nanotron", split), line), written_job("nanotron", split)["text"].get<std::string>());
    const Json biased = written_job("nanotron", R"({"model": "qwen2.5-7b", "tensor_parallel": 4, "framework": "nanotron"})");
    for (const char* line : {"is_qwen2_config: true\n", "attention_bias: true\n"}) CHECK(writes(biased, line));
    CHECK_FALSE((lists(biased, "export.left_out.model") || writes(biased, "_attn_implementation")));
    CHECK(writes(written_job("nanotron", "{}"), "is_llama_config: true\n"));
}

TEST_CASE("copies of experts that do not divide, further tokens beneath exchanges, tied stages") {
    const char* few =
        R"({"model": "mixtral-8x7b", "tensor_parallel": 1, "expert_parallel": 8, "shard_replicas": 4})";  // 2 copies of experts
    const char* enough = R"({"model": "mixtral-8x7b", "tensor_parallel": 1, "expert_parallel": 8, "shard_replicas": 2})";
    for (const char* format : {"megatron", "bridge"}) {
        CHECK(lists(written_job(format, few), "field.shard_replicas"));
        CHECK_FALSE(lists(written_job(format, enough), "field.shard_replicas"));
    }
    CHECK(lists(written_job("megatron", enough, "0.12"), "field.shard_replicas"));
    CHECK(lists(written_job("torchtitan", R"({"model": "qwen3-4b", "pipeline_parallel": 2})"), "export.left_out.tied_stages"));
    CHECK_FALSE(lists(written_job("torchtitan", R"({"model": "qwen3-8b", "pipeline_parallel": 2})"), "export.left_out.tied_stages"));
    const Json tuned = written_job("bridge", R"({"trained": "lora", "context_parallel": 2})");
    for (const char* line : {"model.calculate_per_token_loss=true", "ddp.average_in_collective=false"}) CHECK(writes(tuned, line));
}

TEST_CASE("context parallelism's kind: Megatron-Bridge and NeMo 2 say it") {
    const char* plan = R"({"context_parallel": 2, "context_parallel_kind": "all_to_all"})";
    CHECK((writes(written_job("bridge", plan), "model.cp_comm_type=a2a \\\n") &&
           !lists(written_job("bridge", plan), "context_parallel_kind")));
    CHECK(writes(written_job("nemo2", plan), "model.config.cp_comm_type=a2a \\\n"));
    CHECK(writes(written_job("bridge", R"({"context_parallel": 2})"), "model.cp_comm_type=p2p \\\n"));
}
