// Commands that a text in Python starts: subprocess.run(["python3", "train.py", …]), or a text of one.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "formats/read/jobs.h"

namespace fourfold {

// `all`: what the text sets. The first such command whose format is known; or a list of "key=value" alone.
std::optional<ReadJobs> read_python_commands(std::string_view text, const std::vector<Entry>& all, const NamesSet& set);

// Whether it hands on a text of arguments that it put together.
inline bool puts_arguments_together(std::string_view text) { return text.find("execute_train(") != std::string_view::npos; }

}  // namespace fourfold
