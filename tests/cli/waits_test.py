"""Threads of hone's own process wait for each other briefly, unless the user says how; programs that it starts keep
what they would have without it.

usage: waits_test.py HONE
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HONE = sys.argv[1]
BRIEF = "GOMP_SPINCOUNT=2000"


def environment(**more):
    names = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    return {name: value for name, value in os.environ.items() if name not in names} | more


def own_environment(**more):
    """What a process of hone was started with in the end, while it waits for a request."""
    with subprocess.Popen([HONE, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=environment(**more)) as worker:
        worker.stdin.write(b"{}\n")
        worker.stdin.flush()
        worker.stdout.readline()  # it runs by now
        variables = pathlib.Path(f"/proc/{worker.pid}/environ").read_text().split("\0")
        worker.stdin.close()
        worker.wait()
    return [variable for variable in variables if variable.startswith(("GOMP_", "OMP_WAIT"))]


def environment_of_a_peer():
    with tempfile.TemporaryDirectory() as folder:
        seen = pathlib.Path(folder, "environment")
        subprocess.run([HONE, "bench", "resnet18", "--backends", "other", f"--peer=other=env > {seen}; exit 1", "-o", folder],
                       capture_output=True, env=environment(), check=False)
        return seen.read_text()


def main():
    assert own_environment() == [BRIEF], own_environment()
    for name, value in ("OMP_WAIT_POLICY", "passive"), ("GOMP_SPINCOUNT", "7"):
        assert own_environment(**{name: value}) == [f"{name}={value}"]
    inherited = environment_of_a_peer()
    assert "PATH=" in inherited and "GOMP_" not in inherited and "HONE_WAITS" not in inherited, inherited


main()
