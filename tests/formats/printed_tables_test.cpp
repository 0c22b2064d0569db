// Tables of nvidia-smi and of torch.cuda.memory_summary(): lines of our own, and such as others pasted.
#include "formats/printed_read.h"

using namespace fourfold;
using namespace fourfold::tests::printed;

TEST_CASE("nvidia-smi and torch.cuda.memory_summary()") {
    const Json table = read(
        "| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4     |\n"
        "|   0  NVIDIA H100 80GB HBM3          On  | 00000000:1A:00.0 Off |                    0 |\n"
        "| N/A   43C    P0             120W / 700W |  74512MiB / 81559MiB |     99%      Default |\n");
    CHECK(numbers(table) == "used 74512MiB 3 0; capacity 81559MiB 3 0; ");
    CHECK(table["cards"] == Json({"NVIDIA H100 80GB HBM3"}));
    const Json csv = read(
        "index, name, memory.total [MiB], memory.used [MiB]\n0, NVIDIA A100-SXM4-80GB, 81920 MiB, 1024 MiB\n"
        "1, NVIDIA A100-SXM4-40GB, 40960 MiB, 2048 MiB\n\nend, 1, 2, 3\n");
    CHECK(numbers(csv) == "used 1024 MiB 2 0; capacity 81920 MiB 2 0; used 2048 MiB 3 1; capacity 40960 MiB 3 1; ");
    CHECK(says(csv["notes"], "read_run.note.capacities"));
    CHECK(says(csv["notes"], "read_run.note.cards"));
    const Json bare = read("memory.used [MiB], memory.total [MiB]\n5, 10\n");
    CHECK(value(bare, "used") == 5 * kMebi);
    const Json summary = read(
        "|                  PyTorch CUDA memory summary, device ID 0                 |\n"
        "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"
        "| Allocated memory      |  70000 MiB |  75.5 GiB  |   1024 GiB |    950 GiB |\n"
        "| Active memory         |  70000 MiB |  75.5 GiB  |   1024 GiB |    950 GiB |\n"
        "| GPU reserved memory   |  76000 MB  |  77000 MB  |     76 GiB |      0 B   |\n");
    CHECK(numbers(summary) ==
          "current_allocated 70000 MiB 3 0; max_allocated 75.5 GiB 3 0; current_reserved 76000 MB 5 0; max_reserved 77000 MB 5 0; ");
}

TEST_CASE("tables as others pasted them") {
    // NVIDIA/TensorRT-LLM, issue 2398: drivers from 550 on fill both numbers up with blanks
    const Json two = read(
        "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
        "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
        "|   0  NVIDIA L4                      On  |   00000000:38:00.0 Off |                    0 |\n"
        "| N/A   38C    P0             27W /   72W |    7086MiB /  23034MiB |      0%      Default |\n"
        "|                                         |                        |                  N/A |\n"
        "|   1  NVIDIA L4                      On  |   00000000:3A:00.0 Off |                    0 |\n"
        "| N/A   35C    P0             26W /   72W |    7086MiB /  23034MiB |      0%      Default |\n");
    CHECK(numbers(two) == "used 7086MiB 4 0; capacity 23034MiB 4 0; used 7086MiB 7 1; capacity 23034MiB 7 1; ");
    CHECK(two["cards"] == Json({"NVIDIA L4"}));
    // Drivers up to 460: no "NVIDIA" before the name, which is cut; on Azure the domain is none of zeros
    const Json old = read(
        "| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: 11.0     |\n"
        "|   0  Tesla V100-SXM2...  On   | 00000001:00:00.0 Off |                    0 |\n"
        "| N/A   45C    P0    63W / 300W |  15012MiB / 16160MiB |     98%      Default |\n"
        "|    0   N/A  N/A      2189      C   python                          15000MiB |\n");
    CHECK(numbers(old) == "used 15012MiB 3 0; capacity 16160MiB 3 0; ");
    CHECK(old["cards"] == Json({"Tesla V100-SXM2..."}));
    // A part of a card (MIG): what it has on the bus is none of its memory
    const Json part = read(
        "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:53:00.0 Off |                   On |\n"
        "|  0    1   0   0  |           9000MiB / 40448MiB     | 60      0 |  3   0    3    0    3 |\n"
        "|                  |                 0MiB / 65535MiB  |           |                       |\n");
    CHECK(numbers(part) == "used 9000MiB 2 0; capacity 40448MiB 2 0; ");
    const Json query = read(
        "    FB Memory Usage\n        Total                             : 81559 MiB\n        Reserved                          : 633 MiB\n"
        "        Used                              : 74512 MiB\n        Free                              : 6414 MiB\n"
        "    BAR1 Memory Usage\n        Total                             : 131072 MiB\n        Used                              : 8 "
        "MiB\n");
    CHECK(numbers(query) == "capacity 81559 MiB 2 -; used 74512 MiB 4 -; ");
    // pytorch/pytorch, issue 35901: units of PyTorch 1, which are of 1,024 all the same
    const Json first = read(
        "|                  PyTorch CUDA memory summary, device ID 2                 |\n"
        "|            CUDA OOMs: 1            |        cudaMalloc retries: 1         |\n"
        "| Allocated memory      |    1062 MB |    4877 MB |   89299 MB |   88237 MB |\n"
        "|       from large pool |    1048 MB |    4865 MB |   89263 MB |   88215 MB |\n"
        "| GPU reserved memory   |   12420 MB |   12420 MB |   16924 MB |    4504 MB |\n");
    CHECK(numbers(first) ==
          "current_allocated 1062 MB 3 2; max_allocated 4877 MB 3 2; current_reserved 12420 MB 5 2; max_reserved 12420 MB 5 2; ");
    CHECK(value(first, "max_allocated") == 4877 * kMebi);
}

TEST_CASE("the cards that nvidia-smi shows, by the name that the catalogue has for them, and how many") {
    const auto shown = [](const std::string& name, const std::string& mebibytes, int count = 1) {
        std::string text;
        for (int i = 0; i < count; ++i)
            text += "|   " + std::to_string(i) + "  " + name +
                    "          On  |   00000000:07:00.0 Off |                    0 |\n| N/A   34C    P0             55W /  400W |   "
                    "1024MiB /  " +
                    mebibytes + "MiB |     99%      Default |\n";
        const Json answer = read(text);
        CHECK(answer["gpus"] == count);
        return answer["gpu"].is_null() ? std::string() : answer["gpu"].get<std::string>();
    };
    CHECK(shown("NVIDIA A100-SXM4-40GB", "40960", 2) == "a100-sxm-40gb");
    CHECK(shown("A100-SXM4-80GB", "81251", 8) == "a100-sxm-80gb");
    CHECK(shown("NVIDIA A100 80GB PCIe", "81920") == "a100-pcie-80gb");
    CHECK(shown("NVIDIA H100 80GB HBM3", "81559") == "h100-sxm-80gb");
    CHECK(shown("NVIDIA H100 PCIe", "81559") == "h100-pcie-80gb");
    CHECK(shown("NVIDIA H100 NVL", "95830") == "h100-nvl-94gb");
    CHECK(shown("NVIDIA H200", "143771") == "h200-sxm-141gb");
    CHECK(shown("NVIDIA GH200 480GB", "97871") == "gh200-96gb");
    CHECK(shown("NVIDIA B200", "183359") == "b200-sxm-180gb");
    CHECK(shown("NVIDIA L40S", "46068") == "l40s-48gb");
    CHECK(shown("NVIDIA GeForce RTX 4090", "24564") == "rtx-4090-24gb");
    CHECK(shown("NVIDIA RTX 6000 Ada Generation", "49140") == "rtx-6000-ada-48gb");
    CHECK(shown("NVIDIA H200 NVL", "143771").empty());
    CHECK(shown("NVIDIA GeForce RTX 4090 D", "24564").empty());
    CHECK(shown("NVIDIA A100-SXM-64GB", "65536").empty());
    CHECK(shown("NVIDIA L4", "23034").empty());
    CHECK(read("name, memory.used [MiB]\nNVIDIA H200, 5 MiB\nNVIDIA H200, 6 MiB\n")["gpu"] == "h200-sxm-141gb");
    const auto rows = [](int count, const std::string& head = "name, memory.used [MiB]", const std::string& before = "") {
        std::string text = head + "\n";
        for (int i = 0; i < count; ++i) text += before + "NVIDIA H200, " + std::to_string(i) + " MiB\n";
        return read(text)["gpus"];
    };
    CHECK(rows(8) == 8);        // a row for each card
    CHECK(rows(5).is_null());   // or one card over some time
    CHECK(rows(32).is_null());  // more than a node has
    CHECK(rows(8, "timestamp, name, memory.used [MiB]", "2026/01/02 03:04:05.678, ").is_null());
    CHECK(rows(8, "uuid, name, memory.used [MiB]", "GPU-aa, ") == 1);
    CHECK(read("name, pci.bus_id, memory.total [MiB]\nA100, 00:07, 40960 MiB\nA100, 00:0F, 40960 MiB\nA100, 00:07, 40960 MiB\n")["gpus"] ==
          2);
    CHECK(read("name, memory.used [MiB]\nNVIDIA H100, 5 MiB\n")["gpu"].is_null());  // two sizes of it
    const Json both = read("index, name, memory.used [MiB]\n0, NVIDIA H200, 5 MiB\n1, NVIDIA L40S, 6 MiB\n");
    CHECK(both["gpu"].is_null());
    CHECK(both["gpus"] == 2);
}

TEST_CASE("what nvidia-smi shows is told in words, and beside what is counted for a card of that size") {
    const std::string text = "memory.used [MiB], memory.total [MiB]\n38211, 40960\n1024, 40960\n";
    const auto ids = [](const Json& answer) {
        std::string all;
        for (const Json& one : answer["verdict"]) all += one["id"].get<std::string>() + " ";
        return all;
    };
    CHECK(tests::said(read(text)["verdict"][0]) == R"(read_run.verdict.used {"capacity":42949672960.0,"used":40067137536.0})");
    CHECK(ids(read(text)) == "read_run.verdict.used ");
    Json counted = {{"card_bytes", 80 * kGibi},
                    {"total_bytes", 30 * kGibi},
                    {"reserved_bytes", 34 * kGibi},
                    {"whole_bytes", 36 * kGibi},
                    {"step_seconds", 2.0},
                    {"low_seconds", 1.8},
                    {"high_seconds", 2.2},
                    {"gpus", 8},
                    {"sequence_length", 4096},
                    {"global_batch", 512},
                    {"stage", 0},
                    {"items", Json::array()},
                    {"change", nullptr}};
    CHECK(ids(read(text, counted)) == "read_run.verdict.used read_run.verdict.other_card ");
    counted["card_bytes"] = 40 * kGibi;
    const Json same = read(text, counted);
    CHECK(ids(same) == "read_run.verdict.used read_run.verdict.used_counted ");
    CHECK(same["verdict"][1]["args"]["counted"] == 36 * kGibi);
    // what the program itself printed of its memory says more
    CHECK(ids(read(text + "[Rank 0] (after 10 iterations) memory (MB) | allocated: 1.5 | max allocated: 2.5\n", counted)) ==
          "read_run.verdict.allocated ");
}

// The words are those of the sources that printed_steps.cpp and printed_memory.cpp name; the numbers are our own.
TEST_CASE("logs of programs that print one number a word") {
    const Json titan_like = read("completed step: 3, seconds: 4.5, TFLOP/s/device: 400.25, Tokens/s/device: 7000.5, loss: 8.1\n");
    CHECK(median(titan_like, "step_seconds") == 4.5);
    CHECK(median(titan_like, "flop_per_s_per_gpu") == 400.25e12);
    const Json composer = read("\t Train memory/peak_reserved_mem: 30.5\n\t Train throughput/batches_per_sec: 0.25\n");
    CHECK(median(composer, "step_seconds") == 4);
    CHECK(value(composer, "max_reserved") == 30.5e9);
    const Json swift = read("{'loss': 1.02, 'memory(GiB)': 61.5, 'train_speed(iter/s)': 0.125, 'global_step/max_steps': '20/2000'}\n");
    CHECK(median(swift, "step_seconds") == 8);
    CHECK(value(swift, "max_reserved") == 61.5 * kGibi);
    CHECK(says(swift["notes"], "read_run.note.whole_run"));
    CHECK(value(read("{'loss': '0.7', 'memory/max_allocated (GiB)': '2.5', 'epoch': '0.1'}\n"), "max_allocated") == 2.5 * kGibi);
    const Json verl =
        read("step:12 - perf/max_memory_allocated_gb:54.5 - perf/max_memory_reserved_gb:np.float64(70.25) - timing_s/step:9\n");
    CHECK(numbers(verl) == "max_allocated 54.5 1 -; max_reserved 70.25 1 -; ");
    const Json tune = read("Step 20 | loss:1.0 lr:3e-4 tokens_per_second_per_gpu:1800.5 peak_memory_alloc:60.5 peak_memory_reserved:66\n");
    CHECK(median(tune, "tokens_per_s_per_gpu") == 1800.5);
    CHECK(value(tune, "max_reserved") == 66 * kGibi);
    CHECK(median(read("    throughput/device/TPS=9,712\n    throughput/device/TPS (actual avg)=9,000\n"), "tokens_per_s_per_gpu") == 9712);
    CHECK(median(read("steps: 10 loss: 2.3 iter time (s): 4.5 samples/sec: 12.9\n"), "step_seconds") == 4.5);
    CHECK(value(read("Memory used: 21.5 GB\n"), "max_allocated") == 21.5e9);
    CHECK(value(read("Peak reserved memory = 9.25 GB.\n"), "max_reserved") == 9.25 * kGibi);
    CHECK(value(read("iteration: 2 / 9 | elapsed_time_per_iteration_ms: 3.12K | cuda_max_memory_reserved: 59.5G\n"), "max_reserved") ==
          59.5e9);
    const Json xla = read("XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 25769803776 bytes.\n");
    CHECK(value(xla, "tried") == 25769803776.0);
}
