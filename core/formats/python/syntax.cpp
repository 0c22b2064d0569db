#include "formats/python/syntax.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace fourfold {

namespace {

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80; }
bool of_name(char c) { return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool one_of(std::string_view word, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
}
// What a block begins with, and words that may stand between two values.
bool opens_block(std::string_view word) {
    return one_of(word, {"if", "elif", "else", "for", "while", "def", "class", "with", "try", "except", "finally"});
}
bool joins_values(std::string_view word) {
    return one_of(word, {"if", "else", "for", "in", "is", "not", "and", "or", "as", "async", "await", "lambda", "from", "yield", "import"});
}

// Reads a text once, line by line of its logic: what stands in brackets is one line.
class Checker {
 public:
    explicit Checker(std::string_view text) : text_(text) {}

    std::int64_t stop() {
        while (at_ < text_.size() && stop_ == 0) {
            begin_line();
            while (at_ < text_.size() && stop_ == 0 && !line_ended_) next();
            if (stop_ == 0) end_line();
        }
        if (stop_ == 0 && !brackets_.empty()) stop_ = brackets_.back().line;
        return stop_;
    }

 private:
    struct Bracket {
        char closes;
        std::int64_t line;
        std::set<std::string_view> given{};  // names of arguments
        bool lambda = false;                 // whose names are its own
    };
    enum class Kind { none, value, word, other };

    void begin_line() {
        column_ = 0;
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
            tabs_ = tabs_ || text_[at_] == '\t';
            ++at_;
            ++column_;
        }
        first_.clear();
        any_ = colon_ = line_ended_ = false;
        last_ = Kind::none;
        begun_ = line_;
    }

    void end_line() {
        if (!any_) return;
        const bool block = opens_block(first_) || first_ == "async";
        if (block && !colon_) return void(stop_ = begun_);
        if (!tabs_) check_column();
        expects_ = (block || first_ == "match" || first_ == "case") && last_sign_ == ':';
        before_ = column_;
    }

    // Further to the right than a block's first line, and else where some line before it stood.
    void check_column() {
        if (columns_.empty()) columns_.push_back(column_);
        if (expects_ ? column_ <= before_ : column_ > columns_.back()) return void(stop_ = begun_);
        if (expects_) return columns_.push_back(column_);
        while (columns_.size() > 1 && columns_.back() > column_) columns_.pop_back();
        if (columns_.back() != column_ && columns_.size() > 1) stop_ = begun_;
    }

    void next() {
        const char c = text_[at_];
        if (c == '\n') {
            ++at_;
            ++line_;
            line_ended_ = brackets_.empty();
        } else if (c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
            at_ += 2;
            ++line_;
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            ++at_;
        } else if (c == '"' || c == '\'') {
            quoted();
        } else if (letter(c)) {
            name();
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            number();
        } else {
            sign(c);
        }
    }

    // Two values side by side in brackets: a comma is missing.
    void value(Kind kind) {
        if (!brackets_.empty() && last_ == Kind::value) stop_ = line_;
        any_ = true;
        last_ = kind;
        last_sign_ = 0;
    }

    void quoted() {
        const std::string_view mark = text_.substr(at_, 3);
        const bool triple = mark.size() == 3 && mark[1] == mark[0] && mark[2] == mark[0];
        const char quote = text_[at_];
        const std::int64_t begun = line_;
        at_ += triple ? 3 : 1;
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '\\') {
                if (++at_ < text_.size() && text_[at_] == '\n') ++line_;
                continue;
            }
            if (triple ? text_.substr(at_, 3) == mark : text_[at_] == quote) break;
            if (text_[at_] == '\n' && !triple) return void(stop_ = begun);
            line_ += text_[at_] == '\n' ? 1 : 0;
        }
        if (at_ >= text_.size()) return void(stop_ = begun);
        at_ += triple ? 3 : 1;
        any_ = true;
        last_ = Kind::other;  // texts may stand side by side
        last_sign_ = 0;
    }

    void name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && of_name(text_[at_])) ++at_;
        const std::string_view word = text_.substr(begin, at_ - begin);
        if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') && word.size() <= 2) return;  // f"…"
        if (!any_) first_ = word;
        if (!brackets_.empty()) argument(word);
        if (joins_values(word)) {
            any_ = true;
            last_ = Kind::word;
            last_sign_ = 0;
        } else {
            value(Kind::value);
        }
    }

    // "f(a=1, b=2, a=3)": an argument is given twice.
    void argument(std::string_view word) {
        Bracket& in = brackets_.back();
        if (word == "lambda") in.lambda = true;
        if (in.closes != ')' || in.lambda || last_ != Kind::other || (last_sign_ != '(' && last_sign_ != ',')) return;
        const std::size_t sign = text_.find_first_not_of(" \t", at_);
        if (sign == std::string_view::npos || text_[sign] != '=' || text_.substr(sign, 2) == "==") return;
        if (!in.given.insert(word).second) stop_ = line_;
    }

    void number() {
        while (at_ < text_.size() && (of_name(text_[at_]) || text_[at_] == '.' ||
                                      ((text_[at_] == '-' || text_[at_] == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))))
            ++at_;
        value(Kind::value);
    }

    void sign(char c) {
        any_ = true;
        last_ = Kind::other;
        last_sign_ = c;
        if (c == ':' && brackets_.empty()) colon_ = true;
        if (c == '(' || c == '[' || c == '{') brackets_.push_back({c == '(' ? ')' : c == '[' ? ']' : '}', line_, {}, false});
        if (c == ')' || c == ']' || c == '}') {
            if (brackets_.empty() || brackets_.back().closes != c) return void(stop_ = line_);
            brackets_.pop_back();
            last_ = Kind::value;
        }
        ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0, column_ = 0, before_ = 0;
    std::int64_t line_ = 1, begun_ = 1, stop_ = 0;
    std::string first_;  // word of the line
    bool any_ = false, colon_ = false, line_ended_ = false, expects_ = false, tabs_ = false;
    Kind last_ = Kind::none;
    char last_sign_ = 0;
    std::vector<Bracket> brackets_;
    std::vector<std::size_t> columns_;  // of the blocks around
};

// A notebook's lines, and a piece of a file that begins inside of a block.
bool is_piece(std::string_view text) {
    bool first = true;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos || line[begin] == '#') continue;
        if (line[begin] == '!' || line[begin] == '%' || (first && begin > 0)) return true;
        if (line.substr(begin) == "..." || line.substr(begin).starts_with(">>> ")) return true;  // what was left out, a session
        first = false;
    }
    return false;
}

}  // namespace

std::int64_t python_stops_at(std::string_view text) { return is_piece(text) ? 0 : Checker(text).stop(); }

}  // namespace fourfold
