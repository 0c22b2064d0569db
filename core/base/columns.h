// Lists of numbers that cross the border as arrays, not as text: a million numbers as JSON take a quarter of a second to read.
#pragma once
#include <cstdint>
#include <vector>

namespace fourfold::api {

// Beside the answer of search(): one entry per plan (core/contract/api.md, SearchColumns).
struct SearchColumns {
    std::vector<std::int32_t> row, gpus, tensor_parallel, context_parallel, pipeline_parallel, micro_batch, data_parallel, expert_parallel;
    std::vector<double> total_bytes, whole_bytes, share, step_seconds, tokens_per_s, tokens_per_s_per_gpu;
    std::vector<std::uint8_t> fit_class;
};

// The matrices of "links" of place(), row by row; NaN where JSON has null.
struct LinkColumns {
    std::vector<double> gbyte_per_s, latency_us;  // empty: as the text says
};

}  // namespace fourfold::api
