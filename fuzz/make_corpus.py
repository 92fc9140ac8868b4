#!/usr/bin/python3
"""Writes the seeds of the fuzz targets that read files: tiny ones that between them reach most of a reader.

usage: make_corpus.py HONE     writes corpus/<reader>/* beside this file; HONE is the program that builds the engines
"""
import json
import subprocess
import sys
from pathlib import Path

import numpy
from onnx import TensorProto, helper, numpy_helper

CORPUS = Path(__file__).resolve().parent / "corpus"
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, values, dtype=numpy.float32):
    return numpy_helper.from_array(numpy.array(values, dtype=dtype), name)


def model(nodes, inputs, outputs, constants=(), opset=17, **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], **more)


def branch(name, op):
    return helper.make_graph([helper.make_node(op, ["x"], [name])], name, [], [value(name, [2])])


def models():
    x, y = value("x", [2]), value("y", [2])
    node = helper.make_node
    yield "add", model([node("Add", ["x", "c"], ["y"])], [x], [y], [constant("c", [1, 2])])
    yield "conv", model([node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], strides=[1, 1])],
                        [value("x", [1, 1, 3, 3])], [value("y", None)], [constant("w", [[[[1.0]]]])])
    yield "symbolic", model([node("Shape", ["x"], ["s"]), node("Reshape", ["x", "s"], ["y"])],
                            [value("x", ["n", 3])], [value("y", ["n", 3])])
    yield "old_softmax", model([node("Softmax", ["x"], ["y"], axis=1)], [value("x", [1, 2, 2])],
                               [value("y", [1, 2, 2])], opset=7)
    yield "old_upsample", model([node("Upsample", ["x"], ["y"], mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])],
                                [value("x", [1, 1, 2, 2])], [value("y", None)], opset=7)
    yield "old_reduce", model([node("ReduceSum", ["x"], ["y"], axes=[0], keepdims=0)], [x], [value("y", [])], opset=11)
    yield "if", model([node("If", ["c"], ["y"], then_branch=branch("t", "Relu"), else_branch=branch("e", "Neg"))],
                      [value("c", [], BOOL), x], [y])
    body = helper.make_graph([node("Identity", ["go"], ["go_on"]), node("Add", ["v", "x"], ["w"])], "body",
                             [value("i", [], INT64), value("go", [], BOOL), value("v", [2])],
                             [value("go_on", [], BOOL), value("w", [2])])
    yield "loop", model([node("Loop", ["n", "", "x"], ["y"], body=body)], [x], [y],
                        [constant("n", 3, numpy.int64)])
    function = helper.make_function("f", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])],
                                    [helper.make_opsetid("", 17)])
    two = model([node("Twice", ["x"], ["y"], domain="f")], [x], [y], functions=[function])
    two.opset_import.append(helper.make_opsetid("f", 1))
    yield "function", two
    outside = constant("c", [1, 2])
    outside.ClearField("raw_data")
    outside.data_location = TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="weights.bin")
    yield "external", model([node("Add", ["x", "c"], ["y"])], [x], [y], [outside])
    yield "quantized", model([node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])],
                             [x], [y], [constant("s", 0.5), constant("z", 3, numpy.uint8)])
    sparse = helper.make_sparse_tensor(constant("c", [1.0]), constant("i", [1], numpy.int64), [2])
    holder = model([node("Add", ["x", "c"], ["y"])], [x], [y])
    holder.graph.sparse_initializer.append(sparse)
    yield "sparse", holder


def safetensors():
    def entry(dtype, shape, begin, end):
        return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}

    def file(header, data):
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + data

    yield "two", file({"a": entry("F32", [2], 0, 8), "b": entry("BOOL", [3], 8, 11)}, bytes(range(11)))
    yield "metadata", file({"__metadata__": {"format": "pt"}, "s": entry("I64", [], 0, 8)}, bytes(8))
    yield "empty_tensor", file({"e": entry("BF16", [0, 3], 0, 0)}, b"")
    yield "hole", file({"a": entry("U8", [1], 1, 2)}, bytes(2))


def main(hone):
    seeds = [("onnx_model", f"{name}.onnx", seed.SerializeToString()) for name, seed in models()]
    seeds += [("safetensors", f"{name}.safetensors", seed) for name, seed in safetensors()]
    for folder, suffix in (("onnx_model", "onnx"), ("safetensors", "safetensors")):
        seeds.append((folder, f"empty.{suffix}", b""))
    for folder, name, seed in seeds:
        (CORPUS / folder).mkdir(parents=True, exist_ok=True)
        (CORPUS / folder / name).write_bytes(seed)
    engines = CORPUS / "engine"
    engines.mkdir(exist_ok=True)
    (engines / "empty.hone").write_bytes(b"")
    for name in ("add", "conv", "if", "loop", "quantized"):
        subprocess.run([hone, "build", CORPUS / "onnx_model" / f"{name}.onnx", "-o", engines / f"{name}.hone",
                        "--builderOptimizationLevel", "0"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(sys.argv[1])
