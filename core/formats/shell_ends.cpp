#include "formats/shell_ends.h"

#include <algorithm>

namespace fourfold {

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
    if (literal && on_every_way && doubts == 0)
        said_here_.insert(name);
    else
        said_here_.erase(name);
}

}  // namespace fourfold
