"""RNN, GRU, LSTM and the quantization operators against torch and against their formulas in numpy.

usage: sequence_operators_test.py HONE [FOLDER]
"""
import sys

import numpy as np
import torch

from case_writer import Cases

torch.manual_seed(11)
random = np.random.default_rng(11)
STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6


def floats(*shape) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


def gates(layer: torch.nn.RNNBase, kind: str, order: list) -> np.ndarray:
    """Weights of one kind ("weight_ih", ...) of every direction, with their gates put in ONNX's order."""
    names = [f"{kind}_l0", f"{kind}_l0_reverse"][:2 if layer.bidirectional else 1]
    return np.stack([np.concatenate([getattr(layer, name).detach().numpy().reshape(len(order), HIDDEN, -1)[i]
                                     for i in order]) for name in names])


def biases(layer: torch.nn.RNNBase, order: list) -> np.ndarray:
    return np.concatenate([gates(layer, "bias_ih", order), gates(layer, "bias_hh", order)], axis=1)[:, :, 0]


def against_torch(cases: Cases) -> None:
    """torch orders gates i f g o (LSTM) and r z n (GRU), ONNX i o f c and z r h."""
    kinds = {"RNN": (torch.nn.RNN, [0], {}), "GRU": (torch.nn.GRU, [1, 0, 2], {"linear_before_reset": 1}),
             "LSTM": (torch.nn.LSTM, [0, 3, 1, 2], {})}
    for op, (layer_type, order, options) in kinds.items():
        for both in (False, True):
            layer = layer_type(INPUTS, HIDDEN, bidirectional=both)
            directions = 2 if both else 1
            x = torch.randn(STEPS, BATCH, INPUTS)
            states = [torch.randn(directions, BATCH, HIDDEN) for _ in range(2 if op == "LSTM" else 1)]
            lengths = torch.tensor([5, 3, 1])
            packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths)
            with torch.no_grad():
                y, last = layer(packed, tuple(states) if op == "LSTM" else states[0])
                y, _ = torch.nn.utils.rnn.pad_packed_sequence(y)
            y = y.reshape(STEPS, BATCH, directions, HIDDEN)
            last = list(last) if op == "LSTM" else [last]
            weights = [gates(layer, "weight_ih", order), gates(layer, "weight_hh", order), biases(layer, order),
                       lengths.numpy().astype(np.int32)]
            name = f"{op.lower()}_{'bidirectional' if both else 'forward'}"
            options = dict(options, hidden_size=HIDDEN, direction="bidirectional" if both else "forward")
            cases.add(name, op, [x, *weights, *states], [y.permute(0, 2, 1, 3).contiguous(), *last], **options)
            swap = [tensor.transpose(0, 1).contiguous() for tensor in [x, *states, *last]]
            count = len(states)
            cases.add(name + "_batch_major", op, [swap[0], *weights, *swap[1:1 + count]],
                      [y.transpose(0, 1).contiguous(), *swap[1 + count:]], layout=1, **options)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def reverse_and_functions(cases: Cases) -> None:
    x, w, r, b = floats(STEPS, 1, INPUTS), floats(1, HIDDEN, INPUTS), floats(1, HIDDEN, HIDDEN), floats(1, 2 * HIDDEN)
    functions = {
        "Relu": lambda v: np.maximum(v, 0), "Sigmoid": sigmoid, "Affine": lambda v: 0.3 * v + 0.1,
        "LeakyRelu": lambda v: np.where(v >= 0, v, 0.3 * v), "ThresholdedRelu": lambda v: np.where(v >= 0.3, v, 0),
        "ScaledTanh": lambda v: 0.3 * np.tanh(0.1 * v), "HardSigmoid": lambda v: np.clip(0.3 * v + 0.1, 0, 1),
        "Elu": lambda v: np.where(v >= 0, v, 0.3 * (np.exp(v) - 1)), "Softsign": lambda v: v / (1 + np.abs(v)),
        "Softplus": lambda v: np.log(1 + np.exp(v))}
    for name, function in functions.items():
        h, y = np.zeros(HIDDEN), np.zeros((STEPS, 1, 1, HIDDEN), np.float32)
        for t in reversed(range(STEPS)):
            h = function(np.clip(w[0] @ x[t, 0] + r[0] @ h + b[0, :HIDDEN] + b[0, HIDDEN:], -0.8, 0.8))
            y[t, 0, 0] = h
        cases.add(f"rnn_{name}", "RNN", [x, w, r, b], [y, y[0]], direction="reverse", activations=[name],
                  activation_alpha=[0.3], activation_beta=[0.1], clip=0.8)


def coupled_lstm(cases: Cases) -> None:
    """Peepholes, coupled gates, functions of its own, and alphas that only some functions take."""
    x, w, r = floats(STEPS, 1, INPUTS), floats(1, 4 * HIDDEN, INPUTS), floats(1, 4 * HIDDEN, HIDDEN)
    b, p = floats(1, 8 * HIDDEN), floats(1, 3 * HIDDEN)
    h, c, y = np.zeros(HIDDEN), np.zeros(HIDDEN), np.zeros((STEPS, 1, 1, HIDDEN), np.float32)
    for t in range(STEPS):
        raw = (w[0] @ x[t, 0] + r[0] @ h + b[0, :4 * HIDDEN] + b[0, 4 * HIDDEN:]).reshape(4, HIDDEN)
        hole = p[0].reshape(3, HIDDEN)
        i = np.clip(0.25 * (raw[0] + hole[0] * c) + 0.5, 0, 1)
        c = (1 - i) * c + i * np.tanh(raw[3])
        o = np.clip(0.25 * (raw[1] + hole[1] * c) + 0.5, 0, 1)
        h = o * np.where(c >= 0, c, 0.4 * c)
        y[t, 0, 0] = h
    last = [state.astype(np.float32).reshape(1, 1, HIDDEN) for state in (h, c)]
    cases.add("lstm_coupled", "LSTM", [x, w, r, b, None, None, None, p], [y, *last], input_forget=1,
              activations=["HardSigmoid", "Tanh", "LeakyRelu"], activation_alpha=[0.25, 0.4])
    cases.add("lstm_last_only", "LSTM", [x, w, r, b, None, None, None, p], [None, last[0]], input_forget=1,
              activations=["HardSigmoid", "Tanh", "LeakyRelu"], activation_alpha=[0.25, 0.4])


def spread(scale: np.ndarray, shape: tuple, axis: int, block: int) -> np.ndarray:
    """Scales with the shape of the data."""
    if scale.ndim == 0:
        return np.broadcast_to(scale, shape)
    if block == 0:
        return scale.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.take(np.repeat(scale, block, axis), range(shape[axis]), axis)


def quantization(cases: Cases) -> None:
    x = 50 * floats(3, 7, 5)
    layouts = {"tensor": ((), 1, 0), "axis": ((7,), 1, 0), "last": ((5,), -1, 0), "block": ((3, 3, 5), 1, 3),
               "block_first": ((2, 7, 5), 0, 2)}
    for name, (shape, axis, block) in layouts.items():
        scale = (0.05 + random.random(shape)).astype(np.float32)
        options = {"axis": axis, "block_size": block}
        wide = spread(scale, x.shape, axis % 3, block)
        for kind in (np.uint8, np.int8, np.uint16, np.int16):
            limits = np.iinfo(kind)
            zero = random.integers(limits.min // 4, limits.max // 4, shape).astype(kind)
            offset = spread(np.asarray(zero), x.shape, axis % 3, block).astype(np.float64)
            q = np.clip(np.rint(x / wide) + offset, limits.min, limits.max).astype(kind)
            cases.add(f"quantize_{name}_{kind.__name__}", "QuantizeLinear", [x, scale, zero], [q], **options)
            back = ((q.astype(np.float64) - offset) * wide).astype(np.float32)
            cases.add(f"dequantize_{name}_{kind.__name__}", "DequantizeLinear", [q, scale, zero], [back], **options)
    scale = np.float32(0.5)
    q = np.clip(np.rint(x / scale), -32768, 32767).astype(np.int16)
    cases.add("quantize_output_dtype", "QuantizeLinear", [x, scale], [q], output_dtype=5)
    long = random.integers(-2 ** 24, 2 ** 24, (4, 3)).astype(np.int32)
    cases.add("dequantize_int32", "DequantizeLinear", [long, scale], [(long * scale).astype(np.float32)])
    cases.add("quantize_number", "QuantizeLinear", [np.float32(3.25), np.float32([0.5]), np.int8([3])], [np.int8(9)])
    half = np.array([1.5, -2.5, 0.25], np.float16)
    cases.add("quantize_float16", "QuantizeLinear", [half, np.float16(0.5), np.int8(3)], [np.array([6, -2, 3], np.int8)])
    cases.add("dequantize_float16", "DequantizeLinear", [np.array([6, -2], np.int8), np.float16(0.5), np.int8(3)],
              [np.array([1.5, -2.5], np.float16)])


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    cases = Cases(sys.argv)
    for family in (against_torch, reverse_and_functions, coupled_lstm, quantization):
        family(cases)
    cases.run()


if __name__ == "__main__":
    main()
