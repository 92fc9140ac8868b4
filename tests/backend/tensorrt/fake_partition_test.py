"""Models split between backends on a GPU, with a fake TensorRT on a fake driver: what stays on the GPU, what goes over the
host, who takes what, and what is written and run again.

usage: fake_partition_test.py HONE FAKES MAJOR MODELS_DIGITS
"""
import json
import pathlib
import sys
import tempfile

import numpy
from fake_test import BAD_INPUT, ENVIRONMENT, USAGE, Fakes, Worker

BACKENDS = ("--device", "cuda", "--backends", "tensorrt,reference", "--min-block-size", "1")


def partition(fakes, model, *arguments, **variables):
    ending = fakes.run("partition", model, *BACKENDS, *arguments, "--json", **variables)
    assert ending.returncode == 0, ending.stderr
    return json.loads(ending.stdout)


def refusals(record):
    return {node["op"]: node["refusals"][0] for node in record["nodes"] if node["refusals"][0]}


def check_support(fakes, model):
    record = partition(fakes, model, "--dry-run", FAKE_TENSORRT_LACKS="MaxPool")
    assert list(refusals(record)) == ["MaxPool"] and refusals(record)["MaxPool"].endswith("has no MaxPool"), record["nodes"]
    # One refusal ends a parse: every node is found all the same.
    record = partition(fakes, model, "--dry-run", FAKE_TENSORRT_REFUSES="Relu")
    relus = [node for node in record["nodes"] if node["op"] == "Relu"]
    assert len(relus) > 1 and all(node["refusals"][0] == "the fake parser refuses it" for node in relus), relus
    assert refusals(record).keys() == {"Relu"}, refusals(record)
    assert refusals(partition(fakes, model, "--dry-run")) == {}
    fakes.refused(5, "tensorrt does not take the whole model: it refuses 2 of 10 nodes", "partition", model, *BACKENDS,
                  "--require-full", FAKE_TENSORRT_LACKS="MaxPool")
    fakes.refused(BAD_INPUT, "no backend takes node", "partition", model, "--device", "cuda", "--backends", "tensorrt",
                  FAKE_TENSORRT_LACKS="MaxPool")


def check_borders(record):
    """Of a partition with blocks of tensorrt on the GPU and of reference on the host."""
    backends = [block["backend"] for block in record["blocks"]]
    assert set(backends) == {"tensorrt", "reference"}, backends
    for border in record["borders"]:
        ends = {backends[end] for end in (border["from"], border["to"]) if end >= 0}
        over_host = "reference" in ends
        assert border["copies"] == (1 if over_host else 0), (border, backends)
        takes = border["to"] >= 0 and backends[border["to"]] == "reference"
        assert border["synchronisations"] == (1 if takes else 0), (border, backends)
        assert over_host or border["time_ms"] == 0, border


def check_measured(fakes, model, folder):
    file = folder / "p.json"
    ending = fakes.run("partition", model, *BACKENDS, "--measure", "-o", file, FAKE_TENSORRT_LACKS="MaxPool")
    assert ending.returncode == 0, ending.stderr
    assert "outputs differ from the reference's by" in ending.stdout, ending.stdout
    assert f"--device cuda --partition {file}" in ending.stdout, ending.stdout
    record = json.loads(file.read_text())
    assert record["device"] == "cuda" and record["measured"], record["times"]
    greedy = next(plan for plan in record["plans"] if plan["name"] == "greedy")
    assert greedy["measured_ms"] > 0 and greedy["samples"] > 0, greedy
    return file


def forced(fakes, model, file, split, **variables):
    """Writes a partition with these blocks: (backend, nodes)."""
    record = partition(fakes, model, "--dry-run", **variables)
    template = record["blocks"][0]
    record["blocks"] = [{**template, "backend": backend, "nodes": nodes} for backend, nodes in split]
    file.write_text(json.dumps(record))


def run(fakes, model, file, folder, right, **variables):
    copies = folder / "copies.txt"
    copies.unlink(missing_ok=True)
    ending = fakes.run("run", model, "--backend", f"partition:{file}", "--device", "cuda", "--input", folder / "images.npz", "-o",
                       folder / "own.npz", FAKE_CUDA_COPIES=str(copies), **variables)
    assert ending.returncode == 0, ending.stderr
    with numpy.load(folder / "own.npz") as archive:
        numpy.testing.assert_allclose(archive[archive.files[0]], right, rtol=1e-5, atol=1e-5)
    return [line.split()[0] for line in copies.read_text().splitlines()] if copies.exists() else []


def check_runs(fakes, model, folder, images, right):
    file = folder / "forced.json"
    forced(fakes, model, file, [("tensorrt", [0, 1, 2]), ("tensorrt", [3, 4, 5]), ("tensorrt", [6, 7, 8, 9])])
    copies = run(fakes, model, file, folder, right)
    assert copies == ["to-device", "to-host"], f"values between blocks left the GPU: {copies}"
    forced(fakes, model, file, [("tensorrt", [0, 1, 2]), ("reference", [3, 4]), ("tensorrt", [5, 6, 7, 8, 9])])
    copies = run(fakes, model, file, folder, right)
    assert copies == ["to-device", "to-host", "to-device", "to-host"], copies
    forced(fakes, model, file, [("reference", [0, 1, 2]), ("tensorrt", [3, 4, 5, 6, 7, 8, 9])])
    copies = run(fakes, model, file, folder, right)
    assert copies == ["to-device", "to-host"], copies
    # All of it may turn out to be faster on the host.
    on_host = folder / "on_host.json"
    forced(fakes, model, on_host, [("reference", list(range(10)))])
    assert run(fakes, model, on_host, folder, right) == []
    worker = Worker(fakes)
    loaded = worker.load(model, images, backend=f"partition:{file}")
    assert loaded["type"] == "load" and loaded["bus_id"] == "0000:1B:00.0", loaded
    assert any("block0: values go over the host: its backend computes there" in note for note in loaded["notes"]), loaded["notes"]
    assert len(worker.ask("sample", runs=3, seconds=10)["latencies_ms"]) == 3
    outputs = worker.ask("accuracy", sets=[0], folder=str(folder))["outputs"][0]
    numpy.testing.assert_allclose(numpy.fromfile(outputs[0]["file"], numpy.float32).reshape(right.shape), right, rtol=1e-5,
                                  atol=1e-5)
    worker.end()
    fakes.refused(ENVIRONMENT, "is a partition for cuda, not for cpu", "run", model, "--backend", f"partition:{file}", "--input",
                  folder / "images.npz", "-o", folder / "own.npz")


def check_refusals(fakes, model, file):
    fakes.refused(ENVIRONMENT, "the backend reference runs on the CPU, not on cuda", "partition", model, "--device", "cuda",
                  "--backends", "reference")
    fakes.refused(ENVIRONMENT, "this machine has 1 GPU, cuda:0", "partition", model, "--device", "cuda:3", "--backends",
                  "tensorrt,reference")
    fakes.refused(USAGE, "gpu", "partition", model, "--device", "gpu", "--backends", "tensorrt,reference")
    alone = ("--device", "cuda", "--backends", "tensorrt")
    fakes.refused(ENVIRONMENT, "out of memory", "partition", model, *alone, FAKE_CUDA_BYTES="100")
    fakes.refused(ENVIRONMENT, "block0 on tensorrt: TensorRT", "partition", model, *alone, FAKE_TENSORRT_FAILS="broken",
                  HONE_CACHE_DIR=str(fakes.folder / "other"))
    fakes.refused(ENVIRONMENT, "no NVIDIA driver is loaded", "run", model, "--backend", f"partition:{file}", "--device", "cuda",
                  "--input", fakes.folder / "images.npz", "-o", fakes.folder / "own.npz", LD_LIBRARY_PATH="")


def main():
    hone, fakes, major, digits = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    model = digits / "digits.onnx"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        faked = Fakes(hone, fakes, major, folder)
        (faked.library / f"libnvinfer_builder_resource.so.{faked.backends_line().split()[1]}").touch()
        with numpy.load(digits / "held_out.npz") as archive:
            images = archive["input"][:1].astype(numpy.float32)
        numpy.savez(folder / "images.npz", input=images)
        ending = faked.run("run", model, "--backend", "reference", "--input", folder / "images.npz", "-o", folder / "right.npz")
        assert ending.returncode == 0, ending.stderr
        with numpy.load(folder / "right.npz") as archive:
            right = archive[archive.files[0]]
        check_support(faked, model)
        # So much that the estimate leaves to the host only what it has to.
        check_borders(partition(faked, model, "--dry-run", "--batch", "2000", FAKE_TENSORRT_LACKS="MaxPool"))
        check_refusals(faked, model, check_measured(faked, model, folder))
        check_runs(faked, model, folder, images, right)
    print(f"TensorRT {major}, faked: support, borders, runs on the GPU and over the host, refusals of partitions")


if __name__ == "__main__":
    main()
