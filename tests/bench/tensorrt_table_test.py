#!/usr/bin/python3
"""The table of bench/gpu/tensorrt.sh: ratios, the mean without peers that compute something else, cells that failed.

usage: tensorrt_table_test.py
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TABLE = pathlib.Path(__file__).resolve().parent.parent.parent / "bench" / "gpu" / "tensorrt_table.py"


def run(backend, host, error=1e-3, model="net", precision="fp16", batch=1, **more):
    return {"model": model, "backend": backend, "precision": precision, "batch": batch, "latency_ms": {"p50": host},
            "device_ms": {"p50": host / 2}, "accuracy": {"relative_l2": error}, "verdict": {"valid": True},
            "notes": [f"notes of {backend}"], "failure": None, **more}


class Table(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "runs").mkdir()

    def write(self, name, *runs):
        file = self.folder / "runs" / name
        file.write_text(json.dumps({"runs": runs}))
        return file

    def call(self, *arguments):
        return subprocess.run([sys.executable, str(TABLE), *map(str, arguments)], capture_output=True, text=True, check=False)

    def test_counts_what_computes_the_same(self):
        self.write("a.json", run("tensorrt", 0.4), run("hone", 0.1), run("tensorrt", 0.9, batch=8), run("hone", 1.0, batch=8))
        self.write("b.json", run("tensorrt", 9, error=0.48, model="bert"), run("hone", 1, model="bert"))
        (self.folder / "missing.txt").write_text("vit:fp16:1 FAILED: no\n")
        text = self.call(self.folder).stdout
        self.assertIn("| net | fp16 | 1 | 0.4000 | 0.2000 | 1.0e-03 | 0.1000 | 0.0500 | 1.0e-03 | 4.00 | 4.00 |", text)
        # √(4 · 0.9)
        self.assertIn("fp16: geometric mean 1.90 over 2 cells, 1 of them behind", text)
        self.assertIn("bert fp16 batch 1: outside the mean, TensorRT's error is 4.8e-01", text)
        self.assertIn("not measured: vit:fp16:1 FAILED: no", text)
        self.assertIn("notes of tensorrt", text)

    def test_a_row_that_failed_makes_no_cell(self):
        failed = run("tensorrt", 1, failure="out of memory", latency_ms=None)
        file = self.write("a.json", failed, run("hone", 1))
        self.assertNotIn("| net |", self.call(self.folder).stdout)
        self.assertEqual(self.call("--complete", file).returncode, 1)
        self.assertEqual(self.call("--complete", self.write("b.json", run("tensorrt", 1), run("hone", 1))).returncode, 0)
        self.assertEqual(self.call("--complete", self.write("c.json")).returncode, 1)

    def test_a_run_that_is_not_valid_says_so(self):
        self.write("a.json", run("tensorrt", 2), run("hone", 1, verdict={"valid": False}))
        self.assertIn("| 2.00 INVALID |", self.call(self.folder).stdout)

    def test_without_runs_it_is_empty(self):
        done = self.call(self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
