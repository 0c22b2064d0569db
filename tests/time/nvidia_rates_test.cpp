// The time model against what NVIDIA publishes for its own recipes: 70B and 405B on up to 2,304 GPUs, fp8, B200 and GB200 on several nodes,
// models with experts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "memory/measured_runs.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "time/step_time.h"

using namespace fourfold;

namespace {

struct Rate {
    std::string id, gpu, precision;
    const Model* model = nullptr;
    Plan plan;
    double seconds = 0;  // of a step
};

// What the tables do not say is set as NVIDIA's performance recipes usually do, as for its other benchmarks in measured_runs.h: bf16
// gradients, everything overlapped; embedding and loss stand in for a layer each where the layers would not divide.
Rate rate_of(const Json& r) {
    Rate rate;
    rate.id = r["id"], rate.gpu = r["gpu"], rate.precision = r["precision"];
    rate.model = &catalog().model(r["model"].get<std::string>())->model;
    Plan& p = rate.plan;
    p.gpus = r["gpus"];
    p.gpus_per_node = rate.gpu == "gb200-186gb" ? std::min<std::int64_t>(p.gpus, 64) : 8;  // jobs take 64 of a rack's 72
    p.sequence_length = r["sequence_length"];
    p.global_batch = r["global_batch"];
    p.micro_batch = r["micro_batch"];
    p.tensor_parallel = r["tensor_parallel"];
    p.pipeline_parallel = r["pipeline_parallel"];
    p.context_parallel = r["context_parallel"];
    p.virtual_stages = r["virtual_stages"];
    p.expert_parallel = r["expert_parallel"];
    if (r["fsdp"].get<bool>()) p.zero = Zero::weights;
    p.precision = rate.precision == "bf16" ? Precision::bf16 : Precision::fp8;
    p.framework = FrameworkKind::megatron_2025;
    p.gradients_in_fp32 = false;
    p.tensor_overlap = p.tensor_parallel > 1;
    p.overlap_pipeline = p.virtual_stages > 1;
    if (!layers_per_chunk(*rate.model, p)) p.count_embedding_as_layer = p.count_loss_as_layer = true;
    const double tokens = static_cast<double>(p.global_batch) * static_cast<double>(p.sequence_length);
    rate.seconds = r["step_time_s"].is_number() ? r["step_time_s"].get<double>()
                                                : tokens / (r["tokens_per_s_per_gpu"].get<double>() * static_cast<double>(p.gpus));
    return rate;
}

struct Estimated {
    double seconds;
    Band band;
};
Estimated estimated(const Rate& rate) {
    const Gpu& gpu = *catalog().gpu(rate.gpu);
    const Cluster* cluster = catalog().cluster(rate.gpu == "h100-sxm-80gb" ? "dgx-h100"
                                               : rate.gpu == "gb200-186gb" ? "gb200-nvl72"
                                                                           : "dgx-b200");
    const Framework framework = framework_of(rate.plan, gpu);
    const Machine machine = machine_of(gpu, cluster, rate.plan);
    const Timing timing = timing_of(machine, cluster, rate.plan, framework.attention);
    const LayerTimes layers = layer_times(*rate.model, rate.plan, framework, machine, timing);
    return {step_time<double>(*rate.model, rate.plan, framework, machine, timing, layers).seconds,
            band_of(*rate.model, rate.plan, machine)};
}

struct Family {
    int rows = 0, inside = 0;  // the band that the page shows
    double sum = 0, bias = 0, most = 0;
    double mean() const { return sum / rows; }
};

template <class Visit>
void each_rate(Visit&& visit) {
    const Json& table = tests::measured_table("nvidia_rates");
    for (const Json& row : table["rows"]) {
        Json r = Json::object();
        for (std::size_t i = 0; i < table["columns"].size(); ++i) r[table["columns"][i].get<std::string>()] = row[i];
        const Rate rate = rate_of(r);
        CAPTURE(rate.id);
        CHECK(is_legal(*rate.model, rate.plan));
        if (layers_per_chunk(*rate.model, rate.plan)) visit(rate, estimated(rate));
    }
}

}  // namespace

TEST_CASE("NVIDIA's published rates: none in the fit") {
    std::map<std::string, Family> families;
    int sharded = 0;
    each_rate([&](const Rate& rate, const Estimated& ours) {
        const double factor = rate.seconds / ours.seconds;  // one more than the error of the rate
        const bool experts = rate.model->experts.count > 0;
        Family& family = families[rate.gpu + (experts ? ", experts" : rate.precision == "bf16" ? ", bf16" : ", fp8")];
        ++family.rows;
        family.inside += factor >= ours.band.low && factor <= ours.band.high ? 1 : 0;
        family.sum += std::abs(factor - 1);
        family.bias += factor - 1;
        family.most = std::max(family.most, std::abs(factor - 1));
        if (rate.plan.zero != Zero::weights) return;
        CHECK(std::abs(factor - 1) <= 0.1);  // as the page says of FSDP's gathering
        ++sharded;
    });
    CHECK(sharded == 8);
    for (const auto& [name, g] : families) {
        MESSAGE(name << " (predicted): " << g.rows << " runs, mean error of tokens/s " << 100 * g.mean() << " %, most " << 100 * g.most
                     << " %, bias " << 100 * g.bias / g.rows << " %; " << g.inside << " inside the band");
        CHECK(g.inside >= 0.9 * g.rows);
    }
    CHECK(families["h100-sxm-80gb, bf16"].mean() <= 0.02);
    CHECK(families["h100-sxm-80gb, fp8"].mean() <= 0.07);
    CHECK(families["b200-sxm-180gb, fp8"].mean() <= 0.065);
    CHECK(families["gb200-186gb, fp8"].mean() <= 0.04);
}

TEST_CASE("a band gives the number of runs that stand behind it") {
    std::map<std::string_view, int> behind, told;
    const auto count = [&](const Band& band) { ++behind[band.basis], told[band.basis] = band.runs; };
    for (const tests::Run& run : tests::measured_runs())
        if (run.ran() && run.step_time_s > 0 && layers_per_chunk(run.model, run.plan))
            count(band_of(run.model, run.plan, machine_of(*catalog().gpu(run.gpu), nullptr, run.plan)));
    each_rate([&](const Rate&, const Estimated& ours) { count(ours.band); });
    CHECK(behind == told);
    CHECK(behind.size() == 6);
}
