"""The prompt of one turn: the text of the flag, and the data on standard input."""

from __future__ import annotations

import os
import select
import sys
from typing import BinaryIO, Final, NamedTuple, TextIO

from keen_tui.domain.errors import ConfigError
from keen_tui.frontends.headless.outlets import note
from keen_tui.memory.rendering import fenced

WAIT_SECONDS: Final = 3.0
"""Seconds to wait for the first byte if there is a prompt: an inherited pipe may stay silent for ever."""

MOST_BYTES: Final = 10_000_000
"""The most bytes of standard input: more than any model takes."""

FROM_INPUT: Final = "From standard input:"

_EMPTY = "The prompt is empty: give it with -p TEXT, or on standard input with -p alone."
_SILENT = (
    f"Nothing arrived on standard input for {WAIT_SECONDS:.0f} seconds: the turn starts without it. "
    "Add </dev/null to start at once."
)


class HeadlessPrompt(NamedTuple):
    """The prompt: `text`, and `data` from standard input to add to it. `notice` is for the user, "" for
    none."""

    text: str
    data: str = ""
    notice: str = ""


def read_prompt(given: str, source: TextIO) -> HeadlessPrompt:
    """The prompt of `-p GIVEN`. "-" takes all of standard input as the prompt; with any other text standard
    input is read too, unless it is a terminal.

    Raises:
        ConfigError: there is no prompt, or standard input has too many bytes.
    """
    if given == "-":
        if source.isatty():
            note("Type the prompt, then ctrl+d.", sys.stderr)
        return HeadlessPrompt(_require(_all_of(source)))
    text = os.fsencode(given).decode("utf-8", "replace")  # an argument is UTF-8, whatever the locale says
    if source.isatty():
        return HeadlessPrompt(_require(text))
    if not _comes_soon(source):
        return HeadlessPrompt(_require(text), notice=_SILENT)
    data = _all_of(source)
    if not data.strip():
        return HeadlessPrompt(_require(text))
    return HeadlessPrompt(text, data) if text.strip() else HeadlessPrompt(data)


def with_data(prompt: str, data: str) -> str:
    """The prompt, followed by the data from standard input in a fence."""
    return f"{prompt}\n\n{FROM_INPUT}\n{fenced(data.strip(chr(10)))}" if data else prompt


def _require(text: str) -> str:
    if not text.strip():
        raise ConfigError(_EMPTY)
    return text


def _comes_soon(source: TextIO) -> bool:
    """Whether the first byte, or the end, comes within `WAIT_SECONDS`."""
    look = select.poll()
    look.register(source.fileno(), select.POLLIN)
    return bool(look.poll(WAIT_SECONDS * 1000))


def _all_of(source: TextIO) -> str:
    content = _bytes_of(source.buffer)
    if len(content) > MOST_BYTES:
        raise ConfigError(
            f"Standard input has more than {MOST_BYTES // 1_000_000} MB, too much for a prompt. "
            "Save it in a file and name the file instead."
        )
    return content.decode("utf-8", "replace")


def _bytes_of(source: BinaryIO) -> bytes:
    try:
        return source.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"Standard input can't be read: {error.strerror}.") from error
