// Loops of one's own in PyTorch, around FSDP, and Lightning's: what they say of shards and types, in the words of accelerate's launcher.
#pragma once
#include <vector>

#include "formats/python/arguments.h"

namespace fourfold {

// Whether the call at that place makes shards; what it says is added.
bool add_own_fsdp(const PythonTokens& tokens, std::size_t at, const PythonArguments& reader, std::vector<Entry>& entries);
// Whether it is Lightning's trainer.
bool add_lightning(const PythonTokens& tokens, std::size_t at, const PythonArguments& reader, std::vector<Entry>& entries);

}  // namespace fourfold
