"""The search without ripgrep: a separate program that prints the same as ripgrep. Run by `search`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from keen_tui.tools.rules.globs import Glob
from keen_tui.tools.search.gitignore import walk

MOST_BYTES = 50_000_000
"""Bytes at the beginning of a file that are searched."""


def main() -> int:
    """Print files (each with a NUL) or matching lines (`path NUL number:text`); 2 means a bad pattern.
    `-` searches standard input, which has no path."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--start", type=Path, required=True, help="where .gitignore files begin to count")
    parser.add_argument("--longest", type=int, required=True, help="characters of a line that are printed")
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--regexp", default="")
    parser.add_argument("--only", help="a glob of files")
    parser.add_argument("what")
    options = parser.parse_args()
    here = Path.cwd()
    what = here / options.what
    try:
        pattern = re.compile(options.regexp)
    except (re.error, OverflowError) as error:
        sys.stderr.write(f"invalid regular expression: {error}\n")
        return 2
    only = Glob(options.only) if options.only else None
    if options.what == "-":
        content = sys.stdin.buffer.read().decode("utf-8", "replace")
        for number, line in _matching(content, pattern):
            _print(f"\0{number}:{line[: options.longest]}\n")
            sys.stdout.buffer.flush()
        return 0
    for path in walk(here, options.start) if what.is_dir() else [what]:
        name = path.relative_to(here).as_posix()
        if only and not only.matches(name):
            continue
        if options.files:
            _print(f"./{name}\0")
        else:
            for number, line in matching_lines(path, pattern):
                _print(f"./{name}\0{number}:{line[: options.longest]}\n")
            sys.stdout.buffer.flush()  # so that matches aren't lost if a later file takes too long
    return 0


def matching_lines(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text file that match, numbered from 1."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES)
    except OSError:
        return
    if b"\0" in content[:8_192]:
        return
    yield from _matching(content.decode("utf-8", "replace"), pattern)


def _matching(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if pattern.search(line.removesuffix("\r")):
            yield number, line.removesuffix("\r")


def _print(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    sys.exit(main())
