#!/usr/bin/python3
"""Reports how long source files are and holds them to the budget: half under 140 lines, none above 500. Any
file has 1 MB at most, and so have all published results together.

usage: check_sizes.py [ROOT]           exit 1 when a tree, a file or the results are over their budget
"""
import statistics
import subprocess
import sys
from pathlib import Path

MEDIAN = 140
LONGEST = 500
TREES = ["src", "include", "tests", "fuzz", "bench", "tools", "web"]
GENERATED = {"web/src/schema.ts"}
MEGABYTE = 1_000_000
# The report's page has a limit of its own, in web/tests/build.test.ts.
PAGE = "web/dist/report.html"
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


def heavy(weights):
    for name, weight in weights.items():
        if weight > MEGABYTE and name != PAGE:
            yield f"{name}: {weight} bytes, more than {MEGABYTE}"
    results = sum(weight for name, weight in weights.items() if name.startswith("bench/results/"))
    if results > MEGABYTE:
        yield f"bench/results/: {results} bytes, more than {MEGABYTE} (its README.md says what to do)"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
                             check=True, capture_output=True, text=True).stdout.split("\0")
    files = {name: root / name for name in listing if name and (root / name).is_file()}
    trees = {}
    for name, path in files.items():
        tree = name.split("/")[0]
        if tree in TREES and path.suffix in SUFFIXES and name not in GENERATED:
            trees.setdefault(tree, {})[name] = count_lines(path)
    problems = [problem for tree, sizes in trees.items() for problem in problems_of(tree, sizes)]
    problems += heavy({name: path.stat().st_size for name, path in files.items()})
    report = [f"{tree}: {describe(trees[tree])}" for tree in reversed(TREES) if tree in trees]
    print("\n".join(problems + report))
    return 1 if problems or "src" not in trees else 0


if __name__ == "__main__":
    sys.exit(main())
