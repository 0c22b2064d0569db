// Forks, launchers and settings that public configurations have in further ways: each once, in a small text of our own, the values worked
// by hand.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

const std::string kWholeRun =
    "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 --bf16 --vocab-size 1000 "
    "--micro-batch-size 1 ";

}  // namespace

TEST_CASE("MindSpeed-LLM: experts over the GPUs of tensor parallelism, places without a layer, LoRA") {
    const std::string run =
        "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --bf16 --seq-length 512 --max-position-embeddings 512 "
        "--hidden-size 512 --num-attention-heads 8 --vocab-size 1000 --micro-batch-size 1 ";
    const std::string experts = run +
                                "--num-layers 8 --num-experts 16 --moe-router-topk 2 --tensor-model-parallel-size 2 "
                                "--sequence-parallel --expert-model-parallel-size 4 ";
    CHECK(some(first_of_script(experts), {"expert_parallel", "expert_tensor_parallel"}) == "expert_parallel=4 expert_tensor_parallel=2");
    CHECK(some(first_of_script(experts + "--moe-tp-extend-ep"), {"expert_parallel", "expert_tensor_parallel"}) ==
          "expert_parallel=8 expert_tensor_parallel=1");

    const std::string stages = run + "--num-layers 8 --pipeline-model-parallel-size 2 ";
    const Json last = first_of_script(stages + "--noop-layers 6,7");  // 4 places a stage, of which the last has two layers
    CHECK(last["job"]["model"]["num_hidden_layers"] == 6);
    CHECK(some(last, {"last_stage_layers"}) == "last_stage_layers=2");
    CHECK(ids(last["refused"]) == "");
    const Json others = first_of_script(stages + "--noop-layers 0,7");
    CHECK(others["job"]["model"]["num_hidden_layers"] == 6);
    CHECK(some(others, {"layout", "virtual_stages"}) == R"(layout="Ettt|tttL" virtual_stages=1)");
    CHECK(ids(others["notes"]) == "");
    // chunks of two places, of which the last one has a layer
    const Json chunks = first_of_script(stages + "--noop-layers 7 --num-layers-per-virtual-pipeline-stage 2");
    CHECK(chunks["job"]["model"]["num_hidden_layers"] == 7);
    CHECK(some(chunks, {"layout", "virtual_stages"}) == R"(layout="Ett|tt|tt|tL" virtual_stages=2)");
    CHECK(fate(chunks, "--num-layers-per-virtual-pipeline-stage") == "used 1");
    CHECK(ids(chunks["refused"]) == "");
    CHECK(some(first_of_script(stages + "--noop-layers 0,7 --num-virtual-stages-per-pipeline-rank 2"), {"layout", "virtual_stages"}) ==
          R"(layout="Et|tt|tt|tL" virtual_stages=2)");
    const Json uneven = first_of_script(stages + "--noop-layers 0,7 --num-layers-per-virtual-pipeline-stage 3");
    CHECK(uneven["job"]["model"]["num_hidden_layers"] == 8);
    CHECK(ids(uneven["notes"]) == "import_plan.note.not_counted");
    CHECK(ids(first_of_script(stages + "--noop-layers ''")["notes"]) == "");

    const Json lora = first_of_script(stages + "--lora-r 8 --lora-alpha 16 --lora-target-modules linear_qkv linear_fc2");
    CHECK(some(lora, {"trained", "lora_rank", "lora_targets"}) == R"(trained="lora" lora_rank=8 lora_targets="query,key,value,down")");
    CHECK(fate(lora, "--lora-alpha") == "no_number 1");
    CHECK(some(first_of_script(stages + "--lora-r 8"), {"trained"}) == "trained=?");  // without matrices there is none
}

TEST_CASE("Megatron-LM: what holds for any number of GPUs, and what hangs on an open flag") {
    const std::string run = "torchrun --nproc_per_node $GPUS pretrain_gpt.py " + kWholeRun;
    CHECK(ids(first_of_script(
              "torchrun pretrain_gpt.py --num-layers 8 --micro-batch-size 2 --global-batch-size 3 " +
              kWholeRun.substr(kWholeRun.find("--hidden"), kWholeRun.find("--micro") - kWholeRun.find("--hidden")))["refused"]) ==
          "import_plan.refused.batch");
    CHECK(ids(first_of_script(run + "--global-batch-size 3")["refused"]) == "");
    const Json open = first_of_script("if [ $DIVIDE = true ]; then O=\"--use-distributed-optimizer\"; else O=\"\"; fi\n" + run +
                                      "--overlap-grad-reduce --overlap-param-gather $O");
    CHECK(some(open, {"zero", "overlap_parameters"}) == "zero=? overlap_parameters=true");
    CHECK(some(first_of_script(run + "--overlap-grad-reduce"), {"overlap_parameters"}) == "overlap_parameters=?");
}

TEST_CASE("a script that starts another one with arguments: the experts may stand there") {
    const std::string split = " --expert-model-parallel-size 16 ";
    CHECK(some(first_of_script("bash ./run.sh " + kWholeRun + split), {"expert_parallel"}) == "expert_parallel=16");
    CHECK(some(first_of_script("bash entry.sh pretrain_gpt.py " + kWholeRun + split), {"expert_parallel"}) == "expert_parallel=1");
}

TEST_CASE("a launch: WORLD_SIZE before srun, whose own --gpus is no answer") {
    const std::string program = "python tool.py " + kWholeRun;
    CHECK(some(first_of_script("WORLD_SIZE=512 srun --gpus=1 -c 7 " + program), {"gpus"}) == "gpus=512");
    CHECK(some(first_of_script("srun --gpus=16 --nodes=2 " + program), {"gpus"}) == "gpus=16");
    CHECK(some(first_of_script("WORLD_SIZE=512 srun torchrun --nnodes 2 --nproc_per_node 8 " + program), {"gpus"}) == "gpus=16");
}

TEST_CASE("a part of a value: ${NAME:first:length}, and of a list") {
    const auto tp = [](const std::string& before, const std::string& word) {
        return some(
            first_of_script(before + "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size " + word + " " + kWholeRun),
            {"tensor_parallel"});
    };
    CHECK(tp("A=x48y\n", "${A:1:1}") == "tensor_parallel=4");
    CHECK(tp("A=x4\n", "${A:1}") == "tensor_parallel=4");
    CHECK(tp("A=x48\n", "${A: -1}") == "tensor_parallel=8");
    CHECK(tp("A=x48\n", "${A:1:-1}") == "tensor_parallel=4");
    CHECK(tp("A=x48\nB=2\n", "${A:B}") == "tensor_parallel=8");
    CHECK(tp("A=x4\n", "${A:9}8") == "tensor_parallel=8");
    CHECK(tp("A=(1 2 4)\n", "${A[@]:2:1}") == "tensor_parallel=4");
    CHECK(tp("A=4\n", "${A:$FROM}") == "tensor_parallel=?");
    const Json open = read_script_of("torchrun pretrain_gpt.py --tensor-model-parallel-size ${A:1} " + kWholeRun);
    CHECK(open["jobs"][0]["keys"][0]["names"].dump() == R"(["A"])");  // which somebody can answer
}

TEST_CASE("Primus: MaxText below it") {
    const std::string at = "modules.pre_trainer.overrides.";
    const Json job = first_of(
        "modules.pre_trainer.framework = \"maxtext\"\nmodules.pre_trainer.config = \"pre_trainer.yaml\"\n"
        "modules.pre_trainer.model = \"llama2_7B.yaml\"\n" +
            at + "ici_fsdp_parallelism = 8\n" + at + "dcn_data_parallelism = -1\n" + at + "per_device_batch_size = 2\n" + at +
            "max_target_length = 4096\n" + at + "quantization = \"fp8\"\n",
        {{"gpus", "16"}});
    CHECK(some(job, {"model", "gpus", "micro_batch", "global_batch", "sequence_length", "zero", "precision"}) ==
          R"(model="llama-2-7b" gpus=16 micro_batch=2 global_batch=32 sequence_length=4096 zero="weights" precision="fp8")");
    CHECK(fate(job, "modules.pre_trainer.config") == "no_number 2");
    CHECK(ids(job["notes"]).find("import_plan.note.recipe") != std::string::npos);
}

TEST_CASE("Megatron-DeepSpeed: batch, micro-batch and steps of its configuration say how many GPUs there are") {
    const auto job = [](const std::string& steps) {
        return first_of_script("cat > ds.json <<EOF\n{\"train_batch_size\": 32, \"train_micro_batch_size_per_gpu\": 1" + steps +
                               ", \"zero_optimization\": {\"stage\": 1}}\nEOF\n"
                               "deepspeed pretrain_gpt.py --tensor-model-parallel-size 2 --global-batch-size 32 --deepspeed "
                               "--deepspeed_config ds.json " +
                               kWholeRun);
    };
    CHECK(some(job(", \"gradient_accumulation_steps\": 4"), {"gpus", "zero"}) == R"(gpus=16 zero="optimizer")");  // 32 / 4 copies of 2
    CHECK(job(", \"gradient_accumulation_steps\": 4")["asked"].dump() == "[]");
    CHECK(job("")["asked"].dump() == R"(["gpus"])");
}

TEST_CASE("Axolotl: a mesh says how many GPUs there are; experts; activations on the host") {
    const std::string text =
        "base_model = \"Qwen/Qwen3-30B-A3B-Instruct-2507\"\nsequence_len = 4096\nmicro_batch_size = 1\nval_set_size = 0\n"
        "gradient_accumulation_steps = 1\n";
    const Json job = first_of(text + "dp_shard_size = 2\ncontext_parallel_size = 2\ntensor_parallel_size = 2\nexpert_parallel_size = 2\n");
    CHECK(some(job, {"model", "gpus", "expert_parallel", "tensor_parallel", "context_parallel", "global_batch"}) ==
          R"(model="qwen3-30b-a3b" gpus=16 expert_parallel=2 tensor_parallel=2 context_parallel=2 global_batch=4)");
    CHECK(some(first_of(text + "tensor_parallel_size = 2\n"), {"gpus"}) == "gpus=?");  // as many shards as there are GPUs
    CHECK(some(first_of(text + "dp_shard_size = \"${SHARDS}\"\n"), {"gpus"}) == "gpus=?");
    CHECK(some(first_of(text + "activation_offloading = \"legacy\"\n"), {"activation_offload"}) == "activation_offload=1.0");
    CHECK(some(first_of(text + "activation_offloading = false\n"), {"activation_offload"}) == "activation_offload=?");
}

TEST_CASE("kernels by older names: transformers, llm-foundry, gpt-neox; accelerate's Ulysses") {
    const std::string trainer =
        "model_name_or_path = \"meta-llama/Llama-2-7b-hf\"\nper_device_train_batch_size = 1\ngradient_checkpointing = true\n";
    CHECK(some(first_of(trainer), {"attention"}) == "attention=?");
    CHECK(some(first_of(trainer + "use_flash_attention_2 = true\n"), {"attention"}) == R"(attention="flash")");
    CHECK(some(first_of("max_seq_len = 4096\nmodel.name = \"hf_causal_lm\"\nmodel.use_flash_attention_2 = true\n"
                        "model.pretrained_model_name_or_path = \"meta-llama/Llama-2-7b-hf\"\nglobal_train_batch_size = 64\n"),
               {"attention"}) == R"(attention="flash")");
    const std::string neox = "pipe_parallel_size = 0\nmodel_parallel_size = 1\nnum_layers = 8\nhidden_size = 512\n";
    CHECK(some(first_of(neox), {"attention", "softmax_fusion"}) == R"(attention="plain" softmax_fusion="off")");
    CHECK(some(first_of(neox + "scaled_upper_triang_masked_softmax_fusion = true\n"), {"softmax_fusion"}) == "softmax_fusion=?");
    CHECK(some(first_of(
                   "distributed_type = \"DEEPSPEED\"\ncompute_environment = \"LOCAL_MACHINE\"\nnum_processes = 4\n"
                   "parallelism_config.parallelism_config_cp_size = 2\nparallelism_config.parallelism_config_cp_backend = \"deepspeed\"\n"),
               {"context_parallel", "context_parallel_kind"}) == R"(context_parallel=2 context_parallel_kind="all_to_all")");
}

TEST_CASE("models by further names: a date, a flavor, a name of NeMo's launcher") {
    const auto model = [](const std::string& name) {
        return some(first_of("base_model = \"" + name + "\"\nsequence_len = 4096\nmicro_batch_size = 1\n"), {"model"});
    };
    CHECK(model("Qwen/Qwen3-235B-A22B-Thinking-2507") == R"(model="qwen3-235b-a22b")");
    CHECK(model("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8") == R"(model="qwen3-235b-a22b")");
    CHECK(model("axolotl-quants/Qwen3-30B-A3B-nf4") == R"(model="qwen3-30b-a3b")");
    CHECK(model("Qwen/Qwen2.5-Coder-32B-Instruct") == R"(model="qwen2.5-32b")");
    CHECK(model("Qwen/Qwen3.6-35B-A3B") == R"(model="qwen3.5-35b-a3b")");
    CHECK(model("Qwen/Qwen3.8-Flash-Next") == "model=?");
    const auto flavor = [](const std::string& name, const std::string& size) {
        return some(first_of("model.name = \"" + name + "\"\nmodel.flavor = \"" + size + "\"\ntraining.seq_len = 4096\n"), {"model"});
    };
    CHECK(flavor("deepseek_v3", "16B") == R"(model="deepseek-v2-lite")");
    CHECK(some(first_of("modules.pre_trainer.framework = \"torchtitan\"\nmodules.pre_trainer.model = \"deepseek_v3_16b.yaml\"\n"
                        "modules.pre_trainer.overrides.training.seq_len = 4096\n"),
               {"model"}) == R"(model="deepseek-v2-lite")");
    CHECK(flavor("llama4", "17bx16e") == R"(model="llama-4-scout")");
    const Json nemo = first_of_script(
        "python3 main.py training=llama/llama3_70b training.trainer.num_nodes=8 "
        "training.model.global_batch_size=128 training.model.fp8=False\n");
    CHECK(some(nemo, {"model", "global_batch"}) == R"(model="llama-3-70b" global_batch=128)");
}

TEST_CASE("torchtitan: asynchronous tensor parallelism that is switched off is said") {
    const std::string text = "model.name = \"llama3\"\nmodel.flavor = \"8B\"\nparallelism.tensor_parallel_degree = 2\n";
    CHECK(some(first_of(text), {"tensor_overlap"}) == "tensor_overlap=?");
    CHECK(some(first_of(text + "parallelism.enable_async_tensor_parallel = false\n"), {"tensor_overlap"}) == "tensor_overlap=false");
    CHECK(some(first_of(text + "parallelism.enable_async_tensor_parallel = true\n"), {"tensor_overlap"}) == "tensor_overlap=true");
    CHECK(some(first_of(text + "parallelism.disable_loss_parallel = true\n"), {"loss"}) == "loss=\"gathered\"");
    CHECK(some(first_of(text + "parallelism.disable_loss_parallel = false\n"), {"loss"}) == "loss=?");
}

TEST_CASE("a model that nothing says is asked for; TRL's 4 bits") {
    const std::string yaml =
        "training.micro_batch_size = 1\ntraining.global_batch_size = 8\nparallelism.tensor_model_parallel_size = 1\n"
        "parallelism.pipeline_model_parallel_size = 1\ndata.seq_length = 512\nprecision.bf16 = true\n";
    CHECK(first_of(yaml, {{"gpus", "8"}})["asked"].dump() == R"(["model"])");
    const std::string named = yaml +
                              "hf_model_name_or_path = \"meta-llama/Meta-Llama-3-8B\"\nlora.use_lora = true\nlora.lora_rank = 16\n"
                              "lora.lora_target_modules = [\"q_proj\", \"v_proj\"]\n";
    CHECK(some(first_of(named), {"model", "trained", "lora_rank", "lora_targets"}) ==
          R"(model="llama-3-8b" trained="lora" lora_rank=16 lora_targets="query,value")");
    const std::string trl = "model_name_or_path = \"x\"\nper_device_train_batch_size = 1\nload_in_4bit = true\nuse_peft = true\n";
    CHECK(some(first_of(trl), {"trained", "frozen_weights"}) == R"(trained="lora" frozen_weights="nf4_single")");
    CHECK(some(first_of(trl + "use_bnb_nested_quant = true\n"), {"frozen_weights"}) == R"(frozen_weights="nf4")");
}

TEST_CASE("NeMo 1: the type in which FSDP adds up gradients") {
    const std::string text =
        "trainer.num_nodes = 1\ntrainer.devices = 8\ntrainer.precision = \"bf16\"\nmodel.num_layers = 4\nmodel.hidden_size = 512\n"
        "model.num_attention_heads = 8\nmodel.encoder_seq_length = 512\nmodel.micro_batch_size = 1\nmodel.fsdp = true\n";
    CHECK(some(first_of(text), {"zero", "gradients_in_fp32"}) == R"(zero="weights" gradients_in_fp32=true)");
    CHECK(some(first_of(text + "model.fsdp_grad_reduce_dtype = \"bf16\"\n"), {"gradients_in_fp32"}) == "gradients_in_fp32=false");
    CHECK(some(first_of(text + "model.fsdp_grad_reduce_dtype = 32\n"), {"gradients_in_fp32"}) == "gradients_in_fp32=true");
}

TEST_CASE("recipes in Python: imported by their own name, experts in Megatron Core's, arguments with defaults") {
    const Json job = first_of_script(R"(import argparse
from nemo.collections.llm.recipes.llama3_8b import (
    finetune_recipe as start,
)

parser = argparse.ArgumentParser()
parser.add_argument("--num-nodes", type=int, default=2)
parser.add_argument("--gpus", default=4)
args = parser.parse_args()
recipe = start(num_nodes=args.num_nodes, num_gpus_per_node=args.gpus)
recipe.trainer.strategy.tensor_model_parallel_size = 2
recipe.data.micro_batch_size = args.batch
)");
    CHECK(some(job, {"model", "gpus", "tensor_parallel", "trained"}) == R"(model="llama-3-8b" gpus=8 tensor_parallel=2 trained="lora")");
    CHECK(fate(job, "recipe.data.micro_batch_size").starts_with("open"));
    const Json experts = first_of_script(
        "from megatron.bridge.recipes.qwen import qwen3_30b_a3b_pretrain_config\ncfg = qwen3_30b_a3b_pretrain_config()\n"
        "cfg.model.num_moe_experts = 16\ncfg.model.tensor_model_parallel_size = 2\ncfg.train.global_batch_size = 8\n");
    CHECK(experts["job"]["model"]["num_experts"] == 16);
    const Json all = read_script_of(R"(from megatron.bridge.recipes.llama import llama3_8b_sft_config

def split(cfg):
    cfg.model.tensor_model_parallel_size = 4
    cfg.train.global_batch_size = 8

def own_sft_config():
    cfg = llama3_8b_sft_config()
    split(cfg)
    return cfg
)")["jobs"];
    REQUIRE(all.size() == 2);
    CHECK(all[1]["title"] == "own_sft_config");
    CHECK(some(all[1], {"model", "tensor_parallel"}) == R"(model="llama-3-8b" tensor_parallel=4)");
}

TEST_CASE("torchtitan's groups of experts; a tokenizer's folder that is another model's; a fork's sizes are not taken") {
    const std::string titan =
        "model.name = \"deepseek_v3\"\nmodel.flavor = \"16B\"\ntraining.local_batch_size = 1\ntraining.seq_len = 512\n"
        "parallelism.data_parallel_shard_degree = 4\nparallelism.expert_parallel_degree = ";
    CHECK(ids(first_of(titan + "4\n")["refused"]) == "");
    const Json fork_of =
        first_of("model.name = \"DeepSeek\"\nmodel.flavor = \"v2\"\ntraining.local_batch_size = 1\ntraining.seq_len = 512\n");
    CHECK(some(fork_of, {"model", "sequence_length"}) == "model=? sequence_length=512");
    CHECK(fate(fork_of, "model.flavor") == "unknown 2");
    CHECK(ids(first_of(titan + "8\n")["refused"]) == "import_plan.refused.expert_world");
    const std::string megatron =
        "torchrun --nproc_per_node 1 pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
        "--max-position-embeddings 512 --bf16 "
        "--micro-batch-size 1 --swiglu --tokenizer-type Llama2Tokenizer --tokenizer-model /models/";
    CHECK(first_of_script(megatron + "tokenizer.model\n")["asked"] == Json::array());
    CHECK(first_of_script(megatron + "Other-7B/tokenizer.model\n")["asked"] == Json::array({"vocab_size"}));
    const Json fork = first_of(
        "parallelism.dp = 2\nparallelism.tp = 1\nparallelism.pp = 1\ntokens.micro_batch_size = 1\ntokens.sequence_length = 512\n"
        "model.model_config.hidden_size = 512\nmodel.model_config.moe_num_experts = 8\n");
    CHECK(fate(fork, "model.model_config.hidden_size") == "unknown 6");
    CHECK(fate(fork, "model.model_config.moe_num_experts") == "unknown 7");
}

TEST_CASE("torchtitan in Python: a section in each object, a start that is elsewhere, converters that are computed") {
    const Json all = read_script_of(R"(from torchtitan.trainer import Trainer

def llama3_8b() -> Trainer.Config:
    spec = model_registry("8B")
    return Trainer.Config(
        hf_assets_path="./assets/Llama-3.1-8B",
        model_spec=spec,
        training=TrainingConfig(max_context_length=4096, num_tokens_per_microbatch_per_dp_rank=2 * 4096),
        parallelism=ParallelismConfig(tensor_parallel_degree=4, data_parallel_shard_degree=2),
        activation_checkpoint=ActivationCheckpointConfig(mode="full"),
    )

def shorter() -> Trainer.Config:
    config = llama3_8b()
    config.training.max_context_length = 2048
    config.model_converters = Converters.Config(converters=[Float8LinearConverter.Config()])
    return config

def other() -> Trainer.Config:
    config = llama3_other()
    config.parallelism.data_parallel_shard_degree = 2
    config.parallelism.pipeline_parallel_degree = 2
    return config
)");
    CHECK(all["format"] == "torchtitan");
    REQUIRE(all["jobs"].size() == 3);
    CHECK(some(all["jobs"][0], {"model", "gpus", "tensor_parallel", "micro_batch", "sequence_length", "recompute", "precision"}) ==
          R"(model="llama-3.1-8b" gpus=8 tensor_parallel=4 micro_batch=2 sequence_length=4096 recompute="full" precision="bf16")");
    CHECK(some(all["jobs"][1], {"model", "sequence_length", "precision"}) ==
          R"(model="llama-3.1-8b" sequence_length=2048 precision="fp8")");
    CHECK(some(all["jobs"][2], {"model", "pipeline_parallel", "sequence_length"}) == "model=? pipeline_parallel=2 sequence_length=?");
    CHECK(fate(all["jobs"][2], "config").starts_with("unknown"));
}

TEST_CASE("GPUs that are open stop no run; a pattern that leaves matrices out says so") {
    const std::string text =
        "if [ $A -eq 0 ]; then\n  L=\"torchrun --nnodes ${NODES:-1} --nproc_per_node 8\"\nelse\n  L=\"python -m other.run\"\nfi\n"
        "WORLD_SIZE=1\n$L pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
        "--max-position-embeddings 512 --bf16 --vocab-size 1000 --micro-batch-size 1 --tensor-model-parallel-size 4\n";
    CHECK(ids(first_of_script(text)["refused"]) == "");
    const std::string lora =
        "model.tensor_model_parallel_size = 2\ntrain.global_batch_size = 8\nmodel.seq_length = 512\n"
        "peft._target_ = \"megatron.bridge.peft.lora.LoRA\"\npeft.target_modules = [\"linear_qkv\", \"";
    CHECK(ids(first_of(lora + "*.self_attention.linear_proj\"]\n")["notes"]) == "import_plan.note.recipe");
    const Json shared = first_of(lora + "*shared_experts.linear_fc1\"]\n");
    CHECK(ids(shared["notes"]) == "import_plan.note.recipe import_plan.note.not_counted");
    CHECK(some(shared, {"lora_targets"}) == R"(lora_targets="query,key,value")");  // not the other experts' either
}

TEST_CASE("What a command leaves to a file or to a function elsewhere is asked for") {
    const Json titan = first_of_script(
        "NGPU=4 MODULE=llama3 CONFIG=llama3_70b ./run_train.sh --parallelism.tensor_parallel_degree 2 --training.local_batch_size 2\n");
    CHECK(some(titan, {"gpus", "tensor_parallel", "micro_batch", "recompute", "sequence_length"}) ==
          "gpus=4 tensor_parallel=2 micro_batch=2 recompute=? sequence_length=?");
    CHECK(titan["job"]["model"].get<std::string>().ends_with("70b"));
    const Json alone = read_script_of("CUDA_VISIBLE_DEVICES=0,2,3 nohup llamafactory-cli train own.yaml > log &\n");
    CHECK(alone["format"] == "llama-factory");
    CHECK(some(alone["jobs"][0], {"gpus", "micro_batch"}) == "gpus=3 micro_batch=?");
}

TEST_CASE("MindSpeed-LLM: states of the optimizer are swapped to the host") {
    const std::string script =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
        "--micro-batch-size 1 --global-batch-size 16 --vocab-size 1000 --bf16 --use-distributed-optimizer ";
    CHECK(some(first_of_script(script + "--swap-optimizer"), {"optimizer_offload"}) == "optimizer_offload=1.0");
    CHECK(some(first_of_script(script), {"optimizer_offload"}) == "optimizer_offload=?");
}

TEST_CASE("forks of Megatron-LM: the layers of each stage are listed") {
    const auto plan = [](const std::string& said) {
        return first_of_script(
            "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 9 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
            "--micro-batch-size 1 --global-batch-size 16 --vocab-size 1000 --bf16 --pipeline-model-parallel-size 2 "
            "--recompute-granularity full --recompute-method block " +
            said);
    };
    CHECK(some(plan("--recompute-num-layers 1 --num-layer-list 4,5"), {"layout", "recompute"}) ==
          R"(layout="Et*4|t*5L" recompute="block")");
    CHECK(some(plan("--recompute-num-layers 1 --num-layer-list 4,5,6"), {"layout"}) == "layout=?");
    CHECK(some(plan("--recompute-num-layers 1 --hetero-pipeline-stages 1 4 1 5"), {"layout"}) == R"(layout="Et*4|t*5L")");
    CHECK(some(plan("--recompute-num-layers 1 --hetero-pipeline-stages 2 4 5"), {"layout"}) == R"(layout="Et*4|t*5L")");
    CHECK(some(plan("--recompute-num-layers 1 --hetero-pipeline-stages 3 4 5"), {"layout"}) == "layout=?");
    const std::string aiak = "--custom-pipeline-layers 4,5 --custom-pipeline-recompute-layers ";
    CHECK(some(plan(aiak + "4,5"), {"layout", "recompute", "recompute_layers"}) ==
          R"(layout="Et*4|t*5L" recompute="full" recompute_layers=1)");
    CHECK(some(plan(aiak + "2,2"), {"recompute", "recompute_layers"}) == R"(recompute="block" recompute_layers=2)");
    CHECK(ids(plan(aiak + "2,2")["notes"]) == "");
    CHECK(ids(plan(aiak + "3,2")["notes"]) == "import_plan.note.not_counted");
    CHECK(ids(plan(aiak + "4,5")["refused"]) == "");
}
