#!/usr/bin/python3
"""Checks that the documents speak of what exists: paths of the repository in code marks, and relative links.

usage: check_docs.py [ROOT]            exit 1 with one line for each place
"""
import re
import subprocess
import sys
from pathlib import Path

PATH = re.compile(r"`((?:src|tests|tools|cmake|docs|include|fuzz|bench|models|web)/[\w./-]*)`")
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")


def problems_of(document, root):
    fenced = False
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.startswith("```")
        names = [(root, name) for name in PATH.findall(line)]
        names += [] if fenced else [(document.parent, name) for name in LINK.findall(line)]
        for base, name in names:
            if not (base / name).exists():
                yield f"{document.relative_to(root)}:{number}: {name} does not exist"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "*.md"],
                             check=True, capture_output=True, text=True).stdout.split("\n")
    documents = [root / name for name in listing if name and (root / name).is_file()]
    problems = [problem for document in documents for problem in problems_of(document, root)]
    print("\n".join(problems + [f"{len(documents)} documents, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
