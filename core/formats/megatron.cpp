// Arguments and their versions: Megatron-LM d98e8a64dd, megatron/training/arguments.py, and its tags core_v0.4.0 to core_v0.19.0. The start
// by torchrun: examples/llama/train_llama3_8b_h100_fp8.sh there.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "formats/formats.h"
#include "formats/megatron_arguments.h"

namespace fourfold {

namespace {

// Minor version of Megatron-Core that brought an argument, of those younger than 0.9.
struct Since {
    std::string_view flag;
    int version;
};
constexpr Since kSince[] = {
    {"--decoder-first-pipeline-num-layers", 9},
    {"--decoder-last-pipeline-num-layers", 9},
    {"--fp8-param-gather", 9},
    {"--expert-tensor-parallel-size", 10},
    {"--num-distributed-optimizer-instances", 10},
    {"--moe-ffn-hidden-size", 10},
    {"--moe-layer-freq", 10},
    {"--moe-shared-expert-intermediate-size", 10},
    {"--multi-latent-attention", 10},
    {"--microbatch-group-size-per-virtual-pipeline-stage", 10},
    {"--num-virtual-stages-per-pipeline-rank", 11},
    {"--account-for-embedding-in-pipeline-split", 11},
    {"--account-for-loss-in-pipeline-split", 11},
    {"--use-precision-aware-optimizer", 11},
    {"--attention-backend", 11},
    {"--recompute-modules", 12},
    {"--optimizer-cpu-offload", 12},
    {"--cross-entropy-fusion-impl", 12},
    {"--grad-reduce-in-bf16", 12},
    {"--mtp-num-layers", 12},
    {"--pipeline-model-parallel-layout", 13},
    {"--use-megatron-fsdp", 14},
};

std::string array(std::string_view name, const std::vector<std::string>& lines) {
    std::string text = joined({name, "=(\n"});
    for (const std::string& line : lines) text += joined({"    ", line, "\n"});
    return text + ")\n";
}

// How many nodes of how many GPUs; torchrun starts as many on each. 0 where the GPUs do not fill their nodes.
struct Nodes {
    std::int64_t count, gpus;
};
Nodes nodes_of(const Plan& plan) {
    if (plan.gpus <= plan.gpus_per_node) return {1, plan.gpus};
    if (plan.gpus % plan.gpus_per_node != 0) return {0, 0};
    return {plan.gpus / plan.gpus_per_node, plan.gpus_per_node};
}

// "NAME=value" or, where the reader fills it in, a line that ends the script while it is empty.
class Variables {
 public:
    explicit Variables(Export& script) : script_(script) {}
    void set(std::string_view name, std::string_view value) { script_.text += joined({name, "=", value, "\n"}); }
    void ask(std::string_view name) {
        script_.yours.emplace_back(name);
        set(name, joined({"${", name, ":?}"}));
    }
    void number(std::string_view name, std::int64_t value) {
        if (value > 0)
            set(name, std::to_string(value));
        else
            ask(name);
    }

 private:
    Export& script_;
};

void add_variables(Export& script, const Plan& plan) {
    Variables variables(script);
    const Nodes nodes = nodes_of(plan);
    variables.number("NNODES", nodes.count);
    variables.number("GPUS_PER_NODE", nodes.gpus);
    if (nodes.count == 1) {
        variables.set("NODE_RANK", "0");
        variables.set("MASTER_ADDR", "localhost");
    } else {
        variables.ask("NODE_RANK");
        variables.ask("MASTER_ADDR");
    }
    variables.set("MASTER_PORT", "${MASTER_PORT:-6000}");
    variables.ask("DATA_ARGS");
    variables.ask("TRAINING_ARGS");
}

constexpr std::string_view kLaunch =
    "torchrun \\\n"
    "    --nproc_per_node \"$GPUS_PER_NODE\" \\\n"
    "    --nnodes \"$NNODES\" \\\n"
    "    --node_rank \"$NODE_RANK\" \\\n"
    "    --master_addr \"$MASTER_ADDR\" \\\n"
    "    --master_port \"$MASTER_PORT\" \\\n"
    "    pretrain_gpt.py \\\n"
    "    \"${MODEL_ARGS[@]}\" \\\n"
    "    \"${PLAN_ARGS[@]}\" \\\n"
    "    $DATA_ARGS \\\n"
    "    $TRAINING_ARGS\n";

}  // namespace

MegatronArguments::MegatronArguments(const Job& from) : job(from), plan(from.plan), model(from.model) {
    visit_fields(plan, FieldWriter(fields_));
    const Plan usual;
    visit_fields(usual, FieldWriter(usual_));
}

void MegatronArguments::flag(const char* name, std::string_view value) {
    lines.push_back(value.empty() ? std::string(name) : joined({name, " ", value}));
    const auto* const known = std::find_if(std::begin(kSince), std::end(kSince), [&](const Since& one) { return one.flag == name; });
    if (known == std::end(kSince) || known->version <= newest_) return;
    newest_ = known->version;
    newest_flag_ = name;
}

void MegatronArguments::flag(const char* name) { flag(name, std::string_view()); }
void MegatronArguments::number(const char* name, std::int64_t value) { flag(name, std::to_string(value)); }
void MegatronArguments::number(const char* name, std::int64_t value, std::int64_t usual) {
    if (value != usual) number(name, value);
}
void MegatronArguments::when(bool on, const char* name) {
    if (on) flag(name);
}

void MegatronArguments::leave_out(Text text) { left_out.push_back(std::move(text)); }
void MegatronArguments::leave_out(const char* id) { left_out.emplace_back(id); }

bool MegatronArguments::changes(std::string_view field) const { return fields_[std::string(field)] != usual_[std::string(field)]; }

void MegatronArguments::leave_field(std::string_view field) {
    const Json& value = fields_[std::string(field)];
    Text said("export.left_out");
    said.with("field", Text("field", field));
    if (const auto* id = value.get_ptr<const Json::string_t*>())
        said.with("value", Text(joined({"choice.", field}), *id));
    else if (const auto* on = value.get_ptr<const Json::boolean_t*>())
        said.with("value", Text("export", *on ? "on" : "off"));
    else
        said = Text("export.left_out.number").with("field", Text("field", field)).with("value", value);
    left_out.push_back(std::move(said));
}

Text MegatronArguments::needs() const {
    if (newest_ == 0) return {};
    return Text("export.needs").with("version", joined({"0.", std::to_string(newest_)})).with("flag", newest_flag_);
}

Export megatron_script(const Job& job) {
    Export script;
    script.text = "#!/bin/bash\n";
    // Both kinds of FSDP want several connections (arguments.py refuses this setting there).
    if (job.plan.zero == Zero::none || job.plan.zero == Zero::optimizer) script.text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
    add_variables(script, job.plan);
    MegatronArguments all(job);
    for (const MegatronRow& row : kMegatronModelRows) row.write(all, row.field);
    script.text += "\n" + array("MODEL_ARGS", std::exchange(all.lines, {}));
    for (const MegatronRow& row : kMegatronPlanRows)
        if (row.write != nullptr) row.write(all, row.field);
    script.text += "\n" + array("PLAN_ARGS", all.lines) + "\n" + std::string(kLaunch);
    script.needs = all.needs();
    script.left_out = std::move(all.left_out);
    return script;
}

}  // namespace fourfold
