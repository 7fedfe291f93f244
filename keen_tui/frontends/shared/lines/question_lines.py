"""The subjects of questions, in lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from msgspec.structs import replace

from keen_tui.domain.choices import Mode
from keen_tui.frontends.shared.changes import not_covered
from keen_tui.frontends.shared.questions import Choice, PermissionsQuestion, UndoQuestion
from keen_tui.text.labels import MODES


def undo_lines(asked: UndoQuestion) -> Iterator[str]:
    """The files that would be restored, and what would not be."""
    for file in asked.files:
        notes = [file.note] if file.note else []
        notes += ["it has changed since"] if file.changed_since else []
        notes += ["it can't be restored"] if file.unkept else []
        yield ", ".join((f"File {file.path}: {file.added} added, {file.removed} removed", *notes)) + "."
    if words := not_covered(asked.changes.unwatched):
        yield f"{words.capitalize()}."


def permission_lines(asked: PermissionsQuestion) -> tuple[str, ...]:
    """Returns lines about what runs without asking."""
    groups = (f"{title.capitalize()}: {text}." for title, texts in asked.groups for text in texts)
    return (f"{asked.title}.", *asked.body, *groups)


def permission_choices(asked: PermissionsQuestion) -> Iterator[Choice]:
    """The modes, and the commands that could ask again."""
    for mode in get_args(Mode):
        yield Choice(id=mode, label=f"mode {mode}", consequence=MODES[mode])
    for each in asked.choices:
        yield replace(each, label=f"{each.label} {each.consequence}", consequence="")
