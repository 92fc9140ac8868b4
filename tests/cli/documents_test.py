"""Documents speak of what exists: each command that they show and each option of it, and the code that docs/HOWTO.md quotes.

usage: documents_test.py HONE REPOSITORY
"""
import pathlib
import re
import shlex
import subprocess
import sys

HONE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
# A command of the script ./hone, not of the program.
SCRIPT = {"release"}
# An argument's name in traces of other tools.
NO_CALLS = {"hone kind"}
# Tokens of a shell that end a command.
ENDS = {"|", "||", "&&", ";", ">", ">>", "2>", "<", "--", "#", "&"}
SPAN = re.compile(r"`([^`\n]+)`")
CALL = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\./|bin/|build/release/bin/)?hone (?=\S)")


def hone(*words):
    return subprocess.run([HONE, *words], capture_output=True, text=True, check=True).stdout


def options_of(command, known={}):
    """Names of the options in a command's help, and those of other tools that it takes."""
    if command not in known:
        names = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", "\n".join(
            line for line in hone("help", command).splitlines() if line.startswith("  -"))))
        known[command] = names | {"--help", "-h"}
    return known[command]


def calls_in(path):
    """(line, words) of each call of hone in a document: lines of code, and code between words."""
    lines = path.read_text(encoding="utf-8").splitlines()
    session = False  # commands after a $, with their output
    for number, line in enumerate(lines, 1):
        pieces = [line.strip()] if not path.suffix == ".md" or line.startswith("    ") else SPAN.findall(line)
        session = line.startswith("    $ ") or (session and (line.startswith("    ") or not line))
        for piece in pieces:
            if not CALL.match(piece) or piece in NO_CALLS or (session and not piece.startswith("$ ")):
                continue
            text = CALL.sub("", piece)
            if line.strip() == piece:
                while text.endswith("\\"):
                    text = text[:-1] + lines[number].strip()
                    number += 1
            try:
                words = shlex.split(text, comments=True)
            except ValueError:  # a quotation that ends on another line
                words = text.split()
            cut = next((i for i, word in enumerate(words) if word in ENDS), len(words))
            yield number, words[:cut]


def problems():
    commands = {line.split()[0] for line in hone("--help").split("Commands:\n")[1].split("\n\n")[0].splitlines()
                if re.match(r"  \w", line)}
    foreign = hone("help", "foreign")
    found = 0
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md"), *ROOT.glob("examples/*"),
                        *ROOT.glob("docker/*")]):
        if path.name == "CHANGELOG.md" or not path.is_file():
            continue
        for number, words in calls_in(path):
            found += 1
            command = words[0].rstrip(",.;:") if words else ""
            if command in SCRIPT or command in ("--minimal", "--version", "--help") or not re.match(r"[a-z]+$", command):
                continue
            if command not in commands | {"worker"}:
                yield f"{path.relative_to(ROOT)}:{number}: there is no command '{command}'"
                continue
            for word in words[1:]:
                # Alternatives of one sentence, as in --device|--devices.
                for name in re.findall(r"^--?[A-Za-z][\w-]*", word):
                    if command != "worker" and name not in options_of(command) and f"  {name} " not in foreign:
                        yield f"{path.relative_to(ROOT)}:{number}: hone {command} has no option {name}"
    assert found > 100, f"only {found} commands were found in documents"


def foreign_code():
    """Lines of code in docs/HOWTO.md that no source or case has."""
    def plain(text):
        return re.sub(r"\s", "", text)
    sources = "".join(plain(path.read_text(encoding="utf-8")) for pattern in ("src/**/*.cpp", "tests/cases/**/*.case")
                      for path in sorted(ROOT.glob(pattern)))
    for number, line in enumerate((ROOT / "docs/HOWTO.md").read_text(encoding="utf-8").splitlines(), 1):
        code = plain(re.sub(r" +// src/\S+$", "", line))
        if line.startswith("    ") and re.search(r"[;}{,)\]\w]$", code) and not CALL.match(line.strip()) and code not in sources:
            if not line.lstrip()[0].isupper():  # the text of an item of a list
                yield f"docs/HOWTO.md:{number}: no source has {line.strip()}"


def main():
    found = [*problems(), *foreign_code()]
    assert not found, "\n".join(found)


if __name__ == "__main__":
    main()
