#include "formats/shell/scopes.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace fourfold {

namespace {

bool of_call(const std::string& name) {
    return !name.empty() && (std::isdigit(static_cast<unsigned char>(name[0])) != 0 || name == "@" || name == "*" || name == "#");
}

}  // namespace

bool ShellScopes::is_fixed(const std::string& name) const { return std::find(fixed_.begin(), fixed_.end(), name) != fixed_.end(); }

void ShellScopes::fix(const std::string& name, const std::string& value) {
    variables[name] = {{{value}}};
    fixed_.push_back(name);
}

void ShellScopes::set(const std::string& name, ShellVariable value) {
    if (!is_fixed(name)) variables[name] = std::move(value);
}

void ShellScopes::unset(const std::string& name) {
    if (!is_fixed(name)) variables.erase(name);
}

void ShellScopes::tell(const ShellVariables& own, std::size_t first) {
    for (std::size_t k = first; k < script_.commands.size(); ++k) tell_size(own, script_.commands[k]);
    for (const auto& [name, value] : own) ended_[name] = value;
}

void ShellScopes::leave(Shell shell) {
    std::swap(variables, shell.before);
    if (!calls_.empty()) calls_.back().returned.resize(std::min(shell.returns, calls_.back().returned.size()));
    std::erase_if(shell.before, [&](const auto& one) {
        const auto known = variables.find(one.first);
        return known != variables.end() && known->second == one.second;
    });
    tell(shell.before, shell.first);
}

void ShellScopes::call(const ShellWords& words) {
    calls_.push_back({{}, {}, script_.commands.size()});
    for (const auto& [name, value] : variables)
        if (of_call(name)) calls_.back().outside[name] = value;
    give({words.begin() + 1, words.end()});
}

bool ShellScopes::note_return() {
    if (!calls_.empty()) calls_.back().returned.push_back(variables);
    return !calls_.empty();
}

void ShellScopes::back(bool ended, const std::string& reason) {
    Call call = std::move(calls_.back());
    calls_.pop_back();
    if (!call.returned.empty() && !ended) call.returned.push_back(std::move(variables));
    if (!call.returned.empty()) variables = merged_ways(call.returned, reason);
    ShellVariables own;
    for (const auto& [name, value] : call.own) {
        if (const auto known = variables.find(name); known != variables.end()) own[name] = std::move(known->second);
        if (value)
            variables[name] = *value;
        else
            variables.erase(name);
    }
    tell(own, call.first);
    std::erase_if(variables, [](const auto& one) { return of_call(one.first); });
    for (const auto& [name, value] : call.outside) variables[name] = value;
}

void ShellScopes::make_own(const std::string& word) {
    const std::string name = word.substr(0, name_end(word, 0));
    if (calls_.empty() || name.empty() || is_fixed(name)) return;
    const auto known = variables.find(name);
    const bool first = calls_.back().own.try_emplace(name, known == variables.end() ? std::nullopt : std::optional(known->second)).second;
    if (first && known != variables.end() && name.size() == word.size()) variables.erase(known);
}

void ShellScopes::give(ShellWords words) {
    for (std::size_t i = 0; i < words.size(); ++i) variables[std::to_string(i + 1)] = {{words[i]}};
    variables["#"] = {{{std::to_string(words.size())}}};
    variables["@"] = variables["*"] = {std::move(words), true};
}

void ShellScopes::shift(const ShellWords& words) {
    const auto given = variables.find("@");
    const std::size_t count = words.size() > 1 ? std::strtoul(words[1].text.c_str(), nullptr, 10) : 1;
    if (given == variables.end() || count > given->second.words.size()) return;
    ShellWords left(given->second.words.begin() + static_cast<std::ptrdiff_t>(count), given->second.words.end());
    for (std::size_t i = 1; i <= count; ++i) variables.erase(std::to_string(left.size() + i));
    give(std::move(left));
}

void ShellScopes::finish() {
    for (const auto& [name, variable] : variables) script_.variables[name] = variable.words;
    for (const auto& [name, variable] : ended_)
        if (!says_size(name)) script_.variables.try_emplace(name, variable.words);
}

}  // namespace fourfold
