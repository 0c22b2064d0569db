// Programs that take their settings from a file; commands that stand in texts; what a scheduler, a loop or the visible GPUs say. Files of
// our own.
#include "settings.h"
#include "support.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::first_of_script;
using tests::ids;
using tests::read_answer;
using tests::read_script_of;
using tests::some;

namespace {
const std::string kPlainRun =
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 "
    "--vocab-size 99 "
    "--bf16 ";
bool is_refused(const std::string& text) {
    return !tests::json(api::import_plan(Json({{"text", text}, {"set", Json::object()}}).dump()))["ok"].get<bool>();
}
}  // namespace

TEST_CASE("a program whose file is not here: its format, what the command says, and the file to paste") {
    const auto file = [](const std::string& command) {
        const Json answer = read_script_of(command);
        const Json& job = answer["jobs"][0];
        REQUIRE(ids(job["notes"]) == "import_plan.note.file");
        return answer["format"].get<std::string>() + " " + job["notes"][0]["args"]["file"].get<std::string>() + " " + some(job, {"gpus"});
    };
    CHECK(file("srun torchrun --nnodes 2 --nproc_per_node 4 run_train.py --config-file a/b.yaml\n") == "nanotron a/b.yaml gpus=8");
    CHECK(file("axolotl train small.yml\n") == "axolotl small.yml gpus=?");
    CHECK(file("accelerate launch --num_processes 4 -m axolotl.cli.train small.yml\n") == "axolotl small.yml gpus=4");
    CHECK(file("CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train a.yaml\n") == "llama-factory a.yaml gpus=2");
    CHECK(file("python ./deepy.py train.py small.yml local.yml\n") == "gpt-neox small.yml, local.yml gpus=?");
    CHECK(file("python megatron_gpt_pretraining.py --config-path=conf --config-name=own.yaml +trainer.num_nodes=2\n") ==
          "nemo-1 own.yaml gpus=?");
    CHECK(is_refused("python train.py --config-file a.yaml\n"));
}

TEST_CASE("the file stands in the script: YAML and TOML, with the script's variables in it") {
    const std::string yaml = R"(MBS=2
cat > run.yaml <<EOF
base_model: meta-llama/Llama-2-7b-hf
sequence_len: 4096   # tokens
micro_batch_size: $MBS
gradient_accumulation_steps: ${STEPS}
learning_rate: 2e-4
adapter: lora
lora_target_modules:
  - q_proj
  - v_proj
EOF
)";
    const Json axolotl = first_of_script(yaml + "accelerate launch --num_processes 4 -m axolotl.cli.train run.yaml\n");
    CHECK(some(axolotl, {"model", "gpus", "sequence_length", "micro_batch", "global_batch", "lora_targets"}) ==
          "model=\"llama-2-7b\" gpus=4 sequence_length=4096 micro_batch=2 global_batch=? lora_targets=\"query,value\"");
    CHECK(fate(axolotl, "gradient_accumulation_steps") == "open 6");
    const Json titan = read_script_of(R"(cat <<'EOF' > t.toml
[model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 2
seq_len = 8192
[parallelism]
tensor_parallel_degree = 2
data_parallel_shard_degree = 4
EOF
./own.sh t.toml
)");
    const Json indented = first_of_script(R"(kind: Job
      args:
      - |
        cat > t.toml <<EOF
        [model]
        name = "llama3"
        flavor = "8B"
        [training]
        local_batch_size = 2
        EOF
        torchrun --nproc_per_node=8 --nnodes=2 train.py --job.config_file t.toml --training.seq_len 4096
)");
    CHECK(some(indented, {"model", "gpus", "tensor_parallel", "micro_batch", "global_batch", "sequence_length", "zero"}) ==
          "model=\"llama-3-8b\" gpus=16 tensor_parallel=1 micro_batch=2 global_batch=32 sequence_length=4096 zero=\"weights\"");
    CHECK(fate(indented, "--job.config_file") == "no_number 11");
    CHECK(ids(indented["notes"]).find("import_plan.note.file") == std::string::npos);
    CHECK(titan["format"] == "torchtitan");
    CHECK(some(titan["jobs"][0], {"model", "gpus", "tensor_parallel", "micro_batch", "sequence_length"}) ==
          "model=\"llama-3-8b\" gpus=8 tensor_parallel=2 micro_batch=2 sequence_length=8192");
}

TEST_CASE("a file that the script writes with echo, at once or line by line") {
    const std::string run = "python MaxText/train.py configs/run.yml base_output_directory=out\n";
    const std::string plan = R"(gpus=8 model="llama-3-8b" global_batch=16 sequence_length=4096)";
    const auto read = [](const std::string& text) {
        return some(first_of_script(text), {"gpus", "model", "global_batch", "sequence_length"});
    };
    CHECK(read("OUT=$HOME/out\nSEQ=4096\necho \"base_config: base.yml\nmodel_name: llama3-8b\nmax_target_length: $SEQ\n"
               "ici_fsdp_parallelism: 8\ndcn_data_parallelism: 1\nper_device_batch_size: 2\" > $OUT/run.yml\n" +
               run) == plan);
    CHECK(read("echo 'model_name: llama3-8b' > configs/run.yml\necho 'max_target_length: 4096' >> configs/run.yml\n"
               "echo \"ici_fsdp_parallelism: 8\" >> configs/run.yml\necho dcn_data_parallelism: 1 >> configs/run.yml\n"
               "echo per_device_batch_size: 2 >> configs/run.yml\necho 'no file' >&2\n" +
               run) == plan);
    // what a container is told is no change of the file
    const Json inside = first_of_script("docker run -e HF_HOME=/hf --mount type=bind,source=/a image bash -c \"" + run + "\"\n");
    CHECK(fate(inside, "base_output_directory") != "");
    CHECK(fate(inside, "HF_HOME") + fate(inside, "type") == "");
    // what goes to no file is still what it prints
    CHECK(some(first_of_script("N=$(echo 2 2>/dev/null)\ntorchrun --nproc_per_node $N pretrain_gpt.py --num-layers 8 --hidden-size 512 "
                               "--num-attention-heads 8 --seq-length 512 --micro-batch-size 1 --bf16\n"),
               {"gpus"}) == "gpus=2");
}

TEST_CASE("settings between fences that call them a script, and several of them in the order of the page") {
    const std::string batch = "stage: sft\nfinetuning_type: full\ncutoff_len: 2048\nbf16: true\nper_device_train_batch_size: ";
    const auto page = [&](const std::string& fence, const char* more) {
        return read_script_of("# Training\n```" + fence + "\n### model\nmodel_name_or_path: Qwen/Qwen2.5-7B\n" + batch + "2\n```\n" + more);
    };
    const Json named = page("Bash", "```bash\nCUDA_VISIBLE_DEVICES=0 llamafactory-cli train full.yaml\n```\n");
    CHECK(named["format"] == "llama-factory");
    const Json alone = page("", "");
    CHECK(some(alone["jobs"][0], {"model", "sequence_length", "micro_batch"}) ==
          R"(model="qwen2.5-7b" sequence_length=2048 micro_batch=2)");
    // 800 bytes further a place has more digits
    const std::string second = std::string(900, '\n') + "```yaml\nmodel_name_or_path: Qwen/Qwen2.5-7B\n" + batch + "8\n```\n";
    const Json both = page("yaml", second.c_str());
    REQUIRE(both["jobs"].size() == 2);
    CHECK(both["jobs"][0]["job"]["micro_batch"] == 2);
    CHECK(both["jobs"][1]["job"]["micro_batch"] == 8);
    // a command is none
    CHECK(page("", "```\nusage: x\n```\n")["jobs"].size() == 1);
}

TEST_CASE("a command as one word of another, or in a text that nothing starts here") {
    const std::string maxtext =
        "python3 -m MaxText.train base.yml model_name=llama2-7b per_device_batch_size=4 ici_fsdp_parallelism=8 max_target_length=4096";
    const std::string said = "model=\"llama-2-7b\" sequence_length=4096 micro_batch=4";
    CHECK(some(first_of_script("xpk workload create --cluster c --command=\"set -e && " + maxtext + " | tee log\"\n"),
               {"model", "sequence_length", "micro_batch"}) == said);
    CHECK(some(first_of_script("ssh host '" + maxtext + "'\n"), {"model", "sequence_length", "micro_batch"}) == said);
    const std::string runner =
        "python multihost_runner.py --TPU_PREFIX=$TPU --COMMAND=\"\n  sudo docker run -w /a image bash -c \\\"\n    python3.10" +
        maxtext.substr(7) + "\n  \\\"\n\"\n";
    CHECK(some(first_of_script(runner), {"model", "sequence_length", "micro_batch"}) == said);
    const Json kept = first_of_script("LENGTH=4096\nCOMMAND=\"" + maxtext + "\"\n");
    CHECK(some(kept, {"model", "sequence_length", "micro_batch"}) == said);
    CHECK(fate(kept, "model_name") == "used 2");
    CHECK(some(first_of_script("cat > job.sh <<EOF\n#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py " + kPlainRun + "\nEOF\n"),
               {"gpus"}) == "gpus=8");
    CHECK(is_refused("echo \"python pretrain_gpt.py " + kPlainRun + "\"\n"));
}

TEST_CASE("lines that a loop reads stay open, and what the loop starts is one job") {
    const Json answer =
        read_script_of("while read -r TP MBS; do\ntorchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size $TP " +
                       kPlainRun + "\ndone < list.txt\n");
    REQUIRE(answer["jobs"].size() == 1);
    CHECK(fate(answer["jobs"][0], "--tensor-model-parallel-size") == "open 2");
    CHECK(some(answer["jobs"][0], {"gpus", "tensor_parallel", "micro_batch"}) == "gpus=8 tensor_parallel=? micro_batch=1");
}

TEST_CASE("GPUs: what PBS is asked for, those that are visible, what a job of Slurm knows") {
    const auto gpus = [](const std::string& text) { return some(first_of_script(text), {"gpus"}); };
    CHECK(gpus("#!/bin/bash\n#PBS -l select=4:ngpus=8\nmpirun python pretrain_gpt.py " + kPlainRun) == "gpus=32");
    CHECK(gpus("CUDA_VISIBLE_DEVICES=1 python pretrain_gpt.py " + kPlainRun) == "gpus=1");
    CHECK(gpus("CUDA_VISIBLE_DEVICES=0,1 python pretrain_gpt.py " + kPlainRun) == "gpus=?");  // it may take one of them
    CHECK(gpus("export CUDA_VISIBLE_DEVICES=0,1,2,3\ndeepspeed pretrain_gpt.py " + kPlainRun) == "gpus=4");
    CHECK(gpus("CUDA_VISIBLE_DEVICES=1 srun python pretrain_gpt.py " + kPlainRun) == "gpus=?");
    CHECK(gpus("#!/bin/bash\n#SBATCH --nodes=4\nif [ -n \"$SLURM_JOB_ID\" ]; then N=$SLURM_NNODES; else N=1; fi\ntorchrun --nnodes $N "
               "--nproc_per_node 8 pretrain_gpt.py " +
               kPlainRun) == "gpus=32");
}

TEST_CASE("what does not train is no job; sizes of -1 are another program's") {
    CHECK(is_refused("python tasks/eval_harness/evaluate.py --tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 " + kPlainRun));
    const Json filled = first_of_script("torchrun --nproc_per_node 8 pretrain_gpt.py " + kPlainRun + "--seq-length -1\n");
    CHECK(some(filled, {"sequence_length"}) == "sequence_length=?");
    CHECK(filled["asked"].dump() == R"(["sequence_length"])");
}

TEST_CASE("words of a tokenizer are taken only where its files are GPT-2's") {
    const std::string start =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 "
        "--max-position-embeddings 64 --micro-batch-size 1 --bf16 --tokenizer-type ";
    CHECK(first_of_script(start + "GPT2BPETokenizer --merge-file /data/gpt2-merges.txt\n")["job"]["model"]["vocab_size"] == 50'257);
    CHECK(first_of_script(start + "HuggingFaceTokenizer --tokenizer-model gpt2\n")["job"]["model"]["vocab_size"] == 50'257);
    CHECK(first_of_script(start + "GPT2BPETokenizer --merge-file /data/own_tokenizer/merges.txt\n")["asked"].dump() == R"(["vocab_size"])");
}

TEST_CASE("NeMo 1: sizes beside another file than its own are changes of that file") {
    const auto job = [](const std::string& file) {
        return first_of_script("torchrun megatron_gpt_pretraining.py --config-path=conf --config-name=" + file +
                               " trainer.devices=8 trainer.num_nodes=1 model.tensor_model_parallel_size=2 model.encoder_seq_length=64 "
                               "model.num_layers=2 model.hidden_size=64 model.num_attention_heads=4 model.tokenizer.vocab_size=99\n");
    };
    CHECK(!job("own_llama_config")["job"].contains("model"));
    CHECK(some(job("own_llama_config"), {"gpus", "tensor_parallel", "sequence_length", "hidden_dropout"}) ==
          "gpus=8 tensor_parallel=2 sequence_length=64 hidden_dropout=?");
}

TEST_CASE("Primus: experts that do not divide") {
    const auto refused = [](const std::string& degrees) {
        return ids(
            first_of("modules.pre_trainer.framework = \"megatron\"\nmodules.pre_trainer.model = \"mixtral_8x7B_v0.1.yaml\"\n" + degrees,
                     {{"gpus", "16"}})["refused"]);
    };
    CHECK(refused("modules.pre_trainer.overrides.expert_model_parallel_size = 8\n") == "");
    CHECK(refused("modules.pre_trainer.overrides.expert_model_parallel_size = 3\n") ==
          "import_plan.refused.experts import_plan.refused.expert_world");
}

TEST_CASE("torchtitan in Python: 8-bit numbers among the converters") {
    const Json answer = read_script_of(R"(from torchtitan.trainer import Trainer

def small() -> Trainer.Config:
    return Trainer.Config(
        training=TrainingConfig(local_batch_size=1, seq_len=8192),
        model_converters=ModelConvertersContainer.Config(
            converters=[Float8LinearConverter.Config(recipe_name="rowwise", filter_fqns=["output"])],
        ),
        parallelism=ParallelismConfig(data_parallel_shard_degree=8),
        activation_checkpoint=ActivationCheckpointConfig(mode="full"),
    )
)");
    CHECK(some(answer["jobs"][0], {"precision", "gpus"}) == "precision=\"fp8\" gpus=8");
}

TEST_CASE("Megatron-LM: a file beside the arguments, a fork's model by its name, positions that have no size") {
    const Json file = first_of_script("torchrun --nproc_per_node 8 pretrain_gpt.py --yaml-cfg own.yaml --tensor-model-parallel-size 2\n");
    CHECK(some(file, {"gpus", "tensor_parallel", "pipeline_parallel", "hidden_dropout"}) ==
          "gpus=8 tensor_parallel=2 pipeline_parallel=? hidden_dropout=?");
    CHECK(ids(file["notes"]).find("import_plan.note.file") != std::string::npos);
    const Json named = first_of_script(
        "torchrun --nproc_per_node 8 own/train.py --model-name qwen3-8b --seq-length 4096 --micro-batch-size 1 --global-batch-size 16 "
        "--tensor-model-parallel-size 2 --bf16\n");
    CHECK(some(named, {"model", "tensor_parallel", "hidden_dropout"}) == "model=\"qwen3-8b\" tensor_parallel=2 hidden_dropout=?");
    const std::string shape =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 "
        "--micro-batch-size 1 --vocab-size 99 --bf16 --seq-length $1 --max-position-embeddings $1 ";
    for (const char* kind : {"rope", "none", "alibi"})
        CHECK(first_of_script(shape + "--position-embedding-type " + kind + "\n")["job"].contains("model"));
    CHECK(!first_of_script(shape + "--position-embedding-type absolute\n")["job"].contains("model"));
    CHECK(!first_of_script(shape)["job"].contains("model"));
    CHECK(some(first_of_script(shape + "--context-parallel-algo ulysses_cp_algo\n"), {"context_parallel_kind"}) ==
          R"(context_parallel_kind="all_to_all")");
}

TEST_CASE("several jobs of a scheduler in one text: each has its own nodes and its own defaults") {
    const auto job = [](const std::string& name, const std::string& directive, const std::string& tensor) {
        return "cat > " + name + " <<\"EOT\"\n#!/bin/bash\n#SBATCH " + directive + "\n: \"${TP:=" + tensor +
               "}\"\nsrun torchrun --nproc_per_node 8 --nnodes $SLURM_JOB_NUM_NODES pretrain_gpt.py --tensor-model-parallel-size $TP " +
               kPlainRun + "\nEOT\nsbatch " + name + "\n";
    };
    const Json answer = read_script_of(job("one.sbatch", "-N 1", "1") + job("two.sbatch", "--nodes=2", "4"));
    REQUIRE(answer["jobs"].size() == 2);
    CHECK(some(answer["jobs"][0], {"gpus", "tensor_parallel"}) == "gpus=8 tensor_parallel=1");
    CHECK(some(answer["jobs"][1], {"gpus", "tensor_parallel"}) == "gpus=16 tensor_parallel=4");
}

TEST_CASE("a cluster's YAML with the script among its settings") {
    const std::string part = "spec.pytorchReplicaSpecs.Master.template.spec.containers.0.";
    const Json answer = tests::read_settings_of(
        "kind = \"PyTorchJob\"\nspec.pytorchReplicaSpecs.Master.replicas = 1\nspec.pytorchReplicaSpecs.Worker.replicas = 3\n" + part +
        "resources.limits.nvidia.com/gpu = 8\n" + part +
        "command = [\"bash\", \"-c\", \"torchrun pretrain_gpt.py --tensor-model-parallel-size 2 " + kPlainRun + "\"]\n");
    CHECK(answer["format"] == "megatron-lm");
    CHECK(some(answer["jobs"][0], {"gpus", "tensor_parallel", "sequence_length"}) == "gpus=32 tensor_parallel=2 sequence_length=64");
}

TEST_CASE("Primus: LoRA by its other names, modules in a list; MaxText: a degree that others leave; llm-foundry: changes of a file") {
    const std::string start = "modules.post_trainer.framework = \"megatron_bridge\"\nmodules.post_trainer.overrides.";
    const Json lora = first_of(start +
                               "use_lora = true\nmodules.post_trainer.overrides.lora_rank = 32\n"
                               "modules.post_trainer.overrides.lora_target_modules = [\"q_proj\", \"v_proj\"]\n");
    CHECK(some(lora, {"trained", "lora_rank", "lora_targets"}) == R"(trained="lora" lora_rank=32 lora_targets="query,value")");
    const Json listed = first_of(
        "modules.0.framework = \"torchtitan\"\nmodules.0.model.name = \"llama3\"\nmodules.0.model.flavor = \"8B\"\n"
        "modules.0.params.parallelism.tensor_parallel_degree = 2\n");
    CHECK(some(listed, {"model", "tensor_parallel", "pipeline_parallel", "recompute"}) ==
          "model=\"llama-3-8b\" tensor_parallel=2 pipeline_parallel=? recompute=?");
    const Json left =
        first_of("model_name = \"mixtral-8x7b\"\nper_device_batch_size = 4\nmax_target_length = 4096\nici_expert_parallelism = -1\n");
    CHECK(fate(left, "ici_expert_parallelism") == "unknown 4");
    const Json changed = first_of_script("composer --world_size 32 train.py small.yaml precision=amp_fp16 global_train_batch_size=64\n");
    CHECK(some(changed, {"gpus", "precision", "global_batch"}) == "gpus=32 precision=\"fp16\" global_batch=64");
}

TEST_CASE("Megatron-DeepSpeed in 32 bits: stage 0 is no stage") {
    const Json job = first_of_script(
        "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --vocab-size 99 "
        "--max-position-embeddings 64 --micro-batch-size 1 --deepspeed --zero-stage 0\n");
    CHECK(some(job, {"zero"}) == R"(zero="none")");
}

TEST_CASE("torchtitan's JobConfig in Python; accelerate takes no parts of DeepSpeed's file") {
    const Json answer = read_script_of(R"(from torchtitan.config import JobConfig, Model, Parallelism, Training

default_config = JobConfig(
    model=Model(name="llama3", flavor="8B"),
    training=Training(local_batch_size=4, seq_len=4096),
    parallelism=Parallelism(pipeline_parallel_degree=2, data_parallel_shard_degree=4, pipeline_parallel_schedule="Interleaved1F1B"),
    activation_checkpoint=ActivationCheckpoint(mode="full"),
)
)");
    CHECK(answer["format"] == "torchtitan");
    CHECK(some(answer["jobs"][0], {"model", "gpus", "pipeline_parallel", "virtual_stages", "sequence_length", "recompute"}) ==
          "model=\"llama-3-8b\" gpus=8 pipeline_parallel=2 virtual_stages=2 sequence_length=4096 recompute=\"full\"");
    const Json nested = first_of(
        "compute_environment = \"LOCAL_MACHINE\"\ndistributed_type = \"DEEPSPEED\"\nnum_processes = 4\n"
        "deepspeed_config.zero_optimization.stage = 3\n");
    CHECK(fate(nested, "deepspeed_config.zero_optimization.stage") == "unknown 4");
    CHECK(some(nested, {"zero"}) == "zero=?");
}

TEST_CASE("Primus: what no release of its presets changes is as they leave it") {
    const std::string text =
        "modules.pre_trainer.framework = \"megatron\"\nmodules.pre_trainer.model = \"llama3.1_8B.yaml\"\n"
        "modules.pre_trainer.overrides.micro_batch_size = 1\n";
    const auto read = [&](const std::string& said) {
        return some(first_of(text + said), {"recompute", "context_parallel", "precision", "zero"});
    };
    CHECK(read("") == R"(recompute="none" context_parallel=1 precision="bf16" zero=?)");
    CHECK(read("modules.pre_trainer.overrides.recompute_granularity = \"full\"\n"
               "modules.pre_trainer.overrides.recompute_method = \"block\"\nmodules.pre_trainer.overrides.recompute_num_layers = 8\n"
               "modules.pre_trainer.overrides.context_parallel_size = 2\nmodules.pre_trainer.overrides.fp8 = \"hybrid\"\n") ==
          R"(recompute="block" context_parallel=2 precision="fp8" zero=?)");
    CHECK(read("modules.pre_trainer.overrides.recompute_granularity = \"${HOW}\"\n") ==
          R"(recompute=? context_parallel=1 precision="bf16" zero=?)");
}

TEST_CASE("slime: the model of a checkpoint where its sizes stand in another file") {
    const std::string text =
        "source models/qwen3-4B.sh\nARGS=(--actor-num-nodes 1 --actor-num-gpus-per-node 8 --hf-checkpoint /root/Qwen3-4B "
        "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 --sequence-parallel --global-batch-size 64)\n"
        "ray job submit -- python3 train.py ${MODEL_ARGS[@]} ${ARGS[@]} ";
    const Json named = first_of_script(text + "\n");
    CHECK(some(named, {"model", "gpus", "tensor_parallel"}) == R"(model="qwen3-4b" gpus=8 tensor_parallel=2)");
    CHECK(ids(named["notes"]).find("import_plan.note.no_model") == std::string::npos);
    const Json said =
        first_of_script(text + "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 --vocab-size 1000 --bf16\n");
    CHECK(said["job"]["model"]["num_hidden_layers"] == 8);
}
