#!/usr/bin/python3
"""Trains the digits network and writes digits.onnx, held_out.npz, expected.npz, seven.png and
accuracy.json beside itself.

The data are the 1,797 handwritten digits (8 x 8 pixels, 17 grays) that come with scikit-learn. Every fifth
image of each class, in the data set's order, is held out and never seen in training. Everything is seeded
and runs on one thread: the same versions of PyTorch and scikit-learn write the same files.

Needs: python3-torch, python3-sklearn, python3-onnx, python3-pil (Debian 12).
"""
import json
import pathlib

import numpy as np
import onnx
import torch
from PIL import Image
from sklearn.datasets import load_digits
from torch import nn

FOLDER = pathlib.Path(__file__).resolve().parent
MEAN, STD = 0.3, 0.38
EPOCHS = 40
BATCH = 64


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(64 * 2 * 2, 10))


def pixels_and_labels():
    """8-bit images [1797, 8, 8] (0 to 16 stretched to 0 to 255) and their labels."""
    digits = load_digits()
    return np.round(digits.images * (255 / 16)).astype(np.uint8), digits.target


def held_out_mask(labels):
    mask = np.zeros(len(labels), dtype=bool)
    for digit in range(10):
        mask[np.flatnonzero(labels == digit)[::5]] = True
    return mask


def to_input(pixels):
    """float32 [n, 1, 8, 8], scaled and normalized as `hone run` does it."""
    return (torch.from_numpy(pixels).float().mul(1 / 255).unsqueeze(1) - MEAN) / STD


def train(net, inputs, labels):
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(inputs)).split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs[batch]), labels[batch]).backward()
            optimizer.step()
        schedule.step()


def export(net, path):
    torch.onnx.export(net, torch.zeros(1, 1, 8, 8), str(path), opset_version=17, input_names=["input"],
                      output_names=["logits"], dynamic_axes={"input": {0: "batch"}, "logits": {0: "batch"}})
    model = onnx.load(str(path))
    notes = {"image.mean": str(MEAN), "image.std": str(STD), "labels": "\n".join(str(i) for i in range(10))}
    for key, value in notes.items():
        model.metadata_props.add(key=key, value=value)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(True)
    pixels, labels = pixels_and_labels()
    held_out = held_out_mask(labels)
    net = network()
    net.train()
    train(net, to_input(pixels[~held_out]), torch.from_numpy(labels[~held_out]))
    net.eval()
    inputs = to_input(pixels[held_out])
    with torch.no_grad():
        logits = net(inputs).numpy()
    correct = int((logits.argmax(1) == labels[held_out]).sum())
    export(net, FOLDER / "digits.onnx")
    np.savez_compressed(FOLDER / "held_out.npz", input=inputs.numpy())
    np.savez_compressed(FOLDER / "expected.npz", labels=labels[held_out], logits=logits)
    first_seven = np.flatnonzero(held_out & (labels == 7))[0]
    Image.fromarray(pixels[first_seven]).save(FOLDER / "seven.png")
    accuracy = {"correct": correct, "images": int(held_out.sum()), "torch": torch.__version__}
    (FOLDER / "accuracy.json").write_text(json.dumps(accuracy, indent=2) + "\n")
    print(f"{correct} of {held_out.sum()} held-out digits are recognised")


if __name__ == "__main__":
    main()
