"""The checks of tools/: each rule is broken once, in a small tree, and must be reported with its place."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


class Tree:
    """A git repository with the given files, for one check."""

    def __init__(self, files):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        subprocess.run(["git", "init", "-q", self.root], check=True)
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def check(self, tool):
        done = subprocess.run(["/usr/bin/python3", TOOLS / tool, self.root], capture_output=True, text=True)
        self.folder.cleanup()
        return done.returncode, done.stdout + done.stderr


class Includes(unittest.TestCase):
    BASE = {"src/base/error.hpp": "// Errors.\n#pragma once\n", "src/cli/command.hpp": "// C.\n#pragma once\n"}

    def expect(self, path, body, problem):
        code, output = Tree({**self.BASE, path: "// What it is for.\n" + body}).check("check_includes.py")
        self.assertEqual(code, 1 if problem else 0, output)
        self.assertIn(problem or "0 problems", output)

    def test_include_of_an_earlier_folder_is_good(self):
        self.expect("src/graph/a.cpp", '#include "base/error.hpp"\n#include <vector>\n', None)

    def test_loops_of_steps_are_static(self):
        problem = "src/device/cpu/a.cpp:3: a team of threads shares static loops alone"
        for text, expected in (("for schedule(dynamic)", problem), ("for schedule(static)", None), ("single", problem)):
            self.expect("src/device/cpu/a.cpp", f"\n#pragma omp {text}\n", expected)
        self.expect("src/quantize/a.cpp", "\n#pragma omp parallel for schedule(dynamic)\n", None)

    def test_include_of_a_later_folder(self):
        self.expect("src/graph/a.cpp", '\n#include "cli/command.hpp"\n',
                    "src/graph/a.cpp:3: graph/ must not include cli/")

    def test_trace_knows_nothing_of_engine(self):
        tree = Tree({**self.BASE, "src/engine/step.hpp": "// Step.\n#pragma once\n",
                     "src/trace/a.cpp": '// A.\n#include "engine/step.hpp"\n'})
        code, output = tree.check("check_includes.py")
        self.assertEqual(code, 1)
        self.assertIn("src/trace/a.cpp:2: trace/ must not include engine/", output)

    def test_a_report_sees_records_of_results_only(self):
        files = {**self.BASE, "src/bench/results/run.hpp": "// R.\n#pragma once\n",
                 "src/bench/results/run_record.hpp": "// R.\n#pragma once\n"}
        for header, good in (("bench/results/run.hpp", False), ("bench/results/run_record.hpp", True)):
            code, output = Tree({**files, "src/report/a.cpp": f'// A.\n#include "{header}"\n'}).check("check_includes.py")
            self.assertEqual(code, 0 if good else 1, output)
            self.assertIn("0 problems" if good else f"src/report/a.cpp:2: report/ must not include {header}", output)

    def test_the_streams_meet_only_where_something_is_recorded_or_shown(self):
        files = {**self.BASE, "src/bench/run.hpp": "// R.\n#pragma once\n", "src/trace/trace.hpp": "// T.\n#pragma once\n",
                 "src/bench/setup.hpp": "// S.\n#pragma once\n",
                 "src/device/device.hpp": "// D.\n#pragma once\n", "src/system/memory.hpp": "// M.\n#pragma once\n"}
        for place, header, good in (("trace", "bench/run.hpp", False), ("bench", "trace/trace.hpp", False),
                                    ("analysis", "bench/run.hpp", False), ("record", "bench/run.hpp", True),
                                    ("record", "trace/trace.hpp", True), ("report", "bench/setup.hpp", True),
                                    ("report", "device/device.hpp", False), ("system", "bench/run.hpp", False),
                                    ("trace", "system/memory.hpp", True), ("analysis", "system/memory.hpp", False)):
            code, output = Tree({**files, f"src/{place}/a.cpp": f'// A.\n#include "{header}"\n'}).check("check_includes.py")
            self.assertEqual(code, 0 if good else 1, output)

    def test_sub_folders_have_an_order(self):
        files = {**self.BASE, "src/analysis/questions/layers.hpp": "// L.\n#pragma once\n"}
        for place, good in (("graph", False), ("questions", True), ("advice", True)):
            body = '// A.\n#include "analysis/questions/layers.hpp"\n'
            code, output = Tree({**files, f"src/analysis/{place}/a.cpp": body}).check("check_includes.py")
            self.assertEqual(code, 0 if good else 1, output)

    def test_kernels_stand_by_themselves(self):
        kernels, stem = "device/cuda/plugin/kernels", "device/cuda/regions/stem/plugin/kernels"
        def check(place, header):
            return Tree({**self.BASE, f"src/{kernels}/common/ptx.cuh": "// P.\n#pragma once\n",
                         f"src/{kernels}/gemm/gemm_store.cuh": "// S.\n#pragma once\n",
                         f"src/{stem}/stem.hpp": "// S.\n#pragma once\n",
                         f"src/{place}/a.cu": f'// A.\n#include "{header}"\n'}).check("check_includes.py")

        for place, header in ((f"{kernels}/common/", f"{kernels}/gemm/gemm_store.cuh"), (f"{kernels}/gemm/", f"{stem}/stem.hpp"),
                              (f"{kernels}/", f"{stem}/stem.hpp"), (f"{stem}/", "base/error.hpp")):
            code, output = check(place.rstrip("/"), header)
            self.assertEqual(code, 1)
            self.assertIn(f"{place} must not include {header}", output)
        for place, header in ((f"{kernels}/gemm/warp", f"{kernels}/gemm/gemm_store.cuh"), (f"{kernels}/gemm/warp", f"{kernels}/common/ptx.cuh"),
                              (stem, f"{kernels}/gemm/gemm_store.cuh")):
            code, output = check(place, header)
            self.assertEqual(code, 0, output)

    def test_passes_of_cuda_know_neither_engine_nor_plugin(self):
        files = {**self.BASE, "src/transform/pass.hpp": "// P.\n#pragma once\n", "src/engine/kernel.hpp": "// K.\n#pragma once\n",
                 "src/device/cuda/plugin/gpu.hpp": "// G.\n#pragma once\n"}
        for header, good in (("transform/pass.hpp", True), ("base/error.hpp", True), ("engine/kernel.hpp", False),
                             ("device/cuda/plugin/gpu.hpp", False)):
            body = f'// A.\n#include "{header}"\n'
            for folder in ("device/cuda/passes/", "device/cuda/regions/stem/"):
                code, output = Tree({**files, f"src/{folder}a.cpp": body}).check("check_includes.py")
                self.assertEqual(code, 0 if good else 1, output)
                self.assertIn("0 problems" if good else f"{folder} must not include {header}", output)

    def test_folders_of_the_plugin_have_an_order(self):
        plugin, stem = "device/cuda/plugin", "device/cuda/regions/stem/plugin"
        files = {**self.BASE, f"src/{plugin}/tactics/tactics.hpp": "// T.\n#pragma once\n", f"src/{stem}/tactics.hpp": "// T.\n#pragma once\n"}
        for place, expected in ((f"{plugin}/libraries", 1), (f"{plugin}/watch", 1), (f"{plugin}/execution", 0), (plugin, 0), (stem, 0)):
            for header in (f"{plugin}/tactics/tactics.hpp", f"{stem}/tactics.hpp"):
                code, output = Tree({**files, f"src/{place}/a.cpp": f'// A.\n#include "{header}"\n'}).check("check_includes.py")
                self.assertEqual(code, expected, output)
                if expected:
                    self.assertIn(f"{place}/ must not include {header}", output)

    def test_include_of_a_missing_file(self):
        self.expect("src/graph/a.cpp", '#include "error.hpp"\n', '"error.hpp" is no file of src/')

    def test_unknown_folder(self):
        self.expect("src/misc/a.cpp", "\n", "misc/ has no place in the streams")

    def test_heavy_header_outside_its_place(self):
        self.expect("src/backend/a.cpp", "#include <torch/script.h>\n", "belongs to a folder named plugin/")
        self.expect("src/backend/torch/plugin/a.cpp", "#include <torch/script.h>\n", None)
        for header in ("cuda_runtime.h", "cuda/std/array", "cudnn_graph.h", "cublasLt.h", "nvrtc.h"):
            self.expect("src/device/cuda/a.cpp", f"#include <{header}>\n", "belongs to a folder named plugin/")
            self.expect("src/device/cuda/plugin/a.cpp", f"#include <{header}>\n", None)

    def test_kernels_are_read_too(self):
        for name in ("a.cu", "a.cuh"):
            self.expect(f"src/device/plugin/{name}", '#pragma once\n#include "error.hpp"\n',
                        '"error.hpp" is no file of src/')
        self.expect("src/device/plugin/a.cuh", "int a;\n", "lacks #pragma once")

    def test_printing_and_exiting(self):
        for line in ("std::cout << 1;", "fmt::print(stderr, x);", "printf(x);", "std::exit(1);", "abort();"):
            self.expect("src/base/a.cpp", line + "\n", "src/base/a.cpp:2: only src/cli prints or exits")
            self.expect("src/cli/a.cpp", line + "\n", None)

    def test_what_only_looks_like_printing(self):
        for line in ("// calls exit(1)", 's = "printf(x)";', "std::snprintf(b, n, x);", "loop.exit(1);", "_exit(1);"):
            self.expect("src/base/a.cpp", line + "\n", None)

    def test_missing_purpose_and_pragma(self):
        code, output = Tree({"src/base/a.hpp": "int a;\n"}).check("check_includes.py")
        self.assertEqual(code, 1)
        self.assertIn("the first line says what the file is for", output)
        self.assertIn("lacks #pragma once", output)

    def test_two_types_of_one_name(self):
        def check(second):
            first = "// A.\nnamespace hone {\nstruct Column {\n};\n}  // namespace hone\n"
            return Tree({"src/base/a.cpp": first, "src/base/b.cpp": "// B.\n" + second}).check("check_includes.py")

        code, output = check("namespace hone {\nclass Column final : public Base {\n};\n}  // namespace hone\n")
        self.assertEqual(code, 1, output)
        self.assertIn("src/base/b.cpp: hone::Column is also a type of src/base/a.cpp", output)
        for good in ("namespace other {\nstruct Column {\n};\n}  // namespace other\n",
                     "namespace hone {\nnamespace {\nstruct Column {\n};\n}  // namespace\n}  // namespace hone\n",
                     "namespace hone {\nclass Column;\nstruct Column::Part {\n};\n}  // namespace hone\n"):
            self.assertEqual(check(good)[0], 0, good)

    def test_an_empty_tree_is_no_success(self):
        self.assertEqual(Tree({"README.md": ""}).check("check_includes.py")[0], 1)


class Sizes(unittest.TestCase):
    def test_within_the_budget(self):
        code, output = Tree({"src/a.cpp": "\n" * 500, "src/b.cpp": "", "src/c.cpp": ""}).check("check_sizes.py")
        self.assertEqual((code, output), (0, "src: 3 files, 500 lines, median 0, p90 500, longest 500\n"))

    def test_a_file_too_long(self):
        code, output = Tree({"src/a.cpp": "\n" * 501, "src/b.cpp": "", "src/c.cpp": ""}).check("check_sizes.py")
        self.assertEqual(code, 1)
        self.assertIn("src/a.cpp: 501 lines, more than 500", output)

    def test_kernels_are_counted(self):
        code, output = Tree({"src/a.cu": "\n" * 501, "src/b.cuh": "", "src/c.cpp": ""}).check("check_sizes.py")
        self.assertEqual(code, 1)
        self.assertIn("src/a.cu: 501 lines, more than 500", output)

    def test_half_of_the_files_too_long(self):
        code, output = Tree({"src/a.cpp": "\n" * 141, "tests/a.py": ""}).check("check_sizes.py")
        self.assertEqual(code, 1)
        self.assertIn("src/: median of 141 lines, more than 140", output)

    def test_a_file_too_large(self):
        for name in ("docs/a.md", "bench/results/gpu/summary.json", "web/dist/other.html"):
            code, output = Tree({"src/a.cpp": "", name: "x" * 1_000_001}).check("check_sizes.py")
            self.assertEqual(code, 1)
            self.assertIn(f"{name}: 1000001 bytes, more than 1000000\n", output)
        for name, size in (("docs/a.md", 1_000_000), ("web/dist/report.html", 1_000_001)):
            self.assertEqual(Tree({"src/a.cpp": "", name: "x" * size}).check("check_sizes.py")[0], 0)

    def test_results_too_large_together(self):
        results = {f"bench/results/{name}": "x" * 500_000 for name in ("a/summary.json", "a/b/summary.json")}
        self.assertEqual(Tree({"src/a.cpp": "", **results}).check("check_sizes.py")[0], 0)
        code, output = Tree({"src/a.cpp": "", **results, "bench/results/a/log.txt": "x"}).check("check_sizes.py")
        self.assertEqual(code, 1)
        self.assertIn("bench/results/: 1000001 bytes, more than 1000000", output)


class Words(unittest.TestCase):
    def test_good_text(self):
        tree = Tree({"README.md": "see /usr/bin/python3, build/wk/x, $HOME/work and https://onnx.ai\n"})
        self.assertEqual(tree.check("check_words.py"), (0, "1 files, 0 problems\n"))

    def test_workplace_path(self):
        code, output = Tree({"a.sh": "\ncd " + "/" + "home/me/project\n"}).check("check_words.py")
        self.assertEqual(code, 1)
        self.assertIn("a.sh:2: an absolute path of a workplace", output)

    def test_registry_host(self):
        host = "https://registry" + ".npm" + "js.org/x"
        code, output = Tree({"package-lock.json": f'"resolved": "{host}"\n'}).check("check_words.py")
        self.assertEqual(code, 1)
        self.assertIn("package-lock.json:1: the host of a package registry", output)


class Prose(unittest.TestCase):
    LIMITS = {"tools/prose_limits.txt": "what-fragment 1\nalone 1\n"}

    def test_what_stays_within_its_limits_is_good(self):
        tree = Tree({**self.LIMITS, "src/a.cpp": "/// What it is.\nint a;\n", "docs/a.md": "They alone run.\n"})
        self.assertEqual(tree.check("check_prose.py"), (0, "2 places\n"))

    def test_one_more_is_reported_with_what_to_write(self):
        text = "/// What it is.\nint a;\nint b;  // Those of others.\n"
        code, output = Tree({**self.LIMITS, "src/a.cpp": text}).check("check_prose.py")
        self.assertEqual(code, 1)
        self.assertIn("what-fragment: 2 places, at most 1: write a noun of the field", output)

    def test_fewer_can_be_kept(self):
        code, output = Tree({**self.LIMITS, "src/a.cpp": ""}).check("check_prose.py")
        self.assertEqual((code, output), (0, "0 places, 2 below the limits (--lower keeps that)\n"))
        tree = Tree({**self.LIMITS, "src/a.cpp": "// Only it.\n// Alone.\n"})
        subprocess.run(["/usr/bin/python3", TOOLS / "check_prose.py", "--lower", tree.root], check=True)
        limits = (tree.root / "tools/prose_limits.txt").read_text()
        self.assertIn("alone 0\n", limits)
        self.assertIn("beside 0\n", limits)

    def test_lowering_never_raises(self):
        tree = Tree({**self.LIMITS, "src/a.cpp": "/// What it is.\nint a;\n/// What else.\n"})
        subprocess.run(["/usr/bin/python3", TOOLS / "check_prose.py", "--lower", tree.root], check=True)
        self.assertEqual(tree.check("check_prose.py")[0], 1)

    def test_texts_comments_tables_and_paragraphs_count(self):
        files = {"src/a.cpp": 'f("it runs alone here");  // alone\n', "docs/a.md": "| alone | x |\n\nIt is\nalone.\n",
                 "a.py": "# alone\n", "src/b.cpp": "int alone = 1;\n", "docs/b.md": "    alone in code\n"}
        code, output = Tree(files).check("check_prose.py")
        self.assertEqual(code, 1)
        self.assertIn("alone: 5 places, at most 0", output)

    def test_tests_are_held_to_the_patterns_that_are_gone(self):
        files = {"tests/a.cpp": "/// Of all of them.\nint a;\n/// They run alone, beside others.\nint b;\n"}
        code, output = Tree(files).check("check_prose.py")
        self.assertEqual(code, 1)
        self.assertIn("of-fragment: 1 places, at most 0", output)
        self.assertTrue(output.endswith("1 places\n"), output)

    def test_nouns_are_wanted_in_place_of_clauses(self):
        text = ("/// The same of one node.\nint a;\n/// Where it lies.\nint b;\n/// Where it ends, others begin.\nint c;\n"
                "/// The time of what ran.\nint d;\n/// It waits for a step, be it nothing.\nint e;\n")
        code, output = Tree({"src/a.cpp": text}).check("check_prose.py")
        self.assertEqual(code, 1)
        for name in ("same-fragment", "where-fragment", "of-what", "be-it"):
            self.assertIn(f"{name}: 1 places, at most 0", output)

    def test_a_fragment_stands_where_a_sentence_begins(self):
        good = "/// It knows what it is, and\n/// What is no beginning of a sentence.\nint a;\n"
        self.assertEqual(Tree({"src/a.cpp": good}).check("check_prose.py")[0], 0)


class Docs(unittest.TestCase):
    def test_paths_and_links_that_exist(self):
        text = "see `src/a.cpp`, [b](b.md#part), [c](https://example.com) and `src/<folder>/`\n"
        tree = Tree({"README.md": text, "src/a.cpp": "", "b.md": ""})
        self.assertEqual(tree.check("check_docs.py"), (0, "2 documents, 0 problems\n"))

    def test_a_path_that_does_not_exist(self):
        code, output = Tree({"docs/a.md": "\nsee `src/a.cpp`\n"}).check("check_docs.py")
        self.assertEqual((code, output.splitlines()[0]), (1, "docs/a.md:2: src/a.cpp does not exist"))

    def test_a_link_is_relative_to_its_document(self):
        code, output = Tree({"docs/a.md": "[b](b.md)\n", "b.md": ""}).check("check_docs.py")
        self.assertEqual((code, output.splitlines()[0]), (1, "docs/a.md:1: b.md does not exist"))

    def test_a_result_file_that_no_summary_has(self):
        name = "net-2026-01-02T030405Z.json"
        kept = {"bench/results/gpu/cold/summary.json": json.dumps({"files": [{"file": name}]})}
        for good in (name, f"cold/{name}", f"gpu/cold/{name}", "T030405Z"):
            self.assertEqual(Tree({"a.md": f"see `{good}`\n", **kept}).check("check_docs.py"), (0, "1 documents, 0 problems\n"))
        for bad in ("net-2026-01-02T030406Z.json", f"gpu/{name}", f"warm/{name}", f"bench/results/gpu/cold/{name}", "T030406Z"):
            code, output = Tree({"a.md": f"see `{bad}`\n", **kept}).check("check_docs.py")
            self.assertEqual((code, output.splitlines()[0]), (1, f"a.md:1: {bad} does not exist"))

    def test_a_result_file_beside_its_document(self):
        name = "gpu/net-2026-01-02T030405Z.json"
        self.assertEqual(Tree({"tests/a.md": f"`{name}`\n", f"tests/{name}": "{}"}).check("check_docs.py")[0], 0)
        self.assertEqual(Tree({"a.md": f"`{name}`\n", f"tests/{name}": "{}"}).check("check_docs.py")[0], 1)

    def test_a_table_is_what_its_command_prints(self):
        script = {"tools/table.py": "import sys\nprint(f'| {sys.argv[1]} |')\nprint('|---|')\n"}
        text = "# A\n\n<!-- tools/table.py x -->\n| {} |\n|---|\n\nthe end\n"
        self.assertEqual(Tree({"a.md": text.format("x"), **script}).check("check_docs.py")[0], 0)
        code, output = Tree({"a.md": text.format("y"), **script}).check("check_docs.py")
        self.assertEqual(code, 1)
        self.assertIn("a.md:3: below is not what tools/table.py x prints", output)

    def test_tables_are_written_anew(self):
        tree = Tree({"a.md": "<!-- tools/table.py -->\nold\n\nthe end\n", "tools/table.py": "print('new')\n"})
        subprocess.run(["/usr/bin/python3", TOOLS / "check_docs.py", "--write", tree.root], check=True,
                       stdout=subprocess.DEVNULL)
        self.assertEqual((tree.root / "a.md").read_text(), "<!-- tools/table.py -->\nnew\n\nthe end\n")


if __name__ == "__main__":
    unittest.main()
