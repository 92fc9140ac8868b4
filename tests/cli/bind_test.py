"""Outputs that feed inputs of the next run: `hone run --bind`, `hone build --bind`, and what wrong ones say.

usage: bind_test.py HONE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

USAGE, BAD_INPUT = 2, 3
VOCABULARY, WIDTH = 13, 8


def decoder(path):
    """One layer of causal attention with a cache: logits of tokens, by their places."""
    random = np.random.default_rng(3)
    constants = {"words": random.standard_normal((VOCABULARY, WIDTH)), "table": random.standard_normal((32, WIDTH)),
                 "packed": random.standard_normal((WIDTH, 3 * WIDTH)) / 3, "head": random.standard_normal((WIDTH, VOCABULARY))}
    initializers = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()]
    integers = {"zero": np.int64(0), "one": np.int64(1), "axis0": np.array([0]), "axis1": np.array([1]),
                "parts": np.array([WIDTH] * 3)}
    initializers += [numpy_helper.from_array(np.asarray(value, np.int64), name) for name, value in integers.items()]
    initializers += [numpy_helper.from_array(np.float32(value), name)
                     for name, value in {"allowed": 0, "denied": -1e30, "scale": WIDTH ** -0.5}.items()]
    make = helper.make_node
    nodes = [
        make("Shape", ["past.key"], ["length"], start=1, end=2), make("Shape", ["ids"], ["fresh"], start=1, end=2),
        make("Add", ["length", "fresh"], ["total"]), make("Squeeze", ["length"], ["first"]),
        make("Squeeze", ["total"], ["end"]), make("Range", ["zero", "end", "one"], ["columns"]),
        make("Range", ["first", "end", "one"], ["rows"]), make("Unsqueeze", ["rows", "axis1"], ["column"]),
        make("LessOrEqual", ["columns", "column"], ["sees"]), make("Where", ["sees", "allowed", "denied"], ["mask"]),
        make("Gather", ["words", "ids"], ["embedded"]), make("Slice", ["table", "length", "total", "axis0"], ["places"]),
        make("Add", ["embedded", "places"], ["x"]), make("MatMul", ["x", "packed"], ["qkv"]),
        make("Split", ["qkv", "parts"], ["q", "k", "v"], axis=2),
        make("Concat", ["past.key", "k"], ["present.key"], axis=1), make("Concat", ["past.value", "v"], ["present.value"], axis=1),
        make("Transpose", ["present.key"], ["keys"], perm=[0, 2, 1]), make("MatMul", ["q", "keys"], ["products"]),
        make("Mul", ["products", "scale"], ["scores"]), make("Add", ["scores", "mask"], ["masked"]),
        make("Softmax", ["masked"], ["weights"], axis=-1), make("MatMul", ["weights", "present.value"], ["context"]),
        make("MatMul", ["context", "head"], ["logits"])]
    value = helper.make_tensor_value_info
    cache = ["batch", "past", WIDTH]
    inputs = [value("ids", TensorProto.INT64, ["batch", "new"]), value("past.key", TensorProto.FLOAT, cache),
              value("past.value", TensorProto.FLOAT, cache)]
    outputs = [value(name, TensorProto.FLOAT, None) for name in ("logits", "present.key", "present.value")]
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


class Runner:
    def __init__(self, hone, folder):
        self.hone, self.folder = hone, folder

    def command(self, *arguments):
        return subprocess.run([self.hone, *map(str, arguments)], capture_output=True, text=True, check=False)

    def good(self, *arguments):
        ending = self.command("run", *arguments, "-o", self.folder / "out.npz")
        assert ending.returncode == 0, f"{arguments}: {ending.stderr}"
        return dict(np.load(self.folder / "out.npz"))

    def bad(self, code, part, *arguments):
        """Fails with one sentence that contains `part`, and writes nothing."""
        output = self.folder / "nothing.npz"
        ending = self.command(*arguments, "-o", output)
        assert ending.returncode == code, f"{arguments}: exit code {ending.returncode}: {ending.stderr}"
        assert part in ending.stderr, f"{arguments}: {ending.stderr}"
        assert ending.stderr.count("\n") == 1 and ending.stderr.startswith("hone: "), f"{arguments}: {ending.stderr}"
        assert not output.exists(), arguments

    def tokens(self, name, *values):
        path = self.folder / f"{name}.npy"
        np.save(path, np.array([values], np.int64))
        return path


def check_runs(runner, model):
    """Tokens one by one, and in parts, are as in one run; caches are those of all tokens."""
    ids = [5, 1, 12, 7, 7]
    whole = runner.good(model, "--bind", "past.*=present.*", "--input", runner.tokens("all", *ids))
    assert whole["logits"].shape == (1, 5, VOCABULARY) and whole["present.key"].shape == (1, 5, WIDTH)
    for backend in ("hone", "reference"):
        for parts in ([[5], [1], [12], [7], [7]], [[5, 1, 12], [7], [7]]):
            files = [runner.tokens(f"part{i}", *part) for i, part in enumerate(parts)]
            inputs = [argument for file in files for argument in ("--input", file)]
            found = runner.good(model, "--backend", backend, "--bind", "past.*=present.*", *inputs)
            rows = np.concatenate([found[f"run{i}/logits"] for i in range(len(parts))], 1)
            np.testing.assert_allclose(rows, whole["logits"], atol=1e-5)
            np.testing.assert_allclose(found["present.value"], whole["present.value"], atol=1e-6)
    # A cache that is given, and an input that is the same in every run.
    given = {name: whole[f"present.{name}"][:, :3] for name in ("key", "value")}
    np.savez(runner.folder / "given.npz", **{f"past.{name}": value for name, value in given.items()})
    rest = runner.good(model, "--bind", "past.*=present.*", "--input", runner.folder / "given.npz", "--input",
                       runner.tokens("rest", 7, 7))
    np.testing.assert_allclose(rest["logits"], whole["logits"][:, 3:], atol=1e-5)
    return whole


def check_engine(runner, model, whole):
    """An engine of a fixed capacity gives the same, and says when it is full."""
    engine = runner.folder / "decoder.hone"
    build = ["build", model, "--bind", "past.*=present.*", "--builderOptimizationLevel", "0"]
    shapes = ["--minShapes", "ids:1x1", "--maxShapes", "ids:1x4,past.key:1x8x8"]
    ending = runner.command(*build, *shapes, "-o", engine)
    assert ending.returncode == 0, ending.stderr
    parts = [[5, 1, 12], [7], [7]]
    inputs = [argument for i, part in enumerate(parts) for argument in ("--input", runner.tokens(f"fixed{i}", *part))]
    found = runner.good(engine, *inputs)
    assert set(found) == {"run0/logits", "run1/logits", "run2/logits"}, set(found)
    rows = np.concatenate([found[f"run{i}/logits"] for i in range(3)], 1)
    np.testing.assert_allclose(rows, whole["logits"], atol=1e-5)
    full = "the caches hold 8 tokens, of which 5 are used, and 4 more come"
    runner.bad(BAD_INPUT, full, "run", engine, *inputs, "--input", runner.tokens("four", 1, 2, 3, 4))
    runner.bad(USAGE, "has bound its caches", "run", engine, "--bind", "past.*=present.*", *inputs)
    np.save(runner.folder / "own.npy", np.zeros((1, 8, WIDTH), np.float32))
    runner.bad(USAGE, "input 'past.key' is the engine's own", "run", engine, "--input", f"past.key:{runner.folder}/own.npy",
               *inputs)
    runner.bad(USAGE, "--bind needs the capacity of the caches: give the largest shape of one", *build, "--optShapes", "ids:1x1")
    runner.bad(BAD_INPUT, "the caches cannot have a fixed capacity: a capacity of 5 is too small", *build, "--maxShapes",
               "ids:1x4,past.key:1x5x8")
    runner.bad(USAGE, "another cache has 8", *build, "--maxShapes", "ids:1x4,past.key:1x8x8,past.value:1x9x8")


def check_layers(runner, model):
    """The steps of a token whose caches stay in place have times, in a benchmark and in a recording."""
    ending = runner.command("bench", model, "--bind", "past.*=present.*", "--context", 8, "--batches", 1, "--backends", "hone",
                            "--precisions", "fp32", "--duration", 0.05, "--layers", "--json", "-o", runner.folder / "runs")
    assert ending.returncode == 0, ending.stderr
    run = json.loads(ending.stdout)["runs"][0]
    assert any("stay where it computes" in note for note in run["notes"]), run["notes"]
    assert any(layer["time_ms"]["p50"] > 0 for layer in run["layers"]), run["layers"]
    traces = runner.folder / "traces"
    ending = runner.command("profile", model, "--bind", "past.*=present.*", "--context", 8, "-o", traces)
    assert ending.returncode == 0, ending.stderr
    ending = runner.command("analyze", *traces.glob("*.sqlite"), "--only", "layers", "--json")
    assert ending.returncode == 0, ending.stderr
    recorded = {layer["name"] for layer in json.loads(ending.stdout)["layers"]["layers"]}
    assert recorded and recorded <= {layer["name"] for layer in run["layers"]}, recorded


def check_refusals(runner, model):
    ids = runner.tokens("ids", 1)
    runner.bad(USAGE, "it is written INPUT=OUTPUT", "run", model, "--bind", "past", "--input", ids)
    runner.bad(USAGE, "the model has no input 'cache.*'; its inputs are ids, past.key, past.value", "run", model, "--bind",
               "cache.*=present.*", "--input", ids)
    runner.bad(USAGE, "the model has no output 'now.key'", "run", model, "--bind", "past.*=now.*", "--input", ids)
    runner.bad(USAGE, "--input is required: ", "run", model, "--bind", "past.*=present.*")
    cache = runner.folder / "cache.npy"
    np.save(cache, np.zeros((1, 2, WIDTH), np.float32))
    runner.bad(BAD_INPUT, "input 'past.key' is bound: only the first run takes a file for it", "run", model, "--bind",
               "past.*=present.*", "--input", ids, "--input", ids, "--input", f"past.key:{cache}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], pathlib.Path(folder))
        model = decoder(runner.folder / "decoder.onnx")
        whole = check_runs(runner, model)
        check_engine(runner, model, whole)
        check_layers(runner, model)
        check_refusals(runner, model)


if __name__ == "__main__":
    main()
