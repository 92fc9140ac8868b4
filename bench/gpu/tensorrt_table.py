#!/usr/bin/env python3
"""The table of bench/gpu/tensorrt.sh, in Markdown: hone beside TensorRT, host and device times, errors, ratios.

usage: tensorrt_table.py FOLDER            with runs/*.json of hone bench, missing.txt and tensorrt.txt
       tensorrt_table.py --complete FILE   exit 1 unless every run of this result file measured something
"""
import json
import math
import pathlib
import sys

#: a peer whose error is beyond this computes something else: it is shown, but not counted
MOST_ERROR = 0.1


def figures(run):
    """p50 of the latency and of the device's part in ms, and the relative error."""
    accuracy = run.get("accuracy") or {}
    device = run.get("device_ms") or {}
    return {"host": run["latency_ms"]["p50"], "device": device.get("p50"), "error": accuracy.get("relative_l2")}


def cells(folder):
    """{(model, precision, batch): {backend: figures}} of runs that measured something; later files win."""
    result = {}
    for file in sorted((folder / "runs").glob("*.json"), key=lambda path: path.stat().st_mtime):
        for run in json.loads(file.read_text(encoding="utf-8"))["runs"]:
            if run.get("failure") or not run.get("latency_ms"):
                continue
            key = (run["model"], run["precision"], run["batch"])
            result.setdefault(key, {})[run["backend"]] = {**figures(run), "valid": run["verdict"]["valid"],
                                                          "notes": run.get("notes") or []}
    return result


def number(value, digits=4):
    return "" if value is None else f"{value:.{digits}f}"


def error(value):
    return "" if value is None else f"{value:.1e}"


def row(key, pair):
    ours, theirs = pair["hone"], pair["tensorrt"]
    ratio = theirs["host"] / ours["host"]
    device = theirs["device"] / ours["device"] if theirs["device"] and ours["device"] else None
    marks = "" if ours["valid"] and theirs["valid"] else " INVALID"
    return (f"| {key[0]} | {key[1]} | {key[2]} | {number(theirs['host'])} | {number(theirs['device'])} | {error(theirs['error'])} "
            f"| {number(ours['host'])} | {number(ours['device'])} | {error(ours['error'])} | {ratio:.2f}{marks} | {number(device, 2)} |")


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def is_complete(file):
    runs = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["runs"]
    return bool(runs) and all(run.get("latency_ms") and not run.get("failure") for run in runs)


def main():
    if sys.argv[1] == "--complete":
        sys.exit(0 if is_complete(sys.argv[2]) else 1)
    folder = pathlib.Path(sys.argv[1])
    found = {key: pair for key, pair in sorted(cells(folder).items()) if {"hone", "tensorrt"} <= pair.keys()}
    print("| network | precision | batch | TensorRT p50 (ms) | its device time | its error | hone p50 (ms) | its device time | its error "
          "| TensorRT over hone | of device times |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for key, pair in found.items():
        print(row(key, pair))
    for precision in sorted({key[1] for key in found}):
        counted = [pair["tensorrt"]["host"] / pair["hone"]["host"] for key, pair in found.items()
                   if key[1] == precision and (pair["tensorrt"]["error"] or 0) <= MOST_ERROR]
        if counted:
            print(f"\n{precision}: geometric mean {mean(counted):.2f} over {len(counted)} cells, "
                  f"{sum(ratio < 1 for ratio in counted)} of them behind")
    for key, pair in found.items():
        if (pair["tensorrt"]["error"] or 0) > MOST_ERROR:
            print(f"\n{key[0]} {key[1]} batch {key[2]}: outside the mean, TensorRT's error is {error(pair['tensorrt']['error'])}")
    print("\n" + "\n".join(sorted({note for pair in found.values() for note in pair["tensorrt"]["notes"][:1]})))
    for name, text in (("tensorrt.txt", ""), ("missing.txt", "not measured: ")):
        file = folder / name
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
            print(text + line)


if __name__ == "__main__":
    main()
