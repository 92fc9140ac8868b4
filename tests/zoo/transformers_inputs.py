"""The inputs of the built-in transformers in their tests: the same wherever they are made."""
import numpy as np

TOKENS = 9
VOCABULARIES = {"bert_base": 30522, "minilm": 30522, "gpt2": 50257, "qwen2_0_5b": 151936, "whisper_tiny_decoder": 51865}
#: layers, heads of keys, channels of one
CACHES = {"gpt2": (12, 12, 64), "qwen2_0_5b": (24, 2, 64), "whisper_tiny_decoder": (4, 6, 64)}


def waves(*shape):
    """Numbers between -1.5 and 1.5 that do not repeat."""
    count = np.arange(int(np.prod(shape)), dtype=np.float64)
    return (np.sin(0.37 * count) + 0.5 * np.sin(0.0113 * count * (1 + count % 7))).astype(np.float32).reshape(shape)


def tokens(name, batch):
    count = np.arange(batch * TOKENS, dtype=np.int64)
    return (count * 7919 + 1013 * (count % 5)).reshape(batch, TOKENS) % VOCABULARIES[name]


def inputs_of(name):
    """By name, in the order of the architecture."""
    if name.endswith("_encoder"):
        return {"input_features": waves(1, 80, 3000)}
    batch = 2 if name in ("bert_base", "minilm") else 1
    inputs = {"input_ids": tokens(name, batch)}
    if batch == 2:
        mask = np.ones((batch, TOKENS), np.int64)
        mask[1, 6:] = 0
        inputs["attention_mask"] = mask
        inputs["token_type_ids"] = (np.arange(batch * TOKENS) // 5 % 2).reshape(batch, TOKENS)
        return inputs
    if name == "whisper_tiny_decoder":
        inputs["encoder_hidden_states"] = waves(1, 1500, 384)
    layers, heads, depth = CACHES[name]
    for layer in range(layers):
        for part in ("key", "value"):
            inputs[f"past_key_values.{layer}.{part}"] = np.zeros((1, heads, 0, depth), np.float32)
    return inputs


def sampled(values):
    """A few hundred elements, spread over all of them."""
    flat = np.asarray(values).ravel()
    return flat[np.linspace(0, flat.size - 1, 200).astype(np.int64)]
