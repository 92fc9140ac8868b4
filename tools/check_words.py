#!/usr/bin/python3
"""Checks that no file of the repository names a place that exists only where it was written: absolute
paths of a workplace, and hosts of package registries (a lock file that pins them breaks behind a mirror).

usage: check_words.py [ROOT]           exit 1 with one line for each place
"""
import re
import subprocess
import sys
from pathlib import Path

PATTERNS = [
    (re.compile(rb"(?<![\w.$}/~-])/(work|root|home|Users|mnt)/[\w.-]+"), "an absolute path of a workplace"),
    (re.compile(rb"registry\.(npmjs|yarnpkg|npmmirror)\.|(files\.pythonhosted|[a-z.]*pypi)\.org|"
                rb"\b(ghcr|quay|crates|docker)\.io\b|https?://[\w.-]*(artifactory|nexus|jfrog)[\w.-]*"),
     "the host of a package registry"),
]
BINARY = {".onnx", ".pb", ".png", ".jpg", ".jpeg", ".npy", ".npz", ".safetensors", ".pt", ".hone", ".bin"}


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
                             check=True, capture_output=True).stdout.split(b"\0")
    problems, files = [], 0
    for name in filter(None, (entry.decode() for entry in listing)):
        path = root / name
        if path.suffix in BINARY or not path.is_file() or path == Path(__file__).resolve():
            continue
        files += 1
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            for pattern, what in PATTERNS:
                if found := pattern.search(line):
                    problems.append(f"{name}:{number}: {what}: {found.group(0).decode(errors='replace')}")
    print("\n".join(problems + [f"{files} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
