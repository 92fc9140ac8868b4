#!/usr/bin/python3
"""Counts turns of phrase that a reader has to read twice, in documents, comments and the texts that the program prints.
Their numbers may only fall: tools/prose_limits.txt holds what each may be at most. docs/WORDS.md says what to write
instead.

usage: check_prose.py [ROOT]                exit 1 when a number is above its limit
       check_prose.py --list NAME [ROOT]    every place of one pattern
       check_prose.py --worst [ROOT]        the files with most of them
       check_prose.py --lower [ROOT]        lowers the limits to today's numbers, never raises one
"""
import collections
import re
import subprocess
import sys
from pathlib import Path

# Name, what is counted, and what to write instead. Fragments are counted where a sentence begins.
PATTERNS = [
    ("makes-of", r"\b[Mm]akes? (?:an? |the )?[\w ,'-]{1,40}? of (?:what|those|an?|the|it|such|all|each|every|several|many|two)\b",
     "'Replaces Y with X', not 'Makes X of Y'"),
    ("of-fragment", r"^Of (?!course\b)", "a sentence with a subject and a verb, not 'Of …'"),
    ("whether-fragment", r"^Whether ", "'True if …' or 'Returns whether …'"),
    ("what-fragment", r"^(?:What|Those|Such|Nor)\b(?!.*\?)", "a noun of the field, not 'What …', 'Those …' or 'Nor …'"),
    ("same-fragment", r"^(?:The same|That) (?:of|for|as|where|but|with|in|by|without|because)\b",
     "a sentence that says what differs, not 'The same of …' or 'That of …'"),
    ("where-fragment", r"^Where (?!.*[,?:])", "'The place …' or 'If …', not 'Where …' without a main clause"),
    ("of-what", r"\b(?:of|by|with|for|in|to|from|than|on|behind|beyond|besides|as) what\b",
     "a noun of the field, not 'of what …', 'by what …'"),
    ("be-it", r", be (?:it|they)\b", "'even if it is …' or 'whether … or …'"),
    ("order", r"\b(?:behind|ahead of)\b", "'after' and 'before' for order"),
    ("beside", r"\bbeside\b", "'next to', 'with' or 'and'"),
    ("alone", r"\balone\b", "'only'"),
    ("so-many", r"\b(?:so|as) many\b", "the number by its name"),
    ("tells", r"\btells?\b(?! apart)|\bis told\b", "'reports', 'says' or 'returns'"),
    ("in-place-of", r"\bin (?:the )?place of\b", "'instead of'"),
]
COMPILED = [(name, re.compile(pattern), instead) for name, pattern, instead in PATTERNS]
LIMITS = "tools/prose_limits.txt"
C_LIKE = {".cpp", ".hpp", ".cu", ".cuh", ".ts", ".tsx"}
HASH = {".py", ".sh"}
# Tests have many sentences of their own; only these are counted there.
IN_TESTS = ("of-fragment", "what-fragment", "be-it")
# Made from comments that are counted where they stand, or the words of others.
LEFT_OUT = ("web/dist/", "web/src/schema.ts", "bench/results/", "CHANGELOG.md", "LICENSE")
COMMENT = re.compile(r"^\s*(//+[/!]?<?|#)\s?(.*)$")
TRAILING = re.compile(r"(?<![:\"'/])//+<?\s(.*)$")
STRING = re.compile(r'"((?:[^"\\\n]|\\.){8,})"')
SENTENCE = re.compile(r"(?<=[.:;?])\s+(?=[A-Z])")


def paragraphs_of_source(lines, marks):
    """(line, text) of each block of comment lines, of trailing comments and of texts in quotes."""
    block, first = [], 0
    for number, line in enumerate(lines + [""], 1):
        found = COMMENT.match(line)
        if found and line.lstrip().startswith(marks):
            if not block:
                first = number
            block.append(found.group(2).strip())
            continue
        if block:
            yield first, " ".join(block)
            block = []
        if marks == "//":
            if found := TRAILING.search(line):
                yield number, found.group(1)
            for text in STRING.findall(TRAILING.sub("", line)):
                if " " in text:
                    yield number, text


def paragraphs_of_document(lines):
    block, first, code = [], 0, False
    for number, line in enumerate(lines + [""], 1):
        text = line.strip()
        if text.startswith("```"):
            code = not code
        plain = bool(text) and not code and not line.startswith("    ") and not text.startswith(("|", "#", "```"))
        if plain and not re.match(r"([-*]|\d+\.) ", text):
            first = first if block else number
            block.append(text)
            continue
        if block:
            yield first, " ".join(block)
            block = []
        if text.startswith("|"):
            for cell in text.strip("|").split("|"):
                yield number, cell.strip()
        elif plain:
            block, first = [re.sub(r"^([-*]|\d+\.) ", "", text)], number


def places_in(path, text):
    lines = text.split("\n")
    if path.suffix == ".md":
        paragraphs = paragraphs_of_document(lines)
    elif path.suffix in C_LIKE:
        paragraphs = paragraphs_of_source(lines, "//")
    else:
        paragraphs = paragraphs_of_source(lines, "#")
    for number, paragraph in paragraphs:
        for sentence in SENTENCE.split(paragraph):
            for name, pattern, _ in COMPILED:
                for _ in pattern.finditer(sentence):
                    yield name, number, sentence


def places(root):
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
                             check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, listing):
        path = root / name
        if name.startswith(LEFT_OUT) or path.suffix not in C_LIKE | HASH | {".md"} or not path.is_file():
            continue
        if path == Path(__file__).resolve() or name in ("docs/WORDS.md", "tools/check_prose.py"):
            continue
        for pattern, number, sentence in places_in(path, path.read_text(encoding="utf-8")):
            if pattern in IN_TESTS or not name.startswith("tests/"):
                yield pattern, name, number, sentence


def read_limits(root):
    limits = {}
    path = root / LIMITS
    for line in path.read_text().splitlines() if path.is_file() else []:
        if line and not line.startswith("#"):
            name, number = line.split()
            limits[name] = int(number)
    return limits


def check(root):
    counts = collections.Counter(pattern for pattern, *_ in places(root))
    limits = read_limits(root)
    above = [(name, instead) for name, _, instead in COMPILED if counts[name] > limits.get(name, 0)]
    for name, instead in above:
        print(f"{name}: {counts[name]} places, at most {limits.get(name, 0)}: write {instead} "
              f"(tools/check_prose.py --list {name})")
    below = sum(max(limits.get(name, 0) - counts[name], 0) for name, *_ in COMPILED)
    print(f"{sum(counts.values())} places" + (f", {below} below the limits (--lower keeps that)" if below else ""))
    return 1 if above else 0


def lower(root):
    counts = collections.Counter(pattern for pattern, *_ in places(root))
    limits = read_limits(root)
    head = "# How often each pattern of tools/check_prose.py may occur; --lower writes it, and numbers only fall.\n"
    rows = [f"{name} {min(counts[name], limits.get(name, counts[name]))}\n" for name, *_ in COMPILED]
    (root / LIMITS).write_text(head + "".join(rows))
    return 0


def main():
    arguments = sys.argv[1:]
    mode = arguments.pop(0) if arguments and arguments[0].startswith("--") else ""
    wanted = arguments.pop(0) if mode == "--list" else ""
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    if mode == "--list":
        for pattern, name, number, sentence in places(root):
            if pattern == wanted:
                print(f"{name}:{number}: {sentence}")
    elif mode == "--worst":
        files = collections.Counter(name for _, name, *_ in places(root))
        for name, count in files.most_common(30):
            print(f"{count:4} {name}")
    elif mode == "--lower":
        return lower(root)
    else:
        return check(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
