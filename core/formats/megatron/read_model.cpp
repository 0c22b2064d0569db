// The model that Megatron-LM's arguments describe, as a config.json: arguments.py and transformer_config.py at d98e8a64dd.
#include <algorithm>
#include <utility>

#include "base/sorted.h"
#include "base/text.h"
#include "formats/megatron/read.h"
#include "formats/named_model.h"
#include "formats/shell/shell.h"
#include "model/catalog.h"
#include "model/model.h"

namespace fourfold {

// Vocabularies that an argument names without their size (megatron/training/tokenizer/tokenizer.py; the files that it downloads).
static std::optional<std::int64_t> vocabulary_of(const std::string& tokenizer) {
    if (tokenizer == "GPT2BPETokenizer") return 50'257;
    if (tokenizer == "Llama2Tokenizer") return 32'000;
    if (tokenizer == "Llama3Tokenizer") return 128'256;  // of forks: Meta's own file
    return std::nullopt;
}

void answer_vocabulary(Import& in, const std::map<std::string, std::string>& answers) {
    for (Entry& entry : in.entries) {
        const std::string value = entry.value.is_string() ? entry.value.get<std::string>() : dumped(entry.value);
        const bool none = value == "0" || (value.size() > 1 && value[0] == '-');
        if (none && (entry.key == "vocab_size" || entry.key == "padded_vocab_size")) entry.written = std::exchange(entry.value, nullptr);
    }
    if (const auto answer = answers.find("vocab_size"); answer != answers.end() && !in.has("vocab_size"))
        in.entries.push_back({"vocab_size", "vocab_size", answer->second});
}

// Whether the files of a byte-pair encoding are those of another tokenizer than GPT-2's: "…/nordic_tokenizer_131072/merges.txt".
static bool names_another(const Import& in) {
    std::string files;
    for (const char* key : {"vocab_file", "merge_file"})
        if (const Entry* file = in.last(key); file != nullptr && file->value.is_string())
            files += lower_case(without_marks(file->value.get<std::string>())) + " ";
    if (files.find("gpt2") != std::string::npos || files.find("gpt-2") != std::string::npos || files.find("gpt_2") != std::string::npos)
        return false;
    return files.find("tokenizer") != std::string::npos;
}

// The last folder of a path.
static std::string folder_of(const std::string& path) {
    const std::size_t end = path.rfind('/');
    if (end == std::string::npos || end == 0) return "";
    const std::size_t begin = path.rfind('/', end - 1);
    return path.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1));
}

// "baichuan2-7b-base": a model's name has its size.
static bool says_billions(std::string_view name) {
    for (std::size_t i = 0; i + 1 < name.size(); ++i) {
        const bool ends = i + 2 == name.size() || std::isalnum(static_cast<unsigned char>(name[i + 2])) == 0;
        if (std::isdigit(static_cast<unsigned char>(name[i])) != 0 && name[i + 1] == 'b' && ends) return true;
    }
    return false;
}

// Of the tokenizer, where the arguments name one of those; pretrain_gpt.py itself takes GPT-2's for a list of merges.
static std::optional<std::int64_t> tokenizer_words(Import& in) {
    auto tokenizer = in.text("tokenizer_type", "");
    if (!tokenizer && !in.has("tokenizer_type") && in.has("merge_file")) tokenizer = "GPT2BPETokenizer";
    auto words = tokenizer ? vocabulary_of(*tokenizer) : std::nullopt;
    if (tokenizer == "GPT2BPETokenizer" && names_another(in)) words.reset();
    if (tokenizer == "HuggingFaceTokenizer" && in.text("tokenizer_model", "").value_or("").starts_with("gpt2"))
        words = vocabulary_of("GPT2BPETokenizer");
    if (tokenizer == "Llama2Tokenizer") {  // a SentencePiece file, which may be anybody's
        const std::string file = lower_case(in.text("tokenizer_model", "").value_or("tokenizer.model"));
        const bool usual = file.ends_with("tokenizer.model") || file.find("llama") != std::string::npos;
        const std::string folder = folder_of(file);  // "Mixtral-8x7B/tokenizer.model"
        const bool another = file.find("llama") == std::string::npos && says_billions(folder);
        if (!usual || another || file.find("llm-jp") != std::string::npos) words.reset();
        if (const CatalogModel* model = another ? named_model(folder) : nullptr) tokenizer = folder, words = model->model.vocabulary;
    }
    for (const char* key : {"tokenizer_model", "tokenizer_name_or_path", "tokenizer_type"}) {  // a model's own, by its name
        if (words || !in.has(key) || !in.last(key)->open.empty()) continue;
        const auto name = in.text(key, "");
        const CatalogModel* model = name && name->find('/') != std::string::npos ? named_model(*name) : nullptr;
        if (model != nullptr) tokenizer = *name, words = model->model.vocabulary;
    }
    if (words) in.notes.push_back(Text("import_plan.note.tokenizer").with("tokenizer", *tokenizer).with("vocabulary", *words));
    return words;
}

// Forks say it in their own words.
static bool is_gated(Import& in) {
    const auto gate = in.text("glu_activation", "model");
    return in.on("swiglu", "model") || (gate && *gate != "None");
}

// Two thirds of four times as wide, in steps of 64 (1320); in FlagScale's fork times a factor, up to a multiple that is said.
static std::int64_t gated_width(Import& in, std::int64_t hidden) {
    const std::int64_t plain = hidden * 4 * 2 / 3;
    const auto multiple = in.whole("multiple_of", "model");
    if (!multiple || *multiple < 1 || *multiple > 1'000'000 || hidden < 1 || hidden > 1'000'000) return plain / 64 * 64;
    const double factor = in.number("hidden_dim_multiplier", "model").value_or(1);
    const auto width = static_cast<std::int64_t>(static_cast<double>(plain) * std::clamp(factor, 0.0, 100.0));
    return (width + *multiple - 1) / *multiple * *multiple;
}

static void read_width(Import& in, Json& config) {
    const auto hidden = in.whole("hidden_size", "model"), heads = in.whole("num_attention_heads", "model");
    const bool gated = is_gated(in);
    if (hidden) config["hidden_size"] = *hidden;
    if (heads) config["num_attention_heads"] = *heads;
    if (const auto layers = in.whole("num_layers", "model")) config["num_hidden_layers"] = *layers;
    // Absent: four times as wide, or with a gate two thirds of that in steps of 64 (1320).
    const auto ffn = in.whole("ffn_hidden_size", "model");
    const bool open = in.has("ffn_hidden_size") && !ffn;
    if (ffn)
        config["intermediate_size"] = *ffn;
    else if (hidden && !open)
        config["intermediate_size"] = gated ? gated_width(in, *hidden) : 4 * *hidden;
    const bool grouped = in.on("group_query_attention", "model");
    const auto groups = in.whole("num_query_groups", "model");                              // alone it has no effect
    const auto own = in.whole({"num_key_value_heads", "num_attention_heads_kv"}, "model");  // of forks, which needs no switch
    const bool single = in.text("attention_head_type", "model") == "multiquery";            // of BigCode's fork
    if (own || single)
        config["num_key_value_heads"] = own.value_or(1);
    else if (grouped && groups)
        config["num_key_value_heads"] = *groups;
    else if (heads)
        config["num_key_value_heads"] = *heads;
    if (const auto dim = in.whole("kv_channels", "model")) config["head_dim"] = *dim;
    // Only positions that are learned have a size.
    const Entry* const positions = in.last("position_embedding_type");  // "learned_absolute", as without it; "absolute" of forks
    const auto* kind = positions == nullptr || !positions->open.empty() ? nullptr : positions->value.get_ptr<const Json::string_t*>();
    const bool sized = (kind == nullptr || kind->find("absolute") != kind->npos) && !in.has("use_rotary_position_embeddings");
    if (const auto length = in.whole("max_position_embeddings", sized ? "model" : "")) config["max_position_embeddings"] = *length;
}

static void read_shape(Import& in, Json& config) {
    config["gated_mlp"] = is_gated(in);
    const auto norm = in.text("normalization", "model");
    const bool rms =
        in.on("use_rms_norm", "model") || in.on("rms_norm", "model") || in.on("RMSNorm", "model") || in.on("apply_layernorm_rms", "model");
    config["layer_norm"] = !rms && (!norm || *norm == "LayerNorm" || *norm == "layernorm");
    const auto positions = in.text("position_embedding_type", "model");
    const bool rotary = in.on("use_rotary_position_embeddings", "model");
    config["learned_positions"] = (!positions || *positions == "learned_absolute") && !rotary && !in.on("no_position_embedding", "model");
    const bool bias = !in.on("disable_bias_linear", "model");
    const bool none = in.on("disable_attention_bias", "model");
    config["attention_bias"] = bias && !none;
    config["mlp_bias"] = bias;
    config["tie_word_embeddings"] = !in.on("untie_embeddings_and_output_weights", "model") && !in.on("no_tie_embed_logits", "model");
    config["qk_layernorm"] = in.on("qk_layernorm", "model");
    in.on("squared_relu", "model");
    if (!bias && in.on("add_qkv_bias", "model")) config["model_type"] = "qwen2";
    read_window(in, config);
}

static void read_latent(Import& in, Json& config) {
    if (!in.on("multi_latent_attention", "model")) return;
    config["model_type"] = "deepseek_v3";
    const auto set = [&](const char* ours, const char* theirs, Json usual) {
        const auto value = in.whole(theirs, "model");
        config[ours] = value ? Json(*value) : std::move(usual);
    };
    set("q_lora_rank", "q_lora_rank", nullptr);  // usual values: transformer_config.py, MLATransformerConfig
    set("kv_lora_rank", "kv_lora_rank", 32);
    set("qk_nope_head_dim", "qk_head_dim", 128);
    set("qk_rope_head_dim", "qk_pos_emb_head_dim", 64);
    set("v_head_dim", "v_head_dim", 128);
    config.erase("head_dim");
    config["qk_layernorm"] = true;
}

std::optional<Json> dense_layers(const Json& value, std::int64_t layers) {
    std::string text = value.is_string() ? value.get<std::string>() : dumped(value);
    std::erase_if(text, [](char c) { return c == ' ' || c == '(' || c == ')' || c == '\'' || c == '"'; });
    Json dense = Json::array();
    constexpr std::int64_t kMost = 2'000;
    std::int64_t at = 0;
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {  // every so many layers has experts
        const std::int64_t every = text.size() < 5 ? std::stoll(text) : 0;
        if (every <= 0) return std::nullopt;
        for (; at < std::min(layers, kMost); ++at)
            if (at % every != 0) dense.push_back(at);
        return dense;
    }
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t end = text.find(']', i);
        if (text[i] != '[' || end == std::string::npos) return std::nullopt;
        std::string inside = text.substr(i + 1, end - i - 1);
        std::erase(inside, ',');
        std::int64_t times = 1;
        i = end + 1;
        if (i < text.size() && text[i] == '*') {
            std::size_t stop = i + 1;
            while (stop < text.size() && std::isdigit(static_cast<unsigned char>(text[stop])) != 0) ++stop;
            if (stop == i + 1 || stop - i > 5) return std::nullopt;
            times = std::stoll(text.substr(i + 1, stop - i - 1));
            i = stop;
        }
        if (i < text.size() && text[i] == '+') ++i;
        for (std::int64_t k = 0; k < times; ++k)
            for (const char c : inside) {
                if ((c != '0' && c != '1') || at >= kMost) return std::nullopt;
                if (c == '0') dense.push_back(at);
                ++at;
            }
    }
    return at == layers ? std::optional(dense) : std::nullopt;
}

static void read_experts(Import& in, Json& config) {
    const auto count = in.whole({"num_experts", "num_moe_experts"}, "model");
    if (!count && in.hangs("model"))  // their number is open, and what else is said of them is read then
        for (const char* key : {"moe_router_topk", "moe_ffn_hidden_size", "moe_shared_expert_intermediate_size"}) in.whole(key, "model");
    if (!count || *count <= 1) return;
    const bool latent = config.value("model_type", "") == "deepseek_v3";
    const bool bias = config.value("model_type", "") == "qwen2";  // of queries, keys and values alone
    if (!latent) config["model_type"] = bias ? "qwen2_moe" : config.value("qk_layernorm", false) ? "qwen3_moe" : "mixtral";
    config[latent ? "n_routed_experts" : "num_local_experts"] = *count;
    const bool deepspeed = in.has("moe_expert_parallel_size") || in.has("deepspeed");
    config["num_experts_per_tok"] = deepspeed ? in.whole("topk", "model").value_or(1) : in.whole("moe_router_topk", "model").value_or(2);
    const auto groups = in.whole("moe_router_num_groups", "model"), used = in.whole("moe_router_group_topk", "model");
    if (latent || (groups && used)) config["n_group"] = groups.value_or(1), config["topk_group"] = used.value_or(1);
    const auto ffn = in.whole("moe_ffn_hidden_size", "model");
    const std::int64_t width = ffn.value_or(config.value("intermediate_size", std::int64_t{0}));
    if (width > 0) config["moe_intermediate_size"] = width;                                                             // 1650
    const std::int64_t shared = std::clamp<std::int64_t>(in.whole("n_shared_experts", "model").value_or(0), 0, 1'000);  // of a fork
    config["shared_expert_intermediate_size"] =
        in.whole("moe_shared_expert_intermediate_size", "model").value_or(shared * std::min<std::int64_t>(width, 1'000'000));
    if (const auto reads = in.whole("moe_latent_size", "model")) config["moe_latent_size"] = *reads;
    in.on("moe_shared_expert_gate", "model");  // one value of each token, which no size of a model here depends on
    if (latent) config["n_shared_experts"] = 0;
    if (latent) config["first_k_dense_replace"] = 0;
    if (deepspeed) {  // every second layer, where nothing else is said
        const std::int64_t every = in.whole("expert_interval", "model").value_or(2);
        Json dense = Json::array();
        for (std::int64_t at = 0; at < std::min<std::int64_t>(config.value("num_hidden_layers", std::int64_t{0}), 2'000); ++at)
            if (every > 0 && (at + 1) % every != 0) dense.push_back(at);
        if (!dense.empty()) config["mlp_only_layers"] = dense;
        return;
    }
    if (const auto first = in.whole("first_k_dense_replace", "model"); first && *first > 0) {
        in.text("moe_layer_freq", "model");
        Json dense = Json::array();
        for (std::int64_t at = 0; at < std::min<std::int64_t>(*first, 2'000); ++at) dense.push_back(at);
        config["mlp_only_layers"] = dense;
        return;
    }
    if (in.has("first_k_dense_replace") && in.whole("moe_layer_freq", "model") == -1) return;  // MindSpeed: every layer has experts
    const Entry* list = in.last("moe_layer_freq");
    if (list == nullptr || !in.text("moe_layer_freq", "model")) return;
    const auto dense = dense_layers(list->value, config.value("num_hidden_layers", std::int64_t{0}));
    if (!dense)
        in.mark("moe_layer_freq", Fate::unknown);
    else if (!dense->empty())
        config["mlp_only_layers"] = *dense;
}

// Of Megatron's own list 1 says that a layer has linear attention; a number, that one layer in so many has not.
static void read_linear(Import& in, Json& config) {
    if (in.on("attention_output_gate", "model")) config["attn_output_gate"] = true;
    const auto kind = in.text("experimental_attention_variant", "model");
    if (!kind || *kind != "gated_delta_net") return kind ? in.mark("experimental_attention_variant", Fate::unknown) : void();
    config["model_type"] = config.contains("num_local_experts") ? "qwen3_5_moe_text" : "qwen3_5_text";
    if (!config.contains("attn_output_gate")) config["attn_output_gate"] = false;
    const std::int64_t layers = config.value("num_hidden_layers", std::int64_t{0});
    if (const std::int64_t heads = config.value("num_attention_heads", std::int64_t{0}); heads > 0 && !config.contains("head_dim"))
        config["head_dim"] = config.value("hidden_size", std::int64_t{0}) / heads;
    const auto set = [&](const char* ours, const char* theirs, std::int64_t usual) {
        config[ours] = in.whole(theirs, "model").value_or(usual);
    };
    set("linear_num_key_heads", "linear_num_key_heads", 16);  // usual values: transformer_config.py
    set("linear_num_value_heads", "linear_num_value_heads", 32);
    set("linear_key_head_dim", "linear_key_head_dim", 128);
    set("linear_value_head_dim", "linear_value_head_dim", 128);
    set("linear_conv_kernel_dim", "linear_conv_kernel_dim", 4);
    const Entry* list = in.last("linear_attention_freq");
    if (list == nullptr || !in.text("linear_attention_freq", "model")) return;
    if (const auto every = in.whole("linear_attention_freq", "model")) return config["full_attention_interval"] = *every, void();
    const auto full = dense_layers(list->value, layers);
    if (!full) return in.mark("linear_attention_freq", Fate::unknown);
    Json types = Json::array();
    for (std::int64_t i = 0; i < layers; ++i)
        types.push_back(std::find(full->begin(), full->end(), Json(i)) != full->end() ? "full_attention" : "linear_attention");
    config["layer_types"] = std::move(types);
}

// Everything but the vocabulary, which many files leave to the tokenizer, and positions, which change nothing with rotary ones.
static bool same_shape(const Model& a, const Model& b) {
    return a.layers == b.layers && a.hidden == b.hidden && a.heads == b.heads && a.kv_heads == b.kv_heads && a.gated == b.gated &&
           (a.ffn == b.ffn || a.experts.count > 0) && a.experts.count == b.experts.count && a.experts.per_token == b.experts.per_token &&
           a.experts.ffn == b.experts.ffn && a.experts.shared_ffn == b.experts.shared_ffn && a.expert_layers == b.expert_layers &&
           a.latent.kv_rank == b.latent.kv_rank && a.linear.layers == b.linear.layers && a.layer_norm == b.layer_norm && a.tied == b.tied &&
           a.multi_token_layers == b.multi_token_layers;
}

static bool limits_groups(const Experts& e) { return e.groups > 1 && e.groups_per_token < e.groups; }
static bool have_same_groups(const Experts& a, const Experts& b) {
    return limits_groups(a) ? a.groups == b.groups && a.groups_per_token == b.groups_per_token : !limits_groups(b);
}

// Whether the rest is the same that arguments say and that changes a number. Where it is not, the model is one of its own.
static bool same_numbers(const Model& known, const Model& said) {
    const LatentAttention &a = known.latent, &b = said.latent;
    const bool attention = a.kv_rank > 0
                               ? a.q_rank == b.q_rank && a.nope_dim == b.nope_dim && a.rope_dim == b.rope_dim && a.value_dim == b.value_dim
                               : known.head_dim == said.head_dim && known.qk_norm == said.qk_norm;
    const bool biases =
        known.qkv_bias == said.qkv_bias && known.attention_out_bias == said.attention_out_bias && known.mlp_bias == said.mlp_bias;
    const bool positions =
        known.learned_positions == said.learned_positions && (!said.learned_positions || known.max_positions == said.max_positions);
    const bool linear = known.linear.in() == said.linear.in() && known.linear.mixed() == said.linear.mixed() &&
                        known.linear.value_dim == said.linear.value_dim && known.attention_gate == said.attention_gate;
    const bool dense = known.experts.count == 0 || !known.expert_layers.are_mixed() || known.ffn == said.ffn;
    return attention && linear && biases && positions && dense && have_same_groups(known.experts, said.experts) &&
           have_same_windows(known, said);
}

// The models of the catalogue with these sizes, whose vocabulary is the given one, if any, or that padded by fewer words than `multiple`.
static std::vector<const CatalogModel*> known_models(const Model& model, std::optional<std::int64_t> vocabulary, std::int64_t multiple) {
    std::vector<const CatalogModel*> found;
    for (const CatalogModel& one : catalog_models().list)
        if (same_shape(one.model, model) &&
            (!vocabulary || (*vocabulary >= one.model.vocabulary && *vocabulary - one.model.vocabulary < multiple)))
            found.push_back(&one);
    return found;
}

static bool have_one_vocabulary(const std::vector<const CatalogModel*>& known) {
    return !known.empty() && std::all_of(known.begin(), known.end(),
                                         [&](const CatalogModel* one) { return one->model.vocabulary == known[0]->model.vocabulary; });
}

// One of the catalogue whose numbers are all the same, or one of its own; `known` have its shape, and their vocabulary where none is said.
static void take_model(Import& in, Model model, std::vector<const CatalogModel*> known, std::optional<std::int64_t> vocabulary) {
    if (!vocabulary && !have_one_vocabulary(known)) return in.asked.emplace_back("vocab_size"), void();
    // Models of one shape differ in how long a sequence may be.
    known = sorted(std::move(known), [&](const CatalogModel* a, const CatalogModel* b) {
        return (a->model.max_positions == model.max_positions) > (b->model.max_positions == model.max_positions);
    });
    const auto same = std::find_if(known.begin(), known.end(), [&](const CatalogModel* one) { return same_numbers(one->model, model); });
    if (!vocabulary) {
        const Model& from = (same == known.end() ? known[0] : *same)->model;
        vocabulary = from.vocabulary;
        in.notes.push_back(Text("import_plan.note.vocabulary_of").with("model", from.label).with("vocabulary", from.vocabulary));
    }
    model.vocabulary = *vocabulary;
    in.job["model"] = same == known.end() ? canonical_config(model) : Json((*same)->model.id);
}

void read_megatron_model(Import& in) {
    Json& config = in.config;
    // Experts are switched on, and how many there are stands elsewhere: in a model that is named, or in a module.
    for (const char* key : {"model_id", "init_from_hf_path", "spec"})
        if (in.has(key) && in.on("moe_grouped_gemm", "") && !in.has("num_experts")) {
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", key));
            return ask_model(in);
        }
    if (!config.contains("model_type")) config["model_type"] = "llama";
    read_width(in, config);
    read_shape(in, config);
    read_latent(in, config);
    read_experts(in, config);
    read_linear(in, config);
    for (const char* key : {"hybrid_layer_pattern", "hybrid_override_pattern", "is_hybrid_model", "hybrid_attention_ratio",
                            "hybrid_mlp_ratio"})  // layers of several kinds
        if (in.has(key) && !config.contains("hybrid_override_pattern") && !read_hybrid(in, config)) {
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", key));
            ask_model(in);
            return in.mark_all({"hybrid*", "is_hybrid*", "mamba*"}, Fate::unknown);
        }
    if (const auto depth = in.whole("mtp_num_layers", "model")) config["num_nextn_predict_layers"] = *depth;
    auto vocabulary = in.whole({"padded_vocab_size", "pad_vocab_size_to", "vocab_size"}, "model");
    for (const char* key : {"pad_vocab_size_to", "vocab_size"}) in.whole(key, "model");  // the padded one counts, where there are two
    const bool padded = in.has("padded_vocab_size") || in.has("pad_vocab_size_to");
    if (vocabulary && !padded && in.text("tokenizer_type", "") == "NullTokenizer") ++*vocabulary;  // its end of a document
    if (!vocabulary) vocabulary = tokenizer_words(in);
    config["vocab_size"] = vocabulary.value_or(1'024);  // to read the other sizes by
    if (config["learned_positions"] == true && !config.contains("max_position_embeddings"))
        config["max_position_embeddings"] = in.job.value("sequence_length", std::int64_t{2'048});
    for (const char* key : {config.contains("hybrid_override_pattern") ? "hybrid_override_pattern" : "num_hidden_layers", "hidden_size",
                            "num_attention_heads"})
        if (!config.contains(key)) {
            if (!in.hangs("model")) in.notes.emplace_back("import_plan.note.no_model");
            return;
        }
    Problems problems;
    ImportReport report;
    auto model = read_model(config, "", problems, report);
    if (!model) return problems.empty() || problems[0].rule != "range" ? ask_model(in) : refuse_sizes(in, problems);
    constexpr std::int64_t kMost = 1'024;
    const std::int64_t rows = in.whole("make_vocab_size_divisible_by", "").value_or(128);
    const std::int64_t multiple =
        std::clamp<std::int64_t>(rows, 1, kMost) * std::clamp<std::int64_t>(in.job.value("tensor_parallel", std::int64_t{1}), 1, kMost);
    auto known = known_models(*model, vocabulary, std::clamp<std::int64_t>(multiple, 1, kMost));
    constexpr std::int64_t kGpt2 = 50'257;  // of merges, which are no SentencePiece model
    if (have_one_vocabulary(known) && !vocabulary && known[0]->model.vocabulary == kGpt2 &&
        lower_case(in.text("tokenizer_type", "").value_or("")).find("sentencepiece") != std::string::npos)
        known.clear();
    take_model(in, std::move(*model), std::move(known), vocabulary);
}

}  // namespace fourfold
