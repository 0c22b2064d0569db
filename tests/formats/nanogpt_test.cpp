// nanoGPT's configurations (config/train_gpt2.py, train_shakespeare_char.py, finetune_shakespeare.py), and llm.c's commands (scripts/), in
// short forms of our own.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {
Json with_gpus(const std::string& text, const std::string& gpus) { return read_answer({{"text", text}, {"set", {{"gpus", gpus}}}}); }
const std::string kNano =
    "# on 8 GPUs\nwandb_log = True\nwandb_run_name='gpt2-124M'\nbatch_size = 12\nblock_size = 1024\n"
    "gradient_accumulation_steps = 5 * 8\nmax_iters = 600000\nlr_decay_iters = 600000\neval_interval = 1000\n"
    "weight_decay = 1e-1\n";
}  // namespace

TEST_CASE("nanoGPT: names at the margin; what they do not say is its own") {
    const Json answer = with_gpus(kNano, "8");
    const Json job = answer["jobs"][0];
    CHECK((answer["format"] == "nanogpt" && job["title"] == "nanoGPT"));
    CHECK(some(job, {"gpus", "sequence_length", "micro_batch", "global_batch", "precision", "zero", "recompute", "attention"}) ==
          R"(gpus=8 sequence_length=1024 micro_batch=12 global_batch=480 precision="bf16" zero="none" recompute="none" attention="flash")");
    const Json model = job["job"]["model"];
    CHECK((model["num_hidden_layers"] == 12 && model["hidden_size"] == 768 && model["vocab_size"] == 50'304));
    CHECK((model["tie_word_embeddings"] == true && model["attention_bias"] == false));
    CHECK(job["job"]["token_budget"] == 600'000.0 * 480 * 1'024);
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    CHECK(fate(job, "batch_size") == "used 4");
    CHECK(fate(job, "wandb_log") == "no_number 2");
    CHECK(fate(with_gpus(kNano + "n_kv_head = 4\n", "8")["jobs"][0], "n_kv_head") == "unknown 11");
    CHECK(first_of_script(kNano)["asked"].dump() == R"(["gpus"])");
    CHECK(ids(with_gpus(kNano, "7")["jobs"][0]["refused"]) == "import_plan.refused.batch");  // it does not divide 40
}

TEST_CASE("nanoGPT: characters, a model that is loaded, another type; its train.py as a whole") {
    const std::string small =
        "out_dir = 'out-char'\neval_interval = 250\neval_iters = 200\nalways_save_checkpoint = False\ndataset = 'shakespeare_char'\n"
        "gradient_accumulation_steps = 1\nbatch_size = 64\nblock_size = 256\nn_layer = 6\nn_head = 6\nn_embd = 384\ndropout = 0.2\n"
        "max_iters = 5000\ndtype = 'float16'\n";
    const Json chars = with_gpus(small, "1")["jobs"][0];
    CHECK(some(chars, {"sequence_length", "micro_batch", "global_batch", "precision"}) ==
          R"(sequence_length=256 micro_batch=64 global_batch=64 precision="fp16")");
    CHECK((chars["job"]["model"]["vocab_size"] == 65 && chars["job"]["model"]["num_attention_heads"] == 6));
    const Json tuned = with_gpus(
        "eval_interval = 5\neval_iters = 40\nwandb_log = False\ndataset = 'shakespeare'\ninit_from = 'gpt2-xl'\nbatch_size = 1\n"
        "gradient_accumulation_steps = 32\nmax_iters = 20\ndecay_lr = False\n",
        "1")["jobs"][0];
    CHECK(tuned["job"]["model"]["num_hidden_layers"] == 48);
    CHECK(some(tuned, {"global_batch"}) == "global_batch=32");
    const Json program = with_gpus(
        "import os\nimport torch\nout_dir = 'out'\neval_interval = 2000\neval_iters = 200\ninit_from = 'scratch'\nwandb_log = False\n"
        "dataset = 'openwebtext'\ngradient_accumulation_steps = 5 * 8\nbatch_size = 12\nblock_size = 1024\nn_layer = 12\nn_head = 12\n"
        "n_embd = 768\nbias = False\nmax_iters = 600000\n"
        "dtype = 'bfloat16' if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else 'float16'\n"
        "config_keys = [k for k,v in globals().items() if not k.startswith('_')]\nexec(open('configurator.py').read())\n"
        "ddp = int(os.environ.get('RANK', -1)) != -1\ntokens_per_iter = gradient_accumulation_steps * batch_size * block_size\n",
        "8");
    CHECK(program["format"] == "nanogpt");
    CHECK(some(program["jobs"][0], {"precision", "global_batch"}) == R"(precision="bf16" global_batch=480)");
    CHECK(program["jobs"][0]["keys"].dump().find("tokens_per_iter") == std::string::npos);
    const Json other = with_gpus(small + "dataset = 'tinystories'\n", "1")["jobs"][0];
    CHECK(other["asked"].dump().find("vocab_size") != std::string::npos);
}

TEST_CASE("nanoGPT: a command, whose file stands elsewhere or in the script") {
    const Json job =
        first_of_script("torchrun --standalone --nproc_per_node=8 train.py config/train_gpt2.py --batch_size=8 --compile=False\n");
    CHECK(some(job, {"gpus", "micro_batch", "sequence_length"}) == "gpus=8 micro_batch=8 sequence_length=?");
    CHECK(ids(job["notes"]) == "import_plan.note.file");
    CHECK(fate(job, "--compile") == "no_number 1");
    const Json alone = first_of_script("python train.py config/train_shakespeare_char.py --batch_size=12 --n_layer=4 --max_iters=2000\n");
    CHECK(some(alone, {"gpus", "micro_batch", "global_batch", "model"}) == "gpus=1 micro_batch=12 global_batch=? model=?");
    const Json whole = read_script_of("cat > config/own.py <<EOF\n" + kNano +
                                      "EOF\ntorchrun --standalone --nproc_per_node=4 train.py "
                                      "config/own.py --block_size=512\n");
    CHECK(whole["format"] == "nanogpt");
    CHECK(some(whole["jobs"][0], {"gpus", "micro_batch", "sequence_length", "global_batch"}) ==
          "gpus=4 micro_batch=12 sequence_length=512 global_batch=480");
    // Other names at the margin are none of it, as before.
    CHECK(json(api::import_plan(
              Json{{"text", "tensor_model_parallel_size = 4\nseq_length = 4096\nmicro_batch_size = 1\n"}, {"set", Json::object()}}
                  .dump()))["ok"] == false);
    // A program of somebody's own with such arguments is none of it.
    CHECK(read_script_of("torchrun --nproc_per_node 8 main.py --block_size 1024 --eval_interval 10 --max_iters 100 --warmup_iters 5 "
                         "--lr 1e-4\n")["format"] == "transformers");
}

TEST_CASE("llm.c: arguments of one dash, models by depth or width") {
    const std::string run =
        "-i \"dev/data/fineweb10B/fineweb_train_*.bin\" -o log -v 250 -s 20000 -g 144 -h 1 -b 64 -t 1024 -d 524288 -r 0 "
        "-z 1 -c 0.1 -l 0.0006 -q 0.0 -u 700 -n 5000 -y 1 -e \"d12\"\n";
    const Json answer =
        read_script_of("make train_gpt2cu USE_CUDNN=1\nwhile true; do\n    mpirun -np 8 ./train_gpt2cu " + run + "    sleep 1\ndone\n");
    const Json job = answer["jobs"][0];
    CHECK((answer["format"] == "llm.c" && job["title"] == "mpirun"));
    CHECK(some(job,
               {"gpus", "sequence_length", "micro_batch", "global_batch", "precision", "zero", "gradients_in_fp32", "attention", "loss"}) ==
          R"(gpus=8 sequence_length=1024 micro_batch=64 global_batch=512 precision="bf16" zero="optimizer" gradients_in_fp32=false )"
          R"(attention="cudnn" loss="te_fused")");
    CHECK((job["job"]["model"]["num_hidden_layers"] == 12 && job["job"]["model"]["vocab_size"] == 50'304));
    CHECK(fate(job, "-n") == "no_number 3");
    CHECK(fate(job, "-d") == "used 3");
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    CHECK(ids(job["notes"]) == "");
    const Json alone = first_of_script("./train_gpt2cu " + run);
    CHECK(some(alone, {"gpus", "global_batch", "attention"}) == "gpus=1 global_batch=512 attention=?");
    const Json wide = first_of_script(
        "make train_gpt2cu PRECISION=FP16\nmpirun -np 8 ./train_gpt2cu -b 32 -t 2048 -d 524288 -nk 5 -ge 1 -sl 7.0 -w 0 -x 572204 -e "
        "\"gpt3:c768\"\n");
    CHECK(some(wide, {"global_batch", "precision", "master_weights", "zero", "attention"}) ==
          R"(global_batch=256 precision="fp16" master_weights="off" zero="none" attention="plain")");
    CHECK(wide["job"]["token_budget"] == 572'204.0 * 524'288);
    CHECK(wide["job"]["model"]["max_position_embeddings"] == 2'048);
    CHECK(ids(wide["notes"]) == "import_plan.note.not_counted");  // -r 1 is its default
    CHECK(ids(first_of_script("mpirun -np 3 ./train_gpt2cu " + run)["refused"]) == "import_plan.refused.batch");
    CHECK(fate(first_of_script("./train_gpt2cu -b 4 -t 64 -zz 3 -e gpt2_1558M_bf16.bin\n"), "-zz") == "unknown 1");
    CHECK(first_of_script("./train_gpt2cu -b 4 -e mine.bin\n")["asked"].dump() == R"(["model"])");
}

TEST_CASE("llm.c's program in Python") {
    const Json job = first_of_script(
        "torchrun --standalone --nproc_per_node=8 train_gpt2.py --input_bin \"fineweb_train_*.bin\" --input_val_bin val.bin --model d12 "
        "--batch_size 32 --sequence_length 1024 --total_batch_size 262144 --dtype bfloat16 --compile 1 --flash 1 --num_iterations 24576 "
        "--weight_decay 0.1 --zero_stage 1\n");
    CHECK(some(job, {"gpus", "sequence_length", "micro_batch", "global_batch", "precision", "zero", "attention", "gradients_in_fp32"}) ==
          R"(gpus=8 sequence_length=1024 micro_batch=32 global_batch=256 precision="bf16" zero="optimizer" attention="flash" )"
          R"(gradients_in_fp32=?)");
    for (const Json& key : job["keys"]) CHECK_MESSAGE((key["fate"] != "unknown" || key["line"] == 1), key.dump());
    CHECK(fate(job, "--total_batch_size") == "used 1");
}
