"""Small networks with constant weights, as trained ones are, written as ONNX cases whose expected outputs are the
reference's. The ONNX project's cases give weights at run time, so that no fused or packed kernel takes them.

usage: network_cases.py HONE SCRIPTS FOLDER

Writes them, and the operators' cases of the tests in the folder SCRIPTS, to folders of FOLDER.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 22


class Network:
    """Nodes in order, each call the next one; `value` is the name of the newest result."""

    def __init__(self, name, *shapes):
        self.name, self.nodes, self.constants, self.half = name, [], [], False
        self.random = np.random.default_rng(len(name) * 1000 + sum(map(ord, name)))
        self.inputs = [(f"x{i}", self.random.standard_normal(shape).astype(np.float32))
                       for i, shape in enumerate(shapes)]
        self.value, self.channels = "x0", shapes[0][1] if len(shapes[0]) > 1 else shapes[0][0]

    def constant(self, values, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def normal(self, shape, fan_in):
        return self.constant(self.random.standard_normal(shape) * np.sqrt(2 / fan_in))

    def node(self, op, *inputs, **attributes):
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        self.value = output
        return self

    def then(self, op, *more, **attributes):
        return self.node(op, self.value, *more, **attributes)

    def conv(self, filters, kernel, stride=1, pad=None, group=1, dilation=1, bias=True, of=None):
        """Of the newest value, or of `of`: a name and its channels."""
        value, channels = of or (self.value, self.channels)
        pad = dilation * (kernel // 2) if pad is None else pad
        depth = channels // group
        inputs = [value, self.normal((filters, depth, kernel, kernel), depth * kernel * kernel)]
        if bias:
            inputs.append(self.constant(self.random.standard_normal(filters) * 0.1))
        self.channels = filters
        return self.node("Conv", *inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
                         dilations=[dilation] * 2, group=group)

    def conv_transpose(self, filters, kernel, stride=1, group=1, **attributes):
        covered = max(kernel // stride, 1) ** 2  # taps that an output has
        weight = self.normal((self.channels, filters // group, kernel, kernel), self.channels // group * covered)
        self.channels = filters
        return self.then("ConvTranspose", weight, self.constant(self.random.standard_normal(filters) * 0.1),
                         kernel_shape=[kernel] * 2, strides=[stride] * 2, group=group, **attributes)

    def norm(self):
        scale, shift, mean = (self.constant(centre + 0.1 * self.random.standard_normal(self.channels))
                              for centre in (1, 0, 0))
        return self.then("BatchNormalization", scale, shift, mean,
                         self.constant(self.random.uniform(0.6, 1.4, self.channels)))

    def relu(self):
        return self.then("Relu")

    def swish(self):
        value = self.value
        return self.then("Sigmoid").node("Mul", value, self.value)

    def padded(self, amounts, mode="constant"):
        return self.then("Pad", self.constant(amounts, np.int64), mode=mode)

    def linear(self, features):
        weight = self.normal((features, self.channels), self.channels)
        self.channels = features
        return self.then("Gemm", weight, self.constant(self.random.standard_normal(features) * 0.1), transB=1)

    def in_half(self):
        """With numbers that float16 holds, for a model of that type."""
        self.half = True
        self.inputs = [(name, value.astype(np.float16).astype(np.float32)) for name, value in self.inputs]
        self.constants = self.constants_in(np.float16)
        self.constants = self.constants_in(np.float32)
        return self

    def constants_in(self, dtype):
        arrays = [(constant.name, numpy_helper.to_array(constant)) for constant in self.constants]
        return [numpy_helper.from_array(array.astype(dtype) if array.dtype.kind == "f" else array, name) for name, array in arrays]

    def model(self, half=False):
        kind = onnx.TensorProto.FLOAT16 if half else onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            [*self.nodes, helper.make_node("Identity", [self.value], ["y"])], self.name,
            [helper.make_tensor_value_info(name, kind, value.shape) for name, value in self.inputs],
            [helper.make_tensor_value_info("y", kind, None)], self.constants_in(np.float16 if half else np.float32))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def convolutions():
    image = (2, 64, 14, 14)
    yield Network("conv_1x1", image).conv(64, 1)
    yield Network("conv_1x1_many", (1, 512, 7, 7)).conv(256, 1).relu()
    yield Network("conv_3x3", image).conv(64, 3).relu()
    yield Network("conv_3x3_of_512", (5, 512, 7, 7)).conv(64, 3).relu()
    yield Network("conv_3x3_stride_2", image).conv(128, 3, stride=2).norm().relu()
    yield Network("conv_3x3_dilated", image).conv(64, 3, dilation=2)
    yield Network("conv_3x3_unpadded", image).conv(32, 3, pad=0)
    yield Network("conv_5x5", (2, 64, 27, 27)).conv(192, 5).relu()
    yield Network("conv_odd_channels", (2, 30, 13, 13)).conv(50, 3).relu()
    yield Network("conv_104_of_200", (3, 200, 7, 7)).conv(104, 1).then("Sigmoid")
    yield Network("conv_grouped", image).conv(64, 3, group=4).relu()
    yield Network("conv_depthwise", image).conv(64, 3, group=64).norm().relu()
    yield Network("conv_depthwise_5x5_stride_2", image).conv(64, 5, stride=2, group=64).norm().swish()
    clipped = Network("conv_clipped", image).conv(96, 1).norm()
    yield clipped.then("Clip", clipped.constant(0), clipped.constant(6))
    yield Network("conv_transpose_doubling", image).conv(64, 1).conv_transpose(32, 2, stride=2).relu()
    yield Network("conv_transpose_4x4", image).conv(64, 1).conv_transpose(24, 4, stride=2, pads=[1] * 4)
    rows = Network("rows", (2, 16, 40))
    for filters, kernel, dilation in ((32, 3, 1), (16, 3, 2)):
        inputs = [rows.value, rows.normal((filters, rows.channels, kernel), rows.channels * kernel)]
        rows.node("Conv", *inputs, rows.constant(rows.random.standard_normal(filters) * 0.1),
                  pads=[dilation] * 2, dilations=[dilation]).relu()
        rows.channels = filters
    yield rows.then("Add", "x0").then("MaxPool", kernel_shape=[2], strides=[2])
    # Windows of padding alone; an operand of the result's shape behind what a matrix product may compute.
    yield Network("conv_beyond_the_image", (1, 16, 1, 5), (1, 24, 1, 5)).conv(24, 2, pad=1, dilation=2).relu().then(
        "Add", "x1")
    yield Network("conv_1x1_padded_gated", (2, 16, 9, 9), (2, 32, 11, 11)).conv(32, 1, pad=1).relu().then("Mul", "x1")
    yield Network("conv_transpose_depthwise", image).conv(64, 1).conv_transpose(64, 4, stride=2, pads=[1] * 4, group=64)
    yield Network("conv_transpose_3x3", image).conv(64, 1).conv_transpose(40, 3, stride=2, pads=[1] * 4, group=8,
                                                                          output_padding=[1, 1])
    yield Network("stem_with_pool", (2, 3, 56, 56)).conv(64, 7, stride=2, pad=3).norm().relu().then(
        "MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    stem = Network("stem_with_next", (2, 3, 56, 56)).conv(64, 7, stride=2, pad=3).norm().relu().then(
        "MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    pooled = stem.value
    yield stem.conv(64, 1).norm().relu().conv(64, 3).norm().then("Add", pooled).relu()
    yield Network("stem_3x3", (2, 3, 32, 32)).conv(32, 3, stride=2).norm().swish()


def blocks():
    basic = Network("residual", (2, 64, 14, 14)).conv(64, 3).norm().relu().conv(64, 3).norm()
    yield basic.then("Add", "x0").relu()
    yield Network("residual_14", (2, 256, 14, 14)).conv(256, 3).norm().then("Add", "x0").relu()
    for name, size, planes in (("bottleneck", 14, 32), ("bottleneck_56", 56, 64), ("bottleneck_28", 28, 128),
                               ("bottleneck_14", 14, 256)):
        deep = Network(name, (1, 4 * planes, size, size)).conv(planes, 1).norm().relu().conv(planes, 3).norm().relu()
        yield deep.conv(4 * planes, 1).norm().then("Add", "x0").relu().conv(planes, 1).norm().relu()
    down = Network("projected_shortcut", (2, 64, 14, 14)).conv(64, 3, stride=2).norm().relu().conv(256, 1).norm()
    branch = down.value
    down.conv(256, 1, stride=2, of=("x0", 64)).norm()
    yield down.node("Add", branch, down.value).relu()
    yield Network("conv_and_global_pool", (2, 128, 7, 7)).conv(256, 1).norm().relu().then("GlobalAveragePool")
    yield squeeze_excite()
    yield joined(Network("joined_convs", (2, 16, 13, 13)))
    yield joined(Network("fire_module", (1, 128, 27, 27)).conv(16, 1).relu()).conv(32, 1).relu()
    head = Network("head", (3, 256, 7, 7)).then("GlobalAveragePool").then("Flatten").linear(1000)
    yield head.then("Softmax", axis=-1)


def joined(net):
    squeezed, channels = net.value, net.channels
    parts = [net.conv(64, kernel, of=(squeezed, channels)).relu().value for kernel in (1, 3)]
    net.channels = 128
    return net.node("Concat", *parts, axis=1)


def squeeze_excite():
    net = Network("squeeze_excite", (2, 96, 14, 14)).conv(96, 3, group=96).norm().swish()
    gated = net.value
    net.then("GlobalAveragePool").conv(8, 1).swish().conv(96, 1).then("Sigmoid")
    return net.node("Mul", gated, net.value).conv(32, 1).norm()


def products():
    yield Network("linear_relu", (4, 200)).linear(104).relu()
    yield Network("linear_wide", (1, 1280)).linear(1000)
    tokens = Network("matmul_gelu", (2, 17, 64))
    tokens.then("MatMul", tokens.normal((64, 128), 64)).then("Add", tokens.constant(np.full(128, 0.1)))
    yield tokens.then("Gelu")
    attention = Network("attention", (2, 4, 17, 16), (2, 4, 16, 17), (2, 4, 17, 16)).node("MatMul", "x0", "x1")
    attention.then("Mul", attention.constant(0.25)).then("Softmax", axis=-1)
    yield attention.then("MatMul", "x2")


def layers():
    image = (2, 32, 15, 15)
    yield Network("max_pool_ceil", image).conv(32, 1).then("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    yield Network("average_pool", image).conv(32, 1).then("AveragePool", kernel_shape=[3, 3], strides=[2, 2],
                                                          pads=[1] * 4)
    yield Network("lrn", image).conv(32, 1).then("LRN", size=5)
    norm = Network("layer_norm", (2, 17, 96))
    yield norm.then("LayerNormalization", norm.constant(np.full(96, 1.1)), norm.constant(np.full(96, 0.1)))
    group = Network("group_norm", image)
    yield group.then("GroupNormalization", group.constant(np.full(32, 1.1)), group.constant(np.full(32, 0.1)),
                     num_groups=4)
    few = Network("group_norm_of_few", image).conv(32, 1)
    yield few.then("GroupNormalization", few.constant(np.full(32, 1.1)), few.constant(np.full(32, 0.1)), num_groups=16)
    instance = Network("instance_norm", image).conv(32, 1)
    yield instance.then("InstanceNormalization", instance.constant(np.linspace(0.5, 2, 32)),
                        instance.constant(np.linspace(-1, 1, 32))).relu()
    yield Network("transposed", image).conv(32, 1).then("Transpose", perm=[0, 2, 3, 1])
    shuffle = Network("shuffled_channels", image).conv(32, 1)
    shuffle.then("Reshape", shuffle.constant([2, 4, 8, 15, 15], np.int64)).then("Transpose", perm=[0, 2, 1, 3, 4])
    yield shuffle.then("Reshape", shuffle.constant([2, 32, 15, 15], np.int64))
    chain = Network("pointwise_chain", image, image)
    chain.node("Mul", "x0", "x1").then("Tanh").then("Add", "x0").then("Abs")
    # Near 0, the slope of Sqrt would multiply what pieces of the chain round.
    chain.then("Add", chain.constant(0.25)).then("Sqrt")
    yield chain.then("Mul", chain.constant(np.linspace(0.5, 2, 32).reshape(1, 32, 1, 1)))
    mean = Network("mean_of_pixels", image).conv(32, 1)
    yield mean.then("ReduceMean", mean.constant([2, 3], np.int64), keepdims=0)
    yield Network("reflected", image).conv(32, 1).padded([0, 0, 2, 1, 0, 0, 0, 3], mode="reflect")
    yield Network("padded_and_cropped", image).conv(32, 1).padded([0, 1, -2, 1, 0, 3, 0, -1])
    yield Network("largest_channel", image).then("MaxPool", kernel_shape=[2, 2]).then("ArgMax", axis=1).then(
        "Cast", to=onnx.TensorProto.FLOAT)
    mask = Network("turned_mask", image).then("MaxPool", kernel_shape=[2, 2])
    mask.then("Greater", mask.constant(0.5)).then("Transpose", perm=[0, 2, 3, 1])
    yield mask.then("Cast", to=onnx.TensorProto.FLOAT)
    rows = Network("picked_rows", (2, 17, 64))
    yield rows.then("Gather", rows.constant([3, -1, 0], np.int64), axis=1)
    embedded = Network("embedded", (4, 8)).then("ArgMax", axis=1, keepdims=0)
    yield embedded.node("Gather", embedded.normal((8, 24), 2), embedded.value)
    large = Network("enlarged", image).conv(32, 1)
    yield large.then("Resize", "", large.constant([1, 1, 2, 2]), mode="linear")


def halves():
    """Models of float16."""
    yield Network("half_conv", (2, 64, 14, 14)).conv(64, 3).relu().in_half()
    yield Network("half_image", (2, 3, 32, 32)).conv(32, 3, stride=2).then("Sigmoid").in_half()
    yield Network("half_head", (2, 64, 7, 7)).then("GlobalAveragePool").then("Flatten").linear(40).in_half()


def expected_of(hone: str, network: Network, data: pathlib.Path) -> np.ndarray:
    """In float32, whatever the type of the model."""
    with tempfile.TemporaryDirectory() as name:
        model = pathlib.Path(name) / "whole.onnx"
        onnx.save(network.model(), str(model))
        given = []
        for name, value in network.inputs:
            np.save(data / f"{name}.npy", value)
            given.append(f"{name}:{data / f'{name}.npy'}")
        subprocess.run([hone, "run", model, "--backend", "reference", "--input", *given, "-o", data / "out.npz"],
                       check=True, stdout=subprocess.DEVNULL)
    return np.load(data / "out.npz")["y"]


def write(hone: str, folder: pathlib.Path) -> None:
    for network in (*convolutions(), *blocks(), *products(), *layers(), *halves()):
        case = folder / network.name
        data = case / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(network.model(network.half), str(case / "model.onnx"))
        kind = np.float16 if network.half else np.float32
        for k, (name, value) in enumerate(network.inputs):
            (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(value.astype(kind), name).SerializeToString())
        expected = expected_of(hone, network, data)
        if network.half:
            expected = expected.astype(np.float16)
        (data / "output_0.pb").write_bytes(numpy_helper.from_array(expected, "y").SerializeToString())


def write_all(hone: str, scripts: pathlib.Path, folder: pathlib.Path) -> None:
    write(hone, folder / "networks")
    for script in sorted(scripts.glob("*_test.py")):
        subprocess.run([sys.executable, script, hone, folder / script.stem], check=True)


if __name__ == "__main__":
    write_all(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
