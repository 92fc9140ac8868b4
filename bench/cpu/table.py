#!/usr/bin/env python3
"""Measures networks on the CPU, hone beside the systems that people would use instead, quiet and beside busy threads, and
prints a table for each precision.

HONE is the program (build/release/bin/hone), PYTHON an interpreter with torch, torchvision, transformers, onnxscript,
onnxruntime and openvino, for the models (export_models.py) and the peers; what it lacks is a failed row with its reason.
NAMEs are networks of networks.py, all of them when none is named. --busy 0 is the default; --busy 0,1,2 also gives how
much latencies grow. OUTPUT gets models/, runs/ and summary.json; runs that are there already stay, so that a command
that was interrupted goes on, and --tables measures nothing. CORES (default 0,1) says where, THREADS follow from it.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ("onnxruntime_python", "openvino", "torch_eager", "torch_inductor")
PRECISIONS = ("fp32", "bf16")


def command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hone", type=pathlib.Path)
    parser.add_argument("python")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--busy", default="0")
    parser.add_argument("--backends", default=",".join(("hone", *PEERS)))
    parser.add_argument("--duration", type=float, default=4)
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    try:
        arguments.busy = [int(number) for number in arguments.busy.split(",")]
    except ValueError:
        parser.error(f"--busy {arguments.busy}: numbers with commas between them are wanted")
    arguments.backends = arguments.backends.split(",")
    if unknown := [name for name in arguments.backends if name != "hone" and name not in PEERS]:
        parser.error(f"there is no backend {unknown[0]}; they are hone {' '.join(PEERS)}")
    return arguments


def export(arguments):
    folder = arguments.output / "models"
    script = HERE / "export_models.py"
    done = subprocess.run([arguments.python, str(script), str(folder), *arguments.names], check=False)
    models = {path.stem: path for path in sorted(folder.glob("*.onnx"))}
    if done.returncode != 0 and not models:
        sys.exit("table.py: no network was exported")
    return {name: path for name, path in models.items() if not arguments.names or name in arguments.names}


def peer_options(arguments):
    for name in arguments.backends:
        if name == "hone":
            continue
        worker = HERE.parent / "peers" / name / "worker"
        shell = worker.read_bytes().startswith(b"#!/bin/sh")
        command = f"env PYTHON='{arguments.python}' '{worker}'" if shell else f"'{arguments.python}' '{worker}'"
        yield from ("--peer", f"{name}={command}")


def measure(arguments, name, path, busy):
    folder = arguments.output / "runs" / f"{name}-busy{busy}"
    finished = [file for file in folder.glob("*.json") if json.loads(file.read_text(encoding="utf-8"))["complete"]]
    if finished:
        return
    cores = os.environ.get("CORES", "0,1")
    threads = len(cores.split(","))
    print(f"# {name}, {busy} busy", flush=True)
    subprocess.run(["taskset", "-c", cores, str(arguments.hone), "bench", str(path), "--backends", ",".join(arguments.backends),
                    *peer_options(arguments), "--precisions", ",".join(PRECISIONS), "--batches", "1", "--threads", str(threads),
                    "--busy", str(busy), "--duration", str(arguments.duration), "--compare-to", arguments.backends[0], "--timeout", "900",
                    "-o", str(folder)], check=False)


def read_runs(folder):
    """{(network, busy): {(backend, precision): run}}"""
    found = {}
    for file in sorted(folder.glob("*/*.json")):
        for run in json.loads(file.read_text(encoding="utf-8"))["runs"]:
            key = (pathlib.Path(run["model"]).stem, run.get("busy_threads", 0))
            found.setdefault(key, {})[run["backend"], run["precision"]] = run
    return found


def p50(runs, backend, precision):
    run = runs.get((backend, precision))
    return None if run is None or run["failure"] else run["latency_ms"]["p50"]


def text(value):
    return "-" if value is None else f"{value:.3g}"


def against_peers(found, backends):
    """Rows of the quiet runs: hone beside the best of the others."""
    peers = [backend for backend in backends if backend != "hone"]
    lines = ["| network | " + " | ".join(f"best peer {p} | hone {p} | peer / hone" for p in PRECISIONS) + " | error fp32, bf16 | not VALID |",
             "|---|" + "---|" * (3 * len(PRECISIONS) + 2)]
    for (name, busy), runs in sorted(found.items()):
        if busy != 0:
            continue
        cells = []
        for precision in PRECISIONS:
            own = p50(runs, "hone", precision)
            times = [(time, peer) for peer in peers if (time := p50(runs, peer, precision)) is not None]
            best, peer = min(times, default=(None, ""))
            cells += [f"{text(best)} {peer}".strip(), text(own), f"{best / own:.2f}" if best and own else "-"]
        errors = [runs[key]["accuracy"]["relative_l2"] for key in (("hone", p) for p in PRECISIONS) if key in runs]
        invalid = [f"{backend} {precision}" for (backend, precision), run in runs.items()
                   if not run["failure"] and not run["verdict"]["valid"]]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {', '.join(text(error) for error in errors)} | {', '.join(invalid) or '-'} |")
    return lines


def growth(found, backends):
    """How much the median grows with each number of busy threads."""
    counts = sorted({busy for _, busy in found if busy > 0})
    if not counts:
        return []
    systems = [(backend, precision) for precision in PRECISIONS for backend in backends]
    lines = ["| network | busy | " + " | ".join(f"{backend} {precision}" for backend, precision in systems) + " |",
             "|---|---|" + "---|" * len(systems)]
    for name in sorted({name for name, _ in found}):
        quiet = found.get((name, 0), {})
        for busy in counts:
            cells = []
            for system in systems:
                before, after = p50(quiet, *system), p50(found.get((name, busy), {}), *system)
                cells.append(f"{after / before:.2f}" if before and after else "-")
            lines.append(f"| {name} | {busy} | " + " | ".join(cells) + " |")
    return lines


def main():
    arguments = command_line()
    if not arguments.tables:
        arguments.output.mkdir(parents=True, exist_ok=True)
        models = export(arguments)
        for name, path in models.items():
            for busy in arguments.busy:
                measure(arguments, name, path, busy)
        files = sorted(str(file) for file in (arguments.output / "runs").glob("*/*.json"))
        subprocess.run([sys.executable, str(HERE.parent / "summarize.py"), *files, "-o", str(arguments.output / "summary.json")],
                       check=True)
    found = read_runs(arguments.output / "runs")
    if not found:
        sys.exit(f"table.py: there are no runs in {arguments.output / 'runs'}")
    print("\n".join(["", *against_peers(found, arguments.backends), "", *growth(found, arguments.backends)]))


if __name__ == "__main__":
    main()
