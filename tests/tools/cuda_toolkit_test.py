"""tools/cuda_toolkit.py with a stand-in for pip, which "downloads" small packages: nothing is fetched."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Writes the packages of CUDA in little, as the real ones lie; FAKE_PIP says what else happens.
PIP = '''
import os, sys, time, zipfile
if "--version" in sys.argv:
    sys.exit(0)
folder = sys.argv[sys.argv.index("--dest") + 1]
lines = open(sys.argv[sys.argv.index("--requirement") + 1]).read().splitlines()
assert "--require-hashes" in sys.argv and all("--hash=sha256:" in line for line in lines), lines
open(os.environ["PIP_LOG"], "a").write("called\\n")
if os.environ.get("FAKE_PIP") == "fail":
    sys.exit("ERROR: no matching distribution found for nvidia-cublas")
if os.environ.get("FAKE_PIP") == "hang":
    time.sleep(60)
os.makedirs(folder)
files = {"nvidia_nvcc": ["nvidia/cu13/bin/nvcc", "nvidia/cu13/include/cuda.h", "nvidia/cu13/lib/libcudart.so.13",
                         "nvidia/cu13/lib/libnvtx3interop.so.1", "nvidia/cu13/nvvm/bin/cicc", "nvidia_nvcc-1.dist-info/METADATA",
                         "nvidia_nvcc-1.dist-info/licenses/License.txt"],
         "nvidia_cudnn": ["nvidia/cudnn/include/cudnn.h", "nvidia/cudnn/lib/libcudnn.so.9"]}
for name, paths in files.items():
    with zipfile.ZipFile(f"{folder}/{name}-1-py3-none-any.whl", "w") as archive:
        for path in paths:
            archive.writestr(path, path)
'''


class CudaToolkit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "modules/pip").mkdir(parents=True)
        (self.folder / "modules/pip/__init__.py").touch()
        (self.folder / "modules/pip/__main__.py").write_text(PIP)
        self.cache = self.folder / "cache"
        self.log = self.folder / "calls"

    def environment(self, pip):
        return {**os.environ, "PYTHONPATH": str(self.folder / "modules"), "XDG_CACHE_HOME": str(self.cache),
                "PIP_LOG": str(self.log), "FAKE_PIP": pip}

    def run_tool(self, *arguments, pip=""):
        done = subprocess.run([sys.executable, ROOT / "tools/cuda_toolkit.py", *arguments], capture_output=True, text=True,
                              env=self.environment(pip))
        return done.returncode, done.stdout, done.stderr

    def test_makes_a_toolkit_once(self):
        code, output, errors = self.run_tool()
        self.assertEqual(code, 0, errors)
        toolkit = Path(output.strip())
        self.assertEqual(toolkit.parent, self.cache / "hone")
        self.assertTrue(os.access(toolkit / "bin/nvcc", os.X_OK) and os.access(toolkit / "nvvm/bin/cicc", os.X_OK))
        for link, target in (("lib/libcudart.so", "libcudart.so.13"), ("lib/libcudnn.so", "libcudnn.so.9"), ("lib64", "lib"),
                             ("lib/libnvToolsExt.so", "libnvtx3interop.so.1")):
            self.assertEqual(os.readlink(toolkit / link), target)
        self.assertTrue((toolkit / "include/cudnn.h").is_file() and (toolkit / "licences/nvidia_nvcc.txt").is_file())
        self.assertEqual([path.name for path in (self.cache / "hone").iterdir()], [toolkit.name])
        self.assertEqual(self.run_tool(), (0, output, ""))
        self.assertEqual(self.log.read_text(), "called\n")

    def test_says_where_without_making_it(self):
        code, output, _ = self.run_tool("--where")
        self.assertEqual((code, Path(output.strip()).parent), (1, self.cache / "hone"))
        self.run_tool()
        self.assertEqual(self.run_tool("--where"), (0, output, ""))

    def test_a_download_that_fails_leaves_nothing(self):
        code, output, errors = self.run_tool(pip="fail")
        self.assertEqual((code, output), (4, ""))
        self.assertIn("could not be downloaded: ERROR: no matching distribution found for nvidia-cublas\n", errors)
        self.assertEqual(list((self.cache / "hone").iterdir()), [])

    def test_a_signal_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            child = subprocess.Popen([sys.executable, ROOT / "tools/cuda_toolkit.py"], env=self.environment("hang"),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.log.unlink(missing_ok=True)
            while not self.log.exists():
                time.sleep(0.01)
            child.send_signal(number)
            _, errors = child.communicate(timeout=30)
            self.assertEqual(child.returncode, 128 + number)
            self.assertNotIn("Traceback", errors)
            self.assertEqual(list((self.cache / "hone").iterdir()), [])

    def test_a_cache_that_cannot_be_written(self):
        self.cache.write_text("a file")
        code, output, errors = self.run_tool()
        self.assertEqual((code, output), (4, ""))
        self.assertIn("set XDG_CACHE_HOME to a folder that can be written", errors)
        self.assertEqual(errors.count("\n"), 1)

    def test_unknown_arguments(self):
        code, output, errors = self.run_tool("--help")
        self.assertEqual((code, output), (2, ""))
        self.assertIn("usage: cuda_toolkit.py", errors)


class Build(unittest.TestCase):
    """What ./hone says where a driver is there and no toolkit."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "build/release").mkdir(parents=True)
        (self.root / "tools").mkdir()
        for name in ("tools/bootstrap.sh", "python-packages.txt"):
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "fakes").mkdir()

    def offer(self, cache, driver):
        (self.root / "build/release/CMakeCache.txt").write_text(cache)
        if driver:
            (self.root / "fakes/nvidia-smi").write_text("#!/bin/sh\n")
            (self.root / "fakes/nvidia-smi").chmod(0o755)
        script = f'root="{self.root}"; source "$root/tools/bootstrap.sh"; offer_cuda_toolkit OFF'
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": f"{self.root}/fakes:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        return done.stderr

    def test_it_is_offered_where_a_driver_is_and_a_part_is_missing(self):
        for missing in ("HONE_NVCC:FILEPATH=HONE_NVCC-NOTFOUND\n", "CUDNN_LIBRARY:FILEPATH=CUDNN_LIBRARY-NOTFOUND\n"):
            said = self.offer(missing, driver=True)
            self.assertIn("hone is being built without its GPU half", said)
            self.assertIn("tools/cuda_toolkit.py", said)

    def test_it_is_not_offered_where_nothing_is_missing(self):
        self.assertEqual(self.offer("HONE_NVCC:FILEPATH=/usr/local/cuda/bin/nvcc\n", driver=True), "")

    @unittest.skipIf(os.path.exists("/proc/driver/nvidia/version") or shutil.which("nvidia-smi"), "this machine has a driver")
    def test_it_is_not_offered_without_a_driver(self):
        self.assertEqual(self.offer("HONE_NVCC:FILEPATH=HONE_NVCC-NOTFOUND\n", driver=False), "")


if __name__ == "__main__":
    unittest.main()
