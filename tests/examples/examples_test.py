"""The programs of examples/: they run, say what they should, and refuse bad input.

usage: examples_test.py HONE BIN_FOLDER EXAMPLES MODELS_DIGITS
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HONE, BIN, EXAMPLES, DIGITS = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
MODEL = DIGITS / "digits.onnx"


def run(program, *arguments, code=0, **environment):
    ending = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300,
                            env={**os.environ, **environment})
    assert ending.returncode == code, f"{program} {arguments}: {ending.returncode}: {ending.stdout}{ending.stderr}"
    return ending.stdout + ending.stderr


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        held_out = np.load(DIGITS / "held_out.npz")
        images = held_out[[key for key in held_out.files if held_out[key].ndim == 4][0]]
        pixels = np.clip(np.round(images[0, 0] * 255 / max(1.0, float(images.max()))), 0, 255).astype(np.uint8)
        (folder / "digit.pgm").write_bytes(b"P5\n8 8\n255\n" + pixels.tobytes())
        (folder / "short.pgm").write_bytes(b"P5\n8 8\n255\n" + pixels.tobytes()[:-1])

        first = run(BIN / "example_classify", MODEL, folder / "digit.pgm", folder / "digits.hone")
        assert first.count("class ") == 5 and (folder / "digits.hone").exists(), first
        assert run(BIN / "example_classify", MODEL, folder / "digit.pgm", folder / "digits.hone") == first
        assert "ends too early" in run(BIN / "example_classify", MODEL, folder / "short.pgm", code=3)
        assert "no binary PGM" in run(BIN / "example_classify", MODEL, MODEL, code=3)
        assert "usage: classify" in run(BIN / "example_classify", code=2)

        text = run(BIN / "example_dynamic_batch", MODEL)
        assert [line.split("output batch ")[1] for line in text.splitlines()] == ["1", "4", "8", "16"], text

        assert run(BIN / "example_threads", MODEL, 4, 50) == "4 of 4 threads ran 50 times with the same results\n"

        listed = run(BIN / "example_devices").splitlines()
        assert listed[0].startswith("cpu: ") and listed[0].endswith("GB, runs fp32"), listed
        assert "does not run fp16" in run(BIN / "example_devices", "fp16").splitlines()[0]
        assert "usage: devices" in run(BIN / "example_devices", "fp32", "fp16", code=2)

        baseline = folder / "baseline.json"
        quick = ("--duration", "0.1", "--rounds", "3")
        gate = EXAMPLES / "ci_gate.sh"
        assert "kept as the baseline" in run(gate, MODEL, baseline, *quick, HONE=HONE)
        run(gate, MODEL, baseline, *quick, HONE=HONE, MAX_REGRESSION="100000%")
        assert "more than --max-error 1e-12" in run(gate, MODEL, folder / "other.json", *quick, code=5, HONE=HONE,
                                                    MAX_ERROR="1e-12")


if __name__ == "__main__":
    main()
