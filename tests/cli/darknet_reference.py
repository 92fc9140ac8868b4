"""darknet's sections in NumPy and float64, from its own formulas: whole networks of cfg text and random weights."""
import struct

import numpy as np


def parse(text):
    sections = []
    for line in text.splitlines():
        line = "".join(line.split())
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            sections.append((line[1:-1], {}))
        else:
            key, _, value = line.partition("=")
            sections[-1][1].setdefault(key, value)
    return sections


def logistic(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def stair(x):
    n = np.floor(x)
    return np.where(n % 2 == 0, np.floor(x / 2), (x - n) + np.floor(x / 2))


def shares(x):
    return x / (1e-4 + x.sum(1, keepdims=True))


ACTIVATIONS = {
    "linear": lambda x: x,
    "logistic": logistic,
    "leaky": lambda x: np.where(x > 0, x, 0.1 * x),
    "revleaky": lambda x: np.where(x > 0, x, 0.1 * x),
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "hard_mish": lambda x: np.where(x > 0, x, np.where(x > -2, x * x / 2 + x, 0)),
    "swish": lambda x: x * logistic(x),
    "elu": lambda x: np.where(x >= 0, x, np.exp(np.minimum(x, 0)) - 1),
    "selu": lambda x: np.where(x >= 0, 1.0507 * x, 1.0507 * 1.6732 * (np.exp(np.minimum(x, 0)) - 1)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(0.797885 * x + 0.035677 * x ** 3)),
    "relie": lambda x: np.where(x > 0, x, 0.01 * x),
    "ramp": lambda x: x * (x > 0) + 0.1 * x,
    "tanh": np.tanh,
    "loggy": lambda x: 2 / (1 + np.exp(-x)) - 1,
    "plse": lambda x: np.where(x < -4, 0.01 * (x + 4), np.where(x > 4, 0.01 * (x - 4) + 1, 0.125 * x + 0.5)),
    "hardtan": lambda x: np.clip(x, -1, 1),
    "lhtan": lambda x: np.where(x < 0, 0.001 * x, np.where(x > 1, 0.001 * (x - 1) + 1, x)),
    "stair": stair,
    "normalize_channels": lambda x: shares(np.maximum(x, 0)),
    "normalize_channels_softmax": lambda x: shares(np.exp(x)),
    "normalize_channels_softmax_maxval": lambda x: shares(np.exp(x - x.max(1, keepdims=True))),
}


def convolve(x, weights, groups, strides, padding, dilation):
    n, c, h, w = x.shape
    filters, inner, size, _ = weights.shape
    out_h = (h + 2 * padding - size) // strides[0] + 1
    out_w = (w + 2 * padding - size) // strides[1] + 1
    edge = padding * dilation
    padded = np.pad(x, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
    result = np.zeros((n, filters, out_h, out_w))
    share = filters // groups
    for g in range(groups):
        mine = padded[:, g * inner:(g + 1) * inner]
        for i in range(size):
            for j in range(size):
                part = mine[:, :, i * dilation:, j * dilation:][:, :, ::strides[0], ::strides[1]][:, :, :out_h, :out_w]
                result[:, g * share:(g + 1) * share] += np.einsum("fc,nchw->nfhw", weights[g * share:(g + 1) * share, :, i, j], part)
    return result


def pool(x, size, strides, padding, average):
    n, c, h, w = x.shape
    out_h, out_w = (h + padding - size) // strides[0] + 1, (w + padding - size) // strides[1] + 1
    result = np.zeros((n, c, out_h, out_w))
    for i in range(out_h):
        for j in range(out_w):
            top, left = i * strides[0] - padding // 2, j * strides[1] - padding // 2
            window = x[:, :, max(top, 0):max(top + size, 0), max(left, 0):max(left + size, 0)]
            if window.size == 0:
                result[:, :, i, j] = -np.finfo(np.float32).max
            else:
                result[:, :, i, j] = window.mean((2, 3)) if average else window.max((2, 3))
    return result


def reorg(memory, c, h, w, stride, forward):
    """darknet's index formula on one image's memory, which has c channels of h x w."""
    x, out = memory.reshape(-1), np.zeros(memory.size)
    inner = c // (stride * stride)
    for k in range(c):
        for j in range(h):
            for i in range(w):
                here = i + w * (j + h * k)
                there = (i * stride + (k // inner) % stride +
                         w * stride * (j * stride + (k // inner) // stride + h * stride * (k % inner)))
                if forward:
                    out[there] = x[here]
                else:
                    out[here] = x[there]
    return out


def lrn(x, size, alpha, beta, kappa):
    squares = x * x
    norms = np.zeros_like(x)
    channels = x.shape[1]
    norms[:, 0] = kappa + alpha * squares[:, :size // 2].sum(1)
    for k in range(1, channels):
        norms[:, k] = norms[:, k - 1]
        before, after = k - (size - 1) // 2 - 1, k + size // 2
        if before >= 0:
            norms[:, k] -= alpha * squares[:, before]
        if after < channels:
            norms[:, k] += alpha * squares[:, after]
    return x * norms ** -beta


class Reference:
    """Draws weights as it goes; `layers` are the outputs, `weights` the numbers in the file's order."""

    def __init__(self, text, x, seed=1, major=0, minor=2, pjreddie=False):
        self.random = np.random.default_rng(seed)
        self.numbers, self.layers = [], []
        self.transposed, self.pjreddie, self.version = max(major, minor) > 1000, pjreddie, (major, minor)
        for kind, options in parse(text)[1:]:
            self.options, self.before = options, x
            x = getattr(self, kind.lower())()
            self.layers.append(x)

    def file(self):
        return struct.pack("<iiiQ", *self.version, 5, 0) + np.concatenate(self.numbers).astype("<f4").tobytes()

    def draw(self, *shape, low=-1.0, high=1.0):
        values = self.random.uniform(low, high, shape).astype(np.float32)
        self.numbers.append(values.reshape(-1))
        return values.astype(float)

    def int(self, key, default):
        return int(self.options.get(key, default))

    def float(self, key, default):
        return float(self.options.get(key, default))

    def sources(self, key):
        return [self.layers[int(i)] for i in self.options[key].split(",")]

    def activate(self, x, default):
        return ACTIVATIONS[self.options.get("activation", default)](x)

    def normalize(self, x, scales, biases, mean, variance):
        column = (slice(None),) + (None,) * (x.ndim - 2)
        divisor = np.sqrt(variance) + 1e-6 if self.pjreddie else np.sqrt(variance + 1e-5)
        return (x - mean[column]) / divisor[column] * scales[column] + biases[column]

    def statistics(self, count):
        return self.draw(count), self.draw(count), self.draw(count, low=1e-6, high=0.5)

    def convolutional(self):
        x, filters, size, groups = self.before, self.int("filters", 1), self.int("size", 1), self.int("groups", 1)
        padding = size // 2 if self.int("pad", 0) else self.int("padding", 0)
        stride = self.int("stride", 1)
        biases = self.draw(filters)
        scales = mean = variance = None
        if self.int("batch_normalize", 0):
            scales, mean, variance = self.statistics(filters)
        inner = x.shape[1] // groups
        bound = 1.5 / np.sqrt(inner * size * size)
        if self.int("flipped", 0):
            weights = self.draw(inner * size * size, filters, low=-bound, high=bound).T.reshape(filters, inner, size, size)
        else:
            weights = self.draw(filters, inner, size, size, low=-bound, high=bound)
        dilation = self.int("dilation", 1) if size > 1 else 1
        x = convolve(x, weights, groups, (self.int("stride_y", stride), self.int("stride_x", stride)), padding, dilation)
        x = x + biases[:, None, None] if scales is None else self.normalize(x, scales, biases, mean, variance)
        return self.activate(x, "logistic")

    def connected(self):
        flat = self.before.reshape(len(self.before), -1)
        outputs = self.int("output", 1)
        biases = self.draw(outputs)
        bound = 1 / np.sqrt(flat.shape[1])
        weights = (self.draw(flat.shape[1], outputs, low=-bound, high=bound).T if self.transposed
                   else self.draw(outputs, flat.shape[1], low=-bound, high=bound))
        x = flat @ weights.T
        x = (self.normalize(x, *self.reordered(biases, self.statistics(outputs))) if self.int("batch_normalize", 0)
             else x + biases)
        return self.activate(x[:, :, None, None], "logistic")

    @staticmethod
    def reordered(biases, statistics):
        scales, mean, variance = statistics
        return scales, biases, mean, variance

    def batchnorm(self):
        count = self.before.shape[1]
        biases = np.zeros(count) if self.pjreddie else self.draw(count)
        return self.normalize(self.before, *self.reordered(biases, self.statistics(count)))

    def window(self):
        stride = self.int("stride", 1)
        size = self.int("size", stride)
        return size, (self.int("stride_y", stride), self.int("stride_x", stride)), self.int("padding", size - 1)

    def maxpool(self):
        if self.int("maxpool_depth", 0):
            out = self.int("out_channels", 1)
            return np.stack([self.before[:, k::out].max(1) for k in range(out)], 1)
        return pool(self.before, *self.window(), average=False)

    def local_avgpool(self):
        return pool(self.before, *self.window(), average=True)

    def avgpool(self):
        return self.before.mean((2, 3), keepdims=True)

    def upsample(self):
        stride, scale = self.int("stride", 2), self.float("scale", 1)
        if stride > 0:
            return self.before.repeat(stride, 2).repeat(stride, 3) * scale
        n, c, h, w = self.before.shape
        return self.before.reshape(n, c, h // -stride, -stride, w // -stride, -stride).sum((3, 5)) * scale

    def route(self):
        groups, group = self.int("groups", 1), self.int("group_id", 0)
        return np.concatenate([np.split(x, groups, 1)[group] for x in self.sources("layers")], 1)

    def shortcut(self):
        x, sources = self.before, self.sources("from")
        kind, factors = self.options.get("weights_type", "none"), np.ones((len(sources) + 1, 1))
        if kind != "none":
            factors = self.draw(len(sources) + 1, x.shape[1] if kind == "per_channel" else 1)
            relu = self.options["weights_normalization"] != "softmax"
            factors = np.maximum(factors, 0) if relu else np.exp(factors - factors.max(0))
            factors = factors / (1e-4 + factors.sum(0))
        alpha, beta = (self.float(key, 1) if self.pjreddie else 1 for key in ("alpha", "beta"))
        total = alpha * x * factors[0][:, None, None]
        for i, source in enumerate(sources):
            common = min(x.shape[1], source.shape[1])
            part = np.broadcast_to(factors[i + 1], x.shape[1:2])[:common, None, None]
            # If the sides differ, every stride-th pixel is read, or every spacing-th is written.
            stride, spacing = (max(1, a // b) for a, b in ((source.shape[3], x.shape[3]), (x.shape[3], source.shape[3])))
            height, width = (min(source.shape[k], x.shape[k]) for k in (2, 3))
            for row in range(height):
                for column in range(width):
                    total[:, :common, row * spacing, column * spacing] += (
                        source[:, :common, row * stride, column * stride] * part[:, 0, 0] * beta)
        return self.activate(total, "linear")

    def scale_channels(self):
        return self.activate(self.sources("from")[0] * self.before, "linear")

    sam = scale_channels

    def reorg(self):
        n, c, h, w = self.before.shape
        s, reverse = self.int("stride", 1), self.int("reverse", 0)
        shape = (n, c // (s * s), h * s, w * s) if reverse else (n, c * s * s, h // s, w // s)
        return np.stack([reorg(x, c, h, w, s, reverse) for x in self.before]).reshape(shape)

    def reorg3d(self):
        n, c, h, w = self.before.shape
        s, reverse = self.int("stride", 1), self.int("reverse", 0)
        shape = (n, c // (s * s), h * s, w * s) if reverse else (n, c * s * s, h // s, w // s)
        return np.stack([reorg(x, *shape[1:], s, reverse) for x in self.before]).reshape(shape)

    def crop(self):
        height, width = self.int("crop_height", 1), self.int("crop_width", 1)
        top, left = (self.before.shape[2] - height) // 2, (self.before.shape[3] - width) // 2
        x = self.before[:, :, top:top + height, left:left + width]
        return x if self.int("noadjust", 0) else 2 * x - 1

    def softmax(self):
        x = self.before
        if self.int("spatial", 0):
            return softmax(x, 1)
        rows = x.reshape(len(x), self.int("groups", 1), -1) / self.float("temperature", 1)
        return softmax(rows, 2).reshape(x.shape)

    def lrn(self):
        return lrn(self.before, self.int("size", 5), self.float("alpha", 1e-4), self.float("beta", 0.75),
                   self.float("kappa", 1))

    def activation(self):
        return self.activate(self.before, "linear")

    def dropout(self):
        return self.before

    silence = cost = dropout

    def implicit(self):
        return self.draw(1, self.int("filters", 128), self.int("atoms", 1), 1)

    def boxes(self, entries):
        n, _, h, w = self.before.shape
        return self.before.copy().reshape(n, -1, entries, h, w)

    def yolo(self):
        x = self.boxes(self.int("classes", 20) + 5)
        alpha = self.float("scale_x_y", 1)
        if not self.int("new_coords", 0):
            x[:, :, :2], x[:, :, 4:] = logistic(x[:, :, :2]), logistic(x[:, :, 4:])
        x[:, :, :2] = x[:, :, :2] * alpha - 0.5 * (alpha - 1)
        return x.reshape(self.before.shape)

    def gaussian_yolo(self):
        x = self.boxes(self.int("classes", 20) + 9)
        alpha = self.float("scale_x_y", 1)
        for i in [i for i in range(x.shape[2]) if i not in (4, 6)]:
            x[:, :, i] = logistic(x[:, :, i])
        for i in (0, 2):
            x[:, :, i] = x[:, :, i] * alpha - 0.5 * (alpha - 1)
        return x.reshape(self.before.shape)

    def region(self):
        coords = self.int("coords", 4)
        x = self.boxes(self.int("classes", 20) + coords + 1)
        x[:, :, :2], x[:, :, coords] = logistic(x[:, :, :2]), logistic(x[:, :, coords])
        scores = x[:, :, coords + 1:]
        x[:, :, coords + 1:] = softmax(scores, 2) if self.int("softmax", 0) else logistic(scores)
        return x.reshape(self.before.shape)

    def detection(self):
        flat = self.before.reshape(len(self.before), -1).copy()
        cells, classes = self.int("side", 7) ** 2, self.int("classes", 1)
        if self.int("softmax", 0):
            scores = flat[:, :cells * classes].reshape(len(flat), cells, classes)
            flat[:, :cells * classes] = softmax(scores, 2).reshape(len(flat), -1)
        return flat[:, :, None, None]
