#!/usr/bin/python3
"""Checks that the documents speak of what exists: paths of the repository in code marks, relative links, result files.

A result file, `net-2026-01-02T030405Z.json`, with as many of its folders as the document likes, or `T030405Z` alone, is one that
a summary below bench/results has, or that lies beside the document.

A comment that is a command of ours, as <!-- bench/gpu/tables.py bench/results/h200 fp16 -->, has under it, up to the next
empty line, what the command prints.

usage: check_docs.py [ROOT]            exit 1 with one line for each place
       check_docs.py --write [ROOT]    puts under such comments what their commands print now
"""
import json
import re
import subprocess
import sys
from pathlib import Path

PATH = re.compile(r"`((?:src|tests|tools|cmake|docs|include|fuzz|bench|models|web)/[\w./-]*)`")
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")
STAMP = re.compile(r"T\d{6}Z")
RESULT = re.compile(rf"`((?:[\w-]+/)*[a-z0-9_-]+-\d{{4}}-\d\d-\d\d{STAMP.pattern}(?:-\d+)?\.json|{STAMP.pattern})`")
COMMAND = re.compile(r"^(<!-- ((?:bench|tools)/[\w/]+\.py(?: [\w./-]+)*) -->\n)((?:.+\n)*)", re.MULTILINE)


def output_of(command, root):
    script, *arguments = command.split()
    return subprocess.run([sys.executable, str(root / script), *arguments], cwd=root, check=True, capture_output=True,
                          text=True).stdout


def results_of(root):
    """Names of the result files that summaries have: with each number of their folders, and their times alone."""
    names = set()
    for summary in (root / "bench" / "results").glob("**/summary.json"):
        for file in json.loads(summary.read_text(encoding="utf-8"))["files"]:
            parts = (*summary.parent.relative_to(root).parts, file["file"])
            names |= {"/".join(parts[i:]) for i in range(len(parts))}
            names |= set(STAMP.findall(file["file"]))
    return names


def problems_of(document, root, results):
    text = document.read_text(encoding="utf-8")
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        names = [(root, name) for name in PATH.findall(line)]
        names += [] if fenced else [(document.parent, name) for name in LINK.findall(line)]
        missing = [name for base, name in names if not (base / name).exists()]
        missing += [name for name in RESULT.findall(line) if name not in results and not (document.parent / name).exists()]
        for name in missing:
            yield f"{document.relative_to(root)}:{number}: {name} does not exist"
    for made in COMMAND.finditer(text):
        if made[3] != output_of(made[2], root):
            number = text.count("\n", 0, made.start()) + 1
            yield f"{document.relative_to(root)}:{number}: below is not what {made[2]} prints (check_docs.py --write)"


def write(document, root):
    text = document.read_text(encoding="utf-8")
    renewed = COMMAND.sub(lambda made: made[1] + output_of(made[2], root), text)
    if renewed != text:
        document.write_text(renewed, encoding="utf-8")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "*.md"],
                             check=True, capture_output=True, text=True).stdout.split("\n")
    documents = [root / name for name in listing if name and (root / name).is_file()]
    if "--write" in sys.argv:
        for document in documents:
            write(document, root)
    results = results_of(root)
    problems = [problem for document in documents for problem in problems_of(document, root, results)]
    print("\n".join(problems + [f"{len(documents)} documents, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
