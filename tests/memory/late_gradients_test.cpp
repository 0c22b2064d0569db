// Gradients that a step makes anew, weights that are updated in the backward pass, and what of the states lies on the host: by hand.
#include <doctest/doctest.h>

#include <algorithm>

#include "memory/small_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// One GPU, one micro-batch: 6 layers, of each 48 * (6 + 4) * 10 + 60 * 48 + 96 + 3 * 48 * 80; embedding, head and final norm.
constexpr double kWhole = 6 * (4'800 + 2'880 + 96 + 3 * 3'840) + 2 * 256 * 48 + 48;

Case alone() {
    Case c = dense();
    c.model.tied = false;
    c.plan.gpus = 1, c.plan.tensor_parallel = c.plan.pipeline_parallel = 1, c.plan.global_batch = 3;
    c.plan.framework = FrameworkKind::pytorch, c.plan.zero = Zero::none;
    return c;
}

double in_group(const StageMemory<double>& all, Group group) {
    double sum = 0;
    for (std::size_t i = 0; i < all.items.size(); ++i)
        if (text(all.items.item(i)).group == group) sum += all.items.bytes(i);
    return sum;
}

}  // namespace

TEST_CASE("by hand: an update over lists of tensors holds gradients and a copy of one average") {
    Case c = alone();
    CHECK(c(Item::update) == -1);
    const double passes = c.memory().peak_bytes, between = c.memory().static_bytes;
    c.plan.optimizer_foreach = true;  // each average has 4 bytes a weight
    CHECK(c.memory().static_bytes == between);
    CHECK(c.memory().peak_bytes == near(between + (4 + 4) * kWhole));
    CHECK(c(Item::update) == near(between + (4 + 4) * kWhole - passes));
    c.plan.moments = Moments::bits16, c.plan.gradients_in_fp32 = false;
    CHECK(c.memory().peak_bytes == near(c.memory().static_bytes + (2 + 2) * kWhole));
    c.plan.global_batch = 6;  // two micro-batches are added up, in gradients that go as well
    CHECK(c.memory().peak_bytes == near(c.memory().static_bytes + (2 + 2) * kWhole));
    c.plan.optimizer = Optimizer::muon;
    CHECK(c(Item::update) == -1);
    c.plan.optimizer = Optimizer::adam, c.plan.optimizer_offload = 1;  // there are no averages here
    CHECK(c(Item::update) == -1);
    c.plan.optimizer_offload = 0, c.plan.micro_batch = c.plan.global_batch = 300;  // a pass holds more
    CHECK(c(Item::update) == -1);
    c = alone();
    c.plan.optimizer_foreach = c.plan.optimizer_in_backward = true;  // a tensor at a time
    CHECK(c(Item::update) == -1);
    c = alone();
    c.plan.optimizer_foreach = true, c.plan.gpus = 2, c.plan.zero = Zero::weights;  // half of everything, and few tokens
    c.plan.sequence_length = 4, c.plan.micro_batch = 1, c.plan.global_batch = 2;
    CHECK(c.memory().peak_bytes == near(c.memory().static_bytes + (4 + 4) * kWhole / 2));
}

TEST_CASE("by hand: gradients of one micro-batch come while activations go") {
    Case c = alone();
    c.plan.global_batch = 6;  // two micro-batches are added up
    CHECK(c(Item::gradients) == 4 * kWhole);
    c = alone();
    c.plan.micro_batch = c.plan.global_batch = 2;
    const StageMemory<double> all = c.memory();
    const double activations = in_group(all, Group::activations), of_layer = activations / 6;
    // at the end the first layer works, or the embedding's gradient, 4 * 256 * 48, comes
    const double end = std::max(0.0, of_layer + all.at_backward - 4 * 12'288);
    const double freed = activations + std::max(all.at_head, all.at_backward) - end;
    CHECK(freed > 0);
    CHECK(freed < 4 * kWhole);
    CHECK(c(Item::gradients) == near(4 * kWhole - freed));
    c.plan.micro_batch = c.plan.global_batch = 300;  // activations leave more room than gradients need
    CHECK(c(Item::gradients) == -1);
    c = alone();
    c.plan.framework = FrameworkKind::megatron_2024;  // a buffer
    CHECK(c(Item::gradients) == 4 * kWhole);
    c = alone();
    c.plan.gpus = 2, c.plan.global_batch = 6;  // buckets of DistributedDataParallel
    CHECK(c(Item::gradients) == 4 * kWhole);
    c.plan.zero = Zero::gradients;  // shared out, they come while 60 tokens' activations leave more room
    CHECK(c(Item::gradients) == -1);
    c.plan.zero = Zero::weights;
    CHECK(c(Item::gradients) == -1);
    c.plan.zero = Zero::none;
    c.plan.gpus = 4, c.plan.context_parallel = 2;  // the same, of two copies over two GPUs each
    CHECK(c(Item::gradients) == 4 * kWhole);
}

TEST_CASE("by hand: late gradients in 16 bits, of a tied embedding, and beside hardly any activations") {
    const auto beginning = [](const StageMemory<double>& all) {
        return in_group(all, Group::activations) + std::max(all.at_head, all.at_backward);
    };
    Case c = alone();
    c.plan.gradients_in_fp32 = false, c.plan.micro_batch = c.plan.global_batch = 1;
    StageMemory<double> all = c.memory();
    double end = in_group(all, Group::activations) / 6 + all.at_backward - 2 * 12'288;  // the embedding's gradient comes later
    CHECK(end > 0);
    CHECK(c(Item::gradients) == near(2 * kWhole - beginning(all) + end));
    c = alone();
    c.model.tied = true, c.plan.micro_batch = c.plan.global_batch = 2;
    all = c.memory();
    end = in_group(all, Group::activations) / 6 + all.at_backward;  // that of a tied one is there from the start
    CHECK(end > 4 * 12'288);                                        // more than another one of it
    CHECK(c(Item::gradients) == near(4 * (kWhole - 12'288) - beginning(all) + end));
    c = alone();
    c.plan.micro_batch = c.plan.global_batch = c.plan.sequence_length = 1;  // one token: the embedding's gradient is larger than all else
    all = c.memory();
    CHECK(in_group(all, Group::activations) / 6 + all.at_backward < 4 * 12'288);
    CHECK(c(Item::gradients) == 4 * kWhole - beginning(all));
}

TEST_CASE("by hand: an update in the backward pass leaves no gradients") {
    Case c = alone();
    const double without = c(Item::first_backward) + c(Item::head);
    c.plan.optimizer_in_backward = true;
    CHECK(c(Item::gradients) == -1);
    CHECK(c(Item::first_backward) + c(Item::head) == without);  // where a matrix and its gradient stand
    c.plan.global_batch = 6;                                    // gradients are added up: nothing can be updated before
    CHECK(c(Item::gradients) == 4 * kWhole);
}

TEST_CASE("by hand: weights on the host") {
    Case c = alone();
    c.plan.gpus = 2, c.plan.global_batch = 12, c.plan.zero = Zero::weights;  // two micro-batches each
    CHECK(c(Item::weights) == kWhole);
    const double gathered = c(Item::gathered_weights);
    c.plan.weights_offload = true;
    CHECK(c(Item::weights) == -1);
    CHECK(c(Item::gathered_weights) == gathered);
    CHECK(c.memory().host_bytes == kWhole);
    CHECK(c.memory().pcie_bytes == 2 * 2 * kWhole);  // two passes of two micro-batches
    c.plan.optimizer_offload = 1;
    CHECK(c.memory().host_bytes == kWhole + 16 * kWhole / 2);
    c.plan.zero = Zero::optimizer;  // not shared out: they stay
    CHECK(c(Item::weights) == 2 * kWhole);
}

TEST_CASE("by hand: weights in 32 bits that stay on the GPU") {
    Case c = dense();  // two copies share the states
    c.plan.optimizer_offload = 0.25;
    CHECK(c(Item::master_weights) == 0.75 * 4 * kFirst / 2);
    const double host = c.memory().host_bytes, moved = c.memory().pcie_bytes;
    c.plan.offload_master_weights = Habit::off;
    CHECK(c(Item::master_weights) == 4 * kFirst / 2);
    CHECK(c(Item::moments) == 0.75 * 8 * kFirst / 2);
    CHECK(c.memory().host_bytes == host);
    CHECK(c.memory().pcie_bytes == moved + 0.25 * 2 * kFirst / 2);  // they come back in 32 bits
    c.plan.optimizer_offload = 1;
    CHECK(c(Item::master_weights) == 4 * kFirst / 2);
    CHECK(c(Item::moments) == -1);
}

TEST_CASE("by hand: LitGPT's copies of heads, and FlashAttention's gradients of grouped ones") {
    Case c = alone();
    CHECK(c(Item::qkv_activations) == 6 * 2 * 60.0 * (6 + 2 * 2) * 10);
    c.plan.framework = FrameworkKind::litgpt;
    CHECK(c(Item::qkv_activations) == 6 * 2 * 60.0 * 3 * 6 * 10);
    c.model.kv_heads = 6;
    CHECK(c(Item::qkv_activations) == 6 * 2 * 60.0 * 5 * 6 * 10);
    c = alone();
    c.plan.micro_batch = c.plan.global_batch = 1;
    c.model.ffn = 2;  // so that attention is the larger part
    const double before = c.memory().at_backward;
    c.plan.attention = Attention::flash;
    CHECK(c.memory().at_backward == before + 2 * 20.0 * 2 * 6 * 10);
    c.model.kv_heads = 6;  // nothing to expand; keys and values themselves have four heads more, and so has the largest matrix
    CHECK(c.memory().at_backward == before + 2 * 20.0 * 2 * 4 * 10 + 2 * 48.0 * 2 * 4 * 10);
}
