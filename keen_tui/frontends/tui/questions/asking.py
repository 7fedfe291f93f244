"""A question of the model as the pane asks it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keen_tui.domain.events import QuestionAsked
from keen_tui.frontends.shared.questions import asked_choices
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.markdown.markdown import render_blocks
from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.rows.lines import lines_to_text
from keen_tui.frontends.tui.rows.render_style import RIGHT_MARGIN, TEXT_EDGE, RenderStyle
from keen_tui.frontends.tui.widgets.phrases import tool_name
from keen_tui.frontends.tui.widgets.row_widget import wrapped
from keen_tui.text.labels import asker_and
from keen_tui.text.markdown import parse
from keen_tui.text.sanitize import clean

_LONGEST_TITLE = 68
"""Characters of a question that fit into one row in the narrowest terminal."""


def asked_question(event: QuestionAsked) -> Question:
    """The question of this event. The ids of its answers are their numbers from 0. If there is a text to read
    first, enter alone doesn't answer."""
    question = clean(event.question, newlines=True)
    is_short = len(question) <= _LONGEST_TITLE and "\n" not in question
    return Question(
        title=asker_and(event.agent, question if is_short else "A question"),
        facts=tool_name(clean(event.name)),
        body=_Plan(event.body) if event.body else None if is_short else _Words(question),
        preselected=None if event.body else 0,
        interrupts=True,
        choices=asked_choices(event),
    )


class _Words:
    """Draws a question of several rows."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, width: int, styles: Styles, glyphs: Glyphs) -> Sequence[Text]:
        return wrapped(self._text, width, styles("text"))


class _Plan:
    """Draws a plan in Markdown, once per width and look."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._drawn: tuple[tuple[int, Styles, bool], Sequence[Text]] | None = None

    def __call__(self, width: int, styles: Styles, glyphs: Glyphs) -> Sequence[Text]:
        key = (width, styles, glyphs.ascii)
        if self._drawn is None or self._drawn[0] != key:
            look = RenderStyle(styles, glyphs, width + TEXT_EDGE + RIGHT_MARGIN)
            lines = render_blocks(parse(clean(self._text, newlines=True, tabs=True)), look)
            self._drawn = (key, [lines_to_text([line])[TEXT_EDGE:] for line in lines])
        return self._drawn[1]
