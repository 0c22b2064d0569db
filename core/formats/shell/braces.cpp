// Words that stand for several ones, and texts in quotes of their own kind: what the shell does before it looks at names.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "base/text.h"
#include "formats/shell/parts.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostParts = 1'000;  // of one word in braces
constexpr int kDeepestBraces = 10;

// Behind what begins at `at` and is one to the shell: quotes, $( … ), ${ … }, a sign behind a backslash, an open name.
std::size_t behind_piece(std::string_view text, std::size_t at) {
    const char c = text[at], next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '"' || c == '\'' || c == '`') return behind_closing(text, at);
    if (c == '$' && (next == '(' || next == '{')) return behind_closing(text, at + 1);
    if (c == kOpen) return behind_mark(text, at);
    return std::min(at + (c == '\\' ? 2 : 1), text.size());
}

std::optional<int> brace_number(std::string_view text) {
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    const bool digits = text.size() > sign && text.size() < 8 && text.find_first_not_of("0123456789", sign) == std::string_view::npos;
    return digits ? std::optional(std::atoi(std::string(text).c_str())) : std::nullopt;
}

// "1..8", "0..16..4", "08..10", whose numbers keep their width.
std::vector<std::string> numbers_of(std::string_view inside) {
    const std::size_t first = inside.find(".."), second = inside.find("..", first + 2);
    if (first == std::string_view::npos) return {};
    const std::string_view low = inside.substr(0, first), high = inside.substr(first + 2, second - std::min(second, first + 2));
    const auto from = brace_number(low), to = brace_number(second == std::string_view::npos ? inside.substr(first + 2) : high);
    const auto by = second == std::string_view::npos ? std::optional(1) : brace_number(inside.substr(second + 2));
    if (!from || !to || !by || *by == 0) return {};
    const int step = (*to < *from ? -1 : 1) * std::abs(*by);
    const std::size_t width = low.size() > 1 && low[0] == '0' ? low.size() : 0;
    std::vector<std::string> all;
    for (int i = *from; step > 0 ? i <= *to : i >= *to; i += step) {
        if (all.size() == kMostParts) return {};
        const std::string number = std::to_string(i);
        all.push_back(std::string(number.size() < width ? width - number.size() : 0, '0') + number);
    }
    return all;
}

struct Braces {
    std::size_t begin = 0, end = 0;  // with its two signs
    std::vector<std::string> parts{};
};
// The first ones that stand for several words: {a,b} or {1..4}. {a} is what it is.
std::optional<Braces> braces_in(std::string_view text) {
    std::vector<std::vector<std::size_t>> open;  // where each begins, and its commas
    std::optional<Braces> first;
    for (std::size_t at = 0; at < text.size(); at = behind_piece(text, at)) {
        if (text[at] == '{') open.push_back({at});
        if (open.empty() || (text[at] != ',' && text[at] != '}')) continue;
        open.back().push_back(at);
        if (text[at] == ',') continue;
        const std::vector<std::size_t> signs = std::move(open.back());
        open.pop_back();
        if (first && first->begin < signs[0]) continue;
        Braces found{signs[0], at + 1};
        for (std::size_t i = 1; i < signs.size(); ++i) found.parts.emplace_back(text.substr(signs[i - 1] + 1, signs[i] - signs[i - 1] - 1));
        if (found.parts.size() == 1) found.parts = numbers_of(found.parts[0]);
        if (!found.parts.empty()) first = std::move(found);
    }
    return first;
}

void expand(std::string_view text, int depth, std::vector<std::string>& words) {
    const auto braces = depth < kDeepestBraces ? braces_in(text) : std::nullopt;
    if (!braces || words.size() >= kMostParts) return words.emplace_back(text), void();
    for (const std::string& part : braces->parts)
        expand(joined({text.substr(0, braces->begin), part, text.substr(braces->end)}), depth + 1, words);
}

}  // namespace

std::vector<std::string> in_braces(std::string_view word, std::size_t& left) {
    constexpr std::size_t kLongest = 1'000;
    std::vector<std::string> words;
    if (left > 0 && word.size() <= kLongest && word.find('{') != std::string_view::npos && assigned_name(word) == 0) expand(word, 0, words);
    left -= std::min(left, words.size());
    return words.empty() ? std::vector<std::string>{std::string(word)} : words;
}

std::string ansi_quoted(std::string_view text, std::size_t& at) {
    constexpr std::string_view kSigns = "ntrabefv", kValues = "\n\t\r\a\b\x1b\f\v";
    std::string plain = "'";
    const auto add = [&](char c) { plain += c == '\'' ? std::string("'\\''") : std::string(1, c); };
    for (at += 2; at < text.size() && text[at] != '\''; ++at) {
        if (text[at] != '\\' || at + 1 == text.size()) {
            add(text[at]);
            continue;
        }
        const char c = text[++at];
        const std::size_t known = kSigns.find(c);
        if (known == std::string_view::npos && std::string_view("\\'\"?").find(c) == std::string_view::npos) add('\\');
        add(known == std::string_view::npos ? c : kValues[known]);
    }
    at = std::min(at + 1, text.size());
    return plain + "'";
}

}  // namespace fourfold
