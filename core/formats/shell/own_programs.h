// Training programs of somebody's own, which a launcher starts.
#pragma once
#include <vector>

#include "formats/read/jobs.h"
#include "formats/shell/script_commands.h"

namespace fourfold {

constexpr int kOfMegatron = 3;  // arguments of Megatron-LM that make a command one

// "python finetune.py", "accelerate launch train.py": neither a module nor a program that is known.
bool runs_own_program(const ShellCommand& command);
// What TRL's programs do unsaid.
void add_trl(const ShellCommand& command, std::vector<Entry>& entries);
// "litgpt finetune_lora MODEL", "litgpt/finetune/lora.py": what it does, and the model behind it.
void add_litgpt(const ShellCommand& command, std::vector<Entry>& entries);
// "./train_gpt2cu -b 64 -t 1024" of llm.c, whose arguments have one dash: they leave the command. Its train_gpt2.py has the same.
void add_llmc(const ShellScript& script, ShellCommand& command, std::vector<Entry>& entries);
// "xtuner train CONFIG --deepspeed deepspeed_zero2": its file.
void add_xtuner(const ShellCommand& command, std::vector<Entry>& entries);
// "colossalai run --nproc_per_node 8 benchmark.py -p 3d -b 8 -l 4096": what its programs call so.
void add_colossal(const ShellCommand& command, std::vector<Entry>& entries);
// "train.py config/train_gpt2.py" of nanoGPT: the file that says the rest.
void add_nanogpt(const ShellScript& script, const ShellCommand& command, const NamesSet& set, std::vector<Entry>& entries);
// Whether its settings are those of a program that is known and not read, which may have names of Megatron-LM's, too.
bool runs_other(ShellCommand command);
// Whether the program's name says that it trains nothing, and no argument says otherwise.
bool trains_nothing(const ShellCommand& command, const std::vector<Entry>& entries);
// Who reads its arguments; nullptr: nothing tells that it trains a model of language.
const FormatReader* own_reader(const ShellScript& script, const ShellCommand& command, const std::vector<Entry>& entries);
// Who reads the arguments of what a framework's own launcher starts, whatever they are called; nullptr: it is none.
const FormatReader* launched_reader(const ShellCommand& command, const std::vector<Entry>& entries);
// accelerate's file, where the script writes it, and what it takes from the environment.
void add_launcher_file(const ShellScript& script, const ShellCommand& command, Import& import);

}  // namespace fourfold
