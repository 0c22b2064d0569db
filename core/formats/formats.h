// A plan as the configuration of a training framework.
#pragma once
#include <string>
#include <vector>

#include "job/job.h"

namespace fourfold {

struct Export {
    std::string text;                // the file
    std::vector<std::string> yours;  // variables in it that the reader fills in
    Text needs;                      // the oldest version of the framework that knows all of it; nothing where any does
    std::vector<Text> left_out;      // what the format cannot say, or where it is not known how
};

// For Megatron-LM: a script that starts it with torchrun. `job` is complete and legal.
Export megatron_script(const Job& job);

// The answer to export_plan() of api.h; `job` is complete and legal.
Json export_answer(const Job& job);

}  // namespace fourfold
