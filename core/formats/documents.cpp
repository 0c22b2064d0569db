#include "formats/documents.h"

#include <cctype>

#include "base/text.h"
#include "formats/read_jobs.h"

namespace fourfold {

namespace {

constexpr std::size_t kLongest = 200'000, kMost = 2'000;
constexpr int kDeepest = 20;

// $NAME and ${NAME} as texts: where a number is expected JSON has no other way to hold them.
std::string with_names(std::string_view text) {
    std::string all;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && i + 1 < text.size()) {
            all += text.substr(i++, 2);
            continue;
        }
        if (c == '"') quoted = !quoted;
        if (c != '$' || i + 1 == text.size()) {
            all += c;
            continue;
        }
        const bool braces = text[i + 1] == '{';
        const std::size_t begin = i + (braces ? 2 : 1);
        std::size_t end = begin;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
        if (end == begin || (braces && (end == text.size() || text[end] != '}'))) {
            all += c;
            continue;
        }
        const std::string name = joined({"${", text.substr(begin, end - begin), "}"});
        all += quoted ? name : "\"" + name + "\"";
        i = braces ? end : end - 1;
    }
    return all;
}

void flatten(const Json& value, const std::string& path, int depth, std::vector<Entry>& entries) {
    if (depth > kDeepest || entries.size() >= kMost) return;
    if (!value.is_object()) {
        if (!value.is_array()) entries.push_back({path, path, value});
        return;
    }
    for (const auto& [key, inner] : value.items()) flatten(inner, path.empty() ? key : joined({path, ".", key}), depth + 1, entries);
}

}  // namespace

std::vector<Entry> deepspeed_documents(const ShellScript& script) {
    NamesSet names;
    for (const auto& [name, words] : script.variables)
        if (words.size() == 1) names[name] = words[0].text;
    for (const std::string& document : script.documents) {
        if (document.size() > kLongest) continue;
        const Json read = Json::parse(with_names(document), nullptr, false);
        if (!read.is_object()) continue;
        std::vector<Entry> entries;
        flatten(read, "", 0, entries);
        if (count_like(entries, {"zero_optimization.*", "train_micro_batch_size_per_gpu", "train_batch_size"}) == 0) continue;
        fill_in(entries, names);
        return entries;
    }
    return {};
}

}  // namespace fourfold
