// What the readers of smaller stacks on PyTorch share.
#pragma once
#include <span>
#include <string>

#include "formats/entries.h"
#include "formats/keys.h"

namespace fourfold {

// The first row of a field that says a number above 0 counts.
void read_rows(Import& import, std::span<const KeyRow> rows);
// Degrees, all of them said, whose product is the number of GPUs.
void multiply_degrees(Import& import, std::initializer_list<const char*> keys);
// A pipeline's schedule by PyTorch's names; what is none of ours is noted.
void name_schedule(Import& import, const char* key);
// "torch.bfloat16" is "bf16".
std::string number_type_of(std::string name);

}  // namespace fourfold
