#include "formats/shell.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <utility>

#include "formats/entries.h"
#include "formats/shell_ends.h"
#include "formats/shell_files.h"
#include "formats/shell_scopes.h"

namespace fourfold {

namespace {

constexpr int kMostSteps = 100'000;
constexpr int kDeepestCalls = 12;

bool one_of(std::string_view word, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

class Run {
 public:
    Run(ShellScript& script, const std::map<std::string, std::string>& set)
        : script_(script), scopes_(script), values_(scopes_.variables, script.choices) {
        for (const auto& [name, value] : set) scopes_.fix(name, value);
    }

    void text(std::string_view text, std::int64_t line) {
        ends_.scan(text);
        ShellTokens tokens = tokens_of(text, line, script_.documents.size());
        for (ShellCommand& directive : tokens.directives) {
            learn(directive, scopes_.variables);
            script_.directives.push_back(std::move(directive));
        }
        for (std::string& document : tokens.documents) script_.documents.push_back(std::move(document));
        run(nodes_of(tokens.list, script_.complete));
    }

    void finish() {
        script_.complete = script_.complete && !values_.overflowed && steps_ < kMostSteps;
        scopes_.finish();
        script_.files = files_.texts();
    }

 private:
    void run(const ShellNodes& nodes) {
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

    // A list of commands as a question.
    Truth answer(const ShellNodes& nodes) {
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

    Truth run(const ShellNode& node) {
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

    Truth asked(std::string_view expression) {
        const Truth truth = values_.test(expression);
        if (truth == Truth::unknown) reason_ = why(expression);
        return truth;
    }
    // The name that a question hangs on.
    std::string why(std::string_view expression) {
        const std::vector<std::string> names = open_names(values_.text(expression));
        return names.empty() ? std::string(expression.substr(0, 60)) : names[0];
    }

    std::string assignment_or_sum(const std::string& text) {
        const auto assigned = assigned_sum(text);
        std::string value = values_.sum(assigned ? assigned->second : text);
        if (assigned) scopes_.set(assigned->first, {{{value}}});
        return value;
    }

    void condition(const ShellNode& node, std::size_t i) {
        if (i >= node.clauses.size()) return;
        const ShellClause& clause = node.clauses[i];
        const Truth truth = clause.condition.empty() ? Truth::yes : answer(clause.condition);
        const ShellDoubt doubt(ends_, ends_.doubtful(clause.condition));
        if (truth == Truth::yes) return run(clause.body);
        if (truth == Truth::no) return condition(node, i + 1);
        maybe({[&] { run(clause.body); }, [&] { condition(node, i + 1); }});
    }

    void choice(const ShellNode& node) {
        const std::string value = node.words.empty() ? "" : values_.text(node.words[0].text);
        std::vector<std::function<void()>> ways;
        for (const ShellClause& clause : node.clauses)
            for (const RawWord& raw : clause.patterns) {
                const std::string pattern = values_.text(raw.text);
                if (is_open(value)) {
                    if (pattern != "*") values_.compared(value, pattern);
                } else if (matches(pattern, value)) {
                    const ShellDoubt doubt(ends_, true);
                    return run(clause.body);
                }
            }
        if (!is_open(value)) return;
        reason_ = why(value);
        for (const ShellClause& clause : node.clauses) ways.emplace_back([&] { run(clause.body); });
        maybe(ways);
    }

    void loop(const ShellNode& node) {
        const ShellClause& clause = node.clauses[0];
        if (node.name.empty()) {
            const Truth truth = node.until ? !answer(clause.condition) : answer(clause.condition);
            if (truth == Truth::yes) repeat(clause.body);
            if (truth == Truth::unknown) maybe({[&] { run(clause.body); }, [] {}});
            return;
        }
        ShellWords words;
        for (const RawWord& raw : node.words)
            for (ShellWord& word : values_.words(raw)) words.push_back(std::move(word));
        if (words.empty() && !node.words.empty()) return;
        if (words.size() == 1) {
            scopes_.set(node.name, {{words[0]}});
            return run(clause.body);
        }
        scopes_.set(node.name, {{{open_mark(node.name), node.line}}});
        for (const ShellWord& word : words) values_.compared(open_mark(node.name), word.text);
        repeat(clause.body);
    }

    // More than once: what is another value after a second time is open.
    void repeat(const ShellNodes& body) {
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

    // Several ways to go on, of which the text does not say which: what differs afterwards is open.
    void maybe(const std::vector<std::function<void()>>& ways) {
        const std::string reason = reason_;
        const ShellVariables before = scopes_.variables;
        std::vector<ShellVariables> after;
        steps_ += static_cast<int>(before.size() * ways.size() / 16);
        if (steps_ > kMostSteps) return;
        reasons_.push_back(reason);
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

    // In a shell of its own.
    void alone(const std::function<void()>& way) {
        const bool exited = exited_, returned = returned_;
        steps_ += static_cast<int>(scopes_.variables.size() / 16);
        ShellScopes::Shell shell = scopes_.enter();
        way();
        scopes_.leave(std::move(shell));
        exited_ = exited, returned_ = returned;
    }

    // A part of a pipe that may set something.
    bool is_shell(const ShellNodes& nodes, std::size_t i) const {
        const ShellNode& node = nodes[i];
        const bool piped = node.link == ShellNode::piped || (i + 1 < nodes.size() && nodes[i + 1].link == ShellNode::piped);
        return piped && node.kind != ShellNode::function &&
               (node.kind != ShellNode::simple || (!node.words.empty() && functions_.contains(node.words[0].text)));
    }

    // Whether the word is NAME=value; then it is set.
    bool assign(const RawWord& raw) {
        const std::size_t length = assigned_name(raw.text);
        if (length == 0) return false;
        const std::string name = raw.text.substr(0, length);
        const bool adds = raw.text[length] == '+';
        ShellVariable value = adds ? scopes_.variables[name] : ShellVariable{};
        if (raw.is_list) {
            value.is_list = true;
            for (const RawWord& part : raw.list)
                for (ShellWord& word : values_.words(part)) value.words.push_back(std::move(word));
        } else {
            start_inside(raw);
            std::string text = values_.text(std::string_view(raw.text).substr(length + (adds ? 2 : 1)));
            if (is_printed(text)) text = open_mark(name);  // which says more than the command
            if (adds && !value.words.empty())
                value.words[0].text += text;
            else
                value.words = {{text, raw.line}};
        }
        constexpr std::size_t kLongestList = 20'000;
        if (value.words.size() > kLongestList || (!value.words.empty() && value.words[0].text.size() > kLongestList * 10))
            values_.overflowed = true;
        else
            scopes_.set(name, std::move(value));
        ends_.assigned(raw, length, reasons_.empty());
        return true;
    }

    Truth command(const ShellNode& node) {
        std::size_t i = 0;
        bool negated = false;
        if (i < node.words.size() && node.words[i].text == "!") {
            negated = true;
            ++i;
        }
        const std::size_t first = i;
        while (i < node.words.size() && assigned_name(node.words[i].text) > 0) ++i;
        if (i == node.words.size()) {
            for (std::size_t k = first; k < i; ++k) assign(node.words[k]);
            return Truth::yes;
        }
        ShellCommand found{{}, {}, node.line};
        for (std::size_t k = first; k < i; ++k) {
            const std::size_t length = assigned_name(node.words[k].text);
            found.settings.emplace_back(node.words[k].text.substr(0, length), values_.text(node.words[k].text.substr(length + 1)));
        }
        const std::string& name = node.words[i].text;
        if (one_of(name, {"export", "declare", "local", "readonly", "typeset"})) {
            if (name != "export" && name != "readonly" && (i + 1 == node.words.size() || !node.words[i + 1].text.starts_with("-g")))
                for (std::size_t k = i + 1; k < node.words.size(); ++k) scopes_.make_own(node.words[k].text);
            for (std::size_t k = i + 1; k < node.words.size(); ++k) assign(node.words[k]);
            return Truth::yes;
        }
        for (std::size_t k = i; k < node.words.size(); ++k) {
            start_inside(node.words[k]);
            for (ShellWord& word : values_.words(node.words[k])) found.words.push_back(std::move(word));
        }
        if (found.words.empty()) return Truth::yes;
        const Truth truth = start(found, node.link == ShellNode::piped);
        return negated ? !truth : truth;
    }

    Truth start(ShellCommand& found, bool piped) {
        const std::string name = found.words[0].text;
        if (name == "[" || name == "test") return asked(quoted_words(found.words, name == "["));
        if (one_of(name, {"true", ":"})) return Truth::yes;
        if (name == "false") return Truth::no;
        if (name == "exit") exited_ = true, ends_.meet(found.line, reasons_.empty());
        if (name == "return" && scopes_.note_return()) returned_ = true, steps_ += static_cast<int>(scopes_.variables.size() / 16);
        if (files_.write(found.words, script_.documents, values_)) return Truth::yes;
        if (name == "shift") scopes_.shift(found.words);
        if (name == "let")
            for (std::size_t k = 1; k < found.words.size(); ++k) assignment_or_sum(found.words[k].text);
        if (name == "unset")
            for (std::size_t k = 1; k < found.words.size(); ++k) scopes_.unset(found.words[k].text);
        if (starts_nothing(name)) return Truth::yes;
        if (name == "eval") {
            again(joined_words({found.words.begin() + 1, found.words.end()}), found.line);
            return Truth::yes;
        }
        if (name == "read") {
            const auto own = std::find_if(found.settings.begin(), found.settings.end(), [](const auto& one) { return one.first == "IFS"; });
            values_.read(found.words, script_.documents, own == found.settings.end() ? " \t\n" : own->second);
            return Truth::yes;
        }
        if (const auto function = functions_.find(name); function != functions_.end()) {
            call(function->second, found.words);
            return Truth::yes;
        }
        const bool takes_in = one_of(name, {"source", "."});
        if (auto inner = files_.inside(found.words, piped, script_.documents, values_)) {
            if (takes_in || inner->options) return inside(std::move(*inner));
            alone([&] { inside(std::move(*inner)); });
            return Truth::yes;
        }
        if (takes_in) return Truth::yes;
        // A flag where a program should stand: the line before it ended without a backslash.
        if (name.starts_with("--") && !script_.commands.empty()) {
            ShellWords& words = script_.commands.back().words;
            words.insert(words.end(), found.words.begin(), found.words.end());
            return Truth::yes;
        }
        constexpr std::size_t kMostCommands = 500;
        if (script_.commands.size() < kMostCommands) {
            for (const std::string& reason : reasons_)
                if (!reason.empty()) found.settings.emplace_back("", open_mark(reason));
            found.ended = ends_.line;
            script_.commands.push_back(std::move(found));
        }
        return Truth::unknown;
    }

    // A script inside of it, with what starts its shell before each of its commands.
    Truth inside(ShellInside inner) {
        if (inner.options) return job(std::move(inner));
        const std::size_t before = script_.commands.size();
        const bool exited = exited_;
        const std::int64_t ended = ends_.line;
        again(inner.script.text, inner.script.line);
        for (std::size_t k = before; k < script_.commands.size(); ++k) {
            ShellWords& words = script_.commands[k].words;
            words.insert(words.begin(), inner.launcher.begin(), inner.launcher.end());
        }
        exited_ = exited;  // the shell alone has
        ends_.line = ended;
        return Truth::yes;
    }

    // A scheduler's job: what it is told, and what is set in it, is no other job's.
    Truth job(ShellInside inner) {
        const ShellVariables outside = scopes_.variables;
        std::vector<ShellCommand> directives = std::exchange(script_.directives, {*inner.options});
        const std::size_t before = script_.commands.size();
        leave_job(scopes_.variables);
        learn(*inner.options, scopes_.variables);
        inner.options.reset();
        inside(std::move(inner));
        for (std::size_t k = before; k < script_.commands.size(); ++k) tell_job(script_.directives, scopes_.variables, script_.commands[k]);
        if (script_.commands.size() == before) directives.insert(directives.end(), script_.directives.begin(), script_.directives.end());
        if (script_.commands.size() > before) scopes_.variables = outside;
        script_.directives = std::move(directives);
        return Truth::yes;
    }

    // What a word holds, read once more.
    void again(const std::string& text, std::int64_t line) {
        if (++calls_ <= kDeepestCalls && (steps_ += 10) < kMostSteps) this->text(text, line);
        --calls_;
    }

    // $( … ) and ` … ` start what stands in them: "bash -c `torchrun …`", "JOB=$(sbatch <<EOF …)".
    void start_inside(const RawWord& raw) {
        const std::string& text = raw.text;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\\') {
                ++i;
                continue;
            }
            const bool dollar = text.compare(i, 2, "$(") == 0 && text.compare(i, 3, "$((") != 0;
            if (!dollar && text[i] != '`' && text[i] != '\'') continue;
            const std::size_t begin = i + (dollar ? 1 : 0), end = behind_closing(text, begin);
            const std::string inside = text.substr(begin + 1, std::max(end, begin + 2) - begin - 2);
            if (text[i] != '\'' && launches_training(inside)) alone([&] { again(inside, raw.line); });
            i = std::max(end, i + 1) - 1;
        }
    }

    void call(const std::vector<ShellClause>& body, const ShellWords& words) {
        if (++calls_ <= kDeepestCalls && !body.empty()) {
            scopes_.call(words);
            const ShellNodes nodes(body[0].body);  // it may define itself anew
            run(nodes);
            scopes_.back(std::exchange(returned_, false), reason_);
        }
        --calls_;
    }

    ShellScript& script_;
    ShellScopes scopes_;
    ShellValues values_;
    ShellFiles files_;
    std::map<std::string, std::vector<ShellClause>> functions_;
    std::vector<std::string> reasons_;
    ShellEnds ends_;
    std::string reason_;
    int steps_ = 0, calls_ = 0;
    bool exited_ = false, returned_ = false;  // on the way that is followed
};

}  // namespace

ShellScript read_shell(std::string_view text, const std::map<std::string, std::string>& set, std::int64_t first_line) {
    ShellScript script;
    Run run(script, set);
    run.text(text, first_line);
    run.finish();
    return script;
}

}  // namespace fourfold
