#include "answer/report_time.h"

#include <utility>
#include <vector>

#include "answer/parts.h"
#include "answer/report.h"
#include "base/numbers.h"
#include "calibration/calibration.h"
#include "time/step_time.h"

namespace fourfold {

namespace {

constexpr double kTera = 1e12;  // FLOP/s in a TFLOP/s

Json describe_rates(const Job& job, double step_seconds, const Machine& machine) {
    Json rates = Json::array();
    for (std::size_t i = 0; i < static_cast<std::size_t>(FlopConvention::count); ++i) {
        const auto convention = static_cast<FlopConvention>(i);
        const FlopText& t = text(convention);
        const double rate = model_flop(job.model, job.plan, convention) / step_seconds / static_cast<double>(job.plan.gpus);
        rates.push_back(Object().add("id", t.id).add("tflop_per_s_per_gpu", rate / kTera).add("mfu", rate / machine.peak));
    }
    return rates;
}

Json describe_item(TimeItem item, double seconds, double step_seconds) {
    const TimeText& t = text(item);
    return Object().add("id", t.id).add("kind", t.kind).add("seconds", seconds).add("share", seconds / step_seconds);
}

// Whose runs the band is of, on whose GPUs, and whose links.
Text basis_of(const Gpu& gpu, const Plan& p, const Band& band) {
    Text basis = Text("band", band.basis).with("runs", band.runs);
    if (!gpu.own.is_null() && !p.is_calibrated()) basis = Text("band.own_gpu").with("band", basis).with("gpu", gpu.label);
    return p.measures_links() ? Text("band.measured_links").with("band", basis) : basis;
}

}  // namespace

Json describe_time(const Job& job) {
    const Plan& p = job.plan;
    const TimedPlan<double> timed = job.timed<double>(p);
    const Machine& machine = timed.machine;
    const StepTime<double> step = timed.step();
    const Band band = job.band(p);
    std::vector<double> stages = pace_of(job.model, p, machine, timed.timing, timed.layers, Stages(job.model, p), true).stage_seconds;
    for (double& seconds : stages) seconds *= p.time_factor;
    Json items = Json::array();
    for (std::size_t i = 0; i < step.items.size(); ++i)
        if (step.items[i] > 0) items.push_back(describe_item(static_cast<TimeItem>(i), step.items[i], step.seconds));
    const double tokens = static_cast<double>(p.global_batch * p.sequence_length), gpus = static_cast<double>(p.gpus);
    return Object()
        .add("step_seconds", step.seconds)
        .add("low_seconds", step.seconds * band.low)
        .add("high_seconds", step.seconds * band.high)
        .add("basis", basis_of(*job.gpu, p, band))
        .add("tokens_per_step", tokens)
        .add("tokens_per_s", tokens / step.seconds)
        .add("tokens_per_s_per_gpu", tokens / step.seconds / gpus)
        .add("rates", describe_rates(job, step.seconds, machine))
        .add("peak_tflop_per_s", machine.peak / kTera)
        .add("peak_format", machine.peak_format)
        .add("items", std::move(items))
        .add("stage_seconds", std::move(stages))
        .add("run", describe_run(job, p, step.seconds, band));
}

void warn_of_impossible_time(const Job& job, double step_seconds, Problems& warnings) {
    const Plan& p = job.plan;
    const double peak = machine_of(*job.gpu, job.cluster, p).peak * static_cast<double>(p.gpus);
    const double least = model_flop(job.model, p, FlopConvention::causal) / peak;
    if (!p.is_calibrated() || step_seconds >= least) return;
    const bool by_factor = p.time_factor < 1;
    warnings.push_back({by_factor ? "time_factor" : "site", "faster_than_peak", by_factor ? Json(p.time_factor) : Json("own"),
                        Text("problem.faster_than_peak").with("step", step_seconds).with("arithmetic", least),
                        "suggestion.check_calibration", nullptr});
}

}  // namespace fourfold
