"""The public API as others use it: a program outside the tree is built with CMake and with pkg-config against an
installed hone, and recognises digits.

usage: consumer_test.py BUILD_FOLDER MODELS_DIGITS
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

IMAGES = 50
BAD_INPUT = 3


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def check(program, digits, scratch, environment):
    """Recognises what the model recognised where it was trained, and says what is wrong with another file."""
    held_out, expected = np.load(digits / "held_out.npz"), np.load(digits / "expected.npz")
    images = held_out[held_out.files[0]][:IMAGES].astype(np.float32)
    images.tofile(scratch / "images.bin")
    arguments = [scratch / "digits.hone", scratch / "images.bin"]
    found = run(program, digits / "digits.onnx", *arguments, env=environment).split()
    assert found == [str(digit) for digit in expected["logits"][:IMAGES].argmax(1)], found
    failing = subprocess.run([program, digits / "README.md", *arguments], capture_output=True, text=True,
                             check=False, env=environment)
    assert failing.returncode == BAD_INPUT, failing
    assert failing.stderr == (f"{digits}/README.md: this is text, not a model that hone reads: ONNX (.onnx), darknet (.cfg), TorchScript (.pt, "
                              ".pth, .ts); bench, profile, run and inspect take engines (.hone), too\n"), failing


def main():
    build, digits = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    consumer = pathlib.Path(__file__).resolve().parent / "consumer"
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for component in "core", "dev":
            run("cmake", "--install", build, "--prefix", scratch / "first", "--component", component)
        tree = scratch / "moved here"
        (scratch / "first").rename(tree)
        for header in (tree / "include/hone").iterdir():
            foreign = [i for i in re.findall(r"#include [<\"](.+?)[>\"]", header.read_text()) if "/" in i or "." in i]
            assert all(i.startswith("hone/") for i in foreign), f"{header}: {foreign}"
        run("cmake", "-S", consumer, "-B", scratch / "cmake", f"-DCMAKE_PREFIX_PATH={tree}", "-DCMAKE_BUILD_TYPE=Debug")
        run("cmake", "--build", scratch / "cmake")
        check(scratch / "cmake/digits", digits, scratch, dict(os.environ))
        if shutil.which("pkg-config") is None:
            print("SKIPPED: pkg-config is not installed")
            return
        flags = run("pkg-config", "--cflags", "--libs", "hone",
                    env={"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": f"{tree}/lib/pkgconfig"})
        run("sh", "-c", f"exec c++ -Wall -Wextra -Wshadow -Wconversion -Werror {consumer}/main.cpp -o {scratch}/plain {flags}")
        check(scratch / "plain", digits, scratch, {"LD_LIBRARY_PATH": f"{tree}/lib"})


if __name__ == "__main__":
    main()
