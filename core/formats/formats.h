// A plan as the configuration of a training framework.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job/job.h"

namespace fourfold {

struct Export {
    std::string text;                          // the file
    std::vector<std::string> yours;            // variables in it that the reader fills in
    Text needs;                                // the oldest version of the framework that knows all of it; nothing where any does
    std::vector<Text> left_out;                // what the format cannot say, or where it is not known how
    std::optional<FrameworkKind> framework{};  // that runs it; nothing: any Megatron
    std::vector<std::pair<std::string, Json>> settings{};  // of a file that is a list of them, with the paths of their keys
};

// For Megatron-LM: a script that starts it with torchrun, as a job of Slurm where that is asked for. `job` is complete and legal.
Export megatron_script(const Job& job);
// For Megatron-Bridge: overrides of a recipe, for its command. For NeMo 2: the command that runs a recipe with them.
Export bridge_overrides(const Job& job);
Export nemo2_command(const Job& job);
// For the others: a file of settings.
Export torchtitan_toml(const Job& job);
Export nanotron_yaml(const Job& job);
Export deepspeed_json(const Job& job);
Export accelerate_yaml(const Job& job);

// Why the job cannot be written so: the hosts are not those of its nodes.
Problems export_problems(const Job& job);

// The answer to export_plan() of api.h; `job` is complete and legal.
Json export_answer(const Job& job);

}  // namespace fourfold
