// OLMo-core's configuration made in Python, of one object for each part.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "formats/read/jobs.h"

namespace fourfold {

// `all`: what read_python() says of the same text.
std::optional<ReadJobs> read_python_olmo(std::string_view text, const std::vector<Entry>& all, const NamesSet& set);

}  // namespace fourfold
