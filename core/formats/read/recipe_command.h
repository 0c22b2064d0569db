// Programs that train by the name of a recipe: "nemo llm pretrain", and the performance scripts of NeMo 2 and Megatron-Bridge.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "formats/entries.h"
#include "formats/shell/shell.h"

namespace fourfold {

struct RecipeCommand {
    std::string_view reader;  // an id of ImportFormat in core/contract
    std::vector<Entry> entries;
    bool starts_nodes = false;  // it asks the scheduler itself: what stands around it says nothing about its GPUs
};
// Nothing where the command is no such program. Overrides ("a.b=c") are taken out of the command before.
std::optional<RecipeCommand> recipe_command(const ShellCommand& command);

}  // namespace fourfold
