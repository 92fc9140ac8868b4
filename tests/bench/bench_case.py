"""What tests of `hone bench` share: a tiny model, a folder, and the command run in it. Takes HONE FAKE_NVML from the command line.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper

HONE, FAKE_NVML = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "..", "..", "bench", "peers")
QUICK = {"--precisions": "fp32", "--batches": "1", "--duration": "0.2", "--rounds": "4", "--warmup": "10",
         "--timeout": "60", "-o": "runs"}


def rename_input(model, old, new):
    model.graph.input[0].name = new
    for node in model.graph.node:
        node.input[:] = [new if name == old else name for name in node.input]
    return model


def fake(mode):
    return f"--peer={mode.split()[0]}=python3 {HERE}/fake_worker.py {mode}"


class BenchCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.scratch = os.path.join(self.folder, "tmp")
        os.mkdir(self.scratch)
        self.environment = dict(os.environ, HONE_CACHE_DIR=os.path.join(self.folder, "cache"), TMPDIR=self.scratch)
        self.model = os.path.join(self.folder, "tiny.onnx")
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 6])
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="relu")], "tiny", [value("x")],
                                  [value("y")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), self.model)

    def arguments(self, *more):
        defaults = [part for item in QUICK.items() if item[0] not in more for part in item]
        return [HONE, "bench", self.model, *defaults, *more]

    def bench(self, *more, code=0):
        done = subprocess.run(self.arguments(*more), env=self.environment, cwd=self.folder, capture_output=True,
                              text=True, timeout=200)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assert_no_scratch_left()
        return done

    def assert_no_scratch_left(self):
        self.assertEqual(glob.glob(os.path.join(self.scratch, "hone-*")), [])

    def result_files(self):
        return sorted(glob.glob(os.path.join(self.folder, "runs", "*.json")), key=os.path.getmtime)

    def result(self):
        with open(self.result_files()[-1]) as file:
            return json.load(file)
