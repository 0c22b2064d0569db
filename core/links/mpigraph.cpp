// mpiGraph's tables, which one run prints for all pairs. What they mean is in github.com/LLNL/mpiGraph, mpiGraph.c (its MB are 2^20 bytes);
// crunch_mpiGraph reads the same tables.
#include <algorithm>

#include "base/table.h"
#include "links/read.h"

namespace fourfold {

namespace {

struct Table {
    std::string_view name;
    std::vector<std::string_view> above;
    std::vector<std::string_view> left;
    std::vector<double> values;  // left.size() rows of above.size()
};

class GraphReader {
 public:
    explicit GraphReader(FirstProblems& problems) : problems_(problems) {}

    Measured read(std::string_view text) {
        if (!read_tables(text)) return {};
        const std::vector<std::string_view>& units = send_.above.empty() ? receive_.above : send_.above;
        check(send_, units);
        check(receive_, units);
        if (units.empty()) problems_.add("text", "missing", nullptr, "problem.mpigraph.none", "suggestion.mpigraph.whole");
        if (units.size() > kMostUnits) measured_.links.names.resize(units.size(), "?");  // so that their number is refused
        if (units.empty() || units.size() > kMostUnits || !problems_.empty()) return std::move(measured_);
        measured_.unit = unit_of_id("mibyte_per_s");
        measured_.unit_source = kSaidByTool;
        take_rates(units.size());
        write_notes(take_names(units));
        return std::move(measured_);
    }

 private:
    // False when there are two of a kind.
    bool read_tables(std::string_view text) {
        std::vector<std::string_view> words;
        for (Lines lines(text); lines.next();) {
            split_words(unlabelled(lines.line), words, kMostCells);
            if (words.size() < 2) continue;
            const bool sends = words[0] == send_.name, receives = words[0] == receive_.name;
            if ((sends || receives) && words[1] != "max" && words[1] != "avg") {
                Table& table = sends ? send_ : receive_;
                if (!table.above.empty()) {
                    problems_.add("text", "range", nullptr, Text("problem.mpigraph.second_table").with("line", lines.number),
                                  "suggestion.mpigraph.one_run");
                    return false;
                }
                table.above.assign(words.begin() + 1, words.end());
            } else if ((words[1] == "to" || words[1] == "from") && words.size() > 2) {
                Table& table = words[1] == "to" ? send_ : receive_;
                if (table.left.size() < table.above.size()) read_row(words, lines.number, table);
            }
        }
        return true;
    }

    // Rows of one table: "host:0 to  0.000  11234.567".
    void read_row(const std::vector<std::string_view>& words, std::size_t number, Table& table) {
        const std::size_t n = table.above.size(), given = words.size() - 2;
        if (given != n) {
            Text message("problem.mpigraph.row_length");
            message.with("line", number).with("row", shown(words[0])).with("values", given).with("columns", n);
            problems_.add("text", "square", static_cast<std::int64_t>(given), std::move(message), "suggestion.mpigraph.whole");
        }
        table.left.push_back(words[0]);
        for (std::size_t i = 0; i < n; ++i) {
            const auto value = i < given ? number_of(words[i + 2]) : std::nullopt;
            if (!value && i < given) {
                const Json word = shown(words[i + 2]);
                Text message("problem.mpigraph.word");
                message.with("line", number).with("row", shown(words[0])).with("column", shown(table.above[i])).with("word", word);
                problems_.add("text", "type", word, std::move(message), {});
            }
            table.values.push_back(value.value_or(kNotMeasured));
        }
    }

    // Whether the table is whole, and of these units.
    void check(const Table& table, const std::vector<std::string_view>& units) {
        const std::size_t n = units.size(), rows = table.left.size();
        if (table.above.empty()) return;
        if (rows != table.above.size() || table.above.size() != n)
            problems_.add("text", "square", static_cast<std::int64_t>(rows),
                          Text("problem.mpigraph.cut").with("table", table.name).with("rows", rows).with("columns", n),
                          "suggestion.mpigraph.end");
        else if (table.left != units || table.above != units)
            problems_.add("text", "unknown", nullptr, Text("problem.mpigraph.names").with("table", table.name), {});
    }

    // The hosts where each ran one process, else "host:rank"; whether they did.
    bool take_names(const std::vector<std::string_view>& units) {
        std::vector<std::string> hosts, sorted;
        for (const std::string_view name : units) hosts.emplace_back(name.substr(0, name.rfind(':')));
        for (const std::string& host : hosts) insert_sorted(sorted, host, std::less<>());
        const bool one_each = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
        measured_.links.names = one_each ? std::move(hosts) : std::vector<std::string>(units.begin(), units.end());
        return one_each;
    }

    // Of a link's two numbers the lower one.
    void take_rates(std::size_t n) {
        std::vector<double>& rates = measured_.links.byte_per_s;
        rates.assign(n * n, kNotMeasured);
        for (std::size_t from = 0; from < n; ++from)
            for (std::size_t to = 0; to < n; ++to) {
                double& rate = rates[from * n + to];
                if (!send_.values.empty()) rate = send_.values[from * n + to] * measured_.unit->byte_per_s;
                if (receive_.values.empty()) continue;
                const double received = receive_.values[to * n + from] * measured_.unit->byte_per_s;
                if (!(rate <= received)) rate = received;
            }
    }

    void write_notes(bool one_each) {
        std::vector<Text>& notes = measured_.notes;
        notes.emplace_back("note.mpigraph.unit");
        if (send_.values.empty() || receive_.values.empty())
            notes.push_back(Text("note.mpigraph.one_table").with("table", send_.values.empty() ? receive_.name : send_.name));
        else
            notes.emplace_back("note.mpigraph.lower");
        notes.emplace_back("note.mpigraph.load");
        if (!one_each) notes.emplace_back("note.mpigraph.processes");
    }

    FirstProblems& problems_;
    Measured measured_;
    Table send_{"Send", {}, {}, {}}, receive_{"Recv", {}, {}, {}};
};

}  // namespace

Measured read_mpigraph(std::string_view text, FirstProblems& problems) { return GraphReader(problems).read(text); }

}  // namespace fourfold
