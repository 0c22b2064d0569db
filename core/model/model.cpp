// Based on the configuration classes of Hugging Face transformers (models/*/configuration_*.py): names and aliases.
#include "model/model.h"

#include <algorithm>
#include <cstdlib>

#include "model/config_reader.h"
#include "model/layer_kinds.h"
#include "model/mixers.h"
#include "model/model_families.h"

namespace fourfold {

namespace {

constexpr std::string_view kLayers[] = {"num_hidden_layers", "n_layer", "num_layers", "n_layers"};
constexpr std::string_view kHidden[] = {"hidden_size", "n_embd", "n_embed", "d_model", "dim"};
constexpr std::string_view kFfn[] = {"intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim", "hidden_dim", "block_ff_dim"};
constexpr std::string_view kHeads[] = {"num_attention_heads", "n_head", "num_heads", "n_heads"};
constexpr std::string_view kKvHeads[] = {"num_key_value_heads", "n_kv_heads", "multi_query_group_num"};
constexpr std::string_view kFalconKvHeads[] = {"num_key_value_heads", "num_kv_heads", "n_head_kv"};
constexpr std::string_view kNorms[] = {"norms_per_layer"};
constexpr std::string_view kFalconNorms[] = {"num_ln_in_parallel_attn"};
constexpr std::string_view kHeadDim[] = {"head_dim", "attention_head_dim"}, kDim[] = {"dim"}, kMultiple[] = {"multiple_of"};
constexpr std::string_view kVocabulary[] = {"vocab_size", "padded_vocab_size"};
constexpr std::string_view kPositions[] = {"max_position_embeddings", "n_positions", "seq_length"};
constexpr std::string_view kMultiToken[] = {"num_nextn_predict_layers"};
constexpr std::string_view kExperts[] = {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"};
constexpr std::string_view kPerToken[] = {"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_k", "moe_topk"};
constexpr std::string_view kGroups[] = {"n_group"}, kGroupsPerToken[] = {"topk_group"};
constexpr std::string_view kExpertFfn[] = {"moe_intermediate_size"};
constexpr std::string_view kSharedFfn[] = {"shared_expert_intermediate_size", "shared_intermediate_size",
                                           "moe_shared_expert_intermediate_size"};
constexpr std::string_view kSharedCount[] = {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"};
constexpr std::string_view kLeadingDense[] = {"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"};
constexpr std::string_view kFrequency[] = {"moe_layer_freq"}, kEachLayer[] = {"mlp_layer_types", "moe_layer_freq"};
constexpr std::string_view kSparseStep[] = {"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"};
constexpr std::string_view kDenseLayers[] = {"mlp_only_layers"}, kExpertLayers[] = {"moe_layers"};
constexpr std::string_view kDenseFfn[] = {"intermediate_size_mlp", "dense_intermediate_size"};
constexpr std::string_view kQueryRank[] = {"q_lora_rank"}, kExpertLatent[] = {"moe_latent_size"};

// Far above every published model, and small enough that no product of them leaves the exact range of a double.
constexpr Range kLayersRange{1, 2'000}, kHiddenRange{1, 262'144}, kFfnRange{1, 2'097'152}, kHeadsRange{1, 1'024}, kHeadDimRange{1, 1'024},
    kVocabularyRange{1, 16'777'216}, kPositionsRange{1, 1'000'000'000}, kExpertsRange{0, 65'536}, kRankRange{1, 65'536},
    kMultiTokenRange{0, 64}, kNormsRange{1, 8};
constexpr double kMostExpertWeights = 2'251'799'813'685'248;  // 2^51, for the same reason

// Multimodal files nest the language model, Qwen's with speech twice, and `path` then ends in its key and a dot; a job or a plain file does
// not.
const Json& text_model(const Json& config, std::string& path) {
    for (const char* key : {"thinker_config", "text_config", "llm_config", "language_config"}) {
        const auto nested = config.find(key);
        if (nested == config.end() || !nested->is_object()) continue;
        path += std::string(key) + ".";
        return text_model(*nested, path);
    }
    return config;
}

bool looks_like_a_config(const Json& config) {
    const auto any = [&](Names names) {
        return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return config.contains(std::string(name)); });
    };
    return config.contains("model_type") || any(kHidden) || any(kLayers) || any(kHeads) || any(kVocabulary);
}

// ---- reading, step by step
void refuse(ConfigReader& read, const Json& config, const Unsupported& one, bool known) {
    const Json value = shown(config[std::string(one.key)]);
    Text why = Text("problem.unsupported", one.what).with("key", one.key);
    if (!known) why.with("value", value);
    read.problem(one.key, "unsupported", value, std::move(why), "suggestion.covered_model", nullptr);
}

Recognised read_family(ConfigReader& read, const Json& config, Model& model, ImportReport& report) {
    model.type = read.text("model_type");
    Recognised recognised = recognise(model.type, config);
    model.type = recognised.family->type;
    if (!recognised.known) report.assumed.push_back({"model_type", model.type, recognised.why});
    for (const Unsupported& one : unsupported(*recognised.family, config)) apart(refuse)(read, config, one, recognised.known);
    for (const auto& [key, usual, value] : kOverrides) model.*value = read.flag(key, recognised.family->*usual);
    if (!recognised.family->has(own_norms)) model.qk_norm = read.flag("use_qk_norm", model.qk_norm);
    return recognised;
}

std::int64_t usual_head_dim(const Family& family, bool known, const Model& model) {
    return known && family.head_dim_default != 0 ? family.head_dim_default : (model.heads > 0 ? model.hidden / model.heads : 0);
}

// Falcon's older architecture has one key/value head, whatever its key says, and one norm for both parts of a layer.
bool is_newer_falcon(ConfigReader& read) { return read.flag("new_decoder_architecture", false); }

std::int64_t falcon_kv_heads(ConfigReader& read, const Model& model) {
    const bool one = read.flag("multi_query", true) && !is_newer_falcon(read) && !read.has(kKvHeads);
    const std::int64_t given = read.optional(kFalconKvHeads, kHeadsRange, model.heads);
    return one ? 1 : given;
}

std::int64_t usual_norms(ConfigReader& read, const Family& family) {
    if (!family.has(falcon_keys)) return family.norms_per_layer;
    const bool newer = is_newer_falcon(read);
    return read.flag("parallel_attn", true) ? read.optional(kFalconNorms, {1, 2}, newer ? 2 : 1) : 2;
}

// Meta's own params.json says the width by a multiple (llama3, llama/model.py, TransformerBlock and FeedForward).
std::int64_t width_of_multiple(ConfigReader& read, const Json& config, std::int64_t hidden) {
    const std::int64_t multiple = std::max<std::int64_t>(read.required(kMultiple, kFfnRange), 1), two_thirds = 8 * hidden / 3;
    const auto given = config.find("ffn_dim_multiplier");
    if (given != config.end()) read.used("ffn_dim_multiplier");
    const double factor = given != config.end() && given->is_number() ? std::clamp(given->get<double>(), 0.0, 100.0) : 1;
    const auto width = static_cast<std::int64_t>(static_cast<double>(two_thirds) * factor);
    return std::clamp((width + multiple - 1) / multiple * multiple, kFfnRange.min, kFfnRange.max);
}

void read_sizes(ConfigReader& read, const Json& config, const Recognised& recognised, Model& model) {
    const Family& family = *recognised.family;
    if (family.has(single_parts))
        apart(read_parts)(read, model);
    else
        model.layers = read.required(kLayers, kLayersRange);
    model.hidden = read.required(kHidden, kHiddenRange);
    model.heads = family.heads_default > 0 ? read.optional(kHeads, kHeadsRange, family.heads_default, class_default(model))
                                           : read.required(kHeads, kHeadsRange);
    model.vocabulary = family.vocabulary_default > 0
                           ? read.optional(kVocabulary, kVocabularyRange, family.vocabulary_default, class_default(model))
                           : read.required(kVocabulary, kVocabularyRange);
    if (read.has(kDim) && read.has(kMultiple) && !read.has(kFfn))
        model.ffn = apart(width_of_multiple)(read, config, model.hidden);
    else if (!model.gated)
        model.ffn = read.optional(kFfn, kFfnRange, 4 * model.hidden, "import.four_times_hidden");
    else if (family.experts == nullptr || read.has(kFfn))
        model.ffn = read.required(kFfn, kFfnRange);
    if (config.contains("model_type") && config["model_type"] == "qwen")  // both matrices of its gate together
        model.ffn = std::max<std::int64_t>(model.ffn / 2, 1);
    const bool one = family.kv_heads_default == 1, as_many = family.kv_heads_default <= 1 || !recognised.known;  // one: unless it is told
    const std::int64_t usual = !as_many ? family.kv_heads_default : read.flag("multi_query", one) ? 1 : model.heads;
    if (family.has(falcon_keys))
        model.kv_heads = falcon_kv_heads(read, model);
    else
        model.kv_heads = read.optional(kKvHeads, kHeadsRange, usual, !family.has(no_kv_key) && !one ? class_default(model) : Text());
    if (!family.latent()) model.head_dim = read.optional(kHeadDim, kHeadDimRange, usual_head_dim(family, recognised.known, model));
    model.max_positions = read.optional(kPositions, kPositionsRange, 0);
    if (!model.one_part) model.multi_token_layers = static_cast<int>(read.optional(kMultiToken, kMultiTokenRange, 0));
}

// What only the outer object of a file says of the embeddings holds for the text model too.
bool read_outer_tie(ConfigReader& read, const Json& given, const Family& family, const Model& model) {
    const auto outer = given.find("tie_word_embeddings");
    const bool told = outer != given.end() && outer->is_boolean();
    if (told) read.used("tie_word_embeddings");
    return read.flag("tie_word_embeddings", told ? outer->get<bool>() : family.tied_by_default, told ? Text() : class_default(model));
}

void read_structure(ConfigReader& read, const Json* outer, const Family& family, Model& model) {
    model.tied = outer != nullptr ? apart(read_outer_tie)(read, *outer, family, model)
                                  : read.flag("tie_word_embeddings", family.tied_by_default, class_default(model));
    const bool biases = family.has(falcon_keys) ? read.flag("bias", false) : family.out_and_mlp_bias;
    const bool glm = family.has(glm_keys), attention_bias = read.flag("attention_bias", glm ? family.qkv_bias : biases);
    bool qkv_bias = family.qkv_bias && !family.out_and_mlp_bias && !glm;  // Qwen2's have no key
    if (family.has(qkv_key)) qkv_bias = read.flag("qkv_bias", qkv_bias);
    model.qkv_bias = attention_bias || qkv_bias;
    model.attention_out_bias = attention_bias && !glm && (!qkv_bias || read.flag("attention_out_bias", true));  // Seed-OSS has that key
    model.mlp_bias = read.flag("mlp_bias", biases);
    model.norms_per_layer = static_cast<int>(read.optional(kNorms, kNormsRange, usual_norms(read, family)));
    model.qk_norm_whole = model.qk_norm && family.has(whole_qk_norm);
    model.gelu_gate = family.has(gelu_gate);
    model.limited_gate = family.has(limited_gate);
    model.attention_sinks = family.has(attention_sinks);
    model.attention_gate = read.flag("attn_output_gate", family.has(output_gate));
    // the one key of Falcon 7B is not repeated, and none of PyTorch's kernels takes it as it is (modeling_falcon.py)
    model.plain_attention = family.has(plain_attention) || (family.has(falcon_keys) && model.kv_heads == 1);
    model.embedding_norm = family.has(embedding_norm);
    model.joined_qkv = family.has(joined_qkv);
    model.gelu_steps = family.has(gelu_steps);
    model.capped_logits = family.has(capped_logits);
    model.relu = family.has(relu);
    model.norms_in_32_bits = family.has(norms_in_32_bits);
    model.parallel_norms = family.has(parallel_norms) && read.flag("use_parallel_residual", true);
    const std::string name = read.text("_name_or_path");
    const std::string last = name.substr(name.rfind('/') + 1);
    if (name.size() <= 120) model.label = last;
}

// Sets the layers of a config's list to `value`.
void mark_layers(ConfigReader& read, const Json& named, std::string_view name, std::uint8_t value, std::vector<std::uint8_t>& list) {
    if (!named.is_array())
        return read.problem(name, "type", shown(named), Text("problem.layer_list").with("key", read.path(name)), {}, nullptr);
    const std::int64_t most = list.empty() ? kLayersRange.max : static_cast<std::int64_t>(list.size());  // empty: not readable
    for (std::size_t i = 0; i < named.size(); ++i) {
        const auto layer = read.integer(named[i], std::string(name) + "[" + std::to_string(i) + "]", {0, most - 1});
        if (!layer) break;  // the first mistake in a list is enough
        if (*layer < static_cast<std::int64_t>(list.size())) list[static_cast<std::size_t>(*layer)] = value;
    }
}

// A kind of feed-forward part for each layer.
void mark_each(const Json& each, std::vector<std::uint8_t>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string kind = each[i].dump();
        list[i] = kind == "1" || kind == "\"sparse\"";
    }
}

// Which layers have experts. Every family's rule counts, since each is neutral where its key is absent.
ExpertLayers read_expert_layers(ConfigReader& read, const ExpertDefaults& usual, const Model& model) {
    const std::int64_t layers = model.layers, most = layers > 0 ? layers : kLayersRange.max;  // 0 = not readable
    const std::int64_t dense = read.optional(kLeadingDense, {0, most}, std::min<std::int64_t>(usual.leading_dense, most),
                                             usual.leading_dense > 0 ? class_default(model) : Text());
    std::string_view name;
    const Json* each = read.find(kEachLayer, name);
    if (each != nullptr && (!each->is_array() || static_cast<std::int64_t>(each->size()) < layers)) each = nullptr;
    const std::int64_t frequency = each != nullptr ? 1 : std::max<std::int64_t>(read.optional(kFrequency, kLayersRange, 1), 1);
    const std::int64_t step = std::max<std::int64_t>(read.optional(kSparseStep, kLayersRange, 1), 1);
    std::vector<std::uint8_t> list(static_cast<std::size_t>(layers));
    for (std::int64_t i = 0; i < layers; ++i) list[static_cast<std::size_t>(i)] = i >= dense && i % frequency == 0 && (i + 1) % step == 0;
    if (each != nullptr) apart(mark_each)(*each, list);
    if (const Json* named = read.find(kExpertLayers, name)) {
        std::fill(list.begin(), list.end(), 0);
        mark_layers(read, *named, name, 1, list);
    }
    if (const Json* named = read.find(kDenseLayers, name)) mark_layers(read, *named, name, 0, list);
    return ExpertLayers(std::move(list));
}

// One group, or as many as there are, limits nothing.
void read_groups(ConfigReader& read, const ExpertDefaults& usual, const Text& why, Experts& experts) {
    const std::int64_t groups = read.optional_or_none(kGroups, kExpertsRange, usual.groups, usual.groups == 0 ? Text() : why);
    const std::int64_t used =
        read.optional_or_none(kGroupsPerToken, kExpertsRange, usual.groups_per_token, usual.groups == 0 ? Text() : why);
    if (used == 0 || used >= groups) return;
    experts.groups = groups;
    experts.groups_per_token = used;
}

void read_experts(ConfigReader& read, const Recognised& recognised, Model& model) {
    const ExpertDefaults usual = recognised.known ? recognised.family->experts->usual : ExpertDefaults{};
    const auto why = [&](std::int64_t otherwise) { return otherwise == 0 ? Text() : class_default(model); };
    Experts& experts = model.experts;
    const std::size_t problems_before = read.problems();
    experts.count = read.optional_or_none(kExperts, kExpertsRange, usual.count, why(usual.count));
    if (experts.count > 0 || read.problems() != problems_before) {
        if (!model.one_part) model.expert_layers = read_expert_layers(read, usual, model);
        experts.per_token = usual.per_token > 0 || read.has(kPerToken)
                                ? read.optional(kPerToken, {1, kExpertsRange.max}, usual.per_token, why(usual.per_token))
                                : read.required(kPerToken, {1, kExpertsRange.max});
        experts.ffn = read.optional(kExpertFfn, kFfnRange, usual.ffn, why(usual.ffn));
        if (experts.ffn == 0) experts.ffn = model.ffn;
        experts.latent = read.optional_or_none(kExpertLatent, {0, kFfnRange.max}, 0);
        model.ffn = read.optional(kDenseFfn, kFfnRange, model.ffn);  // Llama 4's name; intermediate_size is an expert's there
        experts.shared_ffn = read.optional_or_none(kSharedFfn, {0, kFfnRange.max}, usual.shared_ffn, why(usual.shared_ffn));
        if (experts.shared_ffn == 0)
            experts.shared_ffn =
                experts.ffn * read.optional_or_none(kSharedCount, kExpertsRange, usual.shared_count, why(usual.shared_count));
        experts.shared_gate = recognised.family->experts->shared_gate && experts.shared_ffn > 0;
        experts.router_bias = recognised.family->experts->router_bias;
        read_groups(read, usual, class_default(model), experts);
    }
    const auto layers = static_cast<std::int64_t>(model.expert_layers.size());
    const bool no_dense = experts.ffn > 0 && model.expert_layers.count() == layers;
    if (!read.has(kFfn)) model.ffn = no_dense ? experts.ffn : read.required(kFfn, kFfnRange);
    if (experts.count == 0 && is_shared_alone(*recognised.family->experts))
        model.ffn = read.optional(kSharedFfn, kFfnRange, usual.shared_ffn, class_default(model));
    if (model.expert_layers.count() == 0) {
        experts = {};
        model.expert_layers = {};
    }
}

void read_latent(ConfigReader& read, bool known, Model& model) {
    const auto number = [&](std::string_view key, Range range, std::int64_t usual) {
        const Names names(&key, 1);
        return known ? read.optional(names, range, usual, class_default(model)) : read.required(names, range);
    };
    constexpr LatentAttention kUsual = kLatentDefaults;
    LatentAttention& latent = model.latent;
    latent.q_rank = read.optional_or_none(kQueryRank, kRankRange, known ? kUsual.q_rank : 0, known ? class_default(model) : Text());
    latent.kv_rank = number("kv_lora_rank", kRankRange, kUsual.kv_rank);
    latent.nope_dim = number("qk_nope_head_dim", kHeadDimRange, kUsual.nope_dim);
    latent.rope_dim = number("qk_rope_head_dim", kHeadDimRange, kUsual.rope_dim);
    latent.value_dim = number("v_head_dim", kHeadDimRange, kUsual.value_dim);
    model.head_dim = latent.nope_dim + latent.rope_dim;
}

void check_experts(ConfigReader& read, const Model& model) {
    const Experts& experts = model.experts;
    if (experts.per_token > experts.count) {
        const std::string_view name = read.name_of(kPerToken);
        read.problem(name, "range", experts.per_token,
                     Text("problem.experts_per_token").with("visits", experts.per_token).with("experts", experts.count).with("key", name),
                     {}, experts.count);
    }
    const double each = 3 * static_cast<double>(model.layers * model.hidden) * static_cast<double>(experts.ffn);
    const auto most = static_cast<std::int64_t>(kMostExpertWeights / std::max(each, 1.0));
    if (experts.count > most)
        read.problem(
            read.name_of(kExperts), "range", experts.count,
            Text("problem.too_many_experts").with("experts", experts.count).with("width", experts.ffn).with("layers", model.layers),
            "suggestion.correct_experts", most > 0 ? Json(most) : Json());
    if (experts.shared_ffn > kFfnRange.max)
        read.problem(read.name_of(kSharedCount), "range", experts.shared_ffn / experts.ffn,
                     Text("problem.shared_experts_too_wide").with("width", experts.shared_ffn).with("most", kFfnRange.max), {},
                     kFfnRange.max / experts.ffn);
}

void check_heads(ConfigReader& read, const Family& family, const Model& model) {
    if (model.heads % model.kv_heads != 0) {
        std::int64_t nearest = model.heads;
        for (std::int64_t n = 1; n < model.heads; ++n)
            if (model.heads % n == 0 && std::abs(n - model.kv_heads) < std::abs(nearest - model.kv_heads)) nearest = n;
        read.problem("num_key_value_heads", "range", model.kv_heads,
                     Text("problem.kv_heads_of_model").with("key", "num_key_value_heads").with("heads", model.heads), {}, nearest);
    }
    if (family.latent()) return;
    if (model.head_dim > kHeadDimRange.max)
        read.problem("num_attention_heads", "range", model.heads,
                     Text("problem.heads_too_wide").with("heads", model.heads).with("each", model.head_dim).with("most", kHeadDimRange.max),
                     "suggestion.correct_hidden_or_heads", nullptr);
    if (!read.has(kHeadDim) && family.head_dim_default == 0 && model.hidden % model.heads != 0)
        read.problem("num_attention_heads", "range", model.heads,
                     Text("problem.hidden_divides").with("hidden", model.hidden).with("heads", model.heads),
                     "suggestion.correct_one_or_head_dim", nullptr);
}

void check_contradictions(ConfigReader& read, const Family& family, const Model& model) {
    check_experts(read, model);
    check_heads(read, family, model);
    if (model.learned_positions && model.max_positions == 0) read.missing("n_positions");
}

constexpr std::size_t kMostKeys = 200;

// Of parts for pictures or sound: Phi-4-multimodal, Qwen-VL, Qwen-Omni, and LLaVA have keys of their own.
constexpr char kSenses[] =
    "(second:,vision_config,audio_config,thinker_config,talker_config,audio_processor,visual,mm_vision_tower,:second)";

void list_unused(const std::string& key, const Json& value, ImportReport& report) {
    if (!value.is_null() && std::string_view(kSenses).find(',' + key + ',') != std::string_view::npos)
        report.assumed.push_back({key, nullptr, "import.text_alone"});
    else
        report.ignored.push_back(key);
}

void list_outer_keys(const Json& given, const Json& config, ImportReport& report) {
    for (auto entry = given.begin(); entry != given.end() && report.ignored.size() < kMostKeys; ++entry)
        if (&*entry != &config && entry.key() != "tie_word_embeddings") list_unused(entry.key(), *entry, report);
}

void list_keys(const Json& given, const Json& config, ImportReport& report) {
    if (&config != &given) apart(list_outer_keys)(given, config, report);
    for (auto entry = config.begin(); entry != config.end() && report.ignored.size() < kMostKeys; ++entry)
        if (std::find(report.used.begin(), report.used.end(), entry.key()) == report.used.end()) list_unused(entry.key(), *entry, report);
}

}  // namespace

std::optional<Model> read_model(const Json& given, std::string_view prefix, Problems& problems, ImportReport& report) {
    const std::size_t problems_before = problems.size();
    std::string path(prefix);
    if (!given.is_object() || !looks_like_a_config(text_model(given, path))) {
        std::string field(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
        problems.push_back({std::move(field), "type", shown(given), "problem.no_config", "suggestion.paste_config", nullptr});
        return std::nullopt;
    }
    path = prefix;
    const Json& config = text_model(given, path);
    ConfigReader read(config, path, problems, report);
    Model model;
    const Recognised recognised = read_family(read, config, model, report);
    if (!recognised.known && problems.size() != problems_before) return std::nullopt;  // such a model may have other keys
    read_sizes(read, config, recognised, model);
    read_structure(read, &config == &given ? nullptr : &given, *recognised.family, model);
    if (recognised.family->experts != nullptr && (!model.one_part || model.expert_layers.count() > 0))
        read_experts(read, recognised, model);
    if (recognised.family->latent()) read_latent(read, recognised.known, model);
    read_layer_kinds(read, recognised, config, model, report);
    if (problems.size() == problems_before) check_contradictions(read, *recognised.family, model);
    list_keys(given, config, report);
    if (problems.size() != problems_before) return std::nullopt;
    return model;
}

}  // namespace fourfold
