#include "random_cases.h"

#include "plan/rules.h"

namespace fourfold::tests {

// What a family says without a key, said otherwise by some. From a generator of its own: without them the cases keep their numbers.
static void set_overrides(Json& config) {
    Random random(config["vocab_size"]);
    for (const char* key : {"gated_mlp", "layer_norm", "qk_layernorm", "learned_positions"})
        if (random.from(0, 5) == 0) config[key] = random.coin();
}

Json random_config(Random& random) {
    const std::int64_t kv_heads = random.one_of<std::int64_t>({1, 2, 4, 8, 12});
    const std::int64_t heads = kv_heads * random.one_of<std::int64_t>({1, 2, 4, 5, 8});
    const std::int64_t head_dim = random.one_of<std::int64_t>({64, 80, 96, 128, 256});
    const char* type = random.one_of<const char*>(
        {"llama", "llama", "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "gpt2", "gpt_neox"});
    const bool gpt2 = std::string_view(type) == "gpt2";
    Json config = Json::object();
    config["model_type"] = type;
    config[gpt2 ? "n_layer" : "num_hidden_layers"] = random.from(1, 32) * random.one_of<std::int64_t>({1, 2, 4});
    config[gpt2 ? "n_embd" : "hidden_size"] = random.coin() ? heads * head_dim : 128 * random.from(1, 128);
    config[gpt2 ? "n_inner" : "intermediate_size"] = random.one_of<std::int64_t>({8, 64, 240, 256}) * random.from(4, 200);
    config[gpt2 ? "n_head" : "num_attention_heads"] = heads;
    config["num_key_value_heads"] = kv_heads;
    config["head_dim"] = head_dim;
    config["vocab_size"] = random.from(1'000, 300'000);
    config[gpt2 ? "n_positions" : "max_position_embeddings"] = random.from(1'024, 131'072);
    if (random.coin()) config["tie_word_embeddings"] = random.coin();
    if (random.coin()) config["attention_bias"] = random.coin();
    if (random.coin()) config["mlp_bias"] = random.coin();
    if (random.coin()) config["_name_or_path"] = "somebody/Model-" + std::to_string(random.from(1, 99)) + "B";
    set_overrides(config);
    return config;
}

ExpertLayers random_experts(Random& random, std::int64_t layers, std::int64_t most_dense) {
    const std::int64_t dense = random.coin() ? 0 : random.from(0, most_dense), step = random.one_of<std::int64_t>({1, 1, 2, 3});
    std::vector<std::uint8_t> list;
    for (std::int64_t i = 0; i < layers; ++i) list.push_back(i >= dense && (i - dense) % step == 0 ? 1 : 0);
    return ExpertLayers(std::move(list));
}

Model random_model(Random& random) {
    while (true) {
        Problems problems;
        ImportReport report;
        if (auto model = read_model(random_config(random), "", problems, report)) return *model;
    }
}

std::int64_t random_divisor(Random& random, std::int64_t number, std::int64_t most) {
    std::int64_t found = 1;
    for (std::int64_t divisor = 1, seen = 0; divisor <= std::min(number, most); ++divisor)
        if (number % divisor == 0 && random.from(0, seen++) == 0) found = divisor;
    return found;
}

// From a generator of its own: without habits the cases keep their numbers.
static void set_habits(Plan& plan) {
    Random random(static_cast<std::uint64_t>(plan.gpus + 4'099 * plan.global_batch + 65'537 * plan.micro_batch));
    for (Habit Plan::*habit : {&Plan::transformer_engine, &Plan::gradient_fusion, &Plan::softmax_fusion, &Plan::activation_fusion,
                               &Plan::grouped_gemm, &Plan::large_workspaces, &Plan::attention_mask, &Plan::deferred_embedding_gradient})
        plan.*habit = random.one_of({Habit::automatic, Habit::automatic, Habit::on, Habit::off});
    plan.cuda_graphs = random.one_of({CudaGraphs::none, CudaGraphs::none, CudaGraphs::layers, CudaGraphs::step});
    plan.fully_shard = random.one_of({Habit::automatic, Habit::automatic, Habit::on, Habit::off});
    plan.sync_each_micro_batch = random.one_of({Habit::automatic, Habit::automatic, Habit::on, Habit::off});
}

Plan random_plan(Random& random) {
    Plan plan;
    plan.tensor_parallel = random.one_of<std::int64_t>({1, 2, 3, 4, 5, 7, 8, 12, 16, 56});
    plan.context_parallel = random.one_of<std::int64_t>({1, 1, 2, 3, 4, 8});
    plan.pipeline_parallel = random.one_of<std::int64_t>({1, 2, 3, 4, 5, 8, 16, 40});
    plan.micro_batch = random.one_of<std::int64_t>({1, 2, 3, 4, 8, 100});
    plan.virtual_stages = random.one_of<std::int64_t>({1, 1, 2, 3, 4});
    plan.gpus = random.coin() ? plan.model_parallel() * random.from(1, 40) : random.from(1, 3'000);
    plan.gpus_per_node = random.one_of<std::int64_t>({4, 8, 16});
    plan.sequence_length = random.one_of<std::int64_t>({1'000, 2'048, 4'096, 6'000, 8'192, 10'080});
    plan.global_batch = random.coin() ? random.from(1, 4'000) : 64 * random.from(1, 64);
    plan.attention = random.one_of({Attention::automatic, Attention::flash, Attention::cudnn, Attention::plain});
    plan.zero = random.one_of({Zero::none, Zero::optimizer, Zero::optimizer, Zero::gradients, Zero::weights});
    plan.recompute = random.one_of({Recompute::none, Recompute::none, Recompute::selective, Recompute::full, Recompute::block});
    plan.recompute_modules = static_cast<std::uint32_t>(random.from(0, 127));
    plan.recompute_layers = random.from(1, 6);
    plan.precision = random.one_of({Precision::bf16, Precision::bf16, Precision::fp16, Precision::fp8, Precision::fp8_weights});
    plan.moments = random.one_of({Moments::fp32, Moments::bits16, Moments::bits8});
    plan.optimizer_offload = random.one_of<double>({0, 0, 0.5, 1});
    // by fields that are there already: the plans without stay as they were
    if (plan.global_batch % 7 == 3) plan.activation_offload = plan.global_batch % 2 == 0 ? 1 : 0.5;
    if (plan.global_batch % 5 == 3) plan.context_parallel_kind = ContextKind::all_to_all;
    if (plan.global_batch % 11 == 3) plan.feed_forward_tiles = 4;
    if (plan.global_batch % 13 == 3) plan.document_length = 300;
    if (plan.optimizer_offload > 0) {
        const auto turn = static_cast<std::size_t>(plan.global_batch % 6);
        plan.optimizer_offload_overlap = static_cast<OffloadOverlap>(turn / 2);
        plan.optimizer_offload_target = static_cast<OffloadTarget>(turn % 2);
    }
    plan.framework = random.one_of({FrameworkKind::megatron_2025, FrameworkKind::megatron_2024, FrameworkKind::pytorch});
    plan.loss = random.one_of({Loss::automatic, Loss::plain, Loss::native_fused, Loss::te_fused, Loss::gathered});
    plan.schedule = random.one_of({ScheduleKind::one_f_one_b, ScheduleKind::one_f_one_b, ScheduleKind::gpipe, ScheduleKind::zero_bubble_h1,
                                   ScheduleKind::zero_bubble_v});
    if ((plan.recompute_modules & mla_up_proj) != 0) {  // half of those that split the backward pass
        if (plan.schedule == ScheduleKind::zero_bubble_h1) plan.schedule = ScheduleKind::dualpipe;
        if (plan.schedule == ScheduleKind::zero_bubble_v) plan.schedule = ScheduleKind::dualpipe_v;
    }
    plan.expert_imbalance = random.one_of<double>({1, 1, 1.5});
    plan.sequence_parallel = random.from(0, 4) != 0;
    plan.fused_norms = random.coin();
    plan.gradients_in_fp32 = random.coin();
    plan.hidden_dropout = random.coin();
    plan.attention_dropout = random.coin();
    set_habits(plan);
    return plan;
}

Plan random_legal_plan(Random& random, const Model& model) {
    Plan plan = random_plan(random);
    do plan.tensor_parallel = random_divisor(random, model.heads, 32);
    while (model.ffn % plan.tensor_parallel != 0 || model.experts.shared_ffn % plan.tensor_parallel != 0 ||
           (model.kv_heads % plan.tensor_parallel != 0 && plan.tensor_parallel % model.kv_heads != 0));
    if (plan.attention == Attention::plain) plan.context_parallel = 1;
    plan.pipeline_parallel = random_divisor(random, model.layers, 32);
    if (plan.pipeline_parallel % row_of(plan.schedule).stages_by != 0) plan.schedule = ScheduleKind::zero_bubble_h1;
    if (plan.pipeline_parallel == 1 || model.layers / plan.pipeline_parallel % row_of(plan.schedule).chunks != 0)
        plan.schedule = ScheduleKind::one_f_one_b;
    plan.virtual_stages = plan.pipeline_parallel == 1 ? 1 : random_divisor(random, model.layers / plan.pipeline_parallel, 8);
    if (plan.schedule != ScheduleKind::one_f_one_b) plan.virtual_stages = row_of(plan.schedule).chunks;
    std::int64_t data_parallel = random.from(1, 48);
    if (model.experts.count > 0) {
        plan.expert_parallel = random_divisor(random, model.experts.count, 16);
        plan.expert_tensor_parallel = random_divisor(random, model.experts.ffn, 2);
        data_parallel *= plan.expert_parallel * plan.expert_tensor_parallel;
    }
    if (!swaps_heads(model, plan)) plan.context_parallel_kind = ContextKind::ring;
    // where it applies, and by fields that are there already: the plans without stay as they were
    plan.tensor_columns = plan.hidden_dropout && plan.fused_norms ? 2 : 1;
    if (!has_grid(model, plan)) plan.tensor_columns = 1;
    plan.gpus = plan.model_parallel() * data_parallel;
    plan.shard_replicas = random_divisor(random, data_parallel, 4);
    plan.sequence_length = 2 * plan.context_parallel * plan.tensor_parallel * random.from(1, 300);
    plan.micro_batch = random.from(1, 6);
    plan.global_batch =
        plan.micro_batch * data_parallel * random.from(1, 12) * (plan.pieces_per_stage() > 1 ? 2 * plan.pipeline_parallel : 1);
    plan.token_slices = plan.global_batch % 3 == 0 ? 1 + plan.sequence_length % 5 : 1;
    if (!has_slices(plan)) plan.token_slices = 1;
    if (may_recompute_operations(model, plan) && plan.global_batch % 5 == 1)
        plan.recompute = Recompute::operations, plan.recompute_layers = 1;
    return plan;
}

}  // namespace fourfold::tests
