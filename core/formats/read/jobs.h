// What a text or a list of settings holds, whatever its format: jobs, each read by the reader of its format.
#pragma once
#include <optional>

#include "formats/settings.h"
#include "formats/shell/shell.h"

namespace fourfold {

struct ReadJob {
    std::string title;
    std::int64_t line = 0;
    Import in;
};
struct ReadJobs {
    std::string format;  // an id of ImportFormat in core/contract
    bool complete = true;
    std::vector<ReadJob> jobs;
    std::map<std::string, std::vector<std::string>> choices;  // an open name, and what the text compares it with
};
// One job more; what it leaves open is asked.
void add_job(ReadJobs& read, ReadJob job);

// A format, by its keys.
struct FormatReader {
    std::string_view id;
    std::string_view label;                              // "": as it is called where plans are written in it (job/config_format.h)
    int (*likeness)(const std::vector<Entry>& entries);  // 0: it is another format
    void (*read)(Import& import);
};
// The reader that the keys ask for; nullptr: none.
const FormatReader* reader_of(const std::vector<Entry>& entries);

const FormatReader* reader_called(std::string_view id);
// What a format is called.
std::string_view label_of_format(std::string_view id);

// Nothing where no format is recognised.
std::optional<ReadJobs> read_script(std::string_view text, const NamesSet& set, std::int64_t first_line = 1);
std::optional<ReadJobs> read_recipes(std::string_view text, const NamesSet& set,
                                     const std::vector<Entry>& launcher = {});  // in Python; what its launcher's file says
std::optional<ReadJobs> read_setting_jobs(std::vector<Entry> entries, const NamesSet& set);

// How many entries have a key that one of the patterns matches.
int count_like(const std::vector<Entry>& entries, std::initializer_list<std::string_view> patterns);

}  // namespace fourfold
