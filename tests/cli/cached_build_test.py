"""A build that finds all tactics in the cache writes the same bytes as the one that timed them, and what a cache
lacks or holds in place of times is told.

usage: cached_build_test.py HONE MODELS_DIGITS
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

BAD_INPUT, ENVIRONMENT = 3, 4


def two_clips(file):
    """Two steps that are timed as one, of which the second refuses what the first runs by: its bounds cross."""
    bounds = {"a": 0, "b": 6}
    image = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3, 4, 4])
    results = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3, 4, 4]) for name in ("y", "z")]
    nodes = [helper.make_node("Clip", ["x", "a", "b"], ["y"]), helper.make_node("Clip", ["x", "b", "a"], ["z"])]
    graph = helper.make_graph(nodes, "clips", [image], results,
                              [numpy_helper.from_array(np.float32(value), name) for name, value in bounds.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 8
    onnx.save(model, str(file))
    return file


def large_convolution(file):
    """One step, of which a network's inputs and outputs take much more memory than anything else."""
    image = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 8, 256, 256])
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 32, 256, 256])
    filters = np.random.default_rng(1).standard_normal((32, 8, 3, 3)).astype(np.float32)
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])], "large", [image], [result],
                              [numpy_helper.from_array(filters, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 8
    onnx.save(model, str(file))
    return file


def expect_memory_to_be_forgiven(hone, folder):
    """What lost for want of memory is tried again when there is more, and costs a build that may time nothing nothing."""
    model = large_convolution(folder / "large.onnx")

    def build(limit, *options):
        """Refusals for want of memory; none where nothing could be built."""
        engine = folder / "large.hone"
        command = [hone, "build", model, "--optShapes", "x:2x8x256x256", "--threads", "2", "--timingCacheFile",
                   folder / "large.json", "-o", engine]
        # One instruction set, so that all processors have the same candidates.
        environment = {**os.environ, "HONE_MEMORY_LIMIT_MB": str(limit), "ONEDNN_MAX_CPU_ISA": "AVX2"}
        if subprocess.run([*command, *options], env=environment, check=False, capture_output=True).returncode != 0:
            return None
        rivals = subprocess.run([hone, "inspect", engine, "--rivals"], capture_output=True, text=True, check=True).stdout
        return rivals.count("pass the limit of")

    limit, refused = next(((limit, few) for limit in range(36, 80, 4) if (few := build(limit))), (0, 0))
    assert refused > 0, "no limit is too low for some candidates alone"
    assert build(limit, "--errorOnTimingCacheMiss") == refused
    assert build(2000) == 0
    assert build(2000, "--errorOnTimingCacheMiss") == 0, "the cache has the times now"


def main():
    hone, digits = sys.argv[1], pathlib.Path(sys.argv[2]) / "digits.onnx"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        times = folder / "times.json"

        def run(target, *options, threads=2):
            return subprocess.run([hone, "build", *options, "--threads", str(threads), "--timingCacheFile", times,
                                   "-o", folder / target], capture_output=True, text=True, check=False)

        def build(target, *options):
            ending = run(target, *options)
            assert ending.returncode == 0, ending.stderr
            return (folder / target).read_bytes()

        def refused(code, sentence, *options, threads=2):
            ending = run("refused.hone", *options, "--errorOnTimingCacheMiss", threads=threads)
            assert ending.returncode == code and re.search(sentence, ending.stderr), ending.stderr
            assert ending.stderr.count("\n") == 1 and not (folder / "refused.hone").exists()

        # Several layouts and batch groups to choose from.
        batches = ["squeezenet1_1", "--minShapes", "input:1x3x224x224", "--optShapes", "input:4x3x224x224"]
        refused(BAD_INPUT, "times.json: there is no such file", digits)
        build("untimed.hone", digits, "--builderOptimizationLevel", "0", "--errorOnTimingCacheMiss")
        clips = two_clips(folder / "clips.onnx")
        for model in ([digits], batches, [clips, "--optShapes", "x:2x3x4x4"]):
            if times.exists():
                refused(ENVIRONMENT, "the timing cache lacks ", *model)
            timed = build("timed.hone", *model)
            cached = build("cached.hone", *model, "--errorOnTimingCacheMiss")
            assert timed == cached, f"{model[0]}: the files differ"
            untimed = build("untimed.hone", *model, "--builderOptimizationLevel", "0")
            assert untimed != timed or model[0] == clips, "a search changes nothing"
        assert sorted(file.name for file in folder.iterdir()) == [
            "cached.hone", "clips.onnx", "timed.hone", "times.json", "untimed.hone"]

        # Without one choice, of other threads, of something else: refused, and left as it is.
        content = times.read_text()
        others = r"holds tactic times of '[^']*; 2 threads', .* needs those of '[^']*; 1 threads'"
        for text, code, sentence, threads in (
                (content.replace('"layout ', '"other '), ENVIRONMENT, "lacks the choice of a layout", 2),
                (content.replace('"group ', '"other '), ENVIRONMENT, "lacks the choice of a batch group", 2),
                (content, BAD_INPUT, others, 1),
                ("[]", BAD_INPUT, "hone: [^:]*/times.json is no file of tactic times", 2),
                ("{", BAD_INPUT, "hone: [^:]*/times.json is no file of tactic times", 2)):
            times.write_text(text)
            refused(code, sentence, *batches, threads=threads)
            assert times.read_text() == text

        # Choices that nobody offers are none.
        for kind, sentence in (("layout", "the choice of a layout"), ("group", "the choice of a batch group"),
                               ("", "the times of .*, the first of [0-9]+ such steps")):
            known = json.loads(content)
            for signature, entry in known["steps"].items():
                if signature.startswith(kind + " ") or not (kind or signature.startswith(("layout ", "group "))):
                    entry["times"]["nobody"] = entry["times"].pop(entry["chosen"])
                    entry["chosen"] = "nobody"
            times.write_text(json.dumps(known))
            refused(ENVIRONMENT, "the timing cache lacks " + sentence, *batches)

        # Times of fewer samples do not suffice; times of more do.
        times.unlink()
        build("timed.hone", digits)
        refused(ENVIRONMENT, "the timing cache lacks ", digits, "--builderOptimizationLevel", "4")
        closer = build("timed.hone", digits, "--builderOptimizationLevel", "4")
        for level in ("4", "3"):
            cached = build("cached.hone", digits, "--errorOnTimingCacheMiss", "--builderOptimizationLevel", level)
            assert cached == closer, f"level {level}: the files differ"
    with tempfile.TemporaryDirectory() as name:
        expect_memory_to_be_forgiven(hone, pathlib.Path(name))


if __name__ == "__main__":
    main()
