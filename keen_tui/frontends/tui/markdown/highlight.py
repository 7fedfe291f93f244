"""Syntax colours, for the screen: what takes long to colour is plain until an errand has done it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from keen_tui.domain.display import DiffLine
from keen_tui.frontends.tui.terminal.background import Errand
from keen_tui.text.highlighting import Coloured, LazyColours, LazyHunkColours, is_loaded, load

AT_ONCE: Final = 3_000
"""Characters of code that are read without a thread for the sake of a line behind them."""
LONGEST_FENCE: Final = 6_000

_loading: dict[tuple[str, str], Errand] = {}


class ScreenColours(LazyColours):
    """Lines of code with their colours; a line far below those that were read is plain at first."""

    def __init__(self, code: str, language: str = "", path: str = "") -> None:
        super().__init__(code)
        self._kind: tuple[str, str] | None = (language, path)
        self._ends = list(accumulate(len(line) + 1 for line in self.lines))
        self._errand: Errand | None = None

    def __getitem__(self, number: int) -> Coloured:
        if self._kind and _is_ready(*self._kind):
            self.colour(*self._kind)
            self._kind = None
        if self._errand is None and self._unread(number) > AT_ONCE:
            self._errand = Errand(self.read_all)
        is_reading = self._errand is not None and not self._errand.is_done
        return self.so_far(number) if is_reading else super().__getitem__(number)

    def _unread(self, number: int) -> int:
        """Characters that would have to be read for this line."""
        if not self.is_coloured or number < self.lines_read:
            return 0
        return self._ends[number] - (self._ends[self.lines_read - 1] if self.lines_read else 0)


def hunk_colours(hunk: Sequence[DiffLine], path: str, opened: tuple[str, str]) -> LazyHunkColours:
    """The rows of a diff, with colours where they are seen. `opened` is what the old and the new text begin
    inside of."""
    return LazyHunkColours(hunk, path, ScreenColours, opened=opened)


def highlight(code: str, language: str = "", path: str = "") -> list[Coloured]:
    """All lines of `code`; plain where it is longer than `LONGEST_FENCE` or what colours it is not loaded."""
    is_plain = len(code) > LONGEST_FENCE or not _is_ready(language, path)
    colours = LazyColours(code) if is_plain else LazyColours(code, language, path)
    return [colours[number] for number in range(len(colours.lines))]


def _is_ready(language: str, path: str) -> bool:
    """Whether the lexer is loaded: some take a fifth of a second."""
    if not (language or path) or is_loaded(language, path):
        return True
    key = (language, path)
    errand = _loading.get(key) or Errand(lambda: load(language, path))
    if errand.is_done:
        _loading.pop(key, None)
        return True
    _loading[key] = errand
    return False
