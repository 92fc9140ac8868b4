"""Arithmetic, reductions, shapes, products and transforms whose form is newer than opset 17, and corners that the
onnx package's cases leave out, against numpy and torch in double precision.

usage: newer_operators_test.py HONE [FOLDER]
"""
import sys

import numpy as np
import torch
import torch.nn.functional as F

from case_writer import Cases

RANDOM = np.random.default_rng(20)


def normal(*shape, dtype=np.float32):
    return RANDOM.normal(size=shape).astype(dtype)


def ints(*values):
    return np.array(values, np.int64)


def from_torch(function, *arrays, dtype=np.float32, **arguments):
    tensors = [torch.from_numpy(array.astype(np.float64)) for array in arrays]
    return function(*tensors, **arguments).numpy().astype(dtype)


REDUCTIONS = {
    "ReduceL1": lambda x, a: np.sum(np.abs(x), axis=a, keepdims=True),
    "ReduceL2": lambda x, a: np.sqrt(np.sum(x * x, axis=a, keepdims=True)),
    "ReduceLogSum": lambda x, a: np.log(np.sum(x, axis=a, keepdims=True)),
    "ReduceLogSumExp": lambda x, a: np.log(np.sum(np.exp(x), axis=a, keepdims=True)),
    "ReduceMax": lambda x, a: np.max(x, axis=a, keepdims=True),
    "ReduceMean": lambda x, a: np.mean(x, axis=a, keepdims=True),
    "ReduceMin": lambda x, a: np.min(x, axis=a, keepdims=True),
    "ReduceProd": lambda x, a: np.prod(x, axis=a, keepdims=True),
    "ReduceSum": lambda x, a: np.sum(x, axis=a, keepdims=True),
    "ReduceSumSquare": lambda x, a: np.sum(x * x, axis=a, keepdims=True),
}


def reductions(cases: Cases) -> None:
    for op, function in REDUCTIONS.items():
        x = RANDOM.uniform(0.1, 2, size=(3, 4, 5)).astype(np.float32)
        wide = x.astype(np.float64)
        two = function(wide, (0, 2)).astype(np.float32)
        cases.add(f"{op}_axes", op, [x, ints(0, -1)], [two])
        cases.add(f"{op}_dropped", op, [x, ints(-1, 0)], [two.reshape(4)], keepdims=0)
        cases.add(f"{op}_all", op, [x], [function(wide, None).astype(np.float32)])
        cases.add(f"{op}_empty_is_all", op, [x, ints()], [function(wide, None).astype(np.float32)])
        cases.add(f"{op}_noop", op, [x, ints()], [function(wide, ()).astype(np.float32)],
                   noop_with_empty_axes=1)
        cases.add(f"{op}_noop_without_axes", op, [-x if "Log" not in op else x],
                   [function(-wide if "Log" not in op else wide, ()).astype(np.float32)],
                   keepdims=0, noop_with_empty_axes=1)
    flags = np.array([[True, False], [False, False]])
    cases.add("ReduceMax_bool", "ReduceMax", [flags, ints(1)], [np.array([True, False])], keepdims=0)
    cases.add("ReduceMin_bool", "ReduceMin", [flags, ints(0)], [np.array([False, False])], keepdims=0)
    none = np.zeros((2, 0), bool)
    cases.add("ReduceMax_no_bool", "ReduceMax", [none, ints(1)], [np.array([[False], [False]])])
    cases.add("ReduceMin_no_bool", "ReduceMin", [none, ints(1)], [np.array([[True], [True]])])
    cases.add("ReduceSum_nothing", "ReduceSum", [np.zeros((2, 0, 3), np.float32), ints(1)], [np.zeros((2, 1, 3), np.float32)])
    cases.add("ReduceProd_nothing", "ReduceProd", [np.zeros((2, 0, 3), np.float32), ints(1)], [np.ones((2, 1, 3), np.float32)])
    large = np.array([[1000.0, 1000.0], [-np.inf, -np.inf]], np.float32)
    cases.add("ReduceLogSumExp_large", "ReduceLogSumExp", [large, ints(1)],
               [np.array([1000 + np.log(2), -np.inf], np.float32)], keepdims=0)
    whole = np.arange(-6, 6, dtype=np.int32).reshape(3, 4)
    cases.add("ReduceSum_int", "ReduceSum", [whole, ints(0)], [whole.sum(0, dtype=np.int32)], keepdims=0)
    cases.add("ReduceMin_uint8", "ReduceMin", [np.array([[200, 100]], np.uint8), ints(1)], [np.array([[100]], np.uint8)])


def backward_slices(cases: Cases) -> None:
    """A start before the axis is moved to its first element, unlike in numpy; an end may lie before it."""
    x = normal(5, 3)
    for name, start, end, step, expected in (("before", -7, -100, -1, x[:1]), ("before_two", -8, -9, -2, x[:1]),
                                             ("first", 0, -100, -1, x[:1]), ("all", 100, -100, -1, x[::-1]),
                                             ("none", -7, 0, -1, x[:0]), ("behind", 100, 1, -2, x[4:1:-2])):
        cases.add(f"Slice_backward_{name}", "Slice", [x, ints(start), ints(end), ints(0), ints(step)], [expected])
    cases.add("Slice_backward_empty", "Slice", [x[:0], ints(-1), ints(-100), ints(0), ints(-1)], [x[:0]])


def splits_and_pads(cases: Cases) -> None:
    x = normal(2, 7)
    cases.add("Split_uneven", "Split", [x], np.split(x, [3, 6], axis=1), axis=1, num_outputs=3)
    cases.add("Split_even", "Split", [x], np.split(x, 2, axis=0), axis=0, num_outputs=2)
    x = normal(3, 4, 2)
    for mode in ("reflect", "edge", "wrap"):
        cases.add(f"Pad_{mode}", "Pad", [x, ints(2, 1, 0, 1, 3, 1)],
                   [np.pad(x, [(2, 1), (1, 3), (0, 1)], mode=mode)], mode=mode)
    cases.add("Pad_axes", "Pad", [x, ints(1, 2, 0, 3), np.float32(7), ints(-1, 0)],
               [np.pad(x, [(2, 3), (0, 0), (1, 0)], constant_values=7)])
    cases.add("Pad_crops", "Pad", [x, ints(0, -1, 1, 0, -2, 0)], [np.pad(x, [(0, 0), (0, 0), (1, 0)])[:, 1:2]])
    cases.add("Pad_bool", "Pad", [np.array([True]), ints(1, 1), np.array(True)], [np.array([True] * 3)])
    cases.add("Tile", "Tile", [x, ints(2, 1, 3)], [np.tile(x, (2, 1, 3))])
    half = x.astype(np.float16)
    cases.add("Tile_half", "Tile", [half, ints(1, 2, 2)], [np.tile(half, (1, 2, 2))])
    parts = [normal(2, 1, 4), normal(3, 1), normal(1)]
    cases.add("Mean_broadcast", "Mean", parts, [((parts[0] + parts[1] + parts[2]) / 3).astype(np.float32)])
    x = normal(20, 10, 3)
    cases.add("CenterCropPad_crop", "CenterCropPad", [x, ints(10, 7, 3)], [x[5:15, 1:8]])
    cases.add("CenterCropPad_both", "CenterCropPad", [x, ints(10, 13, 3)],
               [np.pad(x[5:15], [(0, 0), (1, 2), (0, 0)])])
    cases.add("CenterCropPad_axes", "CenterCropPad", [x, ints(4, 9)],
               [np.pad(x[5:14], [(0, 0), (0, 0), (0, 1)])], axes=[-1, 0])


def normalizations(cases: Cases) -> None:
    x = normal(2, 3, 4, 5)
    scale, bias = normal(4, 5), normal(4, 5)
    mean = x.astype(np.float64).mean(axis=(2, 3), keepdims=True)
    deviation = 1 / np.sqrt(x.astype(np.float64).var(axis=(2, 3), keepdims=True) + 1e-3)
    cases.add("LayerNormalization_statistics", "LayerNormalization", [x, scale, bias],
               [((x - mean) * deviation * scale + bias).astype(np.float32), mean.astype(np.float32),
                deviation.astype(np.float32)], axis=2, epsilon=1e-3)
    cases.add("LayerNormalization_no_bias", "LayerNormalization", [x, normal(5) * 0 + 2],
               [2 * from_torch(F.layer_norm, x, normalized_shape=(5,))])
    rows = normal(4, 1)
    cases.add("LayerNormalization_scale_of_rows", "LayerNormalization", [x, rows],
               [(rows * from_torch(F.layer_norm, x, normalized_shape=(5,))).astype(np.float32)])
    half = x.astype(np.float16)
    cases.add("LayerNormalization_half", "LayerNormalization", [half, np.ones(5, np.float16)],
               [from_torch(F.layer_norm, half, normalized_shape=(5,), dtype=np.float16)])
    x = normal(2, 6, 3, 2)
    scale, bias = normal(6), normal(6)
    cases.add("GroupNormalization", "GroupNormalization", [x, scale, bias],
               [from_torch(lambda v, s, b: F.group_norm(v, 3, s, b), x, scale, bias)], num_groups=3)
    x3, x5 = normal(3, 6, 20), normal(2, 6, 3, 2, 4)
    for name, image in (("InstanceNormalization_1", x3), ("InstanceNormalization_3", x5)):
        cases.add(name, "InstanceNormalization", [image, scale, bias],
                   [from_torch(lambda v, s, b: F.instance_norm(v, weight=s, bias=b), image, scale, bias)])
    plain = from_torch(F.group_norm, x, num_groups=3).reshape(2, 3, 12)
    scale, bias = normal(3), normal(3)
    cases.add("GroupNormalization_18", "GroupNormalization", [x, scale, bias],
               [(plain * scale[:, None] + bias[:, None]).reshape(x.shape)], opset=18, num_groups=3)
    for p in (1, 2):
        cases.add(f"LpNormalization_{p}", "LpNormalization", [x], [from_torch(F.normalize, x, p=p, dim=1)], axis=1, p=p)
    parameters = [normal(6), normal(6), normal(6), RANDOM.uniform(0.5, 2, 6).astype(np.float32)]
    scale, bias, mean, variance = parameters
    rows = normal(4, 6)
    cases.add("BatchNormalization_rows", "BatchNormalization", [rows, *parameters],
               [((rows - mean) / np.sqrt(variance + 1e-5) * scale + bias).astype(np.float32)])


def elementwise(cases: Cases) -> None:
    # A value outside an integer type becomes its nearest end, NaN becomes 0 (tensor/convert.hpp).
    wide = np.array([300, -5.75, 2.5, 4e4, -4e4, np.nan, np.inf, -np.inf], np.float32)
    for kind, to in ((np.uint8, 2), (np.int8, 3), (np.uint16, 4), (np.int16, 5), (np.int32, 6), (np.int64, 7)):
        ends = np.iinfo(kind)
        values = [0 if np.isnan(v) else ends.max if v >= ends.max else ends.min if v <= ends.min else int(v) for v in wide]
        cases.add(f"Cast_to_{kind.__name__}", "Cast", [wide], [np.array(values, kind)], to=to)
    x = normal(3, 4) * 3
    cases.add("Gelu", "Gelu", [x], [from_torch(F.gelu, x)])
    tanh = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))
    cases.add("Gelu_tanh", "Gelu", [x], [tanh.astype(np.float32)], approximate="tanh")
    cases.add("Mish", "Mish", [np.append(x, np.float32([-200, 200]))],
               [np.append(from_torch(F.mish, x), np.float32([0, 200]))])
    cases.add("Softplus_large", "Softplus", [np.float32([-200, 0, 200])], [np.float32([0, np.log(2), 200])])
    a = RANDOM.integers(-100, 100, size=(3, 4)).astype(np.int16)
    b = RANDOM.integers(-100, 100, size=4).astype(np.int16)
    cases.add("BitwiseAnd", "BitwiseAnd", [a, b], [a & b])
    cases.add("BitwiseOr", "BitwiseOr", [a, b], [a | b])
    cases.add("BitwiseXor", "BitwiseXor", [a.astype(np.uint8), b.astype(np.uint8)],
               [a.astype(np.uint8) ^ b.astype(np.uint8)])
    cases.add("BitwiseNot", "BitwiseNot", [a.astype(np.uint64)], [~a.astype(np.uint64)])
    special = np.array([np.inf, -np.inf, np.nan, 1], np.float16)
    cases.add("IsInf_half", "IsInf", [special], [np.array([False, True, False, False])], detect_positive=0)
    cases.add("IsNaN_half", "IsNaN", [special], [np.isnan(special)])
    flags = np.array([True, False])
    cases.add("Equal_bool", "Equal", [flags, flags[::-1].copy()], [np.array([False, False])])
    cases.add("Identity_int8", "Identity", [np.array([-1], np.int8)], [np.array([-1], np.int8)])
    whole = np.array([-5, -1, 0, 3], np.int32)
    cases.add("Relu_int", "Relu", [whole], [np.maximum(whole, 0)])
    cases.add("Abs_smallest", "Abs", [np.array([-128, 5], np.int8)], [np.array([-128, 5], np.int8)])


def indexing(cases: Cases) -> None:
    data = normal(4, 5)
    indices = np.array([[1, 1, -1], [0, 0, 2]], np.int64)
    updates = normal(2, 3)
    for reduction, combine in (("add", np.add), ("mul", np.multiply), ("min", np.minimum), ("max", np.maximum)):
        expected = data.copy()
        for i in range(2):
            for j in range(3):
                at = (i, indices[i, j])
                expected[at] = combine(expected[at], updates[i, j])
        cases.add(f"ScatterElements_{reduction}", "ScatterElements", [data, indices, updates], [expected],
                   axis=1, reduction=reduction)
        expected = data.copy()
        rows = np.array([[3], [-4], [3]], np.int64)
        slices = normal(3, 5)
        for row, update in zip(rows[:, 0], slices):
            expected[row] = combine(expected[row], update)
        cases.add(f"ScatterND_{reduction}", "ScatterND", [data, rows, slices], [expected], reduction=reduction)
    columns = np.array([[3, 0, -1], [1, 4, 2]], np.int32)
    written = data.copy()
    written[np.arange(2)[:, None], columns] = updates
    cases.add("ScatterElements_int32", "ScatterElements", [data, columns, updates], [written], axis=1)
    cube = normal(3, 4, 5)
    places = np.array([[[0, 1], [-1, 3]], [[2, -2], [1, 1]]], np.int64)
    written, slices = cube.copy(), normal(2, 2, 5)
    written[places[..., 0], places[..., 1]] = slices
    cases.add("ScatterND", "ScatterND", [cube, places, slices], [written])
    cases.add("GatherND", "GatherND", [cube, places], [cube[places[..., 0], places[..., 1]]])
    along = RANDOM.integers(-4, 4, (3, 6, 5)).astype(np.int32)
    cases.add("GatherElements_int32", "GatherElements", [cube, along], [np.take_along_axis(cube, along, 1)], axis=1)
    cases.add("Gather_int32", "Gather", [cube, np.array([[1, -1], [0, 3]], np.int32)], [cube[:, [[1, -1], [0, 3]]]],
              axis=1)
    for largest in (0, 1):
        order = np.argsort(-cube if largest else cube, axis=1, kind="stable")[:, :3]
        cases.add(f"TopK_{largest}", "TopK", [cube, ints(3)], [np.take_along_axis(cube, order, 1), order], axis=1,
                  largest=largest)
    for reverse in (0, 1):
        long = normal(2, 70, 3)
        sums = np.cumsum(long.astype(np.float64)[:, ::-1] if reverse else long.astype(np.float64), axis=1)
        cases.add(f"CumSum_{reverse}", "CumSum", [long, np.int64(-2)],
                  [(sums[:, ::-1] if reverse else sums).astype(np.float32)], reverse=reverse)
    values = np.array([[7, 2 ** 64 - 1, 3], [2 ** 63, 5, 5]], np.uint64)
    order = np.array([[1, 0], [0, 1]], np.int64)
    cases.add("TopK_unsigned", "TopK", [values, ints(2)], [np.take_along_axis(values, order, 1), order])


def products(cases: Cases) -> None:
    for name, a, b in (("vectors", normal(3), normal(3)), ("row", normal(3), normal(2, 3, 4)),
                       ("column", normal(2, 4, 3), normal(3)), ("batches", normal(5, 1, 2, 3), normal(4, 3, 2))):
        cases.add(f"MatMul_{name}", "MatMul", [a, b], [np.matmul(a, b)])
    a, b = RANDOM.integers(-9, 9, (3, 4)).astype(np.int32), RANDOM.integers(-9, 9, (4, 2)).astype(np.int32)
    cases.add("MatMul_int", "MatMul", [a, b], [a @ b])
    a, b, c = normal(3, 4), normal(4, 5), normal(5, 2)
    for name, equation, operands in (("implicit", "ij,jk", (a, b)), ("chain", "ij,jk,kl->il", (a, b, c)),
                                     ("diagonal", "ii->i", (normal(4, 4),)), ("trace", "ii", (normal(4, 4),)),
                                     ("ellipsis", "...ij,...jk->...ik", (normal(2, 1, 3, 4), normal(5, 4, 2))),
                                     ("outer", "i, j -> ji", (normal(2), normal(3)))):
        cases.add(f"Einsum_{name}", "Einsum", operands, [np.einsum(equation, *operands)], equation=equation)


def parts(z):
    return np.stack([z.real, z.imag], axis=-1).astype(np.float32)


def signals(cases: Cases) -> None:
    x = normal(2, 6, 3, 1)
    real = x[..., 0].astype(np.float64)
    cases.add("DFT_axis", "DFT", [x, None, ints(1)[0]], [parts(np.fft.fft(real, axis=1))])
    cases.add("DFT_default_axis", "DFT", [x], [parts(np.fft.fft(real, axis=2))])
    cases.add("DFT_onesided", "DFT", [x, None, ints(1)[0]], [parts(np.fft.rfft(real, axis=1))], onesided=1)
    cases.add("DFT_padded", "DFT", [x, ints(9)[0], ints(-3)[0]], [parts(np.fft.fft(real, n=9, axis=1))])
    cases.add("DFT_cut", "DFT", [x, ints(4)[0], ints(1)[0]], [parts(np.fft.fft(real, n=4, axis=1))])
    z = normal(2, 5, 2)
    half = parts(np.fft.rfft(real, axis=1))
    bins = half[..., 0] + 1j * half[..., 1]
    for length in (None, 6, 7, 9, 4):
        given = None if length is None else ints(length)[0]
        back = np.fft.irfft(bins, n=length, axis=1)[..., None].astype(np.float32)
        cases.add(f"DFT_onesided_inverse_{length}", "DFT", [half, given, ints(1)[0]], [back], onesided=1, inverse=1)
    cases.add("DFT_inverse", "DFT", [z, None, ints(1)[0]], [parts(np.fft.ifft(z[..., 0] + 1j * z[..., 1], axis=1))], inverse=1)


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    cases = Cases(sys.argv)
    for group in (reductions, backward_slices, splits_and_pads, normalizations, elementwise, indexing, products, signals):
        group(cases)
    cases.run()


if __name__ == "__main__":
    main()
