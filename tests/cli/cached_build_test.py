"""A build that finds all tactics in the cache writes the same bytes as the one that timed them, and what a cache
lacks or holds in place of times is told.

usage: cached_build_test.py HONE MODELS_DIGITS
"""
import json
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

        # What was timed with fewer samples is not enough; what was timed with more is.
        times.unlink()
        build("timed.hone", digits)
        refused(ENVIRONMENT, "the timing cache lacks ", digits, "--builderOptimizationLevel", "4")
        closer = build("timed.hone", digits, "--builderOptimizationLevel", "4")
        for level in ("4", "3"):
            cached = build("cached.hone", digits, "--errorOnTimingCacheMiss", "--builderOptimizationLevel", level)
            assert cached == closer, f"level {level}: the files differ"


if __name__ == "__main__":
    main()
