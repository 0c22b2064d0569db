// References as OmegaConf writes them ("${model.hidden_size}", "${.hidden_size}", "${oc.env:PP,4}"), with NeMo's and llm-foundry's
// resolvers for sums; Primus' "${PRIMUS_PP:16}"; and the shell's "${PP:-4}".
#include "formats/settings.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text.h"
#include "formats/shell/shell.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostEntries = 20'000, kLongestKey = 500, kLongestValue = 2'000;
constexpr int kDeepest = 20;

bool is_scalar(const Json& value) { return value.is_string() || value.is_number() || value.is_boolean() || value.is_null(); }

bool is_setting(const Json& one) {
    if (!one.is_object()) return false;
    const auto key = one.find("key"), value = one.find("value"), line = one.find("line");
    if (key == one.end() || !key->is_string() || key->get_ref<const std::string&>().size() > kLongestKey) return false;
    if (value == one.end() || (line != one.end() && (!line->is_number_integer() || *line < 0 || *line > 100'000'000))) return false;
    return is_scalar(*value) || (value->is_array() && std::all_of(value->begin(), value->end(), is_scalar));
}

std::string plain(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_null() ? "" : dumped(value);
}

std::string_view trimmed(std::string_view text) {
    const auto is_gap = [](char c) { return c == ' ' || c == '\t' || c == '"' || c == '\''; };
    while (!text.empty() && is_gap(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_gap(text.back())) text.remove_suffix(1);
    return text;
}

std::optional<double> as_number(std::string_view text) {
    const std::string copy(trimmed(text));
    if (copy.empty() || copy.find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
    char* end = nullptr;
    const double number = std::strtod(copy.c_str(), &end);
    return end == copy.c_str() + copy.size() && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::string written(double number) {
    constexpr double kExact = 9'007'199'254'740'992;  // 2^53
    if (number == std::floor(number) && std::abs(number) < kExact) return std::to_string(static_cast<std::int64_t>(number));
    return Json(number).dump();
}

// Where the "}" of a "${" stands, from behind it on; npos: nowhere.
std::size_t closing(std::string_view text, std::size_t at) {
    int depth = 1;
    for (; at < text.size(); ++at) {
        if (text[at] == '{') ++depth;
        if (text[at] == '}' && --depth == 0) return at;
    }
    return std::string_view::npos;
}

bool is_variable(std::string_view name) {
    return !name.empty() &&
           std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

// "$MICRO_BATCH" as a whole value: of a template that a script fills in.
bool is_shell_name(std::string_view value) {
    return value.size() > 1 && value[0] == '$' && std::isdigit(static_cast<unsigned char>(value[1])) == 0 &&
           std::all_of(value.begin() + 1, value.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

class Filler {
 public:
    Filler(const std::vector<Entry>& entries, const NamesSet& set) : set_(set) {
        for (const Entry& entry : entries) values_[entry.shown] = entry.value;
    }

    std::string text(std::string_view raw, std::string_view path) {
        std::string all;
        for (std::size_t at = 0; at < raw.size() && all.size() < kLongestValue;) {
            const std::size_t begin = raw.find("${", at);
            const std::size_t end = begin == std::string_view::npos ? begin : closing(raw, begin + 2);
            if (end == std::string_view::npos) return all += raw.substr(at);
            all += raw.substr(at, begin - at);
            all += value(raw.substr(begin + 2, end - begin - 2), path);
            at = end + 1;
        }
        return all;
    }

 private:
    std::string value(std::string_view inside, std::string_view path) {
        if (++depth_ > kDeepest || ++steps_ > 20'000) {
            --depth_;
            return open_mark(inside);
        }
        std::string found = inner(inside, path);
        --depth_;
        return found;
    }

    std::string inner(std::string_view inside, std::string_view path) {
        const std::size_t colon = inside.find(':');
        const std::string name(trimmed(inside.substr(0, colon)));
        const bool given = set_.contains(name);
        if (colon == std::string_view::npos)
            return given || (is_variable(name) && !values_.contains(name)) ? variable(name, "", false, path) : reference(name, path);
        std::string_view rest = inside.substr(colon + 1);
        if (name == "oc.env" || name == "env") {
            const std::size_t comma = rest.find(',');
            const bool usual = comma != std::string_view::npos;
            return variable(std::string(trimmed(rest.substr(0, comma))), usual ? rest.substr(comma + 1) : "", usual, path);
        }
        if (given || is_variable(name)) {
            if (rest.starts_with('-') || rest.starts_with('=')) rest.remove_prefix(1);
            return variable(name, rest, true, path);
        }
        return sum(name, rest, path);
    }

    std::string variable(const std::string& name, std::string_view usual, bool has_usual, std::string_view path) {
        if (const auto known = set_.find(name); known != set_.end()) return known->second;
        return has_usual ? text(trimmed(usual), path) : open_mark(name);
    }

    // ".a" stands beside the key itself, "..a" one step up.
    std::string reference(const std::string& name, std::string_view path) {
        std::string target = name;
        if (name.starts_with('.')) {
            std::size_t dots = 0;
            while (dots < name.size() && name[dots] == '.') ++dots;
            for (std::size_t i = 0; i < dots; ++i) path = path.substr(0, path.rfind('.') == std::string_view::npos ? 0 : path.rfind('.'));
            target = joined({path, path.empty() ? "" : ".", name.substr(dots)});
        }
        auto known = values_.find(target);
        if (known == values_.end())  // the whole file stands below one section, "parameters:"
            known = values_.find(target = joined({path.substr(0, path.find('.')), ".", name}));
        if (known == values_.end() || known->second.is_array()) return open_mark(name);
        return text(plain(known->second), target);
    }

    std::string sum(const std::string& name, std::string_view arguments, std::string_view path) {
        std::vector<double> numbers;
        int depth = 0;
        std::size_t begin = 0;
        std::string filled = text(arguments, path);
        if (is_open(filled)) return filled;
        for (std::size_t i = 0; i <= filled.size(); ++i) {
            const char c = i < filled.size() ? filled[i] : ',';
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
            if (c != ',' || depth > 0) continue;
            const auto number = as_number(std::string_view(filled).substr(begin, i - begin));
            if (!number) return open_mark(joined({name, ":", arguments}));
            numbers.push_back(*number);
            begin = i + 1;
        }
        double total = numbers[0];
        for (std::size_t i = 1; i < numbers.size(); ++i) {
            const double next = numbers[i];
            if (name == "multiply" || name == "mul")
                total *= next;
            else if (name == "add" || name == "sum")
                total += next;
            else if (name == "sub" || name == "subtract")
                total -= next;
            else if ((name == "divide" || name == "div") && next != 0)
                total /= next;
            else if ((name == "int_div" || name == "divide_floor" || name == "floor_divide") && next != 0)
                total = std::floor(total / next);
            else if (name == "divide_ceil" && next != 0)
                total = std::ceil(total / next);
            else
                return open_mark(joined({name, ":", arguments}));
        }
        return numbers.size() > 1 || name == "int" ? written(total) : open_mark(joined({name, ":", arguments}));
    }

    const NamesSet& set_;
    std::map<std::string, Json, std::less<>> values_;
    int depth_ = 0, steps_ = 0;
};

}  // namespace

void fill_in(std::vector<Entry>& entries, const NamesSet& set) {
    Filler filler(entries, set);
    for (Entry& entry : entries) {
        const auto* given = entry.value.get_ptr<const Json::string_t*>();
        if (given != nullptr && *given == "???") {  // OmegaConf: whoever starts it must say it
            entry.written = std::exchange(entry.value, nullptr);
            continue;
        }
        std::string place = given == nullptr ? "" : placeholder_in(*given);
        if (given != nullptr && is_shell_name(*given)) place = given->substr(1);
        if (given == nullptr || (place.empty() && given->find("${") == std::string::npos)) continue;
        const auto answer = set.find(place);
        std::string text = place.empty() ? filler.text(*given, entry.shown) : answer == set.end() ? open_mark(place) : answer->second;
        entry.open = open_names(text);
        entry.value = std::move(text);
    }
}

std::vector<Entry> read_settings(const Json& list, const NamesSet& set, Problems& problems) {
    std::vector<Entry> entries;
    const bool fine = list.is_array() && !list.empty() && list.size() <= kMostEntries && std::all_of(list.begin(), list.end(), is_setting);
    if (!fine) {
        problems.push_back({"entries", "type", nullptr, "problem.import_entries", {}, nullptr});
        return entries;
    }
    for (const Json& one : list) {
        Entry entry;
        entry.shown = one["key"].get<std::string>();
        entry.key = entry.shown;
        entry.value = one["value"];
        if (auto* text = entry.value.get_ptr<Json::string_t*>()) std::erase_if(*text, [](char c) { return c == kOpen || c == kClose; });
        entry.line = one.contains("line") ? one["line"].get<std::int64_t>() : 0;
        entries.push_back(std::move(entry));
    }
    fill_in(entries, set);
    return entries;
}

}  // namespace fourfold
