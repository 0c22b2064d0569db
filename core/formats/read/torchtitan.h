// The parts of torchtitan's reader.
#pragma once
#include "formats/entries.h"

namespace fourfold {

// Whether a file, or a function, that is not here says the rest: "--job.config_file", "--module llama3 --config llama3_8b".
inline bool is_torchtitan_elsewhere(const Import& in) { return in.has("job.config_file") || in.has("config"); }
void read_torchtitan_batch(Import& import);
void read_torchtitan_schedule(Import& import);

}  // namespace fourfold
