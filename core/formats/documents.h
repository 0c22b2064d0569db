// DeepSpeed's configuration, and accelerate's, where a script writes it to a file itself: cat <<EOF > ds_config.json.
#pragma once
#include <string_view>
#include <vector>

#include "formats/entries.h"
#include "formats/shell/shell.h"

namespace fourfold {

// Its settings, with the script's variables in them; nothing where no here-document is such a configuration.
std::vector<Entry> deepspeed_documents(const ShellScript& script, const ShellCommand& command);
std::vector<Entry> accelerate_documents(const ShellScript& script, const ShellCommand& command);

struct FormatReader;
// How the name ends of a text without one, a part of a page: no command names it, and it may be a part of the file that one does.
inline constexpr char kNameless = ':';

// The settings of the here-document that is a file of one of the formats, and its reader; none: nullptr. `only`: of that format. The first,
// unless the command names another.
struct DocumentSettings {
    std::vector<Entry> entries;
    const FormatReader* reader = nullptr;
};
DocumentSettings document_settings(const ShellScript& script, const ShellCommand& command, std::string_view only);
// Of one that it names.
DocumentSettings named_settings(const ShellScript& script, const ShellCommand& command, std::string_view only = "");
// Each of them.
std::vector<DocumentSettings> all_document_settings(const ShellScript& script, std::string_view only = "");
// What accelerate's file says, as the arguments of "accelerate launch" that say the same.
std::vector<Entry> launched_entries(const ShellScript& script, const ShellCommand& command);
// Whether such an argument says something that is read.
bool is_of_launcher(std::string_view key);
// The values in the text of an object, with their paths below `path`.
void add_object(std::string_view text, const std::string& path, std::vector<Entry>& entries);

}  // namespace fourfold
