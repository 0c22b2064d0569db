// What a training run printed: how long its steps took, what memory it held, and how it ran out of it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

// What a number was read as, and in what it comes back.
enum class Quantity {
    tried,      // what the allocation that failed asked for
    capacity,   // of the card
    allocated,  // when memory ran out
    reserved,
    unallocated,    // reserved and not allocated
    free,           // on the card
    process,        // in use by this process
    others,         // in use by other processes
    max_allocated,  // the most over steps that ran
    max_reserved,
    current_allocated,  // at some moment
    current_reserved,
    used,         // on the card, by nvidia-smi and the like
    theoretical,  // counted by the framework itself
    step_seconds,
    tokens_per_s,
    tokens_per_s_per_gpu,
    flop_per_s_per_gpu,
    samples_per_s,
    global_batch,
    count
};
struct QuantityText {
    std::string_view id, unit;
};
const QuantityText& text(Quantity quantity);

// Who printed it.
enum class Printer {
    pytorch,
    megatron,
    bridge,
    nemo,
    torchtitan,
    nanotron,
    neox,
    deepspeed,
    trainer,
    nvidia_smi,
    rocm_smi,
    amd_smi,
    other,
    count
};
std::string_view id_of(Printer printer);
// Whether it shows what cards hold, whatever runs there.
inline bool shows_cards(Printer printer) { return printer >= Printer::nvidia_smi && printer <= Printer::amd_smi; }

struct PrintedNumber {
    Quantity quantity = Quantity::count;
    Printer printer = Printer::count;
    double value = 0;                  // SI
    std::string written;               // as it stands there
    std::int64_t line = 0, rank = -1;  // -1: not said
};

inline constexpr double kNotSaid = -1;

// A line that says how long a step took. 0 = not said.
struct PrintedStep {
    Printer printer = Printer::count;
    std::int64_t line = 0, rank = -1, iteration = -1;
    double seconds = 0, tokens_per_s = 0, tokens_per_s_per_gpu = 0, flop_per_s_per_gpu = 0, samples_per_s = 0, global_batch = 0;
    bool whole_run = false;  // a mean over all of it
};

// A message that memory has run out. All in bytes.
struct OutOfMemory {
    std::int64_t line = 0, rank = -1;
    double tried = kNotSaid, capacity = kNotSaid, allocated = kNotSaid, reserved = kNotSaid, unallocated = kNotSaid, free = kNotSaid,
           process = kNotSaid, others = kNotSaid;
};

// Of the program, as Megatron-LM lists them when it starts.
struct PrintedArgument {
    std::string name, value;
    std::int64_t line = 0;
};

struct PrintedRun {
    std::int64_t lines = 0;
    std::uint32_t printers = 0;          // bits
    std::vector<PrintedNumber> numbers;  // of memory: the first ones, and of each quantity and printer the highest
    std::vector<PrintedStep> steps;
    std::vector<OutOfMemory> deaths;  // the first ones
    std::size_t death_count = 0;
    std::vector<std::string> cards;  // names that nvidia-smi, rocm-smi or amd-smi shows
    bool rows_are_cards = false;     // they have no number but that of their row
    std::vector<PrintedArgument> arguments;

    const PrintedNumber* highest(Quantity quantity) const;  // nullptr: none was read
    void add(PrintedNumber number);
    void saw(Printer printer) { printers |= 1U << static_cast<unsigned>(printer); }
};

// One pass over the text.
PrintedRun read_printed(std::string_view text);

// ---- what it looks for, line by line
class PrintedLines;
void read_printed_step(const PrintedLines& line, PrintedRun& run);
void read_printed_argument(const PrintedLines& line, PrintedRun& run);

// The columns of nvidia-smi's --format=csv and of rocm-smi's --csv, from its first line, and the cards below it that have no number there.
struct SmiColumns {
    std::size_t used = SIZE_MAX, total = SIZE_MAX, index = SIZE_MAX, name = SIZE_MAX, card = SIZE_MAX;  // card: its identity
    Printer printer = Printer::nvidia_smi;
    double unit = 0;  // of numbers without one
    bool timed = false;
    std::size_t rows = 0;
    std::vector<std::string> cards{};
    bool any() const { return used != SIZE_MAX || total != SIZE_MAX; }
};

class MemoryReader {
 public:
    void read(const PrintedLines& line, PrintedRun& run);

 private:
    bool read_amd(const PrintedLines& line, PrintedRun& run);
    SmiColumns columns_;
    bool in_table_ = false, in_query_ = false;  // below "FB Memory Usage" of nvidia-smi -q
    bool in_monitor_ = false;                   // of amd-smi
    // Of the summary; of the row in nvidia-smi's table; of amd-smi metric.
    std::int64_t device_ = -1, card_ = -1, amd_card_ = -1;
};

// The message that memory has run out, which may go on over the next lines.
class DeathReader {
 public:
    void read(const PrintedLines& line, PrintedRun& run);
    void finish(PrintedRun& run);

 private:
    std::string message_;
    std::int64_t line_ = 0, rank_ = -1;
    int more_ = 0;  // lines that may still belong to it
};

// Other ways in which a run ends than a GPU's memory, by the lines of Slurm, Linux, Kubernetes, torchrun and ProcessGroupNCCL that say it.
// Null: none of them; else the id of its words below problem.read_run and suggestion.read_run.
const char* end_of(std::string_view text);

}  // namespace fourfold
