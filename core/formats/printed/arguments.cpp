// The arguments that Megatron-LM and its children list when they start (print_args of megatron/training/arguments.py):
// "  tensor_model_parallel_size ...................... 8".
#include "formats/megatron/read.h"
#include "formats/printed/answer.h"
#include "formats/printed/line.h"

namespace fourfold {

namespace {

constexpr std::string_view kDots = " ...";

Json argument_value(std::string_view written) {
    if (written == "None") return nullptr;
    if (written == "True" || written == "False") return written == "True";
    return written;
}

// Of a run, in the order in which people read them: how it is split, and what decides its time and memory besides. Always all of them, so
// that a second log is a row of the same table.
constexpr const char* kOfRow[] = {
    "gpus",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "virtual_stages",
    "expert_parallel",
    "expert_tensor_parallel",
    "micro_batch",
    "global_batch",
    "sequence_length",
    "recompute",
    "zero",
};

}  // namespace

void read_printed_argument(const PrintedLines& line, PrintedRun& run) {
    constexpr std::size_t kMostArguments = 2'000;
    const std::size_t dots = line.text.find(kDots);
    if (dots == std::string_view::npos || run.arguments.size() >= kMostArguments) return;
    const std::string_view name = trimmed(line.text.substr(0, dots)), rest = line.text.substr(dots + 1);
    const std::size_t end = rest.find_first_not_of('.');
    if (name.empty() || name.find(' ') != std::string_view::npos || end == std::string_view::npos || rest[end] != ' ') return;
    run.arguments.push_back({std::string(name), std::string(trimmed(rest.substr(end))), line.number});
}

std::vector<std::pair<std::string, Json>> planned_run(const PrintedRun& run) {
    std::vector<std::pair<std::string, Json>> planned;
    constexpr int kTelling = 3;  // another program's list has fewer of Megatron-LM's names
    Import read;
    for (const PrintedArgument& one : run.arguments) read.entries.push_back({one.name, one.name, argument_value(one.value), one.line});
    if (megatron_likeness(read.entries) < kTelling) return planned;
    read.set("gpus", read.whole("world_size", "gpus"));
    read_megatron(read);
    for (const char* key : kOfRow) planned.emplace_back(key, read.job.value(key, Json()));
    return planned;
}

}  // namespace fourfold
