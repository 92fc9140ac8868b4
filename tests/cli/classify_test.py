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

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from vision import BAD_INPUT, USAGE, Runner, picture, save


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
    rows = list(csv.reader(io.StringIO(runner.good("classify", model, folder, "--format", "csv", "--top", "1").stdout)))
    assert rows[0] == ["file", "rank", "class", "name", "probability", "score"] and len(rows) == 6, rows


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
    runner.bad(USAGE, "--format says", "classify", model, image, "-o", runner.folder / "x.txt")
    runner.bad(USAGE, "smaller than the crop", "classify", model, image, "--resize", "0", "--crop", "100")
    runner.bad(USAGE, "--resize and --crop decide", "classify", model, image, "--resize", "0", "--crop", "20")
    runner.bad(BAD_INPUT, "no such file", "classify", model, runner.folder / "nothing")
    runner.bad(USAGE, "input is required", "classify", model)


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], pathlib.Path(folder))
        check_digits(runner, pathlib.Path(sys.argv[2]))
        check_batches(runner)
        check_assumptions(runner)
        check_interruption(runner)
        check_refusals(runner)
    print("all as expected")


if __name__ == "__main__":
    main()
