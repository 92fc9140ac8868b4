#!/usr/bin/python3
"""The peers torch_tensorrt and onnxruntime_cuda without a GPU: what is missing is one sentence, and the dry-run report is read.

usage: torch_tensorrt_test.py
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

PEERS = pathlib.Path(__file__).resolve().parent.parent.parent / "bench" / "peers"

REPORT = """
++++++++++++++++++++ Dry-Run Results for Graph ++++++++++++++++++++

The graph consists of 160 Total Operators, of which 157 operators are supported, 98.12% coverage

The following ops are currently unsupported or excluded from conversion, and are listed with their op-count in the graph:
 torch.ops.aten.nonzero.default: 1
 torch.ops.aten.sort.default: 2

The following nodes are currently set to run in Torch:
Node: torch.ops.aten.relu.default, with layer location: __/layer1/relu
Note: Some of the above nodes may be supported, but were not included in a TRT graph by the partitioner

Compiled with: CompilationSettings(enabled_precisions={<dtype.f16: 6>}, min_block_size=5)

  Graph Structure:

   Inputs: List[Tensor: (1, 3, 224, 224)@float16]
    ...
    TRT Engine #1 - Submodule name: _run_on_acc_0
     Engine Inputs: List[Tensor: (1, 3, 224, 224)@float16]
     Number of Operators in Engine: 100
     Engine Outputs: Tensor: (1, 64, 56, 56)@float16
    ...
    TRT Engine #2 - Submodule name: _run_on_acc_2
     Engine Inputs: List[Tensor: (1, 64, 56, 56)@float16]
     Number of Operators in Engine: 56
     Engine Outputs: Tensor: (1, 1000)@float16
    ...
   Outputs: List[Tensor: (1, 1000)@float16]

  ------------------------- Aggregate Stats -------------------------

   Average Number of Operators per TRT Engine: 78.0
   Most Operators in a TRT Engine: 100

  ********** Recommendations **********

   - For minimal graph segmentation, select min_block_size=100 which would generate 1 TRT engine(s)
   - The current level of graph segmentation is equivalent to selecting min_block_size=5 which generates 2 TRT engine(s)
"""


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answers(peer, *requests, folder=None):
    """Of a worker whose Python packages are those of `folder` alone."""
    lines = [json.dumps({"id": i, **request}) for i, request in enumerate(requests)]
    code = f"import sys; sys.path[1:1] = [{str(folder)!r}]; sys.argv = [{str(PEERS / peer / 'worker')!r}]; " \
           "import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Report(unittest.TestCase):
    def setUp(self):
        self.report = load("report", PEERS / "torch_tensorrt" / "report.py")

    def test_numbers_are_those_of_the_text(self):
        found = self.report.parse(REPORT)
        self.assertEqual((found["total"], found["supported"]), (160, 157))
        self.assertEqual(found["engines"], {"_run_on_acc_0": 100, "_run_on_acc_2": 56})
        self.assertEqual(found["unsupported"], {"torch.ops.aten.nonzero.default": 1, "torch.ops.aten.sort.default": 2})
        self.assertEqual(found["in_torch"], [("torch.ops.aten.relu.default", "__/layer1/relu")])
        self.assertEqual(found["advice"], {100: 1, 5: 2})
        self.assertEqual(self.report.sentence(found), "156 of 160 operators in 2 engines, not taken: "
                                                      "torch.ops.aten.nonzero.default (1), torch.ops.aten.sort.default (2)")

    def test_a_whole_graph_has_nothing_left(self):
        text = REPORT[:REPORT.index("The following ops")].replace("157", "160")
        found = self.report.parse(text)
        self.assertEqual((found["supported"], found["unsupported"], found["engines"]), (160, {}, {}))

    def test_other_text_is_no_report(self):
        self.assertIsNone(self.report.parse(""))
        self.assertIsNone(self.report.parse("The graph consists of many operators"))


class ByName(unittest.TestCase):
    """A network whose parameters stand in another order than the inputs of its file."""

    def setUp(self):
        # All that it takes of PyTorch.
        class Module:
            def __call__(self, *inputs):
                return self.forward(*inputs)

        self.torch = types.SimpleNamespace(nn=types.SimpleNamespace(Module=Module))
        with unittest.mock.patch.dict(sys.modules, {"torch": self.torch}):
            self.by_name = load("by_name", PEERS / "torch_tensorrt" / "by_name.py")

    def test_inputs_reach_the_parameters_of_their_names(self):
        def network(input_ids, attention_mask, token_type_ids):
            return input_ids, attention_mask, token_type_ids

        bound = self.by_name.positional(network, ["token_type_ids", "input_ids", "attention_mask"])
        self.assertEqual(bound("types", "ids", "mask"), ("ids", "mask", "types"))
        with self.assertRaises(ValueError):
            bound("types", "ids")

    def test_a_single_input_needs_no_name(self):
        self.assertEqual(self.by_name.positional(lambda x: [x], ["input"])("image"), ["image"])


class Missing(unittest.TestCase):
    def test_torch_tensorrt_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "torch.py").write_text("__version__ = '2.2.0'\ndef compile(network): return network\n")
            (folder / "torch_tensorrt.py").write_text("raise OSError('libnvinfer.so.8: cannot open shared object file')\n")
            for peer in ("torch_tensorrt", "torch_tensorrt_compile"):
                reply, = answers("torch_tensorrt", {"type": "hello", "protocol": 1, "backend": peer}, folder=folder)
                self.assertEqual((reply["type"], reply["kind"]), ("error", "environment"))
                self.assertIn("Torch-TensorRT cannot be imported", reply["message"])
                self.assertIn("libnvinfer.so.8: cannot open shared object file", reply["message"])
                self.assertIn("install torch-tensorrt and tensorrt for PyTorch 2.2.0", reply["message"])

    def test_onnxruntime_without_cuda_says_so(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "onnxruntime.py").write_text(
                "__version__ = '1.32.0'\ndef get_available_providers(): return ['CPUExecutionProvider']\n")
            reply, = answers("onnxruntime_cuda", {"type": "hello", "protocol": 1, "backend": "onnxruntime_cuda"}, folder=folder)
            self.assertEqual(reply["kind"], "environment")
            self.assertIn("was built without CUDA: install onnxruntime-gpu", reply["message"])

    def test_onnxruntime_of_cuda_has_no_cpu(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "onnxruntime.py").write_text(
                "__version__ = '1.32.0'\ndef get_available_providers(): return ['CUDAExecutionProvider']\n")
            _hello, reply = answers("onnxruntime_cuda", {"type": "hello", "protocol": 1, "backend": "onnxruntime_cuda"},
                                    {"type": "load", "device": "cpu", "precision": "fp32", "inputs": [], "onnx": "x"},
                                    folder=folder)
            self.assertIn("runs ONNX Runtime with CUDA on cuda, not on cpu", reply["message"])


if __name__ == "__main__":
    unittest.main()
