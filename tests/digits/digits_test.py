"""The digits network with real weights on real images: accuracy per backend and precision.

usage: digits_test.py HONE MODELS_DIGITS

fp32 must recognise exactly as many held-out digits as PyTorch did (accuracy.json), with logits as close to its
logits as float32 allows; bf16 as many to half a percentage point.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HALF_POINT = 0.005
# u sqrt(sum of fan-ins), as tests/zoo/torchvision_test.py derives it: three convolutions and a linear layer.
TOLERANCE = 2.0 ** -24 * (9 + 16 * 9 + 32 * 9 + 256) ** 0.5
BF16_BACKENDS = {"hone", "torch", "torchscript"}


def run(hone, *arguments):
    return subprocess.run([hone, "run", *map(str, arguments)], capture_output=True, text=True, check=False)


def backends(hone):
    listing = subprocess.run([hone, "backends"], capture_output=True, text=True, check=True).stdout
    # torch-graph never runs on the CPU.
    return [line.split()[0] for line in listing.splitlines()
            if "not available" not in line and not line.startswith("torch-graph ")]


def correct_digits(hone, folder, backend, precision, scratch):
    """Recognised held-out digits, or None when the backend cannot do the precision here; and the logits."""
    output = scratch / "out.npz"
    ending = run(hone, folder / "digits.onnx", "--input", folder / "held_out.npz", "--backend", backend,
                 "--precision", precision, "-o", output)
    if ending.returncode == 4:
        return None, ending.stderr.strip()
    assert ending.returncode == 0, ending.stderr
    logits = np.load(output)["logits"]
    labels = np.load(folder / "expected.npz")["labels"]
    return int((logits.argmax(1) == labels).sum()), logits


def check_seven(hone, folder):
    ending = run(hone, folder / "digits.onnx", "--input", folder / "seven.png", "--top", 3)
    assert ending.returncode == 0, ending.stderr
    lines = ending.stdout.splitlines()
    assert len(lines) == 4, ending.stdout
    assert lines[1].split()[:2] == ["7", "7"], ending.stdout


def main():
    hone, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    recorded = json.loads((folder / "accuracy.json").read_text())
    expected = np.load(folder / "expected.npz")
    assert int((expected["logits"].argmax(1) == expected["labels"]).sum()) == recorded["correct"]
    check_seven(hone, folder)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for backend in backends(hone):
            correct, logits = correct_digits(hone, folder, backend, "fp32", scratch)
            print(f"{backend} fp32: {correct} of {recorded['images']}")
            assert correct == recorded["correct"], f"{backend} fp32: {correct}"
            error = np.linalg.norm(logits - expected["logits"]) / np.linalg.norm(expected["logits"])
            assert error < TOLERANCE, f"{backend} fp32: relative error {error:.2e}, expected below {TOLERANCE:.2e}"
            if backend not in BF16_BACKENDS:
                continue
            correct, reason = correct_digits(hone, folder, backend, "bf16", scratch)
            if correct is None:
                print(f"{backend} bf16: not to be had here: {reason}")
                continue
            print(f"{backend} bf16: {correct} of {recorded['images']}")
            assert abs(correct - recorded["correct"]) <= HALF_POINT * recorded["images"], f"{backend} bf16"


if __name__ == "__main__":
    main()
