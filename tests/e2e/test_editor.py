"""The message is written in the user's own editor, which has the terminal to itself meanwhile."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from keen_tui.demo.script import Reply, Say
from tests.e2e.test_screen import PROMPT_SIGN, program

CTRL_G = "\x07"


def editor(folder: Path, script: str) -> str:
    file = folder / "my-editor"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


def test_what_was_saved_in_the_editor_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = 'echo "EDITING $(cat "$1")"; read -r line; printf "%s\\nsecond line\\n" "$line" > "$1"'
    monkeypatch.setenv("VISUAL", editor(tmp_path, ask))
    with program(tmp_path, [Reply([Say("Read.")])]) as (terminal, server):
        terminal.wait_for_screen(PROMPT_SIGN)
        terminal.type("begun" + CTRL_G)
        terminal.wait_for("EDITING begun")
        terminal.type("written elsewhere\n")
        terminal.wait_for_screen("second line")
        terminal.type("!\r")
        terminal.wait_for_screen("Read.")
        assert server.requests[0].body["messages"][-1]["content"] == "written elsewhere\nsecond line!"


def test_a_turn_goes_on_while_the_editor_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", editor(tmp_path, f"echo EDITING; cat {tmp_path}/gate > /dev/null"))
    monkeypatch.delenv("VISUAL", raising=False)
    os.mkfifo(tmp_path / "gate")
    reply = Reply([Say("A reply that nobody sees come.")])
    with program(tmp_path, [reply]) as (terminal, server):
        terminal.wait_for_screen(PROMPT_SIGN)
        terminal.type("go\r" + CTRL_G)
        terminal.wait_for("EDITING")
        terminal.wait_until(lambda: bool(server.requests), "the request")
        terminal.settle(0.5)
        assert b"nobody sees" not in terminal.output, "the terminal is the editor's"
        (tmp_path / "gate").write_text("done")
        terminal.wait_for_screen("A reply that nobody sees come.")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("false", "false ended with exit code 1."),
        ("no-such-editor -w", "no-such-editor can't be started"),
        ("'open quote", "EDITOR can't be understood"),
    ],
)
def test_a_draft_survives_an_editor_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    monkeypatch.setenv("VISUAL", command)
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN)
        terminal.type("my draft" + CTRL_G)
        terminal.wait_for_screen(said, "my draft")


def test_a_place_that_a_command_named_opens_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vim = tmp_path / "bin" / "vim"
    vim.parent.mkdir()
    vim.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/opened\n')
    vim.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(vim))
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN)
        terminal.type("!mkdir src; echo x > src/a.py; echo src/a.py:1: odd; echo src/a.py:7: even\r")
        terminal.wait_for_screen("✓ shell", "src/a.py:7: even")
        terminal.type("\te")
        terminal.wait_for_screen("(1 of 2)")
        terminal.type("e")
        terminal.wait_for_screen("(2 of 2)")
        opened = (tmp_path / "opened").read_text().splitlines()
        assert [line.split()[0] for line in opened] == ["+1", "+7"]
        assert all(line.endswith("/src/a.py") for line in opened)


def test_the_end_of_the_program_ends_the_editor_and_what_was_saved_there_is_the_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = f'echo "saved there" > "$1"; touch {tmp_path}/saved; exec sleep 600'
    monkeypatch.setenv("VISUAL", editor(tmp_path, save))
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        terminal.type("begun" + CTRL_G)
        terminal.wait_until((tmp_path / "saved").exists, "the editor")
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.wait_for_exit()
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for_screen("Your unsent message is back.", "saved there")
