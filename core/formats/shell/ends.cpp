#include "formats/shell/ends.h"

#include <algorithm>

namespace fourfold {

void ShellEnds::scan(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view row = text.substr(at, end - at);
        at = end + 1;
        row.remove_prefix(std::min(row.find_first_not_of(" \t"), row.size()));
        if (row.empty() || row[0] == '#') continue;
        takes_files_ = takes_files_ || row.starts_with("source ") || row.starts_with(". ");
        const bool reads = row.find("read ") != std::string_view::npos || row.find("getopts ") != std::string_view::npos;
        const bool computed = row.find_first_of("$`") != std::string_view::npos;
        for (std::size_t i = 0; (reads || computed) && i < row.size();) {
            const std::size_t name = std::max(name_end(row, i), i + 1);
            if (reads || (name < row.size() && (row[name] == '=' || row.substr(name, 2) == "+=")))
                from_outside_.emplace(row.substr(i, name - i));
            i = name;
        }
    }
}

bool ShellEnds::doubtful(const ShellNode& node) const {
    if (node.kind == ShellNode::sum) return true;
    return std::any_of(node.words.begin(), node.words.end(), [&](const RawWord& raw) {
        for (std::size_t at = raw.text.find('$'); at != std::string::npos; at = raw.text.find('$', at + 1)) {
            const bool braces = at + 1 < raw.text.size() && raw.text[at + 1] == '{';
            const std::size_t begin = at + (braces ? 2 : 1), end = name_end(raw.text, begin);
            const bool whole = !braces || (end < raw.text.size() && raw.text[end] == '}');
            if (end == begin || !whole || !said_here_.contains(raw.text.substr(begin, end - begin))) return true;
        }
        return raw.text.find('`') != std::string::npos;
    });
}

bool ShellEnds::doubtful(const ShellNodes& nodes) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](const ShellNode& node) { return doubtful(node); });
}

void ShellEnds::assigned(const RawWord& raw, std::size_t length, bool on_every_way) {
    const std::string name = raw.text.substr(0, length);
    const bool literal = !raw.is_list && raw.text[length] == '=' && raw.text.find_first_of("$`", length) == std::string::npos;
    if (literal && on_every_way && doubts == 0 && !takes_files_ && !from_outside_.contains(name))
        said_here_.insert(name);
    else
        said_here_.erase(name);
}

}  // namespace fourfold
