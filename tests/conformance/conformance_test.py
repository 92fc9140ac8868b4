"""Runs the generated ONNX cases on one backend; every case passes, or is skipped for the reason that skips.json gives.

usage: conformance_test.py HONE CASES BACKEND [DEVICE [PRECISION]]

Without that device: exit code 4, and the reason. CASES is generated when it is not there. A failing case, a skip that the list does not name, and a listed
case that is not skipped for its listed reason are all failures. In precisions other than fp32 the cases that ONE_OFF names may be off by one;
DIFFERENCES_OF_SQUARES may differ by more where bf16 is emulated.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generate_cases

ACCEPTED_REASONS = {"string type", "sequence type", "optional type", "training operator", "random operator"}


# Integers made of a number that was rounded on its way.
ONE_OFF = {"node/test_dynamicquantizelinear_expanded", "node/test_dynamicquantizelinear_max_adjusted_expanded",
           "node/test_dynamicquantizelinear_min_adjusted_expanded"}

# Variances as differences of squares. Where the CPU has no bf16, hone rounds every step's result to it, the squares among them; with AVX-512 some of
# these steps stay in float32.
DIFFERENCES_OF_SQUARES = {"node/test_layer_normalization_default_axis_expanded", "node/test_mvn_expanded"}
# Outputs are below 4: three roundings to bf16, of 2^-8 each.
MOST_DIFFERENCE = 3 * 4 / 256

NO_DEVICE = 4


def run(hone: str, cases: pathlib.Path, backend: str, device: str, precision: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        command = [hone, "conformance", str(cases), "--backend", backend, "--device", device,
                   "--precision", precision, "--json", str(result)]
        ending = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if device != "cpu" and ending.returncode == NO_DEVICE and not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
            print("SKIPPED: this machine has no NVIDIA GPU")
            sys.exit(NO_DEVICE)
        if ending.returncode not in (0, 5):
            sys.exit(f"{' '.join(command)} ended with exit code {ending.returncode}")
        return json.loads(result.read_text())


def is_one_off(case: dict) -> bool:
    return case["name"] in ONE_OFF and case["message"].endswith("by at most 1")


def is_difference_of_squares(case: dict) -> bool:
    told = re.search(r"by at most ([0-9.e+-]+)$", case["message"])
    return case["name"] in DIFFERENCES_OF_SQUARES and told is not None and float(told[1]) <= MOST_DIFFERENCE


def emulates_bf16(result: dict) -> bool:
    return result["device"] == "cpu" and result["precision"] == "bf16" and "avx512f" not in pathlib.Path("/proc/cpuinfo").read_text().split()


def complaints(result: dict, expected: dict) -> list:
    found = []
    skipped = {case["name"]: case["reason"] for case in result["cases"] if case["status"] == "skipped"}
    for case in result["cases"]:
        if case["status"] == "failed" and emulates_bf16(result) and is_difference_of_squares(case):
            continue
        if case["status"] == "failed" and not (result["precision"] != "fp32" and is_one_off(case)):
            found.append(f"{case['name']} failed: {case['message']}")
    for name, reason in skipped.items():
        if name not in expected:
            found.append(f"{name} was skipped ({reason}) and is not in skips.json")
    for name, reason in expected.items():
        if skipped.get(name) != reason:
            found.append(f"{name} stands in skips.json as '{reason}', but is {skipped.get(name, 'not skipped')}")
        if reason not in ACCEPTED_REASONS:
            found.append(f"{name}: '{reason}' is no accepted reason")
    return found


def main() -> None:
    if len(sys.argv) not in (4, 5, 6):
        sys.exit(__doc__)
    hone, cases, backend = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    device = sys.argv[4] if len(sys.argv) > 4 else "cpu"
    precision = sys.argv[5] if len(sys.argv) > 5 else "fp32"
    generate_cases.generate(cases)
    expected = json.loads((pathlib.Path(__file__).parent / "skips.json").read_text())
    result = run(hone, cases, backend, device, precision)
    found = complaints(result, expected)
    for line in found:
        print(line)
    node = [case for case in result["cases"] if case["name"].startswith("node/")]
    passed = sum(case["status"] == "passed" for case in node)
    print(f"conformance on {backend}, {device}, {precision}: {result['passed']} passed, {result['failed']} failed, "
          f"{sum(result['skipped'].values())} skipped; of {len(node)} node cases {passed} passed")
    if found:
        sys.exit(f"repeat with: {hone} conformance {cases} --backend {backend} --device {device} --precision {precision} "
                 "--filter NAME")


if __name__ == "__main__":
    main()
