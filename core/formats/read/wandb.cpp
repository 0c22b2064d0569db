// config.yaml of Weights & Biases (wandb 0.12 to 0.21, sdk/lib/config_util.py: for each key its value, and until 0.17 a description): what
// the program gave to wandb.init(config=…). The Trainer gives its arguments and the model's config.json in one (transformers 4.57,
// integrations/integration_utils.py, WandbCallback.setup), Megatron-LM vars(args), nanotron its file below "nanotron_config".
#include <algorithm>
#include <utility>

#include "formats/named_model.h"
#include "formats/read/trainers.h"
#include "formats/read/wrapped.h"
#include "model/model.h"

namespace fourfold {

// Behind the first name, ".value" or ".desc"; nothing: neither stands there.
static std::string_view second_name(std::string_view key) {
    const std::size_t dot = key.find('.');
    const std::string_view rest = dot == std::string_view::npos ? std::string_view() : key.substr(dot + 1);
    const std::string_view name = rest.substr(0, rest.find('.'));
    return name == "value" || name == "desc" ? name : std::string_view();
}

// PEFT's configuration of an adapter, which the Trainer adds below its name, "default"; and of weights that are stored in few bits.
static void rename_adapter(Entry& entry) {
    const std::string name = entry.key.substr(entry.key.rfind('.') + 1);
    if (name == "r" || name == "target_modules")
        entry.key = "lora_" + name;
    else if (name == "lora_dropout" || name == "use_dora" || name == "modules_to_save" || name == "peft_type")
        entry.key = name;
    else
        entry.fate = Fate::no_number;
    if (name == "default" || name == "peft_config") entry.key = "peft_type", entry.value = "peft_config";  // the text of an object
}

// Of a config.json among them: the length of what it generates is none of the training's, and the type is its checkpoint's, which may have
// been loaded in another.
static void leave_config(std::vector<Entry>& entries) {
    const auto has = [&](std::string_view key) {
        return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
    };
    const bool generates = has("num_beams"), config = has("model_type");
    for (Entry& entry : entries) {
        if (generates && entry.key == "max_length" && number_in(entry.value) == 20)
            entry.key = "generation.max_length", entry.fate = Fate::no_number;
        if (config && (entry.key == "torch_dtype" || entry.key == "dtype") && entry.value.is_string())
            entry.written = std::exchange(entry.value, "auto");
    }
}

bool unwrap_wandb(std::vector<Entry>& entries) {
    constexpr std::string_view kNanotron = "nanotron_config.";
    const auto is_own = [](const Entry& entry) { return entry.key == "wandb_version" || entry.key.starts_with("_wandb."); };
    const bool record = std::any_of(entries.begin(), entries.end(), is_own) &&
                        std::all_of(entries.begin(), entries.end(),
                                    [](const Entry& one) { return one.key == "wandb_version" || !second_name(one.key).empty(); });
    if (!record) return false;
    std::erase_if(entries, [](const Entry& entry) { return second_name(entry.key) == "desc"; });
    for (Entry& entry : entries) {
        if (is_own(entry)) {
            entry.fate = Fate::no_number;
            continue;
        }
        const std::size_t dot = entry.key.find('.');
        entry.key.erase(dot, std::string_view(".value").size());
        for (const std::string_view section : {kNanotron, std::string_view("quantization_config."), std::string_view("deepspeed.zero")})
            if (entry.key.starts_with(section)) entry.key.erase(0, section.find('.') + 1);
        if (entry.key.starts_with("peft_config")) rename_adapter(entry);
        const auto* const text = entry.value.get_ptr<const Json::string_t*>();
        if (text != nullptr ? text->empty() || *text == "None" : entry.value.empty()) entry.value = nullptr;
    }
    leave_config(entries);
    // What "accelerate launch" is told in its own file stands in no argument.
    const auto says = [&](std::string_view pattern) {
        return std::any_of(entries.begin(), entries.end(),
                           [&](const Entry& entry) { return matches(pattern, entry.key) && !entry.value.is_null(); });
    };
    if (says("per_device_train_batch_size") && !says("deepspeed*") && !says("fsdp") && !says("zero_optimization.*"))
        entries.push_back({"config_file", "", "accelerate.yaml"});
    return true;
}

static bool says_nothing(const Json& value) {
    return value.is_boolean() ? !value.get<bool>() : value.is_number() ? value.get<double>() == 0 : value.empty();
}

bool take_config_beside(Import& in) {
    for (const char* key : {"model_type", "hidden_size", "num_hidden_layers", "vocab_size"})
        if (in.last(key) == nullptr || in.last(key)->value.is_null() || !in.last(key)->open.empty()) return false;
    Json config = Json::object();
    for (const Entry& entry : in.entries)
        if (entry.open.empty() && entry.key.find('.') == std::string::npos) config[entry.key] = entry.value;
    Problems problems;
    ImportReport report;
    const auto model = read_model(config, "", problems, report);
    if (!model) return false;
    const Entry* const name = in.last("_name_or_path");
    const CatalogModel* const named = name != nullptr && name->value.is_string() ? named_model(name->value.get<std::string>()) : nullptr;
    const bool same = named != nullptr && named->model.layers == model->layers && named->model.hidden == model->hidden &&
                      named->model.vocabulary == model->vocabulary;
    in.job["model"] = same ? as_requested(*named) : canonical_config(*model);
    for (const std::string& key : report.used) in.text(key, "model");
    if (const auto way = in.text("peft_type", "trained"); way && *way != "LORA") refuse_mode(in, *way);
    constexpr std::string_view kOfConfig[] = {
        "architectures", "*name_or_path", "*_token_id", "rope_*", "hidden_act", "*_norm_eps", "*_penalty", "initializer_range", "use_cache",
        "num_*", "top_*", "output_*", "id2label*", "label2id*", "transformers_version", "temperature", "typical_p", "chunk_size_*",
        "problem_type",
        // and of the arguments beside it
        "quant_method", "llm_int8*", "bnb_4bit*", "_load_in*", "gradient_checkpointing_kwargs*", "model/*", "half_precision_backend",
        "fp16_opt_level", "fp16_backend", "log_*", "return_*", "skip_memory*", "accelerator_config.*", "past_index", "ray_scope",
        "length_column_name", "optim_args", "label_smoothing_factor", "neftune*", "include_*"};
    in.mark_all(kOfConfig, Fate::no_number);
    for (Entry& entry : in.entries)  // all that it has stands there, what is off too
        if (entry.fate == Fate::unknown && entry.fields.empty() && says_nothing(entry.value)) entry.fate = Fate::no_number;
    return true;
}

}  // namespace fourfold
