"""Models of a few hundred bytes that ask for gigabytes or for years: built within little memory and time, and
refused with one sentence when they run.

usage: bomb_test.py HONE [BYTES_PER_BYTE]
BYTES_PER_BYTE: what a sanitizer holds for each byte in use, that byte included; 1 without one
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BAD_INPUT = 3
LIMIT_MB = 200
BYTES_PER_BYTE = int(sys.argv[2]) if len(sys.argv) > 2 else 1
# Besides the tensors: the program and its libraries, and what a kernel computes with.
PEAK_BYTES = (LIMIT_MB + 150) * 10**6 * BYTES_PER_BYTE
BUILD_SECONDS = 60  # a limit of work, some ten times what the slowest takes on a busy machine


def model(nodes, constants, opset):
    """The nodes make `bomb` of constants alone; the input and the output beside it are harmless."""
    graph = helper.make_graph(
        [*nodes, helper.make_node("Relu", ["x"], ["y"])], "bomb",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1]), helper.make_empty_tensor_value_info("bomb")],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def one(operator, opset=17, outputs=("bomb",), attributes=(), **constants):
    """One node, its inputs in order; None leaves one out."""
    names = [name if value is not None else "" for name, value in constants.items()]
    given = {name: value for name, value in constants.items() if value is not None}
    return model([helper.make_node(operator, names, list(outputs), **dict(attributes))], given, opset)


def shape(*dims):
    return np.array(dims, np.int64)


def memory_bombs():
    yield "ConstantOfShape", one("ConstantOfShape", a=shape(2**28))
    yield "Expand", one("Expand", a=np.ones(1, np.float32), b=shape(2**14, 2**14))
    yield "Tile", one("Tile", a=np.ones(1, np.float32), b=shape(2**28))
    yield "Range", one("Range", a=np.float32(0), b=np.float32(2**28), c=np.float32(1))
    yield "Pad", one("Pad", a=np.ones(1, np.float32), b=shape(0, 2**28))
    yield "Resize", one("Resize", a=np.ones((1, 1, 2, 2), np.float32), b=None, c=np.array([1, 1, 9e3, 9e3], np.float32))
    yield "OneHot", one("OneHot", a=shape(0, 0), b=np.int64(2**28), c=np.zeros(2, np.float32))
    yield "MaxUnpool", one("MaxUnpool", attributes={"kernel_shape": [1, 1]}, a=np.ones((1, 1, 1, 1), np.float32),
                           b=np.zeros((1, 1, 1, 1), np.int64), c=shape(1, 1, 2**14, 2**14))
    yield "ConvTranspose", one("ConvTranspose", attributes={"strides": [2**13, 2**13]},
                               a=np.ones((1, 1, 4, 4), np.float32), b=np.ones((1, 1, 1, 1), np.float32))
    yield "CenterCropPad", one("CenterCropPad", opset=18, a=np.ones(2, np.float32), b=shape(2**28))
    yield "HannWindow", one("HannWindow", a=np.int64(2**28))
    # Each node quadruples what it reads, so a limit on one node's growth alone would not help.
    chain = [helper.make_node("ConstantOfShape", ["n"], ["a0"])]
    chain += [helper.make_node("Concat", [f"a{i}"] * 4, [f"a{i + 1}"], axis=0) for i in range(9)]
    yield "chain", model([*chain, helper.make_node("Identity", ["a9"], ["bomb"])], {"n": shape(2**14)}, 17)
    yield "Loop", endless_loop()


def time_bombs():
    """Too long to run as well, so they are only built."""
    yield "Einsum", one("Einsum", attributes={"equation": "a,b,c,d->"}, **{x: np.ones(1000, np.float32) for x in "abcd"})
    yield "DFT", one("DFT", attributes={"axis": 1}, a=np.ones((1, 65537, 1), np.float32))
    yield "STFT", one("STFT", a=np.ones((1, 65537, 1), np.float32), b=np.int64(1), c=np.ones(32771, np.float32))
    # Each one is allowed; all of them together would take hours.
    many = [helper.make_node("Einsum", ["v", "v", "v"], ["bomb" if i == 0 else f"e{i}"], equation="a,b,c->")
            for i in range(1000)]
    yield "many", model(many, {"v": np.ones(600, np.float32)}, 17)


def endless_loop():
    """Stacks one number 2^62 times."""
    scalar = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c_out"]), helper.make_node("Identity", ["s"], ["s_out"]),
         helper.make_node("Expand", ["s", "wide"], ["stacked"])], "body",
        [scalar("i", TensorProto.INT64, []), scalar("c", TensorProto.BOOL, []), scalar("s", TensorProto.FLOAT, [1])],
        [scalar("c_out", TensorProto.BOOL, []), scalar("s_out", TensorProto.FLOAT, [1]),
         scalar("stacked", TensorProto.FLOAT, [10000])],
        [numpy_helper.from_array(shape(10000), "wide")])
    node = helper.make_node("Loop", ["n", "", "v"], ["last", "bomb"], body=body)
    return model([node], {"n": np.int64(2**62), "v": np.ones(1, np.float32)}, 17)


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (BUILD_SECONDS, BUILD_SECONDS))


def run(*command):
    """Exit code, standard error and peak resident bytes."""
    environment = {**os.environ, "HONE_MEMORY_LIMIT_MB": str(LIMIT_MB)}
    with subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, preexec_fn=limit_time) as process:
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, error, usage.ru_maxrss * 1024


def check(hone, folder, name, bomb, runs):
    file = folder / "bomb.onnx"
    onnx.save(bomb, str(file))
    code, error, peak = run(hone, "build", file, "--builderOptimizationLevel", 0, "-o", folder / "bomb.hone")
    assert code == 0 or (code == BAD_INPUT and error.count("\n") == 1), f"{name}: build: {code}: {error}"
    assert peak < PEAK_BYTES, f"{name}: build took {peak} bytes"
    for backend in ("reference", "hone") if runs else ():
        code, error, peak = run(hone, "run", file, "--input", folder / "x.npy", "--backend", backend)
        assert code == BAD_INPUT and error.count("\n") == 1, f"{name}: {backend}: {code}: {error}"
        assert re.search("bomb.onnx: (node '|output 'bomb'|activations: )", error), f"{name}: {backend}: {error}"
        assert "limit" in error or "overflows" in error, f"{name}: {backend}: {error}"
        assert peak < PEAK_BYTES, f"{name}: {backend} took {peak} bytes"


def check_variable(hone):
    """It is to blame, and not what happens to be read when the limit is first asked for."""
    for value in ("many", "0", "-5", "1e3", ""):
        environment = {**os.environ, "HONE_MEMORY_LIMIT_MB": value}
        with tempfile.TemporaryDirectory() as name:
            onnx.save(one("HannWindow", a=np.int64(4)), name + "/window.onnx")
            for command in (["export", "squeezenet1_1"], ["build", name + "/window.onnx"]):
                ending = subprocess.run([hone, *command, "-o", name + "/out.onnx"], env=environment,
                                        capture_output=True, text=True, check=False)
                assert ending.returncode == 2, ending
                assert ending.stderr == (f"hone: HONE_MEMORY_LIMIT_MB is '{value}', expected a positive number of "
                                         "megabytes\n"), ending.stderr


def main():
    hone = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.save(folder / "x.npy", np.ones(1, np.float32))
        for title, bomb in memory_bombs():
            check(hone, folder, title, bomb, runs=True)
        for title, bomb in time_bombs():
            check(hone, folder, title, bomb, runs=False)
    check_variable(hone)


if __name__ == "__main__":
    main()
