// What single operations cost: matrix multiplications, traffic over links. Seconds, bytes, bytes per second.
#pragma once
#include <algorithm>

#include "base/formula.h"
#include "time/constants.h"
#include "time/machine.h"

namespace fourfold {

// The three multiplications of a weight matrix: forward, and the gradients of its input and of itself.
enum class Pass { forward, input, weight };

// Seconds of single operations, over the number type (formula.h): double in the search, Traced for the plan on the page.
// Of experts: one group of a multiplication each.
inline constexpr Part kExpertUp{"x", "expert_in"}, kExpertDown{"y", "expert_out"};
// Before and behind all experts, where they read a latent.
inline constexpr Part kLatentIn{"m", "experts_in"}, kLatentOut{"n", "experts_out"};
inline bool is_grouped(const Part& matrix) { return &matrix == &kExpertUp || &matrix == &kExpertDown; }

template <class N>
class Cost {
 public:
    Cost(const Machine& machine, const Timing& timing) : machine_(machine), timing_(timing) {}  // keeps references

    N of(double Machine::*number) const { return shown(number, machine_); }
    N of(double Timing::*constant) const { return shown(constant, timing_); }
    static N of(const Constant& constant) { return quantity<N>(constant); }
    N gpus_per_node() const { return quantity<N>({"n_g", "gpus_per_node", "gpus"}, static_cast<double>(machine_.gpus_per_node)); }
    N memory() const { return named<N>({"H", "kernel_bandwidth", "bytes_per_s"}, of(kKernelBandwidth) * of(&Machine::memory)); }
    // Bytes of a single operation, over those that would take its time where it was measured.
    [[gnu::noinline]] N computed(ComputedPart which) const {
        const N part = of(kComputedPart[which]);
        return 1 - part + part * of(&Machine::memory) / (of(&Machine::processors) * of(kComputedAt));
    }
    // In kernels that do little but read and write (the optimizer, unfused attention).
    N stream() const { return of(kStreamBandwidth) * of(&Machine::memory); }

    // ---- bytes per second that messages reach
    // What the reader measured stands for the nominal rate times the share of it that collectives usually reach: neither a site's nor a
    // framework's share, nor a calibrated one, counts then. What reaches another share than collectives keeps its ratio to them, up to
    // the nominal rate.
    // Of a GPU in a collective of so many within its node, from the first to the last of which are `reach` GPUs.
    N link_rate(const N& members) const { return link_rate(members, value_of(members)); }
    N link_rate(const N& members, double reach) const {
        return machine_.measured_link > 0 ? ring_of(&Machine::measured_link, members)
                                          : of(&Timing::link) * ring_of(nominal_link(reach), members);
    }
    N share_of_link(const N& share, const N& members) const {  // a share of that
        return machine_.measured_link > 0 ? share * ring_of(&Machine::measured_link, members)
                                          : share * of(&Timing::link) * ring_of(nominal_link(value_of(members)), members);
    }
    // Between two GPUs of a node: of a send in a pipeline of so many GPUs, and of the step of a ring that reaches so far.
    N send_link_rate(double reach) const {
        const N share = of(kSendRate);
        return machine_.measured_link > 0 ? share * pair_of(&Machine::measured_link)
                                          : share * of(&Timing::link) * pair_of(nominal_link(reach));
    }
    N ring_link_rate(double reach) const {
        const N share = of(&Timing::ring_link);
        return machine_.measured_link > 0 ? share / of(&Timing::link) * pair_of(&Machine::measured_link)
                                          : share * pair_of(nominal_link(reach));
    }
    // Of a node in a collective over several; a share of that; and of messages with a share of their own.
    N network_rate() const { return machine_.measured_node > 0 ? of(&Machine::measured_node) : of(&Timing::network) * of(&Machine::node); }
    N network_rate(const N& share) const {
        return machine_.measured_node > 0 ? share * of(&Machine::measured_node) : share * of(&Timing::network) * of(&Machine::node);
    }
    N network_rate(double Timing::*own) const {
        using std::min;
        return machine_.measured_node > 0 ? min(of(own) / of(&Timing::network) * of(&Machine::measured_node), of(&Machine::node))
                                          : of(own) * of(&Machine::node);
    }
    // Of a node in a tensor-parallel collective over several.
    N spanning_rate() const { return timing_.spanning_network > 0 ? network_rate(&Timing::spanning_network) : network_rate(); }
    // Whether what leaves a node goes over what joins GPUs in it, so many of them, too.
    bool shares_wire(double reach) const { return machine_.over_pcie || (machine_.topology == Topology::bridges && reach > 2); }
    N network_latency() const { return machine_.measured_latency > 0 ? of(&Machine::measured_latency) : of(&Timing::network_latency); }

    // C[M x columns] += A[M x K] B[K x columns] in 16 bits: whole waves of output tiles over the processors, or the traffic to memory,
    // whichever is slower. `rate` for large ones, `output_bytes` per element of C; `matrix` names the weights.
    N gemm(Pass pass, const Part& matrix, const N& rate, const N& M, const N& columns, const N& K, double output_bytes = 2) const;
    // What a multiplication reads, and the gradient of what it writes, where they have 16 bits and are multiplied in 8.
    N cast(const N& seconds, const N& rows, const N& columns, bool frozen = false) const {
        return machine_.multiplies_in_8_bits ? seconds + of(kCastBytes[frozen ? 1 : 0]) * rows * columns / memory() : seconds;
    }
    N rate() const {
        const N rate = of(&Timing::gemm) * of(&Machine::peak);
        const bool alike = !machine_.multiplies_in_8_bits || timing_.eight_bits == 1;
        return named<N>({"R_g", "gemm_rate", "flop_per_s"}, alike ? rate : of(&Timing::eight_bits) * rate);
    }
    // Of attention and logits, whose numbers have 16 bits whatever the plan's precision.
    N peak_16() const { return of(machine_.multiplies_in_8_bits ? &Machine::peak_16 : &Machine::peak); }
    N rate_16() const {
        if (!machine_.multiplies_in_8_bits) return rate();
        return named<N>({"R_h", "gemm_rate_16", "flop_per_s"}, of(&Timing::gemm) * peak_16());
    }

    // An all-gather or reduce-scatter of `bytes` (whole size) among `members` GPUs that lie in one node, or side by side in several.
    N collective(const N& bytes, const N& members) const { return collective(bytes, members, value_of(members)); }
    N spanning(const N& members) const;  // its latency in several nodes
    // Of a message that goes between nodes as well as in them, such a one never being faster than in a node alone.
    N slower_latency(const N& between) const {
        using std::max;
        return max(between, of(&Timing::link_latency));
    }
    // The same among `members` GPUs that lie `stride` apart, with as many such groups side by side: they share a node's network.
    N strided_collective(const N& bytes, const N& members, const N& stride) const;

 private:
    N collective(const N& bytes, const N& members, double reach) const;
    N slower(const N& moved, const N& between, double within) const;
    N mesh_gpus() const { return quantity<N>({"n_j", "mesh_gpus", "gpus"}, static_cast<double>(machine_.mesh_gpus)); }
    // A bridge joins two neighbours; in what reaches further, the slowest hop goes over PCIe, as to the host (NVIDIA/nccl-tests, issue 178:
    // of A100 in pairs two reach 208 GB/s in an all-reduce, three 20).
    double Machine::*nominal_link(double reach) const {
        return machine_.topology == Topology::bridges && reach > 2 ? &Machine::host : &Machine::link;
    }
    // Of the link between two GPUs of a node; and of one GPU's links in a ring of so many: without a switch only those to its members
    // count.
    N pair_of(double Machine::*link) const { return machine_.topology != Topology::mesh ? of(link) : of(link) / (mesh_gpus() - 1); }
    N ring_of(double Machine::*link, const N& members) const {
        const bool whole = machine_.topology != Topology::mesh || value_of(members) >= static_cast<double>(machine_.mesh_gpus);
        return whole ? of(link) : of(link) * (members - 1) / (mesh_gpus() - 1);
    }
    template <class Numbers>
    static N shown(double Numbers::*which, const Numbers& numbers) {
        if constexpr (std::is_same_v<N, Traced>)
            return Traced::symbol(symbol_of(which), numbers.*which);
        else
            return numbers.*which;
    }
    const Machine& machine_;
    const Timing& timing_;
};
extern template class Cost<double>;
extern template class Cost<Traced>;

}  // namespace fourfold
