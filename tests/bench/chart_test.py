"""The README's chart is what bench/cpu/chart.py draws of the published runs, and shows only VALID ones.

usage: chart_test.py
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUMMARY = ROOT / "bench/results/epyc-avx512-2-cores/summary.json"


def chart(summary):
    return subprocess.run([sys.executable, ROOT / "bench/cpu/chart.py", summary, "fp32"], capture_output=True, text=True, check=True).stdout


class Chart(unittest.TestCase):
    def test_the_committed_chart_is_of_the_published_runs(self):
        self.assertEqual((ROOT / "docs/images/cpu-fp32.svg").read_text(), chart(SUMMARY),
                         "write it anew: bench/cpu/chart.py SUMMARY fp32 >docs/images/cpu-fp32.svg")

    def test_runs_that_were_not_valid_are_not_drawn(self):
        summary = json.loads(SUMMARY.read_text())
        valid, backend = (summary["columns"].index(name) for name in ("verdict.valid", "backend"))
        for file in summary["files"]:
            for row in file["runs"]:
                row[valid] = row[valid] and row[backend] != "openvino"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "summary.json"
            path.write_text(json.dumps(summary))
            drawn = chart(path)
        self.assertIn("ONNX Runtime", drawn)
        self.assertNotIn("(39.7 ms)", drawn)  # of OpenVINO's ResNet-50
        self.assertIn("(39.7 ms)", chart(SUMMARY))


if __name__ == "__main__":
    unittest.main()
