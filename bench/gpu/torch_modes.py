#!/usr/bin/env python3
"""Times the networks of export_models.py in PyTorch's fastest modes, in fp16 on a GPU.

usage: torch_modes.py [--batch N] [--modes graph,reduce-overhead,max-autotune-no-cudagraphs] NAME…

Each mode runs inside one CUDA graph, so that a time is that of the kernels. A process compiles first and then
waits for the lock beside this file's name in the temporary folder, so that several may compile at once and take
turns on the GPU. One line a network and mode: name, batch, mode, median and quartiles in milliseconds.
"""
import argparse
import fcntl
import os
import statistics
import tempfile

import torch

from export_models import MODELS

REPEATS = 200


def captured(function):
    """A CUDA graph of one call."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph


def time_graph(graph):
    for _ in range(20):
        graph.replay()
    times = []
    for _ in range(REPEATS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.quantiles(times, n=4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--modes", default="graph,reduce-overhead")
    options = parser.parse_args()
    for name in options.names:
        torch.manual_seed(0)
        model, inputs = MODELS[name]()
        model = model.eval().cuda().half()
        inputs = [x.repeat(options.batch, *[1] * (x.dim() - 1)).cuda() for x in inputs]
        inputs = [x.half() if x.is_floating_point() else x for x in inputs]
        if all(x.dim() == 4 for x in inputs):
            model, inputs = model.to(memory_format=torch.channels_last), [x.to(memory_format=torch.channels_last) for x in inputs]
        for mode in options.modes.split(","):
            function = model
            if mode != "graph":
                # The graph is captured here, alike for all modes.
                settings = {"max_autotune": True} if mode.startswith("max-autotune") else {}
                function = torch.compile(model, options=settings)
            try:
                with torch.inference_mode():
                    graph = captured(lambda: function(*inputs))
                    with open(os.path.join(tempfile.gettempdir(), "torch_modes.lock"), "w") as lock:
                        fcntl.flock(lock, fcntl.LOCK_EX)
                        low, middle, high = time_graph(graph)
                print(f"{name} {options.batch} {mode} {middle:.4f} {low:.4f} {high:.4f}", flush=True)
            except Exception as error:  # one network that a mode cannot take costs the others nothing
                print(f"{name} {options.batch} {mode} {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", flush=True)


if __name__ == "__main__":
    main()
