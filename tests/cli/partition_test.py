"""hone partition: from a model to a file that hone bench runs and hone report shows, and what it says to wrong arguments.

usage: partition_test.py HONE MODELS_DIGITS
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

GOOD, USAGE, BAD_INPUT, ENVIRONMENT, THRESHOLD = 0, 2, 3, 4, 5
BACKENDS = "hone,reference"


class Partition:
    def __init__(self, hone: str, digits: str, folder: pathlib.Path):
        self.hone, self.digits, self.folder = hone, digits, folder
        self.environment = {**os.environ, "HONE_CACHE_DIR": str(folder / "cache")}

    def run(self, *arguments, code=GOOD) -> subprocess.CompletedProcess:
        done = subprocess.run([self.hone, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                              env=self.environment)
        assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
        if code not in (GOOD, THRESHOLD):
            assert done.stdout == "", done.stdout
        if code != GOOD:
            assert done.stderr.startswith("hone: ") and done.stderr.count("\n") == 1, done.stderr
        return done

    def says(self, sentence: str, *arguments, code: int) -> None:
        done = self.run(*arguments, code=code)
        assert sentence in done.stderr, (sentence, done.stderr)


def a_dry_run_builds_nothing_and_says_so(test: Partition) -> None:
    text = test.run("partition", test.digits, "--backends", BACKENDS, "--exclude", "MaxPool", "--min-block-size", 1,
                    "--dry-run").stdout
    for part in ("times: estimated", "not MaxPool", "excluded by --exclude", "Ways to run it", "hone alone",
                 "cannot: it refuses", "Aggregate statistics", "--measure builds and times"):
        assert part in text, (part, text)
    assert "outputs differ" not in text, text


def a_file_is_written_run_and_shown(test: Partition) -> None:
    text = test.run("partition", test.digits, "--backends", BACKENDS, "--exclude", "MaxPool", "--min-block-size", 1,
                    "--measure", "-o", "p.json").stdout
    assert "times: measured" in text and "predicted" in text and "outputs differ from the reference's by" in text, text
    record = json.loads((test.folder / "p.json").read_text())
    assert record["schema"] == "hone.partition" and record["measured"] and record["measured_ms"] > 0, record
    nodes = sorted(node for block in record["blocks"] for node in block["nodes"])
    assert nodes == list(range(len(record["nodes"]))), nodes
    chosen = [plan for plan in record["plans"] if plan["chosen"]]
    assert len(chosen) == 1 and chosen[0]["blocks"] == len(record["blocks"]), chosen

    test.run("bench", test.digits, "--partition", "p.json", "--backends", "hone", "--batches", 1,
             "--duration", 0.2, "--rounds", 3, "--threads", record["threads"], "-o", "runs")
    result = json.loads(next((test.folder / "runs").glob("*.json")).read_text())
    assert {run["precision"] for run in result["runs"]} == {"fp32"}, "a partition is measured in its own precision"
    run = next(run for run in result["runs"] if run["backend"] == "partition:p.json")
    assert run["failure"] is None and run["predicted_ms"] == record["predicted_ms"], run
    assert run["accuracy"]["relative_l2"] < 1e-5, run["accuracy"]

    out = test.run("report", "p.json", "runs", "-o", "report.html").stdout
    assert "1 partition" in out, out
    assert '"hone.partition"' in (test.folder / "report.html").read_text()
    test.run("profile", test.digits, "--backends", "partition:p.json", "--active", 1, "-o", "traces")


def wrong_arguments_are_one_sentence(test: Partition) -> None:
    digits = test.digits
    test.says("unknown backend 'nothing'", "partition", digits, "--backends", "hone,nothing", code=USAGE)
    test.says("the backend hone is named twice", "partition", digits, "--backends", "hone,hone", code=USAGE)
    test.says("'Sofmax' is no operator", "partition", digits, "--exclude", "Sofmax", code=USAGE)
    test.says("min-block-size", "partition", digits, "--min-block-size", "0", code=USAGE)
    test.says("exclude each other", "partition", digits, "--dry-run", "--measure", code=USAGE)
    test.says("refuses", "partition", digits, "--exclude", "MaxPool", "--require-full", "--dry-run", "--backends",
              BACKENDS, code=THRESHOLD)
    test.says("output", "partition", digits, "-o", digits, code=USAGE)


def files_of_others_are_refused(test: Partition) -> None:
    (test.folder / "no.json").write_text("{}")
    test.says("this is no partition", "bench", test.digits, "--partition", "no.json", code=BAD_INPUT)
    record = json.loads((test.folder / "p.json").read_text())
    record["blocks"][0]["nodes"].append(0)
    (test.folder / "forged.json").write_text(json.dumps(record))
    done = subprocess.run([test.hone, "bench", test.digits, "--partition", "forged.json", "--backends", "hone", "--precisions", "fp32",
                           "--batches", "1", "--duration", "0.1", "--rounds", "3", "-o", "forged"], cwd=test.folder, capture_output=True,
                          text=True, check=False)
    assert done.returncode == ENVIRONMENT and "is in block 0 and in block" in done.stdout, done


def main() -> None:
    hone, digits = sys.argv[1], str(pathlib.Path(sys.argv[2]) / "digits.onnx")
    with tempfile.TemporaryDirectory() as name:
        test = Partition(hone, digits, pathlib.Path(name))
        for case in (a_dry_run_builds_nothing_and_says_so, a_file_is_written_run_and_shown,
                     wrong_arguments_are_one_sentence, files_of_others_are_refused):
            case(test)


if __name__ == "__main__":
    main()
