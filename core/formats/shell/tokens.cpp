#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "formats/shell/parts.h"

namespace fourfold {

std::string open_mark(std::string_view name) {
    std::string mark(name);
    std::erase_if(mark, [](char c) { return c == kOpen || c == kClose; });
    return kOpen + mark + kClose;
}
bool is_open(std::string_view text) { return text.find(kOpen) != std::string_view::npos; }

std::vector<std::string> open_names(std::string_view text) {
    std::vector<std::string> names;
    for (std::size_t at = text.find(kOpen); at != std::string_view::npos; at = text.find(kOpen, at + 1)) {
        std::string name(text.substr(at + 1, text.find(kClose, at) - at - 1));
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    return names;
}

std::string without_marks(std::string_view text) {
    std::string plain;
    for (const char c : text)
        if (c == kOpen)
            plain += "${";
        else if (c == kClose)
            plain += '}';
        else
            plain += c;
    return plain;
}

std::size_t behind_mark(std::string_view text, std::size_t at) {
    const std::size_t end = text.find(kClose, at);
    return end == std::string_view::npos ? at + 1 : end + 1;
}

bool is_one_name(std::string_view word) { return word.size() > 2 && word[0] == kOpen && behind_mark(word, 0) == word.size(); }

bool is_printed(std::string_view text) {
    return text.size() > 3 && text[0] == kOpen && text.substr(1).starts_with("$(") && behind_mark(text, 0) == text.size();
}

// The place of the closing sign is the last one where there is none.
static std::size_t behind_closing_within(std::string_view text, std::size_t at, int depth) {
    constexpr int kDeepest = 100;
    if (depth > kDeepest) return text.size();
    const char open = text[at];
    const char close = open == '(' ? ')' : open == '{' ? '}' : open;
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        const char c = text[i];
        if (c == close) return i + 1;
        if (c == kOpen) {
            i = behind_mark(text, i) - 1;
            continue;
        }
        if (open == '\'') continue;
        if (c == '\\')
            ++i;
        else if (c == '$' && i + 1 < text.size() && (text[i + 1] == '(' || text[i + 1] == '{') && open != '`')
            i = behind_closing_within(text, i + 1, depth + 1) - 1;
        else if (open != '"' && open != '`' && (c == '"' || c == '\'' || c == '`' || c == open))
            i = behind_closing_within(text, i, depth + 1) - 1;
    }
    return text.size();
}
std::size_t behind_closing(std::string_view text, std::size_t at) { return behind_closing_within(text, at, 0); }

namespace {

// "I'm", "doesn't" in a text around a command: no quote begins there.
bool is_apostrophe(std::string_view text, std::size_t at) {
    if (at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0) return false;
    const std::size_t end = std::min(text.find_first_of(" \n.,", at), text.size());
    const std::string_view rest = text.substr(at + 1, end - at - 1);
    constexpr std::string_view kEnds[] = {"s", "t", "m", "d", "re", "ll", "ve"};
    return std::find(std::begin(kEnds), std::end(kEnds), rest) != std::end(kEnds);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_word(char c) {
    return is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' || c == '(' || c == ')';
}

class Lexer {
 public:
    Lexer(std::string_view text, std::int64_t line, std::size_t documents) : text_(text), line_(line), documents_(documents) {}

    ShellTokens read() {
        while (at_ < text_.size()) step();
        return std::move(found_);
    }

 private:
    char now(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
    bool at_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }
    bool at_command_start() const {
        if (found_.list.empty()) return true;
        const ShellToken& last = found_.list.back();
        if (last.kind == ShellToken::end_of_line || last.kind == ShellToken::sign) return true;
        constexpr std::string_view kBefore[] = {"if", "elif", "while", "until", "then", "do", "else", "!", "{"};
        return last.kind == ShellToken::word && std::find(std::begin(kBefore), std::end(kBefore), last.raw.text) != std::end(kBefore);
    }

    bool behind_for() const {
        return !found_.list.empty() && found_.list.back().kind == ShellToken::word && found_.list.back().raw.text == "for";
    }

    void step() {
        if (skip_blanks()) return;
        const char c = now();
        if (c == '\n') return end_line();
        if (c == '#') return comment();
        if (at_command_start() && starts("[[") && (is_blank(now(2)) || now(2) == '\n')) return whole(ShellToken::test, "[[", "]]");
        if ((at_command_start() || behind_for()) && starts("((")) return whole(ShellToken::sum, "((", "))");
        if (c == '<' || c == '>' || (c == '&' && now(1) == '>')) return redirection();
        for (const char* sign : {";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")"})
            if (starts(sign)) {
                add(ShellToken::sign, {sign, line_});
                at_ += std::string_view(sign).size();
                return;
            }
        RawWord word = read_word();
        const bool digits = !word.text.empty() && word.text.size() < 3 && word.text.find_first_not_of("0123456789") == std::string::npos;
        if (digits && (now() == '<' || now() == '>')) return;  // 2>&1
        for (std::string& one : in_braces(word.text, brace_words_))
            add(ShellToken::word, {std::move(one), word.line, word.is_list, word.list});
    }

    // Blanks, and a backslash that continues the line. People leave blanks behind it.
    bool skip_blanks() {
        if (is_blank(now())) return ++at_, true;
        if (now() != '\\') return false;
        std::size_t end = at_ + 1;
        while (end < text_.size() && is_blank(text_[end])) ++end;
        if (end < text_.size() && text_[end] != '\n') return false;
        at_ = end + 1;
        ++line_;
        return true;
    }

    void end_line() {
        add(ShellToken::end_of_line, {"", line_});
        const auto waiting = std::exchange(waiting_, {});
        const std::string_view margin = waiting.empty() ? "" : margin_here();
        ++at_;
        ++line_;
        for (const auto& [end, indented] : waiting) read_document(end, indented, margin);
    }

    void comment() {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        const std::string_view text = text_.substr(at_, end - at_);
        if (at_line_start())
            for (const char* scheduler : {"#SBATCH", "#PBS", "#$", "#BSUB", "#PJM"})
                if (text.starts_with(scheduler)) directive(text, std::string_view(scheduler).size());
        at_ = end;
    }

    void directive(std::string_view text, std::size_t length) {
        ShellCommand found{{{std::string(text.substr(1, length - 1)), line_}}, {}, line_};
        std::string word;
        for (const char c : std::string(text.substr(length)) + " ") {
            if (c == '#' && word.empty()) break;
            if (!is_blank(c)) {
                if (c != '"' && c != '\'') word += c;
            } else if (!word.empty()) {
                found.words.push_back({std::exchange(word, {}), line_});
            }
        }
        found_.directives.push_back(std::move(found));
    }

    void whole(ShellToken::Kind kind, std::string_view open, std::string_view close) {
        const std::size_t begin = at_ + open.size(), end = std::min(text_.find(close, begin), text_.size());
        const std::string_view inside = text_.substr(begin, end - begin);
        add(kind, {std::string(inside), line_});
        line_ += std::count(inside.begin(), inside.end(), '\n');
        at_ = std::min(end + close.size(), text_.size());
    }

    // Where output goes is passed over, here-documents are kept.
    void redirection() {
        if (const std::size_t end = placeholder_end(); end > 0) return add(ShellToken::word, read_word());
        if (starts("<(") && in_command({"read", "mapfile", "readarray"})) return what_is_printed();
        const bool document = starts("<<") && !starts("<<<");
        const bool indented = document && now(2) == '-', adds = starts(">>"), errors = at_ > 0 && text_[at_ - 1] == '2',
                   to_file = now() == '>' && now(1) != '&' && !errors;
        const bool read_text = starts("<<<") && in_command({"read", "mapfile", "readarray", "awk"});
        const bool to_errors = (starts(">&2") || starts(">/dev/stderr")) && in_command({"echo"});
        at_ += indented ? 3 : 0;
        while (now() == '<' || now() == '>' || now() == '&') ++at_;
        while (is_blank(now())) ++at_;
        if (ends_word(now())) return;
        RawWord target = read_word();
        if (to_errors) target.text = kErrors;
        if (!document) {
            if (read_text) {
                add(ShellToken::word, {"<<<", line_});
                add(ShellToken::word, std::move(target));
            } else if (to_errors || (to_file && in_command({"cat", "echo", "sed"}))) {
                add(ShellToken::word, {adds ? ">>" : ">", line_});
                add(ShellToken::word, std::move(target));
            }
            return;
        }
        std::string end;
        std::copy_if(target.text.begin(), target.text.end(), std::back_inserter(end),
                     [](char c) { return c != '"' && c != '\'' && c != '\\'; });
        if (in_command({"read", "mapfile", "readarray", "cat", "sed", "tee", "sbatch", "qsub", "bsub", "bash", "sh"})) {
            std::string word = kDocument + std::to_string(documents_ + found_.documents.size() + waiting_.size());
            if (end != target.text) word += kAsItIs;
            add(ShellToken::word, {std::move(word), line_});
        }
        waiting_.emplace_back(std::move(end), indented);
    }

    // "read A B < <(sizes 7b)": the text that a command prints.
    void what_is_printed() {
        const std::size_t end = behind_closing(text_, at_ + 1);
        add(ShellToken::word, {"<<<", line_});
        add(ShellToken::word, {joined({"\"$", text_.substr(at_ + 1, end - at_ - 1), "\""}), line_});
        line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
        at_ = end;
    }

    // Whether one of these stands in the command: they take a document as a value, a file or a script.
    bool in_command(std::initializer_list<std::string_view> names) const {
        for (auto one = found_.list.rbegin(); one != found_.list.rend() && one->kind == ShellToken::word; ++one)
            if (std::find(names.begin(), names.end(), one->raw.text) != names.end()) return true;
        return false;
    }

    // The blanks before the line that ends here.
    std::string_view margin_here() const {
        const std::size_t before = at_ == 0 ? std::string_view::npos : text_.rfind('\n', at_ - 1);
        const std::string_view line = text_.substr(before + 1, at_ - before - 1);
        return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
    }

    // It ends below its command's first letter too, as where a script stands indented in a file of a cluster's settings.
    void read_document(const std::string& end, bool indented, std::string_view margin) {
        std::string content, moved;
        while (at_ < text_.size()) {
            const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
            std::string_view line = text_.substr(at_, stop - at_);
            at_ = std::min(stop + 1, text_.size());
            ++line_;
            if (line.ends_with('\r')) line.remove_suffix(1);
            std::string_view bare = line;
            while (indented && bare.starts_with('\t')) bare.remove_prefix(1);
            if (bare == end) break;
            content.append(bare).push_back('\n');
            if (margin.empty() || indented) continue;
            if (line.starts_with(margin)) line.remove_prefix(margin.size());
            if (line == end) {
                content = std::move(moved);
                break;
            }
            moved.append(line).push_back('\n');
        }
        found_.documents.push_back(std::move(content));
    }

    // "<path to the data>", to be filled in by people: a word, though the shell would take it for two files. 0: it is none.
    std::size_t placeholder_end() const {
        if (now() != '<' || std::isalpha(static_cast<unsigned char>(now(1))) == 0) return 0;
        const std::size_t end = text_.find_first_of("<>|&;\n\"'`$", at_ + 1);
        if (end == std::string_view::npos || text_[end] != '>' || is_blank(text_[end - 1])) return 0;
        const bool numbered = std::isdigit(static_cast<unsigned char>(text_[end - 1])) != 0 && is_blank(text_[end - 2]);  // "2>"
        return numbered ? 0 : end + 1;
    }

    RawWord read_word(bool may_be_list = true) {
        RawWord word{"", line_};
        while (at_ < text_.size()) {
            const char c = now();
            if (may_be_list && c == '(' && word.text.ends_with('=') && name_length(word.text) > 0) return read_list(std::move(word));
            if (const std::size_t end = placeholder_end(); end > 0) {
                word.text += joined({"'", text_.substr(at_, end - at_), "'"});
                at_ = end;
                continue;
            }
            if (ends_word(c)) break;
            if (c == '\\') {
                if (now(1) == '\n')
                    ++line_;
                else
                    word.text.append(text_.substr(at_, 2));
                at_ += 2;
                continue;
            }
            if (c == '\'' && is_apostrophe(text_, at_)) {
                word.text += "\\'";
                ++at_;
                continue;
            }
            if (c == '$' && now(1) == '\'') {
                const std::size_t begin = at_;
                word.text += ansi_quoted(text_, at_);
                const std::string_view part = text_.substr(begin, at_ - begin);
                line_ += std::count(part.begin(), part.end(), '\n');
                continue;
            }
            std::size_t end = at_ + 1;
            if (c == '"' || c == '\'' || c == '`')
                end = behind_closing(text_, at_);
            else if (c == '$' && (now(1) == '(' || now(1) == '{'))
                end = behind_closing(text_, at_ + 1);
            else if (c == kOpen)
                end = behind_mark(text_, at_);
            const std::string_view part = text_.substr(at_, end - at_);
            line_ += std::count(part.begin(), part.end(), '\n');
            word.text += part;
            at_ = end;
        }
        at_ = std::min(at_, text_.size());
        return word;
    }

    // Of "NAME=" or "NAME+=".
    static std::size_t name_length(std::string_view text) {
        std::size_t i = 0;
        while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_')) ++i;
        const std::string_view rest = text.substr(i);
        return rest == "=" || rest == "+=" ? i : 0;
    }

    RawWord read_list(RawWord word) {
        word.is_list = true;
        ++at_;
        while (at_ < text_.size() && now() != ')') {
            if (skip_blanks()) continue;
            if (now() == '\n') {
                ++at_;
                ++line_;
            } else if (now() == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (ends_word(now())) {
                ++at_;
            } else {
                const RawWord inner = read_word(false);
                for (std::string& one : in_braces(inner.text, brace_words_)) word.list.push_back({std::move(one), inner.line});
            }
        }
        at_ = std::min(at_ + 1, text_.size());
        return word;
    }

    void add(ShellToken::Kind kind, RawWord raw) { found_.list.push_back({kind, std::move(raw)}); }

    std::string_view text_;
    std::int64_t line_;
    std::size_t at_ = 0;
    std::vector<std::pair<std::string, bool>> waiting_;  // here-documents of this line: their last line, and whether tabs before it go
    std::size_t documents_;
    std::size_t brace_words_ = 10'000;  // that may still be made of words in braces
    ShellTokens found_;
};

}  // namespace

std::size_t assigned_name(std::string_view word) {
    std::size_t i = 0;
    while (i < word.size() && (std::isalnum(static_cast<unsigned char>(word[i])) != 0 || word[i] == '_')) ++i;
    if (i == 0 || std::isdigit(static_cast<unsigned char>(word[0])) != 0) return 0;
    const std::string_view rest = word.substr(i);
    return rest.starts_with('=') || rest.starts_with("+=") ? i : 0;
}

ShellTokens tokens_of(std::string_view text, std::int64_t first_line, std::size_t documents) {
    return Lexer(text, first_line, documents).read();
}

}  // namespace fourfold
