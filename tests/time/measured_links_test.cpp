// Rates that the reader measured: by hand, and what holds whatever they are.
#include <doctest/doctest.h>

#include <functional>

#include "api.h"
#include "contract.h"
#include "job/job.h"
#include "placement/model.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;
using tests::at;
using tests::brief;
using tests::json;
using tests::said;

namespace {

// Jobs whose messages go every way: inside a node and between, in rings, between experts, without a switch, at sites with constants.
const char* const kJobs[] = {
    R"({"model":"llama-3.1-70b","gpus":64,"tensor_parallel":8,"pipeline_parallel":4,"context_parallel":1,"micro_batch":1})",
    R"({"model":"llama-3.1-70b","gpus":64,"tensor_parallel":16,"pipeline_parallel":2,"context_parallel":2,"micro_batch":1})",
    R"({"model":"llama-3.1-8b","gpus":32,"tensor_parallel":2,"pipeline_parallel":1,"context_parallel":8,"micro_batch":1,
        "sequence_length":65536,"global_batch":64,"recompute":"full"})",
    R"({"model":"deepseek-v3","gpus":512,"tensor_parallel":4,"pipeline_parallel":8,"context_parallel":1,"micro_batch":1,
        "expert_parallel":32,"expert_tensor_parallel":1,"layout":"front"})",
    R"({"model":"mixtral-8x7b","gpus":16,"tensor_parallel":2,"pipeline_parallel":1,"context_parallel":1,"micro_batch":1,
        "expert_parallel":8,"expert_tensor_parallel":1})",
    R"({"model":"llama-3.1-8b","gpu":"a100-sxm-40gb","cluster":"abci-a","gpus":64,"tensor_parallel":2,"pipeline_parallel":2,
        "context_parallel":1,"micro_batch":1})",
    R"({"model":"llama-3.1-8b","gpus":64,"framework":"nanotron","tensor_parallel":16,"pipeline_parallel":1,"context_parallel":1,
        "micro_batch":1,"site":"own","site_network":0.3,"time_link":0.8})",
    R"({"model":"llama-3.1-8b","gpu":"a100-sxm-80gb","gpus":32,"framework":"megatron-deepspeed","zero":"weights","tensor_parallel":1,
        "pipeline_parallel":1,"context_parallel":1,"micro_batch":1})",
};

Job job_of(const char* request) {
    Problems problems;
    auto job = read_job(request, Request::estimate, problems);
    REQUIRE_MESSAGE(problems.empty(), request);
    REQUIRE_MESSAGE(resolve(*job, problems), request);
    return std::move(*job);
}
double seconds(const Job& job, const Plan& plan) { return job.timed(plan).step().seconds; }

}  // namespace

TEST_CASE("by hand: collectives at measured rates") {
    Machine hw = machine();
    const Timing k = timing();
    const Cost<double> on(hw, k);
    hw.measured_link = 5e5, hw.measured_node = 1e6, hw.measured_latency = 1e-3;
    CHECK(on.collective(6'000, 4) == near(1e-3 + 4'500 / 5e5));      // neither 2e6 nor its half counts
    CHECK(on.collective(6'000, 8) == near(3 * 1e-3 + 5'250 / 5e5));  // three latencies, and the slower of the two
    CHECK(on.send_link_rate(4) == near(0.6 * 5e5));
    CHECK(on.ring_link_rate(4) == near(0.25 / 0.5 * 5e5));  // as much less than collectives as before
    CHECK(on.network_rate(&Timing::pipeline) == near(0.5 / 0.4 * 1e6));
    hw.measured_node = 4.5e6;  // 5.6e6 would be more than the node has
    CHECK(on.network_rate(&Timing::pipeline) == 5e6);
    hw.topology = Topology::mesh;  // one of three links
    CHECK(on.collective(6'000, 2) == near(1e-3 + 3'000 / (5e5 / 3)));
}

TEST_CASE("by hand: gradients and sends at measured rates") {
    Case c = dense();
    c.plan.gpus = 32, c.plan.global_batch = 96;  // 8 copies: 2 in each of 4 nodes, where 2 such groups share the network
    c.hw.measured_link = 5e5, c.hw.measured_node = 1e6, c.hw.measured_latency = 1e-3;
    const Cost<double> on(c.hw, c.k);
    const DataTraffic<double> data(c.plan, c.hw, on);
    const double P = 1'000, latency = 8 * 1e-3 * 2;
    const auto once = [&](double bytes) { return std::max(bytes / 2 / 5e5, bytes * 2 * 3 / 4 / 1e6) + latency; };
    const double reduce = once(4 * P), gather = once(2 * P);
    CHECK(data.exposed({.parameters = P}, 100, 100).once == near(0.2 * reduce + reduce / 8 + 0.2 * gather));
    c.plan.zero = Zero::none;
    c.k.bucket_latency = 1e-3 * kBucket.value;  // 1e-3 for each of 2,000 bytes
    const double whole = 2 * reduce + 2;
    CHECK(DataTraffic<double>(c.plan, c.hw, on).exposed({.parameters = P}, 100, 100).once == near(0.2 * whole + whole / 8));
    // 2,880 bytes, in a node; of each of 4 GPUs, between nodes
    CHECK(transfer_seconds(c.model, c.plan, c.hw, c.k) == near(1e-3 + 2'880 / 3e5));
    c.hw.measured_link = 5e6;
    CHECK(transfer_seconds(c.model, c.plan, c.hw, c.k) == near(1e-3 + 2'880.0 * 4 / 1.25e6));
}

TEST_CASE("law: what the profile's rates and shares come to, said as measured, changes nothing") {
    for (const char* request : kJobs) {
        CAPTURE(request);
        const Job job = job_of(request);
        const TimedPlan<> usual = job.timed(job.plan);
        Plan said = job.plan;
        said.measured_intra = usual.timing.link * usual.machine.link / 1e9;
        said.measured_inter = usual.timing.network * usual.machine.node / 1e9;
        said.measured_latency = usual.timing.network_latency;
        CHECK(seconds(job, said) == near(usual.step().seconds));
    }
}

TEST_CASE("law: a higher measured rate or a lower latency never makes a step longer") {
    struct What {
        double Plan::*field;
        double first, times;
    };
    for (const char* request : kJobs) {
        CAPTURE(request);
        const Job job = job_of(request);
        for (const What& what :
             {What{&Plan::measured_intra, 1, 2}, What{&Plan::measured_inter, 1, 2}, What{&Plan::measured_latency, 0.01, 0.5}}) {
            Plan plan = job.plan;
            double before = INFINITY;
            for (double value = what.first; value < 1e4 && value > 1e-8; value *= what.times) {
                plan.*what.field = value;
                const double now = seconds(job, plan);
                CHECK(now <= before * (1 + 1e-12));
                before = now;
            }
        }
    }
}

TEST_CASE("measured links of a placement say more than a measured rate of all") {
    const Job job = job_of(kJobs[0]);
    Links links;
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) links.names.emplace_back(name);
    links.byte_per_s.assign(64, 100e9);
    Plan said = job.plan;
    said.measured_inter = 10, said.measured_latency = 1e-3;
    const PlacementShape usual = step_time_shape(job, job.plan, links, {}), with = step_time_shape(job, said, links, {});
    CHECK(with.rest == usual.rest);
    CHECK(with.hop == usual.hop);
}

TEST_CASE("estimate: measured rates are named, a rate in Gbit/s is refused, one that meets nothing is said to") {
    const auto estimate = [](const std::string& fields) {
        const std::string answer = api::estimate(R"({"model":"llama-3.1-8b","gpus":16,"tensor_parallel":2,)" + fields + "}");
        CHECK_MESSAGE(tests::answer_defect(answer, "estimate") == "", fields);
        return json(answer);
    };
    const auto uses = [](const Json& answer, const char* id) { return answer["used"].dump().find(id) != std::string::npos; };
    const Json both = estimate(R"("measured_intra_gb_s":300,"measured_inter_gb_s":200)");
    CHECK(said(both["time"]["basis"]).starts_with("band.measured_links"));
    CHECK(uses(both, "used.measured.intra"));
    CHECK(uses(both, "used.measured.inter"));
    CHECK(both["job"]["measured_inter_gb_s"] == 200);
    CHECK(both["time"]["items"].dump().find("measured_network") != std::string::npos);  // the formula shown is the formula run
    CHECK(said(estimate(R"("measured_intra_gb_s":0)")["time"]["basis"]).starts_with("band.hopper"));

    const Json bits = estimate(R"("measured_inter_gb_s":3200)");  // 400 GB/s by the profile
    const Json problem = at(bits, "problems")[0];
    CHECK(problem["field"] == "measured_inter_gb_s");
    CHECK(said(problem["message"]) == R"(problem.measured_rate {"measured":3200000000000.0,"profile":400000000000.0,"times":3.0})");
    CHECK(said(problem["suggestion"]) == R"(suggestion.measured_bits {"rate":400000000000.0})");
    CHECK(problem["nearest"] == 400);
    CHECK(at(estimate(R"("measured_intra_gb_s":1350)"), "ok") == true);  // three times 450
    CHECK(at(estimate(R"("measured_intra_gb_s":1351)"), "ok") == false);
    CHECK(said(at(estimate(R"("measured_intra_gb_s":99999)"), "problems")[0]["suggestion"]) == "suggestion.measured_again");
    CHECK(at(estimate(R"("measured_inter_gb_s":-1)"), "problems")[0]["rule"] == "range");
    CHECK(at(estimate(R"("measured_inter_gb_s":null)"), "problems")[0]["rule"] == "type");  // how NaN is written
    CHECK(at(estimate(R"("measured_inter_gb_s":NaN)"), "problems")[0]["rule"] == "syntax");

    const Json one = estimate(R"("gpus_per_node":16,"measured_inter_gb_s":20)");
    CHECK(uses(one, "used.measured.no_inter"));
    CHECK(uses(estimate(R"("gpus_per_node":1,"measured_intra_gb_s":300)"), "used.measured.no_intra"));
}
