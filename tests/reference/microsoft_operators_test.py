"""Operators of com.microsoft, which the importer expands, against numpy in double precision.

usage: microsoft_operators_test.py HONE [FOLDER]
"""
import math
import sys

import numpy as np

from case_writer import Cases
from standard_expansions_test import heads_first, rotary

RANDOM = np.random.default_rng(24)
ERF = np.vectorize(math.erf)


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def whole(low, high, *shape, dtype=np.uint8):
    return RANDOM.integers(low, high, size=shape).astype(dtype)


def single(*arrays):
    return [None if x is None else np.asarray(x).astype(np.float32) for x in arrays]


def gelu(x):
    return x * 0.5 * (1 + ERF(x / np.sqrt(2)))


def tanh_gelu(x):
    return x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def sigmoid(x):
    return 1 / (1 + np.exp(-np.float64(x)))


def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis, keepdims=True))
    return weights / weights.sum(axis, keepdims=True)


def layer_norm(x, scale, bias, epsilon):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + epsilon) * scale + bias


def rms_norm(x, scale, epsilon):
    return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + epsilon) * scale


class Table:
    """Adds cases of the domain."""

    def __init__(self, cases: Cases):
        self.cases = cases
        self.count = 0

    def add(self, op, inputs, outputs, domain="com.microsoft", **options):
        self.count += 1
        self.cases.add(f"{op}_{self.count}", op, inputs, outputs, domain=domain, **options)


def activations(table: Table) -> None:
    x, bias = normal(2, 3, 8), normal(8)
    wide = np.float64(x)
    table.add("Gelu", [x], single(gelu(wide)))
    table.add("BiasGelu", [x, bias], single(gelu(wide + bias)))
    table.add("FastGelu", [x], single(tanh_gelu(wide)))
    table.add("FastGelu", [x, bias], single(tanh_gelu(wide + bias)))
    table.add("QuickGelu", [x], single(wide * sigmoid(1.702 * wide)))
    table.add("QuickGelu", [x], single(wide * sigmoid(0.5 * wide)), alpha=0.5)
    table.add("BiasSplitGelu", [x, bias], single((wide + bias)[..., :4] * gelu((wide + bias)[..., 4:])))
    table.add("BiasAdd", [x, bias, x], single(2 * wide + bias))


def norms(table: Table) -> None:
    x, skip, scale, beta, bias = normal(2, 3, 8), normal(2, 3, 8), normal(8), normal(8), normal(8)
    total = np.float64(x) + skip
    table.add("SkipLayerNormalization", [x, skip, scale, beta, bias],
              single(layer_norm(total + bias, scale, beta, 1e-12), None, None, total + bias))
    table.add("SkipLayerNormalization", [x, skip[0], scale],
              single(layer_norm(np.float64(x) + skip[0], scale, 0, 1e-3)), epsilon=1e-3)
    table.add("SkipSimplifiedLayerNormalization", [x, skip, scale, bias],
              single(rms_norm(total + bias, scale, 1e-5), None, None, total + bias), epsilon=1e-5)
    for domain in ("", "com.microsoft"):
        table.add("SimplifiedLayerNormalization", [x, scale], single(rms_norm(np.float64(x), scale, 1e-5)), domain=domain,
                  axis=-1)
    words, positions, kinds = normal(9, 8), normal(5, 8), normal(2, 8)
    ids, segments = whole(0, 9, 2, 3, dtype=np.int32), whole(0, 2, 2, 3, dtype=np.int32)
    mask = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
    embedded = np.float64(words[ids]) + positions[:3] + kinds[segments]
    table.add("EmbedLayerNormalization", [ids, segments, words, positions, kinds, scale, beta, mask],
              single(layer_norm(embedded, scale, beta, 1e-12))
              + [np.array([2, 3], np.int32), embedded.astype(np.float32)], open_shapes=True)
    where = whole(0, 5, 2, 3, dtype=np.int32)
    table.add("EmbedLayerNormalization", [ids, None, words, positions, None, scale, beta, None, where],
              single(layer_norm(np.float64(words[ids]) + positions[where], scale, beta, 1e-12)))


def products(table: Table) -> None:
    a, b = normal(2, 4, 5), normal(2, 5, 6)
    table.add("FusedMatMul", [a.swapaxes(1, 2), b.swapaxes(1, 2)], single(0.5 * (np.float64(a) @ b)), transA=1, transB=1,
              alpha=0.5)
    table.add("FusedMatMul", [a.swapaxes(0, 1), b], single(np.float64(a) @ b), transBatchA=1)
    c = normal(6)
    flat = np.float64(a[0]) @ b[0] * 2 + 0.5 * c
    table.add("FusedGemm", [a[0], b[0], c], single(np.where(flat > 0, flat, 0.1 * flat)), alpha=2.0, beta=0.5,
              activation="LeakyRelu", activation_alpha=0.1)
    x, w, bias, added = normal(1, 3, 4, 4), normal(2, 3, 1, 1), normal(2), normal(1, 2, 4, 4)
    y = np.einsum("bchw,oc->bohw", np.float64(x), w[:, :, 0, 0]) + bias.reshape(1, 2, 1, 1)
    table.add("FusedConv", [x, w, bias], single(np.clip(y, -2.0, 1.5)), activation="Clip", activation_params=[-2.0, 1.5],
              kernel_shape=[1, 1])
    table.add("FusedConv", [x, w, bias, added], single(np.maximum(y + added, 0)), activation="Relu")
    table.add("NhwcConv", [x.transpose(0, 2, 3, 1), w.transpose(0, 2, 3, 1), bias], single(y.transpose(0, 2, 3, 1)))
    pixels = whole(0, 255, 1, 4, 4, 3)
    table.add("NhwcMaxPool", [pixels], [pixels.reshape(1, 2, 2, 2, 2, 3).max((2, 4))], kernel_shape=[2, 2], strides=[2, 2])


def attend(q, k, v, bias=0.0, scale=None):
    """[batch, heads, sequence, depth], with `bias` added to the scores; the heads side by side again."""
    group = q.shape[1] // k.shape[1]
    scores = q @ np.repeat(k, group, 1).swapaxes(2, 3) * (q.shape[3] ** -0.5 if scale is None else scale) + bias
    y = softmax(scores) @ np.repeat(v, group, 1)
    return y.transpose(0, 2, 1, 3).reshape(len(y), y.shape[2], -1)


def causal(queries, keys, offset=0):
    return np.where(np.arange(keys) <= np.arange(queries)[:, None] + offset, 0.0, -np.inf)


def attentions(table: Table) -> None:
    # Weights so small that roundings of scores to 16 bits move no weight of a softmax far.
    x, w, b = normal(2, 3, 6), normal(6, 24) * np.float32(0.3), normal(24)
    q, k, v = (heads_first(part, 2) for part in np.split(np.float64(x) @ w + b, 3, -1))
    table.add("Attention", [x, w, b], single(attend(q, k, v)), num_heads=2, open_shapes=True)
    past = normal(2, 2, 2, 2, 4)
    all_k, all_v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
    table.add("Attention", [x, w, b, None, past],
              single(attend(q, all_k, all_v, causal(3, 5, 2)), np.stack([all_k, all_v])), num_heads=2, unidirectional=1,
              open_shapes=True)
    padding = {
        "raw": (np.array([[1, 1, 0], [0, 1, 1]]), [[1, 1, 0], [0, 1, 1]]),
        "ends": (np.array([2, 3]), [[1, 1, 0], [1, 1, 1]]),
        "ends_and_starts": (np.array([2, 3, 0, 1]), [[1, 1, 0], [0, 1, 1]]),
    }
    for mask, seen in padding.values():
        bias = np.where(np.array(seen) == 1, 0.0, -7.0)[:, None, None]
        table.add("Attention", [x, w, b, mask.astype(np.int32)], single(attend(q, k, v, bias)), num_heads=2,
                  mask_filter_value=-7.0, open_shapes=True)
    pairs = np.tril(np.ones((2, 3, 3), np.int32))
    extra = normal(1, 2, 3, 3)
    table.add("Attention", [x, w, b, pairs, None, extra],
              single(attend(q, k, v, np.where(pairs == 1, 0.0, -10000.0)[:, None] + extra, 0.3)), num_heads=2, scale=0.3)
    narrow = np.split(np.float64(x) @ w[:, :20] + b[:20], [8, 16], -1)
    table.add("Attention", [x, w[:, :20], b[:20]], single(attend(*(heads_first(part, 2) for part in narrow))), num_heads=2,
              qkv_hidden_sizes=[8, 8, 4])
    x8, w8 = whole(0, 255, 2, 3, 6), whole(-127, 127, 6, 24, dtype=np.int8)
    scales, zero = (np.float32(0.004), np.float32(0.01)), np.array(120, np.uint8)
    product = (np.float64(x8) - 120) @ w8 * 0.004 * 0.01 + b
    table.add("QAttention", [x8, w8, b, *scales, None, zero],
              single(attend(*(heads_first(part, 2) for part in np.split(product, 3, -1)))), num_heads=2)


def multi_head_attentions(table: Table) -> None:
    q, k, v, b = normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 12), normal(28)
    heads = [heads_first(np.float64(x) + part, 2) for x, part in zip((q, k, v), np.split(b, [8, 16]))]
    mask, extra = np.array([[1, 1, 1, 0, 1], [1, 0, 1, 1, 1]], np.int32), normal(2, 1, 3, 5)
    bias = np.where(mask == 1, 0.0, -10000.0)[:, None, None] + extra
    table.add("MultiHeadAttention", [q, k, v, b, mask, extra], single(attend(*heads, bias)), num_heads=2,
              open_shapes=True)
    past_k, past_v = normal(2, 2, 4, 4), normal(2, 2, 4, 6)
    q1, k1, v1 = (heads_first(np.float64(x), 2) for x in (q, k[:, :3], v[:, :3]))
    k1, v1 = np.concatenate([past_k, k1], 2), np.concatenate([past_v, v1], 2)
    table.add("MultiHeadAttention", [q, k[:, :3], v[:, :3], None, None, None, past_k, past_v],
              single(attend(q1, k1, v1, causal(3, 7, 4)), k1, v1), num_heads=2, unidirectional=1, open_shapes=True)
    table.add("MultiHeadAttention", [q, past_k, past_v], single(attend(heads_first(np.float64(q), 2), past_k, past_v)),
              num_heads=2)
    packed, b = normal(2, 3, 2, 3, 4), normal(24)
    parts = [(np.float64(packed[:, :, :, i]) + b[8 * i:8 * i + 8].reshape(2, 4)).transpose(0, 2, 1, 3) for i in range(3)]
    table.add("MultiHeadAttention", [packed, None, None, b], single(attend(*parts)), num_heads=2)
    pair = normal(2, 5, 2, 2, 4)
    table.add("MultiHeadAttention", [q, pair],
              single(attend(heads_first(np.float64(q), 2), *(pair[:, :, :, i].transpose(0, 2, 1, 3) for i in (0, 1)))),
              num_heads=2)


def group_query_attentions(table: Table) -> None:
    cos, sin = normal(12, 4), normal(12, 4)

    def add(batch, rows, cached, past_rows, packed=False, rotate=False, window=-1, sink=None, **attributes):
        """`cached` rows of the past are valid in each sample; it has `past_rows`, or does not exist."""
        cached = np.asarray(cached)
        q, k, v = normal(batch, rows, 32), normal(batch, rows, 16), normal(batch, rows, 16)
        total = int(cached.max()) + rows
        length = max(total, past_rows or 0)
        shape = (batch, 2, past_rows or 0, 8)
        past_k, past_v = normal(*shape), normal(*shape)
        wide_q, wide_k, wide_v = heads_first(np.float64(q), 4), heads_first(np.float64(k), 2), heads_first(np.float64(v), 2)
        at = cached[:, None] + np.arange(rows)
        if rotate:
            wide_q = rotary(wide_q, cos, sin, at, **rotate)
            wide_k = rotary(wide_k, cos, sin, at, **rotate)
        present = []
        for past, new in ((past_k, wide_k), (past_v, wide_v)):
            held = np.concatenate([past, np.zeros((batch, 2, length - past.shape[2], 8))], 2)
            for i, start in enumerate(cached):
                held[i, :, start:start + rows] = new[i]
            present.append(held)
        keys = np.arange(total)
        seen = (keys <= at[..., None]) & ((window < 1) | (keys > at[..., None] - window))
        scores = wide_q @ np.repeat(present[0][:, :, :total], 2, 1).swapaxes(2, 3) / np.sqrt(8)
        scores = np.where(seen[:, None], scores, -np.inf)
        if sink is not None:
            column = np.broadcast_to(sink.reshape(1, 4, 1, 1), (batch, 4, rows, 1))
            scores = np.concatenate([scores, column], -1)
        y = softmax(scores)[..., :total] @ np.repeat(present[1][:, :, :total], 2, 1)
        inputs = [np.concatenate([q, k, v], -1), None, None] if packed else [q, k, v]
        inputs += [None, None] if past_rows is None else [past_k, past_v]
        inputs += [(cached + rows - 1).astype(np.int32), np.array(total, np.int32)]
        inputs += [cos, sin] if rotate else [None, None]
        if sink is not None:
            inputs += [None, None, sink]
        if rotate:
            attributes = {**attributes, "do_rotary": 1, "rotary_interleaved": rotate["interleaved"]}
        table.add("GroupQueryAttention", inputs,
                  single(y.transpose(0, 2, 1, 3).reshape(batch, rows, 32), *present), num_heads=4, kv_num_heads=2,
                  local_window_size=window, open_shapes=True, **attributes)

    add(2, 4, [0, 0], None)
    add(2, 4, [0, 0], 6, packed=True, rotate={"interleaved": 0})
    add(1, 2, [3], 3, rotate={"interleaved": 1})
    add(2, 1, [5, 2], 8, window=3)
    add(2, 1, [4, 4], 4, sink=normal(4))


def quantized_products(table: Table) -> None:
    for bits, depth, size in ((4, 40, 16), (8, 32, 32), (2, 32, 16)):
        blocks = -(-depth // size)
        numbers = whole(0, 1 << bits, 5, blocks, size)
        zeros = whole(0, 1 << bits, 5, blocks)
        scales, x, bias = np.abs(normal(5, blocks)), normal(2, 3, depth), normal(5)

        def pack(values, bits=bits):
            per_byte = 8 // bits
            padded = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, -values.shape[-1] % per_byte)])
            groups = padded.reshape(*padded.shape[:-1], -1, per_byte)
            return sum(groups[..., i].astype(np.uint8) << np.uint8(i * bits) for i in range(per_byte)).astype(np.uint8)

        def product(zero, numbers=numbers, scales=scales, x=x, depth=depth):
            weights = (np.float64(numbers) - zero) * scales[..., None]
            return np.float64(x) @ weights.reshape(5, -1)[:, :depth].T

        sizes = {"K": depth, "N": 5, "bits": bits, "block_size": size}
        table.add("MatMulNBits", [x, pack(numbers), scales], single(product(1 << (bits - 1))), **sizes)
        table.add("MatMulNBits", [x, pack(numbers), scales.reshape(-1), pack(zeros), None, bias],
                  single(product(zeros[..., None]) + bias), accuracy_level=4, **sizes)
        floats = np.float32(zeros) + np.float32(0.25)
        table.add("MatMulNBits", [x, pack(numbers), scales, floats], single(product(floats[..., None])), **sizes)
        ids = np.array([[4, 0], [2, 2]], np.int64)
        rows = ((np.float64(numbers) - zeros[..., None]) * scales[..., None]).reshape(5, -1)
        table.add("GatherBlockQuantized", [pack(numbers).reshape(5, -1), ids, scales, pack(zeros)], single(rows[ids]),
                  bits=bits, block_size=size, quantize_axis=1)
    levels = np.array([0, 0.0625, 8, 12, 4, 6, 2, 3]) / 12
    numbers, scales, x = whole(0, 16, 5 * 40), np.abs(normal(13)), normal(2, 40)
    packed = (numbers[::2] << np.uint8(4)) | numbers[1::2]
    weights = np.concatenate([levels, -levels])[numbers] * scales[np.arange(200) // 16]
    table.add("MatMulBnb4", [x, packed, scales], single(np.float64(x) @ weights.reshape(5, 40).T), constants_only=True,
              K=40, N=5, block_size=16, quant_type=0)
    a8, b8 = whole(0, 255, 2, 3, 4), whole(-127, 127, 4, 5, dtype=np.int8)
    scale_a, scale_b, zero_a, bias = np.float32(0.02), np.abs(normal(5)), np.array(130, np.uint8), normal(5)
    product = (np.float64(a8) - 130) @ b8 * 0.02 * scale_b + bias
    table.add("MatMulIntegerToFloat", [a8, b8, scale_a, scale_b, zero_a, None, bias], single(product))
    # Whole numbers from 0 to 255 are quantized with the scale 1, so that nothing is lost.
    exact = np.float32(a8)
    exact[0, 0, :2] = 0, 255
    table.add("DynamicQuantizeMatMul", [exact, b8, scale_b, None, bias], single(np.float64(exact) @ b8 * scale_b + bias))


def quantized(table: Table) -> None:
    def quantize(x, scale, zero):
        limits = np.iinfo(zero.dtype)
        return np.clip(np.rint(x / scale) + int(zero), limits.min, limits.max).astype(zero.dtype)

    # Powers of two, so that dequantized numbers are exact.
    a, b = whole(0, 255, 2, 3, 4, 4), whole(0, 255, 3, 1, 1)
    scales = [np.float32(s) for s in (0.125, 0.25, 0.5)]
    zeros = [np.array(z, np.uint8) for z in (120, 100, 90)]
    x, y = (np.float64(a) - 120) * 0.125, (np.float64(b) - 100) * 0.25
    one, two, out = [a, scales[0], zeros[0]], [b, scales[1], zeros[1]], [scales[2], zeros[2]]

    def add(op, inputs, wanted, target=(scales[2], zeros[2]), **attributes):
        table.add(op, inputs, [quantize(wanted, *target)], **attributes)

    add("QLinearAdd", one + two + out, x + y)
    add("QLinearMul", one + two + out, x * y)
    add("QLinearLeakyRelu", one + out, np.where(x > 0, x, 0.25 * x), alpha=0.25)
    fine = (np.float32(1 / 256), np.array(0, np.uint8))
    add("QLinearSigmoid", one + list(fine), sigmoid(x), fine)
    add("QLinearSoftmax", one + list(fine), softmax(x), fine, axis=-1, opset=13)
    add("QLinearSoftmax", one + list(fine), softmax(x.reshape(2, -1)).reshape(x.shape), fine, axis=1, opset=12)
    add("QLinearGlobalAveragePool", one + out, x.mean((2, 3), keepdims=True))
    last = [a.transpose(0, 2, 3, 1), *one[1:]]
    add("QLinearGlobalAveragePool", last + out, x.mean((2, 3), keepdims=True).transpose(0, 2, 3, 1), channels_last=1)
    add("QLinearAveragePool", one + out, x.reshape(2, 3, 2, 2, 2, 2).mean((3, 5)), kernel_shape=[2, 2], strides=[2, 2])
    add("QLinearConcat", out + one + [b[None].repeat(2, 0).repeat(4, 2).repeat(4, 3), *two[1:]],
        np.concatenate([x, np.broadcast_to(y, x.shape)], 1), axis=1)
    add("QLinearReduceMean", one + out, x.mean((1, 3), keepdims=True), axes=[1, 3], keepdims=1)
    chosen = RANDOM.random((2, 3, 4, 4)) < 0.5
    add("QLinearWhere", [chosen] + one + two + out, np.where(chosen, x, y))
    m, n, c = whole(0, 255, 3, 4), whole(-9, 9, 5, 4, dtype=np.int8), whole(-50, 50, 5, dtype=np.int32)
    gemm = ((np.float64(m) - 120) @ n.T + c) * (0.125 * 0.25 * 0.5)
    head = [m, scales[0], zeros[0], n, scales[1], np.array(0, np.int8), c]
    table.add("QGemm", head, single(gemm), transB=1, alpha=0.5)
    add("QGemm", head + out, gemm, transB=1, alpha=0.5)
    w = whole(-9, 9, 2, 3, 1, 1, dtype=np.int8)
    convolved = np.einsum("bchw,oc->bhwo", x, w[:, :, 0, 0] * 0.25)
    add("QLinearConv", last + [w, scales[1], np.array(0, np.int8)] + out, convolved, channels_last=1)


def others(table: Table) -> None:
    x = normal(2, 3, 4)
    table.add("Trilu", [x], [np.tril(x)], upper=0)
    table.add("Pad", [x, np.array([0, 1, 0, 0, 0, 2], np.int64), np.float32(3)],
              [np.pad(x, [(0, 0), (1, 0), (0, 2)], constant_values=3)])
    table.add("GatherND", [x, np.array([[1, 2], [0, 0]], np.int64)], [x[[1, 0], [2, 0]]])
    table.add("ExpandDims", [x, np.array(-1, np.int32)], [x[..., None]])
    table.add("QuantizeLinear", [x, np.float32(0.125), np.array(3, np.int16)],
              [(np.rint(x / np.float32(0.125)) + 3).astype(np.int16)])
    table.add("DequantizeLinear", [np.array([4, -5], np.int16), np.float32(0.5), np.array(3, np.int16)],
              [np.array([0.5, -4], np.float32)])
    table.add("BiasSoftmax", [x, normal(3, 4) * 0], single(softmax(np.float64(x))), axis=2, is_inner_broadcast=1)
    table.add("BiasSoftmax", [x, x], single(softmax(2 * np.float64(x).reshape(2, 12)).reshape(x.shape)), axis=1)
    table.add("BiasDropout", [x, x, x], single(3 * np.float64(x)), seed=1)
    image, scale, bias = normal(2, 2, 2, 4), normal(4), normal(4)
    groups = np.float64(image).transpose(0, 3, 1, 2).reshape(2, 2, -1)
    normalized = layer_norm(groups, 1, 0, 1e-5).reshape(2, 4, 2, 2).transpose(0, 2, 3, 1) * scale + bias
    table.add("GroupNorm", [image, scale, bias], single(normalized * sigmoid(normalized)), groups=2, activation=1)
    grid = np.array([[[[-0.5, -0.5], [0.5, 0.5]]]], np.float32)
    pixels = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    table.add("GridSample", [pixels, grid], [np.array([[[[0, 3]]]], np.float32)], mode="bilinear")
    table.add("GridSample", [pixels, np.zeros((1, 1, 1, 2), np.float32)], [np.array([[[[1.5]]]], np.float32)])
    camera = np.array([[900, 0, 320], [0, 910, 240], [0, 0, 1]], np.float32)
    table.add("Inverse", [camera], single(np.linalg.inv(np.float64(camera))))
    stack = normal(2, 4, 4) + 4 * np.eye(4, dtype=np.float32)
    table.add("Inverse", [stack], single(np.linalg.inv(np.float64(stack))))
    a, b = normal(3, 4), normal(5, 4)
    squares = ((np.float64(a)[:, None] - b) ** 2).sum(-1)
    table.add("CDist", [a, b], single(squares))
    table.add("CDist", [a, b], single(np.sqrt(squares)), metric="euclidean")
    positions, cos, sin = np.array([[2, 0, 1], [4, 4, 3]], np.int64), normal(5, 2), normal(5, 2)
    four, flat = normal(2, 3, 3, 8), normal(2, 3, 24)
    table.add("RotaryEmbedding", [four, positions, cos, sin],
              [rotary(four, cos, sin, positions, interleaved=1, rotary_embedding_dim=4)], interleaved=1,
              rotary_embedding_dim=4, num_heads=3)
    full_cos, full_sin = normal(5, 4), normal(5, 4)
    table.add("RotaryEmbedding", [flat, np.array([1], np.int64), full_cos, full_sin],
              [rotary(flat, full_cos, full_sin, np.array([[1, 2, 3]] * 2), num_heads=3)])


def dynamic_quantize(x):
    """ONNX's DynamicQuantizeLinear: the numbers less their zero point, and the scale."""
    x = np.float32(x)
    low, high = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
    scale = (high - low) / np.float32(255) if high > low else np.float32(1)
    zero = np.clip(np.rint(-low / scale), 0, 255)
    return np.clip(np.rint(x / scale) + zero, 0, 255) - zero, np.float64(scale)


def dynamic_lstm(x, w, r, w_scale, r_scale, w_zero, r_zero, bias=None, start=None, peephole=None, reverse=False):
    """One direction; gates are input, output, forget, cell."""
    hidden = r.shape[0]
    h, c = start if start else (np.zeros((x.shape[1], hidden)), np.zeros((x.shape[1], hidden)))
    numbers, scale = dynamic_quantize(x)
    gates = numbers @ (np.float64(w) - w_zero) * (scale * w_scale)
    if bias is not None:
        gates = gates + bias[:4 * hidden] + bias[4 * hidden:]
    p = np.zeros((3, hidden)) if peephole is None else peephole.reshape(3, hidden)
    outputs = [None] * x.shape[0]
    for t in reversed(range(x.shape[0])) if reverse else range(x.shape[0]):
        numbers, scale = dynamic_quantize(h)
        i, o, f, g = np.split(gates[t] + numbers @ (np.float64(r) - r_zero) * (scale * r_scale), 4, axis=-1)
        c = sigmoid(f + p[2] * c) * c + sigmoid(i + p[0] * c) * np.tanh(g)
        h = sigmoid(o + p[1] * c) * np.tanh(c)
        outputs[t] = h
    return np.stack(outputs), h, c


def recurrent(table: Table) -> None:
    for directions, dtype, columns in ((1, np.int8, True), (2, np.uint8, False)):
        x, start = normal(4, 2, 6), [normal(directions, 2, 5), normal(directions, 2, 5)]
        low, high = (-90, 90) if dtype == np.int8 else (0, 255)
        w, r = (whole(low, high, directions, n, 20, dtype=dtype) for n in (6, 5))
        shape = (directions, 20) if columns else (directions,)
        scales = [RANDOM.uniform(0.002, 0.01, shape).astype(np.float32) for _ in range(2)]
        zeros = [whole(max(low, 0), 9, *shape, dtype=dtype) for _ in range(2)]
        bias, peepholes = normal(directions, 40), normal(directions, 15)
        results = [dynamic_lstm(x, w[d], r[d], scales[0][d], scales[1][d], np.float64(zeros[0][d]),
                                np.float64(zeros[1][d]), bias[d], (start[0][d], start[1][d]), peepholes[d],
                                reverse=d == 1) for d in range(directions)]
        outputs = [np.stack([y for y, _, _ in results], 1), np.stack([h for _, h, _ in results]),
                   np.stack([c for _, _, c in results])]
        table.add("DynamicQuantizeLSTM", [x, w, r, bias, None, *start, peepholes, scales[0], zeros[0], scales[1], zeros[1]],
                  single(*outputs), hidden_size=5, direction="bidirectional" if directions == 2 else "forward")


def main() -> None:
    cases = Cases(sys.argv, rtol=1e-4, atol=1e-5)
    table = Table(cases)
    for family in (activations, norms, products, attentions, multi_head_attentions, group_query_attentions,
                   quantized_products, quantized, recurrent, others):
        family(table)
    cases.run()


if __name__ == "__main__":
    main()
