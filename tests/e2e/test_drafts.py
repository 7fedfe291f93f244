"""What was written and not sent outlives the program, however it ends."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from keen_tui.demo.script import Reply, Say
from tests.e2e.test_screen import CTRL_C, PROMPT_SIGN, program

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
