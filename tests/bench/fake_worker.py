#!/usr/bin/env python3
"""A worker for the tests of the benchmark: speaks the protocol well or fails in the way its argument names.

usage: fake_worker.py MODE [LATENCY_MS]
"""
import json
import os
import signal
import sys
import time

MODE = sys.argv[1]
LATENCY_S = (float(sys.argv[2]) if len(sys.argv) > 2 else 1.0) / 1e3


def answer(request, **fields):
    print(json.dumps({"id": request["id"], "type": request["type"], **fields}), flush=True)


def report_steady(request):
    """Claims runs of exactly the given latency without making them."""
    count = max(1, min(request["runs"], int(request["seconds"] / LATENCY_S)))
    answer(request, latencies_ms=[1e3 * LATENCY_S] * count, wall_ms=1e3 * LATENCY_S * count)


def run_block(request):
    latencies = []
    start = time.monotonic()
    while not latencies or (len(latencies) < request["runs"] and time.monotonic() - start < request["seconds"]):
        before = time.monotonic()
        time.sleep(LATENCY_S)
        latencies.append(1e3 * (time.monotonic() - before))
    answer(request, latencies_ms=latencies, wall_ms=1e3 * (time.monotonic() - start))


def write_outputs(request, inputs):
    """The output is the input, scaled by 1.5 in mode 'wrong' and not a number in mode 'nan'."""
    sets = []
    for index in request["sets"]:
        source = inputs[0]
        count = 1
        for dimension in source["shape"]:
            count *= dimension
        with open(source["file"], "rb") as file:
            file.seek(source["offsets"][index])
            data = file.read(4 * count)
        if MODE in ("wrong", "nan"):
            import struct
            values = struct.unpack(f"<{count}f", data)
            scale = 1.5 if MODE == "wrong" else float("nan")
            data = struct.pack(f"<{count}f", *[scale * value for value in values])
        path = os.path.join(request["folder"], f"out_{index}.bin")
        with open(path, "wb") as file:
            file.write(data)
        shape = [count] if MODE == "flat" else source["shape"]
        sets.append([{"name": "y", "dtype": "float32", "shape": shape, "file": path}] * (2 if MODE == "twice" else 1))
    answer(request, outputs=sets)


def fail(request):
    """Misbehaves at the first sample request, as MODE says."""
    if MODE == "crash":
        print("about to crash", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if MODE == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "exit":
        print("cannot find libfoo.so", file=sys.stderr, flush=True)
        sys.exit(7)
    if MODE == "hang":
        time.sleep(1000)
    if MODE == "garbage":
        for _ in range(2000):
            print("{]garbage", flush=True)
        time.sleep(1000)
    if MODE == "memory":
        print(json.dumps({"id": request["id"], "type": "error", "kind": "environment", "message": "out of memory"}),
              flush=True)
    if MODE == "bug":
        print(json.dumps({"id": request["id"], "type": "error", "kind": "internal", "message": "a kernel faulted"}),
              flush=True)
    if MODE == "nonsense":
        answer(request, latencies_ms="fast", wall_ms=1)
    if MODE == "timeless":
        answer(request, latencies_ms=[1.0], wall_ms=0)
    if MODE == "zero":
        answer(request, latencies_ms=[0.0], wall_ms=1)
    if MODE == "other":
        print(json.dumps({"id": 99, "type": "sample"}), flush=True)
    if MODE == "named":
        print(json.dumps({"id": "the last one", "type": "sample"}), flush=True)
    if MODE == "unkind":
        print(json.dumps({"id": request["id"], "type": "error", "kind": 7, "message": "no idea"}), flush=True)


def trace(request):
    """Runs of 1 us with one operator each; mode 'silent' leaves out all that may be missing, mode 'telling' nothing."""
    start = time.monotonic_ns()
    runs = [[start + 2000 * i, start + 2000 * i + 1000] for i in range(request["runs"])]
    fields = {"process": os.getpid(), "thread": 77, "runs": runs, "names": [], "ranges": [], "steps": []}
    if MODE == "telling":
        step = {"kind": "Relu", "tactic": "direct", "sources": [], "inputs": [], "outputs": [], "flops": 0, "bytes": 0}
        rivals = [{"tactic": "direct", "time_us": 2.5, "chosen": True},
                  {"tactic": "winograd", "layout": "plain", "refusal": "no 3x3"}]
        fields["steps"] = [{"name": "a", **step}, {"name": "b", **step, "predecessors": [0], "rivals": rivals}]
        shapes, types = (1, 2) if request["record_shapes"] else (-1, -1)
        fields["names"] = ["aten::relu", "[[2,6]]", '["float"]']
        fields["operators"] = [[0, 77, begin + 100, end - 100, -1, shapes, types] for begin, end in runs]
        if request["profile_memory"]:
            fields["allocations"] = [[begin + 200, 77, -1, 4096, 48, 48, -1] for begin, _ in runs]
            fields["allocations"] += [[end - 50, 77, -1, 4096, -48, 0, -1] for _, end in runs]
    if request.get("record_device"):
        fields["device_record"] = device_record(runs)
    answer(request, **fields)


def device_record(runs):
    """In each run of 1 us a copy, a kernel of step 'a', 300 ns, and the wait for it."""
    device = {"name": "GPU", "uuid": "GPU-1", "ordinal": 1, "memory_bytes": 1000, "compute_major": 9, "compute_minor": 0,
              "multiprocessors": 132, "warp_size": 32, "threads_per_multiprocessor": 2048,
              "registers_per_multiprocessor": 65536, "shared_bytes_per_multiprocessor": 233472,
              "blocks_per_multiprocessor": 32}
    texts = ["cudaMemcpyAsync", "cudaGraphLaunch", "cudaStreamSynchronize", "_Z4gemmIfEvi", "a"]
    calls, work = [], []
    for i, (start, _) in enumerate(runs):
        calls += [[0, 77, start, start + 50, 0], [1, 77, start + 50, start + 100, 0], [2, 77, start + 100, start + 900, 1]]
        work += [[1, -1, start + 60, start + 160, 3 * i, -1, -1, 4096],
                 [0, 3, start + 200, start + 500, 3 * i + 1, 0, 0, 0]]
    launch = [4, 1, 1, 128, 1, 1, 2, 1, 1, 64, 1024, 2048, 0, 1]
    return {"device": device, "texts": texts, "calls": calls, "work": work, "launches": [launch], "nodes": [[4]],
            "notes": ["timed by itself"]}


def tuning():
    """In mode 'tuning' the first worker times candidates; later ones find what it chose in the cache, and none in mode
    'forgetful'."""
    if MODE == "forgetful":
        return {"tuned": True}
    if MODE != "tuning":
        return {}
    marker = os.path.join(os.environ["HONE_CACHE_DIR"], "tuned")
    if os.path.exists(marker):
        return {"notes": ["choices from the cache"], "load_ms": 2.0}
    with open(marker, "w"):
        pass
    return {"notes": ["timed candidates"], "load_ms": 9000.0, "tuned": True}


GOOD_MODES = ("good", "noisy", "wrong", "nan", "flat", "twice", "old", "gpu", "telling", "silent", "timing", "tuning", "forgetful")
# The features and the bus id of a worker on a GPU.
FEATURES = {"features": ["phases", "pipeline", "cold_l2"], "bus_id": "0000:1b:00.0"} if MODE in ("gpu", "swift") else {}
if MODE in ("telling", "silent"):
    FEATURES = {"features": ["trace"]}
if MODE == "timing":
    FEATURES = {"features": ["trace", "device_times"]}
DEVICE = {"planned": 10000000, "allocated": 11000000, "peak_allocated": 12000000, "driver": 13000000}

inputs = []
for line in sys.stdin:
    request = json.loads(line)
    kind = request["type"]
    if MODE == "mute":
        continue
    if MODE == "noisy":
        print("a library says hello\n{\"not\": \"an answer\"}", flush=True)
    if kind == "hello" and MODE == "nameless":
        answer(request, protocol=1, backend=MODE)
    elif kind == "hello":
        answer(request, protocol=99 if MODE == "old" else 1, backend=MODE, version="1.2")
    elif kind == "load":
        inputs = request["inputs"]
        answer(request, **{"notes": [f"loaded {request['precision']}"], "load_ms": 1.0, **FEATURES, **tuning()})
    elif kind == "accuracy":
        write_outputs(request, inputs)
    elif kind == "memory":
        memory = {"device": DEVICE, "engine_file": 3000000} if FEATURES else {}
        answer(request, weights=1000000, activations=2000000, **memory)
    elif kind == "phases":
        runs = int(request["seconds"] / LATENCY_S) if MODE == "swift" else 3
        answer(request, h2d_ms=[0.5] * runs, enqueue_ms=[0.1] * runs, device_ms=[1e3 * LATENCY_S] * runs, d2h_ms=[0.0] * runs)
    elif kind == "trace":
        trace(request)
    elif kind == "pipeline":
        answer(request, runs=8, wall_ms=4e3 * LATENCY_S)
    elif kind == "quit":
        sys.exit(0)
    elif MODE in ("steady", "swift"):
        report_steady(request)
    elif kind == "sample" and MODE not in GOOD_MODES:
        fail(request)
    else:
        run_block(request)
