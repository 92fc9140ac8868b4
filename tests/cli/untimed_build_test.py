"""A build that cannot time anything says so: an error when its shapes cannot run, a sentence when only the inputs
that are made up for timing cannot.

usage: untimed_build_test.py HONE MODELS_DIGITS
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

BAD_INPUT = 3


def lookup():
    """Rows of a table of one row: an index of 1, which the search makes up, is outside."""
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["table"]), helper.make_node("Gather", ["table", "rows"], ["y"], name="pick")],
        "lookup",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4]),
         helper.make_tensor_value_info("rows", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    hone, digits = sys.argv[1], pathlib.Path(sys.argv[2]) / "digits.onnx"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        engine, model = folder / "out.hone", folder / "lookup.onnx"

        def run(*command, **environment):
            ending = subprocess.run([hone, *map(str, command)], capture_output=True, text=True, check=False,
                                    env={**os.environ, **environment})
            # Builds that take long tell how far they are.
            ending.stderr = re.sub(r"(?m)^.* (left|so far)  .*\n", "", ending.stderr)
            return ending

        def build(*options, **environment):
            return run("build", *options, "--noTimingCache", "-o", engine, **environment)

        for images, limit, sentence in (
                (64, "150", r"activations: \d+\.\d MB for a tensor next to "),  # more or less by the processor's layout
                (64, "20", r"input 'input': 38\.5 MB for a tensor next to "),
                (99999999999, None, r"input 'input': a tensor of shape 99999999999x3x224x224 needs ")):
            limits = {"HONE_MEMORY_LIMIT_MB": limit} if limit else {}
            ending = build("squeezenet1_1", "--optShapes", f"input:{images}x3x224x224", **limits)
            assert ending.returncode == BAD_INPUT, ending
            assert re.match("hone: squeezenet1_1: " + sentence, ending.stderr), ending.stderr
            assert ending.stderr.count("\n") == 1 and not ending.stdout and not engine.exists(), ending

        onnx.save(lookup(), model)
        ending = build(model)
        assert ending.returncode == 0 and not ending.stderr, ending.stderr
        reason = "node 'pick' (Gather): index 1 is outside an axis of length 1"
        assert ending.stdout.splitlines()[-1] == f"{engine}: no tactic was timed: {reason}", ending.stdout
        assert f"\nno tactic was timed: {reason}\n" in run("inspect", engine).stdout
        assert json.loads(run("inspect", engine, "--json").stdout)["not_timed"] == reason
        # The model itself is sound.
        np.savez(folder / "inputs.npz", x=np.array([[-1, 0, 1, 2]], np.float32), rows=np.zeros(2, np.int64))
        ending = run("run", engine, "--input", folder / "inputs.npz", "-o", folder / "y.npy")
        assert ending.returncode == 0, ending.stderr
        assert np.load(folder / "y.npy").tolist() == [[0, 0, 1, 2]] * 2

        ending = build(digits)
        assert ending.returncode == 0 and "no tactic was timed" not in ending.stdout, ending
        assert "no tactic was timed" not in run("inspect", engine).stdout
        assert json.loads(run("inspect", engine, "--json").stdout)["not_timed"] is None


if __name__ == "__main__":
    main()
