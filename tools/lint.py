#!/usr/bin/python3
"""Runs clang-tidy over the sources that changed since they were last found clean.

usage: lint.py BUILD_FOLDER            exit 1 when a file has findings

A file is clean until it, a header of the project it includes, its compile command, .clang-tidy or
clang-tidy itself changes: all of that goes into a hash. A clean file leaves an empty file of that name
in hone/lint/ of the user's cache, which all checkouts share. Files whose headers are too heavy to parse
twice are left out (HEAVY).

Most of clang-tidy's time goes into the headers, those of the system included, so files of one compile command
are read together, as one source that includes them all. Where that does not compile, or has findings, its halves
are read, down to single files.
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-14"
# Files in a batch: more save little, and make findings longer to find.
BATCH = 12
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


def flags_of(command):
    """The compiler's flags: the command without the compiler, the source and the object."""
    words = shlex.split(command["command"]) if "command" in command else command["arguments"]
    flags, skip = [], True
    for word in words:
        if skip or word in ("-c", command["file"]):
            skip = False
        elif word == "-o":
            skip = True
        else:
            flags.append(word)
    return tuple(flags)


# Names that a source defines at the left margin, and so perhaps only for itself: types, functions, constants, macros.
NAMES = [re.compile(pattern, re.MULTILINE) for pattern in (
    r"^(?:struct|class|enum class|enum|union) (\w+)|^using (\w+) =",
    r"^(?!using|namespace|return|template)\w[\w:<>,*&\[\] ]*?[\w>*&\]] [*&]*(\w+)\(",
    r"^(?!using|namespace|return|template)\w[\w:<>,*&\[\] ]*?[\w>*&\]] [*&]*(\w+)(?:\[[^\]]*\])*(?: =|\{|;)",
    r"^\s*#\s*define (\w+)")]


def names_in(file):
    text = file.read_text()
    return {found[found.lastindex] for pattern in NAMES for found in pattern.finditer(text)}


def batches(jobs):
    """Lists of jobs (file, flags, mark) of one command whose sources define no name twice; neighbours together."""
    groups = collections.defaultdict(list)
    for job in sorted(jobs):
        names = names_in(job[0])
        open_batches = groups[job[1]]
        for batch in open_batches[-8:]:
            if len(batch[0]) < BATCH and not batch[1] & names:
                break
        else:
            batch = ([], set())
            open_batches.append(batch)
        batch[0].append(job)
        batch[1].update(names)
    return [batch[0] for group in groups.values() for batch in group]


def tidy(source, flags):
    """Findings in a source, or nothing. Warnings of the compiler itself are the build's business."""
    done = subprocess.run(
        [TIDY, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", "--extra-arg=-Wno-everything",
         f"--header-filter={re.escape(str(ROOT))}/(src|include)/", str(source), "--", *flags],
        capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else (done.stdout + done.stderr).strip()


def read(batch, folder):
    """Marks the clean files of a batch; returns the findings in the others."""
    if len(batch) == 1:
        source = batch[0][0]
    else:
        name = hashlib.sha256("".join(str(job[0]) for job in batch).encode()).hexdigest()
        source = Path(folder) / f"{name}.cpp"
        source.write_text("".join(f'#include "{job[0]}"\n' for job in batch))
    findings = tidy(source, batch[0][1])
    if not findings:
        for job in batch:
            job[2].touch()
        return []
    if len(batch) == 1:
        return [findings]
    half = len(batch) // 2
    return read(batch[:half], folder) + read(batch[half:], folder)


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
            pending.append((file, flags_of(command), mark))
    bad = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for findings in pool.map(lambda batch: read(batch, folder), batches(pending)):
            bad += len(findings)
            for finding in findings:
                print(finding)
    print(f"{len(pending)} files read, {clean} unchanged, {heavy} left out for their heavy headers, "
          f"{bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
