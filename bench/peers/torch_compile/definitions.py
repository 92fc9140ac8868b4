"""The built-in architectures of hone that torchvision does not have: those of transformers, and those of our own."""
from failure import WorkerError

WHISPER = {"whisper_tiny_encoder": (384, 4), "whisper_base_encoder": (512, 6), "whisper_small_encoder": (768, 12)}
BERT = {"bert_base": {}, "minilm": dict(hidden_size=384, num_hidden_layers=6, intermediate_size=1536)}


def make(name):
    """The network in evaluation mode; None where it is none of these."""
    if name in BERT or name in WHISPER:
        return tuple_of(transformer(name))
    own = {"unet": unet, "bilstm": bilstm}.get(name)
    return own().eval() if own else None


def transformer(name):
    try:
        import transformers
    except ImportError as error:
        raise WorkerError("environment", f"the Python package transformers is missing ({error})") from error
    if name in BERT:
        return transformers.BertModel(transformers.BertConfig(**BERT[name]))
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    width, layers = WHISPER[name]
    return WhisperEncoder(transformers.WhisperConfig(d_model=width, encoder_layers=layers, encoder_attention_heads=width // 64,
                                                     encoder_ffn_dim=4 * width))


def tuple_of(network):
    """The network with its own parameters, and with tensors as its result."""
    forward = network.forward
    network.forward = lambda *inputs, **named: forward(*inputs, **named, return_dict=False)
    return network.eval()


def unet():
    """64, 128 and 256 channels, two 3 x 3 convolutions with GroupNorm(8) and SiLU a level."""
    import torch
    from torch import nn

    class ConvNorm(nn.Module):
        def __init__(self, inputs, channels):
            super().__init__()
            self.conv = nn.Conv2d(inputs, channels, 3, padding=1)
            self.norm = nn.GroupNorm(8, channels)

        def forward(self, x):
            return nn.functional.silu(self.norm(self.conv(x)))

    class Up(nn.Module):
        def __init__(self, inputs, channels):
            super().__init__()
            self.upsample = nn.ConvTranspose2d(inputs, channels, 2, 2)
            self.add_module("0", ConvNorm(2 * channels, channels))
            self.add_module("1", ConvNorm(channels, channels))

        def forward(self, skip, x):
            x = torch.cat([skip, self.upsample(x)], 1)
            return self._modules["1"](self._modules["0"](x))

    class UNet(nn.Module):
        CHANNELS = [64, 128, 256]

        def __init__(self):
            super().__init__()
            inputs = [3, *self.CHANNELS[:-1]]
            self.down = nn.ModuleList(nn.Sequential(ConvNorm(a, b), ConvNorm(b, b)) for a, b in zip(inputs, self.CHANNELS))
            self.up = nn.ModuleList(Up(b, a) for a, b in zip(self.CHANNELS[:-1], self.CHANNELS[1:]))
            self.head = nn.Conv2d(self.CHANNELS[0], 3, 1)

        def forward(self, x):
            skips = []
            for i, level in enumerate(self.down):
                x = level(nn.functional.max_pool2d(x, 2) if i > 0 else x)
                skips.append(x)
            for i in reversed(range(len(self.up))):
                x = self.up[i](skips[i], x)
            return self.head(x)

    return UNet()


def bilstm():
    """80 features, two bidirectional layers of 256 units, a linear layer to 40."""
    from torch import nn

    class BiLstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(80, 256, 2, batch_first=True, bidirectional=True)
            self.linear = nn.Linear(512, 40)

        def forward(self, x):
            return self.linear(self.lstm(x)[0])

    return BiLstm()
