"""Built-in transformers beside what Hugging Face's transformers computed with the same weights and inputs, on every
backend of the CPU.

usage: transformers_test.py HONE ARCHITECTURE...

The facts are in transformers_facts.json; write_transformers_facts.py says how they were made.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

from backend_names import backends
from transformers_inputs import inputs_of, sampled

UNIT_ROUNDOFF = 2.0 ** -24  # float32
#: The reference takes minutes of them.
LARGE = ("whisper_base_encoder", "whisper_small_encoder")
SEEN = 1500  # tokens or frames that one row of attention sees at most


def tolerance(shapes):
    """As in torchvision_test.py, with two sums over what attention sees for every projection; twice that, because
    softmax hands the errors of scores on."""
    fan_ins = [max(shape) for shape in shapes if len(shape) > 1]
    return 2 * UNIT_ROUNDOFF * float(np.sqrt(sum(fan_ins) + 2 * SEEN * len(fan_ins)))


def check_parameters(hone, name, facts, folder):
    """Names and shapes of the exported model are those of transformers; gives the shapes."""
    subprocess.run([hone, "export", name, "-o", str(folder / "model.onnx")], check=True, stdout=subprocess.DEVNULL)
    initializers = onnx.load(folder / "model.onnx", load_external_data=False).graph.initializer
    shapes = {item.name: list(item.dims) for item in initializers
              if item.name.endswith((".weight", ".bias")) and item.data_type == onnx.TensorProto.FLOAT}
    digest = hashlib.sha256(json.dumps(dict(sorted(shapes.items())), sort_keys=True).encode()).hexdigest()
    assert len(shapes) == facts["parameters"], f"{name}: {len(shapes)} parameters, expected {facts['parameters']}"
    assert digest == facts["sha256"], f"{name}: names or shapes of parameters differ"
    return shapes.values()


def check_output(what, actual, expected, limit):
    assert list(actual.shape) == expected["shape"], f"{what} is {actual.shape}"
    norm, wanted = np.linalg.norm(actual.astype(np.float64)), np.array(expected["sampled"])
    error = np.linalg.norm(sampled(actual) - wanted) / np.linalg.norm(wanted)
    print(f"{what}: relative error {error:.2e} of {limit:.2e}", flush=True)
    assert error < limit, f"{what} has a relative error of {error:.2e}, expected below {limit:.2e}"
    assert abs(norm / expected["norm"] - 1) < limit, f"the norm of {what} is {norm}"


def check(hone, name, facts, folder):
    limit = tolerance(check_parameters(hone, name, facts, folder))
    np.savez(folder / "inputs.npz", **inputs_of(name))
    for backend in backends(hone):
        if backend == "reference" and name in LARGE:
            continue
        subprocess.run([hone, "run", name, "--backend", backend, "--input", str(folder / "inputs.npz"), "-o",
                        str(folder / "outputs.npz")], check=True, stdout=subprocess.DEVNULL)
        outputs = np.load(folder / "outputs.npz")
        for key, expected in facts["outputs"].items():
            check_output(f"{name} on {backend}: {key}", outputs[key], expected, limit)


def main():
    facts = json.loads(pathlib.Path(__file__).with_name("transformers_facts.json").read_text())
    for name in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            check(sys.argv[1], name, facts[name], pathlib.Path(folder))


if __name__ == "__main__":
    main()
