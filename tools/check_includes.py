#!/usr/bin/python3
"""Checks that includes in src/ point one way, that the library neither prints nor exits, and that no two files
give different types one name: no compiler sees that, and the program then mixes them up.

Also that loops which may run inside a step share their work in a way that system/thread_team.hpp knows.

usage: check_includes.py [ROOT]        exit 1 when a rule is broken, one line for each place
"""
import re
import sys
from pathlib import Path

# Two streams rise from base and system: models become runs, and events become analyses (docs/ARCHITECTURE.md). A folder
# may include itself and the folders before it in its stream.
RUNS = ["base", "system", "tensor", "graph", "import", "reference", "transform", "quantize", "engine", "device", "backend", "media", "task", "bench"]
TRACES = ["base", "system", "trace", "analysis"]
MAY_INCLUDE = {stream[i]: set(stream[:i + 1]) for stream in (RUNS, TRACES) for i in range(len(stream))}
# Analyses are of events, whatever machine they run on.
MAY_INCLUDE["analysis"].remove("system")
# Where the streams meet: something is recorded, and something is shown, which knows files and structs, not how they came.
MAY_INCLUDE["record"] = {"record", *RUNS, *TRACES}
MAY_INCLUDE["report"] = {"report", *RUNS, *TRACES} - {"engine", "device", "backend"}
MAY_INCLUDE["api"] = {"api", *RUNS}
MAY_INCLUDE["cli"] = {"cli", "api", "report", "record", *RUNS, *TRACES}
# Folders that know nothing but what is named here; the first that fits counts. CUDA kernels stand by themselves, but for
# the list of what can follow a convolution, the type of refusals, and the rules of frames and boxes, which the host follows, too; those
# of a region may use the general ones. Passes that a
# device brings are part of libhone and rewrite graphs without it.
PLUGIN = "device/cuda/plugin/"
KERNELS = PLUGIN + "kernels/"
REGION = r"device/cuda/regions/\w+/"
PASSES = "device/cpu/passes/|device/cuda/passes/|" + REGION + "(?!plugin/)"
SHARED = "graph/post_op.hpp|base/refusal.hpp|base/host_device.hpp|engine/(frame_image|box_rule).hpp"
CLOSED = [(KERNELS + "common/", f"{KERNELS}common/|{SHARED}"),
          (KERNELS + "gemm/", f"{KERNELS}(common|gemm)/|{SHARED}"),
          (KERNELS, f"{KERNELS}|{SHARED}"),
          (REGION + "plugin/kernels/", f"{KERNELS}|{REGION}plugin/kernels/|{SHARED}"),
          (PASSES, f"{PASSES}|base/|tensor/|graph/|transform/")]
# Folders of which another one may see only a part: results are data for a report.
PARTLY = {("report", "bench/"): ("bench/setup.hpp", "bench/setup_schema.hpp", "bench/results/model_names.hpp",
                                 "bench/results/result_file.hpp", "bench/results/run_record.hpp",
                                 "bench/results/run_schema.hpp")}
# Sub-folders of one folder, lowest first: none includes a later one of its line. Tactics of regions rank with the others.
ORDERS = [[KERNELS, PLUGIN + "libraries/", PLUGIN + "watch/", f"{PLUGIN}tactics/|{REGION}plugin/(?!kernels/)", PLUGIN + "execution/"],
          ["engine/program/", "engine/search/"],
          ["bench/worker/", "bench/results/", "bench/sweep/"],
          ["analysis/graph/", "analysis/questions/", "analysis/advice/"],
          ["report/terminal/", "report/export/"], ["report/terminal/", "report/plot/"]]
# Headers that the build writes.
GENERATED = {"hone_commit.hpp"}
# Heavy headers, and the only places that may pay for them.
HEAVY = [
    (re.compile(r"^(torch|ATen|c10)/"), re.compile(r"/plugin/"), "a folder named plugin/"),
    (re.compile(r"^(cuda|cudnn|cublas|cupti|nvrtc|nvml|nvtx3|mma\.h|cooperative_groups)"), re.compile(r"/plugin/"),
     "a folder named plugin/"),
    (re.compile(r"^opencv2/"), re.compile(r"/plugin/"), "a folder named plugin/"),
    (re.compile(r"^lib(av[a-z]+|swscale)/"), re.compile(r"/plugin/"), "a folder named plugin/"),
    (re.compile(r"^Nv(Infer|Onnx)"), re.compile(r"/plugin/"), "a folder named plugin/"),
    (re.compile(r"^httplib\.h"), re.compile(r"/plugin/"), "a folder named plugin/"),
    (re.compile(r"^cairo"), re.compile(r"/plugin/"), "a folder named plugin/"),
    (re.compile(r"^CLI/"), re.compile(r"^src/cli/"), "src/cli/"),
    (re.compile(r"^(onnx|google/protobuf)/"), re.compile(r"^src/import/onnx/|^src/cli/"), "src/import/onnx/"),
]
BANNED = re.compile(
    r"\bstd::(cout|cerr|clog)\b|\b(fmt|std)::print(ln)?\b|(?<![\w.>])(std::)?(f|v|vf)?printf\s*\(|"
    r"(?<![\w.>])(std::)?f?put(s|char)\s*\(|(?<![\w.>])perror\s*\(|"
    r"(?<![\w.>])(std::)?(quick_)?exit\s*\(|(?<![\w.>])(std::)?abort\s*\(|\bstd::terminate\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
NAMESPACE = re.compile(r"^(?:inline )?namespace\s*([\w:]*)\s*\{")
NAMESPACE_END = re.compile(r"^\}\s*//\s*namespace")
# Neither declarations nor specializations, nor types inside of others.
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?)\s+(\w+)(?![\w:<])(?: *:[^;]*| final[^;]*)?\s*\{")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def blank(match):
    """Comments and strings become spaces, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def check_include(path, quote, target, root):
    for pattern, place, where in HEAVY:
        if pattern.match(target) and not place.search(path):
            return f"<{target}> is heavy and belongs to {where}"
    if quote != '"' or target.startswith("hone/") or target in GENERATED:
        return None
    own, other = path.split("/")[1], target.split("/")[0]
    if not (root / "src" / target).is_file():
        return f'"{target}" is no file of src/ (includes are written from src/)'
    if other not in MAY_INCLUDE:
        return f"{other}/ has no place in the streams of tools/check_includes.py"
    if other not in MAY_INCLUDE[own]:
        return f"{own}/ must not include {other}/"
    below = path.removeprefix("src/")
    for folder, seen in CLOSED:
        if found := re.match(folder, below):
            if not re.match(seen, target):
                return f"{found.group()} must not include {target}"
            break
    for (reader, folder), seen in PARTLY.items():
        if own == reader and target.startswith(folder) and target not in seen:
            return f"{own}/ must not include {target}: it sees records of results only"
    for order in ORDERS:
        places = [i for i, folder in enumerate(order) if re.match(folder, below)]
        if places and any(re.match(folder, target) for folder in order[places[0] + 1:]):
            return f"{below.rpartition('/')[0]}/ must not include {target}"
    return None


def check_file(file, root):
    path = file.relative_to(root).as_posix()
    text = file.read_text(encoding="utf-8")
    own = path.split("/")[1]
    if own not in MAY_INCLUDE:
        yield f"{path}: {own}/ has no place in the streams of tools/check_includes.py"
        return
    if not text.startswith("//"):
        yield f"{path}:1: the first line says what the file is for"
    if file.suffix in (".hpp", ".cuh") and "#pragma once" not in text:
        yield f"{path}:1: the header lacks #pragma once"
    for number, line in enumerate(text.splitlines(), 1):
        if found := INCLUDE.match(line):
            if problem := check_include(path, *found.groups(), root):
                yield f"{path}:{number}: {problem}"
    if own == "cli":
        return
    for number, line in enumerate(NOISE.sub(blank, text).splitlines(), 1):
        if found := BANNED.search(line):
            yield f"{path}:{number}: only src/cli prints or exits ({found.group(0).strip()})"


# Folders that run the steps of an engine, or are called by it.
STEPS = ("src/device/", "src/engine/", "src/reference/", "src/tensor/")
SHARED_BY_LIBGOMP = re.compile(r"#pragma omp .*(schedule\((?!static)|\bsingle\b|\bsections\b)")


def check_loops(file, root):
    path = file.relative_to(root).as_posix()
    if not path.startswith(STEPS):
        return []
    return [f"{path}:{number}: a team of threads shares static loops alone (src/system/thread_team.hpp)"
            for number, line in enumerate(file.read_text().splitlines(), 1) if SHARED_BY_LIBGOMP.search(line)]


def types_of(text):
    """Types that other files could see, with their namespaces."""
    spaces = []
    for line in text.splitlines():
        if found := NAMESPACE.match(line):
            spaces.append(found.group(1))
        elif NAMESPACE_END.match(line) and spaces:
            spaces.pop()
        elif (found := TYPE.match(line)) and "" not in spaces:
            yield "::".join([*spaces, found.group(1)])


def check_types(files, root):
    places = {}
    for file in files:
        path = file.relative_to(root).as_posix()
        for name in types_of(file.read_text(encoding="utf-8")):
            first = places.setdefault(name, path)
            if first != path:
                yield f"{path}: {name} is also a type of {first}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    files = sorted(f for f in (root / "src").rglob("*") if f.suffix in (".cpp", ".hpp", ".cu", ".cuh"))
    problems = [problem for file in files for problem in check_file(file, root)]
    problems += [problem for file in files for problem in check_loops(file, root)]
    problems += check_types(files, root)
    print("\n".join(problems + [f"{len(files)} files, {len(problems)} problems"]))
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
