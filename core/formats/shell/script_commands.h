// The commands of a launch script: what they start, and which of their words are settings.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "formats/entries.h"
#include "formats/shell/shell.h"

namespace fourfold {

// Nothing is started, but lists of arguments are there to be started by another file: all of them as one command.
ShellCommand all_lists(const ShellScript& script);
// The script's own variables as the settings of a command.
ShellCommand all_variables(const ShellScript& script);
// Takes "a.b=c" out of the command's words.
std::vector<Entry> overrides_of(ShellCommand& command);
// Lines of "a.b=c" alone are one list of settings, not a program each.
std::vector<ShellCommand> joined_overrides(const std::vector<ShellCommand>& commands);
// "bash run.sh --num-layers 8": the rest of what it would start stands in that script; nullptr: it starts none.
const ShellWord* started_script(const ShellCommand& command);
inline bool starts_script(const ShellCommand& command) { return started_script(command) != nullptr; }
// "accelerate launch train.py", "swift sft": the word behind the program, one of these; "" where it is not there.
std::string started_with(const ShellCommand& command, std::string_view program, std::initializer_list<std::string_view> words);
// How Megatron-SWIFT trains; "": it is none of it.
std::string megatron_swift(const ShellCommand& command);
// Megatron-LM's own programs, some of whose arguments may stand in a file; and those that do not train.
bool pretrains(const ShellCommand& command);
bool only_evaluates(const ShellCommand& command);
std::string title_of(const ShellCommand& command);
// Options of a container's or a profiler's program, before the one that it starts, say nothing about the training.
void mark_wrappers(const ShellScript& script, Import& in);

// The environment before a command, as arguments: what it does not say itself.
void add_settings(const ShellCommand& command, Import& in);
// Whether names of this convention are set for a script that is not here.
bool sets_a_job(const ShellCommand& command);
// Whether what follows is told to a script of Pai-Megatron-Patch by the words' places.
bool starts_pai(const ShellCommand& command);
// The script that such a command starts is told the rest by what is set before: batch and length, the model by its name, the precision.
ShellCommand with_environment(const ShellScript& script, const ShellCommand& command);
void add_environment(const ShellCommand& command, Import& in);

}  // namespace fourfold
