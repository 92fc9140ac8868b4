"""Random operators: moments, seeds, and that runs repeat.

usage: random_numbers_test.py HONE [FOLDER]      does nothing with FOLDER: there are no expected values to keep
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper

SHAPE = [80, 125]
COUNT = 10_000


def draw(hone: str, folder: pathlib.Path, op: str, x: np.ndarray, open_shapes: bool, **attributes) -> np.ndarray:
    names = ["x"] if op.endswith("Like") or op == "Bernoulli" else []
    info = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["a", "b"] if open_shapes else SHAPE)
    nodes = [helper.make_node(op, names, ["y"], name="drawn", **attributes), helper.make_node("Neg", ["x"], ["z"])]
    outputs = [onnx.ValueInfoProto(name=name) for name in "yz"]
    model = helper.make_model(helper.make_graph(nodes, "random", [info], outputs),
                              opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(folder / "model.onnx"))
    np.savez(folder / "in.npz", x=x)
    subprocess.run([hone, "run", str(folder / "model.onnx"), "--backend", "reference", "--input", str(folder / "in.npz"),
                    "-o", str(folder / "out.npz")], check=True, stdout=subprocess.DEVNULL)
    return np.load(folder / "out.npz")["y"]


def check(what: str, values: np.ndarray, mean: float, deviation: float) -> None:
    # Five standard errors of the mean; the deviation of 10,000 numbers is known to about 1 %.
    if values.size != COUNT or abs(values.mean() - mean) > 5 * deviation / np.sqrt(COUNT):
        sys.exit(f"{what}: {values.size} values of mean {values.mean()}, expected {COUNT} of {mean}")
    if abs(values.std() / deviation - 1) > 0.05:
        sys.exit(f"{what}: deviation {values.std()}, expected {deviation}")
    flat = values.ravel().astype(np.float64)
    neighbours = np.corrcoef(flat[1:], flat[:-1])[0, 1]
    if abs(neighbours) > 5 / np.sqrt(COUNT):
        sys.exit(f"{what}: neighbours correlate by {neighbours}")


def main() -> None:
    if len(sys.argv) > 2:
        return
    hone = sys.argv[1]
    x = np.full(SHAPE, 0.3, np.float32)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for open_shapes in (False, True):
            def drawn(op, open_shapes=open_shapes, **attributes):
                return draw(hone, folder, op, x, open_shapes, **attributes)

            check("RandomNormalLike", drawn("RandomNormalLike", mean=1.0, scale=2.0), 1, 2)
            check("RandomUniformLike", drawn("RandomUniformLike", low=-1.0, high=3.0), 1, 4 / np.sqrt(12))
            check("Bernoulli", drawn("Bernoulli"), 0.3, np.sqrt(0.21))
            half = drawn("RandomNormal", shape=SHAPE, dtype=onnx.TensorProto.FLOAT16, seed=1.0)
            check("RandomNormal", half, 0, 1)
            if half.dtype != np.float16:
                sys.exit(f"RandomNormal made {half.dtype}")
            uniform = drawn("RandomUniform", shape=SHAPE, seed=1.0)
            check("RandomUniform", uniform, 0.5, 1 / np.sqrt(12))
            if uniform.min() <= 0 or uniform.max() >= 1:
                sys.exit(f"RandomUniform lies in [{uniform.min()}, {uniform.max()}]")
            if not np.array_equal(uniform, drawn("RandomUniform", shape=SHAPE, seed=1.0)):
                sys.exit("two runs differ")
            other = drawn("RandomUniform", shape=SHAPE, seed=2.0)
            if abs(np.corrcoef(uniform.ravel(), other.ravel())[0, 1]) > 5 / np.sqrt(COUNT):
                sys.exit("two seeds give numbers that correlate")
    print("all moments as expected")


if __name__ == "__main__":
    main()
