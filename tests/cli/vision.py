"""What the tests of `hone detect` and `hone classify` share: small models and pictures."""
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

USAGE, BAD_INPUT, ENVIRONMENT, THRESHOLD = 2, 3, 4, 5


class Runner:
    def __init__(self, hone, folder):
        self.hone, self.folder = hone, folder

    def run(self, *arguments):
        return subprocess.run([self.hone, *map(str, arguments)], capture_output=True, text=True, check=False)

    def good(self, *arguments):
        ending = self.run(*arguments)
        assert ending.returncode == 0, f"{arguments}: exit code {ending.returncode}: {ending.stderr}"
        return ending

    def bad(self, code, part, *arguments):
        """Fails with one sentence that contains `part`."""
        ending = self.run(*arguments)
        assert ending.returncode == code, f"{arguments}: exit code {ending.returncode}: {ending.stderr}"
        assert part in ending.stderr, f"{arguments}: {ending.stderr}"
        assert ending.stderr.count("\n") == 1 and ending.stderr.startswith("hone: "), f"{arguments}: {ending.stderr}"
        assert ending.stdout == "", f"{arguments}: {ending.stdout}"


def picture(width, height, seed=1):
    grid = np.mgrid[0:height, 0:width].astype(float)
    waves = [127 + 100 * np.sin(grid[0] / 5 + c + seed) * np.cos(grid[1] / 7 - c) for c in range(3)]
    return Image.fromarray(np.clip(np.stack(waves, -1), 1, 255).astype(np.uint8))


def save(path, nodes, inputs, outputs, constants, metadata):
    graph = helper.make_graph(nodes, "test", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for key, value in metadata.items():
        model.metadata_props.add(key=key, value=value)
    onnx.save(model, str(path))
    return path


def value_info(name, array, batch=None):
    shape = list(array.shape) if batch is None else [batch, *array.shape[1:]]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype)
                                         if hasattr(helper, "np_dtype_to_tensor_dtype")
                                         else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype], shape)


def constant_model(path, shape, outputs, metadata):
    """Gives these outputs for every image."""
    nodes = [helper.make_node("Identity", [f"{name}_value"], [name]) for name in outputs]
    constants = [numpy_helper.from_array(np.ascontiguousarray(array), f"{name}_value") for name, array in outputs.items()]
    # The image is read, or it would be no input of the network.
    nodes.append(helper.make_node("ReduceMean", ["images"], ["unused"], keepdims=0))
    image = helper.make_tensor_value_info("images", TensorProto.FLOAT, shape)
    return save(path, nodes, [image], [value_info(name, array) for name, array in outputs.items()], constants, metadata)


def pixel_model(path, width, height, points=((0, 0),), sizes=False):
    """End to end: a box of a pixel for each colour of each point, whose score is the input's value there and whose
    class counts them. With `sizes` RT-DETR's form: one box of the size that the network is told."""
    image = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, height, width])
    if sizes:
        told = helper.make_tensor_value_info("orig_target_sizes", TensorProto.INT64, [1, 2])
        nodes = [helper.make_node("Cast", ["orig_target_sizes"], ["size"], to=TensorProto.FLOAT),
                 helper.make_node("Concat", ["zeros", "size"], ["box"], axis=1),
                 helper.make_node("Unsqueeze", ["box", "one"], ["boxes"]),
                 helper.make_node("Identity", ["label"], ["labels"]),
                 helper.make_node("Identity", ["score"], ["scores"]),
                 helper.make_node("ReduceMean", ["images"], ["unused"], keepdims=0)]
        constants = [numpy_helper.from_array(np.zeros((1, 2), np.float32), "zeros"),
                     numpy_helper.from_array(np.array([1], np.int64), "one"),
                     numpy_helper.from_array(np.zeros((1, 1), np.int64), "label"),
                     numpy_helper.from_array(np.full((1, 1), 0.9, np.float32), "score")]
        outputs = [helper.make_tensor_value_info("labels", TensorProto.INT64, [1, 1]),
                   helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [1, 1, 4]),
                   helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 1])]
        return save(path, nodes, [image, told], outputs, constants, {})
    index = np.array([(c * height + y) * width + x for x, y in points for c in range(3)], np.int64)
    count = len(index)
    nodes = [helper.make_node("Reshape", ["images", "flat"], ["values"]),
             helper.make_node("Gather", ["values", "index"], ["chosen"], axis=0),
             helper.make_node("Unsqueeze", ["chosen", "one"], ["scores"]),
             helper.make_node("Concat", ["boxes", "scores", "labels"], ["rows"], axis=1),
             helper.make_node("Unsqueeze", ["rows", "zero"], ["output0"])]
    constants = [numpy_helper.from_array(array, name) for name, array in (
        ("flat", np.array([-1], np.int64)), ("index", index), ("one", np.array([1], np.int64)),
        ("zero", np.array([0], np.int64)), ("boxes", np.tile(np.array([[0, 0, 1, 1]], np.float32), (count, 1))),
        ("labels", np.arange(count, dtype=np.float32)[:, None]))]
    output = helper.make_tensor_value_info("output0", TensorProto.FLOAT, [1, count, 6])
    return save(path, nodes, [image], [output], constants, {"end2end": "True"})
