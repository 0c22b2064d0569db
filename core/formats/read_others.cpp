// Programs whose files look like those of others, by what is their own: torchtune (recipes/configs), OLMo (configs/official), OLMo-core
// (src/scripts), Levanter (config), LitGPT (config_hub), verl (trainer/config), NeMo RL (examples/configs), NeMo Automodel
// (examples), PaddleNLP (llm/config).
#include "formats/read_others.h"

#include <algorithm>

#include "formats/read_jobs.h"

namespace fourfold {

namespace {

struct OtherProgram {
    std::string_view name;
    std::initializer_list<std::string_view> keys;  // of which so many stand in its files
    int least;
    std::string_view value_of = "", value = "";  // or a key like this with a value that begins so
};
const OtherProgram kOtherPrograms[] = {
    {"torchtune", {}, 1, "*_component_", "torchtune."},
    {"OLMo-core", {}, 1, "*_CLASS_", "olmo_core."},
    {"NeMo Automodel", {}, 1, "*_target_", "nemo_automodel."},
    {"verl", {"actor_rollout_ref.*"}, 3},
    {"NeMo RL", {"policy.megatron_cfg.*", "policy.dtensor_cfg.*", "policy.train_global_batch_size"}, 2},
    {"OLMo", {"model.d_model", "model.embedding_size", "model.max_sequence_length", "model.mlp_ratio", "model.mlp_hidden_size"}, 3},
    {"Levanter",
     {"trainer.mp", "trainer.train_batch_size", "trainer.tensor_parallel_axes", "trainer.fsdp_axis", "trainer.per_device_parallelism"},
     2},
    {"LitGPT", {"train.max_seq_length", "train.global_batch_size", "train.micro_batch_size", "checkpoint_dir", "model_name", "devices"}, 4},
    {"PaddleNLP", {"tensor_parallel_degree", "pipeline_parallel_degree", "sharding_parallel_degree", "sharding"}, 2},
};

// What only their own programs and modules are called.
constexpr std::pair<std::string_view, std::string_view> kOtherWords[] = {
    {"tune run ", "torchtune"},        {"import torchtune", "torchtune"}, {"from torchtune", "torchtune"},
    {"from olmo_core", "OLMo-core"},   {"import olmo_core", "OLMo-core"}, {"litgpt pretrain", "LitGPT"},
    {"litgpt finetune", "LitGPT"},     {"import levanter", "Levanter"},   {"levanter.main", "Levanter"},
    {"levanter/main", "Levanter"},     {"verl.trainer", "verl"},          {"import colossalai", "ColossalAI"},
    {"from colossalai", "ColossalAI"}, {"from paddlenlp", "PaddleNLP"},   {"nemo_automodel", "NeMo Automodel"},
};

}  // namespace

std::string_view other_program(const std::vector<Entry>& entries) {
    for (const OtherProgram& program : kOtherPrograms) {
        const auto says = [&](const Entry& entry) {
            const auto* const text = entry.value.get_ptr<const Json::string_t*>();
            return text != nullptr && matches(program.value_of, entry.key) && text->starts_with(program.value);
        };
        if (!program.value.empty() && std::any_of(entries.begin(), entries.end(), says)) return program.name;
        if (program.keys.size() > 0 && count_like(entries, program.keys) >= program.least) return program.name;
    }
    return "";
}

std::string_view other_program(std::string_view text) {
    const auto found = std::find_if(std::begin(kOtherWords), std::end(kOtherWords),
                                    [&](const auto& one) { return text.find(one.first) != std::string_view::npos; });
    return found == std::end(kOtherWords) ? "" : found->second;
}

}  // namespace fourfold
