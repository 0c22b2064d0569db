// Which plans of a ranking the reader wants to see. To want a value is to set it: the ranking is that of the job with these fields set, and
// besides says which values the whole space has, and which wish alone is to blame when nothing is left.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace fourfold {

// The fields of the plan that can be wanted, in the order of their bits.
enum class FilterKey {
    tensor_parallel,
    pipeline_parallel,
    context_parallel,
    micro_batch,
    expert_parallel,
    expert_tensor_parallel,
    virtual_stages,
    schedule,
    recompute,
    zero,
    sequence_parallel,
    count
};
inline constexpr auto kFilterFields = static_cast<std::size_t>(FilterKey::count);
inline constexpr std::uint32_t kMemoryFilter = 1U << kFilterFields;  // the bit of "memory_at_most_gib"

struct PlanFilter {
    Plan like;                     // the values wanted of the fields in `fields`
    std::uint32_t fields = 0;      // their bits
    double most_bytes = INFINITY;  // on the fullest GPU
    std::uint32_t bits() const { return fields | (most_bytes < INFINITY ? kMemoryFilter : 0); }
};
// From rank's "only"; problems are about "only.<field>".
PlanFilter read_filter(const Json& only, Problems& problems);

// `plan` with the wanted values set, but for those of `without` (bits). nullopt where the plan itself sets another value.
std::optional<Plan> wanted_plan(const Plan& plan, const PlanFilter& filter, std::uint32_t without = 0);

// The keys of these bits.
Json filter_keys(std::uint32_t bits);

// Every value that the plans of a space have, per field.
class FilterChoices {
 public:
    void note(FilterKey field, std::int64_t value);
    Json to_json() const;

 private:
    std::vector<std::int64_t> values_[kFilterFields];  // ascending
};

}  // namespace fourfold
