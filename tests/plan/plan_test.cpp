// The rules of a split: each broken alone, several at once, and whether the values that are suggested work.
#include "plan/rules.h"

#include <doctest/doctest.h>

#include "random_cases.h"
#include "support.h"

using namespace fourfold;
using tests::brief;
using tests::json;

namespace {

Model model_of(const char* config) {
    Problems problems;
    ImportReport report;
    const auto model = read_model(json(config), "", problems, report);
    CHECK(brief(problems) == "");
    return model ? *model : Model{};
}

Model llama_8b() {
    return model_of(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072})");
}

// 16 GPUs as TP 2, PP 2, DP 4, changed by `changes`.
Plan plan_of(const char* changes) {
    Plan plan;
    Problems problems;
    Json object = json(R"({"gpus": 16, "gpus_per_node": 8, "sequence_length": 8192, "global_batch": 64, "tensor_parallel": 2,
                           "context_parallel": 1, "pipeline_parallel": 2, "micro_batch": 1})");
    object.update(json(changes));
    FieldReader reader(object, problems);
    visit_fields(plan, reader);
    reader.reject_unknown();
    CHECK(brief(problems) == "");
    return plan;
}

std::string broken(const Model& model, const char* changes) { return brief(broken_rules(model, plan_of(changes))); }
std::string broken(const char* changes) { return broken(llama_8b(), changes); }
std::string warned(const char* changes) { return brief(warnings(llama_8b(), plan_of(changes))); }

}  // namespace

TEST_CASE("legal plans break no rule") {
    for (const char* changes :
         {"{}", R"({"tensor_parallel": 8, "pipeline_parallel": 1})", R"({"gpus": 64, "context_parallel": 8})", R"({"virtual_stages": 4})",
          R"({"virtual_stages": 16})", R"({"attention": "plain", "attention_dropout": true})",
          R"({"gpus": 64, "tensor_parallel": 32, "sequence_length": 64})",  // more TP than KV heads: they are copied
          R"({"gpus": 1, "tensor_parallel": 1, "pipeline_parallel": 1, "global_batch": 1, "sequence_length": 1})"}) {
        CAPTURE(std::string(changes));
        CHECK(broken(changes) == "");
        CHECK(is_legal(llama_8b(), plan_of(changes)));
    }
}

TEST_CASE("each rule, broken alone, is named with its field, the value given and the nearest that works") {
    CHECK(broken(R"({"gpus": 112, "tensor_parallel": 56, "sequence_length": 7168, "global_batch": 112})") ==
          "tensor_parallel heads_divide 56 -> 8");
    const Model odd = model_of(R"({"hidden_size": 3072, "intermediate_size": 8448, "num_hidden_layers": 28, "num_attention_heads": 24,
                                   "num_key_value_heads": 8, "vocab_size": 128256})");
    CHECK(broken(odd, R"({"gpus": 24, "tensor_parallel": 12, "pipeline_parallel": 1, "sequence_length": 6144, "global_batch": 96})") ==
          "tensor_parallel kv_heads_divide 12 -> 8");
    const Model qwen = model_of(R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
                                    "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064})");
    CHECK(broken(qwen, R"({"gpus": 28, "tensor_parallel": 28, "pipeline_parallel": 1, "sequence_length": 7168, "global_batch": 28})") ==
          "tensor_parallel ffn_divides 28 -> 4");
    CHECK(broken(R"({"gpus": 18})") == "gpus gpus_divide 18 -> 16");
    CHECK(broken(R"({"gpus": 19})") == "gpus gpus_divide 19 -> 16");  // 20 = 4 x 5 copies, of which 64 is no multiple
    CHECK(broken(R"({"gpus": 1})") == "gpus gpus_divide 1 -> 4");
    CHECK(broken(R"({"gpus": 12, "tensor_parallel": 1, "pipeline_parallel": 3, "global_batch": 48})") ==
          "pipeline_parallel layers_divide 3 -> 4");
    CHECK(broken(R"({"virtual_stages": 3})") == "pipeline_parallel layers_divide 2 -> null");
    CHECK(broken(R"({"sequence_length": 8191, "tensor_parallel": 2})") == "tensor_parallel sequence_divides 2 -> 1");
    CHECK(broken(R"({"gpus": 64, "context_parallel": 16, "sequence_length": 8176})") == "context_parallel sequence_divides 16 -> 8");
    CHECK(broken(R"({"context_parallel": 2, "attention": "plain"})") == "attention context_needs_flash \"plain\" -> \"flash\"");
    CHECK(broken(R"({"expert_parallel": 2})") == "expert_parallel experts_divide 2 -> 1");
    CHECK(broken(R"({"expert_tensor_parallel": 2})") == "expert_tensor_parallel experts_divide 2 -> 1");
    CHECK(broken(R"({"schedule": "gpipe", "virtual_stages": 2})") == "virtual_stages schedule_has_chunks 2 -> 1");
    CHECK(broken(R"({"schedule": "zb-v"})") == "virtual_stages schedule_has_chunks 1 -> 2");
    CHECK(broken(R"({"schedule": "zb-v", "virtual_stages": 2, "global_batch": 12})") == "global_batch schedule_needs_batches 12 -> 16");
    CHECK(broken(R"({"schedule": "dualpipe"})") == "");
    CHECK(broken(R"({"schedule": "dualpipe", "virtual_stages": 2})") == "virtual_stages schedule_has_chunks 2 -> 1");
    CHECK(broken(R"({"schedule": "dualpipe", "pipeline_parallel": 1, "gpus": 8, "tensor_parallel": 8})") ==
          "pipeline_parallel schedule_needs_stages 1 -> 2");
    CHECK(
        broken(
            R"({"schedule": "dualpipe", "tensor_parallel": 1, "pipeline_parallel": 3, "gpus": 24, "global_batch": 96, "first_stage_layers": 10})") ==
        "pipeline_parallel schedule_needs_stages 3 -> 2");
    CHECK(broken(R"({"schedule": "dualpipe", "global_batch": 12})") == "global_batch schedule_needs_batches 12 -> 16");
    CHECK(broken(R"({"schedule": "dualpipe", "global_batch": 20})") == "global_batch schedule_needs_batches 20 -> 24");
    CHECK(broken(R"({"schedule": "dualpipev"})") == "virtual_stages schedule_has_chunks 1 -> 2");
    CHECK(broken(R"({"schedule": "dualpipev", "virtual_stages": 2, "global_batch": 12})") ==
          "global_batch schedule_needs_batches 12 -> 16");
    CHECK(broken(R"({"schedule": "dualpipev", "virtual_stages": 2, "global_batch": 20})") == "");
    CHECK(broken(R"({"shard_replicas": 3})") == "shard_replicas replicas_divide 3 -> 4");
    CHECK(broken(R"({"first_stage_layers": 31, "pipeline_parallel": 4, "gpus": 32})") == "pipeline_parallel layers_divide 4 -> 2");
    CHECK(broken(R"({"first_stage_layers": 7, "last_stage_layers": 5, "pipeline_parallel": 4, "gpus": 32})") == "");
    CHECK(broken(R"({"count_embedding_as_layer": true, "count_loss_as_layer": true, "pipeline_parallel": 17, "gpus": 68})") == "");
    CHECK(broken(R"({"count_embedding_as_layer": true})") == "pipeline_parallel layers_divide 2 -> 1");
    CHECK(broken(R"({"tensor_parallel": 4, "pipeline_parallel": 1, "virtual_stages": 2})") ==
          "virtual_stages interleaving_needs_stages 2 -> 1");
    const Model experts = model_of(R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2})");
    CHECK(broken(experts, R"({"expert_parallel": 6, "gpus": 24, "global_batch": 60})") == "expert_parallel experts_divide 6 -> 4");
    CHECK(broken(experts, R"({"expert_parallel": 8, "expert_tensor_parallel": 2})") == "expert_parallel expert_gpus_divide 8 -> 4");
    CHECK(broken(experts, R"({"expert_parallel": 4, "expert_overlap": true})") == "expert_overlap overlap_applies true -> false");
    CHECK(broken(experts, R"({"expert_parallel": 4, "expert_overlap": true, "virtual_stages": 4})") == "");
    CHECK(broken(experts, R"({"expert_parallel": 4, "expert_overlap": true, "tensor_parallel": 4, "pipeline_parallel": 1})") == "");
    CHECK(broken(experts, R"({"expert_parallel": 4, "expert_overlap": true, "virtual_stages": 4, "recompute": "full"})") ==
          "expert_overlap overlap_applies true -> false");
    const auto again = [&](const char* modules) {
        return broken(experts, (std::string(R"({"expert_parallel": 4, "expert_overlap": true, "virtual_stages": 4, "recompute": "selective",
                                                "recompute_modules": ")") +
                                modules + "\"}")
                                   .c_str());
    };
    CHECK(again("core_attn,moe_act") == "");
    CHECK(again("layernorm,moe") == "expert_overlap overlap_applies true -> false");
    for (const char* others : {R"({"recompute": "operations"})", R"({"recompute": "operations", "framework": "nanotron"})",
                               R"({"recompute": "operations", "framework": "pytorch", "trained": "lora"})",
                               R"({"recompute": "operations", "framework": "pytorch", "feed_forward_tiles": 2})",
                               R"({"recompute": "operations", "framework": "pytorch", "tensor_columns": 2, "gpus": 16})"})
        CHECK(broken(others) == R"(recompute operations_apply "operations" -> "full")");
    CHECK(broken(R"({"recompute": "operations", "framework": "pytorch"})") == "");
    CHECK(broken(R"({"expert_overlap": true})") == "");                                                         // no experts
    CHECK(broken(experts, R"({"expert_parallel": 4, "expert_overlap": true, "framework": "pytorch"})") == "");  // not Megatron's
    CHECK(broken(R"({"micro_batch": 3})") == "micro_batch batch_divides 3 -> 4");
    CHECK(broken(R"({"micro_batch": 64})") == "micro_batch batch_divides 64 -> 16");
    CHECK(broken(R"({"global_batch": 6})") == "global_batch batch_divides 6 -> 4");
    CHECK(broken(R"({"global_batch": 12, "virtual_stages": 4})") == "");  // 6 micro-batches on 4 stages: one group of 6
    CHECK(broken(R"({"global_batch": 12, "virtual_stages": 4, "virtual_stage_group": 4})") ==
          "virtual_stages interleaving_needs_batches 4 -> 1");
}

TEST_CASE("several broken rules all come back") {
    CHECK(broken(R"({"gpus": 15, "tensor_parallel": 3, "pipeline_parallel": 5, "sequence_length": 8191, "global_batch": 7})") ==
          "tensor_parallel heads_divide 3 -> 1\n"  // no value makes all of it legal: the nearest that keeps this rule and divides 15 GPUs
          "tensor_parallel kv_heads_divide 3 -> 1\n"
          "tensor_parallel ffn_divides 3 -> 1\n"
          "tensor_parallel sequence_divides 3 -> 1\n"
          "pipeline_parallel layers_divide 5 -> 1");
}

TEST_CASE("a suggested degree divides the GPUs where one that keeps its rule does") {
    CHECK(broken(R"({"gpus": 7, "tensor_parallel": 7, "pipeline_parallel": 1})").starts_with("tensor_parallel heads_divide 7 -> 1\n"));
    CHECK(broken(R"({"gpus": 7, "tensor_parallel": 3, "pipeline_parallel": 1})").starts_with("tensor_parallel heads_divide 3 -> 1\n"));
    CHECK(broken(R"({"gpus": 7, "tensor_parallel": 3, "pipeline_parallel": 2})")
              .starts_with("tensor_parallel heads_divide 3 -> 4\n"));  // none does
}

TEST_CASE("messages say what was expected with the numbers of the plan") {
    const Problems problems = broken_rules(llama_8b(), plan_of(R"({"gpus": 18, "micro_batch": 3})"));
    CHECK(problems.size() == 1);  // without whole copies there is no batch per copy to judge
    if (problems.empty()) return;
    CHECK(tests::said(problems[0].message) == R"(problem.gpus_divide {"context":1,"each":4,"gpus":18,"stages":2,"tensor":2})");
}

TEST_CASE("the first broken rule is the first of all of them") {
    tests::Random random(4);
    for (int i = 0; i < 500; ++i) {
        const Model model = tests::random_model(random);
        const Plan plan = tests::random_plan(random);
        const Problems all = broken_rules(model, plan);
        CHECK(is_legal(model, plan) == all.empty());
        const Problem first = first_broken_rule(model, plan);
        CHECK(first.rule == (all.empty() ? "" : all.front().rule));
        if (!all.empty()) CHECK(first.message == all.front().message);
    }
}

TEST_CASE("a suggested value keeps its rule when nothing else changes, and no nearer value is legal") {
    tests::Random random(5);
    int suggested = 0, made_legal = 0;
    for (int i = 0; i < 600; ++i) {
        const Model model = tests::random_model(random);
        const Plan plan = tests::random_plan(random);
        Json request = Json::object();
        visit_fields(plan, FieldWriter(request));
        const auto changed = [&](const std::string& field, const Json& value) {
            Json other = request;
            other[field] = value;
            Problems problems;
            Plan result;
            FieldReader reader(other, problems);
            visit_fields(result, reader);
            CHECK(brief(problems) == "");
            return result;
        };
        for (const Problem& problem : broken_rules(model, plan)) {
            if (problem.nearest.is_null()) continue;
            ++suggested;
            CAPTURE(brief(Problems{problem}));
            CAPTURE(request);
            CAPTURE(canonical_config(model));
            const Plan fixed = changed(problem.field, problem.nearest);
            for (const Problem& left : broken_rules(model, fixed)) CHECK(left.rule != problem.rule);
            if (!problem.nearest.is_number() || !is_legal(model, fixed)) continue;
            ++made_legal;
            const std::int64_t given = problem.value, nearest = problem.nearest, distance = std::abs(nearest - given);
            for (std::int64_t value = std::max<std::int64_t>(1, given - distance + 1); value < given + distance; ++value)
                if (value != given && value <= 128) CHECK_FALSE(is_legal(model, changed(problem.field, value)));
        }
    }
    CHECK(suggested > 500);
    CHECK(made_legal > 20);
}

TEST_CASE("values far from any that works still get their suggestion") {
    CHECK(broken(R"({"micro_batch": 60000})") == "micro_batch batch_divides 60000 -> 16");
    CHECK(broken(R"({"gpus": 16384, "context_parallel": 4096, "sequence_length": 2048, "global_batch": 64})") ==
          "context_parallel sequence_divides 4096 -> 1024");
}

TEST_CASE("warnings: legal, but slow or unusual") {
    CHECK(warned("{}") == "");
    CHECK(warned(R"({"tensor_parallel": 16, "pipeline_parallel": 1})") == "tensor_parallel tensor_parallel_across_nodes 16 -> null");
    CHECK(warned(R"({"tensor_parallel": 8, "gpus_per_node": 4})") == "tensor_parallel tensor_parallel_across_nodes 8 -> null");
    CHECK(warned(R"({"sequence_length": 262144})") == "sequence_length sequence_beyond_model 262144 -> null");
    CHECK(warned(R"({"sequence_length": 131072})") == "");
    CHECK(warned(R"({"gpus": 12, "global_batch": 48})") == "gpus partly_used_node 12 -> null");
    CHECK(warned(R"({"gpus": 4})") == "");  // a part of one node is no oddity
    CHECK(warned(R"({"global_batch": 4})") == "global_batch idle_stages 4 -> null");
    CHECK(warned(R"({"global_batch": 8})") == "");
}

TEST_CASE("the vocabulary is padded to a multiple of 128 per tensor rank, as Megatron does") {
    Model model;
    model.vocabulary = 128'256;  // 1,002 x 128
    CHECK(padded_vocabulary(model, 1) == 128'256);
    CHECK(padded_vocabulary(model, 2) == 128'256);
    CHECK(padded_vocabulary(model, 4) == 128'512);
    model.vocabulary = 1;
    CHECK(padded_vocabulary(model, 1) == 128);
    CHECK(padded_vocabulary(model, 3) == 384);
}
