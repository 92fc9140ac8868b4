"""`hone analyze`: what it says of a small trace as text, JSON and CSV, where it writes, and what it refuses.

usage: analyze_test.py HONE
"""
import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from trace_file import TraceFile, training_steps

USAGE, BAD_INPUT, ENVIRONMENT = 2, 3, 4
SECTIONS = ["summary", "steps", "gpu", "metrics", "layers", "dependencies", "idle", "operators", "transfers", "memory",
            "advice"]
WIDTH = 120


def output(*command, **options):
    ending = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert ending.returncode == 0, f"{command}: {ending.returncode}: {ending.stderr}"
    return ending.stdout


def check_text(hone, trace):
    brief = output(hone, "analyze", trace)
    assert brief.find("loss: kernels: 3 were dropped") < brief.find("Advice") < brief.find("GPU activities"), brief
    assert "GPU 0: NVIDIA H200" not in brief and brief.endswith("--full shows every part and more rows, --only NAMES some.\n"), brief
    text = output(hone, "analyze", trace, "--full")
    order = ["loss: kernels: 3 were dropped", "GPU activities", "API calls", "Ranges", "Step time breakdown, 4 steps",
             "Each step", "GPU 0: NVIDIA H200", "Operators", "Transfers of GPU 0", "No allocations were recorded.",
             "Advice", "Not judged: full-memory"]
    places = [text.find(part) for part in order]
    assert -1 not in places and places == sorted(places), f"{list(zip(order, places))}\n{text}"
    for line in text.splitlines():
        assert len(line) <= WIDTH, f"{len(line)} characters: {line}"
    for part in ("lib::sgemm_kernel<float, 128>", "60.0 %", "10.00 GB/s", "(pageable-copies)",
                 "20.00 MB HtoD, pageable to device, at 1.000 ms", "Is the link idle while the GPU computes?"):
        assert part in text, f"{part} is not in\n{text}"
    one = output(hone, "analyze", trace, "--only", "summary", "--rows", 1, "--base-names")
    assert "… 1 more rows (--rows 0 shows all)" in one and "lib::" not in one and "sgemm_kernel" in one, one


def check_json(hone, trace):
    answer = json.loads(output(hone, "analyze", trace, "--json"))
    assert list(answer) == ["schema", "version", "trace", "doubts", *SECTIONS], list(answer)
    path = answer["dependencies"]["critical_path"]
    assert sum(row["critical_path_ns"] for row in path["functions"]) == path["wall_ns"] > 0, path
    assert answer["doubts"] == [{"severity": "loss", "about": "kernels", "text": "were dropped", "count": 3}]
    for step in answer["steps"]["steps"]:
        assert sum(step["costs"].values()) == step["end_ns"] - step["start_ns"] == 10_000_000, step
    usage = answer["gpu"]["devices"][0]
    assert abs(usage["utilization"]["value"] - 0.6) < 1e-9 and usage["utilization"]["origin"] == "measured", usage
    assert usage["occupancy"] is None and usage["tensor_cores"]["origin"] == "by name", usage
    rules = {advice["rule"]: advice for advice in answer["advice"]["advice"]}
    assert abs(rules["pageable-copies"]["gain_at_best_ns"] - 12e6) < 1, rules
    chosen = json.loads(output(hone, "analyze", trace, "--json", "--steps", "1:3", "--only", "steps,summary"))
    assert [step["name"] for step in chosen["steps"]["steps"]] == ["ProfilerStep#1", "ProfilerStep#2"], chosen
    assert chosen["summary"]["gpu_activities"][0]["calls"] == 2 and "advice" not in chosen, chosen
    assert len(json.loads(output(hone, "analyze", trace, "--json", "--steps", "2:"))["steps"]["steps"]) == 2
    two = json.loads(output(hone, "analyze", trace, "--json", "--steps", "1:3", "--only", "dependencies,idle"))
    assert two["dependencies"]["critical_path"]["wall_ns"] == 20_000_000, two["dependencies"]
    assert two["idle"]["devices"][0]["idle_ns"] == 4_000_000, two["idle"]


def check_csv(hone, trace):
    blocks = output(hone, "analyze", trace, "--csv").split("\n\n")
    assert blocks[0].startswith("# Doubts\n"), blocks[0]
    rows = list(csv.DictReader(blocks[1].splitlines()[1:]))
    assert blocks[1].startswith("# GPU activities\n") and rows[0]["Total (ns)"] == "24000000", blocks[1]
    assert rows[0]["Name"] == "void lib::sgemm_kernel<float, 128>(float const*, float*, int)", rows


def check_log_file(hone, trace, folder):
    process = subprocess.Popen([hone, "analyze", str(trace), "--log-file", f"{folder}/%q{{PART}}-%p-100%%.txt"],
                               stdout=subprocess.PIPE, env={**os.environ, "PART": "a"})
    stdout, _ = process.communicate()
    file = folder / f"a-{process.pid}-100%.txt"
    assert process.returncode == 0 and stdout == b"" and "GPU activities" in file.read_text(), list(folder.iterdir())
    file.unlink()
    assert "GPU activities" in output(hone, "analyze", trace, "--log-file", "%1")
    assert output(hone, "analyze", trace, "--log-file", "%2") == ""


def check_idle(hone, folder):
    """A trace of one operator and nothing else; without any event it is refused (misuse_test.py)."""
    file = TraceFile()
    file.host(0, "aten::to", 0, 10)
    trace = file.write(folder / "idle.sqlite")
    brief = output(hone, "analyze", trace)
    assert "GPU activities" not in brief and "No advice" in brief, brief
    text = output(hone, "analyze", trace, "--full")
    for part in ("No events were lost, and nothing is in doubt.", "No GPU activity was recorded.", "No advice"):
        assert part in text, text
    json.loads(output(hone, "analyze", trace, "--json"))
    output(hone, "analyze", trace, "--csv")


def check_refusals(hone, trace, folder):
    (folder / "text").write_text("not a trace " * 20)
    (folder / "none").mkdir()
    rows = [
        (USAGE, "trace is required", []),
        (BAD_INPUT, "missing", [folder / "missing"]),
        (BAD_INPUT, str(folder / "text"), [folder / "text"]),
        (BAD_INPUT, "the folder holds no trace (*.sqlite", [folder / "none"]),
        (USAGE, "FIRST:LAST, as in 2:5, not '3'", [trace, "--steps", "3"]),
        (USAGE, "FIRST:LAST, as in 2:5, not 'a:b'", [trace, "--steps", "a:b"]),
        (USAGE, "there are no steps 7:9, the trace has steps 0:4", [trace, "--steps", "7:9"]),
        (USAGE, "there are no steps 4:, the trace has steps 0:4", [trace, "--steps", "4:"]),
        (USAGE, "everything", [trace, "--only", "everything"]),
        (USAGE, "exclude each other", [trace, "--json", "--csv"]),
        (USAGE, "not what '%z' has", [trace, "--log-file", "%z"]),
        (USAGE, "variable 'HONE_NOT_SET'", [trace, "--log-file", "%q{HONE_NOT_SET}"]),
        (ENVIRONMENT, f"there is no folder {folder}/no (mkdir -p {folder}/no)", [trace, "--log-file", folder / "no" / "log"]),
    ]
    before = sorted(folder.iterdir())
    for code, part, arguments in rows:
        ending = subprocess.run([hone, "analyze", *map(str, arguments)], capture_output=True, text=True, check=False)
        shown = f"hone analyze {arguments}: {ending.returncode}: {ending.stderr}"
        assert ending.returncode == code and part in ending.stderr and ending.stdout == "", shown
        assert ending.stderr.count("\n") == 1 and ending.stderr.startswith("hone: "), shown
        assert sorted(folder.iterdir()) == before, f"{shown} left {list(folder.iterdir())}"


def check_events(hone, trace, folder):
    written = output(hone, "convert", trace, str(folder / "csv"), "--to", "csv", "--gzip").split()
    assert [pathlib.Path(path).name for path in written] == ["gpu_trace.csv.gz", "api_trace.csv.gz"], written
    gpu, api = [list(csv.DictReader(gzip.open(path, "rt"))) for path in written]
    assert len(gpu) == 1 + 8 and len(api) == 1 + 8, (gpu, api)  # the first row holds units
    copy = gpu[1]
    assert (copy["Duration"], copy["Size"], copy["Throughput"], copy["SrcMemType"]) == (
        "2000000", "20000000", "10.000000", "Pageable"), copy
    assert api[1]["Name"] == "cudaMemcpyAsync" and api[1]["Correlation_ID"] == copy["Correlation_ID"], api[1]


def main():
    hone = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        steps = training_steps()
        steps.add("doubts", severity=2, about="kernels", text="were dropped", count=3)
        trace = steps.write(folder / "steps.sqlite")
        check_text(hone, trace)
        check_json(hone, trace)
        check_csv(hone, trace)
        check_log_file(hone, trace, folder)
        check_events(hone, trace, folder)
        check_idle(hone, folder)
        check_refusals(hone, trace, folder)


if __name__ == "__main__":
    main()
