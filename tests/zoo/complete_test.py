"""Every built-in architecture is compared with another implementation.

usage: complete_test.py HONE COMPARED...

The program names its architectures where it is asked for a model that is none.
"""
import re
import subprocess
import sys

hone, *compared = sys.argv[1:]
refusal = subprocess.run([hone, "run", "no_such_model"], capture_output=True, text=True, check=False).stderr
names = re.search(r"architectures are ([\w, ]+)", refusal)
assert names, f"no architectures in: {refusal}"
missing = set(names[1].split(", ")) - set(compared)
sys.exit(f"compared with nothing: {', '.join(sorted(missing))}" if missing else 0)
