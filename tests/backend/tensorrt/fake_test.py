"""TensorRT's backend with a fake library and a fake driver: loading, refusals, figures, layers, plans.

usage: fake_test.py HONE FAKES MAJOR MODELS_DIGITS
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

USAGE, BAD_INPUT, ENVIRONMENT = 2, 3, 4
SAMPLES = 4


class Fakes:
    """A folder with the fake library, and the environment in which hone finds it."""

    def __init__(self, hone, fakes, major, folder):
        self.hone, self.fakes, self.major, self.folder = hone, fakes, major, folder
        self.library = folder / "tensorrt"
        self.library.mkdir()
        shutil.copy(fakes / str(major) / f"libnvinfer.so.{major}", self.library)
        (self.library / f"libnvonnxparser.so.{major}").symlink_to(f"libnvinfer.so.{major}")
        self.environment = {**os.environ, "HONE_TENSORRT": str(self.library), "LD_LIBRARY_PATH": str(fakes / "cuda"),
                            "HONE_CACHE_DIR": str(folder / "cache"), "HOME": str(folder)}
        self.environment.pop("VIRTUAL_ENV", None)

    def run(self, *arguments, **variables):
        environment = {name: value for name, value in {**self.environment, **variables}.items() if value is not None}
        return subprocess.run([str(self.hone), *map(str, arguments)], capture_output=True, text=True, check=False,
                              env=environment)

    def refused(self, code, sentence, *arguments, **variables):
        ending = self.run(*arguments, **variables)
        assert ending.returncode == code, f"{arguments}: {ending.returncode} {ending.stderr}"
        assert sentence in ending.stderr, f"{arguments}: '{sentence}' is not in: {ending.stderr}"
        assert len(ending.stderr.strip().splitlines()) == 1, ending.stderr

    def backends_line(self, **variables):
        ending = self.run("backends", "--device", "cuda", **variables)
        assert ending.returncode == 0, ending.stderr
        return next(line for line in ending.stdout.splitlines() if line.startswith("tensorrt"))


class Worker:
    def __init__(self, fakes, **variables):
        self.process = subprocess.Popen([str(fakes.hone), "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**fakes.environment, **variables})
        self.id = 0

    def ask(self, kind, **request):
        self.id += 1
        self.process.stdin.write(json.dumps({"type": kind, "id": self.id, **request}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def load(self, model, images, precision="fp32", backend="tensorrt", **more):
        hello = self.ask("hello", protocol=1, backend=backend)
        assert hello["type"] == "hello", hello
        file = pathlib.Path(tempfile.mkstemp(suffix=".bin")[1])
        file.write_bytes(images.tobytes())
        shape = list(images.shape)
        answer = self.ask("load", model=str(model), backend=backend, precision=precision, batch=shape[0], device="cuda",
                          threads=1, onnx=None,
                          inputs=[{"name": "input", "dtype": "float32", "shape": shape, "file": str(file), "offsets": [0]}],
                          profiles=[{"input": [batch, *shape[1:]]} for batch in (1, shape[0])], **more)
        file.unlink()
        return answer

    def end(self):
        self.process.stdin.write('{"type": "quit"}\n')
        self.process.stdin.close()
        self.process.wait()


def check_loading(fakes, folder):
    line = fakes.backends_line()
    assert "Fake GPU, sm 9.0" in line and "cannot build: libnvinfer_builder_resource" in line, line
    version = line.split()[1]
    resource = fakes.library / f"libnvinfer_builder_resource.so.{version}"
    resource.touch()
    assert "builds and runs" in fakes.backends_line(), fakes.backends_line()
    resource.unlink()
    named = fakes.library / f"libnvinfer.so.{fakes.major}"
    assert version in fakes.backends_line(HONE_TENSORRT=str(named))
    # As Python's packages have it.
    packages = folder / ".local/lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    (packages / "tensorrt_libs").symlink_to(fakes.library)
    assert version in fakes.backends_line(HONE_TENSORRT=None, PATH="")
    (packages / "tensorrt_libs").unlink()
    assert "no TensorRT was found: install the Python package" in fakes.backends_line(HONE_TENSORRT=None, PATH="")
    assert "does not exist" in fakes.backends_line(HONE_TENSORRT=str(folder / "nothing"))
    empty = folder / "empty"
    empty.mkdir()
    assert "holds no libnvinfer.so.11" in fakes.backends_line(HONE_TENSORRT=str(empty))
    assert "is TensorRT 7.1.0, and this plugin is for" in fakes.backends_line(FAKE_TENSORRT_VERSION="7100")
    assert "no NVIDIA driver is loaded" in fakes.backends_line(LD_LIBRARY_PATH="")
    assert "no CUDA-capable device" in fakes.backends_line(FAKE_CUDA_GPUS="0")
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy(named, alone)
    assert "ONNX parser cannot be loaded" in fakes.backends_line(HONE_TENSORRT=str(alone))
    # Where only the CPU is asked about, the library is looked for all the same.
    ending = fakes.run("backends")
    assert "tensorrt     not available: the backend tensorrt runs on a GPU: give --device cuda" in ending.stdout, ending.stdout


def expected_outputs(fakes, model, images, folder):
    numpy.savez(folder / "images.npz", input=images)
    ending = fakes.run("run", model, "--backend", "reference", "--input", folder / "images.npz", "-o", folder / "right.npz")
    assert ending.returncode == 0, ending.stderr
    with numpy.load(folder / "right.npz") as archive:
        return archive[archive.files[0]]


def check_figures(fakes, model, images, right, folder):
    worker = Worker(fakes)
    loaded = worker.load(model, images, settings={"tensorrt.level": "2", "tensorrt.tactics": "edge,jit"})
    assert loaded["type"] == "load" and loaded["tuned"], loaded
    assert set(loaded["features"]) >= {"phases", "pipeline", "layers"} and loaded["bus_id"] == "0000:1B:00.0", loaded
    typing = "strong" if fakes.major == 11 else "weak (fp32)"
    assert f"builder level 2, types {typing}, tactic sources edge,jit, 2 optimization profiles" in loaded["notes"][0], loaded
    outputs = worker.ask("accuracy", sets=[0], folder=str(folder))["outputs"][0]
    got = numpy.fromfile(outputs[0]["file"], numpy.float32).reshape(outputs[0]["shape"])
    numpy.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)
    assert worker.ask("sample", runs=3, seconds=10)["latencies_ms"], "no latency"
    phases = worker.ask("phases", seconds=0)
    assert all(len(phases[part]) == 1 and phases[part][0] >= 0 for part in ("h2d_ms", "enqueue_ms", "device_ms", "d2h_ms"))
    assert phases["device_ms"][0] > 0, phases
    # The timed copies brought the inputs to the device.
    outputs = worker.ask("accuracy", sets=[0], folder=str(folder))["outputs"][0]
    numpy.testing.assert_allclose(numpy.fromfile(outputs[0]["file"], numpy.float32).reshape(right.shape), right, rtol=1e-5,
                                  atol=1e-5)
    assert worker.ask("pipeline", seconds=0)["runs"] >= 1
    memory = worker.ask("memory")
    assert memory["engine_file"] > 0 and memory["activations"] == 4096 and memory["device"]["driver"] > 0, memory
    layers = worker.ask("layers", runs=6)
    assert all(layer["times_ms"] == [0.25] * 6 and layer["nodes"] for layer in layers["layers"]), layers["layers"][:2]
    worker.end()
    again = Worker(fakes)
    loaded = again.load(model, images, settings={"tensorrt.level": "2", "tensorrt.tactics": "edge,jit"})
    assert not loaded["tuned"] and "before" in loaded["notes"][1], loaded
    again.end()


def flags_of(fakes, model, images, precision, **settings):
    worker = Worker(fakes)
    loaded = worker.load(model, images, precision, settings={f"tensorrt.{name}": value for name, value in settings.items()})
    if loaded["type"] == "error":
        worker.end()
        return loaded
    header = json.loads(worker.ask("layers", runs=1)["description"])
    worker.end()
    return {**header["Fake"], "layers": header["Layers"], "notes": loaded["notes"]}


def check_precisions(fakes, model, images):
    tf32, fp16, int8 = {8: (7, 0, 1), 10: (6, 0, 1), 11: (6, None, None)}[fakes.major]

    def has(fake, bit):
        return bool(fake["flags"] >> bit & 1)

    assert not has(flags_of(fakes, model, images, "fp32"), tf32)
    assert has(flags_of(fakes, model, images, "tf32"), tf32)
    half = flags_of(fakes, model, images, "fp16", level="4", workspace="64")
    assert (half["level"], half["workspace"]) == (4, 64_000_000), half
    casts = [layer for layer in half["layers"] if layer["LayerType"] == "FakeCast"]
    if fakes.major == 11:
        assert "types strong" in half["notes"][0] and len(casts) == 2, (half["notes"], casts)
    else:
        assert has(half, fp16) and not casts and "types weak (fp16)" in half["notes"][0], half
        strong = flags_of(fakes, model, images, "fp16", typing="strong")
        assert "types strong" in strong["notes"][0] and not has(strong, fp16), strong["notes"]
        assert strong["network_flags"] == (2 if fakes.major == 10 else 1), strong["network_flags"]
    quantized = flags_of(fakes, model, images, "int8+fp16")
    assert any(layer["LayerType"] == "FakeQuantizeLinear" for layer in quantized["layers"]), quantized["layers"]
    assert any("Q/DQ by hone, calibration: generated" in note for note in quantized["notes"]), quantized["notes"]
    # TensorRT takes no unsigned integers and no zero points.
    made = {output["Datatype"] for layer in quantized["layers"] if layer["LayerType"] == "FakeQuantizeLinear"
            for output in layer["Outputs"]}
    assert made == {"int8"}, made
    if fakes.major < 11:
        assert has(quantized, int8) and has(quantized, fp16), quantized["flags"]
    bf16 = flags_of(fakes, model, images, "bf16")
    if fakes.major == 8:
        assert bf16["kind"] == "environment" and "has no bf16" in bf16["message"], bf16
    else:
        assert "flags" in bf16, bf16


def check_builder(fakes, model, images, folder):
    plain = flags_of(fakes, model, images, "fp16")
    assert plain["threads"] == 1, plain
    assert flags_of(fakes, model, images, "fp16", threads="12", level="1")["threads"] == 12
    assert "expected 1 to 1024" in flags_of(fakes, model, images, "fp16", threads="0")["message"]
    if fakes.major == 8:
        # cuBLAS and cuDNN take part where somebody names them, and else as the library has it.
        external = 1
        assert external not in dict(plain["preview"]), plain["preview"]
        assert external not in dict(flags_of(fakes, model, images, "fp16", tactics="edge,jit")["preview"])
        named = flags_of(fakes, model, images, "fp16", tactics="jit,cublas")
        assert dict(named["preview"])[external] is False, named["preview"]
    # Builds on two GPUs of a kind share a file of times.
    caches = list((folder / "cache/tensorrt").glob("timings-*.bin"))
    assert len(caches) == 1, caches
    assert "times of level 1\n" in caches[0].read_text(), caches[0].read_text()
    worker = Worker(fakes, FAKE_TENSORRT_OTHER_BUILD=str(caches[0]))
    loaded = worker.load(model, images, "fp32", settings={"tensorrt.level": "5"})
    worker.end()
    assert loaded["type"] == "load", loaded
    kept = caches[0].read_text()
    assert "times of another build\n" in kept and "times of level 5\n" in kept and "times of level 1\n" in kept, kept


def check_refusals(fakes, model, images):
    def refusal(kind, sentence, settings=None, **variables):
        worker = Worker(fakes, HONE_CACHE_DIR=str(fakes.folder / "other"), **variables)
        answer = worker.load(model, images, settings=settings or {})
        worker.end()
        assert answer["type"] == "error" and answer["kind"] == kind and sentence in answer["message"], answer

    refusal("bad input", "does not take node '", FAKE_TENSORRT_REFUSES="Conv")
    refusal("bad input", "(Conv): the fake parser refuses it", FAKE_TENSORRT_REFUSES="Conv")
    refusal("environment", "libnvinfer_builder_resource", FAKE_TENSORRT_FAILS="no resource")
    resource = fakes.library / f"libnvinfer_builder_resource.so.{fakes.backends_line().split()[1]}"
    resource.touch()
    refusal("environment", "ran out of memory while it built the engine: Error: Out of memory",
            FAKE_TENSORRT_FAILS="Error: Out of memory")
    refusal("environment", "could not build the engine: Target GPU SM 103 is not supported",
            FAKE_TENSORRT_FAILS="Target GPU SM 103 is not supported")
    resource.unlink()
    refusal("environment", "out of memory: the GPU has no", FAKE_CUDA_BYTES="1000")
    refusal("usage", "--tensorrt-level is '9', expected 0 to 5", {"tensorrt.level": "9"})
    refusal("usage", "has no source 'magic'", {"tensorrt.tactics": "magic"})


def check_layers(fakes, model, folder):
    files = folder / "layers"
    ending = fakes.run("inspect", model, "--backend", "tensorrt", "--batch", 2, "--runs", 7, "--layer-files", files)
    assert ending.returncode == 0, ending.stderr
    assert "of 7 runs), the engine without the profiler" in ending.stdout, ending.stdout
    times = json.loads((files / "trt_layer_latency.json").read_text())
    information = json.loads((files / "trt_engine_info.json").read_text())
    assert times[0] == {"count": 7} and len(times) == 1 + len(information["Layers"]), times
    assert abs(sum(row["percentage"] for row in times[1:]) - 100) < 1e-6
    document = json.loads(fakes.run("inspect", model, "--backend", "tensorrt", "--batch", 2, "--runs", 7, "--json").stdout)
    own = json.loads((files / "hone_layers.json").read_text())
    assert own["layers"][0]["sd_ms"] == 0 and own["model"] == str(model), own["layers"][0]
    ending = fakes.run("diff", files, files)
    assert ending.returncode == 0 and "the change is not more than noise" in ending.stdout, ending.stdout + ending.stderr
    first = document["layers"][0]
    assert first["median_ms"] == 0.25 and first["n"] == 7 and first["interval_ms"] == [0.25, 0.25] and first["nodes"], first
    assert document["sum_of_medians_ms"] == 0.25 * len(document["layers"]) and document["engine_ms"] > 0
    fakes.refused(USAGE, "--layer-files is for another system's engine: add --backend tensorrt", "inspect", model,
                  "--layer-files", files)
    fakes.refused(USAGE, "--trust is for a .plan file", "inspect", model, "--backend", "tensorrt", "--trust")


def check_plans(fakes, folder):
    plan = next((folder / "cache/tensorrt").glob("*.plan"))
    ending = fakes.run("inspect", plan)
    assert ending.returncode == 0 and "layers" in ending.stdout and "builder level" in ending.stdout, ending.stderr
    copy = folder / "copy.plan"
    shutil.copy(plan, copy)
    fakes.refused(BAD_INPUT, "was not written by hone (copy.plan.json is missing)", "inspect", copy)
    assert fakes.run("inspect", copy, "--trust").returncode == 0
    shutil.copy(f"{plan}.json", f"{copy}.json")
    assert fakes.run("inspect", copy).returncode == 0
    # The record of somebody else's hone proves nothing here.
    fakes.refused(BAD_INPUT, "is not the file that this user's hone wrote", "inspect", copy,
                  HONE_CACHE_DIR=str(folder / "another"))
    changed = bytearray(copy.read_bytes())
    changed[len(changed) // 2] ^= 1
    copy.write_bytes(changed)
    fakes.refused(BAD_INPUT, "is not the file that this user's hone wrote", "inspect", copy)
    copy.write_bytes(b"no plan")
    fakes.refused(ENVIRONMENT, "does not load the plan: Magic tag does not match", "inspect", copy, "--trust")
    copy.write_bytes(b"")
    fakes.refused(BAD_INPUT, "is empty", "inspect", copy, "--trust")
    other = {8: "8602", 10: "100200", 11: "110200"}[fakes.major]
    fakes.refused(ENVIRONMENT, "was built by TensorRT", "inspect", plan, FAKE_TENSORRT_VERSION=other)
    record = pathlib.Path(f"{copy}.json")
    record.write_text("[]")
    shutil.copy(plan, copy)
    fakes.refused(BAD_INPUT, "is no JSON object", "inspect", copy)


def check_run(fakes, model, right, folder):
    ending = fakes.run("run", model, "--backend", "tensorrt", "--device", "cuda", "--input", folder / "images.npz", "-o",
                       folder / "own.npz")
    assert ending.returncode == 0, ending.stderr
    with numpy.load(folder / "own.npz") as archive:
        numpy.testing.assert_allclose(archive[archive.files[0]], right, rtol=1e-5, atol=1e-5)


def main():
    hone, fakes, major, digits = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    model = digits / "digits.onnx"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        faked = Fakes(hone, fakes, major, folder)
        with numpy.load(digits / "held_out.npz") as archive:
            images = archive["input"][:SAMPLES].astype(numpy.float32)
        check_loading(faked, folder)
        right = expected_outputs(faked, model, images, folder)
        check_figures(faked, model, images, right, folder)
        check_precisions(faked, model, images)
        check_builder(faked, model, images, folder)
        check_refusals(faked, model, images)
        check_layers(faked, model, folder)
        check_plans(faked, folder)
        check_run(faked, model, right, folder)
    print(f"TensorRT {major}, faked: loading, figures, precisions, refusals, layers, plans")


if __name__ == "__main__":
    main()
