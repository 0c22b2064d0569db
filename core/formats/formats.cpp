#include "formats/formats.h"

#include <algorithm>

#include "formats/write/writing.h"
#include "placement/rank_files.h"
#include "plan/framework.h"

namespace fourfold {

static Export made_for(const Job& job) {
    switch (job.exported.format) {
        case ConfigFormat::megatron_lm:
        case ConfigFormat::megatron_slurm:
            return megatron_script(job);
        case ConfigFormat::megatron_bridge:
            return bridge_overrides(job);
        case ConfigFormat::nemo_2:
            return nemo2_command(job);
        case ConfigFormat::torchtitan:
            return torchtitan_toml(job);
        case ConfigFormat::nanotron:
            return nanotron_yaml(job);
        case ConfigFormat::deepspeed:
            return deepspeed_json(job);
        case ConfigFormat::accelerate:
            return accelerate_yaml(job);
    }
    return {};
}

Problems export_problems(const Job& job) {
    if (job.plan.tensor_columns > 1)  // without them it would be a run on fewer GPUs
        return {{"tensor_columns", "contradictory", job.plan.tensor_columns, "problem.export_grid", {}, nullptr}};
    const std::vector<std::string>& hosts = job.exported.hosts;
    if (hosts.empty()) return {};
    const auto odd = std::find_if(hosts.begin(), hosts.end(), [](const std::string& one) { return !is_host_name(one); });
    if (odd != hosts.end())
        return {{"hosts", "host_name", shown(*odd), "problem.export_host_name", "suggestion.export_host_name", nullptr}};
    const std::int64_t nodes = nodes_of(job.plan).count, given = static_cast<std::int64_t>(hosts.size());
    if (given == nodes) return {};
    return {{"hosts", "host_count", given, Text("problem.export_host_count").with("given", given).with("nodes", nodes),
             "suggestion.export_host_count", nullptr}};
}

// Megatron's formats are of any of its releases: the plan's own, or the usual one where another framework was meant.
static FrameworkKind megatron_like(FrameworkKind asked) { return row_of(asked).library == kMegatronCore ? asked : Plan().framework; }

Json export_answer(const Job& job) {
    const Export made = made_for(job);
    Json left_out = Json::array();
    for (const Text& text : made.left_out) left_out.push_back(text.json());
    return Object()
        .add("ok", true)
        .add("format", kConfigFormats[static_cast<std::size_t>(job.exported.format)].id)
        .add("text", made.text)
        .add("yours", Json(made.yours))
        .add("needs", made.needs)
        .add("framework", row_of(made.framework.value_or(megatron_like(job.plan.framework))).id)
        .add("left_out", std::move(left_out));
}

}  // namespace fourfold
