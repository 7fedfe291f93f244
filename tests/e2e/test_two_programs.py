"""Two programs in one folder know of each other."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from keen_tui.demo.script import Call, Reply, Say
from tests.e2e.test_plain_mode import ready, say
from tests.e2e.test_screen import PROMPT_SIGN, program

DONE = Reply([Say("Done.")])
READ = Reply([Call("read_file", {"path": "a.txt"})])


def edit(old: str, new: str) -> Reply:
    return Reply([Call("edit_file", {"path": "a.txt", "old_text": old, "new_text": new})])


def test_each_is_told_of_the_other_and_of_what_it_changed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.txt").write_text("one\n")
    first = [READ, Reply([Say("Seen.")]), edit("one", "mine"), DONE]
    second = [READ, edit("one", "two"), Reply([Say("Changed.")])]
    flags = ("--plain", "--mode", "auto-edit")
    with program(tmp_path, first, *flags) as (one, server):
        ready(one)
        say(one, "look at a.txt", "Reply: Seen.")
        ready(one, since=bytes(one.output).rfind(b"Seen."))
        with program(tmp_path, second, *flags) as (two, _):
            two.wait_for(f"Another Keen is working in this folder: process {one.pid}")
            two.wait_for("“look at a.txt”")
            one.wait_for(f"Another Keen has started in this folder: process {two.pid}")
            ready(two)
            say(two, "change a.txt", "Reply: Changed.")
            say(
                one, "change it too", "a.txt was changed by another Keen session “change a.txt” in its turn 1"
            )
            one.wait_for("Reply: Done.")
            result = server.requests[-1].body["messages"][-1]["content"]
            assert "(by another Keen session “change a.txt” in its turn 1). Read it again" in result
            assert (tmp_path / "work/a.txt").read_text() == "two\n"
            os.kill(two.pid, signal.SIGKILL)
            two.wait_for_exit()
            one.wait_for(f"The other Keen in this folder has ended: process {two.pid}")


def test_a_file_that_somebody_else_changed_is_not_put_down_to_the_other(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.txt").write_text("one\n")
    first = [READ, Reply([Say("Seen.")]), edit("one", "mine"), DONE]
    flags = ("--plain", "--mode", "auto-edit")
    with program(tmp_path, first, *flags) as (one, server), program(tmp_path, [], *flags) as (two, _):
        ready(two)
        ready(one)
        say(one, "look at a.txt", "Reply: Seen.")
        (tmp_path / "work/a.txt").write_text("by hand\n")
        ready(one, since=bytes(one.output).rfind(b"Seen."))
        say(one, "change it too", "Reply: Done.")
        assert (
            "(by the user, a formatter or a command)" in server.requests[-1].body["messages"][-1]["content"]
        )


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is told with the next turn")
def test_on_the_screen_it_is_told_while_nothing_runs(tmp_path: Path) -> None:
    with program(tmp_path, [DONE]) as (one, _):
        one.wait_for_screen(PROMPT_SIGN)
        one.type("hello\r")
        one.wait_for_screen("Done.", "turn 1 done")
        with program(tmp_path, []) as (two, _):
            two.wait_for_screen(PROMPT_SIGN, "Another Keen is working in this folder")
            one.wait_for_screen("Another Keen has started in this folder")
            two.hang_up()
            two.wait_for_exit()
        one.wait_for_screen("The other Keen in this folder has ended")
        assert "has started" not in one.screen()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is told with the next turn")
def test_on_the_screen_the_notice_of_the_start_goes_when_the_other_program_has_ended(tmp_path: Path) -> None:
    with program(tmp_path, [DONE]) as (one, _):
        one.wait_for_screen(PROMPT_SIGN)
        with program(tmp_path, []) as (two, _):
            two.wait_for_screen(PROMPT_SIGN, "Another Keen is working in this folder")
            one.hang_up()
            one.wait_for_exit()
            two.wait_until(lambda: "Another Keen" not in two.screen(), "the notice is gone")
