// Which plans of a ranking the reader wants to see. A filter leaves plans out of the same space; it never opens others, so that a plan that
// passes is the one that stood in the unfiltered list ("block" may recompute more layers, to stay below a limit of memory).
#pragma once
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "plan.h"

namespace fourfold {

// The fields of the plan that can be filtered by, in the order of their bits.
struct FilterField {
    std::string_view key;  // as in the job
    std::int64_t (*value)(const Plan&);
    const std::span<const Choice>* choices;  // of a choice; none for numbers and yes or no
    bool (*plays_a_part)(const Plan&);       // of yes or no; where it plays none a plan is the same either way. None for the others
};
inline constexpr std::size_t kFilterFields = 11;
extern const FilterField kFilterFieldList[kFilterFields];
inline constexpr std::uint32_t kMemoryFilter = 1U << kFilterFields;  // the bit of "memory_at_most_gib"

struct PlanFilter {
    Plan like;                     // the values wanted of the fields in `fields`
    std::uint32_t fields = 0;      // their bits
    double most_bytes = INFINITY;  // on the fullest GPU

    // The bits of the fields in which `plan` is another one than wanted. Memory is not looked at.
    std::uint32_t against(const Plan& plan) const;
};
// From rank's "only"; problems are about "only.<field>".
PlanFilter read_filter(const Json& only, Problems& problems);

// The keys of these bits.
Json filter_keys(std::uint32_t bits);

// Every value that the plans of a space have, per field.
class FilterChoices {
 public:
    void note(const Plan& plan);
    Json to_json() const;

 private:
    std::vector<std::int64_t> values_[kFilterFields];  // ascending
    std::int64_t last_[kFilterFields] = {};            // plus one; 0: none yet
};

}  // namespace fourfold
