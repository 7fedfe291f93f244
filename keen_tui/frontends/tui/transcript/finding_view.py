"""The transcript while words are looked for in it: it goes where the hits are, and back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.transcript.document import Place
from keen_tui.frontends.tui.transcript.finding import Finder, Tally, Way
from keen_tui.frontends.tui.transcript.messages import HitsCounted
from keen_tui.frontends.tui.transcript.painting import Mark
from keen_tui.frontends.tui.transcript.selecting import SelectingView
from keen_tui.text.find import Needle

SLICE_SECONDS: Final = 0.008
"""How long a search goes on before keys and paints get their turn."""


class _Departure(NamedTuple):
    """Where the view stood before words were looked for."""

    place: Place
    following: bool


class FindingView(SelectingView):
    """A view in which words can be looked for. While a hit is shown, it does not follow the end."""

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        *,
        id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(styles, glyphs, id=id, clock=clock)
        self._finder = Finder(self._document, self._flows)
        self._departure: _Departure | None = None
        self._told = Tally()
        self._searching = False

    def find(self, words: str, *, turn: int = 0) -> None:
        """Look for these words instead of others, in the given turn first; "" lights nothing up."""
        if self._departure is None:
            self._departure = _Departure(self._anchor, self.following)
            self._finder.look_from(self._document.find(self.scroll_offset.y + self._viewport - 1))
        if turn:
            self._finder.look_from_turn(turn)
        self._finder.begin(Needle(words))
        self._look_on()
        self.refresh()

    def find_next(self, way: Way) -> None:
        """Show the next hit that way; behind the last one comes the first."""
        if self._finder.step(way):
            self._show_hit()
        self._tell()

    def stop_finding(self, *, stay: bool) -> None:
        """Nothing lights up any more. The view stays at the hit, or goes back to where it was before."""
        departure, self._departure = self._departure, None
        hit = self._finder.current
        if stay and hit:
            self._cursor = hit.block
            self._finder.stay()
        else:
            self._finder.fold_back()
        self._finder.begin(Needle(""))
        self._may_follow = True
        if departure and not stay:
            self._return(departure)
        else:
            self._settle()
            self._stopped()

    def _move_hits(self, blocks: int) -> None:
        """So many blocks came before the first one."""
        self._finder.moved_down(blocks)
        if self._departure:
            place = self._departure.place
            self._departure = self._departure._replace(place=place._replace(block=place.block + blocks))

    def _forget_hits(self) -> None:
        """Another conversation takes the place of this one; the same words are looked for in it."""
        self._finder.forget()
        if self._departure:
            self._departure = _Departure(Place(0, 0), following=True)

    def _return(self, departure: _Departure) -> None:
        if departure.following:
            self.action_scroll_end()
        else:
            self._go(departure.place)

    def _look_on(self) -> None:
        """Search what was not searched: at once, as far as that is quick, and the rest in slices."""
        self._search_slice()
        if self._finder.tally.unfinished and not self._searching:
            self._searching = True
            self.run_worker(self._search_in_slices(), name="find", group="find")

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
        self._tell()

    def _show_hit(self) -> None:
        """Have the hit in view, with rows above and below it."""
        place = self._finder.place
        if place is None:
            return
        self._may_follow = self.following = False
        self._settle()
        row = self._document.top(place.block) + place.offset - self.scroll_offset.y
        if not 1 <= row < self._viewport - 2:
            self._go(place)
            self._scroll_rows(-(self._viewport // 3))

    def _tell(self) -> None:
        tally = self._finder.tally
        if tally != self._told:
            self._told = tally
            self.post_message(HitsCounted(tally))

    def _marks(self, place: Place) -> list[Mark]:
        return [*super()._marks(place), *self._finder.marks(place)]
