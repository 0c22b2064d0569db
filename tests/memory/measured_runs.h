// The published runs of tests/measured/runs.json as models and plans.
#pragma once
#include <string>
#include <vector>

#include "embedded_tests.h"
#include "plan/plan.h"

namespace fourfold::tests {

const Json& measured_table(std::string_view name);

struct Run {
    std::string id, family, gpu, status;
    std::int64_t job = 0;
    Model model;
    Plan plan;
    double step_time_s = 0, tflop_per_s = 0, memory_gib = 0;  // 0 = not given
    bool ran() const { return status == "measured"; }
};

// Llama-like where the feed-forward part is gated, else GPT-like.
Model model_of_run(const Json& row, std::int64_t positions);

// How each source trained. What the rows say is in their columns; the settings here are NOT in them. From the source: Hagemann's loss and
// gradients, MPT's structure and loss, SimuMax' loss, attention and overlap. Assumed, and chosen with the residuals in view, so that these
// families are no blind prediction: dropout, fp16 gradients and no overlap of the Megatron runs of 2021-22; bf16 gradients, cuDNN attention
// and tp-comm-overlap of dgxc; "selective" of torchtitan as every second layer; unfused norms where Hagemann's kernel name lacks the
// RMSNorm kernel.
void set_framework(Run& run);

std::vector<Run> measured_runs();

}  // namespace fourfold::tests
