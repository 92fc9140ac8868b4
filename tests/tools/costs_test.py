"""Times of tests, which ./check keeps: ctest of a new checkout begins with the test that took longest in another."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools/test_costs.sh"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(costs NONE)
enable_testing()
add_test(NAME short COMMAND sleep 0.01)
add_test(NAME long COMMAND sleep 0.5)
"""


def first_test(folder, checkout):
    """Runs the tests of a new checkout as ./check does; returns the name of the first."""
    source = folder / checkout
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT)
    subprocess.run(["cmake", "-S", source, "-B", source / "build"], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["bash", "-euc", f'build={source}/build; source {SCRIPT}; recall_costs; '
                           'ctest --test-dir "$build" -j 2; keep_costs'], check=True, capture_output=True, text=True,
                          env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")})
    return re.search(r"Start +\d+: (\w+)", done.stdout)[1]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert first_test(folder, "a") == "short"
        assert first_test(folder, "b") == "long"
        # A cache that cannot be written is no reason to fail.
        (folder / "cache/hone/test_costs.txt").unlink()
        (folder / "cache/hone").rmdir()
        (folder / "cache/hone").write_text("")
        assert first_test(folder, "c") == "short"


if __name__ == "__main__":
    main()
