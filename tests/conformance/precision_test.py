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

import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generate_cases

PASSED, FAILED = 0, 5


def ending(hone: str, folder: pathlib.Path, precision: str) -> int:
    command = [hone, "conformance", str(folder), "--backend", "hone", "--precision", precision]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode


def write_index_case(folder: pathlib.Path) -> None:
    """The larger of two sums, which bf16 rounds to the same number, of rows too long to be summed in float32 for it."""
    a, b = np.zeros((1, 100), np.float32), np.zeros((100, 2), np.float32)
    a[0, :2] = 1
    b[:2] = [[1 + 2**-6, 1 + 2**-7], [0, 2**-7 + 2**-14]]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["p"]), helper.make_node("ArgMax", ["p"], ["i"], axis=1, keepdims=0)], "index",
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, value.shape) for name, value in (("a", a), ("b", b))],
        [helper.make_tensor_value_info("i", onnx.TensorProto.INT64, [1])])
    (folder / "test_data_set_0").mkdir(parents=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "model.onnx")
    for name, value in {"input_0": (a, "a"), "input_1": (b, "b"), "output_0": (np.int64([1]), "i")}.items():
        proto = numpy_helper.from_array(*value)
        (folder / "test_data_set_0" / f"{name}.pb").write_bytes(proto.SerializeToString())


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
        wrong = onnx.TensorProto.FromString((stored / "input_0.pb").read_bytes())
        wrong.name = onnx.TensorProto.FromString((stored / "output_0.pb").read_bytes()).name
        (stored / "output_0.pb").write_bytes(wrong.SerializeToString())
        assert ending(hone, folder, "fp32") == FAILED, "fp32 is not compared with the stored output"
        assert ending(hone, folder, "bf16") == PASSED, "bf16 is compared with the stored output"
        assert not list(cache.rglob("*.json")), "the cases fill the timing cache"
        # An index that bf16 rounds to another one shows as a difference.
        write_index_case(folder / "other" / "index")
        assert ending(hone, folder / "other", "fp32") == PASSED
        # A CPU whose bf16 is slower than its fp32 may compute the step in fp32; without instructions for bf16 none does.
        os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
        assert ending(hone, folder / "other", "bf16") == FAILED, "a difference passes in bf16"


if __name__ == "__main__":
    main()
