"""An engine of a model that leaves more than the batch open is built for shapes that are given, or not at all.

usage: build_shapes_test.py HONE
"""
import pathlib
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

USAGE = 2


def model_of(*dims):
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [value("x")], [value("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def two_inputs():
    value = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Relu", ["a"], ["b"])], "two",
                              [value("x", 3), value("a", 8)], [value("y", 3), value("b", 8)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    hone = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, engine = folder / "net.onnx", folder / "net.hone"

        def run(command, *more):
            return subprocess.run([hone, command, model, *more, "--builderOptimizationLevel", "0"], capture_output=True,
                                  text=True, check=False)

        onnx.save(model_of("n", 3, "h", "w"), model)
        for command in (("build", "-o", engine), ("inspect",)):
            ending = run(*command)
            assert ending.returncode == USAGE, ending
            assert ending.stderr == ("hone: dimension 2 ('h') of input 'x' is open: give --optShapes x:1x3x224x224 (for "
                                     "a range --minShapes and --maxShapes)\n"), ending.stderr
        assert not engine.exists()
        ending = run("build", "-o", engine, "--minShapes", "x:1x3x8x8", "--optShapes", "x:1x3x16x16")
        assert ending.returncode == 0, ending.stderr
        ending = run("inspect", "--optShapes", "x:2x3x16x16")
        assert "input x: 2x3x16x16 to 2x3x16x16, tuned for 2x3x16x16" in ending.stdout, ending

        onnx.save(model_of("n", 3, 8, 8), model)
        for command in (("inspect",), ("build", "-o", engine)):
            ending = run(*command)
            assert "input x: 1x3x8x8 to 1x3x8x8, tuned for 1x3x8x8" in ending.stdout, ending

        onnx.save(two_inputs(), model)
        ending = run("inspect", "--minShapes", "x:1x3", "--optShapes", "x:4x3")
        assert "input a: 1x8 to 4x8, tuned for 4x8" in ending.stdout, ending


if __name__ == "__main__":
    main()
