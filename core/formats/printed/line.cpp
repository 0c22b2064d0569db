#include "formats/printed/line.h"

#include <algorithm>

namespace fourfold {

namespace {

constexpr std::size_t kLongest = 4'000;  // bytes of a line that are looked at

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Without what sets colours and moves the cursor.
std::string_view without_colours(std::string_view line, std::string& clean) {
    if (line.find('\x1b') == std::string_view::npos) return line;
    clean.clear();
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\x1b') {
            clean += line[i];
            continue;
        }
        if (i + 1 < line.size() && line[i + 1] == '[') ++i;
        do ++i;
        while (i < line.size() && !is_letter(line[i]));
    }
    return clean;
}

std::int64_t whole_at(std::string_view text, std::size_t& at) {
    std::int64_t value = -1;
    for (; at < text.size() && is_digit(text[at]) && value < 10'000'000; ++at)
        value = 10 * std::max<std::int64_t>(0, value) + (text[at] - '0');
    return value;
}

// "3: …" of srun, "[rank3]: …", "[default3]:…" of torchrun, "[3]: …", "[Rank 3] …": taken from the line, with the rank.
std::int64_t take_rank(std::string_view& line) {
    const std::string_view text = trimmed(line);
    std::size_t at = 0;
    const bool bracket = text.starts_with('[');
    if (bracket) ++at;
    for (const std::string_view word : {"rank", "Rank ", "default"})
        if (bracket && text.substr(at, word.size()) == word) at += word.size();
    const std::int64_t rank = whole_at(text, at);
    if (rank < 0 || at + 1 >= text.size() || (bracket ? text[at] != ']' : text[at] != ':' || text[at + 1] != ' ')) return -1;
    if (bracket && text[at + 1] == ':') ++at;
    line = text.substr(at + 1);
    return rank;
}

// How long the number is that the text begins with: digits, with commas before groups of three, a point, an exponent.
std::size_t number_length(std::string_view text) {
    std::size_t end = 0;
    const auto digits = [&](std::size_t from) {
        while (from < text.size() && is_digit(text[from])) ++from;
        return from;
    };
    if (!text.empty() && text[0] == '-') ++end;
    const std::size_t first = end;
    end = digits(end);
    if (end == first) return 0;
    while (end < text.size() && text[end] == ',' && digits(end + 1) == end + 4) end += 4;
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) end = digits(end + 1);
    if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
        const std::size_t sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-') ? 2 : 1;
        if (digits(end + sign) > end + sign) end = digits(end + sign);
    }
    return end;
}

MaybePrinted number_at(std::string_view text) {
    const std::string_view written = text.substr(0, number_length(text));
    if (written.empty() || written.size() > 60) return std::nullopt;
    std::string plain(written);
    plain.erase(std::remove(plain.begin(), plain.end(), ','), plain.end());
    const auto value = number_of(plain);
    if (!value) return std::nullopt;
    return Printed{*value, written};
}

// What stands behind a key, past its sign.
std::string_view behind(std::string_view text, std::size_t at) {
    const std::size_t next = text.find_first_not_of(" \t:='\"", at);
    return next == std::string_view::npos ? std::string_view() : text.substr(next);
}

// Asks `read` behind each place of `key` until it finds something there.
template <class Read>
MaybePrinted first_after(std::string_view text, std::string_view key, Read read) {
    for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + key.size()))
        if (const MaybePrinted found = read(behind(text, at + key.size()))) return found;
    return std::nullopt;
}

// 0: none.
double bytes_of_unit(std::string_view unit) {
    if (unit == "B" || unit == "bytes") return 1;
    constexpr std::string_view kPrefixes = "KMGTP";
    const std::size_t power = unit.empty() ? std::string_view::npos : kPrefixes.find(unit[0]);
    const std::string_view rest = unit.substr(std::min<std::size_t>(1, unit.size()));
    if (power == std::string_view::npos || (rest != "B" && rest != "iB")) return 0;
    double bytes = 1024;
    for (std::size_t i = 0; i < power; ++i) bytes *= 1024;
    return bytes;
}

}  // namespace

bool PrintedLines::next() {
    if (rest_.empty()) {
        if (!lines_.next()) return false;
        number = static_cast<std::int64_t>(lines_.number);
        rest_ = lines_.line;
    }
    const std::size_t end = std::min(rest_.find('\r'), rest_.size());
    const std::string_view state = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    text = without_colours(state.substr(0, kLongest), clean_);
    rank = take_rank(text);
    return true;
}

bool has(std::string_view text, std::string_view words) { return text.find(words) != std::string_view::npos; }

MaybePrinted number_after(std::string_view text, std::string_view key, double thousand) {
    return first_after(text, key, [&](std::string_view rest) -> MaybePrinted {
        MaybePrinted number = number_at(rest);
        if (!number || thousand == 0 || rest.size() == number->written.size()) return number;
        const char unit = rest[number->written.size()];
        const std::size_t power = std::string_view("KMBT").find(unit == 'G' ? 'B' : unit);
        if (power == std::string_view::npos) return number;
        for (std::size_t i = 0; i <= power; ++i) number->value *= thousand;
        number->written = rest.substr(0, number->written.size() + 1);
        return number;
    });
}

MaybePrinted size_of(std::string_view text) {
    MaybePrinted size = number_at(text);
    if (!size || size->value < 0) return std::nullopt;
    std::size_t at = size->written.size();
    while (at < text.size() && text[at] == ' ') ++at;
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    const double bytes = bytes_of_unit(text.substr(at, end - at));
    if (bytes == 0) return std::nullopt;
    size->value *= bytes;
    size->written = text.substr(0, end);
    return size;
}

MaybePrinted size_after(std::string_view text, std::string_view key) { return first_after(text, key, size_of); }

MaybePrinted size_before(std::string_view text, std::string_view words) {
    for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + words.size())) {
        std::size_t begin = at;
        const auto back = [&](auto&& is) {
            while (begin > 0 && is(text[begin - 1])) --begin;
        };
        const auto is_blank = [](char c) { return c == ' '; };
        back(is_blank);
        back(is_letter);
        back(is_blank);
        back([](char c) { return is_digit(c) || c == '.' || c == ','; });
        const std::string_view candidate = text.substr(begin, at - begin);
        if (const MaybePrinted size = size_of(candidate)) return size;
    }
    return std::nullopt;
}

}  // namespace fourfold
