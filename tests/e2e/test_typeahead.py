"""Every key takes effect once, in its order, from the first picture of a start on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Reply, Say
from tests.e2e.test_screen import PROMPT_SIGN, program
from tests.support.terminal import TerminalProgram

BACKSPACE, CTRL_J, CTRL_K, CTRL_P, ESC = "\x7f", "\n", "\x0b", "\x10", "\x1b"
UP, LEFT, HOME, END, F1 = "\x1b[A", "\x1b[D", "\x1b[H", "\x1b[F", "\x1bOP"
ALIVE = "TurnMemory"
"""A word that only the workspace has."""
SKELETON = "\x1b[?2004h"
MOMENTS = {"before anything": "", "skeleton": SKELETON, "composer": PROMPT_SIGN, "workspace": ALIVE}
"""What has been drawn when keys are typed."""


@contextmanager
def starting(folder: Path, moment: str, *flags: str) -> Iterator[tuple[TerminalProgram, ModelServer]]:
    """The program, at that moment of its start."""
    with program(folder, [Reply([Say(f"Reply {number}.")]) for number in range(1, 9)], *flags) as both:
        both[0].wait_for(MOMENTS[moment])
        yield both


def sent(server: ModelServer, number: int) -> str:
    """The newest message of a request."""
    content = server.requests[number].body["messages"][-1]["content"]
    assert isinstance(content, str)
    return content


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_message_with_enter_at_once_is_the_first_request(tmp_path: Path, moment: str) -> None:
    with starting(tmp_path, moment) as (terminal, server):
        terminal.type("hi there\r")
        terminal.wait_for_screen("Reply 1.")
        assert sent(server, 0) == "hi there"


@pytest.mark.parametrize("end", [PROMPT_SIGN, ALIVE])
def test_letters_and_enter_may_have_a_new_picture_between_them(tmp_path: Path, end: str) -> None:
    with starting(tmp_path, "skeleton") as (terminal, server):
        terminal.type("hi there")
        terminal.wait_for(end)
        terminal.type("\r")
        terminal.wait_for_screen("Reply 1.")
        assert sent(server, 0) == "hi there"


@pytest.mark.parametrize("moment", ["skeleton", "composer"])
def test_messages_typed_all_the_way_through_a_start_arrive_whole(tmp_path: Path, moment: str) -> None:
    """A key after each piece that is drawn, so that some come at the very moment of each change."""
    words = [f"message {number} has words" for number in range(1, 6)]
    with starting(tmp_path, moment) as (terminal, server):
        for key in "\r".join(words):
            terminal.type(key)
            terminal.read(0.01)
            if key == "\r":
                terminal.wait_until_read()  # what goes on behind a line within one read is a paste
        terminal.type("\r")
        terminal.wait_for_screen(f"Reply {len(words)}.")
        assert [sent(server, number) for number in range(len(words))] == words


@pytest.mark.parametrize("moment", ["skeleton", "composer", "workspace"])
def test_editing_keys_and_pastes_act_in_their_order(tmp_path: Path, moment: str) -> None:
    with starting(tmp_path, moment) as (terminal, server):
        terminal.type(f"ffix teh{BACKSPACE}{BACKSPACE}he cart{HOME}{CTRL_K}")
        terminal.type(f"fix the crt{LEFT}{LEFT}a{END}.{CTRL_J}And ")
        terminal.paste("one\rtwo")
        terminal.type(f"{CTRL_J}three\r")
        terminal.wait_for_screen("Reply 1.")
        terminal.type(f"{UP}{BACKSPACE * 5}four\r")
        terminal.wait_for_screen("Reply 2.")
        assert [sent(server, 0), sent(server, 1)] == [
            f"fix the cart.\nAnd one\ntwo\n{last}" for last in ("three", "four")
        ]


@pytest.mark.parametrize("moment", ["skeleton", "composer", "workspace"])
def test_commands_and_pages_get_the_keys_that_are_meant_for_them(tmp_path: Path, moment: str) -> None:
    with starting(tmp_path, moment) as (terminal, server):
        terminal.type(f"{F1}{F1}")  # opens a page, and closes it
        for keys in ("one\r", "/usage\r"):
            terminal.wait_until_read()
            terminal.type(keys)
        terminal.wait_for_screen("Usage")
        terminal.type(ESC)
        terminal.wait_for_screen("Reply 1.")
        terminal.type(f"{CTRL_P}usage\r")
        terminal.wait_for_screen("Usage")
        terminal.type(ESC)
        terminal.wait_for_screen("Reply 1.", PROMPT_SIGN)
        assert [sent(server, number) for number in range(len(server.requests))] == ["one"]


@pytest.mark.parametrize("moment", ["skeleton", "composer"])
def test_an_escape_and_a_letter_behind_it_are_two_keys(tmp_path: Path, moment: str) -> None:
    """Together they are alt and a letter, which somebody who pauses between them does not mean."""
    with starting(tmp_path, moment) as (terminal, server):
        terminal.type(ESC)
        terminal.wait_until_read()  # a pause that the program sleeps through is none
        pause = time.monotonic() + 0.5
        terminal.wait_until(lambda: time.monotonic() > pause, "a moment in which nobody types")
        terminal.type("bold\r")
        terminal.wait_for_screen("Reply 1.")
        assert sent(server, 0) == "bold"


def test_a_message_typed_while_a_session_is_opened_goes_into_that_session(tmp_path: Path) -> None:
    with starting(tmp_path, "workspace") as (terminal, _):
        terminal.type("the first\r")
        terminal.wait_for_screen("Reply 1.")
        terminal.type("\x04")
        assert terminal.wait_for_exit() == 0
    with starting(tmp_path, "skeleton", "--continue") as (terminal, server):
        terminal.type("the second\r")
        terminal.wait_for_screen("the first", "the second", "Reply 1.")
        terminal.wait_until(lambda: bool(server.requests), "the request")
        contents = [message["content"] for message in server.requests[0].body["messages"][1:]]
        assert contents == ["the first", "Reply 1.", "the second"]
