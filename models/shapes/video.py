#!/usr/bin/python3
"""Renders the video and its ground truth, and says what the trained network finds in it. FFmpeg does the coding.

usage: video.py render PHOTOS.npz     writes shapes.mp4 and shapes.txt (MOT: frame, id, left, top, width, height, 1, class,
                                      share that can be seen; frames, ids and classes from 1, in pixels)
       video.py measure               writes expected.json: average precision of shapes.weights on shapes.mp4
The program FFmpeg is $FFMPEG, or ffmpeg.
"""
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy
import torch
from torch.nn import functional

import scenes
from detection import average_precision, detections
from network import Network
from train import load_photos

FOLDER = Path(__file__).resolve().parent
WIDTH, HEIGHT, FRAMES, RATE, COUNT = 960, 540, 300, 30, 10
VIDEO, TRUTH = FOLDER / "shapes.mp4", FOLDER / "shapes.txt"
FFMPEG = os.environ.get("FFMPEG", "ffmpeg")
PHOTOGRAPH = 2  # of those held out


class Paths:
    """Shapes on curves through the picture, turning at constant rates."""

    def __init__(self, generator):
        self.shapes = scenes.Shapes.random(1, COUNT, WIDTH, HEIGHT, generator, torch.device("cpu"))
        kinds = [scenes.DISC, scenes.BOX] * 4 + [scenes.TRIANGLE, scenes.BAR]
        self.shapes.kind = torch.tensor([kinds])
        size = torch.exp(torch.linspace(math.log(18), math.log(110), 8)[torch.randperm(8, generator=generator)])
        self.shapes.axes[0, :8] = torch.stack([size, size * (0.7 + 0.3 * torch.rand(8, generator=generator))], -1)
        self.shapes.axes[0, 8] = torch.tensor([60.0, 50.0])
        self.shapes.axes[0, 9] = torch.tensor([150.0, 12.0])
        self.base, self.turn = self.shapes.angle.clone(), torch.rand(1, COUNT, generator=generator) * 4 - 2
        self.phase = torch.rand(2, COUNT, generator=generator) * 2 * math.pi
        self.speed = 0.25 + 0.6 * torch.rand(2, COUNT, generator=generator)

    def at(self, second):
        wave = torch.sin(self.phase + self.speed * second)
        self.shapes.center = torch.stack([WIDTH * (0.5 + 0.53 * wave[0]), HEIGHT * (0.5 + 0.53 * wave[1])], -1)[None]
        self.shapes.angle = self.base + self.turn * second
        return self.shapes


def background(photo, share):
    """A part of the photograph that moves slowly."""
    height, width = photo.shape[1:]
    w = int(min(width, height * WIDTH / HEIGHT) * 0.9)
    h = int(w * HEIGHT / WIDTH)
    grid = functional.affine_grid(torch.tensor([[[w / width, 0, (1 - w / width) * math.sin(6 * share)],
                                                 [0, h / height, (1 - h / height) * 0.6 * math.cos(4 * share)]]]),
                                  (1, 3, HEIGHT, WIDTH), align_corners=False)
    return functional.grid_sample(photo[None], grid, align_corners=False, padding_mode="reflection")


def encoder():
    command = [FFMPEG, "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(RATE),
               "-i", "-", "-vf", "scale=out_color_matrix=bt601:out_range=tv", "-c:v", "libx264", "-preset", "medium", "-crf", "30",
               "-pix_fmt", "yuv420p", "-colorspace", "smpte170m", "-color_range", "tv", "-movflags", "+faststart", str(VIDEO)]
    return subprocess.Popen(command, stdin=subprocess.PIPE)


def render(photos):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(11)
    _, held_out, names = load_photos(photos, torch.device("cpu"))
    paths, photo, texture = Paths(generator), held_out[PHOTOGRAPH], held_out[PHOTOGRAPH - 1]
    texture = functional.interpolate(texture[None], (HEIGHT, WIDTH), mode="bilinear", align_corners=False)
    lines, process = [], encoder()
    for frame in range(FRAMES):
        shapes = paths.at(frame / RATE)
        image, visible = scenes.draw(background(photo, frame / FRAMES), texture, shapes)
        boxes, classes = scenes.truth(shapes, visible, WIDTH, HEIGHT)
        if 100 <= frame < 130:
            image = functional.avg_pool2d(functional.pad(image, (2, 2, 2, 2), mode="replicate"), 5, 1)
        noise = 0.02 * torch.randn(1, 1, HEIGHT, WIDTH, generator=generator) if frame >= 240 else 0
        image = ((image + noise).clamp(0, 1) * 255).round().byte()[0].permute(1, 2, 0)
        process.stdin.write(image.contiguous().numpy().tobytes())
        for i in range(COUNT):
            if classes[0, i] >= 0:
                x1, y1, x2, y2 = boxes[0, i].tolist()
                lines.append(f"{frame + 1},{i + 1},{x1 + 1:.2f},{y1 + 1:.2f},{x2 - x1:.2f},{y2 - y1:.2f},1,"
                             f"{int(classes[0, i]) + 1},{min(1.0, float(visible[0, i])):.2f}\n")
    process.stdin.close()
    if process.wait() != 0:
        raise SystemExit("FFmpeg failed")
    TRUTH.write_text("".join(lines))
    print(f"{FRAMES} frames over {names[PHOTOGRAPH]}, {len(lines)} boxes, {VIDEO.stat().st_size} bytes")


def frames():
    command = [FFMPEG, "-v", "error", "-i", str(VIDEO), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    while len(data := process.stdout.read(WIDTH * HEIGHT * 3)) == WIDTH * HEIGHT * 3:
        yield torch.from_numpy(numpy.frombuffer(data, numpy.uint8).reshape(HEIGHT, WIDTH, 3).copy()).permute(2, 0, 1)


def truths():
    result = {frame: [] for frame in range(FRAMES)}
    for line in TRUTH.read_text().splitlines():
        frame, _, left, top, width, height, _, label, _ = map(float, line.split(","))
        result[int(frame) - 1].append((int(label) - 1, left - 1, top - 1, left - 1 + width, top - 1 + height))
    return result


def measure():
    network = Network(FOLDER / "shapes.cfg").eval()
    network.read_weights(FOLDER / "shapes.weights")
    found = []
    with torch.no_grad():
        for frame, image in enumerate(frames()):
            small = functional.interpolate(image[None].float() / 255, (network.height, network.width), mode="bilinear",
                                           align_corners=False)
            for label, score, *box in detections(network, [raw[0] for raw in network(small)]):
                found.append((frame, label, score, *(side * size for side, size in zip(box, (WIDTH, HEIGHT) * 2))))
    classes = {name: average_precision(found, truths(), label) for label, name in enumerate(scenes.CLASSES)}
    result = {"rule": "101 points, IoU 0.5; precision and recall at a score of 0.25",
              "resize": "plain, bilinear with half-pixel centres", "nms": "greedynms 0.45, beta 0.6", "threshold": 0.005,
              "map50": sum(entry["ap50"] for entry in classes.values()) / len(classes), "classes": classes}
    (FOLDER / "expected.json").write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["render"] and len(sys.argv) == 3:
        render(sys.argv[2])
    elif sys.argv[1:] == ["measure"]:
        measure()
    else:
        raise SystemExit(__doc__)
