// Settings of OLMo, and OLMo-core's scripts in Python.
#include <doctest/doctest.h>

#include <string>

#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

const std::string kOlmoSizes =
    "model.d_model = 4096\nmodel.n_heads = 32\nmodel.n_layers = 32\nmodel.mlp_hidden_size = 22016\nmodel.vocab_size = 50280\n"
    "model.embedding_size = 50304\nmodel.max_sequence_length = 2048\nmodel.rope = true\nmodel.include_bias = false\n"
    "model.weight_tying = false\nmodel.layer_norm_type = \"default\"\nglobal_train_batch_size = 2048\n"
    "device_train_microbatch_size = 2\nprecision = \"amp_bf16\"\n";

const std::string kOlmoImports =
    "from olmo_core.internal.experiment import CommonComponents, main\nfrom olmo_core.nn.transformer import TransformerConfig\n"
    "SEQUENCE_LENGTH = 8192\n";
std::string olmo_core(const std::string& model, const std::string& module, const std::string& end) {
    return kOlmoImports + "def build_model_config(common):\n    return TransformerConfig." + model +
           "\ndef build_train_module_config(common):\n    return TransformerTrainModuleConfig(" + module +
           ")\nif __name__ == \"__main__\":\n    main(" + end + ")\n";
}

}  // namespace

TEST_CASE("OLMo: the gate halves the width; the embedding has the rows that it is told; steps and batch tell the tokens") {
    const Json job = first_of(kOlmoSizes + "max_duration = 1000\nfsdp.sharding_strategy = \"SHARD_GRAD_OP\"\nfsdp.precision = \"mixed\"\n");
    const Json& model = job["job"]["model"];
    CHECK(model["intermediate_size"] == 11'008);
    CHECK(model["vocab_size"] == 50'304);
    CHECK(model["tie_word_embeddings"] == false);
    CHECK(some(job, {"sequence_length", "micro_batch", "global_batch", "zero", "gradients_in_fp32", "precision", "recompute"}) ==
          R"(sequence_length=2048 micro_batch=2 global_batch=2048 zero="gradients" gradients_in_fp32=true precision="bf16" )"
          R"(recompute="none")");
    CHECK(job["job"]["token_budget"] == 1000.0 * 2048 * 2048);
    CHECK(job["asked"] == Json({"gpus"}));
    CHECK(first_of(kOlmoSizes + "max_duration = \"2e12T\"\n")["job"]["token_budget"] == 2e12);
}

TEST_CASE("OLMo: FSDP takes all and reduces in 16 bits where nothing is said; a part of the layers is checkpointed") {
    const auto of = [](const std::string& text) {
        return some(first_of(kOlmoSizes + text), {"zero", "gradients_in_fp32", "recompute", "recompute_layers", "shard_replicas"});
    };
    CHECK(of("activation_checkpointing = true\n") ==
          R"(zero="weights" gradients_in_fp32=false recompute="full" recompute_layers=? shard_replicas=?)");
    CHECK(of("activation_checkpointing = \"one_in_four\"\nfsdp.sharding_strategy = \"HYBRID_SHARD\"\n"
             "fsdp.hybrid_sharding_num_model_replicas = 4\n") ==
          R"(zero="weights" gradients_in_fp32=false recompute="block" recompute_layers=8 shard_replicas=4)");
    CHECK(of("fsdp.sharding_strategy = \"FULL_SHARD\"\nfsdp.hybrid_sharding_num_model_replicas = 4\n") ==
          R"(zero="weights" gradients_in_fp32=false recompute="none" recompute_layers=? shard_replicas=?)");
    CHECK(of("activation_checkpointing = \"whole_layer\"\ndistributed_strategy = \"ddp\"\n") ==
          R"(zero="none" gradients_in_fp32=? recompute="full" recompute_layers=? shard_replicas=?)");
    CHECK(ids(first_of(kOlmoSizes + "activation_checkpointing = \"fine_grained\"\n")["notes"]) == "import_plan.note.not_counted");
}

TEST_CASE("OLMo-core: a model by the name of its way, batches in tokens, types and degrees of objects") {
    const Json job = first_of_script(olmo_core(
        "olmo2_7B(vocab_size=common.tokenizer.padded_vocab_size())",
        "rank_microbatch_size=2 * SEQUENCE_LENGTH, max_sequence_length=common.max_sequence_length, "
        "dp_config=TransformerDataParallelConfig(name=DataParallelType.hsdp, param_dtype=DType.bfloat16, reduce_dtype=DType.float32, "
        "num_replicas=4), tp_config=TransformerTensorParallelConfig(degree=2), "
        "ac_config=TransformerActivationCheckpointingConfig(mode=TransformerActivationCheckpointingMode.full)",
        "global_batch_size=512 * SEQUENCE_LENGTH, max_sequence_length=SEQUENCE_LENGTH"));
    CHECK(some(job, {"model", "sequence_length", "global_batch", "micro_batch", "tensor_parallel", "precision", "gradients_in_fp32", "zero",
                     "shard_replicas", "recompute"}) ==
          R"(model="olmo-2-7b" sequence_length=8192 global_batch=512 micro_batch=2 tensor_parallel=2 precision="bf16" )"
          R"(gradients_in_fp32=true zero="weights" shard_replicas=4 recompute="full")");
    CHECK(ids(job["notes"]) == "");
}

TEST_CASE("OLMo-core: 4,096 tokens where the length is not said; a way with sizes of its own is another model") {
    const Json usual = first_of_script(olmo_core("olmo2_7B()", "rank_microbatch_size=4096", "global_batch_size=64 * 4096"));
    CHECK(some(usual, {"sequence_length", "global_batch", "micro_batch", "recompute"}) ==
          R"(sequence_length=4096 global_batch=64 micro_batch=1 recompute="none")");
    const Json other = first_of_script(olmo_core("olmo2_7B(n_layers=16)", "rank_microbatch_size=4096", "global_batch_size=64 * 4096"));
    CHECK(!other["job"].contains("model"));
    CHECK(fate(other, "TransformerConfig").starts_with("unknown"));
    const Json open = first_of_script(olmo_core("olmo2_7B()", "rank_microbatch_size=size * 4096", "global_batch_size=64 * 4096"));
    CHECK(!open["job"].contains("micro_batch"));
}

TEST_CASE("OLMo-core: the tokens of its duration") {
    const Json job = first_of_script(kOlmoImports +
                                     "model = TransformerConfig.olmo2_7B()\n"
                                     "trainer = TrainerConfig(max_duration=Duration.tokens(int(5e12)), rank_microbatch_size=4096)\n"
                                     "loader = NumpyDataLoaderConfig(global_batch_size=64 * 4096)\n");
    CHECK(job["job"]["token_budget"] == 5e12);
    const Json other = first_of_script(olmo_core(
        "olmo2_32B()", "rank_microbatch_size=2 * common.max_sequence_length, max_duration=Duration(int(6.5e12), DurationUnit.tokens)",
        "config_builder=partial(build_config, global_batch_size=64 * SEQUENCE_LENGTH, max_sequence_length=SEQUENCE_LENGTH)"));
    CHECK(some(other, {"model", "sequence_length", "micro_batch", "global_batch"}) ==
          R"(model="olmo-2-32b" sequence_length=8192 micro_batch=2 global_batch=64)");
    CHECK(other["job"]["token_budget"] == 6.5e12);
}

TEST_CASE("OLMo: what a command changes of a file that is not here; a platform's number of GPUs") {
    const std::string command =
        "--nproc_per_node 8 scripts/train.py configs/x.yaml --run_name=a --model.flash_attention=true "
        "--fsdp.sharding_strategy=SHARD_GRAD_OP --device_train_microbatch_size=2 --global_train_batch_size=1024\n";
    const Json job = first_of_script("torchrun --nnodes 4 " + command);
    CHECK(some(job, {"gpus", "micro_batch", "global_batch", "zero", "attention", "recompute", "precision"}) ==
          R"(gpus=32 micro_batch=2 global_batch=1024 zero="gradients" attention="flash" recompute=? precision=?)");
    CHECK(job["asked"] == Json({"sequence_length", "model"}));
    CHECK(ids(job["notes"]) == "import_plan.note.file");
    Json entries = settings("name = \"a\"\ncompute.gpus = 512\n");
    entries.push_back({{"key", "command"}, {"value", "torchrun --nnodes $NUM_NODES " + command}, {"line", 3}});
    CHECK(read_answer({{"entries", entries}})["jobs"][0]["job"]["gpus"] == 512);
}
