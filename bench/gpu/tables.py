#!/usr/bin/env python3
"""Prints a table of docs/performance from a summary of results: hone's newest valid runs beside PyTorch's fastest.

usage: tables.py FOLDER PRECISION [MODEL...]       FOLDER has summary.json (bench/summarize.py); without models all of NAMES

A row is a network at a batch: p50 in ms of hone's newest run that was valid, of its newest one where none was, and of the
fastest run of each of PyTorch's modes in any of the files, how many times as fast as the fastest of these hone is, hone's
error against fp32, and the date of its run.
* marks a run that was INVALID.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import summarize

NAMES = {"resnet50": "ResNet-50", "resnet18": "ResNet-18", "mobilenet_v2": "MobileNetV2", "alexnet": "AlexNet",
         "squeezenet1_1": "SqueezeNet", "efficientnet_b0": "EfficientNet-B0", "vgg16": "VGG-16"}
PEERS = {"torch": "torch", "torchscript": "torchscript", "torch-graph": "torch in a CUDA graph",
         "torch_compile": "torch.compile"}


def p50(run):
    return run["latency_ms"]["p50"]


def runs_to_show(folder, precision):
    """(model, batch, backend) to (date, run); warm caches and inputs on the device alone."""
    found = {}
    for file in summarize.read(folder / "summary.json"):
        date = file["date"]
        for run in map(summarize.as_in_result, file["runs"]):
            key = run["model"], run["batch"], run["backend"]
            if run["precision"] != precision or run["failure"] or run["cold_l2"] or run["includes_transfers"]:
                continue
            if key not in found or better((date, run), found[key]):
                found[key] = date, run
    return found


def better(one, other):
    if one[1]["backend"] != "hone":
        return p50(one[1]) < p50(other[1])
    return (one[1]["verdict"]["valid"], one[0]) > (other[1]["verdict"]["valid"], other[0])


def milliseconds(entry):
    if entry is None:
        return ""
    return f"{p50(entry[1]):.3f}" + ("" if entry[1]["verdict"]["valid"] else "*")


def rows(found, models):
    for model in models:
        for batch in sorted({batch for name, batch, backend in found if name == model and backend == "hone"}):
            own, *peers = (found.get((model, batch, backend)) for backend in ("hone", *PEERS))
            fastest = min((p50(peer[1]) for peer in peers if peer), default=None)
            ratio = f"{fastest / p50(own[1]):.1f}" if fastest else ""
            error = own[1]["accuracy"]["relative_l2"]
            yield (NAMES[model], str(batch), milliseconds(own), *map(milliseconds, peers), ratio,
                   f"{error:.1e}".replace("e-0", "e-"), own[0][:10])


def main():
    if len(sys.argv) < 3 or not set(sys.argv[3:]) <= set(NAMES):
        sys.exit(__doc__)
    found = runs_to_show(pathlib.Path(sys.argv[1]), sys.argv[2])
    print(f"| network | batch | hone | {' | '.join(PEERS.values())} | times as fast | error | measured |")
    print("|---" * (6 + len(PEERS)) + "|")
    for row in rows(found, sys.argv[3:] or NAMES):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
