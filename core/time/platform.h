// What a plan runs on: the framework with its kernels, the rates of the machine, the constants of the time model; each follows from the one
// before it.
#pragma once
#include "plan/framework.h"
#include "time/transfers.h"

namespace fourfold {

struct Platform {
    Platform(const Model& model, const Gpu& gpu, const Cluster* cluster, const Plan& plan)
        : framework(framework_of(model, plan, gpu)),
          machine(machine_of(gpu, cluster, plan)),
          timing(timing_of(machine, cluster, plan, framework.attention)) {}
    Framework framework;
    Machine machine;
    Timing timing;
};

}  // namespace fourfold
