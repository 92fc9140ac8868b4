#!/usr/bin/python3
"""Reports how long source files are and holds them to the budget: half under 140 lines, none above 500.

usage: check_sizes.py [ROOT]           exit 1 when a tree is over its budget
"""
import statistics
import subprocess
import sys
from pathlib import Path

MEDIAN = 140
LONGEST = 500
TREES = ["src", "include", "tests", "fuzz", "bench", "tools", "web"]
GENERATED = {"web/src/schema.ts"}
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".py", ".js", ".mjs", ".ts", ".tsx", ".sh"}


def count_lines(path):
    return path.read_bytes().count(b"\n")


def describe(sizes):
    values = sorted(sizes.values())
    p90 = values[min(len(values) - 1, int(0.9 * len(values)))]
    return (f"{len(values)} files, {sum(values)} lines, median {statistics.median(values):.0f}, "
            f"p90 {p90}, longest {values[-1]}")


def problems_of(tree, sizes):
    for path, size in sizes.items():
        if size > LONGEST:
            yield f"{path}: {size} lines, more than {LONGEST}"
    if (median := statistics.median(sizes.values())) > MEDIAN:
        yield f"{tree}/: median of {median:.0f} lines, more than {MEDIAN}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", *TREES],
                             check=True, capture_output=True, text=True).stdout.split("\n")
    trees = {}
    for name in listing:
        path = root / name
        if path.suffix in SUFFIXES and name not in GENERATED and path.is_file():
            trees.setdefault(name.split("/")[0], {})[name] = count_lines(path)
    problems = [problem for tree, sizes in trees.items() for problem in problems_of(tree, sizes)]
    report = [f"{tree}: {describe(trees[tree])}" for tree in reversed(TREES) if tree in trees]
    print("\n".join(problems + report))
    return 1 if problems or "src" not in trees else 0


if __name__ == "__main__":
    sys.exit(main())
