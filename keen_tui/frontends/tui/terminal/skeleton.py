"""A picture of the screen that stands while the real one is being imported. Standard library only.

It has no prompt sign: that is how one sees whether the composer is live. Keys that are typed meanwhile are
read, unseen and unchanged, and take effect later, in their order. A paste is marked as one from the
beginning, so its lines are not sent as messages.
"""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple, NoReturn

from keen_tui.frontends.tui.look.locales import locale_of
from keen_tui.frontends.tui.terminal.early_keys import EarlyKeys, KeyRead

_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[?2004h"
_LEAVE: Final = "\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l"
_PANE_ROWS: Final = 3
_FLAT_BELOW_ROWS: Final = 20
_HEADER_FROM_ROWS: Final = 16
_SMALLEST: Final = (40, 10)
_LFLAG, _IFLAG, _CC = 3, 0, 6

typed_before = 0
"""Bytes typed before the terminal was told to leave a return as it is: in these it is a line feed."""

modes_before: list[Any] | None = None
"""The modes of the terminal as the shell left them: what it gets back at the end and while suspended."""

_early: EarlyKeys | None = None


def early_pieces() -> Sequence[KeyRead]:
    """Returns the input so far, and stops reading the terminal: its driver reads from now on."""
    return _early.take_over() if _early else ()


class _Inks(NamedTuple):
    """SGR sequences: of the page, the brand, the composer's ground and its bar."""

    page: str = ""
    brand: str = "\x1b[1m"
    pane: str = ""
    bar: str = ""


_PLAIN = _Inks()
_INKS: Mapping[str, _Inks] = {
    "keen-dark": _Inks(
        page="\x1b[0;48;2;17;23;26m",
        brand="\x1b[1;38;2;94;205;180m",
        pane="\x1b[0;48;2;27;36;41m",
        bar="\x1b[38;2;47;61;69m",
    ),
    "keen-light": _Inks(
        page="\x1b[0;48;2;250;249;245m",
        brand="\x1b[1;38;2;10;107;92m",
        pane="\x1b[0;48;2;236;234;226m",
        bar="\x1b[38;2;207;204;192m",
    ),
}


@contextmanager
def skeleton(theme: str, environ: Mapping[str, str], *, stdin: int = 0, stdout: int = 1) -> Iterator[None]:
    """Paint at once, and give the terminal back at the end, its modes in any case.

    The other screen is left here only when an error comes through: the app leaves it itself. Signals that
    end the program are such errors, until the app takes care of them.
    """
    global typed_before, modes_before, _early
    before = modes_before = termios.tcgetattr(stdin)
    try:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, _end)
        typed_before = silence(stdin)
        _early = EarlyKeys(stdin)
        _write(stdout, _picture(theme, environ, os.get_terminal_size(stdout)))
        yield
    except BaseException:
        with suppress(OSError):
            _write(stdout, _LEAVE)
        raise
    finally:
        early_pieces()
        modes_before, _early = None, None
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(stdin, termios.TCSANOW, before)


def _end(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def silence(stdin: int) -> int:
    """No echo, no line editing, a return stays a return. ctrl+c still interrupts; the other keys that send
    signals are keys, which take effect once the program can suspend itself. Gives the number of bytes that
    were typed before: in these a return is a line feed."""
    modes = termios.tcgetattr(stdin)
    modes[_LFLAG] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    modes[_IFLAG] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON | termios.IXOFF)
    for name in ("VSUSP", "VDSUSP", "VQUIT"):
        if hasattr(termios, name):
            modes[_CC][getattr(termios, name)] = os.fpathconf(stdin, "PC_VDISABLE").to_bytes()
    termios.tcsetattr(stdin, termios.TCSANOW, modes)
    return _waiting(stdin)


def _waiting(stdin: int) -> int:
    """How many bytes are there to be read."""
    count: int = struct.unpack("i", fcntl.ioctl(stdin, termios.FIONREAD, b"\0" * 4))[0]
    return count


def _picture(theme: str, environ: Mapping[str, str], size: os.terminal_size) -> str:
    """The bytes to write: brand on top, the empty composer at the bottom."""
    inks = _inks(theme, environ)
    columns, rows = size
    parts = [_ENTER, inks.page, "\x1b[2J"]
    if columns >= _SMALLEST[0] and rows >= _SMALLEST[1]:
        if rows >= _HEADER_FROM_ROWS:
            parts.append(f"\x1b[1;3H{inks.brand}keen\x1b[0m")
        pane_rows = 1 if rows < _FLAT_BELOW_ROWS else _PANE_ROWS
        bar = "\u258c" if _draws_blocks(environ) else "|"
        for row in range(rows - pane_rows, rows):
            parts.append(f"\x1b[{row};1H{inks.pane}\x1b[K{inks.bar}{bar}\x1b[0m")
    return "".join(parts)


def _inks(theme: str, environ: Mapping[str, str]) -> _Inks:
    """Colours only where the terminal says that it has them all."""
    if "NO_COLOR" in environ or environ.get("COLORTERM") not in ("truecolor", "24bit"):
        return _PLAIN
    return _INKS.get(theme, _PLAIN)


def _draws_blocks(environ: Mapping[str, str]) -> bool:
    return "utf" in locale_of(environ).lower() and environ.get("TERM") not in ("linux", "dumb")


def _write(stdout: int, text: str) -> None:
    data = text.encode()
    while data:
        data = data[os.write(stdout, data) :]
