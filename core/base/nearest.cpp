// What a mistyped word most likely meant.
#include <algorithm>
#include <numeric>

#include "base/edit_distance.h"
#include "base/fields.h"
#include "base/text.h"

namespace fourfold {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view closest(std::string_view word, std::span<const std::string_view> candidates) {
    if (word.size() > 64) return {};  // no key is that long, and the distance is quadratic
    std::string_view best;
    // Letters slip. Digits say which one it is, and give no leave: "llama-9-1t" is no slip of "llama-2-7b".
    const std::size_t letters = word.size() - static_cast<std::size_t>(std::count_if(word.begin(), word.end(), is_digit));
    std::size_t best_distance = std::max<std::size_t>(letters / 3, 1) + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) best = candidate, best_distance = distance;
    }
    if (best.empty() && word.size() > 1)  // "h100" for "h100-sxm-80gb"
        for (const std::string_view candidate : candidates)
            if (candidate.starts_with(word)) return candidate;
    return best;
}

// Whether `word` stands in `text`; one that begins with a digit only where a word does, or behind an x: "7b" is in "8x7b", not in "27b".
static bool has_word(std::string_view text, std::string_view word) {
    const auto begins = [&](std::size_t at) {
        const char before = at == 0 ? ' ' : text[at - 1];
        return !is_digit(before) && before != '.' && (before == 'x' || before < 'a' || before > 'z');
    };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
        if (!is_digit(word[0]) || begins(at)) return true;
    return false;
}

// Whether a word of `text` begins so: "h200" begins one of "h200 sxm", none of "gh200". Digits may stand anywhere.
static bool begins_word(std::string_view text, std::string_view word) {
    const auto is_alike = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
        if (at == 0 || !is_alike(text[at - 1])) return true;
    return is_digit(word[0]);
}

constexpr std::string_view kBetween = " -_/,;:()";

Meant meant(std::string_view words, const Named& one) {
    const std::string given = lower_case(words);
    std::string text = lower_case(joined({one.id, " ", one.names}));
    std::string squeezed = text;  // "llama3" for "Llama 3"
    squeezed.erase(std::remove_if(squeezed.begin(), squeezed.end(), [](char c) { return kBetween.find(c) != kBetween.npos; }),
                   squeezed.end());
    text += " " + squeezed;
    Meant all = Meant::begins;
    for (std::size_t from = given.find_first_not_of(kBetween); from < given.size();) {
        const std::size_t to = std::min(given.find_first_of(kBetween, from), given.size());
        const std::string_view word = std::string_view(given).substr(from, to - from);
        if (!has_word(text, word)) return Meant::no;
        if (!begins_word(text, word)) all = Meant::has;
        from = given.find_first_not_of(kBetween, to);
    }
    return all;
}

Json meant(std::string_view word, std::span<const Named> list) {
    constexpr std::size_t kMost = 6, kLongest = 64;
    if (word.size() < 2 || word.size() > kLongest) return nullptr;
    const bool has_words = word.find_first_not_of(kBetween) != word.npos;
    std::vector<std::string_view> ids;
    Json found = Json::array(), begun = Json::array();
    for (const Named& one : list) {
        const Meant is = has_words ? meant(word, one) : Meant::no;
        ids.push_back(one.id);
        if (is == Meant::begins && begun.size() < kMost) begun.push_back(one.id);
        if (is != Meant::no && found.size() < kMost) found.push_back(one.id);
    }
    if (!begun.empty()) return begun;
    const std::string_view near = found.empty() ? closest(lower_case(word), ids) : "";
    if (!near.empty()) found.push_back(near);
    return found.empty() ? Json() : found;
}

Text did_you_mean(std::string_view near) { return near.empty() ? Text() : Text("suggestion.did_you_mean").with("near", near); }

}  // namespace fourfold
