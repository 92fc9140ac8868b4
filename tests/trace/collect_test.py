"""`hone profile -- PROGRAM`: what the injected library writes arrives in the trace, however the program ends.

usage: collect_test.py HONE RECORDED_PROGRAM FAKE_CUPTI FAKE_NVML
"""
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HONE, PROGRAM, CUPTI, NVML = sys.argv[1:5]
EMPTY = tempfile.TemporaryDirectory()
MISSING = os.path.join(EMPTY.name, "missing")


def profile(*arguments, cupti=CUPTI, options=(), **variables):
    """Runs it; returns the finished process and the open database (None when there is none)."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "a.sqlite")
    done = subprocess.run([HONE, "profile", "-o", path, *options, "--", *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "HONE_CUPTI": cupti, "HONE_NVML": MISSING,
                               **variables}, cwd=folder)
    return done, sqlite3.connect(path) if os.path.exists(path) else None


def rows(database, sql):
    return database.execute(sql).fetchall()


class Collect(unittest.TestCase):
    def test_every_kind_of_record_arrives(self):
        done, database = profile(PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rows(database, "SELECT name, grid_x, block_x, channel, dynamic_shared_bytes FROM kernels"),
                         [("void gemm<float>(int)", 4, 128, 3, 4096), ("relu", 4, 128, 3, 4096)])
        self.assertEqual(rows(database, "SELECT name, tensor_use FROM kernels"),
                         [("void gemm<float>(int)", 2), ("relu", 1)])
        self.assertEqual(rows(database, "SELECT name, bytes, direction, asynchronous FROM copies ORDER BY bytes"),
                         [("Memset (Device)", 64, 0, 0), ("Memcpy HtoD (Pageable -> Device)", 4096, 1, 1)])
        self.assertEqual(rows(database, "SELECT kind, event_record FROM synchronizations"), [(1, 50)])
        self.assertEqual(rows(database, "SELECT id FROM event_records"), [(50,)])
        self.assertEqual(rows(database, "SELECT bytes FROM allocations"), [(-(1 << 20),)])
        self.assertEqual(rows(database, "SELECT kind, null_stream FROM streams JOIN contexts"), [(1, 7)])
        self.assertEqual(rows(database, "SELECT s.value, multiprocessors, threads_per_multiprocessor FROM devices d "
                                        "JOIN strings s ON s.id = d.name"), [("Fake GPU", 132, 2048)])
        host = dict(rows(database, "SELECT name, kind FROM host"))
        self.assertEqual(host, {"ProfilerStep#1": 2, "conv1": 1, "request": 1, "cudaGraphLaunch_v10000": 4,
                                "Command Buffer Full": 7})

    def test_calls_and_kernels_share_their_correlation(self):
        _, database = profile(PROGRAM)
        self.assertEqual(rows(database, "SELECT count(*) FROM kernels k JOIN host_events h USING (correlation)"),
                         [(2,)])

    def test_nodes_that_ran_get_range_and_dependencies_of_their_originals(self):
        _, database = profile(PROGRAM)
        self.assertEqual(
            rows(database, "SELECT k.name, s.value FROM kernels k JOIN graph_nodes n ON n.id = k.graph_node "
                           "JOIN strings s ON s.id = n.range ORDER BY k.start"),
            [("void gemm<float>(int)", "conv1"), ("relu", "conv1")])
        self.assertEqual(
            rows(database, "SELECT a.name, b.name FROM graph_edges e JOIN kernels a ON a.graph_node = e.from_node "
                           "JOIN kernels b ON b.graph_node = e.to_node"), [("void gemm<float>(int)", "relu")])

    def test_calls_told_of_at_exit_keep_their_names(self):
        _, database = profile(PROGRAM)
        self.assertEqual(rows(database, "SELECT name, count(*) FROM host WHERE kind = 4 GROUP BY name"),
                         [("cudaGraphLaunch_v10000", 2)])

    def test_losses_are_counted_and_said(self):
        done, database = profile(PROGRAM)
        doubts = rows(database, "SELECT about, count FROM doubts WHERE severity = 2")
        self.assertIn(("device events", 1), doubts)   # the kernel without times
        self.assertIn(("collector", 9), doubts)       # what CUPTI says it dropped
        self.assertIn("activity kind 22 is not recorded (a reason)", done.stderr)
        self.assertIn("9 records were dropped by CUPTI", done.stderr)
        self.assertNotIn("ended without", done.stderr)

    def test_ranges_are_recorded_without_cuda(self):
        done, database = profile(PROGRAM, "nvtx")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(rows(database, "SELECT * FROM host_events")), 3)

    def test_a_forked_child_writes_nothing(self):
        done, database = profile(PROGRAM, "fork")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(rows(database, "SELECT count(*) FROM kernels"), [(2,)])
        self.assertEqual(rows(database, "SELECT count(*) FROM host WHERE name = 'of the child'"), [(0,)])

    def test_a_child_that_uses_the_gpu_is_missed_aloud(self):
        done, database = profile(PROGRAM, "nvtx and a child with CUDA")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"process \d+ was forked from one that was being recorded, so nothing of it was")
        self.assertEqual(len(rows(database, "SELECT * FROM host_events")), 3)

    def test_forked_children_do_not_wait_for_threads_that_they_have_not(self):
        done, _ = profile(PROGRAM, "nvtx forks")
        self.assertEqual(done.returncode, 0, done.stderr)
        done, _ = profile(PROGRAM, "fork", options=["--counters"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_program_s_failure_is_told_and_its_trace_kept(self):
        done, database = profile(PROGRAM, "fail")
        self.assertEqual(done.returncode, 3)
        self.assertIn("the program ended with exit code 3; what it did until then is in", done.stderr)
        self.assertEqual(rows(database, "SELECT count(*) FROM kernels"), [(2,)])

    def test_a_killed_program_leaves_a_trace(self):
        done, database = profile(PROGRAM, "kill")
        self.assertEqual(done.returncode, 137)
        self.assertIn("exit code 137", done.stderr)
        self.assertEqual(rows(database, "SELECT count(*) FROM graph_nodes"), [(4,)])
        self.assertRegex(done.stderr, r"process \d+ ended without running its exit handlers")

    def test_a_killed_program_leaves_its_ranges(self):
        _, database = profile(PROGRAM, "late kill")
        self.assertEqual({name for name, in rows(database, "SELECT name FROM host WHERE kind IN (1, 2)")},
                         {"ProfilerStep#1", "conv1", "request", "late"})

    def test_another_profiler_is_named(self):
        done, _ = profile(PROGRAM, FAKE_CUPTI_OTHER="Nsight")
        self.assertEqual(done.returncode, 0)
        self.assertIn("another profiler is at work in this process (Nsight); nothing of the GPU was recorded",
                      done.stderr)

    def test_a_missing_cupti_is_said(self):
        done, _ = profile(PROGRAM, cupti=MISSING)
        self.assertEqual(done.returncode, 0)
        self.assertIn("CUPTI cannot be loaded", done.stderr)

    def test_only_what_is_between_the_profiler_s_start_and_stop(self):
        done, database = profile(PROGRAM, "profiler", options=["--capture-range", "cudaProfilerApi"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rows(database, "SELECT name FROM host"), [("captured",)])
        self.assertEqual(rows(database, "SELECT name FROM kernels"), [])  # they run at the end of the program
        self.assertIn("only cudaProfilerApi was recorded", done.stderr)

    def test_only_what_is_in_a_range(self):
        done, database = profile(PROGRAM, options=["--capture-range", "nvtx:request"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(rows(database, "SELECT name FROM host")), [("ProfilerStep#1",), ("request",)])

    def test_a_range_that_never_comes_is_said(self):
        for name, reason in (("nvtx:nothing", "no thread entered the range"),
                             ("cudaProfilerApi", "the program never called cudaProfilerStart")):
            done, database = profile(PROGRAM, options=["--capture-range", name])
            self.assertEqual(done.returncode, 4)
            self.assertIn("nothing was recorded: " + reason, done.stderr)
            self.assertIsNone(database)

    def test_times_bound_what_is_recorded(self):
        late, database = profile(PROGRAM, options=["--delay", "3600"])
        self.assertIn("nothing was recorded: the program used no GPU while it was captured", late.stderr)
        self.assertEqual((late.returncode, database), (4, None))
        _, database = profile(PROGRAM, options=["--duration", "3600"])
        self.assertEqual(rows(database, "SELECT count(*) FROM kernels"), [(2,)])

    def test_kernels_by_name(self):
        done, database = profile(PROGRAM, options=["--kernels", "gemm<.*>"])
        self.assertEqual(rows(database, "SELECT name FROM kernels"), [("void gemm<float>(int)",)])
        self.assertIn("only kernels with 'gemm<.*>' in their names were recorded", done.stderr)

    def test_wrong_rules_are_refused(self):
        for options, reason in ((["--kernels", "("], "--kernels is no regular expression: '('"),
                                (["--capture-range", "nvtx:"], "--capture-range is cudaProfilerApi or nvtx:NAME"),
                                (["--capture-range", "nvtx:a", "--delay", "1"], "so --delay and --duration cannot"),
                                (["--counters", "--counter-rate", "1e6"], "--counter-rate must be between 10 and"),
                                (["--delay", "-1"], "--delay must be between 0 and")):
            done, database = profile(PROGRAM, options=options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(reason, done.stderr)
            self.assertIsNone(database)

    def test_clocks_and_power_of_the_gpu_that_was_used(self):
        done, database = profile(PROGRAM, "sleep", HONE_NVML=NVML,
                                 FAKE_NVML="uuid=GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff power=333000 sm=1755")
        self.assertEqual(done.returncode, 0, done.stderr)
        means = dict(rows(database, "SELECT s.value || ' ' || u.unit, avg(c.value) FROM counter_samples c JOIN strings s "
                                    "ON s.id = c.counter JOIN counter_units u USING (counter) GROUP BY 1"))
        self.assertEqual(means, {"SM clock MHz": 1755, "Memory clock MHz": 3201, "Power W": 333, "Temperature C": 45,
                                 "Memory used MB": 2000})
        self.assertGreater(rows(database, "SELECT count(*) FROM counter_samples")[0][0], 5 * 4)

    def test_a_gpu_that_nvml_does_not_know_is_said(self):
        for nvml, reason in ((NVML, "NVML does not know the GPU that was used"), (MISSING, "NVML cannot be loaded")):
            done, database = profile(PROGRAM, HONE_NVML=nvml)
            self.assertIn("no clocks, power and temperature: " + reason, done.stderr)
            self.assertEqual(rows(database, "SELECT * FROM counter_samples"), [])

    def test_counters_over_time(self):
        done, database = profile(PROGRAM, "sleep", options=["--counters"])
        self.assertEqual(done.returncode, 0, done.stderr)
        values = rows(database, "SELECT s.value, u.unit, min(c.value), max(c.value), count(*), max(c.time) - min(c.time) "
                                "FROM counter_samples c JOIN strings s ON s.id = c.counter "
                                "JOIN counter_units u USING (counter) GROUP BY c.counter ORDER BY s.value")
        # The first of ten samples is left out; 5 MB in 100 us are 50 GB/s.
        self.assertEqual(values, [
            ("DRAM read", "GB/s", 50, 50, 9, 800_000), ("GR active", "%", 10, 10, 9, 800_000),
            ("PCIe read", "GB/s", 50, 50, 9, 800_000), ("SM warp occupancy", "%", 30, 30, 9, 800_000),
            ("SMs active", "%", 20, 20, 9, 800_000), ("Tensor active", "%", 40, 40, 9, 800_000)])
        self.assertIn("DRAM write is not recorded: choosing counters failed (a reason)", done.stderr)
        self.assertIn("PCIe write is not recorded: it does not fit into one pass with the others", done.stderr)

    def test_counters_that_are_not_permitted(self):
        done, database = profile(PROGRAM, "sleep", options=["--counters"], FAKE_CUPTI_COUNTERS="denied")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("looking for counters is not permitted: counters need root, or the driver's option "
                      "NVreg_RestrictProfilingToAdminUsers=0", done.stderr)
        self.assertEqual(rows(database, "SELECT count(*) FROM kernels"), [(2,)])

    def test_counters_that_were_overwritten(self):
        done, _ = profile(PROGRAM, "sleep", options=["--counters"], FAKE_CUPTI_COUNTERS="overflow")
        self.assertIn("samples were overwritten before they were read", done.stderr)

    def test_sampling_ends_however_it_went(self):
        for failure, steps in [("", ["enable", "start", "stop", "disable"]),
                               ("undecoded", ["enable", "start", "stop", "disable"]),
                               ("unconfigured", ["enable", "disable"])]:
            with self.subTest(failure), tempfile.NamedTemporaryFile("r") as log:
                done, _ = profile(PROGRAM, "sleep", options=["--counters"], FAKE_CUPTI_COUNTERS=failure,
                                  FAKE_CUPTI_SAMPLING=log.name)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(log.read().split(), steps)

    def test_no_counters_unless_asked_for(self):
        done, database = profile(PROGRAM, "sleep", FAKE_CUPTI_COUNTERS="denied")
        self.assertNotIn("counters", done.stderr.replace("counters: no clocks", ""))
        self.assertEqual(rows(database, "SELECT * FROM counter_samples"), [])

    def test_a_program_without_cuda_says_so_and_leaves_no_trace(self):
        done, database = profile("true")
        self.assertEqual(done.returncode, 4)
        self.assertIn("nothing was recorded: no process of this command initialised CUDA or NVTX; --trace-threads",
                      done.stderr)
        self.assertIsNone(database)
        done, database = profile("sh", "-c", "exit 3")
        self.assertEqual((done.returncode, done.stderr),
                         (3, "hone: the program ended with exit code 3; nothing was recorded\n"))
        self.assertIsNone(database)

    def test_a_program_that_is_not_there(self):
        done, database = profile(MISSING)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, f"hone: {MISSING} cannot be started: no such program\n")
        self.assertIsNone(database)

    def test_a_trace_may_have_the_longest_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for length in (250, 255):
                trace = os.path.join(folder, "n" * (length - 7) + ".sqlite")
                done = subprocess.run([HONE, "profile", "-o", trace, "--", PROGRAM], capture_output=True, text=True,
                                      timeout=60, env={**os.environ, "HONE_CUPTI": CUPTI, "HONE_NVML": MISSING})
                self.assertEqual(done.returncode, 0, done.stderr)
                done = subprocess.run([HONE, "analyze", trace], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(os.listdir(folder)), 2)
            trace, started = os.path.join(folder, "n" * 249 + ".sqlite"), os.path.join(folder, "started")
            done = subprocess.run([HONE, "profile", "-o", trace, "--", "touch", started], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual((done.returncode, done.stderr),
                             (4, f"hone: {trace}: cannot write the file: File name too long\n"))
            self.assertFalse(os.path.exists(started), "it is refused before the program runs")

    def test_a_full_disk_is_said_of_the_trace(self):
        def full_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "a.sqlite")
            program = ["sh", "-c", 'ulimit -S -f unlimited && exec "$0"', PROGRAM]
            done = subprocess.run([HONE, "profile", "-o", trace, "--", *program], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "HONE_CUPTI": CUPTI, "HONE_NVML": MISSING},
                                  preexec_fn=full_disk)
            self.assertEqual((done.returncode, done.stderr), (4, f"hone: {trace}: disk I/O error\n"))
            self.assertEqual(os.listdir(folder), [])


unittest.main(argv=sys.argv[:1])
