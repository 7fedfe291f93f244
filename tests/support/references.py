"""Splits docs, docstrings and comments into passages, and lists the files that they may refer to."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
TOP_FOLDERS = ("keen_tui", "tests", "docs", "scripts", "themes", "tasks")


class Passage(NamedTuple):
    """A paragraph, list item or table row of a page, a docstring, or comments on following lines."""

    path: Path
    line: int
    text: str

    @property
    def place(self) -> str:
        """Its beginning, such as `docs/turn.md:12`."""
        return f"{self.path.relative_to(ROOT)}:{self.line}"


@cache
def passages() -> tuple[Passage, ...]:
    """All passages of the project."""
    modules = [module for top in TOP_FOLDERS for module in sorted((ROOT / top).rglob("*.py"))]
    pages = [passage for page in PAGES for passage in _paragraphs(page)]
    return (
        *pages,
        *(passage for module in modules for passage in (*_docstrings(module), *_comments(module))),
    )


def _paragraphs(page: Path) -> Iterator[Passage]:
    in_code = False
    first, lines = 1, list[str]()
    for number, line in enumerate([*page.read_text().splitlines(), ""], 1):
        in_code ^= line.startswith("```")
        if lines and (in_code or not line.strip() or re.match(r"\||```|- |\d+\. |#", line)):
            yield Passage(page, first, " ".join(lines))
            lines = []
        if line.strip() and not in_code and not line.startswith("```"):
            first = first if lines else number
            lines.append(line)


def _docstrings(module: Path) -> Iterator[Passage]:
    """The docstrings of a module, including those of attributes and constants."""
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text)), lineno=line):
                yield Passage(module, line, " ".join(text.split()))


def _comments(module: Path) -> Iterator[Passage]:
    source = module.read_text()
    if "#" not in source:  # most modules have no comment, and splitting them into tokens takes long
        return
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found = [token for token in tokens if token.type == tokenize.COMMENT]
    for _, block in groupby(enumerate(found), lambda numbered: numbered[1].start[0] - numbered[0]):
        comments = [token for _, token in block]
        text = " ".join(token.string.lstrip("# ") for token in comments)
        yield Passage(module, comments[0].start[0], text)


@cache
def files() -> frozenset[str]:
    """Every file of the project, and every folder with a slash at its end, from the root."""
    found = {path.name for path in ROOT.iterdir() if path.is_file()}
    for top in TOP_FOLDERS:
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                inside = path.relative_to(ROOT)
                found.update((str(inside), *(f"{folder}/" for folder in inside.parents[:-1])))
    return frozenset(found)


@cache
def matches(name: str) -> set[str]:
    """The files and folders whose path is `name`, or ends with it. `*` stands for any characters."""
    inside = re.escape(name.rstrip("/")).replace(r"\*", ".*")
    pattern = re.compile(rf"(?:.*/)?{inside}{'/' if name.endswith('/') else '/?'}")
    return {path for path in files() if pattern.fullmatch(path)}
