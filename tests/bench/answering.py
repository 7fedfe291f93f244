"""A terminal that answers questions, as real ones do: some programs wait for the answers when they start."""

from __future__ import annotations

import re
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyte

from tests.support.terminal import UNKNOWN_TO_PYTE, TerminalProgram

COLUMNS, ROWS = 120, 40

_QUESTION = re.compile(
    rb"\x1b(?:\[(?P<report>[56])n|\[(?P<attributes>>?)0?c|\](?P<colour>1[01]);\?(?:\x07|\x1b\\)"
    rb"|\[\?(?P<mode>\d+)\$p)"
)
"""The status or the cursor's place, the terminal's attributes, a colour, a private mode."""

_LONGEST_QUESTION = 16
_SYNCHRONIZED = b"2026"
_BEGUN = re.compile(rb"\x1b(?:\[(?:[<>=?][0-9;]*)?)?\Z")
"""The beginning of what may be a sequence that pyte doesn't know."""


class AnsweringTerminal(TerminalProgram):
    """A program in a terminal that answers. `times` has, for each piece of the output, the time on the perf
    counter and the length of the whole output with it."""

    def __init__(self, argv: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
        self.times: list[tuple[float, int]] = []
        self._answered = 0
        super().__init__(argv, columns=COLUMNS, rows=ROWS, folder=folder, environ=environ)

    @property
    def takes_keys(self) -> bool:
        """Whether the program has turned off the terminal's own line editing and echo."""
        local = self.modes[3]
        assert isinstance(local, int)
        return not local & (termios.ECHO | termios.ICANON)

    def read(self, seconds: float) -> bytes:
        """The output within `seconds`, its questions answered."""
        piece = super().read(seconds)
        if piece:
            self.times.append((time.perf_counter(), len(self.output)))
            self._answer()
        return piece

    def read_until(self, word: str, *, since: int, seconds: float) -> float:
        """Read until the word is drawn after byte `since` of the output; looks at each byte once. Returns
        the time on the perf counter.

        Raises:
            TimeoutError: it did not appear within that time.
        """
        wanted, limit = word.encode(), time.perf_counter() + seconds
        while self.output.find(wanted, since) < 0:
            since = max(since, len(self.output) - len(wanted))
            self.read(0.02)
            if time.perf_counter() > limit:
                raise TimeoutError(f"{word!r} was not drawn; on the screen:\n{self.screen()}")
        return time.perf_counter()

    def _answer(self) -> None:
        new = bytes(self.output[self._answered :])
        given, end = answers(new)
        self._answered += max(end, len(new) - _LONGEST_QUESTION)
        if given:
            self.type(given.decode())


def answers(output: bytes) -> tuple[bytes, int]:
    """What an xterm with synchronized output and a dark background says to the questions in the output, and
    the place behind the last question."""
    found = list(_QUESTION.finditer(output))
    return b"".join(map(_answer_to, found)), found[-1].end() if found else 0


def screens(output: bytes, times: Sequence[tuple[float, int]]) -> Iterator[tuple[float, str]]:
    """The screen after each piece of an output that began with an empty one."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream, begin = pyte.ByteStream(screen), 0
    for when, end in times:
        piece = output[begin:end]
        begun = _BEGUN.search(piece)
        piece = piece[: begun.start()] if begun else piece
        stream.feed(UNKNOWN_TO_PYTE.sub(b"", piece))
        begin += len(piece)
        yield when, "\n".join(screen.display)


def _answer_to(question: re.Match[bytes]) -> bytes:
    match question.lastgroup, question[question.lastgroup or 0]:
        case "report", b"6":
            return b"\x1b[1;1R"
        case "report", _:
            return b"\x1b[0n"
        case "attributes", b">":
            return b"\x1b[>41;390;0c"
        case "attributes", _:
            return b"\x1b[?62;22c"
        case "colour", number:
            shade = b"dcdc" if number == b"10" else b"1c1c"
            return b"\x1b]%b;rgb:%b/%b/%b\x1b\\" % (number, shade, shade, shade)
        case _, mode:
            return b"\x1b[?%b;%d$y" % (mode, 2 if mode == _SYNCHRONIZED else 0)
