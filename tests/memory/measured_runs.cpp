#include "memory/measured_runs.h"

namespace fourfold::tests {

const Json& measured_table(std::string_view name) {
    static std::vector<std::pair<std::string_view, Json>> parsed;
    if (parsed.empty())
        for (const embedded::File& file : embedded::measured) parsed.emplace_back(file.name, Json::parse(file.text, nullptr, false));
    for (const auto& [known, table] : parsed)
        if (known == name) return table;
    static const Json none;
    return none;
}

Model model_of_run(const Json& row, std::int64_t positions) {
    Model m;
    m.label = row[0];
    m.layers = row[1];
    m.hidden = row[2];
    m.ffn = row[3];
    m.heads = row[4];
    m.kv_heads = row[5];
    m.vocabulary = row[6];
    m.gated = row[7];
    m.head_dim = m.hidden / m.heads;
    m.type = m.gated ? "llama" : "gpt2";
    m.layer_norm = m.qkv_bias = m.attention_out_bias = m.mlp_bias = m.learned_positions = m.tied = !m.gated;
    m.max_positions = positions;
    return m;
}

void set_framework(Run& run) {
    Plan& p = run.plan;
    Model& m = run.model;
    if (run.family == "fujii" || run.family == "korthikanti" || run.family == "vtrain") p.framework = FrameworkKind::megatron_2024;
    if (run.family == "korthikanti" || run.family == "vtrain") {  // Megatron of 2021-22: GPT's dropout, fp16 gradients
        p.hidden_dropout = p.attention_dropout = true;
        p.gradients_in_fp32 = false;
        p.overlap_gradients = false;
    }
    if (run.family == "dgxc") p.attention = Attention::automatic;  // Transformer Engine chooses
    if (run.family == "hagemann") {  // a framework of its own: bf16 gradients, loss over the gathered vocabulary
        p.framework = FrameworkKind::pytorch;
        p.gradients_in_fp32 = false;
        p.loss = Loss::gathered;
    }
    if (run.family == "llm-foundry") {  // MPT: no biases, ALiBi, loss_fn fused_crossentropy, mixed precision PURE
        p.framework = FrameworkKind::pytorch;
        p.gradients_in_fp32 = false;
        p.loss = Loss::te_fused;
        m.qkv_bias = m.attention_out_bias = m.mlp_bias = m.learned_positions = false;
    }
    if (run.family == "torchtitan") {
        p.framework = FrameworkKind::pytorch;
        if (p.recompute == Recompute::selective) {  // taken as every second layer
            p.recompute = Recompute::block;
            p.recompute_layers = m.layers / 2;
        }
    }
    if (run.family == "dgxc") {  // as NVIDIA's performance recipes usually do
        p.gradients_in_fp32 = false;
        p.tensor_overlap = true;
    }
    if (run.family == "simumax") {  // from the source: fused loss, Transformer Engine's attention, nothing overlapped
        p.loss = Loss::te_fused;
        p.attention = Attention::automatic;
        p.overlap_gradients = p.overlap_parameters = false;
    }
}

std::vector<Run> measured_runs() {
    const Json& table = measured_table("runs");
    std::vector<Run> runs;
    for (const Json& row : table["rows"]) {
        Json r = Json::object();
        for (std::size_t i = 0; i < table["columns"].size(); ++i) r[table["columns"][i].get<std::string>()] = row[i];
        Run run;
        run.id = r["id"];
        run.family = r["family"];
        run.gpu = r["gpu"];
        run.status = r["status"];
        run.job = r["job"];
        run.model = model_of_run(table["models"][r["model"].get<std::size_t>()], r["sequence_length"]);
        Plan& p = run.plan;
        p.gpus = r["gpus"];
        p.gpus_per_node = r["gpus_per_node"];
        p.sequence_length = r["sequence_length"];
        p.global_batch = r["global_batch"];
        p.micro_batch = r["micro_batch"];
        p.tensor_parallel = r["tensor_parallel"];
        p.sequence_parallel = r["sequence_parallel"];
        p.context_parallel = r["context_parallel"];
        p.pipeline_parallel = r["pipeline_parallel"];
        p.virtual_stages = r["virtual_stages"];
        p.zero = static_cast<Zero>(r["zero"].get<int>());
        p.recompute = r["recompute"] == "full" ? Recompute::full : r["recompute"] == "selective" ? Recompute::selective : Recompute::none;
        p.precision = r["precision"] == "fp16" ? Precision::fp16 : Precision::bf16;
        p.attention = r["attention"] == "flash" ? Attention::flash : Attention::plain;
        const auto number = [&](const char* key) { return r[key].is_number() ? r[key].get<double>() : 0.0; };
        run.step_time_s = number("step_time_s");
        run.tflop_per_s = number("tflop_per_s");
        run.memory_gib = number("memory_gib");
        if (run.family == "hagemann") p.fused_norms = r["rms_kernel"];
        set_framework(run);
        runs.push_back(std::move(run));
    }
    return runs;
}

}  // namespace fourfold::tests
