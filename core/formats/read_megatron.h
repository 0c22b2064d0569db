// The arguments of Megatron-LM as a job, whoever wrote them down: a shell script, or YAML with the same names.
#pragma once
#include "formats/entries.h"

namespace fourfold {

// How many arguments of Megatron-LM that say a size or a split are among the entries.
int megatron_likeness(const std::vector<Entry>& entries);

// Reads the plan and the model; gpus, where known, is in import.job already.
void read_megatron(Import& import);
// Arguments that are known and change no number here.
void mark_without_number(Import& import);
// The model alone: import.config.
void read_megatron_model(Import& import);

}  // namespace fourfold
