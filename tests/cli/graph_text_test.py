"""`hone inspect --graph`: the graph of a model as it was read, as the passes leave it, and of an engine.

usage: graph_text_test.py HONE MODELS_DIGITS
"""
import pathlib
import re
import subprocess
import sys
import tempfile

USAGE = 2


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def output(*command):
    ending = run(*command)
    assert ending.returncode == 0, f"{command}: {ending.stderr}"
    return ending.stdout


def operators(text):
    return re.findall(r"^  \S+ = (?!const)(\w+)\(", text, re.MULTILINE)


def check_refusals(hone, model, engine):
    reason = "has no influence on the graph"
    for options, sentence in ((["--json"], "--json"), (["--rivals"], "--rivals"),
                              (["--precision", "bf16"], f"--precision {reason} of a model as it was read"),
                              (["--passes", "--threads", 1], f"--threads {reason}"),
                              (["--passes", "--noTimingCache"], f"--noTimingCache {reason}")):
        ending = run(hone, "inspect", model, "--graph", *options)
        assert ending.returncode == USAGE and sentence in ending.stderr and ending.stdout == "", ending
    ending = run(hone, "inspect", engine, "--graph", "--seed", 1)
    assert ending.returncode == USAGE and "is for building an engine" in ending.stderr, ending


def main():
    hone, model = sys.argv[1], pathlib.Path(sys.argv[2]) / "digits.onnx"
    read = output(hone, "inspect", model, "--graph")
    assert read.startswith('graph "torch_jit" (%input: float32[batch, 1, 8, 8]) -> (%logits) {\n'), read
    assert read.endswith("\n}\n"), read
    assert operators(read) == ["Conv", "Relu", "Conv", "Relu", "MaxPool", "Conv", "Relu", "MaxPool", "Flatten", "Gemm"]
    assert " ... crc32(0x" in read and ' : float32[batch, 10] name "/13/Gemm"\n' in read, read

    passed = output(hone, "inspect", model, "--graph", "--passes")
    assert operators(passed) == ["FusedConv", "FusedConv", "MaxPool", "FusedConv", "MaxPool", "Flatten", "Gemm"], passed
    apart = output(hone, "inspect", model, "--graph", "--passes", "--disable-pass", "convolution_fusion")
    assert operators(apart) == operators(read), apart

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        engine = folder / "digits.hone"
        output(hone, "build", model, "--builderOptimizationLevel", 0, "-o", engine)
        own = output(hone, "inspect", engine, "--graph")
        # Packed weights are all that an engine file has.
        without_sums = re.sub(r" crc32\(\w+\)", "", passed)
        assert re.sub(r" crc32\(\w+\)", "", own) == without_sums and " ...\n" in own, own
        check_refusals(hone, model, engine)

        # Names come from files, and a terminal would obey them.
        hostile = folder / "hostile.onnx"
        hostile.write_bytes(model.read_bytes().replace(b"logits", b"log\x1bts"))
        text = output(hone, "inspect", hostile, "--graph")
        assert r'%"log\x1bts" = Gemm(' in text and "\x1b" not in text, text

    one, two = (output(hone, "inspect", "squeezenet1_1", "--graph", "--seed", seed) for seed in (1, 2))
    assert one != two and operators(one) == operators(two)


if __name__ == "__main__":
    main()
