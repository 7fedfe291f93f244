"""What was written and not sent outlives the program, however it ends."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from keen_tui.demo.script import Break, Reply, Say
from tests.e2e.test_screen import CTRL_C, CTRL_R, ESC, PROMPT_SIGN, program

HANG = Reply([Say("Thinking")], broken=Break("stall"))
UP = "\x1b[A"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_draft_is_back_after_the_program_was_ended(tmp_path: Path, end: int) -> None:
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        terminal.type("half a thought")
        if end == signal.SIGKILL:
            drafts = tmp_path / "home" / "drafts"
            terminal.wait_until(lambda: bool([*drafts.glob("*.json")]), "the draft on the disk")
        else:
            terminal.wait_for_screen("half a thought")
        os.kill(terminal.pid, end)
        terminal.wait_for_exit()
    with program(tmp_path, [Reply([Say("Read.")])]) as (terminal, server):
        terminal.wait_for_screen("Your unsent message is back.", "half a thought")
        terminal.type(" and the rest\r")
        terminal.wait_for_screen("Read.")
        assert server.requests[0].body["messages"][-1]["content"] == "half a thought and the rest"
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")

        def recalled() -> bool:  # what was sent before is read beside the start
            terminal.type(UP)
            terminal.settle(0.5)
            return "half a thought and the rest" in terminal.screen()

        terminal.wait_until(recalled, "the message that was sent before")
        terminal.type(CTRL_C)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_messages_that_wait_for_a_turn_are_back_too(tmp_path: Path, end: int) -> None:
    with program(tmp_path, [HANG]) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        terminal.type("begin\r")
        terminal.wait_for_screen("Thinking")
        terminal.type("then test it\r")
        terminal.wait_for_screen("ctrl+s now")
        terminal.type("use tabs\x13")
        terminal.wait_for_screen("» use tabs")
        terminal.type("half a thought")
        terminal.wait_for_screen("half a thought")
        waiting = "use tabs\nthen test it\nhalf a thought"
        if end == signal.SIGKILL:
            drafts = tmp_path / "home" / "drafts"
            terminal.wait_until(lambda: kept_in(drafts) == [waiting], "what waits, on the disk")
        os.kill(terminal.pid, end)
        terminal.wait_for_exit()
    with program(tmp_path, [Reply([Say("Read.")])]) as (terminal, server):
        terminal.wait_for_screen("Your unsent message is back.", "half a thought")
        terminal.type("\r")
        terminal.wait_for_screen("Read.")
        assert server.requests[0].body["messages"][-1]["content"] == waiting


def test_what_a_turn_took_is_not_back(tmp_path: Path) -> None:
    with program(tmp_path, [HANG, Reply([Say("Second.")]), Reply([Say("Third.")])]) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        terminal.type("begin\r")
        terminal.wait_for_screen("Thinking")
        terminal.type("then test it\r")
        drafts = tmp_path / "home" / "drafts"
        terminal.wait_until(lambda: kept_in(drafts) == ["then test it"], "what waits, on the disk")
        terminal.type(ESC)
        terminal.wait_for_screen("ctrl+r")
        terminal.type(CTRL_R)
        terminal.wait_for_screen("Second.", "Third.")
        terminal.wait_until(lambda: kept_in(drafts) == [], "no draft on the disk")


def test_in_plain_mode_they_return_in_the_next_line(tmp_path: Path) -> None:
    with program(tmp_path, [HANG], "--plain") as (terminal, _):
        terminal.wait_for("\r\n> ")
        terminal.type("begin\r")
        terminal.wait_for("Turn 1 begins.")
        terminal.type("then test it\r")
        terminal.wait_for("Queued")
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.wait_for_exit()
    with program(tmp_path, [Reply([Say("Read.")])], "--plain") as (terminal, server):
        terminal.wait_for("then test it")
        terminal.type("\r")
        terminal.wait_for("Read.")
        assert server.requests[0].body["messages"][-1]["content"] == "then test it"


def kept_in(drafts: Path) -> list[str]:
    """The drafts on the disk."""
    files = [file for file in drafts.glob("*.json") if file.stat().st_size]
    return [json.loads(file.read_bytes())["text"] for file in files]


def test_in_plain_mode_a_draft_stays_until_a_message_is_sent(tmp_path: Path) -> None:
    with program(tmp_path, [], "--plain", controls=True) as (terminal, _):
        terminal.wait_for("\r\n> ")
        terminal.type("half a thought")
        terminal.wait_for("half a thought")
        os.kill(terminal.pid, signal.SIGHUP)
        terminal.wait_for_exit()
    with program(tmp_path, [], "--plain", controls=True) as (terminal, _):
        terminal.wait_for("> half a thought")
        terminal.type(CTRL_C)
        terminal.wait_for("Cleared.")
        terminal.type(CTRL_C)
        terminal.wait_for("Ctrl+C again quits.")
        terminal.type(CTRL_C)
        terminal.wait_for_exit()
    with program(tmp_path, [Reply([Say("Read.")])], "--plain", controls=True) as (terminal, _):
        terminal.wait_for("> half a thought")
        terminal.type(" and the rest\r")
        terminal.wait_for("Read.")
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.wait_for_exit()
    with program(tmp_path, [], "--plain", controls=True) as (terminal, _):
        terminal.wait_for("\r\n> ")
        terminal.settle(0.5)
        assert "half a thought" not in terminal.screen()
