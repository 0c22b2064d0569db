// A program in Python beside the command that starts it.
#pragma once
#include "formats/read/jobs.h"

namespace fourfold {

// The program, with the GPUs that its command starts and the settings of accelerate's file.
std::optional<ReadJobs> read_launched_program(std::string_view text, NamesSet set);

}  // namespace fourfold
