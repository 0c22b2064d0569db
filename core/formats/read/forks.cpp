// Forks of Megatron-LM that have arguments of their own: MindSpeed-LLM (ModelLink), mindspeed_llm/features_manager and
// mindspeed_llm/training/arguments.py; slime, slime/backends/megatron_utils/arguments.py.
#include <algorithm>
#include <vector>

#include "formats/keys.h"
#include "formats/megatron/read.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "plan/plan.h"

namespace fourfold {

static constexpr KeyRow kForks[] = {
    {"multi_head_latent_attention", "multi_latent_attention"},
    {"qk_nope_head_dim", "qk_head_dim"},
    {"qk_rope_head_dim", "qk_pos_emb_head_dim"},
    {"moe_intermediate_size", "moe_ffn_hidden_size"},
    {"distribute_checkpointed_activations", "distribute_saved_activations"},  // Megatron-LM to 2.5
    {"pipe_parallel_size", "pipeline_model_parallel_size"},                   // DeepSpeedExamples, Megatron-LM of 2020 in 3D
    {"gas", "gradient_accumulation_steps"},
    // Pai: before Megatron Core; megatron_patch/model/deepseek_v2/transformer/mlp.py; Qwen's experts.
    {"intermediate_size", "ffn_hidden_size"},
    {"num_shared_experts", "n_shared_experts"},
    {"shared_moe_ffn_hidden_size", "moe_shared_expert_intermediate_size"},
    {"num_nextn_predict_layers", "mtp_num_layers"},  // AIAK
    // Megatron-LM, examples/mimo: of the model of language behind encoders.
    {"llm_tp", "tensor_model_parallel_size"},
    {"llm_pp", "pipeline_model_parallel_size"},
    {"llm_cp", "context_parallel_size"},
    {"llm_ep", "expert_model_parallel_size"},
    {"llm_expt_tp", "expert_tensor_parallel_size"},
};

static Entry* said(Import& in, std::string_view key) {
    const auto found = std::find_if(in.entries.rbegin(), in.entries.rend(), [&](const Entry& one) { return one.key == key; });
    return found == in.entries.rend() || !found->open.empty() ? nullptr : &*found;
}

// Experts stay whole, and are divided among the GPUs of tensor parallelism too.
static void spread_experts(Import& in) {
    const Entry* const flag = said(in, "moe_tp_extend_ep");
    const auto tensor = in.whole("tensor_model_parallel_size", "tensor_parallel"),
               experts = in.whole("expert_model_parallel_size", "expert_parallel");
    constexpr std::int64_t kMost = 65'536;
    if (flag == nullptr || !in.on("moe_tp_extend_ep", "expert_tensor_parallel") || !tensor || *tensor < 1 || *tensor > kMost) return;
    if (Entry* const degree = said(in, "expert_model_parallel_size"); degree != nullptr && experts && *experts > 0 && *experts <= kMost)
        in.become(*degree, "expert_model_parallel_size", *experts * *tensor);
    in.derive(*flag, "expert_tensor_parallel_size", 1);
}

// Which places hold no layer: "61,62,63".
static std::vector<bool> empty_places(std::string_view places, std::int64_t count) {
    std::vector<bool> empty(static_cast<std::size_t>(count));
    for (std::size_t at = 0; at < places.size();) {
        const std::size_t end = std::min(places.find_first_not_of("0123456789", at), places.size());
        const std::string number(places.substr(at, end - at));
        if (!number.empty() && number.size() < 6 && std::stoll(number) < count) empty[static_cast<std::size_t>(std::stoll(number))] = true;
        at = end + 1;
    }
    return empty;
}

// "--noop-layers 61,62,63": places of layers that hold none, which make the chunks even. Where they are the last ones of stages in one
// piece the last stage has fewer, else what is left is a layout.
static void drop_places(Import& in) {
    Entry* const layers = said(in, "num_layers");
    const auto places = in.text("noop_layers", "model");
    const auto count = in.whole("num_layers", "model"), stages = in.whole("pipeline_model_parallel_size", "pipeline_parallel"),
               each = in.whole("num_layers_per_virtual_pipeline_stage", "virtual_stages"),
               parts = in.whole("num_virtual_stages_per_pipeline_rank", "virtual_stages");
    if (layers == nullptr || !places || !count || *count < 1 || *count > 10'000) return;
    const std::vector<bool> empty = empty_places(*places, *count);
    const std::int64_t none = std::count(empty.begin(), empty.end(), true), depth = stages.value_or(1);
    const bool last = std::find(empty.begin(), empty.end(), true) == empty.end() - static_cast<std::ptrdiff_t>(none);
    const std::int64_t chunks = depth < 1 || depth > *count ? 0
                                : each                      ? (*each > 0 && *count % *each == 0 ? *count / *each : 0)
                                                            : depth * parts.value_or(1);
    std::string layout = "E";
    for (std::int64_t i = 0; i < *count && chunks > 0; ++i) {
        if (i > 0 && i * chunks % *count == 0) layout += '|';
        if (!empty[static_cast<std::size_t>(i)]) layout += 't';
    }
    for (std::int64_t i = std::min<std::int64_t>(in.whole("mtp_num_layers", "layout").value_or(0), 9); i > 0; --i) layout += 'm';
    layout += 'L';
    Problems problems;
    const bool even = chunks > 0 && chunks <= *count && *count % chunks == 0 && chunks % depth == 0;
    if (!even || none == *count || !read_layout(layout, problems))
        return in.notes.push_back(Text("import_plan.note.not_counted").with("key", "noop_layers"));
    in.become(*layers, "num_layers", *count - none);
    if (chunks == 1 || none == 0) return;
    Entry& list = *said(in, "noop_layers");
    if (last && chunks == depth && none < *count / depth) return in.derive(list, "decoder_last_pipeline_num_layers", *count / depth - none);
    in.become(list, "pipeline_model_parallel_layout", layout);
    for (Entry& entry : in.entries)
        if (entry.key == "num_layers_per_virtual_pipeline_stage" || entry.key == "num_virtual_stages_per_pipeline_rank")
            entry.key += "_of_places";
}

// The numbers of "8,7,8", or of several words; none where something else stands there.
static std::vector<std::int64_t> numbers_of(const Entry& entry) {
    std::vector<std::int64_t> numbers;
    std::string text;
    for (const Json& one : entry.value.is_array() ? entry.value : Json::array({entry.value}))
        if (one.is_string()) text += one.get<std::string>() + ",";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find(',', at);
        const std::string one = text.substr(at, end - at);
        if (one.empty() || one.size() > 4 || one.find_first_not_of("0123456789") != std::string::npos) return {};
        numbers.push_back(std::stoll(one));
        at = end + 1;
    }
    return numbers;
}

// FlagScale's "2 8 9 1 7": stages on one kind of GPU, with the layers of each, then those on the next.
static std::vector<std::int64_t> of_kinds(const std::vector<std::int64_t>& said) {
    std::vector<std::int64_t> layers;
    for (std::size_t at = 0; at < said.size();) {
        const std::int64_t stages = said[at++];
        if (stages < 1 || stages > static_cast<std::int64_t>(said.size() - at)) return {};
        for (std::int64_t i = 0; i < stages; ++i) layers.push_back(said[at++]);
    }
    return layers;
}

// Layers of each stage: MindSpeed-LLM's "--num-layer-list 4,5", AIAK's "--custom-pipeline-layers 4,5".
static void name_stages(Import& in) {
    const bool chunks = in.has("num_layers_per_virtual_pipeline_stage") || in.has("num_virtual_stages_per_pipeline_rank");
    for (const char* key : {"num_layer_list", "custom_pipeline_layers", "hetero_pipeline_stages"}) {
        Entry* const list = said(in, key);
        if (list == nullptr || chunks || in.has("pipeline_model_parallel_layout")) continue;
        const bool kinds = key == std::string_view("hetero_pipeline_stages");
        const std::vector<std::int64_t> layers = kinds ? of_kinds(numbers_of(*list)) : numbers_of(*list);
        const auto stages = in.whole("pipeline_model_parallel_size", "pipeline_parallel");
        if (layers.size() < 2 || stages != static_cast<std::int64_t>(layers.size())) continue;
        std::string layout = "E";
        for (std::size_t i = 0; i < layers.size(); ++i) layout += (i > 0 ? "|t*" : "t*") + std::to_string(layers[i]);
        for (std::int64_t i = std::min<std::int64_t>(in.whole("mtp_num_layers", "layout").value_or(0), 9); i > 0; --i) layout += "m";
        in.become(*list, "pipeline_model_parallel_layout", layout + "L");
    }
}

// AIAK: of each stage so many layers are computed again; the most of them where they are not the same.
static void name_recomputed(Import& in) {
    Entry* const list = said(in, "custom_pipeline_recompute_layers");
    Entry* const method = said(in, "recompute_method");
    if (list == nullptr || method == nullptr || in.has("recompute_num_layers")) return;
    const std::vector<std::int64_t> layers = numbers_of(*list);
    if (layers.empty()) return;
    const Entry* const all = said(in, "custom_pipeline_layers");
    const bool each = all != nullptr && all->value == list->value;
    if (each) in.become(*method, "recompute_method", "uniform");
    const auto [least, most] = std::minmax_element(layers.begin(), layers.end());
    if (!each && *least != *most) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "custom_pipeline_recompute_layers"));
    in.become(*list, "recompute_num_layers", each ? 1 : *most);
}

// How a sequence is divided: Ulysses, or the ring of Megatron-LM.
static void name_context_way(Import& in) {
    Entry* const way = said(in, "context_parallel_algo");
    if (way == nullptr) return;
    if (way->value == Json("ulysses_cp_algo")) in.become(*way, "cp_comm_type", "a2a");
    if (way->value == Json("megatron_cp_algo")) in.become(*way, "cp_comm_type", "p2p");
}

// slime trains in bf16 unless fp16 is said, with the distributed optimizer; or with PyTorch's FSDP (slime/backends/fsdp_utils/actor.py).
static void fill_slime(Import& in) {
    const Entry* const actor = in.last("actor_num_gpus_per_node");
    if (actor == nullptr) return;
    const std::int64_t line = actor->line;
    const bool shards = in.text("train_backend", "zero") == "fsdp";
    if (shards && in.on("gradient_checkpointing", "recompute"))
        for (const auto& [key, value] : {std::pair("recompute_granularity", "full"), std::pair("recompute_method", "uniform")})
            in.entries.push_back({key, "", value, line});
    for (const char* key : {"bf16", shards ? "use_torch_fsdp2" : "use_distributed_optimizer"})
        if (!in.has(key) && !(key == std::string_view("bf16") && in.has("fp16"))) in.entries.push_back({key, "", true, line});
}

void translate_forks(Import& in) {
    name_context_way(in);
    fill_slime(in);
    // slime and Miles train the model by rewards; what samples its answers takes memory too.
    if (const auto way = in.text("advantage_estimator", ""))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "advantage_estimator: " + way->substr(0, 40)));
    // MindSpeed-LLM trains on answers that are preferred, and by rewards, too.
    if (const auto stage = in.text("stage", ""); stage && *stage != "sft" && *stage != "pt") refuse_mode(in, *stage);
    // Pai's DeepSeek has latent attention without a switch.
    if (in.has("qk_nope_head_dim") && count_like(in.entries, {"multi*latent_attention"}) == 0)
        in.entries.push_back({"multi_latent_attention", "", true, in.last("qk_nope_head_dim")->line});
    for (Entry& entry : in.entries)
        for (const auto& [own, usual] : kForks)
            if (entry.key == own) entry.key = usual;
    name_recomputed(in);
    name_stages(in);
    if (in.has("moe_tp_extend_ep")) spread_experts(in);
    if (in.has("noop_layers")) drop_places(in);
}

// llm-recipes (Tokyo Institute of Technology) 2024, llama_recipes/arguments.py: Megatron-LM's names for a training with PyTorch's FSDP, of
// a model of Hugging Face.
bool is_llm_recipes(const std::vector<Entry>& entries) {
    return count_like(entries, {"sharding_strategy"}) > 0 &&
           count_like(entries, {"low_cpu_fsdp", "fsdp_activation_checkpointing", "hf_transformer_model_dir"}) > 0;
}
static void read_llm_recipes(Import& in) {
    std::erase_if(in.notes, [](const Text& note) { return note.id().starts_with("import_plan.note."); });
    std::erase(in.asked, "vocab_size");
    in.keep_said({"gpus", "gpus_per_node"});
    const std::string how = in.text("sharding_strategy", "zero").value_or("");
    if (!in.hangs("zero")) in.job["zero"] = how == "SHARD_GRAD_OP" ? "gradients" : how == "NO_SHARD" ? "none" : "weights";
    if (how.starts_with("HYBRID")) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "HYBRID_SHARD"));
    in.job["fully_shard"] = "off";
    if (!in.hangs("recompute")) in.job["recompute"] = in.on("fsdp_activation_checkpointing", "recompute") ? "full" : "none";
    for (const char* key : {"base_model", "hf_transformer_model_dir"})
        if (!in.job.contains("model") && in.has(key)) take_named_model(in, key);
    in.mark_all({"tokenizer*", "instruction*", "epoch", "grad_clip*", "low_cpu_fsdp", "mixed_precision", "checkpoint_type", "use_mpi",
                 "hf_transformer_model_dir", "save_sampler_state", "use_fast_kernels", "use_freeze_layers", "param_dtype"},
                Fate::no_number);
    fill_transformers(in);
    ask_model(in);
}

std::int64_t accumulated(Import& in) {
    const auto steps = in.whole("gradient_accumulation_steps", "global_batch");
    return !in.has("gradient_accumulation_steps") ? 1 : steps && *steps < 1'000'000 ? *steps : 0;
}

void read_fork_adapters(Import& in) {
    if (is_llm_recipes(in.entries)) return read_llm_recipes(in);
    if (!in.has("lora_target_modules") || in.job.contains("trained")) return;
    constexpr std::int64_t kRank = 16;
    read_adapters(in, {"lora_r", "lora_target_modules", "", "", lora_query | lora_key | lora_value | lora_output, kRank});
    in.mark_all({"lora_*"}, Fate::no_number);
}

}  // namespace fourfold
