"""A cfg file of darknet as a PyTorch module, as far as shapes.cfg goes, and its weights file."""
import struct
from pathlib import Path

import numpy
import torch
from torch import nn
from torch.nn import functional


def sections(text):
    """[(type, {option: value})]."""
    result = []
    for line in text.splitlines():
        line = line.replace(" ", "")
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            result.append((line[1:-1], {}))
        else:
            key, value = line.split("=", 1)
            result[-1][1].setdefault(key, value)
    return result


def numbers(text, kind=int):
    return [kind(part) for part in text.split(",")]


class Convolution(nn.Module):
    def __init__(self, channels, options):
        super().__init__()
        size, stride = int(options["size"]), int(options.get("stride", 1))
        normalized = options.get("batch_normalize") == "1"
        padding = size // 2 if options.get("pad") == "1" else 0
        self.convolution = nn.Conv2d(channels, int(options["filters"]), size, stride, padding, bias=not normalized)
        self.norm = nn.BatchNorm2d(int(options["filters"]), eps=1e-5, momentum=0.03) if normalized else None
        self.leaky = options["activation"] == "leaky"

    def forward(self, x):
        x = self.convolution(x)
        if self.norm is not None:
            x = self.norm(x)
        return functional.leaky_relu(x, 0.1) if self.leaky else x

    def arrays(self):
        """In the order of the file."""
        if self.norm is None:
            return [self.convolution.bias, self.convolution.weight]
        return [self.norm.bias, self.norm.weight, self.norm.running_mean, self.norm.running_var, self.convolution.weight]


class Head:
    def __init__(self, options):
        pairs = numbers(options["anchors"], float)
        mask = numbers(options["mask"])
        self.anchors = [(pairs[2 * i], pairs[2 * i + 1]) for i in mask]
        self.all_anchors = list(zip(pairs[::2], pairs[1::2]))
        self.mask = mask
        self.classes = int(options["classes"])
        self.scale_x_y = float(options.get("scale_x_y", 1))


class Network(nn.Module):
    """forward gives the raw result of the convolution before each [yolo]."""

    def __init__(self, cfg):
        super().__init__()
        (_, net), *self.sections = sections(Path(cfg).read_text())
        self.width, self.height = int(net["width"]), int(net["height"])
        self.layers = nn.ModuleList()
        self.heads = []
        channels = []
        for index, (kind, options) in enumerate(self.sections):
            layer, before = nn.Identity(), channels[-1] if channels else 3
            if kind == "convolutional":
                layer, before = Convolution(before, options), int(options["filters"])
            elif kind == "route":
                before = sum(channels[self.source(index, i)] for i in numbers(options["layers"]))
                before //= int(options.get("groups", 1))
            elif kind == "yolo":
                self.heads.append(Head(options))
            self.layers.append(layer)
            channels.append(before)

    @staticmethod
    def source(index, number):
        return index + number if number < 0 else number

    def forward(self, x):
        values, results = [], []
        for index, (kind, options) in enumerate(self.sections):
            if kind == "convolutional":
                x = self.layers[index](x)
            elif kind == "route":
                parts = [values[self.source(index, i)] for i in numbers(options["layers"])]
                groups, group = int(options.get("groups", 1)), int(options.get("group_id", 0))
                parts = [part.chunk(groups, 1)[group] for part in parts]
                x = torch.cat(parts, 1)
            elif kind == "maxpool":
                x = functional.max_pool2d(x, 2, 2, ceil_mode=True)
            elif kind == "upsample":
                x = functional.interpolate(x, scale_factor=2, mode="nearest")
            elif kind == "yolo":
                results.append(x)
            else:
                raise SystemExit(f"network.py has no [{kind}]")
            values.append(x)
        return results

    def convolutions(self):
        return [layer for layer in self.layers if isinstance(layer, Convolution)]

    def write_weights(self, path, seen):
        with open(path, "wb") as file:
            file.write(struct.pack("<iiiQ", 0, 2, 5, seen))
            for layer in self.convolutions():
                for array in layer.arrays():
                    file.write(array.detach().float().cpu().contiguous().numpy().astype("<f4").tobytes())

    def read_weights(self, path):
        data = numpy.frombuffer(Path(path).read_bytes()[20:], "<f4")
        at = 0
        with torch.no_grad():
            for layer in self.convolutions():
                for array in layer.arrays():
                    array.copy_(torch.from_numpy(data[at:at + array.numel()].copy()).view_as(array))
                    at += array.numel()
        if at != data.size:
            raise SystemExit(f"{path}: {data.size} numbers, {at} are needed")
