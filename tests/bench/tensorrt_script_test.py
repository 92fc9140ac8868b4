#!/usr/bin/python3
"""bench/gpu/tensorrt.sh with a program in the place of hone: what it is asked, one cell at a time on each GPU, cells that are
done, that failed, and that were ended.

usage: tensorrt_script_test.py
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "bench" / "gpu" / "tensorrt.sh"

#: Writes its arguments and its GPU to a log; its first argument after `bench` is the model, whose name says how it ends.
HONE = """#!/usr/bin/python3
import json, os, pathlib, sys, time
arguments = sys.argv[1:]
if arguments[0] == "backends":
    print("tensorrt     8.6.1 (a GPU; builds and runs)")
    sys.exit(0)
with open(os.environ["ASKED"], "a") as log:
    log.write(json.dumps({"arguments": arguments, "gpu": os.environ["CUDA_VISIBLE_DEVICES"],
                          "cores": len(os.sched_getaffinity(0)), "cache": os.environ["HONE_CACHE_DIR"]}) + "\\n")
model, precision = arguments[1], arguments[arguments.index("--precisions") + 1]
folder = pathlib.Path(arguments[arguments.index("-o") + 1])
folder.mkdir(exist_ok=True)

def run(backend, p50, failure=None):
    return {"model": model, "backend": backend, "precision": precision, "batch": 1, "latency_ms": p50 and {"p50": p50},
            "verdict": {"valid": True}, "failure": failure}

file = folder / f"{model}-{precision}.json"
runs = [run("tensorrt", 0.4), run("hone", 0.2)]
if model == "refused":
    runs[0] = run("tensorrt", None, "no")
    print("FAILED: the parser says no")
file.write_text(json.dumps({"runs": runs}))
if model == "endless":
    time.sleep(60)
print(f"written: {file}")
"""


class Script(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.output = self.folder / "out"
        self.asked = self.folder / "asked"
        for path, text in (("install/bin/hone", HONE), ("tools/nvidia-smi", "#!/bin/sh\necho 'GPU 0: it'\n")):
            file = self.folder / path
            file.parent.mkdir(parents=True)
            file.write_text(text)
            file.chmod(0o755)
        (self.folder / "library").mkdir()

    def call(self, *cells, **variables):
        environment = {**os.environ, "PATH": f"{self.folder / 'tools'}:{os.environ['PATH']}", "ASKED": str(self.asked),
                       "TENSORRT": str(self.folder / "library"), **variables}
        environment.pop("HONE_CACHE_DIR", None)
        ending = subprocess.run(["bash", str(SCRIPT), str(self.folder / "install"), str(self.output), *cells],
                                capture_output=True, text=True, check=False, env=environment)
        self.assertEqual(ending.returncode, 0, ending.stderr)
        return ending.stdout

    def asked_for(self):
        return [json.loads(line) for line in self.asked.read_text().splitlines()] if self.asked.exists() else []

    def missing(self):
        return (self.output / "missing.txt").read_text().split("\n")[:-1]

    def test_asks_for_each_cell_and_never_again(self):
        text = self.call("net:fp16:1,8", "net:int8+fp16", DURATION="2", THREADS="3")
        self.assertIn("| net | fp16 | 1 | 0.4000 |", text)
        first, second = self.asked_for()
        words = " ".join(first["arguments"])
        self.assertIn("bench net --device cuda --precisions fp16 --batches 1 8 --backends tensorrt,hone", words)
        self.assertIn("--tensorrt-level 3", words)
        self.assertIn("--duration 2", words)
        self.assertIn("--tensorrt-threads 3", words)
        self.assertIn("--batches 1 8 16 32", " ".join(second["arguments"]))
        self.assertEqual((first["gpu"], first["cache"]), ("0", str(self.output / "cache")))
        self.assertEqual(self.missing(), [])
        self.call("net:fp16:1,8", "net:int8+fp16")
        self.assertEqual(len(self.asked_for()), 2)

    def test_builds_with_the_cores_of_a_gpu(self):
        self.call("net:fp16:1")
        words = self.asked_for()[0]["arguments"]
        self.assertEqual(int(words[words.index("--tensorrt-threads") + 1]), os.cpu_count())

    def test_empty_libraries_stand_in_only_for_those_that_are_missing(self):
        library = self.folder / "library"
        (library / "libnvinfer.so.8").touch()
        name = "libcublas.so.12"
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", library / name], input=b"\n", check=True)
        self.call("net:fp16:1")
        made = {file.name for file in (self.output / "empty").iterdir()}
        self.assertNotIn(name, made)
        self.assertIn("libcudnn.so.8", made)
        self.assertIn("--tensorrt-tactics edge,jit", " ".join(self.asked_for()[0]["arguments"]))

    def test_cells_that_failed_are_listed_with_the_reason(self):
        self.call("refused:fp16:1", "net:fp16:1")
        self.assertEqual(self.missing(), ["refused:fp16:1 FAILED: the parser says no"])
        self.call("refused:fp16:1", "net:fp16:1")
        self.assertEqual([asked["arguments"][1] for asked in self.asked_for()], ["refused", "net", "refused"])

    def test_what_is_under_way_is_ended_and_counts(self):
        text = self.call("endless:fp16:1", "net:fp16:1", STOP="2")
        self.assertIn("| endless | fp16 | 1 | 0.4000 |", text)
        self.assertEqual([line.split()[0] for line in self.missing()], ["endless:fp16:1", "net:fp16:1"])
        self.assertEqual(len(self.asked_for()), 1)

    def test_no_cell_begins_after_the_limit(self):
        self.call("net:fp16:1", LIMIT="0")
        self.assertEqual((self.asked_for(), self.missing()), ([], ["net:fp16:1 "]))


if __name__ == "__main__":
    unittest.main()
