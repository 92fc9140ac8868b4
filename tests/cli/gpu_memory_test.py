"""Where a GPU's memory runs out, each command that uses it ends with one sentence and exit code 4, leaves nothing behind,
on the disk nor on the GPU, and works again once there is room.

usage: gpu_memory_test.py HONE
       gpu_memory_test.py hold MEGABYTES      takes all but so much of the first GPU's memory, says
                                             what is free then and at each line of its input, and ends with that

Without a GPU: exit code 4, and the reason.
"""
import ctypes
import itertools
import pathlib
import subprocess
import sys
import tempfile
import time

from gpu_fault_test import write_image

FAILED = 1
ENVIRONMENT = 4
MODEL = "vgg16"
# CUDA's context takes some 275 (docs/performance/h200.md), the weights of VGG-16 in fp32 553.
ROOMS_MB = (300, 500, 700)
MEGABYTE = 1_000_000


def hold(megabytes):
    driver = ctypes.CDLL("libcuda.so.1")
    context, free, total, memory = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
    for status in (driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), driver.cuCtxSetCurrent(context),
                   driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)),
                   driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(free.value - megabytes * MEGABYTE))):
        if status != 0:
            sys.exit(f"the driver answers {status}")
    # Prints the free memory then, and again at each line.
    for _ in itertools.chain([""], sys.stdin):
        driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        print(free.value, flush=True)


class Holder:
    def __init__(self, megabytes):
        self.process = subprocess.Popen([sys.executable, __file__, "hold", str(megabytes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.before = 0

    def free_bytes(self):
        return int(self.process.stdout.readline())

    def __enter__(self):
        self.before = self.free_bytes()
        return self

    def taken_since(self):
        """Bytes; a process that has ended gives its memory back soon."""
        for _ in range(20):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            taken = self.before - self.free_bytes()
            if taken <= 0:
                break
            time.sleep(0.1)
        return taken

    def __exit__(self, *_):
        self.process.communicate()


def main():
    if sys.argv[1] == "hold":
        return hold(int(sys.argv[2]))
    hone = sys.argv[1]
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        image, engine, made = folder / "image.npy", folder / "model.hone", folder / "made"
        write_image(image)
        build = [hone, "build", MODEL, "--device", "cuda", "--precision", "fp32", "--builderOptimizationLevel", "0"]
        built = subprocess.run([*build, "-o", str(engine)], capture_output=True, text=True, check=False)
        if built.returncode == ENVIRONMENT and not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
            sys.stdout.write(f"SKIPPED: {built.stderr}")
            sys.exit(ENVIRONMENT)
        assert built.returncode == 0, built.stderr
        commands = {"build": [*build, "-o", str(made / "other.hone")],
                    "run": [hone, "run", str(engine), "--input", str(image), "-o", str(made / "out.npz")],
                    "bench": [hone, "bench", MODEL, "--device", "cuda", "--precisions", "fp32", "--batches", "1", "--backends", "hone",
                              "--duration", "0.3", "-o", str(made)]}
        for what, arguments in commands.items():
            refused = 0
            for room in ROOMS_MB:
                made.mkdir(exist_ok=True)
                with Holder(room) as holder:
                    told = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300)
                    if (taken := holder.taken_since()) > 0:
                        failures.append(f"{what}, {room} MB: {taken} bytes of the GPU's memory did not come back")
                print(f"{what}, {room} MB: exit {told.returncode}: {told.stderr.strip()[-300:]}", flush=True)
                sentences = [line for line in told.stderr.splitlines() if line.startswith("hone: ")]
                left = [path.name for path in made.iterdir()]
                if told.returncode == ENVIRONMENT:
                    refused += 1
                    if len(sentences) != 1 or not ("has no room for" in sentences[0] or "memory" in sentences[0]):
                        failures.append(f"{what}, {room} MB: {told.stderr}")
                    # The file of a benchmark reports the failed run.
                    if [name for name in left if not name.endswith(".json")]:
                        failures.append(f"{what}, {room} MB left {left}")
                elif told.returncode != 0:
                    failures.append(f"{what}, {room} MB: exit {told.returncode}: {told.stderr}")
                for path in made.iterdir():
                    path.unlink()
            if refused == 0:
                failures.append(f"{what}: no room was too small")
            again = subprocess.run(arguments, capture_output=True, text=True, check=False)
            for path in made.iterdir():
                path.unlink()
            if again.returncode != 0:
                failures.append(f"{what} after it: exit {again.returncode}: {again.stderr}")
    print("\n".join(failures) or "every shortage ended as it should")
    return sys.exit(FAILED if failures else 0)


if __name__ == "__main__":
    main()
