"""Names of outputs: those that a model gives its functions' results, and those that conformance cases expect.

usage: names_test.py HONE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

THRESHOLD = 5
X = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)


def function(name: str, inputs: list, outputs: list, nodes: list):
    return helper.make_function("local", name, inputs, outputs, nodes, [helper.make_opsetid("", 17)])


FUNCTIONS = [
    function("Twice", ["a"], ["p", "p"], [helper.make_node("Relu", ["a"], ["p"])]),
    function("Both", ["a", "b"], ["b", "a"], []),
    function("Fixed", [], ["c"], [helper.make_node("Constant", [], ["c"], value_float=2.5)]),
    function("Outer", ["a"], ["r", "s"], [helper.make_node("Twice", ["a"], ["r", "s"], domain="local")]),
]


def call(name: str, inputs: list, outputs: list):
    return helper.make_node(name, inputs, outputs, domain="local")


def save(path: pathlib.Path, nodes: list, outputs: list) -> None:
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])
    model.functions.extend(FUNCTIONS)
    model.functions[-1].opset_import.append(helper.make_opsetid("local", 1))
    model.ir_version = 8
    onnx.save(model, str(path))


def run(hone: str, folder: pathlib.Path, model: pathlib.Path) -> dict:
    np.save(folder / "x.npy", X)
    for backend in ("reference", "hone"):
        subprocess.run([hone, "run", str(model), "--input", str(folder / "x.npy"), "--backend", backend,
                        "-o", str(folder / "out.npz")], check=True, capture_output=True)
        result = dict(np.load(folder / "out.npz"))
    return result


def results_of_functions_keep_their_names(hone: str, folder: pathlib.Path) -> None:
    relu = np.maximum(X, 0)
    for nodes, expected in (
            ([call("Twice", ["x"], ["u", "v"])], {"u": relu, "v": relu}),
            ([call("Outer", ["x"], ["u", "v"])], {"u": relu, "v": relu}),
            ([helper.make_node("Neg", ["x"], ["n"]), call("Both", ["x", "n"], ["u", "v"])], {"u": -X, "v": X}),
            ([call("Fixed", [], ["u"]), helper.make_node("Mul", ["x", "u"], ["v"])], {"u": 2.5, "v": 2.5 * X})):
        save(folder / "model.onnx", nodes, list(expected))
        outputs = run(hone, folder, folder / "model.onnx")
        assert outputs.keys() == expected.keys(), outputs.keys()
        for name, value in expected.items():
            assert np.array_equal(outputs[name], value), name


def cases_compare_names(hone: str, folder: pathlib.Path) -> None:
    case = folder / "case"
    data = case / "test_data_set_0"
    data.mkdir(parents=True)
    save(case / "model.onnx", [call("Twice", ["x"], ["u", "v"])], ["u", "v"])
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(X, "x").SerializeToString())
    relu = np.maximum(X, 0)
    for names, code in ((("u", "v"), 0), (("", ""), 0), (("u", "u"), THRESHOLD)):
        for i, name in enumerate(names):
            (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(relu, name or None).SerializeToString())
        ending = subprocess.run([hone, "conformance", str(case), "--json", str(folder / "r.json")],
                                capture_output=True, text=True, check=False)
        assert ending.returncode == code, (names, ending)
    message = json.loads((folder / "r.json").read_text())["cases"][0]["message"]
    assert message == "output_1.pb is named 'u', the model's output 1 'v'", message


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for test in (results_of_functions_keep_their_names, cases_compare_names):
        with tempfile.TemporaryDirectory() as folder:
            test(sys.argv[1], pathlib.Path(folder))


if __name__ == "__main__":
    main()
