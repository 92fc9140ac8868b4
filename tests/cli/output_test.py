"""Where commands write: bad places are refused before the work, a full disk and Ctrl-C leave nothing behind.

usage: output_test.py HONE MODELS_DIGITS
"""
import json
import os
import pathlib
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

ENVIRONMENT, THRESHOLD = 4, 5
SMALL = 4096  # bytes a file may have where the disk is "full"


def full_disk():
    """A limit on the size of files: whoever does not expect its signal dies of it; then write() fails, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))


def fails(command, part, **options):
    options.setdefault("capture_output", "stdout" not in options)
    ending = subprocess.run(list(map(str, command)), text=True, check=False, **options)
    assert ending.returncode == ENVIRONMENT, f"{command}: exit code {ending.returncode}: {ending.stderr}"
    assert part in ending.stderr, f"{command}: {ending.stderr}"
    # Random weights are said of whatever comes of the run.
    said = [line for line in ending.stderr.splitlines() if not line.startswith("note: the weights of ")]
    assert len(said) == 1 and said[0].startswith("hone: "), f"{command}: {ending.stderr}"


def commands(hone, folder):
    """What each command that writes is called with, up to the name of the file."""
    return [[hone, "build", "squeezenet1_1", "--builderOptimizationLevel", 0, "-o"],
            [hone, "run", "squeezenet1_1", "--backend", "reference", "--input", folder / "image.npy", "-o"],
            [hone, "export", "squeezenet1_1", "-o"],
            [hone, "conformance", folder, "--json"]]


def check_bad_places(hone, folder, work):
    """The model does not exist, so a command that reads it first says something else."""
    for command in commands(hone, work):
        command = ["no_such_model" if part == "squeezenet1_1" else part for part in command]
        fails([*command, folder / "missing" / "out.npz"], f"there is no folder {folder}/missing (mkdir -p {folder}/missing)")
        fails([*command, folder], "it is a directory")
        fails([*command, "/dev/full"], "it is not a regular file")
        fails([*command, "/proc/out.npz"], "cannot write the file")
    fails([hone, "bench", "no_such_model", "-o", "/proc/runs"], "cannot create the folder")
    file = work / "file"
    file.touch()
    for place in ("/proc/runs", file, file / "below"):
        fails([hone, "profile", work / "digits.onnx", "-o", place], f"hone: cannot create the folder {place}: ")
        for form in ("kineto", "trtexec", "csv"):
            fails([hone, "convert", work / "trace.json", place, "--to", form],
                  f"hone: cannot create the folder {place}: ")
    fails([hone, "bench", "no_such_model", "-o", "/proc"], "cannot write the file")


def check_standard_output(hone, work):
    """An answer that got lost is no success, and its loss is no bug of ours."""
    trace = work / "trace.json"
    answers = [["--help"], ["--version"], ["bench", "--help"], ["passes"], ["backends"], ["ops"],
               ["analyze", trace], ["analyze", trace, "--json"], ["diff", trace, trace],
               ["convert", trace, work / "converted"], ["report", trace, "-o", work / "report.html"],
               ["profile", "--query-metrics"]]
    for answer in answers:
        with open("/dev/full", "w") as full:
            fails([hone, *answer], "hone: cannot write to the standard output", stdout=full, stderr=subprocess.PIPE)
    case = work / "case" / "test_data_set_0"
    case.mkdir(parents=True)
    shutil.copy(work / "digits.onnx", case.parent / "model.onnx")
    (case / "input_0.pb").write_bytes(b"x")
    (case / "output_0.pb").write_bytes(b"x")
    with open("/dev/full", "w") as full:
        lost = subprocess.run([hone, "conformance", case.parent], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert lost.returncode == ENVIRONMENT, lost
    assert lost.stderr.endswith("hone: cannot write to the standard output: No space left on device\n"), lost
    for _ in range(2):  # results beside a case are none of its files
        again = subprocess.run([hone, "conformance", case.parent, "--json", case.parent / "results.json"],
                               capture_output=True, text=True, check=False)
        assert again.returncode == THRESHOLD, again
    for sigpipe in (signal.SIG_DFL, signal.SIG_IGN):
        for answer in answers[:5]:
            check_closed_pipe([hone, *answer], sigpipe)


def check_closed_pipe(command, sigpipe):
    """Who has read enough closes the pipe: nothing more to say."""
    reader, writer = os.pipe()
    os.close(reader)
    ending = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
                            restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, sigpipe))
    os.close(writer)
    assert ending.returncode == -signal.SIGPIPE and ending.stderr == "", f"{command}: {ending}"


def check_full_disk(hone, folder, work):
    for command in commands(hone, work)[:3]:
        output = folder / "out.npz"
        # The output of `run` is just above the limit: 1000 logits of 4 bytes, and the header of the file.
        fails([*command, output], "File too large", preexec_fn=full_disk)
        assert not list(folder.iterdir()), f"{command} left {list(folder.iterdir())}"
    fails([hone, "bench", "squeezenet1_1", "--backends", "reference", "--batches", 1, "--precisions", "fp32",
           "-o", folder], "File too large", preexec_fn=full_disk)
    for file in folder.iterdir():  # what was measured before, complete
        assert json.loads(file.read_text())["schema"] == "hone.bench", file
        file.unlink()


def check_interrupt(hone, folder, work):
    """Ctrl-C on a terminal, once work has begun."""
    slow = [[hone, "build", "vgg16", "--noTimingCache", "-o", folder / "out.hone"],
            [hone, "run", "vgg16", "--backend", "reference", "--input", work / "image.npy", "-o",
             folder / "out.npz"]]
    for command in slow:
        parent, child = pty.openpty()
        process = subprocess.Popen(list(map(str, command)), stdin=child, stdout=child, stderr=child,
                                   start_new_session=True)
        os.close(child)
        time.sleep(2)
        assert process.poll() is None, f"{command}: ended before it could be interrupted"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == -signal.SIGINT, command
        assert "hone:" not in drain(parent), command
        assert not list(folder.iterdir()), f"{command} left {list(folder.iterdir())}"
    # A sweep that has measured nothing leaves no file that says so.
    sweep = subprocess.Popen([hone, "bench", "vgg16", "--backends", "hone", "-o", folder / "runs"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    time.sleep(2)
    sweep.send_signal(signal.SIGINT)
    said, _ = sweep.communicate(timeout=60)
    assert sweep.returncode == -signal.SIGINT and "interrupted before anything was measured" in said, (sweep.returncode, said)
    assert not (folder / "runs").exists(), list((folder / "runs").iterdir())


def drain(terminal):
    """What was written; the end of a terminal is an error."""
    text = b""
    try:
        while chunk := os.read(terminal, 65536):
            text += chunk
    except OSError:
        pass
    os.close(terminal)
    return text.decode()


def main():
    hone = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder, work = pathlib.Path(name) / "results", pathlib.Path(name) / "work"
        folder.mkdir()
        work.mkdir()
        np.save(work / "image.npy", np.zeros((1, 3, 224, 224), np.float32))
        shutil.copy(pathlib.Path(sys.argv[2]) / "digits.onnx", work)
        (work / "trace.json").write_text(json.dumps({"traceEvents": [
            {"ph": "X", "name": "work", "cat": "user_annotation", "pid": 1, "tid": 1, "ts": 0, "dur": 5}]}))
        check_bad_places(hone, folder, work)
        check_standard_output(hone, work)
        check_full_disk(hone, folder, work)
        check_interrupt(hone, folder, work)


if __name__ == "__main__":
    main()
