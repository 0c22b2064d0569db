// Configurations for the other frameworks: what is written for a plan is read as that plan, and nothing of it is dropped unsaid.
#include <set>
#include <string>

#include "changed_fields.h"
#include "formats/formats.h"
#include "model/catalog.h"
#include "plan/framework.h"
#include "random_cases.h"
#include "settings.h"

using namespace fourfold;
using tests::json;

namespace {

// Fields that have no effect in a plan, and that a file need not say.
bool is_idle(const std::string& field, const Plan& plan) {
    const bool alone = plan.zero != Zero::none && plan.data_parallel() == plan.shard_replicas;  // nothing is shared out
    if (field == "zero" || field == "shard_replicas") return alone || plan.zero == Zero::none;
    if (field == "tensor_overlap" || field == "sequence_parallel") return plan.tensor_parallel == 1;
    if (field == "context_parallel_kind") return plan.context_parallel == 1;
    return false;
}

// What import_plan() reads of it.
Json read_back(const Export& made) {
    const bool script = made.text.starts_with("#!") || made.text.find('=') < made.text.find('\n');
    const bool is_toml = made.text.starts_with("[");
    return tests::read_answer(script && !is_toml ? Json{{"text", made.text}, {"set", Json::object()}}
                                                 : Json{{"entries", tests::entries_of(made)}, {"set", Json::object()}});
}

constexpr const char* kPerStage = "parallelism.pipeline_parallel_layers_per_stage";
constexpr const char* kEveryLayer = "activation_checkpoint.selective_ac_option";  // of how many layers the model says

// Llama 3 and 3.1 are one to some.
void check_model(const Json& read, const Model& model) {
    Problems problems;
    ImportReport report;
    const auto* id = read.get_ptr<const Json::string_t*>();
    const CatalogModel* known = id == nullptr ? nullptr : catalog().model(*id);
    const auto given = known != nullptr ? std::optional(known->model) : read_model(read, "", problems, report);
    REQUIRE(given);
    CHECK_MESSAGE(parameter_count(*given) == parameter_count(model), read.dump());
    CHECK_MESSAGE((given->layers == model.layers && given->hidden == model.hidden), read.dump());
}

struct Law {
    const char* format;
    Export (*write)(const Job&);
    std::set<std::string> says;  // fields that are read back of some plan
};

std::set<std::string> with(std::set<std::string> all, const std::set<std::string>& others) {
    all.insert(others.begin(), others.end());
    return all;
}

}  // namespace

TEST_CASE("law: what is written for a plan is read as that plan, in every field that the format says") {
    const std::set<std::string> degrees = {"tensor_parallel", "context_parallel", "pipeline_parallel"};
    // What both of its front ends say.
    const std::set<std::string> megatron_core = {"sequence_length",
                                                 "micro_batch",
                                                 "global_batch",
                                                 "zero",
                                                 "virtual_stages",
                                                 "expert_parallel",
                                                 "expert_tensor_parallel",
                                                 "recompute",
                                                 "recompute_modules",
                                                 "recompute_layers",
                                                 "precision",
                                                 "gradients_in_fp32",
                                                 "moments",
                                                 "optimizer_offload",
                                                 "attention",
                                                 "loss",
                                                 "tensor_overlap",
                                                 "sequence_parallel",
                                                 "overlap_gradients",
                                                 "overlap_parameters",
                                                 "trained",
                                                 "lora_rank",
                                                 "lora_targets",
                                                 "lora_dropout"};
    std::set<std::string> without_attention = with(megatron_core, {"gpus", "gpus_per_node"});
    without_attention.erase("attention");
    const Law laws[] = {
        {"torchtitan",
         torchtitan_toml,
         {"gpus", "sequence_length", "micro_batch", "global_batch", "zero", "shard_replicas", "virtual_stages", "expert_parallel",
          "expert_tensor_parallel", "recompute", "recompute_layers", "precision", "gradients_in_fp32", "framework", "schedule"}},
        {"nanotron",
         nanotron_yaml,
         {"gpus", "sequence_length", "micro_batch", "global_batch", "zero", "expert_parallel", "virtual_stages", "sequence_parallel",
          "tensor_overlap", "recompute", "precision", "gradients_in_fp32", "schedule"}},
        {"deepspeed",
         deepspeed_json,
         {"micro_batch", "global_batch", "zero", "optimizer_offload", "precision", "gradients_in_fp32", "overlap_gradients", "framework"}},
        {"accelerate", accelerate_yaml, {"gpus", "gpus_per_node", "zero", "recompute", "precision", "framework"}},
        {"megatron-bridge", bridge_overrides, with(megatron_core, {"shard_replicas", "optimizer"})},
        {"nemo-2", nemo2_command, without_attention},
    };
    tests::Random random(23);
    for (const Law& law : laws) {
        INFO(std::string(law.format));
        std::set<std::string> met;
        for (int i = 0; i < (tests::kSlowBuild ? 40 : tests::every_job() ? 10'000 : 1'500); ++i) {
            const auto& models = catalog().models;
            Job job;
            job.model = models[static_cast<std::size_t>(random.from(0, static_cast<std::int64_t>(models.size()) - 1))].model;
            job.gpu = of_catalog(catalog().gpus[0]);
            job.plan = tests::random_legal_plan(random, job.model);
            job.plan.gpus /= job.plan.tensor_columns;  // no format says them: export_problems()
            job.plan.tensor_columns = 1;
            tests::drop_idle_modules(job.model, job.plan);
            if (i % 8 == 5) job.plan.optimizer = Optimizer::muon;
            if (i % 8 == 3) job.plan.trained = TrainedPart::lora, job.plan.lora_rank = 8 + i % 64, job.plan.lora_dropout = i % 3 == 0;
            if (i % 16 == 3) job.plan.lora_targets = lora_query | lora_key | lora_value | (i % 5 == 0 ? 0U : lora_gate | lora_up);
            if (law.format == std::string("accelerate")) job.plan.framework = FrameworkKind::transformers;
            const Export made = law.write(job);
            const Json answer = read_back(made);
            CHECK(answer["format"] == law.format);
            const Json& read = answer["jobs"][0];
            Json fields = Json::object();
            visit_fields(job.plan, FieldWriter(fields));
            if (fields["expert_dispatch"] == "auto")
                fields["expert_dispatch"] = framework_of(job.model, job.plan, *job.gpu).sends_once ? "deepep" : "all_to_all";
            const std::set<std::string> left_out = tests::left_out_fields(made);
            // Layers by stage tell the chunks of a model whose layers are known.
            // The reader takes a recipe's word of fp8 for numbers alone, whatever that recipe does with the weights.
            const bool words = law.format == std::string("megatron-bridge") || law.format == std::string("nemo-2");
            const bool worded = words && job.plan.precision == Precision::fp8_weights;
            const bool unnamed = law.format == std::string("torchtitan") && !read["job"].contains("model");
            for (const auto& entry : read["job"].items()) {
                const std::string& field = entry.key();
                if (field == "model") {
                    check_model(entry.value(), job.model);
                    continue;
                }
                if (worded && field == "precision") continue;
                if (field == "token_budget" && entry.value() == 0 && job.plan.freezes()) continue;  // adapters: how long, nobody said
                if (left_out.contains(field) || is_idle(field, job.plan) || (unnamed && field == "virtual_stages")) continue;
                met.insert(field);
                const std::string both = field + " " + fields[field].dump() + " " + entry.value().dump() + "\n" + made.text;
                CHECK_MESSAGE(fields[field] == entry.value(), std::string(both));
            }
            CHECK_MESSAGE(read["refused"].empty(), std::string(read["refused"].dump() + made.text));
            for (const Json& key : read["keys"])
                CHECK_MESSAGE((key["fate"] != "unknown" || !key["names"].empty() ||
                               (unnamed && (key["key"] == kPerStage || key["key"] == kEveryLayer))),
                              key.dump());
        }
        if (tests::kSlowBuild) continue;  // too few plans are drawn there to meet every field
        for (const std::string& field : law.says) CHECK_MESSAGE(met.contains(field), std::string(field));
        for (const std::string& field : degrees) CHECK_MESSAGE(met.contains(field), std::string(field));
    }
}

// Llama 3.1 8B on 16 GPUs, everything set as a plan usually has it.
static Json usual() {
    return json(
        R"({"model": "llama-3.1-8b", "gpus": 16, "sequence_length": 8192, "global_batch": 64, "micro_batch": 1, "tensor_parallel": 2,
                    "pipeline_parallel": 2, "context_parallel": 1, "virtual_stages": 1, "schedule": "1f1b", "layout": "equal", "zero": "optimizer",
                    "recompute": "none", "recompute_layers": 1, "moments": "fp32", "sequence_parallel": true, "expert_parallel": 1,
                    "expert_tensor_parallel": 1})");
}

TEST_CASE("a file is of one framework: its own, or of the plan's release of Megatron") {
    const auto runs_it = [](const char* format, const char* framework) {
        Json request = usual();
        request["format"] = format;
        request["framework"] = framework;
        return json(api::export_plan(request.dump()))["framework"].get<std::string>();
    };
    CHECK(runs_it("nanotron", "megatron-2025") == "nanotron");
    CHECK(runs_it("torchtitan", "pytorch") == "pytorch");
    CHECK(runs_it("megatron-lm", "megatron-2024") == "megatron-2024");
    CHECK(runs_it("nemo-2", "nanotron") == "megatron-2025");
}

TEST_CASE("law: a plan that no framework can run is written for none") {
    Json grid = usual();
    grid["tensor_columns"] = 2;
    grid = json(api::estimate(grid.dump()))["job"];
    for (const char* format : {"megatron", "torchtitan", "nanotron", "deepspeed", "accelerate", "megatron-bridge", "nemo-2"}) {
        grid["format"] = format;
        const Json refused = json(api::export_plan(grid.dump()));
        CHECK(refused["problems"][0]["message"]["id"] == "problem.export_grid");
        CHECK(tests::answer_defect(refused, "export_plan") == "");
    }
}

TEST_CASE("law: no format drops a field of a plan unsaid" * doctest::test_suite("quality")) {
    for (const char* format : {"torchtitan", "nanotron", "deepspeed", "accelerate", "megatron-bridge", "nemo-2"}) {
        const bool knows_nodes = format == std::string("accelerate") || format == std::string("nemo-2");
        for (const tests::Changed& one : tests::kChanged) {
            const std::string field = one.field;
            if (field == "gpus_per_node" && !knows_nodes) continue;  // what starts the program says it
            if (field.starts_with("count_")) continue;               // of a single stage, as it stands there, without effect
            const auto with = [&](const char* more) {
                Json request = usual();
                for (const char* changes : {one.where, more}) request.update(json(changes));
                request = json(api::estimate(request.dump()))["job"];
                request["format"] = format;
                return json(api::export_plan(request.dump()));
            };
            const Json before = with("{}"), after = with((std::string("{\"") + one.field + "\": " + one.value + "}").c_str());
            REQUIRE_MESSAGE((before["ok"] == true && after["ok"] == true), one.field, after.dump());
            const std::string which = std::string(format) + " " + one.field;
            CHECK_MESSAGE((before["text"] != after["text"] || before["left_out"] != after["left_out"]), std::string(which));
        }
    }
}
