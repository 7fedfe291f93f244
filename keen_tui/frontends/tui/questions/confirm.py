"""The questions of commands, as the pane asks them. One that could lose work has no preselected answer."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from rich.text import Text

from keen_tui.frontends.shared.questions import (
    Choice,
    ConfirmQuestion,
    PermissionsQuestion,
    ShortQuestion,
)
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.widgets.row_widget import cut_row, wrapped
from keen_tui.text.sanitize import clean


def question_of(asked: ShortQuestion) -> Question:
    """The question of a command, as the pane asks it."""
    return (
        _permissions_question(asked) if isinstance(asked, PermissionsQuestion) else _confirm_question(asked)
    )


def _confirm_question(asked: ConfirmQuestion) -> Question:
    first, *others = asked.choices
    could_lose_work = first.id == "keep"
    if could_lose_work:
        first = replace(first, consequence=f"{shown('stop')} does the same")

    def body(width: int, styles: Styles, glyphs: Glyphs) -> Sequence[Text]:
        return [row for words in asked.body for row in wrapped(clean(words), width, styles("soft"))]

    return Question(
        title=clean(asked.title),
        body=body,
        choices=(first, *others),
        preselected=None if could_lose_work else 0,
    )


_MOST_CHOICES = 8
"""Answers have keys from 1 to 9."""


def _permissions_question(asked: PermissionsQuestion) -> Question:
    """The mode in words, what was allowed or forbidden, and the newest permissions to revoke."""
    back = asked.choices[-_MOST_CHOICES:]

    def body(width: int, look: Styles, glyphs: Glyphs) -> Sequence[Text]:
        rows = [row for words in asked.body for row in wrapped(words, width, look("soft"))]
        for title, texts in asked.groups:
            rows += [Text(), Text(title, look("dim"))]
            rows += [cut_row(Text(f"  {text}", look("text")), width, glyphs.more) for text in texts]
        if not asked.groups:
            rows += [Text(), *wrapped("Nothing else was allowed or forbidden here.", width, look("dim"))]
        return rows

    return Question(
        title=asked.title,
        body=body,
        choices=(*back, Choice(id="close", label="close")),
        preselected=len(back),
    )
