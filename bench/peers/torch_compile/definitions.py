"""The built-in architectures of hone that torchvision does not have: those of transformers, and those of our own."""
from failure import WorkerError

WHISPER = {"whisper_tiny_encoder": (384, 4), "whisper_base_encoder": (512, 6), "whisper_small_encoder": (768, 12)}
BERT = {"bert_base": {}, "minilm": dict(hidden_size=384, num_hidden_layers=6, intermediate_size=1536)}


def make(name):
    """The network in evaluation mode; None where it is none of these."""
    if name in BERT or name in WHISPER:
        return tuple_of(transformer(name))
    import own_networks

    own = {"unet": own_networks.UNet, "bilstm": own_networks.BiLstm}.get(name)
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
