"""What commands say to wrong arguments: one sentence, the right exit code, and before any work is done.

usage: misuse_test.py HONE MODELS_DIGITS
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

USAGE, BAD_INPUT, ENVIRONMENT = 2, 3, 4


def wrong_numbers(bench, profile, conformance, run, plot):
    """Commands, their flags, and values that cannot be: NaN is neither below nor above any bound."""
    return [(bench, "--duration", ["nan", "inf", "0"]), (bench, "--warmup", ["nan", "inf", "-1", "1e300"]),
            (bench, "--timeout", ["nan", "0"]), (bench, "--require-percentile", ["nan", "100"]),
            (profile, "--batch", ["0", "-1", "99999999999"]), (profile, "--threads", ["0", "-1", "100000"]),
            ([*profile, "--counters"], "--counter-rate", ["nan"]),
            (conformance, "--rtol", ["nan", "-1"]), (conformance, "--atol", ["inf"]),
            (conformance, "--timeout", ["0", "2000000000"]),
            (run, "--scale", ["nan", "inf"]), (plot, "--scale", ["nan"]), (plot, "--width", ["nan"])]


def empty_values(bench, profile, digits, image):
    """Commands with an option that is given nothing, and its name."""
    run = ["run", digits, "--input", image]
    rows = [(bench, "--baseline"), (bench, "--compare-to"), (bench, "--output"), (bench, "--max-regression"),
            (profile, "--capture-range"), (profile, "--kernels"), (profile, "--output"),
            (["build", digits], "--output"), (["build", digits], "--optShapes"),
            (["build", digits], "--timingCacheFile"), (run, "--mean"), (run, "--std"), (run, "--output"),
            (["export", digits], "--output"), (["export", digits], "--seed"), (["analyze", image], "--steps"),
            (["analyze", image], "--log-file"), (["analyze", image], "--rows"), (["view", "."], "--host"),
            (["report"], "--output")]
    return [*[([*command, flag, ""], flag) for command, flag in rows], (["report", ""], "inputs")]


def wrong_whole_numbers(digits, image):
    """CLI11 takes -1 for the largest number without a sign, and what is too large, too."""
    most = "18446744073709551616"
    return [(["export", digits], "--seed", ["-1", most, "x", "1.5"]), (["export", digits], "--opset", ["12", "23", "-1"]),
            (["build", digits], "--seed", ["-1"]), (["analyze", image], "--rows", ["-1", most, "0x10"]),
            (["diff", image, image], "--rows", ["-1"]), (["run", digits, "--input", image], "--top", ["0", "x", most]),
            (["run", digits, "--input", image], "--seed", ["-7"])]


def own_inputs(digits, engine, image, result, case):
    """Commands that would write over what they read, and the file."""
    return [(["build", digits, "-o", digits], digits), (["export", digits, "-o", digits], digits),
            (["export", "alexnet", "--weights", digits, "-o", digits], digits),
            (["run", engine, "--input", image, "-o", image], image),
            (["run", engine, "--input", f"input:{image}", "-o", image], image),
            (["report", result, "-o", result], result), (["analyze", result, "--log-file", result], result),
            (["conformance", case, "--json", f"{case}/model.onnx"], f"{case}/model.onnx"),
            (["conformance", case, "--json", f"{case}/test_data_set_0/input_0.pb"], f"{case}/test_data_set_0/input_0.pb"),
            (["profile", "-o", image, "--", "cat", image], image)]


def main():
    hone, digits = sys.argv[1], str(pathlib.Path(sys.argv[2]) / "digits.onnx")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.save(folder / "x.npy", np.zeros((1, 1, 8, 8), np.float32))
        (folder / "empty.onnx").touch()
        (folder / "folder.onnx").mkdir()
        (folder / "itself").symlink_to("itself")
        (folder / "trace.json").write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, '
                                           '"ts": 1, "dur": 1}]}')
        (folder / "nothing.json").write_text('{"traceEvents": []}')
        (folder / "to").mkdir()
        (folder / "to" / "gpu_trace.csv").write_text('{"traceEvents": []}')
        copy, image, trace = f"{name}/copy.onnx", f"{name}/x.npy", f"{name}/trace.json"
        shutil.copy(digits, copy)
        case = f"{name}/case"
        (folder / "case" / "test_data_set_0").mkdir(parents=True)
        shutil.copy(digits, f"{case}/model.onnx")
        (folder / "case" / "test_data_set_0" / "input_0.pb").touch()
        pipe, irregular = f"{name}/pipe", "this is not a regular file"
        for file in (pipe, f"{name}/pipe.hone", f"{name}/pipe.onnx"):
            os.mkfifo(file)
        out = ["-o", f"{name}/out.hone"]
        engine = f"{name}/digits.hone"
        subprocess.run([hone, "build", digits, "--builderOptimizationLevel", "0", "--noTimingCache", "-o", engine],
                       check=True, stdout=subprocess.DEVNULL)
        bench = ["bench", digits, "--backends", "reference", "-o", f"{name}/runs"]
        profile = ["profile", digits, "-o", f"{name}/runs"]
        rows = [
            (USAGE, "unknown command 'frobnicate' (hone --help explains)", ["frobnicate"]),
            *((BAD_INPUT, f"{name}/nothing.json: the trace holds no events; record it again", [*words, f"{name}/nothing.json", *rest])
              for words, rest in ((["analyze"], []), (["convert"], [f"{name}/converted"]), (["diff", trace], []))),
            (USAGE, "unknown command 'buld'; did you mean build?", ["buld"]),
            (USAGE, "unknown option '--batchs-szes'; did you mean --batches? (hone bench --help explains)", [*bench, "--batchs-szes", "3"]),
            (USAGE, "unknown option '--qqqq' (hone bench --help explains)", [*bench, "--qqqq", "3"]),
            (USAGE, "unknown option '--compare'; did you mean --compare-to?", [*bench, "--compare", "3"]),
            (USAGE, "'--avgRuns' is an option of trtexec; here: results hold every sample", [*bench, "--avgRuns=10"]),
            (USAGE, "one argument too many: 'b'", ["build", digits, "b", *out]),
            (USAGE, "--output is required", ["build", digits]),
            (USAGE, "a shape is written name:1x3x224x224, not 'x'", ["build", digits, *out, "--minShapes", "x"]),
            (USAGE, "'y' in the shape 'input:1xy' is no positive dimension",
             ["build", digits, *out, "--minShapes", "input:1xy"]),
            (USAGE, "the model has no input named 'x', its inputs are ",
             ["build", digits, *out, "--optShapes", "x:1x1x8x8"]),
            (BAD_INPUT, "the file is empty", ["build", f"{name}/empty.onnx", *out]),
            (BAD_INPUT, "it is a directory", ["build", f"{name}/folder.onnx", *out]),
            (BAD_INPUT, "it is a directory", ["build", name, *out]),
            (USAGE, "out.txt ends neither in .npz nor in .npy",
             ["run", digits, "--input", f"{name}/x.npy", "-o", f"{name}/out.txt"]),
            (USAGE, "--batch-size is '0', expected a whole number from 1 to 65536, as in --batch-size 1 (", ["export", "alexnet", *out, "--batch-size", "0"]),
            (USAGE, "--shapes names an input 'x', the first input of ",
             ["bench", digits, "--backends", "reference", "--shapes", "x:1x1x8x8", "-o", name]),
            (USAGE, "as 9, the model fixes it at 8",
             ["bench", digits, "--backends", "reference", "--shapes", "input:1x1x9x8", "-o", name]),
            (USAGE, "--duration is 'abc', expected a number from 0.001 to 1000000, as in --duration 3 (hone bench --help explains)",
             [*bench, "--duration", "abc"]),
            (USAGE, "--batches is 'x', expected a whole number from 1 to 65536, as in --batches 1 (", [*bench, "--batches", "1,x"]),
            (USAGE, "--require-percentile is 'x', expected a number from 50 to 99.9, as in --require-percentile 50",
             [*bench, "--percentile", "x"]),
            (USAGE, "--opset is '9', expected a whole number from 13 to 22, as in --opset ", ["export", digits, *out, "--opset", "9"]),
            (USAGE, "--max-regression 'much'", [*bench, "--baseline", digits, "--max-regression", "much"]),
            (USAGE, "--max-regression 'inf'", [*bench, "--baseline", digits, "--max-regression", "inf"]),
            (USAGE, "--max-regression needs --baseline with it", [*bench, "--max-regression", "5%"]),
            (USAGE, "write 5% or 0.05", [*bench, "--baseline", digits, "--max-regression", "5"]),
            *[(USAGE, f"{flag}: Value is empty", command)
              for command, flag in empty_values(bench, profile, digits, image)],
            *[(USAGE, f"{flag} is '{value}', expected a whole number from ", [*command, flag, value])
              for command, flag, values in wrong_whole_numbers(digits, image) for value in values],
            *[(USAGE, f"{flag} is '99999999999999999999', expected a whole number from {bounds}, as in {flag} ",
               ["run", digits, "--input", image, flag, "99999999999999999999"])
              for flag, bounds in (("--threads", "1 to 1024"), ("--top", "1 to 100000"),
                                   ("--seed", f"0 to {2**64 - 1}"))],
            *[(USAGE, f"{file}: the output is the input", command)
              for command, file in own_inputs(copy, engine, image, trace, case)],
            (USAGE, "/../copy.onnx: the output is the input", ["export", copy, "-o", f"{name}/to/../copy.onnx"]),
            (USAGE, "gpu_trace.csv: the output is the input",
             ["convert", f"{name}/to/gpu_trace.csv", f"{name}/to", "--to", "csv"]),
            (USAGE, "input 'input' is given two shapes, the second with 'input:2x1x8x8'",
             ["build", digits, *out, "--optShapes", "input:1x1x8x8,input:2x1x8x8"]),
            (BAD_INPUT, f"{name}/none is not a folder", ["conformance", f"{name}/none"]),
            (BAD_INPUT, f"{name}/itself is not a folder: Too many levels of symbolic links",
             ["conformance", f"{name}/itself"]),
            (BAD_INPUT, f"{'x' * 300} is not a folder: File name too long", ["conformance", "x" * 300]),
            (BAD_INPUT, f"{name}/to holds no ONNX test case", ["conformance", f"{name}/to"]),
            (BAD_INPUT, f"{image} is no file of tactic times", ["build", digits, *out, "--timingCacheFile", image]),
            (BAD_INPUT, f"{name}/none.json: there is no such file",
             ["build", digits, *out, "--timingCacheFile", f"{name}/none.json", "--errorOnTimingCacheMiss"]),
            *[(BAD_INPUT, f"{file}: {what}", ["build", digits, *out, "--timingCacheFile", file, *more])
              for file, what in ((name, "it is a directory"), (pipe, irregular), ("/dev/zero", irregular))
              for more in ([], ["--errorOnTimingCacheMiss"])],
            *[(USAGE, "new.hone: the engine would overwrite the timing cache",
               ["build", digits, "-o", f"{name}/new.hone", "--timingCacheFile", file])
              for file in (f"{name}/new.hone", f"{name}/to/../new.hone")],
            (USAGE, f"{trace}: the engine would overwrite the timing cache",
             ["build", digits, "-o", trace, "--timingCacheFile", trace]),
            *[(BAD_INPUT, f"{file}: {irregular}", command) for file in (f"{name}/pipe.onnx", f"{name}/pipe.hone")
              for command in (["run", file, "--input", image], ["inspect", file])],
            (ENVIRONMENT, "/proc", ["build", digits, *out, "--timingCacheFile", "/proc/times.json"]),
            *[(BAD_INPUT, f"{engine}: this is an engine, built already: hone run and hone inspect take it", command)
              for command in (["export", engine, *out], ["build", engine, *out])],
            *[(USAGE, f"{flag} is '{value}', expected a ", [*command, flag, value])
              for command, flag, values in wrong_numbers(
                  bench, profile, ["conformance", name], ["run", digits, "--input", f"{name}/x.npy"],
                  ["plot", name, "-o", f"{name}/plots"])
              for value in values],
            *[(USAGE, f"{flag} is for models: the engine {engine} was built with its own",
               ["run", engine, "--input", f"{name}/x.npy", flag, value])
              for flag, value in (("--backend", "torch"), ("--precision", "fp16"),
                                  ("--weights", "x"), ("--seed", "4"))],
            (USAGE, ", not for cuda", ["run", engine, "--input", f"{name}/x.npy", "--device", "cuda"]),
            *[(USAGE, f"{words[0]} is for building an engine: {engine} is built", ["inspect", engine, *words])
              for words in (["--precision", "bf16"], ["--optShapes", "foo:9"], ["--seed", "4"], ["--noTimingCache"])],
            *[(USAGE, f"{words[0]} is for models: a program after -- runs as it says itself",
               ["profile", "-o", f"{name}/x.sqlite", *words, "--", "true"])
              for words in (["--batch", "4"], ["--device", "cuda"], ["--backends", "torch"], ["--precisions", "fp16"],
                            ["--active", "3"], ["--warmup", "1"], ["--threads", "2"])],
            *[(USAGE, f"{flag} is for images: no --input is one", ["run", digits, "--input", image, flag, value])
              for flag, value in (("--resize", "100"), ("--crop", "8"), ("--scale", "1"), ("--mean", "0"), ("--std", "1"),
                                  ("--layout", "nchw"))],
            *[(USAGE, "--shapes gives input 'input' a batch of 2: --batches says which are run", [*words, "--shapes", "input:2x1x8x8"])
              for words in ([*bench[:-1], name, "--batches", "4"], profile, [*profile, "--batches", "1,2"])],
            (USAGE, "--markdown writes all operators: name none with it", ["ops", "Conv", "--markdown"]),
            (USAGE, "--gzip is for kineto and csv, not for trtexec",
             ["convert", "t", f"{name}/to", "--to", "trtexec", "--gzip"]),
            *[(USAGE, f"--whole-microseconds is for kineto, not for {to}",
               ["convert", "t", f"{name}/to", "--to", to, "--whole-microseconds"]) for to in ("trtexec", "csv")],
        ]
        before = sorted(folder.iterdir())
        for code, part, arguments in rows:
            ending = subprocess.run([hone, *arguments], capture_output=True, text=True, check=False, timeout=600)
            shown = f"hone {' '.join(arguments)}: {ending.returncode}: {ending.stderr}"
            assert ending.returncode == code and part in ending.stderr, shown
            assert ending.stderr.count("\n") == 1 and ending.stderr.startswith("hone: "), shown
            assert sorted(folder.iterdir()) == before, f"{shown} left {list(folder.iterdir())}"


if __name__ == "__main__":
    main()
