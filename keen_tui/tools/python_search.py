"""The search without ripgrep: a program of its own that prints what ripgrep would. Run by `search`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from pathspec import GitIgnoreSpec

LONGEST_LINE = 300
_MOST_BYTES = 50_000_000


def main() -> int:
    """Print files (NUL-separated) or matching lines (`path NUL number:text`). Exit code 2: a bad pattern."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--regexp", default="")
    parser.add_argument("what")
    options = parser.parse_args()
    here = Path.cwd()
    what = here / options.what
    paths = walk(here, _rules_above(options.root, here)) if what.is_dir() else [what]
    try:
        pattern = re.compile(options.regexp)
    except re.error as error:
        sys.stderr.write(f"invalid regular expression: {error}\n")
        return 2
    for path in paths:
        name = f"./{path.relative_to(here).as_posix()}"
        if options.files:
            _print(f"{name}\0")
        else:
            for number, line in matching_lines(path, pattern):
                _print(f"{name}\0{number}:{line[:LONGEST_LINE]}\n")
    return 0


Rules = tuple[tuple[Path, GitIgnoreSpec], ...]
"""The .gitignore files that apply, outermost first, each with the folder it stands in."""


def walk(folder: Path, rules: Rules) -> Iterator[Path]:
    """Files below `folder` that no .gitignore leaves out, in order; links to folders are not followed."""
    rules = _with_rules_of(folder, rules)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or _ignored(path, is_folder, rules):
            continue
        if is_folder:
            yield from walk(path, rules)
        elif entry.is_file(follow_symlinks=False):
            yield path


def matching_lines(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text file that match, numbered from 1."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
    except OSError:
        return
    if b"\0" in content[:8_192]:
        return
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
        if pattern.search(line):
            yield number, line.rstrip("\r")


def _rules_above(root: Path, folder: Path) -> Rules:
    """The rules of the folders from `root` down to the one above `folder`."""
    if root not in folder.parents:
        return ()
    rules: Rules = ()
    for parent in reversed(folder.parents):
        if parent == root or root in parent.parents:
            rules = _with_rules_of(parent, rules)
    return rules


def _with_rules_of(folder: Path, rules: Rules) -> Rules:
    try:
        lines = (folder / ".gitignore").read_text("utf-8", "replace").splitlines()
    except OSError:
        return rules
    return (*rules, (folder, GitIgnoreSpec.from_lines(lines)))


def _ignored(path: Path, is_folder: bool, rules: Rules) -> bool:
    """What the innermost .gitignore that speaks of the path says."""
    for folder, spec in reversed(rules):
        name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
        verdict = spec.check_file(name).include
        if verdict is not None:
            return verdict
    return False


def _print(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    sys.exit(main())
