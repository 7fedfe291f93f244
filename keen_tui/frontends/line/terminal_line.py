"""Reads one line from the terminal, with the standard library's readline if there is one, else with the
terminal's own editing. Only for the main thread."""

from __future__ import annotations

import os
import select
import sys
import termios
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

from keen_tui.domain.choices import GUARD_SECONDS

try:
    import readline
except ImportError:  # this Python has no readline
    readline = None  # type: ignore[assignment]

_LOCAL_MODES: Final = 3
"""The index of the local modes in the result of `tcgetattr`."""
_MOST_AT_ONCE: Final = 4_096
_END_OF_SENTENCE: Final = 1.0
"""Seconds without a key after which a person who was typing when a question appeared has seen it."""
_AT_ONCE: Final = 0.05
"""Lines that arrive within so many seconds are one paste."""
_QUIET: Final = ("enable-bracketed-paste off", "enable-meta-key off", "bell-style none", "colored-stats off")
"""Settings that keep readline from writing more than the typed text."""


class TerminalLine:
    """Reads lines, and knows the content of the row where the next one is typed.

    A signal may arrive at any time, so readline calls only functions in which no handler can run.
    """

    def __init__(self) -> None:
        self._standing: str | None = None
        self._broken_at = ""
        self._is_over = False
        self._by_readline = False

    def begin(self) -> None:
        """Prepare for reading a line."""
        self._is_over = False

    @property
    def is_done(self) -> bool:
        """Whether the line is complete, even if it hasn't been returned yet: then readline has restored the
        terminal's own editing."""
        return self._is_over or (self._by_readline and self.is_open and _edits_itself())

    @property
    def is_open(self) -> bool:
        """Whether a line is being read, and its prompt is written."""
        return self._standing is not None

    @property
    def typed(self) -> str:
        """The text in the open line."""
        return readline.get_line_buffer() if self.is_open and readline else ""

    def stands(self, words: str) -> bool:
        """Whether a line with this prompt is open."""
        return self._standing == words

    def read(self, words: str, draft: str = "") -> str:
        """Read a line with this prompt; it begins with the draft. Raises EOFError."""
        opened = partial(setattr, self, "_standing", words)
        self._broken_at = ""
        self._by_readline = readline is not None
        if readline:
            readline.set_startup_hook(partial(readline.insert_text, draft) if draft else None)
            readline.set_pre_input_hook(opened)
        else:
            opened()
        try:
            return input(words)
        finally:
            self._is_over = True
            self._standing = None

    def read_hidden(self, words: str) -> str:
        """Read a line that isn't shown while it is typed. Raises EOFError."""
        from getpass import getpass  # noqa: PLC0415 - only where a key is entered

        self._standing, self._by_readline = words, False
        try:
            return getpass(words)
        finally:
            self._is_over = True
            self._standing = None

    def end_row(self) -> None:
        """Write a line end if the row has a prompt or typed letters, once for the same content."""
        if self.is_done:
            return
        typed = self.typed
        if self._standing or typed != self._broken_at:
            end_row()
        if self._standing:
            self._standing = ""
        self._broken_at = typed


def _edits_itself() -> bool:
    """Whether the terminal returns whole lines, as it does while readline isn't reading."""
    try:
        return bool(termios.tcgetattr(sys.stdin.fileno())[3] & termios.ICANON)
    except termios.error:
        return False


def end_row() -> None:
    """Write a line end."""
    with suppress(OSError):
        os.write(sys.stdout.fileno(), b"\n")


def remember(lines: Iterable[str]) -> None:
    """Make these lines available to the arrow keys."""
    if readline:
        for line in lines:
            if line.strip() and "\n" not in line:
                readline.add_history(line)


def more_waits() -> bool:
    """Whether another line arrived together with the last one."""
    return bool(select.select([sys.stdin], [], [], _AT_ONCE)[0])


def typed_before() -> str:
    """The text that was typed before a question appeared, and so doesn't answer it. Returns when nobody is
    typing. The text ends with a line break if enter was pressed last; otherwise the sentence may continue."""
    stdin = sys.stdin.fileno()
    try:
        modes = termios.tcgetattr(stdin)
    except termios.error:  # not a terminal: the waiting input is the answers
        return ""
    letter_by_letter = [*modes]
    letter_by_letter[_LOCAL_MODES] &= ~(termios.ICANON | termios.ECHO)
    typed, patience = b"", GUARD_SECONDS
    try:
        termios.tcsetattr(stdin, termios.TCSANOW, letter_by_letter)
        while select.select([stdin], [], [], patience)[0] and (piece := os.read(stdin, _MOST_AT_ONCE)):
            typed, patience = typed + piece, _END_OF_SENTENCE
    finally:
        termios.tcsetattr(stdin, termios.TCSANOW, modes)
    words = typed.decode(errors="ignore").replace("\r", "\n")
    is_ended = words.endswith("\n")
    return "".join(filter(str.isprintable, words.replace("\n", " "))) + "\n" * is_ended


@contextmanager
def terminal_kept() -> Iterator[None]:
    """Inside, readline writes only the typed text; afterwards the terminal is restored."""
    if readline:
        readline.set_auto_history(False)
        for setting in _QUIET:
            readline.parse_and_bind(f"set {setting}")
    try:
        modes = termios.tcgetattr(sys.stdin.fileno())
    except termios.error:
        yield
        return
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal has closed
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, modes)
