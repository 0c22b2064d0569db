// nanoGPT (train.py and configurator.py of 2023 on): settings as names at the margin of a file in Python, or as --name=value. Data parallel
// alone; its steps are of all GPUs together.
#include <algorithm>

#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

namespace fourfold {

int nanogpt_likeness(const std::vector<Entry>& entries) {
    if (count_like(entries, {"nanogpt"}) > 0) return 1;
    const bool flags = std::any_of(entries.begin(), entries.end(), [](const Entry& one) { return one.shown.starts_with('-'); });
    const int own = count_like(entries, {"eval_interval", "eval_iters", "lr_decay_iters", "always_save_checkpoint", "init_from",
                                         "wandb_log", "decay_lr", "warmup_iters", "max_iters"});
    const int sizes = count_like(entries, {"n_layer", "n_embd", "block_size", "gradient_accumulation_steps", "batch_size"});
    return !flags && own > 2 && sizes > 0 &&
                   count_like(entries, {"micro_batch_size", "per_device*", "model_name*", "base_model", "*.*"}) == 0
               ? own
               : 0;
}

// Of the data sets that it prepares itself, those of characters have a vocabulary of their own; of others it stands in a file beside them.
static std::int64_t nanogpt_words(Import& in) {
    constexpr std::int64_t kPadded = 50'304, kOfCharacters = 65;  // data/shakespeare_char
    if (const auto words = in.whole("vocab_size", "model"); words && *words > 0) return *words;
    const std::string data = in.text("dataset", "model").value_or(in.has("settings_file") ? "" : "openwebtext");
    if (data == "openwebtext" || data == "shakespeare") return kPadded;
    if (data == "shakespeare_char") return kOfCharacters;
    return answered_words(in).value_or(0);
}

static void read_nanogpt_sizes(Import& in) {
    const auto size = [&](const char* key, std::int64_t usual) { return in.whole(key, "model").value_or(usual); };
    const bool bias = in.on("bias", "model");
    const Json config = {{"model_type", "gpt2"},
                         {"hidden_size", size("n_embd", 768)},
                         {"num_hidden_layers", size("n_layer", 12)},
                         {"num_attention_heads", size("n_head", 12)},
                         {"max_position_embeddings", size("block_size", 1'024)},
                         {"vocab_size", nanogpt_words(in)},
                         {"attention_bias", bias},
                         {"mlp_bias", bias}};
    if (in.hangs("model")) return;
    if (config["vocab_size"] == 0) return in.asked.emplace_back("vocab_size"), void();
    take_sizes(in, config);
}

// From nothing, from a GPT-2 by its name, or from a checkpoint, which says the sizes.
static void read_nanogpt_model(Import& in) {
    const std::string from = in.text("init_from", "model").value_or("scratch");
    if (from.starts_with("gpt2")) {
        take_named_model(in, "init_from");
        return in.mark_all({"n_layer", "n_head", "n_embd", "bias", "vocab_size", "dataset"}, Fate::no_number);
    }
    const bool sizes = in.has("n_layer") && in.has("n_head") && in.has("n_embd");  // else a file that is not here may say one
    if (sizes || (from == "scratch" && !in.has("settings_file"))) read_nanogpt_sizes(in);
    if (from != "scratch")
        in.notes.push_back(Text("import_plan.note.file").with("file", from == "resume" ? "ckpt.pt" : from.substr(0, 200)));
}

// "'bfloat16' if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else 'float16'" is its own.
static void read_nanogpt_type(Import& in) {
    for (Entry& entry : in.entries)
        if (entry.key == "dtype" && entry.open.size() == 1 && entry.open[0].find("is_bf16_supported") != std::string::npos) {
            in.become(entry, "dtype", "bfloat16");
            entry.open.clear();
        }
    const std::string type = in.text("dtype", "precision").value_or("bfloat16");
    if (in.hangs("precision")) return;
    if (type == "float32")
        in.notes.emplace_back("import_plan.note.fp32_named");
    else if (type == "float16" || type == "bfloat16")
        in.job["precision"] = type == "float16" ? "fp16" : "bf16";
    else
        in.mark("dtype", Fate::unknown);
}

// "gradient_accumulation_steps //= ddp_world_size", which it is to divide.
static void read_nanogpt_batch(Import& in) {
    constexpr std::int64_t kMost = 1'048'576;
    const std::int64_t micro = in.whole("batch_size", "micro_batch").value_or(12),
                       steps = in.whole("gradient_accumulation_steps", "global_batch").value_or(40);
    if (micro < 1 || micro > 65'536 || steps < 1 || steps > kMost) return;
    if (!in.hangs("micro_batch")) in.job["micro_batch"] = micro;
    if (in.hangs("micro_batch") || in.hangs("global_batch")) return;
    if (in.has("settings_file") && !in.has("gradient_accumulation_steps")) return;
    in.whole("batch_size", "global_batch");
    in.job["global_batch"] = micro * steps;
    const std::int64_t copies = in.copies();
    if (copies > 0 && steps % copies != 0)
        in.refused.push_back(Text("import_plan.refused.batch").with("batch", micro * steps).with("micro", micro).with("copies", copies));
}

void read_nanogpt(Import& in) {
    in.mark_all({"out_dir",      "eval_i*", "log_interval", "always_save*", "wandb*",   "tensorboard*", "learning_rate",  "max_iters",
                 "weight_decay", "beta1",   "beta2",        "grad_clip",    "decay_lr", "warmup_iters", "lr_decay_iters", "min_lr",
                 "backend",      "device",  "compile",      "dropout",      "seed",     "nanogpt",      "one_process",    "settings_file"},
                Fate::no_number);
    if (!in.has("max_iters")) in.entries.push_back({"max_iters", "", 600'000, 0, {}, Fate::no_number});
    read_nanogpt_model(in);
    in.job["sequence_length"] = std::clamp<std::int64_t>(in.whole("block_size", "sequence_length").value_or(1'024), 1, 16'777'216);
    if (in.has("one_process") && !in.job.contains("gpus")) in.job["gpus"] = 1;
    fill_pytorch(in);
    in.ask("gpus");
    read_nanogpt_batch(in);
    read_nanogpt_type(in);
    in.job["zero"] = "none";
    in.job["recompute"] = "none";
    in.job["attention"] = "flash";
    in.job["loss"] = "plain";
    if (const auto rule = in.text("optimizer_name", "optimizer"); rule && rule->find("adam") == std::string::npos)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "optimizer_name: " + rule->substr(0, 40)));
    if (in.on("eval_only", "")) refuse_mode(in, "eval_only");
    leave_to_file(in);
    ask_rest(in);
}

}  // namespace fourfold
