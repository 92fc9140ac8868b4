"""The pipeline of `hone detect` from outside: several backends inside, a timeline, and the page that shows them.

usage: pipeline_test.py HONE
"""
import json
import pathlib
import sqlite3
import sys
import tempfile

import numpy as np

from vision import BAD_INPUT, THRESHOLD, USAGE, Runner, constant_model, picture

FRAMES = 6
STAGES = ["decode", "preprocess", "infer", "postprocess", "write"]


def make(runner):
    folder = runner.folder / "images"
    folder.mkdir()
    for number in range(FRAMES):
        picture(64, 32, seed=number).save(folder / f"{number}.png")
    found = np.zeros((1, 300, 6), np.float32)
    found[0, 0] = [8, 4, 24, 20, 0.9, 1]
    return folder, constant_model(runner.folder / "net.onnx", [1, 3, 32, 64], {"output0": found}, {"end2end": "True"})


def check_frames(runner, folder, model):
    assert len(runner.good("detect", model, folder, "--frames", "4").stdout.splitlines()) == 4
    assert len(runner.good("detect", model, folder, "--frames", "400").stdout.splitlines()) == FRAMES


def check_preprocessing(runner, folder, model):
    """The table says where frames became the input, and --preprocess cpu keeps them on the host."""
    stats = runner.folder / "where.json"
    for arguments, wanted in ([], "the network runs there"), (["--preprocess", "cpu"], "--preprocess cpu"):
        ending = runner.good("detect", model, folder, "-o", runner.folder / "where.jsonl", "--stats", stats, *arguments)
        assert f"frames were preprocessed on the CPU: {wanted}\n" in ending.stdout, ending.stdout
        assert json.loads(stats.read_text())["preprocessing"] == f"on the CPU: {wanted}"
    runner.bad(USAGE, "--preprocess", "detect", model, folder, "--preprocess", "moon")


def check_backends(runner, folder, model):
    """One command, a row each: what runs, and why something does not."""
    table, out = runner.folder / "table.json", runner.folder / "found.jsonl"
    ending = runner.good("detect", model, folder, "--backends", "hone,reference,partition:none", "--stats", table, "-o", out)
    lines = ending.stdout.splitlines()
    assert [line.split()[1] for line in lines] == ["backend", "hone", "reference", "partition:none"], lines
    assert "64 x 32" in lines[1] and lines[1].startswith("net "), lines
    assert "none" in lines[3].split(None, 2)[2], lines
    rows = json.loads(table.read_text())["rows"]
    assert [row["backend"] for row in rows] == ["hone", "reference", "partition:none"], rows
    for row in rows[:2]:
        told = row["pipeline"]
        assert told["backend"] == row["backend"] and told["frames"] == FRAMES, told
        assert [stage["name"] for stage in told["stages"]] == STAGES and told["end_to_end_fps"] > 0, told
    assert "none" in rows[2]["failure"] and "pipeline" not in rows[2], rows[2]
    results = [(runner.folder / f"found.{name}.jsonl").read_text() for name in ("hone", "reference")]
    assert results[0] == results[1] and len(results[0].splitlines()) == FRAMES, results
    assert not out.exists() and not (runner.folder / "found.partition-none.jsonl").exists()
    truth = runner.folder / "truth.txt"
    truth.write_text("1,1,9,5,16,16,1,2,1\n")
    text = runner.good("detect", model, folder, "--backends", "hone", "--ground-truth", truth, "--frames", "1").stdout
    assert "mAP@0.5" in text and "1.0000" in text, text
    runner.bad(USAGE, "unknown backend 'refrence'; did you mean reference? (hone, ", "detect", model, folder,
               "--backends", "hone,refrence")
    # An error that all of them share is the error of the whole.
    nowhere = runner.folder / "nowhere"
    ending = runner.run("detect", model, nowhere, "--backends", "hone,reference")
    assert ending.returncode == BAD_INPUT, ending
    assert ending.stderr.splitlines()[-1].endswith(f"{nowhere}: there is no such file or folder"), ending.stderr
    (folder / "cut.png").write_bytes((folder / "0.png").read_bytes()[:60])
    ending = runner.good("detect", model, folder, "--backends", "hone,reference")
    assert ending.stderr.count("warning: 1 image could not be decoded\n") == 1, ending.stderr
    ending = runner.run("detect", model, folder, "--backends", "hone,reference", "--strict")
    assert ending.returncode == THRESHOLD and len(ending.stdout.splitlines()) == 3, ending
    (folder / "cut.png").unlink()
    runner.bad(USAGE, "--backend", "detect", model, folder, "--backends", "hone", "--backend", "hone")
    runner.bad(USAGE, "the output is the input", "detect", model, folder, "--backends", "hone", "--stats", model)


def stages_of(trace):
    with sqlite3.connect(trace) as database:
        rows = database.execute("SELECT s.value, n.value, e.start, e.\"end\" FROM host_events e JOIN strings s ON s.id = e.name "
                                "JOIN threads t ON t.rowid = e.thread + 1 JOIN strings n ON n.id = t.name ORDER BY e.start")
        return rows.fetchall()


def check_timeline(runner, folder, model):
    """A range of each stage for each frame, in threads of their names; a frame is decoded before it is written."""
    trace, page = runner.folder / "net.trace.sqlite", runner.folder / "page.html"
    ending = runner.good("profile", "detect", model, folder, "--trace", trace, "-o", runner.folder / "found.jsonl")
    assert "5 stages" in ending.stderr, ending.stderr
    rows = stages_of(trace)
    assert {name for name, *_ in rows} == set(STAGES) and all(name == thread for name, thread, *_ in rows), rows
    for stage in STAGES:
        assert sum(name == stage for name, *_ in rows) == FRAMES, (stage, rows)
    starts = {stage: [start for name, _, start, _ in rows if name == stage] for stage in STAGES}
    for before, after in zip(STAGES, STAGES[1:]):
        assert all(a < b for a, b in zip(starts[before], starts[after])), (before, after, starts)
    runner.good("analyze", trace)
    said = runner.good("report", trace, "-o", page).stdout
    assert "1 pipeline;" in said and "1 profile," in said, said
    shown = page.read_text()
    assert '"pipelines":[{"id":"net"' in shown.replace(": ", ":").replace(", ", ","), "the page has the stages"
    runner.bad(USAGE, "are one file", "detect", model, folder, "--trace", trace, "--stats", trace)
    ending = runner.run("profile", "detect", model, runner.folder / "nothing.mp4", "--trace", trace)
    assert ending.returncode == 3 and "there is no such file" in ending.stderr, ending


def check_page(runner, folder, model):
    """Tables of one run and of several are found in folders, and damaged ones are told."""
    runs = runner.folder / "runs"
    runs.mkdir()
    runner.good("detect", model, folder, "--stats", runs / "one.json", "-o", runner.folder / "found.jsonl")
    runner.good("detect", model, folder, "--backends", "hone,reference", "--stats", runs / "two.json")
    said = runner.good("report", runs, "-o", runner.folder / "page.html").stdout
    assert "3 pipelines;" in said, said
    told = json.loads((runs / "one.json").read_text())
    told["stages"][0]["p50_ms"] = "soon"
    (runs / "bad.json").write_text(json.dumps(told))
    (runs / "later.json").write_text(json.dumps({**told, "version": 99}))
    ending = runner.good("report", runs, "-o", runner.folder / "page.html")
    assert "stages[0].p50_ms" in ending.stderr and "version 99" in ending.stderr, ending.stderr
    assert "3 pipelines;" in ending.stdout, ending.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], pathlib.Path(folder))
        folder, model = make(runner)
        check_frames(runner, folder, model)
        check_preprocessing(runner, folder, model)
        check_backends(runner, folder, model)
        check_timeline(runner, folder, model)
        check_page(runner, folder, model)
    print("all as expected")


if __name__ == "__main__":
    main()
