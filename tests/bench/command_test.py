#!/usr/bin/python3
"""Runs `hone bench` as a user does: results, failed rows, exit codes, Ctrl-C, unwritable folders, the gate.

usage: command_test.py HONE FAKE_NVML
"""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import onnx
from onnx import TensorProto, helper

from bench_case import BenchCase, FAKE_NVML, HERE, HONE, PEERS, fake, rename_input


class BenchCommand(BenchCase):
    def test_sweeps_of_the_same_second_write_two_files(self):
        arguments = self.arguments("--backends", "reference", "--duration", "0.01", "--rounds", "1")
        sweeps = [subprocess.Popen(arguments, env=self.environment, cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE) for _ in range(3)]
        for sweep in sweeps:
            self.assertEqual(sweep.wait(timeout=200), 0, sweep.stderr.read())
            sweep.stderr.close()
        self.assertEqual(len(self.result_files()), 3)

    def test_measures_the_reference_beside_a_peer(self):
        done = self.bench("--backends", "reference,wrong", fake("wrong"))
        result = self.result()
        self.assertEqual((result["schema"], result["version"], result["complete"]), ("hone.bench", 1, True))
        for key in ("cpu", "cores", "kernel", "hone_commit", "command_line", "load_average", "date"):
            self.assertIn(key, result["context"])
        reference, wrong = result["runs"]
        self.assertIsNone(reference["failure"])
        self.assertEqual(reference["accuracy"]["relative_l2"], 0)
        self.assertGreater(wrong["accuracy"]["relative_l2"], 0.1)
        self.assertEqual(sum(map(len, reference["samples_ms"])), reference["latency_ms"]["n"])
        self.assertGreater(reference["peak_memory_mb"], reference["memory"]["baseline_mb"] / 2)
        self.assertEqual(wrong["speedup"]["over"], {"backend": "reference", "precision": "fp32"})
        self.assertIn("p50 ms", done.stdout)
        self.assertIn("reference", done.stdout)

    def test_outputs_that_no_run_of_the_model_has_are_wrong(self):
        self.bench("--backends", "flat,twice", fake("flat"), fake("twice"), "--batches", "2")
        flat, twice = (run["verdict"] for run in self.result()["runs"])
        self.assertIn("the outputs are wrong: output 0 has shape 12, the model's has 2x6", flat["reasons"])
        self.assertIn("the outputs are wrong: there are 2 outputs, the model has 1", twice["reasons"])

    def test_one_configuration_prints_the_summary(self):
        done = self.bench("--backends", "reference", "--save-result")
        self.assertIn("=== Performance summary ===", done.stdout)
        self.assertIn("percentile(99%)", done.stdout)
        self.assertIn("\nwritten: results/tiny/reference.json\nwritten: ", done.stdout)
        with open(os.path.join(self.folder, "results", "tiny", "reference.json")) as file:
            self.assertGreater(json.load(file)["results"][0]["throughput_per_s"], 0)

    def test_a_failed_backend_is_one_failed_row(self):
        modes = ["crash", "exit", "garbage", "timeless"]
        done = self.bench("--backends", "reference,gone," + ",".join(modes), "--peer=gone=/no/such/program",
                          *map(fake, modes), code=4)
        self.assertEqual(done.stderr, "hone: 5 of 6 configurations could not be measured\n")
        runs = {run["backend"]: run for run in self.result()["runs"]}
        self.assertIsNone(runs["reference"]["failure"])
        self.assertIn("signal 11", runs["crash"]["failure"])
        self.assertIn("code 7", runs["exit"]["failure"])
        self.assertIn("no answer", runs["garbage"]["failure"])
        self.assertIn("the field wall_ms holds 0", runs["timeless"]["failure"])
        self.assertIn("/no/such/program", runs["gone"]["failure"])
        self.assertEqual(done.stdout.count("FAILED"), 5)

    def test_a_precision_that_a_backend_lacks_is_a_failed_row(self):
        done = self.bench("--backends", "reference", "--precisions", "fp32,bf16", code=4)
        self.assertIn("1 of 2 configurations could not be measured: ", done.stderr)
        self.assertIn("fp32 only", self.result()["runs"][1]["failure"])

    def test_nothing_measured_is_exit_4(self):
        done = self.bench("--backends", "crash", fake("crash"), code=4)
        self.assertIn("no configuration could be measured: the worker crashed", done.stderr)

    def test_nothing_measured_because_of_a_bug_is_exit_1(self):
        arguments = self.arguments("--backends", "bug,reference", fake("bug"), "--duration", "60")
        process = subprocess.Popen(arguments, env=self.environment, cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        for worker in self.workers_of(process):
            os.kill(worker, signal.SIGSEGV)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, stderr)
        self.assertIn("no configuration could be measured: the worker crashed with signal 11", stderr)

    def test_runs_of_no_time_end_with_enough_samples(self):
        self.bench("--backends", "steady", fake("steady 0.0001"), "--duration", "4", "--rounds", "2")
        run, = self.result()["runs"]
        self.assertIsNone(run["failure"])
        self.assertEqual([len(samples) for samples in run["samples_ms"]], [1000000, 1000000])

    def test_bugs_of_others_are_exit_4(self):
        done = self.bench("--backends", "crash,bug", fake("crash"), fake("bug"), code=4)
        self.assertEqual(done.stderr, "hone: no configuration could be measured\n")

    def workers_of(self, process):
        """Those of built-in backends, once one of them measures."""
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            if self.result_files() and os.path.getsize(self.result_files()[-1]) > 0:
                if any(run["samples_ms"] for run in self.result()["runs"]):
                    break
            time.sleep(0.02)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            children = [int(pid) for pid in file.read().split()]
        found = []
        for pid in children:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read().split(b"\0")[1:2] == [b"worker"]:
                    found.append(pid)
        self.assertEqual(len(found), 1)
        return found

    def test_a_refusal_leaves_no_folder(self):
        shutil.copytree(os.path.join(HERE, "..", "..", "models", "digits"), os.path.join(self.folder, "kept"))
        for command, *arguments in (["bench", "no-such.onnx"], ["bench", self.model, "--shapes", "q:1x6"],
                                    ["profile", "no-such.onnx"], ["plot", "kept"]):
            with self.subTest(command):
                done = subprocess.run([HONE, command, *arguments, "-o", "some/where"], env=self.environment, cwd=self.folder,
                                      capture_output=True, text=True, timeout=200)
                self.assertIn(done.returncode, (2, 3), done.stderr)
                self.assertFalse(os.path.exists(os.path.join(self.folder, "some")), done.stderr)

    def test_wrong_arguments_are_exit_2(self):
        for more in (["--backends", "no-such"], ["--precisions", "fp99"], ["--peer", "x"], ["--shapes", "x:y"],
                     ["--batches", "0"], ["--compare-to", "hone", "--backends", "reference"]):
            self.bench(*more, code=2)

    def test_what_only_a_gpu_can_do_is_exit_2_on_the_cpu(self):
        for more, sentence in ((["--coldL2"], "--coldL2 empties the caches of a GPU: give --device cuda"),
                               (["--device", "cuda", "--coldL2", "--infStreams", "2"], "exclude each other")):
            done = self.bench("--backends", "reference", *more, code=2)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(sentence, done.stderr)

    def test_a_gpu_gives_three_figures_and_its_conditions(self):
        self.environment.update(HONE_NVML=FAKE_NVML, FAKE_NVML="sm=1755 reasons=0x4")
        done = self.bench("--device", "cuda", "--backends", "gpu", fake("gpu"), "--infStreams", "2")
        run, = self.result()["runs"]
        self.assertIsNone(run["failure"])
        self.assertEqual(run["device_ms"]["p50"], 1)
        self.assertEqual(run["pipelined"]["streams"], 2)
        self.assertEqual(run["machine"]["gpu"]["sm_mhz"]["max"], 1755)
        self.assertEqual(run["machine"]["gpu"]["clock_reasons"], ["SW power cap"])
        self.assertEqual(run["device_memory"]["planned_mb"], 10)
        self.assertFalse([reason for reason in run["verdict"]["reasons"] if "GPU" in reason])
        self.assertEqual(self.result()["context"]["gpu"]["name"], "Fake GPU")
        for line in ("device ms", "pipelined", "GPU MB", "Enqueue Time: min", "GPU Compute Time: min",
                     "Pipelined throughput: 2000 qps on 2 streams (without data transfers)"):
            self.assertIn(line, done.stdout)
        self.assertIsNone(run["d2h_ms"])
        self.assertNotIn("D2H Latency", done.stdout, "what was not measured is no line of zeros")

    def test_parts_of_long_rounds_are_timed_for_ten_seconds(self):
        self.environment.update(HONE_NVML=FAKE_NVML, FAKE_NVML="sm=1755")
        self.bench("--device", "cuda", "--backends", "swift", fake("swift 1"), "--duration", "100", "--rounds", "2")
        run, = self.result()["runs"]
        self.assertEqual([len(samples) for samples in run["samples_ms"]], [50000, 50000])
        self.assertEqual(run["device_ms"]["n"], 3 * 10000)

    def test_a_cold_run_is_no_baseline_of_a_warm_one(self):
        common = ["--device", "cuda", "--backends", "gpu", fake("gpu")]
        self.bench(*common, "--coldL2")
        done = self.bench(*common, "--baseline", self.result_files()[-1], code=4)
        self.assertIn("with a cold L2, this sweep on cuda; such times cannot be compared", done.stderr)

    def test_busy_threads_are_part_of_the_setup(self):
        done = self.bench("--backends", "good", fake("good 1"), "--busy", "2", "--duration", "1")
        result = self.result()
        run, = result["runs"]
        self.assertEqual((run["busy_threads"], result["options"]["busy_threads"]), (2, 2))
        self.assertIn("p50 ms, 2 busy", done.stdout)
        self.bench("--backends", "good", fake("good 1"), "--baseline", self.result_files()[-1], "--busy", "1", code=4)
        for wrong in ("-1", "1.5", "many", "5000"):
            self.bench("--backends", "reference", "--busy", wrong, code=2)

    def test_a_bad_model_is_exit_3(self):
        with open(self.model, "wb") as file:
            file.write(b"nonsense")
        done = self.bench("--backends", "reference", code=3)
        self.assertIn("tiny.onnx", done.stderr)

    def test_a_path_that_no_worker_can_be_told_is_exit_3_before_anything_is_measured(self):
        folder = os.fsencode(self.folder) + b"/b\xff"
        os.mkdir(folder)
        model = shutil.copy(os.fsencode(self.model), folder)
        for command in ("bench", "profile"):
            done = subprocess.run([HONE, command, model, "--backends", "hone", "-o", "runs"], env=self.environment,
                                  cwd=self.folder, capture_output=True, timeout=200)
            self.assertEqual(done.returncode, 3, done)
            self.assertEqual(done.stderr, b"hone: " + model + b": a name or path that is not UTF-8 cannot be told to a "
                             b"worker\n")
        self.assertEqual(self.result_files(), [])

    def test_a_folder_that_cannot_be_written_is_exit_4(self):
        for folder in ("/proc/hone", "/dev/null/runs", "/sys/kernel"):
            done = self.bench("--backends", "reference", "-o", folder, code=4)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(folder, done.stderr)

    def test_require_valid_is_exit_5(self):
        cores = len(os.sched_getaffinity(0))
        self.bench("--backends", "reference", "--threads", str(cores + 1))
        self.assertIn(f"{cores + 1} threads share {cores} cores", self.result()["runs"][0]["verdict"]["reasons"])
        self.bench("--backends", "reference", "--threads", str(cores + 1), "--require-valid", code=5)

    def start_sweep(self, *more):
        arguments = self.arguments(*more, "--backends", "good", fake("good 20"), "--batches", "1,2,3", "--duration", "1",
                                   "--rounds", "20")
        # nohup lets commands ignore that their terminal was closed; here it counts.
        return subprocess.Popen(arguments, env=self.environment, cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True,
                                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))

    def interrupt(self, process, number, times=1):
        """Sends the signal once the first group is done and the second has begun."""
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            # An empty file only keeps the name until the first round is done.
            if self.result_files() and os.path.getsize(self.result_files()[-1]) > 0:
                runs = self.result()["runs"]
                if len(runs) > 1 and runs[1]["samples_ms"]:
                    break
            time.sleep(0.02)
        for _ in range(times):
            process.send_signal(number)
            # A signal that comes while one of its kind waits is none.
            time.sleep(0.0005)
        return process.communicate(timeout=60)

    def test_control_c_leaves_a_complete_file(self):
        self.check_interrupted(signal.SIGINT)

    def busy_threads_of(self, process):
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            return [pid for pid in file.read().split() if self.name_of(pid) == "hone busy"]

    def name_of(self, pid):
        """Empty for a process that is gone, or waits to be asked how it ended."""
        try:
            with open(f"/proc/{pid}/stat") as file:
                name, state = file.read().split("(", 1)[1].rsplit(") ", 1)
        except (FileNotFoundError, ProcessLookupError):
            return ""
        return "" if state[0] in "ZX" else name

    def test_busy_threads_end_with_the_sweep(self):
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(number.name):
                process = self.start_sweep("--busy", "2")
                deadline = time.monotonic() + 100
                while len(busy := self.busy_threads_of(process)) < 2 and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertEqual(len(busy), 2)
                process.send_signal(number)
                process.communicate(timeout=60)
                deadline = time.monotonic() + 20
                while any(map(self.name_of, busy)) and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertEqual([self.name_of(pid) for pid in busy], ["", ""])

    def test_an_interrupted_sweep_leaves_small_results_as_they_were(self):
        process = self.start_sweep("--save-result")
        stdout, _ = self.interrupt(process, signal.SIGINT)
        self.assertNotIn("written: ", stdout)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "results")))

    def test_a_closed_pipe_ends_it_in_order(self):
        sweep = subprocess.Popen(self.arguments("--backends", "reference"), env=self.environment, cwd=self.folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(sweep.stdout.readline().startswith("measuring 1 configuration at batch 1: about "))
        sweep.stdout.close()
        with sweep.stderr:
            self.assertEqual((sweep.wait(timeout=200), sweep.stderr.read()), (-signal.SIGPIPE, ""))
        self.assertIsNone(self.result()["runs"][0]["failure"])
        self.assert_no_scratch_left()

    def test_a_model_without_inputs(self):
        model = os.path.join(self.folder, "without.onnx")
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
        weight = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
        graph = helper.make_graph([helper.make_node("Relu", ["w"], ["y"])], "without", [], [output], [weight])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
        for command in ("bench", "profile"):
            with self.subTest(command):
                done = subprocess.run([HONE, command, model, "--shapes", "x:1"], env=self.environment, cwd=self.folder,
                                      capture_output=True, text=True, timeout=200)
                self.assertEqual((done.returncode, done.stderr),
                                 (2, "hone: --shapes names an input 'x', without has no inputs\n"))

    def test_a_model_named_twice_is_measured_once(self):
        self.bench("./tiny.onnx", "--backends", "reference")
        self.assertEqual(len(self.result()["runs"]), 1)

    def test_a_closed_terminal_and_kill_leave_one_too(self):
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
            with self.subTest(number.name):
                self.check_interrupted(number)
                shutil.rmtree(os.path.join(self.folder, "runs"))

    def check_interrupted(self, number, times=1):
        process = self.start_sweep()
        stdout, _ = self.interrupt(process, number, times)
        self.assertEqual(process.returncode, -number)
        self.assertIn("interrupted", stdout)
        result = self.result()
        self.assertFalse(result["complete"])
        self.assertEqual(len(result["runs"]), 2)
        self.assertGreater(result["runs"][0]["latency_ms"]["n"], 10)
        self.assertGreater(result["runs"][1]["latency_ms"]["n"], 0)
        self.assertIn("the sweep was interrupted", result["runs"][1]["verdict"]["reasons"])
        self.assert_no_scratch_left()

    def test_two_signals_of_one_wish_end_it_in_order(self):
        """GNU timeout signals the program and then its whole group."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                self.check_interrupted(number, 2)
                shutil.rmtree(os.path.join(self.folder, "runs"))

    def test_a_file_of_a_sweep_that_was_killed_says_what_was_not_finished(self):
        process = self.start_sweep()
        self.interrupt(process, signal.SIGKILL)
        result = self.result()
        self.assertFalse(result["complete"])
        self.assertNotIn("not finished", str(result["runs"][0]["verdict"]))
        self.assertEqual(result["runs"][1]["verdict"], {"valid": False, "reasons": [
            "not finished: the sweep was still running when this file was written"]})

    def scaled_baseline(self, factor):
        result = self.result()
        for run in result["runs"]:
            run["samples_ms"] = [[factor * sample for sample in block] for block in run["samples_ms"]]
        path = os.path.join(self.folder, "baseline.json")
        with open(path, "w") as file:
            json.dump(result, file)
        return path

    def test_the_gate_fails_on_a_regression_alone(self):
        common = ["--backends", "steady", fake("steady 5")]
        self.bench(*common)
        done = self.bench(*common, "--baseline", self.scaled_baseline(0.2), "--max-regression", "50%", code=5)
        self.assertIn("REGRESSED", done.stdout)
        self.assertEqual(done.stderr, "hone: 1 of 1 configuration did not pass the comparison with the baseline: "
                                      "1 is slower by more than 50%\n")
        self.assertEqual(done.stdout.count("measuring again"), 2)
        done = self.bench(*common, "--rounds", "1", "--baseline", self.scaled_baseline(1), code=5)
        self.assertIn("UNKNOWN", done.stdout)
        self.assertIn(": 1 has too few rounds to decide (give more --rounds)\n", done.stderr)
        self.bench(*common)
        done = self.bench(*common, "--baseline", self.scaled_baseline(5))
        self.assertIn("ok ", done.stdout)
        with open(os.path.join(self.folder, "baseline.json"), "w") as file:
            file.write("{}")
        self.bench(*common, "--baseline", os.path.join(self.folder, "baseline.json"), code=3)

    def test_a_regression_of_one_of_several_models_is_measured_again_with_its_shapes(self):
        other = os.path.join(self.folder, "other.onnx")
        onnx.save(rename_input(onnx.load(self.model), "x", "z"), other)
        common = [other, "--backends", "steady", fake("steady 5"), "--shapes", "x:1x6", "--shapes", "z:1x6"]
        self.bench(*common)
        done = self.bench(*common, "--baseline", self.scaled_baseline(0.2), "--max-regression", "50%", code=5)
        self.assertEqual(done.stdout.count("measuring again"), 4)

    def test_control_c_while_a_regression_is_measured_again_is_no_regression(self):
        common = ["--backends", "good", fake("good 5"), "--duration", "1"]
        self.bench(*common)
        arguments = self.arguments(*common, "--baseline", self.scaled_baseline(0.2), "--max-regression", "50%")
        process = subprocess.Popen(arguments, env=self.environment, cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            if "measuring again" in line:
                break
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual((process.returncode, stderr), (-signal.SIGTERM, ""))

    def baseline_of(self, *more):
        self.bench(*more)
        path = os.path.join(self.folder, "baseline.json")
        shutil.move(self.result_files()[-1], path)
        return path

    def refuses(self, sentence, code, *more):
        """One sentence before anything is measured: no file."""
        done = self.bench(*more, code=code)
        self.assertEqual(done.stderr, f"hone: {sentence}\n")
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.result_files(), [])

    def test_a_baseline_that_cannot_be_compared_is_refused_before_measuring(self):
        self.environment.update(HONE_NVML=FAKE_NVML, FAKE_NVML="sm=1755")
        here = f"{self.model} gpu fp32 batch 1"
        alike = ["--backends", "gpu", fake("gpu")]
        one = ["--threads", "1"]
        baseline = self.baseline_of(*alike, *one)
        compare = [*alike, "--baseline", baseline]
        never = "; such times cannot be compared"
        self.refuses(f"{here}: the baseline used 1 threads, this sweep 2{never}", 4, *compare, "--threads", "2")
        self.refuses(f"{here}: the baseline was measured on cpu, this sweep on cuda with data transfers{never}", 4,
                     *compare, *one, "--device", "cuda", "--includeDataTransfers")
        self.refuses("the baseline and this sweep have no configuration in common: it has "
                     f"{here}, this sweep {self.model} gpu fp32 batch 2 and 1 more", 2, *compare, *one, "--batches", "2,3")
        with open(baseline) as file:
            result = json.load(file)
        cpu, result["context"]["cpu"] = result["context"]["cpu"], "another"
        with open(baseline, "w") as file:
            json.dump(result, file)
        self.refuses(f"the baseline was measured on 'another', this is '{cpu}'{never}", 4, *compare, *one)

    def test_transfers_change_nothing_on_the_cpu(self):
        common = ["--backends", "steady", fake("steady 5")]
        baseline = self.baseline_of(*common)
        self.assertIn("ok ", self.bench(*common, "--includeDataTransfers", "--baseline", baseline).stdout)
        baseline = self.baseline_of(*common, "--includeDataTransfers")
        self.assertIn("ok ", self.bench(*common, "--baseline", baseline).stdout)

    def test_the_onnxruntime_peer_runs_or_says_how_to_get_it(self):
        without = os.path.join(self.folder, "onnxruntime")
        shutil.copytree(os.path.join(PEERS, "onnxruntime"), without, ignore=shutil.ignore_patterns("node_modules"))
        self.bench("--backends", "reference,ort", f"--peer=ort={without}/worker", code=4)
        self.assertIn("npm ci", self.result()["runs"][1]["failure"])
        if os.path.isdir(os.path.join(PEERS, "onnxruntime", "node_modules", "onnxruntime-node")):
            self.bench("--backends", "reference,onnxruntime")
            run = self.result()["runs"][1]
            self.assertIsNone(run["failure"])
            self.assertEqual(run["accuracy"]["relative_l2"], 0)

    def test_the_worker_is_hidden_and_survives_nonsense(self):
        help_text = subprocess.run([HONE, "--help"], capture_output=True, text=True).stdout
        self.assertIn("bench", help_text)
        self.assertNotIn("worker", help_text)
        done = subprocess.run([HONE, "worker"], input='nonsense\n{"id":1,"type":"memory"}\n', capture_output=True,
                              text=True, timeout=20)
        self.assertEqual(done.returncode, 0)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["type"] for answer in answers], ["error", "error"])


if __name__ == "__main__":
    unittest.main()
