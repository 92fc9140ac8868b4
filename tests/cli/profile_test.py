"""`hone profile MODEL` on the CPU: iterations, steps and their facts arrive in the trace; misuse is one sentence.

PyTorch's operators and memory arrive where there is the torch plugin.

usage: profile_test.py HONE MODELS_DIGITS HAS_TORCH
"""
import contextlib
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper

HONE = sys.argv[1]
MODEL = str(pathlib.Path(sys.argv[2]) / "digits.onnx")
HAS_TORCH = sys.argv[3] == "1"
EMPTY = tempfile.TemporaryDirectory()


def profile(*arguments):
    return subprocess.run([HONE, "profile", *arguments], capture_output=True, text=True, timeout=300)


class Profile(unittest.TestCase):
    def test_a_model_s_iterations_hold_its_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            done = profile(MODEL, "--batch", "2", "--wait", "2", "--warmup", "1", "--active", "2", "--repeat", "2",
                           "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"digits hone fp32 batch 2: [0-9.]+ ms not recorded, [0-9.]+ ms recorded")
            database = sqlite3.connect(f"{folder}/digits-hone-fp32-b2.trace.sqlite")
            iterations = database.execute('SELECT name, start, "end" FROM host WHERE kind = 2 ORDER BY start').fetchall()
            self.assertEqual([row[0] for row in iterations],
                             ["ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#8", "ProfilerStep#9"])
            steps = database.execute("SELECT s.value, flops, bytes FROM model_steps m JOIN strings s ON s.id = m.name"
                                     ).fetchall()
            self.assertGreater(len(steps), 3)
            self.assertGreater(max(row[1] for row in steps), 0)
            for _, start, end in iterations:
                inside = database.execute('SELECT name, "end" - start FROM host WHERE kind = 3 AND start >= ? '
                                          'AND "end" <= ? ORDER BY start', (start, end)).fetchall()
                self.assertEqual([row[0] for row in inside], [row[0] for row in steps])
                self.assertLessEqual(sum(row[1] for row in inside), end - start)
            self.assertEqual(database.execute("SELECT value FROM metadata WHERE key = 'batch'").fetchone(), ("2",))
            # A second trace does not overwrite the first.
            done = profile(MODEL, "--batches", "2,3", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("b2-2", "b3"):
                self.assertTrue(pathlib.Path(folder, f"digits-hone-fp32-{name}.trace.sqlite").exists())

    def test_recordings_at_once_lose_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "digits-hone-fp32-b1.trace.sqlite.tmp").write_text("precious")
            recordings = [subprocess.Popen([HONE, "profile", MODEL, "-o", folder], stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True) for _ in range(3)]
            said = [recording.communicate(timeout=300) for recording in recordings]
            self.assertEqual([recording.returncode for recording in recordings], [0, 0, 0], said)
            named = {out.split()[-1] for out, _ in said}
            self.assertEqual(named, {f"{folder}/digits-hone-fp32-b1{n}.trace.sqlite" for n in ("", "-2", "-3")})
            for trace in named:
                with sqlite3.connect(trace) as database:
                    self.assertGreater(database.execute("SELECT count(*) FROM host").fetchone()[0], 0)
            self.assertEqual(len(list(pathlib.Path(folder).iterdir())), 4)
            self.assertEqual(pathlib.Path(folder, "digits-hone-fp32-b1.trace.sqlite.tmp").read_text(), "precious")

    def test_a_recording_that_fails_claims_no_name(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([HONE, "profile", "--", "./not-there"], cwd=folder, capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_two_recordings_are_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            done = profile(MODEL, "--precisions", "fp32,bf16", "--active", "4", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            traces = [f"{folder}/digits-hone-{precision}-b1.trace.sqlite" for precision in ("fp32", "bf16")]
            done = subprocess.run([HONE, "diff", *traces, "--json"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            diff = json.loads(done.stdout)
            self.assertAlmostEqual(sum(bar["change_ns"] for bar in diff["waterfall"]),
                                   diff["iteration_b"]["mean_ns"] - diff["iteration_a"]["mean_ns"], delta=1)
            pools = [group for group in diff["layers"] if "MaxPool" in str(group["a"] + group["b"])]
            self.assertTrue(any(group["a"] and group["b"] for group in pools), diff)
            done = subprocess.run([HONE, "diff", *traces], capture_output=True, text=True, timeout=60)
            self.assertIn("From A to B, one iteration", done.stdout)
            done = subprocess.run([HONE, "convert", traces[0], f"{folder}/log/run"], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            kineto = json.loads(pathlib.Path(done.stdout.strip()).read_text())
            self.assertEqual(sum(event["name"].startswith("ProfilerStep#") for event in kineto["traceEvents"]), 4)
            done = subprocess.run([HONE, "convert", traces[0], f"{folder}/trt", "--to", "trtexec"], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            profile_rows = json.loads(pathlib.Path(folder, "trt", "trt_layer_latency.json").read_text())
            self.assertEqual(profile_rows[0], {"count": 4})
            self.assertAlmostEqual(sum(row["percentage"] for row in profile_rows[1:]), 100, delta=0.5)
            done = subprocess.run([HONE, "diff", traces[0], MODEL], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    @unittest.skipUnless(HAS_TORCH, "built without libtorch")
    def test_operators_and_memory_of_pytorch(self):
        with tempfile.TemporaryDirectory() as folder:
            done = profile(MODEL, "--backends", "torch,torchscript", "--record-shapes", "--profile-memory",
                           "--active", "2", "--threads", "1", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            trace = f"{folder}/digits-torch-fp32-b1.trace.sqlite"
            database = sqlite3.connect(trace)
            steps = database.execute('SELECT start, "end" FROM host WHERE kind = 2').fetchall()
            self.assertEqual(len(steps), 2)
            convolutions = database.execute(
                'SELECT e.start, e."end", i.value, t.value FROM host_events e JOIN strings n ON n.id = e.name '
                'JOIN operators o ON o.rowid = e.detail + 1 JOIN strings i ON i.id = o.input_shapes '
                'JOIN strings t ON t.id = o.input_types WHERE n.value = ? ORDER BY e.start', ("aten::conv2d",)
            ).fetchall()
            self.assertEqual(len(convolutions), 2 * 3)
            for start, end, shapes, types in convolutions:
                self.assertTrue(any(first <= start and end <= last for first, last in steps))
                self.assertEqual(len(json.loads(shapes)), len(json.loads(types)))
            self.assertEqual(json.loads(convolutions[0][2])[:2], [[1, 1, 8, 8], [16, 1, 3, 3]])
            taken, device, source = database.execute(
                "SELECT sum(bytes > 0), max(device), max(value) FROM allocations JOIN strings s ON s.id = source"
            ).fetchone()
            self.assertGreaterEqual(taken, len(convolutions))
            self.assertEqual((device, source), (-1, "torch"))

            for name, call in (("torch", "aten::conv2d"), ("torchscript", "forward")):
                done = subprocess.run([HONE, "analyze", f"{folder}/digits-{name}-fp32-b1.trace.sqlite", "--only",
                                       "operators,memory", "--by-input-shapes", "--json"], capture_output=True,
                                      text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                analysis = json.loads(done.stdout)
                rows = [row for row in analysis["operators"]["operators"] if row["name"] == call]
                self.assertTrue(any("[1,1,8,8]" in row["input_shapes"] for row in rows), analysis["operators"])
                self.assertEqual(analysis["memory"]["devices"][0]["device"], -1)
                self.assertGreater(analysis["memory"]["devices"][0]["peak_bytes"], 0)

            done = subprocess.run([HONE, "convert", trace, f"{folder}/log/run"], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            events = json.loads(pathlib.Path(done.stdout.strip()).read_text())["traceEvents"]
            calls = [event for event in events if event["name"] == "aten::conv2d"]
            self.assertEqual(len(calls), 6)
            self.assertEqual({event["cat"] for event in calls}, {"cpu_op"})
            self.assertIn([[1, 1, 8, 8], [16, 1, 3, 3]], [event["args"]["Input Dims"][:2] for event in calls])
            self.assertEqual(calls[0]["args"]["Input type"][:2], ["float", "float"])
            self.assertTrue(any(event["name"] == "[memory]" for event in events))

    def test_threads_of_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            done = profile(MODEL, "--counters", "--active", "3", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            trace = f"{folder}/digits-hone-fp32-b1.trace.sqlite"
            done = subprocess.run([HONE, "analyze", trace, "--only", "layers", "--json"], capture_output=True, text=True,
                                  timeout=60)
            threads = json.loads(done.stdout)["layers"]["threads"]
            self.assertGreaterEqual(threads["threads"], 1)
            for layer in threads["layers"]:
                self.assertEqual(layer["calls"], 3, layer)
                self.assertLessEqual(layer["slowest_thread_ns"], min(layer["cpu_ns"], layer["wall_ns"]), layer)
            self.assertGreater(sum(layer["cpu_ns"] for layer in threads["layers"]), 0)
            done = subprocess.run([HONE, "analyze", trace, "--only", "layers"], capture_output=True, text=True, timeout=60)
            self.assertIn("Threads in layers", done.stdout)

    def test_on_the_cpu_an_analysis_is_of_a_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            done = profile(MODEL, "--active", "8", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            trace = f"{folder}/digits-hone-fp32-b1.trace.sqlite"
            with contextlib.closing(sqlite3.connect(trace)) as database:
                roof = json.loads(database.execute("SELECT value FROM metadata WHERE key = 'cpu_roof'").fetchone()[0])
            self.assertGreater(roof["flops_per_second"]["fp32"], 1e8)
            self.assertEqual(roof["levels"][-1]["bytes"], 0)
            done = subprocess.run([HONE, "analyze", trace, "--full"], capture_output=True, text=True, timeout=60)
            self.assertNotIn("GPU", done.stdout)
            self.assertIn("x floor: time divided by the time that the work needs at rates measured on this CPU with ", done.stdout)
            done = subprocess.run([HONE, "analyze", trace, "--json"], capture_output=True, text=True, timeout=60)
            answer = json.loads(done.stdout)
            self.assertTrue(any(layer["floor_ns"] > 0 for layer in answer["layers"]["layers"]))
            self.assertNotIn("GPU", json.dumps(answer["advice"]))

    def test_the_cost_of_recording_is_said_alike(self):
        def said(trace):
            done = subprocess.run([HONE, "analyze", trace, "--only", "steps"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = re.search(r"Cost of recording: (.*) \(medians: [0-9.]+ .s as it is, [0-9.]+ .s recorded\)", done.stdout)
            self.assertTrue(found, done.stdout)
            return found[1]

        with tempfile.TemporaryDirectory() as folder:
            done = profile(MODEL, "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            trace = f"{folder}/digits-hone-fp32-b1.trace.sqlite"
            self.assertIn(f"ms recorded ({said(trace)})  {trace}\n", done.stdout)
            for verdict, text in (("noise", "no difference beyond noise"), ("too few runs", "too few runs to tell"),
                                  ("differs", "-10.0 %"), (None, "no difference that can be told")):
                with self.subTest(verdict=verdict), sqlite3.connect(trace) as database:
                    for key, value in (("latency_plain_ms", "1.0"), ("latency_recorded_ms", "0.9"), ("recording_cost", verdict)):
                        database.execute("DELETE FROM metadata WHERE key = ?", (key,))
                        if value is not None:
                            database.execute("INSERT INTO metadata VALUES (?, ?)", (key, value))
                    database.commit()
                    self.assertEqual(said(trace), text)

    def test_what_a_backend_does_not_tell_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            done = profile(MODEL, "--record-shapes", "--profile-memory", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("memory: the backend hone does not report its allocations", done.stderr)

    def test_a_program_that_cannot_be_started(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "text")
            text.touch()
            for program, reason in ((text, "it is not executable"), (folder, "it is a folder"),
                                    (f"{folder}/none", "no such program"), ("no-such-program", "no such program")):
                done = profile("-o", f"{folder}/x.sqlite", "--", str(program))
                self.assertEqual((done.returncode, done.stderr), (4, f"hone: {program} cannot be started: {reason}\n"))
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [text])

    def test_misuse(self):
        for arguments, code, sentence in [
                ([], 2, "hone: nothing to profile: name a model, or a program after --\n"),
                ([MODEL, "--", "true"], 2, "hone: either a model or, after --, a program can be profiled, not both\n"),
                (["--record-shapes", "--", "true"], 2, "hone: --record-shapes and --profile-memory are for models: a "
                 "program after -- reports neither\n"),
                (["--profile-memory", "--", "true"], 2, None),
                (["--cupti", "--", "true"], 2, "hone: --cupti is for models: a program after -- is always recorded "
                 "through CUPTI\n"),
                ([MODEL, "--cupti"], 2, "hone: --cupti is of a GPU: --device cuda\n"),
                ([MODEL, "--active", "0"], 2, "hone: --active must be between 1 and 1000000\n"),
                ([f"{EMPTY.name}/missing.onnx"], 3, None),
                ([MODEL, "--cupti", "--counters"], 2, "hone: --cupti is of a GPU: --device cuda\n"),
                ([MODEL, "--metrics", "dram_read_bytes"], 2, "hone: --metrics is of kernels of a GPU: --device cuda\n"),
                ([MODEL, "--metrics", "no_such"], 2, None),
                ([MODEL, "--backends", "hone,foo"], 2, None),
                (["--shapes", "x:1x2", "--", "true"], 2, "hone: --shapes is for models: a program after -- runs as it says "
                 "itself\n"),
                *[([*more[:1], "--query-metrics", *more[1:]], 2, "hone: --query-metrics lists the metrics: it profiles "
                   "neither a model nor a program\n") for more in ([MODEL], ["--json", "--", "sleep", "1"])],
                ([MODEL, "--precisions", "fp12"], 2, None)]:
            with self.subTest(arguments=arguments), tempfile.TemporaryDirectory() as folder:
                output = pathlib.Path(folder, "traces")
                done = profile(*(["-o", output] if arguments else []), *arguments)
                self.assertFalse(output.exists(), "an empty folder stays behind")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                if sentence:
                    self.assertEqual(done.stderr, sentence)

    def test_an_unknown_backend_is_not_sent_to_an_option_of_bench(self):
        done = profile(MODEL, "--backends", "foo")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"^hone: unknown backend 'foo' \(built in: [a-z, -]+; peers: [a-z_, ]+\)\n$")
        done = profile(MODEL, "--backends", "openvin")
        self.assertIn("unknown backend 'openvin'; did you mean openvino?", done.stderr)

    def test_a_batch_that_the_model_has_not(self):
        with tempfile.TemporaryDirectory() as folder:
            model, output = pathlib.Path(folder, "fixed.onnx"), pathlib.Path(folder, "traces")
            value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 6])
            graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "fixed", [value("x")], [value("y")])
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
            done = profile(str(model), "--batches", "2", "-o", str(output))
            self.assertEqual((done.returncode, done.stderr), (2, "hone: the batch of fixed is fixed at 4: give --batch 4; "
                                 f"hone export {model} -o NEW.onnx --dynamic-batch opens it where the graph allows that\n"))
            self.assertFalse(output.exists())

    def test_dimensions_that_the_model_leaves_open(self):
        with tempfile.TemporaryDirectory() as folder:
            model, output = pathlib.Path(folder, "open.onnx"), pathlib.Path(folder, "traces")
            value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2, "h", "w"])
            graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "open", [value("x")], [value("y")])
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
            done = profile(str(model), "-o", str(output))
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, "hone: dimension 2 ('h') of input 'x' is open: give --shapes x:1x2x224x224 "
                             "or --dim h=224 w=224\n")
            done = profile(str(model), "-o", str(output), "--shapes", "y:1x2x8x8,x:1x2x8x8")
            self.assertEqual((done.returncode, done.stderr),
                             (2, "hone: --shapes names an input 'y', the first input of open is 'x'\n"))
            self.assertFalse(output.exists())
            done = profile(str(model), "--batch", "3", "-o", str(output), "--shapes", "x:1x2x224x224")
            self.assertEqual(done.returncode, 0, done.stderr)
            with sqlite3.connect(output / "open-hone-fp32-b3.trace.sqlite") as database:
                outputs = database.execute("SELECT s.value FROM model_steps m JOIN strings s ON s.id = m.outputs").fetchall()
            self.assertIn("3x2x224x224", outputs[-1][0])


unittest.main(argv=sys.argv[:1])
