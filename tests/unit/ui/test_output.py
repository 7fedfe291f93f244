"""What is written to a terminal that is slow, unread or gone."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import TextIO

import pytest

from keen_tui.frontends.tui.terminal.output import TerminalOutput, ends_while_moving, write_at_end

MUCH = "ä" * 300_000


@pytest.fixture
def pipe() -> Iterator[tuple[int, TextIO]]:
    """The end that reads, and the stream of the other end."""
    read, write = os.pipe()
    with os.fdopen(write, "w", encoding="utf-8", errors="backslashreplace") as stream:
        yield read, stream


def all_of(read: int, size: int) -> bytes:
    found = b""
    while len(found) < size:
        found += os.read(read, 65_536)
    return found


@pytest.mark.parametrize("blocks", [True, False])
def test_a_slow_terminal_gets_everything_also_when_others_made_it_non_blocking(
    pipe: tuple[int, TextIO], blocks: bool
) -> None:
    read, stream = pipe
    os.set_blocking(stream.fileno(), blocks)
    output = TerminalOutput(stream)
    writer = threading.Thread(target=output.write, args=(MUCH,))
    writer.start()
    assert all_of(read, 600_000).decode() == MUCH
    writer.join()
    assert output.taken() == 600_000
    os.close(read)


def test_what_a_terminal_that_is_gone_would_get_is_dropped(pipe: tuple[int, TextIO]) -> None:
    read, stream = pipe
    os.close(read)
    output = TerminalOutput(stream)
    assert output.write(MUCH) == len(MUCH)
    assert output.taken() == 600_000
    write_at_end(MUCH, stream)


def test_a_terminal_that_does_not_read_is_not_waited_for(pipe: tuple[int, TextIO]) -> None:
    read, stream = pipe
    write_at_end(MUCH, stream)
    output = TerminalOutput(stream)
    writer = threading.Thread(target=output.write, args=(MUCH,), daemon=True)
    writer.start()
    assert not ends_while_moving(writer, output.taken, still=0.05, most=5)
    assert len(all_of(read, 1_200_000)) == 1_200_000
    writer.join()
    os.close(read)


def test_a_terminal_without_the_letter_gets_its_number() -> None:
    read, write = os.pipe()
    with os.fdopen(write, "w", encoding="ascii", errors="backslashreplace") as stream:
        TerminalOutput(stream).write("ä")
    assert os.read(read, 100) == b"\\xe4"
    os.close(read)
