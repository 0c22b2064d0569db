// What a command of a script does: it sets a name, calls a function, starts a script inside of this one, or is a job.
#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "formats/entries.h"
#include "formats/shell/run.h"

namespace fourfold {

static bool one_of(std::string_view word, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

std::string ShellRun::assignment_or_sum(const std::string& text) {
    const auto assigned = assigned_sum(text);
    std::string value = values_.sum(assigned ? assigned->second : text);
    if (assigned) scopes_.set(assigned->first, {{{value}}});
    return value;
}

bool ShellRun::assign(const RawWord& raw) {
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
        if (sums_.contains(name)) text = values_.sum(text);
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
    if (const auto other = refs_.find(name); other != refs_.end()) scopes_.set(other->second, scopes_.variables[name]);
    ends_.assigned(raw, length, reasons_.empty());
    return true;
}

// NAME[2]=value, NAME["key"]=value. In quotes it is a name; without them it may be a sum that says which place.
bool ShellRun::assign_element(const RawWord& raw) {
    const std::string& word = raw.text;
    const std::size_t length = name_end(word, 0);
    if (length == 0 || length >= word.size() || word[length] != '[' || std::isdigit(static_cast<unsigned char>(word[0])) != 0) return false;
    const std::size_t plain = word.find("]="), more = word.find("]+="), close = std::min(plain, more);
    if (close == std::string::npos || word.find_first_of(" \n") < close) return false;
    const std::string name = word.substr(0, length), written = word.substr(length + 1, close - length - 1);
    std::string key = values_.text(written), text = values_.text(std::string_view(word).substr(close + (more < plain ? 3 : 2)));
    if (is_printed(text)) text = open_mark(name);
    const bool quoted = written.find_first_of("\"'") != std::string::npos;
    ShellWords words = scopes_.variables[name].words;
    const bool named = std::any_of(words.begin(), words.end(), [](const ShellWord& one) { return one.text.starts_with('['); });
    const auto is_number = [](std::string_view digits) {
        return !digits.empty() && digits.size() < 5 && digits.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (std::string sum = quoted || named ? "" : values_.sum(written); is_number(sum)) key = std::move(sum);
    const std::size_t place = is_number(key) && !named ? std::stoul(key) : words.size() + 1;
    const std::string mark = joined({"[", key, "]="});
    const auto known = std::find_if(words.begin(), words.end(), [&](const ShellWord& one) { return one.text.starts_with(mark); });
    if (is_open(key))
        words.push_back({open_mark(name), raw.line});
    else if (place <= words.size())
        place == words.size() ? words.push_back({text, raw.line})
                              : (words[place] = {more < plain ? words[place].text + text : text, raw.line}, void());
    else if (known != words.end())
        *known = {(more < plain ? known->text : mark) + text, raw.line};
    else
        words.push_back({mark + text, raw.line});
    constexpr std::size_t kLongestList = 20'000;
    if (words.size() <= kLongestList) scopes_.set(name, {std::move(words), true});
    return true;
}

Truth ShellRun::command(const ShellNode& node) {
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
        if (i + 3 == node.words.size() && node.words[i + 1].text == "-n" && assigned_name(node.words[i + 2].text) > 0) {
            const std::string& word = node.words[i + 2].text;  // another name of a variable
            const std::size_t length = assigned_name(word);
            const std::string own = word.substr(0, length), other = values_.text(word.substr(length + 1));
            scopes_.set(own, scopes_.variables[other]);
            refs_[own] = other;
            return Truth::yes;
        }
        if (i + 1 < node.words.size() && node.words[i + 1].text == "-i")
            for (std::size_t k = i + 2; k < node.words.size(); ++k)
                sums_.insert(node.words[k].text.substr(0, name_end(node.words[k].text, 0)));
        for (std::size_t k = i + 1; k < node.words.size(); ++k) assign(node.words[k]);
        return Truth::yes;
    }
    if (i + 1 == node.words.size() && assign_element(node.words[i])) return Truth::yes;
    for (std::size_t k = i; k < node.words.size(); ++k) {
        start_inside(node.words[k]);
        for (ShellWord& word : values_.words(node.words[k])) found.words.push_back(std::move(word));
    }
    if (found.words.empty()) return Truth::yes;
    const Truth truth = start(found, node.link == ShellNode::piped);
    return negated ? !truth : truth;
}

void ShellRun::note_answer(const ShellCommand& found) {
    const std::string status = found.words.size() > 1 ? found.words[1].text : "0";
    answered_ = status == "0" ? Truth::yes : status.find_first_not_of("0123456789") == status.npos ? Truth::no : Truth::unknown;
}

void ShellRun::set_words(const ShellCommand& found) {
    if (found.words.size() < 2 || found.words[1].text != "--") return;
    const bool parsed = found.words.size() == 3 && is_one_name(found.words[2].text);  // by getopt, of no words
    scopes_.give(parsed ? ShellWords{{"--", found.line}} : ShellWords(found.words.begin() + 2, found.words.end()));
}

// "env TP=4 bash -c …", "docker run -e TP=4 image bash -c …", "srun --export=ALL,TP=4 bash -c …"
static void set_for_inner(ShellCommand& found) {
    bool own = found.words[0].text == "env";
    for (std::size_t k = 1; k < found.words.size() && k < 100; ++k) {
        std::string_view word = found.words[k].text;
        const bool exports = word.starts_with("--export=");
        own = own && (assigned_name(word) > 0 || word[0] == '-');
        if (word.starts_with("--env=")) word.remove_prefix(6);
        if (exports) word.remove_prefix(std::min(word.find(',') + 1, word.size()));
        const bool counts = own || exports || word.size() < found.words[k].text.size() || one_of(found.words[k - 1].text, {"-e", "--env"});
        const std::size_t length = counts ? assigned_name(word) : 0;
        if (length > 0) found.settings.emplace_back(word.substr(0, length), word.substr(length + 1));
    }
}

Truth ShellRun::start(ShellCommand& found, bool piped) {
    const std::string name = found.words[0].text;
    if (name == "[" || name == "test") return asked(quoted_words(found.words, name == "["));
    if (one_of(name, {"true", ":"})) return Truth::yes;
    if (name == "false") return Truth::no;
    if (name == "exit") exited_ = true, ends_.meet(found.line, reasons_.empty());
    if (name == "return") note_answer(found);
    if (name == "return" && scopes_.note_return()) returned_ = true, steps_ += static_cast<int>(scopes_.variables.size() / 16);
    if (files_.write(found.words, script_.documents, values_)) return Truth::yes;
    if (printed_ != nullptr && name == "echo") {
        printed_->text += (printed_->text.empty() ? "" : "\n") + joined_words({found.words.begin() + 1, found.words.end()});
        return Truth::yes;
    }
    if (name == "set") set_words(found);
    if (name == "shift") scopes_.shift(found.words);
    if (name == "let")
        for (std::size_t k = 1; k < found.words.size(); ++k) assignment_or_sum(found.words[k].text);
    if (name == "unset")
        for (std::size_t k = 1; k < found.words.size(); ++k) scopes_.unset(found.words[k].text);
    if (name == "printf" && found.words.size() > 3 && found.words[1].text == "-v") values_.print(found.words);
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
    if (name == "xargs") found.words.push_back({open_mark(name), found.line});  // what it is given
    if (name == "mapfile" || name == "readarray") return values_.read_lines(found.words, script_.documents), Truth::yes;
    if (const auto function = functions_.find(name); function != functions_.end()) {
        answered_ = Truth::yes;
        with_settings(found, [&] { call(function->second, found.words); });
        return std::exchange(answered_, Truth::yes);
    }
    set_for_inner(found);
    const bool takes_in = one_of(name, {"source", "."});
    if (auto inner = files_.inside(found.words, piped, script_.documents, values_)) {
        if (takes_in || inner->options) return inside(std::move(*inner));
        with_settings(found, [&] { alone([&] { inside(std::move(*inner)); }); });
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

Truth ShellRun::inside(ShellInside inner) {
    if (inner.options) return job(std::move(inner));
    const std::size_t before = script_.commands.size();
    const bool exited = exited_;
    const std::int64_t ended = ends_.line;
    if (!inner.given.empty()) scopes_.give(std::move(inner.given));
    again(inner.script.text, inner.script.line);
    for (std::size_t k = before; k < script_.commands.size(); ++k) {
        ShellWords& words = script_.commands[k].words;
        words.insert(words.begin(), inner.launcher.begin(), inner.launcher.end());
    }
    exited_ = exited;  // the shell alone has
    ends_.line = ended;
    return Truth::yes;
}

Truth ShellRun::job(ShellInside inner) {
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

void ShellRun::again(const std::string& text, std::int64_t line) {
    if (++calls_ <= kDeepestCalls && (steps_ += 10) < kMostSteps) this->text(text, line);
    --calls_;
}

void ShellRun::start_inside(const RawWord& raw) {
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

void ShellRun::with_settings(const ShellCommand& found, const std::function<void()>& way) {
    std::map<std::string, std::optional<ShellVariable>> before;
    for (const auto& [name, value] : found.settings) {
        const auto known = scopes_.variables.find(name);
        before.try_emplace(name, known == scopes_.variables.end() ? std::nullopt : std::optional(known->second));
        scopes_.set(name, {{{value, found.line}}});
    }
    way();
    for (auto& [name, value] : before)
        if (value)
            scopes_.set(name, std::move(*value));
        else
            scopes_.unset(name);
}

std::optional<std::string> ShellRun::printed(const ShellWords& words) {
    const auto function = functions_.find(words[0].text);
    if (function == functions_.end()) return std::nullopt;
    Printed own, *outer = std::exchange(printed_, &own);
    alone([&] { call(function->second, words); });
    printed_ = outer;
    return own.sure && !own.text.empty() ? std::optional(std::move(own.text)) : std::nullopt;
}

void ShellRun::call(const std::vector<ShellClause>& body, const ShellWords& words) {
    if (++calls_ <= kDeepestCalls && !body.empty()) {
        scopes_.call(words);
        const ShellNodes nodes(body[0].body);  // it may define itself anew
        run(nodes);
        scopes_.back(std::exchange(returned_, false), reason_);
    }
    --calls_;
}

}  // namespace fourfold
