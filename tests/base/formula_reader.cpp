#include "base/formula_reader.h"

namespace fourfold::tests {

class FormulaReader {
 public:
    FormulaReader(const Json& tokens, const Values& values) : tokens_(tokens), values_(values) {}
    // NaN when the tokens are no formula, or name a symbol without a value.
    double value() {
        const double result = sum();
        return at_ == tokens_.size() ? result : std::nan("");
    }

 private:
    bool take(const char* sign) {
        if (at_ >= tokens_.size() || tokens_[at_] != sign) return false;
        ++at_;
        return true;
    }
    double sum() {
        double result = product();
        while (true) {
            if (take(" + "))
                result += product();
            else if (take(" − "))
                result -= product();
            else
                return result;
        }
    }
    double product() {
        double result = power();
        while (true) {
            if (take("·"))
                result *= power();
            else if (take("/"))
                result /= power();
            else
                return result;
        }
    }
    double power() {
        double result = single();
        while (take("²")) result *= result;
        return result;
    }
    double closed(double value, const char* sign) { return take(sign) ? value : std::nan(""); }
    template <class Function>
    double two(Function&& of) {
        const double a = sum();
        if (!take(", ")) return std::nan("");
        const double b = sum();
        return closed(of(a, b), ")");
    }
    double single() {
        if (take("(")) {
            const double result = sum();
            return take(")") ? result : std::nan("");
        }
        if (take("max(")) return two([](double a, double b) { return std::max(a, b); });
        if (take("min(")) return two([](double a, double b) { return std::min(a, b); });
        if (take("⌈")) return closed(std::ceil(sum()), "⌉");
        if (take("log₂(")) return closed(std::log2(sum()), ")");
        if (take("ln(")) return closed(std::log(sum()), ")");
        if (take("√(")) return closed(std::sqrt(sum()), ")");
        if (take("∜(")) {
            const double a = power();
            if (!take("⁴ + ")) return std::nan("");
            return closed(std::pow(std::pow(a, 4) + std::pow(power(), 4), 0.25), "⁴)");
        }
        if (at_ >= tokens_.size()) return std::nan("");
        const Json& token = tokens_[at_++];
        if (token.is_number()) return token.get<double>();
        const auto symbol = token.find("symbol");
        if (!token.is_object() || token.size() != 1 || symbol == token.end() || !symbol->is_string()) return std::nan("");
        const auto known = values_.find(symbol->get<std::string>());
        return known == values_.end() ? std::nan("") : known->second;
    }

    const Json& tokens_;
    const Values& values_;
    std::size_t at_ = 0;
};

double evaluate(const Json& tokens, const Values& values) { return FormulaReader(tokens, values).value(); }

bool nearly(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)); }  // false for NaN

std::string formula_defect(double value, const Json& formula, const Json& numbers, const Json& where) {
    Values values;
    bool given_seen = false;
    for (const Json& entry : where) {
        const std::string symbol = entry["symbol"].get<std::string>();
        if (!values.emplace(symbol, entry["value"].get<double>()).second) return "two meanings of " + symbol;
        if (entry["formula"].is_null() && !entry["numbers"].is_null()) return "half a definition of " + symbol;
        if (entry["formula"].is_null())
            given_seen = true;
        else if (given_seen)
            return symbol + " is computed, but comes after given ones";
    }
    if (!nearly(evaluate(formula, values), value)) return "symbols: " + formula.dump();
    if (!nearly(evaluate(numbers), value)) return "numbers: " + numbers.dump();
    std::map<std::string, bool> used;
    const auto use = [&](const Json& tokens) {
        for (const Json& token : tokens)
            if (token.is_object()) used[token["symbol"].get<std::string>()] = true;
    };
    use(formula);
    for (const Json& entry : where) {
        if (entry["formula"].is_null()) continue;
        const double expected = entry["value"].get<double>();
        if (!nearly(evaluate(entry["formula"], values), expected)) return "where, symbols: " + entry.dump();
        if (!entry["numbers"].is_null() && !nearly(evaluate(entry["numbers"]), expected)) return "where, numbers: " + entry.dump();
        use(entry["formula"]);
    }
    if (used.size() != values.size()) return "where explains symbols that do not appear";
    return "";
}

}  // namespace fourfold::tests
