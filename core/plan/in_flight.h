// How many layers, checkpoints and micro-batches are alive at the moment that a Stage describes (stage.h): in doubles its counts; traced,
// the formulas that give the same numbers (in_flight.cpp).
#pragma once
#include "base/formula.h"
#include "plan/stage.h"

namespace fourfold {

// In doubles, as a search asks for it: read off the stage.
template <class N>
class Alive {
 public:
    Alive(const Model&, const Plan&, const Stage& stage) : s_(stage) {}
    // Layers that keep their activations, times micro-batches in flight.
    N layers() const { return s_.dense.alive + s_.experts.alive; }
    N dense_layers() const { return s_.dense.alive; }
    N expert_layers() const { return s_.experts.alive; }
    // Kept inputs of recomputed units, times micro-batches in flight.
    N checkpoints() const { return s_.checkpoints; }
    // Layers times micro-batches whose weight gradient is still to come.
    N waiting() const { return s_.dense.waiting + s_.experts.waiting; }
    N waiting_dense_layers() const { return s_.dense.waiting; }
    N waiting_expert_layers() const { return s_.experts.waiting; }
    // Micro-batches in flight in the chunk of the embedding.
    N first_chunk() const { return s_.first_chunk; }

 private:
    const Stage& s_;
};

// The same, each with the formula of the schedule: K = n_l A, layers of a chunk times micro-batches in flight in all chunks.
template <>
class Alive<Traced> {
 public:
    Alive(const Model& model, const Plan& plan, const Stage& stage);
    Traced layers() const;
    Traced dense_layers() const;
    Traced expert_layers() const;
    Traced checkpoints() const;
    Traced waiting() const;
    Traced waiting_dense_layers() const;
    Traced waiting_expert_layers() const;
    Traced first_chunk() const;

 private:
    using Held = double (*)(const Stage& piece);  // with one micro-batch in it

    Traced in_flight() const;
    Traced times(const Symbol& sum, double known, Held of_piece, const std::vector<std::int32_t>& counts, const Traced& held,
                 const Traced& micro_batches) const;
    Traced alive_in(const Symbol& sum, const Part* kind, double known, Held of_piece) const;
    Traced waiting_in(const Symbol& sum, const Part* kind, double known, Held of_piece) const;

    const Plan& plan_;
    const Stage& stage_;
    const bool in_chunks_;
    std::vector<Stage> pieces_;  // empty where the moment is not one of the schedule's own
    InFlight counts_;
    Traced in_flight_, waiting_;
};

}  // namespace fourfold
