#!/usr/bin/env python3
"""Exports networks of torchvision, timm and transformers to ONNX, with random weights: what hone is not tuned on.

usage: export_models.py FOLDER [NAME…]        all of them when none is named

Needs torch with its ONNX exporter, torchvision, timm and transformers.
"""
import sys
from pathlib import Path

import torch

IMAGE = (1, 3, 224, 224)


def torchvision_model(name):
    import torchvision
    return getattr(torchvision.models, name)(weights=None), (torch.randn(IMAGE),)


def timm_model(name):
    import timm
    return timm.create_model(name, pretrained=False), (torch.randn(IMAGE),)


class FirstOutput(torch.nn.Module):
    """A model of transformers as a function from a tensor to its first result."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, value):
        return self.model(value, return_dict=False)[0]


def bert(tokens=128, **sizes):
    from transformers import BertConfig, BertModel
    return FirstOutput(BertModel(BertConfig(attn_implementation="eager", **sizes))), (torch.randint(0, 30000, (1, tokens)),)


class UNet(torch.nn.Module):
    """64, 128 and 256 channels, two 3 x 3 convolutions with GroupNorm(8) and SiLU a level."""

    def __init__(self):
        super().__init__()
        nn = torch.nn

        def level(inputs, outputs):
            layers = []
            for channels in (inputs, outputs):
                layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.GroupNorm(8, outputs), nn.SiLU()]
            return nn.Sequential(*layers)

        self.down = nn.ModuleList([level(3, 64), level(64, 128), level(128, 256)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(256, 128, 2, stride=2), nn.ConvTranspose2d(128, 64, 2, stride=2)])
        self.join = nn.ModuleList([level(256, 128), level(128, 64)])
        self.head = nn.Conv2d(64, 2, 1)

    def forward(self, x):
        kept = []
        for level in self.down:
            x = level(torch.nn.functional.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        for up, join, side in zip(self.up, self.join, kept[-2::-1]):
            x = join(torch.cat([side, up(x)], 1))
        return self.head(x)


class BiLstm(torch.nn.Module):
    """80 features, two bidirectional layers of 256 units, a linear layer to 40."""

    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(80, 256, num_layers=2, bidirectional=True, batch_first=True)
        self.linear = torch.nn.Linear(512, 40)

    def forward(self, x):
        return self.linear(self.lstm(x)[0])


def segformer_b0():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation
    return FirstOutput(SegformerForSemanticSegmentation(SegformerConfig(num_labels=150))), (torch.randn(1, 3, 512, 512),)


def detr_r50():
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig
    backbone = ResNetConfig(out_features=["stage4"])
    config = DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone,
                        attn_implementation="eager")
    return FirstOutput(DetrForObjectDetection(config)), (torch.randn(1, 3, 480, 640),)


def gpt2():
    from transformers import GPT2Config, GPT2Model
    config = GPT2Config(attn_implementation="eager", use_cache=False)
    return FirstOutput(GPT2Model(config)), (torch.randint(0, 50000, (1, 128)),)


def whisper_tiny_encoder():
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
    config = WhisperConfig(d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536, attn_implementation="eager")
    return FirstOutput(WhisperEncoder(config)), (torch.randn(1, 80, 3000),)


MODELS = {
    "vit_b_16": lambda: torchvision_model("vit_b_16"),
    "bert_base": bert,
    "bert_base_384": lambda: bert(384),
    "minilm": lambda: bert(hidden_size=384, num_hidden_layers=6, intermediate_size=1536),
    "unet": lambda: (UNet(), (torch.randn(1, 3, 256, 256),)),
    "bilstm": lambda: (BiLstm(), (torch.randn(1, 200, 80),)),
    "segformer_b0": segformer_b0,
    "detr_r50": detr_r50,
    "deit_tiny": lambda: timm_model("deit_tiny_patch16_224"),
    "swin_t": lambda: torchvision_model("swin_t"),
    "whisper_tiny_encoder": whisper_tiny_encoder,
    "gpt2": gpt2,
    "convnext_tiny": lambda: torchvision_model("convnext_tiny"),
    "mobilenet_v3_large": lambda: torchvision_model("mobilenet_v3_large"),
    "regnet_y_1_6gf": lambda: torchvision_model("regnet_y_1_6gf"),
    "mobilevit_s": lambda: timm_model("mobilevit_s"),
    "mixer_b16": lambda: timm_model("mixer_b16_224"),
    "densenet121": lambda: torchvision_model("densenet121"),
}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in sys.argv[2:] or MODELS:
        torch.manual_seed(0)
        try:
            model, inputs = MODELS[name]()
            for parameter in model.parameters():  # a head that starts at zero makes all outputs zero
                if not parameter.any():
                    torch.nn.init.normal_(parameter, std=0.02)
            torch.onnx.export(model.eval(), inputs, str(folder / f"{name}.onnx"), dynamo=True, external_data=False, verbose=False)
            print(f"{name}: exported", flush=True)
        except Exception as error:  # one network that an exporter cannot take costs the others nothing
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
