// What was published of offloaded optimizers, beside the estimate. The rates of time/offload.h are from the first three sources; every
// other row is a check. What is farther off than asked is listed with its cause.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "memory/host.h"
#include "time/offload_support.h"

using namespace fourfold;
using namespace fourfold::tests;
using doctest::Approx;

namespace {

// Relative, > 0: too much is estimated.
double off_by(const char* what, double estimated, double measured) {
    const double off = estimated / measured - 1;
    MESSAGE(std::string(what) << ": " << estimated << " estimated, " << measured << " measured, " << 100 * off << " %");
    return off;
}

Json gpt_of(int layers, int hidden, int heads) {
    return {{"model_type", "gpt2"}, {"n_layer", layers},   {"n_embd", hidden},
            {"n_head", heads},      {"n_positions", 2048}, {"vocab_size", 50257}};
}

}  // namespace

TEST_CASE("published: the logs that the host's rate was read from") {
    // NVIDIA-NeMo/RL pull request 3628: Qwen3-0.6B, one H100, Megatron-Core, overlapped: 1.216 s at 50 %, 1.678 s at 100 %
    const Json small = {{"model_type", "qwen3"},
                        {"hidden_size", 1024},
                        {"intermediate_size", 3072},
                        {"num_hidden_layers", 28},
                        {"num_attention_heads", 16},
                        {"num_key_value_heads", 8},
                        {"head_dim", 128},
                        {"vocab_size", 151936},
                        {"tie_word_embeddings", true},
                        {"max_position_embeddings", 40960}};
    const Json nemo = {{"model", small},
                       {"gpu", "h100-sxm-80gb"},
                       {"gpus", 1},
                       {"tensor_parallel", 1},
                       {"pipeline_parallel", 1},
                       {"context_parallel", 1},
                       {"micro_batch", 1},
                       {"sequence_length", 1024},
                       {"global_batch", 1},
                       {"optimizer_offload_overlap", "overlapped"}};
    const auto part = [&](double offloaded) {
        return offload::host_seconds_of(offload::answer_to(offload::changed(nemo, {{"optimizer_offload", offloaded}})));
    };
    CHECK(std::abs(off_by("NeMo RL, half of 0.6B more on the host, s", part(1) - part(0.5), 1.678 - 1.216)) < 0.05);

    // DataStates/artifacts 394dfb35, deep-optimizer-states/sample-logs: 5.95e9 parameters (the command: SwiGLU of 11008, 4 KV heads,
    // untied, activations checkpointed) on one GPU, ZeRO-3: forward 0.207 s, backward 4.746 s, update 3.980 s
    const Json deep = {{"model",
                        {{"model_type", "llama"},
                         {"hidden_size", 4096},
                         {"intermediate_size", 11008},
                         {"num_hidden_layers", 32},
                         {"num_attention_heads", 32},
                         {"num_key_value_heads", 4},
                         {"vocab_size", 50257},
                         {"tie_word_embeddings", false},
                         {"max_position_embeddings", 2048}}},
                       {"gpu", "a100-sxm-80gb"},
                       {"gpus", 1},
                       {"sequence_length", 2048},
                       {"global_batch", 1},
                       {"micro_batch", 1},
                       {"tensor_parallel", 1},
                       {"pipeline_parallel", 1},
                       {"context_parallel", 1},
                       {"zero", "weights"},
                       {"recompute", "full"},
                       {"optimizer_offload", 1},
                       {"framework", "megatron-deepspeed"},
                       {"gradients_in_fp32", false}};
    const auto by = [&](const char* overlap) {
        return offload::host_seconds_of(offload::answer_to(offload::changed(deep, {{"optimizer_offload_overlap", overlap}})));
    };
    CHECK(std::abs(off_by("DeepSpeed, 6B, update and what gradients add to the backward pass, s", by("none"), 3.980 + 4.746 - 3 * 0.207)) <
          0.05);
    // Missed: in its log the interleaved update is no faster than DeepSpeed's (4.222 s against 3.980 s); its paper's abstract says 2.5
    // times of a whole step.
    CHECK(std::abs(off_by("Deep Optimizer States, 6B, interleaved update, s", by("interleaved"), 4.222)) < 0.25);
}

TEST_CASE("published: Megatron's fraction") {
    // NVIDIA-NeMo/Megatron-Bridge b00deab6, skills/perf-techniques/cpu-offloading/card.yaml: Qwen3-30B-A3B, TP 2, PP 2, EP 4, 16 H100,
    // 0.996 s a step without; tests/evidence/megatron-offload.jsonl has the same rows, and says what of them is assumed.
    const Json job = {{"model", "qwen3-30b-a3b"},
                      {"gpu", "h100-sxm-80gb"},
                      {"cluster", "dgx-h100"},
                      {"gpus", 16},
                      {"tensor_parallel", 2},
                      {"pipeline_parallel", 2},
                      {"context_parallel", 1},
                      {"expert_parallel", 4},
                      {"expert_tensor_parallel", 1},
                      {"sequence_length", 4096},
                      {"global_batch", 8},
                      {"micro_batch", 1},
                      {"recompute", "full"},
                      {"loss", "te_fused"},
                      {"offload_master_weights", "off"},
                      {"zero", "optimizer"},
                      {"virtual_stages", 1},
                      {"schedule", "1f1b"},
                      {"layout", "equal"},
                      {"moments", "fp32"},
                      {"expert_dispatch", "deepep"}};
    const auto seconds = [&](double part, const char* overlap) {
        return offload::step_seconds_of(
            offload::answer_to(offload::changed(job, {{"optimizer_offload", part}, {"optimizer_offload_overlap", overlap}})));
    };
    const double before = seconds(0, "none");
    struct Row {
        double part;
        const char* overlap;
        double seconds;
    };
    for (const Row& row :
         {Row{0.25, "none", 1.871}, {0.5, "none", 2.484}, {0.75, "none", 3.187}, {1, "none", 4.189}, {1, "overlapped", 3.877}}) {
        const double now = seconds(row.part, row.overlap);
        CHECK(std::abs(off_by("times a step without", now / before, row.seconds / 0.996)) < 0.10);
        CHECK(std::abs(off_by("what is added, s", now - before, row.seconds - 0.996)) < 0.15);
    }
}

TEST_CASE("published: states on NVMe") {
    // DataStates/artifacts 394dfb35, MLP-Offload/README.md: DeepSpeed ZeRO-3, four GPUs of a node, MBS 1, S 2048, seconds of a step; its
    // transfers run beside the update. Shapes are printed of 52B and 120B; the others are made of layers of hidden size 8192 (5120 of 40B).
    struct Row {
        const char* name;
        int layers, hidden, heads;
        double seconds;
    };
    const Row rows[] = {{"40B", 127, 5120, 40, 242},
                        {"52B", 64, 8192, 64, 238.6},
                        {"70B", 87, 8192, 64, 371},
                        {"100B", 124, 8192, 64, 572},
                        {"120B", 96, 10240, 80, 550}};
    for (const Row& row : rows) {
        const Json answer = offload::answer_to({{"model", gpt_of(row.layers, row.hidden, row.heads)},
                                                {"gpu", "h100-sxm-80gb"},
                                                {"gpus", 4},
                                                {"gpus_per_node", 4},
                                                {"sequence_length", 2048},
                                                {"global_batch", 4},
                                                {"micro_batch", 1},
                                                {"tensor_parallel", 1},
                                                {"pipeline_parallel", 1},
                                                {"context_parallel", 1},
                                                {"zero", "weights"},
                                                {"framework", "megatron-deepspeed"},
                                                {"recompute", "full"},
                                                {"gradients_in_fp32", false},
                                                {"optimizer_offload", 1},
                                                {"optimizer_offload_target", "nvme"},
                                                {"optimizer_offload_overlap", "overlapped"}});
        CHECK(std::abs(off_by(row.name, offload::step_seconds_of(answer), row.seconds)) < 0.20);
    }
}

TEST_CASE("published: an update in the backward pass, and another host") {
    // PrimeIntellect-ai/prime-rl pull request 3234: Qwen3-30B-A3B, 8 H200, FSDP, 8k: 1.75 s without, 3.96 s with all on the host
    const Json job = {{"model", "qwen3-30b-a3b"}, {"gpu", "h200-sxm-141gb"}, {"gpus", 8},
                      {"tensor_parallel", 1},     {"pipeline_parallel", 1},  {"context_parallel", 1},
                      {"expert_parallel", 1},     {"micro_batch", 1},        {"global_batch", 8},
                      {"sequence_length", 8192},  {"zero", "weights"},       {"framework", "pytorch"},
                      {"recompute", "full"},      {"optimizer_offload", 1},  {"optimizer_offload_overlap", "overlapped"}};
    CHECK(std::abs(off_by("prime-rl, what 8k takes longer, s", offload::host_seconds_of(offload::answer_to(job)), 3.96 - 1.75)) < 0.10);
    // Missed: of longer sequences their backward pass hides it (16k: 0.56 s longer, 64k: 4.6 s shorter); here it follows the passes.
}

TEST_CASE("published: what hosts held") {
    // THUDM/slime issue 1851: Qwen3-30B-A3B on 8 GPUs, 102 GiB of each rank in a host of 1,007 GiB, out of memory "with others"
    const Json slime = offload::answer_to({{"model", "qwen3-30b-a3b"},
                                           {"gpu", "h100-sxm-80gb"},
                                           {"gpus", 8},
                                           {"tensor_parallel", 1},
                                           {"pipeline_parallel", 1},
                                           {"context_parallel", 1},
                                           {"expert_parallel", 8},
                                           {"micro_batch", 1},
                                           {"global_batch", 8},
                                           {"optimizer_offload", 1},
                                           {"host_memory_gib", 1007}})["host"];
    const double gib = slime["bytes_per_gpu"].get<double>() / std::pow(2, 30);
    CHECK(off_by("slime, GiB of a rank", gib, 102) < 0);
    CHECK(102 / gib <= kMostHostBytes * 1.01);  // the band of the verdict is of this row and DeepSpeed's, 163 GB over 107
    // Missed: with what the rest of the program keeps it did not fit.
    CHECK(slime["class"] == "fits");
}
