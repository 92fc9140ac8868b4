#!/usr/bin/env python3
"""Exports tiny networks of the families that people bring, in the forms that exporters write, with inputs and the
outputs that ONNX Runtime gives for them.

usage: make_networks.py FOLDER [NAME…]        all of them when none is named

FOLDER/NAME.onnx is a network, FOLDER/NAME.npz has its inputs (`in:NAME`) and outputs (`out:NAME`); networks_test.py runs
both. Weights and inputs come from a seed, and weights are large enough that every branch of a network shows in its
outputs. Needs PyTorch 2.15, transformers 5.24, timm 1.0, torchvision 0.29, onnx and onnxruntime of python-packages.txt's
time or later; what a network needs besides is named in its error.
"""
import logging
import pathlib
import sys
import warnings

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import families  # noqa: E402

SEED = 44


def set_weights(model):
    """Normal numbers that keep the size of activations, scales around 1, small biases."""
    generator = torch.Generator().manual_seed(SEED)
    normal = lambda tensor: torch.randn(tensor.shape, generator=generator, dtype=torch.float32)
    with torch.no_grad():
        for name, tensor in sorted(model.state_dict().items()):
            if not tensor.is_floating_point():
                continue
            if name.endswith("running_var"):
                tensor.copy_(1 + 0.2 * normal(tensor).abs())
            elif tensor.dim() >= 2 and "relative_position_bias" not in name:
                tensor.copy_(normal(tensor) / max(1, tensor[0].numel()) ** 0.5)
            elif name.endswith("weight") and tensor.dim() == 1 or "gamma" in name or "lambda" in name:
                tensor.copy_(1 + 0.2 * normal(tensor))
            elif name in dict(model.named_parameters()) or name.endswith("running_mean"):
                tensor.copy_(0.2 * normal(tensor))
    return model


class Positional(torch.nn.Module):
    """A model as a function of the inputs that are named, to its tensors."""

    def __init__(self, model, names, pick):
        super().__init__()
        self.model, self.names, self.pick = model, names, pick

    def forward(self, *values):
        if self.names is None:
            result = self.model(*values)
        else:
            result = self.model(**dict(zip(self.names, values)))
        return self.pick(result)


def export(network, path):
    torch.manual_seed(SEED)
    model = set_weights(network.make()).eval()
    inputs = network.inputs(torch.Generator().manual_seed(SEED))
    names = list(inputs)
    module = Positional(model, None if network.positional else names, network.pick).eval()
    arguments = tuple(inputs.values())
    common = {"input_names": names, "opset_version": network.opset}
    open_axes = {name: axes for name, axes in (network.open_axes or {}).items() if name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if network.exporter == "dynamo":
            shapes = None
            if open_axes:
                symbols = {}
                shapes = (tuple({axis: symbols.setdefault(symbol, torch.export.Dim(symbol, min=2, max=4096))
                                 for axis, symbol in open_axes.get(name, {}).items()} for name in names),)
            torch.onnx.export(module, arguments, str(path), dynamo=True, external_data=False, verbose=False,
                              dynamic_shapes=shapes, **common)
        else:
            torch.onnx.export(module, arguments, str(path), dynamo=False, dynamic_axes=open_axes or None, **common)
    return inputs


def shrink(path):
    """Without what only people who read the file want, which is most of a tiny file."""
    import onnx

    model = onnx.load(path)
    model.graph.doc_string = ""
    for graph in [model.graph, *model.functions]:
        del graph.value_info[:]
        del graph.metadata_props[:]
        for node in graph.node:
            node.doc_string = ""
            del node.metadata_props[:]
    del model.metadata_props[:]
    for value in [*model.graph.input, *model.graph.output]:
        del value.metadata_props[:]
    onnx.save(model, path)


def run(path, inputs):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    wanted = {value.name for value in session.get_inputs()}
    given = {name: value for name, value in inputs.items() if name in wanted}
    outputs = session.run(None, given)
    return given, {value.name: result for value, result in zip(session.get_outputs(), outputs)}


def make(network, folder):
    path = folder / f"{network.name}.onnx"
    inputs = export(network, path)
    shrink(path)
    if network.open_axes:
        # At other lengths than those that the exporter saw.
        inputs = network.inputs(torch.Generator().manual_seed(SEED + 1), longer=True)
    inputs = {name: value.numpy() for name, value in inputs.items()}
    given, outputs = run(path, inputs)
    for name, value in outputs.items():
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise RuntimeError(f"the output {name} is not finite")
    np.savez_compressed(folder / f"{network.name}.npz", **{f"in:{name}": value for name, value in given.items()},
             **{f"out:{name}": value for name, value in outputs.items()})
    return path.stat().st_size


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    logging.disable(logging.WARNING)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    networks = {network.name: network for network in families.networks()}
    wanted = sys.argv[2:] or list(networks)
    if unknown := [name for name in wanted if name not in networks]:
        sys.exit(f"make_networks.py: there is no network {unknown[0]}; they are {' '.join(networks)}")
    failed = 0
    for name in wanted:
        try:
            print(f"{name}: {make(networks[name], folder)} bytes", flush=True)
        except Exception as error:  # whatever a library of others finds wrong with one of them
            failed += 1
            (folder / f"{name}.onnx").unlink(missing_ok=True)
            lines = str(error).strip().splitlines() or [type(error).__name__]
            print(f"{name}: FAILED: {lines[0]}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
