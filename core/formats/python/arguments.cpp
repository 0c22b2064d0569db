#include "formats/python/arguments.h"

#include <algorithm>

#include "formats/python/conditions.h"
#include "formats/shell/shell.h"

namespace fourfold {

namespace {

constexpr int kDeepestDictionary = 8;
constexpr std::size_t kMostOfDictionary = 2'000, kLongestNames = 100, kMostSteps = 10'000'000, kOneLook = 10'000;

bool sign_at(const PythonTokens& tokens, std::size_t at, std::string_view text) { return has_sign_at(tokens, at, text); }
bool opens_at(const PythonTokens& tokens, std::size_t at) {
    return sign_at(tokens, at, "{") || sign_at(tokens, at, "[") || sign_at(tokens, at, "(");
}
bool closes_at(const PythonTokens& tokens, std::size_t at) {
    return sign_at(tokens, at, "}") || sign_at(tokens, at, "]") || sign_at(tokens, at, ")");
}
bool name_at(const PythonTokens& tokens, std::size_t at) { return at < tokens.size() && tokens[at].kind == PythonToken::name; }
bool ends_at(const PythonTokens& tokens, std::size_t at) {
    return at >= tokens.size() || tokens[at].kind == PythonToken::line_end || sign_at(tokens, at, ",") || closes_at(tokens, at);
}

// torch.bfloat16 is the type "bfloat16"; torch.half and torch.float have other names, too.
constexpr std::string_view kTorch = "torch.";
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{"half", "float16"}, {"float", "float32"}};
Json plain(Json value) {
    auto* const text = value.get_ptr<Json::string_t*>();
    if (text == nullptr || !text->starts_with(kTorch)) return value;
    text->erase(0, kTorch.size());
    for (const auto& [name, other] : kTypes)
        if (*text == name) *text = other;
    return value;
}

}  // namespace

bool calls_at(const PythonTokens& tokens, std::size_t at, std::string_view name) {
    return name_at(tokens, at) && sign_at(tokens, at + 1, "(") && last_part(tokens[at].value) == name;
}

const PythonObject* object_at(const PythonTokens& tokens, std::size_t at, std::span<const PythonObject> objects) {
    const auto one = std::find_if(objects.begin(), objects.end(), [&](const PythonObject& of) { return calls_at(tokens, at, of.name); });
    return one == objects.end() ? nullptr : &*one;
}

std::size_t behind_bracket(const PythonTokens& tokens, std::size_t at) {
    int depth = 0;
    do {
        depth += opens_at(tokens, at) ? 1 : closes_at(tokens, at) ? -1 : 0;
        ++at;
    } while (at < tokens.size() && depth > 0);
    return at;
}

std::string given_name(const PythonTokens& tokens, std::size_t at) {
    if (at < 2 || !sign_at(tokens, at - 1, "=")) return "";
    std::size_t name = at - 2;
    while (name >= 2 && name_at(tokens, name) && sign_at(tokens, name - 1, ",") && name_at(tokens, name - 2)) name -= 2;
    return name_at(tokens, name) ? tokens[name].value : "";
}

bool none_at(const PythonTokens& tokens, std::size_t at) {
    if (!name_at(tokens, at)) return false;
    const std::string& name = tokens[at].value;
    const auto named = [&](std::size_t i, const std::string& one) { return name_at(tokens, i) && tokens[i].value == one; };
    bool none = name == "None", other = false;
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
        if (!named(i, name) || !sign_at(tokens, i + 1, "=") || named(i + 2, name)) continue;  // or an argument of its own name
        (named(i + 2, "None") ? none : other) = true;
    }
    return none && !other;
}

PythonArguments::PythonArguments(const PythonTokens& tokens, const std::vector<Entry>& all, const NamesSet& set, bool sections)
    : tokens_(tokens), set_(set), sections_(sections) {
    for (const Entry& entry : all) {
        const auto known = values_.find(entry.key);
        const bool open = !entry.open.empty(), other = known != values_.end() && known->second != entry.value;
        values_[entry.key] = open || other ? std::nullopt : std::optional(entry.value);
        said_.emplace(std::pair(entry.line, entry.key), entry);
    }
    read_classes();
}

// "class Config: batch_size: int = 2" and "cfg = Config()" or "def train(cfg: Config)": cfg.batch_size is 2.
void PythonArguments::read_classes() {
    std::string inside;
    std::size_t margin = 0;
    for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
        const bool begins = i == 0 || tokens_[i - 1].kind == PythonToken::line_end;
        if (begins && tokens_[i].kind != PythonToken::line_end && tokens_[i].column <= margin) inside.clear();
        if (begins && is_token(tokens_, i, PythonToken::name, "class") && name_at(tokens_, i + 1)) {
            inside = tokens_[i + 1].value, margin = tokens_[i].column;
        } else if (begins && !inside.empty() && name_at(tokens_, i) && sign_at(tokens_, i + 1, ":") && name_at(tokens_, i + 2) &&
                   sign_at(tokens_, i + 3, "=") && ends_at(tokens_, i + 5)) {
            if (const auto value = value_at(i + 4); value && !name_at(tokens_, i + 4)) fields_[inside][tokens_[i].value] = *value;
        }
    }
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
        const bool typed = name_at(tokens_, i) && sign_at(tokens_, i + 1, ":"), made = name_at(tokens_, i) && sign_at(tokens_, i + 1, "=");
        if ((!typed && !made) || !name_at(tokens_, i + 2) || !fields_.contains(tokens_[i + 2].value)) continue;
        const bool called = made && sign_at(tokens_, i + 3, "("), plain_call = called && sign_at(tokens_, i + 4, ")");
        const auto [known, fresh] = objects_.emplace(tokens_[i].value, tokens_[i + 2].value);
        if ((made && !plain_call) || (!fresh && known->second != tokens_[i + 2].value)) known->second.clear();
    }
}

void PythonArguments::dictionary(std::size_t& at, const std::string& prefix, std::vector<Entry>& into, int depth) const {
    for (++at; at < tokens_.size() && !sign_at(tokens_, at, "}");) {
        const bool key = tokens_[at].kind == PythonToken::text && sign_at(tokens_, at + 1, ":");
        if (sign_at(tokens_, at, "**")) {
            spread(at, prefix, into, depth);
        } else if (key) {
            const std::string name = tokens_[at].value;
            at += 2;
            put(prefix, name, at, into, depth);
        } else {
            skip(at);
        }
    }
    ++at;
}

void PythonArguments::arguments(std::size_t at, std::vector<Entry>& into, const std::string& prefix, int depth) const {
    for (++at; at < tokens_.size() && !sign_at(tokens_, at, ")");) {
        if (sign_at(tokens_, at, "**")) {
            spread(at, prefix, into, depth);
        } else if (name_at(tokens_, at) && sign_at(tokens_, at + 1, "=")) {
            const std::string name = tokens_[at].value;
            at += 2;
            put(prefix, name, at, into, depth);
        } else {
            skip(at);
        }
    }
}

// A text cannot make this go over itself without end: then it is at its end.
void PythonArguments::skip(std::size_t& at) const {
    const std::size_t from = at;
    at = steps_ < kMostSteps ? behind_bracket(tokens_, at) : tokens_.size();
    steps_ += at - from;
}

// **model_kwargs, which is {"torch_dtype": ...} or dict(torch_dtype=...) somewhere in the text. Else nobody knows what it says.
void PythonArguments::spread(std::size_t& at, const std::string& prefix, std::vector<Entry>& into, int depth) const {
    ++at;
    const std::size_t begin = at;
    while (!ends_at(tokens_, at)) skip(at);
    steps_ += std::max(begin, kOneLook);  // it looks for the dictionary from the text's begin on
    if (into.size() >= kMostOfDictionary || steps_ > kMostSteps) return;
    std::size_t made = begin;
    if (name_at(tokens_, begin) && ends_at(tokens_, begin + 1))
        for (std::size_t i = 2; i < begin; ++i)
            if (is_token(tokens_, i - 2, PythonToken::name, tokens_[begin].value) && sign_at(tokens_, i - 1, "=")) made = i;
    std::size_t inside = made;
    if (nested(prefix, inside, into, depth)) return changes(inside, begin, prefix, into);
    const std::string shown = "**" + written_value(tokens_, begin);
    into.push_back({shown, shown, open_mark(shown), begin < tokens_.size() ? tokens_[begin].line : 0, {shown}});
}

// model_kwargs["attn_implementation"] = "sdpa" between its dictionary and the call.
void PythonArguments::changes(std::size_t from, std::size_t call, const std::string& prefix, std::vector<Entry>& into) const {
    for (std::size_t i = from; i + 5 < call; ++i) {
        const bool changed = is_token(tokens_, i, PythonToken::name, tokens_[call].value) && sign_at(tokens_, i + 1, "[") &&
                             tokens_[i + 2].kind == PythonToken::text && sign_at(tokens_, i + 3, "]") && sign_at(tokens_, i + 4, "=");
        if (!changed || into.size() >= kMostOfDictionary) continue;
        Entry entry{prefix + tokens_[i + 2].value, prefix + tokens_[i + 2].value, nullptr, tokens_[i].line};
        const std::string condition = condition_of(i);
        const auto answer = set_.find(condition);
        if (answer != set_.end() && (answer->second == "False" || answer->second == "false" || answer->second == "0")) continue;
        if (!condition.empty() && answer == set_.end()) entry.open.push_back(condition);
        const auto value = ends_at(tokens_, i + 6) ? value_at(i + 5) : std::nullopt;
        const std::string written = written_value(tokens_, i + 5);
        if (!value) entry.open.push_back(written);
        entry.value = value.value_or(Json(open_mark(written)));
        into.push_back(std::move(entry));
    }
}

// Of the branch that the line of `at` stands in; "" where it stands in none.
std::string PythonArguments::condition_of(std::size_t at) const {
    if (tokens_[at].column == 0) return "";
    for (std::size_t i = at; i-- > 0;) {
        if (tokens_[i].kind == PythonToken::line_end || tokens_[i].column >= tokens_[at].column) continue;
        const bool begins = i == 0 || tokens_[i - 1].kind == PythonToken::line_end;
        if (!begins) continue;
        const bool branch = tokens_[i].value == "if" || tokens_[i].value == "elif" || tokens_[i].value == "else";
        std::string condition = branch ? written_value(tokens_, tokens_[i].value == "else" ? i : i + 1) : "";
        if (condition.ends_with(':')) condition.pop_back();
        return condition;
    }
    return "";
}

// What opens there is a dictionary: its settings have the prefix, and `at` goes behind it.
bool PythonArguments::nested(const std::string& prefix, std::size_t& at, std::vector<Entry>& into, int depth) const {
    if (depth >= kDeepestDictionary) return false;
    if (sign_at(tokens_, at, "{")) return dictionary(at, prefix, into, depth + 1), true;
    if (!calls_at(tokens_, at, "dict")) return false;
    arguments(at + 1, into, prefix, depth + 1);
    at = behind_bracket(tokens_, at + 1);
    return true;
}

// ["q_proj", "v_proj"]
std::optional<Json> PythonArguments::list_at(std::size_t at) const {
    Json all = Json::array();
    for (++at; at < tokens_.size() && !sign_at(tokens_, at, "]"); ++at) {
        if (sign_at(tokens_, at, ",")) continue;
        if (tokens_[at].kind != PythonToken::text || all.size() > kLongestNames) return std::nullopt;
        all.push_back(tokens_[at].value);
    }
    return ends_at(tokens_, at + 1) ? std::optional(std::move(all)) : std::nullopt;
}

std::optional<Json> PythonArguments::value_at(std::size_t at) const {
    if (at >= tokens_.size()) return std::nullopt;
    const PythonToken& token = tokens_[at];
    if (token.kind == PythonToken::text) return token.value;
    if (token.kind == PythonToken::number) return python_number(token.value);
    if (token.kind != PythonToken::name) return std::nullopt;
    if (token.value == "True" || token.value == "False") return token.value == "True";
    if (token.value == "None") return Json();
    if (token.value.starts_with(kTorch)) return plain(token.value);
    const std::size_t dot = token.value.find('.');
    const auto object = dot == std::string::npos ? objects_.end() : objects_.find(token.value.substr(0, dot));
    if (object != objects_.end())
        if (const auto made = fields_.find(object->second); made != fields_.end())
            if (const auto field = made->second.find(token.value.substr(dot + 1)); field != made->second.end()) return field->second;
    const auto known = values_.find(token.value);
    return known == values_.end() || !known->second ? std::nullopt : std::optional(plain(*known->second));
}

// "is_bfloat16_supported()", "torch.bfloat16 if is_bfloat16_supported() else torch.float16"
std::optional<Json> PythonArguments::by_gpu(std::size_t at) const {
    std::size_t end = at;
    if (const auto truth = python_capable(tokens_, end)) return ends_at(tokens_, end) ? std::optional<Json>(*truth) : std::nullopt;
    if (!is_token(tokens_, at + 1, PythonToken::name, "if")) return std::nullopt;
    end = at + 2;
    const auto truth = python_capable(tokens_, end);
    if (!truth || !is_token(tokens_, end, PythonToken::name, "else") || !ends_at(tokens_, end + 2)) return std::nullopt;
    return value_at(*truth ? at : end + 1);
}

void PythonArguments::put(const std::string& prefix, const std::string& name, std::size_t& at, std::vector<Entry>& into, int depth) const {
    if (at >= tokens_.size() || into.size() >= kMostOfDictionary) return void(++at);
    const std::size_t begin = at;
    // A text of sections has other names there. In any other, what read_python() does not say stands in a branch that is not taken.
    const auto range = said_.equal_range({tokens_[begin - 2].line, name});
    const auto differs = [&](const auto& one) { return one.second.value != range.first->second.value; };
    const bool silent = range.first == range.second && !sections_;
    const bool one = range.first != range.second && std::none_of(range.first, range.second, differs);
    std::vector<Entry> unread;
    if (nested(prefix + name + ".", at, silent ? unread : into, depth)) return;
    while (!ends_at(tokens_, at)) skip(at);
    if (silent) return;
    Entry entry{prefix + name, prefix + name, nullptr, tokens_[begin - 2].line};
    if (one) entry.open = range.first->second.open;
    const bool called = name_at(tokens_, begin) && sign_at(tokens_, begin + 1, "(");
    const Json said = one && !called ? range.first->second.value : Json(open_mark(written_value(tokens_, begin)));
    const auto* text = said.get_ptr<const Json::string_t*>();
    const std::vector<std::string> names = text == nullptr ? std::vector<std::string>() : open_names(*text);
    std::optional<Json> value;
    if (names.empty()) value = said;
    if (!value && (value = by_gpu(begin))) entry.written = said;
    if (!value && ends_at(tokens_, begin + 1)) value = value_at(begin);
    if (!value && sign_at(tokens_, begin, "-") && ends_at(tokens_, begin + 2) && tokens_[begin + 1].kind == PythonToken::number)
        value = python_number("-" + tokens_[begin + 1].value);
    if (!value && sign_at(tokens_, begin, "[")) value = list_at(begin);
    if (const auto answer = set_.find(names.size() == 1 ? names[0] : ""); !value && answer != set_.end()) value = answer->second;
    std::erase_if(entry.open, [&](const std::string& open) { return std::find(names.begin(), names.end(), open) != names.end(); });
    if (!value) entry.open.insert(entry.open.end(), names.begin(), names.end());
    entry.value = value ? plain(*value) : said;
    into.push_back(std::move(entry));
}

}  // namespace fourfold
