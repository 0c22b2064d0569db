// What a mistyped key most likely meant.
#pragma once
#include <string>

#include "formats/entries.h"

namespace fourfold {

// The key that a reader looked for, is not there, and is spelled like an entry that nobody understood; as that entry is written:
// "--num-layers" for "--num-layesr". "" where there is none.
std::string near_key(const Import& import, const Entry& entry);

}  // namespace fourfold
