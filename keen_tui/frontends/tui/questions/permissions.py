"""What runs without asking here, as the pane shows it, with an answer for each permission to revoke."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keen_tui.frontends.shared.questions import Choice, PermissionsQuestion
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.widgets.row_widget import cut_row, wrapped

_MOST_CHOICES = 8
"""Answers have keys from 1 to 9."""


def permissions_question(asked: PermissionsQuestion) -> Question:
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
