"""One quantized model on the engines of every instruction set that this CPU has: all of them give the classes of the reference.

usage: quantize_engines_test.py HONE DIGITS
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HONE = pathlib.Path(sys.argv[1]).absolute()
DIGITS = pathlib.Path(sys.argv[2]).absolute()
MODEL, DATA = DIGITS / "digits.onnx", DIGITS / "held_out.npz"
LEVELS = ("AVX2", "AVX-512", "AVX-512-VNNI", "AMX")
ENVIRONMENT = 4
IMAGES = "input:364x1x8x8"
#: Where a sum lies next to the middle between two integers, engines that add in another order round it to another side: a step of
#: some activations, 1/127 of their range, which the later layers average.
MOST_ERROR = 1e-2
#: The values of all images.
MOST_OTHER_CLASSES = 0.005


def hone(*arguments):
    return subprocess.run([HONE, *map(str, arguments)], capture_output=True, text=True, check=False)


class Engines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def logits(self, model, *arguments):
        output = self.folder / "output.npz"
        result = hone("run", model, *arguments, "--input", DATA, "-o", output)
        self.assertEqual(result.returncode, 0, result.stderr)
        with np.load(output) as archive:
            return archive[archive.files[0]].astype(np.float64)

    def build(self, model, *arguments):
        """The engine, or nothing where this CPU lacks its instruction set."""
        engine = self.folder / "engine.hone"
        result = hone("build", model, "-o", engine, "--precision", "int8", "--threads", 1, "--minShapes", "input:1x1x8x8",
                      "--optShapes", IMAGES, "--maxShapes", IMAGES, *arguments)
        if result.returncode == ENVIRONMENT and arguments:
            return None
        self.assertEqual(result.returncode, 0, result.stderr)
        return engine

    def test_engines_of_all_instruction_sets_agree(self):
        for target in ("portable", "cpu"):
            model = self.folder / f"{target}.onnx"
            result = hone("quantize", MODEL, "--calibrate", DATA, "--target", target, "-o", model, "--threads", 1)
            self.assertEqual(result.returncode, 0, result.stderr)
            right = self.logits(model, "--backend", "reference")
            built = 0
            for level in (None, *LEVELS):
                engine = self.build(model, *(("--portable", level) if level else ()))
                if engine is None:
                    continue
                built += 1
                found = self.logits(engine)
                with self.subTest(target=target, level=level):
                    self.assertLess(np.linalg.norm(found - right) / np.linalg.norm(right), MOST_ERROR)
                    self.assertLessEqual(np.mean(found.argmax(1) != right.argmax(1)), MOST_OTHER_CLASSES)
            self.assertGreaterEqual(built, 2, "the CPU's own engine and that of AVX2 at least")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
