"""An approval as the pane asks it: what would happen, why it asks, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from msgspec.structs import replace
from rich.text import Text

from keen_tui.domain.display import CommandDisplay, DiffDisplay
from keen_tui.domain.events import ApprovalRequested
from keen_tui.frontends.shared.questions import approval_choices, approval_reason, is_risky
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines
from keen_tui.frontends.tui.rows.lines import Line, lines_to_text
from keen_tui.frontends.tui.terminal import background
from keen_tui.frontends.tui.tool_views import render_display
from keen_tui.frontends.tui.widgets.phrases import tool_name
from keen_tui.frontends.tui.widgets.row_widget import GAP
from keen_tui.text.disguise import revealed
from keen_tui.text.labels import asker_and
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_IRREVERSIBLE = "This can't be undone."


def approval_question(event: ApprovalRequested) -> Question:
    """Returns the question that this event asks."""
    parts = event.display.parts if isinstance(event.display, CommandDisplay) else ()
    return Question(
        title=asker_and(event.agent, clean(event.question)),
        facts=_facts(event),
        body=_Body(event),
        parts=tuple(replace(part, text=revealed(part.text), note=revealed(part.note)) for part in parts),
        why=approval_reason(event),
        repeats_parts=any(part.is_risky and part.note in event.why for part in parts),
        warning=_IRREVERSIBLE if any(part.loses for part in parts) else "",
        choices=approval_choices(event, GAP),
        preselected=None if is_risky(event) else 0,
        interrupts=True,
    )


def _facts(event: ApprovalRequested) -> str:
    match event.display:
        case DiffDisplay() as diff:
            changes = f"+{diff.added} -{diff.removed}"
            return GAP.join((changes, counted(len(diff.hunks), "place"), counted(diff.total_lines, "line")))
        case _:
            return tool_name(clean(event.name))


class _Body:
    """Draws the display of an approval, once per width and look."""

    def __init__(self, event: ApprovalRequested) -> None:
        self._event = event
        self._drawn: tuple[tuple[int, Styles, bool], Sequence[Text]] | None = None
        self._errands = 0

    def __call__(self, width: int, styles: Styles, glyphs: Glyphs) -> Sequence[Text]:
        key = (width, styles, glyphs.ascii)
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = (key, self._draw(width, styles, glyphs))
        if self._errands != background.late():
            self._errands = background.late()
            if isinstance(self._drawn[1], _Texts):
                self._drawn[1].forget()
        return self._drawn[1]

    def _draw(self, width: int, styles: Styles, glyphs: Glyphs) -> Sequence[Text]:
        display = self._event.display
        if display is None:
            return [Text(clean(self._event.target), styles("text"))]
        if isinstance(display, CommandDisplay):
            display = replace(display, command=revealed(display.command))
        return _Texts(render_display(display, width, styles, glyphs, ground="background"))


class _Texts(Sequence[Text]):
    """Rows as rich Texts, each created when it becomes visible."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def forget(self) -> None:
        """Forget the drawn rows, because new colours are ready."""
        if isinstance(self._lines, LazyLines):
            self._lines.forget()

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> Text: ...

    @overload
    def __getitem__(self, index: slice) -> list[Text]: ...

    def __getitem__(self, index: int | slice) -> Text | list[Text]:
        if isinstance(index, slice):
            return [lines_to_text([line]) for line in self._lines[index]]
        return lines_to_text([self._lines[index]])
