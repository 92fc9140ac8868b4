#!/usr/bin/python3
"""`hone bench --layers`: a layer table of models and of engines, on the terminal, as CSV and as JSON.

usage: layers_test.py HONE FAKE_NVML
"""
import csv
import io
import json
import os
import subprocess
import unittest

import onnx
from onnx import TensorProto, helper, numpy_helper
import numpy

from bench_case import BenchCase, HONE, fake


class BenchLayers(BenchCase):
    def setUp(self):
        super().setUp()
        value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        weights = numpy_helper.from_array(numpy.ones((4, 3, 3, 3), numpy.float32), "w")
        graph = helper.make_graph(
            [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
             helper.make_node("Softmax", ["c"], ["y"], name="softmax", axis=1)], "net",
            [value("x", ["batch", 3, 8, 8])], [value("y", ["batch", 4, 8, 8])], [weights])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), self.model)

    def test_a_model_has_a_table_of_shapes_types_and_times(self):
        done = self.bench("--backends", "hone", "--layers", "--batches", "2")
        self.assertIn("Layers of ", done.stdout)
        self.assertIn("float32 2x3x8x8", done.stdout)
        layers = self.result()["runs"][0]["layers"]
        convolution = next(layer for layer in layers if "conv" in layer["sources"])
        self.assertTrue(convolution["outputs"][0].startswith("float32 2x4x8x8"), convolution)
        self.assertGreaterEqual(convolution["time_ms"]["n"], 6)
        self.assertGreater(convolution["time_ms"]["p50"], 0)

    def test_an_engine_too(self):
        engine = os.path.join(self.folder, "net.hone")
        subprocess.run([HONE, "build", self.model, "-o", engine], env=self.environment, check=True,
                       capture_output=True, timeout=200)
        done = self.bench("--backends", "hone", "--layers")
        arguments = [HONE, "bench", engine, "--layers", "--duration", "0.2", "--rounds", "4", "-o", "runs"]
        done = subprocess.run(arguments, env=self.environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Layers of ", done.stdout)
        self.assertIn("softmax", done.stdout)

    def test_csv_holds_the_layers_after_the_runs(self):
        done = self.bench("--backends", "hone", "--layers", "--csv")
        runs, layers = done.stdout.split("\n\n")
        self.assertEqual(len(list(csv.DictReader(io.StringIO(runs)))), 1)
        rows = list(csv.DictReader(io.StringIO(layers)))
        self.assertIn("softmax", [row["layer"] for row in rows])
        self.assertTrue(all(float(row["p50_ms"]) > 0 for row in rows))

    def test_json_is_the_result_file(self):
        done = self.bench("--backends", "hone", "--layers", "--json")
        self.assertEqual(json.loads(done.stdout), self.result())
        self.assertIn("layers", json.loads(done.stdout)["runs"][0])

    def test_json_and_csv_exclude_each_other(self):
        self.assertIn("exclude each other", self.bench("--json", "--csv", code=2).stderr)

    def test_without_it_nothing_is_timed(self):
        self.assertNotIn("layers", self.bench("--backends", "hone") and self.result()["runs"][0])

    def test_a_backend_that_tells_no_layers_says_so(self):
        done = self.bench("--backends", "steady", fake("steady"), "--layers")
        self.assertIn("there are no layers: steady does not report them", done.stdout)

    def test_the_options_of_other_tools_are_known(self):
        self.assertIn("Layers of ", self.bench("--backends", "hone", "--dumpProfile").stdout)


if __name__ == "__main__":
    unittest.main()
