#include "base/text.h"

namespace fourfold {

std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) text += part;
    return text;
}

std::string indexed(std::string_view key, std::size_t index) { return joined({key, "[", std::to_string(index), "]"}); }

}  // namespace fourfold
