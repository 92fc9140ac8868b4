"""darknet networks through `hone run` and `hone export`, section by section against NumPy (darknet_reference.py), and what
wrong calls say. On the CPU nothing runs on the
reference.

usage: darknet_test.py HONE MODELS_SHAPES
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from darknet_reference import ACTIVATIONS, Reference

USAGE, BAD_INPUT = 2, 3
# Sums of up to some hundred float32 products whose operands are near 1.
TOLERANCE = 2e-4


def net(width, height, channels):
    return f"[net]\nwidth={width}\nheight={height}\nchannels={channels}\n"


def convolution(filters, size=1, activation="leaky", normalized=1, **more):
    options = {"batch_normalize": normalized, "filters": filters, "size": size, "pad": 1, "activation": activation, **more}
    return "[convolutional]\n" + "".join(f"{key}={value}\n" for key, value in options.items())


def section(kind, **options):
    return f"[{kind}]\n" + "".join(f"{key.rstrip('_')}={value}\n" for key, value in options.items())


def activations():
    """Each reads the same numbers."""
    text = net(7, 5, 3) + convolution(6, 3, "linear")
    for name in ACTIVATIONS:
        text += section("route", layers=0) + section("activation", activation=name)
    return text + section("route", layers=0) + convolution(4, 3, "swish") + convolution(4, 3, "hard_mish", 0)


def convolutions():
    return (net(19, 13, 4) + convolution(8, 3, groups=4, stride_x=2, stride_y=1) + convolution(6, 2, pad=0, padding=2) +
            convolution(6, 3, dilation=2) + convolution(6, 5, "mish", 0, stride=3) + convolution(8, 3, flipped=1) +
            convolution(5, 1, "linear", dilation=3) + section("batchnorm") + section("connected", output=7, activation="relu") +
            section("connected", output=12, batch_normalize=1) + section("softmax", groups=3, temperature=2) +
            section("cost", type_="sse"))


def pools():
    text = net(13, 11, 4) + convolution(6, 3)
    for options in ({"size": 2, "stride": 2}, {"size": 3, "stride": 1}, {"size": 5, "stride_x": 3, "stride_y": 2},
                    {"size": 3, "stride": 2, "padding": 9}, {"size": 2, "stride": 2, "padding": 0},
                    {"maxpool_depth": 1, "out_channels": 4}, {"maxpool_depth": 1}):
        text += section("route", layers=0) + section("maxpool", **options)
    for options in ({"size": 3, "stride": 2}, {"size": 2, "stride": 1, "padding": 0}):
        text += section("route", layers=0) + section("local_avgpool", **options)
    text += section("route", layers=0) + section("upsample", stride=3, scale=0.5)
    text += section("upsample", stride=-3, scale=2) + section("avgpool")
    return text


def joins():
    return (net(8, 8, 3) + convolution(8, 3) + convolution(12, 3) + section("shortcut", from_=-2) +
            convolution(8, 1) + section("shortcut", from_="-2,0", activation="leaky") +
            section("route", layers="-1,0", groups=4, group_id=2) + section("route", layers="1") +
            section("shortcut", from_="1,2", weights_type="per_channel", weights_normalization="softmax") +
            section("shortcut", from_="0", weights_type="per_feature", weights_normalization="relu") +
            section("avgpool") + convolution(12, 1, "logistic", 0) + section("scale_channels", from_=1) +
            convolution(1, 1, "logistic") + section("scale_channels", from_=1, scale_wh=1, activation="relu") +
            section("sam", from_=1, activation="swish") + section("implicit", filters=12) +
            section("scale_channels", from_=14) + section("silence") + section("dropout"))


def strided_joins():
    """Shortcuts between layers of other sides, both larger and smaller, even and odd."""
    text = net(15, 11, 3) + convolution(6, 3) + convolution(8, 3, stride=2) + section("shortcut", from_=0)
    text += convolution(4, 3, stride=2) + section("shortcut", from_="0,-2", activation="leaky")
    return text + section("route", layers=0) + section("shortcut", from_="1,3") + section("shortcut", from_=0)


def rearrangements():
    text = net(8, 12, 8) + convolution(16, 3)
    for kind in ("reorg", "reorg3d"):
        for options in ({"stride": 2}, {"stride": 2, "reverse": 1}, {"stride": 1}):
            text += section("route", layers=0) + section(kind, **options)
    return (text + section("route", layers=0) + section("crop", crop_width=5, crop_height=7) +
            section("crop", crop_width=3, crop_height=4, noadjust=1) + section("route", layers=0) +
            section("lrn", alpha=0.02, size=4) + section("route", layers=0) + section("softmax", spatial=1))


def heads():
    return (net(15, 9, 3) + convolution(24, 3) + convolution(16, 1, "linear", 0) +
            section("yolo", classes=3, num=4, mask="1,3", anchors="1,2,3,4,5,6,7,8", scale_x_y=1.2) +
            section("route", layers=0) + convolution(16, 1, "logistic", 0) +
            section("yolo", classes=3, num=2, new_coords=1, scale_x_y=2) +
            section("route", layers=0) + convolution(22, 1, "linear", 0) +
            section("Gaussian_yolo", classes=2, num=2, scale_x_y=1.1) +
            section("route", layers=0) + convolution(20, 1, "linear", 0) + section("region", classes=5, num=2, softmax=1) +
            section("route", layers=0) + convolution(18, 1, "linear", 0) + section("region", classes=3, coords=5, num=2) +
            section("route", layers=0) + section("connected", output=52, activation="linear") +
            section("detection", classes=3, coords=4, num=2, side=2, softmax=1))


NETWORKS = {"activations": activations, "convolutions": convolutions, "pools": pools, "joins": joins,
            "strided_joins": strided_joins, "rearrangements": rearrangements, "heads": heads}


class Tester:
    def __init__(self, hone, folder):
        self.hone, self.folder = hone, folder
        self.cfg, self.weights, self.input, self.out = (folder / name for name in ("n.cfg", "n.weights", "in.npz", "out.npz"))

    def call(self, *arguments):
        return subprocess.run([self.hone, *map(str, arguments)], capture_output=True, text=True, check=False)

    def run(self, *arguments):
        ending = self.call("run", self.cfg, "--weights", self.weights, "--input", self.input, "-o", self.out, *arguments)
        assert ending.returncode == 0, ending.stderr
        return np.load(self.out)

    def write(self, text, batch=2, **options):
        self.cfg.write_text(text)
        sizes = dict(line.split("=") for line in text.splitlines()[1:4])
        shape = (batch, *(int(sizes[key]) for key in ("channels", "height", "width")))
        x = np.random.default_rng(3).uniform(0, 1, shape).astype(np.float32)
        np.savez(self.input, data=x)
        reference = Reference(text, x.astype(float), **options)
        self.weights.write_bytes(reference.file())
        return reference

    def compare(self, name, reference, results):
        assert len(results.files) == len(reference.layers), name
        for index, wanted in enumerate(reference.layers):
            got = results[f"layer_{index}"]
            assert got.shape == wanted.shape, f"{name}, layer {index}: {got.shape}, {wanted.shape}"
            wrong = np.abs(got - wanted) / (1 + np.abs(wanted))
            assert wrong.max() < TOLERANCE, f"{name}, layer {index}: {wrong.max()}"

    def bad(self, code, part, *arguments):
        ending = self.call(*arguments)
        assert ending.returncode == code and part in ending.stderr, f"{arguments}: {ending.returncode}: {ending.stderr}"
        assert ending.stderr.count("\n") == 1, ending.stderr


def check_sections(tester):
    for name, make in NETWORKS.items():
        reference = tester.write(make())
        tester.compare(name, reference, tester.run())
    reference = tester.write(convolutions(), pjreddie=True, minor=1001)
    tester.compare("pjreddie", reference, tester.run("--darknet-rules", "pjreddie"))
    text = net(8, 8, 3) + convolution(8, 3) + convolution(8, 3) + section("shortcut", from_=-2, alpha=0.5, beta=2)
    tester.compare("factors", tester.write(text, pjreddie=True), tester.run("--darknet-rules", "pjreddie"))
    tester.compare("no factors", tester.write(text), tester.run())
    tester.write(net(8, 8, 3) + convolution(8, 3) + convolution(8, 3, stride=2) + section("shortcut", from_=-2, alpha=0.5),
                 pjreddie=True)
    tester.bad(BAD_INPUT, "alpha is 0.5, which hone knows only where layers of one size are added", "run", tester.cfg,
               "--weights", tester.weights, "--input", tester.input, "--darknet-rules", "pjreddie")


def check_outputs(tester):
    tester.write(heads())
    everything = tester.run()
    wanted = [f"layer_{i}" for i in (2, 5, 8, 11, 14, 17)]
    chosen = tester.run("--outputs", "heads")
    assert chosen.files == wanted, chosen.files
    for name in wanted:
        np.testing.assert_allclose(chosen[name], everything[name], rtol=1e-4, atol=1e-4)
    assert tester.run("--outputs", "layer_4,layer_0").files == ["layer_0", "layer_4"]
    tester.bad(USAGE, "there is no section 'layer_99'", "run", tester.cfg, "--weights", tester.weights, "--input",
               tester.input, "--outputs", "layer_99")
    tester.bad(USAGE, "--darknet-rules is 'mine': alexeyab or pjreddie", "export", tester.cfg, "--weights", tester.weights,
               "-o", tester.folder / "x.onnx", "--darknet-rules", "mine")
    tester.bad(USAGE, "--outputs chooses sections of a darknet network, which resnet18 is not", "run", "resnet18", "--input",
               tester.input, "--outputs", "heads")


def check_classes(tester):
    """The likeliest are those of the head, whose rows have pixels of their own."""
    reference = tester.write(convolutions(), batch=1)
    ending = tester.call("run", tester.cfg, "--weights", tester.weights, "--input", tester.input, "--top", 2)
    assert ending.returncode == 0 and ending.stdout.count("probability") == 2, ending.stderr
    best = int(reference.layers[-1].reshape(-1).argmax())
    assert ending.stdout.splitlines()[1].split()[0] == str(best), ending.stdout


def check_export(tester):
    tester.write(heads())
    wanted = tester.run("--outputs", "heads")
    file = tester.folder / "n.onnx"
    ending = tester.call("export", tester.cfg, "--weights", tester.weights, "-o", file)
    assert ending.returncode == 0, ending.stderr
    metadata = {entry.key: entry.value for entry in onnx.load(file).metadata_props}
    assert metadata["darknet.head.0.anchors"] == "3,4,7,8" and metadata["darknet.heads"] == "6", metadata
    ending = tester.call("run", file, "--input", tester.input, "-o", tester.out)
    assert ending.returncode == 0, ending.stderr
    again = np.load(tester.out)
    for name in wanted.files:
        np.testing.assert_allclose(again[name], wanted[name], rtol=1e-4, atol=1e-4)


def check_trained(tester, shapes):
    """Weights and names of classes lie beside the cfg."""
    file = tester.folder / "shapes.onnx"
    ending = tester.call("export", shapes / "shapes.cfg", "-o", file)
    assert ending.returncode == 0 and not ending.stderr, ending.stderr
    model = onnx.load(file)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert metadata["labels"] == "disc\nbox" and metadata["darknet.head.1.mask"] == "0,1,2", metadata
    numbers = sum(int(np.prod(tensor.dims)) for tensor in model.graph.initializer if tensor.name.startswith("layer_"))
    assert numbers * 4 >= (shapes / "shapes.weights").stat().st_size - 20, numbers


def steps_of(tester, *model):
    """Kind and tactic of each step of an engine for the CPU."""
    engine = tester.folder / "n.hone"
    ending = tester.call("build", *model, "-o", engine, "--builderOptimizationLevel", 0, "--threads", 2)
    assert ending.returncode == 0, ending.stderr
    rows = [line.split() for line in tester.call("inspect", engine).stdout.splitlines() if line[:4].strip().isdigit()]
    return [(row[1], row[2]) for row in rows]


def check_steps(tester):
    """Nothing runs on the reference, and what can be fused is: 21 convolutions take their normalization and activation,
    routes of wholes and concatenations into their sources are no steps."""
    for make in NETWORKS.values():
        tester.write(make())
        steps = steps_of(tester, tester.cfg, "--weights", tester.weights)
        assert all(tactic != "reference" for _, tactic in steps), steps
    kinds = [kind for kind, _ in steps_of(tester, "yolov4_tiny")]
    assert kinds.count("FusedConv") == 19 and kinds.count("Conv") == 2 and kinds.count("MaxPool") == 3, kinds
    assert kinds.count("Slice") == 3 and kinds.count("Concat") <= 1 and len(kinds) <= 37, kinds


def check_files(tester):
    tester.write(pools())
    data = tester.weights.read_bytes()
    tester.weights.write_bytes(data[:-8])
    tester.bad(BAD_INPUT, f"{tester.weights}: {len(data)} bytes are needed, {len(data) - 8} are there", "run", tester.cfg,
               "--weights", tester.weights, "--input", tester.input)
    tester.weights.write_bytes(data + bytes(7))
    ending = tester.call("run", tester.cfg, "--weights", tester.weights, "--input", tester.input)
    assert ending.returncode == 0 and "7 bytes are left over" in ending.stderr, ending.stderr
    for garbage in (b"", b"short", b"this is no file of weights " * 50):
        tester.weights.write_bytes(garbage)
        ending = tester.bad(BAD_INPUT, f"{tester.weights}: ", "run", tester.cfg, "--weights", tester.weights,
                            "--input", tester.input)
    garbage = tester.folder / "garbage.cfg"
    for text in ("no cfg at all\n", "[net]\nwidth=32\n[wonder]\n", ""):
        garbage.write_text(text)
        tester.bad(BAD_INPUT, "garbage.cfg", "run", garbage, "--input", tester.input)
    tester.bad(BAD_INPUT, "missing.weights: cannot open the file", "run", tester.cfg, "--weights",
               tester.folder / "missing.weights", "--input", tester.input)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(sys.argv[1], pathlib.Path(folder))
        check_sections(tester)
        check_outputs(tester)
        check_classes(tester)
        check_export(tester)
        check_trained(tester, pathlib.Path(sys.argv[2]))
        check_steps(tester)
        check_files(tester)


if __name__ == "__main__":
    main()
