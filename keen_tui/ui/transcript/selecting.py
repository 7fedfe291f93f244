"""The mouse in the transcript: links, folding, selected text."""

from __future__ import annotations

from textual import events
from textual.geometry import Offset
from textual.selection import Selection

from keen_tui.ui.transcript.blocks import fold_key, source
from keen_tui.ui.transcript.cursor import CursorView
from keen_tui.ui.transcript.document import Place
from keen_tui.ui.transcript.lines import copied
from keen_tui.ui.transcript.messages import LinkOpened
from keen_tui.ui.transcript.painting import Mark, ground_of


class SelectingView(CursorView):
    """A view whose text can be selected with the mouse."""

    _clicked_row = 0

    def on_click(self, event: events.Click) -> None:
        """Open a link; fold or unfold the block whose first row was clicked."""
        href = event.style.meta.get("href")
        if href:
            self.post_message(LinkOpened(str(href)))
            return
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None or event.chain > 1:
            return
        place = self._document.find(self.scroll_offset.y + offset.y)
        if place.block >= len(self._document):
            return
        entry = self._document.entries[place.block]
        if place.offset == entry.gap and fold_key(entry.block) is not None:
            self._cursor = place.block
            self.action_fold()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._clicked_row = self.scroll_offset.y + event.y

    def text_select_all(self) -> None:
        """A double click selects the block under the pointer, not the whole session."""
        place = self._document.find(self._clicked_row)
        top = self._document.top(place.block)
        end = top + self._document.height(place.block) - 1
        last = len(self._document.line(self._document.find(end)).text)
        self.screen.selections = {self: Selection(Offset(0, top), Offset(last, end))}

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text: wrapped lines in one, decoration left out."""
        if selection.start is None and selection.end is None:
            return "\n\n".join(source(entry.block) for entry in self._document.entries), "\n"
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self._document.rows - 1
        rows = []
        for row in range(first, min(last, self._document.rows - 1) + 1):
            span = selection.get_span(row)
            if span is not None:
                end = None if span[1] == -1 else span[1]
                rows.append((self._document.line(self._document.find(row)), span[0], end))
        return copied(rows), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def _marks(self, place: Place) -> list[Mark]:
        """How the selected characters of a row are painted."""
        selection = self.text_selection
        span = selection.get_span(self._document.top(place.block) + place.offset) if selection else None
        if span is None:
            return []
        line = self._document.line(place)
        length = len(line.text) - line.trim
        first = min(max(span[0], line.skip), length)
        last = length if span[1] == -1 else max(min(span[1], length), first)
        return [Mark(first, last, ground_of(self._document.look.styles("text", on="select")))]
