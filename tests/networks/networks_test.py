#!/usr/bin/env python3
"""Tiny networks, as exporters write them, in hone: right in fp32 and bf16, recognised, and without a step that the plain
reference computes.

usage: networks_test.py HONE FOLDER [NAME…]      all networks of the folder when none is named
       networks_test.py HONE FOLDER --table      prints what is recognised now, in the form of expected.json

make_networks.py makes the networks and what ONNX Runtime gives for them. expected.json says of each how many steps of
each kind hone has, regions and recognised operators: `attention`, `norm` (layer and group normalisations), `gelu` (a
step of its own or fused), and how many steps are left that such a pattern is made of (`softmax`, `erf`).
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
# Relative L2 distance. fp32: sums of some hundred products in another order; a kernel that computes a wrong thing is
# off by far more. bf16: 8 bits of every value, through a few layers.
TOLERANCES = {"fp32": 2e-5, "bf16": 6e-2}
COUNTED = {"attention": "attention", "LayerNormalization": "norm", "GroupNormalization": "norm", "Gelu": "gelu",
           "Softmax": "softmax", "Erf": "erf"}


def hone(program, folder, *arguments):
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
    return done.stdout


def counts_of(description):
    counts = {"attention": 0, "norm": 0, "gelu": 0, "softmax": 0, "erf": 0, "reference": 0}
    for step in description["steps"]:
        name = COUNTED.get(step["kind"])
        if name:
            counts[name] += 1
        for op in step["post_ops"]:
            if op.startswith("gelu"):
                counts["gelu"] += 1
            elif op == "erf":
                counts["erf"] += 1
        counts["reference"] += step["tactic"].startswith("reference")
    return counts


def distance(value, expected):
    if value.shape != expected.shape:
        return f"has the shape {list(value.shape)}, not {list(expected.shape)}"
    if expected.dtype.kind != "f":
        return None if np.array_equal(value, expected) else "differs"
    value, expected = value.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    length = np.linalg.norm(expected)
    return float(np.linalg.norm(value - expected) / length) if length > 0 else float(np.abs(value).max(initial=0))


def check(program, path, scratch):
    """Its counts, and what is wrong with it."""
    problems = []
    data = np.load(path.with_suffix(".npz"))
    folder = scratch / path.stem
    folder.mkdir()
    inputs, shapes = [], []
    for key in data.files:
        if key.startswith("in:"):
            np.save(folder / f"input{len(inputs)}.npy", data[key])
            inputs.append(f"{key[3:]}:{folder}/input{len(inputs)}.npy")
            shapes.append(f"{key[3:]}:{'x'.join(map(str, data[key].shape))}")
    expected = {key[4:]: data[key] for key in data.files if key.startswith("out:")}
    counts = None
    for precision, tolerance in TOLERANCES.items():
        try:
            hone(program, folder, "run", path, "--input", *inputs, "--precision", precision, "--threads", 2, "-o",
                 folder / "out.npz")
            given = np.load(folder / "out.npz")
            for name, value in expected.items():
                found = distance(given[name], value)
                if isinstance(found, str) or found is not None and not found <= tolerance:
                    text = found if isinstance(found, str) else f"is {found:.1e} off, {tolerance:.0e} allowed"
                    problems.append(f"{precision}: the output {name} {text}")
            if precision == "fp32":
                description = hone(program, folder, "inspect", path, "--json", "--builderOptimizationLevel", 0, "--threads", 2,
                                   "--optShapes", *shapes)
                counts = counts_of(json.loads(description))
        except RuntimeError as error:
            problems.append(f"{precision}: {error}")
    return counts, problems


def expected_counts():
    with open(HERE / "expected.json", encoding="utf-8") as file:
        return json.load(file)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--table"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    program, folder = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1])
    names = arguments[2:] or sorted(path.stem for path in folder.glob("*.onnx"))
    if not names:
        sys.exit(f"networks_test.py: there is no network in {folder}; make_networks.py makes them")
    expected = {} if "--table" in sys.argv else expected_counts()
    table, failed = {}, 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda name: check(program, folder / f"{name}.onnx", pathlib.Path(scratch)), names)
        for name, (counts, problems) in zip(names, results):
            table[name] = counts
            if "--table" not in sys.argv:
                if name not in expected:
                    problems.append("expected.json does not have it")
                elif counts is not None and counts != expected[name]:
                    problems += [f"{key}: {counts[key]} steps, {expected[name].get(key)} expected" for key in counts
                                 if counts[key] != expected[name].get(key)]
            failed += bool(problems)
            for problem in problems:
                print(f"{name}: {problem}", file=sys.stderr)
    if "--table" in sys.argv:
        print("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(counts)}" for name, counts in table.items()) + "\n}")
    else:
        print(f"{len(names)} networks, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
