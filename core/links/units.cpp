// Units, lines and pairs: what the readers of measured links share.
#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/table.h"
#include "links/read.h"

namespace fourfold {

namespace {

constexpr double kMbyte = 1e6, kGibyte = 1024.0 * 1024 * 1024, kMibyte = 1024.0 * 1024, kBits = 8;  // bytes; bits in one
constexpr Unit kUnits[] = {
    {"gbyte_per_s", kGbyte},   {"gbit_per_s", kGbyte / kBits}, {"mbyte_per_s", kMbyte}, {"mbit_per_s", kMbyte / kBits},
    {"gibyte_per_s", kGibyte}, {"mibyte_per_s", kMibyte},      {"byte_per_s", 1},
};
constexpr std::size_t kLongestUnit = 18;  // characters: "GBytes per second" and what follows

constexpr std::size_t kLongestLabel = 24;  // characters of "[1,0]<stdout>:"

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

const Unit* unit_of_id(std::string_view id) {
    for (const Unit& unit : kUnits)
        if (unit.id == id) return &unit;
    return nullptr;
}

// [GM][i] (B | Byte(s) | b | bit(s)) (/s | /sec | ps | _per_s | per second). A lone b or B tells bits from bytes, so that "gb/s" says
// nothing.
const Unit* unit_at(std::string_view text, std::size_t& length) {
    std::size_t at = 0;
    const auto take = [&](std::string_view word) {
        if (!text.substr(at).starts_with(word)) return false;
        at += word.size();
        return true;
    };
    const bool giga = take("G") || take("g"), mega = !giga && (take("M") || take("m"));
    const bool prefixed = giga || mega, binary = prefixed && take("i");
    const bool small = prefixed && (text[0] == 'g' || text[0] == 'm');
    bool byte = take("Bytes") || take("Byte") || take("bytes") || take("byte"), bit = !byte && (take("bits") || take("bit"));
    if (!byte && !bit && !small) byte = take("B"), bit = !byte && prefixed && take("b");
    if (!byte && !bit) return nullptr;
    if (!take("/second") && !take("/sec") && !take("/s") && !take("ps") && !take("_per_s") && !take(" per second")) return nullptr;
    if (at < text.size() && is_word(text[at])) return nullptr;
    length = at;
    const std::string_view id = giga   ? (binary ? "gibyte_per_s"
                                          : bit  ? "gbit_per_s"
                                                 : "gbyte_per_s")
                                : mega ? (binary ? "mibyte_per_s"
                                          : bit  ? "mbit_per_s"
                                                 : "mbyte_per_s")
                                       : "byte_per_s";
    return (bit && (binary || !prefixed)) ? nullptr : unit_of_id(id);
}

void find_units(std::string_view text, std::vector<const Unit*>& found) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i > 0 && is_letter(text[i - 1])) continue;
        std::size_t length = 0;
        const Unit* unit = unit_at(text.substr(i, kLongestUnit), length);
        if (unit != nullptr && std::find(found.begin(), found.end(), unit) == found.end()) found.push_back(unit);
    }
}

std::string_view unlabelled(std::string_view line) {
    if (line.starts_with('[')) {
        const std::size_t end = line.find(">:");
        if (end != std::string_view::npos && end < kLongestLabel) line.remove_prefix(end + 2);
    } else {
        std::size_t digits = 0;
        while (digits < line.size() && line[digits] >= '0' && line[digits] <= '9') ++digits;
        if (digits > 0 && line.substr(digits).starts_with(": ")) line.remove_prefix(digits + 2);
    }
    return trimmed(line);
}

std::size_t PairTable::unit(std::string_view name) {
    const auto place =
        std::lower_bound(order_.begin(), order_.end(), name, [&](std::size_t i, std::string_view other) { return names_[i] < other; });
    if (place != order_.end() && names_[*place] == name) return *place;
    if (names_.size() > kMostUnits) return kMostUnits;  // too many already: build() says no more than that
    order_.insert(place, names_.size());
    names_.emplace_back(name);
    return names_.size() - 1;
}

void PairTable::add(std::string_view from, std::string_view to, double byte_per_s, double latency_s) {
    const std::size_t first = unit(from);
    entries_.push_back({first, unit(to), byte_per_s, latency_s});
}

void PairTable::build(Measured& measured) const {
    Links& links = measured.links;
    links.names = names_;
    const std::size_t n = names_.size();
    if (n > kMostUnits) return;
    links.byte_per_s.assign(n * n, 0);
    links.latency_s.assign(n * n, 0);
    std::vector<std::uint32_t> rates(n * n, 0), latencies(n * n, 0);
    for (const Entry& entry : entries_) {
        const std::size_t at = entry.from * n + entry.to;
        if (!std::isnan(entry.byte_per_s)) links.byte_per_s[at] += entry.byte_per_s, ++rates[at];
        if (!std::isnan(entry.latency_s)) links.latency_s[at] += entry.latency_s, ++latencies[at];
    }
    std::size_t repeated = 0;
    for (std::size_t at = 0; at < n * n; ++at) {
        if (at / n == at % n) continue;
        repeated += rates[at] > 1 ? 1 : 0;
        links.byte_per_s[at] = rates[at] == 0 ? kNotMeasured : links.byte_per_s[at] / rates[at];
        links.latency_s[at] = latencies[at] == 0 ? kNotMeasured : links.latency_s[at] / latencies[at];
    }
    measured.note("note.links.repeated", "links", repeated);
}

}  // namespace fourfold
