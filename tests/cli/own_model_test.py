"""A user's own model: measured and profiled with real inputs, as an engine, under limits; what is said of random weights.

usage: own_model_test.py HONE MODELS_DIGITS
"""
import csv
import io
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HONE, DIGITS = sys.argv[1], str(pathlib.Path(sys.argv[2]).resolve() / "digits.onnx")
USAGE, BAD_INPUT, ENVIRONMENT, THRESHOLD = 2, 3, 4, 5
QUICK = ("--duration", "0.02", "--rounds", "2", "--warmup", "1")


class Hone:
    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments, code=0):
        ending = subprocess.run([HONE, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300,
                                cwd=self.folder)
        assert ending.returncode == code, f"{arguments}: {ending.returncode}: {ending.stdout}{ending.stderr}"
        return ending.stdout, ending.stderr

    def rows(self, *arguments, code=0):
        out, _ = self.run("bench", *arguments, "--csv", *QUICK, code=code)
        return list(csv.DictReader(io.StringIO(out)))


def save(path, nodes, inputs, outputs):
    def info(name, dtype, shape):
        return helper.make_tensor_value_info(name, dtype, shape)
    graph = helper.make_graph(nodes, "net", [info(*entry) for entry in inputs], [info(*entry) for entry in outputs])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def check_values(hone, folder):
    """y = x + rate, whose reference outputs depend on both: with NaN the verdict says so."""
    save(folder / "add.onnx", [helper.make_node("Cast", ["rate"], ["r"], to=TensorProto.FLOAT),
                               helper.make_node("Add", ["x", "r"], ["y"])],
         [("x", TensorProto.FLOAT, ["n", 4]), ("rate", TensorProto.INT64, [])], [("y", TensorProto.FLOAT, ["n", 4])])
    np.save(folder / "nan.npy", np.full((1, 4), np.nan, np.float32))
    np.save(folder / "wide.npy", np.zeros((1, 5), np.float32))
    row, = hone.rows("add.onnx", "--backends", "hone", "--precisions", "fp32", "--batches", "2", "--input", "nan.npy", "--values",
                     "rate:16000")
    assert "the outputs hold NaN" in row["reason"], row
    row, = hone.rows("add.onnx", "--backends", "hone", "--precisions", "fp32", "--batches", "2", "--values", "rate:16000")
    assert "NaN" not in row["reason"] and float(row["relative_l2"]) < 1e-6, row
    for code, sentence, words in (
            (USAGE, "'rate16' in", ["--values", "rate16"]), (USAGE, "has no input named 'z', its inputs are x, rate", ["--values", "z:1"]),
            (BAD_INPUT, "wide.npy", ["--input", "wide.npy"]), (BAD_INPUT, "none.npy: cannot open the file", ["--input", "none.npy"])):
        _, said = hone.run("bench", "add.onnx", "--backends", "hone", *words, *QUICK, code=code)
        assert sentence.replace("'rate16' in", "not 'rate16'") in said, said
    _, said = hone.run("profile", "add.onnx", "--values", "rate:16000", "--active", "2")
    assert (folder / "runs" / "add-hone-fp32-b1.trace.sqlite").exists(), said


def check_dimensions(hone, folder):
    """Open dimensions by the names that the model gives them."""
    save(folder / "tokens.onnx", [helper.make_node("Add", ["ids", "mask"], ["y"])],
         [("ids", TensorProto.FLOAT, ["n", "seq"]), ("mask", TensorProto.FLOAT, ["n", "seq"])],
         [("y", TensorProto.FLOAT, ["n", "seq"])])
    _, said = hone.run("bench", "tokens.onnx", "--backends", "hone", *QUICK, code=USAGE)
    assert "give --shapes ids:1x128 or --dim seq=128" in said, said
    out, _ = hone.run("bench", "tokens.onnx", "--backends", "hone", "--dims", "seq=32", "--precisions", "fp32", "--batches",
                      "1", "--layers", "--csv", *QUICK)
    assert "float32 1x32" in out, out
    hone.run("profile", "tokens.onnx", "--dim", "seq=16", "--active", "2")
    hone.run("build", "tokens.onnx", "-o", "tokens.hone", "--dim", "seq=48")
    out, _ = hone.run("inspect", "tokens.hone")
    assert "1x48" in out, out
    for words, sentence in ((["--dim", "n=4"], "this dimension is the batch; give --batches 4"),
                            (["--dim", "s=4"], "--dim s=4: the open dimensions of tokens are n, seq"),
                            (["--dim", "seq"], "a dimension is written NAME=SIZE, as in --dim seq=128, not 'seq'"),
                            (["--dim", "seq=0"], "a dimension is written NAME=SIZE"),
                            (["--dim", "seq=1,seq=2"], "the dimension seq is given two sizes")):
        _, said = hone.run("bench", "tokens.onnx", "--backends", "hone", *words, *QUICK, code=USAGE)
        assert sentence in said, said
    _, said = hone.run("bench", "tokens.hone", "--dim", "seq=8", *QUICK, code=USAGE)
    assert "--dim is for a model; tokens.hone is an engine" in said, said


def check_fixed(hone, folder):
    """A first dimension that is fixed: one run is one run, whatever it stands for."""
    save(folder / "fixed.onnx", [helper.make_node("Relu", ["x"], ["y"])], [("x", TensorProto.FLOAT, [5, 4])],
         [("y", TensorProto.FLOAT, [5, 4])])
    row, = hone.rows("fixed.onnx", "--backends", "hone", "--precisions", "fp32", "--batches", "1")
    assert row["batch"] == "5", row
    out, _ = hone.run("bench", "fixed.onnx", "--backends", "hone", "--precisions", "fp32", *QUICK)
    assert "the first dimension of its inputs is fixed at 5, so no other batch can be measured; hone export fixed.onnx" in out, out
    sentence = ("hone: the batch of fixed is fixed at 5: give --batch 5; hone export fixed.onnx -o NEW.onnx --dynamic-batch opens it "
                "where the graph allows that\n")
    for words in (["bench", "--backends", "hone"], ["profile"], ["partition"]):
        words[1:1] = ["fixed.onnx"]
        out, said = hone.run(*words, "--batch", "8", code=USAGE)
        assert (out, said) == ("", sentence), (words, out, said)


def check_open_batch(hone, folder):
    """What exporters fix is opened where images stay apart: the same outputs for each image, refused with the node elsewhere."""
    random = np.random.default_rng(0)
    weights = [numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
               for name, shape in (("w", (4, 3, 3, 3)), ("m", (5, 4 * 36)))]
    weights.append(numpy_helper.from_array(np.array([1, -1], np.int64), "flat"))
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Reshape", ["r", "flat"], ["f"]), helper.make_node("Gemm", ["f", "m"], ["y"], transB=1)]
    save(folder / "one.onnx", nodes, [("x", TensorProto.FLOAT, [1, 3, 8, 8])], [("y", TensorProto.FLOAT, [1, 5])])
    model = onnx.load(folder / "one.onnx")
    model.graph.initializer.extend(weights)
    onnx.save(model, folder / "one.onnx")
    images = random.standard_normal((3, 3, 8, 8)).astype(np.float32)
    np.save(folder / "all.npy", images)
    hone.run("export", "one.onnx", "-o", "open.onnx", "--dynamic-batch")
    hone.run("run", "open.onnx", "--input", "all.npy", "-o", "all.npz")
    together = np.load(folder / "all.npz")["y"]
    for i in range(3):
        np.save(folder / "single.npy", images[i:i + 1])
        hone.run("run", "one.onnx", "--input", "single.npy", "-o", "single.npz")
        np.testing.assert_allclose(together[i:i + 1], np.load(folder / "single.npz")["y"], rtol=1e-4, atol=1e-5)
    # Exporters write an Identity for each use of equal tensors, quantizers a DequantizeLinear: both are the same at every batch.
    model.graph.initializer.extend(numpy_helper.from_array(np.array(value, dtype), name) for name, value, dtype in (
        ("zeros", [0.5] * 4, np.float32), ("bytes", [10, -20, 30, 40, 50], np.int8), ("scale", 0.05, np.float32)))
    del model.graph.node[:]
    model.graph.node.extend([
        helper.make_node("Identity", ["zeros"], ["b"]), helper.make_node("Identity", ["flat"], ["flat2"]),
        helper.make_node("DequantizeLinear", ["bytes", "scale"], ["last"]), helper.make_node("Conv", ["x", "w", "b"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]), helper.make_node("Reshape", ["r", "flat2"], ["f"]),
        helper.make_node("Gemm", ["f", "m", "last"], ["y"], transB=1)])
    onnx.save(model, folder / "shared.onnx")
    hone.run("export", "shared.onnx", "-o", "shared_open.onnx", "--dynamic-batch")
    assert "Identity" not in [node.op_type for node in onnx.load(folder / "shared_open.onnx").graph.node]
    hone.run("run", "shared_open.onnx", "--input", "all.npy", "-o", "all.npz")
    together = np.load(folder / "all.npz")["y"]
    for i in range(3):
        np.save(folder / "single.npy", images[i:i + 1])
        hone.run("run", "shared.onnx", "--input", "single.npy", "-o", "single.npz")
        np.testing.assert_allclose(together[i:i + 1], np.load(folder / "single.npz")["y"], rtol=1e-4, atol=1e-5)
    save(folder / "words.onnx", [helper.make_node("Gather", ["table", "ids"], ["rows"]), helper.make_node("Relu", ["rows"], ["y"])],
         [("ids", TensorProto.INT64, [1, 4])], [("y", TensorProto.FLOAT, [1, 4, 6])])
    words = onnx.load(folder / "words.onnx")
    table = random.standard_normal((9, 6)).astype(np.float32)
    words.graph.initializer.append(numpy_helper.from_array(table, "table"))
    onnx.save(words, folder / "words.onnx")
    hone.run("export", "words.onnx", "-o", "words_open.onnx", "--dynamic-batch")
    ids = random.integers(0, 9, (3, 4))
    np.save(folder / "ids.npy", ids)
    hone.run("run", "words_open.onnx", "--input", "ids.npy", "-o", "rows.npz")
    np.testing.assert_array_equal(np.load(folder / "rows.npz")["y"], np.maximum(table[ids], 0))
    hone.run("export", "one.onnx", "-o", "three.onnx", "--batch-size", "3")
    row, = hone.rows("three.onnx", "--backends", "hone", "--precisions", "fp32")
    assert row["batch"] == "3", row
    save(folder / "mixed.onnx", [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0], name="turn"), helper.make_node("Relu", ["t"], ["y"])],
         [("x", TensorProto.FLOAT, [1, 4])], [("y", TensorProto.FLOAT, [4, 1])])
    _, said = hone.run("export", "mixed.onnx", "-o", "no.onnx", "--dynamic-batch", code=BAD_INPUT)
    assert "the batch cannot be opened: node 'turn' (Transpose) gives float32[4, batch]" in said.replace("4xbatch", "4, batch"), said
    assert "dynamic_axes" in said and not (folder / "no.onnx").exists(), said


def check_engines(hone, folder):
    for name, precision in (("a", "fp32"), ("b", "bf16")):
        hone.run("build", DIGITS, "-o", f"{name}.hone", "--precision", precision, "--minShapes", "input:1x1x8x8", "--optShapes",
                 "input:4x1x8x8", "--maxShapes", "input:8x1x8x8", "--builderOptimizationLevel", "0", "--noTimingCache")
    rows = hone.rows("a.hone", "b.hone")
    assert [(row["model"], row["backend"], row["precision"], row["batch"]) for row in rows] == [
        ("a.hone", "hone", "fp32", "4"), ("b.hone", "hone", "bf16", "4")], rows
    assert all(float(row["p50_ms"]) > 0 and row["relative_l2"] == "" for row in rows), rows
    assert [row["batch"] for row in hone.rows("a.hone", "--batches", "1", "8")] == ["1", "8"]
    for words, sentence in ((["a.hone", "--precisions", "fp32"], "--precisions is for models"),
                            (["a.hone", "--backends", "torch"], "only hone runs its engines"),
                            (["a.hone", "--weights", "x"], "--weights goes with a built-in architecture")):
        _, said = hone.run("bench", *words, *QUICK, code=USAGE)
        assert sentence in said, said
    _, said = hone.run("bench", "a.hone", "--max-error", "1", *QUICK, code=THRESHOLD)
    assert "the error of a.hone hone fp32 batch 4 is not known: an engine keeps its weights packed" in said, said
    out, _ = hone.run("bench", "b.hone", *QUICK)
    reason = ("an engine keeps its weights packed, which the reference cannot run; hone bench MODEL --precisions bf16 measures the "
              "error of its model in this precision, and hone diff --accuracy MODEL b.hone --input FILE that of the engine\n")
    assert f"b.hone: no accuracy: {reason}" in out and "\nAccuracy: not known, the note below says why\n" in out, out
    hone.run("profile", "b.hone", "--active", "2")
    assert (folder / "runs" / "b-hone-bf16-b4.trace.sqlite").exists() or (folder / "runs" / "b-hone-bf16-b1.trace.sqlite").exists()
    np.save(folder / "x.npy", np.zeros((1, 1, 8, 8), np.float32))
    hone.run("run", "a.hone", "--backend", "hone", "--input", "x.npy")


def check_limits(hone):
    _, said = hone.run("bench", DIGITS, "--backends", "hone", "--precisions", "bf16", "--batches", "1", "--max-error", "1e-9", *QUICK,
                       code=THRESHOLD)
    assert "more than --max-error 1e-09" in said, said
    hone.run("bench", DIGITS, "--backends", "hone", "--precisions", "fp32", "--batches", "1", "--max-error", "0.01", *QUICK)


def check_figures(hone):
    row, = hone.rows(DIGITS, "--backends", "hone", "--precisions", "fp32", "--batches", "1", "--exact", "--iterations", "37",
                     "--percentiles", "25,50,99.9")
    assert row["samples"] == "37" and row["p25_ms"] and not row["p99.9_ms"] and row["valid"] in ("yes", "no"), row
    assert float(row["p25_ms"]) <= float(row["p50_ms"]), row
    row, = hone.rows(DIGITS, "--backends", "hone", "--precisions", "fp32", "--batches", "1", "--streams", "2", "--threads", "1")
    assert float(row["pipelined_per_second"]) > 0, row


def check_save_result(hone, folder):
    (folder / "results").write_text("in the way")
    before = sorted((folder / "runs").iterdir())
    _, said = hone.run("bench", DIGITS, "--backends", "hone", "--save-result", *QUICK, code=ENVIRONMENT)
    assert "results" in said and sorted((folder / "runs").iterdir()) == before, said
    (folder / "results").unlink()


def check_run(hone, folder):
    save(folder / "sum.onnx", [helper.make_node("Add", ["x", "x"], ["y"])], [("x", TensorProto.FLOAT, [3])], [("y", TensorProto.FLOAT, [3])])
    np.save(folder / "odd.npy", np.array([1, np.nan, np.inf], np.float32))
    np.save(folder / "even.npy", np.array([1, 2, 3.5], np.float32))
    out, said = hone.run("run", "sum.onnx", "--input", "even.npy")
    assert out == "y  float32[3] = 2 4 7\n" and said == "", out + said
    _, said = hone.run("run", "sum.onnx", "--input", "odd.npy")
    assert said == "note: 2 of 3 values of input 'x' are NaN or infinite: outputs mean nothing\n", said
    np.save(folder / "image.npy", np.zeros((1, 3, 224, 224), np.float32))
    out, said = hone.run("run", "squeezenet1_1", "--input", "image.npy")
    assert "note: the weights of squeezenet1_1 are random (seed 0)" in said and " to " in out, out + said


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        hone = Hone(folder)
        check_run(hone, folder)
        check_values(hone, folder)
        check_dimensions(hone, folder)
        check_fixed(hone, folder)
        check_open_batch(hone, folder)
        check_engines(hone, folder)
        check_limits(hone)
        check_figures(hone)
        check_save_result(hone, folder)


if __name__ == "__main__":
    main()
