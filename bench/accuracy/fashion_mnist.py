"""Reads Fashion-MNIST (Xiao et al., 2017; MIT licence), which Debian packages as dataset-fashion-mnist."""
import gzip
from pathlib import Path

import numpy as np

#: of the pixels of the 60,000 training images, from 0 to 1
MEAN, DEVIATION = 0.2860, 0.3530


def read(folder, part):
    """Images of `train` or `t10k` as float32 (count, 1, 28, 28), normalized, and labels as int64."""
    with gzip.open(Path(folder) / f"{part}-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    with gzip.open(Path(folder) / f"{part}-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(len(labels), 1, 28, 28)
    return ((pixels / np.float32(255) - np.float32(MEAN)) / np.float32(DEVIATION)).astype(np.float32), labels
