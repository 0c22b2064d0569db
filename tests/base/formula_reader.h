// Reads a printed formula back: an evaluator of token lists (core/contract/api.md) by the rules of school, which knows nothing of how they
// were made.
//   sum = product { (" + " | " − ") product }    product = power { ("·" | "/") power }    power = single { "²" }
//   single = "(" sum ")" | number | symbol | ("max(" | "min(") sum ", " sum ")" | "⌈" sum "⌉" | ("log₂(" | "ln(") sum ")"
//          | "∜(" power "⁴ + " power "⁴)"
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/fields.h"

namespace fourfold::tests {

using Values = std::map<std::string, double>;  // of symbols

double evaluate(const Json& tokens, const Values& values = {});

bool nearly(double a, double b);

// What does not add up in a printed formula, "" when all does: a number in it, a definition in "where", or a symbol given twice or not at
// all.
std::string formula_defect(double value, const Json& formula, const Json& numbers, const Json& where);

}  // namespace fourfold::tests
