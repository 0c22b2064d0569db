#include "formats/named_model.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.h"
#include "formats/megatron/read.h"
#include "formats/shell/shell.h"

namespace fourfold {

namespace {

// Parts of a name that do not tell the sizes: how it was trained on, in which numbers its file has them, what it was to be run with.
constexpr std::string_view kSilent[] = {
    "meta",   "instruct", "chat",  "base",        "hf",       "pt",    "it",   "pretrain", "pretraining", "finetune",
    "sft",    "dpo",      "full",  "text",        "thinking", "yaml",  "yml",  "json",     "v0",          "config",
    "recipe", "provider", "model", "performance", "preview",  "mcore", "bf16", "fp16",     "fp8",         "int4",
    "int8",   "nf4",      "mxfp4", "bnb",         "4bit",     "8bit",  "awq",  "gptq",     "unsloth",     "gpu",
    "gpus",   "h100",     "b200",  "gb200",       "h200",     "a100",  "128k", "8k",       "16k",         "64k"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The dot of "1.3b" and the p of "1p3b": without it the size would be another one. Those of versions are left out by many.
bool is_point_of_size(std::string_view name, std::size_t at) {
    if (name[at] != '.' && name[at] != 'p') return false;
    std::size_t end = at + 1;
    while (end < name.size() && is_digit(name[end])) ++end;
    return at > 0 && is_digit(name[at - 1]) && end > at + 1 && end < name.size() && (name[end] == 'b' || name[end] == 'm') &&
           (end + 1 == name.size() || std::isalnum(static_cast<unsigned char>(name[end + 1])) == 0);
}

// "Meta-Llama-3.1-70B" -> meta, llama, 3, 1, 70b, without what is silent; "opt-1.3b" -> opt, 1.3b.
std::vector<std::string> parts_of(std::string_view given) {
    const std::string name = lower_case(given.substr(0, 200));
    std::vector<std::string> parts;
    bool within = false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool point = is_point_of_size(name, i);
        const bool known = point || std::isalnum(static_cast<unsigned char>(name[i])) != 0;
        if (known && !within) parts.emplace_back();
        if (known) parts.back() += point ? '.' : name[i];
        within = known;
    }
    std::erase_if(parts, [](const std::string& part) {
        const std::size_t digits = part.find_first_not_of("0123456789");  // "32gpu"
        const std::string_view word = digits == std::string::npos ? "" : std::string_view(part).substr(digits);
        return (digits == std::string::npos && part.size() == 4) ||  // "-2507-FP8": when it came
               (digits > 0 && (word == "gpu" || word == "gpus")) ||
               std::find(std::begin(kSilent), std::end(kSilent), part) != std::end(kSilent);
    });
    return parts;
}

std::string squeezed(std::string_view name) {
    std::string all;
    for (const std::string& part : parts_of(name)) all += part;
    return all;
}

std::string_view last_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The name in a repository's name or in a path: the last part of it that says more than "hf" or "original".
std::string_view name_in(std::string_view path) {
    const auto says_nothing = [](std::string_view part) { return part == "original" || squeezed(part).empty(); };
    while (path.find('/') != std::string_view::npos && says_nothing(last_of(path))) path = path.substr(0, path.rfind('/'));
    return last_of(path);
}

// The same with the folder before it where it is a size alone: "gpt3/20b", "llama-2/7B-hf".
std::string with_folder(std::string_view path) {
    const std::string_view last = name_in(path);
    const std::string size = squeezed(last);
    const bool alone = size.size() > 1 && (size.back() == 'b' || size.back() == 'm') &&
                       std::all_of(size.begin(), size.end() - 1, [](char c) { return is_digit(c) || c == '.'; });
    const std::size_t at = alone ? path.rfind(last) : 0;
    if (at < 2 || at == std::string_view::npos) return std::string(last);
    return std::string(last_of(path.substr(0, at - 1))) + "-" + std::string(last);
}

// What else the model is called.
template <class Is>
bool has_name(const CatalogModel& model, Is&& is) {
    const auto names = other_names().find(model.model.id);
    return names != other_names().end() &&
           std::any_of(names->begin(), names->end(), [&](const Json& one) { return is(one.get_ref<const std::string&>()); });
}

}  // namespace

// "~/.cache/huggingface/hub/models--meta-llama--Llama-3.1-8B/snapshots/0e9e39f2": the repository of a folder of the hub's cache; the name
// as it is where it is none.
static std::string of_cache(std::string_view name) {
    constexpr std::string_view kFolder = "models--", kBetween = "--";
    const std::size_t from = name.find(kFolder);
    if (from == name.npos || (from > 0 && name[from - 1] != '/')) return std::string(name);
    const std::string_view rest = name.substr(from + kFolder.size()), folder = rest.substr(0, rest.find('/'));
    const std::size_t cut = folder.find(kBetween);
    if (cut == folder.npos) return std::string(folder);
    return joined({folder.substr(0, cut), "/", folder.substr(cut + kBetween.size())});
}

const CatalogModel* named_model(std::string_view given) {
    const std::string name = of_cache(given);
    const auto first = [](auto&& is) -> const CatalogModel* {
        for (const CatalogModels* models : {&catalog_models(), &named_models()})
            for (const CatalogModel& one : models->list)
                if (is(one)) return &one;
        return nullptr;
    };
    if (const CatalogModel* exact = first([&](const CatalogModel& m) { return m.model.id == name; })) return exact;
    const std::string lower = lower_case(name), last = lower_case(name_in(name)), wanted = squeezed(with_folder(name));
    if (const CatalogModel* one = first([&](const CatalogModel& m) { return !m.repository.empty() && lower_case(m.repository) == lower; }))
        return one;
    if (const CatalogModel* one =
            first([&](const CatalogModel& m) { return has_name(m, [&](const std::string& n) { return n == last; }); }))
        return one;
    if (wanted.size() < 3) return nullptr;
    // "Qwen_Qwen2.5-32B": a repository as the name of a folder.
    const std::size_t cut = last.find('_');
    const CatalogModel* const inside = cut == std::string::npos || cut == 0 ? nullptr : named_model(last.substr(cut + 1));
    if (inside != nullptr && lower_case(inside->repository).starts_with(joined({last.substr(0, cut), "/"}))) return inside;
    return first([&](const CatalogModel& m) {
        return squeezed(m.model.id) == wanted || squeezed(name_in(m.repository)) == wanted ||
               has_name(m, [&](const std::string& n) { return squeezed(n) == wanted; });
    });
}

void refuse_encoder(Import& in, std::string_view name) {
    in.refused.push_back(Text("import_plan.refused.encoder").with("model", name.substr(0, 60)));
}

Json as_requested(const CatalogModel& model) {
    if (catalog().model(model.model.id) != nullptr) return model.model.id;
    Json config = canonical_config(model.model);
    config["_name_or_path"] = model.repository.empty() ? model.model.id : model.repository;
    return config;
}

bool names_an_encoder(std::string_view name) {
    constexpr std::string_view kEncoders[] = {"t5",   "mt5",     "byt5",    "umt5",  "flan",   "bert",       "roberta",
                                              "bart", "deberta", "electra", "retro", "albert", "distilbert", "modernbert"};
    const std::vector<std::string> parts = parts_of(last_of(name));
    const auto has = [&](std::string_view word) { return std::find(parts.begin(), parts.end(), word) != parts.end(); };
    if (has("vision") && (has("classify") || has("dino") || has("inpaint"))) return true;  // Megatron-LM's programs of images alone
    return std::any_of(std::begin(kEncoders), std::end(kEncoders), has);
}

// "${MODELS}/Llama-2-70b-hf": which folder it is in says nothing about a model that is known.
static void leave_open_folder(Import& in, std::string_view key) {
    const auto entry = std::find_if(in.entries.rbegin(), in.entries.rend(), [&](const Entry& one) { return one.key == key; });
    if (entry == in.entries.rend() || entry->open.empty() || !entry->value.is_string()) return;
    const std::string path = entry->value.get<std::string>();
    const std::size_t cut = path.rfind(kClose);
    const std::size_t folder = cut == std::string::npos ? cut : path.find('/', cut);
    if (folder == std::string::npos || named_model(path.substr(folder + 1)) == nullptr) return;
    in.become(*entry, key, path.substr(folder + 1));
    entry->open.clear();
}

bool take_named_model(Import& in, std::string_view key) {
    leave_open_folder(in, key);
    const auto name = in.text(key, "model");
    if (!name) return false;
    const CatalogModel* found = named_model(*name);
    if (found == nullptr) {
        in.mark(key, Fate::unknown);
        if (names_an_encoder(*name)) refuse_encoder(in, *name);
        return false;
    }
    in.job["model"] = as_requested(*found);
    return true;
}

// Megatron's name of a size, and its names in a config.json, of which the model has one.
struct Size {
    const char *key, *names[3];
};
static constexpr Size kSizes[] = {
    {"num_layers", {"num_hidden_layers"}},
    {"vocab_size", {"vocab_size"}},
    {"hidden_size", {"hidden_size"}},
    {"ffn_hidden_size", {"intermediate_size"}},
    {"num_attention_heads", {"num_attention_heads"}},
    {"num_query_groups", {"num_key_value_heads"}},
    {"kv_channels", {"head_dim"}},
    {"num_experts", {"n_routed_experts", "num_local_experts", "num_experts"}},
    {"moe_router_topk", {"num_experts_per_tok"}},
    {"moe_ffn_hidden_size", {"moe_intermediate_size"}},
    {"mtp_num_layers", {"num_nextn_predict_layers"}},
    {"moe_router_num_groups", {"n_group"}},
    {"moe_router_group_topk", {"topk_group"}},
};

// A model's one of those names.
static const char* name_in(const Json& config, const Size& size) {
    const auto found =
        std::find_if(std::begin(size.names), std::end(size.names), [&](const char* one) { return one != nullptr && config.contains(one); });
    return found == std::end(size.names) ? nullptr : *found;
}

bool says_sizes(const Import& in) {
    return in.has("share_embeddings_and_output_weights") ||
           std::any_of(std::begin(kSizes), std::end(kSizes), [&](const Size& one) { return in.has(one.key); });
}

// Layers without experts come first, or it is no model of the family.
static bool read_dense(Import& in, Json& config) {
    constexpr const char* kDense = "first_k_dense_replace";
    const Entry* const said = in.last("moe_layer_freq");
    if (said == nullptr || in.hangs("model")) return true;
    const auto dense = dense_layers(said->value, config["num_hidden_layers"].get<std::int64_t>());
    if (said->open.empty() && !dense) return true;  // not understood
    in.text("moe_layer_freq", "model");
    if (!dense) return true;
    if (config.contains(kDense)) config[kDense] = dense->size();
    return (dense->empty() || dense->back() == Json(dense->size() - 1)) && (dense->empty() || config.contains(kDense));
}

std::optional<Json> with_sizes(Import& in, const Model& model) {
    Json config = canonical_config(model);
    const Json usual = config;
    bool fits = true;
    for (const Size& one : kSizes) {
        const Entry* const said = in.last(one.key);
        if (said == nullptr || in.hangs("model")) continue;
        const bool none = said->value.is_null() && std::string_view(one.key) == "mtp_num_layers";
        const auto size = none ? std::optional<std::int64_t>(0) : in.whole(one.key, "model");
        if (none) in.mark(one.key, Fate::used);
        const char* const name = name_in(config, one);
        if (size && name != nullptr) config[name] = *size;
        fits = fits && (!size || *size == 0 || name != nullptr);
    }
    if (in.last("share_embeddings_and_output_weights") != nullptr && in.has("share_embeddings_and_output_weights"))
        config["tie_word_embeddings"] = in.on("share_embeddings_and_output_weights", "model");
    fits = fits && read_dense(in, config);
    constexpr std::int64_t kPadding = 1'024;  // a vocabulary is padded
    const std::int64_t words = config["vocab_size"].get<std::int64_t>();
    if (words >= model.vocabulary && words <= model.vocabulary + kPadding) config["vocab_size"] = model.vocabulary;
    if (in.has("multi_latent_attention") && !in.on("multi_latent_attention", "model") && model.latent.kv_rank > 0) fits = false;
    if (!fits) return std::nullopt;
    if (config == usual) return Json(model.id);
    config.erase("_name_or_path");
    if (config["num_hidden_layers"] != usual["num_hidden_layers"]) config.erase("layer_types");  // a word for each: the family says it anew
    // A head is as wide as before where it was no part of the width.
    const std::int64_t hidden = config["hidden_size"].get<std::int64_t>(), heads = config["num_attention_heads"].get<std::int64_t>();
    if (!in.has("kv_channels") && config.contains("head_dim") && model.head_dim * model.heads == model.hidden) {
        if (heads < 1 || hidden % heads != 0) return std::nullopt;
        config["head_dim"] = hidden / heads;
    }
    Problems problems;
    ImportReport report;
    if (!read_model(config, "", problems, report)) return std::nullopt;
    return config;
}

const CatalogModel* model_of(const Import& in) {
    const Json said = in.job.value("model", Json());
    if (said.is_string()) return catalog().model(said.get<std::string>());
    return said.is_object() ? named_model(said.value("_name_or_path", "")) : nullptr;
}

const CatalogModel* known_model(const Import& in) {
    const auto answer = in.answers.find("model");
    return in.job.contains("model") || answer == in.answers.end() ? model_of(in) : catalog().model(answer->second);
}

void resize_named_model(Import& in) {
    const Json said = in.job.value("model", Json());
    const CatalogModel* const named = model_of(in);
    if (named == nullptr) return;
    const auto model = with_sizes(in, named->model);
    in.job.erase("model");
    if (model)
        in.job["model"] = *model == Json(named->model.id) ? said : *model;
    else
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", named->model.id));
}

void refuse_sizes(Import& in, const Problems& problems) {
    if (!problems.empty() && problems[0].rule == "range") in.refused.push_back(problems[0].message);
}

void take_sizes(Import& in, const Json& config) {
    Problems problems;
    ImportReport report;
    if (const auto model = read_model(config, "", problems, report)) in.job["model"] = canonical_config(*model);
    refuse_sizes(in, problems);
}

void ask_model(Import& in) {
    if (in.job.contains("model") || in.hangs("model")) return;
    const auto answer = in.answers.find("model");
    const CatalogModel* found = answer == in.answers.end() ? nullptr : catalog().model(answer->second);
    if (found != nullptr)
        in.job["model"] = found->model.id;
    else if (std::none_of(in.asked.begin(), in.asked.end(), [](const std::string& one) { return one == "vocab_size" || one == "model"; }))
        in.asked.emplace_back("model");
}

}  // namespace fourfold
