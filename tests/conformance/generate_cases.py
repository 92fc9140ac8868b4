"""Generates the ONNX project's node and simple test cases with Debian's python3-onnx.

usage: /usr/bin/python3 generate_cases.py FOLDER

Does nothing when FOLDER is complete already. The cases are deterministic up to numpy's seeds, which the
ONNX project sets itself.
"""
import pathlib
import runpy
import shutil
import sys

import numpy as np

# Aliases that numpy 1.24 removed and the generator still uses.
REMOVED_ALIASES = {"float": float, "bool": bool, "object": object, "int": int}
MINIMUM_CASES = 900


def generate(folder: pathlib.Path) -> None:
    stamp = folder / "complete"
    if stamp.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    for name, kind in REMOVED_ALIASES.items():
        if name not in np.__dict__:
            setattr(np, name, kind)
    sys.argv = ["backend-test-tools", "generate-data", "-o", str(folder)]
    try:
        runpy.run_module("onnx.backend.test.cmd_tools", run_name="__main__")
    except SystemExit as ending:
        if ending.code:
            raise
    # The real cases are names of files to download.
    shutil.rmtree(folder / "real", ignore_errors=True)
    count = sum(1 for _ in folder.glob("*/*/model.onnx"))
    if count < MINIMUM_CASES:
        sys.exit(f"only {count} cases were generated in {folder}")
    stamp.write_text(f"{count}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    generate(pathlib.Path(sys.argv[1]))
