"""A terminal that nobody reads, or that vanishes while the screen paints, holds up neither the turn nor the
end of the program."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from tests.e2e.test_screen import PROMPT_SIGN, program
from tests.support.terminal import TerminalProgram
from tests.support.waiting import wait_until

LINES = "".join(f"line {number} of a long reply\n\n" for number in range(600))
SCRIPT = [
    Reply([Say(LINES), Call("read_file", {"path": "a.txt"})], pace=0.003),
    Reply([Say("The last words.")]),
    Reply([Say("An answer.")]),
]
ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def painting(folder: Path) -> Iterator[tuple[TerminalProgram, ModelServer]]:
    """The program while it draws a long reply that the terminal doesn't read."""
    (folder / "work").mkdir()
    (folder / "work/a.txt").write_text("one\n")
    with program(folder, SCRIPT) as (terminal, server):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        terminal.type("go\r")
        terminal.wait_for("line 9")
        yield terminal, server


def ended_unread(terminal: TerminalProgram) -> int:
    """Wait for the end of the program without reading what it draws. Returns its exit code."""
    wait_until(lambda: terminal.exit_code is not None, says=lambda: "for the end of the program", limit=40)
    assert terminal.exit_code is not None
    return terminal.exit_code


def is_saved(folder: Path) -> bool:
    """Whether the session was closed in order: another program opens it and has all of its first reply."""
    with program(folder, [Reply([Say("Opened again.")])], "--continue") as (terminal, server):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help", "The last words.")
        terminal.type("and now\r")
        terminal.wait_for_screen("Opened again.")
        return "The last words." in str(server.requests[0].body["messages"])


def test_a_turn_goes_on_while_nobody_reads_the_terminal_which_then_shows_all(tmp_path: Path) -> None:
    with painting(tmp_path) as (terminal, server):
        wait_until(lambda: len(server.requests) == 2, says=lambda: "for the second request", limit=40)
        terminal.wait_for_screen("The last words.", "turn 1 done")
        terminal.type("next\r")
        terminal.wait_for_screen("An answer.", "turn 2 done")


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_the_program_though_nobody_reads_the_terminal(
    tmp_path: Path, number: signal.Signals
) -> None:
    with painting(tmp_path) as (terminal, server):
        wait_until(lambda: len(server.requests) == 2, says=lambda: "for the second request", limit=40)
        wait_until(lambda: "The last words." in stored(tmp_path), limit=40)
        os.kill(terminal.pid, number)
        assert ended_unread(terminal) == 0
        assert terminal.modes == terminal.modes_before
    assert not (tmp_path / "home" / "crash.txt").exists()
    assert is_saved(tmp_path)


@pytest.mark.parametrize("reads", [True, False], ids=["read", "unread"])
@pytest.mark.parametrize("number", [0, *ENDING])
def test_a_terminal_that_vanishes_while_the_screen_paints_ends_the_program(
    tmp_path: Path, number: int, reads: bool
) -> None:
    with painting(tmp_path) as (terminal, server):
        if reads:
            terminal.wait_for("line 50")
        else:
            wait_until(lambda: len(server.requests) == 2, says=lambda: "for the second request", limit=40)
        terminal.hang_up()
        if number:
            os.kill(terminal.pid, number)
        assert ended_unread(terminal) == 0
    assert not (tmp_path / "home" / "crash.txt").exists()


def stored(folder: Path) -> str:
    """All that is in the session files."""
    return "".join(file.read_text() for file in (folder / "home").rglob("*.jsonl"))
