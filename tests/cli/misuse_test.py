"""What commands say to wrong arguments: one sentence, the right exit code, and before any work is done.

usage: misuse_test.py HONE MODELS_DIGITS
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

USAGE, BAD_INPUT = 2, 3


def main():
    hone, digits = sys.argv[1], str(pathlib.Path(sys.argv[2]) / "digits.onnx")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.save(folder / "x.npy", np.zeros((1, 1, 8, 8), np.float32))
        (folder / "empty.onnx").touch()
        (folder / "folder.onnx").mkdir()
        out = ["-o", f"{name}/out.hone"]
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
            (USAGE, "--max-regression", ["bench", digits, "--max-regression", "much", "-o", name]),
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
