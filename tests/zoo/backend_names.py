"""The backends of a program that run on this machine's CPU."""
import subprocess


def backends(hone):
    listing = subprocess.run([hone, "backends"], capture_output=True, text=True, check=True).stdout
    # torch-graph never runs on the CPU.
    return [line.split()[0] for line in listing.splitlines()
            if "not available" not in line and not line.startswith("torch-graph ")]
