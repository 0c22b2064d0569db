#include "formats/python/commands.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "formats/document_settings.h"
#include "formats/python/tokens.h"
#include "formats/shell/files.h"
#include "formats/shell/script_commands.h"
#include "formats/shell/shell.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostTries = 60, kFewestWords = 4, kLongestFile = 100'000;
using CommandTokens = std::vector<PythonToken>;

// One element of a list: how the shell reads it, and whether it is a text.
struct Word {
    std::string shell;
    std::string plain;
    std::int64_t line = 0;
    bool is_text = false;
    std::string written{};  // what is no text
};

std::string with_underscores(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !in_name(c); }, '_');
    return name;
}

class Words {
 public:
    Words(const CommandTokens& tokens, const std::vector<Entry>& all) : tokens_(tokens) {
        for (const Entry& entry : all) {
            if (entry.open.size() == 1 && entry.open[0] == "args." + entry.key) continue;  // "gpus=args.gpus" says no more of it
            const auto known = values_.find(entry.key);
            const bool other = known != values_.end() && known->second != entry.value;
            values_[entry.key] = other || !entry.open.empty() ? Json() : entry.value;
        }
    }

    // Texts side by side are one; f"{x}" has the value of x, or leaves it open. `at` goes behind them.
    std::optional<Word> text(std::size_t& at) const {
        Word word{"", "", at < tokens_.size() ? tokens_[at].line : 0, true};
        const std::size_t begin = at;
        for (; at < tokens_.size(); ++at) {
            const bool computed = tokens_[at].kind == PythonToken::name && tokens_[at].value.size() <= 2 && at + 1 < tokens_.size() &&
                                  tokens_[at + 1].kind == PythonToken::text && tokens_[at].value.find_first_of("fF") != std::string::npos;
            if (computed) ++at;
            if (tokens_[at].kind != PythonToken::text) break;
            add(tokens_[at].value, computed, word);
        }
        return at == begin ? std::nullopt : std::optional(std::move(word));
    }

    // The elements of the list whose bracket opens at `at`, which goes behind it.
    std::vector<Word> list(std::size_t& at) const {
        std::vector<Word> words;
        for (++at; at < tokens_.size() && !closes(at) && left_ > 0;) {
            const std::size_t begin = at;
            auto word = text(at);
            if (word && (has_sign_at(tokens_, at, ",") || closes(at))) {
                words.push_back(std::move(*word));
            } else {
                at = begin;
                words.push_back(other(at));
            }
            if (has_sign_at(tokens_, at, ",")) ++at;
        }
        ++at;
        return words;
    }

 private:
    bool closes(std::size_t at) const {
        return has_sign_at(tokens_, at, "]") || has_sign_at(tokens_, at, ")") || has_sign_at(tokens_, at, "}");
    }

    // A name, str(name), or what is computed.
    Word other(std::size_t& at) const {
        Word word{"", "", tokens_[at].line, false};
        const std::size_t begin = at;
        int depth = 0;
        for (; at < tokens_.size() && left_ > 0 && (depth > 0 || (!has_sign_at(tokens_, at, ",") && !closes(at))); ++at, --left_) {
            if (has_sign_at(tokens_, at, "(") || has_sign_at(tokens_, at, "[") || has_sign_at(tokens_, at, "{")) ++depth;
            if (closes(at)) --depth;
        }
        word.written = written_value(tokens_, begin);
        const bool cast = tokens_[begin].value == "str" && at == begin + 4;
        const std::size_t name = begin + (cast ? 2 : 0);
        const bool alone = (cast || at == begin + 1) && name < tokens_.size();
        add_value(alone ? tokens_[name].value : word.written, word);
        return word;
    }

    void add(std::string_view text, bool computed, Word& word) const {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            const bool doubled = computed && (c == '{' || c == '}') && text.substr(i + 1, 1) == std::string_view(&text[i], 1);
            if (doubled) ++i;  // "{{" stands for "{"
            const std::size_t end = computed && !doubled && c == '{' ? text.find('}', i) : std::string_view::npos;
            if (end != std::string_view::npos) {
                add_value(std::string(text.substr(i + 1, end - i - 1)), word);
                i = end;
                continue;
            }
            const bool escaped = c == '\\' && i + 1 < text.size();
            if (escaped) ++i;
            const char one = escaped ? (text[i] == 'n' || text[i] == '\n' ? ' ' : text[i]) : c;
            word.plain += one;
            if (one == '"' || one == '\\' || one == '$' || one == '`') word.shell += '\\';
            word.shell += one;
        }
    }

    void add_value(std::string name, Word& word) const {
        auto known = values_.find(name);
        if (known == values_.end() && name.starts_with("args.")) known = values_.find(name.substr(5));  // the default of a field
        const Json value = known == values_.end() ? Json() : known->second;
        if (value.is_string() || value.is_number()) {
            const std::string text = value.is_string() ? value.get<std::string>() : dumped(value);
            word.plain += text;
            word.shell += text;
            return;
        }
        if (const std::size_t choice = name.find(" if "); choice != std::string::npos) {  // "16 if args.small else 256"
            name.erase(0, choice + 4);
            name.resize(std::min(name.find(' '), name.size()));
        }
        name = with_underscores(std::move(name));
        if (name.empty() || !starts_name(name[0])) name.insert(name.begin(), '_');
        word.plain += "${" + name.substr(0, 60) + "}";
        word.shell += "${" + name.substr(0, 60) + "}";
    }

    const CommandTokens& tokens_;
    std::map<std::string, Json> values_;
    mutable int left_ = 2'000'000;  // brackets that stand in each other are read once for each
};

// "model_name=llama2-7b", … without a program: what stands beside them is the file that they change.
std::optional<ReadJobs> settings_of(const std::vector<Word>& words, const NamesSet& set) {
    ShellCommand command;
    std::string file;
    for (const Word& word : words) {
        if (word.is_text && word.plain.find('=') != std::string::npos)
            command.words.push_back({word.plain, word.line});
        else if (command.words.empty())
            file = word.is_text ? word.plain : word.written;
    }
    if (command.words.size() < kFewestWords) return std::nullopt;
    command.words.insert(command.words.begin(), {"settings.yml", words[0].line});
    std::vector<Entry> entries = overrides_of(command);
    for (Entry& entry : entries)
        if (auto* const text = entry.value.get_ptr<Json::string_t*>(); text != nullptr && text->find("${") != std::string::npos) {
            const std::size_t begin = text->find("${") + 2;
            entry.open = {text->substr(begin, text->find('}', begin) - begin)};
        }
    const FormatReader* const reader = reader_of(entries);
    if (reader == nullptr) return std::nullopt;
    if (!file.empty() && reader->id == "maxtext") entries.push_back({"base_config", "", file, words[0].line});
    return read_setting_jobs(std::move(entries), set);
}

bool has_program(const std::vector<Word>& words) {
    return std::any_of(words.begin(), words.end(), [](const Word& word) {
        return word.is_text && (word.plain.ends_with(".py") || word.plain == "-m" || word.plain == "torchrun" || word.plain == "train");
    });
}

// "bash -x examples/pretrain.sh --num-layers 8": what a script elsewhere is given.
bool starts_script(std::string_view text) {
    const std::size_t shell = text.find("sh "), script = text.find(".sh ", shell == std::string_view::npos ? 0 : shell);
    return shell < script && script != std::string_view::npos && text.find(" --", script) != std::string_view::npos;
}

// What the "if" hangs on that a statement stands under, "" where it stands under none.
std::string condition_of(const CommandTokens& tokens, std::size_t at) {
    for (std::size_t i = at, column = tokens[at].column; i-- > 0;) {
        const bool opens = tokens[i].kind == PythonToken::name && (i == 0 || tokens[i - 1].kind == PythonToken::line_end);
        if (!opens || tokens[i].column >= column) continue;
        column = tokens[i].column;
        const std::string& word = tokens[i].value;
        if (word == "def" || word == "class") break;
        if (word != "if" && word != "elif" && word != "else" && word != "for" && word != "while") continue;
        std::size_t name = i + 1;
        while (name < tokens.size() && (tokens[name].kind != PythonToken::name || tokens[name].value == "not")) ++name;
        std::string open = name < tokens.size() ? tokens[name].value.substr(0, 60) : "";
        open = with_underscores(std::move(open));
        if (!open.starts_with("__name__")) return open.empty() ? "if" : open;
    }
    return "";
}

// "sys.argv += [...]", "sys.argv = [...]", ".extend([...])", ".append(...)": what the program is told, one after the other, as a command.
std::optional<ReadJobs> read_arguments(const CommandTokens& tokens, const Words& reader, const NamesSet& set) {
    std::string command;
    std::int64_t line = 0;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const std::string& name = tokens[i].value;
        if (tokens[i].kind != PythonToken::name || !name.starts_with("sys.argv")) continue;
        std::size_t end = i + 1;
        if (name == "sys.argv" && !has_sign_at(tokens, end, "=") && !has_sign_at(tokens, end, "+") && !has_sign_at(tokens, end, "+="))
            continue;
        while (has_sign_at(tokens, end, "+") || has_sign_at(tokens, end, "=") || has_sign_at(tokens, end, "+=")) ++end;
        if (has_sign_at(tokens, end, "(") && has_sign_at(tokens, end + 1, "[")) ++end;
        if (!has_sign_at(tokens, end, "[") && !has_sign_at(tokens, end, "(")) continue;
        const std::string open = condition_of(tokens, i);
        if (line == 0) line = tokens[i].line;
        i = end;
        for (const Word& word : reader.list(i))
            if (open.empty())
                command += " \"" + word.shell + "\"";
            else if (word.plain.starts_with("--"))
                command += " \"" + word.plain.substr(0, word.plain.find('=')) + "=${" + open + "}\"";
        --i;
    }
    return line > 0 ? read_script("python __main__.py" + command, set, line) : std::nullopt;
}

// Of texts that are one of two, what the choice hangs on: "a" if mode == "x" else "b".
std::string choice_around(const CommandTokens& tokens, std::size_t begin, std::size_t end) {
    std::size_t before = begin, after = end;
    while (before > 0 && has_sign_at(tokens, before - 1, "(")) --before;
    while (has_sign_at(tokens, after, ")")) ++after;
    std::size_t choice = is_token(tokens, after, PythonToken::name, "if") ? after : tokens.size();
    if (before > 0 && is_token(tokens, before - 1, PythonToken::name, "else"))
        for (choice = before - 1; choice > 0 && !is_token(tokens, choice, PythonToken::name, "if");) --choice;
    return choice + 1 < tokens.size() ? with_underscores(tokens[choice + 1].value) : condition_of(tokens, begin);
}

// slime and miles: execute_train(train_args=…), which the program puts together from texts with several arguments each.
std::optional<ReadJobs> read_told_texts(const CommandTokens& tokens, const Words& reader, const NamesSet& set) {
    std::string command;
    std::int64_t line = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::size_t end = i;
        const auto one = reader.text(end);
        if (!one) continue;
        const std::string open = choice_around(tokens, i, end);
        i = end - 1;
        if (!one->plain.starts_with("--") || one->plain.find(' ') == std::string::npos) continue;
        if (line == 0) line = one->line;
        if (open.empty()) {
            command += " " + one->plain;
            continue;
        }
        for (std::size_t at = one->plain.find("--"); at != std::string::npos; at = one->plain.find(" --", at + 1)) {
            const std::size_t begin = one->plain[at] == ' ' ? at + 1 : at;
            command += " " + one->plain.substr(begin, one->plain.find(' ', begin) - begin) + "=${" + open + "}";
        }
    }
    return line > 0 ? read_script("python train.py" + command, set, line) : std::nullopt;
}

// A text of many lines that is a file of settings.
std::optional<ReadJobs> read_file_inside(const Word& text, const NamesSet& set) {
    constexpr std::ptrdiff_t kFewestLines = 5;
    constexpr std::size_t kFewestSettings = 5;
    if (std::count(text.plain.begin(), text.plain.end(), '\n') < kFewestLines) return std::nullopt;
    for (const auto& settings : {yaml_settings, toml_settings}) {
        std::vector<Entry> entries = settings(text.plain, text.line);
        const FormatReader* const reader = entries.size() < kFewestSettings ? nullptr : reader_of(entries);
        if (reader == nullptr) continue;
        fill_in(entries, set);
        return read_setting_jobs(std::move(entries), set);
    }
    return std::nullopt;
}

}  // namespace

std::optional<ReadJobs> read_python_commands(std::string_view text, const std::vector<Entry>& all, const NamesSet& set) {
    const CommandTokens tokens = python_tokens(text);
    const Words reader(tokens, all);
    if (auto read = read_arguments(tokens, reader, set)) return read;
    if (puts_arguments_together(text)) return read_told_texts(tokens, reader, set);
    std::size_t tries = 0;
    for (std::size_t i = 0; i < tokens.size() && tries < kMostTries; ++i) {
        if (has_sign_at(tokens, i, "[") || has_sign_at(tokens, i, "(")) {
            std::size_t end = i;
            const std::vector<Word> words = reader.list(end);
            if (words.size() < kFewestWords) continue;
            std::string command;
            for (const Word& word : words) command += (command.empty() ? "\"" : " \"") + word.shell + "\"";
            ++tries;
            if (auto read = has_program(words) ? read_script(command, set, words[0].line) : settings_of(words, set)) return read;
            continue;
        }
        std::size_t end = i;
        const auto one = reader.text(end);
        if (!one) continue;
        if (holds_command(one->plain) || starts_script(one->plain)) {
            ++tries;
            if (auto read = read_script(one->plain, set, one->line)) return read;
        }
        if (tries < kMostTries && one->plain.size() < kLongestFile)
            if (auto read = read_file_inside(*one, set)) return read;
        i = end - 1;
    }
    return std::nullopt;
}

}  // namespace fourfold
