// Logs of tools that measure one pair per run, put one after the other: nccl-tests' sendrecv_perf and OSU's osu_bw and osu_latency; and
// mpiGraph's tables, which one run prints for all pairs. What the tools print and mean was taken from their own sources and documentation:
//   nccl-tests   github.com/NVIDIA/nccl-tests, src/util.cu (the text), src/sendrecv.cu (busbw = bytes / time / 10^9, both ranks send at
//   once) OSU          mvapich.cse.ohio-state.edu/benchmarks, c/util/osu_util_mpi.c (MB = 10^6 bytes), osu_latency is half a round trip
//   mpiGraph     github.com/LLNL/mpiGraph, mpiGraph.c (its MB are 2^20 bytes), crunch_mpiGraph reads the same tables
#include <algorithm>
#include <cmath>

#include "base/table.h"
#include "base/text.h"
#include "links/read.h"

namespace fourfold {

namespace {

std::string text_of(std::size_t number) { return grouped(static_cast<std::int64_t>(number)); }

// Launchers put the rank before each line when asked to: "[1,0]<stdout>:" (Open MPI), "0: " (Slurm).
std::string_view unlabelled(std::string_view line) {
    if (line.starts_with('[')) {
        const std::size_t end = line.find(">:");
        if (end != std::string_view::npos && end < 24) line.remove_prefix(end + 2);
    } else {
        std::size_t digits = 0;
        while (digits < line.size() && line[digits] >= '0' && line[digits] <= '9') ++digits;
        if (digits > 0 && line.substr(digits).starts_with(": ")) line.remove_prefix(digits + 2);
    }
    return trimmed(line);
}

// The size that a data line begins with; nothing when it is no data line.
std::optional<double> size_of(const std::vector<std::string_view>& words) {
    if (words.size() < 2 || words[0].find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return number_of(words[0]);
}

// ---- nccl-tests
class NcclReader {
 public:
    explicit NcclReader(FirstProblems& problems) : problems_(problems) {}

    Measured read(std::string_view text) {
        for (Lines lines(text); lines.next();) {
            const std::string_view line = unlabelled(lines.line);
            if (line.starts_with('#')) {
                split_words(line.substr(1), words_, kMostCells);
                read_header(line, lines.number);
            } else {
                split_words(line, words_, kMostCells);
                read_data();
            }
        }
        end_run();
        place_runs();
        return std::move(measured_);
    }

 private:
    struct Run {
        std::size_t line = 0;
        std::vector<std::string> hosts, devices;  // of each rank
        double smallest = 0, latency_s = kNotMeasured, largest = -1, byte_per_s = kNotMeasured;
        bool wrong = false, other_test = false;
    };

    void read_header(std::string_view line, std::size_t number) {
        const bool begins = line.find("nThread") != std::string_view::npos || line.find("nccl-tests version") != std::string_view::npos ||
                            line.find("Collective test starting") != std::string_view::npos;
        if (begins && !run_.hosts.empty()) end_run();
        if (run_.line == 0) run_.line = number;
        if (line.find("Collective test starting") != std::string_view::npos) {
            named_ = true;
            if (line.find("sendrecv") == std::string_view::npos) run_.other_test = true;
        }
        if (words_.size() > 7 && words_[0] == "Rank") read_rank(number);
        const auto column = [&](std::initializer_list<std::string_view> names) {
            return static_cast<std::size_t>(std::find_first_of(words_.begin(), words_.end(), names.begin(), names.end()) - words_.begin());
        };
        const std::size_t rate = column({"busbw"}), time = column({"time", "cputime"});
        if (rate < words_.size() && time < words_.size()) rate_ = rate, time_ = time, wrong_ = rate + 1;
    }

    // "Rank  0 Group  0 Pid 1234 on host device  0 [0x07] NVIDIA H100"; versions before 2.13 have no group.
    void read_rank(std::size_t number) {
        if (run_.largest >= 0 || words_[1] == "0") {
            if (!run_.hosts.empty()) end_run();
            if (run_.line == 0) run_.line = number;
        }
        const auto on = std::find(words_.begin(), words_.end(), "on");
        if (words_.end() - on < 4 || on[2] != "device" || run_.hosts.size() > kMostUnits) return;
        run_.hosts.emplace_back(on[1]);
        run_.devices.emplace_back(on[3]);
    }

    void read_data() {
        const auto bytes = size_of(words_);
        if (!bytes || run_.hosts.empty() || words_.size() <= std::max(rate_, time_)) return;
        const auto time = number_of(words_[time_]), rate = number_of(words_[rate_]);
        if (!time || !rate || !(*time > 0)) return;
        if (*bytes > 0 && *bytes >= run_.largest) {
            run_.largest = *bytes;
            // two decimals are printed: of slow links the time says more
            run_.byte_per_s = *rate >= 1 ? *rate * 1e9 : *bytes / (*time * 1e-6);
        }
        if (std::isnan(run_.latency_s) || *bytes < run_.smallest) run_.smallest = *bytes, run_.latency_s = *time * 1e-6;
        if (words_.size() > wrong_)
            if (const auto wrong = number_of(words_[wrong_]); wrong && *wrong > 0 && words_[wrong_].find('e') == std::string_view::npos)
                run_.wrong = true;
    }

    void end_run() {
        if (!run_.hosts.empty()) runs_.push_back(std::move(run_));
        run_ = {};
    }

    static std::size_t distinct(const std::vector<std::string>& hosts) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < hosts.size(); ++i)
            count += std::find(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(i), hosts[i]) ==
                             hosts.begin() + static_cast<std::ptrdiff_t>(i)
                         ? 1
                         : 0;
        return count;
    }

    void refuse(const Run& run, const std::string& what, const char* advice) {
        problems_.add("text", "pairs", nullptr, joined({"The run at line ", text_of(run.line), " ", what}), advice);
    }

    void place_runs() {
        const bool gpus = std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return distinct(run.hosts) == 1; });
        measured_.links.gpus = gpus;
        PairTable pairs;
        std::size_t empty = 0, wrong = 0, several = 0;
        for (const Run& run : runs_) {
            const std::size_t hosts = distinct(run.hosts), ranks = run.hosts.size();
            if (run.other_test) refuse(run, "is another test than sendrecv_perf.", "Run sendrecv_perf between each two nodes.");
            if (hosts > 2)
                refuse(run, joined({"has ", text_of(hosts), " hosts: it is not pairwise, its bandwidth belongs to no single link."}),
                       "Run sendrecv_perf once for each pair of hosts and put the outputs one after the other.");
            else if (ranks < 2 || (gpus && ranks != 2))
                refuse(run, joined({"has ", count_of(ranks, "GPU", "GPUs"), " on ", count_of(hosts, "host", "hosts"), ": not one pair."}),
                       "Give each run two hosts, or two GPUs where single GPUs are measured.");
            if (hosts > 2 || ranks < 2 || (gpus && ranks != 2)) continue;
            const auto other =
                std::find_if(run.hosts.begin(), run.hosts.end(), [&](const std::string& host) { return host != run.hosts[0]; });
            const std::size_t last = gpus ? 1 : static_cast<std::size_t>(other - run.hosts.begin());
            const auto name = [&](std::size_t rank) { return gpus ? joined({run.hosts[rank], ":", run.devices[rank]}) : run.hosts[rank]; };
            empty += run.largest < 0 ? 1 : 0, wrong += run.wrong ? 1 : 0, several += ranks > 2 ? 1 : 0;
            pairs.add(name(0), name(last), run.byte_per_s, run.latency_s);
            pairs.add(name(last), name(0), run.byte_per_s, run.latency_s);
        }
        if (runs_.empty())
            problems_.add("text", "missing", nullptr, "No run was found: its list of ranks and hosts (\"Using devices\") is missing.",
                          "Paste the whole output of every run, from the first # on.");
        pairs.build(measured_);
        write_notes(empty, wrong, several);
    }

    void write_notes(std::size_t empty, std::size_t wrong, std::size_t several) {
        measured_.unit = unit_of_id("gbyte_per_s");
        measured_.unit_source = kSaidByTool;
        auto& notes = measured_.notes;
        notes.emplace_back(
            "Of each run the bus bandwidth (busbw) of the largest message counts, out of place; its latency is the time of the smallest "
            "message.");
        notes.emplace_back("sendrecv_perf sends both ways at once and prints one number: it stands for both directions.");
        if (!named_) notes.emplace_back("This version of nccl-tests does not print which test ran; sendrecv_perf was assumed.");
        if (empty > 0) notes.push_back(joined({count_of(empty, "run", "runs"), " without results left out."}));
        if (wrong > 0) notes.push_back(joined({count_of(wrong, "run", "runs"), " received wrong values (#wrong): look at these links."}));
        if (several > 0)
            notes.push_back(joined(
                {count_of(several, "run", "runs"), " used more than two GPUs in a ring: the number is one GPU's share of the link."}));
    }

    FirstProblems& problems_;
    Measured measured_;
    std::vector<std::string_view> words_;
    std::vector<Run> runs_;
    Run run_;
    std::size_t time_ = 5, rate_ = 7, wrong_ = 8;
    bool named_ = false;
};

// ---- mpiGraph
struct GraphTable {
    std::vector<std::string_view> above;
    std::vector<std::string_view> left;
    std::vector<double> values;  // left.size() rows of above.size()
};

// Rows of one table: "host:0 to  0.000  11234.567"; false when a row is wrong.
void read_graph_row(const std::vector<std::string_view>& words, std::size_t number, GraphTable& table, FirstProblems& problems) {
    const std::size_t n = table.above.size();
    if (words.size() != n + 2) {
        problems.add("text", "square", static_cast<std::int64_t>(words.size() - 2),
                     joined({"Line ", text_of(number), " (", words[0].substr(0, 80), ") has ",
                             count_of(words.size() - 2, "value", "values"), " for ", count_of(n, "column", "columns"), "."}),
                     "Paste the whole output of mpiGraph.");
    }
    table.left.push_back(words[0]);
    for (std::size_t i = 0; i < n; ++i) {
        const auto value = i + 2 < words.size() ? number_of(words[i + 2]) : std::nullopt;
        if (!value && i + 2 < words.size())
            problems.add("text", "type", shown(std::string(words[i + 2])),
                         joined({"Line ", text_of(number), ": between ", words[0].substr(0, 80), " and ", table.above[i].substr(0, 80),
                                 " stands \"", words[i + 2].substr(0, 40), "\", not a number."}),
                         "");
        table.values.push_back(value.value_or(kNotMeasured));
    }
}

}  // namespace

Measured read_nccl_tests(std::string_view text, FirstProblems& problems) { return NcclReader(problems).read(text); }

Measured read_mpigraph(std::string_view text, FirstProblems& problems) {
    Measured measured;
    GraphTable send, receive;
    std::vector<std::string_view> words;
    for (Lines lines(text); lines.next();) {
        split_words(unlabelled(lines.line), words, kMostCells);
        if (words.size() < 2) continue;
        const bool sends = words[0] == "Send", receives = words[0] == "Recv";
        if ((sends || receives) && words[1] != "max" && words[1] != "avg") {
            GraphTable& table = sends ? send : receive;
            if (!table.above.empty()) {
                problems.add("text", "range", nullptr, joined({"Line ", text_of(lines.number), " begins a second table."}),
                             "Paste the output of one run.");
                return measured;
            }
            table.above.assign(words.begin() + 1, words.end());
        } else if ((words[1] == "to" || words[1] == "from") && words.size() > 2) {
            GraphTable& table = words[1] == "to" ? send : receive;
            if (table.left.size() < table.above.size()) read_graph_row(words, lines.number, table, problems);
        }
    }
    const GraphTable& first = send.above.empty() ? receive : send;
    const std::size_t n = first.above.size();
    for (const GraphTable* table : {&send, &receive}) {
        const char* name = table == &send ? "Send" : "Recv";
        if (table->above.empty()) continue;
        if (table->left.size() != table->above.size() || table->above.size() != n)
            problems.add("text", "square", static_cast<std::int64_t>(table->left.size()),
                         joined({"The table ", name, " has ", count_of(table->left.size(), "row", "rows"), " for ",
                                 count_of(n, "column", "columns"), "."}),
                         "Paste the whole output, up to END mpiGraph.");
        else if (table->left != first.above || table->above != first.above)
            problems.add("text", "unknown", nullptr, joined({"The rows and columns of the table ", name, " do not have the same names."}),
                         "");
    }
    if (n == 0)
        problems.add("text", "missing", nullptr, "mpiGraph's tables are missing: no line begins with Send or Recv and the hosts.",
                     "Paste the whole output, from START mpiGraph to END mpiGraph.");
    if (n == 0 || n > kMostUnits || !problems.empty()) {
        if (n > kMostUnits) measured.links.names.resize(n, "?");
        return measured;
    }

    std::vector<std::string> hosts;
    for (const std::string_view name : first.above) hosts.emplace_back(name.substr(0, name.rfind(':')));
    std::vector<std::string> sorted;
    for (const std::string& host : hosts) insert_sorted(sorted, host, std::less<>());
    const bool one_each = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    for (std::size_t i = 0; i < n; ++i) measured.links.names.push_back(one_each ? hosts[i] : std::string(first.above[i]));
    measured.links.byte_per_s.assign(n * n, kNotMeasured);
    const double unit = unit_of_id("mibyte_per_s")->byte_per_s;
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
            double& rate = measured.links.byte_per_s[from * n + to];
            if (!send.values.empty()) rate = send.values[from * n + to] * unit;
            if (!receive.values.empty()) {
                const double received = receive.values[to * n + from] * unit;
                if (!(rate <= received)) rate = received;
            }
        }
    measured.unit = unit_of_id("mibyte_per_s");
    measured.unit_source = kSaidByTool;
    measured.notes.emplace_back("mpiGraph prints no unit; its MB are 2^20 bytes (MiB/s).");
    if (send.values.empty() || receive.values.empty())
        measured.notes.push_back(joined({"Only the table ", send.values.empty() ? "Recv" : "Send", " was given."}));
    else
        measured.notes.emplace_back("Of a link's two numbers, the sender's and the receiver's, the lower one counts.");
    measured.notes.emplace_back(
        "mpiGraph loads all nodes at once, each sending to one and receiving from one: links that share a switch slow each other.");
    if (!one_each) measured.notes.emplace_back("Some hosts ran several processes; each process is a unit of its own (host:rank).");
    return measured;
}

}  // namespace fourfold
