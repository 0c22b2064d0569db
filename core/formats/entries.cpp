#include "formats/entries.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "base/decimal.h"
#include "base/edit_distance.h"
#include "base/text.h"
#include "formats/near_keys.h"
#include "formats/shell/shell.h"

namespace fourfold {

// "8", "1_024", "1e6", "8 ", 8
std::optional<double> number_in(const Json& value) {
    if (value.is_number()) return value.get<double>();
    const auto* given = value.get_ptr<const Json::string_t*>();
    if (given == nullptr) return std::nullopt;
    std::string text = *given;
    while (text.ends_with(' ')) text.pop_back();
    text.erase(0, text.find_first_not_of(' '));
    std::erase(text, '_');
    if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return end == text.c_str() + text.size() && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

static bool is_off(const Json& value) {
    if (value.is_boolean()) return !value.get<bool>();
    if (value.is_null()) return true;
    const auto* text = value.get_ptr<const Json::string_t*>();
    if (text == nullptr) return value == Json(0);
    const std::string lower = lower_case(*text);
    return lower == "false" || lower == "0" || lower == "no" || lower == "off" || lower == "none" || lower == "null";
}

// "yess", "flase": neither of the two, and a slip of the pen for one of them.
static bool is_slip(const Json& value) {
    const auto* text = value.get_ptr<const Json::string_t*>();
    if (text == nullptr || text->size() < 3 || text->size() > 6) return false;
    const std::string lower = lower_case(*text);
    constexpr std::string_view kWords[] = {"true", "false", "yes"};
    return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
        return lower != word && (std::is_permutation(lower.begin(), lower.end(), word.begin(), word.end()) ||
                                 (std::max(word.size(), lower.size()) > 3 && edit_distance(lower, word) == 1));
    });
}

const Entry* Import::last(std::string_view key) const {
    if (!sought.contains(key)) sought.emplace(key);
    const auto found = std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& one) { return one.key == key; });
    return found == entries.rend() ? nullptr : &*found;
}

bool Import::hangs(std::string_view field) const {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.fate == Fate::open && std::find(entry.fields.begin(), entry.fields.end(), field) != entry.fields.end();
    });
}

Entry* Import::take(std::string_view key, std::string_view field) {
    auto* entry = const_cast<Entry*>(last(key));
    if (entry == nullptr) return nullptr;
    if (!field.empty() && std::find(entry->fields.begin(), entry->fields.end(), field) == entry->fields.end())
        entry->fields.emplace_back(field);
    entry->fate = entry->open.empty() ? Fate::used : Fate::open;
    for (const std::string& name : entry->open)
        if (std::find(touched.begin(), touched.end(), name) == touched.end()) touched.push_back(name);
    return entry->open.empty() ? entry : nullptr;
}

std::optional<double> Import::number(std::string_view key, std::string_view field) {
    Entry* entry = take(key, field);
    if (entry == nullptr || entry->value.is_null()) return std::nullopt;
    const auto number = number_in(entry->value);
    if (number) return number;
    entry->fate = Fate::unknown;
    const bool is_new = std::none_of(misread.begin(), misread.end(), [&](const Entry& one) { return one.shown == entry->shown; });
    if (is_new && !entry->shown.empty()) misread.push_back(*entry);
    return std::nullopt;
}

std::optional<std::int64_t> Import::whole(std::string_view key, std::string_view field) {
    constexpr double kMost = 2'147'483'647;  // so that two of them can be multiplied
    const auto value = number(key, field);
    if (!value) return std::nullopt;
    if (*value == std::floor(*value) && std::abs(*value) <= kMost) return static_cast<std::int64_t>(*value);
    mark(key, Fate::unknown);
    return std::nullopt;
}

std::optional<std::int64_t> Import::whole(std::initializer_list<std::string_view> keys, std::string_view field) {
    std::optional<std::int64_t> found;
    for (const std::string_view key : keys)
        if (!found) found = whole(key, field);
    return found;
}

std::optional<std::string> Import::text(std::string_view key, std::string_view field) {
    const Entry* entry = take(key, field);
    if (entry == nullptr || entry->value.is_null()) return std::nullopt;
    if (const auto* text = entry->value.get_ptr<const Json::string_t*>()) return *text;
    if (!entry->value.is_array()) return dumped(entry->value);
    std::string all;
    for (const Json& part : entry->value) all += (all.empty() ? "" : " ") + (part.is_string() ? part.get<std::string>() : dumped(part));
    return all;
}

bool Import::on(std::string_view key, std::string_view field) {
    Entry* entry = take(key, field);
    if (entry != nullptr && is_slip(entry->value)) {
        entry->fate = Fate::unknown;
        return false;
    }
    return entry != nullptr && !is_off(entry->value);
}

std::int64_t Import::model_parallel() const {
    constexpr std::int64_t kMost = 1'048'576;
    std::int64_t product = 1;
    for (const char* field : {"tensor_parallel", "context_parallel", "pipeline_parallel"}) {
        const std::int64_t degree = job.value(field, std::int64_t{1});
        if (degree < 1 || degree > kMost || product > kMost) return 0;
        product *= degree;
    }
    return product;
}

std::int64_t Import::copies() const {
    const std::int64_t gpus = hangs("gpus") ? 0 : job.value("gpus", std::int64_t{0}), split = model_parallel();
    for (const char* field : {"tensor_parallel", "context_parallel", "pipeline_parallel", "gpus"})
        if (hangs(field)) return 0;
    return gpus > 0 && split > 0 && gpus % split == 0 ? gpus / split : 0;
}

void Import::mark(std::string_view key, Fate fate) {
    if (auto* entry = const_cast<Entry*>(last(key))) entry->fate = fate;
}

void Import::mark_all(std::span<const std::string_view> patterns, Fate fate) {
    for (const std::string_view pattern : patterns)
        if (pattern.find('*') == pattern.npos && !sought.contains(pattern)) sought.emplace(pattern);
    for (Entry& entry : entries)
        if (entry.fate == Fate::unknown &&
            std::any_of(patterns.begin(), patterns.end(), [&](std::string_view one) { return matches(one, entry.key); }))
            entry.fate = fate;
}

bool Import::ask(const char* field) {
    if (job.contains(field)) return true;
    if (hangs(field)) return false;
    if (const auto answer = answers.find(field); answer != answers.end()) {
        if (const auto number = number_in(answer->second); number && *number == std::floor(*number) && *number >= 1 && *number < 1e8) {
            job[field] = static_cast<std::int64_t>(*number);
            return true;
        }
    }
    if (std::find(asked.begin(), asked.end(), field) == asked.end()) asked.emplace_back(field);
    return false;
}

void Import::derive(const Entry& from, std::string_view key, Json value) {
    Entry entry = from;  // a copy: `from` may be one of the entries
    entry.key = key;
    entry.shown.clear();
    entry.value = std::move(value);
    entries.push_back(std::move(entry));
}

void Import::become(Entry& entry, std::string_view key, Json value) {
    if (entry.written.is_null()) entry.written = std::exchange(entry.value, std::move(value));
    entry.key = key;
}

void Import::drop_open() {
    for (const Entry& entry : entries)
        if (entry.fate == Fate::open)
            for (const std::string& field : entry.fields) job.erase(field);
}

void Import::keep_said(std::initializer_list<std::string_view> besides) {
    Json kept = Json::object();
    for (const auto& [field, value] : job.items()) {
        const bool said = std::any_of(entries.begin(), entries.end(), [&, name = std::string_view(field)](const Entry& entry) {
            return entry.fate == Fate::used && std::find(entry.fields.begin(), entry.fields.end(), name) != entry.fields.end();
        });
        if (said || std::find(besides.begin(), besides.end(), field) != besides.end()) kept[field] = value;
    }
    job = std::move(kept);
    partial = true;
}

void Import::settle() {
    std::map<std::string_view, std::size_t> winners;
    for (std::size_t i = 0; i < entries.size(); ++i) winners[entries[i].key] = i;
    for (Entry& entry : entries) {
        const Entry* winner = &entries[winners[entry.key]];
        if (winner == &entry) continue;
        const auto number = number_in(entry.value);
        if (winner->value == entry.value || (number && number == number_in(winner->value))) {
            if (entry.fate == Fate::unknown) entry.fate = winner->fate;
            continue;
        }
        if (winner->fate == Fate::used || winner->fate == Fate::open) entry.fate = Fate::contradicted;
    }
}

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// "[a-z]", "[!0-9]": whether the sign is one of those between the brackets, which begin at `at`; that goes behind them.
static bool is_in_brackets(std::string_view pattern, std::size_t& at, char sign) {
    const std::size_t end = pattern.find(']', at + 2);
    if (end == std::string_view::npos) return pattern[at++] == sign;
    std::string_view signs = pattern.substr(at + 1, end - at - 1);
    const bool none = signs[0] == '!' || signs[0] == '^';
    if (none) signs.remove_prefix(1);
    bool found = false;
    for (std::size_t i = 0; i < signs.size(); ++i) {
        const bool range = i + 2 < signs.size() && signs[i + 1] == '-';
        found = found || (range ? signs[i] <= sign && sign <= signs[i + 2] : signs[i] == sign);
        if (range) i += 2;
    }
    at = end + 1;
    return found != none;
}

bool matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, after = 0;
    while (t < text.size()) {
        std::size_t next = p + 1;
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            after = t;
        } else if (p < pattern.size() &&
                   (pattern[p] == '?' || pattern[p] == text[t] || (pattern[p] == '[' && is_in_brackets(pattern, next = p, text[t])))) {
            p = next;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++after;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

static const char* id_of(Fate fate) {
    switch (fate) {
        case Fate::used:
            return "used";
        case Fate::no_number:
            return "no_number";
        case Fate::contradicted:
            return "contradicted";
        case Fate::open:
            return "open";
        case Fate::unknown:
            break;
    }
    return "unknown";
}

static std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

static Json texts(const std::vector<Text>& list) {
    Json all = Json::array();
    for (const Text& text : list) all.push_back(text.json());
    return all;
}

Json to_json(const Import& import) {
    constexpr std::size_t kMost = 1'000, kLongest = 200;
    Json keys = Json::array();
    for (const Entry& entry : import.entries) {
        if (keys.size() == kMost) break;
        if (entry.shown.empty()) continue;
        const Json& said = entry.written.is_null() ? entry.value : entry.written;
        std::string value = said.is_string() ? said.get<std::string>() : said.is_null() ? "" : dump(said);
        value = without_marks(value);
        const bool says_nothing = entry.fate == Fate::unknown && said.is_null();
        if (value.size() > kLongest) value.resize(kLongest);
        Json key = Object()
                       .add("key", entry.shown.substr(0, kLongest))
                       .add("value", value)
                       .add("line", entry.line)
                       .add("fate", id_of(says_nothing ? Fate::no_number : entry.fate))
                       .add("fields", Json(entry.fields))
                       .add("names", Json(entry.open));
        if (std::string near = near_key(import, entry); !near.empty()) key["near"] = std::move(near);
        keys.push_back(std::move(key));
    }
    return Object()
        .add("job", import.job)
        .add("partial", import.partial)
        .add("keys", std::move(keys))
        .add("asked", Json(import.asked))
        .add("refused", texts(import.refused))
        .add("notes", texts(import.notes));
}

}  // namespace fourfold
