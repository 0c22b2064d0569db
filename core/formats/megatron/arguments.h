// The arguments of Megatron-LM for a model and a plan, row by row.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/write/writing.h"

namespace fourfold {

struct MegatronLine {
    std::string flag, value;
};

// Collects arguments, and the version they need. What the asked release does not know is left out.
class MegatronArguments : public Writing {
 public:
    explicit MegatronArguments(const Job& from);

    // None of these is inline: there are many calls, and the module is downloaded.
    void flag(const char* name, std::string_view value);
    void flag(const char* name);
    void number(const char* name, std::int64_t value);
    // Left out where the value is what Megatron-LM takes by itself.
    void number(const char* name, std::int64_t value, std::int64_t usual);
    // The same, but written where the whole plan is asked for.
    void degree(const char* name, std::int64_t value, std::int64_t usual = 1);
    void when(bool on, const char* name);
    bool knows(std::string_view flag) const;                     // the asked release
    bool is_from(int minor) const { return release_ >= minor; }  // 0.`minor` or newer

    void since_release(int minor, const char* what);  // 0.`minor` brought it

    std::vector<MegatronLine> lines;
    Text needs() const;

 private:
    int release_;     // minor version of Megatron-Core
    int newest_ = 0;  // that an argument needs
    std::string newest_flag_;
};

// One row per part of the model, and per field of the plan: what it becomes. A field without arguments of its own has no writer.
struct MegatronRow {
    std::string_view field;
    void (*write)(MegatronArguments& to, std::string_view field);
};
extern const std::span<const MegatronRow> kMegatronModelRows, kMegatronPlanRows;
// Of what the copies of the model share out.
bool megatron_has_fsdp(const MegatronArguments& to);
bool megatron_has_small_moments(const MegatronArguments& to);
bool megatron_offloads(const MegatronArguments& to);
bool megatron_has_fp8_weights(const MegatronArguments& to);
void megatron_zero(MegatronArguments& to, std::string_view field);
void megatron_replicas(MegatronArguments& to, std::string_view field);
void megatron_optimizer(MegatronArguments& to, std::string_view field);
void megatron_gradient_overlap(MegatronArguments& to, std::string_view field);
void megatron_parameter_overlap(MegatronArguments& to, std::string_view field);

// "NAME=(" with a line for each argument.
std::string megatron_array(std::string_view name, const std::vector<MegatronLine>& lines);

}  // namespace fourfold
