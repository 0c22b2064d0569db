#include "base/words.h"

namespace fourfold {

Text::Text(std::string_view family, std::string_view id) : id_(family) { id_.append(".").append(id); }

Text& Text::with(const char* name, Json value) {
    args_[name] = std::move(value);
    return *this;
}

Json Text::json() const {
    if (empty()) return nullptr;
    Json text = Json::object();
    text["id"] = id_;
    if (!args_.empty()) text["args"] = args_;
    return text;
}

}  // namespace fourfold
