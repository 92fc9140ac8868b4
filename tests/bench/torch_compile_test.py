#!/usr/bin/python3
"""The peer torch_compile on a machine without a GPU: its network is hone's, and what is missing is one sentence.

usage: torch_compile_test.py HONE

PyTorch 1.13 has no torch.compile, so the tests of the whole protocol put one in its place that compiles nothing.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
PEER = HERE.parent.parent / "bench" / "peers" / "torch_compile"
sys.path[:0] = [str(PEER), str(HERE.parent / "zoo")]
import weights  # noqa: E402
from failure import WorkerError  # noqa: E402
from torchvision_test import tolerance  # noqa: E402

HONE = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
HAS_COMPILER = hasattr(torch, "compile")


def worker_module():
    """The worker's own file, which has no suffix."""
    loader = importlib.machinery.SourceFileLoader("torch_compile_worker", str(PEER / "worker"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def keep_first_input(network, **_options):
    """What a compiler that takes its first input for a constant makes of a network."""
    kept = []

    def compiled(image):
        kept.append(image.clone())
        return network(kept[0])
    return compiled


@contextlib.contextmanager
def compiler_that_compiles_nothing(compile_network=lambda network, **options: network):
    dynamo = types.SimpleNamespace(mark_static_address=lambda tensor: None)
    inductor = types.SimpleNamespace(config=types.SimpleNamespace())
    modules = {"torch._inductor": inductor, "torch._inductor.config": inductor.config}
    with mock.patch.dict(sys.modules, modules), \
            mock.patch.multiple(torch, create=True, compile=compile_network, _dynamo=dynamo,
                                _inductor=inductor):
        yield


class TorchCompile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def hone(self, *arguments):
        done = subprocess.run([HONE, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def exported(self, name):
        path = self.folder / f"{name}.onnx"
        if not path.exists():
            self.hone("export", name, "-o", path)
        return path

    def test_the_network_is_hones(self):
        images = torch.rand(1, 3, 224, 224, generator=torch.Generator().manual_seed(3)) * 4 - 2
        np.save(self.folder / "input.npy", images.numpy())
        for name in ("resnet18", "mobilenet_v2", "squeezenet1_1", "densenet121", "efficientnet_b0"):
            with self.subTest(name):
                path = self.exported(name)
                network = weights.build(path)
                with torch.no_grad():
                    expected = network(images).numpy()
                self.hone("run", path, "--input", self.folder / "input.npy", "-o", self.folder / "output.npz")
                actual = np.load(self.folder / "output.npz")["output"]
                error = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
                self.assertLess(error, tolerance(module.weight[0].numel() for module in network.modules()
                                                 if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear))))

    def refusal(self, path):
        with self.assertRaises(WorkerError) as caught:
            weights.build(path)
        self.assertEqual(caught.exception.kind, "bad input")
        return str(caught.exception)

    def test_other_files_are_refused(self):
        whole = self.exported("squeezenet1_1").read_bytes()
        path = self.folder / "other.onnx"
        for size in (3, 1000, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:size])
            self.assertIn("other.onnx", self.refusal(path))
        path.write_bytes(whole.replace(b"squeezenet1_1", b"squeezenet1_9"))
        self.assertIn("'squeezenet1_9' is none of them", self.refusal(path))
        path.write_bytes(whole.replace(b"classifier.1.bias", b"classifier.1.bIas"))
        self.assertIn("no initializer 'classifier.1.bias' of shape [1000]", self.refusal(path))
        path.write_bytes(b"")
        self.assertIn("'' is none of them", self.refusal(path))

    def load_request(self, **changes):
        sets = np.random.default_rng(5).standard_normal((2, 1, 3, 224, 224), np.float32)
        (self.folder / "sets.bin").write_bytes(sets.tobytes())
        request = {"id": 2, "type": "load", "model": "resnet18", "onnx": str(self.exported("resnet18")),
                   "precision": "fp32", "threads": 1, "device": "cpu", "includes_transfers": False,
                   "inputs": [{"name": "input", "dtype": "float32", "shape": [1, 3, 224, 224],
                               "file": str(self.folder / "sets.bin"), "offsets": [0, sets[0].nbytes]}]}
        return {**request, **changes}

    def answers(self, *requests, backend="torch_compile"):
        lines = [{"id": 1, "type": "hello", "protocol": 1, "backend": backend}, *requests, {"id": 99, "type": "quit"}]
        output = io.StringIO()
        with mock.patch("sys.stdin", io.StringIO("".join(json.dumps(line) + "\n" for line in lines))), \
                mock.patch("sys.stdout", output):
            module = worker_module()
            module.serve(module.Worker())
        return [json.loads(line) for line in output.getvalue().splitlines()]

    def test_the_whole_protocol(self):
        with compiler_that_compiles_nothing():
            hello, loaded, sample, accuracy, memory = self.answers(
                self.load_request(), {"id": 3, "type": "sample", "runs": 3, "seconds": 100},
                {"id": 4, "type": "accuracy", "sets": [1, 0], "folder": str(self.folder)}, {"id": 5, "type": "memory"},
                backend="torch_compile_max")
        self.assertEqual(loaded["type"], "load", loaded)
        self.assertEqual((hello["protocol"], hello["backend"], hello["version"]),
                         (1, "torch_compile_max", torch.__version__))
        self.assertEqual(loaded["notes"], ["torch.compile, mode max-autotune, frozen weights"])
        self.assertEqual(len(sample["latencies_ms"]), 3)
        self.assertGreaterEqual(sample["wall_ms"], sum(sample["latencies_ms"]) * 0.999)
        self.assertEqual(memory["weights"], 46796608)  # 11.7 million parameters, statistics and counters of 20 norms
        network = weights.build(self.exported("resnet18"))
        sets = torch.from_numpy(np.fromfile(self.folder / "sets.bin", np.float32).reshape(2, 1, 3, 224, 224))
        for index, outputs in zip((1, 0), accuracy["outputs"]):
            self.assertEqual(outputs[0]["shape"], [1, 1000])
            with torch.no_grad():
                expected = network(sets[index]).numpy()
            self.assertEqual(np.fromfile(outputs[0]["file"], np.float32).tobytes(), expected.tobytes())

    @contextlib.contextmanager
    def gpu_that_is_none(self, evict):
        """A GPU's part played by the CPU: what is asked of it comes back as the host's time."""
        import network
        import phases

        def host_ms(work):
            start = time.perf_counter()
            work()
            return 1e3 * (time.perf_counter() - start)
        with mock.patch.object(network, "find_device", lambda name, precision: torch.device("cpu")), \
                mock.patch.object(phases, "device_ms", host_ms), \
                mock.patch.object(phases, "bus_id", lambda device: "0000:1b:00.0"), \
                mock.patch.object(phases, "CacheEviction", lambda device: evict), \
                mock.patch.object(torch.Tensor, "pin_memory", lambda tensor: tensor):
            yield

    def test_the_parts_of_a_run_and_cold_caches_on_a_gpu(self):
        evict = mock.Mock(side_effect=lambda: time.sleep(0.2))
        with compiler_that_compiles_nothing(), self.gpu_that_is_none(evict):
            _, loaded, sample, phases = self.answers(
                self.load_request(device="cuda", cold_l2=True), {"id": 3, "type": "sample", "runs": 3, "seconds": 100},
                {"id": 4, "type": "phases", "seconds": 0})
            self.assertEqual(evict.call_count, 4)
            warm = self.answers(self.load_request(device="cuda"), {"id": 4, "type": "phases", "seconds": 0.5})
        self.assertEqual((loaded["features"], loaded["bus_id"]), (["phases", "cold_l2"], "0000:1b:00.0"), loaded)
        self.assertLess(sample["wall_ms"] - sum(sample["latencies_ms"]), 500, "600 ms went by in evictions")
        self.assertEqual(warm[1]["features"], ["phases"])
        self.assertEqual(evict.call_count, 4)
        for answer, runs in ((phases, 1), (warm[2], 2)):
            for part in ("h2d_ms", "enqueue_ms", "device_ms", "d2h_ms"):
                self.assertGreaterEqual(len(answer[part]), runs)
                self.assertEqual(len(answer[part]), len(answer["device_ms"]))
            self.assertGreater(min(answer["device_ms"]), max(answer["d2h_ms"]), "a network takes longer than a copy")

    def test_a_network_that_keeps_its_first_input_is_seen(self):
        with compiler_that_compiles_nothing(keep_first_input):
            accuracy = self.answers(self.load_request(),
                                    {"id": 4, "type": "accuracy", "sets": [0], "folder": str(self.folder)})[2]
        network = weights.build(self.exported("resnet18"))
        first = torch.from_numpy(np.fromfile(self.folder / "sets.bin", np.float32)[:3 * 224 * 224]).view(1, 3, 224, 224)
        with torch.no_grad():
            expected = network(first).numpy()
        actual = np.fromfile(accuracy["outputs"][0][0]["file"], np.float32)
        self.assertGreater(np.linalg.norm(actual - expected) / np.linalg.norm(expected), 0.01)

    def test_what_cannot_run_is_one_sentence(self):
        cases = [({"precision": "fp16"}, "this peer runs in fp32, bf16 on cpu, not in fp16"),
                 ({"device": "tpu"}, "this peer runs on cpu and cuda, not on tpu"),
                 ({"onnx": None}, "there is no ONNX file of this model")]
        if not torch.cuda.is_available():
            cases.append(({"device": "cuda"}, f"PyTorch {torch.__version__} finds no NVIDIA GPU"))
        with compiler_that_compiles_nothing():
            for changes, sentence in cases:
                answer = self.answers(self.load_request(**changes))[1]
                self.assertEqual((answer["type"], answer["message"]), ("error", sentence))

    @unittest.skipIf(HAS_COMPILER, "this PyTorch has torch.compile")
    def test_a_pytorch_without_a_compiler_says_so(self):
        for peer in ("torch_compile", "torch_compile_max"):
            done = subprocess.run([PEER.parent / peer / "worker"], text=True, capture_output=True, timeout=60,
                                  input=json.dumps({"id": 1, "type": "hello", "protocol": 1, "backend": peer}) + "\n",
                                  env={**os.environ, "PATH": "/usr/bin:/bin"})
            answer = json.loads(done.stdout)
            self.assertEqual((answer["type"], answer["kind"]), ("error", "environment"))
            self.assertIn(f"torch.compile came with PyTorch 2.0, and this is {torch.__version__}", answer["message"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
