// The layers and chunks of each stage: Megatron-LM d98e8a64dd, megatron/training/arguments.py (line numbers below).
#include <algorithm>

#include "formats/megatron/read.h"
#include "formats/read/jobs.h"
#include "model/catalog.h"
#include "plan/plan.h"

namespace fourfold {

// Of a model of the catalogue that a preset names; 0: not known.
static std::int64_t layers_of_named(const Import& in) {
    const Json model = in.job.value("model", Json());
    if (model.is_object()) return model.value("num_hidden_layers", std::int64_t{0});
    const CatalogModel* const known = model.is_string() ? catalog().model(model.get<std::string>()) : nullptr;
    return known == nullptr ? 0 : known->model.layers;
}

// Whether a model that is named has experts, or the text says some.
static bool has_experts(Import& in) {
    const Json model = in.job.value("model", Json());
    const CatalogModel* const known = model.is_string() ? catalog().model(model.get<std::string>()) : nullptr;
    const bool named = known != nullptr ? known->model.experts.count > 0 : model.is_object() && model.contains("num_experts_per_tok");
    return named || in.whole({"num_experts", "num_moe_experts"}, "").value_or(0) > 1;
}

// Three ways to say it, of which one may be used (928-938).
void read_stages(Import& in, const MegatronDefaults& defaults) {
    auto layout = in.text("pipeline_model_parallel_layout", "layout");
    if (layout) std::erase(*layout, '\\');  // written for a shell, or for two
    const auto per_chunk = in.whole("num_layers_per_virtual_pipeline_stage", "virtual_stages");
    const auto chunks = in.whole({"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"}, "virtual_stages");
    if (static_cast<int>(layout.has_value()) + static_cast<int>(per_chunk.has_value()) + static_cast<int>(chunks.has_value()) > 1)
        in.refused.emplace_back("import_plan.refused.two_virtual");
    const std::int64_t stages = in.job.value("pipeline_parallel", std::int64_t{1});
    if ((per_chunk || layout) && (in.hangs("pipeline_parallel") || stages < 1)) {
        if (layout) in.job["layout"] = *layout;
        return;
    }
    in.job["virtual_stages"] = chunks.value_or(1);
    if (per_chunk && *per_chunk > 0) {
        const std::int64_t extra = static_cast<int>(in.job.value("count_embedding_as_layer", false)) +
                                   static_cast<int>(in.job.value("count_loss_as_layer", false));
        const std::int64_t said = in.whole("num_layers", "").value_or(layers_of_named(in)), layers = said + extra;
        if (said == 0)
            in.job.erase("virtual_stages");
        else if (layers % (stages * *per_chunk) == 0)
            in.job["virtual_stages"] = layers / (stages * *per_chunk);
        else if (!defaults.silent)
            in.refused.push_back(
                Text("import_plan.refused.layers_per_virtual").with("layers", layers).with("stages", stages).with("each", *per_chunk));
    }
    if (!layout) return;
    Problems problems;
    const auto listed = read_layout(*layout, problems);
    if (!listed) return in.mark("pipeline_model_parallel_layout", Fate::unknown);
    in.job["layout"] = *layout;
    in.text("pipeline_model_parallel_layout", "virtual_stages");
    if (static_cast<std::int64_t>(listed->chunks()) % stages == 0)
        in.job["virtual_stages"] = static_cast<std::int64_t>(listed->chunks()) / stages;
}

// What forks, and releases before layouts, divide layers or order the work by (MindSpeed-LLM, FlagScale, sail-sg/zero-bubble, Primus).
static bool divides_otherwise(const Import& in) {
    return count_like(in.entries,
                      {"num_layer_list", "hetero_pipeline_stages", "*layer_split", "standalone_embedding_stage", "noop_layers",
                       "*schedule*_method", "pp_schedule*", "*zero_bubble*", "*dualpipe*", "enable_zb_runtime", "enable_1f1b_v"}) > 0;
}

// Megatron-Core gives every chunk as many layers where nothing else is said (transformer_block.py, get_num_layers_to_build), and has one
// order of work. A recipe that is not here may list the layers of models with experts (Megatron-Bridge, recipes/deepseek).
void read_split(Import& in, const MegatronDefaults& defaults) {
    const std::int64_t stages = in.job.value("pipeline_parallel", std::int64_t{1}),
                       chunks = in.job.value("virtual_stages", std::int64_t{1});
    const Entry* const list = in.last("pipeline_model_parallel_layout");  // a recipe's is taken away
    const bool none = defaults.silent && list != nullptr && list->open.empty() && list->value.is_null();
    if (stages < 2 || chunks < 1 || chunks > 128 || in.job.contains("layout") || (!none && in.has("pipeline_model_parallel_layout")))
        return;
    if (divides_otherwise(in)) return;
    for (const char* field : {"pipeline_parallel", "virtual_stages", "layout", "model"})
        if (in.hangs(field)) return;
    if (defaults.silent && !none && !(is_said(in, "pipeline_parallel") && is_said(in, "virtual_stages"))) return;
    const bool ends = in.job.contains("first_stage_layers") || in.job.contains("last_stage_layers");
    const bool loss = in.job.value("count_loss_as_layer", false), embedding = in.job.value("count_embedding_as_layer", false);
    const std::int64_t layers = in.whole("num_layers", "").value_or(layers_of_named(in)) + (loss ? 1 : 0) + (embedding ? 1 : 0);
    if (!ends && !(none && layers == 0) && (layers < stages * chunks || layers % (stages * chunks) != 0)) return;
    if (defaults.silent && !none && has_experts(in)) return;
    in.job["layout"] = "equal";
    in.job["schedule"] = "1f1b";
}

}  // namespace fourfold
