"""Engines for a level of instructions: what they record, that they run here and on the lowest CPU that has the level, and
what is said where a level cannot be built or run.

usage: portable_test.py HONE MODELS_DIGITS
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

USAGE, ENVIRONMENT = 2, 4
HONE, DIGITS = pathlib.Path(), pathlib.Path()
LEVELS = ["AVX2", "AVX-512", "AVX-512-VNNI", "AVX-512-BF16", "AMX"]
FLAGS = {"AVX2": "avx2", "AVX-512": "avx512dq", "AVX-512-VNNI": "avx512_vnni", "AVX-512-BF16": "avx512_bf16",
         "AMX": "amx_bf16"}
SMALLEST = {"ONEDNN_MAX_CPU_ISA": "AVX2"}


def has_level(level):
    return FLAGS[level] in pathlib.Path("/proc/cpuinfo").read_text().split()


class Portable(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        image = np.load(DIGITS / "held_out.npz")
        np.save(self.folder / "x.npy", image[image.files[0]][:1].astype(np.float32))

    def hone(self, *command, environment=None):
        return subprocess.run(list(map(str, [HONE, *command])), capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, **(environment or {})})

    def build(self, level, *options, environment=None):
        engine = self.folder / f"{level}.hone"
        done = self.hone("build", DIGITS / "digits.onnx", "-o", engine, "--noTimingCache", "--builderBudget", 2,
                         "--portable", level, *options, environment=environment)
        return engine, done

    def outputs(self, engine, environment=None):
        done = self.hone("run", engine, "--input", self.folder / "x.npy", "-o", self.folder / "y.npz",
                         environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(self.folder / "y.npz") as found:
            return found[found.files[0]]

    def fails(self, done, code, *parts):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_engine_runs_on_this_cpu_and_on_the_lowest_with_the_level(self):
        engine, done = self.build("avx2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.hone("inspect", engine).stdout, r"cpu; AVX2 or above; oneDNN \d")
        here, lowest = self.outputs(engine), self.outputs(engine, SMALLEST)
        np.testing.assert_allclose(here, lowest, rtol=1e-4, atol=1e-4)

    def test_engine_of_a_higher_level_is_refused_below_it(self):
        if not has_level("AVX-512"):
            self.skipTest("this CPU has no AVX-512")
        engine, done = self.build("AVX-512")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.outputs(engine)
        done = self.hone("run", engine, "--input", self.folder / "x.npy", environment=SMALLEST)
        self.fails(done, ENVIRONMENT, "the engine needs a CPU with AVX-512, this one has AVX2",
                   "build it again with --portable AVX2")

    def test_level_above_this_cpu_is_refused_before_anything_is_built(self):
        for level in LEVELS[1:]:
            engine, done = self.build(level, environment=SMALLEST)
            self.fails(done, ENVIRONMENT, f"an engine for {level} has to be tuned on a CPU with it, this one has AVX2",
                       "or here for AVX2")
            self.assertFalse(engine.exists())
        missing = [level for level in LEVELS if not has_level(level)]
        for level in missing:
            self.fails(self.build(level)[1], ENVIRONMENT, f"an engine for {level} has to be tuned on a CPU with it")

    def test_bf16_needs_avx512(self):
        self.fails(self.build("AVX2", "--precision", "bf16")[1], USAGE, "only emulate bf16", "build in fp32")

    def test_unknown_levels_and_other_devices(self):
        self.fails(self.build("avx521")[1], USAGE, "'avx521' is no level of instructions (did you mean AVX-512?)",
                   "choose one of AVX2, AVX-512")
        self.fails(self.build("AVX2", "--device", "cuda")[1], USAGE, "portable engines are for the cpu")

    def test_engine_of_this_cpu_is_refused_elsewhere_with_the_way_out(self):
        if not has_level("AVX-512"):
            self.skipTest("this CPU has no AVX-512")
        engine = self.folder / "own.hone"
        done = self.hone("build", DIGITS / "digits.onnx", "-o", engine, "--noTimingCache", "--builderOptimizationLevel", 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.hone("run", engine, "--input", self.folder / "x.npy", environment=SMALLEST)
        self.fails(done, ENVIRONMENT, "the engine was built for 'cpu; AVX-512", "or for several kinds of CPUs with --portable")


if __name__ == "__main__":
    HONE, DIGITS = (pathlib.Path(argument) for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
