"""bench/summarize.py keeps the figures of real result files, leaves their samples out, and adds to a summary file by file."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parent.parent / "bench" / "summarize.py"
DATA = HERE / "data"
sys.path.insert(0, str(SCRIPT.parent))
import summarize  # noqa: E402

ALL = sorted(DATA.glob("*/*.json"))
GPU = DATA / "h200" / "resnet50-2026-11-21T233159Z.json"
PARTS = DATA / "h200" / "resnet50-2026-11-27T090541Z.json"
FAILED = DATA / "xeon-torch-2-cores" / "resnet50-2026-11-21T181428Z.json"
PEER = DATA / "xeon-2-cores" / "alexnet-2026-11-21T033226Z.json"


def run(*arguments):
    return subprocess.run(["/usr/bin/python3", SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False)


class Summarize(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.summary = self.folder / "machine" / "summary.json"

    def summarize(self, *files):
        done = run(*files, "-o", self.summary)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return summarize.read(self.summary)

    def expect_rounded(self, value, expected, error=5e-5):
        self.assertEqual(value is None, expected is None)
        if expected is not None:
            self.assertLessEqual(abs(value - expected), error * expected)

    def refuse(self, part, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 1)
        self.assertIn(part, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_figures_are_those_of_the_files(self):
        for path in ALL:
            self.summary = self.folder / path.parent.name / path.stem / "summary.json"
            [file] = self.summarize(path)
            document = json.loads(path.read_text())
            self.assertEqual((file["file"], file["date"], file["complete"]),
                             (path.name, document["context"]["date"], document["complete"]))
            self.assertEqual(len(file["runs"]), len(document["runs"]))
            for row, original in zip(file["runs"], document["runs"]):
                short = summarize.as_in_result(row)
                for name in ("backend", "backend_version", "precision", "batch", "threads", "verdict", "failure", "notes"):
                    self.assertEqual(short[name], original[name])
                self.expect_rounded(short["latency_ms"]["p50"], original["latency_ms"]["p50"], 5e-9)
                self.assertEqual(short["latency_ms"]["n"], original["latency_ms"]["n"])
                for group, name in (("accuracy", "relative_l2"), ("speedup", "ratio"), ("device_ms", "p50"),
                                    ("device_memory", "process_mb")):
                    self.expect_rounded(short[group][name], (original.get(group) or {}).get(name))

    def test_samples_and_series_stay_out(self):
        self.summarize(*ALL)
        text = self.summary.read_text()
        for name in ("samples_ms", "block_wall_ms", "series"):
            self.assertNotIn(name, text)
        runs = sum(len(json.loads(path.read_text())["runs"]) for path in ALL)
        self.assertLess(len(text), 2000 + 500 * runs)

    def test_a_run_is_a_line(self):
        self.summarize(PEER)
        lines = self.summary.read_text().splitlines()
        self.assertEqual(sum(line.startswith('["alexnet.onnx",') for line in lines), 4)

    def test_the_machine_and_the_command(self):
        [peer] = self.summarize(PEER)
        self.assertEqual(peer["machine"]["cpu"], "Intel(R) Xeon(R) Processor")
        self.assertIsNone(peer["machine"]["gpu.name"])
        self.assertEqual(peer["commit"], "4822438-dirty")
        self.assertEqual(peer["command"], "install/bin/hone bench alexnet.onnx --backends hone onnxruntime_python --peer "
                                          "onnxruntime_python=bench/peers/onnxruntime_python/worker --precisions fp32 "
                                          "--batches 1 8 --threads 2 --duration 3 --compare-to onnxruntime_python -o o")

    def test_notes_lose_their_folders(self):
        document = json.loads(PEER.read_text())
        document["runs"][0]["notes"] = ["the batch is fixed; hone export /models/new/a.onnx -o NEW.onnx opens it, 1/2 as fast"]
        path = self.folder / PEER.name
        path.write_text(json.dumps(document))
        [file] = self.summarize(path)
        self.assertEqual(file["runs"][0]["notes"], ["the batch is fixed; hone export a.onnx -o NEW.onnx opens it, 1/2 as fast"])

    def test_what_older_files_lack(self):
        for path, expected in ((PEER, ("cpu", False, False)), (PARTS, ("cuda", True, False))):
            self.summary.unlink(missing_ok=True)
            [file] = self.summarize(path)
            for short in file["runs"]:
                self.assertEqual((short["device"], short["includes_transfers"], short["cold_l2"]), expected)
                self.assertEqual(short["busy_threads"], 0)

    def test_percentiles_that_the_samples_do_not_support_stay_out(self):
        for file in self.summarize(GPU, PARTS):
            for short in file["runs"]:
                supported = [short["latency_ms.n"] >= n for n in (29, 59, 299)]
                self.assertEqual([short[f"latency_ms.{name}"] is not None for name in ("p90", "p95", "p99")], supported)

    def test_a_failed_run_keeps_its_reason(self):
        [file] = self.summarize(FAILED)
        [failed] = [short for short in file["runs"] if short["failure"]]
        self.assertIn("within 120 s", failed["failure"])
        self.assertEqual((failed["latency_ms.p50"], failed["verdict.valid"]), (None, False))

    def test_files_are_added_and_replaced(self):
        self.summarize(PARTS)
        self.summarize(GPU)
        document = json.loads(PARTS.read_text())
        document["runs"][0]["latency_ms"]["p50"] = 7.5
        again = self.folder / PARTS.name
        again.write_text(json.dumps(document))
        files = self.summarize(again)
        self.assertEqual([file["file"] for file in files], [GPU.name, PARTS.name])
        self.assertEqual(files[1]["runs"][0]["latency_ms.p50"], 7.5)

    def test_the_order_of_adding_does_not_show(self):
        self.summarize(*ALL)
        at_once = self.summary.read_text()
        self.summary.unlink()
        for path in reversed(ALL):
            self.summarize(path)
        self.assertEqual(self.summary.read_text(), at_once)

    def test_what_is_no_result_is_refused_in_a_sentence(self):
        self.summarize(GPU)
        before = self.summary.read_text()
        self.refuse("usage: summarize.py", GPU)
        for name, text in (("half.json", GPU.read_text()[:3000]), ("other.json", '{"schema": "other"}'), ("list.json", "[]")):
            bad = self.folder / name
            bad.write_text(text)
            self.refuse(f"{name}: ", bad, "-o", self.summary)
            self.refuse(f"{name}: ", GPU, "-o", bad)
        self.refuse("missing.json: ", self.folder / "missing.json", "-o", self.summary)
        self.assertEqual(self.summary.read_text(), before)


if __name__ == "__main__":
    unittest.main()
