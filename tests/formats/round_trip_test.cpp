// What a file says of a plan makes the plan's numbers again, once what the writer lists as left out is said beside it.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include "contract.h"
#include "formats/formats.h"
#include "model/catalog.h"
#include "plan/framework.h"
#include "random_cases.h"
#include "settings.h"

using namespace fourfold;
using tests::json;

namespace {

Json read_again(const Export& made, const std::string& model, std::int64_t gpus) {
    Json set = {{"MASTER_ADDR", "a"}, {"NODE_RANK", "0"}, {"DATA_ARGS", ""}, {"TRAINING_ARGS", ""}, {"gpus", std::to_string(gpus)}};
    for (const Text& text : made.left_out)
        if (text.id() == "export.left_out.model") set["model"] = model;
    const bool script = made.text.starts_with("#!") || made.settings.empty();
    return tests::read_answer(script ? Json{{"text", made.text}, {"set", set}}
                                     : Json{{"entries", tests::entries_of(made)}, {"set", set}})["jobs"][0];
}

// What a writer lists beside single fields, and the fields that it is about.
constexpr std::pair<const char*, const char*> kListed[] = {
    {"adapters", "trained,lora_rank,lora_targets,lora_dropout,frozen_weights,"},
    {"kv_heads", "tensor_parallel,"},
    {"pipeline_parallel",
     "virtual_stages,virtual_stage_group,schedule,layout,first_stage_layers,last_stage_layers,count_embedding_as_layer,"
     "count_loss_as_layer,overlap_pipeline,"},
    {"expert_parallel", "expert_tensor_parallel,"},
    {"recompute", "recompute_layers,recompute_modules,"},
    {"virtual_stages", "virtual_stage_group,overlap_pipeline,layout,"},  // of chunks that are not there
};
// Of a model, it has no argument for them.
constexpr const char* kOfModels[] = {"model",           "gelu_gate",      "norms",  "window", "qk_norm_whole",
                                     "attention_sinks", "embedding_norm", "mixers", "biases"};

void add_listed(Json& request, const Json& asked, const Export& made) {
    std::set<std::string> listed = tests::left_out_fields(made);
    for (const Text& text : made.left_out) {
        const std::string id = std::string(text.id()).substr(std::string_view("export.left_out").size());
        if (!id.empty()) listed.insert(id.substr(1));
    }
    for (const char* one : kOfModels)
        if (listed.contains(one)) request["model"] = asked["model"];
    for (const auto& [said, fields] : kListed) {
        if (!listed.contains(said)) continue;
        const std::string all = fields;
        for (std::size_t at = 0, end = 0; (end = all.find(',', at)) != std::string::npos; at = end + 1)
            listed.insert(all.substr(at, end - at));
    }
    for (const std::string& field : listed)
        if (asked.contains(field)) request[field] = asked[field];
}

// Of the estimate alone, or of the machine; what starts a program says how many GPUs there are.
bool is_beside(const std::string& field) {
    return field.starts_with("measured_") || field.starts_with("site") || field.starts_with("memory_") || field.starts_with("time_") ||
           field == "gpus_per_node" || field == "gpus" || field == "nvme_gbyte_per_s" || field == "host_memory_gib" || field == "leave_out";
}

bool near(const Json& a, const Json& b) {
    constexpr double kPart = 1e-3;
    return a.is_number() && b.is_number() && std::abs(a.get<double>() - b.get<double>()) <= kPart * std::abs(a.get<double>());
}

std::string differences(const Json& a, const Json& b) {
    std::string all;
    for (const char* one : {"total_bytes", "step_seconds"}) all += " " + std::to_string(b[one].get<double>() / a[one].get<double>());
    for (const auto& [field, value] : a["job"].items())
        if (field != "model" && b["job"][field] != value) all += " " + field + ": " + value.dump() + " " + b["job"][field].dump();
    return all;
}

// Why what is read of a file is refused where only what is asked for is added; "": it is not.
std::string runs_alone(Json request, const Json& read, const Json& asked) {
    for (const Json& field : read["asked"]) request[field.get<std::string>()] = asked[field.get<std::string>()];
    if (!request.contains("model")) request["model"] = asked["model"];
    if (!request.contains("gpus")) request["gpus"] = asked["gpus"];
    const Json answer = json(api::estimate(request.dump()));
    return (answer["ok"] == true ? "" : answer["problems"].dump()) + (read["refused"].empty() ? "" : read["refused"].dump());
}

struct Target {
    const char* name;
    Export (*write)(const Job&);
    FrameworkKind framework;
};
constexpr Target kTargets[] = {
    {"megatron", megatron_script, FrameworkKind::megatron_2025}, {"bridge", bridge_overrides, FrameworkKind::megatron_2025},
    {"nemo-2", nemo2_command, FrameworkKind::megatron_2025},     {"torchtitan", torchtitan_toml, FrameworkKind::pytorch},
    {"nanotron", nanotron_yaml, FrameworkKind::nanotron},        {"deepspeed", deepspeed_json, FrameworkKind::pytorch},
    {"accelerate", accelerate_yaml, FrameworkKind::transformers}};

}  // namespace

TEST_CASE("law: round trip: a file makes the plan's memory and time again, but for what its writer lists") {
    tests::Random random(41);
    for (const Target& target : kTargets) {
        int compared = 0;
        for (int i = 0; i < (tests::kSlowBuild ? 5 : tests::every_job() ? 10'000 : 300); ++i) {
            const auto& models = catalog().models;
            Job job;
            job.model = models[static_cast<std::size_t>(random.from(0, static_cast<std::int64_t>(models.size()) - 1))].model;
            job.gpu = of_catalog(catalog().gpus[0]);
            job.plan = tests::random_legal_plan(random, job.model);
            job.plan.gpus /= std::exchange(job.plan.tensor_columns, 1);
            if (i % 2 == 1 && job.plan.schedule != ScheduleKind::one_f_one_b)  // micro-batches in no groups
                job.plan.global_batch += job.plan.micro_batch * job.plan.data_parallel() * row_of(job.plan.schedule).batches_by;
            tests::drop_idle_modules(job.model, job.plan);
            job.plan.framework = target.framework;
            if (job.model.learned_positions && job.model.max_positions < job.plan.sequence_length) continue;  // it has no such tokens
            Json asked = Json::object();
            visit_fields(job.plan, FieldWriter(asked));
            asked["model"] = job.model.id;
            asked["gpu"] = catalog().gpus[0].id;
            const Json before = json(api::estimate(asked.dump()));
            if (before["ok"] != true) continue;
            const Export made = target.write(job);
            const Json read = read_again(made, std::string(job.model.id), job.plan.gpus);
            Json request = read["job"];
            request["gpu"] = asked["gpu"];
            const bool whole = made.text.find("tensor") != std::string::npos && target.write != deepspeed_json;  // but for the model
            const std::string again = whole ? runs_alone(request, read, asked) : "";
            CHECK_MESSAGE(again.empty(), (std::string(target.name) + " " + std::string(job.model.id) + again + "\n" + made.text));
            for (const auto& [field, value] : asked.items())
                if (is_beside(field)) request[field] = value;
            add_listed(request, asked, made);
            const Json after = json(api::estimate(request.dump()));
            ++compared;
            const std::string both = std::string(target.name) + " " + std::string(job.model.id) +
                                     (after["ok"] == true ? differences(before, after) : after.dump()) + "\n" + made.text;
            CHECK_MESSAGE((near(before["total_bytes"], after["total_bytes"]) && near(before["step_seconds"], after["step_seconds"])), both);
        }
        CHECK(compared > 0);
    }
}

TEST_CASE("round trip: keys that say parts, experts and what waits on the host") {
    const std::string titan =
        "model.name = \"llama3\"\nmodel.flavor = \"8B\"\ntraining.local_batch_size = 4\ntraining.seq_len = 8192\n"
        "parallelism.data_parallel_shard_degree = 2\nparallelism.pipeline_parallel_degree = 2\n"
        "parallelism.pipeline_parallel_schedule = \"Interleaved1F1B\"\n";
    const std::string part = "parallelism.module_fqns_per_model_part.";
    const auto parts = [&](const char* second) {
        return tests::first_of(titan + part + R"(0 = ["tok_embeddings", "layers.0"])" + "\n" + part + "1 = " + second + "\n" + part +
                               R"(2 = ["layers.3"])" + "\n" + part + R"(3 = ["layers.4", "norm", "output"])" + "\n");
    };
    CHECK(tests::some(parts(R"(["layers.1", "layers.2"])"), {"layout", "virtual_stages"}) == R"(layout="Et|tt|t|tL" virtual_stages=2)");
    const Json lost = parts(R"(["layers.2"])");  // in another order
    CHECK(tests::some(lost, {"layout"}) == "layout=?");
    CHECK(tests::fate(lost, part + "1") == "unknown 9");
    // groups of experts are shared out where one copy of the rest is, and nothing is (ParallelDims, ep_enabled)
    const std::string alone =
        "training.seq_len = 4096\nparallelism.data_parallel_shard_degree = 1\n"
        "parallelism.tensor_parallel_degree = 8\nparallelism.expert_parallel_degree = ";
    CHECK(tests::some(tests::first_of(alone + "8\n"), {"zero"}) == R"(zero="weights")");
    CHECK(tests::some(tests::first_of(alone + "1\n"), {"zero"}) == R"(zero="none")");
    const std::string megatron =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 256 --num-attention-heads 4 --seq-length 256 "
        "--max-position-embeddings 256 --micro-batch-size 1 --bf16 --vocab-size 1000 ";
    CHECK(tests::some(tests::first_of_script(megatron + "--num-experts 8\n"), {"grouped_gemm"}) == R"(grouped_gemm="off")");
    CHECK(tests::some(tests::first_of_script(megatron + "--num-experts 8 --moe-grouped-gemm\n"), {"grouped_gemm"}) ==
          R"(grouped_gemm="on")");
    CHECK(tests::some(tests::first_of_script(megatron + "--transformer-impl local\n"), {"attention", "transformer_engine"}) ==
          R"(attention="plain" transformer_engine="off")");
}

TEST_CASE("round trip: what waits on the host has keys, where all of it does") {
    const auto text_of = [](const char* format, const char* more) {
        Json request = json(R"({"model": "llama-3.1-8b", "gpus": 16, "global_batch": 64, "micro_batch": 1, "tensor_parallel": 1,
                                "pipeline_parallel": 1, "context_parallel": 1, "zero": "weights", "weights_offload": true})");
        request.update(json(more));
        request = json(api::estimate(request.dump()))["job"];
        request["format"] = format;
        const Json answer = json(api::export_plan(request.dump()));
        return answer.value("text", answer.dump());
    };
    const auto has = [](const std::string& text, const char* key) { return text.find(key) != std::string::npos; };
    const char* const all = R"({"framework": "pytorch", "optimizer_offload": 1})";
    CHECK(has(text_of("torchtitan", all), "enable_cpu_offload = true"));
    CHECK_FALSE(has(text_of("torchtitan", R"({"framework": "pytorch", "optimizer_offload": 0.5})"), "enable_cpu_offload"));
    CHECK(has(text_of("accelerate", R"({"framework": "transformers", "optimizer_offload": 1})"), "fsdp_offload_params: true"));
    CHECK(has(text_of("accelerate", R"({"framework": "transformers", "optimizer_offload": 1, "zero": "optimizer"})"),
              "offload_optimizer_device: cpu"));
    CHECK(has(text_of("torchtitan", R"({"framework": "pytorch", "tensor_parallel": 2, "loss": "gathered"})"),
              "disable_loss_parallel = true"));
}

TEST_CASE("round trip: chunks of a schedule that Megatron lacks are written where its own order takes them") {
    const auto text_of = [](std::int64_t batch) {
        Json request = json(api::estimate(Json{
            {"model", "llama-2-7b"},
            {"gpus", 3},
            {"pipeline_parallel", 3},
            {"tensor_parallel", 1},
            {"context_parallel", 1},
            {"micro_batch", 1},
            {"schedule", "dualpipev"},
            {"global_batch", batch}}.dump()))["job"];
        request["format"] = "megatron-lm";
        return json(api::export_plan(request.dump()));
    };
    const auto fields_of = [](const Json& answer) {
        std::string all;
        for (const Json& text : answer["left_out"]) {
            const Json field = text.value("args", Json::object()).value("field", Json::object());
            if (field.contains("id")) all += field["id"].get<std::string>() + " ";
        }
        return all;
    };
    const Json groups = text_of(12), odd = text_of(13);
    CHECK(groups["text"].get<std::string>().find("'Et*6|t*6|(t*5|)*3t*5L'") != std::string::npos);
    CHECK(fields_of(groups).find("virtual_stages") == std::string::npos);
    CHECK(odd["text"].get<std::string>().find("'Et*11|t*11|t*10L'") != std::string::npos);
    CHECK(fields_of(odd).find("field.virtual_stages") != std::string::npos);
    CHECK(fields_of(odd).find("field.schedule") != std::string::npos);
}
