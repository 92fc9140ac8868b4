"""`hone profile --trace-threads`: the critical path leads through the threads that others waited for, and programs
run as they would without.

usage: threads_test.py HONE THREADED_PROGRAM RECORDED_PROGRAM FAKE_CUPTI SANITIZERS
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HONE, PROGRAM, CUDA_PROGRAM, CUPTI, SANITIZERS = sys.argv[1:6]


class Profile:
    """One recorded run: the finished process, what it printed as name and number, its rows."""

    def __init__(self, *command, **variables):
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "a.sqlite")
        # In a build with AddressSanitizer, it would insist on being the first of all libraries.
        sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.done = subprocess.run([HONE, "profile", "--trace-threads", "-o", self.path, "--", *command],
                                   capture_output=True, text=True, timeout=120, cwd=self.folder,
                                   env={**os.environ, "ASAN_OPTIONS": sanitizer, **variables})
        words = [line.split() for line in self.done.stdout.splitlines()]
        self.said = {line[0]: int(line[1]) for line in words if len(line) == 2 and line[1].isdigit()}

    def rows(self, sql):
        return sqlite3.connect(self.path).execute(sql).fetchall()

    def calls(self):
        return dict(self.rows("SELECT name, count(*) FROM host WHERE kind = 9 GROUP BY name"))

    def path_of(self):
        """The critical path: rows by name, and its time by thread (the first is main)."""
        done = subprocess.run([HONE, "analyze", self.path, "--only", "dependencies", "--json"], capture_output=True,
                              text=True, check=True)
        path = json.loads(done.stdout)["dependencies"]["critical_path"]
        segments = [dict(zip(path["segments"]["columns"], row)) for row in path["segments"]["rows"]]
        threads = {}
        for segment in segments:
            threads[segment["thread"]] = threads.get(segment["thread"], 0) + segment["end_ns"] - segment["start_ns"]
        return path, {row["name"]: row for row in path["functions"]}, threads


def tolerance_of(path):
    """Two per cent of the run, and what a busy machine takes to load a program and to end it."""
    return 0.02 * path["wall_ns"] + 20e6


class Path(unittest.TestCase):
    def check_path(self, program, waiting):
        """Worker and main are on the path for as long as they worked, and the call that waited is not. A busy machine
        takes its time to start threads and to wake them up, so these are looked at by themselves."""
        profile = Profile(PROGRAM, program)
        self.assertEqual(profile.done.returncode, 0, profile.done.stderr)
        path, functions, threads = profile.path_of()
        self.assertEqual(sum(row["critical_path_ns"] for row in functions.values()), path["wall_ns"])
        tolerance = tolerance_of(path)
        main = profile.rows("SELECT t.rowid - 1 FROM threads t WHERE t.id = t.process")[0][0]
        worker = [thread for thread in threads if thread not in (main, -1)]
        self.assertEqual(len(worker), 1, threads)
        self.assertAlmostEqual(threads[worker[0]], profile.said["worker"], delta=tolerance)
        self.assertAlmostEqual(functions["pthread_create"]["critical_path_ns"], profile.said["starting"],
                               delta=tolerance)
        calls = sum(row["critical_path_ns"] for row in functions.values() if row["kind"] == "call")
        self.assertAlmostEqual(threads[main] - calls, profile.said["main"], delta=tolerance)
        row = functions[waiting]
        self.assertAlmostEqual(row["waiting_ns"] + row["critical_path_ns"], profile.said["waiting"], delta=tolerance)
        self.assertGreater(row["waiting_ns"], row["critical_path_ns"])
        return profile

    def test_join(self):
        profile = self.check_path("join", "pthread_join")
        self.assertEqual(profile.calls(), {"pthread_create": 1, "pthread_join": 1})
        table = subprocess.run([HONE, "analyze", profile.path, "--only", "summary"], capture_output=True, text=True)
        self.assertRegex(table.stdout, r"Thread calls\n(.*\n)*.*pthread_join")

    def test_mutex(self):
        self.check_path("mutex", "pthread_mutex_lock")

    def test_condition(self):
        self.check_path("condition", "pthread_cond_wait")

    def test_semaphore(self):
        self.check_path("semaphore", "sem_wait")

    def test_a_wait_that_ran_out_of_time_is_nobody_s_fault(self):
        profile = Profile(PROGRAM, "timeout")
        path, functions, _ = profile.path_of()
        row = functions["pthread_cond_clockwait"]
        self.assertEqual(row["waiting_ns"], 0)
        self.assertAlmostEqual(row["critical_path_ns"], profile.said["waiting"], delta=tolerance_of(path))


class Recording(unittest.TestCase):
    def check_run(self, *command, code=0):
        profile = Profile(*command)
        self.assertEqual(profile.done.returncode, code, profile.done.stderr + profile.done.stdout)
        return profile

    def test_only_what_blocks_is_recorded(self):
        profile = self.check_run(PROGRAM, "uncontended")
        self.assertEqual(profile.calls(), {"pthread_create": 1, "pthread_join": 1})

    def test_files_grow(self):
        profile = self.check_run(PROGRAM, "many")
        self.assertGreater(profile.calls()["pthread_cond_wait"], 15000)
        self.assertEqual(profile.rows("SELECT * FROM doubts WHERE severity > 0"), [])
        path, functions, _ = profile.path_of()
        self.assertEqual(sum(row["critical_path_ns"] for row in functions.values()), path["wall_ns"])

    def test_many_threads(self):
        profile = self.check_run(PROGRAM, "threads")
        self.assertEqual(profile.calls(), {"pthread_create": 2000, "pthread_join": 2000})
        self.assertEqual(profile.rows("SELECT operation, count(*) FROM thread_syncs WHERE operation IN (1, 2) "
                                      "GROUP BY operation"), [(1, 2001), (2, 2001)])

    def test_cancelled_threads_end_as_they_should(self):
        profile = self.check_run(PROGRAM, "cancel")
        self.assertEqual(profile.rows("SELECT count(*) FROM thread_syncs WHERE operation = 2"), [(3,)])

    def test_a_forked_child_writes_nothing(self):
        profile = self.check_run(PROGRAM, "fork")
        self.assertEqual(profile.calls()["pthread_create"], 1)
        self.assertEqual(profile.rows("SELECT count(DISTINCT process) FROM threads"), [(1,)])

    def test_a_program_that_replaces_itself(self):
        profile = self.check_run(PROGRAM, "exec")
        self.assertEqual(profile.calls(), {"pthread_create": 2, "pthread_join": 2})

    def test_a_killed_program_leaves_what_it_did(self):
        profile = self.check_run(PROGRAM, "kill", code=137)
        self.assertIn("exit code 137", profile.done.stderr)
        self.assertEqual(profile.calls(), {"pthread_create": 1, "pthread_join": 1})
        self.assertEqual(profile.rows("SELECT * FROM doubts WHERE severity > 0"), [])

    @unittest.skipIf(SANITIZERS, "the program has a sanitizer as its collector has, whose threads would be recorded")
    def test_threads_of_a_cuda_program_stand_beside_what_cupti_tells(self):
        profile = Profile(CUDA_PROGRAM, "thread", HONE_CUPTI=CUPTI)
        self.assertEqual(profile.done.returncode, 0, profile.done.stderr)
        self.assertEqual(profile.rows("SELECT count(*) FROM kernels"), [(2,)])
        self.assertEqual(profile.calls(), {"pthread_create": 1, "pthread_join": 1})
        # One and the same thread for both recorders.
        self.assertEqual(profile.rows("SELECT count(*) FROM threads WHERE id = process"), [(1,)])
        self.assertEqual(profile.rows("SELECT count(*) FROM host h JOIN host_events e ON e.start = h.start JOIN "
                                      "thread_syncs s ON s.thread = e.thread WHERE h.name = 'of the thread' AND "
                                      "s.operation = 1"), [(1,)])

    def test_a_program_without_threads(self):
        profile = self.check_run("sh", "-c", "true; exit 0", code=4)
        self.assertIn("nothing was recorded: no process of this command initialised CUDA or NVTX, or waited for a thread",
                      profile.done.stderr)

    def test_python(self):
        script = ("import threading, time\n"
                  "lock = threading.Lock()\n"
                  "lock.acquire()\n"
                  "thread = threading.Thread(target=lambda: (time.sleep(0.2), lock.release()))\n"
                  "thread.start()\n"
                  "lock.acquire()\n"
                  "thread.join()\n"
                  "print('done')\n")
        profile = self.check_run("/usr/bin/python3", "-c", script)
        self.assertEqual(profile.done.stdout, "done\n")
        _, functions, threads = profile.path_of()
        self.assertGreater(sum(row["waiting_ns"] for row in functions.values()), 150e6)
        self.assertEqual(len([thread for thread in threads if thread >= 0]), 2)

    def test_what_is_preloaded_anyway_stays(self):
        profile = Profile("sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD="libm.so.6")
        self.assertRegex(profile.done.stdout, r"/libhone-threads\.so:libm\.so\.6\n$")

    def test_it_is_for_programs(self):
        done = subprocess.run([HONE, "profile", "resnet50", "--trace-threads"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (2, "hone: --trace-threads is for a program after --\n"))


unittest.main(argv=sys.argv[:1])
