// What the names of precisions and the settings of 8 bits say in recipes of Megatron-Bridge and NeMo 2.
#pragma once
#include "formats/entries.h"

namespace fourfold {

// The entries have their bare names. Afterwards they are Megatron-LM's: bf16, fp8_format, fp8_param_gather.
void read_recipe_precision(Import& import, bool bridge);

}  // namespace fourfold
