"""Networks with constant weights, and our own cases of operators, by the engine on a device, beside the reference.

usage: device_cases_test.py HONE CHECK SCRIPTS DEVICE PRECISION

First as a build runs them, then by every tactic, which the program CHECK does. SCRIPTS is the folder of the tests that
write the operators' cases. Without that device: exit code 4, and the reason.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import network_cases

NO_DEVICE = 4
# In fp32: two sums of k products differ by up to u sqrt(k) of their terms' size, here at most 4; 1800 terms (5 x 5 of
# 64 channels and a layer in front), and minimal filtering, which multiplies that by up to 10 (Barabasz et al. 2020).
ABSOLUTE = 2.0 ** -24 * 1800 ** 0.5 * 4 * 10
RELATIVE = 1e-5  # as the scripts that write the operators' cases allow


def expect_parts_to_be_all(check, arguments):
    """Two processes with a part each take every round once."""
    rounds = []
    for part in ("1/2", "2/2"):
        ended = subprocess.run([check, "--once", "--part", part, *arguments], capture_output=True, text=True, check=True)
        rounds.append(re.findall(r"(\w+), (\S+): round (\d+) of (\d+)", ended.stdout))
    taken = {(name, layout, int(number)) for name, layout, number, _ in rounds[0] + rounds[1]}
    whole = {(name, layout, number + 1) for name, layout, _, of in rounds[0] for number in range(int(of))}
    if taken != whole or len(taken) != len(rounds[0]) + len(rounds[1]) or len(taken) < 4:
        sys.exit(f"two halves are not all rounds: {rounds}")
    ended = subprocess.run([check, "--part", "3/2", *arguments], capture_output=True, text=True, check=False)
    if ended.returncode == 0 or "--part takes K/N" not in ended.stderr:
        sys.exit(f"--part 3/2 is taken: {ended}")


def main():
    hone, check, scripts, device, precision = sys.argv[1:]
    if device != "cpu" and not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print("SKIPPED: this machine has no NVIDIA GPU")
        sys.exit(NO_DEVICE)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        network_cases.write_all(hone, pathlib.Path(scripts), folder)
        result = folder / "result.json"
        ending = subprocess.run([hone, "conformance", folder, "--backend", "hone", "--device", device, "--precision",
                                 precision, "--rtol", str(RELATIVE), "--atol", str(ABSOLUTE), "--json", result],
                                stdout=subprocess.DEVNULL, check=False)
        if ending.returncode not in (0, 5):
            sys.exit(f"hone conformance ended with exit code {ending.returncode}")
        cases = json.loads(result.read_text())["cases"]
        wrong = [case for case in cases if case["status"] != "passed"]
        for case in wrong:
            print(f"{case['name']} {case['status']}: {case.get('message', case.get('reason'))}")
        written = len(list(folder.rglob("model.onnx")))
        if wrong or len(cases) != written:
            sys.exit(f"{len(wrong)} of {written} cases failed, {written - len(cases)} did not run")
        print(f"{len(cases)} cases passed on {device} in {precision}", flush=True)
        arguments = [device, precision, str(RELATIVE), str(ABSOLUTE)]
        if device == "cpu":
            expect_parts_to_be_all(check, [*arguments, folder / "networks" / "conv_3x3"])
        sys.exit(subprocess.run([check, *arguments, folder], check=False).returncode)


if __name__ == "__main__":
    main()
