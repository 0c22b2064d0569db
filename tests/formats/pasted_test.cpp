// Scripts and configurations as people have them: what they say beside the arguments of a program.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {
const std::string kPastedTrainer =
    "torchrun --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 1 --max_seq_length "
    "4096 ";
}

TEST_CASE("accelerate: FSDP and DeepSpeed in the environment are those of its launcher") {
    const Json job = first_of_script(
        "export ACCELERATE_USE_FSDP=true\nexport FSDP_SHARDING_STRATEGY=FULL_SHARD\nexport FSDP_OFFLOAD_PARAMS=true\n"
        "export FSDP_ACTIVATION_CHECKPOINTING=true\nexport ACCELERATE_MIXED_PRECISION=bf16\n" +
        kPastedTrainer + "\n");
    CHECK(some(job, {"zero", "fully_shard", "optimizer_offload", "weights_offload", "recompute", "precision"}) ==
          R"(zero="weights" fully_shard="off" optimizer_offload=1.0 weights_offload=true recompute="full" precision="bf16")");
    CHECK(fate(job, "FSDP_SHARDING_STRATEGY") == "used 2");
    const auto before = [](const char* settings, const char* more) { return first_of_script(settings + kPastedTrainer + more + "\n"); };
    CHECK(some(before("ACCELERATE_USE_FSDP=1 FSDP_VERSION=2 FSDP_RESHARD_AFTER_FORWARD=false ", ""), {"zero", "fully_shard"}) ==
          R"(zero="gradients" fully_shard=?)");
    const char* const three =
        "ACCELERATE_USE_DEEPSPEED=true ACCELERATE_DEEPSPEED_ZERO_STAGE=3 ACCELERATE_DEEPSPEED_OFFLOAD_OPTIMIZER_DEVICE=cpu ";
    CHECK(some(before(three, "--bf16"), {"zero", "optimizer_offload"}) == R"(zero="weights" optimizer_offload=1.0)");
    CHECK(some(before("ACCELERATE_USE_DEEPSPEED=true ACCELERATE_DEEPSPEED_CONFIG_FILE=conf/zero2.json ", ""), {"zero"}) ==
          R"(zero="gradients")");
    CHECK(some(before("ACCELERATE_USE_FSDP=false ", ""), {"zero"}) == R"(zero="none")");
    CHECK(some(before("ACCELERATE_MIXED_PRECISION=bf16 ", "--fp16"), {"precision"}) == R"(precision="fp16")");  // its own word counts
}

TEST_CASE("Trainer: an object in the place of a file") {
    const Json job = first_of_script(
        kPastedTrainer + R"(--bf16 --fsdp "full_shard auto_wrap" --fsdp_config '{"fsdp_version": 2, "activation_checkpointing": true}')" +
        "\n");
    CHECK(some(job, {"zero", "fully_shard", "recompute"}) == R"(zero="weights" fully_shard=? recompute="full")");
    const Json zero = first_of_script(
        kPastedTrainer +
        R"(--deepspeed '{"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}, "bf16": {"enabled": true}}')" + "\n");
    CHECK(some(zero, {"zero", "weights_offload", "precision"}) == R"(zero="weights" weights_offload=true precision="bf16")");
    CHECK(fate(zero, "zero_optimization.stage") == "used 1");
}

TEST_CASE("accelerate: a loop of one's own, its plugins, its data and its launcher") {
    const std::string program =
        "import torch\nfrom accelerate import Accelerator, FullyShardedDataParallelPlugin\nfrom transformers import AutoModelForCausalLM\n"
        "plugin = FullyShardedDataParallelPlugin(sharding_strategy=\"SHARD_GRAD_OP\", activation_checkpointing=True)\n"
        "accelerator = Accelerator(mixed_precision=\"bf16\", gradient_accumulation_steps=8, fsdp_plugin=plugin)\n"
        "model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-3.1-8B\")\n"
        "loader = DataLoader(train, batch_size=2, shuffle=True)\neval_loader = DataLoader(val, batch_size=16)\n"
        "tok(\"a\", truncation=True, max_length=4096)\n";
    const std::string adam = "optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)\n";
    const Json job = read_answer({{"text", program + adam}, {"set", {{"gpus", "16"}}}})["jobs"][0];
    CHECK(some(job, {"model", "micro_batch", "global_batch", "sequence_length", "precision", "zero", "recompute", "moments"}) ==
          R"(model="llama-3.1-8b" micro_batch=2 global_batch=256 sequence_length=4096 precision="bf16" zero="gradients" recompute="full" )"
          "moments=?");
    CHECK(some(first_of_script(program + "optimizer = bnb.optim.PagedAdamW8bit(model.parameters())\n"), {"moments"}) ==
          R"(moments="8-bit")");
    const auto loop = [](const std::string& plugin) {
        return first_of_script("from accelerate import Accelerator\nfrom transformers import AutoModelForCausalLM\n" + plugin +
                               "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-7B\")\ndl = DataLoader(d, batch_size=4)\n");
    };
    const Json stage = loop(
        "plugin = DeepSpeedPlugin(zero_stage=3, gradient_accumulation_steps=4, offload_optimizer_device=\"cpu\")\n"
        "a = Accelerator(deepspeed_plugin=plugin)\n");
    CHECK(some(stage, {"zero", "optimizer_offload", "micro_batch", "recompute"}) ==
          R"(zero="weights" optimizer_offload=1.0 micro_batch=4 recompute="none")");
    CHECK(some(loop("a = Accelerator()\n"), {"zero", "micro_batch", "global_batch"}) == "zero=? micro_batch=4 global_batch=?");
    CHECK(some(loop("a = Accelerator(split_batches=True)\n"), {"micro_batch"}) == "micro_batch=?");
    const Json launched =
        loop("#\naccelerate launch --use_fsdp --fsdp_sharding_strategy FULL_SHARD --num_processes 8 a.py\na = Accelerator()\n");
    CHECK(some(launched, {"zero", "gpus"}) == R"(zero="weights" gpus=8)");
}

TEST_CASE("oat: OpenRLHF's words in another spelling") {
    const std::string text =
        "python -m oat.experiment.main --gpus 8 --collocate --gradient-checkpointing --flash-attn --bf16 --pretrain Qwen/Qwen2.5-7B "
        "--zero-stage 2 --prompt_max_length 1024 --generate_max_length 3072 --train_batch_size 128 --train_batch_size_per_device 1\n";
    const Json job = first_of_script(text);
    CHECK(some(job, {"gpus", "zero", "sequence_length", "micro_batch", "global_batch", "recompute", "model"}) ==
          R"(gpus=8 zero="gradients" sequence_length=4096 micro_batch=1 global_batch=128 recompute="full" model="qwen2.5-7b")");
    CHECK(ids(job["notes"]) == "import_plan.note.actor");
}

TEST_CASE("Levanter: what a command says beside a file that is not here is not all") {
    const Json job = first_of_script(
        "python -m levanter.main.train_lm --config_path config/llama2_7b.yaml --trainer.train_batch_size 1024 "
        "--trainer.per_device_parallelism 4 --trainer.mp p=f32,c=bfloat16 --model.seq_len 4096\n");
    CHECK(some(job, {"global_batch", "micro_batch", "sequence_length", "precision", "zero", "recompute"}) ==
          R"(global_batch=1024 micro_batch=4 sequence_length=4096 precision="bf16" zero=? recompute=?)");
    CHECK(job["notes"].dump().find("config/llama2_7b.yaml") != std::string::npos);
    const Json alone = first_of(
        "model.type = \"llama\"\nmodel.seq_len = 4096\ndata.tokenizer = \"own/words\"\ntrainer.mp = \"p=f32,c=bfloat16\"\n"
        "trainer.train_batch_size = 64\n");
    CHECK(alone["asked"].dump() == R"(["vocab_size","gpus","micro_batch"])");
}

TEST_CASE("Megatron-Bridge: the configuration that a run leaves behind has the whole model") {
    const std::string rest =
        "model._target_ = \"megatron.bridge.models.llama.llama_provider.Llama31ModelProvider\"\nmodel.num_layers = 32\n"
        "model.hidden_size = 4096\nmodel.num_attention_heads = 32\nmodel.num_query_groups = 8\nmodel.ffn_hidden_size = 14336\n"
        "model.vocab_size = 128256\nmodel.seq_length = 8192\nmodel.normalization = \"RMSNorm\"\nmodel.add_bias_linear = false\n"
        "model.position_embedding_type = \"rope\"\nmodel.share_embeddings_and_output_weights = false\n"
        "model.pipeline_model_parallel_size = 2\ntrain.global_batch_size = 512\ntrain.micro_batch_size = 1\n";
    CHECK(some(first_of(rest + "model.gated_linear_unit = true\n"), {"model"}) == R"(model="llama-3-8b")");
    CHECK(first_of(rest)["asked"].dump() == R"(["gpus","model"])");
}

TEST_CASE("a container's --gpus all is no number of GPUs") {
    const std::string rest =
        " torchrun --nproc_per_node=4 pretrain_gpt.py --num-layers 4 --hidden-size 256 --num-attention-heads 4 --seq-length 256 "
        "--max-position-embeddings 256 --micro-batch-size 1 --bf16 --vocab-size 1000\n";
    for (const char* gpus : {"all", "'\"device=0,1,2,3\"'"}) {
        const Json job = first_of_script(std::string("docker run --rm --gpus ") + gpus + " image" + rest);
        CHECK(job["refused"].empty());
        CHECK(fate(job, "--gpus") == "no_number 1");
        CHECK(some(job, {"gpus"}) == "gpus=4");
    }
}

TEST_CASE("arguments behind a file count before it: Axolotl by accelerate, Primus by its script") {
    const Json job =
        first_of_script("accelerate launch --num_processes 8 -m axolotl.cli.train a.yml --micro_batch_size 2 --sequence_len 4096\n");
    CHECK(some(job, {"gpus", "micro_batch", "sequence_length"}) == "gpus=8 micro_batch=2 sequence_length=4096");
    const std::string file =
        "cat > a.yaml <<'EOF'\nmodules:\n  pre_trainer:\n    framework: torchtitan\n    model: llama3.1_70B.yaml\n    overrides:\n"
        "      training:\n        local_batch_size: 4\n        seq_len: 8192\n      activation_checkpoint:\n        mode: full\n"
        "      hf_path: meta-llama/Llama-3.1-70B\nEOF\nexport NNODES=2 GPUS_PER_NODE=8\n";
    const Json answer = read_script_of(file + "EXP=a.yaml bash examples/run_pretrain.sh --training.seq_len 4096\n");
    CHECK(answer["format"] == "primus");
    const Json primus = answer["jobs"][0];
    CHECK(some(primus, {"model", "gpus", "micro_batch", "sequence_length", "recompute"}) ==
          R"(model="llama-3.1-70b" gpus=16 micro_batch=4 sequence_length=4096 recompute="full")");
    CHECK(fate(primus, "modules.pre_trainer.overrides.training.seq_len") == "contradicted 9");
    CHECK(fate(primus, "modules.pre_trainer.overrides.hf_path") == "no_number 12");
    CHECK(ids(primus["notes"]) == "import_plan.note.recipe");
}

TEST_CASE("names that programs of another kind share make no format") {
    const auto format = [](const std::string& text) {
        const Json answer = json(api::import_plan(Json{{"entries", settings(text)}, {"set", Json::object()}}.dump()));
        return answer["ok"] == true ? answer["format"].get<std::string>() : answer["problems"][0]["message"]["id"].get<std::string>();
    };
    CHECK(format("distributed.tp_size = 2\ndistributed.pp_size = 2\nmodel.num_hidden_layers = 16\nmodel.num_attention_heads = 16\n"
                 "model.num_key_value_heads = 4\ntraining.seq_length = 1024\ntraining.micro_batch_size = 4\n") == "problem.import_format");
    CHECK(format("max_steps = 100\nmodel.name = \"Qwen/Qwen3-8B\"\nmodel.seq_len = 8192\ndata.batch_size = 64\n"
                 "data.micro_batch_size = 1\n") == "problem.import_format");
}

TEST_CASE("SFTTrainer takes a model's name in its place") {
    const Json job = first_of_script(
        "from trl import SFTConfig, SFTTrainer\nargs = SFTConfig(max_length=2048, per_device_train_batch_size=4, bf16=True)\n"
        "trainer = SFTTrainer(\"mistralai/Mistral-7B-v0.1\", train_dataset=ds, args=args)\n");
    CHECK(some(job, {"model", "micro_batch"}) == R"(model="mistral-7b" micro_batch=4)");
}

TEST_CASE("Megatron-LM: a gate behind attention is the model's, whatever else its layers have") {
    const std::string text =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
        "--group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm --disable-bias-linear "
        "--untie-embeddings-and-output-weights --position-embedding-type rope --vocab-size 128256 --seq-length 4096 "
        "--max-position-embeddings 8192 --micro-batch-size 2 --bf16";
    CHECK(some(first_of_script(text + "\n"), {"model"}) == R"(model="llama-3-8b")");
    CHECK(first_of_script(text + " --attention-output-gate\n")["job"]["model"]["attn_output_gate"] == true);
}

TEST_CASE("batches and a model beside a program in Python are no recipe of NeMo's") {
    const Json answer = json(api::import_plan(Json{
        {"text",
         "from own import setup\nsetup(model_name=\"Llama-3-8B\", devices=8, num_nodes=2, global_batch_size=512, "
         "micro_batch_size=4)\n"}}.dump()));
    CHECK(answer["ok"] == false);
}

TEST_CASE("Megatron-DeepSpeed: sequences that are split leave fewer copies") {
    const Json job = first_of_script(
        "deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py --no-pipeline-parallel --ds-sequence-parallel-size 4 --num-layers 4 "
        "--hidden-size 256 --num-attention-heads 4 --seq-length 256 --max-position-embeddings 256 --micro-batch-size 1 "
        "--global-batch-size 4 --vocab-size 1000 --bf16 --zero-stage 3 --deepspeed\n");
    CHECK(job["refused"].empty());
    CHECK(some(job, {"context_parallel", "context_parallel_kind", "global_batch"}) ==
          R"(context_parallel=4 context_parallel_kind="all_to_all" global_batch=4)");
}

TEST_CASE("torchtune: the names of its own recipes and configurations say what is trained") {
    const auto tune = [](const char* rest) { return first_of_script(std::string("tune run --nproc_per_node 8 ") + rest + "\n"); };
    CHECK(some(tune("lora_finetune_distributed --config llama3_1/70B_lora model.lora_rank=64"), {"model", "trained", "lora_rank"}) ==
          R"(model="llama-3.1-70b" trained="lora" lora_rank=64)");
    CHECK(some(tune("full_finetune_distributed --config llama3_1/8B_full"), {"model", "trained"}) == R"(model="llama-3.1-8b" trained=?)");
    CHECK(some(tune("full_finetune_distributed --config conf/my_run.yaml"), {"model"}) == "model=?");
}

TEST_CASE("a Trainer's --config is a file of all arguments, and what it may say is not assumed") {
    const Json job = first_of_script("torchrun --nproc_per_node=8 train.py --config configs/sft.yaml --per_device_train_batch_size=4\n");
    CHECK(some(job, {"gpus", "micro_batch", "zero", "recompute", "global_batch"}) ==
          "gpus=8 micro_batch=4 zero=? recompute=? global_batch=?");
    CHECK(job["notes"].dump().find("configs/sft.yaml") != std::string::npos);
    const std::string file =
        "cat > a.yaml <<EOF\nmodel_name_or_path: Qwen/Qwen2.5-7B\nmax_length: 4096\ngradient_checkpointing: true\nEOF\n";
    const Json here = first_of_script(file + "torchrun --nproc_per_node=8 train.py --config a.yaml --per_device_train_batch_size=4\n");
    CHECK(some(here, {"model", "sequence_length", "micro_batch", "recompute"}) ==
          R"(model="qwen2.5-7b" sequence_length=4096 micro_batch=4 recompute="full")");
}

TEST_CASE("accelerate's file in a script is told as it is written; Axolotl by torchrun; verl without a launcher") {
    const Json job = first_of_script(
        "cat > a.yaml <<EOF\ndistributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\nnum_processes: 8\nEOF\n"
        "accelerate launch --config_file a.yaml train.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1\n");
    for (const Json& key : job["keys"])
        if (key["key"] == "distributed_type") CHECK(key["value"] == "FSDP");
    CHECK(some(job, {"zero", "gpus"}) == R"(zero="weights" gpus=8)");
    CHECK(read_script_of("torchrun --nproc_per_node=8 -m axolotl.cli.train a.yaml --deepspeed zero3.json\n")["format"] == "axolotl");
    CHECK(some(first_of_script("python -m verl.trainer.sft_trainer data.train_batch_size=256 data.max_length=8192 "
                               "data.micro_batch_size_per_gpu=1 model.path=Qwen/Qwen3-8B engine.strategy=fsdp2 "
                               "engine.ulysses_sequence_parallel_size=4 trainer.nnodes=2 "
                               "trainer.n_gpus_per_node=8\n"),
               {"gpus"}) == "gpus=16");
}
