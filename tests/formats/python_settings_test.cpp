// XTuner's configurations (internlm2_20b_qlora_alpaca_e3, ..._sequence_parallel_4), InternEvo's (7B_sft, 7B_isp_sft, 8x7B_mixtral) and
// Colossal-AI's programs (examples/language/llama/benchmark.py, Colossal-LLaMA), in short forms of our own.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {
Json on(const std::string& gpus, const std::string& text) { return read_answer({{"text", text}, {"set", {{"gpus", gpus}}}}); }
const std::string kXtunerLora =
    "import torch\nfrom mmengine.optim import AmpOptimWrapper\nfrom peft import LoraConfig\nfrom torch.optim import AdamW\n"
    "from transformers import AutoModelForCausalLM, BitsAndBytesConfig\nfrom xtuner.model import SupervisedFinetune\n"
    "pretrained_model_name_or_path = 'internlm/internlm2-20b'\nuse_varlen_attn = False\nalpaca_en_path = 'tatsu-lab/alpaca'\n"
    "max_length = 2048\npack_to_max_length = True\nbatch_size = 1  # per_device\naccumulative_counts = 16\nmax_epochs = 3\n"
    "optim_type = AdamW\nlr = 2e-4\nmodel = dict(\n    type=SupervisedFinetune,\n    llm=dict(\n"
    "        type=AutoModelForCausalLM.from_pretrained,\n        pretrained_model_name_or_path=pretrained_model_name_or_path,\n"
    "        torch_dtype=torch.float16,\n        quantization_config=dict(\n            type=BitsAndBytesConfig,\n"
    "            load_in_4bit=True,\n            load_in_8bit=False,\n            bnb_4bit_use_double_quant=True)),\n    lora=dict(\n"
    "        type=LoraConfig,\n        r=64,\n        lora_alpha=16,\n        lora_dropout=0.1))\n"
    "train_dataloader = dict(batch_size=batch_size, num_workers=0)\noptim_wrapper = dict(\n    type=AmpOptimWrapper,\n"
    "    optimizer=dict(type=optim_type, lr=lr),\n    accumulative_counts=accumulative_counts,\n    dtype='float16')\n";
const std::string kXtunerFull =
    "from xtuner.model import SupervisedFinetune\nfrom mmengine.optim import AmpOptimWrapper\n"
    "pretrained_model_name_or_path = 'internlm/internlm2-7b'\nsequence_parallel_size = 4\nmax_length = 32768\nbatch_size = 1\n"
    "accumulative_counts = 4\nmodel = dict(type=SupervisedFinetune, llm=dict(type=AutoModelForCausalLM.from_pretrained,\n"
    "    pretrained_model_name_or_path=pretrained_model_name_or_path))\n"
    "optim_wrapper = dict(type=AmpOptimWrapper, accumulative_counts=accumulative_counts, dtype='bfloat16')\n";
const std::string kEvo =
    "SEQ_LEN = 2048\nHIDDEN_SIZE = 4096\nNUM_ATTENTION_HEAD = 32\nMLP_RATIO = 8 / 3\nNUM_LAYER = 32\nVOCAB_SIZE = 103168\n"
    "data = dict(\n    seq_len=SEQ_LEN,\n    micro_num=4,\n    micro_bsz=2,\n    total_steps=50000,\n    rampup_batch_size=\"\",\n)\n"
    "hybrid_zero_optimizer = dict(overlap_sync_grad=True, overlap_sync_param=False, reduce_bucket_size=512 * 1024 * 1024)\n"
    "model = dict(\n    checkpoint=False,\n    num_attention_heads=NUM_ATTENTION_HEAD,\n    vocab_size=VOCAB_SIZE,\n"
    "    hidden_size=HIDDEN_SIZE,\n    num_layers=NUM_LAYER,\n    mlp_ratio=MLP_RATIO,\n    dtype=\"torch.bfloat16\",\n"
    "    use_flash_attn=True,\n    num_chunks=1,\n)\n";
}  // namespace

TEST_CASE("XTuner: LoRA on weights of 4 bits") {
    const Json answer = on("8", kXtunerLora), job = answer["jobs"][0];
    CHECK((answer["format"] == "xtuner" && job["title"] == "XTuner"));
    CHECK(some(job, {"gpus", "sequence_length", "micro_batch", "global_batch", "precision", "recompute", "trained", "lora_rank"}) ==
          R"(gpus=8 sequence_length=2048 micro_batch=1 global_batch=128 precision="fp16" recompute="full" trained="lora" lora_rank=64)");
    CHECK(some(job, {"frozen_weights", "lora_targets", "lora_dropout", "zero"}) ==
          R"(frozen_weights="nf4" lora_targets="query,key,value,output,gate,up,down" lora_dropout=true zero="none")");
    CHECK(job["job"]["model"].dump().find("internlm2-20b") != std::string::npos);
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    CHECK(fate(job, "batch_size") == "used 12");
    CHECK(fate(job, "lr") == "no_number 16");
    CHECK(ids(job["notes"]) == "import_plan.note.file");  // how its command starts it
    CHECK(ids(job["refused"]) == "");
}

TEST_CASE("XTuner: all weights with a divided sequence; other ways to train; its command") {
    const Json job = on("8", kXtunerFull)["jobs"][0];
    CHECK(some(job, {"context_parallel", "context_parallel_kind", "micro_batch", "global_batch", "precision", "sequence_length"}) ==
          R"(context_parallel=4 context_parallel_kind="all_to_all" micro_batch=1 global_batch=8 precision="bf16" sequence_length=32768)");
    std::string dpo = kXtunerFull;
    dpo.replace(dpo.find("type=SupervisedFinetune"), 23, "type=DPO");
    CHECK(ids(on("8", dpo)["jobs"][0]["refused"]) == "import_plan.refused.mode");
    const Json command = read_script_of("NPROC_PER_NODE=8 xtuner train internlm2_7b_qlora_oasst1_e3 --deepspeed deepspeed_zero3\n");
    CHECK(command["format"] == "xtuner");
    CHECK(some(command["jobs"][0], {"gpus", "zero", "sequence_length"}) == R"(gpus=8 zero="weights" sequence_length=?)");
    CHECK(command["jobs"][0]["notes"].dump().find("internlm2_7b_qlora_oasst1_e3") != std::string::npos);
}

TEST_CASE("InternEvo: degrees, batches and sizes of each part") {
    const std::string parallel =
        "parallel = dict(\n    zero1=dict(size=-1),\n    tensor=dict(size=2, mode=\"msp\"),\n"
        "    pipeline=dict(size=2, interleaved_overlap=True),\n    weight=dict(size=1, overlap=True),\n)\n";
    const Json answer = on("16", kEvo + parallel), job = answer["jobs"][0];
    CHECK((answer["format"] == "internevo" && job["title"] == "InternEvo"));
    CHECK(some(job,
               {"gpus", "tensor_parallel", "pipeline_parallel", "sequence_parallel", "micro_batch", "global_batch", "sequence_length"}) ==
          "gpus=16 tensor_parallel=2 pipeline_parallel=2 sequence_parallel=true micro_batch=2 global_batch=32 sequence_length=2048");
    CHECK(some(job, {"zero", "precision", "recompute", "overlap_gradients", "overlap_parameters", "attention"}) ==
          R"(zero="optimizer" precision="bf16" recompute="none" overlap_gradients=true overlap_parameters=false attention="flash")");
    REQUIRE(job["job"].contains("model"));
    const Json model = job["job"]["model"];
    CHECK((model["intermediate_size"] == 11'008 && model["attention_bias"] == true && model["vocab_size"] == 103'168));
    CHECK(job["job"]["token_budget"] == 50'000.0 * 32 * 2'048);
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    CHECK(fate(job, "parallel.tensor.mode") == "used 28");
    const auto with = [&](const std::string& more) { return on("16", kEvo + more)["jobs"][0]; };
    CHECK(some(with("parallel = dict(zero1=dict(size=4), tensor=dict(size=1, mode='mtp'), pipeline=dict(size=1))\n"),
               {"zero", "shard_replicas", "sequence_parallel"}) == R"(zero="optimizer" shard_replicas=4 sequence_parallel=false)");
    CHECK(some(with("parallel = dict(zero1=1, tensor=8, pipeline=dict(size=1), sequence_parallel=True)\n"),
               {"zero", "tensor_parallel", "sequence_parallel"}) == R"(zero="none" tensor_parallel=8 sequence_parallel=true)");
    const Json isp = with(
        "parallel = dict(zero1=dict(size=-1), tensor=dict(size=2, mode=\"isp\"), pipeline=dict(size=1), "
        "weight=dict(size=4, overlap=True))\n");
    CHECK(some(isp, {"context_parallel", "tensor_parallel", "context_parallel_kind"}) ==
          R"(context_parallel=2 tensor_parallel=1 context_parallel_kind="all_to_all")");
    CHECK(ids(isp["notes"]) == "import_plan.note.not_counted");
    const Json command =
        read_script_of("torchrun --nnodes=2 --nproc_per_node=8 train.py --config ./configs/7B_sft.py --launcher \"torch\"\n");
    CHECK((command["format"] == "internevo" && some(command["jobs"][0], {"gpus", "zero"}) == "gpus=16 zero=?"));
    CHECK(ids(command["jobs"][0]["notes"]) == "import_plan.note.file");
    std::string part = kEvo;
    part.replace(part.find("checkpoint=False"), 16, "checkpoint=0.5, num_experts=8, top_k=2");
    const Json experts = on("16", part +
                                      "parallel = dict(zero1=dict(size=-1), tensor=dict(size=1, mode='mtp'), pipeline=dict(size=2), "
                                      "expert=dict(size=-1, no_tp=False))\n")["jobs"][0];
    CHECK(some(experts, {"recompute", "recompute_layers", "expert_parallel"}) ==
          R"(recompute="block" recompute_layers=8 expert_parallel=8)");
    CHECK(experts["job"]["model"]["num_experts_per_tok"] == 2);
    CHECK(experts["job"]["model"]["head_dim"] == 128);
    const Json wide = read_script_of(
        "model_type = 'QWEN3MOE'\nHEAD_DIM = 128\ndata = dict(seq_len=4096, micro_num=4, micro_bsz=2)\n"
        "model = dict(checkpoint=1, num_attention_heads=32, num_kv_attention_heads=4, vocab_size=151936, hidden_size=2048, "
        "head_dim=HEAD_DIM, num_layers=48, mlp_ratio=768 / 2048, dtype='torch.bfloat16', num_experts=128, num_shared_experts=0, top_k=8, "
        "use_sliding_window=False)\n"
        "parallel = dict(zero1=dict(size=-1), tensor=dict(size=1, mode='mtp'), pipeline=dict(size=1), expert=dict(size=8))\n")["jobs"][0];
    CHECK(wide["job"]["model"]["head_dim"] == 128);
    CHECK(wide["job"]["model"]["qk_layernorm"] == true);
    for (const Json& key : wide["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
}

TEST_CASE("Colossal-AI: its programs' arguments, short and long") {
    const Json answer = read_script_of(
        "colossalai run --nproc_per_node 8 --hostfile hosts.txt benchmark.py -c 70b --plugin 3d --tp 4 --pp 2 --zero 1 -b 8 --mbs 2 -l "
        "4096 -g "
        "-x --pp_style interleaved --n_chunks 2\n");
    const Json job = answer["jobs"][0];
    CHECK((answer["format"] == "colossal-ai" && job["title"] == "benchmark.py"));
    CHECK(
        some(job, {"model", "tensor_parallel", "pipeline_parallel", "virtual_stages", "zero", "micro_batch", "sequence_length"}) ==
        R"(model="llama-2-70b" tensor_parallel=4 pipeline_parallel=2 virtual_stages=2 zero="optimizer" micro_batch=2 sequence_length=4096)");
    CHECK(some(job, {"recompute", "attention", "precision", "gradients_in_fp32"}) ==
          R"(recompute="full" attention="flash" precision="bf16" gradients_in_fp32=false)");
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    CHECK(fate(job, "-l") == "used 1");
    CHECK(some(job, {"gpus", "gpus_per_node"}) == "gpus=? gpus_per_node=8");  // the file of hosts says how many there are
    const Json gemini = first_of_script("colossalai run --nproc_per_node 8 benchmark.py -p gemini -c 7b -b 4 --offload_optim_frac 0.5\n");
    CHECK(some(gemini, {"gpus", "zero", "micro_batch", "global_batch", "optimizer_offload", "recompute"}) ==
          R"(gpus=8 zero="weights" micro_batch=4 global_batch=32 optimizer_offload=0.5 recompute="none")");
    const Json llama = first_of_script(
        "torchrun --nproc_per_node 8 train.py --pretrained meta-llama/Llama-2-7b-hf --plugin zero2_cpu --micro_batch_size 2 "
        "--accumulation_steps 4 --max_length 4096 --mixed_precision bf16 --use_grad_checkpoint --use_flash_attn --num_epochs 1\n");
    CHECK(some(llama, {"model", "zero", "optimizer_offload", "global_batch", "recompute", "attention"}) ==
          R"(model="llama-2-7b" zero="gradients" optimizer_offload=1.0 global_batch=64 recompute="full" attention="flash")");
    CHECK(ids(first_of_script("colossalai run --nproc_per_node 8 benchmark.py -p 3d --pp 2 -b 3 --mbs 2\n")["refused"]) ==
          "import_plan.refused.batch");
}

TEST_CASE("Colossal-AI: a program with one plugin") {
    const std::string program =
        "import colossalai\nfrom colossalai.booster import Booster\nfrom colossalai.booster.plugin import HybridParallelPlugin\n"
        "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-2-7b-hf\")\n"
        "plugin = HybridParallelPlugin(\n    tp_size=2,\n    pp_size=2,\n    zero_stage=1,\n    microbatch_size=1,\n    "
        "precision=\"bf16\",\n"
        "    enable_flash_attention=True,\n)\ndataloader = plugin.prepare_dataloader(dataset, batch_size=8, shuffle=True)\n"
        "booster = Booster(plugin=plugin)\n";
    const Json answer = on("8", program), job = answer["jobs"][0];
    CHECK(answer["format"] == "colossal-ai");
    CHECK(some(job, {"model", "tensor_parallel", "pipeline_parallel", "zero", "micro_batch", "global_batch", "precision", "recompute"}) ==
          R"(model="llama-2-7b" tensor_parallel=2 pipeline_parallel=2 zero="optimizer" micro_batch=1 global_batch=16 precision="bf16" )"
          "recompute=?");
    CHECK(job["asked"].dump() == R"(["sequence_length"])");
    for (const Json& key : job["keys"]) CHECK_MESSAGE(key["fate"] != "unknown", key.dump());
    // Of two, which one runs is not said.
    const Json two = json(api::import_plan(Json{{"text", program + "other = GeminiPlugin()\n"}, {"set", Json::object()}}.dump()));
    CHECK(two["ok"] == false);
}
