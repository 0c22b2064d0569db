// The published runs with what both estimators and the verdict say of them.
#pragma once
#include <algorithm>
#include <vector>

#include "memory/measured_runs.h"
#include "memory/verdict.h"
#include "model/catalog.h"
#include "plan/rules.h"

namespace fourfold::tests {

struct JudgedRun {
    Run run;
    bool legal = false;                                  // by the rules; a few pipelines are uneven in a way of their own
    bool dash_looks_not_run = false;                     // see below
    double fujii_share = 0, share = 0, whole_share = 0;  // of the card
    Verdict verdict{};
};

// Three series of the paper's A100 table are dashes at every number of GPUs although smaller plans beside them ran; no memory term tried
// orders them, so that they were hardly ever started: (TP, CP, PP, micro-batch) = (4,2,2,4), (2,4,2,2), and (4,2,1,1) on 8 GPUs.
inline bool dash_looks_not_run(const Run& run) {
    const Plan& p = run.plan;
    const auto is = [&](std::int64_t t, std::int64_t c, std::int64_t pp, std::int64_t b) {
        return p.tensor_parallel == t && p.context_parallel == c && p.pipeline_parallel == pp && p.micro_batch == b;
    };
    return run.family == "fujii" && run.gpu == "a100-sxm-40gb" && !run.ran() &&
           (is(4, 2, 2, 4) || is(2, 4, 2, 2) || (is(4, 2, 1, 1) && p.gpus == 8));
}

inline JudgedRun judge_run(const Run& run) {
    JudgedRun judged{run};
    const Gpu* gpu = catalog().gpu(run.gpu);
    if (gpu == nullptr) return judged;
    Plan p = run.plan;
    judged.legal = is_legal(run.model, p);
    judged.dash_looks_not_run = dash_looks_not_run(run);
    if (!layers_per_chunk(run.model, p)) p.split = Split::front;  // 60 layers over 8 or 16 stages: the first ones take one more
    const Stages stages(run.model, p);
    const Framework framework = framework_of(run.model, p, *gpu);
    double bytes = 0;
    for (std::int32_t i = 0; i < p.pipeline_parallel; ++i)
        bytes = std::max(bytes, detailed<double>(run.model, p, framework, stages.moments(i)[0]).peak_bytes);
    judged.fujii_share = fujii2024<double>(run.model, p).total() / gpu->memory_bytes;
    judged.share = bytes / gpu->memory_bytes;
    judged.whole_share = (bytes + outside<double>(p, bytes).total()) / gpu->memory_bytes;
    judged.verdict = judge(Method::detailed, p, bytes, gpu->memory_bytes);
    return judged;
}

inline const std::vector<JudgedRun>& judged_runs() {
    static const std::vector<JudgedRun> all = [] {
        std::vector<JudgedRun> list;
        for (const Run& run : measured_runs()) list.push_back(judge_run(run));
        return list;
    }();
    return all;
}

}  // namespace fourfold::tests
