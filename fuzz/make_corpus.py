#!/usr/bin/python3
"""Writes the seeds of the fuzz targets that read files: tiny ones that between them reach most of a reader.

usage: make_corpus.py HONE     writes corpus/<reader>/* beside this file; HONE is the program that builds the engines
"""
import gzip
import json
import sqlite3
import subprocess
import sys
import tempfile
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


def kineto():
    def event(category, name, thread, start, duration, **args):
        return {"ph": "X", "cat": category, "name": name, "pid": 0 if "gpu" in category else 4, "tid": thread,
                "ts": start, "dur": duration, "args": args}

    old = [event("Operator", "ProfilerStep#1", "4", 1623142623460000, 90), event("Runtime", "cudaMemcpyAsync", "4",
           1623142623460001, 7, correlation=1), event("Memcpy", "Memcpy HtoD (Pageable -> Device)", "stream 7",
           1623142623460003, 9, stream=7, device=0, context=1, correlation=1, bytes=64)]
    new = [event("cpu_op", "aten::mm", 4, 1.5, 20.125, **{"External id": 1, "Input Dims": [[8, 8]]}),
           event("kernel", "gemm", 7, 14.25, 3, stream=7, grid=[4, 1, 1], block=[128, 1, 1], **{"graph node id": 3}),
           event("cuda_sync", "Stream Wait Event", 1000007, 20, 1, stream=7, wait_on_cuda_event_record_corr_id=2),
           event("cuda_event", "cudaEvent", 7, 19, 0.001, event_id=1, correlation=2, stream=7),
           event("python_function", "nn.Module: Linear_0", 4, 1, 30, **{"Python id": 1}),
           {"ph": "i", "name": "[memory]", "pid": 4, "tid": 4, "ts": 2, "args": {"Device Type": 1, "Bytes": -5}},
           {"ph": "C", "name": "SMs", "pid": "GPU 1 Counters", "tid": 0, "ts": 3, "args": {"": 5.5}},
           {"ph": "M", "name": "thread_name", "pid": 4, "tid": 4, "args": {"name": "thread 4 (main)"}},
           {"ph": "s", "id": 1, "pid": 4, "tid": 4, "ts": 2, "cat": "ac2g", "name": "ac2g"}]
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H200", "numSms": 132}],
            "distributedInfo": {"rank": 0}, "baseTimeNanoseconds": 1711929600000000000}
    modern = json.dumps({**head, "traceEvents": new, "traceDoubts": [{"severity": 2, "about": "a", "text": "b"}]}, indent=1)
    yield "old.json", json.dumps({"traceEvents": old}).encode()
    yield "new.json", modern.encode()
    yield "new.json.gz", gzip.compress(modern.encode(), mtime=0)
    yield "cut.json", modern[:900].encode()
    yield "list.json", json.dumps(old).encode()
    yield "missing_quote.json", modern.replace('"gemm"', '"gemm').encode()


def database(script):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript("PRAGMA page_size = 512;" + script)
        connection.close()
        return path.read_bytes()


def databases():
    yield "nsys.sqlite", database("""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, shortName, gridX);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 0, 7, 1, 1, 4);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, nameId, correlationId);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 50331652, 2, 1);
        CREATE TABLE NVTX_EVENTS (start, end, globalTid, eventType, text);
        INSERT INTO NVTX_EVENTS VALUES (1, 3, 50331652, 59, 'a'), (2, 4, 50331652, 60, 'b');""")
    yield "store.sqlite", database("""
        PRAGMA application_id = 0x686f6e65; PRAGMA user_version = 1;
        CREATE TABLE strings (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO strings VALUES (0, ''), (1, 'gemm');
        CREATE TABLE threads (process, id, name);
        INSERT INTO threads VALUES (4, 4, 0);
        CREATE TABLE host_events (start, "end", kind, name, thread, correlation, detail);
        INSERT INTO host_events VALUES (1, 2, 4, 1, 0, 1, -1), (1, 9, 0, 1, 0, -1, 5);
        CREATE TABLE device_events (start, "end", kind, name, device, stream, correlation, detail);
        INSERT INTO device_events VALUES (5, 9, 0, 1, 0, 7, 1, 0);
        CREATE TABLE launches (grid_x, grid_y, grid_z);
        INSERT INTO launches VALUES (4, 1, 1);""")


def partition(blocks, **more):
    """A record of a model of three nodes in a row; blocks are backends and nodes."""
    backends = ["hone", "reference"]
    record = {"schema": "hone.partition", "version": 1, "model": "three", "fingerprint": "0", "device": "cpu",
              "precision": "fp32", "threads": 1, "input_shapes": {"x": [4]}, "min_block_size": 1, "excluded": [],
              "measured": False, "times": "", "algorithm": "", "bound_ms": None, "predicted_ms": 1.5, "measured_ms": None}
    record["backends"] = [{"name": name, "version": "1", "taken": 3, "measured": False, "launch_us": 5, "input_us_per_mb": 0,
                           "output_us_per_mb": 0, "input_copies": 0, "output_copies": 0, "synchronisations": 0}
                          for name in backends]
    record["plans"] = [{"name": "best", "refusal": "", "blocks": len(blocks), "borders": 1, "border_mb": 0.1, "nodes_ms": 1,
                        "borders_ms": 0.2, "launches_ms": 0.3, "predicted_ms": 1.5, "measured_ms": None, "samples": 0,
                        "chosen": True}]
    val = {"name": "a", "type": "float32[4]", "bytes": 16}
    record["blocks"] = [{"backend": backend, "nodes": nodes, "counted": len(nodes), "inputs": [val], "outputs": [val],
                         "nodes_ms": 1, "launch_ms": 0.1, "measured_ms": None, "note": ""} for backend, nodes in blocks]
    record["borders"] = [{"value": val, "from": -1, "to": 0, "copies": 0, "synchronisations": 0, "time_ms": 0}]
    record["statistics"] = {"nodes": 3, "supported": 3, "coverage": 1, "first_blocks": 1, "average_nodes": 3,
                            "most_nodes": 3, "unsupported": {"Neg": 1}}
    record["what_if"] = [{"min_block_size": 1, "blocks": 1, "first_blocks": 1, "predicted_ms": 1}]
    record["recommendations"] = record["notes"] = ["text"]
    record["nodes"] = [{"name": f"n{i}", "op": "Relu", "counted": True, "block": 0, "predecessors": [i - 1] if i else [],
                        "refusals": ["", "no"], "times_us": [1, None]} for i in range(3)]
    return json.dumps({**record, **more}).encode()


def partitions():
    yield "whole", partition([("hone", [0, 1, 2])])
    yield "two", partition([("hone", [0, 1]), ("reference", [2])])
    yield "cycle", partition([("hone", [0, 2]), ("reference", [1])])
    yield "overlap", partition([("hone", [0, 1]), ("reference", [1, 2])])
    yield "missing", partition([("hone", [0])])
    yield "outside", partition([("hone", [0, 1, 2, 3])])
    yield "unknown_backend", partition([("partition:x", [0, 1, 2])])
    yield "newer", partition([("hone", [0, 1, 2])], version=2)


def main(hone):
    seeds = [("onnx_model", f"{name}.onnx", seed.SerializeToString()) for name, seed in models()]
    seeds += [("safetensors", f"{name}.safetensors", seed) for name, seed in safetensors()]
    seeds += [("kineto", name, seed) for name, seed in kineto()]
    seeds += [("partition", f"{name}.json", seed) for name, seed in partitions()]
    seeds += [("trace", name, seed) for name, seed in (*databases(), next(kineto()))]
    for folder, suffix in (("onnx_model", "onnx"), ("safetensors", "safetensors"), ("kineto", "json"), ("trace", "sqlite"),
                           ("partition", "json")):
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
