"""A search in the transcript: the view moves to the matches, and back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from keen_tui.frontends.tui.terminal.background import SLICE_SECONDS
from keen_tui.frontends.tui.transcript.copying import RunBeside
from keen_tui.frontends.tui.transcript.cursor import BlockCursor
from keen_tui.frontends.tui.transcript.document import Document, Place
from keen_tui.frontends.tui.transcript.finding import Finder, Tally, Way
from keen_tui.frontends.tui.transcript.painting import Mark
from keen_tui.frontends.tui.transcript.viewport import Viewport
from keen_tui.text.find import Needle


class _Departure(NamedTuple):
    """The position of the view before the search."""

    place: Place
    following: bool


class FindSession:
    """Searches a document for words. While a match is shown, the view doesn't follow the end.

    Args:
        run: runs a long search.
        refresh: paints all rows in view again.
        counted: called when the number of matches changes, or another one is shown.
    """

    def __init__(
        self,
        document: Document,
        finder: Finder,
        viewport: Viewport,
        cursor: BlockCursor,
        *,
        run: RunBeside,
        refresh: Callable[[], object],
        counted: Callable[[Tally], object],
    ) -> None:
        self._document = document
        self._finder = finder
        self._viewport = viewport
        self._cursor = cursor
        self._run = run
        self._refresh = refresh
        self._counted = counted
        self._departure: _Departure | None = None
        self._reported: Tally | None = None
        """The count that was shown last for these words."""
        self._searching = False

    def find(self, words: str, *, turn: int = 0) -> None:
        """Search for these words, in the given turn first; "" highlights nothing."""
        viewport = self._viewport
        if self._departure is None:
            self._departure = _Departure(viewport.top, viewport.following)
            self._finder.look_from(viewport.bottom)
        if turn:
            self._finder.look_from_turn(turn)
        self._finder.begin(Needle(words))
        self._reported = None
        self.search()
        self._refresh()

    def show_next(self, way: Way) -> None:
        """Show the next match in that direction; the first one follows the last."""
        if self._finder.step(way):
            self._show_hit()
        self._report()

    def stop(self, *, stay: bool) -> None:
        """End the search. The view stays at the match, or returns to where it was before."""
        departure, self._departure = self._departure, None
        hit = self._finder.current
        if stay and hit:
            self._cursor.index = hit.block
            self._finder.stay()
        else:
            self._finder.fold_back()
        self._finder.begin(Needle(""))
        self._viewport.may_follow = True
        if departure and not stay:
            self._return(departure)
        else:
            self._viewport.settle()
            self._viewport.stop()

    def follow(self, first: int) -> None:
        """The document changed from block `first` on; the new part isn't searched yet."""
        self._finder.follow(first)

    def moved_down(self, blocks: int) -> None:
        """So many blocks were inserted at the beginning."""
        self._finder.moved_down(blocks)
        if self._departure:
            place = self._departure.place
            self._departure = self._departure._replace(place=place._replace(block=place.block + blocks))

    def begin(self) -> None:
        """Another conversation replaces this one; search it for the same words."""
        self._finder.forget()
        if self._departure:
            self._departure = _Departure(Place(0, 0), following=True)

    def search(self) -> None:
        """Search the rest: at once if that is quick, else in slices."""
        self._search_slice()
        if self._finder.tally.unfinished and not self._searching:
            self._searching = True
            self._run(self._search_in_slices())

    @property
    def has_marks(self) -> bool:
        """Whether words are searched for."""
        return self._finder.has_needle

    def marks(self, place: Place) -> list[Mark]:
        """The marks for the matches in a row."""
        return self._finder.marks(place)

    def _return(self, departure: _Departure) -> None:
        if departure.following:
            self._viewport.go_to_end()
        else:
            self._viewport.go(departure.place)

    async def _search_in_slices(self) -> None:
        try:
            while self._finder.tally.unfinished:
                await asyncio.sleep(0)
                self._search_slice()
        finally:
            self._searching = False

    def _search_slice(self) -> None:
        if self._finder.run(SLICE_SECONDS):
            self._show_hit()
        self._report()

    def _show_hit(self) -> None:
        """Scroll the match into view, with rows above and below it."""
        place = self._finder.place
        if place is None:
            return
        viewport = self._viewport
        viewport.may_follow = viewport.following = False
        viewport.settle()
        row = self._document.top(place.block) + place.offset - viewport.row
        if not 1 <= row < viewport.height - 2:
            viewport.go(place, above=viewport.height // 3)

    def _report(self) -> None:
        tally = self._finder.tally
        if tally != self._reported:
            self._reported = tally
            self._counted(tally)
