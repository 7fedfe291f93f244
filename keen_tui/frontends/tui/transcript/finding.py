"""Chooses the match to show among all matches of a search, and highlights the visible ones."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from keen_tui.frontends.tui.rows.lru_cache import Recent
from keen_tui.frontends.tui.transcript.blocks.folding import FoldState, fold_key
from keen_tui.frontends.tui.transcript.document import Document, Place
from keen_tui.frontends.tui.transcript.flow import Flow, Flows, Spot
from keen_tui.frontends.tui.transcript.painting import Mark
from keen_tui.frontends.tui.transcript.search import Hit, TranscriptSearch
from keen_tui.text.find import Needle

Way = Literal[-1, 1]
"""Towards older matches, or towards newer ones."""

_BLOCKS_KEPT: Final = 256

HitRanges = list[tuple[int, int]]
"""Matches in a block's text, each from its first character to the one after its last."""


_END: Final = Spot(sys.maxsize, sys.maxsize)


class Tally(NamedTuple):
    """The shown match is `number` (from 1, 0 for none) of `total`.

    `unfinished`: there may be more. `wrapped`: the step to it passed the last match (1) or the first (-1).
    """

    number: int = 0
    total: int = 0
    unfinished: bool = False
    wrapped: Literal[-1, 0, 1] = 0


class Finder:
    """Steps from match to match through a document.

    The first one shown is the nearest at or above the current position, since a session is read from its end.
    A match in a folded block unfolds the block; it is folded again when a match in another block is shown.
    """

    def __init__(self, document: Document, flows: Flows) -> None:
        self.current: Hit | None = None
        """The match that is shown."""
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
        """The position of the shown match among all matches."""
        number = self._search.number(self.current) + 1 if self.current else 0
        return Tally(number, self._search.total, self._search.unfinished, self._wrapped)

    @property
    def has_needle(self) -> bool:
        """Whether there is anything to search for."""
        return bool(self._search.needle)

    @property
    def place(self) -> Place | None:
        """The row of the shown match."""
        if self.current is None:
            return None
        block, ordinal = self.current
        row = self._flows.of(block).row(self._shown(block)[ordinal][0])
        return Place(block, self._document.entries[block].gap + row)

    def look_from_turn(self, turn: int) -> None:
        """Let the next search begin at the end of that turn."""
        of_turn = (
            index
            for index, entry in enumerate(self._document.entries)
            if getattr(entry.block, "turn", 0) == turn
        )
        self._origin = Spot(max(of_turn, default=sys.maxsize), sys.maxsize)

    def look_from(self, place: Place) -> None:
        """Let the next search begin at that row."""
        if place.block < len(self._document):
            row = place.offset - self._document.entries[place.block].gap
            flow = self._flows.of(place.block)
            self._origin = Spot(place.block, flow.place(row, len(flow.text)) if row >= 0 else -1)

    def begin(self, needle: Needle) -> None:
        """Search for another needle."""
        self._search.begin(needle, self._origin.block)
        self._spans.clear()
        self.current, self._wrapped = None, 0

    def run(self, seconds: float) -> bool:
        """Continue the search for about that time. True if it found the first match to show."""
        if not self._search.needle:
            return False
        self._search.run(seconds)
        if self.current is not None:
            return False
        nearest = self._nearest()
        return nearest is not None and self._arrive(nearest, -1)

    def step(self, way: Way) -> bool:
        """Go to the next match in that direction. False if there is none, or none yet."""
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
        """So many blocks were inserted at the beginning: search everything again, and keep showing the same
        match."""
        shown, needle = self.current, self._search.needle
        self._origin = self._origin._replace(block=min(self._origin.block + blocks, sys.maxsize))
        self._opened = None if self._opened is None else self._opened + blocks
        self.begin(Needle(""))
        self.begin(needle)
        self.current = shown and shown._replace(block=shown.block + blocks)

    def forget(self) -> None:
        """The document has another conversation: search it for the same needle."""
        self._origin, self._opened = _END, None
        needle = self._search.needle
        self.begin(Needle(""))
        self.begin(needle)

    def fold_back(self) -> None:
        """Fold the block that was unfolded to show a match."""
        if self._opened is not None and not self._is_folded(self._opened):
            self._document.set_view(self._opened, self._view_before)
        self._opened = None

    def stay(self) -> None:
        """Keep the block unfolded that was unfolded to show a match."""
        self._opened = None

    def marks(self, place: Place) -> list[Mark]:
        """The marks for the matches in a row; the shown one is stronger."""
        row = place.offset - self._document.entries[place.block].gap
        if row < 0 or not self.has_needle:
            return []
        spans = self._shown(place.block)
        if not spans:
            return []
        flow = self._flows.of(place.block)
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
        """The last match at or above the origin, or, if everything is searched, the first one below it."""
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
        """Show this match, or the next one if its block turns out to have fewer than counted."""
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
        """The matches in the visible text of the block."""
        flow = self._flows.of(block)
        kept = self._spans.get(block)
        if kept is None or kept[0] is not flow:
            found = self._search.needle.pattern.finditer(flow.text) if self._search.needle else ()
            kept = (flow, [match.span() for match in found])
            self._spans.keep(block, kept)
        return kept[1]
