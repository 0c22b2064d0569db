#include "answer/report_host.h"

#include "base/bytes.h"
#include "memory/host.h"

namespace fourfold {

static double node_bytes(const Plan& plan) { return plan.host_memory * kGibi; }

Stage most_offloaded(const Job& job, const Framework& framework, const Stages& stages) {
    const Plan& p = job.plan;
    Stage most;
    double bytes = -1;
    for (std::int32_t i = 0; i < p.pipeline_parallel; i = stages.next_different(i)) {
        const Stage moment = p.activation_offload > 0 ? fullest_on_host(job.model, p, framework, stages, i)
                                                      : fullest_moment(job.model, p, framework, stages, i);
        const double here = detailed<double>(job.model, p, framework, moment).host_bytes;
        if (here > bytes) bytes = here, most = moment;
    }
    return most;
}

Json describe_host(const Job& job, const StageMemory<double>& memory) {
    if (memory.host_bytes == 0) return nullptr;
    const Plan& p = job.plan;
    const double gpus = gpus_of_node(p), has = node_bytes(p), need = memory.host_bytes * gpus;
    const std::optional<Fit> fit = judge_host(need, has);
    Json entry = Object()
                     .add("bytes_per_gpu", memory.host_bytes)
                     .add("bytes_per_node", memory.host_bytes * gpus)
                     .add("pcie_bytes_per_step", memory.pcie_bytes)
                     .add("nvme_bytes_per_node", memory.nvme_bytes * gpus)
                     .add("memory_bytes", fit ? Json(has) : Json())
                     .add("class", fit ? Json(kFitIds[static_cast<std::size_t>(*fit)]) : Json());
    const std::string_view id = fit ? kFitIds[static_cast<std::size_t>(*fit)] : "not_known";
    Text verdict = Text("host", id).with("need", need);
    if (fit) verdict = verdict.with("has", has);
    entry["verdict"] = verdict.json();
    return entry;
}

void warn_of_host_memory(const Job& job, double most_bytes, Problems& warnings) {
    const double need = most_bytes * gpus_of_node(job.plan), has = node_bytes(job.plan);
    if (judge_host(need, has) != Fit::does_not_fit) return;
    warnings.push_back({"host_memory_gib", "host_memory", job.plan.host_memory,
                        Text("warning.host_memory").with("need", need).with("has", has),
                        job.plan.optimizer_offload_target == OffloadTarget::host ? Text("suggestion.less_on_host") : Text(), nullptr});
}

}  // namespace fourfold
