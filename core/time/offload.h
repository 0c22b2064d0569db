// The update of the optimizer's states that lie outside of the GPU (optimizer_offload): gradients go to the host, its processors run Adam,
// weights come back; states on NVMe are read and written besides.
//   J. Ren et al.: ZeRO-Offload, arXiv 2101.06840;  S. Rajbhandari et al.: ZeRO-Infinity, arXiv 2104.07857
//   A. Maurya et al.: Deep Optimizer States, arXiv 2410.21316: every k-th group of parameters is updated on the GPU, where its states go
//     and come back. Their equation for k could not be read: the one here follows from the balance of both sides.
#pragma once
#include <algorithm>
#include <cmath>

#include "memory/host.h"
#include "plan/framework.h"
#include "plan/shares.h"
#include "time/time_symbols.h"

namespace fourfold {

// ---- the host
// Byte/s that the Adam of one GPU's process reaches in host memory, from three logs with Adams of unlike bytes:
//   Deep Optimizer States, sample log of DeepSpeed's ZeRO-3 offload, one GPU: 5.95e9 parameters * 30 bytes / 3.98 s = 45e9, weights sent
//     back in that time, and 51e9 without
//   NVIDIA-NeMo/RL pull request 3628, 0.6B on one H100, from 50 % to 100 % offloaded: 0.298e9 * 80 bytes / 0.462 s = 52e9
//   Megatron-Bridge, Qwen3-30B-A3B on 16 H100, all offloaded and overlapped: 1.92e9 * 80 bytes / (3.877 - 0.996) s = 53e9
// Several processes of a node do not slow each other down: eight need 400e9, two sockets of DDR5-4800 have 614e9. (assumed)
inline constexpr Constant kHostAdamRate{{"H_a", "host_adam_rate", "bytes_per_s"}, 50e9};
// Bytes of host memory per parameter. In one loop (DeepSpeed's CPUAdam, PyTorch's fused AdamW): reads gradient, weight and two averages in
// 32 bits, writes the latter three, and the weight in 16: 30. As single operations (torch.optim.AdamW without "fused", which Megatron-Core
// runs, optimizer/__init__.py): decay 8, lerp 12, mul 8, addcmul 12, sqrt 8, div 8, add 8, addcdiv 16: 80. (counted)
inline constexpr Constant kHostAdamBytes[] = {{{"i_a", "host_adam_bytes", "bytes"}, 80}, {{"i_a", "host_adam_bytes", "bytes"}, 30}};
// Seconds for a gradient that leaves in 16 bits and becomes one of 32 bits on the host, one tensor after the other, from memory that is not
// pinned: PyTorch converts there whatever goes from a GPU to its host (ATen/native/cuda/Copy.cpp). From the same log of DeepSpeed: a
// backward pass of 4.746 s, about 0.62 s of it (three forward passes) computing, for 5.95e9 parameters. DeepSpeed converts on the GPU since
// pull request 6962 (2025).
inline constexpr Constant kHostCast{{"G_c", "host_cast", "seconds"}, 0.69e-9};
// Part of the nominal rate between GPU and host that copies of pinned memory reach. (assumed)
inline constexpr Constant kHostLink{{"e_p", "host_link_share", ""}, 0.8};
// Weight and two averages in 32 bits, one way. (counted)
inline constexpr Constant kStateBytes{{"i_t", "state_bytes", "bytes"}, 12};
// Read and written: states both ways, and the gradient, which DeepSpeed writes in the backward pass and reads in the update, in 32 bits
// (runtime/swap_tensor/partitioned_optimizer_swapper.py). (counted)
inline constexpr Constant kNvmeBytes{{"i_v", "nvme_bytes", "bytes"}, 32};

template <class N>
class HostUpdate : TimeSymbols<N> {
 public:
    HostUpdate(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing) {}

    // Seconds of a step, of a GPU that updates so many parameters.
    N seconds(const N& updated) const {
        const N offloaded =
            named<N>({"P_o", "offloaded_parameters", ""}, number("o", "optimizer_on_host", "", p_.optimizer_offload) * updated);
        return offloaded * (p_.optimizer_offload_overlap == OffloadOverlap::none ? one_after_the_other() : overlapped());
    }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number;
    using TimeSymbols<N>::on_, TimeSymbols<N>::h_;
    static N each(const char* letter, const char* meaning, const N& value) { return named<N>({letter, meaning, "seconds"}, value); }
    bool on_nvme() const { return p_.optimizer_offload_target == OffloadTarget::nvme; }
    N link() const { return on_.of(kHostLink) * on_.of(&Machine::host); }

    // ---- seconds per parameter
    N gradient_out() const {
        const bool on_host = row_of(p_.framework).casts_on_host && p_.optimizer_offload_overlap == OffloadOverlap::none && !on_nvme();
        using std::max;
        const N sent = gradient_bytes(p_) / link();
        return each("G_o", "gradient_to_host", on_host ? max(on_.of(kHostCast), sent) : sent);
    }
    N adam() const {
        return each("A_o", "host_adam", on_.of(kHostAdamBytes[row_of(p_.framework).fused_host_adam ? 1 : 0]) / on_.of(kHostAdamRate));
    }
    N weight_in() const { return each("W_o", "weight_from_host", returned_bytes(p_) / link()); }
    // The GPUs of a node share its drives.
    N nvme() const {
        const N sharing = number("G_n", "gpus_of_node", "gpus", as_double(std::min(p_.gpus, p_.gpus_per_node)));
        return each("V_o", "nvme_traffic", on_.of(kNvmeBytes) * sharing / on_.of(&Machine::nvme));
    }

    N one_after_the_other() const {
        const N all = gradient_out() + adam() + weight_in();
        return on_nvme() ? all + nvme() : all;
    }
    N overlapped() const {
        using std::max;
        const N update = p_.optimizer_offload_overlap == OffloadOverlap::interleaved ? interleaved() : beneath();
        const N all = max(gradient_out(), update);
        return on_nvme() ? max(all, nvme()) : all;
    }
    N beneath() const {
        using std::max;
        return max(adam(), weight_in());
    }
    // k - 1 groups on the host while the states of one go to the GPU and back, at most so many that the host is the slower side. Both take
    // from the rate of the host's memory.
    N interleaved() const {
        using std::ceil, std::min;
        const N host = adam() + weight_in();
        const N gpu = each("E_o", "group_on_gpu", on_.of(kStateBytes) / link() + on_.of(kUpdate) / on_.stream());
        const N k = named<N>({"k_o", "interleaving", "groups"}, 1 + ceil(gpu / host));
        const N moved = each("M_o", "group_through_host", 2 * on_.of(kStateBytes) / on_.of(kHostAdamRate));
        return min(beneath(), ((k - 1) * host + moved) / k);
    }
};

}  // namespace fourfold
