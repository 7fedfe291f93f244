"""A terminal that nobody reads, or that vanishes while the screen paints, holds up neither the turn nor the
end of the program. A turn that such an end stops can be continued."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

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


RUN = Call("bash", {"command": "echo ran >> ran.txt"})
WAIT = Call("bash", {"command": "echo waits >> waits.txt; sleep 600"})
TO_END = Reply([Say("All done.")])


def begun(terminal: TerminalProgram, folder: Path) -> None:
    """Begin a turn: a call that is done, and one that runs."""
    terminal.type("go\r")
    terminal.wait_until((folder / "work/waits.txt").exists, "the second call")


def port_of(server: ModelServer) -> int:
    """Where it is: the work of a turn belongs to its model's server."""
    return urlsplit(server.base_url).port or 0


def ended_by(terminal: TerminalProgram, number: int) -> int:
    """The exit code after that signal; 0 hangs up."""
    if number:
        os.kill(terminal.pid, number)
    else:
        terminal.hang_up()
    return ended_unread(terminal)


def ran(folder: Path) -> tuple[str, str]:
    """What the two calls have written, each time they ran."""
    return (folder / "work/ran.txt").read_text(), (folder / "work/waits.txt").read_text()


@pytest.mark.parametrize("number", [0, *ENDING], ids=["hung up", "SIGTERM", "SIGHUP"])
def test_a_turn_that_the_end_of_the_terminal_stops_is_continued_with_one_key(
    tmp_path: Path, number: int
) -> None:
    (tmp_path / "work").mkdir()
    with program(tmp_path, [Reply([RUN, WAIT])], "--mode", "auto") as (terminal, server):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        begun(terminal, tmp_path)
        assert ended_by(terminal, number) == 0
    with program(tmp_path, [TO_END], "--mode", "auto", "--continue", port=port_of(server)) as (
        terminal,
        server,
    ):
        terminal.wait_for_screen(PROMPT_SIGN, "Turn incomplete", "ctrl+r")
        terminal.type("\x12")
        terminal.wait_for_screen("All done.", "turn 1 done")
        assert "effects unknown" in str(server.requests[0].body["messages"])
    assert ran(tmp_path) == ("ran\n", "waits\n"), "nothing ran twice"
    assert not list((tmp_path / "home").rglob("*.pending*"))


@pytest.mark.parametrize("number", [0, *ENDING], ids=["hung up", "SIGTERM", "SIGHUP"])
def test_line_by_line_such_a_turn_is_continued_too(tmp_path: Path, number: int) -> None:
    (tmp_path / "work").mkdir()
    flags = ("--plain", "--mode", "auto")
    with program(tmp_path, [Reply([RUN, WAIT])], *flags, controls=True) as (terminal, server):
        terminal.wait_for("> ")
        begun(terminal, tmp_path)
        assert ended_by(terminal, number) == 0
    port = port_of(server)
    with program(tmp_path, [TO_END], *flags, "--continue", controls=True, port=port) as (terminal, _):
        terminal.wait_for("Turn 1 incomplete")
        terminal.wait_for("> ")
        terminal.type("/retry\r")
        terminal.wait_for("Reply: All done.")
    assert ran(tmp_path) == ("ran\n", "waits\n"), "nothing ran twice"


def stored(folder: Path) -> str:
    """All that is in the session files."""
    return "".join(file.read_text() for file in (folder / "home").rglob("*.jsonl"))
