"""The networks of the CPU tables: pinned definitions of torchvision and transformers with seeded weights.

make(name) gives the same weights wherever the same versions of the packages are: export_models.py writes them into ONNX
files, and the peer torch_eager runs the network itself. Weights keep the size of activations through a network (normal
numbers by the root of what a row sums over, scales around 1), so that errors against a reference mean something.
"""
import dataclasses

import torch

SEED = 44
IMAGE = (1, 3, 224, 224)
TOKENS = 128


@dataclasses.dataclass
class Network:
    model: torch.nn.Module
    inputs: tuple
    input_names: list
    detects: bool = False  # the sizes of its outputs depend on the data


def set_weights(model):
    generator = torch.Generator().manual_seed(SEED)
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, tensor in sorted(model.state_dict().items()):
            if not tensor.is_floating_point():
                continue
            normal = torch.randn(tensor.shape, generator=generator)
            if name.endswith("running_var"):
                tensor.copy_(1 + 0.2 * normal.abs())
            elif name.endswith("running_mean"):
                tensor.copy_(0.2 * normal)
            elif name not in parameters:
                continue  # tables that the definition computes
            elif tensor.dim() >= 2:
                tensor.copy_(normal / max(1, tensor[0].numel()) ** 0.5)
            elif "norm" in name.lower() and name.endswith("weight"):
                tensor.copy_(1 + 0.2 * normal)
            elif name.endswith("weight"):
                tensor.copy_(1 + 0.1 * normal)
            else:
                tensor.copy_(0.1 * normal)
    return model.eval()


class Picked(torch.nn.Module):
    """A model whose result is one tensor of what the definition gives."""

    def __init__(self, model, pick):
        super().__init__()
        self.model, self.pick = model, pick

    def forward(self, *inputs):
        return self.pick(self.model(*inputs))


def vision(name, size=IMAGE, family=None, pick=None):
    def build():
        import torchvision

        models = torchvision.models if family is None else getattr(torchvision.models, family)
        settings = {"weights": None}
        if family in ("segmentation", "detection"):
            settings["weights_backbone"] = None
        if name.startswith(("googlenet", "inception")):
            settings.update(init_weights=False)
        model = getattr(models, name)(**settings)
        return Picked(model, pick) if pick else model

    return lambda: images(set_weights(build()), size)


def images(model, size):
    values = torch.randn(size, generator=torch.Generator().manual_seed(SEED + 1))
    return Network(model, (values,), ["image"])


def detection(name, size):
    """One image; the number of detections depends on the data."""
    def build():
        import torchvision

        model = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None)
        return Picked(model, lambda found: (found[0]["boxes"], found[0]["scores"], found[0]["labels"]))

    def make():
        return dataclasses.replace(images(set_weights(build()), size), detects=True)

    return make


def bert(layers=12, hidden=768, heads=12):
    def make():
        import transformers

        config = transformers.BertConfig(hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                                         intermediate_size=4 * hidden)
        config._attn_implementation = "sdpa"
        model = Picked(transformers.BertModel(config, add_pooling_layer=False), lambda result: result[0])
        ids = torch.randint(0, config.vocab_size, (1, TOKENS), generator=torch.Generator().manual_seed(SEED + 1))
        return Network(set_weights(model), (ids,), ["input_ids"])

    return make


class DoubleConvolution(torch.nn.Sequential):
    """Two 3 x 3 convolutions with GroupNorm(8) and SiLU."""

    def __init__(self, channels, filters):
        layers = []
        for inputs in (channels, filters):
            layers += [torch.nn.Conv2d(inputs, filters, 3, padding=1), torch.nn.GroupNorm(8, filters), torch.nn.SiLU()]
        super().__init__(*layers)


class UNet(torch.nn.Module):
    """64, 128 and 256 channels, two convolutions a level, one channel out."""

    def __init__(self):
        super().__init__()
        self.down = torch.nn.ModuleList([DoubleConvolution(3, 64), DoubleConvolution(64, 128)])
        self.middle = DoubleConvolution(128, 256)
        self.up = torch.nn.ModuleList([torch.nn.ConvTranspose2d(256, 128, 2, 2), torch.nn.ConvTranspose2d(128, 64, 2, 2)])
        self.merge = torch.nn.ModuleList([DoubleConvolution(256, 128), DoubleConvolution(128, 64)])
        self.out = torch.nn.Conv2d(64, 1, 1)

    def forward(self, x):
        kept = []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = torch.nn.functional.max_pool2d(x, 2)
        x = self.middle(x)
        for up, merge in zip(self.up, self.merge):
            x = merge(torch.cat([kept.pop(), up(x)], dim=1))
        return self.out(x)


class BiLstm(torch.nn.Module):
    """Two bidirectional layers of 256 units on 200 frames of 80 features, and a linear layer to 40."""

    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(80, 256, num_layers=2, bidirectional=True, batch_first=True)
        self.linear = torch.nn.Linear(512, 40)

    def forward(self, x):
        return self.linear(self.lstm(x)[0])


def sequence(build, size, name):
    def make():
        values = torch.randn(size, generator=torch.Generator().manual_seed(SEED + 1))
        return Network(set_weights(build()), (values,), [name])

    return make


out = lambda result: result["out"]
# The networks of the project's own table come first.
NETWORKS = {
    "resnet50": vision("resnet50"),
    "mobilenet_v2": vision("mobilenet_v2"),
    "mobilenet_v3_large": vision("mobilenet_v3_large"),
    "regnet_y_1_6gf": vision("regnet_y_1_6gf"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "bert_base": bert(),
    "vit_b_16": vision("vit_b_16"),
    "swin_t": vision("swin_t"),
    "convnext_tiny": vision("convnext_tiny"),
    "deeplabv3_mobilenet_v3": vision("deeplabv3_mobilenet_v3_large", IMAGE, "segmentation", out),
    "unet": sequence(UNet, (1, 3, 256, 256), "image"),
    "bilstm": sequence(BiLstm, (1, 200, 80), "frames"),
    "minilm_l6": bert(6, 384, 12),
    # Classification of torchvision, a network a family and those that people use most.
    **{name: vision(name) for name in (
        "alexnet", "vgg16", "squeezenet1_1", "densenet121", "googlenet", "resnet18", "resnext50_32x4d", "wide_resnet50_2",
        "shufflenet_v2_x1_0", "mnasnet1_0", "mobilenet_v3_small", "efficientnet_v2_s", "regnet_x_800mf", "swin_v2_t",
        "convnext_small", "maxvit_t")},
    "inception_v3": vision("inception_v3", (1, 3, 299, 299)),
    # Segmentation and detection.
    "lraspp_mobilenet_v3": vision("lraspp_mobilenet_v3_large", (1, 3, 320, 320), "segmentation", out),
    "deeplabv3_resnet50": vision("deeplabv3_resnet50", IMAGE, "segmentation", out),
    "fcn_resnet50": vision("fcn_resnet50", IMAGE, "segmentation", out),
    "ssdlite320_mobilenet_v3": detection("ssdlite320_mobilenet_v3_large", (1, 3, 320, 320)),
    "fasterrcnn_mobilenet_v3_320": detection("fasterrcnn_mobilenet_v3_large_320_fpn", (1, 3, 320, 320)),
    "retinanet_resnet50": detection("retinanet_resnet50_fpn_v2", (1, 3, 320, 320)),
}


def make(name):
    torch.manual_seed(SEED)
    return NETWORKS[name]()
