#!/usr/bin/python3
"""Runs clang-tidy over the sources that changed since they were last found clean.

usage: lint.py BUILD_FOLDER            exit 1 when a file has findings

A file is clean until it, a header of the project it includes, its compile command, .clang-tidy or
clang-tidy itself changes: all of that goes into a hash. A clean file leaves an empty file of that name
in hone/lint/ of the user's cache, which all checkouts share. Files whose headers are too heavy to parse
twice are left out (HEAVY).
"""
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-14"
# libtorch, OpenCV and protobuf cost 10 s to 60 s of clang-tidy a file and gain little: left out.
HEAVY = re.compile(r'#\s*include\s*[<"](torch/|ATen/|opencv2/|onnx/|google/protobuf/)')


def sources(build):
    """Compile commands of src/, by file; not of CUDA sources, whose compiler's flags clang does not know."""
    commands = json.loads((build / "compile_commands.json").read_text())
    for command in commands:
        file = Path(command["file"])
        if file.suffix == ".cpp" and file.is_relative_to(ROOT / "src"):
            yield file, command


def includes(file, cache):
    """The project's own headers a file includes, transitively, with itself."""
    pending, found = [file], {}
    while pending:
        path = pending.pop()
        if path in found:
            continue
        if path not in cache:
            text = path.read_bytes()
            names = re.findall(rb'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)
            paths = (base / name.decode() for name in names for base in (ROOT / "src", ROOT / "include"))
            cache[path] = (hashlib.sha256(text).digest(), [p for p in paths if p.is_file()],
                           bool(HEAVY.search(text.decode())))
        found[path] = cache[path]
        pending += cache[path][1]
    return found


def fingerprint(found, command, configuration):
    digest = hashlib.sha256(configuration)
    digest.update(command.get("command", "").replace(str(ROOT), "").encode())
    for path in sorted(found):
        digest.update(str(path.relative_to(ROOT)).encode() + found[path][0])
    return digest.hexdigest()


def tidy(build, file):
    """Findings of one file, or nothing. Warnings of the compiler itself are the build's business."""
    done = subprocess.run(
        [TIDY, "-p", str(build), "--quiet", "--extra-arg=-Wno-everything",
         f"--header-filter={re.escape(str(ROOT))}/(src|include)/", str(file)],
        capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else (done.stdout + done.stderr).strip()


def main():
    build = Path(sys.argv[1]).resolve()
    marks = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hone" / "lint"
    marks.mkdir(parents=True, exist_ok=True)
    configuration = (ROOT / ".clang-tidy").read_bytes()
    configuration += subprocess.run([TIDY, "--version"], check=True, capture_output=True).stdout
    cache, pending, clean, heavy = {}, [], 0, 0
    for file, command in sources(build):
        found = includes(file, cache)
        if any(entry[2] for entry in found.values()):
            heavy += 1
            continue
        mark = marks / fingerprint(found, command, configuration)
        if mark.exists():
            clean += 1
        else:
            pending.append((file, mark))
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for (file, mark), findings in zip(pending, pool.map(lambda job: tidy(build, job[0]), pending)):
            if findings:
                bad += 1
                print(findings)
            else:
                mark.touch()
    print(f"{len(pending)} files read, {clean} unchanged, {heavy} left out for their heavy headers, "
          f"{bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
