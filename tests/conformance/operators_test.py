"""Every operator that models may use stands in a case that has to pass: one of the ONNX project's or one of ours.

usage: operators_test.py HONE CASES SCRIPTS [FOLDER]

SCRIPTS is the folder of the tests that write cases of our own; FOLDER is where to keep those.
"""
import pathlib
import subprocess
import sys
import tempfile

import onnx

# Operators that only passes create, from nodes that have cases; tests/reference/fused_test.cpp and region_test.cpp have
# theirs.
MADE_BY_PASSES = {"FusedConv", "FusedElementwise", "FusedGemm", "FusedMatMul", "Region"}


def operators(graph: onnx.GraphProto) -> set:
    found = set()
    for node in graph.node:
        found.add(node.op_type)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= operators(attribute.g)
    return found


def main() -> None:
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    hone, cases, scripts = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    table = subprocess.run([hone, "ops"], capture_output=True, text=True, check=True).stdout
    known = {line.split()[0] for line in table.splitlines() if " since " in line}
    with tempfile.TemporaryDirectory() as temporary:
        own = pathlib.Path(sys.argv[4] if len(sys.argv) == 5 else temporary)
        for script in sorted(scripts.glob("*_test.py")):
            subprocess.run([sys.executable, script, hone, own / script.stem], check=True)
        models = [*cases.rglob("model.onnx"), *own.rglob("model.onnx")]
        seen = set().union(*(operators(onnx.load(str(model), load_external_data=False).graph) for model in models))
    missing = sorted(known - seen - MADE_BY_PASSES)
    if len(known) < 100 or missing:
        sys.exit(f"{len(known)} operators; without a case: {', '.join(missing)}")
    print(f"{len(known)} operators, all with cases among {len(models)}")


if __name__ == "__main__":
    main()
