#!/usr/bin/env python3
"""Compares two calibration caches of TensorRT tensor by tensor: TensorRT's own beside hone's of the same model and data.

usage: compare_calibration.py THEIRS OURS [--worst N] [--within PERCENT]

Prints how many ranges agree within so many percent (1), the spread of the ratios, the tensors that differ most, and those
that only one of the two names. A range is the largest magnitude that a tensor's int8 stands for, 127 times the scale in the
file. Exit code 5 where a tensor differs by more.
"""
import argparse
import statistics
import struct
import sys

LEVELS = 127


def read(path):
    """The first line, and the range of each tensor."""
    with open(path, encoding="utf-8") as file:
        header, *lines = file.read().splitlines()
    if not header.startswith("TRT-"):
        sys.exit(f"{path} is no calibration cache of TensorRT")
    ranges = {}
    for line in lines:
        if line.strip():
            name, _, digits = line.rpartition(": ")
            ranges[name] = LEVELS * struct.unpack(">f", bytes.fromhex(digits))[0]
    return header, ranges


def main():
    parser = argparse.ArgumentParser(description="Compares calibration caches tensor by tensor.")
    parser.add_argument("theirs")
    parser.add_argument("ours")
    parser.add_argument("--worst", type=int, default=12)
    parser.add_argument("--within", type=float, default=1)
    options = parser.parse_args()
    (theirs_header, theirs), (ours_header, ours) = read(options.theirs), read(options.ours)
    print(f"{options.theirs}: {theirs_header}, {len(theirs)} tensors\n{options.ours}: {ours_header}, {len(ours)} tensors")
    both = [name for name in theirs if name in ours]
    for path, names in ((options.theirs, theirs.keys() - ours.keys()), (options.ours, ours.keys() - theirs.keys())):
        if names:
            print(f"only in {path}: {len(names)} ({', '.join(sorted(names)[:6])}{', …' if len(names) > 6 else ''})")
    if not both:
        sys.exit("no tensor is in both")
    ratios = {name: ours[name] / theirs[name] for name in both}
    far = [name for name in both if abs(ratios[name] - 1) > options.within / 100]
    print(f"{len(both) - len(far)} of {len(both)} ranges agree within {options.within:g} %; ours over theirs: "
          f"median {statistics.median(ratios.values()):.4f}, {min(ratios.values()):.4f} to {max(ratios.values()):.4f}")
    for name in sorted(far, key=lambda name: -abs(ratios[name] - 1))[:options.worst]:
        print(f"  {name}: theirs {theirs[name]:.6g}, ours {ours[name]:.6g}, {100 * (ratios[name] - 1):+.2f} %")
    return 5 if far else 0


if __name__ == "__main__":
    sys.exit(main())
