"""Torch-TensorRT's dry-run report, which is text alone, as numbers."""
import re

TOTALS = re.compile(r"consists of (\d+) Total Operators, of which (\d+) operators are supported")
ENGINE = re.compile(r"TRT Engine #(\d+) - Submodule name: (\S+)")
ENGINE_SIZE = re.compile(r"Number of Operators in Engine: (\d+)")
UNSUPPORTED = re.compile(r"listed with their op-count in the graph:\n((?:\s*\S+: \d+\n?)+)")
IN_TORCH = re.compile(r"^Node: (\S+), with layer location: (.*)$", re.MULTILINE)
ADVICE = re.compile(r"min_block_size=(\d+) which (?:would generate|generates) (\d+) TRT engine")


def parse(text):
    """None where it is no such report. `engines`: operators of each, by name; `advice`: engines for each min_block_size
    that the report names."""
    totals = TOTALS.search(text)
    if not totals:
        return None
    names = [name for _number, name in ENGINE.findall(text)]
    sizes = [int(size) for size in ENGINE_SIZE.findall(text)]
    unsupported = UNSUPPORTED.search(text)
    pairs = [line.rsplit(": ", 1) for line in unsupported[1].split("\n") if ": " in line] if unsupported else []
    return {"total": int(totals[1]), "supported": int(totals[2]), "engines": dict(zip(names, sizes)),
            "unsupported": {name.strip(): int(count) for name, count in pairs}, "in_torch": IN_TORCH.findall(text),
            "advice": {int(size): int(engines) for size, engines in ADVICE.findall(text)}}


def sentence(report):
    inside = sum(report["engines"].values())
    count = len(report["engines"])
    text = f"{inside} of {report['total']} operators in {count} engine{'' if count == 1 else 's'}"
    if report["unsupported"]:
        text += ", not taken: " + ", ".join(f"{name} ({number})" for name, number in sorted(report["unsupported"].items()))
    return text
