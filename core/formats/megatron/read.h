// The arguments of Megatron-LM as a job, whoever wrote them down: a shell script, or YAML with the same names.
#pragma once
#include "formats/entries.h"
#include "model/model.h"

namespace fourfold {

// How many arguments of Megatron-LM that say a size or a split are among the entries.
int megatron_likeness(const std::vector<Entry>& entries);

// What those who use Megatron Core under the same names take otherwise than its own program.
struct MegatronDefaults {
    bool silent = false;  // what is not said comes from a recipe that is not there: no field is set
    double offload_fraction = 1, dropout = 0.1;
    const char* sharding = "optim_grads_params";  // of data_parallel_sharding_strategy
    bool needs_precision = true;                  // without --bf16 and --fp16 it trains in 32 bits
    bool own_checks = false;                      // it is that program, with all that it refuses
    bool sizes = true;                            // the model's sizes are all there, or Megatron-LM's defaults hold
    bool experts = true;                          // without a number of experts there are none
};

// Reads the plan and the model; gpus, where known, is in import.job already.
void read_megatron(Import& import, const MegatronDefaults& defaults = {});
// Chunks and layers of each stage; and, once the batch is known and checked, how the layers are shared out.
void read_stages(Import& import, const MegatronDefaults& defaults);
void read_split(Import& import, const MegatronDefaults& defaults);
// Whether some entry says the field; what a recipe leaves out is not 1.
bool is_said(const Import& import, std::string_view field);
// What forks of Megatron-LM call otherwise, in its names; and the LoRA of one of them.
void translate_forks(Import& import);
void read_fork_adapters(Import& import);
std::int64_t accumulated(Import& import);  // micro-batches of a step that a fork says instead of the batch; else 1; 0: open
bool is_llm_recipes(const std::vector<Entry>& entries);
// Arguments that take no value.
bool is_megatron_switch(std::string_view key);
// Arguments that are known and change no number here.
void mark_without_number(Import& import);
// Whether activations of some layers lie in host memory: a number of layers says so alone, and NeMo has a switch beside it.
bool offloads_layers(const Import& import);
// "dist_muon" shares its state out without another argument; newer releases call that "muon" with the distributed optimizer.
bool is_muon(const Import& import, bool shared);
// What that program stops at besides.
void check_megatron_config(Import& import);
// A vocabulary of -1 is none; what was asked for takes its place.
void answer_vocabulary(Import& import, const std::map<std::string, std::string>& answers);
// "([0]*3+[1]*58)", "1" or [0, 1, 1]: the layers that are dense, nothing where it says another number of layers.
std::optional<Json> dense_layers(const Json& value, std::int64_t layers);
// Of a model whose layers have a single part each, what they are; false: some of it is not counted.
bool read_hybrid(Import& import, Json& config);
// Attention to a window, in all layers or in some; learned sinks, which a model of the catalogue has.
void read_window(Import& import, Json& config);
bool have_same_windows(const Model& known, const Model& said);
// The model alone: import.config.
void read_megatron_model(Import& import);

}  // namespace fourfold
