"""Operators of opset 23 to 26 that the importer expands, against numpy in double precision.

usage: standard_expansions_test.py HONE [FOLDER]
"""
import sys

import numpy as np

from case_writer import Cases

RANDOM = np.random.default_rng(23)


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def heads_first(x, heads):
    return x if x.ndim == 4 else x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def attention(q, k, v, mask=None, past_key=None, past_value=None, lengths=None, q_num_heads=0, kv_num_heads=0,
              scale=None, is_causal=0, softcap=0.0, left_window_size=-1, right_window_size=-1, softmax_precision=1):
    """The four outputs, with the scores after softmax as the last."""
    rank = q.ndim
    query, key, value = (heads_first(np.float64(x), n) for x, n in
                         ((q, q_num_heads), (k, kv_num_heads), (v, kv_num_heads)))
    past = 0
    if past_key is not None:
        past = past_key.shape[2]
        key, value = np.concatenate([past_key, key], 2), np.concatenate([past_value, value], 2)
    queries, keys = query.shape[2], key.shape[2]
    group = query.shape[1] // key.shape[1]
    scores = query @ np.repeat(key, group, 1).swapaxes(2, 3) * (query.shape[3] ** -0.5 if scale is None else scale)
    if softcap > 0:
        scores = softcap * np.tanh(scores / softcap)
    offset = np.full((len(query), 1, 1, 1), past) if lengths is None else lengths.reshape(-1, 1, 1, 1) - queries
    at = np.arange(queries).reshape(-1, 1) + offset
    allowed = np.ones((1, 1, queries, keys), bool)
    if is_causal:
        allowed = allowed & (np.arange(keys) <= at)
    if left_window_size >= 0:
        allowed = allowed & (np.arange(keys) >= at - left_window_size)
    if right_window_size >= 0:
        allowed = allowed & (np.arange(keys) <= at + right_window_size)
    if lengths is not None:
        allowed = allowed & (np.arange(keys) < lengths.reshape(-1, 1, 1, 1))
    if mask is not None:
        short = [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])]
        if mask.dtype == bool:
            allowed = allowed & np.pad(mask, short)
        else:
            scores = scores + np.pad(mask, short, constant_values=-np.inf)
    scores = np.where(allowed, scores, -np.inf)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    total = weights.sum(-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    result = weights @ np.repeat(value, group, 1)
    if rank == 3:
        result = result.transpose(0, 2, 1, 3).reshape(*q.shape[:2], -1)
    return [x.astype(np.float32) for x in (result, key, value, weights)]


def attentions(cases: Cases) -> None:
    def add(name, shapes, mask=None, past=None, lengths=None, opset=25, **attributes):
        q, k, v = (normal(*shape) for shape in shapes)
        past_key = normal(*past[0]) if past else None
        past_value = normal(*past[1]) if past else None
        wanted = attention(q, k, v, mask, past_key, past_value, lengths, **attributes)
        inputs = [q, k, v, mask, past_key, past_value, lengths]
        while inputs[-1] is None:
            inputs.pop()
        cases.add(f"Attention_{name}", "Attention", inputs, wanted, opset=opset, qk_matmul_output_mode=3, open_shapes=True,
                  **attributes)

    flat = [(2, 3, 8), (2, 4, 8), (2, 4, 12)]
    add("flat", flat, q_num_heads=4, kv_num_heads=4, opset=23)
    add("grouped", [(2, 3, 24), (2, 5, 8), (2, 5, 8)], q_num_heads=6, kv_num_heads=2, is_causal=1, softcap=1.5)
    four = [(2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 6)]
    add("four_axes", four, scale=0.3, opset=23)
    add("causal_from_the_top", four, is_causal=1)
    past = [(2, 2, 3, 8), (2, 2, 3, 6)]
    add("past_causal", four, past=past, is_causal=1)
    add("window", four, past=past, left_window_size=2, right_window_size=1)
    blocked = RANDOM.random((2, 1, 3, 5)) < 0.6
    blocked[0, 0, 1] = False  # a row that sees no key
    add("mask_with_an_empty_row", four, mask=blocked)
    add("mask_of_heads", four, mask=normal(4, 3, 5))
    add("short_mask", four, mask=RANDOM.random((3, 4)) < 0.7, past=past, opset=24)
    add("short_float_mask", four, mask=normal(3, 4), opset=24)
    add("lengths", four, lengths=np.array([5, 2], np.int64), opset=24)
    # Sample 1 has fewer keys than queries: its first query sees none.
    add("lengths_causal", four, lengths=np.array([5, 2], np.int64), is_causal=1, opset=24)
    add("double_softmax", four, softmax_precision=11, mask=np.full((3, 5), -np.inf, np.float32))


def rotary(x, cos, sin, positions=None, interleaved=0, rotary_embedding_dim=0, num_heads=0):
    wide = heads_first(np.float64(x), num_heads).copy()
    channels = rotary_embedding_dim or wide.shape[3]
    if positions is not None:
        cos, sin = cos[positions], sin[positions]
    cos, sin = np.float64(cos)[:, None], np.float64(sin)[:, None]
    first = slice(0, channels, 2) if interleaved else slice(0, channels // 2)
    second = slice(1, channels, 2) if interleaved else slice(channels // 2, channels)
    real, imaginary = wide[..., first].copy(), wide[..., second].copy()
    wide[..., first] = real * cos - imaginary * sin
    wide[..., second] = real * sin + imaginary * cos
    if x.ndim == 3:
        wide = wide.transpose(0, 2, 1, 3).reshape(x.shape)
    return wide.astype(np.float32)


def rotaries(cases: Cases) -> None:
    positions = np.array([[4, 0, 7], [1, 2, 3]], np.int64)
    for interleaved in (0, 1):
        for channels in (0, 4):
            half = (channels or 8) // 2
            for name, x, table, where, heads in (
                    ("four_axes", normal(2, 5, 3, 8), (9, half), positions, 0),
                    ("flat", normal(2, 3, 40), (9, half), positions, 5),
                    ("own_rows", normal(2, 5, 3, 8), (2, 3, half), None, 0)):
                cos, sin = normal(*table), normal(*table)
                attributes = {"interleaved": interleaved, "rotary_embedding_dim": channels}
                if heads:
                    attributes["num_heads"] = heads
                inputs = [x, cos, sin] + ([] if where is None else [where])
                cases.add(f"RotaryEmbedding_{name}_{interleaved}_{channels}", "RotaryEmbedding", inputs,
                          [rotary(x, cos, sin, where, **attributes)], opset=23, open_shapes=True, **attributes)


def simple_ones(cases: Cases) -> None:
    x = normal(2, 3, 4)
    scale = normal(4)
    wide = np.float64(x)
    cases.add("RMSNormalization", "RMSNormalization", [x, scale],
              [(wide / np.sqrt((wide ** 2).mean(-1, keepdims=True) + 1e-3) * scale).astype(np.float32)], opset=23,
              epsilon=1e-3)
    scale = normal(3, 4)
    cases.add("RMSNormalization_two_axes", "RMSNormalization", [x, scale],
              [(wide / np.sqrt((wide ** 2).mean((1, 2), keepdims=True) + 1e-5) * scale).astype(np.float32)], opset=24,
              axis=1)
    for alpha in (1.0, 1.7):
        cases.add(f"Swish_{alpha}", "Swish", [x], [(wide / (1 + np.exp(-alpha * wide))).astype(np.float32)], opset=24,
                  alpha=alpha)
    cache, update = normal(2, 3, 5, 4), normal(2, 3, 2, 4)
    for mode, starts in (("linear", [1, 3]), ("circular", [4, 0])):
        wanted = cache.copy()
        for b, start in enumerate(starts):
            wanted[b][:, [start % 5, (start + 1) % 5]] = update[b]
        cases.add(f"TensorScatter_{mode}", "TensorScatter", [cache, update, np.array(starts, np.int64)], [wanted],
                  opset=24, mode=mode)
    cases.add("TensorScatter_from_the_start", "TensorScatter", [cache, update],
              [np.concatenate([update, cache[:, :, 2:]], 2)], opset=24)
    for axis in (0, -1):
        products = np.cumprod(wide, axis)
        cases.add(f"CumProd_{axis}", "CumProd", [x, np.array(axis, np.int64)], [products.astype(np.float32)], opset=26)
    backwards = np.cumprod(wide[:, ::-1], 1)[:, ::-1]
    before = np.concatenate([backwards[:, 1:], np.ones((2, 1, 4))], 1)
    cases.add("CumProd_backwards", "CumProd", [x, np.array([1], np.int32)], [before.astype(np.float32)], opset=26,
              reverse=1, exclusive=1)


def newer_types(cases: Cases) -> None:
    x = np.array([-3, 0, 7], np.int8)
    cases.add("DequantizeLinear_to_half", "DequantizeLinear", [x, np.float32(0.5)], [(x * 0.5).astype(np.float16)],
              opset=23, output_dtype=10)
    cases.add("QuantizeLinear_in_float", "QuantizeLinear", [np.array([1.2, -3], np.float16), np.float16(0.5)],
              [np.array([2, 0], np.uint8)], opset=23, precision=1)
    cases.add("Cast_round_mode", "Cast", [np.array([1.5, -2], np.float32)], [np.array([1, -2], np.int32)], opset=25,
              to=6, round_mode="up")
    floats = normal(2, 3)
    cases.add("BitCast_to_int", "BitCast", [floats], [floats.view(np.int32)], opset=26, to=6)
    cases.add("BitCast_to_double", "BitCast", [np.arange(4) << 60], [(np.arange(4) << 60).view(np.float64)], opset=26, to=11)
    cases.add("BitCast_to_bool", "BitCast", [np.array([0, 1, 6], np.uint8)], [np.array([False, True, True])], opset=26,
              to=9)
    cases.add("Relu_newest", "Relu", [np.array([1.5, -2], np.float32)], [np.array([1.5, 0], np.float32)], opset=26)


def main() -> None:
    cases = Cases(sys.argv)
    attentions(cases)
    rotaries(cases)
    simple_ones(cases)
    newer_types(cases)
    cases.run()


if __name__ == "__main__":
    main()
