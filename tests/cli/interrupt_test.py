"""SIGTERM, SIGHUP and Ctrl-C while `hone profile` records: what was recorded is kept, nothing stays behind.

usage: interrupt_test.py HONE
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HONE = pathlib.Path(sys.argv[1]).absolute()
HAS_COLLECTOR = (HONE.parent.parent / "lib" / "libhone-inject.so").exists()
ENVIRONMENT = 4
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PATIENCE = 60  # seconds


def ready():
    """A shell in the background ignores Ctrl-C for its commands, nohup SIGHUP: here they count."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def is_alive(pid):
    """A zombie, which nobody has waited for yet, is not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, process):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, f"ended before: {process.communicate()}"
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.01)


class Interrupt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scratch = self.folder / "tmp"
        self.scratch.mkdir()

    def start(self, *arguments, preexec=ready):
        return subprocess.Popen([HONE, "profile", *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, preexec_fn=preexec,
                                env=dict(os.environ, TMPDIR=self.scratch))

    def assert_nothing_left(self):
        self.assertEqual(list(self.scratch.iterdir()), [])

    def record(self, program, number, preexec=ready):
        """The program writes its number into the file `pid` once it is ready for the signal."""
        (self.folder / "pid").unlink(missing_ok=True)
        process = self.start("-o", "x.sqlite", "--", "sh", "-c", program, preexec=preexec)
        wait_until(lambda: (self.folder / "pid").exists() and (self.folder / "pid").read_text().endswith("\n"),
                   process)
        pid = int((self.folder / "pid").read_text())
        process.send_signal(number)
        _, stderr = process.communicate(timeout=PATIENCE)
        self.assertFalse(is_alive(pid), stderr)
        self.assert_nothing_left()
        return process.returncode, stderr

    @unittest.skipUnless(HAS_COLLECTOR, "built without the collector")
    def test_a_program_gets_signals_sent_to_hone(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                code, stderr = self.record("echo $$ > pid; exec sleep 100", number)
                self.assertEqual(code, 128 + number, stderr)
                self.assertIn(f"hone: {number.name} was passed on, and the program ended with exit code "
                              f"{128 + number} (128 + {number.name}); nothing was recorded\n", stderr)

    @unittest.skipUnless(HAS_COLLECTOR, "built without the collector")
    def test_a_program_may_end_in_order(self):
        program = "trap 'exit {}' TERM; echo $$ > pid; while :; do sleep 0.05; done"
        code, stderr = self.record(program.format(0), signal.SIGTERM)
        self.assertEqual(code, ENVIRONMENT, stderr)
        self.assertIn("hone: nothing was recorded", stderr)
        code, stderr = self.record(program.format(7), signal.SIGTERM)
        self.assertEqual(code, 7, stderr)

    @unittest.skipUnless(HAS_COLLECTOR, "built without the collector")
    def test_nohup_holds_for_the_program(self):
        def nohup():
            ready()
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        code, stderr = self.record("echo $$ > pid; sleep 1; exit 5", signal.SIGHUP, nohup)
        self.assertEqual(code, 5, stderr)
        self.assertIn("hone: the program ended with exit code 5", stderr)

    @unittest.skipUnless(HAS_COLLECTOR, "built without the collector")
    def test_no_signal_is_lost_before_the_program_runs(self):
        """However early it comes: hone ends soon, and leaves neither a program nor a folder."""
        for milliseconds in range(0, 40, 2):
            process = self.start("-o", "x.sqlite", "--", "sleep", "100")
            time.sleep(milliseconds / 1000)
            process.send_signal(signal.SIGTERM)
            _, stderr = process.communicate(timeout=PATIENCE)
            self.assertIn(process.returncode, (-signal.SIGTERM, 128 + signal.SIGTERM), stderr)
            self.assert_nothing_left()

    def test_a_model_s_recording_ends_in_order(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                process = self.start("vgg16", "--backends", "reference", "-o", "runs")
                # The inputs of a worker come after its folder.
                wait_until(lambda: list(self.scratch.glob("hone-*/worker/stderr.txt")), process)
                workers = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                self.assertEqual(len(workers), 1)
                process.send_signal(number)
                _, stderr = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, -number, stderr)
                self.assertRegex(stderr, r"\Anote: the weights of vgg16 are random [^\n]*\n\Z")
                self.assertFalse(is_alive(workers[0]))
                self.assert_nothing_left()
                self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
