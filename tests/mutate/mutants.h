// What one_binary.mjs writes into a copy of the formulas: each place computes as before, or as its mutant if that is the one chosen. The
// variable FOURFOLD_MUTANT of the environment chooses one by its id; without it, none.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace mutants {

// Above every constant that has a mutant, so that it has its value first.
inline const int chosen = [] {
    const char* number = std::getenv("FOURFOLD_MUTANT");
    return number == nullptr ? -1 : std::atoi(number);
}();

template <int id>
bool is_chosen() {
    return chosen == id;
}

template <int id, class A, class B>
std::common_type_t<A, B> number(A was, B now) {
    return is_chosen<id>() ? now : was;
}

// a + b is written a + Plus<7>{} + b: the first sign takes a, the second computes. So the rules of precedence hold as they did.
#define MUTANTS_OF_A_SIGN(Name, was, now)                                                \
    template <int id>                                                                    \
    struct Name {};                                                                      \
    template <int id, class A>                                                           \
    struct Name##Left {                                                                  \
        A&& value;                                                                       \
    };                                                                                   \
    template <int id, class A>                                                           \
    Name##Left<id, A> operator was(A&& left, Name<id>) {                                 \
        return {std::forward<A>(left)};                                                  \
    }                                                                                    \
    template <int id, class A, class B>                                                  \
    auto operator was(Name##Left<id, A>&& left, B&& right) {                             \
        return is_chosen<id>() ? std::forward<A>(left.value) now std::forward<B>(right)  \
                               : std::forward<A>(left.value) was std::forward<B>(right); \
    }
MUTANTS_OF_A_SIGN(Plus, +, -)
MUTANTS_OF_A_SIGN(Minus, -, +)
MUTANTS_OF_A_SIGN(Times, *, /)
MUTANTS_OF_A_SIGN(Over, /, *)
MUTANTS_OF_A_SIGN(AtMost, <=, <)
MUTANTS_OF_A_SIGN(AtLeast, >=, >)
MUTANTS_OF_A_SIGN(Below, <, <=)
MUTANTS_OF_A_SIGN(Above, >, >=)
MUTANTS_OF_A_SIGN(Equal, ==, !=)
MUTANTS_OF_A_SIGN(Unequal, !=, ==)
#undef MUTANTS_OF_A_SIGN

template <int id, class A, class B>
auto smaller(const A& a, const B& b) {
    using std::max, std::min;
    return is_chosen<id>() ? max(a, b) : min(a, b);
}
template <int id, class A, class B>
auto larger(const A& a, const B& b) {
    using std::max, std::min;
    return is_chosen<id>() ? min(a, b) : max(a, b);
}
template <int id, class A>
A smaller(std::initializer_list<A> all) {
    return is_chosen<id>() ? std::max(all) : std::min(all);
}
template <int id, class A>
A larger(std::initializer_list<A> all) {
    return is_chosen<id>() ? std::min(all) : std::max(all);
}
template <int id, class A>
auto rounded_up(const A& a) {
    using std::ceil;
    return is_chosen<id>() ? a : ceil(a);
}

}  // namespace mutants
