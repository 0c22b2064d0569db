// The detailed estimator against allocated bytes that others measured. Families apart; nothing is fitted to single rows.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "embedded_tests.h"
#include "memory/memory.h"
#include "model/catalog.h"
#include "plan/as_requested.h"
#include "plan/stage.h"

using namespace fourfold;
using tests::as_requested;

namespace {

// Layers per stage and chunk, as the table lists them.
void set_layers(Plan& plan, const Json& stages) {
    if (stages.empty()) return;
    std::vector<std::int32_t> list;
    for (std::size_t chunk = 0; chunk < stages[0].size(); ++chunk)
        for (const Json& stage : stages) list.push_back(stage[chunk]);
    plan.layout = std::make_shared<const Layout>(list);
}

struct Row {
    std::string id, family;
    Model model;
    Plan plan;
    Framework framework;
    std::int32_t stage = 0;
    double peak_bytes = 0, static_bytes = 0;  // measured; static 0 = not given
};

Model model_of(const Json& n) {
    Model m;
    for (const auto& [key, field] :
         {std::pair("layers", &Model::layers), std::pair("hidden", &Model::hidden), std::pair("ffn", &Model::ffn),
          std::pair("heads", &Model::heads), std::pair("kv_groups", &Model::kv_heads), std::pair("kv_channels", &Model::head_dim)})
        m.*field = n[key];
    m.gated = n["swiglu"];
    m.tied = n["tied"];
    m.qkv_bias = m.attention_out_bias = m.mlp_bias = n["bias"];
    m.layer_norm = n["norm"] == "LayerNorm";
    m.qk_norm = n["qk_layernorm"];
    m.learned_positions = n["pos"] == "learned_absolute";
    m.max_positions = n["max_pos"];
    m.vocabulary = n["vocab_padded"];  // padding it again must change nothing
    m.multi_token_layers = n["mtp"];
    if (const Json& e = n["moe"]; e.is_object()) {
        m.experts = {e["experts"], e["topk"], e["ffn"], e["shared"], e["shared_gate"]};
        for (const Json& one : e["freq"]) m.expert_layers.push_back(one.get<std::uint8_t>());
    }
    if (const Json& l = n["mla"]; l.is_object()) m.latent = {l["q_lora"], l["kv_lora"], l["qk_head"], l["rope_head"], l["v_head"]};
    return m;
}

Plan plan_of(const Json& n, std::int64_t gpus) {
    Plan p;
    p.gpus = gpus;
    p.gpus_per_node = 8;
    p.sequence_length = n["seq"];
    p.micro_batch = n["mbs"];
    p.global_batch = n["gbs"];
    p.tensor_parallel = n["tp"];
    p.pipeline_parallel = n["pp"];
    p.context_parallel = n["cp"];
    p.expert_parallel = n["ep"];
    p.expert_tensor_parallel = n["etp"];
    p.sequence_parallel = n["sp"];
    p.virtual_stages = n["vpp"];
    p.zero = n["dist_opt"] == true ? Zero::optimizer : Zero::none;
    p.shard_replicas = n["num_dist_opt_instances"];
    p.gradients_in_fp32 = n["precision"] != "fp16" && n["grad_reduce_bf16"] == false;
    p.hidden_dropout = n["hidden_dropout"] > 0.0;
    p.attention_dropout = n["attn_dropout"] > 0.0;
    return p;
}

Habit habit(bool on) { return on ? Habit::on : Habit::off; }

// What the run's framework did.
void set_framework(Plan& p, const Json& n, const Json& row) {
    const std::string attention = row["attention"];
    p.framework = row["older_engine"] == true ? FrameworkKind::megatron_2024 : FrameworkKind::megatron_2025;
    p.attention = attention == "flash" ? Attention::flash : attention == "fused" ? Attention::cudnn : Attention::plain;
    p.loss = n["ce_fusion"] == "te" ? Loss::te_fused : n["ce_fusion"] == "native" ? Loss::native_fused : Loss::plain;
    p.transformer_engine = habit(n["impl"] != "local");
    p.gradient_fusion = habit(n["grad_accum_fusion"]);
    p.softmax_fusion = habit(n["masked_softmax_fusion"]);
    p.activation_fusion = habit(n["bias_gelu_fusion"]);
    p.grouped_gemm = habit(n["moe"].is_object() && n["moe"]["grouped_gemm"] == true);
    p.attention_mask = habit(n["create_attention_mask"]);
    p.deferred_embedding_gradient = habit(n["defer_embedding_wgrad"]);
    if (row["gpu"] == "H100") return;  // whose workspaces are large anyway
    p.large_workspaces = habit(n["cublas_workspace_config"].is_string() || (row["gpu"] != "A100" && n["nvte_nondeterministic"] == 0));
}

const Gpu& gpu_of(const std::string& name) {
    const Gpu* gpu = catalog().gpu(name == "A100"    ? "a100-sxm-80gb"
                                   : name == "H100"  ? "h100-sxm-80gb"
                                   : name == "GB200" ? "gb200-186gb"
                                                     : "b200-sxm-180gb");
    REQUIRE(gpu != nullptr);
    return *gpu;
}

std::vector<Row> rows() {
    std::vector<Row> list;
    for (const embedded::File& file : embedded::measured) {
        if (file.name != "memory_runs") continue;
        const Json table = Json::parse(file.text, nullptr, false);
        for (const Json& row : table["rows"]) {
            Json n = table["default"];
            n.update(row["set"]);
            Row r;
            r.id = row["id"];
            r.family = row["family"];
            r.model = model_of(n);
            r.plan = plan_of(n, row["gpus"]);
            set_framework(r.plan, n, row);
            set_layers(r.plan, n["stage_layers"]);
            r.plan = as_requested(r.plan);
            r.framework = framework_of(r.plan, gpu_of(row["gpu"]));
            r.stage = row["stage"];
            r.peak_bytes = row["peak_bytes"];
            r.static_bytes = row.value("static_bytes", 0.0);
            list.push_back(std::move(r));
        }
    }
    return list;
}

template <class N>
StageMemory<N> estimate(const Row& r) {
    return detailed<N>(r.model, r.plan, r.framework, Stages(r.model, r.plan).moments(r.stage)[0]);
}

struct Residuals {
    int count = 0;
    double sum = 0, most = 0;
    std::string worst;
    double mean() const { return count == 0 ? 0 : sum / count; }
    void add(double estimated, double measured, const std::string& id) {
        const double error = std::abs(estimated / measured - 1);
        ++count;
        sum += error;
        if (error > most) most = error, worst = id;
    }
};

struct Family {
    Residuals peak, between;
};

Family residuals(std::string_view family, std::string_view part_of_id = "") {
    Family f;
    for (const Row& r : rows()) {
        if (r.family != family || r.id.find(part_of_id) == std::string::npos) continue;
        const StageMemory<double> e = estimate<double>(r);
        f.peak.add(e.peak_bytes, r.peak_bytes, r.id);
        if (r.static_bytes > 0) f.between.add(e.static_bytes, r.static_bytes, r.id);
    }
    MESSAGE(std::string(family) << " " << std::string(part_of_id) << ": " << f.peak.count << " rows; peak mean " << 100 * f.peak.mean()
                                << " %, most " << 100 * f.peak.most << " % (" << f.peak.worst << "); between steps mean "
                                << 100 * f.between.mean() << " %, most " << 100 * f.between.most << " %");
    return f;
}

}  // namespace

TEST_CASE("measured: Megatron-LM's tests, dense models and models with experts") {
    struct Expected {
        const char* family;
        int count;
        double peak, worst_peak, between;  // relative errors at most: mean of the peak, its worst, mean between steps
    };
    for (const Expected& e : {Expected{"dense", 233, 0.0055, 0.065, 0.008}, Expected{"moe", 77, 0.02, 0.09, 0.015}}) {
        const Family f = residuals(e.family);
        CHECK(f.peak.count == e.count);
        CHECK(f.peak.mean() <= e.peak);
        CHECK(f.peak.most <= e.worst_peak);
        CHECK(f.between.mean() <= e.between);
    }
}

TEST_CASE("measured: Llama 3 70B and 405B on B200, without and with context parallelism") {
    const Family f = residuals("b200", "llama3");
    CHECK(f.peak.count == 11);
    CHECK(f.peak.mean() <= 0.003);
    residuals("b200", "deepseek");
}

TEST_CASE("Traced and double agree on every measured run, and items sum to the peak") {
    for (const Row& r : rows()) {
        const StageMemory<double> plain = estimate<double>(r);
        const StageMemory<Traced> traced = estimate<Traced>(r);
        CHECK(plain.items.size() == traced.items.size());
        for (std::size_t i = 0; i < std::min(plain.items.size(), traced.items.size()); ++i)
            CHECK(plain.items.bytes(i) == traced.items.bytes(i).value());
        CHECK(plain.peak_bytes == plain.items.total());
        CHECK(plain.peak_bytes >= plain.static_bytes * (1 - 1e-15));
    }
}
