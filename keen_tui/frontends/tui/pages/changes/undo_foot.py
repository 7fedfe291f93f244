"""The question whether to take changes back, and what that would do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.text import Text

from keen_tui.domain.reports import Changes
from keen_tui.frontends.shared.changes import ShownFile, not_covered
from keen_tui.frontends.shared.questions import UndoQuestion
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented

_ROOMY = 30
"""Rows of the terminal from which the question gets blank rows."""

_NAMED = 3
"""Files that a sentence names; the others are counted."""


class UndoFoot(RowWidget):
    """What is taken back, what was changed since, what is not covered; `hints` are the keys of the page."""

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        changes: Changes,
        files: Sequence[ShownFile],
        hints: Callable[[], Sequence[Text]],
    ) -> None:
        super().__init__(styles, glyphs)
        self._title = UndoQuestion(changes, files).title
        self._changes = changes
        self._kept = [file for file in files if not file.unkept]
        self._unkept = [file for file in files if file.unkept]
        self._hints = hints
        self.guarded = True

    @property
    def can_undo(self) -> bool:
        """Whether there is anything that could be taken back."""
        return bool(self._kept)

    def rows(self, width: int, height: int) -> list[Text]:
        bar = Text(self.glyphs.bar, self.look("wait" if self.can_undo else "edge"))
        gap = [Text()] if self.app.size.height >= _ROOMY else []
        page = [*gap, self._question(), *self._warnings(), *gap, self._keys(), *gap]
        return [Text.assemble(bar, cut_row(row, width - 3, self.glyphs.more)) for row in page]

    def _question(self) -> Text:
        mark = f" {self.glyphs.asks if self._kept else self.glyphs.none} "
        return Text(mark + self._title, self.look("wait" if self._kept else "text", bold=True))

    def _warnings(self) -> list[Text]:
        changed = [file.path for file in self._kept if file.changed_since]
        new = [file.path for file in self._kept if file.note == "new"]
        rows = []
        if changed:
            mark = (f" {self.glyphs.look} ", self.look("wait"))
            rows.append(Text.assemble(mark, (f"changed since: {_named(changed)}", self.look("text"))))
        sentences = [f"will be deleted (this turn created it): {_named(new)}"] if new else []
        if self._kept and self._unkept:
            unkept = _named(file.path for file in self._unkept)
            sentences.append(f"can't be restored (its content wasn't saved): {unkept}")
        sentences.append(not_covered(self._changes.unwatched))
        return rows + [Text(f"   {sentence}", self.look("soft")) for sentence in sentences if sentence]

    def _keys(self) -> Text:
        """The chip is the way on; where a file was changed since, nothing is put forward."""
        look, hints = self.look, self._hints()
        if not self._kept:
            return indented(self.fact(*hints), 3)
        if self.guarded or any(file.changed_since for file in self._kept):
            take = self.key_hint("enter", "undo", "dim" if self.guarded else "text")
            return indented(self.fact(take, *hints), 3)
        chip = (" enter ", look("on-wait", on="wait-fill", bold=True))
        return indented(self.fact(Text.assemble(chip, (" undo", look("text"))), *hints), 2)


def _named(paths: Iterable[str]) -> str:
    names = list(paths)
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
