// Arguments and their versions: Megatron-LM d98e8a64dd, megatron/training/arguments.py, and its tags core_v0.4.0 to core_v0.19.0. The start
// by torchrun: examples/llama/train_llama3_8b_h100_fp8.sh there.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "formats/formats.h"
#include "formats/megatron/arguments.h"

namespace fourfold {

namespace {

// Minor version of Megatron-Core that brought an argument, of those that are no older than the oldest release that can be asked for, and
// the field that is not said without it; "": one of the model.
struct Since {
    std::string_view flag;
    int version;
    std::string_view field;
};
constexpr Since kSince[] = {
    {"--decoder-first-pipeline-num-layers", 9, "first_stage_layers"},
    {"--decoder-last-pipeline-num-layers", 9, "last_stage_layers"},
    {"--fp8-param-gather", 9, "precision"},
    {"--expert-tensor-parallel-size", 10, "expert_tensor_parallel"},
    {"--num-distributed-optimizer-instances", 10, "shard_replicas"},
    {"--moe-ffn-hidden-size", 10, ""},
    {"--moe-layer-freq", 10, ""},
    {"--moe-shared-expert-intermediate-size", 10, ""},
    {"--multi-latent-attention", 10, ""},
    {"--cp-comm-type", 10, "context_parallel_kind"},
    {"--microbatch-group-size-per-virtual-pipeline-stage", 10, "virtual_stage_group"},
    {"--num-virtual-stages-per-pipeline-rank", 11, "virtual_stages"},
    {"--account-for-embedding-in-pipeline-split", 11, "count_embedding_as_layer"},
    {"--account-for-loss-in-pipeline-split", 11, "count_loss_as_layer"},
    {"--use-precision-aware-optimizer", 11, "moments"},
    {"--attention-backend", 11, "attention"},
    {"--moe-router-num-groups", 11, ""},
    {"--moe-router-enable-expert-bias", 11, ""},
    {"--recompute-modules", 12, "recompute_modules"},
    {"--optimizer-cpu-offload", 12, "optimizer_offload"},
    {"--overlap-cpu-optimizer-d2h-h2d", 12, "optimizer_offload_overlap"},
    {"--cross-entropy-fusion-impl", 12, "loss"},
    {"--grad-reduce-in-bf16", 12, "gradients_in_fp32"},
    {"--mtp-num-layers", 12, ""},
    {"--moe-enable-deepep", 12, "expert_dispatch"},
    {"--fp8-recipe", 12, "precision"},
    {"--use-custom-fsdp", 12, "zero"},
    {"--pipeline-model-parallel-layout", 13, "layout"},
    {"--external-cuda-graph", 13, "cuda_graphs"},
    {"--cuda-graph-impl", 15, "cuda_graphs"},
    {"--use-megatron-fsdp", 14, "zero"},
    {"--overlap-moe-expert-parallel-comm", 14, "expert_overlap"},
    {"--experimental-attention-variant", 16, ""},
    {"--optimizer muon", 16, "optimizer"},
    {"--optimizer dist_muon", 16, "optimizer"},
    {"--attention-output-gate", 16, ""},
    {"--moe-shared-expert-gate", 16, ""},  // pull request 2751
    {"--moe-latent-size", 16, ""},
    {"--window-size", 15, ""},
    {"--softmax-type", 15, ""},
    {"--is-hybrid-model", 12, ""},
    {"--mamba-num-heads", 13, ""},
    {"--ckpt-format", 15, "zero"},  // with the one that FSDP needs
};
constexpr int kOldest = 9;  // of kReleaseChoices

const Since* since(std::string_view flag) {
    const auto* const known = std::find_if(std::begin(kSince), std::end(kSince), [&](const Since& one) { return one.flag == flag; });
    return known == std::end(kSince) ? nullptr : known;
}

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

constexpr std::string_view kTorchrun =
    "torchrun \\\n"
    "    --nproc_per_node \"$GPUS_PER_NODE\" \\\n"
    "    --nnodes \"$NNODES\" \\\n"
    "    --node_rank \"$NODE_RANK\" \\\n";

// One task a node, whose number is the node's.
void add_slurm(Export& script, const ExportAsked& asked, const Plan& plan) {
    const Nodes nodes = nodes_of(plan);
    const auto ask = [&](std::string_view what, std::string_view value) { script.text += joined({"#SBATCH --", what, "=", value, "\n"}); };
    if (nodes.count > 0) {
        ask("nodes", std::to_string(nodes.count));
        ask("gpus-per-node", std::to_string(nodes.gpus));
    }
    ask("ntasks-per-node", "1");
    script.text += "#SBATCH --exclusive\n";
    if (asked.hosts.empty()) return;
    std::string list;
    for (const std::string& host : asked.hosts) list += joined({list.empty() ? "" : ",", host});
    ask("nodelist", list);
}

// Slurm sorts its own list by name: the order of the nodes comes from a file.
void add_slurm_variables(Export& script, const ExportAsked& asked, const Plan& plan) {
    Variables variables(script);
    const Nodes nodes = nodes_of(plan);
    variables.number("NNODES", nodes.count);
    variables.number("GPUS_PER_NODE", nodes.gpus);
    if (asked.hosts.empty()) {
        variables.set("MASTER_ADDR", "$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)");
    } else {
        std::vector<MegatronLine> lines;
        for (const std::string& host : asked.hosts) lines.push_back({host, ""});
        script.text += megatron_array("HOSTS", lines);
        variables.set("MASTER_ADDR", "${HOSTS[0]}");
        script.text +=
            "export SLURM_HOSTFILE=$PWD/hosts-$SLURM_JOB_ID.txt\n"
            "printf '%s\\n' \"${HOSTS[@]}\" > \"$SLURM_HOSTFILE\"\n";
    }
    variables.set("MASTER_PORT", "${MASTER_PORT:-6000}");
    variables.ask("DATA_ARGS");
    variables.ask("TRAINING_ARGS");
}

std::string slurm_start(const ExportAsked& asked) {
    return joined({"srun --nodes=\"$NNODES\" --ntasks=\"$NNODES\" ", asked.hosts.empty() ? "" : "--distribution=arbitrary ",
                   "\\\n"
                   "    bash -c 'exec torchrun --node_rank \"$SLURM_PROCID\" \"$@\"' node \\\n"
                   "    --nproc_per_node \"$GPUS_PER_NODE\" \\\n"
                   "    --nnodes \"$NNODES\" \\\n"});
}

constexpr std::string_view kProgram =
    "    --master_addr \"$MASTER_ADDR\" \\\n"
    "    --master_port \"$MASTER_PORT\" \\\n"
    "    pretrain_gpt.py \\\n"
    "    \"${MODEL_ARGS[@]}\" \\\n"
    "    \"${PLAN_ARGS[@]}\" \\\n"
    "    $DATA_ARGS \\\n"
    "    $TRAINING_ARGS\n";

}  // namespace

std::string megatron_array(std::string_view name, const std::vector<MegatronLine>& lines) {
    std::string text = joined({name, "=(\n"});
    for (const auto& [flag, value] : lines) text += joined({"    ", flag, value.empty() ? "" : " ", value, "\n"});
    return text + ")\n";
}

MegatronArguments::MegatronArguments(const Job& from)
    : Writing(from),
      release_(kOldest + (from.exported.release < 0 ? static_cast<int>(kReleaseChoices.size()) - 1 : from.exported.release)) {}

bool MegatronArguments::knows(std::string_view flag) const {
    const Since* const known = since(flag);
    return known == nullptr || known->version <= release_;
}

void MegatronArguments::flag(const char* name, std::string_view value) {
    const Since* const known = since(name);
    if (!knows(name)) {
        const std::string version = joined({"0.", std::to_string(known->version)});
        leave_out(
            known->field.empty()
                ? Text("export.left_out.newer_model").with("flag", name).with("version", version)
                : Text("export.left_out.newer").with("field", Text("field", known->field)).with("flag", name).with("version", version));
        return;
    }
    lines.push_back({name, std::string(value)});
    if (known != nullptr) since_release(known->version, name);
}

void MegatronArguments::since_release(int minor, const char* what) {
    if (minor <= newest_) return;
    newest_ = minor;
    newest_flag_ = what;
}

void MegatronArguments::flag(const char* name) { flag(name, std::string_view()); }
void MegatronArguments::number(const char* name, std::int64_t value) { flag(name, std::to_string(value)); }
void MegatronArguments::number(const char* name, std::int64_t value, std::int64_t usual) {
    if (value != usual) number(name, value);
}
void MegatronArguments::degree(const char* name, std::int64_t value, std::int64_t usual) {
    if (value != usual || job.exported.whole) number(name, value);
}
void MegatronArguments::when(bool on, const char* name) {
    if (on) flag(name);
}

Text MegatronArguments::needs() const {
    if (newest_ == 0) return {};
    return Text("export.needs").with("version", joined({"0.", std::to_string(newest_)})).with("flag", newest_flag_);
}

Export megatron_script(const Job& asked) {
    const Job job = in_megatrons_order(asked);
    const bool slurm = job.exported.format == ConfigFormat::megatron_slurm;
    Export script;
    script.text = "#!/bin/bash\n";
    if (slurm) add_slurm(script, job.exported, job.plan);
    // Both kinds of FSDP want several connections (arguments.py refuses this setting there), and so do tokens that travel beneath other
    // work, where no tensor- or context-parallel group needs the one.
    const bool several = job.plan.expert_overlap && job.plan.tensor_parallel * job.plan.context_parallel == 1;
    MegatronArguments all(job);
    if (!megatron_has_fsdp(all)) script.text += joined({"export CUDA_DEVICE_MAX_CONNECTIONS=", several ? "32" : "1", "\n"});
    if (slurm)
        add_slurm_variables(script, job.exported, job.plan);
    else
        add_variables(script, job.plan);
    for (const MegatronRow& row : kMegatronModelRows) row.write(all, row.field);
    script.text += "\n" + megatron_array("MODEL_ARGS", std::exchange(all.lines, {}));
    for (const MegatronRow& row : kMegatronPlanRows)
        if (row.write != nullptr) row.write(all, row.field);
    script.text += "\n" + megatron_array("PLAN_ARGS", all.lines) + "\n";
    script.text += slurm ? slurm_start(job.exported) : std::string(kTorchrun);
    script.text += kProgram;
    if (job.model.one_part) script.text.replace(script.text.rfind("pretrain_gpt"), 12, "pretrain_mamba");
    leave_chunks(all, asked);
    script.needs = all.needs();
    script.left_out = std::move(all.left_out);
    return script;
}

}  // namespace fourfold
