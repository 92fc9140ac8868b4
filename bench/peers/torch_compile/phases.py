"""What a latency does not tell: the parts of a run by the GPU's clock, and an empty L2 cache."""
import time

import torch

from failure import WorkerError

# Keeps a GPU of 2 GHz busy for 2 ms: longer than the host needs to hand over a CUDA graph.
BUSY_CYCLES = 4_000_000


class CacheEviction:
    """Writes over twice the size of the device's L2 cache, and waits for it."""

    def __init__(self, device):
        properties = torch.cuda.get_device_properties(device)
        if not hasattr(properties, "L2_cache_size"):
            raise WorkerError("environment", f"PyTorch {torch.__version__} does not tell the size of the GPU's L2 cache")
        self.buffer = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device=device)

    def __call__(self):
        self.buffer.fill_(1)
        torch.cuda.synchronize()


def device_ms(work):
    """Milliseconds between events around `work`. The GPU is kept busy before, so that the host's part of it passes."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(BUSY_CYCLES)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def time_phases(network, inputs, evict):
    """The parts of one run, each in an execution of its own; `evict` empties the cache before that of the steps."""
    there = [torch.empty_like(tensor, device=network.device) for tensor in inputs]
    pinned = [tensor.pin_memory() for tensor in inputs]

    def copy_inputs():
        for target, source in zip(there, pinned):
            target.copy_(source, non_blocking=True)

    times = {"h2d_ms": device_ms(copy_inputs)}
    if evict:
        evict()
    times["device_ms"] = device_ms(network.launch)
    start = time.perf_counter()
    network.launch()
    times["enqueue_ms"] = 1e3 * (time.perf_counter() - start)
    network.synchronize()
    results = [value.float() for value in network.outputs()]
    hosts = [torch.empty_like(value, device="cpu").pin_memory() for value in results]

    def copy_outputs():
        for host, result in zip(hosts, results):
            host.copy_(result, non_blocking=True)

    times["d2h_ms"] = device_ms(copy_outputs)
    return times


def bus_id(device):
    """As docs/BENCHMARK.md has it, 0000:1b:00.0; empty where this PyTorch does not tell."""
    properties = torch.cuda.get_device_properties(device)
    if not hasattr(properties, "pci_bus_id"):
        return ""
    return f"{properties.pci_domain_id:04x}:{properties.pci_bus_id:02x}:{properties.pci_device_id:02x}.0"
