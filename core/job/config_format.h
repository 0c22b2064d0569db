// The formats that a plan can be written in, a row each. What writes them is in formats/.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace fourfold {

enum class ConfigFormat { megatron_lm, megatron_slurm, megatron_bridge, nemo_2, torchtitan, nanotron, deepspeed, accelerate };

struct ConfigFormatRow {
    std::string_view id;
    std::string_view name;        // short, as it is typed; may stand for the id in a request
    std::string_view label;       // of the framework
    std::string_view ending;      // of its file
    std::string_view slurm_of{};  // the row of the same configuration without Slurm
    bool has_releases = false;
};
extern const std::span<const ConfigFormatRow> kConfigFormats;
extern const std::span<const Choice> kReleaseChoices;  // of Megatron-Core, the newest last

// What is asked of export_plan() besides the plan.
struct ExportAsked {
    ConfigFormat format = ConfigFormat::megatron_lm;
    int release = -1;                // an index of kReleaseChoices; -1 = not asked for
    std::vector<std::string> hosts;  // one per node, in the order of their ranks; empty = any
    bool whole = false;              // degrees of 1 too
};
ExportAsked read_export(FieldReader& reader, Problems& problems);

// The rows for whoever offers them.
Json describe_config_formats();

}  // namespace fourfold
