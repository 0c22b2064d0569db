// The published runs with the time that the model gives them.
#pragma once
#include <string_view>

#include "memory/measured_runs.h"
#include "model/catalog.h"
#include "time/step_time.h"

namespace fourfold::tests {

struct Site {
    const Cluster* cluster;
    Machine machine;
    Timing timing;
};

// Where each source ran. vTrain's cluster is in no catalogue: 100 GB/s a node, and the site's constants of the joint fit.
inline Site site_of(const Run& run, const Framework& framework) {
    const std::string_view cluster = run.family == "dgxc"          ? "dgx-h100"
                                     : run.gpu == "a100-sxm-40gb"  ? "abci-a"
                                     : run.gpu == "h100-sxm-94gb"  ? "tsubame4"
                                     : run.gpu == "b200-sxm-180gb" ? "dgx-b200"
                                                                   : "dgx-a100-80gb";
    Site site{catalog().cluster(cluster), {}, {}};
    site.machine = machine_of(*catalog().gpu(run.gpu), site.cluster, run.plan);
    site.timing = timing_of(site.machine, site.cluster, run.plan, framework.attention);
    if (run.family == "vtrain") {
        site.machine.node = 100e9;
        site.timing.network = 0.964;
        site.timing.fixed = 0.246;
        site.timing.stall = 0.0178e-3;
        site.timing.pipeline = 0.978;
    }
    if (run.family == "simumax") site.timing.fixed = 0.03;  // a benchmark without data or logs; in the fit
    return site;
}

inline double seconds_of(const Run& run, const Timing* own = nullptr) {
    const Framework framework = framework_of(run.model, run.plan, *catalog().gpu(run.gpu));
    const Site site = site_of(run, framework);
    const Timing& timing = own == nullptr ? site.timing : *own;
    const LayerTimes layers = layer_times(run.model, run.plan, framework, site.machine, timing);
    return step_time<double>(run.model, run.plan, framework, site.machine, timing, layers).seconds;
}

}  // namespace fourfold::tests
