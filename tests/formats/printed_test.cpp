// What runs print: lines of our own in the form that the programs document, every value worked by hand.
#include <ctime>

#include "formats/printed_read.h"

using namespace fourfold;
using namespace fourfold::tests::printed;
using tests::json;
using tests::said;

namespace {

// A plan of 64 GPUs with 80 GB, of which 70 are allocated and 74 in use.
Json plan(double total = 70, double whole = 74) {
    return {{"card_bytes", 80 * kGibi},
            {"total_bytes", total * kGibi},
            {"reserved_bytes", (whole - 2) * kGibi},
            {"whole_bytes", whole * kGibi},
            {"step_seconds", 2.0},
            {"low_seconds", 1.8},
            {"high_seconds", 2.2},
            {"gpus", 64},
            {"sequence_length", 4096},
            {"global_batch", 512},
            {"stage", 3},
            {"items", {{{"id", "head"}, {"bytes", 31 * kGibi}}, {{"id", "weights"}, {"bytes", 9 * kGibi}}}},
            {"change", {{"label", {{"id", "change.fused_loss"}}}, {"saved_bytes", 20 * kGibi}}}};
}

const std::string kNew =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.25 GiB is "
    "free. Including non-PyTorch memory, this process has 77.90 GiB memory in use. Of the allocated memory 72.50 GiB is allocated by "
    "PyTorch, and 3.00 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";

}  // namespace

TEST_CASE("PyTorch's message from 1.8 to 2.0") {
    const Json answer = read(
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 79.15 GiB total capacity; 77.10 GiB already allocated; 9.25 "
        "MiB free; 78.20 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb\n");
    CHECK(numbers(answer) ==
          "tried 20.00 MiB 1 -; capacity 79.15 GiB 1 -; allocated 77.10 GiB 1 -; free 9.25 MiB 1 -; reserved 78.20 GiB 1 -; ");
    CHECK(value(answer, "tried") == 20 * kMebi);
    CHECK(value(answer, "allocated") == doctest::Approx(77.1 * kGibi));
    CHECK(answer["ran_out"] == 1);
    CHECK(answer["runs_text"] == "");
}

TEST_CASE("PyTorch's message from 2.1 on, its misspelling, HIP, and pools") {
    CHECK(numbers(read(kNew)) ==
          "tried 2.00 GiB 1 -; capacity 79.15 GiB 1 -; allocated 72.50 GiB 1 -; free 1.25 GiB 1 -; unallocated 3.00 GiB 1 -; process 77.90 "
          "GiB 1 -; ");
    const Json misspelt = read(
        "[rank5]: torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 512.00 KiB. GPU 0 has a total capacty of 63.98 GiB of "
        "which 0 bytes is free. Process 4711 has 3.50 GiB memory in use. Process 4712 has 60.48 GiB memory in use. Of the allocated memory "
        "58.00 GiB is allocated by PyTorch, with 44.00 MiB allocated in private pools (e.g., CUDA Graphs), and 1.00 GiB is reserved by "
        "PyTorch but unallocated.");
    CHECK(numbers(misspelt) ==
          "tried 512.00 KiB 1 5; capacity 63.98 GiB 1 5; allocated 58.00 GiB 1 5; free 0 bytes 1 5; unallocated 1.00 GiB 1 5; others 3.50 "
          "GiB "
          "1 5; process 60.48 GiB 1 5; ");
}

TEST_CASE("a message that was broken into lines, colours, and what stands in front of lines") {
    const Json answer = read(
        "12: \x1b[31mRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 39.59 GiB\x1b[0m\r\n"
        "7: something else\r\n"
        "12: total capacity; 36.00 GiB already allocated;\r\n12: 1.50 GiB free; 37.00 GiB reserved in total by PyTorch)\r\n");
    CHECK(numbers(answer) ==
          "tried 2.00 GiB 1 12; capacity 39.59 GiB 1 12; allocated 36.00 GiB 1 12; free 1.50 GiB 1 12; reserved 37.00 GiB 1 12; ");
    const Json bare = read("torch.AcceleratorError: CUDA error: out of memory\n");
    CHECK(first_id(bare["verdict"]) == "read_run.verdict.no_numbers");
}

TEST_CASE("of several ranks the one with the most memory counts") {
    const auto died = [](const char* rank, const char* allocated) {
        return std::string("[rank") + rank + "]: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 79.15 GiB total capacity; " +
               allocated + " GiB already allocated; 0.50 GiB free; 78.00 GiB reserved in total by PyTorch)\n";
    };
    const Json answer = read(died("3", "70.00") + died("1", "77.00") + died("6", "60.00"));
    CHECK(answer["ran_out"] == 3);
    CHECK(said(answer["verdict"][0]) == R"(read_run.verdict.died_rank {"allocated":82678120448.0,"rank":1,"tried":1073741824.0})");
    CHECK(says(answer["notes"], "read_run.note.deaths"));
}

TEST_CASE("Megatron-LM's lines of time and memory") {
    const Json answer = read(
        " [2025-04-13 23:41:12] iteration        1/     500 | consumed samples:          512 | elapsed time per iteration (ms): 9000.0 | "
        "throughput per GPU (TFLOP/s/GPU): 50.0 | learning rate: 1.0E-05 | global batch size:   512 | lm loss: 1.1E+01 |\n"
        "[Rank 0] (after 1 iterations) memory (MB) | allocated: 1024.5 | max allocated: 2048.5 | reserved: 3000.0 | max reserved: 3072.0\n"
        "[Rank 8] (after 1 iterations) memory (MB) | allocated: 1024.0 | max allocated: 4096.0 | reserved: 5000.0 | max reserved: 5120.0\n"
        " iteration        2/     500 | elapsed time per iteration (ms): 1000.0 | throughput per GPU (TFLOP/s/GPU): 400.0 | global batch "
        "size:   512 |\n"
        " iteration        3/     500 | elapsed time per iteration (ms): 1400.0 | throughput per GPU (TFLOP/s/GPU): 300.0 | global batch "
        "size:   512 |\n"
        " iteration        4/     500 | elapsed time per iteration (ms): 1100.0 | throughput per GPU (TFLOP/s/GPU): 390.0 | global batch "
        "size:   512 |\n"
        "Theoretical memory footprints: weight and optimizer=1000.00 MB, activation=24.00 MB, total=1024.00 MB\n");
    const Json& series = answer["series"][0];
    CHECK(series["quantity"] == "step_seconds");
    CHECK(series["median"] == 1.1);
    CHECK(series["lowest"] == 1.0);
    CHECK(series["highest"] == 1.4);
    CHECK(series["count"] == 3);
    CHECK(series["left_out"] == 1);
    CHECK(series["first_line"] == 4);
    CHECK(median(answer, "flop_per_s_per_gpu") == 390e12);
    CHECK(says(answer["notes"], "read_run.note.warm_up"));
    CHECK(value(answer, "max_allocated") == 2048.5 * kMebi);
    CHECK(numbers(answer).find("max_allocated 4096.0 3 8; ") != std::string::npos);
    CHECK(value(answer, "theoretical") == 1024 * kMebi);
    CHECK(answer["runs_text"] == "allocated_bytes,global_batch,step_seconds\n4294967296,512,1.1\n");
}

TEST_CASE("gpt-neox, Megatron-DeepSpeed and DeepSpeed") {
    const Json neox = read(
        " samples/sec: 100.0 | iteration       10/  320000 | elapsed time per iteration (ms): 5120.0 | learning rate: 1E-5 | approx flops "
        "per "
        "GPU: 120.5TFLOPS | lm_loss: 7.0 |\n");
    CHECK(neox["printers"] == Json({"gpt-neox"}));
    CHECK(median(neox, "step_seconds") == 5.12);
    CHECK(median(neox, "samples_per_s") == 100);
    CHECK(median(neox, "flop_per_s_per_gpu") == 120.5e12);
    CHECK(says(neox["notes"], "read_run.note.one_line"));
    const Json old = read(
        "iteration 10/ 500 | elapsed time per iteration (s): 3.25 | global batch size: 16 | samples per second: 4.923 | tokens per gpu per "
        "second (tgs): 2520.0 | TFLOPs: 20.10 |");
    CHECK(median(old, "step_seconds") == 3.25);
    CHECK(median(old, "tokens_per_s_per_gpu") == 2520);
    CHECK(median(old, "flop_per_s_per_gpu") == doctest::Approx(20.1e12));
    const Json deepspeed = read(
        "epoch=0/micro_step=20/global_step=10, RunningAvgSamplesPerSec=20.0, CurrSamplesPerSec=25.6, MemAllocated=8.5GB, "
        "MaxMemAllocated=11.25GB\nMA 12.3 GB         Max_MA 13.5 GB         CA 14.0 GB         Max_CA 15 GB\n");
    CHECK(median(deepspeed, "samples_per_s") == 25.6);
    CHECK(numbers(deepspeed) == "max_allocated 11.25GB 1 -; max_allocated 13.5 GB 2 -; max_reserved 15 GB 2 -; ");
    CHECK(deepspeed["runs_text"] == "allocated_bytes\n14495514624\n");  // a rate of sequences is no time without a batch
    const Json timed = read("global_step=10, CurrSamplesPerSec=256.0,", plan());
    CHECK(timed["runs_text"] == "step_seconds\n2\n");
}

TEST_CASE("torchtitan, nanotron, NeMo, Megatron-Bridge and the Trainer") {
    const Json titan = read(
        "[rank0]:[titan] 2025-01-01 10:00:00,123 - root - INFO - \x1b[31mstep:  1  \x1b[32mloss: 12.2  \x1b[33mmemory: 40.00GiB(50.1%)  "
        "\x1b[34mtps: 500  \x1b[36mtflops: 20.00  \x1b[35mmfu: 2.0%\x1b[39m\n"
        "[rank0]:[titan] 2025-01-01 10:00:00,123 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  7.1  \x1b[33mmemory: 47.50GiB(59.4%)  "
        "\x1b[34mtps: 3,372  \x1b[36mtflops: 175.70  \x1b[35mmfu: 17.76%\x1b[39m\n");
    CHECK(median(titan, "tokens_per_s_per_gpu") == 3372);
    CHECK(median(titan, "flop_per_s_per_gpu") == doctest::Approx(175.7e12));
    CHECK(numbers(titan) == "max_reserved 40.00GiB 1 0; max_reserved 47.50GiB 2 0; ");
    CHECK(titan["runs_text"] == "reserved_bytes,tokens_per_second_per_gpu\n51002736640,3372\n");

    const Json nano = read(
        "01/01/2025 10:00:00 [INFO|DP=0|PP=1|TP=0|node1]: iteration: 5 / 20 | consumed_tokens: 5.24M | elapsed_time_per_iteration_ms: 2.1K "
        "| "
        "tokens_per_sec: 498K | tokens_per_sec_per_gpu: 31.1K | global_batch_size: 512 | lm_loss: 9.1 | lr: 0.0003 | model_tflops_per_gpu: "
        "295 | hardware_tflops_per_gpu: 295 | grad_norm: 1\n");
    CHECK(median(nano, "step_seconds") == 2.1);
    CHECK(median(nano, "tokens_per_s") == 498'000);
    CHECK(median(nano, "tokens_per_s_per_gpu") == 31'100);
    CHECK(median(nano, "flop_per_s_per_gpu") == 295e12);
    CHECK(nano["runs_text"] == "global_batch,step_seconds\n512,2.1\n");
    const Json held = read(
        "01/17/2024 13:47:27 [INFO|DP=0|PP=0|TP=0]: iteration: 9 / 10 | elapsed_time_per_iteration_ms: 45 | tokens_per_sec_per_gpu: 1.78K "
        "| "
        "cuda_memory_allocated: 75.2M | cuda_max_memory_reserved: 547M | hd_total_memory_tb: 312G\n");
    CHECK(held["numbers"][0]["value"] == 75.2e6);
    CHECK(held["numbers"][1]["quantity"] == "max_reserved");
    CHECK(held["numbers"][1]["value"] == 547e6);

    const Json nemo = read(
        "Epoch 0: :   1%| | 1/100 [00:07<10:48, reduced_train_loss=11.0, global_step=0.000, train_step_timing in s=7.000]\r"
        "Epoch 0: :   2%| | 2/100 [00:10<10:48, reduced_train_loss=10.0, global_step=1.000, train_step_timing in s=2.500]\r"
        "Epoch 0: :   2%| | 2/100 [00:10<10:48, reduced_train_loss=10.0, global_step=1.000, train_step_timing in s=2.500]\n"
        "Training epoch 0, iteration 2/249 | lr: 5e-06 | global_step: 2 | reduced_train_loss: 1.5 | train_step_timing in s: 2.510\n");
    CHECK(nemo["series"][0]["median"] == 2.505);
    CHECK(nemo["series"][0]["count"] == 2);
    const Json bridge = read("Step Time : 3.90s GPU utilization: 209.5MODEL_TFLOP/s/GPU\n");
    CHECK(median(bridge, "step_seconds") == 3.9);
    CHECK(median(bridge, "flop_per_s_per_gpu") == 209.5e12);
    const Json trainer =
        read("{'train_runtime': 120.5, 'train_samples_per_second': 42.5, 'train_steps_per_second': 0.5, 'train_loss': 1.1}");
    CHECK(median(trainer, "step_seconds") == 2);
    CHECK(says(trainer["notes"], "read_run.note.whole_run"));
}

TEST_CASE("what it means that memory ran out") {
    const auto cause = [](const std::string& text, const Json& counted) { return read(text, counted)["cause"]; };
    CHECK(cause(kNew, plan(84, 88)) == "too_large");
    CHECK(cause(kNew, plan(70, 74)) == "fragmented");  // 3 GiB of pieces would have held the 2 GiB
    const auto died = [](const std::string& tried, const std::string& allocated, const std::string& reserved, const std::string& free) {
        return "CUDA out of memory. Tried to allocate " + tried + " GiB (GPU 0; 79.00 GiB total capacity; " + allocated +
               " GiB already allocated; " + free + " GiB free; " + reserved + " GiB reserved in total by PyTorch)\n";
    };
    CHECK(cause(died("8.00", "70.00", "71.00", "5.00"), plan(70, 74)) == "counted_less");  // 78 needed, 70 counted
    CHECK(cause(died("2.00", "40.00", "41.00", "1.00"), plan(70, 74)) == "others");        // 79 - 1 - 41 - 2 = 35 of others
    CHECK(cause(died("8.00", "60.00", "70.00", "6.00"), plan(70, 74)) == "fragmented");
    CHECK(cause(died("8.00", "60.00", "67.00", "7.50"), plan(70, 74)) == "unknown");  // 68 needed, 70 counted
    CHECK(cause("CUDA out of memory. Tried to allocate 8.00 GiB (GPU 0; 39.59 GiB total capacity;", plan()) == "other_card");
    CHECK(cause("CUDA error: out of memory", plan()) == "unknown");
    CHECK(read(kNew)["cause"] == "fragmented");
    // Pieces would have held it: the plan need not change. It held 72.5 where 37.9 are counted: that is said before any change.
    CHECK_FALSE(says(read(kNew, plan(70, 74))["verdict"], "read_run.verdict.change"));
    CHECK_FALSE(says(read(kNew, plan(70, 74))["verdict"], "read_run.verdict.another_run"));
    const Json twice = read(kNew, plan(37.9, 45))["verdict"];
    CHECK(first_id(twice, 2) == "read_run.verdict.fragmented");
    CHECK(first_id(twice, 3) == "read_run.verdict.another_run");
    CHECK_FALSE(says(twice, "read_run.verdict.change"));
    const Json much = read(died("8.00", "70.00", "71.00", "5.00"), plan(50, 60))["verdict"];
    CHECK(first_id(much, 2) == "read_run.verdict.another_run");
    CHECK(much[2]["args"]["share"].get<double>() == doctest::Approx(0.56));
    CHECK(first_id(much, 4) == "read_run.verdict.change");
    const std::string crowded =
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.00 GiB of which 1.00 GiB is free. Including "
        "non-PyTorch memory, this process has 30.00 GiB memory in use. Of the allocated memory 28.00 GiB is allocated by PyTorch, and 0.50 "
        "GiB is reserved by PyTorch but unallocated.";
    CHECK(read(crowded)["cause"] == "others");
    CHECK(said(read(crowded, plan())["verdict"][2]) == R"(read_run.verdict.others {"bytes":51539607552.0})");  // 48 GiB

    // 72.5 + 2 allocated, 84 counted on a card of 79.15.
    const Json verdict = read(kNew, plan(84, 88))["verdict"];
    CHECK(first_id(verdict, 1) == "read_run.verdict.counted");
    CHECK(first_id(verdict, 2) == "read_run.verdict.too_large");
    CHECK(first_id(verdict, 3) == "read_run.verdict.parts");
    CHECK(said(verdict[4]) == R"(read_run.verdict.change {"change":{"id":"change.fused_loss"},"saved":21474836480.0})");
}

TEST_CASE("what was asked for is named where one item alone has that size") {
    const std::string text =
        "CUDA out of memory. Tried to allocate 31.20 GiB (GPU 0; 79.00 GiB total capacity; 60.00 GiB already allocated; 5.00 "
        "GiB free; 70.00 GiB reserved in total by PyTorch)";
    CHECK(says(read(text, plan())["verdict"], "read_run.verdict.tried_is"));
    Json two = plan();
    two["items"].push_back({{"id", "moments"}, {"bytes", 31.1 * kGibi}});
    CHECK_FALSE(says(read(text, two)["verdict"], "read_run.verdict.tried_is"));
}

TEST_CASE("a run that went on is compared with its estimate") {
    const std::string text =
        "iteration 1/ 5 | elapsed time per iteration (ms): 2200.0 | global batch size: 512 |\n"
        "[Rank 0] (after 1 iterations) memory (MB) | allocated: 1.0 | max allocated: 70000.0 | reserved: 1.0 | max reserved: "
        "73000.0\n";
    const Json verdict = read(text, plan())["verdict"];
    CHECK(first_id(verdict) == "read_run.verdict.allocated");
    CHECK(said(verdict[1]) == R"(read_run.verdict.time {"count":1,"estimated":2.0,"high":2.2,"low":1.8,"measured":2.2})");
    CHECK_FALSE(says(verdict, "read_run.verdict.outside"));  // 2.2 is its upper end
    Json quick = plan();
    quick["low_seconds"] = 2.3;
    CHECK(said(read(text, quick)["verdict"][2]) == R"(read_run.verdict.outside {"faster":true})");
    Json other = plan();
    other["global_batch"] = 256;
    CHECK(first_id(read(text, other)["verdict"], 1) == "read_run.verdict.other_batch");
    // 512 sequences of 4,096 tokens on 64 GPUs in 2 s
    const Json titan = read("step: 5  tps: 16,384  tflops: 100.0", plan());
    CHECK(titan["verdict"][0]["args"]["measured"] == 2.0);
}

TEST_CASE("the first step of each start is left out, and steps of another batch") {
    std::string text;
    const auto add = [&](int iteration, double milliseconds, int batch) {
        text += "iteration " + std::to_string(iteration) + "/ 50 | elapsed time per iteration (ms): " + std::to_string(milliseconds) +
                " | global batch size: " + std::to_string(batch) + " |\n";
    };
    add(1, 9000, 32), add(2, 500, 32), add(1, 9000, 64), add(2, 1000, 64), add(1, 9500, 64), add(2, 1200, 64);
    const Json answer = read(text);
    CHECK(answer["series"][0]["count"] == 2);
    CHECK(answer["series"][0]["left_out"] == 4);
    CHECK(answer["series"][0]["median"] == 1.1);
    CHECK(says(answer["notes"], "read_run.note.batches"));
}

TEST_CASE("lines that are written are read back") {
    for (int i = 1; i <= 300; ++i) {
        const double milliseconds = 10.5 * i;
        char line[200];
        std::snprintf(line, sizeof line,
                      "%d: [2025-01-01] iteration %8d/     500 | elapsed time per iteration (ms): %.1f | global batch size: %5d |\n", i, i,
                      milliseconds, 8 * i);
        const Json answer = read(line);
        CHECK(median(answer, "step_seconds") == doctest::Approx(milliseconds / 1e3).epsilon(1e-12));
        CHECK(answer["runs_text"].get<std::string>().find("global_batch,step_seconds\n" + std::to_string(8 * i) + ",") == 0);
    }
}

TEST_CASE("a measured run is one that calibrate() takes") {
    const Json answer = read(
        "iteration 1/ 5 | elapsed time per iteration (ms): 8870.0 | global batch size: 512 |\n"
        "[Rank 0] (after 1 iterations) memory (MB) | allocated: 1.0 | max allocated: 30000.0 | reserved: 1.0 | max reserved: 31000.0\n");
    const Json job = {{"gpu", "h100-sxm-80gb"},          {"gpus", 64},       {"tensor_parallel", 2},
                      {"pipeline_parallel", 4},          {"micro_batch", 1}, {"context_parallel", 1},
                      {"runs_text", answer["runs_text"]}};
    const Json calibrated = json(api::calibrate(job.dump()));
    REQUIRE_MESSAGE(calibrated["ok"] == true, calibrated.dump());
    CHECK(calibrated["rows"][0]["step_seconds"] == 8.87);
    CHECK(calibrated["rows"][0]["memory"]["bytes"] == 30000 * kMebi);
}

// As print_args of Megatron-LM writes them.
static std::string listed(std::initializer_list<std::pair<const char*, const char*>> arguments, const char* rank = "") {
    std::string text = rank + std::string("------------------------ arguments ------------------------\n");
    for (const auto& [name, value] : arguments) {
        const std::string key = name;
        text += rank + ("  " + key + " ") + std::string(48 - key.size(), '.') + " " + value + "\n";
    }
    return text + rank + "-------------------- end of arguments ---------------------\n";
}

TEST_CASE("the arguments that a log lists are the plan of its run") {
    const std::string steps =
        "iteration 1/ 5 | elapsed time per iteration (ms): 9999.0 | global batch size: 512 |\n"
        "iteration 2/ 5 | elapsed time per iteration (ms): 8870.0 | global batch size: 512 |\n";
    for (const char* rank : {"", "0: ", "[default0]:"}) {
        CAPTURE(rank);
        const Json answer = read(listed({{"bf16", "True"},
                                         {"context_parallel_size", "1"},
                                         {"expert_model_parallel_size", "1"},
                                         {"global_batch_size", "1024"},
                                         {"hidden_size", "4096"},
                                         {"micro_batch_size", "2"},
                                         {"num_attention_heads", "32"},
                                         {"num_experts", "None"},
                                         {"num_layers", "32"},
                                         {"num_layers_per_virtual_pipeline_stage", "None"},
                                         {"pipeline_model_parallel_size", "4"},
                                         {"rampup_batch_size", "None"},
                                         {"recompute_granularity", "full"},
                                         {"recompute_method", "uniform"},
                                         {"recompute_num_layers", "1"},
                                         {"seq_length", "8192"},
                                         {"sequence_parallel", "True"},
                                         {"tensor_model_parallel_size", "2"},
                                         {"use_distributed_optimizer", "True"},
                                         {"virtual_pipeline_model_parallel_size", "None"},
                                         {"world_size", "64"}},
                                        rank) +
                                 steps);
        CHECK(answer["runs_text"] ==
              "gpus,tensor_parallel,pipeline_parallel,context_parallel,virtual_stages,expert_parallel,expert_tensor_parallel,micro_batch,"
              "global_batch,sequence_length,recompute,zero,step_seconds\n64,2,4,1,1,1,1,2,512,8192,full,optimizer,8.87\n");
        const Json job = {{"gpu", "h100-sxm-80gb"}, {"gpus", 8}, {"runs_text", answer["runs_text"]}};
        const Json calibrated = json(api::calibrate(job.dump()));
        REQUIRE_MESSAGE(calibrated["ok"] == true, calibrated.dump());
        CHECK(calibrated["rows"][0]["plan"]["gpus"] == 64);
        CHECK(calibrated["rows"][0]["plan"]["pipeline_parallel"] == 4);
    }
    // what the list leaves out is an empty cell, so that rows of several logs have the same columns
    const Json open = read(listed({{"num_layers", "32"}, {"hidden_size", "4096"}, {"micro_batch_size", "1"}}) + steps);
    CHECK(open["runs_text"].get<std::string>().ends_with("zero,step_seconds\n,1,1,1,1,1,1,1,512,,none,none,8.87\n"));
    // without steps it is no run; another program's list is no plan
    CHECK(read(listed({{"num_layers", "32"}, {"hidden_size", "64"}, {"seq_length", "64"}}) + kNew)["runs_text"] == "");
    CHECK(read(listed({{"train_batch_size", "512"}, {"world_size", "8"}}) + steps)["runs_text"] == "global_batch,step_seconds\n512,8.87\n");
}

TEST_CASE("what is no log, and what is no request") {
    const auto problems = [](const Json& request) { return tests::brief(asked(request)["problems"]); };
    CHECK(problems({{"text", "hello\nworld\n"}}) == "text format null -> null");
    CHECK(problems({{"text", ""}}) == "text format null -> null");
    CHECK(problems(Json::object()) == "text type null -> null");
    CHECK(problems({{"text", 1}, {"counted", 1}}) == "text type null -> null\ncounted type null -> null");
    CHECK(problems({{"text", kNew}, {"else", 1}}).find("else") == 0);
    for (const char* key : {"items", "change", "gpus", "stage", "card_bytes"}) {
        Json counted = plan();
        counted[key] = "x";
        CHECK(problems({{"text", kNew}, {"counted", counted}}) == "counted type null -> null");
    }
    // a label of two changes has texts in it
    Json both = plan(84, 88);
    both["change"]["label"] = json(R"({"id": "change.both", "args": {"first": {"id": "change.fused_loss"},
                                      "second": {"id": "change.tensor_parallel", "args": {"value": 2}}}})");
    CHECK(asked({{"text", kNew}, {"counted", both}})["verdict"].dump().find("change.both") != std::string::npos);
    both["change"]["label"]["args"]["second"] = json("[1]");
    CHECK(problems({{"text", kNew}, {"counted", both}}) == "counted type null -> null");
    // a script, and prose about memory
    CHECK(problems({{"text", "#!/bin/bash\nnvidia-smi --query-gpu=memory.used --format=csv\npython train.py --tp 8\n"}}) ==
          "text format null -> null");
    CHECK(problems({{"text", "Reduce the batch if you run out of memory."}}) == "text format null -> null");
}

TEST_CASE("a log of 10 MB is read within a second") {
    std::string text;
    text.reserve(11'000'000);
    for (int i = 0; text.size() < 10'000'000; ++i)
        text += std::to_string(i % 64) + ": [2025-01-01 10:00:00] iteration " + std::to_string(i) +
                "/ 100000 | consumed samples: 1 | elapsed time per iteration (ms): 1000.0 | learning rate: 1.0E-04 | global batch size: "
                "512 | lm "
                "loss: 1.0 | grad norm: 1.0 |\n12: some line of another library that says nothing: DEBUG 17, 18 = 19 | 20\n";
    const std::clock_t begin = std::clock();  // of this process alone: others may be at work
    const Json answer = read(text);
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    CHECK(answer["series"][0]["median"] == 1.0);
    MESSAGE("10 MB in " << took << " s");
    if (!tests::kSlowBuild) CHECK(took < 1);
}
