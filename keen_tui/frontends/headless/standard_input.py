"""The prompt of one turn: the text of the flag, and what comes on standard input."""

from __future__ import annotations

import os
import select
import sys
from typing import BinaryIO, Final, NamedTuple, TextIO

from keen_tui.domain.errors import ConfigError
from keen_tui.frontends.headless.outlets import note
from keen_tui.memory.rendering import fenced

WAIT_SECONDS: Final = 3.0
"""How long the first byte beside a prompt is waited for: an inherited pipe may stay silent for ever."""

MOST_BYTES: Final = 10_000_000
"""Bytes of standard input: more than any model takes."""

FROM_INPUT: Final = "From standard input:"

_EMPTY = "The prompt is empty: give it with -p TEXT, or on standard input with -p alone."
_SILENT = (
    f"Nothing arrived on standard input for {WAIT_SECONDS:.0f} seconds: the turn starts without it. "
    "Add </dev/null to start at once."
)


class HeadlessPrompt(NamedTuple):
    """What was asked for; `data` came on standard input beside `text`, `notice` is for the user."""

    text: str
    data: str = ""
    notice: str = ""


def read_prompt(given: str, source: TextIO) -> HeadlessPrompt:
    """The prompt of `-p GIVEN`. "-" stands for all of standard input; beside another text standard input is
    read too, unless it is a terminal.

    Raises:
        ConfigError: there is no prompt, or too much came.
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
    """The prompt with what came on standard input behind it, marked as such."""
    return f"{prompt}\n\n{FROM_INPUT}\n{fenced(data.strip(chr(10)))}" if data else prompt


def _require(text: str) -> str:
    if not text.strip():
        raise ConfigError(_EMPTY)
    return text


def _comes_soon(source: TextIO) -> bool:
    """Whether a first byte or the end comes in time."""
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
