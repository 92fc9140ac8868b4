"""`hone detect` from outside: forms of outputs, formats of results, accuracy, and what wrong inputs say.

usage: detect_test.py HONE
"""
import json
import pathlib
import sys
import tempfile
import zipfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from vision import BAD_INPUT, USAGE, Runner, constant_model, pixel_model, picture, save, value_info


def boxes_of(line):
    """Corners, score and class of a line of results."""
    return [[*(b["box"][0:2]), b["box"][0] + b["box"][2], b["box"][1] + b["box"][3], b["score"], b["class"]]
            for b in line["detections"]]


def one_image(runner, model, *arguments):
    lines = runner.good("detect", model, runner.folder / "image.png", *arguments).stdout.splitlines()
    assert len(lines) == 1, lines
    return json.loads(lines[0])


def expect(found, wanted, what):
    wanted = np.array(wanted, np.float64)
    found = np.array(boxes_of(found), np.float64).reshape(-1, 6)
    assert found.shape == wanted.shape, f"{what}: {found}"
    assert np.abs(found - wanted).max() < 2e-3, f"{what}: {found} is not {wanted}"


def check_forms(runner):
    """One box, (8, 4) to (24, 20) in an input of 64 x 32, and one that is too unlikely, in each family's form.
    The image has twice the size, so a letterbox has no margin."""
    picture(128, 64).save(runner.folder / "image.png")
    wanted = [[16, 8, 48, 40, 0.8, 1]]
    cells = 8 * 4 + 4 * 2 + 2 * 1
    names = "{0: 'cat', 1: 'dog'}"

    def model(outputs, **metadata):
        return constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], outputs, metadata)

    v5 = np.zeros((1, 3 * cells, 7), np.float32)
    v5[0, 5] = [16, 12, 16, 16, 0.8, 0, 1]
    v5[0, 6] = [16, 12, 16, 16, 0.4, 0.5, 0.5]
    expect(one_image(runner, model({"output0": v5}, names=names)), wanted, "yolov5")
    v8 = np.zeros((1, 6, cells), np.float32)
    v8[0, :, 9] = [16, 12, 16, 16, 0, 0.8]
    v8[0, :, 10] = [16, 12, 16, 18, 0, 0.7]
    line = one_image(runner, model({"output0": v8}, names=names))
    expect(line, wanted, "yolov8 of two classes, which has six rows")
    assert line["detections"][0]["name"] == "dog" and line["width"] == 128, line
    expect(one_image(runner, model({"output0": v8.transpose(0, 2, 1)}, names=names)), wanted, "yolov8, lying")
    finished = np.zeros((1, 300, 6), np.float32)
    finished[0, 0] = [8, 4, 24, 20, 0.8, 1]
    finished[0, 1] = [8, 4, 24, 21, 0.7, 1]
    line = one_image(runner, model({"output0": finished}, names="{0: 'a', 1: 'b', 2: 'c'}"))
    expect(line, wanted + [[16, 8, 48, 42, 0.7, 1]], "end to end: no second NMS")
    shares = np.zeros((1, 300, 6), np.float32)
    shares[0, 0] = [16 / 64, 12 / 32, 16 / 64, 16 / 32, 0.8, 1]
    expect(one_image(runner, model({"output0": shares}, names="{0: 'a', 1: 'b', 2: 'c'}")), wanted,
           "rtdetr: score and class, in 0..1")
    shares[0, 0] = [16 / 64, 12 / 32, 16 / 64, 16 / 32, 0, 0.8]
    expect(one_image(runner, model({"output0": shares}, names=names)), wanted, "rtdetr of two classes")
    x = np.zeros((1, cells, 7), np.float32)
    x[0, 8 * 1 + 2] = [16 / 8 - 2, 12 / 8 - 1, np.log(2), np.log(2), 0.8, 0, 1]
    image = picture(100, 64)
    image.save(runner.folder / "image.png")
    expect(one_image(runner, model({"output": x})), wanted, "yolox: at the upper left, factor 0.5")
    picture(128, 64).save(runner.folder / "image.png")
    boxes = np.array([[8 / 64, 4 / 32, 24 / 64, 20 / 32]], np.float32)
    centres = np.array([[16 / 64, 12 / 32, 16 / 64, 16 / 32]], np.float32)
    ssd = {"bboxes": boxes[None], "labels": np.array([[2]], np.int64), "scores": np.array([[0.8]], np.float32)}
    expect(one_image(runner, model(ssd)), wanted, "ssd: classes from 1")
    torchvision = {"boxes": boxes * [64, 32, 64, 32], "labels": np.array([2], np.int64),
                   "scores": np.array([0.8], np.float32)}
    torchvision["boxes"] = torchvision["boxes"].astype(np.float32)
    expect(one_image(runner, model(torchvision)), wanted, "torchvision")
    logits = np.log(np.array([[[0.1, 0.8, 0.1]]], np.float32))
    expect(one_image(runner, model({"logits": logits, "pred_boxes": centres[None]})), wanted, "detr")
    sigmoid = np.array([[[-9, np.log(4)]]], np.float32)
    expect(one_image(runner, model({"logits": sigmoid, "pred_boxes": centres[None]}, names=names)), wanted,
           "rtdetr of transformers: as many logits as names")
    expect(one_image(runner, model({"boxes": boxes[None, :, None], "confs": np.array([[[0, 0.8]]], np.float32)})),
           wanted, "boxes and confs")
    nms = {"num_dets": np.array([[1]], np.int32), "det_boxes": np.array([[[8, 4, 24, 20]] * 2], np.float32),
           "det_scores": np.array([[0.8, 0.9]], np.float32), "det_classes": np.array([[1, 1]], np.int32)}
    expect(one_image(runner, model(nms)), wanted, "efficientnms: what is behind num_dets is stale")
    rows = np.array([[0, 8, 4, 24, 20, 1, 0.8], [1, 8, 4, 24, 20, 1, 0.9]], np.float32)
    expect(one_image(runner, model({"output": rows})), wanted, "yolov7 --end2end: rows of other images")
    heads = {f"head{i}": np.full((1, 3, h, w, 7), -20, np.float32) for i, (h, w) in enumerate([(4, 8), (2, 4), (1, 2)])}
    heads["head0"][0, 0, 1, 2] = [0, 0, 0, 0, 20, -20, np.log(4)]
    raw = one_image(runner, model(heads))
    expect(raw, [[2 * (20 - 6), 2 * (12 - 8), 2 * (20 + 6), 2 * (12 + 8), 0.8, 1]], "yolov7's heads")


def check_rtdetr_sizes(runner):
    """RT-DETR of its authors is told the image's size."""
    path = pixel_model(runner.folder / "sizes.onnx", 64, 32, sizes=True)
    line = one_image(runner, path)
    expect(line, [[0, 0, 128, 64, 0.9, 0]], "orig_target_sizes are width and height of the image")


def check_tensorflow(runner):
    """The object detection API's converted models: y before x, whole numbers as floating point; EfficientNMS has the same
    names, and classes from 0 in integers."""
    outputs = {"num_detections": np.array([1], np.float32), "detection_scores": np.array([[0.8, 0.9]], np.float32),
               "detection_boxes": np.array([[[4 / 32, 8 / 64, 20 / 32, 24 / 64]] * 2], np.float32),
               "detection_classes": np.array([[2, 2]], np.float32)}
    wanted = [[16, 8, 48, 40, 0.8, 1]]
    for suffix in ("", ":0"):
        model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64],
                               {name + suffix: array for name, array in outputs.items()}, {})
        expect(one_image(runner, model), wanted, f"tensorflow{suffix}")
    outputs = {**outputs, "detection_classes": np.array([[1, 1]], np.int32), "num_detections": np.array([[1]], np.int32),
               "detection_boxes": np.array([[[8, 4, 24, 20]] * 2], np.float32)}
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], outputs, {})
    expect(one_image(runner, model), wanted, "efficientnms by the same names")


def check_pixel_mask(runner):
    """DETR's exports ask which pixels are no margin: all of them. Its score is the mean of what it was told."""
    nodes = [helper.make_node("Cast", ["pixel_mask"], ["told"], to=TensorProto.FLOAT),
             helper.make_node("ReduceMean", ["told"], ["share"], axes=[1, 2], keepdims=1),
             helper.make_node("Log", ["share"], ["log"]), helper.make_node("Add", ["base", "log"], ["logits"]),
             helper.make_node("Identity", ["box"], ["pred_boxes"]),
             helper.make_node("ReduceMean", ["pixel_values"], ["unused"], keepdims=0)]
    logits = np.log(np.array([[[0.1, 0.8, 0.1]]], np.float32))
    boxes = np.array([[[16 / 64, 12 / 32, 16 / 64, 16 / 32]]], np.float32)
    constants = [numpy_helper.from_array(logits, "base"), numpy_helper.from_array(boxes, "box")]
    image = helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, ["batch", 3, 32, 64])
    outputs = [value_info("logits", logits), value_info("pred_boxes", boxes)]
    for shape in ([1, 24, 24], ["batch", "height", "width"]):
        mask = helper.make_tensor_value_info("pixel_mask", TensorProto.INT64, shape)
        model = save(runner.folder / "model.onnx", nodes, [image, mask], outputs, constants, {})
        expect(one_image(runner, model), [[16, 8, 48, 40, 0.8, 1]], f"pixel_mask {shape}")
    mask = helper.make_tensor_value_info("pixel_mask", TensorProto.INT64, [3, 24, 24])
    nodes[3] = helper.make_node("Identity", ["base"], ["logits"])
    model = save(runner.folder / "model.onnx", nodes, [image, mask], outputs, constants, {})
    runner.bad(BAD_INPUT, "no mask of 1 image", "detect", model, runner.folder / "image.png")


def check_turned_boxes(runner):
    """YOLOv8's for aerial images: an angle behind the classes, of which the upright box around it remains."""
    cells = 8 * 4 + 4 * 2 + 2 * 1
    rows = np.zeros((1, 7, cells), np.float32)
    rows[0, :, 9] = [32, 16, 16, 8, 0, 0.8, np.pi / 2]
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": rows},
                           {"task": "obb", "names": "['plane', 'ship']"})
    expect(one_image(runner, model), [[56, 16, 72, 48, 0.8, 1]], "obb, a quarter turn")
    said = runner.good("detect", model, runner.folder / "image.png").stderr
    assert "upright boxes around those that are turned" in said, said
    rows[0, 6, 9] = np.pi / 4
    wide = 24 / np.sqrt(2)
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": rows}, {"task": "obb"})
    expect(one_image(runner, model), [[64 - wide, 32 - wide, 64 + wide, 32 + wide, 0.8, 1]], "obb, an eighth")


def check_labels_tell_the_form(runner):
    """A row of six numbers for each cell is YOLOX's with one class, or YOLOv8's that lies with two."""
    cells = 8 * 4 + 4 * 2 + 2 * 1
    rows = np.zeros((1, cells, 6), np.float32)
    rows[0, 9] = [16, 12, 16, 16, 0, 0.8]
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": rows}, {})
    labels = runner.folder / "labels.txt"
    labels.write_text("cat\ndog\n")
    expect(one_image(runner, model, "--labels", labels), [[16, 8, 48, 40, 0.8, 1]], "yolov8, lying, by its labels")
    one = np.zeros((1, cells, 5), np.float32)
    one[0, 9] = [16, 12, 16, 16, 0.8]
    expect(one_image(runner, constant_model(runner.folder / "one.onnx", [1, 3, 32, 64], {"output0": one}, {})),
           [[16, 8, 48, 40, 0.8, 0]], "yolov8, lying, with one class")
    labels.write_text("cat\ndog\ncow\n")
    runner.bad(BAD_INPUT, "3 names, the network 1 class", "detect", model, runner.folder / "image.png", "--labels", labels)
    large = constant_model(runner.folder / "model.onnx", [1, 3, 640, 640], {"output0": np.zeros((1, 8400, 85), np.float32)}, {})
    runner.bad(BAD_INPUT, "3 names, the network 80 classes", "detect", large, runner.folder / "image.png", "--labels", labels)


def check_darknet(runner):
    """Heads as metadata describe them; greedy NMS keeps what plain IoU would not."""
    head = np.zeros((1, 2 * 7, 2, 4), np.float32)
    for anchor, x in ((0, 0.5), (1, 0.85)):
        head[0, 7 * anchor:7 * anchor + 7, 1, 2] = [x, 0.5, 0, 0, 0.9, 0.5, 0.9]
    told = {"darknet.heads": "1", "darknet.nms_kind": "default", "darknet.letter_box": "0",
            "darknet.head.0.output": "layer_9", "darknet.head.0.kind": "yolo", "darknet.head.0.classes": "2",
            "darknet.head.0.num": "2", "darknet.head.0.columns": "4", "darknet.head.0.rows": "2",
            "darknet.head.0.anchors": "16,16,16,16", "labels": "cat\ndog"}
    model = lambda **more: constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"layer_9": head},
                                          {**told, **more})
    first = [64, 32, 96, 64, 0.81, 1]
    line = one_image(runner, model())
    expect(line, [first, [64, 32, 96, 64, 0.45, 0]], "a detection for each class above the threshold")
    line = one_image(runner, model(**{"darknet.nms_kind": "greedynms"}))
    assert len(line["detections"]) == 4, f"greedynms: {line}"
    # 100 x 64 in 64 x 32: 50 x 32, seven columns of margin on each side.
    picture(100, 64).save(runner.folder / "image.png")
    line = one_image(runner, model(**{"darknet.letter_box": "1"}))
    expect(line, [[50, 32, 82, 64, 0.81, 1], [50, 32, 82, 64, 0.45, 0]], "letter_box")
    picture(128, 64).save(runner.folder / "image.png")
    runner.bad(BAD_INPUT, "3 anchors", "detect", model(**{"darknet.head.0.anchors": "1,1,2,2,3,3"}),
               runner.folder / "image.png")


def check_letterbox(runner):
    """Odd margins: 100 x 60 in 64 x 64 is 64 x 38, with 13 rows above."""
    picture(100, 60).save(runner.folder / "image.png")
    output = np.zeros((1, 300, 6), np.float32)
    output[0, 0] = [0, 13, 64, 51, 0.9, 0]
    model = constant_model(runner.folder / "model.onnx", [1, 3, 64, 64], {"output0": output}, {"end2end": "True"})
    expect(one_image(runner, model), [[0, 0, 100, 38 / 0.64, 0.9, 0]], "letterbox")
    grey = pixel_model(runner.folder / "pixels.onnx", 64, 64, points=[(5, 12), (5, 51)])
    levels = [b["score"] for b in one_image(runner, grey, "--threshold", "0")["detections"]]
    assert np.allclose(levels, 114 / 255, atol=1e-5), f"rows 12 and 51 are margin: {levels}"
    stretched = one_image(runner, model, "--fit", "stretch")
    expect(stretched, [[0, 13 * 60 / 64, 100, 51 * 60 / 64, 0.9, 0]], "--fit stretch")


def check_colours(runner):
    """What the network sees is the image, in RGB, 0..1; and as flags say."""
    image = picture(32, 32)
    image.save(runner.folder / "image.png")
    wanted = np.asarray(image)[3, 7] / 255
    model = pixel_model(runner.folder / "pixels.onnx", 32, 32, points=[(7, 3)])

    def values(*arguments):
        found = one_image(runner, model, "--threshold", "0", *arguments)["detections"]
        return np.array([b["score"] for b in sorted(found, key=lambda b: b["class"])])

    assert np.allclose(values(), wanted, atol=1e-5), (values(), wanted)
    assert np.allclose(values("--colours", "bgr"), wanted[::-1], atol=1e-5)
    scaled = values("--scale", "0.001", "--mean", "-0.5", "--std", "2")
    assert np.allclose(scaled, (wanted * 0.255 + 0.5) / 2, atol=1e-5), scaled


def check_formats(runner):
    folder = runner.folder / "images"
    folder.mkdir()
    for number in (2, 10, 1):
        picture(64, 32).save(folder / f"{number}.png")
    output = np.zeros((1, 300, 6), np.float32)
    output[0, 0] = [8, 4, 24, 20, 0.75, 1]
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": output},
                           {"names": "['a', 'b']", "end2end": "True"})
    out = runner.folder / "found.jsonl"
    runner.good("detect", model, "--input", folder, "-o", out)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [pathlib.Path(line["file"]).name for line in lines] == ["1.png", "2.png", "10.png"], lines
    assert [line["frame"] for line in lines] == [0, 1, 2]
    coco = json.loads(runner.good("detect", model, folder, "--format", "coco").stdout)
    assert [entry["image_id"] for entry in coco] == [1, 2, 10] and coco[0]["category_id"] == 2, coco
    assert coco[0]["bbox"] == [8, 4, 16, 16] and abs(coco[0]["score"] - 0.75) < 1e-6, coco
    mot = runner.good("detect", model, folder, "--format", "mot").stdout.splitlines()
    assert mot[0] == "1,-1,9.00,5.00,16.00,16.00,0.750000,-1,-1,-1" and mot[2].startswith("3,"), mot
    none = runner.good("detect", model, folder, "--format", "coco", "--threshold", "0.9").stdout
    assert json.loads(none) == [], none
    pattern = runner.good("detect", model, folder / "%d.png").stdout.splitlines()
    assert len(pattern) == 3, pattern
    stats = runner.folder / "stats.json"
    runner.good("detect", model, folder, "--stats", stats)
    told = json.loads(stats.read_text())
    assert told["frames"] == 3 and [s["name"] for s in told["stages"]][0] == "decode" and told["bounded_by"], told


def check_streams(runner):
    """Streams and batches change nothing but the time it takes."""
    folder = runner.folder / "streams"
    folder.mkdir()
    for number in range(11):
        picture(64, 32, seed=number).save(folder / f"{number}.png")
    model = pixel_model(runner.folder / "pixels.onnx", 64, 32, points=[(7, 3), (20, 9)])
    lines = runner.good("detect", model, folder, "--threshold", "0").stdout
    assert len(lines.splitlines()) == 11
    stats = runner.folder / "streams.json"
    for streams in (2, 5, 16):
        ending = runner.good("detect", model, folder, "--threshold", "0", "--infStreams", streams, "--stats", stats)
        assert ending.stdout == lines, f"{streams} streams"
        told = json.loads(stats.read_text())
        assert told["streams"] == streams and [s["name"] for s in told["stages"]].count("infer") == 1, told
        assert f"({streams} streams / mean time in the network)" in ending.stderr, ending.stderr
    runner.good("detect", model, folder, "--threshold", "0", "--stats", stats)
    assert json.loads(stats.read_text())["streams"] == 1
    ending = runner.good("detect", model, folder, "--hwaccel", "auto")
    assert "frames were decoded on the CPU: the network runs there" in ending.stderr, ending.stderr
    traced = runner.folder / "streams.trace.sqlite"
    runner.good("detect", model, folder, "--infStreams", "2", "--trace", traced)
    runner.bad(USAGE, "--infStreams 2: reference runs one batch at a time here", "detect", model, folder,
               "--backend", "reference", "--infStreams", "2")
    runner.bad(USAGE, "--infStreams", "detect", model, folder, "--infStreams", "0")


def check_nonsense(runner):
    """Numbers that are none, or no class, are no detections."""
    picture(64, 32).save(runner.folder / "image.png")
    output = np.zeros((1, 300, 6), np.float32)
    output[0, :7] = [[8, 4, 24, 20, 0.9, np.nan], [np.nan, 4, 24, 20, 0.9, 0], [8, 4, np.inf, 20, 0.9, 0],
                     [8, 4, 24, 20, np.nan, 0], [8, 4, 24, 20, 0.9, -3], [8, 4, 24, 20, 0.9, 1e30],
                     [-1e30, 4, 24, 20, 0.8, 1]]
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": output}, {"end2end": "True"})
    expect(one_image(runner, model), [[0, 4, 24, 20, 0.8, 1]], "nonsense")
    ending = runner.good("detect", model, runner.folder / "image.png", "--track", "--format", "mot")
    assert "3 of the 1800 numbers that the network gives for a grey image are NaN" in ending.stderr, ending.stderr
    assert "(--precision fp32)" in ending.stderr, ending.stderr
    # Boxes that lie outside the image have no area in it.
    output = np.zeros((1, 300, 6), np.float32)
    output[0, :2] = [[-90, 4, -70, 20, 0.9, 0], [8, 4, 24, 20, 0.8, 1]]
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": output}, {"end2end": "True"})
    expect(one_image(runner, model), [[8, 4, 24, 20, 0.8, 1]], "outside")
    assert "NaN" not in runner.good("detect", model, runner.folder / "image.png").stderr
    # A class that is no number hides none of the others.
    cells = 8 * 4 + 4 * 2 + 2 * 1
    v8 = np.zeros((1, 6, cells), np.float32)
    v8[0, :, 9] = [16, 12, 16, 16, np.nan, 0.8]
    v8[0, :, 10] = [16, 12, 16, 16, np.nan, np.nan]
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": v8}, {})
    expect(one_image(runner, model), [[8, 4, 24, 20, 0.8, 1]], "yolov8: NaN beside a class")
    v5 = np.zeros((1, 3 * cells, 7), np.float32)
    v5[0, 5] = [16, 12, 16, 16, 1, np.nan, 0.8]
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": v5}, {})
    expect(one_image(runner, model), [[8, 4, 24, 20, 0.8, 1]], "yolov5: NaN beside a class")


def check_darknet_files(runner):
    """A cfg and its weights: the dialect can be chosen, and bytes that are left over are named."""
    image = runner.folder / "image.png"
    picture(64, 32).save(image)
    cfg = runner.folder / "net.cfg"
    cfg.write_text("[net]\nwidth=64\nheight=32\nchannels=3\n[convolutional]\nfilters=7\nsize=1\nstride=16\n"
                   "activation=linear\n[yolo]\nmask=0\nanchors=16,16\nclasses=2\nnum=1\n")
    weights = np.zeros(7 + 7 * 3 + 5, np.float32)
    (runner.folder / "net.weights").write_bytes(np.array([0, 2, 5, 0, 0], np.int32).tobytes() + weights.tobytes())
    for rules in ("alexeyab", "pjreddie"):
        ending = runner.good("detect", cfg, image, "--darknet-rules", rules)
        assert "warning: " in ending.stderr and "20 bytes" in ending.stderr, ending.stderr
    runner.bad(USAGE, "--darknet-rules is 'other'", "detect", cfg, image, "--darknet-rules", "other")


def check_random_weights(runner):
    ending = runner.run("detect", "yolov4_tiny", runner.folder / "nothing.png")
    assert "note: the weights of yolov4_tiny are random (seed 0)" in ending.stderr, ending.stderr
    assert "--weights FILE.weights gives it trained ones" in ending.stderr, ending.stderr


def check_refusals(runner):
    image = runner.folder / "image.png"
    picture(64, 32).save(image)
    odd = constant_model(runner.folder / "odd.onnx", [1, 3, 32, 64], {"o": np.zeros((1, 50, 3), np.float32)}, {})
    runner.bad(BAD_INPUT, "no decoder knows its outputs", "detect", odd, image)
    # Rows of numbers beyond 1.5 are no boxes in shares of the image.
    rows = constant_model(runner.folder / "rows.onnx", [1, 3, 32, 64], {"o": np.full((1, 7, 13), 3, np.float32)}, {})
    runner.bad(BAD_INPUT, "no decoder knows its outputs", "detect", rows, image)
    scores = constant_model(runner.folder / "scores.onnx", [1, 3, 32, 64], {"scores": np.zeros((1, 10), np.float32)}, {})
    runner.bad(BAD_INPUT, "such a row of scores is for hone classify", "detect", scores, image)
    runner.bad(USAGE, "there is no decoder yolov99", "detect", odd, image, "--decoder", "yolov99")
    runner.bad(USAGE, "are not of the form", "detect", odd, image, "--decoder", "yolov8")
    found = np.zeros((1, 300, 6), np.float32)
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": found}, {"end2end": "True"})
    runner.bad(BAD_INPUT, "there is no such file", "detect", model, runner.folder / "nothing.png")
    empty = runner.folder / "empty"
    empty.mkdir()
    runner.bad(BAD_INPUT, "has no images", "detect", model, empty)
    broken = runner.folder / "broken.png"
    broken.write_bytes(image.read_bytes()[:-20])
    runner.bad(BAD_INPUT, "truncated", "detect", model, broken)
    runner.bad(USAGE, "--batch 4", "detect", model, image, "--batch", "4")
    runner.bad(USAGE, "ends neither", "detect", model, image, "-o", runner.folder / "x.doc")
    runner.bad(USAGE, "pictures are not written", "detect", model, image, "-o", runner.folder / "x.png")
    runner.bad(USAGE, f"{model} is a model, which comes before the input: {model} {image}", "detect", image, model)
    runner.bad(USAGE, "comes before the input", "classify", image, model)
    script = runner.folder / "script.pt"
    with zipfile.ZipFile(script, "w") as archive:
        for name in ("data.pkl", "constants.pkl", "version", "code/__torch__.py"):
            archive.writestr(f"script/{name}", "3")
    runner.bad(BAD_INPUT, f'torch.onnx.export(torch.jit.load("{script}"), (torch.zeros(1, 3, 640, 640),), "script.onnx"', "detect",
               script, image)
    for camera in ("99", "/dev/video99"):
        runner.bad(BAD_INPUT, "/dev/video99: there is no such camera", "detect", model, camera)
    runner.bad(USAGE, "the output is the input", "detect", model, image, "-o", model)
    runner.bad(USAGE, "input is required", "detect", model)
    runner.bad(USAGE, "input is given twice", "detect", model, image, "--input", image)
    kept = runner.folder / "kept.json"
    kept.write_text("old")
    runner.bad(USAGE, "are one file", "detect", model, image, "-o", kept, "--stats", kept)
    runner.bad(USAGE, "are one file", "detect", model, image, "-o", kept, "--stats", f"{runner.folder}/./kept.json")
    (runner.folder / "link.json").symlink_to(kept)
    runner.bad(USAGE, "are one file", "detect", model, image, "-o", kept, "--stats", runner.folder / "link.json")
    assert kept.read_text() == "old"
    runner.bad(USAGE, "the output is the input", "detect", model, image, "--stats", image)
    runner.bad(USAGE, "the output is the input", "detect", model, image, "--labels", kept, "--stats", kept)
    labels = runner.folder / "labels.txt"
    labels.write_text("a\nb\n")
    v8 = constant_model(runner.folder / "v8.onnx", [1, 3, 32, 64], {"o": np.zeros((1, 7, 42), np.float32)}, {})
    runner.bad(BAD_INPUT, "2 names, the network 3 classes", "detect", v8, image, "--labels", labels)
    one = runner.folder / "one.names"
    one.write_text("cat\n")
    runner.bad(BAD_INPUT, "it has 1 name, the network 3 classes", "detect", v8, image, "--labels", one)
    bad_names = constant_model(runner.folder / "v8.onnx", [1, 3, 32, 64], {"o": np.zeros((1, 7, 42), np.float32)},
                               {"names": "__import__('os')"})
    runner.bad(BAD_INPUT, "'names'", "detect", bad_names, image)
    (runner.folder / "images" / "3.png").write_bytes(b"no image")
    folder = runner.folder / "images"
    ending = runner.good("detect", model, folder)
    assert "1 image could not be decoded" in ending.stderr and len(ending.stdout.splitlines()) == 3, ending
    strict = runner.run("detect", model, folder, "--strict")
    assert strict.returncode == 5, strict


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], pathlib.Path(folder))
        check_forms(runner)
        check_rtdetr_sizes(runner)
        check_tensorflow(runner)
        check_pixel_mask(runner)
        check_turned_boxes(runner)
        check_labels_tell_the_form(runner)
        check_darknet(runner)
        check_letterbox(runner)
        check_colours(runner)
        check_formats(runner)
        check_streams(runner)
        check_nonsense(runner)
        check_darknet_files(runner)
        check_random_weights(runner)
        check_refusals(runner)
    print("all as expected")


if __name__ == "__main__":
    main()
