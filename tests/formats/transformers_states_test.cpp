// In how many bits the programs on Hugging Face's Trainer train, and Liger's kernels: files of our own.
#include "settings.h"

using namespace fourfold;
using tests::fate;
using tests::first_of;
using tests::some;

// What is said of them.
static std::string states(const std::string& text) {
    const Json job = first_of(text);
    std::string all;
    for (const char* field : {"framework", "moments", "master_weights", "gradients_in_fp32", "activation_fusion", "loss"})
        if (const std::string one = some(job, {field}); !one.ends_with("?")) all += (all.empty() ? "" : " ") + one;
    return all;
}

TEST_CASE("Axolotl loads weights in 16 bits and updates them so, unless something is shared out or frozen") {
    const std::string text =
        "base_model = \"meta-llama/Llama-3.1-8B\"\nsequence_len = 2048\nmicro_batch_size = 1\ngradient_accumulation_steps = 1\n"
        "learning_rate = 1.0e-5\nbf16 = \"auto\"\n";
    CHECK(states(text) == "framework=\"transformers\" moments=\"16-bit\" master_weights=\"off\" gradients_in_fp32=false");
    CHECK(states(text + "optimizer = \"adamw_bnb_8bit\"\n") ==
          "framework=\"transformers\" moments=\"8-bit\" master_weights=\"off\" gradients_in_fp32=false");
    CHECK(states(text + "adapter = \"lora\"\nlora_r = 16\n") == "framework=\"transformers\"");
}

TEST_CASE("Axolotl's plugins bring kernels: cut cross entropy unless it is switched off, Liger's by their keys") {
    const std::string text =
        "base_model = \"meta-llama/Llama-3.1-8B\"\nsequence_len = 2048\nmicro_batch_size = 1\ngradient_accumulation_steps = 1\n"
        "learning_rate = 1.0e-5\nbf16 = true\nadapter = \"lora\"\n";
    const auto kernels = [&](const std::string& more) { return some(first_of(text + more), {"activation_fusion", "loss"}); };
    const std::string cut = "plugins = [\"axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin\"]\n",
                      liger = "plugins = [\"axolotl.integrations.liger.LigerPlugin\"]\n", off = "activation_fusion=? loss=?",
                      keys = "liger_rms_norm = true\nliger_glu_activation = true\nliger_fused_linear_cross_entropy = true\n";
    CHECK(kernels(cut) == "activation_fusion=? loss=\"tiled\"");
    CHECK(fate(first_of(text + cut), "plugins") == "used 8");
    CHECK(kernels(cut + "cut_cross_entropy = true\n") == "activation_fusion=? loss=\"tiled\"");
    CHECK(kernels(cut + "cut_cross_entropy = false\n") == off);
    CHECK(kernels("cut_cross_entropy = true\n") == off);  // nobody reads it
    CHECK(kernels(liger) == off);
    CHECK(kernels(liger + keys) == "activation_fusion=\"on\" loss=\"tiled\"");
    CHECK(kernels(liger + "liger_rms_norm = true\n") == off);
    CHECK(kernels(liger + "liger_fused_linear_cross_entropy = true\n") == "activation_fusion=? loss=\"tiled\"");
    CHECK(kernels(keys) == off);
}

TEST_CASE("LLaMA-Factory trains in 32 bits unless pure_bf16 says otherwise") {
    const std::string text =
        "model_name_or_path = \"meta-llama/Llama-3.1-8B\"\nfinetuning_type = \"full\"\ncutoff_len = 2048\n"
        "per_device_train_batch_size = 1\ngradient_accumulation_steps = 1\nbf16 = true\n";
    CHECK(states(text) == "framework=\"transformers\"");
    CHECK(states(text + "pure_bf16 = true\n") ==
          "framework=\"transformers\" moments=\"16-bit\" master_weights=\"off\" gradients_in_fp32=false");
    CHECK(states(text + "enable_liger_kernel = true\n") == "framework=\"transformers\" activation_fusion=\"on\" loss=\"tiled\"");
}

TEST_CASE("an empty list of FSDP's words, or an empty text, is no FSDP") {
    const std::string text =
        "model_name_or_path = \"Qwen/Qwen2.5-7B\"\nper_device_train_batch_size = 1\ngradient_accumulation_steps = 2\n"
        "max_seq_length = 2048\nbf16 = true\nfsdp = ";
    for (const char* none : {"[]", "\"\"", "null"}) {
        const Json job = tests::first_of(text + none + "\n", {{"gpus", "8"}});
        CHECK(tests::some(job, {"zero"}) == R"(zero="none")");
        CHECK(tests::fate(job, "fsdp") == "no_number 6");
    }
    CHECK(tests::some(tests::first_of(text + "[\"full_shard\"]\n"), {"zero"}) == R"(zero="weights")");
    const Json axolotl = tests::first_of(
        "base_model = \"Qwen/Qwen2.5-7B\"\nsequence_len = 2048\nmicro_batch_size = 1\ngradient_accumulation_steps = 1\nfsdp = []\n");
    CHECK(tests::some(axolotl, {"zero"}) == R"(zero="none")");
}
