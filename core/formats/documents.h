// DeepSpeed's configuration, and accelerate's, where a script writes it to a file itself: cat <<EOF > ds_config.json.
#pragma once
#include <string_view>
#include <vector>

#include "formats/entries.h"
#include "formats/shell.h"

namespace fourfold {

// Its settings, with the script's variables in them; nothing where no here-document is such a configuration.
std::vector<Entry> deepspeed_documents(const ShellScript& script);
std::vector<Entry> accelerate_documents(const ShellScript& script);

struct FormatReader;
// The settings of the first here-document that is a file of one of the formats, and its reader; none: nullptr. `only`: of that format.
struct DocumentSettings {
    std::vector<Entry> entries;
    const FormatReader* reader = nullptr;
};
DocumentSettings document_settings(const ShellScript& script, std::string_view only = "");
// Each of them.
std::vector<DocumentSettings> all_document_settings(const ShellScript& script, std::string_view only = "");
// What accelerate's file says, as the arguments of "accelerate launch" that say the same.
std::vector<Entry> launched_entries(const ShellScript& script);

}  // namespace fourfold
