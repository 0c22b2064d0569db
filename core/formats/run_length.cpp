#include "formats/run_length.h"

#include <algorithm>

namespace fourfold {

namespace {

enum class LengthUnit : std::uint8_t { steps, sequences, tokens };
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
    {"training.steps", LengthUnit::steps},      // torchtitan
    {"tokens.train_steps", LengthUnit::steps},  // nanotron
};

bool names(const Entry& entry, const LengthRow& row) {
    const std::string_view whole = entry.key, key = row.key;
    if (whole == key) return true;
    return !row.is_whole && whole.size() > key.size() && whole.ends_with(key) && whole[whole.size() - key.size() - 1] == '.';
}

}  // namespace

void read_run_length(Import& in) {
    constexpr double kMostTokens = 1e16;
    const auto batch = in.job.find("global_batch"), sequence = in.job.find("sequence_length");
    if (in.job.contains("token_budget") || sequence == in.job.end() || !sequence->is_number()) return;
    for (const LengthRow& row : kRunLengths)
        for (auto entry = in.entries.rbegin(); entry != in.entries.rend(); ++entry) {
            if (entry->fate != Fate::no_number || !entry->open.empty() || !names(*entry, row)) continue;
            if (row.unit == LengthUnit::steps && (batch == in.job.end() || !batch->is_number())) continue;
            const auto length = number_in(entry->value);
            if (!length || *length <= 0) continue;
            const double tokens = *length * (row.unit == LengthUnit::tokens ? 1 : sequence->get<double>()) *
                                  (row.unit == LengthUnit::steps ? batch->get<double>() : 1);
            if (tokens > kMostTokens) continue;
            in.job["token_budget"] = tokens;
            entry->fate = Fate::used;
            entry->fields = {"token_budget"};
            return;
        }
}

}  // namespace fourfold
