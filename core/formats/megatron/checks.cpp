// What Megatron-LM's own program stops at besides what its readers meet: Megatron-LM d98e8a64dd, transformer_config.py (__post_init__),
// optimizer_config.py (__post_init__), training/arguments.py (validate_args), pipeline_parallel_layer_layout.py.
#include <algorithm>
#include <string>
#include <utility>

#include "base/edit_distance.h"
#include "base/text.h"
#include "formats/megatron/read.h"
#include "plan/plan.h"

namespace fourfold {

// As text; "" where it is absent, switched off or open.
static std::string said(const Import& in, std::string_view key) {
    const Entry* const entry = in.last(key);
    if (entry == nullptr || !entry->open.empty() || entry->value.is_null() || entry->value == Json(false)) return "";
    const std::string text = entry->value.is_string() ? entry->value.get<std::string>() : dumped(entry->value);
    return text == "None" || text == "null" || text == "false" || text == "False" || text == "none" ? "" : text;
}
static bool is_on(const Import& in, std::string_view key) { return !said(in, key).empty(); }
static std::int64_t count(const Import& in, std::string_view key) {
    const std::string text = said(in, key);
    return text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos ? 0 : std::stoll(text);
}

bool offloads_layers(const Import& in) {
    return in.last("cpu_offloading") != nullptr ? is_on(in, "cpu_offloading") : count(in, "cpu_offloading_num_layers") > 0;
}

bool is_muon(const Import& in, bool shared) {
    const Entry* const entry = in.last("optimizer");
    return entry != nullptr && entry->open.empty() && (entry->value == "dist_muon" || (!shared && entry->value == "muon"));
}

static Text needs(const char* one, const char* other) { return Text("import_plan.refused.needs").with("one", one).with("other", other); }
static Text exclude(const char* one, const char* other) { return Text("import_plan.refused.both").with("one", one).with("other", other); }

static void check_recompute(const Import& in, std::vector<Text>& found) {
    const std::string granularity = is_on(in, "recompute_activations") ? "selective" : said(in, "recompute_granularity");
    const bool layers = in.has("recompute_num_layers"), chosen = in.has("recompute_modules");
    if (granularity == "full" && !in.has("recompute_method")) found.push_back(needs("--recompute-granularity full", "--recompute-method"));
    if (granularity == "full" && !layers) found.push_back(needs("--recompute-granularity full", "--recompute-num-layers"));
    if (granularity == "selective" && layers) found.push_back(exclude("--recompute-granularity selective", "--recompute-num-layers"));
    const bool spreads = is_on(in, "distribute_saved_activations");
    if (spreads && in.job.value("sequence_parallel", false) && !in.hangs("sequence_parallel"))
        found.push_back(exclude("--distribute-saved-activations", "--sequence-parallel"));
    const bool offloads = offloads_layers(in);
    if (offloads && !granularity.empty()) found.push_back(exclude("--cpu-offloading-num-layers", "--recompute-granularity"));
    if (offloads && in.job.value("pipeline_parallel", std::int64_t{1}) > 1)
        found.push_back(exclude("--cpu-offloading-num-layers", "--pipeline-model-parallel-size"));
    if (granularity != "selective" || !chosen || in.hangs("recompute_modules")) return;
    const std::string modules = "," + in.job.value("recompute_modules", "") + ",";
    const auto has = [&](const char* one) { return modules.find(std::string(",") + one + ",") != std::string::npos; };
    if (has("moe_act") && !is_on(in, "moe_grouped_gemm")) found.push_back(needs("--recompute-modules moe_act", "--moe-grouped-gemm"));
    if (has("mla_up_proj") && !is_on(in, "multi_latent_attention"))
        found.push_back(needs("--recompute-modules mla_up_proj", "--multi-latent-attention"));
    if (has("shared_experts") && is_on(in, "moe_shared_expert_overlap"))
        found.push_back(exclude("--recompute-modules shared_experts", "--moe-shared-expert-overlap"));
    const std::string precision = in.job.value("precision", "");
    const bool delayed =
        (said(in, "fp8_recipe").empty() ? !in.has("fp8_recipe") : said(in, "fp8_recipe") == "delayed") && precision.starts_with("fp8");
    if (delayed && has("layernorm")) found.push_back(exclude("--recompute-modules layernorm", "--fp8-recipe delayed"));
    if (delayed && has("moe_act")) found.push_back(exclude("--recompute-modules moe_act", "--fp8-recipe delayed"));
}

// Tokens that travel beneath the work of another micro-batch: Megatron-LM 0.14 on, of the experts' recomputation newer releases.
static void check_overlap(const Import& in, std::vector<Text>& found) {
    const char* const overlap = "--overlap-moe-expert-parallel-comm";
    if (in.hangs("expert_overlap") || !in.job.value("expert_overlap", false)) return;
    if (is_on(in, "moe_shared_expert_overlap")) found.push_back(exclude(overlap, "--moe-shared-expert-overlap"));
    if (count(in, "mtp_num_layers") > 1) found.push_back(exclude(overlap, "--mtp-num-layers"));
    const std::string modules = "," + in.job.value("recompute_modules", "") + ",";
    if (in.job.value("recompute", "") == "selective" && !in.hangs("recompute_modules") && modules.find(",moe,") != std::string::npos)
        found.push_back(exclude(overlap, "--recompute-modules moe"));
}

static void check_optimizer(const Import& in, std::vector<Text>& found) {
    const bool divides = in.job.value("zero", "none") != "none" || in.hangs("zero"), aware = is_on(in, "use_precision_aware_optimizer");
    if (aware && !divides) found.push_back(needs("--use-precision-aware-optimizer", "--use-distributed-optimizer"));
    // Since 0.16; that release alone refuses its distributed optimizer and overlaps too.
    if (in.job.value("optimizer", "") == "muon")
        for (const auto& [key, flag] : {std::pair{"use_megatron_fsdp", "--use-megatron-fsdp"}, {"use_torch_fsdp2", "--use-torch-fsdp2"}})
            if (is_on(in, key)) found.push_back(exclude("--optimizer muon", flag));
    if (is_on(in, "fp8_param_gather") && !divides) found.push_back(needs("--fp8-param-gather", "--use-distributed-optimizer"));
    for (const auto& [key, flag] : {std::pair{"exp_avg_dtype", "--exp-avg-dtype"}, {"exp_avg_sq_dtype", "--exp-avg-sq-dtype"}})
        if (const std::string type = said(in, key); !type.empty() && type != "fp32" && !in.has("use_precision_aware_optimizer"))
            found.push_back(needs(flag, "--use-precision-aware-optimizer"));
}

static void check_stages(const Import& in, std::vector<Text>& found) {
    const std::int64_t stages = in.job.value("pipeline_parallel", std::int64_t{1});
    if (in.hangs("pipeline_parallel") || stages < 1) return;
    const char* const per_chunk = "--num-layers-per-virtual-pipeline-stage";
    const bool in_chunks = count(in, "num_layers_per_virtual_pipeline_stage") > 0;
    if (in_chunks && stages == 1) found.push_back(needs(per_chunk, "--pipeline-model-parallel-size"));
    if (in_chunks && in.has("decoder_first_pipeline_num_layers"))
        found.push_back(exclude(per_chunk, "--decoder-first-pipeline-num-layers"));
    if (in_chunks && in.has("decoder_last_pipeline_num_layers")) found.push_back(exclude(per_chunk, "--decoder-last-pipeline-num-layers"));
    const std::string notation = said(in, "pipeline_model_parallel_layout");
    Problems problems;
    const auto layout = notation.empty() ? std::nullopt : read_layout(notation, problems);
    if (!layout) return;
    const std::int64_t chunks = static_cast<std::int64_t>(layout->chunks()), layers = count(in, "num_layers");
    if (chunks % stages != 0) found.push_back(Text("import_plan.refused.layout_chunks").with("chunks", chunks).with("stages", stages));
    if (layers > 0 && layers != layout->layers())
        found.push_back(Text("import_plan.refused.layout_layers").with("given", layout->layers()).with("layers", layers));
}

// argparse stops at "--num-layers lots"; "None" is what a launcher in Python leaves out, and "%d", "{}" or "@LAYERS@" what it fills in.
static void check_numbers(const Import& in, std::vector<Text>& found) {
    for (const Entry& entry : in.misread) {
        const std::string value = entry.value.is_string() ? entry.value.get<std::string>() : dumped(entry.value);
        const bool filled = value == "None" || value == "null" || value.find_first_of("%{}@<>$|") != std::string::npos;
        if (filled || entry.fate == Fate::open) continue;
        if (entry.value == Json(true))  // a name alone
            found.push_back(Text("import_plan.refused.no_value").with("key", entry.shown.substr(0, 80)));
        else
            found.push_back(Text("import_plan.refused.number").with("key", entry.shown.substr(0, 80)).with("value", value.substr(0, 80)));
    }
}

// What argparse takes: a slip of the pen is refused, as it is there; another word may be a fork's, and is not understood.
static void check_words(Import& in, std::vector<Text>& found) {
    constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"recompute_granularity", "full|selective"},
        {"recompute_method", "uniform|block"},
        {"data_parallel_sharding_strategy", "no_shard|optim|optim_grads|optim_grads_params"},
        {"fp8_format", "e4m3|hybrid"},
        {"fp8_recipe", "tensorwise|delayed|mxfp8|blockwise|custom"},
        {"exp_avg_dtype", "fp32|fp16|bf16|fp8"},
        {"exp_avg_sq_dtype", "fp32|fp16|bf16|fp8"},
        {"main_grads_dtype", "fp32|bf16"},
        {"main_params_dtype", "fp32|fp16"},
        {"cuda_graph_impl", "none|local|transformer_engine|full_iteration"},
        {"position_embedding_type", "learned_absolute|rope|rotary|mrope|relative|none|nope|alibi|yarn"},
        {"normalization", "LayerNorm|RMSNorm"},
        {"transformer_impl", "local|transformer_engine|inference_optimized"},
        {"attention_backend", "flash|fused|unfused|local|auto"},
        {"moe_token_dispatcher_type", "allgather|alltoall|alltoall_seq|flex"}};
    for (const auto& [key, words] : kWords) {
        const std::string given = said(in, key);
        bool known = given.empty(), slip = false;
        for (std::size_t at = 0; at < words.size() && !known; at = std::min(words.find('|', at), words.size() - 1) + 1) {
            const std::string_view word = words.substr(at, words.find('|', at) - at);
            known = lower_case(given) == lower_case(word);
            slip = slip || (given.size() > 2 && given.size() < 40 && !given.starts_with(word) &&
                            edit_distance(given, word) <= (word.size() < 6 ? 1 : 2));
        }
        if (known) continue;
        in.mark(key, Fate::unknown);
        if (slip)
            found.push_back(
                Text("import_plan.refused.no_key").with("program", "Megatron-LM").with("key", in.last(key)->shown + " " + given));
    }
}

void check_megatron_config(Import& in) {
    std::vector<Text> found;
    check_numbers(in, found);
    check_words(in, found);
    check_recompute(in, found);
    check_overlap(in, found);
    check_optimizer(in, found);
    check_stages(in, found);
    in.refused.insert(in.refused.end(), found.begin(), found.end());
}

}  // namespace fourfold
