// The formula shown is the formula run. Formulas are written once over a number type N:
//   double   in the search: nothing but arithmetic;
//   Traced   for the plan on the page: a number that remembers how it was computed, and can print that in symbols, with the numbers
//            put in, and as LaTeX.
// Use:   const N h = quantity<N>({"h", "hidden_size", "values_per_token"}, 4096);
//        const N P = named<N>({"P", "gpu_parameters", ""}, 2 * h * h / t);      P prints as "P", explained by its own formula
// A symbol's letter may end in "_x" for a subscript; where several symbols are alike, theirs ends in the letter of their Part. Symbols are
// compared by letter: one letter means one thing within a formula. Meaning, unit and part are ids: the words are "symbol.hidden_size",
// "unit.values_per_token" and "part.qkv"; a symbol of a part has the words "symbol.input_gradient.of", in which {part} stands. Besides + -
// * / there are squared, max, min, ceil, log2, log (the natural one), sqrt and norm4; in a formula over N, `using std::max;` and the like
// take the one that N needs.
#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include "base/fields.h"

namespace fourfold {

// Of several that are computed alike: {"F", "forward_multiplication"} of {"q", "query"} is F_q; and G_f of e is G_fe.
struct Part {
    const char* letter;
    const char* id;
};
struct Symbol {
    const char* letter;
    const char* meaning;
    const char* unit;
    const Part* of = nullptr;
};
// A number that a formula shows under its symbol.
struct Constant {
    Symbol symbol;
    double value;
};

// Counts the uses of its expression, shared with the numbers computed from it. (One count, in functions of their own: a formula is a few
// calls then, a third of what std::shared_ptr makes of it.)
class Traced {
 public:
    struct Node;

    Traced() = default;
    Traced(double literal);  // NOLINT(google-explicit-constructor): so that "2 * h" reads as on paper
    Traced(const Traced& other);
    Traced(Traced&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Traced& operator=(Traced other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~Traced();
    static Traced symbol(const Symbol& s, double value) { return symbol(s.letter, s.meaning, s.unit, s.of, value); }
    static Traced named(const Symbol& s, const Traced& definition) { return named(s.letter, s.meaning, s.unit, s.of, definition); }
    // Where `value` is computed in another order than the definition is written in, and differs from it in the last bits.
    static Traced named(const Symbol& s, const Traced& definition, double value) { return named(s, definition).rounded(value); }
    // A named part as if it were given.
    Traced cited() const;

    double value() const;

    // Tokens (core/contract/api.md) of the formula itself: in symbols, and with the value of each symbol in its place.
    Json symbols() const;
    Json numbers() const;
    std::string latex() const;
    std::string latex_numbers() const;
    // Every symbol in it once, computed ones first, each with meaning, unit, value and, where computed, its own formula, also with numbers
    // put in unless they are left to the reader.
    Json where(bool with_numbers = true) const;

    // `a operation b`, one of + - * /. With a temporary on the left the result takes its place, and a number is no Traced first: as code
    // the formulas are much shorter so.
    static Traced combined(char operation, const Traced& a, const Traced& b);
    static Traced combined(char operation, double a, const Traced& b);
    static Traced combined(char operation, const Traced& a, double b);
    static Traced&& combined(char operation, Traced&& a, const Traced& b);
    static Traced&& combined(char operation, Traced&& a, double b);
    friend Traced squared(const Traced& a);
    friend Traced max(const Traced& a, const Traced& b);
    friend Traced min(const Traced& a, const Traced& b);
    friend Traced ceil(const Traced& a);
    friend Traced log2(const Traced& a);
    friend Traced log(const Traced& a);
    friend Traced sqrt(const Traced& a);
    friend Traced norm4(const Traced& a, const Traced& b);

 private:
    explicit Traced(Node* node) : node_(node) {}
    // A symbol in single arguments: less code at every call than one in memory.
    static Traced symbol(const char* letter, const char* meaning, const char* unit, const Part* of, double value);
    static Traced named(const char* letter, const char* meaning, const char* unit, const Part* of, const Traced& definition);
    Traced rounded(double value) const;

    Node* node_ = nullptr;
};

template <class A, class B, class PlainA = std::remove_cvref_t<A>, class PlainB = std::remove_cvref_t<B>>
inline constexpr bool kTracedOperands = (std::is_same_v<PlainA, Traced> &&
                                         (std::is_same_v<PlainB, Traced> || std::is_arithmetic_v<PlainB>)) ||
                                        (std::is_arithmetic_v<PlainA> && std::is_same_v<PlainB, Traced>);
template <class A, class B>
decltype(auto) operator+(A&& a, B&& b) requires kTracedOperands<A, B> {
    return Traced::combined('+', std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
decltype(auto) operator-(A&& a, B&& b) requires kTracedOperands<A, B> {
    return Traced::combined('-', std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
decltype(auto) operator*(A&& a, B&& b) requires kTracedOperands<A, B> {
    return Traced::combined('*', std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
decltype(auto) operator/(A&& a, B&& b) requires kTracedOperands<A, B> {
    return Traced::combined('/', std::forward<A>(a), std::forward<B>(b));
}

inline double squared(double a) { return a * a; }
double norm4(double a, double b);  // the fourth root of a^4 + b^4, of positive numbers: the larger one, and more where both are alike

inline double value_of(double number) { return number; }
inline double value_of(const Traced& number) { return number.value(); }

template <class N>
N quantity(const Symbol& symbol, double value) {
    if constexpr (std::is_same_v<N, Traced>)
        return Traced::symbol(symbol, value);
    else
        return value;
}

template <class N>
N quantity(const Constant& constant) {
    return quantity<N>(constant.symbol, constant.value);
}

template <class N>
N named(const Symbol& symbol, const N& definition) {
    if constexpr (std::is_same_v<N, Traced>)
        return Traced::named(symbol, definition);
    else
        return definition;
}
template <class N>
N named(const Symbol& symbol, const N& definition, double value) {
    if constexpr (std::is_same_v<N, Traced>)
        return Traced::named(symbol, definition, value);
    else
        return value;
}

// A result that another formula explains: here it is given, under its own letter or another one.
template <class N>
N cited(const N& result) {
    if constexpr (std::is_same_v<N, Traced>)
        return result.cited();
    else
        return result;
}
template <class N>
N cited(const Symbol& symbol, const N& result) {
    if constexpr (std::is_same_v<N, Traced>)
        return Traced::symbol(symbol, result.value());
    else
        return result;
}

// On paper nothing is added to nothing.
template <class N>
void add(N& sum, const N& term) {
    if constexpr (!std::is_same_v<N, Traced>)
        sum += term;
    else if (value_of(term) != 0)
        sum = value_of(sum) != 0 ? sum + term : term;
}

}  // namespace fourfold
