// Programs in Python on Hugging Face's trainers: what they say of the model counts as the same said in a command does.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

const std::string kArguments =
    "args = TrainingArguments(output_dir=\"o\", per_device_train_batch_size=2, gradient_accumulation_steps=4, bf16=True,\n"
    "                         gradient_checkpointing=True)\n";
const std::string kCommand =
    "python train.py --model_name_or_path meta-llama/Llama-3.2-3B --per_device_train_batch_size 2 --gradient_accumulation_steps 4"
    " --bf16 True --gradient_checkpointing True";
constexpr auto kStates = {"precision", "moments",   "master_weights", "gradients_in_fp32", "attention", "frozen_weights",
                          "trained",   "lora_rank", "lora_targets",   "recompute",         "zero",      "sequence_length"};

std::string program(const std::string& lines) { return "import torch\nfrom transformers import TrainingArguments\n" + lines + kArguments; }
std::string loading(const std::string& arguments, const std::string& lines = "") {
    return program("model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-3.2-3B\"" + arguments + ")\n" + lines);
}
std::string states(const Json& job) { return some(job, kStates); }
std::string of_program(const std::string& text) { return states(first_of_script(text)); }
std::string of_command(const std::string& rest) { return states(first_of_script("#!/bin/bash\n" + kCommand + rest + "\n")); }
std::string asked_names(const std::string& text) {
    std::string all;
    const Json questions = read_script_of(text)["questions"];
    for (const Json& one : questions) all += (all.empty() ? "" : " ") + one["name"].get<std::string>();
    return all;
}
Json answered(const std::string& text, const Json& set) { return read_answer({{"text", text}, {"set", set}})["jobs"][0]; }

const std::string kUnsloth =
    "from unsloth import FastLanguageModel\nfrom trl import SFTTrainer, SFTConfig\n"
    "model, tokenizer = FastLanguageModel.from_pretrained(model_name=\"unsloth/Meta-Llama-3.1-8B\", max_seq_length=4096";

}  // namespace

TEST_CASE("the type of a loaded model is the one that a command says") {
    const std::string bf16 = of_command(" --torch_dtype bfloat16"), fp32 = of_command("");
    CHECK(bf16 != fp32);
    for (const char* written : {", torch_dtype=torch.bfloat16", ", dtype=\"bfloat16\"", ", torch_dtype = torch.bfloat16, use_cache=False",
                                ", torch_dtype=torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16"})
        CHECK(of_program(loading(written)) == bf16);
    CHECK(of_program("dtype = torch.bfloat16\n" + loading(", torch_dtype=dtype")) == bf16);
    CHECK(of_program(loading("", "model = model.to(\"cuda\").to(torch.bfloat16)\n")) == bf16);
    CHECK(of_program(loading("", "model.to(torch.bfloat16)\n")) == bf16);
    CHECK(of_program(loading("", "model = model.bfloat16()\n")) == bf16);
    CHECK(of_program(loading(").to(torch.bfloat16")) == bf16);
    CHECK(of_program(loading(", torch_dtype=torch.bfloat16", "model.float()\n")) == of_command(" --torch_dtype float32"));
    for (const char* written : {"", ", torch_dtype=torch.float32", ", dtype=None"}) CHECK(of_program(loading(written)) == fp32);
    CHECK(of_program(loading(", torch_dtype=torch.float16")) == of_command(" --torch_dtype float16"));
    CHECK(of_program(loading(", torch_dtype=torch.float16")) == bf16);  // bf16=True, and weights of 16 bits
    const std::string half = "model = A.from_pretrained(\"Qwen/Qwen2.5-7B\", torch_dtype=torch.float16)\nfrom transformers import x\n";
    CHECK(ids(first_of_script(half + "t = TrainingArguments(fp16=True)\n")["refused"]) == "import_plan.refused.both");
    CHECK(some(first_of_script(half + "t = TrainingArguments(\"o\", max_steps=4)\n"), {"precision", "moments"}) ==
          R"(precision="fp16" moments="16-bit")");
    for (const auto& [how, grouped] : {std::pair("eager", "off"), std::pair("grouped_mm", "on")})
        CHECK(first_of_script(loading(", experts_implementation=\"" + std::string(how) + "\""))["job"]["grouped_gemm"] == grouped);
    CHECK(of_program(loading(", attn_implementation=\"eager\"")) == of_command(" --attn_implementation eager"));
    CHECK(of_program(loading(", attn_implementation=\"eager\" if torch.cuda.is_available() else \"sdpa\"")) ==
          of_command(" --attn_implementation eager"));
    CHECK(asked_names(loading(", attn_implementation=\"eager\" if slow else \"sdpa\"")) == "\"eager\" if slow else \"sdpa\"");
}

TEST_CASE("a dictionary that is spread counts, and one that is not here is shown") {
    const std::string bf16 = of_command(" --torch_dtype bfloat16 --attn_implementation sdpa");
    CHECK(of_program("k = dict(torch_dtype=torch.bfloat16, attn_implementation=\"sdpa\")\n" + loading(", **k")) == bf16);
    CHECK(of_program("k = {\"torch_dtype\": torch.bfloat16}\nk[\"attn_implementation\"] = \"sdpa\"\n" + loading(", **k")) == bf16);
    CHECK(fate(first_of_script(loading(", **k")), "**k").starts_with("unknown"));
    const std::string branch = "k = {}\nif fast:\n    k[\"attn_implementation\"] = \"eager\"\n" + loading(", **k");
    CHECK(asked_names(branch) == "fast");
    CHECK(some(answered(branch, {{"fast", "True"}}), {"attention"}) == R"(attention="plain")");
    CHECK(some(answered(branch, {{"fast", "False"}}), {"attention"}) == "attention=?");
}

TEST_CASE("a type that the text does not tell is asked for, and answered") {
    CHECK(asked_names(loading(", torch_dtype=config.dtype")) == "config.dtype");
    CHECK(states(answered(loading(", torch_dtype=config.dtype"), {{"config.dtype", "bfloat16"}})) == of_command(" --torch_dtype bfloat16"));
    // "auto" is the checkpoint's, in a program and in a command. Where nothing is updated in it, nobody asks.
    CHECK(asked_names(loading(", torch_dtype=\"auto\"")) == "torch_dtype");
    CHECK(states(answered(loading(", torch_dtype=\"auto\""), {{"torch_dtype", "bfloat16"}})) == of_command(" --torch_dtype bfloat16"));
    CHECK(asked_names("#!/bin/bash\n" + kCommand + " --torch_dtype auto\n") == "torch_dtype");
    CHECK(asked_names(loading(", torch_dtype=\"auto\"", "c = LoraConfig(r=8)\n")) == "");
    CHECK(asked_names(program("make()\n") + "x = TrainingArguments(per_device_train_batch_size=size())\n") == "size()");
}

TEST_CASE("4 and 8 bits, as arguments and as a configuration; one that nothing uses does not count") {
    const std::string part = "model = get_peft_model(model, LoraConfig(r=16, target_modules=[\"q_proj\", \"v_proj\"]))\n";
    const std::string four = of_command(
        " --load_in_4bit True --bnb_4bit_use_double_quant False --use_lora True --lora_r 16"
        " --lora_target_modules q_proj v_proj");
    CHECK(four.find("nf4_single") != std::string::npos);
    const std::string bits = "bits = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)\n";
    CHECK(of_program(loading(", load_in_4bit=True", part)) == four);
    CHECK(of_program(loading(", quantization_config=BitsAndBytesConfig(load_in_4bit=True)", part)) == four);
    CHECK(of_program(bits + loading(", quantization_config=bits", part)) == four);
    CHECK(of_program(bits + loading("", part)).find("frozen_weights=?") != std::string::npos);
    CHECK(some(first_of_script(loading(", load_in_8bit=True", part)), {"frozen_weights"}) == R"(frozen_weights="fp8")");
    const Json bare = first_of_script(loading(", load_in_4bit=True"));
    CHECK(ids(bare["refused"]) == "import_plan.refused.needs");
    CHECK(ids(first_of_script(loading(", quantization_config=GPTQConfig(bits=4)"))["notes"]) == "import_plan.note.not_counted");
    CHECK(asked_names(bits + loading(", quantization_config=bits if few else None", part)) == "bits if few else None");
}

TEST_CASE("which part learns: LoRA of PEFT, in a branch, or as an adapter that is there; other parts are refused") {
    const std::string lora = "c = LoraConfig(r=32, target_modules=\"all-linear\")";
    CHECK(of_program(loading("", lora + " if use_lora else None\n")).find("trained=?") != std::string::npos);
    CHECK(asked_names(loading("", lora + " if use_lora else None\n")) == "use_lora");
    CHECK(of_program("use_lora = False\n" + loading("", lora + " if use_lora else None\n")) == of_command(""));
    CHECK(states(answered(loading("", lora + " if use_lora else None\n"), {{"use_lora", "False"}})) == of_command(""));
    CHECK(of_program(loading("", "if False:\n    " + lora + "\n")) == of_command(""));
    CHECK(asked_names(loading("", "if parts:\n    " + lora + "\n")) == "parts");
    CHECK(asked_names(loading("", "t = SFTTrainer(model, peft_config=get_peft_config(m))\n")) == "get_peft_config(m)");
    const Json on = first_of_script(loading("", "model = PeftModel.from_pretrained(model, \"me/x\", is_trainable=True)\n"));
    CHECK(some(on, {"trained"}) + ids(on["notes"]) == R"(trained="lora"import_plan.note.file)");
    CHECK(of_program(loading("", "model = PeftModel.from_pretrained(model, \"me/x\")\n")) == of_command(""));  // to be used
    CHECK(ids(first_of_script(loading("", "c = IA3Config(target_modules=[\"k_proj\"])\n"))["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of_script(loading("", "c = LoraConfig(r=8, use_dora=True)\n"))["refused"]) == "import_plan.refused.mode");
}

TEST_CASE("recomputation that a method switches on") {
    const auto again = [](const std::string& lines, const std::string& arguments = "") {
        return some(first_of_script("import torch\nfrom transformers import Trainer\n"
                                    "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-7B\"" +
                                    arguments + ")\n" + lines + "args = TrainingArguments(per_device_train_batch_size=1)\n"),
                    {"recompute"});
    };
    CHECK(again("") == R"(recompute="none")");
    CHECK(again("model.gradient_checkpointing_enable()\n") == R"(recompute="full")");
    CHECK(again("if args.gradient_checkpointing:\n    model.gradient_checkpointing_enable()\n") == R"(recompute="none")");
    const std::string part = "model = get_peft_model(prepare_model_for_kbit_training(model), LoraConfig(r=4))\n";
    CHECK(again(part, ", load_in_4bit=True") == R"(recompute="full")");  // PEFT's own default
    CHECK(some(first_of_script(loading(", load_in_4bit=True", part)), {"frozen_in_fp32"}) == "frozen_in_fp32=true");
    CHECK(some(first_of_script(loading("", part)), {"frozen_in_fp32"}) == "frozen_in_fp32=?");
    CHECK(again(part) == R"(recompute="none")");  // which holds for quantized models alone
    CHECK(again("args.gradient_checkpointing = True\n") == R"(recompute="none")");
}

TEST_CASE("Unsloth: its defaults, its own call for LoRA, the length that it loads for, training of all weights") {
    const std::string trainer = "args = SFTConfig(per_device_train_batch_size=2, optim=\"adamw_8bit\", bf16=True";
    const std::string part = "model = FastLanguageModel.get_peft_model(model, r=8, target_modules=[\"q_proj\"])\n";
    const auto read = [](const Json& job) {
        return some(job, {"sequence_length", "trained", "lora_rank", "lora_targets", "frozen_weights", "recompute", "activation_offload"});
    };
    CHECK(
        read(first_of_script(kUnsloth + ", load_in_4bit=True)\n" + part + trainer + ")\n")) ==
        R"(sequence_length=4096 trained="lora" lora_rank=8 lora_targets="query" frozen_weights="nf4" recompute="full" activation_offload=1.0)");
    CHECK(read(first_of_script(kUnsloth + ", load_in_4bit=False)\nmodel = FastLanguageModel.get_peft_model(model)\n" + trainer +
                               ", max_seq_length=1024)\n")) ==
          R"(sequence_length=1024 trained="lora" lora_rank=16 lora_targets="query,key,value,output,gate,up,down" frozen_weights=? )"
          R"(recompute="full" activation_offload=1.0)");
    CHECK(some(first_of_script(kUnsloth + ", load_in_4bit=True, full_finetuning=True, use_gradient_checkpointing=True)\n" + part + trainer +
                               ")\n"),
               {"trained", "frozen_weights", "moments", "master_weights", "gradients_in_fp32", "activation_offload"}) ==
          R"(trained=? frozen_weights=? moments="8-bit" master_weights="off" gradients_in_fp32=false activation_offload=?)");
    CHECK(some(first_of_script(kUnsloth + ")\n" + part + trainer + ")\n"), {"loss", "activation_fusion"}) ==  // its kernels
          R"(loss="tiled" activation_fusion="on")");
    // Not what stands in a branch that is not taken.
    CHECK(
        read(first_of_script(kUnsloth + ", load_in_4bit=True)\n" + part + trainer +
                             ")\nif False:\n    model, t = FastLanguageModel.from_pretrained(model_name=\"x\", load_in_8bit=True)\n")) ==
        R"(sequence_length=4096 trained="lora" lora_rank=8 lora_targets="query" frozen_weights="nf4" recompute="full" activation_offload=1.0)");
    CHECK(first_of_script(kUnsloth + ")\n" + part +
                          "args = UnslothTrainingArguments(per_device_train_batch_size=3)\n")["job"]["micro_batch"] == 3);
}

TEST_CASE("preferences and rewards are refused, in programs and in commands") {
    for (const char* one : {"DPOConfig", "ORPOConfig", "KTOConfig", "CPOConfig", "RewardConfig", "GRPOConfig"}) {
        const Json job = first_of_script(std::string("from trl import x\nargs = ") + one + "(per_device_train_batch_size=1)\n");
        CHECK(ids(job["refused"]) == "import_plan.refused.mode");
        CHECK(job["refused"][0]["args"]["mode"] == one);
    }
    CHECK(ids(first_of_script(loading("", "t = DPOTrainer(model, args=args)\n"))["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of_script(loading("", "t = SFTTrainer(model, args=args)\n"))["refused"]) == "");
    const std::string rest = " --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1\n";
    for (const char* one :
         {"trl dpo", "accelerate launch examples/scripts/dpo.py", "python -m trl.scripts.grpo", "python scripts/run_orpo.py"})
        CHECK(ids(first_of_script("#!/bin/bash\n" + (one + rest))["refused"]) == "import_plan.refused.mode");
    CHECK(ids(first_of_script("#!/bin/bash\ntrl sft" + rest)["refused"]) == "");
}

TEST_CASE("what a trainer is given: a model by its name, its length, dictionaries, changes after the call") {
    const std::string sft = "from trl import SFTTrainer, SFTConfig\n";
    const Json named = first_of_script(sft +
                                       "t = SFTTrainer(model=\"Qwen/Qwen2.5-7B\", args=SFTConfig(per_device_train_batch_size=2, bf16=True, "
                                       "max_length=512, model_init_kwargs={\"dtype\": \"bfloat16\"}))\n");
    CHECK(some(named, {"model", "sequence_length", "moments", "recompute"}) ==
          R"(model="qwen2.5-7b" sequence_length=512 moments="16-bit" recompute="full")");
    CHECK(some(first_of_script(loading("", "t = SFTTrainer(model, max_seq_length=256, args=args)\n")), {"sequence_length"}) ==
          "sequence_length=256");
    const std::string more = "from transformers import Trainer\nargs = TrainingArguments(\"o\", bf16=True, ";
    const Json fsdp =
        first_of_script(more + "fsdp=\"full_shard\", fsdp_config={\"fsdp_version\": 2, \"activation_checkpointing\": True})\n");
    CHECK(some(fsdp, {"micro_batch", "zero", "recompute"}) == R"(micro_batch=8 zero="weights" recompute="full")");
    CHECK(some(first_of_script(more + "deepspeed={\"zero_optimization\": {\"stage\": 2}, \"train_batch_size\": \"auto\"})\n"), {"zero"}) ==
          R"(zero="gradients")");
    CHECK(some(first_of_script("d = {\"zero_optimization\": {\"stage\": 3}, \"train_batch_size\": \"auto\"}\n" + more + "deepspeed=d)\n"),
               {"zero"}) == R"(zero="weights")");
    CHECK(some(first_of_script(more + "optim=\"paged_adamw_32bit\")\nargs.gradient_checkpointing = True\n"), {"moments", "recompute"}) ==
          R"(moments="fp32" recompute="full")");
}

TEST_CASE("what is not counted of a program is said: another head, frozen weights, another optimizer") {
    const auto notes = [](const std::string& text) {
        const Json found = first_of_script(text)["notes"];
        return found.empty() ? "" : found[0]["args"]["key"].get<std::string>();
    };
    const std::string head = "AutoModelForSequenceClassification";
    CHECK(notes(program("model = " + head + ".from_pretrained(\"Qwen/Qwen2.5-7B\")\n")) == head);
    CHECK(notes(loading("", "for p in model.parameters():\n    p.requires_grad = False\n")) == "p.requires_grad");
    CHECK(notes(loading("", "model.lm_head.requires_grad_(False)\n")) == "model.lm_head.requires_grad_");
    CHECK(notes(loading("", "model.lm_head.requires_grad_(False)\nc = LoraConfig(r=8)\n")) == "");
    const Json own = first_of_script(loading("", "t = Trainer(model, optimizers=(adam, None))\n"));
    CHECK(fate(own, "optimizers").starts_with("unknown"));
}

TEST_CASE("a loop of one's own around DeepSpeed keeps its kernel of attention and its recomputation") {
    const Json job = first_of_script(
        "import deepspeed\nd = {\"train_batch_size\": 8, \"bf16\": {\"enabled\": True}, \"zero_optimization\": {\"stage\": 2}}\n"
        "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-7B\", torch_dtype=torch.bfloat16, attn_implementation=\"eager\")\n"
        "model.gradient_checkpointing_enable()\n");
    CHECK(some(job, {"model", "zero", "attention", "recompute"}) ==
          R"(model="qwen2.5-7b" zero="gradients" attention="plain" recompute="full")");
    CHECK(fate(job, "torch_dtype").starts_with("no_number"));
}

TEST_CASE("bf16 where the GPU has it: every GPU of the catalogue does") {
    const Json job = first_of_script(
        "from unsloth import is_bfloat16_supported\n"
        "args = TrainingArguments(per_device_train_batch_size=2, fp16=not is_bfloat16_supported(), bf16=is_bfloat16_supported())\n");
    CHECK(some(job, {"precision"}) + ids(job["refused"]) == R"(precision="bf16")");
}

TEST_CASE("layers laid over several GPUs by device_map are not counted; on one GPU nothing changes") {
    const auto job = [](const std::string& map, const char* gpus) {
        return answered(loading(map.empty() ? "" : ", device_map=" + map), {{"gpus", gpus}});
    };
    for (const char* map : {"\"auto\"", "\"balanced\"", "\"balanced_low_0\"", "\"sequential\"", "{\"model\": 0, \"lm_head\": 1}"}) {
        CAPTURE(map);
        CHECK(ids(job(map, "4")["refused"]) == "import_plan.refused.mode");
        CHECK(job(map, "1")["refused"].empty());
    }
    for (const char* map : {"", "{\"\": 0}", "{\"\": \"cuda\"}", "\"cuda\"", "{\"\": PartialState().process_index}", "get_map()"}) {
        CAPTURE(map);
        CHECK(job(map, "4")["refused"].empty());
    }
    CHECK(fate(job("\"auto\"", "4"), "device_map") == "unknown 3");
    CHECK(fate(job("\"auto\"", "1"), "device_map") == "no_number 3");
}
