"""tools/lint.py reads several sources as one, and still finds and marks what it would find in each by itself."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLEAN = "namespace hone {{\nint {0}(int x) {{ return x + 1; }}\n}}  // namespace hone\n"
HELPER = "namespace hone {{\nnamespace {{\nint twice(int x) {{ return 2 * x; }}\n}}  // namespace\n" \
         "int {0}(int x) {{ return twice(x); }}\n}}  // namespace hone\n"
# One source for each check of .clang-tidy that a few lines can break.
FAULTS = {
    "bugprone-argument-comment": "int add(int first, int second);\nint sum() { return add(/*second=*/1, 2); }\n",
    "bugprone-integer-division": "double half_of(int x) { return x / 2; }\n",
    "bugprone-use-after-move": "#include <string>\n#include <utility>\nstd::string take(std::string text) {\n"
                               "  std::string other = std::move(text);\n  return other + text;\n}\n",
    "cppcoreguidelines-virtual-class-destructor": "struct Base {\n  virtual void run();\n};\n",
    "misc-throw-by-value-catch-by-reference": "void run();\nint caught() {\n  try {\n    run();\n  } catch (int* x) {\n"
                                              "    return *x;\n  }\n  return 0;\n}\n",
    "modernize-use-override": "struct Above {\n  virtual ~Above() = default;\n  virtual int get() = 0;\n};\n"
                              "struct Below : Above {\n  virtual int get() { return 1; }\n};\n",
    "performance-for-range-copy": "#include <string>\n#include <vector>\nsize_t letters(const std::vector<std::string>& all) {\n"
                                  "  size_t sum = 0;\n  for (const std::string one : all) sum += one.size();\n  return sum;\n}\n",
    "performance-unnecessary-value-param": "#include <string>\nsize_t length(const std::string text) { return text.size(); }\n",
    "readability-else-after-return": "int sign(int x) {\n  if (x < 0) {\n    return -1;\n  } else {\n    return 1;\n  }\n}\n",
    "readability-identifier-naming": "int WrongName() { return 1; }\n",
}


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "src").mkdir()
        (self.root / "tools").mkdir()
        (self.root / "build").mkdir()
        shutil.copy(ROOT / "tools/lint.py", self.root / "tools")
        shutil.copy(ROOT / ".clang-tidy", self.root)
        # A clang-tidy that notes what it was asked to read.
        (self.root / "bin").mkdir()
        wrapper = self.root / "bin/clang-tidy-14"
        wrapper.write_text(f'#!/bin/sh\necho "$*" >>{self.root}/calls\nexec {shutil.which("clang-tidy-14")} "$@"\n')
        wrapper.chmod(0o755)

    def lint(self, sources, flags="-std=c++20"):
        commands = []
        for name, text in sources.items():
            (self.root / "src" / name).write_text(text)
            commands.append({"directory": str(self.root), "file": str(self.root / "src" / name),
                             "command": f"c++ -I{self.root}/src {flags} -o {name}.o -c {self.root}/src/{name}"})
        (self.root / "build/compile_commands.json").write_text(json.dumps(commands))
        calls = self.root / "calls"
        calls.unlink(missing_ok=True)
        done = subprocess.run(["/usr/bin/python3", self.root / "tools/lint.py", self.root / "build"], capture_output=True,
                              text=True, env={**os.environ, "XDG_CACHE_HOME": str(self.root / "cache"),
                                              "PATH": f"{self.root}/bin:{os.environ['PATH']}"})
        read = [line for line in calls.read_text().splitlines() if "--version" not in line]
        return done.returncode, done.stdout + done.stderr, read

    def test_clean_sources_are_read_at_once_and_once(self):
        sources = {f"{name}.cpp": CLEAN.format(name) for name in ("one", "two", "three")}
        code, output, calls = self.lint(sources)
        self.assertEqual((code, len(calls)), (0, 1), output)
        self.assertIn("3 files read, 0 unchanged", output)
        code, output, calls = self.lint(sources)
        self.assertEqual((code, calls), (0, []), output)
        self.assertIn("0 files read, 3 unchanged", output)

    def test_sources_that_define_one_name_are_read_apart(self):
        code, output, calls = self.lint({f"{name}.cpp": HELPER.format(name) for name in ("one", "two")})
        self.assertEqual((code, len(calls)), (0, 2), output)

    def test_sources_that_do_not_compile_together_are_read_again_by_halves(self):
        # A macro of the first that the second's header trips over: no name is defined twice.
        (self.root / "src/third.hpp").write_text("#pragma once\nint third(int count);\n")
        sources = {"a.cpp": "#define count 1 +\nint first() { return count 1; }\n", "b.cpp": '#include "third.hpp"\n'}
        code, output, calls = self.lint(sources)
        self.assertEqual((code, len(calls)), (0, 3), output)
        self.assertIn("2 files read", output)

    def test_other_flags_are_read_apart(self):
        self.lint({"one.cpp": CLEAN.format("one")})
        commands = json.loads((self.root / "build/compile_commands.json").read_text())
        code, output, calls = self.lint({"two.cpp": CLEAN.format("two")}, "-std=c++17")
        self.assertEqual(len(commands) + len(calls), 2)
        self.assertIn("-std=c++17", calls[0])

    def test_a_finding_is_the_file_s_own_and_the_others_stay_clean(self):
        sources = {f"{name}.cpp": CLEAN.format(name) for name in ("one", "two", "three")}
        sources["two.cpp"] = FAULTS["readability-identifier-naming"]
        code, output, _ = self.lint(sources)
        self.assertEqual(code, 1, output)
        self.assertIn(f"{self.root}/src/two.cpp:1:5: error: invalid case style for function 'WrongName'", output)
        self.assertEqual(output.count("WrongName'"), 1, output)
        self.assertIn("3 files read, 0 unchanged, 0 left out for their heavy headers, 1 with findings", output)
        code, output, calls = self.lint(sources)
        self.assertEqual(len(calls), 1, output)
        self.assertIn("1 files read, 2 unchanged", output)

    def test_every_check_is_heard_among_others(self):
        for check, fault in FAULTS.items():
            with self.subTest(check):
                name = check.replace("-", "_")
                sources = {"a.cpp": CLEAN.format(f"a_{name}"), "b.cpp": fault, "c.cpp": CLEAN.format(f"c_{name}")}
                code, output, calls = self.lint(sources)
                self.assertEqual(code, 1, output)
                self.assertIn(f"[{check},-warnings-as-errors]", output)
                self.assertIn(f"{self.root}/src/b.cpp:", output)
                self.assertGreater(len(calls), 1)


if __name__ == "__main__":
    unittest.main()
