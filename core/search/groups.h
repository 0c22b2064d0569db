// The walk over the candidates of a space: which of them are legal, degree by degree, so that a broken rule is asked once for all that it
// stops.
#pragma once
#include <cstdint>
#include <vector>

#include "search/candidates.h"
#include "time/layer_time.h"

namespace fourfold {

// With every field that is open closed to what needs nothing else.
Plan closed(const Plan& given);

// Plans of one TP, CP, micro-batch and sequence parallelism, with the pipelines that divide the GPUs.
struct GroupOfPlans {
    Plan plan;
    std::vector<std::int64_t> pipelines;
    double bound = 0;  // seconds, whatever else is chosen: for the search
};
// `base`: the space's plan, closed. With `smallest`, of every TP and CP the smallest micro-batch of each pipeline alone; and, where whole
// gradients are added up, larger ones to the first that is alone in its step.
std::vector<GroupOfPlans> groups_of_plans(const SearchSpace& space, const Candidates& all, const Plan& base, bool smallest);

// Degrees of expert and expert tensor parallelism beside a group's.
struct ExpertWay {
    std::int64_t expert = 1, expert_tensor = 1;
};
std::vector<ExpertWay> expert_ways(const Candidates& all, const Model& model, const Plan& plan);
bool keeps_expert_rules(const Model& model, const Plan& plan);

// Whether a pipeline with all degrees and its form set breaks no rule; and none of those that ask neither for micro-batches nor for
// anything that is not its form's.
bool keeps_form_rules(const Model& model, Plan plan);
bool is_legal_pipeline(const Model& model, const Plan& plan);
// Gives a plan of that form its layout; false where it is the equal split, or none exists.
bool lay_out(const Model& model, Plan& plan, const PipelineForm& form, const LayerTimes& times);

}  // namespace fourfold
