// What a program in Python tells accelerate itself (accelerate 1.10, utils/dataclasses.py and accelerator.py).
#pragma once
#include <vector>

#include "formats/python/arguments.h"

namespace fourfold {

// FSDP's or DeepSpeed's plugin, in the words of its launcher.
std::vector<Entry> told_accelerate(const PythonTokens& tokens, const PythonArguments& reader);
// A loop of one's own around Accelerator, which takes a batch of its data for each process unless it splits them. The optimizer is the one
// that it makes; layers are computed again where it says so. Nothing where there is none.
std::vector<Entry> accelerate_loop(const PythonTokens& tokens, const PythonArguments& reader);

}  // namespace fourfold
