#include "formats/near_keys.h"

#include <algorithm>

#include "base/edit_distance.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostSlips = 2, kFar = kMostSlips + 1, kLongestKey = 64;  // the distance is quadratic, and no key is longer
constexpr std::string_view kBetween = "_-.";

std::vector<std::string_view> words_of(std::string_view key) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= key.size();) {
        const std::size_t end = std::min(key.find_first_of(kBetween, at), key.size());
        words.push_back(key.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

template <class Kept>
std::string with_only(std::string_view text, Kept kept) {
    std::string all(text);
    std::erase_if(all, [&](char c) { return !kept(c); });
    return all;
}
bool is_figure(char c) { return c >= '0' && c <= '9'; }
bool is_no_mark(char c) { return kBetween.find(c) == kBetween.npos; }

bool has_same_letters(std::string_view a, std::string_view b) { return std::is_permutation(a.begin(), a.end(), b.begin(), b.end()); }

// Slips of the pen between two words; fp4 and fp8, gpu and cpu, min and max are two things and no slip.
std::size_t slips(std::string_view a, std::string_view b) {
    if (a == b) return 0;
    constexpr std::size_t kForOne = 4, kForTwo = 6;  // letters
    const std::size_t shorter = std::min(a.size(), b.size()), longer = std::max(a.size(), b.size());
    if (shorter + 1 < kForOne || longer < kForOne || a[0] != b[0] || with_only(a, is_figure) != with_only(b, is_figure)) return kFar;
    const std::size_t distance = edit_distance(a, b);
    return distance == 1 || (distance == 2 && (shorter >= kForTwo || has_same_letters(a, b))) ? distance : kFar;
}

std::size_t slips_of_key(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty() || a[0] != b[0] || std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > kMostSlips) return kFar;
    const auto words = words_of(a), others = words_of(b);
    if (words.size() != others.size()) {  // "micro_batchsize"
        const std::string whole = with_only(a, is_no_mark), other = with_only(b, is_no_mark);
        return slips(whole, other) + 1;
    }
    std::size_t all = 0;
    for (std::size_t i = 0; i < words.size() && all <= kMostSlips; ++i) all += slips(words[i], others[i]);
    return all;
}

// With the dashes, and behind the sections, that the mistyped one has.
std::string as_written(std::string key, const Entry& entry) {
    std::string shown = entry.shown;
    std::replace(shown.begin(), shown.end(), '-', '_');
    std::string mistyped = entry.key;
    std::replace(mistyped.begin(), mistyped.end(), '-', '_');
    if (!shown.ends_with(mistyped)) return key;
    const std::string before = entry.shown.substr(0, shown.size() - mistyped.size());
    if (before.starts_with("--") && entry.shown.find('_') == std::string::npos) std::replace(key.begin(), key.end(), '_', '-');
    return before + key;
}

}  // namespace

std::string near_key(const Import& import, const Entry& entry) {
    if (entry.fate != Fate::unknown || entry.key.size() > kLongestKey || import.sought.contains(entry.key)) return "";
    const std::string* nearest = nullptr;
    std::size_t least = kFar;
    for (const std::string& key : import.sought) {
        const std::size_t distance = key.size() > kLongestKey ? kFar : slips_of_key(entry.key, key);
        if (distance >= least || import.has(key)) continue;
        least = distance;
        nearest = &key;
    }
    return nearest == nullptr ? "" : as_written(*nearest, entry);
}

}  // namespace fourfold
