// nccl-tests: logs of sendrecv_perf, one run per pair, and of all_reduce_perf over all GPUs, one after the other. What they print and mean
// is in github.com/NVIDIA/nccl-tests, src/util.cu (the text) and src/sendrecv.cu (busbw = bytes / time / 10^9, both ranks send at once).
#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/table.h"
#include "base/text.h"
#include "links/read.h"

namespace fourfold {

namespace {

constexpr std::size_t kRankWords = 8;                  // of "Rank 0 Group 0 Pid 1234 on host …": at least
constexpr std::size_t kUsualTime = 5, kUsualRate = 7;  // columns of the time and of busbw, out of place, where no header says them
constexpr double kLeastRate = 1e3, kMostRate = 1e15, kShownRate = 1e18;  // byte/s; others are no measurement
constexpr double kCoarse = 1;  // GB/s; two decimals are printed: of slower links the time says more

// The size that a data line begins with; nothing when it is no data line.
std::optional<double> size_of(const std::vector<std::string_view>& words) {
    if (words.size() < 2 || words[0].find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return number_of(words[0]);
}

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
        std::vector<TimedSize> times;
        double bus_factor = 0;  // busbw over algbw, of the largest message
        bool wrong = false, named = false, other_test = false, all_reduce = false;
    };

    void read_header(std::string_view line, std::size_t number) {
        const bool begins = line.find("nThread") != std::string_view::npos || line.find("nccl-tests version") != std::string_view::npos ||
                            line.find("Collective test starting") != std::string_view::npos;
        if (begins && !run_.hosts.empty()) end_run();
        if (run_.line == 0) run_.line = number;
        if (line.find("Collective test starting") != std::string_view::npos) {
            named_ = run_.named = true;
            run_.all_reduce = line.find("all_reduce") != std::string_view::npos;
            run_.other_test = !run_.all_reduce && line.find("sendrecv") == std::string_view::npos;
        }
        if (words_.size() >= kRankWords && words_[0] == "Rank") read_rank(number);
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
        if (*bytes > 0) run_.times.push_back({*bytes, *time * kMicrosecond});
        if (*bytes > 0 && *bytes >= run_.largest) {
            run_.largest = *bytes;
            if (const auto plain = rate_ > 0 ? number_of(words_[rate_ - 1]) : std::nullopt; plain && *plain >= kCoarse)
                run_.bus_factor = *rate / *plain;
            run_.byte_per_s = *rate >= kCoarse ? *rate * kGbyte : *bytes / (*time * kMicrosecond);
        }
        if (std::isnan(run_.latency_s) || *bytes < run_.smallest) run_.smallest = *bytes, run_.latency_s = *time * kMicrosecond;
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
        for (auto host = hosts.begin(); host != hosts.end(); ++host)
            if (std::find(hosts.begin(), host, *host) == host) ++count;
        return count;
    }

    // Older versions do not print the test: of more than two GPUs all_reduce alone counts the bytes 2 (n - 1) / n times.
    static bool is_all_reduce(const Run& run) {
        const auto n = static_cast<double>(run.hosts.size());
        return run.all_reduce || (!run.named && n > 2 && std::abs(run.bus_factor / (2 * (n - 1) / n) - 1) < 0.02);
    }

    void add_all_reduce(const Run& run) {
        const std::size_t nodes = distinct(run.hosts), gpus = run.hosts.size();
        if (gpus < 2 || (nodes > 1 && gpus <= nodes)) {
            refuse(run, Text("problem.nccl.one_gpu").with("gpus", gpus).with("hosts", nodes), "suggestion.nccl.all_gpus");
        } else if (const auto line = time_line(run.times)) {
            const AllReduce all{nodes, gpus, *line};
            if (all.rate() >= kLeastRate && all.rate() <= kMostRate)
                measured_.all_reduces.push_back(all);
            else
                refuse(run, Text("problem.nccl.impossible").with("rate", std::min(all.rate(), kShownRate)), "suggestion.nccl.columns");
        } else {
            refuse(run, "problem.nccl.no_times", "suggestion.nccl.whole");
        }
    }

    void refuse(const Run& run, Text what, const char* advice) {
        what.with("line", run.line);
        problems_.add("text", "pairs", nullptr, std::move(what), advice);
    }

    // Whether the run measured one pair; says why not.
    bool is_pair(const Run& run, std::size_t hosts, bool gpus) {
        const std::size_t ranks = run.hosts.size();
        if (run.other_test) refuse(run, "problem.nccl.other_test", "suggestion.nccl.sendrecv");
        if (hosts > 2)
            refuse(run, Text("problem.nccl.not_pairwise").with("hosts", hosts), "suggestion.nccl.pairs");
        else if (ranks < 2 || (gpus && ranks != 2))
            refuse(run, Text("problem.nccl.no_pair").with("gpus", ranks).with("hosts", hosts), "suggestion.nccl.two");
        else
            return true;
        return false;
    }

    void place_runs() {
        for (const Run& run : runs_)
            if (is_all_reduce(run)) add_all_reduce(run);
        std::erase_if(runs_, is_all_reduce);
        if (measured_.all_reduces.empty() || !runs_.empty()) place_pairs();
        measured_.unit = unit_of_id("gbyte_per_s");
        measured_.unit_source = kSaidByTool;
        if (!measured_.all_reduces.empty()) measured_.notes.emplace_back("note.nccl.all_reduce");
    }

    void place_pairs() {
        const bool gpus = std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return distinct(run.hosts) == 1; });
        measured_.links.gpus = gpus;
        PairTable pairs;
        std::size_t empty = 0, wrong = 0, several = 0;
        for (const Run& run : runs_) {
            if (!is_pair(run, distinct(run.hosts), gpus)) continue;
            const auto other =
                std::find_if(run.hosts.begin(), run.hosts.end(), [&](const std::string& host) { return host != run.hosts[0]; });
            const std::size_t last = gpus ? 1 : static_cast<std::size_t>(other - run.hosts.begin());
            const auto name = [&](std::size_t rank) { return gpus ? joined({run.hosts[rank], ":", run.devices[rank]}) : run.hosts[rank]; };
            empty += run.largest < 0 ? 1 : 0, wrong += run.wrong ? 1 : 0, several += run.hosts.size() > 2 ? 1 : 0;
            pairs.add(name(0), name(last), run.byte_per_s, run.latency_s);
            pairs.add(name(last), name(0), run.byte_per_s, run.latency_s);
        }
        if (runs_.empty() && problems_.empty()) problems_.add("text", "missing", nullptr, "problem.nccl.none", "suggestion.nccl.whole");
        pairs.build(measured_);
        measured_.notes.emplace_back("note.nccl.busbw");
        measured_.notes.emplace_back("note.nccl.both_ways");
        if (!named_) measured_.notes.emplace_back("note.nccl.assumed");
        measured_.note("note.nccl.empty", "runs", empty);
        measured_.note("note.nccl.wrong", "runs", wrong);
        measured_.note("note.nccl.ring", "runs", several);
    }

    FirstProblems& problems_;
    Measured measured_;
    std::vector<std::string_view> words_;
    std::vector<Run> runs_;
    Run run_;
    std::size_t time_ = kUsualTime, rate_ = kUsualRate, wrong_ = kUsualRate + 1;
    bool named_ = false;
};

}  // namespace

Measured read_nccl_tests(std::string_view text, FirstProblems& problems) { return NcclReader(problems).read(text); }

}  // namespace fourfold
