// Measurements of links, as the tools print them, read into Links. Each format has a reader; what holds for all (units, gaps, checks, the
// summary) is in read.cpp.
#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "links/collectives.h"
#include "links/links.h"

namespace fourfold {

inline constexpr std::size_t kMostLinksBytes = 32'000'000;  // of a measurement's text
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// As core/contract/api.md describes read_links.
Json read_links_answer(std::string_view request, Problems& problems);

// ---- units
struct Unit {
    std::string_view id;  // "gbyte_per_s"
    double byte_per_s;
    Text label() const { return {"unit", id}; }
};
const Unit* unit_of_id(std::string_view id);
// The unit that the text begins with, written so that bits and bytes differ ("GB/s", "Gbit/s", "MiB/s", "Gbps", "MBytes/sec"); `length` is
// what it takes. nullptr when there is none.
const Unit* unit_at(std::string_view text, std::size_t& length);
// Adds each unit named in the text, once.
void find_units(std::string_view text, std::vector<const Unit*>& found);

// ---- what a reader gives
struct Measured {
    Links links;  // kNotMeasured off the diagonal: a gap; without names where the text could not be read
    const Unit* unit = nullptr;
    std::string_view unit_source;        // who says the unit: the file, the documentation of the tool, or the request
    std::vector<AllReduce> all_reduces;  // over all GPUs: of no single link
    std::vector<Text> notes;
    // What holds for some of the measurement's parts; nothing where there are none.
    void note(const char* id, const char* what, std::size_t count) {
        if (count > 0) notes.push_back(Text(id).with(what, count));
    }
};
inline constexpr std::string_view kSaidByFile = "file", kSaidByTool = "tool", kChosen = "chosen";

// `chosen` is the unit that the request names, nullptr for "auto".
Measured read_matrix_text(std::string_view text, const Unit* chosen, FirstProblems& problems);
Measured read_mpigraph(std::string_view text, FirstProblems& problems);
Measured read_nccl_tests(std::string_view text, FirstProblems& problems);
Measured read_osu(std::string_view text, FirstProblems& problems);

// ---- lines
constexpr std::size_t kMostCells = kMostUnits + 3;  // of a line: a few more than a matrix can have columns
// Launchers put the rank before each line when asked to: "[1,0]<stdout>:" (Open MPI), "0: " (Slurm). The line without it, trimmed.
std::string_view unlabelled(std::string_view line);

// ---- pair by pair
// Links that were measured one pair at a time. Units are numbered as they come up.
class PairTable {
 public:
    // byte_per_s or latency_s may be kNotMeasured. Of what comes twice the mean counts.
    void add(std::string_view from, std::string_view to, double byte_per_s, double latency_s);
    bool empty() const { return entries_.empty(); }
    // The matrix, without numbers when there are more units than can be read; a note when pairs were measured twice.
    void build(Measured& measured) const;

 private:
    std::size_t unit(std::string_view name);
    struct Entry {
        std::size_t from, to;
        double byte_per_s, latency_s;
    };
    std::vector<std::string> names_;
    std::vector<std::size_t> order_;  // of the names, sorted
    std::vector<Entry> entries_;
};

}  // namespace fourfold
