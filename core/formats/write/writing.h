// What all writers of configurations share: the plan, and what the format cannot say of it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/document_text.h"
#include "formats/formats.h"
#include "job/job.h"

namespace fourfold {

class Writing {
 public:
    explicit Writing(const Job& from);
    const Job& job;
    const Plan& plan;
    const Model& model;

    // None of these is inline: there are many calls, and the module is downloaded.
    void leave_out(Text text);
    void leave_out(const char* id);
    void leave_field(std::string_view field);    // of the plan, with its value
    void leave_changed(std::string_view field);  // where it is not what a plan usually has
    bool changes(std::string_view field) const;
    const Json& value_of(std::string_view field) const;
    std::vector<Text> left_out;

 private:
    Json fields_ = Json::object(), usual_ = Json::object();  // of the plan
};

// How many nodes of how many GPUs; 0 where the GPUs do not fill their nodes.
struct Nodes {
    std::int64_t count, gpus;
};
Nodes nodes_of(const Plan& plan);

// Whether Megatron Core's optimizer asks that copies of the model share its state out: with small averages, with a part of it on the host
// and with weights in fp8 (optimizer_config.py, __post_init__; arguments.py, fp8_param_gather).
bool optimizer_must_share(const Plan& plan);
// Whether any copies of the model, or of its experts alone, are there that could.
bool has_copies(const Model& model, const Plan& plan);
// Tensor-parallel layers of experts train with sequence parallelism alone (moe_layer.py, forward).
bool experts_split_sequences(const Model& model, const Plan& plan);
// Whether copies of the experts, too, can be divided into so many groups that share them out (parallel_state.py).
bool replicas_divide(const Job& job);
// Whether Megatron Core multiplies by all experts of a GPU at once.
bool groups_experts(const Job& job);
// Bits of recompute_modules that Megatron Core takes: experts' activations in a grouped product alone, the projections of latent attention
// where there is one (transformer_config.py, __post_init__).
std::uint32_t known_modules(const Job& job);
// Whether it does not take one that has an effect.
bool drops_modules(const Job& job);
// What delayed scaling of fp8 excludes (transformer_config.py, __post_init__).
bool recomputes_unscaled(const Job& job);
// Programs that split heads of keys and values, and never copy them.
void leave_kv_heads(Writing& to);

// "NAME=value" or, where the reader fills it in, a line that ends the script while it is empty.
class Variables {
 public:
    explicit Variables(Export& script) : script_(script) {}
    void set(std::string_view name, std::string_view value);
    void ask(std::string_view name);
    void number(std::string_view name, std::int64_t value);  // 0: it is asked for

 private:
    Export& script_;
};

// Chunks of another schedule that Megatron's order cannot take, whose micro-batches come in groups: without them it has one on each GPU.
Job in_megatrons_order(const Job& job);
// Says that they are not there.
void leave_chunks(Writing& to, const Job& asked);

// Collects the settings of a file, in the order in which they stand there.
class Settings : public Writing {
 public:
    using Writing::Writing;
    void put(std::string_view key, Json value);
    std::vector<Setting> list;
    std::optional<FrameworkKind> framework;
};
// The file, and what it lacks.
Export made_of(Settings& to, std::string text);

// One row per field of the plan: what it becomes. A field that stands with another one has no writer.
struct SettingRow {
    std::string_view field;
    void (*write)(Settings& to, std::string_view field);
};
// No key is known for it: said where it is not what a plan usually has, or always.
void leave_changed(Settings& to, std::string_view field);
void leave_always(Settings& to, std::string_view field);
// Fields that no other framework than Megatron-LM has a key for.
extern const std::span<const SettingRow> kCommonRows;
// Writes row by row. What is not listed in `rows` is done as kCommonRows say.
void write_rows(Settings& to, std::span<const SettingRow> rows);
// The framework of the file, and whether it is another one than the times and bytes were counted for.
void leave_framework(Settings& to, FrameworkKind own);
// The model, where the file has no sizes.
void leave_model(Settings& to);
// The layers of each chunk where they are listed; nothing where all are equal or the older fields say it.
LayoutPointer listed_layout(const Model& model, const Plan& plan);

}  // namespace fourfold
