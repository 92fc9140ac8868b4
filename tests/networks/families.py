"""Tiny networks of transformers, timm, torchvision and PyTorch: what each is made of, and how it is exported."""
import dataclasses
from typing import Callable

import torch

HIDDEN, HEADS, LAYERS, VOCABULARY, TOKENS = 32, 2, 2, 64, 12
IMAGE = 32


@dataclasses.dataclass
class Network:
    name: str
    make: Callable[[], torch.nn.Module]
    inputs: Callable
    exporter: str = "torchscript"  # or "dynamo"
    opset: int = 17
    positional: bool = False
    pick: Callable = None
    open_axes: dict | None = None

    def __post_init__(self):
        self.pick = self.pick or first


def first(result):
    """Its first tensor, whatever holds it."""
    while not isinstance(result, torch.Tensor):
        result = result[0] if isinstance(result, (tuple, list)) else next(iter(result.values()))
    return result


def hidden(result):
    return result["last_hidden_state"]


# Inputs: functions of a generator, and of whether another batch and length is wanted than the exporter sees.


def text(mask=True, batch=1, tokens=TOKENS, empty=False):
    """`empty`: the mask hides all tokens of the last sample, whose scores are all masked."""
    def make(generator, longer=False):
        shape = (batch + 1, tokens + 5) if longer else (batch, tokens)
        inputs = {"input_ids": torch.randint(3, VOCABULARY, shape, generator=generator)}
        if mask:
            inputs["attention_mask"] = torch.ones(shape, dtype=torch.int64)
            inputs["attention_mask"][-1, 0 if empty else -3:] = 0
        return inputs

    return make


def image(channels=3, size=IMAGE, name="pixel_values", batch=1):
    def make(generator, longer=False):
        return {name: torch.randn(batch + longer, channels, size, size, generator=generator)}

    return make


def sequence(batch=1, tokens=TOKENS, features=HIDDEN, name="x"):
    def make(generator, longer=False):
        return {name: torch.randn(batch + longer, tokens + 5 * longer, features, generator=generator)}

    return make


# Models of transformers.


def configured(kind, attention="sdpa", **settings):
    """The model `kind` of transformers, made of its configuration with these settings."""
    def make():
        import transformers

        model = getattr(transformers, kind)
        config = model.config_class(**settings)
        config._attn_implementation = attention
        return model(config)

    return make


ENCODER = {"vocab_size": VOCABULARY, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
           "intermediate_size": 2 * HIDDEN, "max_position_embeddings": 64}
DECODER = {**ENCODER, "use_cache": False, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
VISION = {"hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 2 * HIDDEN,
          "image_size": IMAGE, "patch_size": 8}


def encoders():
    open_text = {"input_ids": {0: "batch", 1: "tokens"}, "attention_mask": {0: "batch", 1: "tokens"}}
    bert = lambda attention="sdpa", **more: configured("BertModel", attention=attention, **{**ENCODER, **more})
    one = {"num_hidden_layers": 1}  # of networks that are committed
    yield Network("bert-eager-11", bert("eager", **one), text(), opset=11)
    yield Network("bert-eager-17-empty", bert("eager", **one), text(batch=2, empty=True))
    yield Network("bert-sdpa-17-empty", bert(**one), text(batch=2, empty=True))
    yield Network("bert-dynamo-18-empty", bert(**one), text(batch=2, empty=True), "dynamo", 18)
    yield Network("bert-eager-17", bert("eager"), text())
    yield Network("bert-eager-17-nomask", bert("eager"), text(mask=False))
    yield Network("bert-sdpa-14-open", bert(), text(), opset=14, open_axes=open_text)
    yield Network("bert-sdpa-17", bert(), text())
    yield Network("bert-sdpa-20", bert(), text(batch=2), opset=20)
    yield Network("bert-dynamo-18", bert(), text(), "dynamo", 18)
    yield Network("bert-dynamo-18-open", bert(**one), text(batch=2), "dynamo", 18, open_axes=open_text)
    yield Network("bert-dynamo-eager-18", bert("eager"), text(), "dynamo", 18)
    yield Network("bert-dynamo-20-nomask", bert(), text(mask=False), "dynamo", 20)
    yield Network("bert-dynamo-23", bert(**one), text(), "dynamo", 23)
    yield Network("bert-gelu-tanh-13", bert("eager", hidden_act="gelu_pytorch_tanh"), text(), opset=13)
    yield Network("minilm-17", bert(), text(batch=2), pick=lambda result: result["pooler_output"])
    yield Network("roberta-sdpa-17", configured("RobertaModel", **ENCODER), text())
    yield Network("roberta-dynamo-18", configured("RobertaModel", **{**ENCODER, **one}), text(), "dynamo", 18)
    distil = {"vocab_size": VOCABULARY, "dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 64,
              "max_position_embeddings": 64}
    yield Network("distilbert-eager-13", configured("DistilBertModel", attention="eager", **distil), text(), opset=13)
    yield Network("distilbert-dynamo-18", configured("DistilBertModel", **distil), text(), "dynamo", 18)
    yield Network("albert-17", configured("AlbertModel", embedding_size=16, **ENCODER), text())
    yield Network("electra-15", configured("ElectraModel", embedding_size=16, **ENCODER), text(), opset=15)
    yield Network("mpnet-17", configured("MPNetModel", attention="eager", **ENCODER), text())
    yield Network("modernbert-dynamo-18",
                  configured("ModernBertModel", global_attn_every_n_layers=2, local_attention=8, pad_token_id=0, bos_token_id=1,
                             eos_token_id=2, cls_token_id=1, sep_token_id=2, **ENCODER), text(), "dynamo", 18)


def decoders():
    gpt2 = {"vocab_size": VOCABULARY, "n_embd": HIDDEN, "n_layer": LAYERS, "n_head": HEADS, "n_positions": 64, "use_cache": False,
            "bos_token_id": 1, "eos_token_id": 2}
    yield Network("gpt2-eager-13", configured("GPT2Model", attention="eager", **gpt2), text(), opset=13)
    yield Network("gpt2-sdpa-17", configured("GPT2Model", **gpt2), text())
    yield Network("gpt2-dynamo-18", configured("GPT2Model", **{**gpt2, "n_layer": 1}), text(mask=False), "dynamo", 18)
    yield Network("opt-sdpa-17", configured("OPTModel", **{**DECODER, "ffn_dim": 64, "word_embed_proj_dim": HIDDEN}), text())
    llama = {**DECODER, "num_key_value_heads": 1}
    yield Network("llama-eager-14", configured("LlamaModel", attention="eager", **llama), text(), opset=14)
    yield Network("llama-sdpa-17", configured("LlamaModel", **{**llama, "num_hidden_layers": 1}), text())
    yield Network("llama-dynamo-18", configured("LlamaModel", **llama), text(), "dynamo", 18)
    yield Network("llama-dynamo-23", configured("LlamaModel", **llama), text(mask=False), "dynamo", 23)
    yield Network("qwen2-sdpa-17", configured("Qwen2Model", **llama), text())
    yield Network("qwen2-dynamo-18-open", configured("Qwen2Model", **llama), text(batch=2), "dynamo", 18,
                  open_axes={"input_ids": {0: "batch", 1: "tokens"}, "attention_mask": {0: "batch", 1: "tokens"}})
    yield Network("gemma-17", configured("GemmaModel", head_dim=16, **llama), text())
    yield Network("gpt-neox-17", configured("GPTNeoXModel", **DECODER), text())


def sequence_to_sequence():
    t5 = {"vocab_size": VOCABULARY, "d_model": HIDDEN, "d_kv": 16, "d_ff": 64, "num_layers": LAYERS, "num_heads": HEADS,
          "relative_attention_num_buckets": 8, "use_cache": False, "decoder_start_token_id": 0}
    yield Network("t5-encoder-17", configured("T5EncoderModel", **t5), text())
    yield Network("t5-gated-14", configured("T5EncoderModel", feed_forward_proj="gated-gelu", **t5), text(), opset=14)
    bart = {"vocab_size": VOCABULARY, "d_model": HIDDEN, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": HEADS,
            "decoder_attention_heads": HEADS, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64,
            "use_cache": False, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}

    def both(generator, longer=False):
        return {"input_ids": torch.randint(3, VOCABULARY, (1, TOKENS), generator=generator),
                "decoder_input_ids": torch.randint(3, VOCABULARY, (1, 7), generator=generator)}

    yield Network("bart-17", configured("BartModel", **bart), both)
    yield Network("bart-eager-13", configured("BartModel", attention="eager", **bart), both, opset=13)

    def whisper(part, attention="sdpa"):
        def make():
            from transformers import WhisperConfig
            from transformers.models.whisper import modeling_whisper

            config = WhisperConfig(vocab_size=VOCABULARY, d_model=HIDDEN, encoder_layers=LAYERS, decoder_layers=LAYERS, num_mel_bins=8,
                                   encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=64,
                                   decoder_ffn_dim=64, max_source_positions=20, max_target_positions=32, use_cache=False,
                                   pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
            config._attn_implementation = attention
            return getattr(modeling_whisper, part)(config)

        return make

    def sound(generator, longer=False):
        return {"input_features": torch.randn(1, 8, 40, generator=generator)}

    def heard(generator, longer=False):
        return {"input_ids": torch.randint(3, VOCABULARY, (1, 7), generator=generator),
                "encoder_hidden_states": torch.randn(1, 20, HIDDEN, generator=generator)}

    yield Network("whisper-encoder-17", whisper("WhisperEncoder"), sound)
    yield Network("whisper-encoder-eager-13", whisper("WhisperEncoder", "eager"), sound, opset=13)
    yield Network("whisper-decoder-dynamo-18", whisper("WhisperDecoder"), heard, "dynamo", 18)


def vision():
    yield Network("vit-17", configured("ViTModel", **VISION), image())
    yield Network("vit-dynamo-18", configured("ViTModel", **VISION), image(), "dynamo", 18)
    yield Network("deit-eager-13", configured("DeiTModel", attention="eager", **VISION), image(), opset=13)
    yield Network("dinov2-17", configured("Dinov2Model", **{**VISION, "mlp_ratio": 2}), image())
    swin = {"image_size": IMAGE, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [1, 2], "window_size": 4}
    yield Network("swin-hf-17", configured("SwinModel", attention="eager", **swin), image())
    convnext = {"hidden_sizes": [16, 32], "depths": [1, 1], "num_stages": 2, "patch_size": 4}
    yield Network("convnext-hf-17", configured("ConvNextModel", attention="eager", **convnext), image())
    segformer = {"depths": [1, 1], "hidden_sizes": [16, 32], "num_attention_heads": [1, 2], "num_encoder_blocks": 2,
                 "sr_ratios": [2, 1], "patch_sizes": [7, 3], "strides": [4, 2], "mlp_ratios": [2, 2], "decoder_hidden_size": 32}
    yield Network("segformer-17", configured("SegformerForSemanticSegmentation", attention="eager", **segformer), image())
    mobilevit = {"image_size": 64, "hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 8, 16, 16, 24, 32, 32],
                 "num_attention_heads": 2}
    yield Network("mobilevit-17", configured("MobileViTModel", attention="eager", **mobilevit), image(size=64))

    def clip(part, **more):
        settings = {**(ENCODER if part == "Text" else VISION), "projection_dim": 16, **more}
        return configured(f"CLIP{part}ModelWithProjection", **settings)

    yield Network("clip-text-17", clip("Text", num_hidden_layers=1), text())
    yield Network("clip-text-dynamo-18", clip("Text"), text(mask=False), "dynamo", 18)
    yield Network("clip-vision-17", clip("Vision"), image())

    def detr():
        import transformers

        backbone = transformers.ResNetConfig(attn_implementation="eager", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic",
                                             out_features=["stage2"])
        config = transformers.DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None,
                                         backbone_config=backbone, num_queries=5, d_model=HIDDEN, encoder_layers=1,
                                         decoder_layers=1, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
                                         encoder_ffn_dim=64, decoder_ffn_dim=64)
        config._attn_implementation = {"": "sdpa", "backbone_config": "eager"}
        return transformers.DetrModel(config)

    yield Network("detr-17", detr, image())


def timm_model(architecture, **settings):
    def make():
        import timm

        return timm.create_model(architecture, pretrained=False, num_classes=10, **settings)

    return make


def of_timm():
    def network(name, make, exporter="torchscript", opset=17, size=IMAGE):
        return Network(name, make, image(size=size, name="x"), exporter, opset, positional=True)

    vit = {"img_size": IMAGE, "patch_size": 8, "embed_dim": HIDDEN, "depth": LAYERS, "num_heads": HEADS}
    yield network("timm-vit-17", timm_model("vit_tiny_patch16_224", **vit))
    yield network("timm-vit-dynamo-18", timm_model("vit_tiny_patch16_224", **vit), "dynamo", 18)
    yield network("timm-deit3-14", timm_model("deit3_small_patch16_224", **vit), opset=14)
    yield network("timm-swin-17", timm_model("swin_tiny_patch4_window7_224", img_size=IMAGE, patch_size=2, window_size=4, embed_dim=16,
                                             depths=(2, 2), num_heads=(1, 2)))
    yield network("timm-convnext-16", timm_model("convnext_atto", dims=(8, 16, 24, 32), depths=(1, 1, 1, 1)), opset=16)
    yield network("timm-levit-17", timm_model("levit_128s",
                                              embed_dim=(16, 32, 48), num_heads=(1, 2, 3), depth=(1, 1, 1), key_dim=8), size=224)


def of_torch():
    def vit():
        import torchvision

        return torchvision.models.VisionTransformer(IMAGE, 8, LAYERS, HEADS, HIDDEN, 64, num_classes=10)

    def swin():
        import torchvision

        return torchvision.models.SwinTransformer([2, 2], 16, [2, 2], [1, 2], [4, 4], num_classes=10)

    def convnext():
        from torchvision.models import convnext

        blocks = [convnext.CNBlockConfig(16, 32, 1), convnext.CNBlockConfig(32, None, 1)]
        return convnext.ConvNeXt(blocks, num_classes=10)

    yield Network("torchvision-vit-17", vit, image(name="x"), positional=True)
    yield Network("torchvision-vit-dynamo-18", vit, image(name="x"), "dynamo", 18, positional=True)
    yield Network("torchvision-swin-17", swin, image(name="x"), positional=True)
    yield Network("torchvision-swin-dynamo-18", swin, image(name="x"), "dynamo", 18, positional=True)
    yield Network("torchvision-convnext-16", convnext, image(name="x"), opset=16, positional=True)

    class SelfAttention(torch.nn.Module):
        """With its weights averaged, as need_weights has it by default, and as in DETR's and many people's own code."""

        def __init__(self):
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(HIDDEN, HEADS, batch_first=True)
            self.norm = torch.nn.LayerNorm(HIDDEN)

        def forward(self, x):
            return self.norm(x + self.attention(x, x, x)[0])

    layer = lambda: torch.nn.TransformerEncoderLayer(HIDDEN, HEADS, 64, activation="gelu", batch_first=True)
    encoder = lambda: torch.nn.TransformerEncoder(layer(), LAYERS, enable_nested_tensor=False)
    yield Network("torch-attention-13", SelfAttention, sequence(), opset=13, positional=True)
    yield Network("torch-attention-dynamo-18", SelfAttention, sequence(batch=2), "dynamo", 18, positional=True)
    yield Network("torch-encoder-16", encoder, sequence(), opset=16, positional=True)
    yield Network("torch-encoder-dynamo-18", encoder, sequence(), "dynamo", 18, positional=True)


def networks():
    for family in (encoders, decoders, sequence_to_sequence, vision, of_timm, of_torch):
        yield from family()
