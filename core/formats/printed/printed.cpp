#include "formats/printed/printed.h"

#include <algorithm>

#include "formats/printed/line.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostNumbers = 200, kMostSteps = 200'000;

constexpr QuantityText kQuantities[] = {
    {"tried", "bytes"},
    {"capacity", "bytes"},
    {"allocated", "bytes"},
    {"reserved", "bytes"},
    {"unallocated", "bytes"},
    {"free", "bytes"},
    {"process", "bytes"},
    {"others", "bytes"},
    {"max_allocated", "bytes"},
    {"max_reserved", "bytes"},
    {"current_allocated", "bytes"},
    {"current_reserved", "bytes"},
    {"used", "bytes"},
    {"theoretical", "bytes"},
    {"step_seconds", "s"},
    {"tokens_per_s", "tokens/s"},
    {"tokens_per_s_per_gpu", "tokens/s"},
    {"flop_per_s_per_gpu", "FLOP/s"},
    {"samples_per_s", "samples/s"},
    {"global_batch", "samples"},
};
static_assert(std::size(kQuantities) == static_cast<std::size_t>(Quantity::count));

constexpr std::string_view kPrinters[] = {
    "pytorch",   "megatron-lm", "megatron-bridge", "nemo",     "torchtitan", "nanotron", "gpt-neox",
    "deepspeed", "trainer",     "nvidia-smi",      "rocm-smi", "amd-smi",    "other",
};
static_assert(std::size(kPrinters) == static_cast<std::size_t>(Printer::count));

}  // namespace

const QuantityText& text(Quantity quantity) { return kQuantities[static_cast<std::size_t>(quantity)]; }
std::string_view id_of(Printer printer) { return kPrinters[static_cast<std::size_t>(printer)]; }

const PrintedNumber* PrintedRun::highest(Quantity quantity) const {
    const PrintedNumber* most = nullptr;
    for (const PrintedNumber& one : numbers)
        if (one.quantity == quantity && (most == nullptr || one.value > most->value)) most = &one;
    return most;
}

void PrintedRun::add(PrintedNumber number) {
    saw(number.printer);
    if (numbers.size() < kMostNumbers) {
        numbers.push_back(std::move(number));
        return;
    }
    // The list is full: a new highest one takes the place of the last of its kind.
    PrintedNumber* last = nullptr;
    for (PrintedNumber& one : numbers) {
        if (one.quantity != number.quantity || one.printer != number.printer) continue;
        if (one.value >= number.value) return;
        last = &one;
    }
    if (last != nullptr)
        *last = std::move(number);
    else
        numbers.back() = std::move(number);
}

PrintedRun read_printed(std::string_view text) {
    PrintedRun run;
    PrintedLines lines(without_mark(text));
    DeathReader deaths;
    MemoryReader memory;
    while (lines.next()) {
        deaths.read(lines, run);
        memory.read(lines, run);
        if (run.steps.size() < kMostSteps) read_printed_step(lines, run);
        read_printed_argument(lines, run);
    }
    deaths.finish(run);
    run.lines = lines.number;
    return run;
}

}  // namespace fourfold
