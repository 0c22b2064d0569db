#include "base/table.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace fourfold {

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view without_mark(std::string_view text) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
    return text;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

bool Lines::next() {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number;
    return true;
}

void split_words(std::string_view line, std::vector<std::string_view>& words, std::size_t most) {
    words.clear();
    std::size_t from = 0;
    for (std::size_t i = 0; i <= line.size() && words.size() < most; ++i) {
        if (i < line.size() && !is_blank(line[i])) continue;
        if (i > from) words.push_back(line.substr(from, i - from));
        from = i + 1;
    }
}

char separator_of(std::string_view line) {
    const auto first = [](std::string_view text) {
        for (const char separator : {'\t', ';', ','})
            if (text.find(separator) != std::string_view::npos) return separator;
        return ' ';
    };
    return first(trimmed(line)) == ' ' ? ' ' : first(line);  // tabs around the line alone separate nothing
}

static std::string_view unquoted(std::string_view cell) {
    cell = trimmed(cell);
    const bool quoted = cell.size() >= 2 && (cell.front() == '"' || cell.front() == '\'') && cell.back() == cell.front();
    return quoted ? trimmed(cell.substr(1, cell.size() - 2)) : cell;
}

void split_cells(std::string_view line, char separator, std::vector<std::string_view>& cells, std::size_t most) {
    if (separator == ' ') {
        split_words(line, cells, most);
        for (std::string_view& cell : cells) cell = unquoted(cell);
        return;
    }
    cells.clear();
    while (true) {
        const std::size_t end = line.find(separator);
        cells.push_back(unquoted(line.substr(0, end)));
        if (end == std::string_view::npos || cells.size() >= most) return;
        line.remove_prefix(end + 1);
    }
}

std::string with_point(std::string_view number, char separator) {
    constexpr std::size_t kThousands = 4;  // characters of ",024"
    std::string text(number);
    const std::size_t comma = text.find(',');
    if (separator != ',' && comma != std::string::npos && text.size() - comma != kThousands) text[comma] = '.';
    return text;
}

std::optional<double> number_of(std::string_view text) {
    std::array<char, 64> copy;  // strtod needs an end, and a line has others
    if (text.empty() || text.size() >= copy.size()) return std::nullopt;
    for (const char c : text)
        if (!(c >= '0' && c <= '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E') return std::nullopt;
    copy[text.copy(copy.data(), text.size())] = '\0';
    char* end = nullptr;
    const double value = std::strtod(copy.data(), &end);
    if (end != copy.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace fourfold
