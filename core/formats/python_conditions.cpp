#include "formats/python_conditions.h"

#include "formats/shell.h"

namespace fourfold {

namespace {

std::optional<Json> operand(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    if (at >= tokens.size()) return std::nullopt;
    const PythonToken& token = tokens[at];
    if (token.kind == PythonToken::text) return ++at, Json(token.value);
    if (token.kind == PythonToken::number) return ++at, python_number(token.value);
    if (token.kind != PythonToken::name) return std::nullopt;
    ++at;
    if (token.value == "True" || token.value == "False") return Json(token.value == "True");
    if (token.value == "None") return Json();
    auto value = known(token.value);
    const auto* text = value ? value->get_ptr<const Json::string_t*>() : nullptr;
    return text != nullptr && is_open(*text) ? std::nullopt : value;
}

bool is_true_value(const Json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number()) return value.get<double>() != 0;
    return !value.is_null() && (!value.is_string() || !value.get_ref<const std::string&>().empty());
}

std::optional<bool> compare(const Json& left, std::string_view sign, const Json& right) {
    if (left.is_number() && right.is_number()) {
        const double a = left.get<double>(), b = right.get<double>();
        if (sign == "==") return a == b;
        if (sign == "!=") return a != b;
        if (sign == "<") return a < b;
        if (sign == ">") return a > b;
        if (sign == "<=") return a <= b;
        if (sign == ">=") return a >= b;
        return std::nullopt;
    }
    if (sign == "==") return left == right;
    return sign == "!=" ? std::optional(left != right) : std::nullopt;
}

}  // namespace

std::optional<bool> python_truth(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    using Kind = PythonToken::Kind;
    const bool called = is_token(tokens, at, Kind::name, "bool") && is_token(tokens, at + 1, Kind::sign, "(");
    if (called) at += 2;
    const bool negated = is_token(tokens, at, Kind::name, "not");
    if (negated) ++at;
    const auto left = operand(tokens, at, known);
    if (!left || at >= tokens.size()) return std::nullopt;
    std::optional<bool> truth = is_true_value(*left);
    if (is_token(tokens, at, Kind::name, "is")) {
        const bool other = is_token(tokens, ++at, Kind::name, "not");
        if (other) ++at;
        const auto right = operand(tokens, at, known);
        if (!right) return std::nullopt;
        truth = (*left == *right) != other;
    } else if (tokens[at].kind == Kind::sign && std::string_view("=!<>").find(tokens[at].value[0]) != std::string_view::npos) {
        const std::string sign = tokens[at++].value;
        const auto right = operand(tokens, at, known);
        truth = right ? compare(*left, sign, *right) : std::nullopt;
    }
    if (called && !is_token(tokens, at++, Kind::sign, ")")) return std::nullopt;
    return truth ? std::optional(*truth != negated) : std::nullopt;
}

namespace {

// Whole numbers with + - * // and brackets.
class PythonSum {
 public:
    PythonSum(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known)
        : tokens_(tokens), at_(at), known_(known) {}

    using Number = std::optional<std::int64_t>;
    Number sum() {
        Number left = product();
        while (left && (sign("+") || sign("-"))) {
            const bool minus = tokens_[at_++].value == "-";
            const Number right = product();
            left = right ? within(static_cast<double>(*left) + (minus ? -1.0 : 1.0) * static_cast<double>(*right)) : std::nullopt;
        }
        return left;
    }

 private:
    bool sign(std::string_view value, std::size_t ahead = 0) const { return is_token(tokens_, at_ + ahead, PythonToken::sign, value); }
    static Number within(double value) {
        constexpr double kLargestSum = 1e15;
        return value > -kLargestSum && value < kLargestSum ? Number(static_cast<std::int64_t>(value)) : std::nullopt;
    }
    Number product() {
        Number left = single();
        while (left && (sign("*") || (sign("/") && sign("/", 1)))) {
            const bool times = sign("*");
            at_ += times ? 1 : 2;
            const Number right = single();
            if (!right || (!times && (*right <= 0 || *left < 0))) return std::nullopt;
            left = times ? within(static_cast<double>(*left) * static_cast<double>(*right)) : *left / *right;
        }
        return left;
    }
    Number single() {
        constexpr int kDeepestBrackets = 20;
        if (sign("(")) {
            if (++depth_ > kDeepestBrackets) return std::nullopt;
            ++at_;
            const Number inside = sum();
            if (!sign(")")) return std::nullopt;
            ++at_;
            return inside;
        }
        const auto value = operand(tokens_, at_, known_);
        return value && value->is_number_integer() ? Number(value->get<std::int64_t>()) : std::nullopt;
    }

    const std::vector<PythonToken>& tokens_;
    std::size_t& at_;
    const PythonNames& known_;
    int depth_ = 0;
};

std::optional<Json> sum_or_operand(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    const std::size_t begin = at;
    if (const auto number = PythonSum(tokens, at, known).sum()) return Json(*number);
    at = begin;
    return operand(tokens, at, known);
}

// [0] * 3 + [1] * 58
std::optional<Json> sum_of_lists(const std::vector<PythonToken>& tokens, std::size_t& at) {
    const auto number = [&]() -> std::optional<Json> {
        const bool is = at < tokens.size() && tokens[at].kind == PythonToken::number;
        return is ? std::optional(python_number(tokens[at++].value)) : std::nullopt;
    };
    const auto passes = [&](std::string_view sign) { return is_token(tokens, at, PythonToken::sign, sign) && ++at > 0; };
    constexpr std::int64_t kLongestSum = 500;
    Json all = Json::array();
    while (passes("[")) {
        std::vector<Json> part;
        for (auto one = number(); one; one = passes(",") ? number() : std::nullopt) part.push_back(*one);
        if (!passes("]")) return std::nullopt;
        const auto times = passes("*") ? number() : std::optional(Json(1));
        if (!times || !times->is_number_integer() || *times < Json(0) || *times > Json(kLongestSum)) return std::nullopt;
        for (auto left = times->get<std::int64_t>(); left > 0; --left)
            for (const Json& one : part) all.push_back(one);
        if (static_cast<std::int64_t>(all.size()) > kLongestSum) return std::nullopt;
        if (!passes("+")) return all;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Json> python_computed(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    const std::size_t begin = at;
    if (is_token(tokens, at, PythonToken::sign, "[")) {
        auto all = sum_of_lists(tokens, at);
        if (!all) at = begin;
        return all;
    }
    auto value = sum_or_operand(tokens, at, known);
    if (value && is_token(tokens, at, PythonToken::name, "if")) {
        const auto holds = python_truth(tokens, ++at, known);
        if (!holds || !is_token(tokens, at, PythonToken::name, "else")) return std::nullopt;
        auto other = sum_or_operand(tokens, ++at, known);
        return other ? (*holds ? value : other) : std::nullopt;
    }
    const bool ends = value && !(at < tokens.size() && tokens[at].kind == PythonToken::sign &&
                                 std::string_view("=!<>").find(tokens[at].value[0]) != std::string_view::npos);
    if (ends && !is_token(tokens, at, PythonToken::name, "is")) return value;
    at = begin;
    const auto truth = python_truth(tokens, at, known);
    return truth ? std::optional(Json(*truth)) : std::nullopt;
}

void PythonBranches::leave(std::size_t column) {
    while (!branches_.empty() && branches_.back().column >= column) {
        last_ = branches_.back();
        branches_.pop_back();
    }
}

void PythonBranches::enter(const std::string& word, std::size_t column, const std::string& condition, std::optional<bool> truth) {
    if (word == "if") return branches_.push_back({column, condition, false, truth, truth});
    if (last_.column != column) return;
    const std::optional<bool> before = last_.taken;
    if (word == "else") return branches_.push_back({column, last_.condition, true, before ? std::optional(!*before) : before, true});
    Branch branch{column, condition, false, truth, truth};
    if (before == true || truth == false)
        branch.holds = false;
    else if (!before)
        branch.holds.reset();
    if (before == true || truth == true)
        branch.taken = true;
    else if (!before || !truth)
        branch.taken.reset();
    branches_.push_back(branch);
}

std::optional<std::vector<std::string>> PythonBranches::undecided(const NamesSet& answers) const {
    std::vector<std::string> names;
    for (const Branch& branch : branches_) {
        if (branch.holds == false) return std::nullopt;
        if (branch.holds || branch.condition.empty()) continue;
        const auto answer = answers.find(branch.condition);
        if (answer == answers.end())
            names.push_back(branch.condition);
        else if ((answer->second == "True" || answer->second == "true" || answer->second == "1") == branch.inverted)
            return std::nullopt;
    }
    return names;
}

}  // namespace fourfold
