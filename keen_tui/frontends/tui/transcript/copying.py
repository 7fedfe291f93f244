"""Copies parts of a transcript. Long texts are put together in slices, so that keys and paints aren't held
up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Final, TypeAlias

from keen_tui.frontends.tui.state.state import Block
from keen_tui.frontends.tui.terminal.background import SLICE_SECONDS
from keen_tui.frontends.tui.transcript.blocks.block_rows import code_of, is_excerpt, source
from keen_tui.frontends.tui.transcript.document import Document
from keen_tui.frontends.tui.transcript.meant import is_reply, meant_by
from keen_tui.text.units import counted

_LONG: Final = 100_000
"""Characters from which on a text is encoded for the terminal in a thread."""

RunBeside: TypeAlias = Callable[[Coroutine[object, object, None]], object]
"""Runs a task of the widget, which ends with the widget."""


class Copier:
    """Copies parts of a document.

    Args:
        clipboard: takes a text, also from a thread.
        run: runs long tasks.
        copied: called with each copied text, and with a few words that say so, or why there was nothing to
            copy.
    """

    def __init__(
        self,
        document: Document,
        *,
        clipboard: Callable[[str], None],
        run: RunBeside,
        copied: Callable[[str, str], object],
    ) -> None:
        self.busy = False
        """Whether a long text is being copied."""
        self._document = document
        self._clipboard = clipboard
        self._run = run
        self._copied = copied
        self._code_copied: tuple[int, int] = (-1, 0)
        """The block whose code was copied last, and how many of its pieces were."""

    def copy_blocks(self, indices: Iterable[int]) -> None:
        """Copy the source of blocks: Markdown, code without line numbers. The end of a finished turn stands
        for its reply."""
        entries = self._document.entries
        meant = sorted({place for index in indices for place in meant_by(entries, index)})
        blocks = [entries[place].block for place in meant]
        self.copy(_joined(blocks), "of an excerpt" if any(map(is_excerpt, blocks)) else "")

    def copy_code(self, index: int) -> None:
        """Copy the code in a block; when repeated, its next piece."""
        entries = self._document.entries
        entry = entries[index]
        pieces = [piece for place in meant_by(entries, index) for piece in code_of(entries[place].block)]
        serial, taken = self._code_copied
        number = taken % len(pieces) if pieces and serial == entry.serial else 0
        self._code_copied = (entry.serial, number + 1)
        which = f", piece {number + 1} of {len(pieces)}" if len(pieces) > 1 else ""
        self.copy(iter(pieces[number : number + 1]), "of code" + which, nothing="no code in this block")

    def copy_reply(self, *, code: bool = False) -> None:
        """Copy the newest reply, or all the code in it."""
        entries = self._document.entries
        newest = next((each.block for each in reversed(entries) if is_reply(each.block)), None)
        if newest is None:
            self.copy(iter(()), nothing="no reply to copy yet")
        elif code:
            code_in_it = "\n\n".join(code_of(newest))
            self.copy(iter((code_in_it,)), "of code", nothing="no code in the newest reply")
        else:
            self.copy(_joined((newest,)))

    def copy_everything(self) -> None:
        """Copy the source of the whole conversation."""
        blocks = (entry.block for entry in tuple(self._document.entries))
        self.copy(_joined(blocks), nothing="nothing to copy yet")

    def copy(self, pieces: Iterator[str], what: str = "", *, nothing: str = "nothing to copy") -> None:
        """Copy the pieces as one text, at once, where that is quick. `what` says which lines they are,
        `nothing` why there are none."""
        gathered: list[str] = []
        if _gather(pieces, gathered):
            text = "".join(gathered)
            if len(text) < _LONG:
                if text:
                    self._clipboard(text)
                self._report(text, what if text else nothing)
                return
        self.busy = True
        self._run(self._copy_on(pieces, gathered, what))

    async def _copy_on(self, pieces: Iterator[str], gathered: list[str], what: str) -> None:
        while True:
            await asyncio.sleep(0)
            if _gather(pieces, gathered):
                break
        text = "".join(gathered)
        await asyncio.to_thread(self._clipboard, text)
        self.busy = False
        self._report(text, what)

    def _report(self, text: str, what: str) -> None:
        lines = counted(text.count("\n") + 1, "line")
        self._copied(text, f"copied {lines} {what}".rstrip() if text else what)


def _gather(pieces: Iterator[str], gathered: list[str]) -> bool:
    """Collect pieces for one slice of time. True after the last piece."""
    until = time.perf_counter() + SLICE_SECONDS
    for piece in pieces:
        gathered.append(piece)
        if time.perf_counter() > until:
            return False
    return True


def _joined(blocks: Iterable[Block]) -> Iterator[str]:
    """The source of the blocks, with empty lines between them."""
    texts = filter(None, map(source, blocks))
    for number, text in enumerate(texts):
        yield "\n\n" * (number > 0) + text
