"""hone quantize with labels, budgets, equalization, GPTQ and reports; hone diff --accuracy of what it writes.

usage: quantize_accuracy_test.py HONE DIGITS
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HONE = pathlib.Path(sys.argv[1]).absolute()
DIGITS = pathlib.Path(sys.argv[2]).absolute()
MODEL, DATA, LABELS = DIGITS / "digits.onnx", DIGITS / "held_out.npz", DIGITS / "expected.npz"
USAGE, BAD_INPUT, VERDICT = 2, 3, 5


def hone(*arguments, cwd=None):
    return subprocess.run([HONE, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, check=False)


def graph_file(file, nodes, inputs, outputs, constants):
    """Inputs and outputs by name and shape; constants are float32 unless they have a type."""
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "g", [value(*one) for one in inputs], [value(*one) for one in outputs], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(file))
    return file


class Accuracy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output, self.report = self.folder / "q.onnx", self.folder / "report.json"

    def quantize(self, *arguments, model=MODEL, data=DATA, code=0):
        result = hone("quantize", model, "--calibrate", data, "-o", self.output, "--threads", 1, "--report", self.report,
                      *arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def refused(self, code, *arguments):
        before = set(self.folder.iterdir())
        result = hone("quantize", *arguments, "-o", self.output, "--threads", 1)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        # A slow machine shows progress before.
        sentences = [line for line in result.stderr.splitlines() if line.startswith("hone: ")]
        self.assertEqual(len(sentences), 1, result.stderr)
        self.assertEqual(set(self.folder.iterdir()), before)
        return sentences[0]

    def convolutions(self):
        """A model whose output is no row of classes, and data for it."""
        random = np.random.default_rng(1)
        weights = lambda *shape: random.normal(size=shape).astype(np.float32)
        nodes = [helper.make_node("Conv", ["x", "a"], ["p"], name="first"), helper.make_node("Relu", ["p"], ["r"], name="relu"),
                 helper.make_node("Conv", ["r", "b"], ["y"], name="second")]
        np.save(self.folder / "x.npy", weights(8, 3, 6, 6))
        return graph_file(self.folder / "m.onnx", nodes, [("x", ["n", 3, 6, 6])], [("y", ["n", 4, 2, 2])],
                          {"a": weights(8, 3, 3, 3), "b": weights(4, 8, 3, 3)})

    def test_labels_give_true_accuracy(self):
        text = self.quantize("--labels", LABELS, "--evaluate", DATA)
        logits = np.load(LABELS)["logits"]
        right = 100 * (logits.argmax(1) == np.load(LABELS)["labels"]).mean()
        self.assertIn(f"{right:.2f} % in fp32", text)
        self.assertIn("on 364 held-out samples", text)
        report = json.loads(self.report.read_text())
        result = hone("run", self.output, "--input", DATA, "-o", self.folder / "o.npz", "--threads", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        mine = (np.load(self.folder / "o.npz")["logits"].argmax(1) == np.load(LABELS)["labels"]).mean()
        self.assertAlmostEqual(report["accuracy"]["right"], mine, delta=1.01 / 364)

    def test_report_says_what_each_layer_is(self):
        self.quantize("--calibrator", "percentile", "--percentile", "99", "--accuracy-budget", "100%")
        report = json.loads(self.report.read_text())
        cache = json.loads((self.folder / "q.calib.json").read_text())["tensors"]
        self.assertEqual([layer["op"] for layer in report["layers"]], ["Conv", "Conv", "Conv", "Gemm"])
        for layer in report["layers"]:
            tensor = cache[layer["tensor"]]
            self.assertEqual(sum(layer["histogram"]["counts"]), sum(tensor["bins"]))
            self.assertLessEqual(len(layer["histogram"]["counts"]), 65)
            self.assertEqual((layer["low"], layer["high"]), (tensor["range"]["low"], tensor["range"]["high"]))
            self.assertGreater(layer["own_error"], 0)
            self.assertLess(layer["clipped"], 0.011)
        self.assertGreater(max(layer["clipped"] for layer in report["layers"]), 0.003)
        self.assertEqual([model["floating"] for model in report["models"]], [[]])
        self.assertTrue(report["models"][0]["chosen"] and report["met"])

    def test_a_budget_keeps_layers(self):
        model, data = self.convolutions(), self.folder / "x.npy"
        self.quantize(model=model, data=data)
        loss = json.loads(self.report.read_text())["accuracy"]["loss"]
        text = self.quantize("--accuracy-budget", f"{95 * loss}%", model=model, data=data)
        self.assertIn("the accuracy budget keeps it", text)
        self.assertIn("1 of 2 convolutions", text)
        report = json.loads(self.report.read_text())
        self.assertLessEqual(report["accuracy"]["loss"], 0.95 * loss)
        self.assertEqual(sorted(layer["precision"] for layer in report["layers"]), ["float", "int8"])
        quantizers = [node for node in onnx.load(str(self.output)).graph.node if node.op_type == "QuantizeLinear"]
        self.assertEqual(len(quantizers), 1)

    def test_a_budget_that_cannot_be_met_writes_the_best_model(self):
        text = self.quantize("--accuracy-budget", "0%", model=self.convolutions(), data=self.folder / "x.npy", code=VERDICT)
        self.assertIn("no model with a layer in int8 loses at most 0 %", text)
        onnx.checker.check_model(str(self.output))
        report = json.loads(self.report.read_text())
        self.assertFalse(report["met"])
        best = min(model["accuracy"]["loss"] for model in report["models"])
        self.assertEqual(report["accuracy"]["loss"], best)

    def test_a_cache_and_samples_to_judge_by_are_enough(self):
        self.quantize()
        result = hone("quantize", MODEL, "--calib", self.folder / "q.calib.json", "--evaluate", DATA, "--labels", LABELS,
                      "--accuracy-budget", "2%", "-o", self.folder / "again.onnx", "--threads", 1, "--target", "cuda")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("times are estimated", result.stdout)

    def test_words_that_are_no_budget(self):
        for word in ("1", "0.01", "-1%", "101%", "nan%", "inf%", "%", "1%%", "1 percent", "1e"):
            self.assertIn("give 0% to 100%", self.refused(USAGE, MODEL, "--calibrate", DATA, "--accuracy-budget", word))

    def test_labels_that_do_not_fit(self):
        def with_labels(labels):
            np.save(self.folder / "l.npy", labels)
            return self.refused(BAD_INPUT, MODEL, "--calibrate", DATA, "--labels", self.folder / "l.npy")

        labels = np.load(LABELS)["labels"]
        self.assertIn("363 labels, and the data go on", with_labels(labels[:-1]))
        self.assertIn("365 labels for 364 samples", with_labels(np.append(labels, 0)))
        self.assertIn("has the class 10, and the model has 10 classes", with_labels(np.where(labels == 9, 10, labels)))
        self.assertIn("one dimension of integers", with_labels(labels.astype(np.float32)))
        self.assertIn("no such file", self.refused(BAD_INPUT, MODEL, "--calibrate", DATA, "--labels", self.folder / "none.txt")
                      .lower())
        np.save(self.folder / "eight.npy", np.zeros(8, np.int64))
        self.assertIn("row of class scores", self.refused(USAGE, self.convolutions(), "--calibrate", self.folder / "x.npy",
                                                          "--labels", self.folder / "eight.npy"))

    def test_options_that_need_others(self):
        self.quantize()
        cache = self.folder / "q.calib.json"
        before = cache.read_bytes()
        for words in (("--accuracy-budget", "1%"), ("--labels", LABELS), ("--rounding", "gptq")):
            self.refused(USAGE, MODEL, "--calib", cache, *words)
        self.assertEqual(cache.read_bytes(), before)
        self.refused(USAGE, MODEL, "--calibrate", DATA, "--report", self.output)
        self.refused(USAGE, MODEL, "--calibrate", DATA, "--report", self.folder / "q.calib.json")
        self.refused(BAD_INPUT, MODEL, "--calibrate", DATA, "--evaluate", self.folder / "none.npz")

    def test_data_to_judge_by_are_checked(self):
        bad = np.load(DATA)["input"][:4].copy()
        bad[2, 0, 3, 3] = np.nan
        np.save(self.folder / "nan.npy", bad)
        self.quantize()
        text = hone("quantize", MODEL, "--calibrate", DATA, "--evaluate", self.folder / "nan.npy", "-o", self.output, "--threads", 1)
        self.assertEqual(text.returncode, BAD_INPUT)
        self.assertIn("nan.npy: the values for input 'input' hold NaN", text.stderr)

    def test_gptq_is_as_accurate_and_other_integers(self):
        integers = lambda: [numpy_helper.to_array(t) for t in onnx.load(str(self.output)).graph.initializer
                            if t.data_type == TensorProto.INT8 and len(t.dims) > 1]
        self.quantize("--labels", LABELS)
        nearest, before = integers(), json.loads(self.report.read_text())["accuracy"]
        self.quantize("--labels", LABELS, "--rounding", "gptq")
        rounded, after = integers(), json.loads(self.report.read_text())["accuracy"]
        self.assertGreater(sum((a != b).sum() for a, b in zip(nearest, rounded)), 100)
        self.assertLess(after["relative_error"], before["relative_error"])
        self.assertGreaterEqual(after["right"], before["right"] - 2 / 364)

    def normalized(self):
        """A LayerNormalization with one channel that drowns the others."""
        random = np.random.default_rng(2)
        gain = np.ones(16, np.float32)
        gain[5] = 300
        weights = random.normal(size=(16, 8)).astype(np.float32)
        weights[5] /= 300
        np.save(self.folder / "x.npy", random.normal(size=(8, 4, 16)).astype(np.float32))
        nodes = [helper.make_node("LayerNormalization", ["x", "gain", "offset"], ["n"], name="norm"),
                 helper.make_node("MatMul", ["n", "w"], ["y"], name="product")]
        return graph_file(self.folder / "norm.onnx", nodes, [("x", ["b", 4, 16])], [("y", ["b", 4, 8])],
                          {"gain": gain, "offset": np.zeros(16, np.float32), "w": weights})

    def test_equalization_is_measured_kept_in_the_cache_and_refused_for_tensorrt(self):
        model, data = self.normalized(), self.folder / "x.npy"
        self.quantize("--no-equalization", model=model, data=data)
        plain = json.loads(self.report.read_text())["accuracy"]["relative_error"]
        text = self.quantize(model=model, data=data)
        self.assertIn("equalized: the channels of 1 values", text)
        self.assertLess(json.loads(self.report.read_text())["accuracy"]["relative_error"], plain / 4)
        cache = self.folder / "q.calib.json"
        factors = json.loads(cache.read_text())["equalization"]["n"]
        self.assertEqual(int(np.argmax(factors)), 5)
        again = self.folder / "again.onnx"
        self.assertEqual(hone("quantize", model, "--calib", cache, "-o", again).returncode, 0)
        self.assertEqual(again.read_bytes(), self.output.read_bytes())
        result = hone("quantize", model, "--calib", cache, "-o", again, "--calib-format", "tensorrt")
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn("calibrate with --no-equalization", result.stderr)
        damaged = json.loads(cache.read_text())
        damaged["equalization"]["n"][0] = 0
        cache.write_text(json.dumps(damaged))
        result = hone("quantize", model, "--calib", cache, "-o", again)
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn("tensor 'n' has a factor", result.stderr)

    def test_diff_finds_the_layer_that_was_broken(self):
        model = onnx.load(str(MODEL))
        weights = [tensor for tensor in model.graph.initializer if len(tensor.dims) == 4][1]
        array = numpy_helper.to_array(weights) * 1.3
        weights.CopyFrom(numpy_helper.from_array(array.astype(np.float32), weights.name))
        onnx.save(model, str(self.folder / "broken.onnx"))
        np.save(self.folder / "x.npy", np.load(DATA)["input"][:2])
        for word, suffix in (("fp32", ""), ("bf16", "")):
            engine = self.folder / f"{word}.hone"
            built = hone("build", self.folder / "broken.onnx", "--precision", word, "-o", engine, "--threads", 1, "--maxShapes",
                         "input:2x1x8x8")
            if built.returncode == 4:
                continue
            self.assertEqual(built.returncode, 0, built.stderr)
            result = hone("diff", "--accuracy", MODEL, engine, "--input", self.folder / "x.npy", "--json", "--tolerance", 0.05)
            self.assertEqual(result.returncode, VERDICT, result.stderr)
            found = json.loads(result.stdout)
            self.assertEqual(found["first_diverging"], "/5/Relu_output_0")
            own = {layer["value"]: layer["own_b"] for layer in found["layers"]}
            self.assertEqual(max(own, key=own.get), "/5/Relu_output_0")
            # Later values are as good as their inputs.
            self.assertLess(own["logits"], 0.02)

    def test_diff_reads_the_integers_of_an_engine(self):
        self.quantize()
        engine = self.folder / "int8.hone"
        built = hone("build", MODEL, "--precision", "int8", "--calib", self.folder / "q.calib.json", "-o", engine, "--threads", 1)
        self.assertEqual(built.returncode, 0, built.stderr)
        np.save(self.folder / "x.npy", np.load(DATA)["input"][:1])
        for other in (MODEL, self.output):
            result = hone("diff", "--accuracy", other, engine, "--input", self.folder / "x.npy", "--json", "--reference", MODEL)
            self.assertEqual(result.returncode, 0, result.stderr)
            layers = json.loads(result.stdout)["layers"]
            self.assertIn("/5/Relu_output_0", {layer["value"] for layer in layers})
            for layer in layers:
                self.assertLess(layer["between"], 0.05, layer)
                self.assertLess(layer["own_b"], 0.03, layer)
        text = hone("diff", "--accuracy", MODEL, self.output, "--input", self.folder / "x.npy")
        self.assertIn("no layer differs by more than 10 %", text.stdout)

    def test_diff_refuses_what_it_cannot_compare(self):
        np.save(self.folder / "x.npy", np.load(DATA)["input"][:1])
        x = self.folder / "x.npy"
        for code, words in ((USAGE, ("--accuracy", MODEL, MODEL)), (USAGE, (MODEL, MODEL, "--input", x)),
                            (USAGE, ("--accuracy", MODEL, self.convolutions(), "--input", x)),
                            (BAD_INPUT, ("--accuracy", MODEL, self.folder / "none.onnx", "--input", x)),
                            (USAGE, ("--accuracy", MODEL, MODEL, "--input", x, "--tolerance", "nan"))):
            np.save(x, np.load(DATA)["input"][:1])
            result = hone("diff", *words)
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
            self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.quantize()
        result = hone("diff", "--accuracy", MODEL, MODEL, "--input", x, "--reference", self.output)
        self.assertEqual(result.returncode, USAGE)
        self.assertIn("not a model in floating point", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
