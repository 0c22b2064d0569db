// What never starts, or is another program's: a script that ends before its launch, Python that does not parse, places for values that
// nobody filled in, commands inside of Python.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

const std::string kSmallLaunch =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
    "--max-position-embeddings 512 --bf16 --vocab-size 1000 --micro-batch-size 1\n";

std::string refused(const std::string& text) { return ids(first_of_script(text)["refused"]); }
std::string problem_of(const Json& request) {
    const Json answer = json(api::import_plan(request.dump()));
    REQUIRE(answer["ok"] == false);
    const Json& message = answer["problems"][0]["message"];
    return message["id"].get<std::string>() + " " + (message.contains("args") ? message["args"].value("program", "") : "");
}

}  // namespace

TEST_CASE("a script that ends before it starts anything says so, where nothing from outside makes it go on") {
    const std::string ended = "import_plan.refused.ended";
    CHECK(refused("exit 0\n" + kSmallLaunch) == ended);
    CHECK(refused("IMAGE=\"\"\nif [ -z \"$IMAGE\" ]; then\n  echo none\n  exit 1\nfi\n" + kSmallLaunch) == ended);
    CHECK(first_of_script("A=1\n\nexit 1\n" + kSmallLaunch)["refused"][0]["args"]["line"] == 3);
    CHECK(refused("if [ -z \"$IMAGE\" ]; then exit 1; fi\n" + kSmallLaunch) == "");
    CHECK(refused("IMAGE=${IMAGE:-}\nif [ -z \"$IMAGE\" ]; then exit 1; fi\n" + kSmallLaunch) == "");
    CHECK(refused("IMAGE=\"\"\nIMAGE=$1\n[ -z \"$IMAGE\" ] && exit 1\n" + kSmallLaunch) == "");
    CHECK(refused("if [ $# -lt 2 ]; then exit 1; fi\n" + kSmallLaunch) == "");
    CHECK(refused("usage() { exit 1; }\n(cd /code || exit 1)\ncd /data || exit 1\n" + kSmallLaunch) == "");
    const std::string asks = "if [ -z \"$IMAGE\" ]; then exit 1; fi\n" + kSmallLaunch;
    CHECK(refused("IMAGE=\"\"\nwhile [[ $# -gt 0 ]]; do\n  case $1 in\n    --image) IMAGE=\"$2\"; shift 2;;\n  esac\ndone\n" + asks) == "");
    CHECK(refused("IMAGE=\"\"\nread -r IMAGE\n" + asks) == "");
    CHECK(refused("IMAGE=\"\"\nsource env.sh\n" + asks) == "");
    CHECK(refused("# IMAGE=$1\nIMAGE=\"\"\n" + asks) == ended);
    CHECK(refused("for arg in \"$@\"; do exit 0; done\n" + kSmallLaunch) == "");
    CHECK(refused("sbatch <<EOF\n#!/bin/bash\nhostname\nexit 0\nEOF\n" + kSmallLaunch) == "");
    // What stands behind it is left out, where something stands before it.
    const Json two = read_script_of(kSmallLaunch + "exit\n" + kSmallLaunch);
    CHECK(two["jobs"].size() == 1);
    CHECK(ids(two["jobs"][0]["refused"]) == "");
}

TEST_CASE("a place for a value that nobody filled in is asked for by its name") {
    const Json answer = read_script_of(
        "torchrun --nproc_per_node 8 --nnodes <NUM_NODES> pretrain_gpt.py --micro-batch-size YOUR_BATCH "
        "--global-batch-size=\"<GBS>\" --num-layers 8 --hidden-size 512 --num-attention-heads 8 --bf16 "
        "--seq-length 512 --max-position-embeddings 512 --vocab-size 1000 --data-path <your data>\n");
    CHECK(answer["questions"].size() == 3);
    CHECK(some(answer["jobs"][0], {"gpus", "global_batch", "micro_batch"}) == "gpus=? global_batch=? micro_batch=?");
    CHECK(fate(answer["jobs"][0], "--global-batch-size") == "open 1");
    const Json set =
        read_answer({{"text", "N=<NUM_NODES>\ntorchrun --nnodes $N " + kSmallLaunch.substr(9)}, {"set", {{"NUM_NODES", "4"}}}});
    CHECK(some(set["jobs"][0], {"gpus"}) == "gpus=32");
    const std::string yaml = "tensor_model_parallel_size = \"<TP>\"\nnum_layers = 8\nhidden_size = 512\nnum_attention_heads = 8\n";
    CHECK(fate(first_of(yaml), "tensor_model_parallel_size") == "open 1");
    CHECK(some(first_of(yaml, {{"TP", "2"}}), {"tensor_parallel"}) == "tensor_parallel=2");
    const std::string filled = "per_device_train_batch_size = \"$batch\"\nfinetuning_type = \"full\"\ncutoff_len = 512\nstage = \"sft\"\n";
    CHECK(fate(first_of(filled), "per_device_train_batch_size") == "open 1");
    CHECK(some(first_of(filled, {{"batch", "4"}}), {"micro_batch"}) == "micro_batch=4");
}

TEST_CASE("Python that does not parse is named, with its line") {
    const auto recipe = [](const std::string& line) {
        return "from nemo.collections import llm\n\ndef f():\n    recipe = llm.llama3_8b.pretrain_recipe(num_nodes=1, "
               "num_gpus_per_node=8)\n" +
               line + "    recipe.data.global_batch_size = 128\n    return recipe\n";
    };
    const std::string stops = "import_plan.refused.python";
    CHECK(refused(recipe("")) == "");
    CHECK(refused(recipe("    if True:\n        pass\n    else:\n        pass\n")) == "");
    CHECK(refused(recipe("    match 1:\n        case 1:\n            pass\n")) == "");
    CHECK(refused(recipe("    x = (1 if True else 2, *[a for a in (1, 2)], f\"{1}\" \"b\", -1)  # it's (fine\n")) == "");
    CHECK(refused(recipe("    if True\n        pass\n")) == stops);
    CHECK(refused(recipe("    x = f(a=1 b=2)\n")) == stops);
    CHECK(refused(recipe("    x = f(a=1]\n")) == stops);
    CHECK(refused(recipe("    x = \"not closed\n")) == stops);
    CHECK(refused(recipe("      x = 1\n")) == stops);
    CHECK(refused(recipe("    if True:\n    x = 1\n")) == stops);
    CHECK(first_of_script(recipe("    for x in y\n        pass\n"))["refused"][0]["args"]["line"] == 5);
}

TEST_CASE("a command inside of Python, as a list, as a text, or as a list of settings") {
    const std::string fields = "gpus=16 micro_batch=2 sequence_length=4096";
    const std::string list =
        "import subprocess\nbatch = 2\nsubprocess.run([\"python3\", \"-m\", \"MaxText.train\", \"MaxText/configs/base.yml\", "
        "\"model_name=llama2-7b\", "
        "f\"per_device_batch_size={batch}\", \"ici_fsdp_parallelism=8\", \"dcn_data_parallelism=2\", \"max_target_length=4096\"])\n";
    CHECK(some(first_of_script(list), {"gpus", "micro_batch", "sequence_length"}) == fields);
    const std::string text =
        "import os\nos.system(\"python3 MaxText/train.py MaxText/configs/base.yml model_name=llama2-7b \"\n          "
        "\"per_device_batch_size=2 "
        "ici_fsdp_parallelism=8 dcn_data_parallelism=2 max_target_length=4096\")\n";
    CHECK(some(first_of_script(text), {"gpus", "micro_batch", "sequence_length"}) == fields);
    const Json open = read_script_of(
        "import subprocess\ndef go(tp):\n    subprocess.run([\"torchrun\", \"--nproc_per_node\", \"8\", \"pretrain_gpt.py\", "
        "\"--num-layers\", \"8\",\n"
        "        \"--hidden-size\", \"512\", \"--num-attention-heads\", \"8\", \"--tensor-model-parallel-size\", str(tp)])\n");
    CHECK(open["format"] == "megatron-lm");
    CHECK(open["questions"][0]["name"] == "tp");
    const Json settings = first_of_script(
        "from maxtext.train import main\nmain((None, config_path(), \"per_device_batch_size=4\", \"max_target_length=128\", "
        "\"ici_fsdp_parallelism=4\", \"attention=flash\"))\n");
    CHECK(some(settings, {"gpus", "sequence_length", "attention"}) == R"(gpus=? sequence_length=128 attention="flash")");
    CHECK(ids(settings["notes"]) == "import_plan.note.file");
}

TEST_CASE("files of programs that are not read are named") {
    const auto of = [](const std::string& text) { return problem_of({{"entries", tests::settings(text)}}); };
    const std::string id = "problem.import_other ";
    CHECK(of("model._component_ = \"torchtune.models.llama3.llama3_8b\"\nbatch_size = 2\n") == id + "torchtune");
    CHECK(of("model.d_model = 4096\nmodel.n_layers = 32\nmodel.embedding_size = 50304\nmodel.mlp_ratio = 8\n") == id + "OLMo");
    CHECK(problem_of({{"text", "import levanter\nlevanter.main.train_lm.main(config)\n"}}) == id + "Levanter");
    CHECK(problem_of({{"text", "import ray\nfrom verl.trainer.main_ppo import run_ppo\nrun_ppo(config)\n"}}) == id + "verl");
    CHECK(problem_of({{"text", "from torchtune.models.llama2 import llama2_7b\nmodel = llama2_7b()\n"}}) == id + "torchtune");
    CHECK(problem_of({{"text", "from olmo_core.train import TrainerConfig\nx = TrainerConfig(max_duration=4)\n"}}) == id + "OLMo-core");
}

TEST_CASE("Meta's params.json says the feed-forward width by a multiple") {
    const auto width = [](const std::string& rest) {
        const Json answer = json(api::import_config("{\"n_layers\": 32, \"n_heads\": 32, \"norm_eps\": 1e-5, " + rest + "}"));
        return answer["ok"] == true ? answer["model"]["intermediate_size"].get<int>() : 0;
    };
    CHECK(width(R"("dim": 4096, "n_kv_heads": 8, "vocab_size": 128256, "multiple_of": 1024, "ffn_dim_multiplier": 1.3)") == 14'336);
    CHECK(width(R"("dim": 4096, "vocab_size": 32000, "multiple_of": 256)") == 11'008);
    CHECK(width(R"("dim": 4096, "vocab_size": 32000)") == 0);
    CHECK(width(R"("dim": 4096, "hidden_dim": 14336, "vocab_size": 32000)") == 14'336);  // Mistral's own params.json
}

TEST_CASE("nanotron of 2023 says what is recomputed by a granularity") {
    const std::string text =
        "parallelism.dp = 2\nparallelism.tp = 1\nparallelism.pp = 1\ntokens.micro_batch_size = 4\ntokens.sequence_length = 2048\n";
    const auto again = [&](const std::string& how) {
        return some(first_of(text + "parallelism.recompute_granularity = " + how), {"recompute"});
    };
    CHECK(again("\"SELECTIVE\"\n") == R"(recompute="selective")");
    CHECK(again("\"FULL\"\n") == R"(recompute="full")");
    CHECK(again("null\n") == R"(recompute="none")");
}

TEST_CASE("settings that their own programs stop at: a batch of nothing, an argument with one dash") {
    const auto batch = [](const std::string& key) {
        return ids(first_of("zero_optimization.stage = 2\nbf16.enabled = true\n" + key + " = 0\n")["refused"]);
    };
    CHECK(batch("train_batch_size") == "import_plan.refused.needs");
    CHECK(batch("train_micro_batch_size_per_gpu") == "import_plan.refused.needs");
    CHECK(batch("steps_per_print") == "");
    const std::string line = kSmallLaunch.substr(0, kSmallLaunch.size() - 1);
    CHECK(refused(line + " -use-flash-attn\n") == "import_plan.refused.no_key");
    CHECK(refused(line + " --lr -1e-5 --split -x\n") == "");
}

TEST_CASE("MaxText: what a command leaves of the sizes is base.yml's, where no other version or file says it") {
    const auto sizes = [](const std::string& said) {
        const Json job = first_of("per_device_batch_size = 2\nici_fsdp_parallelism = 8\n" + said);
        return job["job"].contains("model") ? job["job"]["model"].dump() : "?";
    };
    const std::string wide = "base_emb_dim = 4096\nbase_num_query_heads = 32\n";
    CHECK(sizes("") == "?");
    CHECK(sizes(wide) == R"({"head_dim":128,"hidden_size":4096,"intermediate_size":7168,"model_type":"llama","num_attention_heads":32,)"
                         R"("num_hidden_layers":16,"num_key_value_heads":16,"tie_word_embeddings":false,"vocab_size":32000})");
    CHECK(sizes(wide + "base_num_heads = 32\n") == "?");
    CHECK(sizes(wide + "scale = 3\n") == "?");
    CHECK(sizes(wide + "global_parameter_scale = 3\n") == "?");  // it takes powers of two alone
    CHECK(sizes(wide + "base_config = \"MaxText/configs/other.yml\"\n") == "?");
}

TEST_CASE("widths by a multiple in a fork of Megatron-LM; GPUs in a recipe's name; base.yml beside few keys") {
    const auto width = [](const std::string& rest) {
        return first_of_script(kSmallLaunch.substr(0, kSmallLaunch.size() - 1) + " --swiglu --apply-layernorm-rms " + rest +
                               "\n")["job"]["model"]["intermediate_size"]
            .get<int>();
    };
    CHECK(width("") == 1'344);  // 512 * 8 / 3 = 1,365
    CHECK(width("--multiple-of 256") == 1'536);
    CHECK(width("--multiple-of 256 --hidden-dim-multiplier 1.3") == 1'792);  // 1,774
    const Json recipe =
        first_of_script("python scripts/training/run_recipe.py --recipe qwen3_8b_sft_8gpu_h100_bf16_config model.seq_length=512\n");
    CHECK(some(recipe, {"model"}) == R"(model="qwen3-8b")");
    const Json few = first_of_script("python -m MaxText.train src/MaxText/configs/base.yml model_name=llama2-7b per_device_batch_size=3\n");
    CHECK(some(few, {"model", "sequence_length", "recompute"}) == R"(model="llama-2-7b" sequence_length=2048 recompute="full")");
    CHECK(ids(few["notes"]) == "");
    const Json other =
        first_of_script("python -m MaxText.train src/MaxText/configs/own.yml model_name=llama2-7b per_device_batch_size=3\n");
    CHECK(some(other, {"model", "sequence_length", "recompute"}) == R"(model="llama-2-7b" sequence_length=? recompute=?)");
    CHECK(ids(other["notes"]) == "import_plan.note.file");
}

TEST_CASE("llm-foundry: the kernel of attention by itself, and LoRA that saves nothing besides") {
    const auto kernel = [](const std::string& name) {
        return some(
            first_of("max_seq_len = 512\nglobal_train_batch_size = 64\ndevice_train_microbatch_size = 1\nmodel.attn_config.attn_impl = \"" +
                     name + "\"\n"),
            {"attention"});
    };
    CHECK(kernel("torch") == R"(attention="plain")");
    CHECK(kernel("flash") == R"(attention="flash")");
    const std::string lora =
        "base_model = \"mistralai/Mistral-7B-v0.1\"\nsequence_len = 512\nmicro_batch_size = 1\nadapter = \"lora\"\nlora_r = 8\n";
    CHECK(ids(first_of(lora + "lora_modules_to_save = null\n")["notes"]) == "");
    CHECK(ids(first_of(lora + "lora_modules_to_save = [\"lm_head\"]\n")["notes"]) == "import_plan.note.not_counted");
}

TEST_CASE("what is said beside a name counts: another model, a launcher's file, an environment") {
    const std::string recipe =
        "from nemo.collections import llm\nimport nemo_run as run\n\ndef f():\n"
        "    recipe = llm.llama3_8b.pretrain_recipe(num_nodes=1, num_gpus_per_node=8)\n";
    CHECK(some(first_of_script(recipe + "    return recipe\n"), {"model", "gpus"}) == R"(model="llama-3-8b" gpus=8)");
    const Json other = first_of_script(recipe + "    recipe.model = run.Config(llm.LlamaModel, small())\n    return recipe\n");
    CHECK(some(other, {"model", "gpus"}) == "model=? gpus=8");
    CHECK(other["asked"].dump().find("model") != std::string::npos);
    const std::string named = "    recipe.model = run.Config(llm.LlamaModel, config=run.Config(llm.Llama2Config7B))\n    return recipe\n";
    CHECK(some(first_of_script(recipe + named), {"model"}) == R"(model="llama-2-7b")");

    const std::string launched =
        "python3 main.py training=gpt3/175b training.trainer.num_nodes=16 training.trainer.devices=8 training.model.hidden_size=1024 "
        "training.model.tensor_model_parallel_size=4 training.model.num_layers=8 training.model.num_attention_heads=8 "
        "training.model.micro_batch_size=1\n";
    const Json file = first_of_script(launched);  // zero and the precision stand in the launcher's own file
    CHECK(some(file, {"gpus", "tensor_parallel", "zero", "precision"}) == "gpus=128 tensor_parallel=4 zero=? precision=?");
    CHECK(file["job"].value("model", Json()) != "gpt-3-175b");

    const std::string zoo =
        "export MODEL=${MODEL:-DeepSeek-V3}\nexport MBS=${MBS:-1}\nexport SEQ_LEN=4096\nPR=mxfp8 TP=1 PP=4 EP=64 VPP=4 GBS=8192 bash "
        "run.sh "
        "--pipeline-model-parallel-layout \"Et*4|(tttt|)*14tmL\"\n";
    const Json job = first_of_script(zoo);
    CHECK(some(job, {"model", "micro_batch", "sequence_length", "precision", "virtual_stages"}) ==
          R"(model="deepseek-v3" micro_batch=1 sequence_length=4096 precision="fp8" virtual_stages=4)");
    CHECK(ids(job["refused"]) == "");
}

TEST_CASE("biases of queries, keys and values beside experts; torchtitan's full recomputation as it is made since 2026") {
    const std::string experts = kSmallLaunch.substr(0, kSmallLaunch.size() - 1) +
                                " --disable-bias-linear --add-qkv-bias --swiglu --normalization RMSNorm --position-embedding-type rope "
                                "--num-experts 8 --moe-router-topk 2 --qk-layernorm\n";
    const Json model = first_of_script(experts)["job"]["model"];
    CHECK(model["model_type"] == "qwen2_moe");
    CHECK(model["qk_layernorm"] == true);
    const auto again = [](const std::string& way) {
        return some(first_of_script("from torchtitan.trainer import Trainer\n\ndef f() -> Trainer.Config:\n    config = llama3_8b()\n"
                                    "    config.training.seq_len = 512\n    config.training.local_batch_size = 1\n"
                                    "    config.activation_checkpoint = " +
                                    way + "\n    return config\n"),
                    {"recompute"});
    };
    CHECK(again("FullAC.Config()") == R"(recompute="full")");
    CHECK(again("SelectiveAC.Config()") == R"(recompute="operations")");
    CHECK(again("ActivationCheckpointConfig(mode=\"selective\")") == R"(recompute="operations")");  // it has no other option then
}

TEST_CASE("what a function that is not here says is not assumed; what a command's own arguments are by default counts") {
    const std::string begin = "from torchtitan.trainer import Trainer\n\ndef f() -> Trainer.Config:\n    config = ";
    const std::string rest =
        "\n    config.parallelism.expert_parallel_degree = 4\n    config.training.local_batch_size = 1\n    return config\n";
    const Json elsewhere = first_of_script(begin + "other_debugmodel(seq_len=512)" + rest);
    CHECK(some(elsewhere, {"expert_parallel", "recompute", "precision", "micro_batch"}) ==
          "expert_parallel=4 recompute=? precision=? micro_batch=1");
    CHECK(some(first_of_script(begin + "llama3_8b(seq_len=512)" + rest), {"model"}) == R"(model="llama-3-8b")");
    CHECK(some(first_of_script(begin + "Trainer.Config(training=TrainingConfig(seq_len=512))" + rest), {"recompute"}) ==
          R"(recompute="operations")");

    const auto asked = [](const std::string& argument) {
        return some(first_of_script("from nemo.collections import llm\n\ndef f(nodes: int = 4, devices: int = 1):\n"
                                    "    return llm.llama3_8b.pretrain_recipe(num_nodes=nodes, num_gpus_per_node=devices)\n\n"
                                    "def run(args):\n    f(nodes=args.num_nodes, devices=8)\n\n"
                                    "parser.add_argument(" +
                                    argument + ")\n"),
                    {"gpus"});
    };
    CHECK(asked(R"("-N", "--num_nodes", type=int, default=2, help="x")") == "gpus=16");
    CHECK(asked(R"("--num-nodes", type=int, required=True)") == "gpus=?");

    const std::string own =
        "torchrun --nproc_per_node 8 finetune.py --model_name_or_path meta-llama/Llama-2-7b-hf --bf16 True "
        "--per_device_train_batch_size 1 --max_length 512 ";
    CHECK(some(first_of_script(own + "--activation_checkpointing\n"), {"recompute"}) == R"(recompute="full")");
    CHECK(some(first_of_script(own + "\n"), {"recompute"}) == R"(recompute="none")");
}

TEST_CASE("what starts elsewhere is named: DeepSpeed's file of a program of its own, a script that Python starts, a branch's recipe") {
    const Json own = first_of_script("deepspeed --num_gpus 4 main.py --deepspeed_config ds_config.json --basepath /models/x --epochs 2\n");
    CHECK(some(own, {"gpus", "zero", "precision", "recompute"}) == "gpus=4 zero=? precision=? recompute=?");
    CHECK(ids(own["notes"]) == "import_plan.note.file");
    CHECK(own["asked"].dump().find("model") != std::string::npos);

    const Json python = read_script_of(
        "def command(self):\n    cmd = f\"\"\"\ncd /code && \\\\\nbash -x examples/pretrain_gpt.sh \\\\\n    --num-layers 8 \\\\\n"
        "    --tensor-model-parallel-size {self.tp} \\\\\n    --micro-batch-size 2 \\\\\n    --sequence-parallel\n\"\"\"\n    return "
        "cmd\n");
    REQUIRE(python["jobs"].size() == 1);
    CHECK(fate(python["jobs"][0], "--tensor-model-parallel-size").substr(0, 4) == "open");
    CHECK(some(python["jobs"][0], {"micro_batch", "tensor_parallel"}) == "micro_batch=2 tensor_parallel=?");

    const std::string recipe =
        "from nemo.collections import llm\n\ndef f(pretrain=False):\n    if pretrain:\n"
        "        recipe = llm.llama3_8b.pretrain_recipe(num_nodes=1, num_gpus_per_node=8)\n    else:\n"
        "        recipe = llm.llama3_8b.finetune_recipe(num_nodes=1, num_gpus_per_node=8)\n    return recipe\n\n";
    CHECK(some(first_of_script(recipe + "f(pretrain=True)\nf(pretrain=False)\n"), {"trained"}) == "trained=?");
    CHECK(some(first_of_script(recipe + "f()\n"), {"trained"}) == R"(trained="lora")");

    const std::string titan =
        "torchrun --nproc_per_node 4 -m torchtitan.train --module graph_trainer.llama3 --config graph_trainer_llama3_8b "
        "--training.local_batch_size 1 --training.seq_len 512\n";
    CHECK(some(first_of_script(titan), {"model"}) == R"(model="llama-3-8b")");
}
