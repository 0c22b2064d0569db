"""What experts and sinks take beside their multiplications, from operations-experts.jsonl (operations.py, an H200).

    python3 tests/evidence/made/experts.py

core/time/constants.h has the results: kSingleExperts, values of 2 bytes per value that an expert reads or holds inside, of each token that
reaches it; what 8,192 tokens take beyond 2,048, since launches take the rest; over what element-wise work is multiplied with there.
kSinkScores, bytes per score beyond those of kSingleScores. Shares of the rate that large matrices reach: Timing::grouped.
"""

import json
import pathlib

BANDWIDTH, KERNELS, STREAMS = 4800e9, 0.85, 0.8  # H200; kKernelBandwidth and kStreamBandwidth of constants.h
ELEMENT_WISE = 1.26  # Timing::element_wise of transformers
LARGE = 0.82 * 989.4  # TFLOP/s that large matrices reach


def main():
    rows = [json.loads(line) for line in (pathlib.Path(__file__).parent / "operations-experts.jsonl").read_text().splitlines()[1:]]
    experts = {(row["tokens"], row["h"], row["f"], row["experts"]): row for row in rows if row["operation"] == "experts" and not row["learns"]}
    for passed in ("forward", "backward"):
        values = []
        for (tokens, *shape), row in experts.items():
            if tokens == 8192:
                few = experts[(2048, *shape)]
                each = 2 * (tokens - 2048) * row["each"] * (row["h"] + row["f"])
                values.append((row[passed] - few[passed]) * BANDWIDTH * KERNELS / ELEMENT_WISE / each)
        print("experts,", passed, [round(value, 1) for value in values], "mean %.1f" % (sum(values) / len(values)))
    print("grouped, 8,192 tokens", [round(row["tflops"][0] / LARGE, 2) for (tokens, *_), row in experts.items() if tokens == 8192])
    plain = {row["length"]: row for row in rows if row["operation"] == "eager" and row["heads"] == 64}
    for passed in ("forward", "backward"):
        more = []
        for row in rows:
            if row["operation"] == "eager, sinks":
                scores = row["batch"] * row["heads"] * row["length"] ** 2
                more.append((row[passed] - plain[row["length"]][passed]) / scores * BANDWIDTH * STREAMS)
        print("sinks,", passed, [round(value, 1) for value in more], "mean %.1f" % (sum(more) / len(more)))


main()
