#!/usr/bin/env python3
"""Prints the layers of a recorded engine as a Markdown table: time, floor, gap, tactic; equal layers in one row.

usage: layers.py LAYERS.json     (what `hone analyze TRACE --only layers --json` printed)

Times are medians over the recorded runs, by the stamps of the engine's own kernels: a layer counts from the end of the
one before. The floor is the larger of bytes over copy bandwidth and operations over matrix rate, both measured on an
H200 (4.3 TB/s, 790 TFLOP/s in half precision), and known to `hone analyze`.
"""
import json
import sys


def main(path):
    with open(path, encoding="utf-8") as file:
        layers = json.load(file)["layers"]["layers"]
    rows = {}
    for layer in layers:
        output = json.loads(layer["outputs"])[0].split()[1]
        key = (layer["kind"], layer["tactic"], layer["flops"], layer["bytes"], output)
        rows.setdefault(key, []).append(layer)
    print("| layers | first | output | tactic | time, us | floor, us | gap, us |")
    print("|---|---|---|---|---|---|---|")
    for (_, tactic, _, _, output), equal in rows.items():
        time = sum(layer["time"]["median_ns"] for layer in equal) / len(equal) / 1000
        first = equal[0]["name"].split(" + ")[0]
        floor = equal[0]["floor_ns"] / 1000
        print(f"| {len(equal)} | {first} | {output} | `{tactic}` | {time:.1f} | {floor:.1f} | {time - floor:.1f} |")
    time = sum(layer["time"]["median_ns"] for layer in layers) / 1000
    floor = sum(layer["floor_ns"] for layer in layers) / 1000
    print(f"| sum | | | | {time:.0f} | {floor:.0f} | {time - floor:.0f} |")


if __name__ == "__main__":
    main(sys.argv[1])
