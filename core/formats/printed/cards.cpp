// Which cards nvidia-smi, rocm-smi or amd-smi shows, as the catalogue calls them.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "formats/printed/answer.h"
#include "formats/printed/line.h"
#include "model/catalog.h"

namespace fourfold {

namespace {

// "NVIDIA A100-SXM4-40GB": " nvidia a100 sxm4 40gb "
std::string card_words(std::string_view name) {
    std::string words = joined({" ", lower_case(name), " "});
    std::replace(words.begin(), words.end(), '-', ' ');
    return words;
}
bool has_card_word(const std::string& words, std::string_view word) { return words.find(joined({" ", word, " "})) != std::string::npos; }

// The words of its id stand in the name, but for its size, and for "sxm", which it is where nothing else is said: "NVIDIA H100 80GB HBM3".
bool is_called(const std::string& name, const Gpu& gpu) {
    const std::string id = card_words(gpu.id);
    for (const std::string_view other : {"pcie", "nvl", "d"})  // another card: "NVIDIA H200 NVL", "NVIDIA GeForce RTX 4090 D"
        if (has_card_word(name, other) && !has_card_word(id, other)) return false;
    std::vector<std::string_view> words;
    split_cells(gpu.id, '-', words, 8);
    return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
        return word == "sxm" || (word.ends_with("gb") && word[0] <= '9') || has_card_word(name, word);
    });
}

}  // namespace

PrintedCards cards_of(const PrintedRun& run) {
    constexpr double kSame = 0.1;  // of the size; a driver and the memory's own checks keep up to six percent
    std::set<std::int64_t> numbers;
    double size = 0;
    for (const PrintedNumber& one : run.numbers) {
        if (!shows_cards(one.printer)) continue;
        if (one.rank >= 0) numbers.insert(one.rank);
        if (one.quantity == Quantity::capacity) size = std::max(size, one.value);
    }
    // Other rows than of 1, 2, 4, 8 or 16 cards may be one card's, over some time.
    const bool odd = run.rows_are_cards && (numbers.size() & (numbers.size() - 1)) != 0;
    PrintedCards cards{nullptr, odd ? 0 : static_cast<std::int64_t>(numbers.size())};
    if (run.cards.size() != 1) return cards;
    const std::string name = card_words(run.cards[0]);
    for (const Gpu& gpu : catalog().gpus) {
        if (!is_called(name, gpu) || (size > 0 && std::abs(size - gpu.memory_bytes) > kSame * gpu.memory_bytes)) continue;
        if (cards.gpu != nullptr) return {nullptr, cards.count};  // which of them is not said
        cards.gpu = &gpu;
    }
    return cards;
}

}  // namespace fourfold
