// What stands around a training in a script: places that have names, files of other programs, launchers' files.
#include <doctest/doctest.h>

#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

static const std::string kTrain =
    "torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen2.5-7B --model_max_length 1024 --bf16 "
    "--gradient_accumulation_steps 1 --per_device_train_batch_size ";

TEST_CASE("a list whose places are names") {
    const std::string list = "declare -A SIZE\nSIZE[\"small\"]=16\nSIZE[large]=2\nSIZE[\"small\"]=12\n";
    const auto batch = [&](const std::string& lines) { return some(first_of_script(lines), {"micro_batch"}); };
    CHECK(batch(list + "KEY=${1:-small}\n" + kTrain + "\"${SIZE[$KEY]}\"\n") == "micro_batch=12");
    CHECK(batch(list + "KEY=other\n" + kTrain + "${SIZE[$KEY]:-4}\n") == "micro_batch=4");
    CHECK(batch(list + "KEY=large\n" + kTrain + "${SIZE[$KEY]:-4}\n") == "micro_batch=2");
    const Json open = read_script_of(list + kTrain + "${SIZE[$KEY]}\n");
    CHECK(some(open["jobs"][0], {"micro_batch"}) == "micro_batch=?");
    CHECK(open["questions"][0]["name"] == "KEY");
    // What a loop puts there is open, and so is what else may be in it.
    const Json filled = read_script_of("declare -A A=([x]=3)\nwhile read -r K V; do A[$K]=$V; done < list.txt\n" + kTrain + "${A[y]:-4}\n");
    CHECK(some(filled["jobs"][0], {"micro_batch"}) == "micro_batch=?");
}

TEST_CASE("places of a list are set one by one") {
    const std::string lines = "SIZES=(1 2 4)\nSIZES[1]=8\nARGS=(--bf16)\nARGS[${#ARGS[@]}]=\"--gradient_checkpointing\"\n";
    const Json job = first_of_script(lines + kTrain + "${SIZES[1]} \"${ARGS[@]}\"\n");
    CHECK(some(job, {"micro_batch", "recompute"}) == R"(micro_batch=8 recompute="full")");
}

TEST_CASE("a file that another program wrote is not here, whatever is added to it") {
    const Json job = first_of_script(
        "#SBATCH --nodes=1\n#SBATCH --gres=gpu:4\nF=$(mktemp /tmp/x-XXXX.yaml)\nsed -e \"s|OUT|$O|\" base.yaml > \"$F\"\n"
        "echo \"gradient_accumulation_steps: 4\" >> \"$F\"\nllamafactory-cli train \"$F\"\n");
    CHECK(job["refused"].empty());
    CHECK(some(job, {"gpus", "trained", "zero", "recompute"}) == "gpus=4 trained=? zero=? recompute=?");
    CHECK(ids(job["notes"]) == "import_plan.note.file");
    const Json whole = first_of_script(
        "F=sft.yaml\necho \"model_name_or_path: Qwen/Qwen2.5-7B\" > $F\necho \"finetuning_type: full\" >> $F\n"
        "echo \"cutoff_len: 2048\" >> $F\necho \"per_device_train_batch_size: 2\" >> $F\nllamafactory-cli train $F\n");
    CHECK(some(whole, {"model", "micro_batch"}) == R"(model="qwen2.5-7b" micro_batch=2)");
}

TEST_CASE("accelerate's file in a script: offload beside a stage, and a program that is a module") {
    const std::string file =
        "cat > ds.yaml <<EOF\ncompute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nmixed_precision: bf16\n"
        "num_machines: 1\nnum_processes: 8\ndeepspeed_config:\n  zero_stage: 3\n  offload_optimizer_device: cpu\n"
        "  offload_param_device: none\nEOF\n";
    const Json job = first_of_script(file +
                                     "accelerate launch --config_file ds.yaml --num_machines 1 -m distill.train --model_name "
                                     "Qwen/Qwen2.5-7B --max_length 4096 --grad_accum 2 --lr 1e-5\n");
    CHECK(some(job, {"model", "gpus", "sequence_length", "zero", "optimizer_offload", "weights_offload", "precision"}) ==
          R"(model="qwen2.5-7b" gpus=8 sequence_length=4096 zero="weights" optimizer_offload=1.0 weights_offload=? precision="bf16")");
    for (const Json& key : job["keys"]) {
        CHECK_MESSAGE(key["fate"] != "contradicted", key.dump());
        if (key["key"] == "deepspeed_config.offload_optimizer_device") CHECK(key["fate"] == "used");
    }
}

TEST_CASE("a text around a command: an apostrophe begins no quote, and a JSON of DeepSpeed is its file") {
    const Json job = first_of_script(
        "I'm tuning it, and it doesn't fit:\n\ndeepspeed --num_gpus 8 --num_node 3 src/train_bash.py --stage sft \\\n"
        "  --model_name_or_path /mnt/model/Llama-2-70b-hf --finetuning_type lora --lora_target q_proj,v_proj \\\n"
        "  --cutoff_len 1024 --per_device_train_batch_size 16 --gradient_accumulation_steps 4 --deepspeed my.json\n");
    CHECK(job["refused"].empty());
    CHECK(some(job, {"model", "gpus", "micro_batch", "lora_targets"}) ==
          R"(model="llama-2-70b" gpus=24 micro_batch=16 lora_targets="query,value")");
    const Json page = first_of_script(
        "It stops:\n\n```\ndeepspeed --include localhost:0,1 run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 2 "
        "--deepspeed my.json --fp16\n```\n\nThe file:\n```\n{\n  \"fp16\": {\"enabled\": true},\n  \"zero_optimization\": {\n"
        "    \"stage\": 2,\n    \"offload_optimizer\": {\"device\": \"cpu\"}\n  }\n}\n```\n");
    CHECK(some(page, {"gpus", "zero", "optimizer_offload"}) == R"(gpus=2 zero="gradients" optimizer_offload=1.0)");
}

TEST_CASE("a page with one file alone, and a command that names one") {
    const std::string file =
        "```yaml\nmodel_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: lora\nlora_rank: 64\ncutoff_len: 4096\n"
        "per_device_train_batch_size: 1\nlearning_rate: 1e-4\nbf16: true\n```\n";
    const std::string command = "\n```bash\nllamafactory-cli train own.yaml\n```\n";
    CHECK(some(first_of_script("# Training\n\n" + file + command), {"model", "lora_rank", "sequence_length"}) ==
          R"(model="qwen2.5-7b" lora_rank=64 sequence_length=4096)");
    CHECK(some(first_of_script("# Training\n\n" + file + "\n" + file + command), {"model"}) == "model=?");
}

TEST_CASE("LitGPT: a file by its adapters, and a setting that it does not have") {
    const std::string file =
        "checkpoint_dir = \"checkpoints/meta-llama/Llama-3.1-8B\"\nlora_r = 16\nlora_query = true\nlora_key = false\nlora_value = true\n"
        "lora_projection = false\nlora_mlp = true\ntrain.epochs = 3\ntrain.micro_batch_size = 1\ntrain.max_seq_length = 2048\n";
    const Json answer = read_settings_of(file);
    CHECK(answer["format"] == "litgpt");
    CHECK(some(answer["jobs"][0], {"model", "lora_rank", "sequence_length"}) ==
          R"(model="llama-3.1-8b" lora_rank=16 sequence_length=2048)");
    CHECK(answer["jobs"][0]["refused"].empty());
    CHECK(ids(first_of(file + "train.batch_size = 4\n")["refused"]) == "import_plan.refused.no_key");
}

TEST_CASE("programs of one's own: ranks and batches by other names") {
    const Json rank = first_of_script(
        "torchrun --nproc_per_node 8 -m lora-own --fsdp \"full_shard auto_wrap\" --fsdp_config own.json --model_name_or_path "
        "Qwen/Qwen2.5-7B --per_device_train_batch_size 1 --rank 256 --alpha 512 --bf16\n");
    CHECK(some(rank, {"trained", "lora_rank", "zero"}) == R"(trained="lora" lora_rank=256 zero="weights")");
    CHECK(ids(rank["notes"]) == "import_plan.note.file");
    const Json alpaca = first_of_script(
        "CUDA_VISIBLE_DEVICES=0 python finetune.py --base_model 'own-7b/' --batch_size 16 --micro_batch_size 4 --cutoff_len 256 "
        "--learning_rate 1e-4 --lora_r 8 --target_modules '[\"q_proj\", \"v_proj\"]'\n");
    CHECK(some(alpaca, {"micro_batch", "global_batch", "sequence_length", "lora_rank", "lora_targets"}) ==
          R"(micro_batch=4 global_batch=16 sequence_length=256 lora_rank=8 lora_targets="query,value")");
    CHECK(alpaca["asked"] == Json{"model"});
    const Json glm = first_of_script(
        "python src/train_sft.py --do_train --finetuning_type lora --quantization_bit 4 --per_device_train_batch_size 10 --fp16\n");
    CHECK(glm["refused"].empty());
}

TEST_CASE("DeepSpeed-Chat offloads what its stage divides; llama-recipes' weights in few bits") {
    const std::string chat =
        "deepspeed --num_gpus 8 main.py --model_name_or_path facebook/opt-6.7b --per_device_train_batch_size 4 --max_seq_len 512 "
        "--gradient_checkpointing --offload --deepspeed --zero_stage ";
    const Json all = first_of_script(chat + "3\n"), some_of_it = first_of_script(chat + "2\n");
    CHECK(some(all, {"zero", "optimizer_offload", "weights_offload"}) == R"(zero="weights" optimizer_offload=1.0 weights_offload=true)");
    CHECK(some(some_of_it, {"zero", "optimizer_offload", "weights_offload"}) ==
          R"(zero="gradients" optimizer_offload=1.0 weights_offload=?)");
    for (const Json& key : all["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    const Json recipes = first_of_script(
        "torchrun --nproc_per_node 4 finetuning.py --enable_fsdp --use_peft --peft_method lora --model_name meta-llama/Llama-3.1-8B "
        "--batch_size_training 1 --context_length 2048 --quantization '4bit'\n");
    CHECK(some(recipes, {"frozen_weights", "trained"}) == R"(frozen_weights="nf4_single" trained="lora")");
}

TEST_CASE("accelerate: a type in capitals") {
    const Json job = first_of(
        "compute_environment = \"LOCAL_MACHINE\"\ndistributed_type = \"FSDP\"\nnum_processes = 8\nmixed_precision = \"FP16\"\n"
        "fsdp_config.fsdp_sharding_strategy = \"FULL_SHARD\"\n");
    CHECK(some(job, {"precision"}) == R"(precision="fp16")");
    CHECK(job["refused"].empty());
}

TEST_CASE("accelerate: the product of all degrees is the number of processes") {
    const std::string file =
        "compute_environment = \"LOCAL_MACHINE\"\ndistributed_type = \"FSDP\"\nnum_processes = 8\nfsdp_config.fsdp_version = 2\n"
        "parallelism_config.parallelism_config_tp_size = 2\nparallelism_config.parallelism_config_dp_shard_size = ";
    CHECK(ids(first_of(file + "2\n")["refused"]) == "import_plan.refused.mesh");
    CHECK(first_of(file + "4\n")["refused"].empty());
}

TEST_CASE("a program of one's own that does not compute layers again") {
    const std::string line = "accelerate launch train.py --model_name Qwen/Qwen2.5-7B --context_length 2048 --use_gradient_checkpointing ";
    CHECK(some(first_of_script(line + "false\n"), {"recompute"}) == R"(recompute="none")");
    CHECK(some(first_of_script(line + "true\n"), {"recompute"}) == R"(recompute="full")");
}

TEST_CASE("torchtune: a part by its name on the command line") {
    const Json job = first_of_script(
        "tune run --nproc_per_node 8 lora_finetune_distributed --config my/70B_lora.yaml optimizer=torch.optim.SGD "
        "loss=torchtune.modules.loss.CEWithChunkedOutputLoss batch_size=1\n");
    CHECK(some(job, {"optimizer", "moments"}) == R"(optimizer="sgd" moments=?)");
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
}

TEST_CASE("ArcticTraining: DeepSpeed around a checkpoint, Ulysses in its groups") {
    const std::string file =
        "type = \"sft\"\nmicro_batch_size = 1\nepochs = 2\nmodel.type = \"liger\"\nmodel.name_or_path = \"Qwen/Qwen2.5-7B\"\n"
        "model.attn_implementation = \"flash_attention_2\"\ndata.sources = [\"a/b\"]\ndata.max_length = \"32_000\"\n"
        "optimizer.type = \"cpu_adam\"\nscheduler.name = \"linear\"\n";
    const Json plain = first_of(file, {{"gpus", "8"}});
    CHECK(
        some(plain, {"model", "sequence_length", "micro_batch", "global_batch", "zero", "recompute", "precision", "attention", "loss"}) ==
        R"(model="qwen2.5-7b" sequence_length=32000 micro_batch=1 global_batch=8 zero="gradients" recompute="full" precision="bf16" attention="flash" loss="tiled")");
    for (const Json& key : plain["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    const Json groups = first_of(file +
                                     "sequence_parallel_size = 4\ndeepspeed.zero_optimization.stage = 3\n"
                                     "deepspeed.zero_optimization.offload_optimizer.device = \"cpu\"\n",
                                 {{"gpus", "8"}});
    CHECK(some(groups, {"context_parallel", "context_parallel_kind", "global_batch", "zero", "optimizer_offload"}) ==
          R"(context_parallel=4 context_parallel_kind="all_to_all" global_batch=8 zero="weights" optimizer_offload=1.0)");
}
