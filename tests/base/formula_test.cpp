// The formula shown is the formula run: values, printed order, parentheses, LaTeX, legend.
#include "base/formula.h"

#include <doctest/doctest.h>

#include "base/formula_reader.h"
#include "random_cases.h"

using namespace fourfold;
using tests::evaluate;
using tests::Values;

namespace {

const Symbol kA{"a", "first", "apples"}, kB{"b", "second", ""}, kC{"c", "third", ""};
const Traced a = Traced::symbol(kA, 7), b = Traced::symbol(kB, 3), c = Traced::symbol(kC, 2);

// Tokens joined as the page prints them.
std::string text(const Json& tokens) {
    std::string line;
    for (const Json& token : tokens)
        line += token.is_string() ? token.get<std::string>() : token.is_object() ? token["symbol"].get<std::string>() : token.dump();
    return line;
}
std::string symbols(const Traced& formula) { return text(formula.symbols()); }
std::string numbers(const Traced& formula) { return text(formula.numbers()); }

std::string legend(const Traced& formula) {
    std::string letters;
    for (const Json& entry : formula.where()) letters += entry["symbol"].get<std::string>() + (entry["formula"].is_null() ? " " : "= ");
    return letters;
}

std::string defect(const Traced& formula) {
    return tests::formula_defect(formula.value(), formula.symbols(), formula.numbers(), formula.where());
}

// One random formula, as a double and traced, from the same choices.
struct Pair {
    double plain;
    Traced traced;
};
class RandomFormula {
 public:
    RandomFormula(tests::Random& random, bool with_differences) : random_(random), with_differences_(with_differences) {}
    Pair make(int depth) {
        if (depth == 0) return leaf();
        const Pair left = make(static_cast<int>(random_.from(0, depth - 1)));
        using std::ceil, std::log2, std::log, std::max, std::min, std::sqrt;
        switch (random_.from(0, 11)) {
            case 0:
                return {squared(left.plain), squared(left.traced)};
            case 1:
                return {left.plain, Traced::named({kNames[names_++ % std::size(kNames)], "", ""}, left.traced)};
            case 2:  // of sums a rounding step could fall just below one or just above
                if (with_differences_) return {ceil(left.plain), ceil(left.traced)};
                break;
            case 3:
                return {log2(1e3 + left.plain), log2(1e3 + left.traced)};  // far from 1, where a logarithm is near 0
            case 4:
                return {log(1e3 + left.plain), log(1e3 + left.traced)};
            case 5:
                return {sqrt(squared(left.plain)), sqrt(squared(left.traced))};
            default:
                break;
        }
        const Pair right = make(static_cast<int>(random_.from(0, depth - 1)));
        switch (random_.from(0, with_differences_ ? 6 : 5)) {
            case 3:
                return {max(left.plain, right.plain), max(left.traced, right.traced)};
            case 4:
                return {min(left.plain, right.plain), min(left.traced, right.traced)};
            case 5:
                return {norm4(left.plain, right.plain), norm4(left.traced, right.traced)};
            case 0:
                return {left.plain + right.plain, left.traced + right.traced};
            case 1:
                return {left.plain * right.plain, left.traced * right.traced};
            case 2:
                return {left.plain / right.plain, left.traced / right.traced};
            default:
                return {left.plain - right.plain, left.traced - right.traced};
        }
    }

 private:
    static constexpr const char* kLetters[] = {"a", "b", "c", "d", "e"};
    static constexpr double kValues[] = {3, 0.1, 4096, 1.0 / 3, 1e9 + 7};
    static constexpr const char* kNames[] = {"N_0", "N_1", "N_2", "N_3", "N_4", "N_5", "N_6", "N_7", "N_8", "N_9", "N_10", "N_11"};
    Pair leaf() {
        const auto i = static_cast<std::size_t>(random_.from(0, 6));
        if (i < std::size(kLetters)) return {kValues[i], Traced::symbol({kLetters[i], "", ""}, kValues[i])};
        const auto literal = static_cast<double>(random_.from(1, 12));
        return {literal, literal};
    }
    tests::Random& random_;
    bool with_differences_;
    std::size_t names_ = 0;
};

}  // namespace

TEST_CASE("a formula prints in the order in which it is computed") {
    CHECK(symbols(a + b) == "a + b");
    CHECK(symbols(a - b) == "a − b");
    CHECK(symbols(a * b) == "a·b");
    CHECK(symbols(a / b) == "a/b");
    CHECK(symbols(squared(a)) == "a²");
    CHECK(symbols(2 * a * b + c) == "2.0·a·b + c");
    CHECK(numbers(2 * a * b + c) == "2.0·7.0·3.0 + 2.0");
}

TEST_CASE("parentheses stay exactly where leaving them out would change the order of computing") {
    CHECK(symbols(a - (b - c)) == "a − (b − c)");
    CHECK(symbols((a - b) - c) == "a − b − c");
    CHECK(symbols(a - (b + c)) == "a − (b + c)");
    CHECK(symbols(a + (b - c)) == "a + (b − c)");
    CHECK(symbols(a + (b + c)) == "a + b + c");
    CHECK(symbols(a / (b * c)) == "a/(b·c)");
    CHECK(symbols(a / (b / c)) == "a/(b/c)");
    CHECK(symbols(a / b / c) == "a/b/c");
    CHECK(symbols(a / b * c) == "a/b·c");
    CHECK(symbols(a * (b * c)) == "a·(b·c)");
    CHECK(symbols(a * (b / c)) == "a·(b/c)");
    CHECK(symbols((a + b) * c) == "(a + b)·c");
    CHECK(symbols(a * (b + c)) == "a·(b + c)");
    CHECK(symbols(a + b * c) == "a + b·c");
    CHECK(symbols((a + b) / (b - c)) == "(a + b)/(b − c)");
    CHECK(symbols(squared(a + b)) == "(a + b)²");
    CHECK(symbols(squared(a * b)) == "(a·b)²");
    CHECK(symbols(a * squared(b)) == "a·b²");
    CHECK(symbols(a / squared(b)) == "a/b²");
    CHECK(symbols(squared(squared(a))) == "a²²");  // never written so in practice; still one meaning
}

TEST_CASE("a named part stands for itself, in symbols and in numbers") {
    const Traced sum = Traced::named({"S", "sum", "pears"}, a + b);
    CHECK(symbols(c * sum) == "c·S");
    CHECK(numbers(c * sum) == "2.0·10.0");
    CHECK(symbols(squared(sum)) == "S²");
    CHECK(legend(c * sum) == "S= c a b ");
    const Traced twice = Traced::named({"T", "twice", ""}, 2 * sum);
    CHECK(symbols(twice - c) == "T − c");
    CHECK(legend(twice - c) == "T= S= a b c ");
    CHECK(defect(twice - c) == "");
    const Json where = twice.where();
    CHECK(where[0] == tests::json(R"({"symbol": "T", "meaning": "twice", "part": null, "unit": "", "value": 20.0,
                                      "formula": [2.0, "·", {"symbol": "S"}], "numbers": [2.0, "·", 10.0]})"));
    CHECK(where[2] == tests::json(R"({"symbol": "a", "meaning": "first", "part": null, "unit": "apples", "value": 7.0,
                                      "formula": null, "numbers": null})"));
}

TEST_CASE("the legend has every symbol once, computed ones first") {
    const Traced S = Traced::named({"S", "", ""}, a * b);
    CHECK(legend(a + S * S + a * b) == "S= a b ");
    CHECK(legend(b * a * b) == "b a ");
    CHECK(legend(Traced(5)) == "");
    CHECK(legend(Traced::named({"U", "", ""}, S + c) + Traced::named({"V", "", ""}, S - c)) == "U= S= V= a b c ");
}

TEST_CASE("functions of one number and of two enclose what they are taken of") {
    const Traced d = Traced::symbol({"d", "fourth", ""}, 7.5);
    CHECK(symbols(max(a + b, a * b)) == "max(a + b, a·b)");
    CHECK(symbols(2 * min(a, b) / c) == "2.0·min(a, b)/c");
    CHECK(symbols(ceil(a / c) * b) == "⌈a/c⌉·b");
    CHECK(symbols(c * log2(a - b)) == "c·log₂(a − b)");
    CHECK(symbols(log(1 + a)) == "ln(1.0 + a)");
    CHECK(symbols(norm4(a, b) + c) == "∜(a⁴ + b⁴) + c");
    CHECK(symbols(norm4(a + b, 2 * c)) == "∜((a + b)⁴ + (2.0·c)⁴)");
    CHECK(symbols(squared(max(a, b))) == "max(a, b)²");
    CHECK(numbers(ceil(a / c) * max(b, c)) == "⌈7.0/2.0⌉·max(3.0, 2.0)");
    CHECK(ceil(d).value() == 8);
    CHECK(min(a, b).value() == 3);
    CHECK(max(a, b).value() == 7);
    CHECK(log2(c).value() == 1);
    CHECK(log(Traced(1)).value() == 0);
    CHECK(norm4(Traced(0.0), b).value() == 3);
    CHECK(norm4(b, b).value() == doctest::Approx(3 * std::pow(2, 0.25)));
    CHECK(norm4(0, 0) == 0);
    CHECK(max(a + b, a / c).latex() == "\\max\\left(a + b, \\frac{a}{c}\\right)");
    CHECK(min(a, b).latex() == "\\min\\left(a, b\\right)");
    CHECK(ceil(a / c).latex() == "\\left\\lceil \\frac{a}{c} \\right\\rceil ");
    CHECK(log2(a).latex() == "\\log_2\\left(a\\right)");
    CHECK(sqrt(a).latex() == "\\sqrt{a}");
    CHECK(log(a).latex() == "\\ln\\left(a\\right)");
    CHECK(norm4(a, b).latex() == "\\sqrt[4]{a^4 + b^4}");
    CHECK(norm4(Traced::symbol({"x", "", ""}, 2.5e-7), b).latex_numbers() == "\\sqrt[4]{\\left(2.5 \\cdot 10^{-7}\\right)^4 + 3^4}");
}

TEST_CASE("parts: the letter takes the part's as subscript, the meaning its name") {
    static constexpr Part kFirst{"q", "queries"}, kSecond{"o", "output"};
    const Traced first = Traced::symbol({"F", "forward pass", "s", &kFirst}, 2),
                 second = Traced::symbol({"F", "forward pass", "s", &kSecond}, 3);
    CHECK(symbols(first + second + first) == "F_q + F_o + F_q");
    CHECK((first * second).latex() == "F_{q} \\cdot F_{o}");
    const Json where = (first + second + first).where();
    CHECK(where.size() == 2);
    CHECK(where[0]["symbol"] == "F_q");
    CHECK(where[0]["meaning"] == "forward pass");
    CHECK(where[0]["part"] == "queries");
    CHECK(Traced::symbol({"G_f", "", "", &kFirst}, 1).latex() == "G_{fq}");
}

TEST_CASE("a named part may carry the value of another order of computing, and a cited one leaves its formula behind") {
    const Traced part = Traced::named({"S", "", ""}, a + b, 10.25);
    CHECK(part.value() == 10.25);
    CHECK(symbols(2 * part) == "2.0·S");
    CHECK(legend(part) == "S= a b ");
    CHECK(legend(cited<Traced>({"S", "", ""}, part) + c) == "S c ");
    CHECK(legend(cited(part) + c) == "S c ");
    CHECK(symbols(cited(a + b)) == "a + b");  // nothing to cite it by
    CHECK(named<double>({"S", "", ""}, 1, 2) == 2);
    CHECK(cited<double>({"S", "", ""}, 2) == 2);
}

TEST_CASE("LaTeX: fractions group themselves, subscripts are braced, numbers stay plain") {
    CHECK((a / b).latex() == "\\frac{a}{b}");
    CHECK((a / (b * c)).latex() == "\\frac{a}{b \\cdot c}");
    CHECK((a / (b + c)).latex() == "\\frac{a}{b + c}");
    CHECK((a / b / c).latex() == "\\frac{\\frac{a}{b}}{c}");
    CHECK((a / (b / c)).latex() == "\\frac{a}{\\frac{b}{c}}");
    CHECK((a * (b / c)).latex() == "a \\cdot \\frac{b}{c}");
    CHECK((a - (b - c)).latex() == "a - \\left(b - c\\right)");
    CHECK((a - (b + c)).latex() == "a - \\left(b + c\\right)");
    CHECK(((a + b) * c).latex() == "\\left(a + b\\right) \\cdot c");
    CHECK(squared(a).latex() == "a^2");
    CHECK(squared(a + b).latex() == "\\left(a + b\\right)^2");
    CHECK(squared(a / b).latex() == "\\left(\\frac{a}{b}\\right)^2");
    CHECK(squared(squared(a)).latex() == "\\left(a^2\\right)^2");
    CHECK(Traced::symbol({"t_ar", "", ""}, 1).latex() == "t_{ar}");
    CHECK(Traced::symbol({"x_1", "", ""}, 1).latex() == "x_{1}");
    CHECK((2 * a + 0.5).latex() == "2 \\cdot a + 0.5");
    CHECK((2 * a / b).latex_numbers() == "\\frac{2 \\cdot 7}{3}");
    CHECK((a * Traced::symbol({"v", "", ""}, 128'256)).latex_numbers() == "7 \\cdot 128256");
    CHECK(Traced::symbol({"W", "", ""}, 405'853'388'800).latex_numbers() == "405853388800");
    CHECK((Traced::symbol({"k", "", ""}, 0.25) - 1).latex_numbers() == "0.25 - 1");
}

TEST_CASE("LaTeX: numbers too large or small for plain digits are written as powers of ten") {
    CHECK(Traced::symbol({"W", "", ""}, 2e20).latex_numbers() == "2 \\cdot 10^{20}");
    CHECK(Traced::symbol({"W", "", ""}, 2.5e-7).latex_numbers() == "2.5 \\cdot 10^{-7}");
}

TEST_CASE("traced numbers are the doubles, bit for bit") {
    CHECK((a / b * c).value() == 7.0 / 3 * 2);
    CHECK((a * (b / c)).value() == 7 * (3.0 / 2));
    CHECK((Traced(0.1) + 0.2 + 0.3).value() == 0.1 + 0.2 + 0.3);
    CHECK((Traced(0.1) + (Traced(0.2) + 0.3)).value() == 0.1 + (0.2 + 0.3));
    tests::Random random(1);
    for (int i = 0; i < 5'000; ++i) {
        const Pair pair = RandomFormula(random, true).make(6);
        if (std::isfinite(pair.plain)) CHECK(pair.traced.value() == pair.plain);
    }
}

TEST_CASE("what is printed, read by the rules of school, is the value: symbols, numbers and every definition") {
    tests::Random random(2);
    for (int i = 0; i < 5'000; ++i) {
        // without differences: those of nearly equal numbers lose more than the digits compared here
        const Traced formula = RandomFormula(random, false).make(5).traced;
        if (std::isfinite(formula.value()) && formula.value() != 0) CHECK(defect(formula) == "");
    }
}

TEST_CASE("the reader of these tests is itself right") {
    const Values values = {{"a", 7}, {"b", 3}};
    const auto value = [&](const char* tokens) { return evaluate(tests::json(tokens), values); };
    CHECK(value(R"x([1, " + ", 2, "·", 3])x") == 7);
    CHECK(value(R"x(["(", 1, " + ", 2, ")", "·", 3])x") == 9);
    CHECK(value(R"x([12, "/", 2, "/", 3, "·", 5])x") == 10);
    CHECK(value(R"x([1, " − ", 2, " − ", 3])x") == -4);
    CHECK(value(R"x([2, "·", {"symbol": "a"}, "²", " − ", {"symbol": "b"}])x") == 95);
    CHECK(value(R"x(["max(", 1, " + ", 2, ", ", 2, ")", "·", "min(", 5, ", ", 4, ")"])x") == 12);
    CHECK(value(R"x(["⌈", {"symbol": "a"}, "/", {"symbol": "b"}, "⌉", " + ", "log₂(", 8, ")", " + ", "ln(", 1, ")"])x") == 6);
    CHECK(value(R"x(["∜(", "(", 1, " + ", 2, ")", "⁴ + ", 0, "⁴)"])x") == 3);
    for (const char* wrong : {R"x([])x", R"x([1, 2])x", R"x(["(", 1])x", R"x([1, ")"])x", R"x([1, " + "])x", R"x([{"symbol": "z"}])x",
                              R"x(["²"])x", R"x([1, "+", 2])x", R"x([{"x": 1}])x", R"x(["max(", 1, ")"])x", R"x(["⌈", 1, ")"])x",
                              R"x(["∜(", 1, " + ", 1, "⁴)"])x", R"x(["ln(", 1])x"}) {
        CAPTURE(std::string(wrong));
        CHECK(std::isnan(value(wrong)));
    }
}
