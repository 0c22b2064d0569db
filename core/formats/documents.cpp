#include "formats/documents.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/sorted.h"
#include "base/text.h"
#include "formats/document_settings.h"
#include "formats/read/jobs.h"

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

NamesSet names_of(const ShellScript& script) {
    NamesSet names;
    for (const auto& [name, words] : script.variables)
        if (words.size() == 1) names[name] = words[0].text;
    return names;
}

// Of those that it writes, the ones that the command names ("--config=./a.yml"): the longest name first.
ShellWords named_files(const ShellScript& script, const ShellCommand& command) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < script.files.size(); ++i) {
        const std::string& name = script.file_names[i];
        const auto names = [&](const ShellWord& word) {
            const std::string_view text = word.text;
            return text.ends_with(name) && (text.size() == name.size() ||
                                            std::string_view("/=").find(text[text.size() - name.size() - 1]) != std::string_view::npos);
        };
        if (!name.empty() && std::any_of(command.words.begin(), command.words.end(), names)) places.push_back(i);
    }
    ShellWords files;
    for (const std::size_t i :
         sorted(std::move(places), [&](std::size_t a, std::size_t b) { return script.file_names[a].size() > script.file_names[b].size(); }))
        files.push_back(script.files[i]);
    return files;
}

// Here-documents, those that the command names first where nothing in them is open.
std::vector<std::string> documents_of(const ShellScript& script, const ShellCommand& command) {
    std::vector<std::string> all;
    for (const ShellWord& file : named_files(script, command))
        if (open_names(file.text).empty()) all.push_back(file.text);
    all.insert(all.end(), script.documents.begin(), script.documents.end());
    return all;
}

}  // namespace

std::vector<Entry> accelerate_documents(const ShellScript& script, const ShellCommand& command) {
    for (const std::string& document : documents_of(script, command)) {
        if (document.size() > kLongest) continue;
        std::vector<Entry> entries = yaml_settings(document);
        if (count_like(entries, {"distributed_type", "compute_environment"}) == 0) continue;
        fill_in(entries, names_of(script));
        return entries;
    }
    return {};
}

std::vector<Entry> deepspeed_documents(const ShellScript& script, const ShellCommand& command) {
    const NamesSet names = names_of(script);
    std::vector<std::string> documents = documents_of(script, command);
    for (const ShellWord& file : script.files) documents.push_back(file.text);  // with what commands in it print
    for (const std::string& document : documents) {
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

// Of one file; nullptr: it is of no format.
static DocumentSettings settings_in(const ShellWord& file, std::string_view only) {
    if (file.text.size() > kLongest || file.text.find_first_not_of(" \n\t{") != file.text.find_first_not_of(" \n\t")) return {};  // JSON
    for (const auto& read : {yaml_settings, toml_settings}) {
        DocumentSettings found{read(file.text, file.line), nullptr};
        if (found.entries.size() < 3) continue;
        found.reader = reader_of(found.entries);
        if (found.reader == nullptr || (!only.empty() && found.reader->id != only)) continue;
        for (Entry& entry : found.entries)
            if (const auto* text = entry.value.get_ptr<const Json::string_t*>()) entry.open = open_names(*text);
        return found;
    }
    return {};
}

std::vector<DocumentSettings> all_document_settings(const ShellScript& script, std::string_view only) {
    constexpr std::size_t kMostDocuments = 20;
    std::vector<DocumentSettings> all;
    for (const ShellWord& file : script.files)
        if (DocumentSettings found = settings_in(file, only); found.reader != nullptr && all.size() < kMostDocuments)
            all.push_back(std::move(found));
    return sorted(std::move(all),
                  [](const DocumentSettings& a, const DocumentSettings& b) { return a.entries[0].line < b.entries[0].line; });
}

DocumentSettings named_settings(const ShellScript& script, const ShellCommand& command, std::string_view only) {
    for (const ShellWord& file : named_files(script, command))
        if (DocumentSettings found = settings_in(file, only); found.reader != nullptr) return found;
    return {};
}

DocumentSettings document_settings(const ShellScript& script, const ShellCommand& command, std::string_view only) {
    if (DocumentSettings found = named_settings(script, command, only); found.reader != nullptr) return found;
    // A file that is not here, by a name that is known.
    bool other = false;
    for (std::size_t i = 1; i < command.words.size(); ++i) {
        const std::string& word = command.words[i].text;
        const bool settings = word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".toml");
        other = other || (settings && !is_open(word) && command.words[i - 1].text != "--config_file" && !word.starts_with("--config_file"));
    }
    for (std::size_t i = 0; i < script.files.size(); ++i)
        if (script.file_names[i].find(kNameless) == std::string::npos && (!other || is_open(script.file_names[i])))
            if (DocumentSettings found = settings_in(script.files[i], only); found.reader != nullptr) return found;
    // One alone without a name, which says model, batch, length and rate: on a page it is the file that the command takes, and no part.
    DocumentSettings whole;
    for (std::size_t i = 0; i < script.files.size(); ++i) {
        if (only.empty() || script.file_names[i].find(kNameless) == std::string::npos) continue;
        DocumentSettings found = settings_in(script.files[i], only);
        if (found.reader == nullptr) continue;
        if (whole.reader != nullptr) return {};
        whole = std::move(found);
    }
    const auto says = [&](std::initializer_list<std::string_view> keys) { return count_like(whole.entries, keys) > 0; };
    const bool says_all = says({"model_name_or_path", "base_model"}) && says({"per_device_train_batch_size", "micro_batch_size"}) &&
                          says({"cutoff_len", "sequence_len"}) && says({"learning_rate"});
    return says_all ? whole : DocumentSettings{};
}

bool is_of_launcher(std::string_view key) {
    constexpr std::string_view kRead[] = {"use_fsdp",
                                          "fsdp_sharding_strategy",
                                          "fsdp_reshard_after_forward",
                                          "fsdp_offload_params",
                                          "fsdp_version",
                                          "fsdp_activation_checkpointing",
                                          "use_deepspeed",
                                          "zero_stage",
                                          "deepspeed_config_file",
                                          "offload_optimizer_device",
                                          "offload_param_device",
                                          "num_processes",
                                          "num_machines",
                                          "mixed_precision"};
    return std::find(std::begin(kRead), std::end(kRead), key) != std::end(kRead);
}

std::vector<Entry> launched_entries(const ShellScript& script, const ShellCommand& command) {
    std::vector<Entry> all;
    for (Entry& entry : accelerate_documents(script, command)) {
        if (const auto* const type = entry.value.get_ptr<const Json::string_t*>(); type != nullptr && entry.key == "distributed_type")
            entry.key = "use_" + lower_case(*type), entry.written = std::exchange(entry.value, true);
        for (const std::string_view section : {"fsdp_config.", "deepspeed_config."})
            if (entry.key.starts_with(section)) entry.key.erase(0, section.size());
        if (is_of_launcher(entry.key)) all.push_back(std::move(entry));
    }
    return all;
}

void add_object(std::string_view text, const std::string& path, std::vector<Entry>& entries) {
    if (const Json read = Json::parse(text, nullptr, false); read.is_object()) flatten(read, path, 0, entries);
}

}  // namespace fourfold
