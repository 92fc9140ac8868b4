"""The attacks of docs/SECURITY.md on model files, from outside: each ends with exit code 3 and one sentence that
names the file, the node (or tensor) and the field, in little memory, and leaves no file behind.

usage: attack_test.py HONE BYTES_PER_BYTE
"""
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BAD_INPUT = 3
PEAK_BYTES = 250 * 10**6 * int(sys.argv[2])  # mostly the program and its libraries
HUGE = 2**62


def model(node, constants=(), opset=17, shape=(1, 1, 4, 4), functions=()):
    constants = [array if isinstance(array, TensorProto) else numpy_helper.from_array(np.asarray(array), f"c{i}")
                 for i, array in enumerate(constants)]
    node.input.extend(["x", *(constant.name for constant in constants)])
    graph = helper.make_graph([node], "../../graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_empty_tensor_value_info("y")], constants)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, functions=list(functions))


def node(operator, **attributes):
    return helper.make_node(operator, [], ["y"], name="n", **attributes)


def window(**attributes):
    return model(node("Conv", **attributes), [np.ones((1, 1, 2, 2), np.float32)])


def external(**entries):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    return model(node("Add"), [tensor])


def initializer(dims, data):
    return model(node("Add"), [TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=data)])


def function_chain(length):
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    functions = [helper.make_function("local", f"f{i}", ["a"], ["b"],
                                      [helper.make_node(f"f{i + 1}", ["a"], ["b"], domain="local")], imports)
                 for i in range(length)]
    return model(node("f0", domain="local"), functions=functions)


def old_scan(length):
    info = helper.make_tensor_value_info
    body = helper.make_graph([helper.make_node("Identity", ["e"], ["f"])], "body", [info("e", TensorProto.FLOAT, [4, 4])],
                             [info("f", TensorProto.FLOAT, [4, 4])])
    scan = node("Scan", body=body, num_scan_inputs=1)
    return reading(["c0", "x"], model(scan, [np.int64([length])], opset=8, shape=(1, 1, 4, 4)))


def onnx_rows():
    """Row of the table, what the sentence says after the file's name, the model."""
    place = "initializer 'w': field external_data: "
    yield 1, place + "location '../secret' leaves", external(location="../secret")
    yield 1, place + "location '/etc/passwd' is an absolute path", external(location="/etc/passwd")
    yield 1, place + "location is empty", external()
    yield 3, "initializer 'w': field external_data has an unknown key '__class__'", external(__class__="x")
    yield 3, place + "length is 1125899906842624", external(location="w.bin", length=str(2**50))
    yield 3, place + "offset '-1' is not a number of bytes", external(location="w.bin", offset="-1")
    yield 3, place + "'w.bin' holds 8 bytes, but offset 4", external(location="w.bin", offset="4")
    yield 4, "initializer 'w': ", initializer([2**42 + 1, 2**42], b"1234")
    yield 4, "node 'n' (DepthToSpace): attribute 'blocksize'", model(node("DepthToSpace", blocksize=2**32))
    yield 4, "node 'n' (Conv): ", window(pads=[HUGE] * 4)
    yield 6, "node 'n' (Neg) is part of a cycle", reading(["y"], model(node("Neg")))
    yield 6, "node 'b' (f32): functions call each other", function_chain(3000)
    yield 7, "node 'n' (Conv): attribute 'dilations'", window(dilations=[1, 1, 1])
    yield 7, "node 'n' (Softmax): attribute 'axis' is 4", model(node("Softmax", axis=4))
    for field in "strides", "dilations", "kernel_shape":
        yield 8, f"node 'n' (Conv): attribute '{field}'", window(**{field: [0, 0]})
    yield 8, "node 'n' (Conv): attribute 'group'", window(group=0)
    yield 8, "node 'n' (SpaceToDepth): attribute 'blocksize'", model(node("SpaceToDepth", blocksize=0))
    yield 8, "node 'n' (Slice): ", model(node("Slice"), [np.int64([0]), np.int64([1]), np.int64([0]), np.int64([0])])
    yield 9, "initializer 'w': field raw_data holds 4 bytes", initializer([2], b"1234")
    yield 12, "node 'n' (EPContext): this operator of domain 'com.microsoft'", model(node("EPContext", domain="com.microsoft"))
    yield 13, "node 'n\\x0a{}' (Relu): attribute 'a\\x1b' is not known", named("n\n{}", "a\x1b")


def run_rows():
    """What only running can tell, for each backend."""
    for length in -1, 5, 2**62:
        yield 7, "node 'n.sequence_lens0' (Split): input 'split'", old_scan(length)
    yield 4, "node 'n' (Conv): ", window(pads=[2**32] * 4)
    yield 7, "node 'n' (Gather): ", model(node("Gather"), [np.int64([-2])])
    for operator in "Div", "Mod":
        yield 8, f"node 'n' ({operator}): ", reading(["c0", "c1"], model(node(operator), [np.int64([5]), np.int64([0])]))


def reading(names, result):
    result.graph.node[0].input[:] = names
    return result


def named(name, attribute):
    result = model(node("Relu", **{attribute: 1}))
    result.graph.node[0].name = name
    return result


def pickles():
    """Row 11: each would run a command if anything unpickled it."""
    pickle = b"cos\nsystem\n(S'touch owned'\ntR."
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("archive/data.pkl", pickle)
    array = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"
    yield "old.pt", pickle, "this is not a TorchScript archive", ["build", "old.pt", "-o", "e.hone"]
    yield "new.pt", archive.getvalue(), "a state_dict that torch.save pickled", ["build", "new.pt", "-o", "e.hone"]
    yield "w.safetensors", pickle, "this is text, not a safetensors file: ", ["export", "alexnet", "--weights", "w.safetensors", "-o", "e.onnx"]
    yield ("x.npy", b"\x93NUMPY\1\0" + len(array).to_bytes(2, "little") + array + pickle, "pickle",
           ["run", "squeezenet1_1", "--input", "x.npy"])


def check(hone, folder, arguments, part):
    before = sorted(folder.iterdir())
    with subprocess.Popen([hone, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == BAD_INPUT and part in error, f"{arguments}: {process.returncode}: {error}: {part}"
    assert error.count("\n") == 1 and error.startswith("hone: "), error
    assert usage.ru_maxrss * 1024 < PEAK_BYTES, f"{error}: {usage.ru_maxrss} KB"
    assert sorted(folder.iterdir()) == before, f"{error} left {list(folder.iterdir())}"


def main():
    hone = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "models")
        folder.mkdir()
        (folder.parent / "secret").write_bytes(b"12345678")
        (folder / "w.bin").write_bytes(b"12345678")
        for row, part, attack in onnx_rows():
            file = f"row{row}.onnx"
            onnx.save(attack, str(folder / file))
            check(hone, folder, ["build", file, "-o", "e.hone"], f"hone: {file}: {part}")
        np.save(folder / "x.npy", np.ones((1, 1, 4, 4), np.float32))
        for row, part, attack in run_rows():
            file = f"row{row}.onnx"
            onnx.save(attack, str(folder / file))
            for backend in "reference", "hone":
                arguments = ["run", file, "--input", "x.npy", "--backend", backend, "--threads", "1"]
                check(hone, folder, arguments, f"hone: {file}: {part}")
        for file, content, part, arguments in pickles():
            (folder / file).write_bytes(content)
            check(hone, folder, arguments, part)
        assert len(list(folder.parent.iterdir())) == 2, "something was written outside the folder"


if __name__ == "__main__":
    main()
