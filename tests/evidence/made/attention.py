"""Fits the rate of fused attention on Hopper and what narrow heads cost, to both passes of single kernels (operations.py: PyTorch's
scaled_dot_product_attention, a causal mask, cuDNN's kernel). The form is that of core/time/attention_core.h.

    python3 tests/evidence/made/attention.py     (operations.jsonl: H200; operations-h100.jsonl: H100, the same peak)
"""

import json
import math
import pathlib

HERE = pathlib.Path(__file__).parent
PEAK = 989.4e12  # FLOP/s in 16 bits, without sparsity
PROCESSORS = 132
BLOCK, TAIL, START = 128, 1.67, 380  # constants.cpp: attention_tail, attention_start; constants.h: kAttentionBlock
BACKWARD, BACKWARD_TAIL, BACKWARD_RATE = 2.5, 0.4, 0.91


def seconds(row, level, narrow):
    queries = row["batch"] * row["heads"] * row["length"]
    rate = level * PEAK / (1 + START / row["length"])
    if row["d"] < 128:
        rate *= (1 + narrow / 128) / (1 + narrow / row["d"])
    tail = TAIL * PROCESSORS * BLOCK / queries
    flop = 2 * queries * row["length"] * row["d"]
    return flop / rate * (1 + tail) + BACKWARD * flop / (BACKWARD_RATE * rate) * (1 + BACKWARD_TAIL * tail)


def measured(name):
    rows = map(json.loads, (HERE / name).read_text().splitlines()[1:])
    return [row for row in rows if row["operation"] == "attention"]


def errors(rows, level, narrow):
    return [math.log(seconds(row, level, narrow) / (row["forward"] + row["backward"])) for row in rows]


def main():
    rows = measured("operations.jsonl") + measured("operations-h100.jsonl")
    grid = [(level / 1000, narrow) for level in range(450, 801, 5) for narrow in range(0, 161, 4)]
    level, narrow = min(grid, key=lambda both: sum(error * error for error in errors(rows, *both)))
    print(f"share of the peak {level:.3f}, narrow heads {narrow} values ({len(rows)} kernels)")
    for shown in ((level, narrow), (level, 0)):
        root = math.sqrt(sum(error * error for error in errors(rows, *shown)) / len(rows))
        print(f"  with {shown[1]} values: {100 * root:.1f} % off")
        for row, error in zip(rows, errors(rows, *shown)):
            print(f"    {row['batch']} x {row['length']:5d} tokens, width {row['d']:3d}: {100 * math.expm1(error):+.1f} %")


main()
