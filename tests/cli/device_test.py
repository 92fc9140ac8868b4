"""What `--device` says where it cannot be followed: no GPU, no plugin, an unknown name, a precision or a backend
that the device does not have.

usage: device_test.py HONE MODELS_DIGITS HAS_CUDA_PLUGIN FAKE_DRIVER_FOLDER TORCH_HAS_CUDA
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import numpy as np

USAGE, ENVIRONMENT = 2, 4
HONE, DIGITS, FAKE_DRIVER = pathlib.Path(), pathlib.Path(), pathlib.Path()
HAS_PLUGIN = False
TORCH_HAS_CUDA = False
NO_DRIVER = "no NVIDIA driver is loaded on this machine, so nothing can run on a GPU"


def has_gpu():
    return os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg")


class Device(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        # One conformance case; it is not run, so its files may be empty.
        case = self.folder / "cases" / "test_relu"
        (case / "test_data_set_0").mkdir(parents=True)
        (case / "model.onnx").touch()
        np.save(self.folder / "x.npy", np.zeros((1, 1, 8, 8), np.float32))

    def commands(self, backend="hone", precision="fp32"):
        """Every command that runs a model; `bench` in a way that ends soon."""
        model, out = DIGITS / "digits.onnx", self.folder / "out"
        return {"build": ["build", model, "--noTimingCache", "-o", out],
                "run": ["run", model, "--input", self.folder / "x.npy", "-o", self.folder / "out.npz"],
                "inspect": ["inspect", model, "--noTimingCache"],
                "conformance": ["conformance", self.folder / "cases", "--backend", backend],
                "bench": ["bench", model, "--backends", "hone", "--batches", 1, "--precisions", precision,
                          "-o", out]}

    def fails(self, code, part, *command, hone=None, as_row=False, **environment):
        """One sentence with `part`, and nothing is written; or a row of `bench` that fails with it."""
        command = list(map(str, [hone or HONE, *command]))
        done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, **{name: str(value) for name, value in environment.items()}))
        self.assertEqual(done.returncode, code, f"{command}: {done.stderr}")
        if as_row:
            self.assertIn("FAILED: " + part, done.stdout)
            self.assertIn("hone: no configuration could be measured", done.stderr)
            return
        self.assertIn(part, done.stderr, command)
        self.assertEqual(done.stderr.splitlines()[0], done.stderr.strip(), command)
        self.assertTrue(done.stderr.startswith("hone: "), command)
        self.assertFalse((self.folder / "out").exists() or (self.folder / "out.npz").exists(), command)

    def skip(self, reason):
        """Said on a line of its own, which ./check repeats."""
        print(f"\nSKIPPED {self.id()}: {reason}", flush=True)
        self.skipTest(reason)

    def commands_without_a_gpu(self):
        """Skips the test where they would find a GPU, or no plugin that looks for one."""
        if not HAS_PLUGIN:
            self.skip("this build has no cuda plugin")
        if has_gpu():
            self.skip("this machine has a GPU")
        return {**self.commands(), "profile": ["profile", DIGITS / "digits.onnx", "-o", self.folder / "out"]}

    def test_cuda_without_a_gpu(self):
        commands = self.commands_without_a_gpu()
        for name, command in commands.items():
            with self.subTest(name):
                self.fails(ENVIRONMENT, NO_DRIVER, *command, "--device", "cuda")

    def test_every_ordinal_is_understood(self):
        """Of a GPU that may be there, what is missing is said before how many there are."""
        commands = self.commands_without_a_gpu()
        for name, command in commands.items():
            for device in ("cuda:0", "cuda:1", "cuda:7"):
                with self.subTest(name, device=device):
                    self.fails(ENVIRONMENT, NO_DRIVER, *command, "--device", device)

    def test_what_names_no_device(self):
        garbage = "names no GPU: cuda:0 is the first one, cuda:1 the second"
        unknown = "(cpu, cuda, cuda:1)"
        cases = {"cuda:": garbage, "cuda:x": garbage, "cuda:-1": garbage, "cuda:01": garbage, "cuda:1,2": garbage,
                 "cuda:99999999999": garbage, "cpu:0": unknown, "tpu": unknown, "CUDA:": garbage,
                 "": "--device: Value is empty"}
        commands = self.commands()
        commands["profile"] = ["profile", DIGITS / "digits.onnx", "-o", self.folder / "out"]
        commands["backends"] = ["backends"]
        for name, command in commands.items():
            for device, sentence in cases.items():
                with self.subTest(name, device=device):
                    self.fails(USAGE, sentence, *command, "--device", device)

    def test_the_first_gpu_has_one_name_in_tables(self):
        done = subprocess.run([HONE, "backends", "--device", "cuda:0"], capture_output=True, text=True, check=False)
        rows = dict(line.split(None, 1) for line in done.stdout.splitlines())
        self.assertEqual(rows["reference"], "not available: the backend reference runs on the CPU, not on cuda")
        done = subprocess.run([HONE, "backends", "--device", "cuda:1"], capture_output=True, text=True, check=False)
        rows = dict(line.split(None, 1) for line in done.stdout.splitlines())
        self.assertEqual(rows["reference"], "not available: the backend reference runs on the CPU, not on cuda:1")

    def test_backends_of_a_gpu(self):
        done = subprocess.run([HONE, "backends", "--device", "cuda"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = dict(line.split(None, 1) for line in done.stdout.splitlines())
        self.assertEqual(rows["reference"], "not available: the backend reference runs on the CPU, not on cuda")
        if HAS_PLUGIN and not has_gpu():
            self.assertEqual(rows["hone"], "not available: " + NO_DRIVER)

    def test_a_driver_that_cannot_be_used(self):
        if not HAS_PLUGIN:
            self.skip("this build has no cuda plugin")
        cases = [
            ({"FAKE_CUDA_VERSION": 12020}, "the NVIDIA driver is for CUDA 12.2, this build needs a driver for CUDA "),
            ({"FAKE_CUDA_INIT": 100}, "this machine has no NVIDIA GPU"),
            ({"FAKE_CUDA_INIT": 100, "CUDA_VISIBLE_DEVICES": ""}, "no NVIDIA GPU is visible: CUDA_VISIBLE_DEVICES is ''"),
            # A library and a kernel module of different drivers, a GPU that does not answer, a driver that lacks functions.
            ({"FAKE_CUDA_INIT": 803}, "the NVIDIA driver gives no access to a GPU: "),
            ({"FAKE_CUDA_INIT": 999}, "the NVIDIA driver gives no access to a GPU: "),
            ({"FAKE_CUDA_INIT": 0}, "the NVIDIA driver gives no access to a GPU: ")]
        for settings, sentence in cases:
            with self.subTest(**settings):
                self.fails(ENVIRONMENT, sentence, *self.commands()["inspect"], "--device", "cuda",
                           LD_LIBRARY_PATH=FAKE_DRIVER, **settings)

    def copy_tree(self):
        """The program, its library and the manifests of plugins, as an installed tree has them."""
        tree = self.folder / "tree"
        built = HONE.parent.parent
        for file in (HONE, built / "lib/libhone.so.0", *built.glob("lib/libhone-*.json")):
            copy = tree / file.relative_to(built)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        return tree

    def test_a_plugin_that_cannot_load(self):
        if not HAS_PLUGIN:
            self.skip("this build has no cuda plugin")
        tree = self.copy_tree()
        plugin = tree / "lib/libhone-cuda.so"
        shutil.copy(HONE.parent.parent / "lib/libhone-cuda.so", plugin)
        advice = "(install the CUDA 13 runtime with cuDNN 9, then configure and build hone again)"
        for library in ("libcudnn.so.9", "libcublasLt.so.13", "libnvrtc.so.13"):
            # The loader looks beside the plugin first: a file that is no library is as good as none.
            broken = tree / "lib" / library
            broken.touch()
            with self.subTest(library):
                sentence = f"the plugin libhone-cuda.so cannot be loaded: {broken}: file too short {advice}"
                self.fails(ENVIRONMENT, sentence, *self.commands()["inspect"], "--device", "cuda",
                           hone=tree / "bin/hone")
            broken.unlink()
        plugin.write_bytes(b"no library")
        with self.subTest("plugin"):
            self.fails(ENVIRONMENT, "the plugin libhone-cuda.so cannot be loaded: ", *self.commands()["inspect"],
                       "--device", "cuda", hone=tree / "bin/hone")

    def test_an_engine_for_a_gpu_where_there_is_none(self):
        if not HAS_PLUGIN:
            self.skip("this build has no cuda plugin")
        if has_gpu():
            self.skip("this machine has a GPU")
        mine, moved = self.folder / "mine.hone", self.folder / "moved.hone"
        subprocess.run([HONE, "build", DIGITS / "digits.onnx", "--builderOptimizationLevel", "0", "-o", mine], check=True,
                       stdout=subprocess.DEVNULL)
        content = bytearray(mine.read_bytes())
        length, = struct.unpack_from("<Q", content, 16)
        header = content[24:24 + length].decode()
        old = json.loads(header)["places"][0]["fingerprint"]
        new = "cuda; NVIDIA H200; sm 9.0".ljust(len(old), " ")[:len(old)]
        content[24:24 + length] = header.replace(old, new).encode()
        struct.pack_into("<I", content, 12, zlib.crc32(content[16:]))
        moved.write_bytes(content)
        self.fails(ENVIRONMENT, f"hone: {moved}: {NO_DRIVER}", "run", moved, "--input", self.folder / "x.npy")

    def test_a_damaged_manifest(self):
        """It is named by what asks for something of its plugin, and by nothing else."""
        tree = self.copy_tree()
        hone, commands, out = tree / "bin/hone", self.commands(), self.folder / "out"
        cuda, torch = tree / "lib/libhone-cuda.json", tree / "lib/libhone-torch.json"
        bench = ["bench", DIGITS / "digits.onnx", "--batches", 1, "-o", out]
        sentences = {}
        for manifest in (cuda, torch):
            manifest.write_text("{")
            sentences[manifest] = f"{manifest} is damaged: it is no JSON; install hone again"
        for command in (["--help"], ["bench", "--help"], ["passes"], commands["build"]):
            done = subprocess.run(list(map(str, [hone, *command])), capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        out.unlink()
        done = subprocess.run([hone, "backends"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = dict(line.split(None, 1) for line in done.stdout.splitlines())
        self.assertEqual(rows["libhone-cuda"], "not available: " + sentences[cuda])
        self.assertEqual(rows["libhone-torch"], "not available: " + sentences[torch])
        self.assertNotIn("not available", rows["hone"])
        self.fails(ENVIRONMENT, sentences[cuda], *commands["build"], "--device", "cuda", hone=hone)
        self.fails(ENVIRONMENT, sentences[cuda], *bench, hone=hone)
        cuda.unlink()
        self.fails(ENVIRONMENT, sentences[torch], *commands["run"], "--backend", "torch", hone=hone)
        self.fails(ENVIRONMENT, sentences[torch], *bench, "--backends", "torch", hone=hone)

    def test_a_missing_manifest(self):
        tree = self.copy_tree()
        (tree / "lib/libhone-cuda.json").unlink()
        if not has_gpu():
            self.fails(ENVIRONMENT, "names a plugin for cuda; install hone again", *self.commands()["build"],
                       "--device", "cuda", hone=tree / "bin/hone")

    def test_cuda_without_the_plugin(self):
        tree = self.copy_tree()
        sentence = (f"the plugin libhone-cuda.so is not installed (cmake --install BUILD --prefix {tree} --component cuda "
                    "adds it where hone was built with it, which takes: install the CUDA 13 runtime with cuDNN 9, then "
                    "configure and build hone again)")
        for name, command in self.commands().items():
            with self.subTest(name):
                # Without a driver `bench` ends before it measures; else only the backend is missing.
                early = name == "bench" and not has_gpu()
                self.fails(ENVIRONMENT, NO_DRIVER if early else sentence, *command, "--device", "cuda",
                           hone=tree / "bin/hone", as_row=name == "bench" and not early)

    def test_a_precision_that_the_cpu_has_not(self):
        for name in ("build", "run", "inspect", "conformance"):
            for precision in ("fp16", "tf32"):
                with self.subTest(name, precision=precision):
                    sentence = f"the device cpu does not run in {precision}; choose one of fp32, bf16"
                    self.fails(ENVIRONMENT, sentence, *self.commands()[name], "--device", "cpu", "--precision", precision)
            with self.subTest(name, precision="int8"):
                self.fails(USAGE, "int8 needs ranges", *self.commands()[name], "--device", "cpu", "--precision", "int8")
        self.fails(ENVIRONMENT, "the device cpu does not run in fp16", *self.commands(precision="fp16")["bench"],
                   as_row=True)

    def test_a_backend_of_the_cpu(self):
        backends = ["reference"]
        if (HONE.parent.parent / "lib/libhone-torch.so").exists() and not (TORCH_HAS_CUDA and has_gpu()):
            backends += ["torch", "torchscript"]
        for backend in backends:
            with self.subTest(backend):
                commands = self.commands(backend)
                if backend == "reference":
                    sentence = "the backend reference runs on the CPU, not on cuda"
                elif TORCH_HAS_CUDA:
                    # It says what its own search for a GPU found.
                    sentence = f"the backend {backend} cannot use cuda: "
                else:
                    sentence = f"the backend {backend} cannot run on cuda: this libtorch ("
                self.fails(ENVIRONMENT, sentence, *commands["run"], "--backend", backend, "--device", "cuda")
                if backend == "reference" or not TORCH_HAS_CUDA:
                    self.fails(ENVIRONMENT, sentence, *commands["conformance"], "--device", "cuda")


if __name__ == "__main__":
    HONE, DIGITS, FAKE_DRIVER = (pathlib.Path(sys.argv[i]).resolve() for i in (1, 2, 4))
    HAS_PLUGIN, TORCH_HAS_CUDA = (sys.argv[i] == "1" for i in (3, 5))
    unittest.main(argv=sys.argv[:1], verbosity=2)
