#include <algorithm>
#include <cctype>
#include <optional>
#include <span>

#include "base/text.h"
#include "formats/entries.h"
#include "formats/shell/parts.h"

namespace fourfold {

namespace {

constexpr std::size_t kLongest = 200'000;  // bytes of one value
constexpr int kDeepestName = 20;           // of names inside of names

// Splits where the shell would: at blanks that are not in quotes.
void split(std::string_view text, std::int64_t line, ShellWords& words) {
    std::string word;
    int marks = 0;
    for (const char c : text) {
        marks += c == kOpen ? 1 : c == kClose ? -1 : 0;
        if (marks > 0 || std::isspace(static_cast<unsigned char>(c)) == 0)
            word += c;
        else if (!word.empty())
            words.push_back({std::exchange(word, {}), line});
    }
    if (!word.empty()) words.push_back({word, line});
}

}  // namespace

static bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t name_end(std::string_view text, std::size_t at) {
    while (at < text.size() && is_name(text[at])) ++at;
    return at;
}

// What stands behind all that a list is known to hold: nothing, unless a part of it is open.
static ShellWords behind(const ShellWords& words, const std::string& name, const std::string& index) {
    const auto open = std::find_if(words.begin(), words.end(), [](const ShellWord& word) { return is_open(word.text); });
    return open == words.end() ? ShellWords{} : ShellWords{{open_mark(joined({name, "[", index, "]"})), open->line}};
}

bool operator==(const ShellVariable& a, const ShellVariable& b) {
    return a.is_list == b.is_list && std::equal(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(),
                                                [](const ShellWord& x, const ShellWord& y) { return x.text == y.text; });
}

std::string ShellValues::join(const std::string& name) {
    std::string text;
    for (const ShellWord& word : variables_[name].words) text += (text.empty() ? "" : " ") + word.text;
    return text;
}

void ShellValues::compared(const std::string& open, const std::string& with) {
    for (const std::string& name : open_names(open)) {
        auto& list = choices_[name];
        if (!with.empty() && !is_open(with) && list.size() < 40 && std::find(list.begin(), list.end(), with) == list.end())
            list.push_back(with);
    }
}

ShellValues::Found ShellValues::value_of(std::string_view name) {
    if (const auto known = variables_.find(std::string(name)); known != variables_.end()) return {known->second.words};
    if (name == "#") return {{{"0"}}};  // it is started without words of its own
    if (name == "@" || name == "*") return {};
    return {{{open_mark(name)}}};
}

// "%" and "#" cut a pattern off, with "*" for anything.
std::string ShellValues::trimmed(const std::string& value, std::string_view operation) {
    const bool front = operation[0] == '#', longest = operation.size() > 1 && operation[1] == operation[0];
    const std::string_view pattern = operation.substr(longest ? 2 : 1);
    const std::size_t n = value.size();
    for (std::size_t i = 0; i <= n; ++i) {
        const std::size_t cut = longest ? n - i : i;  // so many bytes go
        const std::string_view part = front ? std::string_view(value).substr(0, cut) : std::string_view(value).substr(n - cut);
        if (matches(pattern, part)) return front ? value.substr(cut) : value.substr(0, n - cut);
    }
    return value;
}

// ${NAME/a*/b}, ${NAME//a/b}, ${NAME/#a/b} at the front, ${NAME/%a/b} at the end; ${NAME^^}, ${NAME,}; ${NAME##*a}.
std::string ShellValues::changed(std::string value, std::string_view operation) {
    if (operation[0] == '%' || operation[0] == '#') return trimmed(value, text(operation));
    if (operation[0] != '/') {
        const std::size_t many = operation.size() > 1 ? value.size() : std::min<std::size_t>(value.size(), 1);
        for (char& c : std::span(value).first(many))
            c = static_cast<char>(operation[0] == '^' ? std::toupper(static_cast<unsigned char>(c))
                                                      : std::tolower(static_cast<unsigned char>(c)));
        return value;
    }
    const char kind = operation.size() > 1 ? operation[1] : '/';
    const std::size_t begin = kind == '/' || kind == '#' || kind == '%' ? 2 : 1,
                      cut = std::min(operation.find('/', begin), operation.size());
    const std::string from = text(operation.substr(std::min(begin, cut), cut - std::min(begin, cut))),
                      to = text(operation.substr(std::min(cut + 1, operation.size())));
    const std::size_t n = value.size();
    const bool any = from.find_first_of("*?[") != std::string::npos && n < 1'000, ends = kind == '%';
    if (from.empty()) return kind == '#' ? to + value : ends ? value + to : value;
    // The end of what begins there, the longest.
    const auto end_of = [&](std::size_t i) {
        if (!any) return value.compare(i, from.size(), from) == 0 ? i + from.size() : std::string::npos;
        for (std::size_t end = n; end > i; --end)
            if (matches(from, std::string_view(value).substr(i, end - i))) return end;
        return std::string::npos;
    };
    std::string all;
    std::size_t i = !any && ends && n >= from.size() ? n - from.size() : 0;
    all = value.substr(0, i);
    while (i < n) {
        const std::size_t end = end_of(i);
        if (end == std::string::npos || (ends && end < n)) {
            if (kind == '#') break;
            all += value[i++];
            continue;
        }
        all += to;
        i = end;
        if (kind != '/') break;
    }
    return i < n ? all + value.substr(i) : all;
}

// ${NAME:2:4}, ${list[@]:1}: from the second on, so many. Words of a command count from 1.
ShellValues::Found ShellValues::slice(const Found& found, std::string_view operation, std::string_view inside) {
    const std::size_t cut = operation.find(':', 1);
    const std::string from = sum(text(operation.substr(1, cut == std::string_view::npos ? cut : cut - 1)));
    const std::string many = cut == std::string_view::npos ? "" : sum(text(operation.substr(cut + 1)));
    const auto number = [](const std::string& digits) {
        const bool fits =
            !digits.empty() && digits.size() < 8 && digits.find_first_not_of("0123456789", digits[0] == '-') == std::string::npos;
        return fits && digits != "-" ? std::optional(std::stoi(digits)) : std::nullopt;
    };
    const auto begin = number(from), length = many.empty() ? std::optional(1'000'000'000) : number(many);
    const bool known = std::none_of(found.words.begin(), found.words.end(), [](const ShellWord& word) { return is_open(word.text); });
    if (!known) return found;
    if (!begin || !length) return {{{open_mark(inside)}}};
    const auto size = static_cast<int>(found.separate ? found.words.size() : found.words.empty() ? 0 : found.words[0].text.size());
    const int first = std::clamp(*begin < 0 ? size + *begin : *begin - (inside[0] == '@' ? 1 : 0), 0, size);
    const int last = std::clamp(*length < 0 ? size + *length : first + *length, first, size);
    if (found.separate) return {ShellWords(found.words.begin() + first, found.words.begin() + last), true};
    const auto at = static_cast<std::size_t>(first);
    return {{{found.words.empty() ? "" : found.words[0].text.substr(at, static_cast<std::size_t>(last) - at)}}};
}

// ${!list[@]}: the places of its values, or their names; ${!name}: the value of the name that it holds.
ShellValues::Found ShellValues::indirect(const std::string& name, std::string_view inside) {
    const auto known = variables_.find(name);
    Found unknown{{{open_mark(inside)}}};
    if (known == variables_.end()) return unknown;
    const ShellWords& words = known->second.words;
    if (std::any_of(words.begin(), words.end(), [](const ShellWord& word) { return is_open(word.text); })) return unknown;
    if (inside.ends_with("[@]") || inside.ends_with("[*]")) {
        Found places{{}, true};
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string& text = words[i].text;
            const std::size_t end = text.starts_with('[') ? text.find("]=") : std::string::npos;
            places.words.push_back({end == std::string::npos ? std::to_string(i) : text.substr(1, end - 1), words[i].line});
        }
        return places;
    }
    const bool plain = inside.size() == name.size() + 1 && words.size() == 1;
    return plain && !words[0].text.empty() && name_end(words[0].text, 0) == words[0].text.size() ? value_of(words[0].text) : unknown;
}

// One of a list's values, by the place or the name in its brackets; or all of them.
void ShellValues::pick(const std::string& name, const std::string& index, Found& found, Picked& picked) {
    const std::string by_name = joined({"[", index, "]="});
    // A list whose places are names, one of which is looked for or none.
    const bool names = std::any_of(found.words.begin(), found.words.end(),
                                   [](const ShellWord& word) { return word.text.starts_with('[') && word.text.find("]=") < 80; });
    const auto named =
        std::find_if(found.words.begin(), found.words.end(), [&](const ShellWord& word) { return word.text.starts_with(by_name); });
    if (const auto answer = variables_.find(joined({name, "[", index, "]"})); answer != variables_.end()) {
        found.words = answer->second.words;
    } else if (named != found.words.end()) {
        found.words = {{named->text.substr(by_name.size()), named->line}};
    } else if (index == "@" || index == "*") {
        for (ShellWord& word : found.words)
            if (names && word.text.starts_with('[')) word.text.erase(0, std::min(word.text.find("]=") + 2, word.text.size()));
    } else if (names && !is_open(index)) {
        found.words = behind(found.words, name, index);
        picked.absent = found.words.empty();
    } else {
        std::string number = sum(index);
        const bool from_end = number.size() > 1 && number[0] == '-' && behind(found.words, name, index).empty();  // ${list[-1]}
        if (from_end && number.size() < 6)
            number = std::to_string(std::max<std::int64_t>(0, static_cast<std::int64_t>(found.words.size()) + std::stoll(number)));
        const bool known = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos && number.size() < 6;
        const std::size_t i = known ? static_cast<std::size_t>(std::stoi(number)) : 0;
        picked.keyed = !known && !is_open(index);
        if (!known)
            found.words = {{is_open(number) ? number : open_mark(name + "[" + index + "]")}};
        else
            found.words = i < found.words.size() ? ShellWords{found.words[i]} : behind(found.words, name, index);
    }
}

ShellValues::Found ShellValues::braces(std::string_view inside) {
    const bool length = inside.size() > 1 && inside[0] == '#';
    std::size_t at = length || (!inside.empty() && inside[0] == '!') ? 1 : 0;
    const std::size_t begin = at;
    at = name_end(inside, at);
    if (at == begin && at < inside.size()) ++at;  // ${@}
    const std::string name(inside.substr(begin, at - begin));
    Found found = value_of(name);
    Picked picked;
    if (at < inside.size() && inside[at] == '[') {
        const std::size_t end = std::min(inside.find(']', at), inside.size());
        const std::string index = text(inside.substr(at + 1, end - at - 1));
        at = std::min(end + 1, inside.size());
        found.separate = index == "@";
        pick(name, index, found, picked);
    }
    if (name == "@") found.separate = true;
    if (begin == 1 && !length) return indirect(name, inside);
    const bool counts = std::none_of(found.words.begin(), found.words.end(), [](const ShellWord& word) { return is_open(word.text); });
    if (length && !counts) return {{{open_mark(inside)}}};
    if (length) return {{{std::to_string(found.separate ? found.words.size() : found.words.empty() ? 0 : found.words[0].text.size())}}};
    std::string_view operation = inside.substr(at);
    if (operation.empty()) return found;
    const auto text_of = [&] {
        std::string value;
        for (const ShellWord& word : found.words) value += (value.empty() ? "" : " ") + word.text;
        return value;
    };
    const std::string value = text_of();
    const bool unset = variables_.find(name) == variables_.end();
    const bool none = !picked.keyed && (operation[0] == ':' ? unset || value.empty() : unset || picked.absent);
    if (operation[0] == ':' && operation.size() > 1 && std::string_view("-=?+").find(operation[1]) != std::string_view::npos)
        operation.remove_prefix(1);
    else if (operation[0] == ':')
        return slice(found, operation, inside);
    switch (operation[0]) {
        case '-':
        case '=': {
            if (!none) return found;
            if (unset && name.starts_with("OMPI_COMM_")) return {{{open_mark(name)}}};  // mpirun sets it
            Found usual;
            usual.words = {{text(operation.substr(1))}};
            if (operation[0] == '=') set(name, {usual.words});
            return usual;
        }
        case '?':
            return none && !unset ? Found{{{open_mark(name)}}} : found;
        case '+':
            return none ? Found{} : Found{{{text(operation.substr(1))}}};
        case '%':
        case '#':
        case '^':
        case ',':
        case '/':
            if (!is_open(value))
                for (ShellWord& word : found.words) word.text = changed(std::move(word.text), operation);
            return found;
        default:
            return {{{open_mark(inside)}}};
    }
}

// From the sign behind "$" on; `at` goes behind it.
ShellValues::Found ShellValues::dollar(std::string_view raw, std::size_t& at) {
    if (++depth_ > kDeepestName) {
        --depth_;
        at = raw.size();
        return {};
    }
    Found found;
    const std::size_t begin = at;
    if (begin < raw.size() && raw[begin] == '(') {
        at = behind_closing(raw, begin);
        const std::string_view inside = raw.substr(begin + 1, at - begin - (raw[at - 1] == ')' && at > begin + 1 ? 2 : 1));
        if (inside.starts_with('(') && inside.ends_with(')') && inside.size() > 1)
            found.words = {{sum(inside.substr(1, inside.size() - 2))}};
        else
            found.words = {{substitution(inside)}};
    } else if (begin < raw.size() && raw[begin] == '[') {  // the older $(( … ))
        const std::size_t end = std::min(raw.find(']', begin), raw.size());
        at = std::min(end + 1, raw.size());
        found.words = {{sum(raw.substr(begin + 1, end - begin - 1))}};
    } else if (begin < raw.size() && raw[begin] == '{') {
        at = behind_closing(raw, begin);
        found = braces(raw.substr(begin + 1, at - begin - (raw[at - 1] == '}' && at > begin + 1 ? 2 : 1)));
    } else {
        at = name_end(raw, begin);
        if (begin < raw.size() && (std::isdigit(static_cast<unsigned char>(raw[begin])) != 0 || at == begin)) at = begin + 1;  // $1, $@
        if (at > raw.size() || at == begin) {
            found.words = {{"$"}};
            at = begin;
        } else {
            found = value_of(raw.substr(begin, at - begin));
            found.separate = raw[begin] == '@';
        }
    }
    --depth_;
    return found;
}

std::string ShellValues::text(std::string_view raw) {
    const ShellWords whole = words({std::string(raw), 0}, false);
    return whole.empty() ? "" : whole[0].text;
}

// "<NUM_NODES>", "--nnodes=YOUR_NODES", "{nodes}": whoever starts it is to write a value there, so it is a name that is open.
std::string ShellValues::filled(std::string word) {
    const std::size_t cut = word.find('=');
    const std::size_t begin = cut == std::string::npos || word[0] == '<' || word[0] == '{' ? 0 : cut + 1;
    const std::string name = placeholder_in(std::string_view(word).substr(begin));
    if (name.empty()) return word;
    const Found found = value_of(name);
    return word.substr(0, begin) + (found.words.size() == 1 ? found.words[0].text : open_mark(name));
}

ShellWords ShellValues::words(const RawWord& raw, bool splits) {
    ShellWords words;
    std::string word;
    std::int64_t line = raw.line;  // of the value where the word is nothing else
    const std::string& text = raw.text;
    bool quoted = false, in_quotes = false, no_words = false;  // "$@" of none is no word
    const auto finish = [&] {
        if (!word.empty() || (quoted && !no_words)) words.push_back({filled(std::exchange(word, {})), line, quoted});
        line = raw.line;
        quoted = in_quotes;
        no_words = false;
    };
    const auto take = [&](const Found& found) {
        no_words = no_words || (splits && found.separate && found.words.empty());
        for (std::size_t i = 0; i < found.words.size(); ++i) {
            if (i > 0 && splits && (found.separate || !in_quotes))
                finish();
            else if (i > 0)
                word += ' ';
            const std::int64_t own = found.words[i].line;
            if (word.empty() && own > 0) line = own;
            if (in_quotes || !splits) {
                word += found.words[i].text;
                continue;
            }
            ShellWords parts;
            const std::string& value = found.words[i].text;
            if (!value.empty() && std::isspace(static_cast<unsigned char>(value.front())) != 0) finish();
            split(value, raw.line, parts);
            for (std::size_t k = 0; k < parts.size(); ++k) {
                if (k > 0) finish();
                if (word.empty() && own > 0) line = own;
                word += parts[k].text;
            }
            if (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())) != 0) finish();
        }
    };
    for (std::size_t i = 0; i < text.size() && word.size() < kLongest && words.size() < kLongest;) {
        const char c = text[i];
        if (c == '"') {
            in_quotes = !in_quotes;
            quoted = true;
            ++i;
        } else if (c == '\'' && !in_quotes) {
            const std::size_t end = behind_closing(text, i);
            word += text.substr(i + 1, end - i - (end > i + 1 && text[end - 1] == '\'' ? 2 : 1));
            quoted = true;
            i = end;
        } else if (c == '\\' && i + 1 < text.size()) {
            if (text[i + 1] != '\n') {
                if (in_quotes && std::string_view("$`\"\\").find(text[i + 1]) == std::string_view::npos) word += c;
                word += text[i + 1];
            }
            i += 2;
        } else if (c == kOpen) {
            const std::size_t end = behind_mark(text, i);
            word += text.substr(i, end - i);
            i = end;
        } else if (c == '$' && i + 1 < text.size()) {
            take(dollar(text, ++i));
        } else if (c == '`') {
            const std::size_t end = behind_closing(text, i);
            const Found found{{{substitution(std::string_view(text).substr(i + 1, end - i - 2 + (end - i < 2 ? 1 : 0)))}}};
            take(found);
            i = end;
        } else {
            word += c;
            ++i;
        }
    }
    in_quotes = false;
    finish();
    overflowed = overflowed || word.size() >= kLongest || words.size() >= kLongest;
    return words;
}

}  // namespace fourfold
