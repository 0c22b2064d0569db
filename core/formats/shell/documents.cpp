// Here-documents as values, and what "read" takes from them.
#include <algorithm>

#include "formats/entries.h"
#include "formats/shell/parts.h"

namespace fourfold {

static constexpr std::size_t kLongestDocument = 200'000;  // bytes of one value

std::optional<std::string> ShellValues::document(const std::string& word, const std::vector<std::string>& documents) {
    if (word.empty() || word[0] != kDocument) return std::nullopt;
    const bool as_it_is = word.ends_with(kAsItIs);
    const std::string digits = word.substr(1, word.size() - (as_it_is ? 2 : 1));
    if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    const auto number = static_cast<std::size_t>(std::stoi(digits));
    if (number >= documents.size() || documents[number].size() > kLongestDocument) return std::nullopt;
    if (as_it_is) return documents[number];
    std::string quoted = "\"";
    const std::string& whole = documents[number];
    for (std::size_t i = 0; i < whole.size();) {
        const bool command = whole[i] == '$' && i + 1 < whole.size() && whole[i + 1] == '(';  // with quotes of its own
        const std::size_t end = command ? behind_closing(whole, i + 1) : i + 1;
        quoted += whole[i] == '"' ? "\\\"" : whole.substr(i, end - i);
        i = end;
    }
    return text(quoted + "\"");
}

// What a line or a file holds that is not here stays open: "while read -r TP PP".
void ShellValues::read(const ShellWords& words, const std::vector<std::string>& documents, const std::string& separators) {
    if (words.size() > 2)
        if (auto read = document(words.back().text, documents))
            return set(words[words.size() - 2].text, {{{std::move(*read), words[0].line}}});
    const auto text = std::find_if(words.begin(), words.end(), [](const ShellWord& word) { return word.text == "<<<"; });
    const auto end = static_cast<std::size_t>(text - words.begin());
    std::vector<std::string> names;
    bool list = false;
    for (std::size_t i = 1; i < end; ++i) {
        const std::string& word = words[i].text;
        if (word.size() > 1 && word[0] == '-') {
            list = list || word.find('a') != std::string::npos;
            if (std::string_view("dinNptu").find(word.back()) != std::string_view::npos) ++i;  // takes a value
        } else if (name_end(word, 0) == word.size() && !word.empty()) {
            names.push_back(word);
        }
    }
    const ShellWords from(text == words.end() ? text : text + 1, words.end());
    const std::string whole = joined_words(from);
    const bool known = !from.empty() && !is_open(whole);
    for (const std::string& name : names) set(name, {{{open_mark(name), words[0].line}}, list});
    if (!known || names.empty()) return;
    ShellWords parts;
    std::string_view rest = whole;
    while (true) {  // the last name takes what is left
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
        const std::size_t cut = list || parts.size() + 1 < names.size() ? rest.find_first_of(separators) : std::string_view::npos;
        parts.push_back({std::string(rest.substr(0, cut)), from[0].line});
        if (cut == std::string_view::npos) break;
        rest.remove_prefix(cut + 1);
    }
    if (list) return set(names[0], {std::move(parts), true});
    for (std::size_t i = 0; i < names.size(); ++i)
        set(names[i], {i < parts.size() ? ShellWords{parts[i]} : ShellWords{{"", words[0].line}}});
}

void ShellValues::read_lines(const ShellWords& words, const std::vector<std::string>& documents) {
    std::string name, text;
    bool known = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        if (auto read = document(word, documents))
            text = std::move(*read), known = true;
        else if (word == "<<<" && i + 1 < words.size())
            text = words[++i].text, known = true;
        else if (name_end(word, 0) == word.size() && !words[i - 1].text.starts_with("-d"))
            name = word;
    }
    if (name.empty()) return;
    ShellVariable lines{{}, true};
    for (std::size_t at = 0, end = 0; known && at < text.size(); at = end + 1) {
        end = std::min(text.find('\n', at), text.size());
        lines.words.push_back({text.substr(at, end - at), words[0].line});
    }
    if (!known) lines.words = {{open_mark(name), words[0].line}};
    set(name, std::move(lines));
}

}  // namespace fourfold
