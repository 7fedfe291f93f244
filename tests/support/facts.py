"""Facts of every kind that there is, made of the fields that the kinds declare."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from msgspec import structs

from keen_tui.domain import facts
from keen_tui.domain.facts.remembered import Remembered
from keen_tui.domain.messages import KINDS, turn_memory

ODD = "with, a comma\n- Files changed: z"
"""The end of each text: a request must not read it as entries of its own."""


def examples(kind: type[Remembered]) -> tuple[Remembered, ...]:
    """Three facts of the kind that differ in each field."""
    made = ({each.name: _value(kind, each, number) for each in structs.fields(kind)} for number in range(3))
    return tuple(kind(**fields) for fields in made)


def _value(kind: type[Remembered], field: structs.FieldInfo, number: int) -> str | int | bool:
    if field.type is str:
        return f"{kind.__name__} {field.name} {number} {ODD}"
    return bool(number % 2) if field.type is bool else 10 * number + 3


def declared() -> Iterator[type[Remembered]]:
    """Every class of facts in the folder of the kinds, whether the program knows it or not."""
    for module in pkgutil.iter_modules(facts.__path__, f"{facts.__name__}."):
        importlib.import_module(module.name)
    yield from Remembered.__subclasses__()


EVERYTHING = turn_memory(fact for kind in KINDS for fact in examples(kind))
"""A TurnMemory with facts of every kind."""
