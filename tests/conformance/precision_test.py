"""What other precisions than fp32 are compared with: the reference on rounded inputs, not what a case stores. And
that the cases leave nothing in the user's timing cache.

usage: precision_test.py HONE CASES
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generate_cases

PASSED, FAILED = 0, 5


def ending(hone: str, folder: pathlib.Path, precision: str) -> int:
    command = [hone, "conformance", str(folder), "--backend", "hone", "--precision", precision]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    hone, cases = sys.argv[1], pathlib.Path(sys.argv[2])
    generate_cases.generate(cases)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "cases"
        cache = pathlib.Path(scratch) / "cache"
        os.environ["HONE_CACHE_DIR"] = str(cache)
        shutil.copytree(cases / "node" / "test_exp", folder / "node" / "test_exp")
        assert ending(hone, folder, "fp32") == PASSED and ending(hone, folder, "bf16") == PASSED
        stored = folder / "node" / "test_exp" / "test_data_set_0"
        shutil.copy(stored / "input_0.pb", stored / "output_0.pb")
        assert ending(hone, folder, "fp32") == FAILED, "fp32 is not compared with the stored output"
        assert ending(hone, folder, "bf16") == PASSED, "bf16 is compared with the stored output"
        assert not list(cache.rglob("*.json")), "the cases fill the timing cache"
        # An integer made of a value that bf16 rounds: off by one, and seen.
        name = "test_dynamicquantizelinear_expanded"
        shutil.copytree(cases / "node" / name, folder / "other" / name)
        assert ending(hone, folder / "other", "fp32") == PASSED
        assert ending(hone, folder / "other", "bf16") == FAILED, "a difference passes in bf16"


if __name__ == "__main__":
    main()
