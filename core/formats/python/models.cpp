// Transformers 4.56 (from_pretrained, BitsAndBytesConfig), PEFT 0.17 (LoraConfig, prepare_model_for_kbit_training) and Unsloth 2025.9
// (models/loader.py, models/llama.py): their names, and what they do unsaid.
#include "formats/python/models.h"

#include <algorithm>

#include "formats/shell/shell.h"

namespace fourfold {

namespace {

// Of the class before ".from_pretrained": what is no model that trains.
constexpr std::string_view kNoModels[] = {"Tokenizer", "Processor", "Config", "Extractor", "Peft", "Adapter"};
constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"pretrained_model_name_or_path", "model_name_or_path"},
                                                                    {"model_name", "model_name_or_path"},
                                                                    {"dtype", "torch_dtype"},
                                                                    {"load_in_fp8", "load_in_8bit"},
                                                                    {"r", "lora_r"},
                                                                    {"target_modules", "lora_target_modules"},
                                                                    {"modules_to_save", "lora_modules_to_save"}};
// Arguments of these calls that change no number.
constexpr std::string_view kQuiet[] = {"device_map*",       "low_cpu_mem_usage",
                                       "use_cache",         "token",
                                       "use_auth_token",    "revision",
                                       "trust_remote_code", "cache_dir",
                                       "max_memory",        "use_safe*",
                                       "offload_folder",    "local_files_only",
                                       "pad_token_id",      "fix_tokenizer",
                                       "random_state",      "fast_infer*",
                                       "gpu_memory_*",      "max_lora_rank",
                                       "use_exact_*",       "load_in_16bit",
                                       "bnb_4bit_quant*",   "bnb_4bit_comp*",
                                       "llm_int8_*",        "bias",
                                       "task_type",         "inference_mode",
                                       "use_rslora",        "loftq_config",
                                       "init_lora_weights", "fan_in_fan_out",
                                       "lora_alpha",        "peft_type",
                                       "float32_mixed_*",   "ignore_mismatched_sizes"};
// What has another head than one over the vocabulary.
constexpr std::string_view kOtherHeads[] = {"ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"};
// PEFT's other ways to train a part.
constexpr std::string_view kOtherParts[] = {"AdaLoraConfig",       "IA3Config",  "PrefixTuningConfig", "PromptTuningConfig",
                                            "PromptEncoderConfig", "LoHaConfig", "LoKrConfig",         "VeraConfig",
                                            "BOFTConfig",          "OFTConfig",  "LNTuningConfig",     "FourierFTConfig"};
// Its kernels, by Liger's names: the loss without whole logits (unsloth_zoo, fused_losses), norms and gates (unsloth/kernels).
constexpr std::string_view kUnslothKernels[] = {"cut_cross_entropy", "liger_rms_norm", "liger_swiglu"};
constexpr std::size_t kMostCalls = 100;  // of a text
constexpr std::int64_t kUnslothRank = 16, kUnslothLength = 2048;
constexpr std::string_view kUnslothTargets = "all-linear";  // its seven matrices are all of a layer

bool is_name(const PythonTokens& tokens, std::size_t at) { return at < tokens.size() && tokens[at].kind == PythonToken::name; }
bool is_on(const Json& value) { return !value.is_null() && value != Json(false) && value != Json(""); }

std::string class_of(const std::string& called) {
    const std::size_t cut = called.rfind('.');
    return cut == std::string::npos ? "" : last_part(called.substr(0, cut));
}
// FastLanguageModel, FastModel, FastVisionModel
bool is_unsloth(const std::string& called) {
    const std::string name = class_of(called);
    return name.starts_with("Fast") && name.ends_with("Model");
}

class ModelReader {
 public:
    ModelReader(const PythonTokens& tokens, const PythonArguments& reader, const std::vector<Entry>& all, const NamesSet& set)
        : tokens_(tokens), reader_(reader), all_(all), set_(set) {}

    PythonModel read() {
        for (std::size_t i = 0; i < tokens_.size() && !loads_; ++i)
            if (loads_model(i) && ++calls_ < kMostCalls) read_loading(i);
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (!is_name(tokens_, i) || !has_sign_at(tokens_, i + 1, "(")) continue;
            const std::string called = last_part(tokens_[i].value);
            if (called == "LoraConfig" || (called == "get_peft_model" && is_unsloth(tokens_[i].value)))
                read_part(i, called != "LoraConfig");
            else if (called == "BitsAndBytesConfig" && stores_with(i))
                read_bits(i);
            else if (called == "from_pretrained" && class_of(tokens_[i].value) == "PeftModel")
                read_trained_part(i);
            else if (std::find(std::begin(kOtherParts), std::end(kOtherParts), called) != std::end(kOtherParts))
                refuse(called);
        }
        for (std::size_t i = 0; i < tokens_.size(); ++i) read_method(i);
        if (!made_.part) note_computed_part();
        if (!made_.part) note_frozen();
        settle();
        return std::move(made_);
    }

 private:
    bool has_keywords(std::size_t open) const {
        const std::size_t end = behind_bracket(tokens_, open);
        for (std::size_t i = open + 1; i + 1 < end; ++i)
            if (is_name(tokens_, i) && has_sign_at(tokens_, i + 1, "=")) return true;
        return false;
    }

    // The arguments of the call at `at`; nothing where it stands in a branch that is not taken.
    std::optional<std::vector<Entry>> arguments(std::size_t at) {
        std::vector<Entry> found;
        if (++calls_ > kMostCalls) return std::nullopt;
        reader_.arguments(at + 1, found);
        if (found.empty() && has_keywords(at + 1)) return std::nullopt;
        for (Entry& one : found) {
            const auto* row = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& name) { return one.key == name.first; });
            if (row != std::end(kNames)) one.key = row->second;
            const bool quiet =
                std::any_of(std::begin(kQuiet), std::end(kQuiet), [&](std::string_view name) { return matches(name, one.key); });
            if (quiet) one.fate = Fate::no_number;
        }
        return found;
    }

    static const Entry* of(const std::vector<Entry>& entries, std::string_view key) {
        const auto found = std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& one) { return one.key == key; });
        return found == entries.rend() ? nullptr : &*found;
    }
    static bool on(const std::vector<Entry>& entries, std::string_view key) {
        const Entry* const entry = of(entries, key);
        return entry != nullptr && entry->open.empty() && is_on(entry->value);
    }
    Entry entry(std::string_view key, std::size_t at, Json value, bool shown = true) const {
        return {std::string(key), shown ? tokens_[at].value : "", std::move(value), tokens_[at].line};
    }
    void append(std::vector<Entry> entries) {
        for (Entry& one : entries) made_.entries.push_back(std::move(one));
    }

    void refuse(const std::string& part) {
        std::vector<std::string>& all = made_.refused;
        if (std::find(all.begin(), all.end(), part) == all.end()) all.push_back(part);
    }

    bool loads_model(std::size_t at) const {
        if (!calls_at(tokens_, at, "from_pretrained") && !calls_at(tokens_, at, "from_config")) return false;
        const std::string name = class_of(tokens_[at].value);
        return std::none_of(std::begin(kNoModels), std::end(kNoModels),
                            [&](std::string_view no) { return name.find(no) != std::string::npos; });
    }

    void read_loading(std::size_t at) {
        auto found = arguments(at);
        if (!found) return;
        loads_ = true;
        const std::string name = class_of(tokens_[at].value);
        if (std::any_of(std::begin(kOtherHeads), std::end(kOtherHeads), [&](std::string_view head) { return name.ends_with(head); }))
            made_.notes.push_back(name);
        variable_ = given_name(tokens_, at);
        if (is_unsloth(tokens_[at].value)) add_unsloth(at, *found);
        for (Entry& one : *found) {
            if (one.key == "model_name_or_path")
                made_.name = std::move(one);
            else if (one.key == "max_seq_length")
                made_.length = std::move(one);
            else
                made_.entries.push_back(std::move(one));
        }
        if (!made_.name) made_.name = first_argument(at);
        read_chain(behind_bracket(tokens_, at + 1));
    }

    // AutoModelForCausalLM.from_pretrained("..."), or of a name that has one value.
    std::optional<Entry> first_argument(std::size_t at) const {
        if (at + 2 >= tokens_.size() || !calls_at(tokens_, at, "from_pretrained")) return std::nullopt;
        const PythonToken& first = tokens_[at + 2];
        if (first.kind == PythonToken::text) return Entry{"model_name_or_path", "from_pretrained", first.value, first.line};
        const auto known = std::find_if(all_.rbegin(), all_.rend(), [&](const Entry& one) { return one.key == first.value; });
        if (first.kind == PythonToken::name && known != all_.rend() && known->value.is_string() && known->open.empty())
            return Entry{"model_name_or_path", known->shown, known->value, known->line};
        const auto field = has_sign_at(tokens_, at + 3, ")") || has_sign_at(tokens_, at + 3, ",") ? reader_.value_at(at + 2) : std::nullopt;
        if (field && field->is_string()) return Entry{"model_name_or_path", first.value, *field, first.line};  // cfg.model_name
        return std::nullopt;
    }

    // 4 bits, bf16, 2,048 tokens and recomputation, unless something else is said.
    void add_unsloth(std::size_t at, std::vector<Entry>& found) {
        const bool whole = on(found, "full_finetuning");
        for (Entry& one : found)
            if (whole && one.key.starts_with("load_in_")) one.key = "no_" + one.key, one.fate = Fate::no_number;
        if (!whole && of(found, "load_in_4bit") == nullptr && !on(found, "load_in_8bit") && !on(found, "load_in_16bit"))
            found.push_back(entry("load_in_4bit", at, true));
        found.push_back(entry("bnb_4bit_use_double_quant", at, true, false));
        for (Entry& one : found)
            if (one.key == "torch_dtype" && one.value.is_null() && one.open.empty()) one.key = "usual_dtype", one.fate = Fate::no_number;
        if (whole && on(found, "float32_mixed_precision"))
            found.push_back(entry("torch_dtype", at, "float32", false));
        else if (of(found, "torch_dtype") == nullptr)
            found.push_back(entry("torch_dtype", at, "bfloat16"));
        unsloth_ = at;
        if (of(found, "max_seq_length") == nullptr) found.push_back(entry("max_seq_length", at, kUnslothLength));
    }

    // LoraConfig(r=16, ...), or Unsloth's get_peft_model(model, r=16, ...), which has other defaults.
    void read_part(std::size_t at, bool unsloth) {
        auto found = arguments(at);
        if (!found) return;
        Entry part = entry("use_lora", at, true);
        if (!found->empty())  // names of branches that it stands in
            for (const std::string& name : found->front().open)
                if (std::all_of(found->begin(), found->end(),
                                [&](const Entry& one) { return std::find(one.open.begin(), one.open.end(), name) != one.open.end(); }))
                    part.open.push_back(name);
        add_condition(behind_bracket(tokens_, at + 1), part);
        if (unsloth) {
            if (of(*found, "lora_r") == nullptr) found->push_back(entry("lora_r", at, kUnslothRank));
            if (of(*found, "lora_target_modules") == nullptr) found->push_back(entry("lora_target_modules", at, kUnslothTargets));
            for (Entry& one : *found)
                if (one.key == "max_seq_length") one.key = "lora_max_seq_length", one.fate = Fate::no_number;
        }
        made_.entries.push_back(part);
        made_.part = std::move(part);
        append(std::move(*found));
    }

    // "... if use_lora else None"
    void add_condition(std::size_t at, Entry& part) const {
        if (!is_token(tokens_, at, PythonToken::name, "if")) return;
        const bool single = is_name(tokens_, at + 1) && is_token(tokens_, at + 2, PythonToken::name, "else");
        const auto known = single ? reader_.value_at(at + 1) : std::nullopt;
        if (known)
            part.value = is_on(*known);
        else
            part.open.push_back(single ? tokens_[at + 1].value : written_value(tokens_, at + 1));
    }

    // An adapter that is there already learns on. Without is_trainable it is there to be used.
    void read_trained_part(std::size_t at) {
        const auto found = arguments(at);
        if (!found || !on(*found, "is_trainable")) return;
        made_.part = entry("use_lora", at, true);
        made_.entries.push_back(*made_.part);
        const std::size_t end = behind_bracket(tokens_, at + 1);
        for (std::size_t i = at + 2; i < end; ++i)
            if (tokens_[i].kind == PythonToken::text)
                return made_.entries.push_back({"adapter_name_or_path", tokens_[at].value, tokens_[i].value, tokens_[i].line});
    }

    // Whether the model is loaded with what the call at `at` makes. Where no loading is found, it is.
    bool stores_with(std::size_t at) const {
        const Entry* const told = of(made_.entries, "quantization_config");
        if (told == nullptr || told->open.empty()) return !loads_;
        const std::string name = given_name(tokens_, at);
        return told->open[0].find("BitsAndBytesConfig") != std::string::npos || told->open[0].find(name) != std::string::npos;
    }
    // "bits if use_4bit else None" hangs on more.
    std::vector<std::string> more_than(const std::string& name) const {
        const Entry* const told = of(made_.entries, "quantization_config");
        if (told == nullptr || told->open.empty() || told->open[0] == name || told->open[0].find(" if ") == std::string::npos) return {};
        return told->open;
    }

    void read_bits(std::size_t at) {
        auto found = arguments(at);
        if (!found) return;
        for (const std::string& name : more_than(given_name(tokens_, at)))
            for (Entry& one : *found) one.open.push_back(name);
        for (Entry& one : made_.entries)
            if (one.key == "quantization_config") one.fate = Fate::used, one.fields = {"frozen_weights"}, one.open.clear();
        append(std::move(*found));
    }

    // model.to(torch.bfloat16), model.half(), model.gradient_checkpointing_enable(), prepare_model_for_kbit_training(model)
    void read_method(std::size_t at) {
        if (!is_name(tokens_, at) || !has_sign_at(tokens_, at + 1, "(")) return;
        const std::string& full = tokens_[at].value;
        const std::string called = last_part(full);
        if (called == "gradient_checkpointing_enable") {
            if (++calls_ < kMostCalls) add_recomputation(at);
        } else if (called == "prepare_model_for_kbit_training") {
            const auto found = arguments(at);
            if (found && (of(*found, "use_gradient_checkpointing") == nullptr || on(*found, "use_gradient_checkpointing")))
                prepared_ = entry("activation_checkpointing", at, true);
        } else if (!variable_.empty() && full == variable_ + "." + called && ++calls_ < kMostCalls) {
            read_type(at, called);
            read_chain(behind_bracket(tokens_, at + 1));
        }
    }

    // "if x:" on the line before may stand around it.
    void add_recomputation(std::size_t at) {
        Entry made = entry("use_activation_checkpointing", at, true);
        if (at > 3 && tokens_[at - 1].kind == PythonToken::line_end && has_sign_at(tokens_, at - 2, ":") &&
            is_token(tokens_, at - 4, PythonToken::name, "if")) {
            const std::string& condition = tokens_[at - 3].value;
            if (last_part(condition) == "gradient_checkpointing") return;  // the trainer's own
            const auto known = reader_.value_at(at - 3);
            if (known && !is_on(*known)) return;
            if (!known) made.open.push_back(condition);
        }
        made_.entries.push_back(std::move(made));
    }

    // from_pretrained(...).to("cuda").to(torch.bfloat16)
    void read_chain(std::size_t at) {
        while (has_sign_at(tokens_, at, ".") && is_name(tokens_, at + 1) && has_sign_at(tokens_, at + 2, "(")) {
            read_type(at + 1, tokens_[at + 1].value);
            at = behind_bracket(tokens_, at + 2);
        }
    }

    void read_type(std::size_t at, const std::string& method) {
        constexpr std::pair<std::string_view, std::string_view> kMethods[] = {
            {"bfloat16", "bfloat16"}, {"half", "float16"}, {"float", "float32"}};
        for (const auto& [name, type] : kMethods)
            if (method == name) made_.entries.push_back(entry("torch_dtype", at, type));
        if (method != "to") return;
        const std::size_t end = behind_bracket(tokens_, at + 1);
        for (std::size_t i = at + 2; i < end; ++i) {
            const auto value = is_name(tokens_, i) ? reader_.value_at(i) : std::nullopt;
            const bool type = value && (*value == "bfloat16" || *value == "float16" || *value == "float32");
            if (type) made_.entries.push_back(entry("torch_dtype", at, *value));
        }
    }

    // peft_config=get_peft_config(arguments): whether a part is trained alone, nobody knows.
    void note_computed_part() {
        for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
            const bool given = is_token(tokens_, i, PythonToken::name, "peft_config") && has_sign_at(tokens_, i + 1, "=");
            const bool made = calls_at(tokens_, i, "get_peft_model");
            const std::size_t value = i + 2;
            if ((!given && !made) || (given && ++calls_ < kMostCalls && none_at(tokens_, value))) continue;
            Entry part = entry("use_lora", i, open_mark(written_value(tokens_, given ? value : i)));
            part.open = {written_value(tokens_, given ? value : i)};
            made_.part = part;
            made_.entries.push_back(std::move(part));
            return;
        }
    }

    // "parameter.requires_grad = False", "model.lm_head.requires_grad_(False)": a part that nobody names learns.
    void note_frozen() {
        for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
            const std::string called = is_name(tokens_, i) ? last_part(tokens_[i].value) : "";
            const bool set = called == "requires_grad" && has_sign_at(tokens_, i + 1, "=");
            const bool told = called == "requires_grad_" && has_sign_at(tokens_, i + 1, "(");
            if ((set || told) && is_token(tokens_, i + 2, PythonToken::name, "False")) return made_.notes.push_back(tokens_[i].value);
        }
    }

    // What was asked for and answered. What hangs on a branch that is not taken goes.
    void take_answers() {
        for (Entry& one : made_.entries) {
            const auto answered = [&](const std::string& name) { return set_.contains(name); };
            const auto* const text = one.value.get_ptr<const Json::string_t*>();
            const bool computed = text != nullptr && is_open(*text);
            if (one.open.empty() || !std::all_of(one.open.begin(), one.open.end(), answered)) continue;
            const std::string& answer = set_.find(one.open[0])->second;
            const bool off = answer == "False" || answer == "false" || answer == "0" || answer == "None";
            if (computed || off) one.value = off ? Json(false) : Json(answer);
            one.open.clear();
        }
    }

    // bitsandbytes stores scales of 4 bits once unless it is told (BitsAndBytesConfig).
    void settle() {
        take_answers();
        std::vector<Entry>& entries = made_.entries;
        if (const Entry* const part = of(entries, "use_lora"); part != nullptr && part->open.empty() && !is_on(part->value)) {
            std::erase_if(entries, [](const Entry& one) { return one.key.starts_with("lora_"); });
            made_.part.reset();
        }
        if (unsloth_) {
            entries.push_back(entry("unsloth", *unsloth_, true, false));
            if (of(entries, "use_gradient_checkpointing") == nullptr)
                entries.push_back(entry("use_gradient_checkpointing", *unsloth_, "unsloth"));
            for (const std::string_view kernel : kUnslothKernels)
                entries.push_back(entry(kernel, *unsloth_, true, kernel == kUnslothKernels[0]));
        }
        const bool few = on(entries, "load_in_4bit") || on(entries, "load_in_8bit");
        if (on(entries, "load_in_4bit") && of(entries, "bnb_4bit_use_double_quant") == nullptr)
            entries.push_back({"bnb_4bit_use_double_quant", "", false});
        if (prepared_ && !few) prepared_->fate = Fate::no_number, prepared_->key = "no_checkpointing";
        if (prepared_ && few) entries.push_back({"prepare_model_for_kbit_training", "", true});
        if (prepared_) entries.push_back(*prepared_);
        if (on(entries, "full_finetuning"))
            std::erase_if(entries, [](const Entry& one) { return one.key == "use_lora" || one.key.starts_with("lora_"); });
        if (few && !made_.part) made_.needs_part = on(entries, "load_in_4bit") ? "load_in_4bit" : "load_in_8bit";
    }

    const PythonTokens& tokens_;
    const PythonArguments& reader_;
    const std::vector<Entry>& all_;
    const NamesSet& set_;
    PythonModel made_;
    std::string variable_;
    std::optional<Entry> prepared_;
    std::optional<std::size_t> unsloth_;
    std::size_t calls_ = 0;
    bool loads_ = false;
};

}  // namespace

PythonModel python_model(const PythonTokens& tokens, const PythonArguments& reader, const std::vector<Entry>& all, const NamesSet& set) {
    return ModelReader(tokens, reader, all, set).read();
}

}  // namespace fourfold
