#include "links/links.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"
#include "base/text.h"

namespace fourfold {

namespace {

constexpr std::size_t kLongestName = 255;  // bytes, as of a host
constexpr double kGiga = 1e9, kMicro = 1e-6;
constexpr double kSlowest = 1e3, kFastest = 1e15;  // B/s: a modem, and a hundred times an NVLink switch; beyond lies another unit
constexpr double kLongestLatency = 10;             // s

std::string_view short_name(std::string_view name) { return name.substr(0, 80); }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }
std::string count_text(std::size_t count) { return grouped(static_cast<std::int64_t>(count)); }

// What a matrix of the JSON form holds: its key, the factor to SI and the range of what is off the diagonal.
struct Quantity {
    const char* key;
    double scale;
    bool rate;
};

class ObjectReader {
 public:
    ObjectReader(const Json& json, const LinkKeys& keys, bool gaps, FirstProblems& problems, api::LinkColumns columns)
        : json_(json), keys_(keys), gaps_(gaps), problems_(problems), columns_(std::move(columns)) {}

    Links read() {
        if (!json_.is_object()) {
            problems_.add("", "type", shown(json_), "Measured links must be an object.",
                          joined({"It has the keys ", keys_.nodes, " and ", keys_.rates, "."}));
            return {};
        }
        read_names();
        if (!keys_.others) reject_unknown();
        if (links_.names.empty()) return {};
        const Json* rates = find(keys_.rates);
        if (!columns_.gbyte_per_s.empty())
            read_column(columns_.gbyte_per_s, {keys_.rates, kGiga, true}, links_.byte_per_s);
        else if (rates == nullptr)
            problems_.add(keys_.rates, "missing", nullptr, "The matrix of bandwidths is missing.",
                          "Give one row per sender, in GB/s (10^9 bytes per second).");
        else
            read_matrix(*rates, {keys_.rates, kGiga, true}, links_.byte_per_s);
        if (!columns_.latency_us.empty())
            read_column(columns_.latency_us, {keys_.latencies, kMicro, false}, links_.latency_s);
        else if (const Json* latency = find(keys_.latencies); latency != nullptr && !latency->is_null())
            read_matrix(*latency, {keys_.latencies, kMicro, false}, links_.latency_s);
        return std::move(links_);
    }

 private:
    const Json* find(const char* key) const {
        if (key == nullptr) return nullptr;
        const auto found = json_.find(key);
        return found == json_.end() ? nullptr : &*found;
    }

    void read_names() {
        const Json *nodes = find(keys_.nodes), *gpus = find(keys_.gpus);
        if ((nodes == nullptr) == (gpus == nullptr)) {
            problems_.add(keys_.nodes, nodes == nullptr ? "missing" : "unknown", nullptr,
                          nodes == nullptr ? "The names of the nodes are missing." : "Both nodes and gpus are given.",
                          keys_.gpus == nullptr ? joined({"Give the list ", keys_.nodes, "."})
                                                : std::string("Give the list nodes, or the list gpus where each GPU was measured."));
            return;
        }
        links_.gpus = gpus != nullptr;
        const char* key = links_.gpus ? keys_.gpus : keys_.nodes;
        const Json& list = links_.gpus ? *gpus : *nodes;
        if (!list.is_array()) {
            problems_.add(key, "type", shown(list), joined({key, " must be a list of names."}), "");
            return;
        }
        std::vector<std::string> names;
        for (const Json& name : list) {
            const auto* text = name.get_ptr<const Json::string_t*>();
            if (text == nullptr)
                problems_.add(joined({key, "[", std::to_string(names.size()), "]"}), "type", shown(name),
                              joined({"Name ", count_text(names.size() + 1), " must be a text."}), "Put it in quotation marks.");
            names.push_back(text == nullptr ? joined({"unit ", std::to_string(names.size())}) : *text);
        }
        check_names(names, key, problems_);
        if (names.size() >= kFewestUnits && names.size() <= kMostUnits) links_.names = std::move(names);
    }

    void reject_unknown() {
        Problems none;
        FieldReader reader(json_, none);
        for (const char* known : {keys_.nodes, keys_.gpus, keys_.rates, keys_.latencies})
            if (known != nullptr) reader.any(known);
        reader.reject_unknown(problems_);
    }

    void read_matrix(const Json& rows, const Quantity& quantity, std::vector<double>& values) {
        const std::size_t n = links_.size();
        if (!rows.is_array() || rows.size() != n) {
            problems_.add(quantity.key, "type", nullptr,
                          joined({quantity.key, " must be a list of ", count_text(n), " rows, one per name",
                                  rows.is_array() ? joined({"; it has ", count_text(rows.size()), "."}) : std::string(".")}),
                          "");
            return;
        }
        values.assign(n * n, 0);
        for (std::size_t from = 0; from < n; ++from) {
            const Json& row = rows[from];
            if (!row.is_array() || row.size() != n) {
                const std::string had = row.is_array() ? joined({"; it has ", count_text(row.size()), "."}) : std::string(".");
                problems_.add(joined({quantity.key, "[", std::to_string(from), "]"}), "type", nullptr,
                              joined({"Row ", count_text(from + 1), " (", short_name(links_.names[from]), ") must have ", count_text(n),
                                      " numbers", had}),
                              "The matrix must be square: one row and one column per name.");
                continue;
            }
            for (std::size_t to = 0; to < n; ++to) values[from * n + to] = cell(row[to], quantity, from, to);
        }
    }

    // In place: the column becomes the matrix.
    void read_column(std::vector<double>& column, const Quantity& quantity, std::vector<double>& values) {
        const std::size_t n = links_.size();
        if (column.size() != n * n) {
            problems_.add(quantity.key, "type", nullptr,
                          joined({quantity.key, " must have ", count_text(n * n), " numbers, a row of ", count_text(n),
                                  " per name; it has ", count_text(column.size()), "."}),
                          "");
            return;
        }
        for (std::size_t i = 0; i < column.size(); ++i)
            column[i] = cell(std::isnan(column[i]) ? Json() : Json(column[i]), quantity, i / n, i % n);
        values = std::move(column);
    }

    double cell(const Json& value, const Quantity& quantity, std::size_t from, std::size_t to) {
        if (from == to && value.is_null()) return 0;
        if (from == to && value.is_number()) {
            const double inside = value.get<double>() * quantity.scale;
            return quantity.rate && inside >= kSlowest && inside <= kFastest ? inside : 0;
        }
        if (value.is_null() && gaps_) return std::numeric_limits<double>::quiet_NaN();
        const auto path = [&] { return joined({quantity.key, "[", std::to_string(from), "][", std::to_string(to), "]"}); };
        if (!value.is_number()) {
            if (!problems_.keeps_more())
                problems_.count();
            else if (value.is_null())
                problems_.add(path(), "missing", nullptr, joined({link_text(links_.names, from, to), ": nothing was measured."}),
                              "Give the number of the opposite direction.");
            else
                problems_.add(path(), "type", shown(value), joined({link_text(links_.names, from, to), ": a number is needed."}),
                              "Write digits only, without quotation marks.");
            return 0;
        }
        const double number = value.get<double>() * quantity.scale;
        if (quantity.rate) {
            if (!(number >= kSlowest && number <= kFastest)) check_rate(number, links_.names, from, to, path(), problems_);
        } else if (!(number >= 0 && number <= kLongestLatency)) {
            problems_.add(path(), "range", shown(value),
                          joined({link_text(links_.names, from, to), ": a latency must lie between 0 and 10 s."}),
                          "Latencies are in microseconds.");
        }
        return number;
    }

    const Json& json_;
    const LinkKeys& keys_;
    const bool gaps_;
    FirstProblems& problems_;
    api::LinkColumns columns_;
    Links links_;
};

Json matrix(const std::vector<double>& values, std::size_t n, double scale) {
    Json rows = Json::array();
    for (std::size_t from = 0; from < n; ++from) {
        Json row = Json::array();
        row.get_ptr<Json::array_t*>()->reserve(n);
        for (std::size_t to = 0; to < n; ++to) row.push_back(significant(values[from * n + to] * scale, 6));
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

void check_names(const std::vector<std::string>& names, std::string_view key, FirstProblems& problems) {
    if (names.size() < kFewestUnits || names.size() > kMostUnits) {
        problems.add(key, "range", static_cast<std::int64_t>(names.size()),
                     joined({"Links are read between ", count_text(kFewestUnits), " and ", count_text(kMostUnits), " units; ",
                             count_text(names.size()), names.size() == 1 ? " was given." : " were given."}),
                     names.size() > kMostUnits ? "Measure nodes instead of GPUs." : "");
        return;
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string number = count_text(i + 1);
        if (names[i].empty()) problems.add(key, "missing", nullptr, joined({"Name ", number, " is empty."}), "Give every unit a name.");
        if (std::any_of(names[i].begin(), names[i].end(), is_control))
            problems.add(key, "range", nullptr, joined({"Name ", number, " holds a line break, a tab or another control character."}),
                         "Write the name of the host alone.");
        if (names[i].size() > kLongestName)
            problems.add(key, "range", nullptr, joined({"Name ", number, " has more than ", count_text(kLongestName), " bytes."}),
                         "Shorten it.");
        const auto same =
            std::lower_bound(order.begin(), order.end(), i, [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
        if (same != order.end() && names[*same] == names[i]) {
            if (!names[i].empty())
                problems.add(key, "unknown", shown(names[i]),
                             joined({"\"", *shown(names[i]).get_ptr<const Json::string_t*>(), "\" is there twice: as name ",
                                     count_text(*same + 1), " and as name ", number, "."}),
                             "Names must differ.");
        } else {
            order.insert(same, i);
        }
    }
}

std::string link_text(const std::vector<std::string>& names, std::size_t from, std::size_t to) {
    return joined({"From ", short_name(names[from]), " to ", short_name(names[to]), " (row ", count_text(from + 1), ", column ",
                   count_text(to + 1), ")"});
}

void check_rate(double byte_per_s, const std::vector<std::string>& names, std::size_t from, std::size_t to, std::string_view key,
                FirstProblems& problems) {
    if (byte_per_s >= kSlowest && byte_per_s <= kFastest) return;
    if (!problems.keeps_more()) return problems.count();
    const double gbyte = byte_per_s / kGiga;
    const Json value = std::isfinite(gbyte) ? Json(gbyte) : Json();
    const std::string link = link_text(names, from, to);
    if (!std::isfinite(gbyte))
        problems.add(key, "range", value, joined({link, ": the bandwidth is not a finite number."}), "Measure this link again.");
    else if (gbyte <= 0)
        problems.add(key, "range", value, joined({link, ": a bandwidth must be above 0; it is ", gbyte < 0 ? "negative." : "0."}),
                     "Measure this link again, or leave it empty: the opposite direction then stands for it.");
    else
        problems.add(key, "range", value, joined({link, ": ", number_text(gbyte, 3), " GB/s cannot be a link's bandwidth."}),
                     "Check the unit: between 1 kB/s and 1,000 TB/s are read.");
}

Links read_links_object(const Json& json, const LinkKeys& keys, bool gaps, FirstProblems& problems, api::LinkColumns columns) {
    return ObjectReader(json, keys, gaps, problems, std::move(columns)).read();
}

std::optional<Links> links_from_json(const Json& json, std::string_view field, Problems& problems, api::LinkColumns columns) {
    FirstProblems found(field);
    Links links = read_links_object(json, {}, false, found, std::move(columns));
    if (found.empty()) return links;
    found.move_to(problems);
    return std::nullopt;
}

Json links_to_json(const Links& links) {
    Json names = Json::array();
    for (const std::string& name : links.names) names.push_back(name);
    Json json =
        Object().add(links.gpus ? "gpus" : "nodes", std::move(names)).add("gbyte_per_s", matrix(links.byte_per_s, links.size(), 1 / kGiga));
    if (!links.latency_s.empty()) json["latency_us"] = matrix(links.latency_s, links.size(), 1 / kMicro);
    return json;
}

}  // namespace fourfold
