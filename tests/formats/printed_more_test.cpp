// Lines of nanoGPT and llm.c, DeepSpeed's table of states, rocm-smi and amd-smi: the forms of public logs, with numbers of our own.
#include "base/bytes.h"
#include "printed_read.h"

using namespace fourfold;
using namespace fourfold::tests;
using namespace fourfold::tests::printed;

TEST_CASE("steps of nanoGPT, llm.c and what was rebuilt after them") {
    const Json nano = read(
        "step 0: train loss 10.9892, val loss 10.9851\niter 0: loss 10.9886, time 31042.15ms, mfu -100.00%\n"
        "iter 10: loss 9.4512, time 231.41ms, mfu 41.21%\niter 20: loss 8.9021, time 233.41ms, mfu 41.18%\n");
    CHECK(median(nano, "step_seconds") == doctest::Approx(0.23241));
    CHECK(nano["series"][0]["left_out"] == 1);
    const Json llmc = read(
        "device memory usage: 21315 MiB / 81100 MiB\n"
        "step    1/19560 | loss 11.010252 (+nanz)| norm 15.1374 (+nanz)| lr 8.57e-07 | 4688.25 ms | 28.8% bf16 MFU | 111830 tok/s\n"
        "step    2/19560 | loss 7.512386 (+nanz)| norm 1.1204 (+nanz)| lr 6.86e-05 | 4187.58 ms | -100.0% bf16 MFU | 125203 tok/s\n");
    CHECK(median(llmc, "step_seconds") == doctest::Approx(4.18758));
    CHECK(median(llmc, "tokens_per_s") == doctest::Approx(125'203));
    CHECK(numbers(llmc) == "used 21315 MiB 1 -; capacity 81100 MiB 1 -; ");
    CHECK(median(read("step   10/74 | train loss 3.2 | norm 1.4 | lr 3.00e-04 | 30.32 ms | 47.3% A100 fp16 MFU | 135000 tok/s\n"),
                 "step_seconds") == doctest::Approx(0.03032));
    const Json python = read("step  200/18865 | train loss 5.912 | norm 1.2021 | lr 6.00e-04 | (330.12 ms | 1588123 tok/s)\n");
    CHECK(median(python, "step_seconds") == doctest::Approx(0.33012));
    CHECK(median(python, "tokens_per_s") == doctest::Approx(1'588'123));
    const Json built = read("step   10 | loss: 6.523 | lr 6.00e-05 | norm: 1.52 | dt: 340.50ms | tok/sec: 1539783.21\n");
    CHECK(median(built, "step_seconds") == doctest::Approx(0.3405));
    const Json modded = read("step:140/1770 train_time:19670ms step_avg:140.50ms\n");
    CHECK(median(modded, "step_seconds") == doctest::Approx(0.1405));
    CHECK(says(modded["notes"], "read_run.note.whole_run"));
}

TEST_CASE("Primus: the memory of the whole card in Megatron-LM's line; picotron's line of a step") {
    const Json primus = read(
        "[20250102 01:02:03][rank-3/8][INFO ] [---trainer.py:1] : iteration   10/  100 | consumed samples: 640 | elapsed time per "
        "iteration (ms): 900.0/910.0 | hip mem usage/free/total/usage_ratio: 100.50GB/155.48GB/255.98GB/39.26% | throughput per GPU "
        "(TFLOP/s/GPU): 500.1/499.0 | global batch size:    64 |\n");
    CHECK(value(primus, "used") == doctest::Approx(100.5 * kGibi));
    CHECK(value(primus, "capacity") == doctest::Approx(255.98 * kGibi));
    CHECK(median(primus, "step_seconds") == doctest::Approx(0.9));
    const std::string step = "| Loss: 9.0000 | Global batch size:    131K | Tokens/s:  20.50K | Tokens/s/GPU:   5.12K | Tokens:    262K ";
    const Json picotron = read("[rank 0] Step: 1     " + step + "| MFU: 10.00% | Memory usage:  40.00GB\n[rank 0] Step: 2     " + step +
                               "| MFU: 30.10% | Memory usage:  41.50GB\n");
    CHECK(median(picotron, "tokens_per_s") == doctest::Approx(20'500));
    CHECK(median(picotron, "tokens_per_s_per_gpu") == doctest::Approx(5'120));
    CHECK(value(picotron, "current_reserved") == doctest::Approx(40e9));
}

TEST_CASE("DeepSpeed's table of a model's states: each way to offload, for a GPU") {
    const Json table = read(
        "Estimated memory needed for params, optim states and gradients for a:\nHW: Setup with 1 node, 8 GPUs per node.\n"
        "SW: Model with 2783M total params, 65M largest layer params.\n  per CPU  |  per GPU |   Options\n"
        "   70.00GB |   0.25GB | offload_param=cpu , offload_optimizer=cpu , zero_init=1\n"
        "   62.23GB |   0.89GB | offload_param=none, offload_optimizer=cpu , zero_init=1\n"
        "    2.92GB |   6.07GB | offload_param=none, offload_optimizer=none, zero_init=1\n");
    CHECK(numbers(table) == "theoretical 0.25GB 5 -; theoretical 0.89GB 6 -; theoretical 6.07GB 7 -; ");
    CHECK(table["printers"].dump() == R"(["deepspeed"])");
    CHECK(first_id(table["notes"]) == "read_run.note.states");
}

TEST_CASE("rocm-smi: rows, CSV and JSON, in bytes") {
    const Json rows = read(
        "======================== Memory Usage (Bytes) ========================\n"
        "GPU[0]\t\t: VRAM Total Memory (B): 206141652992\nGPU[0]\t\t: VRAM Total Used Memory (B): 183725824000\n"
        "GPU[1]\t\t: VRAM Total Memory (B): 206141652992\nGPU[1]\t\t: VRAM Total Used Memory (B): 184725824000\n"
        "GPU[0]\t\t: Card Series: \t\tAMD Instinct MI300X OAM\nGPU[1]\t\t: Card Series: \t\tAMD Instinct MI300X OAM\n");
    CHECK(rows["printers"].dump() == R"(["rocm-smi"])");
    CHECK(value(rows, "used") == 183'725'824'000.0);
    CHECK((rows["gpu"] == "mi300x-192gb" && rows["gpus"] == 2));
    CHECK(first_id(rows["verdict"]) == "read_run.verdict.used");
    const Json csv =
        read("device,VRAM Total Memory (B),VRAM Total Used Memory (B)\ncard0,206141652992,183725824000\ncard1,206141652992,184725824000\n");
    CHECK((csv["gpus"] == 2 && value(csv, "capacity") == 206'141'652'992.0));
    const Json object = read(
        R"x({"card0": {"VRAM Total Memory (B)": "206141652992", "VRAM Total Used Memory (B)": "10960896", "Card Series": )x"
        R"x("AMD Instinct MI300X OAM"}, "card1": {"VRAM Total Memory (B)": "206141652992", "VRAM Total Used Memory (B)": "11960896"}})x");
    CHECK((object["gpus"] == 2 && object["gpu"] == "mi300x-192gb" && value(object, "used") == 10'960'896.0));
}

TEST_CASE("amd-smi: its table, its monitor and a card's metrics") {
    const Json table = read(
        "| AMD-SMI 26.2.1+fc0010cf6a    amdgpu version: 6.14.14  ROCm version: 7.2.4    |\n"
        "| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |\n"
        "| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |\n"
        "| 0000:05:00.0    AMD Instinct MI355X | 0 %      54 \xC2\xB0 C  0          234/1400 W |\n"
        "|   0       1       6        SPX/NPS1 | 0 %        N/A        200283/294896 MB |\n"
        "| 0000:15:00.0    AMD Instinct MI355X | 0 %      54 \xC2\xB0 C  0          238/1400 W |\n"
        "|   1       3       7        SPX/NPS1 | 0 %        N/A        200284/294896 MB |\n");
    CHECK((table["gpu"] == "mi355x-288gb" && table["gpus"] == 2));
    CHECK(value(table, "used") == doctest::Approx(200'283.0 * kMebi));
    CHECK(value(table, "capacity") == doctest::Approx(294'896.0 * kMebi));
    const Json monitor = read(
        "GPU  POWER  GPU_TEMP  MEM_TEMP  VRAM_USED  VRAM_TOTAL   PCIE_BW\n\n"
        "  0  248 W     55 \xC2\xB0 C     48 \xC2\xB0 C     283 MB   196300 MB  N/A Mb/s\n"
        "  1  247 W     55 \xC2\xB0 C     48 \xC2\xB0 C     284 MB   196300 MB  N/A Mb/s\nend 12 MB\n");
    CHECK(numbers(monitor) == "used 283 MB 3 0; capacity 196300 MB 3 0; used 284 MB 4 1; capacity 196300 MB 4 1; ");
    CHECK(monitor["printers"].dump() == R"(["amd-smi"])");
    const Json metric =
        read("GPU: 0\n    MEM_USAGE:\n        TOTAL_VRAM: 196592 MB\n        USED_VRAM: 283 MB\nGPU: 1\n        USED_VRAM: 284 MB\n");
    CHECK(numbers(metric) == "capacity 196592 MB 3 0; used 283 MB 4 0; used 284 MB 6 1; ");
}
