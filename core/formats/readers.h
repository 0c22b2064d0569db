// The readers of lists of settings, a likeness and a reader for each format.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "formats/entries.h"
#include "formats/settings.h"

namespace fourfold {

// Several lists of Megatron-LM's arguments in one file are several jobs, with what stands beside them in each; anything else is one.
std::vector<std::pair<std::string, std::vector<Entry>>> parts_of(std::vector<Entry> entries);

int megatron_yaml_likeness(const std::vector<Entry>& entries);
void read_megatron_yaml(Import& import);
int primus_likeness(const std::vector<Entry>& entries);
void read_primus(Import& import);

int bridge_likeness(const std::vector<Entry>& entries);
void read_bridge(Import& import);
int nemo2_likeness(const std::vector<Entry>& entries);
void read_nemo2(Import& import);
int nemo1_likeness(const std::vector<Entry>& entries);
void read_nemo1(Import& import);

int nanotron_likeness(const std::vector<Entry>& entries);
void read_nanotron(Import& import);
int torchtitan_likeness(const std::vector<Entry>& entries);
void read_torchtitan(Import& import);

int deepspeed_likeness(const std::vector<Entry>& entries);
void read_deepspeed(Import& import);
int accelerate_likeness(const std::vector<Entry>& entries);
void read_accelerate(Import& import);
bool is_own_trainer(const std::vector<Entry>& entries);
int axolotl_likeness(const std::vector<Entry>& entries);
void read_axolotl(Import& import);
int llama_factory_likeness(const std::vector<Entry>& entries);
void read_llama_factory(Import& import);
// Whether a length of sequences is there, whatever a program on PyTorch calls it.
bool says_length(const std::vector<Entry>& entries);
int transformers_likeness(const std::vector<Entry>& entries);
void read_transformers(Import& import);
int foundry_likeness(const std::vector<Entry>& entries);
void read_foundry(Import& import);
int olmo_likeness(const std::vector<Entry>& entries);
void read_olmo(Import& import);
int maxtext_likeness(const std::vector<Entry>& entries);
void read_maxtext(Import& import);
int neox_likeness(const std::vector<Entry>& entries);
void read_neox(Import& import);

int torchtune_likeness(const std::vector<Entry>& entries);
void read_torchtune(Import& import);
// Whether one of its programs trains: "eleuther_eval" does not.
bool trains_with_tune(std::string_view recipe);
int verl_likeness(const std::vector<Entry>& entries);
void read_verl(Import& import);
int nemo_rl_likeness(const std::vector<Entry>& entries);
void read_nemo_rl(Import& import);
int levanter_likeness(const std::vector<Entry>& entries);
void read_levanter(Import& import);
int litgpt_likeness(const std::vector<Entry>& entries);
void read_litgpt(Import& import);
int nanogpt_likeness(const std::vector<Entry>& entries);
void read_nanogpt(Import& import);
int xtuner_likeness(const std::vector<Entry>& entries);
void read_xtuner(Import& import);
int internevo_likeness(const std::vector<Entry>& entries);
void read_internevo(Import& import);
int colossal_likeness(const std::vector<Entry>& entries);
void read_colossal(Import& import);
int llmc_likeness(const std::vector<Entry>& entries);
void read_llmc(Import& import);

int picotron_likeness(const std::vector<Entry>& entries);
void read_picotron(Import& import);
int automodel_likeness(const std::vector<Entry>& entries);
void read_automodel(Import& import);
int lm_engine_likeness(const std::vector<Entry>& entries);
void read_lm_engine(Import& import);
int hyperpod_likeness(const std::vector<Entry>& entries);
void read_hyperpod(Import& import);

// What Megatron-SWIFT takes unsaid ("megatron sft": its `way`); and what it adds to Megatron-LM's arguments, which are read already.
void fill_megatron_swift(Import& import, const std::string& way, std::int64_t line);
void add_megatron_swift(Import& import);

// What DeepSpeed adds to Megatron-LM's arguments, which are read already; `document`: its configuration, where the script holds it.
void add_deepspeed(Import& import, const std::vector<Entry>& document);

}  // namespace fourfold
