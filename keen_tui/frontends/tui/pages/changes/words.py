"""The words around the files: what they are the changes of, and what an undo would do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from keen_tui.domain.reports import Changes
from keen_tui.frontends.shared.changes import ShownFile, not_covered
from keen_tui.frontends.shared.questions import UndoQuestion
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_ROOMY = 30
"""Rows of the terminal from which the question gets blank rows."""

_NAMED = 3
"""Files that a sentence names; the others are counted."""


class ChangesHead(RowWidget):
    """Whose changes these are, and how many; or what went wrong with a file, as `problem`."""

    def __init__(
        self, styles: Styles, glyphs: Glyphs, changes: Changes, files: Sequence[ShownFile], *, asks: bool
    ) -> None:
        super().__init__(styles, glyphs, id="changes-head")
        self._changes = changes
        self._files = files
        self._asks = asks
        self.problem = ""

    def rows(self, width: int, height: int) -> list[Text]:
        look, changes = self.look, self._changes
        if self.problem:
            said = Text(clean(self.problem), look("wait"))
            return [indented(cut_row(said, width - 4, self.glyphs.more), 2)]
        subject = changes.whose or (f"turn {changes.turn}" if changes.turn else "this session")
        title = Text.assemble(
            (f"Undo {subject}" if self._asks else f"Changes of {subject}", look("text", bold=True)),
            (f"{GAP}{clean(changes.title)}" if changes.title else "", look("soft")),
        )
        added, removed = sum(file.added for file in self._files), sum(file.removed for file in self._files)
        count = Text.assemble(
            ("undone" + GAP if changes.undone else "", look("soft")),
            (counted(len(self._files), "file") + GAP, look("dim")),
            (f"+{added}", look("add")),
            " ",
            (f"{self.glyphs.minus}{removed}", look("del")),
        )
        return [indented(spread(title, count, width - 4, self.glyphs.more), 2)]


class ReadingFoot(RowWidget):
    """The foot of the page: changes that it can't show, and the keys."""

    def __init__(self, styles: Styles, glyphs: Glyphs, commands: int) -> None:
        super().__init__(styles, glyphs, id="changes-foot")
        self._commands = commands
        self.other_view = ""

    def rows(self, width: int, height: int) -> list[Text]:
        words = not_covered(self._commands)
        said = [Text(words, self.look("dim"))] if words else []
        hints = [self.key_hint(key, verb) for key, verb in _reading_keys(self.glyphs, self.other_view)]
        rows = [*said, self.fact(*hints, self.key_hint("esc", "back"))]
        return [indented(cut_row(row, width - 4, self.glyphs.more), 2) for row in rows]


class UndoFoot(RowWidget):
    """The question: what is taken back, what was changed since, what is not covered."""

    def __init__(self, styles: Styles, glyphs: Glyphs, changes: Changes, files: Sequence[ShownFile]) -> None:
        super().__init__(styles, glyphs, id="changes-foot")
        self._title = UndoQuestion(changes, files).title
        self._changes = changes
        self._kept = [file for file in files if not file.unkept]
        self._unkept = [file for file in files if file.unkept]
        self.other_view = ""
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
        look, glyphs = self.look, self.glyphs
        reading = [self.key_hint(key, verb) for key, verb in _reading_keys(glyphs, self.other_view)]
        hints = [self.key_hint("esc", "keep" if self._kept else "back"), *reading]
        if not self._kept:
            return indented(self.fact(*hints), 3)
        if self.guarded or any(file.changed_since for file in self._kept):
            take = self.key_hint("enter", "undo", "dim" if self.guarded else "text")
            return indented(self.fact(take, *hints), 3)
        chip = (" enter ", look("on-wait", on="wait-fill", bold=True))
        return indented(self.fact(Text.assemble(chip, (" undo", look("text"))), *hints), 2)


def _reading_keys(glyphs: Glyphs, other_view: str) -> list[tuple[str, str]]:
    keys = [(f"{glyphs.up}{glyphs.down}", "file"), ("page up, page down", "scroll")]
    keys.append((shown("page_edit"), "editor"))
    return [*keys, (shown("page_view"), other_view)] if other_view else keys


def _named(paths: Iterable[str]) -> str:
    names = list(paths)
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
