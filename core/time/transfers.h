// What single operations cost: matrix multiplications, traffic over links. Seconds, bytes, bytes per second.
#pragma once
#include <cstdint>

#include "base/formula.h"
#include "model/hardware.h"
#include "plan/framework.h"
#include "plan/plan.h"

namespace fourfold {

// The rates that a plan runs at, from the profiles of GPU and cluster.
struct Machine {
    Architecture architecture = Architecture::hopper;
    double peak = 0;        // FLOP/s of a GPU in the plan's precision, dense
    double peak_16 = 0;     // the same in 16 bits, in which fp8 leaves attention and logits
    double memory = 0;      // byte/s of HBM, from the data sheet
    double link = 0;        // byte/s of a GPU to the others of its node, one direction
    double node = 0;        // byte/s of a node to the network, one direction, all adapters
    double host = 0;        // byte/s between a GPU and its host, one direction
    double processors = 0;  // streaming multiprocessors
    std::int64_t gpus_per_node = 8;
    bool has_switch = true;
    const char* peak_format = "bf16";  // of which number format `peak` is
    bool multiplies_in_8_bits = false;
};

// `cluster` may be null: then one network adapter of 400 Gbit/s (Hopper and newer) or 200 Gbit/s (Ampere) per GPU and a switch in the node.
Machine machine_of(const Gpu& gpu, const Cluster* cluster, const Plan& plan);

// Constants of the time model that are measured, not derived. Which runs they were fitted to is said where they are given (cost.cpp).
struct Timing {
    double gemm;                      // asymptotic rate of a matrix multiplication over the peak
    double tile_fill;                 // K-equivalent of filling and draining a tile's pipeline
    double wave_mix;                  // 0: a partly filled wave of tiles costs a whole one, 1: nothing
    double small_tile;                // rate of 128 x 128 tiles over that of 256 x 128
    double attention;                 // rate of flash attention's forward pass over the peak
    double attention_backward;        // of the backward over the forward pass
    double attention_tail;            // longest block, in blocks
    double element_wise;              // bytes of element-wise work over what is counted
    double cross_entropy;             // bytes per logit, forward and backward
    double link, link_latency;        // share of a link's rate that a collective reaches; seconds
    double network, network_latency;  // the same between nodes
    double tensor_exposed;            // part of overlapped tensor-parallel traffic that is felt in the backward pass
    double tensor_overlap_exposed;    // with tp-comm-overlap
    double data_exposed;              // of overlapped gradient and weight traffic
    double context_correction;        // rescaling partial attention results, over what is counted
    double ring_link, ring_latency;   // share of the link between two GPUs of a node that a ring reaches; seconds a step
    double ring_network;              // share of the network that a ring reaches
    double ring_network_exposed;      // of rings between nodes, overlapped: what is felt
    double host_layer;                // seconds of CPU per layer
    double fixed;                     // seconds per step
    double straggler;                 // per doubling of nodes
    double stall;                     // seconds per micro-batch and group of GPUs, the site's noise
    double pipeline;                  // share of the network that point-to-point transfers reach
    double accumulation;              // bytes per parameter and micro-batch for adding up gradients
    double micro_batch;               // seconds per micro-batch
};
Timing timing_of(const Machine& machine, const Cluster* cluster, const Plan& plan, AttentionKernel attention);

// The letter of each of these numbers, with its meaning and unit; for a constant, whether it is fitted or measured.
const Symbol& letter_of(double Machine::*number);
const Symbol& letter_of(double Timing::*constant);

// The three multiplications of a weight matrix: forward, and the gradients of its input and of itself.
enum class Pass { forward, input, weight };

// Seconds of single operations, over the number type (formula.h): double in the search, Traced for the plan on the page.
template <class N>
class Cost {
 public:
    Cost(const Machine& machine, const Timing& timing) : machine_(machine), timing_(timing) {}  // keeps references

    N of(double Machine::*number) const { return lettered(number, machine_); }
    N of(double Timing::*constant) const { return lettered(constant, timing_); }
    N gpus_per_node() const { return quantity<N>({"n_g", "gpus_per_node", "gpus"}, static_cast<double>(machine_.gpus_per_node)); }
    N memory() const { return named<N>({"H", "kernel_bandwidth", "bytes_per_s"}, 0.85 * of(&Machine::memory)); }
    // Bytes per second between two GPUs of a node; and of one GPU in a ring of so many: without a switch only the links to its members
    // count.
    N pair_link() const { return machine_.has_switch ? of(&Machine::link) : of(&Machine::link) / (gpus_per_node() - 1); }
    N ring_link(const N& members) const {
        const bool whole = machine_.has_switch || value_of(members) >= static_cast<double>(machine_.gpus_per_node);
        return whole ? of(&Machine::link) : of(&Machine::link) * (members - 1) / (gpus_per_node() - 1);
    }

    // C[M x columns] += A[M x K] B[K x columns] in 16 bits: whole waves of output tiles over the processors, or the traffic to memory,
    // whichever is slower. `rate` for large ones, `output_bytes` per element of C; `matrix` names the weights.
    N gemm(Pass pass, const Part& matrix, const N& rate, const N& M, const N& columns, const N& K, double output_bytes = 2) const;
    N rate() const { return named<N>({"R_g", "gemm_rate", "flop_per_s"}, of(&Timing::gemm) * of(&Machine::peak)); }
    // Of attention and logits, whose numbers have 16 bits whatever the plan's precision.
    N peak_16() const { return of(machine_.multiplies_in_8_bits ? &Machine::peak_16 : &Machine::peak); }
    N rate_16() const {
        if (!machine_.multiplies_in_8_bits) return rate();
        return named<N>({"R_h", "gemm_rate_16", "flop_per_s"}, of(&Timing::gemm) * peak_16());
    }

    // An all-gather or reduce-scatter of `bytes` (whole size) among `members` GPUs that lie in one node, or side by side in several.
    N collective(const N& bytes, const N& members) const;

 private:
    template <class Numbers>
    static N lettered(double Numbers::*which, const Numbers& numbers) {
        if constexpr (std::is_same_v<N, Traced>)
            return Traced::symbol(letter_of(which), numbers.*which);
        else
            return numbers.*which;
    }
    const Machine& machine_;
    const Timing& timing_;
};
extern template class Cost<double>;
extern template class Cost<Traced>;

}  // namespace fourfold
