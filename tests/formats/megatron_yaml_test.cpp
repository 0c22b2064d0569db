// Megatron-LM's arguments in YAML, and what every list of settings shares: references, questions, hostile lists. Values worked by hand.
#include "formats/formats.h"
#include "model/catalog.h"
#include "random_cases.h"
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::ids;
using tests::json;
using tests::read_settings_of;
using tests::some;

TEST_CASE("keys that are arguments") {
    const char* text = R"(ENV_VARS.CUDA_DEVICE_MAX_CONNECTIONS = 1
ENV_VARS.NNODES = 4
ENV_VARS.GPUS_PER_NODE = 8
TEST_TYPE = "regular"
MODEL_ARGS.--num-layers = 32
MODEL_ARGS.--hidden-size = 4096
MODEL_ARGS.--ffn-hidden-size = 14336
MODEL_ARGS.--num-attention-heads = 32
MODEL_ARGS.--group-query-attention = true
MODEL_ARGS.--num-query-groups = 8
MODEL_ARGS.--swiglu = true
MODEL_ARGS.--normalization = "RMSNorm"
MODEL_ARGS.--disable-bias-linear = true
MODEL_ARGS.--untie-embeddings-and-output-weights = true
MODEL_ARGS.--position-embedding-type = "rope"
MODEL_ARGS.--vocab-size = 128256
MODEL_ARGS.--seq-length = 8192
MODEL_ARGS.--micro-batch-size = 1
MODEL_ARGS.--global-batch-size = 128
MODEL_ARGS.--tensor-model-parallel-size = "${TP}"
MODEL_ARGS.--pipeline-model-parallel-size = "${PP:-2}"
MODEL_ARGS.--sequence-parallel = false
MODEL_ARGS.--bf16 = true
MODEL_ARGS.--fp8-format = "hybrid"
MODEL_ARGS.--fp8-param-gather = true
MODEL_ARGS.--recompute-granularity = "selective"
MODEL_ARGS.--recompute-modules = "[core_attn mlp]"
MODEL_ARGS.--lr = 0.0003
)";
    const Json answer = read_settings_of(text);
    CHECK(answer["format"] == "megatron-lm");
    const Json& open = answer["jobs"][0];
    CHECK(some(open, {"model", "gpus", "gpus_per_node", "tensor_parallel", "pipeline_parallel"}) ==
          "model=\"llama-3-8b\" gpus=32 gpus_per_node=8 tensor_parallel=? pipeline_parallel=2");
    CHECK(answer["questions"].dump() == R"([{"choices":[],"name":"TP"}])");
    CHECK(fate(open, "MODEL_ARGS.--tensor-model-parallel-size") == "open 20");
    CHECK(fate(open, "MODEL_ARGS.--num-layers") == "used 5");
    CHECK(fate(open, "MODEL_ARGS.--lr") == "no_number 28");
    CHECK(fate(open, "ENV_VARS.NNODES") == "used 2");
    CHECK(fate(open, "TEST_TYPE") == "no_number 4");
    const Json job = first_of(text, {{"TP", "4"}});
    CHECK(
        some(job, {"tensor_parallel", "sequence_parallel", "global_batch", "micro_batch", "precision", "recompute", "recompute_modules"}) ==
        "tensor_parallel=4 sequence_parallel=false global_batch=128 micro_batch=1 precision=\"fp8_weights\" recompute=\"selective\" "
        "recompute_modules=\"core_attn,mlp\"");
}

TEST_CASE("FlagScale: the arguments in sections of a system and a model") {
    const Json job = first_of(
        "system.tensor_model_parallel_size = 2\nsystem.pipeline_model_parallel_size = 2\nsystem.disable_bias_linear = true\n"
        "system.precision.bf16 = true\nmodel.num_layers = 4\nmodel.hidden_size = 2048\nmodel.num_attention_heads = 16\n"
        "model.seq_length = 4096\nmodel.swiglu = true\nmodel.normalization = \"RMSNorm\"\nmodel.position_embedding_type = \"rope\"\n"
        "model.untie_embeddings_and_output_weights = true\nmodel.ffn_hidden_size = 5632\nmodel.moe_ffn_hidden_size = 1408\n"
        "model.num_experts = 4\nmodel.moe_router_topk = 2\nmodel.vocab_size = 32000\nmodel.micro_batch_size = 1\n"
        "model.optimizer.lr_scheduler.lr = 0.003\n");
    CHECK(some(job, {"tensor_parallel", "pipeline_parallel", "sequence_length", "micro_batch", "precision"}) ==
          "tensor_parallel=2 pipeline_parallel=2 sequence_length=4096 micro_batch=1 precision=\"bf16\"");
    const Json model = job["job"]["model"];
    CHECK(model["num_hidden_layers"] == 4);
    CHECK(model["num_local_experts"] == 4);
    CHECK(model["num_experts_per_tok"] == 2);
    CHECK(model["moe_intermediate_size"] == 1408);
}

TEST_CASE("several lists of arguments are several jobs") {
    const Json answer = read_settings_of(R"(small.MODEL_ARGS.--num-layers = 2
small.MODEL_ARGS.--hidden-size = 64
small.MODEL_ARGS.--num-attention-heads = 4
small.MODEL_ARGS.--tensor-model-parallel-size = 2
large.MODEL_ARGS.--num-layers = 4
large.MODEL_ARGS.--hidden-size = 64
large.MODEL_ARGS.--num-attention-heads = 4
large.MODEL_ARGS.--tensor-model-parallel-size = 4
)");
    REQUIRE(answer["jobs"].size() == 2);
    CHECK(answer["jobs"][1]["title"] == "large.MODEL_ARGS");
    CHECK(answer["jobs"][1]["line"] == 5);
    CHECK(some(answer["jobs"][0], {"tensor_parallel"}) == "tensor_parallel=2");
    CHECK(some(answer["jobs"][1], {"tensor_parallel"}) == "tensor_parallel=4");
    CHECK(answer["jobs"][0]["asked"].dump() == R"(["gpus","vocab_size","sequence_length","micro_batch"])");
}

TEST_CASE("the file of --yaml-cfg") {
    const Json job = first_of(R"(language_model.num_layers = 24
language_model.hidden_size = 1024
language_model.num_attention_heads = 16
language_model.num_query_groups = null
language_model.ffn_hidden_size = 2816
language_model.activation_func = "swiglu"
language_model.add_bias_linear = false
language_model.normalization = "RMSNorm"
language_model.recompute_granularity = "full"
language_model.recompute_method = "block"
language_model.recompute_num_layers = 3
language_model.hidden_dropout = 0.0
language_model.attention_dropout = 0.0
model_parallel.tensor_model_parallel_size = 2
model_parallel.pipeline_model_parallel_size = 4
model_parallel.bf16 = true
seq_length = 4096
micro_batch_size = 2
global_batch_size = 64
vocab_size = 32000
untie_embeddings_and_output_weights = true
position_embedding_type = "rope"
use_distributed_optimizer = true
)",
                              {{"gpus", "16"}});
    CHECK(some(job, {"gpus", "tensor_parallel", "pipeline_parallel", "sequence_length", "micro_batch", "global_batch"}) ==
          "gpus=16 tensor_parallel=2 pipeline_parallel=4 sequence_length=4096 micro_batch=2 global_batch=64");
    CHECK(some(job, {"recompute", "recompute_layers", "zero", "precision", "hidden_dropout"}) ==
          "recompute=\"block\" recompute_layers=3 zero=\"optimizer\" precision=\"bf16\" hidden_dropout=false");
    CHECK(job["job"]["model"]["intermediate_size"] == 2'816);
    CHECK(!job["job"]["model"].contains("gated_mlp"));  // as Llama
    CHECK(job["job"]["model"]["num_key_value_heads"] == 16);
    CHECK(job["asked"].empty());
}

TEST_CASE("Primus: presets below, names of the environment with defaults") {
    const char* text = R"(work_group = "${TEAM:amd}"
exp_name = "llama3.1_70B-pretrain"
modules.pre_trainer.framework = "megatron"
modules.pre_trainer.config = "pre_trainer.yaml"
modules.pre_trainer.model = "llama3.1_70B.yaml"
modules.pre_trainer.overrides.train_iters = 50
modules.pre_trainer.overrides.micro_batch_size = 3
modules.pre_trainer.overrides.global_batch_size = 24
modules.pre_trainer.overrides.seq_length = 8192
modules.pre_trainer.overrides.tensor_model_parallel_size = "${PRIMUS_TP:1}"
modules.pre_trainer.overrides.pipeline_model_parallel_size = "${PRIMUS_PP:16}"
modules.pre_trainer.overrides.expert_model_parallel_size = 1
modules.pre_trainer.overrides.use_torch_fsdp2 = true
modules.pre_trainer.overrides.use_distributed_optimizer = false
modules.pre_trainer.overrides.overlap_param_gather = false
modules.pre_trainer.overrides.recompute_granularity = "full"
modules.pre_trainer.overrides.recompute_method = "block"
modules.pre_trainer.overrides.recompute_num_layers = 80
modules.pre_trainer.overrides.fp8 = null
modules.pre_trainer.overrides.no_such_setting = 1
)";
    const Json answer = read_settings_of(text, {{"PRIMUS_PP", "1"}, {"gpus", "8"}});
    CHECK(answer["format"] == "primus");
    const Json& job = answer["jobs"][0];
    CHECK(some(job, {"model", "gpus", "tensor_parallel", "pipeline_parallel", "micro_batch", "global_batch", "sequence_length"}) ==
          "model=\"llama-3.1-70b\" gpus=8 tensor_parallel=1 pipeline_parallel=1 micro_batch=3 global_batch=24 sequence_length=8192");
    CHECK(some(job, {"zero", "recompute", "recompute_layers", "context_parallel", "moments"}) ==
          "zero=\"weights\" recompute=\"block\" recompute_layers=80 context_parallel=1 moments=?");
    CHECK(fate(job, "modules.pre_trainer.overrides.no_such_setting") == "unknown 20");
    CHECK(fate(job, "modules.pre_trainer.overrides.train_iters") == "used 6");
    CHECK(job["asked"].empty());
    CHECK(job["refused"].empty());
    // 16 stages and FSDP2: what Megatron-LM would refuse
    CHECK(ids(first_of(text, {{"gpus", "16"}})["refused"]).find("import_plan.refused.fsdp2_pipeline") != std::string::npos);
    CHECK(some(first_of(text), {"pipeline_parallel"}) == "pipeline_parallel=16");
    CHECK(first_of(text)["asked"].dump() == R"(["gpus"])");
}

TEST_CASE("references, sums, and names that stay open") {
    const std::string before = "num_layers = 2\nhidden_size = 64\nnum_attention_heads = 4\nseq_length = 8\n";
    const auto width = [&](const std::string& value) {
        const Json job = first_of(before + "ffn_hidden_size = \"" + value + "\"\nvocab_size = 99\n");
        return job["job"].contains("model") ? job["job"]["model"]["intermediate_size"].dump() : fate(job, "ffn_hidden_size");
    };
    CHECK(width("${multiply:4, ${hidden_size}}") == "256");
    CHECK(width("${multiply:4,${.hidden_size}}") == "256");
    CHECK(width("${oc.env:FFN,128}") == "128");
    CHECK(width("${divide:${multiply:${hidden_size}, 8}, 4}") == "128");
    CHECK(width("${FFN:96}") == "96");
    CHECK(width("${FFN}") == "open 5");
    CHECK(width("${ffn_hidden_size}") == "open 5");  // of itself
    CHECK(width("${divide:${hidden_size},0}") == "open 5");
    CHECK(width("${no_such:1,2}") == "open 5");
}

TEST_CASE("hostile lists") {
    const auto problems = [](const Json& entries) {
        return tests::brief(json(api::import_plan(Json{{"entries", entries}}.dump()))["problems"]);
    };
    CHECK(problems(3) == "entries type null -> null");
    CHECK(problems(Json::array()) == "entries type null -> null");
    CHECK(problems(json(R"([{"key": 1, "value": 2}])")) == "entries type null -> null");
    CHECK(problems(json(R"([{"key": "a", "value": {}}])")) == "entries type null -> null");
    CHECK(problems(json(R"([{"key": "a", "value": 1, "line": -1}])")) == "entries type null -> null");
    CHECK(problems(json(R"([{"key": "hello", "value": "world"}])")) == "entries format null -> null");
    // Each line names the one before twice: 2^40 names, of which none is written out.
    Json bomb = tests::settings("num_layers = 2\nhidden_size = 64\nseq_length = 8\n");
    for (int i = 1; i < 40; ++i) {
        const std::string name = "${a" + std::to_string(i - 1) + "}";
        bomb.push_back({{"key", "a" + std::to_string(i)}, {"value", name + name}});
    }
    CHECK(json(api::import_plan(Json{{"entries", bomb}}.dump()))["ok"] == true);
}

TEST_CASE("the same arguments in YAML and in a script are the same job") {
    tests::Random random(11);
    for (int i = 0; i < (tests::kSlowBuild ? 30 : tests::every_job() ? 10'000 : 1'000); ++i) {
        Job job;
        job.model = tests::random_model(random);
        job.gpu = of_catalog(catalog().gpus[0]);
        job.plan = tests::random_legal_plan(random, job.model);
        const Json names = {{"MASTER_ADDR", "a"}, {"NODE_RANK", "0"}, {"DATA_ARGS", ""}, {"TRAINING_ARGS", ""}};
        const Json script = tests::read_answer({{"text", megatron_script(job).text}, {"set", names}})["jobs"][0];
        Json entries = Json::array();
        for (const Json& one : script["keys"])
            entries.push_back({{"key", "MODEL_ARGS." + one["key"].get<std::string>()}, {"value", one["value"]}});
        const Json answer =
            tests::read_answer({{"entries", entries}, {"set", {{"gpus", script["job"].value("gpus", Json(0)).dump()}}}})["jobs"][0];
        Json expected = script["job"];
        expected.erase("gpus_per_node");  // the launcher's
        CHECK_MESSAGE(answer["job"] == expected, Json::diff(expected, answer["job"]).dump());
    }
}
