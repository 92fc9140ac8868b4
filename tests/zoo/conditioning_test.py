"""Seeded weights make networks that tell images apart and do not blow up rounding errors.

usage: conditioning_test.py HONE [ARCHITECTURE...]

Runs two images of noise and a slightly changed first one. The logits of the two must differ, or a wrong result
would look like a right one; and the change must be no larger, relative to the logits, than it was relative to
the image, or the errors of a precision would be those of chaos (see builder.hpp).
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ARCHITECTURES = ["resnet18", "resnet34", "resnet50", "resnet101", "mobilenet_v2", "alexnet", "vgg16",
                 "squeezenet1_1", "densenet121", "efficientnet_b0", "mobilenet_v3_large", "convnext_tiny",
                 "swin_t", "vit_b_16"]
# Not yet so: efficientnet_v2_s, unet and deeplabv3_resnet50 make a change 1.4, 2.1 and 3.3 times as large.
CHANGE = 1e-3
APART = 0.03


def distance(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(a)


def check(hone, name, folder):
    random = np.random.default_rng(5)
    first, second = random.standard_normal((2, 3, 224, 224), dtype=np.float32)
    changed = first * (1 + CHANGE * random.standard_normal(first.shape, dtype=np.float32))
    np.save(folder / "input.npy", np.stack([first, second, changed]))
    subprocess.run([hone, "run", name, "--input", str(folder / "input.npy"), "-o", str(folder / "output.npz")],
                   check=True, stdout=subprocess.DEVNULL)
    outputs = np.load(folder / "output.npz")
    logits = outputs[outputs.files[0]]
    apart, growth = distance(logits[0], logits[1]), distance(logits[0], logits[2]) / CHANGE
    print(f"{name:16} images {apart:.3f} apart, a change grows {growth:.2f} times", flush=True)
    return apart > APART and growth < 1


def main():
    hone, names = sys.argv[1], sys.argv[2:] or ARCHITECTURES
    with tempfile.TemporaryDirectory() as folder:
        failures = [name for name in names if not check(hone, name, pathlib.Path(folder))]
    if failures:
        sys.exit(f"images must be {APART} apart, and a change grow less than 1 times: {', '.join(failures)}")


if __name__ == "__main__":
    main()
