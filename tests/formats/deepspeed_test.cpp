// What DeepSpeed makes of a run below Megatron-DeepSpeed and gpt-neox, and presets of Primus that are changed.
#include "formats/settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

const std::string kSmallGpt =
    "pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 "
    "--micro-batch-size 2 --vocab-size 50257 ";
const std::string kSmallNeox =
    "pipe_parallel_size = 1\nmodel_parallel_size = 1\nnum_layers = 8\nhidden_size = 1024\nnum_attention_heads = 8\nseq_length = 2048\n"
    "max_position_embeddings = 2048\ntrain_micro_batch_size_per_gpu = 4\n";

}  // namespace

TEST_CASE("Megatron-DeepSpeed: bf16 without ZeRO divides the optimizer, attention is plain, gradients are as DeepSpeed adds them up") {
    const std::string start = "deepspeed --num_gpus 8 ${DIR}/" + kSmallGpt + "--global-batch-size 16 ";
    const auto job = [&](const std::string& said) { return first_of_script(start + said); };
    const Json bf16 = job("--bf16 --deepspeed --deepspeed_config ds.json --zero-stage=0");
    CHECK(some(bf16, {"gpus", "zero", "gradients_in_fp32", "attention"}) ==
          R"(gpus=8 zero="optimizer" gradients_in_fp32=? attention="plain")");
    CHECK(some(job("--fp16 --deepspeed --zero-stage=0"), {"zero", "gradients_in_fp32"}) == R"(zero="none" gradients_in_fp32=false)");
    CHECK(some(job("--bf16 --deepspeed --zero-stage=1 --use-flash-attn-triton"), {"zero", "gradients_in_fp32", "attention"}) ==
          R"(zero="optimizer" gradients_in_fp32=false attention="flash")");
    CHECK(job("--bf16 --deepspeed --zero-stage=1 --distribute-saved-activations")["notes"].dump().find("distribute_saved") !=
          std::string::npos);
}

TEST_CASE("Megatron-DeepSpeed: a document in the script takes the script's own names, and says the batch") {
    const Json job = first_of_script(
        "stage=2; mbs=4; gradient_accumulation_steps=3\ncat <<EOT > ds.json\n{\"train_micro_batch_size_per_gpu\": $mbs, "
        "\"gradient_accumulation_steps\": $gradient_accumulation_steps,\n\"zero_optimization\": {\"stage\": ${stage}, "
        "\"cpu_offload_params\": true, \"zero_hpz_partition_size\": 8},\n\"data_types\": {\"grad_accum_dtype\": \"fp32\"}, "
        "\"bf16\": {\"enabled\": true}}\nEOT\ndeepspeed --num_gpus 8 " +
        kSmallGpt + "--micro-batch-size 4 --bf16 --deepspeed --deepspeed_config ds.json\n");
    CHECK(some(job, {"zero", "global_batch", "micro_batch", "gradients_in_fp32"}) ==
          R"(zero="gradients" global_batch=96 micro_batch=4 gradients_in_fp32=true)");
    CHECK(job["job"]["weights_offload"] == true);
    CHECK(ids(job["notes"]) == "import_plan.note.not_counted");  // hpz
    CHECK(job["asked"].empty());
}

TEST_CASE("DeepSpeed: its file pasted above or below the command, or above what the run printed") {
    const std::string file =
        "{\n  \"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"cpu\"}},\n  \"train_batch_size\": \"auto\"\n}\n";
    const std::string command =
        "deepspeed --num_gpus 8 train.py --deepspeed ds_config.json --model_name_or_path meta-llama/Llama-3.1-8B "
        "--per_device_train_batch_size 1 --gradient_accumulation_steps 8 --max_seq_length 4096 --bf16 True\n";
    const std::string log =
        "[rank3]:     trainer.train()\n[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB. GPU 3 has a total "
        "capacity of 79.25 GiB of which 3.11 GiB is free.\n";
    for (const std::string& text : {command + file, file + command, "ds_config.json:\n" + file + "\n" + command + log}) {
        const Json job = first_of_script(text);
        CHECK(some(job, {"zero", "optimizer_offload"}) == R"(zero="gradients" optimizer_offload=1.0)");
        CHECK(ids(job["notes"]).find("note.file") == std::string::npos);  // it is here
    }
    const Json job = first_of_script(file + log);
    CHECK(some(job, {"zero", "optimizer_offload"}) == R"(zero="gradients" optimizer_offload=1.0)");
    CHECK(job["asked"].size() > 3);
}

TEST_CASE("gpt-neox: attention, optimizer, types and gates by its older names") {
    const auto neox = [](const std::string& said) { return first_of(kSmallNeox + said); };
    CHECK(some(neox(""), {"attention"}) == R"(attention="plain")");
    CHECK(some(neox("attention_config.0.0 = [\"flash\"]\nattention_config.0.1 = 8\n"), {"attention"}) == R"(attention="flash")");
    CHECK(some(neox("bf16.enabled = true\nzero_optimization.stage = 0\n"), {"precision", "zero", "gradients_in_fp32"}) ==
          R"(precision="bf16" zero="optimizer" gradients_in_fp32=true)");
    CHECK(some(neox("fp16.enabled = true\nfp16.type = \"bfloat16\"\nzero_optimization.stage = 1\n"), {"precision", "gradients_in_fp32"}) ==
          R"(precision="bf16" gradients_in_fp32=false)");
    CHECK(some(neox("zero_optimization.stage = 3\nzero_optimization.offload_optimizer.device = \"cpu\"\n"), {"optimizer_offload"}) ==
          "optimizer_offload=1.0");
    for (const std::string stage : {"[0, 1, 2, 3]", "4"})  // to be tried in turn, or none of them
        CHECK(some(neox("zero_optimization.stage = " + stage + "\n"), {"zero", "gradients_in_fp32"}) == "zero=? gradients_in_fp32=?");
    CHECK(some(neox("precision = \"bfloat15\"\n"), {"precision"}) == "precision=?");
    CHECK(neox("optimizer.type = \"Lion\"\n")["notes"].dump().find("Lion") != std::string::npos);
    CHECK(some(neox("optimizer.type = \"sgd\"\n"), {"optimizer"}) == R"(optimizer="sgd")");
    CHECK(neox("te_fp8_format = \"hybrid\"\n")["notes"].dump().find("te_fp8_format") != std::string::npos);
    const auto model = [&](const std::string& said) { return neox("vocab_size = 50000\n" + said)["job"]["model"]; };
    const Json llama = model("mlp_type = \"llama\"\nactivation = \"silu\"\n"), geglu = model("activation = \"geglu\"\n");
    CHECK(llama.value("gated_mlp", true));
    CHECK_FALSE(llama.value("mlp_bias", false));
    CHECK(llama["intermediate_size"] == 2'816);  // 8/3 * 1,024 = 2,730, in steps of 256
    CHECK(geglu.value("gated_mlp", true));
    CHECK(geglu["intermediate_size"] == 2'048);
    const Json gated = model("mlp_type = \"gated\"\nmlp_multiple_of = 64\nactivation = \"silu\"\nuse_bias_in_mlp = true\n");
    CHECK(gated.value("gated_mlp", true));
    CHECK(gated["mlp_bias"] == true);
    CHECK(gated["intermediate_size"] == 2'752);  // in steps of 64
    CHECK(fate(neox("mlp_type = \"regular\"\n"), "mlp_type").starts_with("no_number"));
    CHECK(fate(neox("mlp_type = \"maxout\"\n"), "mlp_type").starts_with("unknown"));
}

TEST_CASE("DeepSpeed: a setting of ZeRO that it does not have, and a part of the optimizer on the host before stage 3, stop it") {
    const auto refused = [](const std::string& said) {
        return ids(first_of("train_micro_batch_size_per_gpu = 1\nzero_optimization.stage = 2\n" + said)["refused"]);
    };
    CHECK(refused("zero_optimization.prefetch_bucket_size = 5\nzero_optimization.stage3_max_live_parameters = 5\n") == "");
    CHECK(refused("zero_optimization.zero_hpz_partition_size = 8\nzero_optimization.offload_optimizer.device = \"cpu\"\n") == "");
    CHECK(refused("zero_optimization.offload_device = \"cpu\"\n") == "");  // it may be a later release's, and is not understood
    CHECK(refused("zero_optimization.stages = 3\n") == "import_plan.refused.no_key");
    CHECK(refused("zero_optimization.contigous_gradients = true\n") == "import_plan.refused.no_key");
    CHECK(refused("zero_optimization.offload_optimizer.ratio = 0.5\n") == "import_plan.refused.needs");
    CHECK(refused("train_batch_size = 9\n") == "");
    const auto batch = [](const std::string& said) {
        return first_of("train_micro_batch_size_per_gpu = 2\ngradient_accumulation_steps = 4\nzero_optimization.stage = 2\n" + said);
    };
    CHECK(ids(batch("train_batch_size = 9\n")["refused"]) == "import_plan.refused.batch");
    CHECK(fate(batch("train_batch_size = 12\n"), "train_batch_size") == "unknown 4");
    const Json gpu = first_of("zero_optimization.stage = 3\nzero_optimization.offload_optimizer.device = \"gpu\"\n");
    CHECK(fate(gpu, "zero_optimization.offload_optimizer.device") == "unknown 2");
    CHECK(some(gpu, {"optimizer_offload"}) == "optimizer_offload=?");
}

TEST_CASE("Primus: sizes beside a preset change its model; layers a chunk are the preset's") {
    const auto primus = [](const std::string& preset, const std::string& said) {
        return first_of("modules.pre_trainer.framework = \"megatron\"\nmodules.pre_trainer.model = \"" + preset + "\"\n" + said);
    };
    const std::string to = "modules.pre_trainer.overrides.";
    const Json small = primus("deepseek_v3.yaml", to + "num_layers = 4\n" + to + "mtp_num_layers = null\n" + to + "num_experts = 16\n" +
                                                      to + "moe_layer_freq = 1\n");
    CHECK(small["job"]["model"]["num_hidden_layers"] == 4);
    CHECK(small["job"]["model"]["n_routed_experts"] == 16);
    CHECK(small["job"]["model"]["num_nextn_predict_layers"] == 0);
    CHECK(small["job"]["model"]["first_k_dense_replace"] == 0);
    CHECK(some(primus("deepseek_v3.yaml", to + "num_layers = 61\n"), {"model"}) == R"(model="deepseek-v3")");
    CHECK(primus("deepseek_v3.yaml", to + "multi_latent_attention = false\n")["asked"].dump().find("model") != std::string::npos);
    const Json chunks =
        primus("llama3.1_70B.yaml", to + "pipeline_model_parallel_size = 4\n" + to + "num_layers_per_virtual_pipeline_stage = 5\n");
    CHECK(some(chunks, {"virtual_stages"}) == "virtual_stages=4");
    CHECK(chunks["refused"].empty());
    const Json layout =
        primus("kimi.yaml", to + "pipeline_model_parallel_size = 8\n" + to + "pipeline_model_parallel_layout = \"Et*3|(t*4|)*14,t*2,L\"\n");
    CHECK(some(layout, {"virtual_stages"}) == "virtual_stages=2");
    CHECK(some(primus("deepseek_v3.yaml", to + "enable_primus_turbo = true\n" + to + "use_turbo_deepep = true\n"), {"expert_dispatch"}) ==
          R"(expert_dispatch="deepep")");
}

TEST_CASE("Megatron-LM: fusions that are switched off") {
    const Json job =
        first_of_script("torchrun --nproc_per_node 8 " + kSmallGpt + "--bf16 --no-gradient-accumulation-fusion --no-masked-softmax-fusion");
    CHECK(some(job, {"gradient_fusion", "softmax_fusion"}) == R"(gradient_fusion="off" softmax_fusion="off")");
}

TEST_CASE("Megatron-LM stops where its configuration contradicts itself") {
    const std::string start = "torchrun --nproc_per_node 8 " + kSmallGpt + "--bf16 --use-distributed-optimizer --global-batch-size 16 ";
    const auto said = [&](const std::string& more) {
        std::string all;
        const Json job = first_of_script(start + more);
        for (const Json& one : job["refused"]) {
            const Json args = one.value("args", Json::object());
            all += (all.empty() ? "" : "; ") + one["id"].get<std::string>().substr(20) + " " + args.value("one", "") + " " +
                   args.value("other", "");
        }
        return all;
    };
    CHECK(said("") == "");
    CHECK(said("--recompute-granularity full") ==
          "needs --recompute-granularity full --recompute-method; needs --recompute-granularity full --recompute-num-layers");
    CHECK(said("--recompute-granularity full --recompute-method uniform --recompute-num-layers 1") == "");
    CHECK(said("--recompute-granularity selective --recompute-num-layers 1") ==
          "both --recompute-granularity selective --recompute-num-layers");
    CHECK(said("--tensor-model-parallel-size 2 --sequence-parallel --distribute-saved-activations") ==
          "both --distribute-saved-activations --sequence-parallel");
    CHECK(said("--cpu-offloading-num-layers 4 --recompute-activations") == "both --cpu-offloading-num-layers --recompute-granularity");
    const std::string older = "--recompute-activations --recompute-granularity full";  // the first of the two decides
    CHECK(said(older) == "");
    CHECK(some(first_of_script(start + older), {"recompute"}) == R"(recompute="selective")");
    CHECK(said("--cpu-offloading-num-layers 4 --pipeline-model-parallel-size 2") ==
          "both --cpu-offloading-num-layers --pipeline-model-parallel-size");
    CHECK(said("--recompute-granularity selective --recompute-modules mla_up_proj") ==
          "needs --recompute-modules mla_up_proj --multi-latent-attention");
    CHECK(said("--recompute-granularity selective --recompute-modules layernorm --fp8-format hybrid") ==
          "both --recompute-modules layernorm --fp8-recipe delayed");
    CHECK(said("--recompute-granularity selective --recompute-modules layernorm --fp8-format hybrid --fp8-recipe tensorwise") == "");
    CHECK(said("--recompute-granularity ful") == "no_key  ");
    CHECK(said("--recompute-granularity full --recompute-method unifrom --recompute-num-layers 1") == "no_key  ");
    CHECK(said("--normalization rmsnorm --position-embedding-type rope --fp8-format hybrid") == "");
    CHECK(said("--fp8-format hybrid --fp8-recipe delyed") == "no_key  ");
    CHECK(said("--use-precision-aware-optimizer --main-grads-dtype bf16 --exp-avg-dtype fp8") == "");
    CHECK(said("--normalization ScaleNorm") == "");  // of a fork, perhaps: not understood
    CHECK(said("--exp-avg-dtype bf16") == "needs --exp-avg-dtype --use-precision-aware-optimizer");
    CHECK(said("--num-layers-per-virtual-pipeline-stage 2") ==
          "needs --num-layers-per-virtual-pipeline-stage --pipeline-model-parallel-size");
    CHECK(said("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*11|t*12L'") == "layout_layers  ");
    CHECK(said("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*8|t*8|t*8L'").starts_with("layout_chunks"));
}

TEST_CASE("Megatron-LM: a vocabulary of GPT-2 is not taken for SentencePiece words, and a model of several kinds of layers is asked for") {
    const std::string start =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 "
        "--max-position-embeddings 2048 --micro-batch-size 1 --bf16 ";
    CHECK(some(first_of_script(start + "--tokenizer-type GPT2BPETokenizer"), {"model"}) == R"(model="gpt-3-175b")");
    CHECK(first_of_script(start + "--tokenizer-type SentencePieceTokenizer --tokenizer-model /x/words.model")["asked"].dump() ==
          R"(["vocab_size"])");
    CHECK(first_of_script(start + "--vocab-size 1000 --hybrid-layer-pattern M*M-/MM")["asked"].dump() == R"(["model"])");
}
