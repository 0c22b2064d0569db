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

// Whether a number stands in `names` where a word begins, or behind an x or the word typed `before` it: "7b" is in "8x7b", not in "27b",
// and "3" in "qwen3" of "qwen 3". A `whole` one ends there too: "3" is in "3.1", not in "32b".
static bool has_number(std::string_view names, std::string_view number, std::string_view before, bool whole) {
    const auto begins = [&](std::size_t at) {
        const char c = at == 0 ? ' ' : names[at - 1];
        return (!is_digit(c) && c != '.' && (c == 'x' || c < 'a' || c > 'z')) ||
               (!before.empty() && !is_digit(before.back()) && names.substr(0, at).ends_with(before));
    };
    for (std::size_t at = names.find(number); at != names.npos; at = names.find(number, at + 1)) {
        const std::size_t end = at + number.size();
        if (begins(at) && !(whole && end < names.size() && is_digit(names[end]))) return true;
    }
    return false;
}

// Whether a word of `text` begins so: "h200" begins one of "h200 sxm", none of "gh200".
static bool begins_word(std::string_view text, std::string_view word) {
    const auto is_alike = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
        if (at == 0 || !is_alike(text[at - 1])) return true;
    return false;
}

constexpr std::string_view kBetween = " -_/,;:()";

Meant meant(std::string_view words, const Named& one) {
    const std::string given = lower_case(words), names = lower_case(joined({one.id, " ", one.names}));
    std::string squeezed = names;  // "llama3" for "Llama 3"
    squeezed.erase(std::remove_if(squeezed.begin(), squeezed.end(), [](char c) { return kBetween.find(c) != kBetween.npos; }),
                   squeezed.end());
    const std::string text = names + " " + squeezed;
    std::string_view word;
    Meant all = Meant::begins;
    for (std::size_t from = given.find_first_not_of(kBetween); from < given.size();) {
        const std::size_t to = std::min(given.find_first_of(kBetween, from), given.size());
        const std::string_view before = std::exchange(word, std::string_view(given).substr(from, to - from));
        from = given.find_first_not_of(kBetween, to);
        const bool number = is_digit(word[0]), last = from >= given.size();  // the last word may still be typed
        if (number ? !has_number(names, word, before, !last) : squeezed.find(word) == squeezed.npos) return Meant::no;
        if (number ? !has_number(names, word, before, true) : !begins_word(text, word)) all = Meant::has;
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
