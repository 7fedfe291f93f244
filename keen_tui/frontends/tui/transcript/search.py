"""Searches a document: counts matches block by block, a slice at a time, without drawing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from keen_tui.frontends.tui.state.state import Block
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.document import Document
from keen_tui.frontends.tui.transcript.heights import HeightIndex
from keen_tui.frontends.tui.transcript.words import count_hits
from keen_tui.text.find import Needle


class Hit(NamedTuple):
    """One of the matches in a block; the first has the ordinal 0."""

    block: int
    ordinal: int


class TranscriptSearch:
    """The matches of one needle at a time, numbered from the first block to the last.

    They are counted in an index of heights, so finding the block of match 4,711, or the number of a block's
    first match, costs O(log n).
    """

    def __init__(self, document: Document, clock: Callable[[], float] = time.perf_counter) -> None:
        self.needle = Needle("")
        self._document = document
        self._clock = clock
        self._counts = HeightIndex()
        self._searched: list[Block] = []
        self._ahead: list[int] = []

    @property
    def unfinished(self) -> bool:
        """Whether some blocks haven't been searched yet."""
        return bool(self._ahead)

    @property
    def total(self) -> int:
        """The matches found so far."""
        return self._counts.total

    def begin(self, needle: Needle, near: int) -> None:
        """Search for another needle: from block `near` up to the first one, then below it.

        If the needle only became longer, blocks without the shorter one aren't searched again.
        """
        suspects = self._suspects(needle)
        self.needle = needle
        self._searched = [entry.block for entry in self._document.entries] if needle else []
        self._counts = HeightIndex([0] * len(self._searched))
        above = [index for index in suspects if index <= near]
        below = [index for index in suspects if index > near]
        self._ahead = [*reversed(below), *above] if needle else []

    def follow(self, first: int) -> None:
        """The document changed from block `first` on; the new part will be searched."""
        if not self.needle:
            return
        entries, searched = self._document.entries, self._searched
        if len(searched) > len(entries):
            del searched[len(entries) :]
            self._counts.truncate(len(entries))
            self._ahead = [index for index in self._ahead if index < len(entries)]
        for index in range(first, len(entries)):
            block = entries[index].block
            if index == len(searched):
                searched.append(block)
                self._counts.append(0)
            elif searched[index] is block:
                continue
            searched[index] = block
            self._ahead.append(index)

    def run(self, seconds: float) -> None:
        """Continue the search for about that time."""
        context = BlockContext(look=self._document.look, now=0.0, unfolded=True)
        until = self._clock() + seconds
        while self._ahead and self._clock() < until:
            index = self._ahead.pop()
            self._counts.update(index, count_hits(self._searched[index], self.needle, context))

    def correct(self, block: int, hits: int) -> None:
        """Correct the count of a block that was drawn."""
        self._counts.update(block, hits)

    def hits_in(self, block: int) -> int:
        """The matches in a block, as far as they are known."""
        return self._counts[block]

    def number(self, hit: Hit) -> int:
        """The number of a match among all of them, from 0."""
        return self._counts.top(hit.block) + hit.ordinal

    def hit(self, number: int) -> Hit:
        """The match with that number, from 0."""
        return Hit(*self._counts.find(number))

    def _suspects(self, needle: Needle) -> list[int]:
        if self._ahead or not needle.narrows(self.needle):
            return list(range(len(self._document)))
        return [index for index in range(len(self._searched)) if self._counts[index]]
