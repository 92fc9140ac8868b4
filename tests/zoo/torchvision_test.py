"""Built-in architectures beside torchvision's and own definitions in torch, with the same random weights and inputs.

usage: torchvision_test.py HONE [ARCHITECTURE...]

Writes torch's state_dict as safetensors, runs both on two inputs, and compares the outputs on every backend
that is there, in fp32. The tolerance follows from the type and the layers, see tolerance().
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torchvision

from backend_names import backends

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/peers/torch_compile"))
import own_networks  # noqa: E402

ARCHITECTURES = ["resnet18", "resnet34", "resnet50", "resnet101", "mobilenet_v2", "alexnet", "vgg16",
                 "squeezenet1_1", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "mobilenet_v3_large",
                 "convnext_tiny", "swin_t", "vit_b_16", "deeplabv3_resnet50", "unet", "bilstm"]
OWN = {"unet": own_networks.UNet, "bilstm": own_networks.BiLstm}
INPUTS = {"unet": (2, 3, 256, 256), "bilstm": (2, 30, 80)}
UNIT_ROUNDOFF = 2.0 ** -24  # float32


def tolerance(fan_ins):
    """Relative error (Euclidean) that two right float32 implementations of a network may differ by.

    A sum of k products of zero mean, added one after the other, has a relative error of standard deviation
    sqrt(k / 2) u: the partial sums grow with sqrt(i), each is rounded by u, and the roundings are independent
    (Higham and Mary, "Sharper Probabilistic Backward Error Analysis for Basic Linear Algebra Kernels with Random
    Data", SIAM J. Sci. Comput. 42, 2020; blocked sums err less). The layers below keep relative errors as they
    are, since their weights are scaled to keep the size of activations, so the squares of all layers add up; two
    implementations differ by sqrt(2) of that. The norm of thousands of logits scatters little around it.
    """
    return UNIT_ROUNDOFF * float(np.sqrt(sum(fan_ins)))


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        kind = {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.contiguous().numpy().tobytes())


def torch_network(name):
    if name in OWN:
        return OWN[name]()
    if name == "deeplabv3_resnet50":
        return torchvision.models.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None)
    return getattr(torchvision.models, name)(weights=None)


def fixed_network(name):
    """The network with seeded weights that keep activations in range."""
    torch.manual_seed(11)
    net = torch_network(name).eval()
    for key, parameter in net.named_parameters():
        if parameter.dim() == 1:
            parameter.data.normal_(0.0, 0.1)
        elif key.endswith("layer_scale"):
            parameter.data.normal_(0.4, 0.04)
        else:
            fan_in = parameter[0].numel() if parameter.dim() > 1 else 1
            parameter.data.normal_(0.0, (2.0 / fan_in) ** 0.5 if parameter.dim() == 4 else fan_in ** -0.5)
    for module in net.modules():
        if isinstance(module, (torch.nn.BatchNorm2d, torch.nn.LayerNorm, torch.nn.GroupNorm)):
            module.weight.data.normal_(1.0, 0.1).mul_(0.7)
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0.0, 0.1)
            module.running_var.uniform_(0.6, 1.4)
    return net


def fan_ins(net):
    """Terms of the sums of each layer; a row of attention adds up at most all tokens, twice."""
    for key, parameter in net.named_parameters():
        if parameter.dim() < 2 or key.endswith(("layer_scale", "class_token", "pos_embedding", "bias_table")):
            continue
        yield parameter[0].numel()
        if "in_proj" in key or "qkv" in key:
            yield 2 * 197


def is_off_by_itself(net, images, limit):
    """Whether PyTorch's own optimised TorchScript of the network is wrong: PyTorch 1.13 gives memory away that a
    MobileNetV3 still needs."""
    with torch.no_grad():
        script = torch.jit.optimize_for_inference(torch.jit.script(net))
        outputs = [script(images) for _ in range(3)][-1]
        return not float((outputs - net(images)).norm() / net(images).norm()) < limit


def check(hone, name, folder):
    net = fixed_network(name)
    write_safetensors(folder / "weights.safetensors", net.state_dict())
    # Bounded inputs of a real image's range; a batch of two tells batches from single images.
    images = torch.rand(INPUTS.get(name, (2, 3, 224, 224))) * 4 - 2
    np.save(folder / "input.npy", images.numpy())
    with torch.no_grad():
        expected = net(images)
    output = "out" if isinstance(expected, dict) else "output"
    expected = (expected["out"] if isinstance(expected, dict) else expected).numpy()
    assert np.abs(expected).max() > 1e-3, f"{name}: torch's own outputs vanish"
    limit = tolerance(fan_ins(net))
    failures = []
    for backend in backends(hone):
        command = [hone, "run", name, "--weights", str(folder / "weights.safetensors"), "--input",
                   str(folder / "input.npy"), "--backend", backend, "-o", str(folder / "output.npz")]
        ending = subprocess.run(command, capture_output=True, text=True, check=False)
        if backend in ("torch", "torchscript") and "cannot run node" in ending.stderr and "(LSTM)" in ending.stderr:
            print(f"{name:16} {backend:12} has no LSTM, and says so", flush=True)
            continue
        if ending.returncode != 0:
            failures.append(f"{name} on {backend}: exit code {ending.returncode}: {ending.stderr.strip()}")
            continue
        actual = np.load(folder / "output.npz")[output]
        error = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
        print(f"{name:16} {backend:12} relative error {error:.2e} of {limit:.2e}", flush=True)
        if (backend, name) == ("torchscript", "mobilenet_v3_large") and not error < limit and is_off_by_itself(
                net, images, limit):
            print(f"{name}: PyTorch's optimised TorchScript is wrong without hone, too", flush=True)
            continue
        if actual.shape != expected.shape or not error < limit:
            failures.append(f"{name} on {backend}: relative error {error:.2e}, expected below {limit:.2e}")
    return failures


def main():
    hone, names = sys.argv[1], sys.argv[2:] or ARCHITECTURES
    torch.set_num_threads(2)
    failures = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            failures += check(hone, name, pathlib.Path(folder))
    sys.exit("\n".join(failures) if failures else 0)


if __name__ == "__main__":
    main()
