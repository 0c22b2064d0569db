// Places for values that a template leaves out: "<NUM_NODES>", "YOUR_NODES", "{nodes}".
#include <algorithm>
#include <cctype>

#include "formats/shell/shell.h"

namespace fourfold {

// "{tp}", "{{ tp }}": of a template.
static std::string_view name_in_braces(std::string_view value) {
    const std::size_t deep = value.starts_with("{{") && value.ends_with("}}") ? 2 : 1;
    if (value.size() < 2 * deep + 1 || value.size() > 80 || value.front() != '{' || value.back() != '}') return "";
    value = value.substr(deep, value.size() - 2 * deep);
    while (value.starts_with(' ')) value.remove_prefix(1);
    while (value.ends_with(' ')) value.remove_suffix(1);
    const bool name = !value.empty() && std::isdigit(static_cast<unsigned char>(value[0])) == 0 &&
                      std::all_of(value.begin(), value.end(),
                                  [](char c) { return (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') || c == '.'; });
    return name ? value : "";
}

std::string placeholder_in(std::string_view value) {
    if (const std::string_view name = name_in_braces(value); !name.empty()) return std::string(name);
    const bool brackets = value.size() > 2 && value.front() == '<' && value.back() == '>';
    const std::string_view name = brackets ? value.substr(1, value.size() - 2) : value;
    if (name.size() > 80 || (!brackets && !name.starts_with("YOUR_")) || std::isalpha(static_cast<unsigned char>(name.front())) == 0)
        return "";
    const bool plain = std::all_of(name.begin(), name.end(), [&](char c) {
        return std::isupper(static_cast<unsigned char>(c)) != 0 || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_' ||
               (brackets && (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ' '));
    });
    return plain ? std::string(name) : "";
}

}  // namespace fourfold
