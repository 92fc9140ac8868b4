#!/usr/bin/python3
"""Trains shapes.cfg on synthetic scenes and writes its weights.

usage: train.py photos OUTPUT.npz FOLDER…          photographs of scikit-image and opencv-doc, made small
       train.py train PHOTOS.npz OUTPUT [--seconds S] [--batch N] [--rate R] [--scenes N]
                                                   writes OUTPUT/shapes.weights and OUTPUT/training.json

Photographs whose number is a multiple of 6 are held out: the average precision in training.json is of scenes over them, and
the video is of one of them.
"""
import argparse
import json
import time
from pathlib import Path

import numpy
import torch

import scenes
from detection import average_precision, detections, head_loss
from network import Network

FOLDER = Path(__file__).resolve().parent
LARGEST = 640
HELD_OUT = 6
# No photographs: drawings, text, masks and pairs of the same view.
NO_PHOTOS = ("text", "page", "logo", "chess", "checker", "palette", "color", "foo", "phantom", "block", "horse", "binary",
             "truncated", "trimap", "result", "segmented", "gradient", "ellipses", "pic", "sudoku", "digits", "ml.", "aloeGT",
             "clock", "cell", "ihc", "retina", "microaneurysms", "blob", "smarties", "imageText", "pca", "rightB", "Transformed",
             "Original", "moon", "hubble", "ela_modified", "leuvenB", "aloeR", "motorcycle_right", "rubberwhale2", "basketball2",
             "polygon", "licenseplate", "cards", "box.", "left0", "left1", "right0", "right1", "right.", "Logo", "Suzanne")


def photos(output, folders):
    from PIL import Image
    arrays = {}
    for folder in folders:
        for file in sorted(Path(folder).rglob("*")):
            if file.suffix not in (".png", ".jpg") or any(word in file.name for word in NO_PHOTOS):
                continue
            try:
                image = Image.open(file).convert("RGB")
            except OSError:
                continue
            if min(image.size) < 200:
                continue
            share = min(1, LARGEST / max(image.size))
            image = image.resize([round(side * share) for side in image.size], Image.BICUBIC)
            arrays[f"{len(arrays):03}_{file.stem}"] = numpy.array(image)
    numpy.savez_compressed(output, **arrays)
    print(f"{len(arrays)} photographs: {' '.join(arrays)}")


def load_photos(path, device):
    """Those for training, those held out, and the names of these."""
    archive = numpy.load(path)
    images = [torch.from_numpy(archive[name]).to(device).permute(2, 0, 1).float() / 255 for name in archive.files]
    held = [i for i in range(len(images)) if i % HELD_OUT == 0]
    return ([image for i, image in enumerate(images) if i not in held], [images[i] for i in held],
            [archive.files[i] for i in held])


def centers(boxes):
    return torch.cat([(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]], -1)


def measure(network, photographs, device, count, size=32):
    generator = torch.Generator(device=device).manual_seed(7)
    found, truths = [], {}
    network.eval()
    with torch.no_grad():
        while len(truths) < count:
            images, boxes, classes = scenes.batch(photographs, size, network.width, network.height, generator, device)
            results = network(images)
            for i in range(size):
                name = len(truths)
                scale = torch.tensor([network.width, network.height] * 2, device=device)
                truths[name] = [(int(c), *(b / scale).tolist()) for b, c in zip(boxes[i], classes[i]) if c >= 0]
                found += [(name, *d) for d in detections(network, [r[i] for r in results])]
    network.train()
    return {name: average_precision(found, truths, label) for label, name in enumerate(scenes.CLASSES)}


def average_into(average, network, keep):
    """Statistics of batch normalization too; counters are taken over."""
    with torch.no_grad():
        for a, b in zip(average.state_dict().values(), network.state_dict().values()):
            if a.is_floating_point():
                a.lerp_(b, 1 - keep)
            else:
                a.copy_(b)


def train(path, output, seconds, size, largest, held_out_scenes):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    generator = torch.Generator(device=device).manual_seed(1)
    mine, held_out, _ = load_photos(path, device)
    network = Network(FOLDER / "shapes.cfg").to(device)
    for layer in network.convolutions():
        if layer.norm is None:
            torch.nn.init.constant_(layer.convolution.bias, -4.0)
    average = Network(FOLDER / "shapes.cfg").to(device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=5e-4)
    steps, start, said = 0, time.monotonic(), 0.0
    while (share := (time.monotonic() - start) / seconds) < 1:
        rate = largest * min(1, steps / 200) * (0.5 + 0.5 * numpy.cos(numpy.pi * share)) + 1e-5
        for group in optimizer.param_groups:
            group["lr"] = rate
        images, boxes, classes = scenes.batch(mine, size, network.width, network.height, generator, device)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            results = network(images)
        loss = sum(head_loss(raw, head, centers(boxes), classes, network.width, network.height)
                   for raw, head in zip(results, network.heads))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 20.0)
        optimizer.step()
        steps += 1
        average_into(average, network, min(0.998, steps / (steps + 100)))
        if time.monotonic() - said > 5:
            said = time.monotonic()
            print(f"{share:5.1%}  step {steps}  rate {rate:.5f}  loss {loss.item():.3f}", flush=True)
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    average.write_weights(output / "shapes.weights", steps * size)
    check = Network(FOLDER / "shapes.cfg").to(device)
    check.read_weights(output / "shapes.weights")
    result = {"steps": steps, "batch": size, "seconds": seconds, "device": str(device),
              "held_out_scenes": held_out_scenes, "accuracy": measure(check, held_out, device, held_out_scenes)}
    (output / "training.json").write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("photos")
    making.add_argument("output")
    making.add_argument("folders", nargs="+")
    training = commands.add_parser("train")
    training.add_argument("photos")
    training.add_argument("output")
    training.add_argument("--seconds", type=float, default=120)
    training.add_argument("--batch", type=int, default=64)
    training.add_argument("--rate", type=float, default=4e-3, help="largest learning rate")
    training.add_argument("--scenes", type=int, default=256, help="how many to measure by")
    arguments = parser.parse_args()
    if arguments.command == "photos":
        photos(arguments.output, arguments.folders)
    else:
        train(arguments.photos, arguments.output, arguments.seconds, arguments.batch, arguments.rate,
              arguments.scenes)


if __name__ == "__main__":
    main()
