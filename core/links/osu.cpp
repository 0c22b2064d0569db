// OSU micro-benchmarks: logs of osu_bw and osu_latency, one pair each. The logs do not say between which nodes they ran: that is taken from
// the line of the shell that started them (set -x), or from a line "# pair: nodeA nodeB" before each log. What they print and mean is in
// mvapich.cse.ohio-state.edu/benchmarks, c/util/osu_util_mpi.c (MB = 10^6 bytes); osu_latency is half a round trip.
#include <algorithm>
#include <cmath>

#include "base/table.h"
#include "base/text.h"
#include "links/read.h"

namespace fourfold {

namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_name(std::string_view word) {
    bool letter = false;
    for (const char c : word) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        letter = letter || is_letter;
        if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.' && c != ':') return false;
    }
    return letter;
}

constexpr std::size_t kMostHosts = 4;   // of a command: a pair has two
constexpr std::size_t kMostDigits = 6;  // of a number in the name of a host
constexpr std::size_t kMarker = 400;    // bytes of a line in which the names of a pair are looked for

// "node[01-03,7]" of Slurm.
void expand(std::string_view item, std::vector<std::string>& hosts) {
    const std::size_t open = item.find('['), close = item.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
        const std::size_t slots = item.find(':');  // "node:1"
        if (!item.substr(0, slots).empty()) hosts.emplace_back(item.substr(0, slots));
        return;
    }
    const std::string_view before = item.substr(0, open), behind = item.substr(close + 1);
    std::string_view list = item.substr(open + 1, close - open - 1);
    while (!list.empty() && hosts.size() < kMostHosts) {
        const std::size_t end = std::min(list.find(','), list.size());
        const std::string_view range = list.substr(0, end), low = range.substr(0, range.find('-'));
        list.remove_prefix(std::min(end + 1, list.size()));
        const std::string_view high = low.size() < range.size() ? range.substr(low.size() + 1) : low;
        const auto first = number_of(low), last = number_of(high);
        if (!first || !last || low.size() > kMostDigits || high.size() > kMostDigits) continue;
        for (double i = *first; i <= *last && hosts.size() < kMostHosts; ++i) {
            std::string digits = std::to_string(static_cast<int>(i));
            if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
            hosts.push_back(joined({before, digits, behind}));
        }
    }
}

void expand_list(std::string_view list, std::vector<std::string>& hosts) {
    while (!list.empty() && (list.front() == '"' || list.front() == '\'')) list.remove_prefix(1);
    while (!list.empty() && (list.back() == '"' || list.back() == '\'')) list.remove_suffix(1);
    std::size_t from = 0;
    bool inside = false;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        if (i < list.size()) inside = (inside || list[i] == '[') && list[i] != ']';
        if (i < list.size() && (list[i] != ',' || inside)) continue;
        if (hosts.size() < kMostHosts) expand(list.substr(from, i - from), hosts);
        from = i + 1;
    }
}

// The hosts that a command names: "mpirun -np 2 -host a,b", "srun -w a,b", "mpirun_rsh -np 2 a b". False when it is no such command.
bool hosts_of_command(const std::vector<std::string_view>& words, std::vector<std::string>& hosts) {
    constexpr std::string_view kLaunchers[] = {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prun", "prterun", "srun", "mpirun_rsh"};
    constexpr std::string_view kOptions[] = {"-host", "--host", "-H", "-hosts", "--hosts", "-w", "--nodelist"};
    hosts.clear();
    std::string_view launcher;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i], base = word.substr(word.rfind('/') + 1);
        if (launcher.empty()) {
            if (std::find(std::begin(kLaunchers), std::end(kLaunchers), base) != std::end(kLaunchers)) launcher = base;
            continue;
        }
        const std::size_t equals = word.find('=');
        if (std::find(std::begin(kOptions), std::end(kOptions), word.substr(0, equals)) != std::end(kOptions)) {
            if (equals != std::string_view::npos)
                expand_list(word.substr(equals + 1), hosts);
            else if (i + 1 < words.size())
                expand_list(words[++i], hosts);
        }
        if (launcher == "mpirun_rsh" && (word == "-np" || word == "-n") && i + 3 < words.size() && is_name(words[i + 2]) &&
            is_name(words[i + 3]))
            hosts.assign({std::string(words[i + 2]), std::string(words[i + 3])});
    }
    return !launcher.empty();
}

class OsuReader {
 public:
    explicit OsuReader(FirstProblems& problems) : problems_(problems) {}

    Measured read(std::string_view text) {
        for (Lines lines(text); lines.next();) {
            const std::string_view line = trimmed(lines.line);
            if (line.empty()) continue;
            if (contains(line, "OSU MPI") && contains(line, "Test"))
                begin_log(line, lines.number);
            else if (log_.kind != Kind::none && line.starts_with("#") && contains(line, "Size"))
                read_unit(line);
            else
                read_line(line, lines.number);
        }
        end_log();
        finish();
        return std::move(measured_);
    }

 private:
    enum class Kind { none, bandwidth, latency };
    struct Log {
        Kind kind = Kind::none;
        std::size_t line = 0;
        double size = -1, value = kNotMeasured;
    };

    void begin_log(std::string_view line, std::size_t number) {
        end_log();
        log_.line = number;
        const bool pair = !contains(line, "Bi-Directional") && !contains(line, "Multi");
        if (pair && contains(line, "Bandwidth Test"))
            log_.kind = Kind::bandwidth;
        else if (pair && contains(line, "Latency Test") && !contains(line, "Broadcast") && !contains(line, "All"))
            log_.kind = Kind::latency;
        else
            problems_.add("text", "unsupported", nullptr, Text("problem.osu.other_test").with("line", number),
                          contains(line, "Bi-Directional") ? "suggestion.osu.one_way" : "suggestion.osu.run");
    }

    void read_unit(std::string_view line) {
        std::vector<const Unit*> found;
        find_units(line, found);
        if (log_.kind != Kind::bandwidth || found.empty()) return;
        said_ = true;
        if (unit_ != nullptr && unit_ != found[0])
            problems_.add("text", "unit", found[0]->id,
                          Text("problem.osu.unit").with("line", log_.line).with("unit", found[0]->label()).with("others", unit_->label()),
                          "suggestion.unit.one");
        if (unit_ == nullptr) unit_ = found[0];
    }

    void read_line(std::string_view line, std::size_t number) {
        split_words(line, words_, kMostCells);
        if (log_.kind != Kind::none && words_.size() >= 2) {
            const auto size = number_of(words_[0]), value = number_of(words_[1]);
            if (size && value) {
                const bool better = log_.size < 0 || (log_.kind == Kind::bandwidth ? *size >= log_.size : *size < log_.size);
                if (better) log_.size = *size, log_.value = *value;
                return;
            }
        }
        read_marker(line, number);
    }

    void mark(std::string_view from, std::string_view to, bool sure) {
        end_log();
        if (!sure && pair_sure_ && !used_[1] && !used_[2]) return;  // a word beside another between a marker and its log
        from_ = from, to_ = to, pair_sure_ = sure;
        used_[1] = used_[2] = false;
    }

    void read_marker(std::string_view line, std::size_t number) {
        if (hosts_of_command(words_, hosts_)) {
            if (hosts_.empty()) return;
            if (hosts_.size() != 2)
                problems_.add("text", "pairs", nullptr,
                              Text(hosts_.size() < kMostHosts ? "problem.osu.hosts" : "problem.osu.many_hosts")
                                  .with("line", number)
                                  .with("hosts", hosts_.size()),
                              "suggestion.osu.two_hosts");
            mark(hosts_[0], hosts_.size() > 1 ? hosts_[1] : std::string(), true);
            return;
        }
        std::string spaced(line.substr(0, kMarker));
        for (const char* separator : {"->", "<->", ","})
            for (std::size_t at = spaced.find(separator); at != std::string::npos; at = spaced.find(separator, at + 1))
                spaced.replace(at, std::string_view(separator).size(), std::string_view(separator).size(), ' ');
        for (char& c : spaced)
            if (c == '#' || c == '=' || c == '<') c = ' ';
        std::vector<std::string_view> words;
        split_words(spaced, words, kMostCells);
        for (std::size_t i = 0; i + 2 < words.size(); ++i)
            if (words[i] == "pair" || words[i] == "pair:" || words[i] == "Pair" || words[i] == "Pair:") {
                const std::size_t second =
                    i + 3 < words.size() && (words[i + 2] == "to" || words[i + 2] == "and" || words[i + 2] == "-") ? i + 3 : i + 2;
                return mark(words[i + 1], words[second], true);
            }
        if (words.size() == 2 && !line.starts_with('#') && is_name(words[0]) && is_name(words[1])) mark(words[0], words[1], false);
    }

    void end_log() {
        const Log log = std::exchange(log_, {});
        if (log.kind == Kind::none) return;
        const auto kind = static_cast<std::size_t>(log.kind);
        const bool marked = !to_.empty() && !used_[kind];
        used_[kind] = true;
        if (!marked) {
            ++unmarked_;
            if (first_unmarked_ == 0) first_unmarked_ = log.line;
        } else if (log.size < 0) {
            ++empty_;
        } else if (from_ == to_) {
            ++inside_;
        } else if (log.kind == Kind::bandwidth) {
            const double unit = unit_ != nullptr ? unit_->byte_per_s : unit_of_id("mbyte_per_s")->byte_per_s;
            pairs_.add(from_, to_, log.value * unit, kNotMeasured);
        } else {
            pairs_.add(from_, to_, kNotMeasured, log.value * kMicrosecond);  // half a round trip: it stands for both directions
            pairs_.add(to_, from_, kNotMeasured, log.value * kMicrosecond);
        }
    }

    void finish() {
        if (unmarked_ > 0)
            problems_.add("text", "pairs", static_cast<std::int64_t>(unmarked_),
                          Text("problem.osu.unmarked").with("logs", unmarked_).with("line", first_unmarked_), "suggestion.osu.mark");
        if (pairs_.empty() && problems_.empty()) problems_.add("text", "missing", nullptr, "problem.osu.none", "suggestion.osu.whole");
        pairs_.build(measured_);
        measured_.unit = unit_ != nullptr ? unit_ : unit_of_id("mbyte_per_s");
        measured_.unit_source = said_ ? kSaidByFile : kSaidByTool;
        measured_.notes.emplace_back("note.osu.largest");
        measured_.note("note.osu.empty", "logs", empty_);
        measured_.note("note.osu.inside", "logs", inside_);
    }

    FirstProblems& problems_;
    Measured measured_;
    PairTable pairs_;
    Log log_;
    std::string from_, to_;
    bool pair_sure_ = false;
    bool used_[3] = {false, false, false};  // by Kind: a marker holds for one log of each
    const Unit* unit_ = nullptr;
    bool said_ = false;
    std::size_t unmarked_ = 0, first_unmarked_ = 0, empty_ = 0, inside_ = 0;
    std::vector<std::string_view> words_;
    std::vector<std::string> hosts_;
};

}  // namespace

Measured read_osu(std::string_view text, FirstProblems& problems) { return OsuReader(problems).read(text); }

}  // namespace fourfold
