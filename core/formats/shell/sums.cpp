// Arithmetic of $(( … )): whole numbers, and the operators that scripts use.
#include <cctype>
#include <optional>

#include "base/text.h"
#include "formats/shell/parts.h"

namespace fourfold {

namespace {

class Sum {
 public:
    Sum(std::string_view text, ShellValues& values) : text_(text), values_(values) {}
    std::string result() {
        const std::optional<std::int64_t> value = whole();
        skip();
        if (open_.empty() && value && at_ == text_.size()) return std::to_string(*value);
        return open_.empty() ? open_mark(joined({"$((", text_, "))"})) : open_;
    }

 private:
    void skip() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }
    bool take(std::string_view sign) {
        skip();
        if (!text_.substr(at_).starts_with(sign)) return false;
        at_ += sign.size();
        return true;
    }
    using Number = std::optional<std::int64_t>;
    static constexpr int kDeepestSum = 100;

    // "a ? b : c", which is looser than all others.
    Number whole() {
        const Number first = level(0);
        if (!take("?")) return first;
        if (++depth_ > kDeepestSum) return std::nullopt;
        const Number yes = whole();
        const Number no = take(":") ? whole() : std::nullopt;
        --depth_;
        return !first ? std::nullopt : *first != 0 ? yes : no;
    }

    // The loosest operators first.
    Number level(std::size_t which) {
        static constexpr std::string_view kSigns[][4] = {{"||"},       {"&&"},     {"==", "!="},   {"<=", ">=", "<", ">"},
                                                         {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
        if (which == std::size(kSigns)) return single();
        Number left = level(which + 1);
        for (bool found = true; found;) {
            found = false;
            for (const std::string_view sign : kSigns[which])
                if (!sign.empty() && take(sign)) {
                    const Number right = level(which + 1);
                    left = left && right ? apply(sign, *left, *right) : std::nullopt;
                    found = true;
                    break;
                }
        }
        return left;
    }

    static Number apply(std::string_view sign, std::int64_t a, std::int64_t b) {
        std::int64_t result = 0;
        if (sign == "+") return __builtin_add_overflow(a, b, &result) ? Number() : result;
        if (sign == "-") return __builtin_sub_overflow(a, b, &result) ? Number() : result;
        if (sign == "*") return __builtin_mul_overflow(a, b, &result) ? Number() : result;
        if (sign == "/" || sign == "%") {
            if (b == 0 || b == -1) return std::nullopt;
            return sign == "/" ? a / b : a % b;
        }
        if (sign == "<<" || sign == ">>") {
            if (b < 0 || b > 31 || a < 0 || a > 2'147'483'647) return std::nullopt;
            return sign == "<<" ? a << b : a >> b;
        }
        if (sign == "==") return a == b;
        if (sign == "!=") return a != b;
        if (sign == "<=") return a <= b;
        if (sign == ">=") return a >= b;
        if (sign == "<") return a < b;
        if (sign == ">") return a > b;
        return sign == "&&" ? (a != 0 && b != 0) : (a != 0 || b != 0);
    }

    Number single() {
        if (++depth_ > kDeepestSum) return std::nullopt;
        Number value;
        if (take("(")) {
            value = whole();
            if (!take(")")) value = std::nullopt;
        } else if (take("-")) {
            value = single();
            if (value) value = apply("-", 0, *value);
        } else if (take("+")) {
            value = single();
        } else if (take("!")) {
            value = single();
            if (value) value = *value == 0;
        } else {
            value = leaf();
        }
        if (take("**")) {
            const Number power = single(), base = std::exchange(value, value ? Number(1) : value);
            if (!power || *power < 0 || *power > 62) value = std::nullopt;
            for (std::int64_t i = 0; value && i < *power; ++i) value = apply("*", *value, *base);
        }
        --depth_;
        return value;
    }

    Number leaf() {
        skip();
        if (at_ < text_.size() && text_[at_] == kOpen) {
            const std::size_t end = std::min(text_.find(kClose, at_), text_.size() - 1) + 1;
            open_ += text_.substr(at_, end - at_);
            at_ = end;
            return std::nullopt;
        }
        const std::size_t end = name_end(text_, at_);
        const std::string word(text_.substr(at_, end - at_));
        at_ = end;
        if (word.empty()) return std::nullopt;
        const std::string value = std::isdigit(static_cast<unsigned char>(word[0])) != 0 ? word : values_.text(joined({"${", word, "}"}));
        if (is_open(value)) {
            open_ += value;
            return std::nullopt;
        }
        if (value.empty()) return 0;
        if (value.starts_with("0x") && value.size() > 2 && value.size() < 12 &&
            value.find_first_not_of("0123456789abcdefABCDEF", 2) == value.npos)
            return std::stoll(value, nullptr, 16);
        if (value.size() > 18 || value.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
        return std::stoll(value);
    }

    std::string_view text_;
    ShellValues& values_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::string open_;
};

}  // namespace

std::optional<std::pair<std::string, std::string>> assigned_sum(const std::string& text) {
    const auto past_gap = [&](std::size_t at) { return std::min(text.find_first_not_of(" \t\n", at), text.size()); };
    const auto counts = [&](std::size_t at) { return text.compare(at, 2, "++") == 0 || text.compare(at, 2, "--") == 0; };
    std::size_t begin = past_gap(0);
    const bool before = counts(begin);
    const char sign = before ? text[begin] : ' ';
    if (before) begin = past_gap(begin + 2);
    const std::size_t end = name_end(text, begin), at = past_gap(end);
    const std::string name = text.substr(begin, end - begin), rest = text.substr(at);
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return std::nullopt;
    if (before) return rest.empty() ? std::optional(std::pair(name, name + sign + "1")) : std::nullopt;
    if (counts(at) && past_gap(at + 2) == text.size()) return std::pair(name, name + rest[0] + "1");
    if (rest.size() > 1 && rest[0] == '=' && rest[1] != '=') return std::pair(name, rest.substr(1));
    if (rest.size() > 2 && rest[1] == '=' && std::string_view("+-*/%").find(rest[0]) != std::string_view::npos)
        return std::pair(name, name + rest[0] + "(" + rest.substr(2) + ")");
    return std::nullopt;
}

std::string ShellValues::sum(std::string_view expression) { return Sum(text(expression), *this).result(); }

}  // namespace fourfold
