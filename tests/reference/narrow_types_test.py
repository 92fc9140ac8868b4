"""Models with element types that tensors of hone do not have (float8, float4, integers of 4 and 2 bits, exponents of
block scales) against numpy, by the tables of the ONNX specification.

usage: narrow_types_test.py HONE
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(28)
# Number of the type, bits of exponent and mantissa, bias, largest number.
FLOAT8 = {"e4m3fn": (17, 4, 3, 7, 448), "e4m3fnuz": (18, 4, 3, 8, 240),
          "e5m2": (19, 5, 2, 15, 57344), "e5m2fnuz": (20, 5, 2, 16, 57344)}
FLOAT4 = (23, 2, 1, 1, 6)
UINT4, INT4, UINT2, INT2, E8M0 = 21, 22, 25, 26, 24


def magnitudes(exponent, mantissa, bias, largest):
    """Every finite magnitude, in the order of the codes."""
    codes = np.arange(1 << (exponent + mantissa))
    e, m = codes >> mantissa, codes & ((1 << mantissa) - 1)
    values = np.where(e == 0, m * 2.0 ** (1 - bias - mantissa), (1 + m / 2 ** mantissa) * 2.0 ** (e - bias))
    return values[values <= largest]


def rounded(x, table):
    """The nearest value of the table, of two as near the one with an even code."""
    x = np.clip(np.float64(x), -table[-1], table[-1])
    above = np.clip(np.searchsorted(table, np.abs(x)), 1, len(table) - 1)
    low, high = table[above - 1], table[above]
    distance = np.abs(x) - low - (high - np.abs(x))
    up = (distance > 0) | ((distance == 0) & (above % 2 == 0))
    return np.copysign(np.where(up, high, low), x)


def tensor(name, data_type, dims, raw):
    proto = TensorProto()
    proto.name, proto.data_type, proto.raw_data = name, data_type, bytes(raw)
    proto.dims.extend(dims)
    return proto


def packed(values, bits):
    per_byte = 8 // bits
    flat = np.zeros(-(-values.size // per_byte) * per_byte, np.int64)
    flat[:values.size] = values.reshape(-1)
    codes = (flat & ((1 << bits) - 1)).reshape(-1, per_byte) << (np.arange(per_byte) * bits)
    return codes.sum(1).astype(np.uint8)


def run(program, nodes, inputs, initializers, opset=25):
    """The output y of a model; the sentence of a refusal."""
    types = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}
    described = [helper.make_tensor_value_info(name, types[a.dtype.name], a.shape) for name, a in inputs.items()]
    y = onnx.ValueInfoProto()
    y.name = "y"
    graph = helper.make_graph(nodes, "g", described, [y], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset),
                                                    helper.make_opsetid("com.microsoft", 1)])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "m.onnx").write_bytes(model.SerializeToString())
        arguments = []
        for name, array in inputs.items():
            np.save(folder / f"{name}.npy", array)
            arguments += ["--input", f"{name}:{folder / name}.npy"]
        done = subprocess.run([program, "run", folder / "m.onnx", *arguments, "--output", folder / "o.npz"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return done.returncode, done.stderr
        return np.load(folder / "o.npz")["y"]


def scalar(name, value, dtype=np.float32):
    return numpy_helper.from_array(np.array(value, dtype), name)


def check(name, actual, expected, tolerance=0.0):
    assert not isinstance(actual, tuple), f"{name}: {actual}"
    assert actual.shape == expected.shape and actual.dtype == expected.dtype, f"{name}: {actual.dtype}{actual.shape}"
    worst = np.max(np.abs(np.float64(actual) - np.float64(expected)), initial=0)
    assert worst <= tolerance, f"{name}: differs by {worst}"


def floats_of_8_bits(program):
    for name, (number, exponent, mantissa, bias, largest) in FLOAT8.items():
        table = magnitudes(exponent, mantissa, bias, largest)
        ties = (table[:-1] + table[1:]) / 2
        x = np.concatenate([table, ties, -ties, [largest * 2, -np.inf, 1e-9], RANDOM.normal(size=40)]).astype(np.float32)
        zero = tensor("z", number, [], [0])
        nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
                 helper.make_node("Reshape", ["q", "shape"], ["r"]),
                 helper.make_node("DequantizeLinear", ["r", "s", "z"], ["y"])]
        shape = numpy_helper.from_array(np.array([-1, 1], np.int64), "shape")
        got = run(program, nodes, {"x": x}, [scalar("s", 0.5), zero, shape])
        check(name, got, (rounded(x / np.float32(0.5), table) * 0.5).astype(np.float32).reshape(-1, 1))
        # Without saturation nothing beyond the range is left of a number: infinity where there is one.
        sharp = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], saturate=0),
                 helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
                 helper.make_node("IsNaN", ["d"], ["n"]), helper.make_node("IsInf", ["d"], ["i"]),
                 helper.make_node("Where", ["n", "hundred", "zero"], ["a"]),
                 helper.make_node("Where", ["i", "thousand", "a"], ["b"]), helper.make_node("Or", ["n", "i"], ["o"]),
                 helper.make_node("Where", ["o", "b", "d"], ["y"])]
        past = table[-1] + (table[-1] - table[-2])
        x = np.array([table[-1], -table[-1], past, -past, 1e30, -np.inf, 0, 1], np.float32)
        got = run(program, sharp, {"x": x}, [scalar("s", 1), tensor("z", number, [], [0]), scalar("hundred", 1e5),
                                             scalar("thousand", 1e6), scalar("zero", 0)])
        gone = 1e6 if name == "e5m2" else 1e5
        check(f"{name} without saturation", got,
              np.array([table[-1], -table[-1], gone, gone, gone, gone, 0, 1], np.float32))
        # A scale a channel, of constants.
        codes = np.arange(2 * len(table)).astype(np.uint8)
        codes[len(table):] = np.arange(len(table)) + (1 << (exponent + mantissa))
        if "fnuz" in name:
            codes[len(table)] = 0
        numbers = np.concatenate([table, -table]).reshape(2, -1)
        scales = np.array([0.5, 4], np.float32)
        nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=0),
                 helper.make_node("Add", ["x", "d"], ["y"])]
        zeros = np.zeros(numbers.shape, np.float32)
        got = run(program, nodes, {"x": zeros},
                  [tensor("w", number, numbers.shape, codes), numpy_helper.from_array(scales, "s")])
        check(name, got, (numbers * scales[:, None]).astype(np.float32))
    cast = [helper.make_node("Cast", ["x"], ["c"], to=17), helper.make_node("Cast", ["c"], ["y"], to=1)]
    x = RANDOM.normal(size=30).astype(np.float32)
    check("Cast", run(program, cast, {"x": x}, []), rounded(x, magnitudes(4, 3, 7, 448)).astype(np.float32))


def blocks_of_4_bits(program):
    number, *form = FLOAT4
    table = magnitudes(*form)
    codes = RANDOM.integers(0, 16, size=(8, 4))
    numbers = np.where(codes < 8, 1, -1) * table[codes % 8]
    exponents = RANDOM.integers(120, 132, size=(2, 4)).astype(np.uint8)
    node = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=0, block_size=4, output_dtype=1),
            helper.make_node("Add", ["x", "d"], ["y"])]
    zeros = np.zeros((8, 4), np.float32)
    got = run(program, node, {"x": zeros},
              [tensor("w", number, [8, 4], packed(codes, 4)), tensor("s", E8M0, [2, 4], exponents.reshape(-1))])
    check("float4", got, (numbers * 2.0 ** (exponents.repeat(4, 0) - 127.0)).astype(np.float32))
    # The last block is cut short.
    node[0] = helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=-2, block_size=5, output_dtype=1)
    got = run(program, node, {"x": zeros},
              [tensor("w", number, [8, 4], packed(codes, 4)), tensor("s", E8M0, [2, 4], exponents.reshape(-1))])
    check("ragged float4", got, (numbers * 2.0 ** (exponents.repeat(5, 0)[:8] - 127.0)).astype(np.float32))


def integers(program):
    for data_type, bits, low in ((UINT4, 4, 0), (INT4, 4, -8), (UINT2, 2, 0), (INT2, 2, -2)):
        high = low + (1 << bits) - 1
        x = RANDOM.normal(size=(3, 7)).astype(np.float32) * 4
        zeros = RANDOM.integers(low, high + 1, size=7)
        scales = RANDOM.uniform(0.3, 0.6, size=7).astype(np.float32)
        nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1),
                 helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=1)]
        got = run(program, nodes, {"x": x},
                  [numpy_helper.from_array(scales, "s"), tensor("z", data_type, [7], packed(zeros, bits))])
        kept = np.clip(np.rint(x / scales) + zeros, low, high) - zeros
        check(f"integers of {bits} bits", got, (kept * scales).astype(np.float32), 1e-6)
        numbers = RANDOM.integers(low, high + 1, size=(5, 3))
        nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"]), helper.make_node("Add", ["x", "d"], ["y"])]
        got = run(program, nodes, {"x": np.zeros((5, 3), np.float32)},
                  [scalar("s", 0.5), tensor("w", data_type, [5, 3], packed(numbers, bits))])
        check(f"constants of {bits} bits", got, (numbers * 0.5).astype(np.float32))


def tables_in_blocks(program):
    """GatherBlockQuantized of integers that have an element each, where the standard type says so."""
    ids = np.array([[3, 0], [2, 2]], np.int64)
    for data_type, low in ((UINT4, 0), (INT4, -8)):
        numbers, zeros = RANDOM.integers(low, low + 16, size=(6, 12)), RANDOM.integers(low, low + 16, size=(6, 3))
        scales = RANDOM.uniform(0.3, 0.6, size=(6, 3)).astype(np.float32)
        for has_zeros in (True, False):
            wide = (numbers - (zeros.repeat(5, 1)[:, :12] if has_zeros else 0)) * scales.repeat(5, 1)[:, :12]
            for gathered in (0, 1):
                across = (lambda a: a) if gathered == 0 else np.transpose
                parts = {"w": across(numbers), "z": across(zeros)}
                small = [tensor(name, data_type, part.shape, packed(part, 4)) for name, part in parts.items()]
                node = helper.make_node("GatherBlockQuantized", ["w", "i", "s"] + ["z"] * has_zeros, ["y"],
                                        domain="com.microsoft", gather_axis=gathered, quantize_axis=1 - gathered,
                                        block_size=5)
                got = run(program, [node], {"i": ids},
                          [small[0], numpy_helper.from_array(np.ascontiguousarray(across(scales)), "s")]
                          + small[1:] * has_zeros, opset=21)
                check(f"table of {data_type}", got, np.take(across(wide), ids, gathered).astype(np.float32), 1e-6)


def refusals(program):
    x = {"x": np.zeros(3, np.float32)}
    weights = tensor("w", 17, [3], [0, 0, 0])
    cases = [([helper.make_node("Add", ["x", "w"], ["y"])], [weights],
              "numbers of float8e4m3fn are read, which Add does not take"),
             ([helper.make_node("Relu", ["w"], ["v"]), helper.make_node("Add", ["x", "v"], ["y"])], [weights],
              "numbers of float8e4m3fn are read, which Relu does not take"),
             ([helper.make_node("Cast", ["x"], ["c"], to=INT4), helper.make_node("Cast", ["c"], ["y"], to=1)], [],
              "a cast to int4 is not supported"),
             ([helper.make_node("DequantizeLinear", ["w", "s"], ["d"]), helper.make_node("Add", ["x", "d"], ["y"])],
              [scalar("s", 1), tensor("w", INT4, [3], [1])], "its data have 1 bytes, but its dims need 2")]
    for nodes, initializers, sentence in cases:
        got = run(program, nodes, x, initializers)
        assert isinstance(got, tuple) and got[0] == 3 and sentence in got[1], f"{sentence}: {got}"


def main():
    program = sys.argv[1]
    for family in (floats_of_8_bits, blocks_of_4_bits, integers, tables_in_blocks, refusals):
        family(program)
    print("5 passed, 0 failed")


if __name__ == "__main__":
    main()
