"""What `hone bench` measures when little is said, and where its words go.

usage: command_defaults_test.py HONE FAKE_NVML
"""
import subprocess
import unittest

from bench_case import HONE, BenchCase, fake


class Defaults(BenchCase):
    def test_a_named_peer_is_measured_beside_the_backends(self):
        self.bench("--backends", "reference", fake("good"))
        self.assertEqual([run["backend"] for run in self.result()["runs"]], ["reference", "good"])
        self.bench("--backends", "good,reference", fake("good"))
        self.assertEqual([run["backend"] for run in self.result()["runs"]], ["good", "reference"])

    def test_the_default_sweep_is_short_and_says_so(self):
        arguments = [HONE, "bench", self.model, "--backends", "reference", "--precisions", "fp32", "--rounds", "2", "--warmup", "1",
                     "--iterations", "4", "--exact"]
        for more, batches in ([], [1, 8]), (["--full"], [1, 8, 16, 32]):
            done = subprocess.run([*arguments, *more], env=self.environment, cwd=self.folder, capture_output=True, text=True,
                                  timeout=200, check=True)
            self.assertEqual([run["batch"] for run in self.result()["runs"]], batches)
            self.assertRegex(done.stdout, f"^measuring {len(batches)} configurations at batch {', '.join(map(str, batches))}: about ")
        self.bench("--full", code=2)

    def test_emulated_bf16_is_measured_only_where_it_is_named(self):
        small = dict(self.environment, ONEDNN_MAX_CPU_ISA="AVX2")
        arguments = [HONE, "bench", self.model, "--backends", "hone", "--batches", "1", "--rounds", "2", "--warmup", "1",
                     "--iterations", "4", "--exact"]
        for more, precisions in ([], ["fp32"]), (["--precisions", "fp32", "bf16"], ["fp32", "bf16"]):
            done = subprocess.run([*arguments, *more], env=small, cwd=self.folder, capture_output=True, text=True,
                                  timeout=200, check=True)
            self.assertEqual([run["precision"] for run in self.result()["runs"]], precisions)
            self.assertEqual("bf16 is left out: this CPU has no instructions for it" in done.stdout, not more, done.stdout)
            self.assertEqual("--precisions fp32 bf16 measures it" in done.stdout, not more)

    def test_csv_is_alone_on_standard_output_and_keeps_the_gate(self):
        self.bench("--backends", "steady", fake("steady 5"))
        before = self.result_files()[-1]
        done = self.bench("--backends", "steady", fake("steady 50"), "--csv", "--baseline", before, code=5)
        self.assertEqual(len(done.stdout.splitlines()), 2, done.stdout)
        self.assertIn("REGRESSED", done.stderr)
        self.assertIn("written: runs/", done.stderr)


if __name__ == "__main__":
    unittest.main()
