// Whole public files of every format: what stood in them and was not read, each once, in a small text of our own.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("llm-foundry: references to a file that stands below one section, and sizes that are asked for where they are empty") {
    const std::string text =
        "parameters.max_seq_len = 2048\nparameters.model.name = \"mpt_causal_lm\"\nparameters.model.max_seq_len = \"${max_seq_len}\"\n"
        "parameters.model.vocab_size = 50432\nparameters.global_train_batch_size = 512\n";
    const Json job = first_of(text + "parameters.model.d_model = null\nparameters.eos_token_id = 0\n");
    CHECK(some(job, {"sequence_length", "model"}) == "sequence_length=2048 model=?");
    CHECK(job["asked"].dump() == R"(["gpus","micro_batch","model"])");
    CHECK(fate(job, "parameters.eos_token_id").starts_with("no_number"));
    const Json whole = first_of(text + "parameters.model.d_model = 768\nparameters.model.n_heads = 12\nparameters.model.n_layers = 12\n");
    CHECK(whole["job"]["model"]["hidden_size"] == 768);
}

TEST_CASE("MaxText: the name \"default\" is no model's, a fork's decoder is not known, and one activation has no gate") {
    const std::string text =
        "model_name = \"default\"\nbase_emb_dim = 1024\nbase_num_query_heads = 16\nbase_num_kv_heads = 16\nbase_mlp_dim = 2816\n"
        "base_num_decoder_layers = 24\nhead_dim = 64\nvocab_size = 32000\nmax_target_length = 2048\nper_device_batch_size = 1.0\n";
    const Json job = first_of(text + "decoder_block = \"own_former\"\nmlp_activations = [\"silu\", \"linear\"]\n");
    CHECK(ids(job["refused"]) == "");
    CHECK(job["job"]["model"]["num_hidden_layers"] == 24);
    CHECK(fate(job, "decoder_block") == "unknown 11");
    const Json plain = first_of(text + "decoder_block = \"gpt3\"\nmlp_activations = [\"gelu\"]\n");
    CHECK(plain["job"]["model"]["gated_mlp"] == false);
    CHECK(fate(plain, "decoder_block").starts_with("used"));
    // configs/models/gpt-oss-20b.yml: its attention has biases.
    const Json experts =
        first_of(text + "decoder_block = \"gpt_oss\"\nnum_experts = 32\nnum_experts_per_tok = 4\nbase_moe_mlp_dim = 2816\n");
    CHECK(experts["job"]["model"]["model_type"] == "gpt_oss");
    CHECK(experts["job"]["model"]["num_local_experts"] == 32);
}

TEST_CASE("Megatron-DeepSpeed: the first version of FlashAttention; words for a container and for mpirun say nothing") {
    const Json job = first_of_script(
        "mpirun --mca a 1 --map-by ppr:1:node apptainer exec --nv --bind /a:/a deepspeed --num_gpus 8 --launcher pdsh --launcher_args=-q "
        "--no_ssh_check --no_ssh --bind_cores_to_rank --enable_each_rank_log logs pretrain_gpt.py --num-layers 8 "
        "--hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 --vocab-size 1000 "
        "--micro-batch-size 1 --bf16 --deepspeed --zero-stage 1 --use-flash-attn-v1\n");
    CHECK(some(job, {"attention", "gpus"}) == R"(attention="flash" gpus=8)");
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
}

TEST_CASE("NeMo 1: the switch says whether layers are offloaded, and a .nemo file whose name is a model's") {
    const std::string text =
        "trainer.devices = 8\ntrainer.num_nodes = 1\nmodel.micro_batch_size = 1\nmodel.global_batch_size = 8\n"
        "model.tensor_model_parallel_size = 1\nmodel.pipeline_model_parallel_size = 2\nmodel.encoder_seq_length = 512\n";
    const Json off = first_of(text + "model.cpu_offloading = false\nmodel.cpu_offloading_num_layers = 11\n");
    CHECK(off["notes"].dump().find("cpu_offloading") == std::string::npos);
    const Json on = first_of(text + "model.cpu_offloading = true\nmodel.cpu_offloading_num_layers = 11\n");
    CHECK(on["notes"].dump().find("cpu_offloading") != std::string::npos);
    CHECK(some(first_of(text + "model.restore_from_path = \"../mistral-7b.nemo\"\n"), {"model"}) == R"(model="mistral-7b")");
    const Json own = first_of(text + "model.restore_from_path = \"../ours.nemo\"\n");
    CHECK(some(own, {"model"}) == "model=?");
    CHECK(own["asked"].dump().find("model") != std::string::npos);
}

TEST_CASE("torchtitan: weights of 16 bits have no copy in 32, and Primus says 8 bits in its preset's name") {
    const std::string text =
        "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.seq_len = 8192\ntraining.local_batch_size = 1\n"
        "parallelism.tensor_parallel_degree = 1\n";
    CHECK(some(first_of(text + "training.dtype = \"bfloat16\"\n"), {"master_weights", "moments", "gradients_in_fp32"}) ==
          R"(master_weights="off" moments="16-bit" gradients_in_fp32=false)");
    CHECK(some(first_of(text + "training.dtype = \"float32\"\n"), {"master_weights", "gradients_in_fp32"}) ==
          "master_weights=? gradients_in_fp32=true");
    const auto primus = [](const std::string& model) {
        const std::string module = "modules.pre_trainer.";
        return first_of(module + "framework = \"torchtitan\"\n" + module + "model = \"" + model + "\"\n" + module +
                        "overrides.training.batch_size = 3\n" + module + "overrides.activation_checkpoint.mode = \"full\"\n");
    };
    CHECK(some(primus("llama3.1_70B-fp8.yaml"), {"model", "precision"}) == R"(model="llama-3.1-70b" precision="fp8")");
    CHECK(some(primus("llama3.1_70B.yaml"), {"model", "precision"}) == R"(model="llama-3.1-70b" precision=?)");
}

TEST_CASE("Accelerate's file says that FSDP recomputes nothing") {
    const std::string text = "distributed_type = \"FSDP\"\nnum_processes = 8\nfsdp_config.fsdp_version = 2\n";
    CHECK(some(first_of(text + "fsdp_config.fsdp_activation_checkpointing = false\n"), {"recompute", "zero"}) ==
          R"(recompute="none" zero="weights")");
    CHECK(some(first_of(text), {"recompute"}) == "recompute=?");
}

TEST_CASE("Megatron-Bridge: a recipe of a module called after its model, a helper that makes a model, a program's name") {
    const Json read = read_script_of(
        "from megatron.bridge.recipes.llama import llama3_8b\nLENGTH: int = 65536\n"
        "def model_config(tensor_parallelism: int = 4, context_parallelism: int = 4):\n"
        "    cfg = llama3_8b.model_config(tensor_parallelism=tensor_parallelism, context_parallelism=context_parallelism)\n"
        "    cfg.seq_length = LENGTH\n    return cfg\n"
        "def pretrain_config(tensor_parallelism: int = 4, context_parallelism: int = 4, global_batch_size: int = 512):\n"
        "    cfg = llama3_8b.pretrain_config(tensor_parallelism=tensor_parallelism, global_batch_size=global_batch_size,\n"
        "                                    seq_length=LENGTH)\n"
        "    cfg.model = model_config(tensor_parallelism=tensor_parallelism, context_parallelism=context_parallelism)\n"
        "    return cfg\n");
    REQUIRE(read["jobs"].size() == 1);
    CHECK(some(read["jobs"][0], {"model", "tensor_parallel", "context_parallel", "global_batch", "sequence_length"}) ==
          R"(model="llama-3-8b" tensor_parallel=4 context_parallel=4 global_batch=512 sequence_length=65536)");
    const std::string changes = " model.tensor_model_parallel_size=1 train.global_batch_size=8 train.micro_batch_size=1\n";
    CHECK(some(first_of_script("torchrun --nproc-per-node 8 a/pretrain_gpt_oss_20b.py" + changes), {"model", "gpus"}) ==
          R"(model="gpt-oss-20b" gpus=8)");
    CHECK(some(first_of_script("torchrun --nproc-per-node 8 a/pretrain_ours.py" + changes), {"model"}) == "model=?");
}

TEST_CASE("NeMo 2: Lightning's own strategy shares nothing out, and the adapter that a recipe is given is there") {
    const Json job = first_of_script(
        "from nemo.collections import llm\ndef main(nodes: int = 1, gpus: int = 8):\n"
        "    recipe = llm.hf_auto_model_for_causal_lm.finetune_recipe(model_name=\"google/gemma-3-27b-it\", num_nodes=nodes,\n"
        "        num_gpus_per_node=gpus, peft_scheme=\"lora\")\n    if recipe.peft:\n        recipe.peft.dim = 512\n"
        "    recipe.trainer.strategy = 'ddp_find_unused_parameters_true'\n    recipe.data.global_batch_size = 8\n"
        "if __name__ == '__main__':\n    main()\n");
    CHECK(some(job, {"zero", "lora_rank", "trained", "gpus"}) == R"(zero="none" lora_rank=512 trained="lora" gpus=8)");
    const Json open = first_of_script(
        "from nemo.collections import llm\ndef main(wide, nodes: int = 1, gpus: int = 8):\n"
        "    recipe = llm.llama3_8b.finetune_recipe(num_nodes=nodes, num_gpus_per_node=gpus, peft_scheme=\"lora\")\n"
        "    if wide:\n        recipe.peft.dim = 512\n    recipe.data.global_batch_size = 8\n");
    CHECK(some(open, {"lora_rank", "trained"}) == R"(lora_rank=? trained="lora")");
}

TEST_CASE(
    "Megatron-LM: a layout written for a shell, nothing recomputed by name, a file that says the rest, mpirun's processes of a node") {
    const std::string small =
        "--num-layers 15 --hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 --bf16 "
        "--vocab-size 1000 --micro-batch-size 1 --global-batch-size 32 ";
    const Json layout = first_of_script("torchrun --nproc_per_node 8 pretrain_gpt.py " + small +
                                        "--pipeline-model-parallel-size 2 "
                                        "--pipeline-model-parallel-layout 'Et*3\\|\\(tt\\|\\)*6L'\n");
    CHECK(some(layout, {"layout", "virtual_stages"}) == R"(layout="Et*3|(tt|)*6L" virtual_stages=4)");
    CHECK(ids(layout["refused"]) == "");
    const Json rest = first_of_script(
        "#SBATCH --nodes=2\n#SBATCH --gpus-per-node=4\nFILE=$1\nsrun torchrun --nnodes=$SLURM_NNODES "
        "--nproc-per-node=4 pretrain_gpt.py --config ${FILE} --save out\n");
    CHECK(some(rest, {"gpus", "zero", "precision"}) == "gpus=8 zero=? precision=?");
    CHECK(rest["notes"].dump().find("import_plan.note.file") != std::string::npos);
    const Json old = first_of_script("mpirun -np $N -npernode 4 python pretrain_gpt.py " + small +
                                     "--fp16 --checkpoint-activations --distribute-checkpointed-activations\n");
    CHECK(some(old, {"gpus", "gpus_per_node", "recompute"}) == R"(gpus=? gpus_per_node=4 recompute="full")");
    CHECK(fate(old, "--distribute-checkpointed-activations") != "unknown 1");
    CHECK(some(first_of_script("mpirun -np 2 -npernode 1 torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py " + small + "\n"),
               {"gpus", "gpus_per_node"}) == "gpus=16 gpus_per_node=8");
    const std::string recipe = "model.tensor_model_parallel_size = 2\ntrain.global_batch_size = 8\nddp.overlap_grad_reduce = true\n";
    CHECK(some(first_of(recipe + "model.recompute_granularity = null\n"), {"recompute"}) == R"(recompute="none")");
    CHECK(some(first_of(recipe), {"recompute"}) == "recompute=?");
}

TEST_CASE("a list that another file fills: what stands in it is asked by its place") {
    const std::string text =
        "source sizes.sh\nPART=(\"${SMALL[@]}\")\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers ${PART[1]} --hidden-size 512 "
        "--num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 --bf16 --vocab-size 1000 --micro-batch-size 1\n";
    CHECK(fate(first_of_script(text), "--num-layers") == "open 3");
    const Json answered = read_answer({{"text", text}, {"set", {{"PART[1]", "12"}}}})["jobs"][0];
    CHECK(answered["job"]["model"]["num_hidden_layers"] == 12);
}

TEST_CASE("Axolotl's automatic bf16 beside fp16, MaxText's changes of another file, llm-foundry's class of a model's name") {
    const std::string axolotl =
        "base_model = \"Qwen/Qwen2.5-7B\"\nsequence_len = 2048\nmicro_batch_size = 1\ngradient_accumulation_steps = 1\nbf16 = \"auto\"\n";
    CHECK(some(first_of(axolotl), {"precision"}) == R"(precision="bf16")");
    CHECK(some(first_of(axolotl + "fp16 = true\n"), {"precision"}) == R"(precision="fp16")");
    CHECK(some(first_of(axolotl + "fp16 = false\n"), {"precision"}) == R"(precision="bf16")");
    const Json changes = first_of("base_config = \"own.yml\"\nattention = \"cudnn_flash_te\"\n");
    CHECK(some(changes, {"attention", "sequence_length"}) == R"(attention="cudnn" sequence_length=?)");
    CHECK(ids(changes["notes"]) == "import_plan.note.file");
    const Json own =
        first_of("max_seq_len = 2048\nmodel.name = \"llama-2-7b\"\nglobal_train_batch_size = 4\ndevice_train_microbatch_size = 2\n");
    CHECK(some(own, {"model"}) == R"(model="llama-2-7b")");
}

TEST_CASE("a job script in a computed text of Python: doubled braces, and a launcher behind a quote") {
    const Json job = first_of_script(
        "import os\ndef make(GPUS=2, MICRO=4):\n    return f\"\"\"#!/bin/bash\nMICRO={MICRO}\ncat <<EOT > ds.json\n{{\n"
        "  \"train_micro_batch_size_per_gpu\": $MICRO, \"train_batch_size\": 16,\n  \"zero_optimization\": {{\"stage\": 2}}\n}}\nEOT\n"
        "RUN=\"python -u -m torch.distributed.run --nproc_per_node {GPUS} pretrain_gpt.py --num-layers 8 --hidden-size 512 \\\n"
        "  --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 --vocab-size 1000 --micro-batch-size $MICRO \\\n"
        "  --global-batch-size 16 --fp16 --deepspeed --deepspeed_config ds.json\"\n$RUN\n\"\"\"\nos.system(\"sbatch job\")\nmake()\n");
    CHECK(some(job, {"gpus", "micro_batch", "global_batch", "zero"}) == R"(gpus=2 micro_batch=4 global_batch=16 zero="gradients")");
}

TEST_CASE("NeMo 2: a tokenizer's name beside a recipe's, and a recipe of Mamba, which trains all its weights") {
    const std::string text =
        "from nemo.collections import llm\nrecipe = llm.mamba2_130m.finetune_recipe(num_nodes=1, num_gpus_per_node=8)\n"
        "recipe.model.tokenizer = run.Config(get_nmt_tokenizer, model_name=\"bert-base-uncased\")\n"
        "recipe.data.global_batch_size = 8\nrecipe.data.micro_batch_size = 1\n";
    const Json job = first_of_script(text);
    CHECK(ids(job["refused"]) == "");
    CHECK(some(job, {"gpus", "global_batch", "trained"}) == "gpus=8 global_batch=8 trained=?");
    const Json llama = first_of_script("from nemo.collections import llm\nrecipe = llm.llama3_8b.finetune_recipe(num_nodes=1)\n");
    CHECK(some(llama, {"trained"}) == R"(trained="lora")");
}

TEST_CASE("What a file says and its program leaves: accelerate's FSDP beside another type, MaxText's copies of shards between slices") {
    const std::string plain = "distributed_type = \"MULTI_GPU\"\ncompute_environment = \"LOCAL_MACHINE\"\nnum_processes = 8\n";
    CHECK(ids(first_of(plain)["notes"]) == "");
    const Json job = first_of(plain + "fsdp_config.fsdp_version = 2\nfsdp_config.fsdp_reshard_after_forward = true\n");
    CHECK(some(job, {"zero", "gpus"}) == R"(zero="none" gpus=8)");
    CHECK(ids(job["notes"]) == "import_plan.note.not_counted");
    const std::string axes = "model_name = \"llama3-8b\"\nici_fsdp_parallelism = 8\nper_device_batch_size = 1.0\n";
    CHECK(fate(first_of(axes + "dcn_data_parallelism = -1\n"), "dcn_data_parallelism") == "unknown 4");
    CHECK(fate(first_of(axes + "dcn_data_parallelism = 2\n"), "dcn_data_parallelism").starts_with("used"));
    const Json rest = first_of(axes + "dcn_data_parallelism = -1\n", {{"gpus", "32"}});
    CHECK(some(rest, {"gpus", "shard_replicas"}) == "gpus=32 shard_replicas=4");
    CHECK(fate(rest, "dcn_data_parallelism").starts_with("used"));
    CHECK(some(first_of(axes + "dcn_data_parallelism = -1\n", {{"gpus", "12"}}), {"shard_replicas"}) == "shard_replicas=?");
}

TEST_CASE("MaxText: weights of 16 bits are the only ones, and gradients and averages have their type") {
    const std::string text =
        "model_name = \"llama3-8b\"\nici_fsdp_parallelism = 8\nper_device_batch_size = 1.0\nweight_dtype = \"bfloat16\"\n";
    const auto types = [&](const std::string& more) {
        const Json job = first_of(text + more);
        return some(job, {"master_weights", "gradients_in_fp32", "moments"}) + " " + ids(job["notes"]);
    };
    const std::string noted = "master_weights=? gradients_in_fp32=? moments=? import_plan.note.not_counted";
    CHECK(types("") == R"(master_weights="off" gradients_in_fp32=false moments="16-bit" )");
    CHECK(types("mu_dtype = \"float32\"\n") == noted);
    CHECK(types("quantization = \"fp8\"\n") == noted);
}

TEST_CASE("Megatron-Bridge: a named model keeps its vocabulary beside a tokenizer's") {
    const auto job = [](const std::string& words) {
        return first_of_script(
            "from megatron.bridge import AutoBridge\ndef gpt_oss_20b_pretrain_config():\n    cfg = _pretrain_common()\n"
            "    cfg.model = AutoBridge.from_hf_pretrained(\"openai/gpt-oss-20b\").to_megatron_provider(load_weights=False)\n"
            "    cfg.tokenizer.vocab_size = " +
            words + "\n    cfg.model.tensor_model_parallel_size = 2\n    cfg.train.micro_batch_size = 1\n    return cfg\n");
    };
    for (const char* words : {"DEFAULT_NULL_TOKENIZER_VOCAB_SIZE", "131072"}) {
        CHECK(job(words)["job"]["model"] == "gpt-oss-20b");
        CHECK(fate(job(words), "cfg.tokenizer.vocab_size").starts_with("no_number"));
    }
}

TEST_CASE("Megatron's offloading of single activations: named where it is on, nothing where it is off") {
    for (const bool on : {false, true}) {
        const Json job = first_of_script(
            "torchrun --nproc_per_node=8 pretrain.py --recipe llama3_8b_pretrain_config train.micro_batch_size=1 "
            "model.fine_grained_activation_offloading=" +
            std::string(on ? "true" : "false") + "\n");
        CHECK((ids(job["notes"]).find("not_counted") != std::string::npos) == on);
        CHECK(fate(job, "model.fine_grained_activation_offloading").starts_with("no_number"));
    }
}
