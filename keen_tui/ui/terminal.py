"""What a terminal sends. A paste is taken as one text, however long it is and whatever stands in it."""

from __future__ import annotations

import os
import selectors
from codecs import getincrementaldecoder
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from keen_tui.ui import courtesy

_BEGIN: Final = "\x1b[200~"
_END: Final = "\x1b[201~"
_CHUNK: Final = 65_536
_PATIENCE: Final = 0.1
"""Seconds after which a lone escape is a key."""


class PasteParser(XTermParser):
    """Textual's parser, but for pastes.

    Textual's own reads a paste character by character, a second for 150 kB, and gives keys for some of what
    stands behind an escape character in it: one of them may be enter.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        self._held = ""

    def feed(self, data: str) -> Iterable[Message]:
        """The messages for what was read; "" ends the input."""
        if not data:
            yield from super().feed(self._held)
            return
        data, self._held = self._held + data, ""
        while data:
            if self._pasted is None:
                keys, begin, data = data.partition(_BEGIN)
                keys = keys if begin else self._hold_back(keys, _BEGIN, at_least=3)
                if keys:
                    yield from super().feed(keys)
                if begin:
                    self._pasted = []
                continue
            # A mark within the paste does not end it: behind the last one stand keys.
            text, end, rest = data.rpartition(_END)
            self._pasted.append(text if end else self._hold_back(rest, _END, at_least=1))
            data = rest if end else ""
            if end:
                yield events.Paste("".join(self._pasted).replace("\0", ""))
                self._pasted = None

    def _hold_back(self, text: str, mark: str, *, at_least: int) -> str:
        """The text without the beginning of a mark at its end, which waits for the rest."""
        for length in range(len(mark) - 1, at_least - 1, -1):
            if text.endswith(mark[:length]):
                self._held = text[-length:]
                return text[:-length]
        return text


class KeenDriver(LinuxDriver):
    """Textual's driver with that parser."""

    def run_input_thread(self) -> None:
        """Read what the terminal sends until the program ends."""
        courtesy.begin()
        parser = PasteParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                read = os.read(self.fileno, _CHUNK) if selector.select(_PATIENCE) else None
                if read == b"":  # nothing will come any more
                    break
                if read:
                    courtesy.key_came()
                text = decode(read) if read else ""
                for message in (*(parser.feed(text) if text else ()), *parser.tick()):
                    self.process_message(message)
        with suppress(EOFError, ParseError):
            for _ in parser.feed(""):
                pass
