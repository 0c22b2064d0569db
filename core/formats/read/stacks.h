// What the readers of smaller stacks on PyTorch share.
#pragma once
#include <span>
#include <string>

#include "formats/entries.h"
#include "formats/keys.h"

namespace fourfold {

// The first row of a field that says a number above 0 counts.
void read_rows(Import& import, std::span<const KeyRow> rows);
// Degrees, all of them said, whose product is the number of GPUs; `times` is what is known before.
void multiply_degrees(Import& import, std::initializer_list<const char*> keys, std::int64_t times = 1);
// A pipeline's schedule by PyTorch's names; what is none of ours is noted.
void name_schedule(Import& import, const char* key);
// "torch.bfloat16" is "bf16".
std::string number_type_of(std::string name);
// What NeMo Automodel's own files say of FSDP2, Megatron-FSDP and DDP, of types and of the optimizer: "distributed.", "model.",
// "optimizer."; another program around it has the same.
void read_automodel_degrees(Import& import);
void read_automodel_types(Import& import);
void read_automodel_shards(Import& import);

}  // namespace fourfold
