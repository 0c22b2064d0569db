#include "formats/python/calls.h"

#include <algorithm>
#include <optional>

#include "formats/settings.h"
#include "formats/shell/shell.h"

namespace fourfold {

namespace {

using CallTokens = std::vector<PythonToken>;

bool has_name_at(const CallTokens& tokens, std::size_t at) { return at < tokens.size() && tokens[at].kind == PythonToken::name; }

// A number, a text or a constant, as JSON; nothing for any other.
std::optional<std::string> constant_at(const CallTokens& tokens, std::size_t at) {
    if (at >= tokens.size()) return std::nullopt;
    const PythonToken& token = tokens[at];
    if (token.kind == PythonToken::number) return dumped(python_number(token.value));
    if (token.kind == PythonToken::text) return dumped(Json(token.value));
    if (token.kind != PythonToken::name) return std::nullopt;
    if (token.value == "True" || token.value == "False") return std::string(token.value == "True" ? "true" : "false");
    return token.value == "None" ? std::optional<std::string>("null") : std::nullopt;
}

// Names of the arguments of functions at the margin, in their order.
std::map<std::string, std::vector<std::string>> parameters_in(const CallTokens& tokens, const std::set<std::string>& functions) {
    std::map<std::string, std::vector<std::string>> all;
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
        if (!has_name_at(tokens, i) || tokens[i].value != "def" || tokens[i].column != 0 || !functions.contains(tokens[i + 1].value))
            continue;
        std::vector<std::string>& names = all[tokens[i + 1].value];
        int depth = 0;
        for (std::size_t at = i + 2; at < tokens.size(); ++at) {
            if (has_sign_at(tokens, at, "(") || has_sign_at(tokens, at, "[") || has_sign_at(tokens, at, "{")) ++depth;
            if ((has_sign_at(tokens, at, ")") || has_sign_at(tokens, at, "]") || has_sign_at(tokens, at, "}")) && --depth == 0) break;
            const bool first = has_sign_at(tokens, at - 1, "(") || has_sign_at(tokens, at - 1, ",");
            if (depth == 1 && first && has_name_at(tokens, at)) names.push_back(tokens[at].value);
        }
    }
    return all;
}

// Variables that a line of their own gives one value, the same wherever it does.
std::map<std::string, std::set<std::string>> variables_in(const CallTokens& tokens) {
    std::map<std::string, std::set<std::string>> all;
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
        const bool begins = i == 0 || tokens[i - 1].kind == PythonToken::line_end;
        if (!begins || !has_name_at(tokens, i) || !has_sign_at(tokens, i + 1, "=")) continue;
        const bool alone = i + 3 >= tokens.size() || tokens[i + 3].kind == PythonToken::line_end;
        all[tokens[i].value].insert(alone ? constant_at(tokens, i + 2).value_or(kNotSaid) : kNotSaid);
    }
    return all;
}

// What args.num_nodes is where the command says nothing.
void add_defaults(const CallTokens& tokens, std::map<std::string, std::set<std::string>>& all) {
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
        if (!has_name_at(tokens, i) || last_part(tokens[i].value) != "add_argument" || !has_sign_at(tokens, i + 1, "(")) continue;
        const PythonArgument one = python_argument(tokens, i + 1);
        const auto variable = all.find(one.variable);
        const bool known = variable != all.end() && variable->second.size() == 1;
        if (!one.key.empty()) all["args." + one.key].insert(known ? *variable->second.begin() : one.usual);
        i = one.end;
    }
}

}  // namespace

PythonArgument python_argument(const CallTokens& tokens, std::size_t at) {
    PythonArgument read{"", kNotSaid, at};
    int depth = 0;
    for (; read.end < tokens.size(); ++read.end) {
        const std::size_t i = read.end;
        if (has_sign_at(tokens, i, "(") || has_sign_at(tokens, i, "[") || has_sign_at(tokens, i, "{")) ++depth;
        if ((has_sign_at(tokens, i, ")") || has_sign_at(tokens, i, "]") || has_sign_at(tokens, i, "}")) && --depth == 0) break;
        if (depth != 1) continue;
        const bool named = tokens[i].kind == PythonToken::text && tokens[i].value.starts_with("--");
        if (named && read.key.empty()) read.key = tokens[i].value.substr(2);
        const bool acts = is_token(tokens, i, PythonToken::name, "action") && has_sign_at(tokens, i + 1, "=");
        if (acts && is_token(tokens, i + 2, PythonToken::text, "store_true") && read.usual == kNotSaid) read.usual = "false";
        if (!has_name_at(tokens, i) || tokens[i].value != "default" || !has_sign_at(tokens, i + 1, "=")) continue;
        const std::size_t minus = has_sign_at(tokens, i + 2, "-") ? 1 : 0, value_at = i + 2 + minus;
        const bool alone = has_sign_at(tokens, value_at + 1, ",") || has_sign_at(tokens, value_at + 1, ")");
        const auto value = alone ? constant_at(tokens, value_at) : std::nullopt;
        read.none = value == "null";
        if (value && !read.none) read.usual = (minus == 1 ? "-" : "") + *value, read.variable.clear();
        if (alone && !value && has_name_at(tokens, value_at)) read.variable = tokens[value_at].value;
    }
    std::replace(read.key.begin(), read.key.end(), '-', '_');
    return read;
}

void add_positions(const CallTokens& tokens, const std::set<std::string>& functions, PythonCalls& calls) {
    const auto parameters = parameters_in(tokens, functions);
    auto variables = variables_in(tokens);
    add_defaults(tokens, variables);
    const auto known = [&](std::size_t at) {
        const bool ends = has_sign_at(tokens, at + 1, ",") || has_sign_at(tokens, at + 1, ")");
        if (!ends) return std::string(kNotSaid);
        if (const auto value = constant_at(tokens, at)) return *value;
        const auto found = has_name_at(tokens, at) ? variables.find(tokens[at].value) : variables.end();
        return found != variables.end() && found->second.size() == 1 ? *found->second.begin() : std::string(kNotSaid);
    };
    constexpr std::size_t kMostSteps = 3'000'000;  // calls inside of calls that are never closed
    std::size_t steps = 0;
    for (std::size_t i = 1; i + 1 < tokens.size() && steps < kMostSteps; ++i) {
        const auto function = has_name_at(tokens, i) ? parameters.find(tokens[i].value) : parameters.end();
        if (function == parameters.end() || !has_sign_at(tokens, i + 1, "(") ||
            (has_name_at(tokens, i - 1) && tokens[i - 1].value == "def"))
            continue;
        int depth = 0;
        std::size_t place = 0;
        for (std::size_t at = i + 1; at < tokens.size(); ++at, ++steps) {
            if (has_sign_at(tokens, at, "(") || has_sign_at(tokens, at, "[") || has_sign_at(tokens, at, "{")) ++depth;
            if ((has_sign_at(tokens, at, ")") || has_sign_at(tokens, at, "]") || has_sign_at(tokens, at, "}")) && --depth == 0) break;
            const bool begins = depth == 1 && (at == i + 1 || has_sign_at(tokens, at, ","));
            if (!begins || has_sign_at(tokens, at + 1, ")")) continue;
            const bool named = has_name_at(tokens, at + 1) && has_sign_at(tokens, at + 2, "=");
            if (named && has_name_at(tokens, at + 3) && !constant_at(tokens, at + 3))
                calls[function->first][tokens[at + 1].value].insert(known(at + 3));
            else if (!named && place < function->second.size())
                calls[function->first][function->second[place]].insert(known(at + 1));
            ++place;
        }
    }
}

std::map<std::string, Json> given_to(const PythonCalls& calls, const std::string& function) {
    std::map<std::string, Json> given;
    if (const auto found = calls.find(function); found != calls.end())
        for (const auto& [parameter, values] : found->second)
            if (values.size() == 1 && *values.begin() != kNotSaid) given[parameter] = Json::parse(*values.begin(), nullptr, false);
    return given;
}

std::optional<Json> given_by_calls(const PythonCalls& calls, const std::string& function, const NamesSet& set, const std::string& parameter,
                                   const Json& usual) {
    const auto found = calls.find(function);
    if (found == calls.end() || !found->second.contains(parameter)) return usual;
    const auto given = given_to(calls, function);
    if (const auto one = given.find(parameter); one != given.end()) return one->second;
    if (const auto answer = set.find(parameter); answer != set.end()) return answer->second;
    return Json(open_mark(parameter));
}

}  // namespace fourfold
