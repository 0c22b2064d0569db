// Training programs in Python as others wrote them, shortened to what counts.
#include "settings.h"

using namespace fourfold;
using tests::first_of_script;
using tests::ids;
using tests::json;
using tests::some;

namespace {

const std::string kProgramStart =
    "import torch\nfrom transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments, BitsAndBytesConfig\n"
    "from peft import LoraConfig, get_peft_model\nfrom trl import SFTConfig, SFTTrainer\n";
const std::string kProgramArguments =
    "training_args = TrainingArguments(output_dir='.', per_device_train_batch_size=2, gradient_accumulation_steps=8, fp16=True)\n"
    "trainer = Trainer(model=model, args=training_args, train_dataset=data)\ntrainer.train()\n";
const std::string kProgramModel = "model = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-3.1-8B')\n";

std::string program_length(const std::string& text) { return some(first_of_script(kProgramStart + text), {"sequence_length"}); }

}  // namespace

// A Swedish GPT-2, a Llama 3.1 with QLoRA, a Phi-3 for letters of application: the length stands in what makes the data
TEST_CASE("the length of sequences is that of the texts, where no trainer says one") {
    const auto cut = [](const std::string& how) {
        return program_length(kProgramModel + "def tokenize(examples):\n    return tokenizer(" + how +
                              ")\ndata = data.map(tokenize, batched=True)\n" + kProgramArguments);
    };
    CHECK(cut("examples['text'],\n        truncation=True,\n        padding='max_length',\n        max_length=512") ==
          "sequence_length=512");
    CHECK(cut("examples['text'], padding='max_length', max_length=512") == "sequence_length=?");  // nothing is cut
    CHECK(cut("examples['text'], truncation=True, max_length=512)\ndef test(x):\n    return tokenizer(x, truncation=True, max_length=64") ==
          "sequence_length=?");  // of training, or of the test
    CHECK(program_length(kProgramModel + "LENGTH = 1024\ntokens = self.tokenizer(text, truncation=True, max_length=LENGTH)\n" +
                         kProgramArguments) == "sequence_length=1024");
    // What the program hands on has a variable of such a name
    CHECK(program_length(kProgramModel +
                         "max_seq_length = 2048\nclass Data:\n    def __getitem__(self, i):\n"
                         "        return tokenizer(self.data[i], truncation=True, max_length=self.max_length)\n"
                         "data = Data(texts, tokenizer, max_seq_length)\n" +
                         kProgramArguments) == "sequence_length=2048");
    CHECK(program_length(kProgramModel + "data = ConstantLengthDataset(tokenizer, texts, infinite=True, seq_length=1024)\n" +
                         kProgramArguments) == "sequence_length=1024");
    // The trainer's own counts
    CHECK(program_length(kProgramModel + "tokens = tokenizer(text, truncation=True, max_length=64)\n"
                                         "args = SFTConfig(output_dir='.', max_length=4096, per_device_train_batch_size=1)\n") ==
          "sequence_length=4096");
}

// Gemma 3 by QLoRA; DeepSeek 7B on texts of one's own: the type hangs on the card
TEST_CASE("questions to the card: Ampere is the oldest that is counted") {
    const auto precision = [](const std::string& before, const std::string& how) {
        return some(first_of_script(kProgramStart + kProgramModel + before +
                                    "args = TrainingArguments(output_dir='.', per_device_train_batch_size=2, " + how + ")\n"),
                    {"precision"});
    };
    const std::string typed =
        "if torch.cuda.get_device_capability()[0] >= 8:\n    torch_dtype = torch.bfloat16\nelse:\n    torch_dtype = torch.float16\n";
    const std::string how = "fp16=True if torch_dtype == torch.float16 else False, bf16=True if torch_dtype == torch.bfloat16 else False";
    CHECK(precision(typed, how) == R"(precision="bf16")");
    const std::string counted =
        "use_bf16 = False\nif torch.cuda.is_available():\n    major_version, _ = torch.cuda.get_device_capability()\n"
        "    if major_version >= 8:\n        use_bf16 = True\n    else:\n        print('old')\n";
    CHECK(precision(counted, "fp16=not use_bf16, bf16=use_bf16") == R"(precision="bf16")");
    std::string newer = typed;
    newer.replace(newer.find(">= 8"), 4, ">= 9");  // Hopper: some of the catalogue
    CHECK(precision(newer, how) == "precision=?");
}

// Preferences distilled into a Qwen 0.5B: TRL before 0.13, which kept what layers made
TEST_CASE("SFTTrainer of the time when it took the length itself") {
    const auto again = [](const std::string& given) {
        return some(first_of_script(kProgramStart +
                                    "config = SFTConfig(output_dir='.', per_device_train_batch_size=1, fp16=True)\n"
                                    "trainer = SFTTrainer(model='Qwen/Qwen2.5-0.5B-Instruct', args=config" +
                                    given + ")\n"),
                    {"model", "recompute", "sequence_length"});
    };
    const std::string qwen = again(", dataset_text_field='text', max_seq_length=1024");
    CHECK(qwen.find(R"(recompute="none" sequence_length=1024)") != std::string::npos);
    CHECK(again("").find(R"(recompute="full")") != std::string::npos);
}

// A GPT-2 whose settings are a class; Qwen3 by LoRA, unless the command asks for all; a Korean model in bf16, where the card can
TEST_CASE("fields of a class, switches of a command, conditions side by side") {
    const std::string fields =
        "@dataclass\nclass TrainingConfig:\n    model_name: str = \"gpt2\"\n    batch_size: int = 2\n    lora_r: int = 8\n"
        "    max_length: int = 32\n    seed: int = 42\n\ndef prepare(texts, tokenizer, max_length):\n"
        "    return tokenizer(texts, truncation=True, max_length=max_length)\n\ndef train(cfg: TrainingConfig):\n"
        "    model = AutoModelForCausalLM.from_pretrained(cfg.model_name)\n"
        "    part = LoraConfig(r=cfg.lora_r, target_modules=['c_attn'])\n    model = get_peft_model(model, part)\n"
        "    args = TrainingArguments(output_dir='.', per_device_train_batch_size=cfg.batch_size, fp16=True)\n"
        "    trainer = Trainer(model=model, args=args)\n\ndef main():\n    cfg = TrainingConfig()\n    train(cfg)\n";
    const Json small = first_of_script(kProgramStart + fields);
    CHECK(some(small, {"micro_batch", "lora_rank", "lora_targets"}) == R"(micro_batch=2 lora_rank=8 lora_targets="query,key,value")");
    CHECK(small["job"]["model"]["_name_or_path"] == "openai-community/gpt2");
    std::string other = fields;
    other.replace(other.find("= TrainingConfig()"), 18, "= TrainingConfig(batch_size=16)");
    CHECK(some(first_of_script(kProgramStart + other), {"micro_batch"}) == "micro_batch=?");
    const auto part = [](const std::string& action) {
        return some(first_of_script(kProgramStart + "parser = argparse.ArgumentParser()\nparser.add_argument('--full_finetune', action='" +
                                    action + "')\nargs = parser.parse_args()\n" + kProgramModel +
                                    "peft_config = None\nif not args.full_finetune:\n"
                                    "    peft_config = LoraConfig(r=16, target_modules=['q_proj'])\n"
                                    "config = SFTConfig(output_dir='.', per_device_train_batch_size=1, max_length=512)\n"
                                    "trainer = SFTTrainer(model=model, args=config, peft_config=peft_config)\n"),
                    {"trained", "lora_rank"});
    };
    CHECK(part("store_true") == R"(trained="lora" lora_rank=16)");
    const auto precision = [](const std::string& condition) {
        return some(
            first_of_script(kProgramStart + kProgramModel + "able = " + condition +
                            "\nargs = TrainingArguments(output_dir='.', per_device_train_batch_size=2, bf16=able, fp16=not able)\n"),
            {"precision"});
    };
    CHECK(precision("torch.cuda.is_available() and torch.cuda.get_device_capability(0)[0] >= 8") == R"(precision="bf16")");
    CHECK(precision("torch.cuda.is_available() and somebody_says_so") == "precision=?");
}

TEST_CASE("a model by a default that has a name; trainers that are not counted, with arguments from elsewhere") {
    const std::string deepseek =
        kProgramStart +
        "import argparse\nDEFAULT_MODEL_NAME = 'deepseek-ai/deepseek-llm-7b-base'\ndef train(model_name, output_dir):\n"
        "    model = AutoModelForCausalLM.from_pretrained(model_name)\n"
        "    args = TrainingArguments(output_dir=output_dir, per_device_train_batch_size=4, fp16=True)\n"
        "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--model_name', type=str, default=DEFAULT_MODEL_NAME)\n"
        "    parser.add_argument('--output_dir', type=str, default='out')\n    args = parser.parse_args()\n"
        "    train(args.model_name, args.output_dir)\n";
    CHECK(first_of_script(deepseek)["job"]["model"]["_name_or_path"] == "deepseek-ai/deepseek-llm-7b-base");
    // HuatuoGPT-o1's PPO: a trainer of its own file, and HfArgumentParser
    const Json ppo = first_of_script(
        "from ppo_utils.ppo_trainer import PPOTrainer\nparser = HfArgumentParser((ScriptArguments, PPOConfig, ModelConfig))\n"
        "script_args, training_args, model_config = parser.parse_args_into_dataclasses()\n"
        "trainer = PPOTrainer(config=training_args, policy=policy, ref_policy=ref_policy, train_dataset=data)\ntrainer.train()\n");
    CHECK(ids(ppo["refused"]) == "import_plan.refused.mode");
    CHECK(json(api::import_plan(R"({"text": "class PPOTrainer(Trainer):\n    def step(self):\n        pass\n", "set": {}})"))["ok"] ==
          false);
}

// A program of settings from outside, as cloud notebooks have them
TEST_CASE("a default of the environment holds until another value is answered") {
    const auto read = [](const std::string& model, const std::string& batch, const Json& set = Json::object()) {
        const std::string text = kProgramStart + "import os\nMODEL = " + model + "\nBATCH = " + batch +
                                 "\ndef main():\n    model = AutoModelForCausalLM.from_pretrained(MODEL)\n"
                                 "    args = SFTConfig(output_dir='.', per_device_train_batch_size=BATCH, max_length=512, bf16=True)\n"
                                 "    trainer = SFTTrainer(model=model, args=args)\n    trainer.train()\nmain()\n";
        const Json answer = tests::read_answer({{"text", text}, {"set", set}});
        return some(answer["jobs"][0], {"model", "micro_batch"});
    };
    const std::string usual = R"(model="llama-3.1-8b" micro_batch=4)";
    CHECK(read("os.environ.get('MODEL', 'meta-llama/Llama-3.1-8B')", "int(os.environ.get('BATCH', '4'))") == usual);
    CHECK(read("os.getenv(\"MODEL\", \"meta-llama/Llama-3.1-8B\")", "int(os.getenv('BATCH', 4))") == usual);
    CHECK(read("os.environ.get('MODEL') or 'meta-llama/Llama-3.1-8B'", "4") == usual);
    CHECK(read("os.environ.get('MODEL')", "int(os.environ['BATCH'])") == "model=? micro_batch=?");
    CHECK(read("os.environ.get('MODEL', OTHER)", "int(os.environ.get('BATCH', four()))") == "model=? micro_batch=?");
    CHECK(read("os.environ.get('MODEL', 'meta-llama/Llama-3.1-8B')", "int(os.environ.get('BATCH', '4'))", {{"BATCH", "16"}}) ==
          R"(model="llama-3.1-8b" micro_batch=16)");
}

TEST_CASE("slime and miles: arguments that a program puts together from texts") {
    const Json answer = tests::read_script_of(
        "from dataclasses import dataclass\nimport miles.utils.command_utils as U\n\n"
        "@dataclass\nclass ScriptArgs(U.ExecuteTrainConfig):\n    mode: str = \"small\"\n    num_gpus_per_node: int = 8\n\n"
        "def execute(args):\n"
        "    rollout = f\"--global-batch-size {16 if args.mode == 'small' else 256} --num-rollout 3 \"\n"
        "    perf = (\n        \"--tensor-model-parallel-size 4 \"\n        \"--sequence-parallel --pipeline-model-parallel-size 2 \"\n"
        "        \"--micro-batch-size 1 --seq-length 4096 --recompute-granularity full --recompute-method uniform \"\n"
        "        \"--recompute-num-layers 1 \"\n    )\n"
        "    optimizer = (\n        \"--optimizer sgd \"\n        if args.mode == \"small\"\n"
        "        else (\"--optimizer adam --optimizer-cpu-offload --use-distributed-optimizer \")\n    )\n"
        "    grpo = \"--advantage-estimator grpo \" \"--kl-loss-coef 0.0 \"\n"
        "    misc = f\"--actor-num-nodes 2 --actor-num-gpus-per-node {args.num_gpus_per_node} \"\n"
        "    if args.check:\n        misc += \"--accumulate-allreduce-grads-in-fp32 --main-grads-dtype bf16 \"\n"
        "    U.execute_train(train_args=f\"{rollout} {perf} {optimizer} {grpo} {misc}\", config=args)\n");
    CHECK(answer["format"] == "megatron-lm");
    const Json& job = answer["jobs"][0];
    CHECK(tests::some(job, {"gpus", "tensor_parallel", "pipeline_parallel", "recompute", "sequence_length", "global_batch"}) ==
          R"(gpus=16 tensor_parallel=4 pipeline_parallel=2 recompute="full" sequence_length=4096 global_batch=?)");
    for (const char* key : {"--global-batch-size", "--optimizer-cpu-offload", "--use-distributed-optimizer"})
        CHECK_MESSAGE(tests::fate(job, key).starts_with("open"), key);
    CHECK(tests::ids(job["notes"]).find("import_plan.note.not_counted") != std::string::npos);  // what GRPO holds besides
    CHECK(answer["questions"][0]["name"] == "args_mode");
}
