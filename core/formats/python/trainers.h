// Programs in Python that hold DeepSpeed's configuration as a dictionary, or start transformers' Trainer: a job for each.
#pragma once
#include <optional>
#include <string_view>

#include "formats/python/python.h"
#include "formats/read/jobs.h"

namespace fourfold {

// Nothing where the text holds neither. `all`: its assignments and arguments, in their order.
std::optional<ReadJobs> read_python_trainers(std::string_view text, const std::vector<Entry>& all, const NamesSet& set,
                                             const std::vector<Entry>& launcher);

}  // namespace fourfold
