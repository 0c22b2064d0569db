"""Turns the lines of trainer.py into rows of tests/evidence:

    python3 tests/evidence/made/rows.py rows.jsonl ... >tests/evidence/transformers.jsonl
"""

import json
import pathlib
import sys

DATA = pathlib.Path(__file__).resolve().parents[3] / "core" / "data"
HELD = {
    "bf16": {"moments": "16-bit", "master_weights": "off", "gradients_in_fp32": False},
    "fp32": {"moments": "fp32", "gradients_in_fp32": True},
    "lora": {"trained": "lora", "lora_rank": 16, "lora_targets": "query,key,value,output,gate,up,down"},
}
WORKSPACES = 66 * 2**20  # of the libraries, at most: they stay from run to run
TARGETS = {"q_proj": "query", "k_proj": "key", "v_proj": "value", "o_proj": "output"}
GPUS = {"NVIDIA H200": "h200-sxm-141gb", "NVIDIA H100 80GB HBM3": "h100-sxm-80gb"}


def request_of(run):
    request = {
        "sequence_length": run["sequence_length"],
        "micro_batch": run["micro_batch"],
        "global_batch": run["micro_batch"] * run.get("sum", 1) * run.get("ranks", 1),
        "recompute": "full" if run.get("recompute") else "none",
        "attention": "plain" if run.get("attention") == "eager" else "auto",
        **HELD[run["held"]],
    }
    if "ranks" in run:
        request |= {"gpus": run["ranks"], "zero": "none" if run["share"] == "ddp" else "gradients" if run.get("keep") else "weights"}
    if run.get("share") == "fsdp" and run["held"] == "bf16":  # what learns is held in fp32 (accelerate, fsdp2_prepare_model)
        del request["master_weights"]
        request |= HELD["fp32"]
    if run["model"].startswith(("gpt2", "opt")):  # their classes have dropout
        request["hidden_dropout"] = True
    if run["model"].startswith("gpt2"):
        request["attention_dropout"] = True
    if "targets" in run:
        request["lora_targets"] = ",".join(TARGETS[name] for name in run["targets"])
    return request


def config_of(model):
    path = DATA / "named_models" / (model + ".json")
    return json.loads(path.read_text())["config"] if path.exists() else None


def family_of(run, gpu):
    for name in ("again", "unseen"):
        if name + "-" in run["run"] or (name == "unseen" and run["run"].startswith(("far-", "farther-"))):
            return "transformers-" + name
    if "share" in run:
        return "transformers-" + run["share"]
    if gpu.startswith("h100"):
        return "transformers-h100"
    for name in ("later", "blind"):
        if run["run"].startswith(name):
            return "transformers-" + name
    return "transformers-" + ("lora" if run["held"] == "lora" else "full")


def row_of(run, gpu, job):
    row = {"id": run["run"] + ("" if "share" in run or gpu.startswith("h200") else "@" + gpu.split("-")[0].upper()), "job": job, "outcome": {"ran": "ran", "out of memory": "oom"}[run["outcome"]], "model": run["model"],
           "family": family_of(run, gpu), "request": {"gpu": gpu, **request_of(run)}, "stage": 0}
    if run["outcome"] == "ran":
        left = max(0, run["before_bytes"] - WORKSPACES)  # by an earlier run of the same process
        row |= {"peak_bytes": run["peak_bytes"] - left, "static_bytes": run["states_bytes"] - left, "reserved_bytes": run["reserved_bytes"] - left}
        if "ranks" not in run:  # whose messages are not sent
            row["step_seconds"] = run["step_seconds"]
    return row


def main():
    head, models, rows = None, {}, []
    for line in [line for path in sys.argv[1:] for line in pathlib.Path(path).read_text().splitlines()]:
        run = json.loads(line)
        if "gpu" in run:
            head, gpu = run, GPUS[run["gpu"]]
            continue
        if run["outcome"] != "failed":
            rows.append(row_of(run, gpu, len(rows)))
            models |= {run["model"]: config} if (config := config_of(run["model"])) else {}
    source = {
        "source": "Measured for this table: Hugging Face’s Trainer on one GPU",
        "url": "https://github.com/huggingface/transformers",
        "stack": "Transformers",
        "standing": "fit",
        "families": {"transformers-later": "seen", "transformers-blind": "blind", "transformers-h100": "seen", "transformers-unseen": "seen", "transformers-ddp": "seen", "transformers-fsdp": "seen"},
        "request": {"schedule": "1f1b", "layout": "equal", "gpus": 1, "gpus_per_node": 8, "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 1,
                    "virtual_stages": 1, "expert_parallel": 1, "expert_tensor_parallel": 1, "sequence_parallel": False, "framework": "transformers", "zero": "none",
                    "recompute_layers": 1, "precision": "bf16"},
        "assumed": [],
        "models": models,
        "note": "How: tests/evidence/made/trainer.py (transformers %s, torch %s), the Trainer's own settings but bf16=True; random weights and tokens; six steps, time is the middle of the "
                "last four, memory the most after the first. static_bytes is between two steps, without gradients. ddp and fsdp: one of several processes whose messages are not sent, so that there is no time." % (head["transformers"], head["torch"]),
    }
    for one in [source, *rows]:
        print(json.dumps(one, ensure_ascii=False))


main()
