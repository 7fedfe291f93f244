"""Saved sessions in the program itself, in a terminal: left, found again, gone on with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keen_tui.demo.script import Reply, Say
from tests.e2e.test_screen import program
from tests.support.terminal import TerminalProgram

F3, CTRL_E, CTRL_F = "\x1bOR", "\x05", "\x06"


def test_a_session_is_left_renamed_found_by_its_words_and_gone_on_with(tmp_path: Path) -> None:
    script = [Reply([Say(f"Answer number {number}.")]) for number in range(1, 5)]
    with program(tmp_path, script) as (terminal, server):
        terminal.wait_for("›")
        for number, words in enumerate(("fix the cart", "and the tax"), start=1):
            terminal.type(f"{words}\r")
            terminal.wait_for_screen(f"turn {number} done")
        terminal.type("/new\r")
        terminal.wait_for_screen("Say what you want done")
        terminal.type("why slow\r")
        terminal.wait_for_screen("Answer number 3.", "turn 1 done")
        terminal.type(F3)
        terminal.wait_for_screen("fix the cart", "esc back")
        terminal.type(f"{CTRL_E} again\r")
        terminal.wait_for_screen("fix the cart again")
        terminal.type(f"{CTRL_F}number 1")
        terminal.wait_for_screen("turn 1", "1 place")
        terminal.type("\r")
        terminal.wait_for_screen("Answer number 2.", "fix the cart again", "1 of 1")
        terminal.type("go on\r")
        terminal.wait_for_screen("Answer number 4.")
        said = [message["content"] for message in server.requests[-1].body["messages"][1:]]
        assert [said[0], said[2], said[-1]] == ["fix the cart", "and the tax", "go on"]
        assert not any("why slow" in words for words in said)


@pytest.mark.parametrize(
    ("command", "code", "printed"),
    [
        (("sessions",), 0, "No sessions in this folder yet."),
        (("usage",), 0, "Nothing used since "),
        (("eval", "nowhere"), 2, "keen-tui: There is no folder nowhere"),
    ],
    ids=["sessions", "usage", "eval"],
)
def test_what_only_prints_leaves_the_terminal_as_it_was(
    tmp_path: Path, command: tuple[str, ...], code: int, printed: str
) -> None:
    with TerminalProgram(
        (sys.executable, "-P", "-m", "keen_tui", *command),
        folder=tmp_path,
        environ={"KEEN_HOME": str(tmp_path / "home")},
    ) as terminal:
        assert terminal.wait_for_exit() == code
        assert terminal.screen().startswith(printed)
        assert b"\x1b[?1049h" not in terminal.output, "nothing is drawn on the other screen"
        assert terminal.modes == terminal.modes_before
