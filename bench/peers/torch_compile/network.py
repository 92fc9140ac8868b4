"""A compiled or captured network with its inputs at fixed addresses."""
import torch

import weights
from failure import WorkerError

TYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
PRECISIONS = {"cpu": ("fp32", "bf16"), "cuda": ("fp32", "tf32", "fp16", "bf16")}
# The first run compiles, the second records a CUDA graph, from the third on it is replayed.
WARM_UP_RUNS = 3
# : Not a mode of torch.compile: the eager network in one CUDA graph.
CAPTURED = "captured"


class Network:
    def __init__(self, request, mode, inputs):
        """`inputs`: {name: tensor}, in the order of the network's parameters."""
        self.mode = mode
        self.names = list(inputs)
        self.frozen = mode == "max-autotune"
        self.precision = request["precision"]
        self.device = find_device(request["device"], self.precision)
        if not request.get("onnx"):
            raise WorkerError("bad input", "there is no ONNX file of this model")
        torch.set_num_threads(request["threads"])
        self.use_settings()
        # PyTorch recommends channels-last for convolutions on tensor cores; Inductor changes layouts where it sees a
        # gain.
        self.channels_last = self.prefers_channels_last()
        network = weights.build(request["onnx"]).to(self.device, TYPES[self.precision])
        if self.channels_last:
            network = network.to(memory_format=torch.channels_last)
        self.weight_bytes = sum(tensor.numel() * tensor.element_size()
                                for tensor in [*network.parameters(), *network.buffers()])
        # Masks say that everything is there: of tokens that are all masked nothing can be computed.
        self.inputs = [self.place(torch.ones_like(tensor) if name == "attention_mask" else torch.zeros_like(tensor))
                       for name, tensor in inputs.items()]
        if mode == CAPTURED:
            self.compiled = self.captured(network)
        else:
            self.mark_inputs()
            self.compiled = self.compile(network)
        self.output = None
        # On zeros, so that a network that kept its first input would be seen to be wrong.
        for _ in range(WARM_UP_RUNS):
            self.execute()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def prefers_channels_last(self):
        return self.device.type == "cuda" and self.precision != "fp32"

    def mark_inputs(self):
        if self.frozen:
            return
        from torch import _dynamo

        for tensor in self.inputs:
            # Else every replay of the CUDA graph would begin with a copy of the input. Freezing would take it for a
            # constant.
            _dynamo.mark_static_address(tensor)

    def compile(self, network):
        """What runs the network on `inputs`, given in their order."""
        compiled = torch.compile(network, mode=self.mode, dynamic=False)
        return compiled if len(self.names) == 1 else lambda *inputs: compiled(**dict(zip(self.names, inputs)))

    def captured(self, network):
        if self.device.type != "cuda":
            raise WorkerError("environment", "a CUDA graph takes a GPU")
        named = dict(zip(self.names, self.inputs)) if len(self.inputs) > 1 else None
        run = (lambda: network(**named)) if named else (lambda: network(*self.inputs))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side), torch.no_grad():
            for _ in range(WARM_UP_RUNS):
                run()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), torch.no_grad():
            result = run()

        def replay(*_inputs):
            graph.replay()
            return result

        return replay

    def use_settings(self):
        tf32 = self.precision == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        if self.frozen:
            from torch._inductor import config

            # Weights become constants: batch norms are folded into convolutions.
            config.freezing = True

    def place(self, tensor):
        image = self.channels_last and tensor.dim() == 4
        there = tensor.to(self.device)
        if not tensor.is_floating_point():
            return there
        return there.to(TYPES[self.precision], memory_format=torch.channels_last if image else torch.preserve_format)

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.current_stream().synchronize()

    def upload(self, inputs):
        for target, source in zip(self.inputs, inputs):
            same = source.dtype == target.dtype and target.is_contiguous()
            # A tensor of another type is copied as it is, and converted on the device.
            target.copy_(source if same else source.to(self.device))
        self.synchronize()

    def launch(self):
        """Hands a run over; on a GPU it may still be under way."""
        # The last output lies in the graph's own memory, which the next run writes to.
        self.output = None
        with torch.no_grad():
            self.output = self.compiled(*self.inputs)

    def execute(self):
        self.launch()
        self.synchronize()

    def run(self, inputs):
        self.upload(inputs)
        self.execute()
        return [value.float().cpu() for value in self.outputs()]

    def outputs(self):
        """Of the last run, as they lie on the device."""
        return [self.output] if isinstance(self.output, torch.Tensor) else list(self.output)

    def memory(self):
        if self.device.type == "cpu":
            return {"weights": self.weight_bytes, "activations": 0}
        held = torch.cuda.memory_reserved()
        return {"weights": self.weight_bytes, "activations": max(0, held - self.weight_bytes)}

    def notes(self):
        way = "PyTorch's own kernels in one CUDA graph" if self.mode == CAPTURED else f"torch.compile, mode {self.mode}"
        notes = [way + (", frozen weights" if self.frozen else "")]
        if self.device.type == "cuda":
            layout = "channels-last" if self.channels_last else "NCHW"
            notes.append("without data transfers, inputs lie on the device as the run takes them "
                         f"({self.precision}, {layout})")
            notes.append("its device times leave the host out: the GPU is kept busy until a run is handed over")
        return notes


def find_device(name, precision):
    if name not in PRECISIONS:
        raise WorkerError("environment", f"this peer runs on cpu and cuda, not on {name}")
    if name == "cuda" and not torch.cuda.is_available():
        raise WorkerError("environment", f"PyTorch {torch.__version__} finds no NVIDIA GPU")
    if precision not in PRECISIONS[name]:
        raise WorkerError("environment", f"this peer runs in {', '.join(PRECISIONS[name])} on {name}, not in {precision}")
    return torch.device(name)
