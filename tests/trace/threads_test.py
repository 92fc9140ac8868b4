"""`hone profile --trace-threads`: the critical path leads through the threads that others waited for, and programs
run as they would without.

usage: threads_test.py HONE THREADED_PROGRAM
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HONE, PROGRAM = sys.argv[1:3]


class Profile:
    """One recorded run: the finished process, what it printed as name and number, its rows."""

    def __init__(self, *command, **variables):
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "a.sqlite")
        self.done = subprocess.run([HONE, "profile", "--trace-threads", "-o", self.path, "--", *command],
                                   capture_output=True, text=True, timeout=120, env={**os.environ, **variables},
                                   cwd=self.folder)
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


class Path(unittest.TestCase):
    def check_path(self, program, waiting):
        """Worker and main are on the path for as long as they worked; the wait took as long as the worker."""
        profile = Profile(PROGRAM, program)
        self.assertEqual(profile.done.returncode, 0, profile.done.stderr)
        path, functions, threads = profile.path_of()
        self.assertEqual(sum(row["critical_path_ns"] for row in functions.values()), path["wall_ns"])
        # Waking up takes time as well, on a busy machine some milliseconds.
        tolerance = 0.02 * path["wall_ns"] + 10e6
        main = profile.rows("SELECT t.rowid - 1 FROM threads t WHERE t.id = t.process")[0][0]
        worker = [thread for thread in threads if thread not in (main, -1)]
        self.assertEqual(len(worker), 1, threads)
        self.assertAlmostEqual(threads[worker[0]], profile.said["worker"], delta=tolerance)
        starting = functions["pthread_create"]["critical_path_ns"]
        self.assertAlmostEqual(starting, profile.said["starting"], delta=tolerance)
        self.assertAlmostEqual(threads[main] - starting, profile.said["main"], delta=tolerance)
        self.assertAlmostEqual(functions[waiting]["waiting_ns"], profile.said["waiting"], delta=tolerance)
        self.assertLess(functions[waiting]["critical_path_ns"], tolerance)
        return profile

    def test_join(self):
        profile = self.check_path("join", "pthread_join")
        self.assertEqual(profile.calls(), {"pthread_create": 1, "pthread_join": 1})

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
        self.assertAlmostEqual(row["critical_path_ns"], profile.said["main"], delta=0.02 * path["wall_ns"] + 10e6)


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
        profile = self.check_run(PROGRAM, "kill", code=4)
        self.assertIn("exit code 137", profile.done.stderr)
        self.assertEqual(profile.calls(), {"pthread_create": 1, "pthread_join": 1})
        self.assertEqual(profile.rows("SELECT * FROM doubts WHERE severity > 0"), [])

    def test_a_program_without_threads(self):
        profile = self.check_run("sh", "-c", "true; exit 0")
        self.assertIn("no process of this command initialised CUDA or NVTX", profile.done.stderr)

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
