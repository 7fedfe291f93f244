"""Long texts put together and copied beside everything else, so that nobody waits for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Final

from keen_tui.frontends.tui.transcript.messages import Copied
from keen_tui.frontends.tui.transcript.view import DocumentView
from keen_tui.text.units import counted

SLICE_SECONDS: Final = 0.008
"""How long text is gathered before keys and paints get their turn."""
_LONG: Final = 100_000
"""Characters from which on a text is encoded for the terminal in a thread."""


class CopyingView(DocumentView):
    """A view whose text can be copied."""

    copying = False
    """Whether a long text is being copied: `Copied` comes when it is done."""

    def _copy(self, pieces: Iterator[str], what: str = "", *, nothing: str = "nothing to copy") -> None:
        """Copy the pieces as one text, at once, where that is quick. `what` says which lines they are,
        `nothing` why there are none."""
        gathered: list[str] = []
        if _gather(pieces, gathered):
            text = "".join(gathered)
            if len(text) < _LONG:
                if text:
                    self.app.copy_to_clipboard(text)
                self._tell_copied(text, what if text else nothing)
                return
        self.copying = True
        self.run_worker(self._copy_on(pieces, gathered, what), name="copy", group="copy", exclusive=True)

    async def _copy_on(self, pieces: Iterator[str], gathered: list[str], what: str) -> None:
        while True:
            await asyncio.sleep(0)
            if _gather(pieces, gathered):
                break
        text = "".join(gathered)
        await asyncio.to_thread(self.app.copy_to_clipboard, text)
        self.copying = False
        self._tell_copied(text, what)

    def _tell_copied(self, text: str, what: str) -> None:
        lines = counted(text.count("\n") + 1, "line")
        self.post_message(Copied(text, f"copied {lines} {what}".rstrip() if text else what))


def _gather(pieces: Iterator[str], gathered: list[str]) -> bool:
    """Take pieces for the time of a slice. True: that was the last one."""
    until = time.perf_counter() + SLICE_SECONDS
    for piece in pieces:
        gathered.append(piece)
        if time.perf_counter() > until:
            return False
    return True
