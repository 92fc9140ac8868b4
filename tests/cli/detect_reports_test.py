"""Faults that users of other programs have reported about darknet's models and detectors, tried with hone.

A network of one convolution a head shows what it is told to: a pixel's colours are the numbers of its cell. Reports about videos
(frames lost, sizes that change, drops, what browsers play) are in video_test.py.

usage: detect_reports_test.py HONE
"""
import json
import pathlib
import struct
import sys
import tempfile

import numpy as np
from PIL import Image

from vision import BAD_INPUT, Runner, constant_model, picture

WIDTH, HEIGHT = 96, 64
CLASSES = 2
ANCHORS = [4, 6, 10, 12, 20, 16, 24, 30, 40, 30, 60, 50, 8, 30, 50, 10, 33, 33]


def section(kind, **options):
    return f"[{kind}]\n" + "".join(f"{key.rstrip('_')}={value}\n" for key, value in options.items())


def head(stride, mask, **more):
    anchors = ", ".join(map(str, ANCHORS))
    return (section("convolutional", filters=len(mask) * (5 + CLASSES), size=1, stride=stride, activation="linear") +
            section("yolo", mask=",".join(map(str, mask)), anchors=anchors, classes=CLASSES, num=len(ANCHORS) // 2, **more))


class Net:
    """Heads of (stride, mask). A red pixel is an object of the first class, a green one of the second; each box has its
    anchor's size and lies in the middle of its cell; grey and blue are nothing. `sure`: the logit of full red of each head."""

    def __init__(self, folder, heads, net="", sure=None, **more):
        self.heads = heads
        text = f"[net]\nwidth={WIDTH}\nheight={HEIGHT}\nchannels=3\n{net}"
        text += section("convolutional", filters=3, size=1, activation="linear")
        numbers = [np.zeros(3), np.eye(3)]
        for index, (stride, mask) in enumerate(heads):
            text += section("route", layers=0) + head(stride, mask, **more)
            numbers += self.head_numbers(len(mask), sure[index] if sure else 6)
        self.cfg = folder / "net.cfg"
        self.cfg.write_text(text)
        self.weights = folder / "net.weights"
        self.write(np.concatenate([part.reshape(-1) for part in numbers]))

    def write(self, numbers):
        self.weights.write_bytes(struct.pack("<iiiQ", 0, 2, 5, 0) + numbers.astype("<f4").tobytes())

    @staticmethod
    def head_numbers(boxes, sure):
        bias, weights = np.zeros((boxes, 5 + CLASSES)), np.zeros((boxes, 5 + CLASSES, 3))
        bias[:, 4:] = -sure
        weights[:, 4] = [2 * sure, 2 * sure, -4 * sure]
        weights[:, 5, 0] = weights[:, 6, 1] = 2 * sure
        return [bias, weights]

    def box(self, index, anchor, x, y):
        """In pixels of the input, of the cell that begins at the pixel x, y."""
        stride, _ = self.heads[index]
        width, height = ANCHORS[2 * anchor:2 * anchor + 2]
        middle = (x + stride / 2, y + stride / 2)
        return [middle[0] - width / 2, middle[1] - height / 2, middle[0] + width / 2, middle[1] + height / 2]


def dots(*places, size=(WIDTH, HEIGHT), ground=(0, 0, 0)):
    pixels = np.full((size[1], size[0], 3), ground, np.uint8)
    for x, y, colour in places:
        pixels[y, x] = colour
    return Image.fromarray(pixels)


RED, GREEN = (255, 0, 0), (0, 255, 0)


def found_in(runner, model, image, *arguments):
    path = runner.folder / "image.png"
    image.save(path)
    line = json.loads(runner.good("detect", model, path, *arguments).stdout)
    return [([*b["box"][:2], b["box"][0] + b["box"][2], b["box"][1] + b["box"][3]], b["class"], b["score"])
            for b in line["detections"]]


def expect(found, wanted, what):
    """As sets of a box and its class."""
    assert len(found) == len(wanted), f"{what}: {found}"
    for box, label in wanted:
        near = [f for f in found if f[1] == label and np.abs(np.array(f[0]) - box).max() < 1e-3]
        assert len(near) == 1, f"{what}: {box}, class {label}, is not in {found}"


def check_letter_box(runner):
    """opencv#22197: letter_box=1 changes what the network sees, and the way back. 48 x 64 in 96 x 64: 24 columns on each
    side; without it every column is there twice."""
    image = dots((8, 16, RED), size=(48, 64))
    letter = Net(runner.folder, [(8, [2])], net="letter_box=1\n")
    left, top, right, bottom = letter.box(0, 2, 32, 16)
    expect(found_in(runner, letter.cfg, image), [([left - 24, top, right - 24, bottom], 0)], "letter_box=1")
    plain = Net(runner.folder, [(8, [2])])
    wide = dots(*[(x, 16, RED) for x in (7, 8, 9)], size=(48, 64))
    left, top, right, bottom = plain.box(0, 2, 16, 16)
    expect(found_in(runner, plain.cfg, wide), [([left / 2, top, right / 2, bottom], 0)], "no letter_box")


def check_heads(runner):
    """darknet#8146: large objects of the coarse head stay, and what both heads see is one object."""
    net = Net(runner.folder, [(32, [5]), (8, [4])], sure=[8, 6])
    image = dots((32, 32, RED), (0, 0, GREEN), (64, 8, GREEN))
    # The pixel at 32, 32 is a cell of both heads: boxes of 60 x 50 and 40 x 30, of which the first covers the second.
    small, large = net.box(1, 4, 32, 32), net.box(0, 5, 32, 32)
    found = found_in(runner, net.cfg, image, "--overlap", "0.2")
    expect(found, [(large, 0), (net.box(0, 5, 0, 0), 1), (net.box(1, 4, 64, 8), 1)], "NMS across heads")
    found = found_in(runner, net.cfg, image, "--overlap", "0.9")
    assert sum(f[1] == 0 for f in found) == 2, found
    expect([f for f in found if f[1] == 0], [(large, 0), (small, 0)], "below the limit both stay")


def check_masks(runner):
    """tensorflow-yolov4-tflite#174, #198: every head has the anchors of its own mask, 1,2,3 among them, and three heads."""
    net = Net(runner.folder, [(32, [6, 7, 8]), (16, [3, 4, 5]), (8, [1, 2, 3])])
    image = dots((40, 40, RED), (16, 48, GREEN))
    wanted = [(net.box(2, anchor, 40, 40), 0) for anchor in (1, 2, 3)]
    wanted += [(net.box(index, anchor, 16, 48), 1) for index, masks in ((1, (3, 4, 5)), (2, (1, 2, 3))) for anchor in masks]
    expect(found_in(runner, net.cfg, image, "--overlap", "1"), wanted, "three heads")


def check_defaults(runner):
    """pytorch-YOLOv4#313: what a cfg leaves out is what darknet takes for it."""
    image = dots((40, 40, RED), (16, 48, GREEN), (48, 40, RED))
    short = Net(runner.folder, [(8, [2])])
    found = found_in(runner, short.cfg, image)
    spelled = Net(runner.folder, [(8, [2])], net="letter_box=0\n", scale_x_y=1, new_coords=0, nms_kind="default",
                  beta_nms=0.6, max=200, iou_thresh=1, ignore_thresh=0.5, truth_thresh=1, jitter=0.2, random=0)
    assert found == found_in(runner, spelled.cfg, image) and found, found
    # No mask, no anchors, no num: one box of half a pixel.
    bare = section("yolo", classes=CLASSES)
    short.cfg.write_text(short.cfg.read_text().split("[yolo]")[0] + bare)
    [(box, label, _)] = found_in(runner, short.cfg, dots((40, 40, RED)))
    assert np.allclose(box, [43.75, 43.75, 44.25, 44.25], atol=1e-3) and label == 0, box


def check_bytes(runner):
    """darknet2caffe#18: routes of groups need no weights of the other group; the public file of YOLOv4-tiny is as long as its
    network is."""
    weights = runner.folder / "yolov4-tiny.weights"
    size = 24_251_276
    weights.write_bytes(struct.pack("<iiiQ", 0, 2, 5, 0) + bytes(size - 20))
    out = runner.folder / "tiny.onnx"
    said = runner.good("export", "yolov4_tiny", "--weights", weights, "-o", out).stderr
    assert "left over" not in said, said
    with open(weights, "r+b") as file:
        file.truncate(size - 4)
    runner.bad(BAD_INPUT, f"{size} bytes are needed, {size - 4} are there", "export", "yolov4_tiny", "--weights", weights,
               "-o", out)


def check_classifier(runner):
    """opencv#16623: [cost] with type=sse at the end of a classifier is no layer of its own."""
    text = f"[net]\nwidth={WIDTH}\nheight={HEIGHT}\nchannels=3\n"
    text += section("convolutional", filters=3, size=1, activation="linear") + section("avgpool")
    text += section("softmax", groups=1) + section("cost", type_="sse")
    cfg = runner.folder / "classifier.cfg"
    cfg.write_text(text)
    (runner.folder / "classifier.weights").write_bytes(
        struct.pack("<iiiQ", 0, 2, 5, 0) + np.concatenate([np.zeros(3), 5 * np.eye(3).reshape(-1)]).astype("<f4").tobytes())
    image = runner.folder / "green.png"
    dots(ground=(0, 255, 0)).save(image)
    [told] = json.loads(runner.good("classify", cfg, image, "--format", "json").stdout)
    best = told["classes"][0]
    wanted = np.exp(5) / (np.exp(5) + 2)
    assert best["class"] == 1 and abs(best["score"] - wanted) < 1e-4, told


def check_odd_frames(runner):
    """ONNX-YOLOv8#8, tensorrtx#100: frames that are neither square nor a multiple of anything keep their boxes."""
    width, height, side = 333, 187, 64
    image = picture(width, height)
    scale = side / width
    top = round((side - round(height * scale)) / 2 - 0.1)
    cells = 8 * 8 + 4 * 4 + 2 * 2
    output = np.zeros((1, 7, cells), np.float32)
    wanted = [100.0, 50.0, 221.0, 120.0]
    x1, y1, x2, y2 = (value * scale for value in wanted)
    output[0, :, 30] = [(x1 + x2) / 2, (y1 + y2) / 2 + top, x2 - x1, y2 - y1, 0, 0.8, 0]
    model = constant_model(runner.folder / "v8.onnx", [1, 3, side, side], {"output0": output}, {})
    [(box, label, score)] = found_in(runner, model, image)
    assert np.abs(np.array(box) - wanted).max() < 0.01 and label == 1 and abs(score - 0.8) < 1e-6, box
    # yolov9#440: how the image was fitted is said.
    path = runner.folder / "image.png"
    said = runner.good("detect", model, path).stderr
    assert "images are fitted by letterbox to 64 x 64" in said, said


def check_rates(runner):
    """yolov5#1799, darknet#2878, darknet#8022, YOSO#14: the network's rate and the whole one's are two figures, and starting
    up is in neither."""
    folder = runner.folder / "images"
    folder.mkdir()
    for number in range(5):
        picture(64, 48, seed=number).save(folder / f"{number}.png")
    model = constant_model(runner.folder / "net.onnx", [1, 3, 64, 64], {"output0": np.zeros((1, 7, 84), np.float32)}, {})
    stats = runner.folder / "stats.json"
    text = runner.good("detect", model, folder, "--stats", stats, "-o", runner.folder / "found.jsonl").stdout
    assert " / mean time in the network" in text and "end to end" in text and "start-up" in text, text
    told = json.loads(stats.read_text())
    assert told["startup_seconds"] > 0 and told["end_to_end_fps"] == 5 / told["wall_seconds"], told
    assert told["inference_fps"] >= told["end_to_end_fps"] * 0.999, told


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], pathlib.Path(folder))
        check_letter_box(runner)
        check_heads(runner)
        check_masks(runner)
        check_defaults(runner)
        check_bytes(runner)
        check_classifier(runner)
        check_odd_frames(runner)
        check_rates(runner)
    print("all as expected")


if __name__ == "__main__":
    main()
