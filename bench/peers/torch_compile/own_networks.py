"""The built-in architectures that nobody published, in torch: definitions and parameter names."""
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
    """64, 128 and 256 channels, two 3 x 3 convolutions with GroupNorm(8) and SiLU a level."""

    CHANNELS = [64, 128, 256]

    def __init__(self):
        super().__init__()
        inputs = [3] + self.CHANNELS[:-1]
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


class BiLstm(nn.Module):
    """80 features, two bidirectional layers of 256 units, a linear layer to 40."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(80, 256, 2, batch_first=True, bidirectional=True)
        self.linear = nn.Linear(512, 40)

    def forward(self, x):
        return self.linear(self.lstm(x)[0])
