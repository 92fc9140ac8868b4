"""Records known_path on a GPU and holds its critical path against what the program says of itself, within 2 %.

usage: known_path_test.py HONE KNOWN_PATH

Without a GPU: exit code 4, and the reason.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

NO_DEVICE = 4
TOLERANCE = 0.02
# Each kernel is launched once before, to be loaded.
LOADING = 10_000


def run(command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)


def main():
    hone, program = sys.argv[1:]
    alone = run([program])
    if alone.returncode == NO_DEVICE and not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print(f"SKIPPED: this machine has no NVIDIA GPU ({alone.stderr.strip()})")
        sys.exit(NO_DEVICE)
    if alone.returncode != 0:
        sys.exit(f"{program} ended with exit code {alone.returncode}: {alone.stderr}")
    expected = {name: int(time) for name, time in (line.rsplit(" ", 1) for line in alone.stdout.splitlines())}
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "known_path.sqlite"
        recorded = run([hone, "profile", "-o", trace, "--", program])
        if recorded.returncode != 0:
            sys.exit(f"hone profile ended with exit code {recorded.returncode}: {recorded.stderr}")
        analysis = json.loads(run([hone, "analyze", trace, "--json"]).stdout)
    path = {}
    for function in analysis["dependencies"]["critical_path"]["functions"]:
        for name in expected:
            if f"::{name}(" in function["name"]:
                path[name] = function["critical_path_ns"]
    wrong = []
    for name, time in expected.items():
        if name.startswith("<"):
            causes = analysis["idle"]["devices"][0]["causes"]
            found = sum(cause["time_ns"] for cause in causes if cause["cause"] == "host_other")
            allowed = 0.1 * time  # a sleep is never shorter than asked for, and the host does little else
        else:
            found = path.get(name, 0)
            allowed = TOLERANCE * time + LOADING
        print(f"{name}: {found / 1e6:.3f} ms on the path, {time / 1e6:.3f} expected")
        if abs(found - time) > allowed:
            wrong.append(name)
    sys.exit(f"wrong: {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
