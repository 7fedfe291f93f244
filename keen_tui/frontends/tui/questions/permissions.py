"""What runs unasked here, as a question: what shall be taken back?"""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keen_tui.domain.choices import Mode
from keen_tui.domain.permitted import Permitted
from keen_tui.frontends.shared.questions import TAKE_BACK
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.questions.question import Choice, Question
from keen_tui.frontends.tui.widgets.row_widget import cut_row, wrapped
from keen_tui.text.disguise import revealed
from keen_tui.text.labels import MODES

_MOST_CHOICES = 8
"""Answers have keys from 1 to 9."""


def permissions_question(mode: Mode, permitted: Permitted) -> Question:
    """What was allowed beside the mode, with an answer for each command that can be taken back."""
    back = [
        Choice(id=f"{TAKE_BACK}{command}", label="ask again about", consequence=revealed(command))
        for command in permitted.saved[-_MOST_CHOICES:]
    ]
    return Question(
        title=f"Permissions: {mode}",
        body=lambda width, look, glyphs: _rows(mode, permitted, width, look, glyphs),
        choices=(*back, Choice(id="close", label="close")),
        preselected=len(back),
    )


def _rows(mode: Mode, permitted: Permitted, width: int, look: Styles, glyphs: Glyphs) -> Sequence[Text]:
    """The mode in words, then what was allowed or forbidden, by where that stands."""
    rows = wrapped(f"{MODES[mode][0].upper()}{MODES[mode][1:]}.", width, look("soft"))
    rows += wrapped(permitted.sandbox, width, look("soft")) if permitted.sandbox else ()
    parts = (
        ("your rules, in the settings", permitted.rules),
        ("allowed for this session", permitted.session),
        ("always allowed in this folder", permitted.saved),
        ("kept back, since it can run code later", permitted.kept_back),
    )
    for title, texts in parts:
        if texts:
            rows += [Text(), Text(title, look("dim"))]
            rows += [cut_row(Text(f"  {revealed(text)}", look("text")), width, glyphs.more) for text in texts]
    if not any(texts for _, texts in parts):
        rows += [Text(), *wrapped("Nothing else was allowed or forbidden here.", width, look("dim"))]
    return rows
