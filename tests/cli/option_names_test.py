"""Names of options as people type them, help in groups, the man page and completions.

usage: option_names_test.py HONE MODELS_DIGITS
"""
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import fcntl
import termios

import numpy as np

HONE, DIGITS = sys.argv[1], str(pathlib.Path(sys.argv[2]) / "digits.onnx")
USAGE = 2


def hone(*arguments, code=0, **options):
    ending = subprocess.run([HONE, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300, **options)
    assert ending.returncode == code, f"{arguments}: {ending.returncode}: {ending.stdout}{ending.stderr}"
    return ending.stdout + ending.stderr


def on_terminal(columns, *arguments):
    """What a terminal of this width is shown."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen([HONE, *arguments], stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        text = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        process.wait()
    os.close(controller)
    return text.decode().replace("\r\n", "\n")


def check_aliases(folder):
    """One measurement under many names: each gives the same configuration."""
    base = ["--duration", "0.01", "--rounds", "1", "-o", folder]
    for words in (["--backends", "reference", "--precisions", "fp32", "--batches", "2"],
                  ["--backend", "reference", "--precision", "FP32", "--batch=2"],
                  ["--BACKENDS", "Reference", "--precision=fp32", "--batches=2", "--warmup-ms", "1"],
                  ["--backends", "reference", "--precisions", "fp32", "--shapes", "input:2x1x8x8", "--warmUp=1"]):
        text = hone("bench", DIGITS, *words, "--csv", *base)
        assert f"{DIGITS},reference,fp32,2,cpu," in text, text
    text = hone("bench", f"--onnx={DIGITS}", "--backends", "reference", "--batches", "1", "--device", "CPU", "--bf16", "--csv", *base,
                code=4)
    assert "the reference backend runs in fp32 only, not in bf16" in text, text
    engine = f"{folder}/a.hone"
    hone("build", f"--onnx={DIGITS}", f"--saveEngine={engine}", "--builder-optimization-level", "0", "--noTimingCache")
    hone("build", DIGITS, f"--saveEngine={engine}", "--fp32", "--builderOptimizationLevel=0", "--noTimingCache")
    hone("build", "--model", DIGITS, "--output", engine, "--bf16", "--builderOptimizationLevel=0", "--noTimingCache")
    # Without AVX-512 bf16 is emulated.
    assert re.search(r"bf16(-emulated)? engine", hone("inspect", engine))
    assert hone("version") == hone("--version") == hone("-v")


def check_sentences():
    for words, sentence in (
            (["bench", DIGITS, "--bachtes", "1"], "unknown option '--bachtes'; did you mean --batches?"),
            (["bench", DIGITS, "--batch-sizes", "1"], "unknown option '--batch-sizes'; did you mean --batches?"),
            (["bench", DIGITS, "--cpuThreads", "1"], "unknown option '--cpuThreads'; did you mean --threads?"),
            (["profile", DIGITS, "--activeIterations", "1"], "unknown option '--activeIterations'; did you mean --active?"),
            (["detect", "-m", DIGITS, "-i", "x.png"], "'-m' is an option of benchmark_app; here: the model, the first argument"),
            (["run", DIGITS, "--fp32"], "--input is required"),
            (["detect", DIGITS, "x.png", "--save"], "'--save' is an option of ultralytics; here: -o FILE"),
            (["bench", DIGITS, "--xyz", "1"], "unknown option '--xyz' (hone bench --help explains)"),
            (["bench", DIGITS, "--exportTimes=x"], "is an option of trtexec; here: hone profile MODEL, then hone convert"),
            (["profile", DIGITS, "--warmUp=100"], "milliseconds there; hone profile counts iterations: --warmup-iterations"),
            (["bench", DIGITS, "--duration"], "hone: --duration needs a value (hone bench --help explains)"),
            (["bench", DIGITS, "--batches"], "hone: --batches needs a value ("),
            (["profile", DIGITS, "--wait"], "hone: --wait needs a value ("),
            (["bench", DIGITS, "--duration", "1", "--duration", "2"], "hone: --duration takes one value, and was given several ("),
            (["bench", DIGITS, "--full", "--batches", "2"], "exclude each other ("),
            (["bench", DIGITS, "--max-regression", "5%"], "hone: --max-regression needs --baseline with it ("),
            ([], "hone: a command is missing (hone --help explains)"),
            (["ops", "conv"], "operator 'conv' is not known; did you mean Conv?"),
            (["ops", "BatchNormalisation"], "did you mean BatchNormalization?"),
            (["ops", "qqqqq"], "operator 'qqqqq' is not known; hone ops lists all"),
            (["analyze", "resnet50"], "resnet50 is a model, not a trace: hone profile resnet50 records one"),
            (["diff", DIGITS, "resnet50"], "are no traces: hone diff --accuracy"),
            (["analyze", "x", "--only", "layer"], "--only: 'layer' is none of summary, steps, gpu, metrics, layers, dependencies, "
             "idle, operators, transfers, memory, advice; did you mean layers?"),
            (["convert", "x", "y", "--to", "svg"], "--to: 'svg' is none of "),
            (["bech"], "unknown command 'bech'; did you mean bench?"),
            (["--precision", "fp16"], "unknown option '--precision'; options follow the command"),
            (["help", "buld"], "unknown command 'buld'; did you mean build?"),
            (["bench", DIGITS, "-o", "x.json"], "-o names the folder for the result file, and x.json looks like a file"),
            (["build", DIGITS, "-o", "-"], "an engine goes into a file"),
            (["build", DIGITS, "-o", "x.JSON"], "-o names the engine to write, and x.JSON is named like another kind of file: "
             "give -o x.hone"),
            (["export", DIGITS, "-o", "x.hone"], "give -o x.onnx"),
            (["quantize", DIGITS, "-o", "x.hone", "--calibrate", DIGITS.replace("digits.onnx", "held_out.npz")], "give -o x.onnx"),
            (["report", str(pathlib.Path(DIGITS).parent), "-o", "x.json"], "-o names the page to write"),
            (["partition", DIGITS, "--backends", "hone,reference", "-o", "x.onnx"], "-o names the partition to write"),
            (["profile", DIGITS, "-o", "x.sqlite"], "-o names the folder for the traces of a model, and x.sqlite looks like a file"),
            (["plot", "runs", "-o", "x.svg"], "-o names the folder for figures, and x.svg looks like a file"),
            (["convert", DIGITS, "x.json"], "the second argument names the folder for the converted files, and x.json looks like"),
            (["completion", "tcsh"], "completions are made for bash, zsh and fish, not for 'tcsh'")):
        text = hone(*words, code=USAGE)
        assert sentence in text, f"{words}: {text}"


def check_help():
    commands = [line.split()[0] for line in hone("--help").split("Commands:\n")[1].split("\n\n")[0].splitlines()
                if line.startswith("  ") and not line.startswith("   ")]
    assert len(commands) == 24, commands
    for command in commands:
        text = hone(command, "--help")
        assert text == hone("help", command)
        assert text.split("Examples:\n")[1].count("\n  ") >= 1 and text.count("\n  hone ") >= 2, text
        # A value has a word that says what it is, and a default is written as it would be typed.
        assert "TEXT" not in text and "default [" not in text, text
    assert hone("help") == hone("--help")
    no_columns = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    bench = hone("bench", "--help", env=no_columns)
    for words in (["bench"], ["profile"], ["build"]):
        assert "int8+fp16" in hone(*words, "--help") and "int8+bf16" in hone(*words, "--help"), words
    for group in ("Configurations:", "Where:", "How long and how often:", "Judgement:", "Results:"):
        assert f"\n{group}\n" in bench, bench
    assert re.search(r"\nTensorRT:\n  --tensorrt-level N", bench) and "\n  --weights FILE " in bench, bench
    vision = hone("detect", "--help")
    assert "Number of frames or images to read [at least 1]" in vision and "Factor for pixel values 0..255\n" in vision, vision
    assert not re.search(r"\bU?INT\b", bench) and "[1 to 64, default 1]" in bench and "default fp32]" in hone("profile", "--help"), bench
    assert commands[:4] == ["bench", "build", "run", "inspect"], commands
    for columns in (60, 80):
        for command in ("bench", "profile", "build"):
            longest = max(on_terminal(columns, command, "--help").split("Examples:")[0].splitlines(), key=len)
            assert len(longest) <= columns, f"{columns}: {longest}"
    for columns in (60, 80, 115):
        text = hone("bench", "--help", env={**os.environ, "COLUMNS": str(columns)})
        longest = max(text.split("Examples:")[0].splitlines(), key=len)
        assert columns - 15 < len(longest) <= columns, f"COLUMNS={columns}: {longest}"
    for wrong in ("", "0", "-5", "wide"):
        assert hone("bench", "--help", env={**os.environ, "COLUMNS": wrong}) == hone("bench", "--help", env=no_columns), wrong
    foreign = hone("help", "foreign")
    assert foreign == hone("--help", "foreign")
    assert "--saveEngine (build)" in foreign and "onnxruntime_perf_test" in foreign, foreign


def check_scripts(folder):
    page = hone("help", "man")
    assert page.startswith(".TH HONE 1") and ".B \\-\\-batches N..." in page, page[:400]
    if shutil.which("man"):
        (folder / "hone.1").write_text(page)
        shown = subprocess.run(["man", "-l", "--warnings", str(folder / "hone.1")], capture_output=True, text=True, check=True,
                               env={**os.environ, "MANWIDTH": "80", "MANPAGER": "cat"})
        assert shown.stderr == "", shown.stderr
    script = folder / "completion"
    script.write_text(hone("completion", "bash") + 'COMP_WORDS=(hone bench --bat); COMP_CWORD=2; _hone; echo "${COMPREPLY[@]}"\n'
                                                   'COMP_WORDS=(hone qua); COMP_CWORD=1; _hone; echo "${COMPREPLY[@]}"\n')
    done = subprocess.run(["bash", script], capture_output=True, text=True, check=True)
    assert done.stdout == "--batches\nquantize\n", done
    assert "complete -c hone -n '__fish_seen_subcommand_from bench' -l batches -r" in hone("completion", "fish")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.save(folder / "x.npy", np.zeros((1, 1, 8, 8), np.float32))
        check_sentences()
        check_help()
        check_scripts(folder)
        check_aliases(folder)


if __name__ == "__main__":
    main()
