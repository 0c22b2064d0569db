// The contract (core/contract/*.json) as a check of answers and requests. It is strict: a key that stands in no schema is wrong, one that
// is missing too, and what is not a finite number is none. core/contract/README.md says which keywords there are.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "support.h"

namespace fourfold::tests {

// What is wrong with an answer of a function of api.h; "" when nothing is.
std::string answer_defect(const std::string& text, std::string_view function);
std::string answer_defect(const Json& answer, std::string_view function);

// What the contract says against a request; "" when nothing. A request that is answered must be one that the contract allows.
std::string request_defect(const Json& request, std::string_view function);

// The same for a part of an answer: the name is one of the contract's $defs.
std::string defect(const Json& value, std::string_view definition);

// Keys of the contract ("Estimate.job") that nothing checked so far had.
std::vector<std::string> keys_not_met();

}  // namespace fourfold::tests
