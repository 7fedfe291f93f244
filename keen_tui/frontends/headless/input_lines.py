"""The lines of standard input with `--input stream-json`: one JSON object a line."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct

from keen_tui.domain.choices import Scope
from keen_tui.frontends.headless.standard_input import MOST_BYTES

_CHUNK: Final = 65_536


class InputLine(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """A line of standard input; `type` is its kind."""


class MessageLine(InputLine, frozen=True, kw_only=True, tag="message"):
    """A message for the model. It begins a turn; while another turn runs, it is queued."""

    text: str


class ApproveLine(InputLine, frozen=True, kw_only=True, tag="approve"):
    """The answer to the `approval_requested` with this id. `scope` is the scope of a yes: this call (`once`),
    calls of this kind in this session (`session`), or these commands permanently in this folder
    (`workspace`). `message` is the reason of a no, which the model reads."""

    id: str
    allow: bool
    scope: Scope = "once"
    message: str = ""


class AnswerLine(InputLine, frozen=True, kw_only=True, tag="answer"):
    """The answer to the `question_asked` with this id. `choice` is the number of the choice, from 0; null
    declines. `words` is text that goes with it, which a choice with `wants_words` needs."""

    id: str
    choice: int | None = None
    words: str = ""


class StopLine(InputLine, frozen=True, kw_only=True, tag="stop"):
    """Stops the running turn. Its end event still comes."""


class RetryLine(InputLine, frozen=True, kw_only=True, tag="retry"):
    """Starts another attempt at the interrupted turn. During the wait before an automatic retry, it ends
    the wait."""


class DiscardLine(InputLine, frozen=True, kw_only=True, tag="discard"):
    """Gives up the interrupted turn. Later turns still know which files it changed."""


AnyInputLine = MessageLine | ApproveLine | AnswerLine | StopLine | RetryLine | DiscardLine


class InputError(Struct, frozen=True, kw_only=True, tag_field="type", tag="input_error"):
    """A line of standard input that can't be read, or can't be obeyed at that moment, and had no effect.
    `line` is its number, from 1; `text` is a sentence that says why."""

    line: int
    text: str


class InputRefused(ValueError):
    """Raised for a line that can't be read. Its text is a sentence."""


class ReceivedLine(Struct, frozen=True):
    """A line as it came. `number` counts from 1; `content` is None if the line was too long."""

    number: int
    content: bytes | None

    def read(self) -> AnyInputLine | None:
        """The decoded line; None if it is empty. Raises InputRefused."""
        if self.content is None:
            raise InputRefused(f"The line has more than {MOST_BYTES // 1_000_000} MB.")
        if not self.content.strip():
            return None
        try:
            line = _DECODER.decode(self.content)
            json.loads(self.content, object_pairs_hook=_once_each)
            return line
        except msgspec.ValidationError as error:
            raise InputRefused(f"The line has a mistake: {_plain(error)}.") from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputRefused(f"The line isn't a JSON object in UTF-8: {_plain(error)}.") from error


_DECODER: Final[msgspec.json.Decoder[AnyInputLine]] = msgspec.json.Decoder(AnyInputLine)


class InputReader:
    """Reads lines in a thread, which ends with the program. The queue `lines` gets each line, and None at the
    end."""

    def __init__(self, descriptor: int) -> None:
        self.lines: asyncio.Queue[ReceivedLine | None] = asyncio.Queue()
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._read, name="standard input", daemon=True).start()

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the program is ending
            for line in _received(self._descriptor):
                self._loop.call_soon_threadsafe(self.lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self.lines.put_nowait, None)


def _received(descriptor: int) -> Iterator[ReceivedLine]:
    """The lines of a file. Blocks. An error of the file counts as its end."""
    number, pieces, size = 1, list[bytes](), 0
    with suppress(OSError):
        while chunk := os.read(descriptor, _CHUNK):
            for index, part in enumerate(chunk.split(b"\n")):
                if index:
                    yield _line(number, pieces, size)
                    number, pieces, size = number + 1, [], 0
                size += len(part)
                if size <= MOST_BYTES:
                    pieces.append(part)
                else:
                    pieces.clear()
    if size:
        yield _line(number, pieces, size)


def _line(number: int, pieces: list[bytes], size: int) -> ReceivedLine:
    return ReceivedLine(number, None if size > MOST_BYTES else b"".join(pieces))


def _once_each(fields: list[tuple[str, object]]) -> None:
    """Raises InputRefused if a field comes twice: nobody can say which of two answers is meant."""
    names = [name for name, _ in fields]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputRefused(f"The line has the field {twice} twice.")


def _plain(error: Exception) -> str:
    return str(error).replace("`", "").rstrip(".")
