"""What the peers in Python share: the worker protocol, version 1, that docs/BENCHMARK.md describes, and inputs in files.

A peer derives from Peer and says how a model is loaded and run; serve() answers the requests.
"""
import json
import pathlib
import sys
import time

PROTOCOL = 1


class WorkerError(Exception):
    """A sentence for the user; kind is usage, bad input, environment or internal."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Peer:
    """Runs on the CPU, with inputs and outputs in host memory."""

    system = ""  # as its errors call it
    precisions = ("fp32",)
    devices = ("cpu",)

    def __init__(self):
        self.sets = []
        self.next_set = 0
        self.is_loaded = False

    # To be overridden.

    def version(self):
        raise NotImplementedError

    def load_model(self, request):
        """Loads what request["onnx"] names; returns sentences that a reader of the figures must know."""
        raise NotImplementedError

    def prepare(self, inputs):
        """A set of inputs, {name: numpy array}, as run() takes it: what is no part of a run is done here."""
        return inputs

    def run(self, prepared):
        """Outputs in host memory, in any form."""
        raise NotImplementedError

    def named(self, outputs):
        """[(name, numpy array)] of what run() gave."""
        raise NotImplementedError

    # Requests.

    def hello(self, request):
        return {"protocol": PROTOCOL, "backend": request.get("backend", ""), "version": self.version()}

    def load(self, request):
        # Inputs and outputs are host memory, so `includes_transfers` changes nothing.
        device = request.get("device", "cpu")
        if device not in self.devices:
            where = "the CPU" if self.devices == ("cpu",) else " and ".join(self.devices)
            raise WorkerError("environment", f"this peer runs {self.system} on {where}, not on {device}")
        if request["precision"] not in self.precisions:
            raise WorkerError("environment", f"this peer runs {self.system} in {' and '.join(self.precisions)}"
                                             f"{' only' if len(self.precisions) == 1 else ''}, not in {request['precision']}")
        if not request.get("onnx"):
            raise WorkerError("bad input", "there is no ONNX file of this model")
        self.version()
        start = time.perf_counter()
        notes = self.load_model(request)
        load_ms = 1e3 * (time.perf_counter() - start)
        count = len(request["inputs"][0]["offsets"]) if request["inputs"] else 1
        self.sets = [self.prepare({i["name"]: read_set(i, k) for i in request["inputs"]}) for k in range(count)]
        self.is_loaded = True
        return {"load_ms": load_ms, "notes": notes}

    def sample(self, request):
        self.require_model()
        latencies = []
        start = time.perf_counter()
        while True:
            prepared = self.sets[self.next_set]
            self.next_set = (self.next_set + 1) % len(self.sets)
            before = time.perf_counter()
            self.run(prepared)
            now = time.perf_counter()
            latencies.append(1e3 * (now - before))
            if len(latencies) >= request["runs"] or now - start >= request["seconds"]:
                return {"latencies_ms": latencies, "wall_ms": 1e3 * (now - start)}

    def accuracy(self, request):
        self.require_model()
        outputs = []
        for index in request["sets"]:
            described = []
            for position, (name, value) in enumerate(self.named(self.run(self.sets[index]))):
                file = pathlib.Path(request["folder"]) / f"output_{index}_{position}.bin"
                file.write_bytes(value.tobytes())
                described.append({"name": name, "dtype": str(value.dtype), "shape": list(value.shape), "file": str(file)})
            outputs.append(described)
        return {"outputs": outputs}

    def memory(self, _request):
        # It does not say; the parent reads the memory of the process.
        return {"weights": 0, "activations": 0}

    def require_model(self):
        if not self.is_loaded:
            raise WorkerError("bad input", "no model is loaded")


def read_set(description, index):
    import numpy

    count = 1
    for dimension in description["shape"]:
        count *= dimension
    dtype = numpy.dtype(description["dtype"])
    with open(description["file"], "rb") as file:
        file.seek(description["offsets"][index])
        data = file.read(count * dtype.itemsize)
    if len(data) != count * dtype.itemsize:
        raise WorkerError("bad input", f"{description['file']}: set {index} lies outside the file")
    return numpy.frombuffer(data, dtype).reshape(description["shape"]).copy()


def imported(module, remedy=""):
    """The module, whose absence is one sentence."""
    try:
        return __import__(module)
    except ImportError as error:
        raise WorkerError("environment", f"the Python package {module} is missing in {sys.executable} ({error}){remedy}") from error


def serve(peer):
    handlers = {"hello": peer.hello, "load": peer.load, "warmup": peer.sample, "sample": peer.sample,
                "accuracy": peer.accuracy, "memory": peer.memory}
    for line in sys.stdin:
        request = json.loads(line)
        if request["type"] == "quit":
            return
        reply = {"id": request["id"], "type": request["type"]}
        try:
            handler = handlers.get(request["type"])
            if handler is None:
                raise WorkerError("bad input", f"unknown request '{request['type']}'")
            reply.update(handler(request))
        except WorkerError as error:
            reply.update(type="error", kind=error.kind, message=str(error))
        except Exception as error:  # the parent shows it as this row's failure
            text = str(error).strip() or type(error).__name__
            reply.update(type="error", kind="environment", message=text.splitlines()[0])
        print(json.dumps(reply), flush=True)
