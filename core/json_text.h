// JSON as text. Answers are long and most of the work of some of them: this is compiled for speed and knows one layout, the shortest.
#pragma once
#include <string>

#include "fields.h"

namespace fourfold {

// What Json::dump() writes. Each byte that belongs to no UTF-8 character becomes U+FFFD, a number that is not finite null.
std::string json_text(const Json& value);

}  // namespace fourfold
