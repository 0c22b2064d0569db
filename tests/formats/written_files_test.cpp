// Files that a script writes or changes, or a page names, and what Slurm shows of a node's GPUs.
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {
const std::string kLlamaWords = "--model_name_or_path meta-llama/Llama-2-7b-hf --max_seq_length 512 ";
}  // namespace

TEST_CASE("the shell: what Slurm shows of a node's GPUs, and files that sed writes or changes") {
    const std::string train =
        "NGPU=$(nvidia-smi -L | wc -l)\ntorchrun --nproc_per_node $NGPU train.py --per_device_train_batch_size 2 " + kLlamaWords + "\n";
    CHECK(some(first_of_script("#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:a100:4\n" + train), {"gpus"}) == "gpus=4");
    CHECK(read_script_of("#!/bin/bash\n" + train)["questions"][0]["name"] == "NGPU");
    const std::string file =
        "parallelism:\n  dp: 4\n  tp: 1\n  pp: 1\ntokens:\n  micro_batch_size: 2\n  batch_accumulation_per_replica: 4\n"
        "  sequence_length: 512\nmodel:\n  dtype: bfloat16\n  model_config:\n    hidden_size: 512\n    intermediate_size: 1024\n"
        "    num_hidden_layers: 4\n    num_attention_heads: 8\n    num_key_value_heads: 8\n    vocab_size: 1000\n    is_llama_config: "
        "true\n";
    const std::string run = "torchrun --nproc_per_node 4 run_train.py --config-file a.yaml\n";
    const auto batches = [&](const std::string& changes) {
        return some(first_of_script("cat > a.yaml <<'EOF'\n" + file + "EOF\n" + changes + run), {"micro_batch", "global_batch"});
    };
    CHECK(batches("") == "micro_batch=2 global_batch=32");
    CHECK(batches("A=a.yaml\nsed -i 's/^  batch_accumulation_per_replica: .*/  batch_accumulation_per_replica: 16/' \"$A\"\n") ==
          "micro_batch=2 global_batch=128");
    CHECK(batches("sed -i -e \"s/micro_batch_size: 2/micro_batch_size: 1/\" a.yaml\n") == "micro_batch=1 global_batch=16");
    CHECK(batches("sed -i '/micro_batch/d' a.yaml\n") == "micro_batch=? global_batch=?");  // what stands in it is not known
    CHECK(some(first_of_script("N=8\nsed \"s/%N%/$N/g\" > a.yaml << 'EOF'\n" + file + "  train_steps: %N%\nEOF\n" + run), {"gpus"}) ==
          "gpus=4");
}

TEST_CASE("a page names a file in the line before it") {
    const std::string settings =
        "```yaml\n### model\nmodel_name_or_path: Qwen/Qwen2.5-7B\n### method\nstage: sft\nfinetuning_type: full\ncutoff_len: 1024\n"
        "per_device_train_batch_size: 3\nbf16: true\n```\n";
    const Json job = first_of_script("# Tuning\nOne file:\n\n" + settings + "\nWrite `conf/full.yaml` (all weights):\n\n" + settings +
                                     "\n```bash\nllamafactory-cli train conf/full.yaml\n```\n");
    CHECK(some(job, {"sequence_length", "micro_batch"}) == "sequence_length=1024 micro_batch=3");
}
