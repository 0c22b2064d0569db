#include "formats/document_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.h"

namespace fourfold {

namespace {

// What begins with the same part of a path, in the order in which the parts come first.
struct Block {
    std::string name;
    std::vector<Setting> inner;  // what is left of the paths; one without a path is the value itself
};
std::vector<Block> blocks_of(std::span<const Setting> settings) {
    std::vector<Block> blocks;
    for (const auto& [path, value] : settings) {
        const std::size_t dot = path.find('.');
        const std::string name = path.substr(0, dot);
        const auto is = [&](const Block& one) { return one.name == name; };
        auto found = std::find_if(blocks.begin(), blocks.end(), is);
        if (found == blocks.end()) blocks.push_back({name, {}}), found = blocks.end() - 1;
        found->inner.emplace_back(dot == std::string::npos ? "" : path.substr(dot + 1), value);
    }
    return blocks;
}
bool is_value(const Block& block) { return block.inner.size() == 1 && block.inner[0].first.empty(); }

// Plain where no reader of YAML takes it for anything else.
std::string yaml_value(const Json& value) {
    constexpr std::array<std::string_view, 10> kWords = {"true", "false", "yes", "no", "on", "off", "null", "none", "y", "n"};
    const auto* text = value.get_ptr<const Json::string_t*>();
    if (text == nullptr || text->empty() || std::isalpha(static_cast<unsigned char>(text->front())) == 0) return value.dump();
    const bool plain = std::all_of(text->begin(), text->end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
    });
    const std::string lower = lower_case(*text);
    return plain && std::find(kWords.begin(), kWords.end(), lower) == kWords.end() ? *text : value.dump();
}

void add_yaml(std::string& text, std::span<const Setting> settings, std::size_t depth) {
    for (const Block& block : blocks_of(settings)) {
        text += joined({std::string(2 * depth, ' '), block.name, ":"});
        if (is_value(block)) {
            text += joined({" ", yaml_value(block.inner[0].second), "\n"});
        } else {
            text += "\n";
            add_yaml(text, block.inner, depth + 1);
        }
    }
}

void add_json(std::string& text, std::span<const Setting> settings, std::size_t depth) {
    const std::string indent(4 * depth, ' ');
    text += "{";
    bool first = true;
    for (const Block& block : blocks_of(settings)) {
        text += joined({first ? "\n" : ",\n", indent, "    ", Json(block.name).dump(), ": "});
        first = false;
        if (is_value(block))
            text += block.inner[0].second.dump();
        else
            add_json(text, block.inner, depth + 1);
    }
    text += joined({"\n", indent, "}"});
}

}  // namespace

std::string toml_text(std::span<const Setting> settings) {
    std::vector<Block> sections;
    for (const auto& [path, value] : settings) {
        const std::size_t dot = path.rfind('.');
        const std::string name = path.substr(0, dot);
        auto found = std::find_if(sections.begin(), sections.end(), [&](const Block& one) { return one.name == name; });
        if (found == sections.end()) sections.push_back({name, {}}), found = sections.end() - 1;
        found->inner.emplace_back(path.substr(dot + 1), value);
    }
    std::string text;
    for (const auto& [name, inner] : sections) {
        text += joined({text.empty() ? "" : "\n", "[", name, "]\n"});
        for (const auto& [key, value] : inner) text += joined({key, " = ", value.dump(), "\n"});
    }
    return text;
}

std::string yaml_text(std::span<const Setting> settings) {
    std::string text;
    add_yaml(text, settings, 0);
    return text;
}

std::string json_text(std::span<const Setting> settings) {
    std::string text;
    add_json(text, settings, 0);
    return text + "\n";
}

std::string override_text(const Setting& setting, bool python) {
    const auto& [key, value] = setting;
    std::string text;
    if (value.is_array()) {
        const std::string_view quote = python ? "'" : "";  // NeMo-Run takes a list of Python
        for (const Json& one : value) text += joined({text.empty() ? "[" : ",", quote, one.get<std::string>(), quote});
        return python ? joined({key, "=\"", text, "]\""}) : joined({key, "='", text, "]'"});
    } else if (python && (value.is_null() || value.is_boolean())) {
        text = value.is_null() ? "None" : value == Json(true) ? "True" : "False";
    } else {
        text = value.is_string() ? value.get<std::string>() : value.dump();
    }
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/' || c == ':';
    });
    return plain ? joined({key, "=", text}) : joined({key, "='\"", text, "\"'"});  // Hydra has parentheses in quotes alone
}

}  // namespace fourfold
