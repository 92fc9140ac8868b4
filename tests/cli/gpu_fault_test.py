"""A kernel that faults while a command uses the GPU ends it: one sentence, exit code 1, nothing left behind, and the GPU
serves the next command.

usage: gpu_fault_test.py HONE PRELOAD

PRELOAD is the library that lets the kernel fault (tests/device/cuda/fault_preload.cpp). Without a GPU: exit code 4, and the
reason.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

INTERNAL = 1
ENVIRONMENT = 4
SENTENCE = "failed on the GPU, which is a bug of hone: an illegal memory access was encountered"
MODEL = "squeezenet1_1"
SIDE = 224


def write_image(path):
    count = 3 * SIDE * SIDE
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, %d, %d), }" % (SIDE, SIDE)
    header = header.ljust(117) + "\n"
    values = struct.pack(f"<{count}f", *(i % 255 / 255 for i in range(count)))
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values)


def main():
    hone, preload = sys.argv[1:]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        image, engine, mark, made = folder / "image.npy", folder / "model.hone", folder / "mark", folder / "made"
        write_image(image)
        build = [hone, "build", MODEL, "--device", "cuda", "--precision", "fp16"]

        def command(arguments, milliseconds=None):
            environment = dict(os.environ)
            if milliseconds is not None:
                mark.unlink(missing_ok=True)
                environment |= {"LD_PRELOAD": preload, "HONE_TEST_FAULT_MS": str(milliseconds), "HONE_TEST_FAULT_FILE": str(mark)}
            return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120, env=environment)

        built = command([*build, "-o", str(engine)])
        if built.returncode == ENVIRONMENT and not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
            sys.stdout.write(f"SKIPPED: {built.stderr}")
            sys.exit(ENVIRONMENT)
        assert built.returncode == 0, built.stderr

        run = [hone, "run", str(engine), "--input", str(image), "-o", str(made / "out.npz")]
        bench = [hone, "bench", MODEL, "--device", "cuda", "--precisions", "fp16", "--batches", "1", "--backends", "hone", "--duration", "1",
                 "-o", str(made)]
        uncached = [*build, "--timingCacheFile", str(made / "times.json"), "-o", str(made / "other.hone")]
        # A signal that comes later may find the run finished.
        for arguments, moments, may_end in ((run, (0, 20, 100), True), (bench, (0, 200, 1500), False),
                                            (uncached, (0, 700, 3000), False)):
            for milliseconds in moments:
                made.mkdir(exist_ok=True)
                told = command(arguments, milliseconds)
                what = f"{arguments[1]}, {milliseconds} ms"
                print(f"{what}: exit {told.returncode}, {'' if mark.exists() else 'not '}launched: {told.stderr.strip()}")
                ended = may_end and milliseconds > 0 and told.returncode == 0 and told.stderr == "" and (made / "out.npz").exists()
                as_it_should = (mark.exists() and told.returncode == INTERNAL and SENTENCE in told.stderr and
                                [line for line in told.stderr.splitlines() if "hone: " in line] == [told.stderr.splitlines()[-1]] and
                                not list(made.glob("*.npz")) and not list(made.glob("*.hone")))
                failures += not (ended or as_it_should)
                for path in made.iterdir():
                    if not ended and path.name != "times.json":
                        print(f"  left: {path.name}")
                    path.unlink()
                after = command(run[:-2])
                if after.returncode != 0:
                    print(f"  after it: {after.stderr}")
                    failures += 1
    sys.exit(INTERNAL if failures else 0)


if __name__ == "__main__":
    main()
