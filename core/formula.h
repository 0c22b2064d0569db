// The formula shown is the formula run. Formulas are written once over a number type N:
//   double   in the search: nothing but arithmetic;
//   Traced   for the plan on the page: a number that remembers how it was computed, and can print that in symbols, with the numbers
//            put in, and as LaTeX.
// Use:   const N h = quantity<N>({"h", "hidden size", "values per token"}, 4096);
//        const N P = named<N>({"P", "parameters of one GPU", ""}, 2 * h * h / t);      P prints as "P", explained by its own formula
// Letters may end in "_x" for a subscript. Symbols are compared by letter: one letter means one thing within a formula.
#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include "fields.h"

namespace fourfold {

struct Symbol {
    const char* letter;
    const char* meaning;
    const char* unit;
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
    static Traced symbol(const Symbol& symbol, double value);
    static Traced named(const Symbol& symbol, const Traced& definition);

    double value() const;

    // TOKENs as documented in api.h, of the formula itself: in symbols, and with the value of each symbol in its place.
    Json symbols() const;
    Json numbers() const;
    std::string latex() const;
    std::string latex_numbers() const;
    // Every symbol in it once, computed ones first, each with meaning, unit, value and, where computed, its own formula.
    Json where() const;

    friend Traced operator+(const Traced& a, const Traced& b);
    friend Traced operator-(const Traced& a, const Traced& b);
    friend Traced operator*(const Traced& a, const Traced& b);
    friend Traced operator/(const Traced& a, const Traced& b);
    friend Traced squared(const Traced& a);

 private:
    explicit Traced(Node* node) : node_(node) {}
    Node* node_ = nullptr;
};

inline double squared(double a) { return a * a; }

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
N named(const Symbol& symbol, const N& definition) {
    if constexpr (std::is_same_v<N, Traced>)
        return Traced::named(symbol, definition);
    else
        return definition;
}

}  // namespace fourfold
