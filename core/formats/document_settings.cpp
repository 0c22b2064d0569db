#include "formats/document_settings.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostSettings = 2'000;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r";
    const std::size_t begin = text.find_first_not_of(kSpace);
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

bool is_quoted(std::string_view text) { return text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]; }

Json scalar_of(std::string_view text) {
    if (is_quoted(text)) return std::string(text.substr(1, text.size() - 2));
    const std::string lower = lower_case(std::string(text));
    if (lower == "true" || lower == "yes" || lower == "on") return true;
    if (lower == "false" || lower == "no" || lower == "off") return false;
    if (lower == "null" || lower == "~" || text.empty()) return nullptr;
    const Json number = Json::parse(lower, nullptr, false);
    return number.is_number() ? number : Json(std::string(text));
}

Json value_of(std::string_view text) {
    text = trimmed(text);
    if (text.size() < 2 || text[0] != '[' || text.back() != ']') return scalar_of(text);
    Json list = Json::array();
    text = text.substr(1, text.size() - 2);
    while (!trimmed(text).empty() && list.size() < kMostSettings) {
        const std::size_t end = std::min(text.find(','), text.size());
        list.push_back(scalar_of(trimmed(text.substr(0, end))));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return list;
}

// Without what follows "#", which begins a comment where it stands first or behind a space, and not in quotes.
std::string_view without_comment(std::string_view line) {
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (quote != 0)
            quote = line[i] == quote ? char{} : quote;
        else if (line[i] == '"' || line[i] == '\'')
            quote = line[i];
        else if (line[i] == '#' && (i == 0 || std::isspace(static_cast<unsigned char>(line[i - 1])) != 0))
            return line.substr(0, i);
    }
    return line;
}

template <class Do>
void each_line(std::string_view text, std::int64_t first_line, Do&& make) {
    std::int64_t line = first_line;
    for (std::size_t at = 0; at<text.size(); line += first_line> 0 ? 1 : 0) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        make(without_comment(text.substr(at, end - at)), line);
        at = end + 1;
    }
}

std::string plain_key(std::string_view key) {
    key = trimmed(key);
    return std::string(is_quoted(key) ? key.substr(1, key.size() - 2) : key);
}

// Where "key: value" is cut; npos: it is none.
std::size_t cut_of(std::string_view line) {
    for (std::size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1))
        if (at + 1 == line.size() || line[at + 1] == ' ') return at;
    return std::string_view::npos;
}

}  // namespace

std::vector<Entry> yaml_settings(std::string_view text, std::int64_t first_line) {
    std::vector<Entry> entries;
    struct Block {
        std::size_t column;
        std::string path;
    };
    std::vector<Block> blocks;
    std::string open;  // the key whose list or block may follow
    each_line(text, first_line, [&](std::string_view line, std::int64_t number) {
        const std::size_t column = line.find_first_not_of(' ');
        const std::string_view rest = trimmed(line);
        if (rest.empty() || rest.starts_with("---") || entries.size() >= kMostSettings) return;
        const bool item = rest == "-" || rest.starts_with("- ");
        const std::size_t cut = cut_of(rest);
        if (item && cut == std::string_view::npos && !entries.empty() && entries.back().key == open) {
            if (!entries.back().value.is_array()) entries.back().value = Json::array();
            entries.back().value.push_back(scalar_of(trimmed(rest.substr(1))));
            return;
        }
        if (item || cut == std::string_view::npos) return;
        while (!blocks.empty() && blocks.back().column >= column) blocks.pop_back();
        const std::string key = plain_key(rest.substr(0, cut));
        open = blocks.empty() ? key : joined({blocks.back().path, ".", key});
        if (blocks.size() < 20) blocks.push_back({column, open});
        entries.push_back({open, open, value_of(rest.substr(cut + 1)), number});
    });
    return entries;
}

std::vector<Entry> toml_settings(std::string_view text, std::int64_t first_line) {
    std::vector<Entry> entries;
    std::string section;
    each_line(text, first_line, [&](std::string_view line, std::int64_t number) {
        const std::string_view rest = trimmed(line);
        if (rest.empty() || entries.size() >= kMostSettings) return;
        if (rest[0] == '[' && rest.back() == ']' && rest.find('=') == std::string_view::npos) {
            section = plain_key(rest.substr(1, rest.size() - 2));
            return;
        }
        const std::size_t cut = rest.find('=');
        if (cut == std::string_view::npos) return;
        const std::string key = plain_key(rest.substr(0, cut));
        const std::string path = section.empty() ? key : joined({section, ".", key});
        entries.push_back({path, path, value_of(rest.substr(cut + 1)), number});
    });
    return entries;
}

}  // namespace fourfold
