// What single operations cost: matrix multiplications, traffic over links. Seconds, bytes, bytes per second.
#pragma once
#include "base/formula.h"
#include "time/constants.h"
#include "time/machine.h"

namespace fourfold {

// The three multiplications of a weight matrix: forward, and the gradients of its input and of itself.
enum class Pass { forward, input, weight };

// Seconds of single operations, over the number type (formula.h): double in the search, Traced for the plan on the page.
template <class N>
class Cost {
 public:
    Cost(const Machine& machine, const Timing& timing) : machine_(machine), timing_(timing) {}  // keeps references

    N of(double Machine::*number) const { return shown(number, machine_); }
    N of(double Timing::*constant) const { return shown(constant, timing_); }
    static N of(const Constant& constant) { return quantity<N>(constant); }
    N gpus_per_node() const { return quantity<N>({"n_g", "gpus_per_node", "gpus"}, static_cast<double>(machine_.gpus_per_node)); }
    N memory() const { return named<N>({"H", "kernel_bandwidth", "bytes_per_s"}, of(kKernelBandwidth) * of(&Machine::memory)); }
    // In kernels that do little but read and write (the optimizer, unfused attention).
    N stream() const { return of(kStreamBandwidth) * of(&Machine::memory); }
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
    N spanning(const N& members) const;  // its latency in several nodes

 private:
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
