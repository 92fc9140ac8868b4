#!/usr/bin/env python3
"""Writes parameters as torchvision draws them before any training, for `hone export ARCHITECTURE --weights`.

usage: initial_weights.py MODEL.onnx OUT.safetensors

MODEL is what `hone export` wrote of alexnet, squeezenet1_1 or vgg16: its initializers say which parameters there are.
Needs numpy.
"""
import json
import pathlib
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peers" / "torch_compile"))
import weights


def parameters(path):
    """Name of the graph, and the shape of each initializer."""
    name, shapes = "", {}
    for number, value in weights.fields(memoryview(pathlib.Path(path).read_bytes())):
        if number != weights.MODEL_GRAPH:
            continue
        for inner, content in weights.fields(value):
            if inner == weights.GRAPH_NAME:
                name = bytes(content).decode()
            elif inner == weights.GRAPH_INITIALIZER:
                entries = list(weights.fields(content))
                key = next(bytes(entry).decode() for kind, entry in entries if kind == weights.TENSOR_NAME)
                shapes[key] = [size for kind, entry in entries if kind == weights.TENSOR_DIMS
                               for size in weights.dimensions(entry)]
    return name, shapes


def uniform(random, shape, bound):
    return random.uniform(-bound, bound, shape)


def draw(random, architecture, key, shapes):
    shape = shapes[key]
    if architecture == "alexnet":  # PyTorch's own rule, biases included
        return uniform(random, shape, 1 / np.sqrt(np.prod(shapes[key.rsplit(".", 1)[0] + ".weight"][1:])))
    if key.endswith(".bias"):
        return np.zeros(shape)
    if key.startswith("classifier"):
        return random.normal(0, 0.01, shape)
    if architecture == "squeezenet1_1":
        return random.uniform(-1, 1, shape) * np.sqrt(6 / np.prod(shape[1:]))
    return random.normal(0, np.sqrt(2 / (shape[0] * shape[2] * shape[3])), shape)


def write(path, tensors):
    header, end = {}, 0
    for key, tensor in tensors.items():
        header[key] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [end, end + tensor.nbytes]}
        end += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.tobytes())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    architecture, shapes = parameters(sys.argv[1])
    if architecture not in ("alexnet", "squeezenet1_1", "vgg16"):
        sys.exit(f"initial_weights.py: '{architecture}' is none of alexnet, squeezenet1_1 and vgg16")
    random = np.random.default_rng(1)
    write(sys.argv[2], {key: draw(random, architecture, key, shapes).astype("<f4") for key in shapes})


if __name__ == "__main__":
    main()
