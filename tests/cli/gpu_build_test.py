"""A build on a GPU that finds all tactics in the cache writes the same bytes as the one that timed them, and says what a
cache lacks.

usage: gpu_build_test.py HONE [DEVICE]

DEVICE is cuda unless it is given. Without a GPU: exit code 4, and the reason.
"""
import pathlib
import subprocess
import sys
import tempfile

ENVIRONMENT = 4
MODEL = "squeezenet1_1"


def main():
    hone = sys.argv[1]
    device = sys.argv[2] if len(sys.argv) > 2 else "cuda"
    precision = "fp16" if device == "cuda" else "fp32"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def build(target, *options):
            return subprocess.run([hone, "build", MODEL, "--device", device, "--precision", precision, "--timingCacheFile",
                                   folder / "times.json", "-o", folder / target, *options],
                                  capture_output=True, text=True, check=False)

        timed = build("timed.hone")
        if timed.returncode == ENVIRONMENT and not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
            sys.stdout.write(f"SKIPPED: {timed.stderr}")
            sys.exit(ENVIRONMENT)
        assert timed.returncode == 0, timed.stderr
        cached = build("cached.hone", "--errorOnTimingCacheMiss")
        assert cached.returncode == 0, cached.stderr
        assert (folder / "timed.hone").read_bytes() == (folder / "cached.hone").read_bytes(), "the files differ"
        other = build("other.hone", "--errorOnTimingCacheMiss", "--minShapes", "input:3x3x224x224")
        assert other.returncode == ENVIRONMENT and "the timing cache lacks " in other.stderr, other.stderr
        assert other.stderr.count("\n") == 1 and not (folder / "other.hone").exists(), other.stderr


if __name__ == "__main__":
    main()
