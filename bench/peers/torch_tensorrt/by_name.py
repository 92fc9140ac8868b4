"""A network whose inputs are bound by their names, for tools that hand inputs over in an order."""
import torch


class ByName(torch.nn.Module):
    def __init__(self, network, names):
        super().__init__()
        self.network = network
        self.names = list(names)

    def forward(self, *inputs):
        return self.network(**dict(zip(self.names, inputs, strict=True)))


def positional(network, names):
    """The network for inputs in this order. A single input has whatever name the network gives it."""
    return network if len(names) == 1 else ByName(network, names)
