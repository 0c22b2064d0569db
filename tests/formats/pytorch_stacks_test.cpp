// nanotron and torchtitan: files of our own, values worked by hand.
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::first_of_script;
using tests::ids;
using tests::read_settings_of;
using tests::some;

namespace {

// SmolLM3's sizes; the second block belongs to an evaluation.
const std::string kModel = R"(model.dtype = "bfloat16"
model.model_config.is_qwen2_config = true
model.model_config.hidden_size = 2048
model.model_config.intermediate_size = 11008
model.model_config.num_hidden_layers = 36
model.model_config.num_attention_heads = 16
model.model_config.num_key_value_heads = 4
model.model_config.vocab_size = 128256
model.model_config.tie_word_embeddings = true
model.model_config.max_position_embeddings = 4096
optimizer.zero_stage = 0
optimizer.accumulate_grad_in_fp32 = true
optimizer.optimizer_factory.adam_beta1 = 0.9
lighteval.parallelism.dp = 8
lighteval.parallelism.tp = 1
lighteval.parallelism.pp = 1
)";

}  // namespace

TEST_CASE("nanotron: GPUs are the product of the degrees") {
    const Json answer = read_settings_of(kModel + R"(parallelism.dp = 192
parallelism.tp = 2
parallelism.pp = 1
parallelism.context_parallel_size = 1
parallelism.pp_engine = "1f1b"
parallelism.tp_mode = "REDUCE_SCATTER"
parallelism.tp_linear_async_communication = true
parallelism.recompute_layer = false
tokens.sequence_length = 4096
tokens.micro_batch_size = 3
tokens.batch_accumulation_per_replica = 1
tokens.train_steps = 100
)");
    CHECK(answer["format"] == "nanotron");
    const Json& job = answer["jobs"][0];
    CHECK(
        some(job, {"gpus", "tensor_parallel", "pipeline_parallel", "context_parallel", "sequence_length", "micro_batch", "global_batch"}) ==
        "gpus=384 tensor_parallel=2 pipeline_parallel=1 context_parallel=1 sequence_length=4096 micro_batch=3 global_batch=576");
    CHECK(some(job, {"framework", "zero", "gradients_in_fp32", "sequence_parallel", "tensor_overlap", "recompute", "precision"}) ==
          "framework=\"nanotron\" zero=\"none\" gradients_in_fp32=true sequence_parallel=true tensor_overlap=true recompute=\"none\" "
          "precision=\"bf16\"");
    CHECK(job["job"]["model"]["intermediate_size"] == 11'008);
    CHECK(job["job"]["model"]["tie_word_embeddings"] == true);
    CHECK(job["asked"].empty());
    CHECK(fate(job, "lighteval.parallelism.dp") == "no_number 14");
    CHECK(fate(job, "model.model_config.hidden_size") == "used 3");
    CHECK(fate(job, "tokens.train_steps") == "used 28");
}

TEST_CASE("nanotron: the later phases of SmolLM3") {
    // 12 copies of 8 GPUs: 12 x 1 x 6 = 72 sequences, then 12 x 3 = 36
    const auto phase = [](const std::string& rest) {
        return some(first_of(kModel +
                             "parallelism.dp = 12\nparallelism.tp = 2\nparallelism.pp = 1\nparallelism.context_parallel_size = 4\n"
                             "tokens.micro_batch_size = 1\n" +
                             rest),
                    {"gpus", "context_parallel", "sequence_length", "global_batch", "recompute", "sequence_parallel"});
    };
    CHECK(phase("tokens.sequence_length = 32768\ntokens.batch_accumulation_per_replica = 6\n") ==
          "gpus=96 context_parallel=4 sequence_length=32768 global_batch=72 recompute=\"none\" sequence_parallel=false");
    CHECK(phase("tokens.sequence_length = 65536\ntokens.batch_accumulation_per_replica = 3\nparallelism.recompute_layer = true\n") ==
          "gpus=96 context_parallel=4 sequence_length=65536 global_batch=36 recompute=\"full\" sequence_parallel=false");
}

TEST_CASE("nanotron: whether gathered inputs are kept") {
    const std::string text = kModel + "parallelism.dp = 2\nparallelism.tp = 2\nparallelism.pp = 1\ntokens.micro_batch_size = 1\n";
    CHECK(some(first_of(text), {"gathered_inputs"}) == "gathered_inputs=?");
    CHECK(some(first_of(text + "parallelism.tp_recompute_allgather = true\n"), {"gathered_inputs"}) == "gathered_inputs=?");
    const Json keeps = first_of(text + "parallelism.tp_recompute_allgather = false\n");
    CHECK(some(keeps, {"gathered_inputs"}) == R"(gathered_inputs="on")");
    CHECK(fate(keeps, "parallelism.tp_recompute_allgather").starts_with("used"));
}

TEST_CASE("nanotron: what it cannot say, and what stays open") {
    const Json job = first_of(
        "parallelism.dp = \"${DP}\"\nparallelism.tp = 2\nparallelism.pp = 1\nparallelism.pp_engine = \"afab\"\ntokens.micro_batch_size = "
        "1\n"
        "optimizer.zero_stage = 2\nmodel.dtype = \"float32\"\nmodel.model_config.moe_config.num_experts = "
        "8\nmodel.model_config.hidden_size = 8\n");
    CHECK(some(job, {"gpus", "tensor_parallel", "zero", "model"}) == "gpus=? tensor_parallel=2 zero=? model=?");
    CHECK(fate(job, "parallelism.dp") == "open 1");
    CHECK(fate(job, "optimizer.zero_stage") == "unknown 6");
    CHECK(job["asked"].dump() == R"(["sequence_length","model"])");
    CHECK(ids(job["notes"]) == "import_plan.note.fp32_named");
    CHECK(some(first_of("parallelism.dp = 1048576\nparallelism.tp = 1048576\nparallelism.pp = 1048576\ntokens.micro_batch_size = 1\n"),
               {"gpus"}) == "gpus=?");
}

TEST_CASE("torchtitan: the TOML of 70B") {
    const std::string text = R"(model.name = "llama3"
model.flavor = "70B"
model.converters = []
optimizer.lr = 0.00015
training.local_batch_size = 8
training.seq_len = 8192
training.steps = 1000
parallelism.data_parallel_replicate_degree = 1
parallelism.data_parallel_shard_degree = -1
parallelism.tensor_parallel_degree = 8
parallelism.pipeline_parallel_degree = 1
parallelism.context_parallel_degree = 1
activation_checkpoint.mode = "full"
quantize.linear.float8.enable_fsdp_float8_all_gather = false
)";
    const Json answer = read_settings_of(text, {{"gpus", "64"}});
    CHECK(answer["format"] == "torchtitan");
    const Json& job = answer["jobs"][0];
    // 64 / 8 = 8 copies of 8 sequences
    CHECK(some(job, {"model", "gpus", "tensor_parallel", "pipeline_parallel", "sequence_length", "micro_batch", "global_batch"}) ==
          "model=\"llama-3-70b\" gpus=64 tensor_parallel=8 pipeline_parallel=1 sequence_length=8192 micro_batch=8 global_batch=64");
    CHECK(some(job, {"framework", "zero", "recompute", "precision", "gradients_in_fp32", "shard_replicas"}) ==
          "framework=\"pytorch\" zero=\"weights\" recompute=\"full\" precision=\"bf16\" gradients_in_fp32=true shard_replicas=1");
    CHECK(fate(job, "quantize.linear.float8.enable_fsdp_float8_all_gather") == "no_number 14");
    CHECK(first_of(text)["asked"].dump() == R"(["gpus"])");
    CHECK(some(first_of(text + "model.converters = [\"float8\"]\n"), {"precision"}) == "precision=\"fp8\"");
}

TEST_CASE("torchtitan: a pipeline, HSDP, all degrees said") {
    const std::string text = R"(model.name = "llama3"
model.flavor = "405B"
training.local_batch_size = 16
training.seq_len = 8192
parallelism.data_parallel_replicate_degree = 2
parallelism.data_parallel_shard_degree = 4
parallelism.tensor_parallel_degree = 8
parallelism.pipeline_parallel_degree = 8
parallelism.pipeline_parallel_schedule = "Interleaved1F1B"
activation_checkpoint.mode = "selective"
activation_checkpoint.selective_ac_option = "op"
training.global_batch_size = 256
)";
    const Json job = first_of(text);
    CHECK(some(job, {"model", "gpus", "micro_batch", "global_batch", "virtual_stages", "zero", "shard_replicas", "recompute"}) ==
          "model=\"llama-3.1-405b\" gpus=512 micro_batch=1 global_batch=256 virtual_stages=2 zero=\"gradients\" shard_replicas=2 "
          "recompute=\"operations\"");
    CHECK(ids(job["notes"]).empty());
    // 126 + 2 over 4 layers: 32 stages, 4 on each of 8
    CHECK(some(first_of(text + "parallelism.pipeline_parallel_layers_per_stage = 4\n"), {"virtual_stages"}) == "virtual_stages=4");
    const auto schedule = [&](const std::string& name) {
        return first_of(text + "parallelism.pipeline_parallel_schedule = \"" + name + "\"\n");
    };
    CHECK(fate(schedule("InterleavedZeroBubble"), "parallelism.pipeline_parallel_schedule") == "unknown 9");
    CHECK(some(schedule("ZBVZeroBubble"), {"schedule", "virtual_stages"}) == "schedule=\"zb-v\" virtual_stages=2");
    CHECK(some(schedule("DualPipeV"), {"schedule", "virtual_stages"}) == "schedule=\"dualpipev\" virtual_stages=2");
}

TEST_CASE("torchtitan: which layers, or operations, are computed again") {
    const std::string plain = "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.local_batch_size = 1\ntraining.seq_len = 8192\n";
    const auto again = [&](const std::string& option, const std::string& more = "") {
        const std::string said = "activation_checkpoint.mode = \"selective\"\nactivation_checkpoint.selective_ac_option = " + option + "\n";
        return some(first_of(plain + said + more), {"recompute", "recompute_layers"});
    };
    CHECK(again("\"op\"") == R"(recompute="operations" recompute_layers=?)");
    CHECK(again("\"2\"") == R"(recompute="block" recompute_layers=16)");
    CHECK(again("3") == R"(recompute="block" recompute_layers=10)");  // the 3rd, 6th, ... 30th of 32
    CHECK(again("\"1\"") == R"(recompute="full" recompute_layers=?)");
    CHECK(again("\"0\"") == R"(recompute="full" recompute_layers=?)");
    CHECK(again("\"33\"") == R"(recompute="none" recompute_layers=?)");
    // counted on each GPU: 8 layers in 2 chunks of 4
    const std::string stages = "parallelism.pipeline_parallel_degree = 4\nparallelism.pipeline_parallel_schedule = \"Interleaved1F1B\"\n";
    CHECK(again("\"2\"", stages) == R"(recompute="block" recompute_layers=2)");
    // in TOML every second layer, if nothing is said
    CHECK(some(first_of(plain + "activation_checkpoint.mode = \"selective\"\n"), {"recompute", "recompute_layers"}) ==
          R"(recompute="block" recompute_layers=16)");
    CHECK(again("\"2\"", "model.flavor = \"debug_of_a_fork\"\n") == "recompute=? recompute_layers=?");  // of how many is not known
    CHECK(again("\"often\"") == "recompute=? recompute_layers=?");
}

TEST_CASE("torchtitan: its arguments after the TOML, batches in tokens") {
    const Json answer =
        tests::read_answer({{"text",
                             "NGPU=8 torchrun --nproc_per_node=8 --nnodes 2 -m torchtitan.train --module llama3 --config llama3_8b "
                             "--training.max_context_length 4096 \\\n"
                             "  --training.num_tokens_per_microbatch_per_dp_rank=8192 --training.num_tokens_per_train_step 524288 "
                             "--parallelism.tensor_parallel_degree=2 --parallelism.enable_sequence_parallel "
                             "--parallelism.fsdp_reshard_after_forward never\n"}});
    CHECK(answer["format"] == "torchtitan");
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"model", "gpus", "tensor_parallel", "sequence_length", "micro_batch", "global_batch", "zero", "sequence_parallel"}) ==
          "model=\"llama-3-8b\" gpus=16 tensor_parallel=2 sequence_length=4096 micro_batch=2 global_batch=128 zero=\"gradients\" "
          "sequence_parallel=true");
    // A model that the catalogue lacks is asked for.
    const Json other =
        first_of("model.name = \"llama3\"\nmodel.flavor = \"debug_of_a_fork\"\ntraining.seq_len = 64\ntraining.local_batch_size = 1\n");
    CHECK(other["asked"].dump() == R"(["gpus","model"])");
    CHECK(fate(other, "model.flavor") == "unknown 2");
}

// ---- found in public files, written anew
TEST_CASE("torchtitan: sections and names of 2024") {
    const std::string old =
        "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.batch_size = 16\ntraining.seq_len = 8192\n"
        "experimental.pipeline_parallel_degree = 4\n";
    CHECK(some(first_of(old), {"micro_batch", "virtual_stages"}) == "micro_batch=4 virtual_stages=1");  // as many parts as stages
    CHECK(some(first_of(old + "experimental.pipeline_parallel_microbatches = 8\n"), {"micro_batch"}) == "micro_batch=2");
    CHECK(
        some(first_of(
                 old +
                 "experimental.pipeline_parallel_schedule = \"interleaved_1f1b\"\n"
                 "experimental.pipeline_parallel_split_points = \"layers.4,layers.8,layers.12,layers.16,layers.20,layers.24,layers.28\"\n"),
             {"virtual_stages"}) == "virtual_stages=2");
    CHECK(some(first_of(old + "experimental.pipeline_parallel_schedule = \"gpipe\"\n"), {"schedule", "virtual_stages"}) ==
          R"(schedule="gpipe" virtual_stages=1)");
    CHECK(some(first_of("model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.batch_size = 2\ntraining.seq_len = 8192\n"
                        "training.data_parallel_replicate_degree = 2\ntraining.data_parallel_shard_degree = 32\n"
                        "training.tensor_parallel_degree = 8\ntraining.enable_float8_linear = true\n"
                        "training.fsdp_reshard_after_forward = \"never\"\n"),
               {"gpus", "shard_replicas", "global_batch", "precision", "zero"}) ==
          R"(gpus=512 shard_replicas=2 global_batch=128 precision="fp8" zero="gradients")");
}

TEST_CASE("torchtitan: norms are single operations where PyTorch before 2.9 does not compile them") {
    const std::string model = "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.seq_len = 8192\n";
    const auto norms = [&](const std::string& lines) { return some(first_of(model + lines), {"fused_norms"}); };
    CHECK(norms("training.compile = false\n") == "fused_norms=false");
    CHECK(norms("training.compile = true\n") == "fused_norms=true");
    CHECK(norms("training.compile = false\nmodel.norm_type = \"fused_rmsnorm\"\n") == "fused_norms=true");
    for (const char* lines : {"", "compile.enable = false\n", "compile.enable = true\n"}) CHECK(norms(lines) == "fused_norms=?");
}

TEST_CASE("torchtitan: what is shared out, what is usual, what cannot be") {
    const std::string plain = "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.local_batch_size = 1\ntraining.seq_len = 8192\n";
    const Json context = first_of(plain + "parallelism.data_parallel_shard_degree = 1\nparallelism.context_parallel_degree = 8\n");
    CHECK(some(context, {"gpus", "zero", "recompute"}) == R"(gpus=8 zero="weights" recompute="block")");  // every second layer
    CHECK(ids(context["notes"]).empty());
    CHECK(ids(first_of(plain + "parallelism.data_parallel_shard_degree = 4\nparallelism.tensor_parallel_degree = 4\n",
                       {{"gpus", "8"}})["refused"])
              .empty());  // an answer is no text of the file
    const Json script =
        first_of_script("NGPU=8 CONFIG_FILE=./llama3_405b.toml ./run_train.sh --training.local_batch_size=2 --training.seq_len=8192\n");
    CHECK(some(script, {"gpus", "micro_batch", "tensor_parallel", "pipeline_parallel", "zero", "precision", "global_batch"}) ==
          "gpus=8 micro_batch=2 tensor_parallel=? pipeline_parallel=? zero=? precision=? global_batch=?");
    CHECK(ids(script["notes"]) == "import_plan.note.file");
    CHECK(ids(first_of_script("torchrun --nnodes 1 --nproc_per_node 8 train.py --training.local_batch_size 1 --training.seq_len 8192 "
                              "--parallelism.data_parallel_shard_degree 4 --parallelism.tensor_parallel_degree 4\n")["refused"]) ==
          "import_plan.refused.mesh");
    CHECK(some(first_of_script("NNODE=2 NGPU=8 bash train.sh --training.batch_size 4 --training.seq_len 2048 "
                               "--training.gradient_accumulation_steps 4 --training.tensor_parallel_degree 1\n"),
               {"gpus", "global_batch"}) == "gpus=16 global_batch=256");
}

TEST_CASE("torchtitan: weights that are updated over lists of tensors") {
    const auto lists = [](const char* line) {
        return some(first_of(std::string("model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.local_batch_size = 1\n"
                                         "training.seq_len = 4096\n") +
                             line),
                    {"optimizer_foreach"});
    };
    CHECK(lists("optimizer.implementation = \"foreach\"\n") == "optimizer_foreach=true");
    CHECK(lists("optimizer.implementation = \"fused\"\n") == "optimizer_foreach=?");
    CHECK(lists("optimizer.fused = false\n") == "optimizer_foreach=true");
    CHECK(lists("optimizer.fused = true\n") == "optimizer_foreach=?");
    CHECK(lists("") == "optimizer_foreach=?");
}

TEST_CASE("torchtitan: weights that are updated within the backward pass") {
    const std::string text =
        "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.local_batch_size = 1\ntraining.seq_len = 4096\n"
        "optimizer.early_step_in_backward = ";
    CHECK(some(first_of(text + "true\n"), {"optimizer_in_backward"}) == "optimizer_in_backward=true");
    CHECK(some(first_of(text + "false\n"), {"optimizer_in_backward"}) == "optimizer_in_backward=?");
}

TEST_CASE("torchtitan: chunks of a pipeline whose schedule another file names are not known") {
    const std::string start =
        "torchrun --nproc_per_node 8 -m torchtitan.train --job.config_file=deepseek_v3_671b.toml --training.seq_len=4096 "
        "--parallelism.pipeline_parallel_degree=8 --training.local_batch_size=16 ";
    CHECK(some(first_of_script(start + "\n"), {"pipeline_parallel", "virtual_stages"}) == "pipeline_parallel=8 virtual_stages=?");
    CHECK(some(first_of_script(start + "--parallelism.pipeline_parallel_schedule=1F1B\n"), {"virtual_stages"}) == "virtual_stages=1");
}
