// In what a run may be measured, and what that is in seconds of a step or bytes of a GPU.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/fields.h"
#include "job/job.h"

namespace fourfold {

inline constexpr const char* kStepSeconds = "step_seconds";
inline constexpr const char* kFlopConvention = "flop_convention";
inline constexpr const char* kNodes = "nodes";                 // of a run that does not say how many GPUs
inline constexpr const char* kDataParallel = "data_parallel";  // of a run; the plan has it from GPUs and degrees

// What is counted as the work of a step where a rate is given in FLOP/s, or as MFU.
enum class CountedFlop : std::uint8_t { causal, full, parameters, hardware, asked };
extern const std::span<const Choice> kFlopConventions;  // without `asked`
// Of a step; never of `asked`.
double counted_flop(CountedFlop convention, const Model& model, const Plan& plan);

enum class MeasuredIn : std::uint8_t {
    seconds,         // of a step
    tokens,          // per second, of all GPUs
    tokens_per_gpu,  // per second
    flop_per_gpu,    // per second
    mfu,             // a share of the card's peak; above 1 percent
    allocated,       // bytes on the fullest GPU: what PyTorch's allocator handed out
    reserved         // what the allocator keeps
};
struct Measure {
    const char* key;
    MeasuredIn what;
    double unit;  // in seconds, tokens per second, FLOP per second, bytes
};
// Of two that say the same, the first is used.
inline constexpr Measure kMeasures[] = {
    {kStepSeconds, MeasuredIn::seconds, 1},
    {"step_milliseconds", MeasuredIn::seconds, 1e-3},
    {"tokens_per_second", MeasuredIn::tokens, 1},
    {"tokens_per_second_per_gpu", MeasuredIn::tokens_per_gpu, 1},
    {"tflops_per_gpu", MeasuredIn::flop_per_gpu, 1e12},
    {"mfu", MeasuredIn::mfu, 1},
    {"allocated_gib", MeasuredIn::allocated, kGibi},
    {"allocated_mib", MeasuredIn::allocated, kMebi},
    {"allocated_bytes", MeasuredIn::allocated, 1},
    {"reserved_gib", MeasuredIn::reserved, kGibi},
    {"reserved_mib", MeasuredIn::reserved, kMebi},
    {"reserved_bytes", MeasuredIn::reserved, 1},
};
inline bool is_memory(MeasuredIn what) { return what == MeasuredIn::allocated || what == MeasuredIn::reserved; }
inline bool counts_flop(MeasuredIn what) { return what == MeasuredIn::flop_per_gpu || what == MeasuredIn::mfu; }

// Seconds of a step of this plan, where `value` is measured; 0 of memory.
double step_seconds_of(const Measure& measure, double value, CountedFlop convention, const Job& job, const Plan& plan);

}  // namespace fourfold
