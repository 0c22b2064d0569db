#include "formats/python_trainers.h"

#include <algorithm>

#include "formats/named_model.h"
#include "formats/python_tokens.h"
#include "formats/readers.h"
#include "formats/shell.h"
#include "formats/trainers.h"

namespace fourfold {

namespace {

constexpr int kDeepestDictionary = 8;
constexpr std::size_t kMostOfDictionary = 2'000, kMostDictionaries = 10;
constexpr const char* kTrainerCalls[] = {"TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig", "ORPOConfig",
                                         "KTOConfig"};

using PythonTokens = std::vector<PythonToken>;

bool sign_at(const PythonTokens& tokens, std::size_t at, std::string_view text) {
    return at < tokens.size() && tokens[at].kind == PythonToken::sign && tokens[at].value == text;
}
bool opens_at(const PythonTokens& tokens, std::size_t at) {
    return sign_at(tokens, at, "{") || sign_at(tokens, at, "[") || sign_at(tokens, at, "(");
}
bool closes_at(const PythonTokens& tokens, std::size_t at) {
    return sign_at(tokens, at, "}") || sign_at(tokens, at, "]") || sign_at(tokens, at, ")");
}

// Reads dictionaries and the arguments of a call, with the values of names that have a single one.
class DictionaryReader {
 public:
    DictionaryReader(const PythonTokens& tokens, const std::vector<Entry>& all) : tokens_(tokens) {
        for (const Entry& entry : all) {
            const auto known = values_.find(entry.key);
            const bool other = known != values_.end() && known->second != entry.value;
            values_[entry.key] = other || !entry.open.empty() ? Json(nullptr) : entry.value;
        }
    }

    // The settings of the dictionary that opens at `at`, which goes behind it.
    void dictionary(std::size_t& at, const std::string& prefix, std::vector<Entry>& into, int depth = 0) {
        for (++at; at < tokens_.size() && !sign_at(tokens_, at, "}");) {
            const bool key = tokens_[at].kind == PythonToken::text && sign_at(tokens_, at + 1, ":");
            if (!key) {
                skip(at);
                continue;
            }
            const std::string name = prefix + tokens_[at].value;
            const std::int64_t line = tokens_[at].line;
            at += 2;
            if (sign_at(tokens_, at, "{") && depth < kDeepestDictionary)
                dictionary(at, name + ".", into, depth + 1);
            else
                put(name, line, at, into);
        }
        ++at;
    }

    // "per_device_train_batch_size=4, bf16=True" of the call whose bracket opens at `at`.
    void arguments(std::size_t at, std::vector<Entry>& into) {
        for (++at; at < tokens_.size() && !sign_at(tokens_, at, ")");) {
            if (tokens_[at].kind == PythonToken::name && sign_at(tokens_, at + 1, "=")) {
                const std::string name = tokens_[at].value;
                const std::int64_t line = tokens_[at].line;
                at += 2;
                put(name, line, at, into);
            } else {
                skip(at);
            }
        }
    }

 private:
    void skip(std::size_t& at) const {
        int depth = 0;
        do {
            depth += opens_at(tokens_, at) ? 1 : closes_at(tokens_, at) ? -1 : 0;
            ++at;
        } while (at < tokens_.size() && depth > 0);
    }

    // ["q_proj", "v_proj"]
    std::optional<Json> list_at(std::size_t at) const {
        Json all = Json::array();
        for (++at; at < tokens_.size() && !sign_at(tokens_, at, "]"); ++at) {
            if (sign_at(tokens_, at, ",")) continue;
            if (tokens_[at].kind != PythonToken::text || all.size() > 100) return std::nullopt;
            all.push_back(tokens_[at].value);
        }
        return all;
    }

    std::optional<Json> value_at(std::size_t at) const {
        const PythonToken& token = tokens_[at];
        if (token.kind == PythonToken::text) return token.value;
        if (token.kind == PythonToken::number) return python_number(token.value);
        if (token.kind != PythonToken::name) return std::nullopt;
        if (token.value == "True" || token.value == "False") return token.value == "True";
        if (token.value == "None") return Json();
        const auto known = values_.find(token.value);
        return known == values_.end() || known->second.is_null() ? std::nullopt : std::optional(known->second);
    }

    void put(const std::string& name, std::int64_t line, std::size_t& at, std::vector<Entry>& into) {
        if (at >= tokens_.size() || into.size() >= kMostOfDictionary) return void(++at);
        const bool alone = sign_at(tokens_, at + 1, ",") || closes_at(tokens_, at + 1);
        std::optional<Json> value = alone ? value_at(at) : sign_at(tokens_, at, "[") ? list_at(at) : std::nullopt;
        if (!value) value = open_mark(written_value(tokens_, at));
        while (at < tokens_.size() && !sign_at(tokens_, at, ",") && !closes_at(tokens_, at)) skip(at);
        Entry entry{name, name, *value, line};
        if (const auto* text = value->get_ptr<const Json::string_t*>()) entry.open = open_names(*text);
        into.push_back(std::move(entry));
    }

    const PythonTokens& tokens_;
    std::map<std::string, Json> values_;
};

// AutoModelForCausalLM.from_pretrained("..."), or of a name that has one value: the first that is a model here.
std::optional<Entry> loaded_model(const PythonTokens& tokens, const std::vector<Entry>& all) {
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
        if (tokens[i].kind != PythonToken::name || last_part(tokens[i].value) != "from_pretrained" || !sign_at(tokens, i + 1, "("))
            continue;
        if (tokens[i].value.find("Tokenizer") != std::string::npos || tokens[i].value.find("Processor") != std::string::npos) continue;
        const PythonToken& first = tokens[i + 2];
        if (first.kind == PythonToken::text) return Entry{"model_name_or_path", "from_pretrained", first.value, first.line};
        const auto known = std::find_if(all.rbegin(), all.rend(), [&](const Entry& one) { return one.key == first.value; });
        if (first.kind == PythonToken::name && known != all.rend() && known->value.is_string() && known->open.empty())
            return Entry{"model_name_or_path", known->shown, known->value, known->line};
    }
    return std::nullopt;
}

bool calls(const PythonTokens& tokens, std::size_t at, std::string_view name) {
    return tokens[at].kind == PythonToken::name && sign_at(tokens, at + 1, "(") && last_part(tokens[at].value) == name;
}

// What trains a part alone, or stores what does not learn in fewer bits: under the names that the arguments of a command have.
void add_parts(const PythonTokens& tokens, DictionaryReader& reader, std::vector<Entry>& entries) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::vector<Entry> found;
        if (calls(tokens, i, "LoraConfig")) {
            reader.arguments(i + 1, found);
            entries.push_back({"use_lora", "LoraConfig", true, tokens[i].line});
            for (Entry& one : found)
                if (one.key == "r" || one.key == "target_modules" || one.key == "modules_to_save") one.key = "lora_" + one.key;
        } else if (calls(tokens, i, "BitsAndBytesConfig")) {
            reader.arguments(i + 1, found);
        }
        entries.insert(entries.end(), found.begin(), found.end());
    }
}

bool is_trainer_call(const PythonTokens& tokens, std::size_t at) {
    return std::any_of(std::begin(kTrainerCalls), std::end(kTrainerCalls), [&](const char* name) { return calls(tokens, at, name); });
}

void add_trainer_job(ReadJobs& read, std::string_view format, const NamesSet& set, std::vector<Entry> entries,
                     const std::optional<Entry>& model) {
    const FormatReader* const reader = reader_called(format);
    ReadJob job;
    job.line = entries.empty() ? 0 : entries[0].line;
    job.in.entries = std::move(entries);
    if (model) job.in.entries.push_back(*model);
    job.in.answers = set;
    if (model && format == "deepspeed") take_named_model(job.in, model->key);
    reader->read(job.in);
    for (const Entry& entry : job.in.entries)
        if (entry.fate == Fate::open)
            for (const std::string& name : entry.open) read.choices[name];
    read.format = format;
    read.jobs.push_back(std::move(job));
}

}  // namespace

std::optional<ReadJobs> read_python_trainers(std::string_view text, const std::vector<Entry>& all, const NamesSet& set) {
    const PythonTokens tokens = python_tokens(text);
    DictionaryReader dictionary_reader(tokens, all);
    std::vector<std::vector<Entry>> trainers, dictionaries;
    for (std::size_t i = 0; i < tokens.size() && trainers.size() + dictionaries.size() < kMostDictionaries; ++i) {
        std::vector<Entry> entries;
        if (is_trainer_call(tokens, i)) {
            dictionary_reader.arguments(i + 1, entries);
            if (count_like(entries, {"per_device_train_batch_size"}) > 0) trainers.push_back(std::move(entries));
        } else if (sign_at(tokens, i, "{")) {
            std::size_t end = i;
            dictionary_reader.dictionary(end, "", entries);
            if (deepspeed_likeness(entries) < 1) continue;
            dictionaries.push_back(std::move(entries));
            i = end - 1;
        }
    }
    if (trainers.empty() && dictionaries.empty()) return std::nullopt;
    ReadJobs read;
    const auto model = loaded_model(tokens, all);
    std::vector<Entry> parts;
    add_parts(tokens, dictionary_reader, parts);
    for (std::vector<Entry>& entries : trainers) {
        entries.insert(entries.end(), parts.begin(), parts.end());
        if (dictionaries.size() == 1)
            for (const Entry& one : dictionaries[0])
                if (one.key.starts_with("zero_optimization.")) entries.push_back(one);
        add_trainer_job(read, "transformers", set, std::move(entries), model);
    }
    if (trainers.empty())
        for (std::vector<Entry>& entries : dictionaries) {
            add_trainer_job(read, "deepspeed", set, std::move(entries), model);
            if (!parts.empty()) refuse_mode(read.jobs.back().in, parts[0].shown);
        }
    return read;
}

}  // namespace fourfold
