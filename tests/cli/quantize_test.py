"""hone quantize: the digits network on its real images, with the written model read by onnx, the entropy range computed
again with numpy, caches that go on or are refused, and every wrong input.

usage: quantize_test.py HONE DIGITS
"""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HONE = pathlib.Path(sys.argv[1]).absolute()
DIGITS = pathlib.Path(sys.argv[2]).absolute()
MODEL = DIGITS / "digits.onnx"
DATA = DIGITS / "held_out.npz"
USAGE, BAD_INPUT = 2, 3
CALIBRATORS = ("minmax", "percentile", "entropy", "mse", "auto")
IMAGE_TOOLS = (HONE.parent.parent / "lib" / "libhone-image.so").exists()


def hone(*arguments, cwd=None):
    return subprocess.run([HONE, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, check=False)


def magnitudes(tensor):
    """Counts of |x| in bins as hone's histogram has them, up to the largest magnitude, and their width."""
    width = 2.0 ** (tensor["exponent"] - 12)
    first = tensor["first_bin"]
    largest = max(-tensor["min"], tensor["max"])
    bins = np.zeros(int(largest // width) + 1)
    for i, count in enumerate(tensor["bins"]):
        place = first + i
        bins[place if place >= 0 else -place - 1] += count
    return bins, width


def level_spikes(bins):
    """A bin with more than a tenth of the values counts as the next used one, or where there is none as the one before."""
    most = bins.sum() / 10
    ordinary = np.flatnonzero((bins > 0) & (bins <= most))
    for spike in np.flatnonzero(bins > most):
        nearest = np.concatenate([ordinary[ordinary > spike], ordinary[ordinary < spike][::-1]])
        if nearest.size:
            bins[spike] = bins[nearest[0]]


def entropy_range(bins, width, levels=128):
    """TensorRT's algorithm, as NVIDIA's pytorch-quantization writes it down, with numpy, but for spikes."""
    bins = bins.copy()
    bins[0] = bins[1]
    level_spikes(bins)
    best, least = None, np.inf
    for kept in range(levels, len(bins) + 1):
        inside = bins[:kept]
        p = inside.copy()
        p[-1] += bins[kept:].sum()
        level = np.arange(kept) * levels // kept
        mass = np.bincount(level, inside, minlength=levels)
        used = np.bincount(level, inside > 0, minlength=levels)
        q = np.where(inside > 0, mass[level] / np.maximum(used[level], 1), 0)
        if ((q == 0) & (p > 0)).any() or inside.sum() == 0:
            continue
        some = p > 0
        a, b = p[some] / p.sum(), q[some] / q.sum()
        divergence = (a * np.log(a / b)).sum()
        # The sums are made in another order: differences that small are ties.
        if divergence <= least + 1e-12:
            best, least = kept, min(divergence, least)
    return best * width


class Quantize(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "q.onnx"
        self.cache = self.folder / "q.calib.json"

    def quantize(self, *arguments, model=MODEL, data=DATA):
        source = ("--calibrate", data) if data is not None else ()
        result = hone("quantize", model, *source, "-o", self.output, *arguments, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refused(self, code, *arguments):
        before = set(self.folder.iterdir())
        result = hone("quantize", *arguments, "-o", self.output, cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.assertEqual(set(self.folder.iterdir()), before)
        return result.stderr

    def logits(self, model, *arguments):
        file = self.folder / "logits.npz"
        result = hone("run", model, "--input", DATA, "-o", file, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return np.load(file)["logits"]

    def test_digits_stay_as_accurate(self):
        labels = np.load(DIGITS / "expected.npz")["labels"]
        right = (self.logits(MODEL).argmax(1) == labels).mean()
        for calibrator in CALIBRATORS:
            for target in ("portable", "cpu", "cuda", "tensorrt"):
                text = self.quantize("--calibrator", calibrator, "--target", target)
                # With one channel, nothing is summed up on a GPU.
                share = "3 of 4 convolutions and matrix products in int8, 98.4 %" if target == "cuda" else \
                    "4 of 4 convolutions and matrix products in int8, 100.0 %"
                self.assertIn(share, text)
                logits = self.logits(self.output)
                # Two of 364 images.
                self.assertGreaterEqual((logits.argmax(1) == labels).mean(), right - 2 / 364, (calibrator, target))
                np.testing.assert_allclose(logits, self.logits(self.output, "--backend", "reference"), atol=0.25)

    def test_products_that_stay_for_one_reason_are_one_line(self):
        node = helper.make_node
        nodes = [node("MatMul", ["x", "w"], ["h"])]
        for source, result in (("h", "a"), ("a", "b"), ("b", "y")):
            nodes.append(node("MatMul", [source, "h"], [result], name=f"product_{result}"))
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8, 8])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 8, 8])],
                                  [numpy_helper.from_array(np.eye(8, dtype=np.float32), "w")])
        model, data = self.folder / "products.onnx", self.folder / "x.npy"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(model))
        np.save(data, np.random.default_rng(1).standard_normal((4, 8, 8)).astype(np.float32))
        lines = [line for line in self.quantize(model=model, data=data).splitlines() if "stays in floating" in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("stays in floating point: node 'product_a' (MatMul) and 2 more: ", lines[0])

    def test_file_is_standard_onnx(self):
        self.quantize()
        model = onnx.load(str(self.output))
        onnx.checker.check_model(model, full_check=True)
        self.assertGreaterEqual(model.opset_import[0].version, 13)
        self.assertEqual({node.domain for node in model.graph.node}, {""})
        constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        makers = {output: node for node in model.graph.node for output in node.output}
        weighted = [n for n in model.graph.node if n.op_type in ("Conv", "Gemm")]
        self.assertEqual(len(weighted), 4)
        for node in weighted:
            data, weights, bias = (makers[name] for name in node.input)
            self.assertEqual({data.op_type, weights.op_type, bias.op_type}, {"DequantizeLinear"})
            self.assertEqual(constants[weights.input[0]].dtype, np.int8)
            self.assertGreaterEqual(constants[weights.input[0]].min(), -127)
            self.assertFalse(constants[weights.input[2]].any())
            self.assertEqual(constants[bias.input[0]].dtype, np.int32)
            np.testing.assert_allclose(constants[bias.input[1]],
                                       constants[data.input[1]] * constants[weights.input[1]], rtol=1e-6)
        self.assertEqual(model.graph.output[0].name, "logits")
        self.assertNotEqual(makers["logits"].op_type, "DequantizeLinear")
        # A pool's result has the scale of its input.
        for pool in (n for n in model.graph.node if n.op_type == "MaxPool"):
            reader = next(n for n in model.graph.node if pool.output[0] in n.input)
            self.assertEqual(constants[makers[pool.input[0]].input[1]], constants[reader.input[1]])
        self.assertLess(self.output.stat().st_size, MODEL.stat().st_size / 2)

    def test_entropy_is_that_of_numpy(self):
        self.quantize("--calibrator", "entropy")
        tensors = json.loads(self.cache.read_text())["tensors"]
        self.assertGreater(len(tensors), 4)
        groups = {}
        for name, tensor in tensors.items():
            bins, width = magnitudes(tensor)
            chosen = max(-tensor["range"]["low"], tensor["range"]["high"])
            largest = max(-tensor["min"], tensor["max"])
            groups.setdefault(chosen, []).append((name, min(entropy_range(bins, width), largest), width))
        for chosen, members in groups.items():
            # Values that are only moved share the largest of their ranges.
            expected = max(value for _, value, _ in members)
            self.assertAlmostEqual(chosen, expected, delta=1e-6 * chosen, msg=members)

    def test_cache_quantizes_again(self):
        self.quantize()
        first = self.output.read_bytes()
        kept = self.folder / "kept.json"
        shutil.copy(self.cache, kept)
        text = self.quantize("--calib", kept, data=None)
        self.assertEqual(self.output.read_bytes(), first)
        self.assertNotIn("against fp32", text)
        error = self.refused(BAD_INPUT, "mobilenet_v2", "--calib", kept)
        self.assertIn("another model", error)
        error = self.refused(USAGE, MODEL, "--calib", kept, "--samples", "3")
        self.assertIn("--samples", error)

    def test_tensorrt_cache(self):
        text = self.quantize("--calib-format", "tensorrt", "--calib-version", "100100", "--calibrator", "entropy")
        cache = self.folder / "q.calib.cache"
        lines = cache.read_text().splitlines()
        self.assertEqual(lines[0], "TRT-100100-EntropyCalibration2")
        self.assertIn(f"{len(lines) - 1} tensors", text)
        scales = {name: struct.unpack("!f", bytes.fromhex(digits))[0]
                  for name, digits in (line.rsplit(": ", 1) for line in lines[1:])}
        model = onnx.load(str(MODEL))
        constants = {t.name for t in model.graph.initializer}
        names = {n for node in model.graph.node for n in [*node.input, *node.output] if n and n not in constants}
        self.assertEqual(set(scales), names)
        inputs = np.load(DATA)["input"]
        self.assertLessEqual(scales["input"] * 127, np.abs(inputs).max() * (1 + 1e-6))
        kept = self.folder / "kept.cache"
        shutil.copy(cache, kept)
        self.quantize("--calib", kept, data=None)
        onnx.checker.check_model(onnx.load(str(self.output)))
        self.assertIn("--calibrator", self.refused(USAGE, MODEL, "--calib", kept, "--calibrator", "mse"))
        kept.write_text("TRT-8601-EntropyCalibration2\ninput: 3c010a14\n")
        self.assertIn("no scale for tensor", self.refused(BAD_INPUT, MODEL, "--calib", kept))

    @unittest.skipUnless(IMAGE_TOOLS, "libhone-image.so is not built")
    def test_images(self):
        images = self.folder / "images" / "sevens"
        images.mkdir(parents=True)
        for i in range(3):
            shutil.copy(DIGITS / "seven.png", images / f"{i}.png")
        text = self.quantize("--samples", "2", data=images.parent)
        self.assertIn("2 samples", text)
        self.assertIn("mean 0.3", json.loads(self.cache.read_text())["preprocessing"])
        # The cache says how images became the input: a model made from it wants the same ones.
        self.quantize("--mean", "0.2", data=images.parent)
        again, engine = self.folder / "again.onnx", self.folder / "again.hone"
        self.assertEqual(hone("quantize", MODEL, "--calib", self.cache, "-o", again).returncode, 0)
        build = hone("build", MODEL, "--precision", "int8", "--calib", self.cache, "-o", engine)
        self.assertEqual(build.returncode, 0, build.stderr)
        self.assertIn("0.2", [entry.value for entry in onnx.load(again).metadata_props if entry.key == "image.mean"])
        found = [hone("run", made, "--input", DIGITS / "seven.png", *how).stdout.splitlines()[-1]
                 for made, how in ((self.output, ()), (again, ()), (engine, ("--mean", "0.2")), (engine, ()))]
        self.assertEqual(found[1], found[0])
        self.assertEqual(found[3], found[2])
        (images / "3.png").write_bytes(b"no image")
        self.assertIn("3.png", self.refused(BAD_INPUT, MODEL, "--calibrate", images.parent))
        (images / "3.png").unlink()
        error = self.refused(BAD_INPUT, MODEL, "--calibrate", images.parent, "--crop", "4")
        self.assertIn("0.png", error)
        self.assertIn("does not fit input 'input'", error)

    def test_program_writes_batches(self):
        program = self.folder / "batches.py"
        program.write_text("import sys, numpy as np\n"
                           f"data = np.load('{DATA}')['input']\n"
                           "for i in range(0, 30, 10):\n"
                           "    np.save('batch.npy', data[i:i + 10])\n"
                           "    print('batch.npy', flush=True)\n"
                           "    sys.stdin.readline()\n")
        text = self.quantize(data=f"exec:{sys.executable} {program}")
        self.assertIn("calibrated with 30 samples", text)

    def test_interruption_goes_on(self):
        program = self.folder / "slow.py"
        program.write_text("import os, sys, time, numpy as np\n"
                           f"data = np.load('{DATA}')['input']\n"
                           "for i in range(40):\n"
                           "    np.save('one.npy', data[i:i + 1])\n"
                           "    print('one.npy', flush=True)\n"
                           "    sys.stdin.readline()\n"
                           "    if i >= 10 and not os.path.exists('again'):\n"
                           "        open('waiting', 'w').close()\n"
                           "        time.sleep(0.1)\n")
        command = [HONE, "quantize", MODEL, "--calibrate", f"exec:{sys.executable} {program}", "-o", self.output]
        process = subprocess.Popen([str(part) for part in command], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        deadline = time.monotonic() + 60
        while not (self.folder / "waiting").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertFalse(self.output.exists())
        half = json.loads(self.cache.read_text())
        self.assertFalse(half["finished"])
        self.assertGreaterEqual(half["samples"], 10)
        self.assertLess(half["samples"], 40)
        self.assertIn("unfinished", self.refused(BAD_INPUT, MODEL, "--calib", self.cache))
        self.assertIn("remove it", self.refused(BAD_INPUT, MODEL, "--calibrate", DATA))
        (self.folder / "again").touch()
        self.quantize(data=command[4])
        whole = json.loads(self.cache.read_text())
        self.assertEqual(whole["samples"], 40)
        resumed = self.output.read_bytes()
        self.cache.unlink()
        self.quantize(data=command[4])
        self.assertEqual(self.output.read_bytes(), resumed)

    def test_wrong_data(self):
        good = np.load(DATA)["input"][:4]
        bad = good.copy()
        bad[2, 0, 1, 1] = np.nan
        np.savez(self.folder / "nan.npz", input=bad)
        np.save(self.folder / "size.npy", np.zeros((2, 1, 9, 9), np.float32))
        np.save(self.folder / "type.npy", good.astype(np.float64))
        np.savez(self.folder / "name.npz", images=good)
        np.save(self.folder / "empty.npy", good[:0])
        (self.folder / "none").mkdir()
        (self.folder / "noise.npz").write_bytes(os.urandom(100))
        for name, expected in (("nan.npz", "input 'input' hold NaN"), ("size.npy", "does not fit input 'input'"),
                               ("type.npy", "float64"), ("name.npz", "no array for input 'input'"),
                               ("empty.npy", "no samples"), ("none", "holds no .png"), ("missing.npy", "no such file"),
                               ("noise.npz", "noise.npz")):
            error = self.refused(BAD_INPUT, MODEL, "--calibrate", name)
            self.assertIn(name, error)
            self.assertIn(expected, error)

    def test_wrong_commands(self):
        self.assertIn("--calibrate", self.refused(USAGE, MODEL))
        self.assertIn("--calib", self.refused(USAGE, MODEL, "--calibrate", DATA, "--calib", "x.json"))
        self.refused(USAGE, MODEL, "--calibrate", DATA, "--calibrator", "magic")
        self.refused(USAGE, MODEL, "--calibrate", DATA, "--target", "tpu")
        self.refused(USAGE, MODEL, "--calibrate", DATA, "--percentile", "nan")
        self.refused(USAGE, MODEL, "--calibrate", DATA, "--calib-version", "8601")
        self.assertIn("no such file", self.refused(BAD_INPUT, MODEL, "--calib", "missing.json").lower())
        (self.folder / "other.json").write_text("{}")
        self.assertIn("no calibration cache", self.refused(BAD_INPUT, MODEL, "--calib", "other.json"))

    def test_models_that_cannot_be_quantized(self):
        self.quantize()
        quantized = self.folder / "already.onnx"
        self.output.rename(quantized)
        self.assertIn("quantized already", self.refused(BAD_INPUT, quantized, "--calibrate", DATA))
        x = helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", 1, 8, 8])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 1, 8, 8])
        graph = helper.make_graph([helper.make_node("Relu", ["input"], ["y"])], "g", [x], [y])
        plain = self.folder / "plain.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(plain))
        self.assertIn("no convolution", self.refused(BAD_INPUT, plain, "--calibrate", DATA))

    def test_sizes_that_follow_from_the_batch(self):
        """Behind the first reshaping there is a size that no input has."""
        rng = np.random.default_rng(1)
        constants = {"flat": np.array([-1, 8], np.int64), "tail": np.array([4, 8], np.int64),
                     "zero": np.array([0], np.int64), "a": rng.normal(size=(8, 8)).astype(np.float32),
                     "b": rng.normal(size=(8, 3)).astype(np.float32)}
        node = helper.make_node
        nodes = [node("Exp", ["x"], ["e"]), node("Reshape", ["e", "flat"], ["rows"]),
                 node("MatMul", ["rows", "a"], ["m"]), node("Tanh", ["m"], ["t"]), node("Shape", ["x"], ["s"]),
                 node("Gather", ["s", "zero"], ["n"]), node("Concat", ["n", "tail"], ["whole"], axis=0),
                 node("Reshape", ["t", "whole"], ["back"]), node("MatMul", ["back", "b"], ["y"])]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4, 8])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4, 3])],
                                  [numpy_helper.from_array(value, name) for name, value in constants.items()])
        model = self.folder / "open.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(model))
        np.save(self.folder / "x.npy", rng.normal(size=(6, 4, 8)).astype(np.float32))
        text = self.quantize(model=model, data=self.folder / "x.npy")
        self.assertIn("2 of 2", text)
        self.assertRegex(text, r"to choose the ranges, relative error at the outputs on the first 4 samples, by calibrator; the "
                               r"first is used: (\w+ [0-9.]+ %, ){4}\w+ [0-9.]+ %\n")
        self.assertRegex(text, r"the written model against fp32 on 6 of the samples: relative error at the outputs [0-9.]+ %, worst "
                               r"cosine [0-9.]+ \(1: same direction\)")
        onnx.checker.check_model(onnx.load(str(self.output)), full_check=True)

    def test_fixed_batch_takes_a_ragged_end(self):
        model = onnx.load(str(MODEL))
        for value in [*model.graph.input, *model.graph.output]:
            value.type.tensor_type.shape.dim[0].dim_value = 5
        fixed = self.folder / "fixed.onnx"
        onnx.save(model, str(fixed))
        np.save(self.folder / "data.npy", np.load(DATA)["input"][:13])
        text = self.quantize(model=fixed, data=self.folder / "data.npy")
        self.assertIn("calibrated with 10 samples (3 more were too few for the model's batch)", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
