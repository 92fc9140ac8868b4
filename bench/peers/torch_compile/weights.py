"""A network of torchvision, of transformers or of our own with the weights of an ONNX file that hone wrote.

hone's built-in architectures have the names of those packages: the file's graph is named after the architecture, and
its initializers after the parameters. So the initializers are a state_dict. They are read here from the file's
protobuf messages, without a package for ONNX; field numbers are those of onnx.proto.
"""
import pathlib

import definitions
from failure import WorkerError

MODEL_GRAPH = 7
GRAPH_NAME, GRAPH_INITIALIZER = 2, 5
TENSOR_DIMS, TENSOR_TYPE, TENSOR_NAME, TENSOR_RAW = 1, 2, 8, 9
FLOAT = 1
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of a message's fields; a value is an integer or a view of bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire == BYTES:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {wire}")
        if at > len(data):
            raise ValueError("a field reaches beyond its message")
        yield number, value


def dimensions(value):
    """One dimension, or all of them packed."""
    if isinstance(value, int):
        return [value]
    result, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        result.append(number)
    return result


def read_tensor(message):
    """Name and float tensor; None for the tensor when it is of another type or not in raw form."""
    import torch

    shape, kind, name, raw = [], 0, "", None
    for number, value in fields(message):
        if number == TENSOR_DIMS:
            shape += dimensions(value)
        elif number == TENSOR_TYPE:
            kind = value
        elif number == TENSOR_NAME:
            name = bytes(value).decode()
        elif number == TENSOR_RAW:
            raw = value
    if kind != FLOAT or raw is None:
        return name, None
    return name, torch.frombuffer(bytearray(raw), dtype=torch.float32).reshape(shape)


def read_onnx(path):
    """Name of the graph and its float initializers."""
    name, tensors = "", {}
    try:
        for number, value in fields(memoryview(pathlib.Path(path).read_bytes())):
            if number != MODEL_GRAPH:
                continue
            for inner, content in fields(value):
                if inner == GRAPH_NAME:
                    name = bytes(content).decode()
                elif inner == GRAPH_INITIALIZER:
                    key, tensor = read_tensor(content)
                    if tensor is not None:
                        tensors[key] = tensor
    except (IndexError, ValueError, RuntimeError) as error:
        raise WorkerError("bad input", f"{path} is no ONNX file as hone writes it ({error})") from error
    return name, tensors


def build(path):
    """The network in evaluation mode."""
    name, tensors = read_onnx(path)
    network = definitions.make(name)
    if network is None:
        network = torchvision_network(name)
    state = network.state_dict()
    for key in state:
        if not state[key].is_floating_point():
            continue  # counts and tables of places, which the definition makes
        if key not in tensors or tensors[key].shape != state[key].shape:
            raise WorkerError("bad input", f"the ONNX file has no initializer '{key}' of shape {list(state[key].shape)}, as "
                                           f"the network {name} has")
        state[key] = tensors[key]
    # A weight that the network does not know would mean another network; scalars and tables of the graph have no such names.
    for key in tensors:
        if key not in state and key.endswith((".weight", ".bias")):
            raise WorkerError("bad input", f"the network {name} has no parameter '{key}', which the ONNX file has")
    network.load_state_dict(state)
    return network


def torchvision_network(name):
    try:
        import torchvision
    except ImportError as error:
        raise WorkerError("environment", f"the Python package torchvision is missing ({error})") from error
    make = getattr(torchvision.models, name, None) if name.isidentifier() and name.islower() else None
    if not callable(make):
        raise WorkerError("bad input", f"this peer runs hone's built-in architectures, and '{name}' is none of them")
    return make(weights=None).eval()
