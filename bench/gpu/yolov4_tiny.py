#!/usr/bin/env python3
"""YOLOv4-tiny in any size as a cfg file, and what eager PyTorch takes for it.

usage: yolov4_tiny.py cfg WIDTH HEIGHT            prints a cfg; weights are not needed, hone makes some from a seed
       yolov4_tiny.py time CFG [--duration S]     latency in fp16, channels last, batch 1, input on the device

A latency is from the call to the end of the work on the GPU, seen by the host. Exit code 4, with the reason, where PyTorch
or a GPU is missing.
"""
import argparse
import statistics
import sys
import time
from pathlib import Path

ANCHORS = "10,14, 23,27, 37,58, 81,82, 135,169, 344,319"
CLASSES = 80


def cfg_text(width, height):
    parts = [f"[net]\nwidth={width}\nheight={height}\nchannels=3"]

    def convolution(filters, size, stride=1):
        parts.append(f"[convolutional]\nbatch_normalize=1\nfilters={filters}\nsize={size}\nstride={stride}\npad=1\nactivation=leaky")

    def route(layers, half=""):
        parts.append(f"[route]\nlayers={layers}{half}")

    def head(mask):
        parts.append(f"[convolutional]\nfilters={3 * (CLASSES + 5)}\nsize=1\nactivation=linear")
        parts.append(f"[yolo]\nmask={mask}\nclasses={CLASSES}\nnum=6\nscale_x_y=1.05\nnms_kind=greedynms\nbeta_nms=0.6\nanchors={ANCHORS}")

    convolution(32, 3, 2)
    convolution(64, 3, 2)
    for filters in (64, 128, 256):
        convolution(filters, 3)
        route("-1", "\ngroups=2\ngroup_id=1")
        convolution(filters // 2, 3)
        convolution(filters // 2, 3)
        route("-1,-2")
        convolution(filters, 1)
        route("-6,-1")
        parts.append("[maxpool]\nsize=2\nstride=2")
    convolution(512, 3)
    convolution(256, 1)
    convolution(512, 3)
    head("3,4,5")
    route("-4")
    convolution(128, 1)
    parts.append("[upsample]\nstride=2")
    route("-1,23")
    convolution(256, 3)
    head("1,2,3")
    return "\n".join(parts) + "\n"


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(4)


def time_eager(cfg, duration):
    try:
        import torch
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models" / "shapes"))
        from network import Network
    except ImportError as error:
        skip(f"eager PyTorch cannot be timed: {error}")
    if not torch.cuda.is_available():
        skip("PyTorch sees no GPU")
    network = Network(cfg).eval().cuda().half().to(memory_format=torch.channels_last)
    image = torch.rand(1, 3, network.height, network.width, device="cuda", dtype=torch.float16)
    image = image.to(memory_format=torch.channels_last)
    torch.backends.cudnn.benchmark = True
    with torch.inference_mode():
        for _ in range(50):
            network(image)
        torch.cuda.synchronize()
        times, end = [], time.perf_counter() + duration
        while time.perf_counter() < end or len(times) < 50:
            start = time.perf_counter()
            network(image)
            torch.cuda.synchronize()
            times.append(1000 * (time.perf_counter() - start))
    times.sort()
    p50 = statistics.median(times)
    print(f"eager PyTorch {torch.__version__}, fp16, channels last, {network.width} x {network.height}: "
          f"p50 {p50:.3f} ms, p95 {times[int(0.95 * len(times))]:.3f} ms, {1000 / p50:.1f} FPS, n {len(times)}")


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    text = commands.add_parser("cfg")
    text.add_argument("width", type=int)
    text.add_argument("height", type=int)
    timed = commands.add_parser("time")
    timed.add_argument("cfg")
    timed.add_argument("--duration", type=float, default=2)
    arguments = parser.parse_args()
    if arguments.command == "cfg":
        print(cfg_text(arguments.width, arguments.height), end="")
    else:
        time_eager(arguments.cfg, arguments.duration)


if __name__ == "__main__":
    main()
