// A model by the names that configurations give it: of repositories, recipes and their mirrors.
#include <doctest/doctest.h>

#include "formats/named_model.h"

using namespace fourfold;

namespace {

std::string named(std::string_view name) {
    const CatalogModel* const found = named_model(name);
    return found == nullptr ? "" : found->model.id;
}

struct Row {
    const char *name, *id;
};

}  // namespace

TEST_CASE("law: every model has its id, its repository and its other names for itself" * doctest::test_suite("quality")) {
    std::vector<CatalogModel> all = catalog().models;
    all.insert(all.end(), named_models().list.begin(), named_models().list.end());
    for (const CatalogModel& one : all) {
        CAPTURE(one.model.id);
        const std::string id = one.model.id, last = one.repository.substr(one.repository.rfind('/') + 1);
        CHECK(named(id) == id);
        CHECK(named("mirror/" + id) == id);
        if (!last.empty()) CHECK(named("mirror/" + last) == id);
        if (!other_names().contains(id)) continue;
        for (const Json& name : other_names()[id]) CHECK_MESSAGE(named(name.get<std::string>()) == id, name);
    }
    for (const auto& one : other_names().items()) CHECK_MESSAGE(named(one.key()) == one.key(), one.key());
}

TEST_CASE("law: a link, which holds no lists, asks for the same model as its name") {
    for (const CatalogModel& one : named_models().list) {
        CAPTURE(one.model.id);
        const Json config = as_requested(one);
        Json in_link = Json::object();
        for (const auto& [key, value] : config.items())
            if (!value.is_structured()) in_link[key] = value;
        Problems problems;
        ImportReport report;
        const auto read = read_model(in_link, "", problems, report);
        REQUIRE(read);
        Json again = canonical_config(*read);
        again["_name_or_path"] = config["_name_or_path"];
        CHECK(again == config);
    }
}

TEST_CASE("who trained a model further, in which numbers its file has it, and where it lies change nothing") {
    for (const Row& row : {
             Row{"meta-llama/Meta-Llama-3-8B-Instruct", "llama-3-8b"},
             Row{"unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "llama-3.1-8b"},
             Row{"NousResearch/Llama-2-7b-chat-hf", "llama-2-7b"},
             Row{"./Qwen_Qwen2.5-32B", "qwen2.5-32b"},
             Row{"./other_Qwen2.5-32B", ""},
             Row{"/data/models/Llama-2-70b-hf/", "llama-2-70b"},
             Row{"/data/Llama-2/7B-hf", "llama-2-7b"},
             Row{"~/.cache/huggingface/hub/models--meta-llama--Llama-3.1-8B/snapshots/0e9e39f249a16976918f6564b8830bc894c89659",
                 "llama-3.1-8b"},
             Row{"/hub/models--gpt2/snapshots/607a30d783df", "gpt2-124m"},
             Row{"/hub/models--some--thing-else/snapshots/llama-2-7b", ""},
             Row{"gpt3/20b", "gpt3-20b"},
             Row{"gpt3/175b", "gpt-3-175b"},
             Row{"/models/7b", ""},
             Row{"/ckpt/Qwen2.5-1.5B-Instruct/original", "qwen2.5-1.5b"},
             Row{"google/gemma-2-2b-it", "gemma-2-2b"},
             Row{"google/gemma-2b-it", "gemma-2b"},
             Row{"Qwen/Qwen1.5-7B-Chat", "qwen1.5-7b"},
             Row{"Qwen/Qwen2-7B-Instruct", "qwen2.5-7b"},
             Row{"Qwen/Qwen2.5-Coder-32B-Instruct", "qwen2.5-32b"},
             Row{"Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3-30b-a3b"},
             Row{"deepseek-ai/DeepSeek-R1", "deepseek-v3"},
             Row{"deepseek-ai/DeepSeek-V3-Base", "deepseek-v3"},
             Row{"deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama-3.1-8b"},
             Row{"deepseek-ai/deepseek-coder-6.7b-instruct", "deepseek-coder-6.7b"},
             Row{"deepseek-ai/deepseek-llm-67b-chat", "deepseek-llm-67b"},
             Row{"mistralai/Mistral-7B-Instruct-v0.1", "mistral-7b"},
             Row{"mistralai/Mistral-7B-Instruct-v0.2", "mistral-7b-v0.2"},
             Row{"mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3"},
             Row{"mistralai/Mistral-Nemo-Instruct-2407", "mistral-nemo-12b"},
             Row{"microsoft/Phi-3-mini-128k-instruct", "phi-3.5-mini"},
             Row{"TinyLlama/TinyLlama-1.1B-Chat-v1.0", "tinyllama-1.1b"},
             Row{"codellama/CodeLlama-34b-Instruct-hf", "codellama-34b"},
             Row{"EleutherAI/pythia-1.4b-deduped", "pythia-1.4b"},
             Row{"gpt2", "gpt2-124m"},
             Row{"openai-community/gpt2-xl", "gpt2-1.5b"},
             Row{"mosaicml/mpt-7b-instruct", "mpt-7b"},
             Row{"databricks/dbrx-instruct", "dbrx"},
             Row{"baichuan-inc/Baichuan2-13B-Chat", "baichuan2-13b"},
             Row{"internlm/internlm2_5-7b-chat", "internlm2-7b"},
             Row{"internlm/internlm2_5-1_8b-chat", "internlm2-1.8b"},
             Row{"ibm-granite/granite-3.1-8b-instruct", "granite-3-8b"},
             Row{"CohereForAI/c4ai-command-r-plus-08-2024", "command-r-plus"},
             Row{"CohereForAI/c4ai-command-r-08-2024", "command-r-08-2024"},
             Row{"THUDM/chatglm2-6b", "chatglm3-6b"},
             Row{"THUDM/glm-4-9b-chat", "glm-4-9b"},
             Row{"tiiuae/Falcon3-7B-Instruct", "falcon3-7b"},
             Row{"microsoft/phi-1_5", "phi-1.5"},
             Row{"deepseek-ai/deepseek-moe-16b-chat", "deepseek-moe-16b"},
             Row{"EleutherAI/gpt-j-6B", "gpt-j-6b"},
             Row{"Qwen/Qwen-1_8B-Chat", "qwen1.5-1.8b"},
             Row{"Qwen/Qwen2-57B-A14B-Instruct", "qwen2-57b-a14b"},
             Row{"openlm-research/open_llama_3b_v2", "open-llama-3b"},
             Row{"mistralai/Magistral-Small-2506", "mistral-small-24b"},
         }) {
        CAPTURE(row.name);
        CHECK(named(row.name) == row.id);
    }
}

TEST_CASE("names of recipes and presets") {
    for (const Row& row : {
             Row{"llama3_8b", "llama-3-8b"},
             Row{"llama31_405b", "llama-3.1-405b"},
             Row{"llama3.1-8b", "llama-3.1-8b"},
             Row{"gpt3_175b", "gpt-3-175b"},
             Row{"nemotron4_15b", "nemotron-4-15b"},
             Row{"nemotron4_340b", "nemotron-4-340b"},
             Row{"qwen25_1p5b", "qwen2.5-1.5b"},
             Row{"qwen2_500m", "qwen2.5-0.5b"},
             Row{"qwen3_600m", "qwen3-0.6b"},
             Row{"starcoder2_15b", "starcoder2-15b"},
             Row{"gemma2-9b", "gemma-2-9b"},
             Row{"gemma3-4b", "gemma-3-4b"},
             Row{"deepseek3-671b", "deepseek-v3"},
             Row{"llama4-17b-16e", "llama-4-scout"},
         }) {
        CAPTURE(row.name);
        CHECK(named(row.name) == row.id);
    }
}

TEST_CASE("a size keeps its point, and what is another model is none") {
    CHECK(named("facebook/opt-1.3b") == "opt-1.3b");
    CHECK(named("facebook/opt-13b") == "opt-13b");
    CHECK(named("opt_1p3b") == "opt-1.3b");
    for (const char* name : {"llama-8b", "llama", "hf", "7b", "", "/", "meta-llama", "my-llama-3-8b-finetune", "Qwen2.5-VL-7B-Instruct",
                             "opt-350m", "mamba-2.8b"}) {
        CAPTURE(name);
        CHECK(named(name) == "");
    }
}

TEST_CASE("a model with an encoder is named as such") {
    for (const char* name :
         {"google/flan-t5-xl", "t5-base", "bert-base-uncased", "pretrain_bert.py", "pretrain_t5.py", "FacebookAI/roberta-large"})
        CHECK_MESSAGE(names_an_encoder(name), name);
    for (const char* name : {"pretrain_gpt.py", "meta-llama/Llama-3.1-8B", "gpt2", "Qwen/Qwen2.5-7B", "/data/bert/llama-2-7b"})
        CHECK_MESSAGE(!names_an_encoder(name), name);
}
