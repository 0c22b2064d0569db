// Looks keys up in a Hugging Face config, remembering which were used and what was assumed.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "model/model.h"

namespace fourfold {

// Keys that mean one quantity, the usual name first (attribute_map of the configuration classes).
using Names = std::span<const std::string_view>;

// Why a key that is absent has a value.
inline Text class_default(const Model& model) { return Text("import.class_default").with("type", model.type); }

// What only other files than ours have is called through a pointer: otherwise it would be put into its only caller, and with that into the
// first file of the module (wasm/split.mjs).
template <class Function>
Function* apart(Function* function) {
    Function* volatile pointer = function;
    return pointer;
}

class ConfigReader {
 public:
    ConfigReader(const Json& config, std::string_view prefix, Problems& problems, ImportReport& report)
        : config_(config), prefix_(prefix), problems_(problems), report_(report) {}

    // The first of `names` that is present and not null.
    const Json* find(Names names, std::string_view& found) {
        for (const std::string_view name : names) {
            const auto entry = config_.find(std::string(name));
            if (entry == config_.end()) continue;
            used(name);
            if (entry->is_null()) continue;  // transformers writes null for "the class default"
            found = name;
            return &*entry;
        }
        return nullptr;
    }
    // The name under which a quantity was given, or its usual one.
    std::string_view name_of(Names names) {
        std::string_view name = names[0];
        find(names, name);
        return name;
    }
    bool has(Names names) {
        std::string_view name;
        return find(names, name) != nullptr;
    }
    // What it means stands under the usual name: "config.hidden_size".
    std::int64_t required(Names names, Range range) {
        std::string_view name;
        if (const Json* value = find(names, name)) return integer(*value, name, range).value_or(0);
        missing(names[0]);
        return 0;
    }
    void missing(std::string_view key) {
        problem(key, "missing", nullptr, Text("problem.key_missing").with("key", path(key)).with("meaning", Text("config", key)),
                "suggestion.add_key", nullptr);
    }
    std::int64_t optional(Names names, Range range, std::int64_t otherwise, const Text& why = {}) {
        std::string_view name;
        if (const Json* value = find(names, name)) return integer(*value, name, range).value_or(0);
        if (!why.empty()) report_.assumed.push_back({std::string(names[0]), otherwise, why});
        return otherwise;
    }
    // For the keys whose null means "none" and not the class default.
    std::int64_t optional_or_none(Names names, Range range, std::int64_t otherwise, const Text& why = {}) {
        const bool there =
            std::any_of(names.begin(), names.end(), [&](std::string_view name) { return config_.contains(std::string(name)); });
        return there ? optional(names, range, 0) : optional(names, range, otherwise, why);
    }
    bool flag(std::string_view key, bool otherwise, const Text& why = {}) {
        std::string_view name;
        if (const Json* value = find(Names(&key, 1), name))
            return read_boolean(*value, path(key), said_key(key), problems_).value_or(otherwise);
        if (!why.empty()) report_.assumed.push_back({std::string(key), otherwise, why});
        return otherwise;
    }
    void assume(std::string_view key, Json value, const Text& why) { report_.assumed.push_back({std::string(key), std::move(value), why}); }
    std::string text(std::string_view key) {
        std::string_view name;
        const Json* value = find(Names(&key, 1), name);
        const auto* content = value == nullptr ? nullptr : value->get_ptr<const Json::string_t*>();
        if (value != nullptr && content == nullptr)
            problems_.push_back({path(key), "type", shown(*value), Text("problem.no_text_value").with("key", path(key)), {}, nullptr});
        return content == nullptr ? "" : *content;
    }
    // One number, wherever it stands, or a list of one and the same (Hunyuan gives some per layer).
    std::optional<std::int64_t> integer(const Json& value, std::string_view key, Range range) {
        return read_integer(value.is_array() ? apart(number_of)(value) : value, path(key), said_key(key), range, problems_);
    }
    std::string path(std::string_view key) const { return prefix_ + std::string(key); }
    std::size_t problems() const { return problems_.size(); }
    void problem(std::string_view key, const char* rule, Json value, Text message, Text suggestion, Json nearest) {
        problems_.push_back({path(key), rule, std::move(value), std::move(message), std::move(suggestion), std::move(nearest)});
    }
    void used(std::string_view key) {
        if (std::find(report_.used.begin(), report_.used.end(), key) == report_.used.end()) report_.used.emplace_back(key);
    }

 private:
    static const Json& number_of(const Json& list) { return list.size() > 1 && list == Json(list.size(), list[0]) ? list[0] : list; }
    Text said_key(std::string_view key) const { return Text("name.key").with("key", path(key)); }
    const Json& config_;
    std::string prefix_;
    Problems& problems_;
    ImportReport& report_;
};

}  // namespace fourfold
