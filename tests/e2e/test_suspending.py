"""ctrl+z gives the terminal back to the shell as it was, and fg brings the program back."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, Reply, Say
from keen_tui.demo.threaded import serving
from tests.e2e.test_screen import PROMPT_SIGN, program
from tests.support.terminal import TerminalProgram

CTRL_Z = "\x1a"
SHELL = ("/bin/bash", "--norc", "--noprofile", "-i")
STOPPED = "Stopped"


@contextmanager
def in_a_shell(folder: Path, script: Sequence[Answer], *flags: str) -> Iterator[TerminalProgram]:
    """The program as the job of a shell, with its composer on the screen."""
    (folder / "home").mkdir()
    (folder / "work").mkdir()
    server = ModelServer(script)
    with serving(server):
        command = (sys.executable, "-m", "keen_tui", "--base-url", server.base_url, "--model", "scripted")
        environ = {"KEEN_HOME": str(folder / "home"), "OPENAI_API_KEY": "", "PS1": "shell: ", "HISTFILE": ""}
        (folder / "inputrc").write_text("set enable-bracketed-paste off\n")
        environ["INPUTRC"] = str(folder / "inputrc")
        with TerminalProgram(SHELL, folder=folder / "work", environ=environ, controls=True) as terminal:
            terminal.wait_for_screen("shell:")
            terminal.type(f"{shlex.join((*command, *flags))}\r")
            terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
            yield terminal


def suspend(terminal: TerminalProgram) -> None:
    terminal.type(CTRL_Z)
    terminal.wait_for_screen(STOPPED)


def test_the_terminal_is_given_back_and_the_draft_is_still_there(tmp_path: Path) -> None:
    with in_a_shell(tmp_path, []) as terminal:
        terminal.type("half a thought")
        terminal.wait_for_screen("half a thought")
        suspend(terminal)
        assert terminal.output.rfind(b"\x1b[?1049l") > terminal.output.rfind(b"\x1b[?1049h")
        terminal.type("stty -a | grep -c ' icanon.* echo '\r")
        terminal.wait_for_screen("\n1\n")
        terminal.resize(80, 24)
        terminal.type("fg\r")
        terminal.wait_for_screen("half a thought", "f1 help")
        terminal.type(" goes on")
        terminal.wait_for_screen("half a thought goes on")


def test_in_the_background_it_waits_for_the_foreground(tmp_path: Path) -> None:
    with in_a_shell(tmp_path, [Reply([Say("Hello.")])]) as terminal:
        suspend(terminal)
        terminal.type("bg; until jobs -s | grep -q keen_tui; do sleep 0.1; done; echo again' stopped'\r")
        terminal.wait_for_screen("again stopped")
        terminal.type("fg\r")
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        terminal.type("hi\r")
        terminal.wait_for_screen("Hello.")


def test_a_question_that_was_open_is_open_again(tmp_path: Path) -> None:
    script = [Reply([Call("bash", {"command": "touch made"})]), Reply([Say("Made.")])]
    with in_a_shell(tmp_path, script) as terminal:
        terminal.type("go\r")
        terminal.wait_for_screen("Run this command?", "1  yes")
        suspend(terminal)
        terminal.type("fg\r")
        terminal.wait_for_screen("Run this command?", "1  yes")
        terminal.settle(0.5)
        terminal.type("1\r")
        terminal.wait_for_screen("Made.")
        assert (tmp_path / "work" / "made").exists()


def test_a_reply_that_streams_goes_on(tmp_path: Path) -> None:
    script = [Reply([Say(f"The beginning {'and on ' * 60}and the end.")], pace=0.05)]
    with in_a_shell(tmp_path, script) as terminal:
        terminal.type("go\r")
        terminal.wait_for_screen("The beginning")
        suspend(terminal)
        terminal.type("fg\r")
        terminal.wait_for_screen("and the end.", "turn 1 done")


def test_it_still_reads_keys_when_it_is_continued_many_times_at_once(tmp_path: Path) -> None:
    with program(tmp_path, [Reply([Say("Hello.")])], controls=True) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        for _ in range(40):
            os.kill(terminal.pid, signal.SIGCONT)
            terminal.read(0.002)
        terminal.type("hi\r")
        terminal.wait_for_screen("Hello.")


def test_the_signal_from_outside_suspends_it_too(tmp_path: Path) -> None:
    with in_a_shell(tmp_path, [Reply([Say("Hello.")])]) as terminal:
        job = Path(f"/proc/{terminal.pid}/task/{terminal.pid}/children").read_text()
        os.kill(int(job.split()[0]), signal.SIGTSTP)
        terminal.wait_for_screen(STOPPED)
        terminal.type("fg\r")
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        terminal.type("hi\r")
        terminal.wait_for_screen("Hello.")


def test_without_a_shell_it_says_so_and_goes_on(tmp_path: Path) -> None:
    with program(tmp_path, [Reply([Say("Hello.")])], controls=True) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        terminal.type(CTRL_Z)
        terminal.wait_for_screen("wasn't started from a shell")
        terminal.type("hi\r")
        terminal.wait_for_screen("Hello.")
