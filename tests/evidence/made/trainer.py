"""Measures training steps of Hugging Face's Trainer on one GPU, with random weights and random tokens, and prints a JSON line per run:
bytes that PyTorch had allocated and reserved at most, and seconds per optimizer step.

    python3 tests/evidence/made/trainer.py [SECONDS] [NAME ...] >rows.jsonl     (torch, transformers, accelerate, peft)

Nothing is downloaded: shapes are those of core/data. SECONDS: no run starts later than this. NAME: only these runs; * stands for anything.

A run that names "ranks" is the first of so many processes whose messages are not sent (PyTorch's "fake" process group): what is allocated
is as with all of them, what is computed is not, and its time leaves the network out. Such runs need names, all of one number and share.
"""

import fnmatch
import gc
import json
import os
import pathlib
import statistics
import sys
import time
import traceback

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainerCallback, TrainingArguments

DATA = pathlib.Path(__file__).resolve().parents[3] / "core" / "data"
STEPS = 6

# name: model, how weights are held, sequences at once, tokens each, and what differs from the Trainer's own settings.
# bf16: weights, gradients and Adam's moments in bf16. fp32: all in fp32, products in bf16 (autocast). lora: frozen weights in bf16.
RUNS = {
    "1b-bf16": ("llama-3.2-1b", "bf16", 4, 2048, {}),
    "1b-fp32": ("llama-3.2-1b", "fp32", 4, 2048, {}),
    "8b-lora-rc": ("llama-3.1-8b", "lora", 4, 2048, {"recompute": True}),
    "8b-bf16-rc": ("llama-3.1-8b", "bf16", 1, 4096, {"recompute": True}),
    "1b-fp32-rc": ("llama-3.2-1b", "fp32", 8, 2048, {"recompute": True}),
    "3b-bf16": ("llama-3.2-3b", "bf16", 2, 4096, {}),
    "3b-bf16-rc": ("llama-3.2-3b", "bf16", 4, 4096, {"recompute": True}),
    "3b-fp32-rc": ("llama-3.2-3b", "fp32", 2, 4096, {"recompute": True}),
    "1b-bf16-short": ("llama-3.2-1b", "bf16", 1, 256, {}),
    "1b-bf16-8k": ("llama-3.2-1b", "bf16", 1, 8192, {}),
    "8b-lora": ("llama-3.1-8b", "lora", 1, 2048, {}),
    "8b-lora-8k-rc": ("llama-3.1-8b", "lora", 1, 8192, {"recompute": True}),
    "olmoe-bf16-rc": ("olmoe-1b-7b", "bf16", 2, 2048, {"recompute": True}),
    "qwen3-4b-bf16-rc": ("qwen3-4b", "bf16", 4, 2048, {"recompute": True}),
    "mistral-bf16-rc": ("mistral-7b", "bf16", 2, 4096, {"recompute": True}),
    "gemma2-2b-bf16-rc": ("gemma-2-2b", "bf16", 2, 2048, {"recompute": True}),
    "1b-bf16-sum4": ("llama-3.2-1b", "bf16", 2, 2048, {"sum": 4}),
    "1b-bf16-eager": ("llama-3.2-1b", "bf16", 2, 2048, {"attention": "eager"}),
    "qwen3-14b-lora-rc": ("qwen3-14b", "lora", 2, 2048, {"recompute": True}),
    "1b-lora": ("llama-3.2-1b", "lora", 8, 2048, {}),
    "qwen2.5-7b-bf16-rc": ("qwen2.5-7b", "bf16", 1, 2048, {"recompute": True}),
    "phi3-bf16-rc": ("phi-3-mini", "bf16", 4, 2048, {"recompute": True}),
    "tinyllama-fp32": ("tinyllama-1.1b", "fp32", 4, 2048, {}),
    "1b-fp32-4k": ("llama-3.2-1b", "fp32", 1, 4096, {}),
    "gpt2-fp32": ("gpt2-355m", "fp32", 8, 1024, {}),
    "pythia-bf16": ("pythia-1.4b", "bf16", 4, 2048, {}),
    "smollm2-fp32": ("smollm2-1.7b", "fp32", 2, 2048, {}),
    "3b-lora-qv-rc": ("llama-3.2-3b", "lora", 8, 2048, {"recompute": True, "targets": ["q_proj", "v_proj"]}),
    "8b-bf16-rc-8k": ("llama-3.1-8b", "bf16", 1, 8192, {"recompute": True}),
    "8b-lora-16k-rc": ("llama-3.1-8b", "lora", 1, 16384, {"recompute": True}),
    "8b-lora-mb4": ("llama-3.1-8b", "lora", 4, 2048, {}),
    "qwen3-4b-fp32-rc": ("qwen3-4b", "fp32", 1, 2048, {"recompute": True}),
    "olmoe-lora-rc": ("olmoe-1b-7b", "lora", 4, 2048, {"recompute": True, "targets": ["q_proj", "k_proj", "v_proj", "o_proj"]}),
    "1b-bf16-32": ("llama-3.2-1b", "bf16", 32, 2048, {"recompute": True}),
    # looked at after the estimate of all of these was written down
    "later-llama2-7b-bf16-rc": ("llama-2-7b", "bf16", 2, 4096, {"recompute": True}),
    "later-8b-bf16-rc-sum": ("llama-3.1-8b", "bf16", 2, 2048, {"recompute": True, "sum": 2}),
    "later-qwen2.5-3b-fp32-rc": ("qwen2.5-3b", "fp32", 4, 2048, {"recompute": True}),
    "later-qwen3-1.7b-bf16": ("qwen3-1.7b", "bf16", 2, 4096, {}),
    "later-qwen3-8b-lora-rc": ("qwen3-8b", "lora", 4, 4096, {"recompute": True}),
    "later-qwen2.5-14b-lora-rc": ("qwen2.5-14b", "lora", 1, 4096, {"recompute": True}),
    "later-nemo-12b-lora-rc": ("mistral-nemo-12b", "lora", 2, 2048, {"recompute": True}),
    "later-smollm3-bf16-rc": ("smollm3-3b", "bf16", 2, 8192, {"recompute": True}),
    "later-olmo2-7b-bf16-rc": ("olmo-2-7b", "bf16", 1, 4096, {"recompute": True}),
    "later-yi-6b-bf16": ("yi-6b", "bf16", 1, 2048, {}),
    "later-13b-lora": ("codellama-13b", "lora", 1, 2048, {}),
    "later-3b-lora": ("llama-3.2-3b", "lora", 2, 2048, {}),
    "later-1b-fp32-8k": ("llama-3.2-1b", "fp32", 2, 8192, {}),
    "later-qwen3-0.6b-fp32": ("qwen3-0.6b", "fp32", 8, 2048, {}),
    "later-gemma-2b-bf16-rc": ("gemma-2b", "bf16", 4, 2048, {"recompute": True}),
    "later-starcoder2-3b-bf16": ("starcoder2-3b", "bf16", 2, 2048, {}),
    "later-phi4-mini-bf16-rc": ("phi-4-mini", "bf16", 2, 4096, {"recompute": True}),
    "later-qwen3-30b-lora-rc": ("qwen3-30b-a3b", "lora", 1, 2048, {"recompute": True, "targets": ["q_proj", "k_proj", "v_proj", "o_proj"]}),
    "later-tinyllama-bf16-rc": ("tinyllama-1.1b", "bf16", 16, 2048, {"recompute": True}),
    "later-qwen2.5-32b-lora-rc": ("qwen2.5-32b", "lora", 1, 4096, {"recompute": True}),
    "later-8b-lora-32k-rc": ("llama-3.1-8b", "lora", 1, 32768, {"recompute": True}),
    "later-8b-fp32-rc": ("llama-3.1-8b", "fp32", 1, 2048, {"recompute": True}),
    "later-14b-bf16-rc": ("qwen3-14b", "bf16", 4, 8192, {"recompute": True}),
    "later-14b-bf16-rc-small": ("qwen3-14b", "bf16", 1, 2048, {"recompute": True}),
    # looked at when nothing was changed any more
    "blind-1b-bf16-39": ("llama-3.2-1b", "bf16", 39, 2048, {"recompute": True}),
    "blind-1b-bf16-41": ("llama-3.2-1b", "bf16", 41, 2048, {"recompute": True}),
    "blind-8b-lora-7": ("llama-3.1-8b", "lora", 7, 2048, {}),
    "blind-8b-lora-15": ("llama-3.1-8b", "lora", 15, 1024, {}),
    "blind-qwen3-4b-bf16": ("qwen3-4b", "bf16", 1, 4096, {}),
    "blind-deepseek-7b-bf16-rc": ("deepseek-llm-7b", "bf16", 2, 2048, {"recompute": True}),
    "blind-llama-7b-lora": ("llama-7b", "lora", 2, 2048, {}),
    "blind-3b-fp32": ("llama-3.2-3b", "fp32", 1, 2048, {}),
    "blind-gpt2-1.5b-bf16": ("gpt2-1.5b", "bf16", 4, 1024, {}),
    "blind-opt-1.3b-fp32-rc": ("opt-1.3b", "fp32", 8, 2048, {"recompute": True}),
    "blind-pythia-2.8b-lora": ("pythia-2.8b", "lora", 4, 2048, {}),
    "blind-smollm2-bf16-8k": ("smollm2-1.7b", "bf16", 1, 8192, {}),
    "blind-mistral-v0.3-lora-rc": ("mistral-7b-v0.3", "lora", 8, 2048, {"recompute": True}),
    "blind-qwen2.5-1.5b-fp32-rc": ("qwen2.5-1.5b", "fp32", 16, 1024, {"recompute": True}),
    "blind-gemma-7b-bf16-rc": ("gemma-7b", "bf16", 1, 4096, {"recompute": True}),
    "blind-olmo2-13b-lora-rc": ("olmo-2-13b", "lora", 2, 4096, {"recompute": True}),
    "blind-qwen2.5-0.5b-bf16": ("qwen2.5-0.5b", "bf16", 16, 1024, {}),
    "blind-starcoder2-7b-bf16-rc": ("starcoder2-7b", "bf16", 2, 4096, {"recompute": True}),
    "blind-qwen3-30b-lora-rc": ("qwen3-30b-a3b", "lora", 4, 2048, {"recompute": True, "targets": ["q_proj", "v_proj"]}),
    "blind-yi-34b-lora-rc": ("yi-34b", "lora", 1, 4096, {"recompute": True}),
    "blind-1b-bf16-42": ("llama-3.2-1b", "bf16", 42, 2048, {"recompute": True}),
    "blind-8b-bf16-rc-13k": ("llama-3.1-8b", "bf16", 3, 13312, {"recompute": True}),
    # one of several processes: share is "ddp" (every process holds all) or "fsdp" (version 2, the Trainer's own)
    "ddp-1b-bf16": ("llama-3.2-1b", "bf16", 4, 2048, {"share": "ddp", "ranks": 8}),
    "ddp-1b-fp32": ("llama-3.2-1b", "fp32", 4, 2048, {"share": "ddp", "ranks": 8}),
    "ddp-8b-lora-rc": ("llama-3.1-8b", "lora", 4, 2048, {"share": "ddp", "ranks": 8, "recompute": True}),
    "ddp-3b-bf16-rc": ("llama-3.2-3b", "bf16", 4, 4096, {"share": "ddp", "ranks": 8, "recompute": True}),
    "ddp-1b-bf16-sum4": ("llama-3.2-1b", "bf16", 2, 2048, {"share": "ddp", "ranks": 8, "sum": 4}),
    "ddp-qwen3-1.7b-fp32-rc": ("qwen3-1.7b", "fp32", 4, 2048, {"share": "ddp", "ranks": 8, "recompute": True}),
    "fsdp-1b-fp32": ("llama-3.2-1b", "fp32", 4, 2048, {"share": "fsdp", "ranks": 8}),
    "fsdp-1b-bf16": ("llama-3.2-1b", "bf16", 4, 2048, {"share": "fsdp", "ranks": 8}),
    "fsdp-1b-fp32-rc": ("llama-3.2-1b", "fp32", 8, 2048, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "fsdp-8b-bf16-rc": ("llama-3.1-8b", "bf16", 2, 4096, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "fsdp-8b-fp32": ("llama-3.1-8b", "fp32", 1, 2048, {"share": "fsdp", "ranks": 8}),
    "fsdp-8b-lora-rc": ("llama-3.1-8b", "lora", 4, 2048, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "fsdp-qwen3-4b-bf16-rc-sum2": ("qwen3-4b", "bf16", 2, 4096, {"share": "fsdp", "ranks": 8, "recompute": True, "sum": 2}),
    "fsdp-3b-bf16-short": ("llama-3.2-3b", "bf16", 1, 512, {"share": "fsdp", "ranks": 8}),
    "wide-3b-bf16-rc": ("llama-3.2-3b", "bf16", 2, 4096, {"share": "fsdp", "ranks": 64, "recompute": True}),
    "wide-8b-fp32-rc": ("llama-3.1-8b", "fp32", 2, 2048, {"share": "fsdp", "ranks": 64, "recompute": True}),
    "ddp-1b-fp32-sum2": ("llama-3.2-1b", "fp32", 4, 2048, {"share": "ddp", "ranks": 8, "sum": 2}),
    "ddp-yi-6b-lora-sum2": ("yi-6b", "lora", 2, 2048, {"share": "ddp", "ranks": 8, "sum": 2}),
    "ddp-gemma2-2b-bf16-rc-sum2": ("gemma-2-2b", "bf16", 2, 2048, {"share": "ddp", "ranks": 8, "sum": 2, "recompute": True}),
    "fsdp-3b-fp32-keep": ("llama-3.2-3b", "fp32", 2, 2048, {"share": "fsdp", "ranks": 8, "keep": True}),
    "fsdp-8b-bf16-rc-keep": ("llama-3.1-8b", "bf16", 1, 2048, {"share": "fsdp", "ranks": 8, "keep": True, "recompute": True}),
    "fsdp-8b-bf16-tiny": ("llama-3.1-8b", "bf16", 1, 256, {"share": "fsdp", "ranks": 8}),
    # looked at when the estimate of the rows above was done
    "blind-ddp-gemma-2b-bf16-rc": ("gemma-2b", "bf16", 4, 2048, {"share": "ddp", "ranks": 8, "recompute": True}),
    "blind-ddp-qwen2.5-1.5b-fp32": ("qwen2.5-1.5b", "fp32", 4, 1024, {"share": "ddp", "ranks": 8}),
    "blind-ddp-3b-lora-sum4": ("llama-3.2-3b", "lora", 2, 2048, {"share": "ddp", "ranks": 8, "sum": 4}),
    "blind-ddp-smollm2-fp32-rc-sum4": ("smollm2-1.7b", "fp32", 4, 2048, {"share": "ddp", "ranks": 8, "sum": 4, "recompute": True}),
    "blind-fsdp-mistral-bf16-rc": ("mistral-7b", "bf16", 1, 4096, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "blind-fsdp-qwen3-8b-bf16-rc": ("qwen3-8b", "bf16", 2, 2048, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "blind-fsdp-3b-fp32": ("llama-3.2-3b", "fp32", 2, 2048, {"share": "fsdp", "ranks": 8}),
    "blind-fsdp-olmoe-bf16-rc": ("olmoe-1b-7b", "bf16", 2, 2048, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "blind-fsdp-14b-lora-rc": ("qwen2.5-14b", "lora", 2, 2048, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "blind-fsdp-qwen3-1.7b-bf16-short": ("qwen3-1.7b", "bf16", 1, 512, {"share": "fsdp", "ranks": 8}),
    "blind-fsdp-yi-6b-bf16": ("yi-6b", "bf16", 1, 2048, {"share": "fsdp", "ranks": 8}),
    "blind-fsdp-phi3-bf16-rc-sum4": ("phi-3-mini", "bf16", 2, 2048, {"share": "fsdp", "ranks": 8, "sum": 4, "recompute": True}),
    "blind-fsdp-gemma2-2b-bf16-rc": ("gemma-2-2b", "bf16", 2, 2048, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "blind-fsdp-13b-bf16-rc": ("codellama-13b", "bf16", 1, 4096, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "blind-fsdp-gpt2-1.5b-fp32": ("gpt2-1.5b", "fp32", 4, 1024, {"share": "fsdp", "ranks": 8}),
    "blind-fsdp-7b-lora-sum2": ("llama-2-7b", "lora", 1, 4096, {"share": "fsdp", "ranks": 8, "sum": 2, "recompute": True}),
    "blind-wide-qwen2.5-7b-bf16-rc": ("qwen2.5-7b", "bf16", 4, 4096, {"share": "fsdp", "ranks": 64, "recompute": True}),
    "blind-wide-1b-fp32": ("llama-3.2-1b", "fp32", 2, 2048, {"share": "fsdp", "ranks": 64}),
    # on another card, as the runs of a single process above that were done on both
    "card-qwen2.5-1.5b-bf16": ("qwen2.5-1.5b", "bf16", 4, 2048, {}),
    "card-3b-lora-rc": ("llama-3.2-3b", "lora", 4, 4096, {"recompute": True}),
    "card-qwen3-8b-lora-rc": ("qwen3-8b", "lora", 2, 4096, {"recompute": True}),
    "card-tinyllama-fp32-rc": ("tinyllama-1.1b", "fp32", 8, 2048, {"recompute": True}),
    "card-gemma-2b-bf16": ("gemma-2b", "bf16", 1, 4096, {}),
    "card-nemo-12b-lora-rc": ("mistral-nemo-12b", "lora", 4, 2048, {"recompute": True}),
    "card-opt-1.3b-bf16": ("opt-1.3b", "bf16", 4, 2048, {}),
    "card-starcoder2-7b-bf16-rc": ("starcoder2-7b", "bf16", 1, 4096, {"recompute": True}),
    "card-yi-6b-bf16-rc": ("yi-6b", "bf16", 2, 2048, {"recompute": True}),
    "card-pythia-fp32": ("pythia-1.4b", "fp32", 2, 2048, {}),
    "card-smollm2-bf16": ("smollm2-1.7b", "bf16", 4, 2048, {}),
    "card-phi4-mini-lora": ("phi-4-mini", "lora", 2, 2048, {}),
    "card-olmoe-lora-rc": ("olmoe-1b-7b", "lora", 2, 4096, {"recompute": True, "targets": ["q_proj", "v_proj"]}),
    "card-13b-lora": ("codellama-13b", "lora", 2, 2048, {}),
    "card-8b-lora-12k-rc": ("llama-3.1-8b", "lora", 1, 12288, {"recompute": True}),
    # shapes of which nothing above was measured: the estimate of these was written down before
    "again-gemma3-1b-fp32": ("gemma-3-1b", "fp32", 4, 2048, {}),
    "again-minitron-bf16-rc": ("minitron-4b", "bf16", 4, 4096, {"recompute": True}),
    "again-gpt-oss-lora-rc": ("gpt-oss-20b", "lora", 2, 2048, {"recompute": True, "attention": "eager", "targets": ["q_proj", "k_proj", "v_proj", "o_proj"]}),
    "again-v2-lite-lora-rc": ("deepseek-v2-lite", "lora", 2, 4096, {"recompute": True, "targets": ["q_proj", "o_proj"]}),
    "again-falcon-7b-bf16-rc": ("falcon-7b", "bf16", 2, 2048, {"recompute": True}),
    "again-qwen1.5-moe-lora-rc": ("qwen1.5-moe-a2.7b", "lora", 4, 2048, {"recompute": True, "targets": ["q_proj", "k_proj", "v_proj", "o_proj"]}),
    "again-gemma3-4b-bf16-rc": ("gemma-3-4b", "bf16", 2, 4096, {"recompute": True}),
    "again-phi-2-bf16": ("phi-2", "bf16", 2, 2048, {}),
    "again-bloom-3b-bf16-rc": ("bloom-3b", "bf16", 2, 2048, {"recompute": True}),
    "again-gpt-neo-1.3b-fp32": ("gpt-neo-1.3b", "fp32", 4, 2048, {}),
    "again-moonlight-lora-rc": ("moonlight-16b-a3b", "lora", 1, 4096, {"recompute": True, "targets": ["q_proj", "o_proj"]}),
    "again-gpt-j-6b-bf16-rc": ("gpt-j-6b", "bf16", 2, 2048, {"recompute": True, "class": "gptj"}),
    "again-smollm2-135m-fp32": ("smollm2-135m", "fp32", 16, 1024, {}),
    "again-granite-2b-bf16": ("granite-3-2b", "bf16", 2, 4096, {"class": "granite"}),
    "again-falcon3-7b-lora": ("falcon3-7b", "lora", 2, 2048, {}),
    "again-gemma2-9b-lora-rc": ("gemma-2-9b", "lora", 2, 4096, {"recompute": True}),
    "again-neox-20b-lora-rc": ("gpt-neox-20b", "lora", 2, 2048, {"recompute": True}),
    "again-phi3.5-lora": ("phi-3.5-mini", "lora", 2, 4096, {}),
    "again-glm-4-9b-lora-rc": ("glm-4-9b", "lora", 2, 4096, {"recompute": True}),
    "again-gemma3-12b-lora-rc": ("gemma-3-12b", "lora", 1, 8192, {"recompute": True}),
    "again-opt-2.7b-bf16": ("opt-2.7b", "bf16", 2, 2048, {}),
    "again-olmo-1b-fp32-rc": ("olmo-1b", "fp32", 8, 2048, {"recompute": True, "class": "olmo"}),
    "again-phi-4-lora-rc": ("phi-4", "lora", 1, 8192, {"recompute": True}),
    "again-mixtral-lora-rc": ("mixtral-8x7b", "lora", 1, 2048, {"recompute": True, "targets": ["q_proj", "k_proj", "v_proj", "o_proj"]}),
    "fsdp-again-gemma3-4b-fp32-rc": ("gemma-3-4b", "fp32", 2, 2048, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "fsdp-again-minitron-bf16-rc": ("minitron-4b", "bf16", 2, 4096, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "fsdp-again-falcon-7b-bf16-rc": ("falcon-7b", "bf16", 2, 2048, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "fsdp-again-qwen1.5-moe-bf16-rc": ("qwen1.5-moe-a2.7b", "bf16", 2, 2048, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "fsdp-again-14b-bf16-rc": ("qwen3-14b", "bf16", 1, 4096, {"share": "fsdp", "ranks": 8, "recompute": True}),
    "fsdp-again-phi-4-bf16-rc": ("phi-4", "bf16", 2, 4096, {"share": "fsdp", "ranks": 8, "recompute": True}),
    # looked at when the estimate of those was done
    "unseen-olmoe-lora-8k-rc": ("olmoe-1b-7b", "lora", 1, 8192, {"recompute": True, "targets": ["q_proj", "k_proj", "v_proj", "o_proj"]}),
    "unseen-qwen3-30b-lora-rc": ("qwen3-30b-a3b", "lora", 2, 4096, {"recompute": True, "targets": ["q_proj", "k_proj", "v_proj", "o_proj"]}),
    "unseen-gpt-oss-lora-4k-rc": ("gpt-oss-20b", "lora", 1, 4096, {"recompute": True, "attention": "eager", "targets": ["q_proj", "k_proj", "v_proj", "o_proj"]}),
    "unseen-gpt-oss-lora-1k": ("gpt-oss-20b", "lora", 4, 1024, {"attention": "eager", "targets": ["q_proj", "v_proj"]}),
    "unseen-mixtral-lora-4k-rc": ("mixtral-8x7b", "lora", 2, 4096, {"recompute": True, "targets": ["q_proj", "v_proj"]}),
    "unseen-v2-lite-lora": ("deepseek-v2-lite", "lora", 1, 2048, {"targets": ["q_proj", "o_proj"]}),
    "unseen-moonlight-lora-rc": ("moonlight-16b-a3b", "lora", 4, 2048, {"recompute": True, "targets": ["q_proj", "o_proj"]}),
    "unseen-olmoe-bf16": ("olmoe-1b-7b", "bf16", 1, 4096, {}),
    "unseen-qwen1.5-moe-lora": ("qwen1.5-moe-a2.7b", "lora", 1, 2048, {"targets": ["q_proj", "v_proj"]}),
    "unseen-gemma3-1b-bf16-rc": ("gemma-3-1b", "bf16", 8, 1024, {"recompute": True}),
    "unseen-falcon-7b-lora-rc": ("falcon-7b", "lora", 1, 2048, {"recompute": True}),
    "far-qwen1.5-moe-bf16-rc": ("qwen1.5-moe-a2.7b", "bf16", 1, 2048, {"share": "fsdp", "ranks": 64, "recompute": True}),
    "far-olmoe-bf16-rc": ("olmoe-1b-7b", "bf16", 1, 2048, {"share": "fsdp", "ranks": 64, "recompute": True}),
    "farther-olmoe-bf16-rc": ("olmoe-1b-7b", "bf16", 1, 2048, {"share": "fsdp", "ranks": 256, "recompute": True}),
    "farther-qwen1.5-moe-lora-rc": ("qwen1.5-moe-a2.7b", "lora", 2, 2048, {"share": "fsdp", "ranks": 256, "recompute": True, "targets": ["q_proj", "v_proj"]}),
}


class Tokens(torch.utils.data.Dataset):
    def __init__(self, vocabulary, length):
        self.vocabulary, self.length = vocabulary, length

    def __len__(self):
        return 4096

    def __getitem__(self, i):
        ids = torch.randint(0, self.vocabulary, (self.length,), generator=torch.Generator().manual_seed(i))
        return {"input_ids": ids, "labels": ids.clone()}


class Watch(TrainerCallback):
    def __init__(self):
        self.ends, self.states, self.first = [], 0, 0

    def on_step_end(self, args, state, control, **kwargs):
        torch.cuda.synchronize()
        self.ends.append(time.perf_counter())
        if len(self.ends) == 1:
            self.states = torch.cuda.memory_allocated()  # weights and the optimizer's state; gradients are gone
            self.first = torch.cuda.max_memory_allocated()
            torch.cuda.reset_peak_memory_stats()


def join(ranks):
    """Makes this process the first of so many, whose messages are not sent."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=ranks)
    first = torch.nn.parallel.DistributedDataParallel.__init__

    def init(self, *given, **named):  # the fake group answers with nothing, where a bucket is asked for
        first(self, *given, **named)

        def same(state, bucket):
            done = torch.futures.Future()
            done.set_result(bucket.buffer())
            return done

        self.register_comm_hook(None, same)

    torch.nn.parallel.DistributedDataParallel.__init__ = init


def shape(name, kind):
    for folder in ("models", "named_models"):
        path = DATA / folder / (name + ".json")
        if path.exists():
            config = json.loads(path.read_text())["config"]
            own = config.pop("model_type")
            return AutoConfig.for_model(kind or own, **config)
    raise SystemExit("no model " + name)


def model_of(name, held, how):
    config = shape(name, how.get("class"))
    config._attn_implementation = how.get("attention", "sdpa")
    for special in ("bos_token_id", "eos_token_id", "pad_token_id"):
        setattr(config, special, None)
    torch.manual_seed(0)
    made = lambda: AutoModelForCausalLM.from_config(config, dtype=torch.float32 if held == "fp32" else torch.bfloat16)
    with torch.device("cuda"):
        try:
            model = made()
        except (ValueError, ImportError):  # a class that has no other attention
            config._attn_implementation = "eager"
            model = made()
    if held == "lora":
        import peft

        targets = how.get("targets", "all-linear")
        model = peft.get_peft_model(model, peft.LoraConfig(r=16, lora_alpha=32, lora_dropout=0.0, target_modules=targets, task_type="CAUSAL_LM"))
    return model, config


def measure(name, held, micro_batch, length, how):
    model, config = model_of(name, held, how)
    arguments = TrainingArguments(
        output_dir="/tmp/trainer",
        per_device_train_batch_size=micro_batch,
        gradient_accumulation_steps=how.get("sum", 1),
        gradient_checkpointing=how.get("recompute", False),
        bf16=True,
        max_steps=STEPS,
        save_strategy="no",
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
        **({"fsdp": True, "fsdp_config": {"reshard_after_forward": not how.get("keep", False)}} if how.get("share") == "fsdp" else {}),
    )
    watch = Watch()
    trainer = Trainer(model=model, args=arguments, train_dataset=Tokens(config.vocab_size, length), callbacks=[watch])
    trainer.remove_callback(transformers.trainer_callback.PrinterCallback)
    weights = torch.cuda.memory_allocated()
    trainer.train()
    seconds = [b - a for a, b in zip(watch.ends, watch.ends[1:])][1:]
    return {
        "outcome": "ran",
        "parameters": sum(p.numel() for p in model.parameters()),
        "trainable": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "optimizer": str(arguments.optim),
        "attention": config._attn_implementation,
        "weights_bytes": weights,
        "states_bytes": watch.states,
        "first_peak_bytes": watch.first,
        "peak_bytes": torch.cuda.max_memory_allocated(),
        "reserved_bytes": torch.cuda.max_memory_reserved(),
        "step_seconds": round(statistics.median(seconds), 5),
        "all_seconds": [round(s, 5) for s in seconds],
    }


def kind(how):
    return how.get("ranks", 1), how.get("share", "")


def clear():
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def main():
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 1e9
    wanted, start = sys.argv[2:], time.time()
    print(json.dumps({"gpu": torch.cuda.get_device_name(), "bytes": torch.cuda.get_device_properties(0).total_memory, "torch": torch.__version__,
                      "transformers": transformers.__version__}), flush=True)
    transformers.logging.set_verbosity_error()
    kinds = {kind(how) for key, (*_, how) in RUNS.items() if any(fnmatch.fnmatch(key, w) for w in wanted)} or {kind({})}
    if len(kinds) > 1:
        raise SystemExit("name runs that are all of one process, or of one number of ranks and one share: the process stays what it became")
    if kinds != {kind({})}:
        join(min(kinds)[0])
    for key, (name, held, micro_batch, length, how) in RUNS.items():
        if kind(how) not in kinds or (wanted and not any(fnmatch.fnmatch(key, w) for w in wanted)) or time.time() - start > limit:
            continue
        clear()
        row = {"run": key, "model": name, "held": held, "micro_batch": micro_batch, "sequence_length": length, **how,
               "before_bytes": torch.cuda.memory_allocated()}
        began = time.time()
        try:
            row |= measure(name, held, micro_batch, length, how)
        except torch.OutOfMemoryError as error:
            row |= {"outcome": "out of memory", "said": str(error)[:300], "peak_bytes": torch.cuda.max_memory_allocated()}
        except Exception as error:  # told in its row; the other runs go on
            traceback.print_exc()
            row |= {"outcome": "failed", "said": repr(error)[:600]}
        row["took"] = round(time.time() - began, 1)
        print(json.dumps(row), flush=True)


main()
