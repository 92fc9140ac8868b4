"""int8 engines of hone build, and int8 rows of hone bench: where ranges come from, and what is refused.

usage: int8_build_test.py HONE DIGITS
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper

HONE = pathlib.Path(sys.argv[1]).absolute()
DIGITS = pathlib.Path(sys.argv[2]).absolute()
MODEL = DIGITS / "digits.onnx"
DATA = DIGITS / "held_out.npz"
USAGE, BAD_INPUT = 2, 3
# Elsewhere what is quantized is computed in floating point.
INTEGERS = any(flag in pathlib.Path("/proc/cpuinfo").read_text() for flag in ("avx512_vnni", "avx_vnni", "amx_int8"))


class Int8(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.engine = self.folder / "digits.hone"

    def hone(self, *arguments, code=0):
        result = subprocess.run([HONE, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                                check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout if code == 0 else result.stderr

    def build(self, *arguments, model=MODEL, code=0):
        shapes = ("--optShapes", "input:1x1x8x8", "--maxShapes", "input:364x1x8x8") if code == 0 else ()
        return self.hone("build", model, "-o", self.engine, "--noTimingCache", "--builderOptimizationLevel", "0",
                         *shapes, *arguments, code=code)

    def accuracy(self):
        self.hone("run", self.engine, "--input", DATA, "-o", "logits.npz")
        labels = np.load(DIGITS / "expected.npz")["labels"]
        return (np.load(self.folder / "logits.npz")["logits"].argmax(1) == labels).mean()

    def test_data_make_an_engine(self):
        text = self.build("--precision", "int8", "--calibrate", DATA)
        what = (r"int8 in 100\.0 % of the multiply-adds, " if INTEGERS else
                r"computed in fp32: int8 in 0\.0 % of the multiply-adds would only add conversions on cpu; its ranges are not "
                r"used \(")
        self.assertRegex(text, what + r"calibration: 364 samples, error [\d.e-]+ % against fp32 and the same top class "
                                      r"[\d.]+ % on 32 of them")
        self.build(model=MODEL)
        plain = self.accuracy()
        for precision in ("int8", "int8+bf16", "int8+fp32"):
            self.build("--precision", precision, "--calibrate", DATA)
            # Three of 364 images.
            self.assertGreaterEqual(self.accuracy(), plain - 3 / 364, precision)

    def test_a_cache_makes_the_same_engine_without_data(self):
        self.hone("quantize", MODEL, "--calibrate", DATA, "-o", "q.onnx", "--target", "cpu")
        text = self.build("--precision", "int8", "--calib", "q.calib.json")
        self.assertIn("calibration: q.calib.json", text)
        self.assertGreater(self.accuracy(), 0.9)
        self.assertIn("another model", self.build("--precision", "int8", "--calib", "q.calib.json",
                                                  model="mobilenet_v2", code=BAD_INPUT))

    def test_a_quantized_model_needs_none_and_takes_none(self):
        self.hone("quantize", MODEL, "--calibrate", DATA, "-o", "q.onnx")
        self.build("--precision", "int8", model="q.onnx")
        self.assertGreater(self.accuracy(), 0.9)
        self.engine.unlink()
        error = self.build("--precision", "int8", "--calibrate", DATA, model="q.onnx", code=USAGE)
        self.assertIn("its own quantization", error)
        # In floating point it runs, too, and says that there are integers in it.
        said = self.build(model="q.onnx")
        self.assertEqual("int8 in 100.0 % of the multiply-adds, quantized by the model" in said, INTEGERS, said)
        self.assertGreater(self.accuracy(), 0.9)

    def test_wrong_requests_write_nothing(self):
        self.assertIn("--calibrate", self.build("--precision", "int8", code=USAGE))
        self.assertIn("int8", self.build("--precision", "fp32", "--calibrate", DATA, code=USAGE))
        self.assertIn("int8", self.build("--calib", "x.json", code=USAGE))
        self.build("--precision", "int8+int8", "--calibrate", DATA, code=USAGE)
        self.assertIn("no such file", self.build("--precision", "int8", "--calibrate", "none", code=BAD_INPUT))
        self.assertFalse(self.engine.exists())

    def test_generated_indices_fit_the_smallest_table(self):
        nodes = [helper.make_node("Cast", ["types"], ["indices"], to=onnx.TensorProto.INT32),
                 helper.make_node("Gather", ["table", "indices"], ["rows"]),
                 helper.make_node("MatMul", ["rows", "weights"], ["y"])]
        constants = [numpy_helper.from_array(np.ones(shape, np.float32), name)
                     for name, shape in (("table", (2, 16)), ("weights", (16, 16)))]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("types", onnx.TensorProto.INT64, [1, 64])],
                                  [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 64, 16])], constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  str(self.folder / "types.onnx"))
        text = self.hone("bench", "types.onnx", "--backends", "hone", "--precisions", "int8", "--batches", "1",
                         "--duration", "0.05", "-o", "runs")
        # Which of both is faster is a matter of chance for so small a product.
        self.assertIn("calibration: generated", text)
        self.assertRegex(text, r"int8 in (100|0)\.0 %")

    def test_bench_generates_calibration_and_says_so(self):
        text = self.hone("bench", MODEL, "--backends", "hone", "--precisions", "fp32,int8,int8+bf16", "--batches", "1",
                         "--duration", "0.2", "-o", "runs")
        self.assertIn("calibration: generated", text)
        runs = json.loads(next((self.folder / "runs").glob("*.json")).read_text())["runs"]
        self.assertEqual([run["precision"] for run in runs], ["fp32", "int8", "int8+bf16"])
        for run in runs[1:]:
            self.assertLess(run["accuracy"]["relative_l2"], 0.2)
            # Where the model is faster in floating point, it is computed so, without int8's error; the layer of ten outputs
            # stays there where it is faster so.
            floats = any(note.startswith("computed in") for note in run["notes"])
            share = run["int8_share"]
            self.assertTrue(share == 0 if floats else 0.9 < share <= 1, (share, run["notes"]))
            if not floats:
                self.assertIn(f"int8 in {100 * share:.1f} % of the multiply-adds", text)
            if run["precision"] == "int8":
                self.assertEqual(run["accuracy"]["relative_l2"] < 1e-4, floats, run)
        self.hone("bench", MODEL, "--backends", "hone", "--precisions", "fp32+int8", code=USAGE)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
