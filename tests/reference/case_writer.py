"""Writes one-node ONNX models with inputs and expected outputs, and runs them with `hone conformance`.

For operators newer than the onnx package: models are written without its checker. Every case is run twice: with
all inputs given at run time, and with all but the first as initializers, so that shape rules see their values.
Outputs are declared with their full shapes; an inferred shape that differs is an error of the import. A third run has
inputs of which the ranks alone are known, for operators whose import makes dimensions out of others.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 22


class Cases:
    """`arguments` are a script's: HONE, and maybe a folder that the cases are written into and not run."""

    def __init__(self, arguments: list, rtol: float = 1e-5, atol: float = 1e-6):
        self.hone, self.rtol, self.atol = arguments[1], rtol, atol
        self.kept = len(arguments) > 2
        self.temporary = None if self.kept else tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(arguments[2] if self.kept else self.temporary.name)
        self.names = set()

    def add(self, name: str, op: str, inputs: list, outputs: list, opset: int = OPSET, domain: str = "",
            open_shapes: bool = False, constants_only: bool = False, **attributes) -> None:
        """None in `inputs` stands for an absent optional input, None in `outputs` for an unwanted output."""
        if not constants_only:
            self._write(name, op, inputs, outputs, opset, domain, attributes, constants=False)
        if any(value is not None for value in inputs[1:]):
            self._write(name + "_constant", op, inputs, outputs, opset, domain, attributes, constants=True)
        if open_shapes:
            self._write(name + "_open", op, inputs, outputs, opset, domain, attributes, constants=False, open_shapes=True)

    def _write(self, name, op, inputs, outputs, opset, domain, attributes, constants, open_shapes=False) -> None:
        assert name not in self.names, name
        self.names.add(name)
        inputs = [None if value is None else np.asarray(value) for value in inputs]
        outputs = [None if value is None else np.asarray(value) for value in outputs]
        node = helper.make_node(op, ["" if value is None else f"x{i}" for i, value in enumerate(inputs)],
                                ["" if value is None else f"y{i}" for i, value in enumerate(outputs)], domain=domain,
                                **attributes)
        given = [(i, value) for i, value in enumerate(inputs) if value is not None and not (constants and i > 0)]
        fixed = [(i, value) for i, value in enumerate(inputs) if value is not None and constants and i > 0]
        wanted = [(i, value) for i, value in enumerate(outputs) if value is not None]
        graph = helper.make_graph([node], name, [self._info(f"x{i}", value, open_shapes) for i, value in given],
                                  [self._info(f"y{i}", value, open_shapes) for i, value in wanted],
                                  [numpy_helper.from_array(value, f"x{i}") for i, value in fixed])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)] +
                                  ([helper.make_opsetid(domain, 1)] if domain else []))
        model.ir_version = 10
        case = self.folder / name
        data = case / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, str(case / "model.onnx"))
        for kind, values in (("input", given), ("output", wanted)):
            prefix = "x" if kind == "input" else "y"
            for k, (i, value) in enumerate(values):
                content = numpy_helper.from_array(value, f"{prefix}{i}").SerializeToString()
                (data / f"{kind}_{k}.pb").write_bytes(content)

    @staticmethod
    def _info(name: str, value: np.ndarray, open_shapes: bool):
        shape = [f"{name}_{axis}" for axis in range(value.ndim)] if open_shapes else value.shape
        return helper.make_tensor_value_info(name, numpy_helper.from_array(value).data_type, shape)

    def run(self) -> None:
        """Ends the program with a message unless every case passed."""
        if self.kept:
            return
        result_file = self.folder / "result.json"
        command = [self.hone, "conformance", str(self.folder), "--backend", "reference", "--rtol", str(self.rtol),
                   "--atol", str(self.atol), "--json", str(result_file)]
        ending = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if ending.returncode not in (0, 5):
            sys.exit(f"{' '.join(command)} ended with exit code {ending.returncode}")
        cases = json.loads(result_file.read_text())["cases"]
        wrong = [case for case in cases if case["status"] != "passed"]
        for case in wrong:
            print(f"{case['name']} {case['status']}: {case.get('message', case.get('reason'))}")
        passed = {pathlib.PurePath(case["name"]).name for case in cases} - {None}
        if wrong or passed != self.names:
            sys.exit(f"{len(wrong)} of {len(self.names)} cases failed, {len(self.names - passed)} did not run")
        print(f"{len(cases)} cases passed")
