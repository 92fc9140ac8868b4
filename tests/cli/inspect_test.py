"""`hone inspect` of an engine from another machine: what the file records, and a sentence that says so.

usage: inspect_test.py HONE MODELS_DIGITS
"""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

PRELUDE, CHECKSUM_FROM = 24, 16  # bytes; docs in src/engine/engine_file.hpp
BAD_INPUT, ENVIRONMENT = 3, 4
SENTENCE = "this engine is for another machine (cpu; Another Processor"


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def output(*command):
    ending = run(*command)
    assert ending.returncode == 0, f"{command}: {ending.stderr}"
    return ending.stdout


def header_of(content):
    length, = struct.unpack_from("<Q", content, 16)
    return content[PRELUDE:PRELUDE + length].decode()


def forged(engine, old, text, target):
    """The engine with another text in its header, filled up with dots: the header keeps its length."""
    content = bytearray(engine.read_bytes())
    header = header_of(content)
    new = text.ljust(len(old), ".")[:len(old)]
    assert old in header, f"no {old} in {engine}"
    content[PRELUDE:PRELUDE + len(header.encode())] = header.replace(old, new).encode()
    struct.pack_into("<I", content, 12, zlib.crc32(content[CHECKSUM_FROM:]))
    target.write_bytes(content)
    return target


def check_columns_of_passes(text, listing):
    """Whatever the longest name is."""
    table = text[text.index("\npass ") + 1:].splitlines()
    lines = [line for line in table[:table.index("") if "" in table else None] if not line.startswith(" ")]
    assert len(lines) > 10 and len({len(line) for line in lines}) == 1, table
    starts = {re.match(r"\S+ +", line).end() for line in listing.splitlines()}
    assert len(starts) == 1, listing


def check_several_precisions(hone, model, engine):
    def build(precisions):
        return run(hone, "build", model, "--precision", precisions, "--builderOptimizationLevel", 1, "--noTimingCache",
                   "-o", engine)

    assert build("fp32+fp32").returncode == 2
    assert build("fp32+fp16").returncode == ENVIRONMENT
    ending = build("fp32+bf16")
    assert ending.returncode == 0, ending.stderr
    shown = json.loads(output(hone, "inspect", engine, "--json"))
    assert shown["precision"] == "fp32" and len(shown["policies"]) == 2, shown["policies"]
    for step in shown["steps"]:
        inserted = step["kind"] in ("Reorder", "Copy")
        assert (step["policy"] is None) if inserted else (step["policy"] in shown["policies"]), step
    rivals = {rival["policy"] for step in shown["steps"] for rival in step["rivals"] + step["whole_rivals"]}
    assert rivals == set(shown["policies"]), rivals
    text = output(hone, "inspect", engine)
    assert text.startswith(f"digits: {'+'.join(shown['policies'])} engine for "), text
    assert re.search(r"^     in (fp32|bf16)", text, re.M), text


def main():
    hone, digits = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        here = folder / "here.hone"
        output(hone, "build", digits / "digits.onnx", "--builderOptimizationLevel", 1, "--noTimingCache", "-o", here)
        fingerprint = json.loads(header_of(here.read_bytes()))["places"][0]["fingerprint"]
        assert re.fullmatch(r"cpu; [\w .-]+; oneDNN [\d.]+", fingerprint), fingerprint
        model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        assert model is None or model[1].strip() not in fingerprint, fingerprint
        there = forged(here, fingerprint, "cpu; Another Processor", folder / "there.hone")

        mine = json.loads(output(hone, "inspect", here, "--json"))
        assert mine["note"] is None and mine["memory"]["arena_bytes"] > 0
        assert mine["file_bytes"] == here.stat().st_size
        memory = mine["memory"]
        parts = ("packed_bytes", "constant_bytes", "arena_bytes", "scratch_bytes", "io_bytes")
        assert memory["planned_bytes"] == sum(memory[part] for part in parts) > memory["weight_bytes"], memory
        # One image of 8 x 8 and ten scores, in float32.
        assert memory["io_bytes"] == 4 * (64 + 10), memory
        record = json.loads(output(hone, "inspect", there, "--json"))
        assert SENTENCE in record["note"] and record["memory"] is None, record["note"]
        # Same nodes, tactics, times and work; the steps that this machine's kernels need in between are left out.
        steps = {step["name"]: step for step in mine["steps"] if step["kind"] not in ("Reorder", "Copy")}
        names = []
        for step in record["steps"]:
            if step["tactic"] == "dissolved":  # of which only a program has the pieces
                names += [name for name in steps if name.startswith(step["name"] + " [")]
                continue
            names.append(step["name"])
            for field in ("kind", "tactic", "sources", "post_ops", "flops", "bytes", "rivals"):
                assert step[field] == steps[step["name"]][field], f"{step['name']}: {field}"
        assert names == list(steps), record["steps"]

        # Names come from files, and a terminal would obey them.
        hostile = folder / "\x1b]0;owned\x07.onnx"
        shutil.copy(digits / "digits.onnx", hostile)
        text = output(hone, "inspect", hostile, "--builderOptimizationLevel", 0, "--noTimingCache", "--passes")
        assert text.startswith(r"\x1b]0;owned\x07: fp32 engine") and "\x1b" not in text, text
        check_columns_of_passes(text, output(hone, "passes"))
        ending = run(hone, "inspect", hostile, "--optShapes", "\x1b[31m:1")
        assert ending.returncode == 2 and r"\x1b[31m" in ending.stderr and "\x1b" not in ending.stderr, ending.stderr

        text = output(hone, "inspect", there)
        assert SENTENCE in text and "no kernels were made" in text and "MB planned" not in text, text
        ending = run(hone, "run", there, "--input", digits / "held_out.npz")
        assert ending.returncode == ENVIRONMENT and "build it again here" in ending.stderr, ending.stderr
        assert ending.stderr.startswith(f"hone: {there}: the engine was built for 'cpu; Another Processor"), ending.stderr

        check_several_precisions(hone, digits / "digits.onnx", folder / "both.hone")

        # A precision for which no engine is built for the CPU would give other numbers.
        half = forged(here, '"fp32"', '"fp16"', folder / "half.hone")
        for command in (["run", half, "--input", digits / "held_out.npz"], ["inspect", half], ["inspect", half, "--json"]):
            ending = run(hone, *command)
            sentence = f"hone: {half}: field 'policies' names fp16, in which the device cpu does not run\n"
            assert ending.returncode == BAD_INPUT and ending.stderr == sentence, ending.stderr


if __name__ == "__main__":
    main()
