#include "links/links.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "base/numbers.h"
#include "base/text.h"

namespace fourfold {

namespace {

constexpr std::size_t kLongestName = 255;          // bytes, as of a host
constexpr double kSlowest = 1e3, kFastest = 1e15;  // B/s: a modem, and a hundred times an NVLink switch; beyond lies another unit
                                                   // (the words suggestion.rate.unit name both)

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// What is said of one name, which stands in the sentence by its number.
Text of_name(const char* id, std::size_t index) { return Text(id).with("number", index + 1); }

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
            problems_.add("", "type", shown(json_), "problem.links.no_object",
                          Text("suggestion.links.keys").with("names", keys_.nodes).with("rates", keys_.rates));
            return {};
        }
        read_names();
        if (!keys_.others) reject_unknown();
        if (links_.names.empty()) return {};
        const Json* rates = find(keys_.rates);
        if (!columns_.gbyte_per_s.empty())
            read_column(columns_.gbyte_per_s, {keys_.rates, kGbyte, true}, links_.byte_per_s);
        else if (rates == nullptr)
            problems_.add(keys_.rates, "missing", nullptr, "problem.links.no_rates", "suggestion.links.rates");
        else
            read_matrix(*rates, {keys_.rates, kGbyte, true}, links_.byte_per_s);
        if (!columns_.latency_us.empty())
            read_column(columns_.latency_us, {keys_.latencies, kMicrosecond, false}, links_.latency_s);
        else if (const Json* latency = find(keys_.latencies); latency != nullptr && !latency->is_null())
            read_matrix(*latency, {keys_.latencies, kMicrosecond, false}, links_.latency_s);
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
                          nodes == nullptr ? "problem.links.no_names" : "problem.links.two_lists",
                          keys_.gpus == nullptr ? Text("suggestion.links.list").with("key", keys_.nodes) : Text("suggestion.links.names"));
            return;
        }
        links_.gpus = gpus != nullptr;
        const char* key = links_.gpus ? keys_.gpus : keys_.nodes;
        const Json& list = links_.gpus ? *gpus : *nodes;
        if (!list.is_array()) {
            problems_.add(key, "type", shown(list), Text("problem.links.names_no_list").with("key", key), {});
            return;
        }
        std::vector<std::string> names;
        for (const Json& name : list) {
            const auto* text = name.get_ptr<const Json::string_t*>();
            if (text == nullptr)
                problems_.add(indexed(key, names.size()), "type", shown(name), of_name("problem.name.no_text", names.size()),
                              "suggestion.name.quotation_marks");
            names.push_back(text == nullptr ? joined({"#", std::to_string(names.size() + 1)}) : *text);
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
            Text message(rows.is_array() ? "problem.links.row_count" : "problem.links.no_rows");
            if (rows.is_array()) message.with("given", rows.size());
            problems_.add(quantity.key, "type", nullptr, message.with("key", quantity.key).with("rows", n), {});
            return;
        }
        values.assign(n * n, 0);
        for (std::size_t from = 0; from < n; ++from) {
            const Json& row = rows[from];
            if (!row.is_array() || row.size() != n) {
                Text message(row.is_array() ? "problem.links.row_length" : "problem.links.no_row");
                if (row.is_array()) message.with("given", row.size());
                message.with("row", from + 1).with("name", shown(links_.names[from])).with("columns", n);
                problems_.add(indexed(quantity.key, from), "type", nullptr, std::move(message), "suggestion.links.square");
                continue;
            }
            for (std::size_t to = 0; to < n; ++to) values[from * n + to] = cell(row[to], quantity, from, to);
        }
    }

    // In place: the column becomes the matrix.
    void read_column(std::vector<double>& column, const Quantity& quantity, std::vector<double>& values) {
        const std::size_t n = links_.size();
        if (column.size() != n * n) {
            Text message("problem.links.column");
            message.with("key", quantity.key).with("numbers", n * n).with("columns", n).with("given", column.size());
            problems_.add(quantity.key, "type", nullptr, std::move(message), {});
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
        const auto path = [&] { return indexed(indexed(quantity.key, from), to); };
        if (!value.is_number()) {
            if (!problems_.keeps_more())
                problems_.count();
            else if (value.is_null())
                problems_.add(path(), "missing", nullptr, of_link("problem.link.not_measured", links_.names, from, to),
                              "suggestion.link.opposite");
            else
                problems_.add(path(), "type", shown(value), of_link("problem.link.no_number", links_.names, from, to), "suggestion.digits");
            return 0;
        }
        const double number = value.get<double>() * quantity.scale;
        if (quantity.rate) {
            if (!(number >= kSlowest && number <= kFastest)) check_rate(number, links_.names, from, to, path(), problems_);
        } else if (!(number >= 0 && number <= kLongestLatency)) {
            problems_.add(path(), "range", shown(value),
                          of_link("problem.link.latency", links_.names, from, to).with("most", kLongestLatency),
                          "suggestion.link.microseconds");
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
        for (std::size_t to = 0; to < n; ++to) row.push_back(significant(values[from * n + to] * scale, kWrittenDigits));
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

void check_names(const std::vector<std::string>& names, std::string_view key, FirstProblems& problems) {
    if (names.size() < kFewestUnits || names.size() > kMostUnits) {
        problems.add(key, "range", static_cast<std::int64_t>(names.size()),
                     Text("problem.links.count").with("least", kFewestUnits).with("most", kMostUnits).with("given", names.size()),
                     names.size() > kMostUnits ? Text("suggestion.links.nodes") : Text());
        return;
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty()) problems.add(key, "missing", nullptr, of_name("problem.name.empty", i), "suggestion.name.give");
        if (std::any_of(names[i].begin(), names[i].end(), is_control))
            problems.add(key, "range", nullptr, of_name("problem.name.control", i), "suggestion.name.host");
        if (names[i].size() > kLongestName)
            problems.add(key, "range", nullptr, of_name("problem.name.long", i).with("most", kLongestName), "suggestion.name.shorten");
        const auto same =
            std::lower_bound(order.begin(), order.end(), i, [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
        if (same == order.end() || names[*same] != names[i])
            order.insert(same, i);
        else if (!names[i].empty())
            problems.add(key, "unknown", shown(names[i]),
                         of_name("problem.name.twice", i).with("name", shown(names[i])).with("first", *same + 1), "suggestion.name.differ");
    }
}

Text of_link(const char* id, const std::vector<std::string>& names, std::size_t from, std::size_t to) {
    return Text(id).with("from", shown(names[from])).with("to", shown(names[to])).with("row", from + 1).with("column", to + 1);
}

void check_rate(double byte_per_s, const std::vector<std::string>& names, std::size_t from, std::size_t to, std::string_view key,
                FirstProblems& problems) {
    if (byte_per_s >= kSlowest && byte_per_s <= kFastest) return;
    if (!problems.keeps_more()) return problems.count();
    const bool finite = std::isfinite(byte_per_s);
    Json value = finite ? Json(byte_per_s / kGbyte) : Json();
    if (!finite || byte_per_s <= 0) {
        const char* id = !finite ? "problem.rate.not_finite" : byte_per_s < 0 ? "problem.rate.negative" : "problem.rate.zero";
        problems.add(key, "range", std::move(value), of_link(id, names, from, to),
                     finite ? "suggestion.rate.again_or_empty" : "suggestion.rate.again");
    } else {
        problems.add(key, "range", std::move(value), of_link("problem.rate.impossible", names, from, to).with("rate", byte_per_s),
                     "suggestion.rate.unit");
    }
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
    Json json = Object()
                    .add(links.gpus ? "gpus" : "nodes", std::move(names))
                    .add("gbyte_per_s", matrix(links.byte_per_s, links.size(), 1 / kGbyte));
    if (!links.latency_s.empty()) json["latency_us"] = matrix(links.latency_s, links.size(), 1 / kMicrosecond);
    return json;
}

}  // namespace fourfold
