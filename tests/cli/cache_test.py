"""`hone cache`: lists what is kept, removes what is asked for and nothing else.

usage: cache_test.py HONE MODELS_DIGITS
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HONE, DIGITS = sys.argv[1], str(pathlib.Path(sys.argv[2]) / "digits.onnx")
USAGE = 2


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "cache")

        def hone(*arguments, code=0):
            ending = subprocess.run([HONE, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300,
                                    env={**os.environ, "HONE_CACHE_DIR": str(folder)})
            assert ending.returncode == code, f"{arguments}: {ending.returncode}: {ending.stdout}{ending.stderr}"
            return ending.stdout + ending.stderr

        assert "Nothing is kept." in hone("cache")
        hone("build", DIGITS, "-o", pathlib.Path(name, "a.hone"), "--threads", "1")
        toolkit, own = folder / "cuda-13.0" / "bin", folder / "notes.txt"
        toolkit.mkdir(parents=True)
        (toolkit / "nvcc").write_text("x" * 1000)
        own.write_text("not of hone")
        listed = hone("cache")
        assert "timings" in listed and "1.000 kB  toolkit" in listed and "notes" not in listed, listed
        assert list(folder.glob("timings-*"))
        assert f"from {folder}" in hone("cache", "clear")
        assert not list(folder.glob("timings-*")) and (toolkit / "nvcc").exists() and own.exists()
        hone("cache", "clear", "toolkit")
        assert not toolkit.exists() and own.exists()
        assert "Nothing is kept." in hone("cache")
        hone("cache", "clear", "everything", code=USAGE)
        hone("cache", "empty", code=USAGE)


if __name__ == "__main__":
    main()
