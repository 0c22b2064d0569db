// Megatron-Bridge, NeMo 2 and NeMo 1: recipes in Python, overrides, YAML. Files of our own, values worked by hand.
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::ids;
using tests::read_answer;
using tests::some;

static Json text_of(const std::string& text, const Json& set = Json::object()) { return read_answer({{"text", text}, {"set", set}}); }
static Json one_of(const std::string& text, const Json& set = Json::object()) { return text_of(text, set)["jobs"][0]; }

TEST_CASE("Megatron-Bridge: overrides on a command") {
    const char* text =
        "#SBATCH --nodes=128\n#SBATCH --gpus-per-node=8\n"
        "srun python run_recipe.py --recipe llama31_405b_pretrain_config \\\n"
        "  model.tensor_model_parallel_size=8 model.pipeline_model_parallel_size=8 model.virtual_pipeline_model_parallel_size=8 \\\n"
        "  model.context_parallel_size=2 train.global_batch_size=1536 train.micro_batch_size=1 model.seq_length=8192 \\\n"
        "  ddp.grad_reduce_in_fp32=false ddp.use_distributed_optimizer=true mixed_precision=bf16_with_fp8_current_scaling_mixed \\\n"
        "  optimizer.optimizer_cpu_offload=true optimizer.use_precision_aware_optimizer=true optimizer.exp_avg_dtype=torch.bfloat16 \\\n"
        "  optimizer.exp_avg_sq_dtype=torch.bfloat16 checkpoint.save=/x model.sequence_parallel=True\n";
    const Json answer = text_of(text);
    CHECK(answer["format"] == "megatron-bridge");
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"model", "gpus", "gpus_per_node", "tensor_parallel", "pipeline_parallel", "virtual_stages", "context_parallel"}) ==
          "model=\"llama-3.1-405b\" gpus=1024 gpus_per_node=8 tensor_parallel=8 pipeline_parallel=8 virtual_stages=8 context_parallel=2");
    CHECK(some(job, {"global_batch", "micro_batch", "sequence_length", "sequence_parallel", "precision", "gradients_in_fp32", "zero",
                     "moments"}) ==
          "global_batch=1536 micro_batch=1 sequence_length=8192 sequence_parallel=true precision=\"fp8_weights\" gradients_in_fp32=false "
          "zero=\"optimizer\" moments=\"16-bit\"");
    CHECK(some(job, {"optimizer_offload", "recompute", "overlap_gradients", "hidden_dropout"}) ==
          "optimizer_offload=0.0 recompute=? overlap_gradients=? hidden_dropout=?");
    CHECK(fate(job, "checkpoint.save") == "no_number 8");
    CHECK(job["asked"].empty());
}

TEST_CASE("Megatron-Bridge: overrides alone, a line each") {
    const Json answer = text_of(
        "model.tensor_model_parallel_size=4\nmodel.pipeline_model_parallel_size=2\ntrain.global_batch_size=64\n"
        "train.micro_batch_size=2\nmodel.recompute_granularity=full\nmodel.recompute_method=uniform\nmodel.recompute_num_layers=2\n");
    CHECK(answer["format"] == "megatron-bridge");
    REQUIRE(answer["jobs"].size() == 1);
    CHECK(
        some(answer["jobs"][0], {"tensor_parallel", "pipeline_parallel", "global_batch", "micro_batch", "recompute", "recompute_layers"}) ==
        "tensor_parallel=4 pipeline_parallel=2 global_batch=64 micro_batch=2 recompute=\"full\" recompute_layers=2");
    CHECK(answer["jobs"][0]["asked"].dump() == R"(["gpus","sequence_length","model"])");
}

TEST_CASE("Megatron-Bridge: recipes in Python, a job each") {
    const char* text = R"(from megatron.bridge import AutoBridge

def llama3_8b_pretrain_config(**user_kwargs) -> ConfigContainer:
    """Not code: tensor_model_parallel_size = 64"""
    recommended = {
        "hf_path": "meta-llama/Meta-Llama-3-8B",
        "tensor_model_parallel_size": 1,
        "pipeline_model_parallel_size": 1,
        "context_parallel_size": 2,  # two
        "pipeline_dtype": torch.bfloat16,
        "virtual_pipeline_model_parallel_size": None,
    }
    return common(**recommended)

def llama3_70b_pretrain_config() -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3-70B").to_megatron_provider(load_weights=False)
    cfg.model.tensor_model_parallel_size = 4
    cfg.model.pipeline_model_parallel_size = 4
    cfg.model.virtual_pipeline_model_parallel_size = 5
    cfg.train.global_batch_size = nodes * 256
    cfg.train.micro_batch_size = 2 * 1
    if use_long:
        cfg.model.seq_length = 65536
    cfg.mixed_precision = bf16_mixed()
    cfg.model.recompute_modules = ["mlp", "moe_act"]
    cfg.model.recompute_granularity = "selective"
    return cfg
)";
    const Json answer = text_of(text);
    CHECK(answer["format"] == "megatron-bridge");
    REQUIRE(answer["jobs"].size() == 2);
    const Json &small = answer["jobs"][0], &large = answer["jobs"][1];
    CHECK(small["title"] == "llama3_8b_pretrain_config");
    CHECK(some(small, {"model", "tensor_parallel", "context_parallel", "virtual_stages"}) ==
          "model=\"llama-3-8b\" tensor_parallel=1 context_parallel=2 virtual_stages=1");
    CHECK(some(large, {"model", "tensor_parallel", "virtual_stages", "micro_batch", "precision", "recompute_modules"}) ==
          "model=\"llama-3-70b\" tensor_parallel=4 virtual_stages=5 micro_batch=2 precision=\"bf16\" recompute_modules=\"mlp,moe_act\"");
    CHECK(fate(large, "cfg.train.global_batch_size") == "open 21");  // a product of literals alone is worked out
    CHECK(fate(large, "cfg.model.seq_length") == "open 24");         // it hangs on use_long
    CHECK(some(text_of(text, {{"use_long", "True"}})["jobs"][1], {"sequence_length"}) == "sequence_length=65536");
}

TEST_CASE("Megatron-Bridge: fewer layers of a known model") {
    const Json job =
        one_of("python x.py hf_path=Qwen/Qwen3-8B model.hf_path=Qwen/Qwen3-8B model.num_layers=4 model.tensor_model_parallel_size=2");
    CHECK(job["job"]["model"]["num_hidden_layers"] == 4);
    CHECK(job["job"]["model"]["hidden_size"] == 4'096);
}

TEST_CASE("NeMo 2: a recipe's own file") {
    const char* text = R"(import nemo_run as run
from nemo.collections import llm
NAME = "llama31_405b"

@run.cli.factory(name=NAME)
def model() -> run.Config[pl.LightningModule]:
    return run.Config(llm.LlamaModel, config=run.Config(llm.Llama31Config405B))

def trainer(
    tensor_parallelism: int = 8,
    pipeline_parallelism: int = 8,
    virtual_pipeline_parallelism: Optional[int] = 2,
    context_parallelism: int = 4,
    sequence_parallelism: bool = True,
    num_nodes: int = 64,
    num_gpus_per_node: int = 8,
) -> run.Config[nl.Trainer]:
    strategy = run.Config(
        nl.MegatronStrategy,
        tensor_model_parallel_size=tensor_parallelism,
        pipeline_model_parallel_size=pipeline_parallelism,
        ddp=run.Config(DistributedDataParallelConfig, grad_reduce_in_fp32=True, overlap_grad_reduce=True),
    )
    return run.Config(nl.Trainer, devices=num_gpus_per_node, num_nodes=num_nodes, plugins=bf16_mixed(), strategy=strategy)

def pretrain_recipe(num_nodes: int = 64, num_gpus_per_node: int = 8, performance_mode: bool = False):
    return run.Partial(
        llm.pretrain,
        model=model(),
        trainer=trainer(num_nodes=num_nodes, num_gpus_per_node=num_gpus_per_node),
        data=run.Config(MockDataModule, seq_length=8192, global_batch_size=512, micro_batch_size=1),
    )

def finetune_recipe(num_nodes: int = 3, num_gpus_per_node: int = 8, peft_scheme: Optional[str] = "lora"):
    recipe = default_finetune_recipe(model(), "x", num_nodes=num_nodes)
    recipe.trainer.strategy.tensor_model_parallel_size = 4
    return recipe
)";
    const Json answer = text_of(text);
    CHECK(answer["format"] == "nemo-2");
    REQUIRE(answer["jobs"].size() == 2);
    const Json& job = answer["jobs"][0];
    CHECK(job["title"] == "pretrain_recipe");
    CHECK(some(job, {"model", "gpus", "gpus_per_node", "tensor_parallel", "pipeline_parallel", "virtual_stages", "context_parallel",
                     "sequence_parallel"}) ==
          "model=\"llama-3.1-405b\" gpus=512 gpus_per_node=8 tensor_parallel=8 pipeline_parallel=8 virtual_stages=2 context_parallel=4 "
          "sequence_parallel=true");
    CHECK(some(job, {"global_batch", "micro_batch", "sequence_length", "precision", "gradients_in_fp32", "overlap_gradients", "zero"}) ==
          "global_batch=512 micro_batch=1 sequence_length=8192 precision=\"bf16\" gradients_in_fp32=true overlap_gradients=true zero=?");
    CHECK(some(answer["jobs"][1], {"trained", "lora_rank", "lora_targets"}) ==
          R"(trained="lora" lora_rank=32 lora_targets="query,key,value,output,gate,up,down")");
}

TEST_CASE("Megatron-Bridge: LoRA in a recipe and on a command line; other adapters are not counted") {
    const auto recipe = [](const std::string& peft) {
        return text_of(
            "from megatron.bridge.training.config import ConfigContainer\ndef finetune_config():\n"
            "    cfg = ConfigContainer(model=AutoBridge.from_hf_pretrained(\"meta-llama/Meta-Llama-3-8B\"))\n"
            "    cfg.model.tensor_model_parallel_size = 1\n    cfg.train.global_batch_size = 128\n"
            "    cfg.train.micro_batch_size = 1\n    cfg.peft = " +
            peft + "\n    return cfg\n")["jobs"][0];
    };
    CHECK(some(recipe("LoRA(target_modules=[\"linear_qkv\", \"linear_proj\"], dim=16, alpha=32, dropout=0.0)"),
               {"model", "trained", "lora_rank", "lora_targets", "lora_dropout"}) ==
          R"(model="llama-3-8b" trained="lora" lora_rank=16 lora_targets="query,key,value,output" lora_dropout=?)");
    CHECK(some(recipe("CanonicalLoRA(target_modules=[\"linear_q\", \"linear_v\"], dropout=0.1)"),
               {"lora_rank", "lora_targets", "lora_dropout"}) == R"(lora_rank=32 lora_targets="query,value" lora_dropout=true)");
    CHECK(ids(recipe("DoRA(dim=16)")["refused"]) == "import_plan.refused.mode");
    CHECK(some(recipe("None"), {"trained"}) == "trained=?");
    const Json command = tests::first_of_script(
        "torchrun --nproc_per_node 8 scripts/finetune.py --peft lora model.tensor_model_parallel_size=2 model.seq_length=4096 "
        "train.global_batch_size=128 train.micro_batch_size=1 peft.dim=8\n");
    CHECK(some(command, {"gpus", "trained", "lora_rank"}) == R"(gpus=8 trained="lora" lora_rank=8)");
}

TEST_CASE("NeMo 2: a script that calls a recipe, and the arguments that calls give") {
    const char* text = R"(import nemo_run as run
from nemo.collections import llm

def configure(nodes: int = 1, gpus_per_node: int = 2):
    recipe = llm.llama3_8b.pretrain_recipe(dir="/x", name="y", num_nodes=nodes, num_gpus_per_node=gpus_per_node)
    recipe.trainer.strategy.tensor_model_parallel_size = 2
    recipe.data.global_batch_size = 32
    return recipe

def main():
    recipe = configure(nodes=4, gpus_per_node=8)
)";
    const Json job = one_of(text);
    CHECK(some(job, {"model", "gpus", "tensor_parallel", "global_batch"}) ==
          "model=\"llama-3-8b\" gpus=32 tensor_parallel=2 global_batch=32");
    const Json command = text_of(
        "nemo llm pretrain --factory llama3_70b trainer.num_nodes=8 trainer.devices=8 trainer.strategy.tensor_model_parallel_size=4 "
        "data.micro_batch_size=1");
    CHECK(command["format"] == "nemo-2");
    CHECK(some(command["jobs"][0], {"model", "gpus", "tensor_parallel", "micro_batch"}) ==
          "model=\"llama-3-70b\" gpus=64 tensor_parallel=4 micro_batch=1");
}

TEST_CASE("Python that never ends") {
    for (const std::string text : {"from a import b\nx = (((((", "import a\ndef f(\n", "import a\nx = \"\"\"", "cfg.model.x = [1, [2",
                                   "import a\nif x:\n else", "import x\ncfg.a = -", "import x\n x = 1 \\"})
        CHECK(tests::brief(tests::json(api::import_plan(Json{{"text", text}}.dump()))["problems"]) == "text format null -> null");
}

TEST_CASE("NeMo 1: the whole YAML") {
    const char* text = R"(trainer.devices = 8
trainer.num_nodes = 4
trainer.precision = "bf16-mixed"
exp_manager.name = "x"
model.mcore_gpt = true
model.micro_batch_size = 1
model.global_batch_size = 256
model.rampup_batch_size = null
model.tensor_model_parallel_size = 4
model.pipeline_model_parallel_size = 2
model.virtual_pipeline_model_parallel_size = 5
model.encoder_seq_length = 4096
model.max_position_embeddings = "${.encoder_seq_length}"
model.num_layers = 40
model.hidden_size = 5120
model.ffn_hidden_size = "${multiply:4, ${.hidden_size}}"
model.num_attention_heads = 40
model.num_query_groups = 8
model.hidden_dropout = 0.0
model.attention_dropout = 0.0
model.normalization = "rmsnorm"
model.bias = false
model.activation = "fast-swiglu"
model.position_embedding_type = "rope"
model.share_embeddings_and_output_weights = false
model.tokenizer.vocab_size = 64000
model.sequence_parallel = true
model.activations_checkpoint_granularity = "selective"
model.activations_checkpoint_method = "uniform"
model.activations_checkpoint_num_layers = null
model.fp8 = false
model.fp8_hybrid = true
model.optim.name = "distributed_fused_adam"
model.optim.overlap_grad_sync = true
model.optim.grad_sync_dtype = "bf16"
model.data.seq_length = "${model.encoder_seq_length}"
model.ub_tp_comm_overlap = false
)";
    const Json answer = tests::read_settings_of(text);
    CHECK(answer["format"] == "nemo-1");
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"gpus", "gpus_per_node", "tensor_parallel", "pipeline_parallel", "virtual_stages", "context_parallel",
                     "sequence_length"}) ==
          "gpus=32 gpus_per_node=8 tensor_parallel=4 pipeline_parallel=2 virtual_stages=5 context_parallel=1 sequence_length=4096");
    CHECK(some(job,
               {"recompute", "recompute_modules", "precision", "gradients_in_fp32", "zero", "overlap_gradients", "overlap_parameters"}) ==
          "recompute=\"selective\" recompute_modules=\"core_attn\" precision=\"bf16\" gradients_in_fp32=false zero=\"optimizer\" "
          "overlap_gradients=true overlap_parameters=false");
    const Json& model = job["job"]["model"];
    CHECK(model["intermediate_size"] == 20'480);
    CHECK(model["num_key_value_heads"] == 8);
    CHECK(model["vocab_size"] == 64'000);
    CHECK(model["tie_word_embeddings"] == false);
    CHECK(fate(job, "model.fp8_hybrid") == "no_number 32");
    CHECK(fate(job, "model.activation") == "used 23");
    CHECK(job["refused"].empty());
    CHECK(job["asked"].empty());
}

TEST_CASE("NeMo 1: the launcher's YAML, fp8, FSDP, LoRA") {
    const std::string text = R"(training.trainer.devices = 8
training.trainer.num_nodes = 576
training.trainer.precision = "bf16"
training.model.tensor_model_parallel_size = 8
training.model.pipeline_model_parallel_size = 9
training.model.virtual_pipeline_model_parallel_size = 7
training.model.context_parallel_size = 2
training.model.micro_batch_size = 1
training.model.global_batch_size = 2016
training.model.encoder_seq_length = 8192
training.model.num_layers = 126
training.model.hidden_size = 16384
training.model.ffn_hidden_size = 53248
training.model.num_attention_heads = 128
training.model.num_query_groups = 8
training.model.normalization = "rmsnorm"
training.model.bias = false
training.model.activation = "fast-swiglu"
training.model.position_embedding_type = "rope"
training.model.share_embeddings_and_output_weights = false
training.model.fp8 = true
training.model.fp8_hybrid = true
)";
    const Json job = first_of(text);
    CHECK(some(job, {"model", "gpus", "tensor_parallel", "pipeline_parallel", "virtual_stages", "context_parallel", "global_batch",
                     "precision"}) ==
          "model=\"llama-3.1-405b\" gpus=4608 tensor_parallel=8 pipeline_parallel=9 virtual_stages=7 context_parallel=2 global_batch=2016 "
          "precision=\"fp8\"");
    CHECK(job["refused"].empty());
    CHECK(some(first_of(text + "training.model.fsdp = true\ntraining.model.fsdp_sharding_strategy = \"grad\"\n"), {"zero"}) ==
          "zero=\"gradients\"");
    CHECK(ids(first_of(text + "training.model.peft.peft_scheme = \"ptuning\"\n")["refused"]) == "import_plan.refused.mode");
    CHECK(some(first_of(text + "training.model.peft.peft_scheme = \"lora\"\n"), {"trained", "lora_rank"}) ==
          R"(trained="lora" lora_rank=?)");
    CHECK(some(first_of(text + "training.model.peft.peft_scheme = \"lora\"\ntraining.model.peft.lora_tuning.adapter_dim = 16\n"
                               "training.model.peft.lora_tuning.target_modules = [\"attention_qkv\", \"mlp_fc2\"]\n"),
               {"lora_rank", "lora_targets"}) == R"(lora_rank=16 lora_targets="query,key,value,down")");
    // changes of another file: what is not said is not set
    const Json some_only =
        one_of("python megatron_gpt_pretraining.py trainer.devices=8 trainer.num_nodes=2 model.tensor_model_parallel_size=4");
    CHECK(some(some_only, {"gpus", "tensor_parallel", "pipeline_parallel"}) == "gpus=16 tensor_parallel=4 pipeline_parallel=?");
}
