// llm.c (train_gpt2.cu of 2024: error_usage() and main(); llmc/zero.cuh) and its train_gpt2.py: GPT-2 and GPT-3 by their depth or width,
// data parallel with ZeRO-1, everything that is computed in bf16.
#include <algorithm>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

namespace fourfold {

int llmc_likeness(const std::vector<Entry>& entries) { return count_like(entries, {"llmc.*"}); }

// gpt2_set_hyperparameters(), gpt3_set_hyperparameters(), and the files that hold such models.
struct LlmcModel {
    std::string_view name, file;
    std::int64_t layers, hidden, heads;
};
static constexpr LlmcModel kLlmcModels[] = {
    {"d6", "", 6, 384, 6},
    {"d12", "124M", 12, 768, 12},
    {"d24", "350M", 24, 1'024, 16},
    {"d24", "355M", 24, 1'024, 16},
    {"d36", "774M", 36, 1'280, 20},
    {"d48", "1558M", 48, 1'600, 25},
    {"d60", "", 60, 1'920, 30},
    {"d72", "", 72, 2'880, 30},
    {"d84", "", 84, 3'456, 36},
    {"gpt3:c384", "", 6, 384, 6},
    {"gpt3:c768", "", 12, 768, 12},
    {"gpt3:c1024", "", 24, 1'024, 16},
    {"gpt3:c1536", "", 24, 1'536, 16},
    {"gpt3:c2048", "", 24, 2'048, 16},
    {"gpt3:c2560", "", 32, 2'560, 32},
    {"gpt3:c4096", "", 32, 4'096, 32},
    {"gpt3:c12288", "", 96, 12'288, 96},
};

static void read_llmc_model(Import& in) {
    std::string name = in.text("llmc.e", "model").value_or("gpt2_124M_bf16.bin");
    if (in.hangs("model")) return;
    if (name.starts_with("gpt2:")) name.erase(0, 5);
    const auto row = std::find_if(std::begin(kLlmcModels), std::end(kLlmcModels), [&](const LlmcModel& one) {
        return one.name == name || (!one.file.empty() && name.find(joined({"gpt2_", one.file})) != std::string::npos);
    });
    if (row == std::end(kLlmcModels)) return void(take_named_model(in, "llmc.e"));  // "gpt2-xl" of the program in Python
    const Json config = {{"model_type", "gpt2"},
                         {"hidden_size", row->hidden},
                         {"num_hidden_layers", row->layers},
                         {"num_attention_heads", row->heads},
                         {"max_position_embeddings", row->name.starts_with("gpt3") ? 2'048 : 1'024},
                         {"vocab_size", 50'304}};  // 50,257, padded
    take_sizes(in, config);
}

// "-d" counts tokens: of all GPUs, for one step.
static void read_llmc_batch(Import& in) {
    const std::int64_t micro = in.whole("llmc.b", "micro_batch").value_or(4),
                       length = in.whole("llmc.t", "sequence_length").value_or(1'024);
    if (micro < 1 || micro > 65'536 || length < 1 || length > 16'777'216) return;
    in.job["micro_batch"] = micro;
    in.job["sequence_length"] = length;
    const std::int64_t copies = in.copies(), tokens = in.whole("llmc.d", "global_batch").value_or(-1);
    if (tokens <= 0) {
        if (copies > 0) in.job["global_batch"] = micro * copies;
    } else if (tokens % length == 0 && (copies == 0 || tokens / length % (micro * copies) == 0)) {
        in.job["global_batch"] = tokens / length;
    } else {
        in.refused.push_back(Text("import_plan.refused.batch").with("batch", tokens / length).with("micro", micro).with("copies", copies));
    }
}

static void read_llmc_types(Import& in) {
    const std::string type = lower_case(in.text("llmc.PRECISION", "precision").value_or("bf16"));
    if (type == "fp32" || type == "float32")
        in.notes.emplace_back("import_plan.note.fp32_named");
    else
        in.job["precision"] = type.find('b') == std::string::npos ? "fp16" : "bf16";
}

void read_llmc(Import& in) {
    in.mark_all({"llmc.i",  "llmc.j",  "llmc.o",  "llmc.n",  "llmc.nk", "llmc.nm", "llmc.y",  "llmc.x",  "llmc.k",     "llmc.l", "llmc.u",
                 "llmc.q",  "llmc.c",  "llmc.sl", "llmc.sg", "llmc.v",  "llmc.m",  "llmc.s",  "llmc.g",  "llmc.h",     "llmc.a", "llmc.f",
                 "llmc.ge", "llmc.pr", "llmc.pg", "llmc.pm", "llmc.pi", "llmc.ps", "llmc.pf", "llmc.pp", "one_process"},
                Fate::no_number);
    read_llmc_model(in);
    if (const auto all = in.whole("llmc.pn", "gpus"); all && *all > 0 && *all < 1'000'000 && !in.job.contains("gpus"))
        in.job["gpus"] = *all;
    if (in.has("one_process") && !in.job.contains("gpus") && !in.hangs("gpus")) in.job["gpus"] = 1;
    fill_pytorch(in);
    in.ask("gpus");
    read_llmc_batch(in);
    const bool python = in.has("llmc.python");
    // Stages above 1 are not there, and leave everything whole.
    in.job["zero"] = in.whole("llmc.z", "zero") == 1 ? "optimizer" : "none";
    if (in.has("llmc.python"))  // weights in 32 bits, autocast
        in.mark("llmc.python", Fate::no_number), in.job["attention"] = in.on("llmc.flash", "attention") ? "flash" : "plain",
                                                 in.job["loss"] = "plain";
    else
        in.job["loss"] = "te_fused", in.job["gradients_in_fp32"] = false;  // in place, in the type of the weights
    if (in.has("llmc.USE_CUDNN")) in.job["attention"] = in.on("llmc.USE_CUDNN", "attention") ? "cudnn" : "plain";
    if (in.has("llmc.w") && !in.on("llmc.w", "master_weights")) in.job["master_weights"] = "off";
    in.job["recompute"] = "none";
    const std::int64_t again = in.whole("llmc.r", "recompute").value_or(python ? 0 : 1);
    if (again > 0) in.notes.push_back(Text("import_plan.note.not_counted").with("key", again > 1 ? "-r 2: gelu, layernorm" : "-r 1: gelu"));
    read_llmc_types(in);
    ask_rest(in);
}

}  // namespace fourfold
