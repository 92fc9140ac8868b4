"""What commands say to wrong arguments: one sentence, the right exit code, and before any work is done.

usage: misuse_test.py HONE MODELS_DIGITS
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

USAGE, BAD_INPUT = 2, 3


def wrong_numbers(bench, profile, conformance, run, plot):
    """Commands, their flags, and values that cannot be: NaN is neither below nor above any bound."""
    return [(bench, "--duration", ["nan", "inf", "0"]), (bench, "--warmup", ["nan", "inf", "-1", "1e300"]),
            (bench, "--timeout", ["nan", "0"]), (bench, "--percentile", ["nan", "100"]),
            (profile, "--batch", ["0", "-1", "99999999999"]), (profile, "--threads", ["0", "-1", "100000"]),
            ([*profile, "--counters"], "--counter-rate", ["nan"]),
            (conformance, "--rtol", ["nan", "-1"]), (conformance, "--atol", ["inf"]),
            (conformance, "--timeout", ["0", "2000000000"]),
            (run, "--scale", ["nan", "inf"]), (plot, "--scale", ["nan"]), (plot, "--width", ["nan"])]


def main():
    hone, digits = sys.argv[1], str(pathlib.Path(sys.argv[2]) / "digits.onnx")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.save(folder / "x.npy", np.zeros((1, 1, 8, 8), np.float32))
        (folder / "empty.onnx").touch()
        (folder / "folder.onnx").mkdir()
        out = ["-o", f"{name}/out.hone"]
        engine = f"{name}/digits.hone"
        subprocess.run([hone, "build", digits, "--builderOptimizationLevel", "0", "--noTimingCache", "-o", engine],
                       check=True, stdout=subprocess.DEVNULL)
        bench = ["bench", digits, "--backends", "reference", "-o", f"{name}/runs"]
        profile = ["profile", digits, "-o", f"{name}/runs"]
        rows = [
            (USAGE, "is no command or option here", ["frobnicate"]),
            (USAGE, "--output is required", ["build", digits]),
            (USAGE, "a shape is written name:1x3x224x224, not 'x'", ["build", digits, *out, "--minShapes", "x"]),
            (USAGE, "'y' in the shape 'input:1xy' is no positive dimension",
             ["build", digits, *out, "--minShapes", "input:1xy"]),
            (USAGE, "the model has no input named 'x', its inputs are ",
             ["build", digits, *out, "--optShapes", "x:1x1x8x8"]),
            (BAD_INPUT, "the file is empty", ["build", f"{name}/empty.onnx", *out]),
            (BAD_INPUT, "it is a directory", ["build", f"{name}/folder.onnx", *out]),
            (BAD_INPUT, "it is a directory", ["build", name, *out]),
            (USAGE, "out.txt ends neither in .npz nor in .npy",
             ["run", digits, "--input", f"{name}/x.npy", "-o", f"{name}/out.txt"]),
            (USAGE, "not in range 1 to 65536", ["export", "alexnet", *out, "--batch-size", "0"]),
            (USAGE, "--shapes names an input 'x', the first input of ",
             ["bench", digits, "--backends", "reference", "--shapes", "x:1x1x8x8", "-o", name]),
            (USAGE, "as 9, the model fixes it at 8",
             ["bench", digits, "--backends", "reference", "--shapes", "input:1x1x9x8", "-o", name]),
            (USAGE, "--max-regression 'much'", [*bench, "--baseline", digits, "--max-regression", "much"]),
            (USAGE, "--max-regression 'inf'", [*bench, "--baseline", digits, "--max-regression", "inf"]),
            (USAGE, "--max-regression requires --baseline", [*bench, "--max-regression", "5%"]),
            *[(USAGE, f"{flag}: Value {value} not in range", [*command, flag, value])
              for command, flag, values in wrong_numbers(
                  bench, profile, ["conformance", name], ["run", digits, "--input", f"{name}/x.npy"],
                  ["plot", name, "-o", f"{name}/plots"])
              for value in values],
            *[(USAGE, f"{flag} is for models: the engine {engine} was built with its own",
               ["run", engine, "--input", f"{name}/x.npy", flag, value])
              for flag, value in (("--device", "cuda"), ("--backend", "torch"), ("--precision", "fp16"),
                                  ("--weights", "x"), ("--seed", "4"))],
            *[(USAGE, f"{words[0]} is for building an engine: {engine} is built", ["inspect", engine, *words])
              for words in (["--precision", "bf16"], ["--optShapes", "foo:9"], ["--seed", "4"], ["--noTimingCache"])],
            *[(USAGE, f"{words[0]} is for models: a program after -- runs as it says itself",
               ["profile", "-o", f"{name}/x.sqlite", *words, "--", "true"])
              for words in (["--batch", "4"], ["--device", "cuda"], ["--backends", "torch"], ["--precisions", "fp16"],
                            ["--active", "3"], ["--warmup", "1"], ["--threads", "2"])],
            (USAGE, "--gzip is for kineto and csv, not for trtexec",
             ["convert", "t", f"{name}/to", "--to", "trtexec", "--gzip"]),
            *[(USAGE, f"--whole-microseconds is for kineto, not for {to}",
               ["convert", "t", f"{name}/to", "--to", to, "--whole-microseconds"]) for to in ("trtexec", "csv")],
        ]
        before = sorted(folder.iterdir())
        for code, part, arguments in rows:
            ending = subprocess.run([hone, *arguments], capture_output=True, text=True, check=False)
            shown = f"hone {' '.join(arguments)}: {ending.returncode}: {ending.stderr}"
            assert ending.returncode == code and part in ending.stderr, shown
            assert ending.stderr.count("\n") == 1 and ending.stderr.startswith("hone: "), shown
            assert sorted(folder.iterdir()) == before, f"{shown} left {list(folder.iterdir())}"


if __name__ == "__main__":
    main()
