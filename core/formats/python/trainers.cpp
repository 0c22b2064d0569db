#include "formats/python/trainers.h"

#include <algorithm>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/python/accelerate.h"
#include "formats/python/arguments.h"
#include "formats/python/models.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostDictionaries = 10;

// Calls that say how to train: transformers 4.56, TRL 0.21, Unsloth. What TRL trains otherwise than on plain text has a way.
struct TrainerCall {
    std::string_view name;
    bool trl = false;
};
constexpr TrainerCall kTrainerCalls[] = {
    {"TrainingArguments"}, {"Seq2SeqTrainingArguments"}, {"UnslothTrainingArguments"}, {"SFTConfig", true}};
constexpr std::string_view kPlainTrainers[] = {"Trainer", "SFTTrainer", "UnslothTrainer", "Seq2SeqTrainer"};
// Of what a trainer is given besides: TRL before 0.13; a model by its name; another optimizer, which no reader knows.
constexpr std::string_view kOfTrainer[] = {"max_seq_length", "max_length", "packing", "model", "optimizers", "optimizer_cls_and_kwargs"};
constexpr std::string_view kLengths[] = {"max_seq_length", "max_length", "model_max_length"};
// Of SFTTrainer before its own configuration had them (TRL 0.13), which computed layers again only where it was told.
constexpr std::string_view kOfOldTrl[] = {"max_seq_length", "dataset_text_field", "packing"};
constexpr std::string_view kOfModel = "model_init_kwargs.";
constexpr std::int64_t kUsualBatch = 8;  // TrainingArguments.per_device_train_batch_size

bool has_key(const std::vector<Entry>& entries, std::string_view key) {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& one) { return one.key == key; });
}

// Whether a call has arguments with names, and none of them is told: it stands in a branch that is not taken.
bool left_out(const PythonTokens& tokens, std::size_t at, const std::vector<Entry>& told) {
    const bool says = std::any_of(told.begin(), told.end(), [](const Entry& one) { return !one.key.starts_with("**"); });
    const std::size_t end = says ? at : behind_bracket(tokens, at);
    for (std::size_t i = at + 1; i < end; ++i)
        if (tokens[i - 1].kind == PythonToken::name && has_sign_at(tokens, i, "=")) return true;
    return false;
}

// "DPOConfig(", "DPOTrainer(": the way it trains; "" for any other.
std::string way_of(const PythonTokens& tokens, std::size_t at, std::string_view kind) {
    if (at >= tokens.size() || tokens[at].kind != PythonToken::name || !has_sign_at(tokens, at + 1, "(")) return "";
    const std::string name = last_part(tokens[at].value);
    return name.ends_with(kind) && trains_otherwise(name.substr(0, name.size() - kind.size())) ? name : "";
}

struct Trainer {
    std::vector<Entry> entries;
    std::string way;  // that is not counted
};

// training_arguments.gradient_checkpointing = True, after the call.
void add_changes(const std::string& name, std::int64_t line, const std::vector<Entry>& all, std::vector<Entry>& entries) {
    if (name.empty()) return;
    for (const Entry& one : all) {
        if (one.line <= line || !one.key.starts_with(name + ".")) continue;
        entries.push_back(one);
        entries.back().key.erase(0, name.size() + 1);
    }
}

// Finds what says how to train, and what it is given.
class TrainerFinder {
 public:
    TrainerFinder(const PythonTokens& tokens, const PythonArguments& reader, const std::vector<Entry>& all)
        : tokens_(tokens), reader_(reader), all_(all) {}

    std::optional<Trainer> trainer_at(std::size_t at) const {
        const auto* row = std::find_if(std::begin(kTrainerCalls), std::end(kTrainerCalls),
                                       [&](const TrainerCall& one) { return calls_at(tokens_, at, one.name); });
        Trainer made;
        made.way = way_of(tokens_, at, "Config");
        std::size_t call = at + 1;
        if (row == std::end(kTrainerCalls) && made.way.empty()) {
            if (!has_sign_at(tokens_, call, "[")) return std::nullopt;
            call = behind_bracket(tokens_, call);
            if (!has_sign_at(tokens_, call, "(")) return std::nullopt;
            made.way = way_in(tokens_[at].value);
        }
        reader_.arguments(call, made.entries);
        if (made.entries.empty() || left_out(tokens_, call, made.entries)) return std::nullopt;
        if (call != at + 1 && !has_key(made.entries, "per_device_train_batch_size")) return std::nullopt;
        add_changes(given_name(tokens_, at), tokens_[at].line, all_, made.entries);
        for (Entry& one : made.entries)
            if (one.key.starts_with(kOfModel)) one.key.erase(0, kOfModel.size());
        const std::string name = last_part(tokens_[at].value);
        if (!has_key(made.entries, "per_device_train_batch_size"))
            made.entries.push_back({"per_device_train_batch_size", name, kUsualBatch, tokens_[at].line});
        // TRL computes layers again unless it is told; not so when it still called the length max_seq_length.
        const bool says = has_key(made.entries, "gradient_checkpointing") || has_key(made.entries, "max_seq_length");
        if (row != std::end(kTrainerCalls) && row->trl && !says)
            made.entries.push_back({"gradient_checkpointing", name, true, tokens_[at].line});
        return made;
    }

    // Which one "kinds[args.kind](...)" calls, a dictionary of such classes says: a way of its own among them is said.
    std::string way_in(const std::string& dictionary) const {
        for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
            if (tokens_[i].value != dictionary || !has_sign_at(tokens_, i + 1, "=") || !has_sign_at(tokens_, i + 2, "{")) continue;
            for (std::size_t one = i + 3, end = behind_bracket(tokens_, i + 2); one < end; ++one) {
                std::string name = tokens_[one].kind == PythonToken::name ? last_part(tokens_[one].value) : "";
                if (name.ends_with("Config") && trains_otherwise(name.substr(0, name.size() - 6))) return name;
            }
        }
        return "";
    }

    // What the trainers themselves are given; the way of one that takes plain arguments is its own.
    void add_given(std::vector<Trainer>& trainers) const {
        bool plain = false;
        std::string way;
        std::vector<Entry> given;
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            const bool one = std::any_of(std::begin(kPlainTrainers), std::end(kPlainTrainers),
                                         [&](std::string_view name) { return calls_at(tokens_, i, name); });
            const std::string other = way_of(tokens_, i, "Trainer");
            plain = plain || one;
            if (way.empty()) way = other;
            if (one || !other.empty()) reader_.arguments(i + 1, given);
            if (one && i + 2 < tokens_.size() && tokens_[i + 2].kind == PythonToken::text)  // TRL takes a name in a model's place
                given.push_back({"model", tokens_[i].value, tokens_[i + 2].value, tokens_[i + 2].line});
        }
        const bool old = std::any_of(given.begin(), given.end(), [](const Entry& one) {
            return std::find(std::begin(kOfOldTrl), std::end(kOfOldTrl), one.key) != std::end(kOfOldTrl);
        });
        for (Entry& one : given)
            if (one.key.starts_with(kOfModel))
                one.key.erase(0, kOfModel.size());
            else if (std::find(std::begin(kOfTrainer), std::end(kOfTrainer), one.key) == std::end(kOfTrainer) ||
                     (one.key == "model" && (!one.value.is_string() || !one.open.empty())))
                one.key.clear();
        std::erase_if(given, [](const Entry& one) { return one.key.empty(); });
        for (Trainer& trainer : trainers) {
            if (old)
                std::erase_if(trainer.entries,
                              [](const Entry& one) { return one.key == "gradient_checkpointing" && one.shown.ends_with("Config"); });
            trainer.entries.insert(trainer.entries.begin(), given.begin(), given.end());
            if (!plain && trainer.way.empty()) trainer.way = way;
        }
    }

    // Arguments come from elsewhere, but the trainer's name says that what it does is not counted: "PPOTrainer(".
    std::vector<Trainer> other_ways() const {
        for (std::size_t i = 1; i < tokens_.size(); ++i) {
            const bool made = is_token(tokens_, i - 1, PythonToken::name, "class") || is_token(tokens_, i - 1, PythonToken::name, "def");
            const std::string way = made ? "" : way_of(tokens_, i, "Trainer");
            if (way.empty()) continue;
            Trainer trainer;
            trainer.entries.push_back({"per_device_train_batch_size", "", nullptr, tokens_[i].line});
            trainer.way = way;
            return {std::move(trainer)};
        }
        return {};
    }

 private:
    const PythonTokens& tokens_;
    const PythonArguments& reader_;
    const std::vector<Entry>& all_;
};

// What cuts the texts: "tokenizer(text, truncation=True, max_length=512)", TRL's ConstantLengthDataset(seq_length=1024). Two lengths are
// of two things, and tell nothing.
std::vector<Entry> lengths_of_data(const PythonTokens& tokens, const PythonArguments& reader) {
    constexpr std::size_t kMostCuts = 100;
    std::vector<Entry> all;
    for (std::size_t i = 0, calls = 0; i + 1 < tokens.size() && calls < kMostCuts; ++i) {
        if (tokens[i].kind != PythonToken::name || !has_sign_at(tokens, i + 1, "(")) continue;
        const std::string name = last_part(tokens[i].value);
        const bool packs = name == "ConstantLengthDataset", cuts = lower_case(name).find("tok") != std::string::npos;
        if (!packs && !cuts) continue;
        ++calls;
        std::vector<Entry> told;
        reader.arguments(i + 1, told);
        if (!packs && !has_key(told, "truncation")) continue;
        for (Entry& one : told)
            if (one.key == (packs ? "seq_length" : "max_length")) all.push_back(std::move(one));
    }
    return all;
}

// Where no trainer says how long sequences are, their data do; or, where the program hands it on, its own variable of such a name.
void add_data_length(const PythonTokens& tokens, const PythonArguments& reader, const std::vector<Entry>& all,
                     std::vector<Entry>& entries) {
    constexpr std::string_view kVariables[] = {"max_seq_length", "max_seq_len", "max_sequence_length", "seq_length",
                                               "seq_len",        "block_size",  "cutoff_len"};
    const auto says = [&](std::string_view key) { return has_key(entries, key); };
    if (std::any_of(std::begin(kLengths), std::end(kLengths), says)) return;
    std::vector<Entry> found = lengths_of_data(tokens, reader);
    const bool open = std::any_of(found.begin(), found.end(), [](const Entry& one) { return !one.open.empty(); });
    if (found.empty() || open) {
        found.clear();
        for (const Entry& one : all)
            if (std::find(std::begin(kVariables), std::end(kVariables), lower_case(one.key)) != std::end(kVariables)) found.push_back(one);
    }
    const auto fits = [&](const Entry& one) { return one.value.is_number_integer() && one.open.empty() && one.value == found[0].value; };
    if (found.empty() || !std::all_of(found.begin(), found.end(), fits)) return;
    found[0].key = "max_length";
    entries.push_back(std::move(found[0]));
}

// The length that the model is loaded for counts where the trainer says none; what the model says comes before the trainer's own.
void add_model(const PythonModel& model, std::vector<Entry>& entries) {
    std::vector<Entry> all = model.entries;
    const bool says = std::any_of(std::begin(kLengths), std::end(kLengths), [&](std::string_view key) { return has_key(entries, key); });
    if (model.length) {
        all.push_back(*model.length);
        if (says) all.back().key = "loaded_length", all.back().fate = Fate::no_number;
    }
    if (model.name) std::erase_if(entries, [](const Entry& one) { return one.key == "model"; });
    entries.insert(entries.begin(), all.begin(), all.end());
}

void add_trainer_job(ReadJobs& read, std::string_view format, const NamesSet& set, std::vector<Entry> entries, const PythonModel& model) {
    const FormatReader* const reader = reader_called(format);
    ReadJob job;
    job.line = entries.empty() ? 0 : entries[0].line;
    job.in.entries = std::move(entries);
    if (model.name) job.in.entries.push_back(*model.name);
    job.in.answers = set;
    if (model.name && format == "deepspeed") take_named_model(job.in, model.name->key);
    reader->read(job.in);
    read.format = format;
    add_job(read, std::move(job));
}

// DeepSpeed's configuration as a dictionary, with its name.
using Dictionaries = std::vector<std::pair<std::string, std::vector<Entry>>>;

// deepspeed=settings, deepspeed={...}; or the only one of the text.
void add_dictionary(const Dictionaries& dictionaries, std::vector<Entry>& entries) {
    std::erase_if(entries, [](const Entry& one) { return one.key.starts_with("deepspeed."); });  // it is among the dictionaries
    const auto said = std::find_if(entries.begin(), entries.end(), [](const Entry& one) { return one.key == "deepspeed"; });
    const std::string name = said != entries.end() && said->open.size() == 1 ? said->open[0] : "deepspeed";
    auto chosen = std::find_if(dictionaries.begin(), dictionaries.end(), [&](const auto& one) { return one.first == name; });
    if (chosen == dictionaries.end() && dictionaries.size() == 1) chosen = dictionaries.begin();
    if (chosen == dictionaries.end()) return;
    if (said != entries.end()) said->open.clear();
    add_deepspeed_file(entries, chosen->second);
}

// A trainer's job, with what the program says of its model and of DeepSpeed.
void add_trainer(ReadJobs& read, const NamesSet& set, Trainer trainer, const PythonModel& model, const Dictionaries& dictionaries) {
    const std::int64_t line = trainer.entries[0].line;
    add_model(model, trainer.entries);
    add_dictionary(dictionaries, trainer.entries);
    add_trainer_job(read, "transformers", set, std::move(trainer.entries), model);
    read.jobs.back().line = line;
    Import& in = read.jobs.back().in;
    if (in.on("full_finetuning", "trained")) in.mark("full_finetuning", Fate::used);
    if (in.has("adapter_name_or_path")) note_file(in, "adapter_name_or_path");
    if (!trainer.way.empty()) refuse_mode(in, trainer.way);
    for (const std::string& part : model.refused) refuse_mode(in, part);
    for (const std::string& note : model.notes) in.notes.push_back(Text("import_plan.note.not_counted").with("key", note.substr(0, 60)));
    if (!model.needs_part.empty())
        in.refused.push_back(Text("import_plan.refused.needs").with("one", model.needs_part).with("other", "LoraConfig"));
}

// A loop of one's own around DeepSpeed, whose dictionary says in which type it trains.
void add_dictionary_job(ReadJobs& read, const NamesSet& set, std::vector<Entry> entries, const PythonModel& model) {
    for (Entry one : model.entries) {
        if (one.key == "torch_dtype") one.fate = Fate::no_number;
        entries.push_back(std::move(one));
    }
    add_trainer_job(read, "deepspeed", set, std::move(entries), model);
    Import& in = read.jobs.back().in;
    for (const char* key : {"use_activation_checkpointing", "activation_checkpointing"})
        if (in.on(key, "recompute")) in.job["recompute"] = "full";
    read_attention_kernel(in, in.text("attn_implementation", "attention").value_or(""));
    in.drop_open();
    if (model.part) refuse_mode(in, model.part->shown);
}

// The settings of a run that a notebook writes for `llamafactory-cli train`; another dictionary, for chat and export, trains nothing.
bool is_factory_run(const std::vector<Entry>& entries) {
    return llama_factory_likeness(entries) > 0 && has_key(entries, "output_dir") && has_key(entries, "model_name_or_path");
}

}  // namespace

std::optional<ReadJobs> read_python_trainers(std::string_view text, const std::vector<Entry>& all, const NamesSet& set,
                                             const std::vector<Entry>& launcher) {
    const PythonTokens tokens = with_usual_environment(python_tokens(text), set);
    const PythonArguments reader(tokens, all, set, has_sections(text));
    const TrainerFinder finder(tokens, reader, all);
    std::vector<Trainer> trainers;
    Dictionaries dictionaries, written;
    for (std::size_t i = 0; i < tokens.size() && trainers.size() + dictionaries.size() + written.size() < kMostDictionaries; ++i) {
        std::vector<Entry> entries;
        if (auto trainer = finder.trainer_at(i)) {
            trainers.push_back(std::move(*trainer));
        } else if (has_sign_at(tokens, i, "{")) {
            std::size_t end = i;
            const std::string name = given_name(tokens, i);
            reader.dictionary(end, "", entries);
            const bool settings = is_factory_run(entries);
            if (!settings && deepspeed_likeness(entries) < 1) continue;
            (settings ? written : dictionaries).emplace_back(name, std::move(entries));
            i = end - 1;
        } else if (calls_at(tokens, i, "dict")) {
            reader.arguments(i + 1, entries);
            if (is_factory_run(entries)) written.emplace_back("", std::move(entries));
        }
    }
    if (trainers.empty() && !written.empty()) {
        ReadJobs read;
        for (auto& [name, entries] : written) add_trainer_job(read, "llama-factory", set, std::move(entries), {});
        return read;
    }
    const PythonModel model = python_model(tokens, reader, all, set);
    if (trainers.empty() && dictionaries.empty() && model.name)
        if (Trainer loop{accelerate_loop(tokens, reader), ""}; !loop.entries.empty()) trainers.push_back(std::move(loop));
    if (trainers.empty() && dictionaries.empty()) trainers = finder.other_ways();
    if (trainers.empty() && dictionaries.empty()) return std::nullopt;
    finder.add_given(trainers);
    const std::vector<Entry> accelerate = told_accelerate(tokens, reader);
    for (Trainer& trainer : trainers) {
        add_data_length(tokens, reader, all, trainer.entries);
        trainer.entries.insert(trainer.entries.end(), launcher.begin(), launcher.end());
        trainer.entries.insert(trainer.entries.end(), accelerate.begin(), accelerate.end());
    }
    ReadJobs read;
    for (Trainer& trainer : trainers) add_trainer(read, set, std::move(trainer), model, dictionaries);
    if (trainers.empty())
        for (auto& [name, entries] : dictionaries) add_dictionary_job(read, set, std::move(entries), model);
    return read;
}

}  // namespace fourfold
