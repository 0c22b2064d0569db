// Many lines of steps as one measurement.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "formats/printed/answer.h"

namespace fourfold {

namespace {

struct Measure {
    Quantity quantity;
    double PrintedStep::*value;
};
// Which of them times a run: the first that is there.
constexpr Measure kMeasures[] = {
    {Quantity::step_seconds, &PrintedStep::seconds},
    {Quantity::tokens_per_s_per_gpu, &PrintedStep::tokens_per_s_per_gpu},
    {Quantity::tokens_per_s, &PrintedStep::tokens_per_s},
    {Quantity::samples_per_s, &PrintedStep::samples_per_s},
    {Quantity::flop_per_s_per_gpu, &PrintedStep::flop_per_s_per_gpu},
};

// Whose lines count where several programs print: that of most lines.
Printer chosen_printer(const PrintedRun& run) {
    std::array<std::int64_t, static_cast<std::size_t>(Printer::count)> lines{};
    for (const PrintedStep& step : run.steps) ++lines[static_cast<std::size_t>(step.printer)];
    return static_cast<Printer>(std::max_element(lines.begin(), lines.end()) - lines.begin());
}

// The first step of each start also prepares kernels and connections. Every rank may print it.
std::vector<const PrintedStep*> warm_steps(const std::vector<const PrintedStep*>& all) {
    std::vector<const PrintedStep*> warm;
    if (all.size() == 1) return all;
    std::int64_t first = INT64_MAX;
    for (const PrintedStep* step : all) {
        const bool starts = step->iteration < 0 ? step == all.front() : step->iteration <= first;
        if (starts)
            first = step->iteration < 0 ? first : step->iteration;
        else
            warm.push_back(step);
    }
    return warm.empty() ? all : warm;
}

std::optional<Series> series_of(const std::vector<const PrintedStep*>& steps, const Measure& measure) {
    Series series;
    std::vector<double> values;
    for (const PrintedStep* step : steps) {
        const double value = step->*measure.value;
        if (value <= 0) continue;
        if (values.empty()) series.first_line = step->line;
        series.last_line = step->line;
        values.push_back(value);
    }
    if (values.empty()) return std::nullopt;
    series.quantity = measure.quantity;
    series.count = static_cast<std::int64_t>(values.size());
    series.lowest = *std::min_element(values.begin(), values.end());
    series.highest = *std::max_element(values.begin(), values.end());
    series.median = median(std::move(values));
    return series;
}

}  // namespace

Steps steps_of(const PrintedRun& run) {
    Steps steps;
    if (run.steps.empty()) return steps;
    const Printer printer = chosen_printer(run);
    std::vector<const PrintedStep*> all, same;
    for (const PrintedStep& step : run.steps)
        if (step.printer == printer) all.push_back(&step);
    steps.global_batch = all.back()->global_batch;
    for (const PrintedStep* step : all)
        if (step->global_batch == steps.global_batch) same.push_back(step);
    const std::vector<const PrintedStep*> warm = warm_steps(same);
    const std::size_t cold = same.size() - warm.size();
    if (same.size() < all.size())
        steps.notes.push_back(Text("read_run.note.batches").with("count", all.size() - same.size()).with("batch", steps.global_batch));
    if (cold > 0) steps.notes.push_back(Text("read_run.note.warm_up").with("count", cold));
    if (all.front()->whole_run)
        steps.notes.emplace_back("read_run.note.whole_run");
    else if (same.size() == 1)
        steps.notes.emplace_back("read_run.note.one_line");
    for (const Measure& measure : kMeasures)
        if (auto series = series_of(warm, measure)) {
            series->printer = printer;
            series->left_out = static_cast<std::int64_t>(all.size() - warm.size());
            steps.series.push_back(*series);
        }
    return steps;
}

double Steps::seconds(const Counted* counted) const {
    if (series.empty()) return 0;
    const Series& first = series.front();
    if (first.quantity == Quantity::step_seconds) return first.median;
    const double batch = global_batch > 0 ? global_batch : counted != nullptr ? static_cast<double>(counted->global_batch) : 0;
    if (first.quantity == Quantity::samples_per_s) return batch / first.median;
    if (counted == nullptr) return 0;
    const double tokens = batch * static_cast<double>(counted->sequence_length);
    if (first.quantity == Quantity::tokens_per_s) return tokens / first.median;
    if (first.quantity == Quantity::tokens_per_s_per_gpu) return tokens / first.median / static_cast<double>(counted->gpus);
    return 0;
}

Json measured_run(const PrintedRun& run, const Steps& steps, const Counted* counted) {
    Json measured = Json::object();
    const Series* first = steps.series.empty() ? nullptr : &steps.series.front();
    const auto add = [&](const char* key, double value) { measured[key] = significant(value, 12); };
    if (first != nullptr) {
        if (first->quantity == Quantity::tokens_per_s_per_gpu)
            add("tokens_per_second_per_gpu", first->median);
        else if (first->quantity == Quantity::tokens_per_s)
            add("tokens_per_second", first->median);
        else if (first->quantity == Quantity::flop_per_s_per_gpu)
            add("tflops_per_gpu", first->median / 1e12);
        else if (const double seconds = steps.seconds(counted); seconds > 0)
            add("step_seconds", seconds);
    }
    // A run that died held less before than a whole step needs.
    if (run.death_count == 0) {
        const PrintedNumber* allocated = run.highest(Quantity::max_allocated);
        const PrintedNumber* reserved = run.highest(Quantity::max_reserved);
        if (allocated != nullptr && allocated->value > 0)
            add("allocated_bytes", allocated->value);
        else if (reserved != nullptr && reserved->value > 0)
            add("reserved_bytes", reserved->value);
    }
    const double batch = steps.global_batch;
    if (!measured.empty() && batch > 0 && batch == std::floor(batch) && batch < 1e9)
        measured["global_batch"] = static_cast<std::int64_t>(batch);
    return measured;
}

}  // namespace fourfold
