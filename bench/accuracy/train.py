#!/usr/bin/env python3
"""Trains small networks on Fashion-MNIST, so that what int8 costs can be measured on real weights, images and labels.

usage: train.py DATA FOLDER [NAME…] [--seconds S] [--epochs N] [--seed S]

DATA holds the four .gz files of Debian's package dataset-fashion-mnist. For each network of networks.py (all when none
is named) FOLDER gets NAME.onnx (opset 17, open batch, input `image` normalized as in fashion_mnist.py), its parameters as
NAME.pt and NAME.json: the seed, epochs, seconds and the share of the 10,000 held-out images that it recognises. All
networks are trained at once, each in a process of its own: none of them fills a GPU. Schedules follow whichever of
epochs and seconds is used up faster, so a slow machine trains less, and says so. Needs PyTorch and onnx.
"""
import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import fashion_mnist
import networks

BATCH = 512
SHIFT = 2


def augmented(images, torch):
    """Images shifted by up to SHIFT pixels, half of them mirrored, with a square of up to 8 pixels blacked out."""
    count, device = images.shape[0], images.device
    padded = torch.nn.functional.pad(images, (SHIFT,) * 4)
    side = torch.arange(28, device=device)
    shifts = torch.randint(0, 2 * SHIFT + 1, (2, count, 1), device=device)
    columns = side + shifts[1]
    mirrored = torch.rand(count, 1, device=device) < 0.5
    columns = torch.where(mirrored, columns.flip(1), columns)
    rows = side + shifts[0]
    images = padded[torch.arange(count, device=device)[:, None, None], 0, rows[:, :, None], columns[:, None, :]]
    begin = torch.randint(-8, 28, (2, count, 1), device=device)
    row, column = ((side >= first) & (side < first + 8) for first in begin)
    return images.masked_fill(row[:, :, None] & column[:, None, :], 0)[:, None]


def share_recognised(model, images, labels, torch):
    model.eval()
    with torch.no_grad():
        right = sum(int((model(x).argmax(1) == y).sum()) for x, y in zip(images.split(1000), labels.split(1000)))
    return right / len(labels)


def optimizer_of(model, kind, rate, decay, torch):
    """No decay for biases, scales and places."""
    decayed = [p for name, p in model.named_parameters() if p.dim() > 1 and name not in ("token", "places")]
    kept = [p for name, p in model.named_parameters() if p.dim() <= 1 or name in ("token", "places")]
    groups = [{"params": decayed, "weight_decay": decay}, {"params": kept, "weight_decay": 0.0}]
    if kind == "sgd":
        return torch.optim.SGD(groups, lr=rate, momentum=0.9, nesterov=True)
    return torch.optim.AdamW(groups, lr=rate)


def train(model, kind, rate, decay, images, labels, options, torch):
    """One cosine with a rise over the first twentieth; gives epochs and seconds."""
    optimizer = optimizer_of(model, kind, rate, decay, torch)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    device = images.device
    batches = len(images) // BATCH
    begin, step, done = time.monotonic(), 0, 0.0
    model.train()
    while done < 1:
        order = torch.randperm(len(images), device=device)
        for batch in order[:batches * BATCH].split(BATCH):
            done = max(step / (options.epochs * batches), (time.monotonic() - begin) / options.seconds)
            if done >= 1:
                break
            factor = min(done / 0.05, 0.5 * (1 + math.cos(math.pi * done)))
            for group in optimizer.param_groups:
                group["lr"] = rate * factor
            x = augmented(images[batch], torch).contiguous(memory_format=torch.channels_last)
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                loss = criterion(model(x), labels[batch])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
            step += 1
            if step % 2 == 0 and device.type == "cuda":
                torch.cuda.current_stream().synchronize()  # `done` is the time of work, not of its submission
    return step / batches, time.monotonic() - begin


def train_one(name, options):
    import torch

    torch.manual_seed(options.seed)
    torch.backends.cudnn.benchmark = True
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def arrays(part):
        images, labels = fashion_mnist.read(options.data, part)
        return torch.from_numpy(images).to(device), torch.from_numpy(labels).to(device)

    images, labels = arrays("train")
    _, kind, rate, decay = networks.NETWORKS[name]
    model = networks.make(name).to(device).to(memory_format=torch.channels_last)
    epochs, seconds = train(model, kind, rate, decay, images, labels, options, torch)
    held_out = share_recognised(model, *arrays("t10k"), torch)
    model = model.cpu().float().to(memory_format=torch.contiguous_format)
    torch.save(model.state_dict(), options.folder / f"{name}.pt")
    said = {"network": name, "parameters": sum(p.numel() for p in model.parameters()), "seed": options.seed,
            "epochs": round(epochs, 1), "seconds": round(seconds, 1), "held_out_top1": held_out,
            "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu", "torch": torch.__version__}
    (options.folder / f"{name}.json").write_text(json.dumps(said, indent=1) + "\n")
    print(said, flush=True)
    export(model, options.folder / f"{name}.onnx", torch)


def export(model, file, torch):
    model.eval()
    example = torch.zeros(2, 1, 28, 28)
    torch.onnx.export(model, (example,), str(file), input_names=["image"], output_names=["logits"], opset_version=17,
                      dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}}, dynamo=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--epochs", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    unknown = set(options.names) - set(networks.NETWORKS)
    if unknown:
        parser.error(f"no network is called {', '.join(sorted(unknown))}: there are {', '.join(networks.NETWORKS)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    names = options.names or list(networks.NETWORKS)
    if len(names) == 1:
        return train_one(names[0], options)
    children = [subprocess.Popen([sys.executable, __file__, options.data, options.folder, name, "--seconds",
                                  str(options.seconds), "--epochs", str(options.epochs), "--seed", str(options.seed)])
                for name in names]
    if any([child.wait() != 0 for child in children]):
        sys.exit(1)


if __name__ == "__main__":
    main()
