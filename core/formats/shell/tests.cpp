// [ … ], [[ … ]] and test.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "formats/entries.h"
#include "formats/shell/parts.h"

namespace fourfold {

namespace {

class Test {
 public:
    Test(std::vector<std::string> words, ShellValues& values) : words_(std::move(words)), values_(values) {}
    Truth result() {
        const Truth truth = any();
        return at_ == words_.size() ? truth : Truth::unknown;
    }

 private:
    bool is(std::string_view word) const { return at_ < words_.size() && words_[at_] == word; }
    bool take(std::string_view word) { return is(word) && (++at_, true); }

    Truth any() {
        Truth truth = all();
        while (take("||") || take("-o")) {
            const Truth next = all();
            truth = truth == Truth::yes || next == Truth::yes ? Truth::yes : truth == Truth::no ? next : Truth::unknown;
        }
        return truth;
    }
    Truth all() {
        Truth truth = one();
        while (take("&&") || take("-a")) {
            const Truth next = one();
            truth = truth == Truth::no || next == Truth::no ? Truth::no : truth == Truth::yes ? next : Truth::unknown;
        }
        return truth;
    }
    Truth one() {
        if (at_ >= words_.size()) return Truth::no;
        if (take("!")) return !one();
        if (take("(")) {
            const Truth truth = any();
            take(")");
            return truth;
        }
        const std::string left = words_[at_++];
        const bool operand_follows = at_ < words_.size() && !is("&&") && !is("||") && !is(")") && !is("-a") && !is("-o");
        if (left.size() == 2 && left[0] == '-' && operand_follows && !is("=") && !is("==") && !is("!="))
            return unary(left[1], words_[at_++]);
        if (!operand_follows) return is_open(left) ? Truth::unknown : left.empty() ? Truth::no : Truth::yes;
        const std::string sign = words_[at_++];
        const std::string right = at_ < words_.size() ? words_[at_++] : "";
        return compare(left, sign, right);
    }

    // A name that nobody set counts as empty here: this is how scripts ask whether to take a default.
    Truth unary(char what, const std::string& operand) const {
        if (what != 'z' && what != 'n') return Truth::unknown;
        const std::vector<std::string> names = open_names(operand);
        const bool in_job = names.size() == 1 && operand == open_mark(names[0]) && values_.is_set(names[0]) &&
                            (names[0].starts_with("SLURM_") || names[0].starts_with("PBS_"));
        if (in_job) return what == 'n' ? Truth::yes : Truth::no;  // a scheduler set it
        // One of a list that is not known is no name that nobody set.
        if (!names.empty() && (names[0].starts_with("$(") || names.size() > 1 || values_.is_set(names[0].substr(0, names[0].find('[')))))
            return Truth::unknown;
        const bool empty = operand.empty() || !names.empty();
        return empty == (what == 'z') ? Truth::yes : Truth::no;
    }

    // "^7b", "70b$", "^[0-9]+$"; other patterns are not read.
    static Truth found(std::string_view text, std::string_view pattern) {
        if (pattern == "^[0-9]+$") return !text.empty() && text.find_first_not_of("0123456789") == text.npos ? Truth::yes : Truth::no;
        const bool front = pattern.starts_with('^'), back = pattern.ends_with('$');
        pattern = pattern.substr(front ? 1 : 0, pattern.size() - (front ? 1 : 0) - (back ? 1 : 0));
        const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '/'; };
        if (!std::all_of(pattern.begin(), pattern.end(), plain)) return Truth::unknown;
        const bool holds = front && back ? text == pattern
                           : front       ? text.starts_with(pattern)
                           : back        ? text.ends_with(pattern)
                                         : text.find(pattern) != text.npos;
        return holds ? Truth::yes : Truth::no;
    }

    Truth compare(const std::string& left, const std::string& sign, const std::string& right) {
        // "$2" == "": the same question as -z.
        if (right.empty() && is_open(left) && (sign == "=" || sign == "==" || sign == "!=")) return unary(sign == "!=" ? 'n' : 'z', left);
        if (is_open(left) || is_open(right)) {
            if (sign != "!=" && sign != "=~") values_.compared(is_open(left) ? left : right, is_open(left) ? right : left);
            return Truth::unknown;
        }
        const auto truth = [](bool holds) { return holds ? Truth::yes : Truth::no; };
        if (sign == "=~") return found(left, right);
        if (sign == "=" || sign == "==") return truth(matches(right, left));
        if (sign == "!=") return truth(!matches(right, left));
        static constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
            {"-eq", "=="}, {"-ne", "!="}, {"-lt", "<"}, {"-le", "<="}, {"-gt", ">"}, {"-ge", ">="}, {"<", "<"}, {">", ">"}};
        for (const auto& [name, operation] : kSigns)
            if (sign == name) {
                const std::string value = values_.sum(joined({left, " ", operation, " ", right}));
                return is_open(value) ? Truth::unknown : truth(value != "0");
            }
        return Truth::unknown;
    }

    std::vector<std::string> words_;
    ShellValues& values_;
    std::size_t at_ = 0;
};

}  // namespace

Truth ShellValues::test(std::string_view expression) {
    std::vector<std::string> parts;
    for (const ShellToken& token : tokens_of(expression).list) {
        if (token.kind == ShellToken::end_of_line) continue;
        if (token.kind == ShellToken::sign)
            parts.push_back(token.raw.text);
        else
            parts.push_back(text(token.raw.text));
    }
    return Test(std::move(parts), *this).result();
}

}  // namespace fourfold
