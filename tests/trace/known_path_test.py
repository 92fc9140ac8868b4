"""Records known_path on a GPU and holds its critical path against what the program says of itself, within 2 %, and the time in
which the GPU was idle while the host slept within 10 %.

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
    on_path = {function["name"]: function["critical_path_ns"]
               for function in analysis["dependencies"]["critical_path"]["functions"]}
    idle = sum(cause["time_ns"] for cause in analysis["idle"]["devices"][0]["causes"] if cause["cause"] == "host_other")
    wrong = []

    def compare(what, found, time, allowed):
        print(f"{what}: {found / 1e6:.3f} ms, {time / 1e6:.3f} expected")
        if abs(found - time) > allowed:
            wrong.append(what)

    for name, time in expected.items():
        if name.startswith("<"):
            # A sleep is never shorter than asked for, and the host does little else.
            compare(f"{name} while the GPU was idle", idle, time, 0.1 * time)
        else:
            found = sum(time_on_path for function, time_on_path in on_path.items() if f"::{name}(" in function)
            compare(f"{name} on the path", found, time, TOLERANCE * time + LOADING)
    sys.exit(f"wrong: {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
