// nanotron's YAML at 2411b022a: src/nanotron/config. The product of the degrees is the number of GPUs there.
#include "formats/keys.h"
#include "formats/write/writing.h"

namespace fourfold {

namespace {

using To = Settings;
using Name = std::string_view;

constexpr const char* kSizes[] = {"hidden_size",         "intermediate_size", "num_hidden_layers",  "num_attention_heads",
                                  "num_key_value_heads", "vocab_size",        "tie_word_embeddings"};

// Whether two models are one but for their names. Experts have keys in some families alone.
bool same_shape(const Model& a, const Model& b) {
    const auto plain = [&](Model model) {
        model.type = a.type;
        model.label.clear();
        return canonical_config(model);
    };
    return a.experts.count == 0 && b.experts.count == 0 && plain(a) == plain(b) && parameter_count(a) == parameter_count(b);
}

// Its model is Llama: another one of the same shape is written as such. Its Qwen2 is the same, but may have biases and alone splits
// sequences, by a kernel of its own (models/qwen.py, nn/attention.py).
void write_model(To& to) {
    const Json all = canonical_config(to.model);
    const bool biased = to.model.qkv_bias, splits = to.plan.context_parallel > 1;
    Json config = {{"model_type", biased ? "qwen2" : "llama"}};
    for (const char* key : kSizes) config[key] = all[key];
    if (all.contains("max_position_embeddings")) config["max_position_embeddings"] = all["max_position_embeddings"];
    Problems problems;
    ImportReport report;
    const auto same = read_model(config, "", problems, report);
    if (!same || !same_shape(*same, to.model)) return leave_model(to);
    to.put(biased || splits ? "model.model_config.is_qwen2_config" : "model.model_config.is_llama_config", true);
    config.erase("model_type");
    if (biased) config["attention_bias"] = true;
    if (splits) config["_attn_implementation"] = "llama3_ring_attention";
    for (const auto& [key, value] : config.items()) to.put("model.model_config." + key, value);
    to.leave_out("export.left_out.config");
}

void write_degrees(To& to, Name) {
    for (const DegreeRow& row : kNanotronDegrees) {
        const std::string_view field = row.field;
        if (field == "data_parallel")
            to.put(row.key, to.plan.data_parallel());
        else if (field != "expert_parallel" || to.model.experts.count > 0)
            to.put(row.key, to.value_of(field));
    }
}

void write_batch(To& to, Name) {
    to.put("tokens.micro_batch_size", to.plan.micro_batch);
    to.put("tokens.batch_accumulation_per_replica", to.plan.micro_batches());
}

// It has no interleaving. Its 1F1B refuses fewer micro-batches than one less than there are stages (pipeline_parallel/engine.py); then all
// of them are on their way at once in both.
void write_stages(To& to, Name field) {
    const Plan& p = to.plan;
    if (p.virtual_stages > 1) to.leave_field(field);
    if (p.pipeline_parallel == 1) return;
    // it divides the layers by what they cost (trainer.py, init_model)
    const Layout even = weights_layout(to.model, p.pipeline_parallel);
    const auto uneven = [&] {
        for (std::size_t i = 1; i < even.chunks(); ++i)
            if (even.at(i) != even.at(0)) return true;
        return has_uneven_ends(p);
    };
    if (p.layout || (p.split != Split::weights && uneven())) to.leave_field("layout");
    const bool all = p.schedule == ScheduleKind::gpipe, few = p.micro_batches() < p.pipeline_parallel - 1;
    to.put("parallelism.pp_engine", all || few ? "afab" : "1f1b");
    if (few && !all)
        to.leave_field("schedule");
    else if (!all)
        to.leave_changed("schedule");
}

void write_sequence(To& to, Name) { to.put("parallelism.tp_mode", to.plan.sequence_parallel ? "REDUCE_SCATTER" : "ALL_REDUCE"); }

// With REDUCE_SCATTER alone.
void write_tensor_overlap(To& to, Name field) {
    const bool can = to.plan.tensor_overlap && to.plan.sequence_parallel;
    to.put("parallelism.tp_linear_async_communication", can);
    if (to.plan.tensor_overlap && !can) to.leave_field(field);
}

void write_zero(To& to, Name field) {
    to.put("optimizer.zero_stage", to.plan.zero == Zero::none ? 0 : 1);
    if (to.plan.shards_gradients()) to.leave_field(field);
}

// All layers or none: where the plan recomputes less, all of them need no more memory.
void write_recompute(To& to, Name field) {
    const Recompute recompute = to.plan.recompute;
    to.put("parallelism.recompute_layer", recompute != Recompute::none);
    if (recompute != Recompute::full && recompute != Recompute::none) to.leave_field(field);
}

void write_precision(To& to, Name field) {
    const Precision precision = to.plan.precision;
    to.put("model.dtype", precision == Precision::fp16 ? "float16" : "bfloat16");
    if (precision == Precision::fp8 || precision == Precision::fp8_weights) to.leave_field(field);
}

constexpr SettingRow kRows[] = {
    {"gpus", nullptr},
    {"gpus_per_node", nullptr},  // what starts it says it
    {"tensor_parallel", write_degrees},
    {"pipeline_parallel", nullptr},
    {"context_parallel", nullptr},
    {"expert_parallel", nullptr},
    {"virtual_stages", write_stages},
    {"schedule", nullptr},
    {"layout", nullptr},
    {"sequence_parallel", write_sequence},
    {"tensor_overlap", write_tensor_overlap},
    {"gathered_inputs",
     [](To& to, Name) {
         if (to.plan.gathered_inputs != Habit::automatic)
             to.put("parallelism.tp_recompute_allgather", to.plan.gathered_inputs == Habit::off);
     }},
    {"recompute", write_recompute},
    {"sequence_length", [](To& to, Name field) { to.put("tokens.sequence_length", to.value_of(field)); }},
    {"micro_batch", write_batch},
    {"global_batch", nullptr},
    {"zero", write_zero},
    {"gradients_in_fp32", [](To& to, Name field) { to.put("optimizer.accumulate_grad_in_fp32", to.value_of(field)); }},
    {"precision", write_precision},
    {"framework", [](To& to, Name) { leave_framework(to, FrameworkKind::nanotron); }},
};

}  // namespace

Export nanotron_yaml(const Job& job) {
    Settings to(job);
    write_rows(to, kRows);
    write_model(to);
    return made_of(to, yaml_text(to.list));
}

}  // namespace fourfold
