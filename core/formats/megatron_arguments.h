// The arguments of Megatron-LM for a model and a plan, row by row.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/job.h"

namespace fourfold {

// Collects arguments, the version they need, and what is left out.
class MegatronArguments {
 public:
    explicit MegatronArguments(const Job& from);
    const Job& job;
    const Plan& plan;
    const Model& model;

    // None of these is inline: there are many calls, and the module is downloaded.
    void flag(const char* name, std::string_view value);
    void flag(const char* name);
    void number(const char* name, std::int64_t value);
    // Left out where the value is what Megatron-LM takes by itself.
    void number(const char* name, std::int64_t value, std::int64_t usual);
    void when(bool on, const char* name);
    void leave_out(Text text);
    void leave_out(const char* id);
    void leave_field(std::string_view field);    // of the plan, with its value
    bool changes(std::string_view field) const;  // from what a plan usually has

    std::vector<std::string> lines;  // "--num-layers 80"
    std::vector<Text> left_out;
    Text needs() const;

 private:
    Json fields_ = Json::object(), usual_ = Json::object();  // of the plan
    int newest_ = 0;                                         // minor version of Megatron-Core
    std::string newest_flag_;
};

// One row per part of the model, and per field of the plan: what it becomes. A field without arguments of its own has no writer.
struct MegatronRow {
    std::string_view field;
    void (*write)(MegatronArguments& to, std::string_view field);
};
extern const std::span<const MegatronRow> kMegatronModelRows, kMegatronPlanRows;

}  // namespace fourfold
