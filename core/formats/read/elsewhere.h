// Programs that take their settings from a file: the file stands in the script, or it must be pasted too.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "formats/read/jobs.h"

namespace fourfold {

// A command of such a program: with the file where the script writes it, else the job is what the command alone says, and the file is
// named.
std::optional<ReadJob> read_settings_file(const ShellScript& script, const ShellCommand& command, const NamesSet& set, std::string& format);
// A script that is not here, with arguments, and the file of Primus that it takes here.
std::optional<ReadJob> read_primus_script(const ShellScript& script, const ShellCommand& command, const NamesSet& set);
// Files of settings that the script writes, whatever program takes them; all of one format.
std::vector<ReadJob> read_documents(const ShellScript& script, const NamesSet& set, std::string& format);

// What arguments override stands in a file that is not here: torchtitan's CONFIG_FILE, llm-foundry's YAML.
void name_file(const ShellScript& script, const ShellCommand& command, const ShellCommand& rest, std::string_view format, Import& in);

}  // namespace fourfold
