// Recipes of NeMo and Megatron-Bridge that are started by a command, presets, and what a recipe that is not there leaves open.
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::ids;
using tests::read_script_of;
using tests::some;

static Json nemo_job(const std::string& text) { return tests::first_of_script(text); }
static const std::string kBridge = "from megatron.bridge.training.config import ConfigContainer\n";
static Json bridge_job(const std::string& body) {
    std::string text =
        kBridge + "def f():\n    cfg = base()\n    cfg.model.tensor_model_parallel_size = 2\n    cfg.train.micro_batch_size = 1\n";
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);) text += "    cfg." + line + "\n";
    return nemo_job(text);
}

TEST_CASE("performance scripts: long and short flags name a recipe") {
    const std::string fields =
        "model=\"llama-3-70b\" gpus=64 gpus_per_node=8 tensor_parallel=4 pipeline_parallel=8 virtual_stages=5 context_parallel=? "
        "precision=\"fp8_weights\" sequence_parallel=true hidden_dropout=?";
    const auto read = [](const std::string& text) {
        return some(nemo_job(text), {"model", "gpus", "gpus_per_node", "tensor_parallel", "pipeline_parallel", "virtual_stages",
                                     "context_parallel", "precision", "sequence_parallel", "hidden_dropout"});
    };
    CHECK(read("python scripts/performance/setup_experiment.py --model_family_name llama --model_recipe_name llama3_70b --gpu h100 "
               "--num_gpus 64 --gpus_per_node 8 --compute_dtype fp8_cs --tensor_model_parallel_size 4 --pipeline_model_parallel_size 8 "
               "--virtual_pipeline_model_parallel_size 5 --micro_batch_size 1\n") == fields);
    CHECK(read("#SBATCH --nodes 1\npython scripts/performance/setup_experiment.py -m llama3 -s 70b -g h100 -ng 64 -gn 8 -c fp8_cs -tp 4 "
               "-pp 8 -vp 5 -mb 1\n") == fields);
    CHECK(read("python3 -m scripts.performance.llm.pretrain_llama3_70b --num_gpus 64 --gpus_per_node 8 --compute_dtype fp8 "
               "--tensor_parallel_size 4 --pipeline_parallel_size 8 --virtual_pipeline_parallel_size 5 slurm --account a\n") == fields);
    CHECK(read_script_of("python -m scripts.performance.llm.pretrain_llama3_8b -tp 2\n")["format"] == "nemo-2");
    // MXFP8: weights in 8 bits in Megatron-Bridge alone
    const std::string eight = "python -m scripts.performance.llm.pretrain_llama3_8b -tp 2 -c fp8 -fr ";
    CHECK(some(nemo_job(eight + "mxfp8\n"), {"precision"}) == "precision=\"fp8\"");
    CHECK(some(nemo_job(eight + "cs\n"), {"precision"}) == "precision=\"fp8_weights\"");
    CHECK(some(nemo_job("python setup_experiment.py -mr llama3_8b -ng 8 -c fp8_mx -rm mlp,moe_act -fsdp 1\n"),
               {"precision", "recompute", "recompute_modules", "zero"}) ==
          R"(precision="fp8_weights" recompute="selective" recompute_modules="mlp,moe_act" zero="weights")");
    CHECK(some(nemo_job("python setup_experiment.py -mr llama3_8b -ng 8 -rl 4 --task lora\n"),
               {"precision", "recompute", "recompute_layers", "trained", "lora_rank"}) ==
          R"(precision="bf16" recompute="block" recompute_layers=4 trained="lora" lora_rank=?)");
    CHECK(some(nemo_job("torchrun --nproc_per_node=8 run_recipe.py --recipe qwen3_8b_pretrain_config -tp 2 -mb 1 -sl 4096\n"),
               {"model", "gpus", "tensor_parallel", "micro_batch", "sequence_length", "sequence_parallel"}) ==
          "model=\"qwen3-8b\" gpus=8 tensor_parallel=2 micro_batch=1 sequence_length=4096 sequence_parallel=?");
}

TEST_CASE("nemo llm: a factory with arguments, and LoRA where a fine-tuning says nothing") {
    const Json bare = read_script_of("nemo llm pretrain --factory llama3_8b\n");
    CHECK(bare["format"] == "nemo-2");
    CHECK(some(bare["jobs"][0], {"model", "gpus"}) == "model=\"llama-3-8b\" gpus=?");
    CHECK(some(nemo_job("nemo llm pretrain -f llama3_70b -y trainer.strategy.tensor_model_parallel_size=4\n"),
               {"model", "tensor_parallel"}) == "model=\"llama-3-70b\" tensor_parallel=4");
    CHECK(some(nemo_job("nemo llm pretrain --factory \"llama3_70b(num_nodes=8, num_gpus_per_node=8, name='x')\"\n"), {"model", "gpus"}) ==
          "model=\"llama-3-70b\" gpus=64");
    const std::string tune = "nemo llm finetune --factory llama3_8b trainer.devices=8 trainer.num_nodes=1 ";
    CHECK(some(nemo_job(tune + "data.micro_batch_size=1\n"), {"trained", "lora_rank", "lora_targets"}) ==
          R"(trained="lora" lora_rank=? lora_targets=?)");
    CHECK(some(nemo_job(tune + "peft=none\n"), {"trained"}) == "trained=?");
    CHECK(some(nemo_job(tune + "peft.dim=8\n"), {"trained", "lora_rank", "lora_targets"}) ==
          R"(trained="lora" lora_rank=8 lora_targets=?)");
    const std::string recipe = "from nemo.collections import llm\nrecipe = llm.llama3_8b.finetune_recipe(num_nodes=1, num_gpus_per_node=8";
    const std::string batch = ")\nrecipe.data.global_batch_size = 8\n";
    CHECK(some(nemo_job(recipe + batch), {"trained", "lora_rank"}) == R"(trained="lora" lora_rank=?)");
    CHECK(some(nemo_job(recipe + ", peft_scheme=\"lora\"" + batch), {"trained", "lora_rank"}) == R"(trained="lora" lora_rank=?)");
    CHECK(some(nemo_job(recipe + ", peft_scheme=None" + batch), {"trained"}) == "trained=?");
}

TEST_CASE("what names no program is called what its format is called") {
    CHECK(first_of("cfg.model.tensor_model_parallel_size = 4\ncfg.train.micro_batch_size = 2\n")["title"] == "Megatron-Bridge");
    CHECK(first_of("trainer.devices = 8\ntrainer.num_nodes = 1\nmodel.micro_batch_size = 1\nmodel.encoder_seq_length = 128\n")["title"] ==
          "NeMo 1");
    CHECK(first_of("pipe_parallel_size = 4\nnum_layers = 6\nhidden_size = 64\n")["title"] == "GPT-NeoX");
    CHECK(first_of("zero_optimization.stage = 2\ntrain_micro_batch_size_per_gpu = 1\n")["title"] == "DeepSpeed");
}

TEST_CASE("presets of a workload: a job each, with its base") {
    const Json jobs = read_script_of(
        "from utils.utils import WorkloadBaseConfig\nBASE = WorkloadBaseConfig(\n    num_gpus=64,\n    global_batch_size=128,\n)\n"
        "LLAMA3_70B_GB300_BF16_BASE_CONFIG = replace(\n    BASE,\n    micro_batch_size=2,\n    use_megatron_fsdp=True,\n)\n"
        "LLAMA3_70B_H100_BF16_BASE_CONFIG = replace(\n    BASE,\n    tensor_model_parallel_size=4,\n    context_parallel_size=2,\n"
        "    recompute_modules=[\"mlp\"],\n)\n")["jobs"];
    REQUIRE(jobs.size() == 2);
    CHECK(jobs[1]["title"] == "LLAMA3_70B_H100_BF16_BASE_CONFIG");
    const auto fields = {"model", "gpus", "global_batch", "micro_batch", "tensor_parallel", "context_parallel", "zero", "recompute"};
    CHECK(some(jobs[0], fields) ==
          R"(model="llama-3-70b" gpus=64 global_batch=128 micro_batch=2 tensor_parallel=1 context_parallel=1 zero="weights" recompute=?)");
    CHECK(
        some(jobs[1], fields) ==
        R"(model="llama-3-70b" gpus=64 global_batch=128 micro_batch=1 tensor_parallel=4 context_parallel=2 zero=? recompute="selective")");
}

TEST_CASE("precisions of recipes: names, keys that switch 8 bits off, what is open") {
    const auto precision = [](const std::string& body) { return some(bridge_job(body), {"precision"}).substr(10); };
    CHECK(precision("mixed_precision = _perf_precision(\"fp8_mx\")") == "\"fp8_weights\"");
    CHECK(precision("mixed_precision = _perf_precision(\"fp8_mx\")\nmixed_precision.fp8_param_gather = False") == "\"fp8\"");
    CHECK(precision("mixed_precision = get_mixed_precision_config(\"bf16_with_fp8_delayed_scaling_mixed\")\nmodel.fp8 = None") ==
          "\"fp8_weights\"");
    CHECK(precision("mixed_precision = \"bf16_with_fp8_subchannel_scaling_mixed\"") == "\"fp8\"");
    CHECK(precision("mixed_precision = bf16_mixed()") == "\"bf16\"");
    CHECK(precision("mixed_precision = \"bf16_with_fp8_current_scaling_mixed\"\nmixed_precision = bf16_mixed()") == "\"bf16\"");
    CHECK(precision("mixed_precision.fp8_param_gather = False\nmixed_precision.fp8 = None") == "?");
    CHECK(precision("mixed_precision = own_precision(1, 2)") == "?");
    CHECK(fate(bridge_job("mixed_precision = own_precision(1, 2)"), "cfg.mixed_precision") == "open 6");
    CHECK(some(nemo_job("nemo llm pretrain --factory llama3_8b trainer.plugins=bf16_with_mxfp8_mixed\n"), {"precision"}) ==
          "precision=\"fp8\"");
    CHECK(some(nemo_job("from nemo import lightning as nl\nstrategy = nl.MegatronStrategy(tensor_model_parallel_size=2)\n"
                        "data = llm.MockDataModule(seq_length=4096, global_batch_size=64, micro_batch_size=1)\n"
                        "trainer = nl.Trainer(plugins=nl.MegatronMixedPrecision(precision=\"bf16-mixed\", fp8=\"hybrid\", "
                        "fp8_params=True))\n"),
               {"precision"}) == "precision=\"fp8_weights\"");
}

TEST_CASE("sizes beside a recipe: over those of a named model, else the model is asked for") {
    const std::string sizes = "model.num_layers=2 model.hidden_size=2048 model.num_attention_heads=16 train.micro_batch_size=1 ";
    const Json named = nemo_job("torchrun --nproc_per_node=8 pretrain.py --recipe llama3_70b_pretrain_config " + sizes + "\n");
    const Json& model = named["job"]["model"];
    CHECK(model["num_hidden_layers"] == 2);
    CHECK(model["hidden_size"] == 2'048);
    CHECK(model["intermediate_size"] == 28'672);
    CHECK(model["head_dim"] == 128);
    CHECK(model["vocab_size"] == 128'256);
    const std::string unnamed = "torchrun --nproc_per_node=8 pretrain.py " + sizes + "tokenizer.vocab_size=32000\n";
    const Json job = nemo_job(unnamed);
    CHECK(some(job, {"model"}) == "model=?");
    CHECK(job["asked"].dump() == R"(["model","sequence_length"])");
    const Json answered = tests::read_answer({{"text", unnamed}, {"set", {{"model", "llama-3-70b"}}}})["jobs"][0]["job"]["model"];
    CHECK(answered["hidden_size"] == 2'048);
    CHECK(answered["vocab_size"] == 32'000);
    // llm.GPTConfig says them all, but for the vocabulary
    const std::string whole =
        "from nemo.collections import llm\nc = llm.GPTConfig(num_layers=4, hidden_size=256, ffn_hidden_size=1024, num_attention_heads=4, "
        "seq_length=256)\ns = nl.MegatronStrategy(tensor_model_parallel_size=1, pipeline_model_parallel_size=1)\n";
    CHECK(nemo_job(whole)["asked"].dump() == R"(["gpus","vocab_size","micro_batch"])");
    const Json gpt = tests::read_answer({{"text", whole}, {"set", {{"vocab_size", "50257"}}}})["jobs"][0]["job"]["model"];
    CHECK(gpt["vocab_size"] == 50'257);
    CHECK(gpt["intermediate_size"] == 1'024);
}

TEST_CASE("sharding of recipes, and keys in quiet sections that split") {
    const std::string run = "torchrun --nproc_per_node=8 run_recipe.py train.micro_batch_size=1 --recipe qwen3_8b_";
    CHECK(some(nemo_job(run + "pretrain_config ddp.use_megatron_fsdp=true\n"), {"zero"}) == "zero=\"weights\"");
    CHECK(some(nemo_job(run + "pretrain_config dist.use_megatron_fsdp=true\n"), {"zero"}) == "zero=\"weights\"");
    CHECK(some(nemo_job(run + "sft_config ddp.use_megatron_fsdp=true\n"), {"zero"}) == "zero=?");
    CHECK(some(nemo_job(run + "sft_config ddp.use_megatron_fsdp=true ddp.data_parallel_sharding_strategy=optim_grads\n"), {"zero"}) ==
          "zero=\"gradients\"");
    const std::string nemo = "nemo llm pretrain --factory llama3_70b trainer.strategy.fsdp=";
    CHECK(some(nemo_job(nemo + "pytorch\n"), {"zero"}) == "zero=\"weights\"");
    CHECK(some(nemo_job(nemo + "megatron\n"), {"zero"}) == "zero=?");
    CHECK(some(nemo_job(nemo + "megatron trainer.strategy.ddp.data_parallel_sharding_strategy=optim_grads_params\n"), {"zero"}) ==
          "zero=\"weights\"");
    const Json dist = nemo_job(run + "pretrain_config dist.tensor_model_parallel_size=2 dist.timeout=9 model.dist_x=1\n");
    CHECK(some(dist, {"tensor_parallel"}) == "tensor_parallel=2");
    CHECK(fate(dist, "dist.timeout") == "no_number 1");
    CHECK(fate(dist, "model.dist_x") == "unknown 1");
}

TEST_CASE("what a recipe sets is not taken as 1") {
    const std::string run = "nemo llm pretrain --factory llama3_70b trainer.num_nodes=2 trainer.devices=8 data.micro_batch_size=1 ";
    const std::string one = run + "data.global_batch_size=1 trainer.strategy.tensor_model_parallel_size=4 ";
    CHECK(ids(nemo_job(one + "\n")["refused"]) == "");
    CHECK(ids(nemo_job(one + "trainer.strategy.pipeline_model_parallel_size=2 trainer.strategy.context_parallel_size=1\n")["refused"]) ==
          "import_plan.refused.batch");
    CHECK(some(nemo_job(run + "trainer.strategy.sequence_parallel=False\n"), {"sequence_parallel"}) == "sequence_parallel=false");
    const std::string bridge = "torchrun --nproc_per_node=8 run_recipe.py --recipe deepseek_v3_pretrain_config train.micro_batch_size=1 ";
    CHECK(ids(nemo_job(bridge + "model.num_layers=61 model.pipeline_model_parallel_size=8\n")["refused"]) == "");
    CHECK(ids(nemo_job(bridge + "optimizer.optimizer_cpu_offload=true\n")["refused"]) == "");
    const Json kept = nemo_job(bridge + "optimizer.optimizer_cpu_offload=true optimizer.use_precision_aware_optimizer=false\n");
    CHECK(ids(kept["refused"]) == "");
    CHECK(some(kept, {"offload_master_weights"}) == R"(offload_master_weights="off")");
    CHECK(some(nemo_job(bridge + "optimizer.optimizer=muon model.moe_token_dispatcher_type=flex model.cross_entropy_loss_fusion=false\n"),
               {"optimizer", "expert_dispatch", "loss"}) == R"(optimizer="muon" expert_dispatch="deepep" loss="plain")");
    const Json alone = nemo_job(bridge + "'model.recompute_modules=[mlp]'\n");
    CHECK(some(alone, {"recompute", "recompute_modules"}) == "recompute=? recompute_modules=?");
    CHECK(fate(alone, "model.recompute_modules") == "open 1");
    const Json yaml = first_of(
        "model.tensor_model_parallel_size = 2\ntrain.micro_batch_size = 1\npeft._target_ = \"megatron.bridge.peft.lora.LoRA\"\n"
        "peft.dim = 16\npeft.target_modules = [\"linear_qkv\"]\n");
    CHECK(some(yaml, {"trained", "lora_rank", "lora_targets"}) == R"(trained="lora" lora_rank=16 lora_targets="query,key,value")");
}

TEST_CASE("recipes in Python: functions that call each other, models by a recipe's name") {
    const std::string program =
        "from nemo.collections import llm\ndef configure(nodes: int = 1):\n"
        "    recipe = llm.llama3_8b.pretrain_recipe(num_nodes=nodes, num_gpus_per_node=8, tensor_parallelism=2)\n    return recipe\n"
        "def local_executor(nodes: int = 3, devices: int = 2):\n    return run.LocalExecutor(ntasks_per_node=devices)\n"
        "def train():\n    recipe = configure()\n    recipe.trainer.strategy.pipeline_model_parallel_size = 2\n"
        "    recipe.data.global_batch_size = 64\n    e = local_executor(nodes=recipe.trainer.num_nodes, devices=recipe.trainer.devices)\n"
        "if __name__ == \"__main__\":\n    train()\n";
    const Json jobs = read_script_of(program)["jobs"];
    REQUIRE(jobs.size() == 1);
    CHECK(some(jobs[0], {"model", "gpus", "tensor_parallel", "pipeline_parallel", "global_batch"}) ==
          "model=\"llama-3-8b\" gpus=8 tensor_parallel=2 pipeline_parallel=2 global_batch=64");
    const std::string call = kBridge + "cfg = llama3_8b_pretrain_config(mock=True)\ncfg.model.tensor_model_parallel_size = 2\n";
    CHECK(some(nemo_job(call + "cfg.train.micro_batch_size = 1\n"), {"model"}) == "model=\"llama-3-8b\"");
    CHECK(some(nemo_job(kBridge + "P = \"meta-llama/Meta-Llama-3-70B\"\ncfg.model = AutoBridge.from_hf_pretrained(P)\n"
                                  "cfg.model.tensor_model_parallel_size = 2\ncfg.train.micro_batch_size = 1\n"),
               {"model"}) == "model=\"llama-3-70b\"");
    CHECK(some(bridge_job("model.attention_backend = AttnBackend.flash"), {"attention"}) == "attention=\"flash\"");
    const Json asked = read_script_of(call + "cfg.train.micro_batch_size = size_of(\"a\", 4)\n");
    CHECK(asked["questions"][0]["name"] == "size_of(\"a\",4)");
}

TEST_CASE("NeMo 1: nothing in Hydra's words, fine-tuning, the launcher's command, what it refuses") {
    const std::string run = "python megatron_gpt_sft.py trainer.devices=8 trainer.num_nodes=1 model.tensor_model_parallel_size=2 ";
    CHECK(some(nemo_job(run + "model.activations_checkpoint_method=null model.micro_batch_size=1\n"), {"recompute"}) ==
          "recompute=\"none\"");
    CHECK(some(nemo_job(run + "model.data.train_ds.max_seq_length=4096 model.data.train_ds.micro_batch_size=1 "
                              "model.data.train_ds.global_batch_size=128 model.data.validation_ds.micro_batch_size=4 "
                              "model.optim.name=distributed_fused_adam\n"),
               {"sequence_length", "micro_batch", "global_batch"}) == "sequence_length=4096 micro_batch=1 global_batch=128");
    const Json launcher = read_script_of(
        "python3 main.py training=gpt3/175b stages=[training] training.model.tensor_model_parallel_size=8 "
        "training.model.pipeline_model_parallel_size=16\n");
    CHECK(launcher["format"] == "nemo-1");
    CHECK(some(launcher["jobs"][0], {"tensor_parallel", "pipeline_parallel"}) == "tensor_parallel=8 pipeline_parallel=16");
    const std::string base =
        "trainer.devices = 8\ntrainer.num_nodes = 8\ntrainer.precision = \"bf16\"\nmodel.micro_batch_size = 1\nmodel.num_layers = 32\n"
        "model.hidden_size = 4096\nmodel.num_attention_heads = 32\nmodel.encoder_seq_length = 4096\nmodel.pipeline_model_parallel_size = "
        "4\n";
    CHECK(ids(first_of(base + "model.virtual_pipeline_model_parallel_size = 2\nmodel.megatron_amp_O2 = false\n")["refused"]) ==
          "import_plan.refused.both");
    CHECK(ids(first_of(base + "model.virtual_pipeline_model_parallel_size = null\nmodel.megatron_amp_O2 = false\n")["refused"]) == "");
    CHECK(ids(first_of(base +
                       "model.expert_model_parallel_size = 2\nmodel.num_moe_experts = 8\nmodel.megatron_amp_O2 = false\n")["refused"]) ==
          "import_plan.refused.both");
    CHECK(ids(first_of(base + "model.optim.name = \"distributed_fused_adam\"\nmodel.optim.overlap_param_sync = true\n")["refused"]) ==
          "import_plan.refused.gather_gradients");
    const Json noted =
        first_of(base + "model.transformer_engine = false\nmodel.num_micro_batches_with_partial_activation_checkpoints = 2\n");
    CHECK(some(noted, {"transformer_engine"}) == "transformer_engine=\"off\"");
    CHECK(ids(noted["notes"]).find("import_plan.note.not_counted") != std::string::npos);
}

TEST_CASE("a command that stands in a here-document which a variable reads") {
    const char* text =
        "#SBATCH -N 16 --ntasks-per-node 8\nTP=4\nread -r -d '' cmd <<EOF\necho \"start\" \\\n&& python megatron_gpt_pretraining.py \\\n"
        " trainer.num_nodes=${SLURM_JOB_NUM_NODES} trainer.devices=8 model.tensor_model_parallel_size=${TP} \\\n"
        " model.encoder_seq_length=2048 model.micro_batch_size=1\nEOF\nsrun bash -c \"${cmd}\"\n";
    CHECK(some(nemo_job(text), {"gpus", "tensor_parallel", "sequence_length", "micro_batch"}) ==
          "gpus=128 tensor_parallel=4 sequence_length=2048 micro_batch=1");
}

TEST_CASE("recipes: kernels that send tokens, and CUDA graphs") {
    const Json job = bridge_job(
        "model.moe_flex_dispatcher_backend = 'hybridep'\nmodel.cuda_graph_impl = 'transformer_engine'\n"
        "model.cuda_graph_scope = ['attn', 'moe_router', 'moe_preprocess']\n");
    CHECK(some(job, {"expert_dispatch", "cuda_graphs"}) == R"(expert_dispatch="deepep" cuda_graphs="layers")");
    CHECK(some(bridge_job("model.cuda_graph_impl = 'full_iteration'\n"), {"expert_dispatch", "cuda_graphs"}) ==
          R"(expert_dispatch=? cuda_graphs="step")");
    CHECK(some(bridge_job(""), {"cuda_graphs"}) == "cuda_graphs=?");
}

TEST_CASE("NeMo 1: LoRA at the command without a degree of parallelism") {
    const Json job = tests::first_of_script(
        "python megatron_gpt_peft_tuning.py trainer.precision=bf16 model.data.train_ds.max_seq_length=${1:-2048} model.global_batch_size=4 "
        "model.micro_batch_size=1 model.peft.peft_scheme=lora model.restore_from_path=/ckpt/gpt5b\n");
    CHECK(some(job, {"sequence_length", "global_batch", "micro_batch", "precision", "trained"}) ==
          R"(sequence_length=2048 global_batch=4 micro_batch=1 precision="bf16" trained="lora")");
}

TEST_CASE("recipes: what they do not say is not known, and an answer is no line of the text") {
    const Json job = tests::first_of("cfg.model.tensor_model_parallel_size = 4\ncfg.train.micro_batch_size = 2\n",
                                     {{"gpus", "64"}, {"sequence_length", "4096"}, {"micro_batch", "1"}});
    CHECK(some(job, {"gpus", "sequence_length", "micro_batch"}) == "gpus=64 sequence_length=4096 micro_batch=2");
    CHECK((job["partial"] == true && job["answered"] == json(R"(["gpus", "sequence_length"])")));
    const Json null = bridge_job("model.recompute_granularity = None\nmodel.recompute_method = None\n");
    for (const Json& key : null["keys"])
        if (key["key"].get<std::string>().find("recompute") != std::string::npos) CHECK(key["fields"] == json(R"(["recompute"])"));
}
