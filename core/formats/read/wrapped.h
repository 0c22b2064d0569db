// What stands around a configuration: a record of Weights & Biases, a job of Kubernetes.
#pragma once
#include <vector>

#include "formats/entries.h"
#include "formats/read/jobs.h"

namespace fourfold {

// "lr: {desc: null, value: 1e-4}": the values alone, under the keys of the program that wrote them. False: it is no such record.
bool unwrap_wandb(std::vector<Entry>& entries);
// The sizes of a config.json beside the arguments of the Trainer, which such a record holds both of, as the job's model.
bool take_config_beside(Import& import);

// ArcticTraining's file, in the words of the Trainer. False: it is none.
bool unwrap_arctic(std::vector<Entry>& entries);

// Containers with what they start, how many of them there are, and their GPUs; nothing where none starts a training.
std::optional<ReadJobs> read_cluster_job(const std::vector<Entry>& entries, const NamesSet& set);

}  // namespace fourfold
