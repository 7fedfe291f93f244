"""The picture that stands before the screen is imported."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator

import pytest

from keen_tui.frontends.tui.terminal.driver import PasteParser, early_messages
from keen_tui.frontends.tui.terminal.skeleton import early_pieces, skeleton
from tests.support.waiting import wait_until

COLOURS = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The two ends of a terminal of 80 columns and 24 rows: ours, and the program's."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (24, 80))
    yield ours, its
    os.close(ours)
    os.close(its)


def written(ours: int) -> str:
    """What has reached the terminal."""
    data = b""
    while select.select([ours], [], [], 0.2)[0]:
        data += os.read(ours, 65_536)
    return data.decode()


def unread(its: int) -> bool:
    """Whether something that was typed has not been read."""
    return bool(struct.unpack("i", fcntl.ioctl(its, termios.FIONREAD, b"\0" * 4))[0])


def test_it_shows_brand_and_composer_but_no_prompt_sign(terminal: tuple[int, int]) -> None:
    ours, its = terminal
    with skeleton("keen-dark", COLOURS, stdin=its, stdout=its):
        picture = written(ours)
    assert "keen" in picture
    assert picture.count("▌") == 3
    assert "›" not in picture


def test_keys_typed_meanwhile_are_neither_shown_nor_changed(terminal: tuple[int, int]) -> None:
    ours, its = terminal
    with skeleton("keen-dark", COLOURS, stdin=its, stdout=its):
        written(ours)
        os.write(ours, b"hi\r\x04\x1a")
        assert written(ours) == ""
        wait_until(lambda: not unread(its))
        assert b"".join(piece.data for piece in early_pieces()) == b"hi\r\x04\x1a"
        assert not early_pieces(), "each key is there once"


def test_each_piece_says_when_it_came(terminal: tuple[int, int]) -> None:
    ours, its = terminal
    with skeleton("keen-dark", COLOURS, stdin=its, stdout=its):
        for key in (b"\x1b", b"o"):
            os.write(ours, key)
            wait_until(lambda: not unread(its))
            written(ours)
        escape, letter, end = early_pieces()
    assert (escape.data, letter.data, end.data) == (b"\x1b", b"o", b"")
    assert escape.at < letter.at < end.at, "nothing had come when somebody else took over"


@pytest.mark.parametrize("pieces", [(b"\x1b",), (b"\x1b", b"o")])
def test_an_escape_and_a_letter_after_a_pause_are_two_keys(
    terminal: tuple[int, int], pieces: tuple[bytes, ...]
) -> None:
    """Also where somebody else takes over in that pause, and reads the letter."""
    ours, its = terminal
    parser = PasteParser()
    with skeleton("keen-dark", COLOURS, stdin=its, stdout=its):
        for piece in pieces:
            os.write(ours, piece)
            wait_until(lambda: not unread(its))
            written(ours)  # looks for longer than an escape waits
        early = early_pieces()
    messages = [*early_messages(early, parser, lambda read: parser.feed(read.decode())), *parser.feed("b")]
    assert [getattr(each, "key", "?") for each in messages] == [*["escape", "o"][: len(pieces)], "b"]


def test_the_modes_come_back_at_the_end(terminal: tuple[int, int]) -> None:
    ours, its = terminal
    before = termios.tcgetattr(its)
    with skeleton("keen-dark", COLOURS, stdin=its, stdout=its):
        assert termios.tcgetattr(its) != before
    assert termios.tcgetattr(its) == before
    assert "\x1b[?1049l" not in written(ours)


def test_an_error_leaves_the_other_screen_too(terminal: tuple[int, int]) -> None:
    ours, its = terminal
    before = termios.tcgetattr(its)
    with pytest.raises(ImportError), skeleton("keen-dark", COLOURS, stdin=its, stdout=its):
        raise ImportError
    assert termios.tcgetattr(its) == before
    assert written(ours).endswith("\x1b[?25h\x1b[?1049l")


@pytest.mark.parametrize("environ", [COLOURS | {"NO_COLOR": "1"}, {"TERM": "vt100"}])
def test_no_colour_is_written_where_none_is_wanted(
    terminal: tuple[int, int], environ: dict[str, str]
) -> None:
    ours, its = terminal
    with skeleton("keen-dark", environ, stdin=its, stdout=its):
        assert ";2;" not in written(ours)


def test_tiny_terminals_get_an_empty_screen(terminal: tuple[int, int]) -> None:
    ours, its = terminal
    termios.tcsetwinsize(its, (5, 20))
    with skeleton("keen-dark", COLOURS, stdin=its, stdout=its):
        assert "keen" not in written(ours)


def loaded_by(module: str) -> set[str]:
    code = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_the_skeleton_needs_neither_the_framework_nor_asyncio() -> None:
    assert not {"textual", "rich", "asyncio"} & loaded_by("keen_tui.frontends.tui.terminal.skeleton")


def test_the_screen_needs_no_sdk_and_no_parser_before_it_is_painted() -> None:
    heavy = {"pydantic", "openai", "anthropic", "pygments", "pyromark", "markdown_it", "httpx2"}
    assert not heavy & loaded_by("keen_tui.frontends.tui.app")
