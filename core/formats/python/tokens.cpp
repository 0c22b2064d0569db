#include "formats/python/tokens.h"

#include <algorithm>

#include "base/text.h"
#include "formats/python/calls.h"
#include "formats/python/python.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostTokens = 200'000, kLongestToken = 200, kLongestText = 20'000;  // of a text: a command
using Token = PythonToken;

class Tokens {
 public:
    explicit Tokens(std::string_view text) : text_(text) {}

    std::vector<Token> all() {
        while (at_ < text_.size() && list_.size() < kMostTokens) next();
        add(Token::line_end, "\n");
        return std::move(list_);
    }

 private:
    void add(Token::Kind kind, std::string_view value) {
        if (kind == Token::number && multiplies(value)) return;
        list_.push_back({kind, std::string(value), line_, at_ - line_start_});
    }

    // "8 * 1024" is one number. Where more than a product is computed, signs are left, and the whole stays open.
    bool multiplies(std::string_view value) {
        if (list_.size() < 2 || list_.back().kind != Token::sign || list_.back().value != "*") return false;
        Token& before = list_[list_.size() - 2];
        if (before.kind != Token::number) return false;
        const Json left = python_number(before.value), right = python_number(std::string(value));
        constexpr double kLargest = 1e15;
        if (!left.is_number_integer() || !right.is_number_integer() || left.get<double>() * right.get<double>() > kLargest) return false;
        before.value = dumped(Json(left.get<std::int64_t>() * right.get<std::int64_t>()));
        list_.pop_back();
        return true;
    }

    void next() {
        const char c = text_[at_];
        if (c == '\n') {
            if (depth_ == 0) add(Token::line_end, "\n");
            ++at_;
            ++line_;
            line_start_ = at_;
        } else if (c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == '"' || c == '\'') {
            quoted();
        } else if (starts_name(c)) {
            named();
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            const std::size_t begin = at_;
            std::size_t end = at_;
            while (end < text_.size() &&
                   (in_name(text_[end]) || text_[end] == '.' || ((text_[end] == '-' || text_[end] == '+') && text_[end - 1] == 'e')))
                ++end;
            add(Token::number, text_.substr(begin, std::min(end - begin, kLongestToken)));
            at_ = end;
        } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
            at_ += 2;
            ++line_;
            line_start_ = at_;
        } else {
            signs(c);
        }
    }

    void signs(char c) {
        if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            const std::string_view two = text_.substr(at_, 2);
            const bool pair = two.size() == 2 && ((two[1] == '=' && std::string_view("=!<>+-*/|&:%").find(c) != std::string_view::npos) ||
                                                  two == "->" || two == "**");
            add(Token::sign, pair ? two : text_.substr(at_, 1));
            if (c == '(' || c == '[' || c == '{') ++depth_;
            if (c == ')' || c == ']' || c == '}') depth_ = std::max(0, depth_ - 1);
            if (pair) ++at_;
        }
        ++at_;
    }

    // "a.b.c" is one name; a prefix of a string is none.
    void named() {
        std::size_t end = at_;
        while (end < text_.size() && (in_name(text_[end]) || (text_[end] == '.' && end + 1 < text_.size() && starts_name(text_[end + 1]))))
            ++end;
        const bool prefix = end < text_.size() && (text_[end] == '"' || text_[end] == '\'') && end - at_ <= 2;
        const bool computed = prefix && text_.substr(at_, end - at_).find_first_of("fF") != std::string_view::npos;
        if (!prefix || computed) add(Token::name, text_.substr(at_, std::min(end - at_, kLongestToken)));  // f"…" is computed
        at_ = end;
    }

    void quoted() {
        const std::string_view mark = text_.substr(at_, 3);
        const bool triple = mark.size() == 3 && mark[1] == mark[0] && mark[2] == mark[0];
        const char quote = text_[at_];
        std::size_t end = at_ + (triple ? 3 : 1);
        const std::size_t begin = end;
        std::int64_t lines = 0;
        while (end < text_.size()) {
            if (text_[end] == '\\') {
                lines += end + 1 < text_.size() && text_[end + 1] == '\n';
                end += 2;
                continue;
            }
            if (triple ? text_.substr(end, 3) == mark : text_[end] == quote || text_[end] == '\n') break;
            lines += text_[end] == '\n';
            ++end;
        }
        end = std::min(end, text_.size());
        add(Token::text, text_.substr(begin, std::min(end - begin, kLongestText)));
        at_ = std::min(end + (triple ? 3 : end < text_.size() && text_[end] == '\n' ? 0 : 1), text_.size());
        line_ += lines;
    }

    std::string_view text_;
    std::size_t at_ = 0, line_start_ = 0;
    std::int64_t line_ = 1;
    int depth_ = 0;
    std::vector<Token> list_;
};

}  // namespace

static bool is_sign(const PythonToken& token, std::string_view signs) {
    return token.kind == PythonToken::sign && token.value.size() == 1 && signs.find(token.value[0]) != std::string_view::npos;
}

// "devices, length = 1, 2048" from `at` on: "devices = 1" and "length = 2048", each a line. False: it is no such line.
static bool split_pairs(const std::vector<Token>& tokens, std::size_t at, std::size_t end, std::vector<Token>& lines) {
    std::vector<std::size_t> names, values;
    for (; at + 1 < end && tokens[at].kind == Token::name && is_sign(tokens[at + 1], ",="); at += 2) {
        names.push_back(at);
        if (is_sign(tokens[at + 1], "=")) break;
    }
    if (names.size() < 2 || !is_sign(tokens[at + 1], "=")) return false;
    values.push_back(at + 2);
    int depth = 0;
    for (at += 2; at < end; ++at) {
        depth += is_sign(tokens[at], "([{") ? 1 : is_sign(tokens[at], ")]}") ? -1 : 0;
        if (depth == 0 && is_sign(tokens[at], ",")) values.push_back(at + 1);
    }
    if (values.size() != names.size()) return false;
    values.push_back(end + 1);
    for (std::size_t i = 0; i < names.size(); ++i) {
        lines.push_back({Token::name, tokens[names[i]].value, tokens[names[i]].line, tokens[names[0]].column});
        lines.push_back({Token::sign, "=", tokens[names[i]].line, 0});
        for (std::size_t k = values[i]; k + 1 < values[i + 1]; ++k) lines.push_back(tokens[k]);
        lines.push_back({Token::line_end, "\n", tokens[names[i]].line, 0});
    }
    return true;
}

std::vector<PythonToken> python_tokens(std::string_view text) {
    const std::vector<Token> tokens = Tokens(text).all();
    std::vector<Token> lines;
    lines.reserve(tokens.size());
    for (std::size_t at = 0; at < tokens.size();) {
        std::size_t end = at;
        while (end < tokens.size() && tokens[end].kind != Token::line_end) ++end;
        if (!split_pairs(tokens, at, end, lines))
            lines.insert(lines.end(), tokens.begin() + static_cast<std::ptrdiff_t>(at),
                         tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end + 1, tokens.size())));
        at = end + 1;
    }
    return lines;
}

std::vector<PythonToken> with_whole_sums(std::vector<PythonToken> tokens) {
    std::vector<Token> all;
    all.reserve(tokens.size());
    bool fresh = true;
    for (std::size_t at = 0; at < tokens.size(); fresh = tokens[at++].kind == Token::line_end) {
        all.push_back(tokens[at]);
        if (!fresh || tokens[at].kind != Token::name) continue;
        std::size_t end = at + 1;  // "//=" and the like are two signs
        std::vector<Token> operation;
        while (end < tokens.size() && end < at + 3 && tokens[end].kind == Token::sign && tokens[end].value.find_first_of("(:,") > 2) {
            operation.push_back(tokens[end++]);
            if (operation.back().value.ends_with('=')) break;
        }
        const bool sums = !operation.empty() && operation.back().value.ends_with('=') && operation[0].value != "=" && end < tokens.size();
        const bool grows = sums && operation[0].value == "+=" && tokens[end].kind != Token::number && tokens[end].kind != Token::name;
        if (!sums || grows || operation[0].value == "==") continue;
        operation.back().value.pop_back();
        if (operation.back().value.empty()) operation.pop_back();
        all.push_back({Token::sign, "=", tokens[at].line, 0});
        all.push_back(tokens[at]);
        all.insert(all.end(), operation.begin(), operation.end());
        all.push_back({Token::sign, "(", tokens[at].line, 0});
        for (at = end; at < tokens.size() && tokens[at].kind != Token::line_end; ++at) all.push_back(tokens[at]);
        all.push_back({Token::sign, ")", tokens[end].line, 0});
        --at;
    }
    return all;
}

static bool is_literal_token(const Token& token) { return token.kind == Token::text || token.kind == Token::number; }

// Behind what asks the environment at `at`, its name and its default; `at` where nothing does.
static std::size_t behind_environment(const std::vector<Token>& tokens, std::size_t at, std::string& name, Token& usual) {
    const auto is_value = [&](std::size_t i) { return i < tokens.size() && is_literal_token(tokens[i]); };
    const std::string& called = tokens[at].value;
    const bool asks = tokens[at].kind == Token::name && (last_part(called) == "getenv" || called.ends_with("environ.get"));
    if (!asks || !has_sign_at(tokens, at + 1, "(") || at + 2 >= tokens.size() || tokens[at + 2].kind != Token::text) return at;
    name = tokens[at + 2].value;
    const bool either = has_sign_at(tokens, at + 3, ")") && is_token(tokens, at + 4, Token::name, "or") && is_value(at + 5);
    const bool given = has_sign_at(tokens, at + 3, ",") && is_value(at + 4) && has_sign_at(tokens, at + 5, ")");
    if (!either && !given) return at;
    usual = tokens[at + (either ? 5 : 4)];
    return at + 6;
}

// "opt = parser.parse_args()", "opt, rest = parser.parse_known_args()": what is told is called "args" everywhere; and what the command
// tells counts before the default of "parser.add_argument(...)".
static void name_arguments(std::vector<Token>& tokens, NamesSet set) {
    std::string given;
    for (std::size_t at = 2; at < tokens.size(); ++at) {
        const std::string called = tokens[at].kind == Token::name ? last_part(tokens[at].value) : "";
        if (called == "add_argument" && has_sign_at(tokens, at + 1, "(")) {
            const PythonArgument one = python_argument(tokens, at + 1);
            const std::int64_t line = tokens[at].line;
            at = one.end;  // what stands inside was looked through
            const auto told = set.find("args." + one.key);
            if (told == set.end() || one.end >= tokens.size()) continue;
            const bool number = python_number(told->second).is_number(), on = told->second == "True";
            tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(one.end), {{Token::sign, ",", line, 0},
                                                                                  {Token::name, "default", line, 0},
                                                                                  {Token::sign, "=", line, 0},
                                                                                  {number ? Token::number
                                                                                   : on   ? Token::name
                                                                                          : Token::text,
                                                                                   told->second, line, 0}});
            set.erase(told);  // nobody adds an argument twice
        } else if ((called == "parse_args" || called == "parse_known_args") && has_sign_at(tokens, at - 1, "=")) {
            const std::size_t first = at > 3 && has_sign_at(tokens, at - 3, ",") ? at - 4 : at - 2;
            if (tokens[first].kind == Token::name) given = tokens[first].value + ".";
        }
    }
    for (Token& token : tokens)
        if (!given.empty() && token.kind == Token::name && token.value.starts_with(given)) token.value.replace(0, given.size(), "args.");
}

std::vector<PythonToken> with_usual_environment(const std::vector<PythonToken>& tokens, const NamesSet& set) {
    std::vector<Token> all;
    all.reserve(tokens.size());
    for (std::size_t at = 0; at < tokens.size();) {
        std::string name;
        Token usual{Token::line_end, "", 0, 0};
        const std::size_t end = behind_environment(tokens, at, name, usual);
        if (end == at) {
            all.push_back(tokens[at]);
        } else {
            if (const auto answer = set.find(name); answer != set.end()) usual.kind = Token::text, usual.value = answer->second;
            all.push_back({usual.kind, usual.value, tokens[at].line, tokens[at].column});
        }
        at = std::max(end, at + 1);
        const std::size_t count = all.size();  // "int", "(", "4", ")"
        const bool number = count > 3 && has_sign_at(all, count - 1, ")") && is_literal_token(all[count - 2]) &&
                            has_sign_at(all, count - 3, "(") && python_number(all[count - 2].value).is_number();
        if (!number || all[count - 4].kind != Token::name || (all[count - 4].value != "int" && all[count - 4].value != "float")) continue;
        all[count - 4] = {Token::number, all[count - 2].value, all[count - 4].line, all[count - 4].column};
        all.resize(count - 3);
    }
    name_arguments(all, set);
    return all;
}

Json python_number(std::string text) {
    std::erase(text, '_');
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str() + text.size() || !(value < 1e300 && value > -1e300)) return text;
    if (text.find_first_of(".eExX") == std::string::npos && text.size() < 16) return static_cast<std::int64_t>(value);
    return value;
}

std::optional<Json> called_in_list(const std::vector<PythonToken>& tokens, std::size_t& at) {
    Json names = Json::array();
    int depth = 0;
    for (; at < tokens.size(); ++at) {
        if (is_sign(tokens[at], "[({")) ++depth;
        if (is_sign(tokens[at], "])}") && --depth == 0) break;
        const bool called = at + 1 < tokens.size() && is_sign(tokens[at + 1], "(");
        if (depth == 1 && tokens[at].kind == PythonToken::name && called) names.push_back(tokens[at].value);
    }
    ++at;
    return names.empty() ? std::nullopt : std::optional(std::move(names));
}

std::string written_value(const std::vector<PythonToken>& tokens, std::size_t at) {
    constexpr std::size_t kMostShown = 60;
    std::string all;
    for (int depth = 0; at < tokens.size() && all.size() < kMostShown; ++at) {
        const PythonToken& token = tokens[at];
        if (depth == 0 && (token.kind == PythonToken::line_end || is_sign(token, ",)}];"))) break;
        if (is_sign(token, "([{")) ++depth;
        if (is_sign(token, ")]}")) --depth;
        const bool word = token.kind == PythonToken::name || token.kind == PythonToken::number;
        const bool behind = word && !all.empty() && (in_name(all.back()) || all.back() == ')' || all.back() == '"');
        const bool quoted = token.kind == PythonToken::text && all.ends_with("else");
        if (behind || quoted) all += ' ';  // "8 if big else 4"
        if (token.kind != PythonToken::line_end) all += token.kind == PythonToken::text ? joined({"\"", token.value, "\""}) : token.value;
    }
    return all.empty() ? "?" : all;
}

bool has_sections(std::string_view text) {
    const bool sections = text.find(".Config") != std::string_view::npos || text.find("JobConfig(") != std::string_view::npos;
    const bool degrees = text.find(".parallelism.") != std::string_view::npos;
    if (degrees && text.find("_parallel_degree") != std::string_view::npos) return true;  // a change of another's configuration
    return sections && (degrees || text.find("torchtitan") != std::string_view::npos);
}

// Behind the here-document of a shell that begins in the line before `at` and that it gives to Python: "python - <<'PY'".
static std::size_t behind_document(std::string_view text, std::string_view line, std::size_t at, int& most) {
    std::size_t begin = line.find("<<");
    const std::string_view before = line.substr(0, std::min(begin, line.size()));
    if (begin == std::string_view::npos || before.find(" - ") == before.npos || before.find('>') != before.npos || most-- <= 0) return at;
    begin = line.find_first_not_of("<-'\" ", begin);
    if (begin == std::string_view::npos || !starts_name(line[begin])) return at;
    std::size_t end = begin;
    while (end < line.size() && in_name(line[end])) ++end;
    const std::string closing = joined({"\n", line.substr(begin, end - begin), "\n"});
    const std::size_t found = text.find(closing, at - 1);
    return found == std::string_view::npos ? at : found + closing.size();
}

bool is_python(std::string_view text) {
    int telling = 0, documents = 100;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("#!")) return line.find("python") != std::string_view::npos;
        at = behind_document(text, line, at, documents);
        const bool imports = (line.starts_with("from ") && line.find(" import ") != std::string_view::npos) ||
                             (line.starts_with("import ") && line.find_first_of("=$;-") == std::string_view::npos);
        const bool defines = line.starts_with("def ") && line.find('(') != std::string_view::npos;
        // "cfg.model.x = 8", "config = {": the shell has no blanks there, and no dots in names.
        std::size_t name = line.find_first_not_of(" \t");
        bool assigns = false;
        if (name != std::string_view::npos && starts_name(line[name])) {
            const std::size_t begin = name;
            while (name < line.size() && (in_name(line[name]) || line[name] == '.')) ++name;
            assigns = line.substr(name).starts_with(" = ") &&
                      (line.substr(begin, name - begin).find('.') != std::string_view::npos || line.ends_with('(') || line.ends_with('{'));
        }
        telling += (imports || defines ? 2 : 0) + (assigns ? 2 : 0);
    }
    return telling >= 2;
}

}  // namespace fourfold
