// The model of a recipe of Megatron-Bridge or NeMo 2.
#pragma once
#include "formats/entries.h"

namespace fourfold {

// The entries have their bare names. Whether the sizes are all there, for Megatron-LM's reader.
bool read_recipe_model(Import& import, bool bridge);

}  // namespace fourfold
