"""The layout of docs/architecture.md stays one that can be read: small folders, small classes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

import keen_tui

CODE = Path(keen_tui.__file__).parent
MOST_MODULES = 30
MOST_AT_THE_TOP = 6
MOST_LINES = 500
MOST_METHODS = 60


class Size(Struct, frozen=True):
    """How big a class is in its own file, and the names of its bases."""

    lines: int
    methods: int
    bases: tuple[str, ...]


def modules_in(folder: Path) -> list[Path]:
    return [module for module in folder.glob("*.py") if module.stem != "__init__"]


def classes() -> dict[str, Size]:
    trees = (ast.parse(module.read_text("utf-8")) for module in CODE.rglob("*.py"))
    found = (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    return {node.name: size_of(node) for node in found}


def size_of(node: ast.ClassDef) -> Size:
    methods = sum(isinstance(inside, ast.FunctionDef | ast.AsyncFunctionDef) for inside in node.body)
    bases = tuple(base.id for base in node.bases if isinstance(base, ast.Name))
    return Size((node.end_lineno or 0) - node.lineno + 1, methods, bases)


def with_bases(name: str, sizes: Mapping[str, Size]) -> set[str]:
    if name not in sizes:
        return set()
    return {name}.union(*(with_bases(base, sizes) for base in sizes[name].bases))


def test_a_folder_has_at_most_thirty_modules() -> None:
    folders = [folder for folder in CODE.rglob("*") if folder.is_dir()]
    crowded = {str(folder.relative_to(CODE)): len(modules_in(folder)) for folder in folders}
    assert not {name: count for name, count in crowded.items() if count > MOST_MODULES}
    assert len(modules_in(CODE)) <= MOST_AT_THE_TOP


def test_a_class_stays_readable_with_its_bases() -> None:
    sizes = classes()
    for name in sizes:
        family = [sizes[each] for each in with_bases(name, sizes)]
        lines, methods = sum(each.lines for each in family), sum(each.methods for each in family)
        assert lines <= MOST_LINES, f"{name} has {lines} lines with its bases: take something out"
        assert methods <= MOST_METHODS, f"{name} has {methods} methods with its bases: take something out"
