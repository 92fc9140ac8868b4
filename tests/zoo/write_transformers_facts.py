"""Writes transformers_facts.json: parameters and outputs of the built-in transformers, by Hugging Face's transformers.

usage: write_transformers_facts.py HONE [ARCHITECTURE...]

Needs torch, transformers and onnx. The weights are those that HONE seeds, read from the models that it exports; so
the facts hold as long as the seeded weights stay the same. The outputs of each model are kept as 200 of their
elements and their norm.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import torch
import transformers

from transformers_inputs import inputs_of, sampled

#: width, layers and heads
WHISPERS = {"tiny": (384, 4, 6), "base": (512, 6, 8), "small": (768, 12, 12)}


def network(name):
    if name in ("bert_base", "minilm"):
        small = dict(hidden_size=384, num_hidden_layers=6, intermediate_size=1536) if name == "minilm" else {}
        return transformers.BertModel(transformers.BertConfig(**small))
    if name == "gpt2":
        return transformers.GPT2LMHeadModel(transformers.GPT2Config())
    if name == "qwen2_0_5b":
        return transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
            hidden_size=896, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2,
            intermediate_size=4864, vocab_size=151936, tie_word_embeddings=True, max_position_embeddings=32768,
            rope_parameters={"rope_type": "default", "rope_theta": 1e6}))
    _, size, part = name.split("_")
    width, layers, heads = WHISPERS[size]
    whisper = transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
        d_model=width, encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=heads,
        decoder_attention_heads=heads, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width))
    return whisper.model.encoder if part == "encoder" else whisper


PREFIXES = {"gpt2": "transformer.", "qwen2_0_5b": "model.", "whisper_tiny_decoder": "model.decoder."}


def load(net, name, folder, hone):
    """Gives the network the seeded weights; gives their shapes by name."""
    subprocess.run([hone, "export", name, "-o", str(folder / "model.onnx")], check=True, stdout=subprocess.DEVNULL)
    exported = onnx.load(folder / "model.onnx")
    prefix = PREFIXES.get(name, "")
    own = {item.name: onnx.numpy_helper.to_array(item, str(folder)) for item in exported.graph.initializer}
    state = net.state_dict()
    wanted = {key[len(prefix):] for key in state if key.startswith(prefix)}
    parameters = {key: value for key, value in own.items() if key in wanted}
    tied = {"lm_head.weight", "proj_out.weight"}
    buffers = {"embeddings.position_ids"}
    missing = wanted - set(parameters) - tied - buffers
    assert not missing, f"{name}: the export has no {sorted(missing)[:3]}"
    for key, value in parameters.items():
        state[prefix + key] = torch.tensor(value)
    net.load_state_dict(state, strict=True)
    net.tie_weights()
    return {key: list(value.shape) for key, value in sorted(parameters.items())}


def outputs_of(net, name):
    inputs = {key: torch.tensor(value) for key, value in inputs_of(name).items()}
    net.eval()
    with torch.no_grad():
        if name in ("bert_base", "minilm"):
            result = net(**inputs)
            return {"last_hidden_state": result.last_hidden_state, "pooler_output": result.pooler_output}
        if name.endswith("_encoder"):
            return {"last_hidden_state": net(**inputs).last_hidden_state}
        if name == "whisper_tiny_decoder":
            heard = transformers.modeling_outputs.BaseModelOutput(inputs["encoder_hidden_states"])
            return {"logits": net(encoder_outputs=heard, decoder_input_ids=inputs["input_ids"]).logits}
        return {"logits": net(input_ids=inputs["input_ids"]).logits}


def facts(hone, name):
    net = network(name)
    with tempfile.TemporaryDirectory() as folder:
        parameters = load(net, name, pathlib.Path(folder), hone)
    text = json.dumps(parameters, sort_keys=True)
    outputs = {key: {"shape": list(value.shape), "norm": float(np.linalg.norm(value.numpy().astype(np.float64))),
                     "sampled": [float(f"{x:.8g}") for x in sampled(value.numpy())]}
               for key, value in outputs_of(net, name).items()}
    return {"parameters": len(parameters), "elements": int(sum(np.prod(shape) for shape in parameters.values())),
            "sha256": hashlib.sha256(text.encode()).hexdigest(), "outputs": outputs}


def main():
    hone, names = sys.argv[1], sys.argv[2:]
    file = pathlib.Path(__file__).with_name("transformers_facts.json")
    known = json.loads(file.read_text()) if file.exists() else {}
    for name in names or ["bert_base", "minilm", "gpt2", "qwen2_0_5b", "whisper_tiny_encoder", "whisper_tiny_decoder",
                          "whisper_base_encoder", "whisper_small_encoder"]:
        known[name] = facts(hone, name)
        print(name, known[name]["parameters"], known[name]["elements"], flush=True)
    file.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
