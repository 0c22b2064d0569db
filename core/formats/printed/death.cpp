// PyTorch's message that memory has run out, in its wordings since 1.8: of CUDACachingAllocator.cpp, and of HIP; and XLA's.
#include <algorithm>
#include <string_view>
#include <utility>

#include "formats/printed/line.h"
#include "formats/printed/printed.h"

namespace fourfold {

namespace {

class Death {
 public:
    Death(std::string_view message, OutOfMemory& said, PrintedRun& run) : message_(message), said_(said), run_(run) {}
    void read() {
        take(Quantity::tried, said_.tried, size_after(message_, "Tried to allocate"));
        take(Quantity::tried, said_.tried, size_after(message_, "while trying to allocate"));
        take(Quantity::tried, said_.tried, size_after(message_, "Requested"));  // of CUDAMallocAsyncAllocator.cpp
        take(Quantity::capacity, said_.capacity, size_after(message_, "Device limit"));
        take(Quantity::allocated, said_.allocated, size_after(message_, "Currently allocated"));
        take(Quantity::free, said_.free, size_after(message_, "Free (according to CUDA)"));
        take(Quantity::capacity, said_.capacity, size_before(message_, " total capacity"));
        take(Quantity::capacity, said_.capacity, size_after(message_, "has a total capacity of"));
        take(Quantity::capacity, said_.capacity, size_after(message_, "has a total capacty of"));  // as 2.1 spells it
        take(Quantity::allocated, said_.allocated, size_before(message_, " already allocated"));
        take(Quantity::allocated, said_.allocated, size_before(message_, " is allocated by PyTorch"));
        take(Quantity::free, said_.free, size_before(message_, " is free"));
        take(Quantity::free, said_.free, size_before(message_, " free"));
        take(Quantity::reserved, said_.reserved, size_before(message_, " reserved in total by PyTorch"));
        take(Quantity::unallocated, said_.unallocated, size_before(message_, " is reserved by PyTorch but unallocated"));
        take(Quantity::process, said_.process, size_after(message_, "this process has"));
        read_others();
        // The older wording says the one, the newer one the other.
        if (said_.allocated < 0) return;
        if (said_.reserved < 0 && said_.unallocated >= 0) said_.reserved = said_.allocated + said_.unallocated;
        if (said_.unallocated < 0 && said_.reserved >= said_.allocated) said_.unallocated = said_.reserved - said_.allocated;
    }

 private:
    void take(Quantity quantity, double& value, const MaybePrinted& size) {
        if (!size || value >= 0 || size->value > 1e18) return;
        value = size->value;
        list(quantity, *size);
    }
    void list(Quantity quantity, const Printed& size) {
        run_.add({quantity, Printer::pytorch, size.value, std::string(size.written), said_.line, said_.rank});
    }
    // "Process 1234 has 12.00 GiB memory in use."
    void read_others() {
        for (std::size_t at = message_.find("Process "); at != std::string_view::npos; at = message_.find("Process ", at + 1)) {
            const std::size_t end = std::min(message_.find("memory in use", at), message_.size());
            const MaybePrinted other = size_after(message_.substr(at, end - at), " has");
            if (!other || other->value > 1e18) continue;
            if (must_be_this(other->value)) {
                take(Quantity::process, said_.process, other);
                continue;
            }
            said_.others = std::max(0.0, said_.others) + other->value;
            list(Quantity::others, *other);
        }
    }
    // In a container PyTorch does not know its own number. Another process cannot hold what does not fit beside its own blocks.
    bool must_be_this(double held) const {
        const double own = said_.allocated + std::max(0.0, said_.unallocated);
        return said_.process < 0 && said_.allocated >= 0 && held >= own && said_.capacity >= 0 && held + own > said_.capacity;
    }
    std::string_view message_;
    OutOfMemory& said_;
    PrintedRun& run_;
};

bool begins_message(std::string_view text) {
    constexpr std::string_view kMakers[] = {"CUDA", "HIP", "XPU", "NPU", "Cuda", "Tried to allocate", "Allocation on device"};
    return std::any_of(std::begin(kMakers), std::end(kMakers), [&](std::string_view maker) { return has(text, maker); });
}

}  // namespace

void DeathReader::read(const PrintedLines& line, PrintedRun& run) {
    constexpr int kMoreLines = 4;
    constexpr std::size_t kLongestMessage = 4'000;
    std::size_t at = line.text.find("out of memory");
    if (at == std::string_view::npos) at = line.text.find("Out of memory while trying to allocate");
    if (at != std::string_view::npos && (line.text[at] == 'O' || begins_message(line.text))) {
        finish(run);
        message_ = line.text.substr(at);
        line_ = line.number;
        rank_ = line.rank;
        more_ = kMoreLines;
        return;
    }
    if (more_ == 0) return;
    --more_;
    // A message that was broken into lines goes on; a line of another rank does not belong to it.
    if (line.rank == rank_ && message_.size() + line.text.size() < kLongestMessage) message_.append(" ").append(trimmed(line.text));
    if (more_ == 0) finish(run);
}

void DeathReader::finish(PrintedRun& run) {
    constexpr std::size_t kMostDeaths = 4'096;
    constexpr std::int64_t kOneReport = 200;  // lines
    if (message_.empty()) return;
    const std::string message = std::move(message_);
    message_.clear();
    more_ = 0;
    OutOfMemory death;
    death.line = line_;
    death.rank = rank_;
    Death(message, death, run).read();
    run.saw(Printer::pytorch);
    // "CUDA error: out of memory" may stand again under the message with the numbers.
    const OutOfMemory* last = run.deaths.empty() ? nullptr : &run.deaths.back();
    if (death.tried < 0 && last != nullptr && last->rank == rank_ && line_ - last->line < kOneReport) return;
    ++run.death_count;
    if (run.deaths.size() < kMostDeaths) run.deaths.push_back(death);
}

const char* end_of(std::string_view text) {
    constexpr std::pair<std::string_view, const char*> kEnds[] = {{" oom-kill event", "host"},
                                                                  {" oom_kill event", "host"},
                                                                  {"Out of memory: Killed process", "host"},
                                                                  {"OOMKilled", "host"},
                                                                  {"Signal 9 (SIGKILL)", "killed"},
                                                                  {"exitcode  : -9", "killed"},
                                                                  {"exitcode: -9", "killed"},
                                                                  {"caught collective operation timeout", "hang"},
                                                                  {"found NaN in local", "nan"},  // Megatron-LM, rerun_state_machine.py
                                                                  {"lm loss: NAN", "nan"},
                                                                  {"loss: nan", "nan"},
                                                                  {"loss:  nan", "nan"},  // torchtitan
                                                                  {"'loss': nan", "nan"}};
    for (const auto& [line, id] : kEnds)
        if (text.find(line) != std::string_view::npos) return id;
    return nullptr;
}

}  // namespace fourfold
