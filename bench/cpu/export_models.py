#!/usr/bin/env python3
"""Exports the networks of networks.py to ONNX, as PyTorch's own exporter writes them.

usage: export_models.py FOLDER [NAME…]        all of them when none is named

A network that is there already stays. FOLDER/versions.txt says what made them. Needs torch 2.9 or later with
onnxscript, torchvision and transformers.
"""
import logging
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
OPSET = 18


def export(name, path):
    import torch
    import networks

    network = networks.make(name)
    part = path.with_suffix(".part")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Detection heads have control flow that only the older exporter unrolls.
        torch.onnx.export(network.model, network.inputs, str(part), input_names=network.input_names, opset_version=OPSET,
                          dynamo=not network.detects,
                          **({} if network.detects else {"external_data": False, "verbose": False}))
    part.rename(path)


def versions():
    from importlib import metadata

    lines = []
    for package in ("torch", "torchvision", "transformers", "onnx", "onnxscript"):
        try:
            lines.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            lines.append(f"{package} is missing")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        import networks
    except ImportError as error:
        sys.exit(f"export_models.py: {error}; name a Python that has PyTorch, as in /opt/venv/bin/python3 {sys.argv[0]}")
    logging.disable(logging.WARNING)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[2:] or list(networks.NETWORKS)
    if unknown := [name for name in wanted if name not in networks.NETWORKS]:
        sys.exit(f"export_models.py: there is no network {unknown[0]}; they are {' '.join(networks.NETWORKS)}")
    (folder / "versions.txt").write_text(versions(), encoding="utf-8")
    failed = []
    for name in wanted:
        path = folder / f"{name}.onnx"
        if path.exists():
            continue
        try:
            export(name, path)
            print(f"{name}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
        except Exception as error:  # of any library; the others are wanted all the same
            failed.append(name)
            print(f"{name}: FAILED: {(str(error).strip() or type(error).__name__).splitlines()[0]}", flush=True)
    sys.exit(f"export_models.py: not exported: {' '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
