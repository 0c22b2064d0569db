// Which commands of a script are run: conditions, choices, loops, and ways that the text leaves open. What a command does:
// commands.cpp.
#include "formats/shell/shell.h"

#include <algorithm>
#include <utility>

#include "formats/entries.h"
#include "formats/shell/run.h"

namespace fourfold {

void ShellRun::text(std::string_view text, std::int64_t line) {
    ends_.scan(text);
    ShellTokens tokens = tokens_of(text, line, script_.documents.size());
    for (ShellCommand& directive : tokens.directives) {
        learn(directive, scopes_.variables);
        script_.directives.push_back(std::move(directive));
    }
    for (std::string& document : tokens.documents) script_.documents.push_back(std::move(document));
    run(nodes_of(tokens.list, script_.complete));
}

void ShellRun::finish() {
    script_.complete = script_.complete && !values_.overflowed && steps_ < kMostSteps;
    scopes_.finish();
    script_.files = files_.texts();
    script_.file_names = files_.names();
}

// [[ … ]], [ … ], false: what a function answers that ends with it; other commands are taken to go well.
static bool is_question(const ShellNode& node) {
    constexpr std::string_view kQuestions[] = {"[", "test", "false"};
    return node.kind == ShellNode::test || node.kind == ShellNode::sum ||
           (node.kind == ShellNode::simple && !node.words.empty() &&
            std::find(std::begin(kQuestions), std::end(kQuestions), node.words[0].text) != std::end(kQuestions));
}

void ShellRun::run(const ShellNodes& nodes) {
    Truth last = Truth::yes;
    const ShellDoubt doubt(ends_, false);
    const int doubts = ends_.doubts;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (++steps_ > kMostSteps || returned_) return;
        const ShellNode& node = nodes[i];
        if (node.link != ShellNode::and_then && node.link != ShellNode::or_else) {
            ends_.doubts = doubts;
            if (is_shell(nodes, i))
                alone([&] { last = run(node); });
            else
                last = run(node);
            ends_.doubts += ends_.doubtful(node) ? 1 : 0;  // for what hangs on its answer
            if (!returned_) answered_ = is_question(node) ? last : Truth::yes;
            continue;
        }
        const Truth needed = node.link == ShellNode::and_then ? last : !last;
        if (needed == Truth::no) continue;
        if (needed == Truth::yes)
            last = run(node);
        else
            maybe({[&] { run(node); }, [] {}});
    }
}

Truth ShellRun::answer(const ShellNodes& nodes) {
    Truth truth = Truth::yes;
    for (const ShellNode& node : nodes) {
        const Truth before = truth;
        const Truth now = run(node);
        if (node.link == ShellNode::and_then)
            truth = before == Truth::no || now == Truth::no ? Truth::no : before == Truth::yes ? now : Truth::unknown;
        else if (node.link == ShellNode::or_else)
            truth = before == Truth::yes || now == Truth::yes ? Truth::yes : before == Truth::no ? now : Truth::unknown;
        else
            truth = now;
    }
    return truth;
}

Truth ShellRun::run(const ShellNode& node) {
    switch (node.kind) {
        case ShellNode::simple:
            return command(node);
        case ShellNode::test:
            return asked(node.words[0].text);
        case ShellNode::sum: {
            const std::string value = assignment_or_sum(node.words[0].text);
            return is_open(value) ? Truth::unknown : value == "0" ? Truth::no : Truth::yes;
        }
        case ShellNode::condition:
            condition(node, 0);
            break;
        case ShellNode::choice:
            choice(node);
            break;
        case ShellNode::loop:
            loop(node);
            break;
        case ShellNode::function:
            functions_[node.name] = node.clauses;
            break;
        case ShellNode::group:
            const ShellDoubt doubt(ends_, true);
            if (node.name.empty())
                run(node.clauses[0].body);
            else
                alone([&] { run(node.clauses[0].body); });
    }
    return Truth::yes;
}

Truth ShellRun::asked(std::string_view expression) {
    const Truth truth = values_.test(expression);
    if (truth == Truth::unknown) reason_ = why(expression);
    return truth;
}

std::string ShellRun::why(std::string_view expression) {
    const std::vector<std::string> names = open_names(values_.text(expression));
    return names.empty() ? std::string(expression.substr(0, 60)) : names[0];
}

void ShellRun::condition(const ShellNode& node, std::size_t i) {
    if (i >= node.clauses.size()) return;
    const ShellClause& clause = node.clauses[i];
    const Truth truth = clause.condition.empty() ? Truth::yes : answer(clause.condition);
    const ShellDoubt doubt(ends_, ends_.doubtful(clause.condition));
    if (truth == Truth::yes) return run(clause.body);
    if (truth == Truth::no) return condition(node, i + 1);
    maybe({[&] { run(clause.body); }, [&] { condition(node, i + 1); }});
}

std::size_t ShellRun::taken(const ShellNode& choice, std::size_t i) {
    run(choice.clauses[i].body);
    while (choice.clauses[i].end == ShellClause::falls && i + 1 < choice.clauses.size()) run(choice.clauses[++i].body);
    return i;
}

void ShellRun::choice(const ShellNode& node) {
    const std::string value = node.words.empty() ? "" : values_.text(node.words[0].text);
    const bool open = is_open(value);
    bool several = false, all = false;
    for (std::size_t i = 0; i < node.clauses.size(); ++i) {
        several = several || node.clauses[i].end == ShellClause::tests;
        for (const RawWord& raw : node.clauses[i].patterns) {
            const std::string pattern = values_.text(raw.text);
            all = all || pattern == "*";
            if (open) {
                if (pattern != "*") values_.compared(value, pattern);
            } else if (matches(pattern, value)) {
                const ShellDoubt doubt(ends_, true);
                i = taken(node, i);
                if (node.clauses[i].end != ShellClause::tests) return;
                break;
            }
        }
    }
    if (!open) return;
    reason_ = why(value);
    std::vector<std::function<void()>> ways;
    for (std::size_t i = 0; i < node.clauses.size(); ++i) {
        if (several)
            maybe({[&] { taken(node, i); }, [] {}});
        else
            ways.emplace_back([&, i] { taken(node, i); });
    }
    if (!all) ways.emplace_back([] {});
    if (!several) maybe(ways);
}

// Whether nothing is started there: what it sets can be followed for as often as it is run.
static bool only_sets(const ShellNodes& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [](const ShellNode& node) {
        if (node.kind == ShellNode::test || node.kind == ShellNode::sum) return true;
        constexpr std::string_view kSteps[] = {"[", "shift", "echo", "exit"};
        if (node.kind == ShellNode::condition || node.kind == ShellNode::choice)
            return std::all_of(node.clauses.begin(), node.clauses.end(),
                               [](const ShellClause& one) { return only_sets(one.condition) && only_sets(one.body); });
        return node.kind == ShellNode::simple && !node.words.empty() &&
               (std::find(std::begin(kSteps), std::end(kSteps), node.words[0].text) != std::end(kSteps) ||
                std::all_of(node.words.begin(), node.words.end(), [](const RawWord& word) { return assigned_name(word.text) > 0; }));
    });
}

bool ShellRun::follow(const ShellNodes& body, const std::function<Truth()>& goes_on, const std::function<void()>& step) {
    constexpr int kMostTimes = 500;
    if (!only_sets(body)) return false;
    const ShellVariables before = scopes_.variables;
    for (int i = 0; i < kMostTimes; ++i) {
        const Truth truth = goes_on();
        if (truth == Truth::no) return true;
        if (truth == Truth::unknown) break;
        run(body);
        if (exited_ || returned_) return true;
        step();
    }
    scopes_.variables = before;
    return false;
}

// "while getopts 't:p:' opt", "while true; do case $1 in … shift": what is set before it is what the script takes where it is given
// nothing.
static bool takes_options(const ShellClause& clause) {
    const auto begins = [](const ShellNode& node, std::string_view word) { return !node.words.empty() && node.words[0].text == word; };
    const ShellNodes& body = clause.body;
    const auto holds = [](const ShellNodes& nodes, const auto& question) { return std::any_of(nodes.begin(), nodes.end(), question); };
    const auto shifts = [&](const ShellNode& node) { return begins(node, "shift"); };
    const auto looks = [&](const ShellNode& node) {
        const bool first = node.kind == ShellNode::choice && (begins(node, "$1") || begins(node, "\"$1\"") || begins(node, "\"${1}\"") ||
                                                              begins(node, "${1}") || begins(node, "\"${1:-}\""));
        return first && (holds(body, shifts) || std::any_of(node.clauses.begin(), node.clauses.end(),
                                                            [&](const ShellClause& one) { return holds(one.body, shifts); }));
    };
    return (clause.condition.size() == 1 && begins(clause.condition[0], "getopts")) || holds(body, looks);
}

void ShellRun::keep_defaults(const ShellVariables& before) {
    for (const auto& [name, value] : before)  // a 0 stands for what has to be given
        if (value.words.size() == 1 && !value.words[0].text.empty() && value.words[0].text != "0") scopes_.set(name, value);
}

void ShellRun::loop(const ShellNode& node) {
    const ShellClause& clause = node.clauses[0];
    if (node.name.empty()) {
        const auto goes_on = [&] { return node.until ? !answer(clause.condition) : answer(clause.condition); };
        if (only_sets(clause.condition) && follow(clause.body, goes_on, [] {})) return;
        const bool given = scopes_.variables.contains("1") && values_.join("1") != "--";
        const bool options = !given && takes_options(clause);
        const ShellVariables before = options ? scopes_.variables : ShellVariables();
        const Truth truth = goes_on();
        if (truth == Truth::yes && !options) return repeat(clause.body);
        if (truth != Truth::no) maybe({[&] { run(clause.body); }, [] {}});
        if (options) keep_defaults(before);
        return;
    }
    if (clause.patterns.size() == 3) {  // for ((i = 0; i < 8; i++))
        assignment_or_sum(clause.patterns[0].text);
        const auto goes_on = [&] {
            const std::string value = values_.sum(clause.patterns[1].text);
            return is_open(value) ? Truth::unknown : value == "0" ? Truth::no : Truth::yes;
        };
        if (follow(clause.body, goes_on, [&] { assignment_or_sum(clause.patterns[2].text); })) return;
    }
    ShellWords words;
    for (const RawWord& raw : node.words)
        for (ShellWord& word : values_.words(raw)) words.push_back(std::move(word));
    if (words.empty() && !node.words.empty()) return;
    if (words.size() == 1) {
        scopes_.set(node.name, {{words[0]}});
        return run(clause.body);
    }
    std::size_t next = 0;
    const auto take_next = [&] {
        if (next == words.size()) return words.empty() ? Truth::unknown : Truth::no;
        if (is_open(words[next].text)) return Truth::unknown;
        scopes_.set(node.name, {{words[next++]}});
        return Truth::yes;
    };
    if (follow(clause.body, take_next, [] {})) return;
    scopes_.set(node.name, {{{open_mark(node.name), node.line}}});
    for (const ShellWord& word : words) values_.compared(open_mark(node.name), word.text);
    repeat(clause.body);
}

void ShellRun::repeat(const ShellNodes& body) {
    run(body);
    const ShellVariables once = scopes_.variables;
    steps_ += static_cast<int>(once.size() / 16);
    const std::size_t commands = script_.commands.size();
    const ShellCommand last = commands == 0 ? ShellCommand{} : script_.commands.back();
    run(body);
    script_.commands.resize(commands);
    if (commands > 0) script_.commands.back() = last;
    for (auto& [name, value] : scopes_.variables)
        if (const auto known = once.find(name); known != once.end() && !(known->second == value))
            value = merged(known->second, value, name);
}

void ShellRun::maybe(const std::vector<std::function<void()>>& ways) {
    const std::string reason = reason_;
    const ShellVariables before = scopes_.variables;
    std::vector<ShellVariables> after;
    steps_ += static_cast<int>(before.size() * ways.size() / 16);
    if (steps_ > kMostSteps) return;
    reasons_.push_back(reason);
    if (printed_ != nullptr) printed_->sure = false;
    bool returns = false;
    for (const auto& way : ways) {
        scopes_.variables = before;
        exited_ = returned_ = false;
        way();
        returns = returns || returned_;
        if (!exited_ && !returned_) after.push_back(scopes_.variables);  // what follows has come another way
    }
    reasons_.pop_back();
    exited_ = !ways.empty() && after.empty() && !returns;
    returned_ = after.empty() && returns;
    scopes_.variables = after.empty() ? before : merged_ways(after, reason);
}

void ShellRun::alone(const std::function<void()>& way) {
    const bool exited = exited_, returned = returned_;
    steps_ += static_cast<int>(scopes_.variables.size() / 16);
    ShellScopes::Shell shell = scopes_.enter();
    way();
    scopes_.leave(std::move(shell));
    exited_ = exited, returned_ = returned;
}

bool ShellRun::is_shell(const ShellNodes& nodes, std::size_t i) const {
    const ShellNode& node = nodes[i];
    const bool piped = node.link == ShellNode::piped || (i + 1 < nodes.size() && nodes[i + 1].link == ShellNode::piped);
    return piped && node.kind != ShellNode::function &&
           (node.kind != ShellNode::simple || (!node.words.empty() && functions_.contains(node.words[0].text)));
}

ShellScript read_shell(std::string_view text, const std::map<std::string, std::string>& set, std::int64_t first_line) {
    ShellScript script;
    ShellRun run(script, set);
    run.text(text, first_line);
    run.finish();
    return script;
}

}  // namespace fourfold
