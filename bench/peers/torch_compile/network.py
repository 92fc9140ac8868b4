"""A compiled network with its inputs at fixed addresses."""
import torch

import weights
from failure import WorkerError

TYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
PRECISIONS = {"cpu": ("fp32", "bf16"), "cuda": ("fp32", "tf32", "fp16", "bf16")}
# The first run compiles, the second records a CUDA graph, from the third on it is replayed.
WARM_UP_RUNS = 3


class Network:
    def __init__(self, request, mode, inputs):
        self.mode = mode
        self.frozen = mode == "max-autotune"
        self.precision = request["precision"]
        self.device = find_device(request["device"], self.precision)
        if not request.get("onnx"):
            raise WorkerError("bad input", "there is no ONNX file of this model")
        torch.set_num_threads(request["threads"])
        self.use_settings()
        # What PyTorch recommends for convolutions in tensor cores; Inductor changes layouts where it sees a gain.
        self.channels_last = self.prefers_channels_last()
        network = weights.build(request["onnx"]).to(self.device, TYPES[self.precision])
        if self.channels_last:
            network = network.to(memory_format=torch.channels_last)
        self.weight_bytes = sum(tensor.numel() * tensor.element_size()
                                for tensor in [*network.parameters(), *network.buffers()])
        self.inputs = [self.place(torch.zeros_like(tensor)) for tensor in inputs]
        if not self.frozen:
            from torch import _dynamo

            for tensor in self.inputs:
                # Else every replay of the CUDA graph would begin with a copy of the input. Freezing would take it for
                # a constant.
                _dynamo.mark_static_address(tensor)
        self.compiled = self.compile(network)
        self.output = None
        # On zeros, so that a network that kept its first input would be seen to be wrong.
        for _ in range(WARM_UP_RUNS):
            self.execute()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def prefers_channels_last(self):
        return self.device.type == "cuda" and self.precision != "fp32"

    def compile(self, network):
        return torch.compile(network, mode=self.mode, fullgraph=True, dynamic=False)

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
        return there.to(TYPES[self.precision], memory_format=torch.channels_last if image else torch.preserve_format)

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.current_stream().synchronize()

    def upload(self, inputs):
        for target, source in zip(self.inputs, inputs):
            same = source.dtype == target.dtype and target.is_contiguous()
            # What has to be converted is copied as it is, and converted on the device.
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
        return [self.output.float().cpu()]

    def memory(self):
        if self.device.type == "cpu":
            return {"weights": self.weight_bytes, "activations": 0}
        held = torch.cuda.memory_reserved()
        return {"weights": self.weight_bytes, "activations": max(0, held - self.weight_bytes)}

    def notes(self):
        notes = [f"torch.compile, mode {self.mode}" + (", frozen weights" if self.frozen else "")]
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
