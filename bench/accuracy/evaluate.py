#!/usr/bin/env python3
"""What int8 costs trained networks: fp32 against int8 by each calibrator, on the 10,000 held-out images of Fashion-MNIST.

usage: evaluate.py HONE DATA NETWORKS [-o RESULTS.json] [--images N] [--target T] [--threads N] [NAME…]

NETWORKS is the folder that train.py wrote, DATA the one that it read. Each network is calibrated on the first 500 training
images; all runs are by HONE on the CPU. Prints a table of calibrator by network: the share of labels right in fp32 and, below,
the percentage points that int8 loses. Needs numpy.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import fashion_mnist

CALIBRATION_IMAGES = 500
#: row of the table: options of hone quantize, and whether the calibration of the row "auto, not equalized" will do
WAYS = {
    "auto, not equalized": (("--no-equalization",), False),
    "minmax": (("--calibrator", "minmax"), True),
    "percentile": (("--calibrator", "percentile"), True),
    "entropy": (("--calibrator", "entropy"), True),
    "mse": (("--calibrator", "mse"), True),
    "auto": ((), False),
    "auto, gptq": (("--rounding", "gptq"), False),
}


def quantized(options, model, data, way):
    """The report of `hone quantize` on the held-out images."""
    words, is_calibrated = WAYS[way]
    report, cache = data / "report.json", data / f"{model.stem}.calib.json"
    source = ("--calib", cache) if is_calibrated else ("--calibrate", data / "calibration.npy")
    command = [options.hone.absolute(), "quantize", model, *source, "--evaluate", data / "held_out.npy", "--labels",
               data / "labels.npy", "--accuracy-samples", 10**6, "--report", report, "-o", data / "int8.onnx", "--target",
               options.target, "--threads", options.threads, *words]
    ending = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if ending.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {ending.stderr.strip()}")
    if way == next(iter(WAYS)):
        (data / "int8.calib.json").rename(cache)
    return json.loads(report.read_text())


def write_data(source, folder, images):
    train, _ = fashion_mnist.read(source, "train")
    held_out, labels = fashion_mnist.read(source, "t10k")
    np.save(folder / "calibration.npy", train[:CALIBRATION_IMAGES])
    np.save(folder / "held_out.npy", held_out[:images])
    np.save(folder / "labels.npy", labels[:images])


def table(results):
    names = list(results)
    ways = list(next(iter(results.values())))
    yield "| | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    first = [results[name][ways[0]]["accuracy"]["right_before"] for name in names]
    yield "| fp32 | " + " | ".join(f"{100 * share:.2f} %" for share in first) + " |"
    for way in ways:
        lost = [results[name][way]["accuracy"] for name in names]
        yield f"| {way} | " + " | ".join(f"{100 * (one['right_before'] - one['right']):+.2f}" for one in lost) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hone", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("networks", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--target", default="portable")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    models = [options.networks / f"{name}.onnx" for name in options.names] or sorted(options.networks.glob("*.onnx"))
    if not models:
        parser.error(f"{options.networks} holds no .onnx file: run train.py first")
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_data(options.data, folder, options.images)
        for model in models:
            results[model.stem] = {}
            for way in WAYS:
                report = quantized(options, model, folder, way)
                results[model.stem][way] = {"accuracy": report["accuracy"], "int8_share": report["int8_share"]}
                print(model.stem, way, json.dumps(report["accuracy"]), file=sys.stderr, flush=True)
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n")
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
