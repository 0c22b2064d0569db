// How many GPUs a script starts its program on.
#pragma once
#include <functional>

#include "formats/entries.h"
#include "formats/shell/shell.h"

namespace fourfold {

// The arguments of a command as entries: "--name value", "--name=value", "--name".
std::vector<Entry> arguments_of(const ShellCommand& command);

// Sets "gpus" and "gpus_per_node" of the job from the command's launcher, from what the scheduler is asked for, or from variables whose
// names say so. Nothing where none of them tells: the product of the degrees is never taken.
void read_launch(const ShellScript& script, const ShellCommand& command, Import& import);

// The same from values of variables, "" where there is none.
void read_names(Import& import, const std::function<std::string(std::string_view)>& value);

}  // namespace fourfold
