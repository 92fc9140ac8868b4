"""`hone classify` from outside: the digits' network, batches, formats, and what is assumed.

usage: classify_test.py HONE MODELS_DIGITS
"""
import csv
import io
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from vision import BAD_INPUT, THRESHOLD, USAGE, Runner, constant_model, picture, save


def mean_model(path, batch, metadata):
    """Three classes: the means of red, green and blue over the input."""
    image = helper.make_tensor_value_info("images", TensorProto.FLOAT, [batch, 3, 32, 32])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, 3])
    nodes = [helper.make_node("ReduceMean", ["images"], ["means"], axes=[2, 3], keepdims=0),
             helper.make_node("Mul", ["means", "ten"], ["scores"])]
    return save(path, nodes, [image], [scores], [numpy_helper.from_array(np.float32(10).reshape(()), "ten")], metadata)


def check_digits(runner, digits):
    text = runner.good("classify", digits / "digits.onnx", digits / "seven.png", "--top", "3").stdout
    lines = text.splitlines()
    assert lines[0].endswith("seven.png") and lines[1].split()[0] == "7" and len(lines) == 4, text


def check_batches(runner):
    folder = runner.folder / "images"
    folder.mkdir()
    for number in range(5):
        picture(48, 40, seed=number).save(folder / f"{number}.png")
    told = {"image.resize": "32", "image.crop": "32", "labels": "red\ngreen\nblue"}
    model = mean_model(runner.folder / "mean.onnx", "N", told)
    single = json.loads(runner.good("classify", model, folder, "--format", "json").stdout)
    assert [pathlib.Path(one["file"]).name for one in single] == [f"{n}.png" for n in range(5)], single
    assert {c["name"] for c in single[0]["classes"]} == {"red", "green", "blue"}, single[0]
    assert abs(sum(c["probability"] for c in single[0]["classes"]) - 1) < 1e-6, single[0]
    scores = lambda result: [[round(c["score"], 4) for c in one["classes"]] for one in result]
    out = runner.folder / "out.json"
    runner.good("classify", model, folder, "--batch", "2", "-o", out)
    assert scores(json.loads(out.read_text())) == scores(single), "a batch gives what single images give"
    for more in (("--infStreams", "2"), ("--infStreams", "3", "--batch", "2"), ("--infStreams", "9", "--threads", "1")):
        told = json.loads(runner.good("classify", model, folder, "--format", "json", *more).stdout)
        assert [one["file"] for one in told] == [one["file"] for one in single], f"{more}: order"
        assert scores(told) == scores(single), more
    rows = list(csv.reader(io.StringIO(runner.good("classify", model, folder, "--format", "csv", "--top", "1").stdout)))
    assert rows[0] == ["file", "rank", "class", "name", "probability", "score"] and len(rows) == 6, rows
    (folder / "5.png").write_bytes((folder / "4.png").read_bytes()[:60])
    ending = runner.good("classify", model, folder, "--format", "csv", "--top", "1")
    assert "warning: 1 image could not be decoded" in ending.stderr and len(ending.stdout.splitlines()) == 6, ending
    ending = runner.run("classify", model, folder, "--strict", "--format", "csv", "--top", "1")
    assert ending.returncode == THRESHOLD and "1 image could not be decoded" in ending.stderr.splitlines()[-1], ending
    assert len(ending.stdout.splitlines()) == 6, "what could be read is there"
    ending = runner.good("classify", model, folder, "--strict", "--frames", "5", "--batch", "2", "--format", "csv", "--top", "1")
    assert len(ending.stdout.splitlines()) == 6 and "warning" not in ending.stderr, ending
    runner.good("classify", model, folder, "--frames", "2", "--timeout", "3")
    runner.bad(USAGE, "--frames", "classify", model, folder, "--frames", "0")


def check_accuracy(runner):
    """Pictures of one colour each: the class of a picture is the colour that it has most of."""
    told = {"image.resize": "32", "image.crop": "32", "labels": "red\ngreen\nblue"}
    model = mean_model(runner.folder / "named.onnx", "N", told)
    other = mean_model(runner.folder / "nameless.onnx", "N", {key: told[key] for key in ("image.resize", "image.crop")})
    shown = {"red": ["red", "red", "green"], "green": ["green"], "blue": ["blue", "red"]}
    colours = {"red": (200, 30, 10), "green": (20, 180, 30), "blue": (5, 40, 220)}
    lines, flat = [], runner.folder / "flat"
    flat.mkdir()
    for folders, names in ("names", list(shown)), ("numbers", ["0", "1", "2"]), ("others", ["r", "g", "b"]), ("two", ["x", "y"]):
        for name, pictures in zip(names, shown.values()):
            (runner.folder / folders / name).mkdir(parents=True)
            for number, colour in enumerate(pictures):
                Image.new("RGB", (40, 40), colours[colour]).save(runner.folder / folders / name / f"{number}.png")
                if folders == "numbers":
                    Image.new("RGB", (40, 40), colours[colour]).save(flat / f"{name}-{number}.png")
                    lines.append(f"{name}-{number}.png {name}\n")
    # 4 of 6 are right: one of red's and one of blue's are of another colour.
    right = "accuracy of 6 images: top-1 66.67 % [30.00 90.32], top-5 100.00 % [60.97 100.00]"
    ending = runner.good("classify", model, runner.folder / "names", "--ground-truth", "folders", "--top", "1")
    assert ending.stdout.splitlines()[-1] == right and "names of classes" in ending.stderr, ending
    assert "true: 0 red, which is number 3" in ending.stdout, ending.stdout
    ending = runner.good("classify", other, runner.folder / "numbers", "--ground-truth", "folders", "--batch", "4")
    assert ending.stdout.splitlines()[-1] == right and "numbers of classes" in ending.stderr, ending
    # In the order of the alphabet b, g, r are classes 0, 1, 2: only green's is right.
    ending = runner.good("classify", other, runner.folder / "others", "--ground-truth", "folders")
    assert "top-1 33.33 %" in ending.stdout and "order of the alphabet" in ending.stderr, ending
    truth = runner.folder / "truth.txt"
    truth.write_text("".join(lines))
    ending = runner.good("classify", model, flat, "--ground-truth", truth, "--format", "csv", "--top", "1")
    rows = list(csv.reader(io.StringIO(ending.stdout)))
    assert rows[0][-1] == "truth" and [row[-1] for row in rows[1:]] == list("000122"), rows
    assert right in ending.stderr, ending.stderr
    single = json.loads(runner.good("classify", model, flat, "--ground-truth", truth, "--format", "json").stdout)
    assert [one["truth"]["rank"] for one in single] == [1, 1, 3, 1, 1, 3], single
    runner.bad(BAD_INPUT, "2 from 'x' to 'y', are neither names nor numbers", "classify", model, runner.folder / "two",
               "--ground-truth", "folders")
    runner.bad(BAD_INPUT, "no sub-folders", "classify", model, flat, "--ground-truth", "folders")
    truth.write_text("".join(lines[:-1]))
    runner.bad(BAD_INPUT, "no label for", "classify", model, flat, "--ground-truth", truth)
    truth.write_text("".join(lines).replace(" 2", " 3"))
    runner.bad(BAD_INPUT, "has the class 3", "classify", model, flat, "--ground-truth", truth)
    runner.bad(USAGE, "is for a folder of images", "classify", model, flat / "0-0.png", "--ground-truth", "folders")


def check_assumptions(runner):
    picture(48, 40).save(runner.folder / "image.png")
    plain = mean_model(runner.folder / "plain.onnx", 1, {})
    ending = runner.good("classify", plain, runner.folder / "image.png")
    assert "assumed: the shorter side becomes 37, the middle of 32" in ending.stderr, ending.stderr
    other = runner.good("classify", plain, runner.folder / "image.png", "--resize", "32", "--mean", "0", "--std", "1")
    assert other.stdout != ending.stdout


def check_interruption(runner):
    """What is classified is printed at once, so Ctrl-C leaves it."""
    folder = runner.folder / "endless"
    folder.mkdir()
    for number in range(20000):
        (folder / f"{number}.png").hardlink_to(runner.folder / "image.png")
    program = subprocess.Popen([runner.hone, "classify", runner.folder / "plain.onnx", folder, "--format", "csv"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = [program.stdout.readline() for _ in range(3)]
    assert program.poll() is None, "the first images are printed while others are classified"
    program.send_signal(signal.SIGINT)
    # communicate() would lose the lines that readline() has already read ahead.
    rest = program.stdout.readlines()
    said = program.stderr.read()
    assert program.wait(timeout=60) == -signal.SIGINT, (program.returncode, said)
    images = {line.split(",")[0] for line in (first + rest)[1:]}
    assert 0 < len(images) < 20000 and f"interrupted after {len(images)} images" in said, (len(images), said)


def check_refusals(runner):
    image = runner.folder / "image.png"
    model = runner.folder / "plain.onnx"
    labels = runner.folder / "labels.txt"
    labels.write_text("one\r\ntwo\r\n")
    runner.bad(BAD_INPUT, "2 names, the network 3 classes", "classify", model, image, "--labels", labels)
    labels.write_text("one\ntwo\nthree\n", encoding="utf-16")
    runner.bad(BAD_INPUT, "the file of labels is no text; give one name a line, as UTF-8", "classify", model, image, "--labels", labels)
    runner.bad(USAGE, "--format says", "classify", model, image, "-o", runner.folder / "x.txt")
    runner.bad(USAGE, "smaller than the crop", "classify", model, image, "--resize", "0", "--crop", "100")
    runner.bad(USAGE, "--resize and --crop decide", "classify", model, image, "--resize", "0", "--crop", "20")
    runner.bad(BAD_INPUT, "no such file", "classify", model, runner.folder / "nothing")
    runner.bad(USAGE, "input is required", "classify", model)
    mask = constant_model(runner.folder / "mask.onnx", [1, 3, 32, 32], {"mask": np.zeros((1, 5, 8, 8), np.float32)}, {})
    runner.bad(BAD_INPUT, "its first output [1x5x8x8] is no row of class scores for each image", "classify", mask, image)
    words = save(runner.folder / "words.onnx", [helper.make_node("Identity", ["ids"], ["out"])],
                 [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, 8])],
                 [helper.make_tensor_value_info("out", TensorProto.INT64, [1, 8])], [], {})
    runner.bad(BAD_INPUT, "its input 'ids' int64[1x8] is not for images; hone run --input takes arrays", "classify", words, image)
    empty = runner.folder / "empty.jpg"
    empty.touch()
    runner.bad(BAD_INPUT, "empty.jpg: the file is empty", "classify", model, empty)


def check_small_scores(runner):
    """Scores that four decimals would show as 0 keep their digits."""
    scores = constant_model(runner.folder / "small.onnx", [1, 3, 32, 32], {"o": np.array([[3e-7, -2e-7]], np.float32)}, {})
    lines = runner.good("classify", scores, runner.folder / "image.png").stdout.splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["3e-07", "-2e-07"], lines


def check_random_weights(runner):
    ending = runner.run("classify", "squeezenet1_1", runner.folder / "nothing.png")
    assert "note: the weights of squeezenet1_1 are random (seed 0)" in ending.stderr, ending.stderr
    assert "--weights FILE.safetensors" in ending.stderr, ending.stderr


def check_early_interruption(runner):
    """Ctrl-C while the engine is built ends that, and leaves no file without a result."""
    output = runner.folder / "early.csv"
    program = subprocess.Popen([runner.hone, "classify", "vgg16", runner.folder / "endless", "-o", output],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=60)
    assert program.returncode == -signal.SIGINT and "interrupted after" not in said, (program.returncode, said)
    assert not output.exists(), output.read_text()


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], pathlib.Path(folder))
        check_digits(runner, pathlib.Path(sys.argv[2]))
        check_batches(runner)
        check_accuracy(runner)
        check_assumptions(runner)
        check_interruption(runner)
        check_refusals(runner)
        check_small_scores(runner)
        check_random_weights(runner)
        check_early_interruption(runner)
    print("all as expected")


if __name__ == "__main__":
    main()
