// A text in Python whose names at the margin are a program's settings: nanoGPT's, XTuner's, InternEvo's.
#pragma once
#include <optional>
#include <string_view>

#include "formats/python/python.h"
#include "formats/read/jobs.h"

namespace fourfold {

// "block_size = 1024", "parallel = dict(zero1=dict(size=8))", with the path of each key: "parallel.zero1.size". `all`: what read_python()
// says of the same text.
std::vector<Entry> python_settings(std::string_view text, const std::vector<Entry>& all, const NamesSet& set);
std::vector<Entry> python_settings(std::string_view text, const NamesSet& set);
// Nothing where they are of none of these programs.
std::optional<ReadJobs> read_python_settings(std::string_view text, const std::vector<Entry>& all, const NamesSet& set);
std::optional<ReadJobs> read_python_settings(std::string_view text, const NamesSet& set);
// A program of Colossal-AI with a single plugin: HybridParallelPlugin(tp_size=4, pp_size=2, zero_stage=1).
std::optional<ReadJobs> read_python_colossal(std::string_view text, const std::vector<Entry>& all, const NamesSet& set);
// Lines of "name = value" alone, which neither the shell nor a list of settings has.
bool assigns_alone(std::string_view text);

}  // namespace fourfold
