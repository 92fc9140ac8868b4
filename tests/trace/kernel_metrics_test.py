"""`hone profile --metrics` and `--query-metrics`: names of nvprof, measured by CUPTI's range profiler.

usage: kernel_metrics_test.py HONE RECORDED_PROGRAM FAKE_CUPTI FAKE_LIBCUDA SANITIZERS
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HONE, PROGRAM, CUPTI, DRIVER, SANITIZERS = sys.argv[1:6]
EMPTY = tempfile.TemporaryDirectory()
MISSING = os.path.join(EMPTY.name, "missing")
NEEDS_CUPTI = unittest.skipIf(SANITIZERS, "CUPTI loads its libraries in a way that sanitizers refuse (RTLD_DEEPBIND)")


def hone(*arguments, **variables):
    # In a build with AddressSanitizer, it would insist on coming before what is preloaded.
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return subprocess.run([HONE, *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "HONE_NVML": MISSING, "ASAN_OPTIONS": sanitizer, **variables})


def measure(metrics, how="kernels", options=(), **variables):
    """Runs the program; returns the finished process, the rows (None when there is no trace) and its path."""
    path = os.path.join(tempfile.mkdtemp(), "a.sqlite")
    done = hone("profile", "-o", path, "--metrics", metrics, *options, "--", PROGRAM, how,
                **{"HONE_CUPTI": CUPTI, **variables})
    if not os.path.exists(path):
        return done, None, path
    rows = sqlite3.connect(path).execute("SELECT launch, kernel, range, metric, value, unit FROM metrics").fetchall()
    return done, rows, path


class Query(unittest.TestCase):
    def test_the_list_says_what_is_measured_in_place_of_each_name(self):
        done = hone("profile", "--query-metrics", HONE_CUPTI=MISSING)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("achieved_occupancy\n    Warps that an SM held on average while it was active, of those it can hold\n"
                      "    0.01 * sm__warps_active.avg.pct_of_peak_sustained_active\n", done.stdout)
        self.assertIn("Which of them a GPU has is not known here: CUPTI cannot be loaded", done.stdout)

    def test_json_without_cupti_knows_nothing_of_a_gpu(self):
        answer = json.loads(hone("profile", "--query-metrics", "--json", HONE_CUPTI=MISSING).stdout)
        self.assertEqual((answer["schema"], answer["chip"]), ("hone.metrics", None))
        self.assertIn("CUPTI cannot be loaded", answer["problem"])
        self.assertEqual({metric["available"] for metric in answer["metrics"]}, {None})

    @NEEDS_CUPTI
    def test_chips_have_what_the_table_needs(self):
        # As many as CUPTI 13.0 says; a chip may gain metrics later, but none may vanish from GH100.
        least = {"TU102": 141, "GA100": 141, "AD102": 140, "GH100": 142, "GB100": 134}
        for chip, count in least.items():
            done = hone("profile", "--query-metrics", "--json", "--chip", chip)
            if "CUPTI cannot be loaded" in done.stderr:
                self.skipTest("no CUPTI here")
            self.assertEqual(done.returncode, 0, done.stderr)
            available = [metric["name"] for metric in json.loads(done.stdout)["metrics"] if metric["available"]]
            self.assertGreaterEqual(len(available), count, chip)

    @NEEDS_CUPTI
    def test_a_chip_that_nobody_knows(self):
        done = hone("profile", "--query-metrics", "--chip", "XX100")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("what the chip 'XX100' can measure is not known: ", done.stderr)

    def test_the_gpu_here_is_asked_for_its_chip(self):
        answer = json.loads(hone("profile", "--query-metrics", "--json", HONE_CUPTI=CUPTI, LD_PRELOAD=DRIVER).stdout)
        self.assertEqual((answer["chip"], answer["problem"]), ("GH100", None))
        missing = [metric["name"] for metric in answer["metrics"] if not metric["available"]]
        self.assertEqual(missing, ["dram_write_bytes"])  # the stand-in refuses what it needs


class Measure(unittest.TestCase):
    # The stand-in has 10, 20, ... for the first, second, ... counter, and 100 more for each kernel before.

    def test_each_launch_has_its_metrics_under_the_names_that_were_asked_for(self):
        done, rows, _ = measure("achieved_occupancy,sm__ctas_launched.sum")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rows, [
            (0, "void gemm<float>(int)", "conv1", "achieved_occupancy", 0.1, ""),
            (0, "void gemm<float>(int)", "conv1", "sm__ctas_launched.sum", 20, ""),
            (1, "relu", "conv1", "achieved_occupancy", 1.1, ""), (1, "relu", "conv1", "sm__ctas_launched.sum", 120, ""),
            (2, "relu", "", "achieved_occupancy", 2.1, ""), (2, "relu", "", "sm__ctas_launched.sum", 220, ""),
            (3, "relu", "", "achieved_occupancy", 3.1, ""), (3, "relu", "", "sm__ctas_launched.sum", 320, "")])
        self.assertIn("hone: 8 values of metrics of 4 launches of kernels in", done.stderr)
        self.assertIn("kernels ran one by one, each as often as its metrics took passes", done.stderr)

    def test_formulas_take_what_was_counted(self):
        _, rows, _ = measure("shared_load_transactions_per_request,flop_count_sp,stall_sync")
        first = {row[3]: row[4:] for row in rows if row[0] == 0}
        self.assertEqual(first, {"shared_load_transactions_per_request": (10 / 20, ""),
                                 "flop_count_sp": (30 + 40 + 2 * 50, ""), "stall_sync": (60 + 70, "%")})

    def test_what_the_gpu_does_not_know_is_said(self):
        done, rows, _ = measure("dram_write_bytes,ipc")
        self.assertEqual({row[3] for row in rows}, {"ipc"})
        self.assertIn("dram__bytes_write.sum is not measured: choosing counters failed (a reason)", done.stderr)

    def test_only_kernels_that_are_wanted(self):
        _, rows, _ = measure("ipc", options=["--kernels", "gemm"])
        self.assertEqual([row[:3] for row in rows], [(0, "void gemm<float>(int)", "conv1")])
        done, rows, _ = measure("ipc", options=["--capture-range", "cudaProfilerApi"])
        self.assertIsNone(rows, "nothing was recorded, and there is a file")
        self.assertIn("the program never called cudaProfilerStart", done.stderr)
        _, rows, _ = measure("ipc", options=["--capture-range", "nvtx:conv1"])
        self.assertEqual(len(rows), 2)

    def test_graphs_are_left_alone_and_counted(self):
        done, rows, _ = measure("ipc", "kernels capture", LD_PRELOAD=DRIVER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row[1] for row in rows], ["void gemm<float>(int)", "relu", "relu", "relu"])
        self.assertIn("hone: metrics: 1 launches of CUDA graphs were not measured: only kernels that are launched by "
                      "themselves are", done.stderr)

    def test_what_is_not_permitted_is_said_once(self):
        done, rows, _ = measure("ipc", FAKE_CUPTI_RANGES="denied")
        self.assertEqual((done.returncode, rows), (0, []))
        self.assertEqual(done.stderr.count("looking for counters is not permitted: counters need root, or the driver's "
                                           "option NVreg_RestrictProfilingToAdminUsers=0; no kernel was measured from "
                                           "there on"), 1, done.stderr)

    def test_a_profiler_that_breaks_ends_the_measuring_only(self):
        done, rows, _ = measure("ipc", FAKE_CUPTI_RANGES="broken")
        self.assertEqual((done.returncode, rows), (0, []))
        self.assertIn("measuring a kernel failed (a reason); no kernel was measured from there on", done.stderr)

    def test_kernels_without_values_are_counted(self):
        done, rows, _ = measure("ipc", FAKE_CUPTI_RANGES="empty")
        self.assertEqual((done.returncode, rows), (0, []))
        self.assertIn("4 kernels were launched of which CUPTI gave no values", done.stderr)

    def test_analyze_sums_them_up_by_kernel(self):
        _, _, path = measure("sm__warps_active.avg.pct_of_peak_sustained_active")
        text = hone("analyze", path, "--only", "metrics").stdout
        self.assertRegex(text, r"Metrics of 4 launches of kernels\n")
        self.assertRegex(text, r"\n +0 +3 +sm__warps_active\S+ +110 +310 +210 +% +relu\n")
        answer = json.loads(hone("analyze", path, "--only", "metrics", "--json").stdout)["metrics"]
        self.assertEqual(answer["launches"], 4)
        self.assertEqual(answer["rows"][0], {
            "device": 0, "kernel": "void gemm<float>(int)", "metric": "sm__warps_active.avg.pct_of_peak_sustained_active",
            "unit": "%", "invocations": 1, "min": 10, "max": 10, "mean": 10})
        csv = hone("analyze", path, "--only", "metrics", "--csv").stdout
        self.assertIn("\n0,3,sm__warps_active.avg.pct_of_peak_sustained_active,110,310,210,%,relu\n", csv)

    def test_wrong_wishes_are_refused_before_anything_runs(self):
        for metrics, options, reason in (("ipcc", [], "metric 'ipcc' is not known; the nearest name is ipc"),
                                         ("ipc", ["--counters"], "--metrics and --counters read the same counters")):
            done, rows, _ = measure(metrics, options=options)
            self.assertEqual((done.returncode, rows), (2, None), done.stderr)
            self.assertIn(reason, done.stderr)
        done = hone("profile", "resnet50", "--metrics", "ipc")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--metrics is of kernels of a GPU: --device cuda", done.stderr)


unittest.main(argv=sys.argv[:1])
