// accelerate, Axolotl, LLaMA-Factory and the Trainer of transformers: files of our own, values worked by hand.
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::first_of_script;
using tests::ids;
using tests::read_script_of;
using tests::read_settings_of;
using tests::some;

TEST_CASE("accelerate: FSDP 1 and 2, DeepSpeed") {
    const std::string text = R"(compute_environment = "LOCAL_MACHINE"
distributed_type = "FSDP"
num_machines = 4
num_processes = 32
mixed_precision = "bf16"
)";
    const auto fsdp = [&](const std::string& more) {
        return some(first_of(text + more), {"gpus", "gpus_per_node", "zero", "shard_replicas", "precision", "recompute"});
    };
    CHECK(fsdp("fsdp_config.fsdp_sharding_strategy = \"FULL_SHARD\"\nfsdp_config.fsdp_activation_checkpointing = true\n") ==
          "gpus=32 gpus_per_node=8 zero=\"weights\" shard_replicas=1 precision=\"bf16\" recompute=\"full\"");
    CHECK(fsdp("fsdp_config.fsdp_sharding_strategy = \"HYBRID_SHARD\"\n") ==
          "gpus=32 gpus_per_node=8 zero=\"weights\" shard_replicas=4 precision=\"bf16\" recompute=?");
    CHECK(fsdp("fsdp_config.fsdp_sharding_strategy = 2\n") ==
          "gpus=32 gpus_per_node=8 zero=\"gradients\" shard_replicas=1 precision=\"bf16\" recompute=?");
    CHECK(fsdp("fsdp_config.fsdp_version = 2\nfsdp_config.fsdp_reshard_after_forward = false\n") ==
          "gpus=32 gpus_per_node=8 zero=\"gradients\" shard_replicas=1 precision=\"bf16\" recompute=?");
    CHECK(fate(first_of(text + "fsdp_config.fsdp_sharding_strategy = \"FUL_SHARD\"\n"), "fsdp_config.fsdp_sharding_strategy") ==
          "unknown 6");
    const Json two = first_of(
        text +
        "fsdp_config.fsdp_version = 2\nfsdp_config.fsdp_reshard_after_forward = true\nparallelism_config.parallelism_config_tp_size = 8\n"
        "parallelism_config.parallelism_config_dp_replicate_size = 2\n");
    CHECK(some(two, {"zero", "tensor_parallel", "shard_replicas", "fully_shard"}) ==
          "zero=\"weights\" tensor_parallel=8 shard_replicas=2 fully_shard=?");
    CHECK(two["asked"].dump() == R"(["sequence_length","micro_batch","model"])");
    const Json deep = first_of(
        "distributed_type = \"DEEPSPEED\"\nnum_machines = 1\nnum_processes = 8\ncompute_environment = "
        "\"LOCAL_MACHINE\"\ndeepspeed_config.zero_stage = 2\n");
    CHECK(some(deep, {"gpus", "gpus_per_node", "zero", "fully_shard", "sync_each_micro_batch"}) ==
          "gpus=8 gpus_per_node=? zero=\"gradients\" fully_shard=\"off\" sync_each_micro_batch=\"on\"");
    const Json first = first_of(text + "fsdp_config.fsdp_version = 1\nfsdp_config.fsdp_sharding_strategy = \"FULL_SHARD\"\n");
    CHECK(some(first, {"zero", "fully_shard", "sync_each_micro_batch"}) == "zero=\"weights\" fully_shard=\"off\" sync_each_micro_batch=?");
}

TEST_CASE("Axolotl: full training, and LoRA") {
    const std::string text = R"(base_model = "meta-llama/Llama-3.1-8B"
datasets.0.path = "x"
sequence_len = 8192
sample_packing = true
micro_batch_size = 2
gradient_accumulation_steps = 8
optimizer = "adamw_bnb_8bit"
learning_rate = 0.0001
bf16 = true
gradient_checkpointing = true
flash_attention = true
deepspeed = "deepspeed_configs/zero3_bf16.json"
)";
    const Json answer = read_settings_of(text, {{"gpus", "8"}});
    CHECK(answer["format"] == "axolotl");
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"model", "gpus", "sequence_length", "micro_batch", "global_batch", "zero", "moments", "recompute", "attention"}) ==
          "model=\"llama-3.1-8b\" gpus=8 sequence_length=8192 micro_batch=2 global_batch=128 zero=\"weights\" moments=\"8-bit\" "
          "recompute=\"full\" attention=\"flash\"");
    CHECK(job["refused"].empty());
    CHECK(job["asked"].empty());
    const auto adapters = [&](const std::string& more) {
        const Json read = first_of(text + more, {{"gpus", "8"}});
        CHECK(read["refused"].empty());
        return some(read, {"trained", "lora_rank", "lora_targets", "lora_dropout", "frozen_weights"});
    };
    CHECK(adapters("adapter = \"qlora\"\nload_in_4bit = true\nlora_r = 32\nlora_dropout = 0.05\nlora_target_linear = true\n") ==
          "trained=\"lora\" lora_rank=32 lora_targets=\"query,key,value,output,gate,up,down\" lora_dropout=true frozen_weights=\"nf4\"");
    CHECK(adapters("adapter = \"lora\"\nlora_r = 16\nlora_target_modules.0 = \"q_proj\"\nlora_target_modules.1 = \"down_proj\"\n") ==
          "trained=\"lora\" lora_rank=16 lora_targets=\"query,down\" lora_dropout=? frozen_weights=?");
    CHECK(adapters("adapter = \"lora\"\n") == "trained=\"lora\" lora_rank=8 lora_targets=\"query,value\" lora_dropout=? frozen_weights=?");
    CHECK(some(first_of(text + "optimizer = \"muon\"\n"), {"optimizer"}) == "optimizer=\"muon\"");
    CHECK(ids(first_of(text + "load_in_4bit = true\n")["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of(text + "adapter = \"llama-adapter\"\n")["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of(text + "adapter = \"lora\"\nrl = \"dpo\"\n")["refused"]) == "import_plan.refused.mode");
    const Json two = first_of(R"(base_model = "Qwen/Qwen3-8B"
sequence_len = 500000
micro_batch_size = 1
val_set_size = 0
context_parallel_size = 4
tensor_parallel_size = 2
dp_shard_size = 2
fsdp_version = 2
fsdp_config.reshard_after_forward = true
fsdp_config.offload_params = true
)",
                              {{"gpus", "16"}});
    CHECK(some(two, {"model", "sequence_length", "context_parallel", "tensor_parallel", "zero", "optimizer_offload", "global_batch"}) ==
          "model=\"qwen3-8b\" sequence_length=500000 context_parallel=4 tensor_parallel=2 zero=\"weights\" optimizer_offload=1.0 "
          "global_batch=2");
}

TEST_CASE("LLaMA-Factory: full training, and what is not counted") {
    const std::string text = R"(model_name_or_path = "Qwen/Qwen2.5-7B-Instruct"
stage = "sft"
finetuning_type = "full"
deepspeed = "examples/deepspeed/ds_z3_config.json"
cutoff_len = 2048
per_device_train_batch_size = 1
gradient_accumulation_steps = 2
bf16 = true
)";
    const Json answer = read_settings_of(text, {{"gpus", "8"}});
    CHECK(answer["format"] == "llama-factory");
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"model", "sequence_length", "micro_batch", "global_batch", "zero", "recompute", "precision"}) ==
          "model=\"qwen2.5-7b\" sequence_length=2048 micro_batch=1 global_batch=16 zero=\"weights\" recompute=\"full\" precision=\"bf16\"");
    CHECK(job["refused"].empty());
    const Json lora =
        first_of(text + "finetuning_type = \"lora\"\nlora_rank = 8\nlora_target = \"q_proj, v_proj\"\nquantization_bit = 4\n");
    CHECK(lora["refused"].empty());
    CHECK(some(lora, {"trained", "lora_rank", "lora_targets", "frozen_weights"}) ==
          "trained=\"lora\" lora_rank=8 lora_targets=\"query,value\" frozen_weights=\"nf4\"");
    CHECK(some(first_of(text + "finetuning_type = \"lora\"\nlora_target = \"all\"\n"), {"lora_rank", "lora_targets"}) ==
          "lora_rank=8 lora_targets=\"query,key,value,output,gate,up,down\"");
    CHECK(ids(first_of(text + "finetuning_type = \"freeze\"\n")["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of(text + "stage = \"dpo\"\nquantization_bit = 4\n")["refused"]) ==
          "import_plan.refused.mode import_plan.refused.mode");
    CHECK(some(first_of(text + "deepspeed = \"ds_z2_offload_config.json\"\ndisable_gradient_checkpointing = true\n"),
               {"zero", "optimizer_offload", "recompute"}) == "zero=\"gradients\" optimizer_offload=1.0 recompute=\"none\"");
    const Json unknown = first_of(text + "model_name_or_path = \"me/my-model\"\n");
    CHECK(some(unknown, {"model"}) == "model=?");
    CHECK(unknown["asked"].dump() == R"(["gpus","model"])");
}

TEST_CASE("the name of a DeepSpeed file says the stage, and whether and what waits on the host") {
    const auto zero = [](const std::string& path) {
        return some(first_of("base_model = \"meta-llama/Llama-2-7b-hf\"\nsequence_len = 2048\nmicro_batch_size = 1\ndeepspeed = \"" + path +
                             "\"\n"),
                    {"zero", "optimizer_offload", "weights_offload"});
    };
    CHECK(zero("configs/zero3_no_offload.json") == R"(zero="weights" optimizer_offload=? weights_offload=?)");
    CHECK(zero("deepspeed_configs/zero3_bf16_cpuoffload_params.json") == R"(zero="weights" optimizer_offload=? weights_offload=true)");
    CHECK(zero("deepspeed_configs/zero3_bf16_cpuoffload_all.json") == R"(zero="weights" optimizer_offload=1.0 weights_offload=true)");
    CHECK(zero("ds_z2_offload_config.json") == R"(zero="gradients" optimizer_offload=1.0 weights_offload=?)");
    CHECK(zero("ds_config_stage3.json") == R"(zero="weights" optimizer_offload=? weights_offload=?)");
    CHECK(zero("ds_zero_stage_1.json") == R"(zero="optimizer" optimizer_offload=? weights_offload=?)");
    CHECK(zero("sft_stage2_zero3.json") == R"(zero="weights" optimizer_offload=? weights_offload=?)");
    CHECK(zero("mine.json") == "zero=? optimizer_offload=? weights_offload=?");
    const auto notes = [](const char* path) {
        return first_of(
                   std::string("base_model = \"meta-llama/Llama-2-7b-hf\"\nsequence_len = 2048\nmicro_batch_size = 1\ndeepspeed = \"") +
                   path + "\"\n")["notes"]
            .dump();
    };
    CHECK(notes("ds_z3.json")
              .find(R"({"args":{"file":"ds_z3.json","zero":{"id":"choice.zero.weights"}},"id":"import_plan.note.file_name"})") !=
          std::string::npos);
    CHECK(notes("mine.json").find("import_plan.note.file\"") != std::string::npos);
}

TEST_CASE("Axolotl: the context's group has a section") {
    const Json job = first_of(
        "base_model = \"NousResearch/Meta-Llama-3.1-8B\"\ncontext_parallel.size = 8\ncontext_parallel.backend = \"ulysses\"\n"
        "context_parallel.load_balance = \"auto\"\ndp_shard_size = 2\nfsdp_version = 2\nfsdp_config.reshard_after_forward = true\n"
        "sequence_len = 32768\nmicro_batch_size = 1\ngradient_accumulation_steps = 1\nbf16 = true\n");
    CHECK(some(job, {"gpus", "context_parallel", "context_parallel_kind", "global_batch"}) ==
          R"(gpus=16 context_parallel=8 context_parallel_kind="all_to_all" global_batch=2)");
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
}

TEST_CASE("Axolotl: a batch is a copy's, FSDP in a list, matrices by an expression, what is refused") {
    const std::string plain =
        "base_model = \"meta-llama/Llama-2-7b-hf\"\nsequence_len = 2048\nmicro_batch_size = 4\nlearning_rate = 0.0001\n";
    CHECK(some(first_of(plain + "batch_size = 32\n", {{"gpus", "8"}}), {"micro_batch", "global_batch", "recompute"}) ==
          R"(micro_batch=4 global_batch=256 recompute="none")");  // 8 steps of 4 on each
    CHECK(ids(first_of(plain + "batch_size = 32\ngradient_accumulation_steps = 2\n")["refused"]) == "import_plan.refused.both");
    CHECK(some(first_of(plain + "fsdp = [\"shard_grad_op\", \"auto_wrap\"]\n"), {"zero"}) == R"(zero="gradients")");
    const Json lora = first_of(plain +
                               "adapter = \"qlora\"\nload_in_8bit = true\nlora_target_modules = "
                               "\"layers.*(mlp|self_attn).(up|down|q)_proj\"\n");
    CHECK(some(lora, {"lora_targets"}) == R"(lora_targets="query,up,down")");
    CHECK(ids(lora["refused"]) == "import_plan.refused.both");
    CHECK(some(first_of(plain + "adapter = \"lora\"\nlora_target_modules = [\"q_proj\", \"k_proj\"]\n"), {"lora_targets"}) ==
          R"(lora_targets="query,key")");
    CHECK(ids(first_of(plain + "unfrozen_parameters = [\"lm_head\"]\n")["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of(plain + "adapter = \"qlora\"\n")["refused"]) == "import_plan.refused.needs");  // load_in_4bit
}

TEST_CASE("accelerate: DeepSpeed's own file by its name, and Megatron-LM's plugin") {
    const std::string start = "compute_environment = \"LOCAL_MACHINE\"\nnum_processes = 16\n";
    CHECK(
        some(first_of(start + "distributed_type = \"DEEPSPEED\"\ndeepspeed_config.deepspeed_config_file = \"ds_z3_offload_config.json\"\n"),
             {"zero", "optimizer_offload"}) == R"(zero="weights" optimizer_offload=1.0)");
    CHECK(some(first_of(start +
                        "distributed_type = \"MEGATRON_LM\"\nmegatron_lm_config.megatron_lm_tp_degree = 2\n"
                        "megatron_lm_config.megatron_lm_pp_degree = 4\nmegatron_lm_config.megatron_lm_recompute_activations = true\n"),
               {"tensor_parallel", "pipeline_parallel", "recompute", "zero", "framework"}) ==
          R"(tensor_parallel=2 pipeline_parallel=4 recompute="selective" zero="none" framework=?)");
}

TEST_CASE("the Trainer of transformers, started by anybody's program") {
    const Json answer = read_script_of(
        "torchrun --nproc_per_node=8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf --bf16 True --per_device_train_batch_size 2 "
        "--gradient_accumulation_steps 16 --fsdp \"full_shard auto_wrap\" --model_max_length 2048 --gradient_checkpointing True\n");
    CHECK(answer["format"] == "transformers");
    CHECK(some(answer["jobs"][0], {"model", "gpus", "micro_batch", "global_batch", "sequence_length", "zero", "precision", "recompute"}) ==
          "model=\"llama-2-7b\" gpus=8 micro_batch=2 global_batch=256 sequence_length=2048 zero=\"weights\" precision=\"bf16\" "
          "recompute=\"full\"");
    const Json lora = first_of(
        "model_name_or_path = \"mistralai/Mistral-7B-v0.1\"\nbf16 = true\nper_device_train_batch_size = 8\nmax_length = 2048\n"
        "use_peft = true\nlora_r = 16\nlora_target_modules = [\"q_proj\", \"k_proj\"]\nload_in_4bit = true\n",
        {{"gpus", "8"}});
    CHECK(some(lora, {"trained", "lora_rank", "lora_targets", "frozen_weights", "global_batch", "recompute", "zero"}) ==
          "trained=\"lora\" lora_rank=16 lora_targets=\"query,key\" frozen_weights=\"nf4_single\" global_batch=64 recompute=\"none\" "
          "zero=\"none\"");
    const Json included = read_script_of(
        "deepspeed --include localhost:0,1,2,3 train.py --model_name_or_path meta-llama/Llama-2-7b-hf --deepspeed ds_config_stage3.json "
        "--per_device_train_batch_size 4 --max_seq_length 1024 --fp16\n")["jobs"][0];
    CHECK(some(included, {"gpus", "global_batch", "zero", "precision"}) == R"(gpus=4 global_batch=16 zero="weights" precision="fp16")");
    // a file of accelerate's, elsewhere, says what is shared out
    const Json elsewhere = read_script_of(
        "accelerate launch --config_file fsdp.yaml src/train.py --stage sft --finetuning_type lora --model_name_or_path "
        "meta-llama/Llama-2-70b-hf --cutoff_len 1024 --per_device_train_batch_size 1 --fp16\n")["jobs"][0];
    CHECK(some(elsewhere, {"zero", "precision"}) == R"(zero=? precision="fp16")");
    const Json visible = read_script_of(
        "CUDA_VISIBLE_DEVICES=0,1,2,3 llamafactory-cli train --stage sft --finetuning_type full --model_name_or_path "
        "meta-llama/Llama-2-7b-hf --cutoff_len 1024 --per_device_train_batch_size 1\n")["jobs"][0];
    CHECK(some(visible, {"gpus", "global_batch"}) == "gpus=4 global_batch=4");
}

TEST_CASE("experts of Transformers are parameters: what adapts Linear layers leaves them") {
    const auto targets = [](const Json& job) { return some(job, {"lora_targets"}); };
    const std::string attention = R"(lora_targets="query,key,value,output")", all = R"(lora_targets="query,key,value,output,gate,up,down")";
    const auto axolotl = [&](const std::string& model, const std::string& more) {
        return targets(first_of("base_model = \"" + model + "\"\nsequence_len = 4096\nmicro_batch_size = 1\nadapter = \"lora\"\n" + more));
    };
    const std::string linear = "lora_target_linear = true\n",
                      seven =
                          "lora_target_modules = [\"q_proj\", \"k_proj\", \"v_proj\", \"o_proj\", \"gate_proj\", \"up_proj\", "
                          "\"down_proj\"]\n";
    CHECK(axolotl("openai/gpt-oss-20b", linear) == attention);
    CHECK(axolotl("openai/gpt-oss-20b", seven) == attention);
    CHECK(axolotl("Qwen/Qwen3-30B-A3B", linear) == attention);
    CHECK(axolotl("Qwen/Qwen3-30B-A3B", seven) == all);  // PEFT knows the names of before
    CHECK(axolotl("deepseek-ai/DeepSeek-V2-Lite", linear) == all);
    CHECK(axolotl("meta-llama/Llama-3.1-8B", linear) == all);
    CHECK(axolotl("openai/gpt-oss-20b", linear + "lora_target_parameters = [\"mlp.experts.gate_up_proj\", \"mlp.experts.down_proj\"]\n") ==
          all);
    const auto peft = [](const std::string& model, const std::string& more) {
        return first_of_script("from trl import SFTConfig, SFTTrainer\nmodel = AutoModelForCausalLM.from_pretrained(\"" + model +
                               "\")\nmodel = get_peft_model(model, LoraConfig(r=8, target_modules=\"all-linear\"" + more +
                               "))\ntrainer = SFTTrainer(model, args=SFTConfig(per_device_train_batch_size=1, max_length=2048))\n");
    };
    CHECK(targets(peft("openai/gpt-oss-20b", "")) == attention);
    CHECK(targets(peft("Qwen/Qwen3-30B-A3B", "")) == all);
    const Json some_layers =
        peft("openai/gpt-oss-20b", ", target_parameters=[\"7.mlp.experts.gate_up_proj\", \"15.mlp.experts.down_proj\"]");
    CHECK(targets(some_layers) == attention);
    CHECK(fate(some_layers, "target_parameters") == "unknown 3");
    CHECK(ids(some_layers["notes"]) == "import_plan.note.not_counted");
    const Json scout = peft("meta-llama/Llama-4-Scout-17B-16E", "");
    CHECK(targets(scout) == attention);
    CHECK(ids(scout["notes"]) == "import_plan.note.not_counted");  // its shared experts
    CHECK(targets(first_of_script("from unsloth import FastLanguageModel\nfrom trl import SFTConfig, SFTTrainer\n"
                                  "model, t = FastLanguageModel.from_pretrained(\"unsloth/gpt-oss-20b\", max_seq_length=4096)\n"
                                  "model = FastLanguageModel.get_peft_model(model, r=8)\n"
                                  "trainer = SFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=1))\n")) == all);
}

TEST_CASE("experts of a model that is stored in 4 bits stay as they are, unless Axolotl is told") {
    const std::string run =
        "base_model = \"Qwen/Qwen3-30B-A3B\"\nsequence_len = 2048\nmicro_batch_size = 1\ngradient_accumulation_steps = 1\n"
        "learning_rate = 1e-4\nload_in_4bit = true\nadapter = \"qlora\"\nlora_target_modules = [\"q_proj\", \"v_proj\"]\n";
    const Json plain = first_of(run);
    CHECK(some(plain, {"frozen_weights"}) == R"(frozen_weights="nf4")");
    CHECK(plain["notes"].dump().find("load_in_4bit: experts") != std::string::npos);
    const Json all = first_of(run + "quantize_moe_experts = true\n");
    CHECK(ids(all["notes"]) == "");
    CHECK(fate(all, "quantize_moe_experts") == "used 9");
    CHECK(ids(first_of(std::string(run).replace(run.find("Qwen3-30B-A3B"), 13, "Qwen3-32B"))["notes"]) == "");
}

TEST_CASE("a frozen model whose checkpoint is packed already") {
    const auto read = [](const std::string& model) {
        const Json job =
            first_of_script("swift sft --model " + model + " --train_type lora --max_length 4096 --per_device_train_batch_size 1");
        return some(job, {"frozen_weights"}) + " " + job["notes"].dump();
    };
    CHECK(read("Qwen/Qwen2.5-7B-Instruct").find("nf4") == std::string::npos);
    CHECK(read("unsloth/Qwen2.5-7B-Instruct-bnb-4bit") == "frozen_weights=\"nf4\" []");
    const std::string other = read("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4");
    CHECK(other.find("nf4") == std::string::npos);
    CHECK(other.find("\"key\":\"int4\"") != std::string::npos);
    const std::string axolotl = "adapter = \"lora\"\nlora_target_linear = true\nsequence_len = 2048\nmicro_batch_size = 1\n";
    CHECK(some(first_of(axolotl + "base_model = \"unsloth/Llama-3.2-1B-bnb-4bit\"\n"), {"frozen_weights"}) == "frozen_weights=\"nf4\"");
    const std::string factory = "stage = \"sft\"\nfinetuning_type = \"lora\"\nlora_target = \"all\"\ncutoff_len = 2048\n";
    CHECK(some(first_of(factory + "model_name_or_path = \"unsloth/Llama-3.2-1B-bnb-4bit\"\n"), {"frozen_weights"}) ==
          "frozen_weights=\"nf4\"");
}

TEST_CASE("SwanLab is a tracker, and ms-swift 2 takes the sizes of a model from its type") {
    const Json swift = first_of_script(
        "NPROC_PER_NODE=2 swift sft --model_type qwen2-1_5b-instruct --model_id_or_path /a/b --sft_type full --batch_size 4 --max_length "
        "512 "
        "--swanlab_project p\n");
    const Json factory = first_of_script(
        "llamafactory-cli train --model_name_or_path Qwen/Qwen2.5-7B --stage sft --finetuning_type full --cutoff_len 512 "
        "--per_device_train_batch_size 1 --use_swanlab true --swanlab_project p\n");
    CHECK(some(swift, {"gpus", "micro_batch"}) == "gpus=2 micro_batch=4");
    CHECK(swift["job"].contains("model"));
    for (const char* key : {"--model_id_or_path", "--swanlab_project"}) CHECK(fate(swift, key).starts_with("no_number"));
    for (const char* key : {"--use_swanlab", "--swanlab_project"}) CHECK(fate(factory, key).starts_with("no_number"));
}

TEST_CASE("a command of ms-swift that says nothing but its model") {
    const Json job =
        first_of_script("CUDA_VISIBLE_DEVICES=0 swift sft --model Qwen/Qwen2.5-7B-Instruct --tuner_type lora --max_length 16384");
    CHECK(some(job, {"model", "sequence_length", "trained"}) == "model=\"qwen2.5-7b\" sequence_length=16384 trained=\"lora\"");
}
