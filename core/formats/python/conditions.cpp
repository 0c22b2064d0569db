#include "formats/python/conditions.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "formats/shell/shell.h"

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
    const bool type = token.value.starts_with("torch.") && !is_token(tokens, at, PythonToken::sign, "(");
    auto value = type ? std::optional(Json(token.value)) : known(token.value);
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

constexpr std::string_view kCapable[] = {"is_bfloat16_supported", "is_bf16_supported", "is_torch_bf16_gpu_available", "is_available"};
std::optional<bool> python_capable(const std::vector<PythonToken>& tokens, std::size_t& at) {
    const bool inverted = is_token(tokens, at, PythonToken::name, "not");
    const std::size_t call = at + (inverted ? 1 : 0);
    if (call >= tokens.size() || tokens[call].kind != PythonToken::name || !has_sign_at(tokens, call + 1, "(") ||
        !has_sign_at(tokens, call + 2, ")") ||
        std::find(std::begin(kCapable), std::end(kCapable), last_part(tokens[call].value)) == std::end(kCapable))
        return std::nullopt;
    at = call + 3;
    return !inverted;
}

// Behind "torch.cuda.get_device_capability(…)" and, where it stands there, "[0]"; `at`: it is no such call.
static std::size_t behind_capability(const std::vector<PythonToken>& tokens, std::size_t at) {
    constexpr std::size_t kLongestQuestion = 8;
    const bool asks = at < tokens.size() && tokens[at].kind == PythonToken::name &&
                      last_part(tokens[at].value) == "get_device_capability" && has_sign_at(tokens, at + 1, "(");
    std::size_t end = asks ? at + 2 : at;
    while (asks && end < at + kLongestQuestion && !has_sign_at(tokens, end, ")")) ++end;
    if (!asks || !has_sign_at(tokens, end, ")")) return at;
    const bool major = has_sign_at(tokens, end + 1, "[") && is_token(tokens, end + 2, PythonToken::number, "0");
    return end + (major ? 4 : 1);
}

std::vector<PythonToken> with_known_cards(std::vector<PythonToken> tokens) {
    constexpr double kAmpere = 8;
    std::vector<PythonToken> all;
    std::set<std::string> majors;  // "major, minor = torch.cuda.get_device_capability()"
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::size_t end = behind_capability(tokens, i);
        const bool asks = end > i, begins = i == 0 || tokens[i - 1].kind == PythonToken::line_end;
        if (begins && !asks && tokens[i].kind == PythonToken::name) {
            std::size_t from = i + 1;
            while (has_sign_at(tokens, from, ",") && from + 1 < tokens.size() && tokens[from + 1].kind == PythonToken::name) from += 2;
            if (has_sign_at(tokens, from, "=") && behind_capability(tokens, from + 1) > from + 1) majors.insert(tokens[i].value);
        }
        if (!asks && tokens[i].kind == PythonToken::name && majors.contains(tokens[i].value)) end = i + 1;
        const bool more = end > i && (has_sign_at(tokens, end, ">=") || has_sign_at(tokens, end, ">")) && end + 1 < tokens.size() &&
                          tokens[end + 1].kind == PythonToken::number;
        const Json least = more ? python_number(tokens[end + 1].value) : Json();
        if (!least.is_number() || least.get<double>() > kAmpere - (tokens[end].value == ">" ? 1 : 0)) {
            all.push_back(tokens[i]);
            continue;
        }
        all.push_back(tokens[i]);
        all.back().kind = PythonToken::name, all.back().value = "True";
        i = end + 1;
    }
    return all;
}

static std::optional<bool> single_truth(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    using Kind = PythonToken::Kind;
    if (const auto capable = python_capable(tokens, at)) return capable;
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

// "a and b and not c", "a or b": not both.
std::optional<bool> python_truth(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    auto truth = single_truth(tokens, at, known);
    if (!truth || at >= tokens.size()) return truth;
    const std::string joint = tokens[at].value;
    while (truth && (joint == "and" || joint == "or") && is_token(tokens, at, PythonToken::name, joint)) {
        const auto next = single_truth(tokens, ++at, known);
        truth = !next ? next : joint == "and" ? *truth && *next : *truth || *next;
    }
    return truth;
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

    // A number alone, or a sum in brackets.
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
    const std::vector<PythonToken>& tokens_;
    std::size_t& at_;
    const PythonNames& known_;
    int depth_ = 0;
};

// "[0] * 3 + [1] * (layers - 3)": a list of numbers.
std::optional<Json> list_sum(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    constexpr std::size_t kMostNumbers = 256;
    const auto sign = [&](std::string_view value) { return is_token(tokens, at, PythonToken::sign, value); };
    Json all = Json::array();
    for (bool first = true; first || sign("+"); first = false) {
        at += first ? 0 : 1;
        if (!sign("[")) return std::nullopt;
        Json part = Json::array();
        for (++at; !sign("]"); at += sign(",") ? 1 : 0) {
            const auto one = operand(tokens, at, known);
            if (!one || !one->is_number() || part.size() > kMostNumbers) return std::nullopt;
            part.push_back(*one);
        }
        ++at;
        std::int64_t times = 1;
        if (sign("*")) times = PythonSum(tokens, ++at, known).single().value_or(-1);
        if (times < 0 || part.empty() || static_cast<std::size_t>(times) > kMostNumbers) return std::nullopt;
        for (; times > 0 && all.size() <= kMostNumbers; --times)
            for (const Json& one : part) all.push_back(one);
        if (all.size() > kMostNumbers) return std::nullopt;
    }
    return all;
}

std::optional<Json> sum_or_operand(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    const std::size_t begin = at;
    if (const auto number = PythonSum(tokens, at, known).sum()) return Json(*number);
    at = begin;
    return operand(tokens, at, known);
}

}  // namespace

// "left or right": the first that is something.
static std::optional<Json> either(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    const bool joined = at < tokens.size() && is_token(tokens, at + 1, PythonToken::name, "or");
    if (!joined) return std::nullopt;
    const bool none = tokens[at].kind == PythonToken::name && known(kUnlessSaid + tokens[at].value).has_value();
    auto left = operand(tokens, at, known);
    auto right = sum_or_operand(tokens, ++at, known);
    return left && is_true_value(*left) ? left : left || none ? right : std::nullopt;
}

std::optional<Json> python_computed(const std::vector<PythonToken>& tokens, std::size_t& at, const PythonNames& known) {
    const std::size_t begin = at;
    if (auto other = either(tokens, at, known)) return other;
    at = begin;
    if (is_token(tokens, at, PythonToken::sign, "[")) return list_sum(tokens, at, known);
    auto value = sum_or_operand(tokens, at, known);
    if (value && is_token(tokens, at, PythonToken::name, "if")) {
        const auto holds = python_truth(tokens, ++at, known);
        if (!holds || !is_token(tokens, at, PythonToken::name, "else")) return std::nullopt;
        auto other = sum_or_operand(tokens, ++at, known);
        return other ? (*holds ? value : other) : std::nullopt;
    }
    const bool ends = value && !(at < tokens.size() && tokens[at].kind == PythonToken::sign &&
                                 std::string_view("=!<>").find(tokens[at].value[0]) != std::string_view::npos);
    const bool more = is_token(tokens, at, PythonToken::name, "is") || is_token(tokens, at, PythonToken::name, "and");
    if (ends && !more) return value;
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
