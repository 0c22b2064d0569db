// What the readers of PyTorch trainers share: data parallelism with ZeRO or FSDP, batches by copy and accumulation, modes that are not
// counted.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "formats/entries.h"
#include "model/model.h"

namespace fourfold {

// Micro-batch and batch of a step: `micro` sequences on every copy at once, `steps` times, or `batch` in all. The job's degrees and GPUs
// are known before.
struct BatchKeys {
    std::string_view micro, steps, batch;
};
void read_copies_batch(Import& import, const BatchKeys& keys);

// A step's batch, the micro-batch and the steps, all said, tell how many copies there are, and with the degrees how many GPUs: what runs on
// another number is refused (DeepSpeed, runtime/config.py, _batch_assertion; gpt-neox, neox_args.py, calculate_derived).
void read_world(Import& import, const BatchKeys& keys, std::initializer_list<std::string_view> degrees);

// The words of a tokenizer that no text names, where the reader answered how many.
std::optional<std::int64_t> answered_words(const Import& in);

// Whether some setting whose key matches one of the patterns has a value.
bool says_any(const Import& import, std::initializer_list<std::string_view> patterns);

// "auto" leaves a value to another file: it is not said.
void drop_auto(Import& import);

// Stage 0 to 3 of ZeRO; or a path such as "ds_z3_offload_config.json" whose name tells it.
void read_zero_stage(Import& import, std::string_view key);
void read_zero_path(Import& import, std::string_view key);
// ZeRO's part of a DeepSpeed configuration: its stage, offload, and what is not counted of it.
void read_zero_block(Import& import);
// What DeepSpeed's own file says, behind what a command says: ZeRO; batches and types where the command has none of its own.
void add_deepspeed_file(std::vector<Entry>& entries, const std::vector<Entry>& file);
// How DeepSpeed adds up gradients, once precision and stage are known. Without ZeRO, bf16 has an optimizer that divides its fp32 state
// among the copies all the same (runtime/engine.py, _do_optimizer_sanity_check and get_data_types; runtime/bf16_optimizer.py).
void settle_deepspeed_types(Import& import);
// FSDP's sharding_strategy or, from version 2 on, reshard_after_forward, below a prefix.
void read_fsdp(Import& import, std::string_view prefix, std::string_view version_key);
// What "accelerate launch" says in front of a Trainer's program. False where it says nothing about shards. What the program says itself
// about its types counts before it (TrainingArguments.__post_init__).
bool read_launched_sharding(Import& import);
void read_launched_type(Import& import);

// A mode that is recognised and not counted, such as LoRA.
void refuse_mode(Import& import, std::string_view mode);
// "dpo", "GRPO", "online_dpo": TRL's ways to train on what is preferred or by rewards, which take more models and sequences.
bool trains_otherwise(std::string_view way);
extern const std::span<const std::string_view> kTrainedOtherwise;
void refuse_adapters(Import& import, std::initializer_list<std::string_view> keys);

// LoRA: the names of its settings; what is adapted where they do not say it; the rank (PEFT's own is 8).
struct AdapterKeys {
    std::string_view rank, targets, dropout, all;  // the last: a switch for every matrix
    std::uint32_t usual;
    std::int64_t usual_rank = 8;
    bool lists = false;  // the program lists the Linear layers of a model itself, where all are adapted
};
void read_adapters(Import& import, const AdapterKeys& keys);
// The model that is known so far, or was answered, where it has experts; nullptr: it has none, or is not known.
const Model* model_with_experts(const Import& import);

// bf16, fp16 and fp8 of the Trainer; its optimizer; how frozen weights are stored.
void read_trainer_types(Import& import);
// "flash_attention_2", "sdpa" (PyTorch's own, transformers' default) and "eager".
void read_attention_kernel(Import& import, std::string_view kernel);
void read_trainer_optimizer(Import& import, std::string_view key);
// An optimizer by its class: "torch.optim.AdamW", "bitsandbytes.optim.PagedAdamW8bit".
void read_optimizer_class(Import& import, std::string_view key);
void read_frozen(Import& import, bool four_bits, bool eight_bits, std::string_view scales_of_scales);
// The setting names a file that is not here, and says the rest.
void note_file(Import& import, std::string_view key, Text note = "import_plan.note.file");
// A setting that the program does not start without.
void refuse_without(Import& import, std::string_view program, std::string_view key);
// Two settings that the program does not take together.
void refuse_both(Import& import, std::string_view one, std::string_view other);

// A file that is not here says how many micro-batches there are, where no entry does.
void leave_batch(Import& import);
// Whether the arguments override a file that is not here: what they do not say, it does.
bool leave_to_file(Import& import);

// Degrees that the format cannot say, or that are absent, are 1; the stack is PyTorch.
void fill_pytorch(Import& import);
// The same, and the stack is the Trainer of Hugging Face's transformers.
void fill_transformers(Import& import);
// Where nothing is shared out, or a loop of one's own shares out what it loaded, and all learns: weights of 16 bits are updated as they
// are, and so are their averages.
bool updates_loaded_weights(const Import& import);
void train_in_16_bits(Import& import, std::string_view type = "bf16");
// The words of OpenRLHF, of ms-swift 2 and of llama-recipes, in the Trainer's.
void translate_rlhf(Import& import);
void translate_llama_recipes(Import& import);
void translate_old_swift(Import& import);
// Another program's word, and the Trainer's.
using WordRow = std::pair<std::string_view, std::string_view>;
void rename_entry(Entry& entry, std::span<const WordRow> rows);
// Objects in the place of a file.
void spread_objects(Import& import);
// Liger's kernels, all of them or one by one.
void read_liger(Import& import);
// Asks for what every training needs.
void ask_rest(Import& import);

}  // namespace fourfold
