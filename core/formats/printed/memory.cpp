// Lines that say what memory was held: Megatron-LM's report of memory, DeepSpeed's see_memory_usage, torch.cuda.memory_summary(),
// DeepSpeed's table of states, torchtitan's lines of a step, nvidia-smi, rocm-smi, amd-smi; and the words of those that count in one unit
// throughout.
#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "formats/printed/line.h"
#include "formats/printed/printed.h"

namespace fourfold {

namespace {

class Memory {
 public:
    Memory(const PrintedLines& line, PrintedRun& run) : line_(line), run_(run) {}
    void add(Quantity quantity, Printer printer, const MaybePrinted& size, std::int64_t rank, double unit = 1) {
        if (!size || !(size->value >= 0) || size->value * unit > 1e18) return;
        run_.add({quantity, printer, size->value * unit, std::string(size->written), line_.number, rank < 0 ? line_.rank : rank});
    }
    const PrintedLines& line_;
    PrintedRun& run_;
};

std::int64_t rank_after(std::string_view text, std::string_view key) {
    const MaybePrinted rank = number_after(text, key);
    return rank && rank->value >= 0 && rank->value < 1e7 ? static_cast<std::int64_t>(rank->value) : -1;
}

// "[Rank 0] (after 10 iterations) memory (MB) | allocated: 1.5 | max allocated: 2.5 | reserved: 2.6 | max reserved: 2.6": in MiB
void megatron_memory(Memory& memory, std::string_view text) {
    const std::int64_t rank = rank_after(text, "[Rank ");
    const auto add = [&](Quantity quantity, std::string_view key) {
        memory.add(quantity, Printer::megatron, number_after(text, key), rank, kMebi);
    };
    add(Quantity::current_allocated, "| allocated:");
    add(Quantity::max_allocated, "max allocated:");
    add(Quantity::current_reserved, "| reserved:");
    add(Quantity::max_reserved, "max reserved:");
}

// "cuda_memory_allocated: 75.2M | cuda_max_memory_reserved: 547M" of nanotron: bytes, in thousands of thousands
void nanotron_memory(Memory& memory, std::string_view text) {
    memory.add(Quantity::current_allocated, Printer::nanotron, number_after(text, "cuda_memory_allocated", 1e3), -1);
    memory.add(Quantity::max_reserved, Printer::nanotron, number_after(text, "cuda_max_memory_reserved", 1e3), -1);
}

// "Theoretical memory footprints: weight and optimizer=8640.00 MB, activation=1084.80 MB, total=9724.80 MB"
void theoretical_memory(Memory& memory, std::string_view text) {
    const MaybePrinted total = size_after(text, "total=");
    memory.add(Quantity::theoretical, Printer::megatron, total ? total : size_after(text, "optimizer="), -1);
}

// "MA 12.3 GB         Max_MA 13.4 GB         CA 14.0 GB         Max_CA 14 GB"; "MemAllocated=12.3GB, MaxMemAllocated=13.4GB"
void deepspeed_memory(Memory& memory, std::string_view text) {
    memory.add(Quantity::max_allocated, Printer::deepspeed, size_after(text, "Max_MA"), -1);
    memory.add(Quantity::max_reserved, Printer::deepspeed, size_after(text, "Max_CA"), -1);
    memory.add(Quantity::max_allocated, Printer::deepspeed, size_after(text, "MaxMemAllocated"), -1);
    if (!has(text, "MaxMemAllocated")) memory.add(Quantity::current_allocated, Printer::deepspeed, size_after(text, "MemAllocated"), -1);
}

// "| Allocated memory      |  77000 MiB |  78000 MiB |   1024 GiB |    950 GiB |": current, peak, in all, freed; of the device in the title
void summary_memory(Memory& memory, std::string_view text, bool reserved, std::int64_t device) {
    std::vector<std::string_view> cells;
    split_cells(text, '|', cells, 5);
    if (cells.size() < 4) return;
    const std::int64_t rank = memory.line_.rank >= 0 ? -1 : device;
    memory.add(reserved ? Quantity::current_reserved : Quantity::current_allocated, Printer::pytorch, size_of(cells[2]), rank);
    memory.add(reserved ? Quantity::max_reserved : Quantity::max_allocated, Printer::pytorch, size_of(cells[3]), rank);
}

void name_card(PrintedRun& run, std::string_view name) {
    constexpr std::size_t kMostCards = 8, kLongestName = 80;
    const std::string text(trimmed(name).substr(0, kLongestName));
    if (run.cards.size() < kMostCards && std::find(run.cards.begin(), run.cards.end(), text) == run.cards.end()) run.cards.push_back(text);
}

// "|   0  NVIDIA H100 80GB HBM3          On  | 00000000:1A:00.0 Off |                    0 |": a number, a name and, in the next cell,
// where the card is on its bus. The number; -1: it is no such row. Drivers up to 460 leave out "NVIDIA", and all cut long names: "Tesla
// V100-SXM2...".
std::int64_t card_row(PrintedRun& run, std::string_view text) {
    constexpr std::size_t kDomain = 8;  // hexadecimal digits
    std::vector<std::string_view> cells;
    split_cells(text, '|', cells, 4);
    if (cells.size() < 3 || cells[2].size() <= kDomain || cells[2][kDomain] != ':') return -1;
    const std::size_t digits = std::min(cells[1].find_first_not_of("0123456789"), cells[1].size());
    const auto number = number_of(cells[1].substr(0, digits));
    const std::string_view name = trimmed(cells[1].substr(digits));
    if (!number || *number >= 1e6 || name.empty()) return -1;
    name_card(run, name.substr(0, name.find("  ")));
    return static_cast<std::int64_t>(*number);
}

// "| N/A   43C    P0   120W / 700W |  74512MiB / 81559MiB |     99%      Default |"; later drivers fill both numbers up with blanks. What
// lies on the bus stands in a row of its own without anything in front.
void smi_row(Memory& memory, std::string_view text, std::int64_t card) {
    std::vector<std::string_view> cells;
    split_cells(text, '|', cells, 4);
    if (cells.size() > 1 && cells[0].empty() && cells[1].empty()) return;
    const std::size_t slash = text.find("MiB /");
    const std::string_view head = text.substr(0, slash + 3);
    memory.add(Quantity::used, Printer::nvidia_smi, size_of(head.substr(head.find_last_of(" |") + 1)), card);
    memory.add(Quantity::capacity, Printer::nvidia_smi, size_of(trimmed(text.substr(slash + 5))), card);
}

// "        Used                              : 74512 MiB" below "FB Memory Usage" of nvidia-smi -q
void query_row(Memory& memory, std::string_view text, std::int64_t card) {
    const std::size_t colon = text.find(" : ");
    if (colon == std::string_view::npos) return;
    const std::string_view key = trimmed(text.substr(0, colon));
    const MaybePrinted size = size_of(trimmed(text.substr(colon + 3)));
    if (key == "Used") memory.add(Quantity::used, Printer::nvidia_smi, size, card);
    if (key == "Total") memory.add(Quantity::capacity, Printer::nvidia_smi, size, card);
}

constexpr std::string_view kRocmTotal = "VRAM Total Memory (B)", kRocmUsed = "VRAM Total Used Memory (B)";

// "GPU[0]\t\t: VRAM Total Used Memory (B): 283725824" of rocm-smi --showmeminfo vram; with --json all cards stand in one line,
// {"card0": {"VRAM Total Memory (B)": "206141652992", …}, "card1": …}.
void rocm_row(Memory& memory, std::string_view text) {
    constexpr std::string_view kCard = "\"card";
    while (!text.empty()) {
        const std::string_view card = text.substr(0, text.find(kCard, 1));
        text.remove_prefix(card.size());
        const std::int64_t rank = std::max(rank_after(card, "GPU["), rank_after(card, kCard));
        memory.add(Quantity::used, Printer::rocm_smi, number_after(card, kRocmUsed), rank);
        memory.add(Quantity::capacity, Printer::rocm_smi, number_after(card, kRocmTotal), rank);
        for (const std::string_view key : {"Card Series", "Card series"})
            if (const std::size_t at = card.find(key); at != std::string_view::npos) {
                const std::size_t begin = std::min(card.find_first_not_of("\": \t", at + key.size()), card.size());
                name_card(memory.run_, card.substr(begin, card.find('"', begin) - begin));
            }
    }
}

// "|   0       1       6        SPX/NPS1 | 0 %        N/A           283/294896 MB |" of amd-smi, whose row before has the name:
// "| 0000:05:00.0    AMD Instinct MI355X | 0 %      54 °C   0          234/1400 W |"
bool amd_row(Memory& memory, std::string_view text) {
    std::vector<std::string_view> cells;
    split_cells(text, '|', cells, 4);
    if (cells.size() < 3) return false;
    if (const std::size_t name = cells[1].find("  AMD "); name != std::string_view::npos && has(cells[1].substr(0, name), ":"))
        return name_card(memory.run_, trimmed(cells[1].substr(name))), true;
    const std::size_t slash = cells[2].rfind('/'), begin = cells[2].find_last_of(' ', slash) + 1;
    const std::int64_t card = rank_after(text.substr(0, text.find('|', 1)), "|");
    if (card < 0 || !cells[2].ends_with("B") || !has(cells[2], " %") || slash == std::string_view::npos || begin > slash) return false;
    const std::string_view unit = cells[2].substr(std::min(cells[2].find(' ', slash), cells[2].size()));
    const std::string used = joined({cells[2].substr(begin, slash - begin), unit});
    memory.add(Quantity::used, Printer::amd_smi, size_of(used), card);
    memory.add(Quantity::capacity, Printer::amd_smi, size_of(cells[2].substr(slash + 1)), card);
    return true;
}

// A row of amd-smi monitor: "  0  248 W     55 °C     48 °C     283 MB   196300 MB": the first size is in use, the last the card's.
bool monitor_row(Memory& memory, std::string_view text) {
    std::vector<std::string_view> words;
    split_words(text, words, 60);
    const double card = words.empty() ? -1 : number_of(words[0]).value_or(-1);
    MaybePrinted first, last;
    for (const std::string_view word : words)
        if (const MaybePrinted size = size_of(text.substr(static_cast<std::size_t>(word.data() - text.data())))) {
            if (!first) first = size;
            last = size;
        }
    if (!first || card < 0 || card > 1e6) return false;
    memory.add(Quantity::used, Printer::amd_smi, first, static_cast<std::int64_t>(card));
    memory.add(Quantity::capacity, Printer::amd_smi, last, static_cast<std::int64_t>(card));
    return true;
}

// "   62.23GB |   5.43GB | offload_param=none, offload_optimizer=cpu , zero_init=1" of estimate_zero3_model_states_mem_needs_all_live():
// for the host and for each GPU.
void states_row(Memory& memory, std::string_view text) {
    std::vector<std::string_view> cells;
    split_cells(text, '|', cells, 3);
    if (size_of(cells[0])) memory.add(Quantity::theoretical, Printer::deepspeed, size_of(cells[1]), -1);
}

SmiColumns smi_columns(std::string_view header) {
    std::vector<std::string_view> cells;
    split_cells(header, ',', cells, 40);
    SmiColumns columns;
    columns.unit = kMebi;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i].starts_with("memory.used")) columns.used = i;
        if (cells[i].starts_with("memory.total")) columns.total = i;
        if (cells[i] == "index") columns.index = i;
        if (cells[i] == "uuid" || cells[i] == "gpu_uuid" || cells[i] == "pci.bus_id" || cells[i] == "gpu_bus_id") columns.card = i;
        if (cells[i] == "timestamp") columns.timed = true;
        if (cells[i] == "name") columns.name = i;
        if (cells[i] == "device") columns.card = i;  // "card0" of rocm-smi, with bytes
        if (cells[i].starts_with(kRocmUsed)) columns.used = i, columns.printer = Printer::rocm_smi, columns.unit = 1;
        if (cells[i].starts_with(kRocmTotal)) columns.total = i;
        if (lower_case(cells[i]) == "card series") columns.name = i;
    }
    return columns;
}

// Rows stand in the order of the cards, once each unless the time stands beside them, or they never end. The card's number; -1: not known.
std::int64_t card_of(std::string_view identity, SmiColumns& columns, PrintedRun& run) {
    constexpr std::size_t kMostInNode = 16;
    if (!identity.empty()) {
        const auto known = std::find(columns.cards.begin(), columns.cards.end(), identity);
        const std::int64_t number = known - columns.cards.begin();
        if (known == columns.cards.end() && columns.cards.size() < 8 * kMostInNode) columns.cards.emplace_back(identity);
        return number;
    }
    if (columns.timed) return -1;
    run.rows_are_cards = true;
    if (++columns.rows <= kMostInNode) return static_cast<std::int64_t>(columns.rows) - 1;
    for (PrintedNumber& one : run.numbers)
        if (shows_cards(one.printer)) one.rank = -1;
    return -1;
}

// "153.81GB/102.17GB/255.98GB/60.09%", in units of 2^30 bytes
void primus_memory(Memory& memory, std::string_view text) {
    std::vector<std::string_view> cells;
    split_cells(text, '/', cells, 4);
    if (cells.size() < 3) return;
    memory.add(Quantity::used, Printer::megatron, size_of(trimmed(cells[0])), -1);
    memory.add(Quantity::capacity, Printer::megatron, size_of(trimmed(cells[2])), -1);
}

// Whether the line is a row under such a header.
bool smi_values(Memory& memory, std::string_view text, SmiColumns& columns) {
    std::vector<std::string_view> cells;
    split_cells(text, ',', cells, 40);
    const auto cell = [&](std::size_t at) { return at < cells.size() ? cells[at] : std::string_view(); };
    const auto mebibytes = [&](std::size_t at) {
        MaybePrinted size = size_of(cell(at));
        if (size) return size;
        if (const auto plain = number_of(cell(at))) size = Printed{*plain * columns.unit, cell(at)};  // nvidia-smi's are in MiB
        return size;
    };
    const MaybePrinted used = mebibytes(columns.used), total = mebibytes(columns.total);
    if (!used && !total) return false;
    const auto index = number_of(cell(columns.index));
    const std::int64_t rank = columns.index == SIZE_MAX              ? card_of(cell(columns.card), columns, memory.run_)
                              : index && *index >= 0 && *index < 1e6 ? static_cast<std::int64_t>(*index)
                                                                     : -1;
    memory.add(Quantity::used, columns.printer, used, rank);
    memory.add(Quantity::capacity, columns.printer, total, rank);
    if (columns.name != SIZE_MAX) name_card(memory.run_, cell(columns.name));
    return true;
}

// Words with a number behind them: what they say, in what unit.
struct MemoryWord {
    std::string_view key;
    Quantity quantity;
    Printer printer;
    double unit;
};
constexpr MemoryWord kMemoryWords[] = {
    {"'memory(GiB)'", Quantity::max_reserved, Printer::trainer, kGibi},                   // ms-swift, get_max_reserved_memory()
    {"memory/max_allocated (GiB)", Quantity::max_allocated, Printer::trainer, kGibi},     // Axolotl, core/trainers/base.py
    {"memory/max_mem_allocated(gib)", Quantity::max_allocated, Printer::trainer, kGibi},  // before
    {"Peak reserved memory =", Quantity::max_reserved, Printer::trainer, kGibi},          // Unsloth's notebooks
    {"perf/max_memory_allocated_gb", Quantity::max_allocated, Printer::other, kGibi},     // verl, workers/actor
    {"perf/max_memory_reserved_gb", Quantity::max_reserved, Printer::other, kGibi},
    {"perf/max_memory_allocated_gb:np.float64(", Quantity::max_allocated, Printer::other, kGibi},
    {"perf/max_memory_reserved_gb:np.float64(", Quantity::max_reserved, Printer::other, kGibi},
    {"peak_memory_alloc:", Quantity::max_allocated, Printer::other, kGibi},  // torchtune, get_memory_stats()
    {"peak_memory_reserved:", Quantity::max_reserved, Printer::other, kGibi},
    {"memory/peak_allocated_mem:", Quantity::max_allocated, Printer::other, 1e9},  // Composer, MemoryMonitor
    {"memory/peak_reserved_mem:", Quantity::max_reserved, Printer::other, 1e9},
    {"Memory used:", Quantity::max_allocated, Printer::other, 1e9},        // LitGPT, finetune/lora.py
    {"| Memory usage:", Quantity::current_reserved, Printer::other, 1e9},  // picotron, train.py
};
bool word_memory(Memory& memory, std::string_view text) {
    const std::size_t before = memory.run_.numbers.size();
    if (text.find("emory") == std::string_view::npos) return false;
    for (const MemoryWord& word : kMemoryWords)
        if (word.key != "Memory used:" || text.starts_with(word.key))
            memory.add(word.quantity, word.printer, number_after(text, word.key), -1, word.unit);
    return memory.run_.numbers.size() > before;
}

}  // namespace

// Of rocm-smi and amd-smi; its CSV is read like nvidia-smi's.
bool MemoryReader::read_amd(const PrintedLines& line, PrintedRun& run) {
    const std::string_view text = line.text;
    Memory memory(line, run);
    const bool rocm = has(text, kRocmUsed) || has(text, kRocmTotal) || (text.starts_with("GPU[") && has(lower_case(text), "card series"));
    if (rocm && !text.starts_with("device,")) return rocm_row(memory, text), true;
    if (text.starts_with('|') && amd_row(memory, text)) return true;
    if (in_monitor_ && !trimmed(text).empty() && (in_monitor_ = monitor_row(memory, text))) return true;
    if (has(text, "VRAM_USED") && has(text, "VRAM_TOTAL")) return in_monitor_ = true;
    if (text.starts_with("GPU: ")) amd_card_ = rank_after(text, "GPU:");  // of amd-smi metric
    const bool total = has(text, "TOTAL_VRAM:");
    if (!total && !has(text, "USED_VRAM:")) return false;
    memory.add(total ? Quantity::capacity : Quantity::used, Printer::amd_smi, size_after(text, "_VRAM:"), amd_card_);
    return true;
}

void MemoryReader::read(const PrintedLines& line, PrintedRun& run) {
    const std::string_view text = line.text;
    Memory memory(line, run);
    if (has(text, "memory (MB)")) return megatron_memory(memory, text);
    if (has(text, "heoretical memory footprints")) return theoretical_memory(memory, text);
    if (has(text, "Max_MA") || has(text, "MemAllocated")) return deepspeed_memory(memory, text);
    if (has(text, "cuda_max_memory_reserved")) return nanotron_memory(memory, text);
    if (has(text, "| offload_")) return states_row(memory, text);
    if (text.starts_with("device memory usage:"))  // llm.c, of the whole card
        return memory.add(Quantity::used, Printer::other, size_after(text, "usage:"), -1),
               memory.add(Quantity::capacity, Printer::other, size_after(text, "MiB /"), -1);
    if (const std::size_t at = text.find(" mem usage/free/total/usage_ratio:"); at != std::string_view::npos)  // Primus, of the whole card
        return primus_memory(memory, text.substr(text.find(':', at) + 1));
    if (read_amd(line, run)) return;
    if (word_memory(memory, text)) return;
    if (has(text, "CUDA memory summary")) {
        device_ = rank_after(text, "device ID");
        return;
    }
    if (has(text, "| Allocated memory")) return summary_memory(memory, text, false, device_);
    if (has(text, "| GPU reserved memory")) return summary_memory(memory, text, true, device_);
    if (has(text, "MiB / ")) return smi_row(memory, text, card_);
    if (text.starts_with('|') && has(text, ":")) {
        if (const std::int64_t card = card_row(run, text); card >= 0) card_ = card;
        return;
    }
    if (has(text, " Memory Usage") && !has(text, ":")) {
        in_query_ = has(text, "FB Memory Usage");
        return;
    }
    if (in_query_) return query_row(memory, text, -1);
    if (has(text, "memory.used") || has(text, "memory.total") || (text.starts_with("device,") && has(text, kRocmUsed))) {
        columns_ = smi_columns(text);
        in_table_ = columns_.any();
        return;
    }
    if (in_table_) in_table_ = smi_values(memory, text, columns_);
    // torchtitan: the most that was reserved
    if (has(text, "memory:") && has(text, "step:"))
        memory.add(Quantity::max_reserved, Printer::torchtitan, size_after(text, "memory:"), -1);
}

}  // namespace fourfold
