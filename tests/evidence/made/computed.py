"""Compares single operations of two cards whose matrices are equally fast: the part of each one's time that a faster memory does not shorten.
Time on the second card is 1 - part, longer as its memory is slower, and part, as long as on the first.

    python3 tests/evidence/made/computed.py     (operations.jsonl: H200; operations-h100.jsonl: H100; GB/s of core/data/gpus)

Of 8,192 tokens, both passes and all shapes together. core/time/constants.h, kComputedPart, has the parts of norms, rotary positions, the
loss, adapters and Adam.
"""

import collections
import json
import pathlib

HERE = pathlib.Path(__file__).parent
GPUS = HERE.parents[2] / "core" / "data" / "gpus"


def measured(name):
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()[1:]]


def memory(gpu):
    return json.loads((GPUS / (gpu + ".json")).read_text())["hbm_gbyte_per_s"]


def shape_of(row):
    return tuple((key, str(value)) for key, value in row.items() if not isinstance(value, (float, list)))


def main():
    slower = memory("h200-sxm-141gb") / memory("h100-sxm-80gb")
    second = {shape_of(row): row for row in measured("operations-h100.jsonl")}
    sums = collections.defaultdict(lambda: [0.0, 0.0])
    for row in measured("operations.jsonl"):
        other = second.get(shape_of(row))
        if other and row.get("tokens", 8192) == 8192:
            name = row["operation"] + (" " + row["dtype"] if row["operation"] == "adamw" else "")
            for passed in ("forward", "backward"):
                sums[name][0] += row[passed]
                sums[name][1] += other[passed]
    for name, (first, then) in sums.items():
        print(f"{name:24s} H100 {then / first:.3f} of H200   part {(slower - then / first) / (slower - 1):.2f}")


main()
