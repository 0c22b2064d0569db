// How a run ended, by what it printed: lines of our own in the form that the programs document.
#include "formats/printed_read.h"

using namespace fourfold;
using namespace fourfold::tests::printed;

static const std::string kDied =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.25 GiB is "
    "free.";

TEST_CASE("a process that does not know its own number is not taken for another one") {
    const auto told = [](const char* card, const char* held) {
        const Json answer = asked(
            {{"text",
              std::string("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of ") + card +
                  " of which 1.12 GiB is free. Process 12345 has " + held +
                  " memory in use. Of the allocated memory 30.00 GiB is allocated by PyTorch, and 5.00 GiB is reserved by PyTorch but "
                  "unallocated.\n"}});
        for (const Json& one : answer["numbers"])
            if (one["written"] == held) return one["quantity"].get<std::string>();
        return std::string("none");
    };
    CHECK(told("40.00 GiB", "38.88 GiB") == "process");  // 38.88 + 35 do not fit on 40
    CHECK(told("80.00 GiB", "38.88 GiB") == "others");   // they may on 80
    CHECK(told("80.00 GiB", "44.00 GiB") == "others");
    CHECK(told("78.00 GiB", "44.00 GiB") == "process");  // 44 + 35 = 79
}

TEST_CASE("a run that ended otherwise than by a GPU's memory is told how") {
    const auto told = [](const std::string& text) {
        const Json answer = asked({{"text", text}});
        return answer["ok"] == true ? "read" : answer["problems"][0]["message"]["id"].get<std::string>();
    };
    CHECK(told("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=12.0. Some of your processes may have been killed.\n") ==
          "problem.read_run.host");
    CHECK(told("slurmstepd: error: Detected 2 oom_kill events in StepId=12.0. Some of the step tasks have been OOM Killed.\n") ==
          "problem.read_run.host");
    CHECK(told("[ 12.5] Out of memory: Killed process 4242 (python) total-vm:9kB, anon-rss:8kB\n") == "problem.read_run.host");
    CHECK(told("  traceback : Signal 9 (SIGKILL) received by PID 4242\n") == "problem.read_run.killed");
    CHECK(told("[rank0]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE) ran for 600000 ms\n") ==
          "problem.read_run.hang");
    CHECK(told("[rank3]: AssertionError: Rank 3: found NaN in local forward loss calculation. Device: 3, node: n2\n") ==
          "problem.read_run.nan");
    // below lines of steps, too
    const std::string steps =
        " iteration 10/ 1000 | consumed samples: 640 | elapsed time per iteration (ms): 9210.1 | lm loss: 1.0E+01 |\n"
        " iteration 20/ 1000 | consumed samples: 1280 | elapsed time per iteration (ms): 9190.1 | lm loss: 9.0E+00 |\n";
    const Json killed = asked({{"text", steps + "  exitcode  : -9 (pid: 4242)\n"}});
    CHECK(killed["ended"] == "killed");
    CHECK(killed["verdict"][0]["id"] == "problem.read_run.killed");
    CHECK(killed["series"][0]["median"] == 9.1901);
    CHECK(asked({{"text", steps}})["ended"] == nullptr);
    CHECK(asked({{"text", kDied}})["ended"] == "memory");
    // where the card's memory ran out too, that is told; and a script says nothing of its end
    CHECK(told(kDied + std::string("\n  traceback : Signal 9 (SIGKILL) received by PID 4242\n")) == "read");
    CHECK(told("#!/bin/bash\n# restart after an oom-kill\ntorchrun train.py\n") == "problem.read_run_format");
}

TEST_CASE("PyTorch's allocator on cudaMallocAsync says it in lines of its own") {
    const Json answer = read(
        "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\n"
        "Currently allocated     : 70.12 GiB\nRequested               : 2.00 GiB\nDevice limit            : 79.15 GiB\n"
        "Free (according to CUDA): 10.00 MiB\n");
    CHECK(numbers(answer) == "tried 2.00 GiB 1 -; capacity 79.15 GiB 1 -; allocated 70.12 GiB 1 -; free 10.00 MiB 1 -; ");
    CHECK(answer["ended"] == "memory");
}
