// Based on the configuration classes of Hugging Face transformers (models/*/configuration_*.py): names, aliases and class defaults.
#include "model.h"

#include <algorithm>
#include <cstdlib>
#include <span>

namespace fourfold {

// ---- families: what a model_type says without a key
namespace {

struct Family {
    std::string_view type;
    bool gated;
    bool tied_by_default;             // class default of tie_word_embeddings
    std::int64_t kv_heads_default;    // 0 = as many as query heads
    std::int64_t head_dim_default;    // 0 = hidden size / heads
    bool qkv_bias, out_and_mlp_bias;  // biases where no key says otherwise
    bool layer_norm, learned_positions, qk_norm;
    int norms_per_layer;
};

constexpr Family kFamilies[] = {
    // type        gated  tied   kv d    qkv    o+mlp  LayerNorm pos qk   norms
    {"llama", true, false, 0, 0, false, false, false, false, false, 2},
    {"mistral", true, false, 8, 0, false, false, false, false, false, 2},
    {"qwen2", true, false, 0, 0, true, false, false, false, false, 2},
    {"qwen3", true, false, 0, 128, false, false, false, false, true, 2},
    {"gemma", true, true, 0, 256, false, false, false, false, false, 2},
    {"gemma2", true, true, 0, 256, false, false, false, false, false, 4},
    {"gemma3_text", true, true, 0, 256, false, false, false, false, true, 4},
    {"gpt2", false, true, 0, 0, true, true, true, true, false, 2},
    {"gpt_neox", false, false, 0, 0, true, true, true, false, false, 2},
};

// Keys whose presence means a structure that the formulas do not cover yet: better no answer than a wrong one.
struct Unsupported {
    std::string_view key, what;
};
constexpr Unsupported kUnsupported[] = {
    {"num_local_experts", "uses a mixture of experts"}, {"num_experts", "uses a mixture of experts"},
    {"n_routed_experts", "uses a mixture of experts"},  {"moe_num_experts", "uses a mixture of experts"},
    {"num_moe_experts", "uses a mixture of experts"},   {"ffn_config", "describes its feed-forward part in a nested object"},
    {"mamba_d_state", "has state-space layers"},        {"kv_lora_rank", "uses multi-head latent attention"},
    {"state_size", "has state-space layers"},           {"is_encoder_decoder", "has an encoder beside the decoder"},
};

// Keys that mean one quantity, the usual name first (attribute_map of the configuration classes).
using Names = std::span<const std::string_view>;
constexpr std::string_view kLayers[] = {"num_hidden_layers", "n_layer", "num_layers"};
constexpr std::string_view kHidden[] = {"hidden_size", "n_embd", "d_model"};
constexpr std::string_view kFfn[] = {"intermediate_size", "n_inner", "ffn_hidden_size"};
constexpr std::string_view kHeads[] = {"num_attention_heads", "n_head"};
constexpr std::string_view kKvHeads[] = {"num_key_value_heads"};
constexpr std::string_view kHeadDim[] = {"head_dim"};
constexpr std::string_view kVocabulary[] = {"vocab_size"};
constexpr std::string_view kPositions[] = {"max_position_embeddings", "n_positions"};

// Far above every published model, and small enough that no product of them leaves the exact range of a double.
constexpr Range kLayersRange{1, 2'000}, kHiddenRange{1, 262'144}, kFfnRange{1, 2'097'152}, kHeadsRange{1, 1'024}, kHeadDimRange{1, 1'024},
    kVocabularyRange{1, 16'777'216}, kPositionsRange{1, 1'000'000'000};

// Looks keys up in a config, remembering which were used.
class ConfigReader {
 public:
    ConfigReader(const Json& config, std::string_view prefix, Problems& problems, ImportReport& report)
        : config_(config), prefix_(prefix), problems_(problems), report_(report) {}

    // The first of `names` that is present and not null.
    const Json* find(Names names, std::string_view& found) {
        for (const std::string_view name : names) {
            const auto entry = config_.find(std::string(name));
            if (entry == config_.end()) continue;
            used(name);
            if (entry->is_null()) continue;  // transformers writes null for "the class default"
            found = name;
            return &*entry;
        }
        return nullptr;
    }
    std::int64_t required(Names names, Range range, const char* meaning) {
        std::string_view name;
        if (const Json* value = find(names, name)) return read_integer(*value, path(name), path(name), range, problems_).value_or(0);
        problems_.push_back({path(names[0]), "missing", nullptr, path(names[0]) + " is missing: the " + meaning + ".",
                             "Add it; it is in the model's config.json.", nullptr});
        return 0;
    }
    std::int64_t optional(Names names, Range range, std::int64_t otherwise, const std::string& why) {
        std::string_view name;
        if (const Json* value = find(names, name)) return read_integer(*value, path(name), path(name), range, problems_).value_or(0);
        if (!why.empty()) report_.assumed.push_back({std::string(names[0]), otherwise, why});
        return otherwise;
    }
    bool flag(std::string_view key, bool otherwise, const std::string& why) {
        std::string_view name;
        if (const Json* value = find(Names(&key, 1), name))
            return read_boolean(*value, path(key), path(key), problems_).value_or(otherwise);
        if (!why.empty()) report_.assumed.push_back({std::string(key), otherwise, why});
        return otherwise;
    }
    std::string text(std::string_view key) {
        std::string_view name;
        const Json* value = find(Names(&key, 1), name);
        const auto* content = value == nullptr ? nullptr : value->get_ptr<const Json::string_t*>();
        if (value != nullptr && content == nullptr)
            problems_.push_back({path(key), "type", shown(*value), path(key) + " must be a text.", "", nullptr});
        return content == nullptr ? "" : *content;
    }
    std::string path(std::string_view key) const { return prefix_ + std::string(key); }
    void problem(std::string_view key, const char* rule, Json value, std::string message, std::string suggestion, Json nearest) {
        problems_.push_back({path(key), rule, std::move(value), std::move(message), std::move(suggestion), std::move(nearest)});
    }
    void used(std::string_view key) {
        if (std::find(report_.used.begin(), report_.used.end(), key) == report_.used.end()) report_.used.emplace_back(key);
    }

 private:
    const Json& config_;
    std::string prefix_;
    Problems& problems_;
    ImportReport& report_;
};

const Family* family_of(const std::string& type) {
    const auto found = std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& family) { return family.type == type; });
    return found == std::end(kFamilies) ? nullptr : &*found;
}

// Multimodal files nest the language model, and `path` then ends in its key and a dot; a job or a plain file does not.
const Json& text_model(const Json& config, std::string& path) {
    for (const char* key : {"text_config", "llm_config", "language_config"}) {
        const auto nested = config.find(key);
        if (nested == config.end() || !nested->is_object()) continue;
        path += std::string(key) + ".";
        return *nested;
    }
    return config;
}

bool looks_like_a_config(const Json& config) {
    const auto any = [&](Names names) {
        return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return config.contains(std::string(name)); });
    };
    return config.contains("model_type") || any(kHidden) || any(kLayers) || any(kHeads) || any(kVocabulary);
}

bool is_set(const Json& value) { return !value.is_null() && value != Json(false) && value != Json(0) && value != Json(1); }

// ---- reading, step by step
const Family& read_family(ConfigReader& read, const Json& config, Model& model, ImportReport& report) {
    model.type = read.text("model_type");
    const Family* family = family_of(model.type);
    if (family == nullptr) {
        // The activation tells two matrices from three: gated feed-forward parts use SiLU nearly everywhere, plain ones GELU or ReLU.
        const auto activation = config.find(config.contains("hidden_act") ? "hidden_act" : "activation_function");
        const std::string name = activation != config.end() && activation->is_string() ? std::string(*activation) : "";
        const bool plain =
            !model.type.starts_with("gemma") && (name.find("gelu") != std::string::npos || name.find("relu") != std::string::npos);
        family = family_of(plain ? "gpt_neox" : "llama");
        const std::string why = model.type.empty() ? "no model_type is given" : shown(Json(model.type)).dump() + " is not known here";
        report.assumed.push_back(
            {"model_type", std::string(family->type),
             why + (plain ? "; read as a model built like GPT-NeoX, because of its activation " + shown(Json(name)).dump()
                          : "; read as a model built like Llama, by its numbers")});
        model.type = family->type;
    }
    for (const Unsupported& unsupported : kUnsupported) {
        const auto entry = config.find(std::string(unsupported.key));
        if (entry == config.end() || !is_set(*entry)) continue;
        read.problem(unsupported.key, "unsupported", shown(*entry),
                     "This model " + std::string(unsupported.what) + " (" + std::string(unsupported.key) +
                         "), which Fourfold's formulas do not cover yet.",
                     "Choose a dense decoder model, such as Llama, Mistral or Qwen2.5.", nullptr);
    }
    return *family;
}

std::string class_default(const Model& model) { return "absent: the default of model_type " + model.type; }

std::int64_t usual_head_dim(const Family& family, const Model& model) {
    return family.head_dim_default != 0 ? family.head_dim_default : (model.heads > 0 ? model.hidden / model.heads : 0);
}

void read_sizes(ConfigReader& read, const Family& family, Model& model) {
    model.layers = read.required(kLayers, kLayersRange, "number of layers");
    model.hidden = read.required(kHidden, kHiddenRange, "hidden size");
    model.heads = read.required(kHeads, kHeadsRange, "number of attention heads");
    model.vocabulary = read.required(kVocabulary, kVocabularyRange, "vocabulary size");
    if (family.gated)
        model.ffn = read.required(kFfn, kFfnRange, "width of the feed-forward part");
    else
        model.ffn = read.optional(kFfn, kFfnRange, 4 * model.hidden, "absent: four times the hidden size");
    const bool has_kv_heads = family.type != "gpt2" && family.type != "gpt_neox";  // others leave the key out only by default
    model.kv_heads = read.optional(kKvHeads, kHeadsRange, family.kv_heads_default != 0 ? family.kv_heads_default : model.heads,
                                   has_kv_heads ? class_default(model) : "");
    model.head_dim = read.optional(kHeadDim, kHeadDimRange, usual_head_dim(family, model), "");
    model.max_positions = read.optional(kPositions, kPositionsRange, 0, "");
}

void read_structure(ConfigReader& read, const Family& family, Model& model) {
    model.gated = family.gated;
    model.tied = read.flag("tie_word_embeddings", family.tied_by_default, class_default(model));
    const bool attention_bias = read.flag("attention_bias", family.out_and_mlp_bias, "");
    model.qkv_bias = attention_bias || (family.qkv_bias && !family.out_and_mlp_bias);  // Qwen2's have no key
    model.attention_out_bias = attention_bias;
    model.mlp_bias = read.flag("mlp_bias", family.out_and_mlp_bias, "");
    model.layer_norm = family.layer_norm;
    model.learned_positions = family.learned_positions;
    model.qk_norm = family.qk_norm;
    model.norms_per_layer = family.norms_per_layer;
    const std::string name = read.text("_name_or_path");
    const std::string last = name.substr(name.rfind('/') + 1);
    model.label = last.empty() || name.size() > 120 ? "Your model" : last;
}

void check_contradictions(ConfigReader& read, const Family& family, const Model& model, bool head_dim_given) {
    if (model.heads % model.kv_heads != 0) {
        std::int64_t nearest = model.heads;
        for (std::int64_t n = 1; n < model.heads; ++n)
            if (model.heads % n == 0 && std::abs(n - model.kv_heads) < std::abs(nearest - model.kv_heads)) nearest = n;
        read.problem("num_key_value_heads", "range", model.kv_heads,
                     "num_key_value_heads must divide the " + grouped(model.heads) + " attention heads.", "", nearest);
    }
    if (model.head_dim > kHeadDimRange.max)
        read.problem("num_attention_heads", "range", model.heads,
                     "With " + grouped(model.heads) + " attention heads each would hold " + grouped(model.head_dim) + " values; at most " +
                         grouped(kHeadDimRange.max) + " are read.",
                     "Correct the hidden size or the number of heads.", nullptr);
    if (!head_dim_given && family.head_dim_default == 0 && model.hidden % model.heads != 0)
        read.problem("num_attention_heads", "range", model.heads,
                     "The hidden size " + grouped(model.hidden) + " cannot be shared evenly among " + grouped(model.heads) +
                         " attention heads, and no head_dim is given.",
                     "Correct one of them, or add head_dim.", nullptr);
    if (model.learned_positions && model.max_positions == 0)
        read.problem("n_positions", "missing", nullptr, "n_positions is missing: the number of learned positions.",
                     "Add it; it is in the model's config.json.", nullptr);
}

void list_keys(const Json& given, const Json& config, ImportReport& report) {
    constexpr std::size_t kMost = 200;
    if (&config != &given)
        for (auto entry = given.begin(); entry != given.end() && report.ignored.size() < kMost; ++entry)
            if (&*entry != &config) report.ignored.push_back(entry.key());
    for (auto entry = config.begin(); entry != config.end() && report.ignored.size() < kMost; ++entry)
        if (std::find(report.used.begin(), report.used.end(), entry.key()) == report.used.end()) report.ignored.push_back(entry.key());
}

}  // namespace

std::optional<Model> read_model(const Json& given, std::string_view prefix, Problems& problems, ImportReport& report) {
    const std::size_t problems_before = problems.size();
    std::string path(prefix);
    if (!given.is_object() || !looks_like_a_config(text_model(given, path))) {
        std::string field(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
        problems.push_back({std::move(field), "type", shown(given),
                            "This JSON is not a model's config.json: it has none of model_type, hidden_size, "
                            "num_hidden_layers, num_attention_heads, vocab_size.",
                            "Paste the file config.json from the model's page on Hugging Face.", nullptr});
        return std::nullopt;
    }
    path = prefix;
    const Json& config = text_model(given, path);
    ConfigReader read(config, path, problems, report);
    Model model;
    const Family& family = read_family(read, config, model, report);
    read_sizes(read, family, model);
    read_structure(read, family, model);
    const auto head_dim = config.find("head_dim");
    if (problems.size() == problems_before) check_contradictions(read, family, model, head_dim != config.end() && !head_dim->is_null());
    list_keys(given, config, report);
    if (problems.size() != problems_before) return std::nullopt;
    return model;
}

Json canonical_config(const Model& model) {
    Json config = Object()
                      .add("model_type", model.type)
                      .add("hidden_size", model.hidden)
                      .add("intermediate_size", model.ffn)
                      .add("num_hidden_layers", model.layers)
                      .add("num_attention_heads", model.heads)
                      .add("num_key_value_heads", model.kv_heads)
                      .add("head_dim", model.head_dim)
                      .add("vocab_size", model.vocabulary);
    if (model.max_positions > 0) config["max_position_embeddings"] = model.max_positions;
    config["tie_word_embeddings"] = model.tied;
    const Family* family = family_of(model.type);
    const bool usual_bias = family != nullptr && family->out_and_mlp_bias;
    if (model.attention_out_bias != usual_bias) config["attention_bias"] = model.attention_out_bias;
    if (model.mlp_bias != usual_bias) config["mlp_bias"] = model.mlp_bias;
    if (model.label != "Your model") config["_name_or_path"] = model.label;
    return config;
}

std::int64_t parameter_count(const Model& m) {
    const std::int64_t q = m.heads * m.head_dim, kv = m.kv_heads * m.head_dim;
    const std::int64_t attention = m.hidden * (q + 2 * kv) + q * m.hidden + (m.qkv_bias ? q + 2 * kv : 0) +
                                   (m.attention_out_bias ? m.hidden : 0) + (m.qk_norm ? 2 * m.head_dim : 0);
    const std::int64_t mlp = (m.gated ? 3 : 2) * m.hidden * m.ffn + (m.mlp_bias ? (m.gated ? 2 : 1) * m.ffn + m.hidden : 0);
    const std::int64_t norm = (m.layer_norm ? 2 : 1) * m.hidden;
    const std::int64_t positions = m.learned_positions ? m.max_positions * m.hidden : 0;
    return m.layers * (attention + mlp + m.norms_per_layer * norm) + norm + (m.tied ? 1 : 2) * m.vocabulary * m.hidden + positions;
}

}  // namespace fourfold
