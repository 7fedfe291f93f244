"""A class has a name of its own, so that a name leads to one place in the code."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import keen_tui

CODE = Path(keen_tui.__file__).parent


def type_names(module: Path) -> Iterator[str]:
    """The classes and type aliases that a module declares; type variables are nobody else's business."""
    for node in ast.parse(module.read_text()).body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                if _is_in_camel_case(name) and "TypeVar" not in ast.dump(value):
                    yield name


def _is_in_camel_case(name: str) -> bool:
    bare = name.lstrip("_")
    return bare[:1].isupper() and not bare.isupper()


def test_no_name_of_a_class_or_type_means_two_things() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module in sorted(CODE.rglob("*.py")):
        for name in type_names(module):
            places[name].append(str(module.relative_to(CODE)))
    twice = {name: modules for name, modules in places.items() if len(modules) > 1}
    assert not twice, f"give each a name that says what it is: {twice}"
