"""Exports the generated ONNX cases and checks the files: onnx.checker accepts each, and imported again each passes.

usage: export_test.py HONE CASES

Every case that is not in skips.json is written in opset 17, the newest that Debian's onnx.checker knows.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generate_cases


def export_all(hone: str, cases: pathlib.Path, skips: dict, folder: pathlib.Path) -> list:
    problems = []
    for model in sorted(cases.glob("*/*/model.onnx")):
        name = f"{model.parent.parent.name}/{model.parent.name}"
        if name in skips:
            continue
        target = folder / name
        shutil.copytree(model.parent, target)
        command = [hone, "export", str(model), "-o", str(target / "model.onnx"), "--opset", "17"]
        ending = subprocess.run(command, capture_output=True, text=True, check=False)
        if ending.returncode:
            problems.append(f"{name}: {ending.stderr.strip()}")
            shutil.rmtree(target)
            continue
        try:
            onnx.checker.check_model(str(target / "model.onnx"))
        except onnx.checker.ValidationError as error:
            problems.append(f"{name}: onnx.checker: {error}")
    return problems


def failures(hone: str, folder: pathlib.Path) -> list:
    result = folder / "result.json"
    subprocess.run([hone, "conformance", str(folder), "--json", str(result)], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    cases = json.loads(result.read_text())["cases"]
    return [f"{case['name']}: {case['status']} after export: {case.get('message', case.get('reason'))}"
            for case in cases if case["status"] != "passed"]


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    hone, cases = sys.argv[1], pathlib.Path(sys.argv[2])
    generate_cases.generate(cases)
    skips = json.loads((pathlib.Path(__file__).parent / "skips.json").read_text())
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        problems = export_all(hone, cases, skips, folder)
        problems += failures(hone, folder)
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f"{len(problems)} cases are not the same after export")


if __name__ == "__main__":
    main()
