"""TensorRT's own int8 calibrators with a fake library: what they are fed with, what they write, and what is refused.

usage: fake_calibration_test.py HONE FAKES MAJOR MODELS_DIGITS
"""
import json
import pathlib
import struct
import sys
import tempfile

import numpy
from fake_test import BAD_INPUT, USAGE, Fakes

SAMPLES = 12


def read_cache(file):
    header, *lines = file.read_text().splitlines()
    return header, {name: struct.unpack(">f", bytes.fromhex(digits))[0] for name, digits in (line.split(": ") for line in lines)}


class Calibrated:
    """One `hone inspect` of an int8 engine of the digits."""

    def __init__(self, fakes, model, folder, *options, batch=2):
        files = folder / "files"
        ending = fakes.run("inspect", model, "--backend", "tensorrt", "--precision", "int8", "--batch", batch, "--runs", 1,
                           "--layer-files", files, "--json", *options)
        assert ending.returncode == 0, ending.stderr
        self.notes = json.loads(ending.stdout)["notes"]
        self.fake = json.loads((files / "trt_engine_info.json").read_text())["Fake"]


def check_data(fakes, model, folder, images, kinds):
    right = folder / "right.npz"
    numpy.savez(folder / "images.npz", input=images)
    assert fakes.run("run", model, "--backend", "reference", "--input", folder / "images.npz", "-o", right).returncode == 0
    with numpy.load(right) as archive:
        logits = archive[archive.files[0]]
    for calibrator, name in kinds:
        for batch in (1, 4):
            cache = folder / f"{calibrator}.cache"
            made = Calibrated(fakes, model, folder, "--tensorrt-calibrator", calibrator, "--tensorrt-calibrate", folder / "images.npz",
                              "--tensorrt-calib-output", cache, batch=batch)
            header, scales = read_cache(cache)
            assert header.startswith("TRT-") and header.endswith(name), header
            assert abs(127 * scales["input"] / numpy.abs(images).max() - 1) < 1e-6, scales
            assert abs(127 * scales["logits"] / numpy.abs(logits).max() - 1) < 1e-4, scales
            assert any(f"int8 by TensorRT's own {calibrator} calibrator, calibration: given data" in note for note in made.notes)
            assert any(f"types weak (int8+fp32), ranges by TensorRT's {calibrator} calibrator" in note for note in made.notes), made.notes
    generated = Calibrated(fakes, model, folder, "--tensorrt-calibrator", "entropy")
    assert any("calibrator, calibration: generated" in note for note in generated.notes), generated.notes
    assert generated.fake["calibration"].startswith("TRT-"), generated.fake


def check_caches(fakes, model, folder):
    cache = folder / "entropy.cache"
    made = Calibrated(fakes, model, folder, "--tensorrt-calibrator", "entropy", "--tensorrt-calib", cache)
    assert made.fake["calibration"] == cache.read_text(), made.fake
    assert any(f"calibration cache {cache}" in note for note in made.notes), made.notes
    # hone's own cache is one of TensorRT's, too.
    ending = fakes.run("quantize", model, "--calibrate", folder / "images.npz", "--calibrator", "entropy", "--calib-format", "tensorrt",
                       "--no-equalization", "-o", folder / "own.onnx")
    assert ending.returncode == 0, ending.stderr
    own = folder / "own.calib.cache"
    made = Calibrated(fakes, model, folder, "--tensorrt-calibrator", "entropy", "--tensorrt-calib", own)
    assert made.fake["calibration"] == own.read_text(), made.fake


def check_refusals(fakes, model, folder):
    def refused(code, sentence, *options, precision="int8"):
        fakes.refused(code, sentence, "inspect", model, "--backend", "tensorrt", "--precision", precision, "--runs", 1, *options)

    entropy = ("--tensorrt-calibrator", "entropy")
    data = ("--tensorrt-calibrate", folder / "images.npz")
    refused(USAGE, "--tensorrt-calibrator is for int8, not for fp16", *entropy, precision="fp16")
    refused(USAGE, "add --tensorrt-calibrator entropy or minmax", *data)
    refused(USAGE, "add --tensorrt-calibrator entropy or minmax", "--tensorrt-calib", folder / "entropy.cache")
    refused(USAGE, "give either --tensorrt-calibrate with data or --tensorrt-calib", *entropy, *data, "--tensorrt-calib",
            folder / "entropy.cache")
    refused(USAGE, "is a cache already", *entropy, "--tensorrt-calib", folder / "entropy.cache", "--tensorrt-calib-output",
            folder / "more.cache")
    refused(USAGE, "leave --tensorrt-typing strong away", *entropy, "--tensorrt-typing", "strong")
    (folder / "damaged.cache").write_text("TRT-8601-EntropyCalibration2\ninput: zz\n")
    refused(BAD_INPUT, "damaged.cache: line 2 is 'input: zz'", *entropy, "--tensorrt-calib", folder / "damaged.cache")
    refused(BAD_INPUT, "nothing.cache", *entropy, "--tensorrt-calib", folder / "nothing.cache")
    refused(BAD_INPUT, "nothing.npz", *entropy, "--tensorrt-calibrate", folder / "nothing.npz")
    numpy.savez(folder / "other.npz", input=numpy.zeros((2, 3, 8, 8), numpy.float32))
    refused(BAD_INPUT, "other.npz", *entropy, "--tensorrt-calibrate", folder / "other.npz")
    numpy.savez(folder / "nan.npz", input=numpy.full((2, 1, 8, 8), numpy.nan, numpy.float32))
    refused(BAD_INPUT, "nan.npz", *entropy, "--tensorrt-calibrate", folder / "nan.npz")
    assert not (folder / "more.cache").exists()
    # A model with Q/DQ has its ranges.
    fakes.refused(USAGE, "the model has its own quantization", "inspect", folder / "own.onnx", "--backend", "tensorrt", "--precision",
                  "int8", "--runs", 1, *entropy)


def main():
    hone, fakes, major, digits = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    model = digits / "digits.onnx"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        faked = Fakes(hone, fakes, major, folder)
        if major >= 11:
            faked.refused(USAGE, "TensorRT 11 has no calibrators", "inspect", model, "--backend", "tensorrt", "--precision", "int8",
                          "--tensorrt-calibrator", "entropy")
            print(f"TensorRT {major}, faked: no calibrators")
            return
        with numpy.load(digits / "held_out.npz") as archive:
            images = archive["input"][:SAMPLES].astype(numpy.float32)
        check_data(faked, model, folder, images, (("entropy", "EntropyCalibration2"), ("minmax", "MinMaxCalibration")))
        check_caches(faked, model, folder)
        check_refusals(faked, model, folder)
    print(f"TensorRT {major}, faked: calibrators, their caches, refusals")


if __name__ == "__main__":
    main()
