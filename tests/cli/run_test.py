"""`hone run` from outside: inputs of every kind, torchvision's preprocessing, and what wrong inputs say.

usage: run_test.py HONE MODELS_DIGITS
"""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper
from PIL import Image

USAGE, BAD_INPUT = 2, 3


class Runner:
    def __init__(self, hone, folder):
        self.hone, self.folder = hone, folder

    def run(self, *arguments):
        command = [self.hone, "run", *map(str, arguments)]
        return command, subprocess.run(command, capture_output=True, text=True, check=False)

    def good(self, *arguments):
        command, ending = self.run(*arguments, "--backend", "reference", "-o", self.folder / "out.npz")
        assert ending.returncode == 0, f"{command}: {ending.stderr}"
        return np.load(self.folder / "out.npz")

    def bad(self, code, part, *arguments):
        """Fails with one sentence that contains `part`, and writes nothing."""
        output = self.folder / "nothing.npz"
        command, ending = self.run(*arguments, "-o", output)
        assert ending.returncode == code, f"{command}: exit code {ending.returncode}: {ending.stderr}"
        assert part in ending.stderr, f"{command}: {ending.stderr}"
        assert ending.stderr.count("\n") == 1 and ending.stderr.startswith("hone: "), f"{command}: {ending.stderr}"
        assert not output.exists(), command


def identity(path, *inputs):
    """A model that gives back its inputs: (name, shape) each."""
    nodes = [helper.make_node("Identity", [name], [name + "_out"]) for name, _ in inputs]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs]
    outputs = [helper.make_tensor_value_info(name + "_out", TensorProto.FLOAT, shape) for name, shape in inputs]
    graph = helper.make_graph(nodes, "identity", values, outputs)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def picture(width, height, seed=1):
    """Smooth colours with some detail, so that resizing filters show."""
    grid = np.mgrid[0:height, 0:width].astype(float)
    noise = np.random.default_rng(seed).uniform(-40, 40, (height, width, 3))
    waves = [127 + 80 * np.sin(grid[0] / 9 + c) * np.cos(grid[1] / 13 - c) for c in range(3)]
    return Image.fromarray(np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8))


def check_preprocessing(runner):
    import torchvision.transforms as transforms
    model = identity(runner.folder / "rgb.onnx", ("x", ["n", 3, 224, 224]))
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    preset = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(),
                                 transforms.Normalize(mean, std)])
    flags = ["--resize", 256, "--crop", 224, "--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]
    for width, height in ((500, 375), (301, 640), (200, 180)):
        image = picture(width, height)
        image.save(runner.folder / "picture.png")
        actual = runner.good(model, "--input", runner.folder / "picture.png", *flags)["x_out"]
        expected = preset(image).numpy()[None]
        levels = np.abs(actual - expected).max() * 255 * min(std)
        assert actual.shape == expected.shape and levels < 1.01, f"{width}x{height}: {levels} levels"
    image.save(runner.folder / "picture.jpg", quality=90)
    blanks = [value.replace(",", " ") if "," in str(value) else value for value in flags]
    np.testing.assert_array_equal(runner.good(model, "--input", runner.folder / "picture.png", *blanks)["x_out"], actual)
    actual = runner.good(model, "--input", runner.folder / "picture.jpg", *flags)["x_out"]
    expected = preset(Image.open(runner.folder / "picture.jpg").convert("RGB")).numpy()[None]
    # Two JPEG decoders may differ by a few levels where they scale colour up.
    assert np.abs(actual - expected).mean() * 255 * min(std) < 1, "JPEG"


def constant(path):
    """A model without inputs."""
    node = helper.make_node("Constant", [], ["y"], value_floats=[1.0, 2.0])
    graph = helper.make_graph([node], "constant", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def check_inputs(runner):
    assert runner.good(constant(runner.folder / "constant.onnx"))["y"].tolist() == [1, 2]
    model = identity(runner.folder / "two.onnx", ("a", ["n", 2]), ("b", [3]))
    a, b = np.arange(4, dtype=np.float32).reshape(2, 2), np.ones(3, np.float32)
    np.save(runner.folder / "a.npy", a)
    np.save(runner.folder / "b.npy", b)
    np.savez_compressed(runner.folder / "ab.npz", b=b, a=a)
    files = [runner.folder / "a.npy", runner.folder / "b.npy"]
    for inputs in (files, [f"b:{files[1]}", files[0]], [runner.folder / "ab.npz"]):
        out = runner.good(model, "--input", *inputs)
        assert (out["a_out"] == a).all() and (out["b_out"] == b).all(), inputs
    gray = identity(runner.folder / "gray.onnx", ("x", ["n", 1, 5, 7]))
    Image.fromarray(np.arange(35, dtype=np.uint8).reshape(5, 7)).save(runner.folder / "gray.png")
    out = runner.good(gray, "--input", runner.folder / "gray.png", runner.folder / "gray.png", "--scale", 1)
    assert (out["x_out"] == np.arange(35).reshape(1, 1, 5, 7).repeat(2, 0)).all()
    last = identity(runner.folder / "nhwc.onnx", ("x", [1, 5, 7, 3]))
    out = runner.good(last, "--input", runner.folder / "gray.png", "--scale", 1)
    assert (out["x_out"][0, :, :, 1] == np.arange(35).reshape(5, 7)).all()


def check_bad_inputs(runner, digits):
    folder = runner.folder
    model, two = digits / "digits.onnx", folder / "two.onnx"
    png = (digits / "seven.png").read_bytes()
    (folder / "cut.png").write_bytes(png[:-20])
    (folder / "flipped.png").write_bytes(png[:50] + bytes([png[50] ^ 255]) + png[51:])
    (folder / "huge.png").write_bytes(huge_png())
    picture(64, 64).save(folder / "whole.jpg")
    (folder / "cut.jpg").write_bytes((folder / "whole.jpg").read_bytes()[:-40])
    (folder / "text.png").write_text("no image")
    np.save(folder / "int.npy", np.zeros((1, 1, 8, 8), np.int32))
    np.save(folder / "shape.npy", np.zeros((1, 1, 9, 8), np.float32))
    np.save(folder / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    (folder / "header.npy").write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b" " * 100)
    with zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in "abcde":
            archive.writestr(name + ".npy", bytes(2**20))
    bomb = bytearray((folder / "bomb.npz").read_bytes())
    at = bomb.find(b"PK\1\2")
    bomb[at + 24:at + 28] = (0xfffffff0).to_bytes(4, "little")
    (folder / "bomb.npz").write_bytes(bomb)

    runner.bad(BAD_INPUT, "truncated", model, "--input", folder / "cut.png")
    runner.bad(BAD_INPUT, "checksum", model, "--input", folder / "flipped.png")
    runner.bad(BAD_INPUT, "more than the limit", model, "--input", folder / "huge.png")
    runner.bad(BAD_INPUT, "truncated", model, "--input", folder / "cut.jpg")
    runner.bad(BAD_INPUT, "neither a PNG nor a JPEG", model, "--input", folder / "text.png")
    runner.bad(BAD_INPUT, "64x64] does not fit", model, "--input", folder / "whole.jpg", "--resize", 0)
    # Without a word about sizes an image is fitted to a square input, and a note says so.
    command, ending = runner.run(model, "--input", folder / "whole.jpg")
    assert ending.returncode == 0, f"{command}: {ending.stderr}"
    assert ending.stderr == "note: images were resized and cropped to 8 x 8; --resize and --crop choose\n", ending.stderr
    fitted = runner.good(model, "--input", folder / "whole.jpg")
    asked = runner.good(model, "--input", folder / "whole.jpg", "--resize", 8, "--crop", 8)
    for name in asked:
        np.testing.assert_array_equal(fitted[name], asked[name])
    runner.bad(USAGE, "smaller than the crop", model, "--input", digits / "seven.png", "--crop", 9)
    runner.bad(USAGE, "--std is '0', which nothing can be divided by", model, "--input", digits / "seven.png",
               "--std", 0)
    runner.bad(USAGE, "std has 3 numbers for an image of 1 channel", model, "--input", digits / "seven.png",
               "--std", "1,2,3")
    runner.bad(USAGE, "the model has no input named 'nosuch' (input)", model, "--input",
               f"nosuch:{folder / 'shape.npy'}")
    runner.bad(BAD_INPUT, "nosuch:missing.npy: cannot open the file", model, "--input", "nosuch:missing.npy")
    (folder / "garbage.png").write_bytes(garbage_png())
    runner.bad(BAD_INPUT, "garbage.png: the image is damaged: it does not decode", model, "--input",
               folder / "garbage.png")
    for key, value in (("image.std", "0"), ("image.std", "1e-40")):
        runner.bad(BAD_INPUT, f"'{key}' is '{value}'", with_metadata(model, folder / "meta.onnx", {key: value}),
                   "--input", digits / "seven.png")
    runner.bad(BAD_INPUT, "int32[1x1x8x8] does not fit", model, "--input", folder / "int.npy")
    runner.bad(BAD_INPUT, "[1x1x9x8] does not fit", model, "--input", folder / "shape.npy")
    runner.bad(BAD_INPUT, "pickle", model, "--input", folder / "object.npy")
    runner.bad(BAD_INPUT, "longer than the limit", model, "--input", folder / "header.npy")
    runner.bad(BAD_INPUT, "claims to unpack", model, "--input", folder / "bomb.npz")
    runner.bad(BAD_INPUT, "cannot open the file", model, "--input", folder / "missing.npy")
    runner.bad(BAD_INPUT, "input 'b' of type float32[3] is given no file: add --input b:FILE.npy", two, "--input", folder / "a.npy")
    runner.bad(BAD_INPUT, "b.npy is one file too many: other files give all 2 inputs of the model already", two,
               "--input", *[folder / "a.npy", folder / "b.npy"], folder / "b.npy")
    np.savez(folder / "input.npz", input=np.zeros((1, 1, 8, 8), np.float32))
    runner.bad(BAD_INPUT, "seven.png is one file too many: other files give the model's one input, 'input', already",
               model, "--input", digits / "seven.png", folder / "input.npz")
    runner.bad(BAD_INPUT, "cannot open the file", folder / "no.onnx", "--input", folder / "a.npy")
    runner.bad(BAD_INPUT, "this is text, not a model that hone reads: ONNX (.onnx), ", folder / "text.png", "--input", folder / "a.npy")
    runner.bad(USAGE, "did you mean resnet50", "resnet5", "--input", folder / "a.npy")
    runner.bad(USAGE, f"--input is required: {model} has the input 'input'", model)
    two = identity(folder / "two.onnx", ("a", [1]), ("b", [1]))
    runner.bad(USAGE, f"--input is required: {two} has the input 'a', ", two)
    runner.bad(USAGE, "unknown backend", model, "--input", digits / "seven.png", "--backend", "none")
    runner.bad(USAGE, "unknown precision", model, "--input", digits / "seven.png", "--precision", "fp12")
    for wrong in ("1,x", "1,,2", "1,", "", ", 1"):
        runner.bad(USAGE, f"--mean is '{wrong}', expected numbers with commas between them, as in --mean 0.5,0.4,0.3" if wrong
                   else "--mean", model, "--input", digits / "seven.png", "--mean", wrong)


def of_type(path, dtype, shape):
    """A model that gives its input as float32."""
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)
    graph = helper.make_graph([node], "cast", [helper.make_tensor_value_info("x", dtype, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def check_input_types(runner):
    """Images in other types and ranks than a batch of float32, and types that no .npy has."""
    folder = runner.folder
    picture(6, 4).save(folder / "typed.png")
    pixels = np.asarray(Image.open(folder / "typed.png"))
    planes = pixels.transpose(2, 0, 1)
    for name, dtype, shape, expected, tolerance in (
            ("nhwc", TensorProto.UINT8, [1, 4, 6, 3], pixels[None], 0), ("nchw", TensorProto.INT32, [1, 3, 4, 6], planes[None], 0),
            ("hwc", TensorProto.UINT8, [4, 6, 3], pixels, 0), ("chw", TensorProto.FLOAT, [3, 4, 6], planes / 255, 1e-6),
            ("half", TensorProto.FLOAT16, [1, 3, 4, 6], planes[None] / 255, 2**-12)):
        got = runner.good(of_type(folder / f"{name}.onnx", dtype, shape), "--input", folder / "typed.png")["y"]
        assert got.shape == expected.shape and np.allclose(got, expected, rtol=0, atol=tolerance), name
    runner.bad(BAD_INPUT, "float32[2x3x4x6] does not fit", folder / "chw.onnx", "--input", folder / "typed.png", folder / "typed.png")
    scaled = runner.good(folder / "hwc.onnx", "--input", folder / "typed.png", "--scale", "0.5")["y"]
    assert np.array_equal(scaled, np.rint(pixels * 0.5)), "an explicit scale counts"
    np.save(folder / "wide.npy", np.array([1.001, np.finfo(np.float32).max], np.float32))
    got = runner.good(of_type(folder / "bf16.onnx", TensorProto.BFLOAT16, [2]), "--input", folder / "wide.npy")["y"]
    assert got[0] == 1 and np.isfinite(got[1]), got


def check_names(runner):
    folder = runner.folder
    for name in ("a", "b"):
        np.save(folder / f"{name}.npy", np.full(3, ord(name), np.float32))
    model = identity(folder / "colons.onnx", ("in", (3,)), ("in:0", (3,)))
    got = runner.good(model, "--input", f"in:0:{folder}/a.npy", f"in:{folder}/b.npy")
    assert got["in_out"][0] == ord("b") and got["in:0_out"][0] == ord("a"), dict(got)
    got = runner.good(identity(folder / "beyond.onnx", ("вход", (3,))), "--input", folder / "a.npy")
    assert got.files == ["вход_out"], got.files


def check_defaults(runner):
    """An initializer that is also an input is its default; any other is the model's own."""
    node = helper.make_node("Add", ["x", "w"], ["h"]), helper.make_node("Mul", ["h", "v"], ["y"])
    shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "w")]
    weights = [helper.make_tensor(name, TensorProto.FLOAT, [3], [1, 2, 3]) for name in ("w", "v")]
    graph = helper.make_graph(node, "defaults", shapes, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])], weights)
    model = runner.folder / "defaults.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(model))
    x, w, v = np.ones(3, np.float32), np.full(3, 5, np.float32), np.arange(1, 4, dtype=np.float32)
    np.save(runner.folder / "w.npy", w)
    np.save(runner.folder / "x.npy", x)
    np.savez(runner.folder / "xw.npz", x=x, w=w)
    np.savez(runner.folder / "xv.npz", x=x, v=w)
    assert np.array_equal(runner.good(model, "--input", runner.folder / "x.npy")["y"], (x + v) * v)
    for files in ([runner.folder / "xw.npz"], [f"w:{runner.folder}/w.npy", runner.folder / "x.npy"]):
        assert np.array_equal(runner.good(model, "--input", *files)["y"], (x + w) * v), files
    runner.bad(BAD_INPUT, "the model has no input named 'v' (x)", model, "--input", runner.folder / "xv.npz")


def check_fitted_images(runner, digits):
    """Every command that resizes an image by default says so, with its own way to choose otherwise."""
    folder = runner.folder
    picture(64, 48).save(folder / "large.png")
    model, image = digits / "digits.onnx", folder / "large.png"
    note, of_images = "note: images were resized and cropped to 8 x 8; ", "--resize and --crop choose\n"
    of_arrays = ".npy and .npz files are taken as they are\n"
    quick = ["--precisions", "fp32", "--batches", "1", "--exact", "--iterations", "4", "--rounds", "2", "--warmup", "1"]
    held_out = ["--calibrate", digits / "held_out.npz", "--samples", "4"]
    engine = folder / "int8.hone"
    for command, end in (
            (["run", model, "--input", image], of_images),
            (["diff", "--accuracy", model, model, "--input", image], of_images),
            (["quantize", model, "--calibrate", image, "-o", folder / "int8.onnx"], of_images),
            (["quantize", model, *held_out, "--evaluate", image, "-o", folder / "int8.onnx"], of_images),
            (["bench", model, "--backends", "reference", *quick, "--input", image, "-o", folder / "runs"], of_arrays),
            (["profile", model, "--active", "2", "--input", image, "-o", folder / "traces"], of_arrays)):
        ending = subprocess.run([runner.hone, *map(str, command)], capture_output=True, text=True, check=False)
        assert ending.returncode == 0 and ending.stderr.count(note + end) == 1, f"{command}: {ending}"
    for command, stderr in ((["quantize", model, "--calibrate", image, "--resize", 8, "--crop", 8, "-o", folder / "int8.onnx"], ""),
                            (["build", model, "--precision", "int8", "--calibrate", image, "-o", engine], None)):
        ending = subprocess.run([runner.hone, *map(str, command)], capture_output=True, text=True, check=False)
        assert ending.returncode == 0 and "were resized" not in ending.stderr, f"{command}: {ending}"
    assert "calibration: 1 samples (images were resized and cropped to 8 x 8)" in ending.stdout, ending.stdout


def check_downloads(runner):
    folder = runner.folder
    for text, part in (("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "git lfs pull"),
                       ("\n<!DOCTYPE html><html></html>", "a web page, not a model"),
                       ('{"error": "no"}', "JSON text, not a model")):
        (folder / "download.onnx").write_text(text)
        runner.bad(BAD_INPUT, part, folder / "download.onnx", "--input", folder / "a.npy")
    np.savez_compressed(folder / "zeros.npz", a=np.zeros(80 << 20, np.uint8))
    runner.bad(BAD_INPUT, "would unpack from", identity(folder / "one.onnx", ("a", (3,))), "--input", folder / "zeros.npz")


def check_text_files(runner, digits):
    """A text under the name of something else is called text, with what to give instead."""
    folder, model = runner.folder, digits / "digits.onnx"
    for name in ("text.npy", "text.npz", "text.txt", "text.onnx", "text.pt", "text.hone"):
        (folder / name).write_text("1, 2, 3\nhello, this is text\n")
    for name, part in (("text.npy", 'this is text, not a .npy array: numpy.save("x.npy", array) writes one'),
                       ("text.npz", "this is text, not a zip archive, as .npz files and TorchScript archives are"),
                       ("text.txt", "this is text, neither a PNG nor a JPEG image: convert it to one of them (arrays are .npy")):
        runner.bad(BAD_INPUT, f"{name}: {part}", model, "--input", folder / name)
    for name, part in (("text.onnx", "this is text, not a model: give the .onnx file that an exporter wrote, or the name of a "
                        "built-in architecture, such as resnet50"),
                       ("text.pt", "this is not a TorchScript archive (torch.jit.save makes one): it is text"),
                       ("text.hone", "this is text, not an engine file: hone build MODEL -o FILE.hone makes one"),
                       ("text.txt", "this is text, not a model that hone reads: ONNX (.onnx), ")):
        runner.bad(BAD_INPUT, f"{name}: {part}", folder / name, "--input", folder / "a.npy")


def with_metadata(model, target, entries):
    """The model with other metadata_props."""
    proto = onnx.load(str(model))
    found = {entry.key: entry.value for entry in proto.metadata_props}
    del proto.metadata_props[:]
    helper.set_model_props(proto, found | entries)
    onnx.save(proto, str(target))
    return target


def check_metadata(runner, digits):
    """What a model says of its images and labels stays with it, and its labels cannot steer a terminal."""
    image = ["--input", digits / "seven.png", "--top", 3]
    _, first = runner.run(digits / "digits.onnx", *image)
    exported = runner.folder / "exported.onnx"
    subprocess.run([runner.hone, "export", digits / "digits.onnx", "-o", exported], check=True, capture_output=True)
    _, second = runner.run(exported, *image)
    assert first.returncode == 0 and first.stdout == second.stdout, f"{first}\n{second}"
    props = {entry.key: entry.value for entry in onnx.load(str(exported)).metadata_props}
    assert props == {entry.key: entry.value for entry in onnx.load(str(digits / "digits.onnx")).metadata_props}
    subprocess.run([runner.hone, "export", "squeezenet1_1", "-o", exported], check=True, capture_output=True)
    props = {entry.key: entry.value for entry in onnx.load(str(exported)).metadata_props}
    assert props["image.crop"] == "224" and props["image.std"] == "0.229,0.224,0.225", props
    hostile = with_metadata(digits / "digits.onnx", runner.folder / "hostile.onnx", {"labels": "\x1b]0;owned\x07\n" * 10})
    _, ending = runner.run(hostile, *image)
    assert ending.returncode == 0 and r"\x1b]0;owned\x07" in ending.stdout and "\x1b" not in ending.stdout, ending
    _, ending = runner.run(digits / "digits.onnx", *image[:2], "--top", "010")
    assert len(ending.stdout.splitlines()) == 11, ending


def png_of(header, data):
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def huge_png():
    """A PNG whose header promises 60000 x 60000 pixels, sound otherwise."""
    import struct
    import zlib
    return png_of(struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0), zlib.compress(b""))


def garbage_png():
    """A PNG of sound chunks around pixels that do not unpack."""
    import struct
    return png_of(struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0), b"garbage")


def main():
    with tempfile.TemporaryDirectory() as name:
        runner = Runner(sys.argv[1], pathlib.Path(name))
        check_inputs(runner)
        check_preprocessing(runner)
        check_metadata(runner, pathlib.Path(sys.argv[2]))
        check_bad_inputs(runner, pathlib.Path(sys.argv[2]))
        check_input_types(runner)
        check_names(runner)
        check_defaults(runner)
        check_text_files(runner, pathlib.Path(sys.argv[2]))
        check_fitted_images(runner, pathlib.Path(sys.argv[2]))
        check_downloads(runner)


if __name__ == "__main__":
    main()
