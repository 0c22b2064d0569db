#include "formats/shell_parts.h"

namespace fourfold {

std::string joined_words(const ShellWords& words) {
    std::string text;
    for (const ShellWord& word : words) text += (text.empty() ? "" : " ") + word.text;
    return text;
}

static ShellWords parts(const ShellVariable& variable) {
    if (variable.is_list || variable.words.empty()) return variable.words;
    ShellVariables one{{"x", variable}};
    std::map<std::string, std::vector<std::string>> none;
    return ShellValues(one, none).words({"$x", variable.words[0].line});
}

ShellVariable merged(const ShellVariable& a, const ShellVariable& b, const std::string& reason) {
    const ShellWords one = parts(a), other = parts(b);
    ShellVariable both{{}, a.is_list || b.is_list};
    std::size_t same = 0;
    while (same < one.size() && same < other.size() && one[same].text == other[same].text) both.words.push_back(one[same++]);
    const std::string mark = open_mark(reason);
    bool flags = false;
    for (const ShellWords* words : {&one, &other})
        for (std::size_t i = same; i < words->size(); ++i) {
            ShellWord word = (*words)[i];
            flags = flags || word.text.starts_with("--");
            if (word.text.starts_with("--") && !word.text.ends_with(mark)) word.text += mark;
            if (flags) both.words.push_back(std::move(word));
        }
    if (!flags) both.words.push_back({mark, b.words.empty() ? 0 : b.words[0].line});
    if (!both.is_list) both.words = {{joined_words(both.words), both.words[0].line}};
    return both;
}

}  // namespace fourfold
