#include "base/text.h"

namespace fourfold {

std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) text += part;
    return text;
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

std::string indexed(std::string_view key, std::size_t index) { return joined({key, "[", std::to_string(index), "]"}); }

}  // namespace fourfold
