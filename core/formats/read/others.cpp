// Programs whose files look like those of others, by what is their own: torchtune without an optimizer (recipes/configs, generation and the
// like), OLMo (configs/official), OLMo-core (src/scripts), Levanter's in Python, NeMo Automodel (examples), PaddleNLP (llm/config).
#include "formats/read/others.h"

#include <algorithm>
#include <cctype>
#include <span>

#include "base/text.h"
#include "formats/python/python.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

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
    {"OLMo", {"model.d_model", "model.embedding_size", "model.max_sequence_length", "model.mlp_ratio", "model.mlp_hidden_size"}, 3},
    {"PaddleNLP", {"tensor_parallel_degree", "pipeline_parallel_degree", "sharding_parallel_degree", "sharding"}, 2},
};

// What only their own programs and modules are called.
constexpr std::pair<std::string_view, std::string_view> kOtherWords[] = {
    {"import torchtune", "torchtune"},    {"from torchtune", "torchtune"},   {"from olmo_core", "OLMo-core"},
    {"import olmo_core", "OLMo-core"},    {"import levanter", "Levanter"},   {"levanter.main", "Levanter"},
    {"levanter/main", "Levanter"},        {"verl.trainer", "verl"},          {"actor_rollout_ref.", "verl"},
    {"import colossalai", "ColossalAI"},  {"from colossalai", "ColossalAI"}, {"from paddlenlp", "PaddleNLP"},
    {"nemo_automodel", "NeMo Automodel"},
};

// Programs and modules that serve, measure or convert a model.
constexpr std::pair<std::string_view, std::string_view> kIdleWords[] = {
    {"vllm serve", "vLLM"},
    {"vllm.entrypoints", "vLLM"},
    {"from vllm", "vLLM"},
    {"vllm bench", "vLLM"},
    {"trtllm-build", "TensorRT-LLM"},
    {"trtllm-serve", "TensorRT-LLM"},
    {"trtllm-bench", "TensorRT-LLM"},
    {"import tensorrt_llm", "TensorRT-LLM"},
    {"from tensorrt_llm", "TensorRT-LLM"},
    {"sglang.launch_server", "SGLang"},
    {"sglang.bench", "SGLang"},
    {"import sglang", "SGLang"},
    {"lm_eval ", "lm-evaluation-harness"},
    {".lm_eval.", "lm-evaluation-harness"},
    {"lm-eval ", "lm-evaluation-harness"},
    {"import lm_eval", "lm-evaluation-harness"},
    {"lighteval ", "LightEval"},
    {"text-generation-launcher", "Text Generation Inference"},
    {"llama-server", "llama.cpp"},
    {"convert_hf_to_gguf", "llama.cpp"},
    {"lmdeploy serve", "LMDeploy"},
    {"tune run ", "torchtune"},  // what trains is read
    {"tune download ", "torchtune"},
    {"litgpt chat", "LitGPT"},
    {"litgpt serve", "LitGPT"},
    {"litgpt generate", "LitGPT"},
    {"litgpt evaluate", "LitGPT"},
    {"litgpt convert", "LitGPT"},
    {"tritonserver", "Triton"},
    {"deepspeed.init_inference", "DeepSpeed-Inference"},
    {"import mii", "DeepSpeed-MII"},
    {"llamafactory-cli export", "llamafactory-cli export"},
    {"llamafactory-cli chat", "llamafactory-cli chat"},
    {"llamafactory-cli api", "llamafactory-cli api"},
    {"swift infer", "swift infer"},
    {"swift export", "swift export"},
    {"swift deploy", "swift deploy"},
    {"import_ckpt(", "import_ckpt"},
    {"export_ckpt(", "export_ckpt"},
};
// Words in the names of programs.
constexpr std::string_view kIdleNames[] = {"inference",  "infer",   "generate",   "generation", "eval",     "evaluate",
                                           "evaluation", "serve",   "server",     "convert",    "merge",    "chat",
                                           "export",     "predict", "preprocess", "tokenize",   "download", "quantize"};
constexpr std::string_view kTrainingNames[] = {"train",      "training", "trainer", "pretrain", "finetune",
                                               "finetuning", "sft",      "tune",    "dpo",      "lora"};

bool holds_word(std::string_view name, std::span<const std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
            const std::size_t end = at + word.size();
            const auto letter = [&](std::size_t i) { return std::isalpha(static_cast<unsigned char>(name[i])) != 0; };
            if ((at == 0 || !letter(at - 1)) && (end == name.size() || !letter(end))) return true;
        }
        return false;
    });
}

}  // namespace

std::string_view other_training(std::string_view file) {
    const std::string name = lower_case(file.substr(file.rfind('/') + 1));
    const auto found = std::find_if(kTrainedOtherwise.begin(), kTrainedOtherwise.end(), [&](const std::string_view& way) {
        return holds_word(name, {&way, 1});
    });
    return found == kTrainedOtherwise.end() ? "" : *found;
}

bool names_no_training(std::string_view file) {
    const std::string name = lower_case(file.substr(file.rfind('/') + 1));
    return holds_word(name, kIdleNames) && !holds_word(name, kTrainingNames);
}

// The last of them in a shell script, where it starts no other.
static std::string_view idle_file(std::string_view text) {
    std::string_view found;
    for (std::size_t end = text.find(".py"); end != std::string_view::npos; end = text.find(".py", end + 1)) {
        std::size_t begin = end;
        while (begin > 0 &&
               (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '_' || text[begin - 1] == '-'))
            --begin;
        found = text.substr(begin, end + 3 - begin);
        if (!names_no_training(found)) return "";
    }
    return found;
}

std::string_view idle_program(std::string_view text) {
    const auto found = std::find_if(std::begin(kIdleWords), std::end(kIdleWords),
                                    [&](const auto& one) { return text.find(one.first) != std::string_view::npos; });
    if (found != std::end(kIdleWords)) return found->second;
    return is_python(text) ? "" : idle_file(text);
}

std::string_view other_program(const std::vector<Entry>& entries) {
    if (torchtune_likeness(entries) > 0 || olmo_likeness(entries) > 0 || automodel_likeness(entries) > 0) return "";
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
