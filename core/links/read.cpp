#include "links/read.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/numbers.h"
#include "base/table.h"
#include "base/text.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostSlow = 10, kMostNamed = 10, kMostFilled = 100;  // how many of each the answer names
constexpr double kSymmetric = 1e-5;                                        // of the larger rate: tools print five digits

constexpr Choice kFormats[] = {
    {"auto"}, {"json"}, {"pipette"}, {"matrix"}, {"nccl_tests"}, {"osu"}, {"mpigraph"},
};
enum class Format { automatic, json, pipette, matrix, nccl_tests, osu, mpigraph };

constexpr Choice kChoosableUnits[] = {
    {"auto"}, {"gbyte_per_s"}, {"gbit_per_s"}, {"mbyte_per_s"}, {"mbit_per_s"}, {"byte_per_s"}, {"gibyte_per_s"}, {"mibyte_per_s"},
};
constexpr Choice kKinds[] = {{"auto"}, {"nodes"}, {"gpus"}};

struct Wanted {
    const std::string* text = nullptr;
    int unit = 0;
    Format format = Format::automatic;
    int kind = 0;
};

Format recognised(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return Format::matrix;
    if (text[first] == '{') {
        const bool own = text.find("\"gbyte_per_s\"") != std::string_view::npos;
        return !own && text.find("\"bandwidth\"") != std::string_view::npos ? Format::pipette : Format::json;
    }
    if (text.find("START mpiGraph") != std::string_view::npos || text.find("Send max\t") != std::string_view::npos) return Format::mpigraph;
    if (text.find("OSU MPI") != std::string_view::npos) return Format::osu;
    if (text.find("busbw") != std::string_view::npos || text.find("# Using devices") != std::string_view::npos) return Format::nccl_tests;
    return Format::matrix;
}

// ---- JSON
Measured read_json(std::string_view text, Format format, FirstProblems& problems) {
    Measured measured;
    Problems syntax;
    auto json = parse(text, kMostLinksBytes, syntax);
    for (const Problem& p : syntax) problems.add("", p.rule.c_str(), p.value, p.message, p.suggestion);
    if (!json) return measured;
    const bool own = format == Format::json;
    const LinkKeys keys = own ? LinkKeys() : LinkKeys{"gpus", nullptr, "bandwidth", nullptr, true};
    if (!own) measured.notes.emplace_back("note.pipette.nodes");
    measured.links = read_links_object(*json, keys, true, problems);
    measured.unit = unit_of_id("gbyte_per_s");
    measured.unit_source = format == Format::pipette ? kSaidByTool : kSaidByFile;
    return measured;
}

// "[[0, 1], [2, 0]]", as Python prints a list or an array: one line per row instead.
std::string rows_of_brackets(std::string_view text) {
    std::string rows;
    bool between = true;
    for (const char c : text) {
        if (c == ']') rows += '\n';
        if (c == '[' || c == ']') between = true;
        const bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
        if (c == '[' || c == ']' || (between && (space || c == ','))) continue;
        between = false;
        rows += space ? ' ' : c;
    }
    return rows;
}

Measured read_format(std::string_view text, Format format, const Unit* chosen, FirstProblems& problems) {
    switch (format) {
        case Format::json:
        case Format::pipette:
            return read_json(text, format, problems);
        case Format::nccl_tests:
            return read_nccl_tests(text, problems);
        case Format::osu:
            return read_osu(text, problems);
        case Format::mpigraph:
            return read_mpigraph(text, problems);
        default:
            break;
    }
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '[') return read_matrix_text(text, chosen, problems);
    return read_matrix_text(rows_of_brackets(text), chosen, problems);
}

// ---- checks and gaps
// Numbers that cannot be a link's, all of them; gaps are left alone.
void check_numbers(const Links& links, FirstProblems& problems) {
    const std::size_t n = links.size();
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to)
            if (from != to && !std::isnan(links.rate(from, to))) check_rate(links.rate(from, to), links.names, from, to, "text", problems);
}

struct Gaps {
    std::size_t filled = 0, open = 0;
    Json names = Json::array();       // of those filled, the first ones
    Json first_open = Json::array();  // "n1 - n2" of those measured in neither direction, the first ones
};

std::string short_name(const Links& links, std::size_t unit) { return *shown(links.names[unit]).get_ptr<const Json::string_t*>(); }

Gaps fill_rates(Links& links) {
    Gaps gaps;
    const std::size_t n = links.size();
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
            double& rate = links.byte_per_s[from * n + to];
            if (from == to || !std::isnan(rate)) continue;
            const double opposite = links.byte_per_s[to * n + from];
            if (!std::isnan(opposite)) {
                if (gaps.filled++ < kMostFilled) gaps.names.push_back(Json::array({links.names[from], links.names[to]}));
                continue;  // filled below, so that one gap does not fill another
            }
            if (from > to) continue;
            if (gaps.open++ < kMostNamed) gaps.first_open.push_back(joined({short_name(links, from), " - ", short_name(links, to)}));
        }
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
            double& rate = links.byte_per_s[from * n + to];
            if (std::isnan(rate)) rate = links.byte_per_s[to * n + from];
        }
    return gaps;
}

// Latencies are for all links or none.
void fill_latencies(Measured& measured) {
    Links& links = measured.links;
    const std::size_t n = links.size();
    if (links.latency_s.empty()) return;
    std::size_t known = 0;
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
            double& latency = links.latency_s[from * n + to];
            if (from == to) latency = 0;
            if (std::isnan(latency)) latency = links.latency_s[to * n + from];
            known += from != to && latency >= 0 && latency <= kLongestLatency ? 1 : 0;
        }
    if (known == n * (n - 1)) return;
    links.latency_s.clear();
    if (known > 0) measured.notes.push_back(Text("note.links.latencies").with("known", known).with("all", n * (n - 1)));
}

double asymmetry_of(const Links& links) {
    double largest = 0;
    const std::size_t n = links.size();
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = from + 1; to < n; ++to) {
            const double there = links.rate(from, to), back = links.rate(to, from);
            largest = std::max(largest, std::abs(there - back) / std::max(there, back));
        }
    return largest;
}

// ---- the answer
struct Slow {
    std::size_t from, to;
    double rate;
};

double gbyte_per_s(double rate) { return significant(rate / kGbyte, kWrittenDigits); }

void summarise(const Links& links, Json& answer) {
    const std::size_t n = links.size();
    std::vector<double> rates;
    rates.reserve(n * (n - 1));
    std::vector<Slow> slow;  // of each pair the slower direction
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
            if (from == to) continue;
            const double rate = links.rate(from, to), back = links.rate(to, from);
            rates.push_back(rate);
            if (rate > back || (rate == back && from > to)) continue;
            if (slow.size() == kMostSlow && rate >= slow.back().rate) continue;
            insert_sorted(slow, Slow{from, to, rate}, [](const Slow& a, const Slow& b) { return a.rate < b.rate; });
            if (slow.size() > kMostSlow) slow.pop_back();
        }
    const double lowest = *std::min_element(rates.begin(), rates.end()), highest = *std::max_element(rates.begin(), rates.end());
    const double middle = median(std::move(rates));
    answer["lowest"] = gbyte_per_s(lowest);
    answer["highest"] = gbyte_per_s(highest);
    answer["median_gbyte_per_s"] = gbyte_per_s(middle);
    Json list = Json::array();
    for (const Slow& link : slow)
        if (link.rate < middle)
            list.push_back(Object()
                               .add("from", links.names[link.from])
                               .add("to", links.names[link.to])
                               .add("gbyte_per_s", gbyte_per_s(link.rate))
                               .add("share_of_median", significant(link.rate / middle, kWrittenDigits)));
    answer["slow"] = std::move(list);
}

Problem too_large(std::size_t bytes) {
    return {"text",
            "too_large",
            nullptr,
            Text("problem.too_large").with("size", bytes).with("most", kMostLinksBytes),
            "suggestion.links.results",
            nullptr};
}

Wanted read_wanted(const Json& request, Problems& problems) {
    Wanted wanted;
    if (!request.is_object()) {
        problems.push_back({"", "type", shown(request), "problem.links.no_request", {}, nullptr});
        return wanted;
    }
    FieldReader reader(request, problems);
    wanted.text = reader.text("text");
    reader.choice({"unit"}, wanted.unit, kChoosableUnits);
    reader.choice({"format"}, wanted.format, kFormats);
    reader.choice({"units"}, wanted.kind, kKinds);
    reader.reject_unknown();
    if (!request.contains("text")) problems.push_back({"text", "missing", nullptr, "problem.no_text", {}, nullptr});
    if (wanted.text != nullptr && wanted.text->size() > kMostLinksBytes) problems.push_back(too_large(wanted.text->size()));
    return wanted;
}

// Where the text holds no pairs, but all_reduces over all GPUs.
Json collectives_answer(const Measured& measured, Format format) {
    Json runs = Json::array(), notes = Json::array();
    for (const AllReduce& run : measured.all_reduces) runs.push_back(to_json(run));
    for (const Text& note : measured.notes) notes.push_back(note.json());
    return Object()
        .add("ok", true)
        .add("format", Object().add("id", kFormats[static_cast<std::size_t>(format)].id))
        .add("unit", measured.unit->id)
        .add("unit_source", measured.unit_source)
        .add("collectives", std::move(runs))
        .add("set", settings_of(measured.all_reduces))
        .add("notes", std::move(notes));
}

// A node's links, written as such, are what it reaches; tools that send from one GPU or process do not tell what all of them reach.
Json settings_of_links(const Measured& measured, Format format, const Json& answer) {
    Json set = settings_of(measured.all_reduces);
    const bool of_nodes = !measured.links.gpus && (format == Format::json || format == Format::pipette || format == Format::matrix);
    if (of_nodes) set["measured_inter_gb_s"] = answer["median_gbyte_per_s"];
    return set;
}

Json answer_of(Measured& measured, Format format, Gaps& gaps, double asymmetry) {
    Links& links = measured.links;
    measured.note("note.links.filled", "directions", gaps.filled);
    const Choice& known = kFormats[static_cast<std::size_t>(format)];
    Json notes = Json::array();
    for (const Text& note : measured.notes) notes.push_back(note.json());
    Json answer = Object()
                      .add("ok", true)
                      .add("format", Object().add("id", known.id))
                      .add("unit", measured.unit->id)
                      .add("unit_source", measured.unit_source)
                      .add("symmetric", asymmetry <= kSymmetric)
                      .add("asymmetry", significant(asymmetry, kWrittenDigits))
                      .add("missing", std::move(gaps.names))
                      .add("missing_count", static_cast<std::int64_t>(gaps.filled))
                      .add("notes", std::move(notes));
    summarise(links, answer);
    answer["set"] = settings_of_links(measured, format, answer);
    answer["links"] = links_to_json(links);
    return answer;
}

}  // namespace

Json read_links_answer(std::string_view text, Problems& problems) {
    constexpr std::size_t kMostRequestBytes = kMostLinksBytes + kMostLinksBytes / 4;  // a line's end takes two bytes in JSON
    if (text.size() > kMostRequestBytes) {
        problems.push_back(too_large(text.size()));
        return {};
    }
    const auto request = parse(text, kMostRequestBytes, problems);
    const Wanted wanted = request ? read_wanted(*request, problems) : Wanted();
    if (!problems.empty() || wanted.text == nullptr) return {};

    const std::string_view given = without_mark(*wanted.text);
    const Format format = wanted.format == Format::automatic ? recognised(given) : wanted.format;
    const Unit* chosen = wanted.unit == 0 ? nullptr : unit_of_id(kChoosableUnits[wanted.unit].id);
    const bool is_json = format == Format::json || format == Format::pipette;
    FirstProblems found(is_json ? "text" : "");
    Measured measured = read_format(given, format, chosen, found);
    Links& links = measured.links;
    if (format != Format::matrix && chosen != nullptr && measured.unit != nullptr && chosen != measured.unit)
        problems.push_back({"unit", "unit", chosen->id,
                            Text("problem.unit.format")
                                .with("format", Text("choice.format", kFormats[static_cast<std::size_t>(format)].id))
                                .with("unit", measured.unit->label())
                                .with("chosen", chosen->label()),
                            "suggestion.unit.auto", "auto"});
    if (links.names.empty() && !measured.all_reduces.empty()) {
        found.move_to(problems);
        return problems.empty() ? collectives_answer(measured, format) : Json();
    }
    if (!is_json && (!links.names.empty() || found.empty())) check_names(links.names, "text", found);
    const std::size_t n = links.size();
    const bool whole = n >= kFewestUnits && n <= kMostUnits && links.byte_per_s.size() == n * n && measured.unit != nullptr;
    if (whole && !is_json) check_numbers(links, found);
    Gaps gaps;
    if (whole) {
        gaps = fill_rates(links);
        if (gaps.open > 0)
            found.add(is_json ? "" : "text", "missing", static_cast<std::int64_t>(gaps.open),
                      Text(gaps.open > kMostNamed ? "problem.links.gaps" : "problem.links.gaps_all")
                          .with("pairs", gaps.open)
                          .with("first", std::move(gaps.first_open)),
                      "suggestion.links.gaps");
    }
    found.move_to(problems);
    if (!problems.empty() || !whole) return {};
    fill_latencies(measured);
    if (wanted.kind != 0) links.gpus = wanted.kind == 2;
    return answer_of(measured, format, gaps, asymmetry_of(links));
}

}  // namespace fourfold
