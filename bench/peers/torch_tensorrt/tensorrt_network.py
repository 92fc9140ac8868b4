"""A network compiled by Torch-TensorRT, replayed as one CUDA graph where it can be captured."""
import contextlib
import inspect
import io
import logging

import torch
import torch_tensorrt

import by_name
import report
from failure import WorkerError
from network import Network

PRECISIONS = ("fp32", "tf32", "fp16")
DEFAULTS = {"level": 3, "min_block_size": 5}


def settings_of(request):
    given = request.get("settings") or {}
    return {name: int(given.get(f"tensorrt.{name}", value)) for name, value in DEFAULTS.items()}


def known_options(function, options):
    """Those that this version takes: enabled_precisions is gone where networks are strongly typed."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters.values()):
        return options
    return {name: value for name, value in options.items() if name in parameters}


class TensorrtNetwork(Network):
    def __init__(self, request, front_end, inputs):
        if request["device"] == "cpu":
            raise WorkerError("environment", "Torch-TensorRT runs on a GPU: give --device cuda")
        if request["precision"] not in PRECISIONS:
            raise WorkerError("environment", f"this peer runs Torch-TensorRT in {', '.join(PRECISIONS)}, not in "
                                             f"{request['precision']}")
        self.settings = settings_of(request)
        self.taken = None
        self.graph = None
        super().__init__(request, front_end, inputs)
        self.capture()

    def prefers_channels_last(self):
        return False

    def options(self):
        half = self.precision == "fp16"
        return {"enabled_precisions": {torch.float16 if half else torch.float32}, "disable_tf32": self.precision == "fp32",
                "min_block_size": self.settings["min_block_size"], "optimization_level": self.settings["level"],
                "truncate_double": True}

    def compile(self, network):
        # Parameters of a network stand in another order than the inputs of its ONNX file.
        network = by_name.positional(network, self.names)
        if self.mode == "compile":
            return torch.compile(network, backend="torch_tensorrt", dynamic=False, options=self.options())
        exported = torch.export.export(network, tuple(self.inputs))
        compile_graph = torch_tensorrt.dynamo.compile
        options = known_options(compile_graph, {"inputs": self.inputs, **self.options()})
        self.taken = self.dry_run(compile_graph, exported, options)
        return compile_graph(exported, **options)

    def dry_run(self, compile_graph, exported, options):
        """What would become engines, as its report says; None where this version has no dry run."""
        if "dryrun" not in inspect.signature(compile_graph).parameters:
            return None
        text, log = io.StringIO(), logging.getLogger("torch_tensorrt")
        handler = logging.StreamHandler(text)
        log.addHandler(handler)
        try:
            with contextlib.redirect_stdout(text):
                compile_graph(exported, **options, dryrun=True)
        finally:
            log.removeHandler(handler)
        return report.parse(text.getvalue())

    def capture(self):
        self.eager = self.compiled
        try:
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream), torch.no_grad():
                self.compiled(*self.inputs)
            stream.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream), torch.no_grad():
                output = self.compiled(*self.inputs)
        except RuntimeError:
            torch.cuda.synchronize()
            return
        self.graph = graph

        def replay(*_inputs):
            graph.replay()
            return output
        self.compiled = replay

    def launch(self):
        super().launch()
        # One tensor, or a tuple or list of one.
        if not isinstance(self.output, torch.Tensor):
            self.output = self.output[0]

    def notes(self):
        front_end = "torch.compile" if self.mode == "compile" else "exported"
        notes = [f"Torch-TensorRT, {front_end}, min_block_size {self.settings['min_block_size']}, optimization_level "
                 f"{self.settings['level']}" + (", in a CUDA graph" if self.graph else ", as calls: it cannot be captured")]
        if self.taken:
            notes.append(report.sentence(self.taken))
        return notes
