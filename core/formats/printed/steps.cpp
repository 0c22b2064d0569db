// Lines that say how long a step took. The wordings are those of the programs' own sources: training_log of Megatron-LM and its children,
// torchtitan's MetricsProcessor, nanotron's log of a step, DeepSpeed's ThroughputTimer and its pipeline, the progress bar of NeMo, the
// Trainer of Transformers and ms-swift's words in it, MaxText's metric_logger.py, Composer's SpeedMonitor, torchtune's metric_logging.py,
// OLMo-core's speed_monitor.py, nanoGPT's train.py, build-nanogpt's and modded-nanogpt's, picotron's train.py, llm.c's train_gpt2.cu and
// train_gpt2.py.
#include "formats/printed/line.h"
#include "formats/printed/printed.h"

namespace fourfold {

namespace {

constexpr double kTera = 1e12;

double value_after(std::string_view text, std::string_view key, double thousand = 0) {
    const MaybePrinted found = number_after(text, key, thousand);
    return found && found->value > 0 && found->value < 1e30 ? found->value : 0;
}
std::int64_t iteration_after(std::string_view text, std::string_view key) {
    const MaybePrinted found = number_after(text, key);
    return found && found->value >= 0 && found->value < 1e15 ? static_cast<std::int64_t>(found->value) : -1;
}

// " iteration       10/     500 | consumed samples: … | elapsed time per iteration (ms): 1234.5 | throughput per GPU (TFLOP/s/GPU): 430.1
// |"
PrintedStep megatron_step(std::string_view line) {
    PrintedStep step{.printer = Printer::megatron};
    step.seconds = value_after(line, "elapsed time per iteration (ms)") / 1e3;
    if (step.seconds == 0) step.seconds = value_after(line, "elapsed time per iteration (s)");
    step.flop_per_s_per_gpu = kTera * value_after(line, "throughput per GPU (TFLOP/s/GPU)");
    step.samples_per_s = value_after(line, "samples per second");
    step.iteration = iteration_after(line, "iteration ");
    step.global_batch = value_after(line, "global batch size");
    step.tokens_per_s_per_gpu = value_after(line, "(tgs)");
    const bool of_neox = has(line, "samples/sec");
    if (of_neox) step.samples_per_s = value_after(line, "samples/sec");
    if (step.flop_per_s_per_gpu == 0) step.flop_per_s_per_gpu = kTera * value_after(line, of_neox ? "flops per GPU" : "TFLOPs");
    if (of_neox) step.printer = Printer::neox;
    return step;
}

// "iteration: 5 / 20 | … | elapsed_time_per_iteration_ms: 2.1K | tokens_per_sec: 498K | tokens_per_sec_per_gpu: 31.1K | …"
PrintedStep nanotron_step(std::string_view line) {
    PrintedStep step{.printer = Printer::nanotron};
    step.seconds = value_after(line, "elapsed_time_per_iteration_ms", 1e3) / 1e3;
    step.tokens_per_s = value_after(line, "tokens_per_sec:", 1e3);
    step.tokens_per_s_per_gpu = value_after(line, "tokens_per_sec_per_gpu", 1e3);
    step.flop_per_s_per_gpu = kTera * value_after(line, "model_tflops_per_gpu", 1e3);
    step.iteration = iteration_after(line, "iteration");
    step.global_batch = value_after(line, "global_batch_size", 1e3);
    return step;
}

// "step: 10  loss:  7.1  …  memory: 47.6GiB(50.1%)  tps: 3,372  tflops: 175.70  mfu: 17.76%"; "wps" in older ones
PrintedStep torchtitan_step(std::string_view line) {
    PrintedStep step{.printer = Printer::torchtitan};
    step.iteration = iteration_after(line, "step:");
    if (step.iteration < 0) return step;
    step.tokens_per_s_per_gpu = value_after(line, " tps:");
    if (step.tokens_per_s_per_gpu == 0) step.tokens_per_s_per_gpu = value_after(line, " wps:");
    step.flop_per_s_per_gpu = kTera * value_after(line, "tflops:");
    return step;
}

// "… global_step: 1 | reduced_train_loss: 1.653 | train_step_timing in s: 2.505"; with "=" in a progress bar
PrintedStep nemo_step(std::string_view line) {
    PrintedStep step{.printer = Printer::nemo};
    step.seconds = value_after(line, "train_step_timing in s");
    step.iteration = iteration_after(line, "global_step");
    step.global_batch = value_after(line, "global_batch_size");
    return step;
}

// "Step Time : 3.90s GPU utilization: 209.5MODEL_TFLOP/s/GPU"
PrintedStep bridge_step(std::string_view line) {
    PrintedStep step{.printer = Printer::bridge};
    step.seconds = value_after(line, "Step Time :");
    step.flop_per_s_per_gpu = kTera * value_after(line, "GPU utilization:");
    return step;
}

// "epoch=0/micro_step=20/global_step=10, RunningAvgSamplesPerSec=27.3, CurrSamplesPerSec=27.4, MemAllocated=…"
PrintedStep deepspeed_step(std::string_view line) {
    PrintedStep step{.printer = Printer::deepspeed};
    step.samples_per_s = value_after(line, "CurrSamplesPerSec");
    if (step.samples_per_s == 0) step.samples_per_s = value_after(line, "SamplesPerSec");
    step.iteration = iteration_after(line, "global_step");
    return step;
}

// "{'train_runtime': 120.5, 'train_samples_per_second': 42.5, 'train_steps_per_second': 0.664, …}"
PrintedStep trainer_step(std::string_view line) {
    PrintedStep step{.printer = Printer::trainer, .whole_run = true};
    step.samples_per_s = value_after(line, "train_samples_per_second");
    const double rate = value_after(line, "train_steps_per_second");
    if (rate > 0) step.seconds = 1 / rate;
    if (rate > 0 && step.samples_per_s == 0) step.tokens_per_s = value_after(line, "train_tokens_per_second");
    return step;
}

// "steps: 10 loss: 2.3412 iter time (s): 4.961 samples/sec: 12.900" of DeepSpeed's pipeline
PrintedStep pipeline_step(std::string_view line) {
    PrintedStep step{.printer = Printer::deepspeed};
    step.seconds = value_after(line, "iter time (s)");
    step.samples_per_s = value_after(line, "samples/sec");
    step.iteration = iteration_after(line, "steps:");
    return step;
}

// "'train_speed(iter/s)': 0.102, …, 'global_step/max_steps': '20/2000'", later "(s/it)" too: over all steps so far
PrintedStep swift_step(std::string_view line) {
    PrintedStep step{.printer = Printer::trainer, .whole_run = true};
    step.seconds = value_after(line, "train_speed(s/it)");
    const double rate = value_after(line, "train_speed(iter/s)");
    if (rate > 0) step.seconds = 1 / rate;
    step.iteration = iteration_after(line, "global_step/max_steps");
    return step;
}

// "completed step: 12, seconds: 4.231, TFLOP/s/device: 412.3, Tokens/s/device: 7744.1, …"
PrintedStep maxtext_step(std::string_view line) {
    PrintedStep step{.printer = Printer::other};
    step.seconds = value_after(line, " seconds:");
    step.flop_per_s_per_gpu = kTera * value_after(line, "TFLOP/s/device");
    step.tokens_per_s_per_gpu = value_after(line, "Tokens/s/device");
    step.iteration = iteration_after(line, "completed step");
    return step;
}

// "Train throughput/batches_per_sec: 0.1850", each metric in a line of its own
PrintedStep composer_step(std::string_view line) {
    PrintedStep step{.printer = Printer::other};
    const double rate = value_after(line, "throughput/batches_per_sec");
    if (rate > 0) step.seconds = 1 / rate;
    return step;
}

// "Step 20 | loss:1.0452 lr:0.0003 tokens_per_second_per_gpu:1821.2 peak_memory_active:61.2 …" of torchtune;
// "throughput/device/TPS=9,712" of OLMo-core
PrintedStep tune_step(std::string_view line) {
    PrintedStep step{.printer = Printer::other};
    step.tokens_per_s_per_gpu = value_after(line, "tokens_per_second_per_gpu:");
    step.iteration = iteration_after(line, "Step ");
    return step;
}
PrintedStep olmo_step(std::string_view line) {
    PrintedStep step{.printer = Printer::other};
    step.tokens_per_s_per_gpu = value_after(line, "throughput/device/TPS=");
    return step;
}

// "iter 100: loss 3.4012, time 231.41ms, mfu 41.20%"
PrintedStep nanogpt_step(std::string_view line) {
    PrintedStep step{.printer = Printer::other};
    step.seconds = value_after(line, " time ") / 1e3;
    step.iteration = iteration_after(line, "iter ");
    return step;
}
// "step   80/19560 | loss 7.512386 (+nanz)| norm 1.1204 (+nanz)| lr 6.86e-05 | 4187.58 ms | 32.2% bf16 MFU | 125356 tok/s" of llm.c;
// "… | lr 6.00e-04 | (330.12 ms | 1588123 tok/s)" of its train_gpt2.py
PrintedStep llmc_step(std::string_view line) {
    PrintedStep step{.printer = Printer::other};
    if (!has(line, "step") || !has(line, " ms |")) return step;
    step.seconds = value_after(line, has(line, "| (") ? "| (" : "|") / 1e3;
    step.tokens_per_s = value_after(line, has(line, "MFU |") ? "MFU |" : " ms |");
    step.iteration = iteration_after(line, "step");
    return step;
}
// "step   10 | loss: 6.52 | … | dt: 330.12ms | tok/sec: 1588123.45"
PrintedStep rebuilt_step(std::string_view line) {
    PrintedStep step{.printer = Printer::other};
    if (has(line, "ms |")) step.seconds = value_after(line, "dt:") / 1e3;
    step.tokens_per_s = value_after(line, "tok/sec:");
    step.iteration = iteration_after(line, "step");
    return step;
}
// "step:140/1770 train_time:19670ms step_avg:140.50ms", over all steps so far
PrintedStep modded_step(std::string_view line) {
    PrintedStep step{.printer = Printer::other, .whole_run = true};
    step.seconds = value_after(line, "step_avg:") / 1e3;
    step.iteration = iteration_after(line, "step:");
    return step;
}

// "[rank 0] Step: 2     | Loss: 10.5 | Global batch size:    524K | Tokens/s:  71.02K | Tokens/s/GPU:   8.88K | …"; the batch is in tokens
PrintedStep picotron_step(std::string_view line) {
    PrintedStep step{.printer = Printer::other};
    step.iteration = iteration_after(line, "Step:");
    step.tokens_per_s = value_after(line, "Tokens/s:", 1e3);
    step.tokens_per_s_per_gpu = value_after(line, "Tokens/s/GPU:", 1e3);
    return step;
}

struct Wording {
    std::string_view has;
    PrintedStep (*read)(std::string_view line);
};
constexpr Wording kWordings[] = {
    {"elapsed time per iteration (", megatron_step},
    {"elapsed_time_per_iteration_ms", nanotron_step},
    {"tflops:", torchtitan_step},
    {"train_step_timing in s", nemo_step},
    {"SamplesPerSec", deepspeed_step},
    {"train_runtime", trainer_step},
    {"train_speed(", swift_step},
    {"iter time (s)", pipeline_step},
    {"completed step:", maxtext_step},
    {"throughput/batches_per_sec", composer_step},
    {"tokens_per_second_per_gpu:", tune_step},
    {"throughput/device/TPS=", olmo_step},
    {"ms, mfu ", nanogpt_step},
    {" tok/s", llmc_step},
    {"ms | tok/sec:", rebuilt_step},
    {"ms step_avg:", modded_step},
    {"Step Time :", bridge_step},
    {"| Tokens/s/GPU:", picotron_step},
    {" wps:", torchtitan_step},
    {" tps:", torchtitan_step},
};

// A progress bar shows the same step again and again.
bool says_again(const PrintedStep& step, const PrintedRun& run) {
    if (run.steps.empty() || step.iteration < 0) return false;
    const PrintedStep& last = run.steps.back();
    return last.iteration == step.iteration && last.rank == step.rank && last.printer == step.printer && last.seconds == step.seconds &&
           last.printer == Printer::nemo;
}

}  // namespace

void read_printed_step(const PrintedLines& line, PrintedRun& run) {
    for (const Wording& wording : kWordings) {
        if (!has(line.text, wording.has)) continue;
        PrintedStep step = wording.read(line.text);
        step.line = line.number;
        step.rank = line.rank;
        if (step.seconds + step.tokens_per_s + step.tokens_per_s_per_gpu + step.flop_per_s_per_gpu + step.samples_per_s == 0) continue;
        run.saw(step.printer);
        if (!says_again(step, run)) run.steps.push_back(step);
        return;
    }
}

}  // namespace fourfold
