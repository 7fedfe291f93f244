"""The questions of commands, as the pane asks them. One that could lose work has no preselected answer."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from rich.text import Text

from keen_tui.frontends.shared.questions import (
    ConfirmQuestion,
    PermissionsQuestion,
    ShortQuestion,
)
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.questions.permissions import permissions_question
from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.widgets.row_widget import wrapped
from keen_tui.text.sanitize import clean


def question_of(asked: ShortQuestion) -> Question:
    """The question of a command, as the pane asks it."""
    return permissions_question(asked) if isinstance(asked, PermissionsQuestion) else _confirm_question(asked)


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
