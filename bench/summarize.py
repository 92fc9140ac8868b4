#!/usr/bin/env python3
"""Summarizes result files of `hone bench`: a line a run, without its samples and what the GPU was like meanwhile.

usage: summarize.py RESULT.json... -o SUMMARY.json

SUMMARY.json keeps what it has, but for files of the same names, which are replaced. bench/results/README.md describes its form.
Absolute paths in command lines, notes and names of models lose their folders.
"""
import json
import pathlib
import re
import sys

# Fields of a run as docs/BENCHMARK.md defines them.
COLUMNS = [
    "model", "backend", "backend_version", "precision", "batch", "device", "includes_transfers", "cold_l2", "threads", "busy_threads",
    "latency_ms.p50", "latency_ms.p50_interval", "latency_ms.p90", "latency_ms.p95", "latency_ms.p99", "latency_ms.n",
    "throughput_per_s", "device_ms.p50", "enqueue_ms.p50", "h2d_ms.p50", "d2h_ms.p50",
    "pipelined.throughput_per_s", "pipelined.streams",
    "speedup.ratio", "speedup.interval", "speedup.over.backend", "speedup.over.precision", "speedup.interleaved",
    "accuracy.relative_l2", "accuracy.max_abs", "accuracy.top1_agreement",
    "peak_memory_mb", "memory.weights_mb", "memory.engine_file_mb", "device_memory.planned_mb", "device_memory.allocated_mb",
    "device_memory.driver_mb", "device_memory.process_mb", "growth.runs", "growth.resident_mb", "growth.device_mb", "load_ms",
    "verdict.valid", "verdict.reasons", "failure", "notes"]
# Fields that the files from before there was a choice lack.
BEFORE = {"device": "cpu", "includes_transfers": False, "cold_l2": False, "busy_threads": 0}
MACHINE = ["cpu", "cores", "memory_mb", "kernel", "gpu.name", "gpu.driver", "gpu.memory_mb", "gpu.power_limit_w"]
FOLDERS = re.compile(r"(?<![\w.+-])/(?:[\w.+-]+/)*")


class Table(list):
    """Values that stand once in a summary; others say which by its index."""

    def index_of(self, value):
        if value not in self:
            self.append(value)
        return self.index(value)


def at(value, path):
    """The field at a path, null where it or what should hold it is missing."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def rounded(value, digits=5):
    if isinstance(value, list):
        return [rounded(one, digits) for one in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def field(run, column):
    """Five digits are far finer than two runs of one configuration agree; latencies keep the nanoseconds of their clock."""
    return rounded(at(run, column), 9 if column.startswith("latency_ms.") else 5)


def summary_of_run(run):
    run = {**BEFORE, **run, "model": FOLDERS.sub("", run["model"]),
           "notes": [FOLDERS.sub("", note) for note in run.get("notes") or []]}
    row = {column: field(run, column) for column in COLUMNS}
    for percentile in ("p90", "p95", "p99"):
        if percentile not in (at(run, "latency_ms.supported") or []):
            row[f"latency_ms.{percentile}"] = None
    return row


def load(path, schema):
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"summarize.py: {path}: {error}")
    if not isinstance(document, dict) or (document.get("schema"), document.get("version")) != (schema, 1):
        sys.exit(f"summarize.py: {path}: this is no file of the schema {schema}, version 1")
    return document


def summary_of_file(path):
    document = load(path, "hone.bench")
    context = document["context"]
    machine = {name: rounded(at(context, name)) for name in MACHINE}
    # The kernel's own part of it differs from start to start.
    machine["memory_mb"] = round(machine["memory_mb"], -3)
    return {"file": path.name, "date": context["date"], "complete": document["complete"],
            "commit": context["hone_commit"], "command": FOLDERS.sub("", " ".join(context["command_line"])),
            "machine": machine, "runs": [summary_of_run(run) for run in document["runs"]]}


def read(path):
    """The files of a summary, with their runs by column."""
    document = load(path, "hone.bench.summary")
    for file in document["files"]:
        file["machine"] = document["machines"][file["machine"]]
        file["runs"] = [{**BEFORE, **dict(zip(document["columns"], row))} for row in file["runs"]]
        for run in file["runs"]:
            run["backend_version"] = document["backend_versions"][run["backend_version"]]
            run["notes"] = [document["notes"][note] for note in run["notes"]]
    return document["files"]


def as_in_result(run):
    """A run by column as a result file has it: objects in objects."""
    result = {}
    for column, value in run.items():
        *parents, name = column.split(".")
        place = result
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = value
    return result


def line(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines(values):
    return "[\n" + ",\n".join(map(line, values)) + "\n]" if values else "[]"


def text_of(files):
    machines, versions, notes = Table(), Table(), Table()
    texts = []
    for file in sorted(files, key=lambda file: (file["date"], file["file"])):
        rows = []
        for run in file["runs"]:
            run = {**run, "backend_version": versions.index_of(run["backend_version"]),
                   "notes": [notes.index_of(note) for note in run["notes"]]}
            rows.append([run.get(column) for column in COLUMNS])
        header = {**file, "machine": machines.index_of(file["machine"])}
        del header["runs"]
        texts.append(f'{line(header)[:-1]},"runs":{lines(rows)}}}')
    tables = {"machines": machines, "backend_versions": versions, "notes": notes}
    head = ['"schema":"hone.bench.summary"', '"version":1', f'"columns":{line(COLUMNS)}']
    head += [f'"{name}":{lines(table)}' for name, table in tables.items()]
    return "{\n" + ",\n".join(head) + ',\n"files":[\n' + ",\n".join(texts) + "\n]\n}\n"


def main():
    if len(sys.argv) < 4 or sys.argv[-2] != "-o":
        sys.exit(__doc__)
    output = pathlib.Path(sys.argv[-1])
    files = {file["file"]: file for file in (read(output) if output.exists() else [])}
    for name in sys.argv[1:-2]:
        file = summary_of_file(pathlib.Path(name))
        files[file["file"]] = file
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text_of(files.values()), encoding="utf-8")


if __name__ == "__main__":
    main()
