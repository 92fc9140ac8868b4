#!/usr/bin/env python3
"""Says whether memory grew while `hone bench` ran, from its result file; exit 1 when it did.

usage: growth.py RESULT.json

The device's memory must not change at all: everything is allocated once. The host's may by 1 MB, since the worker keeps the
latencies of a round until it has answered; a leak of 16 bytes a run shows from 100 000 runs on.
"""
import json
import sys

HOST_LIMIT_MB = 1.0


def main(path):
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)["runs"]
    grew = False
    for run in runs:
        growth = run["growth"]
        host = growth["resident_mb"][1] - growth["resident_mb"][0]
        device = growth["device_mb"][1] - growth["device_mb"][0] if growth["device_mb"] else 0.0
        grew = grew or host > HOST_LIMIT_MB or device > 0
        print(f"{run['model']} {run['backend']} {run['precision']}: {growth['runs']} runs, host {host:+.2f} MB, "
              f"device {device:+.2f} MB")
    print("memory grew" if grew else "no growth")
    return 1 if grew else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
