"""`hone plot`: which figures it writes of real results and traces, that they are pictures, and what it refuses.

usage: plot_test.py HONE SOURCE_FOLDER HAS_PLUGIN
"""
import gzip
import json
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

USAGE, BAD_INPUT, ENVIRONMENT = 2, 3, 4
KINDS = ["latency", "memory", "speedup", "throughput"]
SVG = "{http://www.w3.org/2000/svg}"


def plot(hone, *arguments):
    return subprocess.run([hone, "plot", *map(str, arguments)], capture_output=True, text=True, check=False)


def written(hone, *arguments):
    ending = plot(hone, *arguments)
    assert ending.returncode == 0, f"{arguments}: {ending.returncode}: {ending.stderr}"
    return sorted(pathlib.Path(line) for line in ending.stdout.splitlines()), ending.stderr


def png_pixels(path):
    """Width, height and the distinct bytes of a PNG whose checksums hold."""
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n", path
    place, packed = 8, b""
    while place < len(content):
        length, kind = struct.unpack(">I4s", content[place:place + 8])
        data = content[place + 8:place + 8 + length]
        assert struct.unpack(">I", content[place + 8 + length:place + 12 + length])[0] == zlib.crc32(kind + data), path
        packed += data if kind == b"IDAT" else b""
        place += 12 + length
    return *struct.unpack(">II", content[16:24]), set(zlib.decompress(packed))


def check_picture(path, scale):
    if path.suffix == ".svg":
        root = xml.etree.ElementTree.parse(path).getroot()
        assert root.tag == SVG + "svg" and root.find(SVG + "title").text and root.find(SVG + "desc").text, path
        assert root.get("width").startswith("900"), root.attrib
        return
    width, height, values = png_pixels(path)
    assert width == round(900 * scale) and height > 200 and len(values) > 50, (path, width, height, len(values))


def check_results(hone, source, folder):
    results = source / "tests/bench/data/xeon-2-cores"
    paths, said = written(hone, results, "-o", folder / "plots")
    models = {path.name.split("-2026")[0] for path in results.glob("*.json")}
    names = sorted(f"{model}-{kind}.{ending}" for model in models for kind in KINDS for ending in ("png", "svg"))
    assert [path.name for path in paths] == names and said == "", (paths, said)
    assert sorted(path.name for path in (folder / "plots").iterdir()) == names, names
    for path in paths:
        check_picture(path, 2)


def unpack_traces(source, folder):
    folder.mkdir()
    for packed in [*(source / "tests/trace/data").glob("*-fp16-b1.sqlite.gz"),
                   source / "tests/trace/data/known_path.sqlite.gz"]:
        (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))


def check_traces(hone, folder):
    hone_trace, torch, graph = (f"resnet50-{kind}-fp16-b1" for kind in ("hone", "torch", "torch-graph"))
    paths, said = written(hone, folder / "traces", "-o", folder / "t", "--formats", "png", "--scale", 1)
    assert [path.name for path in paths] == [f"{trace}-{what}.png" for trace in (hone_trace, torch, graph)
                                             for what in ("layers", "steps")], paths
    for part in ("known_path.sqlite: no layers were announced", "known_path.sqlite: no steps were announced",
                 "there are 3 traces of resnet50; --baseline TRACE"):
        assert part in said, said
    baseline = folder / "traces" / f"{torch}.sqlite"
    paths, _ = written(hone, folder / "traces", "-o", folder / "b", "--formats=svg", "--baseline", baseline)
    waterfalls = {path.name for path in paths if "waterfall" in path.name}
    assert {f"{torch}-to-{hone_trace}-waterfall.svg", f"{torch}-to-{graph}-waterfall.svg"} <= waterfalls, waterfalls
    paths, _ = written(hone, baseline, folder / "traces" / f"{hone_trace}.sqlite", "-o", folder / "w", "--theme", "dark")
    assert folder / "w" / f"{torch}-to-{hone_trace}-waterfall.png" in paths, paths
    for path in paths:
        check_picture(path, 2)
    paths, _ = written(hone, folder / "traces" / f"{hone_trace}.sqlite", baseline, "-o", folder / "o", "--formats=svg")
    assert folder / "o" / f"{torch}-to-{hone_trace}-waterfall.svg" in paths, f"the slower one is A, as in a report: {paths}"


def check_baselines(hone, source, folder):
    """A waterfall was asked for, so one that cannot be drawn is an error, and nothing else is drawn."""
    traces = folder / "traces"
    result = next((source / "tests/bench/data/epyc-2-cores").glob("*.json"))
    other, damaged = folder / "other.sqlite", folder / "damaged.sqlite"
    shutil.copy(traces / "resnet50-torch-fp16-b1.sqlite", other)
    with sqlite3.connect(other) as database:
        database.execute("UPDATE metadata SET value = 'alexnet' WHERE key = 'model'")
    damaged.write_text("no database")
    (folder / "itself").symlink_to(folder / "itself")
    for baseline, code, sentence in [
            (result, BAD_INPUT, "it is a result of a benchmark, not a trace"),
            (traces, BAD_INPUT, "it is a folder, not a trace"),
            (folder / "nosuch", BAD_INPUT, "nosuch: No such file or directory"),
            (folder / "itself", BAD_INPUT, "itself: Too many levels of symbolic links"),
            (folder / ("n" * 300), BAD_INPUT, "n: File name too long"),
            (damaged, BAD_INPUT, "damaged.sqlite: "),
            (other, BAD_INPUT, "there is no other trace of alexnet to compare it with")]:
        ending = plot(hone, traces / "resnet50-hone-fp16-b1.sqlite", "-o", folder / "unplotted", "--baseline", baseline)
        assert ending.returncode == code and sentence in ending.stderr and ending.stdout == "", (baseline, ending)
        assert ending.stderr.count("\n") == 1 and not (folder / "unplotted").exists(), (baseline, ending)


def check_damage(hone, source, folder):
    """What is damaged is named, and the rest is plotted; impossible values are left out."""
    mixed = folder / "mixed"
    mixed.mkdir()
    real = source / "tests/bench/data/epyc-2-cores/resnet50-2026-11-21T034320Z.json"
    shutil.copy(real, mixed / "good.json")
    (mixed / "half.json").write_text(real.read_text()[:5000])
    (mixed / "text.sqlite").write_text("no database")
    (mixed / "package.json").write_text('{"name": "something else"}')
    strange = json.loads(real.read_text())
    strange["runs"][0]["latency_ms"]["p50"] = -1
    strange["runs"][1]["throughput_per_s"] = None
    for run in strange["runs"]:
        run["model"] = "../../\u202e<&\"x\u0000\n" + "y" * 300
    (mixed / "strange.json").write_text(json.dumps(strange))
    paths, said = written(hone, mixed, "-o", folder / "m", "--formats", "svg,png")
    assert len(paths) == 16 and len({path.name for path in paths}) == 16, paths
    for path in paths:
        assert path.parent == folder / "m", path
        check_picture(path, 2)
    assert said.count("\n") == 2 and "half.json: this is no JSON file" in said and "text.sqlite: " in said, said


def check_sizes(hone, source, folder):
    one = source / "tests/bench/data/epyc-2-cores"
    paths, _ = written(hone, one, "-o", folder / "s", "--formats", "png", "--width", 400, "--height", 330, "--scale", 1.5)
    assert {png_pixels(path)[:2] for path in paths} == {(600, 495)}, paths


def check_refusals(hone, source, folder):
    one = source / "tests/bench/data/epyc-2-cores"
    (folder / "nothing").mkdir()
    (folder / "file").write_text("text")
    rows = [
        (USAGE, "inputs is required", []),
        (USAGE, "--formats", [one, "--formats", "pdf"]),
        (USAGE, "--width", [one, "--width", 10]),
        (USAGE, "--scale", [one, "--scale", 100]),
        (USAGE, "--theme", [one, "--theme", "blue"]),
        (USAGE, "choose a smaller --scale", [one, "--width", 8000, "--height", 8000, "--scale", 8, "--formats", "png"]),
        (BAD_INPUT, "nothing to plot", [folder / "nothing"]),
        (BAD_INPUT, "missing", [folder / "missing"]),
        (ENVIRONMENT, "cannot create the folder", [one, "-o", folder / "file" / "plots"]),
    ]
    for code, part, arguments in rows:
        if "-o" not in arguments:
            arguments = [*arguments, "-o", folder / "refused"]
        ending = plot(hone, *arguments)
        shown = f"hone plot {arguments}: {ending.returncode}: {ending.stderr}"
        assert ending.returncode == code and part in ending.stderr and ending.stdout == "", shown
        assert all(line.startswith("hone: ") for line in ending.stderr.splitlines()), shown
    assert not (folder / "refused").exists() or not list((folder / "refused").iterdir()), "a refused run left figures"


def check_missing_plugin(hone, source, folder):
    """The program elsewhere, without the plugin beside its library."""
    tree = folder / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / "lib").mkdir()
    shutil.copy(hone, tree / "bin")
    built = pathlib.Path(hone).parent.parent / "lib"
    for file in (*built.glob("libhone.so*"), built / "libhone-plot.json"):
        shutil.copy(file, tree / "lib", follow_symlinks=False)
    ending = plot(tree / "bin" / "hone", source / "tests/bench/data/epyc-2-cores", "-o", folder / "none")
    assert ending.returncode == ENVIRONMENT and ending.stdout == "", ending
    assert ending.stderr == ("hone: the plugin libhone-plot.so is not installed (cmake --install BUILD --prefix "
                             f"{tree} --component plot adds it where hone was built with it, which takes: "
                             "install libcairo2-dev and build again)\n"), ending.stderr
    assert not (folder / "none").exists(), "a folder was made for nothing"


def main():
    hone, source, has_plugin = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] == "1"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_missing_plugin(hone, source, folder)
        if not has_plugin:
            print("SKIPPED: cairo was not found when the program was built, so nothing can be drawn")
            return
        check_results(hone, source, folder)
        unpack_traces(source, folder / "traces")
        check_traces(hone, folder)
        check_baselines(hone, source, folder)
        check_damage(hone, source, folder)
        check_sizes(hone, source, folder)
        check_refusals(hone, source, folder)


if __name__ == "__main__":
    main()
