#include "formats/read/run_length.h"

#include <algorithm>

namespace fourfold {

namespace {

enum class LengthUnit : std::uint8_t { steps, sequences, tokens, said };
struct LengthRow {
    std::string_view key;  // of an entry, or its end, behind a dot
    LengthUnit unit;
    bool is_whole = false;  // the first alone: others' keys end so too (a schedule's "max_steps")
};
constexpr LengthRow kRunLengths[] = {
    {"train_iters", LengthUnit::steps},            // Megatron-LM, Megatron-Bridge, gpt-neox, Primus
    {"train_samples", LengthUnit::sequences},      // Megatron-LM
    {"train_tokens", LengthUnit::tokens},          // Megatron-DeepSpeed
    {"max_steps", LengthUnit::steps, true},        // Transformers and what is built on it
    {"trainer.max_steps", LengthUnit::steps},      // NeMo
    {"train.max_steps", LengthUnit::steps, true},  // LitGPT
    {"train.max_tokens", LengthUnit::tokens, true},
    {"training.steps", LengthUnit::steps},                    // torchtitan
    {"tokens.train_steps", LengthUnit::steps},                // nanotron
    {"trainer.num_train_steps", LengthUnit::steps},           // Levanter
    {"steps", LengthUnit::steps, true},                       // MaxText
    {"max_iters", LengthUnit::steps, true},                   // nanoGPT
    {"data.total_steps", LengthUnit::steps, true},            // InternEvo
    {"llmc.x", LengthUnit::steps, true},                      // llm.c
    {"training.total_train_steps", LengthUnit::steps, true},  // picotron
    {"training.max_tokens", LengthUnit::tokens, true},
    {"step_scheduler.max_steps", LengthUnit::steps, true},                // NeMo Automodel
    {"training_parameters.num_training_steps", LengthUnit::steps, true},  // lm-engine
    {"max_duration", LengthUnit::said, true},                             // llm-foundry
};

bool names(const Entry& entry, const LengthRow& row) {
    const std::string_view whole = entry.key, key = row.key;
    if (whole == key) return true;
    return !row.is_whole && whole.size() > key.size() && whole.ends_with(key) && whole[whole.size() - key.size() - 1] == '.';
}

// Composer's "4800ba", "1000sp", "2e9tok"; epochs say no length.
std::optional<double> length_in(const Json& value, LengthUnit& unit) {
    if (unit != LengthUnit::said) return number_in(value);
    constexpr std::pair<std::string_view, LengthUnit> kUnits[] = {
        {"ba", LengthUnit::steps}, {"sp", LengthUnit::sequences}, {"tok", LengthUnit::tokens}};
    const auto* const text = value.get_ptr<const Json::string_t*>();
    if (text == nullptr) return std::nullopt;
    for (const auto& [name, counted] : kUnits)
        if (text->ends_with(name)) return unit = counted, number_in(text->substr(0, text->size() - name.size()));
    return std::nullopt;
}

// Epochs of a data set, whose tokens no text says; and no default for a model's first training is the length of a fine-tuning run.
// These count epochs where nothing is said: Transformers 3 (training_args.py, num_train_epochs), and with it what is built on its Trainer;
// Axolotl (schemas/training.py, num_epochs) and torchtune (its recipes' epochs) likewise.
constexpr std::string_view kCountEpochs[] = {"transformers", "llama-factory", "axolotl", "torchtune"};

bool counts_otherwise(const Import& in, std::string_view format) {
    const bool usual = std::find(std::begin(kCountEpochs), std::end(kCountEpochs), format) != std::end(kCountEpochs);
    return usual || in.job.value("trained", "") == "lora" || std::any_of(in.entries.begin(), in.entries.end(), [](const Entry& entry) {
               const auto* const text = entry.value.get_ptr<const Json::string_t*>();
               return entry.key.ends_with("epochs") || (entry.key == "max_duration" && text != nullptr && text->ends_with("ep"));
           });
}

}  // namespace

// Where several are said the program stops at the first that it meets.
void read_run_length(Import& in, std::string_view format) {
    constexpr double kMostTokens = 1e16;
    const auto batch = in.job.find("global_batch"), sequence = in.job.find("sequence_length");
    if (in.job.contains("token_budget") || sequence == in.job.end() || !sequence->is_number()) return;
    Entry* shortest = nullptr;
    double least = kMostTokens;
    bool said = false;
    for (const LengthRow& row : kRunLengths)
        for (auto entry = in.entries.rbegin(); entry != in.entries.rend(); ++entry) {
            if (entry->fate != Fate::no_number || !names(*entry, row)) continue;
            if (!entry->open.empty()) return;  // it may be the shortest
            LengthUnit unit = row.unit;
            const auto length = length_in(entry->value, unit);
            if (!length || *length <= 0) continue;
            said = true;
            if (unit == LengthUnit::steps && (batch == in.job.end() || !batch->is_number())) continue;
            const double tokens = *length * (unit == LengthUnit::tokens ? 1 : sequence->get<double>()) *
                                  (unit == LengthUnit::steps ? batch->get<double>() : 1);
            if (tokens < least) least = tokens, shortest = &*entry;
            break;
        }
    if (shortest == nullptr) {
        if (!said && counts_otherwise(in, format)) in.job["token_budget"] = 0;
        return;
    }
    in.job["token_budget"] = least;
    shortest->fate = Fate::used;
    shortest->fields = {"token_budget"};
}

}  // namespace fourfold
