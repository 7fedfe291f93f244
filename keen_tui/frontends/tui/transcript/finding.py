"""Which hit is shown of all that a search finds, and where hits light up in what is seen."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from keen_tui.frontends.tui.lru_cache import Recent
from keen_tui.frontends.tui.transcript.document import Document, Place
from keen_tui.frontends.tui.transcript.flow import Flow, Flows, Spot
from keen_tui.frontends.tui.transcript.folding import FoldState, fold_key
from keen_tui.frontends.tui.transcript.painting import Mark
from keen_tui.frontends.tui.transcript.search import Hit, TranscriptSearch
from keen_tui.text.find import Needle

Way = Literal[-1, 1]
"""Towards older hits, or towards newer ones."""

_BLOCKS_KEPT: Final = 256

HitRanges = list[tuple[int, int]]
"""Hits in a block's text, each from its first character up to the one behind its last."""


_END: Final = Spot(sys.maxsize, sys.maxsize)


class Tally(NamedTuple):
    """The hit that is shown is `number` (from 1, 0: none is) of `total`.

    `unfinished`: there may be more. `wrapped`: the step to it went over the last hit (1) or the first (-1).
    """

    number: int = 0
    total: int = 0
    unfinished: bool = False
    wrapped: Literal[-1, 0, 1] = 0


class Finder:
    """Leads from hit to hit through a document.

    The first one shown is the nearest at or above where one looks, as a session is read from its end. A hit
    in what is folded unfolds its block, which is folded again when another block's hit is shown.
    """

    def __init__(self, document: Document, flows: Flows) -> None:
        self.current: Hit | None = None
        """The hit that is shown."""
        self._document = document
        self._flows = flows
        self._search = TranscriptSearch(document)
        self._origin = _END
        self._opened: int | None = None
        self._view_before: FoldState = "folded"
        self._wrapped: Literal[-1, 0, 1] = 0
        self._spans: Recent[int, tuple[Flow, HitRanges]] = Recent(_BLOCKS_KEPT)

    @property
    def tally(self) -> Tally:
        """Where one stands among all hits."""
        number = self._search.number(self.current) + 1 if self.current else 0
        return Tally(number, self._search.total, self._search.unfinished, self._wrapped)

    @property
    def place(self) -> Place | None:
        """The row of the hit that is shown."""
        if self.current is None:
            return None
        block, ordinal = self.current
        row = self._flows.of(block).row(self._shown(block)[ordinal][0])
        return Place(block, self._document.entries[block].gap + row)

    def look_from_turn(self, turn: int) -> None:
        """What is looked for next shall be the last in that turn, or near it."""
        of_turn = (
            index
            for index, entry in enumerate(self._document.entries)
            if getattr(entry.block, "turn", 0) == turn
        )
        self._origin = Spot(max(of_turn, default=sys.maxsize), sys.maxsize)

    def look_from(self, place: Place) -> None:
        """What is looked for next shall be near that row."""
        if place.block < len(self._document):
            row = place.offset - self._document.entries[place.block].gap
            flow = self._flows.of(place.block)
            self._origin = Spot(place.block, flow.place(row, len(flow.text)) if row >= 0 else -1)

    def begin(self, needle: Needle) -> None:
        """Look for another needle."""
        self._search.begin(needle, self._origin.block)
        self._spans.clear()
        self.current, self._wrapped = None, 0

    def run(self, seconds: float) -> bool:
        """Search on for about so long. True: a hit is shown now, and none was before."""
        if not self._search.needle:
            return False
        self._search.run(seconds)
        if self.current is not None:
            return False
        nearest = self._nearest()
        return nearest is not None and self._arrive(nearest, -1)

    def step(self, way: Way) -> bool:
        """Go to the next hit that way. False: there is none, or none yet."""
        total = self._search.total
        if self.current is None or not total:
            return False
        number = self._search.number(self.current) + way
        beyond = not 0 <= number < total
        if beyond and self._search.unfinished:
            return False
        self._wrapped = way if beyond else 0
        if not self._arrive(self._search.hit(number % total), way):
            return False
        self._origin = Spot(self.current.block, self._shown(self.current.block)[self.current.ordinal][0])
        return True

    def follow(self, first: int) -> None:
        """The document changed from block `first` on."""
        self._search.follow(first)
        if self.current and not self._is_there(self.current):
            self.current = None
        if self._opened is not None and self._opened >= len(self._document):
            self._opened = None

    def moved_down(self, blocks: int) -> None:
        """So many blocks came before the first one: all is searched again, and the same hit stays shown."""
        shown, needle = self.current, self._search.needle
        self._origin = self._origin._replace(block=min(self._origin.block + blocks, sys.maxsize))
        self._opened = None if self._opened is None else self._opened + blocks
        self.begin(Needle(""))
        self.begin(needle)
        self.current = shown and shown._replace(block=shown.block + blocks)

    def forget(self) -> None:
        """The document holds another conversation: what was looked for is looked for in that."""
        self._origin, self._opened = _END, None
        needle = self._search.needle
        self.begin(Needle(""))
        self.begin(needle)

    def fold_back(self) -> None:
        """Fold the block that was unfolded to show a hit."""
        if self._opened is not None and not self._is_folded(self._opened):
            self._document.set_view(self._opened, self._view_before)
        self._opened = None

    def stay(self) -> None:
        """What was unfolded to show a hit stays so."""
        self._opened = None

    def marks(self, place: Place) -> list[Mark]:
        """How the hits in a row are painted; the one that is shown is stronger."""
        row = place.offset - self._document.entries[place.block].gap
        if row < 0 or not self._search.needle:
            return []
        flow, spans = self._flows.of(place.block), self._shown(place.block)
        start, end = flow.bounds(row)
        first = bisect_right(spans, start, key=itemgetter(1))
        last = bisect_left(spans, end, key=itemgetter(0))
        styles = self._document.look.styles
        faint = styles("text", on="select" if styles.colour else None, underline=True)
        marks: list[Mark] = []
        for ordinal in range(first, last):
            columns = flow.columns(row, *spans[ordinal])
            strong = self.current == (place.block, ordinal)
            if columns:
                marks.append(Mark(*columns, styles("on-accent", on="accent", bold=True) if strong else faint))
        return marks

    def _nearest(self) -> Hit | None:
        """The last hit at or above the origin; where there is none and all is searched, the first below."""
        if not len(self._document):
            return None
        block, place = min(self._origin, Spot(len(self._document) - 1, sys.maxsize))
        if above := self._search.hits_in(block) if place >= 0 else 0:
            if not self._is_folded(block):
                above = bisect_right(self._shown(block), place, key=itemgetter(0))
            if above:
                return Hit(block, above - 1)
        before = self._search.number(Hit(block, 0))
        if before:
            return self._search.hit(before - 1)
        return None if self._search.unfinished or not self._search.total else self._search.hit(0)

    def _arrive(self, hit: Hit, way: Way) -> bool:
        """Show this hit or, where its block turns out to show fewer than were counted, the next one."""
        while self._search.total:
            block, ordinal = hit
            shown = self._shown(block)
            if ordinal >= len(shown) and self._is_folded(block):
                self._unfold(block)
                shown = self._shown(block)
            if not self._is_folded(block):
                self._search.correct(block, len(shown))
            if shown and (ordinal < len(shown) or way < 0):
                self.current = Hit(block, min(ordinal, len(shown) - 1))
                if self._opened not in (None, block):
                    self.fold_back()
                return True
            total = self._search.total
            number = self._search.number(Hit(block, 0)) + (len(shown) if way > 0 else -1)
            hit = self._search.hit(number % total) if total else hit
        self.current = None
        return False

    def _unfold(self, block: int) -> None:
        self.fold_back()
        self._opened, self._view_before = block, self._document.view(block)
        self._document.set_view(block, "unfolded")

    def _is_folded(self, block: int) -> bool:
        shown = self._document.entries[block].block
        return fold_key(shown) is not None and not self._document.is_unfolded(shown)

    def _is_there(self, hit: Hit) -> bool:
        return hit.block < len(self._document) and hit.ordinal < len(self._shown(hit.block))

    def _shown(self, block: int) -> HitRanges:
        """The hits in what the block shows now."""
        flow = self._flows.of(block)
        kept = self._spans.get(block)
        if kept is None or kept[0] is not flow:
            found = self._search.needle.pattern.finditer(flow.text) if self._search.needle else ()
            kept = (flow, [match.span() for match in found])
            self._spans.keep(block, kept)
        return kept[1]
