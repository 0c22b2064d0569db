// The measured links of a cluster: how fast each node (or GPU) sends to each other one, where a profile knows only tiers.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/columns.h"
#include "base/fields.h"

namespace fourfold {

inline constexpr std::size_t kFewestUnits = 2, kMostUnits = 2048;
inline constexpr double kMicrosecond = 1e-6;   // in seconds: the unit of the JSON form
inline constexpr int kWrittenDigits = 6;       // of its numbers
inline constexpr double kLongestLatency = 10;  // s

// Links between the units of a cluster. Both directions are kept: a unit may send faster than it receives.
struct Links {
    std::vector<std::string> names;  // of the units, nodes or single GPUs: each once, none empty
    bool gpus = false;               // the units are GPUs instead of nodes
    std::vector<double>
        byte_per_s;  // size() * size(), row = sender, column = receiver; on the diagonal (inside a unit) 0: as the profile says
    std::vector<double> latency_s;  // of the same shape, or empty

    std::size_t size() const { return names.size(); }
    double rate(std::size_t from, std::size_t to) const { return byte_per_s[from * size() + to]; }
    double latency(std::size_t from, std::size_t to) const { return latency_s.empty() ? 0 : latency_s[from * size() + to]; }  // s
};

// {"nodes": [names] or "gpus": [names], "gbyte_per_s": [[…]], "latency_us": [[…]]}; the last may be left out or null. On the diagonal null
// and any number mean the same: nothing. `field` is where the object lies in the request ("links"), "" for the request itself. Every
// mistake is a problem that names row and column; of more than 20 the first 20 and how many there are. `columns` are matrices that came
// beside the JSON and count instead of its own.
std::optional<Links> links_from_json(const Json& json, std::string_view field, Problems& problems, api::LinkColumns columns = {});

// The same form; numbers with at most 6 significant digits, since a matrix of 1,024 nodes has a million of them.
Json links_to_json(const Links& links);

// ---- for the readers of other formats
// The keys of an object that holds links.
struct LinkKeys {
    const char* nodes = "nodes";
    const char* gpus = "gpus";  // nullptr: it holds nodes alone
    const char* rates = "gbyte_per_s";
    const char* latencies = "latency_us";  // nullptr: none
    bool others = false;                   // further keys are ignored
};
// As links_from_json; with `gaps` a null off the diagonal is a link that was not measured, NaN in the result.
Links read_links_object(const Json& json, const LinkKeys& keys, bool gaps, FirstProblems& problems, api::LinkColumns columns = {});

// Between 2 and 2,048 names, none empty, each once.
void check_names(const std::vector<std::string>& names, std::string_view key, FirstProblems& problems);

// What is said of one link: "from", "to" (names), "row", "column" (from 1) stand in the sentence.
Text of_link(const char* id, const std::vector<std::string>& names, std::size_t from, std::size_t to);

// Whether a rate off the diagonal can be one: above 0, finite, and neither below 1 kB/s nor above 1,000 TB/s, which are other units.
void check_rate(double byte_per_s, const std::vector<std::string>& names, std::size_t from, std::size_t to, std::string_view key,
                FirstProblems& problems);

}  // namespace fourfold
