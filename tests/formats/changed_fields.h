// Every field of a plan that a configuration may say, with another value than a usual plan has.
#pragma once

namespace fourfold::tests {

// Where a field has an effect, and another value of it.
struct Changed {
    const char *field, *where, *value;
};
inline constexpr Changed kChanged[] = {
    {"gpus", "{}", "32"},
    {"gpus_per_node", "{}", "4"},
    {"sequence_length", "{}", "4096"},
    {"global_batch", "{}", "128"},
    {"tensor_parallel", "{}", "4"},
    {"context_parallel", "{}", "2"},
    {"pipeline_parallel", "{}", "4"},
    {"micro_batch", "{}", "2"},
    {"virtual_stages", "{}", "2"},
    {"virtual_stage_group", R"({"virtual_stages": 2})", "4"},
    {"schedule", "{}", R"("zb-h1")"},
    {"layout", "{}", R"("Et*15|t*17L")"},
    {"first_stage_layers", "{}", "15"},
    {"last_stage_layers", "{}", "15"},
    {"count_embedding_as_layer", R"({"pipeline_parallel": 1, "gpus": 16})", "true"},
    {"count_loss_as_layer", R"({"pipeline_parallel": 1, "gpus": 16})", "true"},
    {"zero", "{}", R"("none")"},
    {"shard_replicas", "{}", "2"},
    {"recompute", "{}", R"("full")"},
    {"recompute_modules", R"({"recompute": "selective"})", R"("mlp")"},
    {"recompute_layers", R"({"recompute": "block"})", "2"},
    {"precision", "{}", R"("fp16")"},
    {"gradients_in_fp32", "{}", "false"},
    {"moments", "{}", R"("8-bit")"},
    {"optimizer_offload", "{}", "0.5"},
    {"optimizer_offload_target", R"({"optimizer_offload": 1})", R"("nvme")"},
    {"optimizer_offload_overlap", R"({"optimizer_offload": 1})", R"("interleaved")"},
    {"expert_parallel", R"({"model": "mixtral-8x7b"})", "2"},
    {"expert_tensor_parallel", R"({"model": "mixtral-8x7b"})", "2"},
    {"expert_imbalance", "{}", "2"},
    {"expert_dispatch", R"({"model": "mixtral-8x7b", "expert_parallel": 2})", R"("deepep")"},
    {"expert_overlap", R"({"model": "mixtral-8x7b", "expert_parallel": 2})", "true"},
    {"framework", "{}", R"("megatron-2024")"},
    {"attention", "{}", R"("plain")"},
    {"loss", "{}", R"("te_fused")"},
    {"transformer_engine", "{}", R"("off")"},
    {"gradient_fusion", "{}", R"("off")"},
    {"softmax_fusion", "{}", R"("off")"},
    {"activation_fusion", "{}", R"("off")"},
    {"grouped_gemm", R"({"model": "mixtral-8x7b"})", R"("off")"},
    {"large_workspaces", "{}", R"("off")"},
    {"attention_mask", "{}", R"("on")"},
    {"deferred_embedding_gradient", "{}", R"("on")"},
    {"sequence_parallel", "{}", "false"},
    {"tensor_overlap", "{}", "true"},
    {"overlap_gradients", "{}", "false"},
    {"overlap_parameters", "{}", "false"},
    {"overlap_pipeline", R"({"virtual_stages": 2})", "true"},
    {"fused_norms", "{}", "false"},
    {"hidden_dropout", "{}", "true"},
    {"attention_dropout", "{}", "true"},
};

}  // namespace fourfold::tests
