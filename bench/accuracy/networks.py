"""The networks whose accuracy is measured in int8: small ones of four families, for grey images of 28 by 28.

make(name) gives a torch module with fresh parameters: x of (batch, 1, 28, 28) becomes 10 logits.
"""
import torch
from torch import nn

CLASSES = 10


def conv_norm(inputs, outputs, kernel, stride=1, groups=1, activation=nn.ReLU):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    if activation is not None:
        layers.append(activation())
    return nn.Sequential(*layers)


class BasicBlock(nn.Module):
    """Two convolutions and a shortcut (He et al., 2015)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = conv_norm(inputs, outputs, 3, stride)
        self.second = conv_norm(outputs, outputs, 3, activation=None)
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else conv_norm(inputs, outputs, 1, stride, activation=None)

    def forward(self, x):
        return torch.relu(self.second(self.first(x)) + self.shortcut(x))


def resnet20():
    layers, inputs = [conv_norm(1, 16, 3)], 16
    for outputs, stride in ((16, 1), (32, 2), (64, 2)):
        for block in range(3):
            layers.append(BasicBlock(inputs, outputs, stride if block == 0 else 1))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, squeezed, 1), nn.SiLU(),
                                  nn.Conv2d(squeezed, channels, 1), nn.Sigmoid())

    def forward(self, x):
        return x * self.gate(x)


class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution, projection (Sandler et al., 2018), with gates as in EfficientNet if asked for."""

    def __init__(self, inputs, outputs, stride, expansion, activation, gated):
        super().__init__()
        hidden = inputs * expansion
        layers = [conv_norm(inputs, hidden, 1, activation=activation)] if expansion > 1 else []
        layers.append(conv_norm(hidden, hidden, 3, stride, groups=hidden, activation=activation))
        if gated:
            layers.append(SqueezeExcitation(hidden, max(inputs // 4, 4)))
        layers.append(conv_norm(hidden, outputs, 1, activation=None))
        self.layers = nn.Sequential(*layers)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


def inverted_residuals(stages, last, activation, gated):
    layers, inputs = [conv_norm(1, 24, 3, activation=activation)], 24
    for expansion, outputs, blocks, stride in stages:
        for block in range(blocks):
            layers.append(InvertedResidual(inputs, outputs, stride if block == 0 else 1, expansion, activation, gated))
            inputs = outputs
    return nn.Sequential(*layers, conv_norm(inputs, last, 1, activation=activation), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(last, CLASSES))


def mobilenet_v2():
    return inverted_residuals(((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 3, 2), (6, 96, 1, 1)), 256, nn.ReLU6,
                              gated=False)


def efficientnet():
    return inverted_residuals(((1, 16, 1, 1), (4, 24, 2, 2), (4, 40, 3, 2), (4, 80, 2, 1)), 256, nn.SiLU, gated=True)


class EncoderBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = torch.softmax(q @ k.transpose(-2, -1) * self.scale, dim=-1)
        x = x + self.projection((weights @ v).transpose(1, 2).reshape(batch, tokens, width))
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    """Patches of 4 by 4, a class token and learned places (Dosovitskiy et al., 2020)."""

    def __init__(self, width=96, depth=6, heads=4):
        super().__init__()
        self.patches = nn.Conv2d(1, width, 4, 4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(0.02 * torch.randn(1, 50, width))
        self.blocks = nn.Sequential(*(EncoderBlock(width, heads) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, CLASSES)

    def forward(self, x):
        patches = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), patches), dim=1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


#: name: what makes it, the optimizer, its largest step and its decay of weights
NETWORKS = {
    "resnet20": (resnet20, "sgd", 0.4, 5e-4),
    "mobilenet_v2": (mobilenet_v2, "sgd", 0.3, 2e-4),
    "efficientnet": (efficientnet, "adamw", 4e-3, 2e-2),
    "vit": (VisionTransformer, "adamw", 1.5e-3, 5e-2),
}


def make(name):
    return NETWORKS[name][0]()
