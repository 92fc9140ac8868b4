#!/usr/bin/env python3
"""Prints the steps of a GPU engine as a Markdown table: time, floor, gap, tactic; equal steps in one row.

usage: layers.py INSPECT.json     (what `hone inspect ENGINE --json` printed)

Times are between events around each step inside one CUDA graph, so each holds a few microseconds of the events
themselves. The floor is the larger of bytes over copy bandwidth and operations over matrix rate, both measured on an
H200 (4.3 TB/s, 790 TFLOP/s in half precision).
"""
import json
import sys

BYTES_PER_US = 4.3e6
FLOPS_PER_US = 790e6


def chosen_us(step):
    return next((rival["median_us"] for rival in step["rivals"] if rival.get("chosen")), None)


def main(path):
    engine = json.load(open(path, encoding="utf-8"))
    rows = {}
    for step in engine["steps"]:
        time = chosen_us(step)
        if time is None:
            continue
        key = (step["kind"], step["tactic"], step["flops"], step["bytes"], step["outputs"][0])
        rows.setdefault(key, []).append((step["name"].split(" + ")[0], time))
    print("| steps | first | output | tactic | time, us | floor, us |")
    print("|---|---|---|---|---|---|")
    total = floors = 0.0
    for (_, tactic, flops, size, output), steps in rows.items():
        floor = max(size / BYTES_PER_US, flops / FLOPS_PER_US)
        time = sum(t for _, t in steps) / len(steps)
        total += time * len(steps)
        floors += floor * len(steps)
        shape = output.split()[1]
        print(f"| {len(steps)} | {steps[0][0]} | {shape} | `{tactic}` | {time:.1f} | {floor:.1f} |")
    print(f"| sum | | | | {total:.0f} | {floors:.0f} |")


if __name__ == "__main__":
    main(sys.argv[1])
