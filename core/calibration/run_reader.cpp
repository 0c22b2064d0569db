#include "calibration/run_reader.h"

#include <algorithm>
#include <cmath>

#include "calibration/calibration.h"
#include "memory/verdict.h"
#include "plan/rules.h"
#include "time/step_time.h"

namespace fourfold {

namespace {

constexpr double kFarOff = 50;       // times the estimated time: another unit, or another plan
constexpr double kFarOffMemory = 5;  // times the estimated bytes, or that part of them
constexpr double kAgree = 0.02;      // two measurements of one run may differ by their rounding
constexpr std::size_t kFully = 20;   // rows whose broken rules are looked at for the nearest value that works, which takes its time
// Different runs that may leave their degrees to the search: each takes it some 50 ms.
constexpr std::size_t kMostSearches = 50;
constexpr std::int64_t kMostGpus = 1'048'576;

std::string key_of(const Plan& plan) {
    Json fields = Json::object();
    visit_fields(plan, FieldWriter(fields));
    return fields.dump();
}

// The least that a step can take: its arithmetic alone, at the card's peak. Of causal attention only the half that counts.
double least_seconds(const Job& job, const Plan& plan) {
    const double flop = model_flop(job.model, plan, FlopConvention::causal);
    return flop / (machine_of(*job.gpu, job.cluster, plan).peak * static_cast<double>(plan.gpus));
}

// The positive number at the measure's key; 0 and a problem otherwise.
double positive(const Json& given, const char* key, Problems& found) {
    if (!given.is_number()) {
        report(found, key, "type", shown(given), Text("problem.run.no_number").with("key", key).with("value", shown(given)),
               "suggestion.run.digits");
        return 0;
    }
    const double value = given.get<double>();
    if (value > 0) return value;
    report(found, key, "range", shown(given), Text("problem.run.too_small").with("key", key).with("value", shown(given)),
           "suggestion.run.measure");
    return 0;
}

// Two values that say the same must agree.
using Named = std::pair<std::string_view, double>;
void agree(const char* id, const Named& one, const Named& other, Problems& found) {
    if (std::abs(other.second / one.second - 1) <= kAgree) return;
    report(found, other.first, "contradictory", other.second,
           Text(id).with("key", one.first).with("other", other.first).with("first", one.second).with("second", other.second),
           "suggestion.run.one_measure");
}

std::string first_measure(const RunColumns& columns) {
    for (const Measure& measure : kMeasures)
        if (columns.has(measure.key)) return measure.key;
    return kStepSeconds;
}

}  // namespace

void report(Problems& problems, std::string_view field, const char* rule, const Json& value, Text message, Text suggestion) {
    problems.push_back({std::string(field), rule, value, std::move(message), std::move(suggestion), nullptr});
}

RunReader::RunReader(const Job& job, CountedFlop convention, const RunColumns& columns)
    : job_(job), convention_(convention), base_(uncalibrated(job.plan)), first_key_(first_measure(columns)) {
    for (const Measure& measure : kMeasures)
        if (counts_flop(measure.what) && columns.has(measure.key)) asks_convention_ = true;
}

bool RunReader::read(const Json& row, MeasuredRun& run, Problems& found) {
    if (!row.is_object()) {
        report(found, "", "type", shown(row), "problem.run.no_object", {});
        return false;
    }
    run.plan = base_;
    run.filled = Json::object();
    Said said{{}, kAuto, kAuto, row.contains("gpus"), convention_};
    read_fields(row, run, said, found);
    if (found.empty()) complete_plan(said, run, found);
    if (!found.empty()) {
        ++illegal_;
        return false;
    }
    if (!convert(said, run, found)) return false;
    const Estimated e = estimated({job_.model, run.plan, *job_.gpu, job_.method, job_.cluster}, run.plan);
    run.estimated = e.seconds;
    run.memory.estimated = e.bytes;
    run.fits = e.verdict.fit != Fit::does_not_fit;
    run.key = key_of(run.plan);
    if (run.has_time()) check_time(run, found);
    if (run.has_memory()) check_memory(run, found);
    return found.empty();
}

void RunReader::ask_for_convention(const RunColumns& columns, Problems& problems) const {
    if (without_convention_ == nullptr) return;
    Json names = Json::array();
    for (const Choice& choice : kFlopConventions) names.push_back(Text("choice.flop_convention", choice.id).json());
    report(problems, kFlopConvention, "missing", nullptr,
           Text("problem.run.no_convention").with("key", columns.name_of(without_convention_)).with("choices", std::move(names)),
           Text("suggestion.run.convention").with("key", kFlopConvention).with("first", kFlopConventions.front().id));
}

void RunReader::read_fields(const Json& row, MeasuredRun& run, Said& said, Problems& found) const {
    FieldReader reader(row, found);
    visit_fields(run.plan, reader);
    reader.choice({kFlopConvention}, said.convention, kFlopConventions);
    const auto count = [&](const char* key, std::int64_t& into) {
        const Json* given = reader.any(key);
        if (given == nullptr) return;
        if (const auto value = read_integer(*given, key, Text("field", key), {1, kMostGpus}, found)) into = *value;
    };
    count(kDataParallel, said.data_parallel);
    count(kNodes, said.nodes);
    bool any = false;
    for (const Measure& measure : kMeasures) {
        const Json* given = reader.any(measure.key);
        any = any || given != nullptr;
        if (given == nullptr) continue;
        if (const double value = positive(*given, measure.key, found); value > 0) said.values.push_back({&measure, value});
    }
    reader.reject_unknown();
    for (const std::string_view key : kCalibrationKeys)
        if (const auto given = row.find(std::string(key)); given != row.end())
            report(found, key, "unsupported", shown(*given), Text("problem.run.of_all").with("key", key), "suggestion.leave_out");
    if (!any)
        report(found, first_key_, "missing", nullptr, Text("problem.run.no_measure").with("key", first_key_), "suggestion.run.measure");
}

// Who names the copies of the model names how it is split: context parallelism that is not mentioned is none, the last degree that is open
// follows, and so does a number of GPUs that the run does not say.
void RunReader::use_data_parallel(const Said& said, Plan& p) const {
    if (said.data_parallel == kAuto) return;
    if (p.context_parallel == kAuto) p.context_parallel = 1;
    std::int64_t *const tensor = &p.tensor_parallel, *const pipeline = &p.pipeline_parallel;
    std::int64_t* const open = *tensor == kAuto ? tensor : *pipeline == kAuto ? pipeline : nullptr;
    if (open == nullptr) {
        if (!said.gpus && said.nodes == kAuto) p.gpus = std::min(said.data_parallel * p.model_parallel(), kMostGpus);
    } else if (*(open == tensor ? pipeline : tensor) != kAuto) {
        const std::int64_t others = said.data_parallel * p.context_parallel * *(open == tensor ? pipeline : tensor);
        if (p.gpus % others == 0) *open = p.gpus / others;
    }
}

// What the run does not say follows the job's plan; where that is open, the search chooses. Says which rules the plan breaks: fully, while
// there are few such rows.
void RunReader::complete_plan(const Said& said, MeasuredRun& run, Problems& found) {
    Plan& p = run.plan;
    if (p.gpus_per_node == kAuto) p.gpus_per_node = job_.cluster != nullptr ? job_.cluster->gpus_per_node : job_.gpu->gpus_per_node;
    if (said.nodes != kAuto && !said.gpus) p.gpus = std::min(said.nodes * p.gpus_per_node, kMostGpus);
    if (job_.model.experts.count == 0)
        for (std::int64_t* degree : {&p.expert_parallel, &p.expert_tensor_parallel})
            if (*degree == kAuto) *degree = 1;  // nothing to choose
    const std::vector<std::string> open = open_keys(p);
    use_data_parallel(said, p);
    if (!open_keys(p).empty())
        found = fill(run);
    else if (!is_legal(job_.model, p))
        found = illegal_ < kFully ? broken_rules(job_.model, p) : Problems{first_broken_rule(job_.model, p)};
    if (!found.empty()) return;
    Json all = Json::object();
    visit_fields(std::as_const(p), FieldWriter(all));
    for (const std::string& key : open) run.filled[key] = std::move(all[key]);
    if (said.data_parallel != kAuto && p.data_parallel() != said.data_parallel)
        report(found, kDataParallel, "contradictory", said.data_parallel,
               Text("problem.run.data_parallel").with("given", said.data_parallel).with("gpus", p.gpus).with("copies", p.data_parallel()),
               "suggestion.run.data_parallel");
}

Problems RunReader::fill(MeasuredRun& run) {
    const std::string key = key_of(run.plan);
    for (const auto& [open, plan] : chosen_)
        if (open == key) {
            run.plan = plan;
            return {};
        }
    Problems found;
    const Plan& p = run.plan;
    if (p.tensor_parallel == kAuto || p.pipeline_parallel == kAuto || p.micro_batch == kAuto) {
        if (searches_ == kMostSearches) {
            report(found, "", "missing", nullptr, Text("problem.run.many_open").with("most", kMostSearches), "suggestion.run.open");
            return found;
        }
        ++searches_;
    }
    Job job = job_;
    job.plan = p;
    if (illegal_ < kFully) {
        if (!resolve(job, found)) return found;
    } else if (auto chosen = choose(job.space())) {
        job.plan = std::move(chosen->estimate.plan);
    } else {
        report(found, "", "no_split", nullptr, "problem.run.no_plan", {});
        return found;
    }
    run.plan = job.plan;
    chosen_.emplace_back(key, std::move(job.plan));
    return found;
}

// Allocated comes first: where both are given, it is used.
static void use_memory(const Measure& measure, double bytes, MeasuredMemory& memory, Problems& found) {
    const bool reserved = measure.what == MeasuredIn::reserved;
    if (memory.bytes == 0) {
        memory.measure = measure.key, memory.bytes = bytes, memory.reserved = reserved;
    } else if (reserved == memory.reserved) {
        agree("problem.run.two_memories", {memory.measure, memory.bytes}, {measure.key, bytes}, found);
    } else if (bytes < memory.bytes) {
        report(found, measure.key, "contradictory", bytes,
               Text("problem.run.reserved_less").with("allocated", memory.bytes).with("reserved", bytes), "suggestion.run.one_measure");
    }
}

// In seconds of a step and bytes of a GPU.
bool RunReader::convert(const Said& said, MeasuredRun& run, Problems& found) {
    constexpr double kMost = 1e15;  // keeps what follows finite
    for (const auto& [measure, value] : said.values) {
        if (is_memory(measure->what)) {
            use_memory(*measure, std::min(value * measure->unit, kMost), run.memory, found);
            continue;
        }
        if (counts_flop(measure->what)) {
            asks_convention_ = true;
            if (said.convention == CountedFlop::asked && without_convention_ == nullptr) without_convention_ = measure->key;
            if (said.convention == CountedFlop::asked) return false;
        }
        const double seconds = std::clamp(step_seconds_of(*measure, value, said.convention, job_, run.plan), 1 / kMost, kMost);
        if (run.has_time())
            agree("problem.run.two_times", {run.measure, run.measured}, {measure->key, seconds}, found);
        else
            run.measured = seconds, run.measure = measure->key;
    }
    return found.empty();
}

void RunReader::check_time(MeasuredRun& run, Problems& found) const {
    const double least = least_seconds(job_, run.plan);
    if (run.measured < least)
        report(found, run.measure, "range", run.measured,
               Text("problem.run.faster_than_peak").with("seconds", run.measured).with("least", least), "suggestion.run.job");
    else if (run.measured > kFarOff * run.estimated)
        report(found, run.measure, "range", run.measured,
               Text("problem.run.far_off").with("seconds", run.measured).with("times", kFarOff).with("estimated", run.estimated),
               "suggestion.run.plan");
}

// More than the card has, or far from the estimate: another unit, or another GPU than the fullest one.
void RunReader::check_memory(MeasuredRun& run, Problems& found) const {
    MeasuredMemory& memory = run.memory;
    memory.allocated = memory.reserved ? allocated_of_reserved(memory.bytes) : memory.bytes;
    const double card = job_.gpu->memory_bytes, times = memory.allocated / memory.estimated;
    if (memory.bytes > card)
        report(found, memory.measure, "range", memory.bytes, Text("problem.run.above_card").with("bytes", memory.bytes).with("card", card),
               "suggestion.run.memory_unit");
    else if (times > kFarOffMemory || times < 1 / kFarOffMemory)
        report(
            found, memory.measure, "range", memory.bytes,
            Text("problem.run.memory_far_off").with("bytes", memory.bytes).with("times", kFarOffMemory).with("estimated", memory.estimated),
            "suggestion.run.memory_unit");
}

}  // namespace fourfold
