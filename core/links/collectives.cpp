// The rates follow from how all_reduce works (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md): a ring of n GPUs moves 2 (n - 1) / n of
// the bytes through each GPU, and as much out of each node: the bus bandwidth. On two nodes NCCL may use a tree, which sends only what the
// other node lacks, the bytes once (github.com/NVIDIA/nccl-tests/issues/160): bytes over time is then the rate of a node, whatever it used.
#include "links/collectives.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "links/links.h"

namespace fourfold {

namespace {

constexpr double kLarge = 1024.0 * 1024;  // bytes; smaller messages go by other protocols
constexpr std::size_t kFewestLarge = 3;
constexpr std::size_t kMostSizes = 100;  // lines through all pairs of them are tried

double error_of(const TimeLine& line, const std::vector<TimedSize>& measured) {
    double sum = 0;
    for (const TimedSize& one : measured) sum += std::abs(1 - (line.seconds + line.seconds_per_byte * one.bytes) / one.seconds);
    return sum;
}

const AllReduce* slowest(const std::vector<AllReduce>& runs, bool spans) {
    const AllReduce* found = nullptr;
    for (const AllReduce& run : runs) {
        if (run.spans() != spans) continue;
        const bool larger = found != nullptr && run.nodes > found->nodes, alike = found != nullptr && run.nodes == found->nodes;
        if (found == nullptr || larger || (alike && run.rate() < found->rate())) found = &run;
    }
    return found;
}

}  // namespace

// A line with the least sum goes through two of the points, or through one and no time for no bytes.
std::optional<TimeLine> time_line(std::vector<TimedSize> measured) {
    const auto large =
        static_cast<std::size_t>(std::count_if(measured.begin(), measured.end(), [](const TimedSize& one) { return one.bytes >= kLarge; }));
    measured = sorted(std::move(measured), [](const TimedSize& a, const TimedSize& b) { return a.bytes >= kLarge && b.bytes < kLarge; });
    if (large >= kFewestLarge) measured.resize(large);
    if (measured.size() > kMostSizes) measured.resize(kMostSizes);
    std::optional<TimeLine> best;
    double least = INFINITY;
    const auto attempt = [&](const TimeLine& line) {
        if (!(line.seconds_per_byte > 0) || line.seconds < 0) return;
        if (const double error = error_of(line, measured); error < least) least = error, best = line;
    };
    for (std::size_t i = 0; i < measured.size(); ++i) {
        attempt({0, measured[i].seconds / measured[i].bytes});
        for (std::size_t j = i + 1; j < measured.size(); ++j) {
            if (measured[i].bytes == measured[j].bytes) continue;
            const double slope = (measured[j].seconds - measured[i].seconds) / (measured[j].bytes - measured[i].bytes);
            attempt({measured[i].seconds - slope * measured[i].bytes, slope});
        }
    }
    return best;
}

double AllReduce::bus_rate() const {
    const auto n = static_cast<double>(gpus);
    return 2 * (n - 1) / n / line.seconds_per_byte;
}
double AllReduce::rate() const { return nodes == 2 ? 1 / line.seconds_per_byte : bus_rate(); }
double AllReduce::latency() const { return line.seconds / 2 / std::log2(static_cast<double>(gpus)); }

Json settings_of(const std::vector<AllReduce>& runs) {
    constexpr int kDigits = 4;
    constexpr double kLongest = 0.1;  // s, of the field
    Json set = Json::object();
    if (const AllReduce* inside = slowest(runs, false)) set["measured_intra_gb_s"] = significant(inside->rate() / kGbyte, kDigits);
    const AllReduce* between = slowest(runs, true);
    if (between == nullptr) return set;
    set["measured_inter_gb_s"] = significant(between->rate() / kGbyte, kDigits);
    if (between->latency() > 0 && between->latency() <= kLongest)
        set["measured_inter_latency_s"] = significant(between->latency(), kDigits);
    return set;
}

Json to_json(const AllReduce& run) {
    return Object()
        .add("nodes", static_cast<std::int64_t>(run.nodes))
        .add("gpus", static_cast<std::int64_t>(run.gpus))
        .add("bus_gbyte_per_s", significant(run.bus_rate() / kGbyte, kWrittenDigits))
        .add("gbyte_per_s", significant(run.rate() / kGbyte, kWrittenDigits))
        .add("latency_us", significant(run.line.seconds / kMicrosecond, kWrittenDigits));
}

}  // namespace fourfold
