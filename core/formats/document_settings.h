// Settings that a script writes to a file itself, in YAML or TOML: a part of both that people write by hand.
#pragma once
#include <string_view>
#include <vector>

#include "formats/entries.h"

namespace fourfold {

// `first_line`: of the file that it stands in; 0: not known. "key: value" with blocks inside of blocks, lists of scalars, and "[a, b]";
// what else YAML has is left out.
std::vector<Entry> yaml_settings(std::string_view text, std::int64_t first_line = 0);
// "[section]" and "key = value".
std::vector<Entry> toml_settings(std::string_view text, std::int64_t first_line = 0);

}  // namespace fourfold
