#!/usr/bin/env python3
"""Makes networks of many families as ONNX files, each from a pinned definition and a seed: what a change is tried on.

usage: goal_networks.py HONE FOLDER [NAME…]        all of them when none is named; --list only names them

HONE writes the built-in architectures itself (`hone export`), with seeded weights under which outputs depend on
inputs. The others come from torchvision and transformers, which this needs with torch and its ONNX exporter: their
parameters are drawn with the seed, none is left at zero, and the statistics of batch normalization are those of eight
batches of noise, so that activations neither vanish nor grow. A file says in its metadata (size.<symbol>) which
sizes of open dimensions the tables mean.
"""
import subprocess
import sys
from pathlib import Path

SEED = 0
IMAGE = (1, 3, 224, 224)

#: name of the file: architecture of hone
BUILT_IN = {name: name for name in (
    "resnet50", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "efficientnet_v2_s", "convnext_tiny", "swin_t",
    "vit_b_16", "deeplabv3_resnet50", "bert_base", "minilm", "gpt2", "qwen2_0_5b", "whisper_tiny_encoder",
    "whisper_base_encoder", "whisper_small_encoder", "whisper_tiny_decoder", "unet", "bilstm")}


def torchvision_model(name, shape=IMAGE, **options):
    import torchvision
    return torchvision.models.get_model(name, weights=None, **options), shape


def segmentation_model(name):
    return torchvision_model(name, weights_backbone=None)


def segformer_b0():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation
    return SegformerForSemanticSegmentation(SegformerConfig(num_labels=150)), (1, 3, 512, 512)


def detr_r50():
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig
    backbone = ResNetConfig(out_features=["stage4"])
    config = DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone)
    return DetrForObjectDetection(config), (1, 3, 480, 640)


#: name of the file: what makes the module and the shape of its input
FROM_TORCH = {
    "regnet_y_1_6gf": lambda: torchvision_model("regnet_y_1_6gf"),
    "resnext50": lambda: torchvision_model("resnext50_32x4d"),
    "deeplabv3_mobilenet_v3": lambda: segmentation_model("deeplabv3_mobilenet_v3_large"),
    "lraspp": lambda: segmentation_model("lraspp_mobilenet_v3_large"),
    "segformer_b0": segformer_b0,
    "detr_r50": detr_r50,
}


def one_output(model):
    """The module as a function from a tensor to a tuple of tensors."""
    import torch

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, value):
            result = self.model(value)
            parts = result.values() if isinstance(result, dict) else [result]
            return tuple(part for part in parts if isinstance(part, torch.Tensor))

    return Plain()


def settle(model, shape):
    """Gives parameters that are zero a value, and batch normalization the statistics of noise."""
    import torch
    for parameter in model.parameters():
        if not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)
    norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    model.eval()
    for module in norms:
        module.momentum = None  # the mean of all batches
        module.train()
    with torch.no_grad():
        for _ in range(8 if norms else 0):
            model(torch.randn(2, *shape[1:]))
    return model.eval()


def export_from_torch(name, file):
    import torch
    torch.manual_seed(SEED)
    model, shape = FROM_TORCH[name]()
    model = settle(model, shape)
    torch.onnx.export(one_output(model), (torch.randn(shape),), str(file), dynamo=True, external_data=False, verbose=False)


def main():
    names = [*BUILT_IN, *FROM_TORCH]
    if sys.argv[1:] == ["--list"]:
        print("\n".join(names))
        return
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n\n")[1])
    hone, folder, wanted = sys.argv[1], Path(sys.argv[2]), sys.argv[3:] or names
    unknown = set(wanted) - set(names)
    if unknown:
        sys.exit(f"no such network: {', '.join(sorted(unknown))}; --list names them")
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in wanted:
        file = folder / f"{name}.onnx"
        try:
            if name in BUILT_IN:
                subprocess.run([hone, "export", BUILT_IN[name], "--seed", str(SEED), "-o", str(file)], check=True)
            else:
                export_from_torch(name, file)
                print(f"{file}: exported", flush=True)
        except Exception as error:  # one network that an exporter cannot take costs the others nothing
            failed.append(name)
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", flush=True)
    if failed:
        sys.exit(f"not made: {', '.join(failed)}")


if __name__ == "__main__":
    main()
