// Programs that take their settings from a file: the file stands in the script, or it must be pasted too.
#pragma once
#include <optional>
#include <string>

#include "formats/read_jobs.h"

namespace fourfold {

// A command of such a program: with the file where the script writes it, else the job is what the command alone says, and the file is
// named.
std::optional<ReadJob> read_settings_file(const ShellScript& script, const ShellCommand& command, const NamesSet& set, std::string& format);
// A file of settings that the script writes, whatever program takes it.
std::optional<ReadJob> read_document(const ShellScript& script, const NamesSet& set, std::string& format);

}  // namespace fourfold
